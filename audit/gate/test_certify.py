"""Certificates of releases: what is certified, what Coq rejects, and what no theorem covers."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.certify import __main__ as program
from audit.certify.check import Finding, check, needed_sources
from audit.certify.errors import NoTheoremError
from audit.certify.exported import Exported, exported, read_exported
from audit.certify.text import EXTRA_PREMISES, certificate_text
from audit.certify.theorem import Covered, covered
from audit.proofs import scales
from audit.proofs.build import Answers, ProofError, Theorem, compile_file, missing
from audit.proofs.check import committed
from audit.proofs.sigma import sigma_bounds
from audit.proofs.sources import PROJECT
from reference import datasets
from reference.__main__ import main as reference
from reference.budgets import Budget, SplitBudget
from reference.errors import InputError, ReleaseFileError
from reference.noise import extended_gaussian_sigma
from reference.options import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED, EXIT_USAGE
from reference.records import Records
from reference.registry import MECHANISMS
from tests.conftest import require_or_skip

SECONDS = 1800
"""Limit for compiling what certificates need: 20 s of processor time, on a machine that may be busy."""

LOWERED = 1 - Fraction(1, 2**40)

REJECTIONS = (
    "Cannot find witness",
    "No applicable tactic",
    "Unable to unify",
    "while it is expected to have type",
)
"""Coq's words for a comparison of numbers that fails."""

SPLIT = SplitBudget("3", "1/7")
EQUAL = SplitBudget("1/3", "1/3", "1e-3", "1e-5")


@pytest.fixture(scope="session")
def affairs() -> Records:
    return datasets.load("affairs")


def document(
    affairs: Records, name: str, budget: Budget | SplitBudget | None = None, **readings: Any
) -> dict[str, Any]:
    """Return a release of a mechanism on the embedded data, as its file has it."""
    spec = MECHANISMS[name]
    if budget is None and spec.private:
        delta = "1e-3" if spec.needs_delta else 0
        budget = SplitBudget.equal("1", delta) if spec.split_budget else Budget("1", delta)
    records = affairs
    if "domain" in readings:
        norm = readings.pop("domain")
        records = replace(affairs, x=affairs.x * 0.0, domain=affairs.domain.with_(norm=norm))
    release = spec.run(records, budget, spec.readings.with_(**readings))
    return dict(json.loads(json.dumps(release.to_json())))


def certified(affairs: Records, name: str, budget: Budget | SplitBudget | None = None, **readings: Any) -> Covered:
    return covered(exported(document(affairs, name, budget, **readings)))


def with_scales(release: Exported, factor_s: Fraction, factor_n: Fraction) -> Exported:
    return replace(release, scale_s=release.scale_s * factor_s, scale_n=release.scale_n * factor_n)


CASES = [
    pytest.param("functional", None, {}, id="functional"),
    pytest.param("relaxed_functional", Budget("1/2", "1e-400"), {}, id="relaxed_functional, tiny delta"),
    pytest.param("pdfc", SPLIT, {}, id="pdfc, two budgets"),
    pytest.param("adfc", EQUAL, {}, id="adfc, two deltas"),
    pytest.param(
        "pdfc",
        SPLIT,
        {"adjacency": "add_or_remove_one", "fairness": "covariance", "fairness_weight": 2, "basis": "matrix"},
        id="pdfc, one record more",
        marks=pytest.mark.exhaustive,
    ),
    pytest.param(
        "functional",
        None,
        {"sensitivity": "exact", "domain": "unit_box", "fairness": "absolute", "fairness_weight": Fraction(3, 2)},
        id="functional, exact on the box",
        marks=pytest.mark.exhaustive,
    ),
    pytest.param(
        "adfc",
        EQUAL,
        {"sensitivity": "exact", "domain": "unit_box", "basis": "matrix"},
        id="adfc, exact on the box",
        marks=pytest.mark.exhaustive,
    ),
    pytest.param(
        "relaxed_functional",
        None,
        {"sensitivity": "exact", "domain": "unit_box", "adjacency": "add_or_remove_one"},
        id="relaxed_functional, exact, one record more",
        marks=pytest.mark.exhaustive,
    ),
    pytest.param("adfc", SplitBudget("3", "1", "1e-3", "1e-5"), {}, id="adfc, two epsilons on the ball"),
    pytest.param(
        "adfc",
        SplitBudget("1/1000", "1", "1e-3", "1e-3"),
        {"domain": "unit_box", "fairness": "covariance"},
        id="adfc, two epsilons on the box",
    ),
    pytest.param(
        "pdfc",
        SplitBudget("1/7", "3"),
        {"sensitivity": "exact", "domain": "unit_box", "adjacency": "add_or_remove_one"},
        id="pdfc, exact, two epsilons",
    ),
]


