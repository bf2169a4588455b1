"""The cases: inputs only, by group type.  Cases are only ever appended, so that no id changes its meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from audit.vectors.cases import budgets, data, objectives, releases, repaired
from audit.vectors.cases.asked import AskedCase

CASES: dict[str, Callable[[], Iterator[AskedCase]]] = {
    "Domain": data.domains,
    "Coefficients": data.coefficients,
    "Grouping": data.groupings,
    "Sensitivity": budgets.sensitivities,
    "Scale": budgets.scales,
    "Perturbation": objectives.perturbations,
    "Minimiser": objectives.minimisers,
    "Privacy": budgets.privacy,
    "Accounting": budgets.accounting,
    "FairnessMetric": data.metrics,
    "Release": releases.releases,
    "RepairedBudget": repaired.repaired_budgets,
    "RepairedDescent": repaired.repaired_descents,
    "RepairedThreshold": repaired.repaired_thresholds,
}
"""The cases of each group type, in the order of their ids."""
