"""The cost of a release of the repaired mechanism: its sensitivities and its account, computed again.

The sensitivities are those of ``proofs/repaired.md``, from the declared domain alone; nothing of
``reference.repaired`` but the type of the file takes part, which compares it with the public schedule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal, NamedTuple, TypeAlias

from msgspec import Meta

from audit.proofs.releases.errors import NoTheoremError
from audit.proofs.releases.result import SEEDED, Outcome
from reference.common.balls import Ball, ball, enclosed, sign, square_root
from reference.common.documents import Document
from reference.common.numbers import decimal_text, rounded_up
from reference.domain import Domain
from reference.domain.attributes import Numeric, Ordinal
from reference.noise import analytic_gaussian_sigma
from reference.noise.profile import is_private_shift, profile
from reference.repaired.released import RepairedRelease
from reference.repaired.spent import SUM_STEPS

Kind: TypeAlias = Literal["gaussian", "laplace"]

MASS = Fraction(1, 2**60)
"""The tails beyond the reach may cost this share of delta."""

CLAIMS = ("R",)

LIMITS = """\
Lemmas 1 to 4 of proofs/repaired.md, which Coq checks for sums of real numbers, bound what each release loses.
That the program computes these sums is not proved.  In the theorem, too, a probe depends on the released share of
the group.  The theorem takes the file's word for the scales.  It is about real arithmetic and noise given by its
density, or about discrete noise given by its probabilities: nothing here says that a program is differentially
private."""

TOO_SMALL_FOR_THE_GRID = "hardened Gaussian noise is covered where it is wide against the grid; here it is not"

FINE = 2**100
"""Shifts are rounded up to multiples of 1/FINE, so fine that a tight statement still holds."""


@dataclass(frozen=True)
class SpentPart:
    """One release.

    Parameters
    ----------
    what : str
    numbers : int
    change, needed : Fraction
        How far one person's records can change it: as the file states, and by the lemmas.  In l1 for Laplace
        noise, its square in l2 for Gaussian noise.
    scale : Fraction
        Exactly the float in the file.
    loss : Fraction
        Squared shift, or epsilon.
    allowed : Fraction or None
        What it may lose if its scale follows an earlier release; None if its scale is fixed.
    narrowest : Fraction or None
        Its least possible scale then.
    """

    what: str
    numbers: int
    change: Fraction
    needed: Fraction
    scale: Fraction
    loss: Fraction
    allowed: Fraction | None
    narrowest: Fraction | None

    @property
    def bound(self) -> Fraction:
        """What it may lose, whatever was released before."""
        return max(self.loss, self.allowed or self.loss)

    @property
    def least(self) -> Fraction:
        """A bound from below of its scale, of 16 bits: Coq computes with it, in seconds if it is short."""
        least = min(self.scale, self.narrowest or self.scale)
        unit = Fraction(2) ** (least.numerator.bit_length() - least.denominator.bit_length() - 16)
        return least // unit * unit


class Grid(NamedTuple):
    """What noise on a grid costs beyond noise with a density (``proofs/hardened_noise.md``, section 4).

    Parameters
    ----------
    reach : Fraction
        T: noise is compared on T scales around its centre.
    gap : Fraction
        c: how far the logarithms of all masses are apart there.
    """

    reach: Fraction
    gap: Fraction


@dataclass(frozen=True)
class Composed:
    """All releases of one fit.

    Parameters
    ----------
    release : RepairedRelease
    kind : {'gaussian', 'laplace'}
    epsilon, delta : Fraction
        Stated.
    entries : tuple of SpentPart
    """

    release: RepairedRelease
    kind: Kind
    epsilon: Fraction
    delta: Fraction
    entries: tuple[SpentPart, ...]

    @property
    def discrete(self) -> bool:
        """Whether the noise is on a grid."""
        return self.release.noise == "hardened"

    @property
    def spent(self) -> Fraction:
        """What all together may lose, whatever the output: a squared shift, or epsilon."""
        return sum((one.bound for one in self.entries), Fraction(0))

    @property
    def mu(self) -> Fraction | None:
        """The shift in the file; None for Laplace noise.

        All releases together do not exceed it; unless they exceed what epsilon and delta allow: then it is what
        these allow, and Coq rejects the file.
        """
        if self.kind == "laplace":
            return None
        shift = Fraction(math.ceil(square_root(self.spent).upper * FINE), FINE)
        return shift if self._allows(shift) else 1 / Fraction(analytic_gaussian_sigma(1, self.epsilon, self.delta))

    @property
    def numbers(self) -> int:
        """How many numbers are released."""
        return sum(one.numbers for one in self.entries)

    @property
    def grid(self) -> Grid | None:
        """The cost of the grid; None for noise with a density, and for Laplace noise, for which it is free."""
        if not self.discrete or self.kind == "laplace":
            return None
        most = 4 * self.numbers / (self.delta * MASS)

        def tail() -> Ball:
            # (1 + exp(epsilon)) 4 k exp(-T^2 / 2) <= delta MASS
            return (2 * (ball(most).log() + ball(self.epsilon + 1))).sqrt()

        reach = Fraction(math.ceil(enclosed(tail).upper * 2**10), 2**10)
        steps = (one.least * SUM_STEPS for one in self.entries)
        gaps = (one.numbers * (reach + 1) / (2 * scale) for one, scale in zip(self.entries, steps, strict=True))
        return Grid(reach, sum(gaps, Fraction(0)))

    @property
    def holds(self) -> bool:
        """Whether no release changes by more than it states, and all together lose at most epsilon at delta."""
        enough = all(one.change >= one.needed for one in self.entries)
        if self.kind == "laplace":
            return enough and self.spent <= self.epsilon
        return enough and self._allows(square_root(self.spent).upper)

    def _allows(self, shift: Fraction) -> bool:
        """Return whether the theorem's delta of this shift, at epsilon, is at most delta."""
        grid = self.grid
        if grid is None:
            return is_private_shift(shift**2, self.epsilon, self.delta)
        reach, gap, rest = grid.reach, grid.gap, self.epsilon - 2 * grid.gap
        if rest < 0:
            return False

        def excess() -> Ball:
            # exp(c) profile + (1 + exp(epsilon - c)) 4 k exp(-T^2 / 2) - delta
            tails = (1 + ball(rest + gap).exp()) * ball(4 * self.numbers) * ball(-(reach**2) / 2).exp()
            return ball(gap).exp() * profile(ball(shift), ball(rest)) + tails - ball(self.delta)

        return sign(excess) < 0

    def require_theorem(self) -> None:
        """Raise if Coq has none.

        Raises
        ------
        audit.proofs.releases.errors.NoTheoremError
        """
        grid = self.grid
        if grid is not None and any(one.least * SUM_STEPS < 2 * (grid.reach + 1) for one in self.entries):
            raise NoTheoremError(TOO_SMALL_FOR_THE_GRID)


