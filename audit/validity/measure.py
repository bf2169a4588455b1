"""Independent audits of mechanisms whose loss is known, through the function that makes every other audit.

A bound above the truth is an error; they are counted per kind of bound, mechanism and size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed
from scipy.stats import binom

from audit.auditor.distinguish import SMALLEST_DRAWS, Terms, estimate
from audit.auditor.events import QUICK
from audit.auditor.selection import Phases
from audit.auditor.subject import Subject
from audit.bounds import (
    METHODS,
    METHODS_AT_ZERO,
    Counts,
    StoppingRule,
    epsilon_lower_bound,
    refutes,
    upper_bound_on_probability,
)
from audit.subjects.catalogue.gaussian import Gaussian
from audit.subjects.catalogue.laplace import Laplace
from reference.common.arrays import FloatArray
from reference.common.workers import parallel

SIGNIFICANCE = 0.05
"""Significance of every audit."""

CONFIDENCE = 0.99
"""Confidence of the statement on all rows together."""

AUDITS, SIZES = 2_000, (1_000, 4_000, 16_000)
"""Audits of each mechanism at each size, and draws of an audit (all phases, both inputs)."""

LOOKS = 10
"""Looks of an anytime audit at least."""

GAP = 1e-3
"""Gap at which an anytime audit would stop: hardly ever reached, so nearly all looks are taken."""


@dataclass(frozen=True)
class NoLoss(Laplace):
    """Laplace noise on two equal inputs: epsilon is 0."""

    @property
    def true_epsilon(self) -> float:
        """Nothing is lost."""
        return 0.0

    @property
    def scale(self) -> float:
        """Laplace scale."""
        return 1.0

    def inputs(self) -> tuple[float, float]:
        """Return two equal values."""
        return 0.0, 0.0


@dataclass(frozen=True)
class TwoOutcomes:
    """Answers 1 with one of two probabilities, else 0.

    Exact loss at delta: the largest log((p - delta) / q) over outcomes and directions, which an event attains.
    That makes it the hardest case: the chosen event has no slack.

    Parameters
    ----------
    left, right : float
        Probabilities of 1.
    """

    left: float
    right: float

    def true_epsilon(self, delta: float = 0.0) -> float:
        """Return the exact loss."""
        pairs = [(self.left, self.right), (1 - self.left, 1 - self.right)]
        ratios = [(p - delta) / q for one in pairs for p, q in (one, one[::-1])]
        return max([0.0, *(math.log(ratio) for ratio in ratios if ratio > 0)])

    def inputs(self) -> tuple[float, float]:
        """Return the probabilities of 1."""
        return self.left, self.right

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` answers, shape (count, 1)."""
        return (rng.random((count, 1)) < data).astype(np.float64)


@dataclass(frozen=True)
class LookedAt:
    """A subject that asks for few outputs at a time, so that an anytime audit looks often.

    Parameters
    ----------
    subject : Subject
    most_rows : int
    """

    subject: Subject
    most_rows: int

    def inputs(self) -> tuple[Any, Any]:
        """Return the subject's inputs."""
        return self.subject.inputs()

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return the subject's outputs."""
        return self.subject.sample(data, count, rng)


