"""The search: many pairs looked at with few draws, few with many.

The search decides which pair is audited and nothing else.  It has draws of its own; the pair it finds is audited
like any other, on fresh draws and at the full significance.  So it costs draws, never validity: the bound holds
for whatever pair was found, since that pair was fixed before the draws that certify it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from scipy.stats import rankdata

from audit.choose import Prospect, best_event
from audit.draws import Draws
from audit.events import FloatArray, Quantiser, proposals
from audit.neighbour_search.neighbourhoods import Listed, Neighbourhood, Pair
from audit.neighbour_search.releases import ReleaseOverDomain
from audit.releases import CoefficientRelease
from audit.subjects import Subject, SubjectError
from reference.errors import ReadingError

SEARCH_SHARE = 0.3
"""Share of an audit's draws that the search gets."""

FAMILIES = ("coordinates", "intervals", "additive", "categories", "rare")
"""Families of scores that a look tries: the quick ones."""

FIRST_SHARE = 0.5
"""Share of the search's draws for the proposals; the rest is for local search."""

FIRST_ROWS, LOCAL_ROWS = 128, 256
"""Outputs per input in the first look at a pair."""

SMALLEST_POOL, LARGEST_POOL = 4, 512
"""Pairs that compete at first."""

GENERATIONS = 4
"""Rounds of local search, each with half the reach of the one before."""

KEPT = 4
"""One pair in so many stays after each look."""

SEARCHED_KINDS = ("mechanism", "catalogue", "import")
"""Descriptions that a found pair may belong to."""

LEARN, CHOOSE = 1, 2
"""Phases, as the draws of a look are numbered."""


@dataclass(frozen=True, eq=False)
class AtPair:
    """A subject on a pair that was found: what the auditor gets.

    Parameters
    ----------
    subject : object
        Has `sample`, and perhaps `notes`, `own_entropy` and `most_rows`.
    pair : tuple
        Left and right.
    """

    subject: Any
    pair: Pair

    def __getattr__(self, name: str) -> Any:
        """Pass on what says how the subject draws; an exact likelihood ratio would be that of another pair."""
        if name in ("notes", "own_entropy", "most_rows"):
            return getattr(self.subject, name)
        raise AttributeError(name)

    def inputs(self) -> Pair:
        """Return the pair."""
        return self.pair

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return the subject's outputs."""
        outputs: FloatArray = self.subject.sample(data, count, rng)
        return outputs


@dataclass(frozen=True, eq=False)
class Found:
    """The pair that a search settled on.

    Parameters
    ----------
    pair : tuple
    promise : float
        About the bound that its last look promised: chosen as the best of many, it certifies nothing.
    origin : {'pattern', 'corner', 'random', 'local'}
        How the pair was proposed.
    tried : int
        Pairs looked at.
    draws : int
        All looks, both inputs.
    """

    pair: Pair
    promise: float
    origin: str
    tried: int
    draws: int


@dataclass(frozen=True, eq=False)
class _Entry:
    pair: Pair
    origin: str


def searchable(subject: Any) -> tuple[Any, Neighbourhood]:
    """Return a subject that samples on the inputs of a neighbourhood, and that neighbourhood.

    Our own mechanisms have their declared domain; another subject has an attribute `neighbourhood`, or a method
    `candidates` that returns the same pairs each time.

    Raises
    ------
    audit.subjects.SubjectError
        When it has none of these.
    """
    if isinstance(subject, CoefficientRelease):
        ours = ReleaseOverDomain(subject)
        return ours, ours.neighbourhood
    declared: Neighbourhood | None = getattr(subject, "neighbourhood", None)
    if declared is not None:
        return subject, declared
    if not callable(getattr(subject, "candidates", None)):
        raise SubjectError("nothing to search: the subject declares no neighbourhood and has no candidates()")
    listed = Listed(tuple((left, right) for left, right in subject.candidates()))
    if not listed.pairs:
        raise SubjectError("candidates() returned no pair")
    return subject, listed


def at_pair(document: dict[str, Any]) -> Subject:
    """Build a subject on a found pair: `subject` is the subject's description, `pair` the neighbourhood's.

    Raises
    ------
    reference.errors.ReadingError
        For a kind that is never searched; above all, a description wrapped in a pair runs no program.
    """
    from audit.subjects import rebuild

    kind = document["subject"].get("kind")
    if kind not in SEARCHED_KINDS:
        raise ReadingError("kind", kind, f"one of {', '.join(SEARCHED_KINDS)} in a pair")
    subject, neighbourhood = searchable(rebuild(document["subject"]))
    return AtPair(subject, neighbourhood.from_json(document["pair"]))


