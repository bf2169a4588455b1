"""The claims that each theorem carries, and the Python code about the same object.

``claims.json`` has one row for every theorem: claims of the ledger, place in the paper, Python symbols, the level
of axioms that the proof may use, what the theorem says of the claims, and what it covers.  It ships with the
package, so that the ledger can name theorems without Coq and the sources.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

from audit.common.packed import place_of

STATUSES = {
    "holds": "the claim, under all readings of its row",
    "fails": "the claim's negation, under all readings of its row",
    "part": "the claim or its negation, under what it covers",
    "value": "the exact value that the claim bounds",
    "support": "a fact that no claim of the paper states",
}
"""The relations between a theorem and its claims."""


@dataclass(frozen=True)
class Carried:
    """A row: one theorem and what it carries.

    Parameters
    ----------
    theorem : str
        Name in ``Statements.v``.
    claims : tuple of str
        Ids of the ledger; none for `support`.
    place : str
        Where in the paper.
    symbols : tuple of str
        Dotted names of Python code about the same object.
    level : str
        Of :data:`audit.proofs.assumptions.LEVELS`: the axioms that the proof may use.
    status : str
        One of :data:`STATUSES`.
    covers : str
        The readings that the theorem covers.
    """

    theorem: str
    claims: tuple[str, ...]
    place: str
    symbols: tuple[str, ...]
    level: str
    status: str
    covers: str

    def __post_init__(self) -> None:
        if self.status not in STATUSES or (self.status == "support") == bool(self.claims):
            raise ValueError(f"{self.theorem}: a status, and a claim unless it is only support")


@lru_cache(maxsize=1)
def rows() -> tuple[Carried, ...]:
    """Return every row, in the order of the theorems."""
    return tuple(
        Carried(**{**row, "claims": tuple(row["claims"]), "symbols": tuple(row["symbols"])})
        for row in json.loads(_text())["rows"]
    )


def without_theorem() -> dict[str, str]:
    """Return public functions that no theorem speaks of, with the reason."""
    return dict(json.loads(_text())["without_theorem"])


def machine_proof(claim: str) -> str | None:
    """Return the theorems that carry a claim of the ledger, or None; those that are not the whole are marked."""
    return ", ".join(_carrying(claim)) or None


def covered(claim: str) -> list[str]:
    """Return a line for each theorem that carries a claim: its name, as in `machine_proof`, and what it covers."""
    return [f"{name}: {row.covers}" for name, row in _carrying(claim).items()]


def _carrying(claim: str) -> dict[str, Carried]:
    """Return the theorems that carry a claim by their marked names, those that carry all of it first."""
    # not marked, part, value
    order = {"part": 1, "value": 2}
    carrying = sorted((row for row in rows() if claim in row.claims), key=lambda row: order.get(row.status, 0))
    return {f"{row.theorem} ({row.status})" if row.status in order else row.theorem: row for row in carrying}


def _text() -> str:
    return place_of("audit/proofs/claims.json").read_text(encoding="utf-8")
