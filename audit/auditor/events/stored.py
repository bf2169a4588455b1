"""Events in documents: one declared type per kind of score, told apart by `score`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta

from reference.common.documents import Document, converted
from reference.common.errors import DocumentError

Vector: TypeAlias = tuple[float, ...]
Matrix: TypeAlias = tuple[Vector, ...]
Natural: TypeAlias = Annotated[int, Meta(ge=0)]
Places: TypeAlias = tuple[tuple[Natural, ...], ...]


class StoredAdditive(Document, frozen=True, tag_field="score", tag="additive"):
    """A sum over all coordinates of binned log likelihood ratios."""

    edges: Matrix
    log_ratios: Matrix


class StoredLogistic(Document, frozen=True, tag_field="score", tag="logistic"):
    """A weighted sum of all coordinates."""

    weights: Vector


class StoredLikelihoodRatio(Document, frozen=True, tag_field="score", tag="likelihood_ratio"):
    """The subject's own log likelihood ratio."""


class StoredReduction(Document, frozen=True):
    """Some coordinates as they are, and scores of all of them, chosen by `screened` outputs of each input."""

    coordinates: tuple[Natural, ...]
    scores: tuple[StoredAdditive | StoredLogistic | StoredLikelihoodRatio, ...]
    quantised_to: Vector
    screened: Natural = 0


class EventOfScore(Document, frozen=True, kw_only=True, tag_field="score", omit_defaults=True):
    """What the events of all scores have in common.

    Parameters
    ----------
    relation : {'>=', '<='}
        The event is that the score stands in this relation to the threshold.
    threshold : float
    likely_input : {'left', 'right'}
    quantised_to : tuple of float, or None
        Steps of the grid, negative where they grow with the outputs; None takes every bit.
    reduced_to : StoredReduction or None
        Of outputs that are too wide.
    """

    relation: Literal[">=", "<="]
    threshold: float
    likely_input: Literal["left", "right"]
    quantised_to: Vector | None
    reduced_to: StoredReduction | None = None

    @property
    def score(self) -> str:
        """The kind of the score."""
        return str(type(self).__struct_config__.tag)


class CoordinateEvent(EventOfScore, frozen=True, kw_only=True, tag="coordinate"):
    """An event of one coordinate of the output."""

    coordinate: Natural


class IntervalEvent(EventOfScore, frozen=True, kw_only=True, tag="interval"):
    """An event of whether a coordinate lies in [low, high]."""

    coordinate: Natural
    low: float
    high: float


class LogisticEvent(EventOfScore, frozen=True, kw_only=True, tag="logistic"):
    """An event of a weighted sum of coordinates."""

    weights: Vector


class DistanceEvent(EventOfScore, frozen=True, kw_only=True, tag="distance"):
    """An event of how far a weighted sum of coordinates is from a centre."""

    weights: Vector
    centre: float


class AdditiveEvent(EventOfScore, frozen=True, kw_only=True, tag="additive"):
    """An event of a sum over coordinates of binned log likelihood ratios."""

    edges: Matrix
    log_ratios: Matrix


class LikelihoodRatioEvent(EventOfScore, frozen=True, kw_only=True, tag="likelihood_ratio"):
    """An event of the subject's own log likelihood ratio."""


class BitEvent(EventOfScore, frozen=True, kw_only=True, tag="bits"):
    """An event of a number read off the bits of a coordinate."""

    coordinate: Natural
    kind: Literal["divisor", "trailing_zeros", "low_bits", "negative_zero"]
    offset: float


class EqualityEvent(EventOfScore, frozen=True, kw_only=True, tag="equal_coordinates"):
    """An event of how many coordinates are equal bit for bit."""


class NotFiniteEvent(EventOfScore, frozen=True, kw_only=True, tag="not_finite"):
    """An event of whether some coordinate is not a finite number, or whether a certain one is not."""

    kind: Literal["nan", "+inf", "-inf", "any"]
    coordinate: Natural | None = None


class CategoryEvent(EventOfScore, frozen=True, kw_only=True, tag="category"):
    """An event of the log ratio of counts of each repeated value."""

    coordinates: tuple[Natural, ...]
    values: Matrix
    log_ratios: Vector
    other: float


class ResidueEvent(EventOfScore, frozen=True, kw_only=True, tag="residue"):
    """An event of the log ratio of counts of each residue of a coordinate's multiples of a unit.

    Parameters
    ----------
    coordinate, modulus : int
    log_ratios : tuple of float
        Of each residue, or of `residues` if there are any.
    unit : float
    other : float or None
        Log ratio of all other numbers; None takes the nearest multiple.
    residues : tuple of int
    """

    coordinate: Natural
    modulus: int
    log_ratios: Vector
    unit: float = 1.0
    other: float | None = None
    residues: tuple[Natural, ...] = ()


class UnseenEvent(EventOfScore, frozen=True, kw_only=True, tag="unseen"):
    """An event of whether a coordinate's value is not in a table."""

    coordinate: Natural
    values: Vector


class OneSidedEvent(EventOfScore, frozen=True, kw_only=True, tag="one_sided"):
    """An event of whether the learning draws had a coordinate's value on one input only."""

    coordinate: Natural
    values: Vector


class OneSidedRowsEvent(EventOfScore, frozen=True, kw_only=True, tag="one_sided_rows"):
    """An event of whether the learning draws had the whole output on one input only."""

    values: Matrix


class TreeEvent(EventOfScore, frozen=True, kw_only=True, tag="trees"):
    """An event of a sum of regression trees; the threshold of a leaf is null."""

    feature: Places
    tree_threshold: tuple[tuple[float | None, ...], ...]
    left: Places
    right: Places
    value: Matrix
    depth: Natural


StoredEvent: TypeAlias = (
    CoordinateEvent
    | IntervalEvent
    | LogisticEvent
    | DistanceEvent
    | AdditiveEvent
    | LikelihoodRatioEvent
    | BitEvent
    | EqualityEvent
    | NotFiniteEvent
    | CategoryEvent
    | ResidueEvent
    | UnseenEvent
    | OneSidedEvent
    | OneSidedRowsEvent
    | TreeEvent
)


class _Holder(Document, frozen=True):
    """Holds a union as a field: a document has one type."""

    event: StoredEvent


class EventError(DocumentError):
    """A document is not an event."""

    document = "event"


def stored_event(document: Any) -> StoredEvent:
    """Turn a parsed JSON document into a stored event.

    Raises
    ------
    EventError
    """
    return converted({"event": document}, _Holder, EventError).event
