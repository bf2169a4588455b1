"""Counts of one event on both inputs, and the tail probabilities that every bound is made of."""

from __future__ import annotations

import msgspec
import numpy as np
from scipy.special import betainc, betaincc

from reference.common.arrays import FloatArray

MOST_DRAWS = 10**9
"""Draws per input up to which the tail probabilities were compared with ball arithmetic."""


MARGIN = 1e-8
"""Relative margin on every tail probability: floating point errs by less than 1e-9 up to 1e9 draws."""

SMALLEST_SIGNIFICANCE = 1e-12
"""Below this the cut of the normal scores would cost a share of the significance that matters."""

LARGEST_EPSILON = 700.0
"""Above this exp(epsilon) has no double."""


class Counts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often an event occurred.

    Parameters
    ----------
    likely, likely_draws : int
        Occurrences and draws on the input where the event is more likely.
    unlikely, unlikely_draws : int
        The same on the other input.

    Raises
    ------
    ValueError
        When a count is negative or above its number of draws, or there are no draws or more than 1e9.
    """

    likely: int
    likely_draws: int
    unlikely: int
    unlikely_draws: int

    @classmethod
    def of(cls, left: int, right: int, draws: int, likely_input: str) -> Counts:
        """Return the counts of an event that occurred so often in `draws` draws on each input.

        Parameters
        ----------
        left, right, draws : int
        likely_input : {'left', 'right'}
        """
        likely, unlikely = (left, right) if likely_input == "left" else (right, left)
        return cls(likely, draws, unlikely, draws)

    def __post_init__(self) -> None:
        """Check the ranges."""
        pairs = (("likely", self.likely, self.likely_draws), ("unlikely", self.unlikely, self.unlikely_draws))
        for side, occurrences, draws in pairs:
            if not 1 <= draws <= MOST_DRAWS:
                raise ValueError(f"{side}_draws must be between 1 and {MOST_DRAWS}, got {draws}")
            if not 0 <= occurrences <= draws:
                raise ValueError(f"{side} must be between 0 and {side}_draws = {draws}, got {occurrences}")


def check_levels(delta: float, significance: float) -> None:
    """Reject a delta outside [0, 1) and a significance outside [1e-12, 1)."""
    if not 0 <= delta < 1:
        raise ValueError(f"delta must be in [0, 1), got {delta}")
    if not SMALLEST_SIGNIFICANCE <= significance < 1:
        raise ValueError(f"significance must be in [1e-12, 1), got {significance}")


def check_epsilon(epsilon: float) -> None:
    """Reject an epsilon outside [0, 700], beyond which exp(epsilon) has no double."""
    if not 0 <= epsilon <= LARGEST_EPSILON:
        raise ValueError(f"epsilon must be in [0, {LARGEST_EPSILON:g}], got {epsilon}")


def at_least(occurrences: int, draws: int, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return P(B >= occurrences) and its complement for B binomial, both to full relative accuracy."""
    if occurrences == 0:
        return np.ones_like(probability), np.zeros_like(probability)
    shape = occurrences, draws - occurrences + 1
    inside = np.asarray(betainc(*shape, probability))
    return inside, _complement(inside, betaincc, shape, probability)


def at_most(occurrences: int, draws: int, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return P(B <= occurrences) and its complement for B binomial, both to full relative accuracy."""
    if occurrences == draws:
        return np.ones_like(probability), np.zeros_like(probability)
    shape = occurrences + 1, draws - occurrences
    inside = np.asarray(betaincc(*shape, probability))
    return inside, _complement(inside, betainc, shape, probability)


def _complement(
    inside: FloatArray, function: np.ufunc, shape: tuple[int, int], probability: FloatArray
) -> FloatArray:
    """Return 1 - inside; by its own evaluation where the difference would cancel."""
    outside = 1 - inside
    cancels = inside > 0.99
    outside[cancels] = function(*shape, probability[cancels])
    return outside
