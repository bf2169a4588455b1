"""Stone-Weierstrass and Taylor, Theorem 2 and its looseness, and the size of the two noises."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from audit.claims.registry import Control, Evidence, Finding, claim
from audit.claims.rows.theorems import extended_gaussian_identities
from audit.exact.enclosures import extended_gaussian, noise_comparison, taylor, written
from audit.exact.enclosures.regions import Box
from audit.exact.symbolic import published
from audit.exact.symbolic import taylor as symbolic
from audit.exact.symbolic.inequalities import nonnegative_from
from reference.common.documents import plain
from reference.common.errors import DeltaError
from reference.common.numbers import Enclosure, decimal_above, decimal_text
from reference.noise import extended_gaussian_sigma
from reference.sensitivity import Setting

ONE = Fraction(1)

DIGITS = 10


def shown(enclosure: Enclosure, digits: int = DIGITS) -> Any:
    """Return both ends rounded outwards, or an exact number."""
    return written(enclosure.lower, enclosure.upper, digits)


# --- F1: no polynomial ------------------------------------------------------------------------------------------

HIGHEST_ORDER = 10


def has_vanishing_derivative(function: Any) -> bool:
    """Return whether some derivative up to HIGHEST_ORDER is the zero function, as for a polynomial."""
    derivative = function
    for _ in range(HIGHEST_ORDER):
        derivative = sp.diff(derivative, symbolic.t)
        if sp.simplify(derivative) == 0:
            return True
    return False


def loss_has_vanishing_derivative() -> bool:
    """Return the same for log(1 + exp t), through its derivatives as polynomials in s."""
    return any(symbolic.derivative(order) == 0 for order in range(1, HIGHEST_ORDER + 1))


@claim(
    "F1",
    "Any continuous and differentiable function can be expressed as a polynomial (Stone-Weierstrass).",
    "Section 'Differential Privacy', paragraph on the functional mechanism, before equation (2)",
    readings=("the paper's own loss, log(1 + exp(x.w)); any degree; any interval",),
    symbols=("audit.exact.symbolic.taylor", "reference.objective.TAYLOR_LINEAR"),
    verdict="refuted",
    null=Control(
        "the polynomial t^3 - t, whose fourth derivative is the zero function",
        lambda: not has_vanishing_derivative(symbolic.t**3 - symbolic.t),
    ),
    broken=Control(
        "the paper's loss log(1 + exp t), with no such derivative", lambda: not loss_has_vanishing_derivative()
    ),
    paper_step=(
        "'According to the Stone-Weierstrass Theorem, any continuous and differentiable function can always ...'"
    ),
    why=(
        "With s = 1/(1 + exp(-t)) the n-th derivative of the loss is a polynomial in s with leading coefficient "
        "(-1)^(n-1) (n-1)!, so it vanishes at finitely many t only. The n-th derivative of a polynomial of degree "
        "below n vanishes everywhere. The theorem is about uniform approximation on compact sets."
    ),
    repaired=(
        "A continuous function is a uniform limit of polynomials on every compact set, with an error to be stated."
    ),
    advice="State the error of the polynomial on the set on which w.x lies: F1.taylor.",
)
def stone_weierstrass() -> Finding:
    """Decide F1 by the leading coefficients of all derivatives: start, symbolic step, and the first ten."""
    step = symbolic.induction_step_for_leading_coefficient()
    (n,) = step.free_symbols
    leading = {str(order): str(symbolic.leading_coefficient(order)) for order in range(1, HIGHEST_ORDER + 1)}
    expected = {str(order): str((-1) ** (order - 1) * sp.factorial(order - 1)) for order in range(1, 11)}
    refuted = leading == expected and step == -n and not loss_has_vanishing_derivative()
    evidence = {
        "leading coefficient of the n-th derivative in s": leading,
        "its ratio from n to n + 1": str(step),
        "derivatives at 0, none of degree 2k vanishes": {
            str(order): str(symbolic.derivative(order).subs(symbolic.s, sp.Rational(1, 2)))
            for order in (2, 4, 6, 8)
        },
    }
    return Finding("refuted" if refuted else "undecided", "none", evidence)


# --- F1.taylor --------------------------------------------------------------------------------------------------

RADII = ("1/2", "1", "2", "4", "10", "20")


def error_leaves(factor: Fraction) -> bool:
    """Return whether the error leaves [-factor e(R), 0] on some |t| <= R."""
    for text in RADII:
        R = Fraction(text)
        bound = factor * taylor.degree_two_error(R).upper
        for k in range(-8, 9):
            error = taylor.error_at(R * k / 8, 2)
            if error.lower > 0 or -error.upper > bound:
                return True
    return False


@claim(
    "F1.taylor",
    "The Taylor polynomial of degree 2 stands for the loss; no error is stated.",
    "equation (6)",
    readings=("|x.w| <= R: R = |w|_2 on the unit ball, |w|_1 on the box",),
    symbols=(
        "audit.exact.enclosures.taylor.degree_two_error",
        "reference.objective.TAYLOR_QUADRATIC",
        "reference.common.balls",
    ),
    verdict="enclosed",
    null=Control("the interval [-e(R), 0], which holds the error on |t| <= R", lambda: error_leaves(ONE)),
    broken=Control(
        "the interval [-0.99 e(R), 0], which the error leaves", lambda: error_leaves(Fraction(99, 100))
    ),
    why=(
        "The error per record lies in [-e(R), 0], e(R) = R^2/8 - log cosh(R/2) <= R^4/192, and reaches both ends. "
        "It grows like R^2/8, and beyond |t| = pi higher degrees are worse."
    ),
    repaired="Per record 0 <= (degree 2) - loss <= e(R) whenever |x.w| <= R, and no smaller interval contains it.",
    advice="Bound |w| before you trust the approximate objective: at R = 10 one record's error is above 8.",
)
def taylor_error() -> Finding:
    """Enclose the error for several R, with Lagrange's bounds and the sign on both sides of 0."""
    rows = []
    for text in RADII:
        R = Fraction(text)
        rows.append(
            {
                "R": text,
                "largest error": shown(taylor.degree_two_error(R)),
                "error at -R": shown(taylor.error_at(-R, 2)),
                "error at R": shown(taylor.error_at(R, 2)),
                "Lagrange's bound, degree 2": decimal_text(decimal_above(taylor.lagrange_bound(2, R), DIGITS)),
                "R^4/192": str(R**4 / 192),
            }
        )
    s, h = symbolic.s, symbolic.h
    _, cofactor = symbolic.remainder_sign()
    proofs = {
        "E'' = -(s - 1/2)^2": sp.expand(symbolic.second_derivative_of_error() + (s - sp.Rational(1, 2)) ** 2) == 0,
        "f''' at s = 1/2 + h is -h (1 - 4h^2)/2": sp.expand(cofactor - (1 - 4 * h**2) / 2) == 0,
    }
    evidence = {
        "proofs": proofs,
        "largest |f'''|": shown(taylor.largest_derivative(3)),
        "rows": rows,
        "degree 6 against degree 2 at R = 5": {
            "degree 2": shown(taylor.taylor_error(2, Fraction(5))),
            "degree 6": shown(taylor.taylor_error(6, Fraction(5))),
        },
    }
    holds = all(proofs.values()) and not error_leaves(ONE)
    return Finding("enclosed" if holds else "undecided", "none", evidence)


