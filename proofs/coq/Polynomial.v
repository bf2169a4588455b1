(** * The coefficients are those of the paper's approximate objective

    f-bar(D, w) is the sum over records of f_1(0) + f_1'(0) u + f_1''(0) u^2/2 - y u + alpha_1 F u with
    u = x.w; its constant term is not released. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Theorem3.
Import ListNotations.
Open Scope R_scope.

Definition inner_product (d : nat) (u w : nat -> R) : R := sum_over (coordinates d) (fun e => u e * w e).

Lemma record_polynomial : forall r d average t w,
  sum_over (Phi (basis r) d) (fun phi => record_coefficient r average t phi * evaluate phi w) =
  let u := inner_product d (attribute t) w in
  u / 2 + u ^ 2 / 8 - number (label t) * u
  + alpha_1 r * fairness_factor (fairness_term r) (number (protected t)) average * u.
Proof.
  intros r d average t w.
  set (k := 1 / 2 - number (label t) + alpha_1 r * fairness_factor (fairness_term r)
    (number (protected t)) average).
  rewrite (sum_ext _ _ (fun phi => match phi with
    Linear e => k * (attribute t e * w e)
  | Quadratic e l => quadratic_factor (basis r) e l * ((attribute t e * w e) * (attribute t l * w l)) end)).
  - rewrite sum_all_monomials by (intros; ring).
    rewrite sum_scal, sum_product; unfold inner_product, k; cbv zeta; field.
  - intros [e | e l] _; cbn [record_coefficient evaluate]; fold k; ring.
Qed.

Theorem objective_polynomial : forall r d D w,
  sum_over (Phi (basis r) d) (fun phi => coefficient r D phi * evaluate phi w) =
  sum_over D (fun t => let u := inner_product d (attribute t) w in
    u / 2 + u ^ 2 / 8 - number (label t) * u
    + alpha_1 r * fairness_factor (fairness_term r) (number (protected t)) (zbar D) * u).
Proof.
  intros r d D w; unfold coefficient.
  rewrite (sum_ext _ _ 
    (fun phi => sum_over D (fun t => record_coefficient r (zbar D) t phi * evaluate phi w)))
    by (intros; rewrite sum_scal_r; reflexivity).
  rewrite sum_swap; apply sum_ext; intros t _; apply record_polynomial.
Qed.
