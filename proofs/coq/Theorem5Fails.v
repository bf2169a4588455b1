(** * Theorem 5 outside its regime

    If two data sets exceed W(epsilon_s, epsilon_n) <= Delta_2' epsilon, with the stated epsilon, the
    statement is false for all small enough delta_s = delta_n = delta. With L = ln (sqrt(2/pi)/delta) the
    shifts of the two parts are about epsilon_s / sqrt(2 L) and epsilon_n / sqrt(2 L). So the total shift
    is above lambda epsilon / sqrt(2 L) for some lambda > 1, and the exact delta is about exp(- L /
    lambda^2), the stated one about exp(- L). *)

From Coq Require Import Reals List Lra Lia.
From Coquelicot Require Import Coquelicot.
From CFM Require Import Definitions Sums Analysis Normal Change Box BoxSensitivity Laplace Gaussian
  ExtendedGaussian.
From CFM Require Import Theorem5 Theorem5Regime GaussianExact.
Open Scope R_scope.

(** The profile from below: what the interval from a + 1 to a + 2 contributes. *)
Lemma profile_ge : forall nu epsilon, 0 < nu -> 0 <= epsilon / nu - nu / 2 ->
  nu / (1 + nu) * bell (epsilon / nu - nu / 2 + 2) <= profile nu epsilon.
Proof.
  intros nu epsilon Hnu Ha; unfold profile.
  replace (epsilon / nu + nu / 2) with (epsilon / nu - nu / 2 + nu) by (field; lra).
  assert (Hepsilon : epsilon = (epsilon / nu - nu / 2 + nu / 2) * nu) by (field; lra).
  set (a := epsilon / nu - nu / 2) in *.
  assert (He := exp_pos epsilon).
  (* F falls to 0 from u = a on *)
  set (F := fun u => tail u - exp epsilon * tail (u + nu)).
  assert (Hd : forall u, is_derive F u (- bell u - exp epsilon * - bell (u + nu))).
  { intros u; apply derive_minus; [apply tail_derivative |]; apply derive_scal.
    apply derive_value with (1 * - bell (u + nu)); [| ring].
    apply (derive_comp tail (fun v => v + nu)); [apply tail_derivative |].
    auto_derive; [trivial | real_ring]. }
  assert (Hratio : forall u, exp epsilon * bell (u + nu) = exp (- ((u - a) * nu)) * bell u).
  { intros u; unfold bell; rewrite <- !exp_plus; f_equal; rewrite Hepsilon; field. }
  assert (Hfalls : forall u v, a <= u <= v -> F v <= F u).
  { intros u v Huv.
    apply (derivative_nonpos_le F (fun t => - bell t - exp epsilon * - bell (t + nu)));
      [apply Huv | intros; apply Hd |].
    intros t Ht; generalize (bell_pos t); intros Hb.
    assert (exp epsilon * bell (t + nu) <= bell t); [| lra].
    rewrite Hratio; apply Rle_trans with (1 * bell t); [apply Rmult_le_compat_r; [lra |] | lra].
    rewrite <- exp_0; apply exp_le; nra. }
  assert (Hfirst : F (a + 1) <= F a) by (apply Hfalls; lra).
  assert (Hsecond : F (a + 2) + nu / (1 + nu) * bell (a + 2) <= F (a + 1)).
  { assert (H : F (a + 2) + nu / (1 + nu) * bell (a + 2) * (a + 2) <=
      F (a + 1) + nu / (1 + nu) * bell (a + 2) * (a + 1)); [| nra].
    apply (derivative_nonpos_le (fun u => F u + nu / (1 + nu) * bell (a + 2) * u)
      (fun u => - bell u - exp epsilon * - bell (u + nu) + nu / (1 + nu) * bell (a + 2) * 1)); [lra | |].
    - intros u _; apply derive_plus; [apply Hd | apply derive_scal; auto_derive; [trivial | reflexivity]].
    - intros u Hu; rewrite Rmult_1_r;
        replace (exp epsilon * - bell (u + nu)) with (- (exp epsilon * bell (u + nu))) by ring.
      rewrite Hratio; generalize (bell_pos u) (bell_pos (a + 2)); intros H1 H2.
      assert (Hexp : exp (- ((u - a) * nu)) <= / (1 + nu)).
      { apply Rle_trans with (exp (- nu)); [apply exp_le; nra | apply exp_opp_le; lra]. }
      assert (Hbell : bell (a + 2) <= bell u) by (unfold bell; apply exp_le; nra).
      assert (Hone : nu / (1 + nu) = 1 - / (1 + nu)) by (field; lra).
      assert (0 < nu / (1 + nu)) by (apply Rdiv_lt_0_compat; lra).
      nra. }
  assert (Hend : 0 <= F (a + 2)).
  { apply le_epsilon; intros eta Heta; rewrite <- (Rplus_0_l 0).
    assert (Hxi : 0 < eta / (exp epsilon * kappa)).
    { apply Rdiv_lt_0_compat; [exact Heta |]; apply Rmult_lt_0_compat; [exact He | exact kappa_pos]. }
    destruct (bell_vanishes _ Hxi) as [M [HM Hbell]]; set (K := Rmax (a + 2) M).
    assert (H1 : a + 2 <= K) by apply Rmax_l; assert (H2 : M <= K) by apply Rmax_r; assert (Hk := kappa_pos).
    assert (HK : F K <= F (a + 2)) by (apply Hfalls; lra).
    assert (HT : exp epsilon * tail (K + nu) <= eta).
    { apply Rle_trans with (exp epsilon * (kappa * (eta / (exp epsilon * kappa)))).
      - apply Rmult_le_compat_l; [lra |]; eapply Rle_trans; [apply tail_le_bell; lra |].
        apply Rmult_le_compat_l; [lra |]; apply Hbell; rewrite Rabs_right; lra.
      - right; field; lra. }
    unfold F at 1 in HK; generalize (tail_bounds K); lra. }
  fold (F a); lra.
