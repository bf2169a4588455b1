"""Neighbouring data sets that attain the exact suprema, or approach them as N grows.

Each proof of ``proofs/sensitivities.md`` names its data sets; here they are built as records that a domain
has checked.  All have one form: N - 1 equal records with label and group 0, and one further record on each
side (none on the smaller side of `add_or_remove_one`).  For persons with K rows every record has K copies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import minimize

from audit.exact.data_sets import Repeated
from reference.common.arrays import FloatArray
from reference.domain import Domain
from reference.readings import Readings
from reference.records import check_matrix
from reference.sensitivity import Setting, ball_l1, box
from reference.sensitivity.attained import (
    Extremes,
    onto_grid,
    weighted_l1_change,
    weighted_l2_squared_change,
)

NORMS = ("l1", "l2")

LARGE = 1000
"""Number of records of a witness for the limit of large N."""

ONE = Fraction(1)


@dataclass(frozen=True, eq=False)
class Witness:
    """Two neighbouring data sets.

    Parameters
    ----------
    setting : Setting
        With a number of records.
    left, right : Repeated
    value : Fraction
        The weighted l1 change between them, or the weighted square of the l2 change; exact, computed independently
        of :mod:`reference.objective`.
    """

    setting: Setting
    left: Repeated
    right: Repeated
    value: Fraction

    def to_json(self) -> dict[str, Any]:
        """Return both data sets, records with counts."""
        return {
            "records": self.setting.records,
            "columns": list(self.left.domain.columns),
            "x_s": self.left.domain.columns[0],
            "left": self.left.to_json(),
            "right": self.right.to_json(),
        }


def domain_of(setting: Setting) -> Domain:
    """Return the already encoded domain with coordinates x1, ..., xd and a group."""
    return Domain.of_columns([f"x{index + 1}" for index in range(setting.dimension)], norm=setting.norm)


def readings_of(setting: Setting) -> Readings:
    """Return the readings of a setting, the others at their defaults."""
    return Readings(
        fairness=setting.fairness,
        fairness_weight=setting.fairness_weight,
        basis=setting.basis,
        adjacency=setting.adjacency,
        rows_per_person=setting.rows_per_person,
    )


def witness(
    setting: Setting,
    norm: str,
    weight_s: Fraction = ONE,
    weight_n: Fraction = ONE,
    *,
    effort: str = "quick",
) -> Witness:
    """Return neighbouring data sets that attain the supremum, or its `lower` end.

    Parameters
    ----------
    setting : Setting
        In the limit of large N, the data sets have LARGE persons and come near the supremum.
    norm : {'l1', 'l2'}
        For `l2` the square of the change counts.
    weight_s, weight_n : Fraction
        Weights; x_s is the first coordinate.
    effort : {'quick', 'close', 'thorough'}
        For the l1 change on a ball.
    """
    pair = extremes(setting, norm, weight_s, weight_n, effort=effort)
    rows = setting.rows_per_person
    finite = setting if setting.records is not None else replace(setting, records=LARGE * rows)
    value = rows ** (1 if norm == "l1" else 2) * _value(one_row_each(finite), pair, norm, weight_s, weight_n)
    return Witness(finite, *_data_sets(finite, pair), value)


def one_row_each(setting: Setting) -> Setting:
    """Return the setting of the same number of persons with one row each."""
    rows, records = setting.rows_per_person, setting.records
    if rows == 1 or records is None:
        return replace(setting, rows_per_person=1)
    # without a fairness term the number of others does not matter
    return replace(setting, rows_per_person=1, records=None if setting.fairness == "none" else records // rows)


def extremes(
    setting: Setting, norm: str, weight_s: Fraction = ONE, weight_n: Fraction = ONE, *, effort: str = "quick"
) -> Extremes:
    """Return the records of a :func:`witness`, without the number of the others."""
    if norm == "l1" and setting.norm != "unit_box":
        return ball_l1.attaining(setting, weight_s, weight_n, effort)[1]
    candidates = list(_candidates(setting, norm, weight_s, weight_n))
    return max(candidates, key=lambda pair: _value(setting, pair, norm, weight_s, weight_n))


def _value(setting: Setting, pair: Extremes, norm: str, weight_s: Fraction, weight_n: Fraction) -> Fraction:
    change = weighted_l1_change if norm == "l1" else weighted_l2_squared_change
    return change(setting, pair, weight_s, weight_n)


def _data_sets(setting: Setting, pair: Extremes) -> tuple[Repeated, Repeated]:
    rows = setting.rows_per_person
    shared = [(pair.others, 0, 0, (setting.records or LARGE) - rows)]
    left = shared if pair.before is None else [*shared, (pair.before, pair.label_before, 0, rows)]
    right = [*shared, (pair.after, pair.label_after, 1, rows)]
    return _repeated(setting, left), _repeated(setting, right)


def _repeated(setting: Setting, rows: list[tuple[tuple[float, ...], int, int, int]]) -> Repeated:
    rows = [row for row in rows if row[3]]
    x, y, z, counts = zip(*rows, strict=True)
    return Repeated(check_matrix(domain_of(setting), np.array(x), y, z), counts)


def _candidates(setting: Setting, norm: str, weight_s: Fraction, weight_n: Fraction) -> Iterator[Extremes]:
    if setting.norm == "unit_box":
        lower_records = (
            _box_l1(setting, weight_s, weight_n) if norm == "l1" else _box_l2(setting, weight_s, weight_n)
        )
        yield from (_on_box(setting, before) for before in lower_records)
    elif setting.replaces:
        yield from _ball_replaced(setting)
    else:
        yield from _ball_added(setting, weight_s, weight_n)


# --- Unit box: Propositions 1 and 2 ---------------------------------------------------------------------------


def _on_box(setting: Setting, before: list[float]) -> Extremes:
    """Return x' = 1 against the given x; the others at 1 for `absolute`, at 0 otherwise."""
    d = setting.dimension
    others = (1.0 if setting.fairness == "absolute" else 0.0,) * d
    return Extremes((1.0,) * d, tuple(before) if setting.replaces else None, others)


