(** * Tails of a sequence whose next term is at most known times the last, by sums of whole numbers

    The terms [b k] are not negative, vanish beyond [hi], and from [lo] on satisfy b (k+1) den k <= b k num
    k, with num falling and den growing. We bound from above the share of the terms from [j] on: these are
    added in units of [b j], rounded up, with a geometric sum for what follows, and terms below are rounded
    down. Coq's kernel computes the sums. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith Lia Lra.
From CFM Require Import Definitions Sums BinomialLaw SigmaBound.
Open Scope R_scope.

Definition tail_sum (b : nat -> R) (size k : nat) : R :=
  sum_over (outcomes size) (fun i => if (k <=? i)%nat then b i else 0).

(** ** Sums of whole numbers *)

Definition unit_term : Z := (2 ^ 60)%Z.

(** Terms from [k] on, in units of the first one, each rounded up; what follows the last as a geometric sum.
    *)
Fixpoint upwards (num den : Z -> Z) (steps : nat) (k term total : Z) : Z :=
  match steps with
  | O => (total + (term * den k / (den k - num k) + 1))%Z
  | S steps' => upwards num den steps' (k + 1)%Z (term * num k / den k + 1)%Z (total + term)%Z
  end.

(** Terms below [k], each rounded down. *)
Fixpoint downwards (num den : Z -> Z) (steps : nat) (k term total : Z) : Z :=
  match steps with
  | O => total
  | S steps' => let next := (term * den (k - 1) / num (k - 1))%Z in
      downwards num den steps' (k - 1)%Z next (total + next)%Z
  end.

(** The terms from [j] on are at most a / c of all. *)
Definition tail_at_most (num den : Z -> Z) (lo hi j a c : Z) (up down : nat) : bool :=
  ((0 <=? a) && (a <=? c) && (0 <? c) && (lo + Z.of_nat down <=? j) && (j + Z.of_nat up <=? hi) &&
   (num (j + Z.of_nat up) <? den (j + Z.of_nat up)) &&
   (upwards num den up j unit_term 0 * (c - a) <=? a * downwards num den down j unit_term 0))%Z.

Lemma ceiling_ge : forall a b, (0 < b)%Z -> IZR a <= IZR (a / b + 1) * IZR b.
Proof.
  intros a b Hb; rewrite <- mult_IZR; apply IZR_le; generalize (Z.mul_succ_div_gt a b Hb); unfold Z.succ; lia.
Qed.

(** A bound times a / b, rounded up, is a bound; rounded down, for a bound from below. *)
Lemma rounded_up : forall v w term a b first, 0 <= first -> (0 <= a)%Z -> (0 < b)%Z ->
  w * IZR b <= v * IZR a -> v <= IZR term * first -> w <= IZR (term * a / b + 1) * first.
Proof.
  intros v w term a b first Hfirst Ha Hb Hw Hv; apply Rmult_le_reg_r with (IZR b); [apply (IZR_lt 0);
    exact Hb |].
  assert (Hceiling := ceiling_ge (term * a) b Hb); rewrite mult_IZR in Hceiling.
  assert (v * IZR a <= IZR term * first * IZR a) by (apply Rmult_le_compat_r; [apply (IZR_le 0) |];
    assumption).
  assert (IZR term * IZR a * first <= IZR (term * a / b + 1) * IZR b * first)
    by (apply Rmult_le_compat_r; assumption).
  lra.
Qed.

Lemma rounded_down : forall v w term a b first, 0 <= first -> (0 <= a)%Z -> (0 < b)%Z ->
  v * IZR a <= w * IZR b -> IZR term * first <= v -> IZR (term * a / b) * first <= w.
Proof.
  intros v w term a b first Hfirst Ha Hb Hw Hv; apply Rmult_le_reg_r with (IZR b); [apply (IZR_lt 0);
    exact Hb |].
  assert (Hfloor := floor_le (term * a) b Hb); rewrite mult_IZR in Hfloor.
  assert (IZR term * first * IZR a <= v * IZR a) by (apply Rmult_le_compat_r; [apply (IZR_le 0) |];
    assumption).
  assert (IZR (term * a / b) * IZR b * first <= IZR term * IZR a * first)
    by (apply Rmult_le_compat_r; assumption).
  lra.
Qed.

Section Tail.
Variables (b : nat -> R) (size lo hi : nat) (num den : Z -> Z).
Let up k := IZR (num (Z.of_nat k)).
Let down k := IZR (den (Z.of_nat k)).
Let T := tail_sum b size.

Hypothesis b_nonneg : forall k, 0 <= b k.
Hypothesis hi_size : (hi <= size)%nat.
Hypothesis b_above : forall k, (hi <= k)%nat -> b (S k) = 0.
Hypothesis ratio : forall k, (lo <= k < hi)%nat -> b (S k) * down k <= b k * up k.
Hypothesis num_nonneg : forall k, (k <= hi)%nat -> (0 <= num (Z.of_nat k))%Z.
Hypothesis num_pos : forall k, (k < hi)%nat -> (0 < num (Z.of_nat k))%Z.
Hypothesis den_pos : forall k, (lo <= k <= hi)%nat -> (0 < den (Z.of_nat k))%Z.
Hypothesis num_falls : forall k i, (k <= i < hi)%nat -> (num (Z.of_nat i) <= num (Z.of_nat k))%Z.
Hypothesis den_grows : forall k i, (lo <= k <= i)%nat -> (i < hi)%nat -> (den (Z.of_nat k)
  <= den (Z.of_nat i))%Z.

Lemma tail_step : forall k, (k <= size)%nat -> T k = b k + T (S k).
Proof.
  intros k Hk; unfold T, tail_sum.
  rewrite (sum_ext (outcomes size) (fun i => if (k <=? i)%nat then b i else 0)
    (fun i => (if Nat.eqb i k then b i else 0) + (if (S k <=? i)%nat then b i else 0))).
  - rewrite sum_plus; f_equal; unfold outcomes; apply (sum_delta (S size) k b); lia.
  - intros i _; destruct (Nat.leb_spec k i), (Nat.leb_spec (S k) i), (Nat.eqb_spec i k); try lia; ring.
Qed.

Lemma tail_falls : forall k, T k <= T 0.
Proof. intros k; apply sum_le; intros i _; assert (H := b_nonneg i); cbn [Nat.leb]; destruct (k <=? i)%nat;
  lra. Qed.

(** The tail after the next term, term by term. *)
Lemma tail_shifted : forall k,
  T (S k) = sum_over (outcomes size) (fun i => if (k <=? i)%nat then b (S i) else 0).
Proof.
  intros k; transitivity (sum_over (outcomes (S size)) (fun i => if (S k <=? i)%nat then b i else 0)).
  - rewrite sum_last, (b_above size hi_size); unfold T, tail_sum; destruct (S k <=? S size)%nat; ring.
  - rewrite sum_first; cbn [Nat.leb]; ring.
Qed.

(** Where the terms fall, the tail is at most geometric. *)
Lemma tail_geometric : forall k, (lo <= k <= hi)%nat -> T k * (down k - up k) <= b k * down k.
Proof.
  intros k Hk; assert (H : T (S k) * down k <= T k * up k).
  { rewrite tail_shifted; unfold T, tail_sum; rewrite <- !sum_scal_r; apply sum_le; intros i _.
    assert (Hi := b_nonneg i); assert (Hi' := b_nonneg (S i)).
    assert (H0 : 0 <= up k) by (apply (IZR_le 0), num_nonneg; lia).
    destruct (Nat.leb_spec k i) as [Hki | Hki]; [| lra].
    destruct (Nat.lt_ge_cases i hi) as [Hhi | Hhi].
    - apply Rle_trans with (b (S i) * down i); [apply Rmult_le_compat_l, IZR_le, den_grows;
        [exact Hi' | lia | lia] |].
      eapply Rle_trans; [apply ratio; lia |].
      apply Rmult_le_compat_l, IZR_le, num_falls; [exact Hi | lia].
    - rewrite (b_above i Hhi), Rmult_0_l; apply Rmult_le_pos; assumption. }
  rewrite (tail_step k) in H |- * by lia; lra.
Qed.

Section Units.
Variables (first scale : R) (j : nat).
Hypothesis first_nonneg : 0 <= first.
Hypothesis scale_nonneg : 0 <= scale.

(** [scale] times the tail from j, in units of [first]. *)
Lemma upwards_correct : forall steps k term total, (lo <= k)%nat -> (k + steps <= hi)%nat ->
  (num (Z.of_nat (k + steps)) < den (Z.of_nat (k + steps)))%Z ->
  b k * scale <= IZR term * first -> (T j - T k) * scale <= IZR total * first ->
  T j * scale <= IZR (upwards num den steps (Z.of_nat k) term total) * first.
Proof.
  induction steps as [| steps IH]; intros k term total Hlo Hhi Hfall Hterm Htotal; cbn [upwards].
  - rewrite Nat.add_0_r in Hhi, Hfall; rewrite plus_IZR.
    assert (T k * scale <= IZR (term * den (Z.of_nat k) / (den (Z.of_nat k) - num (Z.of_nat k)) + 1)
      * first); [| lra].
    assert (Hden := den_pos k ltac:(lia)).
    apply (rounded_up (b k * scale)); try assumption; [lia | lia |].
    rewrite minus_IZR; assert (H := tail_geometric k ltac:(lia)).
    apply (Rmult_le_compat_r scale) in H; [unfold up, down in H; lra | exact scale_nonneg].
  - replace (Z.of_nat k + 1)%Z with (Z.of_nat (S k)) by lia; apply IH; try lia;
      [replace (S k + steps)%nat with (k + S steps)%nat by lia; exact Hfall | |].
    + apply (rounded_up (b k * scale)); try assumption; [apply num_nonneg; lia | apply den_pos; lia |].
      assert (H := ratio k ltac:(lia)); apply (Rmult_le_compat_r scale) in H; [unfold up, down in H; lra |].
      exact scale_nonneg.
    + rewrite plus_IZR; assert (Hstep := tail_step k ltac:(lia)).
      replace (T j - T (S k)) with (T j - T k + b k) by lra; lra.
Qed.

Lemma downwards_correct : forall steps k term total, (lo + steps <= k)%nat -> (k <= hi)%nat ->
  IZR term * first <= b k * scale -> IZR total * first <= (T k - T j) * scale ->
  IZR (downwards num den steps (Z.of_nat k) term total) * first <= (T 0 - T j) * scale.
Proof.
  induction steps as [| steps IH]; intros k term total Hlo Hhi Hterm Htotal; cbn [downwards].
  - eapply Rle_trans; [exact Htotal |]; apply Rmult_le_compat_r; [exact scale_nonneg |].
    generalize (tail_falls k); lra.
  - destruct k as [| k]; [lia |]; replace (Z.of_nat (S k) - 1)%Z with (Z.of_nat k) by lia.
    assert (Hnext : IZR (term * den (Z.of_nat k) / num (Z.of_nat k)) * first <= b k * scale).
    { apply (rounded_down (b (S k) * scale)); try assumption; [| apply num_pos; lia |].
      - assert (H := den_pos k ltac:(lia)); lia.
      - assert (H := ratio k ltac:(lia)); apply (Rmult_le_compat_r scale) in H; [unfold up, down in H; lra |].
        exact scale_nonneg. }
    apply IH; try assumption; try lia.
    rewrite plus_IZR; assert (Hstep := tail_step k ltac:(lia)).
    replace (T k - T j) with (T (S k) - T j + b k) by lra; lra.
Qed.
End Units.

Theorem tail_at_most_correct : forall j a c steps_up steps_down,
  tail_at_most num den (Z.of_nat lo) (Z.of_nat hi) (Z.of_nat j) a c steps_up steps_down = true ->
  T j <= IZR a / IZR c * T 0.
Proof.
  intros j a c steps_up steps_down H; unfold tail_at_most in H; rewrite !andb_true_iff in H.
  destruct H as [[[[[[Ha Hac] Hc] Hdown] Hup] Hfall] Hsum].
  apply Z.leb_le in Ha, Hac, Hdown, Hup, Hsum; apply Z.ltb_lt in Hc, Hfall;
    rewrite <- Nat2Z.inj_add in Hfall, Hup.
  assert (HS : 0 < IZR unit_term) by (apply (IZR_lt 0); reflexivity).
  assert (HU := upwards_correct (b j) (IZR unit_term) j (b_nonneg j) ltac:(lra)
    steps_up j unit_term 0 ltac:(lia)
    ltac:(lia) Hfall ltac:(lra) ltac:(lra)).
  assert (HD := downwards_correct (b j) (IZR unit_term) j (b_nonneg j) ltac:(lra) steps_down j unit_term 0
    ltac:(lia) ltac:(lia) ltac:(lra) ltac:(lra)).
  set (U := upwards _ _ _ _ _ _) in *; set (D := downwards _ _ _ _ _ _) in *.
  apply IZR_le in Hsum; rewrite !mult_IZR, minus_IZR in Hsum.
  apply IZR_le in Ha, Hac; apply IZR_lt in Hc; assert (Hb := b_nonneg j).
  apply Rmult_le_reg_r with (IZR c * IZR unit_term); [apply Rmult_lt_0_compat; assumption |].
  replace (IZR a / IZR c * T 0%nat * (IZR c * IZR unit_term)) with (IZR a * (T 0%nat * IZR unit_term))
    by (field; lra).
  assert (T j * IZR unit_term * (IZR c - IZR a) <= IZR U * b j * (IZR c - IZR a))
    by (apply Rmult_le_compat_r; [lra | exact HU]).
  assert (IZR U * (IZR c - IZR a) * b j <= IZR a * IZR D * b j) by (apply Rmult_le_compat_r; assumption).
  assert (IZR a * (IZR D * b j) <= IZR a * ((T 0%nat - T j) * IZR unit_term)) by (apply Rmult_le_compat_l;
    assumption).
  lra.
Qed.
End Tail.
