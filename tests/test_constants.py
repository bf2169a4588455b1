"""Choosing the repaired mechanism's constants on other tables than the one reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reference.repaired import algorithm, schedule
from tests.benchmarks.constants import (
    ALTERNATIVES,
    COMMITTED,
    MODULES,
    OTHERS,
    chosen,
    compared,
    single_choices,
    using,
)

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_alternatives_differ_from_the_committed_constant(name):
    module, _, constant = name.partition(".")
    assert getattr(MODULES[module], constant) not in ALTERNATIVES[name]


def test_constants_are_replaced_wherever_they_are_held_and_put_back():
    before = schedule.PROBES
    with using({"schedule.PROBES": 7}):
        assert schedule.PROBES == algorithm.PROBES == 7
    assert schedule.PROBES == algorithm.PROBES == before


def test_only_what_is_better_beyond_its_error_is_chosen():
    choices = {COMMITTED: {}, "a": {"x": 1}, "b": {"x": 2}, "c": {"y": 1}, "d": {"z": 1}}
    found = {
        COMMITTED: [[0.5], [0.6], [0.7]],
        "a": [[0.51], [0.61], [0.711]],
        "b": [[0.52], [0.62], [0.721]],
        "c": [[0.4], [0.6], [0.9]],
        "d": [[0.4], [0.5], [0.6]],
    }
    assert chosen(compared(found, COMMITTED), choices) == {"x": 2}
    assert chosen(compared(dict.fromkeys(choices, found[COMMITTED]), COMMITTED), choices) == {}


NEWER = ("threshold.SHOWN", "guessed.FREE_PRICE", "cells.HIDDEN")
NEWEST = ("descent.CURVATURE",)
OF_BINS = ("descent.NEIGHBOURS",)
OLDER = tuple(name for name in ALTERNATIVES if name not in NEWER + NEWEST + OF_BINS)


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("constants", OLDER),
        ("constants-newer", NEWER),
        ("constants-curvature", NEWEST),
        ("constants-neighbours", OF_BINS),
    ],
)
def test_what_was_chosen_follows_from_the_committed_numbers(file, names):
    found = json.loads((ROOT / f"docs/data/{file}.json").read_text())
    choices = single_choices(names)
    assert set(found["others"]) == set(choices)
    picked = {name: str(value) for name, value in chosen(found["others"], choices).items()}
    assert picked == found["chosen"]
    assert set(found["by_table"]) == {place.data for place in OTHERS}
    assert "adult" not in found["by_table"]
    page = " ".join((ROOT / "docs/frontier.md").read_text().split())
    # nothing was chosen: what is reported of Adult is what is committed
    assert not picked
    assert f"none of {len(choices) - 1} alternatives" in page
