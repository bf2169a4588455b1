"""Claimed and exact privacy on a grid of budgets and dimensions, each point computed when the report is made."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from audit.exact.privacy import PRIVATE
from audit.exact.witnesses import domain_of, readings_of
from reference.accounting import exact_privacy
from reference.budgets import Budget, SplitBudget
from reference.common.numbers import Enclosure
from reference.domain import NORMS
from reference.registry import MECHANISMS
from reference.sensitivity import Setting

GAUSSIAN = ("relaxed_functional", "adfc")
WITHOUT_FAIRNESS = ("functional", "relaxed_functional")

SHIFTED = "pflr"
"""Its published statement is about noise whose mean depends on the data; `audit privacy pflr` judges it."""


@dataclass(frozen=True)
class PrivacyGrid:
    """The values of the report's controls.

    Parameters
    ----------
    dimensions : tuple of int
    ratios : tuple of str
        epsilon_s / epsilon_n.
    epsilons : tuple of str
        epsilon_n.
    deltas : tuple of str
        delta_s and delta_n.
    """

    dimensions: tuple[int, ...] = (2, 3, 5, 13, 20, 40, 100)
    ratios: tuple[str, ...] = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50", "100")
    epsilons: tuple[str, ...] = ("0.1", "1")
    deltas: tuple[str, ...] = ("1e-3", "1e-5")


def points(grid: PrivacyGrid, norms: tuple[str, ...] = ("unit_ball", "unit_box")) -> list[dict[str, Any]]:
    """Return a row for each mechanism, norm, dimension, ratio, epsilon_n and delta."""
    return [
        row
        for name in PRIVATE
        if name != SHIFTED
        for norm in norms
        for dimension in grid.dimensions
        for row in _points_of(name, norm, dimension, grid)
    ]


def _points_of(name: str, norm: str, dimension: int, grid: PrivacyGrid) -> list[dict[str, Any]]:
    spec = MECHANISMS[name]
    ratios = grid.ratios if spec.split_budget else ("1",)
    # Laplace noise: everything is proportional to epsilon_n
    epsilons = grid.epsilons if name in GAUSSIAN else grid.epsilons[-1:]
    deltas = grid.deltas if name in GAUSSIAN else ("0",)
    return [
        _point(name, norm, dimension, (ratio, epsilon, delta))
        for ratio in ratios
        for epsilon in epsilons
        for delta in deltas
    ]


def _point(name: str, norm: str, dimension: int, budget: tuple[str, str, str]) -> dict[str, Any]:
    spec = MECHANISMS[name]
    ratio, epsilon_n, delta = budget
    setting = Setting(dimension, "none" if name in WITHOUT_FAIRNESS else "absolute", norm)
    domain, readings = domain_of(setting), readings_of(setting)
    epsilon, each = Fraction(epsilon_n), Fraction(delta)
    spent = (
        SplitBudget(Fraction(ratio) * epsilon, epsilon, each, each) if spec.split_budget else Budget(epsilon, each)
    )
    claim = spec.statement(domain, spent, readings, 0)
    if claim is None:
        raise RuntimeError(f"{name} makes no published statement")
    exact = exact_privacy(setting, spec.noise(domain, spent, readings, 0), claim, claim.delta)
    return {
        "mechanism": name,
        "norm": norm,
        "dimension": dimension,
        "ratio": ratio,
        "epsilon_n": epsilon_n,
        "delta": delta,
        "claimed_epsilon": float(claim.epsilon),
        "claimed_delta": float(claim.delta),
        "exact_epsilon": _upper(exact.epsilon),
        "exact_delta": None if exact.delta is None else _upper(exact.delta),
        "verdict": exact.verdict,
    }


def _upper(value: Enclosure) -> float:
    """Return the upper end of an enclosure, to the digits shown on a page."""
    return float(f"{float(value.upper):.6g}")


def grid_document(grid: PrivacyGrid) -> dict[str, Any]:
    """Return the grid with its points."""
    return {
        "computed": "reference.accounting.exact_privacy, over all neighbouring data sets of a norm, any number of "
        "records; the upper end of each enclosure, six digits",
        "norms": [norm for norm in NORMS if norm in ("unit_ball", "unit_box")],
        "dimensions": list(grid.dimensions),
        "ratios": list(grid.ratios),
        "epsilons": list(grid.epsilons),
        "deltas": list(grid.deltas),
        "points": points(grid),
    }
