"""Attempts to smuggle a false theorem past the gate: each must be refused, and honest texts must pass."""

from __future__ import annotations

import re

import pytest

from audit.gate.needs import exhaustively
from audit.gate.proofs.attempts import ALLOWED, ASKED, READ
from audit.gate.proofs.endless import MISREAD
from audit.gate.proofs.sessions import first_errors
from audit.gate.proofs.toys import FILES, STATED, WORDS, project, require_coq, toy
from audit.proofs.build import ProofError, ask, build, compile_file
from audit.proofs.check import allowed, differences, document
from audit.proofs.files import FILES as PINNED
from audit.proofs.grammar import COQ_LIBRARIES, COQUELICOT, IDENTIFIER, refused, tactics
from audit.proofs.grammar import WORDS as REFUSED_WORDS
from audit.proofs.kernel import recheck
from audit.proofs.names import LOCATED, constants, in_full, without_meaning
from audit.proofs.releases.check import _objections
from audit.proofs.sources import PROJECT, library_names, project_files, sentences, source_problems

FEWEST_ATTEMPTS = 40


def words_with(text: str) -> str:
    return f"{WORDS}\n{text}\n"


# --- Refused before Coq reads it --------------------------------------------------------------------------------


def test_there_are_enough_attempts():
    reasons = [attempt.reason for attempt in (*READ, *ASKED)]
    assert len(set(reasons)) == len(reasons) >= FEWEST_ATTEMPTS


@pytest.mark.parametrize("attempt", READ, ids=lambda attempt: attempt.reason)
def test_attempt_is_refused_by_the_reader_of_sources(attempt):
    assert list(refused(words_with(attempt.text)))


@pytest.mark.parametrize("text", ALLOWED)
def test_honest_text_passes_the_reader(text):
    assert list(refused(words_with(text))) == []


@pytest.mark.coq
def test_honest_texts_are_coq(tmp_path):
    require_coq()
    assert first_errors(toy(tmp_path), {text: words_with(text) for text in ALLOWED}) == dict.fromkeys(ALLOWED, "")


FALSE = "Lemma l : False. Proof. exact I. Qed."


@pytest.fixture(scope="module")
def errors_of_attempts(tmp_path_factory):
    """Return the first error in each attempt that Coq would accept, and after all of them in a false lemma."""
    require_coq()
    texts = {attempt.reason: words_with(attempt.text) for attempt in READ if attempt.accepted}
    return first_errors(toy(tmp_path_factory.mktemp("attempts")), texts | {FALSE: FALSE})


@pytest.mark.coq
@pytest.mark.exhaustive
@pytest.mark.parametrize("attempt", [attempt for attempt in READ if attempt.accepted], ids=lambda it: it.reason)
def test_attempt_is_one_that_coq_accepts(errors_of_attempts, attempt):
    assert errors_of_attempts[attempt.reason] == ""
    assert "expected to have type" in errors_of_attempts[FALSE]


@pytest.fixture(scope="module")
def said_by_coq(tmp_path_factory):
    """Return what Coq says about itself with all that the files may import."""
    require_coq()
    folder = toy(tmp_path_factory.mktemp("grammar"))
    asked = {
        "commands": "Print Grammar vernac.",
        "tactics": "Print Grammar tactic.",
        "defined": "Print Ltac Signatures.",
        "sorts": "Search SProp.",
        "libraries": "Print Libraries.",
    }
    imports = (
        f"From Coq Require Import {COQ_LIBRARIES.replace('|', ' ')}.\n"
        f"From Coquelicot Require Import {' '.join(COQUELICOT)}.\n"
    )
    questions = "\n".join(f'Redirect "{name}" {question}' for name, question in asked.items())
    (folder / "Words.v").write_text(imports + questions + "\n", encoding="utf-8")
    compile_file(folder, "Words.v")
    return {name: (folder / f"{name}.out").read_text(encoding="utf-8") for name in asked}


