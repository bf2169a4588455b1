(** * The measure that has given densities

    Continuous densities of total mass 1, one per coordinate, have exactly one law: a countably additive
    measure on the Borel sets that gives every box the product of the integrals over its sides. Half-spaces
    cut the outer mass of every box, hence of every set, in two; and two such laws are (0, 0)-close, hence
    equal. So what we prove of any such measure we prove of the distribution of the noise. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Analysis Expectation TestFunctions CountableMeasures BorelEvents
  OuterMeasure BoxCovers.
Import ListNotations.
Open Scope R_scope.

(** ** Words *)

(** Continuous, nowhere negative, of total mass 1. *)
Definition probability_density {A : Type} (p : A -> R -> R) : Prop :=
  continuous_density p /\ nonnegative_density p /\
  (forall a u v, u <= v -> RInt (p a) u v <= 1) /\
  (forall a eta, 0 < eta -> exists M, 0 <= M /\ 1 - eta <= RInt (p a) (- M) M).

(** [mu] is a probability, has the densities, and any measure that has them agrees with it on all Borel
    sets. *)
Definition the_law {A : Type} (l : list A) (p : A -> R -> R) (mu : (list R -> Prop) -> R) : Prop :=
  law_of_densities l p mu /\ mu (fun _ => True) = 1 /\
  forall nu, law_of_densities l p nu -> forall S, borel (length l) S -> nu S = mu S.

(** ** Cutting a box by a coordinate *)

(** A box with its j-th side changed. *)
Fixpoint change_side (change : R * R -> R * R) (j : nat) (sides : list (R * R)) {struct sides}
  : list (R * R) :=
  match sides, j with
  | [], _ => []
  | side :: sides', O => change side :: sides'
  | side :: sides', S j' => side :: change_side change j' sides'
  end.

Definition side_up_to (top : R) (side : R * R) : R * R := (fst side, Rmin (snd side) top).
Definition side_from (bottom : R) (side : R * R) : R * R := (Rmax (fst side) bottom, snd side).

Lemma box_set_change_side : forall change sides j ts, box_set sides ts ->
  (forall side, inside side (nth j ts 0) -> inside (change side) (nth j ts 0)) ->
  box_set (change_side change j sides) ts.
Proof.
  intros change sides j ts H; revert j; induction H as [| side t sides ts Ht Hts IH]; intros j Hchange;
    [destruct j; constructor |].
  destruct j as [| j]; cbn [change_side nth] in *; constructor; [apply Hchange, Ht | assumption | exact Ht |].
  apply IH, Hchange.
Qed.

Lemma box_set_nth : forall sides ts, length ts = length sides ->
  (box_set sides ts <-> forall i, (i < length sides)%nat -> inside (nth i sides (0, 0)) (nth i ts 0)).
Proof.
  induction sides as [| side sides IH]; intros [| t ts] Hlength; try discriminate.
  - split; [intros _ i Hi; cbn in Hi; lia | constructor].
  - injection Hlength as Hlength; split.
    + intros H; inversion H as [| a b c e Ht Hts]; subst; intros [| i] Hi; [exact Ht |].
      apply (proj1 (IH ts Hlength) Hts); cbn in Hi; lia.
    + intros H; constructor; [apply (H 0%nat); cbn; lia | apply IH; [exact Hlength |]].
      intros i Hi; apply (H (S i)); cbn; lia.
Qed.

Section Measure.
Context {A : Type}.
Variables (l : list A) (p : A -> R -> R).
Hypothesis choice : countable_choice.
Hypothesis p_density : probability_density p.

Let p_continuous := proj1 p_density.
Let p_nonneg := proj1 (proj2 p_density).
Let p_at_most_1 := proj1 (proj2 (proj2 p_density)).
Let k := length l.

Lemma side_mass_cut : forall a side c,
  side_mass (p a) (side_up_to c side) + side_mass (p a) (side_from c side) = side_mass (p a) side.
Proof.
  intros a [u v] c; unfold side_mass, side_up_to, side_from; cbn [fst snd].
  set (F x := RInt (p a) 0 x).
  assert (E : forall x y, RInt (p a) x y = F y - F x)
    by (intros x y; unfold F; rewrite <- (RInt_split (p a) 0 x y (p_continuous a)); lra).
  rewrite !E; unfold Rmin, Rmax; repeat destruct Rle_dec; try lra;
    match goal with |- context [F ?x - F ?y] => replace x with y by lra end; lra.
Qed.

Lemma sides_mass_cut : forall c l' j sides, (j < length l')%nat ->
  sides_mass p l' (change_side (side_up_to c) j sides) + sides_mass p l' (change_side (side_from c) j sides)
  = sides_mass p l' sides.
