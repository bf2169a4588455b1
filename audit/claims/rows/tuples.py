"""Small data sets in exact rationals, and the paper's formulas on them, written out tuple by tuple.

Independent of :mod:`reference`, without moments or floats.  For rows that need a counterexample that you can
check with pencil and paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

HALF, EIGHTH = Fraction(1, 2), Fraction(1, 8)


@dataclass(frozen=True, order=True)
class Record:
    """One tuple t = (x, y, z).

    Parameters
    ----------
    x : tuple of Fraction
    y, z : int
        0 or 1.
    """

    x: tuple[Fraction, ...]
    y: int
    z: int


def record(x: Sequence[int | str | Fraction], y: int, z: int) -> Record:
    """Return a record from numbers or texts such as "3/5"."""
    return Record(tuple(Fraction(value) for value in x), y, z)


@dataclass(frozen=True)
class Database:
    """A data set, in order.

    Parameters
    ----------
    records : tuple of Record
        At least one, all of the same dimension.
    """

    records: tuple[Record, ...]

    @classmethod
    def of(cls, *records: Record) -> Database:
        """Return a data set of some records."""
        return cls(records)

    @property
    def dimension(self) -> int:
        """The paper's d."""
        return len(self.records[0].x)

    @property
    def zbar(self) -> Fraction:
        """The average of z."""
        return Fraction(sum(t.z for t in self.records), len(self.records))

    def total(self, coordinate: int, weights: Iterator[Fraction] | Sequence[Fraction]) -> Fraction:
        """Return sum weight_i x_i over the records, for one coordinate."""
        return sum((w * t.x[coordinate] for w, t in zip(weights, self.records, strict=True)), Fraction(0))

    def linear(self, fairness: str, weight: Fraction = Fraction(1)) -> tuple[Fraction, ...]:
        """Return the coefficients of w_1, ..., w_d.

        (1/2 - y) x, plus `weight` times |z - zbar| x (`absolute`) or (z - zbar) x (`covariance`).
        """
        zbar = self.zbar

        def of(t: Record) -> Fraction:
            penalty = {"none": Fraction(0), "absolute": abs(t.z - zbar), "covariance": t.z - zbar}[fairness]
            return HALF - t.y + weight * penalty

        return tuple(self.total(e, [of(t) for t in self.records]) for e in range(self.dimension))

    @property
    def quadratic(self) -> tuple[tuple[Fraction, ...], ...]:
        """The symmetric matrix sum x x' / 8."""
        d = self.dimension
        return tuple(
            tuple(sum((t.x[e] * t.x[k] for t in self.records), Fraction(0)) * EIGHTH for k in range(d))
            for e in range(d)
        )

    @property
    def covariance(self) -> tuple[Fraction, ...]:
        """The vector g with g.w = sum (z - zbar) x.w: equation (4) for logistic regression."""
        return tuple(self.total(e, [t.z - self.zbar for t in self.records]) for e in range(self.dimension))

    def boundary_covariance(self, w: Sequence[Fraction]) -> Fraction:
        """Return g.w."""
        return sum((g * v for g, v in zip(self.covariance, w, strict=True)), Fraction(0))

    def risk_difference(self, w: Sequence[Fraction]) -> Fraction | None:
        """Return |P(x.w > 0 | z = 1) - P(x.w > 0 | z = 0)|; None when a group is empty."""
        rates = []
        for group in (0, 1):
            members = [t for t in self.records if t.z == group]
            if not members:
                return None
            positive = sum(1 for t in members if sum(v * c for v, c in zip(t.x, w, strict=True)) > 0)
            rates.append(Fraction(positive, len(members)))
        return abs(rates[1] - rates[0])

    def to_json(self) -> list[dict[str, Any]]:
        """Return runs of equal records with their counts; exact numbers as strings."""
        return [
            {"count": len(list(same)), "x": [str(v) for v in t.x], "y": t.y, "z": t.z}
            for t, same in groupby(self.records)
        ]


def l1_change(left: Database, right: Database, fairness: str, weight: Fraction = Fraction(1)) -> Fraction:
    """Return the l1 distance of the released coefficients; the same in both bases of Phi_2."""
    one, other = left.linear(fairness, weight), right.linear(fairness, weight)
    change = sum((abs(a - b) for a, b in zip(one, other, strict=True)), Fraction(0))
    for row, second in zip(left.quadratic, right.quadratic, strict=True):
        change += sum((abs(a - b) for a, b in zip(row, second, strict=True)), Fraction(0))
    return change


def l2_squared_change(
    left: Database, right: Database, fairness: str, weight: Fraction = Fraction(1), basis: str = "monomial"
) -> Fraction:
    """Return the square of the l2 distance of the released coefficients."""
    one, other = left.linear(fairness, weight), right.linear(fairness, weight)
    change = sum(((a - b) ** 2 for a, b in zip(one, other, strict=True)), Fraction(0))
    for e, (row, second) in enumerate(zip(left.quadratic, right.quadratic, strict=True)):
        for k, (a, b) in enumerate(zip(row, second, strict=True)):
            # monomial basis: (2 (a - b))^2 once for a pair, matrix basis: (a - b)^2 twice
            change += (a - b) ** 2 * (2 if basis == "monomial" and e != k else 1)
    return change


def inverse(matrix: Sequence[Sequence[Fraction]]) -> list[list[Fraction]] | None:
    """Return the exact inverse, or None when the matrix is singular."""
    size = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(size))] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = next((r for r in range(column, size) if rows[r][column] != 0), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column][column]
        rows[column] = [value / head for value in rows[column]]
        for other in range(size):
            factor = rows[other][column]
            if other != column and factor != 0:
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[column], strict=True)]
    return [row[size:] for row in rows]


def minimum(data: Database, linear: Sequence[Fraction]) -> tuple[Fraction, ...] | None:
    """Return the w that minimises linear.w + w'Qw with the data's Q: -Q^{-1} linear / 2; None if Q is singular."""
    solved = inverse(data.quadratic)
    if solved is None:
        return None
    return tuple(-HALF * sum((q * c for q, c in zip(row, linear, strict=True)), Fraction(0)) for row in solved)


def penalised_minimum(
    data: Database, weight: Fraction, tau: Fraction = Fraction(0)
) -> tuple[Fraction, ...] | None:
    """Return the w that minimises f-bar + weight |g.w - tau|, the true penalty, exactly; None if Q is singular.

    The multiplier m in [-weight, weight] of g.w - tau gives w(m) = -Q^{-1}(c + m g)/2, and g.w(m) falls with m;
    the right m is where g.w(m) = tau, clipped.
    """
    c, g = data.linear("none"), data.covariance
    at_zero = minimum(data, c)
    per_unit = minimum(data, g)
    if at_zero is None or per_unit is None:
        return None
    slope = data.boundary_covariance(per_unit)
    if slope == 0:
        return at_zero
    multiplier = max(-weight, min(weight, (tau - data.boundary_covariance(at_zero)) / slope))
    return tuple(a + multiplier * b for a, b in zip(at_zero, per_unit, strict=True))
