(** * Two weights: the exact l1-sensitivity of a box with a bound for each column

    Monomials with w_s have one weight, the others another. The changes of [DeclaredBox.v] leave two numbers
    free: what the smaller record has in column s, and in all other columns together. The weighted change is
    largest on an edge of their rectangle, and on each edge it is a parabola. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity DeclaredBox Laplace Theorem3 SigmaBound
  ProfileEnds RationalSensitivity.
Import ListNotations.
Open Scope R_scope.

Definition weighted_l1 (r : reading) (d s : nat) (weight_s weight_n : R) (D D' : dataset) : R :=
  weight_s * l1_change r d (contains s) D D' + weight_n * l1_change r d (contains_not s) D D'.

(** What the smaller record adds: p in column s, u in the other columns together. *)
Definition old_gain (weight_s weight_n p u : R) : R :=
  weight_s * (p / 2 - (p ^ 2 + 2 * p * u) / 8) + weight_n * (u / 2 - u ^ 2 / 8).

(** The number from 0 to [high] that is nearest to x. *)
Definition nearest (x high : R) : R := Rmax 0 (Rmin x high).

Definition turning (weight_s weight_n b : R) : R :=
  if Rle_dec weight_n 0 then 0 else 2 - weight_s / weight_n * b.

(** The largest on the four edges: b bounds column s, rest the others. *)
Definition largest_gain (weight_s weight_n b rest : R) : R :=
  let gain := old_gain weight_s weight_n in
  Rmax (Rmax (gain 0 (nearest 2 rest)) (gain b (nearest (turning weight_s weight_n b) rest)))
    (Rmax (gain (nearest 2 b) 0) (gain (nearest (2 - rest) b) rest)).

Definition weighted_l1_value (A weight_s weight_n b rest : R) : R :=
  (weight_s * b + weight_n * rest) * A + (weight_s * (b ^ 2 + 2 * b * rest) + weight_n * rest ^ 2) / 8
  + largest_gain weight_s weight_n b rest.

(** ** The maximum *)

Lemma nearest_bounds : forall x high, 0 <= high -> 0 <= nearest x high <= high.
Proof. intros x high H; unfold nearest, Rmax, Rmin; repeat destruct Rle_dec; lra. Qed.

Lemma nearest_is_nearest : forall c high x, 0 <= x <= high -> (nearest c high - c) ^ 2 <= (x - c) ^ 2.
Proof.
  intros c high x H; assert (H0 := pow2_ge_0 (x - c)).
  destruct (Rle_or_lt c 0) as [Hlow | Hlow]; [| destruct (Rle_or_lt c high) as [Hin | Hhigh]].
  - replace (nearest c high) with 0 by (unfold nearest, Rmax, Rmin; repeat destruct Rle_dec; lra); nra.
  - replace (nearest c high) with c by (unfold nearest, Rmax, Rmin; repeat destruct Rle_dec; lra); nra.
  - replace (nearest c high) with high by (unfold nearest, Rmax, Rmin; repeat destruct Rle_dec; lra); nra.
Qed.

Section Gain.
Variables (weight_s weight_n b rest : R).
Hypothesis weight_s_nonneg : 0 <= weight_s.
Hypothesis weight_n_nonneg : 0 <= weight_n.
Hypothesis b_nonneg : 0 <= b.
Hypothesis rest_nonneg : 0 <= rest.

Let gain := old_gain weight_s weight_n.
Let top := largest_gain weight_s weight_n b rest.

Lemma edges_below : gain 0 (nearest 2 rest) <= top /\
  gain b (nearest (turning weight_s weight_n b) rest) <= top /\
  gain (nearest 2 b) 0 <= top /\ gain (nearest (2 - rest) b) rest <= top.
Proof.
  unfold top, largest_gain; cbv zeta; fold gain.
  set (e1 := gain 0 (nearest 2 rest)); set (e2 := gain b _); set (e3 := gain (nearest 2 b) 0);
    set (e4 := gain (nearest (2 - rest) b) rest).
  generalize (Rmax_l e1 e2) (Rmax_r e1 e2) (Rmax_l e3 e4) (Rmax_r e3 e4)
    (Rmax_l (Rmax e1 e2) (Rmax e3 e4)) (Rmax_r (Rmax e1 e2) (Rmax e3 e4)); intros; repeat split; lra.
Qed.

Lemma without_p : forall u, 0 <= u <= rest -> gain 0 u <= top.
Proof.
  intros u Hu; apply Rle_trans with (gain 0 (nearest 2 rest)); [| apply edges_below].
  assert (H := nearest_is_nearest 2 rest u Hu); unfold gain, old_gain; nra.
Qed.

Lemma with_all_of_p : forall u, 0 <= u <= rest -> gain b u <= top.
Proof.
  intros u Hu; apply Rle_trans with (gain b (nearest (turning weight_s weight_n b) rest));
    [| apply edges_below].
  assert (H := nearest_is_nearest (turning weight_s weight_n b) rest u Hu).
  assert (H0 := nearest_bounds (turning weight_s weight_n b) rest rest_nonneg).
  set (v := nearest _ rest) in *; unfold gain, old_gain, turning in *; destruct Rle_dec as [Hn | Hn].
  - assert (E : weight_n = 0) by lra; rewrite E in *.
    assert (Hv : v ^ 2 <= 0) by (unfold v, nearest, Rmax, Rmin; repeat destruct Rle_dec; nra).
    assert (v = 0) by nra; subst v; assert (0 <= weight_s * b) by nra; nra.
  - set (c := 2 - weight_s / weight_n * b) in *.
    assert (E : weight_s * b = weight_n * (2 - c)) by (unfold c; field; lra).
    assert (Hn' : 0 <= weight_n * ((u - c) ^ 2 - (v - c) ^ 2)) by (apply Rmult_le_pos; lra).
    assert (Hs : forall t, weight_s * (b / 2 - (b ^ 2 + 2 * b * t) / 8)
      = weight_s * (b / 2 - b ^ 2 / 8) - weight_n * (2 - c) * t / 4) by (intros t; rewrite <- E; field).
    rewrite !Hs; nra.
Qed.

Lemma without_u : forall p, 0 <= p <= b -> gain p 0 <= top.
Proof.
  intros p Hp; apply Rle_trans with (gain (nearest 2 b) 0); [| apply edges_below].
  assert (H := nearest_is_nearest 2 b p Hp); unfold gain, old_gain; nra.
Qed.

Lemma with_all_of_u : forall p, 0 <= p <= b -> gain p rest <= top.
Proof.
  intros p Hp; apply Rle_trans with (gain (nearest (2 - rest) b) rest); [| apply edges_below].
  assert (H := nearest_is_nearest (2 - rest) b p Hp); unfold gain, old_gain; nra.
Qed.

(** On the line p + u = 2 the gain is monotone, so inside it is below an edge. *)
Lemma gain_below_top : forall p u, 0 <= p <= b -> 0 <= u <= rest -> gain p u <= top.
Proof.
  intros p u Hp Hu; apply Rle_trans with (gain (nearest (2 - u) b) u).
  { assert (H := nearest_is_nearest (2 - u) b p Hp); unfold gain, old_gain; nra. }
  assert (Hline : forall t, gain (2 - t) t = weight_n / 2 + (weight_s - weight_n) * ((2 - t) ^ 2 / 8))
    by (intros t; unfold gain, old_gain; field).
  destruct (Rle_or_lt 2 u) as [Hhigh | Hlow].
  { replace (nearest (2 - u) b) with 0; [apply without_p, Hu |].
    unfold nearest, Rmax, Rmin; repeat destruct Rle_dec; lra. }
  destruct (Rle_or_lt b (2 - u)) as [Hb | Hb].
  { replace (nearest (2 - u) b) with b; [apply with_all_of_p, Hu |].
    unfold nearest, Rmax, Rmin; repeat destruct Rle_dec; lra. }
  replace (nearest (2 - u) b) with (2 - u) by (unfold nearest, Rmax, Rmin; repeat destruct Rle_dec; lra).
  destruct (Rle_or_lt weight_n weight_s) as [Hw | Hw];
    [destruct (Rle_or_lt 2 b) | destruct (Rle_or_lt 2 rest)].
  - apply Rle_trans with (gain (2 - 0) 0);
      [rewrite !Hline; apply Rplus_le_compat_l, Rmult_le_compat_l; nra | apply without_u; lra].
  - apply Rle_trans with (gain (2 - (2 - b)) (2 - b));
      [rewrite !Hline; apply Rplus_le_compat_l, Rmult_le_compat_l; nra |].
    replace (2 - (2 - b)) with b by ring; apply with_all_of_p; lra.
  - apply Rle_trans with (gain (2 - 2) 2);
      [rewrite !Hline; apply Rplus_le_compat_l, Rmult_le_compat_neg_l; nra |].
    replace (2 - 2) with 0 by ring; apply without_p; lra.
  - apply Rle_trans with (gain (2 - rest) rest);
      [rewrite !Hline; apply Rplus_le_compat_l, Rmult_le_compat_neg_l; nra | apply with_all_of_u; lra].
Qed.

Lemma top_attained : exists p u, 0 <= p <= b /\ 0 <= u <= rest /\ gain p u = top.
Proof.
  assert (H1 := nearest_bounds 2 rest rest_nonneg); assert (H3 := nearest_bounds 2 b b_nonneg).
  assert (H2 := nearest_bounds (turning weight_s weight_n b) rest rest_nonneg).
  assert (H4 := nearest_bounds (2 - rest) b b_nonneg).
  assert (H : forall x y, Rmax x y = x \/ Rmax x y = y) by (intros; unfold Rmax; destruct Rle_dec; auto).
  unfold top, largest_gain; cbv zeta; fold gain.
  set (e1 := gain 0 (nearest 2 rest)); set (e2 := gain b _); set (e3 := gain (nearest 2 b) 0);
    set (e4 := gain (nearest (2 - rest) b) rest).
  destruct (H (Rmax e1 e2) (Rmax e3 e4)) as [-> | ->]; [destruct (H e1 e2) as [-> | ->]
    | destruct (H e3 e4) as [-> | ->]].
  - exists 0, (nearest 2 rest); repeat split; try lra.
  - exists b, (nearest (turning weight_s weight_n b) rest); repeat split; try lra.
  - exists (nearest 2 b), 0; repeat split; try lra.
  - exists (nearest (2 - rest) b), rest; repeat split; try lra.
Qed.
End Gain.

(** ** The sensitivity *)

Section Weighted.
Variables (d s : nat) (bound : nat -> R).
Hypothesis bound_nonneg : forall e, (e < d)%nat -> 0 <= bound e.
Hypothesis s_below : (s < d)%nat.

Let rest := sum_over (coordinates d) bound - bound s.

Lemma rest_bounds : 0 <= bound s /\ 0 <= rest.
Proof.
  split; [apply bound_nonneg, s_below |]; unfold rest.
  assert (bound s <= sum_over (coordinates d) bound); [| lra]; apply sum_member;
    [intros e He; apply bound_nonneg, in_coordinates, He | apply in_coordinates, s_below].
Qed.

Lemma others_bounds : forall q, in_box d q ->
  0 <= bound s * q s <= bound s /\
  0 <= sum_over (coordinates d) (fun e => bound e * q e) - bound s * q s <= rest.
Proof.
  intros q Hq; assert (Hs := Hq s s_below); assert (Hb := bound_nonneg s s_below); split; [nra |].
  assert (Hin : In s (coordinates d)) by (apply in_coordinates, s_below); split.
  - assert (bound s * q s <= sum_over (coordinates d) (fun e => bound e * q e)); [| lra].
    apply (sum_member (coordinates d) s (fun e => bound e * q e)); [| exact Hin]; intros e He.
    apply in_coordinates in He; apply Rmult_le_pos; [apply bound_nonneg, He | apply Hq, He].
  - assert (bound s * (1 - q s) <= sum_over (coordinates d) (fun e => bound e * (1 - q e))).
    { apply (sum_member (coordinates d) s (fun e => bound e * (1 - q e))); [| exact Hin]; intros e He.
      apply in_coordinates in He; apply Rmult_le_pos; [apply bound_nonneg, He |]; destruct (Hq e He); lra. }
    rewrite (sum_ext _ (fun e => bound e * (1 - q e)) (fun e => bound e - bound e * q e)), sum_minus in H
      by (intros; ring); unfold rest; lra.
Qed.

Lemma part_with_s : forall r n q, let T := sum_over (coordinates d) (fun e => bound e * q e) in
  let p := bound s * q s in
  sum_over (filter (contains s) (Phi (basis r) d)) (fun phi => stretch bound phi * box_bound r n q phi) =
  bound s * linear_gain r n + p / 2 + (bound s ^ 2 + 2 * bound s * rest - p ^ 2 - 2 * p * (T - p)) / 8.
Proof.
  intros r n q T p.
  rewrite (sum_ext _ _ (fun phi => match phi with
    | Linear e => bound e * (linear_gain r n + q e / 2)
    | Quadratic e l => quadratic_factor (basis r) e l * (bound e * bound l * (1 - q e * q l)) end))
    by (intros [e | e l] _; cbn [stretch box_bound]; ring).
  rewrite (sum_monomials_with_s (basis r) d s (fun e => bound e * (linear_gain r n + q e / 2))
    (fun e l => bound e * bound l * (1 - q e * q l)) s_below) by (intros; ring).
  rewrite (sum_ext _ (fun l => bound s * bound l * (1 - q s * q l))
    (fun l => bound s * bound l - p * (bound l * q l))) by (intros; unfold p; ring).
  rewrite sum_minus, !sum_scal; fold T; unfold rest, p; field.
Qed.

Lemma weighted_sum_of_bounds : forall r n q weight_s weight_n,
  let p := bound s * q s in let u := sum_over (coordinates d) (fun e => bound e * q e) - p in
  weight_s * sum_over (filter (contains s) (Phi (basis r) d))
    (fun phi => stretch bound phi * box_bound r n q phi) +
  weight_n * sum_over (filter (contains_not s) (Phi (basis r) d))
    (fun phi => stretch bound phi * box_bound r n q phi) =
  (weight_s * bound s + weight_n * rest) * linear_gain r n +
  (weight_s * (bound s ^ 2 + 2 * bound s * rest) + weight_n * rest ^ 2) / 8 + old_gain weight_s weight_n p u.
Proof.
  intros r n q ws wn p u.
  assert (H := sum_two_parts (Phi (basis r) d) s (fun phi => stretch bound phi * box_bound r n q phi)).
  rewrite sum_declared_l1, part_with_s in H; rewrite part_with_s.
  set (N := sum_over (filter (contains_not s) _) _) in *; cbv zeta in H.
  replace N with (sum_over (coordinates d) bound * linear_gain r n
    + sum_over (coordinates d) (fun e => bound e * q e) / 2 + (sum_over (coordinates d) bound ^ 2
    - sum_over (coordinates d) (fun e => bound e * q e) ^ 2) / 8 - (bound s * linear_gain r n
    + bound s * q s / 2 + (bound s ^ 2 + 2 * bound s * rest - (bound s * q s) ^ 2
    - 2 * (bound s * q s) * (sum_over (coordinates d) (fun e => bound e * q e) - bound s * q s)) / 8)) by lra.
  unfold old_gain, u, p, rest; field.
Qed.

Lemma weighted_l1_le : forall r n q weight_s weight_n D D', 0 <= weight_s -> 0 <= weight_n ->
  (forall phi, In phi (Phi (basis r) d) ->
    Rabs (coefficient r D phi - coefficient r D' phi) <= stretch bound phi * box_bound r n q phi) ->
  weighted_l1 r d s weight_s weight_n D D' <=
  weight_s * sum_over (filter (contains s) (Phi (basis r) d))
    (fun phi => stretch bound phi * box_bound r n q phi) +
  weight_n * sum_over (filter (contains_not s) (Phi (basis r) d))
    (fun phi => stretch bound phi * box_bound r n q phi).
Proof.
  intros r n q ws wn D D' Hs Hn H; unfold weighted_l1, l1_change.
  apply Rplus_le_compat; apply Rmult_le_compat_l; try assumption; apply sum_le; intros phi Hphi; apply H;
    apply filter_In in Hphi; apply Hphi.
Qed.

(** A record of the box that has p in column s and u in the other columns together. *)
Definition two_shares (p u : R) (e : nat) : R :=
  if Nat.eqb e s then (if Req_EM_T (bound s) 0 then 0 else p / bound s)
  else (if Req_EM_T rest 0 then 0 else u / rest).

Lemma share_in_unit : forall b v, 0 <= b -> 0 <= v <= b -> 0 <= (if Req_EM_T b 0 then 0 else v / b) <= 1 /\
  b * (if Req_EM_T b 0 then 0 else v / b) = v.
Proof.
  intros b v Hb Hv; destruct (Req_EM_T b 0) as [E | E]; [split; [lra | rewrite E in *; lra] |].
  assert (0 < / b) by (apply Rinv_0_lt_compat; lra); split; [| field; exact E]; split.
  - apply Rmult_le_pos; lra.
  - apply Rmult_le_reg_l with b; [lra |]; replace (b * (v / b)) with v by (field; exact E); lra.
Qed.

Lemma two_shares_correct : forall p u, 0 <= p <= bound s -> 0 <= u <= rest -> in_box d (two_shares p u) /\
  bound s * two_shares p u s = p /\
  sum_over (coordinates d) (fun e => bound e * two_shares p u e) - p = u.
Proof.
  intros p u Hp Hu; destruct rest_bounds as [Hb Hrest].
  destruct (share_in_unit (bound s) p Hb Hp) as [Hp1 Ep].
  destruct (share_in_unit rest u Hrest Hu) as [Hu1 Eu].
  set (x := if Req_EM_T (bound s) 0 then 0 else p / bound s) in *.
  set (y := if Req_EM_T rest 0 then 0 else u / rest) in *.
  split; [intros e _; unfold two_shares; fold x y; destruct (Nat.eqb e s); assumption |].
  assert (Es : two_shares p u s = x) by (unfold two_shares; rewrite Nat.eqb_refl; reflexivity).
  rewrite Es; split; [exact Ep |].
  rewrite (sum_ext _ _ (fun e => (if Nat.eqb e s then bound e * (x - y) else 0) + y * bound e)).
  - rewrite sum_plus, (sum_delta d s (fun e => bound e * (x - y))), sum_scal by exact s_below.
    rewrite <- Ep, <- Eu; unfold rest; ring.
  - intros e _; unfold two_shares; fold x y; destruct (Nat.eqb e s); ring.
Qed.

Theorem weighted_l1_exact : forall r n weight_s weight_n, 0 <= alpha_1 r -> (1 <= n)%nat ->
  0 <= weight_s -> 0 <= weight_n ->
  exact_sensitivity n (declared_box d bound) (weighted_l1 r d s weight_s weight_n)
    (weighted_l1_value (linear_gain r n) weight_s weight_n (bound s) rest).
Proof.
  intros r n ws wn Ha Hn Hws Hwn; destruct rest_bounds as [Hb Hrest]; split.
  - intros D D' H; destruct (declared_changes_bounded d bound bound_nonneg r n D D' Ha H) as [q [Hq Hphi]].
    eapply Rle_trans; [apply (weighted_l1_le r n q); assumption |]; rewrite weighted_sum_of_bounds.
    destruct (others_bounds q Hq) as [Hp Hu]; unfold weighted_l1_value.
    apply Rplus_le_compat_l, gain_below_top; assumption.
  - unfold weighted_l1_value; destruct (top_attained ws wn (bound s) rest Hb Hrest) as (p & u & Hp & Hu & <-).
    destruct (two_shares_correct p u Hp Hu) as (Hq & Ep & Eu).
    destruct (declared_changes_attained d bound bound_nonneg r n _ Ha Hn Hq) as (D & D' & H & Hphi).
    exists D, D'; split; [exact H |]; unfold weighted_l1, l1_change.
    assert (Hpart : forall part, sum_over (filter part (Phi (basis r) d))
      (fun phi => Rabs (coefficient r D phi - coefficient r D' phi)) =
      sum_over (filter part (Phi (basis r) d))
        (fun phi => stretch bound phi * box_bound r n (two_shares p u) phi)).
    { intros part; apply sum_ext; intros phi Hin; apply filter_In in Hin; apply Hphi, Hin. }
    rewrite !Hpart, weighted_sum_of_bounds, Ep, Eu; reflexivity.
Qed.
End Weighted.

(** ** With rational numbers *)

Definition rational_max (a b : Q) : Q := if Qle_bool a b then b else a.
Definition rational_min (a b : Q) : Q := if Qle_bool a b then a else b.
Definition rational_nearest (x high : Q) : Q := rational_max 0 (rational_min x high).

Definition rational_gain_of_old (weight_s weight_n p u : Q) : Q :=
  (weight_s * (p / 2 - (p * p + 2 * p * u) / 8) + weight_n * (u / 2 - u * u / 8))%Q.

Definition rational_turning (weight_s weight_n b : Q) : Q :=
  if Qle_bool weight_n 0 then 0%Q else (2 - weight_s / weight_n * b)%Q.

Definition rational_weighted_l1 (F : fairness) (alpha : Q) (n : nat) (bounds : list Q) (s : nat)
    (weight_s weight_n : Q) : Q :=
  let b := nth s bounds 0%Q in
  let rest := (rational_sum (fun q => q) bounds - b)%Q in
  let gain := rational_gain_of_old weight_s weight_n in
  let top := rational_max
    (rational_max (gain 0%Q (rational_nearest 2 rest))
      (gain b (rational_nearest (rational_turning weight_s weight_n b) rest)))
    (rational_max (gain (rational_nearest 2 b) 0%Q) (gain (rational_nearest (2 - rest) b) rest)) in
  ((weight_s * b + weight_n * rest) * rational_linear F alpha n
    + (weight_s * (b * b + 2 * b * rest) + weight_n * (rest * rest)) / 8 + top)%Q.

Lemma rational_max_correct : forall a b, Q2R (rational_max a b) = Rmax (Q2R a) (Q2R b).
Proof.
  intros a b; unfold rational_max, Rmax; destruct (Qle_bool a b) eqn:E;
    [apply Qle_bool_R in E | apply Qle_bool_false in E]; destruct Rle_dec; lra.
Qed.

Lemma rational_min_correct : forall a b, Q2R (rational_min a b) = Rmin (Q2R a) (Q2R b).
Proof.
  intros a b; unfold rational_min, Rmin; destruct (Qle_bool a b) eqn:E;
    [apply Qle_bool_R in E | apply Qle_bool_false in E]; destruct Rle_dec; lra.
Qed.

Lemma rational_nearest_correct : forall x high, Q2R (rational_nearest x high) = nearest (Q2R x) (Q2R high).
Proof.
  intros x high; unfold rational_nearest, nearest.
  rewrite rational_max_correct, rational_min_correct, RMicromega.Q2R_0; reflexivity.
Qed.

Lemma rational_gain_correct : forall ws wn p u,
  Q2R (rational_gain_of_old ws wn p u) = old_gain (Q2R ws) (Q2R wn) (Q2R p) (Q2R u).
Proof.
  intros ws wn p u; unfold rational_gain_of_old, old_gain.
  rewrite Q2R_plus, !Q2R_mult, !Q2R_minus, !Q2R_half, !(Q2R_by _ 8), Q2R_plus, !Q2R_mult, (Q2R_literal 2);
    field.
Qed.

Lemma rational_turning_correct : forall ws wn b,
  Q2R (rational_turning ws wn b) = turning (Q2R ws) (Q2R wn) (Q2R b).
Proof.
  intros ws wn b; unfold rational_turning, turning; destruct (Qle_bool wn 0) eqn:E.
  - apply Qle_bool_R in E; rewrite RMicromega.Q2R_0 in E |- *; destruct Rle_dec; [reflexivity | lra].
  - apply Qle_bool_false in E; rewrite RMicromega.Q2R_0 in E; destruct Rle_dec; [lra |].
    rewrite Q2R_minus, Q2R_mult, Q2R_div, (Q2R_literal 2) by exact E; reflexivity.
Qed.

Theorem rational_weighted_l1_correct : forall r alpha n bounds s weight_s weight_n, alpha_1 r = Q2R alpha ->
  0 <= alpha_1 r -> (1 <= n)%nat -> (s < length bounds)%nat -> Forall (fun q => 0 <= Q2R q) bounds ->
  0 <= Q2R weight_s -> 0 <= Q2R weight_n ->
  exact_sensitivity n (declared_box (length bounds) (bound_of bounds))
    (weighted_l1 r (length bounds) s (Q2R weight_s) (Q2R weight_n))
    (Q2R (rational_weighted_l1 (fairness_term r) alpha n bounds s weight_s weight_n)).
Proof.
  intros r alpha n bounds s ws wn Hr Ha Hn Hs Hb Hws Hwn.
  assert (H := weighted_l1_exact (length bounds) s (bound_of bounds)
    (fun e _ => bounds_nonneg bounds e Hb) Hs r n (Q2R ws) (Q2R wn) Ha Hn Hws Hwn).
  assert (Hsum := rational_sum_correct (fun q => q) (fun v => v) bounds (fun _ => eq_refl)); cbv beta in Hsum.
  change (fun e => bound_of bounds e) with (bound_of bounds) in Hsum; rewrite <- Hsum in H.
  change (bound_of bounds s) with (Q2R (nth s bounds 0%Q)) in H; rewrite <- Q2R_minus in H.
  unfold rational_weighted_l1; cbv zeta; set (b := nth s bounds 0%Q) in *.
  set (rest := (rational_sum (fun q => q) bounds - b)%Q) in *.
  match goal with |- exact_sensitivity _ _ _ ?value =>
    replace value with (weighted_l1_value (linear_gain r n) (Q2R ws) (Q2R wn) (Q2R b) (Q2R rest)) end;
    [exact H |].
  unfold weighted_l1_value, largest_gain; cbv zeta.
  rewrite !Q2R_plus, (Q2R_by _ 8), !rational_max_correct, !rational_gain_correct, !rational_nearest_correct.
  rewrite rational_turning_correct, !Q2R_mult, !Q2R_plus, !Q2R_mult.
  rewrite (rational_linear_correct r alpha n Hn Hr).
  rewrite Q2R_plus, !Q2R_mult, Q2R_minus, RMicromega.Q2R_0, (Q2R_literal 2); unfold linear_gain.
  f_equal; f_equal; field.
Qed.
