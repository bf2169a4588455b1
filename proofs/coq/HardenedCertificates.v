(** * Privacy of a hardened release from its scales, for every event

    What [Certificates.v] does for noise with a density, for hardened noise. Scales are compared in the
    units of the coefficients; on the grid they are [grid_steps] times as large. Laplace noise pays for
    rounding with the slack of [Hardened.v]. Gaussian noise pays for rounding, and for being discrete, out
    of what the paper's sigma leaves over, which is more than a third of delta. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity Normal Laplace Theorem3 Theorem3Exact.
From CFM Require Import Gaussian.
From CFM Require Import ExtendedGaussian Theorem5 Theorem5Regime SigmaBound Certificates SplitCertificates.
From CFM Require Import Countable Hardened DiscreteGaussian HardenedGaussian.
Import ListNotations.
Open Scope R_scope.

Lemma hardened_on_the_ball : forall a epsilon delta n d noise g scale r,
  hardened_private a epsilon delta n d (unit_box d) noise g scale r ->
  hardened_private a epsilon delta n d (unit_ball d) noise g scale r.
Proof. intros a epsilon delta n d noise g scale r H D D' HDD'; apply H, adjacent_ball_box, HDD'. Qed.

Lemma hardened_weaker : forall a epsilon delta delta' n d domain noise g scale r, delta <= delta' ->
  hardened_private a epsilon delta n d domain noise g scale r ->
  hardened_private a epsilon delta' n d domain noise g scale r.
Proof.
  intros a epsilon delta delta' n d domain noise g scale r Hle H D D' HDD' B publish event P Q HP HQ.
  eapply Rle_trans; [exact (H D D' HDD' B publish event P Q HP HQ) | lra].
Qed.

(** ** Laplace noise *)

(** The slack in steps: d |Phi_s|. *)
Definition slack_steps (b : quadratic_basis) (d : nat) : R :=
  INR d * match b with MatrixBasis => 2 * INR d | MonomialBasis => INR d + 1 end.

Lemma l1_slack_steps : forall b d g, (1 <= d)%nat -> slack_steps b d / grid_steps g = l1_slack b d g.
Proof. intros b d g Hd; unfold l1_slack, slack_steps; rewrite count_with_s by lia; reflexivity. Qed.

(** Scales of at least Delta_1 and the slack over epsilon, whatever bound Delta_1 is. *)
Theorem hardened_laplace_certificate : forall a r n d domain g l1_sensitivity epsilon scale,
  sound_grid g -> (1 <= d)%nat -> 0 < epsilon -> 0 <= l1_sensitivity ->
  (forall D D', adjacent a n domain D D' -> l1_change r d all_monomials D D' <= l1_sensitivity) ->
  (forall phi,
    (l1_sensitivity + slack_steps (basis r) d / grid_steps g) / epsilon * grid_steps g <= scale phi) ->
  hardened_private a epsilon 0 n d domain discrete_laplace g scale r.
Proof.
  intros a r n d domain g S epsilon scale Hg Hd He HS Hchange Hscale.
  apply (hardened_laplace_calibrated a r n d domain g Hg Hd S epsilon scale He HS Hchange).
  rewrite <- l1_slack_steps by exact Hd; exact Hscale.
Qed.

(** Theorem 3 with the published Delta_1: PDFC. *)
Theorem hardened_pdfc_certificate : forall a r n d s g epsilon_s epsilon_n scale_s scale_n,
  sound_grid g -> weight_covered r -> (s < d)%nat -> 0 < epsilon_s -> 0 < epsilon_n ->
  (published_l1_of r d + slack_steps (basis r) d / grid_steps g) / epsilon_s * grid_steps g <= scale_s ->
  (published_l1_of r d + slack_steps (basis r) d / grid_steps g) / epsilon_n * grid_steps g <= scale_n ->
  hardened_private a (stated_epsilon d epsilon_s epsilon_n) 0 n d (unit_box d) discrete_laplace g
    (two_scales s scale_s scale_n) r.
Proof.
  intros a r n d s g es en bs bn Hg Hr Hs Hes Hen Hbs Hbn; rewrite l1_slack_steps in Hbs, Hbn by lia.
  apply hardened_pdfc_published; assumption.
Qed.

(** Theorem 3 at any bound of the box's exact sensitivity, for epsilon_s <= epsilon_n. *)
Theorem hardened_pdfc_exact_certificate : forall a r n d s g epsilon_s epsilon_n l1_sensitivity scale_s
  scale_n,
  sound_grid g -> 0 <= alpha_1 r -> (s < d)%nat -> 0 < epsilon_s <= epsilon_n ->
  box_l1_limit a r d <= l1_sensitivity ->
  (l1_sensitivity + slack_steps (basis r) d / grid_steps g) / epsilon_s * grid_steps g <= scale_s ->
  (l1_sensitivity + slack_steps (basis r) d / grid_steps g) / epsilon_n * grid_steps g <= scale_n ->
  hardened_private a (stated_epsilon d epsilon_s epsilon_n) 0 n d (unit_box d) discrete_laplace g
    (two_scales s scale_s scale_n) r.
Proof.
  intros a r n d s g es en S bs bn Hg Ha Hs [Hes Hen] HS Hbs Hbn; rewrite l1_slack_steps in Hbs, Hbn by lia.
  assert (Hd : (1 <= d)%nat) by lia; assert (Hk := one_le_INR d Hd); assert (Hshare := share_bounds d Hd).
  assert (HS0 : 0 <= S).
  { eapply Rle_trans; [| exact HS]; unfold box_l1_limit, limit_linear_gain.
    assert (0 <= alpha_1 r * limit_gain (fairness_term r)).
    { apply Rmult_le_pos; [exact Ha |]; destruct (fairness_term r); cbn [limit_gain]; lra. }
    destruct a; [destruct (2 <=? d)%nat |]; nra. }
  apply (hardened_pdfc_calibrated a r n d (unit_box d) g Hg Hd s S); try assumption; [lra |].
  intros D D' H; assert (Htotal := l1_change_limit a r n d D D' Ha Hd H).
  rewrite (l1_two_parts r d s) in Htotal; assert (Hpart := l1_share_limit a r n d s D D' Ha Hs H).
  rewrite stated_epsilon_share by exact Hd; set (t := share d) in *.
  set (u := l1_change r d (contains s) D D') in *; set (v := l1_change r d (contains_not s) D D') in *.
  replace (es * u + en * v) with (es * (u + v) + (en - es) * v) by ring.
  replace (S * ((1 - t) * es + t * en)) with (es * S + (en - es) * (S * t)) by ring.
  apply Rplus_le_compat; apply Rmult_le_compat_l; try lra.
  eapply Rle_trans; [exact Hpart |]; apply Rmult_le_compat_r; lra.
Qed.

(** ** Gaussian noise: what the paper's sigma leaves over *)

Lemma kappa_below : kappa <= 63 / 50.
Proof.
  assert (H := kappa_square); assert (H0 := kappa_pos); destruct pi_bounds as [_ Hpi].
  assert (Hup : Q2R pi_upper <= 317 / 100) by (unfold Q2R, pi_upper; cbn [Qnum Qden]; lra); nra.
Qed.

Lemma exp_eighth : forall t, t <= 1 / 8 -> exp t <= 8 / 7.
Proof.
  intros t Ht; apply Rle_trans with (exp (1 / 8)); [apply exp_le, Ht |].
  assert (H := exp_ineq1_le (- (1 / 8))); assert (H0 := exp_pos (1 / 8)); rewrite exp_Ropp in H.
  apply Rmult_le_reg_r with (/ exp (1 / 8)); [apply Rinv_0_lt_compat, H0 |]; rewrite Rinv_r by lra; lra.
Qed.

(** The logarithm in the paper's sigma is at least 1/3 for delta up to 1/2. *)
Lemma log_third : forall delta, 0 < delta <= 1 / 2 -> 1 / 3 <= ln (sqrt (2 / PI) / delta).
Proof.
  intros delta [H0 H1]; rewrite <- (ln_exp (1 / 3)); apply ln_le; [apply exp_pos |].
  assert (He : exp (1 / 3) <= 3 / 2).
  { assert (H := exp_ineq1_le (- (1 / 3))); assert (Hpos := exp_pos (1 / 3)); rewrite exp_Ropp in H.
    apply Rmult_le_reg_r with (/ exp (1 / 3)); [apply Rinv_0_lt_compat, Hpos |]; rewrite Rinv_r by lra; lra. }
  rewrite sqrt_two_over_pi; assert (Hk := kappa_pos); assert (Hb := kappa_below).
  apply Rmult_le_reg_r with (delta * kappa); [apply Rmult_lt_0_compat; lra |].
  replace (/ kappa / delta * (delta * kappa)) with 1 by (field; lra).
  apply Rle_trans with (3 / 2 * (1 / 2 * (63 / 50))); [| lra].
  apply Rmult_le_compat; [left; apply exp_pos | nra | exact He | apply Rmult_le_compat; lra].
Qed.

(** What a longer shift and a smaller epsilon cost in the exponent; B is at least 1 over the allowed shift. *)
Definition grid_cost (epsilon B : R) : R := 1 + epsilon ^ 2 * B ^ 3 + 2 * epsilon * B ^ 2 + epsilon * B / 2.

(** A shift longer by c, at an epsilon smaller by 2 c. *)
Lemma tail_moves : forall epsilon nu c B, 0 < epsilon -> 0 < nu -> 0 <= c -> 1 <= B * nu ->
  0 <= epsilon / nu - nu / 2 ->
  (epsilon / nu - nu / 2) * ((epsilon / nu - nu / 2) - ((epsilon - 2 * c) / (nu + c) - (nu + c) / 2)) <=
  c * (grid_cost epsilon B - 1).
Proof.
  intros epsilon nu c B He Hnu Hc HB Hz; set (z := epsilon / nu - nu / 2) in *.
  assert (Hi : 0 < / nu) by (apply Rinv_0_lt_compat, Hnu).
  assert (HiB : / nu <= B) by (apply Rmult_le_reg_r with nu; [exact Hnu |]; rewrite Rinv_l; lra).
  assert (Hj : 0 < / (nu + c)) by (apply Rinv_0_lt_compat; lra).
  assert (Hji : / (nu + c) <= / nu) by (apply Rinv_le_contravar; lra).
  set (bound := c * (epsilon * (/ nu * / nu) + 2 * / nu + 1 / 2)).
  assert (Hrho : z - ((epsilon - 2 * c) / (nu + c) - (nu + c) / 2) <= bound).
  { replace (z - ((epsilon - 2 * c) / (nu + c) - (nu + c) / 2))
      with (c * (epsilon * (/ nu * / (nu + c)) + 2 * / (nu + c) + 1 / 2)) by (unfold z; field; lra).
    apply Rmult_le_compat_l; [exact Hc |].
    assert (/ nu * / (nu + c) <= / nu * / nu) by (apply Rmult_le_compat_l; lra); nra. }
  assert (Hbound : 0 <= bound).
  { apply Rmult_le_pos; [exact Hc |]; assert (0 <= / nu * / nu) by nra; nra. }
  apply Rle_trans with (epsilon * / nu * bound).
  - apply Rle_trans with (z * bound); [apply Rmult_le_compat_l; [exact Hz | exact Hrho] |].
    apply Rmult_le_compat_r; [exact Hbound |]; unfold z, Rdiv; lra.
  - unfold bound, grid_cost; set (i := / nu) in *.
    replace (epsilon * i * (c * (epsilon * (i * i) + 2 * i + 1 / 2)))
      with (c * (epsilon ^ 2 * i ^ 3 + 2 * epsilon * i ^ 2 + epsilon * i / 2)) by field.
    apply Rmult_le_compat_l; [exact Hc |].
    assert (i ^ 3 <= B ^ 3) by (apply pow_incr; lra); assert (i ^ 2 <= B ^ 2) by (apply pow_incr; lra).
    assert (epsilon ^ 2 * i ^ 3 <= epsilon ^ 2 * B ^ 3) by (apply Rmult_le_compat_l; [apply pow2_ge_0 | lra]).
    assert (epsilon * i ^ 2 <= epsilon * B ^ 2) by (apply Rmult_le_compat_l; lra).
    assert (epsilon * i <= epsilon * B) by (apply Rmult_le_compat_l; lra); lra.
Qed.

Lemma profile_with_room : forall epsilon delta c B, 0 < epsilon -> 0 < delta <= 1 / 2 -> 0 <= c ->
  let nu := allowed_shift (ln (sqrt (2 / PI) / delta)) epsilon in
  1 <= B * nu -> c * grid_cost epsilon B <= 1 / 8 ->
  exp c * (profile (nu + c) (epsilon - 2 * c) / (2 * kappa)) <= 3 / 4 * delta.
Proof.
  intros epsilon delta c B He Hd Hc nu HB Hcost; assert (HL := log_third delta Hd).
  assert (Hrange : 0 < delta <= sqrt (2 / PI)).
  { split; [lra |]; rewrite sqrt_two_over_pi; assert (Hk := kappa_pos); assert (Hb := kappa_below).
    apply Rmult_le_reg_r with kappa; [exact Hk |]; rewrite Rinv_l by lra; nra. }
  assert (Htail := log_tail delta Hrange); set (L := ln (sqrt (2 / PI) / delta)) in *.
  assert (Hnu := allowed_shift_pos L epsilon ltac:(lra) He).
  assert (Hz := allowed_shift_tail L epsilon ltac:(lra) He); fold nu in Hnu, Hz; rewrite <- Hz in Htail.
  assert (Hsquare : (epsilon / nu - nu / 2) ^ 2 = 2 * L) by (rewrite Hz, Rpow_mult_distr, !pow2_sqrt; lra).
  assert (Hz0 : 0 <= epsilon / nu - nu / 2) by (rewrite Hz; apply Rmult_le_pos; apply sqrt_pos).
  assert (Hmoves := tail_moves epsilon nu c B He Hnu Hc HB Hz0); set (z := epsilon / nu - nu / 2) in *.
  set (w := (epsilon - 2 * c) / (nu + c) - (nu + c) / 2) in *.
  assert (Hexponent : c + z * (z - w) <= 1 / 8) by lra.
  assert (Hw : 0 <= w) by (destruct (Rle_or_lt 0 w) as [| Hneg]; [assumption | exfalso; nra]).
  assert (Hbell : bell w <= bell z * exp (z * (z - w))).
  { unfold bell; rewrite <- exp_plus; apply exp_le; assert (0 <= (z - w) ^ 2) by apply pow2_ge_0; nra. }
  apply Rle_trans with (exp c * (delta * kappa * exp (z * (z - w)) / 2)).
  - apply Rmult_le_compat_l; [left; apply exp_pos |].
    eapply Rle_trans; [apply profile_le_bell; [lra | exact Hw] |]; fold w; rewrite <- Htail; lra.
  - replace (exp c * (delta * kappa * exp (z * (z - w)) / 2))
      with (delta * (kappa / 2 * exp (c + z * (z - w)))) by (rewrite exp_plus; field).
    assert (Hexp := exp_eighth _ Hexponent); assert (Hpos := exp_pos (c + z * (z - w))).
    assert (Hk := kappa_pos); assert (Hb := kappa_below).
    rewrite (Rmult_comm (3 / 4)); apply Rmult_le_compat_l; [lra |]; nra.
Qed.

Lemma squares_le_square : forall (A : Type) (l : list A) f, (forall b, 0 <= f b) ->
  sum_over l (fun b => f b ^ 2) <= sum_over l f ^ 2.
Proof.
  intros A l f Hf; induction l as [| b l IH]; [cbn; lra |]; rewrite !sum_cons; assert (Hb := Hf b).
  assert (0 <= sum_over l f) by (apply sum_nonneg; intros; apply Hf); nra.
Qed.

(** ** Gaussian noise: the release *)

Section Shift.
Variables (a : adjacency) (r : reading) (n d : nat) (domain : record -> Prop) (g : grid).
Variables (sigma scale : monomial -> R).
Hypothesis Hgrid : sound_grid g.
Hypothesis sigma_pos : forall phi, 0 < sigma phi.
Hypothesis in_steps : forall phi, scale phi = sigma phi * grid_steps g.

Lemma scale_in_steps_pos : forall phi, 0 < scale phi.
Proof. intros phi; rewrite in_steps; apply Rmult_lt_0_compat; [apply sigma_pos | apply Hgrid]. Qed.

(** Where continuous noise has the allowed shift. *)
Theorem hardened_gaussian_by_shift : forall epsilon delta T B, 0 < epsilon -> 0 < delta <= 1 / 2 ->
  let nu := allowed_shift (ln (sqrt (2 / PI) / delta)) epsilon in
  (forall D D', adjacent a n domain D D' -> sum_over (Phi (basis r) d) (fun phi =>
    ((coefficient r D phi - coefficient r D' phi) / sigma phi) ^ 2) <= nu ^ 2) ->
  1 <= T -> 1 <= B * nu -> gaussian_gap r d scale T * grid_cost epsilon B <= 1 / 8 ->
  16 * (1 + exp epsilon) * INR (length (Phi (basis r) d)) * exp (- (T ^ 2 / 2)) <= delta ->
  hardened_private a epsilon delta n d domain discrete_gaussian g scale r.
Proof.
  intros epsilon delta T B He Hd nu Hshift HT HB Hcost Htails; set (c := gaussian_gap r d scale T) in *.
  assert (Hpos := scale_in_steps_pos); assert (Hs := proj1 Hgrid).
  assert (Hnu : 0 < nu) by (apply allowed_shift_pos; [generalize (log_third delta Hd); lra | exact He]).
  assert (HB0 : 0 < B) by (destruct (Rle_or_lt B 0); [exfalso; nra | assumption]).
  assert (Hpart : forall phi, 0 <= 1 / scale phi <= (T + 1) / (2 * scale phi)).
  { intros phi; assert (Hi := Rinv_0_lt_compat _ (Hpos phi)); assert (Hp := Hpos phi).
    replace ((T + 1) / (2 * scale phi)) with ((T + 1) / 2 * / scale phi) by (field; lra); unfold Rdiv; nra. }
  assert (Hc : 0 <= c) by (apply sum_nonneg; intros phi _; generalize (Hpart phi); lra).
  assert (Hone : 1 <= grid_cost epsilon B).
  { unfold grid_cost; assert (0 < B ^ 3) by (apply pow_lt, HB0); assert (0 < B ^ 2) by (apply pow_lt, HB0).
    assert (0 < epsilon ^ 2) by (apply pow_lt, He); assert (0 <= epsilon ^ 2 * B ^ 3) by nra.
    assert (0 <= epsilon * B ^ 2) by nra; assert (0 <= epsilon * B) by nra; lra. }
  assert (Hsmall : c <= 1 / 8) by nra.
  assert (Hsteps : sum_over (Phi (basis r) d) (fun phi => (1 / scale phi) ^ 2) <= c ^ 2).
  { eapply Rle_trans; [apply (squares_le_square _ _ (fun phi => 1 / scale phi)); intros; apply Hpart |].
    apply pow_incr; split; [apply sum_nonneg; intros phi _; apply Hpart |].
    apply sum_le; intros phi _; apply Hpart. }
  assert (H := hardened_gaussian_calibrated a r n d domain g scale T nu c (epsilon - 2 * c) Hgrid Hpos HT
    ltac:(fold c; lra) (Rlt_le _ _ Hnu) Hc ltac:(lra)).
  cbv zeta in H; fold c in H; rewrite <- profile_as_tails in H.
  replace (epsilon - 2 * c + 2 * c) with epsilon in H by ring.
  eapply hardened_weaker; [| apply H; [| exact Hsteps]].
  - assert (Hroom := profile_with_room epsilon delta c B He Hd Hc HB Hcost); fold nu in Hroom.
    assert (Hexp : exp (epsilon - 2 * c + c) <= exp epsilon) by (apply exp_le; lra).
    assert (Hk := pos_INR (length (Phi (basis r) d))); assert (Ht := exp_pos (- (T ^ 2 / 2))).
    set (k := INR _) in *; set (e := exp (- (T ^ 2 / 2))) in *; assert (0 <= k * e) by nra; nra.
  - intros D D' HDD'; eapply Rle_trans; [right | exact (Hshift D D' HDD')]; apply sum_ext; intros phi _.
    rewrite in_steps; f_equal; field; split; apply Rgt_not_eq; [apply sigma_pos | exact Hs].
Qed.

(** What the grid must allow, for sigmas from [least] on: T is how many scales are compared. *)
Definition wide_grid (epsilon delta least T B : R) : Prop :=
  delta <= 1 / 2 /\ 1 <= T /\
  4 * INR (length (Phi (basis r) d)) * (T + 1) * grid_cost epsilon B <= least * grid_steps g /\
  16 * (1 + exp epsilon) * INR (length (Phi (basis r) d)) * exp (- (T ^ 2 / 2)) <= delta.

Lemma gap_of_wide_grid : forall epsilon delta least T B, wide_grid epsilon delta least T B -> 0 < least ->
  0 <= grid_cost epsilon B -> (forall phi, least <= sigma phi) ->
  gaussian_gap r d scale T * grid_cost epsilon B <= 1 / 8.
Proof.
  intros epsilon delta least T B (_ & HT & Hwide & _) Hleast HF Hsigma; assert (Hs := proj1 Hgrid).
  set (F := grid_cost epsilon B) in *; set (k := INR (length (Phi (basis r) d))) in *.
  assert (Hlow : 0 < least * grid_steps g) by (apply Rmult_lt_0_compat; lra).
  assert (Hgap : gaussian_gap r d scale T <= k * ((T + 1) / (2 * (least * grid_steps g)))).
  { apply sum_le_const; intros phi _; rewrite in_steps; unfold Rdiv; apply Rmult_le_compat_l; [lra |].
    apply Rinv_le_contravar; [lra |]; apply Rmult_le_compat_l; [lra |].
    apply Rmult_le_compat_r; [lra | apply Hsigma]. }
  apply Rle_trans with (k * ((T + 1) / (2 * (least * grid_steps g))) * F).
  - apply Rmult_le_compat_r; assumption.
  - apply Rmult_le_reg_r with (8 * (least * grid_steps g)); [lra |].
    replace (k * ((T + 1) / (2 * (least * grid_steps g))) * F * (8 * (least * grid_steps g)))
      with (4 * k * (T + 1) * F) by (field; lra); lra.
Qed.
End Shift.

(** ** Gaussian noise: certificates *)

Lemma shift_allowed : forall r d (sigma : monomial -> R) Delta nu D D', 0 < Delta ->
  (forall phi, 0 < sigma phi /\ Delta <= sigma phi * nu) ->
  l2_change_squared r d all_monomials D D' <= Delta ^ 2 ->
  sum_over (Phi (basis r) d) (fun phi => ((coefficient r D phi - coefficient r D' phi) / sigma phi) ^ 2)
    <= nu ^ 2.
Proof.
  intros r d sigma Delta nu D D' HDelta Hsigma Hchange; unfold l2_change_squared in Hchange.
  rewrite filter_all in Hchange; set (k := (nu / Delta) ^ 2).
  apply Rle_trans with (sum_over (Phi (basis r) d) (fun phi =>
    k * (coefficient r D phi - coefficient r D' phi) ^ 2)).
  - apply sum_le; intros phi _; destruct (Hsigma phi) as [Hpos Hallowed]; unfold Rdiv, k.
    rewrite Rpow_mult_distr, Rmult_comm; apply Rmult_le_compat_r; [apply pow2_ge_0 |].
    apply pow_incr; split; [left; apply Rinv_0_lt_compat, Hpos |].
    apply Rmult_le_reg_r with (sigma phi * Delta); [apply Rmult_lt_0_compat; assumption |].
    replace (/ sigma phi * (sigma phi * Delta)) with Delta by (field; lra).
    replace (nu / Delta * (sigma phi * Delta)) with (sigma phi * nu) by (field; lra); exact Hallowed.
  - rewrite sum_scal; apply Rle_trans with (k * Delta ^ 2).
    + apply Rmult_le_compat_l; [apply pow2_ge_0 | exact Hchange].
    + right; unfold k; field; lra.
Qed.

Lemma inverse_of_shift : forall Delta epsilon delta delta' sigma B, 0 < Delta -> 0 < epsilon ->
  0 < delta <= delta' -> delta' <= sqrt (2 / PI) -> extended_gaussian_sigma Delta epsilon delta <= sigma ->
  sigma <= B * Delta -> 1 <= B * allowed_shift (ln (sqrt (2 / PI) / delta')) epsilon.
Proof.
  intros Delta epsilon delta delta' sigma B HDelta He Hd Hrange Hsigma HB.
  destruct (sigma_allows Delta epsilon delta delta' sigma HDelta He Hd Hrange Hsigma) as [Hpos Hallowed].
  assert (Hnu := allowed_shift_pos _ epsilon (log_nonneg delta' ltac:(lra)) He).
  set (nu := allowed_shift _ epsilon) in *; apply Rmult_le_reg_r with Delta; [exact HDelta |].
  assert (sigma * nu <= B * Delta * nu) by (apply Rmult_le_compat_r; lra); lra.
Qed.

(** The shift at another epsilon. *)
Lemma shift_at_another : forall L epsilon epsilon' ratio, 0 <= L -> 0 < epsilon -> 0 < epsilon' -> 1 <=
  ratio ->
  epsilon <= ratio * epsilon' -> allowed_shift L epsilon <= ratio * allowed_shift L epsilon'.
Proof.
  intros L e e' ratio HL He He' Hratio Hle; assert (Hnu := allowed_shift_pos L e' HL He').
  destruct (Rle_or_lt e e') as [Hbelow | Habove].
  - assert (H := allowed_shift_increasing L e e' Hbelow); nra.
  - assert (H := allowed_shift_slope L e' e HL (conj He' (Rlt_le _ _ Habove))).
    apply Rmult_le_reg_l with e'; [exact He' |].
    apply Rle_trans with (ratio * e' * allowed_shift L e'); [| right; ring].
    eapply Rle_trans; [exact H |]; apply Rmult_le_compat_r; lra.
Qed.

Lemma below_root : forall sigma B V, 0 <= sigma -> 0 <= B -> 0 <= V -> sigma ^ 2 <= B ^ 2 * V -> sigma <=
  B * sqrt V.
Proof.
  intros sigma B V Hs HB HV H; assert (HR := sqrt_pos V); assert (HR2 : sqrt V ^ 2 = V) by (apply
    pow2_sqrt; exact HV).
  apply Rsqr_incr_0_var; [unfold Rsqr; nra | nra].
Qed.

Lemma grid_cost_nonneg : forall epsilon B, 0 < epsilon -> 0 <= B -> 0 <= grid_cost epsilon B.
Proof.
  intros epsilon B He HB; unfold grid_cost; assert (0 <= B ^ 2) by apply pow2_ge_0.
  assert (0 <= B ^ 3) by (apply pow_le, HB); assert (0 <= epsilon ^ 2 * B ^ 3) by nra; nra.
Qed.

Lemma two_scales_in_steps : forall s sigma_s sigma_n k phi,
  two_scales s (sigma_s * k) (sigma_n * k) phi = two_scales s sigma_s sigma_n phi * k.
Proof. intros s ss sn k phi; unfold two_scales; destruct (contains s phi); reflexivity. Qed.

(** The paper's sigma, whatever bound Delta_2 is. *)
Theorem hardened_gaussian_certificate : forall a r n d domain g l2_squared epsilon delta sigma T B,
  sound_grid g -> 0 < epsilon -> 0 < delta <= sqrt (2 / PI) -> 0 < l2_squared ->
  (forall D D', adjacent a n domain D D' -> l2_change_squared r d all_monomials D D' <= l2_squared) ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon delta <= sigma ->
  0 <= B -> sigma ^ 2 <= B ^ 2 * l2_squared -> wide_grid r d g epsilon delta sigma T B ->
  hardened_private a epsilon delta n d domain discrete_gaussian g (fun _ => sigma * grid_steps g) r.
Proof.
  intros a r n d domain g V epsilon delta sigma T B Hg He Hd HV Hbound Hsigma HB HBV Hwide.
  assert (Hroot : 0 < sqrt V) by (apply sqrt_lt_R0, HV).
  destruct (sigma_allows (sqrt V) epsilon delta delta sigma Hroot He (conj (proj1 Hd) (Rle_refl _)) (proj2 Hd)
    Hsigma) as [Hpos Hallowed].
  assert (HBnu := inverse_of_shift (sqrt V) epsilon delta delta sigma B Hroot He (conj (proj1 Hd)
    (Rle_refl _))
    (proj2 Hd) Hsigma (below_root sigma B V ltac:(lra) HB ltac:(lra) HBV)).
  assert (Hgap := gap_of_wide_grid r d g (fun _ => sigma) (fun _ => sigma * grid_steps g) Hg (fun _ =>
    eq_refl)
    epsilon delta sigma T B Hwide Hpos (grid_cost_nonneg epsilon B He HB) (fun _ => Rle_refl _)).
  destruct Hwide as (Hhalf & HT & _ & Htails).
  apply (hardened_gaussian_by_shift a r n d domain g (fun _ => sigma) (fun _ => sigma * grid_steps g) Hg
    (fun _ => Hpos) (fun _ => eq_refl) epsilon delta T B He (conj (proj1 Hd) Hhalf)); try assumption.
  intros D D' H; apply (shift_allowed r d (fun _ => sigma) (sqrt V)); [exact Hroot | intros _; split;
    assumption |].
  rewrite pow2_sqrt by lra; apply Hbound, H.
Qed.

(** Both parts of ADFC: where continuous noise has the shift that the larger delta allows. *)
Lemma hardened_two_scales : forall a r n d s domain g epsilon delta_s delta_n sigma_s sigma_n least T B,
  sound_grid g -> 0 < epsilon -> 0 < delta_s -> 0 < delta_n <= 1 / 2 ->
  let nu := allowed_shift (ln (sqrt (2 / PI) / Rmax delta_s delta_n)) epsilon in
  (forall D D', adjacent a n domain D D' -> sum_over (Phi (basis r) d) (fun phi =>
    ((coefficient r D phi - coefficient r D' phi) / two_scales s sigma_s sigma_n phi) ^ 2) <= nu ^ 2) ->
  0 < least <= sigma_s -> least <= sigma_n -> 0 <= B -> 1 <= B * nu ->
  wide_grid r d g epsilon delta_s least T B ->
  hardened_private a epsilon (Rmax delta_s delta_n) n d domain discrete_gaussian g
    (two_scales s (sigma_s * grid_steps g) (sigma_n * grid_steps g)) r.
Proof.
  intros a r n d s domain g epsilon ds dn ss sn least T B Hg He Hds Hdn nu Hshift Hs Hn HB HBnu Hwide.
  assert (Hleast : forall phi, least <= two_scales s ss sn phi)
    by (intros phi; unfold two_scales; destruct (contains s phi); lra).
  assert (Hgap := gap_of_wide_grid r d g (two_scales s ss sn) _ Hg
    (two_scales_in_steps s ss sn (grid_steps g)) epsilon ds least T B Hwide (proj1 Hs)
    (grid_cost_nonneg epsilon B He HB) Hleast).
  destruct Hwide as (Hhalf & HT & _ & Htails); assert (Hl := Rmax_l ds dn).
  apply (hardened_gaussian_by_shift a r n d domain g (two_scales s ss sn) _ Hg
    (two_scales_pos s ss sn ltac:(lra) ltac:(lra)) (two_scales_in_steps s ss sn (grid_steps g)) epsilon
    (Rmax ds dn) T B He); try assumption; [| lra].
  split; [lra | apply Rmax_lub; lra].
Qed.

(** ADFC with equal epsilons: the larger delta is enough. *)
Theorem hardened_adfc_certificate : forall a r n d s domain g l2_squared epsilon delta_s delta_n delta
    sigma_s sigma_n least T B,
  sound_grid g -> 0 < epsilon -> 0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  delta_n <= 1 / 2 -> 0 < l2_squared ->
  (forall D D', adjacent a n domain D D' -> l2_change_squared r d all_monomials D D' <= l2_squared) ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon delta_s <= sigma_s ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon delta_n <= sigma_n ->
  delta_s <= delta -> delta_n <= delta -> 0 < least <= sigma_s -> least <= sigma_n ->
  0 <= B -> sigma_s ^ 2 <= B ^ 2 * l2_squared \/ sigma_n ^ 2 <= B ^ 2 * l2_squared ->
  wide_grid r d g epsilon delta_s least T B ->
  hardened_private a epsilon delta n d domain discrete_gaussian g
    (two_scales s (sigma_s * grid_steps g) (sigma_n * grid_steps g)) r.
Proof.
  intros a r n d s domain g V epsilon ds dn delta ss sn least T B Hg He Hds Hdn Hhalf HV Hbound Hs Hn Hds'
    Hdn'
    Hls Hln HB HBV Hwide; apply hardened_weaker with (Rmax ds dn); [apply Rmax_lub; assumption |].
  assert (Hroot : 0 < sqrt V) by (apply sqrt_lt_R0, HV).
  assert (Hl := Rmax_l ds dn); assert (Hr := Rmax_r ds dn).
  assert (Hmax : Rmax ds dn <= sqrt (2 / PI)) by (apply Rmax_lub; lra).
  assert (HBnu : 1 <= B * allowed_shift (ln (sqrt (2 / PI) / Rmax ds dn)) epsilon).
  { destruct HBV as [HBV | HBV];
      [apply (inverse_of_shift (sqrt V) epsilon ds (Rmax ds dn) ss B)
      | apply (inverse_of_shift (sqrt V) epsilon dn (Rmax ds dn) sn B)]; try assumption; try (split; lra);
      apply below_root; assumption || lra. }
  destruct (sigma_allows (sqrt V) epsilon ds _ ss Hroot He (conj (proj1 Hds) Hl) Hmax Hs) as [Hss Has].
  destruct (sigma_allows (sqrt V) epsilon dn _ sn Hroot He (conj (proj1 Hdn) Hr) Hmax Hn) as [Hsn Han].
  apply hardened_two_scales with (least := least) (T := T) (B := B); try assumption; [lra | lra |].
  intros D D' H; apply (shift_allowed r d (two_scales s ss sn) (sqrt V)); [exact Hroot | |].
  - intros phi; unfold two_scales; destruct (contains s phi); split; assumption.
  - rewrite pow2_sqrt by lra; apply Hbound, H.
Qed.

Lemma divided_bound : forall sigma ratio B Delta, 0 < ratio -> ratio * sigma <= B * Delta ->
  sigma <= B / ratio * Delta.
Proof.
  intros sigma k B Delta Hk H; apply Rmult_le_reg_l with k; [exact Hk |].
  replace (k * (B / k * Delta)) with (B * Delta) by (field; lra); exact H.
Qed.

Lemma through_ratio : forall B ratio nu nu', 0 <= B -> 0 < ratio -> 1 <= B / ratio * nu -> nu <= ratio *
  nu' ->
  1 <= B * nu'.
Proof.
  intros B k nu nu' HB Hk H Hnu; eapply Rle_trans; [exact H |].
  apply Rle_trans with (B / k * (k * nu')); [| right; field; lra].
  apply Rmult_le_compat_l; [| exact Hnu]; apply Rmult_le_pos; [exact HB | left; apply Rinv_0_lt_compat, Hk].
Qed.

(** Theorem 5 where both of its conditions hold. *)
Lemma hardened_theorem5 : forall a r n d s domain g Delta epsilon_s epsilon_n delta_s delta_n
    sigma_s sigma_n least T B ratio,
  sound_grid g -> (1 <= d)%nat -> 0 < Delta -> 0 < epsilon_s -> 0 < epsilon_n ->
  0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) -> delta_n <= 1 / 2 ->
  extended_gaussian_sigma Delta epsilon_s delta_s <= sigma_s ->
  extended_gaussian_sigma Delta epsilon_n delta_n <= sigma_n ->
  (forall D D', adjacent a n domain D D' -> l2_change_squared r d all_monomials D D' <= Delta ^ 2 /\
    epsilon_s ^ 2 * l2_change_squared r d (contains s) D D' +
    epsilon_n ^ 2 * l2_change_squared r d (contains_not s) D D'
      <= (Delta * stated_epsilon d epsilon_s epsilon_n) ^ 2) ->
  0 < least <= sigma_s -> least <= sigma_n -> 0 <= B -> 1 <= ratio ->
  (epsilon_s <= ratio * stated_epsilon d epsilon_s epsilon_n /\ ratio * sigma_s <= B * Delta) \/
  (epsilon_n <= ratio * stated_epsilon d epsilon_s epsilon_n /\ ratio * sigma_n <= B * Delta) ->
  wide_grid r d g (stated_epsilon d epsilon_s epsilon_n) delta_s least T B ->
  hardened_private a (stated_epsilon d epsilon_s epsilon_n) (stated_delta delta_s delta_n) n d domain
    discrete_gaussian g (two_scales s (sigma_s * grid_steps g) (sigma_n * grid_steps g)) r.
Proof.
  intros a r n d s domain g Delta es en ds dn ss sn least T B k Hg Hd HD Hes Hen Hds Hdn Hhalf Hs Hn
    Hchange Hls Hln
    HB Hk HBk Hwide; apply hardened_weaker with (Rmax ds dn).
  { generalize (delta_below_1 ds (proj2 Hds)) (delta_below_1 dn (proj2 Hdn)); intros.
    apply larger_delta_stated; lra. }
  assert (Ht := share_bounds d Hd); assert (He := stated_epsilon_share d es en Hd).
  assert (Hpos := stated_epsilon_pos d es en Hd Hes Hen).
  assert (Hl := Rmax_l ds dn); assert (Hr := Rmax_r ds dn).
  assert (Hmax : Rmax ds dn <= sqrt (2 / PI)) by (apply Rmax_lub; lra).
  apply hardened_two_scales with (least := least) (T := T) (B := B); try assumption; [lra | lra | |].
  - intros D D' H; destruct (Hchange D D' H) as [Htotal Hweighted].
    exact (theorem5_shift r d s Delta es en ds dn ss sn D D' Hd HD Hes Hen Hds Hdn Hs Hn Htotal Hweighted).
  - assert (HL := log_nonneg (Rmax ds dn) ltac:(lra)); assert (Hk0 : 0 < k) by lra.
    destruct HBk as [[Hle HB1] | [Hle HB1]].
    + assert (Hnu := shift_at_another _ es _ k HL Hes Hpos Hk Hle).
      assert (H1 := inverse_of_shift Delta es ds (Rmax ds dn) ss (B / k) HD Hes (conj (proj1 Hds) Hl) Hmax Hs
        (divided_bound ss k B Delta Hk0 HB1)).
      exact (through_ratio B k _ _ HB Hk0 H1 Hnu).
    + assert (Hnu := shift_at_another _ en _ k HL Hen Hpos Hk Hle).
      assert (H1 := inverse_of_shift Delta en dn (Rmax ds dn) sn (B / k) HD Hen (conj (proj1 Hdn) Hr) Hmax Hn
        (divided_bound sn k B Delta Hk0 HB1)).
      exact (through_ratio B k _ _ HB Hk0 H1 Hnu).
Qed.

Lemma below_roots : forall (P Q : Prop) sigma_s sigma_n B V ratio, 0 <= ratio * sigma_s -> 0 <= ratio *
  sigma_n ->
  0 <= B -> 0 <= V -> P /\ (ratio * sigma_s) ^ 2 <= B ^ 2 * V \/ Q /\ (ratio * sigma_n) ^ 2 <= B ^ 2 * V ->
  P /\ ratio * sigma_s <= B * sqrt V \/ Q /\ ratio * sigma_n <= B * sqrt V.
Proof.
  intros P Q ss sn B V k Hs Hn HB HV [[H HS] | [H HS]]; [left | right];
    (split; [exact H | apply below_root; assumption]).
Qed.

(** Its statement on any domain with a bound of the whole change. *)
Theorem hardened_adfc_split_certificate : forall a r n d s domain g l2_squared bound epsilon_s epsilon_n
    delta_s delta_n delta sigma_s sigma_n least T B ratio,
  sound_grid g -> (1 <= d)%nat -> 0 < epsilon_s -> 0 < epsilon_n ->
  0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) -> delta_n <= 1 / 2 ->
  stated_delta delta_s delta_n <= delta -> 0 < l2_squared ->
  (forall D D', adjacent a n domain D D' -> l2_change_squared r d all_monomials D D' <= bound) ->
  bound <= l2_squared ->
  epsilon_s ^ 2 * bound <= l2_squared * stated_epsilon d epsilon_s epsilon_n ^ 2 ->
  epsilon_n ^ 2 * bound <= l2_squared * stated_epsilon d epsilon_s epsilon_n ^ 2 ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon_s delta_s <= sigma_s ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon_n delta_n <= sigma_n ->
  0 < least <= sigma_s -> least <= sigma_n -> 0 <= B -> 1 <= ratio ->
  (epsilon_s <= ratio * stated_epsilon d epsilon_s epsilon_n /\ (ratio * sigma_s) ^ 2 <= B ^ 2 *
    l2_squared) \/
  (epsilon_n <= ratio * stated_epsilon d epsilon_s epsilon_n /\ (ratio * sigma_n) ^ 2 <= B ^ 2 *
    l2_squared) ->
  wide_grid r d g (stated_epsilon d epsilon_s epsilon_n) delta_s least T B ->
  hardened_private a (stated_epsilon d epsilon_s epsilon_n) delta n d domain discrete_gaussian g
    (two_scales s (sigma_s * grid_steps g) (sigma_n * grid_steps g)) r.
Proof.
  intros a r n d s domain g V C es en ds dn delta ss sn least T B k Hg Hd Hes Hen Hds Hdn Hhalf Hdelta HV
    Hbound HC Hs
    Hn Hss Hsn Hls Hln HB Hk HBk Hwide; apply hardened_weaker with (stated_delta ds dn); [exact Hdelta |].
  assert (Hroot : 0 < sqrt V) by (apply sqrt_lt_R0, HV).
  apply (hardened_theorem5 a r n d s domain g (sqrt V) es en ds dn ss sn least T B k); try assumption;
    [| apply below_roots; assumption || lra || (apply Rmult_le_pos; lra)].
  intros D D' H; specialize (Hbound D D' H); rewrite Rpow_mult_distr, pow2_sqrt by lra; split; [lra |].
  apply (weighted_by_bound r d s V C); assumption.
Qed.

(** On the box with the published Delta_2', for epsilon_s <= epsilon_n. *)
Theorem hardened_adfc_box_certificate : forall r n d s g l2_squared epsilon_s epsilon_n delta_s delta_n delta
    sigma_s sigma_n least T B ratio,
  sound_grid g -> l2_squared = published_fair_l2_squared d ->
  0 <= alpha_1 r <= 1 -> (s < d)%nat -> (fairness_term r = Absolute -> d = 1%nat \/ (13 <= d)%nat) ->
  0 < epsilon_s <= epsilon_n -> 0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  delta_n <= 1 / 2 -> stated_delta delta_s delta_n <= delta ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon_s delta_s <= sigma_s ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon_n delta_n <= sigma_n ->
  0 < least <= sigma_s -> least <= sigma_n -> 0 <= B -> 1 <= ratio ->
  (epsilon_s <= ratio * stated_epsilon d epsilon_s epsilon_n /\ (ratio * sigma_s) ^ 2 <= B ^ 2 *
    l2_squared) \/
  (epsilon_n <= ratio * stated_epsilon d epsilon_s epsilon_n /\ (ratio * sigma_n) ^ 2 <= B ^ 2 *
    l2_squared) ->
  wide_grid r d g (stated_epsilon d epsilon_s epsilon_n) delta_s least T B ->
  hardened_private ReplaceOne (stated_epsilon d epsilon_s epsilon_n) delta n d (unit_box d)
    discrete_gaussian g
    (two_scales s (sigma_s * grid_steps g) (sigma_n * grid_steps g)) r.
Proof.
  intros r n d s g V es en ds dn delta ss sn least T B k Hg HV Ha Hs HF He Hds Hdn Hhalf Hdelta Hss Hsn
    Hls Hln HB Hk
    HBk Hwide; apply hardened_weaker with (stated_delta ds dn); [exact Hdelta |].
  assert (Hd : (1 <= d)%nat) by lia; assert (Hpos := published_fair_l2_pos d Hd); rewrite <- HV in Hpos.
  apply (hardened_theorem5 ReplaceOne r n d s (unit_box d) g (sqrt V) es en ds dn ss sn least T B k);
    try assumption;
    [apply sqrt_lt_R0, Hpos | lra | lra |
      | apply below_roots; assumption || lra || (apply Rmult_le_pos; lra)].
  intros D D' H; assert (Htotal := published_fair_l2_holds r n d D D' Ha Hd H).
  assert (Hpart := box_share r n d s D D' Ha Hs HF H); rewrite <- HV in Htotal, Hpart.
  assert (HV2 : sqrt V ^ 2 = V) by (apply pow2_sqrt; lra); rewrite HV2; split; [lra |].
  rewrite stated_epsilon_share by exact Hd.
  apply weighted_square_below; [exact He | apply share_bounds, Hd | apply sqrt_pos | |].
  - rewrite <- l2_two_parts, HV2; lra.
  - rewrite Rpow_mult_distr, HV2; exact Hpart.
Qed.

(** ** Whether the grid is wide enough, by integer arithmetic *)

Definition rational_cost (epsilon inverse : Q) : Q :=
  (1 + epsilon * epsilon * (inverse * inverse * inverse) + 2 * epsilon * (inverse * inverse)
    + epsilon * inverse * (1 # 2))%Q.

(** [count] coefficients, [reach] scales; [inverse] is at least 1 over the shift that sigma allows. *)
Definition grid_suffices (count : Z) (steps epsilon delta least reach inverse : Q) : bool :=
  let exponent := (reach * reach * (1 # 2) - epsilon)%Q in
  let e := (exp_lower exponent # 2 ^ 256)%Q in
  Qle_bool delta (1 # 2) && Qle_bool 1 reach && Qle_bool 0 inverse && Qle_bool 0 exponent &&
  Qle_bool ((4 * count # 1) * (reach + 1) * rational_cost epsilon inverse) (least * steps) &&
  Qle_bool (32 * count # 1) (delta * e).

Theorem grid_suffices_correct : forall r d g count steps epsilon delta least reach inverse,
  grid_suffices count steps epsilon delta least reach inverse = true ->
  INR (length (Phi (basis r) d)) = IZR count -> grid_steps g = Q2R steps -> 0 < Q2R epsilon ->
  0 < Q2R delta -> 0 <= Q2R inverse /\
  wide_grid r d g (Q2R epsilon) (Q2R delta) (Q2R least) (Q2R reach) (Q2R inverse).
Proof.
  intros r d g count steps epsilon delta least reach inverse H Hcount Hsteps He Hd.
  unfold grid_suffices, rational_cost in H; cbv zeta in H.
  repeat (apply andb_true_iff in H; destruct H as [H ?]).
  set (exponent := (reach * reach * (1 # 2) - epsilon)%Q) in *.
  assert (Hnum : (0 <= Qnum exponent)%Z).
  { match goal with E : Qle_bool 0 exponent = true |- _ => apply Qle_bool_iff in E; unfold Qle in E;
      cbn [Qnum Qden] in E; lia end. }
  destruct (exp_lower_correct exponent Hnum) as [He0 Hexp]; apply fixed_nonneg in He0.
  repeat match goal with E : Qle_bool _ _ = true |- _ => apply Qle_bool_R in E end.
  assert (Hfixed : Q2R (exp_lower exponent # 2 ^ 256) = fixed (exp_lower exponent)) by reflexivity.
  assert (Hexponent : Q2R exponent = Q2R reach * Q2R reach * (1 / 2) - Q2R epsilon).
  { unfold exponent; rewrite Q2R_minus, !Q2R_mult; unfold Q2R at 3; cbn [Qnum Qden]; lra. }
  assert (Hhalf : Q2R (1 # 2) = 1 / 2) by (unfold Q2R; cbn [Qnum Qden]; lra).
  rewrite ?Q2R_mult, ?Q2R_plus, ?Q2R_mult, ?Q2R_literal, ?Hfixed, ?Hhalf in *; rewrite Hexponent in *.
  rewrite ?mult_IZR in *.
  set (T := Q2R reach) in *; set (B := Q2R inverse) in *; set (x := Q2R epsilon) in *.
  unfold wide_grid, grid_cost; rewrite Hcount, Hsteps; split; [assumption |]; split; [assumption |].
  split; [assumption |]; assert (Hk : 0 <= IZR count) by (rewrite <- Hcount; apply pos_INR); split.
  - eapply Rle_trans; [right | eassumption]; field.
  - assert (Hdelta : 32 * IZR count <= Q2R delta * exp (T * T * (1 / 2) - x))
      by (eapply Rle_trans; [eassumption |]; apply Rmult_le_compat_l; [lra | exact Hexp]).
    assert (Hone : 1 + exp x <= 2 * exp x) by (generalize (exp_ineq1_le x); lra).
    assert (Ht := exp_pos (- (T ^ 2 / 2))).
    apply Rle_trans with (32 * IZR count * (exp x * exp (- (T ^ 2 / 2)))).
    + replace (32 * IZR count * (exp x * exp (- (T ^ 2 / 2))))
        with (16 * (2 * exp x) * IZR count * exp (- (T ^ 2 / 2))) by ring.
      apply Rmult_le_compat_r; [lra |]; apply Rmult_le_compat_r; [exact Hk | lra].
    + apply Rle_trans with (Q2R delta * exp (T * T * (1 / 2) - x) * (exp x * exp (- (T ^ 2 / 2)))).
      * apply Rmult_le_compat_r; [apply Rmult_le_pos; [left; apply exp_pos | lra] | exact Hdelta].
      * right; rewrite Rmult_assoc, <- !exp_plus.
        replace (T * T * (1 / 2) - x + (x + - (T ^ 2 / 2))) with 0 by field; rewrite exp_0; ring.
Qed.
