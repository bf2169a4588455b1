(** * Lemmas 1 to 4 of the repaired mechanism: how far one record changes each sum that it releases

    Neighbours differ in one record. Weights, cells, predictions and the centre c were released before, so the
    lemmas hold for any value of them. *)

From Coq Require Import Reals List Bool PeanoNat Lra Lia.
From CFM Require Import Definitions Sums Taylor.
Import ListNotations.
Open Scope R_scope.

(** ** Definitions *)

(** Records in the ball of both signs, of l1-norm at most L. *)
Definition short_record (d : nat) (L : R) (t : record) : Prop :=
  sum_over (coordinates d) (fun e => attribute t e ^ 2) <= 1 /\
  sum_over (coordinates d) (fun e => Rabs (attribute t e)) <= L.

(** The slope of the logistic loss at the score s, cut to [-1/2, 1/2]. *)
Definition capped_residual (s : R) (target : bool) : R :=
  Rmax (- (1 / 2)) (Rmin (1 / 2) (logistic s - number target)).

(** The gradient at the weights w; [target] is the label, or the protected attribute. *)
Definition capped_gradient (d : nat) (w : nat -> R) (target : record -> bool) (D : dataset) (e : nat) : R :=
  sum_over D (fun t =>
    capped_residual (sum_over (coordinates d) (fun i => attribute t i * w i)) (target t) * attribute t e).

(** The sums of the attributes of the records with the target, and of those without. *)
Definition sum_with (target : record -> bool) (D : dataset) (e : nat) : R :=
  sum_over D (fun t => number (target t) * attribute t e).
Definition sum_without (target : record -> bool) (D : dataset) (e : nat) : R :=
  sum_over D (fun t => (1 - number (target t)) * attribute t e).

Definition group_count (D : dataset) : R := sum_over D (fun t => number (protected t)).

(** The sum of (z - c) (f - 1/2) for predictions f. *)
Definition imbalance (c : R) (prediction : record -> bool) (D : dataset) : R :=
  sum_over D (fun t => (number (protected t) - c) * (number (prediction t) - 1 / 2)).

Definition in_cell_of (cell : record -> nat) (k : nat) (t : record) : R := if Nat.eqb k (cell t) then 1
  else 0.

Definition cell_count (cell : record -> nat) (D : dataset) (k : nat) : R := sum_over D (in_cell_of cell k).

(** The sum of f - 1/2 over the records of a cell. *)
Definition cell_selection (cell : record -> nat) (prediction : record -> bool) (D : dataset) (k : nat) : R :=
  sum_over D (fun t => in_cell_of cell k t * (number (prediction t) - 1 / 2)).

(** ** One record of a sum *)

Lemma one_record : forall n domain D D', neighbours n domain D D' -> exists t t', domain t /\ domain t' /\
  forall f : record -> R, sum_over D f - sum_over D' f = f t - f t'.
