"""Theorems 1 to 5: what they state, what is true, and what a user of the formulas should do."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from audit.claims.registry import Control, Finding, claim
from reference.noise import laplace_scale

ONE = Fraction(1)


# --- T1: the Laplace mechanism ---------------------------------------------------------------------------------


def laplace_loss_exceeds(weight: Fraction) -> bool:
    """Tell whether the log ratio of two Laplace densities can exceed `weight` |D| / b for some output.

    The densities are centred at c and c + D, D >= 0 without loss of generality.  An output t lies left of both,
    between, or right of both; written with nonnegative gaps the excess is linear in them, so it is at most 0
    for all gaps exactly when every coefficient is.
    """
    left, between = sp.symbols("left between", nonnegative=True)
    change = sp.Symbol("change", nonnegative=True)
    rest = sp.Symbol("rest", nonnegative=True)
    # (|t - c|, |t - c - D|, D), the distances in units of b
    orders = [
        (left, left + change, change),
        (between, rest, between + rest),
        (left + change, left, change),
    ]
    for to_one, to_other, distance in orders:
        for near, far in ((to_one, to_other), (to_other, to_one)):
            excess = sp.Poly(far - near - sp.Rational(weight) * distance, left, between, change, rest)
            if any(coefficient > 0 for coefficient in excess.coeffs()):
                return True
    return False


@claim(
    "T1",
    "noise Lap(Delta_1/epsilon) on every coordinate of a query makes it epsilon-differentially private",
    "Theorem 1",
    readings=("any query, any dimension; the adjacency of the sensitivity",),
    symbols=("reference.noise.laplace_scale", "reference.accounting.published_functional"),
    verdict="proved",
    null=Control("the bound |D|/b on the log ratio of two Laplace densities", lambda: laplace_loss_exceeds(ONE)),
    broken=Control("the bound 0.999 |D|/b, too small", lambda: laplace_loss_exceeds(Fraction(999, 1000))),
    why=(
        "each coordinate's log ratio is at most |D_i|/b, so their sum is at most Delta_1/b = epsilon; outputs "
        "beyond both centres reach it"
    ),
    rerun=("python -m audit.privacy functional --epsilon 1 --sensitivity exact",),
)
def laplace_mechanism() -> Finding:
    """Decide T1: the loss of one coordinate for all outputs, and the scale that the code uses."""
    grid = [(Fraction(a), Fraction(b)) for a in (1, 7, "1/3", "1e-9", "1e9") for b in ("1/10", 1, "1e-12", "7/3")]
    rounded = all(Fraction(laplace_scale(delta_1, epsilon)) >= delta_1 / epsilon for delta_1, epsilon in grid)
    holds = rounded and not laplace_loss_exceeds(ONE)
    evidence = {
        "log ratio at most |D|/b": not laplace_loss_exceeds(ONE),
        "scales rounded up": f"{len(grid)} of {len(grid)}" if rounded else "not all",
    }
    return Finding("proved" if holds else "refuted", "none", evidence)
