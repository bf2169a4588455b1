"""Checks a refutation in other processes, which lack what a subject keeps between its calls.

Noise that is drawn once and kept, by an instance, a module or a cache, looks like no noise at all if you draw
in one process, though each single release may be private.  So the process is copied before the first
draw, and each copy builds the subject again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from audit.auditor.dependence import MOST_CHECKED_SINGLY
from audit.auditor.differences import MOST_COMPARED
from audit.auditor.distinguish import Estimate
from audit.auditor.events import Event
from audit.auditor.events.mixed import Both, Pair
from audit.auditor.first import FEWEST_PROCESSES, check_processes
from audit.auditor.notes import ONE_OUTPUT_EACH
from audit.auditor.subject import FAILURES, Subject, SubjectError
from audit.auditor.tally import CertifiedEvent
from audit.bounds import Counts
from audit.bounds.overdispersion import log_p_value
from audit.evidence.forks import MOST_VALUES, Copies, CopyRequest, copied, distinct, outputs_of_call, told_apart
from audit.evidence.homogeneity import homogeneity
from audit.evidence.nearness import CHANCE, check_more
from reference.common.arrays import FloatArray, IntArray

COPIES, FEWEST_CALLS, MOST_CALLS, CALLS_PER_DRAWS = 16, 8, 32, 200
"""Processes that draw, and calls of each on each input: one call per this many draws on an input here."""

FEWEST_COPIES = 4
"""With fewer, nothing is concluded: kept noise may come out the same in all of them."""

PATIENCE, LEAST_PATIENCE = 20.0, 0.5
"""Seconds for all copies together; and the fewest, unless that is too much of a limited time."""

MOST_MORE, MORE_SHARE, MORE_SHARE_BY_CLOCK = 2048, 8, 80
"""Outputs compared one by one on an input: the most; one for every so many that certified; the same where time is
limited.  As many come from other processes, and twice as many are drawn here."""

NOT_COMPARED = (
    "nobody drew in other processes: noise that is drawn once and kept (sticky, memoised) would look like none"
)
"""A note for when copies gave no draws."""

NO_COPIES, TOO_FEW_IN_TIME = "the system cannot copy processes", "too few answered in time"
"""Reasons appended to these notes when the machine was the cause."""

ALIKE = 16
"""Outputs that two processes must share, all distinct: by any law the chance of that is at most 16^-16."""

DRAWS_FOR_FIRST, FOR_FIRST, SHARE_FOR_FIRST = 200_000, 8.0, 0.1
"""Draws from which on the first outputs of processes are compared with their later ones; seconds for that, or a
share of what the audit took, if that is more."""

PROCESSES, LATER = 28, 32
"""Processes whose first outputs are compared, half of which draw on right first; and later outputs of each."""

FIRSTS_NOT_COMPARED = "whether the first outputs of a new process differ from later ones was not seen"
"""A note, with the reason, where nothing is refuted."""

_NUMBER = r"[0-9][0-9.e+-]*"
TOO_SLOW = (
    f"{FIRSTS_NOT_COMPARED}: (?:each takes {_NUMBER} s or more, and there were {_NUMBER} s for {_NUMBER}"
    f"|{_NUMBER} of {_NUMBER} gave draws within {_NUMBER} s, which are too few|{NO_COPIES})"
)
"""The pattern of that note where the machine was the reason, mostly for lack of time."""

TOO_FEW = (
    f"{FIRSTS_NOT_COMPARED}: {_NUMBER} of {_NUMBER} "
    f"(?:drew, but only {_NUMBER} drew bits of their own|gave draws, which are too few)"
)
"""The pattern of that note where the subject was the reason."""

SAME_NOISE = (
    "two other processes drew the same noise from different generators: if its seed is fixed, or made of the "
    "data, nothing hides the input from whoever knows that; no bound here shows it"
)
"""A note where nothing is refuted.  A library's generator that the copies have in common does the same."""

OTHER_PAIR = "inputs() returned another pair in another process: it must return the same one each time"

NO_NOISE = "each input always gives one output, in other processes too: a release without noise"
"""A note that replaces the one that leaves it open."""


