"""The machine-checked proofs: a clean build, statements and axioms as committed, wrong constants rejected."""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from inspect import getsource

import pytest

from audit.claims import ledger, registry
from audit.claims.digest import source_of
from audit.commands.claims_text import explain
from audit.gate.proofs.sessions import first_errors
from audit.proofs import claims, constants, pages, scales, status
from audit.proofs.assumptions import LEVELS
from audit.proofs.build import ask
from audit.proofs.check import allowed, committed, differences
from audit.proofs.kernel import recheck
from audit.proofs.mutants import MUTANTS, OTHER_FAILURES, text_of
from audit.proofs.releases.exported import exported
from audit.proofs.releases.text import certificate_text
from audit.proofs.releases.theorem import covered
from audit.proofs.sources import PROJECT, sentences, source_problems, theorems
from reference import datasets
from reference.budgets import Budget
from reference.common.documents import plain
from reference.domain import Domain
from reference.moments import Moments
from reference.noise import ENTROPY
from reference.registry import MECHANISMS

LONGEST_LINE = 110
LONGEST_PROOF = 70
"""Lines from the word Proof to Qed."""
BUILD_SECONDS = 1800
"""Limit for the clean build and the questions: two minutes of processor time, on a machine that may be busy."""


# --- The gate ---------------------------------------------------------------------------------------------------


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
def test_clean_build_proves_what_is_committed(built):
    assert list(differences(ask(built, allowed=allowed(committed())), committed())) == []


FEW = MUTANTS[::4]
"""Mutants whose theorems are given once more with the right constant; `make soak` gives every one."""


@pytest.fixture(scope="module")
def errors_of_mutants(built):
    """Return the first error in each theorem with a wrong constant, and in a few with the right one."""
    texts = {mutant.theorem: text_of(built, mutant, mutated=True) for mutant in MUTANTS}
    texts |= {f"right, {mutant.theorem}": text_of(built, mutant, mutated=False) for mutant in FEW}
    return first_errors(built, texts)


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.theorem)
def test_wrong_constant_is_rejected(errors_of_mutants, mutant):
    error = errors_of_mutants[mutant.theorem]
    assert error
    assert not any(words in error for words in OTHER_FAILURES)


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
def test_right_constants_are_not_rejected(errors_of_mutants):
    assert [mutant.theorem for mutant in FEW if errors_of_mutants[f"right, {mutant.theorem}"]] == []


@pytest.mark.coq
@pytest.mark.lengthy
@pytest.mark.timeout(BUILD_SECONDS)
def test_no_right_constant_is_rejected(built):
    texts = {mutant.theorem: text_of(built, mutant, mutated=False) for mutant in MUTANTS}
    assert first_errors(built, texts) == dict.fromkeys(texts, "")


@pytest.mark.coq
@pytest.mark.lengthy
@pytest.mark.timeout(BUILD_SECONDS)
def test_compiled_proofs_are_accepted_by_the_separate_checker(built):
    assert list(recheck(built)) == []


def test_sources_assume_nothing_and_are_all_compiled():
    assert source_problems(PROJECT) == []


def test_committed_digests_are_of_the_stated_theorems():
    stated = theorems((PROJECT / "Statements.v").read_text(encoding="utf-8"))
    assert stated == list(committed()["theorems"])
    assert len(stated) > 40


def test_theorems_have_levels_and_their_definitions_digests():
    stored = committed()
    for name, row in stored["theorems"].items():
        assert row["level"] in LEVELS, name
        assert set(row["mentions"]) <= set(stored["definitions"]), name


def test_assumptions_file_asks_about_every_theorem():
    asked = sentences((PROJECT / "Assumptions.v").read_text(encoding="utf-8"))[1:]
    questions = ("Check", "Print Assumptions")
    assert asked == [f"{question} {name}" for name in committed()["theorems"] for question in questions]


def test_no_statement_stands_word_for_word_in_two_files():
    texts = {
        name: re.findall(r"^(?:Theorem|Lemma) [\w']+ ?(.*)", "\n".join(sentences(text)), re.MULTILINE)
        for name, text in ((path.name, path.read_text(encoding="utf-8")) for path in sorted(PROJECT.glob("*.v")))
    }
    stated = set(texts.pop("Statements.v"))
    assert len(stated) > 60
    assert {name: stated & set(found) for name, found in texts.items() if stated & set(found)} == {}


