"""The ledger: run the checks, compare with what is committed, and keep what cannot be run here."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from joblib import delayed

from audit.claims.digest import digest
from audit.claims.registry import SEED, Claim, Evidence, Finding, claims, set_seed
from audit.common.compare import differences
from audit.common.packed import Place, place_of
from reference.common.files import json_text, write_whole
from reference.common.workers import parallel
from reference.datasets import us
from reference.datasets.adult import FILES
from reference.datasets.source import data_folder

LEDGER = "audit/claims/ledger.json"

RUN, NOT_RUN = "run", "not re-run here"

RENEW = "python -m audit claims --write"


def has_data() -> bool:
    """Return whether the files of UCI Adult are there."""
    return all((data_folder() / "adult" / name).is_file() for name in FILES)


def has_us() -> bool:
    """Return whether the table that stands in for US is there."""
    return (data_folder() / us.SOURCE.path).is_file()


def has_coq() -> bool:
    """Return whether Coq is installed."""
    return shutil.which("coqc") is not None


AVAILABLE: dict[str, Callable[[], bool]] = {"data": has_data, "us": has_us, "coq": has_coq}


@dataclass(frozen=True)
class Row:
    """A claim with its finding, and the problems of the pair.

    Parameters
    ----------
    claim : Claim
    status : {'run', 'not re-run here'}
    finding : Finding or None
        Of this run, or the committed one if the check cannot run here; None if there is none.
    digest : str
        Of the code that the row is about, as it is now.
    problems : tuple of str
        Reasons why the ledger as a whole is not as registered.
    """

    claim: Claim
    status: str
    finding: Finding | None
    digest: str
    problems: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Return the contract's object."""
        claim, finding = self.claim, self.finding
        return {
            "id": claim.id,
            "statement": claim.statement,
            "place": claim.place,
            "readings": list(claim.readings),
            "verdict": "undecided" if finding is None else finding.verdict,
            "registered_verdict": claim.verdict,
            "proof": "none" if finding is None else finding.proof,
            "failing_step": None if finding is None else finding.failing_step,
            "machine_proof": claim.machine_proof,
            "evidence": {} if finding is None else finding.evidence,
            "why": claim.why,
            "repaired": claim.repaired,
            "advice": claim.advice,
            "check": claim.check_name,
            "controls": [claim.null.what, claim.broken.what],
            "rerun": list(claim.rerun),
            "needs": list(claim.needs),
            "symbols": list(claim.symbols),
            "digest": self.digest,
            "status": self.status,
            **({"problems": list(self.problems)} if self.problems else {}),
        }


def code_digest(claim: Claim) -> str:
    """Return the digest of a row's symbols and of its check."""
    return digest((*claim.symbols, claim.check_name))


def committed_path() -> Place:
    """Return the path of the committed ledger."""
    return place_of(LEDGER)


def committed() -> dict[str, dict[str, Any]]:
    """Return the committed rows by id; none if there is no ledger yet."""
    path = committed_path()
    if not path.is_file():
        return {}
    return {row["id"]: row for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}


def run(ids: Sequence[str] | None = None, *, jobs: int = 1, seed: int = SEED) -> list[Row]:
    """Run the checks of some rows, or of all, and return the rows in the order of the ledger.

    Parameters
    ----------
    ids : sequence of str, optional
    jobs : int
        Processes.
    seed : int
        Of rows with drawn evidence; with a seed other than :data:`SEED` their numbers are not compared.
    """
    rows = [row for row in claims().values() if ids is None or row.id in ids]
    known = committed()
    findings = parallel(jobs)(delayed(find)(row.id, seed) for row in rows if not missing(row))
    found = dict(zip((row.id for row in rows if not missing(row)), findings, strict=True))
    return [row_of(claim, found.get(claim.id), known.get(claim.id), seed=seed) for claim in rows]


