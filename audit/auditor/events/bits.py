"""Scores of the bits of floats: what an output in double precision shows and a real number would not.

The set of floats that `value + noise` can give depends on the value (Mironov 2012): a sum is rounded to the grid
of the larger term, so that it is a multiple of a power of two that noise alone need not be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audit.auditor.events.protocol import READERS, StoredByItsFields
from reference.common.arrays import FloatArray

ZERO_EXPONENT = 2000
"""Stands for the power of two that divides 0: above all others."""

KINDS = ("divisor", "trailing_zeros", "low_bits", "negative_zero")


@dataclass(frozen=True)
class BitScore(StoredByItsFields):
    """A number read off the bits of one coordinate, less an offset.

    Parameters
    ----------
    coordinate : int
    kind : {'divisor', 'trailing_zeros', 'low_bits', 'negative_zero'}
        Exponent of the largest power of two that divides the value; trailing zeros of its significand; its last
        three bits as a number; 1 for -0.0.
    offset : float
        Subtracted first, in floating point: a candidate for the value that the noise was added to.
    """

    coordinate: int
    kind: str
    offset: float = 0.0
    name: ClassVar[str] = "bits"
    learned: ClassVar[bool] = False
    sees_all: ClassVar[bool] = False

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the numbers."""
        values = outputs[:, self.coordinate]
        if self.kind == "negative_zero":
            return np.asarray(np.signbit(values) & (values == 0.0), dtype=np.float64)
        if self.offset:
            values = values - self.offset
        fraction, exponent = np.frexp(values)
        significand = np.abs(np.ldexp(fraction, 53)).astype(np.int64)
        if self.kind == "low_bits":
            return (significand & 7).astype(np.float64)
        lowest = significand & -significand
        zeros = np.where(
            significand == 0, ZERO_EXPONENT, np.bitwise_count(np.maximum(lowest, 1) - 1).astype(np.int64)
        )
        places = zeros if self.kind == "trailing_zeros" else zeros + exponent - 53
        return np.where(significand == 0, ZERO_EXPONENT, places).astype(np.float64)


@dataclass(frozen=True)
class EqualityScore(StoredByItsFields):
    """The number of neighbouring coordinates, in ascending order of value, that are equal bit for bit."""

    name: ClassVar[str] = "equal_coordinates"
    learned: ClassVar[bool] = False
    sees_all: ClassVar[bool] = False

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the counts."""
        ordered = np.sort(outputs, axis=1)
        return np.asarray((ordered[:, 1:] == ordered[:, :-1]).sum(axis=1), dtype=np.float64)


READERS["bits"] = lambda document: BitScore(
    int(document["coordinate"]), str(document["kind"]), float(document["offset"])
)
READERS["equal_coordinates"] = lambda _: EqualityScore()
