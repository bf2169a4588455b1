"""The privacy of the repaired mechanism, which is ours and not the paper's: ``proofs/repaired.md``."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit

from audit.claims.registry import Control, Finding, claim
from reference.budgets import Budget
from reference.common.arrays import FloatArray
from reference.common.grid import DATA_STEPS
from reference.common.numbers import decimal_text
from reference.domain import Domain
from reference.domain.attributes import Numeric, OneHot
from reference.records import Records, encode_table
from reference.repaired import repaired_logistic, sums
from reference.repaired.account import Account
from reference.repaired.advice import planned
from reference.repaired.curator import unit_sigma
from reference.repaired.spent import Change

PLACE = "not in the paper: the repaired mechanism"

READING = "replace_one; whole records, features, label and group"

Vector: TypeAlias = Sequence[Fraction]

ZBARS = (Fraction(1, 16), Fraction(1, 3), Fraction(1, 2), Fraction(15, 16))

WS = tuple(np.random.default_rng(0).normal(0, 6, (6, 6)))


# --- Instruments ------------------------------------------------------------------------------------------------


def encodable() -> Records:
    """Return one record of each kind that a domain of two one-hot attributes and a kept group encodes."""
    attributes = (OneHot("a", ("p", "q")), OneHot("b", ("r", "s", "t")))
    domain = Domain(attributes, "y", "z", norm="unit_ball", keep_group=True)
    a, b, y, z = zip(*itertools.product("pq", "rst", (0, 1), (0, 1)), strict=True)
    return encode_table(domain, {"a": a, "b": b, "y": y, "z": z}).on_grid()


def centred() -> Records:
    """Return the corners of a domain of two centred numbers, a one-hot attribute and a kept group."""
    numbers = (Numeric("a", -1, 1, centred=True), Numeric("b", -1, 1, centred=True))
    domain = Domain((*numbers, OneHot("c", ("p", "q"))), "y", "z", norm="symmetric_ball", keep_group=True)
    ends = itertools.product((-1, 1), (-1, 1), "pq", (0, 1), (0, 1))
    return encode_table(domain, dict(zip("abcyz", zip(*ends, strict=True), strict=True))).on_grid()


def each_alone(records: Records, release: Callable[[Records], Any]) -> list[Vector]:
    """Return what every record adds to a sum."""
    parts = (release(records.take(slice(i, i + 1))) for i in range(len(records)))
    return [[Fraction(value) for value in part] for part in parts]


def changes(parts: Sequence[Vector]) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield |x' - x|_1 and |x' - x|_2^2 of every two parts: replacing one record by another."""
    for one, other in itertools.combinations(parts, 2):
        moved = [abs(s - t) for s, t in zip(one, other, strict=True)]
        yield sum(moved, Fraction(0)), sum((m * m for m in moved), Fraction(0))


def exceeds(parts: Sequence[Vector], bound: Change) -> bool:
    """Return whether two records change a sum by more than a stated sensitivity."""
    return any(l1 > bound.l1_sensitivity or l2 > bound.l2_sensitivity_squared for l1, l2 in changes(parts))


def attains(parts: Sequence[Vector], bound: Change) -> bool:
    """Return whether two records change a sum by what is stated, but for the rounding of the column factor."""
    close = Fraction(99999, 100000)
    most = [max(one[i] for one in changes(parts)) for i in range(2)]
    return all(found >= close * stated for found, stated in zip(most, bound, strict=True))


def largest(parts: Sequence[Vector]) -> dict[str, str]:
    """Return the largest changes, in fifteen digits."""
    found = list(changes(parts))
    names = ("l1", "l2 squared")
    return {name: f"{float(max(one[i] for one in found)):.15g}" for i, name in enumerate(names)}


def gradients(records: Records, w: FloatArray) -> list[Vector]:
    """Return what every record adds to the gradient."""
    return each_alone(records, lambda one: sums.gradient(one.x, one.y, w))


def uncapped(records: Records, w: FloatArray) -> list[Vector]:
    """Return what every record adds to the gradient of the logistic loss itself."""
    r = np.trunc((expit(records.x @ w) - records.y) * DATA_STEPS) / DATA_STEPS
    return [[Fraction(value) for value in row] for row in r[:, None] * records.x]


