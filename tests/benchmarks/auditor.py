"""``python -m tests.benchmarks.auditor``: how tight the auditor's bounds are, and how fast it gets there.

The table: 95 % lower bounds, median over seeds, draws of all phases and both inputs; the auditor gets the sampler
and the two inputs.  Speed is always a ratio to a baseline that is timed in the same round.

Power: the same for noise on several coordinates, beside what the true likelihood ratio certifies with as many
draws, and the best that a threshold of it can (at expected counts, no draw spent on choosing).  Anytime: the draws
until a claim is refuted.  Cost: the processor time of an audit in that of its drawing, and the most memory that it
holds.  Clock: two workers against one, beside what threads that only draw gain, and when an audit with a limit of
time ends.  Canaries: one run's bounds.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from audit import canary_lower_bound, canary_mu_lower_bound
from audit.auditor.distinguish import SMALLEST_DRAWS, Estimate, Terms, estimate
from audit.auditor.draws import CHUNK_VALUES, in_threads
from audit.auditor.subject import Subject
from audit.bounds import Counts, epsilon_lower_bound
from audit.bounds.anytime import StoppingRule
from audit.subjects.catalogue import CATALOGUE, Gaussian, HalfNoiseLaplace, ProductLaplace, ScoredLaplace
from reference.common.arrays import FloatArray
from tests.benchmarks.large import peak


@dataclass(frozen=True)
class Task:
    """One row of the table: a planted subject, its draws, the goal and the ceiling of one thresholded score."""

    name: str
    draws: int
    goal: float
    ceiling: float | None
    implementation: bool = False


TASKS = (
    Task("laplace", 200_000, 0.980, 0.988),
    Task("laplace_product", 2_000_000, 0.91, 0.951),
    Task("gaussian", 2_000_000, 0.95, 0.966),
    Task("laplace_half_noise", 2_000_000, 1.990, 1.994),
    Task("noisy_max_value", 2_000_000, 2.44, 2.467),
    Task("sparse_vector_5", 2_000_000, 10.0, None),
    Task("sparse_vector_4", 2_000_000, 1.64, None),
    Task("laplace_leaky", 2_000_000, 3.0, None),
    Task("laplace_float", 200_000, 5.5, None, implementation=True),
)


def audit(subject: Subject, draws: int, seed: int, *, workers: int = 1, **choices: Any) -> Estimate:
    delta = float(getattr(subject, "claimed_delta", 0))
    rng = np.random.default_rng(seed)
    return estimate(subject, Terms(delta=delta, draws=draws, significance=0.05, **choices), rng, workers=workers)


def table(seeds: int, names: list[str]) -> None:
    print("ceiling: at the counts expected of all draws; counts that were drawn lie on either side of them")
    print(
        f"{'task':<30}{'true':>7}{'draws':>11}{'median':>9}{'min':>9}{'goal':>7}{'ceiling':>9}{'above':>7}{'s/run':>7}"
    )
    for task in TASKS:
        if names and task.name not in names:
            continue
        subject = CATALOGUE[task.name]()
        start = time.perf_counter()
        bounds = []
        for seed in range(seeds):
            found = audit(subject, task.draws, seed)
            bounds.append((found.implementation if task.implementation else found.ideal).epsilon_lower_bound)
        seconds = (time.perf_counter() - start) / seeds
        above = sum(bound > subject.true_epsilon for bound in bounds)
        ceiling = "" if task.ceiling is None else f"{task.ceiling:.3f}"
        median = float(np.median(bounds))
        print(
            f"{task.name:<30}{subject.true_epsilon:>7.3f}{task.draws:>11,}{median:>9.4f}{min(bounds):>9.4f}"
            f"{task.goal:>7.2f}{ceiling:>9}{above:>7}{seconds:>7.1f}{'' if median >= task.goal else '  missed'}",
            flush=True,
        )


def ratio(work: Callable[[], object], baseline: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return the median ratio of two works timed one after the other, and the median seconds of the first."""
    pairs = []
    for _ in range(rounds):
        times = []
        for one in (work, baseline):
            start = time.perf_counter()
            one()
            times.append(time.perf_counter() - start)
        pairs.append(times)
    return float(np.median([a / b for a, b in pairs])), float(np.median([a for a, _ in pairs]))


