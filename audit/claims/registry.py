"""A row of the ledger: a claim as printed, the check that decides it, and the check's two controls.

The verdict of a row is its check's finding.  The registered verdict only says what is expected; a difference is
reported, never hidden.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from audit.proofs.claims import machine_proof

VERDICTS = ("proved", "enclosed", "exhausted", "not refuted", "refuted", "ambiguous", "argued", "undecided")
"""`proved`: a program checks every step; `argued`: a written proof that no program checks."""

RESULTS = "Section 'Results and Analysis'"
"""Place of the tables and figures in the paper."""

PROOFS = ("right", "wrong", "none")
NEEDS = ("data", "us", "coq")
"""Adult, the US table, and Coq."""

TOPICS = (
    "definitions",
    "sensitivities",
    "theorems",
    "released",
    "neighbours",
    "steps",
    "analysis",
    "objective",
    "algorithms",
    "attributes",
    "tables",
    "floating_point",
    "figures",
    "calibration",
    "repaired",
    "persons",
)
"""Modules of this package that register rows, in the order of the ledger."""

Evidence: TypeAlias = dict[str, Any]
"""JSON values only; exact rationals as "p/q" strings, enclosures as `{"lo": , "hi": }`."""


@dataclass(frozen=True)
class Finding:
    """The finding of a check.

    Parameters
    ----------
    verdict : str
        One of :data:`VERDICTS`, on the statement as printed.
    proof : {'right', 'wrong', 'none'}
        Whether the paper's proof is right; `none` if it has none.
    evidence : dict
        Numbers and data sets in full.
    failing_step : str or None
        The step of the paper's proof that fails, and how.
    """

    verdict: str
    proof: str
    evidence: Evidence
    failing_step: str | None = None

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS or self.proof not in PROOFS:
            raise ValueError(f"no such verdict or proof: {self.verdict}, {self.proof}")
        if (self.proof == "wrong") != (self.failing_step is not None):
            raise ValueError("a wrong proof, and no other, has a failing step")


@dataclass(frozen=True)
class Control:
    """A case in which it is known whether a check's instrument must fire.

    Parameters
    ----------
    what : str
        The case, in words.
    fires : callable
        Runs the check's instrument on the case; True if it reports a violation.
    """

    what: str
    fires: Callable[[], bool]


@dataclass(frozen=True, eq=False)
class Claim:
    """One row: its fixed part, and the check that decides it.

    Parameters
    ----------
    id : str
        Stable for ever.
    statement : str
        As printed, in our symbols.
    place : str
        Where in the paper: section, theorem, equation, line of an algorithm.
    check : callable
        Finds the verdict.
    null, broken : Control
        On the first the check's instrument stays silent, on the second it fires.
    readings : tuple of str
        The readings under which the check decides.
    symbols : tuple of str
        Dotted names of the code that the row is about.
    verdict, proof : str
        The expected result of the check.
    paper_step : str
        The step of the paper that decides the matter, quoted by place.
    why : str
        Why it fails, or why it holds nonetheless.
    repaired : str
        The corrected statement.
    advice : str
        Advice to users of the published formula.
    rerun : tuple of str
        Command lines that reproduce it.
    needs : tuple of str
        Of :data:`NEEDS`.
    drawn : bool
        Whether evidence is drawn: another seed gives other numbers and the same verdict.
    """

    id: str
    statement: str
    place: str
    check: Callable[[], Finding]
    null: Control
    broken: Control
    readings: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    verdict: str = "undecided"
    proof: str = "none"
    paper_step: str = ""
    why: str = ""
    repaired: str = ""
    advice: str = ""
    rerun: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    drawn: bool = False

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS or self.proof not in PROOFS or not set(self.needs) <= set(NEEDS):
            raise ValueError(f"{self.id}: no such verdict, proof or need")

    @property
    def machine_proof(self) -> str | None:
        """The theorems of ``proofs/coq`` that carry the claim; the verdict does not rest on them."""
        return machine_proof(self.id)

    @property
    def check_name(self) -> str:
        """Dotted name of the check."""
        return f"{self.check.__module__}.{self.check.__qualname__}"


SEED = 20200207
"""The default seed of rows with drawn evidence."""

_CLAIMS: dict[str, Claim] = {}
_seed = SEED


def seed() -> int:
    """Return the seed of this run, for checks that draw."""
    return _seed


def set_seed(value: int) -> None:
    """Choose the seed of this process."""
    global _seed  # noqa: PLW0603
    _seed = value


def claim(
    id: str,  # noqa: A002
    statement: str,
    place: str,
    *,
    null: Control,
    broken: Control,
    **fixed: Any,
) -> Callable[[Callable[[], Finding]], Callable[[], Finding]]:
    """Register the function below as the check of a row; parameters as in :class:`Claim`."""

    def register(check: Callable[[], Finding]) -> Callable[[], Finding]:
        _add(Claim(id, statement, place, check=check, null=null, broken=broken, **fixed))
        return check

    return register


def _add(row: Claim) -> None:
    known = _CLAIMS.get(row.id)
    # the same module read twice (python -m) registers the same row again
    if known is not None and known.check_name != row.check_name:
        raise ValueError(f"claim {row.id} is registered twice")
    _CLAIMS[row.id] = row


def claims() -> dict[str, Claim]:
    """Return every row by id, in the order of the ledger."""
    for topic in TOPICS:
        importlib.import_module(f"audit.claims.rows.{topic}")
    return dict(_CLAIMS)
