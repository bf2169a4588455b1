"""Learning and choosing: from a subject's selection draws to the events that fresh draws certify."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np

from audit.auditor.choose import (
    CLEARLY,
    OF_CHOSEN,
    OF_STURDY,
    Candidate,
    Prospect,
    best_of,
    candidates_of,
    hopeful,
    method_for,
)
from audit.auditor.curve import CURVE_DELTAS, Cut, best_cut, between, levels_of
from audit.auditor.dependence import check_long_calls
from audit.auditor.draws import CHOOSE, CHOOSE_ON, LEARN, SCORED, Draws, joined
from audit.auditor.events import EXACT, IDEAL, Event, Quantiser, Score
from audit.auditor.events.columns import Columns
from audit.auditor.events.directions import learn_hidden
from audit.auditor.events.families import SLOW, Taught
from audit.auditor.events.mixed import Pair
from audit.auditor.events.places import learn_places
from audit.auditor.events.protocol import filled
from audit.auditor.events.reduction import KEPT, WIDEST
from audit.auditor.notes import (
    new_combinations,
    notes_on,
    passed_over,
    rare_codes,
    repeating_coordinates,
    rounded,
    unseen,
)
from audit.auditor.scored import NONE_SCORED, InOrder, Outputs, Scored, scored_by
from audit.auditor.subject import SubjectError
from audit.bounds import Method
from reference.common.arrays import FloatArray

LEARN_SHARE, CHOOSE_SHARE = 0.1, 0.2
"""Shares of the draws that learn scores and choose an event; the rest certifies."""

SCREEN_SHARE = 0.1
"""Share of the draws that chooses the coordinates of a very wide output."""

FIRST_LOOK, SMALLEST_FIRST_LOOK = 0.25, 25_000
"""Share of the choosing draws after which a clear choice ends the phase, and the fewest per input for it."""

ENOUGH_TO_LEARN, ENOUGH_TO_CHOOSE, MORE_SHARE = 2**17, 2**19, 1 / 128
"""Outputs per input of a selection phase: this many are enough, unless this share of the draws is more.

So learning and choosing cost little beside the draws, however many there are.  An event of probability 1e-4
that one input has alone occurs about fifty times among those that choose; among half as many, a common event often
promises more.
"""

MOST_ROWS, MOST_VALUES = 2**19, 2**21
"""Most outputs and numbers per input from which a stage learns and chooses."""

MOST_SELECTING = 2**20
"""Most numbers per input in a selection phase: it bounds the memory.

For 20 coordinates and 2,000,000 draws (16 seeds) these certified .579 of Laplace noise, twice as many to learn
from .572: no loss was seen, and other leaks were not tried.
"""

ONE_SCORE_ROWS = 2**16
"""Outputs per input to choose a threshold of the exact likelihood ratio on, when that is the only family."""

SCORED_SHARE, MOST_SCORED, MOST_SCORED_ROWS, ENOUGH_HELD = 0.1, 2**24, 2**19, 2**17
"""Share of the draws, numbers and outputs per input that choose at most, if fewer than the last are held.

