"""Checks a refutation in other processes, which lack what a subject keeps between its calls.

Noise that is drawn once and kept, by an instance, a module or a cache, looks like no noise at all if you draw
in one process, though each single release may be private.  So the process is copied before the first
draw, and each of them builds the subject anew.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.special import gammaln

from audit.auditor.distinguish import Estimate
from audit.auditor.events import Event
from audit.auditor.selection import ONE_OUTPUT_EACH
from audit.auditor.subject import Subject, SubjectError
from audit.auditor.tally import CertifiedEvent
from audit.bounds import Counts
from audit.bounds.overdispersion import log_p_value
from reference.common.arrays import FloatArray, IntArray
from reference.common.processes import end_with

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

COPIES, MOST_CALLS, CALLS_PER_DRAWS = 16, 32, 200
"""Processes that draw, and calls of each on each input: one call per this many draws on an input here."""

FEWEST_COPIES = 4
"""With fewer, nothing is concluded: kept noise may come out the same in all of them."""

PATIENCE, LEAST_PATIENCE = 20.0, 0.5
"""Seconds for all copies together; and the fewest, unless that is too much of a limited time."""

CHANCE = 1e-9
"""Chance that independent draws are said to differ between processes, in each of two checks."""

NOT_COMPARED = (
    "nobody drew in other processes: noise that is drawn once and kept (sticky, memoised) would look like none"
)
"""A note for when copies could not be made or did not answer in time."""

NO_NOISE = "each input always gives the same output of its own, also in other processes: a release without noise"
"""A note that replaces the one that leaves it open."""

Pair: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Copies:
    """A process as it was before the first draw, which makes copies of itself on request.

    Parameters
    ----------
    pipe : multiprocessing.connection.Connection
    """

    pipe: Connection[Any, Any]

    def draw(self, entropy: int, calls: int, per_call: int, patience: float) -> list[Pair]:
        """Return the first output of this many calls on each input, from each copy that answered in time.

        Copies that gave the same bits count as one: their generator is that of the original process.
        """
        found: dict[bytes, Pair] = {}
        deadline = time.monotonic() + patience
        for copy in range(COPIES):
            try:
                self.pipe.send(((entropy, copy), calls, per_call))
                if not self.pipe.poll(max(0.0, deadline - time.monotonic())):
                    break
                answer = self.pipe.recv()
            except (OSError, EOFError):
                break
            if answer is not None:
                found[answer[0].tobytes() + answer[1].tobytes()] = answer
        return list(found.values())


def patience_within(max_seconds: float) -> float:
    """Return the seconds that copies get of an audit's time: half a second or a twentieth, a quarter at most."""
    return min(PATIENCE, max_seconds / 4, max(LEAST_PATIENCE, max_seconds / 20))


@contextmanager
def copied(make: Callable[[], Subject]) -> Iterator[Copies | None]:
    """Make a waiting copy of this process; None if the system cannot copy processes.

    Parameters
    ----------
    make : callable
        Builds the subject; called in each copy.
    """
    if not hasattr(os, "fork"):
        yield None
        return
    (ours, theirs), parent = Pipe(), os.getpid()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads: a copy that hangs because of one runs out of time, and is ended
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        ours.close()
        _alone(parent, lambda: _serve(theirs, make))
    theirs.close()
    try:
        yield Copies(ours)
    finally:
        ours.close()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


# --- In the copies ---------------------------------------------------------------------------------------------


def _alone(parent: int, work: Callable[[], None]) -> None:
    """Do the work, and end this process, so that nothing of its original runs twice."""
    with contextlib.suppress(BaseException):
        end_with(parent)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        work()
    os._exit(0)


def _serve(pipe: Connection[Any, Any], make: Callable[[], Subject]) -> None:
    """Let a new copy answer each request."""
    while True:
        seed, calls, per_call = pipe.recv()
        parent, (answered, answer) = os.getpid(), Pipe(duplex=False)
        child = os.fork()
        if not child:
            _alone(parent, lambda: answer.send(_outputs(make, seed, calls, per_call)))  # noqa: B023
        answer.close()
        try:
            drawn = answered.recv()
        except EOFError:
            drawn = None
        answered.close()
        os.waitpid(child, 0)
        pipe.send(drawn)


def _outputs(make: Callable[[], Subject], seed: tuple[int, int], calls: int, per_call: int) -> Pair:
    """Return the first output of each call, on both inputs."""
    # the process's global generators must not repeat the original's draws
    shared = np.random.SeedSequence(seed).generate_state(1)
    np.random.seed(shared)  # noqa: NPY002
    random.seed(int(shared[0]))
    subject = make()
    sides = [
        [
            np.asarray(subject.sample(given, per_call, _generator(seed, side, call)), dtype=np.float64)[:1]
            for call in range(calls)
        ]
        for side, given in enumerate(subject.inputs())
    ]
    left, right = (np.concatenate(drawn) for drawn in sides)
    return left, right


def _generator(seed: tuple[int, int], side: int, call: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(side, call)))


# --- What they show --------------------------------------------------------------------------------------------


