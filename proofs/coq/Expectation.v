(** * Iterated integrals against product densities

    The expectation of a test under a product density is an integral over one coordinate after the other. This
    file shows that it is monotone and linear, and bounds the ratio of two expectations by that of the
    densities. *)

From Coq Require Import Reals List Lra.
From Coquelicot Require Import Coquelicot.
From CFM Require Import Definitions Sums Analysis.
Import ListNotations.
Open Scope R_scope.

Definition nonnegative_density {A : Type} (p : A -> R -> R) : Prop := forall a t, 0 <= p a t.
Definition continuous_density {A : Type} (p : A -> R -> R) : Prop := forall a t, continuous (p a) t.

Section Expectation.

Context {A : Type}.
Variables lower upper : A -> R.
Hypothesis ordered : forall a, lower a <= upper a.
Implicit Types (l : list A) (p q : A -> R -> R) (test : list R -> R).

Lemma expectation_cons : forall a l p test,
  expectation (a :: l) p lower upper test =
  RInt (fun t => p a t * expectation l p lower upper (fun ts => test (t :: ts))) (lower a) (upper a).
Proof. reflexivity. Qed.

Lemma expectation_ext : forall l p test test', (forall ts, test ts = test' ts) ->
  expectation l p lower upper test = expectation l p lower upper test'.
Proof.
  induction l as [| a l IH]; intros p test test' H; [apply H |].
  rewrite !expectation_cons; apply RInt_same; intros t; f_equal; apply IH; intros; apply H.
Qed.

Lemma integrable_ext : forall l p test test', (forall ts, test ts = test' ts) ->
  integrable l p lower upper test -> integrable l p lower upper test'.
Proof.
  induction l as [| a l IH]; intros p test test' H Hi; [exact I |].
  destruct Hi as [Hi Hx]; split.
  - intros t Ht; apply (IH p (fun ts => test (t :: ts))); [intros; apply H | apply Hi; exact Ht].
  - apply (ex_RInt_ext (fun t => p a t * expectation l p lower upper (fun ts => test (t :: ts))));
      [| exact Hx].
    intros t _; f_equal; apply expectation_ext; intros; apply H.
Qed.

Lemma expectation_nonneg : forall l p test,
  nonnegative_density p -> (forall ts, 0 <= test ts) -> integrable l p lower upper test ->
  0 <= expectation l p lower upper test.
Proof.
  induction l as [| a l IH]; intros p test Hp Ht Hi; [apply Ht |].
  destruct Hi as [Hi Hex]; rewrite expectation_cons.
  apply RInt_ge_0; [apply ordered | exact Hex |]; intros t Hlt.
  apply Rmult_le_pos; [apply Hp |]; apply IH; [exact Hp | intros; apply Ht |]; apply Hi; lra.
Qed.

(** A bound on the ratio of densities, coordinate by coordinate, bounds the ratio of expectations. *)
Lemma expectation_ratio : forall l p q w test,
  nonnegative_density p -> nonnegative_density q ->
  (forall a t, In a l -> p a t <= exp (w a) * q a t) ->
  (forall ts, 0 <= test ts) -> integrable l p lower upper test -> integrable l q lower upper test ->
  expectation l p lower upper test <= exp (sum_over l w) * expectation l q lower upper test.
Proof.
  induction l as [| a l IH]; intros p q w test Hp Hq Hr Ht Hip Hiq.
  - simpl; rewrite exp_0; lra.
  - destruct Hip as [Hip Hexp], Hiq as [Hiq Hexq].
    rewrite !expectation_cons, sum_cons, exp_plus, <- RInt_mult_const by exact Hexq.
    apply RInt_le; [apply ordered | exact Hexp | apply ex_RInt_mult_const; exact Hexq |].
    intros t Hlt.
    assert (Hin : lower a <= t <= upper a) by lra.
    assert (H1 := IH p q w (fun ts => test (t :: ts)) Hp Hq (fun b u Hb => Hr b u (or_intror Hb))
      (fun ts => Ht (t :: ts)) (Hip t Hin) (Hiq t Hin)).
    assert (H0 := expectation_nonneg l p (fun ts => test (t :: ts)) Hp (fun ts => Ht (t :: ts)) (Hip t Hin)).
    assert (H2 := Hr a t (or_introl eq_refl)).
    replace (exp (w a) * exp (sum_over l w) *
      (q a t * expectation l q lower upper (fun ts => test (t :: ts))))
      with ((exp (w a) * q a t) * (exp (sum_over l w) * expectation l q lower upper
        (fun ts => test (t :: ts)))) by ring.
    apply Rmult_le_compat; [apply Hp | exact H0 | exact H2 | exact H1].