def counts(records: Records) -> list[Vector]:
    """Return what every record adds to the counts by label."""
    return each_alone(records, lambda one: sums.label_sums(one.x, one.y))


def of_counts() -> dict[str, tuple[Records, Change]]:
    """Return a domain without and one with centred numbers, by what changes the counts most."""
    records = {
        "the label of one record is flipped": encodable(),
        "it stays, and every attribute goes from end to end": centred(),
    }
    return {witness: (one, sums.label_sums_change(one.domain)) for witness, one in records.items()}


def flipped_signs() -> list[Vector]:
    """Return what x and -x with one label add to the sums by label: entries that neither domain encodes."""
    return [[Fraction(sign), Fraction(0)] for sign in (1, -1)]


def imbalances(zbar: Fraction, *, centred: bool = True) -> list[Vector]:
    """Return what a record adds to the imbalance in each of four cases, perhaps with the prediction itself."""
    half = Fraction(1, 2) if centred else Fraction(0)
    return [[(z - zbar) * (chosen - half)] for z in (0, 1) for chosen in (0, 1)]


def over_cells(cells: int, half: Fraction = Fraction(1, 2)) -> list[Vector]:
    """Return what a record adds to the sums over cells in each case, perhaps with another number for the half."""
    found: list[Vector] = []
    for cell, chosen in itertools.product(range(cells), (False, True)):
        parts = sums.cell_selections(np.array([cell]), np.array([chosen]), cells)
        found.append([value + (Fraction(1, 2) - half) * (i == cell) for i, value in enumerate(parts)])
    return found


def members_of_cells(cells: int) -> list[Vector]:
    """Return what a record adds to the counts of cells."""
    return [list(sums.cell_counts(np.array([cell]), cells)) for cell in range(cells)]


def overspends(account: Account, times: float = 1.0) -> bool:
    """Return whether an account with multiplied scales exceeds mu^2, or epsilon."""
    budget = account.budget
    allowed = 1 / Fraction(unit_sigma(budget)) ** 2 if budget.delta else budget.epsilon
    spent = tuple(one._replace(scale=one.scale * times) for one in account.spent)
    return account._replace(spent=spent).loss > allowed


def accounts() -> list[tuple[str, Account]]:
    """Return the accounts of fits: with and without delta, fairness and group."""
    found = []
    kinds = [("none", True), ("none", False), ("demographic_parity", True), ("demographic_parity", False)]
    kinds += [("equalised_odds", True), ("equalised_odds", False)]
    for delta, (fairness, keep) in itertools.product(("1e-5", "0"), kinds):
        budget, records = Budget(1, delta), encodable()
        if not keep:
            x = records.x[:, :-1]
            records = Records(records.domain.with_(keep_group=False), x, records.y, records.z)
        model = repaired_logistic(records, budget, fairness=fairness, rng=0)
        name = f"delta {delta}, {fairness}, {'with' if keep else 'without'} the group"
        found.append((name, Account(budget, model.spent, hardened=False)))
    return found


# --- R.gradient -------------------------------------------------------------------------------------------------


@claim(
    "R.gradient",
    "When one record is replaced, the sum of r(x.w, t) x, r = clip(rho(x.w) - t, -1/2, 1/2), changes for every w "
    "by at most 1 in l2 and by at most the largest |x|_1 in l1; both are attained at w = 0.",
    PLACE,
    readings=(READING, "evidence: every pair of records of a domain with two one-hot attributes and a kept group"),
    symbols=(
        "reference.repaired.sums.gradient",
        "reference.repaired.sums.gradient_change",
        "reference.repaired.sums.largest_l1",
        "reference.repaired.loss.residual",
    ),
    verdict="argued",
    proof="none",
    null=Control(
        "the capped gradient at six values of w, which keeps the bound",
        lambda: any(exceeds(gradients(encodable(), w), sums.gradient_change(encodable().domain)) for w in WS),
    ),
    broken=Control(
        "the gradient of the logistic loss without the cap, which exceeds it",
        lambda: any(exceeds(uncapped(encodable(), w), sums.gradient_change(encodable().domain)) for w in WS),
    ),
    why="In l2 |r' x' - r x| <= |r'| |x'| + |r| |x| <= 1, as |r| <= 1/2 and |x|_2 <= 1.",
)
def gradient_sensitivity() -> Finding:
    """Try all pairs, at 0 and at six w."""
    records = encodable()
    bound = sums.gradient_change(records.domain)
    at_zero = gradients(records, np.zeros(records.domain.dimension))
    held = not any(exceeds(gradients(records, w), bound) for w in WS) and not exceeds(at_zero, bound)
    evidence = {
        "stated": {"l1": f"{float(bound.l1_sensitivity):.15g}", "l2 squared": str(bound.l2_sensitivity_squared)},
        "largest at w = 0": largest(at_zero),
        "witness": "the label of one record is flipped",
        "pairs": len(at_zero) * (len(at_zero) - 1) // 2,
    }
    return Finding("argued" if held else "refuted", "none", evidence)


