"""The two public grids of hardened noise, and what rounding to them can change.

Records are rounded towards zero to multiples of 1/DATA_STEPS, so that they stay in their domain and their sums
are exact.  Coefficients are rounded to the nearest multiple of 1/RELEASE_STEPS, on which discrete noise is added.
Proofs: ``proofs/hardened_noise.md``.
"""

from __future__ import annotations

from fractions import Fraction

from reference.coefficients import Layout
from reference.common.balls import square_root
from reference.common.grid import DATA_STEPS
from reference.sensitivity.setting import Setting, Supremum

RELEASE_STEPS = 2**32
"""Released coefficients are multiples of 1/RELEASE_STEPS."""


ENCODING = Fraction(1, 2**30)
"""A bound on the rounding error of an encoded entry, as a share of a step of the grid of records."""


def l1_slack(layout: Layout) -> Fraction:
    """Return what to add to an l1-sensitivity, so that it bounds the change of the rounded coefficients.

    Every coefficient adds at most one step.  d |Phi_s| steps are at least as many as there are coefficients,
    and enough for Theorem 3's formula to hold with the sum as its Delta_1 whenever it holds with the bound
    itself (proofs/hardened_noise.md, section 2).
    """
    in_s = int(layout.contains(0).sum())
    return Fraction(layout.dimension * in_s, RELEASE_STEPS)


def with_l2_slack(l2_sensitivity_squared: Fraction, layout: Layout) -> Fraction:
    """Return (Delta_2 + sqrt(size) / RELEASE_STEPS)^2, rounded up: the square for the rounded coefficients."""
    return _moved_up(l2_sensitivity_squared, Fraction(layout.size, RELEASE_STEPS**2))


def encoded_l1(l1_sensitivity: Fraction, layout: Layout, setting: Setting) -> Fraction:
    """Return a bound on the l1 change of rows that are encoded and then rounded to the grid of records."""
    return l1_sensitivity + layout.size * encoded_change(setting)


def encoded_l2_squared(l2_sensitivity_squared: Fraction, layout: Layout, setting: Setting) -> Fraction:
    """Return a bound on the square of the l2 change of rows that are encoded and then rounded."""
    return _moved_up(l2_sensitivity_squared, layout.size * encoded_change(setting) ** 2)


def widened_l1(
    loss: Supremum, setting: Setting, inverse_scales: Fraction, steps: int, *, leaves: bool = False
) -> Supremum:
    """Return the supremum of sum |change| / scale for coefficients on the grid.

    Parameters
    ----------
    loss : Supremum
        The same for exact coefficients of unrounded records.
    setting : Setting
    inverse_scales : Fraction
        Sum of 1 / scale over the coefficients.
    steps : int
        Steps per unit of the release grid.
    leaves : bool
        Whether rounded records may leave the set that `loss` is over: what a domain encodes, rather than a norm.
    """
    rounding = encoded_change(setting) if leaves else data_change(setting)
    below = inverse_scales * (rounding + Fraction(1, steps))
    above = below if leaves else inverse_scales / steps
    return Supremum(max(Fraction(0), loss.lower - below), loss.upper + above, loss.method)


def widened_l2_squared(
    squared: Supremum, setting: Setting, inverse_squares: Fraction, steps: int, *, leaves: bool = False
) -> Supremum:
    """Return the supremum of sum (change / sigma)^2 for coefficients on the grid; as :func:`widened_l1`."""
    rounding = encoded_change(setting) if leaves else data_change(setting)
    above = Fraction(1, steps) + (rounding if leaves else 0)
    upper = _moved_up(squared.upper, inverse_squares * above**2)
    moved = inverse_squares * (rounding + Fraction(1, steps)) ** 2
    lower = Fraction(0)
    if squared.lower > moved:
        # (sqrt(a) - sqrt(b))^2 = a + b - 2 sqrt(ab), rounded down
        lower = max(lower, squared.lower + moved - 2 * square_root(squared.lower * moved).upper)
    return Supremum(lower, upper, squared.method)


def data_change(setting: Setting) -> Fraction:
    """Return how much rounding the records can add to the change of a coefficient by one person.

    (1 + 3 alpha_1) / DATA_STEPS for each row; alpha_1 counts as 0 without a fairness term and as 1 for `separate`.
    """
    weight = {"none": Fraction(0), "separate": Fraction(1)}.get(setting.fairness, setting.fairness_weight)
    return setting.rows_per_person * (1 + 3 * weight) / DATA_STEPS


def encoded_change(setting: Setting) -> Fraction:
    """Return :func:`data_change` for encoded rows, whose floats are rounded first."""
    return data_change(setting) * (1 + ENCODING)


def _moved_up(squared: Fraction, moved: Fraction) -> Fraction:
    # (sqrt(a) + sqrt(b))^2 = a + b + 2 sqrt(ab)
    return squared + moved + 2 * square_root(squared * moved).upper