def composed(release: RepairedRelease) -> Composed:
    """Add up what a release spends, from its file.

    Raises
    ------
    reference.common.errors.ReleaseFileError
        When its releases are not those of a fit.
    """
    room = release.require_scheduled(earlier=False)
    exact = release.privacy.exact
    assert exact is not None
    delta = release.budget["delta"]
    kind: Kind = "gaussian" if delta else "laplace"
    rows = release.rows_per_person
    needed = dict(_needed(release, kind))
    entries = []
    for one in release.spent:
        change = one.l2_sensitivity_squared if delta else one.l1_sensitivity
        scale = Fraction(one.scale)
        loss = change / scale**2 if delta else change / scale
        most = needed[one.what] * (rows**2 if delta else rows)
        following = _following(one.share, rows, room, release.budget) if one.what == "probe" else (None, None)
        entries.append(SpentPart(one.what, one.size, change, most, scale, loss, *following))
    return Composed(release, kind, exact.epsilon.upper, delta, tuple(entries))


def _following(
    share: Fraction, rows: int, room: Fraction, budget: Mapping[str, Fraction]
) -> tuple[Fraction, Fraction]:
    """Return what a probe may lose for its share, and its least scale: at the share 1/2 of the group."""
    epsilon, half = budget["epsilon"], Fraction(rows, 2)
    if not budget["delta"]:
        return share * epsilon, half / (share * epsilon)
    # a fit takes a little more noise, for what the grid costs, here as in every release
    sigma = Fraction(analytic_gaussian_sigma(1, epsilon, budget["delta"])) * room
    return share / sigma**2, sigma * half * square_root(1 / share).lower


def _needed(release: RepairedRelease, kind: Kind) -> Iterator[tuple[str, Fraction]]:
    """Yield how far one record changes each kind of release: Lemmas 1 to 4."""
    domain, squared = release.domain.domain, kind == "gaussian"
    length = _longest(domain)
    # |r| <= 1/2 before and after, |x|_2 <= 1
    yield "gradient", Fraction(1) if squared else length
    # the label flips, or it stays and every attribute moves
    yield "counts by label", max(Fraction(2), _farthest(domain)) if squared else 2 * length
    yield "group count", Fraction(1)
    if release.group_share is not None:
        farther = max(release.group_share, 1 - release.group_share)
        yield "probe", farther**2 if squared else farther
    yield "counts of cells", Fraction(2)
    yield "probe of cells", Fraction(1)


