"""Odd but legal data pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.accounting.release import Release
from reference.budgets import Budget, SplitBudget
from reference.common.errors import (
    ShapeError,
)
from reference.domain import Domain
from reference.readings import Readings
from reference.records import Records, check_matrix
from reference.registry import MECHANISMS
from tests.small_tables import columns_of

# its claim is false in few dimensions; that it then warns is tested in test_pflr.py
pytestmark = pytest.mark.filterwarnings("ignore:pflr.*false")


def columns_and_marks(x: Sequence[Sequence[float]], y: Sequence[int], z: Sequence[int]) -> Records:
    return check_matrix(Domain.of_columns(columns_of(len(x[0]))), x, y, z)


ROWS = [[0.1, 0.2], [0.5, 0.1], [0.3, 0.3], [0.0, 0.6]]

LEGAL: Mapping[str, Records] = {
    "nobody in group 1": columns_and_marks(ROWS, [0, 1, 0, 1], [0, 0, 0, 0]),
    "nobody in group 0": columns_and_marks(ROWS, [0, 1, 0, 1], [1, 1, 1, 1]),
    "no positive": columns_and_marks(ROWS, [0, 0, 0, 0], [0, 1, 0, 1]),
    "no negative": columns_and_marks(ROWS, [1, 1, 1, 1], [0, 1, 0, 1]),
    "one record": columns_and_marks(ROWS[:1], [1], [0]),
    "one record of zeros": columns_and_marks([[0.0, 0.0]], [0], [1]),
    "duplicate columns": columns_and_marks([[0.1, 0.1], [0.5, 0.5], [0.3, 0.3]], [0, 1, 0], [0, 1, 1]),
    "a column of zeros": columns_and_marks([[0.1, 0.0], [0.5, 0.0], [0.3, 0.0]], [0, 1, 0], [0, 1, 1]),
    "only zeros": columns_and_marks([[0.0, 0.0]] * 3, [0, 1, 0], [0, 1, 1]),
    "one attribute": columns_and_marks([[0.1], [1.0], [0.3]], [0, 1, 0], [0, 1, 1]),
    "every record alike": columns_and_marks([[0.6, 0.8]] * 4, [1, 1, 1, 1], [1, 1, 1, 1]),
}


def run(name: str, records: Records, readings: Readings | None = None) -> Release:
    """Run a mechanism with a fixed seed and an ordinary budget."""
    spec = MECHANISMS[name]
    delta = "1e-3" if spec.needs_delta else 0
    budget = SplitBudget.equal(1, delta) if spec.split_budget else Budget(1, delta)
    return spec.run(records, budget if spec.private else None, readings or spec.readings, rng=1)


@pytest.mark.parametrize("case", LEGAL)
@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanism_runs_on_legal_but_odd_data(name: str, case: str) -> None:
    release = run(name, LEGAL[case])
    if MECHANISMS[name].private:
        assert release.privacy is not None
        assert release.status == "ok"
    if release.status == "ok":
        assert release.w is not None
        assert np.isfinite(release.w).all()
        assert len(release.w) == LEGAL[case].domain.dimension
    else:
        assert release.w is None


@pytest.mark.parametrize("case", LEGAL)
@pytest.mark.parametrize("repair", ["none", "trim", "ball"])
@pytest.mark.parametrize("name", [name for name, spec in MECHANISMS.items() if spec.private])
def test_statement_does_not_depend_on_odd_data(name: str, repair: str, case: str) -> None:
    readings = MECHANISMS[name].readings.with_(repair=repair)
    odd = run(name, LEGAL[case], readings)
    ordinary = run(
        name, columns_and_marks([row[: len(odd.columns)] for row in ROWS], [0, 1, 0, 1], [0, 1, 1, 0]), readings
    )
    assert odd.privacy == ordinary.privacy
    assert odd.noise == ordinary.noise
    assert odd.status in {"ok", "unbounded"}
    assert (odd.status == "unbounded") == (odd.w is None)


def test_singular_moments_give_the_minimum_norm_minimiser() -> None:
    release = run("no_privacy", LEGAL["duplicate columns"], Readings(repair="none"))
    assert release.w is not None
    assert release.w[0] == pytest.approx(release.w[1], rel=1e-9)


@settings(max_examples=40)
@given(st.sampled_from(sorted(MECHANISMS)), st.integers(1, 5), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_mechanism_runs_on_any_tiny_data(name: str, n: int, dimension: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.integers(0, 2, (n, dimension)) / np.sqrt(dimension) * (1 - 1e-15)
    records = check_matrix(
        Domain.of_columns(columns_of(dimension)), x, random.integers(0, 2, n), random.integers(0, 2, n)
    )
    release = run(name, records)
    assert release.status in {"ok", "unbounded"}
    assert release.w is None or bool(np.isfinite(release.w).all())


def test_checked_records_cannot_be_changed_through_the_object() -> None:
    records = check_matrix(Domain.of_columns(["a"]), [[0.5]], [1], [0])
    for values in (records.x, records.y, records.z):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 7.0


def test_records_of_another_number_type_are_rejected() -> None:
    domain = Domain.of_columns(["a"])
    with pytest.raises(ShapeError, match="float32"):
        Records(domain, np.zeros((1, 1), dtype=np.float32), np.zeros(1), np.zeros(1))
