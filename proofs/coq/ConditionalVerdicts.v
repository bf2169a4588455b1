(** * Verdicts by the conditional bound: rare events, delta = 0

    Given the total of the two counts, the law of the likely one depends on the chances p and q only
    through their odds ratio. The counts j and k contradict epsilon if for some p0 and omega three things
    hold: the chance of at most j at p0 is at most alpha / 1000; given the total, that of at least j is at
    most 999 alpha / 1000 at every odds ratio up to omega; and exp(epsilon) is at most p0 + omega (1 - p0).
    A private mechanism is contradicted with probability at most alpha. Whole numbers decide it, as in
    [Verdicts.v]. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith Lia Lra.
From CFM Require Import Definitions Sums BinomialLaw JointBound SigmaBound Tails Verdicts.
Open Scope R_scope.

(** ** The law of the likely count, given the total *)

(** The chance of i on one input and of the rest of the total on the other. *)
Definition split_chance (n m total : nat) (p q : R) (i : nat) : R :=
  if (i <=? total)%nat then binomial n i p * binomial m (total - i) q else 0.

Definition rare_given_total (n m total j : nat) (omega share : R) : Prop :=
  forall p q, 0 <= p <= 1 -> 0 <= q <= 1 -> p * (1 - q) <= omega * (q * (1 - p)) ->
  tail_sum (split_chance n m total p q) total j <= share * tail_sum (split_chance n m total p q) total 0.

Definition contradicts_given_total (n m : nat) (epsilon alpha : R) (j k : nat) : Prop :=
  exists p0 omega, 0 <= p0 <= 1 /\ 1 <= omega /\ exp epsilon <= p0 + omega * (1 - p0) /\
    at_most n j p0 <= alpha / 1000 /\ rare_given_total n m (j + k) j omega (alpha - alpha / 1000).

Lemma split_chance_nonneg : forall n m total p q i, 0 <= p <= 1 -> 0 <= q <= 1 ->
  0 <= split_chance n m total p q i.
Proof.
  intros n m total p q i Hp Hq; unfold split_chance; destruct (i <=? total)%nat; [| lra].
  apply Rmult_le_pos; apply binomial_nonneg; assumption.
Qed.

(** ** Sums by the total *)

Lemma sum_extended : forall (f : nat -> R) m extra, (forall k, (m < k)%nat -> f k = 0) ->
  sum_over (outcomes (m + extra)) f = sum_over (outcomes m) f.
Proof.
  intros f m extra Hf; induction extra as [| extra IH]; [rewrite Nat.add_0_r; reflexivity |].
  rewrite Nat.add_succ_r, sum_last, IH, Hf by lia; ring.
Qed.

Lemma sum_triangle : forall (f : nat -> nat -> R) size,
  sum_over (outcomes size) (fun total => sum_over (outcomes total) (fun i => f i (total - i)%nat)) =
  sum_over (outcomes size) (fun i => sum_over (outcomes (size - i)) (f i)).
Proof.
  intros f; induction size as [| size IH]; [reflexivity |].
  rewrite !sum_last, IH, Nat.sub_diag, <- Rplus_assoc, <- sum_plus; f_equal.
  - apply sum_ext; intros i Hi; unfold outcomes in Hi; apply in_seq in Hi.
    replace (S size - i)%nat with (S (size - i)) by lia; rewrite sum_last; reflexivity.
  - unfold outcomes at 1; cbn; ring.
Qed.

Lemma sum_by_total : forall (f : nat -> nat -> R) n m, (forall j k, (n < j)%nat -> f j k = 0) ->
  (forall j k, (m < k)%nat -> f j k = 0) ->
  sum_over (outcomes n) (fun j => sum_over (outcomes m) (f j)) =
  sum_over (outcomes (n + m)) (fun total => sum_over (outcomes total) (fun i => f i (total - i)%nat)).
Proof.
  intros f n m Hn Hm; rewrite sum_triangle.
  rewrite (sum_extended (fun i => sum_over (outcomes (n + m - i)) (f i)) n m).
  - apply sum_ext; intros i Hi; unfold outcomes in Hi; apply in_seq in Hi.
    replace (n + m - i)%nat with (m + (n - i))%nat by lia; rewrite sum_extended by (intros k; apply Hm);
      reflexivity.
  - intros i Hi; apply sum_zero; intros k _; apply Hn, Hi.
Qed.

Lemma joint_probability_by_total : forall n m p q event, joint_probability n m p q event =
  sum_over (outcomes (n + m)) (fun total => sum_over (outcomes total)
    (fun i => if event i (total - i)%nat then split_chance n m total p q i else 0)).
Proof.
  intros n m p q event; unfold joint_probability.
  rewrite (sum_by_total (fun j k => if event j k then binomial n j p * binomial m k q else 0)).
  - apply sum_ext; intros total _; apply sum_ext; intros i Hi; unfold outcomes in Hi; apply in_seq in Hi.
    unfold split_chance; destruct (Nat.leb_spec i total); [reflexivity | lia].
  - intros j k Hj; rewrite (binomial_above n j) by exact Hj; destruct (event j k); ring.
  - intros j k Hk; rewrite (binomial_above m k) by exact Hk; destruct (event j k); ring.
Qed.

(** ** How rarely a true claim is contradicted *)

(** What is rare given every total is rare. *)
Lemma rare_by_total : forall n m p q share (event : nat -> nat -> bool), 0 <= p <= 1 -> 0 <= q <= 1 ->
  0 <= share ->
  (forall j k, event j k = true ->
    tail_sum (split_chance n m (j + k) p q) (j + k) j <= share * tail_sum (split_chance n m (j + k) p q)
      (j + k) 0) ->
  joint_probability n m p q event <= share.
Proof.
  intros n m p q share event Hp Hq Hshare Hevent; rewrite <- (Rmult_1_r share).
  rewrite <- (probability_total n p), <- (joint_probability_of_first n m p q), !joint_probability_by_total,
    <- sum_scal.
  apply sum_le; intros total _; fold (tail_sum (split_chance n m total p q) total 0).
  assert (Hall : 0 <= tail_sum (split_chance n m total p q) total 0)
    by (apply sum_nonneg; intros i _; apply split_chance_nonneg; assumption).
  destruct (smallest (fun i => event i (total - i)%nat) total) as [Hnone | [j [Hj [Hin Hfirst]]]].
  - apply Rle_trans with 0; [| apply Rmult_le_pos; assumption].
    right; apply sum_zero; intros i Hi; unfold outcomes in Hi; apply in_seq in Hi; rewrite Hnone by lia;
      reflexivity.
  - apply Hevent in Hin; replace (j + (total - j))%nat with total in Hin by lia.
    eapply Rle_trans; [| exact Hin]; apply sum_le; intros i _.
    assert (H0 := split_chance_nonneg n m total p q i Hp Hq).
    destruct (Nat.leb_spec j i) as [H | H]; [destruct (event i _); lra | rewrite (Hfirst i H); lra].
Qed.

(** Either the likely count is small at the true p, or it is large at the true odds ratio, given the total. *)
Lemma contradiction_given_total_is_rare : forall n m epsilon alpha j k p q, 0 <= p <= 1 -> 0 <= q <= 1 ->
  p <= exp epsilon * q -> contradicts_given_total n m epsilon alpha j k ->
  at_most n j p <= alpha / 1000 \/
  tail_sum (split_chance n m (j + k) p q) (j + k) j <=
    (alpha - alpha / 1000) * tail_sum (split_chance n m (j + k) p q) (j + k) 0.
Proof.
  intros n m epsilon alpha j k p q Hp Hq Hprivate [p0 [omega [Hp0 [Homega [Hexp [Hj Hrare]]]]]].
  destruct (Rle_dec p0 p) as [Hle | Hgt].
  - left; eapply Rle_trans; [| exact Hj]; apply at_most_falls; lra.
  - right; apply Hrare; try assumption.
    assert (0 <= (p0 - p) * (omega - 1)) by (apply Rmult_le_pos; lra).
    assert (exp epsilon * q <= (p + omega * (1 - p)) * q) by (apply Rmult_le_compat_r; lra); lra.
Qed.

Theorem conditional_verdict_false_alarm : forall n m epsilon alpha p q (event : nat -> nat -> bool),
  0 <= p <= 1 -> 0 <= q <= 1 -> 0 <= alpha -> p <= exp epsilon * q ->
  (forall j k, event j k = true -> contradicts_given_total n m epsilon alpha j k) ->
  joint_probability n m p q event <= alpha.
Proof.
  intros n m epsilon alpha p q event Hp Hq Ha Hprivate Hevent.
  set (few j := negb (exceeds (at_most n j p) (alpha / 1000))).
  set (rest j k := event j k && negb (few j)).
  assert (Hfew : probability n p few <= alpha / 1000)
    by (apply at_most_is_valid; [exact Hp | lra | intros j; apply not_exceeding]).
  assert (Hrest : joint_probability n m p q rest <= alpha - alpha / 1000).
  { apply rare_by_total; [exact Hp | exact Hq | lra |]; intros j k H; apply andb_true_iff in H;
      destruct H as [He Hf].
    destruct (contradiction_given_total_is_rare n m epsilon alpha j k p q Hp Hq Hprivate (Hevent j k He))
      as [H | H];
      [| exact H].
    apply not_exceeding in H; unfold few in Hf; rewrite H in Hf; discriminate Hf. }
  rewrite <- (joint_probability_of_first n m p q few) in Hfew.
  replace alpha with (alpha / 1000 + (alpha - alpha / 1000)) by lra.
  eapply Rle_trans; [| apply Rplus_le_compat; [exact Hfew | exact Hrest]].
  apply joint_probability_union; [exact Hp | exact Hq |]; intros j k H; unfold rest; rewrite H.
  destruct (few j); reflexivity.
Qed.

(** ** Deciding it *)

(** From one split of the total to the next the chance grows at most by num / den, at odds ratios up to
    [odds] / [one]. *)
Definition split_num (n total odds k : Z) : Z := ((n - k) * (total - k) * odds)%Z.
Definition split_den (m total one k : Z) : Z := ((k + 1) * (m - total + k + 1) * one)%Z.

Definition rare_split (one odds n m total j a c : Z) (up down : nat) : bool :=
  tail_at_most (split_num n total odds) (split_den m total one) (Z.max 0 (total - m)) (Z.min n total)
    j a c up down.

(** [p] and [odds] are numerators over [one], x is at most exp(- a / b) in fixed point. *)
Definition contradict_given_total_at (one x n m j k level part p odds up_few down_few up_many down_many : Z)
  : bool :=
  ((0 <=? j) && (j <=? n) && (0 <=? k) && (k <=? m) && (0 <? p) && (p <? one) && (0 <? level)
    && (one <=? odds) &&
   (fixed_one * one * one <=? x * (p * one + odds * (one - p))) &&
   binomial_tail_at_most n (n - j) (one - p) p part (1000 * level) (Z.to_nat up_few) (Z.to_nat down_few) &&
   rare_split one odds n m (j + k) j (999 * part) (1000 * level) (Z.to_nat up_many) (Z.to_nat down_many))%Z.

Definition counts_contradict_given_total (n m j k a b level part p odds up_few down_few up_many down_many : Z)
    : bool :=
  ((0 <? b) && (0 <=? fixed_one - (a * fixed_one / (b * 2 ^ 40) + 1)) &&
   contradict_given_total_at (2 ^ 48) (exp_minus_lower a b) n m j k level part p odds up_few down_few
     up_many down_many)%Z.

(** The next split against this one: what is known of the odds ratio suffices. *)
Lemma next_split : forall n m total p q omega i, 0 <= p <= 1 -> 0 <= q <= 1 -> 0 <= omega ->
  p * (1 - q) <= omega * (q * (1 - p)) -> (i < n)%nat -> (i < total)%nat -> (total <= m + i)%nat ->
  split_chance n m total p q (S i) * (INR (S i) * INR (m - (total - S i))) <=
  split_chance n m total p q i * (INR (n - i) * INR (total - i) * omega).
Proof.
  intros n m total p q omega i Hp Hq Homega Hodds Hn Hi Hm; unfold split_chance.
  destruct (Nat.leb_spec (S i) total) as [_ | H]; [| lia]; destruct (Nat.leb_spec i total) as [_ | H];
    [| lia].
  assert (Hfirst := binomial_ratio n i p ltac:(lia)).
  assert (Hsecond := binomial_ratio m (total - S i) q ltac:(lia)).
  replace (S (total - S i)) with (total - i)%nat in Hsecond by lia.
  set (b := binomial n i p) in *; set (b' := binomial n (S i) p) in *.
  set (c := binomial m (total - i) q) in *; set (c' := binomial m (total - S i) q) in *.
  set (u := INR (S i)) in *; set (v := INR (n - i)) in *.
  set (w := INR (total - i)) in *; set (t := INR (m - (total - S i))) in *.
  assert (Hb : 0 <= b) by (apply binomial_nonneg, Hp); assert (Hc : 0 <= c) by (apply binomial_nonneg, Hq).
  assert (Hv : 0 <= v) by apply pos_INR; assert (Hw : 0 <= w) by apply pos_INR.
  destruct (Rle_lt_dec (q * (1 - p)) 0) as [Hzero | Hpositive].
  - apply Rle_trans with 0; [right | repeat apply Rmult_le_pos; assumption].
    assert (0 <= q * (1 - p)) by (apply Rmult_le_pos; lra).
    assert (Hnull : q * (1 - p) = 0) by lra; rewrite Hnull, Rmult_0_r in Hodds.
    destruct (Rmult_integral _ _ Hnull) as [Hq0 | Hp1].
    + assert (p = 0) by (rewrite Hq0 in Hodds; lra); subst p.
      replace (b' * c' * (u * t)) with (c' * t * (u * b')) by ring; replace (u * b') with 0 by lra; ring.
    + assert (p = 1) by lra; assert (q = 1) by (subst p; lra); subst p q.
      replace (b' * c' * (u * t)) with (b' * u * (t * c')) by ring; replace (t * c') with 0 by lra; ring.
  - apply Rmult_le_reg_r with (q * (1 - p)); [exact Hpositive |].
    replace (b' * c' * (u * t) * (q * (1 - p))) with (u * (1 - p) * b' * (t * q * c')) by ring.
    rewrite Hfirst, <- Hsecond.
    replace (v * p * b * (w * (1 - q) * c)) with (b * c * (v * w) * (p * (1 - q))) by ring.
    replace (b * c * (v * w * omega) * (q * (1 - p))) with (b * c * (v * w) * (omega * (q * (1 - p))))
      by ring.
    apply Rmult_le_compat_l; [| exact Hodds]; repeat apply Rmult_le_pos; assumption.
Qed.

(** What is rare for whole numbers is rare at every odds ratio up to theirs. *)
Lemma rare_split_correct : forall one odds n m total j a c up down, (0 < one)%Z -> (0 < odds)%Z ->
  rare_split one odds (Z.of_nat n) (Z.of_nat m) (Z.of_nat total) (Z.of_nat j) a c up down = true ->
  rare_given_total n m total j (IZR odds / IZR one) (IZR a / IZR c).
Proof.
  intros one odds n m total j a c up down Hone Hodds H p q Hp Hq Hratio.
  assert (HO : 0 < IZR one) by (apply (IZR_lt 0); exact Hone).
  assert (HW : 0 < IZR odds) by (apply (IZR_lt 0); exact Hodds).
  unfold rare_split in H; replace (Z.max 0 (Z.of_nat total - Z.of_nat m)) with (Z.of_nat (total - m))
    in H by lia.
  rewrite <- Nat2Z.inj_min in H.
  refine (tail_at_most_correct (split_chance n m total p q) total (total - m) (Nat.min n total) _ _
    _ _ _ _ _ _ _ _ _ j a c up down H).
  - intros k; apply split_chance_nonneg; assumption.
  - lia.
  - intros k Hk; unfold split_chance; destruct (Nat.leb_spec (S k) total) as [Hle | Hgt]; [| reflexivity].
    rewrite binomial_above by lia; ring.
  - intros k Hk; unfold split_num, split_den.
    replace (Z.of_nat k + 1)%Z with (Z.of_nat (S k)) by lia.
    replace (Z.of_nat m - Z.of_nat total + Z.of_nat k + 1)%Z with (Z.of_nat (m - (total - S k))) by lia.
    replace (Z.of_nat n - Z.of_nat k)%Z with (Z.of_nat (n - k)) by lia.
    replace (Z.of_nat total - Z.of_nat k)%Z with (Z.of_nat (total - k)) by lia.
    assert (Hnext := next_split n m total p q (IZR odds / IZR one) k Hp Hq
      ltac:(left; apply Rdiv_lt_0_compat; assumption) Hratio ltac:(lia) ltac:(lia) ltac:(lia)).
    apply (Rmult_le_compat_r (IZR one)) in Hnext; [| lra].
    rewrite !mult_IZR, <- !INR_IZR_INZ; replace (IZR odds) with (IZR odds / IZR one * IZR one) by (field;
      lra); lra.
  - intros k Hk; unfold split_num; repeat apply Z.mul_nonneg_nonneg; lia.
  - intros k Hk; unfold split_num; repeat apply Z.mul_pos_pos; lia.
  - intros k Hk; unfold split_den; repeat apply Z.mul_pos_pos; lia.
  - intros k i Hki; apply Z.mul_le_mono_nonneg_r; [lia | apply Z.mul_le_mono_nonneg; lia].
  - intros k i Hk Hi; apply Z.mul_le_mono_nonneg_r; [lia | apply Z.mul_le_mono_nonneg; lia].
Qed.

(** The bound on exp(epsilon), from a bound of exp(- epsilon) by whole numbers. *)
Lemma ratio_of_whole_numbers : forall one x e p odds, (0 < one)%Z -> (0 <= x)%Z -> fixed x * exp e <= 1 ->
  (0 <= p * one + odds * (one - p))%Z -> (fixed_one * one * one <= x * (p * one + odds * (one - p)))%Z ->
  exp e <= IZR p / IZR one + IZR odds / IZR one * (1 - IZR p / IZR one).
Proof.
  intros one x e p odds Hone Hx0 Hx Hsum0 H; apply (IZR_lt 0) in Hone; assert (HU := one_pos).
  apply (IZR_le 0) in Hsum0; apply IZR_le in H; rewrite !mult_IZR in H.
  set (s := IZR (p * one + odds * (one - p))) in *.
  assert (Hs : IZR p / IZR one + IZR odds / IZR one * (1 - IZR p / IZR one) = s / (IZR one * IZR one))
    by (unfold s; rewrite plus_IZR, !mult_IZR, minus_IZR; field; lra).
  assert (HO : 0 < IZR one * IZR one) by (apply Rmult_lt_0_compat; assumption).
  rewrite Hs; apply Rmult_le_reg_r with (IZR one * IZR one); [exact HO |].
  unfold Rdiv; rewrite (Rmult_assoc s), Rinv_l, Rmult_1_r by lra.
  assert (Hbound : IZR one * IZR one <= fixed x * s).
  { apply Rmult_le_reg_r with (IZR fixed_one); [exact HU |].
    replace (fixed x * s * IZR fixed_one) with (IZR x * s) by (unfold fixed; field; lra); lra. }
  assert (He := exp_pos e).
  apply Rle_trans with (exp e * (fixed x * s)); [apply Rmult_le_compat_l; lra |].
  replace (exp e * (fixed x * s)) with (fixed x * exp e * s) by ring.
  rewrite <- (Rmult_1_l s) at 2; apply Rmult_le_compat_r; assumption.
Qed.

Lemma contradict_given_total_at_correct :
  forall one x n m j k e level part p odds up_few down_few up_many down_many,
  (0 < one)%Z -> (0 <= x)%Z -> fixed x * exp e <= 1 ->
  contradict_given_total_at one x n m j k level part p odds up_few down_few up_many down_many = true ->
  contradicts_given_total (Z.to_nat n) (Z.to_nat m) e (IZR part / IZR level) (Z.to_nat j) (Z.to_nat k).
Proof.
  intros one x n m j k e level part p odds up_few down_few up_many down_many Hone Hx0 Hx H.
  unfold contradict_given_total_at in H; rewrite !andb_true_iff in H.
  destruct H as [[[[[[[[[[Hj Hjn] Hk] Hkm] Hp] Hp1] Hlevel] Hodds] Hexp] Hfew] Hmany].
  apply Z.leb_le in Hj, Hjn, Hk, Hkm, Hodds, Hexp; apply Z.ltb_lt in Hp, Hp1, Hlevel.
  assert (HO : 0 < IZR one) by (apply (IZR_lt 0); exact Hone).
  assert (HL : 0 < IZR level) by (apply (IZR_lt 0); exact Hlevel).
  exists (IZR p / IZR one), (IZR odds / IZR one); repeat split.
  - apply Rmult_le_pos; [apply (IZR_le 0); lia | left; apply Rinv_0_lt_compat, HO].
  - apply Rmult_le_reg_r with (IZR one); [exact HO |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra.
    rewrite Rmult_1_r, Rmult_1_l; apply IZR_le; lia.
  - apply Rmult_le_reg_r with (IZR one); [exact HO |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra.
    rewrite Rmult_1_r, Rmult_1_l; apply IZR_le; lia.
  - apply (ratio_of_whole_numbers one x); try assumption; nia.
  - rewrite at_most_reversed by lia; replace (Z.to_nat n - Z.to_nat j)%nat with (Z.to_nat (n - j)) by lia.
    replace (1 - IZR p / IZR one) with (IZR (one - p) / IZR one) by (rewrite minus_IZR; field; lra).
    replace (IZR part / IZR level / 1000) with (IZR part / IZR (1000 * level)) by (rewrite mult_IZR; field;
      lra).
    apply (tail_of_whole_numbers n (n - j) (one - p) one part (1000 * level) (Z.to_nat up_few)
      (Z.to_nat down_few)
      Hone); [lia | replace (one - (one - p))%Z with p by lia; exact Hfew].
  - replace (IZR part / IZR level - IZR part / IZR level / 1000) with (IZR (999 * part) / IZR (1000 * level))
      by (rewrite !mult_IZR; field; lra).
    apply (rare_split_correct one odds (Z.to_nat n) (Z.to_nat m) (Z.to_nat j + Z.to_nat k) (Z.to_nat j)
      (999 * part)
      (1000 * level) (Z.to_nat up_many) (Z.to_nat down_many)); [exact Hone | lia |].
    rewrite Nat2Z.inj_add, !Z2Nat.id by lia; exact Hmany.
Qed.

Theorem counts_contradict_given_total_correct :
  forall n m j k a b level part p odds up_few down_few up_many down_many,
  counts_contradict_given_total n m j k a b level part p odds up_few down_few up_many down_many = true ->
  contradicts_given_total (Z.to_nat n) (Z.to_nat m) (IZR a / IZR b) (IZR part / IZR level)
    (Z.to_nat j) (Z.to_nat k).
Proof.
  intros n m j k a b level part p odds up_few down_few up_many down_many H.
  unfold counts_contradict_given_total in H; rewrite !andb_true_iff in H; destruct H as [[Hb He] H].
  apply Z.ltb_lt in Hb; apply Z.leb_le in He; destruct (exp_minus_lower_correct a b Hb He) as [Hx0 Hx].
  exact (contradict_given_total_at_correct (2 ^ 48) (exp_minus_lower a b) n m j k (IZR a / IZR b)
    level part p odds
    up_few down_few up_many down_many eq_refl Hx0 Hx H).
Qed.
