(** * Scales that follow what was released before

    A probe of the repaired mechanism changes by max(c, 1 - c), where c is the share of the group that the
    first release gives, and its noise follows c. So every later scale is a function of the first released
    number, while each probe's prediction depends on all numbers before it. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Normal Gaussian ExtendedGaussian Adaptive RepairedLemmas.
Import ListNotations.
Open Scope R_scope.

Section Probes.
Variables (share : R -> R) (prediction : list R -> record -> bool) (count_scale probe_scale : R).

(** Of the group count, and of a probe at the share that was released. *)
Definition following_scale (past : list R) : R :=
  match past with [] => count_scale | t :: _ => probe_scale * Rmax (share t) (1 - share t) end.

Definition following_centre (D : dataset) (past : list R) : R :=
  match past with [] => group_count D | t :: _ => imbalance (share t) (prediction past) D end.

Hypothesis share_bounds : forall t, 0 <= share t <= 1.
Hypothesis count_scale_pos : 0 < count_scale.
Hypothesis probe_scale_pos : 0 < probe_scale.

Lemma farther_pos : forall t, 0 < Rmax (share t) (1 - share t).
Proof.
  intros t; generalize (Rmax_l (share t) (1 - share t)) (Rmax_r (share t) (1 - share t)) (share_bounds
    t); lra.
Qed.

Lemma following_scale_pos : forall past, 0 < following_scale past.
Proof.
  intros [| t past]; [exact count_scale_pos |]; apply Rmult_lt_0_compat; [exact probe_scale_pos |].
  apply farther_pos.
Qed.

Lemma ratio_square : forall u s m, 0 < s -> 0 < m -> Rabs u <= m -> (u / (s * m)) ^ 2 <= (/ s) ^ 2.
Proof.
  intros u s m Hs Hm Hu; replace (u / (s * m)) with (/ s * (u / m)) by (field; lra).
  rewrite Rpow_mult_distr; rewrite <- (Rmult_1_r ((/ s) ^ 2)) at 2.
  apply Rmult_le_compat_l; [apply pow2_ge_0 |]; rewrite <- pow2_abs, <- (pow1 2); apply pow_incr.
  split; [apply Rabs_pos |]; unfold Rdiv; rewrite Rabs_mult, (Rabs_right (/ m))
    by (left; apply Rinv_0_lt_compat, Hm).
  apply Rmult_le_reg_r with m; [exact Hm |]; rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.

Theorem following_scales_compose : forall n domain D D' probes mu epsilon,
  neighbours n domain D D' -> 0 < mu ->
  (/ count_scale) ^ 2 + INR probes * (/ probe_scale) ^ 2 <= mu ^ 2 ->
  adaptively_indistinguishable epsilon
    (normal_tail (epsilon / mu - mu / 2) - exp epsilon * normal_tail (epsilon / mu + mu / 2)) (S probes)
    (fun past t => gaussian_density (following_scale past) (t - following_centre D past))
    (fun past t => gaussian_density (following_scale past) (t - following_centre D' past)).
Proof.
  intros n domain D D' probes mu epsilon H Hmu Hspent.
  apply adaptive_gaussian_profile; [exact following_scale_pos | exact Hmu |].
  intros [| t ts] Hts; [discriminate |]; injection Hts as Hts.
  eapply Rle_trans; [| exact Hspent]; unfold transcript_shift; cbn [length seq]; rewrite Hts, sum_cons.
  apply Rplus_le_compat.
  - assert (Hcount := proj2 (imbalance_changes n domain 0 (fun _ => true) D D' H ltac:(lra))).
    assert (Hratio := ratio_square _ count_scale 1 count_scale_pos Rlt_0_1 Hcount).
    rewrite Rmult_1_r in Hratio; exact Hratio.
  - replace (INR probes) with (INR (length (seq 1 probes))) by (rewrite seq_length; reflexivity).
    apply sum_le_const; intros i Hi; apply in_seq in Hi.
    destruct i as [| i]; [lia |].
    assert (Hprobe := proj1 (imbalance_changes n domain (share t) (prediction (t :: firstn i ts)) D D' H
      (share_bounds t))).
    exact (ratio_square _ probe_scale _ probe_scale_pos (farther_pos t) Hprobe).
Qed.
End Probes.
