(** * From masses of cells to a measure: Caratheodory's construction

    Cells are sets with a mass; later they are boxes. The outer mass of a set is the greatest lower bound
    of the total masses of its countable covers by cells. A set splits if it cuts the outer mass of every
    set in two. Such sets form a sigma-algebra, on which the outer mass is countably additive.

    The proof picks covers for countably many sets at once. Only here do we use countable choice, which Coq
    does not prove; it is a premise wherever it is used. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Countable CountableMeasures.
Import ListNotations.
Open Scope R_scope.

(** The axiom of countable choice. *)
Definition countable_choice : Prop := forall (A : Type) (choice : nat -> A -> Prop),
  (forall n, exists a, choice n a) -> exists f, forall n, choice n (f n).

(** ** Sums of sequences *)

Definition partial_sum (f : nat -> R) (n : nat) : R := sum_over (seq 0 n) f.

Lemma partial_sum_next : forall f n, partial_sum f (S n) = partial_sum f n + f n.
Proof. intros f n; unfold partial_sum; rewrite seq_S, sum_app; cbn; ring. Qed.

Lemma partial_sum_longer : forall f n m, (forall i, 0 <= f i) -> (n <= m)%nat ->
  partial_sum f n <= partial_sum f m.
Proof.
  intros f n m Hf H; induction H as [| m H IH]; [apply Rle_refl |].
  rewrite partial_sum_next; specialize (Hf m); lra.
Qed.

Lemma partial_sum_halves : forall eta n, 0 < eta -> partial_sum (fun i => eta / 2 ^ S i) n <= eta.
Proof.
  intros eta n Heta; assert (E : partial_sum (fun i => eta / 2 ^ S i) n = eta - eta / 2 ^ n).
  { induction n as [| n IH]; [cbn; field |]; rewrite partial_sum_next, IH; cbn [pow]; field.
    apply pow_nonzero; lra. }
  assert (0 < eta / 2 ^ n); [apply Rdiv_lt_0_compat; [| apply pow_lt]; lra | lra].
Qed.

Lemma halves_positive : forall eta i, 0 < eta -> 0 < eta / 2 ^ S i.
Proof. intros eta i H; apply Rdiv_lt_0_compat; [exact H | apply pow_lt; lra]. Qed.

(** Sums that come near to [total] and do not exceed it form a series. *)
Lemma series_of_sums : forall f total, (forall i, 0 <= f i) -> (forall n, partial_sum f n <= total) ->
  (forall r, (forall n, partial_sum f n <= r) -> total <= r) -> is_series f total.
Proof.
  intros f total Hf Hle Hleast.
  assert (Esum : forall n, sum_n f n = partial_sum f (S n)).
  { induction n as [| n IH]; [rewrite sum_O; symmetry; apply Rplus_0_r |].
    rewrite sum_Sn, IH; symmetry; apply partial_sum_next. }
  assert (Hlim : is_lim_seq (sum_n f) total); [| exact Hlim].
  apply is_lim_seq_spec; intros [eta Heta].
  destruct (Classical_Prop.classic (exists n, total - eta < partial_sum f n)) as [[n Hn] | Hno].
  - exists n; intros m Hm; change (Rabs (sum_n f m - total) < eta); rewrite Esum; specialize (Hle (S m)).
    assert (H := partial_sum_longer f n (S m) Hf ltac:(lia)); apply Rabs_def1; lra.
  - assert (total <= total - eta); [| lra]; apply Hleast; intros n.
    destruct (Rle_or_lt (partial_sum f n) (total - eta)); [assumption |].
    exfalso; apply Hno; exists n; assumption.
Qed.

(** ** All pairs of numbers in one sequence *)

Definition next_pair (ij : nat * nat) : nat * nat :=
  match ij with (O, j) => (S j, 0%nat) | (S i, j) => (i, S j) end.

Fixpoint pair_at (n : nat) : nat * nat := match n with O => (0, 0)%nat | S n' => next_pair (pair_at n') end.

