"""What a grid of equal steps or a table of common values cannot see."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import binom

from audit.auditor.distinguish import Terms, estimate
from audit.auditor.events import Event, Quantiser, event_of, values
from audit.auditor.events.quantiser import QUANTISED_BITS
from audit.auditor.events.scores import CoordinateScore
from audit.auditor.events.values import (
    OneSidedRowsScore,
    OneSidedScore,
    largest_share_alone,
    share_beyond_a_tail,
)
from audit.auditor.notes import RARE_CODES
from audit.bounds import Counts, epsilon_lower_bound
from audit.evidence.fresh import too_fine
from audit.evidence.words import event_in_words
from audit.gate.auditor.auditing import audit
from audit.gate.needs import exhaustively
from audit.subjects.catalogue import CATALOGUE, HalfNoiseLaplace, Laplace
from reference.common.arrays import FloatArray

# --- Heavy tails ----------------------------------------------------------------------------------------------


def test_exponent_of_cauchy_shows_most_of_its_loss():
    """Steps of a mean distance that is astronomic would hide all: the bound was 0, and the verdict a success."""
    found = audit(CATALOGUE["exponent_of_cauchy"](), 40_000)
    assert 0.8 * 3.0 <= found.epsilon_lower_bound <= 3.0
    assert found.event.quantiser is not None
    assert found.event.quantiser.steps[0] < 0
    assert event_of(found.event.stored).stored == found.event.stored


class RightTail(Laplace):
    """The exponential of a number with Cauchy noise for epsilon 1."""

    law: ClassVar[str] = "exponent"

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        noise = rng.standard_cauchy(size=(count, 1)) + data * 2 * math.sinh(0.5)
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(noise) if self.law == "exponent" else noise)


@pytest.mark.parametrize("law", ["exponent", "plain"])
def test_right_noise_of_heavy_tails_is_not_refuted(law, monkeypatch):
    """Null control."""
    monkeypatch.setattr(RightTail, "law", law)
    found = audit(RightTail(1.0), 40_000)
    assert found.verdict(1.0) == "not refuted"
    assert found.epsilon_lower_bound > 0.5


class FarValues(HalfNoiseLaplace):
    """Twice the loss that is claimed, or just what is claimed, and one value in a thousand is far away."""

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        return super().sample(data, count, rng) + 1e12 * (rng.random((count, 1)) < 1e-3)


class RightFarValues(FarValues):
    @property
    def true_epsilon(self) -> float:
        return self.epsilon


@pytest.mark.parametrize(("kind", "verdict"), [(FarValues, "refuted"), (RightFarValues, "not refuted")])
def test_far_values_do_not_blind_the_ideal_verdict(kind, verdict):
    found = audit(kind(1.0), 40_000)
    assert found.verdict(1.0) == verdict
    assert found.epsilon_lower_bound > 0.8 * kind(1.0).true_epsilon


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_steps_that_grow_keep_a_share_of_each_value(scale):
    rng = np.random.default_rng(4)
    left, right = (np.exp(20 * rng.standard_cauchy(size=(4_000, 1)).clip(-5, 5)) * scale for _ in range(2))
    quantiser = Quantiser.of(left, right)
    assert quantiser.steps[0] < 0
    rounded = quantiser(np.concatenate([left, -left, np.array([[0.0], [np.inf], [-np.inf]])]))
    assert (rounded[4_000:8_000] == -rounded[:4_000]).all()
    assert rounded[-3:, 0].tolist() == [0.0, np.inf, -np.inf]
    large = left > -quantiser.steps[0] * 2.0**QUANTISED_BITS
    assert large.mean() > 0.88
    assert np.abs(rounded[:4_000][large] / left[large] - 1).max() <= 2.0 ** -(QUANTISED_BITS + 1)
    # whatever is smaller than the smallest step of most is rounded to multiples of it
    assert (np.fmod(rounded[:4_000], -quantiser.steps[0]) == 0).all()
    # and what was rounded stays
    assert (quantiser(rounded[:4_000]) == rounded[:4_000]).all()


def test_grid_whose_smallest_step_is_forged_is_too_fine():
    entry = CATALOGUE["exponent_of_cauchy"]()
    found = audit(entry, 20_000)
    rng = np.random.default_rng(5)
    left, right = (entry.sample(data, 20_000, rng) for data in entry.inputs())
    certified = found.counts.likely_draws
    assert too_fine(found.event, left, right, certified, found.draws - 2 * certified) == ()
    quantiser = found.event.quantiser
    assert quantiser is not None
    event = event_of(found.event.stored)
    object.__setattr__(event, "quantiser", Quantiser(quantiser.steps * 2.0**-60))
    assert too_fine(event, left, right, certified, found.draws - 2 * certified) == (0,)


@pytest.mark.parametrize("law", ["standard_cauchy", "laplace"])
@pytest.mark.parametrize("size", [500, 20_000, 1_000_000])
def test_a_smallest_step_of_few_small_outputs_is_too_fine(law, size):
    """It would show the bits of single precision: near 0 the input 1 gives multiples of 2^-24 only."""
    rng = np.random.default_rng(size)

    def drawn(rows: int) -> tuple[FloatArray, FloatArray]:
        far = [np.where(rng.random((rows, 1)) < 0.05, 1e30, 0.0) for _ in range(2)]
        left, right = (getattr(rng, law)(size=(rows, 1)) + data + some for data, some in enumerate(far))
        return left, right

    event = Event(CoordinateScore(0), 0.0, True, "left", Quantiser(np.zeros(1)))
    fresh = drawn(100_000)
    for _ in range(20):
        rows = min(size, 100_000) // 10
        own = Quantiser.of(*drawn(rows))
        assert own.steps[0] < 0 or size == 500
        assert too_fine(replace(event, quantiser=own), *fresh, 7 * rows, 6 * rows) == ()
        if size > 500:
            for finer in (-(2.0**-22), -(2.0**-26)):
                forged = replace(event, quantiser=Quantiser(np.array([finer])))
                assert too_fine(forged, *fresh, 7 * rows, 6 * rows) == (0,)


class PairsOfCodes:
    """Two codes beside continuous noise: one pair in twenty is never seen on the left."""

    def __init__(self, *, broken: bool) -> None:
        self.broken = broken

    def inputs(self):
        return 0, 1

    def sample(self, data, count, rng):
        one, other = rng.integers(20, size=(2, count))
        if self.broken and data == 0:
            other = np.where(other == (7 * one + 3) % 20, rng.integers(20, size=count), other)
        return np.column_stack([one, other, rng.laplace(size=count)])


def test_codes_that_repeat_together_are_told_from_continuous_coordinates():
    terms = Terms(draws=100_000, families=("coordinates", "additive", "categories"))
    found = estimate(PairsOfCodes(broken=True), terms, np.random.default_rng(1))
    assert found.verdict(1.0) == "refuted"
    assert found.event.score.coordinates == (0, 1)
    # null control
    found = estimate(PairsOfCodes(broken=False), terms, np.random.default_rng(1))
    assert found.epsilon_lower_bound < 0.2
    assert found.verdict(1.0) == "not refuted"


# --- Sets that one input has alone ----------------------------------------------------------------------------

SOME = ("categories", "coordinates")


def test_values_that_one_input_has_alone_are_seen_together():
    """Each occurs four times in a million; nobody could do better than all of them against none."""
    terms = Terms(draws=2_000_000, families=SOME)
    found = estimate(CATALOGUE["rare_codes"](), terms, np.random.default_rng(1))
    assert isinstance(found.event.score, OneSidedScore)
    assert event_of(found.event.stored).stored == found.event.stored
    draws = found.counts.likely_draws
    best = epsilon_lower_bound(Counts(round(0.02 * draws), draws, 0, draws), 0.0, 0.05, "conditional")
    assert 0.8 * best <= found.epsilon_lower_bound <= best


def test_combinations_that_one_input_has_alone_are_seen_together():
    """Each number by itself has one law on both inputs."""
    terms = Terms(draws=1_000_000, families=SOME)
    found = estimate(CATALOGUE["rare_pairs"](), terms, np.random.default_rng(1))
    assert isinstance(found.event.score, OneSidedRowsScore)
    assert event_of(found.event.stored).stored == found.event.stored
    assert "one input alone had" in event_in_words(found.event)
    draws = found.counts.likely_draws
    best = epsilon_lower_bound(Counts(round(0.02 * draws), draws, 0, draws), 0.0, 0.05, "conditional")
    assert 0.7 * best <= found.epsilon_lower_bound <= best


def test_combinations_too_rare_to_be_learned_are_noted():
    few = audit(CATALOGUE["rare_pairs"](), 40_000, families=SOME)
    assert any("combinations of coordinates that were too rare" in note for note in few.notes)
    # null controls: coordinates that hardly repeat, and ones of which all combinations were seen
    for name in ("laplace_product", "rappor"):
        assert not any("combinations" in note for note in audit(CATALOGUE[name](), 20_000, families=SOME).notes)


class SharedCodes(Laplace):
    """The same codes on both inputs: nothing is lost."""

    name: ClassVar[str] = "rare_codes"

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        return CATALOGUE[self.name]().sample(0.0, count, rng)


@pytest.mark.parametrize("name", ["rare_codes", "rare_pairs"])
def test_values_that_one_input_had_by_chance_certify_nothing(name, monkeypatch):
    """Null control: some values are seen on one input only, learned on one part of the draws."""
    monkeypatch.setattr(SharedCodes, "name", name)
    found = estimate(SharedCodes(), Terms(draws=200_000, families=SOME), np.random.default_rng(1))
    assert found.epsilon_lower_bound < 0.1


def test_values_too_rare_to_be_learned_leave_the_verdict_open():
    """At 40,000 draws each of the 5,000 values of one input is hardly seen once, and the bound is 0."""
    few = audit(CATALOGUE["rare_codes"](), 40_000, families=SOME)
    assert few.epsilon_lower_bound < 0.5
    assert 0.02 < few.unseen < 0.06
    assert few.verdict(1.0) == "undecided"


@pytest.mark.parametrize("name", ["geometric", "rappor", "parity", "laplace", "noisy_max_index_laplace"])
def test_other_values_hide_nothing(name):
    """Null control: tails of counts, filters, many whole numbers, and numbers that do not repeat."""
    found = audit(CATALOGUE[name](), 20_000, families=SOME)
    assert not found.hides(0.1)


class Rounded(Laplace):
    """Laplace noise to three digits: some values far out are too rare to be learned, on both inputs alike."""

    own: ClassVar[bool] = False

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        values = np.round(super().sample(data, count, rng), 3)
        # the broken control: beyond 4, the fourth digit tells the input
        far = (np.abs(values) > 4.0) & self.own
        return values + np.where(far, 2.0**-12 + data * 2.0**-13, 0.0)


@pytest.mark.parametrize("own", [False, True])
def test_rare_values_that_both_inputs_share_leave_the_audit_decided(own, monkeypatch):
    monkeypatch.setattr(Rounded, "own", own)
    found = audit(Rounded(), 1_000_000, families=SOME)
    said = any("have values of one input alone (two standard errors up)" in note for note in found.notes)
    assert (said, found.unseen > 0.0) == (not own, own)
    assert own or found.verdict(1.0) == "not refuted"


class HiddenCodes(Rounded):
    """Laplace noise to three digits, and in one output of 25 a secret code that never comes twice."""

    codes: ClassVar[float] = 0.04

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        usual = super().sample(data, count, rng)
        # an odd or an even one
        codes = 2.0**30 + 2 * rng.integers(2**28, size=(count, 1)) + int(bool(data))
        return np.where(rng.random((count, 1)) < self.codes, codes, usual)


def test_codes_of_either_input_that_never_repeat_are_not_passed_over():
    """Both inputs have as many, beside tails that they share; only the parity of a code tells them apart."""
    found = audit(HiddenCodes(), 1_000_000, families=("coordinates", "intervals"))
    assert found.unseen > 0.02
    assert found.verdict(1.0) == "undecided"


class CodesBesideNoise(Laplace):
    """A code of 20,000, each of one input alone, in some outputs of ten; wide noise in the others."""

    codes: ClassVar[float] = 0.3
    own: ClassVar[bool] = True
    single: ClassVar[bool] = False

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        places = rng.integers(10_000, size=(count, 1)) + 10_000 * (self.own and data > 0)
        codes = places * 104_729 % 10_000_019 / 7
        outputs = np.where(rng.random((count, 1)) < self.codes, codes, 1e6 * rng.normal(size=(count, 1)))
        return outputs.astype(np.float32).astype(np.float64) if self.single else outputs


@pytest.mark.parametrize("own", [False, True])
def test_codes_in_a_third_of_the_outputs_tell_inputs_apart(own, monkeypatch):
    """The bound was 0, and the verdict a success: rounding lets noise repeat about as often as the codes."""
    monkeypatch.setattr(CodesBesideNoise, "own", own)
    found = audit(CodesBesideNoise(), 100_000, families=SOME)
    assert (found.verdict(1.0), isinstance(found.event.score, OneSidedScore)) == (
        ("refuted", True) if own else ("not refuted", False)
    )
    assert own or found.epsilon_lower_bound < 0.1


@pytest.mark.parametrize(("codes", "single"), [(0.0, False), (0.0, True), (0.1, False)])
def test_codes_beside_noise_that_are_too_rare_to_be_learned_are_noted(codes, single, monkeypatch):
    """Null controls: noise alone, of double and of single precision."""
    monkeypatch.setattr(CodesBesideNoise, "codes", codes)
    monkeypatch.setattr(CodesBesideNoise, "single", single)
    found = audit(CodesBesideNoise(), 100_000, families=SOME)
    assert found.verdict(1.0) == "not refuted"
    assert any(note.startswith(f"{RARE_CODES}, which numbers in output[0]") for note in found.notes) is (codes > 0)


class OfFewBits(Laplace):
    """Laplace noise from a uniform number of a few bits, as single precision has: no value has both inputs."""

    bits: ClassVar[int] = 24

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        uniform = (rng.integers(2**self.bits, size=(count, 1)) + 0.5) / 2**self.bits - 0.5
        return np.asarray(data - np.copysign(np.log1p(-2 * np.abs(uniform)), uniform))


@pytest.mark.parametrize("bits", [24, 52])
def test_noise_from_a_number_of_few_bits_is_noted(bits, monkeypatch):
    monkeypatch.setattr(OfFewBits, "bits", bits)
    found = audit(OfFewBits(), 400_000, families=SOME)
    assert found.verdict(1.0) == "not refuted"
    named = any(note.startswith(f"{RARE_CODES}, which numbers in output[0]") for note in found.notes)
    assert named is (bits == 24)


def made(alone: float, rows: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return rare values on two inputs: each occurs once or twice, and this share has one input alone."""
    kinds = rows
    own = int(alone * kinds)
    sides = []
    for side in (0, 1):
        values = rng.integers(kinds, size=rows).astype(np.float64)
        # a value that one input has alone keeps its place in the count of the other one
        values[values < own] += (side + 1) * 2.0 * kinds
        sides.append(values)
    return sides[0], sides[1]


