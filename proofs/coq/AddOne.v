(** * Adding or removing one record, on the unit box

    If neighbours differ by one record that is added or removed, every coefficient stays within a bound, and
    one pair of data sets attains all bounds at once. The exact l1- and l2-sensitivities follow. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity.
Import ListNotations.
Open Scope R_scope.

Section Added.

Variable before after : dataset.
Variable t : record.
Let others := before ++ after.
Let D := before ++ after.
Let D' := before ++ t :: after.
Hypothesis not_empty : D <> [].

Let K := INR (length others).
Let m := sum_over others (fun o => number (protected o)).

Lemma K_positive : 0 < K.
Proof.
  unfold K, others; fold D; apply lt_0_INR; destruct D as [| o rest];
    [exfalso; apply not_empty; reflexivity | simpl; lia].
Qed.

Lemma zbar_before : zbar D = m / K.
Proof. reflexivity. Qed.

Lemma zbar_after : zbar D' = (m + number (protected t)) / (K + 1).
Proof. apply zbar_D. Qed.

Lemma added_linear : forall r e,
  coefficient r D' (Linear e) - coefficient r D (Linear e) =
  (1 / 2 - number (label t)) * attribute t e
  + alpha_1 r * (fairness_factor (fairness_term r) (number (protected t)) (zbar D') * attribute t e
    + sum_over others (fun o => (fairness_factor (fairness_term r) (number (protected o)) (zbar D')
                                 - fairness_factor (fairness_term r) (number (protected o))
                                     (zbar D)) * attribute o e)).
Proof.
  intros r e; unfold coefficient; unfold D' at 1; rewrite sum_middle; fold others; cbn [record_coefficient].
  assert (H : forall a b c : R, a + b - c = a + (b - c)) by (intros; ring).
  unfold D at 1; fold others; rewrite H, <- sum_minus, Rmult_plus_distr_l, <- sum_scal.
  rewrite (sum_ext others _ (fun o => alpha_1 r *
    ((fairness_factor (fairness_term r) (number (protected o)) (zbar D')
      - fairness_factor (fairness_term r) (number (protected o)) (zbar D)) * attribute o e)))
          by (intros; ring).
  ring.
Qed.

Lemma added_quadratic : forall r e l,
  coefficient r D' (Quadratic e l) - coefficient r D (Quadratic e l)
    = quadratic_factor (basis r) e l * (attribute t e * attribute t l).
Proof. intros r e l; unfold coefficient, D, D'; rewrite sum_middle; cbn [record_coefficient]; ring. Qed.

(** The average moves by the new record's distance from it, over K. *)
Lemma average_moves : zbar D - zbar D' = - (number (protected t) - zbar D') / K.
Proof. generalize K_positive; intros HK; rewrite zbar_before, zbar_after; field; lra. Qed.

Variable d : nat.
Hypothesis box_t : unit_box d t.
Hypothesis box_others : Forall (unit_box d) others.

Lemma sum_others_bounds : forall e, (e < d)%nat -> 0 <= sum_over others (fun o => attribute o e) <= K.
Proof.
  intros e He; rewrite Forall_forall in box_others; split.
  - apply sum_nonneg; intros o Ho; apply (box_others o Ho e He).
  - unfold K; rewrite <- (Rmult_1_r (INR _)); apply sum_le_const; intros o Ho; apply (box_others o Ho e He).
Qed.

Lemma added_distance : Rabs (number (protected t) - zbar D') <= drift_limit (length D').
Proof. exact (distance_z before after t). Qed.

Lemma added_bounded : forall r phi, 0 <= alpha_1 r -> In phi (Phi (basis r) d) ->
  Rabs (coefficient r D phi - coefficient r D' phi) <= box_bound r (length D') zeros phi.
Proof.
  intros r phi Ha Hphi; rewrite Rabs_minus_sym; apply in_Phi in Hphi; destruct phi as [e | e l];
    cbn [box_bound]; unfold zeros.
  - assert (HK := K_positive); assert (Hx := box_t e Hphi); assert (HS := sum_others_bounds e Hphi);
      assert (Hd := added_distance).
    rewrite added_linear; unfold linear_gain.
    set (S := sum_over others (fun o => attribute o e)) in *; set (h := number (protected t) - zbar D') in *.
    assert (Hbase : Rabs ((1 / 2 - number (label t)) * attribute t e) <= 1 / 2).
    { apply Rabs_le; destruct (number_cases (label t)) as [-> | ->]; lra. }
    assert (Hi : 0 < / K) by (apply Rinv_0_lt_compat; exact HK).
    assert (HSK : 0 <= S * / K <= 1) by (assert (K * / K = 1) by (field; lra); split; nra).
    assert (Hfair : Rabs (fairness_factor (fairness_term r) (number (protected t)) (zbar D') * attribute t e +
      sum_over others (fun o => (fairness_factor (fairness_term r) (number (protected o)) (zbar D')
        - fairness_factor (fairness_term r) (number (protected o)) (zbar D)) * attribute o e))
            <= fairness_gain (fairness_term r) (length D')).
    { assert (Hcov : Rabs (h * attribute t e + (zbar D - zbar D') * S) <= drift_limit (length D')).
      { rewrite average_moves; fold h;
          replace (h * attribute t e + - h / K * S) with (h * (attribute t e - S * / K))
          by (field; lra).
        rewrite Rabs_mult; assert (Rabs (attribute t e - S * / K) <= 1) by (apply Rabs_le; lra).
        generalize (Rabs_pos h) (Rabs_pos (attribute t e - S * / K)); nra. }
      destruct (fairness_term r) as [| | []]; cbn [fairness_factor fairness_gain].
      - rewrite sum_zero by (intros; ring); rewrite Rmult_0_l, Rplus_0_r, Rabs_R0; lra.
      - eapply Rle_trans; [apply Rabs_triang |]; replace (2 * drift_limit (length D'))
          with (drift_limit (length D') + drift_limit (length D')) by ring.
        apply Rplus_le_compat.
        + rewrite Rabs_mult, Rabs_Rabsolu, (Rabs_right (attribute t e)) by lra; generalize (Rabs_pos h);
            fold h; nra.
        + eapply Rle_trans; [apply sum_Rabs |].
          apply Rle_trans with (sum_over others (fun o => Rabs h * / K)).
          * apply sum_le; intros o Ho; rewrite Rabs_mult.
            assert (Hxo : 0 <= attribute o e <= 1) by (rewrite Forall_forall in box_others;
              apply (box_others o Ho e Hphi)).
            rewrite (Rabs_right (attribute o e)) by lra.
            assert (Hmove : Rabs (Rabs (number (protected o) - zbar D') - Rabs
              (number (protected o) - zbar D))
              <= Rabs h * / K).
            { eapply Rle_trans; [apply Rabs_triang_inv2 |].
              replace (number (protected o) - zbar D' - (number (protected o) - zbar D)) with
                (zbar D - zbar D') by ring.
              rewrite average_moves; fold h; unfold Rdiv; rewrite Rabs_mult, Rabs_Ropp, (Rabs_right (/ K))
                by lra; apply Rle_refl. }
            generalize (Rabs_pos (Rabs (number (protected o) - zbar D') - Rabs
              (number (protected o) - zbar D))); nra.
          * rewrite sum_const; fold K; replace (K * (Rabs h * / K)) with (Rabs h) by (field; lra); exact Hd.
      - rewrite (sum_ext others _ (fun o => (zbar D - zbar D') * attribute o e)) by (intros; ring);
          rewrite sum_scal;
          exact Hcov.
      - rewrite (sum_ext others _ (fun o => - (zbar D - zbar D') * attribute o e)) by (intros; ring);
          rewrite sum_scal.
        rewrite <- Rabs_Ropp; eapply Rle_trans; [| exact Hcov]; right; f_equal; unfold h, S; ring. }
    eapply Rle_trans; [apply Rabs_triang |]; rewrite (Rabs_mult (alpha_1 r)), (Rabs_right (alpha_1 r)) by lra.
    assert (Hmul := Rmult_le_compat_l _ _ _ Ha Hfair); lra.
  - rewrite added_quadratic; generalize (quadratic_factor_pos (basis r) e l) (box_t e (proj1 Hphi))
      (box_t l (proj2 Hphi)); intros.
    assert (0 <= attribute t e * attribute t l <= 1) by (split; nra).
    rewrite Rabs_right by (apply Rle_ge, Rmult_le_pos; lra); nra.
Qed.

End Added.

(** ** Attainment *)

Definition added_record (F : fairness) : record :=
  match F with Covariance false => Tuple ones true true | _ => Tuple ones false true end.

Theorem added_attained : forall r n d, 0 <= alpha_1 r -> (2 <= n)%nat ->
  exists D D', neighbours_add_one n (unit_box d) D D' /\
    forall phi, In phi (Phi (basis r) d) -> Rabs (coefficient r D phi - coefficient r D' phi)
      = box_bound r n zeros phi.
Proof.
  intros r n d Ha Hn; destruct n as [| k]; [lia |].
  set (F := fairness_term r); set (rest := box_others F k).
  assert (Hlen : length rest = k) by (unfold rest, box_others; apply repeat_length).
  exists ([] ++ rest), ([] ++ added_record F :: rest); split.
  - split; [simpl; rewrite Hlen; reflexivity |]; split.
    + constructor.
      * intros e _; destruct F as [| | []]; cbn; unfold ones; lra.
      * apply Forall_forall; intros o Ho; apply repeat_spec in Ho; subst o; intros e _; destruct F; cbn;
          unfold ones, zeros; lra.
    + exists [], (added_record F), rest; split; [reflexivity |]; split; [reflexivity |].
      intros E; assert (length rest = 0%nat) by (simpl in E; rewrite E; reflexivity); lia.
  - assert (Hk : 1 <= INR k) by (apply (le_INR 1); lia).
    assert (Hm : sum_over ([] ++ rest) (fun o => number (protected o)) = 0) by (simpl; apply box_others_z;
      reflexivity).
    assert (HK : INR (length ([] ++ rest)) = INR k) by (simpl; rewrite Hlen; reflexivity).
    assert (Hz : zbar ([] ++ rest) = 0)
      by (change (sum_over ([] ++ rest) (fun o => number (protected o)) / INR (length ([] ++ rest)) = 0);
        rewrite Hm;
      unfold Rdiv; ring).
    assert (Hz' : zbar ([] ++ added_record F :: rest) = 1 / (INR k + 1)).
    { rewrite zbar_D, Hm, HK; destruct F as [| | []]; cbn; field; lra. }
    assert (Hnu : drift_limit (S k) = INR k / (INR k + 1)) by (unfold drift_limit; rewrite S_INR; field; lra).
    assert (H1 : Rabs (1 - 1 / (INR k + 1)) = INR k / (INR k + 1)).
    { rewrite Rabs_right; [field; lra |].
      apply Rle_ge, Rmult_le_reg_r with (INR k + 1); [lra |]; field_simplify; lra. }
    assert (H2 : Rabs (0 - 1 / (INR k + 1)) = 1 / (INR k + 1)).
    { rewrite Rabs_left1; [field; lra |].
      apply Rmult_le_reg_r with (INR k + 1); [lra |]; field_simplify; lra. }
    intros phi Hphi; rewrite Rabs_minus_sym; apply in_Phi in Hphi; destruct phi as [e | e l]; cbn [box_bound].
    + rewrite added_linear, Hz, Hz'; fold F; simpl app; unfold rest, box_others; rewrite sum_repeat.
      assert (Hgoal : forall v, v = linear_gain r (S k) + zeros e / 2 \/ v
        = - (linear_gain r (S k) + zeros e / 2) ->
        Rabs v = linear_gain r (S k) + zeros e / 2).
      { assert (0 <= linear_gain r (S k) + zeros e / 2).
        { unfold linear_gain, zeros; generalize (gain_le (fairness_term r) (S k) ltac:(lia)); intros; nra. }
        intros v [-> | ->]; [| rewrite Rabs_Ropp]; apply Rabs_right; lra. }
      apply Hgoal; unfold linear_gain; subst F; destruct (fairness_term r) as [| | []];
        cbn [added_record fairness_factor fairness_gain number attribute label protected];
          rewrite ?H1, ?H2, ?Rminus_0_r,
          ?Rabs_R0, ?Hnu; unfold ones, zeros.
      * left; field.
      * left; field; lra.
      * left; field; lra.
      * right; field; lra.
    + rewrite added_quadratic; unfold zeros; replace (attribute (added_record F)) with ones
        by (destruct F as [| | []]; reflexivity).
      unfold ones; generalize (quadratic_factor_pos (basis r) e l); intros; rewrite Rabs_right; lra.
Qed.

Theorem added_changes_bounded : forall r n d D D', 0 <= alpha_1 r -> neighbours_add_one n (unit_box d) D D' ->
  forall phi, In phi (Phi (basis r) d) -> Rabs (coefficient r D phi - coefficient r D' phi)
    <= box_bound r n zeros phi.
Proof.
  intros r n d D D' Ha (<- & HD' & before & t & after & -> & -> & Hne) phi Hphi.
  apply Forall_app in HD'; destruct HD' as [Hb Ht]; inversion Ht; subst.
  apply added_bounded with d; try assumption; apply Forall_app; split; assumption.
Qed.

Theorem added_l1_exact : forall r n d, 0 <= alpha_1 r -> (2 <= n)%nat ->
  largest_distance (neighbours_add_one n (unit_box d)) (l1_change r d all_monomials)
    (INR d * linear_gain r n + INR d ^ 2 / 8).
Proof.
  intros r n d Ha Hn.
  assert (Hsum : sum_over (Phi (basis r) d) (box_bound r n zeros) = INR d * linear_gain r n + INR d ^ 2 / 8).
  { rewrite sum_l1, (sum_zero (coordinates d) zeros) by reflexivity; field. }
  split.
  - intros D D' H; rewrite <- Hsum; apply l1_change_le; apply added_changes_bounded; assumption.
  - destruct (added_attained r n d Ha Hn) as [D [D' [H Hphi]]]; exists D, D'; split; [exact H |].
    rewrite <- Hsum; apply l1_change_eq; exact Hphi.
Qed.

Theorem added_l2_exact : forall r n d, 0 <= alpha_1 r -> (2 <= n)%nat ->
  largest_distance (neighbours_add_one n (unit_box d)) (l2_change_squared r d all_monomials)
    (INR d * linear_gain r n ^ 2 +
     match basis r with MatrixBasis => INR d ^ 2 / 64 | MonomialBasis => (2 * INR d ^ 2 - INR d) / 64 end).
Proof.
  intros r n d Ha Hn.
  assert (Hsum : l2_of_q r n d zeros = INR d * linear_gain r n ^ 2 +
    match basis r with MatrixBasis => INR d ^ 2 / 64 | MonomialBasis => (2 * INR d ^ 2 - INR d) / 64 end).
  { assert (Hz : l2_of_q r n d zeros = l2_of_q r n d (first_ones 0)).
    { apply sum_ext; intros [e | e l] _; reflexivity. }
    rewrite Hz, l2_of_first_ones by lia; unfold box_l2_squared_at; simpl (INR 0); destruct (basis r); field. }
  split.
  - intros D D' H; rewrite <- Hsum; unfold l2_change_squared, l2_of_q; rewrite filter_all; apply sum_le;
      intros phi Hphi.
    apply square_le; apply (added_changes_bounded r n d D D' Ha H phi Hphi).
  - destruct (added_attained r n d Ha Hn) as [D [D' [H Hphi]]]; exists D, D'; split; [exact H |].
    rewrite <- Hsum; unfold l2_change_squared, l2_of_q; rewrite filter_all; apply sum_ext; intros phi Hp.
    rewrite <- (Hphi phi Hp), pow2_abs; reflexivity.
Qed.
