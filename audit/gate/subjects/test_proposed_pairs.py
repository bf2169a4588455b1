"""The search proposes nothing but neighbours that the domain admits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pytest

from audit.auditor.subject import SubjectError
from audit.gate.subjects.searching import NoisySum, find
from audit.subjects.search import DataSets, Listed, Vectors, searchable
from reference.common.errors import DeclarationError

NEIGHBOURHOODS: list[Any] = [
    *(Vectors(count, -1.0, 2.0, 0.7, norm) for count in (1, 2, 5, 40) for norm in ("l1", "l2", "linf")),
    Vectors(3, change=50.0),
    DataSets((0.0, -1.0), (1.0, 3.0), 5),
    DataSets((0.0,), (1.0,), 1),
    DataSets((0.0,) * 3, (1.0,) * 3, 2, "add_or_remove_one"),
    DataSets((0.0,), (1.0,), 1, "add_or_remove_one", beside=4),
    DataSets((0.0,) * 4, (1.0,) * 4, 6, flags=2),
    DataSets((0.0,) * 3, (1.0,) * 3, 6, "add_or_remove_one", flags=1),
]


@pytest.mark.parametrize("neighbourhood", NEIGHBOURHOODS)
def test_proposals_are_neighbours_and_survive_json(neighbourhood):
    rng = np.random.default_rng(0)
    pairs = [*neighbourhood.patterns(), *islice(neighbourhood.corners(rng), 50)]
    pairs += [neighbourhood.random(rng) for _ in range(50)]
    pairs += [neighbourhood.moved(pair, reach, rng) for pair in pairs for reach in (0.01, 0.5)]
    assert len(pairs) > 150
    for pair in pairs:
        assert neighbourhood.holds(pair)
        again = neighbourhood.from_json(json.loads(json.dumps(neighbourhood.to_json(pair))))
        assert neighbourhood.to_json(again) == neighbourhood.to_json(pair)


def test_patterns_flip_each_flag_alone_and_all_with_the_other_columns():
    patterns = list(DataSets((0.0, -1.0, 0.0), (1.0, 3.0, 1.0), 5, flags=1).patterns())
    pairs = {(left.last, right.last) for left, right in patterns}
    assert ((1.0, 3.0, 0.0), (1.0, 3.0, 1.0)) in pairs
    assert ((0.0, -1.0, 0.0), (1.0, 3.0, 0.0)) in pairs
    assert ((0.0, -1.0, 0.0), (1.0, 3.0, 1.0)) in pairs
    assert len(patterns) == len(set(patterns)) > 20


def test_corners_of_a_small_box_are_all_there():
    corners = list(Vectors(4, norm="l1").corners(np.random.default_rng(0)))
    assert {tuple(left) for left, _ in corners} == {tuple(map(float, f"{place:04b}")) for place in range(16)}
    assert len(corners) == 16 * 5


def test_pairs_that_are_no_neighbours_do_not_hold():
    vectors, sets = Vectors(2), DataSets((0.0,), (1.0,), 2)
    low, high = np.zeros(2), np.ones(2)
    assert vectors.holds((low, high))
    assert not Vectors(2, norm="l1").holds((low, high))
    assert not vectors.holds((low, high + 0.1))
    left, other = next(sets.patterns())
    assert sets.holds((left, other))
    assert not DataSets((0.0,), (1.0,), 3).holds((left, other))
    assert not DataSets((0.0,), (0.5,), 2).holds((left, other))
    assert not DataSets((0.0,), (1.0,), 2, "add_or_remove_one").holds((left, other))


def test_a_proposal_that_is_no_pair_of_neighbours_ends_the_search():
    class TooFar(Vectors):
        def random(self, rng):
            return np.zeros(self.count), np.full(self.count, 2.0)

    class Subject(NoisySum):
        neighbourhood = TooFar(3, norm="l1")

    with pytest.raises(SubjectError, match="not a pair of neighbours"):
        find(Subject(), 40_000)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Vectors(0), "count"),
        (lambda: Vectors(1, 1.0, 1.0), "lower"),
        (lambda: Vectors(1, change=0.0), "change"),
        (lambda: Vectors(1, norm="l3"), "norm"),
        (lambda: DataSets((), (), 2), "lower"),
        (lambda: DataSets((1.0,), (0.0,), 2), "lower"),
        (lambda: DataSets((0.0,), (1.0,), 1, "add_or_remove_one"), "records"),
        (lambda: DataSets((0.0,), (1.0,), 1, "bounded"), "adjacency"),
        (lambda: DataSets((0.0,), (1.0,), 1, flags=2), "flags"),
    ],
)
def test_declarations_that_contradict_themselves_are_named(make, name):
    with pytest.raises(DeclarationError, match=name):
        make()


@dataclass(frozen=True)
class Candidates:
    """Lists its own pairs: only the last one tells."""

    def candidates(self):
        return [(0.0, 0.1), (0.0, 0.2), (0.0, 3.0)]

    def inputs(self):
        return 0.0, 0.1

    def sample(self, data, count, rng):
        return rng.laplace(data, size=(count, 1))


class Empty(Candidates):
    def candidates(self):
        return []


listing = Candidates()


def test_candidates_of_the_subject_itself_are_searched():
    found = find(listing, 4_000)
    assert (found.pair, found.origin, found.tried) == ((0.0, 3.0), "pattern", 3)
    assert isinstance(searchable(listing)[1], Listed)


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        (object(), "declares no neighbourhood"),
        (Empty(), "no pair"),
    ],
)
def test_subjects_without_a_domain_are_named(subject, reason):
    with pytest.raises(SubjectError, match=reason):
        searchable(subject)
