(** * Certificates of the repaired mechanism: releases one after the other

    A certificate lists releases: how many numbers each has, and what it may lose at most, whatever was
    released before. The centre and the scale of a number may depend on all numbers before it: a probe's
    scale follows the released share of the group. Rational arithmetic adds up what all lose and compares
    it. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal Laplace Gaussian ExtendedGaussian Adaptive Countable
  Hardened DiscreteGaussian HardenedGaussian SigmaBound Tails ProfileEnds GaussianDelta.
Import ListNotations.
Open Scope R_scope.

(** ** Definitions *)

(** How many numbers a release has, by how much one record can change them and the scale of their noise in
    the file, what it may lose whatever was released before, and the least scale that it may then have. *)
Record stated_release := Stated
  { stated_numbers : nat; stated_change : Q; stated_scale : Q; stated_loss : Q; stated_least : Q }.

Fixpoint all_numbers (l : list stated_release) : nat :=
  match l with [] => O | r :: l' => (stated_numbers r + all_numbers l')%nat end.

Fixpoint all_losses (l : list stated_release) : Q :=
  match l with [] => 0%Q | r :: l' => (stated_loss r + all_losses l')%Q end.

(** A number of each release, for the i-th number of all, counted from 0. *)
Fixpoint value_at (value : stated_release -> Q) (l : list stated_release) (i : nat) : R :=
  match l with
  | [] => 1
  | r :: l' => if (i <? stated_numbers r)%nat then Q2R (value r) else value_at value l' (i - stated_numbers r)
  end.

(** On one transcript, where the i-th number loses f i: each release loses at most what it may. *)
Fixpoint losses_within (f : nat -> R) (start : nat) (l : list stated_release) : Prop :=
  match l with
  | [] => True
  | r :: l' => sum_over (seq start (stated_numbers r)) f <= Q2R (stated_loss r) /\
      losses_within f (start + stated_numbers r) l'
  end.

(** Where the i-th number changes by f i, of the given size: each release changes by at most what it
    states. *)
Fixpoint changes_within (size : R -> R) (f : nat -> R) (start : nat) (l : list stated_release) : Prop :=
  match l with
  | [] => True
  | r :: l' => sum_over (seq start (stated_numbers r)) (fun i => size (f i)) <= Q2R (stated_change r) /\
      changes_within size f (start + stated_numbers r) l'
  end.

Definition all_positive (value : stated_release -> Q) (l : list stated_release) : bool :=
  forallb (fun r => negb (Qle_bool (value r) 0)) l.

