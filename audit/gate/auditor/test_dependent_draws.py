"""Draws that depend on each other, or on their call, are refused; independent ones are not."""

from __future__ import annotations

import re
import tracemalloc
from contextlib import nullcontext
from typing import ClassVar

import numpy as np
import pytest

from audit.auditor import probe
from audit.auditor.draws import LEARN, Draws
from audit.auditor.subject import SubjectError
from audit.bounds.overdispersion import log_p_value
from audit.gate.auditor.auditing import audit
from audit.subjects.catalogue import Laplace


class FixedSeed(Laplace):
    def sample(self, data, count, rng):
        return super().sample(data, count, np.random.default_rng(0))


class OneNoisePerCall(Laplace):
    """The second number is drawn once for all outputs of a call."""

    def sample(self, data, count, rng):
        shared = np.broadcast_to(data + rng.laplace(), (count, 1))
        return np.hstack([super().sample(data, count, rng), shared])


class OneBuffer(Laplace):
    buffer: ClassVar = np.zeros((20_000, 1))

    def sample(self, data, count, rng):
        self.buffer[:count] = super().sample(data, count, rng)
        return self.buffer[:count]


class BufferForEachInput(Laplace):
    """With one worker it does no harm; with two a chunk is overwritten while it is counted."""

    buffers: ClassVar = {data: np.zeros((20_000, 1)) for data in (0.0, 1.0)}

    def sample(self, data, count, rng):
        self.buffers[data][:count] = super().sample(data, count, rng)
        return self.buffers[data][:count]


class PartOfTheNoisePerCall(Laplace):
    """As where a subsample is drawn once, and noise for each output is added to it."""

    def sample(self, data, count, rng):
        return super().sample(data, count, rng) + 2.0 * rng.standard_normal()


class AddsInPlace(Laplace):
    def inputs(self):
        return np.zeros(1), np.ones(1)

    def sample(self, data, count, rng):
        data += 0.1
        return data + rng.laplace(size=(count, 1))


class RatioOfTheBatch(Laplace):
    def log_likelihood_ratio(self, outputs):
        return np.full(len(outputs), -outputs.mean())


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        (FixedSeed, "draws repeat"),
        (OneNoisePerCall, r"output\[1\] is the same in all draws"),
        (OneBuffer, "share their memory"),
        (BufferForEachInput, "share their memory"),
        (PartOfTheNoisePerCall, r"output\[0\] differs more between calls"),
        (AddsInPlace, "changed its input"),
        (RatioOfTheBatch, "other outputs"),
    ],
)
def test_draws_and_ratios_that_depend_on_each_other_are_refused(subject, message):
    """With any of them the counts are not binomial, and the bound would be wrong or blind."""
    with pytest.raises(SubjectError, match=message):
        audit(subject(1.0), 20_000)


def test_independent_draws_are_not_called_dependent_of_their_call():
    """Far inside the limit, at the worst of many: continuous, discrete, heavy-tailed and wide outputs."""
    laws = {
        "normal": lambda rng, shape: rng.standard_normal(shape),
        "coins": lambda rng, shape: rng.integers(0, 2, shape).astype(float),
        "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
        "not finite": lambda rng, shape: np.where(rng.random(shape) < 0.5, np.nan, np.inf),
    }
    for law in laws.values():
        for seed in range(50):
            rng = np.random.default_rng(seed)
            probe._check_calls([np.nan_to_num(law(rng, (probe.PROBE, 40))) for _ in range(probe.CALLS)])


def test_the_limit_on_differences_between_calls_is_one_that_chance_keeps():
    """The chance that is left to independent draws, by simulation at a limit that can be simulated."""
    rng, runs, rows = np.random.default_rng(0), 20_000, probe.PROBE - 1
    pairs = probe.CALLS // 2
    above = rng.binomial(rows, 0.5, (runs, 2 * pairs))
    found = ((above[:, ::2] - above[:, 1::2]) ** 2).sum(axis=1) / (rows / 2)
    for limit in (10.0, 14.0, 20.0):
        stated = np.exp(-(limit - pairs - pairs * np.log(limit / pairs)) / 2)
        assert (found >= limit).mean() <= stated


@pytest.mark.parametrize(("shift", "least", "most"), [(0.0, 0, 0), (1.0, 25, 60), (2.0, 45, 60)])
def test_shift_of_two_deviations_drawn_per_call_is_mostly_found(shift, least, most):
    """Of 60 subjects."""
    refused = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        calls = [rng.standard_normal((probe.PROBE, 1)) + shift * rng.standard_normal() for _ in range(probe.CALLS)]
        try:
            probe._check_calls(calls)
        except SubjectError:
            refused += 1
    assert least <= refused <= most