Lemma pair_at_once : forall n m, pair_at n = pair_at m -> n = m.
Proof.
  assert (Hnext : forall a b, next_pair a = next_pair b -> a = b)
    by (intros [[| i] j] [[| i'] j'] H; cbn in H; injection H; intros; subst; congruence).
  assert (Hstart : forall a, next_pair a <> (0, 0)%nat) by (intros [[| i] j]; discriminate).
  induction n as [| n IH]; intros [| m] H; cbn [pair_at] in H; [reflexivity | | |].
  - symmetry in H; destruct (Hstart _ H).
  - destruct (Hstart _ H).
  - f_equal; apply IH, Hnext, H.
Qed.

Lemma every_pair : forall i j, exists n, pair_at n = (i, j).
Proof.
  assert (H : forall s i j, (i + j = s)%nat -> exists n, pair_at n = (i, j)).
  { induction s as [| s IHs]; intros i j; revert i; induction j as [| j IHj]; intros i E.
    - exists 0%nat; replace i with 0%nat by lia; reflexivity.
    - lia.
    - destruct (IHs 0%nat s ltac:(lia)) as [n Hn]; exists (S n); cbn [pair_at]; rewrite Hn; cbn.
      f_equal; lia.
    - destruct (IHj (S i) ltac:(lia)) as [n Hn]; exists (S n); cbn [pair_at]; rewrite Hn; reflexivity. }
  intros i j; apply (H (i + j)%nat); reflexivity.
Qed.

Lemma pairs_in_a_square : forall n, exists m, forall k, (k < n)%nat ->
  (fst (pair_at k) < m)%nat /\ (snd (pair_at k) < m)%nat.
Proof.
  induction n as [| n [m IH]]; [exists 0%nat; intros; lia |].
  exists (S (m + fst (pair_at n) + snd (pair_at n))); intros k Hk.
  destruct (Nat.eq_dec k n) as [-> | Hne]; [lia |]; specialize (IH k ltac:(lia)); lia.
Qed.

Lemma sum_along_pairs : forall f r, (forall i j, 0 <= f i j) ->
  (forall n m, partial_sum (fun i => partial_sum (f i) m) n <= r) ->
  forall n, partial_sum (fun k => f (fst (pair_at k)) (snd (pair_at k))) n <= r.
Proof.
  intros f r Hf Hr n; destruct (pairs_in_a_square n) as [m Hm].
  set (g := fun ij : nat * nat => f (fst ij) (snd ij)).
  apply Rle_trans with (sum_over (map pair_at (seq 0 n)) g); [right; symmetry; apply sum_map |].
  apply Rle_trans with (sum_over (list_prod (seq 0 m) (seq 0 m)) g); [| rewrite sum_prod; apply (Hr m m)].
  apply sum_incl; [intros; apply Hf | apply map_once; [apply pair_at_once | apply seq_NoDup] |].
  intros [i j] H; apply in_map_iff in H; destruct H as [k [E Hk]]; apply in_seq in Hk.
  specialize (Hm k ltac:(lia)); rewrite E in Hm; apply in_prod; apply in_seq; cbn in Hm; lia.
Qed.

(** ** Outer mass *)

Section Outer.
Context {X C : Type}.
Variables (space : X -> Prop) (cell : C -> X -> Prop) (mass : C -> R) (nothing : C) (total : R).
Hypothesis choice : countable_choice.
Hypothesis cell_mass_nonneg : forall c, 0 <= mass c.
Hypothesis nothing_has_no_mass : mass nothing = 0.
Implicit Types (S T H : X -> Prop) (c : nat -> C).

(** Only what lies in the space is covered. *)
Definition covers c S : Prop := forall w, space w -> S w -> exists i, cell (c i) w.
Definition covered_within S (r : R) : Prop :=
  exists c, covers c S /\ forall n, partial_sum (fun i => mass (c i)) n <= r.
Definition outer_mass S : R := real (Glb_Rbar (covered_within S)).

Hypothesis all_covered : covered_within (fun _ => True) total.

Lemma covered_nonneg : forall S r, covered_within S r -> 0 <= r.
Proof. intros S r [c [_ H]]; exact (H 0%nat). Qed.

Lemma outer_mass_is_glb : forall S, is_glb_Rbar (covered_within S) (outer_mass S).
Proof.
  intros S; unfold outer_mass; assert (H := Glb_Rbar_correct (covered_within S)).
  assert (Hcover : covered_within S total)
    by (destruct all_covered as [c [Hc Hr]]; exists c; split; [intros w Hw _; apply Hc; tauto | exact Hr]).
  destruct H as [Hlow Hgreatest]; assert (H0 : Rbar_le 0 (Glb_Rbar (covered_within S)))
    by (apply Hgreatest; intros r Hr; exact (covered_nonneg S r Hr)).
  specialize (Hlow total Hcover) as Htotal.
  destruct (Glb_Rbar (covered_within S)); cbn in *; [split; assumption | contradiction | contradiction].
Qed.

Lemma outer_mass_le : forall S r, covered_within S r -> outer_mass S <= r.
Proof. intros S r Hr; exact (proj1 (outer_mass_is_glb S) r Hr). Qed.

Lemma outer_mass_ge : forall S r, (forall r', covered_within S r' -> r <= r') -> r <= outer_mass S.
Proof. intros S r Hr; exact (proj2 (outer_mass_is_glb S) r Hr). Qed.

Lemma outer_mass_nonneg : forall S, 0 <= outer_mass S.
Proof. intros S; apply outer_mass_ge, covered_nonneg. Qed.

Lemma outer_mass_near : forall S eta, 0 < eta -> covered_within S (outer_mass S + eta).
Proof.
  intros S eta Heta; destruct (Classical_Prop.classic (covered_within S (outer_mass S + eta))) as [Hy | Hn];
    [exact Hy | exfalso].
  assert (outer_mass S + eta <= outer_mass S); [| lra]; apply outer_mass_ge; intros r [c [Hc Hr]].
  destruct (Rle_or_lt (outer_mass S + eta) r) as [Hle | Hlt]; [exact Hle | exfalso; apply Hn].
  exists c; split; [exact Hc | intros n; specialize (Hr n); lra].
Qed.

Lemma outer_mass_larger : forall S T, (forall w, space w -> S w -> T w) -> outer_mass S <= outer_mass T.
Proof.
  intros S T H; apply outer_mass_ge; intros r [c [Hc Hr]]; apply outer_mass_le; exists c; split; [| exact Hr].
  intros w Hw HS; apply Hc, H; assumption.
Qed.

Lemma outer_mass_same : forall S T, (forall w, space w -> (S w <-> T w)) -> outer_mass S = outer_mass T.
Proof. intros S T H; apply Rle_antisym; apply outer_mass_larger; intros w Hw; apply (H w Hw). Qed.

Lemma outer_mass_empty : forall S, (forall w, space w -> ~ S w) -> outer_mass S = 0.
Proof.
  intros S H; apply Rle_antisym; [| apply outer_mass_nonneg]; apply outer_mass_le.
  exists (fun _ => nothing); split; [intros w Hw HS; destruct (H w Hw HS) |].
  intros n; right; apply sum_zero; intros i _; exact nothing_has_no_mass.
Qed.

(** Countable subadditivity: one cover for each set, then all of them in one sequence. *)
Lemma outer_mass_joined_all : forall (S : nat -> X -> Prop) r,
  (forall n, partial_sum (fun i => outer_mass (S i)) n <= r) -> outer_mass (joined_all S) <= r.
Proof.
  intros S r Hr; apply le_epsilon; intros eta Heta; apply outer_mass_le.
  destruct (choice _ (fun i c => covers c (S i) /\
    forall n, partial_sum (fun j => mass (c j)) n <= outer_mass (S i) + eta / 2 ^ Datatypes.S i)) as [c Hc].
  { intros i; exact (outer_mass_near (S i) _ (halves_positive eta i Heta)). }
  exists (fun k => c (fst (pair_at k)) (snd (pair_at k))); split.
  - intros w Hw [i Hi]; destruct (proj1 (Hc i) w Hw Hi) as [j Hj]; destruct (every_pair i j) as [k Hk].
    exists k; rewrite Hk; exact Hj.
  - apply (sum_along_pairs (fun i j => mass (c i j))); [intros; apply cell_mass_nonneg |]; intros n m.
    apply Rle_trans with (partial_sum (fun i => outer_mass (S i) + eta / 2 ^ Datatypes.S i) n).
    + apply sum_le; intros i _; apply Hc.
    + unfold partial_sum; rewrite sum_plus; apply Rplus_le_compat;
        [apply Hr | apply partial_sum_halves, Heta].
Qed.

Lemma outer_mass_joined : forall S T, outer_mass (joined S T) <= outer_mass S + outer_mass T.
Proof.
  intros S T; set (U i := match i with O => S | 1%nat => T | _ => no_set end).
  rewrite (outer_mass_same (joined S T) (joined_all U)).
  - apply outer_mass_joined_all; intros n.
    assert (Hmore : partial_sum (fun i => outer_mass (U i)) n
      <= partial_sum (fun i => outer_mass (U i)) (2 + n))
      by (apply partial_sum_longer; [intros; apply outer_mass_nonneg | lia]).
    eapply Rle_trans; [exact Hmore |]; clear Hmore; right; induction n as [| n IH]; [cbn; ring |].
    change (2 + Datatypes.S n)%nat with (Datatypes.S (2 + n)); rewrite partial_sum_next, IH; cbn [U Nat.add].
    rewrite (outer_mass_empty no_set); [ring | intros w _ []].
  - intros w _; split; [intros [H | H]; [exists 0%nat | exists 1%nat]; exact H |].
    intros [[| [| i]] H]; [left | right | destruct H]; exact H.
Qed.

(** ** Sets that split *)

Definition splits H : Prop := forall S,
  outer_mass (fun w => S w /\ H w) + outer_mass (fun w => S w /\ ~ H w) <= outer_mass S.

Lemma outer_mass_split : forall H S, splits H ->
  outer_mass S = outer_mass (fun w => S w /\ H w) + outer_mass (fun w => S w /\ ~ H w).
Proof.
  intros H S HH; apply Rle_antisym; [| apply HH].
  eapply Rle_trans; [| apply outer_mass_joined]; apply outer_mass_larger; intros w _ HS; unfold joined.
  destruct (Classical_Prop.classic (H w)); tauto.
Qed.

Lemma splits_same : forall H T, (forall w, space w -> (H w <-> T w)) -> splits H -> splits T.
Proof.
  intros H T E HH S; specialize (HH S).
  rewrite (outer_mass_same (fun w => S w /\ T w) (fun w => S w /\ H w)),
    (outer_mass_same (fun w => S w /\ ~ T w) (fun w => S w /\ ~ H w)); [exact HH | |];
    intros w Hw; specialize (E w Hw); tauto.
Qed.

Lemma splits_outside : forall H, splits H -> splits (outside H).
Proof.
  intros H HH S; specialize (HH S); unfold outside.
  rewrite (outer_mass_same (fun w => S w /\ ~ ~ H w) (fun w => S w /\ H w)); [lra |].
  intros w _; destruct (Classical_Prop.classic (H w)); tauto.
Qed.

Lemma splits_both : forall H T, splits H -> splits T -> splits (fun w => H w /\ T w).
Proof.
  intros H T HH HT S; rewrite (outer_mass_split H S HH), (outer_mass_split T (fun w => S w /\ H w) HT).
  rewrite (outer_mass_same (fun w => S w /\ H w /\ T w) (fun w => (S w /\ H w) /\ T w)) by (intros; tauto).
  rewrite Rplus_assoc; apply Rplus_le_compat_l.
  eapply Rle_trans; [| apply outer_mass_joined]; apply outer_mass_larger; intros w _; unfold joined.
  destruct (Classical_Prop.classic (H w)), (Classical_Prop.classic (T w)); tauto.
Qed.

Lemma splits_space : forall H, (forall w, space w -> H w) -> splits H.
Proof.
  intros H HH S; rewrite (outer_mass_empty (fun w => S w /\ ~ H w)).
  - rewrite Rplus_0_r; apply outer_mass_larger; tauto.
  - intros w Hw [_ Hn]; exact (Hn (HH w Hw)).
Qed.

Lemma splits_all_below : forall (H : nat -> X -> Prop) n, (forall i, (i < n)%nat -> splits (H i)) ->
  splits (fun w => forall i, (i < n)%nat -> H i w).
Proof.
  intros H n; induction n as [| n IH]; intros HH; [apply splits_space; intros; lia |].
  apply splits_same with (fun w => (forall i, (i < n)%nat -> H i w) /\ H n w).
  - intros w _; split; [intros [H1 H2] i Hi | intros Hw; split; [intros i Hi |]; apply Hw; lia].
    destruct (Nat.eq_dec i n) as [-> | Hne]; [exact H2 | apply H1; lia].
  - apply splits_both; [apply IH; intros i Hi |]; apply HH; lia.
Qed.

(** Countably many disjoint sets: what they take away from a set, one after the other. *)
Lemma splits_first : forall (H : nat -> X -> Prop) S n, (forall i, splits (H i)) ->
  (forall i j w, H i w -> H j w -> i = j) ->
  partial_sum (fun i => outer_mass (fun w => S w /\ H i w)) n
    + outer_mass (fun w => S w /\ ~ joined_first H n w) <= outer_mass S.
Proof.
  intros H S n HH Hapart; induction n as [| n IH].
  - cbn; rewrite Rplus_0_l; apply outer_mass_larger; tauto.
  - rewrite partial_sum_next; eapply Rle_trans; [| exact IH].
    rewrite (outer_mass_split (H n) (fun w => S w /\ ~ joined_first H n w) (HH n)).
    rewrite Rplus_assoc; apply Rplus_le_compat_l, Rplus_le_compat; apply outer_mass_larger; intros w _.
    + intros [HS Hn]; split; [split; [exact HS |] | exact Hn]; intros [i [Hi Hw]].
      assert (i = n) by (apply (Hapart i n w); assumption); lia.
    + intros [HS Hout]; split; [split; [exact HS |] |]; intros Hw; apply Hout.
      * destruct Hw as [i [Hi Hw]]; exists i; split; [lia | exact Hw].
      * exists n; split; [lia | exact Hw].
Qed.

Lemma splits_disjoint : forall (H : nat -> X -> Prop) S, (forall i, splits (H i)) ->
  (forall i j w, H i w -> H j w -> i = j) ->
  forall n, partial_sum (fun i => outer_mass (fun w => S w /\ H i w)) n
    <= outer_mass S - outer_mass (fun w => S w /\ ~ joined_all H w).
Proof.
  intros H S HH Hapart n; assert (Hn := splits_first H S n HH Hapart).
  assert (outer_mass (fun w => S w /\ ~ joined_all H w) <= outer_mass (fun w => S w /\ ~ joined_first H n w)).
  { apply outer_mass_larger; intros w _ [HS Hout]; split; [exact HS |]; intros [i [_ Hi]]; apply Hout.
    exists i; exact Hi. }
  lra.
Qed.

Lemma splits_joined_disjoint : forall H : nat -> X -> Prop, (forall i, splits (H i)) ->
  (forall i j w, H i w -> H j w -> i = j) -> splits (joined_all H).
Proof.
  intros H HH Hapart S.
  assert (Hle : outer_mass (joined_all (fun i w => S w /\ H i w))
    <= outer_mass S - outer_mass (fun w => S w /\ ~ joined_all H w))
    by (apply outer_mass_joined_all, splits_disjoint; assumption).
  rewrite (outer_mass_same (fun w => S w /\ joined_all H w) (joined_all (fun i w => S w /\ H i w))); [lra |].
  intros w _; split; [intros [HS [i Hi]]; exists i; tauto | intros [i [HS Hi]]; split; [| exists i];
    assumption].
Qed.

Lemma splits_joined_all : forall H : nat -> X -> Prop, (forall i, splits (H i)) -> splits (joined_all H).
Proof.
  intros H HH; set (fresh i := fun w => H i w /\ ~ joined_first H i w).
  apply splits_same with (joined_all fresh).
  - intros w _; split; [intros [i [Hi _]]; exists i; exact Hi |]; intros [i Hi]; revert Hi.
    induction i as [i IH] using lt_wf_ind; intros Hi.
    destruct (Classical_Prop.classic (joined_first H i w)) as [[j [Hj Hw]] | Hnew]; [exact (IH j Hj Hw) |].
    exists i; split; assumption.
  - apply splits_joined_disjoint.
    + intros i; apply splits_both; [apply HH |]; apply splits_same with
        (fun w => forall j, (j < i)%nat -> outside (H j) w).
      * intros w _; split; [intros Hw [j [Hj H']]; exact (Hw j Hj H') |].
        intros Hw j Hj H'; apply Hw; exists j; split; assumption.
      * apply splits_all_below; intros j _; apply splits_outside, HH.
    + intros i j w [Hi Hi'] [Hj Hj']; destruct (Nat.lt_trichotomy i j) as [Hlt | [E | Hlt]];
        [exfalso; apply Hj' | exact E | exfalso; apply Hi']; eexists; split; eassumption.
Qed.

(** ** The measure *)

Theorem outer_mass_is_a_measure : forall base : (X -> Prop) -> Prop,
  (forall S, base S -> splits S) -> measure base outer_mass.
Proof.
  intros base Hbase; assert (Hsplits : forall S, sigma_algebra base S -> splits S).
  { intros S HS; induction HS as [S HS | S _ IH | S _ IH | S T E _ IH];
      [apply Hbase, HS | apply splits_outside, IH | apply splits_joined_all, IH |].
    apply splits_same with S; [intros w _; apply E | exact IH]. }
  split; [intros; apply outer_mass_nonneg | split; [intros S T E; apply outer_mass_same; intros; apply E |]].
  intros S HS Hapart; apply series_of_sums; [intros; apply outer_mass_nonneg | | apply outer_mass_joined_all].
  intros n; assert (Hn := splits_disjoint S (joined_all S) (fun i => Hsplits _ (HS i)) Hapart n).
  assert (H0 := outer_mass_nonneg (fun w => joined_all S w /\ ~ joined_all S w)).
  apply Rle_trans with (partial_sum (fun i => outer_mass (fun w => joined_all S w /\ S i w)) n); [| lra].
  apply sum_le; intros i _; apply outer_mass_larger; intros w _ Hi; split; [exists i |]; exact Hi.
Qed.

(** A set splits when it cuts every cell into two cells that are not heavier together. *)
Lemma splits_of_cells : forall H (within without : C -> C),
  (forall b w, space w -> cell b w -> (H w -> cell (within b) w) /\ (~ H w -> cell (without b) w)) ->
  (forall b, mass (within b) + mass (without b) <= mass b) -> splits H.
Proof.
  intros H within without Hcells Hmass S; apply outer_mass_ge; intros r [c [Hc Hr]].
  set (inner n := partial_sum (fun i => mass (within (c i))) n).
  set (rest n := partial_sum (fun i => mass (without (c i))) n).
  assert (Hsum : forall n m, inner n + rest m <= r).
  { intros n m; apply Rle_trans with (inner (n + m)%nat + rest (n + m)%nat).
    - apply Rplus_le_compat; apply partial_sum_longer; try lia; intros; apply cell_mass_nonneg.
    - eapply Rle_trans; [| apply (Hr (n + m)%nat)]; unfold inner, rest, partial_sum; rewrite <- sum_plus.
      apply sum_le; intros i _; apply Hmass. }
  assert (Hrest : forall n, outer_mass (fun w => S w /\ ~ H w) <= r - inner n).
  { intros n; apply outer_mass_le; exists (fun i => without (c i)); split.
    - intros w Hw [HS Hn]; destruct (Hc w Hw HS) as [i Hi]; exists i; apply (Hcells _ w Hw Hi), Hn.
    - intros m; specialize (Hsum n m); unfold rest in Hsum; lra. }
  assert (Hinner : outer_mass (fun w => S w /\ H w) <= r - outer_mass (fun w => S w /\ ~ H w)); [| lra].
  apply outer_mass_le; exists (fun i => within (c i)); split.
  - intros w Hw [HS HH]; destruct (Hc w Hw HS) as [i Hi]; exists i; apply (Hcells _ w Hw Hi), HH.
  - intros n; specialize (Hrest n); unfold inner in Hrest; lra.
Qed.

Lemma outer_mass_of_cell : forall b,
  (forall c r, covers c (cell b) -> (forall n, partial_sum (fun i => mass (c i)) n <= r) -> mass b <= r) ->
  outer_mass (cell b) = mass b.
Proof.
  intros b Hb; apply Rle_antisym; [apply outer_mass_le | apply outer_mass_ge; intros r [c [Hc Hr]];
    exact (Hb c r Hc Hr)].
  exists (fun i => match i with O => b | _ => nothing end); split; [intros w _ Hw; exists 0%nat; exact Hw |].
  intros [| n]; [apply cell_mass_nonneg |]; right; induction n as [| n IH]; [cbn; ring |].
  rewrite partial_sum_next, IH, nothing_has_no_mass; ring.
Qed.
End Outer.
