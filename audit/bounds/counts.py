"""Counts of one event on both inputs, and the tail probabilities behind every bound."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np
from scipy.special import betainc, betaincc

from reference.common.arrays import FloatArray, IntArray

MOST_DRAWS = 10**9
"""Draws per input up to which the tail probabilities were compared with ball arithmetic."""

MARGIN = 1e-8
"""Relative margin on every tail probability: floating point errs by less than 1e-9 up to 1e9 draws."""

SMALLEST_SIGNIFICANCE = 1e-12
"""Below this the cut of the normal scores would cost a relevant share of the significance."""

LARGEST_EPSILON = 700.0
"""Above this exp(epsilon) has no double."""


class Calls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Calls of several outputs each, counted by their outputs with the event.

    Parameters
    ----------
    outputs_per_call : int
        At least 2.
    likely, unlikely : tuple of pairs
        (outputs with the event, calls), by increasing outputs, each with a call at least.
    """

    outputs_per_call: int
    likely: tuple[tuple[int, int], ...]
    unlikely: tuple[tuple[int, int], ...]

    def fits(self, side: Sequence[tuple[int, int]], occurrences: int, draws: int) -> bool:
        """Return whether the calls of one input are possible, and add up to these occurrences and draws."""
        outputs = [found for found, _ in side]
        return (
            self.outputs_per_call >= 2
            and outputs == sorted(set(outputs))
            and all(0 <= found <= self.outputs_per_call and calls >= 1 for found, calls in side)
            and sum(found * calls for found, calls in side) == occurrences
            and sum(calls for _, calls in side) * self.outputs_per_call == draws
        )


class Counts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The occurrences of an event.

    Parameters
    ----------
    likely, likely_draws : int
        Occurrences and draws on the input where the event is more likely.
    unlikely, unlikely_draws : int
        The same on the other input.
    calls : Calls or None
        The same by calls, where only these are independent.

    Raises
    ------
    ValueError
        When a count is negative or above its number of draws, or there are no draws or more than 1e9, or when the
        calls add up to other counts.
    """

    likely: int
    likely_draws: int
    unlikely: int
    unlikely_draws: int
    calls: Calls | None = None

    @classmethod
    def of(cls, left: int, right: int, draws: int, likely_input: str) -> Counts:
        """Return the counts of an event that occurred this often in `draws` draws on each input.

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
            if self.calls is not None and not self.calls.fits(getattr(self.calls, side), occurrences, draws):
                raise ValueError(f"calls.{side} must be calls that come to {occurrences} of {draws}")

    @classmethod
    def of_calls(cls, likely: IntArray, unlikely: IntArray) -> Counts:
        """Return the counts of calls: entry k of each array is how many calls had the event in k outputs.

        Parameters
        ----------
        likely, unlikely : ndarray of int, shape (outputs per call + 1,)
        """
        per_call = len(likely) - 1
        pairs = [tuple((int(k), int(side[k])) for k in np.flatnonzero(side)) for side in (likely, unlikely)]
        found = [sum(k * calls for k, calls in side) for side in pairs]
        draws = [int(side.sum()) * per_call for side in (likely, unlikely)]
        return cls(found[0], draws[0], found[1], draws[1], Calls(per_call, pairs[0], pairs[1]))

    @property
    def effective(self) -> Counts:
        """Counts of about as many independent draws as tell the same: fewer if outputs of a call are alike.

        By the variance of a call's outputs beside that of independent ones; never fewer than one for each call.
        """
        if self.calls is None:
            return self
        per_call = self.calls.outputs_per_call
        alike = max(_alike(self.calls.likely, per_call), _alike(self.calls.unlikely, per_call))
        pairs = ((self.likely, self.likely_draws), (self.unlikely, self.unlikely_draws))
        (k, n), (m, others) = ((round(found / alike), max(1, round(draws / alike))) for found, draws in pairs)
        return Counts(min(k, n), n, min(m, others), others)


def _alike(side: Sequence[tuple[int, int]], per_call: int) -> float:
    """Return the variance of a sum of a call's outputs, over that of independent ones: from 1 to their number."""
    outputs, calls = np.array(side, dtype=np.float64).T
    share = float((outputs * calls).sum() / calls.sum() / per_call)
    found = float(((outputs / per_call - share) ** 2 * calls).sum() / calls.sum())
    usual = share * (1 - share) / per_call
    return min(max(found / usual, 1.0), per_call) if usual else 1.0


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
    """Return P(B <= occurrences) and its complement for B binomial, both to full relative accuracy.

    The arrays may be shared: a search for the level of a bound asks for the same probabilities at each step.
    """
    if occurrences == draws:
        return np.ones_like(probability), np.zeros_like(probability)
    return _at_most(occurrences, draws, probability.tobytes())


@lru_cache(maxsize=4)
def _at_most(occurrences: int, draws: int, probabilities: bytes) -> tuple[FloatArray, FloatArray]:
    shape, probability = (occurrences + 1, draws - occurrences), np.frombuffer(probabilities)
    inside = np.asarray(betaincc(*shape, probability))
    outside = _complement(inside, betainc, shape, probability)
    inside.flags.writeable = outside.flags.writeable = False
    return inside, outside


def _complement(
    inside: FloatArray, function: np.ufunc, shape: tuple[int, int], probability: FloatArray
) -> FloatArray:
    """Return 1 - inside; by its own evaluation where the difference would cancel."""
    outside = 1 - inside
    cancels = inside > 0.99
    outside[cancels] = function(*shape, probability[cancels])
    return outside
