"""Recursive functions that visibly end: Coq 8.16 accepts some that do not.

Its check that a recursion ends has errors (Coq's issues 20413, 20455, 20555 and 21839), which ``coqchk`` shares:
with the second, False is proved under no axioms.  So the gate asks for more: one ``match`` on parameters, and
every call on a variable that this match binds inside a constructor, always at the same parameter.  The function
is no argument of another one, which might call it on anything, and nothing else binds the name of such a variable.

This reads names, not scopes.  So what it could misread is refused, and :mod:`audit.proofs.check` compares what Coq
has made of each function with a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

TOKEN = re.compile(
    r"[A-Za-z_][\w']*(?:\.[A-Za-z_][\w']*)*|\d+|[()\[\]{},;.'@]|[^\w\s()\[\]{},;.'@]+",
)
"""Words, numbers, brackets and single marks; other marks without a space between them are one."""

WORD = re.compile(r"[A-Za-z_]")

OPENING, CLOSING = "([{", ")]}"

REFUSED = {"as", "return", "fix", "cofix", "where", "ltac", "exists2", "is"}
"""In a recursive function: what could give a call or a part another name, or a name to something else."""

MARKS = set("()[],;|:+-*/%^=<>") | {
    "=>",
    "->",
    ":=",
    "::",
    "++",
    "<=",
    ">=",
    "<>",
    "<?",
    "=?",
    "<=?",
    "/\\",
    "\\/",
}
"""The only marks in a recursive function."""

NO_ARGUMENT = {"in", "then", "else", "end", "with", "if", "let", "fun", "forall", "exists"}

AFTER = {*NO_ARGUMENT, *MARKS} - {"(", "[", "^"}
"""What ends a call.  Anything else may be a notation that takes the last argument, as ``f p~0`` is of ``p~0``."""

BINDERS = {"fun": "=>", "forall": ",", "exists": ",", "let": ":="}
"""What binds variables, and what follows their names."""


def visibly_ends(sentence: str) -> bool:
    """Return whether every call in a ``Fixpoint`` is on a part of the same parameter."""
    head, _, tail = sentence.partition(":=")
    _, name, *binders = TOKEN.findall(head)
    body = TOKEN.findall(tail)
    parameters = _parameters(binders)
    if parameters is None or not _is_plain(body):
        return False
    start, stop = body.index("with"), body.index("end")
    matched = [part[0] for part in _split(body[1:start], ",") if len(part) == 1]
    if len(matched) != body[:start].count(",") + 1 or not set(matched) <= set(parameters):
        return False
    possible = set(matched)
    for branch in _split(body[start + 1 : stop], "|"):
        if not branch:
            continue
        inside = _parts(branch, name, len(matched))
        if inside is None:
            return False
        for call in _calls(name, branch[branch.index("=>") + 1 :]):
            arguments = dict(zip(parameters, call, strict=False))
            possible &= {on for on, parts in zip(matched, inside, strict=True) if arguments.get(on) in parts}
    return bool(possible) and name not in body[stop:]


def _is_plain(body: Sequence[str]) -> bool:
    """Return whether the body is one ``match``, of words and marks that mean nothing else."""
    if body[:1] != ["match"] or REFUSED & set(body):
        return False
    if any(not re.match(r"\w", token) and token not in MARKS for token in body):
        return False
    once = all(body.count(word) == 1 for word in ("match", "with", "end"))
    return once and body.index("with") < body.index("end") and body.count(":=") == body.count("let")


def _parts(branch: Sequence[str], name: str, number: int) -> list[set[str]] | None:
    """Return the variables that each pattern of a branch binds inside a constructor.

    None where the branch has no such patterns, or might bind one of these names, or the function's, again.
    """
    if "=>" not in branch:
        return None
    arrow = branch.index("=>")
    patterns = list(_split(branch[:arrow], ","))
    inside = [_bound(pattern) for pattern in patterns]
    again = _rebound(branch[arrow + 1 :])
    if len(patterns) != number or name in branch[:arrow] or again is None:
        return None
    return None if {name}.union(*inside) & again else inside


def _parameters(binders: Sequence[str]) -> list[str] | None:
    """Return the explicit parameters in order, or None where they are not written ``(x y : T)``."""
    found: list[str] = []
    for group in _groups(binders):
        if group == ":":
            return found if all(map(WORD.match, found)) else None
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


def _rebound(tokens: Sequence[str]) -> set[str] | None:
    """Return the names that a branch binds, or None where something else than names follows a binder."""
    found: set[str] = set()
    for place, token in enumerate(tokens):
        if token in BINDERS:
            names = []
            for follower in tokens[place + 1 :]:
                if not WORD.match(follower):
                    break
                names.append(follower)
            if tokens[place + 1 + len(names) :][:1] != [BINDERS[token]]:
                return None
            found |= set(names)
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