Qed.

Lemma gaussian_delta_increasing : forall nu nu' epsilon, 0 < nu <= nu' ->
  gaussian_delta nu epsilon <= gaussian_delta nu' epsilon.
Proof.
  intros nu nu' epsilon [Hnu Hle].
  apply (gaussian_profile_iff unit (cons tt nil) (fun _ => 1) (fun _ => nu) (fun _ => 0) nu epsilon).
  - intros _; lra.
  - exact Hnu.
  - cbn; field.
  - rewrite gaussian_delta_profile; apply gaussian_indistinguishable; [intros _; lra | lra |].
    cbn; replace ((nu - 0) / 1) with nu by field; nra.
Qed.

(** The shift from below: f(epsilon) >= epsilon / sqrt(2 (L + m)) for epsilon <= m. *)
Lemma allowed_shift_ge : forall L epsilon m X, 0 <= L -> 0 < epsilon <= m -> 0 < X -> X ^ 2 = 2 * (L + m) ->
  epsilon <= allowed_shift L epsilon * X.
Proof.
  intros L e m X HL [He Hm] HX HX2; unfold allowed_shift.
  assert (H2 : sqrt 2 ^ 2 = 2) by (apply pow2_sqrt; lra).
  assert (Hv : sqrt (L + e) ^ 2 = L + e) by (apply pow2_sqrt; lra).
  assert (Hu : sqrt L ^ 2 = L) by (apply pow2_sqrt; lra).
  assert (H1 : sqrt L <= sqrt (L + e)) by (apply sqrt_le_1_alt; lra).
  assert (Hr : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (Hu0 : 0 <= sqrt L) by apply sqrt_pos; assert (Hv0 : 0 < sqrt (L + e)) by (apply sqrt_lt_R0; lra).
  set (u := sqrt L) in *; set (v := sqrt (L + e)) in *; set (q := sqrt 2) in *.
  assert (HqX : q * v <= X).
  { destruct (Rle_or_lt (q * v) X) as [H | H]; [exact H | exfalso].
    assert (0 < q * v) by (apply Rmult_lt_0_compat; assumption).
    assert (X ^ 2 < (q * v) ^ 2) by nra; rewrite Rpow_mult_distr in *; nra. }
  apply Rle_trans with (q * (v - u) * (q * v)).
  - replace (q * (v - u) * (q * v)) with (q ^ 2 * (v * (v - u))) by ring; rewrite H2; nra.
  - apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact HqX].
Qed.

