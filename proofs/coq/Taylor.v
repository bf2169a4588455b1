(** * The Taylor polynomial of log(1 + exp t)

    The paper replaces f_1(t) = log(1 + exp t) by f_1(0) + f_1'(0) t + f_1''(0) t^2 / 2. *)

From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From CFM Require Import Analysis.
Open Scope R_scope.

Definition softplus (t : R) : R := ln (1 + exp t).
Definition logistic (t : R) : R := exp t / (1 + exp t).
Definition taylor (t : R) : R := ln 2 + t / 2 + t ^ 2 / 8.

Lemma exp_1_pos : forall t, 0 < 1 + exp t.
Proof. intros t; generalize (exp_pos t); lra. Qed.

Lemma softplus_derivative : forall t, is_derive softplus t (logistic t).
Proof.
  intros t; unfold softplus, logistic; generalize (exp_1_pos t); intros H.
  auto_derive; [exact H | field; lra].
Qed.

Lemma logistic_derivative : forall t, is_derive logistic t (logistic t * (1 - logistic t)).
Proof.
  intros t; unfold logistic; generalize (exp_1_pos t); intros H.
  auto_derive; [lra | field; lra].
Qed.

Lemma logistic_0 : logistic 0 = 1 / 2.
Proof. unfold logistic; rewrite exp_0; field. Qed.

Lemma softplus_0 : softplus 0 = ln 2.
Proof. unfold softplus; rewrite exp_0; f_equal; ring. Qed.

(** The first derivative of the remainder. *)
Definition slope (t : R) : R := logistic t - 1 / 2 - t / 4.

Lemma slope_derivative : forall t, is_derive slope t (- (logistic t - 1 / 2) ^ 2).
Proof.
  intros t; unfold slope.
  apply derive_value with (logistic t * (1 - logistic t) - 0 - 1 / 4); [| field].
  apply (derive_minus (fun u => logistic u - 1 / 2) (fun u => u / 4)).
  - apply (derive_minus logistic (fun _ => 1 / 2)); [apply logistic_derivative | auto_derive; trivial].
  - auto_derive; [trivial | field].
Qed.

Lemma remainder_derivative : forall t, is_derive (fun t => softplus t - taylor t) t (slope t).
Proof.
  intros t; unfold taylor, slope.
  apply derive_value with (logistic t - (1 / 2 + t / 4)); [| field].
  apply derive_minus; [apply softplus_derivative |].
  auto_derive; [trivial | field].
Qed.

Lemma slope_sign_right : forall t, 0 <= t -> slope t <= 0.
Proof.
  intros t Ht; replace 0 with (slope 0) by (unfold slope; rewrite logistic_0; field).
  apply (derivative_nonpos_le slope (fun u => - (logistic u - 1 / 2) ^ 2)); [exact Ht | |];
    intros u _; [apply slope_derivative | generalize (pow2_ge_0 (logistic u - 1 / 2)); lra].
Qed.

Lemma slope_sign_left : forall t, t <= 0 -> 0 <= slope t.
Proof.
  intros t Ht; replace 0 with (slope 0) by (unfold slope; rewrite logistic_0; field).
  apply (derivative_nonpos_le slope (fun u => - (logistic u - 1 / 2) ^ 2)); [exact Ht | |];
    intros u _; [apply slope_derivative | generalize (pow2_ge_0 (logistic u - 1 / 2)); lra].
Qed.

Lemma remainder_0 : softplus 0 - taylor 0 = 0.
Proof. rewrite softplus_0; unfold taylor; field. Qed.

Lemma remainder_upper : forall t, softplus t - taylor t <= 0.
Proof.
  intros t; rewrite <- remainder_0; destruct (Rle_or_lt 0 t) as [Ht | Ht].
  - apply (derivative_nonpos_le (fun u => softplus u - taylor u) slope); [exact Ht | |]; intros u Hu;
      [apply remainder_derivative | apply slope_sign_right; lra].
  - apply (derivative_nonneg_le (fun u => softplus u - taylor u) slope); [lra | |]; intros u Hu;
      [apply remainder_derivative | apply slope_sign_left; lra].
Qed.

Lemma logistic_monotone : forall t u, t <= u -> logistic t <= logistic u.
Proof.
  intros t u H; apply (derivative_nonneg_le logistic (fun v => logistic v * (1 - logistic v))); [exact H | |].
  - intros; apply logistic_derivative.
  - intros v _; unfold logistic; generalize (exp_pos v) (exp_1_pos v); intros H1 H2.
    replace (exp v / (1 + exp v) * (1 - exp v / (1 + exp v))) with (exp v / (1 + exp v) ^ 2) by (field; lra).
    apply Rlt_le, Rdiv_lt_0_compat; [exact H1 | apply pow_lt; exact H2].
Qed.

(** The logistic function stays within t/4 of 1/2. *)
Lemma logistic_near_half : forall t, (logistic t - 1 / 2) ^ 2 <= t ^ 2 / 16.
Proof.
  intros t; destruct (Rle_or_lt 0 t) as [Ht | Ht].
  - generalize (slope_sign_right t Ht) (logistic_monotone 0 t Ht); rewrite logistic_0; unfold slope; intros;
      nra.
  - generalize (slope_sign_left t (Rlt_le _ _ Ht)) (logistic_monotone t 0 (Rlt_le _ _ Ht));
      rewrite logistic_0.
    unfold slope; intros; nra.
Qed.

Definition quartic_slope (t : R) : R := slope t + t ^ 3 / 48.

Lemma quartic_slope_derivative : forall t,
  is_derive quartic_slope t (- (logistic t - 1 / 2) ^ 2 + t ^ 2 / 16).
Proof.
  intros t; unfold quartic_slope; apply derive_plus; [apply slope_derivative |].
  auto_derive; [trivial | field].
Qed.

Lemma quartic_slope_0 : quartic_slope 0 = 0.
Proof. unfold quartic_slope, slope; rewrite logistic_0; field. Qed.

Lemma quartic_slope_monotone : forall t u, t <= u -> quartic_slope t <= quartic_slope u.
Proof.
  intros t u H.
  apply (derivative_nonneg_le quartic_slope (fun v => - (logistic v - 1 / 2) ^ 2 + v ^ 2 / 16));
    [exact H | |];
    intros v _; [apply quartic_slope_derivative | generalize (logistic_near_half v); lra].
Qed.

Lemma remainder_lower : forall t, - (t ^ 4 / 192) <= softplus t - taylor t.
Proof.
  intros t.
  assert (H0 : 0 = softplus 0 - taylor 0 + 0 ^ 4 / 192) by (rewrite remainder_0; field).
  assert (0 <= softplus t - taylor t + t ^ 4 / 192); [| lra].
  assert (Hd : forall u, is_derive (fun v => softplus v - taylor v + v ^ 4 / 192) u (quartic_slope u)).
  { intros u; unfold quartic_slope; apply (derive_plus (fun v => softplus v - taylor v));
      [apply remainder_derivative |].
    auto_derive; [trivial | field]. }
  rewrite H0; destruct (Rle_or_lt 0 t) as [Ht | Ht].
  - apply (derivative_nonneg_le (fun v => softplus v - taylor v + v ^ 4 / 192) quartic_slope); [exact Ht | |];
      intros u Hu; [apply Hd | rewrite <- quartic_slope_0; apply quartic_slope_monotone; lra].
  - apply (derivative_nonpos_le (fun v => softplus v - taylor v + v ^ 4 / 192) quartic_slope); [lra | |];
      intros u Hu; [apply Hd | rewrite <- quartic_slope_0; apply quartic_slope_monotone; lra].
Qed.

Lemma second_derivative_0 : logistic 0 * (1 - logistic 0) = 1 / 4.
Proof. rewrite logistic_0; field. Qed.