class UsedAgain(Laplace):
    """Noise that several outputs of a call share, next to each other or not."""

    times: ClassVar[int] = 1
    apart: ClassVar[bool] = False

    def sample(self, data, count, rng):
        noise = np.repeat(rng.laplace(size=(-(-count // self.times), 1)), self.times, axis=0)[:count]
        return data + (rng.permutation(noise) if self.apart else noise)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("times", [1, 2, 3, 5, 8])
def test_noise_that_is_used_again_is_noticed_each_time(times, apart, monkeypatch):
    monkeypatch.setattr(UsedAgain, "times", times)
    monkeypatch.setattr(UsedAgain, "apart", apart)
    refused = 0
    for seed in range(30):
        try:
            Draws.of(UsedAgain(1.0), (seed,))
        except SubjectError as problem:
            refused += "used again within a call" in str(problem)
    assert refused == (0 if times == 1 else 30)


@pytest.mark.parametrize("values", [2, 30, 300, 3_000])
def test_values_of_a_discrete_law_are_not_called_used_again(values):
    """Null control: independent whole numbers repeat in all calls alike."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        probe.check_reuse([rng.integers(values, size=(probe.PROBE, 1)) * 1.0 for _ in range(probe.CALLS)])


@pytest.mark.parametrize("share", [0.0, 0.001, 0.02, 0.3, 1.0])
def test_draws_that_agree_by_chance_are_not_refused(share):
    """A constant, or one value in nearly all outputs, may well come out the same twice."""

    class Seldom(Laplace):
        def sample(self, data, count, rng):
            return (rng.random((count, 1)) < share).astype(float)

    for seed in range(50):
        Draws.of(Seldom(1.0), (seed,))


# --- Calls taken whole ----------------------------------------------------------------------------------------

QUICKLY = {"families": ("coordinates",), "outputs_per_call": 8}


class UsedFourTimes(UsedAgain):
    times = 4


class HalfTheNoiseFourTimes(UsedFourTimes):
    def sample(self, data, count, rng):
        return data + (super().sample(data, count, rng) - data) / 2


@pytest.mark.parametrize(
    ("subject", "verdict"), [(UsedFourTimes, "not refuted"), (HalfTheNoiseFourTimes, "refuted")]
)
def test_outputs_may_depend_on_each_other_in_calls_taken_whole(subject, verdict):
    with pytest.raises(SubjectError, match="by outputs_per_call"):
        audit(subject(1.0), 80_000)
    found = audit(subject(1.0), 80_000, **QUICKLY)
    assert found.verdict(1.0) == verdict
    assert found.method == "cluster_betting"
    assert found.counts.calls.outputs_per_call == 8
    assert found.draws <= 80_000
    # eight outputs of two noises
    assert found.counts.effective.likely_draws == pytest.approx(found.counts.likely_draws / 4, rel=0.1)


def test_coins_that_a_call_shares_are_not_called_repeated():
    class OneCoin(Laplace):
        def sample(self, data, count, rng):
            return np.full((count, 1), float(rng.random() < 0.5))

    for seed in range(50):
        Draws.of(OneCoin(1.0), (seed,), outputs_per_call=8)


@pytest.mark.parametrize("subject", [FixedSeed, OneBuffer, AddsInPlace])
def test_calls_taken_whole_must_be_independent(subject):
    with pytest.raises(SubjectError):
        audit(subject(1.0), 20_000, **QUICKLY)


def test_calls_taken_whole_give_the_same_with_any_number_of_workers():
    first, second = (audit(UsedFourTimes(1.0), 80_000, workers=workers, **QUICKLY) for workers in (1, 2))
    assert first.counts == second.counts


def test_calls_taken_whole_keep_what_was_drawn_in_time():
    found = audit(UsedFourTimes(1.0), 80_000_000, max_seconds=1.0, **QUICKLY)
    assert found.stopped is not None
    assert found.draws < 80_000_000
    assert found.method == "cluster_betting"


def test_calls_taken_whole_are_let_go_but_for_their_first_outputs():
    """Those who learn and choose see one output of a call: the others take no memory once the call is over."""
    per_call, calls = 500, 10_000
    source = Draws.of(Laplace(1.0), (1, 2), outputs_per_call=per_call)
    tracemalloc.start()
    left, _ = source.phase(LEARN, calls)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert left.shape == (calls, 1)
    assert peak < 8 * per_call * calls / 4


NOT_FOR_CALLS = [{"method": "joint"}, {"with_curve": True}, {"outputs_per_call": 0}, {"outputs_per_call": 1.5}]


@pytest.mark.parametrize("other", NOT_FOR_CALLS)
def test_calls_have_a_bound_of_their_own(other):
    with pytest.raises(ValueError, match="outputs_per_call"):
        audit(UsedFourTimes(1.0), 80_000, **(QUICKLY | other))


def test_too_few_draws_name_the_calls():
    with pytest.raises(ValueError, match="800 draws in calls of 8 are too few"):
        audit(UsedFourTimes(1.0), 800, **QUICKLY)


# --- Noise of few values, long calls, noise that is kept -------------------------------------------------------


class GeometricUsedAgain(Laplace):
    """Noise of few values, which several outputs share: no repeated value tells."""

    times: ClassVar[int] = 1

    def noise(self, count, rng):
        return (rng.geometric(1 - np.exp(-1.0), count) - rng.geometric(1 - np.exp(-1.0), count)) * 1.0

    def sample(self, data, count, rng):
        return data + np.repeat(self.noise(-(-count // self.times), rng), self.times)[:count, None]


class CoinsUsedAgain(GeometricUsedAgain):
    def noise(self, count, rng):
        return (rng.random(count) < 0.25) * 1.0

    def sample(self, data, count, rng):
        return np.abs(super().sample(0.0, count, rng) - data)


@pytest.mark.parametrize("subject", [GeometricUsedAgain, CoinsUsedAgain])
@pytest.mark.parametrize("times", [1, 2, 4, 8])
def test_noise_of_few_values_that_is_used_again_is_noticed(subject, times, monkeypatch):
    monkeypatch.setattr(GeometricUsedAgain, "times", times)
    said = []
    for seed in range(2):
        try:
            audit(subject(1.0), 100_000, seed, families=("coordinates",))
        except SubjectError as problem:
            said.append(str(problem))
    assert len(said) == (0 if times == 1 else 2)
    assert all(re.search("share noise|differs more|draws repeat", one) for one in said)


def test_chance_of_so_much_variation_is_at_most_what_is_stated():
    """By simulation, at limits that can be simulated; the law plays no part."""
    rng, runs = np.random.default_rng(2), 300
    for probability in (0.3,):
        found = np.array(
            [
                log_p_value([np.bincount(rng.binomial(8, probability, 30), minlength=9) for _ in range(2)])
                for _ in range(runs)
            ]
        )
        for level in (0.5, 0.1):
            assert (found <= np.log(level)).mean() <= level


class TiledInLongCalls(Laplace):
    """A batch of noise that is made once a call, and repeated where more is asked for."""

    batch: ClassVar[int] = 64

    def sample(self, data, count, rng):
        return data + np.resize(rng.laplace(size=(min(self.batch, count), 1)), (count, 1))


@pytest.mark.parametrize(("batch", "refused"), [(64, True), (10**9, False)])
def test_noise_that_is_tiled_in_long_calls_is_noticed(batch, refused, monkeypatch):
    monkeypatch.setattr(TiledInLongCalls, "batch", batch)
    expected = pytest.raises(SubjectError, match="used again within a call") if refused else nullcontext()
    with expected:
        audit(TiledInLongCalls(1.0), 20_000, families=("coordinates",))


def test_noise_that_is_kept_is_named_in_a_note():
    class Kept(Laplace):
        def sample(self, data, count, rng):
            return np.full((count, 1), data + 3.0)

    assert any("sticky, memoised" in note for note in audit(Kept(1.0), 2_000).notes)
    assert not any("sticky" in note for note in audit(Laplace(1.0), 2_000).notes)


# --- Noise that successive calls share --------------------------------------------------------------------------


class SharedByCalls(Laplace):
    """Noise, or a part of it, that is made anew at every so many calls only."""

    calls: ClassVar[int] = 1
    kind: ClassVar[str] = "whole"

    def __init__(self, epsilon: float) -> None:
        super().__init__(epsilon)
        object.__setattr__(self, "kept", {"made": 0})

    def sample(self, data, count, rng):
        if self.kept["made"] % self.calls == 0 or count > len(self.kept["noise"]):
            size = max(count, 32)
            self.kept["noise"] = (
                rng.geometric(0.6, (size, 1)) * 1.0 if self.kind == "coins" else rng.laplace(size=(size, 1))
            )
            self.kept["offset"] = 2 * rng.standard_normal()
        self.kept["made"] += 1
        if self.kind == "offset":
            return super().sample(data, count, rng) + self.kept["offset"] * (self.calls > 1)
        noise = self.kept["noise"][:count]
        return data + (rng.permutation(noise) if self.kind == "apart" else noise)


@pytest.mark.parametrize("kind", ["whole", "apart", "offset", "coins"])
@pytest.mark.parametrize("calls", [1, 2, 3])
def test_noise_that_successive_calls_share_is_noticed(calls, kind, monkeypatch):
    monkeypatch.setattr(SharedByCalls, "calls", calls)
    monkeypatch.setattr(SharedByCalls, "kind", kind)
    refused = 0
    for seed in range(20):
        try:
            Draws.of(SharedByCalls(1.0), (seed,))
        except SubjectError as problem:
            refused += re.search("draws repeat|near each other|between calls", str(problem)) is not None
    # an offset of two deviations, drawn for eight times or five: mostly
    assert (refused >= 10 if kind == "offset" else refused == 20) if calls > 1 else refused == 0
