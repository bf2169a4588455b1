(** * Adding or removing one record, on the unit ball

    Without a fairness term and with |z - zbar| we compute the exact sensitivities. Data sets attain them
    whose records all lie at the point with equal entries. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity AddOne Theorem5 Ball CovarianceBall BallL1.
Import ListNotations.
Open Scope R_scope.

Definition unsigned (r : reading) : Prop := fairness_term r = NoFairness \/ fairness_term r = Absolute.

(** ** The quadratic coefficients of one record *)

Lemma record_quadratic_l1 : forall b d (u : nat -> R),
  sum_over (pairs b d) (fun p => Rabs (quadratic_factor b (fst p) (snd p) * (u (fst p) * u (snd p)))) =
  1 / 8 * sum_over (coordinates d) (fun e => sum_over (coordinates d) (fun l => Rabs (u e * u l))).
Proof.
  intros b d u; generalize (quadratic_l1 b d u (fun _ => 0)); intros H.
  rewrite (sum_ext (pairs b d) _ (fun p => Rabs (quadratic_factor b (fst p) (snd p) * (u (fst p) * u (snd p)
    - 0 * 0))))
    by (intros; f_equal; ring).
  rewrite H; f_equal; apply sum_ext; intros e _; apply sum_ext; intros l _; f_equal; ring.
Qed.

(** In l2 the bases differ. *)
Definition quadratic_share (b : quadratic_basis) (d : nat) : R :=
  match b with MatrixBasis => 1 / 64 | MonomialBasis => (2 - 1 / INR d) / 64 end.

Lemma record_quadratic_l2 : forall b d (u : nat -> R),
  sum_over (pairs b d) (fun p => (quadratic_factor b (fst p) (snd p) * (u (fst p) * u (snd p))) ^ 2) =
  match b with
  | MatrixBasis => dot_product d u u ^ 2 / 64
  | MonomialBasis => (2 * dot_product d u u ^ 2 - sum_over (coordinates d) (fun e => u e ^ 4)) / 64
  end.
Proof.
  intros b d u.
  assert (Hall : sum_over (coordinates d)
    (fun e => sum_over (coordinates d) (fun l => (u e * u e) * (u l * u l)))
    = dot_product d u u ^ 2) by (rewrite sum_product; unfold dot_product; ring).
  destruct b; unfold Rdiv; rewrite <- Hall.
  - rewrite sum_pairs_matrix, <- sum_scal_r; apply sum_ext; intros e _; rewrite <- sum_scal_r; apply sum_ext;
      intros l _.
    cbn [fst snd quadratic_factor]; field.
  - rewrite (sum_pairs_monomial d (fun e l => (quadratic_factor MonomialBasis e l * (u e * u l)) ^ 2)
      (fun e l => (2 * ((u e * u e) * (u l * u l)) - (if Nat.eqb e l then u e ^ 4 else 0)) * / 64)).
    + rewrite <- (diagonal d (fun e => u e ^ 4)), <- sum_scal, <- sum_minus, <- sum_scal_r; apply sum_ext;
        intros e _.
      rewrite <- sum_scal, <- sum_minus, <- sum_scal_r; reflexivity.
    + intros e l; rewrite (Nat.eqb_sym e l); destruct (Nat.eqb_spec l e) as [-> |]; ring.
    + intros e l _; cbn [quadratic_factor]; destruct (Nat.eqb_spec e l) as [-> |]; field.
Qed.

Lemma record_quadratic_l2_le : forall b d (u : nat -> R), (1 <= d)%nat -> dot_product d u u <= 1 ->
  sum_over (pairs b d) (fun p => (quadratic_factor b (fst p) (snd p) * (u (fst p) * u (snd p))) ^ 2)
  <= quadratic_share b d.
Proof.
  intros b d u Hd Hu; rewrite record_quadratic_l2; assert (H1 := one_le_INR d Hd).
  assert (Hsq : dot_product d u u ^ 2 <= 1 ^ 2) by (apply square_le; rewrite Rabs_right;
    [exact Hu | apply Rle_ge, dot_nonneg]).
  destruct b; unfold quadratic_share; [lra |].
  assert (Hfourth : dot_product d u u ^ 2 <= INR d * sum_over (coordinates d) (fun e => u e ^ 4)).
  { rewrite <- (length_coordinates d) at 2; unfold dot_product; eapply Rle_trans; [apply sum_square_le |];
      right;
      f_equal.
    apply sum_ext; intros; ring. }
  set (F := sum_over (coordinates d) (fun e => u e ^ 4)) in *.
  assert (Hi : 0 < / INR d <= 1) by (split;
    [apply Rinv_0_lt_compat; lra | rewrite <- Rinv_1; apply Rinv_le_contravar; lra]).
  assert (HF : / INR d * dot_product d u u ^ 2 <= F).
  { apply Rle_trans with (/ INR d * (INR d * F)); [apply Rmult_le_compat_l; lra |]; right; field; lra. }
  assert ((2 - / INR d) * dot_product d u u ^ 2 <= (2 - / INR d) * 1) by (apply Rmult_le_compat_l; lra).
  unfold Rdiv; lra.
Qed.

(** ** Upper bounds *)

Section Added.

Variable d : nat.
Variable before after : dataset.
Variable t : record.
Let others := before ++ after.
Let D := before ++ after.
Let D' := before ++ t :: after.
Hypothesis not_empty : D <> [].
Hypothesis ball_t : unit_ball d t.
Hypothesis ball_others : Forall (unit_ball d) others.

Let K := INR (length others).
Let mean (e : nat) : R := / K * sum_over others (fun o => attribute o e).
Let gain (r : reading) : R := alpha_1 r * (fairness_gain (fairness_term r) (length D') / 2).

Lemma K_is_positive : 0 < K.
Proof. apply (K_positive before after not_empty). Qed.

Lemma gain_nonneg : forall r, 0 <= alpha_1 r -> 0 <= gain r.
Proof.
  intros r Ha; unfold gain; apply Rmult_le_pos; [exact Ha |].
  assert (1 <= length D')%nat by (unfold D'; rewrite app_length; simpl; lia).
  generalize (gain_le (fairness_term r) (length D') H); lra.
Qed.

Lemma mean_nonneg : forall e, (e < d)%nat -> 0 <= mean e.
Proof.
  intros e He; unfold mean; apply Rmult_le_pos; [apply Rlt_le, Rinv_0_lt_compat, K_is_positive |].
  apply sum_nonneg; intros o Ho; rewrite Forall_forall in ball_others; apply (ball_others o Ho); exact He.
Qed.

Lemma mean_norm : dot_product d mean mean <= 1.
Proof.
  assert (HK := K_is_positive); unfold dot_product, mean.
  rewrite (sum_ext _ _ (fun e => (/ K) ^ 2 * sum_over others (fun o => attribute o e) ^ 2)) by (intros; ring);
    rewrite sum_scal.
  apply Rle_trans with ((/ K) ^ 2 * K ^ 2);
    [apply Rmult_le_compat_l; [apply pow2_ge_0 | apply records_norm, ball_others] |].
  right; field; lra.
Qed.

Lemma added_linear_ball : forall r e, 0 <= alpha_1 r -> unsigned r -> (e < d)%nat ->
  Rabs (coefficient r D (Linear e) - coefficient r D' (Linear e)) <= (1 / 2 + gain r) * attribute t e
    + gain r * mean e.
Proof.
  intros r e Ha HF He; rewrite Rabs_minus_sym; unfold D, D'; rewrite added_linear; fold others D';
    change (zbar others) with (zbar D).
  assert (HK := K_is_positive); assert (Hx : 0 <= attribute t e) by (apply ball_t; exact He).
  assert (Hothers : forall o, In o others -> 0 <= attribute o e).
  { intros o Ho; rewrite Forall_forall in ball_others; apply (ball_others o Ho); exact He. }
  assert (Hbase : Rabs ((1 / 2 - number (label t)) * attribute t e) <= 1 / 2 * attribute t e).
  { apply Rabs_le; destruct (number_cases (label t)) as [-> | ->]; lra. }
  eapply Rle_trans; [apply Rabs_triang |]; rewrite (Rabs_mult (alpha_1 r)), (Rabs_right (alpha_1 r)) by lra.
  unfold gain; destruct HF as [-> | ->]; cbn [fairness_factor fairness_gain].
  - rewrite sum_zero by (intros; ring); rewrite Rmult_0_l, Rplus_0_r, Rabs_R0; lra.
  - set (h := Rabs (number (protected t) - zbar D')).
    assert (Hh : h <= drift_limit (length D')) by (unfold h; apply (added_distance before after t)).
    assert (H0 : 0 <= h) by apply Rabs_pos.
    assert (Hfair : Rabs (h * attribute t e + sum_over others (fun o =>
        (Rabs (number (protected o) - zbar D') - Rabs (number (protected o) - zbar D)) * attribute o e))
          <= drift_limit (length D') * attribute t e
          + drift_limit (length D') * mean e).
    { eapply Rle_trans; [apply Rabs_triang |]; apply Rplus_le_compat.
      - rewrite Rabs_mult, (Rabs_right h), (Rabs_right (attribute t e)) by lra; apply Rmult_le_compat_r;
          assumption.
      - eapply Rle_trans; [apply sum_Rabs |]; unfold mean; rewrite <- sum_scal, <- sum_scal; apply sum_le;
          intros o Ho.
        rewrite Rabs_mult, (Rabs_right (attribute o e)), <- Rmult_assoc by (apply Rle_ge, Hothers, Ho).
        apply Rmult_le_compat_r; [apply Hothers, Ho |].
        eapply Rle_trans; [apply (fairness_factor_moves Absolute (number (protected o)) (zbar D')
          (zbar D)) |].
        rewrite Rabs_minus_sym; unfold D, D'; rewrite average_moves by exact not_empty; fold others D';
          fold K.
        unfold Rdiv; rewrite Rabs_mult, Rabs_Ropp, (Rabs_right (/ K))
          by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, HK).
        apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, HK | exact Hh]. }
    assert (Hmul := Rmult_le_compat_l _ _ _ Ha Hfair); fold h in Hmul |- *; lra.
Qed.

Lemma added_l1_ball : forall r, 0 <= alpha_1 r -> unsigned r ->
  l1_change r d all_monomials D D' <= sqrt (INR d) * linear_gain r (length D') + INR d / 8.
Proof.
  intros r Ha HF; assert (Hg := gain_nonneg r Ha).
  assert (Hroot : forall u, (forall e, (e < d)%nat -> 0 <= u e) -> dot_product d u u <= 1 ->
    0 <= sum_over (coordinates d) u <= sqrt (INR d)).
  { intros u Pu Hu; split; [apply sum_nonneg; intros e He; apply in_coordinates in He; apply Pu; exact He |].
    rewrite (sum_ext _ u (fun e => Rabs (u e)))
      by (intros e He; apply in_coordinates in He; symmetry; apply Rabs_right, Rle_ge, Pu; exact He).
    assert (H := l1_le_l2 nat (coordinates d) u 1 Rle_0_1 ltac:(rewrite dot_square, pow1; exact Hu)).
    rewrite length_coordinates, Rmult_1_r in H; exact H. }
  destruct (Hroot (attribute t)) as [T0 T1]; [apply ball_t | rewrite <- dot_square; apply ball_t |].
  destruct (Hroot mean) as [M0 M1]; [apply mean_nonneg | apply mean_norm |].
  unfold l1_change; rewrite filter_all, sum_Phi; apply Rplus_le_compat.
  - apply Rle_trans with (sum_over (coordinates d)
      (fun e => (1 / 2 + gain r) * attribute t e + gain r * mean e)).
    + apply sum_le; intros e He; apply in_coordinates in He; apply added_linear_ball; assumption.
    + rewrite sum_plus, !sum_scal.
      apply Rle_trans with ((1 / 2 + gain r) * sqrt (INR d) + gain r * sqrt (INR d)).
      * apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
      * right; unfold linear_gain, gain; field.
  - rewrite (sum_ext (pairs (basis r) d) _ (fun p => Rabs (quadratic_factor (basis r) (fst p) (snd p) *
      (attribute t (fst p) * attribute t (snd p))))) by (intros; rewrite Rabs_minus_sym; unfold D, D';
        rewrite added_quadratic; reflexivity).
    rewrite record_quadratic_l1.
    rewrite (sum_ext (coordinates d) _
      (fun e => sum_over (coordinates d) (fun l => attribute t e * attribute t l))).
    + rewrite sum_product; assert (sum_over (coordinates d) (attribute t) * sum_over (coordinates d)
        (attribute t)
        <= sqrt (INR d) * sqrt (INR d))
        by (apply Rmult_le_compat; assumption).
      rewrite sqrt_sqrt in H by apply pos_INR; lra.
    + intros e He; apply sum_ext; intros l Hl; apply in_coordinates in He; apply in_coordinates in Hl.
      apply Rabs_right, Rle_ge, Rmult_le_pos; apply ball_t; assumption.
Qed.

Lemma added_l2_ball : forall r, 0 <= alpha_1 r -> unsigned r -> (1 <= d)%nat ->
  l2_change_squared r d all_monomials D D' <= linear_gain r (length D') ^ 2 + quadratic_share (basis r) d.
Proof.
  intros r Ha HF Hd; assert (Hg := gain_nonneg r Ha).
  assert (Ht : dot_product d (attribute t) (attribute t) <= 1) by (rewrite <- dot_square; apply ball_t);
    assert (Hm := mean_norm).
  unfold l2_change_squared; rewrite filter_all, sum_Phi; apply Rplus_le_compat.
  - apply Rle_trans with (sum_over (coordinates d)
      (fun e => ((1 / 2 + gain r) * attribute t e + gain r * mean e + 0)
      ^ 2)).
    + apply sum_le; intros e He; apply in_coordinates in He; rewrite Rplus_0_r;
        apply square_le, added_linear_ball; assumption.
    + rewrite (expand_three d (1 / 2 + gain r) (gain r) (attribute t) mean (fun _ => 0)).
      assert (Hz : forall f, dot_product d f (fun _ => 0) = 0) by (intros f; apply sum_zero; intros; ring);
        rewrite !Hz.
      assert (Hs : dot_product d (attribute t) mean <= 1)
        by (apply dot_le; [lra | exact Ht | rewrite pow1; exact Hm]).
      set (a := 1 / 2 + gain r) in *; set (b := gain r) in *.
      assert (P1 : a ^ 2 * dot_product d (attribute t) (attribute t) <= a ^ 2 * 1)
        by (apply Rmult_le_compat_l;
        [apply pow2_ge_0 | exact Ht]).
      assert (P2 : b ^ 2 * dot_product d mean mean <= b ^ 2 * 1) by (apply Rmult_le_compat_l;
        [apply pow2_ge_0 | exact Hm]).
      assert (P3 : a * b * dot_product d (attribute t) mean <= a * b * 1)
        by (apply Rmult_le_compat_l; [apply Rmult_le_pos; [unfold a |]; lra | exact Hs]).
      replace (linear_gain r (length D')) with (a + b) by (unfold a, b, linear_gain, gain; field); lra.
  - rewrite (sum_ext (pairs (basis r) d) _ (fun p => (quadratic_factor (basis r) (fst p) (snd p) *
      (attribute t (fst p) * attribute t (snd p))) ^ 2)).
    + apply record_quadratic_l2_le; assumption.
    + intros p _; unfold D, D'; rewrite <- (added_quadratic before after t r (fst p) (snd p)); ring.
Qed.

End Added.

(** ** Attainment: all records at the point whose entries are equal *)

Definition even_record (d : nat) (z : bool) : record := Tuple (even_vector d) false z.

Lemma even_neighbours : forall d k, (1 <= d)%nat -> (1 <= k)%nat ->
  neighbours_add_one (S k) (unit_ball d) (repeat (even_record d false) k)
    (even_record d true :: repeat (even_record d false) k).
Proof.
  intros d k Hd Hk; split; [simpl; rewrite repeat_length; reflexivity |]; split.
  - constructor; [apply even_vector_in_ball; exact Hd |].
    apply Forall_forall; intros o Ho; apply repeat_spec in Ho; subst o; apply even_vector_in_ball; exact Hd.
  - exists [], (even_record d true), (repeat (even_record d false) k); split; [reflexivity |]; split;
      [reflexivity |].
    destruct k; [lia | discriminate].
Qed.

Lemma even_linear : forall r d k e, unsigned r -> (1 <= k)%nat ->
  coefficient r (even_record d true :: repeat (even_record d false) k) (Linear e)
  - coefficient r (repeat (even_record d false) k) (Linear e) = linear_gain r (S k) * / sqrt (INR d).
Proof.
  intros r d k e HF Hk; set (rest := repeat (even_record d false) k).
  assert (H1 : 1 <= INR k) by (apply (le_INR 1); exact Hk).
  assert (HK : INR (length ([] ++ rest)) = INR k) by (unfold rest; simpl; rewrite repeat_length; reflexivity).
  assert (Hm : sum_over ([] ++ rest) (fun o => number (protected o)) = 0) by (unfold rest; simpl app;
    rewrite sum_repeat; simpl; ring).
  change (even_record d true :: rest) with ([] ++ even_record d true :: rest);
    change rest with ([] ++ rest) at 2.
  rewrite added_linear, zbar_D, zbar_before, Hm, HK; simpl app; unfold rest; rewrite sum_repeat.
  unfold linear_gain; cbn [attribute label protected number even_record]; unfold even_vector;
    set (c := / sqrt (INR d)).
  assert (E1 : Rabs (1 - (0 + 1) / (INR k + 1)) = INR k / (INR k + 1)).
  { rewrite Rabs_right; [field; lra |].
    apply Rle_ge, Rmult_le_reg_r with (INR k + 1); [lra |]; field_simplify; lra. }
  assert (E2 : Rabs (0 - (0 + 1) / (INR k + 1)) = 1 / (INR k + 1)).
  { rewrite Rabs_left1; [field; lra |]; apply Rmult_le_reg_r with (INR k + 1); [lra |]; field_simplify; lra. }
  assert (E3 : Rabs (0 - 0 / INR k) = 0) by (replace (0 - 0 / INR k) with 0 by (field; lra); apply Rabs_R0).
  assert (Hnu : drift_limit (S k) = INR k / (INR k + 1)) by (unfold drift_limit; rewrite S_INR; field; lra).
  destruct HF as [-> | ->]; cbn [fairness_factor fairness_gain]; [ring |]; rewrite E1, E2, E3, Hnu.
  field; lra.
Qed.

Lemma even_quadratic : forall r d k e l,
  coefficient r (even_record d true :: repeat (even_record d false) k) (Quadratic e l)
  - coefficient r (repeat (even_record d false) k) (Quadratic e l)
  = quadratic_factor (basis r) e l * (even_vector d e * even_vector d l).
Proof. intros r d k e l; exact (added_quadratic [] (repeat (even_record d false) k) (even_record d true) r e
  l). Qed.

Lemma even_dot : forall d, (1 <= d)%nat -> dot_product d (even_vector d) (even_vector d) = 1.
Proof.
  intros d Hd; rewrite <- dot_square; unfold even_vector; rewrite sum_coordinates_const; apply even_square;
    exact Hd.
Qed.

Lemma root_positive : forall d, (1 <= d)%nat -> 0 < / sqrt (INR d).
Proof. intros d Hd; apply Rinv_0_lt_compat, sqrt_lt_R0; generalize (one_le_INR d Hd); lra. Qed.

Theorem ball_l1_add_exact : forall r n d, 0 <= alpha_1 r -> unsigned r -> (2 <= n)%nat -> (1 <= d)%nat ->
  largest_distance (neighbours_add_one n (unit_ball d)) (l1_change r d all_monomials)
    (sqrt (INR d) * linear_gain r n + INR d / 8).
Proof.
  intros r n d Ha HF Hn Hd; split.
  - intros D D' (<- & HD' & before & t & after & -> & -> & Hne).
    apply Forall_app in HD'; destruct HD' as [Hb Ht]; inversion Ht; subst.
    apply added_l1_ball; try assumption; apply Forall_app; split; assumption.
  - destruct n as [| k]; [lia |]; eexists; eexists; split; [apply (even_neighbours d k Hd); lia |].
    assert (Hgain := linear_gain_nonneg r (S k) Ha ltac:(lia)); assert (Hroot := root_positive d Hd).
    unfold l1_change; rewrite filter_all, sum_Phi; f_equal.
    + rewrite (sum_ext (coordinates d) _ (fun _ => linear_gain r (S k) * / sqrt (INR d))).
      * rewrite sum_coordinates_const.
        replace (INR d * (linear_gain r (S k) * / sqrt (INR d)))
          with (INR d * / sqrt (INR d) * linear_gain r (S k)) by ring.
        rewrite even_sum by exact Hd; reflexivity.
      * intros e _; rewrite Rabs_minus_sym, even_linear by (try assumption; lia).
        apply Rabs_right, Rle_ge, Rmult_le_pos; lra.
    + rewrite (sum_ext (pairs (basis r) d) _ (fun p => Rabs (quadratic_factor (basis r) (fst p) (snd p) *
        (even_vector d (fst p) * even_vector d (snd p))))) by (intros; rewrite Rabs_minus_sym, even_quadratic;
          reflexivity).
      rewrite record_quadratic_l1; unfold even_vector.
      rewrite (sum_ext (coordinates d) _
        (fun e => sum_over (coordinates d) (fun l => / sqrt (INR d) * / sqrt (INR d))))
        by (intros; apply sum_ext; intros; apply Rabs_right, Rle_ge, Rmult_le_pos; lra).
      rewrite sum_product, sum_coordinates_const, even_sum by exact Hd.
      rewrite sqrt_sqrt by apply pos_INR; field.
Qed.

Theorem ball_l2_add_exact : forall r n d, 0 <= alpha_1 r -> unsigned r -> (2 <= n)%nat -> (1 <= d)%nat ->
  largest_distance (neighbours_add_one n (unit_ball d)) (l2_change_squared r d all_monomials)
    (linear_gain r n ^ 2 + quadratic_share (basis r) d).
Proof.
  intros r n d Ha HF Hn Hd; split.
  - intros D D' (<- & HD' & before & t & after & -> & -> & Hne).
    apply Forall_app in HD'; destruct HD' as [Hb Ht]; inversion Ht; subst.
    apply added_l2_ball; try assumption; apply Forall_app; split; assumption.
  - destruct n as [| k]; [lia |]; eexists; eexists; split; [apply (even_neighbours d k Hd); lia |].
    unfold l2_change_squared; rewrite filter_all, sum_Phi; f_equal.
    + rewrite (sum_ext (coordinates d) _ (fun _ => linear_gain r (S k) ^ 2 * (/ sqrt (INR d)) ^ 2)).
      * rewrite sum_coordinates_const.
        replace (INR d * (linear_gain r (S k) ^ 2 * (/ sqrt (INR d)) ^ 2))
          with (linear_gain r (S k) ^ 2 * (INR d * (/ sqrt (INR d)) ^ 2)) by ring.
        rewrite even_square by exact Hd; ring.
      * intros e _; rewrite <- Rpow_mult_distr, <- (even_linear r d k e) by (try assumption; lia); ring.
    + rewrite (sum_ext (pairs (basis r) d) _ (fun p => (quadratic_factor (basis r) (fst p) (snd p) *
        (even_vector d (fst p) * even_vector d (snd p))) ^ 2)) by (intros; rewrite <- (even_quadratic r d k);
          ring).
      rewrite record_quadratic_l2, even_dot by exact Hd.
      unfold quadratic_share, even_vector; destruct (basis r); [field |].
      rewrite sum_coordinates_const; assert (H := one_le_INR d Hd).
      replace (INR d * (/ sqrt (INR d)) ^ 4)
        with (INR d * (/ sqrt (INR d)) ^ 2 * (INR d * (/ sqrt (INR d)) ^ 2) * / INR d)
          by (field; split; [apply Rgt_not_eq, sqrt_lt_R0 |]; lra).
      rewrite even_square by exact Hd; field; lra.
Qed.
