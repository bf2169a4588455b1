(** * Hardened noise: discrete Gaussian noise, compared with rounded Gaussian noise

    Rounding a normal variable gives the whole number j the integral of the density over [j - 1/2, j + 1/2].
    This mass and that of the discrete Gaussian differ by a small factor, from above everywhere and from below
    on [- T s, T s]. Rounded noise has the profile of continuous noise, and few outcomes beyond T s. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal Gaussian ExtendedGaussian Adaptive Certificates
  Countable Hardened.
Import ListNotations.
Open Scope R_scope.

(** ** Definitions *)

Definition gaussian_weight (scale : R) (j : Z) : R := exp (- ((IZR j / scale) ^ 2 / 2)).

(** The sum over all whole numbers. *)
Definition gaussian_total (scale : R) : R :=
  real (Lub_Rbar (fun total => exists k, total = sum_over (up_to k) (gaussian_weight scale))).

Definition discrete_gaussian (scale : R) (j : Z) : R := gaussian_weight scale j / gaussian_total scale.

(** The mass of a rounded normal variable. *)
Definition rounded_gaussian (scale centre : R) (j : Z) : R :=
  RInt (fun t => gaussian_density scale (t - centre)) (IZR j - 1 / 2) (IZR j + 1 / 2).

Ltac real_field := match goal with |- @eq _ ?a ?b => change (@eq R a b) end; field; lra.

(** ** Rounded noise is a law *)

Lemma kappa_above : 6 / 5 <= kappa.
Proof.
  assert (H := kappa_square); assert (H0 := kappa_pos); assert (H1 := PI2_3_2).
  destruct (Rle_or_lt (6 / 5) kappa) as [Hle | Hlt]; [exact Hle | exfalso].
  assert (kappa ^ 2 < (6 / 5) ^ 2) by nra; lra.
Qed.

Section OneScale.
Variable s : R.
Hypothesis s_pos : 0 < s.

Lemma density_as_bell : forall t, gaussian_density s t = bell (t / s) / (s * (2 * kappa)).
Proof. intros t; unfold gaussian_density; rewrite two_kappa; reflexivity. Qed.

Lemma density_continuous : forall c t, continuous (fun u => gaussian_density s (u - c)) t.
Proof.
  intros c t; apply (continuous_ext (fun u => / (s * (2 * kappa)) * bell ((u - c) / s))).
  - intros u; rewrite density_as_bell; unfold Rdiv; apply Rmult_comm.
  - apply (continuous_mult (fun _ => / (s * (2 * kappa))) (fun u => bell ((u - c) / s)));
      [apply continuous_const |].
    apply (continuous_comp (fun u => (u - c) / s) bell); [| apply bell_continuous].
    apply derive_continuous with (/ s); auto_derive; [trivial | real_ring].
Qed.

Lemma integral_as_tails : forall c a b,
  RInt (fun t => gaussian_density s (t - c)) a b = (tail ((a - c) / s) - tail ((b - c) / s)) / (2 * kappa).
Proof.
  intros c a b; assert (Hk := kappa_pos).
  rewrite (RInt_derivative (fun t => - tail ((t - c) / s) / (2 * kappa)) _ a b).
  - real_field.
  - intros t; apply derive_value with (/ (2 * kappa) * - (/ s * - bell ((t - c) / s))).
    + apply (is_derive_ext (fun t => / (2 * kappa) * - tail ((t - c) / s)));
        [intros u; unfold Rdiv; apply Rmult_comm |].
      apply derive_scal, derive_opp, (derive_comp tail (fun t => (t - c) / s)); [apply tail_derivative |].
      auto_derive; [trivial | real_ring].
    + rewrite density_as_bell; field; lra.
  - intros t; apply density_continuous.
Qed.

Lemma rounded_as_tails : forall c j, rounded_gaussian s c j =
  (tail ((IZR j - 1 / 2 - c) / s) - tail ((IZR j + 1 / 2 - c) / s)) / (2 * kappa).
Proof. intros c j; apply integral_as_tails. Qed.

Lemma rounded_nonneg : forall c j, 0 <= rounded_gaussian s c j.
Proof.
  intros c j; rewrite rounded_as_tails; apply Rmult_le_pos;
    [| apply Rlt_le, Rinv_0_lt_compat; generalize kappa_pos; lra].
  assert (H : tail ((IZR j + 1 / 2 - c) / s) <= tail ((IZR j - 1 / 2 - c) / s)); [| lra].
  apply tail_decreasing, Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact s_pos | lra].
