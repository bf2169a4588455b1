"""The sums over records that are released, each beside its sensitivities under `replace_one`.

These are exact, but that the column factor is rounded down.  The sums are exact, too: features, residuals and
zbar are multiples of 1/DATA_STEPS, so every sum is a multiple of 1/:data:`SUM_STEPS`, on which hardened noise is
added without rounding.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from reference.common.arrays import BoolArray, FloatArray, IntArray, NumberArray
from reference.common.balls import square_root
from reference.common.errors import NormError
from reference.common.grid import DATA_STEPS
from reference.common.scores import decision_scores
from reference.domain import Domain
from reference.records import BLOCK_ROWS, Records
from reference.repaired.loss import residual
from reference.repaired.spent import SUM_STEPS, Change


def largest_l1(domain: Domain) -> Fraction:
    """Return the largest |x|_1 of a record: one entry of at most the column factor for each attribute."""
    if domain.prescaled:
        return square_root(Fraction(domain.dimension)).upper
    entries = len(domain.attributes) + int(domain.intercept) + int(domain.keep_group)
    return entries * Fraction(domain.column_factor)


def farthest(domain: Domain) -> Fraction:
    """Return the largest squared distance of two records: every attribute goes as far as it can.

    In squares of the column factor, which are at most 1/m for m attributes, that is 4 for a centred number, 2 for
    an attribute of several columns, and 1 for any other.  The intercept, which counts as one, stays.
    """
    if domain.prescaled:
        return Fraction(4 if any(domain.signed) else 2)
    parts = _parts(domain)
    squares = [2 if part.stop - part.start > 1 else 4 if domain.signed[part.start] else 1 for part in parts]
    return Fraction(sum(squares) - int(domain.intercept), len(parts))


def require_encoded(records: Records) -> None:
    """Raise :class:`reference.common.errors.NormError` for a row that no record of the domain encodes to.

    The entries of an attribute add up to at most the column factor; the intercept is the factor.
    """
    domain = records.domain
    if domain.prescaled:
        # |x|_2 <= 1 is all
        return
    parts, corner = _parts(domain), math.trunc(domain.column_factor * DATA_STEPS) / DATA_STEPS
    for start in range(0, len(records), BLOCK_ROWS):
        block = records.x[start : start + BLOCK_ROWS]
        sizes = np.abs(block)
        outside = (block[:, : int(domain.intercept)] != corner).any(axis=1)
        for part in parts:
            # multiples of 2^-20 far below 2^33: exact
            outside |= sizes[:, part].sum(axis=1) > corner
        if outside.any():
            row = start + int(np.flatnonzero(outside)[0])
            raise NormError("an attribute with other entries than the domain encodes", row=row)


def label_sums(x: FloatArray, target: FloatArray) -> NumberArray:
    """Return sum t x and sum (1 - t) x, shape (2 d,): on one-hot records the counts of (cell, label), scaled."""
    # (sum t x, sum (1 - t) x)
    return np.concatenate([_weighted_sum(target, x), _weighted_sum(1 - target, x)])


def label_sums_change(domain: Domain) -> Change:
    """Return the sensitivities of :func:`label_sums` (Lemma 2).

    If the label flips, x leaves one half and x' enters the other: the squared l2-change is |x|^2 + |x'|^2 <= 2.
    If it stays, one half changes, by |x' - x|^2: more than 2 only where many entries may be negative.
    """
    return Change(2 * largest_l1(domain), max(Fraction(2), farthest(domain)))


def gradient(x: FloatArray, target: FloatArray, w: FloatArray) -> NumberArray:
    """Return sum r x, the gradient of the capped logistic loss at w, shape (d,).

    Its l2-sensitivity is at most 1 for every w (Lemma 1).
    """
    # towards 0: |r| <= 1/2 stays
    r = np.trunc(residual(decision_scores(w, x), target) * DATA_STEPS) / DATA_STEPS
    # sum_i r_i x_i
    return _weighted_sum(r, x)


def gradient_change(domain: Domain) -> Change:
    """Return the sensitivities of :func:`gradient` over all w (Lemma 1)."""
    return Change(largest_l1(domain), Fraction(1))


def group_count(z: FloatArray) -> NumberArray:
    """Return the number of members of group 1, shape (1,)."""
    # sum_i z_i
    return np.array([Fraction(int(z.sum()))], dtype=object)


GROUP_COUNT_CHANGE = Change(Fraction(1), Fraction(1))


def imbalance(z: FloatArray, prediction: BoolArray, zbar: Fraction) -> NumberArray:
    """Return sum (z - zbar) (prediction - 1/2), shape (1,).

    If zbar is the true mean, it is n zbar (1 - zbar) times the signed risk difference.  Then the half changes
    nothing; for every zbar it makes the sensitivity smallest.
    """
    members, chosen = z == 1.0, prediction
    in_favour = {
        one: int(chosen[members == one].sum()) - int((~chosen)[members == one].sum()) for one in (True, False)
    }
    # sum_i (z_i - zbar) (yhat_i - 1/2)
    total = (1 - zbar) * in_favour[True] - zbar * in_favour[False]
    return np.array([total / 2], dtype=object)


def imbalance_change(zbar: Fraction) -> Change:
    """Return the sensitivities of :func:`imbalance`: max(zbar, 1 - zbar) (Lemma 3)."""
    largest = max(zbar, 1 - zbar)
    return Change(largest, largest**2)


def cell_counts(cell: IntArray, cells: int) -> NumberArray:
    """Return how many records are in each cell, shape (cells,)."""
    # sum_i 1[c_i = c]
    return np.array([Fraction(int((cell == c).sum())) for c in range(cells)], dtype=object)


CELL_COUNTS_CHANGE = Change(Fraction(2), Fraction(2))
"""A record leaves one cell for another (Lemma 4)."""


def cell_selections(cell: IntArray, prediction: BoolArray, cells: int) -> NumberArray:
    """Return sum 1[c_i = c] (prediction_i - 1/2) for each cell, shape (cells,).

    Add half the records of a cell to get the number chosen.
    """
    found = []
    for c in range(cells):
        members = cell == c
        # sum_i 1[c_i = c] (yhat_i - 1/2)
        found.append(Fraction(int((prediction & members).sum())) - Fraction(int(members.sum()), 2))
    return np.array(found, dtype=object)


CELL_SELECTIONS_CHANGE = Change(Fraction(1), Fraction(1))
"""A record is in one cell: its prediction turns, or it takes its half from one cell to another (Lemma 4)."""


def _parts(domain: Domain) -> list[slice]:
    """Return the columns of the intercept, of each attribute, and of the kept group."""
    widths = [1] * int(domain.intercept) + [len(one.columns) for one in domain.attributes]
    ends = list(itertools.accumulate([*widths, *[domain.dimension - sum(widths)] * int(domain.keep_group)]))
    return [slice(*ends_of) for ends_of in itertools.pairwise([0, *ends])]


def _weighted_sum(weights: FloatArray, x: FloatArray) -> NumberArray:
    """Return sum weights_i x_i as Fractions, exactly: all are multiples of 1/DATA_STEPS, at most 1."""
    total = np.zeros(x.shape[1], dtype=object)
    for start in range(0, len(x), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        # below 2^12 in absolute value, a multiple of 2^-40: no addition rounds
        part = weights[rows] @ x[rows] * SUM_STEPS
        total = total + part.astype(np.int64).astype(object)
    return np.array([Fraction(int(value), SUM_STEPS) for value in total], dtype=object)
