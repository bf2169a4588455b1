"""Drawing from a subject: checked, in chunks of fixed size, on several cores with the same result as on one."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from audit.auditor.deadline import NEVER, Deadline, OutOfTimeError
from audit.auditor.events.mixed import Both, Coins, Pair
from audit.auditor.events.reduction import Reduction, Screen
from audit.auditor.first import FirstOutputs
from audit.auditor.notes import OTHER_GENERATOR, SHARED_GENERATOR
from audit.auditor.pristine import Pristine
from audit.auditor.probe import PROBE, check_draws, drawn_again
from audit.auditor.subject import FAILURES, DrawingError, Subject, SubjectError, check_attributes, two_inputs
from audit.common.keys import key_of
from reference.common.arrays import FloatArray, IntArray
from reference.common.scheduler import Call, cluster

CHUNK_VALUES = 2**17
"""Numbers drawn at a time on one input: few enough for the cache."""

FEWEST_ROWS, CALL_SHARE = 32, 16
"""If looks or a time limit are planned, a call has this many outputs, or this share of those drawn before.

So a call takes about a sixteenth of the time passed, however slow the subject.
"""

AHEAD = 4
"""Chunks per worker begun before they are needed: enough that no worker waits, few enough to drop."""

OPENING = 16
"""Outputs of the first call on each input, which tells their shape."""

FIRST_WHOLE, FEW_CHUNKS = 2**19, 16
"""Number in the probe's phase of the first chunk that is not reduced, and how many there are."""

LEARN, CHOOSE, CERTIFY, CHOOSE_ON, SCREEN_FIRST, SCREEN, SHORT_CALLS, STAGES = 1, 2, 3, 4, 5, 6, 7, 8
"""Phases in the numbering of draws; 0 is the probe, and from STAGES on later stages certify."""

MIX = 2
"""Beside the two inputs in the numbering of draws: the generator that mixes outputs of both for one call."""

SCORED = 2**20
"""Phase of draws that a few scores are judged on as they are made; no stage has so large a number."""

EVERY_WHOLE = 2**53
"""Up to this, a 64-bit float holds every whole number."""

FIRST_BLOCK_VALUES = 2**21
"""Numbers on each input that set the thresholds of a screen, before further draws are counted chunk by chunk."""

FIRST_BLOCK_TIME, SCREEN_TIME, AS_DRAWN_TIME = 1 / 8, 1 / 4, 1 / 32
"""Shares of the time left after which the first block of a screen ends, the screen, and outputs not reduced."""

FEWEST_SCREENED = 50
"""Outputs per input that choose a reduction at least: as many as in the smallest audit, whatever the time."""

Made = TypeVar("Made")
Arrays = TypeVar("Arrays", Pair, tuple[IntArray, IntArray])


