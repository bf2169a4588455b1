"""Independent audits of mechanisms of known loss, by the function behind every other audit.

A bound above the truth is an error; errors are counted by kind of bound, mechanism and size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import delayed
from scipy.stats import binom

from audit.auditor.distinguish import SMALLEST_DRAWS, Terms, estimate
from audit.auditor.events import QUICK
from audit.auditor.selection import Phases
from audit.bounds import (
    METHODS,
    METHODS_AT_ZERO,
    StoppingRule,
    epsilon_lower_bound,
    refutes,
    upper_bound_on_probability,
)
from audit.validity.given import (
    ARRAYS,
    BANDS,
    CANARY_RUNS,
    GAUSSIAN_CANARIES,
    arrays_once,
    bands_once,
    canaries_once,
    mu_once,
)
from audit.validity.known import (
    AMONG_CODES,
    BESIDE,
    CONTROL,
    IN_CALLS,
    IN_CELLS,
    IN_DIRECTIONS,
    IN_PLACES,
    IN_SUMS,
    IN_UNITS,
    KNOWN,
    KNOWN_ANYTIME,
    NOT_FINITE,
    PER_CALL,
    SCORED,
    SIGNIFICANCE,
    STAGED,
    TIED,
    Known,
    LookedAt,
    point_estimate,
)
from reference.common.workers import parallel

CONFIDENCE = 0.99
"""Confidence of the statement on all rows together."""

AUDITS, SIZES = 2_000, (1_000, 4_000, 16_000)
"""Audits of each mechanism at each size, and draws of an audit (all phases, both inputs)."""

LOOKS = 10
"""Fewest looks of an anytime audit."""

GAP = 1e-3
"""Gap at which an anytime audit would stop: hardly ever reached, so that nearly all looks are taken."""


@dataclass(frozen=True)
class BoundErrors:
    """Errors of one kind of bound, on one mechanism, at one size.

    Parameters
    ----------
    mechanism : str
    true_epsilon, delta : float
    draws : int
        Of an audit, all phases, both inputs; for an anytime audit, at most.
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
        """Probability of this many errors or more if each audit errs with exactly the significance."""
        return float(binom.sf(self.errors - 1, self.audits, SIGNIFICANCE))

    def upper_bound(self, rows: int) -> float:
        """Return the Clopper-Pearson upper bound on the error probability, valid for `rows` rows together."""
        return upper_bound_on_probability(self.errors, self.audits, (1 - CONFIDENCE) / rows)


def audit_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return which bounds of one audit are above the truth, by the name of the bound.

    `auto` is the bound of the audit; `joint`, `clopper_pearson` and `conditional` are those of the reported event
    with that method named: the method changes neither draws nor events.
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
        # of the event reported, at its share
        bound = epsilon_lower_bound(found.counts, known.delta, found.ideal.share * SIGNIFICANCE, method)
        errors[method] = bound > known.true_epsilon
    errors[CONTROL] = point_estimate(found.counts, known.delta) > known.true_epsilon
    if known.curve is not None and found.curve is not None:
        errors["curve"] = any(
            point.epsilon_lower_bound > known.curve(point.delta) * (1 + 1e-12) for point in found.curve.points
        )
    return errors


def anytime_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound of an audit with looks in between is above the truth.

    The claim is the truth, so the audit stops at its first error: the worst possible rule.
    """
    # two chunks make a wave, with a look at each
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
        CONTROL: point_estimate(found.counts, 0.0) > known.true_epsilon,
    }


def stages_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether an audit in stages, which stops at its first error, refutes the truth at any of them."""
    found = estimate(
        known.subject,
        Terms(
            draws=draws,
            significance=SIGNIFICANCE,
            families=("coordinates",),
            claimed_epsilon=known.true_epsilon,
            until=StoppingRule(GAP),
        ),
        np.random.default_rng(seed),
    )
    return {
        "stages": refutes(found.epsilon_lower_bound, known.true_epsilon, found.method),
        CONTROL: point_estimate(found.counts, 0.0) > known.true_epsilon,
    }


def cells_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound from sets of whole rows is above the truth."""
    return _once(known, draws, seed, "row sets", ("categories",))


def beside_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound of an audit that certifies two events is above the truth."""
    return _once(known, draws, seed, "two events", ("coordinates",))


