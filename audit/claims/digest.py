"""A digest of the code that a row is about: of its tokens, so that comments, docstrings and layout do not count.

f-strings are one token, as they were before Python 3.12, so that the digest is the same under every version.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import io
import tokenize
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from audit.common.bindings import ANY, times_bound

LAYOUT = {tokenize.NL, tokenize.COMMENT, tokenize.ENCODING, tokenize.ENDMARKER}
STRUCTURE = {tokenize.INDENT: "<indent>", tokenize.DEDENT: "<dedent>", tokenize.NEWLINE: "<newline>"}


def digest(symbols: Sequence[str]) -> str:
    """Return the sha256 of the normalised tokens of some symbols.

    Parameters
    ----------
    symbols : sequence of str
        Dotted names of modules, classes, functions, methods, fields or constants.
    """
    total = hashlib.sha256()
    for symbol in symbols:
        total.update(f"{symbol}\0".encode())
        total.update(symbol_digest(symbol).encode())
    return total.hexdigest()


@lru_cache(maxsize=4096)
def symbol_digest(symbol: str) -> str:
    """Return the sha256 of one symbol's normalised tokens."""
    return text_digest(source_of(symbol))


def text_digest(source: str) -> str:
    """Return the sha256 of the normalised tokens of a piece of source."""
    return hashlib.sha256("\x1f".join(normalised(source)).encode()).hexdigest()


def normalised(source: str) -> Iterator[str]:
    """Yield the tokens of a piece of source without comments, docstrings and layout."""
    lines = source.splitlines(keepends=True)
    strings = _bare_strings(source)
    tokens = iter(tokenize.generate_tokens(io.StringIO(source).readline))
    skip_newline = False
    for token in tokens:
        kind, text, start = token.type, token.string, token.start
        if kind in LAYOUT:
            continue
        if start in strings:
            skip_newline = True
            continue
        if kind == tokenize.NEWLINE and skip_newline:
            skip_newline = False
            continue
        if tokenize.tok_name[kind].endswith("STRING_START"):
            text = _whole_f_string(token, tokens, lines)
        yield STRUCTURE.get(kind, text)


def _whole_f_string(first: tokenize.TokenInfo, tokens: Iterator[tokenize.TokenInfo], lines: list[str]) -> str:
    """Return the text of an f-string that this Python splits into several tokens."""
    depth, last = 1, first
    while depth:
        last = next(tokens)
        name = tokenize.tok_name[last.type]
        depth += name.endswith("STRING_START") - name.endswith("STRING_END")
    (top, left), (bottom, right) = first.start, last.end
    if top == bottom:
        return lines[top - 1][left:right]
    return "".join([lines[top - 1][left:], *lines[top : bottom - 1], lines[bottom - 1][:right]])


def _bare_strings(source: str) -> set[tuple[int, int]]:
    """Return the starts of statements that are only a string: docstrings of modules, functions and attributes."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            found.add((node.lineno, node.col_offset))
    return found


def source_of(symbol: str) -> str:
    """Return the source of a dotted name, dedented; imported names are followed to their home.

    Raises
    ------
    LookupError
        When there is no such name, or when its module or class binds it more than once.
    """
    parts = symbol.split(".")
    for split in range(len(parts), 0, -1):
        path = _file_of(".".join(parts[:split]))
        if path is not None:
            return _inside(path.read_text(encoding="utf-8"), parts[split:], symbol)
    raise LookupError(f"no module for {symbol}")


def _file_of(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
    return None if spec is None or spec.origin is None else Path(spec.origin)


def _inside(source: str, names: list[str], symbol: str) -> str:
    body: list[ast.stmt] = ast.parse(source).body
    node: ast.stmt | None = None
    for position, name in enumerate(names):
        _require_one(body, name, symbol)
        node = next((statement for statement in body if name in _defined(statement)), None)
        if isinstance(node, ast.ImportFrom):
            original = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
            return source_of(".".join([str(node.module), original, *names[position + 1 :]]))
        if node is None:
            raise LookupError(f"no name {name} for {symbol}")
        body = getattr(node, "body", [])
    if node is None:
        return source
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    lines = source.splitlines(keepends=True)[first - 1 : node.end_lineno]
    margin = len(lines[0]) - len(lines[0].lstrip())
    return "".join(line[margin:] if line[:margin].isspace() else line for line in lines)


def _require_one(body: Sequence[ast.stmt], name: str, symbol: str) -> None:
    """Raise LookupError for a name whose definition may not be what Python bound last."""
    times = times_bound(body)
    if times[name] > 1:
        raise LookupError(f"{symbol}: {name} is bound {times[name]} times, so no digest says what it is")
    if times[ANY]:
        raise LookupError(f"{symbol}: {name} may be bound again, by a star import or a computed name")


def _defined(statement: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, ast.ImportFrom):
        return {alias.asname or alias.name for alias in statement.names}
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