@dataclass(frozen=True, eq=False)
class Draws:
    """The draws of one audit, numbered: chunk c of phase p is the same whichever worker draws it, and when.

    Each chunk has its own generator, seeded by (entropy, phase, chunk, input), so that results depend
    neither on the number of workers nor on the order in which they finish.

    Parameters
    ----------
    subject : Subject
    inputs : tuple
        Left and right.
    width : int
        Coordinates of an output.
    entropy : tuple of int
    workers : int
    looks : bool
        Whether looks in between, or an end by the clock, are planned: calls then start small and grow.
    reduction : Reduction or None
        Applied to all outputs as they are drawn.
    foreign : str or None
        A note if the first draws came from other generators than the given ones, and the subject does not say that
        its randomness is its own.
    outputs_per_call : int
        With more than one, rows are calls of so many outputs, each with its own generator.  Those who learn
        and choose get the first output of each call, those who certify get all, call after call.
    deadline : Deadline
        No chunks are requested after it.
    first : FirstOutputs or None
        The first outputs, to be compared with later ones.
    """

    subject: Subject
    inputs: tuple[Any, Any]
    width: int
    entropy: tuple[int, ...]
    workers: int = 1
    looks: bool = False
    reduction: Reduction | None = None
    foreign: str | None = None
    outputs_per_call: int = 1
    deadline: Deadline = NEVER
    first: FirstOutputs | None = None

    @classmethod
    def of(
        cls,
        subject: Subject,
        entropy: tuple[int, ...],
        workers: int = 1,
        *,
        looks: bool = False,
        outputs_per_call: int = 1,
        deadline: Deadline = NEVER,
    ) -> Draws:
        """Return the draws of a subject; draws that are not used show its width."""
        check_attributes(subject)
        try:
            inputs = subject.inputs()
        except FAILURES as problem:
            raise SubjectError(f"inputs() failed: {type(problem).__name__}: {problem}") from problem
        probe = cls(subject, two_inputs(inputs), -1, entropy, workers)
        unchanged = [key_of(given) for given in probe.inputs]
        pristine, rows = Pristine.of(subject, probe.inputs), min(OPENING, getattr(subject, "most_rows", OPENING))
        start = deadline.now()
        opening = [probe._one(side, rows, probe.generator(0, 0, side)) for side in (0, 1)]
        seconds = deadline.now() - start
        widths = {outputs.shape[1] for outputs in opening}
        if len(widths) > 1:
            raise SubjectError(f"outputs change shape: {sorted(widths)} coordinates on the two inputs")
        source = cls(subject, probe.inputs, widths.pop(), entropy, workers, looks, deadline=deadline)
        rows, before = min(PROBE, source.chunk_rows), _global_state()
        draw = source._probed(rows)
        calls = check_draws(draw, source.inputs, unchanged, within_calls=outputs_per_call == 1)
        foreign = None
        if not getattr(subject, "own_entropy", False):
            shared = _global_state() != before
            foreign = SHARED_GENERATOR if shared else None if drawn_again(draw, calls) else OTHER_GENERATOR
        here = [[one, *more] for one, more in zip(opening, calls, strict=True)]
        first = FirstOutputs(pristine, here, unchanged, seconds)
        return replace(source, foreign=foreign, outputs_per_call=outputs_per_call, first=first)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about how the draws were made and checked."""
        found = [] if self.foreign is None else [self.foreign]
        return (*found, *([] if self.first is None else self.first.notes))

    def generator(self, phase: int, chunk: int, side: int) -> np.random.Generator:
        """Return the generator of one chunk on one input."""
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=(phase, chunk, side)))

    def _coins(self, phase: int, chunk: int) -> Coins:
        return partial(self.generator, phase, chunk, MIX)

    @property
    def chunk_rows(self) -> int:
        """Outputs, or calls of several, per chunk and input."""
        rows = max(1, CHUNK_VALUES // self.width)
        # a slow subject may ask for fewer at a time, so that progress, limits and interruptions come sooner
        return max(1, min(rows, getattr(self.subject, "most_rows", rows)) // self.outputs_per_call)

    def chunk(self, phase: int, chunk: int, rows: int) -> tuple[FloatArray, FloatArray]:
        """Return the outputs of one chunk on both inputs, shape (rows, width) each unless rows are calls."""
        left, right = (self._calls(side, rows, self.generator(phase, chunk, side)) for side in (0, 1))
        if self.outputs_per_call > 1 and phase != CERTIFY and phase < SHORT_CALLS:
            # copies: a view would keep all outputs of the calls
            left, right = left[:: self.outputs_per_call].copy(), right[:: self.outputs_per_call].copy()
        if np.may_share_memory(left, right):
            raise SubjectError("sample() must return a new array each time: two results share their memory")
        if self.reduction is None:
            return left, right
        per_call = self.outputs_per_call if len(left) > rows else 1
        return self.reduction.of_both(Both(left, right, self._coins(phase, chunk), per_call))

    def check_first(self, later: tuple[FloatArray, FloatArray]) -> None:
        """Refuse a subject whose first outputs differ from later ones.

        Raises
        ------
        audit.auditor.subject.SubjectError
        """
        if self.first is not None:
            self.first.check(self, later)

    def as_drawn(self, outputs: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Return outputs of all coordinates: these, or others of the probe's phase where these are reduced."""
        if self.reduction is None:
            return outputs
        whole, rows = replace(self, reduction=None), self.chunk_rows
        # short calls under a limit of time, which they take little of
        size = min(rows, FEWEST_ROWS) if self.looks else rows
        chunks = (whole.chunk(0, FIRST_WHOLE + chunk, size) for chunk in range(FEW_CHUNKS * rows // size))
        return joined(_until(self.deadline.within(AS_DRAWN_TIME), self.deadline.during(chunks)))

    def screened(self, rows: int, repeated: int | None = None) -> Draws:
        """Return these draws reduced to few numbers, chosen by this many others of each input, or fewer.

        Parameters
        ----------
        rows : int
            With a time limit they end at a share of it, at the end of a chunk.
        repeated : int, optional
            Where they ended in a run that is repeated: then time plays no part.
        """
        ends, rows = (
            (self.deadline, rows) if repeated is None else (NEVER, min(rows, max(FEWEST_SCREENED, repeated)))
        )
        first_ends, ends = ends.within(FIRST_BLOCK_TIME), ends.within(SCREEN_TIME)
        planned = min(rows, max(1, FIRST_BLOCK_VALUES // self.width))
        left, right = joined(_until(first_ends, self.chunks(SCREEN_FIRST, planned), FEWEST_SCREENED))
        screen, size, first = Screen.of(left, right, self.each), self.chunk_rows, len(left)
        parts = (slice(start, start + size) for start in range(0, first, size))
        counts = (screen.count(left[part], right[part]) for part in parts)
        # a first block that ended early has chosen alone
        further = self.map(SCREEN, rows - planned if first == planned else 0, screen.count, first)
        both = chain(self.deadline.during(counts), _until(ends, self.deadline.during(further)))
        return replace(self, reduction=screen.reduction(both, self.subject))

    @property
    def screened_rows(self) -> int:
        """Outputs per input that chose the reduction; 0 without one."""
        return 0 if self.reduction is None else self.reduction.rows

    @property
    def numbers(self) -> int:
        """Numbers of an output, reduced or not."""
        return self.width if self.reduction is None else self.reduction.width

    def phase(self, phase: int, rows: int) -> tuple[FloatArray, FloatArray]:
        """Return a whole phase, for learning and choosing."""
        return joined(self.chunks(phase, rows))

    def chunks(self, phase: int, rows: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the chunks of a phase, while there is time."""
        return self.deadline.during(self.map(phase, rows, _itself))

    def map(
        self, phase: int, rows: int, work: Callable[[FloatArray, FloatArray], Made], before: int = 0
    ) -> Iterator[Made]:
        """Yield `work(left, right)` of each chunk of a phase, in order.

        Parameters
        ----------
        phase, rows : int
        work : callable
        before : int
            Rows of the phases before it: if looks are planned, calls grow with them.
        """
        return self.map_mixed(phase, rows, lambda left, right, _: work(left, right), before)

    def map_mixed(
        self,
        phase: int,
        rows: int,
        work: Callable[[FloatArray, FloatArray, Coins], Made],
        before: int = 0,
    ) -> Iterator[Made]:
        """Yield `work(left, right, coins)` likewise, with coins that no draw uses."""
        sizes = list(self._sizes(rows, before))

        def one(chunk: int) -> Made:
            return work(*self.chunk(phase, chunk, sizes[chunk]), self._coins(phase, chunk))

        yield from in_order(one, len(sizes), self.workers)

    def each(self, work: Callable[[int], Made], number: int) -> Iterator[Made]:
        """Yield `work(0)`, `work(1)` and so on, while there is time.

        Raises
        ------
        audit.auditor.deadline.OutOfTimeError
        """
        return self.deadline.during(in_threads(work, number, self.workers))

    def _sizes(self, rows: int, before: int) -> Iterator[int]:
        """Yield the rows of each chunk, independent of the clock, so that a run can be repeated."""
        made, most = 0, self.chunk_rows
        fewest = max(1, FEWEST_ROWS // self.outputs_per_call)
        while made < rows:
            size = min(most, max(fewest, (before + made) // CALL_SHARE)) if self.looks else most
            size = min(size, rows - made)
            yield size
            made += size

    def _probed(self, rows: int) -> Callable[[int, int], FloatArray]:
        """Return a function that draws one call of the probe, while there is time."""

        def draw(side: int, call: int) -> FloatArray:
            self.deadline.check()
            return self._one(side, rows, self.generator(0, call + 1, side))

        return draw

    def _calls(self, side: int, rows: int, rng: np.random.Generator) -> FloatArray:
        """Return this many outputs, or calls of several, each from a generator that nothing else uses."""
        if self.outputs_per_call == 1:
            return self._one(side, rows, rng)
        seeds = rng.integers(2**63, size=(rows, 2))
        return np.concatenate(
            [self._one(side, self.outputs_per_call, np.random.default_rng(seed)) for seed in seeds]
        )

    def _one(self, side: int, rows: int, rng: np.random.Generator) -> FloatArray:
        try:
            outputs = self.subject.sample(self.inputs[side], rows, rng)
        except (SubjectError, OutOfTimeError):
            raise
        except FAILURES as problem:
            raise DrawingError(f"sample() failed: {type(problem).__name__}: {problem}") from problem
        return _checked(outputs, rows, self.width)


def _global_state() -> tuple[object, ...]:
    """Return the state of the process's global generators."""
    numpy_state: Any = np.random.get_state(legacy=True)  # noqa: NPY002
    return (random.getstate(), *(bytes(part) if isinstance(part, np.ndarray) else part for part in numpy_state))


def in_order(work: Callable[[int], Made], number: int, workers: int) -> Iterator[Made]:
    """Yield `work(0)`, `work(1)` and so on; workers go on while the results are used.

    Workers are threads, as numpy, which draws and scores, lets other threads run; or a cluster's.
    """
    machines = cluster()
    if machines is not None:
        calls: Iterator[Call] = ((work, (place,), {}) for place in range(number))
        yield from machines.in_order(calls, AHEAD * machines.threads)
    else:
        yield from in_threads(work, number, workers)


def in_threads(work: Callable[[int], Made], number: int, workers: int) -> Iterator[Made]:
    """Yield `work(0)`, `work(1)` and so on; threads of this process go on while the results are used."""
    if workers == 1:
        yield from map(work, range(number))
        return
    waiting: deque[Future[Made]] = deque()
    pool = ThreadPoolExecutor(workers)
    try:
        for place in range(number):
            waiting.append(pool.submit(work, place))
            if len(waiting) == AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # no more is needed, after an error or Ctrl-C: let what has begun end, and begin nothing else
        pool.shutdown(cancel_futures=True)


def _checked(outputs: Any, rows: int, width: int) -> FloatArray:
    """Return outputs as floats of shape (rows, width); a width of -1 is any."""
    if not isinstance(outputs, np.ndarray) or isinstance(outputs, np.ma.MaskedArray):
        # a mask would get lost on the way, and the hidden numbers be counted
        raise SubjectError(f"sample() must return a numpy array, not {type(outputs).__name__}")
    if outputs.dtype.kind not in "fiub":
        raise SubjectError(f"sample() must return real numbers, not {outputs.dtype}")
    if outputs.ndim != 2 or outputs.shape[0] != rows or outputs.shape[1] == 0:
        raise SubjectError(f"sample() must return shape ({rows}, k) for {rows} draws, not {outputs.shape}")
    if width != -1 and outputs.shape[1] != width:
        raise SubjectError(f"outputs change shape: {outputs.shape[1]} coordinates after {width}")
    lost = lost_in_floats(outputs)
    if lost is not None:
        raise SubjectError(f"sample() returned {lost}")
    # a plain array: a matrix would keep two dimensions where one is meant
    return np.asarray(outputs, dtype=np.float64)


def lost_in_floats(numbers: np.ndarray[Any, Any]) -> str | None:
    """Return which numbers 64-bit floats do not hold, in words; None if they hold all."""
    if numbers.dtype.kind == "f" and numbers.dtype.itemsize > np.dtype(np.float64).itemsize:
        return f"{numbers.dtype} numbers: bits would be lost in floats of at most 64 bits"
    if numbers.dtype.kind in "iu":
        beyond = numbers[(numbers > EVERY_WHOLE) | (numbers < -EVERY_WHOLE)]
        # a count and its neighbour would become one float, and the audit would call their outputs equal
        lost = next((whole for whole in beyond.tolist() if int(float(whole)) != whole), None)
        if lost is not None:
            return f"{lost}, which no 64-bit float holds (whole numbers up to 2^53 fit): take a constant off first"
    return None


def _until(end: Deadline, pairs: Iterable[Arrays], fewest: int = 0) -> Iterator[Arrays]:
    """Yield pairs of arrays until this moment: one at least, and as many as have this many rows."""
    rows = 0
    for pair in pairs:
        yield pair
        rows += len(pair[0])
        if rows >= fewest and end.passed:
            return


def joined(pairs: Iterable[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Return parts as one array for each input, each column in one piece: most scores look at one."""
    left, right = map(list, zip(*pairs, strict=True))
    return _by_columns(left), _by_columns(right)


def _by_columns(parts: list[FloatArray]) -> FloatArray:
    """Return parts as one array, and let them go before those of the other input are copied."""
    together = np.empty((sum(map(len, parts)), parts[0].shape[1]), order="F")
    np.concatenate(parts, out=together)
    parts.clear()
    return together


def _itself(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    return left, right
