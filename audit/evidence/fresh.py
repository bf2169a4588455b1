"""Fresh draws for a certificate: rebuilds its subject, draws again, and counts its event again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from scipy.special import betaincinv
from scipy.stats import binom

from audit.auditor.distinguish import LARGEST_DRAWS, SMALLEST_DRAWS
from audit.auditor.draws import FEWEST_SCREENED, LEARN, Draws
from audit.auditor.events import FAMILIES, Event, Quantiser, event_of
from audit.auditor.events.directions import is_hidden
from audit.auditor.events.mixed import Both, Coins
from audit.auditor.events.noise import OF_THEIR_SIZE, cancelled
from audit.auditor.events.places import in_places
from audit.auditor.events.protocol import filled
from audit.auditor.events.quantiser import (
    FINER_BITS,
    LOOKED_AT,
    QUANTISED_BITS,
    SMALL,
    smallest_step,
    step_with,
)
from audit.auditor.events.units import unit_of
from audit.auditor.selection import CHOOSE_SHARE, MOST_SELECTING, SCREEN_SHARE, SMALLEST_FIRST_LOOK
from audit.auditor.subject import SubjectError
from audit.bounds import METHODS_AT_ZERO, METHODS_OF_COUNTS, ClusterMethod, Counts, Method, epsilon_lower_bound
from audit.evidence.certificate import Certificate, CertificateError, StoredPoint
from audit.evidence.checks import Check, claimed_delta
from audit.evidence.copies import compare_with
from audit.evidence.estimation import Audit, carried_out
from audit.evidence.forks import copied
from audit.evidence.homogeneity import homogeneity
from audit.evidence.request import SMALLEST_SEARCHED_DRAWS
from audit.evidence.support import (
    CHANCE,
    Occurrences,
    bound_check,
    counted,
    fewest_draws,
    most_shown,
    quick_draws,
)
from audit.subjects.descriptions import (
    ImportDescription,
    PairDescription,
    core,
    rebuild_small,
    rebuilt_anew,
    require_small,
)
from audit.subjects.programs import ProgramSubject
from reference.common.arrays import FloatArray, IntArray
from reference.common.numbers import text_below

CHOICE_SIGNIFICANCE = 1e-3
"""Significance of the audit that repeats the choice of the event on new draws."""

FORGED = 1e-6
"""Stored counts that are less likely than this, given fresh ones, are not of this subject and event."""

VERY_SMALL = 0.01
"""An audit sets the smallest growing step below this quantile of the outputs only by rare luck."""

FINER = 16
"""The smallest growing step may be this much finer than that quantile requires, for luck."""

FAR_BELOW = 2.0**10
"""An audit's step is above this part of the reach of float noise where new draws show what rounding left."""

SURELY_REACHED = 0.9
"""One of a hundred numbers that made a grid is above this quantile of the fresh ones, but for rare luck."""

OF_CERTIFYING, OF_SCREENED, OF_SELECTED = 5, 10, 3
"""For so many rows that certify, a grid is made from one at least; that of outputs to be reduced likewise.

Or for so many of both inputs that do not certify, where a stage certified on more draws than planned.
"""

FEWEST_SELECTED = int(SMALLEST_DRAWS * CHOOSE_SHARE) // 2
"""Rows per input from which the smallest audit makes its grid."""

ENOUGH_FAR = 1_000
"""So many fresh outputs that differ from the usual one show how near to it an audit's come, but for luck."""

MOST_BATCHES = 64
"""Batches of fresh outputs, each as many as a grid was made from, that may show a unit."""


@dataclass(frozen=True)
class Seen:
    """How many outputs of both inputs an audit's grid was made from.

    Parameters
    ----------
    fewest, most : int
    """

    fewest: int
    most: int

    def surely(self, share: float) -> float:
        """Return the share that was surely there of what has this probability: all but :data:`FORGED`."""
        return float(binom.ppf(FORGED, self.fewest, share)) / self.fewest