Qed.

Lemma rounded_shift : forall c j, rounded_gaussian s (IZR c) j = rounded_gaussian s 0 (j - c).
Proof.
  intros c j; rewrite !rounded_as_tails, minus_IZR; do 2 f_equal; f_equal; field; lra.
Qed.

Lemma rounded_up_to : forall k,
  sum_over (up_to k) (rounded_gaussian s 0) = 1 - tail ((INR k + 1 / 2) / s) / kappa.
Proof.
  assert (Hk := kappa_pos).
  assert (Hreflect : forall x, tail (- x / s) = 2 * kappa - tail (x / s)).
  { intros x; rewrite <- tail_opp; f_equal; field; lra. }
  induction k as [| k IH].
  - cbn [up_to]; rewrite sum_cons; cbn [sum_over fold_right INR]; rewrite rounded_as_tails.
    replace (0 - 1 / 2 - 0) with (- (0 + 1 / 2)) by ring; replace (0 + 1 / 2 - 0) with (0 + 1 / 2) by ring.
    rewrite Hreflect; field; lra.
  - cbn [up_to]; rewrite !sum_cons, IH, !rounded_as_tails, opp_IZR, <- INR_IZR_INZ, S_INR.
    replace (INR k + 1 - 1 / 2 - 0) with (INR k + 1 / 2) by field.
    replace (- (INR k + 1) - 1 / 2 - 0) with (- (INR k + 1 + 1 / 2)) by field.
    replace (- (INR k + 1) + 1 / 2 - 0) with (- (INR k + 1 / 2)) by field.
    replace (INR k + 1 + 1 / 2 - 0) with (INR k + 1 + 1 / 2) by field.
    rewrite !Hreflect; field; lra.
Qed.

