"""A score: a number per output; it can be stored and read back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np

from reference.common.arrays import FloatArray
from reference.common.documents import plain


class Score(Protocol):
    """A real-valued function of outputs; serialisable, so that an event can be tested again elsewhere."""

    name: ClassVar[str]
    learned: ClassVar[bool]
    """Whether it is fitted to the learning draws, which must then not help to choose its threshold."""
    sees_all: ClassVar[bool]
    """Whether it takes outputs that are not finite; other scores never see them."""
    binary: ClassVar[bool]
    """Whether it is 0 or 1."""

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return one score per output: (n, k) -> (n,)."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the parameters, without the name."""
        ...


class StoredByItsFields:
    """A score, a dataclass, whose parameters are its fields."""

    binary: ClassVar[bool] = False

    def to_json(self) -> dict[str, Any]:
        """Return the parameters, without the name."""
        fields: dict[str, Any] = plain(self)
        return fields


READERS: dict[str, Callable[[dict[str, Any]], Score]] = {}
"""The reader of each kind of score, by name."""


def score_all(score: Score, outputs: FloatArray) -> FloatArray:
    """Return one score per output; a score for finite outputs meets 0 in place of each number that is not finite.

    So a coordinate that never is finite hides no other one; :attr:`Score.sees_all` tells what became 0.
    """
    return score(outputs if score.sees_all else filled(outputs))


def filled(outputs: FloatArray) -> FloatArray:
    """Return the outputs with 0 in place of each number that is not finite."""
    # a finite sum has finite terms, and is much faster than checking each
    with np.errstate(invalid="ignore", over="ignore"):
        if math.isfinite(float(outputs.sum())):
            return outputs
    finite = np.isfinite(outputs)
    return outputs if finite.all() else np.where(finite, outputs, 0.0)
