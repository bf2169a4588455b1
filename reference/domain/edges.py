"""A rule that divides the range of a number into bins by its bounds alone, without looking at data."""

from __future__ import annotations

from collections.abc import Iterator

PARTS = 8
"""Equal parts of the declared range; the lowest is halved again until a part is narrower than 1."""


def edges_of(lower: float, upper: float) -> tuple[float, ...]:
    """Return the edges of a range's bins: its eighths, and halves of the lowest eighth down to 1.

    Counts and amounts have most of their values near their lower end, and are declared in ones.  Balances and
    differences have them near 0: a wide range with 0 inside is cut at 0, and at halves of both bounds down to 1.
    Edges that rounding moves onto each other or onto a bound count once, or not at all.
    """
    width = upper - lower
    if lower < 0 < upper and width >= 2 * PARTS:
        return tuple(sorted({0.0, *_halves(upper / 2), *(-edge for edge in _halves(-lower / 2))}))
    # the width times a part may be infinite
    edges = {*(width / PARTS * part for part in range(1, PARTS)), *_halves(width / PARTS / 2)}
    return tuple(sorted({lower + edge for edge in edges if lower < lower + edge < upper}))


def _halves(largest: float) -> Iterator[float]:
    """Yield a number, its half, and so on down to 1."""
    while largest >= 1:
        yield largest
        largest /= 2
