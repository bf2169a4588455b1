"""What several releases lose together: each rule against an independent evaluation, and its limits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from msgspec.structs import replace
from scipy import stats

from reference.accounting import ExactPrivacy, Privacy, compose, exact_privacy, rho_of_pure, zcdp_epsilon
from reference.accounting.composition import squared_shift_of_pure
from reference.accounting.ledger_file import CountedRelease
from reference.accounting.release import release_of
from reference.accounting.statements import published_relaxed_functional
from reference.budgets import Budget, SplitBudget
from reference.common.documents import plain
from reference.common.errors import DeltaError, NotPrivateError, ReadingError
from reference.common.numbers import Enclosure
from reference.mechanisms import FAIR, adfc, functional, lr, pdfc, relaxed_functional
from reference.moments import Moments
from reference.noise import Noise
from reference.noise.profile import delta_of_shift, epsilon_of_shift
from reference.sensitivity import Setting, exact_l2_squared
from tests.strategies import random_records

RECORDS = random_records(200, 3, 5)
MOMENTS = Moments.of(RECORDS)
LAPLACE = [functional(MOMENTS, Budget("1/2"), rng=0), pdfc(MOMENTS, SplitBudget(1, 2), rng=0)]
GAUSSIAN = [
    relaxed_functional(MOMENTS, Budget(3, "1e-3"), rng=0),
    adfc(MOMENTS, SplitBudget.equal(2, "1e-4"), rng=0),
]


def gaussian_release(shift: float) -> CountedRelease:
    squared = Fraction(shift) ** 2
    exact = ExactPrivacy(
        Enclosure(Fraction(1), Fraction(1)), Fraction("1e-5"), None, None, None, Enclosure(squared, squared)
    )
    return CountedRelease("adfc", "replace_one", Privacy(None, exact))


def delta_of_two(shifts: tuple[float, float], epsilon: float) -> float:
    """Integrate the hockey-stick divergence of two Gaussian outputs over the plane."""
    axis = np.linspace(-9.0, 12.0, 1501)
    step = axis[1] - axis[0]
    first = np.multiply.outer(stats.norm.pdf(axis - shifts[0]), stats.norm.pdf(axis - shifts[1]))
    second = np.multiply.outer(stats.norm.pdf(axis), stats.norm.pdf(axis))
    return float(np.clip(first - math.exp(epsilon) * second, 0.0, None).sum() * step * step)


@pytest.mark.parametrize("shifts", [(0.5, 0.5), (1.0, 0.3), (1.5, 2.0)])
def test_gdp_is_the_exact_profile_of_two_gaussian_outputs(shifts):
    total = compose([gaussian_release(shift) for shift in shifts], "gdp", delta="1e-3")
    assert delta_of_two(shifts, float(total.epsilon)) == pytest.approx(1e-3, rel=1e-3)
    # adding up shifts instead of their squares would be seen
    wrong = float(epsilon_of_shift(Fraction(sum(shifts)) ** 2, Fraction("1e-3")).upper)
    assert delta_of_two(shifts, wrong) < 0.5e-3


def test_gdp_and_zcdp_take_the_upper_end_of_a_shift():
    exact = ExactPrivacy(
        Enclosure(Fraction(1), Fraction(1)),
        Fraction("1e-5"),
        None,
        None,
        None,
        Enclosure(Fraction(1), Fraction(4)),
    )
    enclosed = CountedRelease("adfc", "replace_one", Privacy(None, exact))
    for method in ("gdp", "zcdp"):
        longest = compose([gaussian_release(2.0)], method, delta="1e-3").epsilon
        assert compose([enclosed], method, delta="1e-3").epsilon == longest
        assert compose([gaussian_release(1.0)], method, delta="1e-3").epsilon < longest


@pytest.mark.parametrize("shift", [0.01, 1.0, 30.0])
def test_gdp_rounds_its_epsilon_up(shift):
    total = compose([gaussian_release(shift)], "gdp", delta="1e-3")
    assert total.epsilon >= epsilon_of_shift(Fraction(shift) ** 2, Fraction("1e-3")).upper
    assert delta_of_shift(Fraction(shift) ** 2, total.epsilon).upper < Fraction("1e-3")


def test_gdp_of_one_release_is_its_exact_privacy():
    for release in GAUSSIAN:
        exact = release.privacy.exact
        total = compose([release], "gdp", delta=exact.at_delta)
        assert float(total.epsilon) == pytest.approx(float(exact.epsilon.upper), rel=1e-14)
        assert total.epsilon >= exact.epsilon.lower


def test_an_enclosed_shift_keeps_its_upper_end():
    setting = Setting(3, "absolute", adjacency="add_or_remove_one")
    noise = Noise("gaussian", 30.0, 10.0, np.arange(9) < 4)
    squared = exact_l2_squared(setting, Fraction(1, 900), Fraction(1, 100))
    found = exact_privacy(setting, noise, None, Fraction("1e-3")).squared_shift
    assert found.lower <= squared.lower < squared.upper <= found.upper


def test_delta_of_noise_on_a_grid_has_two_ends():
    claim, noise = (
        published_relaxed_functional(Budget(1, "1e-3"), 2, "replace_one"),
        Noise.uniform("gaussian", 9.0, 5, 2**20),
    )
    found = exact_privacy(Setting(2, "none"), noise, claim, Fraction("1e-3")).delta
    # farther apart than rounding to 20 digits sets them
    assert 0 < found.lower < found.upper * (1 - Fraction(1, 10**9)) < 1


def test_a_release_costs_at_most_itself_and_not_what_is_known_otherwise():
    laplace, gaussian = (release.privacy.exact for release in (LAPLACE[0], GAUSSIAN[0]))
    assert laplace.costs_at_most(laplace)
    assert gaussian.costs_at_most(gaussian)
    shift = gaussian.squared_shift
    larger = replace(gaussian, squared_shift=Enclosure(2 * shift.lower, 2 * shift.upper))
    assert gaussian.costs_at_most(larger)
    assert not larger.costs_at_most(gaussian)
    without = replace(gaussian, squared_shift=None)
    assert not gaussian.costs_at_most(without)
    assert not without.costs_at_most(gaussian)


def test_basic_adds_up_the_exact_privacy():
    total = compose(LAPLACE + GAUSSIAN)
    exacts = [release.privacy.exact for release in LAPLACE + GAUSSIAN]
    assert total.epsilon == sum(exact.epsilon.upper for exact in exacts)
    assert total.delta == Fraction("1e-3") + Fraction("1e-4")
    assert (total.releases, total.adjacency, total.verdicts, total.holds) == (4, "replace_one", (), True)


def test_published_statements_compose_with_their_verdicts():
    total = compose(LAPLACE, statement="published")
    # 1/2 by Theorem 1, 1/3 + 4/3 by Theorem 3
    assert (total.epsilon, total.delta) == (Fraction(1, 2) + Fraction(5, 3), 0)
    assert total.holds
    with pytest.warns(UserWarning, match="false"):
        false = adfc(MOMENTS, SplitBudget(30, "0.1", "1e-3", "1e-3"), x_s=0, rng=0)
    mixed = compose([*LAPLACE, false], statement="published")
    assert "refuted" in mixed.verdicts
    assert not mixed.holds


# --- zCDP ----------------------------------------------------------------------------------------------------


def divergence_of_randomised_response(alpha: float, epsilon: float) -> float:
    """Return the Renyi divergence of order alpha of a bit that is kept with odds exp(epsilon)."""
    kept = 1 / (1 + math.exp(-epsilon))
    terms = np.log([kept, 1 - kept])
    exponents = [alpha * terms[0] + (1 - alpha) * terms[1], alpha * terms[1] + (1 - alpha) * terms[0]]
    return float(np.logaddexp(*exponents)) / (alpha - 1)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0, 20.0])
def test_rho_of_pure_is_the_smallest_for_randomised_response(epsilon):
    rho = float(rho_of_pure(Fraction(epsilon)))
    orders = 1 + np.logspace(-3, 4, 200)
    ratios = np.array([divergence_of_randomised_response(order, epsilon) / order for order in orders])
    assert (ratios <= rho * (1 + 1e-9)).all()
    # attained as alpha falls to 1
    assert ratios.max() > rho * 0.99
    assert rho <= epsilon**2 / 2


def test_rho_of_pure_holds_far_out():
    assert rho_of_pure(Fraction(10**50)) == 10**50
    tiny = Fraction(1, 10**50)
    assert tiny**2 / 2 * Fraction(999, 1000) < rho_of_pure(tiny) <= tiny**2 / 2


def delta_of_zcdp(rho: float, epsilon: float) -> float:
    """Minimise the bound of Canonne, Kamath and Steinke over a dense grid of orders."""
    a = np.logspace(-4, 6, 200_001)
    return float(np.exp((a * ((a + 1) * rho - epsilon) - np.log(a) + (a + 1) * np.log(a / (a + 1))).min()))


@pytest.mark.parametrize("delta", ["1e-2", "1e-6", "1e-12"])
@pytest.mark.parametrize("rho", ["0.01", "0.1", "3"])
def test_zcdp_conversion_is_the_best_over_all_orders(rho, delta):
    epsilon = float(zcdp_epsilon(Fraction(rho), Fraction(delta)))
    assert delta_of_zcdp(float(rho), epsilon) == pytest.approx(float(delta), rel=1e-3)


@pytest.mark.parametrize("delta", ["1e-2", "1e-6", "1e-12"])
@pytest.mark.parametrize("shift", ["0.1", "1", "3"])
def test_zcdp_bounds_the_exact_gaussian_profile(shift, delta):
    squared = Fraction(shift) ** 2
    exact = epsilon_of_shift(squared, Fraction(delta))
    assert exact.upper <= zcdp_epsilon(squared / 2, Fraction(delta)) <= exact.lower * 2
    # half the rho would be refuted
    assert zcdp_epsilon(squared / 4, Fraction(delta)) < exact.lower


def test_zcdp_conversion_survives_extremes():
    assert zcdp_epsilon(Fraction(0), Fraction(1, 10)) == 0
    assert zcdp_epsilon(Fraction(1, 1000), Fraction(99, 100)) == 0
    assert 0 < zcdp_epsilon(Fraction(1, 10**400), Fraction(1, 10**300)) < Fraction(1, 10**190)
    assert zcdp_epsilon(Fraction(10**150), Fraction(1, 10**400)) >= 10**150


def test_zcdp_composes_both_noises():
    total = compose(LAPLACE + GAUSSIAN, "zcdp", delta="1e-5")
    shifts = [release.privacy.exact.squared_shift.upper / 2 for release in GAUSSIAN]
    losses = [rho_of_pure(release.privacy.exact.epsilon.upper) for release in LAPLACE]
    assert total.rho == sum(shifts) + sum(losses)
    assert total.epsilon == zcdp_epsilon(total.rho, Fraction("1e-5"))


def test_many_gaussian_releases_cost_least_by_gdp_then_by_zcdp():
    many = GAUSSIAN[:1] * 20
    by = {
        "gdp": compose(many, "gdp", delta="0.02"),
        "zcdp": compose(many, "zcdp", delta="0.02"),
        "basic": compose(many),
    }
    assert by["basic"].delta == Fraction("0.02")
    assert by["gdp"].epsilon < by["zcdp"].epsilon < by["basic"].epsilon


# --- What does not compose -----------------------------------------------------------------------------------


def test_different_neighbours_do_not_compose():
    other = pdfc(MOMENTS, SplitBudget(1, 1), FAIR.with_(adjacency="add_or_remove_one"), rng=0)
    with pytest.raises(ReadingError, match="add_or_remove_one and replace_one"):
        compose([*LAPLACE, other])


def test_a_release_without_privacy_does_not_compose():
    with pytest.raises(NotPrivateError, match="lr"):
        compose([*LAPLACE, lr(RECORDS)])


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        ({"releases": []}, ReadingError, "releases"),
        ({"method": "best"}, ReadingError, "basic, gdp, zcdp"),
        ({"statement": "claimed"}, ReadingError, "exact, published"),
        ({"method": "zcdp", "statement": "published", "delta": "1e-5"}, ReadingError, "basic"),
        ({"delta": "1e-5"}, ReadingError, "left out"),
        ({"method": "zcdp"}, DeltaError, "given"),
        ({"method": "zcdp", "delta": 0}, DeltaError, "positive"),
        ({"releases": GAUSSIAN, "method": "gdp", "delta": 0}, DeltaError, "positive"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(arguments, error, word):
    with pytest.raises(error, match=word):
        compose(**{"releases": LAPLACE, **arguments})


def test_a_release_known_at_one_delta_composes_by_adding_up_only():
    exact = ExactPrivacy(Enclosure(Fraction(1), Fraction(1)), Fraction("1e-5"), None, None, None)
    release = CountedRelease("other", "replace_one", Privacy(None, exact))
    assert compose([release, release]).delta == Fraction("2e-5")
    for method in ("gdp", "zcdp"):
        with pytest.raises(ReadingError, match="basic"):
            compose([release], method, delta="1e-5")


def test_composition_is_read_back_from_releases_in_json():
    read = [release_of(plain(release)) for release in LAPLACE + GAUSSIAN]
    assert compose(read, "zcdp", delta="1e-5") == compose(LAPLACE + GAUSSIAN, "zcdp", delta="1e-5")
    document = plain(compose(read, "zcdp", delta="1e-5"))
    assert Fraction(document["epsilon_exact"]) == compose(read, "zcdp", delta="1e-5").epsilon
    assert Fraction(document["rho"]) > 0


# --- Releases that depend on earlier ones --------------------------------------------------------------------


def losses_of_adaptive_shifts(second_shift, draws: int) -> np.ndarray:
    """Return log ratios of two releases under P; the second shift is a function of the first noise."""
    random = np.random.default_rng(2026)
    first, second = random.standard_normal((2, draws))
    shifts = [0.6, second_shift(first)]
    return 0.6**2 / 2 + 0.6 * first + shifts[1] ** 2 / 2 + shifts[1] * second


def filled(first: np.ndarray) -> np.ndarray:
    """Return a shift that is large after lucky noise; a third release fills up to the ceiling of 1."""
    return np.where(first > 0, 0.8, 0.3)


def test_shifts_that_depend_on_the_past_stay_within_the_ceiling():
    """200,000 draws at 1e-6: an epsilon of 1 has delta 0.127; the overdrawn ceiling's 0.19 would be seen."""
    draws, epsilon = 200_000, 1.0
    claimed = float(delta_of_shift(Fraction(1), Fraction(1)).upper)

    def lower_bound(losses: np.ndarray) -> float:
        # Hoeffding: each term lies in [0, 1]
        return float(np.clip(1 - np.exp(epsilon - losses), 0, None).mean()) - math.sqrt(
            math.log(1e6) / (2 * draws)
        )

    rest = np.random.default_rng(7).standard_normal(draws)
    within = losses_of_adaptive_shifts(filled, draws)
    unspent = np.sqrt(
        np.clip(1 - 0.36 - filled(np.random.default_rng(2026).standard_normal((2, draws))[0]) ** 2, 0, None)
    )
    full = within + unspent**2 / 2 + unspent * rest
    assert lower_bound(full) < claimed
    assert stats.kstest(full, stats.norm(0.5, 1).cdf).pvalue > 1e-6
    overdrawn = losses_of_adaptive_shifts(lambda first: np.where(first > 0, 1.4, 0.3), draws)
    assert lower_bound(overdrawn) > claimed


