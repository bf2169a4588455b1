(** * The premises of some theorems can be met

    A theorem whose premises nothing meets would say nothing. Where a theorem of [Statements.v] asks for more
    than signs and neighbours, a lemma here meets its premises. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith Lra Lia.
From CFM Require Import Definitions Sums Change Box Expectation Theorem5 Theorem5Regime Ball.
From CFM Require Import SoftHalfSpace BinomialLaw Countable Hardened.
Import ListNotations.
Open Scope R_scope.

(** [theorem_5_exact_accounting]: with two equal scales on the ball, without a fairness term or with
    |z - zbar|, the weighted change has the supremum that it asks for, and nu > 0. *)
Lemma weighted_change_has_a_supremum : forall r n d s sigma, 0 < sigma ->
  0 <= alpha_1 r -> (1 <= n)%nat -> (1 <= d)%nat -> (forall sign, fairness_term r <> Covariance sign) ->
  0 < ball_gain r n / sigma /\
  is_lub (fun v => exists D D', neighbours n (unit_ball d) D D' /\
    v = l2_change_squared r d (contains s) D D' / sigma ^ 2 +
        l2_change_squared r d (contains_not s) D D' / sigma ^ 2) ((ball_gain r n / sigma) ^ 2).
Proof.
  intros r n d s sigma Hs Ha Hn Hd HF; destruct (ball_l2_exact r n d Ha Hn Hd HF) as [Hup [D [D' [HDD' E]]]].
  assert (Hgain : 0 < ball_gain r n).
  { assert (0 <= alpha_1 r * drift_limit n) by (apply Rmult_le_pos; [exact Ha | apply (nu_bounds n Hn)]).
    unfold ball_gain; destruct (fairness_term r) as [| | sign]; [lra | lra | destruct (HF sign eq_refl)]. }
  assert (Hsum : forall E E', l2_change_squared r d (contains s) E E' / sigma ^ 2 +
    l2_change_squared r d (contains_not s) E E' / sigma ^ 2
    = l2_change_squared r d all_monomials E E' / sigma ^ 2)
    by (intros; rewrite (l2_two_parts r d s); field; lra).
  replace ((ball_gain r n / sigma) ^ 2) with (ball_gain r n ^ 2 / sigma ^ 2) by (field; lra).
  split; [apply Rdiv_lt_0_compat; assumption |]; split.
  - intros v [E1 [E2 [H ->]]]; rewrite Hsum; apply Rmult_le_compat_r; [| apply Hup, H].
    apply Rlt_le, Rinv_0_lt_compat; nra.
  - intros b Hb; apply Hb; exists D, D'; split; [exact HDD' |]; rewrite Hsum, E; reflexivity.
Qed.

(** [composition_adds_up]: for normal densities and the test that is 1 everywhere, every premise about
    integrals holds: densities are continuous, a box has mass at most 1, the integrals exist. *)
Lemma integrals_of_a_composition_exist : forall (A : Type) (sigma c c' : A -> R) (l1 l2 : list A) epsilon,
  (forall a, 0 < sigma a) ->
  let p a t := gaussian_density (sigma a) (t - c a) in
  let q a t := gaussian_density (sigma a) (t - c' a) in
  nonnegative_density p /\ nonnegative_density q /\ continuous_density p /\ continuous_density q /\
  forall lower upper, (forall a, lower a <= upper a) ->
    (forall a, RInt (p a) (lower a) (upper a) <= 1) /\
    integrable (l1 ++ l2) p lower upper (fun _ => 1) /\ integrable (l1 ++ l2) q lower upper (fun _ => 1) /\
    let best (_ : list R) := Rmax 0 (Rmin 1 (exp epsilon * expectation l2 q lower upper (fun _ => 1))) in
    integrable l1 p lower upper best /\ integrable l1 q lower upper best.
Proof.
  intros A sigma c c' l1 l2 epsilon Hs p q.
  assert (Hc : forall m : A -> R, continuous_density (fun a t => gaussian_density (sigma a) (t - m a)))
    by (intros m a t; apply gaussian_continuous, Hs).
  assert (H0 : forall m : A -> R, nonnegative_density (fun a t => gaussian_density (sigma a) (t - m a))).
  { intros m a t; unfold gaussian_density; apply Rlt_le, Rdiv_lt_0_compat; [apply exp_pos |].
    apply Rmult_lt_0_compat; [apply Hs | apply sqrt_lt_R0]; generalize PI_RGT_0; lra. }
  split; [apply H0 |]; split; [apply H0 |]; split; [apply Hc |]; split; [apply Hc |].
  intros lower upper Ho; split; [intros a; apply gaussian_mass_le_1, Hs |].
  split; [| split; [| split]]; apply (expectation_constant lower upper); apply Hc.
Qed.

(** [clopper_pearson_lower]: the limit that is x after n successes in n trials, and 0 otherwise, has the tail
    x^n; this is Clopper and Pearson's limit at k = n. *)
Lemma limit_after_successes_only : forall n x, 0 <= x <= 1 ->
  lower_limit n (x ^ n) (fun k => if Nat.eqb k n then x else 0).
Proof.
  intros n x Hx k Hk; destruct (Nat.eqb k n) eqn:E; [| split; [lra | intros; lra]].
  apply Nat.eqb_eq in E; subst k; split; [exact Hx | intros _]; unfold at_least, probability, outcomes.
  rewrite seq_S, sum_app, (sum_zero (seq 0 n)).
  - cbn [sum_over fold_right]; rewrite Nat.leb_refl, binomial_formula, choose_n, Nat.sub_diag by lia; cbn;
      lra.
  - intros j Hj; apply in_seq in Hj; destruct (Nat.leb_spec n j); [lia | reflexivity].
Qed.

(** [repaired_lemma_2_exact]: label and group take both values, whatever the attributes are. *)
Lemma targets_take_both_values : forall x b,
  (exists t, attribute t = x /\ label t = b) /\ (exists t, attribute t = x /\ protected t = b).
Proof. intros x b; split; exists (Tuple x b b); split; reflexivity. Qed.

(** Hardened noise: the program's grid, with one of the roundings that are allowed, is sound. *)
Lemma a_sound_grid : sound_grid (Grid (2 ^ 32) (fun v => Int_part (v + 1 / 2)) (2 ^ 62)).
Proof.
  split; [cbn [grid_steps]; apply pow_lt; lra |]; split; [exact a_rounding | cbn [largest_step]; lia].
Qed.
