"""Certificates of releases: what is certified, what Coq rejects, and what no theorem covers."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.gate.conftest import copy_compiled
from audit.gate.needs import exhaustively
from audit.gate.proofs.releases import LOWERED, SECONDS, SPLIT, document
from audit.gate.proofs.sessions import first_errors
from audit.proofs import scales
from audit.proofs.build import Answers, Theorem
from audit.proofs.check import committed, listed
from audit.proofs.grammar import refused
from audit.proofs.releases.check import CoqFinding, check, needed_sources
from audit.proofs.releases.errors import NoTheoremError
from audit.proofs.releases.exported import Exported, exported
from audit.proofs.releases.result import judged
from audit.proofs.releases.text import EXTRA_PREMISES, THEOREM, certificate_text
from audit.proofs.releases.theorem import Covered, covered
from audit.proofs.sigma import sigma_bounds
from audit.proofs.sources import PROJECT
from reference.budgets import Budget, SplitBudget
from reference.noise import extended_gaussian_sigma
from reference.records import Records
from reference.registry import MECHANISMS

REJECTIONS = (
    "Cannot find witness",
    "No applicable tactic",
    "Unable to unify",
    "while it is expected to have type",
)
"""Coq's words for a comparison of numbers that fails."""

EQUAL = SplitBudget("1/3", "1/3", "1e-3", "1e-5")


def certified(affairs: Records, name: str, budget: Budget | SplitBudget | None = None, **readings: Any) -> Covered:
    return covered(exported(document(affairs, name, budget, **readings)))


def with_scales(release: Exported, factor_s: Fraction, factor_n: Fraction) -> Exported:
    return replace(release, scale_s=release.scale_s * factor_s, scale_n=release.scale_n * factor_n)


def slightly_lower(found: Covered) -> list[tuple[Fraction, Fraction]]:
    """Return factors of the scales of a release: one scale is then right below its formula."""
    factors = [comparison.formula / comparison.scale * LOWERED for comparison in found.comparisons]
    if len(factors) == 1:
        return [(factors[0], factors[0])]
    return [(factors[0], Fraction(1)), (Fraction(1), factors[1])]


CASES = {
    "functional": ("functional", None, {}),
    "relaxed_functional, tiny delta": ("relaxed_functional", Budget("1/2", "1e-400"), {}),
    "pdfc, two budgets": ("pdfc", SPLIT, {}),
    "adfc, two deltas": ("adfc", EQUAL, {}),
    "adfc, two epsilons on the ball": ("adfc", SplitBudget("3", "1", "1e-3", "1e-5"), {}),
    "adfc, two epsilons on the box": (
        "adfc",
        SplitBudget("1/1000", "1", "1e-3", "1e-3"),
        {"domain": "unit_box", "fairness": "covariance"},
    ),
    "pdfc, exact, two epsilons": (
        "pdfc",
        SplitBudget("1/7", "3"),
        {"sensitivity": "exact", "domain": "unit_box", "adjacency": "add_or_remove_one"},
    ),
}
HARDENED = ("functional", "relaxed_functional, tiny delta", "adfc, two epsilons on the ball", "pdfc, two budgets")
"""Cases that are certified with hardened noise, too; `make soak` does so with every one."""

MORE_CASES = {
    "pdfc, one record more": (
        "pdfc",
        SPLIT,
        {"adjacency": "add_or_remove_one", "fairness": "covariance", "fairness_weight": 2, "basis": "matrix"},
    ),
    "functional, exact on the box": (
        "functional",
        None,
        {"sensitivity": "exact", "domain": "unit_box", "fairness": "absolute", "fairness_weight": Fraction(3, 2)},
    ),
    "adfc, exact on the box": ("adfc", EQUAL, {"sensitivity": "exact", "domain": "unit_box", "basis": "matrix"}),
    "relaxed_functional, exact, one record more": (
        "relaxed_functional",
        None,
        {"sensitivity": "exact", "domain": "unit_box", "adjacency": "add_or_remove_one"},
    ),
}


def hardened(cases: dict[str, Any]) -> dict[str, Any]:
    return {
        f"{case}, hardened": (name, budget, {**readings, "noise": "hardened"})
        for case, (name, budget, readings) in cases.items()
    }


def until_the_comparison(found: Covered) -> str:
    """Return a certificate as far as Coq reads it: a sigma is compared in front of the theorem."""
    text = certificate_text(found)
    return text if found.is_laplace else text.partition(f"Theorem {THEOREM}")[0]


# --- Coq ------------------------------------------------------------------------------------------------------


SOME = {**CASES, **hardened({case: CASES[case] for case in HARDENED})}
FEW = dict(list(SOME.items())[::4])


