"""The part of Coq's language that the proofs may use: everything else is refused before Coq reads it.

A list of forbidden words is never complete.  This is a list of what is allowed: a few characters, a way
of cutting a file into sentences that cannot differ from Coq's, and a few forms of sentences with their allowed
places.  There are no strings, so no notations; no attributes; no prefix such as ``Time`` in front of a
command; no modules; and inside a proof nothing but tactics, because every command of Coq but one begins with a
capital letter.  ``proofs/coq/GATE.md`` argues why that is enough.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache

from audit.common.packed import place_of
from audit.proofs.recursion import TOKEN, visibly_ends

CHARACTERS = re.compile(r"[^\n -~]|\"")
"""Refused: all but printable ASCII, tabs, and the mark that begins a string."""

COMMENT_MARK = re.compile(r"\(\*|\*\)")

DOT = re.compile(r"(?P<end>\.(?=\s|$))|(?<=[\w'])\.(?=[A-Za-z_])|(?P<other>\.)")
"""A dot before a space ends a sentence, a dot may be part of a qualified name; any other dot is refused."""

RUN_TOGETHER = re.compile(r"(?<![\w'])'*\d\w*[A-Za-z_']")
"""Refused: Coq reads a number and then a word in what looks like one, as in ``do 1fix f 1``."""

BULLETS = re.compile(r"^(?:(?:[-+*]+|\}|(?:(?:\d+|all|\[[^\]]*\])\s*:\s*)?\{)\s*)+")
"""Coq reads bullets and braces as separate sentences; a command may follow them."""

SELECTOR = re.compile(r"^(?:\d+(?:\s*,\s*\d+)*|all)\s*:\s*")

NAME = r"[A-Za-z_][\w']*"
COQ_LIBRARIES = r"Bool|Lia|List|Lra|Machin|NArith|PeanoNat|QArith|Qreals|Ratan|Reals|ZArith"
COQUELICOT = ("Coquelicot", "Hierarchy", "RInt")
SCOPES = ("R_scope", "Z_scope", "Q_scope", "N_scope")

EVERYWHERE = (
    r"Import ListNotations",
    rf"(?:Local )?Open Scope (?:{'|'.join(SCOPES)})",
    rf"Definition {NAME}\b.*:=.*",
    rf"Fixpoint {NAME}\b.*:=.*",
    rf"Inductive {NAME}\b.*:=.*",
    rf"Record {NAME}\b.*:=.*",
    rf"Ltac {NAME}(?: {NAME})* :=.*",
    r"Implicit Types \(.*\)",
    rf"(?:Check|Print Assumptions) {NAME}",
)
"""Sentences allowed inside and outside sections that do not open a proof."""

OUTSIDE = (
    rf"From Coq Require Import(?: (?:{COQ_LIBRARIES}))+",
    rf"From Coquelicot Require Import(?: (?:{'|'.join(COQUELICOT)}))+",
    rf"From CFM Require Import(?: {NAME})+",
)
"""Sentences allowed outside sections only."""

INSIDE = (
    rf"Variables?(?: {NAME})+ :.*",
    r"Variables \(.*\)",
    rf"Hypothesis {NAME} :.*",
    r"Context [({].*",
    rf"Let (?!(?:Co)?Fixpoint\b){NAME}\b.*:=.*",
)
"""Sentences that assume or abbreviate, inside sections only, where an assumption becomes a premise."""

OPENING = (rf"(?:Theorem|Lemma) {NAME}\b.*:.*", r"Goal .+")
"""Sentences that open a proof."""

TACTIC = re.compile(r"\(*[a-z]\w*(?!\w|\s*:(?!=)).*")
"""The first word of a tactic, which is no selector such as ``all:`` or ``par:``."""

WORDS = re.compile(
    r"\b(?:infoH|eval|Eval|multimatch|gfail|SProp)\b|_sind|\bvm_cast_no_check\b(?! \(eq_refl true\))"
    r"|<<:|::=|#\[|\bcontext [\w']"
)
"""Refused everywhere, besides tactics that the proofs do not use.