@dataclass(frozen=True)
class NoiseForSeveral:
    """A subject whose outputs share their noise within a call: so many next to each other are one.

    Parameters
    ----------
    subject : Subject
    outputs : int
    """

    subject: Subject
    outputs: int

    def inputs(self) -> tuple[Any, Any]:
        """Return the subject's inputs."""
        return self.subject.inputs()

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return each of the subject's outputs several times."""
        drawn = self.subject.sample(data, -(-count // self.outputs), rng)
        return np.repeat(drawn, self.outputs, axis=0)[:count]


@dataclass(frozen=True)
class Known:
    """A mechanism whose loss is known.

    Parameters
    ----------
    name : str
    subject : Subject
    true_epsilon : float
        At `delta`.
    delta : float
    curve : callable or None
        The true epsilon as a function of delta, where the curve is certified too.
    """

    name: str
    subject: Subject
    true_epsilon: float
    delta: float = 0.0
    curve: Callable[[float], float] | None = None


RESPONSE = TwoOutcomes(0.75, 0.25)
RARE = TwoOutcomes(0.02 * math.e, 0.02)
WEAK = TwoOutcomes(0.55, 0.45)
WEAK_RARE = TwoOutcomes(0.012, 0.01)

KNOWN = (
    Known("Laplace noise on equal inputs", NoLoss(), 0.0),
    Known("randomised response", RESPONSE, RESPONSE.true_epsilon()),
    Known("rare event", RARE, RARE.true_epsilon(), curve=RARE.true_epsilon),
    Known("Laplace, epsilon 1", Laplace(1.0), 1.0),
    Known("Gaussian, epsilon 1 at delta 0.01", Gaussian(1.0, "0.01"), 1.0, 0.01),
)

LOOKED_AT = (
    Known("Laplace noise on equal inputs", NoLoss(), 0.0),
    # a level for every 0.005 below the loss is tested: a small loss is quicker, and no easier
    Known("weak randomised response", WEAK, WEAK.true_epsilon()),
    Known("rare event of small loss", WEAK_RARE, WEAK_RARE.true_epsilon()),
)
"""Audited with looks in between."""

PER_CALL = 4
"""Outputs of a call, where only calls are independent."""

IN_CALLS = (
    Known("randomised response, one noise a call", NoiseForSeveral(RESPONSE, 4), RESPONSE.true_epsilon()),
    Known("rare event, two noises a call", NoiseForSeveral(RARE, 2), RARE.true_epsilon()),
)
"""Audited with calls taken whole."""

CONTROL = "point estimate (control)"
"""A bound without any margin: the check must see it fail."""


@dataclass(frozen=True)
class BoundErrors:
    """Errors of one kind of bound, on one mechanism, at one size.

    Parameters
    ----------
    mechanism : str
    true_epsilon, delta : float
    draws : int
        Of an audit, all phases, both inputs; the most that an anytime audit makes.
    bound : str
    audits, errors : int
        An error is a bound above the truth.
    """

    mechanism: str
    true_epsilon: float
    delta: float
    draws: int
    bound: str
    audits: int
    errors: int

    @property
    def share(self) -> float:
        """Share of errors."""
        return self.errors / self.audits

    @property
    def surprise(self) -> float:
        """Probability of so many errors or more if each audit erred with exactly the significance."""
        return float(binom.sf(self.errors - 1, self.audits, SIGNIFICANCE))

    def upper_bound(self, rows: int) -> float:
        """Return the Clopper-Pearson upper bound on the error probability, right for `rows` rows together."""
        return upper_bound_on_probability(self.errors, self.audits, (1 - CONFIDENCE) / rows)


def audit_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return which bounds of one audit are above the truth, by the name of the bound.

    `auto` is the bound of the audit; `joint`, `clopper_pearson` and `conditional` are what it would have said had
    that method been named: the method changes neither draws nor event.
    """
    found = estimate(
        known.subject,
        Terms(
            delta=known.delta,
            draws=draws,
            significance=SIGNIFICANCE,
            families=QUICK,
            with_curve=known.curve is not None,
        ),
        np.random.default_rng(seed),
    )
    errors = {"auto": found.epsilon_lower_bound > known.true_epsilon}
    for method in METHODS if known.delta else METHODS_AT_ZERO:
        bound = epsilon_lower_bound(found.counts, known.delta, SIGNIFICANCE, method)
        errors[method] = bound > known.true_epsilon
    errors[CONTROL] = _point_estimate(found.counts, known.delta) > known.true_epsilon
    if known.curve is not None and found.curve is not None:
        errors["curve"] = any(
            point.epsilon_lower_bound > known.curve(point.delta) * (1 + 1e-12) for point in found.curve.points
        )
    return errors


def _point_estimate(counts: Counts, delta: float) -> float:
    likely, unlikely = counts.likely / counts.likely_draws - delta, counts.unlikely / counts.unlikely_draws
    if likely <= 0:
        return -math.inf
    return math.log(likely / unlikely) if unlikely else math.inf


def anytime_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound of an audit with looks in between is above the truth.

    The claim is the truth, so the audit stops at its first error: the worst rule there is.
    """
    # two chunks make a wave, and each wave is looked at
    rows = Phases.of(draws, 1, learning=True).certify // (2 * LOOKS)
    found = estimate(
        LookedAt(known.subject, rows),
        Terms(
            delta=known.delta,
            draws=draws,
            significance=SIGNIFICANCE,
            families=QUICK,
            claimed_epsilon=known.true_epsilon,
            until=StoppingRule(GAP),
        ),
        np.random.default_rng(seed),
    )
    return {"anytime": refutes(found.epsilon_lower_bound, known.true_epsilon, found.method)}


def calls_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound of an audit that takes calls whole is above the truth."""
    found = estimate(
        known.subject,
        Terms(draws=draws, significance=SIGNIFICANCE, families=QUICK, outputs_per_call=PER_CALL),
        np.random.default_rng(seed),
    )
    return {
        "calls": found.epsilon_lower_bound > known.true_epsilon,
        CONTROL: _point_estimate(found.counts, 0.0) > known.true_epsilon,
    }


Task = tuple[Callable[[Known, int, tuple[int, ...]], dict[str, bool]], Known, int]
"""A maker of one audit, with its mechanism and number of draws."""


def tasks(sizes: Sequence[int]) -> list[Task]:
    """Return what is measured, in order."""
    kinds = [(audit_once, known) for known in KNOWN] + [(anytime_once, known) for known in LOOKED_AT]
    found: list[Task] = []
    for draws in sizes:
        # the fewest draws that make enough calls: more cost more time, and leave a bound more slack
        in_calls = [(calls_once, known) for known in IN_CALLS if draws == PER_CALL * SMALLEST_DRAWS]
        found += [(once, known, draws) for once, known in kinds + in_calls]
    return found


def measure(task: Task, audits: int, seed: int, workers: int) -> list[BoundErrors]:
    """Return a row per kind of bound, from independent audits."""
    once, known, draws = task
    # every mechanism, size and kind of audit has streams of its own
    place = next(index for index, other in enumerate(tasks([draws])) if other == task)
    calls = (delayed(once)(known, draws, (seed, place, draws, index)) for index in range(audits))
    errors = parallel(workers, batch_size=20)(calls)
    return [
        BoundErrors(
            known.name, known.true_epsilon, known.delta, draws, bound, audits, sum(one[bound] for one in errors)
        )
        for bound in errors[0]
    ]


def run(audits: int, sizes: Sequence[int], seed: int, workers: int, done: int = 0) -> Iterator[list[BoundErrors]]:
    """Yield the rows of each task but the first `done`."""
    for task in tasks(sizes)[done:]:
        yield measure(task, audits, seed, workers)
