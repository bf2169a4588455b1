"""Every family of events catches a leak that the others miss, and all together are silent on right mechanisms."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from audit.auditor.distinguish import Terms, estimate
from audit.auditor.events import FAMILIES, Event, Quantiser, event_of, proposals, stored_event
from audit.auditor.events.bits import BitScore, EqualityScore
from audit.auditor.events.families import FURTHER_MODULI
from audit.auditor.events.stored import EventError
from audit.auditor.events.trees import TREES, TreeScore
from audit.auditor.events.values import ResidueScore, telling_moduli
from audit.auditor.subject import SubjectError
from audit.subjects.catalogue import (
    CATALOGUE,
    FloatLaplace,
    Gaussian,
    Laplace,
    LeakyLaplace,
    NoisyMaxValue,
    ProductLaplace,
    SparseVectorIndex,
    SparseVectorNoQueryNoise,
)


def audit(subject, draws: int, seed: int = 1, families=FAMILIES, delta: float = 0.0, significance: float = 1e-4):
    rng = np.random.default_rng(seed)
    return estimate(subject, Terms(delta=delta, draws=draws, significance=significance, families=families), rng)


@dataclass(frozen=True)
class Planted:
    """A leak that one family sees; `broken` False removes it."""

    broken: bool = True

    def inputs(self):
        return 0, 1

    def sign(self, data):
        return (1.0 if data else -1.0) if self.broken else 0.0


class MovedTail(Planted):
    """Outputs beyond 6, which honest ones never reach, on one input only: a half-line."""

    def sample(self, data, count, rng):
        values = rng.random((count, 1))
        return np.where(rng.random((count, 1)) < 0.004 * (self.sign(data) > 0), 6 + values, values)


class NarrowPeak(Planted):
    """A thousandth of the outputs lies within 3e-4, at one of two places: an interval, far below a bin's width."""

    def sample(self, data, count, rng):
        values = rng.random((count, 1))
        peak = 0.4 + 0.1 * self.sign(data) + 3e-4 * values
        return np.where(rng.random((count, 1)) < 0.003, peak, values)


class WiderEverywhere(Planted):
    """Each of 60 coordinates is somewhat wider on one input: only their sum tells."""

    def sample(self, data, count, rng):
        return rng.normal(0, 1 + 0.05 * self.sign(data), (count, 60))


class BehindCommonNoise(Planted):
    """A shift of the difference of two coordinates, both under the same large noise: only a direction tells."""

    def sample(self, data, count, rng):
        common, own = rng.normal(0, 100, (count, 1)), rng.normal(0, 1, (count, 1))
        return np.hstack([common, common + own + self.sign(data)])


class WiderBehindCommonNoise(Planted):
    """A scale of the difference of two coordinates, both under the same large noise: only a direction tells."""

    def sample(self, data, count, rng):
        common, own = rng.normal(0, 1_000, (count, 1)), rng.laplace(0, 1, (count, 1))
        return np.hstack([common, common + own * (1.5 + 0.5 * self.sign(data))])


class Agreement(Planted):
    """Whether two coordinates have the same sign: neither alone tells, and sums tell in the corners only."""

    def sample(self, data, count, rng):
        values = rng.normal(size=(count, 2))
        wanted = rng.random(count) < 0.5 + 0.4 * self.sign(data)
        agree = values[:, 0] * values[:, 1] > 0
        values[:, 1] = np.where(agree == wanted, values[:, 1], -values[:, 1])
        return values


class Parity(Planted):
    """The parity of twelve signs: beyond trees of this size, plain to the likelihood ratio."""

    def sample(self, data, count, rng):
        values = rng.normal(size=(count, 12))
        odd = (values < 0).sum(axis=1) % 2 == 1
        wanted = rng.random(count) < 0.5 + 0.4 * self.sign(data)
        values[:, 0] = np.where(odd == wanted, values[:, 0], -values[:, 0])
        return values

    def log_likelihood_ratio(self, outputs):
        odd = (outputs < 0).sum(axis=1) % 2 == 1
        return np.where(odd, -1.0, 1.0) * np.log(9.0)