(** At the file's change and scale each release loses at most what it may. *)
Definition file_within (squared : bool) (l : list stated_release) : bool :=
  all_positive stated_scale l && forallb (fun r => Qle_bool (stated_change r)
    (stated_loss r * (if squared then stated_scale r * stated_scale r else stated_scale r))) l.

(** ** Losses add up *)

Lemma losses_add_up : forall l f start, losses_within f start l ->
  sum_over (seq start (all_numbers l)) f <= Q2R (all_losses l).
Proof.
  induction l as [| r l IH]; intros f start H; cbn [all_numbers all_losses].
  - cbn; rewrite RMicromega.Q2R_0; lra.
  - destruct H as [H1 H2]; rewrite seq_app, sum_app, Q2R_plus; apply Rplus_le_compat; [exact H1 | apply
      IH, H2].
Qed.

Lemma value_at_pos : forall value l i, all_positive value l = true -> 0 < value_at value l i.
Proof.
  intros value; induction l as [| r l IH]; intros i H; cbn [value_at]; [lra |].
  cbn [all_positive forallb] in H; apply andb_prop in H; destruct H as [H1 H2].
  destruct (i <? stated_numbers r)%nat; [apply Q_positive, H1 | apply IH, H2].
Qed.

(** The i-th number of all, seen from the start of a release. *)
Lemma value_in_part : forall value r l i start, (start <= i < start + stated_numbers r)%nat ->
  value_at value (r :: l) (i - start) = Q2R (value r).
Proof.
  intros value r l i start Hi; cbn [value_at].
  destruct (Nat.ltb_spec (i - start) (stated_numbers r)); [reflexivity | lia].
Qed.

Lemma value_after_part : forall value r l i, value_at value (r :: l) (stated_numbers r + i) = value_at
  value l i.
Proof.
  intros value r l i; cbn [value_at]; destruct (Nat.ltb_spec (stated_numbers r + i) (stated_numbers r));
    [lia |].
  f_equal; lia.
Qed.

(** Noise of the file's scales loses what the file's changes lose. *)
Lemma losses_of_changes : forall (squared : bool) size (rate : R -> R) l f s start,
  (forall q, 0 < Q2R q -> 0 <= rate (Q2R q) /\
    Q2R (if squared then q * q else q) * rate (Q2R q) = 1) ->
  file_within squared l = true ->
  (forall i, (i < all_numbers l)%nat -> s (start + i)%nat = value_at stated_scale l i) ->
  changes_within size f start l -> losses_within (fun i => size (f i) * rate (s i)) start l.
Proof.
  intros squared size rate; induction l as [| r l IH]; intros f s start Hrate H Hs Hf; [exact I |].
  unfold file_within in H; cbn [all_positive forallb] in H; rewrite !andb_true_iff in H.
  destruct H as [[Hpos Hpos'] [Hr Hl]]; destruct Hf as [Hf Hrest]; cbn [losses_within]; split.
  - apply Q_positive in Hpos; destruct (Hrate _ Hpos) as [Hrate0 Hone]; apply Qle_bool_R in Hr.
    rewrite (sum_ext _ _ (fun i => size (f i) * rate (Q2R (stated_scale r)))).
    + rewrite sum_scal_r; rewrite Q2R_mult in Hr.
      apply Rle_trans with (Q2R (stated_change r) * rate (Q2R (stated_scale r)));
        [apply Rmult_le_compat_r; assumption |].
      eapply Rle_trans; [apply Rmult_le_compat_r; [exact Hrate0 | exact Hr] |].
      rewrite Rmult_assoc, Hone; lra.
    + intros i Hi; apply in_seq in Hi; replace i with (start + (i - start))%nat at 2 by lia.
      rewrite Hs by (cbn [all_numbers]; lia); rewrite value_in_part by lia; reflexivity.
  - apply IH; [exact Hrate | | | exact Hrest].
    + unfold file_within, all_positive; rewrite Hpos', Hl; reflexivity.
    + intros i Hi; rewrite <- Nat.add_assoc, Hs by (cbn [all_numbers]; lia); apply value_after_part.
Qed.

Lemma squared_rate : forall q, 0 < Q2R q ->
  0 <= (/ Q2R q) ^ 2 /\ Q2R (if true then q * q else q) * (/ Q2R q) ^ 2 = 1.
Proof. intros q Hq; split; [apply pow2_ge_0 | rewrite Q2R_mult; field; lra]. Qed.

Lemma plain_rate : forall q, 0 < Q2R q ->
  0 <= / Q2R q /\ Q2R (if false then q * q else q) * / Q2R q = 1.
Proof. intros q Hq; split; [left; apply Rinv_0_lt_compat, Hq | field; lra]. Qed.

Lemma losses_ext : forall l f g start, (forall i, (start <= i < start + all_numbers l)%nat -> f i = g i) ->
  losses_within f start l -> losses_within g start l.
Proof.
  induction l as [| r l IH]; intros f g start H Hf; [exact I |]; destruct Hf as [H1 H2]; split.
  - rewrite <- (sum_ext _ f g); [exact H1 |].
    intros i Hi; apply in_seq in Hi; apply H; cbn [all_numbers]; lia.
  - apply (IH f); [| exact H2]; intros i Hi; apply H; cbn [all_numbers]; lia.
Qed.

(** ** Gaussian noise *)

Definition gaussian_parts_suffice (steps : nat) (bits : positive) (l : list stated_release) (mu epsilon
  delta : Q)
  : bool :=
  Qle_bool (all_losses l) (mu * mu) && profile_at_most steps bits mu epsilon delta.

Lemma adaptively_weaker : forall epsilon delta delta' k p q, delta <= delta' ->
  adaptively_indistinguishable epsilon delta k p q -> adaptively_indistinguishable epsilon delta' k p q.
Proof.
  intros epsilon delta delta' k p q Hd H lower upper test Hord Ht Hp Hq.
  eapply Rle_trans; [apply H; assumption | lra].
Qed.

Theorem repaired_gaussian : forall steps bits parts mu epsilon delta (sigma c c' : list R -> R),
  gaussian_parts_suffice steps bits parts mu epsilon delta = true -> (forall past, 0 < sigma past) ->
  (forall ts, length ts = all_numbers parts -> losses_within (fun i =>
    ((c (firstn i ts) - c' (firstn i ts)) / sigma (firstn i ts)) ^ 2) 0 parts) ->
  adaptively_indistinguishable (Q2R epsilon) (Q2R delta) (all_numbers parts)
    (fun past t => gaussian_density (sigma past) (t - c past))
    (fun past t => gaussian_density (sigma past) (t - c' past)).
Proof.
  intros steps bits parts mu epsilon delta sigma c c' H Hsigma Hlosses.
  unfold gaussian_parts_suffice in H; apply andb_prop in H; destruct H as [Hsum H].
  apply profile_at_most_correct in H; destruct H as [Hmu H]; apply Qle_bool_R in Hsum.
  eapply adaptively_weaker; [exact H |]; apply adaptive_gaussian_profile; [exact Hsigma | exact Hmu |].
  intros ts Hts; unfold transcript_shift; rewrite Hts.
  eapply Rle_trans; [apply (losses_add_up parts), Hlosses, Hts |].
  rewrite Q2R_mult in Hsum; simpl; lra.
Qed.

(** At the file's scales. *)
Theorem repaired_gaussian_file : forall steps bits parts mu epsilon delta (c c' : list R -> R),
  gaussian_parts_suffice steps bits parts mu epsilon delta = true -> file_within true parts = true ->
  (forall ts, length ts = all_numbers parts -> changes_within (fun v => v ^ 2)
    (fun i => c (firstn i ts) - c' (firstn i ts)) 0 parts) ->
  adaptively_indistinguishable (Q2R epsilon) (Q2R delta) (all_numbers parts)
    (fun past t => gaussian_density (value_at stated_scale parts (length past)) (t - c past))
    (fun past t => gaussian_density (value_at stated_scale parts (length past)) (t - c' past)).
Proof.
  intros steps bits parts mu epsilon delta c c' H Hfile Hchanges.
  assert (Hpos := Hfile); apply andb_prop in Hpos; destruct Hpos as [Hpos _].
  apply (repaired_gaussian steps bits parts mu epsilon delta
    (fun past => value_at stated_scale parts (length past)) c c' H).
  - intros past; apply value_at_pos, Hpos.
  - intros ts Hts; assert (L := losses_of_changes true (fun v => v ^ 2) (fun s => (/ s) ^ 2) parts
      (fun i => c (firstn i ts) - c' (firstn i ts))
      (fun i => value_at stated_scale parts (length (firstn i ts))) 0 squared_rate Hfile).
    eapply losses_ext; [| apply L].
    + intros i _; cbv beta; unfold Rdiv; rewrite Rpow_mult_distr; reflexivity.
    + intros i Hi; rewrite firstn_length_le by lia; reflexivity.
    + apply Hchanges, Hts.
Qed.

(** ** Laplace noise *)

Section Laplace.
Variables (scale c c' : list R -> R).
Hypothesis scale_pos : forall past, 0 < scale past.

Let p past t := laplace_density (scale past) (t - c past).
Let q past t := laplace_density (scale past) (t - c' past).
Let loss past := Rabs (c past - c' past) / scale past.

(** k more numbers lose at most B. *)
Fixpoint loses (k : nat) (past : list R) (B : R) : Prop :=
  match k with O => 0 <= B | S k' => forall t, loses k' (past ++ [t]) (B - loss past) end.

Lemma adaptive_nonneg : forall lower upper test, (forall past, lower past <= upper past) ->
  (forall ts, 0 <= test ts) -> forall k past, adaptive_integrable k q lower upper test past ->
  0 <= adaptive_expectation k q lower upper test past.
Proof.
  intros lower upper test Hord Ht; induction k as [| k IH]; intros past Hi; cbn; [apply Ht |].
  destruct Hi as [Hi Hex]; apply RInt_ge_0; [apply Hord | exact Hex |].
  intros t Hlt; apply Rmult_le_pos; [apply Rlt_le, laplace_pos, scale_pos | apply IH, Hi; lra].
Qed.

Lemma adaptive_laplace : forall lower upper test, (forall past, lower past <= upper past) ->
  (forall ts, 0 <= test ts) -> forall k past B, loses k past B ->
  adaptive_integrable k p lower upper test past -> adaptive_integrable k q lower upper test past ->
  adaptive_expectation k p lower upper test past <= exp B * adaptive_expectation k q lower upper test past.
Proof.
  intros lower upper test Hord Ht; induction k as [| k IH]; intros past B HB Hp Hq.
  - cbn in *; specialize (Ht past); assert (1 <= exp B) by (rewrite <- exp_0; apply exp_le, HB); nra.
  - destruct Hp as [Hp Hexp], Hq as [Hq Hexq]; cbn [adaptive_expectation].
    rewrite <- RInt_mult_const by exact Hexq.
    apply RInt_le; [apply Hord | exact Hexp | apply ex_RInt_mult_const; exact Hexq |].
    intros t Hlt; assert (Hin : lower past <= t <= upper past) by lra.
    assert (H := IH (past ++ [t]) (B - loss past) (HB t) (Hp t Hin) (Hq t Hin)).
    assert (Hratio := laplace_ratio (scale past) (c past) (c' past) t (scale_pos past)); fold (loss past)
      in Hratio.
    assert (Hpos := laplace_pos (scale past) (t - c past) (scale_pos past)).
    assert (Hn := adaptive_nonneg lower upper test Hord Ht k (past ++ [t]) (Hq t Hin)).
    set (Ep := adaptive_expectation k p lower upper test (past ++ [t])) in *.
    set (Eq := adaptive_expectation k q lower upper test (past ++ [t])) in *.
    replace (exp B * (q past t * Eq)) with (exp (loss past) * q past t * (exp (B - loss past) * Eq))
      by (replace B with (loss past + (B - loss past)) at 2 by ring; rewrite exp_plus; ring).
    assert (He := exp_pos (B - loss past)); assert (0 <= exp (B - loss past) * Eq) by (apply
      Rmult_le_pos; lra).
    apply Rle_trans with (p past t * (exp (B - loss past) * Eq)).
    + apply Rmult_le_compat_l; [apply Rlt_le, Hpos | exact H].
    + apply Rmult_le_compat_r; [assumption | exact Hratio].
Qed.

Lemma loses_of_transcripts : forall k past B,
  (forall ts, length ts = k ->
    sum_over (seq 0 (length (past ++ ts))) (fun i => loss (firstn i (past ++ ts))) <= B) ->
  loses k past (B - sum_over (seq 0 (length past)) (fun i => loss (firstn i past))).
Proof.
  induction k as [| k IH]; intros past B H; cbn [loses].
  - specialize (H [] eq_refl); rewrite app_nil_r in H; lra.
  - intros t; set (total := sum_over (seq 0 (length past)) _).
    replace (B - total - loss past)
      with (B - sum_over (seq 0 (length (past ++ [t]))) (fun i => loss (firstn i (past ++ [t])))).
    + apply IH; intros ts Hts; rewrite <- app_assoc; apply H; cbn; rewrite Hts; reflexivity.
    + rewrite app_length; cbn [length]; rewrite seq_app, sum_app; cbn [seq Nat.add sum_over fold_right].
      rewrite firstn_app, firstn_all, Nat.sub_diag; cbn [firstn]; rewrite app_nil_r.
      replace (sum_over (seq 0 (length past)) _) with total; [ring |]; apply sum_ext; intros i Hi.
      apply in_seq in Hi; rewrite firstn_app; replace (i - length past)%nat with O by lia; cbn [firstn].
      rewrite app_nil_r; reflexivity.
Qed.

Lemma adaptive_laplace_private : forall k epsilon,
  (forall ts, length ts = k -> sum_over (seq 0 k) (fun i => loss (firstn i ts)) <= epsilon) ->
  adaptively_indistinguishable epsilon 0 k p q.
Proof.
  intros k epsilon H lower upper test Hord Ht Hp Hq; rewrite Rplus_0_r.
  apply adaptive_laplace; [exact Hord | intros ts; apply Ht | | exact Hp | exact Hq].
  assert (L := loses_of_transcripts k [] epsilon); cbn [length seq sum_over fold_right app] in L.
  rewrite Rminus_0_r in L; apply L; intros ts Hts; rewrite Hts; apply H, Hts.
Qed.
End Laplace.

Theorem repaired_laplace : forall parts epsilon (scale c c' : list R -> R),
  Qle_bool (all_losses parts) epsilon = true -> (forall past, 0 < scale past) ->
  (forall ts, length ts = all_numbers parts -> losses_within (fun i =>
    Rabs (c (firstn i ts) - c' (firstn i ts)) / scale (firstn i ts)) 0 parts) ->
  adaptively_indistinguishable (Q2R epsilon) 0 (all_numbers parts)
    (fun past t => laplace_density (scale past) (t - c past))
    (fun past t => laplace_density (scale past) (t - c' past)).
Proof.
  intros parts epsilon scale c c' H Hscale Hlosses; apply Qle_bool_R in H.
  apply (adaptive_laplace_private scale c c' Hscale); intros ts Hts.
  eapply Rle_trans; [apply (losses_add_up parts), Hlosses, Hts | exact H].
Qed.

Theorem repaired_laplace_file : forall parts epsilon (c c' : list R -> R),
  Qle_bool (all_losses parts) epsilon = true -> file_within false parts = true ->
  (forall ts, length ts = all_numbers parts -> changes_within Rabs
    (fun i => c (firstn i ts) - c' (firstn i ts)) 0 parts) ->
  adaptively_indistinguishable (Q2R epsilon) 0 (all_numbers parts)
    (fun past t => laplace_density (value_at stated_scale parts (length past)) (t - c past))
    (fun past t => laplace_density (value_at stated_scale parts (length past)) (t - c' past)).
Proof.
  intros parts epsilon c c' H Hfile Hchanges; assert (Hpos := Hfile); apply andb_prop in Hpos.
  destruct Hpos as [Hpos _].
  apply (repaired_laplace parts epsilon (fun past => value_at stated_scale parts (length past)) c c' H).
  - intros past; apply value_at_pos, Hpos.
  - intros ts Hts; apply (losses_of_changes false Rabs Rinv parts
      (fun i => c (firstn i ts) - c' (firstn i ts))
      (fun i => value_at stated_scale parts (length (firstn i ts))) 0 plain_rate Hfile).
    + intros i Hi; rewrite firstn_length_le by lia; reflexivity.
    + apply Hchanges, Hts.
Qed.
