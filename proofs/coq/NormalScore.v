(** * The normal distribution function, normal scores and the law of a weighted sum

    A normal score is the inverse of the distribution function, cut to an interval. The weighted sum of two
    independent normal variables is normal: we integrate over one variable, with the other one's probability
    under the integral. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals Lra.
From CFM Require Import Analysis Normal GaussianExact.
Open Scope R_scope.

(** ** The distribution function *)

Definition normal_density (t : R) : R := bell t / (2 * kappa).

Lemma normal_density_pos : forall t, 0 < normal_density t.
Proof. intros t; apply Rdiv_lt_0_compat; [apply bell_pos | generalize kappa_pos; lra]. Qed.

Lemma normal_density_continuous : forall t, continuous normal_density t.
Proof.
  intros t; apply (continuous_ext (fun t => / (2 * kappa) * bell t)); [intros; apply Rmult_comm |].
  apply (continuous_mult (fun _ => / (2 * kappa)) bell); [apply continuous_const | apply bell_continuous].
Qed.

Lemma normal_cdf_derivative : forall t, is_derive normal_cdf t (normal_density t).
Proof.
  intros t; assert (Hk := kappa_pos).
  apply (is_derive_ext (fun t => / (2 * kappa) * tail (- t))); [intros u; rewrite normal_cdf_tail |].
  - apply Rmult_comm.
  - apply derive_value with (/ (2 * kappa) * (- 1 * - bell (- t)));
      [| unfold normal_density; rewrite bell_even; field; lra].
    apply derive_scal, (derive_comp tail (fun v => - v)); [apply tail_derivative |].
    auto_derive; [trivial | real_ring].
Qed.

Lemma normal_cdf_continuity : forall t, continuity_pt normal_cdf t.
Proof. intros t; apply (derive_continuity _ t _ (normal_cdf_derivative t)). Qed.

Lemma normal_cdf_continuous : forall t, continuous normal_cdf t.
Proof. intros t; apply (derive_continuous _ t _ (normal_cdf_derivative t)). Qed.

Lemma normal_cdf_area : forall x y, RInt normal_density x y = normal_cdf y - normal_cdf x.
Proof.
  intros x y; apply RInt_derivative; [apply normal_cdf_derivative | apply normal_density_continuous].
Qed.

Lemma normal_cdf_increasing : forall x y, x < y -> normal_cdf x < normal_cdf y.
Proof.
  intros x y H; destruct (MVT_gen normal_cdf x y normal_density) as [c [_ Hc]].
  - intros; apply normal_cdf_derivative.
  - intros; apply normal_cdf_continuity.
  - generalize (Rmult_lt_0_compat _ _ (normal_density_pos c) (Rlt_Rminus _ _ H)); lra.
Qed.

Lemma normal_cdf_monotone : forall x y, x <= y -> normal_cdf x <= normal_cdf y.
Proof. intros x y [H | ->]; [left; apply normal_cdf_increasing, H | right; reflexivity]. Qed.

Lemma normal_cdf_reflects : forall x y, normal_cdf x <= normal_cdf y -> x <= y.
Proof.
  intros x y H; destruct (Rle_or_lt x y) as [Hle | Hlt]; [exact Hle |].
  generalize (normal_cdf_increasing y x Hlt); lra.
Qed.

Lemma normal_cdf_opp : forall x, normal_cdf (- x) = 1 - normal_cdf x.
Proof.
  intros x; rewrite !normal_cdf_tail, Ropp_involutive, tail_opp; field; generalize kappa_pos; lra.
Qed.

Lemma normal_cdf_bounds : forall x, 0 < normal_cdf x < 1.
Proof.
  assert (H : forall x, 0 <= normal_cdf x).
  { intros x; rewrite normal_cdf_tail; apply Rle_mult_inv_pos; [apply tail_bounds |].
    generalize kappa_pos; lra. }
  assert (Hpos : forall x, 0 < normal_cdf x).
  { intros x; generalize (H (x - 1)) (normal_cdf_increasing (x - 1) x ltac:(lra)); lra. }
  intros x; generalize (Hpos x) (Hpos (- x)); rewrite normal_cdf_opp; lra.
Qed.

Lemma normal_cdf_vanishes : forall eta, 0 < eta ->
  exists M, 0 < M /\ forall x, x <= - M -> normal_cdf x <= eta.
Proof.
  intros eta Heta; destruct (bell_vanishes eta Heta) as [M [HM H]]; exists M; split; [exact HM |].
  intros x Hx; assert (Hk := kappa_pos); rewrite normal_cdf_tail.
  apply Rmult_le_reg_r with (2 * kappa); [lra |].
  replace (tail (- x) / (2 * kappa) * (2 * kappa)) with (tail (- x)) by (field; lra).
  eapply Rle_trans; [apply tail_le_bell; lra |].
  assert (Hb : bell (- x) <= eta) by (apply H; rewrite Rabs_right; lra); nra.
Qed.

Lemma normal_cdf_limits : is_lim normal_cdf m_infty 0 /\ is_lim normal_cdf p_infty 1.
Proof.
  split; apply is_lim_spec; intros [eta Heta];
    destruct (normal_cdf_vanishes (eta / 2) ltac:(lra)) as [M [_ HM]].
  - exists (- M); intros x Hx; simpl.
    generalize (normal_cdf_bounds x) (HM x ltac:(lra)); intros; rewrite Rminus_0_r, Rabs_right; lra.
  - exists M; intros x Hx; simpl.
    generalize (normal_cdf_bounds x) (HM (- x) ltac:(lra)); rewrite normal_cdf_opp; intros.
    rewrite Rabs_left; lra.
Qed.

(** Where the distribution function is below u it still is a little to the right. *)
Lemma normal_cdf_between : forall x u, normal_cdf x < u -> exists y, x < y /\ normal_cdf y < u.
Proof.
  intros x u H; destruct (normal_cdf_continuity x (u - normal_cdf x) ltac:(lra)) as [d [Hd Hnear]].
  exists (x + d / 2); split; [lra |]; specialize (Hnear (x + d / 2)).
  assert (Hdist : R_dist (normal_cdf (x + d / 2)) (normal_cdf x) < u - normal_cdf x).
  { apply Hnear; split; [split; [exact I | lra] |].
    simpl; unfold R_dist; rewrite Rabs_right; lra. }
  unfold R_dist in Hdist; apply Rabs_def2 in Hdist; lra.
Qed.

Lemma exp_power : forall x n, exp x ^ n = exp (INR n * x).
Proof.
  intros x n; induction n as [| n IH]; [rewrite Rmult_0_l, exp_0; reflexivity |].
  rewrite S_INR, Rmult_plus_distr_r, exp_plus, Rmult_1_l, <- IH; apply Rmult_comm.
Qed.

(** The tail beyond 8, where the program cuts; a coarse bound, from exp(1/4) >= 5/4. *)
Lemma normal_cdf_minus_8 : normal_cdf (- (8)) <= / (4 * 10 ^ 12).
Proof.
  assert (Hk := kappa_pos); rewrite normal_cdf_tail, Ropp_involutive.
  apply Rle_trans with (bell 8 / 2).
  - apply Rmult_le_reg_r with (2 * kappa); [lra |].
    replace (tail 8 / (2 * kappa) * (2 * kappa)) with (tail 8) by (field; lra).
    replace (bell 8 / 2 * (2 * kappa)) with (kappa * bell 8) by field; apply tail_le_bell; lra.
  - assert (Hexp : 2 * 10 ^ 12 <= exp 32).
    { replace (exp 32) with (exp (1 / 4) ^ 128) 
        by (rewrite exp_power, INR_IZR_INZ; f_equal; cbn [Z.of_nat Pos.of_succ_nat Pos.succ]; lra).
      apply Rle_trans with ((5 / 4) ^ 128); [lra |].
      apply pow_incr; generalize (exp_ineq1 (1 / 4)); lra. }
    unfold bell; replace (- (8 ^ 2 / 2)) with (- (32)) by lra; rewrite exp_Ropp.
    assert (/ exp 32 <= / (2 * 10 ^ 12)) by (apply Rinv_le_contravar; [lra | exact Hexp]); lra.
Qed.

(** Every probability has a quantile. *)
Lemma normal_quantile : forall u, 0 < u < 1 -> exists x, normal_cdf x = u.
Proof.
  intros u Hu; destruct (normal_cdf_vanishes (Rmin u (1 - u)) ltac:(apply Rmin_glb_lt; lra)) as [M [HM Hlow]].
  assert (H := Hlow (- M) (Rle_refl _)); generalize (Rmin_l u (1 - u)) (Rmin_r u (1 - u)); intros.
  destruct (IVT_gen normal_cdf (- M) M u normal_cdf_continuity) as [x [_ Hx]]; [| exists x; exact Hx].
  rewrite normal_cdf_opp in *; rewrite Rmin_left, Rmax_right; lra.
Qed.

(** ** Normal scores *)

(** The inverse of the distribution function, cut to [lowest, highest]: the largest x of this interval with
    normal_cdf x <= u, and [lowest] where there is none. *)
Definition normal_score (lowest highest u : R) : R :=
  real (Lub_Rbar (fun x => x = lowest \/ (lowest <= x <= highest /\ normal_cdf x <= u))).

Section Score.
Variables lowest highest : R.
Hypothesis ordered : lowest <= highest.

Lemma score_is_lub : forall u, is_lub_Rbar
  (fun x => x = lowest \/ (lowest <= x <= highest /\ normal_cdf x <= u)) (normal_score lowest highest u).
Proof.
  intros u; set (E := fun x => x = lowest \/ (lowest <= x <= highest /\ normal_cdf x <= u)).
  assert (H := Lub_Rbar_correct E); unfold normal_score; fold E.
  destruct (Lub_Rbar E) as [s | |] eqn:Es; [exact H | exfalso | exfalso]; destruct H as [Hupper Hleast].
  - apply (Hleast highest); intros x [-> | [Hx _]]; simpl; lra.
  - apply (Hupper lowest); left; reflexivity.
Qed.

Lemma score_range : forall u, lowest <= normal_score lowest highest u <= highest.
Proof.
  intros u; destruct (score_is_lub u) as [Hupper Hleast]; split.
  - apply (Hupper lowest); left; reflexivity.
  - apply (Hleast highest); intros x [-> | [Hx _]]; simpl; lra.
Qed.

Lemma score_above : forall t u, t <= highest -> normal_cdf t <= u -> t <= normal_score lowest highest u.
Proof.
  intros t u Ht Hu; destruct (Rle_or_lt lowest t) as [Hle | Hlt].
  - apply (proj1 (score_is_lub u) t); right; split; [split; assumption | exact Hu].
  - generalize (score_range u); lra.
Qed.

Lemma score_below : forall t u, lowest <= t -> u <= normal_cdf t -> normal_score lowest highest u <= t.
Proof.
  intros t u Ht Hu; apply (proj2 (score_is_lub u) t); intros x [-> | [_ Hx]]; [exact Ht |].
  apply normal_cdf_reflects; lra.
Qed.

Lemma score_monotone : forall u v, u <= v -> normal_score lowest highest u <= normal_score lowest highest v.
Proof.
  intros u v H; apply (proj2 (score_is_lub u) (normal_score lowest highest v)).
  intros x [-> | [Hx Hu]]; [apply score_range |].
  apply score_above; [apply Hx | lra].
Qed.

(** The score of a probability is the normal variable that has it, cut. *)
Lemma score_of_normal_cdf : forall x,
  normal_score lowest highest (normal_cdf x) = Rmax lowest (Rmin x highest).
Proof.
  intros x; generalize (score_range (normal_cdf x)); intros Hrange.
  unfold Rmin; destruct (Rle_dec x highest) as [H | H].
  - unfold Rmax; destruct (Rle_dec lowest x) as [H' | H'].
    + apply Rle_antisym; [apply score_below | apply score_above]; lra.
    + apply Rle_antisym; [apply score_below |]; [lra | | lra].
      apply normal_cdf_monotone; lra.
  - rewrite Rmax_right by exact ordered; apply Rle_antisym; [lra |].
    apply score_above; [lra |]; apply normal_cdf_monotone; lra.
Qed.

(** A score that is not cut from above is not too low. *)
Lemma score_not_too_low : forall u, normal_score lowest highest u < highest ->
  u <= normal_cdf (normal_score lowest highest u).
Proof.
  intros u H; destruct (Rle_or_lt u (normal_cdf (normal_score lowest highest u))) as [Hle | Hlt];
    [exact Hle | exfalso].
  destruct (normal_cdf_between _ _ Hlt) as [y [Hy Hcdf]].
  assert (Hmin : Rmin y highest <= normal_score lowest highest u).
  { apply score_above; [apply Rmin_r |].
    apply Rle_trans with (normal_cdf y); [apply normal_cdf_monotone, Rmin_l | lra]. }
  revert Hmin; unfold Rmin; destruct Rle_dec; lra.
Qed.

(** What a low score says of a probability: the cut from above costs a tail. *)
Lemma probability_of_low_score : forall u x, u <= 1 -> normal_score lowest highest u <= x ->
  u <= normal_cdf x + normal_cdf (- highest).
Proof.
  intros u x Hu Hx; generalize (normal_cdf_bounds (- highest)); intros Htail.
  destruct (Rle_or_lt highest (normal_score lowest highest u)) as [H | H].
  - generalize (normal_cdf_monotone highest x ltac:(lra)); rewrite normal_cdf_opp; lra.
  - generalize (score_not_too_low u H) (normal_cdf_monotone _ _ Hx); lra.
Qed.

Lemma score_continuity : forall u, continuity_pt (normal_score lowest highest) u.
Proof.
  intros u eta Heta; set (s := normal_score lowest highest u).
  assert (Hs : lowest <= s <= highest) by apply score_range.
  assert (Hup : exists d, 0 < d /\ forall v, v < u + d -> normal_score lowest highest v < s + eta).
  { destruct (Rlt_or_le highest (s + eta)) as [H | H].
    - exists 1; split; [lra |]; intros v _; generalize (score_range v); lra.
    - exists (normal_cdf (s + eta / 2) - u); split.
      + destruct (Rlt_or_le u (normal_cdf (s + eta / 2))) as [Hu | Hu]; [lra |].
        generalize (score_above (s + eta / 2) u ltac:(lra) Hu); fold s; lra.
      + intros v Hv; generalize (score_below (s + eta / 2) v ltac:(lra) ltac:(lra)); lra. }
  assert (Hdown : exists d, 0 < d /\ forall v, u - d < v -> s - eta < normal_score lowest highest v).
  { destruct (Rlt_or_le (s - eta) lowest) as [H | H].
    - exists 1; split; [lra |]; intros v _; generalize (score_range v); lra.
    - exists (u - normal_cdf (s - eta / 2)); split.
      + destruct (Rlt_or_le (normal_cdf (s - eta / 2)) u) as [Hu | Hu]; [lra |].
        generalize (score_below (s - eta / 2) u ltac:(lra) Hu); fold s; lra.
      + intros v Hv; generalize (score_above (s - eta / 2) v ltac:(lra) ltac:(lra)); lra. }
  destruct Hup as [d [Hd Hup]], Hdown as [d' [Hd' Hdown]].
  exists (Rmin d d'); split; [apply Rmin_glb_lt; assumption |].
  intros v [_ Hv]; simpl in *; unfold R_dist in *; fold s.
  generalize (Rmin_l d d') (Rmin_r d d'); intros; apply Rabs_def2 in Hv.
  apply Rabs_def1; [generalize (Hup v ltac:(lra)) | generalize (Hdown v ltac:(lra))]; lra.
Qed.
End Score.

(** ** The weighted sum of two independent normal variables *)

(** The chance that the second variable is at most (sqrt(a^2 + b^2) T - b t) / a, integrated over the first
    one's density, is the chance that one normal variable is at most T. *)
Section WeightedSum.
Variables a b T : R.
Hypothesis a_pos : 0 < a.

Definition other_variable (t : R) : R := (sqrt (a ^ 2 + b ^ 2) * T - b * t) / a.

Lemma length_of_ratio : sqrt (a ^ 2 + b ^ 2) = a * sqrt (1 + (b / a) ^ 2).
Proof.
  replace (a ^ 2 + b ^ 2) with (a ^ 2 * (1 + (b / a) ^ 2)) by (field; lra).
  rewrite sqrt_mult by (generalize (pow2_ge_0 a) (pow2_ge_0 (b / a)); lra).
  rewrite sqrt_pow2 by lra; reflexivity.
Qed.

Lemma other_variable_continuous : forall t, continuous other_variable t.
Proof.
  intros t; apply derive_continuous with (- (b / a)); unfold other_variable.
  auto_derive; [trivial |]; match goal with |- @eq _ ?x ?y => change (@eq R x y) end; field; lra.
Qed.

Lemma sum_integrand_continuous : forall t,
  continuous (fun t => normal_density t * normal_cdf (other_variable t)) t.
Proof.
  intros t; apply (continuous_mult normal_density (fun t => normal_cdf (other_variable t)));
    [apply normal_density_continuous |].
  apply (continuous_comp other_variable normal_cdf);
    [apply other_variable_continuous | apply normal_cdf_continuous].
Qed.

Lemma sum_is_blend : forall lo hi, RInt (fun t => normal_density t * normal_cdf (other_variable t)) lo hi
  = blend (- T) lo hi (b / a) / (2 * kappa) ^ 2.
Proof.
  intros lo hi; assert (Hk := kappa_pos); unfold blend, Rdiv at 1; rewrite Rmult_comm, <- RInt_mult_const.
  - apply RInt_same; intros t; unfold normal_density, other_variable; rewrite normal_cdf_tail.
    replace (- ((sqrt (a ^ 2 + b ^ 2) * T - b * t) / a))
      with (- T * sqrt (1 + (b / a) ^ 2) + b / a * t) by (rewrite length_of_ratio; field; lra).
    field; lra.
  - apply ex_RInt_cont; intros t.
    apply (continuous_mult bell (fun t => tail (- T * sqrt (1 + (b / a) ^ 2) + b / a * t)));
      [apply bell_continuous |].
    apply (continuous_comp (fun t => - T * sqrt (1 + (b / a) ^ 2) + b / a * t) tail);
      [| apply tail_continuous].
    apply derive_continuous with (b / a); auto_derive; [trivial | real_ring].
Qed.

Lemma weighted_sum_is_normal : forall eta, 0 < eta -> exists M, 0 < M /\ forall lo hi, lo <= - M -> M <= hi ->
  Rabs (RInt (fun t => normal_density t * normal_cdf (other_variable t)) lo hi - normal_cdf T) <= eta.
Proof.
  intros eta Heta; assert (Hk := kappa_pos); assert (Hk2 : 0 < (2 * kappa) ^ 2) by (apply pow_lt; lra).
  destruct (blend_limit (- T) (b / a) (eta * (2 * kappa) ^ 2)) as [M [HM Hlimit]];
    [apply Rmult_lt_0_compat; assumption |].
  exists M; split; [exact HM |]; intros lo hi Hlo Hhi; specialize (Hlimit lo hi Hlo Hhi).
  rewrite sum_is_blend, normal_cdf_tail.
  replace (blend (- T) lo hi (b / a) / (2 * kappa) ^ 2 - tail (- T) / (2 * kappa))
    with ((blend (- T) lo hi (b / a) - 2 * kappa * tail (- T)) * / (2 * kappa) ^ 2) by (field; lra).
  rewrite Rabs_mult, (Rabs_right (/ (2 * kappa) ^ 2)) by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, Hk2).
  apply Rmult_le_reg_r with ((2 * kappa) ^ 2); [exact Hk2 |].
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; exact Hlimit.
Qed.

Lemma weighted_sum_upper : forall lo hi, lo <= hi ->
  RInt (fun t => normal_density t * normal_cdf (other_variable t)) lo hi <= normal_cdf T.
Proof.
  intros lo hi Hlohi; apply le_epsilon; intros eta Heta.
  destruct (weighted_sum_is_normal eta Heta) as [M [HM Hlimit]].
  set (f := fun t => normal_density t * normal_cdf (other_variable t)).
  assert (Hf : forall x y, x <= y -> 0 <= RInt f x y).
  { intros x y Hxy; apply RInt_ge_0; [exact Hxy | apply ex_RInt_cont, sum_integrand_continuous |].
    intros t _; apply Rmult_le_pos; apply Rlt_le; [apply normal_density_pos | apply normal_cdf_bounds]. }
  specialize (Hlimit (Rmin lo (- M)) (Rmax hi M) (Rmin_r _ _) (Rmax_r _ _)); fold f in Hlimit.
  assert (H1 := Hf _ _ (Rmin_l lo (- M))); assert (H2 := Hf _ _ (Rmax_l hi M)).
  rewrite <- (RInt_split f _ lo), <- (RInt_split f lo hi) in Hlimit by apply sum_integrand_continuous.
  match type of Hlimit with Rabs ?x <= _ => generalize (Rle_abs x) end; lra.
Qed.

(** ** The same with a uniform number and its score *)

Variables lowest highest : R.
Hypothesis ordered : lowest <= highest.
Hypothesis b_nonneg : 0 <= b.

Definition below_sum (v : R) : R := normal_cdf (other_variable (normal_score lowest highest v)).

Lemma below_sum_bounds : forall v, 0 < below_sum v < 1.
Proof. intros v; apply normal_cdf_bounds. Qed.

Lemma below_sum_nonincreasing : forall v w, v <= w -> below_sum w <= below_sum v.
Proof.
  intros v w H; apply normal_cdf_monotone; unfold other_variable.
  apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, a_pos |].
  generalize (Rmult_le_compat_l b _ _ b_nonneg (score_monotone lowest highest ordered v w H)); lra.
