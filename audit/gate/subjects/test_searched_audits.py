"""Searches of the catalogue, of our mechanisms, and of subjects that name no inputs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from audit.auditor.choose import Prospect
from audit.auditor.distinguish import Terms, estimate
from audit.epsilon_estimate import main
from audit.evidence.certificate import Certificate
from audit.evidence.checks import rebuilt
from audit.evidence.verify import verify
from audit.gate.needs import exhaustively
from audit.gate.requests import asked, described, verify_command
from audit.subjects import real_neighbours
from audit.subjects.adjacency import OF_FORM, UNCHECKED
from audit.subjects.catalogue import CATALOGUE
from audit.subjects.descriptions import rebuild
from audit.subjects.real_neighbours import Extended, _extreme_rows
from audit.subjects.search import AtPair, DataSets, Effort, Listed, Vectors, releases, search, searchable
from audit.subjects.search.catalogue import DOMAINS
from audit.subjects.search.search import SEARCH_SHARE
from reference import datasets
from reference.common.errors import DocumentError
from reference.domain.attributes import Binned

HERE = "audit.gate.subjects.test_searched_audits"


# --- The catalogue ----------------------------------------------------------------------------------------------

HARD_TO_SHOW = {
    "laplace_leaky",
    "laplace_float",
    "gaussian_classic",
    "laplace_low_entropy_seed",
    "sparse_vector_3",
    "sparse_vector_4",
}
"""Broken ones that need more draws than these audits have, or bits."""

SHOWN = ("laplace", "laplace_product", "geometric", "rappor", "private_mean", "noisy_max_value", "unnoised_count")

MORE = [pytest.param(name, marks=pytest.mark.lengthy) for name in sorted({*DOMAINS} - {*SHOWN})]


@pytest.mark.parametrize("name", [*SHOWN, *MORE])
def test_right_mechanisms_stand_and_broken_ones_fall_on_the_found_pair(name):
    """At significance 1e-4 a right mechanism is refuted in one of ten thousand audits."""
    entry = CATALOGUE[name]()
    subject, neighbourhood = searchable(entry)
    delta = float(entry.claimed_delta)
    rng = np.random.default_rng(5)
    draws = 20_000 if name in SHOWN else 40_000
    pair = search(subject, neighbourhood, Effort(draws // 2), Prospect(draws, delta, 1e-4), rng).pair
    found = estimate(AtPair(subject, pair), Terms(delta=delta, draws=draws, significance=1e-4), rng)
    if entry.is_right:
        assert found.epsilon_lower_bound <= entry.claimed_epsilon
    elif name not in HARD_TO_SHOW:
        assert found.verdict(entry.claimed_epsilon) == "refuted"


def test_domains_of_the_catalogue_hold_the_pairs_that_the_entries_have():
    """The entry's own pair is in the neighbourhood, so that a search can find it."""
    for name, neighbourhood in DOMAINS.items():
        left, right = (np.asarray(data) for data in CATALOGUE[name]().inputs())
        if isinstance(neighbourhood, Vectors):
            pair = tuple(np.broadcast_to(data, (neighbourhood.count,)) for data in (left, right))
            assert neighbourhood.holds(pair), name
        elif isinstance(neighbourhood, Listed):
            pairs = [{tuple(np.ravel(data)) for data in pair} for pair in neighbourhood.pairs]
            assert {tuple(np.ravel(left)), tuple(np.ravel(right))} in pairs, name
        else:
            assert neighbourhood.records == max(len(left), len(right)), name


def test_listed_counts_differ_by_one():
    pairs = DOMAINS["geometric"].pairs
    assert [(float(left[0]), float(right[0])) for left, right in pairs] == [(k, k + 1) for k in range(len(pairs))]


def test_extreme_rows_have_both_ends_of_each_attribute():
    rows = list(_extreme_rows(datasets.load("synthetic").domain))
    for name in rows[0]:
        assert len({str(row[name]) for row in rows}) == 2, name


# --- Our mechanisms and the command line ----------------------------------------------------------------------

