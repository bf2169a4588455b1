(** * How one record changes the coefficients

    When one record is replaced the average of z changes, so the terms of all other records move as well: the
    drift. This file writes the change of every coefficient as a formula. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums.
Import ListNotations.
Open Scope R_scope.

(** (n - 1)/n: how far the drift can go for n records. *)
Definition drift_limit (n : nat) : R := (INR n - 1) / INR n.

Definition fairness_sum (F : fairness) (z_D z_D' : R) (t t' : record) (others : dataset) (e : nat) : R :=
  fairness_factor F (number (protected t)) z_D * attribute t e
  - fairness_factor F (number (protected t')) z_D' * attribute t' e +
  sum_over others
    (fun o => (fairness_factor F (number (protected o)) z_D
      - fairness_factor F (number (protected o)) z_D') * attribute o e).

Lemma number_cases : forall b, number b = 0 \/ number b = 1.
Proof. intros []; [right | left]; reflexivity. Qed.

Lemma number_bounds : forall b, 0 <= number b <= 1.
Proof. intros []; simpl; lra. Qed.

Section Change.

Variable before after : dataset.
Variable t t' : record.
Let D := before ++ t :: after.
Let D' := before ++ t' :: after.
Let others := before ++ after.

Lemma length_middle : length D = S (length others).
Proof. unfold D, others; rewrite !app_length; simpl; lia. Qed.

Lemma length_middle' : length D' = S (length others).
Proof. unfold D', others; rewrite !app_length; simpl; lia. Qed.

Lemma linear_change : forall r e,
  coefficient r D (Linear e) - coefficient r D' (Linear e) =
  (1 / 2 - number (label t)) * attribute t e - (1 / 2 - number (label t')) * attribute t' e +
  alpha_1 r * fairness_sum (fairness_term r) (zbar D) (zbar D') t t' others e.
Proof.
  intros r e; unfold coefficient, fairness_sum; unfold D at 1; unfold D' at 1.
  rewrite !sum_middle; fold others; cbn [record_coefficient].
  assert (H : forall a b c d : R, a + b - (c + d) = a - c + (b - d)) by (intros; lra).
  rewrite H, <- sum_minus, Rmult_plus_distr_l, <- sum_scal.
  rewrite (sum_ext others _ (fun o => alpha_1 r *
    ((fairness_factor (fairness_term r) (number (protected o)) (zbar D)
      - fairness_factor (fairness_term r) (number (protected o)) (zbar D')) * attribute o e)))
          by (intros; ring).
  ring.
Qed.

Lemma quadratic_change : forall r e l,
  coefficient r D (Quadratic e l) - coefficient r D' (Quadratic e l) =
  quadratic_factor (basis r) e l * (attribute t e * attribute t l - attribute t' e * attribute t' l).
Proof.
  intros r e l; unfold coefficient, D, D'; rewrite !sum_middle; cbn [record_coefficient]; ring.
Qed.

Let m := sum_over others (fun o => number (protected o)).
Let K := INR (length others).

Lemma m_bounds : 0 <= m <= K.
Proof.
  split.
  - apply sum_nonneg; intros; apply number_bounds.
  - unfold K; rewrite <- (Rmult_1_r (INR _)); apply sum_le_const; intros; apply number_bounds.
Qed.

Lemma K_nonneg : 0 <= K.
Proof. apply pos_INR. Qed.

Lemma zbar_D : zbar D = (m + number (protected t)) / (K + 1).
Proof.
  unfold zbar; rewrite length_middle, S_INR; unfold D; rewrite sum_middle; fold others; fold m K.
  f_equal; ring.
Qed.

Lemma zbar_D' : zbar D' = (m + number (protected t')) / (K + 1).
Proof.
  unfold zbar; rewrite length_middle', S_INR; unfold D'; rewrite sum_middle; fold others; fold m K.
  f_equal; ring.
Qed.

Lemma nu_K : drift_limit (length D) = K / (K + 1).
Proof. unfold drift_limit; rewrite length_middle, S_INR; fold K; f_equal; ring. Qed.

(** The distances of z and z' from their averages. *)
Lemma distance_z : Rabs (number (protected t) - zbar D) <= drift_limit (length D).
Proof.
  rewrite nu_K, zbar_D; generalize m_bounds K_nonneg; intros Hm HK.
  apply Rabs_le; destruct (number_cases (protected t)) as [-> | ->]; split.
  - apply Rmult_le_reg_r with (K + 1); [lra |]; field_simplify; lra.
  - apply Rmult_le_reg_r with (K + 1); [lra |]; field_simplify; lra.
  - apply Rmult_le_reg_r with (K + 1); [lra |]; field_simplify; lra.
  - apply Rmult_le_reg_r with (K + 1); [lra |]; field_simplify; lra.
Qed.

Lemma distance_z' : Rabs (number (protected t') - zbar D') <= drift_limit (length D).
Proof.
  rewrite nu_K, zbar_D'; generalize m_bounds K_nonneg; intros Hm HK.
  apply Rabs_le; destruct (number_cases (protected t')) as [-> | ->]; split.
  - apply Rmult_le_reg_r with (K + 1); [lra |]; field_simplify; lra.
  - apply Rmult_le_reg_r with (K + 1); [lra |]; field_simplify; lra.
  - apply Rmult_le_reg_r with (K + 1); [lra |]; field_simplify; lra.
  - apply Rmult_le_reg_r with (K + 1); [lra |]; field_simplify; lra.
Qed.

Lemma distance_sum : protected t <> protected t' ->
  Rabs (number (protected t) - zbar D) + Rabs (number (protected t') - zbar D') = drift_limit (length D).
Proof.
  intros Hz; rewrite nu_K, zbar_D, zbar_D'; generalize m_bounds K_nonneg; intros Hm HK.
  assert (H0 : Rabs (0 - (m + 0) / (K + 1)) = m / (K + 1)).
  { rewrite Rabs_left1; [field; lra |].
    apply Rmult_le_reg_r with (K + 1); [lra |]; field_simplify; lra. }
  assert (H1 : Rabs (1 - (m + 1) / (K + 1)) = (K - m) / (K + 1)).
  { rewrite Rabs_right; [field; lra |].
    apply Rle_ge, Rmult_le_reg_r with (K + 1); [lra |]; field_simplify; lra. }
  destruct (protected t), (protected t'); try (exfalso; apply Hz; reflexivity); cbn [number]; rewrite H0, H1;
    field; lra.
Qed.

Lemma zbar_moves : Rabs (zbar D - zbar D')
  = (if Bool.eqb (protected t) (protected t') then 0 else 1) / (K + 1).
Proof.
  rewrite zbar_D, zbar_D'; generalize K_nonneg; intros HK.
  replace ((m + number (protected t)) / (K + 1) - (m + number (protected t')) / (K + 1))
    with ((number (protected t) - number (protected t')) / (K + 1)) by (field; lra).
  unfold Rdiv; rewrite Rabs_mult, (Rabs_right (/ (K + 1))).
  - f_equal; destruct (protected t), (protected t'); cbn; unfold Rabs; destruct Rcase_abs; lra.
  - apply Rle_ge, Rlt_le, Rinv_0_lt_compat; lra.
Qed.

Lemma zbar_moves_le : Rabs (zbar D - zbar D') <= 1 / (K + 1).
Proof.
  rewrite zbar_moves; generalize K_nonneg; intros HK; unfold Rdiv; apply Rmult_le_compat_r.
  - apply Rlt_le, Rinv_0_lt_compat; lra.
  - destruct (Bool.eqb (protected t) (protected t')); lra.
Qed.

End Change.

Lemma fairness_factor_moves : forall F a u v,
  Rabs (fairness_factor F a u - fairness_factor F a v) <= Rabs (u - v).
Proof.
  intros F a u v; destruct F as [| | []]; cbn [fairness_factor].
  - rewrite Rminus_0_r, Rabs_R0; apply Rabs_pos.
  - eapply Rle_trans; [apply Rabs_triang_inv2 |].
    replace (a - u - (a - v)) with (- (u - v)) by ring; rewrite Rabs_Ropp; apply Rle_refl.
  - replace (a - u - (a - v)) with (- (u - v)) by ring; rewrite Rabs_Ropp; apply Rle_refl.
  - replace (- (a - u) - - (a - v)) with (u - v) by ring; apply Rle_refl.
Qed.

Lemma nu_bounds : forall n, (1 <= n)%nat -> 0 <= drift_limit n < 1.
Proof.
  intros n Hn; unfold drift_limit; assert (1 <= INR n) by (apply (le_INR 1); exact Hn); split.
  - apply Rmult_le_reg_r with (INR n); [lra |]; field_simplify; lra.
  - apply Rmult_lt_reg_r with (INR n); [lra |]; field_simplify; lra.
Qed.