(** With nu = lambda epsilon / X the profile exceeds 4 exp (m - X^2/2) for all large X. *)
Lemma profile_beats_delta : forall lambda epsilon m, 1 < lambda -> 0 < epsilon ->
  exists X0, forall X, X0 <= X -> 0 < X /\ 4 * exp (m - X ^ 2 / 2) < profile (lambda * epsilon / X) epsilon.
Proof.
  intros lambda epsilon m Hl He; assert (Hem := exp_pos m).
  assert (Hi : 0 < / lambda < 1).
  { split; [apply Rinv_0_lt_compat | rewrite <- Rinv_1; apply Rinv_lt_contravar]; lra. }
  set (i := / lambda) in *.
  set (c := (1 - i ^ 2) / 2); assert (Hc : 0 < c) by (unfold c; nra).
  set (le := lambda * epsilon); assert (Hle : 0 < le) by (apply Rmult_lt_0_compat; lra).
  set (C1 := 4 * exp m / le); assert (HC1 : 0 < C1) by (apply Rdiv_lt_0_compat; lra).
  set (C2 := 4 * exp m).
  set (B := 2 * i + 2 + C1 + C2); assert (HB : 0 < B) by (unfold B, C2; lra).
  exists (Rmax (Rmax 1 (lambda * le)) (B / c)); intros X HX.
  assert (HX1 : 1 <= X) by (eapply Rle_trans; [| exact HX]; eapply Rle_trans; [apply Rmax_l | apply Rmax_l]).
  assert (HX2 : lambda * le <= X).
  { eapply Rle_trans; [| exact HX]; eapply Rle_trans; [apply Rmax_r | apply Rmax_l]. }
  assert (HX3 : B / c <= X) by (eapply Rle_trans; [apply Rmax_r | exact HX]).
  split; [lra |].
  set (nu := le / X); assert (Hnu : 0 < nu) by (apply Rdiv_lt_0_compat; lra).
  assert (Hover : epsilon / nu = i * X) by (unfold nu, le, i; field; lra).
  assert (Hnu1 : nu <= i).
  { unfold nu; apply Rmult_le_reg_r with (X * lambda); [nra |].
    replace (le / X * (X * lambda)) with (lambda * le) by (field; lra).
    replace (i * (X * lambda)) with X by (unfold i; field; lra); exact HX2. }
  assert (Ha : 0 <= epsilon / nu - nu / 2) by (rewrite Hover; nra).
  eapply Rlt_le_trans; [| apply profile_ge; [exact Hnu | exact Ha]]; rewrite Hover.
  apply Rlt_le_trans with (nu / (1 + nu) * bell (i * X + 2)).
  2: { apply Rmult_le_compat_l; [apply Rlt_le, Rdiv_lt_0_compat; lra |].
    unfold bell; apply exp_le; rewrite Hover in Ha; nra. }
  replace (nu / (1 + nu)) with (le / (X + le)) by (unfold nu; field; lra).
  unfold bell; set (E := c * X ^ 2 - 2 * (i * X) - 2).
  replace (exp (- ((i * X + 2) ^ 2 / 2))) with (exp E * exp (- (X ^ 2 / 2)))
    by (rewrite <- exp_plus; f_equal; unfold E, c; field).
  replace (m - X ^ 2 / 2) with (m + - (X ^ 2 / 2)) by ring; rewrite exp_plus, <- Rmult_assoc, <- Rmult_assoc.
  apply Rmult_lt_compat_r; [apply exp_pos |].
  apply Rmult_lt_reg_r with (X + le); [lra |].
  replace (le / (X + le) * exp E * (X + le)) with (le * exp E) by (field; lra).
  replace (4 * exp m * (X + le)) with (le * (C1 * X + C2)) by (unfold C1, C2; field; lra).
  apply Rmult_lt_compat_l; [exact Hle |].
  assert (HcX : B <= c * X).
  { apply Rmult_le_reg_l with (/ c); [apply Rinv_0_lt_compat; exact Hc |].
    replace (/ c * (c * X)) with X by (field; lra); rewrite Rmult_comm; exact HX3. }
  assert (HE : C1 * X + C2 <= E).
  { unfold E; apply Rle_trans with (B * X - 2 * (i * X) - 2); [unfold B, C2; nra | nra]. }
  assert (HE0 : 0 < E) by (unfold C2 in HE; nra).
  generalize (exp_ineq1 E ltac:(lra)); lra.
