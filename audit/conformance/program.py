"""Runs a program on many cases at once, and finds the case to blame when it crashes or hangs.

All cases are written without waiting: a program may answer in any order, or only when its input ends.  When it
fails on the way, the first unanswered case runs alone, then the rest goes on, in shorter runs
if other answers were lost in a buffer.
"""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from audit.conformance.exchange import Exchange, UnreadableAnswerError, answer_of, case_line
from audit.subjects.programs.process import started
from audit.vectors.format import VectorCase
from reference.common.printable import shown

LONGEST_LINE = 2**20
"""Most bytes of an answer."""

MOST_GARBAGE = 2000
"""Most lines that are not answers before a program is ended."""

MOST_WASTED = 2**26
"""Most bytes of such lines."""

WAITING = 64
"""Most lines waiting to be read; each may be as long as an answer."""

AFTERWARDS = 1.0
"""Seconds to wait after the last answer for a second answer to a case."""

LAST_WORDS = 10.0
"""Seconds to read the rest of an ended program's standard error."""

PATIENCE = 40
"""Consecutive failures without an answer after which we give up on the program."""

HANGS = 5
"""Consecutive cases that hang, also alone, after which we give up: each costs the timeout twice."""

BLAMED = ("crash", "hang", "garbage")
"""Outcomes that explain why a run failed."""

NO_ANSWER = "gave no answer"
"""How the end of a session that hung begins."""

Work = list[tuple[str, VectorCase]]


@dataclass(frozen=True)
class Reply:
    """A program's reply to one case.

    Parameters
    ----------
    status : {'answered', 'skipped', 'crash', 'hang', 'garbage', 'missing', 'twice', 'unsteady', 'not run'}
    answer : dict
        If it answered.
    said : str
        What happened, in words.
    """

    status: str
    answer: dict[str, Any] = field(default_factory=dict)
    said: str = ""


@dataclass
class Session:
    """One run of the program: its answers, and how it ended."""

    replies: dict[int, Reply] = field(default_factory=dict)
    garbage: list[str] = field(default_factory=list)
    wasted: int = 0
    end: str = ""
    on_answer: Callable[[int], None] | None = None

    @property
    def failed(self) -> bool:
        """Whether it did not end by itself with exit code 0."""
        return bool(self.end)


