"""Noise on x_s against the same noise everywhere: the settings compared, and single fits of both.

The paper sets epsilon_s below epsilon_n, so that monomials with w_s get more noise, and says that this "helps to
reduce the correlation between attributes x_s and z" and so the discrimination.  It prints no ratio.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reference.budgets import SplitBudget
from reference.common.arrays import FloatArray
from reference.common.errors import ReadingError
from reference.domain import Domain
from reference.experiments.splits import PreparedSplit, SplitSpec
from reference.experiments.variants import Variant
from reference.fairness import Metrics, Tally
from reference.minimiser import minimise
from reference.noise import Noise, draw, generator, perturb
from reference.objective import objective
from reference.readings import Readings
from reference.records import Records
from reference.registry import MECHANISMS

RATIO = "1/10"
"""The default epsilon_s / epsilon_n."""

EVEN, EVEN_NOISE, CALIBRATED, ADDED = "even", "even noise", "calibrated", "added"

COMPARISONS = {
    "same_epsilon": (CALIBRATED, EVEN),
    "same_noise": (CALIBRATED, EVEN_NOISE),
    "added": (ADDED, EVEN),
}
"""Each a pair (more noise on x_s, the same everywhere).

`same_epsilon`: the published epsilon is the same, so the calibrated one has more noise in total.  `same_noise`:
the sum of the variances over all coefficients is the same.  `added`: nothing changes but the noise on x_s, so
the published epsilon is smaller.
"""

Arm = tuple[str, int | None]
"""A way to spread noise, and the coordinate x_s if it has one."""


@dataclass(frozen=True)
class NoiseSetting:
    """The settings that a comparison holds fixed.

    Parameters
    ----------
    variant : Variant
        Encoding and readings; its ratio is that of the calibrated noise.
    mechanism : {'pdfc', 'adfc'}
    epsilon : str
        Published total of `even` and of `calibrated`.
    delta : str
        The total, for 'adfc'.

    Raises
    ------
    reference.common.errors.ReadingError
        For a mechanism without an x_s, or a ratio that does not give x_s more noise.
    """

    variant: Variant
    mechanism: str
    epsilon: str
    delta: str = "1e-3"

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS or not MECHANISMS[self.mechanism].split_budget:
            raise ReadingError("mechanism", self.mechanism, "'pdfc' or 'adfc'")

    @property
    def readings(self) -> Readings:
        """Readings of the mechanism."""
        return self.variant.readings_of(fair=True)

    def arms(self, domain: Domain, choices: Sequence[int] | None = None) -> dict[Arm, Noise]:
        """Return the noise of every arm, for each choice of x_s (all coordinates but the group's)."""
        facts, readings, d = MECHANISMS[self.mechanism], self.readings, domain.dimension
        delta = self.delta if facts.needs_delta else 0
        chosen = domain.selectable if choices is None else choices
        even = SplitBudget.from_ratio(self.epsilon, 1, d, delta)
        calibrated = SplitBudget.from_ratio(self.epsilon, self.variant.epsilon_ratio, d, delta)
        factor = calibrated.epsilon_s / calibrated.epsilon_n
        added = SplitBudget(factor * even.epsilon_s, even.epsilon_n, even.delta_s, even.delta_n)
        noises: dict[Arm, Noise] = {(EVEN, None): facts.noise(domain, even, readings, chosen[0])}
        for s in chosen:
            noises[CALIBRATED, s] = facts.noise(domain, calibrated, readings, s)
            noises[ADDED, s] = facts.noise(domain, added, readings, s)
        # every coordinate is in equally many coefficients, so this does not depend on x_s
        noises[EVEN_NOISE, None] = evenly_spread(noises[CALIBRATED, chosen[0]])
        return noises


def evenly_spread(noise: Noise) -> Noise:
    """Return noise of one scale whose variances have the same sum."""
    scale = float(np.sqrt(np.mean(noise.scales**2)))
    return Noise.uniform(noise.kind, scale, noise.in_s.size)


def splits_of(records: Records, on: Sequence[SplitSpec]) -> Iterator[PreparedSplit]:
    """Yield the splits of given records, one at a time."""
    for spec in on:
        train, test = spec.rows(len(records))
        yield PreparedSplit(records.take(train), records.take(test))


def unit_noise(setting: NoiseSetting, on: SplitSpec, noise: Noise, purpose: str = "") -> FloatArray:
    """Return unit variates that depend only on split, mechanism and purpose: the same for every arm."""
    random, _ = generator(on.seed, f"unit noise of {setting.mechanism}, split {on.split} of {on.data} {purpose}")
    unit: FloatArray = draw(noise, random)[0]
    return unit


def trained(
    setting: NoiseSetting, split: PreparedSplit, arms: Mapping[Arm, Noise], unit: FloatArray
) -> dict[Arm, tuple[float, ...] | None]:
    """Return w of every arm from the same unit variates; None without a minimum."""
    exact = objective(split.moments, setting.readings)
    return {arm: minimise(perturb(exact, noise, unit), setting.readings).w for arm, noise in arms.items()}


def measured(split: PreparedSplit, w: tuple[float, ...] | None) -> Metrics | None:
    """Return the metrics on the held-out records; None without w."""
    return None if w is None else Tally.of(w, split.test).metrics()


def paired_values(
    first: Sequence[Metrics | None], second: Sequence[Metrics | None], name: str = "risk_difference"
) -> FloatArray:
    """Return the differences of one metric, where both have it."""
    values = [
        (getattr(one, name), getattr(other, name))
        for one, other in zip(first, second, strict=True)
        if one is not None and other is not None
    ]
    return np.array([one - other for one, other in values if one is not None and other is not None])
