"""Sensitivities from the definition: data sets at the corners of the box, enumerated."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.vectors.sources.balls import ball_supremum
from audit.vectors.sources.numbers import UNIT, Answer, around, exactly, number
from audit.vectors.sources.polynomial import coefficients, in_s

OFFSET, EDGE = Fraction(17, 100), Fraction(1, 20)
"""The grid, in steps, for suprema found by a search: round numbers stay clear of its edges."""

Changes = npt.NDArray[np.float64]


def published(kind: str, fairness: str, d: int) -> Fraction:
    """Return the bound that Lemmas 1 to 4 print; for l2 its square."""
    fair = fairness != "none"
    if kind == "l1":
        return Fraction(d**2, 4) + (3 * d if fair else d)
    return Fraction(d**2, 16) + (9 * d if fair else d)


def _data(rows: list[tuple[float, ...]], y: list[int], z: list[int], setting: tuple[str, str]) -> Answer:
    fairness, basis = setting
    return {
        "x": [[exactly(Fraction(v)) for v in row] for row in rows],
        "y": [str(v) for v in y],
        "z": [str(v) for v in z],
        "fairness": fairness,
        "basis": basis,
        "fairnessWeight": "1",
    }


def change(first: Answer, second: Answer) -> list[Fraction]:
    """Return the difference of all released coefficients of two data sets."""
    before, after = ([v for part in coefficients(data) for v in part] for data in (first, second))
    return [b - a for a, b in zip(before, after, strict=True)]


@lru_cache(maxsize=64)
def _changes(d: int, fairness: str, basis: str, adjacency: str) -> tuple[Changes, Changes]:
    """Return the change of every coefficient for one record and what a second one adds: all corners, floats exact.

    With nu = (N - 1)/N and N - 1 equal other records, every change is base + nu * slope.
    """
    corners = list(product((0.0, 1.0), repeat=d))
    groups = (0, 1) if fairness != "none" else (0,)
    setting = (fairness, basis)
    bases, slopes = [], []
    # the order of coordinates does not matter: the other records may be sorted
    for after, other in product(corners, corners):
        for before in corners if adjacency == "replace_one" else [None]:
            for y, y_before, z, z_other in product((0, 1), (0, 1), groups, groups):
                if before is None and y_before == 1:
                    continue
                alone = _sums(((after, y, z),), setting)
                fixed = (other, 0, z_other)
                if before is None:
                    one, two = alone, _sums((fixed, (after, y, z)), setting) - _sums((fixed,), setting)
                else:
                    gone = (before, y_before, 1 - z if len(groups) == 2 else z)
                    one = alone - _sums((gone,), setting)
                    two = _sums((fixed, (after, y, z)), setting) - _sums((fixed, gone), setting)
                bases.append(one)
                slopes.append(2 * (two - one))
    return np.array(bases), np.array(slopes)


@lru_cache(maxsize=8192)
def _sums(rows: tuple[tuple[tuple[float, ...], int, int], ...], setting: tuple[str, str]) -> Changes:
    """Return the coefficients of one or two records at corners: multiples of 1/8, which floats hold."""
    x, y, z = (list(column) for column in zip(*rows, strict=True))
    return np.array([float(v) for part in coefficients(_data(x, y, z, setting)) for v in part])


def box_supremum(inputs: Answer, power: int, weight_s: Fraction, weight_n: Fraction) -> Fraction:
    """Return the largest weighted sum of |change| (or its square) over all corners; x_s is coordinate 0."""
    d, fairness, basis = int(inputs["dimension"]), inputs["fairness"], inputs["basis"]
    base, slope = _changes(d, fairness, basis, inputs["adjacency"])
    records = inputs["records"]
    nu = Fraction(1) if records == "limit" else Fraction(int(records) - 1, int(records))
    weights = [weight_s if member else weight_n for member in in_s(d, 0, basis, fairness)]
    drift = nu * (1 if fairness in ("none", "separate") else number(inputs["fairnessWeight"]))
    values = np.abs(base + float(drift) * slope) ** power @ np.array([float(w) for w in weights])
    near = np.flatnonzero(values >= values.max() * (1 - 1e-12))
    best = Fraction(0)
    for config in {(tuple(base[i]), tuple(slope[i])) for i in near.tolist()}:
        moved = [abs(Fraction(b) + drift * Fraction(s)) ** power for b, s in zip(*config, strict=True)]
        best = max(best, sum((w * v for w, v in zip(weights, moved, strict=True)), Fraction(0)))
    return best


def _supremum(inputs: Answer, power: int) -> Fraction:
    if inputs["norm"] == "unit_box":
        return box_supremum(inputs, power, Fraction(1), Fraction(1))
    return Fraction(ball_supremum(inputs, power))


def _nearly(value: Fraction) -> Any:
    """Enclose the result of a search on a coarse grid: other machines find the same to 1e-7."""
    # a search finds a power of two from below or from above
    step = Fraction(2) ** (math.frexp(1.37 * float(value))[1] - 20)
    place = value / step + OFFSET
    assert EDGE < place % 1 < 1 - EDGE, f"rounding decides the enclosure of {float(value)}"
    return around((place // 1) * step, 2 * step)


def answer_sensitivity(inputs: Answer) -> Answer:
    """Answer a case of Sensitivity."""
    kind = inputs["kind"]
    if kind == "worst_pair":
        shared = {name: inputs[name] for name in ("fairness", "basis", "fairnessWeight")}
        names = [name for name in ("x", "y", "z") if name in inputs]
        first = {name: inputs[name] for name in names} | shared
        second = {name: inputs[f"{name}Neighbour"] for name in names} | shared
        moved = change(first, second)
        return {
            "l1Change": exactly(sum(map(abs, moved), Fraction(0))),
            "l2ChangeSquared": exactly(sum((v * v for v in moved), Fraction(0))),
        }
    if kind.startswith("published"):
        return {"value": exactly(published(kind[-2:], inputs["fairness"], int(inputs["dimension"])))}
    if kind.startswith("attaining"):
        return {"encodable": "1", "neighbouring": "1", "attained": _nearly(_supremum(inputs, int(kind[-1])))}
    if kind.startswith("ball"):
        return {"value": _nearly(_supremum(inputs, int(kind[-1])))}
    found = _supremum(inputs, int(kind[-1]))
    dyadic = found.denominator & (found.denominator - 1) == 0
    return {"value": exactly(found) if dyadic else around(found, 64 * UNIT * found)}
