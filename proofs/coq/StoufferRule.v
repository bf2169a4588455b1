(** * The rule of the auditor's joint bound is a valid one

    [audit.bounds.joint] rejects a pair of probabilities if one count alone does so, at a small share of
    the significance, or if the weighted sum of the normal scores of both p-values is at most a threshold.
    This is a rule in the sense of [JointBound.v], for any weights that do not depend on the counts. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals Bool Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal BinomialLaw JointBound GaussianExact NormalScore.
Open Scope R_scope.

(** ** The rule *)

(** The share of the significance at which a count alone rejects, and where normal scores are cut. *)
Record cuts := Cuts { tail_share : R; lowest_score : R; largest_score : R }.

Definition sound_cuts (c : cuts) : Prop :=
  0 <= tail_share c <= 1 / 2 /\ lowest_score c <= largest_score c.

(** T is a threshold for significance alpha; a smaller one is, too. *)
Definition threshold_at (c : cuts) (alpha T : R) : Prop :=
  normal_cdf T <= alpha * (1 - 2 * tail_share c) - 2 * normal_cdf (- largest_score c).

Lemma threshold_exists : forall c alpha, sound_cuts c -> 0 <= alpha < 1 ->
  2 * normal_cdf (- largest_score c) < alpha * (1 - 2 * tail_share c) -> exists T, threshold_at c alpha T.
Proof.
  intros c alpha [Hc _] Ha H; assert (Htail := normal_cdf_bounds (- largest_score c)).
  destruct (normal_quantile (alpha * (1 - 2 * tail_share c) - 2 * normal_cdf (- largest_score c))) as [T HT].
  - split; [lra |]; assert (alpha * (1 - 2 * tail_share c) <= alpha * 1); [apply Rmult_le_compat_l |]; lra.
  - exists T; right; exact HT.
Qed.

(** The weighted sum of two scores in units of its standard deviation; the first score where both weights
    are 0. *)
Definition combined (a b x y : R) : R :=
  if Rlt_dec 0 (sqrt (a ^ 2 + b ^ 2)) then (a * x + b * y) / sqrt (a ^ 2 + b ^ 2) else x.

Definition score (c : cuts) (u : R) : R := normal_score (lowest_score c) (largest_score c) u.

Definition stouffer_rule (c : cuts) (alpha T a b u v : R) : bool :=
  negb (exceeds u (tail_share c * alpha)) || negb (exceeds v (tail_share c * alpha))
  || negb (exceeds (combined a b (score c u) (score c v)) T).

Lemma not_exceeds : forall u v, negb (exceeds u v) = true <-> u <= v.
Proof.
  intros u v; unfold exceeds; destruct (Rlt_dec v u) as [H | H]; cbn; split; intros H'.
  - discriminate.
  - lra.
  - lra.
  - reflexivity.
Qed.

Lemma stouffer_rule_true : forall c alpha T a b u v, stouffer_rule c alpha T a b u v = true <->
  u <= tail_share c * alpha \/ v <= tail_share c * alpha \/ combined a b (score c u) (score c v) <= T.
Proof.
  intros; unfold stouffer_rule; rewrite !orb_true_iff, !not_exceeds; tauto.
Qed.

(** ** Steps, and what the two counts alone add to a curve *)

Definition unit_step (x v : R) : R := if Rle_dec v x then 1 else 0.

Lemma step_area : forall x, 0 <= x <= 1 -> ex_RInt (unit_step x) 0 1 /\ RInt (unit_step x) 0 1 = x.
Proof.
  intros x Hx; assert (H : is_RInt (unit_step x) 0 1 x);
    [| split; [exists x; exact H | exact (is_RInt_unique _ _ _ _ H)]].
  replace x with ((x - 0) * 1 + (1 - x) * 0) at 2 by ring.
  apply (is_RInt_Chasles (unit_step x) 0 x 1 ((x - 0) * 1) ((1 - x) * 0)).
  - apply (is_RInt_ext (fun _ => 1)); [| apply (is_RInt_const 0 x 1)].
    intros v Hv; rewrite Rmin_left, Rmax_right in Hv by lra.
    unfold unit_step; destruct Rle_dec; [reflexivity | lra].
  - apply (is_RInt_ext (fun _ => 0)); [| apply (is_RInt_const x 1 0)].
    intros v Hv; rewrite Rmin_left, Rmax_right in Hv by lra.
    unfold unit_step; destruct Rle_dec; [lra | reflexivity].
Qed.

Lemma step_nonincreasing : forall x v w, v <= w -> unit_step x w <= unit_step x v.
Proof. intros x v w H; unfold unit_step; destruct (Rle_dec w x), (Rle_dec v x); lra. Qed.

Lemma step_nonneg : forall x v, 0 <= unit_step x v.
Proof. intros x v; unfold unit_step; destruct Rle_dec; lra. Qed.

(** With a significance of 1 or more everything may be rejected. *)
Lemma significance_one : forall alpha reject, 1 <= alpha -> significance alpha reject.
Proof.
  intros alpha reject Ha; exists (fun _ => 1); split; [intros; lra |]; split; [intros; lra |].
  split; [intros; lra |]; split; [apply ex_RInt_const |]; rewrite RInt_constant; lra.
Qed.

(** A rule that also rejects where one p-value is at most t needs 2 t more. *)
Lemma significance_with_tails : forall t alpha (g : R -> R) (together : R -> R -> Prop) rule,
  0 <= t <= 1 -> (forall v, 0 <= v <= 1 -> 0 <= g v) ->
  (forall v w, 0 <= v <= w -> w <= 1 -> g w <= g v) -> ex_RInt g 0 1 -> RInt g 0 1 <= alpha - 2 * t ->
  (forall u v, 0 <= u <= 1 -> 0 <= v <= 1 -> together u v -> u <= g v) ->
  (forall u v, rule u v = true -> u <= t \/ v <= t \/ together u v) -> significance alpha rule.
Proof.
  intros t alpha g together rule Ht Hg Hdecreasing Hintegrable Harea Htogether Hrule.
  destruct (step_area t Ht) as [Hstep Hstep_area].
  exists (fun v => unit_step t v + (t + g v)).
  assert (Hrest : ex_RInt (fun v => t + g v) 0 1)
    by (apply ex_RInt_add; [apply ex_RInt_const | exact Hintegrable]).
  split; [intros v Hv; generalize (step_nonneg t v) (Hg v Hv); lra |].
  split; [| split; [| split]].
  - intros v w Hv Hw; generalize (step_nonincreasing t v w ltac:(lra)) (Hdecreasing v w Hv Hw); lra.
  - intros u v Hu Hv H; generalize (step_nonneg t v) (Hg v Hv); intros.
    destruct (Hrule u v H) as [H' | [H' | H']]; [lra | | generalize (Htogether u v Hu Hv H'); lra].
    unfold unit_step; destruct Rle_dec; lra.
  - apply ex_RInt_add; assumption.
  - rewrite (RInt_add (unit_step t) (fun v => t + g v) 0 1 Hstep Hrest), Hstep_area.
    rewrite (RInt_add (fun _ => t) g 0 1 (ex_RInt_const 0 1 t) Hintegrable), RInt_constant; lra.
