(** * The unit box: how far each coefficient can move

    For each vector q in the box, [box_bound] gives every coefficient a number. Every pair of neighbours stays
    within these numbers for some q, and for every q some pair attains all of them at once. So the supremum of
    any increasing function of the changes is a supremum over q. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Change.
Import ListNotations.
Open Scope R_scope.

(** What the fairness term can add to one linear coefficient, for weight 1. *)
Definition fairness_gain (F : fairness) (n : nat) : R :=
  match F with
  | NoFairness => 0
  | Absolute => 2 * drift_limit n
  | Covariance _ => drift_limit n
  end.

(** A: the largest change of a linear coefficient that does not need q. *)
Definition linear_gain (r : reading) (n : nat) : R := 1 / 2 + alpha_1 r * fairness_gain (fairness_term r) n.

Definition box_bound (r : reading) (n : nat) (q : nat -> R) (phi : monomial) : R :=
  match phi with
  | Linear e => linear_gain r n + q e / 2
  | Quadratic e l => quadratic_factor (basis r) e l * (1 - q e * q l)
  end.

Definition in_box (d : nat) (q : nat -> R) : Prop := forall e, (e < d)%nat -> 0 <= q e <= 1.

(** ** Upper bound *)

Lemma quadratic_factor_pos : forall b e l, 0 < quadratic_factor b e l.
Proof. intros [] e l; simpl; [lra |]; destruct (Nat.eqb e l); lra. Qed.

Section Upper.

Variable d : nat.
Variable before after : dataset.
Variable t t' : record.
Let D := before ++ t :: after.
Let D' := before ++ t' :: after.
Let others := before ++ after.
Let n := length D.
Hypothesis box_t : unit_box d t.
Hypothesis box_t' : unit_box d t'.
Hypothesis box_others : Forall (unit_box d) others.

Let q e := Rmin (attribute t e) (attribute t' e).

Lemma q_in_box : in_box d q.
Proof.
  intros e He; unfold q; specialize (box_t e He); specialize (box_t' e He).
  unfold Rmin; destruct Rle_dec; lra.
Qed.

Lemma others_le : forall e (f : record -> R) c, (e < d)%nat ->
  (forall o, Rabs (f o) <= c) -> Rabs (sum_over others (fun o => f o * attribute o e))
    <= INR (length others) * c.
Proof.
  intros e f c He Hf; eapply Rle_trans; [apply sum_Rabs |].
  apply sum_le_const; intros o Ho; rewrite Rabs_mult.
  assert (Hx : 0 <= attribute o e <= 1)
    by (rewrite Forall_forall in box_others; apply box_others; assumption).
  rewrite (Rabs_right (attribute o e)) by lra; specialize (Hf o); generalize (Rabs_pos (f o)); nra.
Qed.

Lemma difference_le_max : forall a b u v c,
  0 <= a <= c -> 0 <= b <= c -> 0 <= u <= 1 -> 0 <= v <= 1 -> Rabs (a * u - b * v) <= c.
Proof. intros; apply Rabs_le; split; nra. Qed.

Lemma drift_le : forall F e, (e < d)%nat ->
  Rabs (sum_over others
    (fun o => (fairness_factor F (number (protected o)) (zbar D) - fairness_factor F (number (protected o))
      (zbar D')) * attribute o
      e))
  <= drift_limit n.
Proof.
  intros F e He; unfold n, D; rewrite nu_K; fold others.
  replace (INR (length others) / (INR (length others) + 1))
    with (INR (length others) * (1 / (INR (length others) + 1)))
    by (field; generalize (pos_INR (length others)); lra).
  apply others_le; [exact He |]; intros o.
  eapply Rle_trans; [apply fairness_factor_moves | apply zbar_moves_le].
Qed.

Lemma fairness_sum_le : forall F e, (e < d)%nat ->
  Rabs (fairness_sum F (zbar D) (zbar D') t t' others e) <= fairness_gain F n.
Proof.
  intros F e He; unfold fairness_sum.
  generalize (distance_z before after t) (distance_z' before after t t') (box_t e He) (box_t' e He).
  fold D; fold D'; fold n; intros Hz Hz' Hx Hx'.
  destruct F as [| | sign].
  - cbn [fairness_factor fairness_gain]; rewrite sum_zero by (intros; ring).
    rewrite !Rmult_0_l, Rminus_0_r, Rplus_0_r, Rabs_R0; lra.
  - generalize (drift_le Absolute e He); cbn [fairness_factor fairness_gain]; intros Hdrift.
    eapply Rle_trans; [apply Rabs_triang |].
    replace (2 * drift_limit n) with (drift_limit n + drift_limit n) by ring; apply Rplus_le_compat;
      [| exact Hdrift].
    apply difference_le_max; try assumption; split; try apply Rabs_pos; assumption.
  - assert (Hcov : Rabs ((number (protected t) - zbar D) * attribute t e -
      (number (protected t') - zbar D') * attribute t' e +
      sum_over others (fun o => (number (protected o) - zbar D -
        (number (protected o) - zbar D')) * attribute o e)) <= drift_limit n).
    { rewrite (sum_ext others _ (fun o => (zbar D' - zbar D) * attribute o e)) by (intros; ring).
      rewrite sum_scal; set (X := sum_over others (fun o => attribute o e)).
      assert (HX : 0 <= X <= INR (length others)).
      { rewrite Forall_forall in box_others; split.
        - apply sum_nonneg; intros o Ho; apply (box_others o Ho e He).
        - rewrite <- (Rmult_1_r (INR _)); apply sum_le_const; intros o Ho; apply (box_others o Ho e He). }
      revert Hz Hz'; unfold n, D, D'.
      rewrite (zbar_D' before after t'), (zbar_D before after t), nu_K; fold others.
      generalize (m_bounds before after); fold others; intros Hm Hz Hz'.
      set (m := sum_over others (fun o => number (protected o))) in *.
      set (K := INR (length others)) in *.
      assert (HK : 0 <= K) by apply pos_INR.
      assert (Hi : 0 < / (K + 1)) by (apply Rinv_0_lt_compat; lra).
      unfold Rdiv in *; set (i := / (K + 1)) in *.
      assert (HKi : (K + 1) * i = 1) by (unfold i; field; lra).
      assert (Hone : 1 - (m + 1) * i = (K - m) * i) by lra.
      destruct (protected t), (protected t'); cbn [number] in *; apply Rabs_le.
      - replace (((m + 1) * i - (m + 1) * i) * X) with 0 by ring.
        rewrite Hone, <- Rmult_minus_distr_l.
        assert (0 <= (K - m) * i <= K * i) by (split; nra); split; nra.
      - replace (((m + 0) * i - (m + 1) * i) * X) with (- (X * i)) by ring.
        rewrite Hone.
        assert (0 <= X * i <= K * i) by (split; nra).
        assert (0 <= (K - m) * i * attribute t e <= (K - m) * i)
          by (assert (0 <= (K - m) * i) by nra; split; nra).
        assert (0 <= m * i * attribute t' e <= m * i) by (assert (0 <= m * i) by nra; split; nra).
        split; nra.
      - replace (((m + 1) * i - (m + 0) * i) * X) with (X * i) by ring.
        rewrite Hone.
        assert (0 <= X * i <= K * i) by (split; nra).
        assert (0 <= (K - m) * i * attribute t' e <= (K - m) * i)
          by (assert (0 <= (K - m) * i) by nra; split; nra).
        assert (0 <= m * i * attribute t e <= m * i) by (assert (0 <= m * i) by nra; split; nra).
        split; nra.
      - replace (((m + 0) * i - (m + 0) * i) * X) with 0 by ring.
        replace ((0 - (m + 0) * i) * attribute t e - (0 - (m + 0) * i) * attribute t' e)
          with (m * i * (attribute t' e - attribute t e)) by ring.
        assert (0 <= m * i <= K * i) by (split; nra); split; nra. }
    destruct sign; cbn [fairness_factor fairness_gain]; [exact Hcov |].
    rewrite <- Rabs_Ropp; eapply Rle_trans; [| exact Hcov]; right; f_equal.
    rewrite !Ropp_plus_distr, <- (Rmult_1_l (- sum_over _ _)), Ropp_mult_distr_r_reverse,
      <- Ropp_mult_distr_l_reverse.
    rewrite <- sum_scal; f_equal; [ring |]; apply sum_ext; intros; ring.
Qed.

Lemma linear_bounded : forall r e, 0 <= alpha_1 r -> (e < d)%nat ->
  Rabs (coefficient r D (Linear e) - coefficient r D' (Linear e)) <= box_bound r n q (Linear e).
Proof.
  intros r e Ha He; unfold D, D'; rewrite linear_change; fold others D D'.
  eapply Rle_trans; [apply Rabs_triang |]; rewrite Rabs_mult, (Rabs_right (alpha_1 r)) by lra.
  generalize (fairness_sum_le (fairness_term r) e He) (box_t e He) (box_t' e He); intros HF Hx Hx'.
  assert (H1 : Rabs ((1 / 2 - number (label t)) * attribute t e -
    (1 / 2 - number (label t')) * attribute t' e) <= 1 / 2 + q e / 2).
  { unfold q; apply Rabs_le; destruct (number_cases (label t)) as [-> | ->],
      (number_cases (label t')) as [-> | ->];
      unfold Rmin; destruct Rle_dec; lra. }
  cbn [box_bound]; unfold linear_gain.
  assert (alpha_1 r * Rabs (fairness_sum (fairness_term r) (zbar D) (zbar D') t t' others e)
          <= alpha_1 r * fairness_gain (fairness_term r) n) by (apply Rmult_le_compat_l; assumption).
  lra.
Qed.

Lemma quadratic_bounded : forall r e l, (e < d)%nat -> (l < d)%nat ->
  Rabs (coefficient r D (Quadratic e l) - coefficient r D' (Quadratic e l))
    <= box_bound r n q (Quadratic e l).
Proof.
  intros r e l He Hl; unfold D, D'; rewrite quadratic_change; fold D D'.
  generalize (quadratic_factor_pos (basis r) e l); intros Hw.
  rewrite Rabs_mult, (Rabs_right (quadratic_factor _ _ _)) by lra; cbn [box_bound].
  apply Rmult_le_compat_l; [lra |].
  generalize (box_t e He) (box_t l Hl) (box_t' e He) (box_t' l Hl); intros.
  unfold q, Rmin; apply Rabs_le; repeat destruct Rle_dec; split; nra.
Qed.

End Upper.

Lemma in_Phi : forall b d phi, In phi (Phi b d) ->
  match phi with
  | Linear e => (e < d)%nat
  | Quadratic e l => (e < d)%nat /\ (l < d)%nat
  end.
Proof.
  intros b d phi H; unfold Phi in H; apply in_app_or in H; destruct H as [H | H]; apply in_map_iff in H.
  - destruct H as [e [<- He]]; apply in_coordinates; exact He.
  - destruct H as [[e l] [<- He]]; cbn [fst snd].
    assert (Hp : In (e, l) (list_prod (coordinates d) (coordinates d))).
    { destruct b; cbn [pairs] in He; [exact He |]; apply filter_In in He; apply He. }
    apply in_prod_iff in Hp; rewrite !in_coordinates in Hp; exact Hp.
Qed.

Lemma neighbours_nonempty : forall n domain D D', neighbours n domain D D' -> (1 <= n)%nat.
Proof.
  intros n domain D D' (<- & _ & _ & before & t & t' & after & -> & _); rewrite app_length; simpl; lia.
Qed.

Theorem box_changes_bounded : forall r n d D D',
  0 <= alpha_1 r -> neighbours n (unit_box d) D D' ->
  exists q, in_box d q /\
    forall phi, In phi (Phi (basis r) d) ->
      Rabs (coefficient r D phi - coefficient r D' phi) <= box_bound r n q phi.
Proof.
  intros r n d D D' Ha (Hn & HD & HD' & before & t & t' & after & -> & ->).
  apply Forall_app in HD; apply Forall_app in HD'; destruct HD as [Hb Ht], HD' as [_ Ht'].
  inversion Ht; inversion Ht'; subst.
  assert (Ho : Forall (unit_box d) (before ++ after)) by (apply Forall_app; split; assumption).
  eexists; split; [apply (q_in_box d t t'); assumption |].
  intros phi Hphi; apply in_Phi in Hphi; destruct phi as [e | e l].
  - apply linear_bounded with d; assumption.
  - destruct Hphi; apply quadratic_bounded with d; assumption.
Qed.

(** ** Attainment *)

Definition ones (e : nat) : R := 1.
Definition zeros (e : nat) : R := 0.

(** The record q becomes the record of ones; the others depend on the reading. *)
Definition box_first (F : fairness) (q : nat -> R) : record :=
  match F with
  | Covariance false => Tuple q false false
  | _ => Tuple q true false
  end.

Definition box_second (F : fairness) : record :=
  match F with
  | Covariance false => Tuple ones true true
  | _ => Tuple ones false true
  end.

Definition box_others (F : fairness) (k : nat) : dataset :=
  repeat (match F with Absolute => Tuple ones false false | _ => Tuple zeros false false end) k.

Lemma box_z : forall F q, protected (box_first F q) = false /\ protected (box_second F) = true.
Proof. intros [| | []] q; split; reflexivity. Qed.

Lemma box_others_z : forall F k f, (forall o, f o = number (protected o)) -> sum_over (box_others F k) f = 0.
Proof. intros F k f Hf; unfold box_others; rewrite sum_repeat, Hf; destruct F; simpl; lra. Qed.

Theorem box_changes_attained : forall r n d q,
  0 <= alpha_1 r -> (1 <= n)%nat -> in_box d q ->
  exists D D', neighbours n (unit_box d) D D' /\
    forall phi, In phi (Phi (basis r) d) ->
      Rabs (coefficient r D phi - coefficient r D' phi) = box_bound r n q phi.
Proof.
  intros r n d q Ha Hn Hq; set (F := fairness_term r).
  destruct n as [| k]; [lia |].
  set (D := [] ++ box_first F q :: box_others F k); set (D' := [] ++ box_second F :: box_others F k).
  assert (Hlen : length D = S k) by (unfold D, box_others; simpl; rewrite repeat_length; reflexivity).
  assert (HK : INR (length ([] ++ box_others F k)) = INR k).
  { f_equal; unfold box_others; simpl; apply repeat_length. }
  assert (Hk : 0 <= INR k) by apply pos_INR.
  exists D, D'; split.
  - assert (Hone : unit_box d (box_second F)) by (intros e He; unfold F;
      destruct (fairness_term r) as [| | []]; cbn; unfold ones; lra).
    assert (Hfirst : unit_box d (box_first F q)) by (intros e He; unfold F;
      destruct (fairness_term r) as [| | []]; cbn; apply Hq; exact He).
    assert (Hrest : Forall (unit_box d) (box_others F k)).
    { apply Forall_forall; intros o Ho; apply repeat_spec in Ho; subst o; intros e He.
      destruct F; cbn; unfold ones, zeros; lra. }
    split; [exact Hlen |]; split; [apply Forall_cons; assumption |]; split; [apply Forall_cons; assumption |].
    exists [], (box_first F q), (box_second F), (box_others F k); split; reflexivity.
  - assert (Hz : zbar D = 0).
    { unfold D; rewrite zbar_D; rewrite HK; simpl app; rewrite box_others_z by reflexivity.
      destruct (box_z F q) as [-> _]; simpl; field; lra. }
    assert (Hz' : zbar D' = 1 / (INR k + 1)).
    { unfold D'; rewrite (zbar_D' [] (box_others F k)); rewrite HK; simpl app;
        rewrite box_others_z by reflexivity.
      destruct (box_z F q) as [_ ->]; simpl; field; lra. }
    intros phi Hphi; apply in_Phi in Hphi; destruct phi as [e | e l]; cbn [box_bound].
    + unfold D, D'; rewrite linear_change; fold D D'; rewrite Hz, Hz'; fold F; unfold fairness_sum.
      simpl app; unfold box_others; rewrite sum_repeat.
      assert (Hgoal : forall v, v = linear_gain r (S k) + q e / 2 \/ v = - (linear_gain r (S k) + q e / 2) ->
        Rabs v = linear_gain r (S k) + q e / 2).
      { assert (0 <= linear_gain r (S k) + q e / 2).
        { specialize (Hq e Hphi); unfold linear_gain; destruct (nu_bounds (S k) Hn) as [Hnu _].
          assert (0 <= alpha_1 r * fairness_gain (fairness_term r) (S k)).
          { apply Rmult_le_pos; [exact Ha |]; destruct (fairness_term r); simpl; lra. }
          lra. }
        intros v [-> | ->]; [| rewrite Rabs_Ropp]; apply Rabs_right; lra. }
      assert (Hnu : drift_limit (S k) = INR k / (INR k + 1))
        by (unfold drift_limit; rewrite S_INR; field; lra).
      assert (H1 : Rabs (1 - 1 / (INR k + 1)) = INR k / (INR k + 1)).
      { rewrite Rabs_right; [field; lra |].
        apply Rle_ge, Rmult_le_reg_r with (INR k + 1); [lra |]; field_simplify; lra. }
      assert (H2 : Rabs (0 - 1 / (INR k + 1)) = 1 / (INR k + 1)).
      { rewrite Rabs_left1; [field; lra |].
        apply Rmult_le_reg_r with (INR k + 1); [lra |]; field_simplify; lra. }
      apply Hgoal; unfold linear_gain; subst F; destruct (fairness_term r) as [| | []];
        cbn [box_first box_second fairness_factor fairness_gain number attribute label protected];
        rewrite ?H1, ?H2, ?Rminus_0_r, ?Rabs_R0, ?Hnu; unfold ones, zeros.
      * right; field; lra.
      * right; field; lra.
      * right; field; lra.
      * left; field; lra.
    + unfold D, D'; rewrite quadratic_change.
      assert (Hx : attribute (box_first F q) = q) by (destruct F as [| | []]; reflexivity).
      assert (Hx' : attribute (box_second F) = ones) by (destruct F as [| | []]; reflexivity).
      rewrite Hx, Hx'; unfold ones; generalize (quadratic_factor_pos (basis r) e l); intros Hw.
      generalize (Hq e (proj1 Hphi)) (Hq l (proj2 Hphi)); intros.
      rewrite Rabs_mult, (Rabs_right (quadratic_factor _ _ _)) by lra; f_equal.
      rewrite Rabs_left1; [ring | nra].
Qed.
