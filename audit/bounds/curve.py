"""Lower bounds on epsilon at several deltas that hold together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit.bounds.choice import Method, epsilon_lower_bound
from audit.bounds.counts import Counts


@dataclass(frozen=True)
class CurvePoint:
    """A lower bound on epsilon at one delta.

    Parameters
    ----------
    delta : float
    epsilon_lower_bound : float
    counts : Counts
        Of the event that certified it.
    """

    delta: float
    epsilon_lower_bound: float
    counts: Counts


@dataclass(frozen=True)
class EpsilonCurve:
    """Lower bounds that all hold together, except with probability at most `significance`.

    Parameters
    ----------
    points : tuple of CurvePoint
        By increasing delta.
    significance : float
        Of all points together.
    method : {'joint', 'clopper_pearson'}
    """

    points: tuple[CurvePoint, ...]
    significance: float
    method: Method

    def at(self, delta: float) -> float:
        """Return a bound on epsilon at any delta, at no cost in significance.

        The true epsilon does not grow with delta, so a bound at a larger delta holds here too.
        """
        return max((point.epsilon_lower_bound for point in self.points if point.delta >= delta), default=0.0)


def epsilon_curve(
    counts: Sequence[Counts], deltas: Sequence[float], significance: float, method: Method = "joint"
) -> EpsilonCurve:
    """Return lower bounds on epsilon at a grid of deltas, valid simultaneously.

    Each point is certified at an equal share of the significance (Bonferroni).  The events may share their draws
    and may be nested; their dependence does not matter.

    Parameters
    ----------
    counts : sequence of Counts
        Of one event per delta, chosen without looking at these draws.
    deltas : sequence of float
        In [0, 1).
    significance : float
        Of all points together.
    method : {'joint', 'clopper_pearson'}
    """
    if len(counts) != len(deltas) or not deltas:
        raise ValueError(f"as many counts as deltas are needed, and at least one: {len(counts)} and {len(deltas)}")
    share = significance / len(deltas)
    points = [
        CurvePoint(delta, epsilon_lower_bound(one, delta, share, method), one)
        for one, delta in sorted(zip(counts, deltas, strict=True), key=lambda pair: pair[1])
    ]
    return EpsilonCurve(tuple(points), significance, method)
