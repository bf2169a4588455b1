"""Decides polynomial inequalities for all whole d >= 1: proved, refuted with the smallest d, or undecided.

Sympy is asked for exact results only (coefficients, isolated real roots).  What it does not answer is
`undecided`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import sympy as sp

Expression: TypeAlias = Any

d = sp.Symbol("d", integer=True, positive=True)


@dataclass(frozen=True)
class Decision:
    """The decision on an inequality for every whole d from `start` on.

    Parameters
    ----------
    verdict : {'proved', 'refuted', 'undecided'}
    reason : str
        The argument that decided it.
    counterexample : int or None
        The smallest d at which it fails.
    """

    verdict: str
    reason: str
    counterexample: int | None = None


def nonnegative_from(expression: Expression, start: int = 1, *, strict: bool = False) -> Decision:
    """Decide whether an expression in d is >= 0 (strict: > 0) for every whole d >= start.

    First the coefficients in k = d - start: none negative is a proof.  Else the real roots beyond `start` are
    isolated: the sign is constant between them, so finitely many whole numbers decide.

    Parameters
    ----------
    expression : sympy expression
        In the symbol d alone.
    start : int
    strict : bool
    """
    expression = sp.sympify(expression)
    if not expression.free_symbols <= {d} or not expression.is_polynomial(d):
        return Decision("undecided", "no polynomial in d")
    k = sp.Symbol("k", integer=True, nonnegative=True)
    polynomial = sp.Poly(sp.expand(expression.subs(d, k + start)), k)
    coefficients = polynomial.all_coeffs()
    if not all(c.is_rational for c in coefficients):
        return Decision("undecided", "a coefficient is not known to be rational")
    constant = coefficients[-1]
    if all(c >= 0 for c in coefficients) and (constant > 0 or not strict):
        return Decision("proved", f"no coefficient in d - {start} is negative")
    last = 0
    if polynomial.degree() > 0:
        roots = polynomial.intervals(inf=0)
        last = max((int(sp.ceiling(ends[1])) for ends, _ in roots), default=0)
    for value in range(last + 2):
        at = polynomial.eval(value)
        if at < 0 or (strict and at == 0):
            return Decision("refuted", "evaluated exactly", value + start)
    return Decision(
        "proved", f"no real root beyond d = {last + start}, and evaluated exactly up to {last + start + 1}"
    )
