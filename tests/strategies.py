"""Random data sets and readings for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from reference.domain import Domain
from reference.readings import BASES, FAIRNESS, Readings
from reference.records import Records, check_matrix


def random_records(
    n: int, dimension: int, seed: int, norm: str = "unit_ball", *, with_group: bool = True
) -> Records:
    """Return random records that fill the domain up to its boundary."""
    random = np.random.default_rng(seed)
    x = random.random((n, dimension)) ** random.choice([0.3, 1.0, 3.0])
    if norm == "unit_ball":
        x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None] * (1 + 1e-15)
    y = random.integers(0, 2, n).astype(float)
    z = random.integers(0, 2, n).astype(float) if with_group else None
    domain = Domain.of_columns([f"x{i}" for i in range(dimension)], norm=norm, with_group=with_group)
    return check_matrix(domain, x, y, z)


def data_sets(*, max_records: int = 12, max_dimension: int = 5) -> st.SearchStrategy[Records]:
    """Return small random data sets in either norm."""
    return st.builds(
        random_records,
        n=st.integers(1, max_records),
        dimension=st.integers(1, max_dimension),
        seed=st.integers(0, 2**32 - 1),
        norm=st.sampled_from(["unit_ball", "unit_box"]),
    )


def readings() -> st.SearchStrategy[Readings]:
    """Return readings that the objective depends on."""
    return st.builds(
        Readings,
        fairness=st.sampled_from(FAIRNESS),
        fairness_weight=st.fractions(0, 5, max_denominator=100),
        basis=st.sampled_from(BASES),
        sensitivity=st.just(1),
    )
