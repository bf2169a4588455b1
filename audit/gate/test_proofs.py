"""The machine-checked proofs: a clean build, statements and axioms as committed, wrong constants rejected."""

from __future__ import annotations

import copy
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from audit.certify.exported import exported
from audit.certify.text import certificate_text
from audit.certify.theorem import covered
from audit.claims import ledger, registry
from audit.claims.digest import source_of
from audit.proofs import __main__ as program
from audit.proofs import claims, constants, pages, scales, status
from audit.proofs.assumptions import LEVELS, assumed
from audit.proofs.build import Answers, CoqStoppedError, ProofError, ask, build, compile_file, missing
from audit.proofs.check import allowed, committed, compiled, differences, document, level_of
from audit.proofs.kernel import believed, recheck
from audit.proofs.mutants import MUTANTS, rejected, text_of
from audit.proofs.sources import PROJECT, forbidden, sentences, source_problems, theorems
from reference import datasets
from reference.budgets import Budget
from reference.moments import Moments
from reference.options import EXIT_UNDECIDED
from reference.registry import MECHANISMS
from tests.conftest import require_or_skip

LONGEST_LINE = 110
BUILD_SECONDS = 1800
"""Limit for the clean build and the questions: two minutes of processor time, on a machine that may be busy."""


def require_coq() -> None:
    reason = missing()
    require_or_skip(reason is None, str(reason))


# --- The gate ---------------------------------------------------------------------------------------------------


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
def test_clean_build_proves_what_is_committed(built):
    assert list(differences(ask(built, allowed=allowed(committed())), committed())) == []


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.theorem)
def test_wrong_constant_is_rejected(built, mutant):
    assert rejected(built, mutant)


@pytest.mark.coq
@pytest.mark.exhaustive
@pytest.mark.timeout(BUILD_SECONDS)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.theorem)
def test_right_constant_is_not_rejected(built, mutant):
    assert not rejected(built, mutant, mutated=False)


@pytest.mark.coq
@pytest.mark.exhaustive
@pytest.mark.timeout(BUILD_SECONDS)
def test_compiled_proofs_are_accepted_by_the_separate_checker(built):
    assert list(recheck(built)) == []


def test_sources_assume_nothing_and_are_all_compiled():
    assert source_problems(PROJECT) == []


def test_committed_digests_are_of_the_theorems_that_the_statements_file_states():
    stated = theorems((PROJECT / "Statements.v").read_text(encoding="utf-8"))
    assert stated == list(committed()["theorems"])
    assert len(stated) > 40


def test_every_theorem_has_a_level_and_every_definition_it_mentions_a_digest():
    stored = committed()
    for name, row in stored["theorems"].items():
        assert row["level"] in LEVELS, name
        assert set(row["mentions"]) <= set(stored["definitions"]), name


def test_assumptions_file_asks_about_every_theorem():
    asked = [line.split()[-1] for line in sentences((PROJECT / "Assumptions.v").read_text(encoding="utf-8"))]
    assert asked[1:] == list(committed()["theorems"])


def test_mutants_change_a_constant_that_occurs():
    for mutant in MUTANTS:
        assert text_of(PROJECT, mutant, mutated=True) != text_of(PROJECT, mutant, mutated=False), mutant.theorem


def test_every_file_and_theorem_of_the_mutants_is_a_different_one():
    assert len({(mutant.file, mutant.theorem) for mutant in MUTANTS}) == len(MUTANTS) >= 8


def test_command_without_coq_says_that_nothing_was_checked(monkeypatch, capsys):
    monkeypatch.setattr("audit.proofs.build.shutil.which", lambda _: None)
    assert program.main([]) == EXIT_UNDECIDED
    assert "PROOFS NOT CHECKED" in capsys.readouterr().out


