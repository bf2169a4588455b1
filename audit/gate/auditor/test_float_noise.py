"""Float noise of numbers far from 0, or of far ones that cancelled, is no loss of the ideal mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest

from audit.auditor.distinguish import Estimate, Terms, estimate
from audit.auditor.events import Event, Quantiser, places
from audit.auditor.events import noise as float_noise
from audit.auditor.events.noise import OF_THEIR_SIZE, Reach
from audit.auditor.events.scores import CoordinateScore
from audit.auditor.notes import NEAR_NOISE
from audit.evidence.fresh import too_fine
from reference.common.arrays import FloatArray

Law: TypeAlias = Callable[[float, FloatArray], tuple[FloatArray, ...]]

MILLISECONDS = 1.7e12
"""Since 1970."""


class Of:
    """Outputs made of Laplace noise, of a scale, and of an input that is added in some order."""

    def __init__(self, law: Law, inputs: tuple[float, float] = (0.1, 0.9), scale: float = 1.0) -> None:
        self.law, self.scale, self.pair = law, scale, inputs

    def inputs(self) -> tuple[float, float]:
        return self.pair

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        columns = self.law(data, rng.laplace(scale=self.scale, size=count))
        return np.column_stack(columns).astype(np.float64)


def audit(subject: Of, draws: int = 40_000) -> Estimate:
    families = ("coordinates", "intervals", "additive", "logistic", "categories", "directions", "bits")
    return estimate(subject, Terms(draws=draws, families=families), np.random.default_rng(1))


def far(offset: float) -> Law:
    return lambda data, noise: ((offset + data) + noise,)


def near_and_far(offset: float) -> Law:
    return lambda data, noise: (data + noise, (offset + data) + noise)


def cancelled(offset: float, factor: float = 1.0, divisor: float = 1.0) -> Law:
    return lambda data, noise: ((((offset + noise) - offset) + data) * factor / divisor,)


def near_and_cancelled(offset: float) -> Law:
    return lambda data, noise: (data + noise, ((offset + data) + noise) - offset)


def near_and_single(offset: float) -> Law:
    return lambda data, noise: (
        (np.float32(offset + data) + noise.astype(np.float32)).astype(np.float64),
        (offset + data) + noise,
    )


def cancelled_in_single(offset: float) -> Law:
    far = np.float32(offset)
    return lambda data, noise: (((far + noise.astype(np.float32)) - far).astype(np.float64) + data,)


SEEN = {
    "near and far": (near_and_far(MILLISECONDS), 0.9),
    "near and less far": (near_and_far(1e12), 0.4),
    "cancelled": (cancelled(1e10), 0.9),
    "cancelled, and in tenths": (cancelled(1e10, factor=10.0), 0.9),
    "cancelled, and in thirds": (cancelled(1e10, divisor=3.0), 0.9),
    "near and cancelled": (near_and_cancelled(1e10), 0.9),
    "cancelled in single precision": (cancelled_in_single(16.0), 0.9),
    "near and single precision": (near_and_single(49_440.0), 0.9),
    "near and whole in single precision": (near_and_single(1e9), 0.9),
}


@pytest.mark.parametrize("name", SEEN)
def test_float_noise_refutes_no_ideal_mechanism(name, monkeypatch):
    """The bound was 7, where .8 is right."""
    law, right = SEEN[name]
    scale = 1e3 if "whole" in name else 1.0
    subject = Of(law, (0.1 * scale, right * scale), scale)
    found = audit(subject)
    assert found.epsilon_lower_bound < right - 0.1
    assert found.verdict(right - 0.1) == "not refuted"
    # broken control
    monkeypatch.setattr(Reach, "of", classmethod(lambda *_: Reach(0.0, 0.0)))
    monkeypatch.setattr(places, "SMALLEST_PERIOD", 0.0)
    assert audit(subject).verdict(right - 0.1) == "refuted"


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("offset", [1e6, 1e12])
@pytest.mark.parametrize("law", [far, near_and_far, cancelled, near_and_cancelled])
def test_right_noise_beside_any_offset_is_not_refuted(law, offset, scale):
    subject = Of(law(offset), (0.3 * scale, 0.6 * scale), scale)
    assert audit(subject, 20_000).verdict(0.3) in ("not refuted", "undecided")


@pytest.mark.parametrize("name", ["far", "near and far"])
def test_what_is_too_narrow_beside_float_noise_is_noted(name):
    """Microseconds of noise in seconds since 1970: the last bit is worth a quarter of one."""
    subject = Of(far(1.7e9), (0.0, 1e-6), 1e-6) if name == "far" else Of(near_and_far(MILLISECONDS))
    found = audit(subject)
    assert found.verdict(1.0) == ("undecided" if name == "far" else "not refuted")
    assert found.verdict(0.5, implementation=True) == "refuted"
    assert any(note.startswith(f"{NEAR_NOISE} output[{len(name) // 12}]") for note in found.notes)


def test_near_coordinates_have_no_note():
    """Null control; a column that is only left out of sums is named as that."""
    assert not any(note.startswith(NEAR_NOISE) for note in audit(Of(near_and_far(1e3))).notes)
    (note,) = (note for note in audit(Of(near_and_cancelled(1e10))).notes if note.startswith(NEAR_NOISE))
    assert "output[1] together with other coordinates" in note


def whole(unit: float, offset: float, modulus: int) -> Law:
    return lambda data, noise: ((np.rint(noise) * modulus + data) * unit + offset,)


BROKEN = {
    "half the noise": (far(1e11), 0.5, 1.9),
    "half the noise, cancelled": (cancelled(1e10), 0.5, 1.9),
    "half the noise beside another column": (near_and_far(MILLISECONDS), 0.5, 1.9),
    "whole numbers": (whole(1.0, 1e12, 2), 1e5, 5.0),
    "few whole numbers, as far apart as floats": (whole(256.0, 2.0**60, 2), 1.0, 5.0),
    "hundredths": (whole(0.01, 1e6, 3), 10.0, 5.0),
    "whole numbers near 200, and a difference": (
        lambda data, noise: (np.rint(noise) + 200, np.rint(noise) + 200 + data),
        3.0,
        5.0,
    ),
    "sixty-fourths": (whole(1 / 64, 1e6, 2), 1e5, 5.0),
    "whole numbers beside others": (
        lambda data, noise: (noise + MILLISECONDS, *whole(1.0, 1e12, 2)(data, noise[::-1])),
        1e5,
        5.0,
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_far_above_float_noise_is_seen(name):
    law, scale, least = BROKEN[name]
    found = audit(Of(law, (0.0, 1.0), scale))
    assert found.verdict(1.0) == "refuted"
    assert found.epsilon_lower_bound > 0.9 * least
    right = audit(Of(law, (0.0, 0.0), scale))
    assert right.epsilon_lower_bound < 0.1


def with_residue(residue: Callable[[FloatArray], FloatArray]) -> Law:
    return lambda data, noise: (data + noise, residue(data + noise))


def single_sum(data: float, noise: FloatArray) -> tuple[FloatArray, ...]:
    small = np.float32(data) + noise.astype(np.float32)
    one = np.float32(1)
    return small.astype(np.float64), (small + (one - small) - one).astype(np.float64)


def single_in_a_range(data: float, noise: FloatArray) -> tuple[FloatArray, ...]:
    one = np.float32(1)
    clipped = np.clip(np.float32(data - 0.5) + noise.astype(np.float32), -one, one)
    return clipped.astype(np.float64), (((clipped + one) - one) - clipped).astype(np.float64)


def product(values: FloatArray) -> FloatArray:
    return (values * 3.7 - values * 2.7) - values


RESIDUES = {
    "sum": (lambda data, noise: (*(y := data + noise, 1 - y), y + (1 - y) - 1), 0.0),
    "width": (with_residue(lambda y: ((y + 1.96) - (y - 1.96)) - 3.92), 3.0),
    "there and back": (with_residue(lambda y: ((y + 0.1) - 0.1) - y), 0.0),
    "there and back alone": (lambda data, noise: (((data + noise + 0.1) - 0.1) - (data + noise),), 0.0),
    "far and back": (with_residue(lambda y: ((y + 1e6) - 1e6) - y), 3.0),
    "products": (with_residue(product), 0.0),
    "products alone": (lambda data, noise: (product(data + noise),), 3.0),
    "products of large numbers": (with_residue(lambda y: (y * 100.1 - y * 99.1) - y), 0.0),
    "products, in thirds": (with_residue(lambda y: product(y) / 3), 0.0),
    "products, and what is cut off": (with_residue(lambda y: product(y) + np.maximum(y - 5, 0)), 0.0),
    "single precision": (single_sum, 0.0),
    "single precision in a range": (single_in_a_range, 0.0),
}


@pytest.mark.parametrize("name", RESIDUES)
def test_what_rounding_leaves_refutes_nothing(name, monkeypatch):
    """The bound was 3 to 7.7, where 1 is right: the sign of the third number in (y, 1 - y, y + (1 - y) - 1)."""
    law, first = RESIDUES[name]
    subject = Of(law, (first, first + 1.0))
    found = audit(subject)
    assert found.verdict(1.0) in (("undecided",) if "alone" in name else ("not refuted", "undecided"))
    last = len(law(0.0, np.zeros(1))) - 1
    # others are looked at, on a coarser grid
    whole = name not in ("far and back", "products, and what is cut off")
    assert any(note.startswith(f"{NEAR_NOISE} output[{last}]:") for note in found.notes) == whole
    # broken control
    for share in ("RESIDUE", "RESIDUE_OF_SINGLE"):
        monkeypatch.setattr(float_noise, share, 0.0)
    assert audit(subject).verdict(1.0) == "refuted"


def of_three_bits(values: FloatArray) -> FloatArray:
    significands, exponents = np.frexp(values)
    rounded: FloatArray = np.ldexp(np.rint(significands * 8), exponents - 3)
    return rounded


def of_no_bits(values: FloatArray) -> FloatArray:
    rounded: FloatArray = np.copysign(2.0 ** np.rint(np.log2(np.maximum(np.abs(values), 1e-300))), values)
    return rounded


def signs(data: float, noise: FloatArray) -> FloatArray:
    return np.sign(noise + data - 0.5)


TINY = {
    "signs": lambda data, noise: (2.0**-20 * signs(data, noise),),
    "signs beside others": lambda data, noise: (noise[::-1], 2.0**-16 * signs(data, noise)),
    "signs of a decimal": lambda data, noise: (noise[::-1], 1e-13 * signs(data, noise)),
    "signs beside single precision": lambda data, noise: (
        noise[::-1].astype(np.float32),
        2.0**-20 * signs(data, noise),
    ),
    "three codes": lambda data, noise: (noise[::-1], 2.0**-43 * np.clip(np.rint(data + noise), -1, 1)),
    "small floats beside large numbers": lambda data, noise: (
        1e6 * noise[::-1],
        of_three_bits(1e-5 * (data + noise)),
    ),
    "small floats beside single precision": lambda data, noise: (
        (1e4 * noise[::-1]).astype(np.float32),
        of_three_bits(1e-6 * (data + noise)),
    ),
    "alone": lambda data, noise: (1e-17 * (data + noise),),
    "beside others": lambda data, noise: (noise[::-1], 1e-17 * (data + noise)),
    "alone, in single precision": lambda data, noise: (np.float32(1e-17) * (data + noise).astype(np.float32),),
    "updates rounded at random": lambda data, noise: (
        noise[::-1],
        of_no_bits(1e-6 * (data + noise)) * (np.abs(noise) > 0.1),
    ),
    "whole numbers of a small unit": lambda data, noise: (1e-17 * (2 * np.rint(10 * noise) + data),),
    "small floats": lambda data, noise: (of_three_bits(1e-3 * (data + noise)),),
    "beside a residue": lambda data, noise: (y := data + noise, product(y)),
    "now and then, instead of a residue": lambda data, noise: (
        noise[::-1],
        np.where(noise < data - 2, 1e-9, product(noise[::-1])),
    ),
    "halves beside microseconds": lambda data, noise: (
        1e3 * MILLISECONDS + noise[::-1],
        np.rint(2 * noise) + data / 2,
    ),
}


@pytest.mark.parametrize("name", TINY)
def test_tiny_numbers_are_no_residues(name):
    law = TINY[name]
    assert audit(Of(law, (0.0, 1.0), 0.4)).verdict(1.0) == "refuted"
    assert audit(Of(law, (0.0, 0.0), 0.4)).verdict(1.0) in ("not refuted", "undecided")


@pytest.mark.parametrize("size", [1e-17, 2.0**-54])
def test_a_secret_far_below_other_numbers_is_noted(size):
    found = audit(Of(lambda data, noise: (noise, np.where(noise > 0, size * data, 0.0)), (0.0, 1.0)))
    assert any(note.startswith(f"{NEAR_NOISE} output[1]:") for note in found.notes)


def test_steps_are_at_least_a_share_of_the_size():
    rng = np.random.default_rng(0)
    noise = rng.laplace(size=(2, 20_000, 1))
    for offset in (1e9, 1e10, 1e11):
        step = Quantiser.of(*(noise + offset)).steps[0]
        assert max(OF_THEIR_SIZE * offset, 2.0**-17) <= step <= max(2 * OF_THEIR_SIZE * offset, 2.0**-16)
    for offset in (0.0, 1e3, 1e6):
        grid = Quantiser.of(*(noise + offset))
        assert grid.steps[0] == Quantiser.of(*noise).steps[0]
        assert grid.joint is None
    # whole numbers, decimals and small floats around 0 have the grid they had
    for values in (np.rint(noise * 1e6), np.round(noise * 1e3, 2), noise.astype(np.float32).astype(np.float64)):
        pair = np.tile(values, 2)
        assert Quantiser.of(*pair).joint is None


def test_a_grid_near_float_noise_is_forged():
    rng = np.random.default_rng(0)
    left, right = (Of(far(1e11)).sample(data, 50_000, rng) for data in (0.1, 0.9))
    own = Quantiser.of(left[:20_000], right[:20_000])
    event = Event(CoordinateScore(0), 1e11, True, "left", own)
    assert too_fine(event, left, right, 100_000, 100_000) == ()
    forged = Event(CoordinateScore(0), 1e11, True, "left", Quantiser(np.array([2.0**-16])))
    assert too_fine(forged, left, right, 100_000, 100_000) == (0,)


def test_a_grid_that_shows_what_rounding_left_is_forged():
    """The event was certified once, with 7.7 where 1 is right."""
    rng = np.random.default_rng(0)
    left, right = (Of(RESIDUES["sum"][0]).sample(data, 50_000, rng) for data in (0.0, 1.0))
    own = Quantiser.of(left[:20_000], right[:20_000])
    assert too_fine(Event(CoordinateScore(2), 0.0, True, "left", own), left, right, 100_000, 100_000) == ()
    steps = own.steps.copy()
    steps[2] = 2.0**-74
    forged = Event(CoordinateScore(2), 2.0**-53, False, "left", Quantiser(steps))
    assert too_fine(forged, left, right, 100_000, 100_000) == (2,)
    # null control: noise of a small scale has its own grid
    left, right = (Of(TINY["beside others"]).sample(data, 50_000, rng) for data in (0.0, 1.0))
    own = Quantiser.of(left[:20_000], right[:20_000])
    assert own.steps[1] < 2.0**-70
    assert too_fine(Event(CoordinateScore(1), 1e-17, True, "left", own), left, right, 100_000, 100_000) == ()
