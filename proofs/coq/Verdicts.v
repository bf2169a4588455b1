(** * Verdicts: the auditor's refutation from two counts, by integer arithmetic

    An audit draws n outputs on one input and m on another, and counts an event on both.  The counts j and k
    contradict (epsilon, delta) when for some q the chance of at most k at q, and of at least j at
    exp(epsilon) q + delta, are both at most alpha / 2.  A private mechanism is contradicted with probability
    at most alpha.  Whether given counts contradict is decided by sums of whole numbers, rounded to the safe
    side, which Coq's kernel computes. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums BinomialLaw JointBound SigmaBound.
Open Scope R_scope.

(** ** Terms of the binomial law, one from the other *)

Lemma binomial_ratio : forall n k x, (k <= n)%nat ->
  INR (S k) * (1 - x) * binomial n (S k) x = INR (n - k) * x * binomial n k x.
Proof.
  intros n k x Hk; destruct (Nat.eq_dec k n) as [-> | Hne].
  - rewrite binomial_above, Nat.sub_diag by lia; cbn [INR]; ring.
  - rewrite !binomial_formula by lia; unfold C.
    replace (n - k)%nat with (S (n - S k)) by lia; cbn [pow]; rewrite !fact_simpl, !mult_INR.
    generalize (INR_fact_neq_0 k) (INR_fact_neq_0 (n - S k)) (not_0_INR (S k) ltac:(lia))
      (not_0_INR (S (n - S k)) ltac:(lia)); intros; field; repeat split; assumption.
Qed.

Lemma at_least_step : forall n k x, (k <= n)%nat -> at_least n k x = binomial n k x + at_least n (S k) x.
Proof.
  intros n k x Hk; unfold at_least, probability.
  rewrite (sum_ext (outcomes n) (fun j => if (k <=? j)%nat then binomial n j x else 0)
    (fun j => (if Nat.eqb j k then binomial n j x else 0) + (if (S k <=? j)%nat then binomial n j x else 0))).
  - rewrite sum_plus; f_equal; unfold outcomes; apply (sum_delta (S n) k (fun j => binomial n j x)); lia.
  - intros j _; destruct (Nat.leb_spec k j), (Nat.leb_spec (S k) j), (Nat.eqb_spec j k); try lia; ring.
Qed.

(** The tail after the next term, term by term. *)
Lemma at_least_shifted : forall n k x, at_least n (S k) x =
  sum_over (outcomes n) (fun j => if (k <=? j)%nat then binomial n (S j) x else 0).
Proof.
  intros n k x; unfold at_least, probability.
  transitivity (sum_over (outcomes (S n)) (fun j => if (S k <=? j)%nat then binomial n j x else 0)).
  - rewrite sum_last, (binomial_above n (S n)) by lia; destruct (S k <=? S n)%nat; ring.
  - rewrite sum_first; cbn [Nat.leb]; ring.
Qed.

(** Where the terms fall, the tail is at most geometric. *)
Lemma at_least_geometric : forall n k p r x, (k <= n)%nat -> 0 <= x <= 1 -> 0 <= p -> 0 < r ->
  x * r = (1 - x) * p -> 0 < 1 - x -> INR (n - k) * p < INR (S k) * r ->
  at_least n k x * (INR (S k) * r - INR (n - k) * p) <= binomial n k x * (INR (S k) * r).
Proof.
  intros n k p r x Hk Hx Hp Hr Hodds Hx1 Hfall.
  assert (Hnext : at_least n (S k) x * (INR (S k) * r) <= at_least n k x * (INR (n - k) * p)).
  { rewrite at_least_shifted; unfold at_least, probability; rewrite <- !sum_scal_r; apply sum_le; intros j Hj.
    unfold outcomes in Hj; apply in_seq in Hj; destruct (Nat.leb_spec k j) as [H | H]; [| lra].
    assert (Hb := binomial_nonneg n j x Hx); assert (Hb' := binomial_nonneg n (S j) x Hx).
    assert (Hratio : INR (S j) * r * binomial n (S j) x = INR (n - j) * p * binomial n j x).
    { apply Rmult_eq_reg_l with (1 - x); [| lra]; transitivity (r * (INR (S j) * (1 - x) * binomial n (S
      j) x));
        [ring |]; rewrite (binomial_ratio n j x) by lia.
      transitivity (INR (n - j) * (x * r) * binomial n j x); [ring | rewrite Hodds; ring]. }
    assert (INR (S k) <= INR (S j)) by (apply le_INR; lia).
    assert (INR (n - j) <= INR (n - k)) by (apply le_INR; lia).
    assert (r * binomial n (S j) x * INR (S k) <= r * binomial n (S j) x * INR (S j))
      by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | assumption]).
    assert (p * binomial n j x * INR (n - j) <= p * binomial n j x * INR (n - k))
      by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | assumption]).
    lra. }
  rewrite (at_least_step n k x Hk) at 1; rewrite (at_least_step n k x Hk) in Hnext; lra.