# --- T2 ---------------------------------------------------------------------------------------------------------


def fails_on(calibration: extended_gaussian.Calibration, region: Box) -> bool:
    """Return whether a region check returns a counterexample."""
    return extended_gaussian.certify_calibration(calibration, region).verdict == "refuted"


@claim(
    "T2",
    "Noise N(0, sigma^2), sigma >= (sqrt(2) Delta_2/(2 epsilon))(sqrt(L) + sqrt(L + epsilon)), L = "
    "log(sqrt(2/pi)/delta), is (epsilon, delta)-differentially private for every epsilon > 0 and every delta for "
    "which sigma is defined.",
    "Theorem 2 (Extended Gaussian Mechanism)",
    readings=("delta up to sqrt(2/pi); beyond it T2.range", "any query, any dimension; the adjacency of Delta_2"),
    symbols=(
        "reference.noise.extended_gaussian_sigma",
        "audit.exact.enclosures.extended_gaussian",
        "reference.noise.profile",
        "audit.exact.enclosures.regions",
        "reference.common.balls",
    ),
    verdict="proved",
    null=Control(
        "the printed sigma in every box of a region: epsilon from 0.0068 to 20, delta from 1.1e-14 to sqrt(2/pi)",
        lambda: fails_on(extended_gaussian.extended_shift, extended_gaussian.CORE),
    ),
    broken=Control(
        "0.99 times the printed sigma: epsilon from 8.3e-7 to 1096, delta down to 2.3e-301",
        lambda: fails_on(extended_gaussian.scaled_extended_shift(Fraction(99, 100)), extended_gaussian.REGION),
    ),
    why=(
        "The exact delta is (delta/2)(r(a) - r(a + mu)), which is below 0.627 delta; here r is Mills' ratio, a = "
        "sqrt(2L) and mu = Delta_2/sigma."
    ),
    repaired="For delta above sqrt(2/pi) use the sigma of sqrt(2/pi), or the analytic Gaussian mechanism.",
    advice="You may use the formula up to delta = 0.797; T2.loose says what it costs.",
    rerun=("python -m audit privacy relaxed_functional --epsilon 1 --delta 1e-3",),
)
def theorem_2() -> Finding:
    """Prove T2 from its identities; enclose it over a region without them; show the effect of a smaller sigma."""
    identities = extended_gaussian_identities()
    core = extended_gaussian.certify_calibration()
    scaled = extended_gaussian.certify_calibration(
        extended_gaussian.scaled_extended_shift(Fraction(99, 100)), extended_gaussian.REGION
    )
    classical = extended_gaussian.certify_calibration(
        extended_gaussian.classical_shift, Box(Fraction(1), Fraction(3), Fraction(1), Fraction(32))
    )
    worst = extended_gaussian.exact_delta_over_delta(Fraction(0), Fraction(1000))
    evidence = {
        "identities (proof, all epsilon and delta)": identities,
        "region in (log epsilon, L), without the identities": core.to_json(),
        "sigma times 0.99": scaled.to_json(),
        "sqrt(2 log(1.25/delta)) Delta_2/epsilon for epsilon > 1": classical.to_json(),
        "exact delta over delta at delta = sqrt(2/pi), epsilon = 1000": shown(worst),
    }
    holds = all(identities.values()) and core.verdict == "enclosed" and worst.upper < 1
    return Finding("proved" if holds else "undecided", "none", evidence)


