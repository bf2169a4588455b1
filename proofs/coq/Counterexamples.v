(** * Steps and claims that fail

    Small data sets, written out in full, on which a step of a proof or a claim of the paper is false. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity.
Import ListNotations.
Open Scope R_scope.

(** ** The proofs of Lemmas 2 and 4 drop the drift of zbar

    Their second line replaces the change of the sum by the change of the last record's term. *)


(** d = 1, two records (x, y, z): {(1, 0, 0), (0, 0, 0)} and {(1, 0, 0), (0, 0, 1)}. *)
Definition still_D : dataset := [Tuple ones false false; Tuple zeros false false].
Definition still_D' : dataset := [Tuple ones false false; Tuple zeros false true].

Theorem drift_is_dropped : forall b, let r := Reading b Absolute 1 in
  neighbours 2 (unit_box 1) still_D still_D' /\
  record_coefficient r (zbar still_D) (Tuple zeros false false) (Linear 0) = 0 /\
  record_coefficient r (zbar still_D') (Tuple zeros false true) (Linear 0) = 0 /\
  coefficient r still_D (Linear 0) = 1 / 2 /\
  coefficient r still_D' (Linear 0) = 1.
Proof.
  intros b r.
  assert (Hz : zbar still_D = 0) by (unfold zbar; simpl; field).
  assert (Hz' : zbar still_D' = 1 / 2) by (unfold zbar; simpl; field).
  split; [| repeat split].
  - split; [reflexivity |]; split; [| split].
    + repeat constructor; cbn; unfold ones, zeros; lra.
    + repeat constructor; cbn; unfold ones, zeros; lra.
    + exists [Tuple ones false false], (Tuple zeros false false), (Tuple zeros false true), []; split;
        reflexivity.
  - cbn; unfold zeros; ring.
  - cbn; unfold zeros; ring.
  - unfold coefficient; rewrite Hz; cbn; unfold ones, zeros; rewrite !Rminus_0_r, Rabs_R0; field.
  - unfold coefficient; rewrite Hz'; cbn; unfold ones, zeros.
    rewrite (Rabs_left1 (0 - 1 / 2)) by lra; field.
Qed.

(** ** 'Our results still hold for other values of alpha_1': where Lemma 2 stops holding on the box *)

Theorem lemma2_other_weights : forall r n d,
  fairness_term r = Absolute -> 0 <= alpha_1 r -> (1 <= n)%nat -> (2 <= d)%nat ->
  (forall D D', neighbours n (unit_box d) D D' -> l1_change r d all_monomials D D' <= published_fair_l1 d) <->
  alpha_1 r * drift_limit n <= INR d / 16 + 5 / 4 - 1 / (4 * INR d).
Proof.
  intros r n d HF Ha Hn Hd; destruct (box_l1_exact r n d Ha Hn ltac:(lia)) as [Hle [D [D' [HDD' Heq]]]].
  assert (Hd2 : 2 <= INR d) by (apply (le_INR 2); exact Hd).
  assert (HS : box_l1 r n d = INR d * (1 / 2 + 2 * (alpha_1 r * drift_limit n)) + INR d ^ 2 / 8 + 1 / 2).
  { unfold box_l1, linear_gain; rewrite HF; cbn [fairness_gain]; destruct (Nat.leb_spec 2 d); [ring | lia]. }
  assert (Hiff : box_l1 r n d <= published_fair_l1 d <-> alpha_1 r * drift_limit n <= INR d / 16 + 5 / 4
    - 1 / (4 * INR d)).
  { rewrite HS; unfold published_fair_l1; set (e := alpha_1 r * drift_limit n); set (k := INR d) in *.
    assert (E : k ^ 2 / 4 + 3 * k - (k * (1 / 2 + 2 * e) + k ^ 2 / 8 + 1 / 2)
      = 2 * k * (k / 16 + 5 / 4 - 1 / (4 * k) - e)) by (field; lra).
    split; intros H.
    - assert (0 <= 2 * k * (k / 16 + 5 / 4 - 1 / (4 * k) - e)) by lra.
      destruct (Rle_or_lt e (k / 16 + 5 / 4 - 1 / (4 * k))); [assumption | nra].
    - assert (0 <= 2 * k * (k / 16 + 5 / 4 - 1 / (4 * k) - e)) by (apply Rmult_le_pos; lra); lra. }
  rewrite <- Hiff; split.
  - intros H; rewrite <- Heq; apply H; exact HDD'.
  - intros H E E' HE; eapply Rle_trans; [apply Hle; exact HE | exact H].
Qed.

(** ** Lemma 2 when the sign of the penalty is chosen from the data

    The covariance vector, and its sign at w = (1, 1) as the data have it. *)

Definition covariance (D : dataset) (e : nat) : R :=
  sum_over D (fun t => (number (protected t) - zbar D) * attribute t e).
Definition sign_at_ones (D : dataset) : R := if Rle_dec 0 (covariance D 0 + covariance D 1) then 1 else - 1.

(** The linear coefficient when that sign is used. *)
Definition signed_coefficient (D : dataset) (e : nat) : R :=
  sum_over D (fun t => (1 / 2 - number (label t)) * attribute t e) + sign_at_ones D * covariance D e.

Definition unit_0 (e : nat) : R := if Nat.eqb e 0 then 1 else 0.
Definition unit_1 (e : nat) : R := if Nat.eqb e 1 then 1 else 0.

Definition sign_D (z_last : bool) (k : nat) : dataset :=
  Tuple zeros false z_last :: repeat (Tuple unit_0 false true) k ++ repeat (Tuple unit_1 false false) k.

Lemma sign_sum : forall z_last k f,
  sum_over (sign_D z_last k) f =
  f (Tuple zeros false z_last) + (INR k * f (Tuple unit_0 false true) + INR k * f (Tuple unit_1 false false)).
Proof. intros; unfold sign_D; rewrite sum_cons, sum_app, !sum_repeat; reflexivity. Qed.

Lemma sign_zbar : forall z_last k, zbar (sign_D z_last k) = (number z_last + INR k) / (2 * INR k + 1).
Proof.
  intros z_last k; unfold zbar; rewrite sign_sum; f_equal; [simpl; ring |].
  unfold sign_D; cbn [length]; rewrite app_length, !repeat_length, S_INR, plus_INR; ring.
Qed.

Theorem sign_from_data_unbounded : forall bound, exists k, (1 <= k)%nat /\
  neighbours (2 * k + 1) (unit_ball 2) (sign_D true k) (sign_D false k) /\
  bound < Rabs (signed_coefficient (sign_D true k) 0 - signed_coefficient (sign_D false k) 0).
Proof.
  intros bound; set (M := Rmax 1 bound).
  assert (HM : 0 < M) by (generalize (Rmax_l 1 bound); unfold M; lra).
  destruct (archimed_cor1 (/ M) (Rinv_0_lt_compat _ HM)) as [k [Hinv Hk0]].
  assert (Hk : M < INR k).
  { apply lt_0_INR in Hk0; rewrite <- (Rinv_inv M), <- (Rinv_inv (INR k)).
    apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; apply Rinv_0_lt_compat |]; assumption. }
  assert (H1 : 1 < INR k) by (eapply Rle_lt_trans; [apply Rmax_l | exact Hk]).
  assert (H2 : bound < INR k) by (eapply Rle_lt_trans; [apply Rmax_r | exact Hk]).
  assert (Hk1 : (1 <= k)%nat) by (destruct k; [simpl in H1; lra | lia]).
  exists k; split; [exact Hk1 |]; split.
  - assert (Hball : forall b, Forall (unit_ball 2) (sign_D b k)).
    { intros b; unfold sign_D; constructor; [| apply Forall_app; split; apply Forall_forall; intros o Ho;
        apply repeat_spec in Ho; subst o];
        (split; [intros e _; cbn; unfold zeros, unit_0, unit_1; try destruct (Nat.eqb e _); lra | cbn;
          unfold zeros; lra]). }
    split; [unfold sign_D; cbn [length]; rewrite app_length, !repeat_length; lia |].
    split; [apply Hball |]; split; [apply Hball |].
    exists [], (Tuple zeros false true), (Tuple zeros false false),
      (repeat (Tuple unit_0 false true) k ++ repeat (Tuple unit_1 false false) k).
    split; reflexivity.
  - assert (Hpos : 0 < 2 * INR k + 1) by lra.
    assert (C0 : forall b, covariance (sign_D b k) 0 = INR k * (1 - (number b + INR k) / (2 * INR k + 1))).
    { intros b; unfold covariance; rewrite sign_sum, sign_zbar; cbn; unfold zeros; ring. }
    assert (C1 : forall b, covariance (sign_D b k) 1 = - INR k * ((number b + INR k) / (2 * INR k + 1))).
    { intros b; unfold covariance; rewrite sign_sum, sign_zbar; cbn; unfold zeros; ring. }
    assert (Hi : 0 < / (2 * INR k + 1)) by (apply Rinv_0_lt_compat; exact Hpos).
    assert (S1 : sign_at_ones (sign_D true k) = - 1).
    { unfold sign_at_ones; rewrite C0, C1; destruct Rle_dec as [H | H]; [| reflexivity]; exfalso; revert H;
        apply Rlt_not_le; cbn [number].
      replace (INR k * (1 - (1 + INR k) / (2 * INR k + 1)) + - INR k * ((1 + INR k) / (2 * INR k + 1)))
        with (- (INR k * / (2 * INR k + 1))) by (field; lra); nra. }
    assert (S0 : sign_at_ones (sign_D false k) = 1).
    { unfold sign_at_ones; rewrite C0, C1; destruct Rle_dec as [H | H]; [reflexivity |]; exfalso; apply H;
        cbn [number].
      replace (INR k * (1 - (0 + INR k) / (2 * INR k + 1)) + - INR k * ((0 + INR k) / (2 * INR k + 1)))
        with (INR k * / (2 * INR k + 1)) by (field; lra); nra. }
    unfold signed_coefficient; rewrite S1, S0, !C0, !sign_sum; cbn [number].
    match goal with |- _ < Rabs ?a => replace a with (- INR k) end.
    + rewrite Rabs_Ropp, Rabs_right; lra.
    + cbn; unfold zeros; field; lra.
Qed.
