"""The polynomial coefficients of an objective: exact ones and noisy ones, as two types.

``Coefficients`` are exact statistics of the data and must not leave the data holder; ``NoisyCoefficients``
are what a mechanism releases.  Only the latter can be minimised.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from reference.common.arrays import BoolArray, FloatArray, NumberArray


class AddedNoise(Protocol):
    """Public facts about the noise that was added."""

    @property
    def largest_standard_deviation(self) -> float:
        """In the unit of the coefficients."""


@dataclass(frozen=True)
class Layout:
    """The coefficients that are released, in their order: public.

    First the d linear ones (Phi_1); then the quadratic ones (Phi_2) row by row: the d (d + 1) / 2 pairs e <= l
    in the `monomial` basis, all d^2 pairs in the `matrix` basis; then, for fairness `separate`, the d entries
    of the boundary covariance.

    Parameters
    ----------
    columns : tuple of str
        Coordinate names, d of them.
    basis : {'monomial', 'matrix'}
    separate : bool
        Whether the covariance vector is released apart.
    """

    columns: tuple[str, ...]
    basis: str = "monomial"
    separate: bool = False

    @property
    def dimension(self) -> int:
        """The paper's d."""
        return len(self.columns)

    @cached_property
    def pairs(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Indices (e, l) of the quadratic coefficients, two arrays of equal length."""
        d = self.dimension
        if self.basis == "monomial":
            rows, columns = np.triu_indices(d)
            return rows, columns
        rows, columns = np.indices((d, d))
        return rows.ravel(), columns.ravel()

    @property
    def size(self) -> int:
        """Number of released coefficients."""
        return self.dimension * (2 if self.separate else 1) + len(self.pairs[0])

    @property
    def names(self) -> tuple[str, ...]:
        """A readable name for each released coefficient."""
        linear = [f"w[{name}]" for name in self.columns]
        quadratic = [f"w[{self.columns[e]}]*w[{self.columns[k]}]" for e, k in zip(*self.pairs, strict=True)]
        covariance = [f"g[{name}]" for name in self.columns] if self.separate else []
        return tuple(linear + quadratic + covariance)

    def contains(self, s: int) -> BoolArray:
        """Return which released coefficients belong to a monomial with w_s, shape (size,).

        *Implements* Algorithm 1, lines 4-13 (and Algorithm 3, lines 4-13) fully: True is Phi_s, False Phi_n.
        """
        is_s = np.arange(self.dimension) == s
        e, k = self.pairs
        return np.concatenate([is_s, is_s[e] | is_s[k]] + ([is_s] if self.separate else []))


@dataclass(frozen=True, eq=False)
class _Polynomial:
    """c.w + w'Qw, with Q triangular in the monomial basis and full in the matrix basis."""

    layout: Layout
    values: NumberArray

    @property
    def linear(self) -> NumberArray:
        """Coefficients of w_e, shape (d,)."""
        return self.values[: self.layout.dimension]

    @property
    def quadratic(self) -> FloatArray:
        """Q with w'Qw the degree-2 part, shape (d, d): entry (e, l) is the coefficient of w_e w_l."""
        d = self.layout.dimension
        matrix = np.zeros((d, d))
        matrix[self.layout.pairs] = self.values[d : d + len(self.layout.pairs[0])]
        return matrix

    @property
    def covariance(self) -> NumberArray | None:
        """The boundary covariance g = sum (z - zbar) x, shape (d,); None unless `separate`."""
        return self.values[-self.layout.dimension :] if self.layout.separate else None

    def evaluate(self, w: npt.ArrayLike) -> float:
        """Return c.w + w'Qw at one w of shape (d,); the constant n log 2 is not part of a release."""
        point = np.asarray(w, dtype=np.float64)
        return float(self.linear @ point + point @ self.quadratic @ point)


@dataclass(frozen=True, eq=False, repr=False)
class Coefficients(_Polynomial):
    """Exact coefficients of a data set: not private.

    Parameters
    ----------
    layout : Layout
    values : ndarray, shape (layout.size,)
        Floats, or Fractions when the moments are exact.
    """

    def __repr__(self) -> str:
        # exact statistics may not reach a log by accident
        return f"Coefficients({self.layout.size}, exact: not private)"

    def __str__(self) -> str:
        """List every coefficient by name, for the data holder."""
        return _listed("exact coefficients, not private: for the data holder", self)

    @classmethod
    def from_parts(
        cls, layout: Layout, linear: NumberArray, second_order: NumberArray, covariance: NumberArray | None
    ) -> Coefficients:
        """Collect c, the symmetric M of w'Mw, and g (for `separate`) into the basis of `layout`."""
        e, k = layout.pairs
        # monomial basis: w_e w_l with e < l stands for both (e, l) and (l, e)
        entries = second_order[e, k]
        parts = [linear, np.where(e == k, entries, 2 * entries) if layout.basis == "monomial" else entries]
        if covariance is not None:
            parts.append(covariance)
        return cls(layout, np.concatenate(parts))


@dataclass(frozen=True, eq=False)
class NoisyCoefficients(_Polynomial):
    """Coefficients as released.

    Parameters
    ----------
    layout : Layout
    values : ndarray, shape (layout.size,)
    noise : AddedNoise
        What was added, such as :class:`reference.noise.Noise`: public.
    """

    noise: AddedNoise

    def __str__(self) -> str:
        """List every coefficient by name."""
        return _listed("noisy coefficients", self)


def _listed(title: str, polynomial: _Polynomial) -> str:
    """Return a line for each coefficient, with digits that give the float back."""
    pairs = zip(polynomial.layout.names, polynomial.values.tolist(), strict=True)
    return "\n".join([title, *(f"{name} = {float(value)!r}" for name, value in pairs)])
