"""Numbers that are multiples of a unit, all or most of them, and places within the cells of the grid."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from scipy.stats import chi2

from audit.auditor.events import Event, Quantiser, event_of
from audit.auditor.events import places as places_module
from audit.auditor.events.families import FURTHER_MODULI, MODULI
from audit.auditor.events.places import places_of
from audit.auditor.events.scores import CoordinateScore
from audit.auditor.events.units import DECIMALS, UNITS, Unit, unit_of
from audit.auditor.events.values import ResidueScore, telling_moduli
from audit.auditor.notes import finer_than_grid
from audit.evidence.fresh import too_fine
from audit.evidence.words import event_in_words
from audit.gate.auditor.auditing import audit
from reference.common.arrays import FloatArray, NumberArray

Law: TypeAlias = Callable[[int, int, np.random.Generator], NumberArray]

SOME = ("coordinates", "categories")


class Of:
    """Numbers of a law that looks at the input, or of the law on the left input alone."""

    def __init__(self, law: Law, *, leaks: bool = True) -> None:
        self.law, self.leaks = law, leaks

    def inputs(self) -> tuple[int, int]:
        return 0, 1

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        return np.asarray(self.law(data if self.leaks else 0, count, rng), dtype=np.float64)[:, np.newaxis]


def parity(unit: float, other: float = 0.0, share: float = 0.0) -> Law:
    """Even multiples of a unit on the left, and odd ones on the right; among them noise, or a value."""

    def law(data: int, count: int, rng: np.random.Generator) -> FloatArray:
        numbers = (2 * rng.integers(10**6, size=count) + data) * unit
        others = rng.laplace(scale=other, size=count) if other > 0 else np.full(count, other)
        return np.where(rng.random(count) < share, others, numbers)

    return law


def moved(unit: float, by: float, offset: float = 0.0) -> Law:
    """Multiples of a unit, which the right input moves by less than the grid shows."""
    return lambda data, count, rng: rng.integers(10**6, size=count) * unit + offset + data * by


LEAKS: dict[str, tuple[Law, float]] = {
    **{f"multiples of {unit:g}": (parity(unit), 1.0) for unit in (1 / 64, 2.0**-30, 1e-5, 1e-9, 0.02, 10.0, 1e8)},
    "whole, and few others": (parity(1.0, 1e6, 0.001), 1.0),
    "whole, and many others": (parity(1.0, 1e6, 0.45), 0.55),
    "whole, and far others": (parity(1.0, 1e12, 0.1), 0.9),
    "sixty-fourths, and others": (parity(1 / 64, 1e4, 0.1), 0.9),
    "millionths, and others": (parity(1e-6, 1.0, 0.1), 0.9),
    "sixty-fourths, and no numbers": (parity(1 / 64, math.nan, 0.1), 0.9),
    "whole, and a half": (parity(1.0, -0.5, 0.1), 0.9),
    "whole, and a third": (parity(1.0, -1 / 3, 0.3), 0.7),
    "whole, or nearly": (moved(1.0, 1e-4), 1.0),
    "thousandths, or nearly": (moved(0.001, 1e-7), 1.0),
    "parity beside whole numbers": (lambda data, count, rng: parity(1.0)(data, count, rng) + 1 / 3, 1.0),
}


@pytest.mark.parametrize("name", LEAKS)
def test_what_a_unit_or_a_place_tells_is_certified(name):
    """What the grid hid: the bound was 0, the verdict a success, and no note told of it."""
    law, share = LEAKS[name]
    found = audit(Of(law), 20_000, families=SOME)
    least = math.log(share / max(1 - share, 5 / found.counts.likely_draws))
    assert found.verdict(1.0) == ("refuted" if least > 1 or share > 0.5 else "not refuted")
    assert found.event.score.name == "residue"
    assert event_of(found.event.stored).stored == found.event.stored
    assert not found.notes or "not finite" in found.notes[0] or "codes too rare" in found.notes[0]
    # null control: one law
    quiet = audit(Of(law, leaks=False), 20_000, families=SOME)
    assert quiet.epsilon_lower_bound < 0.1


@pytest.mark.parametrize("leaks", [True, False])
def test_whole_numbers_hide_no_small_noise_beside_them(leaks):
    """A grid for the whole numbers alone would take all of the noise for 0."""

    def law(data: int, count: int, rng: np.random.Generator) -> FloatArray:
        noise = 1e-3 * (3 * data + rng.laplace(size=count))
        return np.where(rng.random(count) < 0.5, noise, rng.integers(10**9, size=count))

    found = audit(Of(law, leaks=leaks), 20_000, families=SOME)
    assert found.verdict(1.0) == ("refuted" if leaks else "not refuted")
    rng = np.random.default_rng(2)
    left, right = (Of(law).sample(data, 50_000, rng) for data in (0, 1))
    certified = found.counts.likely_draws
    assert too_fine(found.event, left, right, certified, found.draws - 2 * certified) == ()
    finer = Event(found.event.score, 0.0, True, "left", Quantiser(found.event.quantiser.steps * 2.0**-10))
    assert too_fine(finer, left, right, certified, found.draws - 2 * certified) == (0,)


def test_whether_a_number_is_a_multiple_is_certified():
    def law(data: int, count: int, rng: np.random.Generator) -> FloatArray:
        others = rng.random(count) < (0.02 if data else 0.3)
        return np.where(others, rng.normal(scale=1e6, size=count), rng.integers(10**6, size=count))

    found = audit(Of(law), 20_000, families=SOME)
    assert 2.3 < found.epsilon_lower_bound < math.log(15)
    assert event_in_words(found.event) == "output[0] is no multiple of 1"


@pytest.mark.parametrize("unit", [*UNITS, *DECIMALS, 1 / 64, 2.0**-30, 2.0**14])
def test_units_are_those_of_all_numbers_or_of_most(unit):
    rng = np.random.default_rng(0)
    values = (2 * rng.integers(-(2**19), 2**19, size=10_000) + 1) * unit
    assert unit_of(values) == Unit(unit)
    # a few others, or a third, in whatever order; and what a grid leaves of them
    for others in (1, 5_000):
        some = np.append(values, (np.rint(rng.laplace(scale=2**18, size=others)) + 1 / 3) * unit)
        for mixed in (some, np.sort(some)):
            assert unit_of(mixed) == Unit(unit, of_all=False)
        grid = Quantiser.of(*some[np.newaxis, :, np.newaxis].repeat(2, axis=0))
        assert grid.units == (Unit(unit, of_all=False),)
        rounded = grid(values[:, np.newaxis])[:, 0]
        assert np.array_equal(Unit(unit).multiples(rounded), Unit(unit).multiples(values))
    # two thirds are too many
    assert unit_of(np.append(values, rng.laplace(size=20_000) * unit * 2**18)) is None


TINY = (1e-10, 1e-20, 1e-100, 1e-308)


def test_tiny_numbers_are_audited_like_any_other():
    for by in TINY:
        found = audit(Of(lambda data, count, rng, by=by: by * rng.laplace(data, 1, count)), 4_000)
        assert 0.8 < found.epsilon_lower_bound <= 1


def test_continuous_numbers_have_no_unit():
    rng = np.random.default_rng(0)
    noise = rng.laplace(size=20_000)
    for scale in (1e-3, 1.0, 1e3, 1e6):
        for offset in (0.0, 1 / 3, 1e6, 1e9):
            assert unit_of(offset + scale * noise) is None
    # all near 0, which tenths are, too
    assert [unit_of(scale * noise) for scale in TINY] == [None] * len(TINY)
    often = rng.random(20_000) < 0.6
    # values that repeat: one, three, and all on one side of a limit
    assert unit_of(np.where(often, 0.0, noise)) is None
    assert unit_of(np.where(often, rng.choice([1.0, 2.5, 7.0], size=20_000), noise)) is None
    assert unit_of(np.maximum(noise, 0.25)) is None
    assert unit_of(np.rint(noise * 1e9)) == Unit(1.0)


@pytest.mark.parametrize(
    ("kind", "inputs", "scale", "decimals"),
    [
        (np.float32, (1.6e7, 3.2e7), 1.6e7, None),
        (np.float32, (3e6, 4e6), 1e6, None),
        (np.float32, (1e8, 2e8), 1e8, None),
        (np.float32, (0.0, 1e6), 1e6, 2),
        (np.float32, (0.0, 1e5), 1e5, 3),
        (np.float32, (0.0, 1.0), 1.0, None),
        (np.float32, (0.0, 1e3), 1e3, 4),
        (np.float32, (1000.5, 1001.5), 1.0, None),
        (np.float32, (1000.5, 1001.5), 1.0, 6),
        (np.float16, (1000.0, 2000.0), 1000.0, None),
    ],
)
def test_units_of_small_floats_are_float_noise(kind, inputs, scale, decimals):
    """Sums in few bits are multiples of the input's last bit, near 0 too: right, and refuted at the bits alone."""
    outputs, rng = [], np.random.default_rng(0)
    for given in inputs:
        noisy = (kind(given) + rng.laplace(scale=scale, size=20_000).astype(kind)).astype(np.float64)
        outputs.append(noisy if decimals is None else np.round(noisy, decimals))
    assert unit_of(np.concatenate(outputs)) is None
    # the control: double precision leaves no unit, and whole noise its own
    assert unit_of(np.concatenate([rng.laplace(given, scale, 20_000) for given in inputs])) is None
    assert unit_of(np.concatenate([rng.geometric(1 / scale, 20_000) + 0.5 for _ in inputs])) == Unit(0.5)