def accepted(library: Path, texts: dict[str, str]) -> list[str]:
    """Return the names of the texts that Coq accepts; the others fail by a comparison."""
    errors = first_errors(library, texts)
    # a comparison that fails, and not a file that is not Coq
    assert [e for e in errors.values() if e and not any(words in e for words in REJECTIONS)] == []
    return [name for name, error in errors.items() if not error]


@pytest.mark.coq
@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize(
    "cases",
    [
        FEW,
        *exhaustively({name: case for name, case in SOME.items() if name not in FEW}),
        pytest.param({**MORE_CASES, **hardened({**CASES, **MORE_CASES})}, marks=pytest.mark.lengthy),
    ],
    ids=["few", "some", "more"],
)
def test_certificate_is_accepted_and_a_slightly_lower_scale_is_not(library, affairs, cases):
    right, wrong = {}, {}
    for case, (name, budget, readings) in cases.items():
        release = exported(document(affairs, name, budget, **readings))
        whole = covered(release)
        right[case] = certificate_text(whole)
        assert list(refused(right[case])) == []
        for number, factors in enumerate(slightly_lower(whole)):
            found = covered(with_scales(release, *factors))
            assert [comparison.holds for comparison in found.comparisons].count(False) == 1
            wrong[f"{case}, lowered {number}"] = until_the_comparison(found)
    assert accepted(library, right | wrong) == list(right)


@pytest.mark.coq
@pytest.mark.timeout(SECONDS)
def test_statement_with_a_changed_epsilon_or_dimension_is_rejected(library, affairs):
    right, wrong = {}, {}
    for name in ("functional", "pdfc", "adfc"):
        text = right[name] = certificate_text(certified(affairs, name))
        assert " 7 (unit_ball 7)" in text
        epsilon = "Definition epsilon : Q := 1 # 1."
        assert epsilon in text
        wrong[f"{name}, epsilon"] = text.replace(epsilon, "Definition epsilon : Q := 3 # 4.")
        wrong[f"{name}, dimension"] = text.replace(" 7", " 8").replace("unit_ball 7", "unit_ball 8")
    assert accepted(library, right | wrong) == list(right)


@pytest.mark.coq
@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize(
    "case",
    [
        "functional",
        *exhaustively("functional, hardened", "relaxed_functional, tiny delta, hardened"),
        *exhaustively("pdfc, exact, two epsilons", "adfc, two deltas"),
    ],
)
def test_check_finds_what_is_committed_beside_the_names_of_a_certificate(built, affairs, tmp_path, case):
    """With the files that the certificate needs and no others, as the command compiles them."""
    name, budget, readings = SOME[case]
    text, folder = certificate_text(certified(affairs, name, budget, **readings)), tmp_path / "coq"
    copy_compiled(built, folder, needed_sources(folder, text))
    found = check(text, library=folder)
    assert found.accepted is True, found.detail


@pytest.mark.coq
@pytest.mark.timeout(SECONDS)
def test_check_does_not_believe_a_file_that_adds_an_axiom(library, affairs):
    """What it says of a file that adds none is in commands/test_certify.py."""
    text = certificate_text(certified(affairs, "pdfc"))
    forged = check(text + "\nAxiom cheat : False.\n", library=library)
    assert forged.accepted is None
    assert "cheat" in forged.detail


@pytest.mark.coq
@pytest.mark.timeout(SECONDS)
def test_check_stops_at_its_time_limit(library, affairs):
    found = check(certificate_text(certified(affairs, "pdfc")), library=library, seconds=0.1)
    assert found == CoqFinding(None, "Certificate.v: Coq was stopped at the time limit")


@pytest.mark.coq
@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("delta", ["0", *exhaustively("1e-6")])
def test_scale_is_above_its_formula_and_the_next_float_below_is_not(library, delta):
    name = "relaxed_functional" if delta != "0" else "functional"
    spec, budget = MECHANISMS[name], Budget("1/3", delta)
    domain = scales.domain_of(scales.Setting(7))
    scale = Fraction(spec.noise(domain, budget, spec.readings, 0).scale_n)
    arguments = ("none", 7, budget.epsilon, budget.delta)
    tried = {"right": scale, "the float below": Fraction(math.nextafter(float(scale), 0.0))}
    texts = {case: scales.HEADER + scales.scale_lemma(*arguments, tried[case], name) for case in tried}
    assert accepted(library, texts) == ["right"]


# --- The comparisons in Python, and what Coq's answer then means ----------------------------------------------


