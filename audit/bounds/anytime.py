"""Bounds that hold however often, and whenever, one looks.

Derivation and proof: ``docs/proofs/bounds.md``.  For a fixed event, a tilt t > 0 and r = exp(epsilon),

    M_t(p) = exp(t (likely - r unlikely))
             / ((1 + (r p + delta) (e^t - 1))^likely_draws (1 - p (1 - e^(-t r)))^unlikely_draws)

is a supermartingale under every pair with p_unlikely = p and p_likely <= r p + delta, because each factor divides
by the expectation of what it multiplies, or by more.  A fixed mixture over t is one too, and the smallest mixture
over p is an e-process of the hypothesis: it ever reaches 1 / significance with probability at most `significance`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from audit.bounds.counts import Counts, FloatArray, check_epsilon, check_levels

TILTS = np.geomspace(1e-5, 40.0, 40)
"""Tilts of the mixture, in equal parts: from billions of draws to events that never occur on one input."""

ZOOMS, POINTS = 6, 33
"""Rounds of the search for the smallest value over p_unlikely, and points in each."""


ROUNDING = 2e-15
"""Relative margin on each term of a log: floating point errs by a few units in the last place."""

LARGEST_LEVEL = 50.0
"""No level above this is tried."""


def log_e_value(
    likely: float, likely_draws: int, unlikely: float, unlikely_draws: int, epsilon: float, delta: float
) -> float:
    """Return the log of the e-value of p_likely <= exp(epsilon) p_unlikely + delta, rounded down.

    Parameters
    ----------
    likely, likely_draws : float, int
        Occurrences so far where the event is more likely, and draws.
    unlikely, unlikely_draws : float, int
        The same on the other input.
    epsilon : float
        In [0, 700].
    delta : float
        In [0, 1).

    Notes
    -----
    The log of the mixture is convex in p_unlikely: it is a log-sum-exp of sums of -log of affine functions.  So
    the tangents at the two ends of a bracket bound it from below in between.
    """
    check_epsilon(epsilon)
    check_levels(delta, 0.5)
    ratio = math.exp(epsilon)
    up, down = np.expm1(TILTS), -np.expm1(-TILTS * ratio)
    gain = TILTS * (likely - ratio * unlikely)

    def value(p: FloatArray, rounding: float = 0.0) -> FloatArray:
        likely_factor = likely_draws * np.log1p(np.outer(ratio * p + delta, up))
        unlikely_factor = unlikely_draws * np.log1p(-np.outer(p, down))
        errors = rounding * (np.abs(gain) + likely_factor - unlikely_factor + 1)
        logs = gain - likely_factor - unlikely_factor - errors
        return np.asarray(logsumexp(logs, axis=1)) - math.log(len(TILTS))

    def slope(p: float) -> float:
        inside = ratio * p + delta
        logs = gain - likely_draws * np.log1p(inside * up) - unlikely_draws * np.log1p(-p * down)
        weights = np.exp(logs - logs.max())
        slopes = -likely_draws * ratio * up / (1 + inside * up) + unlikely_draws * down / (1 - p * down)
        return float((weights * slopes).sum() / weights.sum())

    # beyond this p_likely = 1, and the mixture grows with p_unlikely
    low, high = 0.0, (1 - delta) / ratio * (1 - 1e-15)
    for _ in range(ZOOMS):
        points = np.linspace(low, high, POINTS)
        best = int(np.argmin(value(points)))
        low, high = points[max(best - 1, 0)], points[min(best + 1, POINTS - 1)]
    ends = value(np.array([low, high]), ROUNDING)
    rising, falling = max(0.0, slope(high)), max(0.0, -slope(low))
    return max(float(ends[1]) - rising * (high - low), float(ends[0]) - falling * (high - low))


@dataclass(frozen=True)
class AnytimeBound:
    """A lower bound on epsilon that may be looked at after every block of draws.

    Levels of epsilon are tested from below: 0, `step`, 2 `step`, ... and the claim.  A level is passed when its
    e-value has reached 1 / significance at some look.  All levels at or above the true epsilon are true
    hypotheses, and the lowest of them must be passed before any other, so one error budget covers all levels and
    all looks.

    Parameters
    ----------
    claimed_epsilon, delta : float
    significance : float
        Of all looks together.
    step : float
        Distance of levels, above 0.
    counts : Counts or None
        Of all draws so far; None before the first.
    passed : int
        Levels passed.
    decided_by : Counts or None
        Counts of the look at which the last level was passed.
    """

    claimed_epsilon: float
    delta: float
    significance: float
    step: float = 0.005
    counts: Counts | None = None
    passed: int = 0
    decided_by: Counts | None = None

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_epsilon(self.claimed_epsilon)
        check_levels(self.delta, self.significance)
        if self.step <= 0:
            raise ValueError(f"step must be above 0, got {self.step}")

    def after(self, block: Counts) -> AnytimeBound:
        """Return the bound after a further block of draws of the same event."""
        counts = block if self.counts is None else _sum(self.counts, block)
        passed = self.passed
        while self.level(passed) < LARGEST_LEVEL and self._reached(counts, self.level(passed)):
            passed += 1
        decided_by = counts if passed > self.passed else self.decided_by
        return replace(self, counts=counts, passed=passed, decided_by=decided_by)

    def level(self, index: int) -> float:
        """Return a level of epsilon, by its index from 0: multiples of the step, and the claim among them."""
        below = math.ceil(self.claimed_epsilon / self.step)
        if index < below:
            return index * self.step
        return self.claimed_epsilon if index == below else (index - 1) * self.step

    @property
    def epsilon_lower_bound(self) -> float:
        """Highest level passed; 0 when none is."""
        return self.level(self.passed - 1) if self.passed else 0.0

    @property
    def refuted(self) -> bool:
        """Whether the claim itself is passed: the true epsilon is above it."""
        return self.passed > math.ceil(self.claimed_epsilon / self.step)

    def would_show(self, gap: float) -> bool:
        """Return whether counts like these would refute the claim if the true epsilon were above it by `gap`.

        The unlikely count stands as it is; the likely one is put to its expectation under claim plus gap.  About
        half of all runs would then have refuted the claim by now.
        """
        if self.counts is None:
            return False
        share = self.counts.unlikely / self.counts.unlikely_draws
        likely = math.exp(self.claimed_epsilon + gap) * share + self.delta
        if likely > 1:
            return False
        draws = self.counts.likely_draws
        expected = (likely * draws, draws, self.counts.unlikely, self.counts.unlikely_draws)
        return log_e_value(*expected, self.claimed_epsilon, self.delta) >= -math.log(self.significance)

    def _reached(self, counts: Counts, epsilon: float) -> bool:
        found = (counts.likely, counts.likely_draws, counts.unlikely, counts.unlikely_draws)
        return log_e_value(*found, epsilon, self.delta) >= -math.log(self.significance)


def _sum(first: Counts, second: Counts) -> Counts:
    return Counts(
        first.likely + second.likely,
        first.likely_draws + second.likely_draws,
        first.unlikely + second.unlikely,
        first.unlikely_draws + second.unlikely_draws,
    )


@dataclass(frozen=True)
class StoppingRule:
    """Stop when the claim is refuted, or when a loss above it by `gap` would have shown.

    The rule looks at the counts.  That is allowed: an anytime bound is valid at every stopping time.

    Parameters
    ----------
    gap : float
        Above 0.
    """

    gap: float

    def __post_init__(self) -> None:
        """Check the range."""
        if self.gap <= 0:
            raise ValueError(f"gap must be above 0, got {self.gap}")

    def reason(self, bound: AnytimeBound) -> str | None:
        """Return why to stop, or None to go on."""
        if bound.refuted:
            return "the claim is refuted"
        if bound.would_show(self.gap):
            return f"a loss above the claim by {self.gap:g} would have shown"
        return None