@pytest.mark.parametrize("end", ["kill -9 $$", "echo Anomaly >&2; exit 129", "echo Stack overflow >&2; exit 1"])
def test_breakdown_of_coq_is_no_rejection(tmp_path, monkeypatch, capsys, end):
    broken = tmp_path / "coqc"
    broken.write_text(f"#!/bin/sh\n{end}\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(CoqStoppedError, match=r"Words\.v: Coq ended with code"):
        compile_file(toy(tmp_path / "toy"), "Words.v")
    assert program.main([]) == EXIT_UNDECIDED
    assert "PROOFS NOT CHECKED: Definitions.v: Coq ended with code" in capsys.readouterr().out


def test_command_without_the_separate_checker_says_so(monkeypatch, capsys):
    monkeypatch.setattr("audit.proofs.build.shutil.which", lambda name: None if name == "coqchk" else name)
    assert program.main(["--coqchk"]) == EXIT_UNDECIDED
    assert "PROOFS NOT CHECKED again: coqchk is not installed" in capsys.readouterr().out


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


def test_command_finds_a_number_of_the_code_that_has_changed(monkeypatch):
    assert list(program._stale()) == []
    right = constants.published_l1_sensitivity
    monkeypatch.setattr(constants, "published_l1_sensitivity", lambda *at: right(*at) + Fraction(1, 2**60))
    lowered = scales.scale_lemma

    def one_float_less(fairness, d, epsilon, delta, scale, what):
        return lowered(fairness, d, epsilon, delta, Fraction(math.nextafter(float(scale), 0.0)), what)

    monkeypatch.setattr(scales, "scale_lemma", one_float_less)
    assert [problem.split(":")[0] for problem in program._stale()] == [constants.FILE, scales.FILE]


def numbered(name: str, *, change: str) -> str:
    """Return a file with one lemma, its number changed."""
    (lemma,) = (lemma for lemma in constants.lemmas() if f"Lemma {name} " in lemma)
    statement, proof = lemma.split(".\nProof")
    stem, number = re.split(r"(?<==) |(?<=\)) (?=\([0-9/ ]+\)$)", statement)
    return f"{constants.HEADER}\n{stem} ({number}{change}).\nProof{proof}"


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
@pytest.mark.parametrize("name", EXACT)
def test_number_that_is_off_by_a_billionth_is_rejected(built, name):
    (built / "Right.v").write_text(numbered(name, change=""), encoding="utf-8")
    compile_file(built, "Right.v")
    for sign in "+-":
        (built / "Wrong.v").write_text(numbered(name, change=f" {sign} 1 / 1000000000"), encoding="utf-8")
        with pytest.raises(ProofError, match="Cannot find witness"):
            compile_file(built, "Wrong.v")


# --- Releases on the paper's domain -----------------------------------------------------------------------------


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
@pytest.mark.parametrize("fairness", ["none", "absolute", "covariance"])
def test_release_with_the_exact_sensitivity_is_certified_on_the_ball_and_not_on_the_box(built, fairness):
    spec, budget = MECHANISMS["relaxed_functional"], Budget("1", "1e-3")
    readings = spec.readings.with_(fairness=fairness, sensitivity="exact", fairness_weight="1/2")
    moments = Moments.of(datasets.load("affairs"))
    release = spec.function(moments, budget, readings)
    text = certificate_text(covered(exported(release.to_json())))
    (built / "OnTheBall.v").write_text(text, encoding="utf-8")
    compile_file(built, "OnTheBall.v")
    (built / "OnTheBox.v").write_text(text.replace("unit_ball", "unit_box"), encoding="utf-8")
    with pytest.raises(ProofError, match="unit_box"):
        compile_file(built, "OnTheBox.v")


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


def spoken() -> set[str]:
    return {symbol for row in claims.rows() for symbol in row.symbols} | set(claims.without_theorem())


def test_every_public_function_of_the_scope_has_a_theorem_or_a_reason():
    assert claims.unspoken(spoken()) == []


def test_missing_row_of_a_public_function_is_found():
    name = "reference.noise.scales.laplace_scale"
    assert claims.unspoken(spoken() - {name}) == [name]


def test_reasons_are_for_functions_of_the_scope_that_no_theorem_speaks_of():
    excused = set(claims.without_theorem())
    assert excused <= set(claims.public_functions())
    assert not excused & {symbol for row in claims.rows() for symbol in row.symbols}


@pytest.mark.parametrize(("claimed", "says"), [((), "holds"), (("L1",), "support"), (("L1",), "true")])
def test_row_needs_a_status_and_a_claim(claimed, says):
    with pytest.raises(ValueError, match="a status"):
        claims.Carried("L1", claimed, "Lemma 1", (), "reals", says, "everything")


def test_a_theorem_agrees_with_the_verdict_of_the_ledger():
    verdicts = {"holds": {"proved", "enclosed"}, "fails": {"refuted"}}
    for row in claims.rows():
        for name in row.claims:
            expected = verdicts.get(row.status)
            assert expected is None or registry.claims()[name].verdict in expected, (row.theorem, name)


def test_ledger_names_the_theorems_and_needs_no_coq_for_its_verdicts():
    for name, row in ledger.committed().items():
        assert row["machine_proof"] == claims.machine_proof(name), name
        assert "coq" not in row["needs"], name
    assert claims.machine_proof("T5") == "T5_violated, T5_is_false"
    assert claims.machine_proof("E.wins") is None


def test_every_theorem_has_an_entry_on_a_page_that_agrees():
    assert list(pages.problems(claims.rows(), committed())) == []


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("## `T1`", "## `T0`", "laplace.md, T0: no such theorem"),
        ("## `T1`", "## `T0`", "T1: 0 entries on the pages of proofs/, not one"),
        ("## `T1`", "## `T2`", "T2: 2 entries on the pages of proofs/, not one"),
        ("| claims | T1 |", "| claims | T2 |", "laplace.md, T1_density_ratio: claims is T2, not T1"),
        ("| fingerprint | `", "| fingerprint | `0", "laplace.md, T1: fingerprint is `0"),
        ("**Does not say.**", "", "laplace.md, T1: Does not say is missing"),
        ("| precondition, owed by the caller |", "|  |", "T1: precondition, owed by the caller is missing"),
        ("nothing here says that", "all this says that", "laplace.md: the limits are missing"),
    ],
)
def test_page_that_disagrees_is_found(tmp_path, old, new, found):
    for path in pages.FOLDER.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        changed = text.replace(old, new) if path.name == "laplace.md" else text
        (tmp_path / path.name).write_text(changed, encoding="utf-8")
    assert found in "\n".join(pages.problems(claims.rows(), committed(), tmp_path))