@pytest.mark.coq
def test_commands_of_coq_have_a_capital_letter_or_are_refused_by_name(said_by_coq):
    heads = set(re.findall(r'^ *[\[|] (?:\[ )?IDENT "([^"]+)"', said_by_coq["commands"], re.MULTILINE))
    assert {"Time", "Axiom", "Section"} & heads
    assert len(heads) > 60
    lower = {head for head in heads if not head[0].isupper()}
    assert lower == {"infoH"}
    assert all(REFUSED_WORDS.search(head) for head in lower)


def words_of_the_proofs():
    texts = ((PROJECT / name).read_text(encoding="utf-8") for name in PINNED)
    return {word for text in texts for sentence in sentences(text) for word in IDENTIFIER.findall(sentence)}


@pytest.mark.coq
def test_every_tactic_of_coq_is_used_by_the_proofs_or_refused(said_by_coq):
    written = set(re.findall(r'"([A-Za-z_][\w\']*)"', said_by_coq["tactics"]))
    defined = {line.split()[0].rpartition(".")[2] for line in said_by_coq["defined"].splitlines() if line.strip()}
    assert {"fix", "cofix", "rewrite", "hresolve_core"} <= written
    assert {"exact_no_check", "optimize_heap", "reflexivity", "lra"} <= defined
    names = written | defined
    assert tactics()["allowed"] == names & words_of_the_proofs()
    assert tactics()["refused"] == names - words_of_the_proofs()


@pytest.mark.coq
def test_constants_about_equal_propositions_have_a_refused_name(said_by_coq):
    names = [line.split()[0].rstrip(":") for line in said_by_coq["sorts"].splitlines() if line[:1].strip()]
    assert len(names) > 100
    assert [name for name in names if not REFUSED_WORDS.search(name)] == []
    assert "Coq.Logic.StrictProp" not in said_by_coq["libraries"].split()


# --- The list of files ------------------------------------------------------------------------------------------


def test_files_of_the_project_are_the_pinned_ones():
    assert project_files(PROJECT) == list(PINNED)
    assert source_problems(PROJECT) == []


@pytest.mark.coq
def test_no_file_is_named_like_a_library():
    require_coq()
    assert library_names() == []
    assert library_names(["Rdefinitions.v", "Words.v"]) == [
        "Rdefinitions.v: a file of Coq's libraries has this name"
    ]


def test_files_of_a_toy_are_accepted(tmp_path):
    assert source_problems(toy(tmp_path), FILES) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda at: (at / "Stray.v").write_text(""), "Stray.v: no file of this project"),
        (lambda at: (at / "Rdefinitions.v").write_text(""), "Rdefinitions.v: no file of this project"),
        (lambda at: (at / "Coq").mkdir(), "Coq: no file of this project"),
        (lambda at: (at / "Words.v").unlink(), "Words.v: not there"),
        (lambda at: (at / "Words.v").rename(at / "Peano.v"), "Peano.v: no file of this project"),
        (lambda at: (at / ".coqrc").write_text(""), ".coqrc: no file of this project"),
        (lambda at: (at / "plugin.cmxs").write_text(""), "plugin.cmxs: no file of this project"),
    ],
    ids=[
        "a file more",
        "a file named like a library",
        "a folder",
        "a file less",
        "a new name",
        "options",
        "a plugin",
    ],
)
def test_folder_with_other_files_is_refused(tmp_path, change, found):
    change(toy(tmp_path))
    assert found in source_problems(tmp_path, FILES)


