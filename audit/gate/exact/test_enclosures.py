"""Ball arithmetic: the Gaussian profile, Theorem 2 over regions, and the comparison of the two noises."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

import mpmath
import pytest
import sympy as sp
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from audit.exact.enclosures import extended_gaussian, noise_comparison
from audit.exact.enclosures.regions import Box, certify
from audit.exact.symbolic import published
from audit.exact.symbolic.inequalities import nonnegative_from
from audit.exact.witnesses import domain_of, readings_of
from audit.gate.exact.second_road import (
    delta_by_mpmath,
    interval,
    interval_ends,
    interval_profile,
    intervals,
)
from reference.accounting import exact_privacy
from reference.budgets import SplitBudget
from reference.common.balls import ball, ends, lower_end, sign, upper_end, working_precision
from reference.common.errors import DeltaError
from reference.noise import analytic_gaussian_sigma, extended_gaussian_sigma, laplace_scale
from reference.noise.profile import (
    SMALLEST_DELTA,
    delta_of_shift,
    epsilon_of_shift,
    mills_ratio,
    normal_cdf,
    profile,
)
from reference.registry import MECHANISMS
from reference.sensitivity import (
    Setting,
    exact_l2_squared,
    published_l1_sensitivity,
    published_l2_sensitivity_squared,
)

ONE = Fraction(1)

AGREEMENT = Fraction(1, 10**30)
"""How far mpmath's value may lie outside an enclosure, relatively: it is evaluated at 50 digits."""

SHIFTS = ["1e-12", "1e-6", "0.01", "1", "9", "100", "1e4"]
EPSILONS = ["0", "1e-9", "0.01", "1", "10", "300", "5000"]


# --- The profile ----------------------------------------------------------------------------------------------


def contains(squared_shift: Fraction, epsilon: Fraction, value: Fraction) -> bool:
    """Return whether the enclosure of delta contains a number, up to :data:`AGREEMENT`."""
    found = delta_of_shift(squared_shift, epsilon)
    return found.lower * (1 - AGREEMENT) <= value <= found.upper * (1 + AGREEMENT)


