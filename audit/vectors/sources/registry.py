"""The source of answers for each group type."""

from __future__ import annotations

from collections.abc import Callable

from audit.vectors.sources.encoding import answer_domain
from audit.vectors.sources.minimum import answer_minimiser
from audit.vectors.sources.numbers import Answer, RefusedError
from audit.vectors.sources.polynomial import answer_coefficients, answer_grouping
from audit.vectors.sources.repaired import answer_repaired
from audit.vectors.sources.scales import answer_accounting, answer_privacy, answer_scale
from audit.vectors.sources.suprema import answer_sensitivity
from audit.vectors.sources.whole import answer_metric, answer_perturbation, answer_release

SOURCES: dict[str, tuple[str, Callable[[Answer], Answer]]] = {
    "Domain": ("rational arithmetic and a root of 60 digits", answer_domain),
    "Coefficients": ("rational arithmetic, record by record", answer_coefficients),
    "Grouping": ("enumeration of the monomials", answer_grouping),
    "Sensitivity": (
        "the lemmas' formulas; data sets at corners, or climbing in a ball",
        answer_sensitivity,
    ),
    "Scale": ("mpmath, 60 digits", answer_scale),
    "Perturbation": ("rational arithmetic", answer_perturbation),
    "Minimiser": ("mpmath, 60 digits: eigenvectors, candidates compared by their objective", answer_minimiser),
    "Privacy": ("rational arithmetic, corner enumeration, mpmath's normal distribution", answer_privacy),
    "Accounting": ("rational arithmetic, bisection on mpmath's normal distribution", answer_accounting),
    "FairnessMetric": ("counts in rational arithmetic", answer_metric),
    "Release": ("all of the above, step by step", answer_release),
    "RepairedBudget": ("enumeration of records, rational arithmetic, mpmath", answer_repaired),
    "RepairedDescent": ("rational sums, mpmath with 60 digits", answer_repaired),
    "RepairedThreshold": ("rational arithmetic, mpmath with 60 digits", answer_repaired),
}
"""How the expected values of each group type are computed: in words, and the function."""

TYPES = tuple(SOURCES)


def expected(kind: str, inputs: Answer) -> tuple[Answer | None, str | None]:
    """Return the answer, or the name of the error if a right program refuses the inputs."""
    try:
        return SOURCES[kind][1](inputs), None
    except RefusedError as refused:
        return None, str(refused)
