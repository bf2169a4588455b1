"""What no event looked at is named beside the verdict."""

from __future__ import annotations

import itertools
import re
from typing import Any, ClassVar

import numpy as np
import pytest

from audit.auditor.events import Quantiser
from audit.auditor.events.atoms import MOST_PAIRED
from audit.auditor.notes import finer_than_grid
from audit.commands.estimate_text import as_text
from audit.evidence.estimation import Audit, carried_out
from audit.evidence.report import EstimateResult
from audit.gate.requests import asked
from audit.subjects.search import Vectors
from reference.common.arrays import FloatArray

RESIDUES, SUMS = "residues of", "most weighted sums of coordinates that are finer than the grid"
TOGETHER = "what coordinates show only together, outside the 128 whose distributions differ most"


class Parity:
    """Whole numbers, mostly even on the left and odd on the right."""

    lowest, widest = 9_000_000, 3_000_000

    def inputs(self) -> tuple[int, int]:
        return 0, 1

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        numbers = self.lowest + 2 * rng.integers(self.widest // 2, size=(count, 1))
        return (numbers + (rng.random((count, 1)) < 0.9 - 0.8 * data)).astype(np.float64)


class SmallerParity(Parity):
    """The same in sixty-fourths."""

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        return super().sample(data, count, rng) / 64


class MostlyParity(Parity):
    """The same, and one in a thousand is noise."""

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        noise = rng.laplace(scale=1e6, size=(count, 1))
        return np.where(rng.random((count, 1)) < 0.001, noise, super().sample(data, count, rng))


class LargerParity(Parity):
    """Numbers that no single precision holds."""

    lowest, widest = 36_000_000, 12_000_000


class LargeParity(Parity):
    """Numbers like times in microseconds, of which a grid loses the last digits."""

    lowest, widest = 2**50, 2**50


class MostlyLargeParity(MostlyParity):
    """Numbers that are too large, and some noise."""

    lowest, widest = 2**50, 2**50


class LargeDecimals(LargeParity):
    """Multiples of .0001 that are too large."""

    lowest, widest = 2**36, 2**36

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        return super().sample(data, count, rng) / 10**4


class LargeSteps(LargeParity):
    """No residues: numbers so large that all floats are whole."""

    lowest, widest = 2**56, 2**56


class FewNumbers(Parity):
    """So few that each is told from the others."""

    lowest, widest = 10_000_000, 1_000


class Small:
    """Laplace noise in single precision: no multiples of a unit."""

    def inputs(self) -> tuple[float, float]:
        return 0.0, 1.0

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        return rng.laplace(data, size=(count, 1)).astype(np.float32).astype(np.float64)


class OfThree:
    """Numbers of which a sum is wider on the right, behind common noise ten million times as wide."""

    def inputs(self) -> tuple[float, float]:
        return 1.0, 3.0

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        common = 1e7 * rng.normal(size=(2, count))
        return np.column_stack([*common, data * rng.laplace(size=count) - common.sum(axis=0)])


class TwoAlike:
    """Many coordinates of one law; on the right the noise of one is used again for another."""

    width = 600

    def inputs(self) -> tuple[int, int]:
        return 0, 1

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        outputs = rng.laplace(size=(count, self.width))
        if data:
            outputs[:, 1] = outputs[:, 0]
        return outputs


class TwoOfFewAlike(TwoAlike):
    """So few that none is left out."""

    width = 6


def found_of(kind: type[Any], draws: int = 20_000) -> EstimateResult:
    words = [f"{__name__}:{kind.__name__}", "--epsilon", "1", "--draws", str(draws), "--seed", "1"]
    (request,) = asked(*words, "--events", "coordinates,categories,directions")
    return carried_out(Audit.of(request))


@pytest.mark.parametrize("kind", [Parity, SmallerParity, MostlyParity, LargerParity, FewNumbers, Small])
def test_residues_that_single_precision_explains_are_named(kind):
    result = found_of(kind)
    said = "no event looked at residues of output[0]: its numbers look like single precision"
    named = said in result.not_ruled_out()
    assert named is (said in result.notes) is (kind in (Parity, SmallerParity, MostlyParity))
    assert (RESIDUES in result.not_ruled_out()) is named
    # what is named was not seen: were it looked at, the verdict would be another
    assert (result.verdict("ideal") == "refuted") is (kind in (LargerParity, FewNumbers))


@pytest.mark.parametrize("kind", [LargeParity, MostlyLargeParity, LargeDecimals, LargeSteps, LargerParity])
def test_residues_of_numbers_too_large_are_named(kind):
    result = found_of(kind)
    named = "no event looked at residues of output[0]: its numbers are too large" in result.not_ruled_out()
    assert named is (RESIDUES in result.not_ruled_out()) is (kind not in (LargeSteps, LargerParity))
    assert (result.verdict("ideal") == "refuted") is (kind is LargerParity)


class SmallBesideWide(Parity):
    """The data show in a third of the outputs, a billion times smaller than the others."""

    small: ClassVar[float] = 1e-6

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        small = self.small * (1 + data + rng.laplace(size=(count, 1)) / 10)
        return np.where(rng.random((count, 1)) < 0.3, small, 1e3 * rng.normal(size=(count, 1)))


class NothingBesideWide(SmallBesideWide):
    """Equal ones."""

    small = 0.0


class NoiseBesideWide(SmallBesideWide):
    """They differ as float noise does, and have another law on the other input: rounding need not be why."""

    small = 1e-14


class AlikeBesideWide(NoiseBesideWide):
    """They have one law."""

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        return super().sample(0, count, rng)


class OneBesideWide(SmallBesideWide):
    """The grid tells them apart."""

    small = 1.0


BESIDE_WIDE = [SmallBesideWide, NothingBesideWide, NoiseBesideWide, AlikeBesideWide, OneBesideWide]


@pytest.mark.parametrize("kind", BESIDE_WIDE)
def test_outputs_that_the_grid_takes_for_one_are_named(kind):
    result = found_of(kind)
    said = r"no event looked at differences finer than the grid, which 0\.(3|31) of the outputs have in output.0."
    named = re.search(said, result.not_ruled_out()) is not None
    expected = kind in (SmallBesideWide, NoiseBesideWide)
    assert named is ("differences finer" in result.not_ruled_out()) is expected
    assert (result.verdict("ideal") == "refuted") is (kind is OneBesideWide)


class FewParity(Parity):
    """A fifth of the outputs alone, which no event looks at; the others are noise."""

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        noise = rng.laplace(scale=1e6, size=(count, 1))
        return np.where(rng.random((count, 1)) < 0.2, super().sample(data, count, rng), noise)


def test_residues_of_a_minority_are_named():
    result = found_of(FewParity)
    assert result.verdict("ideal") == "not refuted"
    assert "residues modulo more than 256, in part of the range or of a minority of the outputs" in (
        result.not_ruled_out()
    )


class Digits(Parity):
    """Whole numbers of some spread, which the data move by a ten-thousandth, or by what rounding might."""

    spread: ClassVar[float] = 1e3
    small: ClassVar[float] = 1e-4

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        noise = np.rint(rng.laplace(scale=self.spread, size=(count, 1)))
        return noise + self.small * (data + 0.1 * rng.random((count, 1)))


class WiderDigits(Digits):
    spread = 1e4


class RoundedDigits(Digits):
    small = 1e-12


class Noise(Digits):
    """Continuous numbers: a few are next to each other by chance."""

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        return data + rng.laplace(size=(count, 1))


@pytest.mark.parametrize("kind", [Digits, WiderDigits, RoundedDigits, Noise])
def test_small_differences_of_numbers_that_seldom_repeat_are_named(kind):
    """No cell has one output of a hundred, and the text said that float noise leaks."""
    result = found_of(kind, 60_000)
    named = "differences finer than the grid" in result.not_ruled_out()
    assert named is (kind in (Digits, WiderDigits))
    assert result.verdict("ideal") == "not refuted"
    said = as_text([result], "ideal", None)
    assert ("Rounding need not be the cause for" in said) is (named and "At the bits of the floats" in said)


@pytest.mark.parametrize("scale", [0.1, 1.0, 3.0, 10.0, 30.0, 100.0])
@pytest.mark.parametrize("law", ["laplace", "normal", "uniform"])
def test_continuous_numbers_seldom_share_lonely_cells(law, scale):
    """Null control: however many of them are in a cell of the grid."""
    sides = getattr(np.random.default_rng(3), law)(0.0, 4_000 * scale, (2, 4_096, 1))
    assert finer_than_grid((sides[0], sides[1]), Quantiser(np.array([1.0])), None) == ()


@pytest.mark.parametrize("step", [1.0, -1.0])
@pytest.mark.parametrize(("middle", "width", "named"), [(0.0, 0.1, True), (0.5, 0.1, True), (0.5, 4.0, False)])
def test_numbers_in_a_cell_or_two_are_named(middle, width, named, step):
    """Null control: ones that spread over several cells, as coarse as a grid may be."""
    rng = np.random.default_rng(1)
    wide = 1e5 * rng.normal(size=(2, 4_000, 1))
    sides = np.where(rng.random(wide.shape) < 0.3, rng.normal(middle, width, wide.shape), wide)
    assert bool(finer_than_grid((sides[0], sides[1]), Quantiser(np.array([step])), None)) is named


class SmallestFloat(Parity):
    """In some outputs, none or the smallest number of full precision; noise in the others."""

    share: ClassVar[float] = 0.5

    def chosen(self, data: int, count: int, _: np.random.Generator) -> FloatArray:
        return np.full((count, 1), data * np.finfo(np.float64).tiny)

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        noise = rng.laplace(scale=10, size=(count, 1))
        return np.where(rng.random((count, 1)) < self.share, self.chosen(data, count, rng), noise)


class SeldomSmallestFloat(SmallestFloat):
    share = 0.05


class TwoFloats(SmallestFloat):
    """Null control: what rounding made two numbers of, on both inputs alike."""

    def chosen(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        return np.where(rng.random((count, 1)) < 0.4, 0.3, 0.1 + 0.2)


class OneFloat(SmallestFloat):
    """Null control: its number depends on the data, but no other one is in its cell."""

    def chosen(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        return np.full((count, 1), float(data))


class Saturated(SmallestFloat):
    """A probability far below the others, continuous and smaller on one input."""

    share = 0.35

    def chosen(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        return np.asarray(np.exp(-50 - 2 * data + 0.1 * rng.normal(size=(count, 1))))


class SeldomSaturated(Saturated):
    share = 0.02


class SignOfFewBits(SmallestFloat):
    """Most outputs are of few bits, as numbers that rounding left, and their sign tells the input."""

    share = 0.8

    def chosen(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        sizes = rng.integers(1, 16, (count, 1)) * 2.0 ** -(rng.integers(0, 3, (count, 1)) + 76)
        return np.asarray((2 * data - 1) * sizes)


class NoSignOfFewBits(SignOfFewBits):
    """Null control: either sign on both inputs."""

    def chosen(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        return np.asarray(super().chosen(1, count, rng) * rng.choice([-1.0, 1.0], (count, 1)))


SPLIT = [SmallestFloat, SeldomSmallestFloat, Saturated, SeldomSaturated, SignOfFewBits]


@pytest.mark.parametrize("kind", [*SPLIT, TwoFloats, OneFloat, NoSignOfFewBits])
def test_numbers_of_one_cell_that_the_inputs_split_are_named(kind):
    """However near they are: the text said that float noise shows the bits."""
    rng = np.random.default_rng(5)
    left, right = (kind().sample(data, 20_000, rng) for data in (0, 1))
    notes = finer_than_grid((left, right), Quantiser.of(left, right), None)
    assert (len(notes) == 1) is (kind in SPLIT)


@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
def test_equal_laws_within_cells_are_not_named(share):
    """Null control: numbers nearer than float noise, more of them on one input."""
    rng, grid = np.random.default_rng(1), Quantiser(np.array([1.0]))
    for _ in range(50):
        near = [1e-15 * rng.laplace(size=(4_096, 1)) for _ in range(2)]
        wide = 1e9 * rng.normal(size=(2, 4_096, 1))
        often = share, share / 2
        left, right = (
            np.where(rng.random(far.shape) < some, one, far)
            for one, far, some in zip(near, wide, often, strict=True)
        )
        assert finer_than_grid((left, right), grid, None) == ()


@pytest.mark.parametrize(("often", "named"), [((0.1, 0.15), True), ((0.1, 0.1), False)])
def test_a_rare_number_of_a_cell_that_the_inputs_split_is_named(often, named):
    """The law of the whole cell hardly shows it.  Null control: as often on both inputs."""
    rng = np.random.default_rng(1)
    left, right = (np.where(rng.random((4_096, 1)) < share, 1e-12, 0.0) for share in often)
    assert bool(finer_than_grid((left, right), Quantiser(np.array([1.0])), None)) is named


@pytest.mark.filterwarnings("error")
def test_the_largest_floats_are_told_apart():
    sides = np.random.default_rng(1).choice([-1.7e308, 0.0, 1.7e308], size=(2, 100, 1))
    assert finer_than_grid((sides[0], sides[1]), Quantiser.of(*sides), None) == ()


@pytest.mark.parametrize("kind", [OfThree, Parity])
def test_sums_finer_than_the_grid_are_named_for_several_coordinates(kind):
    result = found_of(kind)
    assert result.verdict("ideal") == "not refuted"
    assert (SUMS in result.not_ruled_out()) is (kind is OfThree)
    assert ("residues, norms and relations of several coordinates" in result.not_ruled_out()) is (kind is OfThree)
    assert result.to_json()["not_ruled_out"] == result.not_ruled_out()


class LargestOfPairs(Parity):
    width = MOST_PAIRED

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        return rng.laplace(size=(count, self.width))


class TooManyForPairs(LargestOfPairs):
    width = MOST_PAIRED + 1


@pytest.mark.parametrize("kind", [LargestOfPairs, TooManyForPairs])
def test_sums_that_no_event_looked_at_are_named(kind):
    said = found_of(kind, 1_000).not_ruled_out()
    assert ("but those of two coordinates with weights 1 and 1, 2 or 1/2" in said) is (kind is LargestOfPairs)
    assert ("pairs are looked at among up to 64 coordinates" in said) is (kind is TooManyForPairs)


@pytest.mark.parametrize("kind", [TwoAlike, TwoOfFewAlike])
def test_coordinates_that_were_left_out_are_named(kind):
    result = found_of(kind, 4_000)
    assert (TOGETHER in result.not_ruled_out()) is (kind is TwoAlike)
    assert (result.verdict("ideal") == "refuted") is (kind is TwoOfFewAlike)


class CodesBesideNoise(Parity):
    """In a tenth of the outputs a code of 20,000, half of them of one input alone; noise in the others."""

    share = 0.1

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        codes = (rng.integers(10_000, size=(count, 1)) + 10_000 * int(data > 0)) * 104_729 % 10_000_019 / 7
        return np.where(rng.random((count, 1)) < self.share, codes, 1e6 * rng.normal(size=(count, 1)))


class NoiseAlone(CodesBesideNoise):
    """Null control."""

    share = 0.0


@pytest.mark.parametrize("kind", [CodesBesideNoise, NoiseAlone])
def test_codes_beside_noise_that_were_not_learned_are_named(kind):
    result = found_of(kind, 100_000)
    assert result.verdict("ideal") == "not refuted"
    assert ("codes too rare to be learned" in result.not_ruled_out()) is (kind is CodesBesideNoise)


class Lists(Small):
    """Three pairs, the first of which is audited, and the last one the other way round."""

    listed: Any = ((0.0, 1.0), (0.0, 2.0), (0.0, 3.0), (1.0, 0.0))

    def candidates(self) -> Any:
        return iter(self.listed)


class ListsItsOwn(Lists):
    listed = ((0.0, 1.0),)


class ListsForEver(Lists):
    def candidates(self) -> Any:
        return itertools.repeat((0.0, 2.0))


class FailsToList(Lists):
    listed = None


class Declares(Lists):
    neighbourhood = Vectors(1)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Lists, "2 listed pairs were not looked at: --search tries them"),
        (ListsItsOwn, None),
        (ListsForEver, "more than 9,999 listed pairs were not looked at: --search tries them"),
        (FailsToList, "the pairs that candidates() lists were not looked at: it failed"),
        (Declares, "the declared neighbourhood was not searched: --search searches it"),
        (Small, None),
    ],
)
def test_what_a_search_would_look_at_is_named_without_one(kind, said):
    left_open = found_of(kind, 1_000).not_ruled_out()
    assert left_open.split("; ")[1] == said if said else "--search" not in left_open