def _farthest(domain: Domain) -> Fraction:
    """Return the largest |x' - x|^2, from what the domain declares and nothing of how a fit computes it."""
    if domain.prescaled:
        return Fraction(4 if domain.norm == "symmetric_ball" else 2)
    squares = [int(domain.keep_group) * (2 if domain.group_values else 1)]
    for one in domain.attributes:
        if isinstance(one, Numeric) and not one.has_bins:
            squares.append(4 if one.centred else 1)
        else:
            squares.append(1 if isinstance(one, Ordinal) else 2)
    return Fraction(sum(squares), _entries(domain))


def _longest(domain: Domain) -> Fraction:
    """Return the largest |x|_1: of d numbers in the unit ball, or of one entry for each declared column."""
    if domain.prescaled:
        return square_root(Fraction(domain.dimension)).upper
    return Fraction(domain.column_factor) * _entries(domain)


def _entries(domain: Domain) -> int:
    """Return how many entries of a record are not 0, at most."""
    return len(domain.attributes) + sum((domain.intercept, domain.keep_group))


# --- The result -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ComposedResult:
    """The outcome for one release of the repaired mechanism.

    Parameters
    ----------
    composed : Composed
    outcome : Outcome
    detail : str
    proof : str or None
    """

    composed: Composed
    outcome: Outcome
    detail: str
    proof: str | None

    @property
    def notes(self) -> list[str]:
        """Notes for the reader besides the outcome."""
        return [SEEDED] if self.composed.release.seeded else []

    @property
    def theorem(self) -> str | None:
        """The statement that Coq proves, in words."""
        if self.outcome == "no theorem":
            return None
        mu, where = self.composed.mu, ", on the grid" if self.composed.discrete else ""
        if mu is None:
            return f"all numbers together are (epsilon, 0)-indistinguishable{where}"
        said = f"as the profile of one Gaussian release of shift {rounded_up(mu)!r} is at most delta"
        return f"all numbers together are (epsilon, delta)-indistinguishable{where}, {said}"


class CertifiedPart(Document, frozen=True, kw_only=True):
    """One of the releases that make up a fit.

    Parameters
    ----------
    what : str
    numbers : int
    change, scale : str
        ``p/q``; the change is in l1 for Laplace noise, squared in l2 for Gaussian noise.
    loss : float
        Squared shift, or epsilon.
    """

    what: str
    numbers: Annotated[int, Meta(ge=1)]
    change: str
    scale: str
    loss: float


class RepairedCertificate(Document, frozen=True, kw_only=True, tag_field="schema", tag="repaired_certificate_v1"):
    """The output of ``python -m audit certify --format json`` for a release of the repaired mechanism.

    Parameters
    ----------
    release : str
        The file read.
    outcome : Outcome
    detail : str
    epsilon, delta : str
        Stated.
    shift : float or None
        Of Gaussian noise, rounded up.
    holds : bool
        In exact arithmetic: no release changes by more than it states, and all lose at most epsilon at delta.
    parts : tuple of CertifiedPart
    theorem : str or None
    claims : tuple of str
    proof : str or None
    seeded : bool
    notes : tuple of str
    limits : str
    """

    release: str
    outcome: Outcome
    detail: str
    epsilon: str
    delta: str
    shift: float | None
    holds: bool
    parts: tuple[CertifiedPart, ...]
    theorem: str | None
    claims: tuple[str, ...]
    proof: str | None
    seeded: bool
    notes: tuple[str, ...]
    limits: str


def composed_certificate(result: ComposedResult, path: str) -> RepairedCertificate:
    """Return the result on the release in the file `path`, as a document."""
    found = result.composed
    return RepairedCertificate(
        release=path,
        outcome=result.outcome,
        detail=result.detail,
        epsilon=decimal_text(found.epsilon),
        delta=decimal_text(found.delta),
        shift=None if found.mu is None else rounded_up(found.mu),
        holds=found.holds,
        parts=tuple(
            CertifiedPart(
                what=one.what,
                numbers=one.numbers,
                change=str(one.change),
                scale=str(one.scale),
                loss=float(one.loss),
            )
            for one in found.entries
        ),
        theorem=result.theorem,
        claims=CLAIMS,
        proof=result.proof,
        seeded=found.release.seeded,
        notes=tuple(result.notes),
        limits=" ".join(LIMITS.split()),
    )
