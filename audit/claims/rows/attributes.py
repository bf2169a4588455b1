"""The paper on attributes: the monomials of x_s, what its noise protects, and the number of features."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import factorial

from sympy import bernoulli

from audit.claims.registry import Control, Finding, claim
from audit.claims.rows.theorems import ADFC_SYMBOLS, fails_below_one
from audit.claims.rows.tuples import Database, Record, record
from reference.sensitivity import published_l1_sensitivity, published_l2_sensitivity_squared

ONE, ZERO = Fraction(1), Fraction(0)

# --- A.phi ------------------------------------------------------------------------------------------------------


def monomials(dimension: int, basis: str) -> Iterator[tuple[int, ...]]:
    """Yield the coordinates of each monomial of degree 1 and 2, in a basis of Phi_2."""
    yield from ((e,) for e in range(dimension))
    if basis == "matrix":
        yield from product(range(dimension), repeat=2)
    else:
        yield from combinations_with_replacement(range(dimension), 2)


def sizes(dimension: int, basis: str, columns: int = 1, degrees: tuple[int, ...] = (1, 2)) -> tuple[int, int]:
    """Return the sizes of Phi_s and of Phi_s and Phi_n together; x_s is encoded in the first `columns` columns."""
    found = [monomial for monomial in monomials(dimension, basis) if len(monomial) in degrees]
    return sum(1 for monomial in found if min(monomial) < columns), len(found)


def share_is_not_one_in_d(dimension: int, basis: str, degrees: tuple[int, ...] = (1, 2)) -> bool:
    """Return whether the share of Phi_s in the monomials differs from the 1/d of Theorems 3 and 5."""
    own, all_of_them = sizes(dimension, basis, degrees=degrees)
    return Fraction(own, all_of_them) != Fraction(1, dimension)


@claim(
    "A.phi",
    "Phi_s holds the monomials that include w_s.",
    "Algorithm 1, lines 5 to 13; Algorithm 3, lines 5 to 13",
    readings=(
        "monomial basis, as the algorithms loop: w_s, w_s^2 and w_s w_l, d + 1 in all",
        "matrix basis, as the proofs sum: 2d entries",
        "x_s encoded in k columns: the monomials of one column, or of all",
    ),
    symbols=("reference.coefficients.Layout.contains", "reference.readings.Readings"),
    verdict="ambiguous",
    null=Control(
        "the monomials of degree 1, of which those with w_s are one in d",
        lambda: share_is_not_one_in_d(13, "monomial", degrees=(1,)),
    ),
    broken=Control(
        "the monomials of degrees 1 and 2 at d = 13, of which they are not",
        lambda: share_is_not_one_in_d(13, "monomial"),
    ),
    why=(
        "Both theorems weigh epsilon_s by 1/d. That is its share of the linear coefficients only; of all "
        "coefficients it has nearly 2/d, and a one-hot x_s has several w_s."
    ),
    repaired="State the basis and the columns. The accounting of T3.fix and T5.fix counts neither.",
    advice="This package takes one column as x_s; for several columns it states no published formula.",
)
def monomials_of_x_s() -> Finding:
    """Count both sets under every reading."""
    rows = []
    for dimension, columns in ((2, 1), (5, 1), (13, 1), (13, 4)):
        for basis in ("monomial", "matrix"):
            own, all_of_them = sizes(dimension, basis, columns)
            rows.append(
                {
                    "d": dimension,
                    "columns of x_s": columns,
                    "basis": basis,
                    "Phi_s": own,
                    "Phi_s and Phi_n": all_of_them,
                    "share": str(Fraction(own, all_of_them)),
                    "1/d": str(Fraction(1, dimension)),
                }
            )
    differ = len({(row["d"], row["Phi_s"]) for row in rows}) == len(rows)
    return Finding("ambiguous" if differ else "undecided", "none", {"sizes": rows})


# --- A.attr -----------------------------------------------------------------------------------------------------


def changed(left: Database, right: Database) -> tuple[Fraction, Fraction]:
    """Return the l1 change on Phi_s, s = 1, and on Phi_n, reading `absolute`, monomial basis."""
    inside, outside = ZERO, ZERO
    for index, (a, b) in enumerate(zip(left.linear("absolute"), right.linear("absolute"), strict=True)):
        inside, outside = (inside + abs(b - a), outside) if index == 0 else (inside, outside + abs(b - a))
    for e, k in combinations_with_replacement(range(left.dimension), 2):
        # w_e w_k with e < k stands for both entries of the matrix
        twice = 1 if e == k else 2
        change = twice * abs(right.quadratic[e][k] - left.quadratic[e][k])
        inside, outside = (inside + change, outside) if e == 0 else (inside, outside + change)
    return inside, outside


def moves_the_others(left: Record, right: Record) -> bool:
    """Return whether a change of one record's attribute moves a coefficient outside Phi_s."""
    others = record([0, 0], 0, 0), record(["1/2", "1/2"], 1, 1)
    return changed(Database.of(*others, left), Database.of(*others, right))[1] > 0


