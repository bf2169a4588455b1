(** * Theorem 3: PDFC

    True at the published Delta_1, although the last step of its proof is false for every d >= 2; false when
    the noise is calibrated to the exact sensitivity. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity Laplace.
Import ListNotations.
Open Scope R_scope.

(** ** Sums over Phi_s *)

Lemma sum_all_monomials : forall b d (u : nat -> R) (g : nat -> nat -> R),
  (forall e l, g e l = g l e) ->
  sum_over (Phi b d) (fun phi => match phi with Linear e => u e | Quadratic e l => quadratic_factor b e l * g
    e l end) =
  sum_over (coordinates d) u +
  1 / 8 * sum_over (coordinates d) (fun e => sum_over (coordinates d) (fun l => g e l)).
Proof.
  intros b d u g Hg; rewrite sum_Phi; f_equal; rewrite <- sum_scal.
  rewrite (sum_ext _ (fun e => 1 / 8 * _) (fun e => sum_over (coordinates d) (fun l => 1 / 8 * g e l)))
    by (intros; rewrite sum_scal; reflexivity).
  destruct b.
  - rewrite sum_pairs_matrix; reflexivity.
  - apply (sum_pairs_monomial d (fun e l => quadratic_factor MonomialBasis e l * g e l)).
    + intros; rewrite Hg; reflexivity.
    + intros e l _; cbn [quadratic_factor]; destruct (Nat.eqb e l); field.
Qed.

Lemma sum_monomials_with_s : forall b d s (u : nat -> R) (g : nat -> nat -> R),
  (s < d)%nat -> (forall e l, g e l = g l e) ->
  sum_over (filter (contains s) (Phi b d))
    (fun phi => match phi with Linear e => u e | Quadratic e l => quadratic_factor b e l * g e l end) =
  u s + 1 / 8 * (2 * sum_over (coordinates d) (fun l => g s l) - g s s).
Proof.
  intros b d s u g Hs Hg; rewrite sum_filter.
  set (u' := fun e => if Nat.eqb e s then u e else 0).
  set (g' := fun e l => if Nat.eqb e s || Nat.eqb l s then g e l else 0).
  rewrite (sum_ext _ _ (fun phi => match phi with
    Linear e => u' e | Quadratic e l => quadratic_factor b e l * g' e l end)).
  - rewrite sum_all_monomials by (intros e l; unfold g'; rewrite (orb_comm (Nat.eqb e s)), Hg; reflexivity).
    unfold u'; rewrite sum_delta by exact Hs; f_equal; f_equal.
    rewrite (sum_ext _ _ (fun e => (if Nat.eqb e s then sum_over (coordinates d) (fun l => g e l)
      - g e s else 0) + g s e)).
    + rewrite sum_plus, (sum_delta d s (fun e => sum_over (coordinates d) (fun l => g e l) - g e s))
        by exact Hs;
        change (sum_over (coordinates d) (g s)) with (sum_over (coordinates d) (fun l => g s l)); ring.
    + intros e _; unfold g'; destruct (Nat.eqb_spec e s) as [-> | Hne]; cbn [orb]; [ring |].
      rewrite (sum_delta d s (fun l => g e l)) by exact Hs; rewrite Hg; ring.
  - intros [e | e l] _; unfold u', g'; cbn [contains]; [reflexivity |].
    destruct (Nat.eqb e s || Nat.eqb l s); ring.
Qed.

Lemma sum_s_box : forall r n d q s, (s < d)%nat ->
  sum_over (filter (contains s) (Phi (basis r) d)) (box_bound r n q) =
  linear_gain r n + q s / 2 + (2 * (INR d - q s * sum_over (coordinates d) q) - (1 - q s ^ 2)) / 8.
Proof.
  intros r n d q s Hs; unfold box_bound.
  rewrite (sum_monomials_with_s (basis r) d s (fun e => linear_gain r n + q e / 2) (fun e l => 1 - q e * q l)
    Hs)
    by (intros; ring).
  rewrite sum_minus, sum_coordinates_const, sum_scal; field.
Qed.

Lemma sum_n_box : forall r n d q s, (s < d)%nat ->
  sum_over (filter (contains_not s) (Phi (basis r) d)) (box_bound r n q) =
  INR d * linear_gain r n + sum_over (coordinates d) q / 2 + (INR d ^ 2 - sum_over (coordinates d) q ^ 2) / 8
    -
  (linear_gain r n + q s / 2 + (2 * (INR d - q s * sum_over (coordinates d) q) - (1 - q s ^ 2)) / 8).
Proof.
  intros r n d q s Hs; rewrite <- (sum_l1 r n d q), <- (sum_s_box r n d q s Hs),
    (sum_two_parts (Phi (basis r) d) s); ring.
Qed.

(** ** The statement with the published Delta_1 *)

Lemma part_le : forall r n d q D D' part,
  (forall phi, In phi (Phi (basis r) d) -> Rabs (coefficient r D phi - coefficient r D' phi)
    <= box_bound r n q phi) ->
  l1_change r d part D D' <= sum_over (filter part (Phi (basis r) d)) (box_bound r n q).
Proof.
  intros r n d q D D' part H; unfold l1_change; apply sum_le; intros phi Hphi; apply H;
    apply filter_In in Hphi; apply Hphi.
Qed.

Lemma linear_gain_le : forall r n, 0 <= alpha_1 r <= 1 -> (1 <= n)%nat -> 1 / 2 <= linear_gain r n <= 5 / 2.
Proof. intros r n Ha Hn; unfold linear_gain; generalize (gain_le (fairness_term r) n Hn); intros; split; nra.
  Qed.

Lemma sum_without : forall d s q, (s < d)%nat -> in_box d q ->
  q s <= sum_over (coordinates d) q <= q s + (INR d - 1).
Proof.
  intros d s q Hs Hq; split.
  - apply sum_member; [intros e He; apply in_coordinates in He; apply Hq; exact He | apply in_coordinates;
      exact Hs].
  - assert (1 - q s <= sum_over (coordinates d) (fun e => 1 - q e)).
    { apply (sum_member (coordinates d) s (fun e => 1 - q e)).
      - intros e He; apply in_coordinates in He; specialize (Hq e He); lra.
      - apply in_coordinates; exact Hs. }
    rewrite sum_minus, sum_coordinates_const in H; lra.
Qed.

Lemma published_parts : forall r n d s D D',
  0 <= alpha_1 r <= 1 -> (s < d)%nat -> neighbours n (unit_box d) D D' ->
  l1_change r d (contains s) D D' <= published_fair_l1 d / INR d /\
  l1_change r d (contains_not s) D D' <= published_fair_l1 d * (INR d - 1) / INR d.
Proof.
  intros r n d s D D' Ha Hs H.
  assert (Hn := neighbours_nonempty _ _ _ _ H).
  destruct (box_changes_bounded r n d D D' (proj1 Ha) H) as [q [Hq Hphi]].
  assert (Hd : 1 <= INR d) by (apply one_le_INR; lia).
  assert (HA := linear_gain_le r n Ha Hn); assert (Hqs := Hq s Hs); assert (HT := sum_without d s q Hs Hq).
  assert (E1 : published_fair_l1 d / INR d = INR d / 4 + 3) by (unfold published_fair_l1; field; lra).
  assert (E2 : published_fair_l1 d * (INR d - 1) / INR d = (INR d / 4 + 3) * (INR d - 1))
    by (unfold published_fair_l1; field; lra).
  rewrite E1, E2; split.
  - eapply Rle_trans; [apply (part_le r n d q); exact Hphi |]; rewrite sum_s_box by exact Hs.
    set (T := sum_over (coordinates d) q) in *; nra.
  - eapply Rle_trans; [apply (part_le r n d q); exact Hphi |]; rewrite sum_n_box by exact Hs.
    set (T := sum_over (coordinates d) q) in *; set (A := linear_gain r n) in *; set (k := INR d) in *.
    replace (k * A + T / 2 + (k ^ 2 - T ^ 2) / 8 - (A + q s / 2 + (2 * (k - q s * T) - (1 - q s ^ 2)) / 8))
      with ((k - 1) * A + (T - q s) / 2 + ((k - 1) ^ 2 - (T - q s) ^ 2) / 8) by field.
    set (U := T - q s); assert (0 <= U <= k - 1) by (unfold U; lra); nra.
Qed.

Theorem theorem3_published : forall r n d s epsilon_s epsilon_n,
  0 <= alpha_1 r <= 1 -> (s < d)%nat -> 0 < epsilon_s -> 0 < epsilon_n ->
  differentially_private (stated_epsilon d epsilon_s epsilon_n) 0 n d (unit_box d) laplace_density
    (two_scales s (published_fair_l1 d / epsilon_s) (published_fair_l1 d / epsilon_n)) r.
Proof.
  intros r n d s es en Ha Hs Hes Hen.
  assert (Hd : 1 <= INR d) by (apply one_le_INR; lia).
  assert (HD : 0 < published_fair_l1 d) by (unfold published_fair_l1; nra).
  apply two_scale_laplace; try (apply Rdiv_lt_0_compat; assumption).
  intros D D' H; destruct (published_parts r n d s D D' Ha Hs H) as [H1 H2].
  unfold stated_epsilon.
  replace (es / INR d + en * (INR d - 1) / INR d)
    with (published_fair_l1 d / INR d / (published_fair_l1 d / es) +
          published_fair_l1 d * (INR d - 1) / INR d / (published_fair_l1 d / en)) by (field; lra).
  apply Rplus_le_compat; unfold Rdiv at 1 4; (apply Rmult_le_compat_r; [| assumption]);
    apply Rlt_le, Rinv_0_lt_compat, Rdiv_lt_0_compat; assumption.
Qed.

(** ** The last step of the proof *)

(** Twice the largest |lambda-bar_(phi t)| over records of the box, averages in [0, 1]. *)
Definition twice_largest (b : quadratic_basis) (phi : monomial) : R :=
  match phi with
  | Linear _ => 3
  | Quadratic e l => 2 * quadratic_factor b e l
  end.

Theorem twice_largest_correct : forall b d phi, In phi (Phi b d) ->
  (forall t average, unit_box d t -> 0 <= average <= 1 ->
    2 * Rabs (record_coefficient (Reading b Absolute 1) average t phi) <= twice_largest b phi) /\
  (exists t average, unit_box d t /\ 0 <= average <= 1 /\
    2 * Rabs (record_coefficient (Reading b Absolute 1) average t phi) = twice_largest b phi).
Proof.
  intros b d phi Hphi; apply in_Phi in Hphi; split.
  - intros t average Ht Hav; destruct phi as [e | e l]; cbn.
    + specialize (Ht e Hphi).
      assert (Hz : Rabs (number (protected t) - average) <= 1)
        by (apply Rabs_le; destruct (number_cases (protected t)) as [-> | ->]; lra).
      generalize (Rabs_pos (number (protected t) - average)); intros.
      set (h := Rabs (number (protected t) - average)) in *.
      assert (Rabs ((1 / 2 - number (label t) + 1 * h) * attribute t e) <= 3 / 2); [| lra].
      apply Rabs_le; destruct (number_cases (label t)) as [-> | ->]; split; nra.
    + generalize (quadratic_factor_pos b e l) (Ht e (proj1 Hphi)) (Ht l (proj2 Hphi)); intros Hw He Hl.
      rewrite Rabs_right by (apply Rle_ge; repeat apply Rmult_le_pos; lra).
      assert (attribute t e * attribute t l <= 1) by nra; nra.
  - exists (Tuple ones false true), 0; split; [intros e _; cbn; unfold ones; lra |]; split; [lra |].
    destruct phi as [e | e l]; cbn; unfold ones.
    + rewrite !Rminus_0_r, Rabs_R1, Rabs_right; lra.
    + generalize (quadratic_factor_pos b e l); intros; rewrite Rabs_right; lra.
Qed.

Lemma twice_largest_s : forall b d s, (s < d)%nat ->
  sum_over (filter (contains s) (Phi b d)) (twice_largest b) = 3 + (2 * INR d - 1) / 4.
Proof.
  intros b d s Hs.
  rewrite (sum_ext _ _ (fun phi => match phi with Linear e => 3 | Quadratic e l => quadratic_factor b e l * 2
    end))
    by (intros [e | e l] _; cbn; ring).
  rewrite (sum_monomials_with_s b d s (fun _ => 3) (fun _ _ => 2) Hs) by reflexivity.
  rewrite sum_coordinates_const; field.
Qed.

Lemma twice_largest_all : forall b d, sum_over (Phi b d) (twice_largest b) = published_fair_l1 d.
Proof.
  intros b d.
  rewrite (sum_ext _ _ (fun phi => match phi with Linear e => 3 | Quadratic e l => quadratic_factor b e l * 2
    end))
    by (intros [e | e l] _; cbn; ring).
  rewrite (sum_all_monomials b d (fun _ => 3) (fun _ _ => 2)) by reflexivity.
  rewrite sum_coordinates_const, (sum_ext _ (fun _ => sum_over _ _) (fun _ => INR d * 2))
    by (intros; apply sum_coordinates_const).
  rewrite sum_coordinates_const; unfold published_fair_l1; field.
Qed.

(** The exponent in the last line but two of the proof. *)
Definition last_step (b : quadratic_basis) (d s : nat) (epsilon_s epsilon_n : R) : R :=
  epsilon_s / published_fair_l1 d * sum_over (filter (contains s) (Phi b d)) (twice_largest b) +
  epsilon_n / published_fair_l1 d * sum_over (filter (contains_not s) (Phi b d)) (twice_largest b).

Lemma last_step_excess : forall b d s epsilon_s epsilon_n, (s < d)%nat ->
  last_step b d s epsilon_s epsilon_n - stated_epsilon d epsilon_s epsilon_n =
  (epsilon_s - epsilon_n) * ((INR d - 1) / (4 * published_fair_l1 d)).
Proof.
  intros b d s es en Hs.
  assert (Hn : sum_over (filter (contains_not s) (Phi b d)) (twice_largest b) =
    published_fair_l1 d - (3 + (2 * INR d - 1) / 4)).
  { rewrite <- (twice_largest_all b d), (sum_two_parts (Phi b d) s), (twice_largest_s b d s Hs); ring. }
  unfold last_step; rewrite Hn, twice_largest_s by exact Hs; unfold stated_epsilon, published_fair_l1.
  assert (1 <= INR d) by (apply one_le_INR; lia); field; split; nra.
Qed.

(** The proof's equality holds only for d = 1 or equal budgets. *)
Theorem theorem3_last_step : forall b d s epsilon_s epsilon_n, (s < d)%nat ->
  last_step b d s epsilon_s epsilon_n = stated_epsilon d epsilon_s epsilon_n <-> d = 1%nat \/ epsilon_s
    = epsilon_n.
Proof.
  intros b d s es en Hs; assert (H := last_step_excess b d s es en Hs).
  assert (Hd : 1 <= INR d) by (apply one_le_INR; lia).
  assert (HD : 0 < published_fair_l1 d) by (unfold published_fair_l1; nra).
  split.
  - intros Heq; rewrite Heq, Rminus_diag_eq in H by reflexivity; symmetry in H.
    apply Rmult_integral in H; destruct H as [H | H]; [right; lra | left].
    unfold Rdiv in H; apply Rmult_integral in H; destruct H as [H | H].
    + apply INR_eq; simpl; lra.
    + assert (0 < / (4 * published_fair_l1 d)) by (apply Rinv_0_lt_compat; lra); lra.
  - intros [-> | ->]; [| lra].
    simpl INR in H; replace (1 - 1) with 0 in H by ring; unfold Rdiv in H; lra.
Qed.

(** ** With the exact sensitivity *)

(** One at s, t at one other coordinate, zero elsewhere. *)
Definition spike (s f : nat) (t : R) (e : nat) : R := if Nat.eqb e s then 1 else if Nat.eqb e f then t else 0.

Lemma sum_spike : forall d s f t, (s < d)%nat -> (f < d)%nat -> s <> f ->
  sum_over (coordinates d) (spike s f t) = 1 + t.
Proof.
  intros d s f t Hs Hf Hsf.
  rewrite (sum_ext _ _ (fun e => (if Nat.eqb e s then 1 else 0) + (if Nat.eqb e f then t else 0))).
  - rewrite sum_plus, (sum_delta d s (fun _ => 1)), (sum_delta d f (fun _ => t)) by assumption; reflexivity.
  - intros e _; unfold spike; destruct (Nat.eqb_spec e s), (Nat.eqb_spec e f); subst; try lia; lra.
Qed.

Theorem theorem3_fails_at_exact_sensitivity : forall r n d s epsilon_s epsilon_n,
  0 <= alpha_1 r -> (1 <= n)%nat -> (2 <= d)%nat -> (s < d)%nat -> 0 < epsilon_n < epsilon_s ->
  ~ differentially_private (stated_epsilon d epsilon_s epsilon_n) 0 n d (unit_box d) laplace_density
      (two_scales s (box_l1 r n d / epsilon_s) (box_l1 r n d / epsilon_n)) r.
Proof.
  intros r n d s es en Ha Hn Hd Hs [Hen Hes] Hprivate.
  assert (Hd2 : 2 <= INR d) by (apply (le_INR 2); exact Hd).
  assert (HA : 0 < linear_gain r n).
  { unfold linear_gain; generalize (gain_le (fairness_term r) n Hn); intros; nra. }
  assert (HS : box_l1 r n d = INR d * linear_gain r n + INR d ^ 2 / 8 + 1 / 2).
  { unfold box_l1; destruct (Nat.leb_spec 2 d); [reflexivity | lia]. }
  assert (HSpos : 0 < box_l1 r n d) by (rewrite HS; nra).
  rewrite two_scale_laplace in Hprivate by (apply Rdiv_lt_0_compat; lra).
  set (f := if Nat.eqb s 0 then 1%nat else 0%nat).
  assert (Hf : (f < d)%nat /\ s <> f) by (unfold f; destruct (Nat.eqb_spec s 0); lia).
  set (t := if (3 <=? d)%nat then 1 else 1 - Rmin 1 ((es - en) / en)).
  assert (Hmin : 0 < Rmin 1 ((es - en) / en)) by (apply Rmin_glb_lt; [lra | apply Rdiv_lt_0_compat; lra]).
  assert (Ht : 0 <= t <= 1) by (unfold t; destruct (3 <=? d)%nat; [lra |];
    generalize (Rmin_l 1 ((es - en) / en)); lra).
  assert (Hq : in_box d (spike s f t)).
  { intros e _; unfold spike; destruct (Nat.eqb e s), (Nat.eqb e f); lra. }
  destruct (box_changes_attained r n d (spike s f t) Ha Hn Hq) as [D [D' [HDD' Hphi]]].
  specialize (Hprivate D D' HDD').
  assert (Hpart : forall part, l1_change r d part D D' =
    sum_over (filter part (Phi (basis r) d)) (box_bound r n (spike s f t))).
  { intros part; unfold l1_change; apply sum_ext; intros phi H; apply filter_In in H; apply Hphi; apply H. }
  rewrite !Hpart, sum_s_box, sum_n_box, sum_spike in Hprivate by (try apply Hf; assumption).
  assert (Hss : spike s f t s = 1) by (unfold spike; rewrite Nat.eqb_refl; reflexivity).
  rewrite Hss in Hprivate; unfold stated_epsilon in Hprivate.
  set (A := linear_gain r n) in *; set (k := INR d) in *; set (S := box_l1 r n d) in *.
  set (Ds := A + 1 / 2 + (2 * (k - 1 * (1 + t)) - (1 - 1 ^ 2)) / 8) in *.
  set (Dn := k * A + (1 + t) / 2 + (k ^ 2 - (1 + t) ^ 2) / 8 - Ds) in *.
  assert (Hle : es * Ds + en * Dn <= S * (es / k + en * (k - 1) / k)).
  { replace (es * Ds + en * Dn) with (S * (Ds / (S / es) + Dn / (S / en))) by (field; lra).
    apply Rmult_le_compat_l; [lra | exact Hprivate]. }
  assert (Hgt : S * (es / k + en * (k - 1) / k) < es * Ds + en * Dn); [| lra].
  unfold Dn, Ds; unfold t in *; destruct (Nat.leb_spec 3 d) as [H3 | H3].
  - assert (Hk3 : 3 <= k) by (replace 3 with (INR 3) by (simpl; lra); apply le_INR; exact H3).
    rewrite HS.
    assert (E : es * (A + 1 / 2 + (2 * (k - 1 * (1 + 1)) - (1 - 1 ^ 2)) / 8) +
        en * (k * A + (1 + 1) / 2 + (k ^ 2 - (1 + 1) ^ 2) / 8
          - (A + 1 / 2 + (2 * (k - 1 * (1 + 1)) - (1 - 1 ^ 2)) / 8))
        - (k * A + k ^ 2 / 8 + 1 / 2) * (es / k + en * (k - 1) / k) = (es - en) * ((k ^ 2 - 4) / (8 * k)))
            by (field; lra).
    assert (0 < (es - en) * ((k ^ 2 - 4) / (8 * k))).
    { apply Rmult_lt_0_compat; [lra |]; apply Rdiv_lt_0_compat; nra. }
    lra.
  - assert (Hk : k = 2) by (unfold k; replace d with 2%nat by lia; simpl; lra).
    set (u := Rmin 1 ((es - en) / en)) in *.
    assert (Hu1 : u <= 1) by apply Rmin_l.
    assert (Hu2 : en * u <= es - en).
    { apply Rle_trans with (en * ((es - en) / en)); [apply Rmult_le_compat_l; [lra | apply Rmin_r] | right;
        field; lra]. }
    rewrite HS, Hk.
    assert (E : es * (A + 1 / 2 + (2 * (2 - 1 * (1 + (1 - u))) - (1 - 1 ^ 2)) / 8) +
        en * (2 * A + (1 + (1 - u)) / 2 + (2 ^ 2 - (1 + (1 - u)) ^ 2) / 8
          - (A + 1 / 2 + (2 * (2 - 1 * (1 + (1 - u))) - (1 - 1 ^ 2)) / 8))
        - (2 * A + 2 ^ 2 / 8 + 1 / 2) * (es / 2 + en * (2 - 1) / 2) = u * (2 * (es - en) - en * u) / 8)
            by field.
    assert (0 < u * (2 * (es - en) - en * u)) by (apply Rmult_lt_0_compat; lra).
    lra.
Qed.
