"""Release: what leaves the data holder, and nothing else.

A release is frozen, holds no exact statistic of the data, and goes to JSON and back unchanged.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from reference.accounting import Privacy

SCHEMA = "release_v1"


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