WORDS = {
    "ball": "functional --dimension 2 --records 5",
    "box, removal": "pdfc --dimension 2 --records 5 --domain unit_box --adjacency add_or_remove_one",
    "data": "functional --data affairs",
    "one hot data": "pdfc --data affairs --encoding one_hot --sensitivity 4",
}


@pytest.mark.parametrize("name", WORDS)
def test_rows_of_our_domains_are_records_and_data_sets_have_their_size(name):
    words = WORDS[name].split()
    ours, neighbourhood = searchable(rebuild(asked(*words)[0].subject))
    rng = np.random.default_rng(0)
    pairs = [*neighbourhood.patterns(), *islice(neighbourhood.corners(rng), 5), neighbourhood.random(rng)]
    own = ours.release.neighbours
    assert isinstance(own.left, Extended) == ("data" in name)
    for pair in pairs:
        shown = [ours.describe(data) for data in pair]
        sizes = [sum(part["count"] for part in data) for data in shown]
        assert sorted(sizes) == sorted([len(own.left), len(own.right)])
        assert [len(ours.coefficients(data)) for data in pair] == [len(ours.release.layout.names)] * 2
        # beside the last record, the same
        assert shown[0][: len(pair[0].common)] == shown[1][: len(pair[1].common)]


def run(capsys, *words: str) -> tuple[int, Any]:
    code = main([*words, "--format", "json", "--events", "coordinates,additive"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("sensitivity", "code"), [("exact", 0), ("0.2", 1)])
def test_our_mechanisms_are_searched_on_request(capsys, sensitivity, code):
    words = "functional --dimension 1 --records 4 --domain unit_box --search --draws 20000 --seed 2"
    found, result = run(capsys, *words.split(), "--sensitivity", sensitivity)
    assert found == code
    assert result["draws"] <= 20_000
    spent = result["witness"]["inputs"]["search"]["draws"]
    assert 0 < spent <= 20_000 * SEARCH_SHARE
    certified = result["witness"]["counts"]["likely_draws"] + result["witness"]["counts"]["unlikely_draws"]
    # an audit of what the search left: 7 in 10 draws certify
    assert certified == pytest.approx(0.7 * (20_000 - spent), abs=4)
    assert "--search" in result["rerun"]


@dataclass(frozen=True)
class WithoutInputs:
    """A sum with half the noise: it declares its domain, and no pair."""

    neighbourhood = Vectors(2, norm="l1")

    def sample(self, data, count, rng):
        return data.sum() + rng.laplace(scale=0.5, size=(count, 1))


class CandidatesOnly:
    def candidates(self):
        return [(0.0, 0.1), (0.0, 2.0)]

    def sample(self, data, count, rng):
        return rng.laplace(data, size=(count, 1))


class ManyCandidates(CandidatesOnly):
    """One of 135 listed pairs, far back, loses twice the claim."""

    def candidates(self):
        return [(0.0, 2.0 if place == 120 else 0.5) for place in range(135)]


@pytest.mark.parametrize(("draws", "claim"), [*exhaustively((400_000, "1")), (20_000, "1"), (20_000, "3")])
def test_every_listed_pair_is_tried_or_said_not_to_be(draws, claim, capsys):
    """With few draws all are sifted, which finds the pair, and most are not looked at, which is said."""
    words = [f"{HERE}:ManyCandidates", "--search", "--seed", "1", "--epsilon", claim, "--draws", str(draws)]
    found, result = run(capsys, *words)
    search, inputs = result["witness"]["inputs"]["search"], result["witness"]["inputs"]
    assert (found, inputs["right"]) == (int(claim == "1"), 2.0)
    assert (search["pairs_tried"], search["pairs_untried"] == 0) == (135, draws == 400_000)
    assert search["pairs_sifted"] == search["pairs_untried"]
    if draws == 20_000 and claim == "3":
        said = f"{search['pairs_sifted']} listed pairs, of which the search saw only how far their outputs move"
        assert said in result["not_ruled_out"]
    # a list has nothing near its pairs: all draws of the search race
    assert search["draws"] > 0.8 * draws * SEARCH_SHARE


class ManyOfItsOwn(ManyCandidates):
    """Takes no randomness that could be repeated: its pairs cannot be sifted."""

    def sample(self, data, count, rng):
        return np.random.default_rng().laplace(data, size=(count, 1))


def test_listed_pairs_that_nobody_tried_are_counted(capsys):
    words = [f"{HERE}:ManyOfItsOwn", "--search", "--seed", "1", "--epsilon", "3", "--draws", "20000"]
    _, result = run(capsys, *words)
    search = result["witness"]["inputs"]["search"]
    assert search["pairs_sifted"] == 0
    assert 0 < search["pairs_untried"] == 135 - search["pairs_tried"]
    assert f"{search['pairs_untried']} listed pairs, which the search did not try" in result["not_ruled_out"]


@pytest.mark.parametrize("name", ["WithoutInputs", pytest.param("CandidatesOnly", marks=pytest.mark.lengthy)])
def test_a_subject_that_names_no_inputs_is_searched(name, tmp_path, capsys):
    target = tmp_path / "certificate.json"
    words = [f"{HERE}:{name}", "--draws", "20000", "--seed", "1", "--events", "coordinates"]
    assert main([*words, "--search", "--out", str(target)]) == 1
    assert verify_command([str(target), "--fresh", "--seed", "3"]) == 0
    capsys.readouterr()
    assert main(words) == 2
    assert "has no inputs(): --search searches" in capsys.readouterr().err


class Unfinished(WithoutInputs):
    """The class of a neighbourhood, and none of them."""

    neighbourhood: Any = Vectors


class Triples(CandidatesOnly):
    def candidates(self):
        return [(0.0, 1.0, 2.0)]


@pytest.mark.parametrize(
    ("name", "message"), [("Unfinished", "neighbourhood must be one such as"), ("Triples", "a list of pairs")]
)
def test_a_domain_that_is_none_is_one_line_and_exit_code_2(name, message, capsys):
    assert main([f"{HERE}:{name}", "--search", "--draws", "20000"]) == 2
    assert message in capsys.readouterr().err.strip()


class NoisyMean(WithoutInputs):
    neighbourhood: Any = DataSets((0.0,), (1.0,), 3)

    def sample(self, data, count, rng):
        return data.array().mean() + rng.laplace(scale=1 / 3, size=(count, 1))


def test_data_sets_are_shown_as_rows_with_their_counts(capsys):
    _, result = run(capsys, f"{HERE}:NoisyMean", "--search", "--draws", "20000", "--seed", "1")
    shown = [result["witness"]["inputs"][side] for side in ("left", "right")]
    assert [sum(part["count"] for part in side) for side in shown] == [3, 3]
    assert [len(part["row"]) for side in shown for part in side] == [1] * sum(map(len, shown))


def test_example_of_the_page_is_refuted_as_it_says(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[3] / "docs" / "adapters.md").read_text(encoding="utf-8")
    code = page.partition("```python\n# mean.py\n")[2].partition("```")[0]
    command, _, said = page.partition("cfm audit estimate mean:Mean ")[2].partition("    # ")
    (tmp_path / "mean.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert said.startswith("exit 1\n")
    assert main(["mean:Mean", *command.split(), "--seed", "1"]) == 1
    assert '{"count": ' in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["program", "pair", None])
def test_a_pair_wraps_no_program(kind, tmp_path):
    """A certificate must not be able to run a command that `audit.evidence.verify` would otherwise ask about."""
    mark = tmp_path / "run"
    inner = {"kind": kind, "command": ["touch", str(mark)]}
    with pytest.raises(DocumentError, match=r"subject\.kind|at subject"):
        described({"kind": "pair", "subject": inner, "pair": {}})
    assert not mark.exists()


# --- Data sets of unequal parts --------------------------------------------------------------------------------


class Decile:
    """The ninth decile of 60 values in [0, 1]: one record moves it by 1, if just so many others are low."""

    neighbourhood = DataSets((0.0,), (1.0,), records=60)
    scale = 1.0

    def sample(self, data, count, rng):
        return np.sort(data.array()[:, 0])[54] + rng.laplace(scale=self.scale, size=(count, 1))


class HalfNoiseDecile(Decile):
    scale = 0.5


@pytest.mark.parametrize(("name", "code"), [("Decile", 0), ("HalfNoiseDecile", 1)])
def test_worst_pair_of_a_quantile_is_reached(name, code, capsys):
    words = ["--search", "--draws", "40000", "--seed", "1", "--events", "coordinates"]
    found, result = run(capsys, f"{HERE}:{name}", *words)
    assert found == code
    assert result["epsilon_lower_bound"] > 0.8 * (1 + code)


def test_single_records_move_away_from_those_that_are_alike():
    sets = DataSets((0.0, 0.0), (1.0, 1.0), 40)
    pair, rng = next(sets.patterns()), np.random.default_rng(1)
    sizes, distinct = set(), 0
    for _ in range(200):
        pair = sets.moved(pair, 0.1, rng)
        assert sets.holds(pair)
        sizes |= {count for _, count in pair[0].common}
        distinct = max(distinct, len(pair[0].common))
    assert {1, 2} < sizes
    assert 3 < distinct <= 8


def test_records_with_a_missing_value_are_among_the_neighbours():
    attribute = Binned("age", 0, 8, edges=(4,), missing="own_bin")
    assert real_neighbours._ends(attribute) == (0, None)
    assert [releases._value(attribute, place) for place in (0.0, 0.5, 0.9)] == [0, 6, None]


class Listing:
    """The noisy sum of two records."""

    adjacency: Any = "replace_one"
    pairs: ClassVar = [([0.0, 0.0], [0.0, 1.0]), ([0.0, 0.0], [1.0, 0.0])]

    def candidates(self):
        return self.pairs

    def sample(self, data, count, rng):
        return sum(data) + rng.laplace(size=(count, 1))


def test_declared_neighbours_are_required_of_all_listed_pairs(monkeypatch, tmp_path, capsys):
    out = tmp_path / "certificate.json"
    words = [f"{HERE}:Listing", "--search", "--draws", "10000", "--epsilon", "4", "--out", str(out)]
    assert main(words) in (0, 3)
    certificate = Certificate.read(out)
    assert certificate.neighbours == "replace_one, by the inputs"
    assert {check.name: check.holds for check in (*verify(certificate), *rebuilt(certificate))}["neighbours found"]
    # nobody checks them if no relation is declared, and verify does not say that anyone did
    monkeypatch.setattr(Listing, "adjacency", None)
    assert main(words) in (0, 3)
    capsys.readouterr()
    assert verify_command([str(out)]) in (0, 3)
    assert f"neighbours: not checked ({UNCHECKED})" in capsys.readouterr().out
    # two records differ in the second pair
    monkeypatch.setattr(Listing, "adjacency", "replace_one")
    monkeypatch.setattr(Listing, "pairs", [Listing.pairs[0], ([0.0, 0.0], [1.0, 1.0])])
    monkeypatch.setattr(Listing, "sample", lambda *_: pytest.fail("a draw before the check"))
    assert main(words) == 2
    assert "pair 1 of candidates(): the two inputs are not neighbours" in capsys.readouterr().err


@pytest.mark.parametrize(("other", "noted"), [([1.0, 2.5], True), ([1, 2.5], False)])
def test_a_listed_pair_that_nobody_can_compare_is_noted(other, noted, monkeypatch, capsys):
    """The finding said that nobody checked it, and not why."""
    monkeypatch.setattr(Listing, "pairs", [Listing.pairs[0], ([1, 2], other)])
    _, result = run(capsys, f"{HERE}:Listing", "--search", "--draws", "10000", "--epsilon", "4")
    assert result["witness"]["inputs"]["right"] == [0.0, 1.0]
    assert (OF_FORM in result["notes"], result["neighbours_checked"]) == (noted, not noted)
