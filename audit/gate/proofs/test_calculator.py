"""Coq's calculators agree with Python on random settings: sensitivities on the box, and the Gaussian profile."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil, floor, sqrt

import pytest

from audit.gate.proofs.sessions import first_errors
from audit.proofs.build import compile_file
from audit.proofs.grammar import refused
from audit.proofs.sigma import quotient
from reference.domain import Domain
from reference.domain.attributes import Numeric
from reference.noise.profile import delta_of_shift
from reference.sensitivity import Declared, box, declared_supremum
from reference.sensitivity.setting import Setting

BUILD_SECONDS = 1800
SETTINGS, SAMPLE, MORE, FEW = 1000, 10, 6, 1
NEAR, FAR = (-1, 8, 100, 20), (8, 12, 160, 38)
"""Of the profile: where the first tail begins, the bits that Coq computes with, and the decimals to which Python's
ends are rounded outward; delta is down to 1e-15, and to 1e-33."""
EVERY = 20
"""One profile in so many is far out."""
MOST_COLUMNS = 4
"""Of boxes with unequal bounds, where every corner is tried."""
SEED = 20
ONE = Fraction(1)

FAIRNESS = {"none": "NoFairness", "absolute": "Absolute", "covariance": "(Covariance true)"}
BASES = {"matrix": "MatrixBasis", "monomial": "MonomialBasis"}

HEADER = """\
From Coq Require Import List Bool ZArith QArith.
From CFM Require Import Definitions ProfileEnds GaussianDelta RationalSensitivity WeightedBox.
Import ListNotations.

Definition same_l1 (s : quadratic_basis * fairness * Q * nat * nat * Q) : bool :=
  let '(b, F, alpha, n, d, value) := s in Qeq_bool (rational_box_l1 F alpha n d) value.
Definition same_l2 (s : quadratic_basis * fairness * Q * nat * nat * Q) : bool :=
  let '(b, F, alpha, n, d, value) := s in Qeq_bool (rational_box_l2 b F alpha n d) value.
Definition same_declared (s : quadratic_basis * fairness * Q * nat * list Q * Q * Q) : bool :=
  let '(b, F, alpha, n, bounds, l1, l2) := s in
  Qeq_bool (rational_declared_l1 F alpha n bounds) l1 &&
  match rational_declared_l2 b F alpha n bounds with Some value => Qeq_bool value l2 | None => false end.
Definition same_weighted (s : quadratic_basis * fairness * Q * nat * list Q * nat * Q * Q * Q) : bool :=
  let '(b, F, alpha, n, bounds, place, weight_s, weight_n, value) := s in
  Qeq_bool (rational_weighted_l1 F alpha n bounds place weight_s weight_n) value.
Definition inside (s : nat * positive * Q * Q * Q * Q * Q) : bool :=
  let '(terms, bits, nu, epsilon, low, high, width) := s in
  match profile_bounds terms bits nu epsilon with
  | Some (lower, upper) => Qle_bool low lower && Qle_bool upper high && Qle_bool (upper - lower) width
  | None => false
  end.
Definition decided (s : Q * Q * Q * Q) : bool :=
  let '(nu, epsilon, above, below) := s in
  profile_at_most 200 160 nu epsilon above && negb (profile_at_most 200 160 nu epsilon below).
Definition far_out (s : Q * Q * Q * Q) : bool :=
  let '(nu, epsilon, above, below) := s in
  profile_at_most 1 1 nu epsilon above && negb (profile_at_most 1 1 nu epsilon below).
"""


def sensitivities(settings: int) -> dict[str, list[str]]:
    """Return settings with Python's value, as Coq reads them."""
    numbers = random.Random(SEED)
    rows: dict[str, list[str]] = {"same_l1": [], "same_l2": [], "same_declared": [], "same_weighted": []}
    for _ in range(settings):
        fairness, basis = numbers.choice(list(FAIRNESS)), numbers.choice(list(BASES))
        weight = Fraction(numbers.randrange(0, 60), numbers.randrange(1, 20))
        d, records = numbers.randrange(1, 15), numbers.randrange(1, 200)
        setting = Setting(d, fairness, "unit_box", basis=basis, fairness_weight=weight, records=records)
        reading = f"{BASES[basis]}, {FAIRNESS[fairness]}, {quotient(weight)}, {records}%nat, {d}%nat"
        rows["same_l1"].append(f"({reading}, {quotient(box.weighted_l1(setting, ONE, ONE).upper)})")
        rows["same_l2"].append(f"({reading}, {quotient(box.weighted_l2_squared(setting, ONE, ONE).upper)})")
        rows["same_declared"].append(declared(setting))
        bounds = [Fraction(numbers.randrange(0, 25), 16) for _ in range(numbers.randrange(1, MOST_COLUMNS + 1))]
        rows["same_declared"].append(with_bounds(setting, bounds, *largest_changes(setting, bounds)))
        weights = Fraction(numbers.randrange(0, 40), 8), Fraction(numbers.randrange(0, 9), 8)
        rows["same_weighted"].append(weighted(setting, numbers.randrange(0, d), *weights))
    return rows


