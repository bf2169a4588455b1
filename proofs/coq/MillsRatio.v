(** * Mills' ratio by its asymptotic series

    The integral of the bell beyond x is the bell at x times 1/x - 1/x^3 + 3/x^5 - 15/x^7 + ...: each even
    number of terms is too small, each odd number too large. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal Gaussian ExtendedGaussian.
Open Scope R_scope.

(** ** What vanishes far out *)

(** What falls, and comes near to 0, is not negative. *)
Lemma falls_to_0 : forall (f df : R -> R) x,
  (forall t, x <= t -> is_derive f t (df t)) -> (forall t, x <= t -> df t <= 0) ->
  (forall eta, 0 < eta -> exists t, x <= t /\ - eta <= f t) -> 0 <= f x.
Proof.
  intros f df x Hderive Hfalls Hlimit; apply le_epsilon; intros eta Heta.
  destruct (Hlimit eta Heta) as [t [Hxt Ht]].
  assert (f t <= f x); [| lra].
  apply (derivative_nonpos_le f df x t Hxt); intros u [Hu _]; [apply Hderive | apply Hfalls]; exact Hu.
Qed.

Lemma far_enough : forall x eta, 0 < eta -> exists t, x <= t /\ 1 <= t /\ bell t <= eta.
Proof.
  intros x eta Heta; destruct (bell_vanishes eta Heta) as [M [_ HM]].
  exists (Rmax x (Rmax 1 M)); assert (H1 := Rmax_l x (Rmax 1 M)); assert (H2 := Rmax_r x (Rmax 1 M)).
  assert (H3 := Rmax_l 1 M); assert (H4 := Rmax_r 1 M).
  split; [exact H1 | split; [lra |]]; apply HM; rewrite Rabs_right; lra.
Qed.

(** ** The series *)

(** [terms] terms of 1/x^m - m/x^(m+2) + m (m+2)/x^(m+4) - ..., ... *)
Fixpoint mills_sum (terms m : nat) (x : R) : R :=
  match terms with
  | O => 0
  | S rest => / x ^ m - INR m * mills_sum rest (S (S m)) x
  end.

(** ... the term after them, ... *)
Fixpoint mills_next (terms m : nat) (x : R) : R :=
  match terms with
  | O => / x ^ m
  | S rest => - (INR m * mills_next rest (S (S m)) x)
  end.

(** ... and the sum of their coefficients without signs. *)
Fixpoint mills_coefficients (terms m : nat) : R :=
  match terms with
  | O => 0
  | S rest => 1 + INR m * mills_coefficients rest (S (S m))
  end.

Lemma next_alternates : forall terms m x, 0 < x ->
  if Nat.even terms then 0 <= mills_next terms m x else mills_next terms m x <= 0.
Proof.
  induction terms as [| terms IH]; intros m x Hx.
  - left; apply Rinv_0_lt_compat, pow_lt, Hx.
  - specialize (IH (S (S m)) x Hx); assert (Hm := pos_INR m).
    rewrite Nat.even_succ, <- Nat.negb_even; cbn [mills_next]; destruct (Nat.even terms); cbn [negb]; nra.
Qed.

Lemma mills_bounded : forall terms m x, 1 <= x ->
  0 <= mills_coefficients terms m /\ Rabs (mills_sum terms m x) <= mills_coefficients terms m.
Proof.
  induction terms as [| terms IH]; intros m x Hx; cbn [mills_sum mills_coefficients];
    [rewrite Rabs_R0; lra |].
  destruct (IH (S (S m)) x Hx) as [H0 H]; assert (Hm := pos_INR m); split; [nra |].
  assert (Hpow : 1 <= x ^ m) by (apply pow_R1_Rle, Hx).
  assert (Hinv : 0 < / x ^ m <= 1).
  { split; [apply Rinv_0_lt_compat; lra |]; rewrite <- Rinv_1; apply Rinv_le_contravar; lra. }
  apply Rabs_le; apply Rabs_le_between in H; nra.
Qed.

Lemma bell_times_sum : forall terms m x, 0 < x -> is_derive (fun t => bell t * mills_sum terms (S m) t) x
  (bell x * (x * mills_next terms (S m) x - / x ^ m)).
Proof.
  induction terms as [| terms IH]; intros m x Hx; assert (Hpow : forall k, x ^ k <> 0)
    by (intros k; apply pow_nonzero; lra).
  - apply is_derive_ext with (fun _ => 0); [intros t; cbn [mills_sum]; real_ring |].
    apply derive_value with 0; [apply is_derive_Reals, derivable_pt_lim_const |].
    cbn [mills_next pow]; field; repeat split; try apply Hpow; lra.
  - apply is_derive_ext with (fun t => bell t * / t ^ S m
      - INR (S m) * (bell t * mills_sum terms (S (S (S m))) t)); [intros t; cbn [mills_sum]; real_ring |].
    apply derive_value with (- x * bell x * / x ^ S m + bell x * (- INR (S m) * / x ^ S (S m))
      - INR (S m) * (bell x * (x * mills_next terms (S (S (S m))) x - / x ^ S (S m)))).
    + apply (derive_minus (fun t => bell t * / t ^ S m)); [| apply derive_scal, IH, Hx].
      apply (derive_mult bell (fun t => / t ^ S m)); [apply bell_derivative |].
      apply derive_value with (- (INR (S m) * x ^ m) / (x ^ S m) ^ 2);
        [| cbn [pow]; field; repeat split; try apply Hpow; lra].
      apply (is_derive_inv (fun t => t ^ S m)); [| apply Hpow].
      apply derive_value with (INR (S m) * 1 * x ^ pred (S m));
        [| cbn [pred]; rewrite Rmult_1_r; reflexivity].
      apply (is_derive_pow (fun t => t)), (is_derive_id x).
    + cbn [mills_next]; cbn [pow]; field; repeat split; try apply Hpow; lra.
Qed.

(** ** Its sums on both sides of the tail *)

Lemma tail_minus_sum : forall terms x, 0 < x -> is_derive (fun t => tail t - bell t * mills_sum terms 1 t) x
  (- (bell x * (x * mills_next terms 1 x))).
Proof.
  intros terms x Hx.
  apply derive_value with (- bell x - bell x * (x * mills_next terms 1 x - / x ^ 0)); [| simpl; field].
  apply (derive_minus tail); [apply tail_derivative | apply bell_times_sum, Hx].
Qed.

Lemma difference_vanishes : forall terms x eta, 0 < eta -> exists t, x <= t /\
  Rabs (tail t - bell t * mills_sum terms 1 t) <= eta.
Proof.
  intros terms x eta Heta; destruct (mills_bounded terms 1 1 ltac:(lra)) as [HC _].
  set (C := mills_coefficients terms 1) in *.
  destruct (far_enough x (eta / (C + 2)) ltac:(apply Rdiv_lt_0_compat; lra)) as [t [Hxt [Ht Hbell]]].
  exists t; split; [exact Hxt |]; destruct (mills_bounded terms 1 t Ht) as [_ HS]; fold C in HS.
  assert (Hb := bell_pos t); assert (Htail := tail_bounds t); assert (Hle := tail_le_bell t ltac:(lra)).
  assert (Hk := kappa_le_2); assert (kappa * bell t <= 2 * bell t) by (apply Rmult_le_compat_r; lra).
  assert (Hsmall : bell t * (C + 2) <= eta).
  { apply Rmult_le_reg_r with (/ (C + 2)); [apply Rinv_0_lt_compat; lra |].
    rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra; exact Hbell. }
  apply Rabs_le; apply Rabs_le_between in HS; nra.
Qed.

Theorem mills_encloses : forall terms x, 0 < x ->
  if Nat.even terms then bell x * mills_sum terms 1 x <= tail x else tail x <= bell x * mills_sum terms 1 x.
Proof.
  intros terms x Hx; assert (Hsign := fun t (Ht : x <= t) => next_alternates terms 1 t ltac:(lra)).
  destruct (Nat.even terms); apply Rminus_le_0.
  - apply (falls_to_0 (fun t => tail t - bell t * mills_sum terms 1 t)
      (fun t => - (bell t * (t * mills_next terms 1 t)))).
    + intros t Ht; apply tail_minus_sum; lra.
    + intros t Ht; specialize (Hsign t Ht); assert (Hb := bell_pos t).
      assert (0 <= t * mills_next terms 1 t) by (apply Rmult_le_pos; lra); nra.
    + intros eta Heta; destruct (difference_vanishes terms x eta Heta) as [t [Hxt Ht]]; exists t.
      apply Rabs_le_between in Ht; split; lra.
  - apply (falls_to_0 (fun t => bell t * mills_sum terms 1 t - tail t)
      (fun t => bell t * (t * mills_next terms 1 t))).
    + intros t Ht; apply is_derive_ext with (fun u => - (tail u - bell u * mills_sum terms 1 u));
        [intros u; real_ring |].
      apply derive_value with (- - (bell t * (t * mills_next terms 1 t))); [| ring].
      apply (is_derive_opp (fun u => tail u - bell u * mills_sum terms 1 u)), tail_minus_sum; lra.
    + intros t Ht; specialize (Hsign t Ht); assert (Hb := bell_pos t).
      assert (t * mills_next terms 1 t <= 0) by nra; nra.
    + intros eta Heta; destruct (difference_vanishes terms x eta Heta) as [t [Hxt Ht]]; exists t.
      apply Rabs_le_between in Ht; split; lra.
Qed.
