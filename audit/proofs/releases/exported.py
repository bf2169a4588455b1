"""The noise that a release's file states, read exactly and checked for consistency."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from msgspec import UNSET

from audit.exact.witnesses import domain_of
from reference.accounting.release import Release, fitting_domain, release_of
from reference.budgets import Budget, SplitBudget
from reference.common.documents import json_of_file
from reference.common.errors import InputError, ReadingError, ReleaseFileError
from reference.common.numbers import decimal_text
from reference.domain import Domain
from reference.readings import Readings
from reference.registry import MECHANISMS, MechanismSpec
from reference.sensitivity import Setting

NOISE_FIELDS = ("kind", "scale_s", "scale_n", "steps")
"""The fields that state a release's noise."""


@dataclass(frozen=True)
class Exported:
    """The noise of one release.

    Parameters
    ----------
    spec : MechanismSpec
    setting : Setting
        Dimension, domain norm, adjacency, basis and fairness, for data sets of every size.
    readings : Readings
    budget : Budget or SplitBudget
    epsilon, delta : Fraction
        Stated by a theorem of the paper, or the budget's if the release states nothing.
    is_published : bool
        Whether a theorem of the paper states them.
    scale_s, scale_n : Fraction
        Exactly the floats in the file.
    x_s : int or None
        Coordinate with its own budget.
    steps : int or None
        Of the grid per unit, if the noise is discrete.
    seeded : bool
    declared : Domain or None
        What the file declares about the records.
    """

    spec: MechanismSpec
    setting: Setting
    readings: Readings
    budget: Budget | SplitBudget
    epsilon: Fraction
    delta: Fraction
    is_published: bool
    scale_s: Fraction
    scale_n: Fraction
    x_s: int | None
    steps: int | None
    seeded: bool
    declared: Domain | None = None


def read_exported(path: str | Path, mechanism: str | None = None, number: int | None = None) -> Exported:
    """Read one release from a file that ``fit`` wrote with ``--release`` or ``--format json --out``.

    Parameters
    ----------
    path : str or path
    mechanism : str, optional
        Leave out the releases of others.
    number : int, optional
        Which of the rest, counted from 1; needed if there are several.

    Raises
    ------
    reference.common.errors.ReleaseFileError
        When the file is not a release, has none or several that fit, or contradicts itself.
    """
    found = _documents(json_of_file(path, ReleaseFileError))
    if any(str(document.get("schema")).startswith("repaired_release_") for document in found):
        problem = "this is a release of `repaired` among others: certify takes the file that --release wrote of it"
        raise ReleaseFileError(problem, file=str(path))
    if any(str(document.get("schema")).startswith("certificate_") for document in found):
        raise ReleaseFileError("this is a certificate, not a release: `audit verify` reads it", file=str(path))
    if not found:
        raise ReleaseFileError("it contains no release: `fit --release FILE` writes one", file=str(path))
    if mechanism is not None:
        found = [document for document in found if document.get("mechanism") == mechanism]
    if number is not None and not 1 <= number <= len(found):
        raise ReadingError("number", number, f"between 1 and {len(found)}, the releases in the file that fit")
    if number is None and len(found) != 1:
        names = ", ".join(str(document.get("mechanism")) for document in found) or "none"
        raise ReleaseFileError(
            f"it has {len(found)} releases that fit ({names}): choose one with --mechanism and --number",
            file=str(path),
        )
    try:
        return exported(found[(number or 1) - 1])
    except ReleaseFileError as problem:
        raise ReleaseFileError(problem.problem, file=str(path), place=problem.place) from problem
    except InputError as problem:
        raise ReleaseFileError(str(problem), file=str(path)) from problem


def exported(document: dict[str, Any]) -> Exported:
    """Return what a release's document says about its noise.

    Raises
    ------
    reference.common.errors.InputError
        When a field has no legal value, or contradicts another.
    """
    release = release_of(document)
    if release.mechanism not in list(MECHANISMS):
        raise ReadingError("mechanism", release.mechanism, "one of " + ", ".join(MECHANISMS))
    spec = MECHANISMS[release.mechanism]
    if not spec.private:
        raise ReadingError(
            "mechanism", spec.name, "one that adds noise: this release states no privacy and has none"
        )
    _require_one_meaning(release, spec)
    return _exported(release, spec)


