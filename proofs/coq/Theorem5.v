(** * Theorem 5: ADFC

    The paper's proof bounds the change on Phi_s by Delta_2'/d. Two data sets in the unit ball exceed this
    bound, and two data sets of 1000 records refute the theorem's conclusion. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal Expectation Change Box BoxSensitivity Gaussian
  ExtendedGaussian.
Import ListNotations.
Open Scope R_scope.

(** ** Two data sets in the unit ball *)

(** All records sit at the unit vector e_s with y = z = 0, but one, which goes from (y, z) = (1, 0) to (0,
    1). *)
Definition unit_vector (s e : nat) : R := if Nat.eqb e s then 1 else 0.

Definition ball_D (s n : nat) : dataset :=
  Tuple (unit_vector s) true false :: repeat (Tuple (unit_vector s) false false) (n - 1).
Definition ball_D' (s n : nat) : dataset :=
  Tuple (unit_vector s) false true :: repeat (Tuple (unit_vector s) false false) (n - 1).

Lemma unit_vector_in_ball : forall s d y z, (s < d)%nat -> unit_ball d (Tuple (unit_vector s) y z).
Proof.
  intros s d y z Hs; split.
  - intros e _; cbn; unfold unit_vector; destruct (Nat.eqb e s); lra.
  - cbn [attribute]; rewrite (sum_ext _ _ (fun e => if Nat.eqb e s then 1 else 0)).
    + rewrite (sum_delta d s (fun _ => 1)) by exact Hs; lra.
    + intros e _; unfold unit_vector; destruct (Nat.eqb e s); ring.
Qed.

Lemma ball_neighbours : forall s d n, (s < d)%nat -> (1 <= n)%nat ->
  neighbours n (unit_ball d) (ball_D s n) (ball_D' s n).
Proof.
  intros s d n Hs Hn.
  assert (Hrest : Forall (unit_ball d) (repeat (Tuple (unit_vector s) false false) (n - 1))).
  { apply Forall_forall; intros o Ho; apply repeat_spec in Ho; subst o; apply unit_vector_in_ball; exact Hs. }
  split; [unfold ball_D; simpl; rewrite repeat_length; lia |].
  split; [apply Forall_cons; [apply unit_vector_in_ball |]; assumption |].
  split; [apply Forall_cons; [apply unit_vector_in_ball |]; assumption |].
  exists [], (Tuple (unit_vector s) true false), (Tuple (unit_vector s) false true),
    (repeat (Tuple (unit_vector s) false false) (n - 1)).
  split; reflexivity.
Qed.

Definition ball_gain (r : reading) (n : nat) : R :=
  match fairness_term r with
  | NoFairness => 1
  | Absolute => 1 + 2 * alpha_1 r * drift_limit n
  | Covariance _ => 0
  end.

(** The same with any record v in place of the unit vector. *)
Lemma one_place_change : forall v r n phi, (1 <= n)%nat ->
  fairness_term r <> Covariance true -> fairness_term r <> Covariance false ->
  coefficient r (Tuple v true false :: repeat (Tuple v false false) (n - 1)) phi
  - coefficient r (Tuple v false true :: repeat (Tuple v false false) (n - 1)) phi =
  match phi with Linear e => - (ball_gain r n * v e) | Quadratic _ _ => 0 end.
Proof.
  intros v r n phi Hn HF1 HF2; destruct n as [| k]; [lia |]; rewrite Nat.sub_succ, Nat.sub_0_r.
  set (t := Tuple v true false); set (t' := Tuple v false true); set (rest := repeat (Tuple v false false) k).
  change (t :: rest) with ([] ++ t :: rest); change (t' :: rest) with ([] ++ t' :: rest).
  assert (HK : INR (length ([] ++ rest)) = INR k) by (unfold rest; simpl; rewrite repeat_length; reflexivity).
  assert (Hk : 0 <= INR k) by apply pos_INR.
  assert (Hm : sum_over ([] ++ rest) (fun o => number (protected o)) = 0) by (unfold rest; simpl app;
    rewrite sum_repeat; simpl; ring).
  destruct phi as [e | e l].
  - rewrite linear_change, zbar_D, zbar_D', Hm, HK; unfold fairness_sum; simpl app; unfold rest;
      rewrite sum_repeat.
    unfold ball_gain; unfold drift_limit; rewrite S_INR.
    assert (H2 : Rabs (0 - (0 + 1) / (INR k + 1)) = 1 / (INR k + 1)).
    { rewrite Rabs_left1; [field; lra |].
      apply Rmult_le_reg_r with (INR k + 1); [lra |]; field_simplify; lra. }
    assert (H1 : Rabs (1 - (0 + 1) / (INR k + 1)) = INR k / (INR k + 1)).
    { rewrite Rabs_right; [field; lra |].
      apply Rle_ge, Rmult_le_reg_r with (INR k + 1); [lra |]; field_simplify; lra. }
    assert (H0 : Rabs (0 - (0 + 0) / (INR k + 1)) = 0).
    { replace (0 - (0 + 0) / (INR k + 1)) with 0 by (field; lra); apply Rabs_R0. }
    destruct (fairness_term r) as [| | []]; try (exfalso; apply HF1; reflexivity);
      try (exfalso; apply HF2; reflexivity);
      cbn [fairness_factor t t' attribute label protected number].
    + field.
    + rewrite H0, H1, H2; field; lra.
  - rewrite quadratic_change; cbn [t t' attribute]; ring.
Qed.

Lemma ball_change : forall r s n phi, (1 <= n)%nat ->
  fairness_term r <> Covariance true -> fairness_term r <> Covariance false ->
  coefficient r (ball_D s n) phi - coefficient r (ball_D' s n) phi =
  match phi with Linear e => - (ball_gain r n * unit_vector s e) | Quadratic _ _ => 0 end.
Proof. intros r s; exact (one_place_change (unit_vector s) r). Qed.

Lemma ball_l2_s : forall r s n d, (1 <= n)%nat -> (s < d)%nat ->
  fairness_term r <> Covariance true -> fairness_term r <> Covariance false ->
  l2_change_squared r d (contains s) (ball_D s n) (ball_D' s n) = ball_gain r n ^ 2.
Proof.
  intros r s n d Hn Hs HF1 HF2; unfold l2_change_squared; rewrite sum_filter, sum_Phi.
  rewrite (sum_zero (pairs _ _)).
  - rewrite Rplus_0_r, (sum_ext _ _ (fun e => if Nat.eqb e s then ball_gain r n ^ 2 else 0)).
    + apply (sum_delta d s (fun _ => ball_gain r n ^ 2)); exact Hs.
    + intros e _; cbn [contains]; rewrite ball_change by assumption; unfold unit_vector;
        destruct (Nat.eqb e s); ring.
  - intros p _; rewrite ball_change by assumption; destruct (contains _ _); ring.
Qed.

(** The step of the proof: the change on Phi_s is at most Delta_2'/d. *)
Definition theorem5_step (r : reading) (n d s : nat) : Prop :=
  forall D D', neighbours n (unit_ball d) D D' ->
    l2_change_squared r d (contains s) D D' <= (sqrt (published_fair_l2_squared d) / INR d) ^ 2.

Theorem theorem5_step_false : forall r n d s,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (3 <= n)%nat -> (2 <= d)%nat -> (s < d)%nat ->
    ~ theorem5_step r n d s.
Proof.
  intros r n d s HF Ha Hn Hd Hs H.
  specialize (H _ _ (ball_neighbours s d n Hs ltac:(lia))).
  rewrite ball_l2_s in H by (try lia; rewrite HF; discriminate).
  unfold ball_gain in H; rewrite HF, Ha in H.
  assert (Hd2 : 2 <= INR d) by (apply (le_INR 2); exact Hd).
  assert (Hn3 : 3 <= INR n) by (replace 3 with (INR 3) by (simpl; lra); apply le_INR; exact Hn).
  unfold Rdiv in H; rewrite Rpow_mult_distr, pow2_sqrt in H by (unfold published_fair_l2_squared; nra).
  assert (Hnu : 2 / 3 <= drift_limit n).
  { unfold drift_limit; apply Rmult_le_reg_r with (INR n); [lra |]; field_simplify; lra. }
  assert (Hright : published_fair_l2_squared d * (/ INR d) ^ 2 <= 73 / 16).
  { unfold published_fair_l2_squared.
    replace ((INR d ^ 2 / 16 + 9 * INR d) * (/ INR d) ^ 2) with (1 / 16 + 9 * / INR d) by (field; lra).
    assert (/ INR d <= / 2) by (apply Rinv_le_contravar; lra); lra. }
  nra.
Qed.

(** ** The conclusion *)

(** Lower bound for the probability of a box. *)
Lemma mass_lower : forall (A : Type) (lower upper : A -> R) (l : list A) (p : A -> R -> R) v,
  (forall a, In a l -> exp (- v a) <= RInt (p a) (lower a) (upper a)) ->
  exp (- sum_over l v) <= mass lower upper l p.
Proof.
  induction l as [| a l IH]; intros p v H; [simpl; rewrite Ropp_0, exp_0; lra |].
  rewrite sum_cons, Ropp_plus_distr, exp_plus; cbn [mass fold_right]; fold (mass lower upper l p).
  apply Rmult_le_compat; [apply Rlt_le, exp_pos | apply Rlt_le, exp_pos | apply H; left; reflexivity |].
  apply IH; intros; apply H; right; assumption.
Qed.

Lemma mass_ratio_le : forall (A : Type) (lower upper : A -> R) (l : list A) (p q : A -> R -> R) w,
  (forall a, lower a <= upper a) -> continuous_density p -> continuous_density q -> nonnegative_density q ->
  (forall a t, In a l -> lower a < t < upper a -> q a t <= exp (w a) * p a t) ->
  mass lower upper l q <= exp (sum_over l w) * mass lower upper l p.
Proof.
  induction l as [| a l IH]; intros p q w Ho Hp Hq H0 H; [simpl; rewrite exp_0; lra |].
  rewrite sum_cons, exp_plus; cbn [mass fold_right]; fold (mass lower upper l p) (mass lower upper l q).
  replace (exp (w a) * exp (sum_over l w) * (RInt (p a) (lower a) (upper a) * mass lower upper l p))
    with (exp (w a) * RInt (p a) (lower a) (upper a) * (exp (sum_over l w) * mass lower upper l p)) by ring.
  apply Rmult_le_compat.
  - apply RInt_ge_0; [apply Ho | apply ex_RInt_cont, Hq | intros; apply H0].
  - clear - Ho Hq H0; induction l as [| b l IH]; [simpl; lra |].
    cbn [mass fold_right]; apply Rmult_le_pos; [| exact IH].
    apply RInt_ge_0; [apply Ho | apply ex_RInt_cont, Hq | intros; apply H0].
  - rewrite <- RInt_mult_const by apply ex_RInt_cont, Hp.
    apply RInt_le; [apply Ho | apply ex_RInt_cont, Hq | apply ex_RInt_mult_const, ex_RInt_cont, Hp |].
    intros t Ht; apply H; [left; reflexivity | exact Ht].
  - apply IH; try assumption; intros; apply H; [right |]; assumption.
Qed.

Lemma gaussian_continuous : forall sigma c t, 0 < sigma ->
  continuous (fun u => gaussian_density sigma (u - c)) t.
Proof.
  intros sigma c t Hs; unfold gaussian_density.
  apply (continuous_mult (fun u => bell ((u - c) / sigma)) (fun _ => / (sigma * sqrt (2 * PI))));
    [| apply continuous_const].
  apply (continuous_comp (fun u => (u - c) / sigma) bell); [| apply bell_continuous].
  apply derive_continuous with (/ sigma); auto_derive; [trivial | real_ring].
Qed.

Lemma gaussian_pos : forall sigma t, 0 < sigma -> 0 < gaussian_density sigma t.
Proof.
  intros sigma t Hs; unfold gaussian_density; apply Rdiv_lt_0_compat; [apply exp_pos |].
  apply Rmult_lt_0_compat; [exact Hs | apply sqrt_lt_R0; generalize PI_RGT_0; lra].
Qed.

(** The probability of [c + sigma lo, c + sigma hi]. *)
Lemma gaussian_interval : forall sigma c lo hi, 0 < sigma ->
  RInt (fun t => gaussian_density sigma (t - c)) (c + sigma * lo) (c + sigma * hi)
    = (tail lo - tail hi) / (2 * kappa).
Proof.
  intros sigma c lo hi Hs; assert (Hk := kappa_pos).
  assert (Hcomp := RInt_comp_lin bell (/ sigma) (- c / sigma) (c + sigma * lo) (c + sigma * hi)
    (ex_RInt_cont bell _ _ bell_continuous)).
  replace (/ sigma * (c + sigma * lo) + - c / sigma) with lo in Hcomp by (field; lra).
  replace (/ sigma * (c + sigma * hi) + - c / sigma) with hi in Hcomp by (field; lra).
  rewrite RInt_bell_tail in Hcomp; rewrite <- Hcomp.
  match goal with |- _ = ?I / _ => transitivity (/ (2 * kappa) * I) end; [| apply Rmult_comm].
  rewrite <- RInt_mult_const.
  - apply RInt_same; intros t.
    change (scal (/ sigma) (bell (/ sigma * t + - c / sigma)))
      with (/ sigma * bell (/ sigma * t + - c / sigma)).
    unfold gaussian_density; rewrite two_kappa; fold (bell ((t - c) / sigma)).
    replace (/ sigma * t + - c / sigma) with ((t - c) / sigma) by (field; lra); field; lra.
  - apply ex_RInt_cont; intros t.
    apply (continuous_mult (fun _ => / sigma) (fun t => bell (/ sigma * t + - c / sigma)));
      [apply continuous_const |].
    apply (continuous_comp (fun t => / sigma * t + - c / sigma) bell); [| apply bell_continuous].
    apply derive_continuous with (/ sigma); auto_derive; [trivial | real_ring].
Qed.

(** d = 48, so that Delta_2' = 24; budgets 13/2 and 1/100; both deltas sqrt(2/pi) exp(-18) < 2e-8. *)
Definition t5_delta : R := sqrt (2 / PI) * exp (- 18).

Lemma t5_delta_range : 0 < t5_delta <= sqrt (2 / PI).
Proof.
  unfold t5_delta; assert (0 < sqrt (2 / PI)) by (rewrite sqrt_two_over_pi;
    apply Rinv_0_lt_compat, kappa_pos).
  generalize (exp_pos (- 18)) (exp_le (- 18) 0 ltac:(lra)); rewrite exp_0; intros; split; nra.
Qed.

Lemma t5_log : ln (sqrt (2 / PI) / t5_delta) = 18.
Proof.
  unfold t5_delta; assert (0 < sqrt (2 / PI)) by (rewrite sqrt_two_over_pi;
    apply Rinv_0_lt_compat, kappa_pos).
  replace (exp (- 18)) with (/ exp 18) by (rewrite <- exp_Ropp; f_equal; lra).
  replace (sqrt (2 / PI) / (sqrt (2 / PI) * / exp 18)) with (exp 18); [apply ln_exp |].
  field; split; [generalize (exp_pos 18); lra | lra].
Qed.

Lemma t5_published : sqrt (published_fair_l2_squared 48) = 24.
Proof.
  unfold published_fair_l2_squared; replace (INR 48) with 48 by (simpl; lra).
  replace (48 ^ 2 / 16 + 9 * 48) with (24 ^ 2) by field; apply sqrt_pow2; lra.
Qed.

Lemma t5_sigma_s : extended_gaussian_sigma 24 (13 / 2) t5_delta = 24.
Proof.
  assert (H := extended_sigma_shift 24 (13 / 2) t5_delta ltac:(lra) ltac:(rewrite t5_log; lra)).
  rewrite t5_log in H; unfold allowed_shift in H.
  rewrite Rmult_minus_distr_l, <- !sqrt_mult in H by lra.
  replace (2 * (18 + 13 / 2)) with (7 ^ 2) in H by field; replace (2 * 18) with (6 ^ 2) in H by ring.
  rewrite !sqrt_pow2 in H by lra; lra.
Qed.

Lemma t5_sigma_n : 0 < extended_gaussian_sigma 24 (1 / 100) t5_delta.
Proof.
  unfold extended_gaussian_sigma; rewrite t5_log.
  assert (0 < sqrt 2) by (apply sqrt_lt_R0; lra); assert (0 < sqrt 18) by (apply sqrt_lt_R0; lra).
  assert (0 < sqrt (18 + 1 / 100)) by (apply sqrt_lt_R0; lra).
  apply Rmult_lt_0_compat; [| lra]; apply Rdiv_lt_0_compat; lra.
Qed.

(** The box: 3 to 2 of w_s's scales below its coefficient, and wide in all other coordinates. *)
Section ViolatedBox.
Variables (r : reading) (s : nat).
Hypothesis absolute_term : fairness_term r = Absolute.
Hypothesis weight_one : alpha_1 r = 1.
Hypothesis s_below : (s < 48)%nat.

Let D := ball_D s 1000.
Let D' := ball_D' s 1000.
Let scale := two_scales s 24 (extended_gaussian_sigma 24 (1 / 100) t5_delta).
Let c := coefficient r D.
Let c' := coefficient r D'.
Let l := Phi (basis r) 48.
Let n := INR (length l).
Let is_s phi := match phi with Linear e => Nat.eqb e s | Quadratic _ _ => false end.

Lemma t5_scales_positive : forall phi, 0 < scale phi.
Proof.
  intros phi; unfold scale, two_scales; destruct (contains s phi); [lra | exact t5_sigma_n].
Qed.

Lemma t5_change : forall phi, c phi - c' phi =
  match phi with Linear e => - (2998 / 1000 * unit_vector s e) | Quadratic _ _ => 0 end.
Proof.
  intros phi; unfold c, c', D, D'; rewrite ball_change by (try lia; rewrite absolute_term; discriminate).
  assert (Hg : ball_gain r 1000 = 2998 / 1000).
  { unfold ball_gain, drift_limit; rewrite absolute_term, weight_one; replace (INR 1000) with 1000
      by (rewrite INR_IZR_INZ; reflexivity); field. }
  destruct phi as [e | e k]; [rewrite Hg |]; reflexivity.
Qed.

Lemma t5_monomials : 0 < n.
Proof.
  unfold n, l, Phi; rewrite app_length, map_length; unfold coordinates; rewrite seq_length, plus_INR.
  generalize (pos_INR (length (map (fun p => Quadratic (fst p) (snd p)) (pairs (basis r) 48)))); intros.
  assert (0 < INR 48) by (apply lt_0_INR; lia); lra.
Qed.

Lemma t5_sum_at_s : forall u, sum_over l (fun phi => if is_s phi then u else 0) = u.
Proof.
  intros u; unfold l; rewrite sum_Phi, (sum_zero (pairs _ _)) by reflexivity.
  unfold is_s; rewrite (sum_delta 48 s (fun _ => u)) by exact s_below; ring.
Qed.

Variable K : R.
Hypothesis K_positive : 0 < K.
Hypothesis K_far : bell K <= 1 - exp (- (1 / n)).

Let lower phi := c phi + scale phi * (if is_s phi then - 3 else - K).
Let upper phi := c phi + scale phi * (if is_s phi then - 2 else K).
Let p := release gaussian_density scale r D.
Let q := release gaussian_density scale r D'.

Lemma t5_sides : forall phi, lower phi < upper phi.
Proof.
  intros phi; unfold lower, upper; assert (H := t5_scales_positive phi); destruct (is_s phi); nra.
Qed.

Lemma t5_side_probability : forall phi,
  exp (- ((if is_s phi then - ln (bell 3 / (2 * kappa)) else 0) + 1 / n)) <= RInt (p phi) (lower phi)
    (upper phi).
Proof.
  intros phi; assert (Hk := kappa_pos); assert (Hn := t5_monomials); assert (HbK := bell_pos K).
  assert (Hb3 : 0 < bell 3 / (2 * kappa)) by (apply Rdiv_lt_0_compat; [apply bell_pos | lra]).
  unfold p, release, lower, upper; fold c; rewrite gaussian_interval by apply t5_scales_positive.
  destruct (is_s phi).
  - apply Rle_trans with (bell 3 / (2 * kappa)).
    + rewrite Ropp_plus_distr, Ropp_involutive, exp_plus, exp_ln by exact Hb3.
      assert (exp (- (1 / n)) <= 1) by lra; nra.
    + apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; lra |].
      rewrite <- RInt_bell_tail.
      apply Rle_trans with (RInt (fun _ => bell 3) (- 3) (- 2)); [rewrite RInt_constant; lra |].
      apply RInt_le; [lra | apply ex_RInt_const | apply ex_RInt_cont, bell_continuous |].
      intros u Hu; unfold bell; apply exp_le; nra.
  - rewrite Rplus_0_l, tail_opp; assert (Ht := tail_le_bell K (Rlt_le _ _ K_positive)).
    apply Rmult_le_reg_r with (2 * kappa); [lra |].
    replace ((2 * kappa - tail K - tail K) / (2 * kappa) * (2 * kappa)) with (2 * kappa - 2 * tail K)
      by (field; lra).
    nra.
Qed.

(** The probability of the box under the first data set, and the ratio of the two. *)
Lemma t5_box_probability : bell 3 / (2 * kappa) * exp (- 1) <= mass lower upper l p.
Proof.
  assert (Hk := kappa_pos); assert (Hn := t5_monomials).
  assert (Hb3 : 0 < bell 3 / (2 * kappa)) by (apply Rdiv_lt_0_compat; [apply bell_pos | lra]).
  set (v phi := (if is_s phi then - ln (bell 3 / (2 * kappa)) else 0) + 1 / n).
  apply Rle_trans with (exp (- sum_over l v)).
  - unfold v; rewrite sum_plus, t5_sum_at_s, sum_const; fold n.
    replace (- (- ln (bell 3 / (2 * kappa)) + n * (1 / n))) with (ln (bell 3 / (2 * kappa)) + - 1)
      by (field; lra).
    rewrite exp_plus, exp_ln by exact Hb3; apply Rle_refl.
  - apply mass_lower; intros phi _; apply t5_side_probability.
Qed.

Lemma t5_box_ratio : mass lower upper l q <= exp (- (1 / 4)) * mass lower upper l p.
Proof.
  assert (Hscale := t5_scales_positive); rewrite <- (t5_sum_at_s (- (1 / 4))); apply mass_ratio_le;
    [intros; apply Rlt_le, t5_sides | intros phi t; apply gaussian_continuous, Hscale |
     intros phi t; apply gaussian_continuous, Hscale | |].
  - intros phi t; apply Rlt_le, gaussian_pos, Hscale.
  - intros phi t Hphi Ht; unfold q, p, release; fold c c'.
    assert (Hratio := density_ratio scale c c' Hscale phi t 0); rewrite exp_0, Rmult_1_l in Hratio;
      rewrite <- Hratio.
    rewrite Rmult_comm; apply Rmult_le_compat_r; [apply Rlt_le, gaussian_pos, Hscale |]; apply exp_le.
    rewrite t5_change; unfold lower, upper in Ht; unfold is_s in *; destruct phi as [e | e k].
    + unfold unit_vector; destruct (Nat.eqb_spec e s) as [-> | Hne];
        [| right; field; apply Rgt_not_eq, Hscale].
      assert (H24 : scale (Linear s) = 24) by (unfold scale, two_scales; cbn [contains];
        rewrite Nat.eqb_refl; reflexivity).
      rewrite H24 in *; lra.
    + right; field; apply Rgt_not_eq, Hscale.
Qed.
End ViolatedBox.

(** The numbers: the box is likely enough for the stated epsilon and delta. *)
Lemma t5_epsilon_small : exp (stated_epsilon 48 (13 / 2) (1 / 100)) * exp (- (1 / 4)) <= 10 / 11.
Proof.
  assert (Heps : stated_epsilon 48 (13 / 2) (1 / 100) <= 15 / 100)
    by (unfold stated_epsilon; replace (INR 48) with 48 by (simpl; lra); lra).
  rewrite <- exp_plus; apply Rle_trans with (exp (- (1 / 10))); [apply exp_le; lra |].
  eapply Rle_trans; [apply exp_opp_le; lra | right; field].
Qed.

Lemma t5_delta_small : stated_delta t5_delta t5_delta < 1 / 11 * (bell 3 / (2 * kappa) * exp (- 1)).
Proof.
  assert (Hk := kappa_pos); assert (H18 := exp_pos (- 18)).
  apply Rle_lt_trans with (2 / kappa * exp (- 18)).
  { unfold stated_delta, t5_delta; rewrite sqrt_two_over_pi; unfold Rdiv;
      generalize (pow2_ge_0 (/ kappa * exp (- 18))); lra. }
  replace (1 / 11 * (bell 3 / (2 * kappa) * exp (- 1))) with (/ kappa * (bell 3 * exp (- 1) / 22))
    by (field; lra).
  unfold Rdiv at 1; rewrite (Rmult_comm 2), Rmult_assoc; apply Rmult_lt_compat_l;
    [apply Rinv_0_lt_compat; exact Hk |].
  unfold bell; rewrite <- exp_plus; replace (- (3 ^ 2 / 2) + - 1) with (25 / 2 + - 18) by field;
    rewrite exp_plus.
  assert (H25 : 44 < exp (25 / 2)); [| nra].
  replace (25 / 2) with (5 / 2 + (5 / 2 + (5 / 2 + 5))) by field; rewrite !exp_plus.
  assert (7 / 2 < exp (5 / 2)) by (generalize (exp_ineq1 (5 / 2) ltac:(lra)); lra).
  assert (6 < exp 5) by (generalize (exp_ineq1 5 ltac:(lra)); lra).
  assert (21 < exp (5 / 2) * exp 5) by nra.
  assert (73 < exp (5 / 2) * (exp (5 / 2) * exp 5)) by nra.
  nra.
Qed.

Theorem theorem5_false_on_two_data_sets : forall r s,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (s < 48)%nat ->
  let D := ball_D s 1000 in
  let D' := ball_D' s 1000 in
  let scale := two_scales s (extended_gaussian_sigma (sqrt (published_fair_l2_squared 48)) (13 / 2) t5_delta)
                            (extended_gaussian_sigma (sqrt (published_fair_l2_squared 48)) (1 / 100)
                              t5_delta) in
  exists lower upper, (forall phi, lower phi < upper phi) /\
    exp (stated_epsilon 48 (13 / 2) (1 / 100)) *
      expectation (Phi (basis r) 48) (release gaussian_density scale r D') lower upper (fun _ => 1)
      + stated_delta t5_delta t5_delta
    < expectation (Phi (basis r) 48) (release gaussian_density scale r D) lower upper (fun _ => 1).
Proof.
  intros r s HF Ha Hs D D' scale; unfold scale; rewrite t5_published, t5_sigma_s; clear scale.
  set (scale := two_scales s 24 (extended_gaussian_sigma 24 (1 / 100) t5_delta)); set (l := Phi (basis r) 48).
  assert (Hn := t5_monomials r s Hs); fold l in Hn; set (n := INR (length l)) in *.
  assert (Hgap : 0 < 1 - exp (- (1 / n))).
  { assert (0 < 1 / n) by (apply Rdiv_lt_0_compat; lra).
    assert (exp (- (1 / n)) < exp 0) by (apply exp_increasing; lra); rewrite exp_0 in *; lra. }
  destruct (bell_vanishes _ Hgap) as [K [HK Hbell]].
  assert (HbK : bell K <= 1 - exp (- (1 / n))) by (apply Hbell; rewrite Rabs_right; lra).
  set (is_s := fun phi => match phi with Linear e => Nat.eqb e s | Quadratic _ _ => false end).
  set (lower := fun phi => coefficient r D phi + scale phi * (if is_s phi then - 3 else - K)).
  set (upper := fun phi => coefficient r D phi + scale phi * (if is_s phi then - 2 else K)).
  set (p := release gaussian_density scale r D); set (q := release gaussian_density scale r D').
  exists lower, upper; split; [exact (t5_sides r s K HK) |].
  assert (HP : bell 3 / (2 * kappa) * exp (- 1) <= mass lower upper l p)
    by exact (t5_box_probability r s Hs K HK HbK).
  assert (HQ : mass lower upper l q <= exp (- (1 / 4)) * mass lower upper l p)
    by exact (t5_box_ratio r s HF Ha Hs K HK).
  assert (Hscale : forall phi, 0 < scale phi) by exact (t5_scales_positive s).
  assert (Hpc : continuous_density p) by (intros phi t; apply gaussian_continuous, Hscale).
  assert (Hqc : continuous_density q) by (intros phi t; apply gaussian_continuous, Hscale).
  rewrite (proj2 (expectation_constant lower upper l p 1 Hpc)),
    (proj2 (expectation_constant lower upper l q 1 Hqc)), !Rmult_1_r.
  set (P := mass lower upper l p) in *; set (Q := mass lower upper l q) in *.
  assert (Hexp := t5_epsilon_small); assert (Hdelta := t5_delta_small); assert (Hk := kappa_pos).
  assert (HP0 : 0 < P).
  { eapply Rlt_le_trans; [| exact HP]; apply Rmult_lt_0_compat; [| apply exp_pos].
    apply Rdiv_lt_0_compat; [apply bell_pos | lra]. }
  assert (Hleft : exp (stated_epsilon 48 (13 / 2) (1 / 100)) * Q <= 10 / 11 * P); [| lra].
  apply Rle_trans with (exp (stated_epsilon 48 (13 / 2) (1 / 100)) * (exp (- (1 / 4)) * P)).
  - apply Rmult_le_compat_l; [apply Rlt_le, exp_pos | exact HQ].
  - rewrite <- Rmult_assoc; apply Rmult_le_compat_r; lra.
Qed.

Theorem theorem5_false : forall r s,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (s < 48)%nat ->
  ~ differentially_private (stated_epsilon 48 (13 / 2) (1 / 100)) (stated_delta t5_delta t5_delta) 1000 48
    (unit_ball 48)
      gaussian_density
      (two_scales s (extended_gaussian_sigma (sqrt (published_fair_l2_squared 48)) (13 / 2) t5_delta)
                    (extended_gaussian_sigma (sqrt (published_fair_l2_squared 48)) (1 / 100) t5_delta)) r.
Proof.
  intros r s HF Ha Hs H.
  destruct (theorem5_false_on_two_data_sets r s HF Ha Hs) as [lower [upper [Hlu Hviolated]]].
  set (scale := two_scales _ _ _) in *.
  assert (Hscale : forall phi, 0 < scale phi).
  { intros phi; unfold scale, two_scales; rewrite t5_published, t5_sigma_s.
    destruct (contains s phi); [lra | exact t5_sigma_n]. }
  specialize (H _ _ (ball_neighbours s 48 1000 Hs ltac:(lia)) lower upper (fun _ => 1)
    (fun phi => Rlt_le _ _ (Hlu phi)) ltac:(intros; lra)).
  assert (Hc : forall E, continuous_density (release gaussian_density scale r E))
    by (intros E phi t; apply gaussian_continuous, Hscale).
  specialize (H (proj1 (expectation_constant _ _ _ _ 1 (Hc _)))
    (proj1 (expectation_constant _ _ _ _ 1 (Hc _)))).
  lra.
Qed.
