(** * The normal distribution function, its tail and its convolution

    Everything is written with the unnormalised bell g(t) = exp(-t^2/2); its integral over the real line is 2
    kappa = sqrt(2 pi).  [tail x] is the integral of g beyond x.  Integrals are differentiated under the
    sign. *)

From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From CFM Require Import Analysis.
Open Scope R_scope.

Definition bell (t : R) : R := exp (- (t ^ 2 / 2)).
Definition bell_integral (x : R) : R := RInt bell 0 x.
Definition kappa : R := sqrt (PI / 2).
Definition tail (x : R) : R := kappa - bell_integral x.

Lemma bell_pos : forall t, 0 < bell t.
Proof. intros t; apply exp_pos. Qed.

Lemma bell_derivative : forall t, is_derive bell t (- t * bell t).
Proof.
  intros t; unfold bell; apply derive_value with ((- t) * exp (- (t ^ 2 / 2))); [| reflexivity].
  apply (derive_comp exp (fun u => - (u ^ 2 / 2))); [apply is_derive_Reals, derivable_pt_lim_exp |].
  auto_derive; [trivial | field].
Qed.

Lemma bell_continuous : forall t, continuous bell t.
Proof. intros t; apply (derive_continuous bell t _ (bell_derivative t)). Qed.

Lemma bell_even : forall t, bell (- t) = bell t.
Proof. intros t; unfold bell; f_equal; field. Qed.

Lemma exp_le : forall a b, a <= b -> exp a <= exp b.
Proof. intros a b [H | ->]; [left; apply exp_increasing; exact H | right; reflexivity]. Qed.

Lemma bell_le_1 : forall t, bell t <= 1.
Proof.
  intros t; unfold bell; rewrite <- exp_0; apply exp_le; generalize (pow2_ge_0 t); lra.
Qed.

Lemma exp_opp_le : forall a, 0 <= a -> exp (- a) <= / (1 + a).
Proof.
  intros a Ha; rewrite exp_Ropp; apply Rinv_le_contravar; [lra |].
  destruct (Req_dec a 0) as [-> | Hne]; [rewrite exp_0; lra |].
  left; apply exp_ineq1; lra.
Qed.

Lemma bell_vanishes : forall eta, 0 < eta -> exists M, 0 < M /\ forall t, M <= Rabs t -> bell t <= eta.
Proof.
  intros eta Heta; exists (Rmax 1 (2 / eta)); split; [generalize (Rmax_l 1 (2 / eta)); lra |].
  intros t Ht; unfold bell.
  assert (H1 : 1 <= Rabs t) by (eapply Rle_trans; [apply Rmax_l | exact Ht]).
  assert (H2 : 2 / eta <= Rabs t) by (eapply Rle_trans; [apply Rmax_r | exact Ht]).
  rewrite <- (pow2_abs t); set (u := Rabs t) in *.
  eapply Rle_trans; [apply exp_opp_le; nra |].
  rewrite <- (Rinv_inv eta); apply Rinv_le_contravar; [apply Rinv_0_lt_compat; exact Heta |].
  assert (2 / eta = 2 * / eta) by reflexivity; nra.
Qed.

Lemma bell_integral_derivative : forall x, is_derive bell_integral x (bell x).
Proof. intros x; apply derive_RInt_upper, bell_continuous. Qed.

Lemma bell_integral_0 : bell_integral 0 = 0.
Proof. exact (RInt_point 0 bell). Qed.

Lemma RInt_bell : forall a b, RInt bell a b = bell_integral b - bell_integral a.
Proof. intros a b; apply RInt_derivative; [apply bell_integral_derivative | apply bell_continuous]. Qed.

Lemma bell_integral_odd : forall x, bell_integral (- x) = - bell_integral x.
Proof.
  intros x.
  assert (H : bell_integral (- x) + bell_integral x = bell_integral (- 0) + bell_integral 0).
  { apply (derivative_zero_constant (fun u => bell_integral (- u) + bell_integral u)).
    intros u; apply derive_value with (- 1 * bell (- u) + bell u); [| rewrite bell_even; ring].
    apply derive_plus; [| apply bell_integral_derivative].
    apply (derive_comp bell_integral (fun v => - v));
      [apply bell_integral_derivative | auto_derive; [trivial | real_ring]]. }
  rewrite Ropp_0, bell_integral_0 in H; lra.
