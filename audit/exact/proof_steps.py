"""The false steps of the paper's proofs, each with its smallest counterexample, in exact rationals.

"Smallest" refers to a stated order.  Where a step is about data sets, they are tried by d, then by N, then
lexicographically: records (x, y, z) with x in {0, 1}^d (unit ball: 0 and the unit vectors), D' differing from D
in its last record.  Every number is a Fraction; zbar is each data set's own mean.  Proofs and the whole list:
``proofs/proof_steps.md``.  Claims: L2, L3, L4, L.2max, T3, T4, T5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, count, product
from typing import Any, TypeAlias

import sympy as sp

from audit.exact.enclosures import rational
from audit.exact.symbolic import published
from audit.exact.symbolic.inequalities import Decision, d, nonnegative_from
from reference.sensitivity import published_l1_sensitivity, published_l2_sensitivity_squared

Vector: TypeAlias = tuple[int, ...]
Record: TypeAlias = tuple[Vector, int, int]
DataSet: TypeAlias = tuple[Record, ...]
Coefficients: TypeAlias = dict[tuple[int, ...], Fraction]

HALF, QUARTER, EIGHTH = Fraction(1, 2), Fraction(1, 4), Fraction(1, 8)


@dataclass(frozen=True)
class Step:
    """A step of a proof, and the result of a search for a counterexample.

    Parameters
    ----------
    name : str
        Claim id and a word.
    place : str
        The place of the step.
    statement : str
        The step, in our symbols.
    order : str
        The order in which candidates were tried.
    tried : int
        How many, the counterexample included.
    counterexample : dict or None
        Exact values as strings; None when the search ended without one.
    """

    name: str
    place: str
    statement: str
    order: str
    tried: int
    counterexample: dict[str, Any] | None

    @property
    def verdict(self) -> str:
        """`refuted`, or `not refuted` by the candidates tried."""
        return "not refuted" if self.counterexample is None else "refuted"

    def to_json(self) -> dict[str, Any]:
        """Return the fields and the verdict."""
        return {
            "step": self.name,
            "place": self.place,
            "statement": self.statement,
            "verdict": self.verdict,
            "order": self.order,
            "tried": self.tried,
            "counterexample": self.counterexample,
        }


# --- Data sets and their exact coefficients ------------------------------------------------------------------

DATA_ORDER = "d, then N, then lexicographically over records (x, y, z) with x in {0, 1}^d"


def terms(record: Record, zbar: Fraction, fairness: str = "absolute", basis: str = "monomial") -> Coefficients:
    """Return one tuple's coefficients: monomials are (e,) or (e, l); `none` leaves out the fairness term.

    Parameters
    ----------
    record : (x, y, z)
    zbar : Fraction
    fairness : {'none', 'absolute', 'covariance'}
    basis : {'monomial', 'matrix'}
    """
    x, y, z = record
    term = {"none": Fraction(0), "absolute": abs(z - zbar), "covariance": z - zbar}[fairness]
    found: Coefficients = {(e,): (HALF - y + term) * value for e, value in enumerate(x)}
    for i, j in product(range(len(x)), repeat=2):
        if basis == "matrix":
            found[i, j] = EIGHTH * x[i] * x[j]
        elif i <= j:
            found[i, j] = (EIGHTH if i == j else QUARTER) * x[i] * x[j]
    return found


def mean_group(data: DataSet) -> Fraction:
    """Return zbar."""
    return Fraction(sum(z for _, _, z in data), len(data))


@lru_cache(maxsize=256)
def sums(data: DataSet, fairness: str, basis: str) -> Coefficients:
    """Return the sums of all tuples' coefficients, with the data set's own zbar."""
    zbar = mean_group(data)
    every = [terms(record, zbar, fairness, basis) for record in data]
    return {monomial: sum((one[monomial] for one in every), Fraction(0)) for monomial in every[0]}


def change(left: DataSet, right: DataSet, fairness: str = "absolute", basis: str = "monomial") -> Coefficients:
    """Return the change of the sums over all tuples, each with its own data set's zbar."""
    before, after = sums(left, fairness, basis), sums(right, fairness, basis)
    return {monomial: after[monomial] - before[monomial] for monomial in before}


