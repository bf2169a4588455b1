"""Compares a scale of a release with the formula that it must reach."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from audit.proofs.sigma import SigmaBounds

ScaleName = Literal["scale", "scale_s", "scale_n"]


@dataclass(frozen=True)
class Comparison:
    """A scale beside the formula that it must reach.

    Parameters
    ----------
    name : str
        ``scale_s``, ``scale_n``, or ``scale`` where there is one.
    scale : Fraction
    formula : Fraction
        Laplace: Delta_1 / epsilon, with the slack of a grid.  Gaussian: an upper bound of the paper's sigma.
    epsilon, delta : Fraction
        Of this part of the budget.
    bounds : SigmaBounds or None
        Gaussian noise: what Coq compares with.
    """

    name: ScaleName
    scale: Fraction
    formula: Fraction
    epsilon: Fraction
    delta: Fraction
    bounds: SigmaBounds | None

    @property
    def holds(self) -> bool:
        """Whether the scale reaches the formula, in exact arithmetic."""
        return self.scale >= self.formula
