(** * The cells of the joint bound

    [audit.bounds.joint] goes through the pairs in cells, each an interval of q and a strip of pairs p =
    ratio q + delta. If a cell's worst corner is rejected, so is every pair in it, in real arithmetic. So
    if rejected cells cover all pairs below a bound, it is one of [StoufferBound.v]. *)

From Coq Require Import Reals Bool Lia Lra.
From CFM Require Import Definitions Sums BinomialLaw JointBound GaussianExact.
From CFM Require Import NormalScore StoufferRule StoufferBound WeightArc.
Open Scope R_scope.

(** ** The worst corner of a cell *)

(** The smallest and the largest standard error of a share for probabilities in [low, high]. *)
Definition smallest_spread (n : nat) (low high : R) : R :=
  sqrt (Rmin (low * (1 - low)) (high * (1 - high)) / INR n).
Definition largest_spread (n : nat) (low high : R) : R :=
  sqrt ((if Rle_dec low (1 / 2) then
           if Rle_dec (1 / 2) high then 1 / 4 else Rmax (low * (1 - low)) (high * (1 - high))
         else Rmax (low * (1 - low)) (high * (1 - high))) / INR n).

Lemma spread_range : forall n low high p, (1 <= n)%nat -> low <= p <= high ->
  smallest_spread n low high <= share_spread n p <= largest_spread n low high.
Proof.
  intros n low high p Hn Hp; assert (HN : 0 < / INR n) by (apply Rinv_0_lt_compat, lt_0_INR; lia).
  assert (Elow : p * (1 - p) - low * (1 - low) = (p - low) * (1 - (p + low))) by ring.
  assert (Ehigh : p * (1 - p) - high * (1 - high) = (high - p) * (high + p - 1)) by ring.
  split; apply sqrt_le_1_alt, Rmult_le_compat_r; try lra.
  - destruct (Rle_or_lt (p + low) 1) as [H | H].
    + eapply Rle_trans; [apply Rmin_l |]; generalize (Rmult_le_pos (p - low) (1 - (p + low))); lra.
    + eapply Rle_trans; [apply Rmin_r |]; generalize (Rmult_le_pos (high - p) (high + p - 1)); lra.
  - assert (Hfalls : 1 / 2 < low -> p * (1 - p) <= Rmax (low * (1 - low)) (high * (1 - high))).
    { intros H; eapply Rle_trans; [| apply Rmax_l].
      generalize (Rmult_le_pos (p - low) (p + low - 1)); lra. }
    assert (Hgrows : high < 1 / 2 -> p * (1 - p) <= Rmax (low * (1 - low)) (high * (1 - high))).
    { intros H; eapply Rle_trans; [| apply Rmax_r].
      generalize (Rmult_le_pos (high - p) (1 - (high + p))); lra. }
    generalize (pow2_ge_0 (p - 1 / 2)); destruct (Rle_dec low (1 / 2)), (Rle_dec (1 / 2) high); intros; nra.
Qed.

(** Pairs p = ratio q + delta, with ratio and delta in intervals. *)
Record strip := Strip { low_ratio : R; high_ratio : R; low_delta : R; high_delta : R }.

Definition clip (x : R) : R := Rmax 0 (Rmin 1 x).

Definition in_cell (s : strip) (low high ratio delta q : R) : Prop :=
  0 <= low_ratio s <= ratio /\ ratio <= high_ratio s /\ low_delta s <= delta <= high_delta s /\
  0 <= low <= q /\ q <= high <= 1.

(** The first p-value grows with p, the second one falls with q. *)
Definition worst_score (c : cuts) (n m j k : nat) (s : strip) (low high : R) : R :=
  let lowest := clip (low_ratio s * low + low_delta s) in
  let highest := clip (high_ratio s * high + high_delta s) in
  largest_combined (smallest_spread n lowest highest) (largest_spread n lowest highest)
    (low_ratio s * smallest_spread m low high) (high_ratio s * largest_spread m low high)
    (score c (at_least n j highest)) (score c (at_most m k low)).

