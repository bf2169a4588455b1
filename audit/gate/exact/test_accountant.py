"""The exact epsilon of composed noise: by a second road, against the vectors, and its verdicts at the ends."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import mpmath
import numpy as np
import pytest

from audit.exact import accountant
from audit.exact.accountant import Losses, NoisySums, epsilon_of_laplace, epsilon_on_grid, laplace_profile
from reference.common.balls import ball, working_precision
from reference.common.errors import DeltaError, ReadingError
from reference.common.numbers import short_text
from reference.readings import ADJACENCIES

VECTORS = json.loads((Path(accountant.__file__).parents[1] / "vectors/v1/accounting.json").read_text())


def sums(
    noise: str = "gaussian", bound: str = "1", delta: str = "1e-5", count: int = 1, **other: str
) -> NoisySums:
    return NoisySums(
        noise=noise,
        scale=Fraction(other.get("scale", "1")),
        delta=Fraction(delta),
        count=count,
        adjacency=other.get("adjacency", "replace_one"),
        bound=Fraction(bound),
    )


def gaussian_by_mpmath(mu: float, delta: float) -> float:
    low, high = mpmath.mpf(0), mpmath.mpf(20 * mu + mu * mu)
    for _ in range(60):
        middle = (low + high) / 2
        far = mpmath.exp(middle) * mpmath.ncdf(-mu / 2 - middle / mu)
        above = mpmath.ncdf(mu / 2 - middle / mu) - far > delta
        low, high = (middle, high) if above else (low, middle)
    return float(low)


def laplace_by_mpmath(e: float, count: int, epsilon: float) -> mpmath.mpf:
    """Average over the first loss: -e and e are atoms, the rest has the density exp((l - e)/2)/4."""
    if count == 1:
        return 1 - mpmath.exp(min(0, (epsilon - e) / 2) if epsilon > -e else epsilon)

    def rest(loss):
        return laplace_by_mpmath(e, count - 1, epsilon - loss)

    # the rest bends where a sum of losses is an integer multiple of e
    bends = {epsilon - j * e for j in range(-count, count + 1)}
    ends = sorted({-e, e} | {bend for bend in bends if -e < bend < e})
    between = mpmath.quad(lambda loss: mpmath.exp((loss - e) / 2) / 4 * rest(loss), ends, maxdegree=3)
    return rest(e) / 2 + mpmath.exp(-e) / 2 * rest(-e) + between


@pytest.mark.parametrize(("count", "adjacency", "mu"), [(1, "replace_one", 2), (9, "add_or_remove_one", 3)])
def test_gaussian_epsilon_by_a_second_road(count, adjacency, mu):
    found = sums(count=count, adjacency=adjacency).epsilon
    assert float(found.lower) == pytest.approx(gaussian_by_mpmath(mu, 1e-5), rel=1e-9)
    assert float(found.lower) != pytest.approx(gaussian_by_mpmath(mu * 1.001, 1e-5), rel=1e-6)


@pytest.mark.parametrize("epsilon", ["0", "3/10"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_laplace_profile_by_a_second_road(count, epsilon):
    e = Fraction(1, 2)
    found = float(laplace_profile(e, count, Fraction(epsilon)))
    expected = float(laplace_by_mpmath(float(e), count, float(Fraction(epsilon))))
    assert found == pytest.approx(expected, rel=1e-8)
    assert float(laplace_profile(e * Fraction(101, 100), count, Fraction(epsilon))) != pytest.approx(
        expected, rel=1e-3
    )


def discretised_delta(e: float, count: int, epsilon: float, up: bool) -> float:
    """Return delta of losses on a grid, all rounded up or all down: an upper and a lower bound."""
    steps = 200
    ends = np.linspace(-e, e, 2 * steps + 1)
    # P(loss <= l) = exp((l - e)/2)/2 below e
    mass = np.diff(np.exp((ends - e) / 2) / 2)
    one = np.concatenate([[0], mass]) if up else np.concatenate([mass, [0]])
    one[0] += np.exp(-e) / 2
    one[-1] += 0.5
    law = np.ones(1)
    for _ in range(count):
        law = np.convolve(law, one)
    losses = np.linspace(-count * e, count * e, len(law))
    return float((law * np.maximum(0, -np.expm1(epsilon - losses))).sum())


def test_laplace_epsilon_of_many_releases_lies_between_discretised_ones():
    delta, count, e = 1e-5, 30, Fraction(1, 2)
    epsilon = float(epsilon_of_laplace(e, count, Fraction(delta)).lower)
    assert (
        discretised_delta(0.5, count, epsilon, up=False) < delta < discretised_delta(0.5, count, epsilon, up=True)
    )
    # what is wrong by 2 % is outside
    assert discretised_delta(0.5, count, epsilon * 1.02, up=True) < delta
    assert discretised_delta(0.5, count, epsilon * 0.98, up=False) > delta


def test_one_laplace_release_has_the_known_epsilon():
    found = epsilon_of_laplace(Fraction(1), 1, Fraction(1, 100))
    # delta = 1 - exp((epsilon - 1)/2)
    assert float(found.upper) == pytest.approx(1 + 2 * float(mpmath.log(0.99)), rel=1e-14)
    assert found.lower < found.upper
    # total variation 1 - exp(-1/2) is below 1/2
    assert epsilon_of_laplace(Fraction(1), 1, Fraction(1, 2)).upper == 0


def test_vectors_agree():
    asked = [case for group in VECTORS["testGroups"] for case in group["tests"]]
    asked = [case for case in asked if case["inputs"]["kind"] != "basic" and "epsilon" in case.get("expected", {})]
    assert {case["inputs"]["kind"] for case in asked} == {"gaussian", "laplace"}
    for case in asked:
        inputs, expected = case["inputs"], case["expected"]["epsilon"]
        least, most = (expected["lo"], expected["hi"]) if isinstance(expected, dict) else (expected, expected)
        words = inputs["kind"], inputs["bound"], inputs.get("delta", "0"), int(inputs["count"])
        found = {
            adjacency: sums(*words, scale=inputs["scale"], adjacency=adjacency).epsilon
            for adjacency in ADJACENCIES
        }
        fits = [
            name for name, one in found.items() if one.lower <= Fraction(most) and one.upper >= Fraction(least)
        ]
        # and under the other relation it does not fit
        assert fits == [inputs["adjacency"]], case["tcId"]


def test_verdicts_turn_over_at_the_ends():
    asked = sums()
    found = asked.epsilon
    assert found.lower < found.upper
    assert asked.verdict(Fraction("4.728")) == "refuted"
    assert asked.verdict(found.lower * (1 - Fraction(1, 10**30))) == "refuted"
    assert asked.verdict((found.lower + found.upper) / 2) == "undecided"
    assert asked.verdict(found.upper) == "not refuted"
    # known exactly: nothing is inside
    pure = sums("laplace", delta="0", count=3)
    assert pure.verdict(Fraction(6)) == "not refuted"
    assert pure.verdict(Fraction(6) - Fraction(1, 10**30)) == "refuted"


def test_report_for_add_or_remove_holds_there_only():
    assert sums(adjacency="add_or_remove_one").verdict(Fraction("4.728")) == "not refuted"
    assert sums(adjacency="replace_one").verdict(Fraction("4.728")) == "refuted"


def test_many_laplace_releases_are_enclosed_and_the_text_says_so(monkeypatch):
    count, e, delta = 40, Fraction(1, 10), Fraction(1, 10**6)
    tight = epsilon_of_laplace(e, count, delta)
    asked = partial(sums, "laplace", delta="1e-6", count=count, scale="20")
    assert asked().epsilon == tight
    monkeypatch.setattr(accountant, "LARGEST_EXACT", 30)
    close = asked()
    assert (
        close.epsilon.lower
        < tight.lower
        < tight.upper
        < close.epsilon.upper
        < close.epsilon.lower * (1 + Fraction(1, 10**6))
    )
    assert close.road.startswith("close")
    monkeypatch.setattr(accountant, "MOST_PLACES", 100)
    wide = asked()
    assert wide.epsilon.lower < close.epsilon.lower < close.epsilon.upper < wide.epsilon.upper < count * e
    width = wide.epsilon.upper - wide.epsilon.lower
    assert f"not tight, {short_text(width)} wide" in wide.road
    assert wide.verdict(tight.upper) == "undecided"


def log_delta_by_inversion(e: float, count: int, epsilon: float) -> float:
    """Integrate the generating function of the losses over a line: the log of delta."""

    def integrand(z):
        least = np.exp(-(2 * z + 1) * e)
        average = np.log((1 + least + (1 - least) / (2 * z + 1)) / 2)
        return count * average + z * (count * e - epsilon) - np.log(z * (1 + z))

    orders = np.exp(np.linspace(-12, 8, 200_001))
    order = orders[integrand(orders).argmin()]
    highest = integrand(order)
    curvature = np.diff(integrand(order * np.array([0.999, 1, 1.001])), 2)[0] / (0.001 * order) ** 2
    step = min(order, curvature**-0.5) / 16
    line = np.exp(integrand(order + 1j * step * np.arange(20_000)) - highest).real
    return float(highest + np.log((line.sum() - line[0] / 2) * step / np.pi))


@pytest.mark.parametrize(
    ("e", "count", "delta"),
    [
        ("3", 10**6, "1e-6"),
        ("10", 10**5, "1e-12"),
        ("0.3", 10**4, "1e-100"),
        ("0.1", 10**9 - 1, "1e-3000"),
    ],
)
def test_epsilon_of_many_releases_is_close_by_a_second_road(monkeypatch, e, count, delta):
    # faster; with all places closer
    monkeypatch.setattr(accountant, "MOST_PLACES", 2**16)
    found = epsilon_on_grid(Fraction(e), count, Fraction(delta))
    assert found.upper - found.lower < found.upper / 500

    def beyond(epsilon: Fraction) -> float:
        return log_delta_by_inversion(float(e), count, float(epsilon)) - float(mpmath.log(mpmath.mpf(delta)))

    assert beyond(found.lower) > 0 > beyond(found.upper)
    # what is wrong by three thousandths is outside
    assert beyond(found.upper * Fraction(997, 1000)) > 0 > beyond(found.lower * Fraction(1003, 1000))


@pytest.mark.parametrize(("count", "delta"), [(1000, "1e-400"), (1000, "1e-3000"), (100, "1e-31")])
def test_delta_below_that_of_the_largest_loss_changes_nearly_nothing(count, delta):
    found = epsilon_on_grid(Fraction(1), count, Fraction(delta))
    # all losses are the largest with probability 2^-count
    least = count + math.log1p(-float(Fraction(delta) * 2**count))
    assert least - 1e-9 <= float(found.lower) <= found.upper <= count
    assert float(found.lower) <= count * (1 - 1e-9) or delta != "1e-31"


def test_cost_is_the_same_for_a_tiny_delta(monkeypatch):
    monkeypatch.setattr(accountant, "MOST_PLACES", 2**15)
    lengths = []
    times = Losses.__mul__

    def counting(self, other):
        lengths.append(self.weights.length() + other.weights.length())
        return times(self, other)

    monkeypatch.setattr(Losses, "__mul__", counting)
    for delta in ("1e-6", "1e-1000"):
        epsilon_on_grid(Fraction(1), 10**4, Fraction(delta))
    usual, tiny = sum(lengths[: len(lengths) // 2]), sum(lengths[len(lengths) // 2 :])
    assert tiny < 2 * usual
    assert max(lengths) < 2**15


@pytest.mark.parametrize("e", ["100", "1e6"])
def test_large_losses_get_enough_cells(e):
    count, e = 100, Fraction(e)
    found = epsilon_on_grid(e, count, Fraction(1, 10**6))
    assert found.upper - found.lower < Fraction(1, 10)
    # a loss is e less an exponential time of mean 2, with probability a half
    assert count * (e - 1) < found.lower < found.upper < count * e


def test_epsilon_falls_with_delta_and_grows_with_count_and_loss():
    e, count, delta = Fraction(1, 10), 70, Fraction(1, 10**9)
    found = epsilon_on_grid(e, count, delta)
    for changed in ((e * 101 / 100, count, delta), (e, count + 1, delta), (e, count, delta / 2)):
        assert found.upper < epsilon_on_grid(*changed).lower


@pytest.mark.parametrize(
    ("e", "count", "delta"),
    [("1/10", 1, "1e-3"), ("3", 5, "1e-5"), ("1/100", 64, "1e-60"), ("1/100", 40, "0.5"), ("50", 3, "0.2")],
)
@pytest.mark.parametrize("most_cells", [2, 256])
def test_epsilon_on_a_grid_holds_the_exact_one(monkeypatch, e, count, delta, most_cells):
    monkeypatch.setattr(accountant, "MOST_CELLS", most_cells)
    given = Fraction(e), count, Fraction(delta)
    found, exact = epsilon_on_grid(*given), epsilon_of_laplace(*given)
    # what is worked out exactly is enclosed, too
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert found.upper <= exact.upper + count * Fraction(e) / most_cells


@pytest.mark.parametrize(("off", "end"), [(Fraction(1001, 1000), "lower"), (Fraction(999, 1000), "upper")])
def test_grid_of_other_losses_does_not_hold_the_exact_epsilon(off, end):
    given = 30, Fraction(1, 10**5)
    found, exact = epsilon_on_grid(off / 2, *given), epsilon_of_laplace(Fraction(1, 2), *given)
    assert (found.lower > exact.upper) if end == "lower" else (found.upper < exact.lower)


def test_cells_keep_the_mass_of_both_inputs():
    e = Fraction(3, 2)
    with working_precision(128):
        for lowest, law in (accountant._ends(e), accountant._middles(e)):
            losses = [ball(e * Fraction(lowest + place, accountant._half(e))) for place in range(len(law))]
            for total in (
                sum(law),
                sum(mass * (-loss).exp() for mass, loss in zip(law, losses, strict=True)),
            ):
                assert total.contains(1)
                assert total.rad() < 1e-30


@pytest.mark.parametrize(("e", "count"), [("1/100", 1000), ("1/1000", 10**6)])
def test_losses_of_many_releases_are_nearly_normal(e, count):
    delta = Fraction(1, 10**5)
    found = epsilon_on_grid(Fraction(e), count, delta)
    # half their variance is their mean
    mean = count * (float(Fraction(e)) - 1 + math.exp(-Fraction(e)))
    nearly = gaussian_by_mpmath((2 * mean) ** 0.5, 1e-5)
    assert float(found.lower) == pytest.approx(nearly, rel=2e-3)
    assert float(found.upper) == pytest.approx(nearly, rel=2e-3)
    assert float(found.lower) != pytest.approx(1.01 * nearly, rel=2e-3)


@pytest.mark.parametrize("bits", [16, 24])
def test_losses_that_do_not_count_widen_the_enclosure(monkeypatch, bits):
    given = Fraction(1, 10), 40, Fraction(1, 10**5)
    exact, close = epsilon_of_laplace(*given), epsilon_on_grid(*given)
    monkeypatch.setattr(accountant, "FLOOR_BITS", bits)
    wide = epsilon_on_grid(*given)
    assert wide.lower < exact.lower < exact.upper < wide.upper
    assert close.upper < wide.upper
    # as if they told nothing, above too
    with working_precision(128):
        law = Losses.composed(*given[:2], Fraction(10), above=True)
        assert law.lost > 0
        assert replace(law, lost=ball(0)).epsilon(given[2]) < law.epsilon(given[2])


@pytest.mark.parametrize("above", [True, False])
def test_coarser_law_keeps_its_side(above):
    e, order, delta = Fraction(1, 2), Fraction(2), Fraction(1, 10**4)
    with working_precision(128):
        fine = Losses.composed(e, 7, order, above=above)
        found = [law.epsilon(delta) for law in (fine, fine.coarser(), fine.coarser().coarser())]
        assert found == sorted(found, reverse=not above)
        assert len(set(found)) == 3
        assert found[1] == pytest.approx(float(found[0]), rel=1e-3)
        # the probabilities under both inputs: those of the likely one stay, above both stay
        for law in (fine, fine.coarser()):
            places = range(law.lowest, law.lowest + law.weights.length())
            likely, unlikely = (
                sum(
                    weight * law.scale * (-ball((order + more) * law.loss(place))).exp()
                    for weight, place in zip(law.weights, places, strict=True)
                )
                for more in (0, 1)
            )
            assert float(likely.mid()) == pytest.approx(1, abs=1e-12)
            assert float(unlikely.mid()) == pytest.approx(1, abs=1e-12 if above else 1e-3)
            assert above or float(unlikely.mid()) > 1 - 1e-12


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"delta": "0"}, DeltaError),
        ({"bound": "0"}, ReadingError),
        ({"scale": "-1"}, ReadingError),
        ({"scale": "1e-7"}, ReadingError),
    ],
)
def test_bad_parameters_are_refused(changed, error):
    with pytest.raises(error):
        sums(**changed)
