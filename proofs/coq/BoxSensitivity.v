(** * Exact sensitivities on the unit box, and the four published bounds there

    We compute the l1- and l2-sensitivity in every reading of [Definitions.v], and show that the bounds of
    Lemmas 1 to 4 hold on the box, hence on the unit ball. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Change Box.
Import ListNotations.
Open Scope R_scope.

Lemma filter_all : forall (l : list monomial), filter all_monomials l = l.
Proof. induction l as [| a l IH]; [reflexivity |]; cbn; rewrite IH; reflexivity. Qed.

Lemma sum_l1 : forall r n d q,
  sum_over (Phi (basis r) d) (box_bound r n q) =
  INR d * linear_gain r n + sum_over (coordinates d) q / 2 + (INR d ^ 2 - sum_over (coordinates d) q ^ 2) / 8.
Proof.
  intros r n d q; rewrite sum_Phi; set (T := sum_over (coordinates d) q).
  assert (Hlin : sum_over (coordinates d) (fun e => box_bound r n q (Linear e)) = INR d * linear_gain r n
    + T / 2).
  { cbn [box_bound]; rewrite sum_plus, sum_coordinates_const; unfold Rdiv; rewrite sum_scal_r; reflexivity. }
  assert (Hall : sum_over (coordinates d)
    (fun e => sum_over (coordinates d) (fun l => 1 / 8 * (1 - q e * q l)))
                 = (INR d ^ 2 - T ^ 2) / 8).
  { rewrite (sum_ext _ _ (fun e => 1 / 8 * (INR d - sum_over (coordinates d) (fun l => q e * q l)))).
    - rewrite sum_scal, sum_minus, sum_product, sum_coordinates_const; fold T; field.
    - intros e _; rewrite sum_scal, sum_minus, sum_coordinates_const; f_equal; ring. }
  rewrite Hlin, <- Hall; f_equal; cbn [box_bound]; destruct (basis r).
  - rewrite sum_pairs_matrix; reflexivity.
  - apply (sum_pairs_monomial d (fun e l => quadratic_factor MonomialBasis e l * (1 - q e * q l))).
    + intros; ring.
    + intros e l _; cbn [quadratic_factor]; destruct (Nat.eqb e l); field.
Qed.

Lemma sum_in_box : forall d q, in_box d q -> 0 <= sum_over (coordinates d) q <= INR d.
Proof.
  intros d q Hq; split.
  - apply sum_nonneg; intros e He; apply in_coordinates in He; apply Hq; exact He.
  - rewrite <- (Rmult_1_r (INR d)), <- sum_coordinates_const; apply sum_le; intros e He.
    apply in_coordinates in He; apply Hq; exact He.
Qed.

(** The vector with ones in the first k coordinates. *)
Definition first_ones (k e : nat) : R := if e <? k then 1 else 0.

Lemma first_ones_in_box : forall d k, in_box d (first_ones k).
Proof. intros d k e _; unfold first_ones; destruct (e <? k); lra. Qed.

Lemma sum_first_ones : forall d k, (k <= d)%nat -> sum_over (coordinates d) (first_ones k) = INR k.
Proof.
  induction d as [| d IH]; intros k Hk.
  - replace k with 0%nat by lia; reflexivity.
  - unfold coordinates; rewrite seq_S, sum_app; fold (coordinates d); cbn.
    destruct (Nat.eq_dec k (S d)) as [-> | Hne].
    + rewrite (sum_ext _ _ (first_ones d)), (IH d) by
        (try lia; intros e He; apply in_coordinates in He; unfold first_ones;
         destruct (Nat.ltb_spec e (S d)), (Nat.ltb_spec e d); try lia; reflexivity).
      unfold first_ones; destruct (Nat.ltb_spec d (S d)); [| lia]; rewrite S_INR; lra.
    + rewrite IH by lia; unfold first_ones; destruct (Nat.ltb_spec d k); [lia | lra].
Qed.

(** ** l1 *)

Lemma l1_change_le : forall r n d q D D',
  (forall phi, In phi (Phi (basis r) d) -> Rabs (coefficient r D phi - coefficient r D' phi)
    <= box_bound r n q phi) ->
  l1_change r d all_monomials D D' <= sum_over (Phi (basis r) d) (box_bound r n q).
Proof. intros; unfold l1_change; rewrite filter_all; apply sum_le; assumption. Qed.

Lemma l1_change_eq : forall r n d q D D',
  (forall phi, In phi (Phi (basis r) d) -> Rabs (coefficient r D phi - coefficient r D' phi)
    = box_bound r n q phi) ->
  l1_change r d all_monomials D D' = sum_over (Phi (basis r) d) (box_bound r n q).
Proof. intros; unfold l1_change; rewrite filter_all; apply sum_ext; assumption. Qed.

(** The gain from the old record: 1/2, and 3/8 in one dimension. *)
Definition box_l1 (r : reading) (n d : nat) : R :=
  INR d * linear_gain r n + INR d ^ 2 / 8 + (if (2 <=? d)%nat then 1 / 2 else 3 / 8).

Theorem box_l1_exact : forall r n d,
  0 <= alpha_1 r -> (1 <= n)%nat -> (1 <= d)%nat ->
  exact_sensitivity n (unit_box d) (l1_change r d all_monomials) (box_l1 r n d).
Proof.
  intros r n d Ha Hn Hd; split.
  - intros D D' HDD'; destruct (box_changes_bounded r n d D D' Ha HDD') as [q [Hq Hphi]].
    eapply Rle_trans; [apply (l1_change_le r n d q); exact Hphi |]; rewrite sum_l1; unfold box_l1.
    generalize (sum_in_box d q Hq); set (T := sum_over (coordinates d) q); intros HT.
    destruct (Nat.leb_spec 2 d) as [H2 | H2].
    + generalize (pow2_ge_0 (T - 2)); lra.
    + replace d with 1%nat in * by lia; simpl INR in *; nra.
  - set (k := Nat.min 2 d).
    destruct (box_changes_attained r n d (first_ones k) Ha Hn (first_ones_in_box d k))
      as [D [D' [HDD' Hphi]]].
    exists D, D'; split; [exact HDD' |].
    rewrite (l1_change_eq r n d (first_ones k)) by exact Hphi.
    rewrite sum_l1, sum_first_ones by (unfold k; lia); unfold box_l1, k.
    destruct (Nat.leb_spec 2 d) as [H2 | H2].
    + rewrite Nat.min_l by lia; simpl (INR 2); field.
    + replace d with 1%nat by lia; simpl; field.
Qed.

Lemma gain_le : forall F n, (1 <= n)%nat -> 0 <= fairness_gain F n <= 2.
Proof. intros F n Hn; generalize (nu_bounds n Hn); intros; destruct F; simpl; lra. Qed.

Lemma one_le_INR : forall d, (1 <= d)%nat -> 1 <= INR d.
Proof. intros d Hd; apply (le_INR 1); exact Hd. Qed.

(** Lemma 1: without a fairness term. *)
Theorem published_l1_holds : forall r n d D D',
  fairness_term r = NoFairness -> 0 <= alpha_1 r -> (1 <= d)%nat -> neighbours n (unit_box d) D D' ->
  l1_change r d all_monomials D D' < published_l1 d.
Proof.
  intros r n d D D' HF Ha Hd H; generalize (neighbours_nonempty _ _ _ _ H); intros Hn.
  eapply Rle_lt_trans; [apply (proj1 (box_l1_exact r n d Ha Hn Hd)); exact H |].
  unfold box_l1, published_l1, linear_gain; rewrite HF; cbn [fairness_gain].
  destruct (Nat.leb_spec 2 d) as [H2 | H2].
  - assert (2 <= INR d) by (apply (le_INR 2); exact H2); nra.
  - replace d with 1%nat by lia; simpl; lra.
Qed.

(** Lemma 2: with one, weight at most 1. *)
Theorem published_fair_l1_holds : forall r n d D D',
  0 <= alpha_1 r <= 1 -> (1 <= d)%nat -> neighbours n (unit_box d) D D' ->
  l1_change r d all_monomials D D' < published_fair_l1 d.
Proof.
  intros r n d D D' Ha Hd H; generalize (neighbours_nonempty _ _ _ _ H); intros Hn.
  eapply Rle_lt_trans; [apply (proj1 (box_l1_exact r n d (proj1 Ha) Hn Hd)); exact H |].
  unfold box_l1, published_fair_l1, linear_gain.
  assert (alpha_1 r * fairness_gain (fairness_term r) n <= 2).
  { generalize (gain_le (fairness_term r) n Hn); intros; nra. }
  generalize (one_le_INR d Hd); intros.
  destruct (Nat.leb_spec 2 d) as [H2 | H2].
  - nra.
  - replace d with 1%nat by lia; simpl; lra.
Qed.

(** ** l2 *)

(** The value when the old record has k ones. *)
Definition box_l2_squared_at (r : reading) (n d k : nat) : R :=
  INR d * linear_gain r n ^ 2 + INR k * (linear_gain r n + 1 / 4) +
  match basis r with
  | MatrixBasis => (INR d ^ 2 - INR k ^ 2) / 64
  | MonomialBasis => (2 * INR d ^ 2 - INR d - 2 * INR k ^ 2 + INR k) / 64
  end.

(** The largest of f 0, ..., f k. *)
Fixpoint largest (f : nat -> R) (k : nat) : R :=
  match k with
  | O => f O
  | S k' => Rmax (largest f k') (f k)
  end.