Qed.

(** What is differentially private has at least the delta of every shift up to that of one pair. *)
Lemma private_needs_profile : forall r n d s domain sigma_s sigma_n nu0 epsilon delta D D',
  0 < sigma_s -> 0 < sigma_n -> 0 < nu0 -> neighbours n domain D D' ->
  nu0 ^ 2 <= l2_change_squared r d (contains s) D D' / sigma_s ^ 2
    + l2_change_squared r d (contains_not s) D D' / sigma_n ^ 2 ->
  differentially_private epsilon delta n d domain gaussian_density (two_scales s sigma_s sigma_n) r ->
  profile nu0 epsilon / (2 * kappa) <= delta.
Proof.
  intros r n d s domain ss sn nu0 epsilon delta D D' Hss Hsn Hnu0 HDD' HS Hprivate.
  set (S := l2_change_squared r d (contains s) D D' / ss ^ 2
    + l2_change_squared r d (contains_not s) D D' / sn ^ 2) in HS.
  assert (HS0 : 0 < S) by nra; set (nu := sqrt S); assert (Hnu : 0 < nu) by (apply sqrt_lt_R0; exact HS0).
  assert (Hnu2 : nu ^ 2 = S) by (apply pow2_sqrt; lra).
  assert (Hle : nu0 <= nu) by (destruct (Rle_or_lt nu0 nu); [assumption | exfalso; nra]).
  rewrite <- gaussian_delta_profile.
  eapply Rle_trans; [apply (gaussian_delta_increasing _ _ epsilon (conj Hnu0 Hle)) |].
  refine (proj1 (gaussian_profile_iff monomial (Phi (basis r) d) (two_scales s ss sn) (coefficient r D)
    (coefficient r D') nu epsilon _ (two_scales_pos s ss sn Hss Hsn) Hnu _) (Hprivate D D' HDD')).
  rewrite Hnu2; apply shift_of_two_scales; assumption.
Qed.

(** The shift at the paper's scales, from a bound of both allowed shifts. *)
Lemma shift_at_paper_scales : forall Delta value X es en fs fn ss sn U V, 0 < Delta -> 0 < X -> 0 < ss ->
  0 < sn ->
  0 <= U -> 0 <= V -> 0 < es <= fs * X -> 0 < en <= fn * X -> ss * fs = Delta -> sn * fn = Delta ->
  (Delta * value) ^ 2 <= es ^ 2 * U + en ^ 2 * V -> (value / X) ^ 2 <= U / ss ^ 2 + V / sn ^ 2.
Proof.
  intros Delta value X es en fs fn ss sn U V HD HX Hss Hsn HU HV Hes Hen Hfs Hfn Hlarge.
  assert (HDX : 0 < (Delta * X) ^ 2) by (apply pow_lt, Rmult_lt_0_compat; assumption).
  apply Rmult_le_reg_l with ((Delta * X) ^ 2); [exact HDX |].
  replace ((Delta * X) ^ 2 * (value / X) ^ 2) with ((Delta * value) ^ 2) by (field; lra).
  replace ((Delta * X) ^ 2 * (U / ss ^ 2 + V / sn ^ 2)) with ((fs * X) ^ 2 * U + (fn * X) ^ 2 * V)
    by (transitivity ((ss * fs * X) ^ 2 * (U / ss ^ 2) + (sn * fn * X) ^ 2 * (V / sn ^ 2));
      [field; lra | rewrite Hfs, Hfn; ring]).
  eapply Rle_trans; [exact Hlarge |].
  apply Rplus_le_compat; apply Rmult_le_compat_r; try assumption; apply pow_incr; lra.
Qed.

(** A small delta has a large logarithm. *)
Lemma logarithm_of_small_delta : forall delta bound, 0 < delta <= sqrt (2 / PI) * exp (- bound) ->
  bound <= ln (sqrt (2 / PI) / delta).
Proof.
  intros delta bound [Hdelta Hsmall]; assert (Hexp := exp_pos bound).
  rewrite <- (ln_exp bound) at 1; apply ln_le; [exact Hexp |].
  apply Rmult_le_reg_r with delta; [exact Hdelta |].
  replace (sqrt (2 / PI) / delta * delta) with (sqrt (2 / PI)) by (field; lra).
  apply Rle_trans with (exp bound * (sqrt (2 / PI) * exp (- bound))); [apply Rmult_le_compat_l; lra |].
  right; rewrite (Rmult_comm (sqrt _)), <- Rmult_assoc, <- exp_plus, Rplus_opp_r, exp_0; ring.
Qed.

(** ** The theorem *)

Theorem theorem5_outside : forall r n d s domain Delta epsilon_s epsilon_n,
  (1 <= d)%nat -> 0 < Delta -> 0 < epsilon_s -> 0 < epsilon_n ->
  (exists D D', neighbours n domain D D' /\
    (Delta * stated_epsilon d epsilon_s epsilon_n) ^ 2 <
    epsilon_s ^ 2 * l2_change_squared r d (contains s) D D' +
    epsilon_n ^ 2 * l2_change_squared r d (contains_not s) D D') ->
  exists delta_0, 0 < delta_0 <= sqrt (2 / PI) /\ forall delta, 0 < delta <= delta_0 ->
    ~ differentially_private (stated_epsilon d epsilon_s epsilon_n) (stated_delta delta delta) n d domain
        gaussian_density (two_scales s (extended_gaussian_sigma Delta epsilon_s delta)
                                       (extended_gaussian_sigma Delta epsilon_n delta)) r.
Proof.
  intros r n d s domain Delta es en Hd HD Hes Hen (D & D' & HDD' & Hlarge).
  assert (Hk := kappa_pos); assert (Ht := share_bounds d Hd).
  set (epsilon := stated_epsilon d es en) in *.
  assert (Hepsilon : 0 < epsilon) by (unfold epsilon; rewrite stated_epsilon_share by exact Hd; nra).
  assert (HU := l2_nonneg r d (contains s) D D'); assert (HV := l2_nonneg r d (contains_not s) D D').
  set (U := l2_change_squared r d (contains s) D D') in *.
  set (V := l2_change_squared r d (contains_not s) D D') in *.
  set (W := es ^ 2 * U + en ^ 2 * V) in *.
  set (m := Rmax es en); assert (Hms : es <= m) by apply Rmax_l; assert (Hmn : en <= m) by apply Rmax_r.
  assert (HDe : 0 < Delta * epsilon) by (apply Rmult_lt_0_compat; assumption).
  set (lambda := sqrt W / (Delta * epsilon)).
  assert (HW2 : sqrt W ^ 2 = W) by (apply pow2_sqrt; generalize (pow2_ge_0 (Delta * epsilon)); lra).
  assert (HW0 : 0 <= sqrt W) by apply sqrt_pos.
  assert (HW : sqrt W = lambda * (Delta * epsilon)) by (unfold lambda; field; lra).
  assert (Hlambda : 1 < lambda) by (apply Rmult_lt_reg_r with (Delta * epsilon); [exact HDe |]; nra).
  destruct (profile_beats_delta lambda epsilon m Hlambda Hepsilon) as [X0 HX0].
  assert (Hrange : 0 < sqrt (2 / PI)) by (rewrite sqrt_two_over_pi; apply Rinv_0_lt_compat, Hk).
  exists (sqrt (2 / PI) * exp (- X0 ^ 2)).
  assert (Hexp : 0 < exp (- X0 ^ 2) <= 1).
  { split; [apply exp_pos |]; rewrite <- exp_0; apply exp_le; generalize (pow2_ge_0 X0); lra. }
  split; [split; nra |]; intros delta [Hdelta Hsmall] Hprivate.
  assert (Hdelta' : 0 < delta <= sqrt (2 / PI)) by (split; nra).
  assert (HL := log_nonneg delta Hdelta'); set (L := ln (sqrt (2 / PI) / delta)) in *.
  assert (HexpL : sqrt (2 / PI) = delta * exp L).
  { unfold L; rewrite exp_ln by (apply Rdiv_lt_0_compat; lra); field; lra. }
  assert (HL0 : X0 ^ 2 <= L) by (apply logarithm_of_small_delta; lra).
  set (X := sqrt (2 * (L + m))).
  assert (HX2 : X ^ 2 = 2 * (L + m)) by (apply pow2_sqrt; lra).
  assert (HX : 0 < X) by (apply sqrt_lt_R0; lra).
  assert (HXX0 : X0 <= X) by (destruct (Rle_or_lt X0 X); [assumption | exfalso; nra]).
  destruct (HX0 X HXX0) as [_ Hbeats].
  assert (Hfs := allowed_shift_ge L es m X HL (conj Hes Hms) HX HX2).
  assert (Hfn := allowed_shift_ge L en m X HL (conj Hen Hmn) HX HX2).
  assert (Hsigma_s := extended_sigma_shift Delta es delta Hes HL); fold L in Hsigma_s.
  assert (Hsigma_n := extended_sigma_shift Delta en delta Hen HL); fold L in Hsigma_n.
  assert (Hfs0 := allowed_shift_pos L es HL Hes); assert (Hfn0 := allowed_shift_pos L en HL Hen).
  set (ss := extended_gaussian_sigma Delta es delta) in *;
    set (sn := extended_gaussian_sigma Delta en delta) in *.
  set (fs := allowed_shift L es) in *; set (fn := allowed_shift L en) in *.
  assert (Hss : 0 < ss) by (apply Rmult_lt_reg_r with fs; lra).
  assert (Hsn : 0 < sn) by (apply Rmult_lt_reg_r with fn; lra).
  assert (Hnu0 : 0 < lambda * epsilon / X)
    by (apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra | exact HX]).
  assert (HnuS : (lambda * epsilon / X) ^ 2 <= U / ss ^ 2 + V / sn ^ 2).
  { apply (shift_at_paper_scales Delta (lambda * epsilon) X es en fs fn); try assumption; try lra.
    replace (Delta * (lambda * epsilon)) with (lambda * (Delta * epsilon)) by ring.
    rewrite <- HW, HW2; apply Rle_refl. }
  assert (Hneeded := private_needs_profile r n d s domain ss sn _ epsilon _ D D' Hss Hsn Hnu0 HDD' HnuS
    Hprivate).
  assert (Hclaim : stated_delta delta delta <= 2 * delta).
  { unfold stated_delta; generalize (pow2_ge_0 delta); lra. }
  assert (Hexact : delta * kappa = exp (m - X ^ 2 / 2)).
  { rewrite HX2; replace (m - 2 * (L + m) / 2) with (- L) by field.
    rewrite exp_Ropp; apply Rmult_eq_reg_r with (exp L); [| apply Rgt_not_eq, exp_pos].
    rewrite Rinv_l by (apply Rgt_not_eq, exp_pos).
    replace (delta * kappa * exp L) with (delta * exp L * kappa) by ring.
    rewrite <- HexpL, sqrt_two_over_pi; field; lra. }
  assert (H4 : profile (lambda * epsilon / X) epsilon <= 4 * (delta * kappa)).
  { apply Rmult_le_reg_r with (/ (2 * kappa)); [apply Rinv_0_lt_compat; lra |].
    replace (4 * (delta * kappa) * / (2 * kappa)) with (2 * delta) by (field; lra).
    fold (profile (lambda * epsilon / X) epsilon / (2 * kappa)); lra. }
  rewrite Hexact in H4; lra.
Qed.

(** ** epsilon_s < epsilon_n *)

Lemma nu_ge : forall n k, (1 <= k)%nat -> (k <= n)%nat -> 1 - / INR k <= drift_limit n.
Proof.
  intros n k Hk Hn; assert (H1 := one_le_INR k Hk); assert (H2 : INR k <= INR n) by (apply le_INR; exact Hn).
  unfold drift_limit; replace ((INR n - 1) / INR n) with (1 - / INR n) by (field; lra).
  assert (/ INR n <= / INR k) by (apply Rinv_le_contravar; lra); lra.
Qed.

(** In the ball, d = 2: all of the change sits on the coordinate that is not s. *)
Lemma ball_l2_n : forall r s f n d, (1 <= n)%nat -> (f < d)%nat -> f <> s ->
  fairness_term r <> Covariance true -> fairness_term r <> Covariance false ->
  l2_change_squared r d (contains_not s) (ball_D f n) (ball_D' f n) = ball_gain r n ^ 2.
Proof.
  intros r s f n d Hn Hf Hfs HF1 HF2; unfold l2_change_squared; rewrite sum_filter, sum_Phi.
  rewrite (sum_zero (pairs _ _)).
  - rewrite Rplus_0_r, (sum_ext _ _ (fun e => if Nat.eqb e f then ball_gain r n ^ 2 else 0)).
    + apply (sum_delta d f (fun _ => ball_gain r n ^ 2)); exact Hf.
    + intros e _; unfold contains_not; cbn [contains]; rewrite ball_change by assumption; unfold unit_vector.
      destruct (Nat.eqb_spec e f) as [-> | Hne]; [| destruct (negb _); ring].
      destruct (Nat.eqb_spec f s); [contradiction | cbn [negb]; ring].
  - intros p _; rewrite ball_change by assumption; destruct (contains_not _ _); ring.
Qed.

Theorem theorem5_fails_on_the_ball : forall r n s epsilon_n,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (3 <= n)%nat -> (s < 2)%nat -> 0 < epsilon_n ->
  let Delta := sqrt (published_fair_l2_squared 2) in let epsilon_s := epsilon_n / 20 in
  exists delta_0, 0 < delta_0 <= sqrt (2 / PI) /\ forall delta, 0 < delta <= delta_0 ->
    ~ differentially_private (stated_epsilon 2 epsilon_s epsilon_n) (stated_delta delta delta) n 2
        (unit_ball 2) gaussian_density
        (two_scales s (extended_gaussian_sigma Delta epsilon_s delta)
                                       (extended_gaussian_sigma Delta epsilon_n delta)) r.
Proof.
  intros r n s en HF Ha Hn Hs Hen Delta es.
  assert (HD := published_fair_l2_pos 2 ltac:(lia)).
  apply theorem5_outside; [lia | apply sqrt_lt_R0; exact HD | unfold es; lra | exact Hen |].
  set (f := (1 - s)%nat); assert (Hf : (f < 2)%nat /\ f <> s) by (unfold f; lia).
  exists (ball_D f n), (ball_D' f n); split; [apply ball_neighbours; [apply Hf | lia] |].
  rewrite (ball_l2_n r s f n 2) by (try apply Hf; try lia; rewrite HF; discriminate).
  assert (Hnu := nu_ge n 3 ltac:(lia) Hn); replace (INR 3) with 3 in Hnu by (simpl; lra).
  unfold ball_gain; rewrite HF, Ha; rewrite Rpow_mult_distr; unfold Delta; rewrite pow2_sqrt by lra.
  unfold stated_epsilon, published_fair_l2_squared, es; replace (INR 2) with 2 by (simpl; lra).
  assert (H := l2_nonneg r 2 (contains s) (ball_D f n) (ball_D' f n)).
  assert (H5 : 49 / 9 <= (1 + 2 * 1 * drift_limit n) ^ 2) by nra.
  assert (Hen2 : 0 < en ^ 2) by (apply pow_lt; exact Hen).
  assert (0 <= (en / 20) ^ 2 * l2_change_squared r 2 (contains s) (ball_D f n) (ball_D' f n)).
  { apply Rmult_le_pos; [apply pow2_ge_0 | exact H]. }
  assert (en ^ 2 * (49 / 9) <= en ^ 2 * (1 + 2 * 1 * drift_limit n) ^ 2) by (apply Rmult_le_compat_l; lra).
  nra.
Qed.

Lemma box_l2_n : forall r n d s D D', (s < d)%nat ->
  (forall phi, In phi (Phi (basis r) d) ->
    Rabs (coefficient r D phi - coefficient r D' phi) = box_bound r n ones phi) ->
  l2_change_squared r d (contains_not s) D D' = (INR d - 1) * (linear_gain r n + 1 / 2) ^ 2.
Proof.
  intros r n d s D D' Hs Hphi; set (g := (linear_gain r n + 1 / 2) ^ 2).
  unfold l2_change_squared.
  rewrite (sum_ext _ _ (fun phi => match phi with Linear _ => g | Quadratic _ _ => 0 end)).
  - rewrite sum_filter, sum_Phi, (sum_zero (pairs _ _)) by (intros; destruct (contains_not _ _); reflexivity).
    rewrite Rplus_0_r, (sum_ext _ _ (fun e => g - (if Nat.eqb e s then g else 0))).
    + rewrite sum_minus, sum_coordinates_const, (sum_delta d s (fun _ => g)) by exact Hs; ring.
    + intros e _; unfold contains_not; cbn [contains]; destruct (Nat.eqb e s); cbn [negb]; ring.
  - intros phi Hin; apply filter_In in Hin; rewrite <- pow2_abs, (Hphi phi (proj1 Hin)).
    destruct phi as [e | e l]; cbn [box_bound]; unfold ones, g; [f_equal; field | ring].
Qed.

Theorem theorem5_fails_on_the_box : forall r n d s epsilon_n,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (200 <= n)%nat -> (2 <= d <= 12)%nat -> (s < d)%nat ->
  0 < epsilon_n ->
  let Delta := sqrt (published_fair_l2_squared d) in let epsilon_s := epsilon_n / 1000 in
  exists delta_0, 0 < delta_0 <= sqrt (2 / PI) /\ forall delta, 0 < delta <= delta_0 ->
    ~ differentially_private (stated_epsilon d epsilon_s epsilon_n) (stated_delta delta delta) n d
        (unit_box d) gaussian_density
        (two_scales s (extended_gaussian_sigma Delta epsilon_s delta)
                                       (extended_gaussian_sigma Delta epsilon_n delta)) r.
Proof.
  intros r n d s en HF Ha Hn Hd Hs Hen Delta es.
  assert (HD := published_fair_l2_pos d ltac:(lia)).
  apply theorem5_outside; [lia | apply sqrt_lt_R0; exact HD | unfold es; lra | exact Hen |].
  destruct (box_changes_attained r n d ones) as (D & D' & HDD' & Hphi);
    [lra | lia | intros e _; unfold ones; lra |].
  exists D, D'; split; [exact HDD' |]; rewrite (box_l2_n r n d s D D' Hs Hphi).
  assert (Hnu : 199 / 200 <= drift_limit n).
  { assert (H := nu_ge n 200 ltac:(lia) Hn).
    replace (INR 200) with 200 in H by (rewrite INR_IZR_INZ; reflexivity); lra. }
  unfold linear_gain; rewrite HF, Ha; cbn [fairness_gain].
  rewrite Rpow_mult_distr; unfold Delta; rewrite pow2_sqrt by lra.
  assert (H := l2_nonneg r d (contains s) D D').
  assert (Hen2 : 0 < en ^ 2) by (apply pow_lt; exact Hen).
  assert (0 <= es ^ 2 * l2_change_squared r d (contains s) D D').
  { apply Rmult_le_pos; [apply pow2_ge_0 | exact H]. }
  assert (Hk : 1 <= INR d - 1) by (assert (2 <= INR d) by (apply (le_INR 2); lia); lra).
  assert (Hgain : (299 / 100) ^ 2 <= (1 / 2 + 1 * (2 * drift_limit n) + 1 / 2) ^ 2) by nra.
  assert (Hright : en ^ 2 * ((INR d - 1) * (299 / 100) ^ 2) <=
    en ^ 2 * ((INR d - 1) * (1 / 2 + 1 * (2 * drift_limit n) + 1 / 2) ^ 2)).
  { apply Rmult_le_compat_l; [lra |]; apply Rmult_le_compat_l; [lra | exact Hgain]. }
  assert (Hleft : published_fair_l2_squared d * stated_epsilon d es en ^ 2 <
    en ^ 2 * ((INR d - 1) * (299 / 100) ^ 2)); [| lra].
  replace (published_fair_l2_squared d * stated_epsilon d es en ^ 2)
    with (en ^ 2 * ((1 / 16 + 9 / INR d) * (INR d - 1 + 1 / 1000) ^ 2))
    by (unfold published_fair_l2_squared, stated_epsilon, es; field; lra).
  apply Rmult_lt_compat_l; [exact Hen2 |]; clear - Hd.
  assert (Hcases : exists k : nat, (k <= 10)%nat /\ d = (k + 2)%nat) by (exists (d - 2)%nat; lia).
  destruct Hcases as [k [Hk ->]].
  do 11 (destruct k as [| k]; [simpl INR; lra |]); lia.
Qed.
