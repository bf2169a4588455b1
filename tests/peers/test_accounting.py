"""Our exact privacy beside dp-accounting's, where both apply."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce

import pytest
from dp_accounting.pld import privacy_loss_distribution as distributions
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss, LaplacePrivacyLoss

from audit.exact.neighbours import extreme_neighbours
from audit.exact.privacy import judge
from audit.exact.witnesses import readings_of
from reference.budgets import SplitBudget
from reference.noise.profile import delta_of_shift, epsilon_of_shift
from reference.registry import MECHANISMS
from reference.sensitivity import Setting

DELTAS = [10.0**-k for k in range(3, 11)]


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("shift", [0.05, 0.5, 1.5, 4.0])
def test_gaussian_profile_agrees(shift, delta):
    epsilon = epsilon_of_shift(Fraction(shift) ** 2, Fraction(delta)).upper
    theirs = GaussianPrivacyLoss(standard_deviation=1.0 / shift, sensitivity=1.0)
    assert theirs.get_delta_for_epsilon(float(epsilon)) == pytest.approx(delta, rel=1e-5)
    assert float(delta_of_shift(Fraction(shift) ** 2, epsilon).upper) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_gaussian_comparison_fires_on_a_wrong_shift(factor):
    epsilon = epsilon_of_shift(Fraction(1, 4), Fraction(1, 1000)).upper
    theirs = GaussianPrivacyLoss(standard_deviation=1.0 / (0.5 * factor), sensitivity=1.0)
    assert theirs.get_delta_for_epsilon(float(epsilon)) != pytest.approx(1e-3, rel=0.1)


def judged(name: str, epsilon_s: str, epsilon_n: str, delta: str):
    setting = Setting(2, "absolute", "unit_box", records=1000)
    budget = SplitBudget(epsilon_s, epsilon_n, delta, delta)
    return judge(MECHANISMS[name], setting, budget, readings_of(setting))


STEP = 1e-4
"""Their discretisation: losses are rounded up by at most this, once per coefficient."""


def composed(kind: str, pairs: list[tuple[float, float]]):
    """Return their privacy loss distribution of independent noisy coefficients."""
    make = {"laplace": distributions.from_laplace_mechanism, "gaussian": distributions.from_gaussian_mechanism}[
        kind
    ]
    parts = [make(scale, sensitivity=change, value_discretization_interval=STEP) for change, scale in pairs]
    return reduce(lambda left, right: left.compose(right), parts)


def changes(judgement) -> list[tuple[float, float]]:
    """Return (change, scale) per coefficient of the witness."""
    neighbours = extreme_neighbours(judgement.setting, judgement.noise, 0)
    pairs = zip(neighbours.change.tolist(), judgement.noise.scales.tolist(), strict=True)
    return [(abs(change), scale) for change, scale in pairs if change]


@pytest.mark.parametrize(("epsilon_s", "epsilon_n"), [("1", "1"), ("10", "0.1"), ("0.2", "2")])
def test_adfc_composes_to_the_mahalanobis_shift(epsilon_s, epsilon_n):
    judgement = judged("adfc", epsilon_s, epsilon_n, "1e-3")
    pairs = changes(judgement)
    theirs = composed("gaussian", pairs).get_delta_for_epsilon(float(judgement.claim.epsilon))
    ours = float(judgement.exact.delta.upper)
    shifted = judgement.claim.epsilon - len(pairs) * Fraction(STEP)
    # theirs is pessimistic by the step, and by truncated tails
    most = float(delta_of_shift(judgement.witness.loss, shifted).upper)
    assert ours * (1 - 1e-6) <= theirs <= most * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize(("change", "scale"), [(1.0, 1.0), (2.5, 0.7), (0.1, 3.0)])
def test_one_laplace_coefficient_loses_change_over_scale(change, scale):
    theirs = LaplacePrivacyLoss(parameter=scale, sensitivity=change)
    loss = change / scale
    assert theirs.get_delta_for_epsilon(loss * (1 + 1e-9)) == 0.0
    assert theirs.get_delta_for_epsilon(loss * 0.99) > 0.0


@pytest.mark.parametrize(("epsilon_s", "epsilon_n"), [("1", "1"), ("3", "0.5"), ("0.2", "2")])
def test_pdfc_composes_to_the_exact_loss(epsilon_s, epsilon_n):
    judgement = judged("pdfc", epsilon_s, epsilon_n, "0")
    pairs = changes(judgement)
    theirs = composed("laplace", pairs)
    exact = float(judgement.exact.epsilon.upper)
    # nothing is lost beyond the exact loss and one step per coefficient; all of it is needed
    assert theirs.get_delta_for_epsilon(exact + STEP * len(pairs)) < 1e-9
    assert theirs.get_delta_for_epsilon(exact * 0.95) > 1e-9


def test_pdfc_comparison_fires_on_half_the_noise():
    judgement = judged("pdfc", "1", "1", "0")
    theirs = composed("laplace", [(change, scale / 2) for change, scale in changes(judgement)])
    assert theirs.get_delta_for_epsilon(float(judgement.exact.epsilon.upper) + 5 * STEP) > 1e-3


def test_epsilon_at_tiny_delta_agrees_to_their_precision():
    shift = Fraction(3, 2)
    epsilon = float(epsilon_of_shift(shift**2, Fraction(1, 10**12)).upper)
    assert math.isclose(
        GaussianPrivacyLoss(1 / 1.5, sensitivity=1.0).get_delta_for_epsilon(epsilon), 1e-12, rel_tol=1e-3
    )
