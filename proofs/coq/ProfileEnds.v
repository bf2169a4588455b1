(** * The Gaussian profile by rational arithmetic; Theorem 5 at deltas that a user would set

    The profile is an integral of (1 - exp (- (u - a) nu)) bell u from a on. Sums of rectangles below and
    above it are computed from rational numbers, each exponential rounded to the safe side. Where the sum
      below
    exceeds the delta that Theorem 5 states, the theorem is false at these budgets. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal Change Box BoxSensitivity Laplace Gaussian
  ExtendedGaussian Theorem5 Theorem5Regime GaussianExact Theorem5Fails SigmaBound Verdicts.
Open Scope R_scope.

(** ** Rectangles *)

Section Rectangles.
Variables nu epsilon : R.
Hypothesis nu_positive : 0 < nu.

Let a := epsilon / nu - nu / 2.
Let F u := tail u - exp epsilon * tail (u + nu).

Lemma rest_derivative : forall u, is_derive F u (- ((1 - exp (- ((u - a) * nu))) * bell u)).
Proof.
  intros u; apply derive_value with (- bell u - exp epsilon * - bell (u + nu)).
  - apply derive_minus; [apply tail_derivative |]; apply derive_scal.
    apply derive_value with (1 * - bell (u + nu)); [| ring].
    apply (derive_comp tail (fun v => v + nu)); [apply tail_derivative |].
    auto_derive; [trivial | real_ring].
  - assert (E : exp epsilon * bell (u + nu) = exp (- ((u - a) * nu)) * bell u).
    { unfold bell; rewrite <- !exp_plus; f_equal; unfold a; field; lra. }
    rewrite <- Ropp_mult_distr_r, E; ring.
Qed.

(** What lies between u and v, where bell is between m and M. *)
Lemma rectangle : forall u v m M, a <= u <= v -> (forall t, u <= t <= v -> m <= bell t <= M) ->
  (v - u) * ((1 - exp (- ((u - a) * nu))) * m) <= F u - F v <= (v - u) * ((1 - exp (- ((v - a) * nu))) * M).
Proof.
  intros u v m M Huv Hbell.
  assert (Hexp : forall x y, x <= y -> exp (- ((y - a) * nu)) <= exp (- ((x - a) * nu)))
    by (intros x y Hxy; apply exp_le; nra).
  assert (Hone : forall x, a <= x -> exp (- ((x - a) * nu)) <= 1)
    by (intros x Hx; rewrite <- exp_0; apply exp_le; nra).
  assert (Hderive : forall c t, is_derive (fun t => F t + c * t) t (- ((1 - exp (- ((t - a) * nu))) * bell
    t) + c * 1))
    by (intros c t; apply derive_plus; [apply rest_derivative | apply derive_scal; auto_derive;
      [trivial | reflexivity]]).
  split.
  - set (c := (1 - exp (- ((u - a) * nu))) * m); assert (H : F v + c * v <= F u + c * u); [| lra].
    apply (derivative_nonpos_le (fun t => F t + c * t) _ u v (proj2 Huv) (fun t _ => Hderive c t)).
    intros t Ht; assert (H := Hbell t Ht); assert (Hpos := bell_pos t).
    assert (H1 := Hexp u t (proj1 Ht)); assert (H2 := Hone u (proj1 Huv)); unfold c.
    assert ((1 - exp (- ((u - a) * nu))) * m <= (1 - exp (- ((u - a) * nu))) * bell t)
      by (apply Rmult_le_compat_l; lra).
    assert ((1 - exp (- ((u - a) * nu))) * bell t <= (1 - exp (- ((t - a) * nu))) * bell t)
      by (apply Rmult_le_compat_r; lra); lra.
  - set (c := (1 - exp (- ((v - a) * nu))) * M); assert (H : F u + c * u <= F v + c * v); [| lra].
    apply (derivative_nonneg_le (fun t => F t + c * t) _ u v (proj2 Huv) (fun t _ => Hderive c t)).
    intros t Ht; assert (H := Hbell t Ht); assert (Hpos := bell_pos t).
    assert (H1 := Hexp t v (proj2 Ht)); assert (H2 := Hone t ltac:(lra)); unfold c.
    assert ((1 - exp (- ((t - a) * nu))) * bell t <= (1 - exp (- ((v - a) * nu))) * M)
      by (apply Rmult_le_compat; lra); lra.
Qed.

Lemma rest_falls : forall u v, a <= u <= v -> F v <= F u.
Proof.
  intros u v Huv; assert (H := rectangle u v 0 1 Huv); rewrite Rmult_0_r, Rmult_0_r in H.
  apply Rminus_le_0, H; intros t _; generalize (bell_pos t) (bell_le_1 t); lra.
Qed.

Lemma rest_nonneg : forall u, a <= u -> 0 <= F u.
Proof.
  intros u Hu; apply le_epsilon; intros eta Heta; assert (Hk := kappa_pos); assert (He := exp_pos epsilon).
  assert (Hxi : 0 < eta / (exp epsilon * kappa))
    by (apply Rdiv_lt_0_compat; [exact Heta | apply Rmult_lt_0_compat; assumption]).
  destruct (bell_vanishes _ Hxi) as [M [HM Hbell]]; set (K := Rmax u M).
  assert (H1 : u <= K) by apply Rmax_l; assert (H2 : M <= K) by apply Rmax_r.
  assert (HK : F K <= F u) by (apply rest_falls; lra).
  assert (HT : exp epsilon * tail (K + nu) <= eta).
  { apply Rle_trans with (exp epsilon * (kappa * (eta / (exp epsilon * kappa)))).
    - apply Rmult_le_compat_l; [lra |]; eapply Rle_trans; [apply tail_le_bell; unfold a in *; lra |].
      apply Rmult_le_compat_l; [lra |]; apply Hbell; rewrite Rabs_right; unfold a in *; lra.
    - right; field; lra. }
  generalize (tail_bounds K); unfold F at 1 in HK; lra.
Qed.

Lemma profile_is_the_rest : profile nu epsilon = F a.
Proof. unfold F, profile; do 3 f_equal; unfold a; field; lra. Qed.
End Rectangles.

(** ** The same by rational numbers *)

(** At most exp (- y). *)
Definition exp_below (y : Q) : Q :=
  if (0 <=? fixed_one - (Qnum y * fixed_one / (QDen y * 2 ^ 40) + 1))%Z
  then (exp_minus_lower (Qnum y) (QDen y) # 2 ^ 256)%Q else 0%Q.

(** At least exp (- y), for y >= 0. *)
Definition exp_above (y : Q) : Q := if (0 <? exp_lower y)%Z then (/ (exp_lower y # 2 ^ 256))%Q else 1%Q.

(** Squares of the points of [u, v] that are farthest from 0 and nearest to it. *)
Definition far_square (u v : Q) : Q := if Qle_bool (v * v) (u * u) then (u * u)%Q else (v * v)%Q.
Definition near_square (u v : Q) : Q :=
  if Qle_bool 0 u then (u * u)%Q else if Qle_bool v 0 then (v * v)%Q else 0%Q.

(** k rectangles of width h from a on, below and above. *)
Fixpoint sum_below (nu a h : Q) (k : nat) : Q :=
  match k with
  | O => 0%Q
  | S k' =>
      let i := inject_Z (Z.of_nat k') in
      let u := (a + i * h)%Q in
      (sum_below nu a h k' + h * ((1 - exp_above (i * h * nu)) * exp_below (far_square u (u + h) / 2)))%Q
  end.

Fixpoint sum_above (nu a h : Q) (k : nat) : Q :=
  match k with
  | O => 0%Q
  | S k' =>
      let i := inject_Z (Z.of_nat k') in
      let u := (a + i * h)%Q in
      (sum_above nu a h k' + h * ((1 - exp_below ((i + 1) * h * nu)) * exp_above (near_square u (u + h) /
        2)))%Q
  end.

Lemma fixed_Q : forall z, Q2R (z # 2 ^ 256) = fixed z.
Proof. reflexivity. Qed.

Lemma exp_below_correct : forall y, 0 <= Q2R (exp_below y) <= exp (- Q2R y).
Proof.
  intros y; unfold exp_below; destruct (Z.leb_spec 0
    (fixed_one - (Qnum y * fixed_one / (QDen y * 2 ^ 40) + 1))) as [He | He].
  - destruct (exp_minus_lower_correct (Qnum y) (QDen y) (Pos2Z.is_pos _) He) as [H0 H].
    rewrite fixed_Q; split; [apply fixed_nonneg, H0 |].
    assert (Hexp := exp_pos (Q2R y)); rewrite exp_Ropp; apply Rmult_le_reg_r with (exp (Q2R y));
      [exact Hexp |].
    rewrite Rinv_l by lra; exact H.
  - rewrite RMicromega.Q2R_0; split; [lra | left; apply exp_pos].
Qed.

Lemma exp_above_correct : forall y, (0 <= Qnum y)%Z -> exp (- Q2R y) <= Q2R (exp_above y).
Proof.
  intros y Hy; destruct (exp_lower_correct y Hy) as [H0 H]; unfold exp_above.
  assert (Hy0 : 0 <= Q2R y).
  { unfold Q2R; apply Rmult_le_pos; [apply (IZR_le 0), Hy | left;
    apply Rinv_0_lt_compat, (IZR_lt 0), Pos2Z.is_pos]. }
  destruct (Z.ltb_spec 0 (exp_lower y)) as [Hpos | _].
  - assert (Hfixed : 0 < fixed (exp_lower y)) by (apply Rdiv_lt_0_compat;
    [apply (IZR_lt 0), Hpos | exact one_pos]).
    rewrite Q2R_inv, fixed_Q, exp_Ropp; [apply Rinv_le_contravar; assumption |].
    intros E; apply Qeq_eqR in E; rewrite fixed_Q, RMicromega.Q2R_0 in E; lra.
  - rewrite RMicromega.Q2R_1, <- exp_0; apply exp_le; lra.
Qed.

Lemma Q2R_of_nat : forall k, Q2R (inject_Z (Z.of_nat k)) = INR k.
Proof. intros k; unfold inject_Z; rewrite Q2R_literal, <- INR_IZR_INZ; reflexivity. Qed.

Lemma numerator_nonneg : forall q, 0 <= Q2R q -> (0 <= Qnum q)%Z.
Proof.
  intros q H; destruct (Z_lt_le_dec (Qnum q) 0) as [Hneg | Hok]; [exfalso | exact Hok].
  assert (Hden : 0 < / IZR (Z.pos (Qden q))) by (apply Rinv_0_lt_compat, (IZR_lt 0), Pos2Z.is_pos).
  apply IZR_lt in Hneg; unfold Q2R in H; nra.
Qed.

Lemma Q2R_half : forall q, Q2R (q / 2) = Q2R q / 2.
Proof. intros q; unfold Qdiv; rewrite Q2R_mult, Q2R_inv by discriminate; rewrite (Q2R_literal 2);
  reflexivity. Qed.

Lemma Qle_bool_false : forall p q, Qle_bool p q = false -> Q2R q < Q2R p.
Proof.
  intros p q H; apply Qlt_Rlt, Qnot_le_lt; intros E; apply Qle_bool_iff in E; congruence.
Qed.

Lemma far_square_le : forall u v t, Q2R u <= t <= Q2R v -> t ^ 2 <= Q2R (far_square u v).
Proof.
  intros u v t Ht; unfold far_square; destruct (Qle_bool (v * v) (u * u)) eqn:E.
  - apply Qle_bool_R in E; rewrite !Q2R_mult in *; destruct (Rle_or_lt 0 t); nra.
  - apply Qle_bool_false in E; rewrite !Q2R_mult in *; destruct (Rle_or_lt 0 t); nra.
Qed.

Lemma near_square_ge : forall u v t, Q2R u <= t <= Q2R v -> 0 <= Q2R (near_square u v) <= t ^ 2.
Proof.
  intros u v t Ht; unfold near_square; destruct (Qle_bool 0 u) eqn:E; [| destruct (Qle_bool v 0) eqn:E'].
  - apply Qle_bool_R in E; rewrite RMicromega.Q2R_0 in E; rewrite Q2R_mult; nra.
  - apply Qle_bool_R in E'; rewrite RMicromega.Q2R_0 in E'; rewrite Q2R_mult; nra.
  - rewrite RMicromega.Q2R_0; generalize (pow2_ge_0 t); lra.
Qed.

Lemma bell_on_a_step : forall u v t, Q2R u <= t <= Q2R v ->
  Q2R (exp_below (far_square u v / 2)) <= bell t <= Q2R (exp_above (near_square u v / 2)).
Proof.
  intros u v t Ht; assert (H := far_square_le u v t Ht); assert (H' := near_square_ge u v t Ht).
  unfold bell; split.
  - eapply Rle_trans; [apply exp_below_correct |]; rewrite Q2R_half; apply exp_le; lra.
  - eapply Rle_trans; [| apply exp_above_correct, numerator_nonneg; rewrite Q2R_half; lra].
    rewrite Q2R_half; apply exp_le; lra.
Qed.

Section Sums.
Variables (nu a h : Q) (epsilon : R).
Hypothesis nu_pos : 0 < Q2R nu.
Hypothesis h_pos : 0 < Q2R h.
Hypothesis a_is : Q2R a = epsilon / Q2R nu - Q2R nu / 2.

Let F u := tail u - exp epsilon * tail (u + Q2R nu).

Lemma sums_correct : forall k, let v := Q2R a + INR k * Q2R h in
  Q2R (sum_below nu a h k) <= F (Q2R a) - F v <= Q2R (sum_above nu a h k).
Proof.
  induction k as [| k IH]; cbv zeta in *.
  - cbn [sum_below sum_above INR]; rewrite RMicromega.Q2R_0, Rmult_0_l, Rplus_0_r; lra.
  - cbn [sum_below sum_above]; set (i := inject_Z (Z.of_nat k)); assert (Hi : Q2R i = INR k) by apply
    Q2R_of_nat.
    set (u := (a + i * h)%Q); assert (Hk := pos_INR k).
    assert (Hu : Q2R u = Q2R a + INR k * Q2R h) by (unfold u; rewrite Q2R_plus, Q2R_mult, Hi; reflexivity).
    assert (Hv : Q2R (u + h) = Q2R a + INR (S k) * Q2R h) by (rewrite Q2R_plus, Hu, S_INR; ring).
    assert (Hikh : 0 <= INR k * Q2R h) by (apply Rmult_le_pos; lra).
    assert (Huv : epsilon / Q2R nu - Q2R nu / 2 <= Q2R u <= Q2R (u + h))
      by (rewrite Q2R_plus, <- a_is, Hu; lra).
    destruct (rectangle (Q2R nu) epsilon nu_pos _ _ _ _ Huv (fun t Ht => bell_on_a_step u (u + h) t Ht)) as
      [H1 H2].
    rewrite <- a_is in H1, H2; fold (F (Q2R u)) (F (Q2R (u + h))) in H1, H2; rewrite Hv, Hu in *.
    replace (Q2R a + INR (S k) * Q2R h - (Q2R a + INR k * Q2R h)) with (Q2R h) in H1, H2 by (rewrite S_INR;
      ring).
    replace (Q2R a + INR k * Q2R h - Q2R a) with (INR k * Q2R h) in H1 by ring.
    replace (Q2R a + INR (S k) * Q2R h - Q2R a) with (INR (S k) * Q2R h) in H2 by ring.
    assert (E1 : Q2R (i * h * nu) = INR k * Q2R h * Q2R nu) by (rewrite !Q2R_mult, Hi; reflexivity).
    assert (E2 : Q2R ((i + 1) * h * nu) = INR (S k) * Q2R h * Q2R nu)
      by (rewrite !Q2R_mult, Q2R_plus, Hi, RMicromega.Q2R_1, S_INR; reflexivity).
    assert (H3 : exp (- (INR k * Q2R h * Q2R nu)) <= Q2R (exp_above (i * h * nu))).
    { rewrite <- E1; apply exp_above_correct, numerator_nonneg; rewrite E1; apply Rmult_le_pos; lra. }
    destruct (exp_below_correct ((i + 1) * h * nu)) as [_ H4]; rewrite E2 in H4.
    destruct (exp_below_correct (far_square u (u + h) / 2)) as [H5 _].
    assert (H6 : 0 <= Q2R (exp_above (near_square u (u + h) / 2))).
    { eapply Rle_trans; [left; apply (bell_pos (Q2R u)) |]; apply (bell_on_a_step u (u + h)); lra. }
    rewrite !Q2R_plus, !Q2R_mult, !Q2R_minus, RMicromega.Q2R_1; split.
    + assert (Q2R h * ((1 - Q2R (exp_above (i * h * nu))) * Q2R (exp_below (far_square u (u + h) / 2))) <=
        Q2R h * ((1 - exp (- (INR k * Q2R h * Q2R nu))) * Q2R (exp_below (far_square u (u + h) / 2)))).
      { apply Rmult_le_compat_l; [lra |]; apply Rmult_le_compat_r; lra. }
      lra.
    + assert (Q2R h * ((1 - exp (- (INR (S k) * Q2R h * Q2R nu))) * Q2R (exp_above (near_square u (u + h) /
      2))) <=
        Q2R h * ((1 - Q2R (exp_below ((i + 1) * h * nu))) * Q2R (exp_above (near_square u (u + h) / 2)))).
      { apply Rmult_le_compat_l; [lra |]; apply Rmult_le_compat_r; lra. }
      lra.
Qed.

Lemma sum_below_the_profile : forall k, Q2R (sum_below nu a h k) <= profile (Q2R nu) epsilon.
Proof.
  intros k; destruct (sums_correct k) as [H _]; rewrite (profile_is_the_rest (Q2R nu) epsilon nu_pos), <-
    a_is.
  fold (F (Q2R a)); assert (Hk := Rmult_le_pos _ _ (pos_INR k) (Rlt_le _ _ h_pos)).
  assert (H0 : 0 <= F (Q2R a + INR k * Q2R h)) by (apply (rest_nonneg (Q2R nu) epsilon nu_pos); lra); lra.
Qed.

Lemma sum_above_the_profile : forall k, let v := (a + inject_Z (Z.of_nat k) * h)%Q in 0 <= Q2R v ->
  profile (Q2R nu) epsilon <= Q2R (sum_above nu a h k) + 2 * Q2R (exp_above (v * v / 2)).
Proof.
  intros k v Hv0; destruct (sums_correct k) as [_ H]; rewrite (profile_is_the_rest (Q2R nu) epsilon
    nu_pos), <- a_is.
  fold (F (Q2R a)).
  assert (Hv : Q2R v = Q2R a + INR k * Q2R h) by (unfold v; rewrite Q2R_plus, Q2R_mult, Q2R_of_nat;
    reflexivity).
  rewrite <- Hv in H; assert (Hb : bell (Q2R v) <= Q2R (exp_above (v * v / 2))).
  { assert (E : Q2R (v * v / 2) = Q2R v ^ 2 / 2) by (rewrite Q2R_half, Q2R_mult; field).
    unfold bell; rewrite <- E; apply exp_above_correct, numerator_nonneg; rewrite E;
      generalize (pow2_ge_0 (Q2R v)); lra. }
  assert (Ht := tail_le_bell (Q2R v) Hv0); assert (Hk2 := kappa_le_2); assert (Hbell := bell_pos (Q2R v)).
  assert (HF : F (Q2R v) <= tail (Q2R v)).
  { unfold F; generalize (tail_bounds (Q2R v + Q2R nu)) (exp_pos epsilon); intros; nra. }
  nra.
Qed.
End Sums.

(** Rational ends of the profile; None where k rectangles end left of 0, or an argument is not positive. *)
Definition profile_ends (nu epsilon h : Q) (k : nat) : option (Q * Q) :=
  let a := (epsilon / nu - nu / 2)%Q in
  let v := (a + inject_Z (Z.of_nat k) * h)%Q in
  if negb (Qle_bool nu 0) && negb (Qle_bool h 0) && Qle_bool 0 v
  then Some ((sum_below nu a h k * (398942280 # 1000000000))%Q,
    ((sum_above nu a h k + 2 * exp_above (v * v / 2)) * (398942281 # 1000000000))%Q)
  else None.

Lemma Q2R_div : forall p q, 0 < Q2R q -> Q2R (p / q) = Q2R p / Q2R q.
Proof.
  intros p q Hq; unfold Qdiv; rewrite Q2R_mult, Q2R_inv; [reflexivity |].
  intros E; apply Qeq_eqR in E; rewrite RMicromega.Q2R_0 in E; lra.
Qed.

Lemma Q_strict : forall a b, negb (Qle_bool a b) = true -> Q2R b < Q2R a.
Proof. intros a b H; apply negb_true_iff in H; apply Qle_bool_false, H. Qed.

Lemma over_root_two_pi : 398942280 / 1000000000 <= / (2 * kappa) <= 398942281 / 1000000000.
Proof.
  destruct pi_bounds as [Hlow Hup]; unfold Q2R in Hlow, Hup; cbn [Qnum Qden pi_lower pi_upper] in Hlow, Hup.
  assert (Hk := kappa_pos); assert (H := kappa_square).
  assert (H1 : (2 * kappa) ^ 2 = 2 * PI) by (rewrite Rpow_mult_distr, H; field).
  set (w := 2 * kappa) in *; assert (Hw : 0 < w) by (unfold w; lra).
  split; apply Rmult_le_reg_r with w; try exact Hw; rewrite Rinv_l by lra.
  - destruct (Rle_or_lt (398942280 / 1000000000 * w) 1) as [Hle | Hlt]; [exact Hle | exfalso].
    assert (1 < (398942280 / 1000000000 * w) ^ 2) by nra; rewrite Rpow_mult_distr, H1 in *; lra.
  - destruct (Rle_or_lt 1 (398942281 / 1000000000 * w)) as [Hle | Hlt]; [exact Hle | exfalso].
    assert (0 < 398942281 / 1000000000 * w) by lra.
    assert ((398942281 / 1000000000 * w) ^ 2 < 1) by nra; rewrite Rpow_mult_distr, H1 in *; lra.
Qed.

Theorem profile_ends_correct : forall nu epsilon h k low high, profile_ends nu epsilon h k = Some (low,
  high) ->
  0 < Q2R nu /\ Q2R low <= normal_tail (Q2R epsilon / Q2R nu - Q2R nu / 2) -
    exp (Q2R epsilon) * normal_tail (Q2R epsilon / Q2R nu + Q2R nu / 2) <= Q2R high.
Proof.
  intros nu epsilon h k low high; unfold profile_ends; cbv zeta.
  set (a := (epsilon / nu - nu / 2)%Q); set (v := (a + inject_Z (Z.of_nat k) * h)%Q).
  destruct (negb (Qle_bool nu 0) && negb (Qle_bool h 0) && Qle_bool 0 v) eqn:E; [| discriminate].
  rewrite !andb_true_iff in E; destruct E as [[Hnu Hh] Hv]; apply Q_strict in Hnu, Hh;
    apply Qle_bool_R in Hv.
  rewrite RMicromega.Q2R_0 in Hnu, Hh, Hv; intros Hends; injection Hends as <- <-; split; [exact Hnu |].
  assert (Ea : Q2R a = Q2R epsilon / Q2R nu - Q2R nu / 2).
  { unfold a; rewrite Q2R_minus, !Q2R_div by (rewrite ?(Q2R_literal 2); lra).
    rewrite (Q2R_literal 2); reflexivity. }
  assert (Hlow := sum_below_the_profile nu a h (Q2R epsilon) Hnu Hh Ea k).
  assert (Hhigh := sum_above_the_profile nu a h (Q2R epsilon) Hnu Hh Ea k Hv); fold v in Hhigh.
  assert (Hpos := profile_nonneg (Q2R nu) (Q2R epsilon) Hnu); assert (Hk := kappa_pos).
  destruct over_root_two_pi as [Hc Hc'].
  rewrite !normal_tail_tail.
  replace (tail (Q2R epsilon / Q2R nu - Q2R nu / 2) / (2 * kappa) - exp (Q2R epsilon) *
    (tail (Q2R epsilon / Q2R nu + Q2R nu / 2) / (2 * kappa))) with (profile (Q2R nu) (Q2R epsilon) * / (2 *
      kappa))
    by (unfold profile; field; lra).
  set (p := profile (Q2R nu) (Q2R epsilon)) in *; rewrite !Q2R_mult, Q2R_plus, Q2R_mult, (Q2R_literal 2).
  assert (E1 : Q2R (398942280 # 1000000000) = 398942280 / 1000000000) by reflexivity.
  assert (E2 : Q2R (398942281 # 1000000000) = 398942281 / 1000000000) by reflexivity.
  rewrite E1, E2; set (S := Q2R (sum_below nu a h k)) in *; split; [| apply Rmult_le_compat; lra].
  apply Rle_trans with (p * (398942280 / 1000000000)); [apply Rmult_le_compat_r | apply Rmult_le_compat_l];
    lra.
Qed.

(** ** Theorem 5 at given budgets and deltas *)

(** The largest change of w_s's coefficient in the unit ball is at least 3 - 2 / records. *)
Definition split_refuted (d records : nat) (epsilon_s epsilon_n delta sigma nu h : Q) (k : nat) : bool :=
  let epsilon := ((epsilon_s + epsilon_n * (inject_Z (Z.of_nat d) - 1)) / inject_Z (Z.of_nat d))%Q in
  let a := (epsilon / nu - nu / 2)%Q in
  let sum := sum_below nu a h k in
  let stated := (1 - (1 - delta) * (1 - delta))%Q in
  negb (Qle_bool epsilon_n 0) && negb (Qle_bool nu 0) && negb (Qle_bool h 0) &&
  Qle_bool (nu * sigma) (3 - 2 / inject_Z (Z.of_nat records)) && negb (Qle_bool sum 0) &&
  negb (Qle_bool (sum * sum) (2 * pi_upper * (stated * stated))).

(** What is below the profile is below the delta over 2 kappa that bounds it, squared. *)
Lemma square_of_a_profile : forall sum value delta, 0 < sum <= value -> value / (2 * kappa) <= delta ->
  sum * sum <= 2 * Q2R pi_upper * (delta * delta).
Proof.
  intros sum value delta Hsum Hdelta; assert (Hk := kappa_pos); destruct pi_bounds as [_ Hpi].
  assert (Hlast : sum <= 2 * kappa * delta).
  { apply Rle_trans with (2 * kappa * (value / (2 * kappa))).
    - replace (2 * kappa * (value / (2 * kappa))) with value by (field; lra); lra.
    - apply Rmult_le_compat_l; lra. }
  assert (H1 : sum * sum <= (2 * kappa * delta) ^ 2) by nra.
  replace ((2 * kappa * delta) ^ 2) with (2 * (2 * kappa ^ 2) * (delta * delta)) in H1 by ring.
  rewrite kappa_square in H1; assert (H2 : 0 <= delta * delta) by nra; nra.
Qed.

Theorem theorem5_refuted_by_numbers : forall r n d s records epsilon_s epsilon_n delta sigma nu h k
    l2_squared logarithm root root' factor,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (1 <= records <= n)%nat -> (s < d)%nat ->
  Q2R l2_squared = published_fair_l2_squared d ->
  sigma_suffices l2_squared epsilon_s delta sigma logarithm root root' factor = true ->
  split_refuted d records epsilon_s epsilon_n delta sigma nu h k = true ->
  ~ differentially_private (stated_epsilon d (Q2R epsilon_s) (Q2R epsilon_n))
      (stated_delta (Q2R delta) (Q2R delta)) n d (unit_ball d) gaussian_density
      (two_scales s (extended_gaussian_sigma (sqrt (published_fair_l2_squared d)) (Q2R epsilon_s) (Q2R
        delta))
        (extended_gaussian_sigma (sqrt (published_fair_l2_squared d)) (Q2R epsilon_n) (Q2R delta))) r.
Proof.
  intros r n d s records es en delta sigma nu0 h k V l u u' w HF Ha Hn Hs HV Hsigma Hnumbers Hprivate.
  destruct (sigma_suffices_correct V es delta sigma l u u' w Hsigma) as [Hes [Hdelta Hle]];
    rewrite HV in Hle.
  assert (Hk := kappa_pos); assert (HL := log_nonneg (Q2R delta) Hdelta).
  set (Delta := sqrt (published_fair_l2_squared d)) in *.
  assert (HD : 0 < Delta) by (apply sqrt_lt_R0, published_fair_l2_pos; lia).
  unfold split_refuted in Hnumbers; set (epsilon := ((es + en * (inject_Z (Z.of_nat d) - 1)) /
    inject_Z (Z.of_nat d))%Q) in *; set (a := (epsilon / nu0 - nu0 / 2)%Q) in *.
  set (sum := sum_below nu0 a h k) in *; set (stated := (1 - (1 - delta) * (1 - delta))%Q) in *.
  rewrite !andb_true_iff in Hnumbers; destruct Hnumbers as [[[[[Hen Hnu0] Hh] Hreach] Hsum] Hbeats].
  apply Q_strict in Hen, Hnu0, Hh, Hsum, Hbeats; apply Qle_bool_R in Hreach.
  rewrite RMicromega.Q2R_0 in Hen, Hnu0, Hh, Hsum.
  assert (Hd : 0 < INR d) by (apply lt_0_INR; lia).
  assert (Hepsilon : Q2R epsilon = stated_epsilon d (Q2R es) (Q2R en)).
  { unfold epsilon; rewrite Q2R_div, Q2R_plus, Q2R_mult, Q2R_minus, Q2R_of_nat, RMicromega.Q2R_1
      by (rewrite Q2R_of_nat; exact Hd).
    unfold stated_epsilon; field; lra. }
  assert (Ea : Q2R a = Q2R epsilon / Q2R nu0 - Q2R nu0 / 2).
  { unfold a; rewrite Q2R_minus, !Q2R_div by (rewrite ?(Q2R_literal 2); lra).
    rewrite (Q2R_literal 2); reflexivity. }
  assert (Estated : Q2R stated = stated_delta (Q2R delta) (Q2R delta)).
  { unfold stated, stated_delta; rewrite !Q2R_minus, Q2R_mult, !Q2R_minus, !RMicromega.Q2R_1; reflexivity. }
  assert (Hprofile := sum_below_the_profile nu0 a h (Q2R epsilon) Hnu0 Hh Ea k); fold sum in Hprofile.
  assert (Hsigma_s := extended_sigma_shift Delta (Q2R es) (Q2R delta) Hes HL).
  assert (Hsigma_n := extended_sigma_shift Delta (Q2R en) (Q2R delta) Hen HL).
  assert (Hfs := allowed_shift_pos _ _ HL Hes); assert (Hfn := allowed_shift_pos _ _ HL Hen).
  set (ss := extended_gaussian_sigma Delta (Q2R es) (Q2R delta)) in *.
  set (sn := extended_gaussian_sigma Delta (Q2R en) (Q2R delta)) in *.
  assert (Hss : 0 < ss) by (destruct (Rle_or_lt ss 0); [exfalso; nra | assumption]).
  assert (Hsn : 0 < sn) by (destruct (Rle_or_lt sn 0); [exfalso; nra | assumption]).
  assert (HDD' := ball_neighbours s d n Hs ltac:(lia)).
  set (gain := ball_gain r n).
  assert (HU : l2_change_squared r d (contains s) (ball_D s n) (ball_D' s n) = gain ^ 2)
    by (apply ball_l2_s; try assumption; try lia; rewrite HF; discriminate).
  assert (HV0 := l2_nonneg r d (contains_not s) (ball_D s n) (ball_D' s n)).
  set (V0 := l2_change_squared r d (contains_not s) (ball_D s n) (ball_D' s n)) in *.
  assert (Hgain : Q2R nu0 * ss <= gain).
  { assert (Hrecords : 0 < INR records) by (apply lt_0_INR; lia).
    rewrite Q2R_mult, Q2R_minus, Q2R_div, Q2R_of_nat, (Q2R_literal 3), (Q2R_literal 2) in Hreach
      by (rewrite Q2R_of_nat; exact Hrecords).
    assert (Hnu := nu_ge n records ltac:(lia) ltac:(lia)).
    assert (Q2R nu0 * ss <= Q2R nu0 * Q2R sigma) by (apply Rmult_le_compat_l; lra).
    unfold gain, ball_gain; rewrite HF, Ha; unfold Rdiv in Hreach; lra. }
  assert (HS : Q2R nu0 ^ 2 <= l2_change_squared r d (contains s) (ball_D s n) (ball_D' s n) / ss ^ 2
    + V0 / sn ^ 2).
  { assert (H1 : (Q2R nu0 * ss) ^ 2 <= gain ^ 2)
      by (apply pow_incr; split; [apply Rmult_le_pos; lra | exact Hgain]).
    assert (H2 : 0 <= V0 / sn ^ 2) by (apply Rmult_le_pos; [exact HV0 | left; apply Rinv_0_lt_compat; nra]).
    rewrite HU; assert (H3 : Q2R nu0 ^ 2 <= gain ^ 2 / ss ^ 2); [| lra].
    apply Rmult_le_reg_r with (ss ^ 2); [nra |].
    replace (gain ^ 2 / ss ^ 2 * ss ^ 2) with (gain ^ 2) by (field; lra); rewrite <- Rpow_mult_distr;
      exact H1. }
  assert (Hneeded := private_needs_profile r n d s (unit_ball d)
    ss sn _ _ _ _ _ Hss Hsn Hnu0 HDD' HS Hprivate).
  rewrite <- Hepsilon, <- Estated in Hneeded; apply (Rlt_irrefl (Q2R sum * Q2R sum)).
  apply Rle_lt_trans with (2 * Q2R pi_upper * (Q2R stated * Q2R stated));
    [apply (square_of_a_profile _ (profile (Q2R nu0) (Q2R epsilon))); lra |].
  rewrite !Q2R_mult, (Q2R_literal 2) in Hbeats; exact Hbeats.
Qed.

(** d = 13, where the paper's data lie: budgets (2, 1/20) at 1e-3, and (1, 1/20) at 1e-5. *)

Definition fair_l2_squared_13 : Q := 2041 # 16.

Lemma fair_l2_squared_13_correct : Q2R fair_l2_squared_13 = published_fair_l2_squared 13.
Proof.
  unfold fair_l2_squared_13, published_fair_l2_squared, Q2R; rewrite INR_IZR_INZ; cbn [Qnum Qden Z.of_nat
    Pos.of_succ_nat Pos.succ]; field.
Qed.

Theorem theorem5_refuted_at_thousandth : forall r n s,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (1000 <= n)%nat -> (s < 13)%nat ->
  ~ differentially_private (stated_epsilon 13 2 (1 / 20)) (stated_delta (1 / 1000) (1 / 1000)) n 13
      (unit_ball 13) gaussian_density
      (two_scales s (extended_gaussian_sigma (sqrt (published_fair_l2_squared 13)) 2 (1 / 1000))
        (extended_gaussian_sigma (sqrt (published_fair_l2_squared 13)) (1 / 20) (1 / 1000))) r.
Proof.
  intros r n s HF Ha Hn Hs.
  assert (H := theorem5_refuted_by_numbers r n 13 s 1000 (2 # 1) (1 # 20) (1 # 1000) (110441 # 5000)
    (3393 # 25000) (1 # 5) 15 fair_l2_squared_13 (8077998716282838568284475 # 1208925819614629174706176)
    (97656631093897173981041 # 37778931862957161709568) (445265098241871081664623 #
      151115727451828646838272)
    (9654864126750394189188805 # 1208925819614629174706176) HF Ha ltac:(lia) Hs fair_l2_squared_13_correct
    ltac:(vm_cast_no_check (eq_refl true)) ltac:(vm_cast_no_check (eq_refl true))).
  unfold Q2R in H; cbn [Qnum Qden] in H; replace (2 * / 1) with 2 in H by field; exact H.
Qed.

Theorem theorem5_refuted_at_hundred_thousandth : forall r n s,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (1000 <= n)%nat -> (s < 13)%nat ->
  ~ differentially_private (stated_epsilon 13 1 (1 / 20)) (stated_delta (1 / 100000) (1 / 100000)) n 13
      (unit_ball 13) gaussian_density
      (two_scales s (extended_gaussian_sigma (sqrt (published_fair_l2_squared 13)) 1 (1 / 100000))
        (extended_gaussian_sigma (sqrt (published_fair_l2_squared 13)) (1 / 20) (1 / 100000))) r.
Proof.
  intros r n s HF Ha Hn Hs.
  assert (H := theorem5_refuted_by_numbers r n 13 s 1000 (1 # 1) (1 # 20) (1 # 100000) (548257 # 10000)
    (1367 # 25000) (1 # 2) 6 fair_l2_squared_13 (13645307857843346200429553 # 1208925819614629174706176)
    (2030773558643184076796393 # 604462909807314587353088) (1059412178500066555438191 #
      302231454903657293676544)
    (9654864126750394189188805 # 1208925819614629174706176) HF Ha ltac:(lia) Hs fair_l2_squared_13_correct
    ltac:(vm_cast_no_check (eq_refl true)) ltac:(vm_cast_no_check (eq_refl true))).
  unfold Q2R in H; cbn [Qnum Qden] in H; replace (1 * / 1) with 1 in H by field; exact H.
Qed.
