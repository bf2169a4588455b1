(** * A weighted sum of two scores whose weights run over an arc

    A linear function of a unit vector of the first quadrant has no maximum inside an arc unless both its
    coefficients are positive.  [audit.bounds.joint.Region.excess] bounds it by its values at the ends, and by
    the length of the coefficients where both are positive. *)

From Coq Require Import Reals Lra.
From CFM Require Import StoufferRule.
Open Scope R_scope.

(** The largest weighted sum over weights in [a, a'] and [b, b']: at one of two ends, unless both scores are
    positive. *)
Definition largest_combined (a a' b b' x y : R) : R :=
  if Rlt_dec 0 x then
    if Rlt_dec 0 y then sqrt (x ^ 2 + y ^ 2) else Rmax (combined a' b x y) (combined a b' x y)
  else Rmax (combined a' b x y) (combined a b' x y).

Lemma length_pos : forall a b, 0 < a \/ 0 < b -> 0 < a ^ 2 + b ^ 2.
Proof. intros a b [H | H]; generalize (pow2_ge_0 a) (pow2_ge_0 b) (pow_lt _ 2 H); lra. Qed.

Lemma combined_first_only : forall a x y, 0 <= a -> combined a 0 x y = x.
Proof.
  intros a x y [Ha | <-].
  - rewrite combined_with_weights by (apply length_pos; left; exact Ha).
    replace (a ^ 2 + 0 ^ 2) with (a ^ 2) by ring; rewrite sqrt_pow2 by lra; field; lra.
  - rewrite combined_without_weights, combined_with_weights by lra.
    replace (1 ^ 2 + 0 ^ 2) with 1 by ring; rewrite sqrt_1; field.
Qed.

Lemma combined_second_only : forall b x y, 0 < b -> combined 0 b x y = y.
Proof.
  intros b x y Hb; rewrite combined_with_weights by (apply length_pos; right; exact Hb).
  replace (0 ^ 2 + b ^ 2) with (b ^ 2) by ring; rewrite sqrt_pow2 by lra; field; lra.
Qed.

Lemma cauchy : forall a b x y, a * x + b * y <= sqrt (a ^ 2 + b ^ 2) * sqrt (x ^ 2 + y ^ 2).
Proof. intros a b x y; rewrite <- !Rsqr_pow2; apply sqrt_cauchy. Qed.

Lemma combined_le_hypot : forall a b x y, combined a b x y <= sqrt (x ^ 2 + y ^ 2).
Proof.
  intros a b x y; unfold combined; destruct Rlt_dec as [H | _].
  - apply Rmult_le_reg_r with (sqrt (a ^ 2 + b ^ 2)); [exact H |].
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    rewrite (Rmult_comm (sqrt (x ^ 2 + y ^ 2))); apply cauchy.
  - apply Rle_trans with (Rabs x); [apply Rle_abs |]; rewrite <- sqrt_Rsqr_abs, Rsqr_pow2.
    apply sqrt_le_1_alt; generalize (pow2_ge_0 y); lra.
Qed.

(** A direction (s, t) nearer to the first axis weighs the first score more, and the second one less. *)
Lemma towards_first : forall a b s t, 0 <= a -> 0 <= b -> 0 <= s -> 0 <= t -> 0 < a ^ 2 + b ^ 2 ->
  0 < s ^ 2 + t ^ 2 -> t * a <= s * b ->
  a / sqrt (a ^ 2 + b ^ 2) <= s / sqrt (s ^ 2 + t ^ 2) /\
  t / sqrt (s ^ 2 + t ^ 2) <= b / sqrt (a ^ 2 + b ^ 2).
