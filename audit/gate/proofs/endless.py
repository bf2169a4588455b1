"""Recursive functions that do not end, and that Coq 8.16 accepts (its issue 20455): each proves False."""

from __future__ import annotations

ENDLESS = """
Definition positive n := match n with 0 => False | S _ => True end.
Definition large n := match n with 0 => False | S n => positive n end.
Lemma part (b : bool) (x n : nat) :
  b = true -> large x -> positive (match (if b then x else n) with 0 => n | S m => m end).
Proof. intros Hb Hx. subst b. destruct x. exfalso; exact Hx. exact Hx. Qed.
Fixpoint endless (n : nat) {struct n} : positive n -> False :=
  match n with
  | 0 => fun h => h
  | S n => fun _ =>
    let f (b : bool) (e : b = true) (x : nat) (Hx : large x) :=
      endless (match (if b then x else n) with 0 => n | S m => m end) (part b x n e Hx)
    in f true eq_refl 5 I
  end.
Lemma absurd : False.
Proof. exact (endless 1 I). Qed.
"""

ENDLESS_BY_TACTICS = """
Definition positive (n : nat) : Prop := match n with 0 => False | S _ => True end.
Definition large (n : nat) : Prop := match n with 0 => False | S n => positive n end.
Lemma part : forall (b : bool) (x n : nat),
  b = true -> large x -> positive (match (if b then x else n) with 0 => n | S m => m end).
Proof. intros b x n e h. subst b. destruct x; cbn in *. destruct h. exact h. Qed.
Theorem endless : forall n : nat, positive n -> False with junk : forall n : nat, n = n.
Proof.
  - intros n. refine (match n with
      | 0 => fun h => h
      | S k => fun h =>
        let f (b : bool) (e : b = true) (x : nat) (Hx : large x) :=
          endless (match (if b then x else k) with 0 => k | S m => m end) (part b x k e Hx) in
        f true eq_refl 5 I
      end).
  - intros n. reflexivity.
Qed.
Lemma absurd : False.
Proof. exact (endless 1 I). Qed.
"""

_PICK = """
Definition pick (b : bool) (x k : nat) : nat := match (if b then x else k) with O => k | S m => m end.
"""

_FALSE = """
Theorem boom : False.
Proof.
  assert (H : f 1 = S (f 1)) by reflexivity.
  induction (f 1). discriminate. injection H. exact IHn.
Qed.
"""

_BY_BRANCH = """
Fixpoint f (n : nat) : nat :=
  match n with
  | O => 0
  | S k => let g (b : bool) (x : nat) := {} in S (g true 2)
  end.
"""

_BY_MATCH = """
Definition sel (b : bool) (x n : nat) : nat := if b then x else n.
Fixpoint f (n : nat) (b : bool) (x selbxn : nat) {struct n} : nat :=
  match sel b x n with
  | O => 0
  | S k => S (f k true 2 k)
  end.
Theorem boom : False.
Proof.
  assert (H : f 1 true 2 1 = S (f 1 true 2 1)) by reflexivity.
  induction (f 1 true 2 1). discriminate. injection H. exact IHn.
Qed.
"""

_BY_BARS = """
From Coq Require Import Bool.
Fixpoint f (n : nat) (y : bool) : bool :=
  match n with
  | O => true
  | S k => false || let g := fun k => f k in
      let h (b : bool) (x : nat) := if y then negb (g (pick b x k) y) else true in h true 2
  end.
Lemma step : forall y : bool, f 1 y = if y then negb (f 1 y) else true.
Proof. intros y. reflexivity. Qed.
Theorem boom : False.
Proof. generalize (step true). destruct (f 1 true); discriminate. Qed.
"""


def _branch(call: str) -> str:
    return _PICK + _BY_BRANCH.format(call) + _FALSE


MISREAD = {
    "a name bound again behind a binder whose type has a binder": _branch(
        "(fun (y : (fun _ : nat => nat) 0) (k : nat) => f k) 0 (pick b x k)"
    ),
    "the same behind a let": _branch("let h (y : let z := 0 in nat) (k : nat) := f k in h 0 (pick b x k)"),
    "the same behind a product in the type": _branch(
        "(fun (y : (fun _ : forall z : nat, nat => nat) S) (k : nat) => f k) 0 (pick b x k)"
    ),
    "the same behind a proposition in the type": _branch(
        "(fun (y : (fun _ : (exists z : nat, z = 0) -> nat => nat) (fun _ => 0)) (k : nat) => f k) 0 (pick b x k)"
    ),
    "a match on a term that without its spaces is the name of a parameter": _BY_MATCH,
    "an operation of two bars, of which one would begin a pattern": _PICK + _BY_BARS,
}
"""What a reader of names may take for calls on parts of a parameter."""
