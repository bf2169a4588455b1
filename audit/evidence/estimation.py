"""The third flow, top to bottom: a request -> a subject with its claim -> a pair -> draws -> a result.

The certificate of the result is :meth:`audit.evidence.report.EstimateResult.certificate`;
:func:`audit.evidence.verify.verify` checks it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import msgspec
import numpy as np

from audit.auditor.certification import RepeatedRun
from audit.auditor.choose import Prospect
from audit.auditor.deadline import Deadline
from audit.auditor.distinguish import Estimate, estimate, silent
from audit.auditor.first import NO_TIME, NOT_COPIED
from audit.auditor.interruption import finish
from audit.auditor.pristine import Pristine
from audit.auditor.selection import Phases
from audit.auditor.subject import FAILURES, Subject, SubjectError
from audit.auditor.tally import CertifiedEvent
from audit.bounds.counts import LARGEST_EPSILON
from audit.common.keys import key_of
from audit.evidence.copies import confirmed, patience_within
from audit.evidence.report import EstimateResult
from audit.evidence.request import EstimateRequest
from audit.subjects.adjacency import notes_on_pair, require_unchanged
from audit.subjects.descriptions import (
    ImportDescription,
    NeighboursFound,
    PairDescription,
    core,
    neighbours_listed,
    neighbours_of,
    rebuild,
    rebuilt_anew,
)
from audit.subjects.programs import ProgramDescription, ProgramSubject
from audit.subjects.releases import OPERATING_SYSTEM, CoefficientRelease, MechanismDescription
from audit.subjects.search import AtPair, Effort, Listed, not_searched, searchable
from audit.subjects.search import search as search_neighbours
from audit.subjects.search.search import SEARCH_SHARE
from audit.subjects.stated import (
    NO_CLAIM,
    claim_of_attributes,
    inputs_of_pair,
    stated_inputs,
    states_claim,
)
from reference.budgets import parse_delta, parse_epsilon
from reference.common.errors import DeltaError, ReadingError
from reference.common.numbers import decimal_text

SEARCH_STREAM, COPIES_STREAM = 1, 2
"""Streams that keep the draws of the search, and those in other processes, apart from the estimate's."""

RESTART_SHARE = 0.125
"""Of a limited time, for a program's restarts."""

FOR_EVER = 1e9
"""Seconds for a run that must not end by the clock."""


@dataclass(frozen=True, eq=False)
class Audit:
    """A request ready to run: its subject, built or started, with the claim.

    Parameters
    ----------
    request : EstimateRequest
    subject : Subject
    claimed_epsilon, claimed_delta : Fraction
    inputs : dict
        The neighbouring inputs, for a reader.
    output_names : tuple of str
        Names of the coordinates of an output; empty if unknown.
    claim_stated : bool
        Whether the request or the subject states the claimed epsilon.
    neighbours : NeighboursFound or None
        Of pairs that were compared before a search among them.
    """

    request: EstimateRequest
    subject: Subject
    claimed_epsilon: Fraction
    claimed_delta: Fraction
    inputs: dict[str, Any]
    output_names: tuple[str, ...] = ()
    claim_stated: bool = True
    neighbours: NeighboursFound | None = None

    @classmethod
    def of(cls, request: EstimateRequest) -> Audit:
        """Build the requested subject; a program is started.

        Raises
        ------
        reference.common.errors.InputError
        """
        stated = request.checked()
        # the claim first: nothing is started for an invalid claim
        epsilon = None if stated.epsilon is None else parse_epsilon("epsilon", stated.epsilon)
        delta = None if stated.delta is None else parse_delta("delta", stated.delta)
        subject = rebuild(stated.subject)
        inputs = _readable_inputs(stated, subject)
        names: tuple[str, ...] = ()
        # on a pair that a search found the claim is the searched subject's
        own = rebuild(core(stated.subject)) if isinstance(subject, AtPair) else subject
        if isinstance(own, CoefficientRelease):
            epsilon, delta, names = own.claim.epsilon, own.claim.delta, own.output_names
        own_epsilon, own_delta = claim_of_attributes(own)
        claim_stated = epsilon is not None or states_claim(own)
        epsilon = own_epsilon if epsilon is None else epsilon
        delta = own_delta if delta is None else delta
        return cls(_answered(stated, subject), subject, epsilon, delta, inputs, names, claim_stated)

    @property
    def mechanism(self) -> str:
        """The name of the audited mechanism."""
        return self.request.mechanism

    @property
    def note(self) -> str | None:
        """A note on the auditor's seeds if the randomness does not come from them."""
        subject = core(self.request.subject)
        if isinstance(subject, MechanismDescription):
            return OPERATING_SYSTEM if subject.hardened else None
        return subject.randomness if isinstance(subject, ProgramDescription) else None

    def check(self) -> None:
        """Raise unless the claim can be audited as requested.

        Raises
        ------
        reference.common.errors.ReadingError
        """
        if self.claimed_epsilon > LARGEST_EPSILON:
            # exp(epsilon) would overflow
            most = f"at most {LARGEST_EPSILON:g} to be audited"
            raise ReadingError("epsilon", decimal_text(self.claimed_epsilon), most)
        if float(self.claimed_delta) == 1:
            raise DeltaError("delta", decimal_text(self.claimed_delta), "below 1 as a 64-bit float")
        if self.request.bound == "conditional" and self.claimed_delta > 0:
            raise ReadingError("bound", self.request.bound, f"left to delta 0; {self.mechanism} claims more")

    def refuted_by(self, found: Estimate) -> CertifiedEvent | None:
        """Return the event of the requested object that refutes the claim, or None."""
        claim, bits = float(self.claimed_epsilon), self.request.object == "implementation"
        if found.verdict(claim) == "refuted":
            return found.ideal
        refuted = bits and found.verdict(claim, implementation=True) == "refuted"
        return found.implementation if refuted else None

    def generator(self, *stream: int) -> np.random.Generator:
        """Return the generator of a stream: under one seed every mechanism of a call has its own."""
        return np.random.default_rng([self.request.seed, *self.mechanism.encode(), *stream])