# --- R.counts ---------------------------------------------------------------------------------------------------


@claim(
    "R.counts",
    "The sums of t x and (1 - t) x together change in squared l2 by at most max(2, (4c + 2h + u)/m), where a "
    "record has m attributes, the intercept and a kept group included: c centred numbers, h of several columns, u "
    "others but the intercept; by at most 4 where encoded columns have any sign; and in l1 by at most twice the "
    "largest |x|_1. All are attained, but for the rounding of the column factor.",
    PLACE,
    readings=(READING, "evidence: every pair of records of the same domain, and of corners of a centred one"),
    symbols=(
        "reference.repaired.sums.label_sums",
        "reference.repaired.sums.label_sums_change",
        "reference.repaired.sums.farthest",
        "reference.repaired.sums.require_encoded",
    ),
    verdict="argued",
    proof="none",
    null=Control(
        "records of both domains under their bounds",
        lambda: any(exceeds(counts(one), bound) for one, bound in of_counts().values()),
    ),
    broken=Control(
        "x and -x under the same bounds, although the domains hold no such pair",
        lambda: all(exceeds(flipped_signs(), bound) for _, bound in of_counts().values()),
    ),
    why=(
        "A flipped label changes both sums, |x'|^2 + |x|^2 <= 2. An unchanged label changes one of them, by "
        "|x' - x|^2, to which an attribute adds at most 4, 2 or 1 times the squared column factor, at most 1/m."
    ),
)
def counts_sensitivity() -> Finding:
    """Try all pairs."""
    evidence, held = {}, True
    for witness, (records, bound) in of_counts().items():
        parts = counts(records)
        held = held and not exceeds(parts, bound) and attains(parts, bound)
        stated = {"l1": f"{float(bound.l1_sensitivity):.15g}", "l2 squared": str(bound.l2_sensitivity_squared)}
        evidence[witness] = {"stated": stated, "largest": largest(parts)}
    return Finding("argued" if held else "refuted", "none", {"witnesses": evidence})


# --- R.probe ----------------------------------------------------------------------------------------------------


@claim(
    "R.probe",
    "The sum of (z - c)(prediction - 1/2) changes by at most max(c, 1 - c), for a public c in [0, 1], and attains "
    "it.",
    PLACE,
    readings=(READING,),
    symbols=("reference.repaired.sums.imbalance", "reference.repaired.sums.imbalance_change"),
    verdict="proved",
    proof="none",
    null=Control(
        "the sum of (z - c)(prediction - 1/2) in all four cases, at four values of c",
        lambda: any(exceeds(imbalances(c), sums.imbalance_change(c)) for c in ZBARS),
    ),
    broken=Control(
        "the sum of (z - c) prediction under the same bound, which exceeds it",
        lambda: any(exceeds(imbalances(c, centred=False), sums.imbalance_change(c)) for c in ZBARS),
    ),
    why=(
        "Each difference of two of the four cases is linear in c up to its sign, so its absolute value is convex. "
        "The bound max(c, 1 - c) is linear on [0, 1/2] and on [1/2, 1], and no case exceeds it at their ends."
    ),
)
def probe_sensitivity() -> Finding:
    """Compare at the ends of both halves: convex functions below a line there are below it between them."""
    ends = (Fraction(0), Fraction(1, 2), Fraction(1))
    held = not any(exceeds(imbalances(c), sums.imbalance_change(c)) for c in ends)
    attained = all(
        max(l1 for l1, _ in changes(imbalances(c))) == sums.imbalance_change(c).l1_sensitivity for c in ZBARS
    )
    evidence = {
        "compared at c": [str(c) for c in ends],
        "attained at c": [str(c) for c in ZBARS] if attained else [],
    }
    return Finding("proved" if held and attained else "refuted", "none", evidence)


