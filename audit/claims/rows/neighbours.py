"""The paper's neighbours, and the constant that its algorithms leave out."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

from audit.claims.registry import Control, Finding, claim
from audit.claims.rows.theorems import fails_below_one
from audit.claims.rows.tuples import Database, record
from audit.exact.enclosures import written
from audit.exact.theorems import holds_for_all_budgets
from reference.common.balls import ball, enclosed
from reference.readings import ADJACENCIES
from reference.sensitivity import (
    Setting,
    exact_l1,
    exact_l2_squared,
    published_l1_sensitivity,
    published_l2_sensitivity_squared,
)

# --- D3 ---------------------------------------------------------------------------------------------------------

DIMENSIONS = (1, 2, 5)


def truths(theorem: str, fairness: str, dimension: int) -> dict[str, bool | None]:
    """Return for each adjacency whether a theorem's formula holds for all budgets on the ball, for large N."""
    return {
        adjacency: holds_for_all_budgets(
            theorem, Setting(dimension, fairness, "unit_ball", adjacency=adjacency), "published"
        )
        for adjacency in ADJACENCIES
    }


def adjacency_decides(theorem: str, fairness: str, dimension: int) -> bool:
    """Return whether a theorem is true for one adjacency and false for the other."""
    return set(truths(theorem, fairness, dimension).values()) == {True, False}


def compared(fairness: str, dimension: int, domain: str) -> dict[str, Any]:
    """Return both exact sensitivities under both adjacencies, and whether the published bounds cover them."""
    settings = [Setting(dimension, fairness, domain, adjacency=adjacency) for adjacency in ADJACENCIES]
    l1, l2 = [exact_l1(one) for one in settings], [exact_l2_squared(one) for one in settings]
    return {
        "fairness": fairness,
        "domain": domain,
        "dimension": dimension,
        "l1, replace_one over add_or_remove_one": written(l1[0].lower / l1[1].upper, l1[0].upper / l1[1].lower, 6),
        "l2 squared, the same": written(l2[0].lower / l2[1].upper, l2[0].upper / l2[1].lower, 6),
        "Lemmas 1 and 3, or 2 and 4, cover both": max(one.upper for one in l1)
        <= published_l1_sensitivity(fairness, dimension)
        and max(one.upper for one in l2) <= published_l2_sensitivity_squared(fairness, dimension),
    }


@claim(
    "D3",
    "Neighbours differ in one tuple: 'presents or absents' in the introduction, replaced in every proof.",
    "Introduction; Section 'Differential Privacy'; 'differ in the last tuple' in the supplement",
    readings=("add_or_remove_one", "replace_one", "no fairness term, absolute and covariance; both domains"),
    symbols=("reference.sensitivity.exact_l1", "audit.exact.theorems.holds_for_all_budgets"),
    verdict="ambiguous",
    null=Control("Theorem 3, which holds under both adjacencies", lambda: adjacency_decides("T3", "absolute", 5)),
    broken=Control(
        "Theorem 5's formula without a fairness term at d = 2, which holds under one only",
        lambda: adjacency_decides("T5", "none", 2),
    ),
    why=(
        "Replacing a record is removing one and adding another. A bound for replace_one therefore holds for "
        "both. An exact sensitivity does not: it is up to twice as large for replace_one."
    ),
    repaired=(
        "Lemmas 1 to 4 and T1 to T4 hold for both adjacencies; T5's formula, without a fairness term at d = 2, "
        "holds for one only. A statement (epsilon, delta) under add_or_remove_one gives (2 epsilon, (1 + "
        "exp(epsilon)) delta) under replace_one."
    ),
    advice="Name the adjacency with every number.",
    rerun=("python -m audit sensitivity --dimension 5 --adjacency add_or_remove_one",),
)
def neighbours_of_the_paper() -> Finding:
    """Compare both exact sensitivities, and the truth of Theorems 3 and 5, under both adjacencies."""
    rows = [
        compared(fairness, dimension, domain)
        for fairness, dimension, domain in product(
            ("none", "absolute", "covariance"), DIMENSIONS, ("unit_ball", "unit_box")
        )
    ]
    theorems = [
        {"theorem": theorem, "fairness": fairness, "dimension": dimension, **truths(theorem, fairness, dimension)}
        for theorem, fairness, dimension in product(("T3", "T5"), ("none", "absolute"), DIMENSIONS)
    ]
    regime = {
        adjacency: [size for size in range(2, 41) if fails_below_one(size, "unit_box", adjacency=adjacency)]
        for adjacency in ADJACENCIES
    }
    evidence = {
        "sensitivities": rows,
        "formula holds for all budgets, unit_ball": theorems,
        "T5 for epsilon_s <= epsilon_n fails on the box for d, of 2 to 40, in": regime,
    }
    covered = all(row["Lemmas 1 and 3, or 2 and 4, cover both"] for row in rows)
    return Finding(
        "ambiguous" if covered and adjacency_decides("T5", "none", 2) else "undecided", "none", evidence
    )


