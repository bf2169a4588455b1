"""Release: what leaves the data holder, and nothing else.

A release is frozen, holds no exact statistic of the data, and goes to JSON and back unchanged.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import Any

from reference.accounting import Privacy, PrivacyStatement, PublishedStatementWarning, exact_privacy
from reference.budgets import Budget, SplitBudget
from reference.domain import Domain
from reference.minimiser import Minimum
from reference.noise import Noise
from reference.readings import Readings
from reference.sensitivity import setting_of

SCHEMA = "release_v1"

READINGS_NOT_USED = {
    "no_privacy": ("adjacency", "sensitivity", "noise"),
    "lr": tuple(Readings().to_json()),
}
"""Readings that a baseline ignores, and so does not print."""


@dataclass(frozen=True)
class Release:
    """The outcome of one run of one mechanism.

    Parameters
    ----------
    mechanism : str
    status : {'ok', 'unbounded'}
        `unbounded`: the objective has no minimum and no repair was asked for; a legal outcome.
    w : tuple of float or None
        Model parameters, one per column; None when unbounded.
    columns : tuple of str
        Names of the coordinates of w.
    privacy : Privacy
        What is claimed (`published`) and what is true (`exact`); both None for `no_privacy` and `lr`, whose w
        is an exact function of the data.
    budget : dict
        Budget parameters as exact strings.
    readings : dict
        All readings, those of the domain included.
    noise : dict
        `kind`, `scale_s`, `scale_n`; hardened noise: `steps` of the grid per unit; `pflr`: `mean`.  All public.
    x_s : str or None
        The coordinate with a budget of its own.
    seeded : bool
        True when the noise came from a caller's generator: then anyone who knows the seed can remove it.
    noisy_eigenvalues : tuple of float
        Of the noisy quadratic, ascending; empty for `no_privacy` and `lr`.
    """

    mechanism: str
    status: str
    w: tuple[float, ...] | None
    columns: tuple[str, ...]
    privacy: Privacy
    budget: dict[str, str]
    readings: dict[str, Any]
    noise: dict[str, Any]
    x_s: str | None
    seeded: bool
    noisy_eigenvalues: tuple[float, ...] = ()

    @classmethod
    def of(
        cls,
        mechanism: str,
        domain: Domain,
        budget: Budget | SplitBudget | None,
        readings: Readings,
        noise: Noise,
        minimum: Minimum,
        published: PrivacyStatement | None,
        s: int | None,
        seeded: bool,
    ) -> Release:
        """Return the release of a minimum, with the exact privacy of its noise.

        Parameters
        ----------
        mechanism : str
        domain : Domain
        budget : Budget, SplitBudget or None
            None for the baselines, which have no privacy.
        readings : Readings
        noise : Noise
        minimum : Minimum
        published : PrivacyStatement or None
        s : int or None
            Index of x_s.
        seeded : bool

        Warns
        -----
        PublishedStatementWarning
            Where the published statement is false for this budget.
        """
        exact = None
        if budget is not None:
            exact = exact_privacy(setting_of(domain, readings), noise, published, budget.delta)
            if exact.verdict == "refuted":
                warnings.warn(
                    f"{mechanism}: the published statement is false for this budget; see privacy.exact of the "
                    "release",
                    PublishedStatementWarning,
                    stacklevel=3,
                )
        used = readings.to_json()
        for unused in READINGS_NOT_USED.get(mechanism, ()):
            del used[unused]
        return cls(
            mechanism=mechanism,
            status=minimum.status,
            w=minimum.w,
            columns=domain.columns,
            privacy=Privacy(published, exact),
            budget={} if budget is None else budget.to_json(),
            readings={
                **used,
                "domain": domain.norm,
                "dimension": domain.dimension,
                "intercept": domain.intercept,
                "keep_group": domain.keep_group,
            },
            noise={
                "kind": noise.kind,
                "scale_s": noise.scale_s,
                "scale_n": noise.scale_n,
                **({} if noise.steps is None else {"steps": noise.steps}),
            },
            x_s=None if s is None else domain.columns[s],
            seeded=seeded,
            noisy_eigenvalues=minimum.eigenvalues,
        )

    @property
    def adjacency(self) -> str | None:
        """Neighbouring relation of the privacy statements; None for `no_privacy` and `lr`, which have none."""
        return self.readings.get("adjacency")

    def to_json(self) -> dict[str, Any]:
        """Return the release as a JSON document."""
        return {
            "schema": SCHEMA,
            "mechanism": self.mechanism,
            "status": self.status,
            "w": None if self.w is None else list(self.w),
            "columns": list(self.columns),
            "privacy": self.privacy.to_json(),
            "budget": dict(self.budget),
            "readings": dict(self.readings),
            "noise": dict(self.noise),
            "x_s": self.x_s,
            "seeded": self.seeded,
            "noisy_eigenvalues": list(self.noisy_eigenvalues),
        }

    @classmethod
    def from_json(cls, document: dict[str, Any] | str) -> Release:
        """Read back what :meth:`to_json` wrote, as a document or as text.

        Raises
        ------
        ValueError
            When the document is no release.
        """
        try:
            fields = json.loads(document) if isinstance(document, str) else document
            if fields["schema"] != SCHEMA:
                raise ValueError(f"not a {SCHEMA} document: schema is {fields['schema']!r}")
            return cls(
                mechanism=fields["mechanism"],
                status=fields["status"],
                w=None if fields["w"] is None else tuple(fields["w"]),
                columns=tuple(fields["columns"]),
                privacy=Privacy.from_json(fields["privacy"]),
                budget=fields["budget"],
                readings=fields["readings"],
                noise=fields["noise"],
                x_s=fields["x_s"],
                seeded=fields["seeded"],
                noisy_eigenvalues=tuple(fields["noisy_eigenvalues"]),
            )
        except (KeyError, TypeError, AttributeError) as problem:
            raise ValueError(f"not a {SCHEMA} document: {problem}") from problem
