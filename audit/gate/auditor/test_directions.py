"""Sums of coordinates that show what common noise hides from each of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audit.auditor.distinguish import Terms, estimate
from audit.auditor.events import Event, Quantiser, directions, event_of, stored_event
from audit.auditor.events.atoms import learn_atoms
from audit.auditor.events.directions import (
    BOUNDED_BY,
    DIRECTION_ROWS,
    MOST_LOOKED,
    MOST_PAIRS,
    NARROWEST,
    DistanceScore,
    _hidden,
    _whitening,
    learn_directions,
    learn_hidden,
)
from audit.auditor.events.scores import CoordinateScore, LogisticScore
from audit.auditor.events.stored import EventError
from audit.auditor.events.values import ResidueScore
from audit.evidence.fresh import too_fine
from audit.evidence.words import event_in_words
from audit.gate.auditor.auditing import audit
from audit.gate.needs import exhaustively
from audit.subjects.catalogue import CATALOGUE
from audit.validity.known import IN_DIRECTIONS
from reference.common.arrays import FloatArray

SOME = ("coordinates", "directions")


class Hidden:
    """Columns that share wide noise; what is left of it in one sum is twice as wide on the right, or as wide."""

    def __init__(self, kind: str, *, leaks: bool) -> None:
        self.kind, self.leaks = kind, leaks

    def inputs(self) -> tuple[float, float]:
        return 1.0, 2.0 if self.leaks else 1.0

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        own, wide = data * rng.laplace(size=count), 1_000 * rng.normal(size=(3, count))
        return np.column_stack(list(getattr(self, self.kind)(own, wide, rng)))

    def difference(self, own: FloatArray, wide: FloatArray, _: Any) -> Any:
        return wide[0], wide[0] + own

    def sum_of_three(self, own: FloatArray, wide: FloatArray, _: Any) -> Any:
        return wide[0], wide[1], own - wide[0] - wide[1]

    def other_units(self, own: FloatArray, wide: FloatArray, _: Any) -> Any:
        return wide[0] * 1e6, (wide[0] + own) * 1e-6

    def whole(self, own: FloatArray, wide: FloatArray, _: Any) -> Any:
        return np.rint(wide[0] * 10), np.rint(wide[0] * 10 + own * 10)

    def heavy_tails(self, own: FloatArray, wide: FloatArray, _: Any) -> Any:
        wide = np.tan(wide[0])
        return 1_000 * wide, 1_000 * wide + own

    def far_values(self, own: FloatArray, wide: FloatArray, rng: Any) -> Any:
        return wide[0], wide[0] + own + 1e12 * (rng.random(len(own)) < 5e-4)

    def constant(self, own: FloatArray, wide: FloatArray, _: Any) -> Any:
        return np.full(len(own), 3.0), wide[0], wide[0] + own, wide[0]

    def almost_too_large(self, own: FloatArray, wide: FloatArray, _: Any) -> Any:
        return wide[0] * 2e304, (wide[0] + own) * 2e304

    def in_twenty(self, own: FloatArray, wide: FloatArray, rng: Any) -> Any:
        return *(wide[0] + rng.laplace(size=(19, len(own)))), wide[0] + own


KINDS = [
    *("difference", "sum_of_three", "other_units", "heavy_tails", "far_values", "constant", "in_twenty"),
    *exhaustively("whole", "almost_too_large"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_scale_behind_common_noise_is_seen(kind):
    found = audit(Hidden(kind, leaks=True), 40_000, families=SOME)
    assert isinstance(found.event.score, DistanceScore)
    assert found.verdict(1.0) == "refuted"
    assert found.epsilon_lower_bound > 1.9
    # no family sees it without
    assert (
        audit(Hidden("difference", leaks=True), 40_000, families=("coordinates", "trees")).verdict(1.0)
        != "refuted"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_equal_inputs_behind_common_noise_show_nothing(kind):
    """Null control: narrow directions are looked at, and no other."""
    subject = Hidden(kind, leaks=False)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        left, right = (subject.sample(1.0, 5_000, rng) for _ in range(2))
        proposed = list(learn_directions(left, right))
        assert 1 <= len(proposed) <= NARROWEST
        assert all(isinstance(score, DistanceScore) for score in proposed)
    assert audit(subject, 40_000, families=SOME).epsilon_lower_bound < 0.2


@pytest.mark.parametrize(
    "name", ["laplace_product", "functional_exact", "adfc_equal_budgets", "unclipped_covariance"]
)
def test_noise_of_each_coordinate_alone_proposes_no_direction(name):
    """So other audits choose among the scores they had, and cost little more."""
    subject = CATALOGUE[name]()
    for seed in range(5):
        rng = np.random.default_rng(seed)
        assert list(learn_directions(*(subject.sample(data, 5_000, rng) for data in subject.inputs()))) == []


class Seldom(Hidden):
    """A difference that is far off in one output of five hundred, which no mean shows."""

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        outputs = super().sample(1.0, count, rng)
        outputs[:, 1] += 30 * (data - 1) * (rng.random(count) < 0.002)
        return outputs


def test_rare_leak_behind_common_noise_is_seen():
    assert audit(Seldom("difference", leaks=True), 100_000, families=SOME).verdict(1.0) == "refuted"


def test_location_behind_common_noise_is_seen_and_a_right_one_not_refuted():
    right = audit(CATALOGUE["laplace_common_noise"](), 40_000)
    assert isinstance(right.event.score, LogisticScore)
    assert 0.85 < right.epsilon_lower_bound < 1.0
    assert right.verdict(1.0) == "not refuted"
    assert right.verdict(0.8) == "refuted"
    assert audit(CATALOGUE["common_noise_scale"](), 40_000).verdict(1.0) == "refuted"


@pytest.mark.parametrize("rows", [5, 20, 3_000])
@pytest.mark.parametrize("spoiled", ["none", "equal", "zero", "nan", "rare", "flags", "tiny", "huge"])
def test_no_sample_is_too_odd(rows, spoiled):
    """Fewer rows than coordinates, no variance, numbers that are none or overflow: deterministic, and finite."""
    rng = np.random.default_rng(rows)
    left, right = rng.normal(size=(2, rows, 8)) * np.array([[[1.0]], [[2.0]]])
    for sample in (left, right):
        sample[:, 1] = sample[:, 0] + 1e-3 * sample[:, 2]
        if spoiled == "equal":
            sample[:, 1:] = sample[:, :1]
        elif spoiled == "zero":
            sample[:] = 0.0
        elif spoiled == "nan":
            sample[::7, 1] = 0.0
        elif spoiled == "rare":
            sample[1:, :7] = 0.0
        elif spoiled == "flags":
            sample[:] = sample > 2.4
        elif spoiled in ("tiny", "huge"):
            sample[:] = sample * 1e-310 if spoiled == "tiny" else sample.clip(-5, 5) * 3e307
    found = [
        [
            score.to_json()
            for learn in (learn_directions, learn_hidden, learn_atoms)
            for score in learn(left, right)
        ]
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert all(np.isfinite(score["weights"]).all() for score in found[0])


@pytest.mark.parametrize("spoil", [np.nan, np.inf])
def test_outputs_that_are_not_finite_are_audited_alike_twice(spoil):
    class Spoiled(Hidden):
        def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
            outputs = super().sample(data, count, rng)
            outputs[rng.random(count) < 0.01, 1] = spoil
            return outputs

    found = [audit(Spoiled("difference", leaks=True), 20_000) for _ in range(2)]
    assert found[0].event.to_json() == found[1].event.to_json()
    assert found[0].counts == found[1].counts


def test_rows_of_which_most_are_far_are_kept():
    """Else none would be left to learn from."""
    left, right = np.random.default_rng(1).normal(size=(2, BOUNDED_BY, 3))
    for sample in (left, right):
        sample[1::2] *= 1e6
    values = np.concatenate([left, right])
    assert _whitening(values, np.arange(len(values)) % 2 == 0)[1].all()
    assert list(learn_directions(left, right)) == []


def test_one_coordinate_has_no_direction(monkeypatch):
    monkeypatch.setattr("audit.auditor.events.families.learn_directions", lambda *_: 1 / 0)
    assert audit(CATALOGUE["laplace"](), 4_000).epsilon_lower_bound > 0.0


def test_directions_are_learned_from_some_of_the_outputs():
    subject = Hidden("difference", leaks=True)
    left, right = (subject.sample(d, 2 * DIRECTION_ROWS, np.random.default_rng(int(d))) for d in subject.inputs())
    some = learn_directions(left[:DIRECTION_ROWS], right[:DIRECTION_ROWS])
    assert [a.to_json() for a in some] == [a.to_json() for a in learn_directions(left, right)]


def test_weights_of_a_direction_are_those_of_the_hidden_sum():
    subject = Hidden("sum_of_three", leaks=True)
    left, right = (subject.sample(data, 10_000, np.random.default_rng(int(data))) for data in subject.inputs())
    score, narrow = learn_directions(left, right)
    assert isinstance(narrow, DistanceScore)
    assert np.abs(narrow.weights / narrow.weights[0] - 1).max() < 1e-3
    weights = np.array(score.to_json()["weights"])
    assert np.abs(weights / weights[0] - 1).max() < 1e-3
    assert score.to_json()["centre"] == pytest.approx(0.0, abs=0.1)
    event = Event(score, 2.5, False, "left")
    said = event_in_words(event, [f"w{k}" for k in range(len(weights))])
    assert said.startswith(f"a sum of weighted coordinates ({weights[0]:.3g} times w0, ")
    assert ") is at most 2.5 from " in said
    again = event_of(stored_event(json.loads(json.dumps(event.to_json()))))
    assert (again.occurs(left) == event.occurs(left)).all()
    with pytest.raises(EventError, match="centre"):
        stored_event({**event.to_json(), "centre": None})


@pytest.mark.parametrize(
    ("ratios", "unit", "said"),
    [
        ((2.0, -2.0), 0.5, "an even multiple of 0.5"),
        ((-2.0, 2.0), 1.0, "an odd whole number"),
        ((-2.0, 2.0, -1.0, 2.0, 2.0, -1.0, -2.0), 0.1, "k times 0.1, and k leaves 1, 3 or 4 when divided by 7"),
        ((2.0, 2.0, -1.0), 1.0, "a whole number k, and k does not leave 2 when divided by 3"),
    ],
)
def test_residues_are_told_in_words(ratios, unit, said):
    event = Event(ResidueScore(0, len(ratios), ratios, unit), 1.0, True, "left")
    assert event_in_words(event, ["count"]) == f"count is nearest to {said}"


@pytest.mark.parametrize("known", IN_DIRECTIONS, ids=lambda known: known.name)
def test_row_of_directions_is_about_what_it_says(known):
    found = [
        estimate(known.subject, Terms(draws=4_000, families=SOME), np.random.default_rng(seed)).event
        for seed in range(6)
    ]
    assert [event.score.name for event in found].count("distance") >= 5
    steps = max(event.quantiser.steps.max() for event in found) / known.subject.wide
    assert (steps < 2.0**-30) == (known.subject.wide > 1e6)


# --- Sums and differences finer than the grid -----------------------------------------------------------------


class HiddenFiner:
    """Columns that share noise far wider than what is left of it in their difference, or sum."""

    def __init__(self, kind: str, wide: float, *, leaks: bool) -> None:
        self.kind, self.wide, self.leaks = kind, wide, leaks

    def inputs(self) -> tuple[float, float]:
        return (1.0, 3.0) if self.leaks else (1.0, 1.0)

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        wide = self.wide * rng.normal(size=count)
        own = data * rng.laplace(size=count)
        if self.kind == "sum":
            return np.column_stack([wide, own - wide])
        if self.kind == "location":
            return np.column_stack([wide, wide + rng.laplace(data, size=count)])
        if self.kind == "far":
            own = np.where(rng.random(count) < 1e-4, 1e12, own)
        if self.kind == "among others":
            return np.column_stack([rng.laplace(size=(count, 6)) * self.wide, wide, wide + own, wide])
        return np.column_stack([wide, wide + own])


@pytest.mark.parametrize("wide", [1e5, 1e7, 3e7])
@pytest.mark.parametrize("kind", ["difference", "sum", "location", "far", "among others"])
def test_what_is_finer_than_the_grid_is_seen_in_sums_and_differences(kind, wide):
    found = audit(HiddenFiner(kind, wide, leaks=True), 20_000, families=SOME)
    assert found.verdict(1.0) == "refuted"
    assert found.epsilon_lower_bound > 1.7
    assert event_of(found.event.stored).stored == found.event.stored
    # the null control
    right = audit(HiddenFiner(kind, wide, leaks=False), 20_000, families=SOME)
    assert right.epsilon_lower_bound < 0.2


@pytest.mark.parametrize("wide", [1e9, 1e12])
def test_what_is_near_float_noise_is_not_looked_at(wide):
    for leaks in (True, False):
        found = audit(HiddenFiner("difference", wide, leaks=leaks), 20_000, families=SOME)
        assert found.epsilon_lower_bound < 0.2


class Rounded:
    """A right mechanism: wide noise hides the sums, and what they have in common is not their difference."""

    def __init__(self, kind: Any, divisor: float = 1.0) -> None:
        self.kind, self.divisor = kind, divisor

    def inputs(self) -> tuple[float, float]:
        return 0.1, 0.4

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        # in single precision multiples of 1
        wide = rng.uniform(2.0**23, 2.0**24, size=(count, 1)).astype(self.kind)
        own = np.hstack([np.zeros((count, 1)), rng.laplace(size=(count, 1))]) + data
        outputs: FloatArray = (wide + own.astype(self.kind)).astype(np.float64)
        return outputs / self.divisor


@pytest.mark.parametrize("divisor", [1.0, 1_000.0])
def test_rounding_of_single_precision_is_no_difference(divisor, monkeypatch):
    subject = Rounded(np.float32, divisor)
    assert audit(subject, 40_000, families=SOME).epsilon_lower_bound < 0.1
    # in double precision there is nothing to see
    assert audit(Rounded(np.float64, divisor), 40_000, families=SOME).epsilon_lower_bound < 0.1
    # the broken control: repeated differences accepted
    monkeypatch.setattr("audit.auditor.events.directions.OF_A_LATTICE", 1.0)
    assert audit(subject, 40_000, families=SOME).epsilon_lower_bound > 0.2


@pytest.mark.parametrize("name", ["laplace_product", "functional_exact", "laplace_common_noise"])
def test_only_what_is_finer_than_the_grid_is_judged_on_a_finer_one(name):
    subject = CATALOGUE[name]()
    rng = np.random.default_rng(0)
    assert list(learn_hidden(*(subject.sample(data, 5_000, rng) for data in subject.inputs()))) == []


@pytest.mark.parametrize("kind", ["difference", "sum", "location"])
def test_a_finer_grid_is_one_of_sums_that_need_it(kind):
    """As new draws show; the bits of single precision, or of one coordinate, get none."""
    subject = HiddenFiner(kind, 1e7, leaks=True)
    found = audit(subject, 20_000, families=SOME)
    sizes = found.counts.likely_draws, found.draws - 2 * found.counts.likely_draws
    rng = np.random.default_rng(7)
    left, right = (subject.sample(data, 20_000, rng) for data in subject.inputs())
    assert found.event.quantiser is not None
    assert too_fine(found.event, left, right, *sizes) == ()
    forged = Quantiser(found.event.quantiser.steps * 2.0**-5)
    assert too_fine(replace(found.event, quantiser=forged), left, right, *sizes) == (0, 1)
    for score in (
        CoordinateScore(0),
        DistanceScore(np.array([1.0, 0.0]), 0.0),
        LogisticScore(np.array([1.0, 0.5])),
    ):
        assert too_fine(replace(found.event, score=score), left, right, *sizes) == (0, 1)
    single = [side.astype(np.float32).astype(np.float64) for side in (left, right)]
    # however few an audit states: the sums of as many seldom repeat
    for stated in (sizes, (100, 60)):
        assert too_fine(found.event, left, right, *stated) == ()
        assert too_fine(found.event, *single, *stated) == (0, 1)


def test_columns_that_are_copies_are_looked_at_in_few_pairs(monkeypatch):
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(2, 2_000, 1)) * np.ones(200)
    for side in (left, right):
        side[:, 1] += 1e-6 * rng.normal(size=2_000)
    looked = []
    monkeypatch.setattr(directions, "_hidden", lambda *pair: looked.append(pair) or _hidden(*pair))
    assert len(list(learn_hidden(left, right))) == 2 * MOST_PAIRS
    assert len(looked) == MOST_LOOKED
