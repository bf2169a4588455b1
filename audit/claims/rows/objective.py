"""The objective: a penalty that is not a polynomial, its substitutes, and whether they make w fairer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

from audit.claims.data import load
from audit.claims.registry import Control, Evidence, Finding, claim
from audit.claims.rows.tuples import Database, Record, minimum, penalised_minimum, record
from reference.common.documents import plain
from reference.fairness import evaluate
from reference.mechanisms import no_privacy
from reference.moments import Moments
from reference.readings import Readings

ONE, ZERO = Fraction(1), Fraction(0)

OBJECTIVE = ("reference.objective.objective", "reference.readings.Readings")

GRID_1 = tuple((Fraction(v),) for v in ("0", "1/2", "1"))
GRID_2 = tuple(
    (Fraction(a), Fraction(b)) for a, b in product(("0", "1/2", "1"), repeat=2) if Fraction(a) + Fraction(b) <= 1
)
"""Points of the unit ball, in the order of the search."""


def data_sets(points: Sequence[tuple[Fraction, ...]], size: int) -> Iterator[Database]:
    """Yield every data set of a size, as a multiset of records, in lexicographic order."""
    records = [Record(x, y, z) for x in points for y in (0, 1) for z in (0, 1)]
    return (Database(rows) for rows in combinations_with_replacement(records, size))


# --- O1: the penalty is no polynomial ---------------------------------------------------------------------------


def penalised(data: Database, w: Sequence[Fraction], *, penalty: bool = True) -> Fraction:
    """Return f-bar at w as equation (6) writes it, without the constant: c.w + w'Qw + |g.w|."""
    c, q = data.linear("none"), data.quadratic
    value = sum((a * b for a, b in zip(c, w, strict=True)), ZERO)
    value += sum((w[i] * q[i][k] * w[k] for i in range(len(w)) for k in range(len(w))), ZERO)
    return value + (abs(data.boundary_covariance(w)) if penalty else 0)


def third_difference(data: Database, *, penalty: bool) -> Fraction:
    """Return the third difference of f-bar at -1, 0, 1, 2 times (1, ..., 1): 0 for a polynomial of degree 2."""
    line = [penalised(data, (Fraction(t),) * data.dimension, penalty=penalty) for t in (-1, 0, 1, 2)]
    return line[3] - 3 * line[2] + 3 * line[1] - line[0]


TWO_GROUPS = Database.of(record([1], 0, 0), record(["1/2"], 0, 1))
"""d = 1, N = 2: one record of each group."""


@claim(
    "O1",
    "The approximate objective with |sum (z - zbar) x.w| is a polynomial of degree 2 in w.",
    "equation (6)",
    readings=("every fairness reading replaces the absolute value by something else",),
    symbols=OBJECTIVE,
    verdict="refuted",
    null=Control(
        "f-bar without the penalty, a polynomial of degree 2",
        lambda: third_difference(TWO_GROUPS, penalty=False) != 0,
    ),
    broken=Control(
        "f-bar with the penalty, which has a kink", lambda: third_difference(TWO_GROUPS, penalty=True) != 0
    ),
    paper_step="second line of equation (6): = sum lambda-bar_{phi t_i} phi(w)",
    why="The term |g.w| has a kink wherever g.w = 0, so it has no coefficients to which noise could be added.",
    repaired="Release g with its own noise and minimise with the true |g.w| as post-processing (separate).",
    advice="Name the reading: absolute, covariance or separate. They are different mechanisms.",
)
def penalty_is_no_polynomial() -> Finding:
    """Take the third difference of f-bar along a line, in exact rationals."""
    with_penalty, without = (third_difference(TWO_GROUPS, penalty=penalty) for penalty in (True, False))
    evidence = {
        "data": TWO_GROUPS.to_json(),
        "third difference at w = -1, 0, 1, 2": str(with_penalty),
        "without the penalty": str(without),
    }
    return Finding("refuted" if with_penalty != 0 == without else "undecided", "none", evidence)


# --- O5: the decision boundary covariance -----------------------------------------------------------------------


def distance_covariance(data: Database, w: Sequence[Fraction], length: Fraction) -> Fraction:
    """Return the mean of (z - zbar) d(x), d the signed distance x.w / |w| to the boundary."""
    if length**2 != sum((v * v for v in w), ZERO):
        raise ValueError("length is not that of w")
    return data.boundary_covariance(w) / length / len(data.records)