@given(
    st.integers(1, 60),
    st.fractions(Fraction(1, 1000), 50),
    st.sampled_from(["0.79", "0.5", "1e-3", "1e-30", "1e-400"]),
)
def test_sigma_bounds_are_above_the_formula_and_reach_the_float(d, epsilon, written):
    squared, delta = Fraction(d * d, 16) + 9 * d, Fraction(written)
    sigma = Fraction(extended_gaussian_sigma(squared, epsilon, delta))
    bounds = sigma_bounds(squared, epsilon, delta, sigma)
    assert bounds.formula(epsilon) <= sigma
    assert sigma_bounds(squared, epsilon, delta, sigma * LOWERED).formula(epsilon) > sigma * LOWERED
    assert bounds.root**2 >= bounds.logarithm
    assert bounds.root_after**2 >= bounds.logarithm + epsilon
    assert bounds.factor**2 >= squared / 2
    with mpmath.workdps(80):
        exact = mpmath.log(mpmath.sqrt(2 / mpmath.pi) * delta.denominator / delta.numerator)
        logarithm = mpmath.mpf(bounds.logarithm.numerator) / bounds.logarithm.denominator
        assert 0 < logarithm - exact < mpmath.mpf(2) ** -70


@pytest.mark.parametrize(
    ("accepted", "lowered", "outcome"),
    [
        (True, False, "certified"),
        (False, True, "rejected"),
        (None, False, "undecided"),
        (True, True, "undecided"),
        (False, False, "undecided"),
    ],
)
def test_a_rejection_counts_only_where_a_comparison_fails(affairs, accepted, lowered, outcome):
    release = exported(document(affairs, "functional"))
    if lowered:
        release = with_scales(release, LOWERED, LOWERED)
    found, detail = judged(covered(release), CoqFinding(accepted, "as Coq says"))
    assert found == outcome
    assert outcome != "rejected" or "9.09495e-13 of it below Delta_1 / epsilon = 19.25" in detail


def test_another_definition_or_axiom_is_an_objection():
    from audit.proofs.releases.check import _objections

    known = committed()["definitions"]
    digest = known["Definitions.differentially_private"]

    def objections(axioms: tuple[str, ...], digest: str) -> list[str]:
        theorem = Theorem("", ("Definitions.differentially_private",), axioms)
        words = {"Definitions.differentially_private": digest, "Certificate.epsilon": "anything"}
        return list(_objections(Answers("8.16.1", {"release_is_private": theorem}, words)))

    assert objections((), digest) == []
    assert objections((), "0") == [
        "Definitions.differentially_private is not defined as committed in audit/proofs/digests.json"
    ]
    assert objections(("Certificate.cheat",), digest) == ["release_is_private assumes Certificate.cheat"]
    assert list(_objections(Answers("8.16.1", {}, {}))) == ["release_is_private is not there"]
    recursive = Answers("8.16.1", {}, {}, recursions={"Certificate.f": "0", **listed()})
    assert list(_objections(recursive)) == [
        "Certificate.f: a recursive function that audit/proofs/recursions.json does not list",
        "release_is_private is not there",
    ]


def test_renewed_digests_that_no_page_vouches_for_certify_nothing(affairs, monkeypatch):
    from audit.proofs.releases.check import _objections

    honest, word = committed(), "Definitions.differentially_private"
    text = certificate_text(certified(affairs, "pdfc"))

    def renewed(name: str) -> None:
        stored = honest | {"definitions": honest["definitions"] | {name: "0"}}
        monkeypatch.setattr("audit.proofs.releases.check.committed", lambda: stored)

    renewed(word)
    found = check(text)
    assert found.accepted is None
    assert re.match(r"the pages disagree with the digests: \w+\.md, \w+: fingerprint is ", found.detail)
    # a definition that no theorem mentions is in no fingerprint
    renewed("Certificates.forged")
    theorem = Theorem("", ("Certificates.forged",), ())
    answers = Answers("8.16.1", {"release_is_private": theorem}, {"Certificates.forged": "0"})
    assert list(_objections(answers)) == [
        "Certificates.forged is not defined as committed in audit/proofs/digests.json"
    ]


def test_scales_file_is_as_generated_and_has_every_mechanism():
    text = (PROJECT / scales.FILE).read_text(encoding="utf-8")
    assert text == scales.text()
    lemmas = scales.lemmas()
    for name in ("functional", "relaxed_functional", "pdfc", "adfc"):
        assert sum(lemma.startswith(f"(** {name}") for lemma in lemmas) >= 15, name


def test_every_lemma_of_a_certificate_is_in_the_development():
    for lemma in EXTRA_PREMISES:
        assert any(f"Lemma {lemma} " in path.read_text(encoding="utf-8") for path in PROJECT.glob("*.v")), lemma


# --- What is certified ----------------------------------------------------------------------------------------


def test_equal_budgets_need_no_published_statement(affairs):
    found = certified(affairs, "pdfc", sensitivity="exact", domain="unit_box")
    assert not found.exported.is_published
    assert (found.exported.epsilon, found.theorem, found.claims) == (1, "laplace_certificate", ("T1", "L2.exact"))


