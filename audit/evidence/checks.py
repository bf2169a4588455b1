"""Checks that a certificate's statements follow from its request.

For our own mechanisms and the catalogue's, the claim and the inputs follow from the recorded parameters, and are
computed again.  For any other subject the claim comes from whoever ran the audit: nothing here can vouch for it.
Nothing is drawn, and no code that a certificate names is run.
"""

from __future__ import annotations

import contextlib
import json
import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from audit.auditor.subject import Subject, SubjectError
from audit.bounds import ANYTIME_METHODS, CLUSTERS, refutes
from audit.common.compare import differences, everywhere, nowhere, same_but_for_last_digits
from audit.evidence.certificate import Certificate
from audit.subjects.adjacency import UNCHECKED
from audit.subjects.descriptions import (
    BY_CONSTRUCTION,
    FOUND,
    IN_DOMAIN,
    CatalogueDescription,
    Description,
    DescriptionError,
    ImportDescription,
    PairDescription,
    core,
    neighbours_of,
    neighbours_of_lists,
    rebuild_small,
)
from audit.subjects.programs import ProgramDescription
from audit.subjects.releases import MechanismDescription
from audit.subjects.stated import (
    NO_CLAIM,
    SUMMARY,
    claim_of_attributes,
    inputs_of_pair,
    own_claim,
    stated_inputs,
    states_claim,
    told_of_program,
)
from reference.budgets import parse_delta, parse_epsilon
from reference.common.errors import InputError, ReadingError
from reference.common.files import json_text
from reference.common.numbers import decimal_text

YOUR_CLAIM = "your claim"
"""The check that compares the claim with the reader's: where they differ, nothing need be forged."""

GIVEN = "as given by whoever ran the audit"

LAST_DIGITS_DIFFER = "they differ in their last digits: another machine's arithmetic, or an edit"
"""What is said of stated inputs that are nearly those which the subject has here."""

NOT_VALID = (KeyError, TypeError, ValueError, AttributeError, IndexError)
"""What parameters that no audit wrote raise where a subject is rebuilt from them."""


@dataclass(frozen=True)
class Check:
    """One check of a certificate.

    Parameters
    ----------
    name : str
    holds : bool or None
        None when it could not be decided.
    detail : str
    """

    name: str
    holds: bool | None
    detail: str


def binding(certificate: Certificate) -> list[Check]:
    """Return whether name, claim, inputs and request are those of the recorded subject."""
    return [_name(certificate), *_subject(certificate), _neighbours(certificate), _request(certificate)]


def checked_claim(certificate: Certificate, epsilon: str | None, delta: str | None) -> Check | None:
    """Return whether the certificate is about the claim that the reader states; None if nothing is stated.

    Parameters
    ----------
    certificate : Certificate
    epsilon, delta : str or None
        As on the command line.

    Raises
    ------
    reference.common.errors.InputError
        When they are not privacy parameters.
    """
    if epsilon is None and delta is None:
        return None
    wanted_epsilon = certificate.claimed_epsilon if epsilon is None else float(parse_epsilon("epsilon", epsilon))
    wanted_delta = claimed_delta(certificate) if delta is None else parse_delta("delta", delta)
    same = _close(wanted_epsilon, certificate.claimed_epsilon) and Fraction(wanted_delta) == claimed_delta(
        certificate
    )
    yours = f"({wanted_epsilon:g}, {decimal_text(wanted_delta)})"
    if same:
        return Check(YOUR_CLAIM, True, f"{yours}, as in the certificate")
    told = "its bound is at a smaller delta than yours"
    if wanted_delta <= claimed_delta(certificate):
        # a bound at a delta is one at every smaller delta
        too = refutes(certificate.epsilon_lower_bound, wanted_epsilon, certificate.method)
        told = f"its bound, if it holds, {'refutes yours, too' if too else 'does not refute yours'}"
    again = f"an audit with --epsilon {wanted_epsilon:g} --delta {decimal_text(wanted_delta)} judges yours"
    return Check(
        YOUR_CLAIM, False, f"yours is {yours}, the certificate's {_claim_text(certificate)}: {told}; {again}"
    )


def claimed_delta(certificate: Certificate) -> Fraction:
    """Return the certificate's delta, exactly.

    Raises
    ------
    reference.common.errors.InputError
        When it is not a number in [0, 1).
    """
    return parse_delta("claimed_delta", certificate.claimed_delta)


def _claim_text(certificate: Certificate) -> str:
    return f"({certificate.claimed_epsilon:g}, {certificate.claimed_delta})"


def _name(certificate: Certificate) -> Check:
    """Return whether the mechanism has the name of the recorded subject."""
    found: str | list[str]
    stated: str | list[str] = certificate.mechanism
    match core(certificate.subject):
        case MechanismDescription(mechanism=name) | CatalogueDescription(name=name):
            found = name
        case ImportDescription(path=path):
            found = path
        case ProgramDescription(command=words):
            found = list(words)
            with contextlib.suppress(ValueError):
                stated = shlex.split(certificate.mechanism)
    return Check("name", stated == found, f"{certificate.mechanism}, and the recorded subject is {found}")