Lemma largest_upper : forall f k i, (i <= k)%nat -> f i <= largest f k.
Proof.
  induction k as [| k IH]; intros i Hi.
  - replace i with 0%nat by lia; apply Rle_refl.
  - cbn [largest]; destruct (Nat.eq_dec i (S k)) as [-> | Hne]; [apply Rmax_r |].
    eapply Rle_trans; [apply IH; lia | apply Rmax_l].
Qed.

Lemma largest_attained : forall f k, exists i, (i <= k)%nat /\ largest f k = f i.
Proof.
  induction k as [| k [i [Hi IH]]]; [exists 0%nat; split; [lia | reflexivity] |].
  cbn [largest]; unfold Rmax; destruct Rle_dec.
  - exists (S k); split; [lia | reflexivity].
  - exists i; split; [lia | exact IH].
Qed.

Definition box_l2_squared (r : reading) (n d : nat) : R := largest (box_l2_squared_at r n d) d.

(** A concave quadratic of the number of ones, extended to the box one coordinate at a time: the extension is
    affine in every coordinate, so that its largest value is one at a vertex. *)
Lemma multilinear_le : forall (l : list nat) (q : nat -> R) c0 c1 c2 j V,
  (forall e, In e l -> 0 <= q e <= 1) ->
  (forall i, (i <= length l)%nat -> c0 + c1 * (j + INR i) - c2 * (j + INR i) ^ 2 <= V) ->
  c0 + c1 * (j + sum_over l q) - c2 * ((j + sum_over l q) ^ 2 + sum_over l (fun e => q e - q e ^ 2)) <= V.
