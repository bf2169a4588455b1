"""A program as a subject of the auditor."""

from __future__ import annotations

import math
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from audit.auditor.deadline import NEVER, Deadline, OutOfTimeError
from audit.auditor.differences import compared, difference
from audit.subjects.programs import protocol
from audit.subjects.programs.errors import (
    AnswerError,
    ProgramError,
    ProgramStartError,
    RepeatedDrawsError,
    RestartedError,
)
from audit.subjects.programs.pair import InputPair, PairError
from audit.subjects.programs.process import Framing, Process, ProgramLimits
from audit.subjects.programs.repeats import PASSAGE, passages
from reference.common.arrays import FloatArray
from reference.common.documents import Document
from reference.common.errors import ParameterError

PROBE_ROWS = 16
"""Draws of the first question on each input, which are not used."""

COMPARED_ROWS, FEWEST_COMPARED, LATE_ROWS = 256, 64, 4096
"""Draws on each input that are compared with those after a restart; the fewest, where time is limited; and late
ones that the first draws after all starts are compared with."""

RESTART_DOUBT = 1e-12
"""Chance that a program with one law is said to have another after a restart."""

NOT_RESTARTED = (
    "there was no time to start the program again and compare: whether it draws from one law after each start was "
    "not checked"
)
GIVEN_UP = f"{NOT_RESTARTED}; its last answer had not come when the time was over"
"""Notes where the time is limited."""

OWN_RANDOMNESS = "the program's own: running again makes other draws"
SEEDED = "from seeds that were sent to the program: running again with the same seed makes the same draws"

ASKED_FOR_INPUTS = 'it was asked for its inputs: pass --inputs, or answer {"op": "inputs"}'

Answer = TypeVar("Answer")


class Pool:
    """The running processes of one program: one for each caller at a time, started when needed, then kept.

    Parameters
    ----------
    command : sequence of str
    limits : ProgramLimits
    """

    def __init__(self, command: Sequence[str], limits: ProgramLimits) -> None:
        self.command = tuple(command)
        self.limits = limits
        self.lock = threading.Lock()
        self.processes: list[Process] = []
        self.gave_up = False
        self._idle: list[Process] = []
        # also when the subject is garbage-collected, and at exit
        self.close = weakref.finalize(self, _kill_all, self.processes)

    def ask(self, request: bytes, framing: Framing, read: Callable[[bytes], Answer]) -> Answer:
        """Ask an idle process, or a new one, and return `read(answer)`.

        Raises
        ------
        ProgramError
            With the end of the process's standard error; the process is then gone.
        audit.auditor.deadline.OutOfTimeError
            When the deadline came first; likewise.
        """
        process = self._idle_or_new()
        try:
            answer = read(process.exchange(request, framing))
        except BaseException as problem:
            # an interruption, too, leaves an answer that nobody reads
            process.kill()
            self.gave_up |= isinstance(problem, OutOfTimeError)
            if isinstance(problem, ProgramError):
                problem.stderr = process.stderr
            raise
        with self.lock:
            self._idle.append(process)
        return answer

    def until(self, deadline: Deadline) -> None:
        """Wait for no answer after a deadline."""
        self.limits = replace(self.limits, deadline=deadline)
        for process in self.processes:
            process.limits = self.limits

    def _idle_or_new(self) -> Process:
        with self.lock:
            if self._idle:
                return self._idle.pop()
        process = Process(self.command, self.limits)
        with self.lock:
            self.processes.append(process)
        if not self.close.alive:
            # closed meanwhile by another thread
            process.kill()
        return process

    def finish(self) -> None:
        """End all processes; raise for those that wrote something unasked."""
        try:
            idle, self._idle = self._idle, []
            for process in idle:
                process.finish()
        finally:
            self.close()


def _kill_all(processes: list[Process]) -> None:
    for process in processes:
        process.kill()


