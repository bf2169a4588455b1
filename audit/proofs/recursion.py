"""Recursive functions that visibly end: Coq 8.16 accepts some that do not.

Its check that a recursion ends has errors (Coq's issues 20413, 20455, 20555 and 21839), which ``coqchk`` shares:
with the second, False is proved under no axioms.  So the gate asks for more: one ``match`` on parameters, and
every call on a variable that this match binds inside a constructor, always at the same parameter.  The function
is no argument of another one, which might call it on anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

TOKEN = re.compile(r"[A-Za-z_][\w']*(?:\.[A-Za-z_][\w']*)*|\d+|=>|:=|::|\S")
WORD = re.compile(r"[A-Za-z_]")

OPENING, CLOSING = "([{", ")]}"

REFUSED = {"@", "as", "return", "fix", "cofix", "where", "ltac", "#", "{", "exists2"}
"""In a recursive function: what could give a call or a part another name, or a name to something else."""

NO_ARGUMENT = {"in", "then", "else", "end", "with", "if", "let", "fun", "forall", "exists"}

AFTER = {*NO_ARGUMENT, *"+-*/\\%=<>&|,;:", "::"}
"""What ends a call.  Anything else may be a notation that takes the last argument, as ``f p~0`` is of ``p~0``."""

BINDERS = {"fun": "=>", "forall": ",", "exists": ",", "let": ":="}
"""What binds variables, and what ends the part with their names."""


def visibly_ends(sentence: str) -> bool:
    """Return whether every call in a ``Fixpoint`` is on a part of the same parameter."""
    head, _, tail = sentence.partition(":=")
    _, name, *binders = TOKEN.findall(head)
    body = TOKEN.findall(tail)
    parameters = _parameters(binders)
    if parameters is None or body[:1] != ["match"] or REFUSED & set(body):
        return False
    if any(body.count(word) != 1 for word in ("match", "with", "end")) or body.count(":=") != body.count("let"):
        return False
    start = body.index("with")
    matched = ["".join(part) for part in _split(body[1:start], ",")]
    if not set(matched) <= set(parameters):
        return False
    possible = set(matched)
    for branch in _split(body[start + 1 : body.index("end")], "|"):
        if not branch:
            continue
        if "=>" not in branch:
            return False
        arrow = branch.index("=>")
        patterns = list(_split(branch[:arrow], ","))
        inside, rest = [_bound(pattern) for pattern in patterns], branch[arrow + 1 :]
        if len(patterns) != len(matched) or {name, *(part for parts in inside for part in parts)} & _rebound(rest):
            return False
        for call in _calls(name, rest):
            arguments = dict(zip(parameters, call, strict=False))
            possible &= {on for on, parts in zip(matched, inside, strict=True) if arguments.get(on) in parts}
    return bool(possible) and name not in body[body.index("end") :]


def _parameters(binders: Sequence[str]) -> list[str] | None:
    """Return the explicit parameters in order, or None where they are not written ``(x y : T)``."""
    found: list[str] = []
    for group in _groups(binders):
        if group == ":":
            return found
        if group[0] == "(" and ":" in group:
            found += group[1 : group.index(":")]
        elif group[0] != "{":
            return None
    return None


def _groups(tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield tokens outside brackets, and lists of those inside with their brackets.

    Nothing comes after a bracket that does not close, or that has not been opened.
    """
    start = depth = 0
    for place, token in enumerate(tokens):
        start = place if depth == 0 else start
        depth += (token in OPENING) - (token in CLOSING)
        if depth < 0:
            return
        if depth == 0:
            yield token if start == place else list(tokens[start : place + 1])


def _split(tokens: Sequence[str], mark: str) -> Iterator[list[str]]:
    """Yield the parts between marks outside brackets."""
    part: list[str] = []
    for group in _groups(tokens):
        if group == mark:
            yield part
            part = []
        else:
            part += [group] if isinstance(group, str) else group
    yield part


def _bound(pattern: Sequence[str]) -> set[str]:
    """Return the variables that a pattern binds inside a constructor; none where it begins with a bracket."""
    if pattern[:1] == ["("]:
        return set()
    inside = pattern if "::" in pattern[:2] else pattern[1:]
    return {token for token in inside if WORD.match(token) and token != "_"}


def _rebound(tokens: Sequence[str]) -> set[str]:
    """Return all words between a binder and the end of its names."""
    found: set[str] = set()
    for place, token in enumerate(tokens):
        if token in BINDERS:
            rest = tokens[place + 1 :]
            found |= set(rest[: rest.index(BINDERS[token])] if BINDERS[token] in rest else rest)
    return found


def _calls(name: str, tokens: Sequence[str]) -> Iterator[list[str]]:
    """Yield the arguments of each occurrence of a name; none where it is itself an argument."""
    for place, token in enumerate(tokens):
        if token == name:
            yield [] if place and _is_applied(tokens[place - 1]) else _arguments(tokens[place + 1 :])


def _is_applied(token: str) -> bool:
    """Return whether what stands behind this token may be its argument."""
    return token in CLOSING or (re.match(r"\w", token) is not None and token not in NO_ARGUMENT)


def _arguments(tokens: Sequence[str]) -> list[str]:
    """Return the arguments in front of what ends a call; one in brackets as an empty text."""
    arguments: list[str] = []
    for group in _groups(tokens):
        if not isinstance(group, str):
            arguments.append("")
        elif re.match(r"\w", group) and group not in NO_ARGUMENT:
            arguments.append(group)
        else:
            return arguments if group in AFTER else []
    return arguments