@dataclass(frozen=True)
class FreshResult:
    """The verdict of new draws on the stored event.

    Parameters
    ----------
    counts : Counts
    epsilon_lower_bound : float
        At the certificate's significance and delta and by its method (joint for anytime), from these draws alone.
    refuted : bool
        Whether they refute the claim on their own.
    clearly : bool
        Whether they do at :data:`CHOICE_SIGNIFICANCE`, too.
    homogeneity : float
        The smaller p-value of the two comparisons of stored with fresh counts, times two.
    too_fine : tuple of int
        Coordinates seen by the event whose grid is too fine to hide float noise.
    curve_homogeneity : float or None
        Smallest p-value of stored with fresh counts over the points of a curve, times their number.
    growing : tuple of int
        Coordinates seen by the event whose steps grow, and are finer than the even ones of fresh outputs.
    most_shown : float or None
        Limit on the loss that the event shows, wrong with probability :data:`CHANCE`; None if there is none.
    overstated : tuple of float
        Deltas of a curve at which its bound is above such a limit; all limits hold together.
    """

    counts: Counts
    epsilon_lower_bound: float
    refuted: bool
    clearly: bool
    homogeneity: float
    too_fine: tuple[int, ...] = ()
    curve_homogeneity: float | None = None
    growing: tuple[int, ...] = ()
    most_shown: float | None = None
    overstated: tuple[float, ...] = ()


