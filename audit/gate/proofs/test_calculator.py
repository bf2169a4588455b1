"""Coq's calculators agree with Python on random settings: sensitivities on the box, and the Gaussian profile."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from audit.proofs.build import ProofError, compile_file
from audit.proofs.grammar import refused
from audit.proofs.sigma import quotient
from reference.noise.profile import delta_of_shift
from reference.sensitivity import box
from reference.sensitivity.setting import Setting

BUILD_SECONDS = 1800
SETTINGS = 1000
PROFILES = 2
SEED = 20
ONE = Fraction(1)

FAIRNESS = {"none": "NoFairness", "absolute": "Absolute", "covariance": "(Covariance true)"}
BASES = {"matrix": "MatrixBasis", "monomial": "MonomialBasis"}

HEADER = """\
From Coq Require Import List Bool ZArith QArith.
From CFM Require Import Definitions ProfileEnds RationalSensitivity.
Import ListNotations.

Definition same_l1 (s : quadratic_basis * fairness * Q * nat * nat * Q) : bool :=
  let '(b, F, alpha, n, d, value) := s in Qeq_bool (rational_box_l1 F alpha n d) value.
Definition same_l2 (s : quadratic_basis * fairness * Q * nat * nat * Q) : bool :=
  let '(b, F, alpha, n, d, value) := s in Qeq_bool (rational_box_l2 b F alpha n d) value.
Definition around (s : Q * Q * Q * nat * Q * Q) : bool :=
  let '(nu, epsilon, h, k, low, high) := s in
  match profile_ends nu epsilon h k with
  | Some (lower, upper) =>
      Qle_bool lower low && Qle_bool high upper
  | None => false
  end.
"""


def sensitivities(settings: int) -> dict[str, list[str]]:
    """Return settings with Python's value, as Coq reads them."""
    numbers = random.Random(SEED)
    rows: dict[str, list[str]] = {"same_l1": [], "same_l2": []}
    for _ in range(settings):
        fairness, basis = numbers.choice(list(FAIRNESS)), numbers.choice(list(BASES))
        weight = Fraction(numbers.randrange(0, 60), numbers.randrange(1, 20))
        d, records = numbers.randrange(1, 15), numbers.randrange(1, 200)
        setting = Setting(d, fairness, "unit_box", basis=basis, fairness_weight=weight, records=records)
        reading = f"{BASES[basis]}, {FAIRNESS[fairness]}, {quotient(weight)}, {records}%nat, {d}%nat"
        rows["same_l1"].append(f"({reading}, {quotient(box.weighted_l1(setting, ONE, ONE).upper)})")
        rows["same_l2"].append(f"({reading}, {quotient(box.weighted_l2_squared(setting, ONE, ONE).upper)})")
    return rows


def profiles(settings: int, *, off: Fraction = ONE) -> list[str]:
    """Return shifts and epsilons with Python's enclosure of the profile, times `off`."""
    numbers = random.Random(SEED)
    rows = []
    for _ in range(settings):
        nu, epsilon = Fraction(numbers.randrange(5, 300), 100), Fraction(numbers.randrange(0, 400), 100)
        found = delta_of_shift(nu**2, epsilon)
        low, high = (round(value * off * 10**18) for value in (found.lower, found.upper))
        ends = f"{low} # {10**18}, {high} # {10**18}"
        rows.append(f"({quotient(nu)}, {quotient(epsilon)}, 1 # 4, 16%nat, {ends})")
    return rows


def text(rows: dict[str, list[str]]) -> str:
    lemmas = [
        f"Lemma agree_{check} : forallb {check} [{'; '.join(found)}]%Q = true.\n"
        "Proof.\n  vm_cast_no_check (eq_refl true).\nQed.\n"
        for check, found in rows.items()
    ]
    return "\n".join([HEADER, *lemmas])


def test_text_is_in_the_allowed_part_of_the_language():
    assert list(refused(text({**sensitivities(2), "around": profiles(2)}))) == []


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
def test_calculators_agree_with_python(built):
    (built / "Agree.v").write_text(
        text({**sensitivities(SETTINGS), "around": profiles(PROFILES)}), encoding="utf-8"
    )
    compile_file(built, "Agree.v")


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
@pytest.mark.parametrize("wrong", ["same_l1", "same_l2", "around"])
def test_calculators_notice_a_wrong_number(built, wrong):
    rows = {**sensitivities(3), "around": profiles(1, off=Fraction(1000))}
    changed = rows[wrong]
    if wrong != "around":
        changed = [row[: row.rindex("# ")] + "# 1000003)" for row in changed]
    (built / "Wrong.v").write_text(text({wrong: changed}), encoding="utf-8")
    with pytest.raises(ProofError, match=r"Unable to unify|incorrect|has type"):
        compile_file(built, "Wrong.v")