(** A cell is rejected by one count alone, or by both together. *)
Definition cell_rejected (c : cuts) (alpha T : R) (n m j k : nat) (s : strip) (low high : R) : Prop :=
  at_least n j (clip (high_ratio s * high + high_delta s)) <= tail_share c * alpha \/
  at_most m k low <= tail_share c * alpha \/ worst_score c n m j k s low high <= T.

Lemma clip_range : forall x, 0 <= clip x <= 1.
Proof.
  intros x; split; [apply Rmax_l |]; apply Rmax_lub; [lra | apply Rmin_l].
Qed.

Lemma clip_monotone : forall x y, x <= y -> clip x <= clip y.
Proof.
  intros x y H; unfold clip; apply Rmax_lub; [apply Rmax_l |].
  eapply Rle_trans; [| apply Rmax_r]; apply Rmin_glb; [apply Rmin_l |].
  eapply Rle_trans; [apply Rmin_r | exact H].
Qed.

Lemma clip_id : forall x, 0 <= x <= 1 -> clip x = x.
Proof. intros x H; unfold clip; rewrite Rmin_right, Rmax_right; lra. Qed.

Lemma at_most_monotone : forall m k q q', 0 <= q <= q' -> q' <= 1 -> at_most m k q' <= at_most m k q.
Proof.
  intros m k q q' Hq Hq'; rewrite !at_most_at_least; generalize (at_least_monotone m (S k) q q' Hq Hq'); lra.
Qed.

(** Every pair of a rejected cell is rejected. *)
Theorem pairs_of_a_cell : forall c alpha T n m j k s low high ratio delta q, sound_cuts c ->
  (1 <= n)%nat -> (1 <= m)%nat -> in_cell s low high ratio delta q ->
  cell_rejected c alpha T n m j k s low high ->
  pair_rule c alpha T n m ratio (clip (ratio * q + delta)) q
    (at_least n j (clip (ratio * q + delta))) (at_most m k q) = true.