def test_mutants_change_a_constant_that_occurs():
    for mutant in MUTANTS:
        assert text_of(PROJECT, mutant, mutated=True) != text_of(PROJECT, mutant, mutated=False), mutant.theorem


def test_every_file_and_theorem_of_the_mutants_is_a_different_one():
    assert len({(mutant.file, mutant.theorem) for mutant in MUTANTS}) == len(MUTANTS) >= 8


# --- Constants of the Python code -------------------------------------------------------------------------------

EXACT = (
    "box_l1_absolute_monomial_13_100",
    "box_l2_covariance_matrix_4_100",
    "ball_l2_separate_monomial_48_100",
    "published_fair_l2_squared_48",
    "box_l1_absolute_monomial_5_100_weight_3_2",
    "box_l2_covariance_monomial_4_100_add_one",
    "ball_l2_absolute_matrix_48_100_add_one",
)


def test_constants_file_is_as_generated():
    assert (PROJECT / constants.FILE).read_text(encoding="utf-8") == constants.text()


def numbered(name: str, *, change: str) -> str:
    """Return a file with one lemma, its number changed."""
    (lemma,) = (lemma for lemma in constants.lemmas() if f"Lemma {name} " in lemma)
    statement, proof = lemma.split(".\nProof")
    stem, number = re.split(r"(?<==) |(?<=\)) (?=\([0-9/ ]+\)$)", statement)
    return f"{constants.HEADER}\n{stem} ({number}{change}).\nProof{proof}"


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
def test_number_that_is_off_by_a_billionth_is_rejected(built):
    changes = {"": "", "+": " + 1 / 1000000000", "-": " - 1 / 1000000000"}
    texts = {f"{name} {sign}": numbered(name, change=change) for name in EXACT for sign, change in changes.items()}
    for name, error in first_errors(built, texts).items():
        assert ("Cannot find witness" in error) if name[-1] in "+-" else not error, name


# --- Releases on the paper's domain -----------------------------------------------------------------------------


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
def test_release_with_exact_sensitivity_is_certified_on_one_domain_only(built):
    spec, budget = MECHANISMS["relaxed_functional"], Budget("1", "1e-3")
    # rows of the whole ball are declared
    affairs = datasets.load("affairs")
    records = replace(affairs, domain=Domain.of_columns(affairs.domain.columns))
    texts = {}
    for fairness in ("none", "absolute", "covariance"):
        readings = spec.readings.with_(fairness=fairness, sensitivity="exact", fairness_weight="1/2")
        release = spec.function(Moments.of(records), budget, readings, rng=ENTROPY)
        text = certificate_text(covered(exported(json.loads(json.dumps(plain(release))))))
        texts[f"{fairness} ball"], texts[f"{fairness} box"] = text, text.replace("unit_ball", "unit_box")
    for name, error in first_errors(built, texts).items():
        assert ("unit_box" in error) if name.endswith("box") else not error, name


# --- Ties to claims and code ------------------------------------------------------------------------------------


def test_every_theorem_has_one_row_with_the_level_that_its_proof_has():
    levels = {name: row["level"] for name, row in committed()["theorems"].items()}
    assert {row.theorem: row.level for row in claims.rows()} == levels
    assert len(claims.rows()) == len(levels)


def test_rows_name_claims_of_the_ledger_and_code_that_exists():
    for row in claims.rows():
        assert set(row.claims) <= set(registry.claims()), row.theorem
        assert all(source_of(symbol) for symbol in row.symbols), row.theorem
        assert row.symbols or row.status == "support", row.theorem


SCOPE = (
    "reference.sensitivity.published",
    "reference.sensitivity.box",
    "reference.sensitivity.ball",
    "reference.sensitivity.ball_l1",
    "reference.noise.scales",
    "reference.accounting.statements",
    "reference.noise.profile",
    "audit.bounds.clopper_pearson",
)
"""Modules in which each public function has a theorem, or a reason for having none."""


def public_functions() -> Iterator[str]:
    for module in SCOPE:
        for node in ast.parse(getsource(import_module(module))).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield f"{module}.{node.name}"


def unspoken(named: set[str]) -> list[str]:
    return [name for name in public_functions() if name not in named]


def spoken() -> set[str]:
    return {symbol for row in claims.rows() for symbol in row.symbols} | set(claims.without_theorem())


def test_every_public_function_of_the_scope_has_a_theorem_or_a_reason():
    assert unspoken(spoken()) == []


