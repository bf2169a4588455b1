"""What is said of the audited pair: which it is, how little it may show, and where its draws are used up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from audit import assert_private
from audit.auditor.events import Event
from audit.auditor.events.scores import CoordinateScore
from audit.auditor.tally import CertifiedEvent
from audit.bounds import Counts, largest_certifiable_epsilon
from audit.commands.estimate_text import as_text
from audit.epsilon_estimate import main
from audit.evidence import one_call
from audit.evidence.estimation import Audit, carried_out
from audit.evidence.report import EstimateResult
from audit.evidence.words import at_the_limit
from audit.gate.requests import asked
from audit.subjects.search import DataSets
from reference.common.arrays import FloatArray

UPPER = 200_000.0

WANTED = "is it the most extreme your code accepts?"
OF_SEARCH = "does the searched range go beyond what your code clips?"


def pair(left: float, right: float) -> tuple[list[float], list[float]]:
    """Return a hundred salaries each, of which the last differ."""
    return [50_000.0] * 99 + [left], [50_000.0] * 99 + [right]


EXTREME, TAME = pair(-1e9, 1e9), pair(50_000.0, 60_000.0)


class Mean:
    """The mean salary with the noise that epsilon 1 takes."""

    adjacency, share, clipped = "replace_one", 1.0, True

    def inputs(self) -> tuple[Any, Any]:
        return EXTREME

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        salaries = np.asarray(data.array() if hasattr(data, "array") else data).ravel()
        mean = np.mean(np.clip(salaries, 0, UPPER) if self.clipped else salaries)
        return np.asarray(mean + rng.laplace(scale=self.share * UPPER / 100, size=(count, 1)))


class HalfNoise(Mean):
    share = 0.5


class HalfNoiseOnATamePair(HalfNoise):
    def inputs(self) -> tuple[Any, Any]:
        return TAME


class NoClipping(Mean):
    clipped = False


class SearchedBeyond(NoClipping):
    """Its domain is wider than what it should clip to."""

    neighbourhood = DataSets(lower=(-1e6,), upper=(1e7,), records=100)


class SearchedWithin(NoClipping):
    """Its domain is a small part of it."""

    neighbourhood = DataSets(lower=(50_000.0,), upper=(60_000.0,), records=100)


def result_of(words: str, *more: str) -> EstimateResult:
    (request,) = asked(*words.split(), "--seed", "1", *more)
    return carried_out(Audit.of(request))


def own(kind: type[Any], *more: str) -> EstimateResult:
    return result_of(f"{__name__}:{kind.__name__} --epsilon 1 --draws 20000", *more)


@pytest.mark.parametrize(
    ("mechanism", "inputs", "weak"),
    [
        (HalfNoise(), TAME, True),
        # the null controls: as much as is claimed, and near it
        (Mean(), EXTREME, False),
        (HalfNoise(), pair(50_000.0, 120_000.0), False),
    ],
)
def test_a_pair_that_shows_little_is_asked_about(mechanism, inputs, weak):
    found = assert_private(mechanism, *inputs, epsilon=1, draws=50_000)
    for said in (str(found), found.not_ruled_out, found.to_json()["not_ruled_out"]):
        assert "other pairs of inputs" in said
        assert (WANTED in said) is weak
        assert (re.search(r"this pair shows 0\.0\d of the claimed 1: is it", said) is not None) is weak
        assert "losses on this pair below 1." in said


def test_the_question_is_no_part_of_another_verdict():
    few = assert_private(HalfNoise(), *TAME, epsilon=1, draws=1_000, allow_undecided=True)
    assert (few.verdict, WANTED in few.not_ruled_out) == ("undecided", False)
    with pytest.raises(AssertionError, match="refuted") as refuted:
        assert_private(HalfNoise(), *EXTREME, epsilon=1, draws=20_000)
    assert "this pair" not in str(refuted.value)


def test_the_command_asks_about_a_pair_of_the_user():
    weak, near = own(HalfNoiseOnATamePair), own(Mean)
    assert [WANTED in one.not_ruled_out() for one in (weak, near)] == [True, False]
    assert WANTED in as_text([weak], "ideal", None)
    # of our mechanisms the worst pair is known: it shows little by design
    ours = result_of("pdfc --dimension 3 --draws 20000")
    assert ours.estimate.epsilon_lower_bound < 0.4
    assert ours.not_ruled_out().startswith("other pairs of inputs; ")
    catalogued = result_of("laplace --epsilon 3 --draws 20000")
    assert catalogued.not_ruled_out().startswith("other pairs of inputs; ")


def test_a_search_finds_missing_clipping_only_beyond_the_clip():
    assert own(SearchedBeyond, "--search").verdict("ideal") == "refuted"
    within = own(SearchedWithin, "--search")
    assert within.verdict("ideal") == "not refuted"
    assert OF_SEARCH in within.not_ruled_out()
    assert WANTED not in within.not_ruled_out()


# --- A bound that the draws limit --------------------------------------------------------------------------------


def certified(likely: int, unlikely: int, bound: float) -> CertifiedEvent:
    counts = Counts(likely, 17_500, unlikely, 17_500)
    return CertifiedEvent(Event(CoordinateScore(0), 1.0, True, "right"), counts, bound, counts, "joint")


def test_a_bound_that_uses_up_its_draws_is_no_measured_loss():
    most = largest_certifiable_epsilon(17_500, 0.0, 0.05, "joint")

    def said(likely: int, unlikely: int, bound: float) -> str | None:
        return at_the_limit(certified(likely, unlikely, bound), 50_000, 0.0, 0.05)

    never = "the event never happened on the left"
    assert said(17_500, 0, most) == f"8.6689 is the most that 50,000 draws can show: {never}"
    assert said(9_000, 0, 8.0) == f"more draws may show more than 8.0000: {never}"
    # the null control: it did happen
    assert said(17_500, 1, most - 0.5) is None


def test_a_refutation_says_what_limits_it_and_leaves_nothing_open(capsys):
    with pytest.raises(AssertionError, match="refuted") as far:
        assert_private(NoClipping(), *EXTREME, epsilon=1, draws=20_000)
    assert "is the most that 20,000 draws can show: the event never happened on the " in str(far.value)
    with pytest.raises(AssertionError, match="refuted") as near:
        assert_private(HalfNoise(), *EXTREME, epsilon=1, draws=20_000)
    assert "draws can show" not in str(near.value)
    result = own(NoClipping)
    text = as_text([result], "ideal", None)
    assert "is the most that 20,000 draws can show: the event never happened on the " in text
    assert "not ruled out" not in text
    assert result.to_json()["not_ruled_out"].startswith("other pairs of inputs; ")
    # the null control
    assert main([f"{__name__}:Mean", "--epsilon", "1", "--draws", "20000", "--seed", "1"]) == 0
    assert "  not ruled out: other pairs of inputs; " in capsys.readouterr().out


@pytest.mark.parametrize(("claimed", "condition"), [(0.1, False), (0.99, False), (1.0, True), (5.0, True)])
def test_draws_that_would_decide_have_a_condition_only_if_it_is_one(claimed, condition):
    """At small claims it read "less often than once in 1 outputs"."""
    found = assert_private(
        Mean(), *EXTREME, epsilon=claimed * 10, draws=1_000, allow_undecided=True, significance=1e-4
    )
    said = one_call.OneCallFinding(
        claimed, found.claimed_delta, found.estimate, 0, neighbours_checked=True, inputs=found.inputs
    )._reach.draws_in_words()
    assert re.match(r"about [\d,]+ draws would decide", said)
    assert ("if there is an event that one input has less often than once in" in said) is condition


# --- Which pair --------------------------------------------------------------------------------------------------


class Sequenced(Sequence[float]):
    """A sequence that is no list."""

    def __init__(self, *numbers: float):
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, place: Any) -> Any:
        return self.numbers[place]

    def __repr__(self) -> str:
        return f"Sequenced{self.numbers}"


ONE_RECORD = "100 records, counted from 0; record 99 differs: -1000000000.0 against 1000000000.0"


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (EXTREME, ONE_RECORD),
        (tuple(map(np.array, EXTREME)), ONE_RECORD),
        (([0.0], [1.0]), "[0.0] against [1.0]"),
        ((Sequenced(0.0), Sequenced(1.0)), '"Sequenced(0.0,)" against "Sequenced(1.0,)"'),
        ((np.zeros(2_000_000), np.ones(2_000_000)), "an ndarray of shape (2000000,) against an ndarray of"),
    ],
)
def test_inputs_are_told_by_the_records_that_differ(inputs, said):
    found = assert_private(noise, *inputs, epsilon=1, draws=1_000, allow_undecided=True)
    assert found.inputs.startswith(said)
    assert f"\n  inputs: {said}" in str(found)


def noise(_: Any, rng: np.random.Generator) -> float:
    return rng.laplace()


def test_inputs_that_cannot_be_shown_end_no_audit(monkeypatch):
    def refuse(_: Any) -> Any:
        raise RuntimeError("not shown")

    monkeypatch.setattr(one_call, "as_json", refuse)
    found = assert_private(noise, [0.0], [1.0], epsilon=1, draws=1_000, allow_undecided=True)
    assert found.inputs == "[0.0] against [1.0]"
