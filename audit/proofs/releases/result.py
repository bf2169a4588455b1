"""The outcome for one release: certified, rejected, or undecided and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from audit.proofs.releases.check import CoqFinding
from audit.proofs.releases.comparison import Comparison, ScaleName
from audit.proofs.releases.exported import Exported
from audit.proofs.releases.theorem import Covered
from audit.proofs.sigma import quotient
from reference.common.documents import Document, converted
from reference.common.numbers import decimal_text, short_text

LIMITS = """\
The theorem is about real arithmetic, noise given by its density, and test functions on boxes.  It takes the
file's word for the scales.  The sampler, the floats, the solver and the random generator are outside: nothing here
says that a program is differentially private."""

LIMITS_ON_A_GRID = """\
The theorem is about exact coefficients, rounded to the grid, discrete noise given by its probabilities, and every
event.  Section 1 of proofs/hardened_noise.md proves, on paper, that rounded records stay in the domain and that
their sums are exact.  The theorem takes the file's word for the scales.  The sampler, the solver and the
random generator are outside: nothing here says that a program is differentially private."""

SEEDED = "the release is seeded: whoever knows the seed can remove the noise"


Outcome = Literal["certified", "rejected", "no theorem", "not checked", "undecided"]
"""Rejected: a scale is too small, and Coq rejects it.  Not checked: Coq is absent.  Undecided: Coq was stopped, or
disagrees with Python."""


@dataclass(frozen=True)
class Result:
    """The outcome for one release.

    Parameters
    ----------
    release : Exported
    covered : Covered or None
        None when no theorem covers the release.
    outcome : Outcome
    detail : str
    proof : str or None
        The Coq file.
    """

    release: Exported
    covered: Covered | None
    outcome: Outcome
    detail: str
    proof: str | None

    @property
    def notes(self) -> list[str]:
        """Notes for the reader besides the outcome."""
        return [SEEDED] if self.release.seeded else []

    @property
    def limits(self) -> str:
        """What the theorem covers, and what it does not."""
        return LIMITS if self.release.steps is None else LIMITS_ON_A_GRID


def judged(found: Covered, finding: CoqFinding) -> tuple[Outcome, str]:
    """Return the outcome from Coq's answer and the same comparisons in Python's exact arithmetic.

    Coq also rejects a file whose proof fails for another reason, so a rejection counts only where a comparison
    fails.
    """
    if finding.accepted is None:
        return "undecided", finding.detail
    if finding.accepted and found.reached:
        return "certified", finding.detail
    if not finding.accepted and not found.reached:
        return "rejected", "Coq rejects the certificate: " + "; ".join(_too_small(found))
    said = "accepts" if finding.accepted else "rejects"
    return "undecided", f"Coq {said} the certificate, and Python's comparison says otherwise: {finding.detail}"


def _too_small(found: Covered) -> Iterator[str]:
    for comparison in found.comparisons:
        if not comparison.holds:
            yield f"{comparison.name} is {shown(comparison)}"


def shown(comparison: Comparison) -> str:
    """Show a scale beside what the theorem requires of it."""
    share = comparison.scale / comparison.formula - 1
    side = f"{short_text(abs(share))} of it {'above' if share > 0 else 'below'}" if share else "equal to"
    return f"{float(comparison.scale)!r}, {side} {_formula(comparison)}"


def _formula(comparison: Comparison) -> str:
    if comparison.bounds is None:
        return f"Delta_1 / epsilon = {decimal_text(comparison.formula)}"
    return f"the paper's sigma, at most {float(comparison.formula)!r}"


def certified_pair(result: Result) -> tuple[Fraction, Fraction]:
    """Return the (epsilon, delta) in question: the theorem's, else those that the release states."""
    found = result.release if result.covered is None else result.covered
    return found.epsilon, found.delta


class CertifiedReadings(Document, frozen=True, kw_only=True):
    """The readings of a release that a theorem depends on."""

    domain: Literal["unit_ball", "unit_box", "symmetric_ball"]
    adjacency: Literal["replace_one", "add_or_remove_one"]
    basis: Literal["monomial", "matrix"]
    fairness: Literal["none", "absolute", "covariance", "separate"]
    fairness_weight: str
    sensitivity: str


class CertifiedScale(Document, frozen=True, kw_only=True):
    """One scale beside the formula that it must reach.

    Parameters
    ----------
    name : {'scale', 'scale_s', 'scale_n'}
    value : str
        ``p/q``: exactly the float in the release.
    at_least : float
        The formula, rounded.
    holds : bool
        In exact arithmetic.
    """

    name: ScaleName
    value: str
    at_least: float
    holds: bool


class ReleaseCertificate(Document, frozen=True, kw_only=True, tag_field="schema", tag="release_certificate_v2"):
    """The output of ``python -m audit certify --format json`` for one release.

    Parameters
    ----------
    release : str
        The file read.
    mechanism, detail : str
    outcome : Outcome
    epsilon, delta : str
        A decimal number or ``p/q``.
    published : bool
        Whether a theorem of the paper states epsilon and delta; else the budget gives them.
    dimension : int
    x_s : int or None
        Index of the coordinate with its own budget.
    readings : CertifiedReadings
    seeded : bool
    theorem : str or None
        Of ``proofs/coq/Certificates.v``, ``SplitCertificates.v`` or ``HardenedCertificates.v``.
    claims : tuple of str
        Rows of the claims ledger.
    scales : tuple of CertifiedScale
    proof : str or None
        The Coq file written.
    notes : tuple of str
    limits : str
    """

    release: str
    mechanism: str
    outcome: Outcome
    detail: str
    epsilon: str
    delta: str
    published: bool
    dimension: Annotated[int, Meta(ge=1)]
    x_s: Annotated[int, Meta(ge=0)] | None
    readings: CertifiedReadings
    seeded: bool
    theorem: str | None
    claims: tuple[str, ...]
    scales: tuple[CertifiedScale, ...]
    proof: str | None
    notes: tuple[str, ...]
    limits: str


def certificate_of(result: Result, path: str) -> ReleaseCertificate:
    """Return the result on the release in the file `path`, as a document."""
    release, found = result.release, result.covered
    epsilon, delta = certified_pair(result)
    return ReleaseCertificate(
        release=path,
        mechanism=release.spec.name,
        outcome=result.outcome,
        detail=result.detail,
        epsilon=decimal_text(epsilon),
        delta=decimal_text(delta),
        published=release.is_published,
        dimension=release.setting.dimension,
        x_s=release.x_s,
        readings=_readings(release),
        seeded=release.seeded,
        theorem=None if found is None else found.theorem,
        claims=() if found is None else tuple(found.claims),
        scales=() if found is None else tuple(_scale(comparison) for comparison in found.comparisons),
        proof=result.proof,
        notes=tuple(result.notes),
        limits=" ".join(result.limits.split()),
    )


def _readings(release: Exported) -> CertifiedReadings:
    setting = release.setting
    fields = {
        "domain": setting.norm,
        "adjacency": setting.adjacency,
        "basis": setting.basis,
        "fairness": setting.fairness,
        "fairness_weight": decimal_text(setting.fairness_weight),
        "sensitivity": release.readings.sensitivity,
    }
    return converted(fields, CertifiedReadings)


def _scale(comparison: Comparison) -> CertifiedScale:
    return CertifiedScale(
        name=comparison.name,
        value=quotient(comparison.scale).replace(" # ", "/"),
        at_least=float(comparison.formula),
        holds=comparison.holds,
    )
