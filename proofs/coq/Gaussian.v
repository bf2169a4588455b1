(** * Gaussian noise with one scale per coordinate

    The profile of one shift bounds every test, and the squares of the shifts add up. The proof goes by
    induction: one more coordinate turns the profile of nu' into that of sqrt (nu'^2 + shift^2). It needs no
    rotation of the space. *)

From Coq Require Import Reals List Lra.
From Coquelicot Require Import Coquelicot.
From CFM Require Import Definitions Sums Analysis Normal Expectation.
Import ListNotations.
Open Scope R_scope.

(** 2 kappa times the hockey-stick divergence of two unit Gaussians at distance nu. *)
Definition profile (nu epsilon : R) : R := tail (epsilon / nu - nu / 2)
  - exp epsilon * tail (epsilon / nu + nu / 2).

Lemma profile_nonneg : forall nu epsilon, 0 < nu -> 0 <= profile nu epsilon.
Proof.
  intros nu epsilon Hnu; unfold profile; set (a := epsilon / nu - nu / 2).
  replace (epsilon / nu + nu / 2) with (a + nu) by (unfold a; field; lra).
  assert (He := exp_pos epsilon); assert (Hk := kappa_pos).
  apply le_epsilon; intros eta Heta; rewrite <- (Rplus_0_l 0).
  assert (Hxi : 0 < eta / (exp epsilon * kappa)) by (apply Rdiv_lt_0_compat; nra).
  destruct (bell_vanishes _ Hxi) as [M [HM Hbell]].
  set (m := Rmax a M).
  assert (Ha : a <= m) by apply Rmax_l; assert (HMm : M <= m) by apply Rmax_r.
  assert (Hmono : exp epsilon * tail (a + nu) - tail a <= exp epsilon * tail (m + nu) - tail m).
  { apply (derivative_nonneg_le (fun u => exp epsilon * tail (u + nu) - tail u)
      (fun u => exp epsilon * - bell (u + nu) - - bell u)); [exact Ha | |].
    - intros t _; apply derive_minus; [| apply tail_derivative]; apply derive_scal.
      apply derive_value with (1 * - bell (t + nu)); [| ring].
      apply (derive_comp tail (fun v => v + nu));
        [apply tail_derivative | auto_derive; [trivial | real_ring]].
    - intros t [Ht _]; assert (exp epsilon * bell (t + nu) <= bell t); [| lra].
      unfold bell; rewrite <- exp_plus; apply exp_le.
      assert (epsilon = (a + nu / 2) * nu) by (unfold a; field; lra).
      nra. }
  assert (Htail : tail (m + nu) <= kappa * (eta / (exp epsilon * kappa))).
  { eapply Rle_trans; [apply tail_le_bell; lra |]; apply Rmult_le_compat_l; [lra |].
    apply Hbell; rewrite Rabs_right; lra. }
  assert (exp epsilon * tail (m + nu) <= eta).
  { apply Rle_trans with (exp epsilon * (kappa * (eta / (exp epsilon * kappa))));
      [apply Rmult_le_compat_l; lra |].
    right; field; lra. }
  generalize (tail_bounds m); lra.
Qed.

Lemma profile_symmetry : forall nu epsilon, 0 < nu ->
  profile nu epsilon = 2 * kappa * (1 - exp epsilon) + exp epsilon * profile nu (- epsilon).
