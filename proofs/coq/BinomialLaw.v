(** * The auditor's bounds: exact binomial limits and their joint use

    Clopper and Pearson's limits miss the true probability no more often than stated. A lower limit for one
    input and an upper limit for the other together bound epsilon from below. All probabilities are finite
    sums. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums.
Import ListNotations.
Open Scope R_scope.

(** Probability of k successes in n independent trials. *)
Fixpoint binomial (n k : nat) (p : R) : R :=
  match n, k with
  | O, O => 1
  | O, S _ => 0
  | S n', O => (1 - p) * binomial n' 0 p
  | S n', S k' => p * binomial n' k' p + (1 - p) * binomial n' (S k') p
  end.

Definition outcomes (n : nat) : list nat := seq 0 (S n).

(** Probability of a set of outcomes, and of at least k successes. *)
Definition probability (n : nat) (p : R) (event : nat -> bool) : R :=
  sum_over (outcomes n) (fun k => if event k then binomial n k p else 0).
Definition at_least (n k : nat) (p : R) : R := probability n p (fun j => k <=? j).

Lemma binomial_nonneg : forall n k p, 0 <= p <= 1 -> 0 <= binomial n k p.
Proof.
  induction n as [| n IH]; intros [| k] p Hp; cbn [binomial]; try lra.
  - apply Rmult_le_pos; [lra | apply IH; exact Hp].
  - apply Rplus_le_le_0_compat; apply Rmult_le_pos; try lra; apply IH; exact Hp.
Qed.

Lemma binomial_above : forall n k p, (n < k)%nat -> binomial n k p = 0.
Proof.
  induction n as [| n IH]; intros [| k] p H; try lia; [reflexivity |].
  cbn [binomial]; rewrite !IH by lia; ring.
Qed.

Lemma choose_0 : forall n, C n 0 = 1.
Proof. intros n; unfold C; rewrite Nat.sub_0_r; change (INR (fact 0)) with 1; field; apply INR_fact_neq_0.
  Qed.

Lemma choose_n : forall n, C n n = 1.
Proof. intros n; unfold C; rewrite Nat.sub_diag; change (INR (fact 0)) with 1; field; apply INR_fact_neq_0.
  Qed.

(** The usual formula. *)
Lemma binomial_formula : forall n k p, (k <= n)%nat -> binomial n k p = C n k * p ^ k * (1 - p) ^ (n - k).
Proof.
  induction n as [| n IH]; intros k p H.
  - replace k with 0%nat by lia; rewrite choose_0; simpl; ring.
  - destruct k as [| k]; cbn [binomial].
    + rewrite IH by lia; rewrite !choose_0, !Nat.sub_0_r; simpl; ring.
    + destruct (Nat.eq_dec k n) as [-> | Hne].
      * rewrite (binomial_above n (S n)), IH by lia; rewrite !choose_n, !Nat.sub_diag; simpl; ring.
      * rewrite !IH by lia; rewrite <- pascal by lia.
        replace (S n - S k)%nat with (n - k)%nat by lia.
        replace (n - k)%nat with (S (n - S k)) by lia; simpl pow; ring.
Qed.

(** Splitting off the first outcome, or the last. *)
Lemma sum_first : forall n f, sum_over (outcomes (S n)) f
  = f 0%nat + sum_over (outcomes n) (fun k => f (S k)).
Proof.
  intros n f; unfold outcomes; change (seq 0 (S (S n))) with (0%nat :: seq 1 (S n)).
  rewrite sum_cons, <- (seq_shift (S n) 0), sum_map; reflexivity.
Qed.

Lemma sum_last : forall n f, sum_over (outcomes (S n)) f = sum_over (outcomes n) f + f (S n).
Proof.
  intros n f; unfold outcomes; rewrite (seq_S (S n)), sum_app; rewrite sum_cons; cbn; ring.
Qed.

Lemma probability_S : forall n p event,
  probability (S n) p event = p * probability n p (fun k => event (S k)) + (1 - p) * probability n p event.