def test_missing_row_of_a_public_function_is_found():
    name = "reference.noise.scales.laplace_scale"
    assert unspoken(spoken() - {name}) == [name]


def test_reasons_are_for_functions_of_the_scope_that_no_theorem_speaks_of():
    excused = set(claims.without_theorem())
    assert excused <= set(public_functions())
    assert not excused & {symbol for row in claims.rows() for symbol in row.symbols}


@pytest.mark.parametrize(("claimed", "says"), [((), "holds"), (("L1",), "support"), (("L1",), "true")])
def test_row_needs_a_status_and_a_claim(claimed, says):
    with pytest.raises(ValueError, match="a status"):
        claims.Carried("lemma_1", claimed, "Lemma 1", (), "reals", says, "everything")


def test_a_theorem_agrees_with_the_verdict_of_the_ledger():
    verdicts = {"holds": {"proved", "enclosed"}, "fails": {"refuted"}}
    for row in claims.rows():
        for name in row.claims:
            expected = verdicts.get(row.status)
            assert expected is None or registry.claims()[name].verdict in expected, (row.theorem, name)


COVERED_BY = {
    "add_or_remove_one": "both adjacencies",
    "both adjacencies": "both adjacencies",
    "unit_ball": "ball|any domain",
    "unit_box": "box|any domain",
    "absolute": "absolute|every fairness reading",
    "covariance": "covariance|every fairness reading",
    "all fairness readings": "every fairness reading",
    "with a penalty": "Lemma 4",
    "Lemma 3": "Lemma 3",
    "none with": "none",
}
"""Words of a row's readings, and the words of a theorem that covers them."""


def beyond(row: claims.Carried) -> list[str]:
    """Return the words in the readings of a theorem's claims that it does not cover, though it is no part."""
    if row.status not in ("holds", "fails"):
        return []
    readings = " ".join(reading for name in row.claims for reading in registry.claims()[name].readings)
    return [word for word, by in COVERED_BY.items() if word in readings and not re.search(by, row.covers)]


def test_theorem_that_does_not_cover_the_readings_of_its_row_is_a_part():
    known = {row.theorem: row for row in claims.rows()}
    wide = [row for row in known.values() if row.status in ("holds", "fails")]
    assert len(wide) > 10
    assert {row.theorem: found for row in wide if (found := beyond(row))} == {}
    for name, word in {
        "lemma_1": "add_or_remove_one",
        "theorem_3": "both adjacencies",
        "theorem_4": "with a penalty",
        "lemma_2_other_weights": "covariance",
        "theorem_3_at_exact_sensitivity": "unit_ball",
        "theorem_5_exact_accounting": "all fairness readings",
    }.items():
        assert known[name].status == "part", name
        assert word in beyond(replace(known[name], status="holds")), name


def test_a_row_says_what_each_theorem_covers():
    (found,) = (line for line in claims.covered("L1") if line.startswith("lemma_1 "))
    assert found.startswith("lemma_1 (part): ")
    assert "replacing one record" in found
    assert [line.partition(": ")[0] for line in claims.covered("T3")] == claims.machine_proof("T3").split(", ")
    assert claims.machine_proof("T3").startswith("release_pdfc, ")
    assert claims.machine_proof("L1").startswith("lemma_1 (part), ")
    assert claims.machine_proof("L1").endswith(", box_l1_add_one (value)")
    assert claims.covered("E.wins") == []
    (row,) = ledger.run(["L1"])
    text = " ".join(explain(row).split())
    assert all(f"in Coq: {line}" in text for line in claims.covered("L1"))


def test_ledger_names_the_theorems_and_needs_no_coq_for_its_verdicts():
    for name, row in ledger.committed().items():
        assert row["machine_proof"] == claims.machine_proof(name), name
        assert "coq" not in row["needs"], name
    assert claims.machine_proof("T5").startswith("theorem_5_violated, theorem_5_is_false, ")
    assert claims.machine_proof("E.wins") is None


