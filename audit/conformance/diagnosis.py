"""Name the bug: a broken variant that answers like the program."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from audit.conformance.outcome import Outcome
from audit.vectors.build import mutated
from audit.vectors.judge import leaves, number_of
from audit.vectors.mutants import MUTANTS
from reference.common.numbers import short_text

CLOSE = Fraction(1, 10**6)
"""Relative tolerance: two programs with the same bug differ only by rounding."""

ASKED = 16
"""Most failed cases to ask each variant about."""

LEAST = Fraction(1, 2)
"""Share of these that a variant must explain to be named."""

NEARLY_ALL = Fraction(9, 10)
"""Share of the cases with a bug's flag that must fail in a step that has it."""


MARGINAL = Fraction(1, 10)
"""A bug with fewer failed cases than this share of the unexplained ones may be part of another bug."""


@dataclass(frozen=True)
class Diagnosis:
    """A bug that the answers point to.

    Parameters
    ----------
    flag : str
    same : int
        Failed cases that the broken variant answers in the same way.
    asked : int
        Failed cases with the flag that were compared.
    failed, carried : int
        Failed cases with this flag, and all answered ones with it.
    description, effect : str
        The bug, in words.
    factors : tuple of str
        By which factors the wrong numbers are off, in words.
    unexplained : int
        Failed cases that no named bug explains.
    """

    flag: str
    same: int
    asked: int
    failed: int
    carried: int
    description: str
    effect: str
    factors: tuple[str, ...]
    unexplained: int = 0

    @property
    def is_certain(self) -> bool:
        """Whether each compared answer is the variant's, and nearly all its cases fail, but few others."""
        told = self.failed >= MARGINAL * self.unexplained
        return self.same == self.asked > 0 and self.failed >= NEARLY_ALL * self.carried and told


def diagnose(found: Sequence[Outcome]) -> list[Diagnosis]:
    """Return the bugs that explain the failed cases, the best explanation first.

    A bug is ruled out where cases that catch it are answered right.
    """
    possible = _possible(found)
    failed = {one.case.tc_id: one for one in found if one.status == "failed"}
    carried = {flag: [one for one in failed.values() if (flag, _step(one)) in possible] for flag in MUTANTS}
    compared = {flag: one for flag in MUTANTS if (one := _explained(flag, carried[flag]))[0]}
    # if the program has a bug, nearly all its cases fail
    share = {flag: _failed_share(flag, found) for flag in compared}
    explained: list[Diagnosis] = []
    left = set(failed)
    while left:
        covered = {
            flag: left & _covered(same, asked, carried[flag])
            for flag, (same, asked) in compared.items()
            if _is_suspect(same, asked, left, share[flag])
        }
        gains = {flag: len(cases) * share[flag] for flag, cases in covered.items()}
        best = max(gains, key=lambda flag: (gains[flag], compared[flag][0] == compared[flag][1], flag), default="")
        if not gains.get(best):
            break
        same, asked = compared[best]
        explained.append(_diagnosis(best, same, len(asked), found))
        left -= covered[best]
    return [replace(one, unexplained=len(left)) for one in explained]


def _step(one: Outcome) -> tuple[Any, ...]:
    """Return what a case asks for: a program may have a bug in one of its steps alone."""
    return (one.kind, *(one.case.given.get(name) for name in ("kind", "mechanism", "fairness")))


def _possible(found: Sequence[Outcome]) -> set[tuple[str, tuple[Any, ...]]]:
    """Return flags with the steps in which their bugs are not ruled out: nearly all cases that catch them fail."""
    failed, answered = Counter[Any](), Counter[Any]()
    for one in found:
        if one.status in ("passed", "failed"):
            marks = [(flag, _step(one)) for flag in one.case.flags]
            answered.update(marks)
            failed.update(marks if one.status == "failed" else ())
    return {mark for mark, count in answered.items() if failed[mark] >= NEARLY_ALL * count}


def _covered(same: set[int], asked: set[int], carried: Sequence[Outcome]) -> set[int]:
    """Return the cases that a bug explains: if all compared ones, also those that were not."""
    return same | ({one.case.tc_id for one in carried} if same == asked else set())


def _is_suspect(same: set[int], asked: set[int], left: set[int], share: float) -> bool:
    """Return whether enough answers agree: of all compared, or of those that no other bug explains."""
    if len(same) >= LEAST * len(asked):
        return True
    few = len(same & left)
    return few > 1 and few >= LEAST * len(asked & left) and share >= NEARLY_ALL