@pytest.mark.parametrize("squared_shift", SHIFTS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_delta_by_mpmath_lies_in_the_enclosure(squared_shift, epsilon):
    found = delta_of_shift(Fraction(squared_shift), Fraction(epsilon))
    value = delta_by_mpmath(Fraction(squared_shift), Fraction(epsilon))
    if found.lower == 0:
        assert value <= found.upper
        return
    assert found.upper - found.lower <= found.lower / 2**69
    assert contains(Fraction(squared_shift), Fraction(epsilon), value)
    # a shift that is longer by a billionth is told apart, where the profile is not flat
    if value < Fraction(99, 100):
        longer = delta_by_mpmath(Fraction(squared_shift) * (1 + Fraction(1, 10**9)), Fraction(epsilon))
        assert not contains(Fraction(squared_shift), Fraction(epsilon), longer)


@settings(deadline=None, max_examples=60)
@given(st.floats(-20, 8), st.floats(-20, 8))
@example(0.0, -20.0)
@example(8.0, 7.7)
def test_delta_by_mpmath_lies_in_the_enclosure_at_random_points(log_squared_shift, log_epsilon):
    squared_shift, epsilon = Fraction(10**log_squared_shift), Fraction(10**log_epsilon)
    found = delta_of_shift(squared_shift, epsilon)
    if found.lower == 0:
        assert found.upper == SMALLEST_DELTA
        return
    assert contains(squared_shift, epsilon, delta_by_mpmath(squared_shift, epsilon))


@pytest.mark.parametrize("squared_shift", ["1e-6", "0.01", "1", "9", "100"])
@pytest.mark.parametrize("delta", ["0.5", "1e-3", "1e-30", "1e-300"])
def test_delta_by_mpmath_crosses_delta_within_the_enclosure_of_epsilon(squared_shift, delta):
    found = epsilon_of_shift(Fraction(squared_shift), Fraction(delta))
    if found.upper == 0:
        assert delta_by_mpmath(Fraction(squared_shift), Fraction(0)) <= Fraction(delta)
        return
    assert 0 < found.upper - found.lower <= found.upper / 2**70
    assert delta_by_mpmath(Fraction(squared_shift), found.upper) < Fraction(delta)
    assert delta_by_mpmath(Fraction(squared_shift), found.lower) > Fraction(delta)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-5"), ("1", "0.01"), ("30", "1e-12"), ("0.5", "0.9")])
def test_reference_analytic_sigma_is_the_smallest_private_float_ratio(epsilon, delta):
    found = extended_gaussian.largest_private_shift(
        lambda: ball(Fraction(epsilon)), lambda: ball(Fraction(delta)), Fraction(1, 2**70)
    )
    sigma = Fraction(analytic_gaussian_sigma(ONE, Fraction(epsilon), Fraction(delta)))
    assert 1 / found.upper <= sigma <= 1 / found.lower * (1 + Fraction(1, 2**52))


def test_profile_of_no_shift_and_bad_deltas():
    nothing = delta_of_shift(Fraction(0), ONE)
    assert nothing.lower == nothing.upper == 0
    assert epsilon_of_shift(Fraction(1, 100), Fraction(9, 10)).upper == 0
    for delta in (Fraction(0), ONE):
        with pytest.raises(DeltaError):
            epsilon_of_shift(ONE, delta)
        with pytest.raises(DeltaError):
            analytic_gaussian_sigma(ONE, ONE, delta)


@pytest.mark.parametrize(
    ("setting", "budget", "verdict"),
    [
        (Setting(13, "absolute", "unit_ball", records=1000), ("10", "0.1", "1e-3", "1e-3"), "refuted"),
        (Setting(13, "absolute", "unit_ball", records=1000), ("1", "1", "1e-3", "1e-3"), "enclosed"),
        (Setting(13, "absolute", "unit_box"), ("1", "0.2", "1e-6", "1e-6"), "enclosed"),
        (Setting(5, "covariance", "unit_box", basis="matrix"), ("40", "0.1", "1e-9", "1e-9"), "refuted"),
        (Setting(2, "absolute", "unit_box"), ("0.02", "1", "1e-30", "1e-30"), "refuted"),
    ],
)
def test_verdicts_of_exact_privacy_are_those_of_mpmath(setting, budget, verdict):
    """The stated enclosure contains mpmath's value of delta at the longest shift, and decides as it does."""
    spec, domain, readings = MECHANISMS["adfc"], domain_of(setting), readings_of(setting)
    split = SplitBudget(*budget)
    claim, noise = spec.formula(domain, split, readings), spec.noise(domain, split, readings, 0)
    stated = exact_privacy(setting, noise, claim, claim.delta)
    squared = exact_l2_squared(setting, 1 / Fraction(noise.scale_s) ** 2, 1 / Fraction(noise.scale_n) ** 2)
    low, high = (delta_by_mpmath(end, claim.epsilon) for end in (squared.lower, squared.upper))
    assert stated.delta.lower <= low <= high <= stated.delta.upper
    assert stated.verdict == verdict == ("refuted" if low > claim.delta else "enclosed")
    # inside the enclosure nothing is decided
    inside = (stated.delta.lower + stated.delta.upper) / 2
    assert exact_privacy(setting, noise, replace(claim, delta=inside), inside).verdict == "undecided"


@pytest.mark.parametrize(
    ("squared_shift", "epsilon"),
    [
        ("1e-4", "0"),
        ("1e-4", "0.01"),
        ("0.01", "1"),
        ("1", "0"),
        ("1", "1"),
        ("1", "10"),
        ("9", "40"),
        ("100", "10"),
    ],
)
def test_second_interval_library_encloses_the_same_profile(squared_shift, epsilon):
    context = intervals(1000)
    mu, target = context.sqrt(interval(context, Fraction(squared_shift))), interval(context, Fraction(epsilon))
    low, high = interval_ends(interval_profile(context, mu, target))
    found = delta_of_shift(Fraction(squared_shift), Fraction(epsilon))
    # both contain the value, so they overlap; the second is thin enough to say something
    assert low <= found.upper
    assert found.lower <= high
    assert high - low < found.upper / 10**15


def test_far_tail_is_below_the_smallest_delta():
    found = delta_of_shift(Fraction(1, 10**6), Fraction(5000))
    assert (found.lower, found.upper) == (0, SMALLEST_DELTA)


@pytest.mark.parametrize(
    ("squared_shift", "epsilon"), [("2e100", "1e100"), ("1e200", "1e-100"), ("1e-200", "1e-100")]
)
def test_profile_is_enclosed_at_the_ends_of_the_range_of_parameters(squared_shift, epsilon):
    found = delta_of_shift(Fraction(squared_shift), Fraction(epsilon))
    assert 0 < found.lower <= found.upper <= min(1, found.lower * (1 + Fraction(1, 2**68)))


# --- T2: the second road --------------------------------------------------------------------------------------


def mpmath_confirms(epsilon: Fraction, delta: Fraction, sigma: Fraction) -> bool:
    """Return whether mpmath's intervals show that noise of this sigma is (epsilon, delta)-private, Delta_2 = 1."""
    context = intervals(1000)
    found = interval_profile(context, 1 / interval(context, sigma), interval(context, epsilon))
    return interval_ends(found)[1] <= delta


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "7", "30"])
@pytest.mark.parametrize("delta", ["0.79", "0.1", "1e-3", "1e-12", "1e-40"])
def test_mpmath_confirms_the_extended_sigma(epsilon, delta):
    budget = Fraction(epsilon), Fraction(delta)
    assert mpmath_confirms(*budget, Fraction(extended_gaussian_sigma(ONE, *budget)))
    # the smallest private sigma, and a little less
    least = Fraction(analytic_gaussian_sigma(ONE, *budget))
    assert mpmath_confirms(*budget, least)
    assert not mpmath_confirms(*budget, least * (1 - Fraction(1, 10**12)))


