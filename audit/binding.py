"""The checks that what a certificate says follows from the subject and the command that it names.

For our own mechanisms and the catalogue the claim and the inputs follow from the recorded parameters, and are
computed again.  For any other subject the claim is that of whoever ran the audit: nothing here can vouch for it.
No draw is made, and no code that a certificate names is run.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import shlex
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from audit.certificate import Certificate, Check
from audit.claims.ledger import differences
from audit.descriptions import rebuild
from audit.stated import inputs_of_pair, own_claim, stated_inputs
from audit.subjects import Subject
from reference.budgets import parse_delta, parse_epsilon
from reference.errors import InputError
from reference.files import json_text
from reference.numbers import decimal_text

OWN_KINDS = ("mechanism", "catalogue")
"""Subjects that this package knows: rebuilding them imports and runs nothing of others."""

PROGRAM = ["python", "-m", "audit.epsilon_estimate"]

GIVEN = "as given by whoever ran the audit"


def binding(certificate: Certificate) -> list[Check]:
    """Return whether name, claim, inputs and command are those of the recorded subject."""
    return [_name(certificate), *_subject(certificate), _command(certificate)]


def checked_claim(certificate: Certificate, epsilon: str | None, delta: str | None) -> Check | None:
    """Return whether the certificate is about the claim that the reader states; None where nothing is stated.

    Parameters
    ----------
    certificate : Certificate
    epsilon, delta : str or None
        As on the command line.

    Raises
    ------
    reference.errors.InputError
        When they are no privacy parameters.
    """
    if epsilon is None and delta is None:
        return None
    wanted_epsilon = certificate.claimed_epsilon if epsilon is None else float(parse_epsilon("epsilon", epsilon))
    wanted_delta = claimed_delta(certificate) if delta is None else parse_delta("delta", delta)
    same = _close(wanted_epsilon, certificate.claimed_epsilon) and Fraction(wanted_delta) == claimed_delta(
        certificate
    )
    yours = f"your claim ({wanted_epsilon:g}, {float(wanted_delta):g})"
    return Check("your claim", same, f"{yours}; the certificate's is {_claim_text(certificate)}")


def claimed_delta(certificate: Certificate) -> Fraction:
    """Return the certificate's delta, exactly.

    Raises
    ------
    reference.errors.InputError
        When it is no number in [0, 1).
    """
    return parse_delta("claimed_delta", certificate.claimed_delta)


def _claim_text(certificate: Certificate) -> str:
    return f"({certificate.claimed_epsilon:g}, {certificate.claimed_delta})"


def _core(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the description of the mechanism, without the pair that a search found for it."""
    inner = document.get("subject")
    return inner if document.get("kind") == "pair" and isinstance(inner, dict) else document


def _name(certificate: Certificate) -> Check:
    """Return whether the mechanism has the name of the recorded subject."""
    document = _core(certificate.subject)
    place = {"mechanism": "mechanism", "catalogue": "name", "import": "path", "program": "command"}
    found = document.get(place.get(str(document.get("kind")), ""))
    stated: Any = certificate.mechanism
    if isinstance(found, list):
        with contextlib.suppress(ValueError):
            stated = shlex.split(certificate.mechanism)
    return Check("name", stated == found, f"{certificate.mechanism}, and the recorded subject is {found}")


def _subject(certificate: Certificate) -> Iterator[Check]:
    """Yield whether claim and inputs follow from the recorded parameters."""
    document = certificate.subject
    if _core(document).get("kind") not in OWN_KINDS:
        yield Check(
            "claim", True, f"{_claim_text(certificate)}, {GIVEN}; --epsilon and --delta compare it with yours"
        )
        return
    try:
        subject = rebuild(dict(_core(document)))
        whole = rebuild(document) if document.get("kind") == "pair" else subject
        yield _claim(certificate, subject)
        yield _inputs(certificate, whole, subject)
    except InputError as problem:
        # such as real data that are not here
        yield Check("claim", None, f"the subject cannot be rebuilt here: {problem}")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
        yield Check("claim", False, f"the recorded subject is none: {type(problem).__name__}: {problem}")


def _claim(certificate: Certificate, subject: Subject) -> Check:
    own = own_claim(subject)
    if own is None:
        raise ValueError("a subject of this package states its claim")
    epsilon, delta = own
    stated = f"({float(epsilon):g}, {decimal_text(delta)})"
    same = _close(float(epsilon), certificate.claimed_epsilon)
    if same and delta != claimed_delta(certificate) and certificate.subject.get("kind") == "catalogue":
        # the catalogue's mechanisms may be audited at any delta
        return Check("claim", True, f"delta {certificate.claimed_delta}, {GIVEN}; the mechanism's own is {stated}")
    return Check(
        "claim",
        same and delta == claimed_delta(certificate),
        f"the recorded parameters give {stated}, the certificate says {_claim_text(certificate)}",
    )


def _inputs(certificate: Certificate, whole: Subject, subject: Subject) -> Check:
    """Return whether the inputs that a reader sees are those that were audited."""
    stated = dict(certificate.inputs)
    if whole is subject:
        expected = stated_inputs(subject)
    else:
        # what a search says of itself cannot be computed again
        stated.pop("search", None)
        expected = inputs_of_pair(getattr(whole, "subject", subject), whole.inputs(), stated_inputs(subject))
    places = list(differences(json.loads(json_text(expected)), stated, "inputs"))
    detail = "as the recorded parameters give them" if not places else f"not what the parameters give: {places[0]}"
    return Check("inputs", not places, detail)


def _command(certificate: Certificate) -> Check:
    """Return whether the command that repeats the audit asks for this subject, seed, level and claim."""
    options = _options(certificate.command)
    try:
        what = "form" if options is None else _contradiction(options, certificate)
    except InputError as problem:
        return Check("command", None, f"cannot be read here: {problem}")
    if what is None:
        return Check("command", True, "asks for this subject, seed, significance and claim")
    return Check("command", False, f"not the {what} of the certificate: {certificate.command[:200]}")


def _contradiction(options: argparse.Namespace, certificate: Certificate) -> str | None:
    """Return in which respect the options ask for another audit."""
    respects = {
        "seed": certificate.seed is None or options.seed == certificate.seed,
        "significance": options.significance == certificate.significance,
        "number of draws": options.draws >= certificate.draws,
        "subject": _asks_for(options, _core(certificate.subject)),
    }
    if _core(certificate.subject).get("kind") not in OWN_KINDS:
        # without --epsilon the claim is the subject's own word, or 1
        stated = checked_claim(certificate, options.epsilon, options.delta)
        respects["claim"] = stated is None or bool(stated.holds)
    return next((what for what, same in respects.items() if not same), None)


def _asks_for(options: argparse.Namespace, document: Mapping[str, Any]) -> bool:
    """Return whether the options describe this subject."""
    from audit.epsilon_estimate import describe

    if document.get("kind") == "program":
        return options.program is not None and shlex.split(options.program) == document.get("command")
    if len(options.mechanism) != 1:
        return False
    return bool(json.loads(json_text(describe(options.mechanism[0], options))) == document)


def _options(command: str) -> argparse.Namespace | None:
    """Return the options of a command line of the auditor, or None where it is none."""
    from audit.epsilon_estimate import parser

    # what argparse says of bad options is no answer here
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        try:
            words = shlex.split(command)
            return parser().parse_args(words[len(PROGRAM) :]) if words[: len(PROGRAM)] == PROGRAM else None
        except (SystemExit, ValueError, InputError):
            return None


def _close(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=1e-12)