@pytest.mark.parametrize(
    ("name", "budget", "readings", "theorem", "epsilon", "claim"),
    [
        ("adfc", "1/2 1", {}, "adfc_split_certificate", "13/14", "T5.regime"),
        ("adfc", "3 1", {"adjacency": "add_or_remove_one"}, None, None, None),
        ("adfc", "1/2 1", {"adjacency": "add_or_remove_one"}, "adfc_split_certificate", "13/14", "T5.regime"),
        ("adfc", "1/2 1", {"fairness": "none"}, "adfc_split_certificate", "13/14", "T5.regime"),
        ("adfc", "3 1", {"sensitivity": "exact"}, "adfc_certificate", "3", "T2"),
        ("pdfc", "1/7 3", {"sensitivity": "exact"}, "pdfc_exact_certificate", "127/49", "T3.exact"),
        ("pdfc", "3 1/7", {"sensitivity": "exact"}, "laplace_certificate", "3", "T1"),
    ],
)
@pytest.mark.filterwarnings("ignore::reference.accounting.PublishedStatementWarning")
def test_two_epsilons_are_certified_where_a_theorem_carries_them(
    affairs, name, budget, readings, theorem, epsilon, claim
):
    deltas = ("1e-3", "1e-3") if name == "adfc" else ()
    domain = {} if name == "adfc" else {"domain": "unit_box"}
    release = exported(document(affairs, name, SplitBudget(*budget.split(), *deltas), **readings, **domain))
    if theorem is None:
        with pytest.raises(NoTheoremError, match="Theorem 5"):
            covered(release)
        return
    found = covered(release)
    assert (found.theorem, found.epsilon, found.claims[0]) == (theorem, Fraction(epsilon), claim)
    assert all(comparison.holds for comparison in found.comparisons)


@pytest.mark.parametrize(
    ("name", "budget", "readings", "reason"),
    [
        ("adfc", SplitBudget("4", "1", "1e-3", "1e-3"), {}, r"from 0 to 3\.7886, .* Theorem 5 is false"),
        (
            "adfc",
            SplitBudget("1/1000", "1", "1e-3", "1e-3"),
            {"domain": "unit_box"},
            r"from 0\.421958 to 1\.69239, .* Theorem 5 is false",
        ),
        ("adfc", SplitBudget("1/2", "1", "1e-3", "1e-3"), {"domain": "unit_box"}, "This one is not outside"),
        ("pflr", None, {}, "PFLR"),
        ("pflr", None, {"noise": "hardened"}, "PFLR"),
        ("adfc", SplitBudget("4", "1", "1e-3", "1e-3"), {"noise": "hardened"}, r"Theorem 5 is false"),
        ("relaxed_functional", Budget("1", "0.6"), {"noise": "hardened"}, "delta up to 1/2"),
        ("relaxed_functional", None, {"domain": "symmetric_ball"}, "symmetric_ball"),
        ("pdfc", None, {"fairness": "separate", "sensitivity": 5}, "none, absolute and covariance"),
        ("functional", None, {"sensitivity": 1000}, "a number of the caller's own"),
        ("functional", None, {"sensitivity": "exact"}, "exact l1-sensitivity on the unit_ball"),
        (
            "relaxed_functional",
            None,
            {"sensitivity": "exact", "adjacency": "add_or_remove_one"},
            "exact l2-sensitivity on the unit_ball",
        ),
        ("pdfc", None, {"fairness_weight": "11/10"}, "alpha_1 up to 1 with `absolute`, not 1.1"),
        (
            "adfc",
            None,
            {"fairness": "covariance", "fairness_weight": "21/10"},
            "alpha_1 up to 2 with `covariance`",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::reference.accounting.PublishedStatementWarning")
def test_what_no_theorem_covers_is_refused_with_the_reason(affairs, name, budget, readings, reason):
    readings = dict(readings)
    if readings.get("domain") == "symmetric_ball":
        made = document(affairs, name)
        made["readings"]["domain"] = "symmetric_ball"
    else:
        made = document(affairs, name, budget, **readings)
    with pytest.raises(NoTheoremError, match=reason):
        covered(exported(made))


def test_coarser_grid_needs_more_laplace_noise_and_stops_gaussian(affairs):
    laplace, gaussian = (
        exported(document(affairs, name, noise="hardened")) for name in ("functional", "relaxed_functional")
    )
    assert covered(laplace).reached
    assert not covered(replace(laplace, steps=2**31)).reached
    assert covered(gaussian).reached
    with pytest.raises(NoTheoremError, match="wide against the grid"):
        covered(replace(gaussian, steps=2**6))


def test_no_name_of_the_release_reaches_the_certificate(affairs):
    made = document(affairs, "pdfc")
    cheat = "*) Axiom cheat : False. (*"
    made["x_s"] = made["columns"][2] = cheat
    text = certificate_text(covered(exported(made)))
    assert "cheat" not in text
    assert "two_scales 2 " in text