@settings(deadline=None, max_examples=25)
@given(st.fractions(Fraction(1, 100), 30), st.floats(0.1, 40))
def test_mpmath_confirms_the_extended_sigma_at_random_budgets(epsilon, log_delta):
    delta = Fraction(10**-log_delta)
    assert mpmath_confirms(epsilon, delta, Fraction(extended_gaussian_sigma(ONE, epsilon, delta)))


# --- T2 over regions ------------------------------------------------------------------------------------------


def test_t2_identity_behind_the_closed_form():
    """a = epsilon/mu - mu/2 = sqrt(2 L) whatever epsilon is, and phi(a) = delta/2: by sympy."""
    L, epsilon = sp.symbols("L epsilon", positive=True)
    mu = sp.sqrt(2) * epsilon / (sp.sqrt(L) + sp.sqrt(L + epsilon))
    rationalised = sp.sqrt(2) * (sp.sqrt(L + epsilon) - sp.sqrt(L))
    assert sp.simplify(mu - rationalised) == 0
    assert sp.simplify(epsilon - sp.sqrt(2 * L) * rationalised - rationalised**2 / 2) == 0
    delta = sp.sqrt(2 / sp.pi) * sp.exp(-L)
    assert sp.simplify(sp.exp(-L) / sp.sqrt(2 * sp.pi) - delta / 2) == 0


def test_t2_holds_on_the_whole_core_region():
    found = extended_gaussian.certify_calibration()
    assert found.verdict == "enclosed"
    assert found.boxes > 1000
    assert found.region == extended_gaussian.CORE


@pytest.mark.lengthy
def test_t2_holds_on_the_whole_region():
    found = extended_gaussian.certify_calibration(region=extended_gaussian.REGION)
    assert found.verdict == "enclosed"
    assert found.boxes > 500_000


def test_region_contains_the_stated_budgets():
    left, right, bottom, top = (
        getattr(extended_gaussian.REGION, end) for end in ("left", "right", "bottom", "top")
    )
    assert ball(left).exp() < ball(Fraction(1, 10**6))
    assert ball(right).exp() > 1000
    assert bottom == 0
    assert extended_gaussian.delta_of(ball(top)) < ball(Fraction(1, 10**300))


def refutes(found, claimed_shift):
    """Check a counterexample again: its exact delta certainly exceeds its delta, at its own shift."""
    assert found.verdict == "refuted"
    point = found.counterexample
    with working_precision(256):
        epsilon, L = ball(Fraction(point["log_epsilon"])).exp(), ball(Fraction(point["L"]))
        shift = claimed_shift(epsilon, L)
        exact = profile(shift, epsilon)
        assert exact > extended_gaussian.delta_of(L)
    low, high = (Fraction(point["exact_delta"][end]) for end in ("lo", "hi"))
    assert lower_end(exact) >= low
    assert upper_end(exact) <= high
    assert low > Fraction(point["delta"]["hi"])


