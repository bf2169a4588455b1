"""The report as one JSON object; the page shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from audit.claims.ledger import committed
from audit.claims.registry import VERDICTS, claims
from audit.commands.report import counterexamples, results
from audit.commands.report.committed import CommittedResults
from audit.commands.report.exact_grid import PrivacyGrid, grid_document
from audit.commands.report.formulas import of_claim
from audit.evidence.certificate import versions
from audit.proofs.assumptions import LEVELS
from audit.proofs.check import committed as committed_proofs
from audit.proofs.claims import STATUSES, Carried, rows, without_theorem

PAPER = "Differentially Private and Fair Classification via Calibrated Functional Mechanism"

NUMBERED = {
    **{f"L{number}": f"Lemma {number}" for number in range(1, 5)},
    **{f"T{number}": f"Theorem {number}" for number in range(1, 6)},
    **{f"Fig{number}": f"Figure {number}" for number in range(1, 4)},
    "Tables": "Tables",
}
"""The paper's numbered items, by claim: the rows that a reader looks at first."""

RERUN = {
    "this report": "python -m audit report --out report.html",
    "every claim, decided again": "python -m audit claims",
    "one claim in full": "python -m audit claims --claim T5",
    "the theorems, from scratch (needs Coq)": "python -m audit proofs",
    "claimed and exact privacy at budgets of yours": "python -m audit privacy adfc --epsilon-s 10 --epsilon-n 0.1",
    "the ratios for which Theorems 3 and 5 hold": "python -m audit boundary",
    "the auditor on mechanisms of known loss": "python -m audit catalogue",
    "how often the auditor errs (a quarter of an hour)": "python -m audit validity",
    "a figure of the paper": "python -m reference experiments fig1",
    "the frontier": "python -m reference experiments frontier --data adult",
    "all tests, as on a fresh machine": ".ci/run",
}
"""Commands, by what they show."""


def report(files: CommittedResults, grid: PrivacyGrid) -> dict[str, Any]:
    """Return everything that the page shows.

    Parameters
    ----------
    files : CommittedResults
        Records what was read and what was absent.
    grid : PrivacyGrid
    """
    ledger = list(_ledger())
    counted = Counter(row["verdict"] for row in ledger)
    parts = {
        "schema": "report_v1",
        "paper": PAPER,
        "numbered": NUMBERED,
        "verdicts": {verdict: counted[verdict] for verdict in VERDICTS if counted[verdict]},
        "ledger": ledger,
        "privacy": grid_document(grid),
        "boundaries": results.boundaries(files),
        "auditor": results.auditor(files),
        "frontier": results.frontier(files),
        "figures": results.figures(files),
        "proofs": _proofs(),
        "rerun": RERUN,
        "versions": versions(("numpy", "scipy", "scikit-learn", "mpmath", "python-flint", "sympy")),
    }
    return parts | {"files": files.digests, "absent": files.problems}


def _ledger() -> Iterator[dict[str, Any]]:
    """Yield the committed rows, each with what the page shows beside it."""
    carried = rows()
    for name, row in committed().items():
        claim = claims()[name]
        yield row | {
            "paper_step": claim.paper_step,
            "formulas": of_claim(name),
            "pairs": counterexamples.pairs(row["evidence"]),
            "data_set": counterexamples.data_set(row["evidence"]),
            "losses": counterexamples.losses(row["evidence"]),
            "theorems": [_theorem(theorem) for theorem in carried if name in theorem.claims],
        }


def _theorem(row: Carried) -> dict[str, str]:
    return {"theorem": row.theorem, "says": row.status, "covers": row.covers, "axioms": row.level}


def _proofs() -> dict[str, Any]:
    """Return Coq's committed results."""
    stored = committed_proofs()
    return {
        "coq": stored["coq"],
        "definitions": len(stored["definitions"]),
        "statuses": STATUSES,
        "levels": {level: list(axioms) for level, axioms in LEVELS.items()},
        "theorems": [
            _theorem(row) | {"claims": list(row.claims), "place": row.place, "symbols": list(row.symbols)}
            for row in rows()
        ],
        "without_theorem": without_theorem(),
    }