def is_refused(delta: Fraction) -> bool:
    """Return whether sigma is undefined at a delta: L is certainly negative, and the reference refuses it."""
    negative = extended_gaussian.logarithm_at(delta).upper < 0
    try:
        extended_gaussian_sigma(ONE, ONE, delta)
    except DeltaError:
        return negative
    return False


@claim(
    "T2.range",
    "Theorem 2's sigma is enough for any epsilon > 0 and any delta in (0, 1).",
    "Theorem 2 (Extended Gaussian Mechanism)",
    readings=("real square roots",),
    symbols=(
        "reference.noise.require_delta_in_extended_range",
        "audit.exact.enclosures.extended_gaussian.logarithm_at",
    ),
    verdict="refuted",
    null=Control("delta = 0.797, where sigma is defined", lambda: is_refused(Fraction("0.797"))),
    broken=Control("delta = 0.8, where it is not", lambda: is_refused(Fraction("0.8"))),
    paper_step="'for any epsilon > 0, delta in (0, 1)'",
    why=(
        "For delta > sqrt(2/pi) the logarithm L in sigma is negative, so sqrt(L) is not real, whatever epsilon is."
    ),
    repaired=(
        "The theorem holds for 0 < delta <= sqrt(2/pi). All deltas of the paper's experiments are below. "
        "Above it any sigma that is enough for sqrt(2/pi) is enough."
    ),
    advice="Refuse a delta above 0.797, or replace it by 0.797.",
)
def range_of_delta() -> Finding:
    """Enclose the largest delta for which sigma is defined, and L beyond it."""
    limit = extended_gaussian.defined_up_to()
    evidence = {
        "sqrt(2/pi)": shown(limit),
        "L at delta = 0.8": shown(extended_gaussian.logarithm_at(Fraction("0.8"))),
        "L as delta reaches 1": shown(extended_gaussian.logarithm_at(ONE)),
        "refused by the reference": [text for text in ("0.797", "0.8", "0.999") if is_refused(Fraction(text))],
    }
    refuted = limit.upper < 1 and is_refused(Fraction("0.8")) and not is_refused(limit.lower)
    return Finding("refuted" if refuted else "undecided", "none", evidence)


