"""Measurements that were repeated."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def mean_and_deviation(values: Iterable[float | None]) -> dict[str, float | None]:
    """Return `mean` and `std` (n - 1 in the denominator) of the known values; None where there are too few."""
    known = np.array([value for value in values if value is not None])
    return {
        "mean": float(known.mean()) if known.size else None,
        "std": float(known.std(ddof=1)) if known.size > 1 else None,
    }
