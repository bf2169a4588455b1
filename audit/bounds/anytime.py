"""Bounds that hold however often, and whenever, one looks: levels of epsilon, each tested by its e-value.

Derivation and proof: ``proofs/auditor_bounds.md``; the e-value: :mod:`audit.bounds.e_value`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from audit.bounds.counts import LARGEST_EPSILON, Counts, check_epsilon, check_levels
from audit.bounds.e_value import ANYTIME, REACHED, UNKNOWN, AnytimeMethod, log_e_value, quick_decisions

LARGEST_LEVEL = 50.0
"""No level above this is tried."""

FEWEST_TOGETHER, MOST_TOGETHER = 8, 64
"""Levels decided together: about as fast as one alone."""

REFUTED = "the claim is refuted"
"""Why a rule stops when nothing is left to show."""


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
    method : {'anytime_betting', 'anytime'}
        The set of bets that makes the e-value; fixed before the first draw.
    """

    claimed_epsilon: float
    delta: float
    significance: float
    step: float = 0.005
    counts: Counts | None = None
    passed: int = 0
    decided_by: Counts | None = None
    method: AnytimeMethod = ANYTIME

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_epsilon(self.claimed_epsilon)
        check_levels(self.delta, self.significance)
        if self.step <= 0:
            raise ValueError(f"step must be above 0, got {self.step}")

    def after(self, block: Counts) -> AnytimeBound:
        """Return the bound after a further block of draws of the same event."""
        counts = block if self.counts is None else _sum(self.counts, block)
        passed, together, going_on = self.passed, FEWEST_TOGETHER, True
        while going_on:
            levels = [self.level(passed + further) for further in range(together)]
            reached = self._reached_in_turn(counts, [level for level in levels if level < LARGEST_LEVEL])
            passed, going_on = passed + reached, reached == together
            together = min(2 * together, MOST_TOGETHER)
        decided_by = counts if passed > self.passed else self.decided_by
        return replace(self, counts=counts, passed=passed, decided_by=decided_by)

    def level(self, index: int) -> float:
        """Return a level of epsilon, by its index from 0: multiples of the step, and the claim among them."""
        if index < self._place_of_claim:
            return index * self.step
        return self.claimed_epsilon if index == self._place_of_claim else (index - 1) * self.step

    @property
    def _place_of_claim(self) -> int:
        """The number of multiples of the step below the claim, however the quotient was rounded."""
        place = math.ceil(self.claimed_epsilon / self.step)
        return place - 1 if (place - 1) * self.step >= self.claimed_epsilon else place

    @property
    def epsilon_lower_bound(self) -> float:
        """The highest level passed; 0 before the first."""
        return self.level(self.passed - 1) if self.passed else 0.0

    @property
    def refuted(self) -> bool:
        """Whether the bound passes the claim itself: the true epsilon is above it."""
        return self.passed > self._place_of_claim

    def would_show(self, gap: float) -> bool:
        """Return whether counts like these would refute the claim if the true epsilon were above it by `gap`.

        The unlikely count is kept; the likely one is set to its expectation under claim plus gap.  About
        half of all runs would then have refuted the claim by now.
        """
        if self.counts is None:
            return False
        share = self.counts.unlikely / self.counts.unlikely_draws
        likely = math.exp(min(self.claimed_epsilon + gap, LARGEST_EPSILON)) * share + self.delta
        if likely > 1:
            return False
        return self._reached(likely * self.counts.likely_draws, self.counts, self.claimed_epsilon)

    def _reached_in_turn(self, counts: Counts, levels: list[float]) -> int:
        """Return how many levels the counts reject before the first that they do not reject."""
        if not levels:
            return 0
        found = (counts.likely, counts.likely_draws, counts.unlikely, counts.unlikely_draws)
        decided = quick_decisions(found, levels, self.delta, -math.log(self.significance), self.method)
        for place, (level, decision) in enumerate(zip(levels, decided, strict=True)):
            if decision != REACHED and not (decision == UNKNOWN and self._reached(counts.likely, counts, level)):
                return place
        return len(levels)

    def _reached(self, likely: float, counts: Counts, epsilon: float) -> bool:
        """Return whether this many likely occurrences, with the other counts, reject a level."""
        found = (likely, counts.likely_draws, counts.unlikely, counts.unlikely_draws)
        return log_e_value(*found, epsilon, self.delta, self.method) >= -math.log(self.significance)


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

    The rule may look at the counts: an anytime bound is valid at every stopping time.

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
            return REFUTED
        if bound.would_show(self.gap):
            return f"a loss above the claim by {self.gap:g} would have shown"
        return None