Where these leave the choice unclear, others are scored as they are drawn.  Of 20,000,000 draws of 20 coordinates
of Laplace noise, 131,000 outputs that choose certify .613, and 524,000 certify .659 (medians of 4 and 8 seeds).
"""

MANY_DRAWS = 2_000_000
"""From so many draws on, some can be spared to choose on."""

FEW_SCORED = 2
"""Most scores of a kind, besides binary ones, that such draws judge: each takes memory."""


def most_rows(draws: int, width: int, enough: int) -> int:
    """Return the most outputs per input, of this many numbers, in a selection phase of these draws."""
    return min(max(enough, int(draws * MORE_SHARE) // 2), MOST_ROWS, max(1_000, MOST_SELECTING // width))


@dataclass(frozen=True)
class Phases:
    """The outputs per input of each phase."""

    learn: int
    choose: int
    certify: int
    screen: int = 0
    scored: int = 0
    """More of `certify` that may choose, if the others leave the choice unclear."""

    @classmethod
    def of(cls, draws: int, width: int, *, learning: bool) -> Phases:
        """Return the plan for this many draws on both inputs; only learned scores need `learning`.

        Outputs of more than :data:`audit.auditor.events.reduction.WIDEST` coordinates are screened
        first, for learning.
        """
        screen = int(draws * SCREEN_SHARE) // 2 if learning and width > WIDEST else 0
        held = KEPT if screen else width
        taught = most_rows(draws, held, ENOUGH_TO_LEARN)
        learn = min(int(draws * LEARN_SHARE) // 2, taught) if learning else 0
        most = most_rows(draws, held, ENOUGH_TO_CHOOSE) if learning else ONE_SCORE_ROWS
        choose = min(int(draws * CHOOSE_SHARE) // 2, most)
        many = learning and draws >= MANY_DRAWS and choose < ENOUGH_HELD
        scored = min(int(draws * SCORED_SHARE) // 2, MOST_SCORED // held, MOST_SCORED_ROWS) if many else 0
        return cls(learn, choose, draws // 2 - screen - learn - choose, screen, max(0, scored - choose))

    @property
    def selection(self) -> int:
        """Outputs per input that certify nothing."""
        return self.screen + self.learn + self.choose

    @property
    def first_look(self) -> int:
        """Choosing draws after which a clear choice ends the phase: all, if so few measure nothing well."""
        first = int(self.choose * FIRST_LOOK)
        return first if first >= SMALLEST_FIRST_LOOK else self.choose

    def chosen_on(self, rows: int) -> Phases:
        """Return the plan with this many outputs to choose on; the others certify."""
        return replace(self, choose=rows, certify=self.certify + self.choose - rows)

    @property
    def draws(self) -> int:
        """All phases, both inputs."""
        return 2 * (self.selection + self.certify)


@dataclass(frozen=True, eq=False)
class ToCertify:
    """An event, the method by which it promises more, and its share of the significance."""

    event: Event
    method: Method
    share: float = 1.0


@dataclass(frozen=True, eq=False)
class Selection:
    """The decisions of the selection draws.

    Parameters
    ----------
    ideal, implementation : tuple of ToCertify
        To be certified: the chosen event, alone or with a sturdy one beside it.  The shares add up to 1.
    levels : ndarray
        Thresholds of the ideal event's score, for the curve; none without one.
    cuts : tuple of Cut
        One per delta of the curve.
    notes : tuple of str
    rows : int
        Choosing draws per input that were used.
    unseen : float
        Share of the choosing draws with a value that the learning draws lacked and one input may have alone, where
        nearly all others repeat.
    """

    ideal: tuple[ToCertify, ...]
    implementation: tuple[ToCertify, ...]
    levels: FloatArray
    cuts: tuple[Cut, ...]
    notes: tuple[str, ...]
    rows: int
    unseen: float = 0.0

    @property
    def events(self) -> tuple[Event, ...]:
        """All events to be certified, each once; that of the ideal mechanism first."""
        return tuple({id(one.event): one.event for one in (*self.ideal, *self.implementation)}.values())


@dataclass(frozen=True)
class Further:
    """Draws per input that may still choose: so many are held, and so many scored as they are drawn."""

    held: int = 0
    scored: int = 0


def select(
    source: Draws, plan: Phases, families: Sequence[str], prospect: Prospect, *, with_curve: bool = False
) -> Selection:
    """Learn scores on one part of the draws and choose the events to certify on another.

    The choosing phase ends at its first look if the best ideal event is common and no rarer one may yet
    beat it: the draws saved can certify.  Rarer events, which need more draws to be judged, get them
    all.

    The implementation's event may be the ideal one: what quantised outputs lose, the outputs lose too.
    """
    learning = source.phase(LEARN, plan.learn) if plan.learn else None
    # no variable keeps the first choosing draws: they are joined with others, and then let go
    return select_from(
        learning,
        source.phase(CHOOSE, plan.first_look),
        source,
        families,
        prospect,
        Further(plan.choose - plan.first_look, plan.scored),
        with_curve=with_curve,
    )


def select_from(
    learning: Pair | None,
    choosing: Pair,
    source: Draws,
    families: Sequence[str],
    prospect: Prospect,
    further: Further,
    *,
    with_curve: bool = False,
) -> Selection:
    """Learn scores from some draws and choose the events on others; with a curve, choose its events too.

    Further draws to choose on are made if the first leave the choice unclear.

    Raises
    ------
    audit.auditor.deadline.OutOfTimeError
    """
    source.check_first(choosing)
    if learning is not None and source.outputs_per_call == 1:
        check_long_calls(learning, choosing)
    quantiser = Quantiser.of(*choosing)
    taught = choosing if learning is None else learning
    columns = Columns(*taught)
    on_grid = columns.rounded(quantiser)
    proposed = propose(source, taught, columns, families, quantiser, apart=learning is not None)
    if learning is not None:
        proposed += _finer(learning, quantiser, source, families)
    repeating = () if learning is None else repeating_coordinates(on_grid, learning[0].shape[1])
    # sorted columns take memory
    del taught, columns, on_grid
    ideal, implementation = _choice(proposed, found := [some.found(choosing, prospect) for some in proposed])
    # where nothing is promised, no score has been left out yet
    scored = further.scored if ideal[0].promise > CLEARLY and source.outputs_per_call == 1 else 0
    rows = len(choosing[0])
    if (further.held or scored) and not ideal[0].clear:
        if further.held:
            # an iterator does not keep the parts
            choosing = joined(chain((choosing,), source.chunks(CHOOSE_ON, further.held)))
        rows = len(choosing[0]) + scored
        most = FEW_SCORED if scored else None
        proposed = [
            some.still(these, *(implementation if some.exact else ideal), most=most)
            for some, these in zip(proposed, found, strict=True)
        ]
        if scored:
            proposed = _with_scored(proposed, source, scored)
        ideal, implementation = _choice(proposed, [some.found(choosing, prospect) for some in proposed])
    del proposed
    levels, cuts = _of_curve(ideal[0].event, choosing, prospect) if with_curve else (np.empty(0), ())
    of_ideal = _shared(ideal, prospect)
    of_implementation = of_ideal if implementation is ideal else _shared(implementation, prospect)
    share_unseen, notes = 0.0, [*notes_on(choosing)]
    if learning is not None:
        share_unseen, rare = unseen(learning, choosing, quantiser, repeating)
        notes += [*rare, *new_combinations(learning, choosing, quantiser)]
        notes += rare_codes(learning, choosing, repeating, source.reduction)
    notes += passed_over(choosing, quantiser, source.reduction)
    notes += getattr(source.subject, "notes", ())
    return Selection(of_ideal, of_implementation, levels, cuts, tuple(notes), rows, share_unseen)


@dataclass(frozen=True, eq=False)
class Proposed:
    """Scores to choose from, and the draws they were learned from.

    Parameters
    ----------
    fitted, given : list of Score
        Scores fitted to the learning draws, and others, which are judged on all selection draws.
    learning : tuple of ndarray, or None
        None if no draws were set apart for learning.
    quantiser : Quantiser or None
        Of all outputs that are judged.
    source : Draws
        Its workers judge the scores, until its deadline.
    competitors : (int, int)
        Fitted and given scores that there were at first.
    scored : Scored
        Their values on outputs that were not held.
    """

    fitted: list[Score]
    given: list[Score]
    learning: Pair | None
    quantiser: Quantiser | None
    source: Draws
    competitors: tuple[int, int] = (0, 0)
    scored: Scored = NONE_SCORED

    @classmethod
    def of(
        cls,
        scores: Sequence[Score],
        taught: Pair,
        drawn: Taught,
        source: Draws,
        quantiser: Quantiser | None,
        *,
        apart: bool,
    ) -> Proposed:
        """Return scores proposed from `drawn`, the draws `taught` on the grid, which may be set `apart` for it."""
        fitted = [score for score in scores if score.learned] if apart else []
        given = [score for score in scores if not score.learned]
        competitors = len(fitted), len(given)
        if apart and drawn.width == 1 and not drawn.not_finite:
            # its order plays no part, and it is sorted
            left, right = drawn.columns.sides(0)
            taught = left[:, np.newaxis], right[:, np.newaxis]
        return cls(fitted, given, taught if apart else None, quantiser, source, competitors)

    @property
    def exact(self) -> bool:
        """Whether every bit of an output counts."""
        return self.quantiser is None

    def found(self, choosing: Pair, prospect: Prospect) -> list[list[Candidate]]:
        """Return the candidates of the fitted scores, and those of the given ones, on these draws."""
        if not (self.fitted or self.given):
            return []
        # dozens of fitted intervals are no reason to doubt the few scores that were given
        few = [replace(prospect, competitors=max(1, number)) for number in self.competitors]
        each, grid = self.source.each, self.quantiser
        groups = zip((self.fitted, self.given), few, (None, self.learning), strict=True)
        told = partial(Outputs.of, *choosing, scored=self.scored, in_order=InOrder(grid))
        return [
            candidates_of(scores, told(held=held), one, grid, each=each) if scores else []
            for scores, one, held in groups
        ]

    def still(
        self, found: Sequence[Sequence[Candidate]], best: Candidate, *beside: Candidate, most: int | None = None
    ) -> Proposed:
        """Return the scores that more draws may still choose, and that of the event beside the best."""
        if not found:
            return self
        fitted, given = (
            hopeful(some, these, best, beside, most)
            for some, these in zip((self.fitted, self.given), found, strict=True)
        )
        return replace(self, fitted=fitted, given=given)


def propose(
    source: Draws, taught: Pair, columns: Columns, families: Sequence[str], quantiser: Quantiser, *, apart: bool
) -> list[Proposed]:
    """Return what the families of ideal events propose from the draws `taught`, and those of exact ones.

    Parameters
    ----------
    source : Draws
        Its workers learn, until its deadline.
    taught : tuple of ndarray
    columns : Columns
        Of these draws.
    families : sequence of str
    quantiser : Quantiser
        The grid of the ideal events.
    apart : bool
        Whether these draws were set apart for learning.
    """
    # an exact likelihood ratio needs whole outputs: a reduction has it as a coordinate
    subject = source.subject if source.reduction is None else None
    if apart:
        # all families ask for them
        columns.sort(source.each)
    kinds: list[tuple[tuple[str, ...], Taught, Quantiser | None]] = [
        (IDEAL, Taught.of(*rounded(taught, grid), columns.rounded(grid)), grid) for grid in quantiser.grids
    ]
    kinds.append((EXACT, Taught.of(*taught, columns), None))
    listed = [(family, place) for place, (kind, *_) in enumerate(kinds) for family in families if family in kind]
    # else a worker may be left with a slow one in the end
    listed.sort(key=lambda one: one[0] not in SLOW)

    def learnt(place: int) -> list[Score]:
        family, kind = listed[place]
        found = source.deadline.during(kinds[kind][1].proposals(family, subject, source.inputs))
        return [one for one in found if kinds[kind][2] in (None, quantiser.for_score(one))]

    learned = dict(zip(listed, source.each(learnt, len(listed)), strict=True))
    places = range(len(kinds))
    scores = [[one for family in families for one in learned.get((family, place), ())] for place in places]
    return [
        Proposed.of(these, taught, drawn, source, grid, apart=apart)
        for these, (_, drawn, grid) in zip(scores, kinds, strict=True)
    ]


def _finer(learning: Pair, quantiser: Quantiser, source: Draws, families: Sequence[str]) -> list[Proposed]:
    """Return sums and places that the grid hides, to be judged on a finer one; mostly there are none."""
    joint, found = quantiser.joint or quantiser, []
    if joint.finer is not None and "directions" in families and learning[0].shape[1] > 1:
        found.append((joint.finer, list(learn_hidden(*map(filled, learning)))))
    if quantiser.finer is not None and "categories" in families:
        found.append((quantiser.finer, list(learn_places(*learning, quantiser))))
    return [Proposed(some, [], learning, grid, source, (len(some), 0)) for grid, some in found if some]


def _with_scored(proposed: Sequence[Proposed], source: Draws, rows: int) -> list[Proposed]:
    """Return what is proposed with its scores of this many further draws, which are let go chunk by chunk."""
    listed = [(some.quantiser, [*some.fitted, *some.given]) for some in proposed]

    def score(left: FloatArray, right: FloatArray) -> tuple[int, list[list[list[FloatArray]]]]:
        found = []
        for grid, scores in listed:
            pair = rounded((left, right), grid) if scores else (left, right)
            found.append([scored_by(one, *pair) for one in scores])
        return len(left), found

    values = [[[np.zeros(2 if one.binary else rows) for _ in (0, 1)] for one in scores] for _, scores in listed]
    start = 0
    for size, chunk in source.deadline.during(source.map(SCORED, rows, score)):
        for place, (_, scores) in enumerate(listed):
            for one, sides, parts in zip(scores, values[place], chunk[place], strict=True):
                for side, part in zip(sides, parts, strict=True):
                    if one.binary:
                        np.add(side, part, out=side)
                    else:
                        side[start : start + size] = part
        start += size
    by_score = [
        {id(one): sides for one, sides in zip(scores, these, strict=True)}
        for (_, scores), these in zip(listed, values, strict=True)
    ]
    return [replace(some, scored=Scored(rows, these)) for some, these in zip(proposed, by_score, strict=True)]


def _choice(
    proposed: Sequence[Proposed], found: Sequence[Sequence[Sequence[Candidate]]]
) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """Return the best ideal event, and the best of it and the exact ones; each with a sturdy one beside it."""
    kinds = [
        [kind for some, these in zip(proposed, found, strict=True) if some.exact is exact for kind in these]
        for exact in (False, True)
    ]
    ideal, exact = (best_of(filter(None, map(best_of, some))) for some in kinds)
    if ideal is None:
        raise SubjectError("none of the families named has an event for these outputs; `coordinates` always has")
    of_ideal, of_bits = ([one for kind in some for one in kind] for some in kinds)
    with_ideal = _with_beside(ideal, of_ideal)
    implementation = ideal if exact is None else best_of((ideal, exact)) or ideal
    if implementation.event is ideal.event:
        return with_ideal, with_ideal
    return with_ideal, _with_beside(implementation, (*with_ideal, *of_bits))


def sturdy_beside(chosen: Candidate, candidates: Iterable[Candidate]) -> Candidate | None:
    """Return the sturdy event to certify beside the chosen one; None if there is none, or that one does alone.

    A rare event may have been chosen by luck; it then shows little, and the claim would stay undecided. So a
    common event that could refute the claim (or a rarer one, if no common one could) stands beside it.
    """
    sturdy = [candidate for candidate in candidates if candidate.sturdy]
    common = [candidate for candidate in sturdy if candidate.common]
    if chosen.claim is None or (chosen.sturdy and (chosen.common or not common)):
        return None
    return max(common or sturdy, key=lambda candidate: candidate.rank, default=None)


def _with_beside(chosen: Candidate, candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    beside = sturdy_beside(chosen, candidates)
    return (chosen,) if beside is None else (chosen, beside)


def _shared(chosen: Sequence[Candidate], prospect: Prospect) -> tuple[ToCertify, ...]:
    """Return the events with their shares of the significance, which are fixed beforehand."""
    shares = (1.0,) if len(chosen) == 1 else (OF_CHOSEN, OF_STURDY)
    return tuple(
        ToCertify(one.event, method_for(one, replace(prospect, significance=share * prospect.significance)), share)
        for one, share in zip(chosen, shares, strict=True)
    )


def _of_curve(event: Event, choosing: Pair, prospect: Prospect) -> tuple[FloatArray, tuple[Cut, ...]]:
    """Return the levels and events of the curve."""
    scores = [event.scores(side) for side in choosing]
    levels = levels_of(np.concatenate(scores))
    histogram = np.array([between(levels, side) for side in scores])
    deltas = sorted({*CURVE_DELTAS, prospect.delta})
    return levels, tuple(best_cut(histogram, replace(prospect, delta=delta)) for delta in deltas)
