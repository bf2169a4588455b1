(** * Adaptive transcripts: every Borel set

    The density of each number of a transcript depends on the numbers before it, and the law gives every
    box the iterated integral of these densities. A bound for all tests on boxes then holds for every Borel
    set, and for every measure with these masses. The integrals over boxes must exist. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Analysis TestFunctions CountableMeasures BorelEvents Adaptive.
Import ListNotations.
Open Scope R_scope.

(** ** Words *)

(** The iterated integral of the densities over a box, from the numbers of [past] on. *)
Fixpoint transcript_probability (p : list R -> R -> R) (sides : list (R * R)) (past : list R) : R :=
  match sides with
  | [] => 1
  | side :: sides' =>
      if Rle_dec (fst side) (snd side) then
        RInt (fun t => p past t * transcript_probability p sides' (past ++ [t])) (fst side) (snd side)
      else 0
  end.

(** Every integral in it exists. *)
Definition integrable_transcripts (p : list R -> R -> R) : Prop := forall sides u v past, u <= v ->
  ex_RInt (fun t => p past t * transcript_probability p sides (past ++ [t])) u v.

(** A measure on the Borel sets of k coordinates with these masses of boxes. *)
Definition law_of_transcripts (k : nat) (p : list R -> R -> R) (mu : (list R -> Prop) -> R) : Prop :=
  measure (closed_box k) mu /\
  mu (fun ts => length ts <> k) = 0 /\
  forall sides, length sides = k -> mu (box_set sides) = transcript_probability p sides [].

Definition adaptively_indistinguishable_on_borel_sets (epsilon delta : R) (k : nat) (p q : list R -> R -> R)
    : Prop :=
  forall mu nu, law_of_transcripts k p mu -> law_of_transcripts k q nu ->
  forall S, borel k S -> mu S <= exp epsilon * nu S + delta.

(** ** A box of a window as a test *)

Lemma integral_in_window : forall M side (f : R -> R), within M side -> fst side <= snd side ->
  ex_RInt f (fst side) (snd side) ->
  is_RInt (fun t => between side t * f t) (- M) M (RInt f (fst side) (snd side)).
Proof.
  intros M [u v] f [Hu Hv] Huv Hf; cbn [fst snd] in *.
  assert (Hzero : forall a b, a <= b -> (forall t, a < t < b -> between (u, v) t = 0) ->
    is_RInt (fun t => between (u, v) t * f t) a b 0).
  { intros a b Hab H; replace 0 with (scal (b - a) 0) by apply Rmult_0_r.
    apply (is_RInt_ext (fun _ => 0)); [| apply (is_RInt_const a b 0)].
    intros t Ht; rewrite Rmin_left, Rmax_right in Ht by exact Hab; rewrite (H t Ht); symmetry; apply
      Rmult_0_l. }
  set (g := fun t => between (u, v) t * f t) in *.
  assert (Hmiddle : is_RInt g u v (RInt f u v)).
  { apply (is_RInt_ext f); [| exact (RInt_correct (V := R_CompleteNormedModule) f u v Hf)].
    intros t Ht; rewrite Rmin_left, Rmax_right in Ht by exact Huv; unfold g, between; cbn [fst snd].
    repeat destruct Rle_dec; try lra; symmetry; apply Rmult_1_l. }
  assert (Hleft : is_RInt g (- M) u 0).
  { apply Hzero; [exact Hu |]; intros t Ht; unfold between; cbn [fst snd]; repeat destruct Rle_dec; lra. }
  assert (Hright : is_RInt g v M 0).
  { apply Hzero; [exact Hv |]; intros t Ht; unfold between; cbn [fst snd]; repeat destruct Rle_dec; lra. }
  replace (RInt f u v) with (0 + RInt f u v + 0) by ring.
  exact (is_RInt_Chasles g (- M) v M _ _ (is_RInt_Chasles g (- M) u v _ _ Hleft Hmiddle) Hright).
Qed.

Section Transcripts.
Variable p : list R -> R -> R.
Hypothesis p_integrable : integrable_transcripts p.

Lemma empty_side : forall M (side : R * R) f, snd side < fst side ->
  is_RInt (fun t => between side t * f t) (- M) M 0.
Proof.
  intros M side f H; replace 0 with (scal (M - - M) 0) by apply Rmult_0_r.
  apply (is_RInt_ext (fun _ => 0)); [| apply (is_RInt_const (- M) M 0)].
  intros t _; unfold between; repeat destruct Rle_dec; try lra; symmetry; apply Rmult_0_l.
Qed.

(** A multiple of the indicator of a box is a test, and its integral is the multiple of the box's mass. *)
Lemma transcript_of_box : forall M k sides past c test, 0 <= M -> length sides = k ->
  Forall (within M) sides ->
  (forall us, length us = k -> test (past ++ us) = c * box_indicator sides us) ->
  adaptive_integrable k p (fun _ => - M) (fun _ => M) test past /\
  adaptive_expectation k p (fun _ => - M) (fun _ => M) test past = c * transcript_probability p sides past.
Proof.
  intros M k; induction k as [| k IH]; intros [| side sides] past c test HM Hk Hw Htest; try discriminate.
  - split; [exact I |]; cbn [adaptive_expectation transcript_probability].
    specialize (Htest [] eq_refl); rewrite app_nil_r in Htest; exact Htest.
  - injection Hk as Hk; inversion Hw as [| a b Hside Hsides]; subst a b.
    assert (Hrest : forall t,
      adaptive_integrable k p (fun _ => - M) (fun _ => M) test (past ++ [t]) /\
      adaptive_expectation k p (fun _ => - M) (fun _ => M) test (past ++ [t])
      = c * between side t * transcript_probability p sides (past ++ [t])).
    { intros t; apply IH; [exact HM | exact Hk | exact Hsides |]; intros us Hus.
      rewrite <- app_assoc, Htest by (cbn; rewrite Hus; reflexivity); cbn [app box_indicator]; ring. }
    set (f := fun t => p past t * transcript_probability p sides (past ++ [t])).
    assert (Hvalue : is_RInt (fun t => between side t * f t) (- M) M
      (transcript_probability p (side :: sides) past)).
    { cbn [transcript_probability]; destruct (Rle_dec (fst side) (snd side)) as [Hle | Hgt].
      - apply integral_in_window; [exact Hside | exact Hle | apply p_integrable, Hle].
      - apply empty_side; lra. }
    assert (Hint : is_RInt (fun t => p past t * adaptive_expectation k p (fun _ => - M) (fun _ => M) test
      (past ++ [t])) (- M) M (c * transcript_probability p (side :: sides) past)).
    { apply (is_RInt_ext (fun t => c * (between side t * f t))).
      - intros t _; rewrite (proj2 (Hrest t)); unfold f; real_ring.
      - apply (is_RInt_scal (fun t => between side t * f t)), Hvalue. }
    split; [split; [intros t _; apply Hrest | eexists; exact Hint] |].
    cbn [adaptive_expectation]; apply is_RInt_unique, Hint.
Qed.

Lemma transcript_sum : forall lower upper f g k past, (forall past', lower past' <= upper past') ->
  adaptive_integrable k p lower upper f past -> adaptive_integrable k p lower upper g past ->
  adaptive_integrable k p lower upper (fun ts => f ts + g ts) past /\
  adaptive_expectation k p lower upper (fun ts => f ts + g ts) past =
    adaptive_expectation k p lower upper f past + adaptive_expectation k p lower upper g past.
Proof.
  intros lower upper f g; induction k as [| k IH]; intros past Hord Hf Hg; [split; [exact I | reflexivity] |].
  destruct Hf as [Hf Hfx], Hg as [Hg Hgx]; assert (Hex := ex_RInt_add _ _ _ _ Hfx Hgx).
  assert (Heq : forall t, lower past <= t <= upper past ->
    p past t * adaptive_expectation k p lower upper f (past ++ [t]) +
    p past t * adaptive_expectation k p lower upper g (past ++ [t]) =
    p past t * adaptive_expectation k p lower upper (fun ts => f ts + g ts) (past ++ [t])).
  { intros t Ht; rewrite (proj2 (IH (past ++ [t]) Hord (Hf t Ht) (Hg t Ht))); ring. }
  split; [split |].
  - intros t Ht; apply IH; [exact Hord | apply Hf, Ht | apply Hg, Ht].
  - eapply ex_RInt_ext; [| exact Hex]; intros t Ht; rewrite Rmin_left, Rmax_right in Ht by apply Hord.
    apply Heq; lra.
  - cbn [adaptive_expectation]; rewrite <- RInt_add by assumption; apply RInt_ext.
    intros t Ht; rewrite Rmin_left, Rmax_right in Ht by apply Hord; symmetry; apply Heq; lra.
Qed.

Lemma expectation_same_test : forall lower upper f g, (forall ts, f ts = g ts) -> forall k past,
  adaptive_expectation k p lower upper f past = adaptive_expectation k p lower upper g past.
Proof.
  intros lower upper f g E; induction k as [| k IH]; intros past; [apply E |].
  cbn [adaptive_expectation]; apply RInt_same; intros t; rewrite IH; reflexivity.
Qed.

Lemma integrable_same_test : forall lower upper f g, (forall ts, f ts = g ts) -> forall k past,
  adaptive_integrable k p lower upper f past -> adaptive_integrable k p lower upper g past.
Proof.
  intros lower upper f g E; induction k as [| k IH]; intros past Hf; [exact I |]; destruct Hf as [Hf Hx].
  split; [intros t Ht; apply IH, Hf, Ht |].
  eapply ex_RInt_ext; [| exact Hx]; intros t _; cbv beta.
  rewrite (expectation_same_test lower upper f g E); reflexivity.
Qed.

(** So the integral of a step function is a sum of masses. *)
Lemma transcript_of_step : forall M k mu terms, law_of_transcripts k p mu -> 0 <= M -> in_window M k terms ->
  adaptive_integrable k p (fun _ => - M) (fun _ => M) (step_function terms) [] /\
  adaptive_expectation k p (fun _ => - M) (fun _ => M) (step_function terms) []
    = sum_over terms (fun term => fst term * mu (box_set (snd term))).
Proof.
  intros M k mu terms Hmu HM Hterms; assert (Hord : forall past : list R, - M <= M) by (intros _; lra).
  induction Hterms as [| [c sides] terms [Hk Hw] _ [IHi IHe]]; cbn [fst snd] in *.
  - assert (Hzero := transcript_of_box M k (repeat (0, 0) k) [] 0 (step_function []) HM (repeat_length _ k)).
    destruct Hzero as [Hi He]; [| intros us _; unfold step_function; cbn; ring |].
    + apply Forall_forall; intros side Hside; apply repeat_spec in Hside; subst side; split; cbn; lra.
    + split; [exact Hi | rewrite He; cbn; ring].
  - destruct (transcript_of_box M k sides [] c (fun ts => c * box_indicator sides ts) HM Hk Hw) as [Hi He];
      [intros us _; reflexivity |].
    destruct (transcript_sum _ _ _ _ k [] Hord Hi IHi) as [Hsum Hsum'].
    rewrite sum_cons; cbn [fst snd]; rewrite (proj2 (proj2 Hmu) sides Hk), <- He, <- IHe.
    split; [exact Hsum | exact Hsum'].
Qed.
End Transcripts.

Theorem transcripts_on_borel_sets : forall epsilon delta k p q,
  integrable_transcripts p -> integrable_transcripts q -> adaptively_indistinguishable epsilon delta k p q ->
  adaptively_indistinguishable_on_borel_sets epsilon delta k p q.
Proof.
  intros epsilon delta k p q Hp Hq H mu nu Hmu Hnu.
  apply close_by_tests; [exact (proj1 Hmu) | exact (proj1 (proj2 Hmu)) | exact (proj1 Hnu) |].
  intros M terms test HM Hterms E Hbounds; assert (Hord : forall past : list R, - M <= M) by (intros _; lra).
  destruct (transcript_of_step p Hp M k mu terms Hmu HM Hterms) as [Hip <-].
  destruct (transcript_of_step q Hq M k nu terms Hnu HM Hterms) as [Hiq <-].
  apply H; [exact Hord | intros ts; rewrite E; apply Hbounds | exact Hip | exact Hiq].
Qed.