def last_change(
    left: DataSet, right: DataSet, fairness: str = "absolute", basis: str = "monomial"
) -> Coefficients:
    """Return what the proofs use instead: the change of the last tuple's terms."""
    before = terms(left[-1], mean_group(left), fairness, basis)
    after = terms(right[-1], mean_group(right), fairness, basis)
    return {monomial: after[monomial] - before[monomial] for monomial in before}


def l1(coefficients: Coefficients) -> Fraction:
    """Return the l1 norm."""
    return sum((abs(value) for value in coefficients.values()), Fraction(0))


def l2_squared(coefficients: Coefficients) -> Fraction:
    """Return the square of the l2 norm."""
    return sum((value * value for value in coefficients.values()), Fraction(0))


def on_phi_s(coefficients: Coefficients, *, inside: bool) -> Coefficients:
    """Return the coefficients of the monomials with w_1 (inside), or the others; x_s is the first coordinate."""
    return {monomial: value for monomial, value in coefficients.items() if (0 in monomial) is inside}


def records(dimension: int, domain: str) -> list[Record]:
    """Return the candidate records in lexicographic order."""
    points = product((0, 1), repeat=dimension)
    inside = [x for x in points if domain == "unit_box" or sum(x) <= 1]
    return [(x, y, z) for x in inside for y in (0, 1) for z in (0, 1)]


def pairs(dimension: int, size: int, domain: str) -> Iterator[tuple[DataSet, DataSet]]:
    """Yield the neighbouring data sets of a size; the order of shared records does not matter."""
    candidates = records(dimension, domain)
    for shared in combinations_with_replacement(candidates, size - 1):
        for before, after in product(candidates, repeat=2):
            if before != after:
                yield (*shared, before), (*shared, after)


def first_pair(
    fails: Callable[[DataSet, DataSet], bool], domain: str, most_dimensions: int = 2, most_records: int = 3
) -> tuple[int, tuple[DataSet, DataSet] | None]:
    """Return how many pairs were tried and the first one that fails, in :data:`DATA_ORDER`."""
    tried = 0
    for dimension in range(1, most_dimensions + 1):
        for size in range(1, most_records + 1):
            for left, right in pairs(dimension, size, domain):
                tried += 1
                if fails(left, right):
                    return tried, (left, right)
    return tried, None


def written_pair(left: DataSet, right: DataSet) -> dict[str, Any]:
    """Return both data sets, records as [x, y, z]."""
    return {name: [[list(x), y, z] for x, y, z in data] for name, data in (("D", left), ("D'", right))}


def _data_step(
    name: str,
    place: str,
    statement: str,
    both_sides: Callable[[DataSet, DataSet], tuple[Fraction, Fraction]],
    domain: str,
    *,
    equality: bool = False,
) -> Step:
    """Search for data sets on which the left side exceeds the right (equality: differs from it)."""

    def fails(left: DataSet, right: DataSet) -> bool:
        true, claimed = both_sides(left, right)
        return true != claimed if equality else true > claimed

    tried, found = first_pair(fails, domain)
    counterexample = None
    if found is not None:
        true, claimed = both_sides(*found)
        counterexample = {
            "domain": domain,
            "d": len(found[0][0][0]),
            "N": len(found[0]),
            **written_pair(*found),
            "left_side": rational(true),
            "right_side": rational(claimed),
        }
    return Step(name, place, statement, DATA_ORDER, tried, counterexample)


# --- Lemmas 2 and 4: the drift of zbar -----------------------------------------------------------------------


def drift_step(
    lemma: str, domain: str = "unit_ball", fairness: str = "absolute", *, equality: bool = False
) -> Step:
    """Search for data sets whose coefficients move farther than their last tuple's terms.

    Parameters
    ----------
    lemma : {'L2', 'L4'}
        L2 in the l1 norm, L4 in the square of the l2 norm.
    domain : {'unit_ball', 'unit_box'}
    fairness : {'none', 'absolute', 'covariance'}
        With `none` there is no zbar: the null control.
    equality : bool
        Check = as the proofs write it; otherwise only <=, which they need.
    """
    size, norm = (l1, "|.|_1") if lemma == "L2" else (l2_squared, "|.|_2^2")
    relation = "=" if equality else "<="
    return _data_step(
        f"{lemma}.drift",
        f"supplement, proof of the lemma of {'PDFC, second' if lemma == 'L2' else 'ADFC, third'} line",
        f"{norm} of the change of the sums {relation} {norm} of the change of the last tuple's terms",
        lambda left, right: (size(change(left, right, fairness)), size(last_change(left, right, fairness))),
        domain,
        equality=equality,
    )


