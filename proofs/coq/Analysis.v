(** * Derivatives and integrals of real functions

    Coquelicot's lemmas restated for functions from R to R, so that they apply without unfolding its
    algebraic structures. *)

From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

Lemma derive_plus : forall (f g : R -> R) (t df dg : R),
  is_derive f t df -> is_derive g t dg -> is_derive (fun u => f u + g u) t (df + dg).
Proof. intros f g t df dg Hf Hg; exact (is_derive_plus f g t df dg Hf Hg). Qed.

Lemma derive_minus : forall (f g : R -> R) (t df dg : R),
  is_derive f t df -> is_derive g t dg -> is_derive (fun u => f u - g u) t (df - dg).
Proof. intros f g t df dg Hf Hg; exact (is_derive_minus f g t df dg Hf Hg). Qed.

Lemma derive_opp : forall (f : R -> R) t df, is_derive f t df -> is_derive (fun u => - f u) t (- df).
Proof. intros f t df Hf; exact (is_derive_opp f t df Hf). Qed.

Lemma derive_scal : forall (f : R -> R) t c df, is_derive f t df -> is_derive (fun u => c * f u) t (c * df).
Proof. intros f t c df Hf; exact (is_derive_scal f t c df Hf). Qed.

Lemma derive_value : forall (f : R -> R) (t df dg : R), is_derive f t df -> df = dg -> is_derive f t dg.
Proof. intros f t df dg H <-; exact H. Qed.

Lemma derive_continuity : forall (f : R -> R) t df, is_derive f t df -> continuity_pt f t.
Proof. intros f t df H; apply derivable_continuous_pt; exists df; apply is_derive_Reals; exact H. Qed.

Lemma derive_continuous : forall (f : R -> R) t df, is_derive f t df -> continuous f t.
Proof. intros f t df H; apply continuity_pt_filterlim; exact (derive_continuity f t df H). Qed.

(** A function with a derivative of one sign is monotone. *)
Lemma derivative_nonneg_le : forall (f df : R -> R) a b,
  a <= b -> (forall t, a <= t <= b -> is_derive f t (df t)) -> (forall t, a <= t <= b -> 0 <= df t) ->
    f a <= f b.
Proof.
  intros f df a b Hab Hd Hs.
  destruct (MVT_gen f a b df) as [c [Hc Heq]].
  - intros t Ht; rewrite Rmin_left, Rmax_right in Ht by exact Hab; apply Hd; lra.
  - intros t Ht; rewrite Rmin_left, Rmax_right in Ht by exact Hab.
    apply derive_continuity with (df t), Hd; lra.
  - rewrite Rmin_left, Rmax_right in Hc by exact Hab; specialize (Hs c Hc); nra.
Qed.

Lemma derivative_nonpos_le : forall (f df : R -> R) a b,
  a <= b -> (forall t, a <= t <= b -> is_derive f t (df t)) -> (forall t, a <= t <= b -> df t <= 0) ->
    f b <= f a.
Proof.
  intros f df a b Hab Hd Hs.
  assert (- f a <= - f b); [| lra].
  apply (derivative_nonneg_le (fun t => - f t) (fun t => - df t)); [exact Hab | |].
  - intros t Ht; apply derive_opp, Hd, Ht.
  - intros t Ht; specialize (Hs t Ht); lra.
Qed.

Lemma derivative_zero_constant : forall (f : R -> R) a b,
  (forall t, is_derive f t 0) -> f a = f b.
Proof.
  intros f a b Hd.
  assert (H : forall u v, u <= v -> f u = f v).
  { intros u v Huv; apply Rle_antisym.
    - apply (derivative_nonneg_le f (fun _ => 0)); [exact Huv | intros; apply Hd | intros; lra].
    - apply (derivative_nonpos_le f (fun _ => 0)); [exact Huv | intros; apply Hd | intros; lra]. }
  destruct (Rle_or_lt a b); [apply H; assumption | symmetry; apply H; lra].
Qed.

(** Integrals. *)
Lemma ex_RInt_cont : forall (f : R -> R) a b, (forall t, continuous f t) -> ex_RInt f a b.
Proof. intros f a b H; apply (ex_RInt_continuous (V := R_CompleteNormedModule)); intros; apply H. Qed.

