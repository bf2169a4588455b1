"""Read Coq files: their sentences without comments, the theorems they state, and what they may not contain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "proofs" / "coq"
"""The development; absent where only the package is installed."""

STATEMENTS = "Statements.v"

ASSUMED = re.compile(
    r"\b(?:Axioms?|Parameters?|Conjectures?|Admitted|Admit|Declare\s+Instance|Primitive|Modules?|Include)\b"
)
"""Sought anywhere in a sentence: attributes may stand in front.  A module could hold a name that prints like one
of another library, and a module type assumes what it names."""
LOCAL = re.compile(r"\b(?:Variables?|Hypothes[ei]s|Context)\b")
"""Inside a section these become premises of its theorems; outside they are axioms."""

UNSAFE = re.compile(
    r"\b(?:admit|give_up|Drop|Redirect|Load|Cd|bypass_check)\b"
    r"|\b(?:Guard|Positivity|Universe)\s+Checking\b"
    r"|\bDefinitional\s+UIP\b"
    r"|\bDeclare\s+ML\s+Module\b"
    r"|\b(?:Add|Remove)\s+(?:Rec\s+)?(?:LoadPath|ML\s+Path)\b"
)
UNREADABLE = re.compile(r"\b(?:Defined|SuchThat|Function|Equations)\b")
"""These give a name a meaning that the digests of definitions do not hold; `:=` does the same in sight.

SuchThat is a part of the command Derive.
"""

OPTIONS = ("-Q . CFM", "-arg -w -arg -ambiguous-paths")
"""What ``_CoqProject`` holds beside the files; other options could weaken the kernel."""

SOURCE = re.compile(r"[A-Za-z]\w*\.v", re.ASCII)
"""A line of ``_CoqProject`` that names one file of the folder."""

COMMENT_OR_STRING = re.compile(r'\(\*|\*\)|"[^"]*"')
"""Coq reads strings inside and outside comments; a comment mark inside a string is none."""

SENTENCE_END = re.compile(r"(?<!\.)(?:\.|\.\.\.)(?=\s|$)")


def without_comments(text: str, *, strings: bool = True) -> str:
    """Return a Coq file's text without its comments, which nest, and with its strings or empty ones."""
    kept: list[str] = []
    depth = position = 0
    for mark in COMMENT_OR_STRING.finditer(text):
        if mark.group().startswith('"'):
            if depth == 0 and not strings:
                kept += [text[position : mark.start()], '""']
                position = mark.end()
            continue
        if depth == 0 and mark.group() == "*)":
            continue
        if depth == 0:
            kept.append(text[position : mark.start()])
        depth += 1 if mark.group() == "(*" else -1
        position = mark.end()
    return " ".join([*kept, text[position:]])


def sentences(text: str, *, strings: bool = True) -> list[str]:
    """Return the sentences of a Coq file without comments, spaces normalised, strings as they are or empty."""
    code = without_comments(text, strings=strings)
    return [" ".join(part.split()) for part in SENTENCE_END.split(code) if part.strip()]


def forbidden(text: str) -> Iterator[str]:
    """Yield the sentences of a Coq file that assume something, or switch a check of the kernel off."""
    open_sections: list[str] = []
    # a full stop in a string ends no sentence, and a word in it is no command
    for sentence in sentences(text, strings=False):
        words = sentence.split()
        if words[0] == "Section":
            open_sections += words[1:]
        elif words[0] == "End" and open_sections[-1:] == words[1:]:
            open_sections.pop()
        outside = not open_sections and LOCAL.search(sentence)
        if outside or any(found.search(sentence) for found in (ASSUMED, UNSAFE, UNREADABLE)):
            yield sentence


def theorems(text: str) -> list[str]:
    """Return the names of the theorems that a Coq file states, in its order."""
    found = (re.match(r"(?:Theorem|Lemma|Corollary)\s+([\w']+)", sentence) for sentence in sentences(text))
    return [match.group(1) for match in found if match]


def project_files(folder: Path) -> list[str]:
    """Return the Coq files that a project compiles, in its order."""
    lines = (folder / "_CoqProject").read_text(encoding="utf-8").split()
    return [line for line in lines if line.endswith(".v")]


def source_problems(folder: Path) -> list[str]:
    """Return what is wrong with the files of a project before anything is compiled."""
    listed = project_files(folder)
    lines = (folder / "_CoqProject").read_text(encoding="utf-8").splitlines()
    problems = [
        f"_CoqProject: {line}" for line in lines if line and line not in OPTIONS and not SOURCE.fullmatch(line)
    ]
    for path in sorted(folder.glob("*.v")):
        if path.name not in listed:
            problems.append(f"{path.name}: not compiled, _CoqProject does not list it")
        text = path.read_text(encoding="utf-8")
        problems += [f"{path.name}: {sentence}" for sentence in forbidden(text)]
    problems += [
        f"{name}: listed in _CoqProject and not there" for name in listed if not (folder / name).is_file()
    ]
    return problems
