"""Our composition beside dp-accounting's."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import privacy_loss_distribution as distributions
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss
from dp_accounting.rdp import rdp_privacy_accountant

from reference.accounting import ExactPrivacy, Privacy, compose, rho_of_pure, zcdp_epsilon
from reference.accounting.ledger_file import CountedRelease
from reference.common.numbers import Enclosure

ORDERS = 1 + np.logspace(-3, 4, 4000)
"""Renyi orders for their accountant: dense, since ours minimises over all."""

STEP = 1e-3


def gaussian(shift: float) -> CountedRelease:
    squared = Fraction(shift) ** 2
    shifts, epsilon = Enclosure(squared, squared), Enclosure(Fraction(1), Fraction(1))
    exact = ExactPrivacy(epsilon, Fraction("1e-5"), None, None, None, shifts)
    return CountedRelease("adfc", "replace_one", Privacy(None, exact))


def laplace(epsilon: float) -> CountedRelease:
    loss = Enclosure(Fraction(epsilon), Fraction(epsilon))
    return CountedRelease("pdfc", "replace_one", Privacy(None, ExactPrivacy(loss, Fraction(0), None, None, None)))


def composed(parts):
    return reduce(lambda left, right: left.compose(right), parts)


@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-9"])
@pytest.mark.parametrize("shifts", [(0.5, 0.5, 0.5), (1.0, 0.2), (2.0, 1.0, 0.5, 0.1)])
def test_gdp_agrees_with_their_composed_gaussian(shifts, delta):
    ours = compose([gaussian(shift) for shift in shifts], "gdp", delta=delta).epsilon
    # independent Gaussian outputs: one with standard deviation 1 / |shifts|_2
    theirs = GaussianPrivacyLoss(1.0 / math.hypot(*shifts), sensitivity=1.0)
    assert theirs.get_delta_for_epsilon(float(ours)) == pytest.approx(float(delta), rel=1e-5)


@pytest.mark.parametrize("shifts", [(0.5, 0.5, 0.5), (1.0, 0.2)])
def test_gdp_agrees_with_their_privacy_loss_distributions(shifts):
    delta = 1e-4
    ours = float(compose([gaussian(shift) for shift in shifts], "gdp", delta="1e-4").epsilon)
    total = composed(
        distributions.from_gaussian_mechanism(1 / shift, value_discretization_interval=STEP) for shift in shifts
    )
    # theirs rounds losses up, by at most one step per release
    assert ours * (1 - 1e-6) <= total.get_epsilon_for_delta(delta) <= ours + STEP * (len(shifts) + 1)


def test_gdp_comparison_fires_when_shifts_are_not_squared():
    total = composed([distributions.from_gaussian_mechanism(2.0, value_discretization_interval=STEP)] * 4)
    right = float(compose([gaussian(0.5)] * 4, "gdp", delta="1e-4").epsilon)
    wrong = float(compose([gaussian(2.0)], "gdp", delta="1e-4").epsilon)
    assert total.get_epsilon_for_delta(1e-4) == pytest.approx(right, abs=5 * STEP)
    assert total.get_epsilon_for_delta(1e-4) != pytest.approx(wrong, rel=0.2)


@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-10"])
@pytest.mark.parametrize("rho", ["0.001", "0.1", "2"])
def test_zcdp_conversion_agrees_with_their_accountant(rho, delta):
    accountant = rdp_privacy_accountant.RdpAccountant(ORDERS)
    accountant.compose(dp_event.ZCDpEvent(float(rho)))
    ours = float(zcdp_epsilon(Fraction(rho), Fraction(delta)))
    theirs = accountant.get_epsilon(float(delta))
    # theirs minimises over a grid of the same orders
    assert ours <= theirs * (1 + 1e-9)
    assert ours == pytest.approx(theirs, rel=1e-3)


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_zcdp_comparison_fires_on_a_wrong_rho(scale):
    accountant = rdp_privacy_accountant.RdpAccountant(ORDERS)
    accountant.compose(dp_event.ZCDpEvent(0.1))
    ours = float(zcdp_epsilon(Fraction(scale) / 10, Fraction(1, 10**6)))
    assert ours != pytest.approx(accountant.get_epsilon(1e-6), rel=0.05)


@pytest.mark.parametrize(("epsilon", "count"), [(0.1, 40), (0.5, 10), (1.0, 20)])
def test_zcdp_bounds_their_composition_of_pure_releases(epsilon, count):
    ours = float(compose([laplace(epsilon)] * count, "zcdp", delta="1e-5").epsilon)
    # the worst purely private mechanism, randomised response
    one = distributions.from_randomized_response(
        2 / (1 + math.exp(epsilon)), 2, value_discretization_interval=STEP
    )
    exact = composed([one] * count).get_epsilon_for_delta(1e-5) - STEP * count
    assert exact <= ours
    # a quarter of rho is refuted by it
    quarter = zcdp_epsilon(rho_of_pure(Fraction(epsilon)) * count / 4, Fraction(1, 10**5))
    assert float(quarter) < exact


def test_basic_composition_is_theirs_where_delta_vanishes():
    total = composed([distributions.from_laplace_mechanism(2.0, value_discretization_interval=STEP)] * 3)
    ours = float(compose([laplace(0.5)] * 3).epsilon)
    # nothing is lost beyond the sum and one step per release; nearly all of it is needed
    assert total.get_delta_for_epsilon(ours + 3 * STEP) < 1e-9
    assert total.get_delta_for_epsilon(ours * 0.95) > 1e-9


@pytest.mark.parametrize("count", [1, 5])
def test_zcdp_bounds_a_mixture_of_both_noises(count):
    releases = [gaussian(0.5), laplace(0.3)] * count
    ours = float(compose(releases, "zcdp", delta="1e-5").epsilon)
    parts = [
        distributions.from_gaussian_mechanism(2.0, value_discretization_interval=STEP),
        distributions.from_laplace_mechanism(1 / 0.3, value_discretization_interval=STEP),
    ] * count
    theirs = composed(parts).get_epsilon_for_delta(1e-5)
    assert theirs - 2 * STEP * count <= ours <= 2 * theirs
