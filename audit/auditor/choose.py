"""Choose the event that promises the largest bound.  The choice certifies nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from scipy.special import betaincinv, gammaincinv, ndtri

from audit.auditor.events import Event, Quantiser, Score
from audit.auditor.scored import Outputs
from audit.auditor.verdict import seen_by_event
from audit.bounds import POWER, SMALLEST_SIGNIFICANCE, Counts, Method, better_method
from reference.common.arrays import BoolArray, FloatArray, IntArray

EVEN_THRESHOLDS = 500
"""Thresholds tried per score, evenly over both samples; rarer events get their own thresholds."""

LUCK = 0.1
"""Chance, roughly, that any of the scores judged together shows a log ratio that far above its true one.

The log ratio of the choosing counts is lowered by as many standard errors as that needs.
"""

FEWEST_COMPETITORS = 10
"""One score alone still has hundreds of thresholds, of which about ten are far apart."""

COMMON = 0.25
"""An event at least this likely is common: few of these are far apart, and a tenth of the draws measures them."""

HOPE, CLEARLY = 0.75, 0.1
"""A rarer event may still beat a common one if, lowered by so many standard errors, it gains so much epsilon."""

ABLE = 1.4
"""An event should be able to refute the claim, with the stated power, if the loss is this multiple of it."""

OF_CHOSEN, OF_STURDY = 0.9, 0.1
"""Shares of the significance where a sturdy event is certified beside the chosen one."""

FEW_EXPECTED = 50.0
"""Below this many expected occurrences a normal approximation says too little."""

COUNTS_TRIED = 50
"""Counts of an event for which to ask whether it could refute a claim."""

RARE = 0.01
"""Up to this probability on both inputs a promise at delta = 0 is that of the conditional bound."""


@dataclass(frozen=True)
class Candidate:
    """An event, what it promises, and its choosing counts.

    Parameters
    ----------
    promise : float
        The expected bound, with the counts moved to their bad side.
    contrast : float
        Difference of the shares on the two inputs, in units of its standard error.
    event : Event
    counts : Counts
        Of the draws that it was judged on.
    face_value : float
        The expected bound from the counts as they are.
    rival : float
        The largest bound to hope for from a rarer event judged on the same draws, its counts taken to their bad
        side by :data:`HOPE` standard errors only.
    able : bool
        Whether it could refute the claim, were the loss :data:`ABLE` times as large (:meth:`Prospect.able`).
    claim : float or None
    spare : bool
        Proposed only because it is able: others promise more.
    sturdy : bool
        Whether it is able at :data:`OF_STURDY` of the significance.
    """

    promise: float
    contrast: float
    event: Event
    counts: Counts
    face_value: float = -math.inf
    rival: float = -math.inf
    able: bool = True
    claim: float | None = None
    spare: bool = False
    sturdy: bool = True

    @property
    def clear(self) -> bool:
        """Whether more draws would hardly change the choice: it is common, and no rarer event may beat it.

        A leak seen a dozen times is too rare to choose, but worth more draws.
        """
        return self.common and self.rival <= self.face_value + CLEARLY

    @property
    def common(self) -> bool:
        """Whether it is common on its likely input."""
        return self.counts.likely >= COMMON * self.counts.likely_draws

    @property
    def rank(self) -> tuple[float, float]:
        """A positive promise first, then the contrast."""
        return max(self.promise, 0.0), self.contrast


def best_of(candidates: Iterable[Candidate]) -> Candidate | None:
    """Return the candidate to certify; None if there are none.

    An event that could not refute the claim, whatever its counts, gives way to one that could: else a claim that
    is kept would stay undecided however many draws are made.  But if it refutes the claim at face value, the
    bound comes first.

    A rarer event wins against the best common one only when, with its counts taken to their bad side, it promises
    more than the common one at face value.  Where the log ratio is the same far out in a tail as in the middle, as
    for Laplace noise, one of the many tails always looks better by luck, and would need many more draws.
    """
    found = list(candidates)
    chosen = _best_of([candidate for candidate in found if not candidate.spare])
    able = _best_of([candidate for candidate in found if candidate.able])
    if chosen is None:
        return None
    if able is not None and not chosen.able:
        refutes = chosen.claim is not None and chosen.face_value > chosen.claim
        chosen = chosen if refutes else able
    rival = max(candidate.rival for candidate in found)
    same = chosen.rival == rival and not chosen.spare
    return chosen if same else replace(chosen, rival=rival, spare=False)


def _best_of(found: Sequence[Candidate]) -> Candidate | None:
    common = max((c for c in found if c.common), key=lambda candidate: candidate.rank, default=None)
    rarer = max((c for c in found if not c.common), key=lambda candidate: candidate.rank, default=None)
    if common is None or rarer is None:
        return common or rarer
    if common.promise > 0 and rarer.promise <= common.face_value:
        return common
    return max(common, rarer, key=lambda candidate: candidate.rank)


@dataclass(frozen=True)
class Prospect:
    """The certification to expect.

    Parameters
    ----------
    draws : int
        Per input.
    delta, significance : float
    competitors : int
        Scores that are judged on the same draws.
    claim : float or None
        The epsilon that the event should be able to refute; None where there is no claim.
    """

    draws: int
    delta: float
    significance: float
    competitors: int = 1
    claim: float | None = None

    @property
    def luck(self) -> float:
        """The standard errors by which a log ratio moves to its bad side."""
        return -float(ndtri(LUCK / max(self.competitors, FEWEST_COMPETITORS)))

    def able(self, unlikely: FloatArray, share: float = 1.0) -> BoolArray:
        """Return whether events so likely, where they are rarer, could refute a claim whose loss is 1.4 times it.

        Approximately, with power 0.9, at a share of the significance; the verdict itself requires 1.5 times the
        claim, exactly.
        """
        if self.claim is None:
            return np.ones(unlikely.shape, dtype=np.bool_)
        significance = share * self.significance
        if significance < SMALLEST_SIGNIFICANCE:
            return np.zeros(unlikely.shape, dtype=np.bool_)
        z, z_power = -float(ndtri(significance)), float(ndtri(POWER))
        q = np.maximum(unlikely, 1e-300)
        expected = q * self.draws
        largest = q + (z + z_power) * np.sqrt(q / self.draws)
        few = expected < FEW_EXPECTED
        # the largest share that the unlikely input may still have, when its count is as large as in one run of ten
        count = expected[few] + z_power * np.sqrt(expected[few]) + 0.5
        largest[few] = gammaincinv(count + 1, 1 - significance) / self.draws
        with np.errstate(over="ignore"):
            p = np.exp(self.claim) * largest + self.delta
            p += (z + z_power) * np.sqrt(np.minimum(p, 1.0) * np.maximum(1 - p, 0.0) / self.draws)
            able: BoolArray = (p < 1) & (np.log(np.maximum(p - self.delta, 1e-300) / q) <= ABLE * self.claim)
        return able

    def rates(self, unlikely: FloatArray, rows: int) -> FloatArray:
        """Return two shares for each count of so many choosing draws: that seen, and the most that it allows.

        The rarest events look rarer by luck.
        """
        return np.stack([unlikely + 0.5, unlikely + 1 + self.luck * np.sqrt(unlikely + 1)]) / rows

    def finds_able(self, rows: int) -> bool:
        """Return whether so many choosing draws can show an event that is able, if there are rare ones."""
        counts = np.append(0.0, np.geomspace(1, rows, COUNTS_TRIED))
        return bool(self.able(self.rates(counts, rows)).all(axis=0).any())


Made = TypeVar("Made")


def one_by_one(work: Callable[[int], Made], number: int) -> Iterator[Made]:
    """Yield `work(0)`, `work(1)` and so on."""
    return map(work, range(number))


def best_event(
    scores: Iterable[Score], left: FloatArray, right: FloatArray, prospect: Prospect, quantiser: Quantiser | None
) -> Candidate | None:
    """Return the half-line of a score that promises the largest bound, of those that :func:`candidates_of` gives.

    Where no event promises a positive bound, the event whose shares differ most in units of their standard
    error: this tests at least something common, not the luckiest tail.
    """
    return best_of(candidates_of(scores, Outputs.of(left, right), prospect, quantiser))


def candidates_of(
    scores: Iterable[Score],
    outputs: Outputs,
    prospect: Prospect,
    quantiser: Quantiser | None,
    *,
    each: Callable[[Callable[[int], FloatArray], int], Iterator[FloatArray]] = one_by_one,
) -> list[Candidate]:
    """Return the best half-lines of each score, common and rarer ones; of binary scores those of all together.

    Parameters
    ----------
    scores : iterable of Score
    outputs : Outputs
        Choosing draws, on the grid of `quantiser` where it is given.
    prospect : Prospect
    quantiser : Quantiser or None
        Of the returned events.
    each : callable
        Scores the outputs: `each(work, number)` yields `work(0)`, `work(1)`, ...
    """
    listed = list(scores)
    of_inputs = each(lambda place: outputs.of_input(listed[place // 2], place % 2), 2 * len(listed))
    found: list[Candidate] = []
    indicated: list[list[FloatArray]] = []
    for score, *sides in zip(listed, of_inputs, of_inputs, strict=True):
        if score.binary:
            indicated.append(sides)
            continue
        thresholds = _thresholds(*sides)
        for at_least in (True, False):
            counts = [_counts(side, thresholds, at_least) for side in sides]
            events = _Events([score], thresholds, at_least, quantiser)
            found += _candidates(events, counts, outputs.rows, prospect)
    # there may be many binary ones, of one event each: they are judged together
    binary = [score for score in listed if score.binary]
    for place, at_least in enumerate((True, False) if binary else ()):
        events = _Events(binary, np.array([1.0 if at_least else 0.0]), at_least, quantiser)
        found += _candidates(events, list(np.array(indicated)[:, :, place].T), outputs.rows, prospect)
    return found


def hopeful(
    scores: Sequence[Score],
    found: Iterable[Candidate],
    best: Candidate,
    beside: Sequence[Candidate] = (),
    most: int | None = None,
) -> list[Score]:
    """Return the scores that more draws may still choose, once some have been judged, and those `beside` the best.

    A common event of another score must come near the best, and a rarer one must have the hope that is a reason to
    make these draws (:attr:`Candidate.clear`).  Binary scores, which cost little, all stay.
    Of the others, the `most` hopeful ones if that is given.
    """
    if best.promise <= CLEARLY:
        return list(scores)
    enough = best.promise - CLEARLY
    near = [one for one in found if one.rival >= enough or (one.common and one.face_value >= enough)]
    near.sort(key=lambda one: -max(one.rival, one.face_value))
    kept = {*list(dict.fromkeys(id(one.event.score) for one in near))[:most]}
    kept |= {id(one.event.score) for one in (best, *beside)}
    return [score for score in scores if score.binary or id(score) in kept]


@dataclass(frozen=True, eq=False)
class _Events:
    """Half-lines of one score, or one half-line of each of several scores."""

    scores: Sequence[Score]
    thresholds: FloatArray
    at_least: bool
    quantiser: Quantiser | None

    def event(self, place: int, likely: str) -> Event:
        score = self.scores[place if len(self.scores) > 1 else 0]
        threshold = float(self.thresholds[place if len(self.thresholds) > 1 else 0])
        return Event(score, threshold, self.at_least, likely, self.quantiser)


def _candidates(events: _Events, counts: Sequence[FloatArray], rows: int, prospect: Prospect) -> list[Candidate]:
    """Return the best common event and the best rarer one, for each side as the likely one."""
    found: list[Candidate] = []
    # both sides at once: there are few thresholds, and many scores
    pairs = np.array([counts, counts[::-1]])
    likely, unlikely = pairs[:, 0], pairs[:, 1]
    lucks = np.array([prospect.luck, 0.0, HOPE])[:, np.newaxis, np.newaxis]
    told = promised(likely, unlikely, rows, prospect, luck=lucks).swapaxes(0, 1)
    rates = prospect.rates(unlikely, rows)
    can = [np.logical_and(*prospect.able(rates, share)) for share in (1.0, OF_STURDY)]
    sides = zip(("left", "right"), pairs, told, _contrasts(likely / rows, unlikely / rows), *can, strict=True)
    for likely_input, pair, (promises, face_values, hopes), contrasts, able, sturdy in sides:
        common = pair[0] >= COMMON * rows
        # lexicographic: a positive promise first, then the contrast
        rival = float(hopes[~common].max(initial=-np.inf))
        order = np.lexsort((contrasts, np.maximum(promises, 0.0)))
        tops = _last_of(order, common, ~common)
        spares = [] if able[tops].all() else _last_of(order, common & able, ~common & able)
        if not (common & sturdy)[tops].any():
            spares += _last_of(order, common & sturdy) or _last_of(order, sturdy)
        found += [
            Candidate(
                float(promises[best]),
                float(contrasts[best]),
                events.event(best, likely_input),
                Counts(int(pair[0][best]), rows, int(pair[1][best]), rows),
                float(face_values[best]),
                rival,
                able=bool(able[best]),
                claim=prospect.claim,
                spare=best not in tops,
                sturdy=bool(sturdy[best]),
            )
            for best in dict.fromkeys((*tops, *spares))
        ]
    return found


def _last_of(order: IntArray, *groups: BoolArray) -> list[int]:
    """Return the last place in this order of each group that is not empty."""
    return [int(order[group[order]][-1]) for group in groups if group.any()]


def method_for(candidate: Candidate, prospect: Prospect) -> Method:
    """Return the method with the larger bound if the certifying counts are as the choosing ones promise.

    It rests on choosing draws only, so it is fixed before the draws that certify, like the event.  Where the claim
    is not refuted at face value, it is a method that could refute it.
    """
    if prospect.delta > 0:
        return "joint"
    seen, draws, claim = candidate.counts, prospect.draws, prospect.claim
    rates = seen.likely / seen.likely_draws, *prospect.rates(np.array(seen.unlikely), seen.unlikely_draws)
    likely, *unlikely = (min(draws, round(rate * draws)) for rate in rates)
    counts, worse = (Counts(likely, draws, one, draws) for one in unlikely)
    method = better_method(counts, prospect.significance)
    if method == "joint" or claim is None or candidate.face_value > claim:
        return method
    # what the claim allows may be too common for the conditional bound, though what was seen is rare
    looks: tuple[tuple[Counts, Method], ...] = (counts, "joint"), (worse, method)
    smallest = (seen_by_event(claim, some, 0.0, prospect.significance, one) for some, one in looks)
    joint, conditional = (one is not None and one <= ABLE * claim for one in smallest)
    return "joint" if joint and not conditional else method


def promised(
    likely: FloatArray,
    unlikely: FloatArray,
    chosen_on: int,
    prospect: Prospect,
    *,
    luck: float | FloatArray | None = None,
) -> FloatArray:
    """Approximate the bounds that events will get; this chooses an event and certifies nothing.

    The counts are first moved to their bad side, so that none of thousands of events wins by luck
    alone: by `luck` standard errors of the log ratio (:attr:`Prospect.luck` unless told), each count by its share
    of the variance.
    Then the bound is the normal approximation of a test of the ratio; for rare events at delta = 0 it is the
    conditional bound's, by which they are certified, in its Poisson limit.
    """
    z = -float(ndtri(prospect.significance))
    luck = prospect.luck if luck is None else luck
    one_more = unlikely + 1
    parts = [np.sqrt(np.maximum(1 - c / chosen_on, 0) / np.maximum(c, 1)) for c in (likely, one_more)]
    both = np.maximum(np.hypot(*parts), 1e-300)
    p = _moved(likely, -luck * parts[0] * parts[0] / both) / chosen_on
    q = np.minimum(_moved(one_more, luck * parts[1] * parts[1] / both) / chosen_on, 1.0)
    hopeful = p > prospect.delta
    excess = np.where(hopeful, p - prospect.delta, 1.0)
    variance = p * (1 - p) / excess**2 + (1 - q) / q
    bounds: FloatArray = np.log(excess / q) - z * np.sqrt(variance / prospect.draws)
    rare = hopeful & (np.maximum(p, q) <= RARE)
    if prospect.delta == 0 and rare.any():
        # two Poisson counts: given their sum the likely one is binomial
        share = betaincinv(p[rare] * prospect.draws, q[rare] * prospect.draws + 1, prospect.significance)
        bounds[rare] = np.log(share / (1 - share))
    return np.where(hopeful, bounds, -np.inf)


def _moved(counts: FloatArray, relative: FloatArray) -> FloatArray:
    """Return quantiles of gamma variates of these shapes, this many relative deviations from the middle.

    By the cube of Wilson and Hilferty, accurate even for a few counts.
    """
    shape = np.maximum(counts, 1e-9)
    moved: FloatArray = shape * np.maximum(1 - 1 / (9 * shape) + relative / 3, 0.0) ** 3
    return moved


def _thresholds(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return finite thresholds from two sorted samples: evenly spread, and ever closer to each end."""
    places = np.linspace(0, len(left) - 1, EVEN_THRESHOLDS // 2 + 2).astype(int)[1:-1]
    even = np.concatenate([left[places], right[places]])
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
    """Return the difference of two shares in units of its standard error, up to a common factor."""
    pooled = (likely + unlikely) / 2
    spread = np.sqrt(pooled * (1 - pooled))
    return np.divide(likely - unlikely, spread, out=np.zeros_like(spread), where=spread > 0)
