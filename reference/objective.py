"""The approximate objective f-bar: moments -> coefficients, one line per fairness reading."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from reference.coefficients import Coefficients, Layout
from reference.common.errors import ReadingError
from reference.domain import Domain
from reference.moments import Moments
from reference.readings import Readings

TAYLOR_LINEAR = Fraction(1, 2)
"""f_1'(0) / 1! for f_1(t) = log(1 + exp t)."""

TAYLOR_QUADRATIC = Fraction(1, 8)
"""f_1''(0) / 2! for f_1(t) = log(1 + exp t)."""


def layout(domain: Domain, readings: Readings) -> Layout:
    """Return which coefficients the readings release: a function of public things only."""
    if readings.fairness != "none" and domain.group is None:
        raise ReadingError("fairness", readings.fairness, "'none' for a domain that declares no group")
    if readings.fairness == "absolute" and domain.norm == "symmetric_ball":
        raise ReadingError("fairness", "absolute", "none, covariance or separate on the symmetric ball")
    return Layout(domain.columns, readings.basis, readings.fairness == "separate")


def objective(moments: Moments, readings: Readings) -> Coefficients:
    """Return the coefficients of f-bar summed over the data set.

    *Implements* equation (6) (Algorithm 1, line 3) *except* that |sum (z - zbar) x.w|, which is not a polynomial,
    is read as `readings.fairness` says.  The constant n log 2 is left out, as in the algorithms.
    Claims: O1, O2, F1.

    Parameters
    ----------
    moments : Moments
        Of at least one record, where their number is public.  Under `add_or_remove_one` none have the
        coefficients 0.
    readings : Readings

    Returns
    -------
    Coefficients
    """
    number: Any = Fraction if moments.exact else float
    alpha_1 = number(readings.fairness_weight)
    # the sums of no records are 0, and so is what zbar multiplies
    nobody = moments.n == 0 and readings.adjacency == "add_or_remove_one"
    zbar = number(0) if nobody else moments.zbar
    # sum_i (f_1'(0) - y_i) x_i
    linear = number(TAYLOR_LINEAR) * moments.sum_x - moments.sum_yx
    # sum_i f_1''(0)/2 x_i x_i'
    second_order = number(TAYLOR_QUADRATIC) * moments.sum_xx
    # sum_i (z_i - zbar) x_i
    covariance = moments.sum_zx - zbar * moments.sum_x
    if readings.fairness == "absolute":
        # alpha_1 sum_i |z_i - zbar| x_i
        linear = linear + alpha_1 * ((1 - 2 * zbar) * moments.sum_zx + zbar * moments.sum_x)
    elif readings.fairness == "covariance":
        # alpha_1 sum_i (z_i - zbar) x_i
        linear = linear + alpha_1 * covariance
    public = layout(moments.domain, readings)
    return Coefficients.from_parts(public, linear, second_order, covariance if public.separate else None)