def search(
    subject: Any, neighbourhood: Neighbourhood, *, draws: int, prospect: Prospect, rng: np.random.Generator
) -> Found:
    """Return the pair whose best event promises the largest bound.

    Proposals are patterns, then corners and random pairs in turn.  They race: all are looked at with few draws,
    the better quarter with four times as many, and so on.  Then the winner races against pairs near it.

    Parameters
    ----------
    subject : object
        Its `sample` takes the inputs of the neighbourhood.
    neighbourhood : Neighbourhood
    draws : int
        Of all looks and both inputs; exceeded only where a look would get fewer than 64 outputs per input.
    prospect : Prospect
        What the certification will be like.
    rng : numpy.random.Generator
        Of the proposals and of all looks.

    Raises
    ------
    audit.subjects.SubjectError
        When a proposal is no pair of neighbours, or the subject fails on one.
    """
    race = _Race(subject, neighbourhood, prospect, rng)
    budget = draws * FIRST_SHARE
    size = min(LARGEST_POOL, max(SMALLEST_POOL, int(budget / (2 * FIRST_ROWS * _rounds(LARGEST_POOL)))))
    best, promise = race.run(list(islice(_proposals(neighbourhood, rng), size)), budget)
    budget = draws * (1 - FIRST_SHARE) / GENERATIONS
    brood = min(LARGEST_POOL, max(1, int(budget / (2 * LOCAL_ROWS * 2)) - 1))
    for generation in range(GENERATIONS):
        moves = [neighbourhood.moved(best.pair, 0.5 ** (generation + 1), rng) for _ in range(brood)]
        children = [_Entry(pair, "local") for pair in moves if pair is not None]
        if not children:
            break
        # the winner draws again: its last look was the luckiest of many
        best, promise = race.run([best, *children], budget)
    return Found(best.pair, promise, best.origin, race.tried, race.draws)


def _proposals(neighbourhood: Neighbourhood, rng: np.random.Generator) -> Iterator[_Entry]:
    yield from (_Entry(pair, "pattern") for pair in neighbourhood.patterns())
    corners = neighbourhood.corners(rng)
    while True:
        corner, anywhere = next(corners, None), neighbourhood.random(rng)
        if corner is not None:
            yield _Entry(corner, "corner")
        if anywhere is not None:
            yield _Entry(anywhere, "random")
        if corner is None and anywhere is None:
            return


def _rounds(size: int) -> int:
    """Return how many looks it takes until one of so many is left."""
    return max(1, math.ceil(math.log(size, KEPT) - 1e-9))


class _Race:
    """Looks at pairs and counts what they cost."""

    def __init__(
        self, subject: Any, neighbourhood: Neighbourhood, prospect: Prospect, rng: np.random.Generator
    ) -> None:
        self.subject = subject
        self.neighbourhood = neighbourhood
        self.prospect = prospect
        self.rng = rng
        self.tried = 0
        self.draws = 0

    def run(self, entries: list[_Entry], draws: float) -> tuple[_Entry, float]:
        """Return the winner and its promise; each round of looks costs about the same."""
        rounds = _rounds(len(entries))
        self.tried += len(entries)
        for _ in range(rounds):
            rows = max(FIRST_ROWS // 2, int(draws / (2 * rounds * len(entries))))
            ranked = sorted(
                ((self.look(entry.pair, rows), entry) for entry in entries), key=lambda seen: seen[0], reverse=True
            )
            entries = [entry for _, entry in ranked[: math.ceil(len(ranked) / KEPT)]]
        (promise, _), best = ranked[0]
        return best, promise

    def look(self, pair: Pair, rows: int) -> tuple[float, float]:
        """Return the promise of a pair's best event, and how far apart the outputs are, from so many per input.

        The second decides between pairs on which no single event promises anything yet.
        """
        if not self.neighbourhood.holds(pair):
            raise SubjectError(f"a proposed pair is no pair of neighbours: {pair!r}")
        entropy = tuple(int(word) for word in self.rng.integers(0, 2**32, 4))
        source = Draws.of(AtPair(self.subject, pair), entropy)
        learning, choosing = source.phase(LEARN, rows // 2), source.phase(CHOOSE, rows - rows // 2)
        self.draws += 2 * rows
        quantiser = Quantiser.of(*choosing)
        left, right = (quantiser(side) for side in learning)
        scores = list(proposals(FAMILIES, left, right, source.subject, pair))
        left, right = (quantiser(side) for side in choosing)
        found = best_event(scores, left, right, replace(self.prospect, competitors=len(scores)), quantiser)
        apart = distance(*(np.concatenate(sides) for sides in zip(learning, choosing, strict=True)))
        return 0.0 if found is None else max(found.promise, 0.0), apart


def distance(left: FloatArray, right: FloatArray) -> float:
    """Return how much the ranks of two samples differ in place and in spread, added up over the coordinates.

    Per coordinate the squares of the statistics of Wilcoxon (ranks) and of Mood (squared distances of ranks from
    the middle), each with variance 1 where the samples are alike.  Many small shifts add up, which no single
    coordinate shows.

    Parameters
    ----------
    left, right : ndarray, shape (n, k)
    """
    both = np.concatenate([left, right])
    ranks = rankdata(np.where(np.isnan(both), np.inf, both), axis=0)
    ranks = ranks / (len(both) + 1) - 0.5
    total = 0.0
    for values in (ranks, ranks**2):
        spread = values.std(axis=0)
        shift = values[: len(left)].mean(axis=0) - values[len(left) :].mean(axis=0)
        unit = spread * math.sqrt(1 / len(left) + 1 / len(right))
        total += float((np.divide(shift, unit, out=np.zeros_like(unit), where=unit > 0) ** 2).sum())
    return total
