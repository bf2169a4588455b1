(** * Countable outcomes: events, privacy, and composition

    Hardened noise releases whole numbers, so we need no densities and no integrals. A law gives each outcome
    its mass, and any set of outcomes is an event: its probability is the least upper bound of the finite sums
    of masses inside it. *)

From Coq Require Import Reals List Bool PeanoNat ZArith Lia Lra.
From CFM Require Import Definitions Sums.
Import ListNotations.
Open Scope R_scope.

(** ** Definitions *)

(** [value] is the probability of [event]. *)
Definition chance {A : Type} (mass : A -> R) (event : A -> Prop) (value : R) : Prop :=
  is_lub (fun total => exists l, NoDup l /\ Forall event l /\ total = sum_over l mass) value.

Definition countable_law {A : Type} (mass : A -> R) : Prop :=
  (forall a, 0 <= mass a) /\ chance mass (fun _ => True) 1.

(** (epsilon, delta)-indistinguishability for every event. *)
Definition close {A : Type} (epsilon delta : R) (p q : A -> R) : Prop :=
  forall (event : A -> Prop) P Q, chance p event P -> chance q event Q -> P <= exp epsilon * Q + delta.

(** A first outcome, then a second one whose law depends on the first. *)
Definition joint {A B : Type} (first : A -> R) (second : A -> B -> R) (ab : A * B) : R :=
  first (fst ab) * second (fst ab) (snd ab).

(** ** Finite events decide *)

Section Events.
Context {A : Type}.
Implicit Types (mass p q : A -> R).

Lemma sum_incl : forall mass l l', (forall a, 0 <= mass a) -> NoDup l' -> incl l' l ->
  sum_over l' mass <= sum_over l mass.
