"""Translate formulas of the Python code into Coq, from the source of small pure functions.

It translates arithmetic: + - * / ** with whole exponents, max and min, Fraction, square roots,
logarithms, exponentials and pi, over named constants and the variables that the function assigns
once.  Functions that only round, such as ``rounded_up``, stand for their argument: the theorems are about real
numbers.  Everything else is refused.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from audit.common.bindings import ANY, times_bound

OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}

ROUNDING = frozenset(
    (
        "rounded_up",
        "ball",
        "decimal_below",
        "float",
        "Supremum.exactly",
        "np.asarray",
    )
)
"""Functions that return their first argument, up to rounding or form."""

FUNCTIONS = {
    **dict.fromkeys(("square_root", "math.sqrt"), "sqrt"),
    "math.log": "ln",
    "math.exp": "exp",
}
METHODS = {"sqrt": "sqrt", "log": "ln", "exp": "exp"}
"""Methods of a ball."""

ENDS = frozenset(("lower", "upper"))
"""Ends of an enclosure: both stand for the enclosed number, up to rounding."""

HARMLESS = frozenset(("property", "classmethod", "staticmethod"))
"""Decorators that leave the value of a function as it is."""

CHOICES = {"max": "Rmax", "min": "Rmin"}
CONSTANTS = {"pi": "PI"}


class TranslationError(ValueError):
    """An expression cannot be translated."""


@dataclass(frozen=True)
class Formula:
    """The place of a formula in the Python code.

    Parameters
    ----------
    module : str
    function : str
        Its name; a method as ``Class.method``.
    part : tuple of str or int
        The path to the expression: ``"return"`` or the name of a variable first, then places of arguments.
    names : mapping of str to str
        Python expressions as written, and their names in Coq.
    facts : mapping of str to bool
        Conditions as written, and whether they hold.
    """

    module: str
    function: str
    part: tuple[str | int, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, bool] = field(default_factory=dict)


Source = Callable[[str], str]


def source_of_module(module: str) -> str:
    """Return the source of a module that can be imported."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise TranslationError(f"{module}: no such module")
    return Path(spec.origin).read_text(encoding="utf-8")


def translated(formula: Formula, source: Source = source_of_module) -> str:
    """Return a formula in Coq's notation.

    Raises
    ------
    TranslationError
        When the function is missing, or has another form.
    """
    return _Translator(formula, source(formula.module)).text()


def as_written(formula: Formula, source: Source = source_of_module) -> str:
    """Return a part of a function as Python writes it, without layout and comments."""
    reader = _Translator(formula, source(formula.module))
    return ast.unparse(reader.part())


class _Translator:
    def __init__(self, formula: Formula, source: str) -> None:
        self.formula = formula
        function = _function(source, formula)
        self.body = function.body
        self.assigned = _assignments(self.body)
        self.outside, self.inside = _times_bound(source), times_bound(self.body)
        for parameter in {inner.arg for inner in ast.walk(function.args) if isinstance(inner, ast.arg)}:
            if parameter in formula.names and self.inside[parameter]:
                raise TranslationError(f"{formula.function}: its parameter {parameter} is changed")

    def text(self) -> str:
        return self.expression(self.part())

    def part(self) -> ast.expr:
        """Return the expression of the formula."""
        first, *places = self.formula.part
        node = self.returned() if first == "return" else self.assigned_once(str(first))
        for place in places:
            node = _argument(node, place)
        return node

    def returned(self) -> ast.expr:
        found = [node.value for node in self.body if isinstance(node, ast.Return)]
        if len(found) != 1 or found[0] is None:
            raise TranslationError(f"{self.formula.function}: not one value that is returned at its end")
        return found[0]

    def inner(self, name: str) -> ast.expr:
        """Return what a function inside this one returns."""
        found = [node for node in self.body if isinstance(node, ast.FunctionDef) and node.name == name]
        values = [node.value for function in found for node in ast.walk(function) if isinstance(node, ast.Return)]
        if len(values) != 1 or values[0] is None:
            raise TranslationError(f"{self.formula.function}: {name} does not return one value")
        return values[0]

    def variable(self, name: str) -> ast.expr:
        """Return the value of a variable that does not change later."""
        if any(other.startswith(f"{name} ") for other in self.assigned):
            raise TranslationError(f"{self.formula.function}: {name} is changed after its assignment")
        return self.assigned_once(name)

    def assigned_once(self, name: str) -> ast.expr:
        values = self.assigned.get(name, [])
        if len(values) != 1:
            raise TranslationError(f"{self.formula.function}: {name} is assigned {len(values)} times, not once")
        return values[0]

    def expression(self, node: ast.expr) -> str:
        written = ast.unparse(node)
        if written in self.formula.names:
            return self.formula.names[written]
        match node:
            case ast.Constant(value=int() | float() as value) if value == int(value):
                return str(int(value))
            case ast.Name(id=name) if name in self.assigned:
                return self.expression(self.variable(name))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return f"(- {self.expression(operand)})"
            case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=int() as power)) if power >= 0:
                return f"({self.expression(base)} ^ {power})"
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
                return f"({self.expression(left)} {OPERATORS[type(operator)]} {self.expression(right)})"
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.expression(body if self.holds(test) else other)
            case ast.Attribute(value=enclosure, attr=end) if end in ENDS:
                return self.expression(enclosure)
            case ast.Call():
                return self.called(node)
        raise TranslationError(f"{self.formula.function}: {written}")

    def called(self, node: ast.Call) -> str:
        match node:
            case ast.Call(func=ast.Name(id="enclosed"), args=[ast.Name(id=name)]):
                self.require_known("enclosed")
                return self.expression(self.inner(name))
            case ast.Call(func=ast.Attribute(value=of, attr=method), args=[]) if method in METHODS:
                return f"({METHODS[method]} {self.expression(of)})"
        return self.call(ast.unparse(node.func), node.args)

    def holds(self, test: ast.expr) -> bool:
        written = ast.unparse(test)
        if written not in self.formula.facts:
            raise TranslationError(f"{self.formula.function}: nothing is said of the condition {written}")
        return self.formula.facts[written]

    def require_known(self, function: str) -> None:
        """Refuse a function that the code redefines, or a built-in one that it defines."""
        name = function.partition(".")[0]
        most = 0 if hasattr(builtins, name) else 1
        if self.outside[name] + self.inside[name] > most:
            raise TranslationError(f"{self.formula.function}: {name} is not the function that the theorem means")

    def call(self, function: str, arguments: list[ast.expr]) -> str:
        self.require_known(function)
        if function in CONSTANTS and not arguments:
            return CONSTANTS[function]
        if function in ROUNDING and arguments:
            return self.expression(arguments[0])
        if function == "sum" and len(arguments) == 2:
            return self.sum_of_two(arguments[0])
        values = [self.expression(argument) for argument in arguments]
        if function in FUNCTIONS and len(values) == 1:
            return f"({FUNCTIONS[function]} {values[0]})"
        if function in CHOICES and len(values) == 2:
            return f"({CHOICES[function]} {values[0]} {values[1]})"
        if function == "Fraction" and values:
            return values[0] if len(values) == 1 else f"({values[0]} / {values[1]})"
        if function == "extended_gaussian_sigma" and len(values) == 3:
            return f"(extended_gaussian_sigma (sqrt {values[0]}) {values[1]} {values[2]})"
        if function == "laplace_scale" and len(values) == 2:
            return f"({values[0]} / {values[1]})"
        raise TranslationError(f"{self.formula.function}: the call of {function}")

    def sum_of_two(self, terms: ast.expr) -> str:
        """Return the sum over two items, named 1 and 2."""
        match terms:
            case ast.GeneratorExp(elt=term, generators=[ast.comprehension(ifs=[])]):
                written = ast.unparse(term)
                return f"({self.formula.names[written + ' 1']} + {self.formula.names[written + ' 2']})"
        raise TranslationError(f"{self.formula.function}: the sum of {ast.unparse(terms)}")


