"""Judge one pair from few draws: the promise of its best event, and the distance of its outputs.

Nothing here certifies anything: these numbers only choose the pair to audit, on other draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import scipy

from audit.auditor.choose import Prospect, best_event
from audit.auditor.draws import Draws
from audit.auditor.events import QUICK, Quantiser, proposals
from reference.common.arrays import FloatArray

SCREENED = 16
"""Most coordinates for the events of a look; of wider outputs, those that differ most."""

LARGEST_MOVE = 10.0
"""Cap on the difference of two outputs, in units of their spread."""

LEARN, CHOOSE = 1, 2
"""Phases in the numbering of a look's draws."""


Sides: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, order=True)
class Look:
    """One look at a pair; ordered by the promise, then by the distance.

    Parameters
    ----------
    promise : float
        Approximately the bound that the best event would certify; 0 if none promises anything.
    distance : float
        Of the ranks of the outputs, by :func:`rank_distance`.
    """

    promise: float
    distance: float


def look(source: Draws, rows: int, prospect: Prospect) -> Look:
    """Return what this many outputs per input show about a pair.

    Parameters
    ----------
    source : Draws
        Of the subject on the pair.
    rows : int
    prospect : Prospect
        The certification to expect.
    """
    learning, choosing = source.phase(LEARN, rows // 2), source.phase(CHOOSE, rows - rows // 2)
    distance = rank_distance(*(np.concatenate(sides) for sides in zip(learning, choosing, strict=True)))
    learning, choosing = screened(learning, choosing)
    quantiser = Quantiser.of(*choosing)
    left, right = (quantiser(side) for side in learning)
    scores = list(proposals(QUICK, left, right, source.subject, source.inputs))
    left, right = (quantiser(side) for side in choosing)
    found = best_event(scores, left, right, replace(prospect, competitors=len(scores)), quantiser)
    return Look(0.0 if found is None else max(found.promise, 0.0), distance)


def screened(learning: Sides, choosing: Sides) -> tuple[Sides, Sides]:
    """Return a few coordinates of wide outputs: those that differ most, and the sum of all.

    A look at each of a thousand coordinates would take seconds, and the best of a thousand events is mostly luck.
    Learning draws alone decide, so that the choosing draws of a look stay fresh.

    Parameters
    ----------
    learning, choosing : pair of ndarray, shape (n, k) each

    Returns
    -------
    learning, choosing : pair of ndarray
        As they were up to :data:`SCREENED` coordinates, else of shape (n, SCREENED + 1).
    """
    if learning[0].shape[1] <= SCREENED:
        return learning, choosing
    kept = np.argsort(-_rank_statistics(*learning))[:SCREENED]
    weights = _shifts(*learning)
    pooled = np.sort(np.nan_to_num(np.concatenate(learning)), axis=0)
    added = [[_places(pooled, np.nan_to_num(side)) @ weights for side in sides] for sides in (learning, choosing)]
    taught, judged = (
        tuple(np.column_stack([side[:, kept], total]) for side, total in zip(sides, totals, strict=True))
        for sides, totals in zip((learning, choosing), added, strict=True)
    )
    return (taught[0], taught[1]), (judged[0], judged[1])


def _places(pooled: FloatArray, outputs: FloatArray) -> FloatArray:
    """Return the share of a sorted sample below each output, by coordinate, shape (n, k)."""
    columns = [np.searchsorted(pooled[:, k], outputs[:, k]) for k in range(outputs.shape[1])]
    return np.column_stack(columns) / len(pooled)


def rank_distance(left: FloatArray, right: FloatArray) -> float:
    """Return how much the ranks of two samples differ in location and spread, summed over the coordinates.

    Per coordinate the squares of the statistics of Wilcoxon (ranks) and of Mood (squared distances of ranks from
    the middle), each with variance 1 if the samples are alike.  Many small shifts add up, which no single
    coordinate shows.

    Parameters
    ----------
    left, right : ndarray, shape (n, k)
    """
    return float(_rank_statistics(left, right).sum())


def _rank_statistics(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the sum of both squares per coordinate, shape (k,)."""
    ranks = _ranks(left, right)
    squares = [_standardised(values, len(left)) ** 2 for values in (ranks, ranks**2)]
    return np.asarray(squares[0] + squares[1])


def _shifts(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return Wilcoxon's statistic per coordinate, with its sign, shape (k,)."""
    return _standardised(_ranks(left, right), len(left))


def _ranks(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return pooled ranks from -1/2 to 1/2; NaN ranks highest."""
    both = np.concatenate([left, right])
    ranks = scipy.stats.rankdata(np.where(np.isnan(both), np.inf, both), axis=0)
    return np.asarray(ranks / (len(both) + 1) - 0.5)


def _standardised(values: FloatArray, size: int) -> FloatArray:
    """Return the difference of the means of the first `size` rows and the others, in standard errors."""
    shift = values[:size].mean(axis=0) - values[size:].mean(axis=0)
    unit = values.std(axis=0) * math.sqrt(1 / size + 1 / (len(values) - size))
    return np.asarray(np.divide(shift, unit, out=np.zeros_like(unit), where=unit > 0))


@dataclass(frozen=True, eq=False)
class CoupledDraws(Draws):
    """Draws with the same random numbers on both inputs: for comparisons only, not for certifying."""

    def generator(self, phase: int, chunk: int, side: int) -> np.random.Generator:
        """Return the generator of one chunk, the same on both inputs."""
        return super().generator(phase, chunk, 0)


def coupled_move(source: CoupledDraws, rows: int, *, pure: bool) -> float:
    """Return how far the outputs move from the left input to the right one under the same random numbers.

    If noise is added to an answer, the difference of two such outputs is that of the two answers, whatever the
    noise: a few draws then show what thousands of independent ones would not.  Each difference is in units of
    its coordinate's median distance from the median.  If delta is 0 they add up over the coordinates, as the
    losses of independent Laplace noise do, else their squares do, as those of Gaussian noise.

    Parameters
    ----------
    source : CoupledDraws
    rows : int
    pure : bool
        Whether delta is 0.
    """
    left, right = source.phase(LEARN, rows)
    # a coordinate that is a number on only one input has moved as far as any can
    broken = np.isfinite(left) != np.isfinite(right)
    left, right = (np.where(np.isfinite(side), side, 0.0) for side in (left, right))
    with np.errstate(over="ignore", invalid="ignore"):
        units = (_spread(left) + _spread(right)) / 2
        both = np.concatenate([left, right])
        # constant on each input: only the inputs spread it
        units = np.where(units > 0, units, np.abs(both - np.median(both, axis=0)).mean(axis=0))
        moves = np.abs(left - right)
        known = np.isfinite(units) & (units > 0)
        moves = np.divide(moves, units, out=np.zeros_like(moves), where=known)
    moves = np.where(broken, LARGEST_MOVE, np.minimum(moves, LARGEST_MOVE)).mean(axis=0)
    return float(moves.sum() if pure else np.linalg.norm(moves))


def _spread(outputs: FloatArray) -> FloatArray:
    """Return the median distance from the median, by coordinate."""
    return np.asarray(np.median(np.abs(outputs - np.median(outputs, axis=0)), axis=0))


def repeats(source: CoupledDraws, rows: int) -> bool:
    """Return whether the same random numbers give the same outputs: else differences show only noise.

    Parameters
    ----------
    source : CoupledDraws
        With one input as both left and right.
    rows : int
    """
    first, again = source.phase(LEARN, rows)
    return np.array_equal(first, again, equal_nan=True)
