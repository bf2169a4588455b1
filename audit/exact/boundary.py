"""Where Theorems 3 and 5 hold: the ratios epsilon_s/epsilon_n of their budgets.

Over the dimension and (Theorem 5) over delta, on the box and on the ball.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from audit.exact.enclosures import written
from audit.exact.theorems import failing_ratio, power_of, ratio_interval, sensitivity_power
from reference.budgets import parse_delta, parse_epsilon
from reference.common.errors import ReadingError
from reference.common.numbers import decimal_above, decimal_text
from reference.readings import parse_sensitivity
from reference.sensitivity import Setting

DIMENSIONS = {"T3": (2, 3, 4, 5), "T5": (2, 3, 4, 5, 6, 8, 10, 12, 13, 14, 20, 30, 50, 100)}
LARGEST_DIMENSION = 1000
LARGEST_T3_ON_BALL = 100
"""Beyond it the certified enclosure of the l1 change takes too long."""

DELTAS = ("1e-3", "1e-6", "1e-9")
DOMAINS = ("unit_ball", "unit_box")

CLOSE = 1e-4
"""Relative width up to which an enclosure counts as a single number."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """The requested boundary.

    Parameters
    ----------
    theorem : {'T3', 'T5'}
    domains : tuple of str
        Norms of x.
    dimensions : tuple of int
        Those of :data:`DIMENSIONS` when empty.
    deltas : tuple of str
        Decimals; Theorem 5 only.
    epsilon_n : str
        A decimal; Theorem 5 only: where it starts to fail depends on it.
    fairness, basis, adjacency : str
    fairness_weight : Fraction
    sensitivity : str
        `published`, `exact` or a number.
    records : int or None
        N; None is the limit of large N.
    """

    theorem: str = "T5"
    domains: tuple[str, ...] = DOMAINS
    dimensions: tuple[int, ...] = ()
    deltas: tuple[str, ...] = DELTAS
    epsilon_n: str = "0.1"
    fairness: str = "absolute"
    basis: str = "monomial"
    adjacency: str = "replace_one"
    fairness_weight: Fraction = Fraction(1)
    sensitivity: str = "published"
    records: int | None = None

    def check(self) -> None:
        """Refuse what cannot be computed, before computing anything.

        Raises
        ------
        reference.common.errors.ParameterError
        """
        power_of(self.theorem)
        parse_epsilon("epsilon_n", self.epsilon_n)
        parse_sensitivity(self.sensitivity)
        if self.theorem == "T5":
            for delta in self.deltas:
                parse_delta("delta", delta)
        on_ball = self.theorem == "T3" and any(norm != "unit_box" for norm in self.domains)
        largest = LARGEST_T3_ON_BALL if on_ball else LARGEST_DIMENSION
        for dimension in self.dimensions:
            if not 1 <= dimension <= largest:
                where = " for T3 on a ball" if on_ball else ""
                raise ReadingError("dimensions", dimension, f"from 1 to {largest}{where}")

    def settings(self) -> Iterator[Setting]:
        """Yield the setting of each row."""
        for norm in self.domains:
            for d in self.dimensions or DIMENSIONS[self.theorem]:
                yield Setting(
                    d, self.fairness, norm, self.adjacency, self.basis, self.fairness_weight, self.records
                )


def boundary(request: Request) -> dict[str, Any]:
    """Return the boundary as a JSON document, the same for the same request on every machine."""
    request.check()
    return {
        "theorem": request.theorem,
        "readings": {
            "fairness": request.fairness,
            "fairness_weight": decimal_text(request.fairness_weight),
            "basis": request.basis,
            "adjacency": request.adjacency,
            "sensitivity": request.sensitivity,
            "records": request.records,
        },
        "epsilon_n": decimal_text(parse_epsilon("epsilon_n", request.epsilon_n)),
        "rows": [_row(setting, request) for setting in request.settings()],
    }


def _row(setting: Setting, request: Request) -> dict[str, Any]:
    interval = ratio_interval(request.theorem, setting, request.sensitivity)
    row: dict[str, Any] = {
        "domain": setting.norm,
        "dimension": setting.dimension,
        "sensitivity_power": _six(sensitivity_power(request.theorem, setting, request.sensitivity)),
        # eight digits: the same on every machine
        **interval.to_json(8),
    }
    if request.theorem == "T5":
        row["fails_at"] = {delta: _failing(setting, delta, request) for delta in request.deltas}
    return row


def _failing(setting: Setting, delta: str, request: Request) -> Any:
    epsilon_n = parse_epsilon("epsilon_n", request.epsilon_n)
    found = failing_ratio(setting, epsilon_n, parse_delta("delta", delta), request.sensitivity, digits=4)
    return None if found is None else written(found.holds_at, found.fails_at, 8)


def _six(value: Fraction) -> str:
    return decimal_text(decimal_above(value, 12))


def middle(value: Any) -> float:
    """Return the middle of a number as :func:`boundary` writes it."""
    if isinstance(value, str):
        return float(Fraction(value))
    return float(Fraction(value["lo"]) + Fraction(value["hi"])) / 2


def ends(value: Any) -> tuple[float, float]:
    """Return both ends of a number as :func:`boundary` writes it, twice the middle where they are close."""
    if isinstance(value, str):
        return middle(value), middle(value)
    low = float(Fraction(value["lo"]))
    high = inf if value["hi"] is None else float(Fraction(value["hi"]))
    return (low, high) if high - low > CLOSE * high else (middle(value), middle(value))
