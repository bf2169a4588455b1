"""Compare Coq's answers with what is committed.

``digests.json`` holds a digest of every statement and of every definition that a statement mentions, and the level
of every proof.  A theorem may assume what its level allows and nothing else.

``recursions.json`` lists the recursive functions of all files, with a digest of each and of all that it mentions.
Coq 8.16 accepts some that never end, so no others are taken.  Both files are renewed together; changes of this one
are for a reviewer to read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from audit.common.packed import CHECKOUT, Place, place_of
from audit.proofs.assumptions import LEVELS
from audit.proofs.build import Answers, ask, build, copy_sources
from audit.proofs.kernel import recheck
from audit.proofs.sources import PROJECT
from reference.common.files import json_text, write_whole

DIGESTS = "audit/proofs/digests.json"
RECURSIONS = "audit/proofs/recursions.json"
RENEW = "python -m audit proofs --write"


def level_of(axioms: tuple[str, ...]) -> str | None:
    """Return the lowest level that allows these axioms, or None."""
    return next((level for level, allowed in LEVELS.items() if set(axioms) <= set(allowed)), None)


def committed() -> dict[str, Any]:
    """Return the committed digests, and the level of every theorem."""
    return dict(json.loads(place_of(DIGESTS).read_text(encoding="utf-8")))


def listed() -> dict[str, str]:
    """Return the digests of the recursive functions that have been read."""
    return dict(json.loads(place_of(RECURSIONS).read_text(encoding="utf-8")))


def unlisted(answers: Answers, known: Mapping[str, str]) -> Iterator[str]:
    """Yield the recursive functions that a list does not have, or has otherwise."""
    for word, digest in answers.recursions.items():
        if word not in known:
            yield f"{word}: a recursive function that {RECURSIONS} does not list"
        elif known[word] != digest:
            yield f"{word}: the recursive function, or what it mentions, is not as listed in {RECURSIONS}"


def document(answers: Answers) -> dict[str, Any]:
    """Return the digests in their committed form."""
    rows = {}
    for name, theorem in answers.theorems.items():
        row = asdict(theorem)
        del row["axioms"]
        rows[name] = {**row, "mentions": list(theorem.mentions), "level": level_of(theorem.axioms)}
    return {"coq": answers.coq, "theorems": rows, "definitions": answers.definitions}


def write(answers: Answers) -> None:
    """Renew the committed digests, and the list of recursive functions."""
    write_whole(CHECKOUT / DIGESTS, json_text(document(answers)))
    write_whole(CHECKOUT / RECURSIONS, json_text(answers.recursions))


def differences(answers: Answers, stored: dict[str, Any]) -> Iterator[str]:
    """Yield differences between Coq's answers and the committed ones, and axioms beyond a theorem's level."""
    if answers.coq != stored["coq"]:
        yield f"Coq {answers.coq}: the digests are of what Coq {stored['coq']} prints; renew them: {RENEW}"
    yield from answers.unexplained
    yield from unlisted(answers, listed())
    known = stored["theorems"]
    for name in [*known, *(name for name in answers.theorems if name not in known)]:
        if name not in answers.theorems:
            yield f"{name}: committed, and no longer proved"
            continue
        theorem = answers.theorems[name]
        row = known.get(name, {"level": "none", "statement": "", "mentions": []})
        beyond = sorted(set(theorem.axioms) - set(LEVELS.get(row["level"], ())))
        if beyond:
            yield f"{name}: assumes {', '.join(beyond)}, beyond its level {row['level']}"
        if name not in known:
            yield f"{name}: proved, and not committed; renew the digests: {RENEW}"
            continue
        if theorem.statement != row["statement"]:
            yield f"{name}: the statement has changed"
        if list(theorem.mentions) != row["mentions"]:
            yield f"{name}: the statement mentions other definitions"
    for word in sorted({*stored["definitions"], *answers.definitions}):
        if stored["definitions"].get(word) != answers.definitions.get(word):
            yield f"{word}: the definition has changed"


def allowed(stored: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the axioms that each committed theorem may assume."""
    return {name: LEVELS.get(row["level"], ()) for name, row in stored["theorems"].items()}


def compiled(
    scratch: Path, folder: Place = PROJECT, *, stored: dict[str, Any] | None = None
) -> tuple[Path, Answers]:
    """Compile a clean copy of a project, ask Coq about it and recheck it; return the copy and the answers.

    Parameters
    ----------
    scratch : Path
    folder : Place
    stored : dict, optional
        The committed digests, if the answers are to be compared with them: :func:`audit.proofs.build.ask` is
        faster then, and names a level no lower than that of the theorem.
    """
    copy = copy_sources(folder, scratch / "coq")
    build(copy)
    answers = ask(copy, allowed=None if stored is None else allowed(stored))
    return copy, replace(answers, unexplained=(*answers.unexplained, *recheck(copy)))