def _box_l1(setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Iterator[list[float]]:
    """Yield x with x_s = q and the others adding up to t, at the ends and stationary points of the four edges."""
    rest = setting.dimension - 1
    ratio = float(weight_s / weight_n) if weight_n else 0.0
    edges = [(q, t) for q in (0.0, 1.0) for t in (0.0, float(rest), min(max(2 - ratio * q, 0.0), rest))]
    edges += [(min(max(2.0 - t, 0.0), 1.0), float(t)) for t in (0, rest)]
    for q, t in edges:
        yield [q, *(min(max(t - e, 0.0), 1.0) for e in range(rest))]


def _box_l2(setting: Setting, u_s: Fraction, u_n: Fraction) -> Iterator[list[float]]:
    """Yield the best vertices x for each x_s: the change is concave in the number k of ones among the others."""
    rest = setting.dimension - 1
    off_diagonal = Fraction(1, 32) if setting.basis == "monomial" else Fraction(1, 64)
    gain = box.linear_change(setting) + Fraction(1, 4) - Fraction(1, 64)
    for q in (0, 1):
        stationary = (gain / off_diagonal - 2 * q * u_s / u_n) / 2 + Fraction(1, 2) if u_n else Fraction(0)
        for k in {min(max(k, 0), rest) for k in (math.floor(stationary), math.ceil(stationary))}:
            yield [float(q)] + [1.0] * k + [0.0] * (rest - k)


# --- Balls, l2: Propositions 3 to 5 ---------------------------------------------------------------------------


def _unit(setting: Setting, index: int) -> list[float]:
    return [1.0 if e == index else 0.0 for e in range(setting.dimension)]


def _others(setting: Setting, record: list[float]) -> list[list[float]]:
    """Return the best places of the other records for a changed record."""
    if setting.fairness == "none":
        return [[0.0] * setting.dimension]
    if setting.fairness == "absolute":
        return [record]
    if setting.norm == "symmetric_ball":
        return [[-v for v in record]]
    # orthogonal to the record, or nowhere
    free = [e for e in (0, 1, setting.dimension - 1) if e < setting.dimension and record[e] == 0]
    return [[0.0] * setting.dimension, *(_unit(setting, e) for e in free)]


def _ball_replaced(setting: Setting) -> Iterator[Extremes]:
    """Yield x = x' = e_i, which changes label and group."""
    for i in {0, setting.dimension - 1}:
        record = _unit(setting, i)
        for others in _others(setting, record):
            yield Extremes(tuple(record), tuple(record), tuple(others))


def _ball_added(setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Iterator[Extremes]:
    """Yield x with x_s = sqrt(p) and the rest spread over k of the others."""
    d = setting.dimension
    shapes = [_spread(d, p, k) for p in (0.0, 1.0) for k in {1, d - 2, d - 1} if 1 <= k < d]
    shapes += [_spread(d, 1 / d, d - 1) if d > 1 else [1.0]]
    shapes += [_spread(d, p, k) for k in (d - 2, d - 1) if k >= 1 for p in _angle(setting, weight_s, weight_n, k)]
    for record in shapes:
        for others in _others(setting, record):
            yield Extremes(onto_grid(record), None, onto_grid(others))
    aligned = setting.fairness == "absolute" or (setting.norm == "symmetric_ball" and setting.fairness != "none")
    if d > 1 and weight_s != weight_n and aligned:
        yield _aligned(setting, weight_s, weight_n)


def _spread(d: int, p: float, k: int) -> list[float]:
    """Return x_s = sqrt(p) and k further entries that share the rest of the length."""
    return [math.sqrt(p), *[math.sqrt((1 - p) / k)] * k, *[0.0] * (d - 1 - k)]


def _angle(setting: Setting, u_s: Fraction, u_n: Fraction, k: int) -> Iterator[float]:
    """Yield the stationary p of the quadratic in Proposition 5."""
    e = setting.drift
    linear = Fraction(1, 4) + e * e if setting.fairness == "separate" else (Fraction(1, 2) + e) ** 2
    spread = 2 - Fraction(1, k)
    curvature = 3 * u_s - spread * u_n
    if curvature > 0:
        stationary = (u_s * (64 * linear + 4) - u_n * (64 * linear + 2 * spread)) / (2 * curvature)
        if 0 < stationary < 1:
            yield float(stationary)


def _aligned(setting: Setting, u_s: Fraction, u_n: Fraction) -> Extremes:
    """Return the best x and X at two angles, found numerically (the only maximum without a closed form)."""
    d = setting.dimension
    sign = 1.0 if setting.fairness == "absolute" else -1.0
    e, own = float(setting.drift), 0.25 if setting.fairness == "separate" else 0.0
    along = e if setting.fairness == "separate" else 0.5 + e
    unit = max(u_s, u_n)
    w_s, w_n = float(u_s / unit), float(u_n / unit)
    monomial = 2 - 1 / (d - 1) if setting.basis == "monomial" else 1.0
    cross = 4.0 if setting.basis == "monomial" else 2.0

    def loss(angles: FloatArray) -> float:
        (cos_a, cos_b), (sin_a, sin_b) = np.cos(angles), np.sin(angles)
        on_s = own * cos_a**2 + (along * cos_a + e * cos_b) ** 2 + (cos_a**4 + cross * (cos_a * sin_a) ** 2) / 64
        on_n = own * sin_a**2 + (along * sin_a + e * sin_b) ** 2 + monomial * sin_a**4 / 64
        return -float(w_s * on_s + w_n * on_n)

    grid = np.linspace(0, np.pi / 2, 33)
    start = min(((a, b) for a in grid for b in grid), key=lambda angles: loss(np.array(angles)))
    found = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-12, "fatol": 0, "maxiter": 2000})
    best = min((np.array(start), np.clip(found.x, 0, np.pi / 2)), key=loss)
    x, X = (_spread(d, min(1.0, math.cos(angle) ** 2), d - 1) for angle in best)
    return Extremes(onto_grid(x), None, onto_grid([sign * v for v in X]))
