(** * Privacy of a release from its scales, for both adjacencies

    A certificate of a release names numbers: the scales that were used, as the exact rationals that the
    floats are, and the stated epsilon and delta. The theorems here say which comparisons of these numbers
    prove the statement. Sensitivities are suprema over data sets of every size. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat QArith Qreals Lra Lia.
From CFM Require Import Definitions Sums Change Box BoxSensitivity AddOne Laplace Theorem3 Gaussian
  ExtendedGaussian.
Import ListNotations.
Open Scope R_scope.

(** ** Adjacency *)

Inductive adjacency := ReplaceOne | AddOrRemoveOne.

(** The larger of D and D' has n records. *)
Definition adjacent (a : adjacency) (n : nat) (domain : record -> Prop) (D D' : dataset) : Prop :=
  match a with
  | ReplaceOne => neighbours n domain D D'
  | AddOrRemoveOne => neighbours_add_one n domain D D' \/ neighbours_add_one n domain D' D
  end.

(** The noisy coefficients are (epsilon, delta)-differentially private for this adjacency. *)
Definition private_release (a : adjacency) (epsilon delta : R) (n d : nat) (domain : record -> Prop)
    (noise : R -> R -> R) (scale : monomial -> R) (r : reading) : Prop :=
  forall D D', adjacent a n domain D D' ->
    indistinguishable epsilon delta (Phi (basis r) d) (release noise scale r D) (release noise scale r D').

Lemma replaced_release : forall epsilon delta n d domain noise scale r,
  private_release ReplaceOne epsilon delta n d domain noise scale r <->
  differentially_private epsilon delta n d domain noise scale r.
Proof. split; intros H; exact H. Qed.

Lemma adjacent_ball_box : forall a n d D D', adjacent a n (unit_ball d) D D' ->
  adjacent a n (unit_box d) D D'.
Proof.
  assert (H : forall n d D D', neighbours_add_one n (unit_ball d) D D' ->
    neighbours_add_one n (unit_box d) D D').
  { intros n d D D' (Hn & HD & H); split; [exact Hn |]; split; [| exact H].
    eapply Forall_impl; [| exact HD]; intros t; apply ball_in_box. }
  intros [] n d D D'; [apply neighbours_ball_box |]; intros [H1 | H1]; [left | right]; apply H, H1.
Qed.

Theorem certificate_on_the_ball : forall a epsilon delta n d noise scale r,
  private_release a epsilon delta n d (unit_box d) noise scale r ->
  private_release a epsilon delta n d (unit_ball d) noise scale r.
Proof. intros a epsilon delta n d noise scale r H D D' HDD'; apply H, adjacent_ball_box, HDD'. Qed.

(** ** Sensitivities for data sets of every size *)

(** [fairness_gain] for large n. *)
Definition limit_gain (F : fairness) : R :=
  match F with NoFairness => 0 | Absolute => 2 | Covariance _ => 1 end.

Definition limit_linear_gain (r : reading) : R := 1 / 2 + alpha_1 r * limit_gain (fairness_term r).

Lemma linear_gain_limit : forall r n, 0 <= alpha_1 r -> (1 <= n)%nat ->
  1 / 2 <= linear_gain r n <= limit_linear_gain r.
Proof.
  intros r n Ha Hn; unfold linear_gain, limit_linear_gain; generalize (nu_bounds n Hn); intros.
  destruct (fairness_term r); cbn [fairness_gain limit_gain]; split; nra.
Qed.

(** [box_changes_bounded] for both adjacencies; with one record added or removed the old record is the record
    of zeros. *)
Lemma adjacent_changes : forall a r n d D D', 0 <= alpha_1 r -> adjacent a n (unit_box d) D D' ->
  (1 <= n)%nat /\ exists q, in_box d q /\ match a with ReplaceOne => True | AddOrRemoveOne => q = zeros end /\
    forall phi, In phi (Phi (basis r) d) -> Rabs (coefficient r D phi - coefficient r D' phi)
      <= box_bound r n q phi.
Proof.
  assert (Hzeros : forall d, in_box d zeros) by (intros d e _; unfold zeros; lra).
  assert (Hsize : forall n domain D D', neighbours_add_one n domain D D' -> (1 <= n)%nat).
  { intros n domain D D' (<- & _ & before & t & after & _ & -> & _); rewrite app_length; simpl; lia. }
  intros [] r n d D D' Ha H; cbn [adjacent] in H.
  - split; [exact (neighbours_nonempty _ _ _ _ H) |].
    destruct (box_changes_bounded r n d D D' Ha H) as [q [Hq Hphi]]; exists q; split; [exact Hq |]; split;
      [exact I | exact Hphi].
  - split; [destruct H as [H | H]; exact (Hsize _ _ _ _ H) |].
    exists zeros; split; [apply Hzeros |]; split; [reflexivity |]; intros phi Hphi.
    destruct H as [H | H]; [| rewrite Rabs_minus_sym]; exact (added_changes_bounded r n d _ _ Ha H phi Hphi).
Qed.

(** *** l1 *)

Definition box_l1_limit (a : adjacency) (r : reading) (d : nat) : R :=
  INR d * limit_linear_gain r + INR d ^ 2 / 8 +
  match a with ReplaceOne => if (2 <=? d)%nat then 1 / 2 else 3 / 8 | AddOrRemoveOne => 0 end.

Lemma l1_change_limit : forall a r n d D D', 0 <= alpha_1 r -> (1 <= d)%nat ->
  adjacent a n (unit_box d) D D' ->
  l1_change r d all_monomials D D' <= box_l1_limit a r d.
Proof.
  intros a r n d D D' Ha Hd H; assert (HH := H).
  destruct (adjacent_changes a r n d D D' Ha H) as [Hn [q [Hq [Hzero Hphi]]]].
  assert (HG := linear_gain_limit r n Ha Hn); assert (Hk := one_le_INR d Hd).
  assert (Hmul : INR d * linear_gain r n <= INR d * limit_linear_gain r) by (apply Rmult_le_compat_l; lra).
  destruct a; unfold box_l1_limit.
  - eapply Rle_trans; [exact (proj1 (box_l1_exact r n d Ha Hn Hd) D D' HH) |]; unfold box_l1; lra.
  - eapply Rle_trans; [apply (l1_change_le r n d q); exact Hphi |].
    rewrite sum_l1, Hzero, (sum_zero (coordinates d) zeros) by reflexivity; lra.
Qed.

(** The published bounds, Lemma 1 or Lemma 2, up to the weight that is covered on the box. *)
Definition published_l1_of (r : reading) (d : nat) : R :=
  match fairness_term r with NoFairness => published_l1 d | _ => published_fair_l1 d end.

Definition weight_covered (r : reading) : Prop := 0 <= alpha_1 r /\
  alpha_1 r * limit_gain (fairness_term r) <= 2.

(** 1 or 3: the published bound is d^2/4 + c d, and twice the largest linear coefficient is c - 1/2. *)
Definition linear_share (F : fairness) : R := match F with NoFairness => 1 | _ => 3 end.

Lemma published_l1_share : forall r d, published_l1_of r d
  = INR d * (INR d / 4 + linear_share (fairness_term r)).
Proof. intros r d; unfold published_l1_of, published_l1, published_fair_l1; destruct (fairness_term r); cbn;
  field. Qed.

Lemma gain_share : forall r, weight_covered r ->
  limit_linear_gain r <= linear_share (fairness_term r) - 1 / 2 /\ 1 <= linear_share (fairness_term r).
Proof.
  intros r [Ha Hw]; unfold limit_linear_gain; revert Hw; destruct (fairness_term r);
    cbn [limit_gain linear_share]; lra.
Qed.

(** The shares of Phi_s and of the other monomials, as Theorem 3 states them. *)
Lemma published_shares : forall a r n d s D D', weight_covered r -> (s < d)%nat ->
  adjacent a n (unit_box d) D D' ->
  l1_change r d (contains s) D D' <= INR d / 4 + linear_share (fairness_term r) /\
  l1_change r d (contains_not s) D D' <= (INR d / 4 + linear_share (fairness_term r)) * (INR d - 1).
Proof.
  intros a r n d s D D' Hr Hs H; assert (Ha := proj1 Hr).
  destruct (adjacent_changes a r n d D D' Ha H) as [Hn [q [Hq [_ Hphi]]]].
  assert (HG := linear_gain_limit r n Ha Hn); destruct (gain_share r Hr) as [HL Hc].
  assert (Hd : 1 <= INR d) by (apply one_le_INR; lia).
  assert (Hqs := Hq s Hs); assert (HT := sum_without d s q Hs Hq).
  set (T := sum_over (coordinates d) q) in *; set (A := linear_gain r n) in *; set (k := INR d) in *.
  set (c := linear_share (fairness_term r)) in *; split.
  - eapply Rle_trans; [apply (part_le r n d q); exact Hphi |]; rewrite sum_s_box by exact Hs; fold T A k; nra.
  - eapply Rle_trans; [apply (part_le r n d q); exact Hphi |]; rewrite sum_n_box by exact Hs; fold T A k.
    replace (k * A + T / 2 + (k ^ 2 - T ^ 2) / 8 - (A + q s / 2 + (2 * (k - q s * T) - (1 - q s ^ 2)) / 8))
      with ((k - 1) * A + (T - q s) / 2 + ((k - 1) ^ 2 - (T - q s) ^ 2) / 8) by field.
    set (U := T - q s); assert (0 <= U <= k - 1) by (unfold U; lra).
    assert ((k - 1) * A <= (k - 1) * (c - 1 / 2)) by (apply Rmult_le_compat_l; lra); nra.
Qed.

Lemma published_l1_limit : forall a r n d D D', weight_covered r -> (1 <= d)%nat ->
  adjacent a n (unit_box d) D D' ->
  l1_change r d all_monomials D D' <= published_l1_of r d.
Proof.
  intros a r n d D D' Hr Hd H; destruct (published_shares a r n d 0 D D' Hr Hd H) as [Hs Hn].
  unfold l1_change in *; rewrite filter_all, (sum_two_parts _ 0), published_l1_share; lra.
Qed.

(** *** l2, squared *)

(** [box_l2_squared_at] for large n. *)
Definition box_l2_limit_at (r : reading) (d k : nat) : R :=
  INR d * limit_linear_gain r ^ 2 + INR k * (limit_linear_gain r + 1 / 4) +
  match basis r with
  | MatrixBasis => (INR d ^ 2 - INR k ^ 2) / 64
  | MonomialBasis => (2 * INR d ^ 2 - INR d - 2 * INR k ^ 2 + INR k) / 64
  end.

(** The largest of d + 1 numbers, and of one of them when a record is added or removed. *)
Definition box_l2_limit (a : adjacency) (r : reading) (d : nat) : R :=
  largest (box_l2_limit_at r d) (match a with ReplaceOne => d | AddOrRemoveOne => 0 end).

Lemma box_l2_at_limit : forall r n d k, 0 <= alpha_1 r -> (1 <= n)%nat ->
  box_l2_squared_at r n d k <= box_l2_limit_at r d k.
Proof.
  intros r n d k Ha Hn; unfold box_l2_squared_at, box_l2_limit_at;
    generalize (linear_gain_limit r n Ha Hn) (pos_INR d) (pos_INR k).
  set (A := linear_gain r n); set (B := limit_linear_gain r); intros HG Hd Hk.
  assert (A ^ 2 <= B ^ 2) by nra; assert (INR d * A ^ 2 <= INR d * B ^ 2) by (apply Rmult_le_compat_l;
    assumption).
  assert (INR k * (A + 1 / 4) <= INR k * (B + 1 / 4)) by (apply Rmult_le_compat_l; lra); lra.
Qed.

Lemma largest_le : forall f g k, (forall i, (i <= k)%nat -> f i <= g i) -> largest f k <= largest g k.
Proof.
  intros f g k H; destruct (largest_attained f k) as [i [Hi ->]]; eapply Rle_trans;
    [apply H, Hi | apply largest_upper, Hi].
Qed.

Lemma l2_change_le : forall r n d q D D',
  (forall phi, In phi (Phi (basis r) d) -> Rabs (coefficient r D phi - coefficient r D' phi)
    <= box_bound r n q phi) ->
  l2_change_squared r d all_monomials D D' <= l2_of_q r n d q.
Proof.
  intros r n d q D D' H; unfold l2_change_squared, l2_of_q; rewrite filter_all; apply sum_le;
    intros phi Hphi; apply square_le, H, Hphi.
Qed.

Lemma l2_change_limit : forall a r n d D D', 0 <= alpha_1 r -> adjacent a n (unit_box d) D D' ->
  l2_change_squared r d all_monomials D D' <= box_l2_limit a r d.
Proof.
  intros a r n d D D' Ha H; destruct (adjacent_changes a r n d D D' Ha H) as [Hn [q [Hq [Hzero Hphi]]]].
  eapply Rle_trans; [apply (l2_change_le r n d q); exact Hphi |]; destruct a; unfold box_l2_limit.
  - eapply Rle_trans; [apply l2_of_q_le; assumption |]; apply largest_le; intros i _; apply box_l2_at_limit;
    assumption.
  - assert (E : l2_of_q r n d q = l2_of_q r n d (first_ones 0)) by (rewrite Hzero; apply sum_ext;
    intros [e | e l] _; reflexivity).
    rewrite E, l2_of_first_ones by lia; apply box_l2_at_limit; assumption.
Qed.

Definition published_l2_squared_of (r : reading) (d : nat) : R :=
  match fairness_term r with NoFairness => published_l2_squared d | _ => published_fair_l2_squared d end.

Lemma published_l2_limit : forall a r n d D D', weight_covered r -> (1 <= d)%nat ->
  adjacent a n (unit_box d) D D' ->
  l2_change_squared r d all_monomials D D' <= published_l2_squared_of r d.
Proof.
  intros a r n d D D' Hr Hd H; assert (Ha := proj1 Hr).
  destruct (adjacent_changes a r n d D D' Ha H) as [Hn [q [Hq [_ Hphi]]]].
  eapply Rle_trans; [apply (l2_change_le r n d q); exact Hphi |].
  eapply Rle_trans; [apply l2_of_q_le; assumption |]; unfold box_l2_squared.
  destruct (largest_attained (box_l2_squared_at r n d) d) as [k [Hk ->]].
  eapply Rle_trans; [apply box_l2_at_le; assumption |].
  assert (HG := linear_gain_limit r n Ha Hn); destruct (gain_share r Hr) as [HL Hc];
    assert (Hk1 := one_le_INR d Hd).
  assert (Hsquare : published_l2_squared_of r d = INR d * (INR d / 16 + linear_share (fairness_term r) ^ 2)).
  { unfold published_l2_squared_of, published_l2_squared, published_fair_l2_squared;
    destruct (fairness_term r); cbn [linear_share]; field. }
  rewrite Hsquare; set (c := linear_share (fairness_term r)) in *; set (A := linear_gain r n) in *.
  assert ((A + 1 / 2) ^ 2 <= c ^ 2) by nra.
  assert (INR d * (A + 1 / 2) ^ 2 <= INR d * c ^ 2) by (apply Rmult_le_compat_l; lra); nra.
Qed.

(** ** Laplace noise *)

(** Scales of at least Delta_1 / epsilon, whatever bound Delta_1 is. *)
Theorem laplace_certificate : forall a r n d domain l1_sensitivity epsilon scale,
  0 < epsilon -> 0 < l1_sensitivity ->
  (forall D D', adjacent a n domain D D' -> l1_change r d all_monomials D D' <= l1_sensitivity) ->
  (forall phi, l1_sensitivity / epsilon <= scale phi) ->
  private_release a epsilon 0 n d domain laplace_density scale r.
Proof.
  intros a r n d domain S epsilon scale He HS Hbound Hscale D D' H.
  assert (Hb : 0 < S / epsilon) by (apply Rdiv_lt_0_compat; assumption).
  assert (Hpos : forall phi, 0 < scale phi) by (intros phi; specialize (Hscale phi); lra).
  apply (laplace_indistinguishable scale (coefficient r D) (coefficient r D') Hpos); unfold laplace_loss.
  apply Rle_trans with (sum_over (Phi (basis r) d) (fun phi => epsilon / S * Rabs
    (coefficient r D phi - coefficient r D' phi))).
  - apply sum_le; intros phi _; rewrite Rmult_comm; apply Rmult_le_compat_l; [apply Rabs_pos |].
    replace (epsilon / S) with (/ (S / epsilon)) by (field; lra); apply Rinv_le_contravar;
      [exact Hb | apply Hscale].
  - rewrite sum_scal; specialize (Hbound D D' H); unfold l1_change in Hbound; rewrite filter_all in Hbound.
    apply Rmult_le_reg_l with (S / epsilon); [exact Hb |].
    replace (S / epsilon * epsilon) with S by (field; lra).
    rewrite <- Rmult_assoc; replace (S / epsilon * (epsilon / S)) with 1 by (field; lra); lra.
Qed.

(** Theorem 3 with the published Delta_1 and any larger scales: PDFC. *)
Theorem pdfc_certificate : forall a r n d s epsilon_s epsilon_n scale_s scale_n,
  weight_covered r -> (s < d)%nat -> 0 < epsilon_s -> 0 < epsilon_n ->
  published_l1_of r d / epsilon_s <= scale_s -> published_l1_of r d / epsilon_n <= scale_n ->
  private_release a (stated_epsilon d epsilon_s epsilon_n) 0 n d (unit_box d) laplace_density
    (two_scales s scale_s scale_n) r.
Proof.
  intros a r n d s es en bs bn Hr Hs Hes Hen Hbs Hbn D D' H.
  assert (Hd : 1 <= INR d) by (apply one_le_INR; lia); destruct (gain_share r Hr) as [_ Hc].
  rewrite published_l1_share in Hbs, Hbn; destruct (published_shares a r n d s D D' Hr Hs H) as [H1 H2].
  set (share := INR d / 4 + linear_share (fairness_term r)) in *.
  assert (Hshare : 0 < share) by (unfold share; lra).
  assert (HS : 0 < INR d * share) by (apply Rmult_lt_0_compat; lra).
  assert (Hbs' : 0 < bs) by (generalize (Rdiv_lt_0_compat _ _ HS Hes); lra).
  assert (Hbn' : 0 < bn) by (generalize (Rdiv_lt_0_compat _ _ HS Hen); lra).
  apply (laplace_indistinguishable (two_scales s bs bn) (coefficient r D) (coefficient r D')
    (two_scales_pos s bs bn Hbs' Hbn')).
  rewrite two_scale_loss by lra; unfold stated_epsilon.
  assert (Hes' : share / bs <= es / INR d).
  { apply Rmult_le_reg_r with (bs * INR d); [apply Rmult_lt_0_compat; lra |].
    replace (share / bs * (bs * INR d)) with (INR d * share) by (field; lra).
    replace (es / INR d * (bs * INR d)) with (es * bs) by (field; lra).
    replace (INR d * share) with (es * (INR d * share / es)) by (field; lra); apply Rmult_le_compat_l; lra. }
  assert (Hen' : share * (INR d - 1) / bn <= en * (INR d - 1) / INR d).
  { apply Rmult_le_reg_r with (bn * INR d); [apply Rmult_lt_0_compat; lra |].
    replace (share * (INR d - 1) / bn * (bn * INR d)) with (INR d * share * (INR d - 1)) by (field; lra).
    replace (en * (INR d - 1) / INR d * (bn * INR d)) with (en * bn * (INR d - 1)) by (field; lra).
    apply Rmult_le_compat_r; [lra |].
    replace (INR d * share) with (en * (INR d * share / en)) by (field; lra); apply Rmult_le_compat_l; lra. }
  apply Rplus_le_compat.
  - eapply Rle_trans; [| exact Hes']; unfold Rdiv; apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat |];
    assumption.
  - eapply Rle_trans; [| exact Hen']; unfold Rdiv; apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat |];
    assumption.
Qed.

(** ** Gaussian noise *)

Lemma log_decreasing : forall delta delta', 0 < delta <= delta' -> delta' <= sqrt (2 / PI) ->
  ln (sqrt (2 / PI) / delta') <= ln (sqrt (2 / PI) / delta).
Proof.
  intros delta delta' Hd Hmax; assert (0 < sqrt (2 / PI)) by lra.
  apply ln_le; [apply Rdiv_lt_0_compat; lra |].
  unfold Rdiv; apply Rmult_le_compat_l; [lra | apply Rinv_le_contravar; lra].
Qed.

(** A larger delta needs a smaller sigma. *)
Lemma sigma_decreasing : forall l2_sensitivity epsilon delta delta', 0 <= l2_sensitivity -> 0 < epsilon ->
  0 < delta <= delta' -> delta' <= sqrt (2 / PI) ->
  extended_gaussian_sigma l2_sensitivity epsilon delta'
    <= extended_gaussian_sigma l2_sensitivity epsilon delta.
Proof.
  intros D epsilon delta delta' HD He Hd Hmax; assert (HL := log_decreasing delta delta' Hd Hmax).
  unfold extended_gaussian_sigma; apply Rmult_le_compat_l.
  - apply Rmult_le_pos; [apply Rmult_le_pos; [apply sqrt_pos | exact HD] |]; left; apply Rinv_0_lt_compat;
    lra.
  - apply Rplus_le_compat; apply sqrt_le_1_alt; lra.
Qed.

(** Scales of at least the paper's sigma, whatever bound Delta_2 is. *)
Theorem gaussian_certificate : forall a r n d domain l2_squared epsilon delta scale,
  0 < epsilon -> 0 < delta <= sqrt (2 / PI) -> 0 < l2_squared ->
  (forall D D', adjacent a n domain D D' -> l2_change_squared r d all_monomials D D' <= l2_squared) ->
  (forall phi, extended_gaussian_sigma (sqrt l2_squared) epsilon delta <= scale phi) ->
  private_release a epsilon delta n d domain gaussian_density scale r.
Proof.
  intros a r n d domain V epsilon delta scale He Hd HV Hbound Hscale D D' H.
  assert (HL := log_nonneg delta Hd); assert (Hshift := allowed_shift_pos _ epsilon HL He).
  assert (Heq := extended_sigma_shift (sqrt V) epsilon delta He HL).
  set (nu := allowed_shift (ln (sqrt (2 / PI) / delta)) epsilon) in *.
  set (sigma := extended_gaussian_sigma (sqrt V) epsilon delta) in *.
  assert (Hroot : 0 < sqrt V) by (apply sqrt_lt_R0; exact HV).
  assert (Hsigma : 0 < sigma) by (destruct (Rle_or_lt sigma 0); [exfalso; nra | assumption]).
  assert (Hpos : forall phi, 0 < scale phi) by (intros phi; specialize (Hscale phi); lra).
  apply (extended_gaussian_scales monomial (Phi (basis r) d) scale (coefficient r D)
    (coefficient r D') epsilon delta); try assumption.
  fold nu; apply Rle_trans with (sum_over (Phi (basis r) d) (fun phi => (/ sigma) ^ 2 *
    (coefficient r D phi - coefficient r D' phi) ^ 2)).
  - apply sum_le; intros phi _; unfold Rdiv; rewrite Rpow_mult_distr, Rmult_comm; apply Rmult_le_compat_r;
    [apply pow2_ge_0 |].
    assert (0 < / scale phi) by (apply Rinv_0_lt_compat, Hpos).
    assert (/ scale phi <= / sigma) by (apply Rinv_le_contravar; [exact Hsigma | apply Hscale]); nra.
  - rewrite sum_scal; specialize (Hbound D D' H); unfold l2_change_squared in Hbound;
    rewrite filter_all in Hbound.
    apply Rmult_le_reg_l with (sigma ^ 2); [nra |].
    rewrite <- Rmult_assoc, <- Rpow_mult_distr, Rinv_r, pow1, Rmult_1_l by lra.
    rewrite <- Rpow_mult_distr, Heq, pow2_sqrt by lra; exact Hbound.
Qed.

(** ADFC with equal epsilons: the larger delta is enough, so a stated delta that is larger still is, too. *)
Theorem adfc_certificate : forall a r n d s domain l2_squared epsilon delta_s delta_n delta scale_s scale_n,
  0 < epsilon -> 0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) -> 0 < l2_squared ->
  (forall D D', adjacent a n domain D D' -> l2_change_squared r d all_monomials D D' <= l2_squared) ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon delta_s <= scale_s ->
  extended_gaussian_sigma (sqrt l2_squared) epsilon delta_n <= scale_n ->
  delta_s <= delta -> delta_n <= delta ->
  private_release a epsilon delta n d domain gaussian_density (two_scales s scale_s scale_n) r.
Proof.
  intros a r n d s domain V epsilon ds dn delta ss sn He Hds Hdn HV Hbound Hs Hn Hs' Hn' D D' H.
  assert (Hroot := sqrt_pos V); apply indistinguishable_weaker with (Rmax ds dn); [apply Rmax_lub;
    assumption |].
  assert (Hmax : Rmax ds dn <= sqrt (2 / PI)) by (apply Rmax_lub; lra).
  assert (Hl := Rmax_l ds dn); assert (Hr := Rmax_r ds dn).
  apply (gaussian_certificate a r n d domain V epsilon (Rmax ds dn) (two_scales s ss sn)); try assumption;
    [lra |].
  intros phi; unfold two_scales; destruct (contains s phi); eapply Rle_trans; try eassumption;
    apply sigma_decreasing; lra.
Qed.

(** ** Numbers in certificates: rationals, [Q2R (a # b)] is a / b *)

Lemma largest_below : forall f k v, (forall i, (i <= k)%nat -> f i <= v) -> largest f k <= v.
Proof. intros f k v H; destruct (largest_attained f k) as [i [Hi ->]]; exact (H i Hi). Qed.

(** Decides a comparison of the formulas above at given numbers. *)
Ltac numbers :=
  unfold weight_covered, published_l1_of, published_l2_squared_of, published_l1, published_fair_l1,
    published_l2_squared,
    published_fair_l2_squared, box_l1_limit, box_l2_limit_at, limit_linear_gain, stated_epsilon;
  cbn [basis fairness_term alpha_1 limit_gain Nat.leb];
  unfold Q2R; rewrite ?INR_IZR_INZ; cbn [Qnum Qden Z.of_nat Pos.of_succ_nat Pos.succ];
  try split; lra.
