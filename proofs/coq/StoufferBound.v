(** * The joint bound end to end: the rule of [StoufferRule.v] at every pair

    The weights of a pair are the standard errors of the two shares, the second one times the ratio of the
    pair. Bounds on epsilon take the pair's own ratio; bounds on delta and tests of one hypothesis take a
    fixed one. *)

From Coq Require Import Reals Bool Lia Lra.
From CFM Require Import Definitions Sums BinomialLaw JointBound GaussianExact NormalScore StoufferRule.
Open Scope R_scope.

(** ** The weights *)

(** Standard error of a share of n draws. *)
Definition share_spread (n : nat) (p : R) : R := sqrt (p * (1 - p) / INR n).

Definition pair_rule (c : cuts) (alpha T : R) (n m : nat) (ratio p q : R) : R -> R -> bool :=
  stouffer_rule c alpha T (share_spread n p) (ratio * share_spread m q).

(** The ratio with p = ratio q + delta, and 0 where p <= delta.  With q = 0 it does not matter: the spread is
    0. *)
Definition pair_ratio (delta p q : R) : R := Rmax 0 (p - delta) / q.

Definition epsilon_rule (c : cuts) (alpha T : R) (n m : nat) (delta p q : R) : R -> R -> bool :=
  pair_rule c alpha T n m (pair_ratio delta p q) p q.

Lemma share_spread_nonneg : forall n p, 0 <= share_spread n p.
Proof. intros; apply sqrt_pos. Qed.

Lemma share_spread_0 : forall n, share_spread n 0 = 0.
Proof. intros n; unfold share_spread, Rdiv; rewrite !Rmult_0_l; apply sqrt_0. Qed.

Lemma pair_rule_significance : forall c alpha T n m ratio p q, sound_cuts c -> 0 <= alpha ->
  threshold_at c alpha T -> 0 <= ratio -> significance alpha (pair_rule c alpha T n m ratio p q).
Proof.
  intros c alpha T n m ratio p q Hc Ha HT Hratio.
  apply stouffer_significance; try assumption; [apply share_spread_nonneg |].
  apply Rmult_le_pos; [exact Hratio | apply share_spread_nonneg].
Qed.

Lemma epsilon_rule_significance : forall c alpha T n m delta p q, sound_cuts c -> 0 <= alpha ->
  threshold_at c alpha T -> 0 <= q -> significance alpha (epsilon_rule c alpha T n m delta p q).
Proof.
  intros c alpha T n m delta p q Hc Ha HT [Hq | <-].
  - apply pair_rule_significance; try assumption.
    apply Rle_mult_inv_pos; [apply Rmax_l | exact Hq].
  - unfold epsilon_rule, pair_rule; rewrite share_spread_0, Rmult_0_r.
    apply stouffer_significance; try assumption; [apply share_spread_nonneg | lra].
Qed.

(** ** Bounds *)

(** A bound on epsilon. *)
Theorem joint_epsilon_bound : forall c alpha T n m p q epsilon delta B, sound_cuts c -> 0 <= alpha ->
  threshold_at c alpha T -> 0 <= p <= 1 -> 0 <= q <= 1 -> 0 <= epsilon ->
  below_region n m delta (epsilon_rule c alpha T n m delta) B -> p <= exp epsilon * q + delta ->
  joint_probability n m p q (fun j k => exceeds (B j k) epsilon) <= alpha.
Proof.
  intros c alpha T n m p q epsilon delta B Hc Ha HT Hp Hq Hepsilon HB Hprivate.
  apply (region_bound n m p q alpha epsilon delta (epsilon_rule c alpha T n m delta) B); try assumption.
  apply epsilon_rule_significance; try assumption; apply Hq.
Qed.

(** No larger than any delta >= 0 that a pair which the counts do not reject allows at this ratio. *)
Definition below_delta_region (n m : nat) (ratio : R) (reject : R -> R -> R -> R -> bool)
    (B : nat -> nat -> R) : Prop :=
  forall j k p q delta, (j <= n)%nat -> (k <= m)%nat -> 0 <= p <= 1 -> 0 <= q <= 1 -> 0 <= delta ->
  p <= ratio * q + delta -> reject p q (at_least n j p) (at_most m k q) = false -> B j k <= delta.

