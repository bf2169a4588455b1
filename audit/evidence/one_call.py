"""One call: a bound from two arrays, or an assertion that a mechanism keeps its claim.

Import both from `audit` itself.  Nothing is stored: for a certificate that others can check, give the
mechanism a name that Python can import, and use ``python -m audit estimate``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence, Sized
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from numbers import Real
from types import TracebackType
from typing import Any, TypedDict, Unpack

import numpy as np

from audit.auditor.deadline import OutOfTimeError
from audit.auditor.distinguish import LARGEST_DRAWS, SMALLEST_DRAWS, Estimate, Terms, estimate
from audit.auditor.subject import FAILURES, SubjectError, two_inputs
from audit.auditor.tally import CertifiedEvent
from audit.bounds.counts import LARGEST_EPSILON
from audit.common.keys import key_of
from audit.evidence.arguments import delta_below_one, significance_of, whole_number
from audit.evidence.arrays import CertifiedBound, epsilon_lower_bound, trade_off
from audit.evidence.canaries import canary_lower_bound, canary_mu_lower_bound
from audit.evidence.copies import NO_NOISE, confirmed, patience_within
from audit.evidence.finding import OneCallFinding
from audit.evidence.request import MOST_PER_CALL
from audit.evidence.running import RUNNING, Assertion
from audit.evidence.words import inputs_in_words
from audit.subjects.adapters.function import FunctionSubject
from audit.subjects.adjacency import UNCHECKED, Relation, notes_on_pair, require_neighbours, require_unchanged
from audit.subjects.descriptions import declared_relation
from audit.subjects.stated import as_json, stated_number
from reference.budgets import parse_epsilon
from reference.common.errors import InputError, ReadingError
from reference.common.numbers import decimal_text
from reference.common.printable import in_brief
from reference.readings import ADJACENCIES

DRAWS = 200_000
"""Default draws of an assertion: both inputs, all phases."""

OWN = "own"
"""In place of a number of the claim: what the mechanism states."""

WHOLE_NUMBERS: dict[str, Sequence[int]] = {
    "draws": (DRAWS, SMALLEST_DRAWS, LARGEST_DRAWS),
    "seed": (0, 0),
    "workers": (1, 1),
    "outputs_per_call": (1, 1, MOST_PER_CALL),
}
"""Options that are whole numbers: their defaults, smallest and, where there are such, largest values."""

MOST_LISTED, CHARACTERS = 100_000, 20
"""Parts of an input that are compared to say where two inputs differ; and the characters of a number, about."""

NO_NOISE_HERE = (
    "each input always gives one output: a release without noise, unless its noise was drawn and "
    "kept before this audit, where other processes have it from this one"
)
"""Instead of the note on modules that other processes import anew: a function is as this process left it."""


class How(TypedDict, total=False):
    """The options of an assertion, besides the claim."""

    draws: int
    significance: float
    seed: int
    adjacency: Relation | None
    allow_undecided: bool
    workers: int
    outputs_per_call: int
    max_seconds: float | None


def assert_private(
    mechanism: Any, left: Any, right: Any, *, epsilon: Any = OWN, delta: Any = OWN, **how: Unpack[How]
) -> OneCallFinding:
    """Raise AssertionError if a mechanism is found to lose more than it claims; return the finding.

    A test that could not have shown 1.5 times the claim is undecided, not a success: it raises, too, unless
    `allow_undecided` is true.

    Parameters
    ----------
    mechanism : callable or object
        `mechanism(data, rng)` returns one output, a number or an array, and takes its randomness from `rng`; or an
        object whose method `sample(data, count, rng)` returns `count` outputs, one a row.
    left, right : object
        The two neighbouring inputs.
    epsilon, delta : number or decimal string
        The claim.  What is left out, or `'own'`, is the mechanism's attribute `claimed_epsilon` or
        `claimed_delta`; a delta that it does not have is 0.
    draws : int
        Of all phases and both inputs (200,000).
    significance : float
        Largest chance that a right mechanism is refuted (0.05).
    seed : int
        Of the mechanism's generators (0): the same draws each time.
    adjacency : {'replace_one', 'add_or_remove_one'} or callable
        Checked on the inputs.  If left out, the mechanism's attribute `adjacency` counts, where there is one; else
        a note says that nobody checked.  The two must not differ.
    allow_undecided : bool
    workers : int
        Threads; does not change the result (1).
    outputs_per_call : int
        With more than one, only calls of this many consecutive outputs need be independent (1).
    max_seconds : float
        Drawing ends by the clock, between calls.  The bound is then the anytime one, and no seed repeats it.

    Raises
    ------
    AssertionError
    reference.common.errors.InputError
        When the claim, the inputs or the mechanism cannot be audited: inputs that are not neighbours, too.
    """
    # makes pytest show the caller's line, not this function
    __tracebackhide__ = True
    # a test may make several calls, in a loop or in threads
    call = None if (test := RUNNING[-1]) is None else test.begin()
    with nullcontext() if call is None else call:
        finding = audited_briefly(mechanism, (left, right), (epsilon, delta), call, **how)
        if finding.fails(allow_undecided=how.get("allow_undecided", False)):
            raise AssertionError(str(finding) if call is None else f"{finding}\n  {call}")
    return finding


def audited_briefly(
    mechanism: Any, inputs: tuple[Any, Any], claim: tuple[Any, Any], call: Assertion | None, **how: Unpack[How]
) -> OneCallFinding:
    """Return what :func:`audited` does; an error shows the caller's code and the mechanism's, and none of ours."""
    __tracebackhide__ = True
    unknown = sorted(set(how) - set(How.__annotations__))
    if unknown:
        known = ", ".join(["epsilon", "delta", *How.__annotations__])
        raise TypeError(f"assert_private() has no argument {unknown[0]!r}, but {known}")
    if call is not None:
        # without a number, all that are left
        call.spend(how.setdefault("draws", call.test.left or DRAWS), SMALLEST_DRAWS)
    try:
        return audited(mechanism, inputs, claim, **how)
    except InputError as problem:
        cause = problem.__cause__
        if cause is not None:
            cause = cause.with_traceback(_of_others(cause.__traceback__))
        problem.args = tuple(_naming(mechanism, one) if isinstance(one, str) else one for one in problem.args)
        raise problem.with_traceback(None) from cause


def _naming(mechanism: Any, said: str) -> str:
    """Return what the auditor says of a subject's method as said of a plain function, which has no such method."""
    return said if hasattr(mechanism, "sample") else re.sub(r"(?<![\w.])sample\(\)", "mechanism(data, rng)", said)