def speed(rounds: int) -> None:
    scored = ScoredLaplace()
    draws = 20_000_000
    only = {"families": ("likelihood_ratio",)}
    drawing = lambda: [np.random.default_rng(s).laplace(size=draws // 10) for s in range(10)]  # noqa: E731
    found, seconds = ratio(lambda: audit(scored, draws, 0, **only), drawing, rounds)
    print(f"2e7 draws scored by their likelihood ratio: {found:.2f} times numpy's drawing ({seconds:.2f} s)")
    learned = {"families": ("coordinates", "additive")}
    product = ProductLaplace()
    drawing = lambda: np.random.default_rng(0).laplace(size=(2_000_000, 8))  # noqa: E731
    for name, choices in (("learned additive score", learned), ("all families", {})):
        found, seconds = ratio(lambda c=choices: audit(product, 2_000_000, 0, **c), drawing, rounds)
        print(f"2e6 draws in 8 dimensions, {name}: {seconds:.1f} s, {found:.1f} times numpy's drawing")
    one = lambda: audit(scored, 5 * draws, 0, **only)  # noqa: E731
    two = lambda: audit(scored, 5 * draws, 0, **only, workers=2)  # noqa: E731
    found, seconds = ratio(one, two, rounds)
    print(f"two cores on 1e8 draws: {found:.2f} times as fast as one ({seconds:.1f} s on one)")


@dataclass(frozen=True)
class ProductGaussian(Gaussian):
    """The Gaussian mechanism on a vector: 0 against one of l2 length 1, spread evenly."""

    dimension: int = 8

    def inputs(self) -> tuple[float, float]:
        return 0.0, 1 / math.sqrt(self.dimension)

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        return rng.normal(data, self.sigma, size=(count, self.dimension))


class ScoredProductLaplace(ProductLaplace):
    def log_likelihood_ratio(self, outputs: FloatArray) -> FloatArray:
        right = self.inputs()[1]
        return np.asarray((np.abs(outputs - right) - np.abs(outputs)).sum(axis=1) / self.scale)


class ScoredProductGaussian(ProductGaussian):
    def log_likelihood_ratio(self, outputs: FloatArray) -> FloatArray:
        right = self.inputs()[1]
        return np.asarray((1 - 2 * right * outputs.sum(axis=1)) / (2 * self.sigma**2))


def tails(subject: ProductLaplace | ProductGaussian) -> tuple[FloatArray, FloatArray]:
    """Return how likely both inputs put the log likelihood ratio at or above each of many thresholds."""
    if isinstance(subject, ProductGaussian):
        shift = 1 / subject.sigma
        places = np.linspace(-6, 6, 2001)
        return norm.sf(places), norm.sf(places + shift)
    # the ratio of one coordinate goes from a to -a while the output goes from 0 to 1 / dimension
    loss, cells = subject.epsilon / subject.dimension, 400
    between = -np.diff(np.exp(-np.linspace(0, loss, cells + 1))) / 2
    one = np.concatenate([[math.exp(-loss) / 2], between[::-1], [0.5]])
    law = one
    for _ in range(subject.dimension - 1):
        law = np.convolve(law, one)
    # the noise is symmetric: on the other input the ratio has the same law, its sign turned
    return np.cumsum(law[::-1])[::-1], np.cumsum(law)[::-1]


def ceiling(subject: ProductLaplace | ProductGaussian, draws: int) -> float:
    """Return the best bound of a threshold of the true likelihood ratio, at the counts expected of all draws."""
    each, delta = draws // 2, float(getattr(subject, "claimed_delta", 0))
    likely, unlikely = tails(subject)
    places = np.unique(np.searchsorted(-likely, -np.geomspace(0.9, 20 / each, 60)))
    return max(
        epsilon_lower_bound(
            Counts(round(each * likely[place]), each, round(each * unlikely[place]), each), delta, 0.05, method
        )
        for place in places[places < len(likely)]
        if likely[place] > unlikely[place] + delta
        for method in (("joint", "conditional") if delta == 0 else ("joint",))
    )


COORDINATES = (8, 20)
POWERED = ((ProductLaplace, ScoredProductLaplace), (ProductGaussian, ScoredProductGaussian))


CAPTION = """true ratio: what the true likelihood ratio certifies in the same run.  ceiling: the bound at the
counts expected of all draws; counts that were drawn lie on either side, so a share may be above 1."""


def power(seeds: int, draws: int) -> None:
    print(CAPTION)
    head = f"{'own':>8}{'true ratio':>12}{'share':>7}{'ceiling':>9}{'share':>7}"
    print(f"{'noise':<20}{'coordinates':>12}{'draws':>12}{head}")
    for kind, scored in POWERED:
        for dimension in COORDINATES:
            exact = {"families": ("likelihood_ratio",)}
            own = [audit(kind(dimension=dimension), draws, seed).epsilon_lower_bound for seed in range(seeds)]
            true = [
                audit(scored(dimension=dimension), draws, seed, **exact).epsilon_lower_bound
                for seed in range(seeds)
            ]
            best = ceiling(kind(dimension=dimension), draws)
            median, of_true = float(np.median(own)), float(np.median(true))
            print(
                f"{kind.__name__:<20}{dimension:>12}{draws:>12,}{median:>8.4f}{of_true:>12.4f}"
                f"{median / of_true:>7.3f}{best:>9.4f}{median / best:>7.3f}",
                flush=True,
            )


def anytime(seeds: int) -> None:
    """Print the draws after which an audit that looks as it goes refutes a claim of 1 on a loss of 2."""
    for asked in (1_000, 2_000, 10_000, 100_000):
        found = [audit(HalfNoiseLaplace(), asked, seed, until=StoppingRule(0.1)) for seed in range(seeds)]
        needed = [one.draws if one.epsilon_lower_bound > 1 else math.inf for one in found]
        print(
            f"half the noise, at most {asked:,} draws: decided after {np.median(needed):,.0f} (median)", flush=True
        )


def drawn(subject: Subject, draws: int, workers: int = 1) -> None:
    """Draw as an audit does, and keep nothing."""
    inputs = subject.inputs()
    width = subject.sample(inputs[0], 1, np.random.default_rng(0)).shape[1]
    chunks = draws // 2 * width // CHUNK_VALUES

    def chunk(place: int) -> None:
        subject.sample(inputs[place // chunks], CHUNK_VALUES // width, np.random.default_rng(place))

    deque(in_threads(chunk, 2 * chunks, workers), maxlen=0)


COSTS = {
    "Laplace, 1": CATALOGUE["laplace"],
    "Laplace, 8": ProductLaplace,
    "Gaussian, 1": partial(ProductGaussian, dimension=1),
    "Gaussian, 8": ProductGaussian,
}


def one_cost(name: str, draws: int) -> None:
    """Print the processor time of drawing and of an audit, by this process alone, and its memory."""
    subject = COSTS[name]()
    drawn(subject, draws // 20)
    # imports what audits need
    audit(subject, SMALLEST_DRAWS, 0)
    before = peak()
    times = [time.process_time()]
    for work in (lambda: drawn(subject, draws), lambda: audit(subject, draws, 0)):
        work()
        times.append(time.process_time())
    drawing, auditing = np.diff(times)
    print(
        f"{name:<14}{draws:>12,} draws: {drawing:.1f} s to draw, audited in {auditing / drawing:.1f} times that; "
        f"{peak()} MiB, {before} of them before"
    )


def cost(draws: int) -> None:
    for name in COSTS:
        words = [sys.executable, "-m", "tests.benchmarks.auditor", "--draws", str(draws), "--cost-of", name]
        print(subprocess.run(words, check=True, capture_output=True, text=True).stdout, end="", flush=True)


def clock(rounds: int, draws: int) -> None:
    """Print what two workers gain, and how limits of time are kept."""
    for name in ("Laplace, 1", "Laplace, 8"):
        subject: Any = COSTS[name]()
        (found, seconds), (drawing, _) = (
            ratio(partial(work, subject, draws, *seed), partial(work, subject, draws, *seed, workers=2), rounds)
            for work, seed in ((audit, (0,)), (drawn, ()))
        )
        print(
            f"{name}: two workers {found:.2f} times as fast as one, which takes {seconds:.1f} s; two threads that "
            f"only draw {drawing:.2f} times",
            flush=True,
        )
        for limit in (1, 3, 10):
            start = time.perf_counter()
            audit(subject, 2_000_000_000, 0, max_seconds=limit)
            print(f"{name}: limit {limit} s, ended after {time.perf_counter() - start:.2f} s", flush=True)


def canaries(seeds: int) -> None:
    """Print what one run with canaries of Gaussian noise shows, by each bound; the median over runs."""
    print(f"{'mu':>4}{'canaries':>10}{'delta':>8}{'guesses':>9}{'runs':>8}{'flips':>8}{'by mu':>8}{'true':>8}")
    for mu, many, delta, guesses in CANARIES:
        found = []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            members = rng.random(many) < 0.5
            run: dict[str, Any] = {"scores": rng.normal(mu * members), "members": members, "guesses": guesses}
            bounds = [canary_lower_bound(**run, delta=delta, bound=method) for method in ("runs", "flips")]
            found.append([*bounds, epsilon_of(canary_mu_lower_bound(**run), delta)])
        cells = "".join(f"{value:>8.3f}" for value in [*np.median(found, axis=0), epsilon_of(mu, delta)])
        print(f"{mu:>4g}{many:>10,}{delta:>8g}{guesses:>9,}{cells}", flush=True)


def epsilon_of(mu: float, delta: float) -> float:
    """Return the epsilon of Gaussian noise at delta."""

    def above(epsilon: float) -> float:
        return (
            float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)) - delta
        )

    return 0.0 if mu <= 0 or above(0) <= 0 else float(brentq(above, 0, 500))


CANARIES = [
    (mu, many, delta, guesses)
    for mu in (1.0, 2.0)
    for many, delta in ((1_000, 1e-5), (1_000, 1e-3), (10_000, 1e-4))
    for guesses in (50, 200)
]

PARTS = ("table", "speed", "power", "anytime", "cost", "clock", "canaries")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", help="of the table (all)")
    parser.add_argument("--seeds", type=int, help="of table and anytime (20), and power (5)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--draws", type=int, help="of power (2e6), cost and clock (2e7)")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--cost-of", choices=COSTS, help=argparse.SUPPRESS)
    # `make bench` gives it what the benchmarks beside it take
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cost_of:
        one_cost(options.cost_of, options.draws)
        return
    many = options.draws or 20_000_000
    works: dict[str, Callable[[], None]] = {
        "table": partial(table, options.seeds or 20, options.tasks),
        "speed": partial(speed, options.rounds),
        "power": partial(power, options.seeds or 5, options.draws or 2_000_000),
        "anytime": partial(anytime, options.seeds or 20),
        "cost": partial(cost, many),
        "clock": partial(clock, options.rounds, many),
        "canaries": partial(canaries, options.seeds or 20),
    }
    for name in [options.only] if options.only else PARTS:
        works[name]()


if __name__ == "__main__":
    main()
