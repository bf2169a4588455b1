(** * A test near the best event for Gaussian noise

    The best event is the half-space {loss >= epsilon}, whose indicator is not continuous. So we test with the
    probability that a linear function of the noise plus normal noise of deviation s exceeds a number. Its
    expectation is again a normal tail, coordinate by coordinate, up to what a large box leaves out. *)

From Coq Require Import Reals List Lra.
From Coquelicot Require Import Coquelicot.
From CFM Require Import Definitions Sums Analysis Normal Expectation Gaussian Theorem5.
Import ListNotations.
Open Scope R_scope.

(** ** Continuity *)

Lemma tail_lipschitz : forall u v, Rabs (tail u - tail v) <= Rabs (u - v).
Proof.
  assert (H : forall u v, u <= v -> 0 <= tail u - tail v <= v - u).
  { intros u v Huv; split; [generalize (tail_decreasing u v Huv); lra |].
    assert (tail u + u <= tail v + v); [| lra].
    apply (derivative_nonneg_le (fun t => tail t + t) (fun t => - bell t + 1)); [exact Huv | |]; intros t _.
    - apply derive_plus; [apply tail_derivative | auto_derive; [trivial | reflexivity]].
    - generalize (bell_le_1 t); lra. }
  intros u v; destruct (Rle_or_lt u v) as [Huv | Huv].
  - rewrite (Rabs_right (tail u - tail v)), (Rabs_left1 (u - v)) by (specialize (H u v Huv); lra).
    specialize (H u v Huv); lra.
  - specialize (H v u (Rlt_le _ _ Huv));
      rewrite (Rabs_left1 (tail u - tail v)), (Rabs_right (u - v)) by lra; lra.
Qed.

Definition lipschitz (C : R) (f : R -> R) : Prop := forall u v, Rabs (f u - f v) <= C * Rabs (u - v).

Lemma lipschitz_continuous : forall C f, 0 <= C -> lipschitz C f -> forall u, continuous f u.
Proof.
  intros C f HC Hf u; apply continuity_pt_filterlim; intros eps Heps.
  assert (Hd : 0 < eps / (C + 1)) by (apply Rdiv_lt_0_compat; lra).
  exists (eps / (C + 1)); split; [exact Hd |]; intros v [_ Hv]; simpl in *; unfold R_dist in *.
  eapply Rle_lt_trans; [apply Hf |]; generalize (Rabs_pos (v - u)); intros.
  replace eps with ((C + 1) * (eps / (C + 1))) by (field; lra); nra.
Qed.

(** ** One coordinate *)

Lemma gaussian_mass : forall sigma m lo hi, 0 < sigma ->
  RInt (fun t => gaussian_density sigma (t - m)) lo hi =
  (tail ((lo - m) / sigma) - tail ((hi - m) / sigma)) / (2 * kappa).
Proof.
  intros sigma m lo hi Hs; rewrite <- (gaussian_interval sigma m) by exact Hs; f_equal; field; lra.
Qed.

Lemma gaussian_mass_le_1 : forall sigma m lo hi, 0 < sigma ->
  RInt (fun t => gaussian_density sigma (t - m)) lo hi <= 1.