def _of_others(trace: TracebackType | None) -> TracebackType | None:
    """Return the frames from the first one that is not of this package."""
    while trace is not None and str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0] == "audit":
        trace = trace.tb_next
    return trace


def audited(mechanism: Any, inputs: tuple[Any, Any], claim: tuple[Any, Any], **how: Unpack[How]) -> OneCallFinding:
    """Return the finding of an audit, whatever the verdict; arguments as for :func:`assert_private`."""
    numbers = {
        name: whole_number(name, how.get(name, default), *limits)
        for name, (default, *limits) in WHOLE_NUMBERS.items()
    }
    if not isinstance(allowed := how.get("allow_undecided", False), bool):
        raise ReadingError("allow_undecided", allowed, "True or False")
    significance = significance_of(how.get("significance", 0.05))
    seconds, in_all = _times(how.get("max_seconds"))
    _check_mechanism(mechanism)
    epsilon, delta = _claim(mechanism, *claim)
    relation = _relation(mechanism, how.get("adjacency"))
    # before a relation uses up what can be read only once
    two_inputs(inputs)
    undecided = require_neighbours(*inputs, relation)
    terms = Terms(
        draws=numbers["draws"],
        delta=float(delta),
        significance=significance,
        claimed_epsilon=float(epsilon),
        outputs_per_call=numbers["outputs_per_call"],
        max_seconds=seconds,
    )
    seed = numbers["seed"]

    audited_here = FunctionSubject(mechanism, *inputs)

    def subject() -> FunctionSubject:
        return FunctionSubject(mechanism, *inputs)

    def carried() -> Estimate:
        return estimate(audited_here, terms, np.random.default_rng(seed), workers=numbers["workers"])

    def refuting(found: Estimate) -> CertifiedEvent | None:
        return found.ideal if found.verdict(float(epsilon)) == "refuted" else None

    # a separate stream for draws in other processes
    entropy = int(np.random.default_rng([seed, 1]).integers(2**63))
    before = [key_of(given) for given in inputs]
    try:
        found = confirmed(subject, carried, refuting, entropy, subject, in_all)
    except OutOfTimeError as problem:
        raise SubjectError(f"undecided: {problem}; raise max_seconds") from problem
    except SubjectError:
        # else a changed input would be reported as dependent draws
        require_unchanged(inputs, before)
        raise
    require_unchanged(inputs, before)
    notes = [NO_NOISE_HERE if note == NO_NOISE else _naming(mechanism, note) for note in found.notes]
    notes += notes_on_pair(*inputs, relation)
    # the finding itself says that no relation is given
    notes += [] if undecided in (None, UNCHECKED) else [undecided]
    if note := audited_here.note_on_types():
        notes.append(note)
    found = replace(found, notes=tuple(notes))
    return OneCallFinding(float(epsilon), delta, found, seed, undecided is None, _inputs_in_words(audited_here))


