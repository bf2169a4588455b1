"""The rows that a declared domain encodes, attribute by attribute, for the suprema over them.

Every encoded number is the corner times a number in [0, 1], and each attribute is one of three families: a
*ladder* (one column with levels from 0 to 1), a *block* (columns of which exactly one is 1), or a constant (the
intercept).  A kept group is a column that equals z.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from reference.domain import Domain
from reference.domain.attributes import Attribute, Ordinal

Special = Literal["none", "ladder", "block", "intercept", "group"]


@dataclass(frozen=True)
class Families:
    """The families of a domain, with the one that holds x_s apart.

    Parameters
    ----------
    corner : Fraction
        Every encoded number is a multiple of it.
    ladders : tuple of (int, int)
        Of each ladder without x_s: the index of its attribute, and its steps from 0 to 1 (0: every number).
    blocks : tuple of (int, int)
        Of each block without x_s: the index of its attribute, and its columns.
    intercept, group : bool
        Whether there is an intercept; whether the group is a column.
    special : str
        Which family holds x_s; `none` where no coordinate has its own weight.
    place : tuple of (int, int)
        Index and steps or columns of the ladder or block that holds x_s.
    column : int
        Of x_s in its block.
    """

    corner: Fraction
    ladders: tuple[tuple[int, int], ...]
    blocks: tuple[tuple[int, int], ...]
    intercept: bool
    group: bool
    special: Special = "none"
    place: tuple[int, int] = (0, 0)
    column: int = 0

    @property
    def count(self) -> int:
        """The entries of a row that can be 1 at once: attributes, intercept and group."""
        own = int(self.special in ("ladder", "block"))
        return len(self.ladders) + len(self.blocks) + own + int(self.intercept) + int(self.group)

    @property
    def kind_of_x_s(self) -> tuple[str, int]:
        """The kind of column that x_s is, as far as it matters for the suprema."""
        return self.special, self.place[1]


def families_of(domain: Domain, s: int | None) -> Families:
    """Return the families of a domain, with coordinate `s` apart."""
    ladders, blocks = [], []
    special: Special = "none"
    place, column = (0, 0), 0
    offset = int(domain.intercept)
    for index, attribute in enumerate(domain.attributes):
        width = len(attribute.columns)
        holds = s is not None and offset <= s < offset + width
        entry = (index, _size(attribute))
        if holds and s is not None:
            special, place, column = ("block" if width > 1 else "ladder"), entry, s - offset
        elif width > 1:
            blocks.append(entry)
        else:
            ladders.append(entry)
        offset += width
    if s is not None and special == "none":
        special = "intercept" if domain.intercept and s == 0 else "group"
    return Families(
        Fraction(domain.column_factor),
        tuple(ladders),
        tuple(blocks),
        domain.intercept,
        domain.keep_group,
        special,
        place,
        column,
    )


def _size(attribute: Attribute) -> int:
    """Return the columns of a block, the steps of a ladder, or 0 for a ladder with every number."""
    if len(attribute.columns) > 1:
        return len(attribute.columns)
    return len(attribute.categories) - 1 if isinstance(attribute, Ordinal) else 0
