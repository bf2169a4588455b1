"""A subject's statements about itself: its two inputs, for a reader, and its own claim, if any."""

from __future__ import annotations

import hashlib
import json
import math
import re
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np

from audit.auditor.subject import FAILURES, Subject, SubjectError, two_inputs
from audit.subjects.programs import InputPair, ProgramSubject
from audit.subjects.releases import CoefficientRelease
from audit.subjects.search import DataSet
from reference.budgets import parse_delta, parse_epsilon
from reference.common.documents import plain
from reference.common.printable import shown

MOST_SHOWN = 1_000
"""Most characters of a program's input, or of one record, in a report."""

NO_CLAIM = "neither you nor the subject states a claim: epsilon 1 is judged, --epsilon states yours"
"""The note on a subject that is audited at the default claim."""

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
"""Differs at each start: of no use to readers or for comparisons."""

MOST_TOLD, MOST_DIFFERENT = 20_000, 3
"""Most characters of an input that a result has in full; and records shown of a longer one."""


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
        return told_of_program(subject.pair)
    return dict(zip(("left", "right"), _told(*two_inputs(subject.inputs())), strict=True))


def told_of_program(pair: InputPair) -> dict[str, Any]:
    """Return a program's pair of inputs for a reader."""
    return {name: _shortened(given) for name, given in plain(pair).items()}


def _told(left: Any, right: Any) -> tuple[Any, Any]:
    """Return both inputs as JSON; for long ones, a digest and the first records in which they differ."""
    inputs = [as_json(given) for given in (left, right)]
    texts = [
        [json.dumps(record, sort_keys=True) for record in (given if isinstance(given, list) else [given])]
        for given in inputs
    ]
    if all(sum(map(len, records)) <= MOST_TOLD for records in texts):
        return inputs[0], inputs[1]
    different = [place for place, pair in enumerate(zip_longest(*texts)) if pair[0] != pair[1]][:MOST_DIFFERENT]
    ours, others = (
        {
            "length": len(records),
            "sha256": hashlib.sha256("\n".join(records).encode()).hexdigest(),
            "different": {
                str(place): shown(records[place], MOST_SHOWN) for place in different if place < len(records)
            },
        }
        for records in texts
    )
    return ours, others


def _shortened(given: Any) -> Any:
    """Return an input of a program, or the start of its text; the certificate's request has it in full."""
    text = json.dumps(given)
    return given if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + " ..."


def inputs_of_pair(searched: Any, pair: tuple[Any, Any], of_subject: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs of a pair found by a search, with the subject's other statements.

    Parameters
    ----------
    searched : object
        The searched subject; it may have its own `describe` for an input.
    pair : tuple
        Left and right.
    of_subject : dict
        Of :func:`stated_inputs`.
    """
    describe = getattr(searched, "describe", None)
    told = _told(*pair) if describe is None else tuple(describe(given) for given in pair)
    readable = dict(zip(("left", "right"), told, strict=True))
    return readable | {name: value for name, value in of_subject.items() if name not in ("columns", *readable)}


def own_claim(subject: Subject) -> tuple[Fraction, Fraction] | None:
    """Return the claimed (epsilon, delta) of our mechanisms and the catalogue's; else None.

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


def claim_of_attributes(subject: object) -> tuple[Fraction, Fraction]:
    """Return the claim in the attributes of the user's own subject, or else (1, 0).

    Raises
    ------
    reference.common.errors.InputError
    """
    return (
        parse_epsilon("claimed_epsilon", stated_number(subject, "claimed_epsilon", 1)),
        parse_delta("claimed_delta", stated_number(subject, "claimed_delta", 0)),
    )


def stated_number(subject: object, name: str, otherwise: int | None) -> Any:
    """Return a number that a subject states as an attribute, or the other one, unless reading it fails."""
    try:
        found = getattr(subject, name, otherwise)
    except FAILURES as problem:
        raise SubjectError(f"{name} failed: {type(problem).__name__}: {problem}") from problem
    # a number of any type is the one that it shows
    return found if isinstance(found, str | bool | None) else str(found)


def states_claim(subject: object) -> bool:
    """Return whether a subject says which epsilon it claims."""
    return isinstance(subject, CoefficientRelease) or hasattr(subject, "claimed_epsilon")


def as_json(given: Any) -> Any:
    """Return an input as JSON: numbers, arrays, tables and collections as they are, anything else in words."""
    if isinstance(given, DataSet):
        return given.to_json()
    if hasattr(given, "columns") and hasattr(given, "itertuples"):
        # of a table, its records; otherwise Python shows the first and the last ones alone
        return [dict(zip(map(str, given.columns), as_json(row), strict=True)) for row in given.itertuples(False)]
    if isinstance(given, np.ndarray | np.generic):
        return as_json(given.tolist())
    if isinstance(given, float) and not math.isfinite(given):
        # JSON has no such numbers
        return repr(given)
    if isinstance(given, list | tuple):
        return [as_json(part) for part in given]
    if isinstance(given, dict):
        return {str(name): as_json(part) for name, part in given.items()}
    if isinstance(given, set | frozenset):
        # sorted: with texts they stand in another order in each process
        return sorted(map(as_json, given), key=_in_order)
    return given if given is None or isinstance(given, int | float | str) else _ADDRESS.sub("", repr(given))[:1000]


def _in_order(shown: Any) -> tuple[bool, float, str]:
    """Return what sorts the elements of a set: numbers by size, others by their text."""
    number = isinstance(shown, int | float)
    return not number, shown if number else 0, json.dumps(shown, sort_keys=True)
