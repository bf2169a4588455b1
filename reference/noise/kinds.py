"""A noise: its kind, scales and grid, all public and independent of the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reference.common.arrays import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of one mechanism: public, and independent of the data.

    Parameters
    ----------
    kind : {'laplace', 'gaussian', 'none'}
    scale_s, scale_n : float
        Laplace scale, or Gaussian sigma, on the coefficients inside and outside Phi_s.
    in_s : ndarray of bool, shape (size,)
        Which coefficients are in Phi_s.
    steps : int or None
        Hardened noise: the values and the noise are multiples of 1/steps, and the noise is the discrete
        Laplace or discrete Gaussian distribution on that grid.  None: continuous noise on real numbers.
    """

    kind: str
    scale_s: float
    scale_n: float
    in_s: BoolArray
    steps: int | None = None

    @classmethod
    def uniform(cls, kind: str, scale: float, size: int, steps: int | None = None) -> Noise:
        """Return one scale for every coefficient."""
        return cls(kind, scale, scale, np.zeros(size, dtype=np.bool_), steps)

    @property
    def scales(self) -> FloatArray:
        """Scale per coefficient, shape (size,)."""
        return np.where(self.in_s, self.scale_s, self.scale_n)

    @property
    def largest_standard_deviation(self) -> float:
        """The standard deviation of the noisier of the two groups, in the unit of the coefficients.

        Of the continuous distribution; the discrete one differs by far less than a rounding error here.
        """
        unit = float(np.sqrt(2.0)) if self.kind == "laplace" else 1.0
        return unit * float(self.scales.max())
