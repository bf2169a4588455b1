"""The trade-off curve: it errs no more often than stated, and bands without correction err more."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import beta, binom

from audit import trade_off
from audit.bounds import bands

SIGNIFICANCE, AUDITS, DRAWS = 0.2, 200, 300
ALLOWED = int(binom.isf(1e-3, AUDITS, SIGNIFICANCE))
"""More errors than this have probability below 1e-3 where the significance is kept."""

LEVELS = np.linspace(0.001, 0.999, 999)


def gaussian(levels, mu):
    """Return the trade-off curve of Gaussian noise."""
    return ndtr(-ndtri(levels) - mu)


def errors(mu: float, *, digits: int | None = None) -> int:
    """Return how many of the audits of Gaussian noise refute its mu or put the curve below the true one.

    Rounding the scores is post-processing: the curve can only rise, so the same truth bounds it.
    """
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(AUDITS):
        left, right = rng.normal(0, 1, DRAWS), rng.normal(mu, 1, 2 * DRAWS)
        if digits is not None:
            left, right = left.round(digits), right.round(digits)
        band = trade_off(left, right, significance=SIGNIFICANCE)
        below = (band.at(LEVELS) < gaussian(LEVELS, mu) - 1e-12).any()
        wrong += bool(below or band.mu_lower_bound > mu or band.renyi_lower_bound(2) > mu**2)
    return wrong


@pytest.mark.parametrize("mu", [0.0, 1.0, 3.0])
def test_curve_of_gaussian_noise_errs_as_seldom_as_stated(mu):
    assert errors(mu) <= ALLOWED


def test_ties_do_not_make_it_err_more_often():
    assert errors(1.0, digits=0) <= ALLOWED


@pytest.mark.parametrize("mu", [0.0, 1.0])
@pytest.mark.parametrize("naive", ["shares", "no_correction"])
def test_bands_without_correction_err_too_often(mu, naive, monkeypatch):
    """Broken control: the shares themselves, and each limit of Clopper and Pearson at the whole significance."""

    def upper(occurrences, draws, share):
        if naive == "shares":
            return (occurrences + 0.5) / (draws + 1)
        inner = np.minimum(occurrences, draws - 1)
        limits = beta.isf(4 * share, inner + 1, draws - inner)
        return np.where(occurrences < draws, limits, 1.0)

    monkeypatch.setattr(bands, "upper_band", upper)
    assert errors(mu) > ALLOWED


@pytest.mark.parametrize("values", [None, 5])
def test_one_band_holds_for_all_thresholds_together(values):
    """On uniform scores, and on ones of five values; without the correction it fails."""
    rng = np.random.default_rng(3)
    wrong = uncorrected = 0
    for _ in range(AUDITS):
        draws = rng.random(DRAWS)
        # the supremum over t is reached at a score
        if values is not None:
            draws = np.floor(draws * values) / values
        thresholds = np.sort(np.append(draws, np.arange(values or 1) / (values or 1)))
        counts = np.array([(draws >= t).sum() for t in thresholds])
        # between two scores the probability is at most that just above the lower one
        just_above = np.append(1.0, 1 - thresholds[:-1]) if values is None else 1 - thresholds
        wrong += bool((just_above > bands.upper_band(counts, DRAWS, SIGNIFICANCE)).any())
        inner = np.minimum(counts, DRAWS - 1)
        alone = np.where(counts < DRAWS, beta.isf(SIGNIFICANCE, inner + 1, DRAWS - inner), 1.0)
        uncorrected += bool((just_above > alone).any())
    assert wrong <= ALLOWED < uncorrected


@pytest.mark.parametrize(("mu", "slack"), [(0.5, 0.08), (1.0, 0.08), (3.0, 0.12)])
def test_mu_of_gaussian_noise_is_nearly_reached_on_either_side(mu, slack):
    rng = np.random.default_rng(1)
    left, right = rng.normal(0, 1, 50_000), rng.normal(mu, 1, 50_000)
    band = trade_off(left, right)
    assert mu - slack < band.mu_lower_bound < mu
    assert trade_off(right, left).mu_lower_bound == pytest.approx(band.mu_lower_bound, abs=1e-9)
    # one event sees a good part of the divergence, which is order mu^2 / 2
    assert 0.4 * mu**2 / 2 < band.renyi_lower_bound(1) < mu**2 / 2
    assert band.renyi_lower_bound(1) < band.renyi_lower_bound(1.5) < band.renyi_lower_bound(4) < 2 * mu**2
    assert (gaussian(LEVELS, mu) <= band.at(LEVELS)).all()
    assert "independent" in band.assumes


def test_divergence_of_an_event_is_the_smallest_over_its_rectangle():
    band = bands.TradeOffBand(np.array([0.1]), np.array([0.3]), 0.05)
    found = band.renyi_lower_bound(3)
    q, p = np.meshgrid(np.linspace(0.7, 0.999, 40), np.linspace(1e-3, 0.1, 40))

    def divergence(q, p):
        return np.log(q**3 / p**2 + (1 - q) ** 3 / (1 - p) ** 2) / 2

    larger = np.maximum(divergence(q, p), divergence(1 - p, 1 - q))
    assert found == pytest.approx(larger.min(), rel=1e-6)
    assert found <= larger.min()
    # no order is worse than a smaller one, and none is lost to floating point
    orders = (1, 1 + 1e-12, 1.0011, 1.01, 1.1, 2, 1e3, 1e6, 1e300, math.inf)
    found = [band.renyi_lower_bound(order) for order in orders]
    assert found == sorted(found)
    assert found[2] == pytest.approx(found[0], rel=2e-3)
    # a ratio of probabilities: the likeliest of both events and both directions
    assert found[-1] == pytest.approx(math.log(0.7 / 0.1), rel=1e-5)
    assert found[-1] <= math.log(0.7 / 0.1)
    # an event whose errors may add up to 1 shows nothing
    nothing = bands.TradeOffBand(np.array([0.5]), np.array([0.6]), 0.05)
    assert nothing.renyi_lower_bound(2) == nothing.mu_lower_bound == 0
    assert band.at([0.05, 0.1, 0.9]) == pytest.approx([0.95, 0.3, 0.1])


def test_few_scores_and_infinite_ones_give_a_curve():
    assert trade_off([0.0], [1.0]).mu_lower_bound == 0
    apart = trade_off([-math.inf] * 400, [math.inf] * 400)
    assert 3 < apart.mu_lower_bound < math.inf
    assert apart.renyi_lower_bound(200) < math.inf
    # of the significance: one of four bands, one of two bounds, one of 117 declared counts
    assert (1 - apart.alpha[0]) ** 400 == pytest.approx(0.05 / 4 / 2 / 117, rel=1e-4)


@pytest.mark.parametrize(
    ("left", "significance", "said"),
    [
        ([], 0.05, "left_scores must be"),
        ([[1.0]], 0.05, "left_scores must be"),
        (["a"], 0.05, "left_scores must be"),
        ([0.0, math.nan], 0.05, "NaN at row 1"),
        ([0.0], 0.0, "significance"),
    ],
)
def test_what_are_no_scores_is_refused(left, significance, said):
    with pytest.raises(ValueError, match=said):
        trade_off(left, [0.0, 1.0], significance=significance)


def test_levels_and_orders_out_of_range_are_refused():
    band = trade_off([0.0, 1.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="alpha"):
        band.at([0.5, math.nan])
    for order in (0.5, math.nan):
        with pytest.raises(ValueError, match="order"):
            band.renyi_lower_bound(order)