class ProgramDescription(Document, frozen=True, kw_only=True, tag_field="kind", tag="program", omit_defaults=True):
    """How to start a program and to ask it.

    Parameters
    ----------
    command : tuple of str
        The program and its arguments.
    inputs : InputPair or None
        None asks the program for them.
    binary : bool
        Whether draws come as binary answers.
    timeout : float
        Seconds per answer.
    memory_limit : int or None
        Bytes of writable memory for each of its processes.
    inputs_file : str or None
        Where the inputs were read; None where the program gave them.
    randomness : str or None
        Whether it uses the auditor's seeds, in words; checked whenever the program is started.

    Raises
    ------
    reference.common.errors.ParameterError
    """

    command: tuple[str, ...]
    inputs: InputPair | None
    binary: bool
    timeout: float
    memory_limit: int | None
    inputs_file: str | None = None
    randomness: str | None = None

    def __post_init__(self) -> None:
        """Check the command and the limits."""
        if not self.command:
            raise ParameterError("command", self.command, "a list of words")
        for name in ("timeout", "memory_limit"):
            value = getattr(self, name)
            if value is not None and not 0 < value < sys.maxsize:
                raise ParameterError(name, value, "positive and finite")


class ProgramSubject:
    """A program with a pair of inputs.  Started by its construction; see docs/programs.md.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    pair : InputPair or None
        None asks the program for it.
    binary : bool
        Draws come as binary answers.
    limits : ProgramLimits

    Raises
    ------
    ProgramError
    """

    def __init__(
        self,
        command: Sequence[str],
        pair: InputPair | None = None,
        *,
        binary: bool = False,
        limits: ProgramLimits | None = None,
    ) -> None:
        self.command = tuple(command)
        self.binary = binary
        self.limits = limits or ProgramLimits()
        self._pool = Pool(self.command, self.limits)
        self._seen: dict[tuple[bool, bytes], tuple[int, int] | None] = {}
        self._kept: dict[bool, FloatArray] = {}
        self._late: dict[bool, FloatArray] = {}
        self._given, self._seconds = pair, 0.0
        try:
            self.pair = self._asked_pair() if pair is None else pair
            self.width, self.seeded, self._probed = self._introduction()
            self._of_one_seed = self._checked_seeds() if self.seeded else b""
        except BaseException:
            self.close()
            raise

    @property
    def description(self) -> ProgramDescription:
        """The description from which :meth:`of` makes the subject, with whose randomness the program uses."""
        return ProgramDescription(
            command=self.command,
            inputs=self.pair,
            binary=self.binary,
            timeout=self.limits.timeout,
            memory_limit=self.limits.memory_limit,
            randomness=SEEDED if self.seeded else OWN_RANDOMNESS,
        )

    @classmethod
    def of(cls, described: ProgramDescription) -> ProgramSubject:
        """Start the program of a description.

        Raises
        ------
        ProgramError
        """
        limits = ProgramLimits(described.timeout, described.memory_limit)
        return cls(described.command, described.inputs, binary=described.binary, limits=limits)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the inputs."""
        return self.pair.notes

    @property
    def own_entropy(self) -> bool:
        """Whether the program has its own randomness: then no seed repeats its draws."""
        return not self.seeded

    @property
    def most_rows(self) -> int:
        """Outputs per question: those before a failure are kept."""
        return max(1, protocol.REQUEST_VALUES // self.width)

    def inputs(self) -> tuple[Any, Any]:
        """Return the two neighbouring inputs, left and right."""
        return self.pair.left, self.pair.right

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs on one input, shape (count, width).

        `rng` makes the seeds for a program that accepts them; other programs do not see it.

        Raises
        ------
        ProgramError
        """
        most = self.most_rows
        sizes = [min(most, count - start) for start in range(0, count, most)]
        return np.concatenate([self._sample_once(data, size, rng) for size in sizes])

    def until(self, deadline: Deadline) -> None:
        """Wait for no answer after a deadline: then :class:`audit.auditor.deadline.OutOfTimeError` is raised."""
        self._pool.until(deadline)

    def finish(self, deadline: Deadline = NEVER) -> str | None:
        """End the program; if it gave draws, start it once more and compare its answers.

        Returns
        -------
        str or None
            A note if the deadline left no time for that.

        Raises
        ------
        UnaskedOutputError
            When it wrote more than its answers, which may then belong to other questions.
        RestartedError, RepeatedDrawsError
            When it answers differently after a restart, or repeats its noise.
        """
        self._pool.finish()
        if not self._kept:
            return None
        try:
            return self._compare_with_restart(deadline)
        except OutOfTimeError:
            return GIVEN_UP if self._pool.gave_up else NOT_RESTARTED

    def close(self) -> None:
        """Kill the program."""
        self._pool.close()

    def _sample_once(self, data: Any, rows: int, rng: np.random.Generator) -> FloatArray:
        seed = int(rng.integers(protocol.SEEDS)) if self.seeded else None
        request = protocol.sample_request(data, rows, seed=seed, binary=self.binary)
        outputs = self._outputs(request, rows)
        self._refuse_repeats(data, outputs, seed)
        return outputs

    def _outputs(self, request: bytes, rows: int) -> FloatArray:
        width = self.width
        if self.binary:
            frame = protocol.AnswerFrame(rows, width)
            return self._pool.ask(request, frame, frame.values)

        def read(line: bytes) -> FloatArray:
            return protocol.values_of(protocol.decoded(line, numbers=True), rows, width)

        return self._pool.ask(request, protocol.AnswerLine.of_values(rows, width), read)

    def _asked_pair(self) -> InputPair:
        """Return the pair that the program gives."""

        def read(line: bytes) -> InputPair:
            try:
                return InputPair.of(protocol.decoded(line, numbers=False))
            except PairError as problem:
                raise AnswerError(f"answered `inputs` with what is not a pair: {problem.problem}") from problem

        try:
            return self._pool.ask(protocol.inputs_request(), protocol.AnswerLine(protocol.MOST_INPUT_BYTES), read)
        except ProgramStartError:
            raise
        except ProgramError as problem:
            # a program that knows `sample` alone
            problem.expected = f"{problem.expected or 'a pair'}; {ASKED_FOR_INPUTS}"
            raise

    def _introduction(self) -> tuple[int, bool, list[FloatArray]]:
        """Return the number of coordinates, whether the program takes seeds, and unused draws on both inputs.

        The second input is asked, too, since all draws on one may fail; if all do on both, one coordinate is
        assumed.
        """
        widths, seeded, drawn = [], [], []
        for data in self.inputs():
            # at last that of the second question: the first waits for the start
            start = time.monotonic()
            request = protocol.sample_request(data, PROBE_ROWS)
            framing = protocol.AnswerLine.of_values(PROBE_ROWS, protocol.LONGEST_OUTPUT)
            width, accepts_seed, values = self._pool.ask(request, framing, _introduced)
            self._seconds = time.monotonic() - start
            drawn.append(values)
            widths.append(width)
            seeded.append(accepts_seed)
        if seeded[0] != seeded[1]:
            raise AnswerError("accepts seeds on one input and not on the other", "the same on both inputs")
        known = {width for width in widths if width is not None}
        if len(known) > 1:
            found = " and of ".join(map(str, widths))
            raise AnswerError(f"gave draws of {found} coordinates", "the same on both inputs")
        return (known.pop() if known else 1), seeded[0], drawn

    def _checked_seeds(self) -> bytes:
        """Ask twice with one seed: the draws, which are returned, must be the same, bit for bit."""
        request = protocol.sample_request(self.pair.left, PROBE_ROWS, seed=protocol.SEEDS - 1, binary=self.binary)
        first, second = (self._outputs(request, PROBE_ROWS).tobytes() for _ in range(2))
        if first != second:
            raise AnswerError("says that it accepts seeds, but gave other draws for the same seed")
        return first

    def _started_again(self, deadline: Deadline) -> ProgramSubject:
        limits = replace(self.limits, deadline=deadline)
        return type(self)(self.command, self._given, binary=self.binary, limits=limits)

    def _compare_with_restart(self, deadline: Deadline) -> str | None:
        """Start the program once more: its inputs, widths, seeds and the law of its draws must be the same.

        Where its noise may come from the clock, start it twice, at once after each other, mostly within a second.
        Return a note if there is no time to compare the laws.
        """
        before = [self._probed]
        if not self.seeded and any(map(_all_distinct, self._probed)):
            soon = self._started_again(deadline)
            # it may have files to remove before another one starts
            soon._pool.finish()
            before.append(soon._probed)
        again = self._started_again(deadline)
        try:
            self._compare_facts(again, before)
            rows = int(min(COMPARED_ROWS, deadline.left / (4 * again._seconds / PROBE_ROWS)))
            if rows >= FEWEST_COMPARED:
                self._compare_laws(again, rows)
            self._compare_starts([*before, again._probed])
            again._pool.finish()
        finally:
            again.close()
        return None if rows >= FEWEST_COMPARED else NOT_RESTARTED

    def _compare_facts(self, again: ProgramSubject, before: Sequence[list[FloatArray]]) -> None:
        """Refuse other answers after a restart, or the same draws."""
        facts = {"inputs": "pair", "numbers of coordinates": "width", "answers about seeds": "seeded"}
        for words, name in (facts | {"draws for the same seed": "_of_one_seed"}).items():
            if getattr(self, name) != getattr(again, name):
                raise RestartedError(f"gave other {words} when it was started again", "one mechanism")
        for one, other in (pair for drawn in before for pair in zip(drawn, again._probed, strict=True)):
            if not self.seeded and _all_distinct(one) and one.tobytes() == other.tobytes():
                raise RepeatedDrawsError(
                    f"gave the same {PROBE_ROWS} draws when it was started again",
                    "noise that nobody knows: seed the generator from the operating system",
                )

    def _compare_laws(self, again: ProgramSubject, rows: int) -> None:
        """Refuse another law of the draws after a restart."""
        for is_left, kept in self._kept.items():
            data, one = self.pair.left if is_left else self.pair.right, kept[:rows]
            other = again.sample(data, len(one), np.random.default_rng())
            if _farthest(one, other) > 2 * math.sqrt(math.log(8 * self.width / RESTART_DOUBT) / (2 * len(one))):
                raise RestartedError("drew from another law when it was started again", "one mechanism")

    def _compare_starts(self, starts: Sequence[list[FloatArray]]) -> None:
        """Refuse a program whose first 16 draws after its starts, on an input, differ from late ones.

        Three starts show nearly always that these have a tenth of the noise, two that they have none.  A third of
        the noise is not noticed.
        """
        columns = compared(self.width)
        for is_left, late in self._late.items():
            firsts = [drawn[0 if is_left else 1] for drawn in starts]
            if self.seeded:
                # what one seed gives at each start counts once
                firsts = list({one.tobytes(): one for one in firsts}.values())
            found = difference(np.concatenate(firsts)[:, columns], late)
            if found.log_p + math.log(2) < math.log(RESTART_DOUBT):
                found = replace(found, coordinate=int(columns[found.coordinate]))
                raise RestartedError(
                    f"draws otherwise just after it was started: on {'left' if is_left else 'right'} {found}",
                    "one law: each release may come from a new start",
                )

    def _refuse_repeats(self, data: Any, outputs: FloatArray, seed: int | None) -> None:
        """Refuse draws on one input that were given before, as by a generator seeded from the clock.

        Also in another place of an answer, as by a second process with the same seed.  Independent draws do this
        for one of 10^10 pairs of passages with a probability below 10^-100.
        """
        is_left = data == self.pair.left
        with self._pool.lock:
            if len(self._kept.get(is_left, ())) < len(outputs[:COMPARED_ROWS]):
                self._kept[is_left] = outputs[:COMPARED_ROWS].copy()
            if len(self._late.get(is_left, ())) <= len(outputs[-LATE_ROWS:]):
                self._late[is_left] = outputs[-LATE_ROWS:, compared(self.width)]
        for start, digest in passages(outputs):
            # the same question again has the same answer
            key, drawn = (is_left, digest), None if seed is None else (seed, start)
            with self._pool.lock:
                repeated = key in self._seen and (drawn is None or drawn != self._seen[key])
                self._seen[key] = drawn
            if repeated:
                raise RepeatedDrawsError(
                    f"gave the same {min(PASSAGE, len(outputs))} draws twice on one input",
                    "independent draws: seed the generator once, from the operating system",
                )


def _all_distinct(outputs: FloatArray) -> bool:
    return len(set(map(bytes, outputs))) == len(outputs)


def _farthest(one: FloatArray, other: FloatArray) -> float:
    """Return the Kolmogorov-Smirnov distance between two samples, in the coordinate where it is largest."""
    found = 0.0
    for first, second in zip(np.sort(one, axis=0).T, np.sort(other, axis=0).T, strict=True):
        values = np.concatenate([first, second])
        shares = [np.searchsorted(part, values, side="right") / len(part) for part in (first, second)]
        found = max(found, float(np.abs(shares[0] - shares[1]).max()))
    return found


def _introduced(line: bytes) -> tuple[int | None, bool, FloatArray]:
    """Return the width, whether seeds are accepted, and the draws, from a checked first answer."""
    document = protocol.decoded(line, numbers=True)
    width = protocol.width_of(protocol.rows_of(document, PROBE_ROWS))
    values = protocol.values_of(document, PROBE_ROWS, width or 1)
    accepts_seed = document.get("accepts_seed", False)
    if not isinstance(accepts_seed, bool):
        raise AnswerError(f"gave accepts_seed as {document.written('accepts_seed')}", "true or false")
    return width, accepts_seed, values
