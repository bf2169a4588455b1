"""The paper's figures and tables as lists of runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from reference.budgets import Budget, SplitBudget
from reference.common.errors import UnknownAttributeError
from reference.datasets import Encoding, shipped_domain
from reference.domain import Domain
from reference.experiments.printed import DELTA_TABLES, DELTA_TEXT, GRID_TABLES
from reference.experiments.splits import SplitSpec
from reference.experiments.study import RunSpec
from reference.experiments.variants import Variant
from reference.registry import MECHANISMS

EPSILONS = ("0.01", "0.0316228", "0.1", "0.316228", "1", "3.16228", "10")
"""10^-2 to 10^1 in half powers, to six digits: the text's six values, and 10^-0.5, which it leaves out."""

DELTAS = tuple(f"1e{power}" for power in DELTA_TEXT)

SMALL_EPSILON = "0.01"
"""The epsilon of Figure 2."""

X_S: dict[str, dict[str, str]] = {
    "adult": {
        "marital status": "marital-status",
        "age": "age",
        "relation": "relationship",
        "race": "race",
        "work": "hours-per-week",
    },
    # NPF and NATIVITY stand in for what the table lacks
    "us": {"marital status": "MAR", "age": "AGEP", "relation": "NPF", "race": "NATIVITY", "work": "WKHP"},
    # another survey: nothing here is the paper's attribute
    "affairs": {
        "marital status": "yrs_married",
        "age": "age",
        "relation": "children",
        "race": "educ",
        "work": "occupation",
    },
}
"""The column for each attribute that the paper takes as x_s, by data set."""


@dataclass(frozen=True)
class Line:
    """One curve of a figure, or one column of a table.

    Parameters
    ----------
    name : str
    mechanism : str
    x_s : str, optional
        The paper's name of the attribute with its own budget.
    fair : bool
        Whether the objective has the fairness term.
    """

    name: str
    mechanism: str
    x_s: str | None = None
    fair: bool = False


def _fair(mechanism: str, x_s: str | None = None) -> Line:
    name = {"pflr": "PFLR*", "pdfc": "PDFC", "adfc": "ADFC", "no_privacy": "no noise, fair"}[mechanism]
    return Line(name if x_s is None else f"{name} ({x_s})", mechanism, x_s, fair=True)


LR = Line("LR", "lr")
NO_PRIVACY = Line("No-Privacy", "no_privacy")
FAIR_WITHOUT_NOISE = _fair("no_privacy")
"""Not in the paper: what the fairness term does before any noise."""


@dataclass(frozen=True)
class Exhibit:
    """One figure or table.

    Parameters
    ----------
    name : str
    title : str
    metric : {'accuracy', 'risk_difference'}
        What the paper shows.
    data : tuple of str
        The paper's data sets.
    axis : {'epsilon', 'delta'}
    grid : tuple of str
        Values on that axis.
    lines : dict from data set to tuple of Line
        The entry '' stands for every other data set.
    """

    name: str
    title: str
    metric: str
    data: tuple[str, ...]
    axis: str
    grid: tuple[str, ...]
    lines: dict[str, tuple[Line, ...]]

    def lines_on(self, data: str) -> tuple[Line, ...]:
        """Return the lines for a data set."""
        return self.lines.get(data, self.lines[""])


_RELAXED = (NO_PRIVACY, Line("functional mechanism", "functional"), Line("relaxed", "relaxed_functional"), LR)
_BASELINES = (LR, FAIR_WITHOUT_NOISE, _fair("pflr"))
_FOUR = ("marital status", "age", "relation", "race")


def _both(x_s: str) -> tuple[Line, ...]:
    return (*_BASELINES, _fair("pdfc", x_s), _fair("adfc", x_s))


EXHIBITS: dict[str, Exhibit] = {
    exhibit.name: exhibit
    for exhibit in (
        Exhibit("fig1", "Figure 1: accuracy, epsilon", "accuracy", ("us",), "epsilon", EPSILONS, {"": _RELAXED}),
        Exhibit("fig2", "Figure 2: accuracy, delta", "accuracy", ("us",), "delta", DELTAS, {"": _RELAXED}),
        Exhibit(
            "fig3a",
            "Figure 3(a): accuracy, x_s marital status",
            "accuracy",
            ("adult",),
            "epsilon",
            EPSILONS,
            {"": _both("marital status")},
        ),
        Exhibit(
            "fig3b",
            "Figure 3(b): accuracy of PDFC by x_s",
            "accuracy",
            ("adult",),
            "epsilon",
            EPSILONS,
            {"": (*_BASELINES, *(_fair("pdfc", x_s) for x_s in _FOUR))},
        ),
        Exhibit(
            "fig3c",
            "Figure 3(c): accuracy of ADFC by x_s",
            "accuracy",
            ("adult",),
            "epsilon",
            EPSILONS,
            {"": (*_BASELINES, *(_fair("adfc", x_s) for x_s in _FOUR))},
        ),
        Exhibit(
            "table1",
            "Table 1: risk difference",
            "risk_difference",
            ("us",),
            "epsilon",
            GRID_TABLES,
            {"": _both("work")},
        ),
        Exhibit(
            "table2",
            "Table 2: risk difference",
            "risk_difference",
            ("adult", "us"),
            "epsilon",
            GRID_TABLES,
            {"us": _both("work"), "": _both("race")},
        ),
    )
}
"""The text does not say which of PDFC and ADFC panels (b) and (c) of Figure 3 show; we read one each."""