Qed.

(** ** Significance *)

Lemma combined_without_weights : forall x y, combined 0 0 x y = combined 1 0 x y.
Proof.
  intros x y; unfold combined.
  replace (0 ^ 2 + 0 ^ 2) with 0 by ring; replace (1 ^ 2 + 0 ^ 2) with 1 by ring; rewrite sqrt_0, sqrt_1.
  destruct (Rlt_dec 0 0), (Rlt_dec 0 1); lra.
Qed.

Lemma combined_with_weights : forall a b x y, 0 < a ^ 2 + b ^ 2 ->
  combined a b x y = (a * x + b * y) / sqrt (a ^ 2 + b ^ 2).
Proof.
  intros a b x y H; unfold combined; destruct Rlt_dec as [_ | Hn]; [reflexivity |].
  exfalso; apply Hn, sqrt_lt_R0, H.
Qed.

(** The rule has the significance alpha for all weights that do not depend on the p-values. *)
Theorem stouffer_significance : forall c alpha T a b, sound_cuts c -> 0 <= alpha -> threshold_at c alpha T ->
  0 <= a -> 0 <= b -> significance alpha (stouffer_rule c alpha T a b).
Proof.
  intros c alpha T a b [Hc Hcuts] Ha HT Hwa Hwb; unfold threshold_at in HT.
  destruct (Rle_or_lt 1 alpha) as [Hone | Hone]; [apply significance_one, Hone |].
  set (t := tail_share c * alpha) in *; set (H := largest_score c) in *.
  assert (HTpos := normal_cdf_bounds T); assert (HHpos := normal_cdf_bounds (- H)).
  assert (Ht : 0 <= t <= 1 / 2) by (unfold t; split; nra).
  assert (Harea : normal_cdf T + 2 * normal_cdf (- H) <= alpha - 2 * t) by (unfold t; lra).
  (* with a positive first weight *)
  assert (Hfirst : forall a, 0 < a -> significance alpha (stouffer_rule c alpha T a b)).
  { clear a Hwa; intros a Hwa; assert (Hlength : 0 < sqrt (a ^ 2 + b ^ 2)) by (apply sqrt_lt_R0; nra).
    set (g := below_sum a b T (lowest_score c) H).
    assert (Hg : ex_RInt g 0 1) by (apply ex_RInt_cont, below_sum_continuous; assumption).
    apply (significance_with_tails t alpha (fun v => normal_cdf (- H) + g v)
      (fun u v => combined a b (score c u) (score c v) <= T)).
    - lra.
    - intros v _; generalize (below_sum_bounds a b T (lowest_score c) H v); fold g; lra.
    - intros v w Hv _; apply Rplus_le_compat_l, below_sum_nonincreasing; try assumption; lra.
    - apply ex_RInt_add; [apply ex_RInt_const | exact Hg].
    - rewrite (RInt_add (fun _ => normal_cdf (- H)) g 0 1 (ex_RInt_const 0 1 _) Hg), RInt_constant.
      generalize (area_of_weighted_sum a b T Hwa (lowest_score c) H Hcuts Hwb); fold g; lra.
    - intros u v Hu Hv; rewrite combined_with_weights by nra; intros Hsum.
      rewrite Rplus_comm; apply (probability_of_low_score (lowest_score c)); [exact Hcuts | lra |].
      change (score c u <= (sqrt (a ^ 2 + b ^ 2) * T - b * score c v) / a).
      apply Rmult_le_reg_r with a; [exact Hwa |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      apply Rmult_le_compat_r with (r := sqrt (a ^ 2 + b ^ 2)) in Hsum; [| lra].
      unfold Rdiv in Hsum; rewrite Rmult_assoc, Rinv_l, Rmult_1_r in Hsum by lra; lra.
    - intros u v Hreject; apply stouffer_rule_true in Hreject; exact Hreject. }
  destruct Hwa as [Hwa | <-]; [apply Hfirst, Hwa |].
  destruct Hwb as [Hwb | <-].
  - (* the second score alone *)
    destruct (step_area (normal_cdf T + normal_cdf (- H)) ltac:(lra)) as [Hintegrable Hstep].
    apply (significance_with_tails t alpha (unit_step (normal_cdf T + normal_cdf (- H)))
      (fun u v => combined 0 b (score c u) (score c v) <= T)).
    + lra.
    + intros; apply step_nonneg.
    + intros; apply step_nonincreasing; lra.
    + exact Hintegrable.
    + lra.
    + intros u v Hu Hv; rewrite combined_with_weights by nra; intros Hsum.
      assert (Hlow : v <= normal_cdf T + normal_cdf (- H)).
      { apply (probability_of_low_score (lowest_score c)); [exact Hcuts | lra |].
        revert Hsum; replace (0 ^ 2 + b ^ 2) with (b ^ 2) by ring; rewrite sqrt_pow2 by lra.
        replace ((0 * score c u + b * score c v) / b) with (score c v) by (field; lra).
        intros Hsum; exact Hsum. }
      unfold unit_step; destruct Rle_dec; lra.
    + intros u v Hreject; apply stouffer_rule_true in Hreject; exact Hreject.
  - (* no weights *)
    destruct (Hfirst 1 ltac:(lra)) as [l [H1 [H2 [H3 H4]]]]; exists l; split; [exact H1 |].
    split; [exact H2 |]; split; [| exact H4]; intros u v Hu Hv Hreject; apply H3; [exact Hu | exact Hv |].
    rewrite <- Hreject; unfold stouffer_rule; rewrite combined_without_weights; reflexivity.
Qed.