def test_every_theorem_has_an_entry_on_a_page_that_agrees():
    assert list(pages.problems(claims.rows(), committed())) == []


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("`theorem_1`, ", "`theorem_0`, ", "laplace.md, theorem_0: no such theorem"),
        ("`theorem_1`, ", "`theorem_0`, ", "theorem_1: 0 entries on the pages of proofs/, not one"),
        ("`theorem_1`, ", "`theorem_2`, ", "theorem_2: 2 entries on the pages of proofs/, not one"),
        ("*T1; ", "*T2; ", "laplace.md, theorem_1_density_ratio: claims is T2, not T1"),
        ("; Theorem 1; ", "; Theorem 2; ", "laplace.md, theorem_1: source is Theorem 2, not Theorem 1"),
        ("Theorem 1; `", "Theorem 1; `0", "laplace.md, theorem_1: fingerprint is `0"),
        ("*T1; Theorem 1; ", "", "laplace.md, theorem_1: claims is None, not T1"),
        ("`theorem_1`, ", "", "laplace.md, theorem_1_in_law: fingerprint is"),
        ("**Does not say.**", "", "laplace.md, theorem_1: Does not say is missing"),
        ("#what-the-theorems-do-not-say", "#words", "laplace.md: the link to the limits is missing"),
    ],
)
def test_page_that_disagrees_is_found(tmp_path, old, new, found):
    copy_pages(tmp_path, old, new, only="laplace.md")
    assert found in "\n".join(pages.problems(claims.rows(), committed(), tmp_path))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nothing here says that", "all this says that"),
        ("## What the theorems do not say", "## What the theorems leave open"),
    ],
)
def test_limits_that_every_page_links_to_are_missed(tmp_path, old, new):
    copy_pages(tmp_path, old, new, only="README.md")
    assert list(pages.problems(claims.rows(), committed(), tmp_path)) == ["coq/README.md: the limits are missing"]


def copy_pages(folder, old, new, only=None):
    """Copy the pages, with a text replaced in all of them, or in the one of this name."""
    for path in (*pages.FOLDER.glob("*.md"), pages.FOLDER / "coq" / "README.md"):
        text = path.read_text(encoding="utf-8")
        place = folder / path.relative_to(pages.FOLDER)
        place.parent.mkdir(exist_ok=True)
        place.write_text(text.replace(old, new) if only in {None, path.name} else text, encoding="utf-8")


def test_renewed_pages_agree_and_are_the_committed_ones(tmp_path):
    copy_pages(tmp_path, "*T1; Theorem 1; `", "*T2; Theorem 2; `0")
    assert list(pages.problems(claims.rows(), committed(), tmp_path))
    pages.renew(claims.rows(), committed(), tmp_path)
    for path in pages.FOLDER.glob("*.md"):
        assert (tmp_path / path.name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8"), path.name


@pytest.mark.parametrize("changed", ["statement", "definition"])
def test_fingerprint_changes_with_statement_and_definitions(changed):
    stored = copy.deepcopy(committed())
    before = pages.fingerprint("theorem_1", stored)
    if changed == "statement":
        stored["theorems"]["theorem_1"]["statement"] = "another"
    else:
        stored["definitions"]["Definitions.laplace_density"] = "another"
    assert pages.fingerprint("theorem_1", stored) != before


def test_row_that_names_a_theorem_with_another_statement_is_found():
    stored = copy.deepcopy(committed())
    theorems_of = stored["theorems"]
    theorems_of["lemma_1"], theorems_of["lemma_3"] = theorems_of["lemma_3"], theorems_of["lemma_1"]
    found = "\n".join(pages.problems(claims.rows(), stored))
    assert "sensitivities.md, lemma_1: fingerprint" in found
    assert "sensitivities.md, lemma_3: fingerprint" in found


def test_level_beyond_that_of_the_claims_is_found():
    stored = copy.deepcopy(committed())
    stored["theorems"]["lemma_1"]["level"] = "classical"
    (found,) = pages.problems(claims.rows(), stored)
    assert found == "lemma_1: its level is classical in the digests, and reals in claims.json"


def test_lines_of_the_proofs_fit_a_screen():
    # the generated scales have numbers of hundreds of digits
    for path in set(PROJECT.glob("*.v")) - {PROJECT / scales.FILE}:
        for place, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            assert len(line) <= LONGEST_LINE, f"{path.name}:{place}"


def test_proofs_do_not_grow_beyond_the_longest():
    for path in PROJECT.glob("*.v"):
        for proof in re.findall(
            r"^Proof\.$.*?\bQed\.", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            assert proof.count("\n") < LONGEST_PROOF, f"{path.name}: {proof[:100]}"


def test_status_page_is_as_generated():
    assert status.path().read_text(encoding="utf-8") == status.page()