@lru_cache(maxsize=64)
def _parsed(source: str) -> list[ast.stmt]:
    """Return the statements of a module; cached, so they must not be changed."""
    return ast.parse(source).body


@lru_cache(maxsize=64)
def _times_bound(source: str) -> Counter[str]:
    """Return how often a module binds each name; cached, so it must not be changed."""
    return times_bound(_parsed(source))


def _function(source: str, formula: Formula) -> ast.FunctionDef:
    """Return a function of a module, or a method of one of its classes.

    Its name must be bound once: Python calls what was bound last.
    """
    nodes, times = _parsed(source), _times_bound(source)
    *outer, last = formula.function.split(".")
    for name in outer:
        classes = [node for node in nodes if isinstance(node, ast.ClassDef) and node.name == name]
        _require_one(f"{formula.module}, class {name}", len(classes), times, name)
        nodes = classes[0].body
        times = times_bound(nodes)
    found = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == last]
    _require_one(f"{formula.module}, function {formula.function}", len(found), times, last)
    for decorator in map(ast.unparse, found[0].decorator_list):
        if decorator not in HARMLESS:
            raise TranslationError(f"{formula.function}: its decorator {decorator} may change its value")
    return found[0]


def _require_one(what: str, defined: int, times: Counter[str], name: str) -> None:
    if (defined, times[name]) != (1, 1):
        raise TranslationError(f"{what}: {defined} at the top, bound {times[name]} times, not one")
    if times[ANY]:
        raise TranslationError(f"{what}: may be bound again, by a star import or a computed name")


def _assignments(body: list[ast.stmt]) -> dict[str, list[ast.expr]]:
    """Return all values assigned to each name, anywhere in a function."""
    found: dict[str, list[ast.expr]] = {}
    for node in (inner for statement in body for inner in ast.walk(statement)):
        if isinstance(node, ast.AugAssign):
            kind = "+=" if isinstance(node.op, ast.Add) else "changed"
            found.setdefault(f"{ast.unparse(node.target)} {kind}", []).append(node.value)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for name, value in _pairs(target, node.value):
                    found.setdefault(name, []).append(value)
    return found


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [(ast.unparse(name), part) for name, part in zip(target.elts, value.elts, strict=True)]
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    return [(ast.unparse(name), value) for name in names]


def _argument(node: ast.expr, place: str | int) -> ast.expr:
    """Return an argument of a call by place or name, or an entry of a tuple, or the term of a generator."""
    match node, place:
        case ast.Call(args=arguments), int() if place < len(arguments):
            return arguments[place]
        case ast.Call(keywords=keywords), str():
            for keyword in keywords:
                if keyword.arg == place:
                    return keyword.value
        case ast.Tuple(elts=entries), int() if place < len(entries):
            return entries[place]
        case ast.GeneratorExp(elt=term), "term":
            return term
    raise TranslationError(f"{ast.unparse(node)} has no part {place}")