Proof.
  intros mass l l' Hm Hl'; revert l; induction Hl' as [| a l' Ha Hl' IH]; intros l Hincl.
  - apply sum_nonneg; intros; apply Hm.
  - destruct (in_split a l (Hincl a (or_introl eq_refl))) as [l1 [l2 ->]]; rewrite sum_middle, sum_cons.
    assert (H : sum_over l' mass <= sum_over (l1 ++ l2) mass).
    { apply IH; intros b Hb; assert (Hin := Hincl b (or_intror Hb)); rewrite in_app_iff in *.
      destruct Hin as [Hin | [-> | Hin]]; [left; exact Hin | contradiction | right; exact Hin]. }
    lra.
Qed.

Lemma chance_finite : forall mass l, (forall a, 0 <= mass a) -> NoDup l ->
  chance mass (fun a => In a l) (sum_over l mass).
Proof.
  intros mass l Hm Hl; split.
  - intros total [l' [Hl' [Hin ->]]]; apply sum_incl; [exact Hm | exact Hl' |].
    rewrite Forall_forall in Hin; exact Hin.
  - intros M HM; apply HM; exists l; split; [exact Hl | split; [| reflexivity]]; apply Forall_forall; auto.
Qed.

Lemma close_of_finite : forall epsilon delta p q,
  (forall l, NoDup l -> sum_over l p <= exp epsilon * sum_over l q + delta) -> close epsilon delta p q.
Proof.
  intros epsilon delta p q H event P Q [_ HP] [HQ _]; apply HP; intros total [l [Hl [Hevent ->]]].
  eapply Rle_trans; [apply H, Hl |]; apply Rplus_le_compat_r, Rmult_le_compat_l; [left; apply exp_pos |].
  apply HQ; exists l; auto.
Qed.

Lemma finite_of_close : forall epsilon delta p q, (forall a, 0 <= p a) -> (forall a, 0 <= q a) ->
  close epsilon delta p q -> forall l, NoDup l -> sum_over l p <= exp epsilon * sum_over l q + delta.
Proof.
  intros epsilon delta p q Hp Hq H l Hl; apply (H (fun a => In a l)); apply chance_finite; assumption.
Qed.

Lemma law_nonneg : forall mass, countable_law mass -> forall a, 0 <= mass a.
Proof. intros mass [H _]; exact H. Qed.

Lemma law_sum : forall mass l, countable_law mass -> NoDup l -> sum_over l mass <= 1.
Proof.
  intros mass l [_ [H _]] Hl; apply H; exists l; split; [exact Hl | split; [| reflexivity]].
  apply Forall_forall; auto.
Qed.

Lemma law_nearly : forall mass eta, countable_law mass -> 0 < eta -> exists l, NoDup l /\
  1 - eta <= sum_over l mass.
Proof.
  intros mass eta [_ [_ H]] Heta.
  destruct (Classical_Prop.classic (exists l, NoDup l /\ 1 - eta <= sum_over l mass)) as [Hyes | Hno];
    [exact Hyes | exfalso].
  assert (1 <= 1 - eta); [| lra]; apply H; intros total [l [Hl [_ ->]]].
  destruct (Rle_or_lt (sum_over l mass) (1 - eta)) as [Hle | Hlt]; [exact Hle |].
  exfalso; apply Hno; exists l; split; [exact Hl | lra].
Qed.

(** Finite sums that stay below 1 and come near to it. *)
Lemma law_intro : forall mass, (forall a, 0 <= mass a) -> (forall l, NoDup l -> sum_over l mass <= 1) ->
  (forall eta, 0 < eta -> exists l, NoDup l /\ 1 - eta <= sum_over l mass) -> countable_law mass.
Proof.
  intros mass Hm Hle Hnear; split; [exact Hm |]; split; [intros total [l [Hl [_ ->]]]; apply Hle, Hl |].
  intros M HM; apply le_epsilon; intros eta Heta; destruct (Hnear eta Heta) as [l [Hl Hsum]].
  assert (sum_over l mass <= M); [| lra].
  apply HM; exists l; split; [exact Hl | split; [apply Forall_forall; auto | reflexivity]].
Qed.

(** Every event has a probability. *)
Theorem every_event_has_a_chance : forall mass event, countable_law mass ->
  exists value, chance mass event value /\ 0 <= value <= 1.
Proof.
  intros mass event Hlaw.
  destruct (completeness (fun total => exists l, NoDup l /\ Forall event l /\ total = sum_over l mass))
    as [value Hvalue].
  - exists 1; intros total [l [Hl [_ ->]]]; apply law_sum; assumption.
  - exists 0, []; split; [constructor | split; [constructor | reflexivity]].
  - exists value; split; [exact Hvalue |]; split.
    + apply Hvalue; exists []; split; [constructor | split; [constructor | reflexivity]].
    + apply Hvalue; intros total [l [Hl [_ ->]]]; apply law_sum; assumption.
Qed.

Lemma close_of_ratio : forall epsilon p q, (forall a, p a <= exp epsilon * q a) -> close epsilon 0 p q.
Proof.
  intros epsilon p q H; apply close_of_finite; intros l _; rewrite <- sum_scal, Rplus_0_r.
  apply sum_le; intros a _; apply H.
Qed.

(** A test with values in [0, 1] obeys what events obey. *)
Lemma soft_test : forall (G : Type) epsilon delta p q (key : G -> A) (h : G -> R) (l : list G),
  (forall l', NoDup l' -> sum_over l' p <= exp epsilon * sum_over l' q + delta) ->
  NoDup (map key l) -> (forall g, 0 <= h g <= 1) ->
  sum_over l (fun g => p (key g) * h g) <= exp epsilon * sum_over l (fun g => q (key g) * h g) + delta.
Proof.
  intros G epsilon delta p q key h l Hfinite Hl Hh.
  assert (H : exists l', NoDup l' /\ incl l' (map key l) /\
    sum_over l (fun g => p (key g) * h g) - exp epsilon * sum_over l (fun g => q (key g) * h g)
    <= sum_over l' p - exp epsilon * sum_over l' q).
  { clear Hfinite; induction l as [| g l IH].
    - exists []; split; [constructor | split; [apply incl_refl | simpl; lra]].
    - cbn [map] in Hl; apply NoDup_cons_iff in Hl; destruct Hl as [Hg Hl].
      destruct (IH Hl) as [l' [Hl' [Hincl Hle]]]; rewrite !sum_cons; specialize (Hh g).
      destruct (Rle_or_lt (p (key g)) (exp epsilon * q (key g))) as [Hsmall | Hlarge].
      + exists l'; split; [exact Hl' | split; [apply incl_tl, Hincl |]].
        assert ((p (key g) - exp epsilon * q (key g)) * h g <= 0) by nra; lra.
      + exists (key g :: l'); split; [constructor; [intros H; apply Hg, Hincl, H | exact Hl'] | split].
        * intros b [<- | Hb]; [left; reflexivity | right; apply Hincl, Hb].
        * rewrite !sum_cons.
          assert ((p (key g) - exp epsilon * q (key g)) * h g <= p (key g) - exp epsilon * q (key g)) by
            nra.
          lra. }
  destruct H as [l' [Hl' [_ Hle]]]; specialize (Hfinite l' Hl'); lra.
Qed.
End Events.

(** ** Lists without repetition *)