Proof.
  intros c alpha T n m j k s low high ratio delta q Hc Hn Hm [Hr [Hr' [Hd [Hq Hq']]]] Hcell.
  set (p := clip (ratio * q + delta)).
  set (lowest := clip (low_ratio s * low + low_delta s)).
  set (highest := clip (high_ratio s * high + high_delta s)).
  assert (Hp : lowest <= p <= highest).
  { split; apply clip_monotone; apply Rplus_le_compat; try lra; apply Rmult_le_compat; lra. }
  assert (Hlikely : at_least n j p <= at_least n j highest).
  { apply at_least_monotone; [split; [apply clip_range | apply Hp] | apply clip_range]. }
  assert (Hunlikely : at_most m k q <= at_most m k low) by (apply at_most_monotone; lra).
  apply stouffer_rule_true; destruct Hcell as [H | [H | H]].
  - left; fold highest in H; lra.
  - right; left; lra.
  - right; right; unfold worst_score in H; fold lowest highest in H.
    destruct (spread_range n lowest highest p Hn Hp) as [Ha Ha'].
    destruct (spread_range m low high q Hm ltac:(lra)) as [Hb Hb'].
    assert (Hsmallest : forall i x y, 0 <= smallest_spread i x y) by (intros; apply sqrt_pos).
    eapply Rle_trans; [| exact H]; eapply Rle_trans; [| apply combined_over_an_arc with
      (a := share_spread n p) (b := ratio * share_spread m q)].
    + apply combined_monotone; [apply share_spread_nonneg | | |].
      * apply Rmult_le_pos; [lra | apply share_spread_nonneg].
      * apply score_monotone; [apply Hc | exact Hlikely].
      * apply score_monotone; [apply Hc | exact Hunlikely].
    + apply Hsmallest.
    + lra.
    + apply Rmult_le_pos; [lra | apply Hsmallest].
    + split; apply Rmult_le_compat; try lra; try apply Hsmallest; apply share_spread_nonneg.
Qed.

(** ** Bounds below which rejected cells cover all pairs *)

(** A pair with p <= delta is rejected when the pair (delta, q) is. *)
Lemma below_delta_rejected : forall c alpha T n m delta p q j k, sound_cuts c ->
  0 <= p <= delta -> delta <= 1 ->
  pair_rule c alpha T n m 0 delta q (at_least n j delta) (at_most m k q) = true ->
  epsilon_rule c alpha T n m delta p q (at_least n j p) (at_most m k q) = true.
Proof.
  intros c alpha T n m delta p q j k Hc Hp Hdelta H.
  assert (Hratio : pair_ratio delta p q = 0)
    by (unfold pair_ratio; rewrite Rmax_left by lra; unfold Rdiv; apply Rmult_0_l).
  unfold epsilon_rule, pair_rule in *; rewrite Hratio, Rmult_0_l in *.
  apply stouffer_rule_true; apply stouffer_rule_true in H.
  rewrite combined_first_only in * by apply share_spread_nonneg.
  assert (Hlikely : at_least n j p <= at_least n j delta) by (apply at_least_monotone; lra).
  assert (Hscore := score_monotone _ _ (proj2 Hc) _ _ Hlikely); unfold score in *.
  destruct H as [H | [H | H]]; [left; lra | right; left; exact H | right; right; lra].
Qed.

(** A test of one hypothesis rejects every pair of the edge when these lie in rejected cells. *)
Theorem edge_of_cells : forall c alpha T n m ratio delta j k, sound_cuts c -> (1 <= n)%nat -> (1 <= m)%nat ->
  0 <= ratio -> 0 <= delta ->
  (forall nuisance, 0 <= nuisance <= 1 -> exists s low high,
    in_cell s low high ratio delta nuisance /\ cell_rejected c alpha T n m j k s low high) ->
  rejects_edge c alpha T n m ratio delta j k.
Proof.
  intros c alpha T n m ratio delta j k Hc Hn Hm Hratio Hdelta Hcells q Hq.
  destruct (Hcells q Hq) as [s [low [high [Hin Hcell]]]].
  assert (Hpair := pairs_of_a_cell c alpha T n m j k s low high ratio delta q Hc Hn Hm Hin Hcell).
  assert (E : clip (ratio * q + delta) = edge ratio delta q); [| rewrite E in Hpair; exact Hpair].
  unfold clip; apply Rmax_right; apply Rmin_glb; [lra |].
  apply Rplus_le_le_0_compat; [apply Rmult_le_pos |]; lra.
Qed.

(** A bound on epsilon: each pair that it excludes lies in a rejected cell. *)
Theorem epsilon_bound_by_cells : forall c alpha T n m p q epsilon delta (B : nat -> nat -> R), sound_cuts c ->
  0 <= alpha -> threshold_at c alpha T -> (1 <= n)%nat -> (1 <= m)%nat -> 0 <= p <= 1 -> 0 <= q <= 1 ->
  0 <= epsilon -> 0 <= delta <= 1 ->
  (forall j k, (j <= n)%nat -> (k <= m)%nat -> 0 < B j k -> forall ratio nuisance, 0 <= ratio < exp (B j k) ->
    0 <= nuisance <= 1 -> ratio * nuisance + delta <= 1 -> exists s low high,
    in_cell s low high ratio delta nuisance /\ cell_rejected c alpha T n m j k s low high) ->
  p <= exp epsilon * q + delta ->
  joint_probability n m p q (fun j k => exceeds (B j k) epsilon) <= alpha.
Proof.
  intros c alpha T n m p q epsilon delta B Hc Ha HT Hn Hm Hp Hq Hepsilon Hdelta Hcells Hprivate.
  apply (joint_epsilon_bound c alpha T n m p q epsilon delta B); try assumption; clear p q epsilon Hp Hq
    Hepsilon Hprivate.
  intros j k p q epsilon Hj Hk Hp Hq Hepsilon Hprivate Hkept.
  destruct (Rle_or_lt (B j k) epsilon) as [H | H]; [exact H | exfalso].
  assert (Hrejected : forall ratio, 0 <= ratio < exp (B j k) -> ratio * q + delta <= 1 ->
    pair_rule c alpha T n m ratio (ratio * q + delta) q (at_least n j (ratio * q + delta)) (at_most m k q)
      = true).
  { intros ratio Hratio Hone.
    destruct (Hcells j k Hj Hk ltac:(lra) ratio q Hratio Hq Hone) as [s [low [high [Hin Hcell]]]].
    assert (Hpair := pairs_of_a_cell c alpha T n m j k s low high ratio delta q Hc Hn Hm Hin Hcell).
    rewrite clip_id in Hpair; [exact Hpair |]; split; [| exact Hone].
    apply Rplus_le_le_0_compat; [apply Rmult_le_pos |]; lra. }
  destruct (Rle_or_lt p delta) as [Hbelow | Habove].
  - rewrite (below_delta_rejected c alpha T n m delta p q j k) in Hkept;
      [discriminate | exact Hc | lra | lra |].
    generalize (Hrejected 0 ltac:(split; [lra | apply exp_pos]) ltac:(lra)); rewrite Rmult_0_l, Rplus_0_l.
    intros E; exact E.
  - assert (Hpos : 0 < q) by (destruct (proj1 Hq) as [Hlt | <-]; [exact Hlt | lra]).
    assert (Eratio : pair_ratio delta p q * q + delta = p)
      by (unfold pair_ratio; rewrite Rmax_right by lra; field; lra).
    assert (Hratio : 0 <= pair_ratio delta p q).
    { apply Rle_mult_inv_pos; [apply Rmax_l | exact Hpos]. }
    assert (Hlarge : pair_ratio delta p q <= exp epsilon).
    { apply Rmult_le_reg_r with q; [exact Hpos | lra]. }
    generalize (Hrejected (pair_ratio delta p q)
      ltac:(split; [exact Hratio | generalize (exp_increasing _ _ H); lra]) ltac:(lra)).
    rewrite Eratio; unfold epsilon_rule in Hkept; rewrite Hkept; discriminate.
Qed.

(** A bound on delta. *)
Theorem delta_bound_by_cells : forall c alpha T n m p q epsilon delta (B : nat -> nat -> R), sound_cuts c ->
  0 <= alpha -> threshold_at c alpha T -> (1 <= n)%nat -> (1 <= m)%nat -> 0 <= p <= 1 -> 0 <= q <= 1 ->
  0 <= delta ->
  (forall j k, (j <= n)%nat -> (k <= m)%nat -> 0 < B j k -> forall level nuisance, level < B j k ->
    0 <= nuisance <= 1 -> 0 <= exp epsilon * nuisance + level <= 1 -> exists s low high,
    in_cell s low high (exp epsilon) level nuisance /\ cell_rejected c alpha T n m j k s low high) ->
  p <= exp epsilon * q + delta ->
  joint_probability n m p q (fun j k => exceeds (B j k) delta) <= alpha.
Proof.
  intros c alpha T n m p q epsilon delta B Hc Ha HT Hn Hm Hp Hq Hdelta Hcells Hprivate.
  apply (joint_delta_bound c alpha T n m p q epsilon delta B); try assumption.
  clear p q delta Hp Hq Hdelta Hprivate; intros j k p q delta Hj Hk Hp Hq Hdelta Hprivate Hkept.
  destruct (Rle_or_lt (B j k) delta) as [H | H]; [exact H | exfalso].
  assert (E : exp epsilon * q + (p - exp epsilon * q) = p) by ring.
  destruct (Hcells j k Hj Hk ltac:(lra) (p - exp epsilon * q) q ltac:(lra) Hq ltac:(lra))
    as [s [low [high [Hin Hcell]]]].
  assert (Hpair := pairs_of_a_cell c alpha T n m j k s low high _ _ q Hc Hn Hm Hin Hcell).
  rewrite E, clip_id, Hkept in Hpair by exact Hp; discriminate.
Qed.