@pytest.mark.parametrize("alone", [0.0, 0.02, 0.1, 0.5])
def test_limit_of_values_of_one_input_alone_holds(alone, monkeypatch):
    """Above the true share in all but a few samples; without its standard errors (broken control) it is not."""

    def missed() -> int:
        rng = np.random.default_rng(int(1000 * alone))
        return sum(largest_share_alone(*made(alone, 4_000, rng)) < alone for _ in range(200))

    allowed = 0.023
    assert binom.sf(missed() - 1, 200, allowed) > 1e-3
    monkeypatch.setattr(values, "ERRORS", 0.0)
    assert alone == 0.0 or binom.sf(missed() - 1, 200, allowed) < 1e-6


def test_tails_have_at_most_twice_as_many_values_once_as_twice():
    """Null control: Laplace and Gaussian tails; broken control: codes that never repeat."""
    rng = np.random.default_rng(1)
    for draw in (rng.laplace, rng.normal):
        tail = np.round(draw(size=200_000), 3)
        assert share_beyond_a_tail(tail) < 0.003
        assert share_beyond_a_tail(np.concatenate([tail, 1e6 + np.arange(8_000)])) > 0.03


# --- Numbers that are not finite ------------------------------------------------------------------------------


class BesideNothing(Laplace):
    """Laplace noise beside a coordinate that never is a number."""

    name: ClassVar[str] = "nan"
    share: ClassVar[float] = 1.0

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        nothing = np.full((count, 1), np.nan if self.name == "nan" else np.inf)
        return np.hstack([data + (super().sample(data, count, rng) - data) * self.share, nothing])


