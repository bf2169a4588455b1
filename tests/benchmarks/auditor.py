"""``python -m tests.benchmarks.auditor``: how tight the auditor's bounds are, and how fast it gets there.

The table: 95 % lower bounds, median over seeds, draws of all phases and both inputs; the auditor gets the sampler
and the two inputs.  Speed is always a ratio to a baseline that is timed in the same round.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from audit.auditor.distinguish import Estimate, Terms, estimate
from audit.auditor.subject import Subject
from audit.subjects.catalogue import CATALOGUE, ProductLaplace, ScoredLaplace


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


def audit(subject: Subject, draws: int, seed: int, **choices: object) -> Estimate:
    delta = float(getattr(subject, "claimed_delta", 0))
    rng = np.random.default_rng(seed)
    return estimate(subject, Terms(delta=delta, draws=draws, significance=0.05, **choices), rng)


def table(seeds: int, names: list[str]) -> None:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", help="of the table (all)")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=("table", "speed"))
    options = parser.parse_args()
    if options.only != "speed":
        table(options.seeds, options.tasks)
    if options.only != "table":
        speed(options.rounds)


if __name__ == "__main__":
    main()
