"""One call on what users pass: what a mechanism states itself, and what a message says of a plain function."""

from __future__ import annotations

import numpy as np
import pytest

from audit import assert_private
from audit.auditor.subject import SubjectError
from audit.subjects.adjacency import UNCHECKED
from reference.common.errors import InputError

ONE_APART, TEN_APART = ([1.0] + [0.0] * 9, [0.0] * 10), ([1.0] * 10, [0.0] * 10)
QUICK = {"draws": 2_000, "allow_undecided": True}


class Stated:
    """A mean that states its claim and its neighbours."""

    adjacency: object = "replace_one"
    claimed_epsilon, claimed_delta = 2, "0.01"

    def sample(self, data, count, rng):
        return np.mean(data) + rng.laplace(scale=0.1, size=(count, 1))


class OfAGraph(Stated):
    """Its attribute of that name states nothing about neighbours."""

    adjacency = np.eye(3)


# --- What a mechanism states ------------------------------------------------------------------------------------


def test_neighbours_that_a_mechanism_states_are_checked():
    with pytest.raises(SubjectError, match="not neighbours under replace_one"):
        assert_private(Stated(), *TEN_APART, epsilon=1)
    # null controls: neighbours, the same words, and an attribute that is no relation
    for how in ({}, {"adjacency": "replace_one"}):
        assert assert_private(Stated(), *ONE_APART, epsilon=1, **QUICK, **how).notes == ()
    assert UNCHECKED in assert_private(OfAGraph(), *ONE_APART, epsilon=1, **QUICK).notes
    assert assert_private(OfAGraph(), *ONE_APART, epsilon=1, adjacency="replace_one", **QUICK).notes == ()


def test_neighbours_stated_in_two_ways_are_refused():
    both = "'add_or_remove_one' in the call and 'replace_one' in the mechanism"
    with pytest.raises(SubjectError, match=both):
        assert_private(Stated(), *ONE_APART, epsilon=1, adjacency="add_or_remove_one")
    with pytest.raises(SubjectError, match="a function in the call and 'replace_one' in the mechanism"):
        assert_private(Stated(), *ONE_APART, epsilon=1, adjacency=lambda *_: True)


def test_claim_that_is_given_counts_before_the_stated_one():
    def claimed(**claim):
        found = assert_private(Stated(), *ONE_APART, **claim, **QUICK).to_json()
        return found["claimed_epsilon"], found["claimed_delta"]

    assert claimed() == (2.0, "0.01")
    assert claimed(epsilon=1) == (1.0, "0.01")
    assert claimed(epsilon=1, delta=0) == (1.0, "0")
    with pytest.raises(InputError, match="epsilon must be given: the mechanism has no attribute claimed_epsilon"):
        assert_private(lambda _, rng: rng.laplace(), *ONE_APART)


# --- What a finding leaves open ---------------------------------------------------------------------------------


class SeldomBare:
    """A right mechanism that forgets its noise once in a thousand outputs."""

    def sample(self, data, count, rng):
        return sum(data) + rng.laplace(size=(count, 1)) * (rng.random((count, 1)) > 0.001)


def test_pass_says_how_rare_a_leak_it_could_not_see():
    found = assert_private(SeldomBare(), [1.0], [0.0], epsilon=1, adjacency="replace_one", draws=50_000)
    leak = "leaks that happen less often than about once in "
    (line,) = [line for line in str(found).splitlines() if line.startswith("  not ruled out: other inputs and")]
    assert leak in line
    assert int(line.partition(leak)[2].split()[0]) < 1_000
    told = found.to_json()["not_ruled_out"]
    assert told.startswith("other neighbouring inputs; what another event would show")
    assert line.partition("events; ")[2] in told
    # a claim that is refuted leaves nothing open
    with pytest.raises(AssertionError, match=r"^refuted") as refuted:
        assert_private(SeldomBare(), [2.0], [0.0], epsilon=1, draws=50_000)
    assert "not ruled out" not in str(refuted.value)