@pytest.mark.parametrize("s", [0.8, 3.0, 20.0])
def test_discrete_gaussian_noise_has_the_rho_of_the_continuous_one(s):
    """Summed over the lattice at many orders; 0.99 of rho is refuted where the lattice is fine."""
    j = np.arange(-60 * math.ceil(s), 60 * math.ceil(s) + 1)
    centre = np.exp(-(j**2) / (2 * s**2)).sum()
    for v in (1, 2, 7):
        rho = v**2 / (2 * s**2)
        for alpha in (1.01, 1.5, 2.0, 3.7, 8.0):
            logs = -alpha * (j - v) ** 2 / (2 * s**2) - (1 - alpha) * j**2 / (2 * s**2)
            moment = math.log(np.exp(logs - logs.max()).sum() / centre) + logs.max()
            assert moment <= (alpha - 1) * alpha * rho + 1e-9
            if s >= 3:
                assert moment > 0.99 * (alpha - 1) * alpha * rho


def test_hardened_releases_compose_by_zcdp():
    budget, readings = SplitBudget.equal(2, "1e-4"), FAIR.with_(noise="hardened")
    hardened = adfc(Moments.of(RECORDS, exact=True), budget, readings, x_s=0)
    continuous = adfc(MOMENTS, budget, FAIR, x_s=0, rng=0)
    assert release_of(plain(hardened)) == hardened
    exact = hardened.privacy.exact
    assert continuous.privacy.exact.squared_shift.upper / 2 < exact.rho
    assert float(exact.rho) == pytest.approx(float(continuous.privacy.exact.squared_shift.upper) / 2, rel=1e-6)
    both = compose([hardened, hardened], "zcdp", delta="1e-4")
    assert both.rho == 2 * exact.rho
    together = compose([hardened, continuous], "gdp", delta="1e-4")
    assert together.squared_shift == exact.grid_shift + continuous.privacy.exact.squared_shift.upper
    assert float(exact.grid_shift) == pytest.approx(2 * float(exact.rho), rel=1e-6)
    assert exact.grid_shift > 2 * exact.rho
    assert compose([hardened], "gdp", delta="1e-4").epsilon >= exact.epsilon.lower
    with pytest.raises(DeltaError, match="1e-40"):
        compose([hardened], "gdp", delta="1e-60")
    with pytest.raises(ReadingError, match="beyond epsilon 90"):
        compose([hardened] * 4000, "gdp", delta="1e-4")


