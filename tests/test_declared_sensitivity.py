"""Suprema over the rows that a declared domain encodes: against every pair, closed forms, and a search."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from audit.gate.needs import exhaustively
from reference.domain import Domain
from reference.domain.attributes import Binned, Grouped, Numeric, OneHot, Ordinal
from reference.moments import Moments
from reference.objective import layout, objective
from reference.readings import Readings
from reference.records import encode_table
from reference.sensitivity import Setting, box, cases, declared
from reference.sensitivity.declared import Attained, Declared, declared_supremum
from reference.sensitivity.families import families_of
from reference.sensitivity.ladders import Sums
from tests.declared_rows import largest_change

ONE = Fraction(1)
ALPHAS = ("0", "1/10", "2/5", "1/2", "1", "2", "20")
WEIGHTS = (("1", "1"), ("1", "1/100"), ("1/100", "1"), ("3", "2"), ("2", "3"), ("1", "0"), ("0", "1"))
READINGS = [
    (fairness, adjacency)
    for fairness in ("none", "absolute", "covariance", "separate")
    for adjacency in ("replace_one", "add_or_remove_one")
]


def attribute(kind: str, size: int, name: str) -> Numeric | Ordinal | OneHot:
    if kind == "numeric":
        return Numeric(name, 0.0, 1.0)
    return (Ordinal if kind == "ordinal" else OneHot)(name, tuple(range(size)))


def tiny_domain(random: np.random.Generator, fairness: str) -> Domain:
    """Return a random domain with at most 12 encoded rows, labels and groups apart."""
    attributes, rows = [], 1
    while True:
        kind, size = str(random.choice(["ordinal", "one_hot", "numeric"])), int(random.choice([2, 3, 4]))
        size = 3 if kind == "numeric" else size
        if rows * size > 12:
            break
        rows *= size
        attributes.append(attribute(kind, size, f"a{len(attributes)}"))
        if random.random() < 0.3:
            break
    norms = ["unit_box", "unit_ball"] + (["symmetric_ball"] if fairness != "absolute" else [])
    group = fairness != "none" or random.random() < 0.7
    return Domain(
        tuple(attributes) or (Ordinal("a0", (0, 1)),),
        "label",
        "group" if group else None,
        norm=str(random.choice(norms)),
        intercept=bool(random.random() < 0.4),
        keep_group=bool(group and random.random() < 0.5),
    )


def tiny_case(fairness: str, adjacency: str, seed: int) -> tuple[Declared, tuple[Fraction, Fraction], int]:
    """Return one random question that can be answered by looking at every pair."""
    random = np.random.default_rng([seed, *f"{fairness} {adjacency}".encode()])
    domain = tiny_domain(random, fairness)
    setting = Setting(
        domain.dimension,
        fairness,
        domain.norm,
        adjacency,
        str(random.choice(["monomial", "matrix"])),
        Fraction(str(random.choice(ALPHAS))),
        2,
    )
    weights = WEIGHTS[int(random.integers(len(WEIGHTS)))]
    where = Declared(domain, setting, int(random.integers(domain.dimension)))
    return where, (Fraction(weights[0]), Fraction(weights[1])), int(random.integers(1, 3))


def disagreements(fairness: str, adjacency: str, count: int) -> int:
    """Count the questions where the supremum is not the largest change of all pairs."""
    wrong = 0
    for seed in range(count):
        where, weights, power = tiny_case(fairness, adjacency, seed)
        supremum = declared_supremum(where, power, *weights).supremum
        s = -1 if where.s is None else where.s
        largest = largest_change(where.domain, where.setting, s, weights, power)
        numeric = any(isinstance(a, Numeric) for a in where.domain.attributes)
        exceeded = largest > float(supremum.upper) * (1 + 1e-12) + 1e-15
        # a numeric attribute may attain its maximum between the places that are tried
        missed = not numeric and largest < float(supremum.lower) * (1 - 1e-12)
        wrong += exceeded or missed
    return wrong


@pytest.mark.parametrize(("fairness", "adjacency"), READINGS)
def test_the_supremum_is_the_largest_change_of_all_pairs(fairness: str, adjacency: str) -> None:
    assert disagreements(fairness, adjacency, 20) == 0


def test_looking_at_all_pairs_notices_a_case_that_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared, "cases", lambda *args, **kept: cases.cases(*args, **kept)[:1])
    declared_supremum.cache_clear()
    assert disagreements("covariance", "replace_one", 25) > 0
    declared_supremum.cache_clear()


def test_screening_in_floats_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [tiny_case(fairness, adjacency, 0) for fairness, adjacency in READINGS]
    screened = [declared_supremum(where, power, *weights).supremum for where, weights, power in asked]
    declared_supremum.cache_clear()
    monkeypatch.setattr(declared, "NEARLY", 1.0)
    assert [declared_supremum(where, power, *weights).supremum for where, weights, power in asked] == screened
    declared_supremum.cache_clear()


def test_problems_that_are_not_convex_are_bounded_by_relaxed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    where, weights, _ = tiny_case("covariance", "replace_one", 0)
    exact = declared_supremum(where, 2, *weights).supremum
    declared_supremum.cache_clear()
    monkeypatch.setattr(declared._Problem, "is_convex", property(lambda _: False))
    bounded = declared_supremum(where, 2, *weights).supremum
    declared_supremum.cache_clear()
    assert bounded.lower == exact.lower <= exact.upper <= bounded.upper


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("fairness", ["absolute", "covariance"])
def test_a_kept_group_of_small_weight_has_an_exact_value(fairness: str, intercept: bool) -> None:
    attributes = (Ordinal("a0", (0, 1, 2, 3)), Ordinal("a1", (0, 1, 2)))
    domain = Domain(attributes, "label", "group", norm="unit_box", intercept=intercept, keep_group=True)
    s = domain.dimension - 1
    for alpha, weight in product(("1", "7/10"), ("0", "1/100")):
        setting = Setting(domain.dimension, fairness, "unit_box", "replace_one", "matrix", Fraction(alpha), 2)
        where, weights = Declared(domain, setting, s), (Fraction(weight), Fraction(1))
        every = [
            declared._Problem(families_of(domain, s), setting, case, weights, 2)
            for case in cases.cases(setting, kept_group=True)
        ]
        assert all(problem.is_convex for problem in every) == intercept
        supremum = declared_supremum(where, 2, *weights).supremum
        assert supremum.lower == supremum.upper
        assert float(supremum.upper) == pytest.approx(largest_change(domain, setting, s, weights, 2), rel=1e-12)


def changed(found: Attained, where: Declared, readings: Readings) -> np.ndarray:
    """Return the change between the data sets of a witness, by the code that a release runs."""
    domain, rows, records = where.domain, found.rows, where.setting.records
    assert records is not None
    shared = [rows.others.values(domain)] * (records - 1)
    sides = [
        [*shared, rows.after.values(domain)],
        shared if rows.before is None else [*shared, rows.before.values(domain)],
    ]
    left, right = (
        objective(
            Moments.of(encode_table(domain, {name: [row[name] for row in side] for name in side[0]})), readings
        )
        for side in sides
    )
    return left.values - right.values


@pytest.mark.parametrize(("fairness", "adjacency"), READINGS)
def test_the_rows_of_a_witness_attain_the_supremum_through_a_releases_code(fairness: str, adjacency: str) -> None:
    for seed in range(25):
        where, weights, power = tiny_case(fairness, adjacency, seed)
        found = declared_supremum(where, power, *weights)
        readings = Readings(
            fairness=fairness,
            fairness_weight=where.setting.fairness_weight,
            basis=where.setting.basis,
            adjacency=adjacency,
        )
        change = changed(found, where, readings)
        in_s = layout(where.domain, readings).contains(where.s)
        reached = abs(change) ** power @ np.where(in_s, float(weights[0]), float(weights[1]))
        assert reached == pytest.approx(float(found.supremum.lower), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("basis", ["monomial", *exhaustively("matrix")])
@pytest.mark.parametrize(("fairness", "adjacency"), READINGS)
def test_numeric_attributes_in_the_box_give_its_closed_forms(fairness: str, adjacency: str, basis: str) -> None:
    for d, (w_s, w_n), alpha in product((1, 2, 3, 6, 13), WEIGHTS, ("1", "1/3")):
        domain = Domain.of_columns([f"x{k}" for k in range(d)], norm="unit_box")
        setting = Setting(d, fairness, "unit_box", adjacency, basis, Fraction(alpha), 7)
        where, weights = Declared(domain, setting, d // 2), (Fraction(w_s), Fraction(w_n))
        for power, closed in ((1, box.weighted_l1), (2, box.weighted_l2_squared)):
            found = declared_supremum(where, power, *weights).supremum
            assert replace(found, method="closed form") == closed(setting, *weights)


def test_bins_and_groups_of_categories_are_blocks() -> None:
    other = (Binned(name="a", lower=0, upper=9, edges=(3, 5)), Grouped("b", {"low": (1, 2), "high": (3,)}))
    domains = [
        Domain(attributes, "label", "group", keep_group=True)
        for attributes in (other, (OneHot("a", (0, 1, 2)), OneHot("b", (0, 1))))
    ]
    setting = Setting(6, "covariance", records=2)
    for s, power in product(range(6), (1, 2)):
        binned, plain = (declared_supremum(Declared(d, setting, s), power, ONE, ONE / 3) for d in domains)
        assert binned.supremum == plain.supremum
        assert [row.x(domains[0]) for row in (binned.rows.after, binned.rows.others)] == [
            row.x(domains[1]) for row in (plain.rows.after, plain.rows.others)
        ]
        change = changed(binned, Declared(domains[0], setting, s), Readings(fairness="covariance"))
        assert change @ change > 0


def test_levels_between_the_ends_win_and_differ_from_their_hull() -> None:
    three, halves = (tuple(Ordinal(f"a{k}", tuple(range(n))) for k in range(3)) for n in (2, 4))
    setting = Setting(3, "none", "unit_box")
    # the best sum of old levels is 2; with steps of 1/3 as with steps of 1 it is a sum
    assert {
        float(declared_supremum(Declared(Domain(a, "y", norm="unit_box"), setting), 1, ONE, ONE).supremum.upper)
        for a in (three, halves)
    } == {3.125}
    # two thirds and one half are not: 5 attributes of 3 levels and an intercept move the best sum to 1
    kept = Domain(
        (Ordinal("a", (0, 1, 2)), OneHot("b", (0, 1)), OneHot("c", (0, 1))), "y", norm="unit_box", intercept=True
    )
    found = declared_supremum(Declared(kept, Setting(6, "none", "unit_box")), 1, ONE, ONE)
    assert found.supremum.is_exact
    assert found.rows.before is not None


def test_sums_are_those_of_all_levels() -> None:
    steps = (1, 2, 3, 3, 5)
    every = sorted(
        {sum(levels, Fraction(0)) for levels in product(*([Fraction(k, n) for k in range(n + 1)] for n in steps))}
    )
    sums = Sums(steps)
    for target in [Fraction(k, 97) for k in range(-5, 500)]:
        below, above = (
            [v for v in every if v <= target] or every[:1],
            [v for v in every if v >= target] or every[-1:],
        )
        assert {below[-1], above[0]} == set(sums.near(target))
    for total in every:
        levels = sums.split(total)
        assert sum(levels) == total
        assert all((level * n).denominator == 1 for level, n in zip(levels, steps, strict=True))
    # a column that may stand anywhere takes what whole ones leave
    for total in (Fraction(k, 4) for k in range(13)):
        whole, anywhere, third = Sums((1, 0, 3)).split(total)
        assert (whole + anywhere + third, whole.denominator, third.denominator) == (total, 1, 1)
        assert min(whole, anywhere, third) >= 0


def test_many_ordinal_sizes_give_a_bound_and_an_exact_value_on_request() -> None:
    sizes = (12, 14, 18, 20, 24, 8)
    domain = Domain(
        tuple(Ordinal(f"a{n}", tuple(range(n))) for n in sizes),
        "y",
        "g",
        norm="unit_box",
        intercept=True,
        keep_group=True,
    )
    where = Declared(domain, Setting(8, "covariance", "unit_box", fairness_weight=Fraction(1, 7)))
    quick = declared_supremum(where, 1, ONE, ONE).supremum
    assert quick.is_exact or quick.method.startswith("an upper bound")
    full = declared_supremum(where, 1, ONE, ONE, "thorough").supremum
    assert full.is_exact
    assert quick.lower <= full.lower <= full.upper <= quick.upper


@pytest.mark.parametrize(("limit", "most"), [("MOST_LEVELS", 3), ("MOST_PLACES", 6)])
def test_an_ordinal_x_s_of_many_categories_gives_a_bound_after_few_levels(
    limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []
    levels = declared._Problem.levels

    def counted(problem: declared._Problem, state: declared._State) -> list[Fraction | None]:
        found = levels(problem, state)
        tried.append(len(found))
        return found

    monkeypatch.setattr(declared._Problem, "levels", counted)
    monkeypatch.setattr(declared, limit, most)
    domain = Domain((Ordinal("x_s", tuple(range(8))), Ordinal("other", tuple(range(4)))), "y", "z", intercept=True)
    for (fairness, adjacency), weights in product(READINGS, WEIGHTS):
        where = Declared(domain, Setting(3, fairness, adjacency=adjacency), 1)
        w_s, w_n = (Fraction(weight) for weight in weights)
        exact = declared_supremum(where, 1, w_s, w_n, "thorough").supremum
        assert exact.is_exact
        tried.clear()
        declared_supremum.cache_clear()
        bound = declared_supremum(where, 1, w_s, w_n, "fast").supremum
        assert w_s == w_n or max(tried) <= 3
        assert bound.lower <= exact.lower <= bound.upper
