"""Declared domains of inputs, and proposals of pairs of neighbours in them.

A neighbourhood is public: nothing here looks at an output.  Every proposal must be a pair of neighbours of
the domain, since inputs that are not neighbours would refute nothing; :meth:`Neighbourhood.holds` checks
that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, count, product
from typing import Any, Protocol, TypeAlias

import numpy as np

from reference.common.arrays import FloatArray
from reference.common.errors import DeclarationError
from reference.readings import ADJACENCIES

Pair: TypeAlias = tuple[Any, Any]
Row: TypeAlias = tuple[float, ...]

ROUNDING = 1e-9
"""Relative slack of :meth:`Neighbourhood.holds` for the rounding of differences."""

ENUMERATED = 2**12
"""Most corners of a box to go through; if there are more, random ones are drawn."""

SHARES = (0.5, 0.1, 0.25, 0.75, 0.9)
"""Shares of rows that are lowest while the others are highest."""

REGROUPED, MOST_DISTINCT = 0.25, 8
"""Share of small steps that keep the rows and change their counts; and the most distinct rows."""


class Neighbourhood(Protocol):
    """All pairs of neighbouring inputs of a domain, and ways to propose some."""

    def patterns(self) -> Iterator[Pair]:
        """Yield pairs of a simple shape, to try first."""
        ...

    def corners(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield pairs at the ends of the domain, perhaps endlessly."""
        ...

    def random(self, rng: np.random.Generator) -> Pair | None:
        """Return a random pair; None if there is none."""
        ...

    def moved(self, pair: Pair, reach: float, rng: np.random.Generator) -> Pair | None:
        """Return a pair near another one, at about the share `reach` of the domain; None if there is none."""
        ...

    def holds(self, pair: Pair) -> bool:
        """Return whether both inputs are in the domain, and neighbours."""
        ...

    def to_json(self, pair: Pair) -> dict[str, Any]:
        """Return a pair in a form from which it can be built again."""
        ...

    def from_json(self, document: dict[str, Any]) -> Pair:
        """Build a pair."""
        ...


