"""The third flow: a subject -> draws -> an event chosen on one part -> a bound certified on fresh draws.

The event is fixed before the certifying draws are made, so the certified bound is valid whatever the learning
and the choice did.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from audit.bounds import Counts, detectable_epsilon, epsilon_lower_bound, largest_certifiable_epsilon
from audit.events import Event, FloatArray, Score, learned_scores, score_all
from audit.subjects import Subject

LEARN_SHARE, CHOOSE_SHARE = 0.2, 0.2
"""Shares of the draws that learn scores and choose an event; the rest certifies."""

SMALLEST_DRAWS = 1_000
"""Below this no phase has enough to work with."""

THRESHOLDS = 200
"""Thresholds tried per score, evenly over the pooled sample; rarer events get thresholds of their own."""

STATED_SIZE = 1.5
"""A test that could not detect this multiple of the claim is undecided, not a success."""

CHUNK_VALUES = 4_000_000
"""Numbers held at a time while certifying."""

Progress = Callable[[int], None]


def silent(draws: int) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class Estimate:
    """A certified lower bound and what it rests on.

    Parameters
    ----------
    epsilon_lower_bound : float
        Exceeds the true epsilon (at the claimed delta) with probability at most `significance`.
    event : Event
        Chosen before the certifying draws.
    counts : Counts
        Of the certifying draws.
    draws : int
        All phases, both inputs.
    largest_certifiable_epsilon : float
        What a perfect event would have given.
    significance : float
    delta : float
        The claimed delta.
    """

    epsilon_lower_bound: float
    event: Event
    counts: Counts
    draws: int
    largest_certifiable_epsilon: float
    significance: float
    delta: float

    def detectable_epsilon(self, claimed_epsilon: float) -> float | None:
        """Return the smallest epsilon that a test of this size would refute the claim at, with power 0.9.

        For the best event there could be; None when no event would do.
        """
        return detectable_epsilon(claimed_epsilon, self.counts.likely_draws, self.delta, self.significance)

    def verdict(self, claimed_epsilon: float) -> str:
        """Return `refuted`, `not refuted`, or `undecided` when this test could not have refuted the claim.

        Undecided: not even the best event would have detected :data:`STATED_SIZE` times the claim.
        """
        if self.epsilon_lower_bound > claimed_epsilon:
            return "refuted"
        detectable = self.detectable_epsilon(claimed_epsilon)
        if detectable is None or detectable > STATED_SIZE * claimed_epsilon:
            return "undecided"
        return "not refuted"


def estimate(
    subject: Subject,
    *,
    delta: float,
    draws: int,
    significance: float,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Estimate:
    """Return a certified lower bound on the subject's epsilon at `delta`, for its pair of inputs.

    Parameters
    ----------
    subject : Subject
    delta : float
        The claimed delta.
    draws : int
        Of all phases and both inputs; at least 1,000.
    significance : float
        Chance that the bound is wrong.
    rng : numpy.random.Generator
    progress : callable
        Told the number of draws made, as they are made.
    """
    if draws < SMALLEST_DRAWS:
        raise ValueError(f"{draws} draws are too few: at least {SMALLEST_DRAWS} are needed")
    left, right = subject.inputs()
    learn = int(draws * LEARN_SHARE) // 2
    choose = int(draws * CHOOSE_SHARE) // 2
    certify = draws // 2 - learn - choose

    def sample(count: int) -> tuple[FloatArray, FloatArray]:
        outputs = subject.sample(left, count, rng), subject.sample(right, count, rng)
        progress(2 * count)
        return outputs

    learning = sample(learn)
    width = learning[0].shape[1]
    scores = list(learned_scores(*learning))
    event = choose_event(scores, *sample(choose), certify, delta, significance)
    occurrences = {"left": 0, "right": 0}
    chunk = max(1, CHUNK_VALUES // width)
    for start in range(0, certify, chunk):
        outputs = sample(min(chunk, certify - start))
        for side, values in zip(("left", "right"), outputs, strict=True):
            occurrences[side] += int(event.occurs(values).sum())
    unlikely_input = "right" if event.likely_input == "left" else "left"
    counts = Counts(occurrences[event.likely_input], certify, occurrences[unlikely_input], certify)
    return Estimate(
        epsilon_lower_bound(counts, delta, significance),
        event,
        counts,
        2 * (learn + choose + certify),
        largest_certifiable_epsilon(certify, delta, significance),
        significance,
        delta,
    )


def choose_event(
    scores: list[Score],
    left: FloatArray,
    right: FloatArray,
    certify: int,
    delta: float,
    significance: float,
) -> Event:
    """Return the event that promises the largest bound with `certify` draws an input.

    Where no event promises a positive bound, the event whose shares differ most in units of their standard
    error: then at least something common is tested, and not the luckiest tail.

    The promise is the bound at the counts that the choosing draws predict, less one standard error of each
    probability, so that the luckiest of thousands of events does not win by luck alone.
    """
    z = float(norm.isf(significance / 2))
    best, best_promise = None, (-np.inf, -np.inf)
    for score in scores:
        samples = {"left": np.sort(score_all(score, left)), "right": np.sort(score_all(score, right))}
        thresholds = _thresholds(*samples.values())
        for at_least in (True, False):
            shares = {side: _shares(values, thresholds, at_least) for side, values in samples.items()}
            for likely, unlikely in (("left", "right"), ("right", "left")):
                promises = _promises(shares[likely], shares[unlikely], len(left), certify, delta, z)
                contrasts = _contrasts(shares[likely], shares[unlikely])
                # lexicographic: a positive promise first, then the contrast
                index = int(np.lexsort((contrasts, np.maximum(promises, 0.0)))[-1])
                promise = max(float(promises[index]), 0.0), float(contrasts[index])
                if promise > best_promise:
                    best, best_promise = Event(score, float(thresholds[index]), at_least, likely), promise
    if best is None:
        raise ValueError("no score to choose an event from")
    return best


def _thresholds(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return finite thresholds from two sorted samples: evenly spread, and 1, 2, 4, ... draws from each end."""
    pooled = np.sort(np.concatenate([left, right]))
    even = pooled[np.linspace(0, len(pooled) - 1, THRESHOLDS + 2).astype(int)[1:-1]]
    ranks = 2 ** np.arange(int(np.log2(len(left))) + 1) - 1
    tails = [sample[place] for sample in (left, right) for place in (ranks, len(sample) - 1 - ranks)]
    found = np.unique(np.concatenate([even, *tails]))
    finite = found[np.isfinite(found)]
    return finite if len(finite) else np.zeros(1)