def test_sigma_scaled_by_99_hundredths_fails_for_small_delta_only():
    scaled = extended_gaussian.scaled_extended_shift(Fraction(99, 100))
    refutes(extended_gaussian.certify_calibration(scaled, extended_gaussian.REGION), scaled)
    # in the core region the formula has more than a hundredth to spare
    assert extended_gaussian.certify_calibration(scaled).verdict == "enclosed"


@pytest.mark.parametrize("factor", ["0.9", "0.5"])
def test_sigma_scaled_down_is_refuted_in_the_core_region(factor):
    scaled = extended_gaussian.scaled_extended_shift(Fraction(factor))
    refutes(extended_gaussian.certify_calibration(scaled), scaled)


def test_classical_gaussian_is_enclosed_below_one_and_refuted_above():
    small = Box(Fraction(-5), Fraction(0), Fraction(1), Fraction(32))
    assert extended_gaussian.certify_calibration(extended_gaussian.classical_shift, small).verdict == "enclosed"
    large = Box(Fraction(1), Fraction(3), Fraction(1), Fraction(32))
    found = extended_gaussian.certify_calibration(extended_gaussian.classical_shift, large)
    refutes(found, extended_gaussian.classical_shift)
    assert Fraction(found.counterexample["log_epsilon"]) > 1


def test_running_out_of_boxes_is_undecided():
    found = extended_gaussian.certify_calibration(most_boxes=50)
    assert found.verdict == "undecided"


def test_certify_covers_the_region_with_the_boxes_it_counts():
    area = []
    region = Box(Fraction(0), Fraction(3), Fraction(1), Fraction(2))

    def small(box):
        size = (box.right - box.left) * (box.top - box.bottom)
        if size > Fraction(1, 20):
            return None
        area.append(size)
        return True

    found = certify(region, small, lambda _: None, lambda box: box.right - box.left > box.top - box.bottom)
    assert found.verdict == "enclosed"
    assert sum(area) == 3
    assert len(area) == found.boxes
    # 3 / 2^6 is the first size that is small
    assert found.halvings == 6


def test_sigma_of_the_region_check_is_the_references():
    for epsilon, delta in product(("0.01", "1", "30"), ("0.79", "1e-6", "1e-300")):
        L = extended_gaussian.logarithm_at(Fraction(delta))
        with working_precision(200):
            shift = extended_gaussian.extended_shift(ball(Fraction(epsilon)), ball(L.lower))
            sigma = ends(1 / shift)
        found = Fraction(extended_gaussian_sigma(ONE, Fraction(epsilon), Fraction(delta)))
        assert sigma.lower <= found <= sigma.upper * (1 + Fraction(1, 2**51))


def test_t2_is_undefined_above_root_two_over_pi():
    limit = extended_gaussian.defined_up_to()
    assert limit.lower < limit.upper < Fraction("0.79788456081")
    assert (
        extended_gaussian.logarithm_at(limit.lower).lower >= 0 > extended_gaussian.logarithm_at(limit.upper).upper
    )
    at_one = extended_gaussian.logarithm_at(ONE)
    assert -Fraction("0.22580") < at_one.lower <= at_one.upper < -Fraction("0.22579")
    # where it is undefined the reference refuses, at the limit it does not
    extended_gaussian_sigma(ONE, ONE, limit.lower)
    for delta in (limit.upper, Fraction("0.8"), Fraction("0.999")):
        with pytest.raises(DeltaError):
            extended_gaussian_sigma(ONE, ONE, delta)


def test_exact_delta_is_at_most_0627_of_the_claimed_one():
    for epsilon, L in product(("1e-6", "0.01", "1", "1000"), ("0", "0.1", "5", "690")):
        found = extended_gaussian.exact_delta_over_delta(Fraction(L), Fraction(epsilon))
        assert 0 < found.lower <= found.upper < Fraction("0.6267")