@pytest.mark.parametrize("epsilon", ["1e-30", "0.01", "1", "5", "300"])
def test_pure_privacy_is_gaussian_privacy_of_the_smallest_shift(epsilon):
    """Randomised response attains it: its delta is nowhere above the Gaussian's, and its corner touches it."""
    mu_squared = squared_shift_of_pure(Fraction(epsilon))
    with mpmath.workdps(200):
        target = mpmath.mpf(epsilon)
        mu = mpmath.sqrt(mpmath.mpf(mu_squared.numerator) / mu_squared.denominator)
        # the corner of the trade-off function, errors (p, p) with p = 1 / (1 + e^epsilon), lies on the Gaussian's
        corner = 1 / (1 + mpmath.exp(target))
        assert corner * (1 - mpmath.mpf(10) ** -12) <= mpmath.ncdf(-mu / 2) <= corner
        for share in (0, 0.2, 0.7, 0.99):
            # delta of randomised response at share * epsilon
            lost = (mpmath.exp(target) - mpmath.exp(share * target)) / (1 + mpmath.exp(target))
            half, ratio = mu / 2, share * target / mu
            gaussian = mpmath.ncdf(half - ratio) - mpmath.exp(share * target) * mpmath.ncdf(-half - ratio)
            assert lost <= gaussian * (1 + mpmath.mpf(10) ** -12)


def test_gdp_counts_pure_releases_too():
    total = compose([*LAPLACE, *GAUSSIAN], "gdp", delta="1e-3")
    pure = sum(squared_shift_of_pure(release.privacy.exact.epsilon.upper) for release in LAPLACE)
    assert total.squared_shift == pure + sum(release.privacy.exact.squared_shift.upper for release in GAUSSIAN)
    assert 0 < pure < total.squared_shift
    many = compose(LAPLACE * 50, "gdp", delta="1e-3")
    assert many.epsilon < compose(LAPLACE * 50, "basic").epsilon
    assert squared_shift_of_pure(Fraction(0)) == 0