Proof.
  intros nu epsilon Hnu; unfold profile.
  replace (- epsilon / nu - nu / 2) with (- (epsilon / nu + nu / 2)) by (field; lra).
  replace (- epsilon / nu + nu / 2) with (- (epsilon / nu - nu / 2)) by (field; lra).
  rewrite !tail_opp.
  assert (H : exp epsilon * exp (- epsilon) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  replace (exp epsilon * (2 * kappa - tail (epsilon / nu + nu / 2)
    - exp (- epsilon) * (2 * kappa - tail (epsilon / nu - nu / 2))))
    with (exp epsilon * (2 * kappa - tail (epsilon / nu + nu / 2))
      - (exp epsilon * exp (- epsilon)) * (2 * kappa - tail (epsilon / nu - nu / 2))) by ring.
  rewrite H; ring.
Qed.

Lemma profile_lower : forall nu epsilon, 0 < nu -> 2 * kappa * (1 - exp epsilon) <= profile nu epsilon.
Proof.
  intros nu epsilon Hnu; rewrite (profile_symmetry nu epsilon Hnu).
  generalize (profile_nonneg nu (- epsilon) Hnu) (exp_pos epsilon); intros; nra.
Qed.

(** ** One coordinate *)

Lemma RInt_enlarge : forall (f : R -> R) lo hi lo' hi',
  (forall t, continuous f t) -> (forall t, 0 <= f t) -> lo' <= lo -> lo <= hi -> hi <= hi' ->
  RInt f lo hi <= RInt f lo' hi'.
Proof.
  intros f lo hi lo' hi' Hc Hf H1 H2 H3.
  assert (E1 := RInt_split f lo' lo hi' Hc); assert (E2 := RInt_split f lo hi hi' Hc).
  assert (P1 : 0 <= RInt f lo' lo) by (apply RInt_ge_0;
    [exact H1 | apply ex_RInt_cont, Hc | intros; apply Hf]).
  assert (P2 : 0 <= RInt f hi hi') by (apply RInt_ge_0;
    [exact H3 | apply ex_RInt_cont, Hc | intros; apply Hf]).
  lra.
Qed.

Lemma affine_continuous : forall a b t, continuous (fun u => a + b * u) t.
Proof. intros a b t; apply derive_continuous with b; auto_derive; [trivial | real_ring]. Qed.

Lemma tail_affine_continuous : forall a b t, continuous (fun u => tail (a + b * u)) t.
Proof. intros a b t; apply (continuous_comp (fun u => a + b * u) tail);
  [apply affine_continuous | apply tail_continuous]. Qed.

Lemma bell_tail_continuous : forall a b t, continuous (fun u => bell u * tail (a + b * u)) t.
Proof.
  intros a b t; apply (continuous_mult bell (fun u => tail (a + b * u)));
    [apply bell_continuous | apply tail_affine_continuous].
Qed.

Section OneCoordinate.

Variables nu' s epsilon : R.
Hypothesis nu'_pos : 0 < nu'.
Let nu := sqrt (nu' ^ 2 + s ^ 2).
Let b := - s / nu'.
Let a0 := (epsilon - s ^ 2 / 2) / nu' - nu' / 2.
Let a1 := (epsilon - s ^ 2 / 2) / nu' + nu' / 2.

Definition step_integrand (u : R) : R := bell u * profile nu' (epsilon - (s * u + s ^ 2 / 2)).

Lemma nu_square : nu ^ 2 = nu' ^ 2 + s ^ 2.
Proof. apply pow2_sqrt; generalize (pow2_ge_0 nu') (pow2_ge_0 s); lra. Qed.

Lemma nu_pos : 0 < nu.
Proof. apply sqrt_lt_R0; generalize (pow2_ge_0 s); nra. Qed.

Lemma slope_ratio : sqrt (1 + b ^ 2) = nu / nu'.
Proof.
  replace (1 + b ^ 2) with ((nu / nu') ^ 2).
  - apply sqrt_pow2; apply Rlt_le, Rdiv_lt_0_compat; [apply nu_pos | exact nu'_pos].
  - unfold Rdiv; rewrite Rpow_mult_distr, nu_square; unfold b; field; lra.
Qed.

Lemma step_integrand_split : forall u,
  step_integrand u = bell u * tail (a0 + b * u) - exp epsilon * (bell (u + s) * tail (a1 + b * u)).
Proof.
  intros u; unfold step_integrand, profile.
  replace ((epsilon - (s * u + s ^ 2 / 2)) / nu' - nu' / 2) with (a0 + b * u) by (unfold a0, b; field; lra).
  replace ((epsilon - (s * u + s ^ 2 / 2)) / nu' + nu' / 2) with (a1 + b * u) by (unfold a1, b; field; lra).
  assert (H : bell u * exp (epsilon - (s * u + s ^ 2 / 2)) = exp epsilon * bell (u + s)).
  { unfold bell; rewrite <- !exp_plus; f_equal; field. }
  rewrite Rmult_minus_distr_l, <- Rmult_assoc, H; ring.
Qed.

Lemma shifted_continuous : forall t, continuous (fun u => bell (u + s) * tail (a1 + b * u)) t.
Proof.
  intros t; apply (continuous_mult (fun u => bell (u + s)) (fun u => tail (a1 + b * u)));
    [| apply tail_affine_continuous].
  apply (continuous_comp (fun u => u + s) bell); [| apply bell_continuous].
  apply derive_continuous with 1; auto_derive; [trivial | real_ring].
Qed.

Lemma step_integrand_continuous : forall t, continuous step_integrand t.
Proof.
  intros t; apply (continuous_ext (fun u => bell u * tail (a0 + b * u)
    - exp epsilon * (bell (u + s) * tail (a1 + b * u)))).
  - intros u; symmetry; apply step_integrand_split.
  - apply (continuous_minus (fun u => bell u * tail (a0 + b * u))
      (fun u => exp epsilon * (bell (u + s) * tail (a1 + b * u)))).
    + apply bell_tail_continuous.
    + apply (continuous_mult (fun _ => exp epsilon) (fun u => bell (u + s) * tail (a1 + b * u)));
        [apply continuous_const | apply shifted_continuous].
Qed.

Lemma step_integrand_nonneg : forall u, 0 <= step_integrand u.
Proof. intros u; apply Rmult_le_pos; [apply Rlt_le, bell_pos | apply profile_nonneg, nu'_pos]. Qed.

Lemma blend_of_first : forall lo hi,
  RInt (fun u => bell u * tail (a0 + b * u)) lo hi = blend (epsilon / nu - nu / 2) lo hi b.
Proof.
  intros lo hi; unfold blend; apply RInt_same; intros t; do 2 f_equal; rewrite slope_ratio.
  assert (H := nu_pos); assert (H2 := nu_square).
  replace ((epsilon / nu - nu / 2) * (nu / nu')) with ((epsilon - nu ^ 2 / 2) / nu') by (field; lra).
  rewrite H2; unfold a0; field; lra.
Qed.

Lemma blend_of_second : forall lo hi,
  RInt (fun u => bell (u + s) * tail (a1 + b * u)) lo hi = blend (epsilon / nu + nu / 2) (lo + s) (hi + s) b.
Proof.
  intros lo hi; unfold blend.
  set (f := fun v => bell v * tail ((epsilon / nu + nu / 2) * sqrt (1 + b ^ 2) + b * v)).
  assert (Hf : forall t, continuous f t) by (intros t; apply bell_tail_continuous).
  assert (Hcomp := RInt_comp_lin f 1 s lo hi (ex_RInt_cont f _ _ Hf)).
  rewrite !Rmult_1_l in Hcomp; rewrite <- Hcomp.
  apply RInt_same; intros t; change (scal 1 (f (1 * t + s))) with (1 * f (1 * t + s)); rewrite !Rmult_1_l.
  unfold f; do 2 f_equal; rewrite slope_ratio.
  assert (H := nu_pos); assert (H2 := nu_square).
  replace ((epsilon / nu + nu / 2) * (nu / nu')) with ((epsilon + nu ^ 2 / 2) / nu') by (field; lra).
  rewrite H2; unfold a1, b; field; lra.
Qed.

Lemma step_integral_le : forall lo hi, lo <= hi -> RInt step_integrand lo hi
  <= 2 * kappa * profile nu epsilon.
Proof.
  intros lo hi Hlohi; apply le_epsilon; intros eta Heta.
  assert (He := exp_pos epsilon).
  assert (H1 : 0 < eta / 2) by lra.
  assert (H2 : 0 < eta / 2 / exp epsilon) by (apply Rdiv_lt_0_compat; lra).
  destruct (blend_limit (epsilon / nu - nu / 2) b _ H1) as [M0 [HM0 L0]].
  destruct (blend_limit (epsilon / nu + nu / 2) b _ H2) as [M1 [HM1 L1]].
  set (lo' := Rmin lo (Rmin (- M0) (- M1 - s))); set (hi' := Rmax hi (Rmax M0 (M1 - s))).
  assert (Hl : lo' <= lo /\ lo' <= - M0 /\ lo' + s <= - M1).
  { unfold lo'; generalize (Rmin_l lo (Rmin (- M0) (- M1 - s))) (Rmin_r lo (Rmin (- M0) (- M1 - s)))
      (Rmin_l (- M0) (- M1 - s)) (Rmin_r (- M0) (- M1 - s)); lra. }
  assert (Hh : hi <= hi' /\ M0 <= hi' /\ M1 <= hi' + s).
  { unfold hi'; generalize (Rmax_l hi (Rmax M0 (M1 - s))) (Rmax_r hi (Rmax M0 (M1 - s)))
      (Rmax_l M0 (M1 - s)) (Rmax_r M0 (M1 - s)); lra. }
  apply Rle_trans with (RInt step_integrand lo' hi').
  { apply RInt_enlarge; [apply step_integrand_continuous | apply step_integrand_nonneg | | exact Hlohi |];
      lra. }
  rewrite (RInt_same _ _ lo' hi' step_integrand_split).
  rewrite (RInt_sub (fun u => bell u * tail (a0 + b * u))
    (fun u => exp epsilon * (bell (u + s) * tail (a1 + b * u)))).
  - rewrite (RInt_mult_const (fun u => bell (u + s) * tail (a1 + b * u))) by apply ex_RInt_cont,
      shifted_continuous.
    rewrite blend_of_first, blend_of_second.
    specialize (L0 lo' hi' ltac:(lra) ltac:(lra)); specialize (L1 (lo' + s) (hi' + s) ltac:(lra) ltac:(lra)).
    apply Rabs_le_between in L0; apply Rabs_le_between in L1; unfold profile.
    set (B0 := blend (epsilon / nu - nu / 2) lo' hi' b) in *;
      set (B1 := blend (epsilon / nu + nu / 2) (lo' + s) (hi' + s) b) in *.
    assert (E : exp epsilon * (2 * kappa * tail (epsilon / nu + nu / 2) - B1) <= eta / 2).
    { apply Rle_trans with (exp epsilon * (eta / 2 / exp epsilon));
        [apply Rmult_le_compat_l; lra | right; field; lra]. }
    lra.
  - apply ex_RInt_cont, bell_tail_continuous.
  - apply ex_RInt_mult_const, ex_RInt_cont, shifted_continuous.
Qed.

End OneCoordinate.

(** ** All coordinates *)

Section AllCoordinates.

Context {A : Type}.
Variable sigma c c' : A -> R.
Hypothesis sigma_pos : forall a, 0 < sigma a.

Let p a t := gaussian_density (sigma a) (t - c a).
Let q a t := gaussian_density (sigma a) (t - c' a).
Let shift a := (c a - c' a) / sigma a.

Lemma density_bell : forall a t, p a t = bell ((t - c a) / sigma a) / (sigma a * (2 * kappa)).
Proof. intros a t; unfold p, gaussian_density; rewrite two_kappa; reflexivity. Qed.

Lemma density_bell' : forall a t, q a t = bell ((t - c a) / sigma a + shift a) / (sigma a * (2 * kappa)).
Proof.
  intros a t; unfold q, gaussian_density; rewrite two_kappa; unfold shift; fold (bell ((t - c' a) / sigma a)).
  do 2 f_equal; specialize (sigma_pos a); field; lra.
Qed.

Lemma p_nonneg : forall a t, 0 < p a t.
Proof.
  intros a t; rewrite density_bell; apply Rdiv_lt_0_compat; [apply bell_pos |].
  generalize (sigma_pos a) kappa_pos; intros; nra.
Qed.

Lemma density_ratio : forall a t epsilon,
  p a t * exp (epsilon - (shift a * ((t - c a) / sigma a) + shift a ^ 2 / 2)) = exp epsilon * q a t.
Proof.
  intros a t epsilon; rewrite density_bell, density_bell'; set (u := (t - c a) / sigma a).
  assert (H : bell u * exp (epsilon - (shift a * u + shift a ^ 2 / 2)) = exp epsilon * bell (u + shift a)).
  { unfold bell; rewrite <- !exp_plus; f_equal; field. }
  set (E := exp (epsilon - (shift a * u + shift a ^ 2 / 2))) in *; set (w := sigma a * (2 * kappa)).
  transitivity (bell u * E / w); [unfold Rdiv; ring | rewrite H; unfold Rdiv; ring].
Qed.

Lemma step_change_of_variable : forall a nu' epsilon lo hi, 0 < nu' ->
  RInt (fun t => p a t * (profile nu' (epsilon - (shift a * ((t - c a) / sigma a) + shift a ^ 2 / 2))
    / (2 * kappa))) lo hi =
  RInt (step_integrand nu' (shift a) epsilon) ((lo - c a) / sigma a) ((hi - c a) / sigma a) / (2 * kappa) ^ 2.
Proof.
  intros a nu' epsilon lo hi Hnu.
  assert (Hs := sigma_pos a); assert (Hk := kappa_pos).
  set (f := step_integrand nu' (shift a) epsilon).
  assert (Hf : forall t, continuous f t) by (intros t; apply step_integrand_continuous, Hnu).
  assert (Hcomp := RInt_comp_lin f (/ sigma a) (- c a / sigma a) lo hi (ex_RInt_cont f _ _ Hf)).
  replace (/ sigma a * lo + - c a / sigma a) with ((lo - c a) / sigma a) in Hcomp by (field; lra).
  replace (/ sigma a * hi + - c a / sigma a) with ((hi - c a) / sigma a) in Hcomp by (field; lra).
  rewrite <- Hcomp.
  match goal with |- _ = ?I / _ => transitivity (/ (2 * kappa) ^ 2 * I) end; [| apply Rmult_comm].
  rewrite <- RInt_mult_const.
  - apply RInt_same; intros t.
    change (scal (/ sigma a) (f (/ sigma a * t + - c a / sigma a)))
      with (/ sigma a * f (/ sigma a * t + - c a / sigma a)).
    replace (/ sigma a * t + - c a / sigma a) with ((t - c a) / sigma a) by (field; lra).
    rewrite density_bell; unfold f, step_integrand; field; lra.
  - apply ex_RInt_cont; intros t.
    apply (continuous_mult (fun _ => / sigma a) (fun t => f (/ sigma a * t + - c a / sigma a)));
      [apply continuous_const |].
    apply (continuous_comp (fun t => / sigma a * t + - c a / sigma a) f); [| apply Hf].
    apply derive_continuous with (/ sigma a); auto_derive; [trivial | real_ring].
Qed.

Lemma step_ex_RInt : forall a nu' epsilon lo hi, 0 < nu' ->
  ex_RInt (fun t => p a t * (profile nu' (epsilon - (shift a * ((t - c a) / sigma a) + shift a ^ 2 / 2))
    / (2 * kappa))) lo hi.
Proof.
  intros a nu' epsilon lo hi Hnu; apply ex_RInt_cont; intros t.
  assert (Hs := sigma_pos a); assert (Hk := kappa_pos).
  apply (continuous_ext (fun t => / (sigma a * (2 * kappa) * (2 * kappa)) * step_integrand nu' (shift a)
    epsilon ((t - c a) / sigma a))).
  - intros u; rewrite density_bell; unfold step_integrand.
    match goal with |- @eq _ ?x ?y => change (@eq R x y) end; field; lra.
  - apply (continuous_mult (fun _ => / (sigma a * (2 * kappa) * (2 * kappa)))
      (fun t => step_integrand nu' (shift a) epsilon ((t - c a) / sigma a))); [apply continuous_const |].
    apply (continuous_comp (fun t => (t - c a) / sigma a) (step_integrand nu' (shift a) epsilon));
      [| apply step_integrand_continuous, Hnu].
    apply derive_continuous with (/ sigma a); auto_derive; [trivial | real_ring].
Qed.

Definition total_shift (nu0 : R) (l : list A) : R := sqrt (nu0 ^ 2 + sum_over l (fun a => shift a ^ 2)).

Lemma total_shift_pos : forall nu0 l, 0 < nu0 -> 0 < total_shift nu0 l.
Proof.
  intros nu0 l H; apply sqrt_lt_R0.
  assert (0 <= sum_over l (fun a => shift a ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0); nra.
Qed.

Lemma total_shift_cons : forall nu0 a l,
  sqrt (total_shift nu0 l ^ 2 + shift a ^ 2) = total_shift nu0 (a :: l).
Proof.
  intros nu0 a l; unfold total_shift.
  assert (0 <= sum_over l (fun b => shift b ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0).
  rewrite pow2_sqrt by (generalize (pow2_ge_0 nu0); lra); rewrite sum_cons; f_equal; ring.
Qed.

Lemma gaussian_induction : forall lower upper nu0, (forall a, lower a <= upper a) -> 0 < nu0 ->
  forall l epsilon test, (forall ts, 0 <= test ts <= 1) ->
  integrable l p lower upper test -> integrable l q lower upper test ->
  expectation l p lower upper test <=
  exp epsilon * expectation l q lower upper test + profile (total_shift nu0 l) epsilon / (2 * kappa).
Proof.
  intros lower upper nu0 Hord Hnu0; induction l as [| a l IH]; intros epsilon test Ht Hip Hiq.
  - assert (Hk := kappa_pos); assert (Hs := total_shift_pos nu0 [] Hnu0); cbn [expectation].
    generalize (profile_lower (total_shift nu0 []) epsilon Hs)
      (profile_nonneg (total_shift nu0 []) epsilon Hs) (Ht []) ; intros H1 H2 H3.
    set (P := profile (total_shift nu0 []) epsilon) in *.
    assert (E : P = 2 * kappa * (P / (2 * kappa))) by (field; lra).
    assert (1 - exp epsilon <= P / (2 * kappa)).
    { apply Rmult_le_reg_l with (2 * kappa); [lra |]; rewrite <- E; exact H1. }
    assert (0 <= P / (2 * kappa)) by (apply Rmult_le_pos; [exact H2 | apply Rlt_le, Rinv_0_lt_compat; lra]).
    nra.
  - destruct Hip as [Hip Hexp], Hiq as [Hiq Hexq].
    set (nu' := total_shift nu0 l); assert (Hnu' : 0 < nu') by (apply total_shift_pos; exact Hnu0).
    set (loss := fun t => shift a * ((t - c a) / sigma a) + shift a ^ 2 / 2).
    rewrite !expectation_cons.
    set (Ep := fun t => expectation l p lower upper (fun ts => test (t :: ts))) in *.
    set (Eq := fun t => expectation l q lower upper (fun ts => test (t :: ts))) in *.
    set (P := fun t => profile nu' (epsilon - loss t) / (2 * kappa)).
    assert (HexP : ex_RInt (fun t => p a t * P t) (lower a) (upper a))
      by exact (step_ex_RInt a nu' epsilon (lower a) (upper a) Hnu').
    assert (HexE : ex_RInt (fun t => exp epsilon * (q a t * Eq t)) (lower a) (upper a))
      by (apply ex_RInt_mult_const; exact Hexq).
    apply Rle_trans with (RInt (fun t => exp epsilon * (q a t * Eq t) + p a t * P t) (lower a) (upper a)).
    + apply RInt_le; [apply Hord | exact Hexp | apply ex_RInt_add; assumption |].
      intros t Hlt; assert (Hin : lower a <= t <= upper a) by lra.
      assert (H := IH (epsilon - loss t) (fun ts => test (t :: ts)) (fun ts => Ht (t :: ts)) (Hip t Hin)
        (Hiq t Hin)).
      fold (Ep t) (Eq t) nu' in H; fold (P t) in H.
      apply Rle_trans with (p a t * (exp (epsilon - loss t) * Eq t + P t)).
      * apply Rmult_le_compat_l; [apply Rlt_le, p_nonneg | exact H].
      * right; rewrite <- Rmult_assoc, <- (density_ratio a t epsilon); fold (loss t); ring.
    + rewrite RInt_add, RInt_mult_const by assumption.
      apply Rplus_le_compat_l; unfold P, loss; rewrite step_change_of_variable by exact Hnu'.
      rewrite <- total_shift_cons; fold nu'.
      assert (Hk := kappa_pos); assert (Hs := sigma_pos a).
      apply Rle_trans with (2 * kappa * profile (sqrt (nu' ^ 2 + shift a ^ 2)) epsilon / (2 * kappa) ^ 2).
      * apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; nra |]; apply step_integral_le;
          [exact Hnu' |].
        apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; exact Hs | specialize (Hord a); lra].
      * right; field; lra.
Qed.

Lemma profile_continuous : forall epsilon nu, 0 < nu -> continuity_pt (fun n => profile n epsilon) nu.
Proof.
  intros epsilon nu Hnu; unfold profile.
  apply derive_continuity with
    ((- epsilon / nu ^ 2 - 1 / 2) * - bell (epsilon / nu - nu / 2)
     - exp epsilon * ((- epsilon / nu ^ 2 + 1 / 2) * - bell (epsilon / nu + nu / 2))).
  apply derive_minus; [| apply derive_scal].
  - apply (derive_comp tail (fun n => epsilon / n - n / 2)); [apply tail_derivative |].
    auto_derive; [lra |]. match goal with |- @eq _ ?x ?y => change (@eq R x y) end; simpl; field; lra.
  - apply (derive_comp tail (fun n => epsilon / n + n / 2)); [apply tail_derivative |].
    auto_derive; [lra |]. match goal with |- @eq _ ?x ?y => change (@eq R x y) end; simpl; field; lra.
Qed.

(** The profile of the total shift bounds every test. *)
Theorem gaussian_indistinguishable : forall l nu epsilon, 0 < nu ->
  sum_over l (fun a => ((c a - c' a) / sigma a) ^ 2) <= nu ^ 2 ->
  indistinguishable epsilon (profile nu epsilon / (2 * kappa)) l p q.
Proof.
  intros l nu epsilon Hnu Hsum lower upper test Hord Ht Hip Hiq.
  set (X := expectation l p lower upper test - exp epsilon * expectation l q lower upper test).
  assert (Hk := kappa_pos).
  assert (HX : forall nu1, nu < nu1 -> 2 * kappa * X <= profile nu1 epsilon).
  { intros nu1 H1.
    assert (Hgap : 0 < nu1 ^ 2 - sum_over l (fun a => shift a ^ 2)) by (unfold shift; nra).
    assert (H := gaussian_induction lower upper (sqrt (nu1 ^ 2 - sum_over l (fun a => shift a ^ 2))) Hord
      (sqrt_lt_R0 _ Hgap) l epsilon test Ht Hip Hiq).
    assert (Htotal : total_shift (sqrt (nu1 ^ 2 - sum_over l (fun a => shift a ^ 2))) l = nu1).
    { unfold total_shift; rewrite pow2_sqrt by lra.
      replace (nu1 ^ 2 - sum_over l (fun a => shift a ^ 2) + sum_over l (fun a => shift a ^ 2)) with (nu1 ^ 2)
        by ring.
      apply sqrt_pow2; lra. }
    rewrite Htotal in H.
    assert (HXle : X <= profile nu1 epsilon / (2 * kappa)) by (unfold X; lra).
    replace (profile nu1 epsilon) with (2 * kappa * (profile nu1 epsilon / (2 * kappa))) by (field; lra).
    apply Rmult_le_compat_l; lra. }
  assert (Hlim : 2 * kappa * X <= profile nu epsilon).
  { apply le_epsilon; intros eta Heta.
    destruct (profile_continuous epsilon nu Hnu eta Heta) as [alp [Halp Hc]].
    specialize (Hc (nu + alp / 2)).
    assert (Hd : R_dist (profile (nu + alp / 2) epsilon) (profile nu epsilon) < eta).
    { apply Hc; split; [split; [exact I | lra] |].
      simpl; unfold R_dist; replace (nu + alp / 2 - nu) with (alp / 2) by ring; rewrite Rabs_right; lra. }
    unfold R_dist in Hd; apply Rabs_def2 in Hd; specialize (HX (nu + alp / 2) ltac:(lra)); lra. }
  assert (X <= profile nu epsilon / (2 * kappa)); [| unfold X in *; lra].
  apply Rmult_le_reg_l with (2 * kappa); [lra |].
  replace (2 * kappa * (profile nu epsilon / (2 * kappa))) with (profile nu epsilon) by (field; lra);
    exact Hlim.
Qed.

End AllCoordinates.