@pytest.mark.parametrize("decimals", [4, 5, 6])
def test_decimals_do_not_show_the_bits_of_single_precision(decimals):
    """Sums with its noise, rounded: which residues would tell the inputs apart is left out, and those that do."""
    rng = np.random.default_rng(decimals)
    noise = rng.laplace(scale=1e3, size=(2, 50_000)).astype(np.float32).astype(np.float64)
    left, right = np.round(noise[0], decimals), np.round(noise[1] + 1e3 / 3, decimals)
    unit = unit_of(np.concatenate([left, right]))
    assert unit is not None
    assert unit.size == float(f"1e-{decimals}")
    sides = unit.multiples(left), unit.multiples(right)
    moduli = [*MODULI, *FURTHER_MODULI]
    assert telling_moduli(*sides, [modulus for modulus in moduli if unit.tells(modulus)]) == []
    # the broken control, of more numbers where fewer tell
    assert not unit.tells(125)
    counts = [np.bincount(side % 125, minlength=125) for side in sides]
    statistic = float(((counts[0] - counts[1]) ** 2 / (counts[0] + counts[1])).sum())
    assert chi2.sf(statistic, 124) < 1e-3
    # larger ones have no unit
    assert unit_of(np.round(np.concatenate([noise[0], noise[1] + 1 / 3]) * 8, decimals)) is None


