"""What the repaired mechanism releases: every sensitivity against all encodable records, with its witness."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import expit

from reference.common.errors import NormError
from reference.common.grid import DATA_STEPS
from reference.domain import Domain
from reference.domain.attributes import OneHot
from reference.records import Records, encode_table
from reference.repaired import sums
from reference.repaired.loss import probability, residual

DOMAIN = Domain(
    attributes=(OneHot("a", ("p", "q", "r")), OneHot("b", (0, 1)), OneHot("c", (0, 1))),
    label="y",
    group="z",
    norm="unit_ball",
    keep_group=True,
)
DIRECTIONS = [np.zeros(8), *np.random.default_rng(0).normal(0, 8, (12, 8))]


def all_encodable(domain: Domain) -> Records:
    """Return one record of each kind that the domain can encode, on the grid."""
    rows = list(itertools.product("pqr", (0, 1), (0, 1), (0, 1), (0, 1)))
    a, b, c, y, z = zip(*rows, strict=True)
    return encode_table(domain, {"a": a, "b": b, "c": c, "y": y, "z": z}).on_grid()


RECORDS = all_encodable(DOMAIN)


def largest_change(contributions: np.ndarray) -> Fraction:
    """Return the largest squared distance of two rows, exactly."""
    whole = [[Fraction(value) for value in row] for row in contributions]
    return max(
        sum(((s - t) ** 2 for s, t in zip(one, other, strict=True)), Fraction(0))
        for one, other in itertools.combinations(whole, 2)
    )


def each_alone(of_rows) -> np.ndarray:
    """Return what every record alone contributes, one row each."""
    return np.array([of_rows(slice(i, i + 1)) for i in range(len(RECORDS))], dtype=object)


@pytest.mark.parametrize("target", ["y", "z"])
def test_label_sums_attain_the_stated_sensitivity_and_no_more(target):
    # a model of the group has no group among its features
    records = all_encodable(DOMAIN.with_(keep_group=target == "y"))
    t = getattr(records, target)
    found = largest_change(each_alone(lambda i: sums.label_sums(records.x[i], t[i])))
    assert found <= sums.label_sums_change(DOMAIN).l2_sensitivity_squared
    # attained but for the rounding to the grid: one record, its label flipped
    assert found > sums.label_sums_change(DOMAIN).l2_sensitivity_squared * Fraction(99999, 100000)


def test_l1_sensitivities_are_attained_by_encodable_records():
    def largest(contributions) -> Fraction:
        return max(
            sum((abs(Fraction(s) - Fraction(t)) for s, t in zip(one, other, strict=True)), Fraction(0))
            for one, other in itertools.combinations(contributions.tolist(), 2)
        )

    close = Fraction(99999, 100000)
    found = largest(each_alone(lambda i: sums.label_sums(RECORDS.x[i], RECORDS.y[i])))
    assert close * sums.label_sums_change(DOMAIN).l1_sensitivity < found
    assert found <= sums.label_sums_change(DOMAIN).l1_sensitivity
    for w in DIRECTIONS[:3]:
        found = largest(each_alone(lambda i, w=w: sums.gradient(RECORDS.x[i], RECORDS.y[i], w)))
        assert found <= sums.gradient_change(DOMAIN).l1_sensitivity
        assert w.any() or found > close * sums.gradient_change(DOMAIN).l1_sensitivity


def test_a_row_that_no_record_is_encoded_to_is_refused():
    sums.require_encoded(RECORDS)
    flat = Records(DOMAIN, np.full((1, 8), 0.35), np.ones(1), np.ones(1)).on_grid()
    with pytest.raises(NormError):
        sums.require_encoded(flat)


@pytest.mark.parametrize("w", DIRECTIONS)
def test_a_gradient_changes_by_at_most_one_for_every_w(w):
    found = largest_change(each_alone(lambda i: sums.gradient(RECORDS.x[i], RECORDS.y[i], w)))
    assert found <= sums.gradient_change(DOMAIN).l2_sensitivity_squared
    if not w.any():
        assert found > Fraction(99999, 100000)


def test_the_plain_logistic_gradient_changes_by_more_than_one():
    """The broken control: without the cap the stated sensitivity is wrong."""
    changes = [largest_change((expit(RECORDS.x @ w) - RECORDS.y)[:, None] * RECORDS.x) for w in DIRECTIONS]
    assert max(changes) > Fraction(3, 2)


@pytest.mark.parametrize(
    "zbar", [Fraction(1, 16), Fraction(1, 2), Fraction(700_001, DATA_STEPS), Fraction(15, 16)]
)
def test_the_imbalance_changes_by_the_larger_share_and_attains_it(zbar):
    cells = [
        sums.imbalance(np.array([z]), np.array([chosen]), zbar) for z in (0.0, 1.0) for chosen in (False, True)
    ]
    assert largest_change(np.array(cells)) == sums.imbalance_change(zbar).l2_sensitivity_squared


def test_the_imbalance_is_the_risk_difference_where_zbar_is_the_mean():
    random = np.random.default_rng(1)
    z, chosen = random.integers(0, 2, 64).astype(float), random.random(64) < 0.3
    zbar = Fraction(int(z.sum()), 64)
    difference = chosen[z == 1].mean() - chosen[z == 0].mean()
    (found,) = sums.imbalance(z, chosen, zbar)
    assert float(found) == pytest.approx(64 * float(zbar * (1 - zbar)) * difference)


def test_negative_entries_need_twice_the_squared_sensitivity():
    """In the symmetric ball x and -x with one label are twice as far apart: 4, not 2."""
    x = np.array([[1.0, 0.0], [-1.0, 0.0]])
    signed = Domain.of_columns(["a", "b"], norm="symmetric_ball")
    alone = np.array([sums.label_sums(x[i : i + 1], np.ones(1)) for i in range(2)])
    assert largest_change(alone) == sums.label_sums_change(signed).l2_sensitivity_squared == 4


def test_sums_are_exact_and_on_the_grid_of_the_noise():
    random = np.random.default_rng(2)
    rows = random.integers(0, len(RECORDS), 9000)
    many, w = RECORDS.take(rows), random.normal(0, 3, 8)
    released = sums.gradient(many.x, many.y, w)
    r = np.trunc(residual(many.x @ w, many.y) * DATA_STEPS) / DATA_STEPS
    truth = [
        sum((Fraction(a) * Fraction(b) for a, b in zip(r, column, strict=True)), Fraction(0))
        for column in many.x.T
    ]
    assert released.tolist() == truth
    assert all(value * sums.SUM_STEPS == int(value * sums.SUM_STEPS) for value in released)
    (value,) = sums.imbalance(many.z, many.y > 0, Fraction(333_333, DATA_STEPS))
    assert (value * sums.SUM_STEPS).denominator == 1


def test_probability_is_where_the_expected_slope_vanishes():
    scores = np.linspace(-9, 9, 37)
    p = probability(scores)
    slope = p * residual(scores, np.ones(37)) + (1 - p) * residual(scores, np.zeros(37))
    assert np.abs(slope).max() < 1e-12
    assert ((p > 0.5) == (scores > 0)).all()


def test_the_residual_is_monotone_and_at_most_a_half():
    scores = np.linspace(-40, 40, 4001)
    for label in (0.0, 1.0):
        r = residual(scores, np.full(4001, label))
        assert (np.diff(r) >= 0).all()
        assert np.abs(r).max() == 0.5