Qed.

Lemma bell_integral_increasing : forall a b, a <= b -> bell_integral a <= bell_integral b.
Proof.
  intros a b H; apply (derivative_nonneg_le bell_integral bell); [exact H | |];
    intros; [apply bell_integral_derivative | apply Rlt_le, bell_pos].
Qed.

(** ** Differentiation under the integral sign *)

Lemma derive_RInt_param : forall (f df : R -> R -> R) a b x,
  (forall u t, is_derive (fun v => f v t) u (df u t)) ->
  (forall u t, continuity_2d_pt df u t) ->
  (forall u t, continuous (f u) t) ->
  is_derive (fun u => RInt (f u) a b) x (RInt (df x) a b).
Proof.
  intros f df a b x Hd Hc Hf.
  assert (Heq : forall u t, Derive (fun v => f v t) u = df u t) by (intros u t; apply is_derive_unique, Hd).
  rewrite <- (RInt_ext (fun t => Derive (fun u => f u t) x) (df x)) by (intros t _; apply Heq).
  apply is_derive_RInt_param.
  - apply filter_forall; intros y t _; exists (df y t); apply Hd.
  - intros t _; apply (continuity_2d_pt_ext df); [intros u v; symmetry; apply Heq | apply Hc].
  - apply filter_forall; intros y; apply ex_RInt_cont, Hf.
Qed.

(** Continuity in two variables of a composition. *)
Lemma continuity_2d_comp : forall (h : R -> R) (f : R -> R -> R) u t,
  (forall v, continuity_pt h v) -> continuity_2d_pt f u t -> continuity_2d_pt (fun a b => h (f a b)) u t.
Proof. intros h f u t Hh Hf; apply continuity_1d_2d_pt_comp; [apply Hh | exact Hf]. Qed.

Lemma bell_continuity : forall t, continuity_pt bell t.
Proof. intros t; apply (derive_continuity bell t _ (bell_derivative t)). Qed.

(** ** The Gaussian integral *)

Definition bell_arc (x : R) : R := RInt (fun t => bell x * bell (x * t) * (2 / (1 + t ^ 2))) 0 1.

Lemma one_plus_square_pos : forall t, 0 < 1 + t ^ 2.
Proof. intros t; generalize (pow2_ge_0 t); lra. Qed.

Lemma RInt_scaled_bell : forall x, x * RInt (fun t => bell (x * t)) 0 1 = bell_integral x.
Proof.
  intros x; unfold bell_integral.
  assert (Hcomp := RInt_comp_lin bell x 0 0 1 (ex_RInt_cont bell _ _ bell_continuous)).
  rewrite Rmult_0_r, Rmult_1_r, !Rplus_0_r in Hcomp; rewrite <- Hcomp, <- RInt_mult_const.
  - apply RInt_ext; intros t _; rewrite Rplus_0_r; reflexivity.
  - apply ex_RInt_cont; intros t.
    apply (continuous_comp (fun u => x * u) bell); [| apply bell_continuous].
    apply (continuous_mult (fun _ => x) (fun u => u)); [apply continuous_const | apply continuous_id].
Qed.

Lemma arc_continuous : forall x t, continuous (fun t => bell x * bell (x * t) * (2 / (1 + t ^ 2))) t.
Proof.
  intros u t; generalize (one_plus_square_pos t); intros H.
  apply (continuous_mult (fun t => bell u * bell (u * t)) (fun t => 2 / (1 + t ^ 2))).
  - apply (continuous_mult (fun _ => bell u) (fun t => bell (u * t))); [apply continuous_const |].
    apply (continuous_comp (fun t => u * t) bell); [| apply bell_continuous].
    apply derive_continuous with u; auto_derive; [trivial | real_ring].
  - apply derive_continuous with (- 4 * t / (1 + t ^ 2) ^ 2); auto_derive;
      [simpl in H; lra | field; simpl in H; lra].
Qed.

