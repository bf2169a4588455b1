"""Whether the first outputs of a fresh object have the law of later ones, before any draw certifies.

Each release may come from a fresh object, so its first outputs are what matters, and an event is learned from
later ones.  A subject without noise in its first call, with a warm-up, a budget that counts calls, or noise that
grows would keep its claim in an audit and break it in use.
"""

from __future__ import annotations

import copy
import gc
import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from numbers import Number
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Protocol

import numpy as np

from audit.auditor.deadline import Deadline
from audit.auditor.subject import FAILURES, Subject, SubjectError
from audit.bounds.overdispersion import log_p_value
from audit.common.keys import key_of
from reference.common.arrays import FloatArray, IntArray

CHANCE = 1e-9
"""Chance that first outputs of one law with later ones are called different, each time an event is chosen."""

COPIES, ROWS_PER_COPY = (16, 64, 256), 64
"""Fresh copies for each input, in steps; and later outputs that there must be for each copy."""

SECOND_CALL = 4
"""Outputs of a copy's second call; the first call has one."""

MOST_LATER, MOST_VALUES = 2**15, 2**19
"""Most later outputs on an input, and numbers in them."""

MOST_COORDINATES = 64
"""Coordinates that are compared; of more, these at equal distances."""

SIDES = ("left", "right")

CELLS = 32
"""Parts of equal size, of all outputs in order: each interval of neighbouring parts is an event."""

LONGEST_FIRST, LONGEST = 2.0, 0.5
"""Seconds for the first step, and expected ones up to which a further step is made."""

SHARE_OF_TIME = 0.05
"""Of a limited time, at most."""

DOUBT = 1e-3
"""Chance that copies with noise of their own are said to share it; they are then compared no further."""

DOUBTED_COPIES, DOUBTED_ROWS, AFTER_ROWS = 64, 32, 256
"""Copies made again in doubt; outputs that are compared, from the first on and from so many later."""

FEWEST_PROCESSES = 12
"""Processes whose first outputs are compared."""

MOST_OBJECTS, MOST_BYTES = 10_000, 2**28
"""Objects of a subject, and bytes of its arrays, beyond which it is not copied: each copy would take long."""

NOT_COPIED = (
    "no fresh copies of the subject could be made in time and compared: only in the first calls here was it seen "
    "whether first outputs differ from later ones"
)
"""A note for when each release may come from a fresh object and nobody saw the first outputs of many."""

COPIES_SHARE = (
    "fresh copies of the subject share noise, which it keeps: only in the first calls here was it seen whether "
    "first outputs differ from later ones"
)
"""A note for when copies say nothing of each other."""


@dataclass(frozen=True)
class LargestDifference:
    """The interval in which the shares of first and later outputs differ most.

    Parameters
    ----------
    log_p : float
        Log of a bound on the chance that outputs of one law differ so much, in any interval and coordinate.
    coordinate : int
    low, high : float
        The interval, without its lower end.
    first, later : tuple of int
        Outputs inside, and all.
    """

    log_p: float
    coordinate: int = 0
    low: float = -math.inf
    high: float = math.inf
    first: tuple[int, int] = (0, 0)
    later: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        """Return the interval and both counts."""
        shares = (f"{inside:,} of {number:,}" for inside, number in (self.first, self.later))
        place = f"output[{self.coordinate}] in ({self.low:.6g}, {self.high:.6g}]"
        return f"{place}: {' of them, and '.join(shares)} later ones"