Qed.

(** ** Sums of whole numbers *)

Definition unit_term : Z := (2 ^ 60)%Z.

(** Terms from [k] on, in units of the first one, each rounded up; what follows the last as a geometric sum.
    The probability is p / (p + r). *)
Fixpoint upwards (steps : nat) (n k p r term total : Z) : Z :=
  match steps with
  | O => (total + (term * ((k + 1) * r) / ((k + 1) * r - (n - k) * p) + 1))%Z
  | S steps' => upwards steps' n (k + 1) p r (term * ((n - k) * p) / ((k + 1) * r) + 1) (total + term)
  end.

(** Terms below [k], each rounded down. *)
Fixpoint downwards (steps : nat) (n k p r term total : Z) : Z :=
  match steps with
  | O => total
  | S steps' =>
      let next := (term * (k * r) / ((n - k + 1) * p))%Z in downwards steps' n (k - 1) p r next (total + next)
  end.

(** The chance of at least j in n is at most a / b. *)
Definition tail_at_most (n j p r a b : Z) (up down : nat) : bool :=
  ((0 <? p) && (0 <? r) && (0 <=? j) && (0 <=? a) && (a <=? b) && (0 <? b) &&
   (j + Z.of_nat up <=? n) && (Z.of_nat down <=? j) &&
   ((n - (j + Z.of_nat up)) * p <? (j + Z.of_nat up + 1) * r) &&
   (upwards up n j p r unit_term 0 * (b - a) <=? a * downwards down n j p r unit_term 0))%Z.

Lemma ceiling_ge : forall a b, (0 < b)%Z -> IZR a <= IZR (a / b + 1) * IZR b.
Proof.
  intros a b Hb; rewrite <- mult_IZR; apply IZR_le; generalize (Z.mul_succ_div_gt a b Hb); unfold Z.succ; lia.
Qed.

Section Tail.
Variables (n : nat) (p r : Z).
Hypothesis Hp : (0 < p)%Z.
Hypothesis Hr : (0 < r)%Z.

Let x := IZR p / (IZR p + IZR r).
Let b (k : nat) := binomial n k x.
Let T (k : nat) := at_least n k x.

Lemma p_pos : 0 < IZR p.
Proof. apply (IZR_lt 0); exact Hp. Qed.

Lemma r_pos : 0 < IZR r.
Proof. apply (IZR_lt 0); exact Hr. Qed.

