"""``python -m tests.benchmarks.anytime``: what it costs to look as often as one likes.

Pairs of event probabilities; the counts are drawn from them, the same for every bound.  First the bounds after a
number of draws, then the draws that refute a claim, looked at whenever there are 5 % more of them.  Medians.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq

from audit.bounds import ANYTIME_METHODS, METHODS_AT_ZERO, AnytimeMethod, Counts, epsilon_lower_bound, log_e_value
from audit.bounds.anytime import LARGEST_LEVEL

SIGNIFICANCE = 0.05

CLAIM, FIRST, GROWTH, MOST = 1.0, 50, 1.05, 2e7
"""The claim to refute, draws per input at the first look, their growth between looks, and when to give up."""

PAIRS = {
    "Laplace at its median": (0.5, 0.5 / math.e),
    "Laplace, half the noise": (0.5, 0.5 / math.e**2),
    "common": (0.75, 0.25),
    "common, small loss": (0.55, 0.45),
    "common, nearly certain": (0.9, 0.3),
    "rather rare": (0.02 * math.e, 0.02),
    "rare on one input": (0.5, 0.01),
    "rare": (0.05, 1e-3),
    "very rare": (1e-3, 1e-6),
    "leak": (1e-4, 0.0),
}


def anytime_bound(counts: Counts, method: AnytimeMethod) -> float:
    """Return the highest level that one look at these counts passes, whatever the step between levels."""
    found = (counts.likely, counts.likely_draws, counts.unlikely, counts.unlikely_draws)

    def excess(epsilon: float) -> float:
        return log_e_value(*found, epsilon, 0.0, method) + math.log(SIGNIFICANCE)

    return float(brentq(excess, 0.0, LARGEST_LEVEL, xtol=1e-6)) if excess(0.0) > 0 else 0.0


def bounds(draws: int, seeds: int) -> None:
    """Print the median bound of each pair, by the bounds for one look and by the anytime ones."""
    methods = (*METHODS_AT_ZERO, *ANYTIME_METHODS)
    print(f"{draws:,} draws per input\n{'event':<24}{'true':>7}" + "".join(f"{name:>17}" for name in methods))
    for name, (likely, unlikely) in PAIRS.items():
        found = []
        for seed in range(seeds):
            random = np.random.default_rng(seed)
            k, m = (int(random.binomial(draws, share)) for share in (likely, unlikely))
            counts = Counts(k, draws, m, draws)
            found.append(
                [epsilon_lower_bound(counts, 0.0, SIGNIFICANCE, method) for method in METHODS_AT_ZERO]
                + [anytime_bound(counts, method) for method in ANYTIME_METHODS]
            )
        true_epsilon = math.log(likely / unlikely) if unlikely else math.inf
        medians = "".join(f"{median:>17.4f}" for median in np.median(found, axis=0))
        print(f"{name:<24}{true_epsilon:>7.3f}{medians}", flush=True)


def looks(likely: float, unlikely: float, seed: int) -> Iterator[tuple[int, int, int]]:
    """Yield draws per input and both counts, at growing numbers of draws."""
    random, draws, k, m = np.random.default_rng(seed), 0, 0, 0
    while draws < MOST:
        more = max(FIRST, int(draws * (GROWTH - 1)))
        draws, k, m = draws + more, k + random.binomial(more, likely), m + random.binomial(more, unlikely)
        yield draws, int(k), int(m)


def draws_to_refute(likely: float, unlikely: float, seed: int, method: AnytimeMethod, claim: float) -> float:
    """Return the draws per input at which the e-value of the claim reaches its limit."""
    for draws, k, m in looks(likely, unlikely, seed):
        # no more than expected never refutes, and saves the time
        if k > math.exp(claim) * m:
            found = log_e_value(k, draws, m, draws, claim, 0.0, method)
            if found >= -math.log(SIGNIFICANCE):
                return draws
    return math.inf


def claim_on(likely: float, unlikely: float) -> float:
    """Return the claim to refute: 1, or half the true loss where that is not above 1."""
    true_epsilon = math.log(likely / unlikely) if unlikely else math.inf
    return CLAIM if true_epsilon > CLAIM + 1e-9 else true_epsilon / 2


def stopping(seeds: int) -> None:
    """Print the median draws that refute a claim."""
    print("\ndraws per input until the claim is refuted")
    print(f"{'event':<24}{'claim':>7}" + "".join(f"{name:>17}" for name in ANYTIME_METHODS))
    for name, pair in PAIRS.items():
        claim = claim_on(*pair)
        medians = [
            np.median([draws_to_refute(*pair, seed, method, claim) for seed in range(seeds)])
            for method in ANYTIME_METHODS
        ]
        print(f"{name:<24}{claim:>7.3f}" + "".join(f"{median:>17,.0f}" for median in medians), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--draws", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    options = parser.parse_args()
    for draws in options.draws:
        bounds(draws, options.seeds)
    stopping(options.seeds)


if __name__ == "__main__":
    main()