PRINTED_GRID = Box(Fraction("-4.606"), Fraction("2.303"), Fraction("6.682"), Fraction("15.893"))
"""(log epsilon, L): epsilon from 0.01 to 10, delta from 1e-7 to 1e-3, a little more than both."""

EVERYWHERE = extended_gaussian.REGION

LOOSE_POINTS = tuple((epsilon, delta) for delta in ("1e-3", "1e-7") for epsilon in ("0.01", "0.1", "1", "10"))


def ratio_at(epsilon: str, delta: str) -> Enclosure:
    """Enclose sigma(extended)/sigma(analytic) at one budget."""
    u, L = extended_gaussian.logarithm_of(Fraction(epsilon)), extended_gaussian.logarithm_at(Fraction(delta))
    return extended_gaussian.sigma_ratio(Box(u.lower, u.upper, L.lower, L.upper), Fraction(1, 2**40))


def is_looser_than(factor: Fraction) -> bool:
    """Return whether, on the paper's grid, Theorem 2's sigma is somewhere above `factor` times the smallest."""
    found = extended_gaussian.extreme_sigma_ratio(PRINTED_GRID, largest=True, tolerance=Fraction(1, 20))
    return found.value.lower > factor


@claim(
    "T2.loose",
    "The paper does not say how much larger Theorem 2's sigma is than the smallest (epsilon, delta)-private one.",
    "Theorem 2 (Extended Gaussian Mechanism)",
    readings=("one query, Delta_2 known",),
    symbols=(
        "audit.exact.enclosures.extended_gaussian.sigma_ratio",
        "audit.exact.enclosures.extended_gaussian.shifts_at",
        "audit.exact.enclosures.extended_gaussian.largest_private_shift",
        "reference.noise.profile",
        "reference.common.balls",
    ),
    verdict="enclosed",
    null=Control(
        "the statement that somewhere on the paper's grid sigma is more than 5 times the smallest one",
        lambda: is_looser_than(Fraction(5)),
    ),
    broken=Control("the same statement with 3 in place of 5, which is true", lambda: is_looser_than(Fraction(3))),
    why=(
        "The ratio is above 1 everywhere, because the exact delta is below 0.627 delta. It tends to 1 as epsilon "
        "grows, and it has no upper bound as epsilon falls: the formula's sigma grows like 1/epsilon, while the "
        "smallest one stays bounded."
    ),
    repaired="The analytic Gaussian mechanism takes the largest shift whose exact delta is at most delta.",
    advice=(
        "Use the analytic sigma: it gives the same statement with less noise. On the paper's grid it is smaller "
        "by a factor that reaches 3.89 and stays below 3.92."
    ),
)
def looseness() -> Finding:
    """Enclose the supremum over the paper's grid and over the whole region, and values at single budgets."""
    tolerance = Fraction(1, 20)
    grid = extended_gaussian.extreme_sigma_ratio(PRINTED_GRID, largest=True, tolerance=tolerance / 10)
    everywhere = extended_gaussian.extreme_sigma_ratio(EVERYWHERE, largest=True, tolerance=tolerance)
    points = {f"epsilon {e}, delta {d}": shown(ratio_at(e, d)) for e, d in LOOSE_POINTS}
    corner = extended_gaussian.sigma_ratio(
        Box(EVERYWHERE.right, EVERYWHERE.right, EVERYWHERE.top, EVERYWHERE.top), Fraction(1, 2**40)
    )
    evidence = {
        "supremum on the paper's grid": grid.to_json(),
        "supremum on epsilon in [8.3e-7, 1096], delta in [2.3e-301, sqrt(2/pi)]": everywhere.to_json(),
        "at epsilon 1096, delta 2.3e-301": shown(corner),
        "at single budgets": points,
    }
    decided = grid.value.lower > 1 and corner.lower > 1
    return Finding("enclosed" if decided else "undecided", "none", evidence)


# --- A.noise ----------------------------------------------------------------------------------------------------

EVERY_DIMENSION = (1, 2, 3, 4, 5, 8, 13, 40)