# --- Coq ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def library(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a compiled copy of what certificates need."""
    folder = tmp_path_factory.mktemp("certificates") / "coq"
    modules = "Definitions BoxSensitivity Certificates SplitCertificates SigmaBound BallCertificate"
    for name in needed_sources(folder, f"From CFM Require Import {modules}."):
        for suffix in (".vo", ".glob"):
            shutil.copy((built / name).with_suffix(suffix), folder)
    return folder


def accepts(library: Path, text: str) -> bool:
    (library / "Tried.v").write_text(text, encoding="utf-8")
    try:
        compile_file(library, "Tried.v")
    except ProofError as problem:
        said = " ".join(str(problem).split())
    else:
        return True
    # a comparison that fails, and not a file that is no Coq
    assert any(words in said for words in REJECTIONS), said
    return False


@pytest.mark.coq
@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize(("name", "budget", "readings"), CASES)
def test_certificate_is_accepted_and_a_scale_lowered_by_one_part_in_2_to_the_40_is_not(
    library, affairs, name, budget, readings
):
    release = exported(document(affairs, name, budget, **readings))
    assert accepts(library, certificate_text(covered(release)))
    lowered = [(LOWERED, Fraction(1)), (Fraction(1), LOWERED)]
    for factors in lowered if release.spec.split_budget else [(LOWERED, LOWERED)]:
        found = covered(with_scales(release, *factors))
        assert [comparison.holds for comparison in found.comparisons].count(False) == 1
        assert not accepts(library, certificate_text(found))


@pytest.mark.coq
@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("name", ["functional", "pdfc", "adfc"])
def test_statement_with_a_changed_epsilon_or_dimension_is_rejected(library, affairs, name):
    text = certificate_text(certified(affairs, name))
    assert accepts(library, text)
    assert " 7 (unit_ball 7)" in text
    assert not accepts(
        library, text.replace("Definition epsilon : Q := 1 # 1.", "Definition epsilon : Q := 3 # 4.")
    )
    assert not accepts(library, text.replace(" 7", " 8").replace("unit_ball 7", "unit_ball 8"))


@pytest.mark.coq
@pytest.mark.timeout(SECONDS)
def test_check_names_the_axioms_and_does_not_believe_a_file_that_adds_one(library, affairs):
    text = certificate_text(certified(affairs, "pdfc"))
    found = check(text, library=library)
    assert found.accepted is True
    assert "sig_forall_dec" in found.detail
    forged = check(text + "\nAxiom cheat : False.\n", library=library)
    assert forged.accepted is None
    assert "cheat" in forged.detail


@pytest.mark.coq
@pytest.mark.timeout(SECONDS)
def test_check_stops_at_its_time_limit(library, affairs):
    found = check(certificate_text(certified(affairs, "pdfc")), library=library, seconds=0.1)
    assert found == Finding(None, "Certificate.v: Coq was stopped at the time limit")


@pytest.mark.coq
@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_scale_of_the_code_is_above_its_formula_and_the_next_float_below_is_not(library, delta):
    name = "relaxed_functional" if delta != "0" else "functional"
    spec, budget = MECHANISMS[name], Budget("1/3", delta)
    domain = scales.domain_of(scales.Setting(7))
    scale = Fraction(spec.noise(domain, budget, spec.readings, 0).scale_n)
    arguments = ("none", 7, budget.epsilon, budget.delta)
    assert accepts(library, scales.HEADER + scales.scale_lemma(*arguments, scale, name))
    for lowered in (scale * LOWERED, Fraction(math.nextafter(float(scale), 0.0))):
        assert not accepts(library, scales.HEADER + scales.scale_lemma(*arguments, lowered, name))


