"""A private choice among rivals' settings: when it stops, what it releases, and what the page says of its cost."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from tests.peers import tuning
from tests.peers.frontier import FEW_ROUNDS, MANY_ROUNDS, TUNED_PENALTY, Rival, Sides
from tests.peers.tuning import STOPPING, Family, candidate, families, released

ROOT = Path(__file__).parent.parent

GEOMETRIC, LOGARITHMIC = STOPPING

LAWS = {GEOMETRIC: stats.geom(GEOMETRIC.chance), LOGARITHMIC: stats.logser(1 - LOGARITHMIC.chance)}


def distance(draws, law) -> float:
    """Return how far the shares of up to k candidates are from a law, at worst."""
    k = np.arange(1, 200)
    return float(np.abs((np.array(draws)[:, None] <= k).mean(axis=0) - law.cdf(k)).max())


def test_the_number_of_candidates_has_the_law_of_the_statement():
    random, limit = np.random.default_rng(0), 1.95 / 4000**0.5
    for stopping in STOPPING:
        draws = [stopping.runs(random) for _ in range(4000)]
        for other, law in LAWS.items():
            assert (distance(draws, law) < limit) == (other == stopping)
        assert LAWS[stopping].mean() == pytest.approx(56, abs=0.1)
    assert distance([56] * 4000, LAWS[GEOMETRIC]) > 0.3


def loss_of_choice(epsilon: float, law, longest: int = 20_000) -> float:
    """Return the exact loss of releasing a rare candidate that few others beat: both chances move by epsilon."""
    k = np.arange(1, longest)
    chances = []
    for sign in (1, -1):
        rare, better = 1e-4 * np.exp(sign * epsilon / 2), 0.2 * np.exp(-sign * epsilon / 2)
        worse = 1 - better - rare
        chances.append((law.pmf(k) * ((worse + rare) ** k - worse**k)).sum())
    return float(np.log(chances[0] / chances[1]))


def test_a_choice_costs_what_is_said_and_a_fixed_number_costs_more():
    for stopping in STOPPING:
        share = 1 / stopping.times
        assert 0.8 < loss_of_choice(share, LAWS[stopping]) <= 1
        # one candidate alone costs no more than it does
        assert loss_of_choice(share, stats.geom(1)) == pytest.approx(share)
        assert loss_of_choice(share, stats.randint(56, 57)) > 3


def guesser(right: list[bool]):
    labels = np.array([0, 1, 1, 0, 1, 0])
    guess = np.where(np.array(right), labels, 1 - labels)
    return labels, lambda _sides, _epsilon, _seed: (guess - 0.5, guess - 0.5)


def test_the_best_on_the_scoring_part_is_released_not_the_best_on_others():
    # the first four records are for scoring
    labels, good_there = guesser([True] * 4 + [False, True])
    _, good_here = guesser([False] * 3 + [True] * 3)
    sides = Sides((None, SimpleNamespace(y=labels)), None)  # type: ignore[arg-type]
    random = np.random.default_rng(0)
    found = [candidate((one,), sides, 4, 1e9, random) for one in (good_there, good_here)]
    assert [round(one["count"], 3) for one in found] == [4, 1]
    assert [one["accuracy"] for one in found] == [0.5, 1]
    assert released(found) == found[0]
    assert released(found[1:]) == found[1]
    # noise of scale 1/epsilon, and every setting is drawn
    many = [candidate((good_there, good_here), sides, 4, 0.1, random) for _ in range(2000)]
    off = [abs(one["count"] - (4, 1)[int(one["setting"])]) for one in many]
    assert np.mean(off) == pytest.approx(10, rel=0.15)
    assert np.mean([one["setting"] for one in many]) == pytest.approx(0.5, abs=0.06)


def test_settings_surround_those_that_tuning_found():
    boosting, logistic, wider = families()
    assert len(boosting.settings) == len(boosting.scorers) == 56
    assert all(one in boosting.settings for one in (FEW_ROUNDS, MANY_ROUNDS))
    assert logistic.settings[0] == {"C": TUNED_PENALTY}
    assert len(logistic.settings) == 6
    assert wider.settings[4] == {"C": TUNED_PENALTY}
    assert len(wider.settings) == 9


def test_a_run_goes_on_where_it_stopped_and_parts_do_not_overlap(tmp_path, monkeypatch):
    called = []

    def scorer(sides, epsilon, _seed):
        called.append(epsilon)
        train, test = sides.encoded
        return train.x[:, 0] - 0.1, test.x[:, 0] - 0.1

    rival = Rival("a column", "numpy", scorer, "replace_one", "0")
    one = Family("numpy", "one", ({},), (scorer,), rival, rival)
    monkeypatch.setattr(tuning, "DATA", "affairs")
    monkeypatch.setattr(tuning, "families", lambda: (one,))
    for whole, part, scoring in tuning.splits(2):
        assert len(part.encoded[0]) + scoring == len(whole.encoded[0])
        assert 0.05 < scoring / len(whole.encoded[0]) < 0.15
        for kind in ("encoded", "raw"):
            there, here = getattr(whole, kind), getattr(part, kind)
            rows = np.concatenate([here[0].x, here[1].x[:scoring]])
            assert np.array_equal(np.sort(rows, axis=0), np.sort(there[0].x, axis=0))
            assert np.array_equal(here[1].x[scoring:], there[1].x)
    tuning.fill(tmp_path, 2)
    assert set(called) == {1, 1 / 2, 1 / 3}
    first, count = tuning.document(tmp_path, 2), len(called)
    (row,) = first["rows"]
    assert sum(one["candidates"] for one in row["private choice"]) == count - 4
    tuning.fill(tmp_path, 2)
    assert len(called) == count
    tuning.file_of(tmp_path, one, "geometric", 1).unlink()
    tuning.fill(tmp_path, 2)
    assert len(called) > count
    assert tuning.document(tmp_path, 2) == first


# --- The page ---------------------------------------------------------------------------------------------------


def test_the_page_says_what_a_private_choice_costs():
    found, rivals = (
        json.loads((ROOT / f"docs/data/{one}-adult.json").read_text()) for one in ("tuning", "rivals")
    )
    words = " ".join((ROOT / "docs/frontier.md").read_text().split())
    cost = {}
    for row, family in zip(found["rows"], families(), strict=True):
        assert (row["library"], row["grid"]) == (family.library, family.grid)
        assert row["settings"] == list(family.settings)
        assert [one["times"] for one in row["private choice"]] == [one.times for one in STOPPING]
        (chosen, other), key = row["private choice"], (row["library"], len(row["settings"]))
        cost[key] = "{mean:.4f} ± {error:.4f}".format(**chosen["cost"])
        # with the grids that surround their best, the rule that the page takes is the cheaper one
        assert key[1] == 6 or chosen["cost"]["mean"] < other["cost"]["mean"]
        assert f"{chosen['below ours']['mean']:.4f}"[1:] + " behind ours" in words or key[0] != "interpret"
        # what is beside it is what the rivals' run measured on the same splits
        same = [
            one
            for one in rivals["rows"]
            if (one["library"], one["adjacency"]) == (row["library"], row["adjacency"])
            and (one["encoding"], one["epsilon"], one["fairness"]) == ("generic", "1", "none")
        ]
        plain, tuned = sorted(same, key=lambda one: "tuned" in one["model"])
        assert plain["splits"] == tuned["splits"] == found["splits"] == 50
        assert row["tuned for nothing"]["mean"] == pytest.approx(tuned["accuracy"]["mean"], abs=1e-9)
        assert row["untuned"]["mean"] == pytest.approx(plain["accuracy"]["mean"], abs=1e-9)
        assert row["ours"]["mean"] == pytest.approx(tuned["repaired"]["accuracy"]["mean"], abs=1e-9)
    untuned = [f"{row['untuned']['mean']:.3f}"[1:] for row in found["rows"]]
    assert f"Untuned they reach {untuned[0]} and {untuned[1]}." in words
    said = (
        f"costs boosting {cost['interpret', 56]},",
        f"and diffprivlib {cost['diffprivlib', 6]} among the six",
        f"{cost['diffprivlib', 9]} among nine",
    )
    for one in said:
        assert one.replace("0.", ".") in words
