"""Whether the first outputs of a fresh object have the law of later ones, before any draw certifies.

Each release may come from a fresh object, so its first outputs are what matters, and an event is learned from
later ones.  A subject without noise in its first call, with a warm-up, a budget that counts calls, or noise that
grows would keep its claim in an audit and break it in use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Protocol

import numpy as np

from audit.auditor.deadline import Deadline
from audit.auditor.differences import (
    FEW,
    LargestDifference,
    compared,
    difference,
    later_half,
    share_noise,
    vary_by_row,
)
from audit.auditor.pristine import NoCopy, Pristine
from audit.auditor.subject import FAILURES, SubjectError
from audit.common.keys import key_of
from reference.common.arrays import FloatArray

CHANCE = 1e-9
"""Chance that first outputs of one law with later ones are called different, each time an event is chosen."""

COPIES, ROWS_PER_COPY = (16, 64, 256), 64
"""Fresh copies for each input, in steps; and later outputs that there must be for each copy."""

SECOND_CALL = 4
"""Outputs of a copy's second call; the first call has one."""

MOST_LATER, MOST_VALUES = 2**15, 2**19
"""Most later outputs on an input, and numbers in them."""

SIDES = ("left", "right")

LONGEST_FIRST, LONGEST = 2.0, 0.5
"""Seconds for the first step, and expected ones up to which a further step is made."""

SHARE_OF_TIME = 0.05
"""Of a limited time, at most, apart from a call that has begun."""

DOUBTED_COPIES, DOUBTED_CALLS, DOUBTED_ROWS, LATE = 64, 36, 8, 32
"""Fewest copies made again in doubt; their calls, and outputs of each, after one of one output; and the last
outputs, which are taken for later ones."""

FEWEST_PROCESSES = 12
"""Processes that drew first on one input, of which at least so many are compared."""

_SEEN_HERE = "only in the first calls here was it seen whether first outputs differ from later ones"

NOT_COPIED = "no fresh copies of the subject were compared"
"""Begins the note for when each release may come from a fresh object, and no copy shows its first outputs."""

NO_TIME = f"there was no time to make fresh copies of the subject and compare them: {_SEEN_HERE}"
"""A note for when there are copies, but too slow ones."""

COPIES_SHARE = f"fresh copies of the subject share noise, which it keeps: {_SEEN_HERE}"
"""A note for when copies say nothing of each other."""

COPIES_DIFFER = f"fresh copies of the subject draw from another law than it does: {_SEEN_HERE}"
"""A note for when they say nothing of the subject, as where it tells objects by their identity."""

COPIES_KEEP = (
    "each fresh copy of the subject keeps noise of its own: the first outputs of copies were compared with later "
    "ones of these copies alone"
)
"""A note for when copies have no common law."""


class _Unusable(Exception):  # noqa: N818
    """Copies say nothing.

    Parameters
    ----------
    note : str
        It tells why.
    """

    def __init__(self, note: str) -> None:
        super().__init__(note)
        self.note = note


FIRST_STREAM, DOUBT_STREAM = 2**20, 2**21
"""Numbers of the probe's phase from which on copies draw, and draw in doubt."""