def largest_changes(setting: Setting, bounds: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Return both sensitivities of a box with a bound for each column, added up monomial by monomial.

    q is the smaller of the two records, in units of the bounds: at a corner, or where the entries add up to 2.
    """
    linear, d = box.linear_change(setting), len(bounds)
    pairs = [(e, other) for e in range(d) for other in range(d) if setting.basis == "matrix" or e <= other]
    factors = [Fraction(1, 8) if setting.basis == "matrix" or e == other else Fraction(1, 4) for e, other in pairs]
    rest, filled = Fraction(2), []
    for bound in bounds:
        filled.append(min(ONE, rest / bound) if bound else ONE)
        rest -= filled[-1] * bound
    changes = [
        [bound * (linear + q_e / 2) for bound, q_e in zip(bounds, q, strict=True)]
        + [f * bounds[e] * bounds[o] * (1 - q[e] * q[o]) for (e, o), f in zip(pairs, factors, strict=True)]
        for q in [filled, *product((Fraction(0), ONE), repeat=d)]
    ]
    added = (sum(change, Fraction(0)) for change in changes)
    return max(added), max(sum((one * one for one in change), Fraction(0)) for change in changes)


def declared(box_setting: Setting) -> str:
    """Return a setting on the box of a ball, each column at most its corner, with both sensitivities of Python."""
    setting = replace(box_setting, norm="unit_ball")
    columns = tuple(Numeric(f"x{k}", 0, 1) for k in range(setting.dimension))
    domain = Domain(columns, "y", "z", norm="unit_ball")
    found = [declared_supremum(Declared(domain, setting), power, ONE, ONE).supremum for power in (1, 2)]
    assert all(value.lower == value.upper for value in found)
    bounds = [Fraction(domain.column_factor)] * setting.dimension
    return with_bounds(setting, bounds, *(value.upper for value in found))


def weighted(box_setting: Setting, place: int, weight_s: Fraction, weight_n: Fraction) -> str:
    """Return a setting with two weights on the unit box, or on the box of a ball, with Python's l1-sensitivity."""
    d = box_setting.dimension
    if place % 2:
        bound, value = ONE, box.weighted_l1(box_setting, weight_s, weight_n)
    else:
        setting = replace(box_setting, norm="unit_ball")
        domain = Domain(tuple(Numeric(f"x{k}", 0, 1) for k in range(d)), "y", "z", norm="unit_ball")
        bound = Fraction(domain.column_factor)
        value = declared_supremum(Declared(domain, setting, place), 1, weight_s, weight_n).supremum
        assert value.lower == value.upper
    return (
        f"({BASES[box_setting.basis]}, {FAIRNESS[box_setting.fairness]}, {quotient(box_setting.fairness_weight)}, "
        f"{box_setting.records}%nat, [{'; '.join([quotient(bound)] * d)}], {place}%nat, {quotient(weight_s)}, "
        f"{quotient(weight_n)}, {quotient(value.upper)})"
    )


def with_bounds(setting: Setting, bounds: list[Fraction], *values: Fraction) -> str:
    return (
        f"({BASES[setting.basis]}, {FAIRNESS[setting.fairness]}, {quotient(setting.fairness_weight)}, "
        f"{setting.records}%nat, [{'; '.join(map(quotient, bounds))}], {', '.join(map(quotient, values))})"
    )


def profiles(settings: int, *, off: Fraction = ONE) -> list[str]:
    """Return shifts and epsilons with Python's enclosure of the profile, times `off`; epsilon is 0.01 to 10."""
    numbers = random.Random(SEED)
    rows = []
    for number in range(settings):
        first, last, bits, decimals = FAR if number % EVERY == EVERY - 1 else NEAR
        epsilon = Fraction(round(10 ** numbers.uniform(-2, 1), 4)).limit_denominator(10**4)
        tail, unit = numbers.uniform(first, last), 10**decimals
        nu = Fraction(round(sqrt(tail**2 + 2 * epsilon) - tail, 6)).limit_denominator(10**6)
        found = delta_of_shift(nu**2, epsilon)
        low, high = floor(found.lower * off * unit), ceil(found.upper * off * unit)
        terms = terms_of(max(epsilon, (epsilon / nu + nu / 2) ** 2), bits)
        ends = f"{low} # {unit}, {high} # {unit}, 1 # {unit}"
        rows.append(f"({terms}%nat, {bits}%positive, {quotient(nu)}, {quotient(epsilon)}, {ends})")
    return rows


def terms_of(z: Fraction, bits: int) -> int:
    """Return how many terms of z^k / (1 3 5 ... (2 k + 1)) stand above the last bit."""
    term, k = float(z), 1
    while term > 2.0**-bits or 2 * k + 1 < 2 * z:
        k += 1
        term *= float(z) / (2 * k + 1)
    return k + 2


def deltas(settings: int, tails: tuple[float, float], digits: int) -> list[str]:
    """Return shifts and epsilons with a delta above the profile by one part in 10^digits, and one below it.

    `tails` is the range of epsilon / nu - nu / 2: far out Coq's terms of Mills' ratio are enough.
    """
    numbers, near, more = random.Random(SEED), Fraction(1, 10**digits), 10 ** (digits + 6)
    rows = []
    for _ in range(settings):
        epsilon = Fraction(round(10 ** numbers.uniform(0, 1.6), 3)).limit_denominator(1000)
        tail = numbers.uniform(*tails)
        nu = Fraction(round(sqrt(tail**2 + 2 * epsilon) - tail, 6)).limit_denominator(10**6)
        found = delta_of_shift(nu**2, epsilon)
        # no more digits than that: Coq reads and prints long numbers slowly
        unit = round(1 / found.lower) * more
        above, below = ceil(found.upper * (1 + near) * unit), floor(found.lower * (1 - near) * unit)
        rows.append(f"({quotient(nu)}, {quotient(epsilon)}, {above} # {unit}, {below} # {unit})")
    return rows


def text(rows: dict[str, list[str]]) -> str:
    lemmas = [
        f"Lemma agree_{check} : forallb {check} [{'; '.join(found)}]%Q = true.\n"
        "Proof.\n  vm_cast_no_check (eq_refl true).\nQed.\n"
        for check, found in rows.items()
    ]
    return "\n".join([HEADER, *lemmas])


def test_text_is_in_the_allowed_part_of_the_language():
    assert list(refused(text({**sensitivities(2), "inside": profiles(2)}))) == []


@pytest.mark.coq
@pytest.mark.exhaustive
@pytest.mark.timeout(BUILD_SECONDS)
def test_calculators_agree_with_python(built):
    rows = {**sensitivities(SAMPLE), "inside": profiles(SAMPLE)}
    # Coq has 20 digits of 1 / sqrt(2 pi), and cuts Mills' ratio off behind them
    rows |= {"decided": deltas(FEW, (0, 7), 12), "far_out": deltas(FEW, (30, 40), 18)}
    (built / "Agree.v").write_text(text(rows), encoding="utf-8")
    compile_file(built, "Agree.v")


@pytest.mark.coq
@pytest.mark.lengthy
@pytest.mark.timeout(BUILD_SECONDS)
def test_a_thousand_settings_agree_with_python(built):
    rows = {**sensitivities(SETTINGS), "inside": profiles(SETTINGS)}
    rows |= {"decided": deltas(MORE, (0, 7), 12), "far_out": deltas(MORE, (30, 40), 18)}
    (built / "Thousand.v").write_text(text(rows), encoding="utf-8")
    compile_file(built, "Thousand.v")


WRONG = ["same_l1", "same_l2", "same_declared", "same_weighted", "inside", "far_out"]


@pytest.fixture(scope="module")
def errors_of_wrong_numbers(built):
    """Return the first error that Coq finds in each list with a wrong number, and in the right one of three."""
    rows = {
        **sensitivities(3),
        "inside": profiles(1, off=1 + Fraction(1, 10**9)),
        # as near as Coq's terms still err, so that the numbers to read and to print are short
        "far_out": deltas(1, (25, 26), 24),
    }
    changed = {
        wrong: [row[: row.rindex("# ")] + "# 1000003)" for row in rows[wrong]] if "same" in wrong else rows[wrong]
        for wrong in WRONG
    }
    texts = {wrong: text({wrong: found}) for wrong, found in changed.items()}
    return first_errors(built, {**texts, "right": text({"same_l1": rows["same_l1"]})})


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
@pytest.mark.parametrize("wrong", WRONG)
def test_calculators_notice_a_wrong_number(errors_of_wrong_numbers, wrong):
    assert re.search("Unable to unify|incorrect|has type", errors_of_wrong_numbers[wrong])
    assert errors_of_wrong_numbers["right"] == ""