@pytest.mark.parametrize("changed", ["statement", "definition"])
def test_fingerprint_changes_with_the_statement_and_with_a_definition_it_mentions(changed):
    stored = copy.deepcopy(committed())
    before = pages.fingerprint("T1", stored)
    if changed == "statement":
        stored["theorems"]["T1"]["statement"] = "another"
    else:
        stored["definitions"]["Definitions.laplace_density"] = "another"
    assert pages.fingerprint("T1", stored) != before


def test_row_that_names_a_theorem_with_another_statement_is_found():
    stored = copy.deepcopy(committed())
    theorems_of = stored["theorems"]
    theorems_of["L1"], theorems_of["L3"] = theorems_of["L3"], theorems_of["L1"]
    found = "\n".join(pages.problems(claims.rows(), stored))
    assert "sensitivities.md, L1: fingerprint" in found
    assert "sensitivities.md, L3: fingerprint" in found


def test_lines_of_the_proofs_fit_a_screen():
    # the generated scales have numbers of hundreds of digits
    for path in set(PROJECT.glob("*.v")) - {PROJECT / scales.FILE}:
        for place, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            assert len(line) <= LONGEST_LINE, f"{path.name}:{place}"


def test_status_page_is_as_generated():
    assert status.path().read_text(encoding="utf-8") == status.page()


# --- The gate's own controls ------------------------------------------------------------------------------------

WORDS = """
Definition bound : nat := 2.
Definition small (n : nat) : Prop := n < bound.
"""

STATED = """
From CFM Require Import Words.
(** A statement (* with a comment inside a comment. *) *)
Theorem one_is_small : small 1.
Proof. unfold small, bound. repeat constructor. Qed.
Theorem two_is_at_most_bound : 2 <= bound.
Proof. unfold bound. apply le_n. Qed.
"""


LOOP = """
Comments "(*".
Unset Guard Checking.
Fixpoint loop (n : nat) : False := loop n.
Comments "*)".
"""

PARADOX = """
#[bypass_check(positivity)] Inductive bad := Bad (f : bad -> False).
Definition refute (x : bad) : False := match x with Bad f => f x end.
Lemma paradox : False.
Proof. exact (refute (Bad refute)). Qed.
"""

COLLAPSED = """
#[bypass_check(universes)] Definition collapsed : Type := (fun T : Type => T) Type.
"""