def test_grid_of_whole_numbers_is_no_coarser_than_one():
    values = np.random.default_rng(2).integers(10**7, size=(2, 4_000, 1)).astype(np.float64)
    assert Quantiser.of(*values).steps[0] == 1.0
    assert Quantiser.of(*(values + 1 / 3)).steps[0] > 1.0
    assert Quantiser.of(*(values * 2.0**25)).steps[0] == 2.0**25
    # so large that float noise could be whole numbers too
    assert Quantiser.of(*(values * 2.0**25 + 1)).steps[0] > 2.0**25
    assert Quantiser.of(*(values // 10**6)).steps[0] < 1.0


@pytest.mark.parametrize(
    ("residues", "other", "said"),
    [
        ((), 2.0, "an even whole number, or no multiple of 1"),
        ((), -2.0, "an even whole number"),
        ((1024, 2048), 0.0, "a rest near 0.25 when divided by 2"),
        ((1024, 2048), 2.0, "no rest near 0.5 when divided by 2"),
    ],
)
def test_other_numbers_are_told_in_words(residues, other, said):
    modulus = 8192 if residues else 2
    score = ResidueScore(0, modulus, (2.0, -2.0), 2 / modulus if residues else 1.0, other, residues)
    verb = "leaves" if residues else "is"
    assert event_in_words(Event(score, 1.0, True, "left")) == f"output[0] {verb} {said}"


def test_residues_of_some_numbers_are_those_of_the_definition():
    values = np.array([[4.0], [5.0], [5.5], [-1.0], [1e300], [0.0]])
    assert ResidueScore(0, 2, (1.0, -1.0), 1.0, 7.0)(values).tolist() == [1.0, -1.0, 7.0, -1.0, 7.0, 1.0]
    some = ResidueScore(0, 8, (1.0, -1.0), 0.5, 7.0, (0, 3))
    assert some(values).tolist() == [1.0, 7.0, -1.0, 7.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "parts",
    [
        {"modulus": 1},
        {"log_ratios": (1.0,)},
        {"unit": 0.0},
        {"unit": math.inf},
        {"residues": (0, 1)},
        {"residues": (1, 0), "other": 0.0},
        {"residues": (1, 8), "other": 0.0},
        {"residues": (-1, 1), "other": 0.0},
    ],
)
def test_forged_residues_are_refused(parts):
    whole = {"coordinate": 0, "modulus": 2, "log_ratios": (1.0, -1.0)}
    assert ResidueScore(**whole)
    with pytest.raises(ValueError, match=r"residue|unit"):
        ResidueScore(**{**whole, **parts})


# --- Places ---------------------------------------------------------------------------------------------------

QUIET: dict[str, Law] = {
    "noise": lambda data, count, rng: rng.laplace(data, size=count),
    "noise far out": lambda data, count, rng: 1e9 + rng.laplace(data, 1e-2, size=count),
    "wide noise far out": lambda data, count, rng: 1e9 + rng.laplace(data, 1e4, size=count),
    "half of it 0": lambda data, count, rng: np.maximum(rng.laplace(data, 1e3, size=count), 0),
    "three values": lambda data, count, rng: np.where(
        rng.random(count) < 0.5, rng.choice([0.1, 0.3, 0.7], count), rng.normal(data, size=count)
    ),
    "decimals": lambda data, count, rng: np.round(rng.laplace(data, 1e3, size=count), 4),
    "whole": lambda data, count, rng: data + rng.geometric(1e-6, size=count),
    "single precision": lambda data, count, rng: np.float32(data) + rng.laplace(size=count).astype(np.float32),
    "single precision far out": lambda data, count, rng: rng.laplace(1e3 + data, 30, count).astype(np.float32),
    "a third and single precision": lambda data, count, rng: (
        data / 3 + rng.laplace(size=count).astype(np.float32).astype(np.float64)
    ),
}


@pytest.mark.parametrize("name", QUIET)
def test_other_laws_have_no_places(name):
    rng = np.random.default_rng(1)
    left, right = (QUIET[name](data, 20_000, rng).astype(np.float64)[:, np.newaxis] for data in (0, 1))
    grid = Quantiser.of(left, right)
    assert places_of(left[:, 0], right[:, 0], grid, 0) is None
    assert finer_than_grid((left, right), grid, None) == ()


def test_single_precision_would_have_places_if_rarer_ones_counted(monkeypatch):
    """Broken control: then a sum in double precision would be refuted for what is float noise."""
    rng = np.random.default_rng(1)
    law = QUIET["a third and single precision"]
    left, right = (law(data, 20_000, rng)[:, np.newaxis] for data in (0, 1))
    monkeypatch.setattr(places_module, "HEAVY", 1 / 1024)
    monkeypatch.setattr(places_module, "OF_FEW", 2)
    monkeypatch.setattr(places_module, "SMALLEST_PERIOD", 0.0)
    found = places_of(left[:, 0], right[:, 0], Quantiser.of(left, right), 0)
    assert found is not None
    assert found.telling


@pytest.mark.parametrize("share", [0.2, 0.6, 1.0])
def test_places_that_tell_nothing_are_noted_with_their_share(share):
    """Both inputs are at two places, so near that the grid takes them for one."""
    rng = np.random.default_rng(1)

    def drawn() -> FloatArray:
        places = 8 * rng.integers(10**5, size=(20_000, 1)) + 1 / 3 + 1e-4 * rng.integers(2, size=(20_000, 1))
        return np.asarray(np.where(rng.random((20_000, 1)) < share, places, rng.normal(0, 1e6, (20_000, 1))))

    left, right = drawn(), drawn()
    (note,) = finer_than_grid((left, right), Quantiser.of(left, right), None)
    assert 0.8 * share < float(note.split("which ")[1].split()[0]) < 1.2 * share


def test_grid_of_places_is_not_forged():
    rng = np.random.default_rng(2)
    found = audit(Of(LEAKS["whole, or nearly"][0]), 20_000, families=SOME)
    left, right = (Of(moved(1.0, 1e-4)).sample(data, 50_000, rng) for data in (0, 1))
    certified = found.counts.likely_draws
    phases = certified, found.draws - 2 * certified
    assert isinstance(found.event.score, ResidueScore)
    assert found.event.score.residues
    assert too_fine(found.event, left, right, *phases) == ()
    # another score on the same grid, a finer one, and places that other draws lack
    assert too_fine(Event(CoordinateScore(0), 0.0, True, "left", found.event.quantiser), left, right, *phases) == (
        0,
    )
    finer = Event(found.event.score, 0.0, True, "left", Quantiser(found.event.quantiser.steps * 2.0**-20))
    assert too_fine(finer, left, right, *phases) == (0,)
    noise = rng.normal(scale=1e6, size=(2, 50_000, 1))
    assert too_fine(found.event, *noise, *phases) == (0,)


def test_a_unit_of_numbers_that_are_nearly_all_0():
    """A histogram of counts that drops small ones: its grid keeps the unit, and other numbers by their spread."""
    rng = np.random.default_rng(0)
    numbers = np.zeros((20_000, 1))
    numbers[:100] = np.rint(20 * rng.laplace(size=(100, 1)))
    numbers[100:120] = rng.laplace(size=(20, 1))
    (step,) = Quantiser.of(numbers, numbers).steps
    assert 0 < abs(step) < 1
