"""The gate's own controls: what is changed must be reported, what is not must not."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from audit.gate.needs import exhaustively
from audit.gate.proofs.sessions import first_errors
from audit.gate.proofs.toys import FILES, STATED, WORDS, project, require_coq, toy
from audit.proofs.assumptions import LEVELS, assumed
from audit.proofs.build import Answers, ProofError, ask, build, compile_file
from audit.proofs.check import allowed, compiled, differences, document, level_of
from audit.proofs.grammar import refused
from audit.proofs.kernel import believed, recheck
from audit.proofs.sources import source_problems

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


def answers_of(folder: Path, stored: dict[str, Any] | None = None) -> Answers:
    build(folder)
    return ask(folder, allowed=None if stored is None else allowed(stored))


@pytest.fixture
def stored(honest: dict[str, Any]) -> dict[str, Any]:
    return honest


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
            STATED.replace("Theorem two", 'Notation "a <= b" := (a = b \\/ True).\nTheorem two').replace(
                "unfold bound. apply le_n", "right; exact I"
            ),
            "two_is_at_most_bound: the statement has changed",
            id="a notation that changes the meaning",
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
        "Statements.cheat is assumed in some file, beyond all levels",
        "one_is_small: assumes Statements.cheat, beyond its level none",
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
        *exhaustively("Class Absurd := absurd : False.\nDeclare Instance classic : Absurd."),
    ],
)
def test_axiom_that_coq_calls_like_an_allowed_one_is_found_three_times(tmp_path, axiom):
    require_coq()
    honest = document(answers_of(project(tmp_path / "honest", Library=LIBRARY, Statements=CLASSICAL)))
    assert honest["theorems"]["one"]["level"] == "classical"
    forged = CLASSICAL.replace("Import Library", "Library Classical_Prop").replace(
        "classic True", "CFM.Classical_Prop.classic"
    )
    folder = project(tmp_path / "forged", Library=LIBRARY, Classical_Prop=axiom, Statements=forged)
    listed = ("Library.v", "Classical_Prop.v", "Statements.v")
    assert any(problem.startswith("Classical_Prop.v: ") for problem in source_problems(folder, listed))
    for answers in (answers_of(folder), answers_of(folder, honest)):
        found = list(differences(answers, honest))
        undeclared = [problem for problem in found if problem.endswith("a constant that no sentence declares")]
        assert "Classical_Prop.classic: a constant that no sentence declares" in undeclared
        assert [problem for problem in found if problem not in undeclared] == [
            "Classical_Prop.v: a file of Coq's libraries has this name",
            "CFM.Classical_Prop.classic is assumed in some file, beyond all levels",
            "one: assumes CFM.Classical_Prop.classic, beyond its level classical",
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
def test_texts_of_one_session_are_judged_as_files_of_their_own(tmp_path):
    require_coq()
    folder = toy(tmp_path)
    build(folder)
    right = "From CFM Require Import Words.\nTheorem t : small 1.\nProof. unfold small, bound. auto. Qed.\n"
    texts = {
        "right": right,
        "the same again": right,
        "false": right.replace("small 1", "small 2"),
        "without an end": right.replace(" Qed.", ""),
        "after one without an end": right,
        "with a word of another text": "From CFM Require Import Words.\nCheck t.",
        "without its import": "Check small 1.",
        "with an open section": "From CFM Require Import Words.\nSection Open.\nVariable cheat : False.",
        "with an open module": "From CFM Require Import Words.\nModule Open.\nDefinition one := 1.",
        "after an open module": "From CFM Require Import Words.\nCheck Open.one.",
        "after all": right,
    }
    found = first_errors(folder, texts)
    wrong = ("false", "without an end", "with a word of another text", "without its import")
    wrong += ("with an open section", "with an open module", "after an open module")
    assert [name for name, error in found.items() if error] == list(wrong)
    assert found["with a word of another text"] == "The reference t was not found in the current environment."
    with pytest.raises(RuntimeError, match="broke off"):
        first_errors(folder, {"quits": "Quit.", "right": right})


@pytest.mark.coq
@pytest.mark.parametrize("variable", ["HOME", "COQPATH", "XDG_DATA_HOME", "XDG_DATA_DIRS"])
def test_library_of_the_user_does_not_replace_coqs_own(tmp_path, monkeypatch, variable):
    inside = {"HOME": ".local/share/coq/Coq/Bool", "COQPATH": "Coq/Bool"}.get(variable, "coq/Coq/Bool")
    library = tmp_path / "data" / inside
    library.mkdir(parents=True)
    (library / "Bool.v").write_text("Definition orb (_ _ : bool) : bool := true.\n")
    subprocess.run(["coqc", "-q", "-R", "..", "Coq", "Bool.v"], cwd=library, check=True)
    text = "From Coq Require Import Bool.\nCheck eq_refl : orb false false = true.\n"
    folder = project(tmp_path / "project", Words=text)
    monkeypatch.setenv(variable, str(tmp_path / "data"))
    with pytest.raises(ProofError, match="cannot unify"):
        compile_file(folder, "Words.v")
    # the control: Coq alone believes it
    subprocess.run(["coqc", "-q", "Words.v"], cwd=folder, check=True)


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
    assert list(refused(f"(* before *) {sentence}\n"))


@pytest.mark.parametrize(
    "text",
    [
        "(* Axiom cheat : False. (* Admitted. *) *)",
        "Section S. Variable d : nat. Hypothesis positive : 0 < d. Context {A : Type}. End S.",
        "Lemma assumptions_hold : True. Proof. exact I. Qed.",
        "Lemma l : 1 = 1. Proof. intros Axiom_like; reflexivity. Qed.",
        "(* Axiom cheat : False. *)",
    ],
)
def test_scan_is_silent_on(text):
    assert list(refused(text)) == []


def test_source_problems_name_a_file_that_is_not_compiled(tmp_path):
    (toy(tmp_path) / "Stray.v").write_text("", encoding="utf-8")
    assert source_problems(tmp_path, FILES) == ["Stray.v: no file of this project"]


@pytest.mark.parametrize("option", ["-arg -type-in-type", "-arg -type-in-type Statements.v", "../Other.v"])
def test_source_problems_name_an_option_of_the_project(tmp_path, option):
    listed = toy(tmp_path) / "_CoqProject"
    listed.write_text(f"{listed.read_text(encoding='utf-8')}{option}\n", encoding="utf-8")
    assert f"_CoqProject: {option}" in source_problems(tmp_path, FILES)


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
