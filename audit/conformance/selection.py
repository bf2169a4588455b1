"""Choose the cases to run, and the program that answers them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from audit.conformance.exchange import Exchange
from audit.conformance.outcome import outcomes, steady
from audit.conformance.program import Reply, Work, end_unasked, run_program
from audit.conformance.report import Report
from audit.conformance.symptoms import Symptom
from audit.subjects.programs.errors import ProgramStartError
from audit.vectors.format import load
from audit.vectors.mutants import MUTANTS
from audit.vectors.sources.registry import TYPES
from reference.common.errors import ParameterError

ABILITIES = ("double", "erfc", "exact-arithmetic")

ANSWERED = ("answered", "skipped")

TRIED = 3
"""Cases to ask a program in the other form if it answers nothing."""

SERVE = Path(__file__).with_name("serve.py")


def chosen(only: Sequence[str] = ()) -> Work:
    """Return the cases that words choose by group type, flag, ability or id; without words, all.

    Raises
    ------
    reference.common.errors.ParameterError
        On a word that chooses nothing.
    """
    every: Work = []
    abilities: dict[int, tuple[str, ...]] = {}
    for kind in TYPES:
        for group in load(kind).test_groups:
            every += [(kind, case) for case in group.tests]
            abilities |= dict.fromkeys((case.tc_id for case in group.tests), group.requires)
    ids = {str(case.tc_id) for _, case in every}
    for word in only:
        if word not in (*TYPES, *MUTANTS, *ABILITIES) and word not in ids:
            known = f"a group type ({', '.join(TYPES)}), a flag, an ability or a tcId"
            raise ParameterError("only", word, f"{known}; `audit conformance --list` shows them")

    def is_chosen(kind: str, number: int, flags: Sequence[str]) -> bool:
        needed = abilities[number]
        # `double` alone leaves out cases that need more
        able = [word for word in only if word in ABILITIES and needed[-1] == word]
        return bool(able) or any(word in (kind, str(number), *flags) for word in only)

    return [one for one in every if not only or is_chosen(one[0], one[1].tc_id, one[1].flags)]


def command_of(program: str | None, module: str | None) -> list[str]:
    """Return the command line of the program under test.

    Raises
    ------
    reference.common.errors.ParameterError
        Unless there is exactly one.
    """
    if (program is None) == (module is None):
        raise ParameterError("program", program, "given, or a module by --import: one of the two")
    if module is not None:
        return [sys.executable, str(SERVE), module]
    try:
        words = shlex.split(program or "")
    except ValueError as problem:
        raise ParameterError("program", program, f"words of a command line ({problem})") from problem
    if not words:
        raise ParameterError("program", program, "a command")
    return words


def report_of(
    command: Sequence[str],
    work: Work,
    exchange: Exchange = "json",
    *,
    timeout: float = 10.0,
    on_reply: Callable[[int], None] | None = None,
) -> Report:
    """Run a program on cases and return the report; see :func:`audit.conformance.program.run_program`.

    Raises
    ------
    audit.subjects.programs.errors.ProgramStartError
        When it crashes on every case, and also without any: its command line may be misspelt.
    """
    replies = run_program(command, work, exchange, timeout=timeout, on_reply=on_reply)
    if {reply.status for reply in replies.values()} <= {"crash", "not run"}:
        end = end_unasked(command, timeout)
        if end:
            raise ProgramStartError(f"answers nothing, and fails without any case too: it {end}")
    judged = steady(outcomes(work, replies), lambda some: run_program(command, some, exchange, timeout=timeout))
    found = Report.of(" ".join(command), judged)
    return replace(found, symptoms=[*found.symptoms, *other_form(command, work, exchange, replies, timeout)])


def other_form(
    command: Sequence[str], work: Work, exchange: Exchange, replies: dict[int, Reply], timeout: float
) -> Iterator[Symptom]:
    """Yield a symptom if a program that answers nothing does answer a few cases in the other form."""
    if any(reply.status in ANSWERED for reply in replies.values()):
        return
    other: Exchange = "flat" if exchange == "json" else "json"
    again = run_program(command, work[:TRIED], other, timeout=timeout)
    count = sum(reply.status in ANSWERED for reply in again.values())
    if count:
        evidence = (
            f"nothing is answered with --exchange {exchange}; {count} of {len(again)} cases with {other} are"
        )
        yield Symptom(f"the program reads another form of a line: give --exchange {other}", evidence, frozenset())