Proof.
  intros c; induction l' as [| a l' IH]; intros j [| side sides] Hj; try (cbn in Hj; lia);
    [apply Rplus_0_l |].
  destruct j as [| j]; cbn [change_side sides_mass].
  - rewrite <- (side_mass_cut a side c); ring.
  - rewrite <- (IH j sides) by (cbn in Hj; lia); ring.
Qed.

(** ** Countably many boxes cover all outcomes *)

(** Unit intervals: [j, j + 1] in row 0, [- j - 1, - j] in row 1. *)
Definition unit_side (i j : nat) : R * R :=
  match i with O => (INR j, INR j + 1) | 1%nat => (- INR j - 1, - INR j) | _ => (1, 0) end.

Lemma unit_sides_cover : forall t, exists i j, inside (unit_side i j) t.
Proof.
  intros t; destruct (Rle_or_lt 0 t) as [H | H]; [exists 0%nat | exists 1%nat];
    [destruct (nfloor_ex t H) as [j Hj] | destruct (nfloor_ex (- t) ltac:(lra)) as [j Hj]];
    exists j; unfold inside, unit_side; cbn [fst snd]; lra.
Qed.

Lemma unit_sides_mass : forall a m n,
  partial_sum (fun i => partial_sum (fun j => side_mass (p a) (unit_side i j)) m) n <= 2.
Proof.
  intros a m n; set (row i := partial_sum (fun j => side_mass (p a) (unit_side i j)) m).
  assert (H0 : row 0%nat <= 1).
  { apply Rle_trans with (RInt (p a) 0 (INR m)); [right | apply p_at_most_1, pos_INR]; unfold row.
    induction m as [| m IH]; [cbn; symmetry; apply (RInt_point 0 (p a)) |].
    rewrite partial_sum_next, IH, S_INR; unfold side_mass, unit_side; cbn [fst snd].
    rewrite Rmax_right by lra; apply RInt_split, p_continuous. }
  assert (H1 : row 1%nat <= 1).
  { apply Rle_trans with (RInt (p a) (- INR m) 0);
      [right | apply p_at_most_1; generalize (pos_INR m); lra]; unfold row; clear H0.
    induction m as [| m IH]; [cbn; rewrite Ropp_0; symmetry; apply (RInt_point 0 (p a)) |].
    rewrite partial_sum_next, IH, S_INR; unfold side_mass, unit_side; cbn [fst snd].
    rewrite Rmax_right, Rplus_comm, Ropp_plus_distr by lra; apply RInt_split, p_continuous. }
  assert (H2 : forall i, row (S (S i)) = 0).
  { intros i; apply sum_zero; intros j _; unfold side_mass, unit_side; cbn [fst snd].
    rewrite Rmax_left by lra; apply (RInt_point 1 (p a)). }
  assert (Hrow : forall i, 0 <= row i) by (intros i; apply sum_nonneg; intros j _;
    apply side_mass_nonneg; [apply p_continuous | apply p_nonneg]).
  apply Rle_trans with (partial_sum row (2 + n)); [apply partial_sum_longer; [exact Hrow | lia] |].
  apply Rle_trans with (row 0%nat + row 1%nat); [right | lra].
  induction n as [| n IH]; [cbn; ring |].
  change (2 + S n)%nat with (S (2 + n)); rewrite partial_sum_next, IH.
  change (row (2 + n)%nat) with (row (S (S n))); rewrite H2; ring.
