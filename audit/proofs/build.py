"""Compile a clean copy of the proofs, and ask Coq what it has proved.

Only sources are copied, so that every ``.vo`` is made by this build.  Statements and definitions are digested as
Coq prints them with ``Set Printing All``: implicit arguments, coercions, notations and scopes are then spelled
out, and a change of any of them changes the digest.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from audit.proofs.assumptions import assumption_answers, assumption_questions, grouped
from audit.proofs.sources import PROJECT, STATEMENTS, project_files, theorems

NOT_CHECKED = "PROOFS NOT CHECKED"

DEFINED = ("def", "rec", "ind", "constr", "proj", "inst")
"""Kinds of names in a ``.glob`` file that give a word its meaning; lemmas and section variables do not."""

NAME = re.compile(r"[^\W\d][\w']*")
"""Letters of every script: Coq allows them in names."""

QUESTIONS = "Questions.v"

ASSUMPTIONS = "Assumptions.v"
"""Proves nothing and asks what :func:`ask` asks again, at 25 s of processor time."""


REJECTED = 1
"""Exit code of ``coqc`` for a file with an error; another one is a breakdown."""

BREAKDOWNS = ("Anomaly", "Stack overflow", "Out of memory")
"""Errors that say nothing of the file."""


class ProofError(Exception):
    """Coq rejected a file; the message is Coq's."""


class CoqStoppedError(Exception):
    """Coq was stopped at a time limit, or it broke down: it decided nothing."""


@dataclass(frozen=True)
class Theorem:
    """What Coq says of one theorem.

    Parameters
    ----------
    statement : str
        Digest of the statement.
    mentions : tuple of str
        Definitions of the project that the statement mentions, directly or through another one; sorted.
    axioms : tuple of str
        What the proof assumes, or what the proofs that were asked about together do; sorted.
    """

    statement: str
    mentions: tuple[str, ...]
    axioms: tuple[str, ...]


@dataclass(frozen=True)
class Answers:
    """What Coq says of a project: its theorems by name, and the digests of the definitions that they mention."""

    coq: str
    theorems: dict[str, Theorem]
    definitions: dict[str, str]


def missing() -> str | None:
    """Return why the proofs cannot be checked here, or None."""
    if shutil.which("coqc") is None:
        return f"{NOT_CHECKED}: coqc is not installed (Debian: coq, libcoq-coquelicot)"
    if not PROJECT.is_dir():
        return f"{NOT_CHECKED}: {PROJECT} is not there"
    return None


def copy_sources(folder: Path, target: Path) -> Path:
    """Copy the sources of a project, and nothing that was compiled, to a new folder."""
    target.mkdir(parents=True)
    for path in folder.iterdir():
        if path.suffix == ".v" or path.name == "_CoqProject":
            shutil.copy(path, target)
    return target