def carried_out(
    audit: Audit,
    *,
    workers: int = 1,
    progress: Callable[[int], None] = silent,
    say: Callable[[str], None] | None = None,
) -> EstimateResult:
    """Search for a pair if requested, then estimate on fresh draws.

    Parameters
    ----------
    audit : Audit
    workers : int
        Cores; the result does not depend on it.
    progress : callable
        Told the number of draws made, as they are made.
    say : callable, optional
        Told, in words, that a search was interrupted.

    Raises
    ------
    KeyboardInterrupt
        When nothing was certified yet.
    audit.auditor.deadline.OutOfTimeError
        When the time ran out before anything was certified.
    """
    start, request, spent = time.perf_counter(), audit.request, 0
    if request.search:
        # a separate stream; the pair is fixed before any draw of the estimate
        audit, spent = at_worst_pair(audit, workers=workers, progress=progress)
        if say is not None and audit.inputs["search"]["stopped"] == "interrupted":
            say("search interrupted: the best pair so far is audited")
    remaining = None
    if request.max_seconds is not None:
        remaining = max(0.0, request.max_seconds - (time.perf_counter() - start))
    found = estimated(audit, spent, max_seconds=remaining, workers=workers, progress=progress)
    seconds = round(time.perf_counter() - start, 3)
    # after all draws, which it cannot disturb
    unsearched = isinstance(request.subject, ImportDescription) and not request.search
    left_out = finish(lambda: not_searched(audit.subject))[0] if unsearched else None
    return replace(found, seconds=seconds, not_searched=left_out)


def estimated(
    audit: Audit,
    spent: int,
    *,
    max_seconds: float | None = None,
    repeated: RepeatedRun | None = None,
    workers: int = 1,
    progress: Callable[[int], None] = silent,
) -> EstimateResult:
    """Return the estimate on the audit's pair, after spending this many draws on a search for it.

    Parameters
    ----------
    audit : Audit
    spent : int
    max_seconds : float, optional
        The remaining time.
    repeated : RepeatedRun, optional
        What the clock decided in a run that is repeated: then time plays no part.
    workers : int
    progress : callable
    """
    request = audit.request
    copies, whole = isinstance(core(request.subject), ImportDescription), max_seconds
    program = isinstance(request.subject, ProgramDescription)
    if max_seconds is not None and (copies or program):
        if isinstance(audit.subject, ProgramSubject) and repeated is None:
            audit.subject.until(Deadline.after(max_seconds))
        # a refutation is confirmed, or a program started again, within the limit
        max_seconds -= max_seconds * RESTART_SHARE if program else patience_within(max_seconds)
    # before any draw: inputs that are not neighbours cost nothing
    neighbours = audit.neighbours or neighbours_of(request.subject, audit.subject)
    if repeated is not None and request.max_seconds is not None:
        # a limit of time also decides that the bound is the anytime one
        max_seconds = FOR_EVER
    terms = request.terms(
        float(audit.claimed_epsilon), float(audit.claimed_delta), spent=spent, max_seconds=max_seconds
    )
    asked = terms if repeated is None else replace(terms, repeated=repeated)

    def carried() -> Estimate:
        return estimate(audit.subject, asked, audit.generator(), workers=workers, progress=progress)

    if copies:
        entropy = int(audit.generator(COPIES_STREAM).integers(2**63))
        make = partial(rebuilt_anew, request.subject)
        # short calls show a change of the first ones alone
        inputs = audit.subject.inputs()
        before = [key_of(given) for given in inputs]
        found = confirmed(make, carried, audit.refuted_by, entropy, lambda: audit.subject, whole, anew=True)
        require_unchanged(inputs, before)
    else:
        found = carried()
    if program:
        # it is started again at the end
        found = replace(
            found, notes=tuple(one for one in found.notes if not one.startswith((NOT_COPIED, NO_TIME)))
        )
    else:
        # a program's pair has its own notes
        own = audit.subject.subject if isinstance(audit.subject, AtPair) else audit.subject
        relation = getattr(own, "adjacency", None) if copies else None
        noted = (*found.notes, *notes_on_pair(*audit.subject.inputs(), relation), *neighbours.notes)
        found = replace(found, notes=noted)
    if not audit.claim_stated:
        found = replace(found, notes=(*found.notes, NO_CLAIM))
    found = replace(found, draws=found.draws + spent, requested_draws=found.requested_draws + spent)
    return EstimateResult(
        request=request,
        estimate=found,
        claimed_delta=audit.claimed_delta,
        claimed=float(audit.claimed_epsilon),
        inputs=audit.inputs,
        neighbours=neighbours.known,
        output_names=audit.output_names,
        note=audit.note,
        seeded=found.seeded and not getattr(audit.subject, "own_entropy", False),
    )