Proof.
  induction l as [| e l IH]; intros q c0 c1 c2 j V Hq HV.
  - specialize (HV 0%nat (le_n _)); simpl in *; lra.
  - rewrite !sum_cons.
    assert (Hq' : forall u, In u l -> 0 <= q u <= 1) by (intros u Hu; apply Hq; right; exact Hu).
    assert (H0 := IH q c0 c1 c2 j V Hq' ltac:(intros i Hi; apply HV; simpl; lia)).
    assert (H1 := IH q c0 c1 c2 (j + 1) V Hq' ltac:(intros i Hi;
      specialize (HV (S i) ltac:(simpl; lia)); rewrite S_INR in HV;
      replace (j + 1 + INR i) with (j + (INR i + 1)) by ring; exact HV)).
    set (T := sum_over l q) in *; set (W := sum_over l (fun u => q u - q u ^ 2)) in *.
    assert (He : 0 <= q e <= 1) by (apply Hq; left; reflexivity).
    set (p := q e) in *.
    replace (c0 + c1 * (j + (p + T)) - c2 * ((j + (p + T)) ^ 2 + (p - p ^ 2 + W)))
      with ((1 - p) * (c0 + c1 * (j + T) - c2 * ((j + T) ^ 2 + W))
            + p * (c0 + c1 * (j + 1 + T) - c2 * ((j + 1 + T) ^ 2 + W))) by ring.
    nra.
Qed.

Lemma double_sum_one_minus : forall d q,
  sum_over (coordinates d) (fun e => sum_over (coordinates d) (fun l => 1 - q e * q l)) =
  INR d ^ 2 - sum_over (coordinates d) q ^ 2.
Proof.
  intros d q.
  rewrite (sum_ext _ _ (fun e => INR d - sum_over (coordinates d) (fun l => q e * q l))).
  - rewrite sum_minus, sum_product, sum_coordinates_const; ring.
  - intros e _; rewrite sum_minus, sum_coordinates_const; ring.
Qed.

(** The diagonal as a double sum. *)
Lemma diagonal : forall d f,
  sum_over (coordinates d) (fun e => sum_over (coordinates d) (fun l => if Nat.eqb e l then f e else 0)) =
  sum_over (coordinates d) f.
Proof.
  intros d f; apply sum_ext; intros e He; apply in_coordinates in He.
  rewrite (sum_ext _ _ (fun l => if Nat.eqb l e then f e else 0)).
  - exact (sum_delta d e (fun _ => f e) He).
  - intros l _; rewrite Nat.eqb_sym; reflexivity.
Qed.

Definition l2_of_q (r : reading) (n d : nat) (q : nat -> R) : R :=
  sum_over (Phi (basis r) d) (fun phi => box_bound r n q phi ^ 2).

Lemma l2_of_q_matrix : forall r n d q, basis r = MatrixBasis ->
  l2_of_q r n d q =
  sum_over (coordinates d) (fun e => (linear_gain r n + q e / 2) ^ 2) +
  sum_over (coordinates d) (fun e => sum_over (coordinates d) (fun l => (1 - q e * q l) ^ 2 / 64)).
Proof.
  intros r n d q Hb; unfold l2_of_q; rewrite sum_Phi, Hb, sum_pairs_matrix; cbn [box_bound fst snd];
    rewrite Hb.
  f_equal; apply sum_ext; intros e _; apply sum_ext; intros l _; cbn [quadratic_factor]; field.
Qed.

Lemma l2_of_q_monomial : forall r n d q, basis r = MonomialBasis ->
  l2_of_q r n d q =
  sum_over (coordinates d) (fun e => (linear_gain r n + q e / 2) ^ 2) +
  sum_over (coordinates d) (fun e => sum_over (coordinates d)
    (fun l => (if Nat.eqb e l then 1 else 2) * (1 - q e * q l) ^ 2 / 64)).
Proof.
  intros r n d q Hb; unfold l2_of_q; rewrite sum_Phi, Hb; cbn [box_bound fst snd]; rewrite Hb; f_equal.
  apply (sum_pairs_monomial d (fun e l => (quadratic_factor MonomialBasis e l * (1 - q e * q l)) ^ 2)).
  - intros e l; rewrite (Nat.eqb_sym e l); destruct (Nat.eqb l e); field.
  - intros e l _; cbn [quadratic_factor]; destruct (Nat.eqb e l); field.
Qed.

(** *** The upper bound

    A pair's square is at most linear in its product; what the pairs (e, e) take off pays for the squares of
    the linear coefficients. *)
Section UpperBound.
Variables (d : nat) (q : nat -> R) (A : R).
Hypothesis in_q : in_box d q.
Let T := sum_over (coordinates d) q.

Lemma pairs_le : forall weight taken, 1 / 64 <= weight ->
  (forall e, (e < d)%nat -> (1 - q e * q e) ^ 2 / 64 <= weight * (1 - q e * q e) - taken e) ->
  sum_over (coordinates d) (fun e => sum_over (coordinates d) (fun l =>
    if Nat.eqb e l then (1 - q e * q l) ^ 2 / 64 else weight * (1 - q e * q l) ^ 2))
  <= weight * (INR d ^ 2 - T ^ 2) - sum_over (coordinates d) taken.
Proof.
  intros weight taken Hw Hd; unfold T; rewrite <- double_sum_one_minus, <- (diagonal d taken), <- sum_scal,
    <- sum_minus.
  apply sum_le; intros e He; rewrite <- sum_scal, <- sum_minus; apply sum_le; intros l Hl.
  apply in_coordinates in He; apply in_coordinates in Hl.
  destruct (Nat.eqb_spec e l) as [<- | _]; [apply Hd, He |].
  destruct (in_q e He), (in_q l Hl); assert (0 <= q e * q l <= 1) by (split; nra).
  rewrite Rminus_0_r; apply Rmult_le_compat_l; [lra | nra].
Qed.

Lemma squares_and_diagonal_le : forall taken a weight slope,
  (forall e, (e < d)%nat -> (A + q e / 2) ^ 2 - taken e <= a + slope * q e - weight * (q e - q e ^ 2)) ->
  sum_over (coordinates d) (fun e => (A + q e / 2) ^ 2) - sum_over (coordinates d) taken
  <= INR d * a + slope * T - weight * sum_over (coordinates d) (fun e => q e - q e ^ 2).
Proof.
  intros taken a weight slope H; unfold T.
  rewrite <- sum_minus, <- sum_coordinates_const, <- !sum_scal, <- sum_plus, <- sum_minus.
  apply sum_le; intros e He; apply in_coordinates in He; exact (H e He).
Qed.

Lemma matrix_le : 0 <= A ->
  sum_over (coordinates d) (fun e => (A + q e / 2) ^ 2) +
  sum_over (coordinates d) (fun e => sum_over (coordinates d) (fun l => (1 - q e * q l) ^ 2 / 64))
  <= INR d * A ^ 2 + INR d ^ 2 / 64 + (A + 1 / 4) * T
    - 1 / 64 * (T ^ 2 + sum_over (coordinates d) (fun e => q e - q e ^ 2)).
Proof.
  intros HA; set (taken := fun e => q e ^ 2 * (1 - q e ^ 2) / 64).
  assert (H1 := pairs_le (1 / 64) taken (Rle_refl _) ltac:(intros; unfold taken; right; field)).
  assert (H2 := squares_and_diagonal_le taken (A ^ 2) (1 / 64) (A + 1 / 4)).
  rewrite (sum_ext (coordinates d) (fun e => sum_over _ (fun l => _ / 64))
    (fun e => sum_over (coordinates d) (fun l =>
      if Nat.eqb e l then (1 - q e * q l) ^ 2 / 64 else 1 / 64 * (1 - q e * q l) ^ 2)))
    by (intros e _; apply sum_ext; intros l _; destruct (Nat.eqb e l); field).
  enough (forall e, (e < d)%nat -> (A + q e / 2) ^ 2 - taken e
    <= A ^ 2 + (A + 1 / 4) * q e - 1 / 64 * (q e - q e ^ 2)) as H by (specialize (H2 H); lra).
  intros e He; unfold taken; generalize (in_q e He); intros.
  assert (0 <= q e ^ 2 * (1 - q e ^ 2)) by (apply Rmult_le_pos; nra); nra.
Qed.

Lemma monomial_le : 0 <= A ->
  sum_over (coordinates d) (fun e => (A + q e / 2) ^ 2) +
  sum_over (coordinates d) (fun e => sum_over (coordinates d)
    (fun l => (if Nat.eqb e l then 1 else 2) * (1 - q e * q l) ^ 2 / 64))
  <= INR d * (A ^ 2 - 1 / 64) + 2 / 64 * INR d ^ 2 + (A + 1 / 4 + 1 / 64) * T
    - 2 / 64 * (T ^ 2 + sum_over (coordinates d) (fun e => q e - q e ^ 2)).
Proof.
  intros HA; set (taken := fun e => (1 - q e ^ 4) / 64).
  assert (H1 := pairs_le (2 / 64) taken ltac:(lra) ltac:(intros; unfold taken; right; field)).
  assert (H2 := squares_and_diagonal_le taken (A ^ 2 - 1 / 64) (2 / 64) (A + 1 / 4 + 1 / 64)).
  rewrite (sum_ext (coordinates d) (fun e => sum_over _ (fun l => _ / 64))
    (fun e => sum_over (coordinates d) (fun l =>
      if Nat.eqb e l then (1 - q e * q l) ^ 2 / 64 else 2 / 64 * (1 - q e * q l) ^ 2)))
    by (intros e _; apply sum_ext; intros l _; destruct (Nat.eqb e l); field).
  enough (forall e, (e < d)%nat -> (A + q e / 2) ^ 2 - taken e
    <= A ^ 2 - 1 / 64 + (A + 1 / 4 + 1 / 64) * q e - 2 / 64 * (q e - q e ^ 2)) as H
    by (specialize (H2 H); lra).
  intros e He; unfold taken; generalize (in_q e He); intros.
  assert (0 <= q e * (15 - 14 * q e - q e ^ 3)) by (apply Rmult_le_pos; nra); nra.
Qed.
End UpperBound.

Lemma linear_gain_nonneg : forall r n, 0 <= alpha_1 r -> (1 <= n)%nat -> 0 <= linear_gain r n.
Proof.
  intros r n Ha Hn; unfold linear_gain; generalize (gain_le (fairness_term r) n Hn); intros; nra.
Qed.

Lemma l2_of_q_le : forall r n d q, 0 <= alpha_1 r -> (1 <= n)%nat -> in_box d q ->
  l2_of_q r n d q <= box_l2_squared r n d.
Proof.
  intros r n d q Ha Hn Hq; assert (HA := linear_gain_nonneg r n Ha Hn); set (A := linear_gain r n) in *.
  set (c2 := match basis r with MatrixBasis => 1 / 64 | MonomialBasis => 2 / 64 end).
  set (c1 := A + 1 / 4 + match basis r with MatrixBasis => 0 | MonomialBasis => 1 / 64 end).
  set (c0 := INR d * A ^ 2 + match basis r with MatrixBasis => INR d ^ 2 / 64 |
    MonomialBasis => (2 * INR d ^ 2 - INR d) / 64 end).
  set (T := sum_over (coordinates d) q); set (S := sum_over (coordinates d) (fun e => q e - q e ^ 2)).
  apply Rle_trans with (c0 + c1 * (0 + T) - c2 * ((0 + T) ^ 2 + S)).
  - unfold c0, c1, c2; destruct (basis r) eqn:Hb.
    + rewrite l2_of_q_matrix by exact Hb; assert (H := matrix_le d q A Hq HA); fold A T S in H |- *; lra.
    + rewrite l2_of_q_monomial by exact Hb; assert (H := monomial_le d q A Hq HA); fold A T S in H |- *; lra.
  - apply multilinear_le.
    + intros e He; apply in_coordinates in He; apply Hq; exact He.
    + intros i Hi; unfold coordinates in Hi; rewrite seq_length in Hi.
      eapply Rle_trans; [| apply (largest_upper (box_l2_squared_at r n d) d i Hi)]; right.
      unfold box_l2_squared_at, c0, c1, c2; fold A; destruct (basis r); field.
Qed.

Lemma first_ones_square : forall k e, first_ones k e ^ 2 = first_ones k e.
Proof. intros k e; unfold first_ones; destruct (e <? k); ring. Qed.

Lemma l2_of_first_ones : forall r n d k, (k <= d)%nat ->
  l2_of_q r n d (first_ones k) = box_l2_squared_at r n d k.
Proof.
  intros r n d k Hk; set (A := linear_gain r n).
  assert (Hlin : sum_over (coordinates d) (fun e => (A + first_ones k e / 2) ^ 2) = INR d * A ^ 2
    + (A + 1 / 4) * INR k).
  { rewrite (sum_ext _ _ (fun e => A ^ 2 + (A + 1 / 4) * first_ones k e)).
    - rewrite sum_plus, sum_scal, sum_coordinates_const, sum_first_ones by exact Hk; reflexivity.
    - intros e _; rewrite <- (first_ones_square k e) at 2.
      unfold first_ones; destruct (e <? k); field. }
  assert (Hsq : forall e l, (1 - first_ones k e * first_ones k l) ^ 2 = 1 - first_ones k e * first_ones k l).
  { intros e l; unfold first_ones; destruct (e <? k), (l <? k); ring. }
  unfold box_l2_squared_at; destruct (basis r) eqn:Hb.
  - rewrite l2_of_q_matrix by exact Hb; fold A; rewrite Hlin.
    rewrite (sum_ext _ (fun e => sum_over _ _)
      (fun e => 1 / 64 * sum_over (coordinates d) (fun l => 1 - first_ones k e * first_ones k l))).
    + rewrite sum_scal, double_sum_one_minus, sum_first_ones by exact Hk; field.
    + intros e _; rewrite <- sum_scal; apply sum_ext; intros l _; rewrite Hsq; field.
  - rewrite l2_of_q_monomial by exact Hb; fold A; rewrite Hlin.
    rewrite (sum_ext _ (fun e => sum_over _ _)
      (fun e => 2 / 64 * sum_over (coordinates d) (fun l => 1 - first_ones k e * first_ones k l)
      - sum_over (coordinates d) (fun l => if Nat.eqb e l then (1 - first_ones k e) / 64 else 0))).
    + rewrite sum_minus, sum_scal, double_sum_one_minus, (diagonal d (fun e => (1 - first_ones k e) / 64)).
      unfold Rdiv at 3; rewrite sum_scal_r, sum_minus, sum_coordinates_const, sum_first_ones by exact Hk;
        field.
    + intros e _; rewrite <- sum_scal, <- sum_minus; apply sum_ext; intros l _; rewrite Hsq.
      destruct (Nat.eqb_spec e l) as [<- | _]; [| field].
      generalize (first_ones_square k e); intros Hs; replace (first_ones k e * first_ones k e)
        with (first_ones k e) by (rewrite <- Hs at 1; ring).
      field.
Qed.


Lemma square_le : forall u v, Rabs u <= v -> u ^ 2 <= v ^ 2.
Proof. intros u v H; rewrite <- (pow2_abs u); generalize (Rabs_pos u); nra. Qed.

Theorem box_l2_exact : forall r n d,
  0 <= alpha_1 r -> (1 <= n)%nat ->
  exact_sensitivity n (unit_box d) (l2_change_squared r d all_monomials) (box_l2_squared r n d).
Proof.
  intros r n d Ha Hn; split.
  - intros D D' HDD'; destruct (box_changes_bounded r n d D D' Ha HDD') as [q [Hq Hphi]].
    apply Rle_trans with (l2_of_q r n d q); [| apply l2_of_q_le; assumption].
    unfold l2_change_squared, l2_of_q; rewrite filter_all; apply sum_le; intros phi H;
      apply square_le, Hphi, H.
  - destruct (largest_attained (box_l2_squared_at r n d) d) as [k [Hk Hmax]].
    destruct (box_changes_attained r n d (first_ones k) Ha Hn (first_ones_in_box d k))
      as [D [D' [HDD' Hphi]]].
    exists D, D'; split; [exact HDD' |].
    unfold box_l2_squared; rewrite Hmax, <- l2_of_first_ones by exact Hk.
    unfold l2_change_squared, l2_of_q; rewrite filter_all; apply sum_ext; intros phi H.
    rewrite <- (Hphi phi H), pow2_abs; reflexivity.
