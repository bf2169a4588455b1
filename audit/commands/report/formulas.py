"""The paper's formulas with the claims that they belong to, typeset as MathML."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from audit.common.packed import place_of

FORMULAS = place_of("audit/commands/report/formulas.json")
"""LaTeX from the paper's source, with the claims about it."""

TYPESET = place_of("audit/commands/report/formulas_mathml.json")
"""MathML by LaTeX; ``python -m tests.typeset --write`` renews it."""


@dataclass(frozen=True)
class PrintedFormula:
    """A formula in the paper.

    Parameters
    ----------
    claims : tuple of str
        Ids of the ledger.
    tex : str
    """

    claims: tuple[str, ...]
    tex: str


@cache
def formulas() -> tuple[PrintedFormula, ...]:
    """Return every formula."""
    rows = json.loads(FORMULAS.read_text(encoding="utf-8"))["formulas"]
    return tuple(PrintedFormula(tuple(row["claims"]), row["tex"]) for row in rows)


@cache
def typeset() -> dict[str, str]:
    """Return the MathML of every formula, by its LaTeX."""
    return dict(json.loads(TYPESET.read_text(encoding="utf-8")))


def of_claim(name: str) -> list[str]:
    """Return the LaTeX of a claim's formulas, in the order of the paper's argument."""
    return [formula.tex for formula in formulas() if name in formula.claims]