def _subject(certificate: Certificate) -> Iterator[Check]:
    """Yield whether claim and inputs follow from the recorded parameters."""
    described = certificate.subject
    if not isinstance(core(described), MechanismDescription | CatalogueDescription):
        yield Check(
            "claim", True, f"{_claim_text(certificate)}, {GIVEN}; --epsilon and --delta compare it with yours"
        )
        if isinstance(described, ProgramDescription) and described.inputs is not None:
            yield _same_inputs(certificate, told_of_program(described.inputs))
        return
    try:
        # no foreign code is imported or run: this package knows both kinds
        subject = rebuild_small(core(described))
        whole = rebuild_small(described) if isinstance(described, PairDescription) else subject
        yield _claim(certificate, subject)
        yield _inputs(certificate, whole, subject)
    except DescriptionError as problem:
        yield Check("claim", False, f"the recorded subject is not valid: {problem}")
    except InputError as problem:
        # such as missing real data
        yield Check("claim", None, f"the subject cannot be rebuilt here: {problem}")
    except NOT_VALID as problem:
        yield Check("claim", False, f"the recorded subject is not valid: {type(problem).__name__}: {problem}")


def _neighbours(certificate: Certificate) -> Check:
    """Return whether a certificate's statement on its neighbours follows from the kind of the subject.

    For the user's own subject, a replay compares the statement.
    """
    stated, described = certificate.neighbours, certificate.subject
    if isinstance(described, MechanismDescription | CatalogueDescription):
        return Check("neighbours", stated == BY_CONSTRUCTION, stated)
    if isinstance(described, ProgramDescription):
        try:
            known = UNCHECKED if described.inputs is None else neighbours_of_lists(described.inputs)
        except SubjectError as problem:
            return Check("neighbours", False, str(problem))
        return Check("neighbours", stated == known, stated)
    if isinstance(described, PairDescription):
        return Check("neighbours", stated in _texts_of_pair(described), stated)
    return Check(
        "neighbours",
        stated not in (BY_CONSTRUCTION, IN_DOMAIN),
        stated if stated == UNCHECKED else f"{stated}, {GIVEN}",
    )


def _texts_of_pair(described: PairDescription) -> Sequence[str]:
    """Return what can be said of a pair found by a search: one text, but for the user's own subject."""
    if isinstance(core(described), ImportDescription):
        return FOUND
    with contextlib.suppress(InputError, *NOT_VALID):
        return (neighbours_of(described, rebuild_small(core(described))).known,)
    # :func:`_subject` says why it cannot be rebuilt
    return FOUND


def neighbours_checked(certificate: Certificate, checks: Sequence[Check]) -> bool:
    """Return whether these checks found the inputs to be neighbours, and do not just repeat a statement.

    Parameters
    ----------
    certificate : Certificate
    checks : sequence of Check
    """
    if certificate.neighbours == UNCHECKED:
        return False
    foreign = isinstance(core(certificate.subject), ImportDescription)
    wanted = ("neighbours found", "replay") if foreign else ("neighbours",)
    found = [check.holds for check in checks if check.name in wanted]
    return bool(found) and all(found)


def _claim(certificate: Certificate, subject: Subject) -> Check:
    own = own_claim(subject)
    if own is None:
        raise ValueError("a subject of this package states its claim")
    epsilon, delta = own
    stated = f"({float(epsilon):g}, {decimal_text(delta)})"
    same = _close(float(epsilon), certificate.claimed_epsilon)
    if (
        same
        and delta != claimed_delta(certificate)
        and isinstance(certificate.subject, CatalogueDescription)
        and _stated(certificate, "delta")
    ):
        # the catalogue's mechanisms may be audited at any delta
        return Check("claim", True, f"delta {certificate.claimed_delta}, {GIVEN}; the mechanism's own is {stated}")
    return Check(
        "claim",
        same and delta == claimed_delta(certificate),
        f"the recorded parameters give {stated}, the certificate says {_claim_text(certificate)}",
    )


def _inputs(certificate: Certificate, whole: Subject, subject: Subject) -> Check:
    """Return whether the inputs shown to a reader are the audited ones."""
    return _same_inputs(certificate, inputs_told(whole, subject))


def inputs_told(whole: Subject, subject: Subject) -> dict[str, Any]:
    """Return the inputs of a subject, on a pair found by a search or on its own, as a certificate shows them."""
    if whole is subject:
        return stated_inputs(subject)
    own = stated_inputs(subject) if hasattr(subject, "inputs") else {}
    return inputs_of_pair(getattr(whole, "subject", subject), whole.inputs(), own)


