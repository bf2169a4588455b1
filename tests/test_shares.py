"""Rules for the steps of a model: how they are judged, and what the page says of them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from reference.repaired.sums import gradient
from tests.benchmarks.constants import MODULES
from tests.benchmarks.corners import corners_of, estimated, measured
from tests.benchmarks.shares import (
    CLEAR,
    NEIGHBOURS,
    ROUNDS,
    choices_of,
    difference,
    judged,
    rule_table,
)
from tests.test_repaired_sums import RECORDS

ROOT = Path(__file__).parent.parent


def test_a_rule_is_adopted_if_it_is_better_over_all_and_worse_nowhere():
    up, flat, down = ({"better": by, "error": 0.1} for by in (1.0, 0.0, -0.2))
    assert judged({"a": up, "b": up})["adopted"]
    assert judged({"a": up, "b": flat})["adopted"]
    # the null control, and a table that loses more than an error
    assert not judged({"a": flat, "b": flat})["adopted"]
    assert not judged({"a": up, "b": up, "c": down})["adopted"]
    assert difference([0.0, 1.0], [1.0, 2.0]) == {"better": 1.0, "error": 0.0}


def test_the_page_says_which_rule_was_better():
    rules = {}
    for name in ("shares", "shares-again", "shares-neighbours", "shares-corners", "shares-clear"):
        found = json.loads((ROOT / f"docs/data/{name}.json").read_text())["rules"]
        assert all(rule == judged(rule["tables"]) for rule in found.values())
        rules |= found
    assert [name for name, rule in rules.items() if rule["adopted"]] == [ROUNDS, NEIGHBOURS]
    page = (ROOT / "docs/frontier.md").read_text()
    assert rule_table(rules) in page
    # the last one by its log loss
    found = json.loads((ROOT / "docs/data/shares-probabilities.json").read_text())["rules"][CLEAR]
    assert found == judged(found["tables"])
    assert not found["adopted"]
    us, german = (abs(found["tables"][name]["better"]) for name in ("us", "german"))
    said = f"by {us:.4f} on US, and [raises it by {german:.4f}]".replace("0.", ".")
    assert said in " ".join(page.split())


def test_corners_measure_the_same_gradient_with_less_noise():
    records = RECORDS.on_grid()
    corners, d = corners_of(records.domain), records.domain.dimension
    alone = [gradient(records.x[i : i + 1], records.y[i : i + 1], np.zeros(d)) for i in range(len(records))]
    # every residual at 0 is 1/2 or -1/2: |x| <= 1, exactly, and just
    lengths = [sum(value**2 for value in measured(one, corners)) for one in alone]
    assert Fraction(99999, 400000) < max(lengths) <= Fraction(1, 4)
    total = np.sum(alone, axis=0)
    again = estimated(measured(total, corners).astype(float), corners)
    assert again == pytest.approx(total.astype(float), abs=1e-9)
    spread = np.array([estimated(row, corners) for row in np.eye(d)])
    between = [spread[:, one.columns] - spread[:, one.columns].mean(axis=1, keepdims=True) for one in corners]
    as_encoded = sum(one.width - 1 for one in corners)
    assert 0.5 * as_encoded < sum((part**2).sum() for part in between) < 0.9 * as_encoded


def test_the_rules_that_were_adopted_are_the_ones_that_run():
    given = choices_of()[NEIGHBOURS]
    assert {name: getattr(MODULES[name.split(".")[0]], name.split(".")[1]) for name in given} == given
