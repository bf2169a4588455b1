"""Scores of records, each from its own row alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reference.common.arrays import FloatArray


def decision_scores(w: npt.ArrayLike, x: FloatArray) -> FloatArray:
    """Return x.w, each row's from that row alone: shape (n,).

    A matrix product rounds a row by its place and by the number of rows: one record could flip the prediction of
    another.  Here the columns are added one by one, from the first to the last.
    """
    scores = np.zeros(len(x))
    for weight, column in zip(np.asarray(w, dtype=np.float64), np.asarray(x).T, strict=True):
        scores += weight * column
    return scores
