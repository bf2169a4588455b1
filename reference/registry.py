"""What the command lines and the audit need to know about each mechanism."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reference import accounting
from reference.budgets import Budget, SplitBudget
from reference.domain import Domain
from reference.errors import ReadingError
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
from reference.noise import Noise, RandomSource
from reference.readings import Readings
from reference.record_blocks import RecordBlocks, in_memory, moments_of
from reference.records import Records
from reference.release import Release
from reference.sensitivity import setting_of


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
        """Whether the mechanism adds noise at all."""
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
        """Return the theorem's formula whatever the sensitivity is: what a user of the mechanism claims."""
        if self.published is None:
            raise ReadingError("mechanism", self.name, "one that adds noise")
        return self.published(budget, domain.dimension, readings.adjacency)

    def promise(
        self, domain: Domain, budget: Budget | SplitBudget, readings: Readings, x_s: str | int | None = None
    ) -> accounting.Privacy:
        """Return the privacy of a release before it is made, from public things only.

        With `x_s` drawn at random, `published` is what every choice would state, else None; the exact privacy
        is the same for every choice.
        """
        choices = domain.selectable if x_s is None else (domain.coordinate(x_s),)
        stated = {self.statement(domain, budget, readings, s) for s in choices}
        published = stated.pop() if len(stated) == 1 else None
        noise = self.noise(domain, budget, readings, choices[0])
        exact = accounting.exact_privacy(setting_of(domain, readings), noise, published, budget.delta)
        return accounting.Privacy(published, exact)

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
