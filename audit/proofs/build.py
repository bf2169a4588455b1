"""Compile a clean copy of the proofs, and ask Coq what it has proved.

Only sources are copied, so that every ``.vo`` is made by this build.  Statements and definitions are digested as
Coq prints them with ``Set Printing All`` where no module is imported: implicit arguments, coercions, notations and
scopes are spelled out, and every constant has its module's name in front, which no bound variable has.  Its full
kernel name takes its place, so that a change of any of these changes the digest.  Levels of universes are not
printed.  Of every file Coq is asked for all its constants and all their assumptions.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path

from audit.common.packed import Place
from audit.proofs.assumptions import LEVELS, assumption_answers, assumption_questions, grouped
from audit.proofs.names import (
    WORD,
    constants,
    hidden,
    in_full,
    location_questions,
    locations,
    without_meaning,
)
from audit.proofs.sources import (
    LIST,
    PROJECT,
    STATEMENTS,
    library_names,
    named,
    project_files,
    sentences,
    theorems,
)

NOT_CHECKED = "PROOFS NOT CHECKED"

DEFINED = ("def", "rec", "ind", "constr", "proj", "inst")
"""Kinds of names in a ``.glob`` file that give a word its meaning; lemmas and section variables do not."""

RECURSIVE = re.compile(r"\b(?:fix|cofix)\b")
"""In a printed definition: both are reserved words, which no name is."""

CONSTRUCTOR = re.compile(r"^Record [^{]*:= (\w+) \{")

QUESTIONS = "Questions.v"

ASSUMPTIONS = "Assumptions.v"
"""Proves nothing, and asks only what :func:`ask` asks, at 25 s of processor time."""


MEMORY = "s=4M,i=4M,o=1000"
"""How OCaml, in which Coq is written, manages memory.  A file takes an eighth less time than by Coq's own choice,
which reserves twice as much and collects more often."""


REJECTED = 1
"""Exit code of ``coqc`` for a file with an error; other codes are breakdowns."""

BREAKDOWNS = ("Anomaly", "Stack overflow", "Out of memory")
"""Errors that say nothing about the file."""


class ProofError(Exception):
    """Coq rejected a file; the message is Coq's."""


class CoqStoppedError(Exception):
    """Coq was stopped at a time limit or broke down: it decided nothing."""


@dataclass(frozen=True)
class Theorem:
    """Coq's answer about one theorem.

    Parameters
    ----------
    statement : str
        Digest of the statement.
    mentions : tuple of str
        Definitions of the project that the statement mentions, directly or through another one; sorted.
    axioms : tuple of str
        What the proof, or the proofs asked about together, assume; sorted.
    """

    statement: str
    mentions: tuple[str, ...]
    axioms: tuple[str, ...]


@dataclass(frozen=True)
class Answers:
    """Coq's answers about a project.

    Parameters
    ----------
    coq : str
        Its version.
    theorems : dict
        Theorems by name.
    definitions : dict of str to str
        Digests of the definitions that they mention.
    unexplained : tuple of str
        Constants that no sentence declares, and axioms of any file beyond all levels.
    recursions : dict of str to str
        Digests of all recursive definitions of all files, each with what it mentions.
    """

    coq: str
    theorems: dict[str, Theorem]
    definitions: dict[str, str]
    unexplained: tuple[str, ...] = ()
    recursions: dict[str, str] = field(default_factory=dict)


def missing() -> str | None:
    """Return why the proofs cannot be checked here, or None."""
    if shutil.which("coqc") is None:
        return f"{NOT_CHECKED}: coqc is not installed (Debian: coq, libcoq-coquelicot)"
    if shutil.which("coqchk") is None:
        return f"{NOT_CHECKED}: coqchk is not installed (Debian: coq)"
    if not PROJECT.is_dir():
        return f"{NOT_CHECKED}: {PROJECT} is not there"
    return None


def copy_sources(folder: Place, target: Path) -> Path:
    """Copy the listed sources of a project, and nothing compiled, to a new folder."""
    target.mkdir(parents=True)
    for name in (LIST, *project_files(folder)):
        (target / name).write_bytes((folder / name).read_bytes())
    return target


def compile_file(folder: Path, name: str, *, seconds: float | None = None, prelude: bool = True) -> str:
    """Compile one file to ``.vo``, with Coq's prelude imported or not, and return what Coq printed.

    Raises
    ------
    ProofError
        When Coq rejects it.
    CoqStoppedError
        When it takes longer than `seconds`, or ends without an answer.
    """
    command = ["coqc", "-q", "-Q", ".", "CFM", "-w", "-ambiguous-paths", *([] if prelude else ["-noinit"]), name]
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
    """Return the environment for Coq: a library under HOME, COQPATH or XDG_DATA_DIRS would replace Coq's own."""
    # Coq looks in the working directory where there is no HOME at all
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": os.devnull, "OCAMLRUNPARAM": MEMORY}


def build(folder: Path) -> None:
    """Compile every file of a project that proves something, each after its dependencies, on all cores."""
    names = proving(folder)
    order = TopologicalSorter(_needs(folder, names))
    order.prepare()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        running: dict[Future[str], str] = {}
        while order.is_active():
            running |= {pool.submit(compile_file, folder, name): name for name in order.get_ready()}
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                done.result()
                order.done(running.pop(done))


