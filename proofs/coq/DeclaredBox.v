(** * Boxes with a bound for each column: exact sensitivities

    Column e holds numbers from 0 to [bound e]. A record divided by its bounds lies in the unit box, and the
    coefficients scale with the bounds. So the largest changes are those of the unit box times the bounds. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity.
Import ListNotations.
Open Scope R_scope.

Definition declared_box (d : nat) (bound : nat -> R) (t : record) : Prop :=
  forall e, (e < d)%nat -> 0 <= attribute t e <= bound e.

Definition stretched (bound : nat -> R) (t : record) : record :=
  Tuple (fun e => bound e * attribute t e) (label t) (protected t).

Definition shrunk (bound : nat -> R) (t : record) : record :=
  Tuple (fun e => attribute t e / bound e) (label t) (protected t).

(** What stretching does to a coefficient. *)
Definition stretch (bound : nat -> R) (phi : monomial) : R :=
  match phi with
  | Linear e => bound e
  | Quadratic e l => bound e * bound l
  end.

Lemma zbar_stretched : forall bound D, zbar (map (stretched bound) D) = zbar D.
Proof.
  intros bound D; unfold zbar; rewrite map_length; f_equal.
  induction D as [| t D IH]; [reflexivity |]; cbn [map]; rewrite !sum_cons, IH; reflexivity.
Qed.

Lemma coefficient_stretched : forall bound r D phi,
  coefficient r (map (stretched bound) D) phi = stretch bound phi * coefficient r D phi.
Proof.
  intros bound r D phi; unfold coefficient; rewrite zbar_stretched, <- sum_scal.
  generalize (zbar D); intros average; induction D as [| t D IH]; [reflexivity |]; cbn [map].
  rewrite !sum_cons, IH; f_equal; destruct phi as [e | e l]; cbn; ring.
Qed.

Section Declared.
Variable d : nat.
Variable bound : nat -> R.
Hypothesis bound_nonneg : forall e, (e < d)%nat -> 0 <= bound e.

Lemma shrunk_in_box : forall t, declared_box d bound t -> unit_box d (shrunk bound t).
Proof.
  intros t Ht e He; cbn; destruct (Ht e He) as [H0 H1].
  destruct (Rle_lt_or_eq_dec _ _ (bound_nonneg e He)) as [Hb | Hb].
  - split; [apply Rmult_le_pos; [exact H0 | left; apply Rinv_0_lt_compat, Hb] |].
    apply Rmult_le_reg_r with (bound e); [exact Hb |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
  - assert (E : attribute t e = 0) by lra; rewrite E; unfold Rdiv; rewrite Rmult_0_l; lra.
Qed.

Lemma stretched_in_box : forall t, unit_box d t -> declared_box d bound (stretched bound t).
Proof. intros t Ht e He; cbn; destruct (Ht e He); assert (Hb := bound_nonneg e He); split; nra. Qed.

(** A record of the box and what it is after shrinking and stretching have the same entries. *)
Lemma entries_restored : forall t e, declared_box d bound t -> (e < d)%nat ->
  attribute (stretched bound (shrunk bound t)) e = attribute t e.
Proof.
  intros t e Ht He; cbn; destruct (Ht e He); destruct (Rle_lt_or_eq_dec _ _ (bound_nonneg e He)) as [Hb | Hb];
    [field; lra | rewrite <- Hb in *; lra].
Qed.

Lemma coefficient_restored : forall r D phi, Forall (declared_box d bound) D -> In phi (Phi (basis r) d) ->
  coefficient r D phi = stretch bound phi * coefficient r (map (shrunk bound) D) phi.
Proof.
  intros r D phi HD Hphi; rewrite <- coefficient_stretched, map_map; unfold coefficient.
  replace (zbar (map (fun t => stretched bound (shrunk bound t)) D)) with (zbar D).
  - generalize (zbar D); intros average; induction HD as [| t D Ht HD IH]; [reflexivity |]; cbn [map].
    rewrite !sum_cons, IH; f_equal; apply in_Phi in Hphi; unfold record_coefficient.
    destruct phi as [e | e l]; [| destruct Hphi as [He Hl]]; rewrite ?entries_restored by assumption;
      reflexivity.
  - unfold zbar; rewrite map_length; f_equal.
    clear HD; induction D as [| t D IH]; [reflexivity |]; cbn [map]; rewrite !sum_cons, IH; reflexivity.
Qed.

Lemma neighbours_mapped : forall n (P Q : record -> Prop) f D D', (forall t, P t -> Q (f t)) ->
  neighbours n P D D' -> neighbours n Q (map f D) (map f D').
Proof.
  intros n P Q f D D' Hf (Hn & HD & HD' & before & t & t' & after & -> & ->).
  split; [rewrite map_length; exact Hn |]; split; [| split].
  - apply Forall_map; eapply Forall_impl; [apply Hf | exact HD].
  - apply Forall_map; eapply Forall_impl; [apply Hf | exact HD'].
  - exists (map f before), (f t), (f t'), (map f after); rewrite !map_app; split; reflexivity.
Qed.

Lemma stretch_nonneg : forall b phi, In phi (Phi b d) -> 0 <= stretch bound phi.
Proof.
  intros b phi H; apply in_Phi in H; destruct phi as [e | e l]; cbn;
    [apply bound_nonneg, H | apply Rmult_le_pos; apply bound_nonneg; apply H].
Qed.

Theorem declared_changes_bounded : forall r n D D', 0 <= alpha_1 r ->
  neighbours n (declared_box d bound) D D' ->
  exists q, in_box d q /\ forall phi, In phi (Phi (basis r) d) ->
    Rabs (coefficient r D phi - coefficient r D' phi) <= stretch bound phi * box_bound r n q phi.
Proof.
  intros r n D D' Ha H.
  destruct (box_changes_bounded r n d _ _ Ha (neighbours_mapped n _ _ _ _ _ shrunk_in_box H))
    as [q [Hq Hphi]].
  exists q; split; [exact Hq |]; intros phi Hin; destruct H as (_ & HD & HD' & _).
  rewrite (coefficient_restored r D phi HD Hin), (coefficient_restored r D' phi HD' Hin).
  rewrite <- Rmult_minus_distr_l, Rabs_mult.
  assert (Hs := stretch_nonneg _ _ Hin); rewrite (Rabs_right (stretch bound phi)) by lra.
  apply Rmult_le_compat_l; [exact Hs | apply Hphi, Hin].
Qed.

Theorem declared_changes_attained : forall r n q, 0 <= alpha_1 r -> (1 <= n)%nat -> in_box d q ->
  exists D D', neighbours n (declared_box d bound) D D' /\ forall phi, In phi (Phi (basis r) d) ->
    Rabs (coefficient r D phi - coefficient r D' phi) = stretch bound phi * box_bound r n q phi.
Proof.
  intros r n q Ha Hn Hq; destruct (box_changes_attained r n d q Ha Hn Hq) as [D [D' [H Hphi]]].
  exists (map (stretched bound) D), (map (stretched bound) D').
  split; [exact (neighbours_mapped n _ _ _ _ _ stretched_in_box H) |]; intros phi Hin.
  rewrite !coefficient_stretched, <- Rmult_minus_distr_l, Rabs_mult, (Hphi phi Hin).
  assert (Hs := stretch_nonneg _ _ Hin); rewrite (Rabs_right (stretch bound phi)) by lra; reflexivity.
Qed.

(** ** l1 *)

Let reach := sum_over (coordinates d) bound.

Lemma sum_declared_l1 : forall r n q, let T := sum_over (coordinates d) (fun e => bound e * q e) in
  sum_over (Phi (basis r) d) (fun phi => stretch bound phi * box_bound r n q phi)
  = reach * linear_gain r n + T / 2 + (reach ^ 2 - T ^ 2) / 8.
Proof.
  intros r n q T; rewrite sum_Phi; cbn [stretch box_bound].
  assert (Hlinear : sum_over (coordinates d) (fun e => bound e * (linear_gain r n + q e / 2))
    = reach * linear_gain r n + T / 2).
  { unfold reach, T, Rdiv; rewrite <- !sum_scal_r, <- sum_plus; apply sum_ext; intros; ring. }
  assert (Hall : sum_over (coordinates d) (fun e => sum_over (coordinates d)
    (fun l => bound e * bound l * (1 / 8 * (1 - q e * q l)))) = (reach ^ 2 - T ^ 2) / 8).
  { rewrite (sum_ext _ _ (fun e => 1 / 8 * (sum_over (coordinates d) (fun l => bound e * bound l)
      - sum_over (coordinates d) (fun l => (bound e * q e) * (bound l * q l))))).
    - rewrite sum_scal, sum_minus, !sum_product; fold reach T; field.
    - intros e _; rewrite <- sum_minus, <- sum_scal; apply sum_ext; intros; ring. }
  rewrite Hlinear, <- Hall; f_equal; destruct (basis r).
  - rewrite sum_pairs_matrix; reflexivity.
  - apply (sum_pairs_monomial d
      (fun e l => bound e * bound l * (quadratic_factor MonomialBasis e l * (1 - q e * q l)))).
    + intros; ring.
    + intros e l _; cbn [quadratic_factor]; destruct (Nat.eqb e l); field.
Qed.

(** The gain from the old record is 1/2 where the bounds add up to 2. *)
Definition declared_l1 (r : reading) (n : nat) (total : R) : R :=
  total * linear_gain r n + total ^ 2 / 8 + (if Rle_dec total 2 then total / 2 - total ^ 2 / 8 else 1 / 2).

Lemma weighted_sum : forall q, in_box d q -> 0 <= sum_over (coordinates d) (fun e => bound e * q e) <= reach.
Proof.
  intros q Hq; split.
  - apply sum_nonneg; intros e He; apply in_coordinates in He.
    apply Rmult_le_pos; [apply bound_nonneg, He | apply Hq, He].
  - apply sum_le; intros e He; apply in_coordinates in He; destruct (Hq e He).
    assert (Hb := bound_nonneg e He); nra.
Qed.

Theorem declared_l1_exact : forall r n, 0 <= alpha_1 r -> (1 <= n)%nat ->
  exact_sensitivity n (declared_box d bound) (l1_change r d all_monomials) (declared_l1 r n reach).
Proof.
  intros r n Ha Hn; assert (H0 : 0 <= reach)
    by (apply sum_nonneg; intros e He; apply bound_nonneg, in_coordinates, He).
  unfold declared_l1; split.
  - intros D D' H; destruct (declared_changes_bounded r n D D' Ha H) as [q [Hq Hphi]].
    apply Rle_trans with (sum_over (Phi (basis r) d) (fun phi => stretch bound phi * box_bound r n q phi)).
    + unfold l1_change; rewrite filter_all; apply sum_le; assumption.
    + rewrite sum_declared_l1; assert (HT := weighted_sum q Hq).
      set (T := sum_over (coordinates d) (fun e => bound e * q e)) in *; cbv zeta.
      assert (Hsquare := pow2_ge_0 (T - 2)); destruct Rle_dec; nra.
  - set (share := if Rle_dec reach 2 then 1 else 2 / reach).
    assert (Hshare : 0 <= share <= 1).
    { unfold share; destruct Rle_dec as [_ | Hlarge]; [lra |]; apply Rnot_le_lt in Hlarge.
      split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] |].
      apply Rmult_le_reg_r with reach; [lra |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra. }
    destruct (declared_changes_attained r n (fun _ => share) Ha Hn (fun _ _ => Hshare)) as [D [D' [H Hphi]]].
    exists D, D'; split; [exact H |]; unfold l1_change; rewrite filter_all.
    rewrite (sum_ext _ _ _ Hphi), sum_declared_l1, sum_scal_r; fold reach; cbv zeta; unfold share.
    destruct Rle_dec; [field | field; lra].
Qed.

(** ** l2 *)

(** Where q falls short of ones the linear part loses more than the quadratic part gains. *)
Lemma linear_shortfall : forall A q, 0 <= A -> 0 <= q <= 1 ->
  (A + q / 2) ^ 2 + (A + 1 / 4) * (1 - q) <= (A + 1 / 2) ^ 2.
Proof. intros A q HA Hq; nra. Qed.

Let weight := sum_over (coordinates d) (fun e => bound e ^ 2).

Definition declared_l2_squared (r : reading) (n : nat) (total : R) : R :=
  (linear_gain r n + 1 / 2) ^ 2 * total.

(** Bounds whose squares add up to little: 32, in the monomial basis 16, times the gain and 1/4. *)
Definition bounds_are_small (r : reading) (n : nat) (total : R) : Prop :=
  total <= match basis r with MatrixBasis => 32 | MonomialBasis => 16 end * (linear_gain r n + 1 / 4).

Definition l2_of_declared (r : reading) (n : nat) (q : nat -> R) : R :=
  sum_over (Phi (basis r) d) (fun phi => (stretch bound phi * box_bound r n q phi) ^ 2).

Lemma pair_gap : forall p q, 0 <= p <= 1 -> 0 <= q <= 1 -> (1 - p * q) ^ 2 <= (1 - p) + (1 - q).
Proof.
  intros p q Hp Hq; assert (0 <= (1 - p) * (1 - q)) by (apply Rmult_le_pos; lra).
  assert (0 <= p * q) by (apply Rmult_le_pos; lra).
  apply Rle_trans with (1 * (1 - p * q)); [| lra].
  replace ((1 - p * q) ^ 2) with ((1 - p * q) * (1 - p * q)) by ring; apply Rmult_le_compat_r; nra.
Qed.

Lemma pair_shortfall : forall c q, in_box d q -> 0 <= c ->
  sum_over (coordinates d) (fun e => sum_over (coordinates d)
    (fun l => bound e ^ 2 * bound l ^ 2 * (c * (1 - q e * q l) ^ 2)))
  <= 2 * c * weight * sum_over (coordinates d) (fun e => bound e ^ 2 * (1 - q e)).
Proof.
  intros c q Hq Hc; set (V := sum_over (coordinates d) (fun e => bound e ^ 2 * (1 - q e))).
  apply Rle_trans with (sum_over (coordinates d) (fun e => c * (sum_over (coordinates d) (fun l =>
    (bound e ^ 2 * (1 - q e)) * bound l ^ 2) + sum_over (coordinates d) (fun l =>
    bound e ^ 2 * (bound l ^ 2 * (1 - q l)))))).
  - apply sum_le; intros e He; apply in_coordinates in He; rewrite <- sum_plus, <- sum_scal.
    apply sum_le; intros l Hl; apply in_coordinates in Hl.
    assert (H1 := Hq e He); assert (H2 := Hq l Hl).
    assert (Hpair := pair_gap (q e) (q l) H1 H2).
    assert (Hb : 0 <= c * (bound e ^ 2 * bound l ^ 2))
      by (apply Rmult_le_pos; [exact Hc | apply Rmult_le_pos; apply pow2_ge_0]).
    replace (bound e ^ 2 * bound l ^ 2 * (c * (1 - q e * q l) ^ 2))
      with (c * (bound e ^ 2 * bound l ^ 2) * (1 - q e * q l) ^ 2) by ring.
    apply Rle_trans with (c * (bound e ^ 2 * bound l ^ 2) * ((1 - q e) + (1 - q l)));
      [apply Rmult_le_compat_l; assumption | right; ring].
  - rewrite sum_scal, sum_plus, !sum_product; fold V weight; right; ring.
Qed.

Lemma l2_of_declared_le : forall r n q, 0 <= linear_gain r n -> bounds_are_small r n weight -> in_box d q ->
  l2_of_declared r n q <= declared_l2_squared r n weight.
Proof.
  intros r n q HA Hsmall Hq; set (A := linear_gain r n) in *.
  set (V := sum_over (coordinates d) (fun e => bound e ^ 2 * (1 - q e))).
  assert (HV : 0 <= V).
  { apply sum_nonneg; intros e He; apply in_coordinates in He; destruct (Hq e He).
    apply Rmult_le_pos; [apply pow2_ge_0 | lra]. }
  assert (Hlinear : sum_over (coordinates d) (fun e => (bound e * (A + q e / 2)) ^ 2) + (A + 1 / 4) * V
    <= (A + 1 / 2) ^ 2 * weight).
  { unfold V, weight; rewrite <- !sum_scal, <- sum_plus.
    apply sum_le; intros e He; apply in_coordinates in He.
    assert (H := linear_shortfall A (q e) HA (Hq e He)); assert (Hb := pow2_ge_0 (bound e)).
    rewrite Rpow_mult_distr; nra. }
  unfold l2_of_declared, declared_l2_squared, bounds_are_small in *; rewrite sum_Phi; cbn [stretch box_bound].
  fold A in Hsmall |- *; eapply Rle_trans; [| exact Hlinear]; apply Rplus_le_compat_l.
  apply (Rmult_le_compat_r V _ _ HV) in Hsmall; revert Hsmall; destruct (basis r); intros Hsmall.
  - rewrite sum_pairs_matrix; cbn [fst snd quadratic_factor].
    apply Rle_trans with (2 * (1 / 64) * weight * V); [| lra].
    eapply Rle_trans; [right | apply (pair_shortfall (1 / 64) q Hq); lra].
    apply sum_ext; intros e _; apply sum_ext; intros l _; field.
  - apply Rle_trans with (2 * (2 / 64) * weight * V); [| lra].
    eapply Rle_trans; [| apply (pair_shortfall (2 / 64) q Hq); lra].
    rewrite (sum_pairs_monomial d
      (fun e l => (bound e * bound l * (quadratic_factor MonomialBasis e l * (1 - q e * q l))) ^ 2)
      (fun e l => (if Nat.eqb e l then 1 else 2) * (bound e ^ 2 * bound l ^ 2 * (1 - q e * q l) ^ 2) / 64)).
    + apply sum_le; intros e _; apply sum_le; intros l _.
      assert (0 <= bound e ^ 2 * bound l ^ 2 * (1 - q e * q l) ^ 2)
        by (apply Rmult_le_pos; [apply Rmult_le_pos |]; apply pow2_ge_0).
      destruct (Nat.eqb e l); lra.
    + intros e l; rewrite (Nat.eqb_sym e l); destruct (Nat.eqb l e); field.
    + intros e l _; cbn [quadratic_factor]; destruct (Nat.eqb e l); field.
Qed.

Theorem declared_l2_exact : forall r n, 0 <= alpha_1 r -> (1 <= n)%nat -> bounds_are_small r n weight ->
  exact_sensitivity n (declared_box d bound) (l2_change_squared r d all_monomials)
    (declared_l2_squared r n weight).
Proof.
  intros r n Ha Hn Hsmall; assert (HA : 0 <= linear_gain r n).
  { unfold linear_gain; generalize (gain_le (fairness_term r) n Hn); intros; nra. }
  unfold l2_change_squared; rewrite filter_all; split.
  - intros D D' H; destruct (declared_changes_bounded r n D D' Ha H) as [q [Hq Hphi]].
    eapply Rle_trans; [| exact (l2_of_declared_le r n q HA Hsmall Hq)].
    apply sum_le; intros phi Hin; apply square_le, Hphi, Hin.
  - destruct (declared_changes_attained r n (fun _ => 1) Ha Hn ltac:(intros e He; lra)) as [D [D' [H Hphi]]].
    exists D, D'; split; [exact H |].
    rewrite (sum_ext _ _ (fun phi => (stretch bound phi * box_bound r n (fun _ => 1) phi) ^ 2)).
    + rewrite sum_Phi; cbn [stretch box_bound].
      rewrite (sum_zero (pairs _ _)) by (intros; ring); unfold declared_l2_squared, weight.
      rewrite <- sum_scal, Rplus_0_r; apply sum_ext; intros; ring.
    + intros phi Hin; rewrite <- (Hphi phi Hin), pow2_abs; reflexivity.
Qed.
End Declared.