@pytest.mark.coq
@pytest.mark.exhaustive
@pytest.mark.timeout(SECONDS)
def test_newcomer_certifies_a_release_of_the_embedded_data(tmp_path, capsys):
    reason = missing()
    require_or_skip(reason is None, str(reason))
    file = tmp_path / "release.json"
    assert reference(["fit", "--test-share", "0", "--release", str(file), "--quiet"]) == EXIT_FINE
    capsys.readouterr()
    assert program.main([str(file)]) == EXIT_FINE
    assert "CERTIFIED" in capsys.readouterr().out
    altered = json.loads(file.read_text())
    altered["noise"]["scale_s"] *= float(LOWERED)
    file.write_text(json.dumps(altered))
    assert program.main([str(file)]) == EXIT_REFUTED
    assert "REJECTED" in capsys.readouterr().out


# --- The comparisons in Python, and what Coq's answer then means ----------------------------------------------


@given(
    st.integers(1, 60),
    st.fractions(Fraction(1, 1000), 50),
    st.sampled_from(["0.79", "0.5", "1e-3", "1e-30", "1e-400"]),
)
def test_sigma_bounds_are_above_the_formula_and_reach_the_float_of_the_code(d, epsilon, written):
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
    found, detail = program.judged(covered(release), Finding(accepted, "as Coq says"))
    assert found == outcome
    assert outcome != "rejected" or "9.09495e-13 of it below Delta_1 / epsilon = 19.25" in detail


def test_another_definition_or_axiom_is_an_objection():
    from audit.certify.check import _objections

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
        ("functional", None, {"noise": "hardened"}, "discrete"),
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
    if readings.get("noise") == "hardened":
        made = document(affairs, name)
        made["readings"]["noise"], made["noise"]["steps"] = "hardened", 1024
    elif readings.get("domain") == "symmetric_ball":
        made = document(affairs, name)
        made["readings"]["domain"] = "symmetric_ball"
    else:
        made = document(affairs, name, budget, **readings)
    with pytest.raises(NoTheoremError, match=reason):
        covered(exported(made))


def test_no_name_of_the_release_reaches_the_certificate(affairs):
    made = document(affairs, "pdfc")
    cheat = "*) Axiom cheat : False. (*"
    made["x_s"] = made["columns"][2] = cheat
    text = certificate_text(covered(exported(made)))
    assert "cheat" not in text
    assert "two_scales 2 " in text


def test_seeded_release_says_so_in_the_certificate(affairs, tmp_path, monkeypatch, capsys):
    made = {**document(affairs, "functional"), "seeded": True}
    assert "seeded" in certificate_text(covered(exported(made)))
    monkeypatch.setattr("audit.proofs.build.shutil.which", lambda _: None)
    file = tmp_path / "release.json"
    file.write_text(json.dumps(made))
    program.main([str(file)])
    assert "note: the release is seeded" in capsys.readouterr().out


# --- The command ----------------------------------------------------------------------------------------------


def written(folder: Path, made: Any) -> str:
    file = folder / "release.json"
    file.write_text(json.dumps(made), encoding="utf-8")
    return str(file)


@pytest.fixture
def without_coq(monkeypatch):
    monkeypatch.setattr("audit.proofs.build.shutil.which", lambda _: None)


@pytest.mark.usefixtures("without_coq")
def test_without_coq_the_certificate_is_written_and_not_checked(affairs, tmp_path, capsys):
    file = written(tmp_path, document(affairs, "adfc"))
    proof = tmp_path / "certificate.v"
    assert program.main([file, "--proof", str(proof)]) == EXIT_UNDECIDED
    out = capsys.readouterr().out
    assert "NOT CHECKED" in out
    assert "PROOFS NOT CHECKED" in out
    assert proof.read_text(encoding="utf-8") == certificate_text(covered(read_exported(file)))


