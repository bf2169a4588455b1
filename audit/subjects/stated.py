"""What a subject says of itself: its two inputs, for a reader, and its own claim where it has one."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np

from audit.auditor.subject import Subject
from audit.subjects.programs import ProgramSubject
from audit.subjects.releases import CoefficientRelease
from audit.subjects.search import DataSet
from reference.common.documents import plain

MOST_SHOWN = 1_000
"""Characters of a program's input that a report shows."""


def stated_inputs(subject: Subject) -> dict[str, Any]:
    """Return the two inputs as JSON; for our mechanisms also claim, exact privacy and readings.

    Parameters
    ----------
    subject : Subject
    """
    if isinstance(subject, CoefficientRelease):
        norm_domain = subject.norm_domain
        return {
            **subject.neighbours.to_json(),
            "x_s": subject.neighbours.domain.columns[subject.x_s],
            "claim": subject.claim.claim,
            "exact": plain(subject.exact),
            **({} if norm_domain is None else {"norm_domain": plain(norm_domain)}),
            "readings": plain(subject.readings),
        }
    if isinstance(subject, ProgramSubject):
        return {name: _shortened(given) for name, given in plain(subject.pair).items()}
    left, right = (as_json(given) for given in subject.inputs())
    return {"left": left, "right": right}


def _shortened(given: Any) -> Any:
    """Return an input of a program, or the start of its text; the certificate's request has it whole."""
    text = json.dumps(given)
    return given if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + " ..."


def inputs_of_pair(searched: Any, pair: tuple[Any, Any], of_subject: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs of a pair that a search found, with what else is stated of the subject.

    Parameters
    ----------
    searched : object
        What was searched; it may have a `describe` of its own for an input.
    pair : tuple
        Left and right.
    of_subject : dict
        Of :func:`stated_inputs`.
    """
    describe = getattr(searched, "describe", as_json)
    readable = {side: describe(given) for side, given in zip(("left", "right"), pair, strict=True)}
    return readable | {name: value for name, value in of_subject.items() if name not in ("columns", *readable)}


def own_claim(subject: Subject) -> tuple[Fraction, Fraction] | None:
    """Return the (epsilon, delta) that one of our mechanisms, or one of the catalogue, claims; else None.

    Parameters
    ----------
    subject : Subject
    """
    from audit.subjects.catalogue import Entry

    if isinstance(subject, CoefficientRelease):
        return subject.claim.epsilon, subject.claim.delta
    if isinstance(subject, Entry):
        return Fraction(str(subject.claimed_epsilon)), Fraction(subject.claimed_delta)
    return None


def as_json(given: Any) -> Any:
    """Return an input as JSON: numbers, arrays and collections of them as they are, anything else in words."""
    if isinstance(given, DataSet):
        return given.to_json()
    if isinstance(given, np.ndarray | np.generic):
        return as_json(given.tolist())
    if isinstance(given, float) and not math.isfinite(given):
        # JSON has no such numbers
        return repr(given)
    if isinstance(given, list | tuple):
        return [as_json(part) for part in given]
    if isinstance(given, dict):
        return {str(name): as_json(part) for name, part in given.items()}
    return given if given is None or isinstance(given, int | float | str) else repr(given)[:1000]