def largest_attribute_change(dimension: int) -> Fraction:
    """Bound the l1 change if only x_s changes in one record of the unit ball.

    The linear coefficient moves by |1/2 - y + |z - zbar|| <= 3/2 times the change of x_s, which is at most 1; the
    square by 1/8; the products by sum_l x_l / 4 with x_l the other entries, at most sqrt(d - 1) / 4 in all.
    """
    root = Fraction(int((dimension - 1) ** 0.5) + 1)
    return Fraction(3, 2) + Fraction(1, 8) + (root / 4 if dimension > 1 else ZERO)


@claim(
    "A.attr",
    "Larger noise on the monomials of w_s improves the privacy of attribute x_s and prevents model inversion.",
    "Section 'Purely DP and Fair Classification', before Algorithm 1's key steps; again for ADFC",
    readings=(
        "neighbours that differ in x_s of one record only",
        "what an adversary infers about x_s from w and the other attributes",
    ),
    symbols=("reference.mechanisms.pdfc_noise", "reference.coefficients.Layout.contains"),
    verdict="ambiguous",
    null=Control(
        "a record in which x_s alone changes",
        lambda: moves_the_others(record([0, "1/2"], 0, 0), record(["1/2", "1/2"], 0, 0)),
    ),
    broken=Control(
        "a record in which x_s changes, and a second column that repeats it",
        lambda: moves_the_others(record([0, 0], 0, 0), record(["1/2", "1/2"], 0, 0)),
    ),
    paper_step="'but also improve the privacy on attribute x_s to prevent model inversion attacks'",
    why=(
        "Where x_s of one record changes and nothing else, no coefficient outside Phi_s moves, and a smaller "
        "epsilon_s is a smaller loss. Where another column tells x_s, the noise of that column decides, and its "
        "epsilon_n is the larger one. Model inversion uses all attributes."
    ),
    repaired=(
        "For neighbours that differ in x_s alone PDFC loses at most epsilon_s sup|D_s|_1/Delta_1, and |D_s|_1 is "
        "at most 3/2 + 1/8 + sqrt(d - 1)/4 on the unit ball."
    ),
    advice="State privacy for the whole record. Noise on x_s protects no attribute that another one tells.",
)
def attribute_level_privacy() -> Finding:
    """Compare a change of x_s alone with one that another column repeats, and bound the attribute's own loss."""
    alone = changed(
        Database.of(record([0, "1/2"], 0, 1), record([0, "1/2"], 0, 0)),
        Database.of(record([0, "1/2"], 0, 1), record(["1/2", "1/2"], 0, 0)),
    )
    repeated = changed(
        Database.of(record([0, 0], 0, 1), record([0, 0], 0, 0)),
        Database.of(record([0, 0], 0, 1), record(["1/2", "1/2"], 0, 0)),
    )
    bounds = [
        {
            "d": size,
            "loss over epsilon_s, at most": str(
                largest_attribute_change(size) / published_l1_sensitivity("absolute", size)
            ),
        }
        for size in (2, 5, 13)
    ]
    evidence = {
        "x_s alone: change on Phi_s, on Phi_n": [str(value) for value in alone],
        "x_s and its copy: change on Phi_s, on Phi_n": [str(value) for value in repeated],
        "neighbours that differ in x_s alone, PDFC with the published Delta_1": bounds,
    }
    ambiguous = alone[1] == 0 < alone[0] and repeated[1] > 0
    return Finding("ambiguous" if ambiguous else "undecided", "none", evidence)


# --- A.degree ---------------------------------------------------------------------------------------------------


def taylor(degree: int) -> Fraction:
    """Return the coefficient of t^degree, degree >= 2, of log(1 + exp(t)): (2^j - 1) B_j / (j j!)."""
    number = bernoulli(degree)
    return Fraction(2**degree - 1, degree * factorial(degree)) * Fraction(int(number.p), int(number.q))


@cache
def squares(dimension: int, degree: int) -> Fraction:
    """Return the sum of squared multinomial coefficients, (j!)^2 [t^j] (sum t^k / k!^2)^d."""
    one = [Fraction(1, factorial(k) ** 2) for k in range(degree + 1)]
    power = [ONE] + [ZERO] * degree
    for _ in range(dimension):
        power = [sum((power[i] * one[k - i] for i in range(k + 1)), ZERO) for k in range(degree + 1)]
    return factorial(degree) ** 2 * power[degree]


def change_squared(dimension: int, highest: int, domain: str) -> Fraction:
    """Return |D|_2^2 for a record that moves from 0 to (a, ..., a), a the largest in the domain; monomial basis.

    (1/2)^2 |x|^2 in degree 1, and c_j^2 times the squared coefficients of (x.w)^j in degree j.
    """
    own = ONE if domain == "unit_box" else Fraction(1, dimension)
    total = Fraction(1, 4) * dimension * own
    for degree in range(2, highest + 1, 2):
        total += taylor(degree) ** 2 * squares(dimension, degree) * own**degree
    return total


