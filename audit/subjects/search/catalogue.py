"""Declared domains of the catalogue's mechanisms, if their inputs have a natural one.

A right mechanism keeps its claim on every pair of its neighbourhood.  Mechanisms on real values get a box.  If
inputs are counts or codes, all pairs are listed.  The others have none: NaN is in no domain, and
the functional mechanisms of the catalogue are the paper's, which have their own search.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from audit.subjects.catalogue import CATALOGUE
from audit.subjects.catalogue.entry import Entry
from audit.subjects.search.neighbourhoods import DataSet, DataSets, Listed, Neighbourhood, Vectors
from reference.common.arrays import FloatArray

LARGEST_COUNT = 4
"""Counts up to this one are listed."""

ONE_ANSWER = Vectors(1)
"""An answer in [0, 1] that one record decides."""

VALUES = (0.0,), (1.0,)
"""Bounds of a data set of values in [0, 1]."""


def _counts() -> Listed:
    steps = range(LARGEST_COUNT)
    return Listed(tuple((np.array([float(k)]), np.array([k + 1.0])) for k in steps))


def _bloom_filters() -> Listed:
    """Return all pairs of different eight-bit filters with two bits set."""
    filters = [np.isin(np.arange(8), places).astype(np.float64) for places in combinations(range(8), 2)]
    return Listed(tuple(combinations(filters, 2)))


DOMAINS: dict[str, Neighbourhood] = {
    **dict.fromkeys(
        (
            "laplace",
            "laplace_scored",
            "laplace_half_noise",
            "laplace_inverted_scale",
            "laplace_double_spending",
            "laplace_leaky",
            "laplace_zero_sensitivity",
            "laplace_low_entropy_seed",
            "laplace_retried",
            "laplace_float",
            "gaussian",
            "gaussian_classic",
        ),
        ONE_ANSWER,
    ),
    "laplace_product": Vectors(8, norm="l1"),
    "geometric": _counts(),
    "rappor": _bloom_filters(),
    "noisy_max_index_laplace": Vectors(5),
    "noisy_max_index_exponential": Vectors(5),
    "noisy_max_index_gumbel": Vectors(5),
    "noisy_max_value": Vectors(5),
    "sparse_vector_1": Vectors(6),
    "sparse_vector_2": Vectors(6),
    "sparse_vector_3": Vectors(5),
    "sparse_vector_4": Vectors(10),
    "sparse_vector_5": Vectors(10),
    "sparse_vector_6": Vectors(10, lower=-1.0),
    "sparse_vector_numerical": Vectors(5),
    "sparse_vector_gap": Vectors(6),
    "smart_sum": Vectors(6, norm="l1"),
    "prefix_sum": Vectors(5, norm="l1"),
    "private_mean": DataSets(*VALUES, 20),
    "laplace_bounds_from_data": DataSets(*VALUES, 10),
    "unnoised_count": DataSets(*VALUES, 20, "add_or_remove_one"),
}
"""Neighbourhoods by the name of the entry, at its default parameters."""


@dataclass(frozen=True)
class OverDataSets:
    """A mechanism of the catalogue on values, with data sets of one column as inputs.

    Parameters
    ----------
    entry : Entry
    """

    entry: Entry

    def sample(self, data: DataSet, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs."""
        return self.entry.sample(data.array().ravel(), count, rng)

    def describe(self, data: DataSet) -> list[float]:
        """Return the values."""
        values: list[float] = data.array().ravel().tolist()
        return values


def over_domain(subject: Any) -> tuple[Any, Neighbourhood] | None:
    """Return a mechanism of the catalogue with its neighbourhood; None if it has none."""
    names = [name for name, entry in CATALOGUE.items() if type(subject) is entry and name in DOMAINS]
    if not names or getattr(subject, "dimension", 8) != 8:
        return None
    neighbourhood = DOMAINS[names[0]]
    return (OverDataSets(subject) if isinstance(neighbourhood, DataSets) else subject), neighbourhood