class Drawing(Protocol):
    """The draws of an audit, as far as this check needs them."""

    @property
    def inputs(self) -> tuple[Any, Any]:
        """Left and right."""

    @property
    def outputs_per_call(self) -> int:
        """With more than one, only calls of so many need be independent."""

    @property
    def deadline(self) -> Deadline:
        """When the time is over."""

    @property
    def chunk_rows(self) -> int:
        """Outputs that may be asked for at a time."""

    def generator(self, phase: int, chunk: int, side: int) -> np.random.Generator:
        """Return the generator of one chunk."""

    def as_drawn(self, outputs: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Return outputs of all coordinates: these, or others where these are reduced."""


FIRST_OF_COPIES = "the first outputs of a fresh copy"
SECOND_OF_COPIES = "the outputs of a fresh copy's second call"


@dataclass(eq=False)
class FirstOutputs:
    """What is known of first outputs.

    Parameters
    ----------
    pristine : Pristine or NoCopy
    here : sequence of two lists of ndarray
        The outputs of the first calls of the subject itself, on each input.
    before : sequence
        What told the inputs apart before the first draw (:func:`audit.common.keys.key_of`).
    opening : float
        Seconds that the very first calls took, one on each input.
    note : str or None
        Why copies say less than they might.
    """

    pristine: Pristine | NoCopy
    here: Sequence[Sequence[FloatArray]]
    before: Sequence[Any]
    opening: float = 0.0
    note: str | None = None
    _drawn: tuple[list[FloatArray], list[FloatArray]] = field(default_factory=lambda: ([], []))
    _seconds: float = 0.0
    _ended: bool = False

    def __post_init__(self) -> None:
        """Keep the coordinates that are compared."""
        self.width = self.here[0][0].shape[1]
        self.columns = compared(self.width)
        self.here = [[outputs[:, self.columns] for outputs in side] for side in self.here]
        if isinstance(self.pristine, NoCopy):
            self._end(_not_copied(self.pristine.reason))

    @property
    def notes(self) -> list[str]:
        """Why less is known than might be."""
        notes = [] if self.note is None else [self.note]
        if self.width > len(self.columns):
            notes.append(f"first outputs were compared in {len(self.columns):,} of {self.width:,} coordinates")
        return notes

    def __reduce__(self) -> tuple[Any, ...]:
        """Return nothing: machines that draw do not compare."""
        return (type(None), ())

    def check(self, source: Drawing, choosing: tuple[FloatArray, FloatArray]) -> None:
        """Refuse a subject whose first outputs differ from later ones.

        Independent outputs of one law are refused with probability below 1e-9, whatever the law, if copies are
        independent of each other.  Where copies seem to share noise, or have another law than the subject, nothing
        is concluded from them.

        Nearly always (38 of 40 or more) 16 copies show that first outputs have no Laplace noise, 64 that they have
        a fifth of it, and 256 half, or coins of 5 % for 27 %.  A second call has four times as many outputs.
        Where many coordinates share the chance, less is seen.

        Parameters
        ----------
        source : Drawing
        choosing : pair of ndarray
            Later outputs of the subject itself.

        Raises
        ------
        audit.auditor.subject.SubjectError
        """
        rows = min(MOST_LATER, MOST_VALUES // len(self.columns))
        later = [np.sort(side[-rows:, self.columns], axis=0) for side in source.as_drawn(choosing)]
        self._draw(source, len(choosing[0]) // ROWS_PER_COPY)
        here = self._calls_here() if source.outputs_per_call == 1 else []
        looks = here + self._calls_of_copies()
        for (place, (words, pair)), side in product(enumerate(looks), (0, 1)):
            found = difference(pair[side], later[side])
            if found.log_p + math.log(2 * len(looks)) >= math.log(CHANCE):
                continue
            if place >= len(here) and (doubt := self._doubt(source, later, side, found.coordinate)):
                self._drawn = ([], [])
                self._end(doubt)
                return
            raise self._refusal(source, words, side, found)

    def _end(self, note: str | None = None) -> None:
        """Make no further copies."""
        self._ended, self.note = True, note

    def _refusal(self, source: Drawing, words: str, side: int, found: LargestDifference) -> SubjectError:
        if [key_of(given) for given in source.inputs] != list(self.before):
            # whose draws look like other faults
            return SubjectError("sample() changes its input: what one call draws must not depend on another")
        found = replace(found, coordinate=int(self.columns[found.coordinate]))
        return SubjectError(
            f"{words} differ from later ones: on {SIDES[side]} {found}; each release may come from a fresh "
            "object, so all outputs must have one law"
        )

    def _calls_here(self) -> list[tuple[str, list[FloatArray]]]:
        return [
            ("the outputs of the first call", [side[0] for side in self.here]),
            ("the first outputs of calls", [np.array([call[0] for call in side]) for side in self.here]),
            ("the outputs of the first calls", [np.concatenate(side) for side in self.here]),
        ]

    def _calls_of_copies(self) -> list[tuple[str, list[FloatArray]]]:
        if not self._drawn[0]:
            return []
        drawn = [np.array(side) for side in self._drawn]
        return [
            (FIRST_OF_COPIES, [side[:, 0] for side in drawn]),
            (SECOND_OF_COPIES, [np.concatenate(side[:, 1:]) for side in drawn]),
        ]

    def _draw(self, source: Drawing, most: int) -> None:
        """Draw from fresh copies, in steps, while they take little time."""
        for step in COPIES:
            made = len(self._drawn[0])
            if self._ended or (made and step > most):
                return
            left = SHARE_OF_TIME * source.deadline.left - self._seconds
            longest = min(LONGEST if made else LONGEST_FIRST, left)
            # a copy makes first calls, too; without a limit one of them is tried, however slow
            expected = self._seconds / made * (step - made) if made else min(self.opening, LONGEST_FIRST)
            if expected > longest:
                self._end(None if made else NO_TIME)
                return
            start = source.deadline.now()
            try:
                found = [
                    [
                        self._outputs(source, FIRST_STREAM + number, side, (1, SECOND_CALL), start + longest)
                        for side in (0, 1)
                    ]
                    for number in range(made, step)
                ]
            except _Unusable as problem:
                # of those that were made before, the outputs are compared
                self._end(None if made else problem.note)
                return
            for side, drawn in enumerate(self._drawn):
                drawn.extend(pair[side] for pair in found)
            self._seconds += source.deadline.now() - start

    def _outputs(
        self, source: Drawing, stream: int, side: int, sizes: Sequence[int], until: float = math.inf
    ) -> FloatArray:
        """Return the outputs of a fresh copy's calls, of these sizes; of calls taken whole, the first ones.

        Raises
        ------
        _Unusable
            When it fails, or the time is over.
        """
        if isinstance(self.pristine, NoCopy):
            raise _Unusable(_not_copied(self.pristine.reason))
        rng, found, fresh = source.generator(0, stream, side), list[FloatArray](), None
        for size in sizes:
            if source.deadline.passed or source.deadline.now() > until:
                raise _Unusable(NO_TIME)
            rows = size if source.outputs_per_call == 1 else source.outputs_per_call
            try:
                fresh = self.pristine.copy(rng) if fresh is None else fresh
                outputs = np.asarray(fresh.sample(source.inputs[side], rows, rng), dtype=np.float64)[
                    :, self.columns
                ]
            except FAILURES as problem:
                raise _Unusable(_not_copied(f"copies raise {type(problem).__name__}")) from problem
            if len(outputs) != rows:
                raise _Unusable(_not_copied("copies return another number of outputs"))
            found.append(outputs if source.outputs_per_call == 1 else outputs[:1])
        return np.concatenate(found)

    def _doubt(self, source: Drawing, later: Sequence[FloatArray], side: int, k: int) -> str | None:
        """Return why copies whose first outputs differ from the subject's later ones say nothing; None if they do.

        They do if they share no noise, and if their own later outputs have the law of the subject's.  Where each
        keeps noise of its own, its first outputs are compared with its own later ones.

        Raises
        ------
        audit.auditor.subject.SubjectError
            When these differ.
        """
        try:
            drawn = self._aged(source, side)
            if share_noise(drawn[:, :, k]):
                return COPIES_SHARE
            late = later_half(drawn)
            if vary_by_row(late[:, :, k]):
                return self._doubt_alone(
                    source, [drawn if one == side else self._aged(source, one) for one in (0, 1)]
                )
        except _Unusable as problem:
            return problem.note
        other = difference(np.concatenate(late), later[side])
        return COPIES_DIFFER if other.log_p < math.log(CHANCE) else None

    def _doubt_alone(self, source: Drawing, drawn: Sequence[FloatArray]) -> str:
        """Return that copies keep noise of their own, unless their first outputs differ from their own later ones.

        What a copy keeps plays no part: given all of its outputs, independent ones may have come in any order.  So
        the bound on a difference holds as it is.
        """
        looks = (FIRST_OF_COPIES, slice(0, 1)), (SECOND_OF_COPIES, slice(1, 1 + SECOND_CALL))
        for side, (words, places) in product((0, 1), looks):
            found = difference(np.concatenate(drawn[side][:, places]), np.concatenate(later_half(drawn[side])))
            if found.log_p + math.log(2 * len(looks)) >= math.log(CHANCE):
                continue
            if share_noise(drawn[side][:, :, found.coordinate]):
                return COPIES_SHARE
            raise self._refusal(source, words, side, found)
        return COPIES_KEEP

    def _aged(self, source: Drawing, side: int) -> FloatArray:
        """Return outputs of further fresh copies, the first and the last ones; shape (copies, outputs, k).

        Each makes more calls than the subject did before anything was learned.
        """
        copies = max(DOUBTED_COPIES, len(self._drawn[0])) if len(self.columns) <= FEW else DOUBTED_COPIES
        sizes = (1, *DOUBTED_CALLS * (min(DOUBTED_ROWS, source.chunk_rows),))
        drawn = []
        for copy in range(copies):
            outputs = self._outputs(source, DOUBT_STREAM + copy, side, sizes)
            half = len(outputs) // 2
            drawn.append(np.concatenate([outputs[: min(LATE, half)], outputs[-min(LATE, half) :]]))
        return np.array(drawn)


def _not_copied(reason: str) -> str:
    return f"{NOT_COPIED}, as {reason}: {_SEEN_HERE}"


def check_processes(drawn: Sequence[tuple[FloatArray, FloatArray]], side: int) -> bool:
    """Refuse a subject whose first output in a process differs from the next ones; return if there are enough.

    A module or a function may know how often it was called, and no copy of an object forgets that.  Twelve
    processes show that first outputs have no Laplace noise, and hardly that they have less.

    Parameters
    ----------
    drawn : sequence of pairs of ndarray
        For each process the outputs on this input, the first one and some that follow; all processes drew first on
        the same input.
    side : int

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    if len(drawn) < FEWEST_PROCESSES:
        return False
    after = np.array([later for _, later in drawn])
    first = np.concatenate([one for one, _ in drawn])[:, : after.shape[2]]
    found = difference(first, np.concatenate(after))
    # a generator that processes have in common, and nobody can give a new seed
    if found.log_p + math.log(4) < math.log(CHANCE) and not vary_by_row(after[:, :, found.coordinate].T):
        raise SubjectError(
            f"the first outputs of processes differ from later ones: on {SIDES[side]} {found}; each release "
            "may come from a new process, so all outputs must have one law"
        )
    return True