(** A bound on delta. *)
Theorem joint_delta_bound : forall c alpha T n m p q epsilon delta B, sound_cuts c -> 0 <= alpha ->
  threshold_at c alpha T -> 0 <= p <= 1 -> 0 <= q <= 1 -> 0 <= delta ->
  below_delta_region n m (exp epsilon) (pair_rule c alpha T n m (exp epsilon)) B ->
  p <= exp epsilon * q + delta ->
  joint_probability n m p q (fun j k => exceeds (B j k) delta) <= alpha.
Proof.
  intros c alpha T n m p q epsilon delta B Hc Ha HT Hp Hq Hdelta HB Hprivate.
  apply (only_where_rejected n m p q alpha (pair_rule c alpha T n m (exp epsilon) p q)); try assumption.
  - apply pair_rule_significance; try assumption; apply Rlt_le, exp_pos.
  - intros j k Hj Hk E; apply exceeds_true in E.
    destruct (pair_rule c alpha T n m (exp epsilon) p q (at_least n j p) (at_most m k q)) eqn:Erule;
      [reflexivity |].
    assert (H := HB j k p q delta Hj Hk Hp Hq Hdelta Hprivate Erule); lra.
Qed.

(** ** A test of one hypothesis, with the weights of the pairs on its edge *)

Lemma combined_monotone : forall a b x y x' y', 0 <= a -> 0 <= b -> x' <= x -> y' <= y ->
  combined a b x' y' <= combined a b x y.
Proof.
  intros a b x y x' y' Ha Hb Hx Hy; unfold combined; destruct Rlt_dec as [H | H]; [| exact Hx].
  apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, H |].
  apply Rplus_le_compat; apply Rmult_le_compat_l; assumption.
Qed.

(** What is rejected is rejected with smaller p-values, and at a larger significance. *)
Lemma stouffer_rule_monotone : forall c alpha T a b u v alpha' T' u' v', sound_cuts c -> 0 <= a -> 0 <= b ->
  u' <= u -> v' <= v -> alpha <= alpha' -> T <= T' ->
  stouffer_rule c alpha T a b u v = true -> stouffer_rule c alpha' T' a b u' v' = true.