Proof.
  intros sigma m lo hi Hs; rewrite gaussian_mass by exact Hs; assert (Hk := kappa_pos).
  generalize (tail_bounds ((lo - m) / sigma)) (tail_bounds ((hi - m) / sigma)); intros.
  apply Rmult_le_reg_r with (2 * kappa); [lra |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma blend_continuous : forall x b t, continuous (fun t => bell t * tail (x * sqrt (1 + b ^ 2) + b * t)) t.
Proof. intros x b t; apply bell_tail_continuous. Qed.

Lemma blend_integrand_nonneg : forall x b t, 0 <= bell t * tail (x * sqrt (1 + b ^ 2) + b * t).
Proof. intros; apply Rmult_le_pos; [apply Rlt_le, bell_pos | apply tail_bounds]. Qed.

Lemma blend_le : forall x lo hi b, lo <= hi -> blend x lo hi b <= 2 * kappa * tail x.
Proof.
  intros x lo hi b H; apply le_epsilon; intros eta Heta.
  destruct (blend_limit x b eta Heta) as [M [HM Hlim]].
  specialize (Hlim (Rmin lo (- M)) (Rmax hi M) (Rmin_r _ _) (Rmax_r _ _)); apply Rabs_le_between in Hlim.
  assert (blend x lo hi b <= blend x (Rmin lo (- M)) (Rmax hi M) b); [| lra].
  apply RInt_enlarge; [apply blend_continuous | apply blend_integrand_nonneg | | exact H |];
    [apply Rmin_l | apply Rmax_l].
Qed.

Lemma blend_piece : forall x lo hi b, lo <= hi -> blend x lo hi b <= 2 * kappa * (tail lo - tail hi).
Proof.
  intros x lo hi b H; rewrite <- RInt_bell_tail, <- RInt_mult_const by apply ex_RInt_cont, bell_continuous.
  apply RInt_le; [exact H | apply ex_RInt_cont, blend_continuous | |].
  - apply ex_RInt_mult_const, ex_RInt_cont, bell_continuous.
  - intros t _; rewrite Rmult_comm; apply Rmult_le_compat_r; [apply Rlt_le, bell_pos | apply tail_bounds].
Qed.

Lemma blend_ge : forall x lo hi b K, lo <= - K -> K <= hi -> 0 <= K ->
  2 * kappa * tail x - 4 * kappa * tail K <= blend x lo hi b.
Proof.
  intros x lo hi b K Hlo Hhi HK; apply le_epsilon; intros eta Heta; assert (Hk := kappa_pos).
  destruct (blend_limit x b eta Heta) as [M [HM Hlim]].
  set (lo' := Rmin lo (- M)); set (hi' := Rmax hi M).
  assert (Hl : lo' <= lo) by apply Rmin_l; assert (Hh : hi <= hi') by apply Rmax_l.
  specialize (Hlim lo' hi' (Rmin_r _ _) (Rmax_r _ _)); apply Rabs_le_between in Hlim.
  assert (E1 : blend x lo' lo b + blend x lo hi' b = blend x lo' hi' b) by apply RInt_split, blend_continuous.
  assert (E2 : blend x lo hi b + blend x hi hi' b = blend x lo hi' b) by apply RInt_split, blend_continuous.
  assert (P1 := blend_piece x lo' lo b Hl); assert (P2 := blend_piece x hi hi' b Hh).
  assert (T1 : 2 * kappa - tail K <= tail lo) by (rewrite <- tail_opp; apply tail_decreasing; exact Hlo).
  assert (T2 : tail hi <= tail K) by (apply tail_decreasing; exact Hhi).
  generalize (tail_bounds lo') (tail_bounds hi'); intros B1 B2.
  assert (2 * kappa * (tail lo' - tail lo) <= 2 * kappa * tail K) by (apply Rmult_le_compat_l; lra).
  assert (2 * kappa * (tail hi - tail hi') <= 2 * kappa * tail K) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(** The probability that normal noise of deviation s exceeds y. *)
Definition exceedance (s y : R) : R := tail (y / s) / (2 * kappa).

Lemma exceedance_bounds : forall s y, 0 <= exceedance s y <= 1.
Proof.
  intros s y; assert (Hk := kappa_pos); destruct (tail_bounds (y / s)) as [H1 H2]; unfold exceedance; split.
  - apply Rmult_le_pos; [exact H1 | apply Rlt_le, Rinv_0_lt_compat; lra].
  - apply Rmult_le_reg_r with (2 * kappa); [lra |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma exceedance_lipschitz : forall s, 0 < s -> lipschitz (/ (s * (2 * kappa))) (exceedance s).
Proof.
  intros s Hs u v; assert (Hk := kappa_pos); unfold exceedance.
  replace (tail (u / s) / (2 * kappa) - tail (v / s) / (2 * kappa))
    with (/ (2 * kappa) * (tail (u / s) - tail (v / s))) by (field; lra).
  assert (Hi : 0 < / (2 * kappa)) by (apply Rinv_0_lt_compat; lra).
  assert (Hj : 0 < / s) by (apply Rinv_0_lt_compat; exact Hs).
  rewrite Rabs_mult, Rabs_right by lra.
  replace (/ (s * (2 * kappa)) * Rabs (u - v)) with (/ (2 * kappa) * (Rabs (u - v) * / s)) by (field; lra).
  apply Rmult_le_compat_l; [lra |]; eapply Rle_trans; [apply tail_lipschitz |].
  rewrite <- (Rabs_right (/ s)) by lra; rewrite <- Rabs_mult; right; f_equal; field; lra.
Qed.

Section SoftHalfSpace.

Context {A : Type}.
Variables (sigma c m w lower upper : A -> R) (s : R).
Hypothesis sigma_pos : forall a, 0 < sigma a.
Hypothesis ordered : forall a, lower a <= upper a.
Hypothesis s_pos : 0 < s.

(** Noise around m; the test measures it from c. *)
Let p a t := gaussian_density (sigma a) (t - m a).
Let distance a t := (t - c a) / sigma a.
Let offset a := (m a - c a) / sigma a.

(** Whether noise of deviation s exceeds y plus the sum of w (t - c)/sigma. *)
Fixpoint soft_half_space (l : list A) (y : R) (ts : list R) : R :=
  match l, ts with
  | a :: l', t :: ts' => soft_half_space l' (y + w a * ((t - c a) / sigma a)) ts'
  | _, _ => exceedance s y
  end.

Lemma soft_half_space_bounds : forall l y ts, 0 <= soft_half_space l y ts <= 1.
Proof.
  induction l as [| a l IH]; intros y [| t ts]; cbn [soft_half_space]; try apply exceedance_bounds; apply IH.
Qed.

Let probability l y := expectation l p lower upper (soft_half_space l y).

Lemma probability_cons : forall a l y,
  probability (a :: l) y = RInt (fun t => p a t * probability l (y + w a * distance a t)) (lower a) (upper a).
Proof. reflexivity. Qed.

Lemma noise_continuous : forall a t, continuous (p a) t.
Proof. intros a t; apply gaussian_continuous, sigma_pos. Qed.

Lemma noise_nonneg : forall a t, 0 <= p a t.
Proof. intros a t; apply Rlt_le, gaussian_pos, sigma_pos. Qed.

Lemma line_continuous : forall (f : R -> R) a y t, (forall u, continuous f u) ->
  continuous (fun t => p a t * f (y + w a * distance a t)) t.
Proof.
  intros f a y t Hf; apply (continuous_mult (p a) (fun t => f (y + w a * distance a t)));
    [apply noise_continuous |].
  apply (continuous_comp (fun t => y + w a * distance a t) f); [| apply Hf].
  specialize (sigma_pos a); apply derive_continuous with (w a * / sigma a); unfold distance.
  auto_derive; [trivial | real_ring].
Qed.

Lemma step_lipschitz : forall C f a, 0 <= C -> lipschitz C f ->
  lipschitz C (fun y => RInt (fun t => p a t * f (y + w a * distance a t)) (lower a) (upper a)).
Proof.
  intros C f a HC Hf; assert (Hc := lipschitz_continuous C f HC Hf).
  assert (Hex : forall y, ex_RInt (fun t => p a t * f (y + w a * distance a t)) (lower a) (upper a)).
  { intros y; apply ex_RInt_cont; intros t; apply line_continuous, Hc. }
  assert (Hp : ex_RInt (p a) (lower a) (upper a)) by (apply ex_RInt_cont, noise_continuous).
  assert (Hle : forall u v, RInt (fun t => p a t * f (u + w a * distance a t)) (lower a) (upper a) <=
    RInt (fun t => p a t * f (v + w a * distance a t)) (lower a) (upper a) + C * Rabs (u - v)).
  { intros u v.
    apply Rle_trans with (RInt (fun t =>
      p a t * f (v + w a * distance a t) + (C * Rabs (u - v)) * p a t) (lower a) (upper a)).
    - apply RInt_le; [apply ordered | apply Hex | |].
      { apply ex_RInt_add; [apply Hex | apply ex_RInt_mult_const, Hp]. }
      intros t _; assert (H := Hf (u + w a * distance a t) (v + w a * distance a t)).
      replace (u + w a * distance a t - (v + w a * distance a t)) with (u - v) in H by ring.
      apply Rabs_le_between in H; generalize (noise_nonneg a t); intros; nra.
    - rewrite (RInt_add _ _ _ _ (Hex v) (ex_RInt_mult_const _ _ _ _ Hp)), (RInt_mult_const _ _ _ _ Hp).
      apply Rplus_le_compat_l; rewrite <- (Rmult_1_r (C * Rabs (u - v))) at 2.
      apply Rmult_le_compat_l; [apply Rmult_le_pos; [exact HC | apply Rabs_pos] |].
      apply gaussian_mass_le_1, sigma_pos. }
  intros u v; apply Rabs_le_between; generalize (Hle u v) (Hle v u); rewrite (Rabs_minus_sym v u); lra.
Qed.

Lemma soft_half_space_integrable : forall l,
  (forall y, integrable l p lower upper (soft_half_space l y)) /\
  lipschitz (/ (s * (2 * kappa))) (probability l).
Proof.
  assert (HC : 0 <= / (s * (2 * kappa))).
  { generalize kappa_pos; intros; apply Rlt_le, Rinv_0_lt_compat; nra. }
  induction l as [| a l [IHi IHl]].
  - split; [intros y; exact I | exact (exceedance_lipschitz s s_pos)].
  - split; [| exact (step_lipschitz _ (probability l) a HC IHl)].
    intros y; split; [intros t _; exact (IHi (y + w a * distance a t)) |].
    apply (ex_RInt_cont (fun t => p a t * probability l (y + w a * distance a t))); intros t.
    apply line_continuous; exact (lipschitz_continuous _ _ HC IHl).
Qed.

(** Normal noise plus normal noise of another coordinate. *)
Lemma exceedance_step : forall a s' y, 0 < s' ->
  RInt (fun t => p a t * exceedance s' (y + w a * distance a t)) (lower a) (upper a) =
  blend ((y + w a * offset a) / sqrt (s' ^ 2 + w a ^ 2))
    ((lower a - m a) / sigma a) ((upper a - m a) / sigma a) (w a / s') / (2 * kappa) ^ 2.
Proof.
  intros a s' y Hs'; assert (Hs := sigma_pos a); assert (Hk := kappa_pos).
  set (r := sqrt (s' ^ 2 + w a ^ 2)); set (x := (y + w a * offset a) / r).
  assert (Hr : 0 < r) by (apply sqrt_lt_R0; generalize (pow2_ge_0 (w a)); nra).
  assert (Hslope : sqrt (1 + (w a / s') ^ 2) = r / s').
  { rewrite <- (sqrt_pow2 (r / s')) by (apply Rlt_le, Rdiv_lt_0_compat; assumption); f_equal.
    unfold Rdiv at 2; rewrite Rpow_mult_distr; unfold r.
    rewrite pow2_sqrt by (generalize (pow2_ge_0 (w a)); nra).
    field; lra. }
  set (f := fun v => bell v * tail (x * sqrt (1 + (w a / s') ^ 2) + w a / s' * v)).
  assert (Hf : forall t, continuous f t) by apply blend_continuous.
  assert (Hcomp := RInt_comp_lin f (/ sigma a) (- m a / sigma a) (lower a) (upper a) (ex_RInt_cont f _ _ Hf)).
  replace (/ sigma a * lower a + - m a / sigma a) with ((lower a - m a) / sigma a) in Hcomp by (field; lra).
  replace (/ sigma a * upper a + - m a / sigma a) with ((upper a - m a) / sigma a) in Hcomp by (field; lra).
  unfold blend; fold f; rewrite <- Hcomp.
  match goal with |- _ = ?I / _ => transitivity (/ (2 * kappa) ^ 2 * I) end; [| apply Rmult_comm].
  rewrite <- RInt_mult_const.
  - apply RInt_same; intros t.
    change (scal (/ sigma a) (f (/ sigma a * t + - m a / sigma a)))
      with (/ sigma a * f (/ sigma a * t + - m a / sigma a)).
    replace (/ sigma a * t + - m a / sigma a) with ((t - m a) / sigma a) by (field; lra).
    unfold p, gaussian_density; rewrite two_kappa; fold (bell ((t - m a) / sigma a)); unfold f, exceedance.
    replace (x * sqrt (1 + (w a / s') ^ 2) + w a / s' * ((t - m a) / sigma a))
      with ((y + w a * distance a t) / s').
    2: { rewrite Hslope; unfold x, distance, offset; field; repeat split; lra. }
    field; lra.
  - apply ex_RInt_cont; intros t.
    apply (continuous_mult (fun _ => / sigma a) (fun t => f (/ sigma a * t + - m a / sigma a)));
      [apply continuous_const |].
    apply (continuous_comp (fun t => / sigma a * t + - m a / sigma a) f); [| apply Hf].
    apply derive_continuous with (/ sigma a); auto_derive; [trivial | real_ring].
Qed.

(** ** All coordinates *)

Definition deviation (l : list A) : R := sqrt (s ^ 2 + sum_over l (fun a => w a ^ 2)).
Definition drift (l : list A) : R := sum_over l (fun a => w a * ((m a - c a) / sigma a)).

Lemma deviation_pos : forall l, 0 < deviation l.
Proof.
  intros l; apply sqrt_lt_R0.
  assert (0 <= sum_over l (fun a => w a ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0); nra.
Qed.

Lemma deviation_cons : forall a l, sqrt (deviation l ^ 2 + w a ^ 2) = deviation (a :: l).
Proof.
  intros a l; unfold deviation.
  assert (0 <= sum_over l (fun b => w b ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0).
  rewrite pow2_sqrt by nra; rewrite sum_cons; f_equal; ring.
Qed.

Lemma deviation_nil : deviation [] = s.
Proof. unfold deviation; cbn; rewrite Rplus_0_r, Rmult_1_r; apply sqrt_square; lra. Qed.

Lemma step_continuous : forall a l y t,
  continuous (fun t => p a t * exceedance (deviation l) (y + w a * distance a t)) t.
Proof.
  intros a l y t; apply line_continuous.
  apply (lipschitz_continuous (/ (deviation l * (2 * kappa)))); [| apply exceedance_lipschitz, deviation_pos].
  generalize kappa_pos (deviation_pos l); intros; apply Rlt_le, Rinv_0_lt_compat; nra.
Qed.

Lemma probability_continuous : forall a l y t,
  continuous (fun t => p a t * probability l (y + w a * distance a t)) t.
Proof.
  intros a l y t; apply line_continuous, (lipschitz_continuous (/ (s * (2 * kappa)))).
  - generalize kappa_pos; intros; apply Rlt_le, Rinv_0_lt_compat; nra.
  - apply soft_half_space_integrable.
Qed.

Theorem soft_half_space_le : forall l y, probability l y <= exceedance (deviation l) (y + drift l).
Proof.
  induction l as [| a l IH]; intros y.
  - rewrite deviation_nil; unfold drift; cbn; rewrite Rplus_0_r; apply Rle_refl.
  - assert (Hk := kappa_pos); assert (Hs := sigma_pos a); rewrite probability_cons.
    apply Rle_trans with
      (RInt (fun t => p a t * exceedance (deviation l) (y + drift l + w a * distance a t))
        (lower a) (upper a)).
    + apply RInt_le; [apply ordered | | |]; [apply ex_RInt_cont, probability_continuous | |].
      { apply ex_RInt_cont, step_continuous. }
      intros t _; apply Rmult_le_compat_l; [apply noise_nonneg |].
      replace (y + drift l + w a * distance a t) with (y + w a * distance a t + drift l) by ring; apply IH.
    + rewrite exceedance_step, deviation_cons by apply deviation_pos.
      replace (y + drift l + w a * offset a) with (y + drift (a :: l))
        by (unfold drift, offset; rewrite sum_cons; ring).
      set (x := (y + drift (a :: l)) / deviation (a :: l)); unfold exceedance; fold x.
      apply Rle_trans with (2 * kappa * tail x / (2 * kappa) ^ 2); [| right; field; lra].
      apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; nra |]; apply blend_le.
      apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; exact Hs | specialize (ordered a); lra].
Qed.

(** From below, on boxes that reach K deviations on both sides. *)
Theorem soft_half_space_ge : forall K, 0 <= K -> forall l,
  (forall a, In a l -> lower a <= m a - K * sigma a /\ m a + K * sigma a <= upper a) ->
  forall y, exceedance (deviation l) (y + drift l) - INR (length l) * (tail K / kappa) <= probability l y.
Proof.
  intros K HK; assert (Hk := kappa_pos).
  assert (He : 0 <= tail K / kappa).
  { apply Rmult_le_pos; [apply tail_bounds | apply Rlt_le, Rinv_0_lt_compat, Hk]. }
  induction l as [| a l IH]; intros Hbox y.
  - rewrite deviation_nil; unfold drift; cbn; rewrite Rplus_0_r; lra.
  - assert (Hs := sigma_pos a); rewrite probability_cons; cbn [length]; rewrite S_INR.
    specialize (IH (fun b Hb => Hbox b (or_intror Hb))).
    set (e := INR (length l) * (tail K / kappa)) in *.
    replace ((INR (length l) + 1) * (tail K / kappa)) with (e + tail K / kappa) by (unfold e; ring).
    assert (Hepos : 0 <= e) by (apply Rmult_le_pos; [apply pos_INR | exact He]).
    set (f := fun t => p a t * exceedance (deviation l) ((y + drift l) + w a * distance a t)).
    assert (Hf : ex_RInt f (lower a) (upper a)) by (apply ex_RInt_cont, step_continuous).
    assert (Hp : ex_RInt (p a) (lower a) (upper a)) by (apply ex_RInt_cont, noise_continuous).
    apply Rle_trans with (RInt (fun t => f t - e * p a t) (lower a) (upper a)).
    + rewrite (RInt_sub _ _ _ _ Hf (ex_RInt_mult_const _ e _ _ Hp)), (RInt_mult_const _ _ _ _ Hp).
      assert (Hmass := gaussian_mass_le_1 (sigma a) (m a) (lower a) (upper a) Hs).
      assert (e * RInt (p a) (lower a) (upper a) <= e)
        by (rewrite <- (Rmult_1_r e) at 2; apply Rmult_le_compat_l; assumption).
      assert (exceedance (deviation (a :: l)) (y + drift (a :: l)) - tail K / kappa
        <= RInt f (lower a) (upper a)); [| lra].
      unfold f; rewrite exceedance_step, deviation_cons by apply deviation_pos.
      replace (y + drift l + w a * offset a) with (y + drift (a :: l))
        by (unfold drift, offset; rewrite sum_cons; ring).
      set (x := (y + drift (a :: l)) / deviation (a :: l)); unfold exceedance; fold x.
      apply Rle_trans with ((2 * kappa * tail x - 4 * kappa * tail K) / (2 * kappa) ^ 2);
        [right; field; lra |].
      apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; nra |].
      destruct (Hbox a (or_introl eq_refl)) as [H1 H2].
      apply blend_ge; [| | exact HK]; apply Rmult_le_reg_r with (sigma a); try exact Hs.
      * replace ((lower a - m a) / sigma a * sigma a) with (lower a - m a) by (field; lra); lra.
      * replace ((upper a - m a) / sigma a * sigma a) with (upper a - m a) by (field; lra); lra.
    + apply RInt_le; [apply ordered | | apply ex_RInt_cont, probability_continuous |].
      * apply ex_RInt_sub; [exact Hf | apply ex_RInt_mult_const, Hp].
      * intros t _; unfold f; rewrite (Rmult_comm e), <- Rmult_minus_distr_l.
        apply Rmult_le_compat_l; [apply noise_nonneg |].
        replace (y + drift l + w a * distance a t) with (y + w a * distance a t + drift l) by ring; apply IH.
Qed.

End SoftHalfSpace.