class EvenCounts(Planted):
    """One of 400 whole numbers, on one input more often an even one: no interval, no bin, but categories."""

    def sample(self, data, count, rng):
        values = rng.integers(0, 200, (count, 1)) * 2
        return values + (rng.random((count, 1)) < 0.5 + 0.4 * self.sign(data))


class OffGrid(Planted):
    """Multiples of 1/8, but for a few that are none, anywhere, on one input."""

    def sample(self, data, count, rng):
        values = rng.integers(0, 64, (count, 1)) / 8.0
        off = rng.random((count, 1)) < 0.003 * (self.sign(data) > 0)
        return np.where(off, values + rng.random((count, 1)) / 10, values)


LEAKS = [
    (MovedTail, "coordinates", 1.2, 60_000),
    (NarrowPeak, "intervals", 0.7, 80_000),
    (WiderEverywhere, "additive", 1.2, 40_000),
    (BehindCommonNoise, "logistic", 2.0, 20_000),
    (Agreement, "trees", 1.6, 20_000),
    (Parity, "likelihood_ratio", 1.0, 20_000),
    (EvenCounts, "categories", 1.5, 60_000),
    (OffGrid, "rare", 0.5, 60_000),
    (WiderBehindCommonNoise, "directions", 2.0, 40_000),
]
ALSO = {
    MovedTail: {"intervals"},
    OffGrid: {"intervals", "categories"},
    BehindCommonNoise: {"directions"},
    Agreement: {"directions"},
}
"""Families that see a leak as well: a far value is an interval, one off the grid a category too, equal signs are a
correlation.
"""


@pytest.mark.parametrize(("leak", "family", "claim", "draws"), LEAKS, ids=lambda x: getattr(x, "__name__", None))
def test_a_leak_is_caught_by_its_family_and_missed_by_the_others(leak, family, claim, draws):
    own = ("coordinates", family) if family != "coordinates" else ("coordinates",)
    assert audit(leak(), draws, families=own).verdict(claim) == "refuted"
    others = tuple(name for name in FAMILIES if name not in {family, "bits", *ALSO.get(leak, ())})
    assert audit(leak(), draws, families=others).epsilon_lower_bound < claim
    # the same sampler without the leak: silence of all families
    assert audit(leak(broken=False), draws).epsilon_lower_bound <= 0.0


def test_bits_are_caught_by_the_bits_only_and_not_by_the_ideal_verdict():
    found = audit(FloatLaplace(), 20_000)
    assert found.verdict(1.0) == "not refuted"
    assert found.verdict(1.0, implementation=True) == "refuted"
    without = audit(FloatLaplace(), 20_000, families=tuple(set(FAMILIES) - {"bits"}))
    assert without.verdict(1.0, implementation=True) == "not refuted"


@dataclass(frozen=True)
class Rounded(Laplace):
    """Laplace noise on a grid of 2^-30, whatever the value: the bits say nothing more."""

    def sample(self, data, count, rng):
        return np.rint(super().sample(data, count, rng) * 2.0**30) / 2.0**30


def test_the_implementation_of_noise_on_a_grid_is_not_refuted():
    found = audit(Rounded(), 40_000)
    assert found.verdict(1.0, implementation=True) == "not refuted"
    assert found.implementation.epsilon_lower_bound > 0.8


RIGHT = [
    (Laplace(), 1.0, 0.0),
    (ProductLaplace(), 1.0, 0.0),
    (Gaussian(), 1.0, 1e-3),
    (SparseVectorIndex(), 1.7406, 0.0),
]


