(** * Theorem 3 with the exact sensitivity of the box

    For d >= 2 its statement is true if and only if epsilon_s <= epsilon_n; [Theorem3.v] has one direction.
    The weighted change is linear in the budgets. At equal budgets it is at most Delta_1, and the change on
    Phi_n alone is at most Delta_1 (d - 1)/d; all smaller ratios lie between these. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity Laplace Theorem3.
Import ListNotations.
Open Scope R_scope.

(** In one dimension every monomial contains w_s. *)
Lemma no_monomial_without_s : forall b s, (s < 1)%nat -> filter (contains_not s) (Phi b 1) = [].
Proof. intros b s Hs; replace s with 0%nat by lia; destruct b; reflexivity. Qed.

Lemma exact_part_n : forall r n d s D D',
  0 <= alpha_1 r -> (s < d)%nat -> neighbours n (unit_box d) D D' ->
  l1_change r d (contains_not s) D D' <= box_l1 r n d * (INR d - 1) / INR d.
Proof.
  intros r n d s D D' Ha Hs H.
  assert (Hn := neighbours_nonempty _ _ _ _ H).
  destruct (Nat.eq_dec d 1) as [-> | Hd1].
  { unfold l1_change; rewrite no_monomial_without_s by exact Hs; simpl; lra. }
  destruct (box_changes_bounded r n d D D' Ha H) as [q [Hq Hphi]].
  assert (Hk2 : 2 <= INR d) by (apply (le_INR 2); lia).
  assert (HT := sum_without d s q Hs Hq); specialize (Hq s Hs).
  assert (HS : box_l1 r n d = INR d * linear_gain r n + INR d ^ 2 / 8 + 1 / 2).
  { unfold box_l1; destruct (Nat.leb_spec 2 d); [reflexivity | lia]. }
  eapply Rle_trans; [apply (part_le r n d q); exact Hphi |]; rewrite sum_n_box, HS by exact Hs.
  set (T := sum_over (coordinates d) q) in *; set (A := linear_gain r n) in *; set (k := INR d) in *.
  set (U := T - q s); assert (HU : 0 <= U <= k - 1) by (unfold U; lra).
  (* the excess, times k, with its largest value at U = min(2, k - 1) *)
  assert (Hgap : 0 <= (k - 1) * (k ^ 2 + 4) - k * (4 * U + (k - 1) ^ 2 - U ^ 2)).
  { replace ((k - 1) * (k ^ 2 + 4) - k * (4 * U + (k - 1) ^ 2 - U ^ 2))
      with (k * (U - 2) ^ 2 + (k ^ 2 - k - 4)) by ring.
    destruct (Nat.eq_dec d 2) as [H2 | H2].
    - assert (Hk : k = 2) by (unfold k; rewrite H2; simpl; lra); rewrite Hk in *; nra.
    - assert (Hk3 : 3 <= k) by (replace 3 with (INR 3) by (simpl; lra); apply le_INR; lia).
      generalize (pow2_ge_0 (U - 2)); nra. }
  apply Rmult_le_reg_r with (8 * k); [lra |].
  replace ((k * A + k ^ 2 / 8 + 1 / 2) * (k - 1) / k * (8 * k))
    with (8 * k * (k - 1) * A + (k - 1) * (k ^ 2 + 4)) by (field; lra).
  replace ((k * A + T / 2 + (k ^ 2 - T ^ 2) / 8
      - (A + q s / 2 + (2 * (k - q s * T) - (1 - q s ^ 2)) / 8)) * (8 * k))
    with (8 * k * (k - 1) * A + k * (4 * U + (k - 1) ^ 2 - U ^ 2)) by (unfold U; field).
  lra.
Qed.

Lemma l1_two_parts : forall r d s D D',
  l1_change r d all_monomials D D' = l1_change r d (contains s) D D' + l1_change r d (contains_not s) D D'.
Proof.
  intros r d s D D'; unfold l1_change; rewrite filter_all.
  exact (sum_two_parts (Phi (basis r) d) s (fun phi => Rabs (coefficient r D phi - coefficient r D' phi))).
Qed.

(** Calibrated to any bound on the sensitivity. *)
Theorem theorem3_smaller_epsilon_s : forall r n d s epsilon_s epsilon_n Delta,
  0 <= alpha_1 r -> (1 <= n)%nat -> (s < d)%nat -> 0 < epsilon_s <= epsilon_n ->
  (forall D D', neighbours n (unit_box d) D D' -> l1_change r d all_monomials D D' <= Delta) ->
  differentially_private (stated_epsilon d epsilon_s epsilon_n) 0 n d (unit_box d) laplace_density
    (two_scales s (Delta / epsilon_s) (Delta / epsilon_n)) r.
Proof.
  intros r n d s es en Delta Ha Hn Hs [Hes Hen] Hbound.
  assert (Hd : 1 <= INR d) by (apply one_le_INR; lia).
  assert (HDelta : box_l1 r n d <= Delta).
  { destruct (proj2 (box_l1_exact r n d Ha Hn ltac:(lia))) as (D & D' & H & <-); apply Hbound, H. }
  assert (HD : 0 < Delta).
  { eapply Rlt_le_trans; [| exact HDelta]; unfold box_l1, linear_gain.
    assert (0 <= alpha_1 r * fairness_gain (fairness_term r) n).
    { apply Rmult_le_pos; [exact Ha | apply gain_le, Hn]. }
    destruct (2 <=? d)%nat; nra. }
  apply two_scale_laplace; try (apply Rdiv_lt_0_compat; lra).
  intros D D' H.
  assert (Htotal := Hbound D D' H); rewrite (l1_two_parts r d s) in Htotal.
  assert (Hpart := exact_part_n r n d s D D' Ha Hs H).
  set (u := l1_change r d (contains s) D D') in *; set (v := l1_change r d (contains_not s) D D') in *.
  set (k := INR d) in *; set (S := box_l1 r n d) in *; unfold stated_epsilon; fold k.
  assert (Hv : v <= Delta * (k - 1) / k).
  { eapply Rle_trans; [exact Hpart |]; unfold Rdiv.
    apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; lra |].
    apply Rmult_le_compat_r; lra. }
  apply Rmult_le_reg_l with Delta; [exact HD |].
  replace (Delta * (u / (Delta / es) + v / (Delta / en))) with (es * (u + v) + (en - es) * v) by (field; lra).
  apply Rle_trans with (es * Delta + (en - es) * (Delta * (k - 1) / k)).
  - apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
  - right; field; lra.
Qed.

(** With the exact sensitivity itself, for every d >= 2: an equivalence. *)
Theorem theorem3_at_exact_sensitivity : forall r n d s epsilon_s epsilon_n,
  0 <= alpha_1 r -> (1 <= n)%nat -> (2 <= d)%nat -> (s < d)%nat -> 0 < epsilon_s -> 0 < epsilon_n ->
  differentially_private (stated_epsilon d epsilon_s epsilon_n) 0 n d (unit_box d) laplace_density
    (two_scales s (box_l1 r n d / epsilon_s) (box_l1 r n d / epsilon_n)) r
  <-> epsilon_s <= epsilon_n.
Proof.
  intros r n d s es en Ha Hn Hd Hs Hes Hen; split.
  - intros H; destruct (Rle_or_lt es en) as [Hle | Hlt]; [exact Hle | exfalso].
    exact (theorem3_fails_at_exact_sensitivity r n d s es en Ha Hn Hd Hs (conj Hen Hlt) H).
  - intros Hle; apply theorem3_smaller_epsilon_s; try assumption; [split; assumption |].
    exact (proj1 (box_l1_exact r n d Ha Hn ltac:(lia))).
Qed.
