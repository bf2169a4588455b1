"""Differences of paired runs: a mean with an interval, and the word that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reference.common.arrays import FloatArray

REDUCES, INCREASES, NEITHER, TOO_FEW = "reduces", "increases", "neither", "too few"

LEAST_DIFFERING = 30
"""Pairs that must differ before a sign is stated: with fewer, Student's interval is not trustworthy."""


@dataclass(frozen=True)
class PairedDifference:
    """Differences of one number between two ways of training, on the same splits with the same unit noise.

    Each split is drawn afresh and has one draw of the noise, so the pairs are independent given the table.  The
    interval is for the mean over splits and noise *on this table*; it says nothing about another sample of people.

    Parameters
    ----------
    pairs : int
        Pairs that both have a minimum.
    differing : int
        Pairs whose difference is not 0.
    mean, low, high : float
        The mean, and Student's interval; nan with fewer than two pairs.
    """

    pairs: int
    differing: int
    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, differences: Sequence[float] | FloatArray, significance: float) -> PairedDifference:
        """Return the interval that misses the mean with probability `significance`, if Student's t applies.

        Divide the significance by the number of intervals (Bonferroni), so that all of them hold
        together.  A test measures the coverage on differences that, like these, are skewed and mostly 0.
        """
        values = np.asarray(differences, dtype=np.float64)
        count = len(values)
        if count < 2:
            return cls(count, int(np.count_nonzero(values)), float("nan"), float("nan"), float("nan"))
        from scipy.stats import t as student

        mean = float(values.mean())
        half = float(student.isf(significance / 2, count - 1) * values.std(ddof=1) / np.sqrt(count))
        return cls(count, int(np.count_nonzero(values)), mean, mean - half, mean + half)

    @property
    def word(self) -> str:
        """The finding: a sign, no sign, or too few differing pairs."""
        if self.differing < LEAST_DIFFERING:
            return TOO_FEW
        return REDUCES if self.high < 0 else INCREASES if self.low > 0 else NEITHER

    def to_json(self) -> dict[str, Any]:
        """Return the numbers; no interval where too few pairs differ for one."""
        return {
            "pairs": self.pairs,
            "differing": self.differing,
            "mean": None if np.isnan(self.mean) else self.mean,
            "interval": None if self.differing < LEAST_DIFFERING else [self.low, self.high],
            "word": self.word,
        }