# --- R.cells ----------------------------------------------------------------------------------------------------


@claim(
    "R.cells",
    "If each record is in one of K cells, the counts together change by at most sqrt(2) in l2 and by 2 in l1, and "
    "the sums of prediction - 1/2 over each cell together by at most 1 in l2 and in l1, for every K; all are "
    "attained.",
    PLACE,
    readings=(READING, "evidence: every pair of cells and predictions, for K of 2 to 6"),
    symbols=(
        "reference.repaired.sums.cell_counts",
        "reference.repaired.sums.cell_selections",
        "reference.repaired.algorithm.cell_of",
    ),
    verdict="argued",
    proof="none",
    null=Control(
        "the sums of prediction - 1/2 over six cells",
        lambda: (
            exceeds(over_cells(6), sums.CELL_SELECTIONS_CHANGE)
            or exceeds(members_of_cells(6), sums.CELL_COUNTS_CHANGE)
        ),
    ),
    broken=Control(
        "the numbers of positive predictions in each cell under the same bound, which exceed it",
        lambda: exceeds(over_cells(6, half=Fraction(0)), sums.CELL_SELECTIONS_CHANGE),
    ),
    why="A prediction that turns changes one sum by 1; a record that moves changes two by 1/2 each.",
)
def cells_sensitivity() -> Finding:
    """Try all pairs."""
    held, attained = True, []
    for cells in range(2, 7):
        pairs = (
            (over_cells(cells), sums.CELL_SELECTIONS_CHANGE),
            (members_of_cells(cells), sums.CELL_COUNTS_CHANGE),
        )
        held = held and not any(exceeds(parts, bound) for parts, bound in pairs)
        most = [(max(l1 for l1, _ in changes(parts)), max(l2 for _, l2 in changes(parts))) for parts, _ in pairs]
        if most == [tuple(bound) for _, bound in pairs]:
            attained.append(cells)
    evidence = {"attained for K": attained, "witness": "a prediction turns; a record moves to another cell"}
    return Finding("argued" if held and attained else "refuted", "none", evidence)


# --- R ----------------------------------------------------------------------------------------------------------


@claim(
    "R",
    "All releases of a fit of the repaired mechanism are together (epsilon, delta)-differentially private, as is "
    "the model; with hardened Gaussian noise they are so at the epsilon that the release states.",
    PLACE,
    readings=(READING, "evidence: the accounts of twelve fits; mu^2 is what (epsilon, delta) allows"),
    symbols=(
        "reference.repaired.algorithm.repaired_logistic",
        "reference.repaired.curator.Curator",
        "reference.repaired.curator.planned_scale",
        "reference.repaired.curator.room_of",
        "reference.repaired.account.Account",
        "reference.repaired.schedule.schedule_of",
        "reference.repaired.advice.planned",
        "reference.repaired.advice.account_of",
        "reference.noise.hardened",
    ),
    verdict="argued",
    proof="none",
    null=Control(
        "the accounts of twelve fits, which spend what was promised",
        lambda: any(overspends(account) for _, account in accounts()),
    ),
    broken=Control(
        "the same fits with a thousandth less noise, which spend more",
        lambda: any(overspends(account, 0.999) for _, account in accounts()),
    ),
    why=(
        "Each release has its sensitivity whatever came before, so squared shifts add up to at most mu^2 (with "
        "Laplace noise epsilons to epsilon) on every transcript. What is computed between them is "
        "post-processing."
    ),
)
def theorem() -> Finding:
    """Add up what fits spend, and what was promised beforehand."""
    shown, held = {}, True
    for name, account in accounts():
        held = held and not overspends(account)
        shown[name] = {"spent": f"{float(account.loss):.12g}", "releases": len(account.spent)}
    domain = encodable().domain
    promised = planned(domain, 24, Budget(1, "1e-5"), "demographic_parity", hardened=True)
    evidence = {
        "mu squared of (1, 1e-5)": f"{float(1 / Fraction(unit_sigma(Budget(1, '1e-5'))) ** 2):.12g}",
        "fits": shown,
        "hardened epsilon, planned": decimal_text(Fraction(round(promised.epsilon * 10**12), 10**12)),
    }
    return Finding("argued" if held and promised.epsilon >= 1 else "refuted", "none", evidence)
