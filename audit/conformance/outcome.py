"""The outcome of each case, and of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.conformance.program import Reply, Work
from audit.vectors.format import VectorCase
from audit.vectors.judge import passes, wrong_values
from audit.vectors.pairs import measured
from reference.common.printable import short_line

GOOD = ("passed", "skipped")

AGAIN = ("failed", "garbage", "missing", "twice")
"""Outcomes whose cases are asked again; crashes and hangs were asked twice already."""

SAID = 200
"""Most characters shown of a program's answer."""


@dataclass(frozen=True)
class Outcome:
    """One case.

    Parameters
    ----------
    kind : str
        The group type.
    case : VectorCase
    status : str
        `passed`, `failed`, or a status of :class:`audit.conformance.program.Reply`.
    answer : dict
    said : str
        What went wrong, in words.
    """

    kind: str
    case: VectorCase
    status: str
    answer: dict[str, Any] = field(default_factory=dict)
    said: str = ""


def outcome_of(kind: str, case: VectorCase, reply: Reply) -> Outcome:
    """Judge a program's reply to a case."""
    if reply.status != "answered":
        return Outcome(kind, case, reply.status, reply.answer, short_line(reply.said))
    answer = measured(case.given, reply.answer)
    if passes(case.right, answer):
        return Outcome(kind, case, "passed", answer)
    return Outcome(kind, case, "failed", answer, _difference(case, answer))


def _difference(case: VectorCase, answer: dict[str, Any]) -> str:
    if case.right is None:
        return f"accepted, where {case.expected_error} is refused"
    if "error" in answer:
        return f"refused ({short_line(str(answer['error']), SAID)}), where there is an answer"
    place, right, found = wrong_values(case.right, answer)[0]
    wanted = f"between {right['lo']} and {right['hi']}" if isinstance(right, dict) else str(right)
    got = "missing" if found is None else short_line(str(found), SAID)
    return f"{place} is {got}, where {wanted} is right"


def outcomes(work: Work, replies: dict[int, Reply]) -> list[Outcome]:
    """Judge all replies, in the order of the cases."""
    return [outcome_of(kind, case, replies[case.tc_id]) for kind, case in work]


def steady(found: Sequence[Outcome], asked: Callable[[Work], dict[int, Reply]]) -> list[Outcome]:
    """Return the outcomes; those that change when the program is restarted are `unsteady`.

    Every case that went wrong is asked again, with the first passed case of each group type, in another order.
    """
    passed: dict[str, Outcome] = {}
    for one in found:
        if one.status == "passed":
            passed.setdefault(one.kind, one)
    chosen = [*passed.values(), *(one for one in found if one.status in AGAIN)]
    if not chosen:
        return list(found)
    work = [(one.kind, one.case) for one in reversed(chosen)]
    again = {one.case.tc_id: one for one in outcomes(work, asked(work))}
    return [_compared(one, again.get(one.case.tc_id, one)) for one in found]


def _compared(first: Outcome, second: Outcome) -> Outcome:
    if (first.status == "passed") == (second.status == "passed"):
        return first
    said = f"{first.status}, and when the program was started again {second.status}: {first.said or second.said}"
    return Outcome(first.kind, first.case, "unsteady", first.answer, short_line(said))


def counts(found: Iterable[Outcome]) -> dict[str, int]:
    """Count the cases by status."""
    return dict(Counter(one.status for one in found).most_common())
