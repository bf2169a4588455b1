"""The mechanisms, with the facts that the commands and the audit need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reference import accounting
from reference.accounting.release import Release
from reference.budgets import Budget, SplitBudget, parse_delta, parse_epsilon
from reference.common.errors import ReadingError
from reference.datasets.record_blocks import RecordBlocks, in_memory, moments_of
from reference.domain import Domain
from reference.mechanisms import (
    FAIR,
    PLAIN,
    adfc,
    adfc_noise,
    functional,
    functional_noise,
    lr,
    no_privacy,
    pdfc,
    pdfc_noise,
    pflr,
    pflr_noise,
    relaxed_functional,
    relaxed_functional_noise,
)
from reference.noise import Noise, RandomSource, drowned, with_sampler
from reference.noise.hardened import require_on_grid
from reference.objective import layout
from reference.readings import Readings
from reference.records import Records
from reference.sensitivity import declared_of
from reference.sensitivity.families import families_of


@dataclass(frozen=True)
class MechanismSpec:
    """Public facts about one mechanism.

    Parameters
    ----------
    name : str
    summary : str
    readings : Readings
        Its defaults.
    function : callable
        The mechanism.
    noise_function : callable or None
        `<name>_noise`; None for the baselines.
    published : callable or None
        The theorem's formula; None for the baselines.
    split_budget : bool
        Whether it takes a :class:`SplitBudget` and an x_s.
    needs_delta : bool
        Whether its budget must have a positive delta.
    """

    name: str
    summary: str
    readings: Readings
    function: Callable[..., Release]
    noise_function: Callable[..., Noise] | None = None
    published: Callable[..., accounting.PrivacyStatement] | None = None
    split_budget: bool = False
    needs_delta: bool = False

    @property
    def private(self) -> bool:
        """Whether the mechanism adds noise."""
        return self.noise_function is not None

    def noise(self, domain: Domain, budget: Budget | SplitBudget | None, readings: Readings, x_s: int) -> Noise:
        """Return what the mechanism adds; `x_s` matters with a split budget only."""
        if self.noise_function is None:
            raise ReadingError("mechanism", self.name, "one that adds noise")
        if self.split_budget:
            return self.noise_function(domain, budget, readings, x_s)
        return self.noise_function(domain, budget, readings)

    def statement(
        self, domain: Domain, budget: Budget | SplitBudget, readings: Readings, x_s: int
    ) -> accounting.PrivacyStatement | None:
        """Return what a release states; None where the paper states nothing."""
        if self.published is None:
            return None
        return accounting.published_statement(
            self.published, domain, budget, readings, x_s if self.split_budget else None
        )

    def formula(
        self, domain: Domain, budget: Budget | SplitBudget, readings: Readings
    ) -> accounting.PrivacyStatement:
        """Return the theorem's formula, whatever the sensitivity: what a user of the mechanism claims."""
        if self.published is None:
            raise ReadingError("mechanism", self.name, "one that adds noise")
        return self.published(budget, domain.dimension, readings.adjacency)

    def drowned(
        self, domain: Domain, budget: Budget | SplitBudget | None, readings: Readings, n: int
    ) -> str | None:
        """Return a warning if noise drowns the signal of any n records, by public numbers alone."""
        noise = self.noise(domain, budget, readings, domain.selectable[0])
        return drowned(noise, layout(domain, readings), domain.norm, readings.adjacency, n)

    def promise(
        self, domain: Domain, budget: Budget | SplitBudget, readings: Readings, x_s: str | int | None = None
    ) -> accounting.Privacy:
        """Return the privacy of a release before it is made, from public things only.

        With `x_s` drawn at random, `published` is what every choice would state, else None, and the exact privacy
        is the least private one of any choice.

        Raises
        ------
        reference.common.errors.GridError
            When hardened noise has no such scale.
        """
        choices = domain.selectable if x_s is None else (domain.coordinate(x_s),)
        stated = {self.statement(domain, budget, readings, s) for s in choices}
        published = stated.pop() if len(stated) == 1 else None
        counted = choices if self.split_budget else choices[:1]
        kinds = {families_of(domain, s).kind_of_x_s: s for s in counted}
        noises = {s: self.noise(domain, budget, readings, s) for s in kinds.values()}
        for noise in noises.values():
            if noise.steps is not None:
                require_on_grid(max(noise.scale_s, noise.scale_n), noise.steps)
        stated_of = [
            accounting.privacy_of(
                declared_of(domain, readings, s if self.split_budget else None), noise, published, budget.delta
            )
            for s, noise in noises.items()
        ]
        return accounting.Privacy(published, *max(stated_of, key=lambda both: both[0].epsilon.upper))

    def run(
        self,
        records: Records | RecordBlocks,
        budget: Budget | SplitBudget | None,
        readings: Readings,
        *,
        x_s: str | int | None = None,
        rng: RandomSource = None,
    ) -> Release:
        """Run the mechanism on checked records; `budget` is None for the baselines."""
        if self.function is lr:
            return lr(in_memory(records), readings)
        if not self.private:
            return self.function(moments_of(records), readings)
        readings = with_sampler(readings, rng)
        moments = moments_of(records, exact=readings.noise == "hardened")
        if self.split_budget:
            return self.function(moments, budget, readings, x_s=x_s, rng=rng)
        return self.function(moments, budget, readings, rng=rng)


