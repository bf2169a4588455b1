"""The bound of an audit: near the truth, valid, made of fresh draws; right mechanisms stand, broken ones fall."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from audit.auditor import distinguish, draws
from audit.auditor.choose import Prospect, best_event
from audit.auditor.distinguish import Terms, estimate
from audit.auditor.events import proposals
from audit.auditor.first import COPIES, SECOND_CALL
from audit.auditor.probe import CALLS, PROBE
from audit.auditor.subject import Subject
from audit.bounds import Counts, epsilon_lower_bound
from audit.gate.needs import exhaustively
from audit.subjects.catalogue import HalfNoiseLaplace, Laplace
from audit.subjects.real_neighbours import Extended, distance, extreme_pair
from audit.subjects.releases import CoefficientRelease
from reference import datasets
from reference.budgets import SplitBudget
from reference.mechanisms import FAIR
from reference.noise import Noise
from reference.noise.profile import epsilon_of_shift
from reference.objective import layout
from reference.registry import MECHANISMS


def audit(subject: Subject, draws: int, seed: int, delta: float = 0.0):
    return estimate(subject, Terms(delta=delta, draws=draws, significance=0.05), np.random.default_rng(seed))


def test_bound_is_near_the_true_loss_of_the_laplace_mechanism():
    bounds = [audit(Laplace(1.0), 200_000, seed).epsilon_lower_bound for seed in range(3)]
    assert 0.95 < np.median(bounds) <= 1.0


def test_bound_exceeds_the_truth_no_more_often_than_the_significance():
    """30 audits: more than 6 errors would have probability below 1e-3 if each errs with 5 %."""
    errors = sum(audit(Laplace(1.0), 2_000, seed).epsilon_lower_bound > 1.0 for seed in range(30))
    assert binom.sf(6, 30, 0.05) < 1e-3
    assert errors <= 6


def certified_on(same_draws: bool, seed: int) -> float:
    """Return the bound of an audit that learns, chooses and certifies on the same draws, or on fresh ones."""
    random, subject = np.random.default_rng(seed), Laplace(1.0)

    def sample():
        return [subject.sample(value, 300, random) for value in subject.inputs()]

    left, right = sample()
    scores = list(proposals(("coordinates", "intervals", "additive"), left, right, subject, subject.inputs()))
    if not same_draws:
        left, right = sample()
    chosen = best_event(scores, left, right, Prospect(300, 0.0, 0.05), None)
    assert chosen is not None
    event = chosen.event
    if not same_draws:
        left, right = sample()
    likely, unlikely = (left, right) if event.likely_input == "left" else (right, left)
    counts = Counts(int(event.occurs(likely).sum()), 300, int(event.occurs(unlikely).sum()), 300)
    return epsilon_lower_bound(counts, 0.0, 0.05)


def test_certifying_on_used_draws_errs_and_on_fresh_draws_does_not():
    """Of 30 audits, 5 % errors exceed 6 with probability below 1e-3; the reuse of draws must be far above."""
    assert binom.sf(6, 30, 0.05) < 1e-3
    assert sum(certified_on(False, seed) > 1.0 for seed in range(30)) <= 6
    assert sum(certified_on(True, seed) > 1.0 for seed in range(30)) > 9


def test_certifying_draws_are_made_after_the_events_are_chosen(monkeypatch):
    order = []

    class Spy(Laplace):
        def sample(self, data, count, rng):
            order.append(count)
            return super().sample(data, count, rng)

    def select(*arguments, **choices):
        found = original(*arguments, **choices)
        order.append("chosen")
        return found

    original = distinguish.select
    monkeypatch.setattr(distinguish, "select", select)
    audit(Spy(1.0), 10_000, 0)
    # the first ones tell the shape of the outputs, and whether they repeat
    before = [*[draws.OPENING] * 2, *[PROBE] * (2 * CALLS + 2), 500, 500, 1_000, 1_000]
    assert order == [*before, *[1, SECOND_CALL] * (2 * COPIES[0]), "chosen", 3_500, 3_500]


def test_phases_chunks_and_inputs_have_streams_of_their_own():
    """No certifying draw repeats a selection draw: all first draws differ."""
    source = draws.Draws.of(Laplace(1.0), (7,))
    firsts = [source.generator(*place).random() for place in product((1, 2, 3), range(50), (0, 1))]
    assert len(set(firsts)) == len(firsts)


def test_certifying_in_chunks_counts_every_draw(monkeypatch):
    whole = audit(Laplace(1.0), 20_000, 4)
    monkeypatch.setattr(draws, "CHUNK_VALUES", 500)
    chunked = audit(Laplace(1.0), 20_000, 4)
    assert whole.counts.likely_draws == chunked.counts.likely_draws == 7_000
    assert chunked.counts.likely > 1_000
    assert abs(chunked.epsilon_lower_bound - whole.epsilon_lower_bound) < 0.2


def test_result_does_not_depend_on_the_number_of_workers(monkeypatch):
    monkeypatch.setattr(draws, "CHUNK_VALUES", 1_000)
    results = []
    for workers in (1, 2, 3):
        rng = np.random.default_rng(9)
        found = estimate(Laplace(1.0), Terms(delta=0, draws=60_000, significance=0.05), rng, workers=workers)
        results.append((found.counts, found.event.to_json(), found.implementation.counts))
    assert results[0] == results[1] == results[2]


@dataclass(frozen=True)
class TwoOutcomes:
    """1 with probability `left` or `right`, else 0: loss known exactly, and in one direction only."""

    left: float
    right: float
    one: float = 1.0

    def inputs(self):
        return self.left, self.right

    def sample(self, data, count, rng):
        return np.where(rng.random((count, 1)) < data, self.one, 0.0)


@pytest.mark.parametrize(("left", "right"), [(0.5, 0.05), (0.05, 0.5), (0.5, 0.95), (0.95, 0.5)])
def test_either_input_and_either_side_can_be_the_likely_one(left, right):
    truth = max(np.log(left / right), np.log(right / left), np.log((1 - left) / (1 - right)), -np.inf)
    truth = max(truth, np.log((1 - right) / (1 - left)))
    found = audit(TwoOutcomes(left, right), 100_000, 1).epsilon_lower_bound
    assert 0.9 * truth < found <= truth


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_outcomes_that_are_no_numbers_are_events(value):
    leak = TwoOutcomes(0.5, 0.01, one=value)
    assert audit(leak, 20_000, 1).epsilon_lower_bound > 3
    assert audit(TwoOutcomes(1.0, 0.0, one=value), 20_000, 1).epsilon_lower_bound > 5
    assert audit(TwoOutcomes(0.3, 0.3, one=value), 20_000, 1).verdict(1.0) == "not refuted"


@dataclass(frozen=True)
class RareLeak(Laplace):
    """Laplace noise that with a small probability publishes its input, far away: infinite loss."""

    probability: float = 0.004

    def sample(self, data, count, rng):
        honest = super().sample(data, count, rng)
        return np.where(rng.random((count, 1)) < self.probability, 100.0 + data, honest)


@pytest.mark.parametrize("probability", [0.001, 0.004])
def test_a_rare_leak_is_refuted(probability):
    leak = RareLeak(1.0, probability)
    assert audit(leak, 1_000_000, 2).verdict(1.0) == "refuted"
    assert audit(RareLeak(1.0, 0.0), 1_000_000, 2).verdict(1.02) == "not refuted"


def pair_subject(name: str, fairness: str = "absolute", adjacency: str = "replace_one", dimension: int = 3):
    """Return one of our mechanisms with its pair, and the exact epsilon of that very pair at its delta."""
    size = {"records": 50, "dimension": dimension}
    records = datasets.load("synthetic", datasets.Encoding(norm="unit_box"), **size)
    spec = MECHANISMS[name]
    readings = spec.readings.with_(fairness=fairness, adjacency=adjacency, sensitivity=4)
    budget = SplitBudget(8, 2, "1e-2", "1e-2") if spec.needs_delta else SplitBudget(8, 2)
    noise = spec.noise(records.domain, budget, readings, 0)
    pair = extreme_pair(records, "synthetic", readings, noise)
    subject = CoefficientRelease(spec, budget, readings, 0, pair)
    far = Fraction(distance(pair, noise))
    truth = epsilon_of_shift(far**2, budget.delta).upper if spec.needs_delta else far
    return subject, float(truth), float(budget.delta)


@pytest.mark.parametrize("name", ["pdfc", "adfc"])
@pytest.mark.parametrize("adjacency", ["replace_one", *exhaustively("add_or_remove_one")])
def test_mechanism_is_bounded_by_its_exact_loss_and_refuted_below(name, adjacency):
    subject, truth, delta = pair_subject(name, adjacency=adjacency)
    found = audit(subject, 200_000, 5, delta)
    # claims a little above the truth stand; claims well below it fall
    assert found.verdict(1.02 * truth) == "not refuted"
    assert found.verdict(0.6 * truth) == "refuted"


def test_a_delta_that_is_left_out_would_be_noticed():
    """The same draws at delta 0 give a bound above the exact epsilon at the claimed delta: delta matters."""
    subject, truth, delta = pair_subject("adfc")
    with_delta, without = (audit(subject, 200_000, 5, value).epsilon_lower_bound for value in (delta, 0.0))
    assert with_delta <= truth < without


@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
def test_pairs_are_neighbours_with_zbar_recomputed_on_each_side(adjacency):
    subject, _, _ = pair_subject("pdfc", adjacency=adjacency)
    sides = subject.neighbours.left, subject.neighbours.right
    assert tuple(map(len, sides)) == ((50, 50) if adjacency == "replace_one" else (51, 50))
    for side in sides:
        assert isinstance(side, Extended)
        own = 0 if side.record is None else int(side.record.z[0])
        assert side.moments.zbar == (side.base.sum_z + own) / side.moments.n


def test_the_pair_is_the_farthest_in_units_of_the_noise():
    """With a noisy group of coefficients, the pair moves the other group."""
    records = datasets.load("synthetic", datasets.Encoding(norm="unit_box"), records=50, dimension=3)
    quiet, loud = 1.0, 1e9
    far = []
    for scale_s, scale_n in ((quiet, loud), (loud, quiet)):
        noise = Noise("laplace", scale_s, scale_n, layout(records.domain, FAIR).contains(0))
        pair = extreme_pair(records, "synthetic", FAIR, noise)
        far.append(distance(pair, noise))
        assert distance(pair, noise) == pytest.approx(float(pair.loss(noise)), rel=1e-12)
        for one in (pair.left.record, pair.right.record):
            assert set(one.x.ravel().tolist()) <= {0.0, 1.0}
    assert far[0] != far[1]
    assert min(far) > 1


@pytest.mark.parametrize("encoding", ["ordinal", "one_hot"])
def test_witnesses_are_encodings_of_rows_that_the_domain_admits(encoding):
    choices = datasets.Encoding(encoding=encoding, intercept=True, keep_group=True)
    records = datasets.load("affairs", choices)
    noise = MECHANISMS["pdfc"].noise(records.domain, SplitBudget(1, 1), FAIR, 1)
    pair = extreme_pair(records, "affairs", FAIR, noise)
    factor = records.domain.column_factor
    for one in (pair.left.record, pair.right.record):
        x = dict(zip(records.domain.columns, one.x[0].tolist(), strict=True))
        assert x["(intercept)"] == factor
        assert x[records.domain.group] == factor * one.z[0]
        if encoding == "one_hot":
            assert sum(value > 0 for name, value in x.items() if name.startswith("age=")) == 1


def test_half_the_noise_is_refuted_and_the_right_noise_is_not():
    for seed in range(2):
        assert audit(HalfNoiseLaplace(1.0), 50_000, seed).verdict(1.0) == "refuted"
        assert audit(Laplace(1.0), 50_000, seed).verdict(1.0) == "not refuted"