Proof.
  intros n p event; unfold probability.
  rewrite sum_first; cbn [binomial].
  assert (H2 : sum_over (outcomes n) (fun k => if event k then binomial n k p else 0) =
    (if event 0%nat then binomial n 0 p else 0) +
    sum_over (outcomes n) (fun k => if event (S k) then binomial n (S k) p else 0)).
  { rewrite <- (sum_first n (fun k => if event k then binomial n k p else 0)), sum_last,
      (binomial_above n (S n)) by lia.
    destruct (event (S n)); ring. }
  rewrite H2, Rmult_plus_distr_l, <- !sum_scal.
  rewrite (sum_ext _ (fun k => if event (S k) then p * binomial n k p + (1 - p) * binomial n (S k) p else 0)
    (fun k => p * (if event (S k) then binomial n k p else 0)
      + (1 - p) * (if event (S k) then binomial n (S k) p else 0)))
    by (intros k _; destruct (event (S k)); ring).
  rewrite sum_plus; destruct (event 0%nat); ring.
Qed.

Lemma probability_monotone_events : forall n p e1 e2, 0 <= p <= 1 -> (forall k, e1 k = true -> e2 k = true) ->
  probability n p e1 <= probability n p e2.
Proof.
  intros n p e1 e2 Hp H; apply sum_le; intros k _; generalize (binomial_nonneg n k p Hp); intros.
  specialize (H k); destruct (e1 k); [rewrite H by reflexivity; lra | destruct (e2 k); lra].
Qed.

Lemma probability_nonneg : forall n p event, 0 <= p <= 1 -> 0 <= probability n p event.
Proof.
  intros n p event Hp; apply sum_nonneg; intros k _; destruct (event k);
    [apply binomial_nonneg; exact Hp | lra].
Qed.

Theorem probability_total : forall n p, probability n p (fun _ => true) = 1.
Proof.
  induction n as [| n IH]; intros p; [unfold probability, outcomes; simpl; ring |].
  rewrite probability_S, !IH; ring.
Qed.

(** At least k successes become likelier as p grows. *)
Lemma at_least_monotone : forall n k p q, 0 <= p <= q -> q <= 1 -> at_least n k p <= at_least n k q.
Proof.
  induction n as [| n IH]; intros k p q Hp Hq.
  - unfold at_least, probability, outcomes; simpl; destruct k; simpl; lra.
  - assert (Hsplit : forall u, at_least (S n) k u = u * at_least n (pred k) u + (1 - u) * at_least n k u).
    { intros u; unfold at_least; rewrite probability_S; destruct k; reflexivity. }
    assert (H1 := IH (pred k) p q Hp Hq); assert (H2 := IH k p q Hp Hq).
    assert (H3 : at_least n k p <= at_least n (pred k) p).
    { apply probability_monotone_events; [lra |]; intros j Hj; apply Nat.leb_le in Hj; apply Nat.leb_le;
        lia. }
    rewrite !Hsplit.
    assert (0 <= (q - p) * (at_least n (pred k) p - at_least n k p)) by (apply Rmult_le_pos; lra).
    assert (q * at_least n (pred k) p <= q * at_least n (pred k) q) by (apply Rmult_le_compat_l; lra).
    assert ((1 - q) * at_least n k p <= (1 - q) * at_least n k q) by (apply Rmult_le_compat_l; lra).
    lra.
Qed.

(** ** One limit *)

