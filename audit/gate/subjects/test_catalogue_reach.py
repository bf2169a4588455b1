"""How much an auditor could see at best: the bound on its power, and the entry that it puts out of reach."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from audit.auditor.distinguish import Terms, estimate
from audit.bounds import power_of_event
from audit.gate.subjects.test_catalogue_losses import CASES
from audit.subjects.catalogue import CATALOGUE, ClassicGaussian
from audit.subjects.catalogue.reach import largest_power, most_excess_delta


def hockey_stick(p: Any, q: Any, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def moved(p: Any, q: Any, epsilon: float, delta: float) -> Any:
    """Move mass of q until p has delta at most, as the notes of `largest_power` say."""
    h = hockey_stick(p, q, epsilon)
    if h <= delta:
        return q
    added = (1 - delta / h) * np.maximum(p * math.exp(-epsilon) - q, 0)
    room = np.maximum(q - p, 0)
    return q + added - added.sum() * room / room.sum()


@pytest.mark.parametrize("seed", range(40))
def test_a_pair_that_keeps_the_claim_is_as_near_as_stated(seed):
    rng = np.random.default_rng(seed)
    epsilon, delta = rng.uniform(0.05, 2), rng.choice([0.0, 0.02])
    p, q = rng.dirichlet(np.full(12, 0.4), size=2)
    excess = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon)) - delta
    assert excess > 0
    near_q = moved(p, q, epsilon, delta)
    near_p = moved(near_q, p, epsilon, delta)
    for distribution in (near_p, near_q):
        assert distribution.min() >= 0
        assert distribution.sum() == pytest.approx(1, abs=1e-12)
    # it keeps the claim in both directions
    assert hockey_stick(near_p, near_q, epsilon) <= delta + 1e-12
    assert hockey_stick(near_q, near_p, epsilon) <= delta + 1e-12
    # and is as near as the bound says
    distances = [np.abs(a - b).sum() / 2 for a, b in ((p, near_p), (q, near_q))]
    assert max(distances) <= math.exp(-epsilon) * excess + 1e-12
    assert largest_power(excess, epsilon, 1, 0.0) >= max(distances) - 1e-12


def test_largest_power_grows_with_draws_from_the_significance_to_certainty():
    powers = [largest_power(1e-4, 1.0, draws, 0.05) for draws in (0, 1_000, 100_000, 10_000_000)]
    assert powers[0] == 0.05
    assert powers == sorted(powers)
    assert powers[1] == pytest.approx(0.05 + 1 - (1 - 1e-4 / math.e) ** 1_000, rel=1e-9)
    assert powers[-1] == 1.0
    # nothing to see: no power beyond the significance; and all to see
    assert largest_power(0.0, 1.0, 10**9, 0.05) == 0.05
    assert largest_power(1.0, 0.0, 1, 0.0) == 1.0


@pytest.mark.parametrize("draws", [1_000, 10_000, 40_000, 100_000])
def test_the_best_test_of_a_rare_leak_has_no_more_power(draws):
    """`laplace_leaky`, all draws on the input without the leak, where the claim allows it leak / e.

    By Neyman and Pearson the best test flags where it saw no leak, with what probability its size allows.
    """
    leak, significance = 1e-4, 0.05
    no_leak = (1 - leak / math.e) ** draws
    best = min(1.0, significance / no_leak)
    assert significance < best <= largest_power(leak, 1.0, draws, significance)


@pytest.mark.parametrize("name", CATALOGUE)
def test_excess_delta_is_at_least_an_events_and_0_for_right_entries(name):
    entry = CATALOGUE[name]()
    if entry.is_right:
        assert entry.excess_delta == 0
        return
    assert 0 < entry.excess_delta <= 1
    if name in CASES:
        case = CASES[name]()
        likely, unlikely = max(case.left, case.right), min(case.left, case.right)
        shown = likely - math.exp(entry.claimed_epsilon) * unlikely - float(entry.claimed_delta)
        assert shown <= entry.excess_delta * (1 + 1e-6)


@pytest.mark.parametrize(("true", "claimed", "delta"), [(2.0, 1.0, 0.0), (math.inf, 1.0, 0.1), (3.0, 0.5, 0.01)])
def test_most_excess_delta_is_that_of_randomised_response(true, claimed, delta):
    """With probability delta the input is told; otherwise it is told rightly with odds exp(true)."""
    right = 1.0 if math.isinf(true) else math.exp(true) / (1 + math.exp(true))
    p = np.array([delta, (1 - delta) * right, (1 - delta) * (1 - right), 0.0])
    q = p[[3, 2, 1, 0]]
    assert most_excess_delta(true, claimed, delta) == pytest.approx(hockey_stick(p, q, claimed) - delta, rel=1e-12)
    assert most_excess_delta(claimed, claimed, delta) == 0.0


def classic_power(draws_per_input: int, method: Any) -> tuple[float, float]:
    """Return the best power of a half-line against `gaussian_classic`, and its unlikely probability."""
    entry: Any = CATALOGUE["gaussian_classic"]()
    unlikely = np.geomspace(1e-10, 3e-8, 60)
    likely = norm.cdf(norm.ppf(unlikely) + 1 / entry.sigma)
    powers = power_of_event(15.0, draws_per_input, 1e-3, 0.05, method, likely, unlikely)
    return float(powers.max()), float(unlikely[powers.argmax()])


def test_classic_gaussian_is_out_of_reach_at_the_usual_size():
    entry: Any = CATALOGUE["gaussian_classic"]()
    assert entry.excess_delta == pytest.approx(0.0231367 - 1e-3, abs=1e-7)
    assert largest_power(entry.excess_delta, 15.0, 40_000, 0.05) - 0.05 == pytest.approx(0.00027, abs=1e-5)
    assert largest_power(entry.excess_delta, 15.0, 280_000_000, 0.05) < 0.9
    assert largest_power(entry.excess_delta, 15.0, 290_000_000, 0.05) > 0.9
    # what its docstring says of the joint bound
    power, unlikely = classic_power(10**9, "joint")
    assert power == pytest.approx(0.896, abs=5e-4)
    assert unlikely == pytest.approx(1.1e-9, rel=0.05)
    assert classic_power(3 * 10**8, "joint")[0] < 0.4
    # Clopper-Pearson needs more
    assert classic_power(10**9, "clopper_pearson")[0] < 0.82


@dataclass(frozen=True)
class ToldClassicGaussian(ClassicGaussian):
    """Says by its score which event to certify."""

    def log_likelihood_ratio(self, outputs: Any) -> Any:
        return (outputs[:, 0] <= -0.505).astype(np.float64)


@pytest.mark.lengthy
def test_auditor_that_is_told_the_event_refutes_the_classic_gaussian():
    """Two thousand million draws, two minutes: the claim at epsilon 15 is refuted from counts."""
    found = estimate(
        ToldClassicGaussian(),
        Terms(
            delta=1e-3,
            draws=2_000_000_000,
            significance=0.05,
            claimed_epsilon=15.0,
            families=("likelihood_ratio",),
        ),
        np.random.default_rng(0),
    )
    assert found.epsilon_lower_bound > 15
    assert found.epsilon_lower_bound < ToldClassicGaussian().true_epsilon