def exceeds_lemma_3(dimension: int, highest: int, domain: str = "unit_box") -> bool:
    """Return whether a polynomial of this degree moves by more than Delta_2 of Lemma 3."""
    return change_squared(dimension, highest, domain) > published_l2_sensitivity_squared("none", dimension)


SIZES = range(2, 41)


@claim(
    "A.degree",
    "Algorithm 2 is (epsilon, delta)-differentially private for any degree J, with Delta_2 of Lemma 3.",
    "Algorithm 2, lines 1 to 4; Lemma 3",
    readings=("unit_box", "unit_ball", "monomial basis; Taylor polynomials of the logistic loss"),
    symbols=("reference.sensitivity.published_l2_sensitivity_squared", "reference.mechanisms.relaxed_functional"),
    verdict="refuted",
    null=Control("degree J = 2 at d = 20 on the box, whose change Lemma 3 covers", lambda: exceeds_lemma_3(20, 2)),
    broken=Control(
        "degree J = 4 at d = 20 on the box, whose change exceeds Lemma 3's bound", lambda: exceeds_lemma_3(20, 4)
    ),
    paper_step="'for 1 <= j <= J' after 'Set Delta_2 according to Lemma 3', whose proof has j <= 2",
    why="The coefficients of degree 4 and more move too, on the box as d^4, and no term of Lemma 3 pays for them.",
    repaired="Take J = 2, as Algorithms 1 and 3 do; for another J use the sensitivity of that polynomial.",
    advice="This package has J = 2 only.",
)
def degree_of_algorithm_2() -> Finding:
    """Compare one record's change with Lemma 3, for degrees 2 and 4 on the box and higher ones on the ball."""
    on_the_box = {f"J = {highest}": [d for d in SIZES if exceeds_lemma_3(d, highest)] for highest in (2, 4)}
    on_the_ball = {f"J = {highest}": exceeds_lemma_3(40, highest, "unit_ball") for highest in (4, 10, 20)}
    dimension = on_the_box["J = 4"][0] if on_the_box["J = 4"] else SIZES[-1]
    evidence = {
        "coefficients of t^2, t^4, t^6": [str(taylor(degree)) for degree in (2, 4, 6)],
        "unit_box, dimensions of 2 to 40 in which x = 0 to x = 1 exceeds Lemma 3": on_the_box,
        "first of them": {
            "d": dimension,
            "|D|^2": str(change_squared(dimension, 4, "unit_box")),
            "Lemma 3, squared": str(published_l2_sensitivity_squared("none", dimension)),
        },
        "unit_ball, d = 40, exceeded by this change": on_the_ball,
    }
    refuted = bool(on_the_box["J = 4"]) and not on_the_box["J = 2"]
    return Finding("refuted" if refuted else "undecided", "none", evidence)


# --- E.features -------------------------------------------------------------------------------------------------


def count_decides(first: int, second: int, domain: str) -> bool:
    """Return whether Theorem 5 holds for epsilon_s <= epsilon_n at only one number of coordinates."""
    return fails_below_one(first, domain) != fails_below_one(second, domain)


@claim(
    "E.features",
    "Adult has 13 features, sex among the examples, and sex is the protected attribute.",
    "Section 'Simulation Setup', 'Data preprocessing'",
    readings=("the 13 include sex, which is then no feature: d = 12", "sex comes on top: d = 13"),
    symbols=ADFC_SYMBOLS,
    verdict="ambiguous",
    null=Control(
        "the unit ball, where T5.regime holds for 12 and for 13 features",
        lambda: count_decides(12, 13, "unit_ball"),
    ),
    broken=Control(
        "the unit box, where it holds for 13 and not for 12", lambda: count_decides(12, 13, "unit_box")
    ),
    paper_step="'13 different features (e.g., work-class, education, race, age, sex, and so on)'",
    why=(
        "The public table has 14 attributes beside the label. With sex removed from the 13, d = 12, and on the "
        "box Theorem 5 is false for some epsilon_s <= epsilon_n; with d = 13 it is true for all of them."
    ),
    repaired="State d, the attributes and their encoding.",
    advice="On the unit ball the regime does not depend on it (T5.regime).",
)
def features_of_adult() -> Finding:
    """Decide Theorem 5 in its regime for both numbers of coordinates."""
    rows = [
        {"d": size, "domain": domain, "fails for some epsilon_s <= epsilon_n": fails_below_one(size, domain)}
        for size in (12, 13)
        for domain in ("unit_ball", "unit_box")
    ]
    return Finding("ambiguous" if count_decides(12, 13, "unit_box") else "undecided", "none", {"regime": rows})