# --- F2 ---------------------------------------------------------------------------------------------------------


def constant(data: Database) -> tuple[int, Fraction]:
    """Return the coefficient of degree 0 as (a, b): a log 2 + b; at tau = 0 the penalty adds none."""
    return len(data.records), Fraction(0)


ONE_PERSON = record(["1/2"], 1, 0)
ANOTHER = record([1], 0, 1)


def constant_tells(left: Database, right: Database) -> bool:
    """Return whether the constant of degree 0 differs between two data sets."""
    return constant(left) != constant(right)


@claim(
    "F2",
    "The objective is a sum over degrees 0 to J; noise is drawn for degrees 1 to J.",
    "equation (2) and equation (6) against the loops of Algorithms 1 to 3",
    readings=(
        "the constant is dropped",
        "it is kept as it is",
        "it is kept and perturbed with the published sensitivity",
    ),
    symbols=("reference.objective.objective", "reference.minimiser.minimise"),
    verdict="ambiguous",
    null=Control(
        "neighbours that differ in a replaced record, whose constants are equal",
        lambda: constant_tells(Database.of(ONE_PERSON, ONE_PERSON), Database.of(ONE_PERSON, ANOTHER)),
    ),
    broken=Control(
        "neighbours that differ in an added record, whose constants are not",
        lambda: constant_tells(Database.of(ONE_PERSON), Database.of(ONE_PERSON, ANOTHER)),
    ),
    paper_step="sum over j from 0 in the objective, 'for 1 <= j' in the algorithms",
    why=(
        "The constant is N log 2. No minimiser depends on it, so dropping it is free. Kept without noise it gives "
        "N away, which replace_one allows and add_or_remove_one does not. Perturbed, it adds log 2 to the "
        "l1-sensitivity under add_or_remove_one, and at d = 1 Lemma 1 no longer covers the sum."
    ),
    repaired="Drop the constant, as the algorithms do.",
    advice="This package drops it. Where N is not public, release N apart, with its own noise.",
)
def constant_of_degree_zero() -> Finding:
    """Compare the constant on neighbours, and Lemma 1 with and without it."""
    log_2 = enclosed(lambda: ball(Fraction(2)).log())
    rows = []
    for dimension in DIMENSIONS:
        exact = exact_l1(Setting(dimension, "none", "unit_ball", adjacency="add_or_remove_one"))
        bound = published_l1_sensitivity("none", dimension)
        rows.append(
            {
                "dimension": dimension,
                "exact l1, degrees 1 and 2": written(exact.lower, exact.upper, 8),
                "with degree 0": written(exact.lower + log_2.lower, exact.upper + log_2.upper, 8),
                "Lemma 1": str(bound),
                "Lemma 1 covers it with degree 0": exact.upper + log_2.upper <= bound,
            }
        )
    added = constant_tells(Database.of(ONE_PERSON), Database.of(ONE_PERSON, ANOTHER))
    replaced = constant_tells(Database.of(ONE_PERSON, ONE_PERSON), Database.of(ONE_PERSON, ANOTHER))
    evidence = {
        "constant": "N log 2",
        "log 2": math.log(2),
        "differs after one record is replaced": replaced,
        "differs after one record is added": added,
        "add_or_remove_one, no fairness term, unit_ball": rows,
    }
    covered = [row["Lemma 1 covers it with degree 0"] for row in rows]
    ambiguous = added and not replaced and not all(covered)
    return Finding("ambiguous" if ambiguous else "undecided", "none", evidence)
