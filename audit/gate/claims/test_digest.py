"""The digest of the code that a row is about."""

from __future__ import annotations

import ast
import re
import tokenize
from pathlib import Path

import pytest

from audit.claims.digest import _inside, _whole_f_string, digest, source_of, text_digest

CODE = """
def scale(sensitivity, epsilon):
    return sensitivity / epsilon if epsilon else f"{sensitivity!r} {epsilon:>{10}}"
"""


@pytest.mark.parametrize(
    "changed",
    [
        CODE.replace("    return", "    # a comment\n\n    return"),
        CODE.replace("    return", '    """A docstring."""\n    return'),
        CODE.replace("sensitivity / epsilon if", "sensitivity  /  epsilon  if"),
        CODE.replace("(sensitivity, epsilon)", "(\n    sensitivity,\n    epsilon\n)"),
        '"""A module."""\n' + CODE + "\n\n# the end\n",
    ],
    ids=["comment", "docstring", "spaces", "line breaks", "module docstring"],
)
def test_digest_does_not_see(changed):
    assert changed != CODE
    assert text_digest(changed) == text_digest(CODE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/", "*"),
        ("epsilon if", "epsilon + 0 if"),
        ("!r", "!s"),
        ("    return", "    pass\n    return"),
        ("10", "11"),
    ],
    ids=["operator", "term", "conversion in an f-string", "statement", "number in an f-string"],
)
def test_digest_sees_a_changed(old, new):
    assert text_digest(CODE.replace(old, new)) != text_digest(CODE)


def test_digest_is_the_same_under_every_python():
    """Of tokens written out by hand: versions differ in how they split an f-string, not in its text."""
    assert text_digest("x = f'{a}' + 'b'  # c\n") == (
        "63f12324dc476aa95fb09a01c598ec9a898e564d3d5497587761c4e03f02f6cb"
    )


def test_f_string_that_is_split_into_tokens_is_put_together_again(monkeypatch):
    """As Python 3.12 and later split it, written out by hand; strings within an f-string nest."""
    line = "f'a{b!r}{f\"{c}\"}'\n"
    pieces = [
        (0, "f'", "FSTRING_START"),
        (2, "a", "FSTRING_MIDDLE"),
        (3, "{", "OP"),
        (4, "b", "NAME"),
        (9, 'f"', "FSTRING_START"),
        (12, "c", "NAME"),
        (14, '"', "FSTRING_END"),
        (16, "'", "FSTRING_END"),
    ]
    kinds = {name: 900 + index for index, name in enumerate(dict.fromkeys(name for *_, name in pieces))}
    for name, number in kinds.items():
        monkeypatch.setitem(tokenize.tok_name, number, name)
    tokens = [
        tokenize.TokenInfo(kinds[name], text, (1, at), (1, at + len(text)), line) for at, text, name in pieces
    ]
    assert _whole_f_string(tokens[0], iter(tokens[1:]), [line]) == line.strip()


def test_digest_of_a_symbol_is_that_of_its_own_source_only():
    one, other = "reference.noise.laplace_scale", "reference.noise.add_noise"
    assert source_of(one).startswith("def laplace_scale")
    assert digest([one]) != digest([other])
    assert digest([one]) == digest([one])


@pytest.mark.parametrize(
    ("symbol", "start"),
    [
        ("reference.sensitivity.published_l1_sensitivity", "def published_l1_sensitivity"),
        ("reference.noise.Noise.uniform", "@classmethod"),
        ("reference.noise.Noise", "@dataclass"),
        ("reference.objective.TAYLOR_LINEAR", "TAYLOR_LINEAR"),
        ("reference.readings.Readings.tau", "tau"),
        ("reference.sensitivity.box", '"""Exact suprema on the unit box'),
    ],
)
def test_source_of_a_symbol_is_followed_to_its_home(symbol, start):
    assert source_of(symbol).startswith(start)


@pytest.mark.parametrize("symbol", ["reference.noise.no_such_name", "nothing.at.all"])
def test_source_of_a_name_that_does_not_exist_is_an_error(symbol):
    with pytest.raises(LookupError):
        source_of(symbol)


# --- Names that are bound twice ------------------------------------------------------------------------------

ONE = """
import math
def scale(sensitivity, epsilon):
    scale = sensitivity / epsilon
    return [scale for _ in range(1)][0]
class Noise:
    total: int = 0
    def scale(self):
        return 1
    def width(self):
        return 1
other = scale
"""

