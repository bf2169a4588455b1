"""Measurements of OpenDP as subjects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.auditor.subject import SubjectError
from audit.subjects.adapters.outputs import OWN_ENTROPY, as_rows
from reference.common.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class OpenDPMeasurement:
    """An OpenDP measurement on two values of its input domain.

    OpenDP's samplers take no seed, so the measurement draws from the operating system's entropy.

    Parameters
    ----------
    measurement : opendp.mod.Measurement
    left, right : object
        At most `d_in` apart in the measurement's input metric: OpenDP does not compute distances, so the caller
        ensures this.
    d_in : number
        Distance at which the measurement's privacy map is read; 1 by default.
    outcomes : tuple
        All values that an output can take, if they are not numbers.
    """

    measurement: Any
    left: Any
    right: Any
    d_in: Any = 1
    outcomes: tuple[Any, ...] = ()
    own_entropy = True
    notes = (OWN_ENTROPY,)
    most_rows = 1024

    @property
    def claimed_epsilon(self) -> float:
        """The privacy map's epsilon at `d_in`."""
        return self._claim()[0]

    @property
    def claimed_delta(self) -> str:
        """The privacy map's delta at `d_in`; 0 for a pure measurement."""
        return repr(self._claim()[1])

    def inputs(self) -> tuple[Any, Any]:
        """Return the two values."""
        return self.left, self.right

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, k); `rng` is not used."""
        return as_rows((self.measurement(data) for _ in range(count)), self.outcomes)

    def _claim(self) -> tuple[float, float]:
        measure = str(self.measurement.output_measure)
        if measure == "MaxDivergence":
            return float(self.measurement.map(self.d_in)), 0.0
        if measure == "Approximate(MaxDivergence)":
            epsilon, delta = self.measurement.map(self.d_in)
            return float(epsilon), float(delta)
        raise SubjectError(
            f"a measurement in {measure} claims no epsilon and delta: convert it first, for instance with "
            "make_zCDP_to_approxDP and make_fix_delta"
        )