def is_not_the_mean_distance(data: Database, w: Sequence[Fraction], length: Fraction) -> bool:
    """Return whether the mean of g over the records is not the covariance with the signed distance."""
    return data.boundary_covariance(w) / len(data.records) != distance_covariance(data, w, length)


TWO_IN_THE_PLANE = Database.of(record([1, 0], 1, 0), record([0, 1], 0, 1))


@claim(
    "O5",
    "The decision boundary covariance E[(z - zbar) d(x, w)] reduces to g = sum (z - zbar) x.w.",
    "equation (4) and the sentence after it",
    readings=(
        "d(x, w) = x.w, as the paper defines it: equal up to the factor N",
        "d(x, w) the signed distance to the boundary, as the name says: equal up to N |w|",
    ),
    symbols=OBJECTIVE,
    verdict="ambiguous",
    null=Control(
        "w = (3/5, 4/5), whose length is 1, so that the sentence is true",
        lambda: is_not_the_mean_distance(TWO_IN_THE_PLANE, [Fraction(3, 5), Fraction(4, 5)], ONE),
    ),
    broken=Control(
        "w = (3, 4), whose length is 5",
        lambda: is_not_the_mean_distance(TWO_IN_THE_PLANE, [Fraction(3), Fraction(4)], Fraction(5)),
    ),
    paper_step="'the decision boundary is defined by x.w', and the sum in place of the mean",
    why=(
        "Halving w halves g and changes no prediction, so a small |g| may mean a small w. A threshold tau on the "
        "sum is N times one on the mean."
    ),
    repaired="Take sum (z - zbar) x.w / (N |w|). The sign of g, and g = 0, mean the same under every reading.",
    advice="Judge fairness by the risk difference of the predictions, not by the size of g.",
)
def boundary_covariance_of_the_paper() -> Finding:
    """Compare both on two records, and show that scaling w changes g and no prediction."""
    short, long = [Fraction(3, 5), Fraction(4, 5)], [Fraction(3), Fraction(4)]
    data = TWO_IN_THE_PLANE
    rows = [
        {
            "w": [str(v) for v in w],
            "g/N": str(data.boundary_covariance(w) / len(data.records)),
            "mean of (z - zbar) times the signed distance": str(distance_covariance(data, w, length)),
            "risk difference": str(data.risk_difference(w)),
        }
        for w, length in ((short, ONE), (long, Fraction(5)))
    ]
    same_rule = data.risk_difference(short) == data.risk_difference(long)
    differ = is_not_the_mean_distance(data, long, Fraction(5)) and not is_not_the_mean_distance(data, short, ONE)
    evidence = {"data": data.to_json(), "values": rows, "same predictions": same_rule}
    return Finding("ambiguous" if differ and same_rule else "undecided", "none", evidence)


# --- O2: sum |.| in place of |sum| ------------------------------------------------------------------------------


def surrogate(data: Database, w: Sequence[Fraction]) -> Fraction:
    """Return sum |z - zbar| x.w, which the proofs of Lemmas 2 and 4 have in place of |sum (z - zbar) x.w|."""
    change = zip(data.linear("absolute"), data.linear("none"), w, strict=True)
    return sum(((a - b) * v for a, b, v in change), ZERO)


def differs_from_the_penalty(data: Database, w: Sequence[Fraction]) -> bool:
    """Return whether surrogate and penalty differ at w."""
    return surrogate(data, w) != abs(data.boundary_covariance(w))


EQUAL_GROUPS = Database.of(record([1], 0, 0), record([1], 0, 1))
"""Both groups have the same x: g = 0, every w is fair."""

ONE_SIDED = Database.of(record([0], 0, 0), record([1], 0, 1))
"""The terms (z - zbar) x are nonnegative: for w >= 0 the sums agree."""