Lemma x_range : 0 < x < 1.
Proof.
  generalize p_pos r_pos; intros; unfold x; split; [apply Rdiv_lt_0_compat; lra |].
  apply Rmult_lt_reg_r with (IZR p + IZR r); [lra |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma x_odds : x * IZR r = (1 - x) * IZR p.
Proof. generalize p_pos r_pos; intros; unfold x; field; lra. Qed.

Lemma b_nonneg : forall k, 0 <= b k.
Proof. intros k; apply binomial_nonneg; generalize x_range; lra. Qed.

Lemma b_ratio : forall k, (k <= n)%nat -> b (S k) * (INR (S k) * IZR r) = b k * (INR (n - k) * IZR p).
Proof.
  intros k Hk; generalize x_range x_odds; intros Hx Hodds; apply Rmult_eq_reg_l with (1 - x); [| lra].
  transitivity (IZR r * (INR (S k) * (1 - x) * b (S k))); [ring |]; unfold b; rewrite binomial_ratio
    by exact Hk.
  transitivity (INR (n - k) * (x * IZR r) * binomial n k x); [ring | rewrite Hodds; ring].
Qed.

Lemma upper_factor : forall k, IZR ((Z.of_nat k + 1) * r) = INR (S k) * IZR r.
Proof. intros k; rewrite mult_IZR, plus_IZR, <- INR_IZR_INZ, S_INR; reflexivity. Qed.

Lemma lower_factor : forall k, (k <= n)%nat -> IZR ((Z.of_nat n - Z.of_nat k) * p) = INR (n - k) * IZR p.
Proof. intros k Hk; rewrite mult_IZR, minus_IZR, <- !INR_IZR_INZ, minus_INR by exact Hk; reflexivity. Qed.

(** [scale] times the tail from j, in units of [first]. *)
Lemma upwards_correct : forall first scale j steps k term total, 0 <= first ->
  (k + steps <= n)%nat ->
  ((Z.of_nat n - Z.of_nat (k + steps)) * p < (Z.of_nat (k + steps) + 1) * r)%Z ->
  b k * scale <= IZR term * first -> (T j - T k) * scale <= IZR total * first -> 0 <= scale ->
  T j * scale <= IZR (upwards steps (Z.of_nat n) (Z.of_nat k) p r term total) * first.
Proof.
  intros first scale j; induction steps as [| steps IH]; intros k term total Hfirst Hk Hfall Hterm Htotal
    Hscale.
  - rewrite Nat.add_0_r in Hk, Hfall; cbn [upwards]; rewrite plus_IZR.
    set (A := ((Z.of_nat k + 1) * r)%Z) in *; set (B := ((Z.of_nat n - Z.of_nat k) * p)%Z) in *.
    assert (HAB : 0 < IZR (A - B)) by (apply (IZR_lt 0); lia).
    assert (HA : IZR A = INR (S k) * IZR r) by apply upper_factor.
    assert (HB : IZR B = INR (n - k) * IZR p) by (apply lower_factor; exact Hk).
    assert (HT : T k * IZR (A - B) <= b k * IZR A).
    { rewrite minus_IZR, HA, HB; generalize x_range x_odds p_pos r_pos; intros.
      apply at_least_geometric; try lra; [exact Hk |].
      rewrite <- HA, <- HB; apply IZR_lt; lia. }
    assert (HA0 : 0 <= IZR A) by (apply (IZR_le 0); lia).
    assert (Hceiling := ceiling_ge (term * A) (A - B) ltac:(lia)); rewrite mult_IZR in Hceiling.
    set (last := IZR (term * A / (A - B) + 1)) in *.
    assert (Hlast : T k * scale <= last * first).
    { apply Rmult_le_reg_r with (IZR (A - B)); [exact HAB |].
      assert (T k * IZR (A - B) * scale <= b k * IZR A * scale) by (apply Rmult_le_compat_r; assumption).
      assert (b k * scale * IZR A <= IZR term * first * IZR A) by (apply Rmult_le_compat_r; assumption).
      assert (IZR term * IZR A * first <= last * IZR (A - B) * first) by (apply Rmult_le_compat_r;
        assumption).
      lra. }
    lra.
  - cbn [upwards]; replace (Z.of_nat k + 1)%Z with (Z.of_nat (S k)) at 1 by lia.
    apply IH; try assumption; [lia | replace (S k + steps)%nat with (k + S steps)%nat by lia;
      exact Hfall | |].
    + set (A := ((Z.of_nat k + 1) * r)%Z); set (B := ((Z.of_nat n - Z.of_nat k) * p)%Z).
      assert (HA0 : (0 < A)%Z) by (apply Z.mul_pos_pos; lia).
      assert (HA : IZR A = INR (S k) * IZR r) by apply upper_factor.
      assert (HB : IZR B = INR (n - k) * IZR p) by (apply lower_factor; lia).
      assert (HB0 : 0 <= IZR B) by (rewrite HB; apply Rmult_le_pos; [apply pos_INR | left; apply p_pos]).
      apply Rmult_le_reg_r with (IZR A); [apply (IZR_lt 0); exact HA0 |].
      assert (Hratio := b_ratio k ltac:(lia)); rewrite <- HA, <- HB in Hratio.
      assert (Hceiling := ceiling_ge (term * B) A HA0); rewrite mult_IZR in Hceiling.
      assert (b k * scale * IZR B <= IZR term * first * IZR B) by (apply Rmult_le_compat_r; assumption).
      assert (IZR term * IZR B * first <= IZR (term * B / A + 1) * IZR A * first)
        by (apply Rmult_le_compat_r; assumption).
      replace (b (S k) * scale * IZR A) with (b (S k) * IZR A * scale) by ring; rewrite Hratio; lra.
    + rewrite plus_IZR; assert (Hstep := at_least_step n k x ltac:(lia)); fold (T k) (b k) (T (S k)) in Hstep.
      replace (T j - T (S k)) with (T j - T k + b k) by lra; lra.
Qed.

Lemma downwards_correct : forall first scale j steps k term total, 0 <= first ->
  (k <= n)%nat -> (steps <= k)%nat -> (0 <= term)%Z ->
  IZR term * first <= b k * scale -> IZR total * first <= (T k - T j) * scale -> 0 <= scale ->
  IZR (downwards steps (Z.of_nat n) (Z.of_nat k) p r term total) * first <= (1 - T j) * scale.
Proof.
  intros first scale j; induction steps as [| steps IH]; intros k term total Hfirst Hk Hsteps Hterm0 Hterm
    Htotal
    Hscale.
  - cbn [downwards]; eapply Rle_trans; [exact Htotal |]; apply Rmult_le_compat_r; [exact Hscale |].
    assert (T k <= 1) by (apply probability_at_most_one; generalize x_range; lra); lra.
  - destruct k as [| k]; [lia |]; cbn [downwards].
    replace (Z.of_nat (S k) - 1)%Z with (Z.of_nat k) by lia.
    replace (Z.of_nat n - Z.of_nat (S k) + 1)%Z with (Z.of_nat n - Z.of_nat k)%Z by lia.
    set (A := (Z.of_nat (S k) * r)%Z); set (B := ((Z.of_nat n - Z.of_nat k) * p)%Z).
    assert (HB0 : (0 < B)%Z) by (apply Z.mul_pos_pos; lia).
    assert (HA0 : (0 <= A)%Z) by lia.
    assert (HA : IZR A = INR (S k) * IZR r) by (unfold A; rewrite mult_IZR, <- INR_IZR_INZ; reflexivity).
    assert (HB : IZR B = INR (n - k) * IZR p) by (apply lower_factor; lia).
    assert (Hratio := b_ratio k ltac:(lia)); rewrite <- HA, <- HB in Hratio.
    assert (Hnext : IZR (term * A / B) * first <= b k * scale).
    { apply Rmult_le_reg_r with (IZR B); [apply (IZR_lt 0); exact HB0 |].
      assert (Hfloor := floor_le (term * A) B HB0); rewrite mult_IZR in Hfloor.
      assert (IZR (term * A / B) * IZR B * first <= IZR term * IZR A * first)
        by (apply Rmult_le_compat_r; assumption).
      assert (IZR term * first * IZR A <= b (S k) * scale * IZR A)
        by (apply Rmult_le_compat_r; [apply (IZR_le 0); exact HA0 | exact Hterm]).
      replace (b k * scale * IZR B) with (b k * IZR B * scale) by ring; rewrite <- Hratio; lra. }
    apply IH; try assumption; [lia | lia | apply Z.div_pos; [apply Z.mul_nonneg_nonneg;
      assumption | exact HB0] |].
    rewrite plus_IZR; assert (Hstep := at_least_step n k x ltac:(lia)); fold (T k) (b k) (T (S k)) in Hstep.
    replace (T k - T j) with (T (S k) - T j + b k) by lra; lra.
Qed.

Lemma tail_at_most_correct : forall j a d up down, (j <= n)%nat ->
  tail_at_most (Z.of_nat n) (Z.of_nat j) p r a d up down = true -> at_least n j x <= IZR a / IZR d.
Proof.
  intros j a d up down Hj H; unfold tail_at_most in H; rewrite !andb_true_iff in H.
  destruct H as [[[[[[[[[_ _] _] Ha] Had] Hd] Hup] Hdown] Hfall] Hsum].
  apply Z.leb_le in Ha, Had, Hup, Hdown, Hsum; apply Z.ltb_lt in Hd, Hfall.
  assert (HU := upwards_correct (b j) (IZR unit_term) j up j unit_term 0 (b_nonneg j) ltac:(lia)
    ltac:(rewrite Nat2Z.inj_add; exact Hfall) ltac:(lra) ltac:(lra) ltac:(apply (IZR_le 0); discriminate)).
  assert (HD := downwards_correct (b j) (IZR unit_term) j down j unit_term 0 (b_nonneg j) Hj ltac:(lia)
    ltac:(discriminate) ltac:(lra) ltac:(lra) ltac:(apply (IZR_le 0); discriminate)).
  set (U := upwards up _ _ _ _ _ _) in *; set (D := downwards down _ _ _ _ _ _) in *; fold (T j).
  apply IZR_le in Hsum; rewrite !mult_IZR, minus_IZR in Hsum.
  assert (HS : 0 < IZR unit_term) by (apply (IZR_lt 0); reflexivity).
  apply IZR_le in Ha, Had; apply IZR_lt in Hd; assert (Hb := b_nonneg j).
  apply Rmult_le_reg_r with (IZR d * IZR unit_term); [apply Rmult_lt_0_compat; assumption |].
  replace (IZR a / IZR d * (IZR d * IZR unit_term)) with (IZR a * IZR unit_term) by (field; lra).
  assert (T j * IZR unit_term * (IZR d - IZR a) <= IZR U * b j * (IZR d - IZR a))
    by (apply Rmult_le_compat_r; [lra | exact HU]).
  assert (IZR U * (IZR d - IZR a) * b j <= IZR a * IZR D * b j) by (apply Rmult_le_compat_r; assumption).
  assert (IZR a * (IZR D * b j) <= IZR a * ((1 - T j) * IZR unit_term)) by (apply Rmult_le_compat_l;
    assumption).
  lra.
Qed.
End Tail.

(** ** The other tail is a tail of the failures *)

Lemma sum_reversed : forall m f, sum_over (outcomes m) f = sum_over (outcomes m) (fun k => f (m - k)%nat).
Proof.
  induction m as [| m IH]; intros f; [reflexivity |].
  rewrite sum_last, (sum_first m (fun k => f (S m - k)%nat)), IH; rewrite Nat.sub_0_r; cbn [Nat.sub]; ring.
Qed.

Lemma binomial_reversed : forall m k q, (k <= m)%nat -> binomial m (m - k) (1 - q) = binomial m k q.
Proof.
  intros m k q Hk; rewrite !binomial_formula by lia; rewrite <- pascal_step1 by exact Hk.
  replace (m - (m - k))%nat with k by lia; replace (1 - (1 - q)) with q by ring; ring.
Qed.

Lemma at_most_reversed : forall m k q, (k <= m)%nat -> at_most m k q = at_least m (m - k) (1 - q).
Proof.
  intros m k q Hk; unfold at_most, at_least, probability; rewrite sum_reversed; apply sum_ext; intros i Hi.
  unfold outcomes in Hi; apply in_seq in Hi; rewrite <- (binomial_reversed m (m - i) q) by lia.
  replace (m - (m - i))%nat with i by lia.
  destruct (Nat.leb_spec (m - i) k), (Nat.leb_spec (m - k) i); try lia; reflexivity.
Qed.

(** ** What contradicts a claim, and how rarely a true one is contradicted *)

Definition contradicts (n m : nat) (epsilon delta alpha : R) (j k : nat) : Prop :=
  exists p0 q0, 0 <= q0 <= 1 /\ p0 <= 1 /\ exp epsilon * q0 + delta <= p0 /\
    at_most m k q0 <= alpha / 2 /\ at_least n j p0 <= alpha / 2.

Lemma at_most_is_valid : forall n p t (event : nat -> bool), 0 <= p <= 1 -> 0 <= t ->
  (forall k, event k = true -> at_most n k p <= t) -> probability n p event <= t.
Proof.
  intros n p t event Hp Ht Hevent; destruct (largest_outcome event n) as [Hnone | [k [Hk [Hin Hlast]]]].
  - apply Rle_trans with 0; [| exact Ht]; right; apply sum_zero; intros j Hj.
    unfold outcomes in Hj; apply in_seq in Hj; rewrite Hnone by lia; reflexivity.
  - apply Rle_trans with (at_most n k p); [| apply Hevent; exact Hin].
    apply sum_le; intros j Hj; unfold outcomes in Hj; apply in_seq in Hj.
    assert (H0 := binomial_nonneg n j p Hp); destruct (Nat.leb_spec j k) as [H | H];
      [destruct (event j); lra | rewrite (Hlast j) by lia; lra].
Qed.

Lemma at_most_falls : forall n k p q, 0 <= p <= q -> q <= 1 -> at_most n k q <= at_most n k p.
Proof. intros n k p q Hp Hq; rewrite !at_most_at_least; generalize (at_least_monotone n (S k) p q Hp Hq);
  lra. Qed.

(** Either count is then extreme at the true pair. *)
Lemma contradiction_is_rare : forall n m epsilon delta alpha j k p q, 0 <= p <= 1 -> 0 <= q <= 1 ->
  p <= exp epsilon * q + delta -> contradicts n m epsilon delta alpha j k ->
  at_least n j p <= alpha / 2 \/ at_most m k q <= alpha / 2.
Proof.
  intros n m epsilon delta alpha j k p q Hp Hq Hprivate [p0 [q0 [Hq0 [Hp0 [Hbetween [Hk Hj]]]]]].
  destruct (Rle_dec q q0) as [Hle | Hgt].
  - left; eapply Rle_trans; [| exact Hj]; apply at_least_monotone; [| exact Hp0]; split; [apply Hp |].
    assert (exp epsilon * q <= exp epsilon * q0) by (apply Rmult_le_compat_l; [left;
      apply exp_pos | exact Hle]).
    lra.
  - right; eapply Rle_trans; [| exact Hk]; apply at_most_falls; lra.
Qed.

Theorem verdict_false_alarm : forall n m epsilon delta alpha p q (event : nat -> nat -> bool),
  0 <= p <= 1 -> 0 <= q <= 1 -> 0 <= alpha -> p <= exp epsilon * q + delta ->
  (forall j k, event j k = true -> contradicts n m epsilon delta alpha j k) ->
  joint_probability n m p q event <= alpha.
Proof.
  intros n m epsilon delta alpha p q event Hp Hq Ha Hprivate Hevent.
  set (left j := negb (exceeds (at_least n j p) (alpha / 2))).
  set (right k := negb (exceeds (at_most m k q) (alpha / 2))).
  assert (Hleft : probability n p left <= alpha / 2).
  { apply at_least_is_valid; [exact Hp | lra |]; intros j; unfold left, exceeds; destruct Rlt_dec;
    [discriminate |].
    intros _; lra. }
  assert (Hright : probability m q right <= alpha / 2).
  { apply at_most_is_valid; [exact Hq | lra |]; intros k; unfold right, exceeds; destruct Rlt_dec;
    [discriminate |].
    intros _; lra. }
  apply Rle_trans with (sum_over (outcomes n) (fun j => sum_over (outcomes m) (fun k =>
    (if left j then binomial n j p else 0) * binomial m k q +
    binomial n j p * (if right k then binomial m k q else 0)))).
  - apply sum_le; intros j _; apply sum_le; intros k _.
    assert (Hj := binomial_nonneg n j p Hp); assert (Hk := binomial_nonneg m k q Hq).
    assert (0 <= binomial n j p * binomial m k q) by (apply Rmult_le_pos; assumption).
    destruct (event j k) eqn:E; [| destruct (left j), (right k); lra].
    destruct (contradiction_is_rare n m epsilon delta alpha j k p q Hp Hq Hprivate (Hevent j k E)) as [H1
      | H1].
    + replace (left j) with true; [destruct (right k); lra |].
      unfold left, exceeds; destruct Rlt_dec; [lra | reflexivity].
    + replace (right k) with true; [destruct (left j); lra |].
      unfold right, exceeds; destruct Rlt_dec; [lra | reflexivity].
  - rewrite (sum_ext _ _ (fun j => (if left j then binomial n j p else 0) * 1
      + binomial n j p * probability m q right)).
    + rewrite sum_plus, !sum_scal_r, (probability_total n p : sum_over _ _ = 1);
      unfold probability in Hleft; lra.
    + intros j _; rewrite sum_plus, !sum_scal; f_equal; f_equal; exact (probability_total m q).
Qed.

(** Counts that are more extreme contradict, too. *)
Lemma contradicts_further : forall n m epsilon delta alpha j k j' k', (j <= j')%nat -> (k' <= k)%nat ->
  0 <= delta -> contradicts n m epsilon delta alpha j k -> contradicts n m epsilon delta alpha j' k'.
Proof.
  intros n m epsilon delta alpha j k j' k' Hj Hk Hd [p0 [q0 [Hq0 [Hp0 [Hbetween [H1 H2]]]]]].
  assert (0 <= exp epsilon * q0) by (apply Rmult_le_pos; [left; apply exp_pos | apply Hq0]).
  exists p0, q0; repeat split; try lra.
  - eapply Rle_trans; [| exact H1]; apply probability_monotone_events; [exact Hq0 |].
    intros i Hi; apply Nat.leb_le in Hi; apply Nat.leb_le; lia.
  - eapply Rle_trans; [| exact H2]; apply probability_monotone_events; [lra |].
    intros i Hi; apply Nat.leb_le in Hi; apply Nat.leb_le; lia.
Qed.

(** ** Deciding it *)

(** exp(- a / b) from below, squared 40 times from 1 - a / (b 2^40). *)
Definition exp_minus_lower (a b : Z) : Z := squared_times 40 (fixed_one - (a * fixed_one / (b * 2 ^ 40) + 1)).

(** [q] and [p] are numerators over [one]: the chances at which both counts are extreme.  epsilon is a / b and
    delta c / b; x is at most exp(- a / b), in fixed point. *)
Definition contradict_at (one x n m j k b c level part q p up_n down_n up_m down_m : Z) : bool :=
  ((0 <=? j) && (j <=? n) && (0 <=? k) && (k <=? m) &&
   (0 <? q) && (q <? one) && (0 <? p) && (p <? one) && (0 <? level) &&
   (q * b * fixed_one <=? (p * b - c * one) * x) &&
   tail_at_most n j p (one - p) part (2 * level) (Z.to_nat up_n) (Z.to_nat down_n) &&
   tail_at_most m (m - k) (one - q) q part (2 * level) (Z.to_nat up_m) (Z.to_nat down_m))%Z.

Definition counts_contradict (n m j k a c b level part q p up_n down_n up_m down_m : Z) : bool :=
  ((0 <? b) && (0 <=? fixed_one - (a * fixed_one / (b * 2 ^ 40) + 1)) &&
   contradict_at (2 ^ 48) (exp_minus_lower a b) n m j k b c level part q p up_n down_n up_m down_m)%Z.

Lemma exp_minus_lower_correct : forall a b, (0 < b)%Z ->
  (0 <= fixed_one - (a * fixed_one / (b * 2 ^ 40) + 1))%Z ->
  (0 <= exp_minus_lower a b)%Z /\ fixed (exp_minus_lower a b) * exp (IZR a / IZR b) <= 1.
Proof.
  intros a b Hb He; set (e := (fixed_one - (a * fixed_one / (b * 2 ^ 40) + 1))%Z) in *.
  assert (Hb' : 0 < IZR b) by (apply (IZR_lt 0); exact Hb); assert (HU := one_pos).
  assert (HP : 0 < IZR (2 ^ 40)) by (apply (IZR_lt 0); reflexivity).
  set (y := - (IZR a / (IZR b * IZR (2 ^ 40)))).
  assert (Hy : fixed e <= exp y).
  { apply Rle_trans with (1 + y); [| apply exp_ineq1_le].
    unfold fixed; apply Rmult_le_reg_r with (IZR fixed_one); [exact HU |].
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; unfold e; rewrite minus_IZR.
    assert (Hceiling := ceiling_ge (a * fixed_one) (b * 2 ^ 40) ltac:(lia)); rewrite !mult_IZR in Hceiling.
    set (c := IZR (a * fixed_one / (b * 2 ^ 40) + 1)) in *.
    assert (IZR a / (IZR b * IZR (2 ^ 40)) * IZR fixed_one <= c); [| unfold y; lra].
    apply Rmult_le_reg_r with (IZR b * IZR (2 ^ 40)); [apply Rmult_lt_0_compat; assumption |].
    eapply Rle_trans; [| exact Hceiling]; right; field; split; lra. }
  destruct (squared_times_correct 40 e y He Hy) as [H0 H1]; split; [exact H0 |].
  change (2 ^ Z.of_nat 40)%Z with (2 ^ 40)%Z in H1; unfold exp_minus_lower; fold e.
  replace (IZR (2 ^ 40) * y) with (- (IZR a / IZR b)) in H1 by (unfold y; field; split; lra).
  apply Rle_trans with (exp (- (IZR a / IZR b)) * exp (IZR a / IZR b)).
  - apply Rmult_le_compat_r; [left; apply exp_pos | exact H1].
  - rewrite <- exp_plus; right; replace (- (IZR a / IZR b) + IZR a / IZR b) with 0 by ring; apply exp_0.
Qed.

Lemma tail_of_whole_numbers : forall n j p one a d up down, (0 < one)%Z -> (0 <= j <= n)%Z ->
  tail_at_most n j p (one - p) a d up down = true ->
  at_least (Z.to_nat n) (Z.to_nat j) (IZR p / IZR one) <= IZR a / IZR d.
Proof.
  intros n j p one a d up down Hone Hj H.
  assert (Hsigns : (0 < p)%Z /\ (0 < one - p)%Z).
  { unfold tail_at_most in H; rewrite !andb_true_iff in H; destruct H as [[[[[[[[[H1 H2] _] _] _] _] _] _]
    _] _].
    apply Z.ltb_lt in H1, H2; split; assumption. }
  replace (IZR p / IZR one) with (IZR p / (IZR p + IZR (one - p)))
    by (rewrite minus_IZR; f_equal; ring).
  apply (tail_at_most_correct (Z.to_nat n) p (one - p) (proj1 Hsigns) (proj2 Hsigns) (Z.to_nat j) a d up
    down);
    [lia |].
  rewrite !Z2Nat.id by lia; exact H.
Qed.

Lemma contradict_at_correct : forall one x n m j k a b c level part q p up_n down_n up_m down_m,
  (0 < one)%Z -> (0 < b)%Z -> (0 <= x)%Z -> fixed x * exp (IZR a / IZR b) <= 1 ->
  contradict_at one x n m j k b c level part q p up_n down_n up_m down_m = true ->
  contradicts (Z.to_nat n) (Z.to_nat m) (IZR a / IZR b) (IZR c / IZR b) (IZR part / IZR level)
    (Z.to_nat j) (Z.to_nat k).
Proof.
  intros one x n m j k a b c level part q p up_n down_n up_m down_m Hone Hb Hx0 Hx H;
    unfold contradict_at in H.
  rewrite !andb_true_iff in H.
  destruct H as [[[[[[[[[[[Hj Hjn] Hk] Hkm] Hq] Hq1] Hp] Hp1] Hlevel] Hexp] Hn] Hm].
  apply Z.leb_le in Hj, Hjn, Hk, Hkm, Hexp; apply Z.ltb_lt in Hq, Hq1, Hp, Hp1, Hlevel.
  assert (HO : 0 < IZR one) by (apply (IZR_lt 0); exact Hone).
  assert (HB : 0 < IZR b) by (apply (IZR_lt 0); exact Hb).
  assert (HL : 0 < IZR level) by (apply (IZR_lt 0); exact Hlevel).
  assert (HU := one_pos); apply IZR_le in Hexp; rewrite !mult_IZR, minus_IZR, !mult_IZR in Hexp.
  apply IZR_lt in Hq, Hq1, Hp, Hp1; assert (Hhalf : IZR part / IZR level / 2 = IZR part / IZR (2 * level))
    by (rewrite mult_IZR; field; lra).
  set (p0 := IZR p / IZR one); set (q0 := IZR q / IZR one); set (delta := IZR c / IZR b).
  assert (Hp0 : p0 * IZR one = IZR p) by (unfold p0; field; lra).
  assert (Hq0 : q0 * IZR one = IZR q) by (unfold q0; field; lra).
  assert (Hpos : 0 < q0) by (unfold q0; apply Rdiv_lt_0_compat; assumption).
  exists p0, q0; rewrite Hhalf; split; [split; [lra |] | split; [| split; [| split]]].
  - apply Rmult_le_reg_r with (IZR one); lra.
  - apply Rmult_le_reg_r with (IZR one); lra.
  - assert (Hbelow : q0 <= (p0 - delta) * fixed x).
    { apply Rmult_le_reg_r with (IZR one * IZR b * IZR fixed_one);
        [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; assumption | exact HU] |].
      replace (q0 * (IZR one * IZR b * IZR fixed_one)) with (q0 * IZR one * IZR b * IZR fixed_one) by ring.
      replace ((p0 - delta) * fixed x * (IZR one * IZR b * IZR fixed_one))
        with ((p0 * IZR one * IZR b - IZR c * IZR one) * IZR x) by (unfold delta, fixed; field; lra).
      rewrite Hq0, Hp0; exact Hexp. }
    assert (Hgap : 0 < p0 - delta).
    { assert (Hf := fixed_nonneg x Hx0); destruct (Rlt_dec 0 (p0 - delta)) as [Hlt | Hge]; [exact Hlt |].
      assert ((p0 - delta) * fixed x <= 0 * fixed x) by (apply Rmult_le_compat_r; lra); lra. }
    set (E := exp (IZR a / IZR b)) in *; assert (HE : 0 < E) by apply exp_pos.
    assert (q0 * E <= (p0 - delta) * fixed x * E) by (apply Rmult_le_compat_r; lra).
    assert ((p0 - delta) * (fixed x * E) <= (p0 - delta) * 1) by (apply Rmult_le_compat_l; lra); lra.
  - rewrite at_most_reversed by lia; replace (Z.to_nat m - Z.to_nat k)%nat with (Z.to_nat (m - k)) by lia.
    replace (1 - q0) with (IZR (one - q) / IZR one) by (rewrite minus_IZR; unfold q0; field; lra).
    apply (tail_of_whole_numbers m (m - k) (one - q) one part (2 * level) (Z.to_nat up_m) (Z.to_nat
      down_m) Hone);
      [lia | replace (one - (one - q))%Z with q by lia; exact Hm].
  - apply (tail_of_whole_numbers n j p one part (2 * level) (Z.to_nat up_n) (Z.to_nat down_n) Hone);
      [lia | exact Hn].
Qed.

Theorem counts_contradict_correct : forall n m j k a c b level part q p up_n down_n up_m down_m,
  counts_contradict n m j k a c b level part q p up_n down_n up_m down_m = true ->
  contradicts (Z.to_nat n) (Z.to_nat m) (IZR a / IZR b) (IZR c / IZR b) (IZR part / IZR level)
    (Z.to_nat j) (Z.to_nat k).
Proof.
  intros n m j k a c b level part q p up_n down_n up_m down_m H; unfold counts_contradict in H.
  rewrite !andb_true_iff in H; destruct H as [[Hb He] H]; apply Z.ltb_lt in Hb; apply Z.leb_le in He.
  destruct (exp_minus_lower_correct a b Hb He) as [Hx0 Hx].
  exact (contradict_at_correct (2 ^ 48) (exp_minus_lower a b) n m j k a b c level part q p up_n down_n
    up_m down_m
    eq_refl Hb Hx0 Hx H).
Qed.

(** What a verdict says: a mechanism that is (epsilon, delta)-private on this pair yields counts at least this
    extreme with probability at most alpha. *)
Theorem verdict_on_counts : forall n m epsilon delta alpha j k p q, 0 <= delta -> 0 <= alpha ->
  contradicts n m epsilon delta alpha j k ->
  0 <= p <= 1 -> 0 <= q <= 1 -> p <= exp epsilon * q + delta ->
  joint_probability n m p q (fun j' k' => (j <=? j')%nat && (k' <=? k)%nat) <= alpha.
Proof.
  intros n m epsilon delta alpha j k p q Hd Ha Hcounts Hp Hq Hprivate.
  apply (verdict_false_alarm n m epsilon delta alpha p q); try assumption.
  intros j' k' E; apply andb_true_iff in E; destruct E as [Hj Hk]; apply Nat.leb_le in Hj, Hk.
  apply (contradicts_further n m epsilon delta alpha j k j' k'); assumption.
Qed.
