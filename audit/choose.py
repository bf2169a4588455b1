"""Which event to certify: the one that promises the largest bound.  The choice certifies nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from audit.events import Event, FloatArray, Quantiser, Score, score_all

EVEN_THRESHOLDS = 500
"""Thresholds tried per score, evenly over the pooled sample; rarer events get thresholds of their own."""

LUCK = 0.1
"""Chance that any of the scores that compete shows a log ratio so far above its own, roughly.

The log ratio of the choosing counts is taken to its bad side by as many standard errors as that needs.
"""

FEWEST_COMPETITORS = 10
"""One score alone still has hundreds of thresholds, of which about ten are far apart."""


@dataclass(frozen=True)
class Candidate:
    """An event with what it promises, best first when sorted downwards."""

    promise: float
    contrast: float
    event: Event

    @property
    def rank(self) -> tuple[float, float]:
        """A positive promise first, then the contrast."""
        return max(self.promise, 0.0), self.contrast


@dataclass(frozen=True)
class Prospect:
    """What the certification will be like.

    Parameters
    ----------
    draws : int
        Per input.
    delta, significance : float
    competitors : int
        Scores that the event is chosen from.
    """

    draws: int
    delta: float
    significance: float
    competitors: int = 1

    @property
    def luck(self) -> float:
        """Standard errors by which a log ratio is taken to its bad side."""
        return -float(ndtri(LUCK / max(self.competitors, FEWEST_COMPETITORS)))


def best_event(
    scores: Iterable[Score], left: FloatArray, right: FloatArray, prospect: Prospect, quantiser: Quantiser | None
) -> Candidate | None:
    """Return the half-line of a score that promises the largest bound.

    Where no event promises a positive bound, the event whose shares differ most in units of their standard
    error: then at least something common is tested, and not the luckiest tail.

    Parameters
    ----------
    scores : iterable of Score
    left, right : ndarray, shape (n, k)
        Choosing draws, quantised already where `quantiser` is given.
    prospect : Prospect
    quantiser : Quantiser or None
        Of the events that are returned.
    """
    # one look at all outputs instead of one per score
    finite = bool(np.isfinite(left).all() and np.isfinite(right).all())
    best: Candidate | None = None
    for score in scores:
        found = _best_threshold(_directly if finite else score_all, score, left, right, prospect, quantiser)
        if best is None or found.rank > best.rank:
            best = found
    return best


def _best_threshold(
    evaluate: Callable[[Score, FloatArray], FloatArray],
    score: Score,
    left: FloatArray,
    right: FloatArray,
    prospect: Prospect,
    quantiser: Quantiser | None,
) -> Candidate:
    samples = {"left": np.sort(evaluate(score, left)), "right": np.sort(evaluate(score, right))}
    thresholds = _thresholds(*samples.values())
    found = []
    for at_least in (True, False):
        counts = {side: _counts(values, thresholds, at_least) for side, values in samples.items()}
        for likely, unlikely in (("left", "right"), ("right", "left")):
            promises = promised(counts[likely], counts[unlikely], len(left), prospect)
            contrasts = _contrasts(counts[likely] / len(left), counts[unlikely] / len(left))
            # lexicographic: a positive promise first, then the contrast
            index = int(np.lexsort((contrasts, np.maximum(promises, 0.0)))[-1])
            event = Event(score, float(thresholds[index]), at_least, likely, quantiser)
            found.append(Candidate(float(promises[index]), float(contrasts[index]), event))
    return max(found, key=lambda candidate: candidate.rank)


def _directly(score: Score, outputs: FloatArray) -> FloatArray:
    return score(outputs)


def promised(likely: FloatArray, unlikely: FloatArray, chosen_on: int, prospect: Prospect) -> FloatArray:
    """Return approximations of the bound that events will get; they choose one and certify nothing.

    The counts are first moved to their bad side, so that the luckiest of thousands of events does not win by
    luck alone: by :attr:`Prospect.luck` standard errors of the log ratio, each count by its share of the variance.
    Then the bound is the normal approximation of a test of the ratio.
    """
    z = -float(ndtri(prospect.significance))
    one_more = unlikely + 1
    parts = [np.sqrt(np.maximum(1 - c / chosen_on, 0) / np.maximum(c, 1)) for c in (likely, one_more)]
    both = np.maximum(np.hypot(*parts), 1e-300)
    p = _moved(likely, -prospect.luck * parts[0] * parts[0] / both) / chosen_on
    q = np.minimum(_moved(one_more, prospect.luck * parts[1] * parts[1] / both) / chosen_on, 1.0)
    hopeful = p > prospect.delta
    excess = np.where(hopeful, p - prospect.delta, 1.0)
    variance = p * (1 - p) / excess**2 + (1 - q) / q
    bounds: FloatArray = np.log(excess / q) - z * np.sqrt(variance / prospect.draws)
    return np.where(hopeful, bounds, -np.inf)


def _moved(counts: FloatArray, relative: FloatArray) -> FloatArray:
    """Return quantiles of gamma variates with these counts as shape, so many relative deviations from the middle.

    By the cube of Wilson and Hilferty, right also for a few counts.
    """
    shape = np.maximum(counts, 1e-9)
    moved: FloatArray = shape * np.maximum(1 - 1 / (9 * shape) + relative / 3, 0.0) ** 3
    return moved


def _thresholds(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return finite thresholds from two sorted samples: evenly spread, and ever farther from each end."""
    pooled = np.sort(np.concatenate([left, right]))
    even = pooled[np.linspace(0, len(pooled) - 1, EVEN_THRESHOLDS + 2).astype(int)[1:-1]]
    ranks = np.unique(np.geomspace(1, len(left), 8 * max(1, int(np.log2(len(left))))).astype(int)) - 1
    tails = [sample[place] for sample in (left, right) for place in (ranks, len(sample) - 1 - ranks)]
    found = np.unique(np.concatenate([even, *tails]))
    finite = found[np.isfinite(found)]
    return finite if len(finite) else np.zeros(1)


def _counts(ordered: FloatArray, thresholds: FloatArray, at_least: bool) -> FloatArray:
    """Return how many sorted scores are on the event's side of each threshold."""
    if at_least:
        found = len(ordered) - np.searchsorted(ordered, thresholds, side="left")
    else:
        found = np.searchsorted(ordered, thresholds, side="right")
    return found.astype(np.float64)


def _contrasts(likely: FloatArray, unlikely: FloatArray) -> FloatArray:
    """Return the difference of two shares in units of its standard error, but for a common factor."""
    pooled = (likely + unlikely) / 2
    spread = np.sqrt(pooled * (1 - pooled))
    return np.divide(likely - unlikely, spread, out=np.zeros_like(spread), where=spread > 0)
