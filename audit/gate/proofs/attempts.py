"""Attempts to smuggle a false theorem past the gate, each with the reason why it must be refused.

The attacker of ``proofs/coq/GATE.md`` edits any file of the proofs, and renews what is generated.  Most attempts
are sentences that the reader of sources must refuse; `ASKED` holds those that are inside the allowed part of the
language, and that Coq's own answers must give away.
"""

from __future__ import annotations

from dataclasses import dataclass

from audit.gate.proofs.endless import ENDLESS, ENDLESS_BY_TACTICS, MISREAD
from audit.gate.proofs.toys import STATED, WORDS


@dataclass(frozen=True)
class Attempt:
    """A text that the reader must refuse.

    Parameters
    ----------
    reason : str
        What it would do.
    text : str
        Written at the end of a file.
    accepted : bool
        Whether Coq would accept it, so that nothing but the reader stands in the way.
    """

    reason: str
    text: str
    accepted: bool = True


PROVED = "Lemma cheated : False. Proof. exact cheat. Qed."

MUTUAL = "Fixpoint f (n : nat) : nat with g (n : nat) : nat := match n with O => 0 | S m => g m end."

READ = (
    Attempt("an axiom behind a command that measures time", f"Time Axiom cheat : False. {PROVED}"),
    Attempt(
        "a variable of a section behind Time: a premise of what the section states, an axiom outside",
        f"Time Variable cheat : False. {PROVED}",
    ),
    Attempt("a hypothesis behind a time limit", f"Timeout 9 Hypothesis cheat : False. {PROVED}"),
    Attempt("two prefixes", f"Time Timeout 9 Parameter cheat : False. {PROVED}"),
    Attempt("a prefix that redirects what is printed", f'Redirect "out" Axiom cheat : False. {PROVED}'),
    Attempt("an axiom", f"Axiom cheat : False. {PROVED}"),
    Attempt("an axiom of several names", f"Axioms cheat other : False. {PROVED}"),
    Attempt("a local axiom", f"Local Axiom cheat : False. {PROVED}"),
    Attempt("an axiom behind an attribute", f"#[local] Axiom cheat : False. {PROVED}"),
    Attempt(
        "an axiom behind an attribute with a string",
        f'#[deprecated(note="]")] Axiom cheat : False. {PROVED}',
        False,
    ),
    Attempt("a parameter", f"Parameter cheat : False. {PROVED}"),
    Attempt("a conjecture", f"Conjecture cheat : False. {PROVED}"),
    Attempt("a variable outside every section", f"Variable cheat : False. {PROVED}"),
    Attempt("a context outside every section", f"Context (cheat : False). {PROVED}"),
    Attempt("a class without an instance", "Class Absurd := cheat : False. Declare Instance absurd : Absurd."),
    Attempt("an axiom behind a bullet of a proof", "Lemma l : True. Proof. - Axiom cheat : False. exact I. Qed."),
    Attempt("an axiom behind a brace of a proof", "Lemma l : True. Proof. { Axiom cheat : False. exact I. } Qed."),
    Attempt(
        "an axiom behind the brace of a goal with a name",
        f"Lemma l : True. Proof. refine ?[g]. [g]: {{ Axiom cheat : False. exact I. }} Qed. {PROVED}",
    ),
    Attempt(
        "an option behind the brace of a goal with a name",
        "Lemma l : True. Proof. refine ?[g]. [ g ] : { Unset Guard Checking. exact I. } Qed. "
        "Fixpoint f (n : nat) : False := f n.",
    ),
    Attempt("a proof by the native compiler", "Lemma l : 1 = 1. Proof. native_compute. reflexivity. Qed.", False),
    Attempt("a cast for the native compiler", "Lemma l : 1 = 1. Proof. exact (eq_refl <<: 1 = 1). Qed.", False),
    Attempt("an axiom in the middle of a proof", "Lemma l : True. Proof. Axiom cheat : False. exact I. Qed."),
    Attempt("a proof that is given up", "Lemma cheat : False. Proof. Admitted."),
    Attempt("a goal that is given up", "Lemma cheat : False. Proof. admit. Admitted."),
    Attempt(
        "obligations that are admitted",
        "From Coq Require Import Program. Program Definition d : False := _. Admit Obligations.",
    ),
    Attempt(
        "a module type assumes what it names", "Module Type T. Axiom cheat : False. End T. Declare Module M : T."
    ),
    Attempt("a module named like a library", "Module Peano. Definition lt (n m : nat) := True. End Peano."),
    Attempt("a recursion that never ends", "Unset Guard Checking. Fixpoint f (n : nat) : False := f n."),
    Attempt("the same by an attribute", "#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n."),
    Attempt(
        "a type that is not positive",
        "Unset Positivity Checking. Inductive bad := Bad (f : bad -> False).",
    ),
    Attempt("universes that are not checked", "Unset Universe Checking. Definition t : Type := Type."),
    Attempt("proof irrelevance by definition", "Set Definitional UIP."),
    Attempt("a plugin", 'Declare ML Module "ltac_plugin:coq-core.plugins.ltac".'),
    Attempt("a file that is not listed", 'Load "Words".', False),
    Attempt("a folder whose files stand for others", 'Add LoadPath "." as Coq.Peano.'),
    Attempt("an axiom of a library that is not allowed", "From Coq Require Import ClassicalEpsilon."),
    Attempt("a library without its owner", "Require Import Classical."),
    Attempt("a notation", 'Notation "a <= b" := (a = b \\/ True).'),
    Attempt("a notation that begins as a comment", 'Notation "(*" := True.'),
    Attempt("a notation without a string", "Notation lt := (fun _ _ : nat => True)."),
    Attempt("an infix", 'Infix "<" := (fun _ _ : nat => True).'),
    Attempt("a coercion", "Definition c (b : bool) : nat := 0. Coercion c : bool >-> nat."),
    Attempt("a canonical structure", "Record r := R { a : nat }. Canonical Structure s := R 1."),
    Attempt("implicit arguments that change", "Arguments small {n}."),
    Attempt("implicit arguments by themselves", "Set Implicit Arguments. Definition f (A : Type) (a : A) := a."),
    Attempt("cases that leave out parameters", "Set Asymmetric Patterns."),
    Attempt(
        "a definition that a tactic in a term makes, named like a library's word; no list of names has it",
        "Definition u : nat -> nat -> Prop := "
        "ltac:(transparent_abstract (exact (fun _ _ : nat => True)) using lt).",
    ),
    Attempt(
        "a lemma that a tactic in a term makes",
        "Definition u : 1 = 1 := ltac:(abstract reflexivity using cheat).",
    ),
    Attempt("a meaning given by tactics", "Definition d : nat. Proof. exact 1. Defined."),
    Attempt("a meaning given by tactics, := in sight", "Definition d (n := 2) : nat. Proof. exact n. Defined."),
    Attempt("a lemma that can be unfolded", "Lemma d : nat. Proof. exact 1. Defined."),
    Attempt(
        "a meaning that is derived",
        "From Coq Require Import Derive. Derive d SuchThat (d = 2) As same. Proof. subst d. reflexivity. Qed.",
    ),
    Attempt("a recursive function by a command", "Require Import FunInd. Function f (n : nat) : nat := n."),
    Attempt("a scheme", "Scheme Minimality for nat Sort Prop."),
    Attempt("a proof by a term alone", "Lemma l : True. Proof I."),
    Attempt("a proof under another name", "Goal True. Proof. exact I. Save cheat."),
    Attempt("a let outside every section", "Let d := 1."),
    Attempt("a section that stays open", "Section S. Variable cheat : False.", accepted=False),
    Attempt("a section that ends under another name", "Section S. End T.", accepted=False),
    Attempt(
        "commands between strings that look like a comment", 'Comments "(*". Axiom cheat : False. Comments "*)".'
    ),
    Attempt(
        "a comment that ends inside its string for the reader only", '(* "*)" *) Axiom cheat : False. (* "(*" *)'
    ),
    Attempt(
        "the mark of a comment's end in a term", "Lemma l : (1 *) = 1 (* c *). Axiom cheat : False. (* e *)", False
    ),
    Attempt("a comment right behind a dot", "Lemma l : True.(* c *) Proof. exact I. Qed.", False),
    Attempt("a comment that does not end", "(* (* *) Axiom cheat : False.", False),
    Attempt("a sentence behind three dots", "Lemma l : True. Proof with auto... Qed.", False),
    Attempt("a space that is not a space", "Lemma\u00a0l : True. Proof. exact I. Qed.", False),
    Attempt("a letter that looks like another", "Definition b\u03bfund : nat := 9."),
    Attempt("another end of line", "Definition d := 1.\r\n"),
    Attempt("a tactic of a library redefined", "Ltac easy ::= idtac."),
    Attempt("a command in lower case", "Lemma l : True. Proof. infoH exact I. Qed.", False),
    Attempt("a proof mode of its own", 'Set Default Proof Mode "Noedit".'),
    Attempt("a cast that the kernel is told to compile", "Register True as core.True.type.", False),
    Attempt("polymorphic universes", "Set Universe Polymorphism."),
    Attempt("a hint that unfolds", "#[global] Hint Unfold small : core."),
    Attempt("a name exported from elsewhere", "Export Nat."),
    Attempt(
        "an axiom behind the brace of all goals",
        f"Lemma l : True. Proof. all: {{ Axiom cheat : False. exact I. }} Qed. {PROVED}",
        False,
    ),
    Attempt(
        "an axiom behind the brace of a goal whose number is hexadecimal",
        f"Lemma l : True. Proof. 0x1: {{ Axiom cheat : False. exact I. }} Qed. {PROVED}",
    ),
    Attempt(
        "an axiom behind the brace of a goal whose number has a line below",
        f"Lemma l : True. Proof. 1_: {{ Axiom cheat : False. exact I. }} Qed. {PROVED}",
    ),
    Attempt(
        "an axiom behind a brace and a comment",
        f"Lemma l : True. Proof. 1 (* c *) : {{ (* c *) Axiom cheat : False. exact I. }} Qed. {PROVED}",
    ),
    Attempt(
        "a parameter that is inlined",
        "Module Type T. Parameter Inline cheat : False. End T. Declare Module M : T.",
    ),
    Attempt(
        "a functor applied to a module without a body",
        "Module Type T. Parameter c : False. End T. Module F (X : T). Lemma l : False. Proof. exact X.c. Qed. "
        "End F. Declare Module X : T. Module M := F X.",
    ),
    Attempt("an included type", "Module Type T. Axiom c : False. End T. Module M. Include T. End M."),
    Attempt("a primitive", "Primitive int := #int63_type."),
    Attempt("a hint that is a tactic", "#[global] Hint Extern 0 => exact I : core."),
    Attempt("a hint without an attribute", "Create HintDb d. Hint Extern 0 => exact I : d."),
    Attempt(
        "an obligation that is given up",
        "From Coq Require Import Program. Obligation Tactic := idtac. Program Definition d : False := _. "
        "Next Obligation. Admitted.",
    ),
    Attempt("universes by an attribute", "#[bypass_check(universes)] Definition t : Type := Type."),
    Attempt("a local option", "Local Unset Guard Checking. Fixpoint f (n : nat) : False := f n."),
    Attempt("a global option", "Global Unset Universe Checking. Definition t : Type := Type."),
    Attempt("propositions that are all equal", "Set Allow StrictProp. Inductive empty : SProp := ."),
    Attempt("a term that code stands for", "From Coq Require Extraction. Extraction Inline small."),
    Attempt("a scope of its own", "Declare Scope s. Bind Scope s with nat."),
    Attempt("a scope that closes", "Close Scope nat_scope."),
    Attempt(
        "numbers read otherwise",
        "Definition f (n : Number.int) : option nat := Some 1. "
        "Definition g (n : nat) : option Number.int := None. Number Notation nat f g : nat_scope.",
    ),
    Attempt("a definition undone and made anew", "Reset small. Definition small (n : nat) : Prop := True."),
    Attempt("an instance without a body", "Class Absurd := c : False. #[export] Declare Instance a : Absurd."),
    Attempt("a polymorphic axiom", f"Polymorphic Axiom cheat : False. {PROVED}"),
    Attempt("a constant that no longer unfolds", "Opaque small. Strategy expand [small]."),
    Attempt("a question that runs a tactic", "Check (ltac:(exact 1))."),
    Attempt("names imported from a module", "Import Nat."),
    Attempt("another language of tactics", "From Ltac2 Require Import Ltac2. Ltac2 x () := ()."),
    Attempt("a tactic with a notation", 'Tactic Notation "t" := idtac.'),
    Attempt("a command that stops the reading", "Quit.", False),
    Attempt(
        "False by Coq's issue 16957: a tactic changes what the kernel computes with",
        "Section S. Let x := 0. Definition wrong : x = 1 := "
        "ltac:(change_no_check 0 with 1 in x; vm_compute; reflexivity). End S. "
        "Lemma absurd : False. Proof. discriminate wrong. Qed.",
    ),
    Attempt("a tactic in a statement", "Lemma l : ltac:(exact True). Proof. exact I. Qed."),
    Attempt("an unsafe tactic in a proof", "Lemma l : 1 = 1. Proof. change_no_check (1 = 1). reflexivity. Qed."),
    Attempt("False by Coq's issue 20455: a recursion that does not end is accepted", ENDLESS),
    *(Attempt(reason, text) for reason, text in MISREAD.items()),
    Attempt("the same by a theorem with a second one, from which Coq makes a recursion", ENDLESS_BY_TACTICS),
    Attempt(
        "the same by lemmas in the other order",
        "Lemma same : forall n : nat, n = n with endless : forall n : nat, False. "
        "Proof. - intros n. reflexivity. - intros n. exact (endless n). Qed.",
        False,
    ),
    Attempt(
        "a second theorem behind a match",
        "Theorem one (n : nat) : match n with O => True | S _ => True end with other : forall n : nat, n = n. "
        "Proof. - destruct n; exact I. - intros n. reflexivity. Qed.",
    ),
    Attempt("two recursive functions, one of tactics", MUTUAL, False),
    Attempt("two definitions", "Definition a := 1 with b := 2.", False),
    Attempt("two types that mention each other", "Inductive i := I (a : j) with j := J."),
    Attempt("two tactics, one of them a library's", "Ltac mine := idtac with easy ::= idtac."),
    Attempt(
        "a recursion that a tactic writes, by filling a hole of another function",
        "Fixpoint g (n : nat) (h : nat -> nat) : nat := match n with O => h 0 | S m => g m S end. "
        "Lemma l : nat. Proof. let t := eval cbv delta [g] in g in "
        "match t with context C [S] => let u := context C [fun n : nat => n] in exact (u 0 S) end. Qed.",
    ),
    Attempt(
        "a recursion by a tactic whose name follows a number without a space",
        "Lemma l : nat -> True. Proof. do 1fix f 1. intros n. exact I. Qed.",
    ),
    Attempt(
        "a second theorem whose with follows a number without a space",
        "Theorem t : forall n : nat, 1 = 1with u : forall n : nat, 2 = 2. Proof. all: reflexivity. Qed.",
    ),
    Attempt(
        "the same behind a mark", "Lemma l : nat -> True. Proof. do '1fix f 1. intros n. exact I. Qed.", False
    ),
    Attempt("an attribute of a field", "Record r := R { #[canonical=no] f : nat }."),
    Attempt("a command behind a selector", "Lemma l : True. Proof. all: Axiom a : False. Qed.", False),
    Attempt("a question behind a selector", "Lemma l : True. Proof. all: Check I. exact I. Qed.", False),
    Attempt("a question behind a goal's number", "Lemma l : True. Proof. 1: Check I. exact I. Qed."),
    Attempt("a tactic for all goals at once", "Lemma l : True. Proof. par: exact I. Qed."),
    Attempt("a tactic for the goal of a name", "Lemma l : True. Proof. refine ?[g]. [g]: exact I. Qed."),
    Attempt("a coercion that a field declares", "Record wrapped := Wrap { value :> nat }."),
    Attempt("a coercion that a constructor declares", "Inductive number := Number :> nat -> number."),
    Attempt("a coercion that a section declares", "Section S. Variable f :> bool -> nat. End S.", False),
    Attempt("a recursive function in a term", "Definition f := fix f (n : nat) : nat := n."),
    Attempt("a recursive function in a proof", "Lemma l : nat -> True. Proof. fix l 1. intros n. exact I. Qed."),
    Attempt("a recursive function of a section", "Section S. Let Fixpoint f (n : nat) : nat := n. End S."),
    Attempt("a value in the declaration of a type", "Inductive i := I (n : nat) (m := n)."),
    Attempt(
        "the same without the word: the sort of a library's constant is taken for a hole",
        "Definition Sp := (fun (A : Type) (g : A -> Prop) => A) _ (fun P => let u := False_sind P in True). "
        "Inductive none : Sp := .",
    ),
    Attempt(
        "a term of no type that the virtual machine computes with",
        "Lemma l : True. Proof. let x := constr:(ltac:(vm_cast_no_check S) : nat) in exact I. Qed.",
    ),
    Attempt("a cast that is not checked", "Lemma l : 1 = 1. Proof. vm_cast_no_check (eq_refl 1). Qed."),
    Attempt("a term that is not checked", "Lemma l : 1 = 1. Proof. exact_no_check (eq_refl 1). Qed."),
    Attempt(
        "a tactic that fills holes by trying",
        "Lemma l : 1 = 1. Proof. hresolve_core (n := 1) in 1. auto. Qed.",
        False,
    ),
    Attempt("a tactic of a library that the proofs do not use", "Lemma l : 1 = 1. Proof. now idtac. Qed."),
    Attempt(
        "a word of another tactic behind its file's name", "Lemma l : True. Proof. Tauto.intuition_solver. Qed."
    ),
    Attempt("a term that a tactic computes", "Lemma l : True. Proof. let t := eval cbv in 1 in exact I. Qed."),
    Attempt("a meaning that is computed", "Definition d := Eval cbv delta [Nat.add] in Nat.add."),
    Attempt("a proposition whose proofs are all equal", "Lemma l : forall P : SProp, P -> P. Proof. auto. Qed."),
)
"""Behind the definitions of `WORDS`."""

