"""The releases of ``fit``, counted in a release ledger before their noise is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from reference.accounting import Enclosure, ExactPrivacy, Privacy, PrivacyStatement
from reference.accounting.ledger_file import CountedRelease
from reference.accounting.release_ledger import ReleaseLedger
from reference.commands.evaluation import Evaluation, Plan
from reference.commands.options import Data
from reference.common.errors import ReadingError
from reference.datasets.record_blocks import RecordBlocks
from reference.domain import Domain
from reference.fairness.private_metrics import l1_sensitivity_of_counts
from reference.noise import ENTROPY, RandomSource, laplace_scale, with_sampler
from reference.noise.hardened import require_on_grid
from reference.readings import Readings


@dataclass
class Counter:
    """A ledger, and what each plan's splits cost.

    Parameters
    ----------
    ledger : ReleaseLedger
    costs : dict
        The releases of one split, by the plan's id.
    """

    ledger: ReleaseLedger
    costs: dict[int, tuple[CountedRelease, ...]]

    @classmethod
    def open(cls, file: str) -> Counter:
        """Return the counter of an existing ledger."""
        return cls(ReleaseLedger.open(file), {})

    def check(self, plans: Sequence[Plan], domain: Domain, source: RandomSource) -> None:
        """Raise when the ledger has no room for all releases of all plans; nothing is written."""
        for plan in plans:
            self.costs[id(plan)] = releases_of_split(plan, domain, source)
        self.ledger.check(*(one for plan in plans for one in self.costs[id(plan)] * plan.splits))

    def reserve_for(self, plan: Plan) -> Callable[[], None]:
        """Return a function that counts the releases of one split."""

        def reserve() -> None:
            for release in self.costs[id(plan)]:
                self.ledger.reserve(release)

        return reserve


def releases_of_split(plan: Plan, domain: Domain, source: RandomSource) -> tuple[CountedRelease, ...]:
    """Return the releases of one split: the fit, and the metrics published with it."""
    if plan.budget is None:
        raise ReadingError("mechanism", plan.spec.name, "one that adds noise, with --ledger")
    readings = with_sampler(plan.readings, source)
    found = {plan.spec.name: plan.spec.promise(domain, plan.budget, readings, plan.x_s)}
    if plan.private_epsilon is not None:
        if readings.noise == "hardened":
            l1 = l1_sensitivity_of_counts(readings.adjacency, with_group=domain.group is not None)
            epsilon = plan.private_epsilon / readings.rows_per_person
            require_on_grid(laplace_scale(Fraction(l1), epsilon), 1)
        found["private_metrics"] = _pure(plan.private_epsilon, readings)
    seeded = source is not None and source != ENTROPY
    return tuple(
        CountedRelease(
            name,
            readings.adjacency,
            privacy,
            seeded=seeded,
            noise=readings.noise,
            rows_per_person=readings.rows_per_person,
        )
        for name, privacy in found.items()
    )


def _pure(epsilon: Fraction, readings: Readings) -> Privacy:
    """Return the privacy of metrics, for which statement and exact loss agree: ``proofs/private_metrics.md``."""
    rows = readings.rows_per_person
    stated = PrivacyStatement(epsilon, Fraction(0), readings.adjacency, ("T1",), rows_per_person=rows)
    return Privacy(stated, ExactPrivacy(Enclosure(epsilon, epsilon), Fraction(0), None, epsilon, "proved"))


def drowned_lines(plans: Sequence[Plan], data: Data, source: RandomSource) -> list[str]:
    """Say, by public numbers and before spending, where noise drowns the signal of any records."""
    found = []
    for plan in plans:
        if plan.spec.private and source is None:
            if plan.test_share == 0 and isinstance(data.records, RecordBlocks):
                # the same pass counts them
                data.records.moments(exact=True, again=True)
            n, readings = len(data.records), with_sampler(plan.readings, source)
            trained = n - round(n * plan.test_share)
            if problem := plan.spec.drowned(data.declared.domain, plan.budget, readings, trained):
                found.append(f"{plan.spec.name}: {problem}")
    return found


def counted_lines(results: Sequence[Evaluation], counter: Counter | None) -> list[str]:
    """Say which ledger counted the releases, or that none did."""
    if counter is not None:
        spent = counter.ledger.spent()
        return [f"Counted in {counter.ledger.path}: {0 if spent is None else spent.releases} release(s) in all."]
    private = any(result.releases[0].privacy.exact is not None for result in results)
    return ["No ledger counts these releases: add --ledger FILE."] if private else []