@pytest.mark.parametrize("name", ["nan", "inf"])
def test_coordinate_that_never_is_a_number_hides_no_other(name, monkeypatch):
    monkeypatch.setattr(BesideNothing, "name", name)
    right = audit(BesideNothing(), 20_000)
    assert 0.8 < right.epsilon_lower_bound < 1.0
    assert right.verdict(1.0) == "not refuted"
    monkeypatch.setattr(BesideNothing, "share", 0.5)
    assert audit(BesideNothing(), 20_000).verdict(1.0) == "refuted"


class WhichIsNotANumber(Laplace):
    """One of two coordinates is NaN and the other 0, on both inputs: the secret is which."""

    share: ClassVar[float] = 1.0

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        outputs = np.zeros((count, 2))
        told = rng.random(count) < self.share
        place = np.where(told, int(bool(data)), rng.integers(2, size=count))
        outputs[np.arange(count), place] = np.nan
        return outputs


def test_which_coordinate_is_not_a_number_is_seen(monkeypatch):
    assert audit(WhichIsNotANumber(), 20_000).verdict(1.0) == "refuted"
    # null control: either coordinate, by chance alone
    monkeypatch.setattr(WhichIsNotANumber, "share", 0.0)
    found = audit(WhichIsNotANumber(), 20_000)
    assert found.epsilon_lower_bound < 0.1
    assert any("all outputs have a coordinate that is not finite" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["beside NaN", "seldom another number", "plain"])