def test_t4_proof_needs_delta_below_two_enclosed_constants():
    """0.1659 for its tail bound, 0.7622 for the tail; beside them the two inequalities turn over."""
    by_bound, by_tail = extended_gaussian.largest_deltas_of_the_t4_proof()
    assert Fraction("0.16586") < by_bound.lower <= by_bound.upper < Fraction("0.16588")
    assert Fraction("0.76217") < by_tail.lower <= by_tail.upper < Fraction("0.76218")
    assert by_tail.upper - by_tail.lower < Fraction(1, 10**14)
    for constant, inequality in ((by_bound, "bound"), (by_tail, "tail")):
        for delta, holds in (
            (constant.lower * Fraction("0.999"), True),
            (constant.upper * Fraction("1.001"), False),
        ):
            with working_precision(128):
                a = (2 * ball(extended_gaussian.logarithm_at(delta).lower)).sqrt()
                bound = (-a * a / 2).exp() / (arb(2).sqrt() * a)
                value = bound if inequality == "bound" else normal_cdf(-a)
                assert bool(value < ball(delta) / 2) is holds


# --- T2.loose -------------------------------------------------------------------------------------------------

PRINTED = Box(Fraction("-4.606"), Fraction("2.303"), Fraction("6.682"), Fraction("15.893"))
"""epsilon from 0.01 to 10 and delta from 1e-7 to 1e-3: the paper's grids."""


def test_sigma_ratio_at_a_point_is_that_of_the_references_sigmas():
    for epsilon, delta in (("0.1", "1e-3"), ("1", "1e-5"), ("10", "0.5")):
        with working_precision(128):
            u, L = ends(ball(Fraction(epsilon)).log()), extended_gaussian.logarithm_at(Fraction(delta))
        found = extended_gaussian.sigma_ratio(Box(u.lower, u.upper, L.lower, L.upper), Fraction(1, 2**40))
        budget = (ONE, Fraction(epsilon), Fraction(delta))
        ratio = Fraction(extended_gaussian_sigma(*budget)) / Fraction(analytic_gaussian_sigma(*budget))
        slack = Fraction(1, 10**12)
        assert found.lower * (1 - slack) <= ratio <= found.upper * (1 + slack)
        assert found.upper < found.lower * (1 + slack)


def test_extended_sigma_is_up_to_four_times_what_the_grid_needs():
    largest = extended_gaussian.extreme_sigma_ratio(PRINTED, largest=True, tolerance=Fraction(1, 20)).value
    assert Fraction("3.88") < largest.lower <= largest.upper < Fraction("4.1")
    for u, L in product((PRINTED.left, PRINTED.right), (PRINTED.bottom, PRINTED.top)):
        at = extended_gaussian.sigma_ratio(Box(u, u, L, L))
        assert 1 < at.lower <= at.upper <= largest.upper


@pytest.mark.exhaustive
def test_extended_sigma_is_larger_than_needed_on_the_whole_grid():
    smallest = extended_gaussian.extreme_sigma_ratio(PRINTED, largest=False, tolerance=Fraction(1, 20)).value
    assert Fraction("1.05") < smallest.lower <= smallest.upper < Fraction("1.108")


def test_extended_sigma_has_no_bounded_ratio_on_the_whole_region():
    """At the smallest epsilon of the region it is more than a million times larger than needed."""
    found = extended_gaussian.extreme_sigma_ratio(
        extended_gaussian.REGION, largest=True, tolerance=Fraction(1, 20)
    )
    assert 10**6 < found.value.lower <= found.value.upper < 2 * 10**6
    assert found.value.upper <= found.value.lower * Fraction(21, 20)


# --- A.noise --------------------------------------------------------------------------------------------------


def published_pair(fairness, dimension):
    return noise_comparison.published_ratio_squared(fairness, dimension)


def deviation_gap(l1, l2_squared, epsilon, delta):
    """Return a ball around sqrt(2) b - sigma, from the formulas themselves."""
    L, epsilon = ((2 / arb.pi()).sqrt() / ball(delta)).log(), ball(epsilon)
    sigma = (ball(l2_squared) / 2).sqrt() / epsilon * (L.sqrt() + (L + epsilon).sqrt())
    return arb(2).sqrt() * ball(l1) / epsilon - sigma