@claim(
    "O2",
    "The coefficients of the penalty |sum (z - zbar) x.w| are sum |z - zbar| x.",
    "proofs of Lemmas 2 and 4: lambda-bar_1 = (1/2 - y + |z - zbar|) x",
    readings=("fairness absolute is this reading",),
    symbols=OBJECTIVE,
    verdict="refuted",
    null=Control(
        "data whose terms (z - zbar) x have one sign, at w = 1, where both sums are equal",
        lambda: differs_from_the_penalty(ONE_SIDED, [ONE]),
    ),
    broken=Control(
        "two groups with the same x, at w = 1, where they differ",
        lambda: differs_from_the_penalty(EQUAL_GROUPS, [ONE]),
    ),
    paper_step="|sum (z_i - zbar) x_i.w| turned into sum |z_i - zbar| x_i.w",
    why=(
        "The sum of absolute values is linear in w: it is not 0 for fair w, and for w < 0 it is negative, a "
        "reward."
    ),
    repaired=(
        "Take sum (z - zbar) x with the sign of g.w fixed in advance (covariance), or release g apart (separate)."
    ),
    advice="Do not read the published mechanism as penalising unfairness.",
)
def sum_of_absolute_values() -> Finding:
    """Evaluate both on the smallest data, and count on how many small data sets they agree."""
    rows = [
        {
            "w": str(w),
            "penalty": str(abs(EQUAL_GROUPS.boundary_covariance([w]))),
            "surrogate": str(surrogate(EQUAL_GROUPS, [w])),
        }
        for w in (ONE, -ONE)
    ]
    found = list(data_sets(GRID_1, 3))
    both = [data for data in found if not any(differs_from_the_penalty(data, [w]) for w in (ONE, -ONE))]
    zero = [data for data in both if surrogate(data, [ONE]) == 0]
    evidence = {
        "data": EQUAL_GROUPS.to_json(),
        "values": rows,
        "data sets of 3 records, x in {0, 1/2, 1}": len(found),
        "of these, equal at w = 1 and w = -1": len(both),
        "of these, both identically 0": len(zero),
    }
    refuted = differs_from_the_penalty(EQUAL_GROUPS, [ONE]) and len(both) == len(zero)
    return Finding("refuted" if refuted else "undecided", "none", evidence)


# --- O3: the constraint as a penalty ----------------------------------------------------------------------------


def penalty_moves_a_feasible_minimum(data: Database, tau: Fraction) -> bool:
    """Return whether the penalty |g.w - tau| moves a minimum with |g.w| <= tau to a larger |g.w|."""
    plain, moved = minimum(data, data.linear("none")), penalised_minimum(data, ONE, tau)
    if plain is None or moved is None:
        return False
    before, after = abs(data.boundary_covariance(plain)), abs(data.boundary_covariance(moved))
    return before <= tau and after > before


BALANCED = Database.of(record([1], 0, 0), record(["1/2"], 1, 1), record(["1/2"], 1, 1))
"""sum (1/2 - y) x = 0, so that the minimum is w = 0: fair for every tau."""


@claim(
    "O3",
    "The constraint |g(D, w)| <= tau may be treated as the penalty alpha_1 |g(D, w) - tau|.",
    "Section 'Purely DP and Fair Classification', definition of f-tilde, beside equation (3)",
    readings=("tau = 0, as the paper then sets it", "tau > 0, for which 'the theoretical results still hold'"),
    symbols=("reference.readings.Readings.tau", "reference.minimiser.minimise"),
    verdict="refuted",
    null=Control(
        "tau = 0, where the fair minimum stays fair", lambda: penalty_moves_a_feasible_minimum(BALANCED, ZERO)
    ),
    broken=Control(
        "tau = 1/10, where the penalty moves it to a larger |g.w|",
        lambda: penalty_moves_a_feasible_minimum(BALANCED, Fraction(1, 10)),
    ),
    paper_step="f-tilde = f + alpha_1 |g - tau|",
    why="For tau > 0 the penalty is least at g = tau, not at 0: it pulls a fair minimum to the constraint's edge.",
    repaired="Take alpha_1 max(0, |g| - tau); for tau = 0 it is the printed one.",
    advice="Keep tau = 0.",
)
def constraint_as_penalty() -> Finding:
    """Minimise both exactly on three records."""
    tau = Fraction(1, 10)
    plain = minimum(BALANCED, BALANCED.linear("none"))
    moved = penalised_minimum(BALANCED, ONE, tau)
    if plain is None or moved is None:
        raise RuntimeError("the quadratic of the example is singular")
    evidence = {
        "data": BALANCED.to_json(),
        "tau": str(tau),
        "w without penalty": [str(v) for v in plain],
        "g.w without penalty": str(BALANCED.boundary_covariance(plain)),
        "w with the printed penalty": [str(v) for v in moved],
        "g.w with the printed penalty": str(BALANCED.boundary_covariance(moved)),
    }
    refuted = penalty_moves_a_feasible_minimum(BALANCED, tau)
    return Finding("refuted" if refuted else "undecided", "none", evidence)


