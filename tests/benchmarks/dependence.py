"""``python -m tests.benchmarks.dependence``: how often outputs that share noise are noticed, and false alarms.

Each row: how often of so many subjects an audit refuses to certify, by how many outputs share a noise.  Shared by
1 they are independent: every refusal is a false alarm.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from audit.auditor.distinguish import Terms, estimate
from audit.auditor.subject import SubjectError
from reference.common.arrays import FloatArray

Law = Callable[[float, int, np.random.Generator], FloatArray]

P = 1 - math.exp(-1)

LAWS: dict[str, Law] = {
    "Laplace": lambda data, count, rng: data + rng.laplace(size=count),
    "Gaussian": lambda data, count, rng: data + rng.normal(size=count),
    "geometric": lambda data, count, rng: data + rng.geometric(P, count) - rng.geometric(P, count),
    "coin": lambda data, count, rng: np.abs(data - (rng.random(count) < 0.25)),
    "rare": lambda data, count, rng: 1.0 * (rng.random(count) < 0.02 * math.exp(data)),
}

SHARED = (1, 2, 4, 8, 10**9)
"""Outputs of a call that share a noise; all of them at last."""


@dataclass(frozen=True)
class Sharing:
    """0 against 1, with noise for several outputs each, next to each other or anywhere in the call."""

    law: Law
    outputs: int
    apart: bool

    def inputs(self) -> tuple[float, float]:
        return 0.0, 1.0

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        drawn = self.law(data, -(-count // self.outputs), rng)
        shared = np.resize(drawn, count) if self.apart else np.repeat(drawn, min(self.outputs, count))[:count]
        return np.asarray(shared.reshape(-1, 1), dtype=np.float64)


@dataclass
class Kept:
    """Noise that is drawn at the first call and kept for all."""

    law: Law
    noise: FloatArray | None = None

    def inputs(self) -> tuple[float, float]:
        return 0.0, 1.0

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        if self.noise is None:
            self.noise = self.law(0.0, 1, rng)
        return np.full((count, 1), data + self.noise[0])


def noticed(subject: object, draws: int, seed: int) -> bool:
    """Return whether an audit refuses the subject, or says in a note that noise may have been kept."""
    terms = Terms(draws=draws, families=("coordinates",))
    try:
        found = estimate(subject, terms, np.random.default_rng(seed))  # type: ignore[arg-type]
    except SubjectError:
        return True
    return any("sticky" in note for note in found.notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subjects", type=int, default=30)
    parser.add_argument("--draws", type=int, default=100_000)
    options = parser.parse_args()
    print(f"{options.draws:,} draws, noticed of {options.subjects}\n{'noise':<24}" + "   1   2   4   8 all")
    seeds = range(options.subjects)
    for name, law in LAWS.items():
        for apart in (False, True):
            found = [sum(noticed(Sharing(law, k, apart), options.draws, seed) for seed in seeds) for k in SHARED]
            print(f"{name + (', apart' if apart else ''):<24}" + "".join(f"{one:4d}" for one in found), flush=True)
        kept = sum(noticed(Kept(law), options.draws, seed) for seed in seeds)
        print(f"{name + ', drawn once and kept':<32}{kept:4d}", flush=True)


if __name__ == "__main__":
    main()
