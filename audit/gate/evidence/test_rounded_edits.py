"""Edits within the rounding of another machine: data have none, and a learnt event is counted as it is stated."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from audit.common.compare import differences, nowhere
from audit.evidence.certificate import Certificate
from audit.evidence.checks import rebuilt
from audit.evidence.estimation import Audit, carried_out
from audit.evidence.replay import replay
from audit.evidence.verify import outcome
from audit.gate.requests import asked
from audit.subjects.search import Vectors

HERE = __name__


class Stamps:
    """Seconds of our time, which are far from zero."""

    adjacency, claimed_epsilon = "replace_one", 1

    def inputs(self):
        return [1_700_000_000, 1_700_000_100, 1_700_000_200], [1_700_000_000, 1_700_000_100, 1_700_000_201]

    def sample(self, data, count, rng):
        return np.full((count, 1), sum(data) - 5.1e9) + rng.laplace(size=(count, 1)) / 2


class Whole:
    """Whole numbers: a threshold between two of them may be anywhere."""

    claimed_epsilon = 0.5

    def inputs(self):
        return [0.0, 1.0], [0.0, 0.0]

    def sample(self, data, count, rng):
        noise = rng.geometric(0.6, (count, 1)) - rng.geometric(0.6, (count, 1))
        return (sum(data) + noise).astype(float)


class Answers:
    """Randomised answers: sums of learnt weights, of which many outputs have the same."""

    claimed_epsilon = 1

    def inputs(self):
        return 0, 1

    def sample(self, data, count, rng):
        return ((rng.random((count, 6)) < 0.25) ^ bool(data)).astype(float)


class Wide(Answers):
    """So many answers that scores of all of them stand for most."""

    def sample(self, data, count, rng):
        shift = bool(data) * np.linspace(0, 0.2, 600)
        return rng.laplace(size=(count, 600)) + shift


class Declared:
    claimed_epsilon = 1

    def __init__(self):
        self.neighbourhood = Vectors(2, upper=3.0)

    def sample(self, data, count, rng):
        return np.asarray(data) + rng.laplace(size=(count, 2)) / 2


class Whitened:
    """Inputs that linear algebra computes, on each machine in its way."""

    adjacency, claimed_epsilon, rows = "replace_one", 0.5, 3

    def inputs(self):
        left = [0.1, 1 / 3, *[7.0] * (self.rows - 2)]
        return left, [0.1, 1 / 7, *left[2:]]

    def sample(self, data, count, rng):
        return data[1] * 5 + rng.laplace(size=(count, 1)) / 2


class WhitenedAtLength(Whitened):
    rows = 9_000


WORDS = {
    "long": f"{HERE}:WhitenedAtLength --draws 3000 --seed 2",
    "whitened": f"{HERE}:Whitened --draws 3000 --seed 2",
    "stamps": f"{HERE}:Stamps --draws 3000 --seed 2",
    "whole": f"{HERE}:Whole --draws 4000 --seed 2 --events coordinates",
    "answers": f"{HERE}:Answers --draws 4000 --seed 2 --events additive",
    "logistic": f"{HERE}:Answers --draws 4000 --seed 2 --events logistic",
    "clock": f"{HERE}:Answers --draws 4000 --seed 2 --events additive --max-seconds 100",
    "curve": f"{HERE}:Answers --draws 4000 --seed 2 --events additive --curve",
    "wide": f"{HERE}:Wide --draws 2000 --seed 2",
    "search": f"{HERE}:Declared --draws 10000 --seed 2 --search",
}


@cache
def result(name: str) -> Any:
    (request,) = asked(*WORDS[name].split())
    return json.loads(json.dumps(carried_out(Audit.of(request)).to_json()))


def certificate_of(name: str) -> Any:
    return copy.deepcopy(result(name)["certificate"])


def replayed(document: Any) -> tuple[bool | None, str]:
    found = replay(Certificate.of(document))[0]
    return found.holds, found.detail


@pytest.mark.parametrize(
    "right",
    [
        [1_699_998_500.0, 1_700_001_500.0, 1_700_000_700.0],
        [1_700_000_000.0, 1_700_000_100.0, 1_700_000_201.0],
        [1_700_000_000, 1_700_000_100, 1_700_000_200],
    ],
)
def test_inputs_are_compared_exactly(right):
    document = certificate_of("stamps")
    # the null control
    assert replayed(document)[0] is True
    assert [one.holds for one in rebuilt(Certificate.of(document)) if one.name == "inputs"] == [True]
    document["inputs"]["right"] = right
    assert replayed(document)[0] is False
    assert [one.holds for one in rebuilt(Certificate.of(document)) if one.name == "inputs"] == [False]


@pytest.mark.parametrize(
    ("edited", "inputs"),
    [
        (1 / 7 * (1 + 1e-15), None),
        (1 / 7 * (1 + 1e-13), None),
        (1 / 7 * (1 + 1e-11), False),
        ("1/7", False),
        (0, False),
    ],
)
def test_last_digits_of_inputs_are_left_undecided(edited, inputs):
    document = certificate_of("whitened")
    whole = [*rebuilt(Certificate.of(document)), *replay(Certificate.of(document))]
    # the null control
    assert outcome(whole) == "holds"
    document["inputs"]["right"][1] = edited
    certificate = Certificate.of(document)
    assert [one.holds for one in rebuilt(certificate) if one.name == "inputs"] == [inputs]
    found = replay(certificate)
    assert outcome(found) == ("undecided" if inputs is None else "does not hold")
    # the rest is repeated with the inputs as they are computed
    assert [one.holds for one in found if one.name == "replay"] == [inputs is None]


def test_last_digits_of_long_inputs_are_left_undecided():
    document = certificate_of("long")
    assert outcome(replay(Certificate.of(document))) == "holds"
    right, digest = document["inputs"]["right"], document["inputs"]["left"]["sha256"]
    own = right["sha256"]
    # a digest alone says that these are others
    right["sha256"] = digest
    assert outcome(replay(Certificate.of(document))) == "does not hold"
    right["different"]["1"] = f"'{1 / 7 * (1 + 1e-15)!r}'"
    for right["sha256"] in (digest, own):
        assert outcome(replay(Certificate.of(document))) == "undecided"
    right["different"]["1"] = f"'{1 / 7 * (1 + 1e-11)!r}'"
    assert outcome(replay(Certificate.of(document))) == "does not hold"
    right["different"]["1"] = "'no number"
    assert outcome(replay(Certificate.of(document))) == "does not hold"


def nudged(threshold: float, relation: str, size: float) -> float:
    """Return a threshold that leaves out what equals it."""
    return threshold + (1 if relation == ">=" else -1) * (abs(threshold) * size or 1e-13)


@pytest.mark.parametrize("towards", [1, -1])
def test_thresholds_of_whole_numbers_are_compared_exactly(towards):
    document = certificate_of("whole")
    assert replayed(document)[0] is True
    event = document["event"]
    event["threshold"] = nudged(event["threshold"], event["relation"], towards * 9e-7)
    assert replayed(document) == (False, "event.threshold differs")


@pytest.mark.parametrize("name", ["answers", "logistic", "clock"])
def test_learnt_events_are_counted_as_they_are_stated(name):
    document = certificate_of(name)
    assert replayed(document)[0] is True
    event, threshold = document["event"], document["event"]["threshold"]
    # of another machine: the same outputs in it
    event["threshold"] = nudged(threshold, event["relation"], -1e-9)
    assert replayed(document)[0] is True
    # of somebody else: some have just this score, and are counted but not in it
    event["threshold"] = nudged(threshold, event["relation"], 9e-7)
    holds, said = replayed(document)
    assert holds is False
    assert "event" not in said
    event["threshold"] = threshold
    event["quantised_to"] = [step * (1 + 9e-7) for step in event["quantised_to"]]
    assert replayed(document)[0] is False


def test_curves_are_counted_as_they_are_stated():
    document = certificate_of("curve")
    assert replayed(document)[0] is True
    for point in document["curve"]["points"]:
        at = json.loads(json.dumps(document))
        (edited,) = [one for one in at["curve"]["points"] if one["delta"] == point["delta"]]
        # an event from a level on, or below one
        edited["threshold"] += 9e-7 * abs(edited["threshold"])
        assert replayed(at)[0] is False


def test_reductions_are_used_as_they_are_stated():
    document = certificate_of("wide")
    assert replayed(document)[0] is True
    reduced, event = document["event"]["reduced_to"], document["event"]
    # the event is of one of these scores
    assert (event["score"], event["coordinate"]) == ("coordinate", len(reduced["coordinates"]))
    score, ratios = reduced["scores"][0], reduced["scores"][0]["log_ratios"]
    for size in (9e-7, 1e-3):
        score["log_ratios"] = [[ratio * (1 + size) for ratio in row] for row in ratios]
        assert replayed(document)[0] is False
    score["log_ratios"] = ratios
    reduced["quantised_to"][0] *= 1 + 1e-9
    assert replayed(document) == (False, "event.reduced_to.quantised_to[0] differs")


def test_pairs_of_a_search_are_audited_as_they_are_stated():
    document = certificate_of("search")
    assert replayed(document)[0] is True
    pair, inputs = document["request"]["subject"]["pair"], document["inputs"]
    assert (pair["left"], pair["right"]) == (inputs["left"], inputs["right"])
    whole, rounded = pair["right"], [value * (1 - 5e-7) for value in pair["right"]]
    inputs["right"] = rounded
    assert replayed(document) == (False, "inputs.right[0] differs")
    pair["right"], inputs["right"] = rounded, whole
    assert replayed(document) == (False, "inputs.right[0] differs")


def test_whole_numbers_and_zeros_are_told_apart_where_they_are_data():
    ends = {"lo": "1", "hi": "2"}, {"lo": "1", "hi": "2.0"}
    for old, new in ((1, 1.0), (0.0, -0.0), ([1e9], [1e9 + 1]), ends):
        assert list(differences(old, new, computed=nowhere))
        assert not list(differences(old, new))
        assert not list(differences(old, copy.deepcopy(old), computed=nowhere))
