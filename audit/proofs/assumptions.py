"""The assumptions of proofs, and those that they are allowed.

``Print Assumptions`` reads every proof that a proof rests on.  So theorems with the same allowance are asked about
together: none of them assumes more than all of them together.

Coq prints the shortest name of an axiom, so an axiom of another file may have the name of an allowed one.  Hence
Coq is also asked which axiom each allowed name stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

REALS = (
    "Coq.Reals.ClassicalDedekindReals.sig_forall_dec",
    "Coq.Reals.ClassicalDedekindReals.sig_not_dec",
)
FUNCTIONS = "Coq.Logic.FunctionalExtensionality.functional_extensionality_dep"
CLASSIC = "Coq.Logic.Classical_Prop.classic"

LEVELS: dict[str, tuple[str, ...]] = {
    "none": (),
    "reals": (*REALS, FUNCTIONS),
    "classical": (*REALS, FUNCTIONS, CLASSIC),
}
"""Axioms by level: none; those of Coq's real numbers; the same with excluded middle."""

LOGIC = "Coq.Init.Logic"

AXIOM = re.compile(r"([\w'.]+)\s*(?::|$)")
CONSTANT = re.compile(r"Constant ([\w'.]+)")
NO_AXIOM = ("Axioms:", "Closed under the global context")


def grouped(theorems: Iterable[str], allowed: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the theorems in groups that may assume the same; one without an entry forms its own group."""
    found: dict[tuple[str, ...], list[str]] = {}
    alone = []
    for name in theorems:
        if name in allowed:
            found.setdefault(allowed[name], []).append(name)
        else:
            alone.append((name,))
    return [*(tuple(names) for names in found.values()), *alone]


def assumption_questions(groups: Sequence[Sequence[str]], module: str, prefix: str = "a") -> list[str]:
    """Return the sentences that ask what the theorems of a module assume, one answer for each group."""
    questions = [f'Redirect "l.{_short(axiom)}" Locate Term {_short(axiom)}.' for axiom in LEVELS["classical"]]
    for number, names in enumerate(groups):
        bound = " ".join(f"let _ := @{module}.{name} in" for name in names)
        questions.append(f"Definition together_{prefix}_{number} : {LOGIC}.True := {bound} {LOGIC}.I.")
        questions.append(f'Redirect "{prefix}.{number}" Print Assumptions together_{prefix}_{number}.')
    return questions


def assumption_answers(folder: Path, groups: Sequence[Sequence[str]], prefix: str = "a") -> list[tuple[str, ...]]:
    """Return what each group assumes, after asking :func:`assumption_questions` in a folder."""
    located = {}
    for axiom in LEVELS["classical"]:
        first = CONSTANT.match(_read(folder, f"l.{_short(axiom)}"))
        if first is not None:
            located[_short(axiom)] = first.group(1)
    return [assumed(_read(folder, f"{prefix}.{number}"), located) for number in range(len(groups))]


def assumed(printed: str, located: Mapping[str, str]) -> tuple[str, ...]:
    """Return the assumptions in an answer to ``Print Assumptions``, sorted.

    An axiom is given by its name, in full if `located` has it.  Anything else that Coq reports, such as a
    function that is "assumed to be guarded", is given in Coq's words: no level allows it.
    """
    found = []
    for line in printed.splitlines():
        if line and not line.startswith(" ") and line not in NO_AXIOM:
            axiom = AXIOM.match(line)
            found.append(located.get(axiom.group(1), axiom.group(1)) if axiom else line)
    return tuple(sorted(found))


def _short(axiom: str) -> str:
    """Return an axiom's name as ``Print Assumptions`` gives it."""
    return ".".join(axiom.split(".")[-2:])


def _read(folder: Path, answer: str) -> str:
    return (folder / f"{answer}.out").read_text(encoding="utf-8")
