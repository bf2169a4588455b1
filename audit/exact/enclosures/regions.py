"""Certificates over whole regions: boxes are checked, or split, until each is certain.

A box is a product of two closed intervals with rational ends.  A check answers True (certain for all points of
the box), or None.  A probe looks at the box's middle and returns a counterexample, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from reference.common.numbers import decimal_text


@dataclass(frozen=True)
class Box:
    """A product of two closed intervals.

    Parameters
    ----------
    left, right : Fraction
        Ends of the first coordinate.
    bottom, top : Fraction
        Ends of the second coordinate.
    """

    left: Fraction
    right: Fraction
    bottom: Fraction
    top: Fraction

    @property
    def middle(self) -> tuple[Fraction, Fraction]:
        """The centre."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    def halves(self, *, first: bool) -> tuple[Box, Box]:
        """Return the two halves along the first or the second coordinate."""
        x, y = self.middle
        if first:
            return Box(self.left, x, self.bottom, self.top), Box(x, self.right, self.bottom, self.top)
        return Box(self.left, self.right, self.bottom, y), Box(self.left, self.right, y, self.top)

    def to_json(self) -> list[list[str]]:
        """Return both intervals as exact strings."""
        return [
            [decimal_text(self.left), decimal_text(self.right)],
            [decimal_text(self.bottom), decimal_text(self.top)],
        ]


Check: TypeAlias = Callable[[Box], bool | None]
Probe: TypeAlias = Callable[[Box], dict[str, Any] | None]
Split: TypeAlias = Callable[[Box], bool]


@dataclass(frozen=True)
class RegionCertificate:
    """The outcome of a region check.

    Parameters
    ----------
    verdict : {'enclosed', 'refuted', 'undecided'}
    region : Box
    boxes : int
        Certified boxes.  They cover the region if the verdict is `enclosed`.
    halvings : int
        How many halvings made the smallest box.
    counterexample : dict or None
        A point with enclosures of both sides.
    """

    verdict: str
    region: Box
    boxes: int
    halvings: int
    counterexample: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields."""
        return {
            "verdict": self.verdict,
            "region": self.region.to_json(),
            "boxes": self.boxes,
            "halvings": self.halvings,
            "counterexample": self.counterexample,
        }


def certify(
    region: Box, check: Check, probe: Probe, split_first: Split, most_boxes: int = 4_000_000
) -> RegionCertificate:
    """Cover a region by boxes that pass a check.

    A box that does not pass is probed at its middle, then halved.  A counterexample ends the
    search; running out of boxes is `undecided`.

    Parameters
    ----------
    region : Box
    check : callable
        True when the property is certain on the whole box.
    probe : callable
        A counterexample at the middle of the box, certain itself, or None.
    split_first : callable
        Whether to halve along the first coordinate.
    most_boxes : int
        Most boxes to check.
    """
    waiting = [(region, 0)]
    certified = looked_at = deepest = 0
    while waiting:
        box, depth = waiting.pop()
        looked_at += 1
        deepest = max(deepest, depth)
        if check(box) is True:
            certified += 1
            continue
        found = probe(box)
        if found is not None:
            return RegionCertificate("refuted", region, certified, deepest, found)
        if looked_at + len(waiting) >= most_boxes:
            return RegionCertificate("undecided", region, certified, deepest)
        waiting.extend((half, depth + 1) for half in box.halves(first=split_first(box)))
    return RegionCertificate("enclosed", region, certified, deepest)