Lemma arc_derivative : forall x, is_derive bell_arc x (- 2 * bell x * bell_integral x).
Proof.
  intros x; unfold bell_arc.
  set (f := fun u t => bell u * bell (u * t) * (2 / (1 + t ^ 2))).
  set (df := fun u t => - 2 * u * bell u * bell (u * t)).
  apply derive_value with (RInt (df x) 0 1).
  - apply (derive_RInt_param f df).
    + intros u t; unfold f, df; generalize (one_plus_square_pos t); intros H.
      apply derive_value with (((- u * bell u) * bell (u * t) + bell u * (t * (- (u * t) * bell (u * t)))) *
        (2 / (1 + t ^ 2))
        + bell u * bell (u * t) * 0); [| field; lra].
      apply (derive_mult (fun v => bell v * bell (v * t)) (fun _ => 2 / (1 + t ^ 2)));
        [| auto_derive; trivial].
      apply (derive_mult bell (fun v => bell (v * t))); [apply bell_derivative |].
      apply (derive_comp bell (fun v => v * t)); [apply bell_derivative | auto_derive; [trivial | real_ring]].
    + intros u t; unfold df.
      apply continuity_2d_pt_mult; [apply continuity_2d_pt_mult; [apply continuity_2d_pt_mult |] |].
      * apply continuity_2d_pt_const.
      * apply continuity_2d_pt_id1.
      * apply (continuity_2d_comp bell (fun a b => a)); [apply bell_continuity | apply continuity_2d_pt_id1].
      * apply (continuity_2d_comp bell (fun a b => a * b)); [apply bell_continuity |].
        apply continuity_2d_pt_mult; [apply continuity_2d_pt_id1 | apply continuity_2d_pt_id2].
    + intros u t; apply arc_continuous.
  - unfold df; rewrite (RInt_same _ (fun t => (- 2 * bell x) * (x * bell (x * t)))) by (intros; ring).
    assert (Hex : ex_RInt (fun t => bell (x * t)) 0 1).
    { apply ex_RInt_cont; intros t.
      apply (continuous_comp (fun u => x * u) bell); [| apply bell_continuous].
      apply (continuous_mult (fun _ => x) (fun u => u)); [apply continuous_const | apply continuous_id]. }
    rewrite (RInt_mult_const (fun t => x * bell (x * t))) by (apply ex_RInt_mult_const; exact Hex).
    rewrite (RInt_mult_const (fun t => bell (x * t))), RInt_scaled_bell by exact Hex.
    reflexivity.
Qed.

Lemma arc_0 : bell_arc 0 = PI / 2.
Proof.
  unfold bell_arc.
  rewrite (RInt_same _ (fun t => 2 / (1 + t ^ 2))).
  - rewrite (RInt_derivative (fun t => 2 * atan t) (fun t => 2 / (1 + t ^ 2))).
    + rewrite atan_1, atan_0; field.
    + intros t; generalize (one_plus_square_pos t); intros H; auto_derive; [trivial |]; unfold Rsqr; field;
        simpl in H; lra.
    + intros t; generalize (one_plus_square_pos t); intros H.
      apply derive_continuous with (- 4 * t / (1 + t ^ 2) ^ 2); auto_derive;
        [simpl in H; lra | field; simpl in H; lra].
  - intros t; rewrite Rmult_0_l; unfold bell; replace (- (0 ^ 2 / 2)) with 0 by field; rewrite exp_0; ring.
Qed.

Lemma arc_identity : forall x, bell_integral x ^ 2 + bell_arc x = PI / 2.
Proof.
  intros x; replace (PI / 2) with (bell_integral 0 ^ 2 + bell_arc 0)
    by (rewrite bell_integral_0, arc_0; ring).
  apply (derivative_zero_constant (fun u => bell_integral u ^ 2 + bell_arc u)); intros u.
  apply derive_value with (2 * bell_integral u * bell u + (- 2 * bell u * bell_integral u)); [| ring].
  apply derive_plus; [| apply arc_derivative].
  apply derive_value with (bell u * (2 * bell_integral u)); [| ring].
  apply (derive_comp (fun v => v ^ 2) bell_integral);
    [auto_derive; [trivial | real_ring] | apply bell_integral_derivative].
Qed.

Lemma arc_integrable : forall x, ex_RInt (fun t => bell x * bell (x * t) * (2 / (1 + t ^ 2))) 0 1.
Proof. intros x; apply ex_RInt_cont, arc_continuous. Qed.

