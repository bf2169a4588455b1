(** * Which test functions there are

    [indistinguishable] speaks about test functions whose iterated integrals exist. For all continuous
    densities the indicators of finite unions of boxes are among them, so the definition is not empty. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool Lra.
From CFM Require Import Definitions Sums Analysis Expectation.
Import ListNotations.
Open Scope R_scope.

Definition between (side : R * R) (t : R) : R :=
  if Rle_dec (fst side) t then if Rle_dec t (snd side) then 1 else 0 else 0.

(** The indicator of a box; coordinates without a side are free. *)
Fixpoint box_indicator (sides : list (R * R)) (ts : list R) : R :=
  match sides, ts with
  | side :: sides', t :: ts' => between side t * box_indicator sides' ts'
  | _, _ => 1
  end.

(** A step function: a finite sum of multiples of indicators. *)
Definition step_function (terms : list (R * list (R * R))) (ts : list R) : R :=
  sum_over terms (fun term => fst term * box_indicator (snd term) ts).

(** The indicator of a finite union of boxes. *)
Definition union_indicator (boxes : list (list (R * R))) (ts : list R) : R :=
  1 - fold_right (fun sides outside => (1 - box_indicator sides ts) * outside) 1 boxes.

Lemma ex_RInt_between : forall (f : R -> R) side a b,
  a <= b -> (forall t, continuous f t) -> ex_RInt (fun t => f t * between side t) a b.
Proof.
  intros f [lo hi] a b Hab Hf.
  assert (Hzero : forall u v, u <= v -> (forall t, u < t < v -> between (lo, hi) t = 0) ->
    ex_RInt (fun t => f t * between (lo, hi) t) u v).
  { intros u v Huv H; apply (ex_RInt_ext (fun _ => 0)); [| apply ex_RInt_const].
    intros t Ht; rewrite Rmin_left, Rmax_right in Ht by exact Huv; rewrite H by exact Ht.
    match goal with |- @eq _ ?x ?y => change (@eq R x y) end; ring. }
  assert (Hone : forall u v, u <= v -> (forall t, u < t < v -> between (lo, hi) t = 1) ->
    ex_RInt (fun t => f t * between (lo, hi) t) u v).
  { intros u v Huv H; apply (ex_RInt_ext f); [| apply ex_RInt_cont, Hf].
    intros t Ht; rewrite Rmin_left, Rmax_right in Ht by exact Huv; rewrite H by exact Ht.
    match goal with |- @eq _ ?x ?y => change (@eq R x y) end; ring. }
  destruct (Rle_or_lt lo hi) as [Hlohi | Hempty].
  - set (m1 := Rmax a (Rmin lo b)); set (m2 := Rmax a (Rmin hi b)).
    assert (H1 : a <= m1 <= m2 /\ m2 <= b).
    { unfold m1, m2, Rmax, Rmin; repeat destruct Rle_dec; lra. }
    apply ex_RInt_Chasles with m1; [| apply ex_RInt_Chasles with m2].
    + apply Hzero; [lra |]; intros t Ht; unfold between; cbn [fst snd].
      destruct (Rle_dec lo t); [exfalso; revert Ht; unfold m1, Rmax, Rmin; repeat destruct Rle_dec;
        lra | reflexivity].
    + apply Hone; [lra |]; intros t Ht; unfold between; cbn [fst snd].
      destruct (Rle_dec lo t); [destruct (Rle_dec t hi); [reflexivity |] |];
        exfalso; revert Ht H1; unfold m1, m2, Rmax, Rmin; repeat destruct Rle_dec; lra.
    + apply Hzero; [lra |]; intros t Ht; unfold between; cbn [fst snd].
      destruct (Rle_dec lo t); [destruct (Rle_dec t hi) |]; try reflexivity.
      exfalso; revert Ht; unfold m2, Rmax, Rmin; repeat destruct Rle_dec; lra.
  - apply Hzero; [exact Hab |]; intros t _; unfold between; cbn [fst snd].
    destruct (Rle_dec lo t); [destruct (Rle_dec t hi) |]; lra.
Qed.

Section TestFunctions.

Context {A : Type}.
Variables lower upper : A -> R.
Hypothesis ordered : forall a, lower a <= upper a.
Variable p : A -> R -> R.
Hypothesis p_continuous : continuous_density p.

(** The probability of a box inside the box of integration. *)
Fixpoint box_mass (l : list A) (sides : list (R * R)) : R :=
  match l, sides with
  | a :: l', side :: sides' => RInt (fun t => p a t * between side t) (lower a) (upper a) * box_mass l' sides'
  | a :: l', [] => RInt (p a) (lower a) (upper a) * box_mass l' []
  | [], _ => 1
  end.

Lemma box_test : forall (l : list A) sides c,
  integrable l p lower upper (fun ts => c * box_indicator sides ts) /\
  expectation l p lower upper (fun ts => c * box_indicator sides ts) = c * box_mass l sides.
Proof.
  induction l as [| a l IH]; intros sides c.
  - split; [exact I |]; destruct sides; reflexivity.
  - destruct sides as [| side sides].
    + destruct (expectation_constant lower upper (a :: l) p (c * 1) p_continuous) as [Hi He]; split;
        [exact Hi |].
      cbn [box_indicator box_mass]; rewrite He, Rmult_1_r, Rmult_comm; f_equal.
      clear; cbn [mass fold_right]; f_equal; induction l as [| b l IH]; [reflexivity |].
      cbn [fold_right box_mass]; rewrite <- IH; reflexivity.
    + assert (Heq : forall t, p a t * expectation l p lower upper
        (fun ts => c * box_indicator (side :: sides) (t :: ts))
        = (c * box_mass l sides) * (p a t * between side t)).
      { intros t; cbn [box_indicator].
        rewrite (expectation_ext lower upper l p _ (fun ts => (c * between side t) * box_indicator sides ts))
          by (intros; ring).
        rewrite (proj2 (IH sides (c * between side t))); ring. }
      assert (Hex : ex_RInt (fun t => p a t * between side t) (lower a) (upper a)) by (apply ex_RInt_between;
        [apply ordered | apply p_continuous]).
      split; [split |].
      * intros t _; cbn [box_indicator].
        apply (integrable_ext lower upper l p (fun ts => (c * between side t) * box_indicator sides ts));
          [intros; ring | apply IH].
      * apply (ex_RInt_ext (fun t => (c * box_mass l sides) * (p a t * between side t)));
          [intros t _; symmetry; apply Heq |].
        apply ex_RInt_mult_const; exact Hex.
      * rewrite expectation_cons, (RInt_same _ _ _ _ Heq), (RInt_mult_const (fun t => p a t * between side t))
          by exact Hex.
        cbn [box_mass]; ring.
Qed.

Lemma integrable_sum : forall (l : list A) f g,
  integrable l p lower upper f -> integrable l p lower upper g ->
  integrable l p lower upper (fun ts => f ts + g ts) /\
  expectation l p lower upper (fun ts => f ts + g ts) = expectation l p lower upper f
    + expectation l p lower upper g.
Proof.
  induction l as [| a l IH]; intros f g Hf Hg; [split; [exact I | reflexivity] |].
  destruct Hf as [Hf Hfx], Hg as [Hg Hgx].
  assert (Hex := ex_RInt_add _ _ _ _ Hfx Hgx).
  assert (Heq : forall t, lower a <= t <= upper a ->
    p a t * expectation l p lower upper (fun ts => f (t :: ts))
      + p a t * expectation l p lower upper (fun ts => g (t :: ts)) =
    p a t * expectation l p lower upper (fun ts => f (t :: ts) + g (t :: ts))).
  { intros t Ht; rewrite (proj2 (IH (fun ts => f (t :: ts)) (fun ts => g (t :: ts)) (Hf t Ht) (Hg t Ht)));
      ring. }
  split; [split |].
  - intros t Ht; apply (IH (fun ts => f (t :: ts)) (fun ts => g (t :: ts))); [apply Hf | apply Hg]; exact Ht.
  - apply (ex_RInt_ext (fun t => p a t * expectation l p lower upper (fun ts => f (t :: ts)) +
      p a t * expectation l p lower upper (fun ts => g (t :: ts)))); [| exact Hex].
    intros t Ht; rewrite Rmin_left, Rmax_right in Ht by apply ordered; apply Heq; lra.
  - rewrite !expectation_cons, <- RInt_add by assumption; apply RInt_ext.
    intros t Ht; rewrite Rmin_left, Rmax_right in Ht by apply ordered; symmetry; apply Heq; lra.
Qed.

Theorem step_function_integrable : forall (l : list A) terms,
  integrable l p lower upper (step_function terms).
Proof.
  intros l terms; induction terms as [| [c sides] terms IH].
  - apply (expectation_constant lower upper l p 0 p_continuous).
  - apply (integrable_sum l (fun ts => c * box_indicator sides ts) (step_function terms));
      [apply box_test | exact IH].
Qed.

End TestFunctions.

(** A finite union of boxes is a step function. *)
Fixpoint intersect (r1 r2 : list (R * R)) : list (R * R) :=
  match r1, r2 with
  | s1 :: r1', s2 :: r2' => (Rmax (fst s1) (fst s2), Rmin (snd s1) (snd s2)) :: intersect r1' r2'
  | [], _ => r2
  | _, [] => r1
  end.

Lemma intersect_indicator : forall r1 r2 ts, box_indicator r1 ts * box_indicator r2 ts
  = box_indicator (intersect r1 r2) ts.
Proof.
  induction r1 as [| s1 r1 IH]; intros r2 ts; [cbn; ring |].
  destruct r2 as [| s2 r2]; [cbn; ring |]; destruct ts as [| t ts]; [cbn; ring |].
  cbn [box_indicator intersect]; rewrite <- IH.
  assert (H : between s1 t * between s2 t = between (Rmax (fst s1) (fst s2), Rmin (snd s1) (snd s2)) t).
  { destruct s1 as [a b], s2 as [c d]; unfold between, Rmax, Rmin; cbn [fst snd].
    repeat destruct Rle_dec; lra. }
  rewrite <- H; ring.
Qed.

Lemma step_times_box : forall terms sides, exists terms',
  forall ts, step_function terms' ts = step_function terms ts * box_indicator sides ts.
Proof.
  intros terms sides; exists (map (fun term => (fst term, intersect (snd term) sides)) terms).
  intros ts; unfold step_function; rewrite sum_map, <- sum_scal_r; apply sum_ext; intros term _;
    cbn [fst snd].
  rewrite <- intersect_indicator; ring.
Qed.

Theorem union_is_step : forall boxes, exists terms, forall ts, step_function terms ts
  = union_indicator boxes ts.
Proof.
  intros boxes.
  assert (H : exists terms, forall ts, step_function terms ts =
    fold_right (fun sides outside => (1 - box_indicator sides ts) * outside) 1 boxes).
  { induction boxes as [| sides boxes [terms IH]].
    - exists [(1, [])]; intros ts; cbn; ring.
    - destruct (step_times_box terms sides) as [terms' H'].
      exists (terms ++ map (fun term => (- fst term, snd term)) terms'); intros ts.
      unfold step_function at 1; rewrite sum_app, sum_map; cbn [fst snd fold_right]; rewrite <- IH.
      rewrite (sum_ext terms' _ (fun term => - 1 * (fst term * box_indicator (snd term) ts)))
        by (intros; ring).
      rewrite sum_scal; fold (step_function terms' ts); rewrite H'; unfold step_function; ring. }
  destruct H as [terms H]; exists ((1, []) :: map (fun term => (- fst term, snd term)) terms); intros ts.
  unfold union_indicator; rewrite <- H; unfold step_function at 1; rewrite sum_cons, sum_map;
    cbn [fst snd box_indicator].
  rewrite (sum_ext terms _ (fun term => - 1 * (fst term * box_indicator (snd term) ts))) by (intros; ring).
  rewrite sum_scal; unfold step_function; ring.
Qed.

Lemma between_bounds : forall side t, 0 <= between side t <= 1.
Proof. intros [a b] t; unfold between; repeat destruct Rle_dec; lra. Qed.

Lemma box_indicator_bounds : forall sides ts, 0 <= box_indicator sides ts <= 1.
Proof.
  induction sides as [| side sides IH]; intros [| t ts]; cbn [box_indicator]; try lra.
  generalize (between_bounds side t) (IH ts); intros; split; nra.
Qed.

Lemma union_indicator_bounds : forall boxes ts, 0 <= union_indicator boxes ts <= 1.
Proof.
  intros boxes ts; unfold union_indicator.
  assert (0 <= fold_right (fun sides outside => (1 - box_indicator sides ts) * outside) 1 boxes <= 1);
    [| lra].
  induction boxes as [| sides boxes IH]; cbn [fold_right]; [lra |].
  generalize (box_indicator_bounds sides ts); intros; split; nra.
Qed.

(** So every finite union of boxes is an event that [indistinguishable] bounds. *)
Theorem indistinguishable_unions : forall (A : Type) epsilon delta (l : list A) p q lower upper boxes,
  continuous_density p -> continuous_density q -> (forall a, lower a <= upper a) ->
  indistinguishable epsilon delta l p q ->
  expectation l p lower upper (union_indicator boxes) <=
  exp epsilon * expectation l q lower upper (union_indicator boxes) + delta.
Proof.
  intros A epsilon delta l p q lower upper boxes Hp Hq Hord H.
  destruct (union_is_step boxes) as [terms Hterms].
  apply H; [exact Hord | intros; apply union_indicator_bounds | |];
    (apply (integrable_ext lower upper l _ (step_function terms)); [exact Hterms |];
     apply step_function_integrable; assumption).
Qed.