Qed.

Lemma below_sum_continuous : forall v, continuous below_sum v.
Proof.
  intros v; apply (continuous_comp (fun v => other_variable (normal_score lowest highest v)) normal_cdf);
    [| apply normal_cdf_continuous].
  apply (continuous_comp (normal_score lowest highest) other_variable); [| apply other_variable_continuous].
  apply continuity_pt_filterlim, score_continuity, ordered.
Qed.

Lemma below_sum_integral_le : forall x y, x <= y -> RInt below_sum x y <= y - x.
Proof.
  intros x y H; replace (y - x) with (RInt (fun _ => 1) x y) by (rewrite RInt_constant; apply Rmult_1_r).
  apply RInt_le; [exact H | apply ex_RInt_cont, below_sum_continuous | apply ex_RInt_const |].
  intros v _; generalize (below_sum_bounds v); lra.
Qed.

Lemma area_of_weighted_sum : RInt below_sum 0 1 <= normal_cdf T + normal_cdf (- highest).
Proof.
  apply le_epsilon; intros eta Heta; destruct (normal_cdf_vanishes eta Heta) as [M [HM Hlow]].
  set (lo := Rmin (- M) highest); assert (Hlo : lo <= highest) by apply Rmin_r.
  assert (Hsmall : normal_cdf lo <= eta) by (apply Hlow, Rmin_l).
  assert (Hchange : RInt below_sum (normal_cdf lo) (normal_cdf highest)
    = RInt (fun t => normal_density t * below_sum (normal_cdf t)) lo highest).
  { symmetry; apply (RInt_comp below_sum normal_cdf normal_density lo highest).
    - intros; apply below_sum_continuous.
    - intros; split; [apply normal_cdf_derivative | apply normal_density_continuous]. }
  assert (Hmiddle : RInt (fun t => normal_density t * below_sum (normal_cdf t)) lo highest <= normal_cdf T).
  { eapply Rle_trans; [| apply (weighted_sum_upper lo highest Hlo)].
    apply RInt_le; [exact Hlo | | apply ex_RInt_cont, sum_integrand_continuous |].
    - apply ex_RInt_cont; intros t.
      apply (continuous_mult normal_density (fun t => below_sum (normal_cdf t)));
        [apply normal_density_continuous |].
      apply (continuous_comp normal_cdf below_sum);
        [apply normal_cdf_continuous | apply below_sum_continuous].
    - intros t Ht; apply Rmult_le_compat_l; [apply Rlt_le, normal_density_pos |].
      apply normal_cdf_monotone; unfold other_variable.
      apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, a_pos |].
      generalize (Rmult_le_compat_l b _ _ b_nonneg
        (score_above lowest highest ordered t (normal_cdf t) ltac:(lra) (Rle_refl _))); lra. }
  rewrite <- (RInt_split below_sum 0 (normal_cdf lo) 1), <- (RInt_split below_sum _ (normal_cdf highest) 1)
    by apply below_sum_continuous.
  assert (H0 := normal_cdf_bounds lo); assert (H1 := normal_cdf_bounds highest).
  generalize (normal_cdf_opp highest) (below_sum_integral_le 0 (normal_cdf lo) ltac:(lra))
    (below_sum_integral_le (normal_cdf highest) 1 ltac:(lra)); lra.
Qed.
End WeightedSum.