def fresh(certificate: Certificate, draws_per_input: int | None, rng: np.random.Generator) -> FreshResult:
    """Rebuild the subject and the event, draw, and count the event again.

    Without a number, there are enough draws to tell luck from the truth, and more if the subject is quick.

    Raises
    ------
    reference.common.errors.InputError
        When there is no such subject or event, or they do not fit each other.
    """
    # impossible sizes, such as a billion outputs in a call
    certificate.request.checked()
    subject = rebuild_small(certificate.subject)
    try:
        event = event_of(certificate.event, subject)
    except ValueError as problem:
        raise CertificateError(str(problem), place="event") from problem
    entropy = tuple(int(word) for word in rng.integers(0, 2**32, 4))
    # in chunks, and checked, as in an audit: outputs may be wide, or not arrays
    per_call = certificate.request.outputs_per_call
    source = Draws.of(subject, entropy, outputs_per_call=per_call)
    fewest = draws_per_input or fewest_draws(certificate)
    most = draws_per_input or max(fewest, quick_draws(certificate))
    calls = max(1, fewest // per_call), max(1, most // per_call)
    points = () if certificate.curve is None else certificate.curve.points

    def occurrences(left: FloatArray, right: FloatArray, coins: Coins) -> Occurrences:
        scores = event.scores_of_both(Both(left, right, coins, per_call))
        by_calls = [event.within(side).reshape(-1, per_call).sum(axis=1) for side in scores]
        return (
            np.array([_occurrences(event, points, side) for side in scores]).T,
            np.array([np.bincount(side, minlength=per_call + 1) for side in by_calls]),
        )

    try:
        (found, *of_curve), by_calls = counted(source, occurrences, *calls)
        certified = certificate.all_counts.likely_draws // per_call
        selected = certificate.draws // per_call - 2 * certified
        # other methods may be of one stage of several: it chose from a part of the draws before it
        at_once = certificate.method in METHODS_AT_ZERO
        new = source.chunk(LEARN, 0, source.chunk_rows)
        fine, grown = too_fine(event, *new, certified, selected, at_once=at_once), growing(event, *new)
    except (IndexError, ValueError) as problem:
        raise CertificateError(f"does not fit the subject's outputs: {problem}", place="event") from problem
    if isinstance(subject, ProgramSubject):
        subject.finish()
    drawn = int(by_calls[0].sum()) * per_call
    counts = _counts(found, event.likely_input, drawn)
    if per_call > 1:
        counts = Counts.of_calls(*(by_calls if event.likely_input == "left" else by_calls[::-1]))
    of_points = [_counts(one, point.likely_input, drawn) for point, one in zip(points, of_curve, strict=True)]
    agree = [homogeneity(point.counts, one) for point, one in zip(points, of_points, strict=True)]
    overstated = tuple(
        point.delta
        for point, one in zip(points, of_points, strict=True)
        if point.epsilon_lower_bound > most_shown(one, point.delta, CHANCE / len(points))
    )
    # fixed before these draws, like the event; an anytime run has none for a fixed size
    known = [method for method in METHODS_OF_COUNTS if method == certificate.method]
    method: Method | ClusterMethod = known[0] if known else "joint"
    delta, claim = float(claimed_delta(certificate)), certificate.claimed_epsilon
    levels = certificate.significance, min(certificate.significance, CHOICE_SIGNIFICANCE)
    bound, lower = (epsilon_lower_bound(counts, delta, level, method) for level in levels)
    limit = most_shown(counts, delta)
    same = homogeneity(certificate.counts.effective, counts.effective)
    whole_curve = min(1.0, len(agree) * min(agree)) if agree else None
    shown = None if math.isinf(limit) else limit
    return FreshResult(
        counts, bound, bound > claim, lower > claim, same, fine, whole_curve, grown, shown, overstated
    )


def fresh_choice(certificate: Certificate, draws: int, rng: np.random.Generator) -> Check:
    """Return whether a new audit, of all families of events, does not refute the claim either.

    A weak event, honestly counted, refutes nothing; a new choice shows what was passed over.  If a pair was
    searched, it is searched again.  The significance is low: a mechanism that just keeps its claim is refuted in
    at most one of a thousand runs.

    Parameters
    ----------
    certificate : Certificate
        One that refutes nothing.
    draws : int
        All phases, both inputs.
    rng : numpy.random.Generator
    """
    request, described = certificate.request, certificate.subject
    require_small(described)
    smallest = SMALLEST_SEARCHED_DRAWS if request.search else SMALLEST_DRAWS * request.outputs_per_call
    asked = msgspec.structs.replace(
        request,
        subject=described.subject if isinstance(described, PairDescription) else described,
        draws=min(max(draws, smallest), LARGEST_DRAWS),
        significance=CHOICE_SIGNIFICANCE,
        events=FAMILIES,
        bound="auto",
        until=None,
        max_seconds=None,
        curve=False,
        seed=int(rng.integers(2**32)),
    )
    audit = Audit.of(asked)
    audit.check()
    result = carried_out(audit)
    if isinstance(audit.subject, ProgramSubject):
        audit.subject.finish()
    found, verdict = result.estimate, result.verdict(certificate.judged)
    bound = result.certified(certificate.judged).epsilon_lower_bound
    holds = {"refuted": False, "not refuted": True, "undecided": None}[verdict]
    words = f"a new audit with {found.draws:,} draws: {verdict}, epsilon at least {text_below(bound, 6)}"
    return Check("choice", holds, words)


def elsewhere(certificate: Certificate, counts: Counts, entropy: int) -> list[Check]:
    """Check whether other processes contradict fresh counts, for the user's own refuted subject.

    Parameters
    ----------
    certificate : Certificate
    counts : Counts
        Of fresh draws.
    entropy : int
        Seeds the draws in other processes.
    """
    if certificate.verdict != "refuted" or not isinstance(core(certificate.subject), ImportDescription):
        return []
    subject = rebuild_small(certificate.subject)
    event = event_of(certificate.event, subject)
    with copied(lambda: rebuilt_anew(certificate.subject)) as copies:
        try:
            note = compare_with(copies, event, counts, entropy, lambda: subject)
        except SubjectError as problem:
            return [Check("other processes", False, str(problem))]
    said = "the event is as frequent there as here"
    return [Check("other processes", None if note else True, note or said)]


def _occurrences(event: Event, points: Sequence[StoredPoint], scores: FloatArray) -> list[int]:
    """Return how often the event and those of the curve occur."""
    return [int(event.within(scores).sum()), *(int(point.occurs(scores).sum()) for point in points)]


def _counts(found: IntArray, likely_input: str, draws: int) -> Counts:
    """Return the counts of an event that occurred this often on left and right."""
    left, right = (int(count) for count in found)
    return Counts.of(left, right, draws, likely_input)


def too_fine(
    event: Event, left: FloatArray, right: FloatArray, certified: int, selected: int, *, at_once: bool = False
) -> tuple[int, ...]:
    """Return the coordinates whose grid is too fine for an event of the ideal mechanism.

    An audit's grid is at least half of 2^-16 of the mean distance from the median, which new draws show to be at
    least so large among as many outputs as the grid was made from, and at least 2^-44 of the usual size.  Where
    numbers are what rounding left of others, it is far coarser.  Where its steps grow, the smallest is 2^-16 of
    the lowest tenth's upper end, here of the lowest hundredth's.

    Parameters
    ----------
    event : Event
    left, right : ndarray, shape (n, k)
        New draws.
    certified : int
        Rows of each input that certified: an audit's grid is made from a share of as many.
    selected : int
        Rows of both inputs that did not.
    at_once : bool
        Whether all rows are of one stage: the grid is then made from a share of them, also if few certified.
    """
    if event.quantiser is None:
        return ()
    viewed = [side if event.reduction is None else event.reduction(side) for side in (left, right)]
    grid = event.quantiser
    whole = certified + selected // 2 if at_once else 0
    shares = min(certified // OF_CERTIFYING, selected // OF_SELECTED), int(whole * CHOOSE_SHARE)
    rows = max(FEWEST_SELECTED, *shares)
    ours, others = map(filled, viewed)
    if is_hidden(event.score, ours, others, rows) or in_places(event.score, *viewed):
        # sums in which wide noise cancels, and places in its cells, have a finer one
        grid = Quantiser(grid.steps * 2.0**FINER_BITS)
    grids = [(grid, viewed, rows)]
    if event.reduction is not None:
        screened = max(FEWEST_SCREENED, certified // OF_SCREENED, int(whole * SCREEN_SHARE))
        grids.append((event.reduction.quantiser, [left, right], screened))
    found: set[int] = set()
    for quantiser, sides, rows in grids:
        outputs = np.concatenate(sides)
        fewest = 2 * max(1, min(rows, SMALLEST_FIRST_LOOK, MOST_SELECTING // outputs.shape[1]))
        seen = Seen(fewest, max(fewest, selected))
        left_over = cancelled(*sides)
        found.update(
            k
            for k, (step, values, reach) in enumerate(zip(quantiser.steps, outputs.T, left_over, strict=True))
            if _is_too_fine(float(step), values, seen)
            or (reach is not None and 0 < abs(step) < reach.alone / FAR_BELOW)
        )
    return tuple(sorted(found))


def growing(event: Event, left: FloatArray, right: FloatArray) -> tuple[int, ...]:
    """Return the coordinates whose steps grow, though those of new draws are even, and not all of them finer.

    A few far values may make an audit's steps grow that new draws lack.  So this decides nothing: but without such
    values steps that grow show numbers near 0 more finely than an audit would.

    Parameters
    ----------
    event : Event
    left, right : ndarray, shape (n, k)
        New draws.
    """
    if event.quantiser is None:
        return ()
    viewed = [side if event.reduction is None else event.reduction(side) for side in (left, right)]
    grids = [(event.quantiser, viewed)]
    if event.reduction is not None:
        grids.append((event.reduction.quantiser, [left, right]))
    found: set[int] = set()
    for quantiser, sides in grids:
        if (quantiser.steps < 0).any():
            even = Quantiser.of(*map(filled, sides)).steps
            found.update(np.flatnonzero((quantiser.steps < 0) & (-quantiser.steps < even)).tolist())
    return tuple(sorted(found))


def _is_too_fine(step: float, values: FloatArray, seen: Seen) -> bool:
    """Return whether a step is too fine for the values of a coordinate."""
    ordered = np.sort(values[np.isfinite(values)])
    if not len(ordered):
        return False
    if step < 0:
        return -step * FINER < smallest_step(ordered, VERY_SMALL) or -step < _smallest(ordered, len(values), seen)
    if step == 0:
        # all that were seen were one number
        return seen.surely(_share(int(np.count_nonzero(_far(ordered) / seen.most)), len(values))) > 0
    # an audit's grid is no finer than float noise of numbers of this size
    if step < OF_THEIR_SIZE * float(np.quantile(np.abs(ordered), SURELY_REACHED)):
        return True
    # half the distance: an audit rounds its step down to a power of two
    if step * 2.0**QUANTISED_BITS >= _spread(ordered, len(values), seen):
        return False
    # multiples of a unit have their own grid
    batches = min(MOST_BATCHES, max(1, len(values) // seen.fewest))
    parts = (some[np.isfinite(some)] for some in (values[first::batches] for first in range(batches)))
    return not any(step >= own for own in map(_step_of_unit, parts))


def _step_of_unit(values: FloatArray) -> float:
    """Return the finest step of a grid that keeps multiples of a unit apart; infinite if there is no unit."""
    unit = unit_of(values)
    if unit is None:
        return np.inf
    return unit.step if unit.of_all else step_with(unit, values) / FINER


def _spread(ordered: FloatArray, fresh: int, seen: Seen) -> float:
    """Return half of what the mean distance from the median surely was, at least, among the values seen.

    If a share of them is at or below one number, and as large a share at or above another, their mean distance
    from any point is at least the share times the distance of both.  If any is not the usual one, it is at least
    that one's distance, in parts.

    Parameters
    ----------
    ordered : ndarray
        Fresh values, sorted.
    fresh : int
        Of so many, with those that are not finite.
    seen : Seen
    """
    far = _far(ordered)
    far = far[far > 0]
    found = float(np.quantile(far, 1 / ENOUGH_FAR)) / seen.most if len(far) >= ENOUGH_FAR else 0.0
    place = len(ordered) // 4
    while place and (share := seen.surely(_share(place, fresh))):
        # half of each: finite numbers can have an infinite difference
        found = max(found, share * float(ordered[-place] / 2 - ordered[place - 1] / 2))
        place //= 2
    return found


def _smallest(ordered: FloatArray, fresh: int, seen: Seen) -> float:
    """Return what the smallest growing step surely was at least; 0 if so few values show nothing.

    An audit sets it by a value of known rank among those that it looked at.

    Parameters
    ----------
    ordered : ndarray
        Fresh values.
    fresh : int
        Of so many, with those that are not finite.
    seen : Seen
    """
    sizes = np.sort(np.abs(ordered[ordered != 0]))
    looked_at = Seen(min(seen.fewest, 2 * LOOKED_AT), seen.most)
    among = max(1, round(looked_at.fewest * looked_at.surely(_share(len(sizes), fresh))))
    rank = int(SMALL * (among - 1)) + 1
    place = int(binom.ppf(FORGED, len(sizes), betaincinv(rank, among - rank + 1, FORGED)))
    return smallest_step(sizes[place - 1 : place], 1.0) if place > 0 else 0.0


def _share(some: int, fresh: int) -> float:
    """Return a limit that the probability of an event is below with probability at most :data:`FORGED`.

    The event has `some` of the fresh draws.  It may be chosen as the values up to the draw of that rank, from
    either end: their probability then has a beta distribution, or is larger.
    """
    return float(betaincinv(some, fresh - some + 1, FORGED)) if some else 0.0


def _far(values: FloatArray) -> FloatArray:
    """Return half the distances from the median."""
    # the median of two large numbers is half of their sum, which may be infinite
    return np.abs(values / 2 - np.median(values / 2))


def fresh_checks(certificate: Certificate, result: FreshResult) -> list[Check]:
    """Return the checks of a certificate by fresh draws."""
    told = f"against fresh draws: p-value {result.homogeneity:.3g}"
    same = Check("stored counts", result.homogeneity >= FORGED, told)
    most = math.inf if result.most_shown is None else result.most_shown
    checks = [same, bound_check(certificate, result.counts, result.epsilon_lower_bound, most)]
    if result.curve_homogeneity is not None:
        detail = f"against fresh draws: p-value {result.curve_homogeneity:.3g}, over all points"
        if result.overstated:
            detail += f"; more than the event shows at delta {result.overstated[0]:g}"
        checks.append(Check("stored curve", result.curve_homogeneity >= FORGED and not result.overstated, detail))
    if certificate.judged == "ideal":
        detail = "outputs are rounded coarsely enough to hide float noise"
        if result.too_fine:
            detail = f"outputs are rounded too finely to hide float noise in coordinate {result.too_fine[0]}"
        coarse = False if result.too_fine else None if result.growing else True
        if coarse is None:
            detail = f"its steps grow in coordinate {result.growing[0]}: --replay tells whether they must"
        checks.append(Check("grid", coarse, f"{detail}, by the spread of fresh ones"))
    found = f"fresh draws alone: epsilon at least {text_below(result.epsilon_lower_bound, 6)}"
    if certificate.verdict == "refuted":
        return [*checks, Check("fresh verdict", True if result.refuted else None, found)]
    # a right certificate has such luck as often as its significance says
    holds = True if not result.refuted else False if result.clearly else None
    barely = f"; not at significance {CHOICE_SIGNIFICANCE:g}: more fresh draws decide" if holds is None else ""
    return [*checks, Check("fresh verdict", holds, found + barely)]
