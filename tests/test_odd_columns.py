"""What is no column, no cell and no setting is refused by the recommended estimator, by name."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from reference.common.errors import InputError, ParameterError, ReadingError, ShapeError
from reference.repaired.classifier import RepairedClassifier
from tests.test_repaired_classifier import DOMAIN, NEW, X, Y, Z, fitted

ODD_CELLS = {
    "signaling NaN": Decimal("sNaN"),
    "an array": np.array([1, 2]),
    "an empty array": np.array([]),
    "a table": pd.DataFrame({"age": [1, 2]}),
}


@pytest.mark.parametrize("column", ["age", "job", "income", "sex"])
@pytest.mark.parametrize("cell", ODD_CELLS)
def test_a_cell_that_compares_with_nothing_is_named_with_its_place(column, cell):
    given = {**X.to_dict("list"), "income": Y.tolist(), "sex": Z.tolist()}
    given[column] = [*given[column][:2], ODD_CELLS[cell], *given[column][3:]]
    y, z = given.pop("income"), given.pop("sex")
    with pytest.raises(InputError, match=f"row 2, column '{column}'"):
        RepairedClassifier(domain=DOMAIN, random_state=3).fit(given, y, sensitive_features=z)


@pytest.mark.parametrize("given", ["1" * len(X), b"1", 3, {0: "high"}, {"high", "low"}, np.array("high")])
def test_a_column_that_is_no_sequence_is_refused_by_name(given):
    """A text has characters and a mapping has keys: neither is a column's values."""
    model = RepairedClassifier(domain=DOMAIN, random_state=3)
    for x, y, z, column in (
        ({**X.to_dict("list"), "age": given}, Y, Z, "age"),
        (X, given, Z, "income"),
        (X, Y, given, "sex"),
    ):
        with pytest.raises(ShapeError, match=f"sequence of values is needed .column '{column}'"):
            model.fit(x, y, sensitive_features=z)
    with pytest.raises(ShapeError, match=r"sequence of values is needed \(column 'sex'\)"):
        fitted().predict(NEW, sensitive_features=given)


def test_values_may_come_from_an_iterator():
    """Null control: what has an order is taken."""
    model = RepairedClassifier(domain=DOMAIN, random_state=3).fit(X, iter(Y), sensitive_features=tuple(Z))
    assert model.release_ == fitted().release_


@pytest.mark.parametrize("name", ["group_at_prediction", "bins"])
def test_a_switch_is_true_or_false(name):
    """A text would count as True, "no" too."""
    for odd in ("no", "False", None, 0):
        with pytest.raises(ReadingError, match=f"{name} must be True or False"):
            fitted(**{name: odd})
    assert fitted(**{name: np.False_}).release_ == fitted(**{name: False}).release_


def test_the_name_of_a_ledger_is_no_ledger(tmp_path):
    for odd in ("ledger.json", tmp_path / "ledger.json", 0):
        with pytest.raises(ParameterError, match="release_ledger must be a ReleaseLedger"):
            fitted(release_ledger=odd)