def test_file_that_is_a_link_is_refused(tmp_path):
    words = toy(tmp_path) / "Words.v"
    words.rename(tmp_path.parent / "Elsewhere.v")
    words.symlink_to(tmp_path.parent / "Elsewhere.v")
    assert source_problems(tmp_path, FILES) == ["Words.v: not a file"]


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ("-Q . CFM\n-arg -type-in-type\nWords.v\nStatements.v\n", "_CoqProject: -arg -type-in-type"),
        ("-Q . CFM\n-Q . Coq\nWords.v\nStatements.v\n", "_CoqProject: -Q . Coq"),
        ("-R . Coq\nWords.v\nStatements.v\n", "_CoqProject: -R . Coq"),
        ("-Q . CFM\nWords.v\nStatements.v\nPeano.v\n", "_CoqProject: Peano.v"),
        ("-Q . CFM\nWords.v -bt\nStatements.v\n", "_CoqProject: Words.v -bt"),
        ("-Q . CFM\nWords.v\n", "Statements.v: _CoqProject does not list it"),
        ("-Q . CFM\nStatements.v\nWords.v\n", "_CoqProject: the files are listed in another order, or twice"),
        (
            "-Q . CFM\nWords.v\nWords.v\nStatements.v\n",
            "_CoqProject: the files are listed in another order, or twice",
        ),
    ],
)
def test_list_of_files_that_differs_is_refused(tmp_path, listed, found):
    (toy(tmp_path) / "_CoqProject").write_text(listed, encoding="utf-8")
    assert found in source_problems(tmp_path, FILES)


# --- Given away by Coq's answers --------------------------------------------------------------------------------


def reported(folder, honest):
    build(folder)
    return "\n".join(differences(ask(folder, allowed=allowed(honest)), honest))


@pytest.mark.coq
@pytest.mark.parametrize(
    "attempt",
    [*ASKED[::4], *exhaustively(*(attempt for place, attempt in enumerate(ASKED) if place % 4))],
    ids=lambda attempt: attempt.reason,
)
def test_attempt_inside_the_language_is_given_away(tmp_path, honest, attempt):
    assert list(refused(attempt.words)) == list(refused(attempt.stated)) == []
    assert attempt.found in reported(toy(tmp_path, attempt.words, attempt.stated), honest)


@pytest.mark.coq
def test_layout_and_order_of_definitions_give_nothing_away(tmp_path, honest):
    assert (
        reported(toy(tmp_path, WORDS.replace("\n", "\n\n"), STATED.replace(" : small", "\n  : small")), honest)
        == ""
    )


HIDDEN = """
Definition u : nat -> nat -> Prop := ltac:(transparent_abstract (exact (fun _ _ : nat => True)) using lt).
"""


@pytest.mark.coq
def test_hidden_word_in_a_file_named_like_a_library_is_found_four_times(tmp_path, honest):
    """Without the reader of sources: a definition that no list names makes a theorem vacuous."""
    forged = STATED.replace("small 1", "Peano.lt 1 bound").replace(
        "unfold small, bound. repeat constructor", "exact I"
    )
    words = f"From CFM Require Export Peano.\n{WORDS}"
    folder = project(tmp_path, Peano=HIDDEN, Words=words, Statements=forged.replace("Peano.lt", "CFM.Peano.lt"))
    found = reported(folder, honest)
    assert "Peano.v: a file of Coq's libraries has this name" in found
    assert "Peano.lt: a constant that no sentence declares" in found
    assert "one_is_small: mentions Peano.lt, which no sentence declares" in found
    assert "one_is_small: the statement has changed" in found


@pytest.mark.coq
def test_second_theorem_of_a_sentence_is_found(tmp_path, honest):
    """Without the reader of sources: Coq itself lists the theorem, though no sentence begins with its name."""
    second = "\nTheorem first : forall n : nat, n = n with second : forall n : nat, n = n.\n"
    proof = "Proof. all: reflexivity. Qed.\nGoal True.\nProof. exact I. Qed.\nGoal True.\nProof. exact I. Qed.\n"
    assert reported(toy(tmp_path / "two", WORDS + second + proof), honest) == (
        "Words.second: a constant that no sentence declares"
    )
    assert reported(toy(tmp_path / "one", WORDS + second.partition(" with")[0] + ".\n" + proof), honest) == ""


