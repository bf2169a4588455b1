(** * Sums over lists

    Algebra and bounds of finite sums, and sums over the coordinates and monomials of [Definitions.v]. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions.
Import ListNotations.
Open Scope R_scope.

Section Sums.
Context {A : Type}.
Implicit Types (l : list A) (f g : A -> R).

Lemma sum_cons : forall a l f, sum_over (a :: l) f = f a + sum_over l f.
Proof. reflexivity. Qed.

Lemma sum_app : forall l1 l2 f, sum_over (l1 ++ l2) f = sum_over l1 f + sum_over l2 f.
Proof.
  induction l1 as [| a l1 IH]; intros; simpl; [lra |].
  fold (sum_over (l1 ++ l2) f) (sum_over l1 f); rewrite IH; lra.
Qed.

Lemma sum_ext : forall l f g, (forall a, In a l -> f a = g a) -> sum_over l f = sum_over l g.
Proof.
  induction l as [| a l IH]; intros f g H; [reflexivity |].
  rewrite !sum_cons, (H a), (IH f g); [reflexivity | | left; reflexivity].
  intros; apply H; right; assumption.
Qed.

Lemma sum_le : forall l f g, (forall a, In a l -> f a <= g a) -> sum_over l f <= sum_over l g.
Proof.
  induction l as [| a l IH]; intros f g H; [apply Rle_refl |].
  rewrite !sum_cons; apply Rplus_le_compat; [apply H; left; reflexivity |].
  apply IH; intros; apply H; right; assumption.
Qed.

Lemma sum_plus : forall l f g, sum_over l (fun a => f a + g a) = sum_over l f + sum_over l g.
Proof. induction l as [| a l IH]; intros; rewrite ?sum_cons, ?IH; simpl; lra. Qed.

Lemma sum_minus : forall l f g, sum_over l (fun a => f a - g a) = sum_over l f - sum_over l g.
Proof. induction l as [| a l IH]; intros; rewrite ?sum_cons, ?IH; simpl; lra. Qed.

Lemma sum_scal : forall l c f, sum_over l (fun a => c * f a) = c * sum_over l f.
Proof. induction l as [| a l IH]; intros; rewrite ?sum_cons, ?IH; simpl; lra. Qed.

Lemma sum_scal_r : forall l c f, sum_over l (fun a => f a * c) = sum_over l f * c.
Proof. induction l as [| a l IH]; intros; rewrite ?sum_cons, ?IH; simpl; lra. Qed.

Lemma sum_const : forall l c, sum_over l (fun _ => c) = INR (length l) * c.
Proof.
  induction l as [| a l IH]; intros; [simpl; lra |].
  rewrite sum_cons, IH; cbn [length]; rewrite S_INR; lra.
Qed.

Lemma sum_le_const : forall l f c, (forall a, In a l -> f a <= c) -> sum_over l f <= INR (length l) * c.
Proof. intros l f c H; rewrite <- sum_const; apply sum_le; exact H. Qed.

Lemma sum_nonneg : forall l f, (forall a, In a l -> 0 <= f a) -> 0 <= sum_over l f.
Proof.
  intros l f H; rewrite <- (Rmult_0_r (INR (length l))), <- sum_const; apply sum_le; exact H.
Qed.

Lemma sum_zero : forall l f, (forall a, In a l -> f a = 0) -> sum_over l f = 0.
Proof.
  intros l f H; rewrite (sum_ext l f (fun _ => 0)) by exact H; rewrite sum_const; lra.
Qed.

Lemma sum_Rabs : forall l f, Rabs (sum_over l f) <= sum_over l (fun a => Rabs (f a)).
Proof.
  induction l as [| a l IH]; intros; [simpl; rewrite Rabs_R0; lra |].
  rewrite !sum_cons; eapply Rle_trans; [apply Rabs_triang |]; specialize (IH f); lra.
Qed.

Lemma sum_filter : forall l (b : A -> bool) f,
  sum_over (filter b l) f = sum_over l (fun a => if b a then f a else 0).
Proof.
  induction l as [| a l IH]; intros; [reflexivity |].
  rewrite sum_cons; cbn [filter]; destruct (b a); rewrite ?sum_cons, IH; lra.
Qed.

Lemma sum_member : forall l a f, (forall b, In b l -> 0 <= f b) -> In a l -> f a <= sum_over l f.
Proof.
  induction l as [| b l IH]; intros a f H Ha; [destruct Ha |].
  rewrite sum_cons; destruct Ha as [-> | Ha].
  - assert (0 <= sum_over l f) by (apply sum_nonneg; intros; apply H; right; assumption); lra.
  - assert (0 <= f b) by (apply H; left; reflexivity).
    assert (f a <= sum_over l f) by (apply IH; [intros; apply H; right |]; assumption); lra.
Qed.

Lemma sum_middle : forall before a after f,
  sum_over (before ++ a :: after) f = f a + sum_over (before ++ after) f.
Proof. intros; rewrite !sum_app, sum_cons; lra. Qed.

Lemma cauchy_schwarz : forall l f g,
  sum_over l (fun a => f a * g a) ^ 2 <= sum_over l (fun a => f a ^ 2) * sum_over l (fun a => g a ^ 2).
Proof.
  intros l f g.
  set (F := sum_over l (fun a => f a ^ 2)); set (G := sum_over l (fun a => g a ^ 2)).
  set (M := sum_over l (fun a => f a * g a)).
  assert (HF : 0 <= F) by (apply sum_nonneg; intros; apply pow2_ge_0).
  assert (HG : 0 <= G) by (apply sum_nonneg; intros; apply pow2_ge_0).
  assert (H : forall s t, 0 <= s ^ 2 * F + 2 * s * t * M + t ^ 2 * G).
  { intros s t.
    replace (s ^ 2 * F + 2 * s * t * M + t ^ 2 * G)
      with (sum_over l (fun a => (s * f a + t * g a) ^ 2)).
    - apply sum_nonneg; intros; apply pow2_ge_0.
    - unfold F, M, G; rewrite <- !sum_scal, <- !sum_plus; apply sum_ext; intros; ring. }
  destruct (Req_dec G 0) as [HG0 | HG0].
  - rewrite HG0 in *; destruct (Req_dec M 0) as [-> | HM]; [lra |].
    specialize (H 1 (- (F + 1) / M)).
    replace (1 ^ 2 * F + 2 * 1 * (- (F + 1) / M) * M + (- (F + 1) / M) ^ 2 * 0) with (- F - 2) in H
      by (field; exact HM).
    lra.
  - specialize (H G (- M)).
    assert (0 < G) by lra.
    replace (G ^ 2 * F + 2 * G * - M * M + (- M) ^ 2 * G) with (G * (F * G - M ^ 2)) in H by ring.
    assert (0 <= F * G - M ^ 2).
    { apply Rmult_le_reg_l with G; lra. }
    lra.
Qed.

(** The square of a sum of n terms is at most n times the sum of their squares. *)
Lemma sum_square_le : forall l f, sum_over l f ^ 2 <= INR (length l) * sum_over l (fun a => f a ^ 2).
Proof.
  intros l f; generalize (cauchy_schwarz l (fun _ => 1) f).
  rewrite (sum_ext l (fun a => 1 * f a) f), (sum_ext l (fun _ => 1 ^ 2) (fun _ => 1)) by (intros; ring).
  rewrite sum_const, Rmult_1_r; intros H; exact H.
Qed.

Lemma sum_repeat : forall (a : A) k f, sum_over (repeat a k) f = INR k * f a.
Proof.
  induction k as [| k IH]; intros; [simpl; lra |].
  cbn [repeat]; rewrite sum_cons, IH, S_INR; lra.
Qed.

End Sums.

Lemma sum_map : forall (A B : Type) (l : list A) (h : A -> B) (f : B -> R),
  sum_over (map h l) f = sum_over l (fun a => f (h a)).
Proof. induction l as [| a l IH]; intros; [reflexivity |]; simpl map; rewrite !sum_cons, IH; lra. Qed.

Lemma sum_prod : forall (A B : Type) (l : list A) (m : list B) (f : A * B -> R),
  sum_over (list_prod l m) f = sum_over l (fun a => sum_over m (fun b => f (a, b))).
Proof.
  induction l as [| a l IH]; intros; [reflexivity |].
  cbn [list_prod]; rewrite sum_app, sum_map, IH; reflexivity.
Qed.

Lemma sum_swap : forall (A B : Type) (l : list A) (m : list B) (f : A -> B -> R),
  sum_over l (fun a => sum_over m (fun b => f a b)) = sum_over m (fun b => sum_over l (fun a => f a b)).
Proof.
  induction l as [| a l IH]; intros.
  - simpl; symmetry; apply sum_zero; reflexivity.
  - rewrite sum_cons, IH, <- sum_plus; apply sum_ext; intros; rewrite sum_cons; reflexivity.
Qed.

Lemma sum_product : forall (A : Type) (l : list A) (f g : A -> R),
  sum_over l (fun a => sum_over l (fun b => f a * g b)) = sum_over l f * sum_over l g.
Proof.
  intros; rewrite <- sum_scal_r; apply sum_ext; intros; apply sum_scal.
Qed.

Lemma sum_coordinates_const : forall d c, sum_over (coordinates d) (fun _ => c) = INR d * c.
Proof. intros; rewrite sum_const; unfold coordinates; rewrite seq_length; reflexivity. Qed.

Lemma in_coordinates : forall d e, In e (coordinates d) <-> (e < d)%nat.
Proof. intros; unfold coordinates; rewrite in_seq; lia. Qed.

(** Picking one coordinate. *)
Lemma sum_delta : forall d s f, (s < d)%nat ->
  sum_over (coordinates d) (fun e => if Nat.eqb e s then f e else 0) = f s.
Proof.
  induction d as [| d IH]; intros s f Hs; [lia |].
  unfold coordinates; rewrite seq_S, sum_app; fold (coordinates d); cbn.
  destruct (Nat.eq_dec s d) as [-> | Hne].
  - rewrite Nat.eqb_refl, (sum_zero (coordinates d)); [lra |].
    intros e He; apply in_coordinates in He; destruct (Nat.eqb_spec e d); [lia | reflexivity].
  - rewrite IH by lia; destruct (Nat.eqb_spec d s); [lia | lra].
Qed.

(** In both bases the sum over Phi is a sum over coordinates plus a sum over all ordered pairs. *)
Lemma sum_Phi : forall b d f,
  sum_over (Phi b d) f =
  sum_over (coordinates d) (fun e => f (Linear e))
    + sum_over (pairs b d) (fun p => f (Quadratic (fst p) (snd p))).
Proof. intros; unfold Phi; rewrite sum_app, !sum_map; reflexivity. Qed.

Lemma sum_pairs_matrix : forall d f,
  sum_over (pairs MatrixBasis d) f =
  sum_over (coordinates d) (fun e => sum_over (coordinates d) (fun l => f (e, l))).
Proof. intros; apply sum_prod. Qed.

(** For a symmetric f, twice the monomials above the diagonal and once those on it are all ordered pairs. *)
Lemma sum_pairs_monomial : forall d (f g : nat -> nat -> R),
  (forall e l, g e l = g l e) ->
  (forall e l, (e <= l)%nat -> f e l = if Nat.eqb e l then g e l else 2 * g e l) ->
  sum_over (pairs MonomialBasis d) (fun p => f (fst p) (snd p)) =
  sum_over (coordinates d) (fun e => sum_over (coordinates d) (fun l => g e l)).
Proof.
  intros d f g Hsym Hf; unfold pairs; rewrite sum_filter, sum_prod; cbn [fst snd].
  set (below := fun e l => if Nat.ltb e l then g e l else 0).
  transitivity (sum_over (coordinates d) (fun e => sum_over (coordinates d) (fun l => below e l)) +
                sum_over (coordinates d) (fun e => sum_over (coordinates d)
                  (fun l => (if Nat.leb e l then g e l else 0)))).
  - rewrite <- sum_plus; apply sum_ext; intros e _; rewrite <- sum_plus; apply sum_ext; intros l _.
    unfold below; destruct (Nat.leb_spec e l) as [H | H]; destruct (Nat.ltb_spec e l); try lia; try lra;
      rewrite (Hf e l H); destruct (Nat.eqb_spec e l); try lia; lra.
  - rewrite (sum_swap _ _ (coordinates d) (coordinates d) (fun e l => below e l)), <- sum_plus.
    apply sum_ext; intros e _; rewrite <- sum_plus; apply sum_ext; intros l _.
    unfold below; rewrite (Hsym l e).
    destruct (Nat.leb_spec e l); destruct (Nat.ltb_spec l e); try lia; lra.
Qed.