Qed.

Lemma box_l2_at_le : forall r n d k, 0 <= alpha_1 r -> (1 <= n)%nat -> (k <= d)%nat ->
  box_l2_squared_at r n d k <= INR d * (linear_gain r n + 1 / 2) ^ 2 + INR d ^ 2 / 32.
Proof.
  intros r n d k Ha Hn Hk.
  assert (0 <= linear_gain r n).
  { unfold linear_gain; generalize (gain_le (fairness_term r) n Hn); intros; nra. }
  assert (0 <= INR k) by apply pos_INR; assert (INR k <= INR d) by (apply le_INR; exact Hk).
  assert (INR k <= INR k ^ 2).
  { destruct k; [simpl; lra |]; rewrite S_INR in *; generalize (pos_INR k); nra. }
  unfold box_l2_squared_at; destruct (basis r); nra.
Qed.

Theorem published_l2_holds : forall r n d D D',
  fairness_term r = NoFairness -> 0 <= alpha_1 r -> (1 <= d)%nat -> neighbours n (unit_box d) D D' ->
  l2_change_squared r d all_monomials D D' < published_l2_squared d.
Proof.
  intros r n d D D' HF Ha Hd H; generalize (neighbours_nonempty _ _ _ _ H); intros Hn.
  eapply Rle_lt_trans; [apply (proj1 (box_l2_exact r n d Ha Hn)); exact H |].
  unfold box_l2_squared; destruct (largest_attained (box_l2_squared_at r n d) d) as [k [Hk ->]].
  eapply Rle_lt_trans; [apply box_l2_at_le; assumption |].
  unfold published_l2_squared, linear_gain; rewrite HF; cbn [fairness_gain]; generalize (one_le_INR d Hd);
    nra.
