"""The repaired mechanism as an OpenDP measurement: its map is our account, alone and composed."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy.stats import norm

from reference.accounting import PrivacyStatement, basic_composition
from reference.budgets import Budget
from reference.common.errors import LabelError, ParameterError, ShapeError
from reference.common.numbers import rounded_up
from reference.repaired.account import Account
from reference.repaired.advice import planned
from reference.repaired.classifier import RepairedClassifier
from reference.repaired.measurement import make_private_logistic_regression
from reference.repaired.released import RepairedRelease
from tests.test_repaired_cells import FILE, table

dp = pytest.importorskip("opendp.prelude")
dp.enable_features("contrib", "honest-but-curious")

RECORDS = 400
TABLE = table(RECORDS, 0)


def account(epsilon: int, delta: str) -> Account:
    declared = RepairedClassifier(domain=FILE).declared.domain
    return planned(declared, RECORDS, Budget(epsilon, delta), "demographic_parity", hardened=True)


def delta_of(mu: float, epsilon: float) -> float:
    """Return the profile of two normal laws at a distance, in floats."""
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def test_the_map_is_the_account_and_what_a_release_states():
    fit = make_private_logistic_regression(FILE, RECORDS)
    stated = account(1, "1e-5")
    assert fit.map(0) == (0.0, 0.0)
    assert fit.map(1) == (rounded_up(stated.epsilon), 1e-5)
    release = fit(TABLE)
    assert isinstance(release, RepairedRelease)
    assert release.noise == "hardened"
    assert Fraction(fit.map(1)[0]) >= release.account.epsilon
    with pytest.raises(ValueError, match="-1"):
        fit.map(-1)


@pytest.mark.parametrize("rows", [2, 3, 10])
def test_the_map_of_several_records_is_that_of_as_many_shifts(rows):
    fit, stated = make_private_logistic_regression(FILE, RECORDS), account(1, "1e-5")
    epsilon, delta = fit.map(rows)
    mu = rows * math.sqrt(stated.loss)
    assert delta == 1e-5
    assert delta_of(mu, epsilon) <= delta <= delta_of(mu, epsilon * 0.9999)
    # the broken control: the shift of one record fewer is not enough
    assert delta_of(mu, fit.map(rows - 1)[0]) > delta


def test_without_delta_records_add_up():
    fit = make_private_logistic_regression(FILE, RECORDS, epsilon=Fraction(1, 2), delta=0)
    assert fit.map(1) == 0.5
    assert fit.map(3) == pytest.approx(1.5)
    assert fit.map(3) >= 3 * float(account(1, "0").loss) / 2


def test_it_composes_and_the_compositor_says_what_our_accounting_says():
    one = make_private_logistic_regression(FILE, RECORDS)
    other = make_private_logistic_regression(FILE, RECORDS, epsilon=2, delta="1e-6", fairness="equalised_odds")
    both = dp.c.make_composition([one, other])
    releases = both(TABLE)
    assert [release.fairness for release in releases] == ["demographic_parity", "equalised_odds"]
    stated = [release.privacy.exact.epsilon.upper for release in releases]
    deltas = [release.budget["delta"] for release in releases]
    statements = [PrivacyStatement(e, d, "replace_one", ("R",)) for e, d in zip(stated, deltas, strict=True)]
    ours = basic_composition(statements)
    assert both.map(1) == pytest.approx((float(ours.epsilon), float(ours.delta)), rel=1e-6)
    adaptive = dp.c.make_adaptive_composition(
        one.input_domain, one.input_metric, one.output_measure, 1, [one.map(1), other.map(1)]
    )(TABLE)
    assert adaptive(one).records == adaptive(other).records == RECORDS
    # another domain is another input space
    different = make_private_logistic_regression(FILE, RECORDS + 1)
    with pytest.raises(dp.OpenDPException, match="domain"):
        dp.c.make_composition([one, different])


def test_tables_that_are_not_in_the_domain_are_refused():
    fit = make_private_logistic_regression(FILE, RECORDS, fairness="none")
    assert fit(TABLE).fairness == "none"
    assert fit.input_domain.member(TABLE)
    short = {name: values[:-1] for name, values in TABLE.items()}
    wrong = {**TABLE, "rich": ["maybe", *TABLE["rich"][1:]]}
    for values in (short, wrong, 5):
        assert not fit.input_domain.member(values)
    for values, reason in ((short, ShapeError), (wrong, LabelError)):
        with pytest.raises(dp.OpenDPException, match=reason.__name__):
            fit(values)


def test_opendp_asks_for_consent():
    dp.disable_features("honest-but-curious")
    try:
        with pytest.raises(dp.OpenDPException, match="honest-but-curious"):
            make_private_logistic_regression(FILE, RECORDS)
    finally:
        dp.enable_features("honest-but-curious")


@pytest.mark.parametrize("records", [0, -1, 1.5, True, "400", None])
def test_the_number_of_records_is_a_whole_number(records):
    """Of -1 or 1.5 records a measurement had been made, with a map of its own."""
    with pytest.raises(ParameterError, match="records must be a whole number of at least 1"):
        make_private_logistic_regression(FILE, records)