Proof.
  intros a b s t Ha Hb Hs Ht Hab Hst H.
  assert (Hst' := sqrt_lt_R0 _ Hst); assert (Hab' := sqrt_lt_R0 _ Hab).
  assert (Hst2 : sqrt (s ^ 2 + t ^ 2) ^ 2 = s ^ 2 + t ^ 2) by (apply pow2_sqrt; lra).
  assert (Hab2 : sqrt (a ^ 2 + b ^ 2) ^ 2 = a ^ 2 + b ^ 2) by (apply pow2_sqrt; lra).
  set (h := sqrt (a ^ 2 + b ^ 2)) in *; set (g := sqrt (s ^ 2 + t ^ 2)) in *.
  assert (Hsquare : (t * a) ^ 2 <= (s * b) ^ 2)
    by (apply pow_incr; split; [apply Rmult_le_pos; lra | exact H]).
  assert (Hle : forall u v, 0 <= v -> u ^ 2 <= v ^ 2 -> u <= v) by (intros u v Hv Huv; nra).
  split; apply Rmult_le_reg_r with (h * g); try (apply Rmult_lt_0_compat; assumption).
  - replace (a / h * (h * g)) with (a * g) by (field; lra).
    replace (s / g * (h * g)) with (s * h) by (field; lra).
    apply Hle; [apply Rmult_le_pos; lra |].
    replace ((a * g) ^ 2) with (a ^ 2 * g ^ 2) by ring; replace ((s * h) ^ 2) with (s ^ 2 * h ^ 2) by ring.
    rewrite Hst2, Hab2; lra.
  - replace (t / g * (h * g)) with (t * h) by (field; lra).
    replace (b / h * (h * g)) with (b * g) by (field; lra).
    apply Hle; [apply Rmult_le_pos; lra |].
    replace ((t * h) ^ 2) with (t ^ 2 * h ^ 2) by ring; replace ((b * g) ^ 2) with (b ^ 2 * g ^ 2) by ring.
    rewrite Hst2, Hab2; lra.
Qed.

Lemma quotient_of_sum : forall a b x y h, (a * x + b * y) / h = a / h * x + b / h * y.
Proof. intros; unfold Rdiv; ring. Qed.

(** With scores that are not positive the sum is below the larger of two ends between which (a, b) lies. *)
Lemma between_ends : forall a b s t s' t' x y M, 0 <= a -> 0 <= b -> 0 <= s -> 0 <= t -> 0 <= s' -> 0 <= t' ->
  0 < a ^ 2 + b ^ 2 -> 0 < s ^ 2 + t ^ 2 -> 0 < s' ^ 2 + t' ^ 2 ->
  t * a <= s * b -> s' * b <= t' * a -> M <= 0 -> combined s t x y <= M -> combined s' t' x y <= M ->
  combined a b x y <= M.