Qed.

Theorem published_fair_l2_holds : forall r n d D D',
  0 <= alpha_1 r <= 1 -> (1 <= d)%nat -> neighbours n (unit_box d) D D' ->
  l2_change_squared r d all_monomials D D' < published_fair_l2_squared d.
Proof.
  intros r n d D D' Ha Hd H; generalize (neighbours_nonempty _ _ _ _ H); intros Hn.
  eapply Rle_lt_trans; [apply (proj1 (box_l2_exact r n d (proj1 Ha) Hn)); exact H |].
  unfold box_l2_squared; destruct (largest_attained (box_l2_squared_at r n d) d) as [k [Hk ->]].
  eapply Rle_lt_trans; [apply box_l2_at_le; [apply Ha | assumption | assumption] |].
  unfold published_fair_l2_squared, linear_gain.
  assert (0 <= alpha_1 r * fairness_gain (fairness_term r) n <= 2).
  { generalize (gain_le (fairness_term r) n Hn); intros; split; nra. }
  generalize (one_le_INR d Hd); intros.
  set (g := alpha_1 r * fairness_gain (fairness_term r) n) in *.
  assert ((1 / 2 + g + 1 / 2) ^ 2 <= 9) by nra.
  assert (INR d * (1 / 2 + g + 1 / 2) ^ 2 <= INR d * 9) by (apply Rmult_le_compat_l; lra).
  nra.
Qed.

(** The unit ball lies in the unit box, so all bounds hold there as well. *)
Lemma ball_in_box : forall d t, unit_ball d t -> unit_box d t.
Proof.
  intros d t [Hpos Hsum] e He; split; [apply Hpos; exact He |].
  assert (attribute t e ^ 2 <= 1).
  { eapply Rle_trans; [| exact Hsum].
    apply (sum_member (coordinates d) e (fun e => attribute t e ^ 2));
      [intros; apply pow2_ge_0 | apply in_coordinates; exact He]. }
  specialize (Hpos e He); nra.
Qed.

Lemma neighbours_ball_box : forall n d D D', neighbours n (unit_ball d) D D' ->
  neighbours n (unit_box d) D D'.
Proof.
  intros n d D D' (Hn & HD & HD' & H); split; [exact Hn |].
  split; [| split; [| exact H]]; eapply Forall_impl; try apply ball_in_box; assumption.
Qed.