def patience_within(max_seconds: float) -> float:
    """Return the seconds that copies get of an audit's time: half a second or a twentieth, a quarter at most."""
    return min(PATIENCE, max_seconds / 4, max(LEAST_PATIENCE, max_seconds / 20))


def confirmed(
    make: Callable[[], Subject],
    carry_out: Callable[[], Estimate],
    refuting: Callable[[Estimate], CertifiedEvent | None],
    entropy: int,
    here: Callable[[], Subject],
    max_seconds: float | None = None,
    *,
    anew: bool = False,
) -> Estimate:
    """Return the estimate; a refutation only if other processes do not contradict it.

    Parameters
    ----------
    make : callable
        Builds the subject again.
    carry_out : callable
        Makes the estimate, and the first draws.
    refuting : callable
        Returns what refutes the claim; None if nothing does.
    entropy, here
        As for :func:`compare_with`.
    max_seconds : float, optional
        Of the estimate and of other processes: the estimate leaves these :func:`patience_within`.
    anew : bool
        Whether `make` imports the subject's module again, generators of its own included.  Then an estimate that
        refutes nothing has a note if the noise does not depend on the generator.  One of many draws has a note,
        too, if the first outputs of other processes were not compared with their later ones.

    Raises
    ------
    audit.auditor.subject.SubjectError
        When they contradict it.
    """
    patience = None if max_seconds is None else patience_within(max_seconds)
    with copied(make) as copies:
        start = time.monotonic()
        found = carry_out()
        took = time.monotonic() - start
        refuted = refuting(found)
        if refuted is None:
            return replace(
                found, notes=(*found.notes, *_on_processes(copies, found, entropy, took, max_seconds, anew))
            )
        note = compare_with(copies, refuted.event, refuted.counts, entropy, here, patience)
    if note is None:
        # nothing was kept: it is a release without noise, and no question is left
        notes = tuple(NO_NOISE if one == ONE_OUTPUT_EACH else one for one in found.notes)
        return replace(found, notes=notes)
    return replace(found, notes=(*found.notes, note))


def _on_processes(
    copies: Copies | None, found: Estimate, entropy: int, took: float, max_seconds: float | None, anew: bool
) -> list[str]:
    """Return what other processes tell of an estimate that refutes nothing, and took so many seconds."""
    start, patience = time.monotonic(), None if max_seconds is None else patience_within(max_seconds)
    notes = [SAME_NOISE] if anew and drawn_alike(copies, entropy, patience) else []
    spent = time.monotonic() - start
    if found.draws < DRAWS_FOR_FIRST:
        return notes
    left = max(FOR_FIRST, SHARE_FOR_FIRST * took)
    left = left if max_seconds is None else min(left, max_seconds - took - spent)
    per_call = 1 if found.counts.calls is None else found.counts.calls.outputs_per_call
    note = compare_firsts(copies, entropy + 2, left, per_call, spent / 2 if anew else 0.0)
    return notes if note is None else [*notes, f"{FIRSTS_NOT_COMPARED}: {note}"]


def drawn_alike(copies: Copies | None, entropy: int, patience: float | None = None) -> bool:
    """Return whether two other processes, with different generators, made the same distinct draws."""
    if copies is None:
        return False
    limit = PATIENCE if patience is None else patience / 2
    asked = CopyRequest(calls=1, per_call=1, more=ALIKE, width=MOST_CHECKED_SINGLY)
    one = copies.draw(entropy, asked, limit, 1)
    # a copy that was too slow may answer later: nothing more is asked then
    other = one and copies.draw(entropy + 1, asked, limit, 1)
    return bool(other) and any(
        mine.tobytes() == theirs.tobytes() and len(np.unique(mine, axis=0)) == ALIKE
        for mine, theirs in zip(one[0].more, other[0].more, strict=True)
    )


