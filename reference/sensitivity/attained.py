"""The change between one pair of neighbouring data sets, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from reference.sensitivity.setting import HALF, Setting

GRID = 2**52
"""Entries of attaining records are multiples of 1/GRID, so that they are floats and add up exactly."""


@dataclass(frozen=True)
class Extremes:
    """Neighbouring data sets that are far apart: N - 1 records (others, 0, 0) and one more on each side.

    Parameters
    ----------
    after : tuple of float
        x of the record (after, label_after, 1), the replacing or added one.
    before : tuple of float or None
        x of the record (before, label_before, 0) that it replaces; None when it is added.
    others : tuple of float
        x of all other records, whose label and group are 0.
    label_after, label_before : int
    """

    after: tuple[float, ...]
    before: tuple[float, ...] | None
    others: tuple[float, ...]
    label_after: int = 0
    label_before: int = 1


def onto_grid(entries: Sequence[float]) -> tuple[float, ...]:
    """Round towards zero to multiples of 1/GRID, and shrink until the squares add up to at most 1 exactly."""
    whole = [int(v * GRID) for v in entries]
    while sum(v * v for v in whole) > GRID * GRID:
        # a step of 2^-48 of the entry, at least one unit
        whole = [v - max(v >> 48, 1) if v > 0 else v + max(-v >> 48, 1) if v < 0 else 0 for v in whole]
    return tuple(v / GRID for v in whole)


def weighted_l1_change(setting: Setting, pair: Extremes, weight_s: Fraction, weight_n: Fraction) -> Fraction:
    """Return w_s |D_s|_1 + w_n |D_n|_1 between the two data sets, exactly; x_s is the first coordinate.

    Without a number of records, return its limit as N grows (Lemma A of ``proofs/sensitivities.md``).
    """
    linear, covariance, quadratic = _change(setting, pair)
    own = [abs(c) + abs(g) for c, g in zip(linear, covariance, strict=True)]
    with_s = sum(abs(v) for v in quadratic[0])
    without_s = sum(abs(v) for row in quadratic[1:] for v in row[1:])
    # row and column of s, the diagonal entry once
    with_s += with_s - abs(quadratic[0][0])
    on_linear = (weight_s * own[0] + weight_n * sum(own[1:])) / GRID
    return on_linear + (weight_s * with_s + weight_n * without_s) / (8 * GRID * GRID)


def weighted_l2_squared_change(
    setting: Setting, pair: Extremes, weight_s: Fraction, weight_n: Fraction
) -> Fraction:
    """Return u_s |D_s|_2^2 + u_n |D_n|_2^2 between the two data sets, exactly; see :func:`weighted_l1_change`."""
    linear, covariance, quadratic = _change(setting, pair)
    own = [c * c + g * g for c, g in zip(linear, covariance, strict=True)]
    # monomial basis: (1/4)^2 once for a pair, matrix basis: (1/8)^2 twice
    factor = 4 if setting.basis == "monomial" else 2
    with_s = quadratic[0][0] ** 2 + factor * sum(v * v for v in quadratic[0][1:])
    without_s = 0
    for k in range(1, setting.dimension):
        without_s += quadratic[k][k] ** 2 + factor * sum(v * v for v in quadratic[k][k + 1 :])
    on_linear = (weight_s * own[0] + weight_n * sum(own[1:])) / GRID**2
    return on_linear + (weight_s * with_s + weight_n * without_s) / (64 * GRID**4)


def _change(setting: Setting, pair: Extremes) -> tuple[list[Fraction], list[Fraction], list[list[int]]]:
    """Return GRID times the changes of c and of g (zero unless `separate`), and 8 GRID^2 times that of M."""
    e, d = setting.drift, setting.dimension
    after = [int(v * GRID) for v in pair.after]
    before = [0] * d if pair.before is None else [int(v * GRID) for v in pair.before]
    others = [int(v * GRID) for v in pair.others]
    to, from_ = HALF - pair.label_after, HALF - pair.label_before
    linear = [to * a - from_ * b for a, b in zip(after, before, strict=True)]
    covariance = [Fraction(0)] * d
    if setting.fairness == "absolute":
        linear = [c + e * (a + o) for c, a, o in zip(linear, after, others, strict=True)]
    elif setting.fairness == "separate":
        covariance = [e * (a - o) for a, o in zip(after, others, strict=True)]
    else:
        linear = [c + e * (a - o) for c, a, o in zip(linear, after, others, strict=True)]
    quadratic = [[after[k] * a - before[k] * b for a, b in zip(after, before, strict=True)] for k in range(d)]
    return linear, covariance, quadratic