ALLOWED = (
    "(* Axiom cheat : False. (* Admitted. *) *)",
    (
        "Section S. Variable d : nat. Variables (e f : nat). Hypothesis positive : 0 < d. Context {A : Type}. "
        "Let g := d. Lemma l : g = d. Proof. reflexivity. Qed. End S."
    ),
    "Lemma assumptions_hold : True. Proof. exact I. Qed.",
    "Lemma l : 1 = 1. Proof. intros; reflexivity. Qed.",
    "Lemma l : True /\\ True. Proof. split. - exact I. - { exact I. } Qed.",
    "Lemma l : True /\\ True. Proof. split. 2: { exact I. } 1: exact I. Qed.",
    "Lemma l : True. Proof. refine ?[g]. [g]: { exact I. } Qed.",
    "Lemma l : True. Proof. exact I. Qed. Definition second_name := l. Check second_name.",
    "Fixpoint f (n : nat) : nat := match n with O => 0 | S m => f m end.",
    "Inductive colour := Red | Green (n : nat). Record pair := Pair { left : nat; right : colour }.",
    "From Coq Require Import List. Import ListNotations. Definition l := [1; 2].",
    "Goal Nat.add 1 1 = 2. Proof. reflexivity. Qed.",
    "Ltac close := reflexivity. Goal 1 = 1. Proof. close. Qed.",
    "Implicit Types (n m : nat).",
    (
        "Lemma l (n : nat) : match match n with O => n | S m => m end with O => True | S _ => True end. "
        "Proof. destruct n as [|n]; [exact I | destruct n; exact I]. Qed."
    ),
    "Definition d (n : nat) := match n with O => match n with O => 1 | S m => m end | S m => m end.",
    "Lemma l : 1 = 2 :> nat -> 3 = 4. Proof. match goal with |- context [S ?n] => intros end. discriminate. Qed.",
    "Lemma l : True /\\ True. Proof. split. 1, 2: (exact I). Qed.",
    "Lemma l : True /\\ True. Proof. (split; intros). all: exact I. Qed.",
    "From Coq Require Import ZArith. Open Scope Z_scope. Definition z := 1 + 1.",
)
"""Null controls: honest texts."""