@dataclass(frozen=True)
class Listed:
    """The pairs that a subject lists, and no others."""

    pairs: tuple[Pair, ...]

    def patterns(self) -> Iterator[Pair]:
        """Yield them all."""
        yield from self.pairs

    def corners(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield nothing."""
        yield from ()

    def random(self, rng: np.random.Generator) -> Pair | None:
        """Return nothing."""
        return None

    def moved(self, pair: Pair, reach: float, rng: np.random.Generator) -> Pair | None:
        """Return nothing."""
        return None

    def holds(self, pair: Pair) -> bool:
        """Trust the subject: whoever lists pairs ensures that they are neighbours."""
        return any(pair is listed for listed in self.pairs)

    def to_json(self, pair: Pair) -> dict[str, Any]:
        """Return the place in the list."""
        return {"candidate": next(place for place, listed in enumerate(self.pairs) if listed is pair)}

    def from_json(self, document: dict[str, Any]) -> Pair:
        """Return the pair at a place of the list."""
        return self.pairs[int(document["candidate"])]


NORMS = {"l1": 1, "l2": 2, "linf": np.inf}


@dataclass(frozen=True)
class Vectors:
    """Vectors of `count` numbers in [lower, upper]; neighbours are at most `change` apart in a norm.

    For mechanisms on answers: `linf` if one record moves every answer (noisy maximum, sparse vector, prefix
    sums), `l1` or `l2` if the sensitivity is given in that norm.

    Parameters
    ----------
    count : int
    lower, upper : float
        Bounds of every number.
    change : float
    norm : {'l1', 'l2', 'linf'}
    """

    count: int
    lower: float = 0.0
    upper: float = 1.0
    change: float = 1.0
    norm: str = "linf"

    def __post_init__(self) -> None:
        """Check the declaration."""
        if self.count < 1:
            raise DeclarationError("count", self.count, "at least 1")
        if not self.lower < self.upper:
            raise DeclarationError("lower", self.lower, f"below upper, {self.upper:g}")
        if not self.change > 0:
            raise DeclarationError("change", self.change, "positive")
        if self.norm not in NORMS:
            raise DeclarationError("norm", self.norm, "one of " + ", ".join(NORMS))

    def patterns(self) -> Iterator[Pair]:
        """Yield pairs of zeros and ones, scaled: one, half or all numbers moved, with or against the others."""
        k = self.count
        zero, one, first = np.zeros(k), np.ones(k), np.eye(k)[0]
        half = np.where(np.arange(k) < k // 2, 1.0, 0.0)
        shapes = [(zero, one), (zero, first), (one, one - first), (first, one - first), (zero, half)]
        shapes += [(half, one - half), (zero, one - first), (half, one)]
        seen = set()
        for left, right in shapes:
            key = (left.tobytes(), right.tobytes())
            if (left != right).any() and key not in seen:
                seen.add(key)
                # the difference gets the largest allowed length
                longest = min(self.change / self._length(right - left), self.upper - self.lower)
                yield self.lower + longest * left, self.lower + longest * right

    def corners(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield corners of the box with a neighbour inwards: along one number, or along all."""
        if 2**self.count <= ENUMERATED:
            corners = np.array(list(product((0.0, 1.0), repeat=self.count)))
            rng.shuffle(corners)
            chosen: Iterator[FloatArray] = iter(corners)
        else:
            chosen = (rng.integers(0, 2, self.count).astype(np.float64) for _ in count())
        for corner in chosen:
            left = self.lower + (self.upper - self.lower) * corner
            inwards = 1.0 - 2.0 * corner
            directions = [inwards] if self.count == 1 else [*(np.eye(self.count) * inwards), inwards]
            for direction in directions:
                yield left, self._beside(left, direction)

    def random(self, rng: np.random.Generator) -> Pair:
        """Return a random vector with a neighbour in a direction of one, several or all numbers."""
        left = rng.uniform(self.lower, self.upper, self.count)
        direction = rng.normal(size=self.count) * (rng.random(self.count) < rng.random())
        if not direction.any():
            direction[rng.integers(self.count)] = rng.choice([-1.0, 1.0])
        return left, self._beside(left, direction)

    def moved(self, pair: Pair, reach: float, rng: np.random.Generator) -> Pair:
        """Move the left vector, the difference, or both."""
        left, right = pair
        difference = right - left
        which = rng.integers(3)
        if which != 0:
            width = reach * (self.upper - self.lower)
            left = np.clip(left + width * rng.normal(size=self.count), self.lower, self.upper)
        if which != 1:
            difference = difference + reach * self.change * rng.normal(size=self.count)
        if not difference.any():
            difference = rng.normal(size=self.count)
        return left, self._beside(left, difference)

    def holds(self, pair: Pair) -> bool:
        """Return whether both are in the box and close enough."""
        values = np.stack(pair)
        within = bool((values >= self.lower).all() and (values <= self.upper).all())
        return within and self._length(values[1] - values[0]) <= self.change * (1 + ROUNDING)

    def to_json(self, pair: Pair) -> dict[str, Any]:
        """Return both vectors."""
        return {"left": pair[0].tolist(), "right": pair[1].tolist()}

    def from_json(self, document: dict[str, Any]) -> Pair:
        """Return both vectors."""
        return np.array(document["left"], dtype=np.float64), np.array(document["right"], dtype=np.float64)

    def _length(self, difference: FloatArray) -> float:
        return float(np.linalg.norm(difference, ord=NORMS[self.norm]))

    def _beside(self, left: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the vector as far from `left` in a direction as neighbours may be, clipped to the box."""
        step = direction * (self.change / self._length(direction))
        return np.asarray(np.clip(left + step, self.lower, self.upper))


@dataclass(frozen=True)
class DataSet:
    """A data set of few distinct rows.

    Parameters
    ----------
    common : tuple of (row, count)
        The rows that both neighbours share.
    last : row or None
        The row in which they differ; None where it was removed.
    """

    common: tuple[tuple[Row, int], ...]
    last: Row | None

    def array(self) -> FloatArray:
        """Return all rows, written out, shape (n, k); the differing one is the last."""
        rows = [row for row, count in self.common for _ in range(count)]
        return np.array([*rows, *([] if self.last is None else [self.last])])

    def to_json(self) -> list[dict[str, Any]]:
        """Return the rows with their counts."""
        rows = [*self.common, *([] if self.last is None else [(self.last, 1)])]
        return [{"count": count, "row": list(row)} for row, count in rows]


@dataclass(frozen=True)
class DataSets:
    """Data sets of rows in a box; neighbours differ in one row.

    Proposed data sets have at most two distinct common rows; small steps then move single records.

    Parameters
    ----------
    lower, upper : tuple of float
        Bounds of each column.
    records : int
        Rows of a data set; of the larger one if a row is added or removed.
    adjacency : {'replace_one', 'add_or_remove_one'}
    beside : int
        Further rows that all data sets share; the subject adds them itself.
    flags : int
        How many of the last columns are labels or groups, with two values: patterns flip them one by one.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    records: int
    adjacency: str = "replace_one"
    beside: int = 0
    flags: int = 0

    def __post_init__(self) -> None:
        """Check the declaration."""
        if len(self.lower) != len(self.upper) or not self.lower:
            raise DeclarationError("lower", self.lower, f"as many bounds as upper has, {len(self.upper)}")
        if not all(low <= high for low, high in zip(self.lower, self.upper, strict=True)):
            raise DeclarationError("lower", self.lower, f"at most upper, {self.upper}")
        if self.adjacency not in ADJACENCIES:
            raise DeclarationError("adjacency", self.adjacency, "one of " + ", ".join(ADJACENCIES))
        smallest = 1 if self.adjacency == "replace_one" or self.beside else 2
        if self.records < smallest:
            raise DeclarationError("records", self.records, f"at least {smallest}")
        if not 0 <= self.flags <= len(self.lower):
            raise DeclarationError("flags", self.flags, f"from 0 to the number of columns, {len(self.lower)}")

    def patterns(self) -> Iterator[Pair]:
        """Yield data sets of lowest and highest rows only; then rows with any flags and all else at one end.

        The differing rows are opposite corners, or one corner with other flags, and the shared rows are alike: the
        worst neighbours of the exact analysis often are of this kind.
        """
        low, high = self.lower, self.upper
        alike = [self._common(rows) for rows in ((low,), (high,), (low, high))]
        split = [self._common((low, high), count) for count in self._splits()]
        plain = list(product(dict.fromkeys([*alike, *split]), self._last((low, high))))
        flagged = self._flagged()
        every = product((self._common((row,)) for row in flagged), self._last(flagged))
        for common, (left, right) in dict.fromkeys([*plain, *every]):
            yield DataSet(common, left), DataSet(common, right)

    def corners(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield data sets of corner rows, endlessly."""
        while True:
            yield self._pair(rng, self._corner)

    def random(self, rng: np.random.Generator) -> Pair:
        """Return data sets of random rows."""
        return self._pair(rng, self._anywhere)

    def moved(self, pair: Pair, reach: float, rng: np.random.Generator) -> Pair:
        """Move one of the distinct rows, or both that differ: all columns a little, or one of them to an end.

        Or move one shared record alone; or make some equal records equal to others.
        """
        left, right = pair
        if left.common and rng.random() < REGROUPED:
            common = self._regrouped(left.common, reach, rng)
            return replace(left, common=common), replace(right, common=common)
        places = len(left.common) + (1 if right.last is None else 3)
        place = int(rng.integers(places))
        if place == len(left.common) + 2:
            # the same move on both sides: their difference stays
            seed = int(rng.integers(2**32))
            first, second = (self._moved(side.last, reach, np.random.default_rng(seed)) for side in pair)
            return replace(left, last=first), replace(right, last=second)
        if place < len(left.common):
            rows = list(left.common)
            rows[place] = (self._moved(rows[place][0], reach, rng), rows[place][1])
            return replace(left, common=tuple(rows)), replace(right, common=tuple(rows))
        if place == len(left.common):
            return replace(left, last=self._moved(left.last, reach, rng)), right
        return left, replace(right, last=self._moved(right.last, reach, rng))

    def _regrouped(
        self, common: tuple[tuple[Row, int], ...], reach: float, rng: np.random.Generator
    ) -> tuple[tuple[Row, int], ...]:
        """Return shared rows in which one record, or a share of equal ones, became another."""
        counts = dict.fromkeys((row for row, _ in common), 0)
        for row, alike in common:
            counts[row] += alike
        rows = list(counts)
        row = rows[int(rng.integers(len(rows)))]
        if len(rows) == 1 or (len(rows) < MOST_DISTINCT and rng.random() < 0.5):
            other, some = self._moved(row, reach, rng), 1
        else:
            other = rows[(rows.index(row) + int(rng.integers(1, len(rows)))) % len(rows)]
            some = max(1, int(counts[row] * reach * rng.random()))
        counts[row] -= some
        counts[other] = counts.get(other, 0) + some
        return tuple(pair for pair in counts.items() if pair[1])

    def holds(self, pair: Pair) -> bool:
        """Return whether all rows are in the box, and all but the last one shared."""
        left, right = pair
        rows = [row for row, _ in left.common] + [data.last for data in pair if data.last is not None]
        within = all(
            low <= value <= high
            for row in rows
            for low, value, high in zip(self.lower, row, self.upper, strict=True)
        )
        size = sum(count for _, count in left.common) + 1
        removed = right.last is None
        return (
            within
            and left.common == right.common
            and size == self.records
            and left.last is not None
            and removed == (self.adjacency == "add_or_remove_one")
        )

    def to_json(self, pair: Pair) -> dict[str, Any]:
        """Return the shared rows with their counts, and the two that differ."""
        left, right = pair
        shared = [{"count": count, "row": list(row)} for row, count in left.common]
        last = {"left": list(left.last), "right": None if right.last is None else list(right.last)}
        return {"common": shared, **last}

    def from_json(self, document: dict[str, Any]) -> Pair:
        """Build both data sets."""
        common = tuple((_row(part["row"]), int(part["count"])) for part in document["common"])
        left, right = (None if document[side] is None else _row(document[side]) for side in ("left", "right"))
        return DataSet(common, left), DataSet(common, right)

    def _last(self, rows: Sequence[Row]) -> list[tuple[Row, Row | None]]:
        """Return the choices of the differing row on both sides, from some rows."""
        if self.adjacency == "replace_one":
            return list(combinations(rows, 2))
        return [(row, None) for row in rows]

    def _flagged(self) -> list[Row]:
        """Return the rows with any flags and all other columns at one end; none without flags."""
        if not self.flags:
            return []
        plain = len(self.lower) - self.flags
        ends = list(zip(self.lower, self.upper, strict=True))[plain:]
        rows = product((self.lower[:plain], self.upper[:plain]), product(*ends))
        return list(dict.fromkeys((*values, *flags) for values, flags in rows))

    @cached_property
    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        return np.array(self.lower), np.array(self.upper)

    def _common(self, rows: Sequence[Row], first: int | None = None) -> tuple[tuple[Row, int], ...]:
        """Return the shared rows: of two, the first this often; else with counts as equal as possible."""
        shared = self.records - 1
        counts = [shared // len(rows) + (place < shared % len(rows)) for place in range(len(rows))]
        if first is not None and len(rows) == 2:
            counts = [first, shared - first]
        return tuple((row, count) for row, count in zip(rows, counts, strict=True) if count)

    def _splits(self) -> list[int]:
        """Return how many shared rows lie below a usual quantile, with or without one more row."""
        found = (round(share * self.records) + step for share in SHARES for step in (-1, 0))
        return [count for count in dict.fromkeys(found) if 0 < count < self.records - 1]

    def _pair(self, rng: np.random.Generator, draw: Any) -> Pair:
        rows = [draw(rng) for _ in range(int(rng.integers(1, 3)))]
        common = self._common(rows, int(rng.integers(self.records)) if rng.random() < 0.5 else None)
        removed = self.adjacency == "add_or_remove_one"
        return DataSet(common, draw(rng)), DataSet(common, None if removed else draw(rng))

    def _corner(self, rng: np.random.Generator) -> Row:
        low, high = self._bounds
        # corners with one, about half or all columns high are as likely as each other
        return _row(np.where(rng.random(len(low)) < rng.choice([1 / len(low), 0.5, 1.0]), high, low))

    def _anywhere(self, rng: np.random.Generator) -> Row:
        return _row(rng.uniform(*self._bounds))

    def _moved(self, row: Row, reach: float, rng: np.random.Generator) -> Row:
        low, high = self._bounds
        values = np.array(row)
        if rng.random() < 0.5:
            column = rng.integers(len(values))
            values[column] = low[column] if rng.random() < 0.5 else high[column]
        else:
            values = np.clip(values + reach * (high - low) * rng.normal(size=len(values)), low, high)
        return _row(values)


def _row(values: Sequence[float] | FloatArray) -> Row:
    return tuple(float(value) for value in values)
