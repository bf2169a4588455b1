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
from audit.common.keys import Shared
from audit.subjects.programs import InputPair, ProgramSubject
from audit.subjects.releases import CoefficientRelease
from audit.subjects.search import DataSet
from audit.subjects.tables import is_table
from reference.budgets import parse_delta, parse_epsilon
from reference.common.documents import DEEPEST, LARGEST_INTEGER, plain
from reference.common.printable import is_writable, shown

MOST_SHOWN = 1_000
"""Most characters of a program's input, or of one record, in a report."""

_COLLECTIONS = (list, tuple, dict, set, frozenset)

NO_CLAIM = "neither you nor the subject states a claim: epsilon 1 is judged, --epsilon states yours"
"""The note on a subject that is audited at the default claim."""

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
"""Differs at each start: of no use to readers or for comparisons."""

DEEPEST_SHOWN = DEEPEST // 2
"""Levels of nested parts that are shown: a result has the inputs some levels down."""

SUMMARY = {"length", "sha256", "different"}
"""What is told of a long input."""

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
    return _Shown().of(given)


class _Shown:
    """Shows one input, in which parts may share parts; what no certificate could be read with is spelled out."""

    def __init__(self) -> None:
        self.path: list[int] = []
        self.shared = Shared()

    def of(self, given: Any) -> Any:
        if isinstance(given, int | float | str | None) and not isinstance(given, np.generic):
            return _simple(given)
        if isinstance(given, DataSet):
            return given.to_json()
        rows = _rows_shown(given)
        if rows is not None:
            return self.of(rows)
        if isinstance(given, np.ndarray | np.generic):
            return self.of_numpy(given)
        return self.collection(given) if isinstance(given, _COLLECTIONS) else _in_words(given)

    def of_numpy(self, given: Any) -> Any:
        plain_values = given.tolist()
        if isinstance(plain_values, np.longdouble):
            return float(given) if float(given) == given else str(given)
        # a complex one of many bits is in words
        return _in_words(plain_values) if isinstance(plain_values, np.generic) else self.of(plain_values)

    def collection(self, given: Any) -> Any:
        if self.shared.meet(given, self.path) or len(self.path) == DEEPEST_SHOWN:
            return f"<{type(given).__name__} of length {len(given)}>"
        self.path.append(id(given))
        try:
            if isinstance(given, dict):
                return {self.name(name): self.of(part) for name, part in given.items()}
            parts = [self.of(part) for part in given]
        finally:
            self.path.pop()
        # sorted: with texts they stand in another order in each process
        return sorted(parts, key=_in_order) if isinstance(given, set | frozenset) else parts

    def name(self, name: Any) -> str:
        text = str(name)
        return text if is_writable(text) else ascii(text)


def _simple(given: Any) -> Any:
    """Return a number or a text, of a class of its own or not, in a form that JSON has."""
    if isinstance(given, str):
        text = str.__str__(given)
        # a text may read as another is written
        return text if is_writable(text) else {"text": ascii(text)}
    if isinstance(given, float):
        number = float.__float__(given)
        return number if math.isfinite(number) else repr(number)
    if given is None or isinstance(given, bool):
        return given
    whole = int.__int__(given)
    return whole if abs(whole) <= LARGEST_INTEGER else hex(whole)


def _rows_shown(given: Any) -> list[Any] | None:
    """Return the records of a table, or the values of a column: Python shows the first and the last ones alone."""
    if hasattr(given, "columns") and hasattr(given, "itertuples"):
        names = list(map(str, given.columns))
        return [dict(zip(names, row, strict=True)) for row in given.itertuples(False)]
    return list(given) if is_table(given) else None


def _in_words(given: Any) -> str:
    return _ADDRESS.sub("", repr(given))[:1000]


def _in_order(shown: Any) -> tuple[bool, float, str]:
    """Return what sorts the elements of a set: numbers by size, others by their text."""
    number = isinstance(shown, int | float)
    return not number, shown if number else 0, json.dumps(shown, sort_keys=True)