@pytest.mark.parametrize("fairness", ["none", "absolute"])
def test_noise_boundary_agrees_with_the_two_formulas(fairness):
    assert published.noise_boundary_holds()
    for dimension, epsilon, delta in product((1, 2, 4, 5, 13, 40), ("0.01", "1", "20", "500"), ("1e-3", "1e-7")):
        budget = Fraction(epsilon), Fraction(delta)
        l1, l2_squared = (
            published_l1_sensitivity(fairness, dimension),
            published_l2_sensitivity_squared(fairness, dimension),
        )
        found = noise_comparison.is_gaussian_smaller(published_pair(fairness, dimension), *budget)
        assert found is (sign(partial(deviation_gap, l1, l2_squared, *budget)) > 0)
        sigma, scale = extended_gaussian_sigma(l2_squared, *budget), laplace_scale(l1, budget[0])
        assert found is (sigma < 2**0.5 * scale)


def test_noise_boundary_for_the_papers_settings():
    """d = 13: smaller on the whole grid; d = 3: larger for every epsilon at delta = 1e-3."""
    largest = noise_comparison.largest_epsilon
    at = largest(published_pair("absolute", 13), Fraction("1e-7"))
    assert 92 < at.lower <= at.upper < 93
    assert largest(published_pair("absolute", 13), Fraction("1e-3")).lower > 132
    assert largest(published_pair("absolute", 3), Fraction("1e-3")).upper == 0


@pytest.mark.parametrize(
    ("fairness", "epsilon", "delta", "first"),
    [("absolute", "0.01", "1e-3", 4), ("absolute", "10", "1e-7", 8), ("none", "1", "1e-3", 3)],
)
def test_first_dimension_with_smaller_gaussian_noise(fairness, epsilon, delta, first):
    found = noise_comparison.smallest_dimension(fairness, Fraction(epsilon), Fraction(delta))
    assert (found.lower, found.upper) == (first, first)
    pair = ("L1", "L3") if fairness == "none" else ("L2", "L4")
    # so in every later dimension too
    assert nonnegative_from(published.ratio_grows(pair), strict=True).verdict == "proved"
    lengths = noise_comparison.smallest_dimension(fairness, Fraction(epsilon), Fraction(delta), "length")
    assert first <= lengths.lower <= lengths.upper <= first + 1


@pytest.mark.parametrize("norm", ["unit_box", "unit_ball"])
@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_analytic_boundary_is_where_the_two_deviations_meet(norm, dimension):
    ratio = noise_comparison.exact_ratio_squared(Setting(dimension, "absolute", norm))
    for epsilon in ("0.1", "1", "10"):
        boundary = noise_comparison.smallest_delta_analytic(ratio, Fraction(epsilon))
        for factor, expected in (("0.99", False), ("1.01", True)):
            delta = boundary.lower * Fraction(factor)
            if not 0 < delta < 1:
                continue
            sigma = Fraction(analytic_gaussian_sigma(ONE, Fraction(epsilon), delta))
            smaller = sigma**2 < 2 * ratio.lower / Fraction(epsilon) ** 2
            assert smaller is expected
            arguments = (ratio, Fraction(epsilon), delta)
            assert noise_comparison.is_gaussian_smaller(*arguments, calibration="analytic") is expected


@pytest.mark.parametrize("count", [2, 5, 104])
def test_length_factor_encloses_sampled_lengths(count):
    import numpy as np

    rng = np.random.default_rng(3)
    laplace = np.linalg.norm(rng.laplace(size=(40_000, count)), axis=1).mean()
    normal = np.linalg.norm(rng.normal(size=(40_000, count)), axis=1).mean()
    found = noise_comparison.length_factor(count)
    # sigma E|G| < b E|L| iff sigma^2 < 2 b^2 * (E|L|/(sqrt(2) E|G|))^2; sampling error about 0.4 %
    ratio = (laplace / normal) ** 2 / 2
    assert float(found.lower) * 0.98 <= ratio <= float(found.upper) * 1.02
    assert found.lower < found.upper


def test_mills_ratio_and_density_agree_with_mpmath():
    with working_precision(128):
        for x in (Fraction(0), Fraction(1, 2), Fraction(37)):
            found = ends(mills_ratio(ball(x)))
            with mpmath.workdps(40):
                point = mpmath.mpf(x.numerator) / x.denominator
                value = mpmath.ncdf(-point) / mpmath.npdf(point)
                assert abs(value / (mpmath.mpf(found.lower.numerator) / found.lower.denominator) - 1) < 1e-30
