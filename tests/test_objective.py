"""The coefficients are those of the Taylor polynomial with the fairness term that the reading says."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from reference.common.errors import EmptyDataError, ReadingError
from reference.domain import Domain
from reference.moments import Moments
from reference.objective import TAYLOR_LINEAR, TAYLOR_QUADRATIC, objective
from reference.readings import Readings
from reference.records import Records
from tests.strategies import data_sets, random_records, readings


def polynomial_directly(records: Records, chosen: Readings, w: np.ndarray) -> float:
    """Evaluate the degree-2 objective record by record, without its constant and, in `separate`, its penalty."""
    zbar = sum(records.z) / len(records)
    total = 0.0
    for x, y, z in zip(records.x, records.y, records.z, strict=True):
        t = float(x @ w)
        total += t / 2 + t * t / 8 - y * t
        if chosen.fairness == "absolute":
            total += float(chosen.fairness_weight) * abs(z - zbar) * t
        elif chosen.fairness == "covariance":
            total += float(chosen.fairness_weight) * (z - zbar) * t
    return total


@given(data_sets(), readings(), st.integers(0, 2**32 - 1))
def test_coefficients_equal_the_taylor_polynomial_evaluated_directly(records, chosen, seed):
    w = np.random.default_rng(seed).normal(size=records.domain.dimension)
    value = objective(Moments.of(records), chosen).evaluate(w)
    assert value == pytest.approx(polynomial_directly(records, chosen, w), rel=1e-9, abs=1e-9)


@given(data_sets(), readings())
def test_separate_covariance_is_the_signed_sum(records, chosen):
    coefficients = objective(Moments.of(records), chosen)
    if chosen.fairness != "separate":
        assert coefficients.covariance is None
        return
    signed = (records.z - records.z.mean()) @ records.x
    np.testing.assert_allclose(coefficients.covariance, signed, atol=1e-12)


@given(data_sets(), readings(), st.integers(0, 2**32 - 1))
def test_monomial_and_matrix_basis_give_the_same_polynomial(records, chosen, seed):
    w = np.random.default_rng(seed).normal(size=records.domain.dimension)
    moments = Moments.of(records)
    one = objective(moments, chosen.with_(basis="monomial")).evaluate(w)
    other = objective(moments, chosen.with_(basis="matrix")).evaluate(w)
    assert one == pytest.approx(other, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("basis", "size"), [("monomial", 4 + 10), ("matrix", 4 + 16)])
@pytest.mark.parametrize("fairness", ["absolute", "separate"])
def test_layout_has_one_name_and_one_value_per_released_coefficient(basis, size, fairness):
    coefficients = objective(Moments.of(random_records(5, 4, 0)), Readings(fairness, basis=basis, sensitivity=1))
    expected = size + (4 if fairness == "separate" else 0)
    assert coefficients.layout.size == expected == len(coefficients.values) == len(set(coefficients.layout.names))


@pytest.mark.parametrize("basis", ["monomial", "matrix"])
@pytest.mark.parametrize("fairness", ["none", "separate"])
def test_phi_s_is_the_set_of_names_that_mention_w_s(basis, fairness):
    layout = objective(Moments.of(random_records(5, 4, 0)), Readings(fairness, basis=basis, sensitivity=1)).layout
    for s, column in enumerate(layout.columns):
        mentioned = [f"[{column}]" in name for name in layout.names]
        assert layout.contains(s).tolist() == mentioned


def test_taylor_constants_are_those_of_log_one_plus_exp():
    t = sympy.symbols("t")
    f_1 = sympy.log(1 + sympy.exp(t))
    derivatives = [sympy.diff(f_1, t, k).subs(t, 0) / sympy.factorial(k) for k in (1, 2)]
    assert [sympy.Rational(TAYLOR_LINEAR), sympy.Rational(TAYLOR_QUADRATIC)] == [
        sympy.nsimplify(value) for value in derivatives
    ]


def test_objective_rejects_an_empty_data_set():
    with pytest.raises(EmptyDataError):
        objective(Moments.zero(Domain.of_columns(["x"])), Readings())


def test_objective_without_group_takes_fairness_none_only():
    moments = Moments.of(random_records(5, 2, 0, with_group=False))
    assert objective(moments, Readings()).values.shape == (5,)
    with pytest.raises(ReadingError, match="'none'"):
        objective(moments, Readings("absolute"))