Lemma tail_nearly_0 : forall eta, 0 < eta -> exists k, forall x, INR k <= x -> tail (x / s) <= eta.
Proof.
  intros eta Heta; assert (Hk := kappa_pos).
  destruct (bell_vanishes (eta / kappa) ltac:(apply Rdiv_lt_0_compat; lra)) as [M [HM Hbell]].
  destruct (archimed (M * s)) as [Hup _]; set (k := Z.to_nat (up (M * s))).
  assert (Hlarge : IZR (up (M * s)) <= INR k) by (rewrite INR_IZR_INZ; apply IZR_le; unfold k; lia).
  exists k; intros x Hx.
  assert (Hxs : M <= x / s).
  { apply Rmult_le_reg_r with s; [exact s_pos |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra. }
  eapply Rle_trans; [apply tail_le_bell; lra |].
  apply Rle_trans with (kappa * (eta / kappa)); [| right; field; lra].
  apply Rmult_le_compat_l; [lra |]; apply Hbell; rewrite Rabs_right; lra.
Qed.

Lemma rounded_law_0 : countable_law (rounded_gaussian s 0).
Proof.
  assert (Hk := kappa_pos); apply law_intro; [apply rounded_nonneg | |].
  - intros l Hl; destruct (within_up_to l) as [k Hin].
    eapply Rle_trans; [apply (sum_incl _ (up_to k)); [apply rounded_nonneg | exact Hl | exact Hin] |].
    rewrite rounded_up_to; assert (0 <= tail ((INR k + 1 / 2) / s) / kappa); [| lra].
    apply Rmult_le_pos; [apply tail_bounds | left; apply Rinv_0_lt_compat; exact Hk].
  - intros eta Heta; destruct (tail_nearly_0 (eta * kappa) ltac:(apply Rmult_lt_0_compat;
    lra)) as [k Htail].
    exists (up_to k); split; [apply up_to_once |]; rewrite rounded_up_to.
    specialize (Htail (INR k + 1 / 2) ltac:(lra)).
    assert (tail ((INR k + 1 / 2) / s) / kappa <= eta); [| lra].
    apply Rmult_le_reg_r with kappa; [exact Hk |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma rounded_law : forall c, countable_law (rounded_gaussian s (IZR c)).
Proof.
  intros c; assert (H := shifted_law _ c rounded_law_0); destruct H as [H0 H]; split;
    [apply rounded_nonneg |].
  destruct H as [Hup Hleast].
  assert (E : forall l, sum_over l (rounded_gaussian s (IZR c)) = sum_over l (fun j => rounded_gaussian s 0
    (j
    - c))) by (intros l; apply sum_ext; intros j _; apply rounded_shift).
  split.
  - intros total [l [Hl [Hin ->]]]; apply Hup; exists l; rewrite E; auto.
  - intros M HM; apply Hleast; intros total [l [Hl [Hin ->]]]; apply HM; exists l; rewrite E; auto.
Qed.

(** What lies beyond T scales, and half a step. *)
Lemma rounded_beyond : forall T l, 0 <= T -> 1 / 2 <= T * s -> NoDup l ->
  (forall j, In j l -> T * s < Rabs (IZR j)) -> sum_over l (rounded_gaussian s 0) <= bell (T - 1 / (2 * s)).
Proof.
  intros T l HT Hhalf Hl Hfar; assert (Hk := kappa_pos).
  destruct (base_Int_part (T * s)) as [H1 H2]; set (J := Z.to_nat (Int_part (T * s))).
  assert (Hpos : (0 <= Int_part (T * s))%Z).
  { apply Z.lt_succ_r, lt_IZR; rewrite succ_IZR; assert (0 <= T * s) by (apply Rmult_le_pos; lra); lra. }
  assert (HJ : INR J = IZR (Int_part (T * s))) by (unfold J; rewrite INR_IZR_INZ, Z2Nat.id by exact Hpos;
    reflexivity).
  assert (Hsum := law_sum _ (l ++ up_to J) rounded_law_0); rewrite sum_app, rounded_up_to in Hsum.
  assert (Hle : sum_over l (rounded_gaussian s 0) <= tail ((INR J + 1 / 2) / s) / kappa).
  { assert (Hnodup : NoDup (l ++ up_to J)); [| specialize (Hsum Hnodup); lra].
    apply apart_app; [exact Hl | apply up_to_once |]; intros j Hj Hin; apply in_up_to in Hin.
    specialize (Hfar j Hj); apply IZR_le in Hin; rewrite abs_IZR, <- INR_IZR_INZ, HJ in Hin; lra. }
  eapply Rle_trans; [exact Hle |].
  assert (Hx : T - 1 / (2 * s) <= (INR J + 1 / 2) / s).
  { apply Rmult_le_reg_r with s; [exact s_pos |].
    replace ((T - 1 / (2 * s)) * s) with (T * s - 1 / 2) by (field; lra).
    replace ((INR J + 1 / 2) / s * s) with (INR J + 1 / 2) by (field; lra); lra. }
  assert (H0 : 0 <= T - 1 / (2 * s)).
  { apply Rmult_le_reg_r with s; [exact s_pos |].
    replace ((T - 1 / (2 * s)) * s) with (T * s - 1 / 2) by (field; lra); lra. }
  apply Rle_trans with (kappa * bell (T - 1 / (2 * s)) / kappa); [| right; field; lra].
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact Hk |].
  eapply Rle_trans; [apply tail_decreasing, Hx | apply tail_le_bell, H0].
Qed.

(** ** The discrete Gaussian, mass by mass *)

Lemma weight_le_rounded : forall j,
  gaussian_weight s j <= exp (1 / (8 * s ^ 2)) * (s * (2 * kappa) * rounded_gaussian s 0 j).
Proof.
  intros j; assert (Hk := kappa_pos); set (w := gaussian_weight s j).
  set (K := w * exp (- (1 / (8 * s ^ 2))) / (s * (2 * kappa))).
  assert (Hint : K <= rounded_gaussian s 0 j).
  { set (F := fun t => K * (t - IZR j / s ^ 2 * ((t - IZR j) ^ 2 / 2))).
    set (f := fun t => K * (1 - IZR j / s ^ 2 * (t - IZR j))).
    assert (HF : forall t, is_derive F t (f t)) by (intros t; unfold F, f; auto_derive;
      [trivial | real_field]).
    assert (Hf : forall t, continuous f t).
    { intros t; unfold f; apply derive_continuous with (K * - (IZR j / s ^ 2)); auto_derive;
      [trivial | real_field]. }
    replace K with (RInt f (IZR j - 1 / 2) (IZR j + 1 / 2)).
    - apply RInt_le; [lra | apply ex_RInt_cont, Hf | apply ex_RInt_cont; intros;
      apply density_continuous |].
      intros t Ht; rewrite density_as_bell; unfold f, K, w, gaussian_weight, bell.
      set (r := t - IZR j).
      replace (- (((t - 0) / s) ^ 2 / 2))
        with (- ((IZR j / s) ^ 2 / 2) + (- (r ^ 2 / (2 * s ^ 2)) + - (IZR j / s ^ 2 * r)))
        by (unfold r; field; lra).
      rewrite !exp_plus; set (W := exp (- ((IZR j / s) ^ 2 / 2))).
      assert (HW : 0 < W) by apply exp_pos.
      assert (H1 : 1 - IZR j / s ^ 2 * r <= exp (- (IZR j / s ^ 2 * r)))
        by (generalize (exp_ineq1_le (- (IZR j / s ^ 2 * r))); lra).
      assert (H2 : exp (- (1 / (8 * s ^ 2))) <= exp (- (r ^ 2 / (2 * s ^ 2)))).
      { apply exp_le, Ropp_le_contravar.
        replace (1 / (8 * s ^ 2)) with (1 / 4 / (2 * s ^ 2)) by (field; lra).
        apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; nra | unfold r; nra]. }
      assert (H3 := exp_pos (- (1 / (8 * s ^ 2)))); assert (H4 := exp_pos (- (IZR j / s ^ 2 * r))).
      set (e1 := exp (- (1 / (8 * s ^ 2)))) in *; set (e2 := exp (- (r ^ 2 / (2 * s ^ 2)))) in *.
      set (e3 := exp (- (IZR j / s ^ 2 * r))) in *.
      assert (Hle : e1 * (1 - IZR j / s ^ 2 * r) <= e2 * e3).
      { apply Rle_trans with (e1 * e3); [apply Rmult_le_compat_l; lra | apply Rmult_le_compat_r; lra]. }
      replace (W * e1 / (s * (2 * kappa)) * (1 - IZR j / s ^ 2 * r))
        with (W * (e1 * (1 - IZR j / s ^ 2 * r)) / (s * (2 * kappa))) by (field; lra).
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; nra |]; apply Rmult_le_compat_l; lra.
    - rewrite (RInt_derivative F f _ _ HF Hf); unfold F; real_field. }
  apply Rle_trans with (exp (1 / (8 * s ^ 2)) * (s * (2 * kappa) * K)).
  - right; unfold K.
    replace (exp (1 / (8 * s ^ 2)) * (s * (2 * kappa) * (w * exp (- (1 / (8 * s ^ 2))) / (s * (2 *
      kappa)))))
      with (exp (1 / (8 * s ^ 2)) * exp (- (1 / (8 * s ^ 2))) * w) by (field; lra).
    rewrite <- exp_plus, Rplus_opp_r, exp_0; ring.
  - apply Rmult_le_compat_l; [left; apply exp_pos |]; apply Rmult_le_compat_l; [nra | exact Hint].