Lemma arc_bounds : forall x, 0 <= bell_arc x <= PI / 2 * bell x.
Proof.
  intros x; split.
  - unfold bell_arc; apply RInt_ge_0; [lra | apply arc_integrable |]; intros t _.
    apply Rmult_le_pos; [apply Rmult_le_pos; apply Rlt_le, bell_pos |].
    apply Rlt_le, Rdiv_lt_0_compat; [lra | apply one_plus_square_pos].
  - rewrite <- arc_0, Rmult_comm; unfold bell_arc; rewrite <- RInt_mult_const by apply arc_integrable.
    apply RInt_le; [lra | apply arc_integrable | apply ex_RInt_mult_const, arc_integrable |]; intros t _.
    replace (bell 0) with 1 by (unfold bell; rewrite <- exp_0; f_equal; field).
    rewrite Rmult_0_l; replace (bell 0) with 1 by (unfold bell; rewrite <- exp_0; f_equal; field).
    assert (0 <= 2 / (1 + t ^ 2)) by (apply Rlt_le, Rdiv_lt_0_compat; [lra | apply one_plus_square_pos]).
    generalize (bell_pos x) (bell_pos (x * t)) (bell_le_1 (x * t)); intros.
    assert (bell x * bell (x * t) <= bell x) by nra.
    nra.
Qed.

Lemma kappa_pos : 0 < kappa.
Proof. apply sqrt_lt_R0; generalize PI_RGT_0; lra. Qed.

Lemma kappa_square : kappa ^ 2 = PI / 2.
Proof. unfold kappa; apply pow2_sqrt; generalize PI_RGT_0; lra. Qed.

Lemma two_kappa : sqrt (2 * PI) = 2 * kappa.
Proof.
  unfold kappa; replace (2 * PI) with (2 ^ 2 * (PI / 2)) by field.
  rewrite sqrt_mult, sqrt_pow2 by (generalize PI_RGT_0; lra); reflexivity.
Qed.

Lemma bell_integral_bounds : forall x, - kappa <= bell_integral x <= kappa.
Proof.
  intros x; generalize (arc_identity x) (proj1 (arc_bounds x)) kappa_square kappa_pos; intros.
  split; nra.
Qed.

Lemma bell_integral_lower : forall x, 0 <= x -> kappa * (1 - bell x) <= bell_integral x.
Proof.
  intros x Hx; generalize (arc_identity x) (proj2 (arc_bounds x)) kappa_square kappa_pos (bell_pos x)
    (bell_le_1 x); intros.
  assert (0 <= bell_integral x) by (rewrite <- bell_integral_0; apply bell_integral_increasing; exact Hx).
  assert (kappa ^ 2 * (1 - bell x) <= bell_integral x ^ 2) by nra.
  assert ((kappa * (1 - bell x)) ^ 2 <= bell_integral x ^ 2) by nra.
  destruct (Rle_or_lt (kappa * (1 - bell x)) (bell_integral x)); [assumption | nra].
Qed.

(** ** The tail *)

Lemma tail_bounds : forall x, 0 <= tail x <= 2 * kappa.
Proof. intros x; unfold tail; generalize (bell_integral_bounds x); lra. Qed.

Lemma tail_le_bell : forall x, 0 <= x -> tail x <= kappa * bell x.
Proof. intros x Hx; unfold tail; generalize (bell_integral_lower x Hx); lra. Qed.

Lemma tail_opp : forall x, tail (- x) = 2 * kappa - tail x.
Proof. intros x; unfold tail; rewrite bell_integral_odd; ring. Qed.

Lemma tail_decreasing : forall a b, a <= b -> tail b <= tail a.
Proof. intros a b H; unfold tail; generalize (bell_integral_increasing a b H); lra. Qed.

Lemma tail_derivative : forall x, is_derive tail x (- bell x).
Proof.
  intros x; unfold tail; apply derive_value with (0 - bell x); [| ring].
  apply derive_minus; [auto_derive; trivial | apply bell_integral_derivative].
Qed.

Lemma tail_continuous : forall x, continuous tail x.
Proof. intros x; apply (derive_continuous tail x _ (tail_derivative x)). Qed.

Lemma RInt_bell_tail : forall a b, RInt bell a b = tail a - tail b.
Proof. intros a b; rewrite RInt_bell; unfold tail; real_ring. Qed.

(** ** Convolution: g against the tail of an affine function *)

