"""Faults of a whole run rather than of one step: digits, cancelled tails, transposed eigenvectors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np

from audit.conformance.outcome import Outcome
from audit.vectors.judge import leaves, number_of, wrong_values
from audit.vectors.sources.numbers import from_work, number, numbers, to_work
from audit.vectors.sources.polynomial import pairs
from audit.vectors.sources.scales import delta_of
from reference.common.arrays import FloatArray
from reference.common.printable import short_line

NEARLY_ALL = Fraction(9, 10)
"""Share of the failed cases concerned that must show a symptom."""

ENOUGH_DIGITS = 15
"""Most significant digits that a language prints by default; 17 determine the double."""

ENOUGH_NUMBERS = 20
"""Fewest numbers in the answers from which the longest shows how many digits are printed."""

ROUNDINGS = Fraction(16, 2**53)
"""Sixteen roundings of numbers near 1."""

TELLING = Fraction(1, 10**6)
"""If roundings of 1 explain more than this of a delta, they show nothing."""

ENOUGH_CASES = 10
"""Fewest cases from which nothing can be learned about a bug, before that is said of all."""

LEAST_CASES = 2
"""Fewest failed cases that must show a symptom, of those that can."""


@dataclass(frozen=True)
class Symptom:
    """A fault that many failed cases share.

    Parameters
    ----------
    description, evidence : str
        What is wrong, and what shows it.
    cases : frozenset of int
        The failed cases that it explains.
    """

    description: str
    evidence: str
    cases: frozenset[int]


def symptoms(found: Sequence[Outcome]) -> list[Symptom]:
    """Return the symptoms that explain failed cases without a bug in one step; none for a right program."""
    failed = [one for one in found if one.status == "failed" and one.case.right is not None]
    empty = refused_inputs(found, failed) or missing_numbers(found, failed)
    if empty is not None:
        return [empty]
    seen = [few_digits(found, failed), cancelled_tails(failed), transposed_eigenvectors(failed)]
    return [one for one in seen if one is not None]


def refused_inputs(found: Sequence[Outcome], failed: Sequence[Outcome]) -> Symptom | None:
    """Return the symptom of a program that refuses nearly all inputs."""
    refused = [one for one in failed if "error" in one.answer]
    if not _are_nearly_all(refused, found):
        return None
    return Symptom(
        "nearly all inputs are refused, also those that make sense",
        f"{len(refused)} cases that have an answer are; {_first(refused)}",
        _ids(refused),
    )


def missing_numbers(found: Sequence[Outcome], failed: Sequence[Outcome]) -> Symptom | None:
    """Return the symptom of answers without numbers, such as NaN or null, or with fields of other names."""
    without = [one for one in failed if _has_no_number(one)]
    if not _are_nearly_all(without, found):
        return None
    # its other failures, such as missing words and no refusals, tell nothing more
    every = [one for one in found if one.status == "failed"]
    return Symptom(
        "nearly all answers lack their numbers: they are NaN, or in fields of other names",
        f"{len(without)} cases that have an answer do; {_first(without)}",
        _ids(every),
    )


def _is_word(right: Any) -> bool:
    return isinstance(right, str) and number_of(right) is None


def _first(some: Sequence[Outcome]) -> str:
    return f"{some[0].case.tc_id}: {short_line(some[0].said, 200)}"


def _are_nearly_all(some: Sequence[Outcome], found: Sequence[Outcome]) -> bool:
    valid = [one for one in found if one.status in ("passed", "failed") and one.case.right is not None]
    return len(some) >= ENOUGH_CASES and len(some) >= NEARLY_ALL * len(valid)


def _has_no_number(one: Outcome) -> bool:
    assert one.case.right is not None
    # a word, such as a status, may be wrong for another reason
    wrong = [got for _, right, got in wrong_values(one.case.right, one.answer) if not _is_word(right)]
    return bool(wrong) and "error" not in one.answer and all(number_of(got) is None for got in wrong)


def few_digits(found: Sequence[Outcome], failed: Sequence[Outcome]) -> Symptom | None:
    """Return the symptom of too few printed digits."""
    lengths = [length for one in found for length in _lengths(list(one.answer.values()))]
    longest = max(lengths, default=0)
    if len(lengths) < ENOUGH_NUMBERS or longest > ENOUGH_DIGITS:
        return None
    cut = [one for one in failed if _is_cut(one, longest)]
    if not cut or len(cut) < NEARLY_ALL * len(failed):
        return None
    # a pair of data sets is judged by its change, which is not printed
    pairs_of_sets = [one for one in failed if one.case.given.get("kind", "").startswith("attaining")]
    return Symptom(
        "too few digits are printed: 17 significant ones (%.17g) are the double",
        f"the longest of {len(lengths)} numbers has {longest}; {_of(cut, failed)} are right to that many",
        _ids(cut) | _ids(pairs_of_sets),
    )


def cancelled_tails(failed: Sequence[Outcome]) -> Symptom | None:
    """Return the symptom of normal tails spoilt by roundings of 1, as in 1 - erf(x)."""
    tails = [(one, _tail_error(one)) for one in failed if _has_tail(one)]
    cancelled = [one for one, (error, rounding) in tails if error <= rounding]
    telling = sum(error <= rounding < TELLING for _, (error, rounding) in tails)
    if telling < LEAST_CASES or len(cancelled) < NEARLY_ALL * len(tails):
        return None
    return Symptom(
        "the tails cancel: erfc(x) is computed as 1 - erf(x), or P(x) as (1 + erf(x/sqrt(2)))/2",
        f"{_of(cancelled, [one for one, _ in tails])} with tails are off by roundings of 1 in delta, and no more",
        _ids(cancelled),
    )


def transposed_eigenvectors(failed: Sequence[Outcome]) -> Symptom | None:
    """Return the symptom of eigenvectors whose rows were taken for columns."""
    solved = [one for one in failed if _is_plain_solution(one)]
    turned = [one for one in solved if _is_turned(one)]
    if len(turned) < LEAST_CASES or len(turned) < NEARLY_ALL * len(solved):
        return None
    every = [one for one in failed if one.kind in ("Minimiser", "Release") and "w" in (one.case.right or {})]
    return Symptom(
        "the eigenvectors are transposed: rows are taken for columns, or columns for rows",
        f"w of {_of(turned, solved)} of Minimiser with two or three coordinates is what that gives",
        _ids(every) | _ids(turned),
    )


def _ids(found: Sequence[Outcome]) -> frozenset[int]:
    return frozenset(one.case.tc_id for one in found)


def _of(some: Sequence[Outcome], those: Sequence[Outcome]) -> str:
    return f"{len(some)} of {len(those)} failed cases"


# --- digits --------------------------------------------------------------------------------------------------


def _lengths(value: Any) -> Iterator[int]:
    """Yield the significant digits of all decimals in an answer."""
    if isinstance(value, list):
        for entry in value:
            yield from _lengths(entry)
    elif not isinstance(value, bool) and isinstance(value, (str, int, float)) and number_of(value) is not None:
        text = str(value).strip()
        if "/" not in text:
            yield len(Decimal(text).normalize().as_tuple().digits)


def _is_cut(one: Outcome, digits: int) -> bool:
    """Return whether each wrong value of a case is the right one rounded to this many digits."""
    assert one.case.right is not None
    for _, right, got in wrong_values(one.case.right, one.answer):
        low, high, found = *_ends(right), number_of(got)
        if low is None or high is None or found is None:
            return False
        # half a unit in the last digit; truncating instead of rounding loses a whole one
        size = max(abs(low), abs(high))
        unit = Fraction(10) ** (Decimal(float(size)).adjusted() - digits + 1) if size else Fraction(0)
        if not low - unit <= found <= high + unit:
            return False
    return True


def _ends(right: Any) -> tuple[Fraction | None, Fraction | None]:
    if isinstance(right, dict):
        return number(right["lo"]), number(right["hi"])
    exact = number_of(right)
    return exact, exact


# --- tails ---------------------------------------------------------------------------------------------------

LARGE = 700.0
"""exp of this is still a double."""

TAILS = ("gaussian_delta", "gaussian_epsilon", "gaussian", "analytic_gaussian")


def _has_tail(one: Outcome) -> bool:
    return one.kind in ("Privacy", "Accounting", "Scale") and one.case.given.get("kind") in TAILS


def _tail_error(one: Outcome) -> tuple[Fraction, Fraction]:
    """Return how far off delta is at the answer, and how much of it e^epsilon times roundings of 1 explain."""
    given, kind = one.case.given, one.case.given["kind"]
    found = number_of(next((one.answer[name] for name in one.case.right or {} if name in one.answer), None))
    if found is None or found < 0 or (kind == "analytic_gaussian" and found == 0):
        return Fraction(1), Fraction(0)
    if kind == "analytic_gaussian":
        shift, epsilon = number(given["l2SensitivitySquared"]) / found**2, number(given["epsilon"])
    else:
        shift = _squared_shift(given)
        epsilon = number(given["epsilon"]) if kind == "gaussian_delta" else found
    exact = from_work(delta_of(shift, to_work(epsilon))[0])
    claimed = found if kind == "gaussian_delta" else number(given["delta"])
    return abs(exact - claimed), ROUNDINGS * (1 + Fraction(math.exp(min(float(epsilon), LARGE))))


def _squared_shift(given: dict[str, Any]) -> Fraction:
    if "squaredShift" in given:
        return number(given["squaredShift"])
    moved = number(given["bound"]) * (2 if given["adjacency"] == "replace_one" else 1)
    return int(given["count"]) * (moved / number(given["scale"])) ** 2


# --- eigenvectors --------------------------------------------------------------------------------------------


def _is_plain_solution(one: Outcome) -> bool:
    """Return whether the expected w is -A^+ c / 2, and there is an answered one to compare with it."""
    given, right = one.case.given, one.case.right or {}
    return (
        one.kind == "Minimiser"
        and len(given["linear"]) in (2, 3)
        and given["repair"] in ("trim", "shift_and_trim", "none")
        and "covariance" not in given
        and "w" in right
        and one.answer.get("status") == "ok"
    )


def _is_turned(one: Outcome) -> bool:
    given, d = one.case.given, len(one.case.given["linear"])
    answered = [number_of(value) for _, _, value in leaves((one.case.right or {})["w"], one.answer.get("w"))]
    known = np.array([float(value) for value in answered if value is not None])
    if len(known) < d:
        return False
    matrix = np.zeros((d, d))
    for (e, k), value in zip(pairs(d, given["basis"]), numbers(given["quadratic"]), strict=True):
        matrix[e, k] += float(value) / 2
        matrix[k, e] += float(value) / 2
    values, vectors = np.linalg.eigh(matrix)
    if given["repair"] == "shift_and_trim":
        scale = max(number(given["scaleS"]), number(given["scaleN"]))
        values = values + 4 * float(scale) * (np.sqrt(2) if given["noise"] == "laplace" else 1.0)
    return any(np.allclose(w, known, rtol=1e-6, atol=1e-9) for w in _turned(values, vectors, given))


def _turned(values: FloatArray, vectors: FloatArray, given: dict[str, Any]) -> Iterator[FloatArray]:
    """Yield w with transposed eigenvectors, in every order and with every sign that a library may give them."""
    d, linear = len(values), np.array([float(v) for v in numbers(given["linear"])])
    kept = values > 1e-12 * np.abs(values).max()
    inverse = np.where(kept, -1 / (2 * np.where(kept, values, 1.0)), 0.0)
    for order, signs in product(permutations(range(d)), product((1.0, -1.0), repeat=d)):
        turned, weights = vectors[:, order] * np.array(signs), inverse[list(order)]
        yield turned.T @ (weights * (turned @ linear))
        yield turned @ (weights * (turned @ linear))
        yield turned.T @ (weights * (turned.T @ linear))
