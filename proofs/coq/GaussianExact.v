(** * The profile of Gaussian noise is exact

    [Gaussian.v] bounds every test by the profile of nu. Here the tests of [SoftHalfSpace.v] come as near to
    that bound as wanted, in every dimension, as their deviation s tends to 0. *)

From Coq Require Import Reals List Lra.
From Coquelicot Require Import Coquelicot.
From CFM Require Import Definitions Sums Analysis Normal Laplace Gaussian ExtendedGaussian Theorem5.
From CFM Require Import Theorem5Regime SoftHalfSpace.
Import ListNotations.
Open Scope R_scope.

(** ** The profile *)

Lemma ratio_continuous : forall a r, 0 < r -> continuity_pt (fun u => tail (a / u)) r.
Proof.
  intros a r Hr; apply derive_continuity with ((- a / r ^ 2) * - bell (a / r)).
  apply (derive_comp tail (fun u => a / u)); [apply tail_derivative |].
  auto_derive; [lra |]; match goal with |- @eq _ ?x ?y => change (@eq R x y) end; simpl; field; lra.
Qed.

(** A bound on the right of a point where f is continuous holds there. *)
Lemma bound_from_the_right : forall f x b, continuity_pt f x -> (forall r, x < r -> f r <= b) -> f x <= b.
Proof.
  intros f x b Hf Hb; apply le_epsilon; intros eta Heta.
  destruct (Hf eta Heta) as [step [Hstep Hnear]]; specialize (Hnear (x + step / 2)).
  assert (Hd : R_dist (f (x + step / 2)) (f x) < eta).
  { apply Hnear; split; [split; [exact I | lra] |].
    simpl; unfold R_dist; replace (x + step / 2 - x) with (step / 2) by ring; rewrite Rabs_right; lra. }
  unfold R_dist in Hd; apply Rabs_def2 in Hd; specialize (Hb (x + step / 2) ltac:(lra)); lra.
Qed.