def compare_firsts(
    copies: Copies | None, entropy: int, patience: float, per_call: int = 1, each: float = 0.0
) -> str | None:
    """Refuse a subject whose first output in a process differs from the next ones; return why nobody can tell.

    Parameters
    ----------
    copies, entropy, patience
        As for :func:`compare_with`.
    per_call : int
        With more than one, calls are taken whole: the first outputs of calls are compared.
    each : float
        Seconds that a process is known to take.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    if copies is None:
        return NO_COPIES
    number = 2 * FEWEST_PROCESSES
    if patience <= 0:
        return f"0 of {PROCESSES} gave draws within 0 s, which are too few"
    if number * each > patience:
        return f"each takes {each:.2g} s or more, and there were {patience:.2g} s for {number}"
    calls, more = (1, LATER) if per_call == 1 else (1 + LATER, 0)
    asked = CopyRequest(calls, per_call, more, MOST_COMPARED, in_turn=True)
    answered = copies.draw(entropy, asked, patience, PROCESSES)
    drawn = distinct(answered)
    enough = []
    for began, side in product((0, 1), (0, 1)):
        made = [(one.firsts[side], one.more[side]) for one in drawn if one.began == began]
        enough.append(check_processes([_first_and_later(*one) for one in made], side))
    if all(enough):
        return None
    if copies.lost:
        return f"{len(answered)} of {PROCESSES} gave draws within {patience:.2g} s, which are too few"
    if len(drawn) < len(answered):
        return f"{len(answered)} of {PROCESSES} drew, but only {len(drawn)} drew bits of their own"
    return f"{len(answered)} of {PROCESSES} gave draws, which are too few"


def _first_and_later(firsts: FloatArray, more: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first output of a process and later ones: first outputs of calls, or those of one long call."""
    return firsts[:1, :MOST_COMPARED], firsts[1:, :MOST_COMPARED] if len(firsts) > 1 else more


