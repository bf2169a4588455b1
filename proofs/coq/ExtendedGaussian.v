(** * Theorem 2, the extended Gaussian mechanism, and Theorem 4, the relaxed functional mechanism

    Both hold for every epsilon > 0 and every delta up to sqrt(2/pi). The last step of Theorem 4's proof needs
    Delta_2 <= 1, which the published bounds exceed. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool Lra Lia.
From CFM Require Import Definitions Sums Analysis Normal Expectation Change Box BoxSensitivity Laplace
  Gaussian.
Import ListNotations.
Open Scope R_scope.

(** The tail alone: delta <= Q(epsilon/nu - nu/2). *)
Lemma profile_le_bell : forall nu epsilon, 0 < nu -> 0 <= epsilon / nu - nu / 2 ->
  profile nu epsilon / (2 * kappa) <= bell (epsilon / nu - nu / 2) / 2.
Proof.
  intros nu epsilon Hnu Ha; assert (Hk := kappa_pos); unfold profile.
  generalize (tail_le_bell _ Ha) (proj1 (tail_bounds (epsilon / nu + nu / 2))) (exp_pos epsilon);
    intros H1 H2 H3.
  apply Rmult_le_reg_l with (2 * kappa); [lra |].
  replace (2 * kappa * ((tail (epsilon / nu - nu / 2) - exp epsilon * tail (epsilon / nu + nu / 2))
    / (2 * kappa)))
    with (tail (epsilon / nu - nu / 2) - exp epsilon * tail (epsilon / nu + nu / 2)) by (field; lra).
  assert (0 <= exp epsilon * tail (epsilon / nu + nu / 2)) by (apply Rmult_le_pos; lra).
  lra.
Qed.

Lemma kappa_le_2 : kappa <= 2.
Proof. generalize kappa_square kappa_pos PI_4; intros; nra. Qed.

Lemma sqrt_two_over_pi : sqrt (2 / PI) = / kappa.
Proof.
  assert (Hk := kappa_pos); assert (HPI := PI_RGT_0).
  replace (2 / PI) with ((/ kappa) ^ 2).
  - apply sqrt_pow2, Rlt_le, Rinv_0_lt_compat; exact Hk.
  - rewrite pow_inv, kappa_square; field; lra.
Qed.

(** The upper tail of the standard normal distribution. *)
Definition normal_tail (x : R) : R := 1 / 2 - RInt (fun t => exp (- (t ^ 2 / 2))) 0 x / sqrt (2 * PI).

Lemma normal_tail_tail : forall x, normal_tail x = tail x / (2 * kappa).
Proof.
  intros x; assert (Hk := kappa_pos); unfold normal_tail, tail; rewrite two_kappa; fold bell;
    fold (bell_integral x).
  change (RInt (fun t => exp (- (t ^ 2 / 2))) 0 x) with (bell_integral x); field; lra.
Qed.

Theorem gaussian_integral_bounds :
  (forall a b, a <= b -> RInt (fun t => exp (- (t ^ 2 / 2))) a b <= sqrt (2 * PI)) /\
  (forall x, 0 <= x -> sqrt (2 * PI) * (1 - exp (- (x ^ 2 / 2)))
    <= RInt (fun t => exp (- (t ^ 2 / 2))) (- x) x).
Proof.
  rewrite two_kappa; split.
  - intros a b _; change (RInt bell a b <= 2 * kappa); rewrite RInt_bell_tail.
    generalize (tail_bounds a) (tail_bounds b); lra.
  - intros x Hx; change (2 * kappa * (1 - bell x) <= RInt bell (- x) x); rewrite RInt_bell_tail, tail_opp.
    generalize (tail_le_bell x Hx); lra.
Qed.

Theorem gaussian_profile_normal : forall (A : Type) (l : list A) (sigma c c' : A -> R) nu epsilon,
  (forall a, 0 < sigma a) -> 0 < nu -> sum_over l (fun a => ((c a - c' a) / sigma a) ^ 2) <= nu ^ 2 ->
  indistinguishable epsilon (normal_tail (epsilon / nu - nu / 2)
    - exp epsilon * normal_tail (epsilon / nu + nu / 2)) l
    (fun a t => gaussian_density (sigma a) (t - c a)) (fun a t => gaussian_density (sigma a) (t - c' a)).
Proof.
  intros A l sigma c c' nu epsilon Hs Hnu Hsum; assert (Hk := kappa_pos).
  replace (normal_tail (epsilon / nu - nu / 2) - exp epsilon * normal_tail (epsilon / nu + nu / 2))
    with (profile nu epsilon / (2 * kappa)) by (rewrite !normal_tail_tail; unfold profile; field; lra).
  apply gaussian_indistinguishable; assumption.
Qed.

(** Two scales: the weighted change is the shift. *)
Theorem two_scale_gaussian : forall r n d s domain sigma_s sigma_n nu epsilon, 0 < sigma_s -> 0 < sigma_n ->
  0 < nu ->
  (forall D D', neighbours n domain D D' ->
    l2_change_squared r d (contains s) D D' / sigma_s ^ 2 + l2_change_squared r d (contains_not s) D D'
      / sigma_n ^ 2 <= nu ^ 2) ->
  differentially_private epsilon (normal_tail (epsilon / nu - nu / 2)
    - exp epsilon * normal_tail (epsilon / nu + nu / 2))
    n d domain gaussian_density (two_scales s sigma_s sigma_n) r.
Proof.
  intros r n d s domain ss sn nu epsilon Hs Hn Hnu H D D' HDD'.
  apply (gaussian_profile_normal monomial (Phi (basis r) d) (two_scales s ss sn) (coefficient r D)
    (coefficient r D'));
    [apply two_scales_pos; assumption | exact Hnu |].
  eapply Rle_trans; [| apply (H D D' HDD')]; right; unfold l2_change_squared.
  rewrite (sum_two_parts _ s); unfold Rdiv; rewrite <- !sum_scal_r; f_equal; rewrite !sum_filter;
    apply sum_ext; intros phi _;
    unfold contains_not, two_scales; destruct (contains s phi); cbn [negb]; try reflexivity; field; lra.
Qed.

(** The largest shift over sigma that sigma of Theorem 2 allows. *)
Definition allowed_shift (L epsilon : R) : R := sqrt 2 * (sqrt (L + epsilon) - sqrt L).

Lemma allowed_shift_pos : forall L epsilon, 0 <= L -> 0 < epsilon -> 0 < allowed_shift L epsilon.
Proof.
  intros L epsilon HL He; unfold allowed_shift; apply Rmult_lt_0_compat; [apply sqrt_lt_R0; lra |].
  assert (sqrt L < sqrt (L + epsilon)) by (apply sqrt_lt_1; lra); lra.
Qed.

Lemma allowed_shift_tail : forall L epsilon, 0 <= L -> 0 < epsilon ->
  epsilon / allowed_shift L epsilon - allowed_shift L epsilon / 2 = sqrt 2 * sqrt L.
Proof.
  intros L epsilon HL He; assert (Hpos := allowed_shift_pos L epsilon HL He); revert Hpos;
    unfold allowed_shift; intros Hpos.
  assert (H2 : sqrt 2 ^ 2 = 2) by (apply pow2_sqrt; lra).
  assert (Hu : sqrt (L + epsilon) ^ 2 = L + epsilon) by (apply pow2_sqrt; lra).
  assert (Hv : sqrt L ^ 2 = L) by (apply pow2_sqrt; lra).
  assert (Hr : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  set (r := sqrt 2) in *; set (u := sqrt (L + epsilon)) in *; set (v := sqrt L) in *.
  apply Rmult_eq_reg_r with (r * (u - v)); [| lra].
  replace ((epsilon / (r * (u - v)) - r * (u - v) / 2) * (r * (u - v)))
    with (epsilon - r ^ 2 * (u - v) ^ 2 / 2) by (field; split; [intros E; rewrite E in Hpos; lra | lra]).
  replace (r * v * (r * (u - v))) with (r ^ 2 * (v * (u - v))) by ring.
  rewrite H2; replace epsilon with (u ^ 2 - v ^ 2) by lra; field.
Qed.

(** sigma of Theorem 2 is Delta over the allowed shift. *)
Lemma extended_sigma_shift : forall l2_sensitivity epsilon delta,
  0 < epsilon -> 0 <= ln (sqrt (2 / PI) / delta) ->
  extended_gaussian_sigma l2_sensitivity epsilon delta * allowed_shift (ln (sqrt (2 / PI) / delta)) epsilon
    = l2_sensitivity.
Proof.
  intros D epsilon delta He; set (L := ln (sqrt (2 / PI) / delta)); intros HL.
  unfold extended_gaussian_sigma, allowed_shift; fold L.
  assert (H2 : sqrt 2 ^ 2 = 2) by (apply pow2_sqrt; lra).
  assert (Hu : sqrt (L + epsilon) ^ 2 = L + epsilon) by (apply pow2_sqrt; lra).
  assert (Hv : sqrt L ^ 2 = L) by (apply pow2_sqrt; lra).
  set (r := sqrt 2) in *; set (u := sqrt (L + epsilon)) in *; set (v := sqrt L) in *.
  replace (r * D / (2 * epsilon) * (v + u) * (r * (u - v)))
    with (D * (r ^ 2 * (u ^ 2 - v ^ 2)) / (2 * epsilon)) by (field; lra).
  rewrite H2, Hu, Hv; field; lra.
Qed.

Lemma log_nonneg : forall delta, 0 < delta <= sqrt (2 / PI) -> 0 <= ln (sqrt (2 / PI) / delta).
Proof.
  intros delta [H1 H2]; rewrite <- ln_1; destruct (Rle_lt_or_eq_dec _ _ H2) as [H | <-].
  - left; apply ln_increasing; [lra |].
    apply Rmult_lt_reg_r with delta; [exact H1 |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
  - right; f_equal; field; lra.
Qed.

Lemma log_tail : forall delta, 0 < delta <= sqrt (2 / PI) ->
  bell (sqrt 2 * sqrt (ln (sqrt (2 / PI) / delta))) = delta * kappa.
Proof.
  intros delta Hd; assert (HL := log_nonneg delta Hd); unfold bell; rewrite Rpow_mult_distr, !pow2_sqrt
    by lra.
  assert (Hpos : 0 < sqrt (2 / PI)) by lra; assert (Hk := kappa_pos).
  replace (- (2 * ln (sqrt (2 / PI) / delta) / 2)) with (- ln (sqrt (2 / PI) / delta)) by field.
  rewrite exp_Ropp, exp_ln by (apply Rdiv_lt_0_compat; lra); rewrite sqrt_two_over_pi; field; lra.
Qed.

Lemma allowed_shift_profile : forall epsilon delta, 0 < epsilon -> 0 < delta <= sqrt (2 / PI) ->
  profile (allowed_shift (ln (sqrt (2 / PI) / delta)) epsilon) epsilon / (2 * kappa) <= delta.
Proof.
  intros epsilon delta He Hd; assert (HL := log_nonneg delta Hd); set (L := ln (sqrt (2 / PI) / delta)) in *.
  assert (Hnu := allowed_shift_pos L epsilon HL He).
  assert (Htail := allowed_shift_tail L epsilon HL He).
  eapply Rle_trans; [apply profile_le_bell; [exact Hnu |] |]; rewrite Htail.
  - apply Rmult_le_pos; apply sqrt_pos.
  - unfold L; rewrite log_tail by exact Hd; generalize kappa_le_2; nra.
Qed.

Lemma indistinguishable_weaker : forall (A : Type) epsilon delta delta' (l : list A) p q,
  delta <= delta' -> indistinguishable epsilon delta l p q -> indistinguishable epsilon delta' l p q.
Proof.
  intros A epsilon delta delta' l p q Hd H lower upper test H1 H2 H3 H4.
  eapply Rle_trans; [apply H; assumption | lra].
Qed.

(** Scales of their own: what counts is the sum of (shift_i / sigma_i)^2. *)
Theorem extended_gaussian_scales : forall (A : Type) (l : list A) (sigma c c' : A -> R) epsilon delta,
  (forall a, 0 < sigma a) -> 0 < epsilon -> 0 < delta <= sqrt (2 / PI) ->
  sum_over l (fun a => ((c a - c' a) / sigma a) ^ 2)
    <= allowed_shift (ln (sqrt (2 / PI) / delta)) epsilon ^ 2 ->
  indistinguishable epsilon delta l (fun a t => gaussian_density (sigma a) (t - c a))
    (fun a t => gaussian_density (sigma a) (t - c' a)).
Proof.
  intros A l sigma c c' epsilon delta Hs He Hd Hsum.
  apply indistinguishable_weaker with (profile (allowed_shift (ln (sqrt (2 / PI) / delta)) epsilon) epsilon
    / (2 * kappa)).
  - apply allowed_shift_profile; assumption.
  - apply gaussian_indistinguishable;
      [exact Hs | apply allowed_shift_pos; [apply log_nonneg; exact Hd | exact He] | exact Hsum].
Qed.

Theorem extended_gaussian : forall (A : Type) (l : list A) (c c' : A -> R) sigma l2_sensitivity epsilon delta,
  0 < epsilon -> 0 < delta <= sqrt (2 / PI) -> 0 < l2_sensitivity ->
  extended_gaussian_sigma l2_sensitivity epsilon delta <= sigma ->
  sum_over l (fun a => (c a - c' a) ^ 2) <= l2_sensitivity ^ 2 ->
  indistinguishable epsilon delta l (fun a t => gaussian_density sigma (t - c a))
    (fun a t => gaussian_density sigma (t - c' a)).
Proof.
  intros A l c c' sigma D epsilon delta He Hd HD Hsigma Hsum.
  assert (HL := log_nonneg delta Hd); set (L := ln (sqrt (2 / PI) / delta)) in *.
  assert (Hnu := allowed_shift_pos L epsilon HL He).
  assert (Heq := extended_sigma_shift D epsilon delta He HL); fold L in Heq.
  set (s0 := extended_gaussian_sigma D epsilon delta) in *; set (nu := allowed_shift L epsilon) in *.
  assert (Hs0 : 0 < s0).
  { destruct (Rle_or_lt s0 0); [| assumption]; exfalso; nra. }
  assert (Hpos : 0 < sigma) by lra.
  apply extended_gaussian_scales; try assumption; [intros _; exact Hpos |]; fold L nu.
  rewrite (sum_ext l _ (fun a => / sigma ^ 2 * (c a - c' a) ^ 2)) by (intros; field; lra).
  rewrite sum_scal.
  apply Rmult_le_reg_l with (sigma ^ 2); [nra |]; rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by nra.
  eapply Rle_trans; [exact Hsum |]; rewrite <- Heq, Rpow_mult_distr.
  apply Rmult_le_compat_r; [apply pow2_ge_0 |]; nra.
Qed.

(** ** Theorem 4, and its variants with a fairness term and a larger sigma *)

Lemma gaussian_private : forall r n d domain l2_squared epsilon delta sigma,
  0 < epsilon -> 0 < delta <= sqrt (2 / PI) -> 0 < l2_squared ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon delta <= sigma ->
  (forall D D', neighbours n domain D D' -> l2_change_squared r d all_monomials D D' <= l2_squared) ->
  differentially_private epsilon delta n d domain gaussian_density (fun _ => sigma) r.
Proof.
  intros r n d domain V epsilon delta sigma He Hd HV Hsigma H D D' HDD'.
  apply (extended_gaussian monomial (Phi (basis r) d) (coefficient r D) (coefficient r D') sigma (sqrt V));
    try assumption.
  - apply sqrt_lt_R0; exact HV.
  - rewrite pow2_sqrt by lra; specialize (H D D' HDD'); unfold l2_change_squared in H;
      rewrite filter_all in H; exact H.
Qed.

Theorem theorem4 : forall r n d epsilon delta sigma,
  fairness_term r = NoFairness -> 0 <= alpha_1 r -> (1 <= d)%nat ->
  0 < epsilon -> 0 < delta <= sqrt (2 / PI) ->
  extended_gaussian_sigma (sqrt (published_l2_squared d)) epsilon delta <= sigma ->
  differentially_private epsilon delta n d (unit_box d) gaussian_density (fun _ => sigma) r.
Proof.
  intros r n d epsilon delta sigma HF Ha Hd He Hdelta Hsigma.
  apply (gaussian_private r n d _ (published_l2_squared d)); try assumption.
  - unfold published_l2_squared; generalize (one_le_INR d Hd); nra.
  - intros D D' H; apply Rlt_le, (published_l2_holds r n d D D' HF Ha Hd H).
Qed.

Theorem theorem4_fair : forall r n d epsilon delta sigma,
  0 <= alpha_1 r <= 1 -> (1 <= d)%nat ->
  0 < epsilon -> 0 < delta <= sqrt (2 / PI) ->
  extended_gaussian_sigma (sqrt (published_fair_l2_squared d)) epsilon delta <= sigma ->
  differentially_private epsilon delta n d (unit_box d) gaussian_density (fun _ => sigma) r.
Proof.
  intros r n d epsilon delta sigma Ha Hd He Hdelta Hsigma.
  apply (gaussian_private r n d _ (published_fair_l2_squared d)); try assumption.
  - unfold published_fair_l2_squared; generalize (one_le_INR d Hd); nra.
  - intros D D' H; apply Rlt_le, (published_fair_l2_holds r n d D D' Ha Hd H).
Qed.

(** The step of the proof of Theorem 4 that hides Delta = 1: it bounds the loss (Delta^2 + 2 |V| Delta)/(2
    sigma^2) by epsilon whenever |V| <= (2 sigma^2 epsilon - 1)/2. *)
Definition theorem4_step (Delta : R) : Prop :=
  forall sigma epsilon V, 0 < sigma -> 0 < epsilon -> Rabs V <= (2 * sigma ^ 2 * epsilon - 1) / 2 ->
    (Delta ^ 2 + 2 * Rabs V * Delta) / (2 * sigma ^ 2) <= epsilon.

(** The paper's sigma is large enough for the bound on |V| not to be empty. *)
Lemma extended_sigma_square : forall Delta epsilon delta sigma,
  0 < Delta -> 0 < epsilon -> 0 < delta <= sqrt (2 / PI) ->
  extended_gaussian_sigma Delta epsilon delta <= sigma -> 0 < sigma /\ Delta ^ 2 <= 2 * sigma ^ 2 * epsilon.
Proof.
  intros D e delta s HD He Hd Hs; assert (HL := log_nonneg delta Hd); unfold extended_gaussian_sigma in Hs.
  set (L := ln (sqrt (2 / PI) / delta)) in *.
  assert (H0 := sqrt_pos L); assert (H1 : sqrt e <= sqrt (L + e)) by (apply sqrt_le_1_alt; lra).
  assert (H2 := sqrt_lt_R0 e He); assert (H3 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (E : (sqrt 2 * sqrt e) ^ 2 = 2 * e) by (rewrite Rpow_mult_distr, !pow2_sqrt by lra; ring).
  assert (Hp : 0 < sqrt 2 * sqrt e) by (apply Rmult_lt_0_compat; assumption).
  assert (H : D * (sqrt 2 * sqrt e) <= s * (2 * e)).
  { apply Rle_trans with (sqrt 2 * D / (2 * e) * (sqrt L + sqrt (L + e)) * (2 * e)).
    - replace (sqrt 2 * D / (2 * e) * (sqrt L + sqrt (L + e)) * (2 * e))
        with (D * (sqrt 2 * (sqrt L + sqrt (L + e)))) by (field; lra).
      apply Rmult_le_compat_l; [lra |]; apply Rmult_le_compat_l; lra.
    - apply Rmult_le_compat_r; lra. }
  set (w := sqrt 2 * sqrt e) in *; rewrite <- E in H.
  assert (HDs : D <= s * w) by (apply Rmult_le_reg_r with w; [exact Hp |]; lra).
  split; [nra |].
  replace (2 * s ^ 2 * e) with ((s * w) ^ 2) by (rewrite Rpow_mult_distr, E; ring); apply pow_incr; lra.
Qed.

Theorem theorem4_step_needs_1 : theorem4_step 1 /\ (forall Delta, 1 < Delta -> ~ theorem4_step Delta) /\
  forall Delta epsilon delta sigma, 1 < Delta -> 0 < epsilon -> 0 < delta <= sqrt (2 / PI) ->
    extended_gaussian_sigma Delta epsilon delta <= sigma ->
    exists V, Rabs V <= (2 * sigma ^ 2 * epsilon - 1) / 2 /\
      epsilon < (Delta ^ 2 + 2 * Rabs V * Delta) / (2 * sigma ^ 2).
Proof.
  split; [| split].
  - intros sigma epsilon V Hs He HV; apply Rmult_le_reg_r with (2 * sigma ^ 2); [nra |].
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l by nra; lra.
  - intros Delta HD H.
    assert (HV : Rabs (1 / 2) <= (2 * 1 ^ 2 * 1 - 1) / 2) by (rewrite Rabs_right; lra).
    specialize (H 1 1 (1 / 2) ltac:(lra) ltac:(lra) HV); rewrite Rabs_right in H by lra.
    assert (Delta ^ 2 + 2 * (1 / 2) * Delta <= 2) by lra; nra.
  - intros Delta e delta s HD He Hd Hs.
    destruct (extended_sigma_square Delta e delta s ltac:(lra) He Hd Hs) as [Hs0 Hk].
    set (k := 2 * s ^ 2 * e) in *; exists ((k - 1) / 2).
    assert (1 < k) by nra; rewrite Rabs_right by lra; split; [lra |].
    apply Rmult_lt_reg_r with (2 * s ^ 2); [nra |].
    replace ((Delta ^ 2 + 2 * ((k - 1) / 2) * Delta) / (2 * s ^ 2) * (2 * s ^ 2))
      with (Delta ^ 2 + (k - 1) * Delta) by (field; lra).
    replace (e * (2 * s ^ 2)) with k by (unfold k; ring); nra.
Qed.