def larger_somewhere(dimensions: tuple[int, ...], epsilons: tuple[str, ...], deltas: tuple[str, ...]) -> bool:
    """Return whether Theorem 2's deviation is certainly at least the Laplace one in some case."""
    return any(
        noise_comparison.is_gaussian_smaller(
            noise_comparison.published_ratio_squared("absolute", d), Fraction(epsilon), Fraction(delta)
        )
        is False
        for d in dimensions
        for epsilon in epsilons
        for delta in deltas
    )


@claim(
    "A.noise",
    "Gaussian noise is smaller than Laplace noise.",
    "abstract ('utility-enhancement'), introduction and Section 'Approximately DP and Fair Classification'",
    readings=(
        "smaller standard deviation per coefficient, or smaller expected l2 length",
        "published sensitivities with Theorem 2's sigma; exact ones with the analytic sigma",
        "one budget for all coefficients",
    ),
    symbols=(
        "audit.exact.enclosures.noise_comparison",
        "reference.noise.extended_gaussian_sigma",
        "reference.noise.laplace_scale",
        "reference.noise.profile",
        "reference.common.balls",
    ),
    verdict="refuted",
    null=Control(
        "d = 13 on the paper's grid of epsilon and delta, where Gaussian noise is smaller everywhere",
        lambda: larger_somewhere((13,), ("0.01", "0.1", "1", "10"), ("1e-3", "1e-7")),
    ),
    broken=Control(
        "d = 3, epsilon = 1, delta = 1e-3, where it is not", lambda: larger_somewhere((3,), ("1",), ("1e-3",))
    ),
    paper_step="'an utility-enhancement scheme, ... by adding Gaussian noise instead of Laplace noise'",
    why=(
        "With rho = Delta_1/Delta_2 it is smaller if and only if epsilon < 4 rho (rho - sqrt(L)). That fails for "
        "few dimensions, for large epsilon and for small delta."
    ),
    repaired=(
        "In the 13 dimensions of the paper's Adult it is, with the published sensitivities and Theorem 2's sigma, "
        "at all epsilons and deltas of its experiments. In general, the standard deviation is smaller if and only "
        "if epsilon < 4 rho (rho - sqrt(L)) with Theorem 2's sigma, or, with the analytic sigma, if "
        "and only if delta exceeds the exact delta of the shift epsilon/(sqrt(2) rho)."
    ),
    advice="Compare the two scales for your d, epsilon and delta before you choose.",
)
def gaussian_against_laplace() -> Finding:
    """Enclose the boundary, in epsilon and in d, for both senses of "smaller" and both calibrations."""
    comparison = noise_comparison
    boundary = {
        f"d = {d}, delta = {delta}": shown(
            comparison.largest_epsilon(comparison.published_ratio_squared("absolute", d), Fraction(delta))
        )
        for delta in ("1e-3", "1e-7")
        for d in EVERY_DIMENSION
    }
    first = {
        f"{measure}, epsilon = {epsilon}, delta = {delta}": shown(
            comparison.smallest_dimension("absolute", Fraction(epsilon), Fraction(delta), measure)
        )
        for measure in comparison.MEASURES
        for epsilon in ("0.01", "1", "10")
        for delta in ("1e-3", "1e-7")
    }
    analytic: Evidence = {}
    for domain in ("unit_box", "unit_ball"):
        for d in (1, 2, 5, 13):
            ratio = comparison.exact_ratio_squared(Setting(d, "absolute", domain))
            for epsilon in ("0.1", "1", "10"):
                found = comparison.smallest_delta_analytic(ratio, Fraction(epsilon))
                analytic[f"{domain}, d = {d}, epsilon = {epsilon}"] = shown(found, 6)
    grows = nonnegative_from(published.ratio_grows(), strict=True)
    evidence = {
        "boundary solved by sympy": published.noise_boundary_holds(),
        "rho grows with d": plain(grows),
        "Theorem 2, published: smaller deviation iff epsilon is below": boundary,
        "Theorem 2, published: first d in which it is smaller": first,
        "analytic, exact sensitivities: smaller deviation iff delta is above": analytic,
    }
    refuted = larger_somewhere((3,), ("1",), ("1e-3",)) and grows.verdict == "proved"
    return Finding("refuted" if refuted and published.noise_boundary_holds() else "undecided", "none", evidence)
