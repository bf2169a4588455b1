"""Compile a certificate in a clean directory, and compare Coq's answers with what is committed.

Only sources are copied, and all files of the development that the certificate needs are compiled again.
Then Coq is asked what the theorem assumes, and for the definitions that its statement mentions.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from audit.proofs.assumptions import LEVELS
from audit.proofs.build import (
    Answers,
    CoqStoppedError,
    ProofError,
    ask,
    compile_file,
    copy_sources,
    surroundings,
)
from audit.proofs.check import committed, listed, unlisted
from audit.proofs.claims import rows
from audit.proofs.grammar import refused
from audit.proofs.pages import fingerprinted
from audit.proofs.pages import problems as disagreements
from audit.proofs.releases.text import THEOREM
from audit.proofs.sources import PROJECT, source_problems

FILE = "Certificate.v"
MODULE = "Certificate"

ALLOWED = LEVELS["classical"]
"""Axioms that a certificate may rest on: those of Coq's classical real numbers."""

SECONDS = 1800.0
"""Default time limit: the development takes about a minute of processor time, and the machine may be busy."""

CompilerWatch: TypeAlias = Callable[[str, int, int], None]
"""Is told which file Coq takes next, how many it has done, and of how many."""


def unwatched(name: str, done: int, of: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class CoqFinding:
    """Coq's answer to a certificate.

    Parameters
    ----------
    accepted : bool or None
        None when Coq could not decide it.
    detail : str
        Coq's message, or what the theorem rests on.
    """

    accepted: bool | None
    detail: str


def check(
    text: str,
    *,
    library: Path | None = None,
    seconds: float = SECONDS,
    theorem: str = THEOREM,
    watch: CompilerWatch = unwatched,
) -> CoqFinding:
    """Check a certificate.

    Parameters
    ----------
    text : str
        The certificate.
    library : path, optional
        The result of :func:`compiled_library` for the same modules; the certificate is written into it.  Without
        one a new copy is made and compiled.
    seconds : float
        Time limit, in all.
    theorem : str
        The theorem that the certificate must prove.
    watch : callable
        Is told of every file that is compiled.
    """
    problems = [*source_problems(PROJECT), *(f"{FILE}: {sentence}" for sentence in refused(text))]
    # digests are generated: only the fingerprints on the pages, which a reviewer reads, vouch for them
    problems += [
        f"the pages disagree with the digests: {first}" for first in islice(disagreements(rows(), committed()), 1)
    ]
    if problems:
        return CoqFinding(None, "; ".join(problems))
    end = time.monotonic() + seconds
    if library is not None:
        return _decide(library, text, end, theorem)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            return _decide(compiled_library(Path(scratch) / "coq", text, end, watch), text, end, theorem)
        except (ProofError, CoqStoppedError) as problem:
            return CoqFinding(None, f"the development does not compile here: {problem}")


def compiled_library(target: Path, text: str, end: float, watch: CompilerWatch = unwatched) -> Path:
    """Copy the sources of the development to a new folder and compile those that a certificate needs.

    Raises
    ------
    audit.proofs.build.ProofError, audit.proofs.build.CoqStoppedError
        The second when it is not done at `end`, a time of ``time.monotonic``.
    """
    needed = needed_sources(target, text)
    for place, name in enumerate(needed):
        watch(name, place, len(needed) + 1)
        compile_file(target, name, seconds=_left(end))
    watch(FILE, len(needed), len(needed) + 1)
    return target


def needed_sources(target: Path, text: str) -> list[str]:
    """Copy the sources of the development to a new folder; return those that a certificate needs, in order."""
    copy = copy_sources(PROJECT, target)
    (copy / FILE).write_text(text, encoding="utf-8")
    needed = _needed(copy)
    # Coq is then asked about these files only
    (copy / "_CoqProject").write_text("\n".join(["-Q . CFM", *needed, FILE, ""]), encoding="utf-8")
    return needed


def _decide(library: Path, text: str, end: float, theorem: str) -> CoqFinding:
    (library / FILE).write_text(text, encoding="utf-8")
    try:
        compile_file(library, FILE, seconds=_left(end))
    except CoqStoppedError as problem:
        return CoqFinding(None, str(problem))
    except ProofError as problem:
        return CoqFinding(False, str(problem))
    answers = ask(library, statements=FILE)
    found = list(_objections(answers, theorem))
    if found:
        return CoqFinding(None, "; ".join(found))
    axioms = ", ".join(answers.theorems[theorem].axioms) or "none"
    return CoqFinding(True, f"Coq {answers.coq}, a clean build; axioms: {axioms}")


def _objections(answers: Answers, theorem: str = THEOREM) -> Iterator[str]:
    """Yield axioms beyond the allowed ones, and definitions that differ from the committed ones."""
    yield from answers.unexplained
    yield from unlisted(answers, listed())
    for name, found in answers.theorems.items():
        beyond = sorted(set(found.axioms) - set(ALLOWED))
        if beyond:
            yield f"{name} assumes {', '.join(beyond)}"
    if theorem not in answers.theorems:
        yield f"{theorem} is not there"
    known = fingerprinted(rows(), committed())
    for word, digest in answers.definitions.items():
        if not word.startswith(f"{MODULE}.") and known.get(word) != digest:
            yield f"{word} is not defined as committed in audit/proofs/digests.json"


def _left(end: float) -> float:
    return max(0.1, end - time.monotonic())


def _needed(folder: Path) -> list[str]:
    """Return the files of the development that the certificate needs, in the order of compilation."""
    command = ["coqdep", "-Q", ".", "CFM", "-sort", FILE]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env=surroundings())
    names = [Path(name).name for name in done.stdout.split()]
    return [name for name in names if name != FILE]