@dataclass(frozen=True)
class Asked:
    """An attempt in the allowed part of the language.

    Parameters
    ----------
    reason : str
        What it does.
    words, stated : str
        The files.
    found : str
        What the gate must report.
    """

    reason: str
    words: str
    stated: str
    found: str


def _stated(old: str, new: str, text: str = STATED) -> str:
    if old not in text:
        raise LookupError(old)
    return text.replace(old, new)


_CHANGED = "one_is_small: the statement has changed"

ASKED = (
    Asked(
        "a weaker statement with an adapted proof",
        WORDS,
        _stated("2 <= bound", "1 <= bound", _stated("apply le_n", "repeat constructor")),
        "two_is_at_most_bound: the statement has changed",
    ),
    Asked(
        "a weaker definition",
        WORDS.replace(":= 2", ":= 3"),
        _stated("apply le_n", "repeat constructor"),
        "Words.bound: the definition has changed",
    ),
    Asked(
        "a premise by a section's hypothesis",
        WORDS,
        _stated("Theorem one_is_small", "Section S.\nHypothesis cheat : False.\nTheorem one_is_small").replace(
            "unfold small, bound. repeat constructor. Qed.", "destruct cheat. Qed.\nEnd S."
        ),
        _CHANGED,
    ),
    Asked(
        "a premise by a section's variable",
        WORDS,
        _stated("Theorem one_is_small", "Section S.\nContext (cheat : False).\nTheorem one_is_small").replace(
            "unfold small, bound. repeat constructor. Qed.", "destruct cheat. Qed.\nEnd S."
        ),
        _CHANGED,
    ),
    Asked(
        "a word of the statement bound by a section",
        WORDS,
        _stated("Theorem one_is_small", "Section S.\nLet small (n : nat) := True.\nTheorem one_is_small").replace(
            "unfold small, bound. repeat constructor. Qed.", "exact I. Qed.\nEnd S."
        ),
        _CHANGED,
    ),
    Asked(
        "a definition in front of another of the same name",
        WORDS,
        _stated("Theorem one", "Definition small (n : nat) : Prop := True.\nTheorem one").replace(
            "unfold small, bound. repeat constructor", "exact I"
        ),
        _CHANGED,
    ),
    Asked(
        "a word of the library redefined beside the definition that uses it",
        "Definition lt (n m : nat) : Prop := True.\n" + WORDS.replace("n < bound", "lt n bound"),
        _stated("unfold small, bound. repeat constructor", "exact I"),
        "Words.small: the definition has changed",
    ),
    Asked(
        "a type of the library redefined",
        "Inductive bool := true.\nDefinition nat := Datatypes.nat.\n" + WORDS,
        STATED,
        "Words.bound: the definition has changed",
    ),
    Asked(
        "a recursive function for a plain one",
        WORDS.replace(
            "Definition bound : nat := 2",
            "Fixpoint count (n : nat) : nat := match n with O => 3 | S m => 3 end.\nDefinition bound := count 0",
        ),
        _stated("unfold bound. apply le_n", "repeat constructor"),
        "Words.bound: the definition has changed",
    ),
    Asked(
        "a word of the statement given a value by a section",
        WORDS,
        _stated("Theorem two", "Section S.\nContext (bound := 3).\nTheorem two").replace(
            "unfold bound. apply le_n. Qed.", "repeat constructor. Qed.\nEnd S."
        ),
        "two_is_at_most_bound: the statement has changed",
    ),
    Asked("a theorem left out", WORDS, STATED.partition("Theorem two")[0], "committed, and no longer proved"),
    Asked(
        "a theorem added", WORDS, STATED + "Theorem new : True.\nProof. exact I. Qed.\n", "new: proved, and not"
    ),
    Asked(
        "a second name for a weaker theorem",
        f"{WORDS}Lemma weaker : 1 <= bound.\nProof. unfold bound. repeat constructor. Qed.\n",
        STATED.partition("Theorem two")[0] + "Definition two_is_at_most_bound := weaker.\n",
        "two_is_at_most_bound: the statement has changed",
    ),
    Asked(
        "a second name for a variable of a section",
        WORDS,
        STATED.partition("Theorem two")[0]
        + "Section S.\nVariable cheat : 2 <= bound.\nDefinition two_is_at_most_bound := cheat.\nEnd S.\n",
        "two_is_at_most_bound: the statement has changed",
    ),
    Asked(
        "a second name with a type of its own",
        f"{WORDS}Lemma weaker : 1 <= bound.\nProof. unfold bound. repeat constructor. Qed.\n",
        STATED.partition("Theorem two")[0] + "Definition two_is_at_most_bound : 1 <= bound := weaker.\n",
        "two_is_at_most_bound: committed, and no longer proved",
    ),
    Asked(
        "a scope opened in front of a statement",
        WORDS,
        _stated("Theorem two", "From Coq Require Import ZArith.\nOpen Scope Z_scope.\nTheorem two").replace(
            "2 <= bound.\nProof. unfold bound. apply le_n.", "2 <= 2.\nProof. discriminate."
        ),
        "two_is_at_most_bound: the statement has changed",
    ),
    Asked(
        "an implicit type that changes the statement",
        WORDS,
        _stated("2 <= bound", "forall n : Empty_set, 2 <= bound").replace(
            "unfold bound. ", "unfold bound. intros n. "
        ),
        "two_is_at_most_bound: the statement has changed",
    ),
)