Definition blend (x lo hi b : R) : R := RInt (fun t => bell t * tail (x * sqrt (1 + b ^ 2) + b * t)) lo hi.

Lemma bell_rotation : forall x b t,
  bell t * bell (x * sqrt (1 + b ^ 2) + b * t) = bell x * bell (t * sqrt (1 + b ^ 2) + x * b).
Proof.
  intros x b t; unfold bell; rewrite <- !exp_plus; f_equal.
  assert (H : sqrt (1 + b ^ 2) ^ 2 = 1 + b ^ 2) by (apply pow2_sqrt; generalize (pow2_ge_0 b); lra).
  set (w := sqrt (1 + b ^ 2)) in *.
  replace ((x * w + b * t) ^ 2) with (x ^ 2 * w ^ 2 + 2 * x * w * b * t + b ^ 2 * t ^ 2) by ring.
  replace ((t * w + x * b) ^ 2) with (t ^ 2 * w ^ 2 + 2 * x * w * b * t + b ^ 2 * x ^ 2) by ring.
  rewrite H; field.
Qed.

Lemma sqrt_ge_1 : forall b, 1 <= sqrt (1 + b ^ 2).
Proof. intros b; rewrite <- sqrt_1 at 1; apply sqrt_le_1_alt; generalize (pow2_ge_0 b); lra. Qed.

Definition blend_slope (x b t : R) : R :=
  - (bell t * bell (x * sqrt (1 + b ^ 2) + b * t)) * (x * (b / sqrt (1 + b ^ 2)) + t).

Lemma sqrt_derivative : forall b, is_derive (fun u => sqrt (1 + u ^ 2)) b (b / sqrt (1 + b ^ 2)).
Proof.
  intros b; assert (H := sqrt_ge_1 b); auto_derive.
  - generalize (pow2_ge_0 b); simpl; lra.
  - simpl in *; field; lra.
Qed.