def project(folder: Path, **files: str) -> Path:
    """Write a project of these files, in this order."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = "\n".join(f"{name}.v" for name in files)
    (folder / "_CoqProject").write_text(f"-Q . CFM\n{listed}\n", encoding="utf-8")
    for name, text in files.items():
        (folder / f"{name}.v").write_text(text, encoding="utf-8")
    return folder


def toy(folder: Path, words: str = WORDS, stated: str = STATED) -> Path:
    """Write a project of two files that needs no library."""
    return project(folder, Words=words, Statements=stated)


def answers_of(folder: Path, stored: dict[str, Any] | None = None) -> Answers:
    build(folder)
    return ask(folder, allowed=None if stored is None else allowed(stored))


@pytest.fixture(scope="session")
def stored(tmp_path_factory) -> dict[str, Any]:
    require_coq()
    return document(answers_of(toy(tmp_path_factory.mktemp("toy") / "committed")))


@pytest.mark.coq
def test_gate_is_silent_on_comments_and_layout(stored, tmp_path):
    changed = STATED.replace("Theorem one", "(** Another comment. *)\n\nTheorem   one").replace(
        " : small", "\n: small"
    )
    assert list(differences(answers_of(toy(tmp_path, stated=changed), stored), stored)) == []


@pytest.mark.coq
@pytest.mark.parametrize(
    ("words", "stated", "found"),
    [
        pytest.param(
            WORDS,
            STATED.replace("Theorem one", "Axiom cheat : False.\nTheorem one").replace(
                "unfold small, bound. repeat constructor", "destruct cheat"
            ),
            "one_is_small: assumes Statements.cheat",
            id="an added axiom",
        ),
        pytest.param(
            WORDS,
            STATED.replace("unfold bound. apply le_n. Qed", "Admitted"),
            "two_is_at_most_bound: assumes Statements.two_is_at_most_bound",
            id="an Admitted",
        ),
        pytest.param(
            WORDS,
            STATED.replace("Theorem one", f"{LOOP}\nTheorem one").replace(
                "unfold small, bound. repeat constructor", "destruct (loop 0)"
            ),
            "Statements.loop is assumed to be guarded.",
            id="a recursion that never ends, between strings that look like a comment",
        ),
        pytest.param(
            WORDS,
            STATED.replace("Theorem one", f"{PARADOX}\nTheorem one").replace(
                "unfold small, bound. repeat constructor", "destruct paradox"
            ),
            "Statements.bad is assumed to be positive.",
            id="an inductive type that is not positive",
        ),
        pytest.param(
            WORDS,
            STATED.replace("Theorem one", f"{COLLAPSED}\nTheorem one").replace(
                "unfold small, bound. repeat constructor",
                "generalize collapsed. intros _. unfold small, bound. auto",
            ),
            "Statements.collapsed relies on an unsafe hierarchy.",
            id="universes that are not checked",
        ),
        pytest.param(
            WORDS,
            STATED.replace("2 <= bound", "1 <= bound").replace("apply le_n", "repeat constructor"),
            "two_is_at_most_bound: the statement has changed",
            id="a weakened statement with an adapted proof",
        ),
        pytest.param(
            WORDS.replace(":= 2", ":= 3"),
            STATED.replace("apply le_n", "repeat constructor"),
            "Words.bound: the definition has changed",
            id="a weakened definition",
        ),
        pytest.param(
            WORDS,
            STATED.replace("Theorem one", "Definition small (n : nat) : Prop := True.\nTheorem one").replace(
                "unfold small, bound. repeat constructor", "exact I"
            ),
            "one_is_small: the statement has changed",
            id="a definition in front of another of the same name",
        ),
        pytest.param(
            WORDS,
            STATED.replace("Theorem two", 'Notation "a <= b" := (a = b \\/ True).\nTheorem two').replace(
                "unfold bound. apply le_n", "right; exact I"
            ),
            "two_is_at_most_bound: the statement has changed",
            id="a notation that changes the meaning",
        ),
        pytest.param(
            WORDS,
            STATED.partition("Theorem two")[0],
            "two_is_at_most_bound: committed, and no longer proved",
            id="a theorem left out",
        ),
        pytest.param(
            WORDS,
            STATED + "Theorem new : True.\nProof. exact I. Qed.\n",
            "new: proved, and not committed",
            id="a theorem added",
        ),
    ],
)
def test_gate_fires_on(stored, tmp_path, words, stated, found):
    problems = "\n".join(differences(answers_of(toy(tmp_path, words, stated), stored), stored))
    assert found in problems


@pytest.mark.coq
def test_of_theorems_asked_about_together_only_the_guilty_one_is_named(stored, tmp_path):
    cheating = STATED.replace("Theorem one", "Axiom cheat : False.\nTheorem one").replace(
        "unfold small, bound. repeat constructor", "destruct cheat"
    )
    assert set(allowed(stored).values()) == {()}
    assert list(differences(answers_of(toy(tmp_path, stated=cheating), stored), stored)) == [
        "one_is_small: assumes Statements.cheat, beyond its level none"
    ]


LIBRARY = "From Coq Require Export Classical_Prop.\n"
CLASSICAL = """
From CFM Require Import Library.
Theorem one : 1 = 1.
Proof. destruct (classic True); reflexivity. Qed.
"""


@pytest.mark.coq
@pytest.mark.parametrize(
    "axiom",
    [
        "Monomorphic Axiom classic : False.",
        "Class Absurd := absurd : False.\nDeclare Instance classic : Absurd.",
    ],
)
def test_axiom_that_coq_calls_like_an_allowed_one_is_found_twice(tmp_path, axiom):
    require_coq()
    honest = document(answers_of(project(tmp_path / "honest", Library=LIBRARY, Statements=CLASSICAL)))
    assert honest["theorems"]["one"]["level"] == "classical"
    forged = CLASSICAL.replace("Import Library", "Library Classical_Prop").replace(
        "classic True", "CFM.Classical_Prop.classic"
    )
    folder = project(tmp_path / "forged", Library=LIBRARY, Classical_Prop=axiom, Statements=forged)
    assert len(source_problems(folder)) == 1
    for answers in (answers_of(folder), answers_of(folder, honest)):
        assert list(differences(answers, honest)) == [
            "one: assumes CFM.Classical_Prop.classic, beyond its level classical"
        ]


@pytest.mark.coq
def test_changed_definition_is_found_whatever_letters_its_name_has(tmp_path):
    require_coq()
    words, stated = (
        "Definition ε_max := 2.",
        "From CFM Require Import Words. Theorem t : 1 <= ε_max. Proof. {} Qed.",
    )
    proof = "unfold ε_max. auto."
    honest = document(answers_of(toy(tmp_path / "honest", words, stated.format(proof))))
    changed = answers_of(toy(tmp_path / "changed", words.replace("2", "1"), stated.format(proof)))
    assert list(differences(changed, honest)) == ["Words.ε_max: the definition has changed"]


@pytest.mark.coq
@pytest.mark.parametrize(
    ("added", "found"),
    [
        ("", []),
        ("Axiom cheat : False.", ["coqchk: Axioms: CFM.Statements.cheat"]),
        (LOOP, ["coqchk: Constants/Inductives relying on unsafe (co)fixpoints: CFM.Statements.loop"]),
        (PARADOX, ["coqchk: Inductives whose positivity is assumed: CFM.Statements.bad"]),
        (COLLAPSED, ["coqchk: Constants/Inductives relying on type-in-type: CFM.Statements.collapsed"]),
    ],
    ids=["nothing", "an axiom", "an endless recursion", "not positive", "universes"],
)
def test_separate_checker_names_what_is_believed_without_proof(tmp_path, added, found):
    require_coq()
    folder = toy(tmp_path, stated=STATED + added)
    build(folder)
    assert list(recheck(folder)) == found


@pytest.mark.coq
def test_separate_checker_rejects_a_compiled_file_that_was_altered(tmp_path):
    require_coq()
    folder = toy(tmp_path)
    build(folder)
    compiled_file = folder / "Statements.vo"
    content = bytearray(compiled_file.read_bytes())
    content[len(content) // 2] ^= 1
    compiled_file.write_bytes(content)
    (problem,) = recheck(folder)
    assert problem.startswith("coqchk: ")


@pytest.mark.parametrize(
    "summary", ["", "* Theory: Set is impredicative\n* Axioms: <none>\n", "* Axioms: <none>\n"]
)
def test_summary_of_the_separate_checker_that_says_less_is_a_problem(summary):
    assert "no summary that can be read" in next(believed(summary))


@pytest.mark.coq
def test_build_rejects_a_false_proof(tmp_path):
    require_coq()
    with pytest.raises(ProofError, match=r"Statements\.v"):
        build(toy(tmp_path, stated=STATED.replace("small 1", "small 2")))


@pytest.mark.parametrize(
    "sentence",
    [
        "Axiom cheat : False.",
        "Local Axiom cheat : False.",
        "Monomorphic Axiom cheat : False.",
        '#[deprecated(note="]")] Axiom cheat : False.',
        "Declare Instance cheat : Absurd.",
        "Declare Module Cheat : DecidableType with Definition eq := fun (_ _ : unit) => False.",
        "Module Classical_Prop. Definition classic := tt. End Classical_Prop.",
        "Derive cheat SuchThat (cheat = 2) As same. Proof. reflexivity. Qed.",
        'Comments "Here. Section S. starts". Variable cheat : False.',
        "#[local] Parameter cheat : False.",
        "Conjecture cheat : False.",
        "Hypothesis cheat : False.",
        "Section S. End S. Variable cheat : False.",
        "Context (cheat : False).",
        "Lemma l : False. Proof. Admitted.",
        "Lemma l : False. Proof. { admit. } Qed.",
        "Unset Guard Checking.",
        "Unset Universe Checking.",
        "#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.",
        'Declare ML Module "plugin".',
        '#[local] Declare ML Module "plugin".',
        'Timeout 9 Load "other".',
        'Add LoadPath "elsewhere" as CFM.',
        "Set Definitional UIP.",
        'Comments "(*". Unset Guard Checking. Comments "*)".',
        '(* "*)" *) Unset Guard Checking. (* "(*" *)',
        "Lemma l : (1 *) = 1 (* comment *). Unset Positivity Checking. (* end *)",
        "Proof with auto... Axiom cheat : False.",
        "Lemma bound : nat. Proof. exact 2. Defined.",
    ],
)
def test_scan_fires_on(sentence):
    assert list(forbidden(f"(* before *) {sentence}\n"))


@pytest.mark.parametrize(
    "text",
    [
        "(* Axiom cheat : False. (* Admitted. *) *)",
        "Section S. Variable d : nat. Hypothesis positive : 0 < d. Context {A : Type}. End S.",
        "Lemma assumptions_hold : True. Proof. exact I. Qed.",
        "Lemma l : 1 = 1. Proof. intros Axiom_like; reflexivity. Qed.",
        '(* a comment with a string "*)" in it: Axiom cheat : False. *)',
        'Comments "Axiom. Section S. Variable".',
        "Proof with auto... Qed.",
    ],
)
def test_scan_is_silent_on(text):
    assert list(forbidden(text)) == []


def test_source_problems_name_a_file_that_is_not_compiled(tmp_path):
    (toy(tmp_path) / "Stray.v").write_text("", encoding="utf-8")
    assert source_problems(tmp_path) == ["Stray.v: not compiled, _CoqProject does not list it"]


@pytest.mark.parametrize("option", ["-arg -type-in-type", "-arg -type-in-type Statements.v", "../Other.v"])
def test_source_problems_name_an_option_of_the_project(tmp_path, option):
    listed = toy(tmp_path) / "_CoqProject"
    listed.write_text(f"{listed.read_text(encoding='utf-8')}{option}\n", encoding="utf-8")
    assert f"_CoqProject: {option}" in source_problems(tmp_path)


@pytest.mark.coq
def test_what_was_compiled_before_is_not_used(tmp_path):
    require_coq()
    folder = toy(
        tmp_path / "old", words=WORDS.replace(":= 2", ":= 3"), stated=STATED.replace("apply le_n", "auto")
    )
    build(folder)
    (folder / "Words.v").write_text(WORDS.replace(":= 2", ":= 1"), encoding="utf-8")
    with pytest.raises(ProofError, match=r"Statements\.v"):
        compiled(tmp_path / "new", folder)


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("Closed under the global context\n", ()),
        ("Axioms:\nM.b : nat\na\n  : forall x : R,\n    x = x\n", ("M.b", "a")),
        ("Axioms:\nloop is assumed to be guarded.\n", ("loop is assumed to be guarded.",)),
        ("Theory:\n  Type hierarchy is collapsed\n", ("Theory",)),
    ],
)
def test_everything_that_coq_reports_counts_as_assumed(printed, expected):
    assert assumed(printed, {}) == expected


def test_level_is_the_lowest_that_allows_the_axioms():
    assert level_of(()) == "none"
    assert level_of(LEVELS["reals"][:1]) == "reals"
    assert level_of(LEVELS["classical"]) == "classical"
    assert level_of(("CFM.Statements.cheat",)) is None
