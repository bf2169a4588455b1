"""The search: looks at many pairs with few draws, and at few with many.

The search chooses the pair to audit and nothing else.  It has its own draws; the pair that it finds is audited
like any other, on fresh draws and at the full significance.  So it costs draws, not validity: the bound holds
for any pair found, since that pair was fixed before the draws that certify it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed

from audit.auditor.choose import Prospect
from audit.auditor.deadline import Deadline, OutOfTimeError
from audit.auditor.distinguish import silent
from audit.auditor.draws import Draws
from audit.auditor.subject import SubjectError
from audit.subjects.search.looks import CoupledDraws, Look, coupled_move, look, repeats
from audit.subjects.search.neighbourhoods import Listed, Neighbourhood, Pair
from audit.subjects.search.subjects import AtPair

SEARCH_SHARE = 0.3
"""The search's share of an audit's draws, and of its time if that is limited."""

SIFT_SHARE, RACE_SHARE, CLIMB_SHARE = 0.1, 0.4, 0.1
"""Shares of the search's draws for sifting proposals, racing them and climbing; local races get the rest."""

LISTED_SIFT_SHARE = 0.5
"""Share of the search's draws for sifting listed pairs: the one that moves most may be the last of a long list."""

SIFT_ROWS, FEWEST_SIFT_ROWS = 16, 4
"""Outputs per input for a pair's coupled move; and the fewest, for a long list."""

FIRST_ROWS, LOCAL_ROWS = 128, 256
"""Outputs per input in the first look at a pair."""

SMALLEST_POOL, LARGEST_POOL, LARGEST_SIFT = 4, 512, 4096
"""Pairs in the first race, and pairs sifted for it."""

GENERATIONS = 4
"""Local races, each with half the reach of the one before."""

ALIKE = 0.75
"""Share of the largest promise from which on another counts as equal."""

KEPT = 4
"""One in this many pairs stays after each look."""


Seen = TypeVar("Seen")


@dataclass(frozen=True, eq=False)
class Found:
    """The result of a search.

    Parameters
    ----------
    pair : tuple
    promise : float
        Approximately the bound promised by its last look: as the best of many it certifies nothing.
    origin : {'pattern', 'corner', 'random', 'local'}
        How the pair was proposed.
    tried : int
        Pairs tried, including those judged by their coupled move alone.
    draws : int
        All looks, both inputs.
    stopped : {'interrupted', 'max_seconds'} or None
        Why the search ended early, with the best pair so far.
    untried : int
        Listed pairs not looked at, for lack of draws or time.
    sifted : int
        Tried pairs of which only the move of the outputs was seen.
    """

    pair: Pair
    promise: float
    origin: str
    tried: int
    draws: int
    stopped: str | None = None
    untried: int = 0
    sifted: int = 0


@dataclass(frozen=True, eq=False)
class _Entry:
    pair: Pair
    origin: str


@dataclass(frozen=True)
class Effort:
    """The most that a search may cost.

    Parameters
    ----------
    draws : int
        Of all looks and both inputs; exceeded only if a look would get fewer than 64 outputs per input.
    workers : int
        Cores; the result does not depend on it.
    max_seconds : float, optional
        After this time the best pair so far is returned.
    """

    draws: int
    workers: int = 1
    max_seconds: float | None = None


def search(
    subject: object,
    neighbourhood: Neighbourhood,
    effort: Effort,
    prospect: Prospect,
    rng: np.random.Generator,
    progress: Callable[[int], None] = silent,
) -> Found:
    """Return the pair whose best event promises the largest bound.

    Proposals are patterns, then corners and random pairs in turn.  Many are sifted by how far their outputs move
    under the same random numbers.  The first of them and those that move most race: each gets a look with few
    draws, the better quarter with four times as many, and so on.  Then the pair that moves most climbs by small
    steps, and the winner races against pairs near both.

    Parameters
    ----------
    subject : object
        Its `sample` takes the inputs of the neighbourhood.
    neighbourhood : Neighbourhood
    effort : Effort
    prospect : Prospect
        What the certification will be like.
    rng : numpy.random.Generator
        Of the proposals and of all looks.
    progress : callable
        Told the number of draws made, as they are made.

    Raises
    ------
    audit.auditor.subject.SubjectError
        When a proposal is not a pair of neighbours, or the subject fails on one.
    KeyboardInterrupt
        When it comes before the first look is complete; later, the best pair so far is returned.
    """
    state = _Search(subject, neighbourhood, effort, prospect, rng, progress)
    stopped = None
    try:
        state.run(effort.draws)
    except OutOfTimeError:
        if not state.tried:
            raise
        stopped = "max_seconds"
    except KeyboardInterrupt:
        if not state.tried:
            raise
        stopped = "interrupted"
    if not state.tried:
        raise SubjectError("nothing to search: no pair was proposed")
    entry, promise = state.best()
    untried = len(neighbourhood.pairs) - state.looked_at if isinstance(neighbourhood, Listed) else 0
    sifted = state.tried - state.looked_at
    return Found(entry.pair, promise, entry.origin, state.tried, state.draws, stopped, untried, sifted)


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
    """Return how many looks it takes until one of this many is left."""
    return max(1, math.ceil(math.log(size, KEPT) - 1e-9))