@dataclass(frozen=True)
class ExhibitDesign:
    """The design of an exhibit: its runs, records and readings.

    Parameters
    ----------
    data : str
    variant : Variant
    splits : int
    seed : int
    test_share : float
    subset_size : int, optional
    delta : str
        The total, where the axis is not delta.
    x_s : str, optional
        A column or attribute instead of the paper's x_s.
    """

    data: str
    variant: Variant
    splits: int = 10
    seed: int = 0
    test_share: float = 0.2
    subset_size: int | None = None
    delta: str = DELTA_TABLES
    x_s: str | None = None


@dataclass(frozen=True)
class Point:
    """One place of a line: its runs, one per split.

    Parameters
    ----------
    line : Line
    epsilon, delta : str or None
        None where the line does not depend on it.
    x_s : str or None
        The coordinate with its own budget.
    specs : tuple of RunSpec
    """

    line: Line
    epsilon: str | None
    delta: str | None
    x_s: str | None
    specs: tuple[RunSpec, ...]


def points(exhibit: Exhibit, design: ExhibitDesign) -> list[Point]:
    """Return the points of an exhibit, line by line; a line without epsilon has one point."""
    found: list[Point] = []
    lines = exhibit.lines_on(design.data)
    if design.x_s is not None:
        # a panel that varies x_s has one line for the requested one
        lines = tuple(
            dict.fromkeys(line if line.x_s is None else _fair(line.mechanism, design.x_s) for line in lines)
        )
    for line in lines:
        found.extend(points_of_line(line, exhibit.axis, exhibit.grid, design))
    return found


def points_of_line(line: Line, axis: str, grid: Sequence[str], design: ExhibitDesign) -> Iterator[Point]:
    """Yield the points of one line."""
    facts = MECHANISMS[line.mechanism]
    depends = facts.private and (axis == "epsilon" or facts.needs_delta)
    x_s = None if line.x_s is None else coordinate(design.data, design.variant.encoding, line.x_s)
    for value in grid if depends else grid[:1]:
        epsilon = None if not facts.private else value if axis == "epsilon" else SMALL_EPSILON
        delta = None if not facts.needs_delta else value if axis == "delta" else design.delta
        yield Point(line, epsilon, delta, x_s, specs_of(line, epsilon, delta, x_s, design))


def specs_of(
    line: Line, epsilon: str | None, delta: str | None, x_s: str | None, design: ExhibitDesign
) -> tuple[RunSpec, ...]:
    """Return the runs of one point, one per split."""
    variant, facts = design.variant, MECHANISMS[line.mechanism]
    readings = variant.readings_of(fair=line.fair)
    if not facts.private:
        # nothing is repaired or calibrated without noise: one run serves every such variant
        readings = facts.readings.with_(
            fairness=readings.fairness, fairness_weight=readings.fairness_weight, tau=readings.tau
        )
    if line.mechanism == "pflr" and readings.fairness == "separate":
        # a term that is released apart is not a mean of noise
        readings = readings.with_(fairness="absolute")
    budget: Budget | SplitBudget | None = None
    if epsilon is not None:
        dimension = domain(design.data, variant.encoding).dimension
        budget = (
            SplitBudget.from_ratio(epsilon, variant.epsilon_ratio, dimension, delta or 0)
            if facts.split_budget
            else Budget(epsilon, delta or 0)
        )
    on = SplitSpec(design.data, variant.encoding, design.subset_size, design.test_share, 0, design.seed)
    return tuple(
        RunSpec(replace(on, split=split), line.mechanism, budget, readings, x_s) for split in range(design.splits)
    )


@lru_cache(maxsize=64)
def domain(data: str, encoding: Encoding) -> Domain:
    """Return the public domain of a data set."""
    return shipped_domain(data, encoding).domain


def coordinate(data: str, encoding: Encoding, attribute: str) -> str:
    """Return the coordinate for an attribute: one of the paper's names, or a column or attribute of the data.

    For an attribute encoded in several columns it is that of the first category, because x_s is one
    coordinate.

    Raises
    ------
    reference.common.errors.UnknownAttributeError
    """
    name, known = X_S[data].get(attribute, attribute), domain(data, encoding)
    if name in known.columns:
        return name
    for one in known.attributes:
        if one.name == name:
            return one.columns[0]
    raise UnknownAttributeError("x_s", attribute, f"one of {', '.join(known.columns)}")
