"""Theorems 3 and 5: exactly when they hold, and what holds instead.

Both theorems weigh the two budgets by the number of coordinates, epsilon = epsilon_s/d + epsilon_n (d - 1)/d.
Write R = epsilon_s/epsilon_n, and W(a, b) for the supremum over neighbouring data sets of a |D_s|_1 + b |D_n|_1
(Theorem 3) or of the root of a^2 |D_s|_2^2 + b^2 |D_n|_2^2 (Theorem 5).  Everything follows from the set

    I = {R : W(R, 1) <= Delta (R + d - 1)/d},

an interval, because W is convex and the right side is affine in R.  Proofs:
``proofs/theorem_3.md``, ``proofs/theorem_5.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from audit.exact.enclosures import written
from audit.exact.witnesses import domain_of, readings_of
from reference.accounting import ExactPrivacy, exact_privacy
from reference.budgets import SplitBudget
from reference.common.errors import ReadingError
from reference.common.numbers import Enclosure, decimal_above, decimal_below, decimal_text, exact
from reference.noise import Noise, extended_gaussian_sigma
from reference.noise.profile import delta_of_shift
from reference.objective import layout
from reference.registry import MECHANISMS
from reference.sensitivity import (
    Setting,
    Supremum,
    exact_l1,
    exact_l2_squared,
    published_l1_sensitivity,
    published_l2_sensitivity_squared,
)

ONE, ZERO = Fraction(1), Fraction(0)

THEOREMS = {"T3": "pdfc", "T5": "adfc"}

WIDTH = Fraction(1, 10**12)
"""Relative width of the enclosures of a boundary."""


# --- The supremum and the Delta that a theorem uses ----------------------------------------------------------


def power_of(theorem: str) -> int:
    """Return 1 for Theorem 3, whose W is a sum, and 2 for Theorem 5, whose W^2 is one."""
    if theorem not in THEOREMS:
        raise ReadingError("theorem", theorem, "one of " + ", ".join(THEOREMS))
    return 1 if theorem == "T3" else 2


def supremum_power(theorem: str, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Supremum:
    """Return W(weight_s, weight_n) for Theorem 3, and its square for Theorem 5."""
    if power_of(theorem) == 1:
        return exact_l1(setting, weight_s, weight_n)
    return exact_l2_squared(setting, weight_s**2, weight_n**2)


def sensitivity_power(theorem: str, setting: Setting, sensitivity: Any = "published") -> Fraction:
    """Return Delta for Theorem 3, and its square for Theorem 5.

    Parameters
    ----------
    theorem : {'T3', 'T5'}
    setting : Setting
    sensitivity : 'published', 'exact' or number
        `exact` is what a mechanism uses: the upper end where the supremum is enclosed.

    Raises
    ------
    reference.common.errors.ReadingError
        When the number is below the sensitivity: then already epsilon_s = epsilon_n fails.  Where the supremum is
        enclosed, even for a number inside the enclosure, with which that case is not certified.
    """
    power = power_of(theorem)
    least = supremum_power(theorem, setting, ONE, ONE)
    if sensitivity == "exact":
        return least.upper
    if sensitivity == "published":
        published = published_l1_sensitivity if power == 1 else published_l2_sensitivity_squared
        given = published(setting.fairness, setting.dimension)
    else:
        given = exact("sensitivity", sensitivity) ** power
    if given < least.upper:
        root = float(least.upper) ** (1 / power)
        text = f"at least the exact one, {root:.6g}; below it T2 and T1 fail as well"
        if given >= least.lower and not least.is_exact:
            text = (
                f"at least {root:.6g}, the upper end of the exact one's enclosure; below it nothing is certified"
            )
        raise ReadingError("sensitivity", str(sensitivity), text)
    return given


# --- (a) The interval of budget ratios -----------------------------------------------------------------------


@dataclass(frozen=True)
class OpenTop:
    """An upper end known only to be at least `lower`.  There may be none.

    Parameters
    ----------
    lower : Fraction
    """

    lower: Fraction


@dataclass(frozen=True)
class RatioInterval:
    """The interval I of ratios epsilon_s/epsilon_n for which a theorem holds.

    Parameters
    ----------
    lower : Enclosure
        Its lower end; 0 means that every positive ratio down to 0 is inside.
    upper : Enclosure, OpenTop or None
        Its upper end; None means that it has none.
    """

    lower: Enclosure
    upper: Enclosure | OpenTop | None

    def to_json(self, digits: int = 15) -> dict[str, Any]:
        """Return both ends; null is infinity, and a null `hi` means that the existence of an end is undecided."""
        lower, upper = self.lower, self.upper
        top: Any = None
        if isinstance(upper, OpenTop):
            top = {"lo": decimal_text(decimal_below(upper.lower, digits)), "hi": None}
        elif upper is not None:
            top = written(upper.lower, upper.upper, digits)
        return {"lower": written(lower.lower, lower.upper, digits), "upper": top}


def ratio_interval(theorem: str, setting: Setting, sensitivity: Any = "published") -> RatioInterval:
    """Return I, with both ends enclosed.

    Theorem 3 holds for a ratio in I whatever the budgets, and fails outside I whatever they are.  Theorem 5
    holds for a ratio in I for all epsilon_n and all delta_s, delta_n <= sqrt(2/pi); for a ratio outside I and
    every epsilon_n it fails for all small enough delta_s = delta_n.  Claims: T3, T5.regime.

    Parameters
    ----------
    theorem : {'T3', 'T5'}
    setting : Setting
    sensitivity : 'published', 'exact' or number
    """
    return _ratio_interval(theorem, setting, sensitivity_power(theorem, setting, sensitivity))


@lru_cache(maxsize=4096)
def _ratio_interval(theorem: str, setting: Setting, bound: Fraction) -> RatioInterval:
    def excess(weight_s: Fraction, weight_n: Fraction) -> int:
        return _excess(theorem, setting, bound, weight_s, weight_n)

    if setting.dimension == 1:
        # Phi_n is empty: both sides are proportional to R
        return RatioInterval(Enclosure(ZERO, ZERO), None)
    lower = _lower_end(lambda ratio: excess(ratio, ONE))
    inverse = _lower_end(lambda ratio: excess(ONE, ratio))  # the upper end, in 1/R
    if inverse.upper == 0:
        return RatioInterval(lower, None)
    if inverse.lower == 0:
        return RatioInterval(lower, OpenTop(1 / inverse.upper))
    return RatioInterval(lower, Enclosure(1 / inverse.upper, 1 / inverse.lower))


def _lower_end(excess: Callable[[Fraction], int]) -> Enclosure:
    """Enclose the lower end of an interval that certainly contains 1, on [0, 1]."""
    sign = excess(ZERO)
    if sign < 0:
        return Enclosure(ZERO, ZERO)
    if sign > 0:
        return _bracket(excess, outside=ZERO, inside=ONE)
    # an enclosed supremum straddles the line at 0 already
    return Enclosure(ZERO, _last(excess, ONE, ZERO, -1))


def _excess(theorem: str, setting: Setting, bound: Fraction, weight_s: Fraction, weight_n: Fraction) -> int:
    """Return -1 if W(a, b) <= Delta (a + (d - 1) b)/d is certain, 1 if the opposite is, else 0."""
    d = setting.dimension
    allowed = bound * ((weight_s + (d - 1) * weight_n) / d) ** power_of(theorem)
    supremum = supremum_power(theorem, setting, weight_s, weight_n)
    if supremum.upper <= allowed:
        return -1
    return 1 if supremum.lower > allowed else 0


def _bracket(excess: Callable[[Fraction], int], outside: Fraction, inside: Fraction) -> Enclosure:
    """Enclose the boundary between a number that is certainly outside I and one that is certainly inside."""
    low, high = outside, inside
    while high - low > WIDTH * high:
        middle = (low + high) / 2
        sign = excess(middle)
        if sign == 0:
            # an enclosed supremum straddles the line: close in from both sides while the sign is certain
            return Enclosure(_last(excess, low, middle, 1), _last(excess, high, middle, -1))
        low, high = (middle, high) if sign > 0 else (low, middle)
    return Enclosure(low, high)


def _last(excess: Callable[[Fraction], int], certain: Fraction, unknown: Fraction, sign: int) -> Fraction:
    """Return the last point from `certain` towards `unknown` where the sign is still certain."""
    for _ in range(24):
        middle = (certain + unknown) / 2
        certain, unknown = (middle, unknown) if excess(middle) == sign else (certain, middle)
    return certain


# --- (b) The failing ratio at fixed epsilon_n and delta ------------------------------------------------------


@dataclass(frozen=True)
class FailingRatio:
    """The ratio at which Theorem 5 starts to fail, for one epsilon_n and one delta_s = delta_n.

    Parameters
    ----------
    holds_at, fails_at : Fraction
        Neighbouring ratios epsilon_s/epsilon_n with these verdicts.
    """

    holds_at: Fraction
    fails_at: Fraction


LARGEST_RATIO = 10**6


def failing_ratio(
    setting: Setting,
    epsilon_n: Fraction,
    delta: Fraction,
    sensitivity: Any = "published",
    *,
    above: bool = True,
    digits: int = 6,
) -> FailingRatio | None:
    """Return where Theorem 5 starts to fail on the way from R = 1 upwards (or downwards).

    The ratios are tried on a grid of quarter decades and then by bisection; both ends of the answer are certified
    by :func:`reference.accounting.exact_privacy`.  That the theorem holds at every ratio between 1 and the answer
    is proved inside I only.

    Parameters
    ----------
    setting : Setting
    epsilon_n, delta : Fraction
        delta_s = delta_n = delta.
    sensitivity : 'published', 'exact' or number
    above : bool
        False looks below 1.
    digits : int
        Significant decimal digits of the answer.

    Returns
    -------
    FailingRatio or None
        None when no ratio up to 10^6 (down to 10^-6) on the grid fails.
    """
    bound = sensitivity_power("T5", setting, sensitivity)
    inside = ONE
    step = Fraction(17783, 10000)
    while True:
        outside = decimal_above(inside * step, 6) if above else decimal_below(inside / step, 6)
        if max(outside, 1 / outside) > LARGEST_RATIO:
            return None
        if _fails(setting, bound, epsilon_n, delta, outside):
            break
        inside = outside
    unit = Fraction(1, 10**digits)
    while abs(outside - inside) > unit * inside:
        middle = (decimal_above if above else decimal_below)((inside + outside) / 2, digits + 2)
        if _fails(setting, bound, epsilon_n, delta, middle):
            outside = middle
        else:
            inside = middle
    at_holds, at_fails = (
        privacy_at(setting, ratio, epsilon_n, delta, sensitivity).verdict for ratio in (inside, outside)
    )
    if at_holds not in ("proved", "enclosed") or at_fails != "refuted":
        raise RuntimeError("the exact privacy contradicts the search for the failing ratio")
    return FailingRatio(inside, outside)


def _fails(setting: Setting, bound: Fraction, epsilon_n: Fraction, delta: Fraction, ratio: Fraction) -> bool:
    noise = _noise(setting, bound, SplitBudget(ratio * epsilon_n, epsilon_n, delta, delta))
    shift_squared = exact_l2_squared(setting, 1 / Fraction(noise.scale_s) ** 2, 1 / Fraction(noise.scale_n) ** 2)
    d = setting.dimension
    return delta_of_shift(shift_squared.lower, epsilon_n * (ratio + d - 1) / d).lower > 1 - (1 - delta) ** 2


def _noise(setting: Setting, bound: Fraction, budget: SplitBudget) -> Noise:
    """Return ADFC's noise for the caller's squared Delta."""
    sigma_s = extended_gaussian_sigma(bound, budget.epsilon_s, budget.delta_s)
    sigma_n = extended_gaussian_sigma(bound, budget.epsilon_n, budget.delta_n)
    return Noise("gaussian", sigma_s, sigma_n, layout(domain_of(setting), readings_of(setting)).contains(0))


def privacy_at(
    setting: Setting,
    ratio: Fraction,
    epsilon_n: Fraction,
    delta: Fraction = ZERO,
    sensitivity: Any = "published",
    *,
    theorem: str = "T5",
) -> ExactPrivacy:
    """Return the exact privacy of the mechanism's noise, beside the theorem's claim.

    Parameters
    ----------
    setting : Setting
    ratio, epsilon_n : Fraction
        epsilon_s = ratio * epsilon_n.
    delta : Fraction
        delta_s = delta_n = delta; 0 for Theorem 3.
    sensitivity : 'published', 'exact' or number
    theorem : {'T3', 'T5'}
    """
    spec = MECHANISMS[THEOREMS[theorem]]
    budget = SplitBudget(ratio * epsilon_n, epsilon_n, delta, delta)
    domain, readings = domain_of(setting), readings_of(setting).with_(sensitivity=sensitivity)
    claim = spec.formula(domain, budget, readings)
    return exact_privacy(setting, spec.noise(domain, budget, readings, 0), claim, claim.delta)


# --- The repaired theorems -----------------------------------------------------------------------------------


def repaired_pdfc(
    setting: Setting, epsilon_s: Fraction, epsilon_n: Fraction, l1_sensitivity: Fraction
) -> Enclosure:
    """Return the smallest epsilon for which PDFC with this Delta_1 is epsilon-differentially private.

    T3.fix: epsilon = sup(epsilon_s |D_s|_1 + epsilon_n |D_n|_1) / Delta_1, for any budgets and any Delta_1 > 0.

    Parameters
    ----------
    setting : Setting
    epsilon_s, epsilon_n : Fraction
    l1_sensitivity : Fraction
        The number that calibrates the noise; need not be a bound on anything.
    """
    supremum = exact_l1(setting, epsilon_s / l1_sensitivity, epsilon_n / l1_sensitivity)
    return Enclosure(supremum.lower, supremum.upper)


def repaired_adfc(setting: Setting, sigma_s: Fraction, sigma_n: Fraction, epsilon: Fraction) -> Enclosure:
    """Return the smallest delta for which ADFC with these noise scales is (epsilon, delta)-differentially private.

    T5.fix: the profile of :mod:`reference.noise.profile` at the shift
    sup(|D_s|^2/sigma_s^2 + |D_n|^2/sigma_n^2)^(1/2), for any budgets and any Delta.

    Parameters
    ----------
    setting : Setting
    sigma_s, sigma_n, epsilon : Fraction
    """
    squared = exact_l2_squared(setting, 1 / sigma_s**2, 1 / sigma_n**2)
    low, high = delta_of_shift(squared.lower, epsilon), delta_of_shift(squared.upper, epsilon)
    return Enclosure(decimal_below(low.lower, 20), decimal_above(high.upper, 20))


def smallest_sensitivity_power(theorem: str, setting: Setting) -> Enclosure:
    """Return the smallest Delta (Theorem 5: its square) for which the theorem's formula holds for all budgets.

    max(d sup|D_s|, d/(d - 1) sup|D_n|), in the theorem's norm.  For Theorem 5, "holds" is for every delta up to
    sqrt(2/pi); any smaller Delta fails for some ratio and all small enough delta.
    """
    d, power = setting.dimension, power_of(theorem)
    on_s = supremum_power(theorem, setting, ONE, ZERO)
    if d == 1:
        return Enclosure(on_s.lower, on_s.upper)
    on_n = supremum_power(theorem, setting, ZERO, ONE)
    factor_s, factor_n = Fraction(d) ** power, Fraction(d, d - 1) ** power
    return Enclosure(
        max(factor_s * on_s.lower, factor_n * on_n.lower), max(factor_s * on_s.upper, factor_n * on_n.upper)
    )


def holds_for_all_budgets(theorem: str, setting: Setting, sensitivity: Any = "published") -> bool | None:
    """Return whether a theorem holds for all budgets; None where the enclosures do not decide."""
    bound = sensitivity_power(theorem, setting, sensitivity)
    needed = smallest_sensitivity_power(theorem, setting)
    if needed.upper <= bound:
        return True
    return False if needed.lower > bound else None