# --- The equalities "2 max = bound" --------------------------------------------------------------------------


def two_max(lemma: str, domain: str, basis: str) -> dict[str, Decision]:
    """Compare, for every d, the proofs' 2 max with the bound that they say it equals.

    |z - zbar| is taken to be 1, its supremum.  Both sides are squared for L3 and L4.

    Returns
    -------
    dict
        `equal` and `at_most`, each a decision for all d >= 1.
    """
    t = 0 if lemma in ("L1", "L3") else 1
    bound = published.PUBLISHED[lemma]
    if domain == "unit_ball" and lemma in ("L1", "L2"):
        # polynomials in sqrt(d), which is at least 1
        gap = bound.subs(d, d**2) - published.ball_l1(d).subs(published.t, t)
        return {"equal": _equal_in_root(gap), "at_most": nonnegative_from(gap)}
    if lemma in ("L1", "L2"):
        inside = published.box_l1()
    else:
        inside = (published.box_l2_squared if domain == "unit_box" else published.ball_l2_squared)(basis)
    # times d: the monomial basis on the ball has 1/d
    gap = sp.expand(d * (bound - inside.subs(published.t, t)))
    return {"equal": _equal(gap), "at_most": nonnegative_from(gap)}


def _equal(gap: Any) -> Decision:
    both = [nonnegative_from(gap), nonnegative_from(-gap)]
    failing = [found.counterexample for found in both if found.counterexample is not None]
    if failing:
        return Decision("refuted", "evaluated exactly", min(failing))
    if all(found.verdict == "proved" for found in both):
        return Decision("proved", "the difference is 0 as a polynomial in d")
    return Decision("undecided", "neither side decided")


def _equal_in_root(gap: Any) -> Decision:
    """Decide equality for a polynomial whose variable stands for sqrt(d)."""
    if gap == 0:
        return Decision("proved", "the difference is 0 as a polynomial in sqrt(d)")
    for dimension in range(1, 20):
        if gap.subs(d, sp.sqrt(dimension)).is_nonzero:
            return Decision("refuted", "evaluated exactly", dimension)
    return Decision("undecided", "no d up to 19 is known to differ")


# --- Theorem 3: the last equality ----------------------------------------------------------------------------


def t3_last_step(domain: str) -> dict[str, Decision]:
    """Decide, for every d, whether the sums over Phi_s and Phi_n are at most their shares of Delta_1.

    The proof needs sum over Phi_s of 2 max_t |lambda_phi| = Delta_1/d and the rest = Delta_1 (d - 1)/d.
    Multiplied by d; |z - zbar| is 1.
    """
    bound = published.PUBLISHED["L2"]
    phi_s, phi_n = (f(domain).subs(published.t, 1) for f in (published.phi_s_sum, published.phi_n_sum))
    return {
        "phi_s at most": nonnegative_from(bound - d * phi_s),
        "phi_s at least": nonnegative_from(d * phi_s - bound),
        "phi_n at most": nonnegative_from((d - 1) * bound - d * phi_n),
        "phi_n at least": nonnegative_from(d * phi_n - (d - 1) * bound),
    }


