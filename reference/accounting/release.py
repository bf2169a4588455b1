"""Release: what leaves the data holder, and nothing else.

A release is frozen, holds no exact statistic of the data, and goes to JSON and back unchanged.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from reference.accounting.statements import (
    NOT_PRIVATE,
    Privacy,
    PrivacyStatement,
    PublishedStatementWarning,
    privacy_of,
)
from reference.budgets import Budget, SplitBudget
from reference.common.documents import Document, converted, json_of_file, plain
from reference.common.errors import ReadingError, ReleaseFileError
from reference.domain import Domain
from reference.domain.domain import Norm
from reference.domain.file import DomainFile
from reference.minimiser import Minimum
from reference.noise import Noise
from reference.readings import Adjacency, Basis, Fairness, NoiseSource, Readings, Repair, RowsPerPerson
from reference.sensitivity import declared_of

READINGS_NOT_USED = {
    "no_privacy": ("adjacency", "sensitivity", "noise", "rows_per_person"),
    "lr": Readings.__struct_fields__,
}
"""Readings that a baseline ignores and does not print."""


class StatedReadings(Document, frozen=True, kw_only=True, omit_defaults=True):
    """The readings of a release, those of the domain included; a baseline leaves out what it ignores.

    Parameters
    ----------
    fairness, fairness_weight, tau, basis, adjacency, sensitivity, repair, ball_radius, noise, rows_per_person
        As in :class:`reference.readings.Readings`.
    domain : str
        The norm.
    dimension : int
        The paper's d.
    intercept, keep_group : bool
        As in :class:`reference.domain.Domain`.
    """

    fairness: Fairness | UnsetType = UNSET
    fairness_weight: Fraction | UnsetType = UNSET
    tau: Fraction | UnsetType = UNSET
    basis: Basis | UnsetType = UNSET
    adjacency: Adjacency | UnsetType = UNSET
    sensitivity: str | UnsetType = UNSET
    repair: Repair | UnsetType = UNSET
    ball_radius: Fraction | UnsetType = UNSET
    noise: NoiseSource | UnsetType = UNSET
    rows_per_person: RowsPerPerson = 1
    domain: Norm
    dimension: int
    intercept: bool
    keep_group: bool

    @classmethod
    def of(cls, mechanism: str, domain: Domain, readings: Readings) -> StatedReadings:
        """Return the readings that a mechanism used."""
        unused = READINGS_NOT_USED.get(mechanism, ())
        used: dict[str, Any] = {
            name: getattr(readings, name) for name in Readings.__struct_fields__ if name not in unused
        }
        norm: Any = domain.norm
        return cls(
            **used,
            domain=norm,
            dimension=domain.dimension,
            intercept=domain.intercept,
            keep_group=domain.keep_group,
        )

    @property
    def readings(self) -> Readings:
        """The readings without those of the domain; defaults where left out."""
        stated = {name: getattr(self, name) for name in Readings.__struct_fields__}
        return Readings(**{name: value for name, value in stated.items() if value is not UNSET})


class StatedNoise(Document, frozen=True, kw_only=True):
    """The noise that a release states: all public.

    Parameters
    ----------
    kind : {'laplace', 'gaussian', 'none'}
    scale_s, scale_n : float
        Laplace scale, or Gaussian sigma, inside and outside Phi_s.
    steps : int
        Hardened noise: steps of the grid per unit.
    mean : str or tuple of float
        `pflr`: the public mean of the noise, or what it is.
    """

    kind: Literal["laplace", "gaussian", "none"]
    scale_s: float
    scale_n: float
    steps: int | UnsetType = UNSET
    mean: str | tuple[float, ...] | UnsetType = UNSET

    @classmethod
    def of(cls, noise: Noise) -> StatedNoise:
        """Return what a release states of its noise."""
        kind: Any = noise.kind
        steps = UNSET if noise.steps is None else noise.steps
        return cls(kind=kind, scale_s=noise.scale_s, scale_n=noise.scale_n, steps=steps)


@dataclass(frozen=True)
class PublicRun:
    """The public part of one run of a mechanism: all that its release states besides w.

    Parameters
    ----------
    mechanism : str
    domain : Domain
    budget : Budget, SplitBudget or None
        None for the baselines, which have no privacy.
    readings : Readings
    noise : Noise
    s : int or None
        Index of x_s; None for mechanisms with one budget.
    seeded : bool
        Whether the noise came from the caller's generator.
    """

    mechanism: str
    domain: Domain
    budget: Budget | SplitBudget | None
    readings: Readings
    noise: Noise
    s: int | None = None
    seeded: bool = False


class Release(Document, frozen=True, kw_only=True, tag_field="schema", tag="release_v3"):
    """The outcome of one run of one mechanism.

    Parameters
    ----------
    mechanism : str
    status : {'ok', 'unbounded'}
        `unbounded`: the objective has no minimum and you chose no repair; a legal outcome.
    w : tuple of float or None
        Model parameters, one per column; None when unbounded.
    columns : tuple of str
        Names of the coordinates of w.
    privacy : Privacy
        The statement as printed (`published`), the exact loss over the declared domain (`exact`) and over its norm
        (`norm_domain`); all None for `no_privacy` and `lr`, whose w is an exact function of the data.
    budget : dict
        Budget parameters.
    readings : StatedReadings
    noise : StatedNoise
    x_s : str or None
        The coordinate with its own budget.
    seeded : bool
        True when the noise came from the caller's generator: anyone who knows the seed can remove it.
    noisy_eigenvalues : tuple of float
        Of the noisy quadratic, ascending; empty for `no_privacy` and `lr`.
    note : str
        In a file: the mark on a w without privacy.
    domain : DomainFile
        In a file: how the records were encoded.
    """

    mechanism: str
    status: Literal["ok", "unbounded"]
    w: tuple[float, ...] | None
    columns: tuple[str, ...]
    privacy: Privacy
    budget: dict[str, Fraction]
    readings: StatedReadings
    noise: StatedNoise
    x_s: str | None
    seeded: bool
    noisy_eigenvalues: tuple[float, ...] = ()
    note: str | UnsetType = UNSET
    domain: DomainFile | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.w is not None and len(self.w) != len(self.columns):
            raise ReadingError("w", self.w, "one finite number for each of its columns")

    @classmethod
    def of(cls, minimum: Minimum, published: PrivacyStatement | None, run: PublicRun) -> Release:
        """Return the release of a minimum, with the exact privacy of its noise.

        Warns
        -----
        PublishedStatementWarning
            Where the published statement is false for this budget.
        """
        status: Any = minimum.status
        return cls(
            mechanism=run.mechanism,
            status=status,
            w=minimum.w,
            columns=run.domain.columns,
            privacy=_privacy(run, published),
            budget={} if run.budget is None else vars(run.budget),
            readings=StatedReadings.of(run.mechanism, run.domain, run.readings),
            noise=StatedNoise.of(run.noise),
            x_s=None if run.s is None else run.domain.columns[run.s],
            seeded=run.seeded,
            noisy_eigenvalues=minimum.eigenvalues,
        )

    @property
    def adjacency(self) -> str | None:
        """Neighbouring relation of the privacy statements; None for `no_privacy` and `lr`, which have none."""
        return None if self.readings.adjacency is UNSET else self.readings.adjacency

    def with_mean(self, mean: str | tuple[float, ...]) -> Release:
        """Return the release with the mean of its noise, which only `pflr` has."""
        return replace(self, noise=replace(self.noise, mean=mean))

    def in_file(self, declared: DomainFile) -> Release:
        """Return the release with its domain, as in a file; the w of a baseline is marked as not private."""
        stated = self.privacy.published is not None or self.privacy.exact is not None
        return replace(self, note=UNSET if stated else NOT_PRIVATE, domain=declared)


def _privacy(run: PublicRun, published: PrivacyStatement | None) -> Privacy:
    if run.budget is None:
        return Privacy(published, None)
    where = declared_of(run.domain, run.readings, run.s)
    exact, norm_domain = privacy_of(where, run.noise, published, run.budget.delta)
    if exact.verdict == "refuted":
        warnings.warn(
            f"{run.mechanism}: the published statement is false for this budget; see privacy.exact of the release",
            PublishedStatementWarning,
            stacklevel=4,
        )
    return Privacy(published, exact, norm_domain)


# --- Files ---------------------------------------------------------------------------------------------------


def release_of(document: Any, *, file: str | None = None) -> Release:
    """Turn a parsed JSON document into a release; errors name `file`.

    Raises
    ------
    reference.common.errors.ReleaseFileError
        With the place in the document.
    """
    domain = document.get("domain") if isinstance(document, dict) else None
    if isinstance(domain, dict) and "schema" not in domain:
        raise ReleaseFileError("the field 'schema' is missing", file=file, place="domain")
    return converted(document, Release, ReleaseFileError, file=file)


def load_release(path: str | Path) -> Release:
    """Read the one release of a file that ``fit`` wrote, for its w.

    Raises
    ------
    reference.common.errors.ReleaseFileError
        When the file cannot be read, is not a release, has several, or has one without a w.
    """
    document, file = json_of_file(path, ReleaseFileError), str(path)
    if isinstance(document, dict) and isinstance(document.get("releases"), list):
        if len(document["releases"]) != 1:
            raise ReleaseFileError(
                f"it has {len(document['releases'])} releases; `fit --release FILE` writes one", file=file
            )
        document = document["releases"][0]
    release = release_of(document, file=file)
    if release.w is None:
        raise ReleaseFileError("the release is unbounded, so it has no w and predicts nothing", file=file)
    return release


def release_document(release: Release, declared: DomainFile) -> Any:
    """Return a release with its domain as a JSON document."""
    return plain(release.in_file(declared))


def fitting_domain(release: Release, given: DomainFile | None) -> DomainFile:
    """Return the domain that encodes new records for a release.

    Parameters
    ----------
    release : Release
        With its own domain where its file has it.
    given : DomainFile, optional
        Another copy of it.

    Raises
    ------
    reference.common.errors.ReleaseFileError
        When there is none, when the two differ, or when the columns are not those of w.
    """
    own = None if release.domain is UNSET else release.domain
    found = given or own
    if found is None:
        raise ReleaseFileError("it has no domain in it: name the domain file with --domain")
    stated = release.readings
    laid_out = found.with_(norm=stated.domain, intercept=stated.intercept, keep_group=stated.keep_group)
    laid_out = laid_out.without_marks()
    if laid_out.domain.columns != release.columns:
        raise ReleaseFileError(
            f"the domain has the columns {', '.join(laid_out.domain.columns)}; the release has a w for "
            f"{', '.join(release.columns)}"
        )
    if own is not None and given is not None and own.public_attributes != given.public_attributes:
        raise ReleaseFileError("the domain file declares other bounds or categories than the release's own domain")
    return laid_out