Proof.
  intros a b s t s' t' x y M Ha Hb Hs Ht Hs' Ht' Hab Hst Hst' Hnear Hnear' HM H1 H2.
  rewrite combined_with_weights in * by assumption.
  assert (Hlength : forall u v, 0 < u ^ 2 + v ^ 2 -> u * x + v * y <= M * sqrt (u ^ 2 + v ^ 2) <->
    (u * x + v * y) / sqrt (u ^ 2 + v ^ 2) <= M).
  { intros u v Huv; assert (H := sqrt_lt_R0 _ Huv); split; intros Hle.
    - apply Rmult_le_reg_r with (sqrt (u ^ 2 + v ^ 2)); [exact H |].
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; exact Hle.
    - apply Rmult_le_compat_r with (r := sqrt (u ^ 2 + v ^ 2)) in Hle; [| lra].
      unfold Rdiv in Hle; rewrite Rmult_assoc, Rinv_l, Rmult_1_r in Hle by lra; exact Hle. }
  apply Hlength in H1; [| exact Hst]; apply Hlength in H2; [| exact Hst']; apply Hlength; [exact Hab |].
  assert (Hg := sqrt_lt_R0 _ Hst); assert (Hg' := sqrt_lt_R0 _ Hst'); assert (Hh := sqrt_lt_R0 _ Hab).
  assert (Hg2 : sqrt (s ^ 2 + t ^ 2) ^ 2 = s ^ 2 + t ^ 2) by (apply pow2_sqrt; lra).
  assert (Hg2' : sqrt (s' ^ 2 + t' ^ 2) ^ 2 = s' ^ 2 + t' ^ 2) by (apply pow2_sqrt; lra).
  assert (Hh2 : sqrt (a ^ 2 + b ^ 2) ^ 2 = a ^ 2 + b ^ 2) by (apply pow2_sqrt; lra).
  assert (Hinner := cauchy s t s' t').
  set (g := sqrt (s ^ 2 + t ^ 2)) in *; set (g' := sqrt (s' ^ 2 + t' ^ 2)) in *.
  set (h := sqrt (a ^ 2 + b ^ 2)) in *.
  (* D (a, b) = k (s, t) + k' (s', t') *)
  set (k := a * t' - b * s'); set (k' := s * b - t * a); set (D := s * t' - t * s').
  assert (Hk : 0 <= k) by (unfold k; lra); assert (Hk' : 0 <= k') by (unfold k'; lra).
  assert (Ea : D * a = k * s + k' * s') by (unfold D, k, k'; ring).
  assert (Eb : D * b = k * t + k' * t') by (unfold D, k, k'; ring).
  destruct (Rle_or_lt D 0) as [Hdegenerate | HD].
  - (* both ends point one way *)
    assert (Hsigns : 0 <= k * s /\ 0 <= k' * s' /\ 0 <= k * t /\ 0 <= k' * t')
      by (repeat split; apply Rmult_le_pos; assumption).
    assert (Hparallel : k' = 0).
    { assert (0 <= - D * a /\ 0 <= - D * b) by (split; apply Rmult_le_pos; lra).
      assert (k' * s' = 0) by lra; assert (k' * t' = 0) by lra.
      apply Rmult_eq_reg_r with (s' ^ 2 + t' ^ 2); [| lra].
      replace (k' * (s' ^ 2 + t' ^ 2)) with (k' * s' * s' + k' * t' * t') by ring.
      replace (k' * s') with 0; replace (k' * t') with 0; ring. }
    destruct (towards_first a b s t Ha Hb Hs Ht Hab Hst Hnear) as [H3 H4].
    destruct (towards_first s t a b Hs Ht Ha Hb Hst Hab ltac:(unfold k' in Hparallel; lra)) as [H5 H6].
    fold g h in H3, H4, H5, H6.
    assert (Es : a = s / g * h) by (replace (s / g) with (a / h) by lra; field; lra).
    assert (Et : b = t / g * h) by (replace (t / g) with (b / h) by lra; field; lra).
    apply Rmult_le_compat_r with (r := h / g) in H1; [| apply Rlt_le, Rdiv_lt_0_compat; assumption].
    replace (M * g * (h / g)) with (M * h) in H1 by (field; lra).
    replace ((s * x + t * y) * (h / g)) with (s / g * h * x + t / g * h * y) in H1 by (field; lra).
    rewrite <- Es, <- Et in H1; exact H1.
  - assert (Htriangle : D * h <= k * g + k' * g').
    { assert (Hsquares : (D * h) ^ 2 <= (k * g + k' * g') ^ 2).
      { replace ((D * h) ^ 2) with (D ^ 2 * h ^ 2) by ring.
        replace ((k * g + k' * g') ^ 2)
          with (k ^ 2 * g ^ 2 + k' ^ 2 * g' ^ 2 + 2 * (k * k') * (g * g')) by ring.
        rewrite Hh2, Hg2, Hg2'.
        replace (D ^ 2 * (a ^ 2 + b ^ 2)) with ((D * a) ^ 2 + (D * b) ^ 2) by ring; rewrite Ea, Eb.
        assert (0 <= k * k' * (g * g' - (s * s' + t * t')))
          by (apply Rmult_le_pos; [apply Rmult_le_pos |]; lra).
        lra. }
      assert (0 <= k * g + k' * g') by (apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra).
      apply Rsqr_incr_0_var; [rewrite !Rsqr_pow2; exact Hsquares | assumption]. }
    apply Rmult_le_reg_l with D; [exact HD |].
    replace (D * (a * x + b * y)) with (k * (s * x + t * y) + k' * (s' * x + t' * y))
      by (replace (D * (a * x + b * y)) with (D * a * x + D * b * y) by ring; rewrite Ea, Eb; ring).
    apply Rle_trans with (k * (M * g) + k' * (M * g')).
    + apply Rplus_le_compat; apply Rmult_le_compat_l; assumption.
    + replace (k * (M * g) + k' * (M * g')) with (M * (k * g + k' * g')) by ring.
      replace (D * (M * h)) with (M * (D * h)) by ring.
      apply Rmult_le_compat_neg_l; assumption.
Qed.

(** [largest_combined] is an upper bound. *)
Theorem combined_over_an_arc : forall a a1 a2 b b1 b2 x y,
  0 <= a1 -> a1 <= a <= a2 -> 0 <= b1 -> b1 <= b <= b2 ->
  combined a b x y <= largest_combined a1 a2 b1 b2 x y.
Proof.
  intros a a1 a2 b b1 b2 x y Ha1 Ha Hb1 Hb.
  assert (Hfirst : b1 * a <= a2 * b) by (rewrite Rmult_comm; apply Rmult_le_compat; lra).
  assert (Hlast : a1 * b <= b2 * a) by (rewrite (Rmult_comm b2); apply Rmult_le_compat; lra).
  assert (Hends : ~ (0 < x /\ 0 < y) -> combined a b x y <= Rmax (combined a2 b1 x y) (combined a1 b2 x y)).
  { intros Hsigns.
    destruct (Req_dec a 0) as [-> | Hna], (Req_dec b 0) as [-> | Hnb].
    - replace b1 with 0 by lra; rewrite !combined_first_only by lra; apply Rmax_l.
    - replace a1 with 0 by lra; rewrite !combined_second_only by lra; apply Rmax_r.
    - replace b1 with 0 by lra; rewrite !combined_first_only by lra; apply Rmax_l.
    - assert (Hab : 0 < a ^ 2 + b ^ 2) by (apply length_pos; lra).
      assert (Hone : 0 < a2 ^ 2 + b1 ^ 2) by (apply length_pos; lra).
      assert (Htwo : 0 < a1 ^ 2 + b2 ^ 2) by (apply length_pos; lra).
      destruct (Rle_or_lt y 0) as [Hy | Hy], (Rle_or_lt x 0) as [Hx | Hx].
      + apply (between_ends a b a2 b1 a1 b2); try lra; [| apply Rmax_l | apply Rmax_r].
        assert (Hneg : forall s t, 0 <= s -> 0 <= t -> 0 < s ^ 2 + t ^ 2 -> combined s t x y <= 0).
        { intros s t Hs Ht Hst; rewrite combined_with_weights by exact Hst.
          rewrite <- (Rmult_0_l (/ sqrt (s ^ 2 + t ^ 2))).
          apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, sqrt_lt_R0, Hst |].
          assert (0 <= s * - x) by (apply Rmult_le_pos; lra).
          assert (0 <= t * - y) by (apply Rmult_le_pos; lra).
          lra. }
        apply Rmax_lub; apply Hneg; lra.
      + eapply Rle_trans; [| apply Rmax_l]; rewrite !combined_with_weights, !quotient_of_sum by assumption.
        destruct (towards_first a b a2 b1) as [H1 H2]; try lra.
        apply Rplus_le_compat; [apply Rmult_le_compat_r; [lra | exact H1] |].
        rewrite !(Rmult_comm _ y); apply Rmult_le_compat_neg_l; assumption.
      + eapply Rle_trans; [| apply Rmax_r]; rewrite !combined_with_weights, !quotient_of_sum by assumption.
        destruct (towards_first a1 b2 a b) as [H1 H2]; try lra.
        apply Rplus_le_compat; [| apply Rmult_le_compat_r; [lra | exact H2]].
        rewrite !(Rmult_comm _ x); apply Rmult_le_compat_neg_l; assumption.
      + tauto. }
  unfold largest_combined; destruct (Rlt_dec 0 x), (Rlt_dec 0 y); try (apply Hends; lra).
  apply combined_le_hypot.
Qed.