def compare_with(
    copies: Copies | None,
    event: Event,
    counts: Counts,
    entropy: int,
    here: Callable[[], Subject],
    patience: float | None = None,
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
        Seeds the draws of the copies, and further ones here; none of them certifies anything.
    here : callable
        Returns the subject with all that it has kept.
    patience : float, optional
        Seconds that all copies together may take, where the audit's time is limited.

    Raises
    ------
    audit.auditor.subject.SubjectError
        When the counts do not share one law, or vary between processes more than independent outputs would.
    """
    if copies is None:
        return f"{NOT_COMPARED}; {NO_COPIES}"
    per_call = 1 if counts.calls is None else counts.calls.outputs_per_call
    calls = min(MOST_CALLS, max(FEWEST_CALLS, counts.likely_draws // (CALLS_PER_DRAWS * per_call)))
    # of calls that are taken whole, outputs may depend on each other
    share = MORE_SHARE if patience is None else MORE_SHARE_BY_CLOCK
    more = 0 if counts.calls is not None else min(MOST_MORE, counts.likely_draws // share)
    asked = CopyRequest(calls, per_call, -(-more // COPIES), MOST_CHECKED_SINGLY)
    drawn = distinct(copies.draw(entropy, asked, PATIENCE if patience is None else patience, COPIES))
    marks = marks_of_process([one.firsts for one in drawn])
    try:
        firsts = _marked_as_here([one.firsts for one in drawn], marks, here, entropy) if len(marks) else None
    except FAILURES:
        return NOT_COMPARED
    if firsts is None:
        marks, firsts = marks[:0], [one.firsts for one in drawn]
    try:
        note = check_copies(event, counts, firsts, entropy)
    except SubjectError as problem:
        audited = told_apart(here().inputs())
        if all(one.inputs == audited for one in drawn):
            raise
        raise SubjectError(OTHER_PAIR) from problem
    if note is not None and copies.lost:
        return f"{NOT_COMPARED}; {TOO_FEW_IN_TIME}"
    if note is None and more and len(drawn) >= FEWEST_COPIES:
        rows = min(2 * more, MOST_VALUES // drawn[0].firsts[0].shape[1])
        try:
            subject = here()
            ours = [
                outputs_of_call(subject, given, rows, (entropy, COPIES, side, 0))[:, :MOST_CHECKED_SINGLY]
                for side, given in enumerate(subject.inputs())
            ]
        except FAILURES:
            # after the draws that certify: they stand
            return NOT_COMPARED
        theirs = [np.concatenate(side) for side in zip(*(one.more for one in drawn), strict=True)]
        seen = marks[marks < MOST_CHECKED_SINGLY]
        check_more(*([np.delete(side, seen, axis=1) for side in sides] for sides in (ours, theirs)))
    return note


def marks_of_process(drawn: Sequence[Pair]) -> IntArray:
    """Return the coordinates that mark a process: one value for all its outputs on both inputs, others elsewhere.

    A process id is one.  Within a process it says nothing about the input, so it cannot be noise that hides the
    input.

    Parameters
    ----------
    drawn : sequence of (left, right)
        Outputs of each process.
    """
    if not drawn:
        return np.empty(0, dtype=np.intp)
    outputs = [np.concatenate(pair) for pair in drawn]
    values = np.array([one[0] for one in outputs])
    same = np.all([(one == one[0]).all(axis=0) for one in outputs], axis=0)
    return np.flatnonzero(same & (values != values[0]).any(axis=0))


def _marked_as_here(
    drawn: Sequence[Pair], marks: IntArray, here: Callable[[], Subject], entropy: int
) -> list[Pair] | None:
    """Return outputs of other processes with this one's marks; None if they vary here.

    The bound holds given the mark, so other processes must have the same law apart from it.
    """
    subject = here()
    left, right = (
        outputs_of_call(subject, given, FEWEST_CALLS, (entropy, COPIES, side, 1))
        for side, given in enumerate(subject.inputs())
    )
    if not all((side[:, marks] == left[0, marks]).all() for side in (left, right)):
        return None
    marked = []
    for pair in drawn:
        sides = pair[0].copy(), pair[1].copy()
        for side in sides:
            side[:, marks] = left[0, marks]
        marked.append(sides)
    return marked


def check_copies(event: Event, counts: Counts, drawn: Sequence[Pair], entropy: int = 0) -> str | None:
    """Refuse counts that other processes contradict; return a note if there are too few processes.

    Parameters
    ----------
    event : Event
    counts : Counts
        Of the audit.
    drawn : sequence of (left, right)
        Outputs of each process, independent of each other.
    entropy : int
        Seeds the mixing of outputs of both inputs.
    """
    if not drawn:
        return NOT_COMPARED
    try:
        together = [np.concatenate(side) for side in zip(*drawn, strict=True)]
        of_both = event.scores_of_both(Both(together[0], together[1], lambda: np.random.default_rng(entropy)))
        scores = np.stack([side.reshape(len(drawn), -1) for side in of_both], axis=1)
        happened = event.within(scores)
        whole = np.array([[outputs[:, :MOST_CHECKED_SINGLY] for outputs in pair] for pair in drawn])
    except SubjectError:
        # of the same function as here, on outputs that it has not seen
        raise
    except (IndexError, ValueError):
        return NOT_COMPARED
    # per process and input
    found = happened.sum(axis=2)
    size = happened.shape[2]
    # kept noise may lie on one side of the event in all processes, and still differ between them
    looks = np.concatenate([happened[..., np.newaxis], scores[..., np.newaxis], whole], axis=3)
    kept = len(drawn) >= FEWEST_COPIES and log_p_of_independence(looks) < np.log(CHANCE)
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
        f"{len(drawn)} other processes: {pattern}; draw all randomness again for each output"
    )


def log_p_of_independence(looks: FloatArray) -> float:
    """Return the log of a bound on the chance that independent outputs differ so much between processes.

    Each look is split at the median of its values on an input.  If outputs are independent, all choices of those
    above it are equally likely, as for an event (:mod:`audit.bounds.overdispersion`).  The look that differs most
    counts, and pays for all.

    Parameters
    ----------
    looks : ndarray, shape (processes, 2, calls, looks)
    """
    processes, _, calls, number = looks.shape
    middle = np.sort(looks.swapaxes(1, 2).reshape(-1, 2, number), axis=0)[processes * calls // 2]
    middle = middle[:, np.newaxis]
    above = looks > middle
    above = np.where(above.any(axis=(0, 2), keepdims=True), above, looks >= middle)
    counts = above.sum(axis=2)
    share = counts.mean(axis=0) / calls
    usual = calls * share * (1 - share)
    ratios = np.divide(counts.var(axis=0), usual, out=np.zeros_like(usual), where=usual > 0)
    most = counts[:, :, ratios.max(axis=0).argmax()]
    p_value = log_p_value([np.bincount(side, minlength=calls + 1) for side in most.T])
    return min(0.0, p_value + float(np.log(number)))