def t3_smallest_records(dimension: int = 2) -> Step:
    """Return the smallest N at which, on the box, the last line's product exceeds exp(epsilon) for some budgets.

    With N records |z - zbar| reaches (N - 1)/N.  The line fails for epsilon_n small beside epsilon_s once the
    sum over Phi_s exceeds Delta_1/d.
    """
    bound = published_l1_sensitivity("absolute", dimension) / dimension
    quadratic = Fraction(2 * dimension - 1, 4)
    tried, counterexample = 0, None
    # the sum grows with N towards 3 + quadratic: for d = 1 no N fails
    if 3 + quadratic > bound:
        tried = next(size for size in count(1) if 1 + 2 * Fraction(size - 1, size) + quadratic > bound)
        counterexample = {
            "domain": "unit_box",
            "d": dimension,
            "N": tried,
            "tuple": [[1] * dimension, 0, 1],
            "zbar": rational(Fraction(1, tried)),
            "left_side": rational(1 + 2 * Fraction(tried - 1, tried) + quadratic),
            "right_side": rational(bound),
        }
    return Step(
        "T3.last",
        "supplement, proof of the theorem of PDFC, last equality but one",
        "sum over Phi_s of 2 max_t |lambda_(phi t)| <= Delta_1/d",
        f"N, at d = {dimension}; the tuple (x, y, z) = (1, 0, 1) among N - 1 with z = 0 attains the maxima",
        tried,
        counterexample,
    )


# --- Theorem 4: the hidden Delta = 1 -------------------------------------------------------------------------


def t4_gap_sign() -> bool:
    """Return whether the allowed |V| minus the proof's |V| is (1 - Delta)(2 sigma^2 epsilon + Delta)/(2 Delta).

    The loss is at most epsilon iff |V| <= (2 sigma^2 epsilon - Delta^2)/(2 Delta).  So the proof's (2 sigma^2
    epsilon - 1)/2 is right for Delta <= 1, and too large for every Delta > 1.
    """
    delta_2, sigma, epsilon = sp.symbols("Delta sigma epsilon", positive=True)
    gap = (2 * sigma**2 * epsilon - delta_2**2) / (2 * delta_2) - (2 * sigma**2 * epsilon - 1) / 2
    claimed = (1 - delta_2) * (2 * sigma**2 * epsilon + delta_2) / (2 * delta_2)
    return bool(sp.simplify(gap - claimed) == 0)


def t4_hidden_one(largest: int = 4) -> Step:
    """Search whole Delta, sigma, epsilon for a |V| that the proof allows and whose loss exceeds epsilon.

    Only sigma that Theorem 2 allows for some delta below sqrt(2/pi) count: 2 sigma^2 epsilon > Delta^2.
    """
    tried, counterexample = 0, None
    for delta_2, sigma, epsilon in product(range(1, largest + 1), repeat=3):
        if 2 * sigma**2 * epsilon <= delta_2**2:
            continue
        tried += 1
        v = Fraction(2 * sigma**2 * epsilon - 1, 2)
        loss = (delta_2**2 + 2 * v * delta_2) / (2 * sigma**2)
        if loss > epsilon:
            counterexample = {
                "Delta_2": str(delta_2),
                "sigma": str(sigma),
                "epsilon": str(epsilon),
                "V": rational(v),
                "left_side": rational(loss),
                "right_side": rational(Fraction(epsilon)),
            }
            break
    return Step(
        "T4.hidden_one",
        "supplement, proof of the theorem of the relaxed mechanism",
        "|V| <= (2 sigma^2 epsilon - 1)/2 implies (Delta_2^2 + 2 |V| Delta_2)/(2 sigma^2) <= epsilon",
        "whole (Delta_2, sigma, epsilon) with 2 sigma^2 epsilon > Delta_2^2, lexicographically",
        tried,
        counterexample,
    )


# --- Theorem 5: the shares of Delta --------------------------------------------------------------------------


def t5_share(part: str, domain: str = "unit_ball") -> Step:
    """Search for data sets that move Phi_s by more than Delta/d (part 's'), or the rest by more than its share.

    Both sides are squared.  Delta is the published sqrt(d^2/16 + 9d).
    """

    def both_sides(left: DataSet, right: DataSet) -> tuple[Fraction, Fraction]:
        dimension = len(left[0][0])
        moved = l2_squared(on_phi_s(change(left, right), inside=part == "s"))
        share = Fraction(1 if part == "s" else dimension - 1, dimension)
        return moved, share**2 * published_l2_sensitivity_squared("absolute", dimension)

    bound = "Delta_2'/d" if part == "s" else "Delta_2' (d - 1)/d"
    return _data_step(
        f"T5.share_{part}",
        "supplement, proof of the theorem of ADFC",
        f"squared: |change on Phi_{part}|_2 <= {bound}",
        both_sides,
        domain,
    )
