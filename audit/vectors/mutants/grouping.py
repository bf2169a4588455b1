"""Bugs of Phi_s, the coefficients that involve x_s, and of what x_s may be."""

from __future__ import annotations

import numpy as np

from audit.vectors.mutants.broken import Broken
from reference.coefficients import Layout
from reference.common.arrays import BoolArray, IntArray


class _PartOfS(Broken):
    """Phi_s holds only some of the quadratic monomials of x_s."""

    bug_type = "BUDGET"
    claims = ("A.xs",)

    def in_s(self, layout: Layout, s: int) -> BoolArray:
        found = super().in_s(layout, s).copy()
        rows, columns = layout.pairs
        found[layout.dimension : layout.dimension + len(rows)] &= self.held(rows, columns, s)
        return found

    def held(self, rows: IntArray, columns: IntArray, s: int) -> BoolArray:
        """Return which quadratic monomials are left in Phi_s."""
        raise NotImplementedError


class OnlyLinearInS(_PartOfS):
    """Phi_s holds the monomial w_s alone.

    The quadratic monomials of x_s get the noise of the others.
    """

    def held(self, rows: IntArray, columns: IntArray, s: int) -> BoolArray:
        return np.zeros(len(rows), dtype=np.bool_)


class OnlySquareInS(_PartOfS):
    """Phi_s holds w_s and w_s^2, but no product with another coordinate.

    Interactions of x_s get the noise of the others.
    """

    def held(self, rows: IntArray, columns: IntArray, s: int) -> BoolArray:
        return np.asarray(rows == columns)


class OnlyFirstInS(_PartOfS):
    """Phi_s holds the products of x_s with later coordinates, but none with an earlier one.

    Interactions of x_s get the noise of the others.
    """

    def held(self, rows: IntArray, columns: IntArray, s: int) -> BoolArray:
        return np.asarray(rows == s)


class CovarianceOutsideS(Broken):
    """The covariance of x_s, released apart, is not in Phi_s.

    It gets the noise of the others.
    """

    bug_type = "BUDGET"

    def in_s(self, layout: Layout, s: int) -> BoolArray:
        found = super().in_s(layout, s).copy()
        if layout.separate:
            found[-layout.dimension :] = False
        return found


class XsCountedFromOne(Broken):
    """x_s is counted from 1, or without the intercept: the coordinate before it is taken.

    Another attribute gets the noise of x_s.
    """

    bug_type = "EDGE_CASE"
    claims = ("A.xs",)

    def in_s(self, layout: Layout, s: int) -> BoolArray:
        return super().in_s(layout, max(0, s - 1))


class InterceptSelectable(Broken):
    """x_s may be the intercept.

    The budget of x_s is spent on a constant.
    """

    bug_type = "EDGE_CASE"
    claims = ("A.xs",)

    def selectable(self, dimension: int, *, intercept: bool, keep_group: bool) -> tuple[int, ...]:
        return tuple(range(dimension - keep_group))


class KeptGroupSelectable(Broken):
    """x_s may be the protected attribute that is kept among the features.

    The paper draws x_s among the unprotected attributes.
    """

    bug_type = "EDGE_CASE"
    claims = ("A.xs",)

    def selectable(self, dimension: int, *, intercept: bool, keep_group: bool) -> tuple[int, ...]:
        return tuple(range(int(intercept), dimension))