Proof.
  intros n domain D D' (_ & HD & HD' & before & t & t' & after & -> & ->); exists t, t'.
  apply Forall_app in HD, HD'; destruct HD as [_ HD], HD' as [_ HD']; inversion HD; inversion HD'; subst.
  split; [assumption | split; [assumption |]]; intros f; rewrite !sum_middle; ring.
Qed.

Lemma square_of_difference : forall u v, (u - v) ^ 2 <= 2 * u ^ 2 + 2 * v ^ 2.
Proof. intros u v; generalize (pow2_ge_0 (u + v)); nra. Qed.

Lemma Rabs_of_difference : forall u v, Rabs (u - v) <= Rabs u + Rabs v.
Proof. intros u v; rewrite <- (Rabs_Ropp v); apply Rabs_triang. Qed.

(** ** Lemma 1: gradients *)

Lemma residual_bounds : forall s target, - (1 / 2) <= capped_residual s target <= 1 / 2.
Proof. intros s target; unfold capped_residual, Rmax, Rmin; repeat destruct Rle_dec; lra. Qed.

Theorem gradient_changes : forall n d L w target D D', neighbours n (short_record d L) D D' ->
  sum_over (coordinates d) (fun e =>
    (capped_gradient d w target D e - capped_gradient d w target D' e) ^ 2) <= 1 /\
  sum_over (coordinates d) (fun e =>
    Rabs (capped_gradient d w target D e - capped_gradient d w target D' e)) <= L.
Proof.
  intros n d L w target D D' H; destruct (one_record _ _ _ _ H) as (t & t' & [Ht2 Ht1] & [Ht2' Ht1'] & Hsum).
  set (r u := capped_residual (sum_over (coordinates d) (fun i => attribute u i * w i)) (target u)).
  assert (Hr := residual_bounds (sum_over (coordinates d) (fun i => attribute t i * w i)) (target t)).
  assert (Hr' := residual_bounds (sum_over (coordinates d) (fun i => attribute t' i * w i)) (target t')).
  fold (r t) in Hr; fold (r t') in Hr'; split.
  - apply Rle_trans with (sum_over (coordinates d) (fun e =>
      1 / 2 * attribute t e ^ 2 + 1 / 2 * attribute t' e ^ 2)).
    + apply sum_le; intros e _; unfold capped_gradient; rewrite Hsum; fold (r t) (r t').
      eapply Rle_trans; [apply square_of_difference |]; rewrite !Rpow_mult_distr.
      assert (r t ^ 2 <= 1 / 4) by nra; assert (r t' ^ 2 <= 1 / 4) by nra.
      generalize (pow2_ge_0 (attribute t e)) (pow2_ge_0 (attribute t' e)); intros; nra.
    + rewrite sum_plus, !sum_scal; lra.
  - apply Rle_trans with (sum_over (coordinates d) (fun e =>
      1 / 2 * Rabs (attribute t e) + 1 / 2 * Rabs (attribute t' e))).
    + apply sum_le; intros e _; unfold capped_gradient; rewrite Hsum; fold (r t) (r t').
      eapply Rle_trans; [apply Rabs_of_difference |]; rewrite !Rabs_mult.
      assert (Rabs (r t) <= 1 / 2) by (apply Rabs_le; lra).
      assert (Rabs (r t') <= 1 / 2) by (apply Rabs_le; lra).
      apply Rplus_le_compat; apply Rmult_le_compat_r; try assumption; apply Rabs_pos.
    + rewrite sum_plus, !sum_scal; lra.
Qed.

Lemma residual_at_0 : forall target, capped_residual 0 target = 1 / 2 - number target.
Proof.
  intros target; unfold capped_residual; rewrite logistic_0; unfold Rmax, Rmin, number.
  destruct target; repeat destruct Rle_dec; lra.
Qed.

(** Flipping the label of one record of full length attains both. *)
Theorem gradient_changes_attained : forall d L x z,
  sum_over (coordinates d) (fun e => x e ^ 2) = 1 -> sum_over (coordinates d) (fun e => Rabs (x e)) = L ->
  let D := [Tuple x false z] in let D' := [Tuple x true z] in
  neighbours 1 (short_record d L) D D' /\
  sum_over (coordinates d) (fun e =>
    (capped_gradient d (fun _ => 0) label D e - capped_gradient d (fun _ => 0) label D' e) ^ 2) = 1 /\
  sum_over (coordinates d) (fun e =>
    Rabs (capped_gradient d (fun _ => 0) label D e - capped_gradient d (fun _ => 0) label D' e)) = L.
Proof.
  intros d L x z H2 H1 D D'.
  assert (Hshort : forall y, short_record d L (Tuple x y z)) by (intros y; split; cbn [attribute]; lra).
  assert (E : forall e, capped_gradient d (fun _ => 0) label D e - capped_gradient d (fun _ => 0) label D' e
    = x e).
  { intros e; unfold capped_gradient, D, D'; cbn [sum_over fold_right attribute label].
    rewrite (sum_zero (coordinates d)) by (intros; apply Rmult_0_r); rewrite !residual_at_0; cbn; field. }
  split; [| split].
  - split; [reflexivity | split; [| split]]; try (constructor; [apply Hshort | constructor]).
    exists [], (Tuple x false z), (Tuple x true z), []; split; reflexivity.
  - rewrite <- H2; apply sum_ext; intros e _; rewrite E; reflexivity.
  - rewrite <- H1; apply sum_ext; intros e _; rewrite E; reflexivity.
Qed.

(** ** Lemma 2: counts of (cell, label) *)

Lemma two_halves : forall u v x y, u = 0 \/ u = 1 -> v = 0 \/ v = 1 ->
  (u * x - v * y) ^ 2 + ((1 - u) * x - (1 - v) * y) ^ 2 <= 2 * x ^ 2 + 2 * y ^ 2 /\
  (0 <= x -> 0 <= y ->
    (u * x - v * y) ^ 2 + ((1 - u) * x - (1 - v) * y) ^ 2 <= x ^ 2 + y ^ 2) /\
  Rabs (u * x - v * y) + Rabs ((1 - u) * x - (1 - v) * y) <= Rabs x + Rabs y.
Proof.
  intros u v x y Hu Hv; assert (Hxy := square_of_difference x y); assert (Habs := Rabs_of_difference x y).
  assert (Hx := pow2_ge_0 x); assert (Hy := pow2_ge_0 y).
  destruct Hu as [-> | ->], Hv as [-> | ->].
  - replace (0 * x - 0 * y) with 0 by ring; replace ((1 - 0) * x - (1 - 0) * y) with (x - y) by ring.
    rewrite Rabs_R0; split; [nra | split; [intros; nra | lra]].
  - replace (0 * x - 1 * y) with (- y) by ring; replace ((1 - 0) * x - (1 - 1) * y) with x by ring.
    rewrite Rabs_Ropp; split; [nra | split; [intros; nra | lra]].
  - replace (1 * x - 0 * y) with x by ring; replace ((1 - 1) * x - (1 - 0) * y) with (- y) by ring.
    rewrite Rabs_Ropp; split; [nra | split; [intros; nra | lra]].
  - replace (1 * x - 1 * y) with (x - y) by ring; replace ((1 - 1) * x - (1 - 1) * y) with 0 by ring.
    rewrite Rabs_R0; split; [nra | split; [intros; nra | lra]].
Qed.

Lemma number_is_0_or_1 : forall b, number b = 0 \/ number b = 1.
Proof. intros []; [right | left]; reflexivity. Qed.

Theorem counts_by_label_change : forall n d L target D D', neighbours n (short_record d L) D D' ->
  let squared := sum_over (coordinates d) (fun e => (sum_with target D e - sum_with target D' e) ^ 2) +
    sum_over (coordinates d) (fun e => (sum_without target D e - sum_without target D' e) ^ 2) in
  squared <= 4 /\
  ((forall t e, In t (D ++ D') -> 0 <= attribute t e) -> squared <= 2) /\
  sum_over (coordinates d) (fun e => Rabs (sum_with target D e - sum_with target D' e)) +
    sum_over (coordinates d) (fun e => Rabs (sum_without target D e - sum_without target D' e)) <= 2 * L.
Proof.
  intros n d L target D D' H squared.
  destruct (one_record n (fun t => short_record d L t /\ In t (D ++ D')) D D') as
    (t & t' & [[Ht2 Ht1] Hin] & [[Ht2' Ht1'] Hin'] & Hsum).
  { destruct H as (Hn & HD & HD' & HR); split; [exact Hn | split; [| split; [| exact HR]]];
      rewrite Forall_forall in *; intros u Hu; (split; [auto | apply in_or_app; auto]). }
  assert (Hhalf := fun e => two_halves (number (target t)) (number (target t')) (attribute t e)
    (attribute t' e) (number_is_0_or_1 _) (number_is_0_or_1 _)).
  unfold squared, sum_with, sum_without; rewrite <- !sum_plus; split; [| split].
  - apply Rle_trans with (sum_over (coordinates d) (fun e => 2 * attribute t e ^ 2 + 2 * attribute t' e ^ 2)).
    + apply sum_le; intros e _; rewrite !Hsum; apply Hhalf.
    + rewrite sum_plus, !sum_scal; lra.
  - intros Hpos; apply Rle_trans with
      (sum_over (coordinates d) (fun e => attribute t e ^ 2 + attribute t' e ^ 2)).
    + apply sum_le; intros e _; rewrite !Hsum; apply Hhalf; apply Hpos; assumption.
    + rewrite sum_plus; lra.
  - apply Rle_trans with (sum_over (coordinates d) (fun e => Rabs (attribute t e) + Rabs (attribute t' e))).
    + apply sum_le; intros e _; rewrite !Hsum; apply Hhalf.
    + rewrite sum_plus; lra.
Qed.

(** ** Lemma 3: the imbalance *)

Theorem imbalance_changes : forall n domain c prediction D D', neighbours n domain D D' -> 0 <= c <= 1 ->
  Rabs (imbalance c prediction D - imbalance c prediction D') <= Rmax c (1 - c) /\
  Rabs (group_count D - group_count D') <= 1.
Proof.
  intros n domain c prediction D D' H Hc; destruct (one_record _ _ _ _ H) as (t & t' & _ & _ & Hsum).
  unfold imbalance, group_count; rewrite !Hsum; assert (H1 := Rmax_l c (1 - c)); assert (H2 := Rmax_r c
    (1 - c)).
  destruct (number_is_0_or_1 (protected t)) as [-> | ->], (number_is_0_or_1 (protected t')) as [-> | ->],
    (number_is_0_or_1 (prediction t)) as [-> | ->], (number_is_0_or_1 (prediction t')) as [-> | ->];
    split; apply Rabs_le; lra.
Qed.

(** Attained: a record of the group that is farther from c, chosen or not. *)
Theorem imbalance_change_attained : forall c x y, 0 <= c <= 1 ->
  let z := if Rle_dec c (1 - c) then true else false in
  Rabs (imbalance c label [Tuple x true z] - imbalance c label [Tuple x false z]) = Rmax c (1 - c) /\
  Rabs (group_count [Tuple x y true] - group_count [Tuple x y false]) = 1.
Proof.
  intros c x y Hc; unfold imbalance, group_count, Rmax; cbn [sum_over fold_right protected label].
  destruct (Rle_dec c (1 - c)); cbn [number]; split;
    first [rewrite Rabs_right by lra; lra | rewrite Rabs_left1 by lra; lra].
Qed.

(** ** Lemma 4: cells *)

Lemma cell_sum : forall cell cells t, (cell t < cells)%nat ->
  sum_over (coordinates cells) (fun k => in_cell_of cell k t) = 1.
Proof. intros cell cells t H; exact (sum_delta cells (cell t) (fun _ => 1) H). Qed.

Lemma in_cell_cases : forall cell k t, in_cell_of cell k t = 0 \/ in_cell_of cell k t = 1.
Proof. intros cell k t; unfold in_cell_of; destruct (Nat.eqb k (cell t)); [right | left]; reflexivity. Qed.

Theorem cells_change : forall n domain cells (cell : record -> nat) prediction D D',
  neighbours n domain D D' -> (forall t, domain t -> (cell t < cells)%nat) ->
  (sum_over (coordinates cells) (fun k => (cell_count cell D k - cell_count cell D' k) ^ 2) <= 2 /\
   sum_over (coordinates cells) (fun k => Rabs (cell_count cell D k - cell_count cell D' k)) <= 2) /\
  (sum_over (coordinates cells) (fun k =>
     (cell_selection cell prediction D k - cell_selection cell prediction D' k) ^ 2) <= 1 /\
   sum_over (coordinates cells) (fun k =>
     Rabs (cell_selection cell prediction D k - cell_selection cell prediction D' k)) <= 1).
Proof.
  intros n domain cells cell prediction D D' H Hcell.
  destruct (one_record _ _ _ _ H) as (t & t' & Ht & Ht' & Hsum).
  assert (S := cell_sum cell cells t (Hcell t Ht)); assert (S' := cell_sum cell cells t' (Hcell t' Ht')).
  unfold cell_count, cell_selection; split; (split; [| ]).
  - apply Rle_trans with (sum_over (coordinates cells) (fun k => in_cell_of cell k t + in_cell_of cell k t')).
    + apply sum_le; intros k _; rewrite Hsum.
      destruct (in_cell_cases cell k t) as [-> | ->], (in_cell_cases cell k t') as [-> | ->]; lra.
    + rewrite sum_plus; lra.
  - apply Rle_trans with (sum_over (coordinates cells) (fun k => in_cell_of cell k t + in_cell_of cell k t')).
    + apply sum_le; intros k _; rewrite Hsum; apply Rabs_le.
      destruct (in_cell_cases cell k t) as [-> | ->], (in_cell_cases cell k t') as [-> | ->]; lra.
    + rewrite sum_plus; lra.
  - apply Rle_trans with (sum_over (coordinates cells) (fun k =>
      1 / 2 * in_cell_of cell k t + 1 / 2 * in_cell_of cell k t')).
    + apply sum_le; intros k _; rewrite Hsum.
      destruct (in_cell_cases cell k t) as [-> | ->], (in_cell_cases cell k t') as [-> | ->],
        (number_is_0_or_1 (prediction t)) as [-> | ->], (number_is_0_or_1 (prediction t')) as [-> | ->]; lra.
    + rewrite sum_plus, !sum_scal; lra.
  - apply Rle_trans with (sum_over (coordinates cells) (fun k =>
      1 / 2 * in_cell_of cell k t + 1 / 2 * in_cell_of cell k t')).
    + apply sum_le; intros k _; rewrite Hsum; apply Rabs_le.
      destruct (in_cell_cases cell k t) as [-> | ->], (in_cell_cases cell k t') as [-> | ->],
        (number_is_0_or_1 (prediction t)) as [-> | ->], (number_is_0_or_1 (prediction t')) as [-> | ->]; lra.
    + rewrite sum_plus, !sum_scal; lra.
Qed.