Qed.

Definition outcome_of_length (ts : list R) : Prop := length ts = k.

Lemma boxes_cover_all : forall l', exists total, covered_within (fun ts => length ts = length l') box_set
  (sides_mass p l') (fun _ => True) total.
Proof.
  induction l' as [| a l' [total [boxes [Hcover Hsum]]]].
  - exists 1, (fun i => match i with O => [] | _ => [(0, 0)] end); split.
    + intros [| t ts] H _; [exists 0%nat; constructor | discriminate].
    + intros [| n]; [cbn; lra |]; right; induction n as [| n IH]; [cbn; ring |].
      rewrite partial_sum_next, IH; cbn; ring.
  - exists (2 * total).
    exists (fun m => unit_side (fst (pair_at (fst (pair_at m)))) (snd (pair_at (fst (pair_at m))))
      :: boxes (snd (pair_at m))); split.
    + intros [| t ts] H _; [discriminate |]; injection H as H.
      destruct (unit_sides_cover t) as [i [j Hij]]; destruct (Hcover ts H I) as [b Hb].
      destruct (every_pair i j) as [c Hc]; destruct (every_pair c b) as [m Hm]; exists m.
      rewrite Hm; cbn [fst snd]; rewrite Hc; constructor; assumption.
    + apply (sum_along_pairs (fun c b => side_mass (p a) (unit_side (fst (pair_at c)) (snd (pair_at c)))
        * sides_mass p l' (boxes b))).
      * intros i j; apply Rmult_le_pos; [apply side_mass_bounds | apply sides_mass_bounds]; assumption.
      * intros n m; unfold partial_sum.
        rewrite (sum_ext (seq 0 n) _ (fun c => side_mass (p a) (unit_side (fst (pair_at c)) (snd (pair_at c)))
          * partial_sum (fun b => sides_mass p l' (boxes b)) m)) by (intros; apply sum_scal).
        rewrite sum_scal_r; apply Rmult_le_compat; [| | | apply Hsum].
        -- apply sum_nonneg; intros; apply side_mass_bounds; assumption.
        -- apply sum_nonneg; intros; apply sides_mass_bounds; assumption.
        -- apply (sum_along_pairs (fun i j => side_mass (p a) (unit_side i j)));
             intros; [apply side_mass_bounds; assumption | apply unit_sides_mass].
Qed.

(** ** The measure *)

Definition box_measure : (list R -> Prop) -> R := outer_mass outcome_of_length box_set (sides_mass p l).

Let nothing := repeat (0, 0) (S k).

Lemma nothing_weighs_nothing : sides_mass p l nothing = 0.
Proof. apply sides_mass_length; unfold nothing; rewrite repeat_length; fold k; lia. Qed.

Lemma half_space_splits : forall j c, (j < k)%nat ->
  splits outcome_of_length box_set (sides_mass p l) (fun ts => nth j ts 0 <= c) /\
  splits outcome_of_length box_set (sides_mass p l) (fun ts => c <= nth j ts 0).
Proof.
  intros j c Hj; destruct (boxes_cover_all l) as [total Hall].
  assert (Hpos : forall sides, 0 <= sides_mass p l sides) by (intros; apply sides_mass_bounds; assumption).
  assert (Hlow : forall sides ts, box_set sides ts -> nth j ts 0 <= c ->
    box_set (change_side (side_up_to c) j sides) ts).
  { intros sides ts Hts Hc; apply box_set_change_side; [exact Hts |]; intros [u v] [H1 H2]; split;
      [exact H1 | apply Rmin_glb; assumption]. }
  assert (Hhigh : forall sides ts, box_set sides ts -> c <= nth j ts 0 ->
    box_set (change_side (side_from c) j sides) ts).
  { intros sides ts Hts Hc; apply box_set_change_side; [exact Hts |]; intros [u v] [H1 H2]; split;
      [apply Rmax_lub; assumption | exact H2]. }
  assert (Hcut := splits_of_cells outcome_of_length box_set (sides_mass p l) total Hpos Hall).
  split; [apply (Hcut _ (change_side (side_up_to c) j) (change_side (side_from c) j))
    | apply (Hcut _ (change_side (side_from c) j) (change_side (side_up_to c) j))].
  - intros sides ts _ Hts; split; intros Hc; [apply Hlow | apply Hhigh]; try assumption; lra.
  - intros sides; right; apply sides_mass_cut, Hj.
  - intros sides ts _ Hts; split; intros Hc; [apply Hhigh | apply Hlow]; try assumption; lra.
  - intros sides; right; rewrite Rplus_comm; apply sides_mass_cut, Hj.
Qed.

Lemma closed_box_splits : forall S, closed_box k S -> splits outcome_of_length box_set (sides_mass p l) S.
Proof.
  intros S [sides [Hsides E]]; destruct (boxes_cover_all l) as [total Hall].
  assert (Hpos : forall b, 0 <= sides_mass p l b) by (intros; apply sides_mass_bounds; assumption).
  apply (splits_same outcome_of_length box_set (sides_mass p l) total Hall
    (fun ts => forall i, (i < k)%nat -> inside (nth i sides (0, 0)) (nth i ts 0))).
  - intros ts Hts; rewrite (E ts), box_set_nth, Hsides by (rewrite Hsides; exact Hts); reflexivity.
  - apply (splits_all_below outcome_of_length box_set (sides_mass p l) nothing total choice Hpos
      nothing_weighs_nothing Hall).
    intros i Hi; apply (splits_both outcome_of_length box_set (sides_mass p l) nothing total choice Hpos
      nothing_weighs_nothing Hall); apply half_space_splits, Hi.
Qed.

Theorem box_measure_is_a_law : law_of_densities l p box_measure.
Proof.
  destruct (boxes_cover_all l) as [total Hall].
  assert (Hpos : forall b, 0 <= sides_mass p l b) by (intros; apply sides_mass_bounds; assumption).
  split; [| split].
  - apply (outer_mass_is_a_measure outcome_of_length box_set (sides_mass p l) nothing total choice Hpos
      nothing_weighs_nothing Hall), closed_box_splits.
  - apply (outer_mass_empty outcome_of_length box_set (sides_mass p l) nothing total
      nothing_weighs_nothing Hall).
    intros ts Hts Hn; exact (Hn Hts).
  - intros sides Hsides Hordered; rewrite <- (sides_mass_of_box p l sides Hsides Hordered).
    apply (outer_mass_of_cell outcome_of_length box_set (sides_mass p l) nothing total Hpos
      nothing_weighs_nothing Hall).
    intros boxes r Hcover Hr; apply (boxes_cover_box p p_continuous p_nonneg p_at_most_1 l sides boxes r
      Hsides Hcover Hr).
Qed.
End Measure.

(** ** Total mass and uniqueness *)

Section Law.
Context {A : Type}.
Variables (l : list A) (p : A -> R -> R).
Hypothesis p_density : probability_density p.

Let p_continuous := proj1 p_density.
Let p_nonneg := proj1 (proj2 p_density).
Let p_at_most_1 := proj1 (proj2 (proj2 p_density)).
Let p_near_1 := proj2 (proj2 (proj2 p_density)).

Lemma window_probability_bounds : forall l' M, 0 <= M ->
  0 <= box_probability l' p (window M (length l')) <= 1.
Proof.
  intros l' M HM; rewrite <- sides_mass_of_box; [apply sides_mass_bounds; assumption | apply repeat_length |].
  apply Forall_forall; intros side Hside; apply repeat_spec in Hside; subst side; cbn; lra.
Qed.

Lemma window_probability_near_1 : forall l' eta, 0 < eta -> exists M0, 0 <= M0 /\ forall M, M0 <= M ->
  1 - eta <= box_probability l' p (window M (length l')).
Proof.
  induction l' as [| a l' IH]; intros eta Heta; [exists 0; split; [lra |]; intros; cbn; lra |].
  destruct (IH (eta / 2) ltac:(lra)) as [M0 [HM0 H0]].
  destruct (p_near_1 a (eta / 2) ltac:(lra)) as [M1 [HM1 H1]].
  exists (M0 + M1); split; [lra |]; intros M HM; cbn [length window repeat box_probability fst snd].
  fold (window M (length l')); specialize (H0 M ltac:(lra)).
  assert (Hwide : RInt (p a) (- M1) M1 <= RInt (p a) (- M) M).
  { rewrite <- (RInt_split (p a) (- M) (- M1) M (p_continuous a)),
      <- (RInt_split (p a) (- M1) M1 M (p_continuous a)).
    assert (Hpos : forall u v, u <= v -> 0 <= RInt (p a) u v)
      by (intros; apply RInt_ge_0; [assumption | apply ex_RInt_cont, p_continuous | intros; apply p_nonneg]).
    generalize (Hpos (- M) (- M1) ltac:(lra)) (Hpos M1 M ltac:(lra)); lra. }
  assert (Hone := p_at_most_1 a (- M) M ltac:(lra)); assert (Hb := window_probability_bounds l' M ltac:(lra)).
  nra.
Qed.

Lemma law_has_mass_1 : forall mu, law_of_densities l p mu -> mu (fun _ => True) = 1.
Proof.
  intros mu Hmu; set (k := length l); destruct (proj1 Hmu) as [_ [Hsame _]].
  assert (Hall : borel k (fun _ => True)).
  { apply sigma_same with (outside no_set); [intros w; unfold outside, no_set; tauto |].
    apply sigma_outside, measurable_empty, some_box. }
  assert (Hwindow : forall M, 0 <= M -> mu (box_set (window M k)) = box_probability l p (window M k)).
  { intros M HM; apply Hmu; [apply repeat_length |]; apply Forall_forall; intros side Hside.
    apply repeat_spec in Hside; subst side; cbn; lra. }
  apply Rle_antisym; apply le_epsilon; intros eta Heta.
  - destruct (mass_in_a_window k mu (proj1 Hmu) (proj1 (proj2 Hmu)) (fun _ => True) eta Hall Heta)
      as [M [HM Hnear]].
    rewrite (Hsame (fun ts => True /\ box_set (window M k) ts) (box_set (window M k))),
      (Hwindow M HM) in Hnear by (intros w; tauto).
    generalize (window_probability_bounds l M HM); fold k; lra.
  - destruct (window_probability_near_1 l eta Heta) as [M [HM Hnear]]; specialize (Hnear M (Rle_refl M)).
    assert (mu (box_set (window M k)) <= mu (fun _ => True)); [| rewrite Hwindow in *; unfold k in *; lra].
    apply (mass_larger (closed_box k) (some_box l) mu (proj1 Hmu)); [| exact Hall | tauto].
    apply box_is_borel, repeat_length.
Qed.

Lemma indistinguishable_from_itself : indistinguishable 0 0 l p p.
Proof. intros lower upper test _ _ _ _; rewrite exp_0; lra. Qed.

Lemma law_is_unique : forall mu nu, law_of_densities l p mu -> law_of_densities l p nu ->
  forall S, borel (length l) S -> nu S = mu S.
Proof.
  intros mu nu Hmu Hnu S HS.
  assert (H : borel_indistinguishable 0 0 l p p)
    by (apply indistinguishable_on_borel_sets;
      [exact p_continuous | exact p_continuous | apply indistinguishable_from_itself]).
  generalize (H mu nu Hmu Hnu S HS) (H nu mu Hnu Hmu S HS); rewrite exp_0; lra.
Qed.
End Law.

Theorem probability_densities_have_one_law : countable_choice -> forall (A : Type) (l : list A) p,
  probability_density p -> exists mu, the_law l p mu.
Proof.
  intros choice A l p Hp; assert (Hlaw := box_measure_is_a_law l p choice Hp); exists (box_measure l p).
  split; [exact Hlaw | split; [exact (law_has_mass_1 l p Hp _ Hlaw) |]].
  intros nu Hnu; exact (law_is_unique l p Hp _ nu Hlaw Hnu).
Qed.
