"""How often a piece of code binds each name: a name that is bound twice is what Python bound last."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

ANY = "*"
"""Counts what may bind every name: a star import, or a computed name."""

COMPUTED = frozenset(("exec", "globals"))
WRITERS = COMPUTED | {"eval", "locals", "vars", "setattr", "delattr", "__dict__", "__setattr__", "__setitem__"}
"""Means to bind a name that the source does not spell out; the first two also from inside a function."""


def times_bound(body: Sequence[ast.stmt]) -> Counter[str]:
    """Count the bindings of each name in one scope, nested blocks included.

    An assignment to an attribute or an entry counts for the attribute and for the object that it changes.

    Parameters
    ----------
    body : sequence of ast.stmt
        Statements of a module, a class or a function.
    """
    return Counter(name for statement in body for node in _of_the_scope(statement) for name in _bound(node))


def _of_the_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one that Python evaluates in the same scope."""
    yield node
    for child in _children(node):
        yield from _of_the_scope(child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        # the body of a function or class is a scope of its own, and so are the variables of a comprehension
        scoped = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda))
        if (scoped and name == "body") or (isinstance(node, ast.comprehension) and name == "target"):
            continue
        yield from (part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST))


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that one node binds."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
            yield from _from_inside(node)
        case ast.Lambda():
            yield from _from_inside(node)
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name.split(".")[0] for alias in aliases)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case ast.Name() | ast.Attribute() | ast.Subscript():
            yield from _stored(node)


def _stored(node: ast.Name | ast.Attribute | ast.Subscript) -> Iterator[str]:
    """Yield a name that is stored or deleted, and the objects of which that changes a part."""
    part: ast.expr = node
    while isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)):
        own = getattr(part, "id", None) or getattr(part, "attr", None)
        if not isinstance(node.ctx, ast.Load):
            yield from [own] if own else []
        elif part is node and own in WRITERS:
            yield ANY
        if isinstance(part, ast.Name):
            return
        part = part.value


def _from_inside(node: ast.AST) -> Iterator[str]:
    """Yield the names outside of a function or class that its body binds."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Global | ast.Nonlocal):
            yield from inner.names
        elif isinstance(inner, ast.Name) and inner.id in COMPUTED:
            yield ANY
