(** * Verdicts: the auditor's refutation from two counts, by integer arithmetic

    An audit draws n outputs on one input and m on another, and counts an event on both. The counts j and k
    contradict (epsilon, delta) if for some q the chance of at most k at q, and of at least j at
    exp(epsilon) q + delta, are both at most alpha / 2. A private mechanism is contradicted with
    probability at most alpha. Sums of whole numbers, rounded to the safe side, decide it, and Coq's kernel
    computes them. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums BinomialLaw JointBound SigmaBound Tails.
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

(** The chance of at least j in n, at p / (p + r), is at most a / c. *)
Definition binomial_tail_at_most (n j p r a c : Z) (up down : nat) : bool :=
  ((0 <? p) && (0 <? r) && tail_at_most (fun k => (n - k) * p) (fun k => (k + 1) * r) 0 n j a c up down)%Z.

Lemma binomial_odds : forall n p r k, (0 < p)%Z -> (0 < r)%Z -> (k <= n)%nat ->
  let x := IZR p / (IZR p + IZR r) in
  binomial n (S k) x * IZR ((Z.of_nat k + 1) * r) = binomial n k x * IZR ((Z.of_nat n - Z.of_nat k) * p).
Proof.
  intros n p r k Hp Hr Hk x; apply (IZR_lt 0) in Hp, Hr.
  assert (Hx1 : 1 - x = IZR r / (IZR p + IZR r)) by (unfold x; field; lra).
  assert (H1 : 0 < 1 - x) by (rewrite Hx1; apply Rdiv_lt_0_compat; lra).
  assert (Hodds : x * IZR r = (1 - x) * IZR p) by (rewrite Hx1; unfold x; field; lra).
  replace (IZR ((Z.of_nat k + 1) * r)) with (INR (S k) * IZR r)
    by (rewrite mult_IZR, plus_IZR, <- INR_IZR_INZ, S_INR; reflexivity).
  replace (IZR ((Z.of_nat n - Z.of_nat k) * p)) with (INR (n - k) * IZR p)
    by (rewrite mult_IZR, minus_IZR, <- !INR_IZR_INZ, minus_INR by exact Hk; reflexivity).
  apply Rmult_eq_reg_l with (1 - x); [| lra].
  transitivity (IZR r * (INR (S k) * (1 - x) * binomial n (S k) x)); [ring |];
    rewrite binomial_ratio by exact Hk.
  transitivity (INR (n - k) * (x * IZR r) * binomial n k x); [ring | rewrite Hodds; ring].
Qed.

Lemma binomial_tail_at_most_correct : forall n j p r a c up down,
  binomial_tail_at_most (Z.of_nat n) (Z.of_nat j) p r a c up down = true ->
  at_least n j (IZR p / (IZR p + IZR r)) <= IZR a / IZR c.
Proof.
  intros n j p r a c up down H; unfold binomial_tail_at_most in H; rewrite !andb_true_iff in H.
  destruct H as [[Hp Hr] H]; apply Z.ltb_lt in Hp, Hr; set (x := IZR p / (IZR p + IZR r)).
  assert (Hx : 0 <= x <= 1).
  { generalize (IZR_lt _ _ Hp) (IZR_lt _ _ Hr); intros; unfold x; split; [left; apply Rdiv_lt_0_compat;
      lra |].
    apply Rmult_le_reg_r with (IZR p + IZR r); [lra |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
  rewrite <- (Rmult_1_r (IZR a / IZR c)), <- (probability_total n x).
  refine (tail_at_most_correct (fun k => binomial n k x) n 0 n _ _ _ _ _ _ _ _ _ _ _ j a c up down H);
    try nia.
  - intros k; apply binomial_nonneg, Hx.
  - intros k Hk; apply binomial_above; lia.
  - intros k Hk; right; apply binomial_odds; [exact Hp | exact Hr | lia].
Qed.

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

Lemma joint_probability_of_first : forall n m p q event,
  joint_probability n m p q (fun j _ => event j) = probability n p event.
Proof.
  intros n m p q event; apply sum_ext; intros j _; destruct (event j); [| apply sum_zero; reflexivity].
  rewrite sum_scal; transitivity (binomial n j p * 1); [f_equal; exact (probability_total m q) | ring].
Qed.

Lemma joint_probability_of_second : forall n m p q event,
  joint_probability n m p q (fun _ k => event k) = probability m q event.
Proof.
  intros n m p q event; unfold joint_probability; rewrite sum_swap.
  apply sum_ext; intros k _; destruct (event k); [| apply sum_zero; reflexivity].
  rewrite sum_scal_r; transitivity (1 * binomial m k q); [f_equal; exact (probability_total n p) | ring].
Qed.

Lemma joint_probability_union : forall n m p q (event first second : nat -> nat -> bool), 0 <= p <= 1 ->
  0 <= q <= 1 ->
  (forall j k, event j k = true -> first j k || second j k = true) ->
  joint_probability n m p q event <= joint_probability n m p q first + joint_probability n m p q second.
Proof.
  intros n m p q event first second Hp Hq Hcover; unfold joint_probability; rewrite <- sum_plus.
  apply sum_le; intros j _; rewrite <- sum_plus; apply sum_le; intros k _; specialize (Hcover j k).
  assert (0 <= binomial n j p * binomial m k q) by (apply Rmult_le_pos; apply binomial_nonneg; assumption).
  destruct (event j k), (first j k), (second j k); try lra; discriminate Hcover; reflexivity.
Qed.

Lemma not_exceeding : forall u v, negb (exceeds u v) = true <-> u <= v.
Proof. intros u v; unfold exceeds; destruct Rlt_dec; split; intros; try discriminate; try reflexivity;
  lra. Qed.

Theorem verdict_false_alarm : forall n m epsilon delta alpha p q (event : nat -> nat -> bool),
  0 <= p <= 1 -> 0 <= q <= 1 -> 0 <= alpha -> p <= exp epsilon * q + delta ->
  (forall j k, event j k = true -> contradicts n m epsilon delta alpha j k) ->
  joint_probability n m p q event <= alpha.
Proof.
  intros n m epsilon delta alpha p q event Hp Hq Ha Hprivate Hevent.
  set (likely j := negb (exceeds (at_least n j p) (alpha / 2))).
  set (unlikely k := negb (exceeds (at_most m k q) (alpha / 2))).
  assert (Hlikely : probability n p likely <= alpha / 2)
    by (apply at_least_is_valid; [exact Hp | lra | intros j; apply not_exceeding]).
  assert (Hunlikely : probability m q unlikely <= alpha / 2)
    by (apply at_most_is_valid; [exact Hq | lra | intros k; apply not_exceeding]).
  rewrite <- (joint_probability_of_first n m p q) in Hlikely.
  rewrite <- (joint_probability_of_second n m p q) in Hunlikely.
  apply Rle_trans with (alpha / 2 + alpha / 2); [| lra].
  eapply Rle_trans; [| apply Rplus_le_compat; [exact Hlikely | exact Hunlikely]].
  apply joint_probability_union; [exact Hp | exact Hq |]; intros j k H; apply orb_true_iff.
  unfold likely, unlikely; rewrite !not_exceeding.
  exact (contradiction_is_rare n m epsilon delta alpha j k p q Hp Hq Hprivate (Hevent j k H)).
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
   binomial_tail_at_most n j p (one - p) part (2 * level) (Z.to_nat up_n) (Z.to_nat down_n) &&
   binomial_tail_at_most m (m - k) (one - q) q part (2 * level) (Z.to_nat up_m) (Z.to_nat down_m))%Z.

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
  binomial_tail_at_most n j p (one - p) a d up down = true ->
  at_least (Z.to_nat n) (Z.to_nat j) (IZR p / IZR one) <= IZR a / IZR d.
Proof.
  intros n j p one a d up down Hone Hj H.
  replace (IZR p / IZR one) with (IZR p / (IZR p + IZR (one - p)))
    by (rewrite minus_IZR; f_equal; ring).
  apply (binomial_tail_at_most_correct (Z.to_nat n) (Z.to_nat j) p (one - p) a d up down).
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
