"""PFLR*: which reading of the shifted mean is private, and data sets that show that the other is not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from reference.accounting import PublishedStatementWarning
from reference.budgets import Budget
from reference.common.errors import ParameterError, ReadingError
from reference.domain import Domain
from reference.mechanisms import FAIR, PLAIN, functional, pflr, pflr_noise
from reference.moments import Moments
from reference.objective import objective
from reference.records import check_matrix
from reference.sensitivity import Setting, exact_l1, published_l1_sensitivity
from tests.strategies import random_records

WIDE = Moments.of(random_records(200, 8, 3))
NARROW = Moments.of(random_records(200, 2, 3))


def generator() -> np.random.Generator:
    return np.random.default_rng(5)


def test_mean_from_the_data_is_the_fair_objective_with_plain_noise():
    release = pflr(WIDE, Budget(1), rng=generator())
    plain = published_l1_sensitivity("none", 8)
    same = functional(WIDE, Budget(1), FAIR.with_(sensitivity=plain), rng=generator())
    assert release.noise.scale_n == float(plain) == 24.0
    assert release.w == same.w


def test_public_mean_is_added_to_the_linear_coefficients():
    zero = pflr(WIDE, Budget(1), PLAIN, shift=[0] * 8, rng=generator())
    assert zero.w == functional(WIDE, Budget(1), PLAIN, rng=generator()).w
    shift = ["1/2", 3, -1, 0, 0, 0, 0, "1e1"]
    moved = pflr(WIDE, Budget(1), PLAIN.with_(repair="ball"), shift=shift, rng=generator())
    assert moved.noise.mean == (0.5, 3, -1, 0, 0, 0, 0, 10)
    assert pflr(WIDE, Budget(1), rng=generator()).noise.mean == "the fairness term"
    assert moved.w != pflr(WIDE, Budget(1), PLAIN.with_(repair="ball"), shift=[0] * 8, rng=generator()).w


def test_public_mean_keeps_theorem_1():
    release = pflr(NARROW, Budget(1), PLAIN, shift=[4, -4], rng=0)
    assert release.privacy.published.claims == ("T1", "L1")
    assert release.privacy.exact.verdict in ("proved", "enclosed")


def test_mean_from_the_data_is_only_claimed_and_refuted_in_few_dimensions():
    with pytest.warns(PublishedStatementWarning, match="pflr"):
        release = pflr(NARROW, Budget(1), rng=0)
    assert release.privacy.published.claims == ("T1.shift", "L1")
    assert release.privacy.exact.verdict == "refuted"
    assert release.privacy.exact.epsilon.lower > 1


def test_mean_from_the_data_is_covered_by_slack_in_more_dimensions():
    assert pflr(WIDE, Budget(1), rng=0).privacy.exact.verdict == "enclosed"


@pytest.mark.parametrize(
    ("norm", "fairness", "first"),
    [
        ("unit_ball", "absolute", 4),
        ("unit_ball", "covariance", 3),
        ("unit_box", "absolute", 13),
        ("unit_box", "covariance", 5),
    ],
)
def test_claim_without_the_mean_is_false_below_a_dimension(norm, fairness, first):
    def exceeds(d: int) -> bool:
        supremum = exact_l1(Setting(d, fairness, norm))
        bound = published_l1_sensitivity("none", d)
        assert supremum.lower > bound or supremum.upper <= bound
        return supremum.lower > bound

    assert all(exceeds(d) for d in range(1, first))
    assert not any(exceeds(d) for d in range(first, first + 5))


def test_a_large_fairness_weight_refutes_the_claim_in_any_dimension():
    with pytest.warns(PublishedStatementWarning):
        release = pflr(WIDE, Budget(1), FAIR.with_(fairness_weight=40), rng=0)
    assert release.privacy.exact.verdict == "refuted"


def test_two_neighbouring_data_sets_with_different_means():
    """One column, 100 records at x = 1; the last one changes label and group.

    The plain coefficients differ by 1 only, within Delta_1 = 5/4; the mean moves by another 1.98, so that the
    loss at epsilon = 1 is 2.98 / 1.25 = 2.384: more than claimed.
    """
    domain = Domain.of_columns(["a"], norm="unit_box")
    left, right = (
        Moments.of(check_matrix(domain, np.ones((100, 1)), [0] * 99 + [1 - side], [0] * 99 + [side]), exact=True)
        for side in (0, 1)
    )
    change = [b - a for a, b in zip(*(objective(m, FAIR).values for m in (left, right)), strict=True)]
    plain = [b - a for a, b in zip(*(objective(m, PLAIN).values for m in (left, right)), strict=True)]
    assert (plain, change) == ([1, 0], [1 + Fraction(99 + 99, 100), 0])
    scale = Fraction(pflr_noise(domain, Budget(1), FAIR).scale_n)
    assert scale == Fraction(5, 4)
    assert sum(map(abs, plain)) / scale < 1 < sum(map(abs, change)) / scale == Fraction("2.384")


def test_exact_sensitivity_counts_the_mean():
    release = pflr(NARROW, Budget(1), FAIR.with_(sensitivity="exact"), rng=0)
    assert release.privacy.published is None
    assert release.privacy.exact.epsilon.upper <= 1


def test_bad_shift_is_rejected():
    with pytest.raises(ParameterError, match="8 numbers"):
        pflr(WIDE, Budget(1), PLAIN, shift=[1], rng=0)
    with pytest.raises(ReadingError, match="public shift"):
        pflr(WIDE, Budget(1), FAIR, shift=[0] * 8, rng=0)
    with pytest.raises(ReadingError, match="finite number"):
        pflr(WIDE, Budget(1), PLAIN, shift=[float("nan")] * 8, rng=0)
    with pytest.raises(ReadingError, match="not a mean"):
        pflr(WIDE, Budget(1), FAIR.with_(fairness="separate", sensitivity=1), rng=0)