Lemma apart_app : forall (A : Type) (l l' : list A), NoDup l -> NoDup l' -> (forall a, In a l -> ~ In a l')
  ->
  NoDup (l ++ l').
Proof.
  intros A l l' Hl Hl'; induction Hl as [| a l Ha Hl IH]; intros Hapart; [exact Hl' |].
  cbn [app]; constructor; [| apply IH; intros b Hb; apply Hapart; right; exact Hb].
  rewrite in_app_iff; intros [H | H]; [contradiction | apply (Hapart a); [left; reflexivity | exact H]].
Qed.

Lemma map_once : forall (A B : Type) (f : A -> B) l, (forall a b, f a = f b -> a = b) -> NoDup l ->
  NoDup (map f l).
Proof.
  intros A B f l Hf Hl; induction Hl as [| a l Ha Hl IH]; cbn; constructor; [| exact IH].
  intros H; apply in_map_iff in H; destruct H as [b [E Hb]]; apply Hf in E; subst b; contradiction.
Qed.

(** ** Two outcomes *)

Section Two.
Context {A B : Type}.

(** Finitely many pairs, the second entries gathered by the first. *)
Lemma gathered : forall L : list (A * B), NoDup L ->
  exists G : list (A * list B), NoDup (map fst G) /\
    (forall f : A * B -> R, sum_over L f =
      sum_over G (fun g => sum_over (snd g) (fun b => f (fst g, b)))) /\
    (forall g, In g G -> NoDup (snd g) /\ forall b, In b (snd g) -> In (fst g, b) L).
Proof.
  induction L as [| [a b] L IH]; intros HL.
  - exists []; split; [constructor | split; [reflexivity | intros g []]].
  - apply NoDup_cons_iff in HL; destruct HL as [Hnot HL]; destruct (IH HL) as [G [HG [Hsum Hin]]].
    destruct (Classical_Prop.classic (In a (map fst G))) as [Ha | Ha].
    + apply in_map_iff in Ha; destruct Ha as [[a' bs] [Haa Hg]]; cbn in Haa; subst a'.
      destruct (in_split _ _ Hg) as [G1 [G2 ->]]; exists (G1 ++ (a, b :: bs) :: G2); split; [| split].
      * rewrite map_app in *; exact HG.
      * intros f; rewrite sum_cons, Hsum, !sum_middle; cbn [fst snd]; rewrite sum_cons; ring.
      * intros g Hin'; rewrite in_app_iff in Hin'; destruct Hin' as [H | [<- | H]].
        -- destruct (Hin g) as [H1 H2]; [rewrite in_app_iff; auto |]; split; [exact H1 |].
           intros c Hc; right; apply H2, Hc.
        -- destruct (Hin (a, bs) Hg) as [H1 H2]; cbn [fst snd] in *; split.
           ++ constructor; [intros Hb; apply Hnot, H2, Hb | exact H1].
           ++ intros c [<- | Hc]; [left; reflexivity | right; apply H2, Hc].
        -- destruct (Hin g) as [H1 H2]; [rewrite in_app_iff; right; right; exact H |]; split; [exact H1 |].
           intros c Hc; right; apply H2, Hc.
    + exists ((a, [b]) :: G); split; [cbn; constructor; assumption | split].
      * intros f; rewrite !sum_cons, Hsum; cbn [fst snd]; rewrite sum_cons; cbn [sum_over fold_right]; ring.
      * intros g [<- | Hg]; cbn [fst snd].
        -- split; [constructor; [intros [] | constructor] |]; intros c [<- | []]; left; reflexivity.
        -- destruct (Hin g Hg) as [H1 H2]; split; [exact H1 | intros c Hc; right; apply H2, Hc].
Qed.

Lemma sum_joint : forall (first : A -> R) (second : A -> B -> R) (G : list (A * list B)),
  sum_over G (fun g => sum_over (snd g) (fun b => joint first second (fst g, b))) =
  sum_over G (fun g => first (fst g) * sum_over (snd g) (second (fst g))).
Proof. intros first second G; apply sum_ext; intros g _; unfold joint; cbn [fst snd]; apply sum_scal. Qed.

Lemma sum_fst : forall (f : A -> R) (G : list (A * list B)),
  sum_over G (fun g => f (fst g)) = sum_over (map fst G) f.
Proof. intros f G; symmetry; apply sum_map. Qed.

Lemma joint_nearly : forall (first : A -> R) (second : A -> B -> R) eta l, countable_law first ->
  (forall a, countable_law (second a)) -> 0 < eta -> NoDup l ->
  exists L, NoDup L /\ (forall ab, In ab L -> In (fst ab) l) /\
    sum_over l first * (1 - eta) <= sum_over L (joint first second).
Proof.
  intros first second eta l Hfirst Hsecond Heta; induction l as [| a l IH]; intros Hl.
  - exists []; split; [constructor | split; [intros ab [] | simpl; lra]].
  - apply NoDup_cons_iff in Hl; destruct Hl as [Ha Hl]; destruct (IH Hl) as [L [HL [Hin Hsum]]].
    destruct (law_nearly (second a) eta (Hsecond a) Heta) as [bs [Hbs Hnear]].
    exists (map (fun b => (a, b)) bs ++ L); split; [| split].
    + apply apart_app; [apply map_once; [intros b b' E; injection E; auto | exact Hbs] | exact HL |].
      intros ab H HinL; apply in_map_iff in H; destruct H as [b [<- _]]; apply Ha, (Hin (a, b) HinL).
    + intros ab H; apply in_app_iff in H; destruct H as [H | H]; [left | right; apply Hin, H].
      apply in_map_iff in H; destruct H as [b [<- _]]; reflexivity.
    + rewrite sum_cons, sum_app, sum_map; unfold joint at 1; cbn [fst snd]; rewrite sum_scal.
      assert (first a * (1 - eta) <= first a * sum_over bs (second a))
        by (apply Rmult_le_compat_l; [apply law_nonneg, Hfirst | exact Hnear]); lra.
Qed.

Theorem joint_law : forall (first : A -> R) (second : A -> B -> R), countable_law first ->
  (forall a, countable_law (second a)) -> countable_law (joint first second).
Proof.
  intros first second Hfirst Hsecond.
  assert (Hpos := law_nonneg _ Hfirst); assert (Hpos2 := fun a => law_nonneg _ (Hsecond a));
    apply law_intro.
  - intros ab; apply Rmult_le_pos; [apply Hpos | apply Hpos2].
  - intros L HL; destruct (gathered L HL) as [G [HG [Hsum Hin]]]; rewrite Hsum, sum_joint.
    apply Rle_trans with (sum_over G (fun g => first (fst g))).
    + apply sum_le; intros g Hg; apply Rle_trans with (first (fst g) * 1); [| lra].
      apply Rmult_le_compat_l; [apply Hpos | apply law_sum; [apply Hsecond | apply Hin, Hg]].
    + rewrite sum_fst; apply law_sum; assumption.
  - intros eta Heta; destruct (law_nearly first (eta / 2) Hfirst ltac:(lra)) as [l [Hl Hnear]].
    destruct (joint_nearly first second (eta / 2) l Hfirst Hsecond ltac:(lra) Hl) as [L [HL [_ Hsum]]].
    exists L; split; [exact HL |]; assert (Hone := law_sum first l Hfirst Hl); nra.
Qed.

End Two.

(** Adaptive composition: the second mechanism may depend on what the first one released. *)
Theorem adaptive_composition : forall (A B : Type) epsilon1 delta1 epsilon2 delta2 (p q : A -> R)
    (p2 q2 : A -> B -> R),
  countable_law p -> countable_law q -> (forall a, countable_law (p2 a)) ->
    (forall a, countable_law (q2 a)) ->
  close epsilon1 delta1 p q -> (forall a, close epsilon2 delta2 (p2 a) (q2 a)) ->
  close (epsilon1 + epsilon2) (delta1 + delta2) (joint p p2) (joint q q2).
Proof.
  intros A B e1 d1 e2 d2 p q p2 q2 Hp Hq Hp2 Hq2 H1 H2.
  assert (F1 := finite_of_close _ _ _ _ (law_nonneg _ Hp) (law_nonneg _ Hq) H1).
  assert (F2 := fun a => finite_of_close _ _ _ _ (law_nonneg _ (Hp2 a)) (law_nonneg _ (Hq2 a)) (H2 a)).
  apply close_of_finite; intros L HL; destruct (gathered L HL) as [G [HG [Hsum Hin]]].
  rewrite !Hsum, !sum_joint; clear Hsum.
  set (S := fun g : A * list B => sum_over (snd g) (p2 (fst g))).
  set (T := fun g : A * list B => sum_over (snd g) (q2 (fst g))).
  set (h := fun g => Rmin 1 (exp e2 * T g)).
  assert (He1 := exp_pos e1); assert (He2 := exp_pos e2).
  assert (HT : forall g, 0 <= T g) by (intros g; apply sum_nonneg; intros b _; apply law_nonneg, Hq2).
  assert (Hh : forall g, 0 <= h g <= 1).
  { intros g; unfold h; split; [apply Rmin_glb; [lra | apply Rmult_le_pos;
    [lra | apply HT]] | apply Rmin_l]. }
  apply Rle_trans with (sum_over G (fun g => p (fst g) * h g) + d2).
  - apply Rle_trans with (sum_over G (fun g => p (fst g) * h g + d2 * p (fst g))).
    + apply sum_le; intros g Hg; fold (S g); destruct (Hin g Hg) as [Hnodup _].
      assert (HS1 : S g <= 1) by (apply law_sum; [apply Hp2 | exact Hnodup]).
      assert (HS2 : S g <= exp e2 * T g + d2) by (apply F2, Hnodup).
      assert (Hd2 : 0 <= d2) by (generalize (F2 (fst g) [] (NoDup_nil B)); cbn; lra).
      assert (S g <= h g + d2) by (unfold h, Rmin; destruct Rle_dec; lra).
      rewrite (Rmult_comm d2), <- Rmult_plus_distr_l; apply Rmult_le_compat_l;
        [apply law_nonneg, Hp | assumption].
    + rewrite sum_plus, sum_scal, sum_fst; destruct G as [| g G]; [cbn |].
      * destruct (law_nearly p (1 / 2) Hp ltac:(lra)) as [[| a l] [_ Hnear]]; [cbn in Hnear; lra |].
        generalize (F2 a [] (NoDup_nil B)); cbn; lra.
      * assert (Hd2 : 0 <= d2) by (generalize (F2 (fst g) [] (NoDup_nil B)); cbn; lra).
        generalize (law_sum p _ Hp HG); nra.
  - assert (Hsoft := soft_test (A * list B) e1 d1 p q fst h G F1 HG Hh).
    assert (Hq' : sum_over G (fun g => q (fst g) * h g) <= exp e2 * sum_over G (fun g => q (fst g) * T g)).
    { rewrite <- sum_scal; apply sum_le; intros g _.
      apply Rle_trans with (q (fst g) * (exp e2 * T g)); [| right; ring].
      apply Rmult_le_compat_l; [apply law_nonneg, Hq | apply Rmin_r]. }
    rewrite exp_plus; assert (exp e1 * sum_over G (fun g => q (fst g) * h g) <=
      exp e1 * (exp e2 * sum_over G (fun g => q (fst g) * T g))) by (apply Rmult_le_compat_l;
        [lra | exact Hq']).
    change (fun g : A * list B => q (fst g) * sum_over (snd g) (q2 (fst g))) with (fun g => q (fst g) * T
      g); lra.
Qed.


(** ** Whole numbers, one for each coordinate *)

Fixpoint integers (k : nat) : Type :=
  match k with O => unit | S k' => (Z * integers k')%type end.

(** Independent coordinates. *)
Fixpoint product_mass {A : Type} (l : list A) (p : A -> Z -> R) : integers (length l) -> R :=
  match l with
  | [] => fun _ => 1
  | a :: rest => fun zs => p a (fst zs) * product_mass rest p (snd zs)
  end.

Section Product.
Context {A : Type}.
Implicit Types (l : list A) (p q : A -> Z -> R).

Lemma product_law : forall l p, (forall a, countable_law (p a)) -> countable_law (product_mass l p).
Proof.
  intros l p Hp; induction l as [| a l IH].
  - apply law_intro; [intros; cbn; lra | |].
    + intros [| [] [| [] L]] HL; cbn; try lra; exfalso.
      apply NoDup_cons_iff in HL; apply (proj1 HL); left; reflexivity.
    + intros eta Heta; exists [tt]; split; [constructor; [intros [] | constructor] | cbn; lra].
  - exact (joint_law (p a) (fun _ => product_mass l p) (Hp a) (fun _ => IH)).
Qed.

Lemma product_ratio : forall l p q c, (forall a z, 0 <= p a z) -> (forall a z, 0 <= q a z) ->
  (forall a z, p a z <= exp (c a) * q a z) ->
  forall zs, product_mass l p zs <= exp (sum_over l c) * product_mass l q zs.
Proof.
  intros l p q c Hp Hq H; induction l as [| a l IH]; intros zs.
  - cbn; rewrite exp_0; lra.
  - cbn [product_mass]; rewrite sum_cons, exp_plus.
    apply Rle_trans with (exp (c a) * q a (fst zs) * (exp (sum_over l c) * product_mass l q (snd zs)));
      [| right; ring].
    assert (Hpos : forall zs', 0 <= product_mass l p zs').
    { clear - Hp; induction l as [| b l IH]; intros zs'; cbn; [lra | apply Rmult_le_pos;
      [apply Hp | apply IH]]. }
    apply Rmult_le_compat; [apply Hp | apply Hpos | apply H | apply IH].
Qed.
End Product.
