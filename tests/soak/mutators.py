"""Small changes of Python source, as a slip of the pen makes them: one expression is written otherwise.

Not changed: docstrings and other texts, annotations, decorators, imports, what is raised, and ``strict=``.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}

_PAIRS = (
    "max min, any all, ceil floor, upper lower, maximum minimum, rounded_up rounded_down, "
    "decimal_above decimal_below, ones zeros"
)
_FORWARD = dict(pair.split() for pair in _PAIRS.split(", "))
NAMES = {**_FORWARD, **{other: one for one, other in _FORWARD.items()}, "sum": "max"}
"""What a function or an end is taken for."""

DROPPED = {"sqrt", "square_root", "abs", "fabs", "exp", "log", "sorted", "int", "float", "conjugate"}
"""Functions that are forgotten."""

SILENT = {"__str__", "__repr__", "__all__", "__slots__"}
OTHER_NAMES = 3


@dataclass(frozen=True)
class Site:
    """A place of the source, and what may stand there instead.

    Parameters
    ----------
    function : str
        The innermost function or class that holds it, with dots; empty for the module.
    statement : ast.stmt
        The smallest statement that holds it.
    node : ast.AST
        An expression or a statement.
    others : tuple of str
        Source.
    """

    function: str
    statement: ast.stmt
    node: ast.expr | ast.stmt
    others: tuple[str, ...]


def sites(source: str) -> list[Site]:
    """Return the places of a module where something may be changed, from the top."""
    found = _Sites()
    found.visit(ast.parse(source))
    return found.sites


def changed(source: str, node: ast.expr | ast.stmt, other: str) -> str:
    """Return source with one expression or statement replaced; the lines before it keep their numbers."""
    lines = source.encode().splitlines(keepends=True)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    text = b"".join(lines)
    return (text[:start] + other.encode() + text[end:]).decode()


Scope: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class _Sites(ast.NodeVisitor):
    """Collects the places of a module."""

    def __init__(self) -> None:
        self.sites: list[Site] = []
        self.scopes: list[Scope] = []
        self.statement: ast.stmt | None = None

    def visit(self, node: ast.AST) -> None:
        """Look at a node, unless it is one of those that are not changed."""
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.arg)) or _is_silent(node):
            return
        if isinstance(node, ast.stmt):
            self.statement = node
        others = tuple(dict.fromkeys(self._others(node)))
        if others:
            assert isinstance(node, (ast.expr, ast.stmt))
            self._found(node, others)
        if isinstance(node, (ast.If, ast.While)) and isinstance(node.test, (ast.Name, ast.Attribute, ast.Call)):
            self._found(node.test, (f"(not {ast.unparse(node.test)})",))
        if isinstance(node, Scope):
            self.scopes.append(node)
            for part in node.body if isinstance(node, ast.ClassDef) else [node.args, *node.body]:
                self.visit(part)
            self.scopes.pop()
        elif isinstance(node, ast.AnnAssign):
            self.visit(node.target)
            if node.value is not None and ast.unparse(node.annotation) != "TypeAlias":
                self.visit(node.value)
        elif not (isinstance(node, ast.keyword) and node.arg == "strict"):
            self.generic_visit(node)

    def _found(self, node: ast.expr | ast.stmt, others: tuple[str, ...]) -> None:
        assert self.statement is not None
        self.sites.append(Site(".".join(it.name for it in self.scopes), self.statement, node, others))

    def _others(self, node: ast.AST) -> Iterator[str]:
        """Yield what may stand in the place of a node."""
        if isinstance(node, ast.expr):
            yield from (f"({ast.unparse(other)})" for other in _other_expressions(node))
        elif isinstance(node, ast.AugAssign):
            for operator in OPERATORS.get(type(node.op), ()):
                yield ast.unparse(_with(node, "op", operator()))
        elif isinstance(node, ast.Return) and node.value is not None:
            held = ast.unparse(node.value)
            names = [name for name in self._known(node.lineno) if name != held]
            yield from (f"return {name}" for name in names[-OTHER_NAMES:])

    def _known(self, line: int) -> list[str]:
        """Return the parameters and variables that the innermost function has above a line, the newest last."""
        scope = self.scopes[-1]
        if isinstance(scope, ast.ClassDef):
            return []
        named = [
            it.arg for it in ast.walk(scope.args) if isinstance(it, ast.arg) and it.arg not in ("self", "cls")
        ]
        above = [it for it in ast.walk(scope) if isinstance(it, ast.Name) and it.lineno < line]
        named += [it.id for it in above if isinstance(it.ctx, ast.Store)]
        return list(dict.fromkeys(named))


def _other_expressions(node: ast.expr) -> Iterator[ast.AST]:
    """Yield the expressions that an expression may be taken for."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if not _is_text(left) and not _is_text(right):
            yield from (_with(node, "op", other()) for other in OPERATORS.get(type(op), ()))
        case ast.BoolOp(op=op):
            yield from (_with(node, "op", other()) for other in OPERATORS[type(op)])
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                others = (other() for other in OPERATORS[type(op)])
                yield from (_with(node, "ops", [*ops[:place], it, *ops[place + 1 :]]) for it in others)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.IfExp(body=body, orelse=orelse):
            yield _with(_with(node, "body", orelse), "orelse", body)
        case ast.Call():
            yield from _other_calls(node)
        case _:
            yield from _other_atoms(node)


def _other_atoms(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1) if value else ast.Constant(2))
        case ast.Constant(value=float() as value):
            yield from (ast.Constant(value * 2), ast.Constant(value / 2)) if value else (ast.Constant(1.0),)
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in NAMES:
            yield _with(node, "attr", NAMES[name])
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield _with(node, "id", NAMES[name])


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    """Yield a call that is forgotten, and calls with two neighbouring arguments exchanged."""
    given = node.args
    if len(given) == 1 and ast.unparse(node.func).rsplit(".", maxsplit=1)[-1] in DROPPED:
        yield given[0]
    for place in range(len(given) - 1):
        first, second = given[place : place + 2]
        if ast.dump(first) != ast.dump(second) and not isinstance(second, ast.Starred):
            yield _with(node, "args", [*given[:place], second, first, *given[place + 2 :]])


def _with(node: ast.AST, field: str, value: object) -> ast.AST:
    other = copy.copy(node)
    setattr(other, field, value)
    return other


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_silent(node: ast.AST) -> bool:
    """Return whether nothing of a node bears on what is computed."""
    match node:
        case ast.FunctionDef(name=name) | ast.Name(id=name):
            return name in SILENT
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in SILENT
        case ast.Call(func=func):
            return ast.unparse(func) in {"warnings.warn", "cast", "TypeVar"}
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
    return False