Qed.

(** Constant test functions. *)
Definition mass l p : R := fold_right (fun a m => RInt (p a) (lower a) (upper a) * m) 1 l.

Lemma expectation_constant : forall l p c, continuous_density p ->
  integrable l p lower upper (fun _ => c) /\ expectation l p lower upper (fun _ => c) = mass l p * c.
Proof.
  induction l as [| a l IH]; intros p c Hp; [split; [exact I | simpl; ring] |].
  destruct (IH p c Hp) as [Hi He].
  assert (Hf : forall t, p a t * expectation l p lower upper (fun _ => c) = (mass l p * c) * p a t).
  { intros t; rewrite He; ring. }
  assert (Hex : ex_RInt (p a) (lower a) (upper a)) by (apply ex_RInt_cont, Hp).
  split.
  - split; [intros; exact Hi |].
    apply (ex_RInt_ext (fun t => (mass l p * c) * p a t)); [intros; symmetry; apply Hf |].
    apply ex_RInt_mult_const; exact Hex.
  - rewrite expectation_cons, (RInt_ext _ (fun t => (mass l p * c) * p a t)) by (intros; apply Hf).
    rewrite RInt_mult_const by exact Hex; cbn [mass fold_right]; fold (mass l p); ring.
Qed.

Lemma mass_pos : forall l p, continuous_density p -> (forall a t, 0 < p a t) ->
  (forall a, lower a < upper a) -> 0 < mass l p.
Proof.
  induction l as [| a l IH]; intros p Hc Hp Hlt; [simpl; lra |].
  cbn [mass fold_right]; apply Rmult_lt_0_compat; [| apply IH; assumption].
  apply RInt_gt_0; [apply Hlt | intros; apply Hp | intros; apply Hc].
Qed.

Lemma mass_bounds : forall l p, continuous_density p -> nonnegative_density p ->
  (forall a, RInt (p a) (lower a) (upper a) <= 1) -> 0 <= mass l p <= 1.
Proof.
  induction l as [| a l IH]; intros p Hc Hp Hle; [simpl; lra |].
  cbn [mass fold_right]; fold (mass l p).
  assert (0 <= RInt (p a) (lower a) (upper a)).
  { apply RInt_ge_0; [apply ordered | apply ex_RInt_cont, Hc | intros; apply Hp]. }
  destruct (IH p Hc Hp Hle); specialize (Hle a); split; nra.
Qed.

(** A ratio that is constant on the box carries over to its probability. *)
Lemma mass_ratio : forall l p q w, continuous_density q ->
  (forall a t, In a l -> lower a < t < upper a -> p a t = exp (w a) * q a t) ->
  mass l p = exp (sum_over l w) * mass l q.
Proof.
  induction l as [| a l IH]; intros p q w Hq Hr; [simpl; rewrite exp_0; ring |].
  cbn [mass fold_right]; fold (mass l p) (mass l q).
  rewrite (IH p q w Hq) by (intros b u Hb; apply Hr; right; exact Hb).
  rewrite sum_cons, exp_plus, (RInt_ext (p a) (fun t => exp (w a) * q a t)).
  - rewrite RInt_mult_const by apply ex_RInt_cont, Hq; ring.
  - intros t Ht; rewrite Rmin_left, Rmax_right in Ht by apply ordered; apply Hr;
      [left; reflexivity | exact Ht].
Qed.

End Expectation.