def compile_file(folder: Path, name: str, *, seconds: float | None = None) -> str:
    """Compile one file to ``.vo`` and return what Coq printed.

    Raises
    ------
    ProofError
        When Coq rejects it.
    CoqStoppedError
        When it takes longer than `seconds`, or ends otherwise than with an answer.
    """
    command = ["coqc", "-q", "-Q", ".", "CFM", "-w", "-ambiguous-paths", name]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, env=surroundings(), timeout=seconds
        )
    except subprocess.TimeoutExpired as problem:
        raise CoqStoppedError(f"{name}: Coq was stopped at the time limit") from problem
    if done.returncode == REJECTED and not any(words in done.stderr for words in BREAKDOWNS):
        raise ProofError(f"{name}: {done.stderr.strip()}")
    if done.returncode != 0:
        raise CoqStoppedError(f"{name}: Coq ended with code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def surroundings() -> dict[str, str]:
    """Return the environment for Coq: another library in COQPATH could stand in for Coq's own."""
    return {key: value for key, value in os.environ.items() if key != "COQPATH"}


def build(folder: Path) -> None:
    """Compile every file of a project that proves something, in the order of its ``_CoqProject``."""
    for name in proving(folder):
        compile_file(folder, name)


def ask(
    folder: Path, *, statements: str = STATEMENTS, allowed: Mapping[str, tuple[str, ...]] | None = None
) -> Answers:
    """Ask Coq for the statements, definitions and axioms of a compiled project.

    Parameters
    ----------
    folder : Path
        A copy that :func:`build` has compiled.
    statements : str
        The file whose theorems count.
    allowed : mapping, optional
        Axioms that a theorem may assume.  Theorems that may assume the same are asked about together, and one by
        one only where Coq names another axiom.  Theorems without an entry are asked about one by one.
    """
    names = theorems((folder / statements).read_text(encoding="utf-8"))
    module = f"CFM.{Path(statements).stem}"
    words = _defined_words(folder)
    limits = allowed or {}
    groups = grouped(names, limits)
    questions = [f'Redirect "t.{name}" Check {module}.{name}.' for name in names]
    questions += [f'Redirect "d.{word}" Print CFM.{word}.' for word in words]
    _put(folder, [*questions, *assumption_questions(groups, module)])
    axioms: dict[str, tuple[str, ...]] = {}
    for group, together in zip(groups, assumption_answers(folder, groups), strict=True):
        axioms |= dict.fromkeys(group, together)
    suspects = [name for name in names if name in limits and not set(axioms[name]) <= set(limits[name])]
    if suspects:
        alone = [(name,) for name in suspects]
        _put(folder, assumption_questions(alone, module))
        axioms |= dict(zip(suspects, assumption_answers(folder, alone), strict=True))
    printed = {word: _answer(folder, f"d.{word}") for word in words}
    stated = {name: _answer(folder, f"t.{name}") for name in names}
    found = {
        name: Theorem(_digest(text), _mentioned(text, printed), axioms[name]) for name, text in stated.items()
    }
    used = sorted({word for theorem in found.values() for word in theorem.mentions})
    return Answers(coq_version(), found, {word: _digest(printed[word]) for word in used})


def coq_version() -> str:
    """Return the version of Coq, whose way of printing the digests depend on."""
    done = subprocess.run(["coqc", "--print-version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[0]


def proving(folder: Path) -> list[str]:
    """Return the files of a project that prove something, in the order of its ``_CoqProject``."""
    return [name for name in project_files(folder) if name != ASSUMPTIONS]


def _put(folder: Path, questions: Sequence[str]) -> None:
    modules = " ".join(Path(name).stem for name in proving(folder))
    settings = ["Set Printing All.", "Set Printing Width 100000.", "Set Printing Depth 100000."]
    lines = [f"From CFM Require {modules}.", *settings, *questions]
    (folder / QUESTIONS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    compile_file(folder, QUESTIONS)


def _defined_words(folder: Path) -> list[str]:
    """Return the names, each as Module.name, to which the project gives a meaning."""
    words = []
    for file in proving(folder):
        for line in (folder / file).with_suffix(".glob").read_text(encoding="utf-8").splitlines():
            kind, *rest = line.split()
            if kind in DEFINED:
                words.append(f"{Path(file).stem}.{rest[-1]}")
    return words


def _mentioned(statement: str, printed: dict[str, str]) -> tuple[str, ...]:
    """Return the definitions that a statement mentions, directly or through others.

    Words are compared by their last name, so that a bound variable may add a definition, and none is left out.
    """
    by_name: dict[str, list[str]] = {}
    for word in printed:
        by_name.setdefault(word.split(".")[-1], []).append(word)
    found: set[str] = set()
    waiting = [statement]
    while waiting:
        for name in set(NAME.findall(waiting.pop())):
            for word in by_name.get(name, []):
                if word not in found:
                    found.add(word)
                    waiting.append(printed[word])
    return tuple(sorted(found))


def _answer(folder: Path, name: str) -> str:
    return " ".join((folder / f"{name}.out").read_text(encoding="utf-8").split())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
