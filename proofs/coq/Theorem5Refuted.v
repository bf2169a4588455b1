(** * Theorem 5 at deltas that a user would set

    Where the lower end of the profile exceeds the delta that Theorem 5 states, the theorem is false at these
    budgets. Whole numbers decide it. *)

From Coq Require Import Reals List Bool PeanoNat ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal Change Box BoxSensitivity Laplace Gaussian
  ExtendedGaussian Theorem5 Theorem5Regime GaussianExact Theorem5Fails SigmaBound ProfileEnds.
Open Scope R_scope.

(** ** Theorem 5 at given budgets and deltas *)

(** The largest change of w_s's coefficient in the unit ball is at least 3 - 2 / records. *)
Definition split_refuted (d records : nat) (epsilon_s epsilon_n delta sigma nu : Q) (steps : nat)
    (bits : positive) : bool :=
  let epsilon := ((epsilon_s + epsilon_n * (inject_Z (Z.of_nat d) - 1)) / inject_Z (Z.of_nat d))%Q in
  let stated := (1 - (1 - delta) * (1 - delta))%Q in
  match profile_bounds steps bits nu epsilon with
  | Some (low, _) =>
      negb (Qle_bool epsilon_n 0) && Qle_bool (nu * sigma) (3 - 2 / inject_Z (Z.of_nat records))
      && negb (Qle_bool low stated)
  | None => false
  end.

(** The two data sets of the ball differ by at least nu where their largest change is at least nu sigma_s. *)
Lemma ball_reaches : forall r n d s nu ss sn, fairness_term r = Absolute -> 0 <= alpha_1 r ->
  (1 <= n)%nat -> (s < d)%nat -> 0 < nu -> 0 < ss -> 0 < sn -> nu * ss <= ball_gain r n ->
  nu ^ 2 <= l2_change_squared r d (contains s) (ball_D s n) (ball_D' s n) / ss ^ 2
    + l2_change_squared r d (contains_not s) (ball_D s n) (ball_D' s n) / sn ^ 2.
Proof.
  intros r n d s nu ss sn HF Ha Hn Hs Hnu Hss Hsn Hgain.
  assert (HU : l2_change_squared r d (contains s) (ball_D s n) (ball_D' s n) = ball_gain r n ^ 2)
    by (apply ball_l2_s; try assumption; try lia; rewrite HF; discriminate).
  assert (HV := l2_nonneg r d (contains_not s) (ball_D s n) (ball_D' s n)).
  set (V := l2_change_squared r d (contains_not s) (ball_D s n) (ball_D' s n)) in *.
  assert (H1 : (nu * ss) ^ 2 <= ball_gain r n ^ 2)
    by (apply pow_incr; split; [apply Rmult_le_pos; lra | exact Hgain]).
  assert (H2 : 0 <= V / sn ^ 2) by (apply Rmult_le_pos; [exact HV | left; apply Rinv_0_lt_compat; nra]).
  rewrite HU; assert (H3 : nu ^ 2 <= ball_gain r n ^ 2 / ss ^ 2); [| lra].
  apply Rmult_le_reg_r with (ss ^ 2); [nra |].
  replace (ball_gain r n ^ 2 / ss ^ 2 * ss ^ 2) with (ball_gain r n ^ 2) by (field; lra).
  rewrite <- Rpow_mult_distr; exact H1.
Qed.

Lemma extended_sigma_positive : forall Delta epsilon delta, 0 < Delta -> 0 < epsilon ->
  0 < delta <= sqrt (2 / PI) -> 0 < extended_gaussian_sigma Delta epsilon delta.
Proof.
  intros Delta epsilon delta HD He Hdelta; assert (HL := log_nonneg delta Hdelta).
  assert (H := extended_sigma_shift Delta epsilon delta He HL); assert (Hf := allowed_shift_pos _ _ HL He).
  destruct (Rle_or_lt (extended_gaussian_sigma Delta epsilon delta) 0); [exfalso; nra | assumption].
Qed.

Theorem theorem5_refuted_by_numbers : forall r n d s records epsilon_s epsilon_n delta sigma nu steps bits
    l2_squared logarithm root root' factor,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (1 <= records <= n)%nat -> (s < d)%nat ->
  Q2R l2_squared = published_fair_l2_squared d ->
  sigma_suffices l2_squared epsilon_s delta sigma logarithm root root' factor = true ->
  split_refuted d records epsilon_s epsilon_n delta sigma nu steps bits = true ->
  ~ differentially_private (stated_epsilon d (Q2R epsilon_s) (Q2R epsilon_n))
      (stated_delta (Q2R delta) (Q2R delta)) n d (unit_ball d) gaussian_density
      (two_scales s (extended_gaussian_sigma (sqrt (published_fair_l2_squared d)) (Q2R epsilon_s) (Q2R
        delta))
        (extended_gaussian_sigma (sqrt (published_fair_l2_squared d)) (Q2R epsilon_n) (Q2R delta))) r.
Proof.
  intros r n d s records es en delta sigma nu0 steps bits V l u u' w HF Ha Hn Hs HV Hsigma Hnumbers Hprivate.
  destruct (sigma_suffices_correct V es delta sigma l u u' w Hsigma) as [Hes [Hdelta Hle]];
    rewrite HV in Hle.
  unfold split_refuted in Hnumbers; cbv zeta in Hnumbers.
  set (epsilon := ((es + en * (inject_Z (Z.of_nat d) - 1)) / inject_Z (Z.of_nat d))%Q) in *.
  set (stated := (1 - (1 - delta) * (1 - delta))%Q) in *.
  destruct (profile_bounds steps bits nu0 epsilon) as [[low high] |] eqn:Ebounds; [| discriminate].
  apply profile_bounds_correct in Ebounds; destruct Ebounds as [Hnu0 [Hlow _]].
  rewrite normal_profile in Hlow by exact Hnu0.
  rewrite !andb_true_iff in Hnumbers; destruct Hnumbers as [[Hen Hreach] Hbeats].
  apply Q_strict in Hen, Hbeats; apply Qle_bool_R in Hreach; rewrite RMicromega.Q2R_0 in Hen.
  assert (Hd : 0 < INR d) by (apply lt_0_INR; lia).
  assert (Hepsilon : Q2R epsilon = stated_epsilon d (Q2R es) (Q2R en)).
  { unfold epsilon; rewrite Q2R_div, Q2R_plus, Q2R_mult, Q2R_minus, Q2R_of_nat, RMicromega.Q2R_1
      by (rewrite Q2R_of_nat; exact Hd).
    unfold stated_epsilon; field; lra. }
  assert (Estated : Q2R stated = stated_delta (Q2R delta) (Q2R delta)).
  { unfold stated, stated_delta; rewrite !Q2R_minus, Q2R_mult, !Q2R_minus, !RMicromega.Q2R_1; reflexivity. }
  set (Delta := sqrt (published_fair_l2_squared d)) in *.
  assert (HD : 0 < Delta) by (apply sqrt_lt_R0, published_fair_l2_pos; lia).
  assert (Hss := extended_sigma_positive Delta (Q2R es) (Q2R delta) HD Hes Hdelta).
  assert (Hsn := extended_sigma_positive Delta (Q2R en) (Q2R delta) HD Hen Hdelta).
  set (ss := extended_gaussian_sigma Delta (Q2R es) (Q2R delta)) in *.
  set (sn := extended_gaussian_sigma Delta (Q2R en) (Q2R delta)) in *.
  assert (Hgain : Q2R nu0 * ss <= ball_gain r n).
  { assert (Hrecords : 0 < INR records) by (apply lt_0_INR; lia).
    rewrite Q2R_mult, Q2R_minus, Q2R_div, Q2R_of_nat, (Q2R_literal 3), (Q2R_literal 2) in Hreach
      by (rewrite Q2R_of_nat; exact Hrecords).
    assert (Hnu := nu_ge n records ltac:(lia) ltac:(lia)).
    assert (Q2R nu0 * ss <= Q2R nu0 * Q2R sigma) by (apply Rmult_le_compat_l; lra).
    unfold ball_gain; rewrite HF, Ha; unfold Rdiv in Hreach; lra. }
  assert (HS := ball_reaches r n d s _ ss sn HF ltac:(rewrite Ha; lra) ltac:(lia) Hs Hnu0 Hss Hsn Hgain).
  assert (Hneeded := private_needs_profile r n d s (unit_ball d)
    ss sn _ _ _ _ _ Hss Hsn Hnu0 (ball_neighbours s d n Hs ltac:(lia)) HS Hprivate).
  rewrite <- Hepsilon, <- Estated in Hneeded; lra.
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
    (3393 # 25000) 40 100 fair_l2_squared_13 (8077998716282838568284475 # 1208925819614629174706176)
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
    (1367 # 25000) 40 100 fair_l2_squared_13 (13645307857843346200429553 # 1208925819614629174706176)
    (2030773558643184076796393 # 604462909807314587353088) (1059412178500066555438191 #
      302231454903657293676544)
    (9654864126750394189188805 # 1208925819614629174706176) HF Ha ltac:(lia) Hs fair_l2_squared_13_correct
    ltac:(vm_cast_no_check (eq_refl true)) ltac:(vm_cast_no_check (eq_refl true))).
  unfold Q2R in H; cbn [Qnum Qden] in H; replace (1 * / 1) with 1 in H by field; exact H.
Qed.
