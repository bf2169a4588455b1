(** * The unit ball: exact l2-sensitivities

    On the domain that the paper states we compute the l2-sensitivity exactly. It does not depend on d. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity Theorem5.
Import ListNotations.
Open Scope R_scope.

Definition dot_product (d : nat) (u v : nat -> R) : R := sum_over (coordinates d) (fun e => u e * v e).

Lemma dot_nonneg : forall d u, 0 <= dot_product d u u.
Proof. intros d u; apply sum_nonneg; intros; generalize (pow2_ge_0 (u a)); lra. Qed.

Lemma dot_square : forall d u, sum_over (coordinates d) (fun e => u e ^ 2) = dot_product d u u.
Proof. intros d u; apply sum_ext; intros; ring. Qed.

Lemma dot_cauchy : forall d u v, dot_product d u v ^ 2 <= dot_product d u u * dot_product d v v.
Proof. intros d u v; unfold dot_product; generalize (cauchy_schwarz (coordinates d) u v); rewrite !dot_square;
  intros H; exact H. Qed.

(** The squared change of the quadratic coefficients, in either basis. *)
Lemma products_square : forall d (u v : nat -> R),
  sum_over (coordinates d) (fun e => sum_over (coordinates d) (fun l => (u e * u l - v e * v l) ^ 2))
  = dot_product d u u ^ 2 - 2 * dot_product d u v ^ 2 + dot_product d v v ^ 2.
Proof.
  intros d u v; rewrite (sum_ext _ _ (fun e =>
    sum_over (coordinates d) (fun l => (u e * u e) * (u l * u l))
    - 2 * sum_over (coordinates d) (fun l => (u e * v e) * (u l * v l))
    + sum_over (coordinates d) (fun l => (v e * v e) * (v l * v l)))).
  - rewrite sum_plus, sum_minus, sum_scal, !sum_product; unfold dot_product; ring.
  - intros e _; rewrite <- sum_scal, <- sum_minus, <- sum_plus; apply sum_ext; intros; ring.
Qed.

Lemma quadratic_square_le : forall b d (u v : nat -> R),
  sum_over (pairs b d) (fun p => (quadratic_factor b (fst p) (snd p) * (u (fst p) * u (snd p)
    - v (fst p) * v (snd p))) ^ 2)
  <= (dot_product d u u ^ 2 - 2 * dot_product d u v ^ 2 + dot_product d v v ^ 2) / 32.
Proof.
  intros b d u v.
  rewrite <- products_square; unfold Rdiv; rewrite <- sum_scal_r.
  destruct b.
  - rewrite sum_pairs_matrix; apply sum_le; intros e _; rewrite <- sum_scal_r; apply sum_le; intros l _.
    cbn [fst snd quadratic_factor]; generalize (pow2_ge_0 (u e * u l - v e * v l)); intros; nra.
  - rewrite (sum_pairs_monomial d (fun e l => (quadratic_factor MonomialBasis e l * (u e * u l - v e * v l))
      ^ 2)
      (fun e l => (if Nat.eqb e l then 1 else 2) * (u e * u l - v e * v l) ^ 2 / 64)).
    + apply sum_le; intros e _; rewrite <- sum_scal_r; apply sum_le; intros l _.
      generalize (pow2_ge_0 (u e * u l - v e * v l)); intros; destruct (Nat.eqb e l); nra.
    + intros e l; rewrite (Nat.eqb_sym e l); destruct (Nat.eqb l e); field.
    + intros e l _; cbn [quadratic_factor]; destruct (Nat.eqb e l); field.
Qed.

(** Linear part b u + b' v + w and quadratic part together, for b, b' >= 1/2. *)
Lemma ball_square_le : forall d u v w b b' g,
  1 / 2 <= b -> 1 / 2 <= b' -> 0 <= g -> dot_product d u u <= 1 -> dot_product d v v <= 1 ->
  dot_product d w w <= g ^ 2 ->
  sum_over (coordinates d) (fun e => (b * u e + b' * v e + w e) ^ 2)
  + (dot_product d u u ^ 2 - 2 * dot_product d u v ^ 2 + dot_product d v v ^ 2) / 32 <= (b + b' + g) ^ 2.
Proof.
  intros d u v w b b' g Hb Hb' Hg Hu Hv Hw.
  set (z := fun e => b * u e + b' * v e).
  assert (Hzz : dot_product d z z
    = b ^ 2 * dot_product d u u + 2 * b * b' * dot_product d u v + b' ^ 2 * dot_product d v v).
  { unfold dot_product, z; rewrite <- !sum_scal, <- !sum_plus; apply sum_ext; intros; ring. }
  assert (Hsum : sum_over (coordinates d) (fun e => (b * u e + b' * v e + w e) ^ 2)
    = dot_product d z z + 2 * dot_product d z w + dot_product d w w).
  { unfold dot_product; rewrite <- sum_scal, <- !sum_plus; apply sum_ext; intros; unfold z; ring. }
  rewrite Hsum; assert (H0u := dot_nonneg d u); assert (H0v := dot_nonneg d v);
    assert (H0z := dot_nonneg d z).
  assert (Huv := dot_cauchy d u v); assert (Hzw := dot_cauchy d z w).
  set (s := dot_product d u v) in *.
  assert (Hs : -1 <= s <= 1) by (assert (s ^ 2 <= 1) by nra; split; nra).
  assert (Hbb : 1 / 4 <= b * b') by nra.
  assert (Hz2 : dot_product d z z <= (b + b') ^ 2 - 2 * (b * b') * (1 - s)).
  { assert (b ^ 2 * dot_product d u u <= b ^ 2 * 1)
      by (apply Rmult_le_compat_l; [apply pow2_ge_0 | exact Hu]).
    assert (b' ^ 2 * dot_product d v v <= b' ^ 2 * 1)
      by (apply Rmult_le_compat_l; [apply pow2_ge_0 | exact Hv]).
    rewrite Hzz; lra. }
  assert (Hz3 : dot_product d z z <= (b + b') ^ 2).
  { assert (0 <= b * b' * (1 - s)) by (apply Rmult_le_pos; lra); lra. }
  assert (Hzw2 : dot_product d z w <= (b + b') * g).
  { assert (dot_product d z w ^ 2 <= ((b + b') * g) ^ 2).
    { eapply Rle_trans; [exact Hzw |]; rewrite Rpow_mult_distr; apply Rmult_le_compat; try assumption;
        apply dot_nonneg. }
    assert (0 <= (b + b') * g) by nra.
    destruct (Rle_or_lt (dot_product d z w) ((b + b') * g)); [assumption | nra]. }
  assert (Hq : dot_product d u u ^ 2 - 2 * s ^ 2 + dot_product d v v ^ 2 <= 4 * (1 - s)) by nra.
  assert (1 / 4 * (1 - s) <= b * b' * (1 - s)) by (apply Rmult_le_compat_r; lra).
  lra.
Qed.

(** The sum of k records of the ball has length at most k. *)
Lemma records_norm : forall d l, Forall (unit_ball d) l ->
  sum_over (coordinates d) (fun e => sum_over l (fun o => attribute o e) ^ 2) <= INR (length l) ^ 2.
Proof.
  intros d l Hl; rewrite Forall_forall in Hl.
  apply Rle_trans with (sum_over (coordinates d)
    (fun e => INR (length l) * sum_over l (fun o => attribute o e ^ 2))).
  - apply sum_le; intros e _; apply sum_square_le.
  - rewrite sum_scal, sum_swap; replace (INR (length l) ^ 2) with (INR (length l) * INR (length l)) by ring.
    apply Rmult_le_compat_l; [apply pos_INR |].
    rewrite <- (Rmult_1_r (INR (length l))) at 1; apply sum_le_const; intros o Ho; apply (Hl o Ho).
Qed.

Section Upper.

Variable d : nat.
Variable before after : dataset.
Variable t t' : record.
Let D := before ++ t :: after.
Let D' := before ++ t' :: after.
Let others := before ++ after.
Let n := length D.
Hypothesis ball_t : unit_ball d t.
Hypothesis ball_t' : unit_ball d t'.
Hypothesis ball_others : Forall (unit_ball d) others.

Let moved := (if Bool.eqb (protected t) (protected t') then 0 else 1) / (INR (length others) + 1).

(** Where the other records pull. *)
Let pull (e : nat) : R := moved * sum_over others (fun o => attribute o e).

Lemma moved_nonneg : 0 <= moved.
Proof.
  unfold moved; apply Rmult_le_pos; [destruct (Bool.eqb _ _); lra |].
  apply Rlt_le, Rinv_0_lt_compat; generalize (pos_INR (length others)); lra.
Qed.

Lemma pull_norm : dot_product d pull pull <= (moved * INR (length others)) ^ 2.
Proof.
  unfold dot_product, pull; rewrite (sum_ext _ _
    (fun e => moved ^ 2 * sum_over others (fun o => attribute o e) ^ 2))
    by (intros; ring).
  rewrite sum_scal, Rpow_mult_distr; apply Rmult_le_compat_l; [apply pow2_ge_0 |].
  exact (records_norm d others ball_others).
Qed.

Lemma linear_ball_bounded : forall r e, 0 <= alpha_1 r -> (e < d)%nat ->
  Rabs (coefficient r D (Linear e) - coefficient r D' (Linear e)) <=
  match fairness_term r with
  | NoFairness => 1 / 2 * attribute t e + 1 / 2 * attribute t' e + 0
  | _ => (1 / 2 + alpha_1 r * Rabs (number (protected t) - zbar D)) * attribute t e
         + (1 / 2 + alpha_1 r * Rabs (number (protected t') - zbar D')) * attribute t' e + alpha_1 r * pull e
  end.
Proof.
  intros r e Ha He; unfold D at 1, D' at 1; rewrite linear_change; fold D D' others.
  assert (Hx : 0 <= attribute t e) by (apply ball_t; exact He);
    assert (Hx' : 0 <= attribute t' e) by (apply ball_t'; exact He).
  assert (Hbase : Rabs ((1 / 2 - number (label t)) * attribute t e -
    (1 / 2 - number (label t')) * attribute t' e) <= 1 / 2 * attribute t e
    + 1 / 2 * attribute t' e).
  { apply Rabs_le; destruct (number_cases (label t)) as [-> | ->], (number_cases (label t')) as [-> | ->];
      split;
      lra. }
  assert (Hothers : forall o, In o others -> 0 <= attribute o e).
  { intros o Ho; rewrite Forall_forall in ball_others; apply (ball_others o Ho); exact He. }
  assert (Hfactor : forall F w u, F <> NoFairness -> Rabs (fairness_factor F w u) = Rabs (w - u)).
  { intros [| | []] w u HF; cbn; [exfalso; apply HF;
      reflexivity | apply Rabs_Rabsolu | reflexivity | apply Rabs_Ropp]. }
  eapply Rle_trans; [apply Rabs_triang |]; rewrite Rabs_mult, (Rabs_right (alpha_1 r)) by lra.
  destruct (fairness_term r) as [| | sign] eqn:HF.
  - unfold fairness_sum; cbn [fairness_factor]; rewrite sum_zero by (intros; ring).
    rewrite !Rmult_0_l, Rminus_0_r, Rplus_0_r, Rabs_R0; lra.
  - assert (Hfair : Rabs (fairness_sum Absolute (zbar D) (zbar D') t t' others e) <=
      Rabs (number (protected t) - zbar D) * attribute t e + Rabs
        (number (protected t') - zbar D') * attribute t' e + pull e).
    { unfold fairness_sum; eapply Rle_trans; [apply Rabs_triang |]; apply Rplus_le_compat.
      - eapply Rle_trans; [apply Rabs_triang |]; rewrite Rabs_Ropp, !Rabs_mult, !Hfactor by discriminate.
        rewrite (Rabs_right (attribute t e)), (Rabs_right (attribute t' e)) by lra; apply Rle_refl.
      - eapply Rle_trans; [apply sum_Rabs |]; unfold pull; rewrite <- sum_scal; apply sum_le; intros o Ho.
        rewrite Rabs_mult, (Rabs_right (attribute o e)) by (apply Rle_ge, Hothers, Ho);
          apply Rmult_le_compat_r;
          [apply Hothers, Ho |].
        eapply Rle_trans; [apply fairness_factor_moves |]; right; apply zbar_moves. }
    assert (alpha_1 r * Rabs (fairness_sum Absolute (zbar D) (zbar D') t t' others e) <=
      alpha_1 r * (Rabs (number (protected t) - zbar D) * attribute t e + Rabs
        (number (protected t') - zbar D') * attribute t' e + pull e))
      by (apply Rmult_le_compat_l; assumption).
    lra.
  - assert (Hfair : Rabs (fairness_sum (Covariance sign) (zbar D) (zbar D') t t' others e) <=
      Rabs (number (protected t) - zbar D) * attribute t e + Rabs
        (number (protected t') - zbar D') * attribute t' e + pull e).
    { unfold fairness_sum; eapply Rle_trans; [apply Rabs_triang |]; apply Rplus_le_compat.
      - eapply Rle_trans; [apply Rabs_triang |]; rewrite Rabs_Ropp, !Rabs_mult, !Hfactor by discriminate.
        rewrite (Rabs_right (attribute t e)), (Rabs_right (attribute t' e)) by lra; apply Rle_refl.
      - eapply Rle_trans; [apply sum_Rabs |]; unfold pull; rewrite <- sum_scal; apply sum_le; intros o Ho.
        rewrite Rabs_mult, (Rabs_right (attribute o e)) by (apply Rle_ge, Hothers, Ho);
          apply Rmult_le_compat_r;
          [apply Hothers, Ho |].
        eapply Rle_trans; [apply fairness_factor_moves |]; right; apply zbar_moves. }
    assert (alpha_1 r * Rabs (fairness_sum (Covariance sign) (zbar D) (zbar D') t t' others e) <=
      alpha_1 r * (Rabs (number (protected t) - zbar D) * attribute t e + Rabs
        (number (protected t') - zbar D') * attribute t' e + pull e))
      by (apply Rmult_le_compat_l; assumption).
    lra.
Qed.

(** Distances and drift together. *)
Lemma distances_and_drift :
  Rabs (number (protected t) - zbar D) + Rabs (number (protected t') - zbar D') + moved * INR (length others)
    <= 2 * drift_limit n.
Proof.
  unfold n, D, D', moved; destruct (Bool.eqb (protected t) (protected t')) eqn:Hz.
  - generalize (distance_z before after t) (distance_z' before after t t'); unfold Rdiv; rewrite !Rmult_0_l;
      lra.
  - rewrite distance_sum by (intros E; rewrite E, Bool.eqb_reflx in Hz; discriminate).
    rewrite nu_K; fold others; right; field; generalize (pos_INR (length others)); lra.
Qed.

Lemma ball_upper : forall r, 0 <= alpha_1 r ->
  l2_change_squared r d all_monomials D D' <=
  match fairness_term r with NoFairness => 1 | _ => (1 + 2 * alpha_1 r * drift_limit n) ^ 2 end.
Proof.
  intros r Ha; unfold l2_change_squared; rewrite filter_all, sum_Phi.
  assert (Hq : sum_over (pairs (basis r) d) (fun p =>
      (coefficient r D (Quadratic (fst p) (snd p)) - coefficient r D' (Quadratic (fst p) (snd p))) ^ 2)
    <= (dot_product d (attribute t) (attribute t) ^ 2 - 2 * dot_product d (attribute t)
      (attribute t') ^ 2 + dot_product d (attribute t') (attribute t') ^ 2) / 32).
  { eapply Rle_trans; [| apply (quadratic_square_le (basis r))]; right; apply sum_ext; intros p _.
    unfold D, D'; rewrite quadratic_change; reflexivity. }
  assert (Hu : dot_product d (attribute t) (attribute t) <= 1) by (rewrite <- dot_square; apply ball_t).
  assert (Hv : dot_product d (attribute t') (attribute t') <= 1) by (rewrite <- dot_square; apply ball_t').
  assert (Hlin : forall b b' w,
    (forall e, (e < d)%nat -> Rabs (coefficient r D (Linear e) - coefficient r D' (Linear e))
      <= b * attribute t e + b' * attribute t' e + w e) ->
    sum_over (coordinates d) (fun e => (coefficient r D (Linear e) - coefficient r D' (Linear e)) ^ 2) <=
    sum_over (coordinates d) (fun e => (b * attribute t e + b' * attribute t' e + w e) ^ 2)).
  { intros b b' w H; apply sum_le; intros e He; apply square_le, H, in_coordinates, He. }
  assert (Hmain : fairness_term r <> NoFairness ->
    sum_over (coordinates d) (fun e => (coefficient r D (Linear e) - coefficient r D' (Linear e)) ^ 2)
    + sum_over (pairs (basis r) d) (fun p =>
        (coefficient r D (Quadratic (fst p) (snd p)) - coefficient r D' (Quadratic (fst p) (snd p))) ^ 2)
    <= (1 + 2 * alpha_1 r * drift_limit n) ^ 2).
  { intros HF.
    set (h := Rabs (number (protected t) - zbar D)) in *;
      set (h' := Rabs (number (protected t') - zbar D')) in *.
    assert (Hh : 0 <= h) by apply Rabs_pos; assert (Hh' : 0 <= h') by apply Rabs_pos.
    assert (Hm := Rmult_le_pos _ _ moved_nonneg (pos_INR (length others))).
    assert (Hdist := distances_and_drift); fold h h' in Hdist.
    apply Rle_trans with ((1 / 2 + alpha_1 r * h + (1 / 2 + alpha_1 r * h')
      + alpha_1 r * (moved * INR (length others))) ^ 2).
    - eapply Rle_trans; [apply Rplus_le_compat;
        [apply (Hlin (1 / 2 + alpha_1 r * h) (1 / 2 + alpha_1 r * h') (fun e => alpha_1 r * pull e)) |
        exact Hq] |].
      + intros e He; generalize (linear_ball_bounded r e Ha He); fold h h'; destruct (fairness_term r) eqn:E;
          intros H; [contradiction HF; reflexivity | exact H | exact H].
      + apply ball_square_le; try nra; try assumption.
        unfold dot_product; rewrite (sum_ext _ _ (fun e => alpha_1 r ^ 2 * (pull e * pull e)))
          by (intros; ring).
        rewrite sum_scal, Rpow_mult_distr; apply Rmult_le_compat_l; [apply pow2_ge_0 | apply pull_norm].
    - set (X := 1 / 2 + alpha_1 r * h + (1 / 2 + alpha_1 r * h') + alpha_1 r * (moved * INR (length others))).
      assert (0 <= X <= 1 + 2 * alpha_1 r * drift_limit n) by (unfold X; split; nra).
      apply square_le; rewrite Rabs_right; lra. }
  destruct (fairness_term r) as [| | sign] eqn:HF.
  - replace 1 with ((1 / 2 + 1 / 2 + 0) ^ 2) by field.
    eapply Rle_trans; [apply Rplus_le_compat; [apply (Hlin (1 / 2) (1 / 2) (fun _ => 0)) | exact Hq] |].
    + intros e He; generalize (linear_ball_bounded r e Ha He); rewrite HF; intros H; exact H.
    + apply ball_square_le; try lra; try assumption.
      unfold dot_product; rewrite sum_zero by (intros; ring); lra.
  - apply Hmain; discriminate.
  - apply Hmain; discriminate.
Qed.

End Upper.

(** Without a fairness term and with |z - zbar|: the exact value, in both bases, for every d >= 1. *)
Theorem ball_l2_exact : forall r n d,
  0 <= alpha_1 r -> (1 <= n)%nat -> (1 <= d)%nat -> (forall sign, fairness_term r <> Covariance sign) ->
  exact_sensitivity n (unit_ball d) (l2_change_squared r d all_monomials) (ball_gain r n ^ 2).
Proof.
  intros r n d Ha Hn Hd HF; split.
  - intros D D' (Hlen & HD & HD' & before & t & t' & after & -> & ->).
    apply Forall_app in HD; apply Forall_app in HD'; destruct HD as [Hb Ht], HD' as [_ Ht'].
    inversion Ht; inversion Ht'; subst.
    eapply Rle_trans; [apply ball_upper; try assumption; apply Forall_app; split; assumption |].
    unfold ball_gain; destruct (fairness_term r) as [| | sign];
      [lra | lra | exfalso; apply (HF sign); reflexivity].
  - exists (ball_D 0 n), (ball_D' 0 n); split; [apply ball_neighbours; lia |].
    unfold l2_change_squared; rewrite filter_all, sum_Phi, (sum_zero (pairs _ _)).
    + rewrite Rplus_0_r, (sum_ext _ _ (fun e => if Nat.eqb e 0 then ball_gain r n ^ 2 else 0)).
      * apply (sum_delta d 0 (fun _ => ball_gain r n ^ 2)); lia.
      * intros e _; rewrite ball_change by (try assumption; apply HF); unfold unit_vector;
          destruct (Nat.eqb e 0); ring.
    + intros p _; rewrite ball_change by (try assumption; apply HF); ring.
Qed.
