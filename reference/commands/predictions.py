"""Predictions as a table of text: for the data holder.

A prediction is a function of w and of the record itself.  A release's statement is about w; it does not
hide the record that is predicted.  So all are marked, on training data and on new records.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from reference.accounting import NOT_PRIVATE
from reference.common.arrays import BoolArray
from reference.common.scores import decision_scores
from reference.datasets.record_blocks import RecordBlocks, blocks_of
from reference.records import Records
from reference.repaired import Model


def prediction_lines(
    w: tuple[float, ...] | Model,
    records: Records | RecordBlocks,
    held_out: BoolArray | None = None,
    names: tuple[str, str] = ("0", "1"),
) -> Iterator[str]:
    """Yield the lines of a CSV file with a prediction for every record.

    Parameters
    ----------
    w : tuple of float, or Model
        A model of the mechanism `repaired` has its own thresholds.
    records : Records or RecordBlocks
    held_out : ndarray of bool, shape (n,), optional
        Which records were not trained on; without it there is no column `part`.
    names : (str, str)
        How the labels 0 and 1 are written.

    Yields
    ------
    str
        ``row`` counts the records from 1; ``score`` is x.w, or how far that is beyond the
        threshold; ``prediction`` is the label 1 where it is positive.
    """
    part = "" if held_out is None else "part,"
    yield f"row,{part}score,prediction,note\n"
    labels = [_cell(name) for name in names]
    row = 0
    for block in blocks_of(records):
        scores = w.excess(block.x, block.z) if isinstance(w, Model) else decision_scores(w, block.x)
        for score in scores.tolist():
            if held_out is not None:
                part = "test," if held_out[row] else "train,"
            row += 1
            yield f"{row},{part}{score!r},{labels[score > 0.0]},{NOT_PRIVATE}\n"


def _cell(text: str) -> str:
    """Return a text as a cell of a CSV file, quoted where it must be."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([text])
    return line.getvalue()