(** A lower limit of significance alpha: for every count k that can occur, at the limit the chance of k or
    more is at most alpha.  Clopper and Pearson's limit makes it alpha, and is 0 for k = 0. *)
Definition lower_limit (n : nat) (alpha : R) (L : nat -> R) : Prop :=
  forall k, (k <= n)%nat -> 0 <= L k <= 1 /\ (0 < L k -> at_least n k (L k) <= alpha).

Definition exceeds (u v : R) : bool := if Rlt_dec v u then true else false.

Lemma exceeds_true : forall u v, exceeds u v = true <-> v < u.
Proof. intros u v; unfold exceeds; destruct Rlt_dec; split; intros;
  [assumption | reflexivity | discriminate | contradiction]. Qed.

(** The smallest outcome of an event, if it has one. *)
Lemma smallest : forall (event : nat -> bool) n,
  (forall k, (k <= n)%nat -> event k = false) \/
  (exists k, (k <= n)%nat /\ event k = true /\ forall j, (j < k)%nat -> event j = false).
Proof.
  induction n as [| n [IH | [k [Hk IH]]]].
  - destruct (event 0%nat) eqn:E; [right; exists 0%nat; split; [lia | split; [exact E | intros; lia]] | left;
      intros k Hk; replace k with 0%nat by lia; exact E].
  - destruct (event (S n)) eqn:E.
    + right; exists (S n); split; [lia | split; [exact E | intros j Hj; apply IH; lia]].
    + left; intros k Hk; destruct (Nat.eq_dec k (S n)) as [-> | Hne]; [exact E | apply IH; lia].
  - right; exists k; split; [lia | exact IH].
Qed.

(** Coverage: the limit lies above p with probability at most alpha. *)
Theorem lower_limit_coverage : forall n alpha L p, 0 <= alpha -> 0 <= p <= 1 -> lower_limit n alpha L ->
  probability n p (fun k => exceeds (L k) p) <= alpha.
Proof.
  intros n alpha L p Ha Hp HL; destruct (smallest (fun k => exceeds (L k) p) n)
    as [Hnone | [k [Hk [Hbad Hfirst]]]].
  - apply Rle_trans with 0; [| exact Ha]; right; apply sum_zero; intros k Hk.
    unfold outcomes in Hk; apply in_seq in Hk; rewrite Hnone by lia; reflexivity.
  - apply exceeds_true in Hbad; destruct (HL k Hk) as [Hrange Htail].
    apply Rle_trans with (at_least n k p).
    + unfold at_least; apply probability_monotone_events; [exact Hp |]; intros j Hj; apply Nat.leb_le.
      destruct (Nat.le_gt_cases k j) as [H | H]; [exact H | rewrite (Hfirst j H) in Hj; discriminate].
    + eapply Rle_trans; [apply (at_least_monotone n k p (L k)); lra | apply Htail; lra].
Qed.

(** The same from above. *)
Definition at_most (n k : nat) (p : R) : R := probability n p (fun j => j <=? k).

Lemma at_most_at_least : forall n k p, at_most n k p = 1 - at_least n (S k) p.
Proof.
  intros n k p; rewrite <- (probability_total n p); unfold at_most, at_least, probability;
    rewrite <- sum_minus.
  apply sum_ext; intros j _; destruct (Nat.leb_spec j k), (Nat.leb_spec (S k) j); try lia; ring.
Qed.

Definition upper_limit (n : nat) (alpha : R) (U : nat -> R) : Prop :=
  forall k, (k <= n)%nat -> 0 <= U k <= 1 /\ (U k < 1 -> at_most n k (U k) <= alpha).

Lemma largest_outcome : forall (event : nat -> bool) n,
  (forall k, (k <= n)%nat -> event k = false) \/
  (exists k, (k <= n)%nat /\ event k = true /\ forall j, (k < j <= n)%nat -> event j = false).
Proof.
  induction n as [| n IH].
  - destruct (event 0%nat) eqn:E; [right; exists 0%nat; split; [lia | split; [exact E | intros; lia]] |].
    left; intros k Hk; replace k with 0%nat by lia; exact E.
  - destruct (event (S n)) eqn:E.
    + right; exists (S n); split; [lia | split; [exact E | intros; lia]].
    + destruct IH as [IH | [k [Hk [Hb IH]]]].
      * left; intros k Hk; destruct (Nat.eq_dec k (S n)) as [-> | Hne]; [exact E | apply IH; lia].
      * right; exists k; split; [lia | split; [exact Hb |]].
        intros j Hj; destruct (Nat.eq_dec j (S n)) as [-> | Hne]; [exact E | apply IH; lia].
Qed.

Theorem upper_limit_coverage : forall n alpha U p, 0 <= alpha -> 0 <= p <= 1 -> upper_limit n alpha U ->
  probability n p (fun k => exceeds p (U k)) <= alpha.
Proof.
  intros n alpha U p Ha Hp HU; destruct (largest_outcome (fun k => exceeds p (U k)) n)
    as [Hnone | [k [Hk [Hbad Hlast]]]].
  - apply Rle_trans with 0; [| exact Ha]; right; apply sum_zero; intros k Hk.
    unfold outcomes in Hk; apply in_seq in Hk; rewrite Hnone by lia; reflexivity.
  - apply exceeds_true in Hbad; destruct (HU k Hk) as [Hrange Htail].
    apply Rle_trans with (at_most n k p).
    + apply sum_le; intros j Hj; unfold outcomes in Hj; apply in_seq in Hj.
      generalize (binomial_nonneg n j p Hp); intros H0.
      destruct (Nat.leb_spec j k) as [H | H]; [destruct (exceeds p (U j)); lra |].
      rewrite (Hlast j) by lia; lra.
    + eapply Rle_trans; [| apply Htail; lra]; rewrite !at_most_at_least.
      generalize (at_least_monotone n (S k) (U k) p ltac:(lra) ltac:(lra)); lra.
Qed.

(** ** Two limits *)

(** Probability of an event of two independent counts. *)
Definition joint_probability (n m : nat) (p q : R) (event : nat -> nat -> bool) : R :=
  sum_over (outcomes n) (fun j => sum_over (outcomes m)
    (fun k => if event j k then binomial n j p * binomial m k q else 0)).

(** If the mechanism keeps (epsilon, delta) on an event, the two limits contradict it with probability at most
    alpha + beta. *)
Theorem joint_bound : forall n m p q alpha beta epsilon delta (L U : nat -> R),
  0 <= p <= 1 -> 0 <= q <= 1 ->
  0 <= alpha -> 0 <= beta -> lower_limit n alpha L -> upper_limit m beta U ->
  p <= exp epsilon * q + delta ->
  joint_probability n m p q (fun j k => exceeds (L j) (exp epsilon * U k + delta)) <= alpha + beta.
Proof.
  intros n m p q alpha beta epsilon delta L U Hp Hq Ha Hb HLim HUim Hprivate.
  assert (HL := lower_limit_coverage n alpha L p Ha Hp HLim);
    assert (HU := upper_limit_coverage m beta U q Hb Hq HUim).
  assert (Htotal : forall k r, sum_over (outcomes k) (fun i => binomial k i r) = 1)
    by exact probability_total.
  apply Rle_trans with (sum_over (outcomes n) (fun j => sum_over (outcomes m) (fun k =>
    (if exceeds (L j) p then binomial n j p else 0) * binomial m k q +
    binomial n j p * (if exceeds q (U k) then binomial m k q else 0)))).
  - apply sum_le; intros j _; apply sum_le; intros k _.
    generalize (binomial_nonneg n j p Hp) (binomial_nonneg m k q Hq); intros Hj Hk.
    assert (Hprod : 0 <= binomial n j p * binomial m k q) by (apply Rmult_le_pos; assumption).
    destruct (exceeds (L j) (exp epsilon * U k + delta)) eqn:E; [apply exceeds_true in E |].
    + destruct (exceeds (L j) p) eqn:E1; [destruct (exceeds q (U k)); lra |].
      destruct (exceeds q (U k)) eqn:E2; [lra |]; exfalso.
      assert (H1 : L j <= p) by (unfold exceeds in E1; destruct Rlt_dec; [discriminate | lra]).
      assert (H2 : q <= U k) by (unfold exceeds in E2; destruct Rlt_dec; [discriminate | lra]).
      assert (exp epsilon * q <= exp epsilon * U k) by (apply Rmult_le_compat_l;
        [apply Rlt_le, exp_pos | exact H2]).
      lra.
    + destruct (exceeds (L j) p), (exceeds q (U k)); lra.
  - rewrite (sum_ext _ _ (fun j => (if exceeds (L j) p then binomial n j p else 0) * 1
      + binomial n j p * probability m q (fun k => exceeds q (U k)))).
    + rewrite sum_plus, !sum_scal_r, Htotal; unfold probability in HL; lra.
    + intros j _; rewrite sum_plus, !sum_scal, Htotal; reflexivity.
Qed.