def nan_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound from outputs that are not finite is above the truth."""
    return _once(known, draws, seed, "not finite", QUICK)


def directions_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound from the distance of a weighted sum is above the truth."""
    return _once(known, draws, seed, "directions", ("coordinates", "directions"))


def units_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound from residues of multiples of a unit is above the truth."""
    return _once(known, draws, seed, "residues", ("coordinates", "categories"))


def ties_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound from coordinates that are equal is above the truth."""
    return _once(known, draws, seed, "ties", ("coordinates", "rare"))


def codes_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound from values that come again on one input alone is above the truth."""
    return _once(known, draws, seed, "codes", ("coordinates", "categories"))


def places_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound from residues of most numbers, or from places, is above the truth."""
    return _once(known, draws, seed, "places", ("coordinates", "categories"))


def ratio_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound from the subject's own likelihood ratio is above the truth."""
    return _once(known, draws, seed, "own ratio", ("likelihood_ratio",))


def sums_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound from values that a sum of two coordinates has often is above the truth."""
    return _once(known, draws, seed, "sums", ("coordinates", "directions"))


def _once(
    known: Known, draws: int, seed: tuple[int, ...], name: str, families: tuple[str, ...]
) -> dict[str, bool]:
    """Return whether the bound of an audit by some families is above the truth, under a name."""
    terms = Terms(draws=draws, significance=SIGNIFICANCE, families=families)
    found = estimate(known.subject, terms, np.random.default_rng(seed))
    return {
        name: found.epsilon_lower_bound > known.true_epsilon,
        CONTROL: point_estimate(found.counts, 0.0) > known.true_epsilon,
    }


Task = tuple[Callable[[Known, int, tuple[int, ...]], dict[str, bool]], Known, int]
"""A maker of one audit, with its mechanism and number of draws."""

AT_ONE_SIZE = (
    (calls_once, IN_CALLS),
    (mu_once, GAUSSIAN_CANARIES),
    (bands_once, BANDS),
    (canaries_once, CANARY_RUNS),
    (stages_once, STAGED),
    (cells_once, IN_CELLS),
    (arrays_once, ARRAYS),
    (beside_once, BESIDE),
    (nan_once, NOT_FINITE),
    (directions_once, IN_DIRECTIONS),
    (units_once, IN_UNITS),
    (ties_once, TIED),
    (codes_once, AMONG_CODES),
    (places_once, IN_PLACES),
    (ratio_once, SCORED),
    (sums_once, IN_SUMS),
)
"""Kinds of one size: the fewest draws that make enough calls, and several stages."""

EVERY_KIND = ("audit", "anytime", *(once.__name__.removesuffix("_once") for once, _ in AT_ONE_SIZE))
"""The kinds, by their names in a run that renews some of them."""


def kind_of(task: Task) -> str:
    """Return the kind of a task."""
    return task[0].__name__.removesuffix("_once")


def tasks(sizes: Sequence[int], only: Sequence[str] = EVERY_KIND) -> list[Task]:
    """Return what is measured, in order."""
    kinds = [(audit_once, known) for known in KNOWN] + [(anytime_once, known) for known in KNOWN_ANYTIME]
    small = [(once, known) for once, some in AT_ONE_SIZE for known in some]
    found: list[Task] = []
    for draws in sizes:
        # more cost more time, and give a bound more slack
        added = small if draws == PER_CALL * SMALLEST_DRAWS else []
        found += [(once, known, draws) for once, known in kinds + added]
    return [task for task in found if kind_of(task) in only]


def measure(task: Task, audits: int, seed: int, workers: int) -> list[BoundErrors]:
    """Return a row per kind of bound, from independent audits."""
    once, known, draws = task
    # every mechanism, size and kind of audit has its own streams
    place = next(index for index, other in enumerate(tasks([draws])) if other == task)
    calls = (delayed(once)(known, draws, (seed, place, draws, index)) for index in range(audits))
    errors = parallel(workers, batch_size=20)(calls)
    return [
        BoundErrors(
            known.name, known.true_epsilon, known.delta, draws, bound, audits, sum(one[bound] for one in errors)
        )
        for bound in errors[0]
    ]


def run(audits: int, todo: Sequence[Task], seed: int, workers: int, done: int = 0) -> Iterator[list[BoundErrors]]:
    """Yield the rows of each task after the first `done`."""
    for task in todo[done:]:
        yield measure(task, audits, seed, workers)