(** The profile, with the tests' deviation r in the place of nu. *)
Definition soft_profile (nu epsilon r : R) : R :=
  tail ((epsilon - nu ^ 2 / 2) / r) - exp epsilon * tail ((epsilon + nu ^ 2 / 2) / r).

Lemma profile_is_soft : forall nu epsilon, 0 < nu -> profile nu epsilon = soft_profile nu epsilon nu.
Proof.
  intros nu epsilon Hnu; unfold profile, soft_profile.
  replace ((epsilon - nu ^ 2 / 2) / nu) with (epsilon / nu - nu / 2) by (field; lra).
  replace ((epsilon + nu ^ 2 / 2) / nu) with (epsilon / nu + nu / 2) by (field; lra); reflexivity.
Qed.

Lemma soft_profile_continuous : forall nu epsilon r, 0 < r -> continuity_pt (soft_profile nu epsilon) r.
Proof.
  intros nu epsilon r Hr.
  apply (continuity_pt_minus (fun u => tail ((epsilon - nu ^ 2 / 2) / u))
    (fun u => exp epsilon * tail ((epsilon + nu ^ 2 / 2) / u))); [apply ratio_continuous, Hr |].
  apply (continuity_pt_scal (fun u => tail ((epsilon + nu ^ 2 / 2) / u))), ratio_continuous, Hr.
Qed.

(** ** What a large box leaves out *)

Lemma large_box : forall n eta, 0 <= n -> 0 < eta ->
  exists K, 0 < K /\ n * (tail K / kappa) * (2 * kappa) <= eta.
Proof.
  intros n eta Hn Heta; assert (Hk := kappa_pos).
  assert (Hxi : 0 < eta / ((n + 1) * (2 * kappa))) by (apply Rdiv_lt_0_compat; nra).
  destruct (bell_vanishes _ Hxi) as [K [HK Hbell]]; exists K; split; [exact HK |].
  assert (HT : tail K / kappa <= eta / ((n + 1) * (2 * kappa))).
  { apply Rmult_le_reg_r with kappa; [exact Hk |].
    unfold Rdiv at 1; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    eapply Rle_trans; [apply tail_le_bell; lra |]; rewrite Rmult_comm.
    apply Rmult_le_compat_r; [lra |]; apply Hbell; rewrite Rabs_right; lra. }
  apply Rle_trans with (n * (eta / ((n + 1) * (2 * kappa))) * (2 * kappa)).
  - apply Rmult_le_compat_r; [lra |]; apply Rmult_le_compat_l; assumption.
  - replace (n * (eta / ((n + 1) * (2 * kappa))) * (2 * kappa)) with (eta * (n / (n + 1)))
      by (field; lra).
    rewrite <- (Rmult_1_r eta) at 2; apply Rmult_le_compat_l; [lra |].
    apply Rmult_le_reg_r with (n + 1); [lra |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.

(** ** The test of deviation r *)

(** On boxes as large as wanted, the test near the best event obeys epsilon and delta. *)
Definition soft_private {A : Type} (epsilon delta : R) (l : list A) (sigma c c' : A -> R) : Prop :=
  forall s y K, 0 < s -> 0 <= K -> exists lower upper : A -> R,
  (forall a, lower a <= upper a) /\
  (forall a, In a l -> lower a <= c a - K * sigma a /\ c a + K * sigma a <= upper a) /\
  let test := soft_half_space sigma c (fun a => - ((c a - c' a) / sigma a)) s l y in
  expectation l (fun a t => gaussian_density (sigma a) (t - c a)) lower upper test <=
  exp epsilon * expectation l (fun a t => gaussian_density (sigma a) (t - c' a)) lower upper test + delta.

Section Test.
Context {A : Type}.
Variable l : list A.
Variable sigma c c' : A -> R.
Variable nu epsilon delta : R.
Hypothesis sigma_pos : forall a, 0 < sigma a.
Hypothesis nu_pos : 0 < nu.
Hypothesis distance : sum_over l (fun a => ((c a - c' a) / sigma a) ^ 2) = nu ^ 2.
Hypothesis private : soft_private epsilon delta l sigma c c'.

Let w a := - ((c a - c' a) / sigma a).

Lemma no_drift : drift sigma c c w l = 0.
Proof. unfold drift; apply sum_zero; intros a _; specialize (sigma_pos a); field; lra. Qed.

Lemma drift_of_the_shift : drift sigma c c' w l = nu ^ 2.
Proof.
  rewrite <- distance; unfold drift; apply sum_ext; intros a _; unfold w.
  specialize (sigma_pos a); field; lra.
Qed.

Lemma deviation_of_the_shift : forall r, nu < r -> deviation w (sqrt (r ^ 2 - nu ^ 2)) l = r.
Proof.
  intros r Hr; unfold deviation; rewrite pow2_sqrt by nra.
  replace (sum_over l (fun a => w a ^ 2)) with (nu ^ 2)
    by (rewrite <- distance; apply sum_ext; intros; unfold w; ring).
  replace (r ^ 2 - nu ^ 2 + nu ^ 2) with (r ^ 2) by ring; apply sqrt_pow2; lra.
Qed.

(** On the box of K scales around c, the two tests' chances differ by what the box leaves out. *)
Lemma chances_on_a_box : forall r K, nu < r -> 0 <= K ->
  exceedance r (epsilon - nu ^ 2 / 2) - exp epsilon * exceedance r (epsilon + nu ^ 2 / 2)
    <= delta + INR (length l) * (tail K / kappa).
Proof.
  intros r K Hr HK; set (s := sqrt (r ^ 2 - nu ^ 2)); assert (Hpos : 0 < s) by (apply sqrt_lt_R0; nra).
  set (y := epsilon - nu ^ 2 / 2).
  destruct (private s y K Hpos HK) as (lower & upper & Hordered & Hbox & H); cbv zeta in H; fold w in H.
  assert (Hp := soft_half_space_ge sigma c c w lower upper s sigma_pos Hordered Hpos K HK l Hbox y).
  assert (Hq := soft_half_space_le sigma c c' w lower upper s sigma_pos Hordered Hpos l y).
  assert (Hdeviation := deviation_of_the_shift r Hr); fold s in Hdeviation.
  rewrite Hdeviation, no_drift, Rplus_0_r in Hp; rewrite Hdeviation, drift_of_the_shift in Hq.
  replace (y + nu ^ 2) with (epsilon + nu ^ 2 / 2) in Hq by (unfold y; field).
  apply (Rmult_le_compat_l (exp epsilon)) in Hq; [lra | left; apply exp_pos].
Qed.

Lemma soft_profile_le : forall r, nu < r -> soft_profile nu epsilon r <= 2 * kappa * delta.
Proof.
  intros r Hr; apply le_epsilon; intros eta Heta; assert (Hk := kappa_pos).
  destruct (large_box (INR (length l)) eta (pos_INR _) Heta) as [K [HK Hloss]].
  assert (H := chances_on_a_box r K Hr (Rlt_le _ _ HK)); unfold exceedance in H.
  apply Rmult_le_compat_r with (r := 2 * kappa) in H; [| lra].
  unfold soft_profile; set (a := tail ((epsilon - _) / r)) in *; set (b := tail ((epsilon + _) / r)) in *.
  replace ((a / (2 * kappa) - exp epsilon * (b / (2 * kappa))) * (2 * kappa))
    with (a - exp epsilon * b) in H by (field; lra); lra.
Qed.
End Test.

Lemma soft_private_needs_profile : forall (A : Type) (l : list A) (sigma c c' : A -> R) nu epsilon delta,
  (forall a, 0 < sigma a) -> 0 < nu -> sum_over l (fun a => ((c a - c' a) / sigma a) ^ 2) = nu ^ 2 ->
  soft_private epsilon delta l sigma c c' -> profile nu epsilon <= 2 * kappa * delta.
Proof.
  intros A l sigma c c' nu epsilon delta Hs Hnu Hsum H; rewrite profile_is_soft by exact Hnu.
  apply bound_from_the_right; [apply soft_profile_continuous, Hnu |].
  exact (soft_profile_le l sigma c c' nu epsilon delta Hs Hnu Hsum H).
Qed.

Lemma tests_are_soft : forall (A : Type) (l : list A) (sigma c c' : A -> R) epsilon delta,
  (forall a, 0 < sigma a) ->
  indistinguishable epsilon delta l (fun a t => gaussian_density (sigma a) (t - c a))
    (fun a t => gaussian_density (sigma a) (t - c' a)) -> soft_private epsilon delta l sigma c c'.
Proof.
  intros A l sigma c c' epsilon delta Hs H s y K Hpos HK.
  set (lower := fun a => c a - K * sigma a); set (upper := fun a => c a + K * sigma a).
  set (w := fun a => - ((c a - c' a) / sigma a)); exists lower, upper.
  assert (Hordered : forall a, lower a <= upper a).
  { intros a; unfold lower, upper; specialize (Hs a); nra. }
  split; [exact Hordered | split; [intros a _; split; apply Rle_refl |]].
  exact (H lower upper (soft_half_space sigma c w s l y) Hordered (soft_half_space_bounds sigma c w s l y)
    (proj1 (soft_half_space_integrable sigma c c w lower upper s Hs Hordered Hpos l) y)
    (proj1 (soft_half_space_integrable sigma c c' w lower upper s Hs Hordered Hpos l) y)).
Qed.

(** Any delta for which the Gaussian densities are indistinguishable is at least the profile. *)
Theorem gaussian_profile_necessary : forall (A : Type) (l : list A) (sigma c c' : A -> R) nu epsilon delta,
  (forall a, 0 < sigma a) -> 0 < nu -> sum_over l (fun a => ((c a - c' a) / sigma a) ^ 2) = nu ^ 2 ->
  indistinguishable epsilon delta l (fun a t => gaussian_density (sigma a) (t - c a))
    (fun a t => gaussian_density (sigma a) (t - c' a)) ->
  profile nu epsilon <= 2 * kappa * delta.
Proof.
  intros A l sigma c c' nu epsilon delta Hs Hnu Hsum H.
  apply (soft_private_needs_profile A l sigma c c' nu epsilon delta Hs Hnu Hsum), tests_are_soft; assumption.
Qed.

(** The standard normal's distribution function. *)
Definition normal_cdf (x : R) : R := 1 / 2 + RInt (fun t => exp (- (t ^ 2 / 2))) 0 x / sqrt (2 * PI).

Lemma normal_cdf_tail : forall x, normal_cdf x = tail (- x) / (2 * kappa).
Proof.
  intros x; assert (Hk := kappa_pos); unfold normal_cdf; rewrite two_kappa, tail_opp; unfold tail.
  change (RInt (fun t => exp (- (t ^ 2 / 2))) 0 x) with (bell_integral x); field; lra.
Qed.

(** The smallest delta for which shifts of total nu are (epsilon, delta)-indistinguishable. *)
Definition gaussian_delta (nu epsilon : R) : R :=
  normal_cdf (nu / 2 - epsilon / nu) - exp epsilon * normal_cdf (- (nu / 2) - epsilon / nu).

Lemma gaussian_delta_profile : forall nu epsilon,
  gaussian_delta nu epsilon = profile nu epsilon / (2 * kappa).
Proof.
  intros nu epsilon; unfold gaussian_delta, profile; rewrite !normal_cdf_tail; assert (Hk := kappa_pos).
  replace (- (nu / 2 - epsilon / nu)) with (epsilon / nu - nu / 2) by ring.
  replace (- (- (nu / 2) - epsilon / nu)) with (epsilon / nu + nu / 2) by ring; field; lra.
Qed.

(** The exact profile, in every dimension. *)
Theorem gaussian_profile_iff : forall (A : Type) (l : list A) (sigma c c' : A -> R) nu epsilon delta,
  (forall a, 0 < sigma a) -> 0 < nu -> sum_over l (fun a => ((c a - c' a) / sigma a) ^ 2) = nu ^ 2 ->
  indistinguishable epsilon delta l (fun a t => gaussian_density (sigma a) (t - c a))
    (fun a t => gaussian_density (sigma a) (t - c' a)) <-> gaussian_delta nu epsilon <= delta.
Proof.
  intros A l sigma c c' nu epsilon delta Hs Hnu Hsum.
  assert (Hk := kappa_pos); rewrite gaussian_delta_profile; split.
  - intros H; assert (Hle := gaussian_profile_necessary A l sigma c c' nu epsilon delta Hs Hnu Hsum H).
    apply Rmult_le_reg_l with (2 * kappa); [lra |].
    replace (2 * kappa * (profile nu epsilon / (2 * kappa))) with (profile nu epsilon) by (field; lra).
    exact Hle.
  - intros Hdelta; apply indistinguishable_weaker with (profile nu epsilon / (2 * kappa)); [exact Hdelta |].
    apply gaussian_indistinguishable; [exact Hs | exact Hnu | rewrite Hsum; apply Rle_refl].
Qed.

(** One coordinate: an interval, so an event, comes as near as wanted. *)
Theorem gaussian_profile_interval : forall sigma c c' epsilon eta, 0 < sigma -> c' < c -> 0 < eta ->
  exists lo hi, lo <= hi /\
    gaussian_delta ((c - c') / sigma) epsilon - eta <=
    RInt (fun t => gaussian_density sigma (t - c)) lo hi
      - exp epsilon * RInt (fun t => gaussian_density sigma (t - c')) lo hi.
Proof.
  intros sigma c c' epsilon eta Hs Hc Heta; assert (Hk := kappa_pos); assert (He := exp_pos epsilon).
  set (nu := (c - c') / sigma); assert (Hnu : 0 < nu) by (apply Rdiv_lt_0_compat; lra).
  destruct (bell_vanishes eta Heta) as [M [HM Hbell]].
  set (a := epsilon / nu - nu / 2); set (K := Rmax a M).
  assert (Ha : a <= K) by apply Rmax_l; assert (HMK : M <= K) by apply Rmax_r.
  exists (c + sigma * a), (c + sigma * K); split; [nra |].
  rewrite gaussian_interval by exact Hs.
  replace (c + sigma * a) with (c' + sigma * (a + nu)) by (unfold nu; field; lra).
  replace (c + sigma * K) with (c' + sigma * (K + nu)) by (unfold nu; field; lra).
  rewrite gaussian_interval, gaussian_delta_profile by exact Hs; unfold profile.
  replace (epsilon / nu + nu / 2) with (a + nu) by (unfold a; field; lra); fold a.
  assert (HT : tail K <= kappa * eta).
  { eapply Rle_trans; [apply tail_le_bell; lra |].
    apply Rmult_le_compat_l; [lra |]; apply Hbell; rewrite Rabs_right; lra. }
  generalize (proj1 (tail_bounds (K + nu))); intros HT'.
  apply Rmult_le_reg_r with (2 * kappa); [lra |].
  replace (((tail a - exp epsilon * tail (a + nu)) / (2 * kappa) - eta) * (2 * kappa))
    with (tail a - exp epsilon * tail (a + nu) - 2 * (kappa * eta)) by (field; lra).
  replace (((tail a - tail K) / (2 * kappa)
      - exp epsilon * ((tail (a + nu) - tail (K + nu)) / (2 * kappa))) * (2 * kappa))
    with (tail a - exp epsilon * tail (a + nu) - tail K + exp epsilon * tail (K + nu)) by (field; lra).
  assert (0 <= exp epsilon * tail (K + nu)) by (apply Rmult_le_pos; lra).
  assert (0 < kappa * eta) by (apply Rmult_lt_0_compat; assumption); lra.
Qed.

(** ** Theorem 5 with any two scales: the exact accounting *)

Lemma gaussian_delta_continuous : forall epsilon nu, 0 < nu ->
  continuity_pt (fun x => gaussian_delta x epsilon) nu.
Proof.
  intros epsilon nu Hnu; assert (Hk := kappa_pos).
  apply (continuity_pt_ext (fun x => / (2 * kappa) * profile x epsilon)).
  - intros x; rewrite gaussian_delta_profile; apply Rmult_comm.
  - apply (continuity_pt_scal (fun x => profile x epsilon)), profile_continuous, Hnu.
Qed.

(** Where nu^2 is the supremum of squared shifts, attained or not, and delta is enough for all, it is enough
    for nu. *)
Lemma profile_of_supremum : forall (shift : R -> Prop) nu epsilon delta, 0 < nu -> is_lub shift (nu ^ 2) ->
  (forall v, shift v -> 0 < v -> gaussian_delta (sqrt v) epsilon <= delta) ->
  gaussian_delta nu epsilon <= delta.
Proof.
  intros shift nu epsilon delta Hnu [Hupper Hleast] H.
  destruct (Rle_or_lt (gaussian_delta nu epsilon) delta) as [Hle | Hlt]; [exact Hle | exfalso].
  (* shifts close to nu exceed delta as well, so there is none *)
  destruct (gaussian_delta_continuous epsilon nu Hnu (gaussian_delta nu epsilon - delta) ltac:(lra))
    as [alp [Halp Hnear]].
  set (below := Rmax (nu / 2) (nu - alp / 2)).
  assert (Hbelow : nu / 2 <= below /\ nu - alp / 2 <= below /\ below < nu).
  { unfold below; repeat split; [apply Rmax_l | apply Rmax_r | apply Rmax_lub_lt; lra]. }
  assert (Hle : nu ^ 2 <= below ^ 2); [| nra].
  apply Hleast; intros v Hv.
  destruct (Rle_or_lt v (below ^ 2)) as [Hsmall | Hlarge]; [exact Hsmall | exfalso].
  assert (Hv2 : v <= nu ^ 2) by (apply Hupper, Hv); assert (Hv0 : 0 < v) by nra.
  assert (Hroot : sqrt v ^ 2 = v) by (apply pow2_sqrt; lra).
  assert (Hpos : 0 < sqrt v) by (apply sqrt_lt_R0; exact Hv0).
  assert (Hbetween : below < sqrt v <= nu) by (split; nra).
  assert (Hdelta := H v Hv Hv0).
  destruct (Req_dec (sqrt v) nu) as [E | Hne]; [rewrite E in Hdelta; lra |].
  assert (Hd : R_dist (gaussian_delta (sqrt v) epsilon) (gaussian_delta nu epsilon)
    < gaussian_delta nu epsilon - delta).
  { apply Hnear; split; [split; [exact I | intros E; apply Hne; symmetry; exact E] |].
    simpl; unfold R_dist; rewrite Rabs_left1; lra. }
  unfold R_dist in Hd; apply Rabs_def2 in Hd; lra.
Qed.

(** nu^2 is the supremum of the weighted change; it need not be attained. *)
Theorem two_scale_gaussian_iff : forall r n d s domain sigma_s sigma_n nu epsilon delta,
  0 < sigma_s -> 0 < sigma_n -> 0 < nu ->
  is_lub (fun v => exists D D', neighbours n domain D D' /\
    v = l2_change_squared r d (contains s) D D' / sigma_s ^ 2 +
        l2_change_squared r d (contains_not s) D D' / sigma_n ^ 2) (nu ^ 2) ->
  differentially_private epsilon delta n d domain gaussian_density (two_scales s sigma_s sigma_n) r
  <-> gaussian_delta nu epsilon <= delta.
Proof.
  intros r n d s domain ss sn nu epsilon delta Hs Hn Hnu Hlub.
  assert (Hscales := two_scales_pos s ss sn Hs Hn).
  assert (Hsum := fun E E' => shift_of_two_scales r d s ss sn E E' Hs Hn).
  split.
  - intros H; apply (profile_of_supremum _ nu epsilon delta Hnu Hlub).
    intros v (D & D' & HDD' & Hv) Hv0.
    refine (proj1 (gaussian_profile_iff monomial (Phi (basis r) d) (two_scales s ss sn) (coefficient r D)
      (coefficient r D') (sqrt v) epsilon delta Hscales (sqrt_lt_R0 v Hv0) _) (H D D' HDD')).
    rewrite Hsum, pow2_sqrt by lra; symmetry; exact Hv.
  - destruct Hlub as [Hupper _]; intros Hdelta E E' HEE'.
    apply indistinguishable_weaker with (profile nu epsilon / (2 * kappa)).
    + rewrite <- gaussian_delta_profile; exact Hdelta.
    + apply gaussian_indistinguishable; [exact Hscales | exact Hnu |].
      rewrite Hsum; apply Hupper; exists E, E'; split; [exact HEE' | reflexivity].
Qed.
