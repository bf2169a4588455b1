(** * Post-processing and composition

    What you compute from a release loses no privacy. Of two releases with independent noise the epsilons and
    the deltas add up. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool Lra.
From CFM Require Import Definitions Sums Analysis Expectation Laplace Normal Gaussian ExtendedGaussian.
Import ListNotations.
Open Scope R_scope.

Theorem post_processing : forall (A B : Type) epsilon delta (l : list A) p q (f : list R -> B) (h : B -> R),
  indistinguishable epsilon delta l p q -> (forall b, 0 <= h b <= 1) ->
  forall lower upper, (forall a, lower a <= upper a) ->
  integrable l p lower upper (fun ts => h (f ts)) -> integrable l q lower upper (fun ts => h (f ts)) ->
  expectation l p lower upper (fun ts => h (f ts))
    <= exp epsilon * expectation l q lower upper (fun ts => h (f ts)) + delta.
Proof. intros A B epsilon delta l p q f h H Hh lower upper Ho Hp Hq; apply H; try assumption; intros;
  apply Hh. Qed.

Section Composition.

Context {A : Type}.
Variables lower upper : A -> R.
Hypothesis ordered : forall a, lower a <= upper a.

Lemma expectation_app : forall (l1 l2 : list A) p test,
  expectation (l1 ++ l2) p lower upper test =
  expectation l1 p lower upper (fun ts => expectation l2 p lower upper (fun us => test (ts ++ us))).
Proof.
  induction l1 as [| a l1 IH]; intros l2 p test; [reflexivity |].
  cbn [app]; rewrite !expectation_cons; apply RInt_same; intros t; f_equal; apply IH.
Qed.

(** Values that an iterated integral visits: one number per coordinate, inside the box. *)
Fixpoint inside (l : list A) (ts : list R) : Prop :=
  match l, ts with
  | a :: l', t :: ts' => lower a <= t <= upper a /\ inside l' ts'
  | [], [] => True
  | _, _ => False
  end.

Lemma integrable_app : forall (l1 l2 : list A) p test,
  integrable (l1 ++ l2) p lower upper test ->
  integrable l1 p lower upper (fun ts => expectation l2 p lower upper (fun us => test (ts ++ us))) /\
  (forall ts, inside l1 ts -> integrable l2 p lower upper (fun us => test (ts ++ us))).
Proof.
  induction l1 as [| a l1 IH]; intros l2 p test H.
  - split; [exact I |]; intros [| t ts] Hts; [exact H | destruct Hts].
  - destruct H as [H Hx]; split; [split |].
    + intros t Ht; apply (IH l2 p (fun ts => test (t :: ts))), H, Ht.
    + apply (ex_RInt_ext (fun t => p a t * expectation (l1 ++ l2) p lower upper (fun ts => test (t :: ts))));
        [| exact Hx].
      intros t _; f_equal; apply expectation_app.
    + intros [| t ts] Hts; [destruct Hts |]; destruct Hts as [Ht Hts].
      apply (proj2 (IH l2 p (fun ts => test (t :: ts)) (H t Ht)) ts Hts).
Qed.

Lemma expectation_le : forall (l : list A) p f g, nonnegative_density p ->
  (forall ts, inside l ts -> f ts <= g ts) ->
  integrable l p lower upper f -> integrable l p lower upper g ->
  expectation l p lower upper f <= expectation l p lower upper g.
Proof.
  induction l as [| a l IH]; intros p f g Hp Hfg Hf Hg; [apply Hfg; exact I |].
  destruct Hf as [Hf Hfx], Hg as [Hg Hgx]; rewrite !expectation_cons.
  apply RInt_le; [apply ordered | exact Hfx | exact Hgx |]; intros t Ht.
  assert (Hin : lower a <= t <= upper a) by lra.
  apply Rmult_le_compat_l; [apply Hp |]; apply IH; [exact Hp | | apply Hf; exact Hin | apply Hg; exact Hin].
  intros ts Hts; apply Hfg; split; assumption.
Qed.

Lemma expectation_affine : forall (l : list A) p f c k, integrable l p lower upper f ->
  continuous_density p ->
  integrable l p lower upper (fun ts => c * f ts + k) /\
  expectation l p lower upper (fun ts => c * f ts + k) = c * expectation l p lower upper f
    + mass lower upper l p * k.
Proof.
  induction l as [| a l IH]; intros p f c k Hf Hp; [split; [exact I | simpl; ring] |].
  destruct Hf as [Hf Hfx].
  assert (Hm : ex_RInt (p a) (lower a) (upper a)) by (apply ex_RInt_cont, Hp).
  assert (Heq : forall t, lower a <= t <= upper a ->
    c * (p a t * expectation l p lower upper (fun ts => f (t :: ts))) + (mass lower upper l p * k) * p a t =
    p a t * expectation l p lower upper (fun ts => c * f (t :: ts) + k)).
  { intros t Ht; rewrite (proj2 (IH p (fun ts => f (t :: ts)) c k (Hf t Ht) Hp)); ring. }
  assert (Hex := ex_RInt_add _ _ _ _ (ex_RInt_mult_const _ c _ _ Hfx)
    (ex_RInt_mult_const _ (mass lower upper l p * k) _ _ Hm)).
  split; [split |].
  - intros t Ht; apply (IH p (fun ts => f (t :: ts)) c k (Hf t Ht) Hp).
  - apply (ex_RInt_ext (fun t => c * (p a t * expectation l p lower upper (fun ts => f (t :: ts)))
      + (mass lower upper l p * k) * p a t)); [| exact Hex].
    intros t Ht; rewrite Rmin_left, Rmax_right in Ht by apply ordered; apply Heq; lra.
  - rewrite !expectation_cons; cbn [mass fold_right]; fold (mass lower upper l p).
    transitivity (RInt (fun t => c * (p a t * expectation l p lower upper (fun ts => f (t :: ts)))
      + (mass lower upper l p * k) * p a t) (lower a) (upper a)).
    + apply RInt_ext; intros t Ht; rewrite Rmin_left, Rmax_right in Ht by apply ordered; symmetry; apply Heq;
        lra.
    + rewrite (RInt_add (fun t => c * (p a t * expectation l p lower upper (fun ts => f (t :: ts))))
        (fun t => (mass lower upper l p * k) * p a t))
        by (apply ex_RInt_mult_const; assumption).
      rewrite (RInt_mult_const (fun t => p a t * expectation l p lower upper (fun ts => f (t :: ts))) c),
        (RInt_mult_const (p a) (mass lower upper l p * k)) by assumption.
      ring.
Qed.

End Composition.

Theorem composition : forall (A : Type) epsilon1 delta1 epsilon2 delta2 (l1 l2 : list A) p q lower upper test,
  nonnegative_density p -> nonnegative_density q -> continuous_density p -> continuous_density q ->
  (forall a, lower a <= upper a) -> (forall a, RInt (p a) (lower a) (upper a) <= 1) -> 0 <= delta2 ->
  (forall ts, 0 <= test ts <= 1) ->
  indistinguishable epsilon1 delta1 l1 p q -> indistinguishable epsilon2 delta2 l2 p q ->
  integrable (l1 ++ l2) p lower upper test -> integrable (l1 ++ l2) q lower upper test ->
  let best ts := Rmax 0 (Rmin 1 (exp epsilon2 * expectation l2 q lower upper (fun us => test (ts ++ us)))) in
  integrable l1 p lower upper best -> integrable l1 q lower upper best ->
  expectation (l1 ++ l2) p lower upper test <=
  exp (epsilon1 + epsilon2) * expectation (l1 ++ l2) q lower upper test + (delta1 + delta2).
Proof.
  intros A e1 d1 e2 d2 l1 l2 p q lower upper test Hp Hq Hpc Hqc Hord Hle1 Hd2 Ht H1 H2 Hip Hiq best Hbp Hbq.
  destruct (integrable_app lower upper l1 l2 p test Hip) as [Hip1 Hip2].
  destruct (integrable_app lower upper l1 l2 q test Hiq) as [Hiq1 Hiq2].
  rewrite !expectation_app.
  set (Ep := fun ts => expectation l2 p lower upper (fun us => test (ts ++ us))) in *.
  set (Eq := fun ts => expectation l2 q lower upper (fun us => test (ts ++ us))) in *.
  destruct (expectation_affine lower upper Hord l1 p best 1 d2 Hbp Hpc) as [Hai Hae].
  assert (Hm2 : forall ts, inside lower upper l1 ts -> Ep ts <= 1).
  { intros ts Hts; unfold Ep; destruct (expectation_constant lower upper l2 p 1 Hpc) as [Hi1 He1].
    eapply Rle_trans; [apply (expectation_le lower upper Hord l2 p _ (fun _ => 1) Hp) |].
    - intros us _; apply Ht.
    - apply Hip2; exact Hts.
    - exact Hi1.
    - rewrite He1; generalize (mass_bounds lower upper Hord l2 p Hpc Hp Hle1); lra. }
  assert (Hfirst : expectation l1 p lower upper Ep <= expectation l1 p lower upper best + d2).
  { eapply Rle_trans; [apply (expectation_le lower upper Hord l1 p Ep (fun ts => 1 * best ts + d2) Hp);
      [| exact Hip1 | exact Hai] |].
    - intros ts Hts; assert (Hb := H2 lower upper (fun us => test (ts ++ us)) Hord (fun us => Ht (ts ++ us))
        (Hip2 ts Hts) (Hiq2 ts Hts)).
      fold (Ep ts) (Eq ts) in Hb; unfold best; fold (Eq ts); specialize (Hm2 ts Hts); unfold Rmax, Rmin;
        repeat destruct Rle_dec; lra.
    - rewrite Hae; generalize (mass_bounds lower upper Hord l1 p Hpc Hp Hle1); nra. }
  assert (Hrange : forall ts, 0 <= best ts <= 1).
  { intros ts; unfold best, Rmax, Rmin; repeat destruct Rle_dec; lra. }
  assert (Hsecond := H1 lower upper best Hord Hrange Hbp Hbq).
  destruct (expectation_affine lower upper Hord l1 q Eq (exp e2) 0 Hiq1 Hqc) as [Hqi Hqe].
  assert (Hthird : expectation l1 q lower upper best <= exp e2 * expectation l1 q lower upper Eq).
  { apply Rle_trans with (expectation l1 q lower upper (fun ts => exp e2 * Eq ts + 0)); [| rewrite Hqe; lra].
    apply expectation_le; [exact Hord | exact Hq | | exact Hbq | exact Hqi].
    intros ts Hts; assert (0 <= Eq ts).
    { apply expectation_nonneg; [exact Hord | exact Hq | intros; apply Ht | apply Hiq2; exact Hts]. }
    unfold best; fold (Eq ts); assert (0 <= exp e2 * Eq ts)
      by (apply Rmult_le_pos; [apply Rlt_le, exp_pos | assumption]).
    unfold Rmax, Rmin; repeat destruct Rle_dec; lra. }
  rewrite exp_plus.
  assert (exp e1 * expectation l1 q lower upper best <= exp e1 * (exp e2 * expectation l1 q lower upper Eq))
    by (apply Rmult_le_compat_l; [apply Rlt_le, exp_pos | exact Hthird]).
  lra.
Qed.
