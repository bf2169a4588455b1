(** * Releases with two budgets, for both adjacencies

    Certificates may state Theorem 3 at the exact sensitivity of the box for epsilon_s <= epsilon_n, and
    Theorem 5 where the larger budget is not too large. Sensitivities are suprema over data sets of every
    size. *)

From Coq Require Import Reals List Bool PeanoNat Lra Lia.
From CFM Require Import Definitions Sums Change Box BoxSensitivity AddOne Laplace Theorem3 Theorem3Exact.
From CFM Require Import ExtendedGaussian Theorem5 Theorem5Regime Certificates.
Import ListNotations.
Open Scope R_scope.

(** ** Theorem 3 at the exact sensitivity *)

(** The share of Phi_n in the exact sensitivity. *)
Lemma l1_share_limit : forall a r n d s D D', 0 <= alpha_1 r -> (s < d)%nat ->
  adjacent a n (unit_box d) D D' ->
  l1_change r d (contains_not s) D D' <= box_l1_limit a r d * share d.
Proof.
  intros a r n d s D D' Ha Hs H.
  assert (Hd : 1 <= INR d) by (apply one_le_INR; lia); assert (Hshare := share_bounds d ltac:(lia)).
  destruct (adjacent_changes a r n d D D' Ha H) as [Hn [q [Hq [Hzero Hphi]]]].
  assert (HG := linear_gain_limit r n Ha Hn).
  assert (Hmul : INR d * linear_gain r n <= INR d * limit_linear_gain r) by (apply Rmult_le_compat_l; lra).
  destruct a; unfold box_l1_limit.
  - eapply Rle_trans; [exact (exact_part_n r n d s D D' Ha Hs H) |].
    replace (box_l1 r n d * (INR d - 1) / INR d) with (box_l1 r n d * share d) by (unfold share; field; lra).
    apply Rmult_le_compat_r; [lra |]; unfold box_l1; lra.
  - eapply Rle_trans; [apply (part_le r n d q); exact Hphi |]; rewrite sum_n_box by exact Hs.
    rewrite Hzero, (sum_zero (coordinates d) zeros) by reflexivity; unfold zeros, share.
    set (k := INR d) in *; set (A := linear_gain r n) in *; set (B := limit_linear_gain r) in *.
    replace ((k * B + k ^ 2 / 8 + 0) * ((k - 1) / k)) with ((k - 1) * B + k * (k - 1) / 8) by (field; lra).
    assert ((k - 1) * A <= (k - 1) * B) by (apply Rmult_le_compat_l; lra); nra.
Qed.

(** The statement of Theorem 3 at any bound of the box's exact sensitivity, for epsilon_s <= epsilon_n. *)
Theorem pdfc_exact_certificate : forall a r n d s epsilon_s epsilon_n l1_sensitivity scale_s scale_n,
  0 <= alpha_1 r -> (s < d)%nat -> 0 < epsilon_s <= epsilon_n -> box_l1_limit a r d <= l1_sensitivity ->
  l1_sensitivity / epsilon_s <= scale_s -> l1_sensitivity / epsilon_n <= scale_n ->
  private_release a (stated_epsilon d epsilon_s epsilon_n) 0 n d (unit_box d) laplace_density
    (two_scales s scale_s scale_n) r.
Proof.
  intros a r n d s es en S bs bn Ha Hs [Hes Hen] HS Hbs Hbn D D' H.
  assert (Hd : 1 <= INR d) by (apply one_le_INR; lia); assert (Hshare := share_bounds d ltac:(lia)).
  assert (Htotal := l1_change_limit a r n d D D' Ha ltac:(lia) H); rewrite (l1_two_parts r d s) in Htotal.
  assert (Hpart := l1_share_limit a r n d s D D' Ha Hs H).
  assert (HS0 : 0 < S).
  { eapply Rlt_le_trans; [| exact HS]; unfold box_l1_limit, limit_linear_gain.
    assert (0 <= alpha_1 r * limit_gain (fairness_term r)).
    { apply Rmult_le_pos; [exact Ha |]; destruct (fairness_term r); cbn [limit_gain]; lra. }
    destruct a; [destruct (2 <=? d)%nat |]; nra. }
  assert (Hbs' : 0 < S / es) by (apply Rdiv_lt_0_compat; lra).
  assert (Hbn' : 0 < S / en) by (apply Rdiv_lt_0_compat; lra).
  apply (laplace_indistinguishable (two_scales s bs bn) (coefficient r D) (coefficient r D')
    (two_scales_pos s bs bn ltac:(lra) ltac:(lra))).
  rewrite two_scale_loss, stated_epsilon_share by (lra || lia).
  set (u := l1_change r d (contains s) D D') in *; set (v := l1_change r d (contains_not s) D D') in *.
  set (t := share d) in *.
  assert (Hu : 0 <= u) by (unfold u, l1_change; apply sum_nonneg; intros; apply Rabs_pos).
  assert (Hv : 0 <= v) by (unfold v, l1_change; apply sum_nonneg; intros; apply Rabs_pos).
  assert (Hscale : forall x b e, 0 <= x -> 0 < e -> 0 < S / e -> S / e <= b -> x / b <= e * x / S).
  { intros x b e Hx He Hb0 Hb; replace (e * x / S) with (x / (S / e)) by (field; lra).
    unfold Rdiv at 1 2; apply Rmult_le_compat_l; [exact Hx | apply Rinv_le_contravar; assumption]. }
  apply Rle_trans with (es * u / S + en * v / S).
  { apply Rplus_le_compat; apply Hscale; assumption || lra. }
  apply Rmult_le_reg_r with S; [exact HS0 |].
  replace ((es * u / S + en * v / S) * S) with (es * (u + v) + (en - es) * v) by (field; lra).
  apply Rle_trans with (es * S + (en - es) * (S * t)).
  - apply Rplus_le_compat; apply Rmult_le_compat_l; try lra.
    eapply Rle_trans; [exact Hpart |]; apply Rmult_le_compat_r; lra.
  - right; ring.
Qed.

(** ** Theorem 5 *)

(** The weighted change, where neither budget times the bound of the whole change is too large. *)
Lemma weighted_by_bound : forall r d s l2_squared bound epsilon_s epsilon_n epsilon D D',
  0 < epsilon_s -> 0 < epsilon_n -> l2_change_squared r d all_monomials D D' <= bound ->
  epsilon_s ^ 2 * bound <= l2_squared * epsilon ^ 2 -> epsilon_n ^ 2 * bound <= l2_squared * epsilon ^ 2 ->
  epsilon_s ^ 2 * l2_change_squared r d (contains s) D D' +
    epsilon_n ^ 2 * l2_change_squared r d (contains_not s) D D' <= l2_squared * epsilon ^ 2.
Proof.
  intros r d s V B es en e D D' Hes Hen Hbound Hs Hn; rewrite (l2_two_parts r d s) in Hbound.
  assert (HU := l2_nonneg r d (contains s) D D'); assert (HW := l2_nonneg r d (contains_not s) D D').
  set (U := l2_change_squared r d (contains s) D D') in *.
  set (W := l2_change_squared r d (contains_not s) D D') in *; destruct (Rle_or_lt es en).
  - apply Rle_trans with (en ^ 2 * (U + W)); [| apply Rle_trans with (en ^ 2 * B); [| exact Hn]].
    + assert (es ^ 2 <= en ^ 2) by nra; nra.
    + apply Rmult_le_compat_l; [nra | exact Hbound].
  - apply Rle_trans with (es ^ 2 * (U + W)); [| apply Rle_trans with (es ^ 2 * B); [| exact Hs]].
    + assert (en ^ 2 <= es ^ 2) by nra; nra.
    + apply Rmult_le_compat_l; [nra | exact Hbound].
Qed.

(** Its statement on any domain with a bound of the whole change: the noise is calibrated to Delta_2, and
    neither budget times the bound exceeds Delta_2 times the stated epsilon. *)
Theorem adfc_split_certificate : forall a r n d s domain l2_squared bound epsilon_s epsilon_n
    delta_s delta_n delta scale_s scale_n,
  (1 <= d)%nat -> 0 < epsilon_s -> 0 < epsilon_n ->
  0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  stated_delta delta_s delta_n <= delta -> 0 < l2_squared ->
  (forall D D', adjacent a n domain D D' -> l2_change_squared r d all_monomials D D' <= bound) ->
  bound <= l2_squared ->
  epsilon_s ^ 2 * bound <= l2_squared * stated_epsilon d epsilon_s epsilon_n ^ 2 ->
  epsilon_n ^ 2 * bound <= l2_squared * stated_epsilon d epsilon_s epsilon_n ^ 2 ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon_s delta_s <= scale_s ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon_n delta_n <= scale_n ->
  private_release a (stated_epsilon d epsilon_s epsilon_n) delta n d domain gaussian_density
    (two_scales s scale_s scale_n) r.
Proof.
  intros a r n d s domain V B es en ds dn delta ss sn Hd Hes Hen Hds Hdn Hdelta HV Hbound HB Hs Hn Hss Hsn
    D D' H.
  specialize (Hbound D D' H); apply indistinguishable_weaker with (stated_delta ds dn); [exact Hdelta |].
  apply (theorem5_pair r d s (sqrt V) es en ds dn ss sn D D'); try assumption; [apply sqrt_lt_R0, HV | |].
  - rewrite pow2_sqrt by lra; lra.
  - rewrite Rpow_mult_distr, pow2_sqrt by lra; apply (weighted_by_bound r d s V B); assumption.
Qed.

(** On the box with the published Delta_2', for epsilon_s <= epsilon_n, where [box_share] holds. *)
Theorem adfc_box_certificate : forall r n d s l2_squared epsilon_s epsilon_n delta_s delta_n delta
    scale_s scale_n,
  l2_squared = published_fair_l2_squared d ->
  0 <= alpha_1 r <= 1 -> (s < d)%nat -> (fairness_term r = Absolute -> d = 1%nat \/ (13 <= d)%nat) ->
  0 < epsilon_s <= epsilon_n -> 0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  stated_delta delta_s delta_n <= delta ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon_s delta_s <= scale_s ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon_n delta_n <= scale_n ->
  private_release ReplaceOne (stated_epsilon d epsilon_s epsilon_n) delta n d (unit_box d)
    gaussian_density (two_scales s scale_s scale_n) r.
Proof.
  intros r n d s V es en ds dn delta ss sn -> Ha Hs HF He Hds Hdn Hdelta Hss Hsn D D' H.
  apply indistinguishable_weaker with (stated_delta ds dn); [exact Hdelta |].
  apply (theorem5_on_the_box r n d s es en ds dn ss sn); assumption.
Qed.