def test_a_grid_is_checked_for_each_coordinate(kind):
    """A forged grid shows the bits of floats: where another number is never finite, too, or most are 0."""
    rng = np.random.default_rng(0)
    left, right = rng.laplace(size=(2, 200_000, 1))
    if kind == "seldom another number":
        left, right = (np.where(rng.random(side.shape) < 0.005, side, 0.0) for side in (left, right))
    if kind == "beside NaN":
        left, right = (np.column_stack([side, np.full(len(side), np.nan)]) for side in (left, right))

    def found(grid: Quantiser) -> tuple[int, ...]:
        return too_fine(Event(CoordinateScore(0), 0.0, True, "left", grid), left, right, 100_000, 100_000)

    own = Quantiser.of(left[:20_000], right[:20_000])
    assert found(own) == ()
    for step in (2.0**-60, 2.0**-52):
        assert found(Quantiser(np.where(np.arange(left.shape[1]) == 0, step, 0.0))) == (0,)
    # left as it is, every bit counts
    assert found(Quantiser(np.zeros(left.shape[1]))) == (0,)


class OneNoiseForTwo(Laplace):
    """Noise on three coordinates; two of them share it now and then, on the right three times as often."""

    shares: ClassVar[tuple[float, float]] = (0.1, 0.3)

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        noise = rng.laplace(size=(count, 3))
        shared = rng.random(count) < self.shares[bool(data)]
        noise[shared, 2] = noise[shared, 0]
        return noise