AGAIN = [
    "def scale(s, e): return 1",
    "async def scale(s, e): return 1",
    "class scale: pass",
    "if True:\n    def scale(s, e): return 1",
    "try:\n    pass\nexcept Exception:\n    scale = 1",
    "with open('a') as file:\n    scale = 1",
    "for _ in range(1):\n    scale = 1",
    "while True:\n    scale = 1",
    "scale = 1",
    "scale: int = 1",
    "scale += 1",
    "(scale := 1)",
    "a = [scale := 1 for _ in range(2)]",
    "a, (*scale, b) = 1, (2, 3)",
    "for scale in range(3): pass",
    "with open('a') as scale: pass",
    "try:\n    pass\nexcept Exception as scale: pass",
    "del scale",
    "match 1:\n    case scale: pass",
    "match [1]:\n    case [*scale]: pass",
    "match {}:\n    case {**scale}: pass",
    "import math as scale",
    "import scale.part",
    "from math import sqrt as scale",
    "from math import *",
    "scale.__code__ = 1",
    "def f(a=(scale := 1)): pass",
    "def f():\n    global scale\n    scale = 1\nf()",
    "globals()['scale'] = 1",
    "def f():\n    globals()['scale'] = 1\nf()",
    "setattr(other, 'scale', 1)",
    "exec('scale = 1')",
    "vars(other)['scale'] = 1",
    "sys.modules[__name__].scale = 1",
]


@pytest.mark.parametrize("again", AGAIN)
def test_name_that_its_module_binds_again_has_no_digest(again):
    with pytest.raises(LookupError, match="scale"):
        _inside(f"{ONE}{again}\n", ["scale"], "scale")


@pytest.mark.parametrize(
    "more",
    [
        "",
        "def f(scale):\n    scale = 1\n",
        "def f():\n    from math import sqrt as scale\n",
        "a = [scale for scale in range(3)]\n",
        "a = lambda scale: scale\n",
        "class Other:\n    scale = 1\n",
        "if scale(1, 2): pass\n",
        "def f():\n    setattr(sys, 'stdout', None)\n",
    ],
)
def test_name_that_is_bound_once_has_the_source_of_that_binding(more):
    assert _inside(ONE + more, ["scale"], "scale").startswith("def scale(sensitivity")
    assert _inside(ONE + more, ["Noise", "scale"], "Noise.scale").startswith("def scale(self")


@pytest.mark.parametrize("again", ["    def scale(self): return 2\n", "    scale = property(width)\n"])
def test_method_that_its_class_binds_again_has_no_digest(again):
    changed = ONE.replace("other", f"{again}other")
    with pytest.raises(LookupError, match="scale is bound 2 times"):
        _inside(changed, ["Noise", "scale"], "Noise.scale")
    assert _inside(changed, ["Noise", "width"], "Noise.width")
    # the digest of the whole class sees both
    assert again in _inside(changed, ["Noise"], "Noise")


@pytest.mark.parametrize("again", ["Noise.scale = 1", "Noise = 1", "del Noise.scale"])
def test_method_that_its_module_replaces_has_no_digest(again):
    with pytest.raises(LookupError, match="Noise is bound 2 times"):
        _inside(f"{ONE}{again}\n", ["Noise", "scale"], "Noise.scale")


ADDRESS = re.compile(r"(?:reference|audit)(?:\.\w+)*")


def replaced(source: str) -> list[str]:
    """Return the attributes of imported modules, functions and classes that a module changes."""
    body = ast.parse(source).body
    imports = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {
        alias.asname or alias.name.split(".")[0]
        for node in imports
        for alias in node.names
        if ADDRESS.fullmatch(alias.name if isinstance(node, ast.Import) else str(node.module))
    }
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            first: ast.expr = node
            while isinstance(first, (ast.Attribute, ast.Subscript)):
                first = first.value
            if isinstance(first, ast.Name) and first.id in names:
                found.append(ast.unparse(node))
    return found


def test_no_module_replaces_a_function_of_another():
    """The digest of a name is of its own module."""
    assert replaced("import reference.noise\nreference.noise.scales.laplace_scale = 1\n")
    assert replaced("from reference.noise import scales\ndef f():\n    del scales.laplace_scale\n")
    assert not replaced("from reference.noise import scales\nx = scales.laplace_scale\nself.scales = 1\n")
    root = Path(__file__).parents[3]
    files = [path for folder in ("reference", "audit") for path in sorted((root / folder).rglob("*.py"))]
    assert len(files) > 200
    assert {path.name: found for path in files if (found := replaced(path.read_text(encoding="utf-8")))} == {}
