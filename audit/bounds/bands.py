"""The trade-off curve from scores on two neighbouring inputs, and what it refutes.

**Points.**  Let P and Q be the laws of the output on the left and the right input.  After Dong, Roth and Su,
Gaussian differential privacy (2019), the trade-off function T(P, Q)(a) is the smallest Q(not S) over all tests
S with P(S) <= a (tests may be randomised, so it is convex and continuous).  It falls with a.  Every event S
therefore gives T(P, Q)(P(S)) <= Q(not S), and where P(S) <= alpha and Q(not S) <= beta also
T(P, Q)(alpha) <= beta.  So upper limits on both errors are all that is needed; they certify the curve from
above only.  No lower side follows from scores: a test that reads more of the output may err less.

**One band.**  Let n independent draws follow any law, and write C(t) for the number of draws >= t.  Two bounds
on P(s >= t) hold for all t together:

- C(t)/n + sqrt(log(1/h) / 2n), except with probability h <= 1/2 (Massart 1990; one side; conservative where there
  are ties);
- u(c), for c the smallest of K counts, declared from n alone, with c >= C(t).  u(c) is Clopper and Pearson's
  upper limit for c of n at h/K: P(Bin(n, u) <= c) = h/K; u(n) = 1.

*Why the second holds.*  Let X be the draw of rank c + 1 from above, and t* = inf{t : P(s > t) <= u}.  Where
P(s > X) > u, X < t*, so at most c draws are >= t*.  As P(s > t) > u for all t < t*, P(s >= t*) >= u, so this
has probability at most P(Bin(n, u) <= c) = h/K.  Otherwise, where C(t) <= c, X < t and
P(s >= t) <= P(s > X) <= u.  Summed over the K counts: h.  []

The declared counts are spaced by half a standard error.  Each band spends half of its share on each bound and
takes the smaller limit: the first is tighter in the middle, the second in the tails.  There are four bands,
each at a quarter of the significance: both inputs, scores above and scores below.  Nothing is chosen from the
draws, so no draws are set aside, and all points hold together except with probability at most the significance.

**Gaussian privacy.**  A mechanism is mu-GDP iff T >= G_mu for all neighbours, where
G_mu(a) = Phi(Phi^-1(1 - a) - mu).  A certified point with beta < G_mu(alpha) refutes mu, that is, where
mu < -Phi^-1(alpha) - Phi^-1(beta).  This is symmetric in alpha and beta, so exchanging the inputs refutes the
same.

**Renyi divergence.**  For order a > 1 and an event with q = Q(S) and p = P(S), data processing gives

    D_a(Q, P) >= d(q, p) = log(g(q, p)) / (a - 1),   g(q, p) = q^a p^(1-a) + (1-q)^a (1-p)^(1-a).

The derivative of g in q is a ((q/p)^(a-1) - ((1-q)/(1-p))^(a-1)), in p (1 - a) ((q/p)^a - ((1-q)/(1-p))^a).
Where q >= p the first is not negative and the second not positive.  So where p <= alpha < 1 - beta <= q,
d(q, p) >= d(1 - beta, p) >= d(1 - beta, alpha).  The complement of S bounds D_a(P, Q) in the same way, with
alpha and beta exchanged.  Order 1 is the limit, the Kullback-Leibler divergence.  D_a does not fall with a, so
a bound at a smaller order holds too: that is used where a - 1 is too small or too large for floating point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Real

import numpy as np
import numpy.typing as npt
from scipy.special import betaincc, betainccinv, ndtri, xlog1py, xlogy

from audit.bounds.counts import MARGIN, check_levels
from reference.common.arrays import FloatArray

ASSUMES = (
    "the scores of each input are independent draws of one law, the inputs are neighbours, "
    "and the score was fixed without these draws"
)
"""The assumption of every bound of a trade-off curve; nothing here checks it."""

NEXT_ORDER, LARGEST_ORDER = 1.001, 1e6
"""Orders below the first get the bound at 1; those above the second the bound at the second."""


@dataclass(frozen=True, eq=False)
class TradeOffBand:
    """Points that lie on or above the trade-off curve, all together except with probability `significance`.

    Parameters
    ----------
    alpha, beta : array
        Of each event: its probability on the left input is at most `alpha`, that of its complement on the right
        one at most `beta`.  By increasing alpha.
    significance : float
    assumes : str
    """

    alpha: FloatArray
    beta: FloatArray
    significance: float
    assumes: str = ASSUMES

    def at(self, alpha: npt.ArrayLike) -> FloatArray:
        """Return an upper bound on the trade-off curve at each alpha, at most 1 - alpha.

        Raises
        ------
        ValueError
            When an alpha is not in [0, 1].
        """
        try:
            levels = np.asarray(alpha, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"each alpha must be a number in [0, 1], got {alpha!r:.100}") from None
        if not ((levels >= 0) & (levels <= 1)).all():
            raise ValueError("each alpha must be in [0, 1]")
        smallest = np.minimum.accumulate(np.append(1.0, self.beta))
        found = smallest[np.searchsorted(self.alpha, levels, side="right")]
        return np.asarray(np.minimum(found, 1 - levels))

    @property
    def mu_lower_bound(self) -> float:
        """Every mu below this is refuted: the mechanism is not mu-GDP; 0 where no mu is refuted."""
        refuted = -ndtri(self.alpha) - ndtri(self.beta)
        return max(0.0, float(refuted.max()) - MARGIN)

    def renyi_lower_bound(self, order: float | Fraction) -> float:
        """Return a lower bound on the larger of D_order(left, right) and D_order(right, left).

        All orders hold together with the curve.  It is the divergence of one event, so it can be far below that of
        the outputs, above all at high orders.

        Parameters
        ----------
        order : float or Fraction
            At least 1; at infinity it is epsilon.

        Raises
        ------
        ValueError
            When the order is no real number, or below 1.
        """
        if isinstance(order, bool) or not isinstance(order, Real) or not order >= 1:
            raise ValueError(f"order must be a number, at least 1, got {order!r:.100}")
        level = 1.0 if order < NEXT_ORDER else float(order) if order < LARGEST_ORDER else LARGEST_ORDER
        apart = self.alpha + self.beta < 1
        if not apart.any():
            return 0.0
        first, second = self.alpha[apart], self.beta[apart]
        both = np.append(_binary_divergence(first, second, level), _binary_divergence(second, first, level))
        return max(0.0, float(both.max()) * (1 - MARGIN) - MARGIN)


def trade_off_band(left: FloatArray, right: FloatArray, significance: float) -> TradeOffBand:
    """Return the certified points of all events "score at least t" and "score at most t".

    Parameters
    ----------
    left, right : array of shape (n,)
        Scores without NaN; n may differ.
    significance : float
        Of all points together.
    """
    check_levels(0.0, significance)
    share = significance / 4
    sides = [_errors(sign * left, sign * right, share) for sign in (1, -1)]
    alpha, error = (np.concatenate(parts) for parts in zip(*sides, strict=True))
    order = np.argsort(alpha, kind="stable")
    return TradeOffBand(alpha[order], error[order], significance)


def upper_band(occurrences: npt.NDArray[np.int64], draws: int, share: float) -> FloatArray:
    """Return upper limits on the probabilities of nested events, all right except with probability `share`.

    Parameters
    ----------
    occurrences : array of int
        Of the events "score at least t", for any t, of this many draws.
    draws : int
    share : float
    """
    declared, limits = _declared(draws, share / 2)
    by_rank = limits[np.searchsorted(declared, occurrences)]
    by_distance = occurrences / draws + math.sqrt(math.log(2 / share) / (2 * draws)) * (1 + MARGIN)
    return np.minimum(by_rank, np.minimum(by_distance, 1.0))


def _errors(left: FloatArray, right: FloatArray, share: float) -> tuple[FloatArray, FloatArray]:
    """Return limits on P(left >= t) and on P(right < t), for all t that the scores tell apart."""
    left, right = np.sort(left), np.sort(right)
    thresholds = np.unique(np.concatenate((left, right)))
    above = len(left) - np.searchsorted(left, thresholds)
    below = np.searchsorted(right, thresholds)
    return upper_band(above, len(left), share), upper_band(below, len(right), share)


@lru_cache(maxsize=4)
def _declared(draws: int, share: float) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Return the declared counts, the last of them `draws`, and the limit at each, rounded up."""
    # the arcsine of the root of a share has the same standard error everywhere: 1 / (2 sqrt(n))
    steps = np.linspace(0.0, math.pi / 2, math.ceil(2 * math.pi * math.sqrt(draws)) + 1)
    counts = np.unique(np.floor(draws * np.sin(steps) ** 2).astype(np.int64))
    counts = np.append(counts[counts < draws], draws)
    inner = counts[:-1]
    level = share / len(inner)
    limits = betainccinv(inner + 1, draws - inner, level)
    # rounded up until the tail, with its own margin, is within the level
    while (short := betaincc(inner + 1, draws - inner, limits) * (1 + MARGIN) > level).any():
        limits = np.where(short, np.minimum(1.0, limits * (1 + MARGIN)), limits)
    return counts, np.append(limits, 1.0)


def _binary_divergence(alpha: FloatArray, error: FloatArray, order: float) -> FloatArray:
    """Return d(1 - error, alpha)."""
    if order == 1:
        kept = xlogy(1 - error, (1 - error) / alpha)
        return np.asarray(kept + xlogy(error, error / (1 - alpha)))
    occurs = order * np.log1p(-error) + xlogy(1 - order, alpha)
    fails = order * np.log(error) + xlog1py(1 - order, -alpha)
    return np.asarray(np.logaddexp(occurs, fails) / (order - 1))