Lemma blend_derivative : forall x lo hi b, is_derive (blend x lo hi) b (RInt (blend_slope x b) lo hi).
Proof.
  intros x lo hi b; unfold blend.
  apply (derive_RInt_param (fun u t => bell t * tail (x * sqrt (1 + u ^ 2) + u * t)) (blend_slope x)).
  - intros u t; unfold blend_slope.
    apply derive_value with (bell t * ((x * (u / sqrt (1 + u ^ 2)) + t) *
      - bell (x * sqrt (1 + u ^ 2) + u * t))); [| ring].
    apply derive_scal.
    apply (derive_comp tail (fun v => x * sqrt (1 + v ^ 2) + v * t)); [apply tail_derivative |].
    apply derive_plus; [apply derive_scal, sqrt_derivative | auto_derive; [trivial | real_ring]].
  - intros u t; unfold blend_slope.
    assert (Hs : forall v, continuity_pt (fun b => sqrt (1 + b ^ 2)) v)
      by (intros v; apply (derive_continuity _ v _ (sqrt_derivative v))).
    assert (Hr : forall v, continuity_pt (fun b => b / sqrt (1 + b ^ 2)) v).
    { intros v; apply (derive_continuity _ v (1 / sqrt (1 + v ^ 2)
        - v * (v / sqrt (1 + v ^ 2)) / sqrt (1 + v ^ 2) ^ 2)).
      generalize (sqrt_ge_1 v); intros Hv; unfold Rdiv.
      apply derive_value with (1 * / sqrt (1 + v ^ 2)
        + v * (- (v / sqrt (1 + v ^ 2)) / sqrt (1 + v ^ 2) ^ 2)).
      - apply (is_derive_mult (fun b => b) (fun b => / sqrt (1 + b ^ 2))).
        + auto_derive; trivial.
        + apply (is_derive_inv (fun b => sqrt (1 + b ^ 2))); [apply sqrt_derivative | lra].
        + intros; apply Rmult_comm.
      - field; lra. }
    assert (Hx : continuity_2d_pt (fun a _ => x * sqrt (1 + a ^ 2)) u t).
    { apply continuity_2d_pt_mult; [apply continuity_2d_pt_const |].
      apply (continuity_2d_comp (fun v => sqrt (1 + v ^ 2)) (fun a _ => a));
        [exact Hs | apply continuity_2d_pt_id1]. }
    assert (Hx' : continuity_2d_pt (fun a _ => x * (a / sqrt (1 + a ^ 2))) u t).
    { apply continuity_2d_pt_mult; [apply continuity_2d_pt_const |].
      apply (continuity_2d_comp (fun v => v / sqrt (1 + v ^ 2)) (fun a _ => a));
        [exact Hr | apply continuity_2d_pt_id1]. }
    apply continuity_2d_pt_mult; [apply continuity_2d_pt_opp, continuity_2d_pt_mult |].
    + apply (continuity_2d_comp bell (fun _ c => c)); [apply bell_continuity | apply continuity_2d_pt_id2].
    + apply (continuity_2d_comp bell (fun a c => x * sqrt (1 + a ^ 2) + a * c)); [apply bell_continuity |].
      apply continuity_2d_pt_plus; [exact Hx |].
      apply continuity_2d_pt_mult; [apply continuity_2d_pt_id1 | apply continuity_2d_pt_id2].
    + apply continuity_2d_pt_plus; [exact Hx' | apply continuity_2d_pt_id2].
  - intros u t; apply (continuous_mult bell (fun t => tail (x * sqrt (1 + u ^ 2) + u * t)));
      [apply bell_continuous |].
    apply (continuous_comp (fun t => x * sqrt (1 + u ^ 2) + u * t) tail); [| apply tail_continuous].
    apply derive_continuous with u; auto_derive; [trivial | real_ring].
Qed.

Lemma blend_slope_integral : forall x lo hi b,
  RInt (blend_slope x b) lo hi =
  bell x / (1 + b ^ 2) * (bell (hi * sqrt (1 + b ^ 2) + x * b) - bell (lo * sqrt (1 + b ^ 2) + x * b)).
Proof.
  intros x lo hi b; assert (Hw := sqrt_ge_1 b).
  assert (Hw2 : sqrt (1 + b ^ 2) ^ 2 = 1 + b ^ 2) by (apply pow2_sqrt; generalize (pow2_ge_0 b); lra).
  assert (Hslope : forall t, blend_slope x b t =
    - (bell x * bell (t * sqrt (1 + b ^ 2) + x * b)) * (x * (b / sqrt (1 + b ^ 2)) + t)).
  { intros t; unfold blend_slope; rewrite bell_rotation; reflexivity. }
  rewrite (RInt_same _ _ lo hi Hslope).
  set (w := sqrt (1 + b ^ 2)) in *.
  rewrite (RInt_derivative (fun t => bell x / (1 + b ^ 2) * bell (t * w + x * b))).
  - real_ring.
  - intros t; apply derive_value with
      (bell x / (1 + b ^ 2) * (w * (- (t * w + x * b) * bell (t * w + x * b)))).
    + apply derive_scal, (derive_comp bell (fun v => v * w + x * b));
        [apply bell_derivative | auto_derive; [trivial | real_ring]].
    + rewrite <- Hw2; field; lra.
  - intros t.
    apply (continuous_mult (fun t => - (bell x * bell (t * w + x * b))) (fun t => x * (b / w) + t)).
    + apply (continuous_opp (fun t => bell x * bell (t * w + x * b))).
      apply (continuous_mult (fun _ => bell x) (fun t => bell (t * w + x * b))); [apply continuous_const |].
      apply (continuous_comp (fun t => t * w + x * b) bell); [| apply bell_continuous].
      apply derive_continuous with w; auto_derive; [trivial | real_ring].
    + apply derive_continuous with 1; auto_derive; [trivial | real_ring].
Qed.

Lemma blend_0 : forall x lo hi, blend x lo hi 0 = tail x * (tail lo - tail hi).
Proof.
  intros x lo hi; unfold blend; rewrite <- RInt_bell_tail, <- RInt_mult_const by apply ex_RInt_cont,
    bell_continuous.
  apply RInt_same; intros t; replace (1 + 0 ^ 2) with 1 by ring; rewrite sqrt_1.
  replace (x * 1 + 0 * t) with x by ring; ring.
Qed.

Lemma blend_limit : forall x b eta, 0 < eta ->
  exists M, 0 < M /\ forall lo hi, lo <= - M -> M <= hi -> Rabs (blend x lo hi b - 2 * kappa * tail x) <= eta.
Proof.
  intros x b eta Heta.
  assert (Hk := kappa_pos); assert (HB := Rabs_pos b).
  set (K := 2 * Rabs b + 4 * kappa ^ 2 + 1).
  assert (HK : 0 < K) by (unfold K; nra).
  destruct (bell_vanishes (eta / K) (Rdiv_lt_0_compat _ _ Heta HK)) as [M0 [HM0 HM]].
  set (xi := eta / K) in *.
  assert (Hxi : xi * K = eta) by (unfold xi; field; lra).
  assert (Hxi0 : 0 < xi) by (apply Rdiv_lt_0_compat; assumption).
  exists (M0 + Rabs x * Rabs b); split; [generalize (Rabs_pos x); nra |].
  intros lo hi Hlo Hhi.
  assert (Hxb := Rmult_le_pos _ _ (Rabs_pos x) HB).
  assert (Hslope : forall c, Rabs c <= Rabs b -> Rabs (RInt (blend_slope x c) lo hi) <= 2 * xi).
  { intros c Hc; rewrite blend_slope_integral.
    assert (Hw := sqrt_ge_1 c); set (w := sqrt (1 + c ^ 2)) in *.
    assert (Hxc : - (Rabs x * Rabs b) <= x * c <= Rabs x * Rabs b).
    { assert (Rabs (x * c) <= Rabs x * Rabs b).
      { rewrite Rabs_mult; apply Rmult_le_compat_l; [apply Rabs_pos | exact Hc]. }
      revert H; unfold Rabs at 1; destruct Rcase_abs; lra. }
    assert (H1 : bell (hi * w + x * c) <= xi).
    { apply HM; rewrite Rabs_right; nra. }
    assert (H2 : bell (lo * w + x * c) <= xi).
    { apply HM; rewrite Rabs_left1; nra. }
    generalize (bell_pos (hi * w + x * c)) (bell_pos (lo * w + x * c)) (bell_pos x) (bell_le_1 x); intros.
    assert (0 < bell x / (1 + c ^ 2) <= 1).
    { generalize (pow2_ge_0 c); intros; split; [apply Rdiv_lt_0_compat; lra |].
      apply Rmult_le_reg_r with (1 + c ^ 2); [lra |]; field_simplify; lra. }
    set (m := bell x / (1 + c ^ 2)) in *.
    apply Rabs_le; split; nra. }
  assert (Hmvt : Rabs (blend x lo hi b - blend x lo hi 0) <= 2 * xi * Rabs b).
  { destruct (MVT_gen (blend x lo hi) 0 b (fun c => RInt (blend_slope x c) lo hi)) as [c [Hc Heq]].
    - intros; apply blend_derivative.
    - intros c _; apply (derive_continuity _ _ _ (blend_derivative x lo hi c)).
    - rewrite Heq, Rminus_0_r, Rabs_mult; apply Rmult_le_compat_r; [exact HB |]; apply Hslope.
      revert Hc; unfold Rmin, Rmax, Rabs; destruct (Rle_dec 0 b), (Rcase_abs c), (Rcase_abs b); intros; lra. }
  assert (Hzero : Rabs (blend x lo hi 0 - 2 * kappa * tail x) <= 4 * kappa ^ 2 * xi).
  { rewrite blend_0.
    assert (H1 : tail hi <= kappa * xi).
    { eapply Rle_trans; [apply tail_le_bell; lra |]; apply Rmult_le_compat_l; [lra |].
      apply HM; rewrite Rabs_right; lra. }
    assert (H2 : 2 * kappa - tail lo <= kappa * xi).
    { rewrite <- tail_opp; eapply Rle_trans; [apply tail_le_bell; lra |]; apply Rmult_le_compat_l; [lra |].
      apply HM; rewrite Rabs_Ropp, Rabs_left1; lra. }
    generalize (tail_bounds x) (tail_bounds lo) (tail_bounds hi); intros.
    apply Rabs_le; split; nra. }
  replace (blend x lo hi b - 2 * kappa * tail x)
    with (blend x lo hi b - blend x lo hi 0 + (blend x lo hi 0 - 2 * kappa * tail x)) by ring.
  eapply Rle_trans; [apply Rabs_triang |].
  rewrite <- Hxi; unfold K; nra.
Qed.
