"""The e-value of two counts against a level of epsilon: what a fixed set of bets would have won.

Derivation and proof: ``proofs/auditor_bounds.md``.  A bet multiplies its stake by exp(a) for each occurrence of
the event on the likely input, a >= 0, and by exp(-b) for each on the other.  With r = exp(epsilon),

    M(p) = exp(a likely - b unlikely)
           / ((1 + (r p + delta) (e^a - 1))^likely_draws (1 - p (1 - e^-b))^unlikely_draws)

is a supermartingale under every pair with p_unlikely = p and p_likely <= r p + delta, because each factor divides
by the expectation of what it multiplies, or by more.  A fixed mixture over bets is one too, and the smallest
mixture over p is an e-process of the hypothesis: it ever reaches 1 / significance with probability at most
`significance`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from scipy.optimize import brentq

from audit.bounds.counts import check_epsilon, check_levels
from reference.common.arrays import FloatArray, IntArray

AnytimeMethod: TypeAlias = Literal["anytime_betting", "anytime"]

ANYTIME: Final = "anytime_betting"
"""The set of bets that certifies."""

ANYTIME_METHODS: tuple[AnytimeMethod, ...] = (ANYTIME, "anytime")
"""Sets of bets that a certificate can name; nothing is certified with the second any more."""

ODDS: FloatArray = np.exp2(np.arange(-13.0, 8.0))
STAKES: FloatArray = ODDS / (1 + ODDS)
"""Shares c of the capital that an unlikely occurrence loses; a likely one wins c / exp(epsilon).

Small ones for common events and up to 1e9 draws, those near 1 for events that hardly occur on one input.
"""

TILTS: FloatArray = np.exp2(np.arange(-13.0, 3.0))
"""Bets a on the likely count alone (b = 0): they rule out a p_unlikely far below the true one."""

TILTS_SHARE = 0.05
"""Share of the capital on the likely count alone."""

EARLIER_TILTS = np.geomspace(1e-5, 40.0, 40)
"""The bets a of the method `anytime`, with b = a exp(epsilon)."""

BRACKET = 1e-11
"""First width of the bracket around the smallest value over p_unlikely."""

ROUNDING = 1e-13
"""Relative margin on each term of a log: floating point errs by a few units in the last place, 2e-16."""

SUMS = 10.0
"""Added to the terms that the margin is relative to, for the sum over bets and the logs of their shares."""


@dataclass(frozen=True, eq=False)
class Bets:
    """A fixed set of bets on the two counts.

    Parameters
    ----------
    likely : ndarray, shape (bets,)
        Logs a >= 0 of the factors per occurrence on the likely input.
    unlikely : ndarray, shape (bets,)
        Logs b >= 0 of what an occurrence on the other input divides by.
    shares : ndarray, shape (bets,)
        Of the capital at the start; their sum is 1.
    """

    likely: FloatArray
    unlikely: FloatArray
    shares: FloatArray

    @classmethod
    def of(cls, method: AnytimeMethod, epsilon: float) -> Bets:
        """Return the bets of a method against a level of epsilon."""
        ratio = math.exp(epsilon)
        if method == "anytime":
            return cls(EARLIER_TILTS, EARLIER_TILTS * ratio, _equal(EARLIER_TILTS, 1.0))
        return cls(
            np.concatenate([np.log1p(STAKES / ratio), TILTS]),
            np.concatenate([-np.log1p(-STAKES), np.zeros_like(TILTS)]),
            np.concatenate([_equal(STAKES, 1 - TILTS_SHARE), _equal(TILTS, TILTS_SHARE)]),
        )


def _equal(bets: FloatArray, share: float) -> FloatArray:
    return np.full(len(bets), share / len(bets))


def log_e_value(
    likely: float,
    likely_draws: int,
    unlikely: float,
    unlikely_draws: int,
    epsilon: float,
    delta: float,
    method: AnytimeMethod = ANYTIME,
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
    method : {'anytime_betting', 'anytime'}
        The set of bets.

    Notes
    -----
    The log of the mixture is convex in p_unlikely: it is a log-sum-exp of sums of -log of affine functions.  So
    the tangents at the two ends of a bracket bound it from below in between.
    """
    check_epsilon(epsilon)
    check_levels(delta, 0.5)
    ratio, bets = math.exp(epsilon), Bets.of(method, epsilon)
    up, down = np.expm1(bets.likely), -np.expm1(-bets.unlikely)
    won, lost = bets.likely * likely, bets.unlikely * unlikely
    start = np.log(bets.shares) + won - lost

    # s = r p, in [0, 1 - delta], stands for p_unlikely = p: slopes in p would leave the range of doubles
    def value(s: FloatArray) -> FloatArray:
        likely_factor = likely_draws * np.log1p(np.outer(s + delta, up))
        at_risk = np.outer(s / ratio, down)
        unlikely_factor = unlikely_draws * np.log1p(-at_risk)
        logs = start - likely_factor - unlikely_factor
        # the log of 1 - x changes by x / (1 - x) times the relative change of x
        logs -= ROUNDING * (won + lost + likely_factor + unlikely_draws * at_risk / (1 - at_risk) + SUMS)
        return np.asarray(np.logaddexp.reduce(logs, axis=1))

    def slope(s: float) -> float:
        likely_factor, unlikely_factor = 1 + (s + delta) * up, 1 - s / ratio * down
        logs = start - likely_draws * np.log(likely_factor) - unlikely_draws * np.log(unlikely_factor)
        weights = np.exp(logs - logs.max())
        slopes = unlikely_draws * (down / ratio) / unlikely_factor - likely_draws * up / likely_factor
        return float((weights * slopes).sum() / weights.sum())

    # near the pooled share of both counts
    guess = (likely + unlikely) / (likely_draws + unlikely_draws / ratio)
    # beyond 1 - delta p_likely = 1, and the mixture does not fall with p_unlikely
    low, high = _bracket(slope, (1 - delta) * (1 - 1e-15), guess)
    ends = value(np.array([low, high]))
    rising, falling = max(0.0, slope(high)), max(0.0, -slope(low))
    return float(max(ends[1] - rising * (high - low), ends[0] - falling * (high - low)))