Qed.

Lemma rounded_le_weight : forall j,
  s * (2 * kappa) * rounded_gaussian s 0 j <= gaussian_weight s j * exp (Rabs (IZR j) / (2 * s ^ 2)).
Proof.
  intros j; assert (Hk := kappa_pos); set (K := gaussian_weight s j * exp (Rabs (IZR j) / (2 * s ^ 2))).
  apply Rle_trans with (s * (2 * kappa) * (K / (s * (2 * kappa)))); [| right; field; lra].
  apply Rmult_le_compat_l; [nra |].
  replace (K / (s * (2 * kappa))) with (RInt (fun _ => K / (s * (2 * kappa))) (IZR j - 1 / 2) (IZR j + 1 /
    2))
    by (rewrite RInt_constant; lra).
  apply RInt_le; [lra | apply ex_RInt_cont; intros; apply density_continuous | apply ex_RInt_const |].
  intros t Ht; rewrite density_as_bell; apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; nra |].
  unfold K, gaussian_weight, bell; rewrite <- exp_plus; apply exp_le.
  set (r := t - IZR j); assert (Hr : Rabs r <= 1 / 2) by (apply Rabs_le; unfold r; lra).
  replace (- (((t - 0) / s) ^ 2 / 2))
    with (- ((IZR j / s) ^ 2 / 2) + (- (r ^ 2 / (2 * s ^ 2)) + - (IZR j * r) * (2 / (2 * s ^ 2))))
    by (unfold r; field; lra).
  apply Rplus_le_compat_l; assert (Hs2 : 0 < / (2 * s ^ 2)) by (apply Rinv_0_lt_compat; nra).
  assert (H0 : 0 <= r ^ 2 / (2 * s ^ 2)) by (apply Rmult_le_pos; [apply pow2_ge_0 | lra]).
  assert (H1 : - (IZR j * r) <= Rabs (IZR j) * (1 / 2)).
  { eapply Rle_trans; [apply Rle_abs |]; rewrite Rabs_Ropp, Rabs_mult; apply Rmult_le_compat_l;
      [apply Rabs_pos | exact Hr]. }
  assert (- (IZR j * r) * (2 / (2 * s ^ 2)) <= Rabs (IZR j) * (1 / 2) * (2 / (2 * s ^ 2)))
    by (apply Rmult_le_compat_r; unfold Rdiv; lra).
  replace (Rabs (IZR j) / (2 * s ^ 2)) with (Rabs (IZR j) * (1 / 2) * (2 / (2 * s ^ 2))) by (field; lra);
    lra.