@pytest.mark.coq
def test_statement_printed_alike_of_another_constant_has_another_digest(tmp_path):
    require_coq()
    stated = "From CFM Require Import {}.\nTheorem t : forall n, double n = double n.\nProof. reflexivity. Qed.\n"
    double = "Definition double (n : nat) : nat := n.\n"
    documents = []
    for name in ("First", "Second"):
        folder = project(tmp_path / name, **{name: double, "Statements": stated.format(name)})
        build(folder)
        documents.append(document(ask(folder)))
    one, other = (found["theorems"]["t"] for found in documents)
    assert one["statement"] != other["statement"]
    assert (one["mentions"], other["mentions"]) == (["First.double"], ["Second.double"])


@pytest.mark.coq
def test_constant_with_a_name_like_a_mark_of_coq_is_followed(tmp_path):
    require_coq()
    words = "Definition __ : nat := 2.\nDefinition struct : nat := __.\n"
    stated = "From CFM Require Import Words.\nTheorem t : struct = 2.\nProof. reflexivity. Qed.\n"
    folder = project(tmp_path, Words=words, Statements=stated)
    build(folder)
    assert document(ask(folder))["theorems"]["t"]["mentions"] == ["Words.__", "Words.struct"]


@pytest.mark.coq
def test_axiom_of_a_file_whose_theorems_nobody_states_is_found(tmp_path, honest):
    """Without the reader of sources: the smuggled variable of a section, as an axiom outside every section."""
    scales = "Time Variable cheat : 1 <= 0.\nGoal 1 <= 0.\nProof. exact cheat. Qed.\n"
    folder = project(tmp_path, Words=WORDS, Statements=STATED, Scales=scales)
    assert "Scales.cheat is assumed in some file, beyond all levels" in reported(folder, honest)
    assert list(recheck(folder)) == ["coqchk: Axioms: CFM.Scales.cheat"]


UNLISTED = "Words.f: a recursive function that audit/proofs/recursions.json does not list"
NOT_AS_LISTED = (
    "Words.f: the recursive function, or what it mentions, is not as listed in audit/proofs/recursions.json"
)

COUNT = """
Definition less (n : nat) : nat := n.
Fixpoint f (n : nat) : nat := match n with O => less 0 | S k => S (f k) end.
"""


@pytest.mark.coq
@pytest.mark.parametrize(
    "text",
    [
        COUNT,
        *exhaustively(
            "Definition f := Eval cbv delta [Nat.add] in Nat.add.",
            "Definition f := fix g (n : nat) : nat := match n with O => 0 | S k => g k end.",
            "CoInductive s := Cons (rest : s). Definition f := cofix g := Cons g.",
            *MISREAD.values(),
        ),
    ],
)
def test_recursive_function_beside_the_list_is_found(tmp_path, honest, text):
    """Without the reader of sources: Coq's own text of a definition says that it is recursive."""
    assert reported(toy(tmp_path, words_with(text)), honest).splitlines() == [UNLISTED]


@pytest.mark.coq
@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("O => less", "O  =>  less", ""),
        ("less (n : nat) : nat := n", "less (n : nat) : nat := S n", NOT_AS_LISTED),
    ],
    ids=["layout", "another function that it mentions"],
)
def test_listed_recursive_function_is_taken_with_what_it_mentions(tmp_path, honest, monkeypatch, old, new, found):
    build(toy(tmp_path / "read", words_with(COUNT)))
    known = ask(tmp_path / "read").recursions
    assert list(known) == ["Words.f"]
    monkeypatch.setattr("audit.proofs.check.listed", lambda: known)
    assert old in COUNT
    assert reported(toy(tmp_path / "now", words_with(COUNT.replace(old, new))), honest) == found


@pytest.mark.coq
def test_rejected_proof_is_no_answer(tmp_path):
    require_coq()
    with pytest.raises(ProofError, match=r"Words\.v"):
        build(toy(tmp_path, words=words_with(FALSE)))


def test_constants_are_read_from_a_module_that_is_printed():
    printed = (
        "Module A := Struct Inductive colour : Set := Red : colour. Definition colour_rect : nat. "
        "Parameter g : forall Definition h : nat, Definition = h. Record r : Set := R { left : nat }. End"
    )
    assert constants(printed) == ["colour", "colour_rect", "g", "h", "r"]