def difference(first: FloatArray, later: FloatArray) -> LargestDifference:
    """Return where first outputs differ most from later ones.

    Let n of N outputs be the first ones.  If all are independent and have one law, then, whatever the law, any n
    of them are equally likely to be these.  Both ends of an interval are values at fixed ranks of all outputs in
    order, so that K of them are inside; of a random n, a share of at least q > K / N is inside with probability at
    most exp(-n D(q, K / N)), and likewise below (Hoeffding 1963, theorems 1 and 4), where D is the divergence of
    two coins.  All intervals and coordinates share the chance.

    Parameters
    ----------
    first, later : ndarray, shape (n, k) and (m, k)
        NaN counts as the largest value.
    """
    found = []
    for k in range(first.shape[1]):
        ours = np.sort(first[:, k])
        # stable: quick where the later ones are in order
        both = np.sort(np.concatenate([later[:, k], ours]), kind="stable")
        ends = np.unique(both[np.arange(1, CELLS) * len(both) // CELLS])
        below = [
            np.concatenate([[0], np.searchsorted(side, ends, side="right"), [len(side)]]) for side in (ours, both)
        ]
        start, end = np.triu_indices(len(ends) + 2, 1)
        inside, of_both = (side[end] - side[start] for side in below)
        log_p = -len(ours) * _divergence(inside / len(ours), of_both / len(both))
        best = int(log_p.argmin())
        places = np.concatenate([[-np.inf], ends, [np.inf]])
        counts = int(inside[best]), int(of_both[best] - inside[best])
        found.append(
            LargestDifference(
                float(log_p[best]) + math.log(2 * len(start) * first.shape[1]),
                k,
                float(places[start[best]]),
                float(places[end[best]]),
                (counts[0], len(first)),
                (counts[1], len(later)),
            )
        )
    return min(found, key=lambda one: one.log_p)


def compared(width: int) -> IntArray:
    """Return the coordinates that are compared."""
    return np.unique(np.linspace(0, width - 1, min(width, MOST_COORDINATES)).astype(np.intp))


def _divergence(share: FloatArray, expected: FloatArray) -> FloatArray:
    """Return the divergence of coins; an expected 0 or 1 is the share."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = share * np.log(share / expected), (1 - share) * np.log((1 - share) / (1 - expected))
    return np.asarray(sum(np.where(np.isfinite(term), term, 0.0) for term in terms))


# --- Fresh copies ----------------------------------------------------------------------------------------------

ATOMS = (type, FunctionType, BuiltinFunctionType, ModuleType, str, bytes, Number, re.Pattern, type(None))
"""What a copy has in common with its original."""

GENERATORS = (
    np.random.Generator,
    np.random.BitGenerator,
    np.random.RandomState,
    np.random.SeedSequence,
    random.Random,
)
"""What it must not."""


@dataclass(frozen=True, eq=False)
class Pristine:
    """A copy of a subject from before its first draw, of which copies are made.

    Parameters
    ----------
    subject : Subject
    generators : tuple
        Those of its own.
    inputs : tuple
        In common with the original, which may tell them by their identity; no draw may change them.
    """

    subject: Subject
    generators: tuple[Any, ...]
    inputs: tuple[Any, ...]

    @classmethod
    def of(cls, subject: Subject, inputs: tuple[Any, ...]) -> Pristine | None:
        """Return a copy; None where none can be made, is too large, or does harm when it ends.

        A subject whose attribute `as_made` is itself before earlier draws is copied as it was then.
        """
        try:
            subject = getattr(subject, "as_made", subject)
            parts = _parts(subject, inputs)
            size = sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
            if (
                len(parts) > MOST_OBJECTS
                or size > MOST_BYTES
                or any(hasattr(type(part), "__del__") for part in parts)
            ):
                return None
            unchanged = [part for part in parts if isinstance(part, random.SystemRandom)]
            made = copy.deepcopy(subject, {id(part): part for part in (*unchanged, *inputs)})
            of_copy, given = _parts(made, inputs), set(map(id, parts)) - set(map(id, unchanged))
            if type(made) is not type(subject) or any(
                id(part) in given and hasattr(part, "__deepcopy__") for part in of_copy
            ):
                # a class whose copies are its objects, or no copies
                return None
            own = tuple(part for part in of_copy if isinstance(part, GENERATORS))
            return cls(made, own, inputs)
        except FAILURES:
            return None

    def copy(self, rng: np.random.Generator) -> Subject:
        """Return a fresh copy; its own generators have new seeds: else all copies draw the same noise."""
        memo = {id(given): given for given in self.inputs}
        memo |= {id(one): _anew(one, int(rng.integers(2**63))) for one in self.generators}
        return copy.deepcopy(self.subject, memo)


def _parts(subject: object, apart_from: tuple[Any, ...]) -> list[object]:
    """Return the objects that a copy would copy, up to a few more than the most."""
    unseen, kept = [subject], dict[int, object]()
    known = {id(one) for one in apart_from}
    while unseen and len(kept) <= MOST_OBJECTS:
        one = unseen.pop()
        if id(one) in kept or id(one) in known or isinstance(one, ATOMS):
            continue
        # while it is kept, no other object has its number
        kept[id(one)] = one
        if not isinstance(one, GENERATORS):
            unseen += gc.get_referents(one)
    return list(kept.values())


def _anew(found: object, seed: int) -> object:
    """Return a generator of the same kind with another seed."""
    match found:
        case np.random.Generator():
            return np.random.Generator(type(found.bit_generator)(seed))
        case np.random.RandomState():
            return np.random.RandomState(np.random.MT19937(seed))
        case np.random.BitGenerator() | np.random.SeedSequence():
            return type(found)(seed)
        case random.SystemRandom():
            return found
    return random.Random(seed)


# --- The check -------------------------------------------------------------------------------------------------

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


@dataclass(eq=False)
class FirstOutputs:
    """What is known of first outputs.

    Parameters
    ----------
    pristine : Pristine or None
    here : sequence of two lists of ndarray
        The outputs of the first calls of the subject itself, on each input.
    before : sequence
        What told the inputs apart before the first draw (:func:`audit.common.keys.key_of`).
    """

    pristine: Pristine | None
    here: Sequence[Sequence[FloatArray]]
    before: Sequence[Any]
    note: str | None = None
    _drawn: tuple[list[FloatArray], list[FloatArray]] = field(default_factory=lambda: ([], []))
    _seconds: float = 0.0

    def __post_init__(self) -> None:
        """Keep the coordinates that are compared."""
        self.columns = compared(self.here[0][0].shape[1])
        self.here = [[outputs[:, self.columns] for outputs in side] for side in self.here]
        if self.pristine is None:
            self.note = NOT_COPIED

    def __reduce__(self) -> tuple[Any, ...]:
        """Return nothing: machines that draw do not compare."""
        return (type(None), ())

    def check(self, source: Drawing, choosing: tuple[FloatArray, FloatArray]) -> None:
        """Refuse a subject whose first outputs differ from later ones.

        Independent outputs of one law are refused with probability below 1e-9, whatever the law, if copies are
        independent of each other.  Where copies seem to share noise, nothing is concluded from them.

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
            if place >= len(here) and self._doubted(source, side, found.coordinate):
                return
            if [key_of(given) for given in source.inputs] != list(self.before):
                # whose draws look like other faults
                raise SubjectError("sample() changes its input: what one call draws must not depend on another")
            found = replace(found, coordinate=int(self.columns[found.coordinate]))
            raise SubjectError(
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
            ("the first outputs of a fresh copy", [side[:, 0] for side in drawn]),
            ("the outputs of a fresh copy's second call", [np.concatenate(side[:, 1:]) for side in drawn]),
        ]

    def _draw(self, source: Drawing, most: int) -> None:
        """Draw from fresh copies, in steps, while they take little time."""
        for step in COPIES:
            made = len(self._drawn[0])
            if self.pristine is None or (made and step > most):
                return
            expected = self._seconds / made * (step - made) if made else 0.0
            longest = LONGEST if made else LONGEST_FIRST
            longest = min(longest, SHARE_OF_TIME * source.deadline.left)
            if expected > longest:
                return
            self._step(source, range(made, step), longest)

    def _step(self, source: Drawing, copies: range, longest: float) -> None:
        """Add the draws of these copies, or give up."""
        start = source.deadline.now()
        found: list[tuple[FloatArray, FloatArray]] = []
        for number in copies:
            left, right = (self._outputs(source, FIRST_STREAM + number, side, SECOND_CALL) for side in (0, 1))
            if left is None or right is None or source.deadline.now() > start + longest:
                self.pristine, self.note = None, NOT_COPIED
                return
            found.append((left[: 1 + SECOND_CALL], right[: 1 + SECOND_CALL]))
        for side, drawn in enumerate(self._drawn):
            drawn.extend(pair[side] for pair in found)
        self._seconds += source.deadline.now() - start

    def _outputs(self, source: Drawing, stream: int, side: int, rows: int) -> FloatArray | None:
        """Return a fresh copy's first output and those of its second call; None if it fails.

        Of calls that are taken whole, the first output.
        """
        if self.pristine is None:
            return None
        rng = source.generator(0, stream, side)
        try:
            fresh = self.pristine.copy(rng)
            sizes = (1, rows) if source.outputs_per_call == 1 else (source.outputs_per_call,) * 2
            calls = [np.asarray(fresh.sample(source.inputs[side], size, rng), dtype=np.float64) for size in sizes]
            calls = [one[:, self.columns] for one in calls]
        except FAILURES:
            return None
        if [len(one) for one in calls] != list(sizes):
            return None
        return np.concatenate([calls[0][:1], calls[1] if source.outputs_per_call == 1 else calls[1][:1]])

    def _doubted(self, source: Drawing, side: int, k: int) -> bool:
        """Return whether copies may share noise, or keep it, so that they say nothing; then forget them.

        What nobody can give a new seed is the same in all copies, as a table of noise.  Then their outputs at one
        place of a call are more alike than at several, or are the same for all copies and others at other places.
        """
        rows = min(AFTER_ROWS, source.chunk_rows)
        drawn = [self._outputs(source, DOUBT_STREAM + copy, side, rows) for copy in range(DOUBTED_COPIES)]
        made = [one[:, k] for one in drawn if one is not None]
        if len(made) == DOUBTED_COPIES:
            values = np.array(made)
            early, late = values[:, : 1 + DOUBTED_ROWS], values[:, -DOUBTED_ROWS:]
            same = early[0, (early == early[0]).all(axis=0)]
            whole = source.outputs_per_call > 1
            shared = len(np.unique(same)) > 1 or (not whole and _vary(late.T))
            if not shared and (whole or not _vary(late)):
                return False
            # what is kept by one object is looked for in other processes
            self.note = COPIES_SHARE if shared else self.note
        self.pristine, self._drawn = None, ([], [])
        return True


def check_processes(firsts: Sequence[Sequence[FloatArray]], more: Sequence[Sequence[FloatArray]]) -> None:
    """Refuse a subject whose first output in a process differs from the next ones of the same processes.

    A module or a function may know how often it was called, and no copy of an object forgets that.  Twelve
    processes show that first outputs have no noise, and hardly that they have less.  Each draws on left first.

    Parameters
    ----------
    firsts, more : sequence of pairs of ndarray
        For each process the outputs on left and right, the first one and some that follow.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    if len(firsts) < FEWEST_PROCESSES:
        return
    for side in (0, 1):
        after = np.array([pair[side] for pair in more])
        first = np.concatenate([pair[side] for pair in firsts])[:, : after.shape[2]]
        found = difference(first, np.concatenate(after))
        # a generator that processes have in common, and nobody can give a new seed
        if found.log_p + math.log(2) < math.log(CHANCE) and not _vary(after[:, :, found.coordinate].T):
            raise SubjectError(
                f"the first outputs of processes differ from later ones: on {SIDES[side]} {found}; each release "
                "may come from a new process, so all outputs must have one law"
            )


def _vary(values: FloatArray) -> bool:
    """Return whether rows differ more than independent values in any order; shape (rows, values of each)."""
    found = []
    for middle in np.quantile(values, (0.25, 0.5, 0.75), method="lower"):
        counts = (values > middle).sum(axis=1)
        found.append(log_p_value([np.bincount(counts, minlength=values.shape[1] + 1)]))
    return min(found) < math.log(DOUBT / len(found))