def _inputs_in_words(subject: FunctionSubject) -> str:
    """Return both inputs as the command tells them: of long ones the records that differ."""
    left, right = subject.inputs()
    try:
        if not any(map(_is_huge, (left, right))):
            noun = "part" if isinstance(left, tuple) and isinstance(right, tuple) else "record"
            return inputs_in_words(as_json(left), as_json(right), noun)
    except FAILURES:
        # what cannot show itself must not end an audit that is over
        pass
    return f"{in_brief(left)} against {in_brief(right)}"


def _is_huge(given: Any) -> bool:
    """Return whether an input has, at all levels, more parts than are compared."""
    count, waiting = 0, [given]
    while waiting and count + len(waiting) <= MOST_LISTED:
        one = waiting.pop()
        held = _held(one)
        count += _numbers(one) if held is None else 1
        waiting.extend(islice(held or (), MOST_LISTED))
    return count + len(waiting) > MOST_LISTED


def _held(given: Any) -> Iterable[Any] | None:
    """Return the parts of a collection; None for anything else."""
    if isinstance(given, dict):
        return given.values()
    if isinstance(given, np.ndarray):
        # its elements may be arrays
        return given.ravel().tolist() if given.dtype == object and given.size <= MOST_LISTED else None
    return given if isinstance(given, list | tuple | set | frozenset) else None


def _numbers(given: Any) -> int:
    """Return how many numbers an array or a table has, or would be as long to write as a text is."""
    shape = getattr(given, "shape", None)
    if isinstance(shape, tuple):
        return math.prod(shape)
    if isinstance(given, str | bytes):
        return 1 + len(given) // CHARACTERS
    return len(given) if isinstance(given, Sized) else 1


def _times(most: Any) -> tuple[float | None, float | None]:
    """Return the seconds for draws here, and those in all, with other processes; None for no limit."""
    if most is None:
        return None, None
    if isinstance(most, bool) or not isinstance(most, Real) or not 0 < float(most) < math.inf:
        raise ReadingError("max_seconds", most, "a positive number")
    return float(most) - patience_within(float(most)), float(most)


def _check_mechanism(mechanism: Any) -> None:
    what = "a function of (data, rng), or an object with a method sample"
    if isinstance(mechanism, type):
        raise ReadingError("mechanism", mechanism, f"{what}; this is a class: pass an instance of it")
    if not (callable(mechanism) or callable(getattr(mechanism, "sample", None))):
        raise ReadingError("mechanism", mechanism, what)


def _claim(mechanism: Any, epsilon: Any, delta: Any) -> tuple[Fraction, Fraction]:
    """Return the claim as given; what is not given is what the mechanism states."""
    if _is_own(epsilon) and (epsilon := stated_number(mechanism, "claimed_epsilon", None)) is None:
        raise ReadingError("epsilon", None, "given: the mechanism has no attribute claimed_epsilon")
    claimed = parse_epsilon("epsilon", epsilon)
    if claimed > LARGEST_EPSILON:
        raise ReadingError("epsilon", decimal_text(claimed), f"at most {LARGEST_EPSILON:g} to be audited")
    if _is_own(delta):
        stated = stated_number(mechanism, "claimed_delta", None)
        delta = 0 if stated is None else stated
    return claimed, delta_below_one(delta)


def _is_own(given: Any) -> bool:
    return isinstance(given, str) and given == OWN


def _relation(mechanism: Any, given: Relation | None) -> Relation | None:
    """Return the neighbour relation that is given or that the mechanism states, unless these differ."""
    try:
        stated = getattr(mechanism, "adjacency", None)
    except FAILURES as problem:
        raise SubjectError(f"adjacency failed: {type(problem).__name__}: {problem}") from problem
    # anything else, as the matrix of a graph, states no relation
    if not (isinstance(stated, str) or callable(stated)):
        return given
    if given is None:
        return declared_relation(mechanism)
    # a function may say what a name of the user's own means
    defined = callable(given) and isinstance(stated, str) and stated not in ADJACENCIES
    if not defined and given is not stated and given != stated:
        both = f"{in_brief(given)} in the call and {in_brief(stated)} in the mechanism"
        raise SubjectError(f"adjacency is {both}: leave out the first, or let them agree")
    return given


__all__ = [
    "CertifiedBound",
    "OneCallFinding",
    "assert_private",
    "audited",
    "audited_briefly",
    "canary_lower_bound",
    "canary_mu_lower_bound",
    "epsilon_lower_bound",
    "trade_off",
]