def run_program(
    command: Sequence[str],
    work: Work,
    exchange: Exchange = "json",
    *,
    timeout: float = 10.0,
    on_reply: Callable[[int], None] | None = None,
) -> dict[int, Reply]:
    """Return the program's reply to each case, by tcId.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments; no shell sees them.
    work : list of (type, case)
    exchange : {'json', 'flat'}
    timeout : float
        Seconds without any answer after which the program hangs.
    on_reply : callable
        Told how many cases are done.

    Raises
    ------
    audit.subjects.programs.errors.ProgramStartError
        When the program cannot be started.
    """
    found: dict[int, Reply] = {}
    left, without_answer, hangs, size = list(work), 0, 0, len(work)
    # the most cases of a run, after runs that hung though each case alone is answered
    most = size
    unexplained: dict[int, str] = {}

    def on_answer(answered: int) -> None:
        if on_reply is not None:
            on_reply(len(found) + answered)

    while left:
        asked = left[:size]
        session = _session(command, asked, exchange, timeout, on_answer)
        found |= session.replies
        without_answer = _fruitless(without_answer, len(session.replies), len(asked))
        hangs = 0 if session.replies else hangs
        open_ones = [item for item in asked if item[1].tc_id not in found]
        if not session.failed:
            found |= {case.tc_id: _unanswered(session) for _, case in open_ones}
            size = min(2 * size, most)
        elif open_ones:
            first, number = open_ones[0], open_ones[0][1].tc_id
            only = len(asked) == 1
            alone = session if only else _session(command, [first], exchange, timeout)
            if number in alone.replies:
                # another case may be to blame, and is found later
                unexplained[number] = session.end
            found[number] = alone.replies.get(number) or _blamed(alone)
            hangs = 0 if alone.replies else hangs + (not session.replies and found[number].status == "hang")
            hung = session.end.startswith(NO_ANSWER)
            if alone.replies and (hung or not session.replies):
                # its answers were lost in a buffer, or it answers a few cases only: a shorter run loses fewer
                size = max(1, len(asked) // 2)
                most = size if hung and session.replies else most
        left = [item for item in left if item[1].tc_id not in found]
        if without_answer >= PATIENCE or hangs >= HANGS:
            said = f"not run: the program failed {without_answer} times without an answer"
            found |= {case.tc_id: Reply("not run", said=said) for _, case in left}
            left = []
        on_answer(0)
    return found | _unsteady(found, unexplained)


def end_unasked(command: Sequence[str], timeout: float) -> str:
    """Return how the program fails without any case; empty if it ends well."""
    return _session(command, [], "json", timeout, None).end


def _fruitless(before: int, answered: int, asked: int) -> int:
    """Return how many runs ended without an answer; an answer among several cases resets the count."""
    if not answered:
        return before + 1
    return 0 if asked > 1 else before


def _unsteady(found: dict[int, Reply], unexplained: dict[int, str]) -> dict[int, Reply]:
    """Return a reply that says that the program failed though no case is to blame."""
    if any(reply.status in BLAMED for reply in found.values()):
        return {}
    first = list(unexplained.items())[:1]
    said = "it {}; started again it answered all cases"
    return {number: Reply("unsteady", said=said.format(end)) for number, end in first}


def _unanswered(session: Session) -> Reply:
    if session.garbage:
        return Reply("garbage", said=f"no answer, but {session.garbage[0]}")
    return Reply("missing", said="no answer before the program ended")


def _blamed(session: Session) -> Reply:
    if not session.failed:
        return _unanswered(session)
    begun = {NO_ANSWER: "hang", "wrote more than": "garbage"}
    status = next((status for words, status in begun.items() if session.end.startswith(words)), "crash")
    return Reply(status, said=session.end)


def _session(
    command: Sequence[str],
    work: Work,
    exchange: Exchange,
    timeout: float,
    on_answer: Callable[[int], None] | None = None,
) -> Session:
    """Run the program once on some cases."""
    child, lifeline = started(command)
    lines: queue.Queue[bytes | None] = queue.Queue(maxsize=WAITING)
    tail: list[bytes] = []
    drain = threading.Thread(target=_drain, args=(child, tail), daemon=True)
    over = threading.Event()
    threads = [
        threading.Thread(target=_write, args=(child, work, exchange), daemon=True),
        threading.Thread(target=_read, args=(child, lines, over), daemon=True),
        drain,
    ]
    for thread in threads:
        thread.start()
    session, wanted = Session(on_answer=on_answer), {case.tc_id for _, case in work}
    try:
        session.end = _listen(session, lines, wanted, exchange, timeout)
        # once everything is answered, the way the program ends does not matter
        rest = min(timeout, AFTERWARDS) if wanted <= set(session.replies) else timeout
        code = child.wait(timeout=rest) if not session.end else None
    except subprocess.TimeoutExpired:
        # everything is answered, or the output is closed
        code, session.end = None, "" if wanted <= set(session.replies) else f"{NO_ANSWER} in {timeout:g} s"
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        lifeline.close()
        child.wait()
        over.set()
        with suppress(queue.Empty):
            while True:
                lines.get_nowait()
        for thread in threads:
            # a process left behind by the program may hold the other end: do not wait for it
            thread.join(timeout=LAST_WORDS if thread is drain else 1)
    if code and (not work or not wanted <= set(session.replies)):
        known = -code in set(signal.Signals)
        how = (
            f"was ended by {signal.Signals(-code).name}" if code < 0 and known else f"ended with exit code {code}"
        )
        words = shown(last_words(b"".join(tail)), most=200) if tail else ""
        session.end = f"{how}{': ' if words else ''}{words}"
    return session


def last_words(said: bytes) -> bytes:
    """Return the last line of a standard error that names an error, as a traceback does; else the last line."""
    lines = [line for line in said.splitlines() if line.strip()]
    named = [line for line in lines if re.match(rb"(?!\s).*(error|exception)", line, re.IGNORECASE)]
    return (named or lines or [b""])[-1].strip()


def _listen(
    session: Session, lines: queue.Queue[bytes | None], wanted: set[int], exchange: Exchange, timeout: float
) -> str:
    """Take answers until the output ends; return what went wrong."""
    until = time.monotonic() + timeout
    while True:
        whole, before = wanted <= set(session.replies), len(session.replies)
        silent = "" if whole else f"{NO_ANSWER} in {timeout:g} s"
        try:
            line = lines.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            return silent
        if line is None:
            return ""
        if line.strip():
            _take(session, line, wanted, exchange)
        if len(session.replies) > before:
            whole = wanted <= set(session.replies)
            until = time.monotonic() + (min(timeout, AFTERWARDS) if whole else timeout)
        elif time.monotonic() > until:
            # empty lines do not count as output
            return silent
        if len(session.garbage) > MOST_GARBAGE:
            return f"wrote more than {MOST_GARBAGE} lines that are not answers, such as: {session.garbage[0]}"
        if session.wasted > MOST_WASTED:
            return f"wrote more than {MOST_WASTED} bytes that are not answers, such as: {session.garbage[0]}"
        if session.on_answer is not None:
            session.on_answer(len(session.replies))


def _take(session: Session, line: bytes, wanted: set[int], exchange: Exchange) -> None:
    try:
        number, answer = answer_of(line, exchange)
    except UnreadableAnswerError:
        session.garbage.append(f"it wrote {shown(line[:80])}, which is not an answer")
        session.wasted += len(line)
        return
    if number not in wanted:
        session.garbage.append(f"it answered {number}, which was not asked")
    elif number in session.replies:
        session.replies[number] = Reply("twice", said="it answered this case twice")
    elif "skip" in answer:
        session.replies[number] = Reply("skipped", said=str(answer["skip"]))
    elif "crash" in answer:
        session.replies[number] = Reply("crash", said=str(answer["crash"]))
    else:
        session.replies[number] = Reply("answered", answer)


def _write(child: subprocess.Popen[bytes], work: Work, exchange: Exchange) -> None:
    assert child.stdin is not None
    # a program that ends early stops reading: the missing answers show it
    with suppress(OSError, ValueError), child.stdin:
        for kind, case in work:
            child.stdin.write(case_line(kind, case, exchange))


def _read(child: subprocess.Popen[bytes], lines: queue.Queue[bytes | None], over: threading.Event) -> None:
    assert child.stdout is not None
    with suppress(OSError, ValueError), child.stdout:
        while (line := child.stdout.readline(LONGEST_LINE)) and not over.is_set():
            lines.put(line)
    # if the queue is full, nobody reads it any more
    with suppress(queue.Full):
        lines.put(None, timeout=1)


def _drain(child: subprocess.Popen[bytes], tail: list[bytes]) -> None:
    """Keep the end of the program's standard error."""
    assert child.stderr is not None
    with suppress(OSError, ValueError), child.stderr:
        while block := child.stderr.read(2**12):
            tail[:] = [b"".join(tail)[-2000:] + block]