def _shares(ordered: FloatArray, thresholds: FloatArray, at_least: bool) -> FloatArray:
    """Return the share of sorted scores on the event's side of each threshold."""
    if at_least:
        return 1.0 - np.searchsorted(ordered, thresholds, side="left") / len(ordered)
    return np.searchsorted(ordered, thresholds, side="right") / len(ordered)


def _contrasts(likely: FloatArray, unlikely: FloatArray) -> FloatArray:
    """Return the difference of two shares in units of its standard error, but for a common factor."""
    pooled = (likely + unlikely) / 2
    spread = np.sqrt(pooled * (1 - pooled))
    return np.divide(likely - unlikely, spread, out=np.zeros_like(spread), where=spread > 0)


def _promises(
    likely: FloatArray, unlikely: FloatArray, chosen_on: int, certify: int, delta: float, z: float
) -> FloatArray:
    """Return normal approximations of the bound; they choose an event and certify nothing."""
    spread = 1 / np.sqrt(chosen_on) + z / np.sqrt(certify)
    low = likely - spread * np.sqrt(likely * (1 - likely)) - delta
    high = unlikely + spread * np.sqrt(unlikely * (1 - unlikely)) + z * z / certify
    promises: FloatArray = np.log(np.maximum(low, np.finfo(np.float64).tiny) / high)
    return promises