@pytest.mark.parametrize(("subject", "truth", "delta"), RIGHT, ids=lambda x: type(x).__name__)
def test_no_family_refutes_the_exact_loss(subject, truth, delta):
    """At significance 1e-4, so that a false alarm in the gate is as good as a bug."""
    assert audit(subject, 40_000, delta=delta).epsilon_lower_bound <= truth


BROKEN = [(LeakyLaplace(leak=0.01), 1.0), (NoisyMaxValue(), 2.0), (SparseVectorNoQueryNoise(), 5.0)]


@pytest.mark.parametrize(("subject", "claim"), BROKEN, ids=lambda x: type(x).__name__)
def test_broken_mechanisms_of_the_catalogue_are_refuted(subject, claim):
    assert audit(subject, 60_000).verdict(claim) == "refuted"


def some_outputs(rng):
    values = rng.normal(size=(400, 3))
    values[:200, 0] = np.rint(values[:200, 0])
    values[::50, 1] = np.nan
    return values


def test_every_score_survives_json():
    rng = np.random.default_rng(0)
    left, right, fresh = (some_outputs(rng) for _ in range(3))
    names = set()
    for score in proposals(FAMILIES, left, right + 0.5, Parity(), (0.25, 1.0)):
        event = Event(score, 0.3, True, "left", Quantiser.of(left, right))
        again = event_of(stored_event(json.loads(json.dumps(event.to_json()))), Parity())
        assert again.to_json() == event.to_json()
        assert (again.occurs(fresh) == event.occurs(fresh)).all()
        names.add(score.name)
    expected = {
        "coordinate",
        "interval",
        "additive",
        "logistic",
        "trees",
        "likelihood_ratio",
        "category",
        "unseen",
    }
    assert names >= (expected - {"unseen"}) | {"not_finite", "bits", "equal_coordinates"}


@pytest.mark.parametrize("document", [{}, {"score": "horoscope"}, {"score": "coordinate", "quantised_to": None}])
def test_what_is_no_event_is_rejected(document):
    with pytest.raises(EventError, match="event: "):
        stored_event(document)


def test_tree_score_is_the_decision_function_of_scikit_learn():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(3_000, 4))
    y = (x[:, 0] * x[:, 1] > 0).astype(int)
    model = HistGradientBoostingClassifier(max_iter=7, max_leaf_nodes=6, random_state=0).fit(x, y)
    fresh = rng.normal(size=(500, 4))
    difference = TreeScore.of(model)(fresh) - model.decision_function(fresh)
    assert np.ptp(difference) < 1e-12


@pytest.mark.parametrize(
    ("value", "divisor", "zeros", "low"),
    [
        (1.0, 0, 52, 0),
        (0.75, -2, 51, 0),
        (-3 * 2.0**-40, -40, 51, 0),
        (1 + 2.0**-52, -52, 0, 1),
        (0.0, 2000, 2000, 0),
    ],
)
def test_bit_scores_read_the_bits(value, divisor, zeros, low):
    outputs = np.array([[value]])
    found = [float(BitScore(0, kind)(outputs)[0]) for kind in ("divisor", "trailing_zeros", "low_bits")]
    assert found == [divisor, zeros, low]
    assert BitScore(0, "divisor", 0.25)(np.array([[0.25 + 2.0**-20]]))[0] == -20
    assert BitScore(0, "negative_zero")(np.array([[0.0], [-0.0], [-1.0]])).tolist() == [0, 1, 0]


def test_quantised_outputs_hide_the_low_bits_and_keep_the_rest():
    rng = np.random.default_rng(3)
    outputs = rng.laplace(size=(1_000, 1))
    quantiser = Quantiser.of(outputs, outputs)
    step = float(quantiser.steps[0])
    assert 2.0**-18 <= step <= 2.0**-15
    # multiples of the step, within half a step
    assert (quantiser(outputs) % step == 0).all()
    assert np.abs(quantiser(outputs) - outputs).max() <= step / 2
    nudged = outputs * (1 + 2.0**-50)
    assert (quantiser(nudged) == quantiser(outputs)).mean() > 0.99


