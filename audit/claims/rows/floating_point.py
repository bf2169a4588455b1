"""Noise in floating point: outputs on one data set that no noise gives on its neighbour.

The argument, for a value v of size 2^-k and any double X: fl(v + X) is a multiple of g = 2^-k-53.  If |X| is
at least |v|/2, both terms are multiples of g, and rounding to a coarser grid keeps that.  If it is less, the
sum is above |v|/2 in size, and doubles there are multiples of g.  On a neighbour whose value is 0 the output is X
itself, with 53 bits of its own: below |v|/2 it mostly is not a multiple of g.  Such an output has probability 0
beside v, whatever the law of the noise.

This holds for any sampler.  numpy's own give even fewer numbers: :mod:`audit.exact.float_samplers` inverts them,
and enumerates a toy sampler.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from audit.auditor.events.bits import BitScore
from audit.bounds import lower_bound_on_probability, upper_bound_on_probability
from audit.claims.registry import Control, Finding, claim, seed
from audit.exact import float_samplers
from reference.budgets import Budget
from reference.common.arrays import FloatArray
from reference.domain import Domain
from reference.moments import Moments
from reference.noise import Noise, add_noise, draw
from reference.noise.hardened import HardenedSampler
from reference.objective import objective
from reference.records import Records, check_matrix
from reference.registry import MECHANISMS

Sampler: TypeAlias = Callable[[FloatArray, Noise, int], FloatArray]
"""From coefficients, noise and a number of releases to the released linear coefficients."""

DOMAIN = Domain.of_columns(["x"])
"""d = 1."""

ZERO, ONE = ([0.0], [0]), ([1.0], [1])
"""One record each, x and y: linear coefficients (1/2 - y) x of 0 and of -1/2."""

DRAWS, HARDENED_DRAWS = 10_000, 500
"""Releases per data set."""

EPSILONS = ("1", "1/100")

SIGNIFICANCE = 1e-6
"""For all shares together."""

TOY_SCALE = 1.25
"""That of `functional` at epsilon 1."""

GRID = -54
"""log2 of g for v = 1/2."""


MECHANISMS_DECIDED = {"functional": 0.0, "relaxed_functional": 1e-3}
"""Laplace and Gaussian noise, with the claimed delta."""


def records(side: tuple[list[float], list[int]]) -> Records:
    """Return the data set of one record."""
    return check_matrix(DOMAIN, np.array([side[0]]), np.array(side[1]), np.array([0]))


def naive(values: FloatArray, noise: Noise, count: int) -> FloatArray:
    """Release by numpy's sampler."""
    released = add_noise(values.astype(np.float64), noise, draw(noise, np.random.default_rng(seed()), count))
    return np.asarray(released[:, :1])


def hardened(values: FloatArray, noise: Noise, count: int) -> FloatArray:
    """Release by the hardened sampler, which takes the operating system's entropy."""
    sampler = HardenedSampler()
    return np.array([[float(sampler.add(values, noise)[0])] for _ in range(count)])


def impossible(name: str, sampler: Sampler, count: int, *, source: str = "numpy") -> tuple[int, int]:
    """Count the releases on each data set that the one with coefficient -1/2 cannot give.

    Parameters
    ----------
    name : str
        A mechanism; epsilon 1, and delta 1e-3 if it takes one.
    sampler : callable
    count : int
        Releases per data set.
    source : {'numpy', 'hardened'}

    Returns
    -------
    (int, int)
        On the data set with coefficient 0, and on that with -1/2.
    """
    spec = MECHANISMS[name]
    readings = spec.readings.with_(noise=source)
    noise = spec.noise(DOMAIN, Budget("1", "1e-3" if spec.needs_delta else "0"), readings, 0)
    found = []
    for side in (ZERO, ONE):
        moments = Moments.of(records(side), exact=source == "hardened")
        outputs = sampler(objective(moments, readings).values, noise, count)
        found.append(int((BitScore(0, "divisor")(outputs) < GRID).sum()))
    return found[0], found[1]


def inverted(name: str, epsilon: str) -> tuple[int, int]:
    """Count the releases on each data set that no draw of numpy's noise gives beside a coefficient of -1/2.

    Parameters
    ----------
    name, epsilon : str

    Returns
    -------
    (int, int)
        On the data set with coefficient 0, and on that with -1/2 itself: 0, if the inversion is right.
    """
    spec = MECHANISMS[name]
    noise = spec.noise(DOMAIN, Budget(epsilon, "1e-3" if spec.needs_delta else "0"), spec.readings, 0)
    found = []
    for side in (ZERO, ONE):
        released = naive(objective(Moments.of(records(side)), spec.readings).values, noise, DRAWS)[:, 0]
        found.append(float_samplers.impossible(noise.kind, released, -0.5, noise.scale_n))
    return found[0], found[1]


