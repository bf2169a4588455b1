(** * Exact sensitivities on the box, as functions of rational numbers

    Coq computes here the numbers that Python computes: [box_l1_sensitivity] and [box_l2_sensitivity] with
    rational weights, and the same for boxes with a bound for each column. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity DeclaredBox SigmaBound ProfileEnds.
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

(** ** Boxes with a rational bound for each column *)

Definition rational_sum (f : Q -> Q) (l : list Q) : Q := fold_right (fun q total => (f q + total)%Q) 0%Q l.

Definition bound_of (bounds : list Q) (e : nat) : R := Q2R (nth e bounds 0%Q).

Definition rational_declared_l1 (F : fairness) (alpha : Q) (n : nat) (bounds : list Q) : Q :=
  let s := rational_sum (fun q => q) bounds in
  (s * rational_linear F alpha n + s * s / 8 + (if Qle_bool s 2 then s / 2 - s * s / 8 else 1 / 2))%Q.

(** None where the bounds are not small. *)
Definition rational_declared_l2 (b : quadratic_basis) (F : fairness) (alpha : Q) (n : nat) (bounds : list Q) :
    option Q :=
  let s := rational_sum (fun q => q * q)%Q bounds in
  let A := rational_linear F alpha n in
  if Qle_bool s (match b with MatrixBasis => 32 | MonomialBasis => 16 end * (A + 1 / 4))%Q
  then Some ((A + 1 / 2) * (A + 1 / 2) * s)%Q else None.

Lemma rational_sum_correct : forall f g bounds, (forall q, Q2R (f q) = g (Q2R q)) ->
  Q2R (rational_sum f bounds) = sum_over (coordinates (length bounds)) (fun e => g (bound_of bounds e)).
Proof.
  intros f g bounds H; induction bounds as [| q bounds IH]; [apply RMicromega.Q2R_0 |].
  unfold coordinates; cbn [length seq rational_sum fold_right]; rewrite <- seq_shift, sum_cons, sum_map.
  rewrite Q2R_plus, H; fold (rational_sum f bounds); rewrite IH; reflexivity.
Qed.

Lemma bounds_nonneg : forall bounds e, Forall (fun q => 0 <= Q2R q) bounds -> 0 <= bound_of bounds e.
Proof.
  intros bounds e H; unfold bound_of; destruct (nth_in_or_default e bounds 0%Q) as [Hin | ->];
    [rewrite Forall_forall in H; apply H, Hin | rewrite RMicromega.Q2R_0; lra].
Qed.

Theorem rational_declared_l1_correct : forall r alpha n bounds, alpha_1 r = Q2R alpha -> 0 <= alpha_1 r ->
  (1 <= n)%nat -> Forall (fun q => 0 <= Q2R q) bounds ->
  exact_sensitivity n (declared_box (length bounds) (bound_of bounds))
    (l1_change r (length bounds) all_monomials)
    (Q2R (rational_declared_l1 (fairness_term r) alpha n bounds)).
Proof.
  intros r alpha n bounds Hr Ha Hn Hb.
  assert (H := declared_l1_exact (length bounds) (bound_of bounds)
    (fun e _ => bounds_nonneg bounds e Hb) r n Ha Hn).
  assert (Hs := rational_sum_correct (fun q => q) (fun v => v) bounds (fun _ => eq_refl)); cbv beta in Hs.
  change (fun e => bound_of bounds e) with (bound_of bounds) in Hs.
  replace (Q2R _) with (declared_l1 r n (sum_over (coordinates (length bounds)) (bound_of bounds)));
    [exact H |].
  unfold rational_declared_l1, declared_l1, linear_gain; cbv zeta; set (s := rational_sum _ bounds) in *.
  rewrite <- Hs, !Q2R_plus, Q2R_mult, (rational_linear_correct r alpha n Hn Hr), (Q2R_by _ 8), Q2R_mult.
  replace (Q2R s ^ 2) with (Q2R s * Q2R s) by ring; f_equal; destruct (Qle_bool s 2) eqn:E.
  - apply Qle_bool_R in E; rewrite (Q2R_literal 2) in E; destruct Rle_dec; [| lra].
    rewrite Q2R_minus, Q2R_half, (Q2R_by _ 8), Q2R_mult; reflexivity.
  - apply Qle_bool_false in E; rewrite (Q2R_literal 2) in E; destruct Rle_dec; [lra |].
    rewrite Q2R_half, RMicromega.Q2R_1; reflexivity.
Qed.

Theorem rational_declared_l2_correct : forall r alpha n bounds value, alpha_1 r = Q2R alpha ->
  0 <= alpha_1 r -> (1 <= n)%nat -> Forall (fun q => 0 <= Q2R q) bounds ->
  rational_declared_l2 (basis r) (fairness_term r) alpha n bounds = Some value ->
  exact_sensitivity n (declared_box (length bounds) (bound_of bounds))
    (l2_change_squared r (length bounds) all_monomials) (Q2R value).
Proof.
  intros r alpha n bounds value Hr Ha Hn Hb; unfold rational_declared_l2; cbv zeta.
  assert (Hs := rational_sum_correct (fun q => q * q)%Q (fun v => v ^ 2) bounds
    ltac:(intros q; cbv beta; rewrite Q2R_mult; ring)); cbv beta in Hs.
  set (s := rational_sum _ bounds) in *; set (A := rational_linear (fairness_term r) alpha n).
  assert (HA : Q2R A = linear_gain r n) by (apply rational_linear_correct; assumption).
  assert (Hquarter : Q2R (A + 1 / 4) = linear_gain r n + 1 / 4)
    by (rewrite Q2R_plus, HA, (Q2R_by _ 4), RMicromega.Q2R_1; reflexivity).
  destruct (Qle_bool s _) eqn:E; [| discriminate]; intros Hvalue; injection Hvalue as <-.
  apply Qle_bool_R in E; rewrite Q2R_mult, Hquarter, Hs in E.
  assert (H := declared_l2_exact (length bounds) (bound_of bounds)
    (fun e _ => bounds_nonneg bounds e Hb) r n Ha Hn).
  replace (Q2R _) with (declared_l2_squared r n (sum_over (coordinates (length bounds))
    (fun e => bound_of bounds e ^ 2))).
  - apply H; unfold bounds_are_small; destruct (basis r);
      [rewrite (Q2R_literal 32) in E | rewrite (Q2R_literal 16) in E]; exact E.
  - rewrite !Q2R_mult, Q2R_plus, Q2R_half, RMicromega.Q2R_1, HA, Hs; unfold declared_l2_squared; ring.
Qed.
