"""Read the Coq files: their names, sentences, theorems, and problems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from audit.common.packed import Place, members, place_of
from audit.proofs.files import FILES
from audit.proofs.grammar import cut, refused
from audit.proofs.names import owned_by_libraries

PROJECT = place_of("proofs/coq")
"""The development."""

STATEMENTS = "Statements.v"

LIST = "_CoqProject"

OPTIONS = ("-Q . CFM", "-arg -w -arg -ambiguous-paths")
"""The options in ``_CoqProject`` besides the files; others could weaken the kernel."""

OTHERS = (LIST, "Makefile", "README.md", "GATE.md", ".gitignore")
"""Other files of the folder."""

MADE = re.compile(r"\.(?:vo|vos|vok|glob|aux)$|^\.depend$")
"""Endings of files that a build leaves behind; they are not copied."""


def sentences(text: str) -> list[str]:
    """Return the sentences of a Coq file without comments, spaces normalised."""
    return [sentence for sentence in cut(text)[0] if sentence]


STATED = re.compile(r"(?:Theorem|Lemma|Corollary) ([\w']+)|Definition ([\w']+) := @?[\w'.]+$")
"""A theorem, or a second name for one that another file has proved."""


def theorems(text: str) -> list[str]:
    """Return the names of the theorems that a Coq file states or names, in order."""
    found = (STATED.match(sentence) for sentence in sentences(text))
    return [match.group(1) or match.group(2) for match in found if match]


NAMED = re.compile(r"[A-Z]\w* ([\w']+)")
"""The name that a sentence declares, as the reader sees it: each declares one."""


def named(text: str) -> set[str]:
    """Return the names that the sentences of a Coq file declare, with those that Coq gives to its goals."""
    found = sentences(text)
    goals = sum(sentence.startswith("Goal ") for sentence in found)
    unnamed = {f"Unnamed_thm{number}" for number in ["", *range(goals - 1)][:goals]}
    return unnamed | {match.group(1) for match in map(NAMED.match, found) if match}


def project_files(folder: Place) -> list[str]:
    """Return the Coq files that a project compiles, in its order."""
    lines = (folder / LIST).read_text(encoding="utf-8").split()
    return [line for line in lines if line.endswith(".v")]


def source_problems(folder: Place, pinned: Sequence[str] = FILES) -> list[str]:
    """Return what is wrong with the files of a project, before compiling anything.

    Parameters
    ----------
    folder : Place
    pinned : sequence of str
        The files that the project may have, in the order of compilation.
    """
    if not _is_plain(folder / LIST):
        return [f"{LIST}: not a file"]
    problems = [*_list_problems(folder, pinned), *_folder_problems(folder, pinned)]
    for name in pinned:
        if (folder / name).is_file():
            # text that is not UTF-8 is refused with the characters that are not ASCII
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
            problems += [f"{name}: {sentence}" for sentence in refused(text)]
    return problems


def library_names(names: Sequence[str] = FILES) -> list[str]:
    """Return problems with file names: one of a library's names could hide the library's own words."""
    stems = [Path(name).stem for name in names]
    return [f"{stem}.v: a file of Coq's libraries has this name" for stem in owned_by_libraries(stems)]


def _list_problems(folder: Place, pinned: Sequence[str]) -> Iterator[str]:
    lines = (folder / LIST).read_text(encoding="utf-8", errors="replace").splitlines()
    allowed = {*OPTIONS, *pinned, ""}
    yield from (f"{LIST}: {line}" for line in lines if line not in allowed)
    listed = [line for line in lines if line in pinned]
    yield from (f"{name}: {LIST} does not list it" for name in pinned if name not in listed)
    if set(listed) == set(pinned) and listed != list(pinned):
        yield f"{LIST}: the files are listed in another order, or twice"


def _folder_problems(folder: Place, pinned: Sequence[str]) -> Iterator[str]:
    for path in members(folder):
        if path.name in pinned:
            if not _is_plain(path):
                yield f"{path.name}: not a file"
        elif path.name not in OTHERS and not MADE.search(path.name):
            yield f"{path.name}: no file of this project"
    yield from (f"{name}: not there" for name in pinned if not (folder / name).exists())


def _is_plain(path: Place) -> bool:
    """Return whether a file is not a link, as no file in an archive is."""
    return path.is_file() and not (isinstance(path, Path) and path.is_symlink())