def find(id: str, seed: int = SEED) -> Finding:  # noqa: A002
    """Run one check; return its evidence as it will be read back from a file."""
    set_seed(seed)
    try:
        finding = claims()[id].check()
    finally:
        set_seed(SEED)
    return Finding(finding.verdict, finding.proof, json.loads(json_text(finding.evidence)), finding.failing_step)


def missing(claim: Claim) -> tuple[str, ...]:
    """Return what the check needs and this machine lacks."""
    return tuple(need for need in claim.needs if not AVAILABLE[need]())


def row_of(claim: Claim, finding: Finding | None, stored: dict[str, Any] | None, *, seed: int = SEED) -> Row:
    """Return the row of a claim: of this run, or the committed one if the check cannot run here."""
    current = code_digest(claim)
    status = RUN
    if finding is None:
        status = NOT_RUN
        finding = None if stored is None else _stored_finding(stored)
    compared = not (claim.drawn and seed != SEED)
    problems = (*_problems(claim, status, finding, current, stored, compared=compared),)
    row = Row(claim, status, finding, current)
    return replace(row, problems=(*problems, *_altered(row, stored)))


def _altered(row: Row, stored: dict[str, Any] | None) -> Iterator[str]:
    """Yield the fields, besides evidence and digest, in which a committed row differs from the program's."""
    if stored is None:
        return
    written = _stored(row)
    for name in dict.fromkeys([*written, *stored]):
        if name not in ("evidence", "digest") and written.get(name) != stored.get(name):
            yield f"{row.claim.id}: the committed {name} is not the program's; renew the ledger: {RENEW}"


def _stored_finding(stored: dict[str, Any]) -> Finding:
    return Finding(stored["verdict"], stored["proof"], stored["evidence"], stored["failing_step"])


def _problems(
    claim: Claim,
    status: str,
    finding: Finding | None,
    current: str,
    stored: dict[str, Any] | None,
    *,
    compared: bool = True,
) -> Iterator[str]:
    if finding is None:
        yield f"{claim.id}: needs {', '.join(missing(claim))}, and no evidence is committed"
        return
    if status == NOT_RUN and os.environ.get("CHECK_ALL") == "1":
        yield f"{claim.id}: CHECK_ALL=1, but {', '.join(missing(claim))} is missing"
    if finding.verdict != claim.verdict:
        yield f"{claim.id}: {finding.verdict}, registered as {claim.verdict}"
    if finding.verdict == "undecided":
        yield f"{claim.id}: undecided"
    if finding.proof != claim.proof:
        yield f"{claim.id}: proof {finding.proof}, registered as {claim.proof}"
    if stored is None:
        yield f"{claim.id}: not in the committed ledger; renew it: {RENEW}"
        return
    if stored["digest"] != current:
        yield f"{claim.id}: stale, the code that it is about has changed; renew the ledger: {RENEW}"
    for place in differences(stored["evidence"], finding.evidence) if compared else ():
        yield f"{claim.id}: evidence differs from the committed one at {place}; renew the ledger: {RENEW}"


def absent(rows: Sequence[Row]) -> list[str]:
    """Return problems for rows that only the committed ledger has: checks that did not run."""
    ran = {row.claim.id for row in rows}
    return [f"{name}: in the committed ledger, and no check of it ran" for name in committed() if name not in ran]


def document(rows: Sequence[Row]) -> Evidence:
    """Return the ledger in its committed form."""
    return {"schema": "claims_ledger_v1", "rows": [_stored(row) for row in rows]}


def _stored(row: Row) -> dict[str, Any]:
    stored = row.to_json()
    stored.pop("problems", None)
    # a committed row says nothing about the machine that wrote it
    stored["status"] = RUN
    return stored


def write(rows: Sequence[Row], path: Path | None = None) -> None:
    """Write the ledger; a row that could not be run here keeps its committed evidence and digest."""
    known = committed()
    kept = document(rows)
    kept["rows"] = [
        known[row.claim.id] if row.status == NOT_RUN and row.claim.id in known else stored
        for row, stored in zip(rows, kept["rows"], strict=True)
    ]
    write_whole(path or str(committed_path()), json_text(kept))
