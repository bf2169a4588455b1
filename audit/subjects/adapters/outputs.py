"""What all adapters share: outputs as rows of numbers, and the note on foreign randomness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from audit.auditor.subject import SubjectError
from reference.common.arrays import FloatArray

OWN_ENTROPY = "the subject draws from its own entropy: a rerun repeats the audit, not its draws"
"""The note of a subject that does not use the given generator."""


def as_rows(outputs: Iterable[Any], outcomes: Sequence[Any] = ()) -> FloatArray:
    """Return outputs as an array, one flattened output a row, shape (n, k).

    Parameters
    ----------
    outputs : iterable
        At least one; numbers or arrays of the same shape.
    outcomes : sequence, optional
        All values that an output can take, if they are not numbers: an output becomes its place among them.

    Raises
    ------
    audit.auditor.subject.SubjectError
        For an output that is neither a number nor one of the outcomes, and for outputs of different shapes.
    """
    rows = [_row(_place(output, outcomes) if outcomes else output) for output in outputs]
    widths = sorted({len(row) for row in rows})
    if len(widths) > 1:
        raise SubjectError(f"outputs change shape: {widths} coordinates")
    return np.array(rows)


def _row(output: Any) -> FloatArray:
    values = np.asarray(output)
    if values.dtype.kind not in "fiub":
        raise SubjectError(f"an output must be made of real numbers, not {output!r}; declare the outcomes")
    return np.ravel(values).astype(np.float64)


def _place(output: Any, outcomes: Sequence[Any]) -> int:
    if output not in outcomes:
        raise SubjectError(f"output {output!r} is not among the declared outcomes {list(outcomes)!r}")
    return list(outcomes).index(output)