`infoH` is a command.  The next four belong to tactics, and Coq does not list them.  Of propositions that are all
equal its kernel has known errors; every constant of its libraries whose type mentions their sort has `_sind` in
its name.  One cast goes unchecked to the kernel: that of a computation that ends in ``true``.  `<<:` leaves a
proof to the compiler of OCaml, which the gate does not trust, ``::=`` changes a tactic of another file, ``#[``
begins an attribute, as a field may have, and by filling the hole of a ``context`` a tactic could write a
recursion.
"""

TACTICS = "audit/proofs/tactics.json"
"""All names of tactics that Coq lists with what files may import: those that the proofs use, and the others."""

IDENTIFIER = re.compile(r"[A-Za-z_][\w']*")

TACTICS_IN_TERMS = re.compile(r"\bltac2?\b")
"""Refused outside proofs: Coq 8.16 lets such a tactic change what the kernel believes of a section's variable (its
issue 16957)."""

LOCAL_VALUES = re.compile(r"\blet\b|:=.*:=")
"""Refused in the declaration of a type: the kernel of Coq 8.16 may mistake such a value (its issue 22378)."""

COERCION = ":>"
"""Refused where a name is declared: a coercion could stand unseen in a recursive call."""


@cache
def tactics() -> dict[str, frozenset[str]]:
    """Return the names of tactics that are allowed, and those that are refused wherever they stand."""
    stored = json.loads(place_of(TACTICS).read_text(encoding="utf-8"))
    return {kind: frozenset(names) for kind, names in stored.items()}


def _any(forms: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{form})" for form in forms))


_EVERYWHERE, _OUTSIDE, _INSIDE, _OPENING = (_any(forms) for forms in (EVERYWHERE, OUTSIDE, INSIDE, OPENING))
_SECTION = re.compile(rf"(Section|End) ({NAME})")


def unreadable(text: str) -> Iterator[str]:
    """Yield why a file cannot be cut into sentences for certain."""
    for mark in CHARACTERS.finditer(text):
        yield f"line {_line(text, mark)}: the character {mark.group()!r}"
    depth = 0
    for mark in COMMENT_MARK.finditer(text):
        opens = mark.group() == "(*"
        if opens and depth == 0 and text[: mark.start()][-1:].strip():
            yield f"line {_line(text, mark)}: no space in front of a comment"
        if not opens and depth == 0:
            yield f"line {_line(text, mark)}: a comment ends that has not begun"
        depth = max(0, depth + (1 if opens else -1))
    if depth:
        yield "a comment does not end"


def cut(text: str) -> tuple[list[str], list[str]]:
    """Return a file's sentences, without comments, spaces normalised, and the dots that are not understood.

    The last piece counts as a sentence with or without a dot at its end.
    """
    code = blanked(text)
    pieces, odd, start = [], [], 0
    for dot in DOT.finditer(code):
        if dot.group("other"):
            odd.append(" ".join(code[max(0, dot.start() - 30) : dot.end() + 10].split()))
        elif dot.group("end"):
            pieces.append(code[start : dot.start()])
            start = dot.end()
    pieces += [code[start:]] if code[start:].strip() else []
    return [" ".join(piece.split()) for piece in pieces], odd


def blanked(text: str) -> str:
    """Return a text with a space in place of each comment."""
    kept, depth, start = [], 0, 0
    for mark in COMMENT_MARK.finditer(text):
        opens = mark.group() == "(*"
        if depth == 0 and opens:
            kept.append(text[start : mark.start()])
        depth = max(0, depth + (1 if opens else -1))
        if depth == 0 and not opens:
            start = mark.end()
    return " ".join([*kept, text[start:] if depth == 0 else ""])


def refused(text: str) -> Iterator[str]:
    """Yield what in a file is outside the allowed part of the language."""
    unclear = list(unreadable(text))
    if unclear:
        yield from unclear
        return
    sentences, odd = cut(text)
    yield from (f"a dot that ends no sentence: {place}" for place in odd)
    reader = _Reader()
    for sentence in sentences:
        if not reader.accepts(sentence) or _has_refused_words(sentence):
            yield sentence
    if reader.proof or reader.sections:
        yield "a proof or a section does not end"


def _has_refused_words(sentence: str) -> bool:
    """Return whether a sentence has words that are refused wherever they stand."""
    if WORDS.search(sentence) or RUN_TOGETHER.search(sentence):
        return True
    return not tactics()["refused"].isdisjoint(IDENTIFIER.findall(sentence))


class _Reader:
    """The place of a sentence in a file: its sections, and its part of a proof."""

    def __init__(self) -> None:
        self.sections: list[str] = []
        self.proof = ""

    def accepts(self, sentence: str) -> bool:
        """Return whether a sentence is allowed here, and move past it."""
        if self.proof == "stated":
            self.proof = "open"
            return sentence == "Proof"
        if self.proof == "open":
            rest = SELECTOR.sub("", BULLETS.sub("", sentence))
            if rest == "Qed":
                self.proof = ""
                return True
            return TACTIC.fullmatch(rest) is not None
        boundary = _SECTION.fullmatch(sentence)
        if boundary:
            return self._boundary(boundary.group(1), boundary.group(2))
        if _OPENING.fullmatch(sentence) and not _unsound(sentence):
            self.proof = "stated"
            return True
        if _unsound(sentence):
            return False
        here = _INSIDE if self.sections else _OUTSIDE
        return bool(_EVERYWHERE.fullmatch(sentence) or here.fullmatch(sentence))

    def _boundary(self, kind: str, name: str) -> bool:
        if kind == "Section":
            self.sections.append(name)
            return True
        return bool(self.sections) and self.sections.pop() == name


def _unsound(sentence: str) -> bool:
    """Return whether a sentence outside proofs may meet one of the known errors of Coq 8.16."""
    word = sentence.partition(" ")[0]
    if word == "Fixpoint" and not visibly_ends(sentence):
        return True
    if word in {"Inductive", "Record"} and LOCAL_VALUES.search(sentence):
        return True
    if word not in {"Theorem", "Lemma", "Goal", "Ltac"} and COERCION in sentence:
        return True
    return word != "Ltac" and (TACTICS_IN_TERMS.search(sentence) is not None or declares_several(sentence))


def declares_several(sentence: str) -> bool:
    """Return whether a ``with`` belongs to no ``match``.

    It begins another declaration: functions that call each other, or proofs of which Coq makes such functions, and
    nothing shows that they end.
    """
    waiting = 0
    for token in TOKEN.findall(sentence):
        waiting += (token == "match") - (token == "with")
        if waiting < 0:
            return True
    return False


def _line(text: str, mark: re.Match[str]) -> int:
    return text.count("\n", 0, mark.start()) + 1