# --- O4: does the fairness term make w fairer? ------------------------------------------------------------------


def fair_minimum(data: Database, fairness: str) -> tuple[Fraction, ...] | None:
    """Return the exact minimum of f-bar with its fairness term at alpha_1 = 1, without noise."""
    if fairness == "separate":
        return penalised_minimum(data, ONE)
    return minimum(data, data.linear(fairness))


def compare(data: Database, fairness: str) -> Evidence | None:
    """Return |g.w| and the risk difference without and with the term; None where a minimum is not unique."""
    plain, fair = minimum(data, data.linear("none")), fair_minimum(data, fairness)
    if plain is None or fair is None:
        return None
    return {
        "w without the term": [str(v) for v in plain],
        "w with the term": [str(v) for v in fair],
        "|g.w| without, with": [str(abs(data.boundary_covariance(w))) for w in (plain, fair)],
        "risk difference without, with": [str(data.risk_difference(w)) for w in (plain, fair)],
    }


def less_fair(data: Database, fairness: str, *, by: str = "covariance") -> bool:
    """Return whether the term makes the minimum less fair: by |g.w|, by the risk difference, or by `both`."""
    plain, fair = minimum(data, data.linear("none")), fair_minimum(data, fairness)
    if plain is None or fair is None:
        return False
    grows = abs(data.boundary_covariance(fair)) > abs(data.boundary_covariance(plain))
    before, after = data.risk_difference(plain), data.risk_difference(fair)
    worse = before is not None and after is not None and after > before
    return {"covariance": grows, "risk difference": worse, "both": grows and worse}[by]


def first(points: Sequence[tuple[Fraction, ...]], fairness: str, by: str, sizes: Sequence[int]) -> Database | None:
    """Return the first data set, by size and then in lexicographic order, that the term makes less fair."""
    return next((data for n in sizes for data in data_sets(points, n) if less_fair(data, fairness, by=by)), None)


def any_less_fair(fairness: str) -> bool:
    """Return whether the term makes |g.w| grow on a data set of 2 or 3 records in one dimension, or 2 in two."""
    small = [data for n in (2, 3) for data in data_sets(GRID_1, n)]
    small += list(data_sets(GRID_2, 2))
    return any(less_fair(data, fairness) for data in small)


@claim(
    "O4",
    "The minimum w-hat also ensures classification fairness, because the objective involves the fairness "
    "constraint.",
    "Section 'Purely DP and Fair Classification', last sentence before Lemma 2",
    readings=(
        "fairness absolute (the proofs), covariance and separate; alpha_1 = 1",
        "no noise: the exact optimum",
    ),
    symbols=(
        *OBJECTIVE,
        "reference.fairness.metrics.risk_difference",
        "reference.fairness.metrics.boundary_covariance",
    ),
    verdict="refuted",
    null=Control(
        "the true penalty |g.w| (separate), which never makes |g.w| larger", lambda: any_less_fair("separate")
    ),
    broken=Control("its substitute sum |z - zbar| x.w (absolute), which may", lambda: any_less_fair("absolute")),
    paper_step="'Note that w-hat also ensures classification fairness'",
    why=(
        "The proofs replace the term by sum |z - zbar| x.w, which pushes every w_e down, whether that helps or "
        "not. Without the absolute value (covariance) the term pushes g.w below 0. Even with the true penalty "
        "|g.w|, which does fall, the risk difference may rise."
    ),
    repaired=(
        "With the true penalty (fairness separate) the optimum without noise never has a larger |g.w|. Nothing "
        "is ensured for the risk difference."
    ),
    advice="Measure the risk difference beside the positive rate; do not infer it from the objective.",
)
def fairness_term_less_fair() -> Finding:
    """Search small data sets in the unit ball, in exact rationals, for optima that the term makes less fair."""
    searches = [
        ("absolute", "covariance", GRID_1, (2,)),
        ("covariance", "covariance", GRID_1, (2,)),
        ("absolute", "both", GRID_2, (2, 3)),
        ("covariance", "both", GRID_2, (2, 3)),
        ("separate", "risk difference", GRID_2, (2, 3, 4)),
    ]
    rows: list[dict[str, Any]] = []
    for fairness, by, points, sizes in searches:
        data = first(points, fairness, by, sizes)
        shown = None if data is None else {"data": data.to_json(), **(compare(data, fairness) or {})}
        rows.append({"fairness": fairness, "less fair by": by, "first data set": shown})
    counts = {fairness: share_less_fair(fairness) for fairness in ("absolute", "covariance", "separate")}
    evidence = {
        "first data sets, by size and then in lexicographic order": rows,
        "data sets of 3 records, d = 1, x in {0, 1/2, 1}, with larger |g.w|, of those with a minimum": counts,
        "embedded data (affairs), no noise": on_real_data("affairs"),
    }
    refuted = all(row["first data set"] is not None for row in rows) and counts["separate"][0] == 0
    return Finding("refuted" if refuted else "undecided", "none", evidence)