def test_words_are_replaced_by_full_names_whole():
    located = {"Rle": "Coq.Reals.Rdefinitions.Rle", "R": "Coq.R", "A.Rle": "CFM.A.Rle"}
    assert in_full("A.Rle (Rle R Rle')", located) == "CFM.A.Rle (Coq.Reals.Rdefinitions.Rle Coq.R Rle')"


def with_variable(folder, name, defined, stated):
    """Return what is committed of a project with a variable called like a constant, and its printed definition."""
    words = f"Definition {name} : nat := 2.\nDefinition twice ({name} : nat) : nat := {name} + {defined}.\n"
    theorem = f"Theorem t : forall {name} : nat, {name} <= twice {name} + {stated}.\n"
    proof = "Proof. intros x; unfold twice; rewrite <- Nat.add_assoc; apply Nat.le_add_r. Qed.\n"
    imports = "From Coq Require Import PeanoNat.\nFrom CFM Require Import Words.\n"
    build(project(folder, Words=words, Statements=imports + theorem + proof))
    answers = ask(folder)
    assert answers.unexplained == ()
    return document(answers), (folder / "d.Words.twice.out").read_text(encoding="utf-8")


@pytest.mark.coq
@pytest.mark.parametrize("name", ["scale", *exhaustively("value", "S", "Words")])
def test_variable_is_not_taken_for_the_constant_of_its_name(tmp_path, name):
    require_coq()
    constant = f"Words.{name}"
    honest, printed = with_variable(tmp_path / "honest", name, name, name)
    altered, other = with_variable(tmp_path / "altered", name, constant, constant)
    assert altered["definitions"]["Words.twice"] != honest["definitions"]["Words.twice"]
    assert altered["theorems"]["t"]["statement"] != honest["theorems"]["t"]["statement"]
    # the control: to ask what every word means, as was done once, hides the difference
    mistaken = dict.fromkeys((name, constant), f"CFM.{constant}")
    assert printed != other
    assert in_full(printed, mistaken) == in_full(other, mistaken)


@pytest.mark.coq
def test_certificate_that_owns_a_name_hides_no_change_of_another(tmp_path, monkeypatch):
    require_coq()
    certificate = (
        "From CFM Require Import Words.\nDefinition scale : nat := 0.\nDefinition small : nat := 0.\n"
        "Theorem t : Words.small (Words.twice scale).\nProof. vm_compute. repeat constructor. Qed.\n"
    )
    words = WORDS + "Definition twice (scale : nat) : nat := scale + scale.\n"

    def answers(case, words, certificate):
        build(project(tmp_path / case, Words=words, Certificate=certificate))
        return ask(tmp_path / case, statements="Certificate.v")

    alone = certificate.replace("Definition scale", "Definition other").replace("twice scale", "twice other")
    known = document(answers("alone", words, alone.replace("Definition small : nat := 0.", "")))
    monkeypatch.setattr("audit.proofs.releases.check.fingerprinted", lambda *_: known["definitions"])
    assert list(_objections(answers("honest", words, certificate), "t")) == []
    changed = answers("changed", words.replace("scale + scale", "scale + 0"), certificate)
    assert list(_objections(changed, "t")) == [
        "Words.twice is not defined as committed in audit/proofs/digests.json"
    ]


def test_name_that_coq_prints_otherwise_is_passed_over():
    answer = """Constant Coq.Init.Nat.add
Constant Coq.Arith.PeanoNat.Nat.add (shorter name to refer to it in current context is PeanoNat.Nat.add)
"""
    assert LOCATED.findall(answer) == ["Coq.Init.Nat.add"]
    assert LOCATED.findall("Constant Coq.ZArith.BinInt.Z.abs (alias of BinIntDef.Z.abs)") == [
        "Coq.ZArith.BinInt.Z.abs"
    ]
    assert list(without_meaning({"Nat.add", "n"}, {"Nat.add": "Coq.Init.Nat.add"})) == []
    assert list(without_meaning({"Nat.add", "n"}, {})) == ["Nat.add: Coq does not say which constant this is"]