Qed.

Lemma weight_pos : forall j, 0 < gaussian_weight s j.
Proof. intros j; apply exp_pos. Qed.

Lemma weights_from_below : forall k,
  2 * s * bell_integral ((INR k + 1) / s) - 1 <= sum_over (up_to k) (gaussian_weight s).
Proof.
  assert (Hstep : forall x, 0 <= x ->
    s * (bell_integral ((x + 1) / s) - bell_integral (x / s)) <= exp (- ((x / s) ^ 2 / 2))).
  { intros x Hx; rewrite <- RInt_bell; assert (Hle : x / s <= (x + 1) / s)
      by (apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat |]; lra).
    assert (H0 : 0 <= x / s) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
    apply Rle_trans with (s * RInt (fun _ => bell (x / s)) (x / s) ((x + 1) / s)).
    - apply Rmult_le_compat_l; [lra |]; apply RInt_le; [exact Hle | apply ex_RInt_cont, bell_continuous |
        apply ex_RInt_const |]; intros t Ht; unfold bell; apply exp_le; nra.
    - rewrite RInt_constant; right; unfold bell; field; lra. }
  induction k as [| k IH].
  - cbn [up_to INR]; rewrite sum_cons; cbn [sum_over fold_right]; specialize (Hstep 0 (Rle_refl 0)).
    replace (0 / s) with 0 in Hstep by (field; lra); rewrite bell_integral_0 in Hstep.
    assert (E : gaussian_weight s 0 = 1).
    { unfold gaussian_weight; replace (- ((0 / s) ^ 2 / 2)) with 0 by (field; lra); apply exp_0. }
    rewrite E; replace (exp (- (0 ^ 2 / 2))) with 1 in Hstep
      by (replace (- (0 ^ 2 / 2)) with 0 by field; symmetry; apply exp_0); lra.
  - cbn [up_to]; rewrite !sum_cons, S_INR; specialize (Hstep (INR k + 1) ltac:(generalize (pos_INR k);
    lra)).
    unfold gaussian_weight at 1 2; rewrite opp_IZR, <- INR_IZR_INZ, S_INR.
    replace ((- (INR k + 1) / s) ^ 2) with (((INR k + 1) / s) ^ 2) by (field; lra); lra.
