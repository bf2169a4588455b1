"""Files of repaired releases, edited member by member: refused in a line, or harmless."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from reference.common.documents import plain
from reference.common.errors import ReadingError, ReleaseFileError
from reference.common.exit_codes import EXIT_FINE
from reference.repaired.classifier import RepairedClassifier
from reference.repaired.model import Model
from reference.repaired.released import RepairedRelease
from reference.repaired.spent import PROBE
from tests.command_lines import reference
from tests.test_repaired_cells import FILE, table
from tests.test_repaired_classifier import NEW, NEW_Z, fitted

TRIED = 150
"""Edits of each file."""

IGNORED = ("noise", "chance alone", "probes cannot", "probes show", "fairness without the group is dear")
pytestmark = pytest.mark.filterwarnings(*(f"ignore:{one}" for one in IGNORED))

OTHERS: tuple[Any, ...] = (
    *(None, True, "", "x", "0", "-1", "2", "1/0", "1e400", "1e-400", "nan", [], {}, [0.0]),
    *(-1, 0, 1, 2, 0.5, 1e308, -1e308, 1e-320, 10**400),
)

Place = tuple[str | int, ...]


def places(part: Any, at: Place = ()) -> Iterator[Place]:
    """Yield the place of every member of a document."""
    members = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for name, inner in members:
        yield (*at, name)
        yield from places(inner, (*at, name))


def edited(document: Any, place: Place, new: Any) -> Any:
    """Return a document with another member; with ... without it."""
    found = copy.deepcopy(document)
    parent = found
    for step in place[:-1]:
        parent = parent[step]
    if new is ...:
        del parent[place[-1]]
    else:
        parent[place[-1]] = new(parent[place[-1]]) if callable(new) else new
    return found


def used(path: str, new: Any, groups: Any) -> None:
    """Do with a release all that needs no data."""
    model = RepairedClassifier.from_release(path)
    assert set(model.predict(new, sensitive_features=groups)) <= set(model.classes_)
    likely = model.predict_proba(new, sensitive_features=groups)
    assert ((likely >= 0) & (likely <= 1)).all()
    assert np.isfinite(model.coef_noise_).all()
    assert all("\n" not in one for one in model.release_.warnings)
    if model.fairness != "none":
        model.tuned("0.1").predict(new, sensitive_features=groups)
    assert reference("card", path) == EXIT_FINE


def fit(groups: int, **settings: Any) -> tuple[Any, Any, Any]:
    """Return the document of a fit, and records to predict."""
    if groups == 2:
        return plain(fitted(**settings).release_), NEW, NEW_Z
    columns = table(1000, 0)
    x = {name: columns[name] for name in ("job", "age")}
    model = RepairedClassifier(domain=FILE, random_state=2, **settings)
    model.fit(x, columns["rich"], sensitive_features=columns["town"])
    few = {name: values[:20] for name, values in x.items()}
    return plain(model.release_), few, columns["town"][:20]


GUESSED = {"fairness": "equalised_odds", "group_at_prediction": False}


@pytest.mark.parametrize(
    ("groups", "settings"),
    [
        pytest.param(2, {}, id="parity"),
        pytest.param(2, {"delta": 0}, id="pure", marks=pytest.mark.exhaustive),
        # files of these kinds have no field that those of the others lack
        pytest.param(2, {"fairness": "none"}, id="unfair", marks=pytest.mark.lengthy),
        pytest.param(3, {}, id="three", marks=pytest.mark.lengthy),
        pytest.param(3, GUESSED, id="guessed", marks=pytest.mark.exhaustive),
    ],
)
def test_an_edited_file_is_refused_in_a_line_or_harmless(tmp_path, capsys, groups, settings):
    document, *records = fit(groups, **settings)
    # how a domain file reads records has tests of its own
    all_places = [place for place in places(document) if place[0] != "domain"]
    random, path, lines = np.random.default_rng(1), tmp_path / "release.json", list[str]()
    path.write_text(json.dumps(document))
    used(str(path), *records)
    for _ in range(TRIED):
        place = all_places[random.integers(len(all_places))]
        new = (..., *OTHERS)[random.integers(len(OTHERS) + 1)]
        path.write_text(json.dumps(edited(document, place, new)))
        try:
            used(str(path), *records)
        except ReleaseFileError as problem:
            lines.append(str(problem))
        except Exception as problem:
            raise AssertionError((place, new)) from problem
    assert TRIED / 2 < len(lines) < TRIED
    assert all("\n" not in line for line in lines)
    capsys.readouterr()


@pytest.mark.parametrize(
    ("groups", "settings", "place", "new"),
    [
        (2, {}, ("group_share",), "0"),
        (2, {}, ("group_share",), None),
        (2, {"fairness": "none"}, ("group_share",), "1/2"),
        (2, {}, ("group_weights",), []),
        (2, {}, ("slack",), "1e400"),
        (2, {}, ("slack",), "-1"),
        (2, {}, ("probes", 0, "noise"), 1e308),
        (2, {}, ("probes", 3, "noise"), lambda noise: -noise),
        (2, {}, ("records",), lambda records: 2 * records),
        (2, {}, ("spent",), lambda spent: spent[::-1]),
        (2, {}, ("spent", 1, "share"), "1e-400"),
        (2, {}, ("spent", 1, "l1_sensitivity"), "1e400"),
        (2, {"delta": 0}, ("spent", 1, "scale"), 1e308),
        (2, {}, ("privacy", "exact", "epsilon", "upper"), "1e400"),
        (2, {}, ("privacy", "exact", "squared_shift"), None),
        (3, {}, ("cells", "sizes", 0), lambda size: size / 2),
        (3, {}, ("cells", "probes", 1, "noise", 0), lambda noise: noise / 2),
    ],
)
def test_what_a_file_says_beside_what_it_released_is_refused(tmp_path, groups, settings, place, new):
    document, *_ = fit(groups, **settings)
    (tmp_path / "release.json").write_text(json.dumps(edited(document, place, new)))
    with pytest.raises(ReleaseFileError, match="|".join({str(place[0]), "privacy", "probes", "cells"})):
        RepairedClassifier.from_release(tmp_path / "release.json")


def test_a_fair_model_without_a_probe_is_refused():
    """A file may leave its probes out, and the account with them."""
    found = fitted().release_
    model = found.model
    assert model.probes
    spent = tuple(one for one in model.spent if one.what != PROBE)

    def again(model: Model) -> RepairedRelease:
        return RepairedRelease.of(model, found.domain, slack=found.slack, noise="numpy", seeded=True)

    assert again(model).probes == found.probes
    with pytest.raises(ReleaseFileError, match="no probe"):
        again(dataclasses.replace(model, probes=(), spent=spent))


@pytest.mark.parametrize("rate", [0.5, 1e308, -1e308])
def test_a_share_beyond_all_bounds_ends_no_card_in_a_traceback(tmp_path, rate):
    """Noise has no bound, so a file may state any share; an ordinary one is the null control."""
    document = plain(fitted(fairness="equalised_odds").release_)
    path = tmp_path / "release.json"
    for place in (("cells", "probes", 0, "rates", 0), ("cells", "probes", 3, "rates", 3)):
        path.write_text(json.dumps(edited(document, place, rate)))
        used(str(path), NEW, NEW_Z)


def test_writing_replaces_no_release_that_cannot_be_made_again(tmp_path):
    found, path = fitted().release_, tmp_path / "release.json"
    path.write_text("not a document")
    found.write(path)
    seeded = path.read_text()
    # null control: a seed makes it again
    replace(found, slack=Fraction(1, 10)).write(path)
    assert path.read_text() != seeded
    replace(found, seeded=False).write(path)
    kept = path.read_text()
    with pytest.raises(ReadingError, match="cannot be made again: move it away first, or give overwrite=True"):
        found.write(path)
    assert path.read_text() == kept
    found.write(path, overwrite=True)
    assert path.read_text() == seeded
