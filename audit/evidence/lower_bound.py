"""A lower bound that tells what it rests on."""

from __future__ import annotations

from typing import Any, Self


class LowerBound(float):
    """A number with attributes, which copies and pickles of it keep.

    Parameters
    ----------
    value : float
    **rests_on
        The attributes.

    Attributes
    ----------
    significance : float
    assumes : str
        The assumption, in words, and what about the arrays nobody could check.
    """

    significance: float
    assumes: str

    def __new__(cls, value: float, **rests_on: Any) -> Self:
        """Return the number; a copy is made without attributes, and gets them afterwards."""
        bound = super().__new__(cls, value)
        vars(bound).update(rests_on)
        return bound