Qed.

Lemma total_is_lub : is_lub (fun total => exists k, total = sum_over (up_to k) (gaussian_weight s))
  (gaussian_total s).
Proof.
  set (E := fun total => exists k, total = sum_over (up_to k) (gaussian_weight s)).
  assert (Hk := kappa_pos); set (bound := exp (1 / (8 * s ^ 2)) * (s * (2 * kappa))).
  assert (Hbound : forall total, E total -> total <= bound).
  { intros total [k ->]; apply Rle_trans with (bound * sum_over (up_to k) (rounded_gaussian s 0)).
    - rewrite <- sum_scal; apply sum_le; intros j _; unfold bound; rewrite Rmult_assoc;
      apply weight_le_rounded.
    - rewrite <- (Rmult_1_r bound) at 2; apply Rmult_le_compat_l;
        [apply Rmult_le_pos; [left; apply exp_pos | nra] |].
      apply law_sum; [apply rounded_law_0 | apply up_to_once]. }
  assert (Hlub := Lub_Rbar_correct E); unfold gaussian_total; fold E; destruct Hlub as [Hup Hleast].
  assert (Hfinite : is_finite (Lub_Rbar E)).
  { assert (H1 : Rbar_le (Lub_Rbar E) bound) by (apply Hleast; intros total Htotal; apply Hbound, Htotal).
    assert (H2 : Rbar_le (sum_over (up_to 0) (gaussian_weight s)) (Lub_Rbar E)) by (apply Hup; exists O;
      reflexivity).
    destruct (Lub_Rbar E); [reflexivity | destruct H1 | destruct H2]. }
  rewrite <- Hfinite in Hup, Hleast; split; [exact Hup |].
  intros b Hb; apply (Hleast b); exact Hb.
Qed.

Lemma total_bounds : s * (2 * kappa) - 1 <= gaussian_total s <= exp (1 / (8 * s ^ 2)) * (s * (2 * kappa)).
Proof.
  assert (Hk := kappa_pos); destruct total_is_lub as [Hup Hleast]; split.
  - apply le_epsilon; intros eta Heta.
    destruct (tail_nearly_0 (eta / (2 * s)) ltac:(apply Rdiv_lt_0_compat; lra)) as [k Htail].
    specialize (Htail (INR k + 1) ltac:(lra)); assert (H := weights_from_below k).
    specialize (Hup _ (ex_intro _ k eq_refl)); unfold tail in Htail.
    assert (2 * s * (kappa - eta / (2 * s)) <= 2 * s * bell_integral ((INR k + 1) / s))
      by (apply Rmult_le_compat_l; lra).
    replace (2 * s * (kappa - eta / (2 * s))) with (s * (2 * kappa) - eta) in * by (field; lra); lra.
  - apply Hleast; intros total [k ->].
    apply Rle_trans with (exp (1 / (8 * s ^ 2)) * (s * (2 * kappa)) * sum_over (up_to k) (rounded_gaussian
      s 0)).
    + rewrite <- sum_scal; apply sum_le; intros j _; rewrite Rmult_assoc; apply weight_le_rounded.
    + rewrite <- (Rmult_1_r (exp (1 / (8 * s ^ 2)) * (s * (2 * kappa)))) at 2; apply Rmult_le_compat_l;
        [apply Rmult_le_pos; [left; apply exp_pos | nra] |].
      apply law_sum; [apply rounded_law_0 | apply up_to_once].
