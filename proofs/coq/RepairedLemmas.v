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

(** How far both together are apart. *)
Definition squared_change (d : nat) (target : record -> bool) (D D' : dataset) : R :=
  sum_over (coordinates d) (fun e => (sum_with target D e - sum_with target D' e) ^ 2) +
  sum_over (coordinates d) (fun e => (sum_without target D e - sum_without target D' e) ^ 2).
Definition absolute_change (d : nat) (target : record -> bool) (D D' : dataset) : R :=
  sum_over (coordinates d) (fun e => Rabs (sum_with target D e - sum_with target D' e)) +
  sum_over (coordinates d) (fun e => Rabs (sum_without target D e - sum_without target D' e)).

(** What an attribute is encoded to, times the column factor f: a constant, a number, a centred number, or one
    of several columns. *)
Inductive encoding := Constant | Plain | Centred | Columns (several : nat).

Definition width (k : encoding) : nat := match k with Columns several => several | _ => 1%nat end.

Definition entries_of (f : R) (k : encoding) (x : nat -> R) : Prop :=
  match k with
  | Constant => x 0%nat = f
  | Plain => 0 <= x 0%nat <= f
  | Centred => - f <= x 0%nat <= f
  | Columns several => (forall e, (e < several)%nat -> 0 <= x e) /\ sum_over (coordinates several) x <= f
  end.

(** The largest squared distance of the entries of one attribute, in f^2. *)
Definition spread (k : encoding) : R :=
  match k with Constant => 0 | Plain => 1 | Centred => 4 | Columns _ => 2 end.

Definition several_columns (k : encoding) : Prop :=
  match k with Columns several => (2 <= several)%nat | _ => True end.

(** One attribute after the other. *)
Fixpoint laid_out (f : R) (kinds : list encoding) (x : nat -> R) : Prop :=
  match kinds with
  | [] => True
  | k :: rest => entries_of f k x /\ laid_out f rest (fun e => x (width k + e)%nat)
  end.

Definition columns (kinds : list encoding) : nat :=
  fold_right (fun k total => (width k + total)%nat) 0%nat kinds.
Definition encoded (f : R) (kinds : list encoding) (t : record) : Prop := laid_out f kinds (attribute t).

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

(** Where the target stays, a record moves within one half; else one leaves a half, one enters the other. *)
Lemma moved : forall d target D D' t t',
  (forall f : record -> R, sum_over D f - sum_over D' f = f t - f t') ->
  squared_change d target D D' = (if Bool.eqb (target t) (target t')
    then sum_over (coordinates d) (fun e => (attribute t e - attribute t' e) ^ 2)
    else sum_over (coordinates d) (fun e => attribute t e ^ 2) +
      sum_over (coordinates d) (fun e => attribute t' e ^ 2)) /\
  absolute_change d target D D' = (if Bool.eqb (target t) (target t')
    then sum_over (coordinates d) (fun e => Rabs (attribute t e - attribute t' e))
    else sum_over (coordinates d) (fun e => Rabs (attribute t e)) +
      sum_over (coordinates d) (fun e => Rabs (attribute t' e))).
Proof.
  intros d target D D' t t' Hsum; unfold squared_change, absolute_change, sum_with, sum_without.
  rewrite <- !sum_plus; destruct (target t) eqn:E, (target t') eqn:E'; cbn [Bool.eqb]; rewrite <- ?sum_plus;
    split; apply sum_ext; intros e _; rewrite !Hsum, E, E'; cbn [number]; try ring.
  - replace (1 * attribute t e - 1 * attribute t' e) with (attribute t e - attribute t' e) by ring.
    replace ((1 - 1) * attribute t e - (1 - 1) * attribute t' e) with 0 by ring; rewrite Rabs_R0; ring.
  - replace (1 * attribute t e - 0 * attribute t' e) with (attribute t e) by ring.
    replace ((1 - 1) * attribute t e - (1 - 0) * attribute t' e) with (- attribute t' e) by ring.
    rewrite Rabs_Ropp; ring.
  - replace (0 * attribute t e - 1 * attribute t' e) with (- attribute t' e) by ring.
    replace ((1 - 0) * attribute t e - (1 - 1) * attribute t' e) with (attribute t e) by ring.
    rewrite Rabs_Ropp; ring.
  - replace (0 * attribute t e - 0 * attribute t' e) with 0 by ring.
    replace ((1 - 0) * attribute t e - (1 - 0) * attribute t' e) with (attribute t e - attribute t' e)
      by ring; rewrite Rabs_R0; ring.
Qed.

Lemma number_is_0_or_1 : forall b, number b = 0 \/ number b = 1.
Proof. intros []; [right | left]; reflexivity. Qed.

Lemma absolute_distance : forall d x y, sum_over (coordinates d) (fun e => Rabs (x e - y e)) <=
  sum_over (coordinates d) (fun e => Rabs (x e)) + sum_over (coordinates d) (fun e => Rabs (y e)).
Proof. intros d x y; rewrite <- sum_plus; apply sum_le; intros e _; apply Rabs_of_difference. Qed.

Theorem counts_by_label_change : forall n d L target D D', neighbours n (short_record d L) D D' ->
  squared_change d target D D' <= 4 /\
  ((forall t e, In t (D ++ D') -> 0 <= attribute t e) -> squared_change d target D D' <= 2) /\
  absolute_change d target D D' <= 2 * L.
Proof.
  intros n d L target D D' H.
  destruct (one_record n (fun t => short_record d L t /\ In t (D ++ D')) D D') as
    (t & t' & [[Ht2 Ht1] Hin] & [[Ht2' Ht1'] Hin'] & Hsum).
  { destruct H as (Hn & HD & HD' & HR); split; [exact Hn | split; [| split; [| exact HR]]];
      rewrite Forall_forall in *; intros u Hu; (split; [auto | apply in_or_app; auto]). }
  destruct (moved d target D D' t t' Hsum) as [-> ->]; destruct (Bool.eqb (target t) (target t'));
    (split; [| split; [intros Hpos |]]); try lra.
  - apply Rle_trans with (sum_over (coordinates d) (fun e => 2 * attribute t e ^ 2 + 2 * attribute t' e ^ 2)).
    + apply sum_le; intros e _; apply square_of_difference.
    + rewrite sum_plus, !sum_scal; lra.
  - apply Rle_trans with (sum_over (coordinates d) (fun e => attribute t e ^ 2 + attribute t' e ^ 2)).
    + apply sum_le; intros e _; generalize (Hpos t e Hin) (Hpos t' e Hin'); intros; nra.
    + rewrite sum_plus; lra.
  - eapply Rle_trans; [apply absolute_distance | lra].
Qed.

(** *** Exactly, for the records of a domain *)

Lemma sum_of_two_parts : forall a b g, sum_over (coordinates (a + b)) g =
  sum_over (coordinates a) g + sum_over (coordinates b) (fun e => g (a + e)%nat).
Proof.
  intros a b g; unfold coordinates; rewrite seq_app, sum_app; f_equal; cbn [plus].
  rewrite <- (Nat.add_0_r a) at 1; generalize 0%nat as s; induction b as [| b IH]; intros s; [reflexivity |].
  cbn [seq sum_over fold_right]; f_equal; rewrite <- Nat.add_succ_r; apply IH.
Qed.

(** What holds for each attribute adds up. *)
Lemma attributes_add_up : forall f g (c : encoding -> R) kinds,
  (forall k x y, entries_of f k x -> entries_of f k y ->
    sum_over (coordinates (width k)) (fun e => g (x e) (y e)) <= c k) ->
  forall x y, laid_out f kinds x -> laid_out f kinds y ->
  sum_over (coordinates (columns kinds)) (fun e => g (x e) (y e)) <= sum_over kinds c.
Proof.
  intros f g c kinds Hk; induction kinds as [| k rest IH]; intros x y Hx Hy; [apply Rle_refl |].
  destruct Hx as [Hx Hx'], Hy as [Hy Hy']; cbn [columns fold_right]; rewrite sum_of_two_parts, sum_cons.
  apply Rplus_le_compat; [apply Hk; assumption | exact (IH _ _ Hx' Hy')].
Qed.

Lemma same_layout : forall f kinds x y, (forall e, x e = y e) -> laid_out f kinds x -> laid_out f kinds y.
Proof.
  intros f kinds; induction kinds as [| k rest IH]; intros x y E; [trivial |]; intros [Hx Hrest]; split.
  - destruct k; cbn [entries_of] in *; rewrite <- ?E; try assumption; destruct Hx as [Hpos Hsum]; split.
    + intros e He; rewrite <- E; apply Hpos, He.
    + rewrite <- (sum_ext _ x) by (intros; apply E); exact Hsum.
  - exact (IH _ _ (fun e => E _) Hrest).
Qed.

Lemma attributes_attain : forall f g (c : encoding -> R) kinds,
  (forall k, In k kinds -> exists x y, entries_of f k x /\ entries_of f k y /\
    sum_over (coordinates (width k)) (fun e => g (x e) (y e)) = c k) ->
  exists x y, laid_out f kinds x /\ laid_out f kinds y /\
    sum_over (coordinates (columns kinds)) (fun e => g (x e) (y e)) = sum_over kinds c.
Proof.
  intros f g c kinds; induction kinds as [| k rest IH]; intros Hk.
  { exists (fun _ => 0), (fun _ => 0); repeat split. }
  destruct (Hk k) as (u & v & Hu & Hv & E); [left; reflexivity |].
  destruct IH as (x & y & Hx & Hy & E'); [intros k' Hk'; apply Hk; right; exact Hk' |].
  set (join (p q : nat -> R) e := if (e <? width k)%nat then p e else q (e - width k)%nat).
  assert (Hlow : forall p q e, (e < width k)%nat -> join p q e = p e).
  { intros p q e He; unfold join; apply Nat.ltb_lt in He; rewrite He; reflexivity. }
  assert (Hhigh : forall p q e, join p q (width k + e)%nat = q e).
  { intros p q e; unfold join; replace (width k + e <? width k)%nat with false
      by (symmetry; apply Nat.ltb_ge; lia); f_equal; lia. }
  assert (Hentries : forall p q, entries_of f k p -> entries_of f k (join p q)).
  { intros p q Hp; destruct k; cbn [entries_of width] in *; rewrite ?Hlow by lia; try assumption.
    destruct Hp as [Hpos Hsum]; split; [intros e He; rewrite Hlow by exact He; apply Hpos, He |].
    rewrite (sum_ext _ _ p) by (intros e He; apply Hlow, in_coordinates, He); exact Hsum. }
  exists (join u x), (join v y); split; [| split].
  - split; [apply Hentries, Hu |]; apply (same_layout f rest x); [intros e; symmetry; apply Hhigh | exact Hx].
  - split; [apply Hentries, Hv |]; apply (same_layout f rest y); [intros e; symmetry; apply Hhigh | exact Hy].
  - cbn [columns fold_right]; rewrite sum_of_two_parts, sum_cons, <- E, <- E'.
    f_equal; apply sum_ext; intros e He.
    + apply in_coordinates in He; rewrite !Hlow by exact He; reflexivity.
    + rewrite !Hhigh; reflexivity.
Qed.

Lemma squares_of_several : forall several f x, (forall e, (e < several)%nat -> 0 <= x e) ->
  sum_over (coordinates several) x <= f -> sum_over (coordinates several) (fun e => x e ^ 2) <= f ^ 2.
Proof.
  intros several f x Hpos Hsum.
  assert (H0 : 0 <= sum_over (coordinates several) x).
  { apply sum_nonneg; intros; apply Hpos, in_coordinates; assumption. }
  apply Rle_trans with (sum_over (coordinates several) (fun e => f * x e)); [| rewrite sum_scal; nra].
  apply sum_le; intros e He; assert (x e <= sum_over (coordinates several) x).
  { apply sum_member; [intros; apply Hpos, in_coordinates; assumption | exact He]. }
  generalize (Hpos e (proj1 (in_coordinates several e) He)); nra.
Qed.

Lemma largest_entries : forall f k x y, entries_of f k x -> entries_of f k y ->
  sum_over (coordinates (width k)) (fun e => (x e - y e) ^ 2) <= spread k * f ^ 2.
Proof.
  intros f k x y Hx Hy.
  destruct k; cbn [entries_of width spread coordinates seq sum_over fold_right] in *; try nra.
  destruct Hx as [Hpos Hsum], Hy as [Hpos' Hsum'].
  apply Rle_trans with (sum_over (coordinates several) (fun e => x e ^ 2 + y e ^ 2)).
  - apply sum_le; intros e He; apply in_coordinates in He; generalize (Hpos e He) (Hpos' e He); intros; nra.
  - assert (H := squares_of_several _ _ _ Hpos Hsum); assert (H' := squares_of_several _ _ _ Hpos' Hsum').
    rewrite sum_plus; lra.
Qed.

Lemma lengths_of_entries : forall f k x, 0 <= f -> entries_of f k x ->
  sum_over (coordinates (width k)) (fun e => x e ^ 2) <= f ^ 2 /\
  sum_over (coordinates (width k)) (fun e => Rabs (x e)) <= f.
Proof.
  intros f k x Hf Hx; destruct k; cbn [entries_of width] in *.
  1, 2, 3: cbn; split; [nra | rewrite Rplus_0_r; apply Rabs_le; lra].
  destruct Hx as [Hpos Hsum]; split; [apply squares_of_several; assumption |].
  rewrite (sum_ext _ _ x) by (intros e He; apply Rabs_right, Rle_ge, Hpos, in_coordinates, He); exact Hsum.
Qed.

Lemma full_entries : forall f k, 0 <= f -> (1 <= width k)%nat -> exists x, entries_of f k x /\
  sum_over (coordinates (width k)) (fun e => x e ^ 2) = f ^ 2 /\
  sum_over (coordinates (width k)) (fun e => Rabs (x e)) = f.
Proof.
  intros f k Hf Hk; exists (fun e => if Nat.eqb e 0 then f else 0).
  destruct k as [| | | [| several]]; cbn [entries_of width] in *; try lia.
  1, 2, 3: cbn; rewrite Rabs_right by lra; repeat split; ring || lra.
  assert (Hrest : forall g : R -> R, g 0 = 0 ->
    sum_over (coordinates (S several)) (fun e => g (if Nat.eqb e 0 then f else 0)) = g f).
  { intros g Hg; unfold coordinates; cbn [seq]; rewrite sum_cons, sum_zero; [cbn; ring |].
    intros e He; apply in_seq in He; destruct e as [| e]; [lia | exact Hg]. }
  split; [split |].
  - intros e _; destruct (Nat.eqb e 0); lra.
  - rewrite (Hrest (fun v => v)); lra.
  - rewrite (Hrest (fun v => v ^ 2)), (Hrest Rabs) by (try ring; apply Rabs_R0).
    rewrite Rabs_right by lra; split; reflexivity.
Qed.

Lemma farthest_entries : forall f k, 0 <= f -> several_columns k -> exists x y, entries_of f k x /\
  entries_of f k y /\ sum_over (coordinates (width k)) (fun e => (x e - y e) ^ 2) = spread k * f ^ 2.
Proof.
  intros f k Hf Hk; destruct k as [| | | [| [| several]]]; cbn [several_columns] in Hk; try lia.
  - exists (fun _ => f), (fun _ => f); cbn; repeat split; ring.
  - exists (fun _ => 0), (fun _ => f); cbn; repeat split; lra || ring.
  - exists (fun _ => - f), (fun _ => f); cbn; repeat split; lra || ring.
  - exists (fun e => if Nat.eqb e 0 then f else 0), (fun e => if Nat.eqb e 1 then f else 0).
    assert (Hrest : forall g : nat -> R, (forall e, g (S (S e)) = 0) ->
      sum_over (coordinates (S (S several))) g = g 0%nat + g 1%nat).
    { intros g Hg; unfold coordinates; cbn [seq]; rewrite !sum_cons, sum_zero; [ring |].
      intros e He; apply in_seq in He; destruct e as [| [| e]]; [lia | lia | apply Hg]. }
    split; [| split; [| cbn [width spread]; rewrite Hrest; [cbn | intros; cbn]; ring]].
    all: split; [intros e _; destruct (Nat.eqb e _); lra | rewrite Hrest; cbn; [lra | reflexivity]].
Qed.

(** Two records, and n - 1 others. *)
Lemma among_others : forall n (domain : record -> Prop) t t', (1 <= n)%nat -> domain t -> domain t' ->
  exists D D', neighbours n domain D D' /\ forall f : record -> R, sum_over D f - sum_over D' f = f t - f t'.
Proof.
  intros n domain t t' Hn Ht Ht'; destruct n as [| others]; [lia |].
  exists (t :: repeat t others), (t' :: repeat t others); split; [| intros f; rewrite !sum_cons; ring].
  assert (Hothers : Forall domain (repeat t others)).
  { apply Forall_forall; intros u Hu; apply repeat_spec in Hu; rewrite Hu; exact Ht. }
  split; [cbn; rewrite repeat_length; reflexivity |].
  split; [constructor; assumption | split; [constructor; assumption |]].
  exists [], t, t', (repeat t others); split; reflexivity.
Qed.

(** The formula of the program, for a column factor that keeps records inside the ball. *)
Lemma stated_for_counts : forall m s f, 0 <= m -> (m = 0 -> s = 0) -> m * f ^ 2 <= 1 ->
  Rmax (2 * m) s * f ^ 2 <= Rmax 2 (s / m).
Proof.
  intros m s f Hm Hs Hf; assert (Hl := Rmax_l 2 (s / m)); assert (Hr := Rmax_r 2 (s / m)).
  apply Rmax_case_strong; intros H; [lra |].
  destruct (Rle_lt_or_eq_dec 0 m Hm) as [H0 | <-]; [| rewrite (Hs eq_refl) in *; lra].
  apply Rle_trans with (s / m); [| exact Hr]; apply Rmult_le_reg_l with m; [exact H0 |].
  replace (m * (s / m)) with s by (field; lra).
  assert (0 <= s) by lra; replace (m * (s * f ^ 2)) with (s * (m * f ^ 2)) by ring.
  rewrite <- (Rmult_1_r s) at 2; apply Rmult_le_compat_l; assumption.
Qed.

(** A flipped label, or every attribute as far as it goes. *)
Theorem counts_by_label_exact : forall n f kinds target, (1 <= n)%nat -> 0 <= f ->
  (forall k, In k kinds -> several_columns k) -> (forall x b, exists t, attribute t = x /\ target t = b) ->
  exact_sensitivity n (encoded f kinds) (squared_change (columns kinds) target)
    (Rmax (2 * INR (length kinds)) (sum_over kinds spread) * f ^ 2) /\
  (INR (length kinds) * f ^ 2 <= 1 ->
    Rmax (2 * INR (length kinds)) (sum_over kinds spread) * f ^ 2 <=
    Rmax 2 (sum_over kinds spread / INR (length kinds))) /\
  exact_sensitivity n (encoded f kinds) (absolute_change (columns kinds) target)
    (2 * (INR (length kinds) * f)).
Proof.
  intros n f kinds target Hn Hf Hkinds Htarget.
  assert (Hwide : forall k, In k kinds -> (1 <= width k)%nat).
  { intros k Hk; generalize (Hkinds k Hk); destruct k; cbn; lia. }
  assert (H2 : forall x, laid_out f kinds x ->
    sum_over (coordinates (columns kinds)) (fun e => x e ^ 2) <= INR (length kinds) * f ^ 2).
  { intros x Hx; rewrite <- sum_const; apply (attributes_add_up f (fun u _ => u ^ 2) _ kinds) with (y := x);
      try assumption; intros k p q Hp _; exact (proj1 (lengths_of_entries f k p Hf Hp)). }
  assert (H1 : forall x, laid_out f kinds x ->
    sum_over (coordinates (columns kinds)) (fun e => Rabs (x e)) <= INR (length kinds) * f).
  { intros x Hx; rewrite <- sum_const; apply (attributes_add_up f (fun u _ => Rabs u) _ kinds) with (y := x);
      try assumption; intros k p q Hp _; exact (proj2 (lengths_of_entries f k p Hf Hp)). }
  assert (Hspread : forall x y, laid_out f kinds x -> laid_out f kinds y ->
    sum_over (coordinates (columns kinds)) (fun e => (x e - y e) ^ 2) <= sum_over kinds spread * f ^ 2).
  { intros x y Hx Hy; rewrite <- sum_scal_r; apply (attributes_add_up f (fun u v => (u - v) ^ 2) _ kinds);
      try assumption; apply largest_entries. }
  assert (flipped : forall x, laid_out f kinds x -> exists D D', neighbours n (encoded f kinds) D D' /\
    squared_change (columns kinds) target D D' =
      2 * sum_over (coordinates (columns kinds)) (fun e => x e ^ 2) /\
    absolute_change (columns kinds) target D D' =
      2 * sum_over (coordinates (columns kinds)) (fun e => Rabs (x e))).
  { intros x Hx; destruct (Htarget x true) as (t & Et & Bt), (Htarget x false) as (t' & Et' & Bt').
    destruct (among_others n (encoded f kinds) t t' Hn) as (D & D' & HD & Hsum);
      try (unfold encoded; rewrite ?Et, ?Et'; exact Hx).
    exists D, D'; destruct (moved (columns kinds) target D D' t t' Hsum) as [-> ->].
    rewrite Bt, Bt', Et, Et'; cbn [Bool.eqb]; split; [exact HD | split; ring]. }
  assert (Hf2 := pow2_ge_0 f); assert (Hl := Rmax_l (2 * INR (length kinds)) (sum_over kinds spread)).
  assert (Hr := Rmax_r (2 * INR (length kinds)) (sum_over kinds spread)).
  split; [| split; [apply stated_for_counts; [apply pos_INR | destruct kinds; [reflexivity |]] |]].
  2: intros H; exfalso; revert H; apply not_0_INR; discriminate.
  1, 2: (split; [intros D D' H; destruct (one_record _ _ _ _ H) as (t & t' & Ht & Ht' & Hsum);
    destruct (moved (columns kinds) target D D' t t' Hsum) as [E2 E1];
    generalize (H2 _ Ht) (H2 _ Ht') (H1 _ Ht) (H1 _ Ht') (Hspread _ _ Ht Ht');
    generalize (absolute_distance (columns kinds) (attribute t) (attribute t')); intros;
    rewrite ?E2, ?E1; destruct (Bool.eqb (target t) (target t')); try nra |]).
  - unfold Rmax; destruct Rle_dec.
    + destruct (attributes_attain f (fun u v => (u - v) ^ 2) (fun k => spread k * f ^ 2) kinds) as
        (x & y & Hx & Hy & E); [intros k Hk; apply farthest_entries; auto |].
      destruct (Htarget x true) as (t & Et & Bt), (Htarget y true) as (t' & Et' & Bt'); subst x y.
      destruct (among_others n (encoded f kinds) t t' Hn Hx Hy) as (D & D' & HD & Hsum).
      exists D, D'; split; [exact HD |].
      rewrite (proj1 (moved _ target D D' t t' Hsum)), Bt, Bt'; cbn [Bool.eqb]; rewrite E; apply sum_scal_r.
    + destruct (attributes_attain f (fun u _ => u ^ 2) (fun _ => f ^ 2) kinds) as (x & y & Hx & _ & E).
      { intros k Hk; destruct (full_entries f k Hf (Hwide k Hk)) as (x & Hx & E & _); exists x, x; auto. }
      destruct (flipped x Hx) as (D & D' & HD & E2 & _); exists D, D'; split; [exact HD |].
      rewrite E2, E, sum_const; ring.
  - destruct (attributes_attain f (fun u _ => Rabs u) (fun _ => f) kinds) as (x & y & Hx & _ & E).
    { intros k Hk; destruct (full_entries f k Hf (Hwide k Hk)) as (x & Hx & _ & E); exists x, x; auto. }
    destruct (flipped x Hx) as (D & D' & HD & _ & E1); exists D, D'; split; [exact HD |].
    rewrite E1, E, sum_const; ring.
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