REACHED, MISSED, UNKNOWN = 1, 0, -1
"""Answers of :func:`quick_decisions` about a level."""

AROUND = (0.25, 4.0)
"""The first two tangents touch at these multiples of the guessed place of the smallest value."""

TANGENTS = 8
"""Most tangents after the first two; then a level stays undecided."""


def quick_decisions(
    found: tuple[float, int, float, int],
    epsilons: Sequence[float],
    delta: float,
    threshold: float,
    method: AnytimeMethod = ANYTIME,
) -> IntArray:
    """Return for many levels at once whether the log e-value reaches a threshold, if that is easy to tell.

    The log is convex in p_unlikely.  So its value anywhere bounds the smallest one from above, and two tangents,
    one falling and one rising, bound it from below where they meet.  That decides nearly every level; the others
    are left to :func:`log_e_value`.

    Parameters
    ----------
    found : (float, int, float, int)
        Likely occurrences and draws, unlikely occurrences and draws.
    epsilons : sequence of float, m of them
    delta, threshold : float
    method : {'anytime_betting', 'anytime'}

    Returns
    -------
    ndarray of int, shape (m,)
        `REACHED`, `MISSED` or `UNKNOWN`.

    Notes
    -----
    Values are rounded down as in :func:`log_e_value`.  The slope is a mean over bets: relative errors e of their
    weights w move it by the sum of w e (slope of the bet - mean), and a tangent is lowered by as much times its
    length.
    """
    likely, likely_draws, unlikely, unlikely_draws = found
    bets = [Bets.of(method, epsilon) for epsilon in epsilons]
    wins, losses = (np.array([getattr(bet, name) for bet in bets]) for name in ("likely", "unlikely"))
    up, down = np.expm1(wins), -np.expm1(-losses)
    start = np.log([bet.shares for bet in bets]) + wins * likely - losses * unlikely
    terms = wins * likely + losses * unlikely + SUMS
    ratios = np.exp(np.asarray(epsilons, dtype=np.float64))

    def tangent(s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return values, rounded down, slopes, and the error of the slopes."""
        odds, at_risk = (s[:, None] + delta) * up, s[:, None] / ratios[:, None] * down
        likely_factor, unlikely_factor = likely_draws * np.log1p(odds), unlikely_draws * np.log1p(-at_risk)
        margins = ROUNDING * (terms + likely_factor + unlikely_draws * at_risk / (1 - at_risk))
        logs = start - likely_factor - unlikely_factor - margins
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        falls = likely_draws * up / (1 + odds)
        rises = unlikely_draws * (down / ratios[:, None]) / (1 - at_risk)
        weights /= weights.sum(axis=1, keepdims=True)
        slopes = (weights * (rises - falls)).sum(axis=1)
        sizes = rises + falls + np.abs(slopes)[:, None]
        off = 4 * (weights * (margins + ROUNDING) * sizes).sum(axis=1)
        return np.logaddexp.reduce(logs, axis=1), slopes, off

    decided = np.full(len(ratios), UNKNOWN)
    # around the pooled share of both counts
    guess = (likely + unlikely) / (likely_draws + unlikely_draws / ratios)
    low, high = (np.minimum(share * guess, (1 - delta) * (1 - 1e-15)) for share in AROUND)
    (below, fall, fall_off), (above, rise, rise_off) = tangent(low), tangent(high)
    decided[(below < threshold) | (above < threshold)] = MISSED
    # the smallest value lies in between, however the slopes were rounded
    between = (fall < -fall_off) & (rise > rise_off)
    for _ in range(TANGENTS):
        if not (between & (decided == UNKNOWN)).any():
            break
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            place = np.clip((above - rise * high - below + fall * low) / (fall - rise), low, high)
            lowest = below + fall * (place - low) - (fall_off + rise_off) * (high - low)
        decided[between & (decided == UNKNOWN) & (lowest >= threshold)] = REACHED
        between &= np.isfinite(place)
        place = np.where(between, place, low)
        value, slope, off = tangent(place)
        decided[(decided == UNKNOWN) & (value < threshold)] = MISSED
        falling, rising = slope < -off, slope > off
        between &= falling | rising
        low, below, fall, fall_off = (
            np.where(falling, new, old)
            for new, old in zip((place, value, slope, off), (low, below, fall, fall_off), strict=True)
        )
        high, above, rise, rise_off = (
            np.where(rising, new, old)
            for new, old in zip((place, value, slope, off), (high, above, rise, rise_off), strict=True)
        )
    return decided


def _bracket(slope: Callable[[float], float], top: float, guess: float) -> tuple[float, float]:
    """Return two places in [0, top] with the smallest value of a convex function between them."""
    start, stop = min(0.8 * guess, top), min(1.2 * guess, top)
    if slope(start) > 0 or slope(stop) < 0:
        start, stop = 0.0, top
        if slope(start) >= 0:
            return start, start
        if slope(stop) <= 0:
            return stop, stop
    middle, width = float(brentq(slope, start, stop, xtol=BRACKET / 8, rtol=1e-14)), BRACKET
    low, high = max(0.0, middle - width), min(top, middle + width)
    # the slopes decide, whatever the search for their zero found
    while slope(low) > 0 or slope(high) < 0:
        width *= 8
        low, high = max(0.0, middle - width), min(top, middle + width)
    return low, high
