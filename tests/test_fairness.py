"""Metrics against values worked out by hand."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from reference.common.documents import plain
from reference.domain import Domain
from reference.fairness import (
    ConstantPredictorWarning,
    boundary_covariance,
    evaluate,
    positive_rate,
    predict,
    risk_difference,
    warn_if_constant,
)
from reference.fairness.metrics import risk_difference_error
from reference.records import Records, check_matrix

# Five records on one coordinate pair; w = (1, -1) predicts 1 where the first coordinate is the larger one.
X = np.array([[0.5, 0.25], [0.25, 0.5], [0.5, 0.0], [0.0, 0.5], [0.25, 0.25]])
Y = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
Z = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
W = (1.0, -1.0)


def records(y: np.ndarray = Y, z: np.ndarray | None = Z) -> Records:
    return check_matrix(Domain.of_columns(["a", "b"], with_group=z is not None), X, y, z)


def test_metrics_equal_hand_computed_values() -> None:
    metrics = evaluate(W, records())
    # predictions 1, 0, 1, 0, 0 (the tie x.w = 0 is a 0); labels 1, 1, 0, 0, 0
    assert metrics.accuracy == 3 / 5
    assert metrics.majority_accuracy == 3 / 5
    assert metrics.gain_over_majority == 0.0
    assert metrics.positive_rate == 2 / 5
    assert metrics.positive_rate_group_1 == 2 / 3
    assert metrics.positive_rate_group_0 == 0.0
    assert metrics.risk_difference == 2 / 3
    # rates of 2/3 among 3 records and of 0, which counts as 1/4, among 2
    assert metrics.risk_difference_error == pytest.approx(math.sqrt(2 / 27 + 3 / 32))
    assert metrics.risk_difference_error == risk_difference_error(predict(W, X), Z)
    # zbar = 3/5; x.w = 1/4, -1/4, 1/2, -1/2, 0: sum over group 1 is 1/2, over all 0
    assert metrics.boundary_covariance == pytest.approx(1 / 2, abs=1e-15)


def test_sampling_error_covers_small_groups_that_are_selected_entirely() -> None:
    """31 records, each selected with probability .97, beside many that none of is: two errors cover .97."""
    size, true, many = 31, 0.97, 100_000
    selected = np.arange(size + 1)
    z = np.repeat([1.0, 0.0], [size, many])
    errors = [risk_difference_error(np.arange(size + many) < k, z) for k in selected]
    chances = binom.pmf(selected, size, true)
    covered = np.abs(selected / size - true) <= 2 * np.array(errors)
    assert chances[covered].sum() > 0.9
    # the broken control: the variance of a rate of 1 is taken for 0
    plain = np.sqrt(selected * (size - selected) / size**3)
    assert chances[np.abs(selected / size - true) <= 2 * plain].sum() < 0.7


def test_metrics_of_a_predictor_better_than_the_majority() -> None:
    metrics = evaluate(W, records(y=np.array([1.0, 0.0, 1.0, 0.0, 1.0])))
    assert metrics.accuracy == 4 / 5
    assert metrics.majority_accuracy == 3 / 5
    assert metrics.gain_over_majority == pytest.approx(1 / 5, abs=1e-15)


def test_predict_gives_a_tie_the_label_zero() -> None:
    assert predict(W, X).tolist() == [True, False, True, False, False]


@pytest.mark.parametrize(("group", "empty", "other"), [(0.0, "1", "0"), (1.0, "0", "1")])
def test_metrics_without_members_of_a_group_are_none(group: float, empty: str, other: str) -> None:
    metrics = evaluate(W, records(z=np.full(5, group)))
    assert getattr(metrics, f"positive_rate_group_{empty}") is None
    assert getattr(metrics, f"positive_rate_group_{other}") == 2 / 5
    assert metrics.risk_difference is None
    assert metrics.boundary_covariance == 0.0


def test_metrics_without_a_declared_group_are_none() -> None:
    metrics = evaluate(W, records(z=None))
    assert plain(metrics) == {
        "accuracy": 3 / 5,
        "majority_accuracy": 3 / 5,
        "gain_over_majority": 0.0,
        "positive_rate": 2 / 5,
        "positive_rate_group_0": None,
        "positive_rate_group_1": None,
        "risk_difference": None,
        "boundary_covariance": None,
        "risk_difference_error": None,
    }


def test_risk_difference_ignores_which_group_is_favoured() -> None:
    prediction = np.array([True, False, True, True])
    z = np.array([1.0, 1.0, 0.0, 0.0])
    assert risk_difference(prediction, z) == risk_difference(prediction, 1 - z) == 1 / 2


def test_positive_rate_counts_members_only() -> None:
    prediction = np.array([True, False, True])
    assert positive_rate(prediction, np.array([True, True, False])) == 1 / 2
    assert positive_rate(prediction, np.array([False, False, False])) is None


@pytest.mark.parametrize("w", [(0.0, 0.0), (-1.0, -1.0), (1.0, 1.0)])
def test_constant_predictor_warns(w: tuple[float, float]) -> None:
    with pytest.warns(ConstantPredictorWarning, match=f"predicted {int(w[0] > 0)}"):
        metrics = evaluate(w, records())
    assert metrics.risk_difference == 0.0
    assert metrics.positive_rate == float(w[0] > 0)


@pytest.mark.parametrize(
    ("norm", "constant"), [("unit_box", True), ("unit_ball", True), ("symmetric_ball", False)]
)
def test_negative_weights_are_constant_where_no_entry_is_negative(norm: str, constant: bool) -> None:
    domain = Domain.of_columns(["a", "b"], norm=norm)
    x = np.array([[0.0, 0.0], [0.5, 0.25], [0.5, -0.25 if norm == "symmetric_ball" else 0.0]])
    known = check_matrix(domain, x, np.array([0, 1, 1]), np.array([0, 1, 0]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_constant((0.0, -1.0), known)
    assert bool(caught) == constant == (not predict((0.0, -1.0), x).any())


def test_varying_predictor_does_not_warn() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate(W, records())
    assert caught == []


@given(st.integers(1, 30), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_boundary_covariance_is_the_weighted_gap_between_group_means(n: int, d: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    x, z, w = random.random((n, d)), random.integers(0, 2, n).astype(float), random.normal(size=d)
    covariance = boundary_covariance(w, x, z)
    members = int(z.sum())
    if members in (0, n):
        assert covariance == pytest.approx(0.0, abs=1e-12)
        return
    # sum (z - zbar) x.w = (n_1 n_0 / n) (mean of x.w in group 1 - mean in group 0)
    gap = float((x[z == 1].mean(axis=0) - x[z == 0].mean(axis=0)) @ w)
    assert covariance == pytest.approx(members * (n - members) / n * gap, abs=1e-12)
    # zbar sums to nothing: any constant may be taken off x.w
    assert covariance == pytest.approx(float((z - z.mean()) @ (x @ w - 7.0)), abs=1e-11)
