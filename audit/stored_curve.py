"""The epsilon(delta) curve as a certificate stores it: a bound, an event and counts for each delta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from audit.bounds import METHODS, Counts
from audit.bounds.curve import EpsilonCurve
from audit.curve import Cut
from audit.events import BoolArray, FloatArray

RELATIONS = (">=", "<")


@dataclass(frozen=True)
class StoredPoint:
    """A lower bound at one delta, by an event of the score that the whole curve shares.

    Parameters
    ----------
    delta, epsilon_lower_bound : float
    relation : {'>=', '<'}
    threshold : float
        The event is that the score stands in this relation to it.
    likely_input : {'left', 'right'}
    counts : Counts
        Of the certifying draws.
    """

    delta: float
    epsilon_lower_bound: float
    relation: str
    threshold: float
    likely_input: str
    counts: Counts

    def occurs(self, scores: FloatArray) -> BoolArray:
        """Return whether the event occurs, per score."""
        return scores >= self.threshold if self.relation == ">=" else scores < self.threshold


@dataclass(frozen=True)
class StoredCurve:
    """Lower bounds at several deltas that are all right together, but for probability at most `significance`.

    Parameters
    ----------
    significance : float
        Of all points together; each is certified at an equal share.
    bound : {'joint', 'clopper_pearson'}
        The method of all points.
    points : tuple of StoredPoint
        By increasing delta.
    """

    significance: float
    bound: str
    points: tuple[StoredPoint, ...]

    @classmethod
    def of(cls, curve: EpsilonCurve, cuts: Sequence[Cut], levels: FloatArray) -> StoredCurve:
        """Return what is stored of a curve: `cuts` by increasing delta, as its points, at some of the `levels`."""
        points = tuple(
            StoredPoint(
                point.delta,
                point.epsilon_lower_bound,
                ">=" if cut.at_least else "<",
                float(levels[cut.level]),
                ("left", "right")[cut.likely],
                point.counts,
            )
            for point, cut in zip(curve.points, cuts, strict=True)
        )
        return cls(curve.significance, curve.method, points)

    def to_json(self) -> dict[str, Any]:
        """Return the document."""
        return asdict(self) | {"points": [asdict(point) for point in self.points]}

    @classmethod
    def from_json(cls, document: Any) -> StoredCurve:
        """Return the curve of a document; whether its numbers fit each other is checked by `audit.verify`.

        Raises
        ------
        ValueError
            When it is none.
        """
        try:
            _exactly(document, cls)
            points = tuple(_point(one) for one in document["points"])
            curve = cls(_number(document["significance"]), str(document["bound"]), points)
        except (TypeError, KeyError, AttributeError) as problem:
            raise ValueError(f"no curve: {problem}") from problem
        if curve.bound not in METHODS or not points:
            raise ValueError(f"no curve: a bound of {', '.join(METHODS)} and some points are needed")
        return curve


def _point(document: Any) -> StoredPoint:
    _exactly(document, StoredPoint)
    _exactly(document["counts"], Counts)
    if not all(type(number) is int for number in document["counts"].values()):
        raise TypeError(f"counts must be whole numbers, not {document['counts']}")
    if document["relation"] not in RELATIONS or document["likely_input"] not in ("left", "right"):
        raise ValueError(f"no curve: no event is {document['relation']!r}, {document['likely_input']!r}")
    return StoredPoint(
        _number(document["delta"]),
        _number(document["epsilon_lower_bound"]),
        document["relation"],
        _number(document["threshold"]),
        document["likely_input"],
        Counts(**document["counts"]),
    )


def _exactly(document: Mapping[str, Any], kind: type) -> None:
    """Reject an object that has not exactly the fields of a dataclass."""
    names = {field.name for field in fields(kind)}
    if set(document.keys()) != names:
        raise TypeError(f"the fields must be {', '.join(sorted(names))}")


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return float(value)