Qed.

Lemma total_pos : 0 < gaussian_total s.
Proof.
  destruct total_is_lub as [Hup _]; eapply Rlt_le_trans; [| apply Hup; exists O; reflexivity].
  cbn [up_to]; rewrite sum_cons; cbn [sum_over fold_right]; generalize (weight_pos 0); lra.
Qed.

Lemma discrete_gaussian_law_0 : countable_law (discrete_gaussian s).
Proof.
  assert (Ht := total_pos); destruct total_is_lub as [Hup Hleast].
  assert (Hsum : forall l, sum_over l (discrete_gaussian s) = sum_over l (gaussian_weight s) /
    gaussian_total s)
    by (intros l; unfold discrete_gaussian, Rdiv; apply sum_scal_r).
  apply law_intro.
  - intros j; left; apply Rdiv_lt_0_compat; [apply weight_pos | exact Ht].
  - intros l Hl; destruct (within_up_to l) as [k Hin]; rewrite Hsum.
    apply Rmult_le_reg_r with (gaussian_total s); [exact Ht |]; unfold Rdiv;
      rewrite Rmult_assoc, Rinv_l by lra.
    rewrite Rmult_1_r, Rmult_1_l; eapply Rle_trans; [apply (sum_incl _ (up_to k)); [intros j; left;
      apply weight_pos | exact Hl | exact Hin] |]; apply Hup; exists k; reflexivity.
  - intros eta Heta.
    destruct (Classical_Prop.classic (exists k, gaussian_total s * (1 - eta) <=
      sum_over (up_to k) (gaussian_weight s))) as [[k Hk] | Hno].
    + exists (up_to k); split; [apply up_to_once |]; rewrite Hsum.
      apply Rmult_le_reg_r with (gaussian_total s); [exact Ht |]; unfold Rdiv;
        rewrite Rmult_assoc, Rinv_l by lra.
      lra.
    + exfalso; assert (gaussian_total s <= gaussian_total s * (1 - eta)); [| nra].
      apply Hleast; intros total [k ->].
      destruct (Rle_or_lt (sum_over (up_to k) (gaussian_weight s)) (gaussian_total s * (1 - eta))) as [H |
        H];
        [exact H | exfalso; apply Hno; exists k; lra].
Qed.

Hypothesis s_large : 4 <= s.

Lemma small_square : 1 / (8 * s ^ 2) <= 1 / (2 * s).
Proof.
  apply Rmult_le_reg_r with (8 * s ^ 2); [nra |].
  replace (1 / (8 * s ^ 2) * (8 * s ^ 2)) with 1 by (field; lra).
  replace (1 / (2 * s) * (8 * s ^ 2)) with (4 * s) by (field; lra); lra.
Qed.