Lemma ex_RInt_mult_const : forall (f : R -> R) c a b, ex_RInt f a b -> ex_RInt (fun t => c * f t) a b.
Proof. intros f c a b H; exact (ex_RInt_scal f a b c H). Qed.

Lemma RInt_mult_const : forall (f : R -> R) c a b,
  ex_RInt f a b -> RInt (fun t => c * f t) a b = c * RInt f a b.
Proof. intros f c a b H; exact (RInt_scal f a b c H). Qed.

Lemma ex_RInt_add : forall (f g : R -> R) a b, ex_RInt f a b -> ex_RInt g a b ->
  ex_RInt (fun t => f t + g t) a b.
Proof. intros f g a b Hf Hg; exact (ex_RInt_plus f g a b Hf Hg). Qed.

Lemma RInt_add : forall (f g : R -> R) a b,
  ex_RInt f a b -> ex_RInt g a b -> RInt (fun t => f t + g t) a b = RInt f a b + RInt g a b.
Proof. intros f g a b Hf Hg; exact (RInt_plus f g a b Hf Hg). Qed.

Lemma ex_RInt_sub : forall (f g : R -> R) a b, ex_RInt f a b -> ex_RInt g a b ->
  ex_RInt (fun t => f t - g t) a b.
Proof. intros f g a b Hf Hg; exact (ex_RInt_minus f g a b Hf Hg). Qed.

Lemma RInt_sub : forall (f g : R -> R) a b,
  ex_RInt f a b -> ex_RInt g a b -> RInt (fun t => f t - g t) a b = RInt f a b - RInt g a b.
Proof. intros f g a b Hf Hg; exact (RInt_minus f g a b Hf Hg). Qed.

Lemma RInt_constant : forall a b c, RInt (fun _ => c) a b = (b - a) * c.
Proof. intros a b c; exact (RInt_const a b c). Qed.

(** The integral from a fixed point is an antiderivative of a continuous function. *)
Lemma derive_RInt_upper : forall (f : R -> R) a t,
  (forall u, continuous f u) -> is_derive (fun b => RInt f a b) t (f t).
Proof.
  intros f a t Hf; apply (is_derive_RInt f (RInt f a) a t).
  - exists (mkposreal 1 Rlt_0_1); intros b _; apply (RInt_correct (V := R_CompleteNormedModule)),
      ex_RInt_cont, Hf.
  - apply Hf.
Qed.

Lemma RInt_derivative : forall (F f : R -> R) a b,
  (forall t, is_derive F t (f t)) -> (forall t, continuous f t) -> RInt f a b = F b - F a.
Proof.
  intros F f a b HF Hf; apply is_RInt_unique.
  exact (is_RInt_derive F f a b (fun t _ => HF t) (fun t _ => Hf t)).
Qed.

Lemma RInt_split : forall (f : R -> R) a b c,
  (forall t, continuous f t) -> RInt f a b + RInt f b c = RInt f a c.
Proof.
  intros f a b c Hf.
  exact (RInt_Chasles f a b c (ex_RInt_cont f a b Hf) (ex_RInt_cont f b c Hf)).
Qed.

Lemma derive_mult : forall (f g : R -> R) (t df dg : R),
  is_derive f t df -> is_derive g t dg -> is_derive (fun u => f u * g u) t (df * g t + f t * dg).
Proof. intros f g t df dg Hf Hg; exact (is_derive_mult f g t df dg Hf Hg Rmult_comm). Qed.

Lemma derive_comp : forall (f g : R -> R) (t df dg : R),
  is_derive f (g t) df -> is_derive g t dg -> is_derive (fun u => f (g u)) t (dg * df).
Proof. intros f g t df dg Hf Hg; exact (is_derive_comp f g t df dg Hf Hg). Qed.

Lemma RInt_same : forall (f g : R -> R) (a b : R), (forall t : R, f t = g t :> R) -> RInt f a b = RInt g a b.
Proof. intros f g a b H; apply RInt_ext; intros t _; apply H. Qed.

(** [ring] after [auto_derive], whose equations are typed in Coquelicot's structures. *)
Ltac real_ring := match goal with |- @eq _ ?a ?b => change (@eq R a b); simpl; ring end.
