(** * Adaptive Gaussian noise: squared shifts add up

    A mechanism releases numbers one after the other, each with Gaussian noise. Its centre and scale may
    depend on all numbers before it. If on every transcript the squared shifts between two data sets add up
    to at most mu^2, then all releases together have the profile of one Gaussian release of shift mu. The
    proof goes from the last number to the first, one coordinate at a time. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal Expectation Gaussian ExtendedGaussian.
Import ListNotations.
Open Scope R_scope.

(** ** Definitions *)

(** The expectation of a test of k more numbers, each with a density that depends on those before it. *)
Fixpoint adaptive_expectation (k : nat) (p : list R -> R -> R) (lower upper : list R -> R)
    (test : list R -> R) (past : list R) : R :=
  match k with
  | O => test past
  | S k' => RInt (fun t => p past t * adaptive_expectation k' p lower upper test (past ++ [t]))
      (lower past) (upper past)
  end.

(** Every iterated Riemann integral in it exists. *)
Fixpoint adaptive_integrable (k : nat) (p : list R -> R -> R) (lower upper : list R -> R)
    (test : list R -> R) (past : list R) : Prop :=
  match k with
  | O => True
  | S k' =>
      (forall t, lower past <= t <= upper past -> adaptive_integrable k' p lower upper test (past ++ [t]))
        /\
      ex_RInt (fun t => p past t * adaptive_expectation k' p lower upper test (past ++ [t]))
        (lower past) (upper past)
  end.

(** [indistinguishable] for transcripts of k numbers. *)
Definition adaptively_indistinguishable (epsilon delta : R) (k : nat) (p q : list R -> R -> R) : Prop :=
  forall lower upper test,
    (forall past, lower past <= upper past) ->
    (forall ts, 0 <= test ts <= 1) ->
    adaptive_integrable k p lower upper test [] ->
    adaptive_integrable k q lower upper test [] ->
    adaptive_expectation k p lower upper test [] <=
    exp epsilon * adaptive_expectation k q lower upper test [] + delta.

(** The squared shifts of a transcript. *)
Definition transcript_shift (sigma c c' : list R -> R) (ts : list R) : R :=
  sum_over (seq 0 (length ts)) (fun i =>
    ((c (firstn i ts) - c' (firstn i ts)) / sigma (firstn i ts)) ^ 2).

(** ** The proof: the last number first *)

Section Adaptive.
Variable sigma c c' : list R -> R.
Hypothesis sigma_pos : forall past, 0 < sigma past.

Let p past t := gaussian_density (sigma past) (t - c past).
Let q past t := gaussian_density (sigma past) (t - c' past).
Let shift past := (c past - c' past) / sigma past.

(** k more squared shifts add up to at most B. *)
Fixpoint spends (k : nat) (past : list R) (B : R) : Prop :=
  match k with O => 0 <= B | S k' => forall t, spends k' (past ++ [t]) (B - shift past ^ 2) end.

Lemma transcript_shift_snoc : forall past t,
  transcript_shift sigma c c' (past ++ [t]) = transcript_shift sigma c c' past + shift past ^ 2.
Proof.
  intros past t; unfold transcript_shift; rewrite app_length; cbn [length]; rewrite seq_app, sum_app.
  cbn [seq Nat.add sum_over fold_right]; rewrite Rplus_0_r, firstn_app, firstn_all, Nat.sub_diag;
    cbn [firstn].
  rewrite app_nil_r; unfold shift; f_equal; apply sum_ext; intros i Hi; apply in_seq in Hi.
  rewrite firstn_app; replace (i - length past)%nat with O by lia; cbn [firstn]; rewrite app_nil_r;
    reflexivity.
Qed.

Lemma spends_of_transcripts : forall k past B,
  (forall ts, length ts = k -> transcript_shift sigma c c' (past ++ ts) <= B) ->
  spends k past (B - transcript_shift sigma c c' past).
Proof.
  induction k as [| k IH]; intros past B H; cbn [spends].
  - specialize (H [] eq_refl); rewrite app_nil_r in H; lra.
  - intros t; replace (B - transcript_shift sigma c c' past - shift past ^ 2)
      with (B - transcript_shift sigma c c' (past ++ [t])) by (rewrite transcript_shift_snoc; ring).
    apply IH; intros ts Hts; rewrite <- app_assoc; apply H; cbn; rewrite Hts; reflexivity.
Qed.

Lemma spends_nonneg : forall k past B, spends k past B -> 0 <= B.
Proof.
  induction k as [| k IH]; intros past B H; cbn [spends] in H; [exact H |].
  generalize (IH _ _ (H 0)) (pow2_ge_0 (shift past)); lra.
Qed.

Lemma adaptive_base : forall nu epsilon e, 0 < nu -> 0 <= e <= 1 ->
  e <= exp epsilon * e + profile nu epsilon / (2 * kappa).
Proof.
  intros nu epsilon e Hnu He; assert (Hk := kappa_pos).
  generalize (profile_lower nu epsilon Hnu) (profile_nonneg nu epsilon Hnu); intros H1 H2.
  set (P := profile nu epsilon) in *; assert (E : P = 2 * kappa * (P / (2 * kappa))) by (field; lra).
  assert (1 - exp epsilon <= P / (2 * kappa)).
  { apply Rmult_le_reg_l with (2 * kappa); [lra |]; rewrite <- E; exact H1. }
  assert (0 <= P / (2 * kappa)) by (apply Rmult_le_pos; [exact H2 | apply Rlt_le, Rinv_0_lt_compat; lra]).
  nra.
Qed.

Lemma adaptive_induction : forall lower upper nu0 test, (forall past, lower past <= upper past) -> 0 < nu0
  ->
  (forall ts, 0 <= test ts <= 1) -> forall k past B epsilon, spends k past B ->
  adaptive_integrable k p lower upper test past -> adaptive_integrable k q lower upper test past ->
  adaptive_expectation k p lower upper test past <=
  exp epsilon * adaptive_expectation k q lower upper test past
    + profile (sqrt (nu0 ^ 2 + B)) epsilon / (2 * kappa).
Proof.
  intros lower upper nu0 test Hord Hnu0 Ht; induction k as [| k IH]; intros past B epsilon HB Hip Hiq.
  - apply adaptive_base; [apply sqrt_lt_R0; cbn in HB; nra | apply Ht].
  - destruct Hip as [Hip Hexp], Hiq as [Hiq Hexq].
    set (B' := B - shift past ^ 2); assert (HB' : 0 <= B') by (apply (spends_nonneg k (past ++ [0])), HB).
    set (nu' := sqrt (nu0 ^ 2 + B')); assert (Hnu' : 0 < nu') by (apply sqrt_lt_R0; nra).
    set (loss := fun t => shift past * ((t - c past) / sigma past) + shift past ^ 2 / 2).
    cbn [adaptive_expectation].
    set (Ep := fun t => adaptive_expectation k p lower upper test (past ++ [t])) in *.
    set (Eq := fun t => adaptive_expectation k q lower upper test (past ++ [t])) in *.
    set (P := fun t => profile nu' (epsilon - loss t) / (2 * kappa)).
    assert (HexP : ex_RInt (fun t => p past t * P t) (lower past) (upper past))
      by exact (step_ex_RInt sigma c c' sigma_pos past nu' epsilon (lower past) (upper past) Hnu').
    assert (HexE : ex_RInt (fun t => exp epsilon * (q past t * Eq t)) (lower past) (upper past))
      by (apply ex_RInt_mult_const; exact Hexq).
    apply Rle_trans with (RInt (fun t => exp epsilon * (q past t * Eq t) + p past t * P t)
      (lower past) (upper past)).
    + apply RInt_le; [apply Hord | exact Hexp | apply ex_RInt_add; assumption |].
      intros t Hlt; assert (Hin : lower past <= t <= upper past) by lra.
      assert (H := IH (past ++ [t]) B' (epsilon - loss t) (HB t) (Hip t Hin) (Hiq t Hin)).
      fold (Ep t) (Eq t) nu' in H; fold (P t) in H.
      apply Rle_trans with (p past t * (exp (epsilon - loss t) * Eq t + P t)).
      * apply Rmult_le_compat_l; [apply Rlt_le, (p_nonneg sigma c sigma_pos) | exact H].
      * right; assert (Hratio : p past t * exp (epsilon - loss t) = exp epsilon * q past t)
          by exact (density_ratio sigma c c' sigma_pos past t epsilon).
        transitivity (p past t * exp (epsilon - loss t) * Eq t + p past t * P t); [ring |].
        rewrite Hratio; ring.
    + rewrite RInt_add, RInt_mult_const by assumption.
      apply Rplus_le_compat_l; unfold P, loss, p, shift.
      rewrite (step_change_of_variable sigma c c' sigma_pos) by exact Hnu'; fold (shift past).
      assert (Hsquare : sqrt (nu' ^ 2 + shift past ^ 2) = sqrt (nu0 ^ 2 + B))
        by (unfold nu'; rewrite pow2_sqrt by nra; f_equal; unfold B'; ring).
      rewrite <- Hsquare; assert (Hk := kappa_pos); assert (Hs := sigma_pos past).
      apply Rle_trans with (2 * kappa * profile (sqrt (nu' ^ 2 + shift past ^ 2)) epsilon / (2 * kappa) ^
        2).
      * apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; nra |]; apply step_integral_le;
          [exact Hnu' |].
        apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; exact Hs | specialize (Hord past); lra].
      * right; field; lra.
Qed.

(** The profile's value at mu is the limit of its values above mu. *)
Lemma profile_from_above : forall X mu epsilon, 0 < mu ->
  (forall nu, mu < nu -> X <= profile nu epsilon / (2 * kappa)) -> X <= profile mu epsilon / (2 * kappa).
Proof.
  intros X mu epsilon Hmu H; assert (Hk := kappa_pos); apply le_epsilon; intros eta Heta.
  destruct (profile_continuous epsilon mu Hmu (eta * (2 * kappa)) ltac:(apply Rmult_lt_0_compat; lra))
    as [gap [Hgap Hc]].
  specialize (Hc (mu + gap / 2)).
  assert (Hd : R_dist (profile (mu + gap / 2) epsilon) (profile mu epsilon) < eta * (2 * kappa)).
  { apply Hc; split; [split; [exact I | lra] |].
    simpl; unfold R_dist; replace (mu + gap / 2 - mu) with (gap / 2) by ring; rewrite Rabs_right; lra. }
  unfold R_dist in Hd; apply Rabs_def2 in Hd; specialize (H (mu + gap / 2) ltac:(lra)).
  eapply Rle_trans; [exact H |]; apply Rmult_le_reg_r with (2 * kappa); [lra |].
  rewrite Rmult_plus_distr_r; unfold Rdiv; rewrite !Rmult_assoc, Rinv_l by lra; lra.
Qed.

Theorem adaptive_profile : forall k mu epsilon, 0 < mu ->
  (forall ts, length ts = k -> transcript_shift sigma c c' ts <= mu ^ 2) ->
  adaptively_indistinguishable epsilon (profile mu epsilon / (2 * kappa)) k p q.
Proof.
  intros k mu epsilon Hmu Hspent lower upper test Hord Ht Hip Hiq.
  assert (HB := spends_of_transcripts k [] (mu ^ 2) Hspent); unfold transcript_shift in HB; cbn in HB.
  replace (mu * (mu * 1) - 0) with (mu ^ 2) in HB by ring.
  assert (H := profile_from_above (adaptive_expectation k p lower upper test [] -
    exp epsilon * adaptive_expectation k q lower upper test []) mu epsilon Hmu); cbv beta in H.
  enough (adaptive_expectation k p lower upper test [] - exp epsilon *
    adaptive_expectation k q lower upper test [] <= profile mu epsilon / (2 * kappa)) by lra.
  apply H; intros nu Hnu; assert (Hgap : 0 < nu ^ 2 - mu ^ 2) by nra.
  assert (Hind := adaptive_induction lower upper (sqrt (nu ^ 2 - mu ^ 2)) test Hord (sqrt_lt_R0 _ Hgap) Ht
    k []
    (mu ^ 2) epsilon HB Hip Hiq).
  rewrite pow2_sqrt in Hind by lra.
  replace (sqrt (nu ^ 2 - mu ^ 2 + mu ^ 2)) with nu in Hind
    by (replace (nu ^ 2 - mu ^ 2 + mu ^ 2) with (nu ^ 2) by ring; symmetry; apply sqrt_pow2; lra).
  lra.
Qed.
End Adaptive.

Theorem adaptive_gaussian_profile : forall (sigma c c' : list R -> R) k mu epsilon,
  (forall past, 0 < sigma past) -> 0 < mu ->
  (forall ts, length ts = k -> transcript_shift sigma c c' ts <= mu ^ 2) ->
  adaptively_indistinguishable epsilon
    (normal_tail (epsilon / mu - mu / 2) - exp epsilon * normal_tail (epsilon / mu + mu / 2)) k
    (fun past t => gaussian_density (sigma past) (t - c past))
    (fun past t => gaussian_density (sigma past) (t - c' past)).
Proof.
  intros sigma c c' k mu epsilon Hs Hmu Hspent.
  replace (normal_tail (epsilon / mu - mu / 2) - exp epsilon * normal_tail (epsilon / mu + mu / 2))
    with (profile mu epsilon / (2 * kappa)).
  - apply adaptive_profile; assumption.
  - rewrite !normal_tail_tail; unfold profile; generalize kappa_pos; intros; field; lra.
Qed.
