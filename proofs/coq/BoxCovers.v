(** * If countably many boxes cover a box, they weigh at least as much

    The mass of a box is the product of the integrals of continuous densities over its sides. We take one
    coordinate after the other. On a closed interval, sums of weights of open intervals that come near a bound
    at each point come near it at all points at once (Heine and Borel), so their integrals compare. The proof
    needs no compactness in many dimensions. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Analysis Expectation TestFunctions CountableMeasures BorelEvents
  OuterMeasure.
Import ListNotations.
Open Scope R_scope.

(** ** Words *)

(** The mass of an interval; 0 when it is empty. *)
Definition side_mass (f : R -> R) (side : R * R) : R := RInt f (fst side) (Rmax (fst side) (snd side)).

(** The mass of a box; 0 when it has another number of sides. *)
Fixpoint sides_mass {A : Type} (p : A -> R -> R) (l : list A) (sides : list (R * R)) : R :=
  match l, sides with
  | [], [] => 1
  | a :: l', side :: sides' => side_mass (p a) side * sides_mass p l' sides'
  | _, _ => 0
  end.

(** Indicators of an open interval and of an open box. *)
Definition between_strictly (side : R * R) (t : R) : R :=
  if Rlt_dec (fst side) t then if Rlt_dec t (snd side) then 1 else 0 else 0.

Fixpoint open_box_indicator (sides : list (R * R)) (ts : list R) : R :=
  match sides, ts with
  | [], [] => 1
  | side :: sides', t :: ts' => between_strictly side t * open_box_indicator sides' ts'
  | _, _ => 0
  end.

Lemma between_strictly_bounds : forall side t, 0 <= between_strictly side t <= 1.
Proof. intros [u v] t; unfold between_strictly; repeat destruct Rlt_dec; lra. Qed.

Lemma open_box_indicator_bounds : forall sides ts, 0 <= open_box_indicator sides ts <= 1.
Proof.
  induction sides as [| side sides IH]; intros [| t ts]; cbn [open_box_indicator]; try lra.
  generalize (between_strictly_bounds side t) (IH ts); intros; split; nra.
Qed.

(** ** One coordinate *)

(** What holds near every point of an interval, and passes to adjacent intervals, holds on it. *)
Lemma interval_induction : forall (good : R -> R -> Prop) u v, u <= v ->
  (forall a b c, good a b -> good b c -> good a c) ->
  (forall t, u <= t <= v -> exists d, 0 < d /\ forall a b, t - d < a -> a <= b -> b < t + d -> good a b) ->
  good u v.
Proof.
  intros good u v Huv Hjoin Hnear.
  destruct (completeness (fun b => u <= b <= v /\ good u b)) as [top [Hup Hleast]].
  - exists v; intros b [Hb _]; lra.
  - exists u; split; [lra |]; destruct (Hnear u ltac:(lra)) as [d [Hd H]]; apply H; lra.
  - assert (Hstart : u <= top).
    { apply Hup; split; [lra |]; destruct (Hnear u ltac:(lra)) as [d [Hd H]]; apply H; lra. }
    assert (Htop : top <= v) by (apply Hleast; intros b [Hb _]; lra).
    destruct (Hnear top ltac:(lra)) as [d [Hd H]].
    destruct (Classical_Prop.classic (exists b, top - d < b /\ u <= b <= v /\ good u b)) as [Hb | Hno].
    + destruct Hb as [b [Hb [Hb' Hgood]]]; assert (b <= top) by (apply Hup; split; assumption).
      destruct (Rle_or_lt v (top + d / 2)) as [Hv | Hv]; [apply Hjoin with b; [exact Hgood | apply H; lra] |].
      assert (top + d / 2 <= top); [| lra]; apply Hup; split; [lra |].
      apply Hjoin with b; [exact Hgood | apply H; lra].
    + assert (top <= top - d); [| lra]; apply Hleast; intros b Hb.
      destruct (Rle_or_lt b (top - d)); [assumption | exfalso; apply Hno; exists b; tauto].
Qed.

Lemma between_strictly_nearby : forall side t, exists d, 0 < d /\
  forall t', t - d < t' < t + d -> between_strictly side t <= between side t'.
Proof.
  intros [u v] t; unfold between_strictly; cbn [fst snd]; destruct (Rlt_dec u t) as [Hu | Hu];
    [destruct (Rlt_dec t v) as [Hv | Hv] |]; try (exists 1; split; [lra | intros; apply between_bounds]).
  exists (Rmin (t - u) (v - t)); split; [apply Rmin_pos; lra |]; intros t' Ht'.
  generalize (Rmin_l (t - u) (v - t)) (Rmin_r (t - u) (v - t)); intros; unfold between; cbn [fst snd].
  repeat destruct Rle_dec; lra.
Qed.

Section OneSide.
Variables (f : R -> R) (weight : nat -> R) (side : nat -> R * R).
Hypothesis f_continuous : forall t, continuous f t.
Hypothesis f_nonneg : forall t, 0 <= f t.
Hypothesis weight_nonneg : forall i, 0 <= weight i.

Lemma weights_nearby : forall n t, exists d, 0 < d /\ forall t', t - d < t' < t + d ->
  partial_sum (fun i => weight i * between_strictly (side i) t) n
    <= partial_sum (fun i => weight i * between (side i) t') n.
Proof.
  intros n t; induction n as [| n [d [Hd IH]]]; [exists 1; split; [lra | intros; apply Rle_refl] |].
  destruct (between_strictly_nearby (side n) t) as [d' [Hd' H]]; exists (Rmin d d').
  split; [apply Rmin_pos; assumption |].
  generalize (Rmin_l d d') (Rmin_r d d'); intros Hl Hr t' Ht'; rewrite !partial_sum_next.
  apply Rplus_le_compat; [apply IH; lra | apply Rmult_le_compat_l; [apply weight_nonneg | apply H; lra]].
Qed.

(** Heine and Borel: one number of intervals for all points. *)
Lemma weights_everywhere : forall u v bound, u <= v ->
  (forall t, u <= t <= v ->
    exists n, bound <= partial_sum (fun i => weight i * between_strictly (side i) t) n) ->
  exists n, forall t, u <= t <= v -> bound <= partial_sum (fun i => weight i * between (side i) t) n.
Proof.
  intros u v bound Huv Hpoint.
  apply (interval_induction (fun a b => exists n, forall t, a <= t <= b ->
    bound <= partial_sum (fun i => weight i * between (side i) t) n) u v Huv).
  - intros a b c [n Hn] [m Hm]; exists (n + m)%nat; intros t Ht.
    assert (Hmore : forall k, (k <= n + m)%nat -> partial_sum (fun i => weight i * between (side i) t) k
      <= partial_sum (fun i => weight i * between (side i) t) (n + m)).
    { intros k; apply partial_sum_longer; intros i; apply Rmult_le_pos; [apply weight_nonneg |].
      apply between_bounds. }
    destruct (Rle_or_lt t b).
    + eapply Rle_trans; [apply (Hn t); lra | apply Hmore; lia].
    + eapply Rle_trans; [apply (Hm t); lra | apply Hmore; lia].
  - intros t Ht; destruct (Hpoint t Ht) as [n Hn]; destruct (weights_nearby n t) as [d [Hd H]].
    exists d; split; [exact Hd |]; intros a b Ha Hab Hb; exists n; intros t' Ht'.
    eapply Rle_trans; [exact Hn | apply H; lra].
Qed.

Lemma side_mass_nonneg : forall s, 0 <= side_mass f s.
Proof.
  intros s; apply RInt_ge_0; [apply Rmax_l | apply ex_RInt_cont, f_continuous | intros; apply f_nonneg].
Qed.

Lemma integral_between : forall s u v, u <= v -> RInt (fun t => f t * between s t) u v <= side_mass f s.
Proof.
  intros s u v Huv; set (M := Rabs u + Rabs v + Rabs (fst s) + Rabs (snd s)).
  generalize (Rabs_pos u) (Rabs_pos v) (Rabs_pos (fst s)) (Rabs_pos (snd s)); intros Pu Pv P1 P2.
  generalize (Rabs_maj2 u) (Rle_abs v) (Rabs_maj2 (fst s)) (Rle_abs (snd s)); intros Hu Hv H1 H2.
  assert (Hex : forall a b, a <= b -> ex_RInt (fun t => f t * between s t) a b)
    by (intros; apply ex_RInt_between; assumption).
  assert (Hpos : forall a b, a <= b -> 0 <= RInt (fun t => f t * between s t) a b).
  { intros a b Hab; apply RInt_ge_0; [exact Hab | apply Hex, Hab |].
    intros t _; apply Rmult_le_pos; [apply f_nonneg | apply between_bounds]. }
  assert (Hwide := integral_of_side M s f ltac:(split; unfold M; lra) ltac:(unfold M; lra) f_continuous).
  set (g := fun t => f t * between s t) in *.
  assert (E1 : RInt g (- M) u + RInt g u M = RInt g (- M) M)
    by (apply (RInt_Chasles g); apply Hex; unfold M; lra).
  assert (E2 : RInt g u v + RInt g v M = RInt g u M) by (apply (RInt_Chasles g); apply Hex; unfold M; lra).
  assert (Hleft := Hpos (- M) u ltac:(unfold M; lra)); assert (Hright := Hpos v M ltac:(unfold M; lra)).
  unfold side_mass; destruct (Rle_dec (fst s) (snd s)) as [Hs | Hs].
  - rewrite Rmax_right by exact Hs; lra.
  - assert (H0 := side_mass_nonneg s); unfold side_mass in H0; lra.
Qed.

Lemma integral_of_weights : forall u v n, u <= v ->
  ex_RInt (fun t => f t * partial_sum (fun i => weight i * between (side i) t) n) u v /\
  RInt (fun t => f t * partial_sum (fun i => weight i * between (side i) t) n) u v
    <= partial_sum (fun i => weight i * side_mass f (side i)) n.
Proof.
  intros u v n Huv; induction n as [| n [IHex IH]].
  - assert (E : forall t, f t * partial_sum (fun i => weight i * between (side i) t) 0 = 0)
      by (intros; apply Rmult_0_r).
    split; [apply (ex_RInt_ext (fun _ => 0)); [intros; symmetry; apply E | apply ex_RInt_const] |].
    rewrite (RInt_same _ _ u v E), RInt_constant; cbn; lra.
  - assert (E : forall t, f t * partial_sum (fun i => weight i * between (side i) t) (S n) =
      f t * partial_sum (fun i => weight i * between (side i) t) n + weight n * (f t * between (side n) t))
      by (intros; rewrite partial_sum_next; ring).
    assert (Hex : ex_RInt (fun t => f t * between (side n) t) u v) by (apply ex_RInt_between; assumption).
    assert (Hex' := ex_RInt_mult_const _ (weight n) u v Hex); split.
    + eapply ex_RInt_ext; [intros t _; symmetry; apply E | apply ex_RInt_add; assumption].
    + rewrite (RInt_same _ _ u v E), RInt_add, (RInt_mult_const (fun t => f t * between (side n) t)),
        partial_sum_next by assumption.
      apply Rplus_le_compat; [exact IH |]; apply Rmult_le_compat_l; [apply weight_nonneg |].
      apply integral_between, Huv.
Qed.

Lemma weights_cover_side : forall u v bound eta, u <= v -> 0 < eta ->
  (forall t e, u <= t <= v -> 0 < e ->
    exists n, bound - e <= partial_sum (fun i => weight i * between_strictly (side i) t) n) ->
  exists n, bound * RInt f u v - eta <= partial_sum (fun i => weight i * side_mass f (side i)) n.
Proof.
  intros u v bound eta Huv Heta Hpoint; set (whole := RInt f u v); set (e := eta / (1 + whole)).
  assert (Hwhole : 0 <= whole) by (apply RInt_ge_0; [exact Huv | apply ex_RInt_cont, f_continuous |];
    intros; apply f_nonneg).
  assert (He : 0 < e) by (apply Rdiv_lt_0_compat; lra).
  destruct (weights_everywhere u v (bound - e) Huv) as [n Hn]; [intros t Ht; apply Hpoint; assumption |].
  exists n; destruct (integral_of_weights u v n Huv) as [Hex Hle]; eapply Rle_trans; [| exact Hle].
  apply Rle_trans with ((bound - e) * whole).
  - assert (e * whole <= eta); [| lra]; apply Rle_trans with (e * (1 + whole)); [nra |].
    right; unfold e; field; lra.
  - unfold whole; rewrite <- (RInt_mult_const f) by apply ex_RInt_cont, f_continuous.
    apply RInt_le; [exact Huv | apply ex_RInt_mult_const, ex_RInt_cont, f_continuous | exact Hex |].
    intros t Ht; rewrite Rmult_comm; apply Rmult_le_compat_l; [apply f_nonneg | apply Hn; lra].
Qed.
End OneSide.

(** ** All coordinates *)

Section Boxes.
Context {A : Type}.
Variable p : A -> R -> R.
Hypothesis p_continuous : continuous_density p.
Hypothesis p_nonneg : nonnegative_density p.
Hypothesis p_at_most_1 : forall a u v, u <= v -> RInt (p a) u v <= 1.

Lemma side_mass_bounds : forall a side, 0 <= side_mass (p a) side <= 1.
Proof.
  intros a side; split; [apply side_mass_nonneg; [apply p_continuous | apply p_nonneg] |].
  apply p_at_most_1, Rmax_l.
Qed.

Lemma sides_mass_bounds : forall l sides, 0 <= sides_mass p l sides <= 1.
Proof.
  induction l as [| a l IH]; intros [| side sides]; cbn [sides_mass]; try lra.
  generalize (side_mass_bounds a side) (IH sides); intros; split; nra.
Qed.

Lemma sides_mass_length : forall l sides, length sides <> length l -> sides_mass p l sides = 0.
Proof.
  induction l as [| a l IH]; intros [| side sides] H; cbn [sides_mass length] in *; try reflexivity; [lia |].
  rewrite IH by lia; ring.
Qed.

Lemma sides_mass_of_box : forall l sides, length sides = length l ->
  Forall (fun side => fst side <= snd side) sides -> sides_mass p l sides = box_probability l p sides.
Proof.
  intros l sides; revert l; induction sides as [| side sides IH]; intros [| a l] Hlength Hordered;
    try discriminate; [reflexivity |].
  inversion Hordered as [| b c Hside Hrest]; injection Hlength as Hlength; subst.
  cbn [sides_mass box_probability].
  rewrite (IH l Hlength Hrest); unfold side_mass; rewrite Rmax_right by exact Hside; reflexivity.
Qed.

(** A box with a side in the wrong order is empty, and has no mass. *)
Lemma sides_in_order : forall l sides, length sides = length l ->
  Forall (fun side => fst side <= snd side) sides \/ sides_mass p l sides = 0.
Proof.
  induction l as [| a l IH]; intros [| side sides] H; try discriminate; [left; constructor |].
  injection H as H; cbn [sides_mass]; destruct (IH sides H) as [Hrest | ->]; [| right; ring].
  destruct (Rle_or_lt (fst side) (snd side)) as [Hside | Hside]; [left; constructor; assumption | right].
  unfold side_mass; rewrite Rmax_left, RInt_point by lra; apply Rmult_0_l.
Qed.

(** Weights of open boxes that come near to a bound at every point of a closed box. *)
Lemma weights_cover_box : forall l sides weight (boxes : nat -> list (R * R)) bound eta,
  length sides = length l -> Forall (fun side => fst side <= snd side) sides -> (forall i, 0 <= weight i) ->
  (forall ts e, box_set sides ts -> 0 < e ->
    exists n, bound - e <= partial_sum (fun i => weight i * open_box_indicator (boxes i) ts) n) -> 0 < eta ->
  exists n, bound * sides_mass p l sides - eta
    <= partial_sum (fun i => weight i * sides_mass p l (boxes i)) n.
Proof.
  induction l as [| a l IH];
    intros [| side sides] weight boxes bound eta Hlength Hordered Hweight Hpoint Heta;
    try discriminate.
  - destruct (Hpoint [] eta ltac:(constructor) Heta) as [n Hn]; exists n; cbn [sides_mass]; rewrite Rmult_1_r.
    eapply Rle_trans; [exact Hn |]; right; apply sum_ext; intros i _; destruct (boxes i); reflexivity.
  - inversion Hordered as [| b c Hside Hrest]; injection Hlength as Hlength; subst.
    set (some i := match boxes i with [] => 0 | _ => 1 end).
    set (first i := hd (0, 0) (boxes i)); set (rest i := tl (boxes i)).
    assert (Hsome : forall i, 0 <= weight i * some i)
      by (intros i; apply Rmult_le_pos; [apply Hweight | unfold some; destruct (boxes i); lra]).
    assert (Hinner : forall t e, fst side <= t <= snd side -> 0 < e -> exists n,
      bound * sides_mass p l sides - e <=
      partial_sum (fun i => weight i * some i * sides_mass p l (rest i) * between_strictly (first i) t) n).
    { intros t e Ht He.
      destruct (IH sides
        (fun i => weight i * some i * between_strictly (first i) t) rest bound e Hlength Hrest)
        as [n Hn]; [| | exact He |].
      - intros i; apply Rmult_le_pos; [apply Hsome | apply between_strictly_bounds].
      - intros ts e' Hts He'; destruct (Hpoint (t :: ts) e' ltac:(constructor; assumption) He') as [n Hn].
        exists n; eapply Rle_trans; [exact Hn |]; right; apply sum_ext; intros i _.
        unfold some, first, rest; destruct (boxes i); cbn [open_box_indicator hd tl]; ring.
      - exists n; eapply Rle_trans; [exact Hn |]; right; apply sum_ext; intros i _; ring. }
    assert (Hall : forall i, 0 <= weight i * some i * sides_mass p l (rest i))
      by (intros i; apply Rmult_le_pos; [apply Hsome | apply sides_mass_bounds]).
    destruct (weights_cover_side (p a) _ first (p_continuous a) (p_nonneg a) Hall _ _ _ eta Hside Heta Hinner)
      as [n Hn].
    assert (E : bound * sides_mass p (a :: l) (side :: sides)
      = bound * sides_mass p l sides * RInt (p a) (fst side) (snd side))
      by (cbn [sides_mass]; unfold side_mass; rewrite Rmax_right by exact Hside; ring).
    exists n; rewrite E; eapply Rle_trans; [exact Hn |]; right; apply sum_ext; intros i _.
    unfold some, first, rest; destruct (boxes i); cbn [sides_mass hd tl]; ring.
Qed.

(** ** Slightly larger boxes *)

Definition widened (d : R) (side : R * R) : R * R := (fst side - d, Rmax (fst side) (snd side) + d).

Lemma widened_side_mass : forall a side eta, 0 < eta -> exists d0, 0 < d0 /\
  forall d, 0 < d <= d0 -> side_mass (p a) (widened d side) <= side_mass (p a) side + eta.
Proof.
  intros a [u v] eta Heta; set (F x := RInt (p a) 0 x); set (m := Rmax u v).
  assert (Hcont : forall x, continuity_pt F x)
    by (intros x; apply derive_continuity with (p a x), derive_RInt_upper, p_continuous).
  assert (HF : forall x y, RInt (p a) x y = F y - F x)
    by (intros x y; unfold F; rewrite <- (RInt_split (p a) 0 x y (p_continuous a)); lra).
  destruct (Hcont u (eta / 2) ltac:(lra)) as [d1 [Hd1 H1]].
  destruct (Hcont m (eta / 2) ltac:(lra)) as [d2 [Hd2 H2]].
  exists (Rmin d1 d2 / 2); generalize (Rmin_l d1 d2) (Rmin_r d1 d2) (Rmin_pos d1 d2 Hd1 Hd2).
  intros L1 L2 Lpos; split; [lra |]; intros d Hd; unfold side_mass, widened; cbn [fst snd]; fold m.
  assert (Hum : u <= m) by apply Rmax_l; rewrite Rmax_right, !HF by lra.
  assert (G1 : Rabs (F (u - d) - F u) < eta / 2).
  { apply H1; split; [split; [exact I | lra] |]; unfold dist; cbn; unfold R_dist; rewrite Rabs_left; lra. }
  assert (G2 : Rabs (F (m + d) - F m) < eta / 2).
  { apply H2; split; [split; [exact I | lra] |]; unfold dist; cbn; unfold R_dist; rewrite Rabs_right; lra. }
  apply Rabs_def2 in G1; apply Rabs_def2 in G2; lra.
Qed.

Lemma widened_sides_mass : forall l sides eta, 0 < eta -> exists d0, 0 < d0 /\
  forall d, 0 < d <= d0 -> sides_mass p l (map (widened d) sides) <= sides_mass p l sides + eta.
Proof.
  induction l as [| a l IH]; intros [| side sides] eta Heta;
    try (exists 1; split; [lra |]; intros d _; cbn [map sides_mass]; lra).
  set (e := Rmin 1 (eta / 3)); assert (He : 0 < e) by (apply Rmin_pos; lra).
  generalize (Rmin_l 1 (eta / 3)) (Rmin_r 1 (eta / 3)); fold e; intros He1 He2.
  destruct (widened_side_mass a side e He) as [d1 [Hd1 H1]]; destruct (IH sides e He) as [d2 [Hd2 H2]].
  exists (Rmin d1 d2); split; [apply Rmin_pos; assumption |]; intros d Hd.
  generalize (Rmin_l d1 d2) (Rmin_r d1 d2); intros L1 L2; cbn [map sides_mass].
  specialize (H1 d ltac:(lra)); specialize (H2 d ltac:(lra)).
  generalize (side_mass_bounds a (widened d side)) (side_mass_bounds a side)
    (sides_mass_bounds l (map (widened d) sides)) (sides_mass_bounds l sides); intros.
  apply Rle_trans with ((side_mass (p a) side + e) * (sides_mass p l sides + e));
    [apply Rmult_le_compat; lra |].
  nra.
Qed.

Lemma inside_widened : forall d sides ts, 0 < d -> box_set sides ts ->
  open_box_indicator (map (widened d) sides) ts = 1.
Proof.
  intros d sides ts Hd H; induction H as [| side t sides ts Ht _ IH]; [reflexivity |].
  cbn [map open_box_indicator]; rewrite IH; generalize (Rmax_r (fst side) (snd side)); unfold inside in Ht.
  intros; unfold between_strictly, widened; cbn [fst snd]; repeat destruct Rlt_dec; lra.
Qed.

(** A number, not only its existence: no choice is needed to widen countably many boxes. *)
Lemma widening_number : forall l sides eta, 0 < eta ->
  { n : nat | sides_mass p l (map (widened (/ INR (S n))) sides) <= sides_mass p l sides + eta }.
Proof.
  intros l sides eta Heta; apply ConstructiveEpsilon.constructive_indefinite_ground_description_nat;
    [intros n; apply Rle_dec |].
  destruct (widened_sides_mass l sides eta Heta) as [d [Hd H]].
  destruct (nfloor_ex (/ d) (Rlt_le _ _ (Rinv_0_lt_compat d Hd))) as [n [_ Hn]]; exists n; apply H.
  assert (Hi := Rinv_0_lt_compat d Hd); rewrite S_INR; split; [apply Rinv_0_lt_compat; lra |].
  rewrite <- (Rinv_inv d); apply Rinv_le_contravar; lra.
Qed.

(** ** Countable subadditivity *)

Theorem boxes_cover_box : forall l sides (boxes : nat -> list (R * R)) total,
  length sides = length l ->
  (forall ts, length ts = length l -> box_set sides ts -> exists i, box_set (boxes i) ts) ->
  (forall n, partial_sum (fun i => sides_mass p l (boxes i)) n <= total) -> sides_mass p l sides <= total.
Proof.
  intros l sides boxes total Hlength Hcover Htotal.
  destruct (sides_in_order l sides Hlength) as [Hordered | ->]; [| exact (Htotal 0%nat)].
  apply le_epsilon; intros eta Heta; set (e := eta / 2); assert (He : 0 < e) by (unfold e; lra).
  set (wider i := map (widened (/ INR (S (proj1_sig (widening_number l (boxes i) (e / 2 ^ S i)
    (halves_positive e i He)))))) (boxes i)).
  assert (Hwider : forall i, sides_mass p l (wider i) <= sides_mass p l (boxes i) + e / 2 ^ S i)
    by (intros i; unfold wider; apply proj2_sig).
  assert (Hin : forall i ts, box_set (boxes i) ts -> open_box_indicator (wider i) ts = 1).
  { intros i ts; apply inside_widened, Rinv_0_lt_compat, lt_0_INR; lia. }
  destruct (weights_cover_box l sides (fun _ => 1) wider 1 e Hlength Hordered) as [n Hn];
    [intros; lra | | exact He |].
  - intros ts e' Hts He'; assert (Hl : length ts = length l)
      by (rewrite <- Hlength; apply box_set_length, Hts).
    destruct (Hcover ts Hl Hts) as [i Hi]; exists (S i); rewrite partial_sum_next, (Hin i ts Hi).
    assert (0 <= partial_sum (fun j => 1 * open_box_indicator (wider j) ts) i); [| lra].
    apply sum_nonneg; intros j _; generalize (open_box_indicator_bounds (wider j) ts); lra.
  - assert (Hsum : partial_sum (fun i => 1 * sides_mass p l (wider i)) n
      <= partial_sum (fun i => sides_mass p l (boxes i) + e / 2 ^ S i) n)
      by (apply sum_le; intros i _; rewrite Rmult_1_l; apply Hwider).
    unfold partial_sum in Hsum at 2; rewrite sum_plus in Hsum.
    assert (H1 := Htotal n); assert (H2 := partial_sum_halves e n He); unfold partial_sum, e in *; lra.
Qed.
End Boxes.
