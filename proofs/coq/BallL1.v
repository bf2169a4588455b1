(** * The unit ball: the l1-sensitivity between two bounds

    No closed form is known for replacing a record.  By the Cauchy-Schwarz inequality the linear coefficients
    move by at most sqrt d times the l2-sensitivity, and the quadratic ones by at most sqrt 2/8 d; records at
    one point of the ball attain the first part.  So the l1-sensitivity grows like sqrt d + O(d), not like
    d^2. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity Theorem5 Ball CovarianceBall.
Import ListNotations.
Open Scope R_scope.

Lemma le_of_squares : forall u v, 0 <= v -> u ^ 2 <= v ^ 2 -> u <= v.
Proof. intros u v Hv H; apply Rsqr_incr_0_var; [rewrite !Rsqr_pow2; exact H | exact Hv]. Qed.

Lemma l1_le_l2 : forall (A : Type) (l : list A) f V, 0 <= V -> sum_over l (fun a => f a ^ 2) <= V ^ 2 ->
  sum_over l (fun a => Rabs (f a)) <= sqrt (INR (length l)) * V.
Proof.
  intros A l f V HV H; apply le_of_squares; [apply Rmult_le_pos; [apply sqrt_pos | exact HV] |].
  rewrite Rpow_mult_distr, pow2_sqrt by apply pos_INR.
  eapply Rle_trans; [apply sum_square_le |]; apply Rmult_le_compat_l; [apply pos_INR |].
  rewrite (sum_ext l _ (fun a => f a ^ 2)) by (intros; apply pow2_abs); exact H.
Qed.

Lemma length_coordinates : forall d, length (coordinates d) = d.
Proof. intros d; apply seq_length. Qed.

(** ** The quadratic coefficients *)

Lemma quadratic_l1 : forall b d (u v : nat -> R),
  sum_over (pairs b d)
    (fun p => Rabs (quadratic_factor b (fst p) (snd p) * (u (fst p) * u (snd p) - v (fst p) * v (snd p)))) =
  1 / 8 * sum_over (coordinates d) (fun e => sum_over (coordinates d)
    (fun l => Rabs (u e * u l - v e * v l))).
Proof.
  intros b d u v; rewrite <- sum_scal; rewrite (sum_ext (coordinates d) (fun e => 1 / 8 * _)
    (fun e => sum_over (coordinates d) (fun l => 1 / 8 * Rabs (u e * u l - v e * v l))))
    by (intros; rewrite sum_scal; reflexivity).
  assert (Hf : forall e l, Rabs (quadratic_factor b e l * (u e * u l - v e * v l)) =
    quadratic_factor b e l * Rabs (u e * u l - v e * v l)).
  { intros e l; rewrite Rabs_mult, (Rabs_right (quadratic_factor b e l)); [reflexivity |].
    apply Rle_ge, Rlt_le, quadratic_factor_pos. }
  destruct b.
  - rewrite sum_pairs_matrix; apply sum_ext; intros e _; apply sum_ext; intros l _; cbn [fst snd]; apply Hf.
  - apply (sum_pairs_monomial d (fun e l =>
      Rabs (quadratic_factor MonomialBasis e l * (u e * u l - v e * v l)))).
    + intros e l; replace (u l * u e - v l * v e) with (u e * u l - v e * v l) by ring; reflexivity.
    + intros e l _; rewrite Hf; cbn [quadratic_factor]; destruct (Nat.eqb e l); field.
Qed.

Lemma products_l1 : forall d (u v : nat -> R), dot_product d u u <= 1 -> dot_product d v v <= 1 ->
  sum_over (coordinates d) (fun e => sum_over (coordinates d) (fun l => Rabs (u e * u l - v e * v l)))
  <= INR d * sqrt 2.
Proof.
  intros d u v Hu Hv; assert (Hd : 0 <= INR d) by apply pos_INR.
  apply le_of_squares; [apply Rmult_le_pos; [exact Hd | apply sqrt_pos] |].
  rewrite Rpow_mult_distr, pow2_sqrt by lra.
  eapply Rle_trans; [apply sum_square_le |]; rewrite length_coordinates.
  replace (INR d ^ 2 * 2) with (INR d * (INR d * 2)) by ring; apply Rmult_le_compat_l; [exact Hd |].
  apply Rle_trans with (INR d * sum_over (coordinates d) (fun e =>
    sum_over (coordinates d) (fun l => (u e * u l - v e * v l) ^ 2))).
  - rewrite <- sum_scal; apply sum_le; intros e _.
    eapply Rle_trans; [apply sum_square_le |]; rewrite length_coordinates; right; f_equal.
    apply sum_ext; intros l _; apply pow2_abs.
  - apply Rmult_le_compat_l; [exact Hd |]; rewrite products_square.
    assert (H1 : dot_product d u u ^ 2 <= 1 ^ 2) by (apply square_le; rewrite Rabs_right;
      [exact Hu | apply Rle_ge, dot_nonneg]).
    assert (H2 : dot_product d v v ^ 2 <= 1 ^ 2) by (apply square_le; rewrite Rabs_right;
      [exact Hv | apply Rle_ge, dot_nonneg]).
    assert (0 <= dot_product d u v ^ 2) by apply pow2_ge_0; lra.
Qed.

(** ** Both bounds *)

(** The l2-sensitivity on the ball. *)
Definition ball_reach (r : reading) (n : nat) : R :=
  match fairness_term r with
  | NoFairness => 1
  | Absolute => 1 + 2 * alpha_1 r * drift_limit n
  | Covariance _ => sqrt ((1 + alpha_1 r * drift_limit n) ^ 2 + (alpha_1 r * drift_limit n) ^ 2)
  end.

Lemma ball_reach_nonneg : forall r n, 0 <= alpha_1 r -> (1 <= n)%nat -> 0 <= ball_reach r n.
Proof.
  intros r n Ha Hn; unfold ball_reach; destruct (fairness_term r); [lra | | apply sqrt_pos].
  assert (0 <= alpha_1 r * drift_limit n) by (apply Rmult_le_pos; [exact Ha | apply nu_bounds; exact Hn]);
    lra.
Qed.

Lemma ball_l2_reach : forall r n d D D', 0 <= alpha_1 r -> neighbours n (unit_ball d) D D' ->
  l2_change_squared r d all_monomials D D' <= ball_reach r n ^ 2.
Proof.
  intros r n d D D' Ha (<- & HD & HD' & before & t & t' & after & -> & ->).
  apply Forall_app in HD; apply Forall_app in HD'; destruct HD as [Hb Ht], HD' as [_ Ht'].
  inversion Ht; inversion Ht'; subst; assert (Forall (unit_ball d) (before ++ after))
    by (apply Forall_app; split; assumption).
  unfold ball_reach; destruct (fairness_term r) as [| | sign] eqn:HF.
  1, 2: eapply Rle_trans; [apply ball_upper; assumption | rewrite HF; lra].
  rewrite pow2_sqrt by (apply Rplus_le_le_0_compat; apply pow2_ge_0).
  apply covariance_ball_upper with sign; assumption.
Qed.

Theorem ball_l1_upper : forall r n d D D', 0 <= alpha_1 r -> neighbours n (unit_ball d) D D' ->
  l1_change r d all_monomials D D' <= sqrt (INR d) * ball_reach r n + sqrt 2 / 8 * INR d.
Proof.
  intros r n d D D' Ha H.
  assert (Hreach := ball_l2_reach r n d D D' Ha H).
  assert (H0 := ball_reach_nonneg r n Ha (neighbours_nonempty _ _ _ _ H)).
  unfold l1_change; rewrite filter_all, sum_Phi; apply Rplus_le_compat.
  - rewrite <- (length_coordinates d) at 2; apply l1_le_l2; [exact H0 |].
    eapply Rle_trans; [| exact Hreach]; unfold l2_change_squared; rewrite filter_all, sum_Phi.
    rewrite <- (Rplus_0_r (sum_over (coordinates d) _)) at 1.
    apply Rplus_le_compat_l, sum_nonneg; intros; apply pow2_ge_0.
  - destruct H as (_ & HD & HD' & before & t & t' & after & -> & ->).
    apply Forall_app in HD; apply Forall_app in HD'; destruct HD as [_ Ht], HD' as [_ Ht'].
    inversion Ht as [| ? ? Bt _]; inversion Ht' as [| ? ? Bt' _]; subst.
    rewrite (sum_ext (pairs (basis r) d) _ (fun p => Rabs (quadratic_factor (basis r) (fst p) (snd p) *
      (attribute t (fst p) * attribute t (snd p) - attribute t' (fst p) * attribute t' (snd p)))))
        by (intros; rewrite quadratic_change;
        reflexivity).
    rewrite quadratic_l1.
    assert (Hp := products_l1 d (attribute t) (attribute t') ltac:(rewrite <- dot_square;
      apply Bt) ltac:(rewrite <- dot_square; apply Bt')).
    lra.
Qed.

(** All records at the point whose entries are equal. *)
Definition even_vector (d e : nat) : R := / sqrt (INR d).

Lemma even_square : forall d, (1 <= d)%nat -> INR d * (/ sqrt (INR d)) ^ 2 = 1.
Proof.
  intros d Hd; assert (H := one_le_INR d Hd); rewrite pow_inv, pow2_sqrt by lra; field; lra.
Qed.

Lemma even_sum : forall d, (1 <= d)%nat -> INR d * / sqrt (INR d) = sqrt (INR d).
Proof.
  intros d Hd; assert (H := one_le_INR d Hd); assert (0 < sqrt (INR d)) by (apply sqrt_lt_R0; lra).
  rewrite <- (sqrt_sqrt (INR d)) at 1 by lra; field; lra.
Qed.

Lemma even_vector_in_ball : forall d y z, (1 <= d)%nat -> unit_ball d (Tuple (even_vector d) y z).
Proof.
  intros d y z Hd; split.
  - intros e _; cbn; unfold even_vector; apply Rlt_le, Rinv_0_lt_compat, sqrt_lt_R0;
      generalize (one_le_INR d Hd); lra.
  - cbn [attribute]; unfold even_vector; rewrite sum_coordinates_const, even_square by exact Hd; lra.
Qed.

Theorem ball_l1_lower : forall r n d, 0 <= alpha_1 r -> (1 <= n)%nat -> (1 <= d)%nat ->
  (forall sign, fairness_term r <> Covariance sign) ->
  exists D D', neighbours n (unit_ball d) D D' /\ l1_change r d all_monomials D D'
    = sqrt (INR d) * ball_reach r n.
Proof.
  intros r n d Ha Hn Hd HF; set (v := even_vector d).
  assert (Hgain : ball_gain r n = ball_reach r n).
  { unfold ball_gain, ball_reach; destruct (fairness_term r) as [| | sign] eqn:E; try reflexivity; exfalso;
      apply (HF sign); reflexivity. }
  exists (Tuple v true false :: repeat (Tuple v false false) (n - 1)),
    (Tuple v false true :: repeat (Tuple v false false) (n - 1)); split.
  - assert (Hrest : Forall (unit_ball d) (repeat (Tuple v false false) (n - 1))).
    { apply Forall_forall; intros o Ho; apply repeat_spec in Ho; subst o; apply even_vector_in_ball;
        exact Hd. }
    split; [cbn [length]; rewrite repeat_length; lia |].
    split; [constructor; [apply even_vector_in_ball |]; assumption |].
    split; [constructor; [apply even_vector_in_ball |]; assumption |].
    exists [], (Tuple v true false), (Tuple v false true), (repeat (Tuple v false false) (n - 1)); split;
      reflexivity.
  - unfold l1_change; rewrite filter_all, sum_Phi, (sum_zero (pairs _ _)).
    + rewrite (sum_ext (coordinates d) _ (fun _ => ball_reach r n * / sqrt (INR d))).
      * rewrite sum_coordinates_const, Rplus_0_r.
        replace (INR d * (ball_reach r n * / sqrt (INR d))) with (INR d * / sqrt (INR d) * ball_reach r n)
          by ring.
        rewrite even_sum by exact Hd; reflexivity.
      * intros e _; rewrite one_place_change, Rabs_Ropp, Hgain by (try assumption; apply HF).
        apply Rabs_right, Rle_ge, Rmult_le_pos; [apply ball_reach_nonneg; assumption |].
        unfold v, even_vector; apply Rlt_le, Rinv_0_lt_compat, sqrt_lt_R0; generalize (one_le_INR d Hd); lra.
    + intros p _; rewrite one_place_change by (try assumption; apply HF); apply Rabs_R0.
Qed.