def inputs_computed(described: Description) -> Callable[[str], bool]:
    """Return whether this package computes the inputs of a subject: other inputs are data."""
    return everywhere if isinstance(core(described), MechanismDescription) else nowhere


def nearly_stated(certificate: Certificate, inputs: dict[str, Any]) -> bool:
    """Return whether the inputs of the user's own subject are stated, but for the last digits of floats.

    The digests of long ones say nothing then, but that some of the records shown with them do so.

    Parameters
    ----------
    certificate : Certificate
    inputs : dict
        As they are here, in JSON.
    """
    if not isinstance(core(certificate.subject), ImportDescription):
        return False
    ours, theirs = (
        # only a replay computes again what a search states about itself
        {name: _without_digest(one) for name, one in told.items() if name != "search"}
        for told in (inputs, certificate.inputs)
    )
    return ours != theirs and same_but_for_last_digits(ours, theirs)


def _without_digest(told: Any) -> Any:
    """Return the length of a long input and those of its records that are shown in full; else what is told."""
    with contextlib.suppress(*NOT_VALID):
        if set(told) == SUMMARY:
            # in quotation marks
            records = {place: json.loads(record[1:-1]) for place, record in told["different"].items()}
            return {"length": told["length"], "different": records}
    return told


def _same_inputs(certificate: Certificate, expected: dict[str, Any]) -> Check:
    stated = dict(certificate.inputs)
    if isinstance(certificate.subject, PairDescription):
        # only a replay computes again what a search states about itself
        stated.pop("search", None)
    computed = inputs_computed(certificate.subject)
    found = json.loads(json_text(expected))
    places = list(differences(found, stated, "inputs", computed=computed))
    if nearly_stated(certificate, found):
        return Check("inputs", None, LAST_DIGITS_DIFFER)
    detail = "as the recorded parameters give them" if not places else f"not what the parameters give: {places[0]}"
    return Check("inputs", not places, detail)


def rebuilt(certificate: Certificate) -> list[Check]:
    """Return whether the user's own subject has the stated inputs, and whether they are neighbours.

    Its code is run.

    Raises
    ------
    reference.common.errors.InputError
        When there is no such subject.
    """
    described = certificate.subject
    if not isinstance(core(described), ImportDescription):
        return []
    whole = rebuild_small(described)
    subject = rebuild_small(core(described)) if isinstance(described, PairDescription) else whole
    own = claim_of_attributes(subject)
    stated = certificate.request.epsilon is not None or states_claim(subject)
    claims = [
        _stated(certificate, name) or (getattr(certificate.request, name) is None and same)
        for name, same in (
            ("epsilon", _close(float(own[0]), certificate.claimed_epsilon)),
            ("delta", own[1] == claimed_delta(certificate)),
        )
    ]
    checks = [
        _inputs(certificate, whole, subject),
        Check(
            "claim found",
            all(claims),
            "the claim is stated in the request, or by the subject" if stated else NO_CLAIM,
        ),
    ]
    try:
        found = neighbours_of(described, whole).known
    except SubjectError as problem:
        return [*checks, Check("neighbours found", False, str(problem))]
    return [*checks, Check("neighbours found", found == certificate.neighbours, found)]


def _request(certificate: Certificate) -> Check:
    """Return whether the request can be served, and agrees with the conclusion."""
    request = certificate.request
    try:
        request.checked()
    except ReadingError as problem:
        return Check("request", False, f"cannot be served: {problem}")
    searched = isinstance(request.subject, PairDescription)
    respects = {
        "number of draws": request.draws >= certificate.draws,
        "search": searched == request.search,
        "bound": request.bound in ("auto", certificate.method) or certificate.method in ANYTIME_METHODS,
        "number of outputs per call": _per_call(certificate) == {request.outputs_per_call},
        "curve": certificate.curve is None or request.curve,
        "epsilon": request.epsilon is None or _stated(certificate, "epsilon"),
        "delta": request.delta is None or _stated(certificate, "delta"),
    }
    wrong = next((name for name, same in respects.items() if not same), None)
    if wrong is None:
        return Check("request", True, "asks for this many draws, this bound and this claim")
    return Check("request", False, f"asks for another {wrong} than was used")


def _per_call(certificate: Certificate) -> set[int]:
    """Return how many outputs a call has, by both counts and the method."""
    by_counts = {
        1 if counts.calls is None else counts.calls.outputs_per_call
        for counts in (certificate.counts, certificate.all_counts)
    }
    # by calls exactly if the bound is the one for calls
    return by_counts if (by_counts != {1}) == (certificate.method == CLUSTERS) else set()


def _stated(certificate: Certificate, name: str) -> bool:
    """Return whether the claim's epsilon or delta is the one in the request; False if it states none."""
    given = getattr(certificate.request, name)
    if given is None:
        return False
    try:
        found = checked_claim(certificate, **{"epsilon": None, "delta": None, name: given})
    except InputError:
        return False
    return found is not None and bool(found.holds)


def _close(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=1e-12)
