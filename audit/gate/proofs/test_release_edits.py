"""Edits of a release file of the repaired mechanism: refused, or harmless for the reason given here."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from audit.gate.proofs.test_repaired_certificates import release
from audit.proofs.releases.composed import composed
from audit.proofs.releases.composed_text import composed_text
from reference.common.documents import converted, plain
from reference.common.errors import InputError, ReleaseFileError
from reference.repaired.released import RepairedRelease

FITS = (
    ("demographic_parity", False, "1e-5", 1, "hardened"),
    ("demographic_parity", False, "0", 3, "hardened"),
    ("equalised_odds", True, "1e-5", 1, "numpy"),
)

FINE = Fraction(1, 2**30)

FEWEST = 500
"""Edits of one file."""

RELEASED = "post-processing of what was released: the privacy does not depend on it"
ENCODING = "how records are read: public, and outside the declared columns, which the sums depend on"
WORD = "the file's word: nothing public contradicts it, and the certificate says what it takes"

HARMLESS = {
    "w": RELEASED,
    "group_weights": RELEASED,
    "multiplier": RELEASED,
    "counts": RELEASED,
    "probes": RELEASED,
    "cells": RELEASED,
    "domain.label": ENCODING,
    "domain.group": ENCODING,
    "domain.norm": "without centred numbers both balls encode alike (tests/test_repaired_centred.py)",
    "records": "public; the schedule is the same for the other number of records",
}
"""Members of which an edit may be accepted, with the reason; Coq then reads the same file."""

TAKEN = {
    "seeded": f"{WORD}: a note that the noise can be removed is there or not",
    "noise": f"{WORD}: the theorem is about Laplace noise with a density, not on the grid, or the other way round",
}
"""Members of which an edit may be accepted, and changes what Coq reads."""

OTHER_WORDS = {
    "hardened": "numpy",
    "numpy": "hardened",
    "demographic_parity": "equalised_odds",
    "equalised_odds": "none",
    "unit_ball": "symmetric_ball",
    "replace_one": "add_or_remove_one",
    "gradient": "counts by label",
    "probe": "group count",
}
"""Another word that is legal there, or elsewhere."""


def document(fit: tuple[Any, ...]) -> dict[str, Any]:
    return dict(json.loads(json.dumps(plain(release(*fit)))))


def places(inner: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every member; of a list the first and the last."""
    if path:
        yield path
    if isinstance(inner, dict):
        for key, value in inner.items():
            yield from places(value, (*path, key))
    elif isinstance(inner, list):
        for index in sorted({0, len(inner) - 1} & set(range(len(inner)))):
            yield from places(inner[index], (*path, index))


def at(made: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        made = made[step]
    return made


def scaled(value: Any, factor: Fraction | int) -> Any:
    """Return a number times a factor, as it is written; another word, or the other truth value."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return int(value * factor)
    if isinstance(value, float):
        return value * float(factor)
    if isinstance(value, str):
        try:
            return str(Fraction(value) * factor)
        except ValueError:
            return value + value
    raise TypeError(value)


Edit = tuple[tuple[str | int, ...], Any]
"""The place of an edit, and the edited document."""


def edits(made: dict[str, Any], other: dict[str, Any]) -> Iterator[Edit]:
    """Yield every edit: a member removed, doubled, scaled, or exchanged with another release or another file."""
    for path in places(made):
        yield from shortened_or_lengthened(made, path)
        value = at(made, path)
        new = values(value)
        with suppress(KeyError, IndexError, TypeError):
            new.append(at(other, path))
        for one in new:
            changed = copy.deepcopy(made)
            at(changed, path[:-1])[path[-1]] = one
            yield path, changed
    for first, second in combinations(range(len(made["spent"])), 2):
        for member in made["spent"][first]:
            swapped = copy.deepcopy(made)
            one, two = swapped["spent"][first], swapped["spent"][second]
            one[member], two[member] = two[member], one[member]
            yield ("spent", first, member), swapped


def shortened_or_lengthened(made: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Edit]:
    *within, last = path
    removed = copy.deepcopy(made)
    del at(removed, tuple(within))[last]
    yield path, removed
    if isinstance(last, int):
        doubled = copy.deepcopy(made)
        at(doubled, tuple(within)).insert(last, copy.deepcopy(at(made, path)))
        yield path, doubled


def values(value: Any) -> list[Any]:
    """Return what else a number or a word could be."""
    if isinstance(value, (dict, list)) or value is None:
        return []
    new = [scaled(value, factor) for factor in (2, Fraction(1, 2), 1 + FINE, 1 - FINE)]
    return [*new, OTHER_WORDS[value]] if value in OTHER_WORDS else new


def read(made: Any) -> RepairedRelease | None:
    """Return the release of a file, and None for one that is refused."""
    try:
        return converted(made, RepairedRelease, ReleaseFileError)
    except InputError:
        return None


def certificate(made: RepairedRelease) -> str | None:
    """Return the certificate of a release, and None where it is refused or does not hold."""
    try:
        found = composed(made)
    except InputError:
        return None
    return composed_text(found) if found.holds else None


@pytest.mark.parametrize(
    ("fit", "taken"),
    [
        (FITS[0], set()),
        pytest.param(FITS[1], {"noise"}, marks=pytest.mark.exhaustive),
        pytest.param(FITS[2], {"seeded"}, marks=pytest.mark.exhaustive),
    ],
    ids=["gaussian", "laplace", "cells"],
)
def test_edit_of_a_release_file_is_refused_or_harmless(fit, taken):
    made, other = document(fit), document((*fit, "2"))
    original = read(made)
    right = certificate(original)
    assert right is not None
    tried, same, changes = 0, set(), set()
    for path, changed in edits(made, other):
        found = read(changed)
        if found == original:
            continue
        tried += 1
        text = None if found is None else certificate(found)
        if text is not None:
            name = ".".join(step for step in path if isinstance(step, str))
            (same if text == right else changes).add(name)
    assert tried >= FEWEST
    assert changes == taken <= TAKEN.keys()
    assert [name for name in same if not any(name == one or name.startswith(f"{one}.") for one in HARMLESS)] == []


def test_release_that_is_left_out_or_made_twice_is_refused():
    made = document(FITS[0])
    assert [one["what"] for one in made["spent"]].count("gradient") > 0
    fewer = copy.deepcopy(made)
    fewer["spent"] = [one for one in made["spent"] if one["what"] != "gradient"]
    refused = []
    for spent in (fewer["spent"], made["spent"][:-1], made["spent"] + made["spent"][-1:], made["spent"][::-1]):
        found = read({**made, "spent": spent})
        refused.append(found is None or certificate(found) is None)
    assert refused == [True] * 4
