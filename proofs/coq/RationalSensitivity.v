(** * Exact sensitivities on the box, as functions of rational numbers

    The numbers that Python computes, by functions that Coq runs: [box_l1_sensitivity] and
    [box_l2_sensitivity] with rational weights. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity SigmaBound ProfileEnds.
Open Scope R_scope.

Definition rational_of_nat (k : nat) : Q := inject_Z (Z.of_nat k).

Definition rational_gain (F : fairness) (n : nat) : Q :=
  match F with
  | NoFairness => 0%Q
  | Absolute => (2 * ((rational_of_nat n - 1) / rational_of_nat n))%Q
  | Covariance _ => ((rational_of_nat n - 1) / rational_of_nat n)%Q
  end.

Definition rational_linear (F : fairness) (alpha : Q) (n : nat) : Q := (1 / 2 + alpha * rational_gain F
  n)%Q.

Definition rational_box_l1 (F : fairness) (alpha : Q) (n d : nat) : Q :=
  let k := rational_of_nat d in
  (k * rational_linear F alpha n + k * k / 8 + (if (2 <=? d)%nat then 1 / 2 else 3 / 8))%Q.

Definition rational_box_l2_at (b : quadratic_basis) (F : fairness) (alpha : Q) (n d k : nat) : Q :=
  let A := rational_linear F alpha n in let e := rational_of_nat d in let o := rational_of_nat k in
  (e * (A * A) + o * (A + 1 / 4) + match b with
    | MatrixBasis => (e * e - o * o) / 64
    | MonomialBasis => (2 * (e * e) - e - 2 * (o * o) + o) / 64
    end)%Q.

Fixpoint rational_largest (f : nat -> Q) (k : nat) : Q :=
  match k with
  | O => f O
  | S k' => let rest := rational_largest f k' in if Qle_bool rest (f k) then f k else rest
  end.

Definition rational_box_l2 (b : quadratic_basis) (F : fairness) (alpha : Q) (n d : nat) : Q :=
  rational_largest (rational_box_l2_at b F alpha n d) d.

Lemma Q2R_by : forall p (z : positive), Q2R (p / (Z.pos z # 1)) = Q2R p / IZR (Z.pos z).
Proof. intros p z; rewrite Q2R_div; rewrite (Q2R_literal (Z.pos z)); [reflexivity |];
  apply (IZR_lt 0), Pos2Z.is_pos. Qed.

Lemma rational_of_nat_correct : forall k, Q2R (rational_of_nat k) = INR k.
Proof. exact Q2R_of_nat. Qed.

Lemma rational_linear_correct : forall r alpha n, (1 <= n)%nat -> alpha_1 r = Q2R alpha ->
  Q2R (rational_linear (fairness_term r) alpha n) = 1 / 2 + alpha_1 r * fairness_gain (fairness_term r) n.
Proof.
  intros r alpha n Hn Ha; unfold rational_linear; rewrite Q2R_plus, Q2R_mult, <- Ha.
  assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia).
  assert (Hnu : Q2R ((rational_of_nat n - 1) / rational_of_nat n) = drift_limit n).
  { rewrite Q2R_div, Q2R_minus, RMicromega.Q2R_1, rational_of_nat_correct by (rewrite
    rational_of_nat_correct;
      exact Hpos); unfold drift_limit; reflexivity. }
  rewrite (Q2R_by 1 2), RMicromega.Q2R_1; f_equal; f_equal; unfold rational_gain, fairness_gain.
  destruct (fairness_term r); [apply RMicromega.Q2R_0 | rewrite Q2R_mult, Hnu, (Q2R_literal 2);
    ring | exact Hnu].
Qed.

Theorem rational_box_l1_correct : forall r alpha n d, alpha_1 r = Q2R alpha -> 0 <= alpha_1 r ->
  (1 <= n)%nat -> (1 <= d)%nat ->
  exact_sensitivity n (unit_box d) (l1_change r d all_monomials) (Q2R (rational_box_l1 (fairness_term r)
    alpha n d)).
Proof.
  intros r alpha n d Hr Ha Hn Hd; assert (H := box_l1_exact r n d Ha Hn Hd).
  replace (Q2R (rational_box_l1 (fairness_term r) alpha n d)) with (INR d * (1 / 2 + alpha_1 r *
    fairness_gain
    (fairness_term r) n) + INR d ^ 2 / 8 + (if (2 <=? d)%nat then 1 / 2 else 3 / 8)); [exact H |].
  unfold rational_box_l1; rewrite !Q2R_plus, Q2R_mult, (rational_linear_correct r alpha n Hn Hr), (Q2R_by _
    8),
    Q2R_mult, rational_of_nat_correct.
  replace (INR d ^ 2) with (INR d * INR d) by ring; f_equal; destruct (2 <=? d)%nat;
    rewrite (Q2R_by _ _); rewrite ?RMicromega.Q2R_1, ?(Q2R_literal 3); reflexivity.
Qed.

Lemma rational_box_l2_at_correct : forall r alpha n d k, alpha_1 r = Q2R alpha -> (1 <= n)%nat ->
  Q2R (rational_box_l2_at (basis r) (fairness_term r) alpha n d k) = box_l2_squared_at r n d k.
Proof.
  intros r alpha n d k Hr Hn; unfold rational_box_l2_at, box_l2_squared_at, linear_gain; cbv zeta.
  assert (HA := rational_linear_correct r alpha n Hn Hr); set (A := rational_linear (fairness_term r) alpha
    n) in *.
  destruct (basis r); rewrite !Q2R_plus, !Q2R_mult, Q2R_plus, (Q2R_by _ 64), (Q2R_by _ 4), RMicromega.Q2R_1;
    rewrite ?Q2R_minus, ?Q2R_plus, ?Q2R_minus, ?Q2R_mult, ?Q2R_minus, ?Q2R_mult, ?(Q2R_literal 2),
    ?rational_of_nat_correct, HA; field.
Qed.

Lemma rational_largest_correct : forall f g k, (forall i, Q2R (f i) = g i) ->
  Q2R (rational_largest f k) = largest g k.
Proof.
  intros f g k H; induction k as [| k IH]; cbn [rational_largest largest]; [apply H |].
  destruct (Qle_bool (rational_largest f k) (f (S k))) eqn:E.
  - apply Qle_bool_R in E; rewrite IH, H in *; unfold Rmax; destruct Rle_dec; lra.
  - apply Qle_bool_false in E; rewrite IH, H in *; unfold Rmax; destruct Rle_dec; lra.
Qed.

Theorem rational_box_l2_correct : forall r alpha n d, alpha_1 r = Q2R alpha -> 0 <= alpha_1 r -> (1 <=
  n)%nat ->
  exact_sensitivity n (unit_box d) (l2_change_squared r d all_monomials)
    (Q2R (rational_box_l2 (basis r) (fairness_term r) alpha n d)).
Proof.
  intros r alpha n d Hr Ha Hn; unfold rational_box_l2.
  rewrite (rational_largest_correct _ (box_l2_squared_at r n d)) by (intros;
    apply rational_box_l2_at_correct;
    assumption); exact (box_l2_exact r n d Ha Hn).
Qed.