def toy(*, on_grid: bool) -> int:
    """Count, over all draws of the toy sampler and either way, those whose release the neighbour cannot give."""
    pairs = ((0.0, -0.5), (-0.5, 0.0))
    return sum(float_samplers.toy_impossible(*pair, TOY_SCALE, on_grid=on_grid) for pair in pairs)


def flagged(name: str, sampler: Sampler, count: int, *, source: str = "numpy") -> bool:
    """Return whether some release on the first data set is impossible on the second."""
    return impossible(name, sampler, count, source=source)[0] > 0


def off_grid_in_half_precision() -> int:
    """Count, over all half-precision X, those for which fl(1/2 + X) is not a multiple of 2^-12.

    Sums of two such numbers have at most 40 bits, so doubles hold them exactly and are rounded once.
    """
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].astype(np.float64)
    with np.errstate(over="ignore"):
        rounded = (0.5 + finite).astype(np.float16).astype(np.float64)
    rounded = rounded[np.isfinite(rounded)]
    return int((rounded * 2.0**12 != np.rint(rounded * 2.0**12)).sum())


@claim(
    "A.float",
    "Laplace and Gaussian noise as drawn on a computer keep the theorems.",
    "Theorems 1 and 2, which speak of real numbers",
    readings=(
        "double precision, numpy's sampler, noise added in one rounded sum",
        "functional and relaxed_functional; d = 1, one record, replace_one; the released linear coefficient",
    ),
    symbols=(
        "reference.noise.draws.draw",
        "reference.noise.draws.add_noise",
        "audit.auditor.events.bits.BitScore",
        "audit.exact.float_samplers.can_give_by_laplace",
        "audit.exact.float_samplers.can_give_by_gaussian",
        "audit.exact.float_samplers.toy_impossible",
        "reference.noise.hardened",
    ),
    verdict="refuted",
    null=Control(
        "hardened Laplace and Gaussian releases, and every draw of a toy sampler on a public grid",
        lambda: (
            toy(on_grid=True) > 0
            or any(flagged(n, hardened, HARDENED_DRAWS, source="hardened") for n in MECHANISMS_DECIDED)
        ),
    ),
    broken=Control(
        "as many Laplace and Gaussian releases of numpy's sampler, and every draw of the toy sampler "
        "without the grid",
        lambda: toy(on_grid=False) > 0 and all(flagged(n, naive, HARDENED_DRAWS) for n in MECHANISMS_DECIDED),
    ),
    paper_step="'Lap(...)' and 'N(0, sigma^2)' added to each coefficient",
    why="The sum v + X is rounded to the grid of its larger term, so which doubles can come out depends on v.",
    repaired="Draw noise in exact arithmetic, on a public grid that every data set shares.",
    advice="Release without a seed. The statements for numpy's noise are about real numbers.",
    rerun=("python -m audit.epsilon_estimate functional --dimension 1 --object implementation",),
    drawn=True,
)
def floating_point_keeps_the_theorems() -> Finding:
    """Enumerate a toy sampler, and enclose the share of numpy's releases that are impossible on the neighbour."""
    draws = float_samplers.TOY_BITS - 1
    evidence: dict[str, Any] = {
        "half precision: X for which fl(1/2 + X) is not a multiple of 2^-12": off_grid_in_half_precision(),
        "double precision": "the same argument, with multiples of 2^-54",
        "toy sampler in half precision, every draw": {
            "draws beside each value": draws,
            "impossible on the neighbour, both ways": toy(on_grid=False),
            "the same on a public grid": toy(on_grid=True),
        },
        "numpy's variates are those that were inverted": float_samplers.reproduces_numpy(),
    }
    shares = len(MECHANISMS_DECIDED) * len(EPSILONS)
    broken = [evidence["numpy's variates are those that were inverted"]]
    for name, delta in MECHANISMS_DECIDED.items():
        for epsilon in EPSILONS:
            on_zero, on_half = inverted(name, epsilon)
            least = lower_bound_on_probability(on_zero, DRAWS, SIGNIFICANCE / (2 * shares))
            most = upper_bound_on_probability(on_zero, DRAWS, SIGNIFICANCE / (2 * shares))
            # pure: any positive share is an infinite loss; otherwise the share must exceed delta, whatever epsilon
            broken.append(least > delta and on_half == 0)
            evidence[f"{name}, epsilon {epsilon}"] = {
                "claimed delta": delta,
                "releases per data set": DRAWS,
                # rounded outwards: other mathematical libraries round some logarithms differently
                "share impossible on the neighbour": [math.floor(50 * least) / 50, math.ceil(50 * most) / 50],
                "of the neighbour's own releases": on_half,
                "significance of all shares": SIGNIFICANCE,
            }
    argued = off_grid_in_half_precision() == 0
    exhausted = toy(on_grid=False) > 0 and toy(on_grid=True) == 0
    return Finding("refuted" if all(broken) and argued and exhausted else "undecided", "none", evidence)