def _failed_share(flag: str, found: Sequence[Outcome]) -> float:
    answered = [one.status for one in found if flag in one.case.flags and one.status in ("passed", "failed")]
    return answered.count("failed") / len(answered) if answered else 0.0


def _explained(flag: str, carried: Sequence[Outcome]) -> tuple[set[int], set[int]]:
    """Return the failed cases that a variant answers in the same way, and all those it was asked."""
    asked = carried[:: max(1, len(carried) // ASKED)]
    same = {one.case.tc_id for one in asked if _agrees(one, mutated(flag, one.kind, one.case.given))}
    return same, {one.case.tc_id for one in asked}


def _agrees(one: Outcome, variant: dict[str, Any]) -> bool:
    """Return whether the program answered like a broken variant in every field that both give."""
    if one.case.right is None:
        return "error" not in variant and "broke" not in variant
    if "error" in one.answer or "error" in variant:
        return "error" in one.answer and "error" in variant
    both = variant.keys() & one.answer.keys()
    # the objective follows from w, and in several ways if the repair is wrong
    for name in {*one.case.right, *both} - ({"objective"} if "w" in both else set()):
        for _, left, right in leaves(variant.get(name), one.answer.get(name)):
            if not _close(left, right):
                return False
    return True


def _close(left: Any, right: Any) -> bool:
    first, second = number_of(left), number_of(right)
    if first is None or second is None:
        return bool(left == right)
    return abs(first - second) <= CLOSE * max(abs(first), abs(second)) + Fraction(1, 10**12)


def _diagnosis(flag: str, cases: set[int], asked: int, found: Sequence[Outcome]) -> Diagnosis:
    answered = [one for one in found if flag in one.case.flags and one.status in ("passed", "failed")]
    description, effect = MUTANTS[flag].told()
    return Diagnosis(
        flag=flag,
        same=len(cases),
        asked=asked,
        failed=sum(one.status == "failed" for one in answered),
        carried=len(answered),
        description=description,
        effect=effect,
        factors=tuple(factors([one for one in answered if one.case.tc_id in cases])),
    )


def factors(failed: Sequence[Outcome]) -> Iterator[str]:
    """Yield the factor by which wrong numbers are off, if all cases share one."""
    ratios: dict[str, list[Fraction]] = defaultdict(list)
    for one in failed:
        for name, right, found in _numbers(one):
            if right and found is not None and abs(found - right) > CLOSE * abs(right):
                ratios[name].append(found / right)
    for name, off in ratios.items():
        low, high = min(off), max(off)
        if low <= 0:
            continue
        if low < 1 < high:
            yield f"{name} is from {_times(low)} to {_times(high)}"
        elif high - low <= CLOSE * high:
            yield f"{name} is {_times(low)} in {_cases(len(off))}"
        else:
            yield f"{name} is {_range(low, high)}"


def _cases(count: int) -> str:
    return "the one place compared" if count == 1 else f"all {count} places compared"


def _times(ratio: Fraction) -> str:
    return f"{short_text(max(ratio, 1 / ratio))} times {_side(ratio)}"


def _range(low: Fraction, high: Fraction) -> str:
    """Return how far off the ratios on one side of 1 are, from least to most."""
    least, most = sorted((max(low, 1 / low), max(high, 1 / high)))
    return f"{short_text(least)} to {short_text(most)} times {_side(low)}"


def _side(ratio: Fraction) -> str:
    return "too small" if ratio < 1 else "too large"


def _numbers(one: Outcome) -> Iterator[tuple[str, Fraction, Fraction | None]]:
    """Yield name, right number and answer; for noisy coefficients the noise, by set."""
    if one.case.right is None:
        return
    given = one.case.given
    for name, value in one.case.right.items():
        for index, (_, right, found) in enumerate(leaves(value, one.answer.get(name))):
            centre, answered = _centre(right), number_of(found)
            if centre is None:
                continue
            if one.kind == "Perturbation":
                before = Fraction(given["values"][index])
                place = "the noise of Phi_s" if given["inS"][index] == "1" else "the noise of Phi_n"
                # noise that is small beside its coefficient drowns in rounding
                if abs(centre - before) > CLOSE * abs(before):
                    yield place, centre - before, None if answered is None else answered - before
            else:
                yield name, centre, answered


def _centre(right: Any) -> Fraction | None:
    if isinstance(right, dict):
        return (Fraction(right["lo"]) + Fraction(right["hi"])) / 2
    return number_of(right)