def finished(audit: Audit, found: EstimateResult | None) -> EstimateResult | None:
    """End a program and start it again to compare, in the time that is left; a note tells of too little.

    Raises
    ------
    audit.subjects.programs.ProgramError
    """
    if not isinstance(audit.subject, ProgramSubject):
        return found
    most = audit.request.max_seconds
    left = None if most is None else 0.0 if found is None else max(0.0, most - found.seconds)
    note = audit.subject.finish(Deadline.after(left))
    if found is None or note is None:
        return found
    return replace(found, estimate=replace(found.estimate, notes=(*found.estimate.notes, note)))


def at_worst_pair(
    audit: Audit, *, workers: int = 1, progress: Callable[[int], None] = silent
) -> tuple[Audit, int]:
    """Return the audit on the worst pair that a search finds, and the draws that it cost.

    Raises
    ------
    reference.common.errors.InputError
        When the subject declares no domain of inputs.
    """
    request = audit.request
    if isinstance(request.subject, ProgramDescription | PairDescription):
        raise SubjectError("nothing to search: the subject declares no neighbourhood and has no candidates()")
    subject, neighbourhood = searchable(audit.subject)
    # before any draw, as for one pair
    neighbours = neighbours_listed(subject, neighbourhood) if isinstance(neighbourhood, Listed) else None
    listed = [given for pair in neighbourhood.pairs for given in pair] if isinstance(neighbourhood, Listed) else []
    made = Pristine.of(subject, tuple(listed))
    draws = int(request.draws * SEARCH_SHARE)
    certify = Phases.of(request.draws - draws, 1, learning=True).certify
    seconds = None if request.max_seconds is None else request.max_seconds * SEARCH_SHARE
    found = search_neighbours(
        subject,
        neighbourhood,
        Effort(draws, workers, seconds),
        Prospect(certify, float(audit.claimed_delta), request.significance),
        audit.generator(SEARCH_STREAM),
        progress,
    )
    note = {
        "origin": found.origin,
        "pairs_tried": found.tried,
        "pairs_sifted": found.sifted,
        "pairs_untried": found.untried,
        "draws": found.draws,
        "stopped": found.stopped,
    }
    described = PairDescription(subject=request.subject, pair=neighbourhood.to_json(found.pair))
    inputs = {**inputs_of_pair(subject, found.pair, audit.inputs), "search": note}
    asked = msgspec.structs.replace(request, subject=described)
    at_pair = AtPair(subject, found.pair, made.subject if isinstance(made, Pristine) else None)
    return replace(audit, request=asked, subject=at_pair, inputs=inputs, neighbours=neighbours), found.draws


def _readable_inputs(request: EstimateRequest, subject: Subject) -> dict[str, Any]:
    """Return the two inputs for a reader; a searched subject may have none yet."""
    name = request.mechanism
    if isinstance(subject, CoefficientRelease | ProgramSubject):
        return stated_inputs(subject)
    if not hasattr(subject, "inputs"):
        if not request.search:
            raise SubjectError(f"{name} has no inputs(): --search searches its declared domain for them")
        return {}
    try:
        return stated_inputs(subject)
    except SubjectError:
        raise
    except FAILURES as problem:
        raise ReadingError("mechanism", name, f"a subject with two inputs ({problem})") from problem


def _answered(request: EstimateRequest, subject: Subject) -> EstimateRequest:
    """Return the request with a program's answers: its inputs, and the source of its randomness."""
    if not isinstance(subject, ProgramSubject) or not isinstance(request.subject, ProgramDescription):
        return request
    described = msgspec.structs.replace(subject.description, inputs_file=request.subject.inputs_file)
    return msgspec.structs.replace(request, subject=described)
