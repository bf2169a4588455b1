"""Recursive functions of the proofs visibly end; those that need Coq's own check to say so are refused."""

from __future__ import annotations

import pytest

from audit.proofs.check import listed
from audit.proofs.recursion import visibly_ends
from audit.proofs.sources import PROJECT, project_files, sentences

PLAIN = "Fixpoint f (n m : nat) : nat := match n with S k => f k (f k m) | O => m end"


def changed(old: str, new: str) -> str:
    assert old in PLAIN
    return PLAIN.replace(old, new)


def test_every_recursive_function_of_the_proofs_visibly_ends():
    found = [
        sentence
        for name in project_files(PROJECT)
        for sentence in sentences((PROJECT / name).read_text(encoding="utf-8"))
        if sentence.startswith("Fixpoint")
    ]
    assert len(found) > 40
    assert [sentence for sentence in found if not visibly_ends(sentence)] == []
    # the list has no function that is gone
    assert sorted(sentence.split()[1] for sentence in found) == sorted(name.split(".")[1] for name in listed())


@pytest.mark.parametrize(
    "sentence",
    [
        PLAIN,
        changed("S k => f k (f k m) | O => m", "O => m | S k => fold_left (fun t u => f k (t + u)) [m] 0"),
        changed("match n with S k => f k (f k m) | O => m", "match m, n with S l, S k => f k 0 + l | _, _ => 0"),
        changed("f k (f k m)", "if f k 0 <? f k 1 then f k 0 else (f k 1 - f k 2)%nat"),
        "Fixpoint f {A : Type} (l : list A) {struct l} : nat := match l with [] => 0 | _ :: rest => f rest end",
        "Fixpoint f (n : nat) : nat := match n with O => 0 | S _ => 1 end%nat",
    ],
)
def test_visible_end_is_seen(sentence):
    assert visibly_ends(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Fixpoint f (n : nat) : False := f n",
        changed("f k (f k m)", "f n m"),
        changed("f k (f k m)", "f k (f n m)"),
        changed("f k (f k m)", "f (pred k) m"),
        changed("f k (f k m)", "f (match k with O => n | S l => l end) m"),
        changed("f k (f k m)", "f k (g f)"),
        changed("f k (f k m)", "f k (g (f))"),
        changed("f k (f k m)", "f (k) m"),
        changed("f k (f k m)", "let k := n in f k m"),
        changed("f k (f k m)", "(fun k => f k m) n"),
        changed("f k (f k m)", "(fun (l k : nat) => f k m) n n"),
        changed("f k (f k m)", "@f k m"),
        changed("f k (f k m)", "f (m := n) k k"),
        changed("f k (f k m)", "g {k : nat | f k m = 0}"),
        changed("f k (f k m)", "g f k m"),
        changed("f k (f k m)", "(g f) k"),
        changed("f k (f k m)", "2 f k"),
        changed("f k (f k m)", "(g) f k"),
        changed("f k (f k m)", "(f) k"),
        changed("f k (f k m)", "f k~0 m"),
        changed("f k (f k m)", "f k! m"),
        changed("f k (f k m)", "(fix g (l : nat) := f l m) n"),
        changed("S k", "S k as l"),
        changed("S k", "k"),
        changed("S k", "(k)"),
        changed("S k", "k | S k"),
        changed("O => m", "k => f k m"),
        changed(
            "match n with S k => f k (f k m) | O => m", "match n, m with S k, S l => f k m + f n l | _, _ => 0"
        ),
        changed("match n", "match pred n"),
        changed("end", "end + f n m"),
        changed("end", "end with g (n : nat) : nat := f n n"),
        changed("(n m : nat)", "(n : nat) (m := 2)"),
        changed("(n m : nat)", "n m"),
        changed("(n m : nat)", "(n : nat) ('m : nat)"),
        changed("f k (f k m)", "(fun (y : (fun _ : nat => nat) 0) (k : nat) => f k) 0 (pick m n k)"),
        changed("f k (f k m)", "let h (y : let z := 0 in nat) (k : nat) := f k in h 0 (pick m n k)"),
        changed("f k (f k m)", "S (length [forall (y : forall z : nat, Type) (k : nat), f k])"),
        changed("f k (f k m)", "S (length [exists (y : exists z : nat, Type) (k : nat), f k])"),
        changed("f k (f k m)", "let '(k, l) := (n, n) in f k m"),
        changed("f k (f k m)", "if n is S k then f k m else 0"),
        changed("f k (f k m)", "false || let g := fun k => f k in let h := true in h"),
        changed("f k (f k m)", "f k m || let g := fun l => 0 in g 0"),
        changed("f k (f k m)", "f k m && true"),
        changed("S k", "S f"),
        "Fixpoint f (n : nat) (fn : nat) : nat := match f n with O => 0 | S m => m end",
        "Fixpoint f (b x n selbxn : nat) : nat := match sel b x n with O => 0 | S k => f b x n k end",
        "Fixpoint f (n m : nat) : nat := match n, with O => 0 | S k => f k m end",
    ],
)
def test_recursion_that_may_not_end_is_refused(sentence):
    assert not visibly_ends(sentence)