def _needs(folder: Path, names: Sequence[str]) -> dict[str, set[str]]:
    """Return each file's dependencies before it in ``_CoqProject``, as ``coqdep`` reads them."""
    command = ["coqdep", "-Q", ".", "CFM", *names]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env=surroundings())
    needs: dict[str, set[str]] = {name: set() for name in names}
    for line in done.stdout.splitlines():
        made, _, of = line.partition(":")
        files = [f"{Path(one).stem}.v" for one in of.split() if one.endswith(".vo")]
        for name in {f"{Path(one).stem}.v" for one in made.split() if one.endswith(".vo")} & needs.keys():
            needs[name] |= set(files) & set(names[: names.index(name)])
    return needs


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
    groups = grouped(names, allowed or {})
    files = {f"m.{Path(name).stem}": name for name in proving(folder)}
    questions = [f'Redirect "t.{name}" Check {module}.{name}.' for name in names]
    questions += [f'Redirect "d.{word}" Print CFM.{word}.' for word in words]
    questions += [f'Redirect "{answer}" Print Module CFM.{answer.removeprefix("m.")}.' for answer in files]
    _put(folder, [*questions, *assumption_questions(groups, module)])
    axioms: dict[str, tuple[str, ...]] = {}
    for group, together in zip(groups, assumption_answers(folder, groups), strict=True):
        axioms |= dict.fromkeys(group, together)
    printed = {word: _answer(folder, f"d.{word}") for word in words}
    stated = {name: _answer(folder, f"t.{name}") for name in names}
    modules = {file: _answer(folder, answer) for answer, file in files.items()}
    limits = allowed or {}
    suspects = [name for name in names if name in limits and not set(axioms[name]) <= set(limits[name])]
    texts = [*printed.values(), *stated.values()]
    located, alone, beyond = _ask_again(folder, suspects, module, texts, modules)
    axioms |= alone
    unexplained = library_names(project_files(folder))
    for file, text in modules.items():
        unexplained += hidden(folder, file, text, named((folder / file).read_text(encoding="utf-8")))
    unexplained += [f"{axiom} is assumed in some file, beyond all levels" for axiom in beyond]
    unexplained += without_meaning(_words(texts), located)
    meanings = {word: in_full(text, located) for word, text in printed.items()}
    return _answers(stated, meanings, located, axioms, unexplained)


def _words(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in WORD.findall(text)}


def _ask_again(
    folder: Path, suspects: Sequence[str], module: str, texts: Sequence[str], modules: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, tuple[str, ...]], list[str]]:
    """Ask what depends on the first answers.

    Returns what words mean, what the suspects assume, and what all constants of all files assume beyond any level.
    """
    words = _words(texts)
    groups = [(name,) for name in suspects]
    every = [f"{Path(file).stem}.{name}" for file, text in modules.items() for name in constants(text)]
    questions = location_questions(words) + assumption_questions(groups, module)
    _put(folder, [*questions, *assumption_questions([every], "CFM", prefix="every")])
    located = locations(folder, words)
    alone = {name: found for (name,), found in zip(groups, assumption_answers(folder, groups), strict=True)}
    (together,) = assumption_answers(folder, [every], prefix="every")
    return located, alone, [axiom for axiom in together if axiom not in LEVELS["classical"]]


def _answers(
    stated: Mapping[str, str],
    meanings: Mapping[str, str],
    located: Mapping[str, str],
    axioms: Mapping[str, tuple[str, ...]],
    unexplained: list[str],
) -> Answers:
    """Return Coq's answers, from its printed text, its definitions in full and the full names of words."""
    found = {}
    for name, text in stated.items():
        statement = in_full(text.partition(" : ")[2], located)
        mentions = _mentioned(statement, meanings)
        unexplained += [
            f"{name}: mentions {word}, which no sentence declares" for word in mentions if word not in meanings
        ]
        known = tuple(word for word in mentions if word in meanings)
        found[name] = Theorem(_digest(statement), known, axioms[name])
    used = sorted({word for theorem in found.values() for word in theorem.mentions})
    digests = {word: _digest(meanings[word]) for word in used}
    return Answers(coq_version(), found, digests, tuple(unexplained), _recursions(meanings))


def _recursions(meanings: Mapping[str, str]) -> dict[str, str]:
    """Return a digest of each recursive definition with all that it mentions, which Coq's check of it unfolds."""
    found = {}
    for word, text in meanings.items():
        if RECURSIVE.search(text):
            mentioned = [meanings.get(other, other) for other in _mentioned(text, meanings)]
            found[word] = _digest("\n".join([text, *mentioned]))
    return found


def coq_version() -> str:
    """Return the version of Coq; the digests depend on its way of printing."""
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
    compile_file(folder, QUESTIONS, prelude=False)


def _defined_words(folder: Path) -> list[str]:
    """Return the names, each as Module.name, to which the project gives a meaning."""
    words = []
    for file in proving(folder):
        for line in (folder / file).with_suffix(".glob").read_text(encoding="utf-8").splitlines():
            kind, *rest = line.split()
            if kind in DEFINED:
                words.append(f"{Path(file).stem}.{rest[-1]}")
        # the glob file does not name the constructor of a record
        for sentence in sentences((folder / file).read_text(encoding="utf-8")):
            words += [f"{Path(file).stem}.{name}" for name in CONSTRUCTOR.findall(sentence)]
    return words


def _mentioned(statement: str, meanings: Mapping[str, str]) -> tuple[str, ...]:
    """Return the definitions of the project that a statement mentions, directly or through others, as Module.name.

    Both are given with full names: whatever begins with CFM is the project's, printed or not.
    """
    found: set[str] = set()
    waiting = [statement]
    while waiting:
        for name in set(WORD.findall(waiting.pop())):
            word = name.removeprefix("CFM.")
            if word != name and word not in found:
                found.add(word)
                waiting += [meanings[word]] if word in meanings else []
    return tuple(sorted(found))


def _answer(folder: Path, name: str) -> str:
    return " ".join((folder / f"{name}.out").read_text(encoding="utf-8").split())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
