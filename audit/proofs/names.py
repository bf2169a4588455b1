"""Find the kernel's constant behind a printed word, and the constants that a compiled file has.

Coq prints the shortest name of a constant, so that a constant ``CFM.Rdefinitions.Rle`` may be
printed like the one in Coq's library.  So every name that Coq prints is located, and replaced by its full name
before anything is compared.  A bound variable may be called like a constant; hence Coq is asked where no module is
imported, not even its own prelude: the name of every constant is then printed with its module, that of a variable
never.  And every compiled file is asked for all its constants: one that no sentence declares, as a tactic may make
one, is a problem, whether or not a statement mentions it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

WORD = re.compile(r"[^\W\d][\w']*(?:\.[^\W\d][\w']*)*")
"""A name as Coq prints it, qualified as far as needed; letters of every script."""

LOCATED = re.compile(r"^(?:Constant|Inductive|Constructor) ([\w'.]+)(?: \(alias of .*\))?$", re.MULTILINE)
"""What a name means.  Other constants with this name, for which Coq prints a longer one, have a remark behind."""

DECLARED = ("def", "rec", "ind", "constr", "proj", "inst", "prf", "thm", "ax", "coind", "scheme", "class", "meth")
"""Kinds of lines in a ``.glob`` file that declare a constant."""

PARTS = ("constr", "proj", "meth")
"""Kinds of lines for what belongs to a type."""

INDUCTIVE = ("ind", "rec", "coind", "class")
SCHEMES = ("_ind", "_rec", "_rect", "_sind")
"""Endings of what Coq itself defines for an inductive type."""

HEADER = re.compile(
    r"\b(?:Definition|Parameter|Axiom|Theorem|Inductive|CoInductive|Variant|Record|Structure|Class|Module|Primitive)"
    r"\s+(?:Type\s+)?(?=([^\W\d][\w']*))"
)
"""A declared name in the output of ``Print Module``; a wrong match, inside a type, can only add a problem."""


def location_questions(words: Iterable[str]) -> list[str]:
    """Return the sentences that ask what words mean."""
    return [f'Redirect "w.{word}" Locate Term {word}.' for word in _qualified(words)]


def locations(folder: Path, words: Iterable[str]) -> dict[str, str]:
    """Return the full name of each qualified word that has one, after asking :func:`location_questions`."""
    answers = {word: (folder / f"w.{word}.out").read_text(encoding="utf-8") for word in _qualified(words)}
    found = {word: LOCATED.findall(answer) for word, answer in answers.items()}
    return {word: names[0] for word, names in found.items() if len(names) == 1}


def without_meaning(words: Iterable[str], located: Mapping[str, str]) -> Iterator[str]:
    """Yield the qualified words that have no full name, or several."""
    yield from (
        f"{word}: Coq does not say which constant this is" for word in _qualified(words) if word not in located
    )


def _qualified(words: Iterable[str]) -> list[str]:
    return sorted(word for word in set(words) if "." in word)


def in_full(text: str, located: Mapping[str, str]) -> str:
    """Return a printed text with every qualified word replaced by its full name; the others are variables."""
    return WORD.sub(lambda word: located.get(word.group(), word.group()), text)


def declared(folder: Path, file: str, named: Container[str]) -> set[str]:
    """Return the names that Coq says a compiled file declares, and those that it derives from them.

    Besides constructors and fields only those count that the reader of sources has seen: another one may be the
    second that a sentence declares.
    """
    names = set()
    for line in (folder / file).with_suffix(".glob").read_text(encoding="utf-8").splitlines():
        kind, *rest = line.split()
        if kind in PARTS or (kind in DECLARED and rest[-1] in named):
            names.add(rest[-1])
            names |= {f"{rest[-1]}{scheme}" for scheme in SCHEMES if kind in INDUCTIVE}
    return names


def constants(printed: str) -> list[str]:
    """Return the constants and inductive types that ``Print Module`` lists."""
    return [name.group(1) for name in HEADER.finditer(printed.partition(":=")[2])]


def hidden(folder: Path, file: str, printed: str, named: Container[str]) -> Iterator[str]:
    """Yield the constants of a compiled file that none of its sentences declares."""
    known = declared(folder, file, named)
    module = Path(file).stem
    for name in constants(printed):
        if name not in known:
            yield f"{module}.{name}: a constant that no sentence declares"


def owned_by_libraries(names: Iterable[str]) -> list[str]:
    """Return the file names that a library of Coq has, too."""
    return sorted(name for name in names if name in _libraries())


@cache
def _libraries() -> frozenset[str]:
    done = subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True)
    return frozenset(path.stem for path in Path(done.stdout.strip()).rglob("*.vo"))