@dataclass(frozen=True)
class Constant:
    values: tuple[float, float] = (3.0, 3.0)
    extra: dict[str, int] = field(default_factory=dict)

    def inputs(self):
        return self.values

    def sample(self, data, count, rng):
        return np.full((count, 2), data)


@pytest.mark.parametrize("value", [0.0, 3.0, np.inf, np.nan])
def test_constant_outputs_are_audited_and_noted(value):
    found = audit(Constant((value, value)), 4_000, significance=0.05)
    assert found.epsilon_lower_bound == 0.0
    # every event is certain or impossible, and shows nothing
    assert (found.verdict(1.0), found.detectable_epsilon(1.0)) == ("undecided", None)
    assert any("equal" in note for note in found.notes)


def test_two_constants_are_told_apart():
    assert audit(Constant((3.0, 3.5)), 4_000, significance=0.05).verdict(1.0) == "refuted"
    assert audit(Constant((np.nan, 3.5)), 4_000, significance=0.05).verdict(1.0) == "refuted"


@pytest.mark.parametrize("scale", [1e-320, 1e-310, 1e-300, 1.0, 1e300])
def test_values_of_any_size_are_quantised_without_a_warning(scale: float) -> None:
    rng = np.random.default_rng(3)
    left, right = (rng.laplace(size=(500, 2)) * scale for _ in range(2))
    rounded = Quantiser.of(left, right)(left)
    # a step is at most 2^-16 of the spread; the smallest step changes nothing
    assert np.abs(rounded - left).max() <= 2.0**-16 * np.abs(left).max()
    assert np.array_equal(rounded, left) == (scale == 1e-320)


def test_output_too_far_to_count_its_steps_stays_as_it_is() -> None:
    quantiser = Quantiser(np.array([2.0**-1040, 2.0**-1040]))
    outputs = np.array([[1e300, -1e300], [2.0**-1041, 0.0], [np.inf, -np.inf]])
    assert np.array_equal(quantiser(outputs), [[1e300, -1e300], [0.0, 0.0], [np.inf, -np.inf]])


@pytest.mark.parametrize("scale", [1e300, 1e305, 5e307])
def test_outputs_too_large_to_be_added_up_have_a_grid_too(scale):
    """Without one the ideal verdict would be on every bit."""
    rng = np.random.default_rng(0)
    left, right = (np.clip(rng.laplace(size=(40_000, 1)), -3, 3) for _ in range(2))
    steps = Quantiser.of(left * scale, right * scale).steps
    relative = steps / scale / Quantiser.of(left, right).steps
    assert 0.5 < relative[0] <= 2.0


@pytest.mark.parametrize(("name", "residues"), [("parity", 2), ("residue_of_seven", 7)])
def test_residues_of_whole_numbers_are_seen_on_the_ideal_grid(name, residues):
    """Numbers of twenty bits: too many to be told one by one, and no coarser grid than 1 keeps their parity."""
    entry = CATALOGUE[name]()
    found = audit(entry, 20_000)
    assert 1.9 < found.epsilon_lower_bound < entry.true_epsilon
    assert found.event.to_json()["modulus"] % residues == 0
    assert event_of(found.event.stored).stored == found.event.stored
    # null control: the same number of outputs, spread alike
    rng = np.random.default_rng(1)
    left, right = rng.integers(2**20, size=(2, 20_000))
    shared = ResidueScore.learn(left, right, 0, 7)
    assert max(map(abs, shared.log_ratios)) < 0.2


class NumbersOnAGrid:
    """Noise in steps of a unit, a thousand times as wide as they are, added to 0 or to half a unit."""

    def __init__(self, unit: float, offset: float) -> None:
        self.unit, self.offset = unit, offset

    def inputs(self):
        return 0.0, self.offset * self.unit

    def sample(self, data, count, rng):
        steps = rng.geometric(1e-5, size=(2, count, 1)).astype(np.float64)
        return (steps[0] - steps[1]) * self.unit + data


