"""A trace: every intermediate of one run, for someone who compares another implementation line by line.

It holds exact statistics of the data and the variates of the noise, so it is not private.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from reference.accounting.release import Release, StatedReadings
from reference.budgets import Budget, SplitBudget
from reference.common.arrays import FloatArray
from reference.common.documents import Document
from reference.common.errors import ReadingError
from reference.datasets.record_blocks import RecordBlocks, moments_of
from reference.minimiser import RELATIVE_ZERO
from reference.moments import Moments
from reference.noise import RandomSource, Recorded, draw
from reference.noise.recorded import Perturbation
from reference.readings import Readings
from reference.records import Records
from reference.registry import MECHANISMS
from reference.sensitivity import l1_sensitivity, l2_sensitivity_squared

CHOICES = {
    "shift": "shift_and_trim adds 4 standard deviations of the noise to the diagonal, of the noisier scale in "
    "use: with one coordinate that of Phi_s. A Laplace scale b has the standard deviation sqrt(2) b.",
    "zero": "An eigenvalue of at most 1e-12 times the largest absolute one, after the shift, counts as zero.",
    "trim": "Eigenvectors whose eigenvalue is zero or negative are dropped; w has no part along them.",
    "singular": "With repair none a singular quadratic that is bounded gives its minimiser of least norm.",
    "ball": "Where two mirror images minimise over the ball, either may be returned.",
    "ties": "x.w = 0 is predicted 0: rho must be above 1/2.",
    "x_s": "x_s is counted from 0 among the coordinates of w; the intercept is the first of them. At random it is "
    "drawn among the unprotected attributes only: neither the intercept nor a kept group.",
    "order": "Linear coefficients, then quadratic ones row by row (e <= l in the monomial basis), then, for "
    "fairness separate, the covariance; unit variates in the same order.",
    "symmetric": "The symmetric matrix holds half of a monomial's coefficient at (e, l) and half at (l, e).",
    "constant": "n log 2 is not part of the release.",
}
"""Choices that the paper leaves open; a port must make the same ones."""


class TracedMoments(Document, frozen=True, kw_only=True):
    """Sums over the encoded records: exact, not private."""

    n: int
    sum_z: int
    zbar: float
    sum_x: tuple[float, ...]
    sum_yx: tuple[float, ...]
    sum_zx: tuple[float, ...]
    sum_xx: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, moments: Moments) -> TracedMoments:
        """Return moments as numbers."""
        vectors: dict[str, Any] = {name: _floats(getattr(moments, name)) for name in ("sum_x", "sum_yx", "sum_zx")}
        rows = tuple(_floats(row) for row in moments.sum_xx)
        return cls(n=moments.n, sum_z=moments.sum_z, zbar=float(moments.zbar), sum_xx=rows, **vectors)


class TracedCoefficient(Document, frozen=True, kw_only=True):
    """One coefficient: exact value, scale and unit variate of its noise, noisy value."""

    name: str
    in_s: bool
    exact: float
    scale: float
    unit_variate: float
    noisy: float


class Trace(Document, frozen=True, kw_only=True, tag_field="schema", tag="trace_v1"):
    """Every intermediate of one run: not private.

    Parameters
    ----------
    note : str
        The mark.
    mechanism : str
    columns : tuple of str
        Coordinates of x and w.
    readings : StatedReadings
    x_s : str or None
    moments : TracedMoments
    l1_sensitivity, l2_sensitivity_squared : Fraction or None
        The one that calibrates the noise, without the slack of hardened noise; None for the other.
    noise : str
    coefficients : tuple of TracedCoefficient
    eigenvalues : tuple of float
        Of the noisy quadratic before any repair, ascending.
    shift : float
        Added to each eigenvalue.
    zero_below : float
        Shifted eigenvalues of at most this count as zero.
    status : str
    w : tuple of float or None
    choices : dict
        What the paper leaves open, and how it was decided here.
    """

    note: Literal["not private: for the data holder"]
    mechanism: str
    columns: tuple[str, ...]
    readings: StatedReadings
    x_s: str | None
    moments: TracedMoments
    l1_sensitivity: Fraction | None
    l2_sensitivity_squared: Fraction | None
    noise: str
    coefficients: tuple[TracedCoefficient, ...]
    eigenvalues: tuple[float, ...]
    shift: float
    zero_below: float
    status: str
    w: tuple[float, ...] | None
    choices: dict[str, str]

    def __repr__(self) -> str:
        # exact statistics may not reach a log by accident
        return f"Trace({self.mechanism}: not private)"


def trace(
    records: Records | RecordBlocks,
    mechanism: str,
    budget: Budget | SplitBudget,
    readings: Readings,
    *,
    x_s: str | int | None = None,
    rng: RandomSource = None,
) -> Trace:
    """Run a mechanism once and return every intermediate.  Not private.

    Parameters
    ----------
    records : Records or RecordBlocks
    mechanism : str
        One that adds noise.
    budget, readings, x_s, rng
        As for the mechanism.
    """
    record = Recorded(None if isinstance(rng, Recorded) else rng)
    check_traceable(mechanism)
    release = MECHANISMS[mechanism].run(records, budget, readings, x_s=x_s, rng=record)
    return trace_of(release, record, records)


def check_traceable(mechanism: str) -> None:
    """Raise :class:`reference.common.errors.ReadingError` unless the mechanism adds noise to coefficients."""
    if mechanism not in MECHANISMS or not MECHANISMS[mechanism].private:
        raise ReadingError("trace", mechanism, "written of a mechanism that adds noise to coefficients")


def trace_of(release: Release, record: Recorded, records: Records | RecordBlocks) -> Trace:
    """Return the trace of a release made with a recorded random source, on these records."""
    kept = record.perturbation
    assert kept is not None
    readings, domain = release.readings.readings, records.domain
    repaired = readings.repair == "shift_and_trim"
    shift = 4 * kept.noise.largest_standard_deviation if repaired else 0.0
    # PFLR* calibrates its published noise to the objective without the fairness term
    unfair = release.mechanism == "pflr" and readings.sensitivity == "published"
    calibration = readings.with_(fairness="none") if unfair else readings
    laplace = kept.noise.kind == "laplace"
    return Trace(
        note="not private: for the data holder",
        mechanism=release.mechanism,
        columns=release.columns,
        readings=release.readings,
        x_s=release.x_s,
        moments=TracedMoments.of(moments_of(records, exact=readings.noise == "hardened")),
        l1_sensitivity=l1_sensitivity(calibration, domain) if laplace else None,
        l2_sensitivity_squared=None if laplace else l2_sensitivity_squared(calibration, domain),
        noise=kept.noise.kind,
        coefficients=tuple(_coefficients(kept)),
        eigenvalues=release.noisy_eigenvalues,
        shift=shift,
        zero_below=RELATIVE_ZERO * float(np.abs(np.array(release.noisy_eigenvalues) + shift).max()),
        status=release.status,
        w=release.w,
        choices=CHOICES,
    )


def _coefficients(kept: Perturbation) -> Sequence[TracedCoefficient]:
    noise, exact = kept.noise, kept.coefficients.values.astype(np.float64)
    if noise.steps is None:
        variates: FloatArray = draw(noise, kept.generator)[0]
    else:
        # the draw on the grid, in scales
        variates = (kept.noisy.values - exact) / noise.scales
    columns = zip(
        kept.coefficients.layout.names, noise.in_s, exact, noise.scales, variates, kept.noisy.values, strict=True
    )
    return [
        TracedCoefficient(
            name=name,
            in_s=bool(inside),
            exact=float(value),
            scale=float(scale),
            unit_variate=float(variate),
            noisy=float(noisy),
        )
        for name, inside, value, scale, variate, noisy in columns
    ]


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