MECHANISMS: dict[str, MechanismSpec] = {
    spec.name: spec
    for spec in (
        MechanismSpec("lr", "logistic regression", PLAIN, lr),
        MechanismSpec("no_privacy", "exact coefficients", PLAIN, no_privacy),
        MechanismSpec(
            "functional",
            "Laplace noise, one scale",
            PLAIN,
            functional,
            functional_noise,
            accounting.published_functional,
        ),
        MechanismSpec(
            "relaxed_functional",
            "Algorithm 2: Gaussian noise, one scale",
            PLAIN,
            relaxed_functional,
            relaxed_functional_noise,
            accounting.published_relaxed_functional,
            needs_delta=True,
        ),
        MechanismSpec(
            "pdfc",
            "Algorithm 1: Laplace noise, two scales",
            FAIR,
            pdfc,
            pdfc_noise,
            accounting.published_pdfc,
            split_budget=True,
        ),
        MechanismSpec(
            "adfc",
            "Algorithm 3: Gaussian noise, two scales",
            FAIR,
            adfc,
            adfc_noise,
            accounting.published_adfc,
            split_budget=True,
            needs_delta=True,
        ),
        MechanismSpec(
            "pflr",
            "PFLR*: Laplace noise, one scale, the fairness term as its mean",
            FAIR,
            pflr,
            pflr_noise,
            accounting.published_pflr,
        ),
    )
}


PAPER_DELTA = "1e-3"


@dataclass(frozen=True, kw_only=True)
class BudgetParts:
    """A privacy budget as the user states it: one epsilon and delta, or their parts; None where not given.

    Parameters
    ----------
    epsilon, epsilon_ratio, epsilon_s, epsilon_n, delta, delta_s, delta_n : str or None
        Decimals or "p/q".
    """

    epsilon: str | None = None
    epsilon_ratio: str | None = None
    epsilon_s: str | None = None
    epsilon_n: str | None = None
    delta: str | None = None
    delta_s: str | None = None
    delta_n: str | None = None


def budget_from(given: BudgetParts, spec: MechanismSpec, dimension: int) -> Budget | SplitBudget | None:
    """Return the budget given by its parts; None for a mechanism without noise.

    Raises
    ------
    reference.common.errors.InputError
        On contradictory or missing parts.
    """
    _check_all_parts(given)
    if not spec.private:
        return None
    delta = (given.delta or PAPER_DELTA) if spec.needs_delta else "0"
    if spec.split_budget:
        budget = _epsilon_parts(given, dimension, delta)
        return _with_delta_parts(given, budget) if spec.needs_delta else budget
    # an epsilon_ratio divides what other mechanisms spend on the two parts of the same total
    for name in ("epsilon_s", "epsilon_n", "delta_s", "delta_n"):
        if getattr(given, name) is not None:
            raise ReadingError(name, getattr(given, name), f"left out: {spec.name} has one epsilon and delta")
    return Budget(given.epsilon or "1", delta)


def _epsilon_parts(given: BudgetParts, dimension: int, delta: str) -> SplitBudget:
    parts = (given.epsilon_s, given.epsilon_n)
    if given.epsilon_ratio is not None:
        if parts != (None, None):
            raise ReadingError("epsilon_ratio", given.epsilon_ratio, "left out when the parts are given")
        return SplitBudget.from_ratio(given.epsilon or "1", given.epsilon_ratio, dimension, delta)
    if parts == (None, None):
        return SplitBudget.equal(given.epsilon or "1", delta)
    halves = SplitBudget.equal(1, delta)
    return SplitBudget(*_both(given, "epsilon"), halves.delta_s, halves.delta_n, delta)


def _with_delta_parts(given: BudgetParts, budget: SplitBudget) -> SplitBudget:
    if (given.delta_s, given.delta_n) == (None, None):
        return budget
    return SplitBudget(budget.epsilon_s, budget.epsilon_n, *_both(given, "delta"))


def _both(given: BudgetParts, name: str) -> tuple[str, str]:
    """Return both parts; raise unless both are given and the total is not."""
    flag = f"--{name}"
    parts: dict[str, str | None] = {part: getattr(given, part) for part in (f"{name}_s", f"{name}_n")}
    for part, value in parts.items():
        if value is None:
            raise ReadingError(
                part, "nothing", f"given where the other part is: use {flag}-s and {flag}-n together"
            )
    if getattr(given, name) is not None:
        raise ReadingError(name, getattr(given, name), f"left out where {flag}-s and {flag}-n are given")
    first, second = parts.values()
    return str(first), str(second)


def _check_all_parts(given: BudgetParts) -> None:
    """Check every part that is given, even one that this mechanism does not use."""
    for name in ("epsilon", "epsilon_ratio", "epsilon_s", "epsilon_n"):
        if getattr(given, name) is not None:
            parse_epsilon(name, getattr(given, name))
    for name in ("delta", "delta_s", "delta_n"):
        if getattr(given, name) is not None:
            parse_delta(name, getattr(given, name))