def _require_one_meaning(release: Release, spec: MechanismSpec) -> None:
    """Reject a file that two readers could take for two different releases."""
    columns = release.columns
    if len(set(columns)) < len(columns):
        raise ReadingError("columns", columns, "different names")
    if release.noise.mean is not UNSET and spec.name != "pflr":
        raise ReadingError("noise", "mean", "described by " + ", ".join(NOISE_FIELDS))
    if release.domain is UNSET:
        return
    release.domain.require_public()
    fitting_domain(release, None)
    norm = release.domain.norm
    if norm != release.readings.domain:
        raise ReadingError("domain.norm", norm, f"{release.readings.domain}, the reading")


def _exported(release: Release, spec: MechanismSpec) -> Exported:
    norm, dimension = release.readings.domain, release.readings.dimension
    readings = release.readings.readings
    if dimension != len(release.columns):
        raise ReadingError("dimension", dimension, f"{len(release.columns)}, one for each column")
    setting = Setting(
        dimension, readings.fairness, norm, readings.adjacency, readings.basis, readings.fairness_weight
    )
    budget = _budget(release, spec)
    stated = release.privacy.published
    if stated is not None:
        formula = spec.formula(domain_of(setting), budget, readings)
        said, due = (stated.epsilon, stated.delta), (formula.epsilon, formula.delta)
        if said != due or stated.adjacency != readings.adjacency:
            raise ReleaseFileError(
                f"it states ({_pair(said)}) for {stated.adjacency}, and its budget gives ({_pair(due)}) "
                f"for {readings.adjacency}"
            )
    kind = "gaussian" if spec.needs_delta else "laplace"
    if release.noise.kind != kind:
        raise ReadingError("noise.kind", release.noise.kind, f"{kind!r} for {spec.name}")
    scale_s, scale_n = (_scale(name, getattr(release.noise, name)) for name in ("scale_s", "scale_n"))
    if not spec.split_budget and scale_s != scale_n:
        raise ReadingError("scale_s", float(scale_s), f"{float(scale_n)}, as scale_n: {spec.name} has one scale")
    return Exported(
        spec=spec,
        setting=setting,
        readings=readings,
        budget=budget,
        epsilon=_epsilon(budget) if stated is None else stated.epsilon,
        delta=budget.delta,
        is_published=stated is not None,
        scale_s=scale_s,
        scale_n=scale_n,
        x_s=_coordinate(release.x_s, release.columns) if spec.split_budget else None,
        steps=_steps(release),
        seeded=release.seeded,
        declared=None if release.domain is UNSET else release.domain.domain,
    )


def _steps(release: Release) -> int | None:
    """Return the steps of hardened noise, which takes no seed; None for other noise."""
    steps = None if release.noise.steps is UNSET else release.noise.steps
    hardened = release.readings.readings.noise == "hardened"
    if hardened != (steps is not None):
        raise ReadingError("noise.steps", steps, "there with hardened noise, and with no other")
    if steps is not None and steps < 1:
        raise ReadingError("noise.steps", steps, "a positive number")
    if hardened and release.seeded:
        raise ReadingError("seeded", True, "false with hardened noise, which takes no seed")
    return steps


def _documents(document: Any) -> list[dict[str, Any]]:
    """Return the releases in a document: itself, those of an evaluation, or those of several evaluations."""
    if isinstance(document, list):
        return [release for entry in document for release in _documents(entry)]
    if not isinstance(document, dict):
        return []
    if isinstance(document.get("releases"), list):
        return [release for release in document["releases"] if isinstance(release, dict)]
    return [document] if "schema" in document else []


def _budget(release: Release, spec: MechanismSpec) -> Budget | SplitBudget:
    try:
        return (SplitBudget if spec.split_budget else Budget)(**release.budget)
    except TypeError:
        parts = ", ".join(release.budget)
        raise ReadingError("budget", parts, f"the parts that {spec.name} spends") from None


def _pair(pair: tuple[Fraction, Fraction]) -> str:
    return ", ".join(decimal_text(value) for value in pair)


def _epsilon(budget: Budget | SplitBudget) -> Fraction:
    """Return the one epsilon of a budget; of two, the larger."""
    return budget.epsilon if isinstance(budget, Budget) else max(budget.epsilon_s, budget.epsilon_n)


def _scale(name: str, value: object) -> Fraction:
    """Return a scale as the exact value of the float, without a detour via its decimal form."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= sys.float_info.max:
        raise ReadingError(name, value, "a positive number that a float holds")
    return Fraction(value)


def _coordinate(x_s: str | None, columns: Sequence[str]) -> int:
    if x_s not in columns:
        raise ReadingError("x_s", x_s, f"one of {', '.join(columns)}")
    return columns.index(x_s)
