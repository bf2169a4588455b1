"""Independent audits of mechanisms whose loss is known, through the function that makes every other audit.

A bound above the truth is an error; they are counted per kind of bound, mechanism and size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from scipy.stats import binom

from audit.bounds import (
    AnytimeBound,
    Counts,
    epsilon_curve,
    epsilon_lower_bound,
    upper_bound_on_probability,
)
from audit.catalogue.gaussian import Gaussian
from audit.catalogue.laplace import Laplace
from audit.distinguish import Estimate, estimate
from audit.subjects import FloatArray, Subject
from reference.gaussian import epsilon_of_shift

SIGNIFICANCE = 0.05
"""Of every audit."""

CONFIDENCE = 0.99
"""Of the statement on all rows together."""

AUDITS, SIZES = 2_000, (1_000, 4_000, 16_000)
"""Audits of each mechanism at each size, and draws of an audit (all phases, both inputs)."""

CURVE_DELTAS = (0.001, 0.01, 0.05)

LOOKS = 20
"""Looks of an anytime audit; each at 1.3 times the draws of the one before."""


@dataclass(frozen=True)
class NoLoss(Laplace):
    """Laplace noise on two equal inputs: epsilon is 0."""

    @property
    def true_epsilon(self) -> float:
        """Nothing is lost."""
        return 0.0

    @property
    def scale(self) -> float:
        """Laplace scale."""
        return 1.0

    def inputs(self) -> tuple[float, float]:
        """Return two equal values."""
        return 0.0, 0.0


@dataclass(frozen=True)
class RandomisedResponse:
    """Answers 1 with probability 3/4 on one input and 1/4 on the other.

    Exact loss: both outcomes have the ratio 3, so epsilon is log 3, and every event that matters attains it.  That
    makes it the hardest case: the chosen event has no slack.
    """

    @property
    def true_epsilon(self) -> float:
        """The log of 3."""
        return math.log(3)

    def inputs(self) -> tuple[float, float]:
        """Return the probabilities of 1."""
        return 0.75, 0.25

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` answers, shape (count, 1)."""
        return (rng.random((count, 1)) < data).astype(np.float64)


@dataclass(frozen=True)
class Known:
    """A mechanism whose loss is known.

    Parameters
    ----------
    name : str
    subject : Subject
    true_epsilon : float
        At `delta`.
    delta : float
    truths : tuple of float
        The true epsilon at each of :data:`CURVE_DELTAS`; empty where no curve is certified.
    anytime : bool
        Whether the event {output >= 1/2} attains the loss, so that it can be looked at again and again.
    """

    name: str
    subject: Subject
    true_epsilon: float
    delta: float = 0.0
    truths: tuple[float, ...] = ()
    anytime: bool = False


GAUSSIAN = Gaussian(1.0, "0.01")


def _gaussian_curve() -> tuple[float, ...]:
    squared = Fraction(1) / Fraction(GAUSSIAN.sigma) ** 2
    return tuple(float(epsilon_of_shift(squared, Fraction(str(delta)))) for delta in CURVE_DELTAS)


KNOWN = (
    Known("Laplace noise on equal inputs", NoLoss(), 0.0, anytime=True),
    Known("randomised response", RandomisedResponse(), math.log(3), anytime=True),
    Known("Laplace, epsilon 1", Laplace(1.0), 1.0),
    Known("Gaussian, epsilon 1 at delta 0.01", GAUSSIAN, 1.0, 0.01, _gaussian_curve()),
)

CONTROL = "point estimate (control)"
"""What a bound without any margin would do: the check must see it fail."""


@dataclass(frozen=True)
class Row:
    """Errors of one kind of bound, on one mechanism, at one size.

    Parameters
    ----------
    mechanism : str
    true_epsilon, delta : float
    draws : int
        Of an audit, all phases, both inputs; the most that an anytime audit makes.
    bound : str
    audits, errors : int
        An error is a bound above the truth.
    """

    mechanism: str
    true_epsilon: float
    delta: float
    draws: int
    bound: str
    audits: int
    errors: int

    @property
    def share(self) -> float:
        """Share of errors."""
        return self.errors / self.audits

    @property
    def surprise(self) -> float:
        """Probability of so many errors or more if each audit erred with exactly the significance."""
        return float(binom.sf(self.errors - 1, self.audits, SIGNIFICANCE))

    def upper_bound(self, rows: int) -> float:
        """Return the Clopper-Pearson upper bound on the error probability, right for `rows` rows together."""
        return upper_bound_on_probability(self.errors, self.audits, (1 - CONFIDENCE) / rows)


