(** * The auditor's joint bound: two p-values, one significance

    At a pair (p, q) of probabilities the counts give two p-values, u and v: the chance of at least j
    successes in n trials, and of at most k successes in m trials. If a rule rejects pairs by u and v, it
    rejects the true pair no more often than it would reject two independent uniform numbers: given v, the
    chance that u is at most l(v) is at most l(v). All probabilities are finite sums. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums BinomialLaw.
Import ListNotations.
Open Scope R_scope.

(** ** Rules *)

(** A rule of significance alpha: it rejects (u, v) only below the graph of a nonincreasing function of v
    whose area is at most alpha. *)
Definition significance (alpha : R) (reject : R -> R -> bool) : Prop := exists l : R -> R,
  (forall v, 0 <= v <= 1 -> 0 <= l v) /\
  (forall v v', 0 <= v <= v' -> v' <= 1 -> l v' <= l v) /\
  (forall u v, 0 <= u <= 1 -> 0 <= v <= 1 -> reject u v = true -> u <= l v) /\
  ex_RInt l 0 1 /\ RInt l 0 1 <= alpha.

(** The rule that looks at one count only has significance alpha; so there are rules. *)
Lemma significance_of_one_count : forall alpha, 0 <= alpha ->
  significance alpha (fun u _ => negb (exceeds u alpha)).
Proof.
  intros alpha Ha; exists (fun _ => alpha); split; [intros; exact Ha |]; split; [intros; apply Rle_refl |].
  split; [| split; [apply ex_RInt_const |]].
  - intros u v _ _ H; unfold exceeds in H; destruct (Rlt_dec alpha u); [discriminate | lra].
  - rewrite RInt_const; unfold scal; cbn; unfold mult; cbn; lra.
Qed.

(** ** The p-values *)

Lemma probability_at_most_one : forall n p event, 0 <= p <= 1 -> probability n p event <= 1.
Proof.
  intros n p event Hp; rewrite <- (probability_total n p).
  apply probability_monotone_events; [exact Hp | reflexivity].
Qed.

(** The chance that the first p-value is at most t is at most t. *)
Lemma at_least_is_valid : forall n p t (event : nat -> bool), 0 <= p <= 1 -> 0 <= t ->
  (forall j, event j = true -> at_least n j p <= t) -> probability n p event <= t.
Proof.
  intros n p t event Hp Ht Hevent; destruct (smallest event n) as [Hnone | [k [_ [Hk Hfirst]]]].
  - apply Rle_trans with 0; [| exact Ht]; right; apply sum_zero; intros j Hj.
    unfold outcomes in Hj; apply in_seq in Hj; rewrite Hnone by lia; reflexivity.
  - apply Rle_trans with (at_least n k p); [| apply Hevent; exact Hk].
    apply probability_monotone_events; [exact Hp |]; intros j Hj; apply Nat.leb_le.
    destruct (Nat.le_gt_cases k j) as [H | H]; [exact H | rewrite (Hfirst j H) in Hj; discriminate].
Qed.

(** The second p-value is a running sum of the probabilities. *)
Lemma sum_up_to : forall n k f, (k <= n)%nat ->
  sum_over (outcomes n) (fun j => if j <=? k then f j else 0) = sum_over (outcomes k) f.
Proof.
  induction n as [| n IH]; intros k f H.
  - replace k with 0%nat by lia; reflexivity.
  - destruct (Nat.eq_dec k (S n)) as [-> | Hne].
    + apply sum_ext; intros j Hj; unfold outcomes in Hj; apply in_seq in Hj.
      destruct (Nat.leb_spec j (S n)); [reflexivity | lia].
    + rewrite sum_last, IH by lia; destruct (Nat.leb_spec (S n) k); [lia | ring].
Qed.

Lemma at_most_S : forall m k q, (S k <= m)%nat -> at_most m (S k) q = at_most m k q + binomial m (S k) q.
Proof.
  intros m k q H; unfold at_most, probability; rewrite !sum_up_to by lia; apply sum_last.
Qed.

Lemma at_most_0 : forall m q, at_most m 0 q = binomial m 0 q.
Proof. intros m q; unfold at_most, probability; rewrite sum_up_to by lia; unfold outcomes; simpl; ring. Qed.

Lemma at_most_all : forall m q, at_most m m q = 1.
Proof.
  intros m q; unfold at_most, probability; rewrite sum_up_to by lia; exact (probability_total m q).
Qed.

(** ** The area *)

(** The expectation of l at the second p-value is a lower sum of its integral. *)
Section LowerSum.
Variable l : R -> R.
Hypothesis nonincreasing : forall v v', 0 <= v <= v' -> v' <= 1 -> l v' <= l v.
Hypothesis integrable : ex_RInt l 0 1.

Lemma integrable_within : forall a b, 0 <= a <= b -> b <= 1 -> ex_RInt l a b.
Proof.
  intros a b Ha Hb; apply (ex_RInt_Chasles_2 l 0 a b); [exact Ha |].
  apply (ex_RInt_Chasles_1 l 0 b 1); [lra | exact integrable].
Qed.

Lemma step_below_integral : forall a b, 0 <= a <= b -> b <= 1 -> (b - a) * l b <= RInt l a b.
Proof.
  intros a b Ha Hb; replace ((b - a) * l b) with (RInt (fun _ => l b) a b)
    by (rewrite RInt_const; reflexivity).
  apply RInt_le; [lra | apply ex_RInt_const | apply integrable_within; assumption |].
  intros x Hx; apply nonincreasing; lra.
Qed.

Lemma lower_sum : forall m q, 0 <= q <= 1 -> forall k, (k <= m)%nat ->
  sum_over (outcomes k) (fun i => binomial m i q * l (at_most m i q)) <= RInt l 0 (at_most m k q).
Proof.
  intros m q Hq; assert (Hrange : forall k, 0 <= at_most m k q <= 1)
    by (intros k; split; [apply probability_nonneg | apply probability_at_most_one]; exact Hq).
  induction k as [| k IH]; intros Hk.
  - assert (H := step_below_integral 0 (at_most m 0 q)
      (conj (Rle_refl 0) (proj1 (Hrange 0%nat))) (proj2 (Hrange 0%nat))).
    rewrite Rminus_0_r in H; unfold outcomes; cbn [seq]; rewrite sum_cons.
    change (sum_over nil _) with 0; rewrite Rplus_0_r, <- at_most_0; exact H.
  - rewrite sum_last; assert (Hstep := at_most_S m k q Hk).
    assert (Hweight := binomial_nonneg m (S k) q Hq).
    assert (H := step_below_integral (at_most m k q) (at_most m (S k) q)
      ltac:(split; [apply Hrange | rewrite Hstep; lra]) (proj2 (Hrange (S k)))).
    replace (at_most m (S k) q - at_most m k q) with (binomial m (S k) q) in H by lra.
    rewrite <- (RInt_Chasles l 0 (at_most m k q) (at_most m (S k) q)).
    + apply Rplus_le_compat; [apply IH; lia | exact H].
    + apply integrable_within; [split; [apply Rle_refl | apply Hrange] | apply Hrange].
    + apply integrable_within; [split; [apply Hrange | rewrite Hstep; lra] | apply Hrange].
Qed.
End LowerSum.

(** ** The true pair, and the bound *)

(** A rule of significance alpha rejects the true pair with probability at most alpha. *)
Theorem true_pair_rejected : forall n m p q alpha reject, 0 <= p <= 1 -> 0 <= q <= 1 ->
  significance alpha reject ->
  joint_probability n m p q (fun j k => reject (at_least n j p) (at_most m k q)) <= alpha.
Proof.
  intros n m p q alpha reject Hp Hq [l [Hl [Hdecreasing [Hreject [Hintegrable Harea]]]]].
  apply Rle_trans with (RInt l 0 1); [| exact Harea].
  rewrite <- (at_most_all m q).
  eapply Rle_trans; [| apply (lower_sum l Hdecreasing Hintegrable m q Hq m); lia].
  unfold joint_probability; rewrite sum_swap; apply sum_le; intros k _.
  assert (Hv : 0 <= at_most m k q <= 1)
    by (split; [apply probability_nonneg | apply probability_at_most_one]; exact Hq).
  rewrite (sum_ext _ _ (fun j => binomial m k q *
    (if reject (at_least n j p) (at_most m k q) then binomial n j p else 0)))
    by (intros j _; destruct reject; ring).
  rewrite sum_scal; apply Rmult_le_compat_l; [apply binomial_nonneg; exact Hq |].
  apply (at_least_is_valid n p (l (at_most m k q)) (fun j => reject (at_least n j p) (at_most m k q)));
    [exact Hp | apply Hl; exact Hv |].
  intros j Hj; apply Hreject; [| exact Hv | exact Hj].
  split; [apply probability_nonneg | apply probability_at_most_one]; exact Hp.
Qed.

(** So does whatever happens only where the rule rejects the true pair. *)
Lemma only_where_rejected : forall n m p q alpha reject (event : nat -> nat -> bool),
  0 <= p <= 1 -> 0 <= q <= 1 -> significance alpha reject ->
  (forall j k, (j <= n)%nat -> (k <= m)%nat -> event j k = true ->
    reject (at_least n j p) (at_most m k q) = true) ->
  joint_probability n m p q event <= alpha.
Proof.
  intros n m p q alpha reject event Hp Hq Hrule Hevent.
  eapply Rle_trans; [| apply (true_pair_rejected n m p q alpha reject Hp Hq Hrule)].
  apply sum_le; intros j Hj; apply sum_le; intros k Hk.
  unfold outcomes in Hj, Hk; apply in_seq in Hj; apply in_seq in Hk.
  assert (Hweight : 0 <= binomial n j p * binomial m k q)
    by (apply Rmult_le_pos; apply binomial_nonneg; assumption).
  destruct (event j k) eqn:E; [rewrite (Hevent j k) by (lia || exact E); apply Rle_refl |].
  destruct reject; lra.
Qed.

(** No larger than any epsilon >= 0 that a pair which the counts do not reject allows at delta. *)
Definition below_region (n m : nat) (delta : R) (reject : R -> R -> R -> R -> bool) (B : nat -> nat -> R)
    : Prop :=
  forall j k p q epsilon, (j <= n)%nat -> (k <= m)%nat -> 0 <= p <= 1 -> 0 <= q <= 1 -> 0 <= epsilon ->
  p <= exp epsilon * q + delta -> reject p q (at_least n j p) (at_most m k q) = false -> B j k <= epsilon.

(** Such a bound exceeds the true epsilon with probability at most alpha. *)
Theorem region_bound : forall n m p q alpha epsilon delta reject B, 0 <= p <= 1 -> 0 <= q <= 1 ->
  0 <= epsilon -> significance alpha (reject p q) -> below_region n m delta reject B ->
  p <= exp epsilon * q + delta ->
  joint_probability n m p q (fun j k => exceeds (B j k) epsilon) <= alpha.
Proof.
  intros n m p q alpha epsilon delta reject B Hp Hq Hepsilon Hrule HB Hprivate.
  apply (only_where_rejected n m p q alpha (reject p q)); [exact Hp | exact Hq | exact Hrule |].
  intros j k Hj Hk E; apply exceeds_true in E.
  destruct (reject p q (at_least n j p) (at_most m k q)) eqn:Erule; [reflexivity |].
  assert (H := HB j k p q epsilon Hj Hk Hp Hq Hepsilon Hprivate Erule); lra.
Qed.