class _Search:
    """Looks at pairs, counts their cost, and knows the best pair so far.

    Parameters
    ----------
    subject, neighbourhood, effort, prospect, rng, progress
        As for :func:`search`.
    """

    def __init__(
        self,
        subject: object,
        neighbourhood: Neighbourhood,
        effort: Effort,
        prospect: Prospect,
        rng: np.random.Generator,
        progress: Callable[[int], None],
    ) -> None:
        self.subject = subject
        self.neighbourhood = neighbourhood
        self.prospect = prospect
        self.rng = rng
        self.workers = effort.workers
        self.deadline = Deadline.after(effort.max_seconds)
        # the time is checked between calls, so these are small
        self.limited: dict[str, Any] = {"looks": effort.max_seconds is not None, "deadline": self.deadline}
        self.progress = progress
        self.draws = 0
        self._width = -1
        self._coupled = False
        self._coupling: tuple[int, ...] = ()
        # how far each pair's outputs move, and the last complete round of looks
        self._moves: dict[_Entry, float] = {}
        self._seen: dict[_Entry, Look] = {}
        self._rows = 1
        self._tried: set[_Entry] = set()
        self._looked_at: set[_Entry] = set()

    @property
    def tried(self) -> int:
        """The number of pairs looked at, by draws or by their move."""
        return len(self._tried)

    @property
    def looked_at(self) -> int:
        """The number of pairs looked at by draws."""
        return len(self._looked_at)

    def best(self) -> tuple[_Entry, float]:
        """Return the best pair so far, and its promise.

        Among about equal promises it is the pair that moves most: a promise is from few draws, and the
        largest of several is the luckiest.
        """
        if not self._seen:
            # stopped before the first look
            return max(self._moves, key=self._moves.__getitem__), 0.0
        ranked = sorted(self._seen, key=self._seen.__getitem__, reverse=True)
        if self._coupled:
            # two standard errors of a log ratio of common events, roughly
            enough = ALIKE * self._seen[ranked[0]].promise - 2 / math.sqrt(self._rows)
            alike = [entry for entry in ranked if self._seen[entry].promise >= enough]
            ranked.insert(0, max(alike, key=lambda entry: self._moves.get(entry, 0.0)))
        return ranked[0], self._seen[ranked[0]].promise

    def run(self, draws: int) -> None:
        """Search with this many draws; :meth:`best` is then the result."""
        proposals = _proposals(self.neighbourhood, self.rng)
        first = next(proposals, None)
        if first is None:
            return
        self._introduce(first)
        if isinstance(self.neighbourhood, Listed):
            # all of them, with all draws: listed pairs have no neighbourhood to race against later
            listed = [first, *proposals]
            sift = draws * LISTED_SIFT_SHARE / 2
            rows = max(FEWEST_SIFT_ROWS, min(SIFT_ROWS, int(sift / len(listed))))
            self._measure(listed[: max(1, int(sift / rows))], rows)
            left = draws - self.draws
            most = max(1, left // (FIRST_ROWS * _rounds(len(listed))))
            self._race(self._foremost(listed, most), left)
            return
        budget = draws * (RACE_SHARE if self._coupled else RACE_SHARE + SIFT_SHARE)
        size = min(LARGEST_POOL, max(SMALLEST_POOL, int(budget / (2 * FIRST_ROWS * _rounds(LARGEST_POOL)))))
        sifted = min(LARGEST_SIFT, int(draws * SIFT_SHARE / (2 * SIFT_ROWS))) if self._coupled else 0
        pool = [first, *islice(proposals, max(size, sifted) - 1)]
        winner = self._race(self._pool(pool, size), budget)
        climber = self._climb(int(draws * CLIMB_SHARE / (2 * SIFT_ROWS))) if self._coupled else None
        budget = max(0.0, draws - self.draws) / GENERATIONS
        brood = min(LARGEST_POOL, max(1, int(budget / (2 * LOCAL_ROWS * 2)) - 1))
        if self._coupled:
            budget -= 2 * SIFT_ROWS * brood
        for generation in range(GENERATIONS):
            # the winner draws again: its last look was the luckiest of many
            parents = [winner] if climber in (None, winner) else [winner, climber]
            reach = 0.5 ** (generation + 1)
            moves = (self._moved(parents[place % len(parents)], reach) for place in range(brood))
            children = [child for child in moves if child is not None]
            if not children:
                return
            self._measure(children)
            winner = self._race([*parents, *children], budget)

    def _introduce(self, entry: _Entry) -> None:
        """Learn the form of outputs from the first pair, and whether the same random numbers repeat them."""
        # the draws checked here are not used, and not counted
        self._width = Draws.of(AtPair(self.subject, entry.pair), self._entropy(), **self.limited).width
        self._coupling = self._entropy()
        left = entry.pair[0]
        same = CoupledDraws(AtPair(self.subject, entry.pair), (left, left), self._width, self._coupling)
        self._coupled = not getattr(self.subject, "own_entropy", False) and repeats(same, SIFT_ROWS)

    def _entropy(self) -> tuple[int, ...]:
        return tuple(int(word) for word in self.rng.integers(0, 2**32, 4))

    def _pool(self, entries: Sequence[_Entry], size: int) -> list[_Entry]:
        """Return this many entries: half of them the first, half those that move most."""
        self._measure(entries)
        if len(entries) <= size:
            return list(entries)
        kept = list(entries[: size // 2])
        others = sorted(entries[size // 2 :], key=self._moves.__getitem__, reverse=True)
        return kept + others[: size - len(kept)]

    def _foremost(self, listed: list[_Entry], most: int) -> list[_Entry]:
        """Return this many listed pairs: those that move most, else the first."""
        if len(listed) <= most:
            return listed
        return sorted(listed, key=lambda entry: self._moves.get(entry, 0.0), reverse=True)[:most]

    def _climb(self, steps: int) -> _Entry:
        """Return the pair that moves most after this many tries, of ever smaller reach, to move it farther."""
        best = max(self._moves, key=self._moves.__getitem__)
        for step in range(steps):
            child = self._moved(best, 0.5 ** (1 + GENERATIONS * step / steps))
            if child is None:
                break
            self._measure([child])
            if self._moves[child] > self._moves[best]:
                best = child
        return best

    def _moved(self, entry: _Entry, reach: float) -> _Entry | None:
        pair = self.neighbourhood.moved(entry.pair, reach, self.rng)
        return None if pair is None else _Entry(pair, "local")

    def _measure(self, entries: Sequence[_Entry], rows: int = SIFT_ROWS) -> None:
        """Measure how far the outputs of pairs move under the same random numbers."""
        if not self._coupled:
            return
        pure = self.prospect.delta == 0

        def work(entry: _Entry, _entropy: tuple[int, ...]) -> float:
            # the same random numbers for all pairs, too, to compare their moves
            source = CoupledDraws(AtPair(self.subject, entry.pair), entry.pair, self._width, self._coupling)
            return coupled_move(source, rows, pure=pure)

        self._moves.update(self._each(entries, rows, work))

    def _race(self, entries: list[_Entry], draws: float) -> _Entry:
        """Return the winner; each round of looks costs about the same."""
        rounds = _rounds(len(entries))
        for _ in range(rounds):
            rows = max(FIRST_ROWS // 2, int(draws / (2 * rounds * len(entries))))
            self._look_at(entries, rows)
            entries = self._survivors()
        return self.best()[0]

    def _look_at(self, entries: list[_Entry], rows: int) -> None:
        """Look at all pairs with this many outputs per input."""

        def work(entry: _Entry, entropy: tuple[int, ...]) -> Look:
            source = Draws(AtPair(self.subject, entry.pair), entry.pair, self._width, entropy, **self.limited)
            return look(source, rows, self.prospect)

        # the very first looks count as they come; later rounds, on more draws, once complete
        seen: dict[_Entry, Look] = {}
        if not self._seen:
            self._seen, self._rows = seen, rows
        for entry, found in self._each(entries, rows, work):
            seen[entry] = found
            self._looked_at.add(entry)
        self._seen, self._rows = seen, rows

    def _survivors(self) -> list[_Entry]:
        """Return the better quarter of the last round: those of the best looks and those that move most, in turn.

        The largest move is known almost exactly if noise is added, and says nothing about other leaks; a
        look sees those, too, but errs.
        """
        ranked = sorted(self._seen, key=self._seen.__getitem__, reverse=True)
        number = math.ceil(len(ranked) / KEPT)
        if not self._coupled:
            return ranked[:number]
        moving = sorted(self._seen, key=lambda entry: self._moves.get(entry, 0.0), reverse=True)
        turns = dict.fromkeys(entry for both in zip(ranked, moving, strict=True) for entry in both)
        return list(turns)[:number]

    def _each(
        self, entries: Sequence[_Entry], rows: int, work: Callable[[_Entry, tuple[int, ...]], Seen]
    ) -> Iterator[tuple[_Entry, Seen]]:
        """Yield `work` on each pair with its own draws, as many at a time as there are workers.

        Raises
        ------
        audit.auditor.deadline.OutOfTimeError
            When the time is over and there is a result.
        """
        for entry in entries:
            if not self.neighbourhood.holds(entry.pair):
                raise SubjectError(f"a proposed pair is not a pair of neighbours: {entry.pair!r}")
        # seeded beforehand, in order: the result depends neither on workers nor on their order
        jobs = [(entry, self._entropy()) for entry in entries]
        with Parallel(n_jobs=self.workers, backend="threading") as pool:
            for start in range(0, len(jobs), self.workers):
                batch = jobs[start : start + self.workers]
                if self.workers == 1:
                    results = [work(*job) for job in batch]
                else:
                    results = list(pool(delayed(work)(*job) for job in batch))
                self.draws += 2 * rows * len(batch)
                self.progress(2 * rows * len(batch))
                for (entry, _), result in zip(batch, results, strict=True):
                    self._tried.add(entry)
                    yield entry, result
                self.deadline.check()