@cache
def on_real_data(name: str) -> dict[str, Any]:
    """Return the measures of the exact optimum, reading by reading, on a whole data set in the unit ball."""
    records = load(name)
    rows = {}
    for fairness in ("none", "absolute", "covariance", "separate"):
        w = no_privacy(Moments.of(records), Readings(fairness=fairness, repair="none")).w
        found = plain(evaluate(w, records))
        shown = ("boundary_covariance", "risk_difference", "positive_rate", "accuracy", "majority_accuracy")
        rows[fairness] = {measure: round(float(found[measure] or 0.0), 6) for measure in shown}
    return rows


def covariance_grows(name: str, fairness: str) -> bool:
    """Return whether the term makes |g.w| of the exact optimum larger on a whole data set."""
    rows = on_real_data(name)
    return bool(abs(rows[fairness]["boundary_covariance"]) > abs(rows["none"]["boundary_covariance"]))


@claim(
    "O4.adult",
    "On Adult, the fairness term reduces the boundary covariance |g.w| that it stands for.",
    "Section 'Purely DP and Fair Classification', last sentence before Lemma 2; Section 'Results and Analysis'",
    readings=("fairness absolute, alpha_1 = 1", "unit_ball, ordinal encoding, all records", "no noise"),
    symbols=(*OBJECTIVE, "reference.fairness.metrics.evaluate", "reference.mechanisms.no_privacy"),
    verdict="refuted",
    needs=("data",),
    null=Control(
        "the true penalty |g.w| (separate), which does reduce |g.w| on Adult",
        lambda: covariance_grows("adult", "separate"),
    ),
    broken=Control(
        "its substitute sum |z - zbar| x.w (absolute), which does not",
        lambda: covariance_grows("adult", "absolute"),
    ),
    paper_step="'Note that w-hat also ensures classification fairness'",
    why=(
        "|g.w| grows. The risk difference does fall, but the share predicted 1 falls with it, to under one in a "
        "hundred, and the accuracy comes within one in a hundred of the majority class's."
    ),
    repaired="The true penalty (fairness separate) brings |g.w| to 0 there.",
    advice="Look at the positive rate and at the majority class's accuracy beside every risk difference.",
    rerun=("python -m reference fit --data adult --mechanism no_privacy --fairness absolute --repair none",),
)
def fairness_term_on_adult() -> Finding:
    """Measure the exact optimum with and without the term on Adult."""
    rows = on_real_data("adult")
    fair = rows["absolute"]
    grows = abs(fair["boundary_covariance"]) > abs(rows["none"]["boundary_covariance"])
    one_class = fair["positive_rate"] < 0.01 and abs(fair["accuracy"] - fair["majority_accuracy"]) < 0.01
    return Finding("refuted" if grows and one_class else "undecided", "none", {"Adult, no noise": rows})


def share_less_fair(fairness: str) -> list[int]:
    """Return on how many data sets of three records |g.w| grows, and how many have a unique minimum."""
    usable = [data for data in data_sets(GRID_1, 3) if compare(data, fairness) is not None]
    return [sum(less_fair(data, fairness) for data in usable), len(usable)]
