"""The Coq file of a certificate of the repaired mechanism: its releases, the statement, and a proof.

Only numbers and words of this module reach the file: no name from the release does, so none can end a comment.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import Template

from audit.proofs.releases.composed import Composed
from audit.proofs.releases.discrete_text import (
    GAPS,
    GAUSSIAN_ON_GRID,
    GAUSSIAN_TRANSCRIPTS,
    LAPLACE_ON_GRID,
    LAPLACE_TRANSCRIPTS,
    TRANSCRIPTS,
)
from audit.proofs.releases.text import SEEDED
from audit.proofs.sigma import quotient
from reference.repaired.spent import SUM_STEPS

HEADER = """\
(** * Certificate of a release of the repaired mechanism

    Generated from a release's file by [python -m audit certify].  [parts] repeats that file: how many numbers
    each release has, by how much one record can change them ({norm}), and the scale of their noise, which is
    exactly the float in the file; [Q2R (a # b)] is a / b.

    The theorem is about any algorithm that releases these numbers one after the other, where a number may depend
    on all numbers before it, and whose sums change by no more than is stated, whatever was released before.  That
    the mechanism's sums do not is Lemmas 1 to 4 of proofs/repaired.md, and is not proved here.  Each scale is
    the file's, whatever was released before; a probe's follows the released share of the group.
    {about}
    The sampler and the floats are outside. *)
"""

NORMS = {"gaussian": "its square in l2", "laplace": "in l1"}

DENSITY = "It is about real arithmetic, and noise given by its density."
WHOLE = """It is about whole numbers and every event.
    Changes and scales are in steps of the grid, 2^-40 each."""

GRID_COSTS = """
    The noise is compared with rounded normal noise, on [reach] scales around each centre: that costs [gap] twice
    in epsilon, and the rest of delta's formula."""

RECORD = """
(** How many numbers a release has, by how much one record can change them, and the scale of its noise. *)
Record part := Part { part_numbers : nat; part_change : Q; part_scale : Q }.
"""

SCALES = """
Fixpoint all_numbers (l : list part) : nat :=
  match l with [] => O | r :: l' => (part_numbers r + all_numbers l')%nat end.

(** The scale of the i-th number of all, counted from 0. *)
Fixpoint scale_at (l : list part) (i : nat) : R :=
  match l with
  | [] => 1
  | r :: l' => if (i <? part_numbers r)%nat then Q2R (part_scale r) else scale_at l' (i - part_numbers r)
  end.
"""

POSITIVE = """
Fixpoint all_positive (l : list part) : bool :=
  match l with [] => true | r :: l' => negb (Qle_bool (part_scale r) 0) && all_positive l' end.

Lemma scale_positive : forall q, negb (Qle_bool q 0) = true -> 0 < Q2R q.
Proof.
  intros q H; apply Bool.negb_true_iff in H; rewrite <- RMicromega.Q2R_0; apply Qlt_Rlt.
  apply Qnot_le_lt; intros E; apply Qle_bool_iff in E; rewrite E in H; discriminate.
Qed.

Lemma scale_at_pos : forall l i, all_positive l = true -> 0 < scale_at l i.
Proof.
  induction l as [| r l IH]; intros i H; cbn [scale_at all_positive] in *; [lra |]; apply andb_prop in H.
  destruct H as [H1 H2].
  destruct (i <? part_numbers r)%nat; [apply scale_positive, H1 | apply IH, H2].
Qed.
"""

WITHIN = "\n(** On a transcript of changes f, each release changes by no more than is stated of it. *)\n"

SPENT = """\
Fixpoint changes_within (f : nat -> R) (start : nat) (l : list part) : Prop :=
  match l with
  | [] => True
  | r :: l' => sum_over (seq start (part_numbers r)) (fun i => $size) <= Q2R (part_change r) /\\
      changes_within f (start + part_numbers r) l'
  end.

Fixpoint all_spent (l : list part) : Q :=
  match l with [] => 0%Q | r :: l' => ($spent + all_spent l')%Q end.
"""

CHANGES = r"""
Lemma rate_of_part : forall r, 0 < Q2R (part_scale r) ->
  0 <= $rate /\ Q2R ($spent) = Q2R (part_change r) * $rate.
Proof.
  intros r Hr; assert (Hi := Rinv_0_lt_compat _ Hr); split; [nra |].
  unfold Qdiv; rewrite Q2R_mult, Q2R_inv.
  - rewrite ?Q2R_mult; field; lra.
  - intros E; apply Qeq_eqR in E; rewrite ?Q2R_mult, RMicromega.Q2R_0 in E; nra.
Qed.

Lemma spent_of_changes : forall l f s start, all_positive l = true ->
  (forall i, (i < all_numbers l)%nat -> s (start + i)%nat = scale_at l i) -> changes_within f start l ->
  sum_over (seq start (all_numbers l)) (fun i => $cost) <= Q2R (all_spent l).
Proof.
  induction l as [| r l IH]; intros f s start Hpos Hs Hf; cbn [all_numbers all_spent].
  - cbn; rewrite RMicromega.Q2R_0; lra.
  - cbn [all_positive] in Hpos; apply andb_prop in Hpos; destruct Hpos as [H1 H2]; destruct Hf as [Hf Hrest].
    assert (Hr := scale_positive _ H1); destruct (rate_of_part r Hr) as [Hrate Hspent].
    rewrite seq_app, sum_app, Q2R_plus; apply Rplus_le_compat.
    + rewrite (sum_ext _ _ (fun i => $size * $rate)).
      * rewrite sum_scal_r, Hspent; apply Rmult_le_compat_r; [exact Hrate | exact Hf].
      * intros i Hi; apply in_seq in Hi; replace i with (start + (i - start))%nat at 2 by lia.
        rewrite Hs by (cbn [all_numbers]; lia); cbn [scale_at]; replace (i - start <? part_numbers r)%nat with true
          by (symmetry; apply Nat.ltb_lt; lia).
        field; lra.
    + apply IH; [exact H2 | | exact Hrest].
      intros i Hi; rewrite <- Nat.add_assoc, Hs by (cbn [all_numbers]; lia); cbn [scale_at].
      replace (part_numbers r + i <? part_numbers r)%nat with false by (symmetry; apply Nat.ltb_ge; lia).
      f_equal; lia.
Qed.
"""

WORDS = {
    "gaussian": {
        "size": "f i ^ 2",
        "spent": "part_change r / (part_scale r * part_scale r)",
        "cost": "(f i / s i) ^ 2",
        "rate": "(/ Q2R (part_scale r)) ^ 2",
    },
    "laplace": {
        "size": "Rabs (f i)",
        "spent": "part_change r / part_scale r",
        "cost": "Rabs (f i) / s i",
        "rate": "/ Q2R (part_scale r)",
    },
}
"""What a change counts, what a release spends, what one number costs, and the cost per change, by the noise."""

GAUSSIAN = r"""
Theorem release_is_private : forall c c' : list R -> R,
  (forall ts, length ts = all_numbers parts ->
    changes_within (fun i => c (firstn i ts) - c' (firstn i ts)) 0 parts) ->
  adaptively_indistinguishable (Q2R epsilon)
    (normal_tail (Q2R epsilon / Q2R mu - Q2R mu / 2) -
      exp (Q2R epsilon) * normal_tail (Q2R epsilon / Q2R mu + Q2R mu / 2))
    (all_numbers parts)
    (fun past t => gaussian_density (scale_at parts (length past)) (t - c past))
    (fun past t => gaussian_density (scale_at parts (length past)) (t - c' past)).
Proof.
  intros c c' H; assert (Hpos : all_positive parts = true) by (vm_compute; reflexivity).
  apply adaptive_gaussian_profile with (sigma := fun past => scale_at parts (length past)).
  - intros past; apply scale_at_pos, Hpos.
  - apply scale_positive; vm_compute; reflexivity.
  - intros ts Hts; apply Rle_trans with (Q2R (all_spent parts)).
    + unfold transcript_shift; rewrite Hts.
      apply (spent_of_changes parts (fun i => c (firstn i ts) - c' (firstn i ts))
        (fun i => scale_at parts (length (firstn i ts))) 0 Hpos).
      * intros i Hi; rewrite firstn_length_le by lia; reflexivity.
      * apply H, Hts.
    + replace (Q2R mu ^ 2) with (Q2R (mu * mu)) by (rewrite Q2R_mult; ring).
      apply Qle_Rle, Qle_bool_iff; vm_compute; reflexivity.
Qed.
"""

LAPLACE_LOSSES = r"""
Section Losses.
Variable scale_of : list R -> R.
Variables (c c' : list R -> R).
Hypothesis scale_of_pos : forall past, 0 < scale_of past.

Let p past t := laplace_density (scale_of past) (t - c past).
Let q past t := laplace_density (scale_of past) (t - c' past).

Fixpoint loses (k : nat) (past : list R) (B : R) : Prop :=
  match k with
  | O => 0 <= B
  | S k' => forall t, loses k' (past ++ [t]) (B - Rabs (c past - c' past) / scale_of past)
  end.

Lemma expectation_nonneg : forall lower upper test, (forall past, lower past <= upper past) ->
  (forall ts, 0 <= test ts) -> forall k past, adaptive_integrable k q lower upper test past ->
  0 <= adaptive_expectation k q lower upper test past.
Proof.
  intros lower upper test Hord Ht; induction k as [| k IH]; intros past Hi; cbn; [apply Ht |].
  destruct Hi as [Hi Hex]; apply RInt_ge_0; [apply Hord | exact Hex |].
  intros t Hlt; apply Rmult_le_pos; [apply Rlt_le, laplace_pos, scale_of_pos | apply IH, Hi; lra].
Qed.

Lemma adaptive_laplace : forall lower upper test, (forall past, lower past <= upper past) ->
  (forall ts, 0 <= test ts) -> forall k past B, loses k past B ->
  adaptive_integrable k p lower upper test past -> adaptive_integrable k q lower upper test past ->
  adaptive_expectation k p lower upper test past <= exp B * adaptive_expectation k q lower upper test past.
Proof.
  intros lower upper test Hord Ht; induction k as [| k IH]; intros past B HB Hp Hq.
  - cbn in *; specialize (Ht past); assert (1 <= exp B); [| nra].
    rewrite <- exp_0; destruct (Req_dec B 0) as [-> |]; [lra | apply Rlt_le, exp_increasing; lra].
  - destruct Hp as [Hp Hexp], Hq as [Hq Hexq]; cbn [adaptive_expectation].
    rewrite <- RInt_mult_const by exact Hexq.
    apply RInt_le; [apply Hord | exact Hexp | apply ex_RInt_mult_const; exact Hexq |].
    intros t Hlt; assert (Hin : lower past <= t <= upper past) by lra.
    set (loss := Rabs (c past - c' past) / scale_of past) in *.
    assert (H := IH (past ++ [t]) (B - loss) (HB t) (Hp t Hin) (Hq t Hin)).
    assert (Hratio := laplace_ratio (scale_of past) (c past) (c' past) t (scale_of_pos past)); fold loss in Hratio.
    assert (Hpos := laplace_pos (scale_of past) (t - c past) (scale_of_pos past)).
    assert (Hn := expectation_nonneg lower upper test Hord Ht k (past ++ [t]) (Hq t Hin)).
    set (Ep := adaptive_expectation k p lower upper test (past ++ [t])) in *.
    set (Eq := adaptive_expectation k q lower upper test (past ++ [t])) in *.
    replace (exp B * (q past t * Eq)) with (exp loss * q past t * (exp (B - loss) * Eq))
      by (replace B with (loss + (B - loss)) at 2 by ring; rewrite exp_plus; ring).
    assert (He := exp_pos (B - loss)); assert (0 <= exp (B - loss) * Eq) by (apply Rmult_le_pos; lra).
    apply Rle_trans with (p past t * (exp (B - loss) * Eq)).
    + apply Rmult_le_compat_l; [apply Rlt_le, Hpos | exact H].
    + apply Rmult_le_compat_r; [assumption | exact Hratio].
Qed.
End Losses.
"""

LAPLACE = r"""
Lemma loses_of_transcripts : forall scale_of c c' k past B,
  (forall ts, length ts = k -> sum_over (seq 0 (length (past ++ ts))) (fun i =>
    Rabs (c (firstn i (past ++ ts)) - c' (firstn i (past ++ ts))) / scale_of (firstn i (past ++ ts))) <= B) ->
  loses scale_of c c' k past (B - sum_over (seq 0 (length past)) (fun i =>
    Rabs (c (firstn i past) - c' (firstn i past)) / scale_of (firstn i past))).
Proof.
  intros scale_of c c'; induction k as [| k IH]; intros past B H; cbn [loses].
  - specialize (H [] eq_refl); rewrite app_nil_r in H; lra.
  - intros t; set (S := sum_over (seq 0 (length past)) _).
    replace (B - S - Rabs (c past - c' past) / scale_of past) with (B - sum_over (seq 0 (length (past ++ [t])))
      (fun i => Rabs (c (firstn i (past ++ [t])) - c' (firstn i (past ++ [t]))) /
        scale_of (firstn i (past ++ [t])))).
    + apply IH; intros ts Hts; rewrite <- app_assoc; apply H; cbn; rewrite Hts; reflexivity.
    + rewrite app_length; cbn [length]; rewrite seq_app, sum_app; cbn [seq Nat.add sum_over fold_right].
      rewrite firstn_app, firstn_all, Nat.sub_diag; cbn [firstn]; rewrite app_nil_r.
      replace (sum_over (seq 0 (length past)) _) with S; [ring |]; apply sum_ext; intros i Hi.
      apply in_seq in Hi; rewrite firstn_app; replace (i - length past)%nat with O by lia; cbn [firstn].
      rewrite app_nil_r; reflexivity.
Qed.

Theorem release_is_private : forall c c' : list R -> R,
  (forall ts, length ts = all_numbers parts ->
    changes_within (fun i => c (firstn i ts) - c' (firstn i ts)) 0 parts) ->
  adaptively_indistinguishable (Q2R epsilon) 0 (all_numbers parts)
    (fun past t => laplace_density (scale_at parts (length past)) (t - c past))
    (fun past t => laplace_density (scale_at parts (length past)) (t - c' past)).
Proof.
  intros c c' H; assert (Hpos : all_positive parts = true) by (vm_compute; reflexivity).
  intros lower upper test Hord Ht Hp Hq; rewrite Rplus_0_r.
  apply (adaptive_laplace (fun past => scale_at parts (length past)) c c'); try assumption.
  - intros past; apply scale_at_pos, Hpos.
  - intros ts; apply Ht.
  - assert (L := loses_of_transcripts (fun past => scale_at parts (length past)) c c' (all_numbers parts) []
      (Q2R epsilon)); cbn [length seq sum_over fold_right app] in L; rewrite Rminus_0_r in L; apply L.
    intros ts Hts; apply Rle_trans with (Q2R (all_spent parts)).
    + rewrite Hts; apply (spent_of_changes parts (fun i => c (firstn i ts) - c' (firstn i ts))
        (fun i => scale_at parts (length (firstn i ts))) 0 Hpos).
      * intros i Hi; rewrite firstn_length_le by lia; reflexivity.
      * apply H, Hts.
    + apply Qle_Rle, Qle_bool_iff; vm_compute; reflexivity.
Qed.
"""

MODULES = {
    ("laplace", False): "Definitions Sums Analysis Laplace Adaptive",
    ("laplace", True): "Definitions Sums Countable Hardened",
    ("gaussian", False): "Definitions Sums Normal ExtendedGaussian Adaptive",
    ("gaussian", True): "Definitions Sums Analysis Normal Gaussian ExtendedGaussian Adaptive Countable Hardened\n"
    "  DiscreteGaussian HardenedGaussian",
}
"""Coq text by the kind of noise, and whether it is on a grid."""

PROOFS = {
    ("laplace", False): SPENT + POSITIVE + CHANGES + LAPLACE_LOSSES + LAPLACE,
    ("laplace", True): SPENT + POSITIVE + CHANGES + TRANSCRIPTS + LAPLACE_TRANSCRIPTS + LAPLACE_ON_GRID,
    ("gaussian", False): SPENT + POSITIVE + CHANGES + GAUSSIAN,
    ("gaussian", True): SPENT + GAPS + POSITIVE + CHANGES + TRANSCRIPTS + GAUSSIAN_TRANSCRIPTS + GAUSSIAN_ON_GRID,
}


def composed_text(composed: Composed) -> str:
    """Return the Coq file."""
    return "".join(_parts(composed))


def _parts(composed: Composed) -> Iterator[str]:
    kind, discrete = composed.kind, composed.discrete
    about = (WHOLE if discrete else DENSITY) + (GRID_COSTS if composed.grid is not None else "")
    yield HEADER.format(norm=NORMS[kind], about=about)
    yield SEEDED if composed.release.seeded else ""
    yield "From Coquelicot Require Import Coquelicot.\n"
    yield "From Coq Require Import Reals ZArith QArith Qreals List PeanoNat Lia Lra.\n"
    yield f"From CFM Require Import {MODULES[kind, discrete]}.\nImport ListNotations.\nOpen Scope R_scope.\n"
    yield RECORD
    unit = SUM_STEPS if discrete else 1
    square = unit if kind == "gaussian" else 1
    rows = ";\n  ".join(
        f"Part {one.numbers} ({quotient(one.change * unit * square)}) ({quotient(one.scale * unit)})"
        for one in composed.entries
    )
    yield f"\nDefinition parts : list part := [\n  {rows}].\n"
    yield f"Definition epsilon : Q := {quotient(composed.epsilon)}.\n"
    if composed.mu is not None:
        yield f"Definition mu : Q := {quotient(composed.mu)}.\n"
    if composed.grid is not None:
        yield f"Definition reach : Q := {quotient(composed.grid.reach)}.\n"
    yield SCALES + WITHIN + Template(PROOFS[kind, discrete]).substitute(WORDS[kind])
