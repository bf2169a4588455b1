"""Bugs of the minimiser and its repairs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from audit.vectors.mutants.broken import Broken
from reference.coefficients import NoisyCoefficients
from reference.common.arrays import FloatArray
from reference.minimiser import Minimum
from reference.noise import Noise
from reference.readings import Readings


def _noise(noisy: NoisyCoefficients) -> Noise:
    noise: Any = noisy.noise
    found: Noise = noise
    return found


def _parts(noisy: NoisyCoefficients) -> tuple[FloatArray, FloatArray]:
    """Return the linear coefficients and the symmetric matrix, as floats."""
    matrix = noisy.quadratic
    return noisy.linear.astype(np.float64), (matrix + matrix.T) / 2


def _at(found: Minimum, w: FloatArray) -> Minimum:
    return Minimum("ok", tuple(w.tolist()), found.eigenvalues)


def _on_eigenvectors(noisy: NoisyCoefficients, eigenvalues: FloatArray, kept: FloatArray) -> FloatArray:
    """Return -S^+ c / 2 for the given eigenvalues, on the kept eigenvectors only."""
    linear, matrix = _parts(noisy)
    vectors = np.linalg.eigh(matrix)[1]
    safe = np.where(kept, eigenvalues, 1.0)
    w: FloatArray = vectors @ np.where(kept, -(vectors.T @ linear) / (2 * safe), 0.0)
    return w


def _shifted(noisy: NoisyCoefficients, readings: Readings) -> FloatArray:
    """Return the repaired eigenvalues."""
    shift = 4 * noisy.noise.largest_standard_deviation
    found: FloatArray = np.linalg.eigvalsh(_parts(noisy)[1]).astype(np.float64)
    return found + (shift if readings.repair == "shift_and_trim" else 0.0)


def _repairs(noisy: NoisyCoefficients, readings: Readings) -> bool:
    """Return whether a variant of the repair applies: it drops eigenvectors, and nothing is penalised."""
    return readings.repair in ("trim", "shift_and_trim") and noisy.covariance is None


class HalfForgotten(Broken):
    """w solves S w = -c instead of 2 S w = -c.

    Every weight is twice what it is.
    """

    claims = ("A.argmin",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        found = super().minimise(noisy, readings)
        return found if found.w is None else _at(found, 2 * np.array(found.w))


class MaximumTaken(Broken):
    """w has the wrong sign: the linear coefficient is not negated.

    The classifier predicts the opposite.
    """

    claims = ("A.argmin",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        found = super().minimise(noisy, readings)
        return found if found.w is None else _at(found, -np.array(found.w))


class OffDiagonalNotHalved(Broken):
    """The coefficient of w_e w_l stands at both (e, l) and (l, e) of the symmetric matrix.

    Interactions count twice in the minimum.
    """

    claims = ("A.argmin",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        rows, columns = noisy.layout.pairs
        d, values = noisy.layout.dimension, noisy.values.astype(np.float64)
        values[d : d + len(rows)] *= np.where(rows == columns, 1.0, 2.0)
        return super().minimise(replace(noisy, values=values), readings)


class TriangleNotSymmetrised(Broken):
    """A solver that reads the lower triangle of a symmetric matrix is given the upper one: interactions are lost.

    Correlated attributes are treated as uncorrelated.
    """

    bug_type = "KNOWN_BUG"
    claims = ("A.argmin",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        rows, columns = noisy.layout.pairs
        if noisy.layout.basis == "matrix":
            return super().minimise(noisy, readings)
        d, values = noisy.layout.dimension, noisy.values.astype(np.float64)
        values[d : d + len(rows)] *= rows == columns
        return super().minimise(replace(noisy, values=values), readings)


class TrimmedByWrongCount(Broken):
    """One eigenvector too many is dropped: the count starts at 1.

    A direction that the data determine is lost.
    """

    bug_type = "KNOWN_BUG"
    claims = ("A.fix",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        found = super().minimise(noisy, readings)
        eigenvalues = _shifted(noisy, readings)
        kept = eigenvalues > 1e-12 * np.abs(eigenvalues).max()
        if not _repairs(noisy, readings) or kept.all() or not kept.any():
            return found
        kept[int(np.flatnonzero(kept)[0])] = False
        return _at(found, _on_eigenvectors(noisy, eigenvalues, kept))


class NegativeEigenvaluesFlipped(Broken):
    """A negative eigenvalue is replaced by its absolute value instead of dropped with its eigenvector.

    Noise decides a direction that has no minimum.
    """

    bug_type = "POSTPROCESSING"
    claims = ("A.fix",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        found = super().minimise(noisy, readings)
        eigenvalues = np.abs(_shifted(noisy, readings))
        if not _repairs(noisy, readings):
            return found
        return _at(found, _on_eigenvectors(noisy, eigenvalues, eigenvalues > 1e-12 * eigenvalues.max()))


class NegativeEigenvaluesClipped(Broken):
    """A negative eigenvalue is raised to a small positive number.

    w runs away along its eigenvector.
    """

    bug_type = "POSTPROCESSING"
    claims = ("A.fix",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        found = super().minimise(noisy, readings)
        eigenvalues = np.maximum(_shifted(noisy, readings), 1e-6)
        if not _repairs(noisy, readings):
            return found
        return _at(found, _on_eigenvectors(noisy, eigenvalues, np.ones(len(eigenvalues), dtype=np.bool_)))


class _Shift(Broken):
    """The shift is another one."""

    bug_type = "POSTPROCESSING"
    claims = ("A.fix",)

    def shift(self, noisy: NoisyCoefficients) -> float:
        """Return what is added to the diagonal."""
        return 4 * noisy.noise.largest_standard_deviation

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        if readings.repair != "shift_and_trim":
            return super().minimise(noisy, readings)
        e, k = noisy.layout.pairs
        d, values = noisy.layout.dimension, noisy.values.astype(np.float64)
        # subtracts what the wrong shift lacks from the diagonal
        lacking = self.shift(noisy) - 4 * noisy.noise.largest_standard_deviation
        values[d : d + len(e)] += np.where(e == k, lacking, 0.0)
        return super().minimise(replace(noisy, values=values), readings)


class ShiftByQuieterScale(_Shift):
    """The shift of the repair uses the scale of Phi_n, or the smaller of the two.

    Four deviations of the noise are meant: of the noisier set.
    """

    def shift(self, noisy: NoisyCoefficients) -> float:
        scales = _noise(noisy).scales
        return super().shift(noisy) * float(scales.min() / scales.max())


class ShiftByScale(_Shift):
    """The shift of the repair is four Laplace scales instead of four standard deviations, sqrt(2) scales each.

    Nothing is wrong for Gaussian noise.
    """

    def shift(self, noisy: NoisyCoefficients) -> float:
        return super().shift(noisy) * (float(np.sqrt(0.5)) if _noise(noisy).kind == "laplace" else 1.0)


class ShiftForgotten(_Shift):
    """The diagonal is not shifted: eigenvectors are only dropped.

    The weights are larger and noisier than those of the stated repair.
    """

    def shift(self, noisy: NoisyCoefficients) -> float:
        return 0.0


class ShiftTwice(_Shift):
    """The diagonal is shifted by eight deviations: four were added to each of the two triangles.

    The weights are too small.
    """

    def shift(self, noisy: NoisyCoefficients) -> float:
        return 2 * super().shift(noisy)


class NoiseRedrawn(Broken):
    """Noise is added again until the objective has a minimum.

    Each further draw costs privacy, and that there was one depends on the data.
    """

    bug_type = "KNOWN_BUG"
    claims = ("A.fix.resample",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        found = super().minimise(noisy, readings)
        e, k = noisy.layout.pairs
        d, values = noisy.layout.dimension, noisy.values.astype(np.float64)
        for _ in range(64):
            if found.w is not None:
                break
            values[d : d + len(e)] += np.where(e == k, _noise(noisy).scales.max(), 0.0)
            found = super().minimise(replace(noisy, values=values), readings)
        return found


class SaddlePointTaken(Broken):
    """The linear system is solved although the quadratic is indefinite: w is a saddle point.

    An objective without a minimum is reported as minimised.
    """

    bug_type = "MISSING_STEP"
    claims = ("A.argmin",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        found = super().minimise(noisy, readings)
        if found.w is not None:
            return found
        eigenvalues = np.linalg.eigvalsh(_parts(noisy)[1]).astype(np.float64)
        kept = np.abs(eigenvalues) > 1e-12 * np.abs(eigenvalues).max()
        return _at(found, _on_eigenvectors(noisy, eigenvalues, kept))


class SingularIsUnbounded(Broken):
    """A singular quadratic is reported as unbounded, also where it has minimisers.

    Duplicate columns have one of least norm.
    """

    bug_type = "EDGE_CASE"
    claims = ("A.argmin",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        found = super().minimise(noisy, readings)
        eigenvalues = np.linalg.eigvalsh(_parts(noisy)[1])
        singular = float(eigenvalues[0]) <= 1e-12 * float(np.abs(eigenvalues).max())
        return Minimum("unbounded", None, found.eigenvalues) if readings.repair == "none" and singular else found


class NotLeastNorm(Broken):
    """Of the minimisers of a singular quadratic one with a zero coordinate is taken, as elimination gives it.

    Duplicate columns do not share their weight.
    """

    bug_type = "EDGE_CASE"
    claims = ("A.argmin",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        found = super().minimise(noisy, readings)
        eigenvalues, vectors = np.linalg.eigh(_parts(noisy)[1])
        null = vectors[:, np.abs(eigenvalues) <= 1e-12 * np.abs(eigenvalues).max()]
        if (
            found.w is None
            or readings.repair == "ball"
            or null.shape[1] == 0
            or readings.repair == "shift_and_trim"
        ):
            return found
        direction, w = null[:, 0], np.array(found.w)
        last = int(np.flatnonzero(np.abs(direction) > 1e-9)[-1])
        return _at(found, w - direction * w[last] / direction[last])


class BallNotApplied(Broken):
    """The ball of the repair is forgotten where the objective is convex.

    w may be longer than the stated radius.
    """

    bug_type = "POSTPROCESSING"
    claims = ("A.fix",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        free = super().minimise(noisy, readings.with_(repair="none")) if readings.repair == "ball" else None
        return super().minimise(noisy, readings) if free is None or free.w is None else free


class BallByProjection(Broken):
    """The minimum in the ball is the unconstrained one, shortened to the radius.

    That is the minimum only where the quadratic is a multiple of the identity.
    """

    bug_type = "POSTPROCESSING"
    claims = ("A.fix",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        free = super().minimise(noisy, readings.with_(repair="none")) if readings.repair == "ball" else None
        if free is None or free.w is None:
            return super().minimise(noisy, readings)
        w = np.array(free.w)
        return _at(free, w * min(1.0, float(readings.ball_radius) / max(float(np.linalg.norm(w)), 1e-300)))


class KinkInBall(Broken):
    """The covariance is kept together with the ball, and then forgotten in it.

    w is the minimum of another objective, without fairness.
    """

    bug_type = "FAIRNESS"

    def penalised(self, readings: Readings) -> Readings:
        return readings if readings.repair == "ball" else super().penalised(readings)


class FallStoppedByNothing(Broken):
    """Whether a singular objective falls without end is asked of c alone: the fairness term may stop it.

    An objective that has a minimum is reported as unbounded.
    """

    bug_type = "EDGE_CASE"
    claims = ("A.argmin",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        found = super().minimise(noisy, readings)
        if noisy.covariance is None or readings.repair != "none":
            return found
        alone = super().minimise(noisy, readings.with_(fairness_weight=0))
        return found if alone.w is not None else alone


class FlatPartDropped(Broken):
    """w gets no part along the eigenvectors of a singular quadratic, though the fairness term has one.

    g.w misses tau, which costs nothing to reach.
    """

    bug_type = "EDGE_CASE"
    claims = ("A.argmin",)

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        found = super().minimise(noisy, readings)
        if noisy.covariance is None or readings.repair != "none" or found.w is None:
            return found
        return super().minimise(noisy, readings.with_(repair="trim"))


class TauIgnored(Broken):
    """tau is taken for 0.

    The kink of the fairness term stands at the wrong place.
    """

    bug_type = "FAIRNESS"

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        return super().minimise(noisy, readings.with_(tau=0))


class KinkForgotten(Broken):
    """The fairness term is minimised on one side of its kink only: the absolute value is dropped.

    w overshoots to unfairness of the other sign.
    """

    bug_type = "FAIRNESS"

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        if noisy.covariance is None:
            return super().minimise(noisy, readings)
        d, values = noisy.layout.dimension, noisy.values.astype(np.float64)
        values[:d] += float(readings.fairness_weight) * values[-d:]
        values[-d:] = 0.0
        return super().minimise(replace(noisy, values=values), readings)


class CovarianceNotUsed(Broken):
    """The covariance is released and left out of the minimisation.

    Its budget is spent, and w is not fair.
    """

    bug_type = "MISSING_STEP"

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        return super().minimise(noisy, readings.with_(fairness_weight=0))