Proof.
  intros c alpha T a b u v alpha' T' u' v' [Hc Hcuts] Hwa Hwb Hu Hv Ha HT H.
  apply stouffer_rule_true; apply stouffer_rule_true in H.
  assert (Htail : tail_share c * alpha <= tail_share c * alpha') by (apply Rmult_le_compat_l; lra).
  destruct H as [H | [H | H]]; [left; lra | right; left; lra | right; right].
  apply Rle_trans with (combined a b (score c u) (score c v)); [| lra].
  apply combined_monotone; try assumption; apply score_monotone; assumption.
Qed.

(** The largest p that the hypothesis p <= ratio q + delta allows. *)
Definition edge (ratio delta q : R) : R := Rmin 1 (ratio * q + delta).

Definition rejects_edge (c : cuts) (alpha T : R) (n m : nat) (ratio delta : R) (j k : nat) : Prop :=
  forall q, 0 <= q <= 1 -> pair_rule c alpha T n m ratio (edge ratio delta q) q
    (at_least n j (edge ratio delta q)) (at_most m k q) = true.

Section Edge.
Variables (c : cuts) (n m : nat) (ratio delta p q : R).
Hypothesis sound : sound_cuts c.
Hypothesis p_range : 0 <= p <= 1.
Hypothesis q_range : 0 <= q <= 1.
Hypothesis ratio_nonneg : 0 <= ratio.
Hypothesis allowed : p <= ratio * q + delta.

(** Below the edge the first p-value is smaller. *)
Lemma edge_covers_below : forall alpha T j k alpha' T', alpha <= alpha' -> T <= T' ->
  rejects_edge c alpha T n m ratio delta j k ->
  pair_rule c alpha' T' n m ratio (edge ratio delta q) q (at_least n j p) (at_most m k q) = true.
Proof.
  intros alpha T j k alpha' T' Ha HT H; specialize (H q q_range); revert H; unfold pair_rule.
  apply stouffer_rule_monotone; try assumption; [apply share_spread_nonneg | | | apply Rle_refl].
  - apply Rmult_le_pos; [exact ratio_nonneg | apply share_spread_nonneg].
  - apply at_least_monotone; [split; [apply p_range | apply Rmin_glb; [apply p_range | exact allowed]] |].
    apply Rmin_l.
Qed.

(** A test that rejects the hypothesis only with every pair of the edge. *)
Theorem edge_test : forall alpha T (test : nat -> nat -> bool), 0 <= alpha -> threshold_at c alpha T ->
  (forall j k, (j <= n)%nat -> (k <= m)%nat -> test j k = true ->
    rejects_edge c alpha T n m ratio delta j k) ->
  joint_probability n m p q test <= alpha.
Proof.
  intros alpha T test Ha HT Htest.
  apply (only_where_rejected n m p q alpha (pair_rule c alpha T n m ratio (edge ratio delta q) q));
    try assumption; [apply pair_rule_significance; assumption |].
  intros j k Hj Hk E; apply (edge_covers_below alpha T); [lra | lra | apply Htest; assumption].
Qed.

(** A p-value at which, unless it is 1, every pair of the edge is rejected. *)
Theorem edge_p_value : forall alpha (level : nat -> nat -> R), 0 <= alpha ->
  (forall j k, (j <= n)%nat -> (k <= m)%nat -> level j k < 1 ->
    exists T, threshold_at c (level j k) T /\ rejects_edge c (level j k) T n m ratio delta j k) ->
  joint_probability n m p q (fun j k => negb (exceeds (level j k) alpha)) <= alpha.
Proof.
  intros alpha level Ha Hlevel; destruct (Rle_or_lt 1 alpha) as [Hone | Hone].
  - apply (only_where_rejected n m p q alpha (fun _ _ => true)); try assumption; [| reflexivity].
    apply significance_one, Hone.
  - set (room := alpha * (1 - 2 * tail_share c) - 2 * normal_cdf (- largest_score c)).
    destruct (proj1 sound) as [Hshare Hshare']; assert (Htail := normal_cdf_bounds (- largest_score c)).
    assert (Hroom : forall j k, (j <= n)%nat -> (k <= m)%nat -> level j k <= alpha -> exists T,
      normal_cdf T <= room /\ rejects_edge c (level j k) T n m ratio delta j k).
    { intros j k Hj Hk H; destruct (Hlevel j k Hj Hk ltac:(lra)) as [T [HT Hreject]].
      exists T; split; [| exact Hreject]; unfold threshold_at in HT; unfold room; nra. }
    destruct (Rle_or_lt room 0) as [Hnone | Hsome].
    + (* no such level *)
      apply (only_where_rejected n m p q alpha (fun u _ => negb (exceeds u alpha))); try assumption;
        [apply significance_of_one_count, Ha |].
      intros j k Hj Hk E; apply not_exceeds in E; destruct (Hroom j k Hj Hk E) as [T [HT _]].
      generalize (normal_cdf_bounds T); lra.
    + destruct (normal_quantile room ltac:(split; [exact Hsome | unfold room; nra])) as [T HT].
      apply (only_where_rejected n m p q alpha (pair_rule c alpha T n m ratio (edge ratio delta q) q));
        try assumption.
      * apply pair_rule_significance; try assumption; unfold threshold_at; fold room; lra.
      * intros j k Hj Hk E; apply not_exceeds in E; destruct (Hroom j k Hj Hk E) as [T' [HT' Hreject]].
        apply (edge_covers_below (level j k) T'); [exact E | | exact Hreject].
        apply normal_cdf_reflects; lra.
Qed.
End Edge.