def confirmed(
    make: Callable[[], Subject],
    carry_out: Callable[[], Estimate],
    refuting: Callable[[Estimate], CertifiedEvent | None],
    entropy: int,
    patience: float = PATIENCE,
) -> Estimate:
    """Return the estimate; if it refutes the claim, only after other processes did not contradict it.

    Parameters
    ----------
    make : callable
        Builds the subject anew.
    carry_out : callable
        Makes the estimate, and the first draws.
    refuting : callable
        Returns what refutes the claim; None if nothing does.
    entropy, patience
        As for :func:`compare_with`.

    Raises
    ------
    audit.auditor.subject.SubjectError
        When they contradict it.
    """
    with copied(make) as copies:
        found = carry_out()
        refuted = refuting(found)
        if refuted is None:
            return found
        note = compare_with(copies, refuted.event, refuted.counts, entropy, patience)
    if note is None:
        # nothing was kept: it is a release without noise, and no question is left
        notes = tuple(NO_NOISE if one == ONE_OUTPUT_EACH else one for one in found.notes)
        return replace(found, notes=notes)
    return replace(found, notes=(*found.notes, note))


def compare_with(
    copies: Copies | None,
    event: Event,
    counts: Counts,
    entropy: int,
    patience: float = PATIENCE,
) -> str | None:
    """Compare an event's counts with those in other processes; return a note if that is impossible.

    Parameters
    ----------
    copies : Copies or None
    event : Event
        One that refutes a claim.
    counts : Counts
        Of the draws here.
    entropy : int
        Seeds the draws of the copies; none of them certifies anything.
    patience : float
        Seconds that all copies together may take.

    Raises
    ------
    audit.auditor.subject.SubjectError
        When the counts do not share one law, or vary between processes more than independent outputs would.
    """
    if copies is None:
        return NOT_COMPARED
    per_call = 1 if counts.calls is None else counts.calls.outputs_per_call
    calls = min(MOST_CALLS, max(2, counts.likely_draws // (CALLS_PER_DRAWS * per_call)))
    drawn = copies.draw(entropy, calls, per_call, patience)
    return check_copies(event, counts, drawn)


def check_copies(event: Event, counts: Counts, drawn: Sequence[Pair]) -> str | None:
    """Refuse counts that other processes contradict; return a note if there are too few processes.

    Parameters
    ----------
    event : Event
    counts : Counts
        Of the audit.
    drawn : sequence of (left, right)
        Outputs of each process, independent of each other.
    """
    if not drawn:
        return NOT_COMPARED
    try:
        happened = np.array([[event.occurs(outputs) for outputs in pair] for pair in drawn])
    except (IndexError, ValueError):
        return NOT_COMPARED
    # per process and input
    found = happened.sum(axis=2)
    size = happened.shape[2]
    by_process = [np.bincount(side, minlength=size + 1) for side in found.T]
    kept = len(drawn) >= FEWEST_COPIES and log_p_value(by_process) < np.log(CHANCE)
    left, right = (int(count) for count in found.sum(axis=0))
    others = Counts.of(left, right, len(drawn) * size, event.likely_input)
    # outputs of one call may depend on each other: the law of their counts is then unknown
    same = counts.calls is not None or homogeneity(counts, others) >= CHANCE
    if same and not kept:
        alone = len(drawn) == 1 and any((side != side[:1]).any() for side in drawn[0])
        return NOT_COMPARED if alone else None
    pattern = "noise is drawn once and kept (sticky, memoised)" if kept else "its draws have another law there"
    raise SubjectError(
        f"the event that would refute the claim occurs on {event.likely_input} in {counts.likely:,} of "
        f"{counts.likely_draws:,} outputs here, and in {others.likely:,} of {others.likely_draws:,} in "
        f"{len(drawn)} other processes: {pattern}; each output must be drawn with all that is random in it"
    )


def homogeneity(first: Counts, second: Counts) -> float:
    """Return a p-value of the hypothesis that both counts come from the same two probabilities.

    Fisher's exact test per input, two-sided by doubling, and doubled once more for two inputs.
    """
    tables = [
        (first.likely, first.likely_draws, second.likely, second.likely_draws),
        (first.unlikely, first.unlikely_draws, second.unlikely, second.unlikely_draws),
    ]
    return min(1.0, 4 * min(_tail(*table) for table in tables))


def _tail(count: int, draws: int, other: int, other_draws: int) -> float:
    """Return the smaller tail of a hypergeometric count, `other` included."""
    # how the occurrences may be divided, given their number: as far from the mean as a share of 1e-300 reaches
    total = count + other
    share = other_draws / (draws + other_draws)
    mean, far = total * share, 40 * (math.sqrt(total * share * (1 - share)) + 1)
    low, high = max(0, total - draws, math.floor(mean - far)), min(total, other_draws, math.ceil(mean + far))
    places = np.arange(low, high + 1)
    logs = _log_choices(other_draws, places) + _log_choices(draws, total - places)
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    return float(min(shares[places <= other].sum(), shares[places >= other].sum()))


def _log_choices(draws: int, counts: IntArray) -> FloatArray:
    """Return the logs of binomial coefficients."""
    found: FloatArray = gammaln(draws + 1) - gammaln(counts + 1) - gammaln(draws - counts + 1)
    return found