Lemma discrete_le_rounded : forall j, discrete_gaussian s j <= exp (1 / s) * rounded_gaussian s 0 j.
Proof.
  intros j; assert (Hk := kappa_above); assert (Ht := total_pos); destruct total_bounds as [Hlow _].
  assert (HG := rounded_nonneg 0 j); set (G := rounded_gaussian s 0 j) in *.
  assert (Hbase : s * (2 * kappa) <= exp (1 / (2 * s)) * gaussian_total s).
  { apply Rle_trans with ((1 + 1 / (2 * s)) * (s * (2 * kappa) - 1)).
    - replace ((1 + 1 / (2 * s)) * (s * (2 * kappa) - 1)) with (s * (2 * kappa) + (kappa - 1 - 1 / (2 * s)))
        by (field; lra).
      assert (1 / (2 * s) <= 1 / 8); [| lra].
      apply Rmult_le_reg_r with (8 * s); [lra |]; replace (1 / (2 * s) * (8 * s)) with 4 by (field; lra);
        lra.
    - apply Rmult_le_compat; [| nra | apply exp_ineq1_le | exact Hlow].
      assert (0 < 1 / (2 * s)) by (apply Rdiv_lt_0_compat; lra); lra. }
  apply Rmult_le_reg_r with (gaussian_total s); [exact Ht |].
  unfold discrete_gaussian, Rdiv at 1; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  eapply Rle_trans; [apply weight_le_rounded |]; fold G.
  replace (1 / s) with (1 / (2 * s) + 1 / (2 * s)) by (field; lra); rewrite exp_plus.
  assert (He := exp_pos (1 / (2 * s))); assert (Hsq := exp_le _ _ small_square).
  assert (He8 := exp_pos (1 / (8 * s ^ 2))).
  set (e := exp (1 / (2 * s))) in *; set (e8 := exp (1 / (8 * s ^ 2))) in *.
  apply Rle_trans with (e * (s * (2 * kappa) * G)).
  - apply Rmult_le_compat_r; [| exact Hsq]; apply Rmult_le_pos; [nra | exact HG].
  - replace (e * e * G * gaussian_total s) with (e * (e * gaussian_total s * G)) by ring.
    apply Rmult_le_compat_l; [lra |]; apply Rmult_le_compat_r; assumption.
Qed.

Lemma rounded_le_discrete : forall T j, Rabs (IZR j) <= T * s ->
  rounded_gaussian s 0 j <= exp ((T + 1) / (2 * s)) * discrete_gaussian s j.
Proof.
  intros T j Hj; assert (Hk := kappa_above); assert (Ht := total_pos); destruct total_bounds as [_ Hup].
  assert (Hw := weight_pos j); assert (H := rounded_le_weight j).
  assert (He : exp (Rabs (IZR j) / (2 * s ^ 2)) * exp (1 / (8 * s ^ 2)) <= exp ((T + 1) / (2 * s))).
  { rewrite <- exp_plus; apply exp_le; replace ((T + 1) / (2 * s)) with (T * s / (2 * s ^ 2) + 1 / (2 * s))
      by (field; lra).
    apply Rplus_le_compat; [| exact small_square].
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; nra | exact Hj]. }
  set (e1 := exp (Rabs (IZR j) / (2 * s ^ 2))) in *; set (e8 := exp (1 / (8 * s ^ 2))) in *.
  assert (He1 : 0 < e1) by apply exp_pos.
  assert (Hsk : 0 < s * (2 * kappa)) by (apply Rmult_lt_0_compat; lra).
  apply Rmult_le_reg_r with (s * (2 * kappa) * gaussian_total s); [apply Rmult_lt_0_compat; assumption |].
  unfold discrete_gaussian.
  replace (exp ((T + 1) / (2 * s)) * (gaussian_weight s j / gaussian_total s) * (s * (2 * kappa) *
    gaussian_total
    s)) with (exp ((T + 1) / (2 * s)) * (gaussian_weight s j * (s * (2 * kappa)))) by (field; lra).
  replace (rounded_gaussian s 0 j * (s * (2 * kappa) * gaussian_total s))
    with (s * (2 * kappa) * rounded_gaussian s 0 j * gaussian_total s) by ring.
  apply Rle_trans with (gaussian_weight s j * e1 * (e8 * (s * (2 * kappa)))).
  - apply Rmult_le_compat; [apply Rmult_le_pos; [lra | apply rounded_nonneg] | lra | exact H | exact Hup].
  - replace (gaussian_weight s j * e1 * (e8 * (s * (2 * kappa)))) with (e1 * e8 * (gaussian_weight s j * (s
    * (2 *
      kappa)))) by ring.
    apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | exact He].
Qed.
End OneScale.