def audit_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return which bounds of one audit are above the truth, by the name of the bound."""
    found = estimate(
        known.subject,
        delta=known.delta,
        draws=draws,
        significance=SIGNIFICANCE,
        rng=np.random.default_rng(seed),
        with_curve=bool(known.truths),
    )
    baseline = epsilon_lower_bound(found.counts, known.delta, SIGNIFICANCE, "clopper_pearson")
    errors = {
        "joint": found.epsilon_lower_bound > known.true_epsilon,
        "clopper_pearson": baseline > known.true_epsilon,
        CONTROL: _point_estimate(found.counts, known.delta) > known.true_epsilon,
    }
    if known.truths:
        points = _curve_counts(found)
        curve = epsilon_curve(points, CURVE_DELTAS, SIGNIFICANCE)
        errors["curve"] = any(
            curve.at(delta) > truth for delta, truth in zip(CURVE_DELTAS, known.truths, strict=True)
        )
    return errors


def _point_estimate(counts: Counts, delta: float) -> float:
    likely, unlikely = counts.likely / counts.likely_draws - delta, counts.unlikely / counts.unlikely_draws
    if likely <= 0:
        return -math.inf
    return math.log(likely / unlikely) if unlikely else math.inf


def _curve_counts(found: Estimate) -> list[Counts]:
    """Return the counts of nested events at three levels that the selection draws fixed."""
    shares = (0.25, 0.35, 0.5) if not found.event.at_least else (0.75, 0.65, 0.5)
    places = [int(share * (len(found.levels) - 1)) for share in shares]
    draws = found.counts.likely_draws
    counts = []
    for place in places:
        # bin b holds the scores with b levels at or below them
        above = [int(found.histogram[side, place + 1 :].sum()) for side in (0, 1)]
        left, right = above if found.event.at_least else [draws - count for count in above]
        likely, unlikely = (left, right) if found.event.likely_input == "left" else (right, left)
        counts.append(Counts(likely, draws, unlikely, draws))
    return counts


def anytime_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether an anytime bound is ever above the truth, looked at again and again until it is.

    The event is {output >= 1/2}, fixed beforehand.  Stopping at the first error is the worst rule there is.
    """
    rng = np.random.default_rng(seed)
    left, right = known.subject.inputs()
    bound = AnytimeBound(known.true_epsilon, known.delta, SIGNIFICANCE, step=0.1)
    looks = np.geomspace(1.3 ** (1 - LOOKS), 1, LOOKS) * draws / 2
    made = 0
    for look in np.maximum(looks.astype(int), 1):
        block = int(look) - made
        if block <= 0:
            continue
        likely, unlikely = (int((known.subject.sample(data, block, rng) >= 0.5).sum()) for data in (left, right))
        bound, made = bound.after(Counts(likely, block, unlikely, block)), int(look)
        if bound.refuted:
            break
    return {"anytime": bound.refuted}


def measure(
    once: Callable[[Known, int, tuple[int, ...]], dict[str, bool]],
    known: Known,
    draws: int,
    audits: int,
    seed: int,
    workers: int,
) -> list[Row]:
    """Return a row per kind of bound, from independent audits."""
    place = [one.name for one in KNOWN].index(known.name)
    tasks = (delayed(once)(known, draws, (seed, place, draws, index)) for index in range(audits))
    errors = Parallel(n_jobs=workers, batch_size=20)(tasks)
    return [
        Row(known.name, known.true_epsilon, known.delta, draws, bound, audits, sum(one[bound] for one in errors))
        for bound in errors[0]
    ]


def run(audits: int, sizes: Sequence[int], seed: int, workers: int) -> Iterator[list[Row]]:
    """Yield the rows of each mechanism at each size."""
    console = Console(stderr=True)
    for draws in sizes:
        for known in KNOWN:
            rows = measure(audit_once, known, draws, audits, seed, workers)
            if known.anytime:
                rows += measure(anytime_once, known, draws, audits, seed, workers)
            console.print(f"{known.name}, {draws:,} draws: {audits:,} audits", highlight=False)
            yield rows