@pytest.mark.usefixtures("without_coq")
@pytest.mark.parametrize("name", ["pdfc", "pflr"])
def test_json_is_as_its_schema_says(affairs, tmp_path, capsys, name):
    schema = json.loads(
        (Path(program.__file__).parents[1] / "schemas" / program.SCHEMA).read_text(encoding="utf-8")
    )
    jsonschema.Draft202012Validator.check_schema(schema)
    made = document(affairs, name) if name == "pdfc" else {**document(affairs, "functional"), "mechanism": "pflr"}
    file = written(tmp_path, made)
    assert program.main([file, "--format", "json"]) == EXIT_UNDECIDED
    printed = json.loads(capsys.readouterr().out)
    jsonschema.validate(printed, schema)
    assert printed["outcome"] == ("not checked" if name == "pdfc" else "no theorem")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**printed, "outcome": "true"}, schema)


@pytest.mark.usefixtures("without_coq")
def test_one_of_several_releases_is_chosen(affairs, tmp_path, capsys):
    functional, pdfc = document(affairs, "functional"), document(affairs, "pdfc", SPLIT)
    file = written(tmp_path, [{"releases": [functional]}, {"releases": [pdfc, document(affairs, "pdfc")]}])
    assert program.main([file]) == EXIT_USAGE
    assert "has 3 releases that fit (functional, pdfc, pdfc)" in capsys.readouterr().err
    assert program.main([file, "--mechanism", "functional"]) == EXIT_UNDECIDED
    assert program.main([file, "--mechanism", "pdfc", "--number", "1"]) == EXIT_UNDECIDED
    assert "scale_s: 11.083" in capsys.readouterr().out
    for wrong in (["--number", "4"], ["--mechanism", "pdfc", "--number", "0"], ["--mechanism", "adfc"]):
        assert program.main([file, *wrong]) == EXIT_USAGE


def test_release_with_its_domain_is_read(tmp_path):
    file = tmp_path / "release.json"
    reference(["fit", "--mechanism", "functional", "--release", str(file), "--quiet"])
    assert read_exported(file).setting.dimension == 7
    made = json.loads(file.read_text())
    fewer = {**made, "columns": made["columns"][:6], "readings": {**made["readings"], "dimension": 6}}
    with pytest.raises(ReleaseFileError, match="columns"):
        read_exported(written(tmp_path, fewer))
    other = {**made, "domain": {**made["domain"], "norm": "symmetric_ball"}}
    with pytest.raises(
        ReleaseFileError, match=r"domain\.norm must be unit_ball, the reading, not 'symmetric_ball'"
    ):
        read_exported(written(tmp_path, other))
    made["domain"]["attributes"][0]["from_data"] = True
    with pytest.raises(ReleaseFileError, match="read from the data"):
        read_exported(written(tmp_path, made))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "release_v2"}, "not a release_v1 document"),
        ({"mechanism": "repaired_pdfc"}, "mechanism must be one of lr"),
        ({"mechanism": "adfc"}, "noise.kind must be 'gaussian' for adfc"),
        ({"columns": ["a", "b"]}, "dimension must be 2, one for each column, not 7"),
        ({"noise": {"kind": "laplace", "scale_s": 33.25, "scale_n": -1.0}}, "scale_n must be a positive number"),
        ({"noise": {"kind": "laplace", "scale_s": 33.25, "scale_n": "33"}}, "scale_n must be a positive number"),
        ({"noise": {"kind": "gaussian", "scale_s": 33.25, "scale_n": 33.25}}, "noise.kind must be 'laplace'"),
        ({"noise": {"kind": "laplace"}}, "a field is missing or of another type: 'scale_s'"),
        ({"x_s": "height"}, "x_s must be one of rate_marriage"),
        ({"columns": ["a"] * 7, "x_s": "a"}, "columns must be different names"),
        ({"columns": [1, 2, 3, 4, 5, 6, 7]}, "columns must be different names"),
        ({"mechanism": ["pdfc"]}, "mechanism must be one of lr"),
        ({"seeded": None}, "seeded must be true or false, not None"),
        ({"seeded": "false"}, "seeded must be true or false, not 'false'"),
        (
            {"noise": {"kind": "laplace", "scale_s": 10**400, "scale_n": 10**400}},
            "scale_s must be a positive number that a float holds",
        ),
        (
            {"noise": {"kind": "laplace", "scale_s": 33.25, "scale_n": 33.25, "mean": 5.0}},
            "noise must be described by kind, scale_s, scale_n, steps, not 'mean'",
        ),
        (
            {"budget": {"epsilon_s": "2", "epsilon_n": "1"}},
            "states \\(1, 0\\) for replace_one, and its budget gives",
        ),
        ({"budget": {"epsilon": "1"}}, "a field is missing or of another type"),
        ({"readings": {"domain": "unit_ball"}}, "a field is missing or of another type: 'dimension'"),
    ],
)
def test_release_that_contradicts_itself_is_bad_input(affairs, tmp_path, change, message):
    file = written(tmp_path, {**document(affairs, "pdfc"), **change})
    with pytest.raises(ReleaseFileError, match=message):
        read_exported(file)
    assert program.main([file]) == EXIT_USAGE
    assert not list(tmp_path.glob("*.v"))