@pytest.mark.parametrize("unit", [1.0, 0.1, 0.01])
def test_an_input_off_the_grid_of_the_noise_is_seen(unit):
    """All numbers are multiples of half a unit; a grid of 2^-16 of their spread would lose which half."""
    found = audit(NumbersOnAGrid(unit, 0.5), 20_000)
    assert found.epsilon_lower_bound > 6
    assert found.event.to_json()["unit"] in (unit / 2, unit / 10)
    assert event_of(found.event.stored).stored == found.event.stored
    # the null control: an input on the grid
    assert audit(NumbersOnAGrid(unit, 1.0), 20_000).epsilon_lower_bound < 0.1


def test_residues_stored_without_a_unit_are_of_whole_numbers():
    """As in certificates from before there were units."""
    document = {
        "score": "residue",
        "relation": ">=",
        "threshold": 0.0,
        "likely_input": "left",
        "quantised_to": [1.0],
    }
    event = event_of(stored_event(document | {"coordinate": 0, "modulus": 2, "log_ratios": [1.0, -1.0]}))
    assert event.occurs(np.array([[2.0], [3.0]])).tolist() == [True, False]


def test_families_without_an_event_for_the_outputs_are_said_to_have_none():
    with pytest.raises(SubjectError, match="none of the families named has an event"):
        audit(CATALOGUE["laplace"](), 1_000, families=("directions",))


@pytest.mark.parametrize("modulus", [6, 17, 251])
def test_other_moduli_are_proposed_where_they_tell_the_inputs_apart(modulus):
    rng = np.random.default_rng(modulus)
    left, right = rng.integers(2**20, size=(2, 20_000)) * modulus
    likely = rng.random(20_000) < 0.9
    left, right = left + np.where(likely, 2, 3), right + np.where(likely, 3, 2)
    found = telling_moduli(left, right, FURTHER_MODULI)
    assert found
    assert found[0] % modulus == 0
    # null control: one distribution, a hundred times
    noise = rng.geometric(1e-6, size=(100, 2, 20_000))
    assert not any(telling_moduli(*pair, FURTHER_MODULI) for pair in noise[: 100 if modulus == 17 else 1])


def test_residues_of_a_larger_modulus_are_certified():
    class Seventeen:
        def inputs(self):
            return 5, 11

        def sample(self, data, count, rng):
            leaves = np.where(rng.random(count) < 0.9, data, 16 - data)
            return (17 * rng.geometric(1e-6, size=count) + leaves)[:, np.newaxis].astype(np.float64)

    found = audit(Seventeen(), 40_000)
    assert 1.9 < found.epsilon_lower_bound < math.log(9)


def test_equal_neighbours_are_counted_and_not_only_seen():
    assert EqualityScore()(np.array([[2.0, 1.0, 2.0, 1.0], [1.0, 2.0, 3.0, 1.0]])).tolist() == [2.0, 1.0]


def test_trees_are_learned_by_one_thread(monkeypatch):
    """Several wait for each other on a busy machine, and a time limit is passed meanwhile."""
    threads, fit = [], HistGradientBoostingClassifier.fit

    def spy(self, *data):
        threads.append({one["num_threads"] for one in threadpool_info() if one["user_api"] == "openmp"})
        return fit(self, *data)

    monkeypatch.setattr(HistGradientBoostingClassifier, "fit", spy)
    rng = np.random.default_rng(0)
    with threadpool_limits(limits=2, user_api="openmp"):
        trees = TreeScore.learn(*rng.normal(size=(2, 100, 2)))
        # the control: others keep theirs
        threads.append({one["num_threads"] for one in threadpool_info() if one["user_api"] == "openmp"})
    assert threads == [{1}, {2}]
    assert trees.feature.shape[0] == TREES