def test_coordinates_that_are_equal_on_one_input_more_often_show_it(monkeypatch):
    found = audit(OneNoiseForTwo(), 40_000)
    assert found.event.score.name == "equal_coordinates"
    assert 0.9 * math.log(3) <= found.epsilon_lower_bound <= math.log(3)
    # the null control: as often on both
    monkeypatch.setattr(OneNoiseForTwo, "shares", (0.3, 0.3))
    assert audit(OneNoiseForTwo(), 40_000).epsilon_lower_bound < 0.1


class RatioOfNothing(Laplace):
    """NaN on the left more often: the subject's own ratio knows how much."""

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        return np.where(rng.random((count, 1)) < (0.1 if data else 0.8), np.nan, 0.0)

    def log_likelihood_ratio(self, outputs: FloatArray) -> FloatArray:
        return np.where(np.isnan(outputs[:, 0]), math.log(8), math.log(0.2 / 0.9))


def test_likelihood_ratio_of_a_subject_meets_outputs_as_they_are():
    found = audit(RatioOfNothing(), 20_000, families=("likelihood_ratio",))
    assert found.verdict(1.0) == "refuted"


# --- The bounds of these events hold --------------------------------------------------------------------------


class CodesOfKnownLoss(Laplace):
    """One of many codes: of even place on the left, of odd place e times as likely on the right."""

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        odd = rng.random((count, 1)) < (math.e / (1 + math.e) if data else 1 / (1 + math.e))
        rare = rng.integers(3_000, size=(count, 1)) * 2 + odd
        usual = rng.integers(20, size=(count, 1)) * 2 + odd
        return np.asarray(np.where(rng.random((count, 1)) < 0.1, rare + 40, usual), dtype=np.float64)


class PairsOfKnownLoss(CodesOfKnownLoss):
    """The same codes, written as pairs of digits."""

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        return np.hstack(np.divmod(super().sample(data, count, rng), 80.0))


@pytest.mark.parametrize("audits", [20, pytest.param(2_000, marks=pytest.mark.lengthy)])
@pytest.mark.parametrize("kind", [RightTail, *exhaustively(CodesOfKnownLoss, PairsOfKnownLoss)])
def test_bounds_by_these_events_err_no_more_often_than_stated(kind, audits):
    """Both lose just what they claim, in common outputs."""
    terms = Terms(draws=2_000, significance=0.05, families=("intervals", *SOME))
    errors = sum(
        estimate(kind(1.0), terms, np.random.default_rng([audits, seed])).epsilon_lower_bound > 1.0
        for seed in range(audits)
    )
    assert binom.sf(errors - 1, audits, 0.05) > 1e-3