@pytest.mark.parametrize("scale", ["NaN", "Infinity", "-Infinity", "1e400", "-0.0", "0"])
def test_scale_that_is_no_positive_number_is_bad_input(affairs, tmp_path, scale):
    file = tmp_path / "release.json"
    file.write_text(json.dumps(document(affairs, "functional")).replace("19.25", scale))
    with pytest.raises(ReleaseFileError, match=r"is no JSON number|a positive number"):
        read_exported(file)


def test_smallest_float_is_a_scale_and_is_too_small(affairs):
    made = document(affairs, "functional")
    made["noise"] |= {"scale_s": 5e-324, "scale_n": 5e-324}
    (comparison,) = covered(exported(made)).comparisons
    assert comparison.scale == Fraction(1, 2**1074)
    assert not comparison.holds


def test_field_that_is_there_twice_is_bad_input(affairs, tmp_path):
    # a reader that takes the first of the two would see another scale than is certified
    text = json.dumps(document(affairs, "functional"))
    file = tmp_path / "release.json"
    file.write_text(text.replace('"scale_n":', '"scale_n": 1e-9, "scale_n":'))
    with pytest.raises(ReleaseFileError, match="'scale_n' is given twice"):
        read_exported(file)


def test_epsilon_beside_the_exact_one_is_the_same(affairs):
    made = document(affairs, "pdfc")
    made["privacy"]["published"]["epsilon"] = 0.1
    with pytest.raises(InputError, match=r"published\.epsilon must be 1\.0, as epsilon_exact, not 0\.1"):
        exported(made)


@pytest.mark.parametrize("name", ["epsilon_exact", "delta"])
def test_changed_statement_is_bad_input(affairs, name):
    made = document(affairs, "adfc")
    made["privacy"]["published"][name] = "0.0009"
    with pytest.raises(InputError, match=r"it states \("):
        exported(made)


def test_one_scale_is_one_number(affairs):
    made = document(affairs, "functional")
    made["noise"]["scale_s"] = 1.0
    with pytest.raises(InputError, match="as scale_n: functional has one scale"):
        exported(made)


def test_release_without_privacy_is_bad_input(affairs):
    with pytest.raises(InputError, match="states no privacy and has none"):
        exported(document(affairs, "no_privacy"))


@pytest.mark.parametrize("content", ["", "{}", "[]", "not JSON", '{"releases": []}', "[" * 100_000])
def test_file_that_is_no_release_is_bad_input(tmp_path, capsys, content):
    file = tmp_path / "release.json"
    file.write_text(content)
    assert program.main([str(file)]) == EXIT_USAGE
    assert capsys.readouterr().err.startswith("error: release file")


def test_bad_options_are_bad_input(affairs, tmp_path, capsys):
    file = written(tmp_path, document(affairs, "pdfc"))
    assert program.main([str(tmp_path / "absent.json")]) == EXIT_USAGE
    assert program.main([file, "--proof", file]) == EXIT_USAGE
    assert program.main([file, "--proof", str(tmp_path / "absent" / "a.v")]) == EXIT_USAGE
    for limit in ("0", "soon", "inf"):
        with pytest.raises(SystemExit):
            program.main([file, "--time-limit", limit])
    capsys.readouterr()
