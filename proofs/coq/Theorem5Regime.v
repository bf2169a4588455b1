(** * Theorem 5 where it holds

    Write W(a, b)^2 for the largest a^2 |D_s|_2^2 + b^2 |D_n|_2^2. The statement holds if W(1, 1) <=
    Delta_2' and W(epsilon_s, epsilon_n) <= Delta_2' (epsilon_s/d + epsilon_n (d - 1)/d).

    Theorem 2 turns a budget into the shift f(epsilon) = sqrt(2) (sqrt(L + epsilon) - sqrt(L)). It is
    concave with f(0) = 0, so (f_s, f_n) is a nonnegative combination of (epsilon_s, epsilon_n) and (1, 1);
    W is convex. For epsilon_s <= epsilon_n bounds on |D|_2 and |D_n|_2 alone give both conditions. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Normal Change Box BoxSensitivity Laplace Theorem3 Theorem3Exact.
From CFM Require Import ExtendedGaussian Theorem5 Ball.
Import ListNotations.
Open Scope R_scope.

(** ** The shift that a budget allows *)

Lemma allowed_shift_increasing : forall L epsilon epsilon', epsilon <= epsilon' ->
  allowed_shift L epsilon <= allowed_shift L epsilon'.
Proof.
  intros L e e' He; unfold allowed_shift; apply Rmult_le_compat_l; [apply sqrt_pos |].
  assert (sqrt (L + e) <= sqrt (L + e')) by (apply sqrt_le_1_alt; lra); lra.
Qed.

Lemma allowed_shift_slope : forall L epsilon epsilon', 0 <= L -> 0 < epsilon <= epsilon' ->
  epsilon * allowed_shift L epsilon' <= epsilon' * allowed_shift L epsilon.
Proof.
  intros L e e' HL [He He']; unfold allowed_shift.
  assert (Hv : sqrt (L + e) ^ 2 = L + e) by (apply pow2_sqrt; lra).
  assert (Hw : sqrt (L + e') ^ 2 = L + e') by (apply pow2_sqrt; lra).
  assert (Hu : sqrt L ^ 2 = L) by (apply pow2_sqrt; lra).
  assert (H1 : sqrt L <= sqrt (L + e)) by (apply sqrt_le_1_alt; lra).
  assert (H2 : sqrt (L + e) <= sqrt (L + e')) by (apply sqrt_le_1_alt; lra).
  set (u := sqrt L) in *; set (v := sqrt (L + e)) in *; set (w := sqrt (L + e')) in *.
  replace e with (v ^ 2 - u ^ 2) at 1 by lra; replace e' with (w ^ 2 - u ^ 2) at 1 by lra.
  replace ((v ^ 2 - u ^ 2) * (sqrt 2 * (w - u))) with (sqrt 2 * ((v - u) * (w - u)) * (v + u)) by ring.
  replace ((w ^ 2 - u ^ 2) * (sqrt 2 * (v - u))) with (sqrt 2 * ((v - u) * (w - u)) * (w + u)) by ring.
  apply Rmult_le_compat_l; [| lra].
  apply Rmult_le_pos; [apply sqrt_pos | apply Rmult_le_pos; lra].
Qed.

Lemma allowed_shift_concave : forall L epsilon epsilon' t,
  0 <= L -> 0 < epsilon -> 0 < epsilon' -> 0 <= t <= 1 ->
  (1 - t) * allowed_shift L epsilon + t * allowed_shift L epsilon' <=
  allowed_shift L ((1 - t) * epsilon + t * epsilon').
Proof.
  intros L e e' t HL He He' Ht; unfold allowed_shift; set (m := (1 - t) * e + t * e').
  assert (Hm : 0 <= m) by (unfold m; nra).
  assert (Hv : sqrt (L + e) ^ 2 = L + e) by (apply pow2_sqrt; lra).
  assert (Hw : sqrt (L + e') ^ 2 = L + e') by (apply pow2_sqrt; lra).
  assert (Hroot : (1 - t) * sqrt (L + e) + t * sqrt (L + e') <= sqrt (L + m)).
  { assert (0 <= sqrt (L + e)) by apply sqrt_pos; assert (0 <= sqrt (L + e')) by apply sqrt_pos.
    set (v := sqrt (L + e)) in *; set (w := sqrt (L + e')) in *.
    rewrite <- (sqrt_pow2 ((1 - t) * v + t * w)) by (apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra).
    apply sqrt_le_1_alt.
    replace (L + m) with ((1 - t) * v ^ 2 + t * w ^ 2) by (unfold m; rewrite Hv, Hw; ring).
    assert (0 <= t * (1 - t) * (v - w) ^ 2) by (apply Rmult_le_pos; [nra | apply pow2_ge_0]).
    nra. }
  assert (Hr : 0 <= sqrt 2) by apply sqrt_pos; nra.
Qed.

(** A larger delta allows a larger shift. *)
Lemma allowed_shift_delta : forall L L' epsilon, 0 <= L <= L' -> 0 < epsilon ->
  allowed_shift L' epsilon <= allowed_shift L epsilon.
Proof.
  intros L L' e [HL HL'] He; unfold allowed_shift; apply Rmult_le_compat_l; [apply sqrt_pos |].
  assert (Hv : sqrt (L + e) ^ 2 = L + e) by (apply pow2_sqrt; lra).
  assert (Hu : sqrt L ^ 2 = L) by (apply pow2_sqrt; lra).
  assert (Hq : sqrt (L' + e) ^ 2 = L' + e) by (apply pow2_sqrt; lra).
  assert (Hp : sqrt L' ^ 2 = L') by (apply pow2_sqrt; lra).
  assert (H1 : sqrt L <= sqrt L') by (apply sqrt_le_1_alt; lra).
  assert (H2 : sqrt (L + e) <= sqrt (L' + e)) by (apply sqrt_le_1_alt; lra).
  assert (H3 : 0 < sqrt (L + e)) by (apply sqrt_lt_R0; lra).
  assert (H4 : 0 <= sqrt L) by apply sqrt_pos.
  assert (H5 : sqrt L <= sqrt (L + e)) by (apply sqrt_le_1_alt; lra).
  set (u := sqrt L) in *; set (v := sqrt (L + e)) in *.
  set (p := sqrt L') in *; set (q := sqrt (L' + e)) in *.
  apply Rmult_le_reg_r with (q + p); [lra |].
  replace ((q - p) * (q + p)) with ((v - u) * (v + u)) by lra.
  apply Rmult_le_compat_l; lra.
Qed.

(** The two shifts are a nonnegative combination of the two budgets and of (1, 1). *)
Lemma shift_combination : forall L epsilon_s epsilon_n, 0 <= L -> 0 < epsilon_s -> 0 < epsilon_n ->
  exists lambda mu, 0 <= lambda /\ 0 <= mu /\
    allowed_shift L epsilon_s = lambda * epsilon_s + mu /\
    allowed_shift L epsilon_n = lambda * epsilon_n + mu.
Proof.
  intros L es en HL Hes Hen.
  assert (Hwlog : forall e e', 0 < e < e' -> exists lambda mu, 0 <= lambda /\ 0 <= mu /\
    allowed_shift L e = lambda * e + mu /\ allowed_shift L e' = lambda * e' + mu).
  { intros e e' [He He'].
    assert (H1 := allowed_shift_increasing L e e' (Rlt_le _ _ He')).
    assert (H2 := allowed_shift_slope L e e' HL (conj He (Rlt_le _ _ He'))).
    assert (Hi : 0 < / (e' - e)) by (apply Rinv_0_lt_compat; lra).
    exists ((allowed_shift L e' - allowed_shift L e) / (e' - e)),
      ((e' * allowed_shift L e - e * allowed_shift L e') / (e' - e)).
    split; [apply Rmult_le_pos; lra |]; split; [apply Rmult_le_pos; lra |].
    split; field; lra. }
  destruct (Rtotal_order es en) as [H | [<- | H]].
  - apply Hwlog; lra.
  - exists 0, (allowed_shift L es); assert (Hp := allowed_shift_pos L es HL Hes); repeat split; lra.
  - destruct (Hwlog en es ltac:(lra)) as (lambda & mu & H1 & H2 & H3 & H4); exists lambda, mu; auto.
Qed.

(** ** The weighted change *)

(** Convexity of W, for one pair of data sets: U and V are the squares of its two parts. *)
Lemma weighted_square_combination : forall U V a b P Q lambda mu,
  0 <= U -> 0 <= V -> 0 <= lambda -> 0 <= mu -> 0 <= P -> 0 <= Q ->
  a ^ 2 * U + b ^ 2 * V <= P ^ 2 -> U + V <= Q ^ 2 ->
  (lambda * a + mu) ^ 2 * U + (lambda * b + mu) ^ 2 * V <= (lambda * P + mu * Q) ^ 2.
Proof.
  intros U V a b P Q lambda mu HU HV Hl Hm HP HQ H1 H2.
  assert (Hcross : a * U + b * V <= P * Q).
  { destruct (Rle_or_lt (a * U + b * V) (P * Q)) as [H | H]; [exact H | exfalso].
    assert (HPQ : 0 <= P * Q) by (apply Rmult_le_pos; assumption).
    assert (Hsquare : (a * U + b * V) ^ 2 <= (P * Q) ^ 2).
    { apply Rle_trans with ((a ^ 2 * U + b ^ 2 * V) * (U + V)).
      - assert (0 <= U * V * (a - b) ^ 2) by (apply Rmult_le_pos; [nra | apply pow2_ge_0]); nra.
      - rewrite Rpow_mult_distr; apply Rmult_le_compat; [| lra | exact H1 | exact H2].
        generalize (pow2_ge_0 a) (pow2_ge_0 b); intros; nra. }
    nra. }
  replace ((lambda * a + mu) ^ 2 * U + (lambda * b + mu) ^ 2 * V)
    with (lambda ^ 2 * (a ^ 2 * U + b ^ 2 * V) + 2 * (lambda * mu) * (a * U + b * V) + mu ^ 2 * (U + V))
    by ring.
  replace ((lambda * P + mu * Q) ^ 2)
    with (lambda ^ 2 * P ^ 2 + 2 * (lambda * mu) * (P * Q) + mu ^ 2 * Q ^ 2) by ring.
  assert (0 <= lambda * mu) by (apply Rmult_le_pos; assumption).
  repeat apply Rplus_le_compat; apply Rmult_le_compat_l; try assumption; try apply pow2_ge_0; lra.
Qed.

(** For epsilon_s <= epsilon_n two bounds are enough. *)
Lemma weighted_square_below : forall U V a b t Q, 0 < a <= b -> 0 <= t <= 1 -> 0 <= Q ->
  U + V <= Q ^ 2 -> V <= (Q * t) ^ 2 -> a ^ 2 * U + b ^ 2 * V <= (Q * ((1 - t) * a + t * b)) ^ 2.
Proof.
  intros U V a b t Q [Ha Hab] Ht HQ H1 H2.
  replace (a ^ 2 * U + b ^ 2 * V) with (a ^ 2 * (U + V) + (b ^ 2 - a ^ 2) * V) by ring.
  apply Rle_trans with (a ^ 2 * Q ^ 2 + (b ^ 2 - a ^ 2) * (Q * t) ^ 2).
  - apply Rplus_le_compat; apply Rmult_le_compat_l; try assumption; [apply pow2_ge_0 | nra].
  - assert (0 <= 2 * a * (b - a) * (t * (1 - t)) * Q ^ 2).
    { apply Rmult_le_pos; [| apply pow2_ge_0]; repeat apply Rmult_le_pos; lra. }
    nra.
Qed.

(** ** Any domain *)

(** d - 1 of d coordinates. *)
Definition share (d : nat) : R := (INR d - 1) / INR d.

Lemma share_bounds : forall d, (1 <= d)%nat -> 0 <= share d <= 1.
Proof.
  intros d Hd; assert (H := one_le_INR d Hd); unfold share.
  split; [apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat; lra] |].
  apply Rmult_le_reg_r with (INR d); [lra |]; field_simplify; lra.
Qed.

Lemma stated_epsilon_share : forall d epsilon_s epsilon_n, (1 <= d)%nat ->
  stated_epsilon d epsilon_s epsilon_n = (1 - share d) * epsilon_s + share d * epsilon_n.
Proof.
  intros d es en Hd; assert (H := one_le_INR d Hd); unfold stated_epsilon, share; field; lra.
Qed.

Lemma stated_epsilon_pos : forall d epsilon_s epsilon_n, (1 <= d)%nat -> 0 < epsilon_s -> 0 < epsilon_n ->
  0 < stated_epsilon d epsilon_s epsilon_n.
Proof.
  intros d es en Hd Hs Hn; rewrite stated_epsilon_share by exact Hd; destruct (share_bounds d Hd) as [H0 H1].
  destruct (Rle_or_lt (share d) (1 / 2)); [apply Rplus_lt_le_0_compat | apply Rplus_le_lt_0_compat];
    try (apply Rmult_lt_0_compat; lra); apply Rmult_le_pos; lra.
Qed.

Lemma larger_delta_stated : forall delta_s delta_n, 0 <= delta_s <= 1 -> 0 <= delta_n <= 1 ->
  Rmax delta_s delta_n <= stated_delta delta_s delta_n.
Proof.
  intros ds dn Hs Hn; unfold stated_delta.
  assert (0 <= ds * (1 - dn)) by (apply Rmult_le_pos; lra).
  assert (0 <= dn * (1 - ds)) by (apply Rmult_le_pos; lra).
  apply Rmax_lub; lra.
Qed.

Lemma delta_below_1 : forall delta, delta <= sqrt (2 / PI) -> delta < 1.
Proof.
  intros delta H; eapply Rle_lt_trans; [exact H |].
  assert (HPI := PI_RGT_0); assert (H2 := PI2_1).
  rewrite <- sqrt_1; apply sqrt_lt_1_alt; split; [apply Rlt_le, Rdiv_lt_0_compat; lra |].
  apply Rmult_lt_reg_r with PI; [exact HPI |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.

Lemma l2_two_parts : forall r d s D D',
  l2_change_squared r d all_monomials D D' =
  l2_change_squared r d (contains s) D D' + l2_change_squared r d (contains_not s) D D'.
Proof.
  intros r d s D D'; unfold l2_change_squared; rewrite filter_all.
  exact (sum_two_parts (Phi (basis r) d) s (fun phi => (coefficient r D phi - coefficient r D' phi) ^ 2)).
Qed.

Lemma l2_nonneg : forall r d part D D', 0 <= l2_change_squared r d part D D'.
Proof. intros; unfold l2_change_squared; apply sum_nonneg; intros; apply pow2_ge_0. Qed.

(** The shift of two scales, squared. *)
Lemma shift_of_two_scales : forall r d s sigma_s sigma_n D D', 0 < sigma_s -> 0 < sigma_n ->
  sum_over (Phi (basis r) d)
    (fun phi => ((coefficient r D phi - coefficient r D' phi) / two_scales s sigma_s sigma_n phi) ^ 2) =
  l2_change_squared r d (contains s) D D' / sigma_s ^ 2 +
  l2_change_squared r d (contains_not s) D D' / sigma_n ^ 2.
Proof.
  intros r d s ss sn D D' Hs Hn; unfold l2_change_squared; rewrite (sum_two_parts _ s).
  unfold Rdiv; rewrite <- !sum_scal_r; f_equal; rewrite !sum_filter; apply sum_ext; intros phi _;
    unfold contains_not, two_scales; destruct (contains s phi); cbn [negb]; try reflexivity; field; lra.
Qed.

(** Noise for one delta is enough noise for a larger one. *)
Lemma sigma_allows : forall Delta epsilon delta delta' sigma, 0 < Delta -> 0 < epsilon ->
  0 < delta <= delta' -> delta' <= sqrt (2 / PI) -> extended_gaussian_sigma Delta epsilon delta <= sigma ->
  0 < sigma /\ Delta <= sigma * allowed_shift (ln (sqrt (2 / PI) / delta')) epsilon.
Proof.
  intros Delta epsilon delta delta' sigma HD He [Hd Hd'] Hrange Hs.
  assert (HL := log_nonneg delta ltac:(lra)); assert (HL' := log_nonneg delta' ltac:(lra)).
  assert (Hle : ln (sqrt (2 / PI) / delta') <= ln (sqrt (2 / PI) / delta)).
  { destruct Hd' as [Hd' | <-]; [| apply Rle_refl].
    apply Rlt_le, ln_increasing; [apply Rdiv_lt_0_compat; lra |].
    apply Rmult_lt_compat_l; [lra |]; apply Rinv_lt_contravar; [nra | exact Hd']. }
  assert (Heq := extended_sigma_shift Delta epsilon delta He HL).
  assert (Hpos := allowed_shift_pos _ _ HL He).
  assert (Hmore := allowed_shift_delta _ _ _ (conj HL' Hle) He).
  set (sigma0 := extended_gaussian_sigma Delta epsilon delta) in *.
  set (f := allowed_shift (ln (sqrt (2 / PI) / delta)) epsilon) in *.
  set (f' := allowed_shift (ln (sqrt (2 / PI) / delta')) epsilon) in *.
  assert (Hs0 : 0 < sigma0) by (destruct (Rle_or_lt sigma0 0); [exfalso; nra | assumption]).
  split; [lra |]; rewrite <- Heq; apply Rmult_le_compat; lra.
Qed.

(** Theorem 5 for one pair of data sets, where both conditions hold: its noise has the shift that the larger
    delta allows. *)
Lemma theorem5_shift : forall r d s Delta epsilon_s epsilon_n delta_s delta_n sigma_s sigma_n D D',
  (1 <= d)%nat -> 0 < Delta -> 0 < epsilon_s -> 0 < epsilon_n ->
  0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  extended_gaussian_sigma Delta epsilon_s delta_s <= sigma_s ->
  extended_gaussian_sigma Delta epsilon_n delta_n <= sigma_n ->
  l2_change_squared r d all_monomials D D' <= Delta ^ 2 ->
  epsilon_s ^ 2 * l2_change_squared r d (contains s) D D' +
    epsilon_n ^ 2 * l2_change_squared r d (contains_not s) D D'
      <= (Delta * stated_epsilon d epsilon_s epsilon_n) ^ 2 ->
  sum_over (Phi (basis r) d) (fun phi =>
    ((coefficient r D phi - coefficient r D' phi) / two_scales s sigma_s sigma_n phi) ^ 2)
  <= allowed_shift (ln (sqrt (2 / PI) / Rmax delta_s delta_n)) (stated_epsilon d epsilon_s epsilon_n) ^ 2.
Proof.
  intros r d s Delta es en ds dn ss sn D D' Hd HD Hes Hen Hds Hdn Hss Hsn Htotal Hweighted.
  rewrite (l2_two_parts r d s) in Htotal.
  set (delta := Rmax ds dn).
  assert (Hdelta : 0 < delta <= sqrt (2 / PI) /\ ds <= delta /\ dn <= delta).
  { unfold delta; generalize (Rmax_l ds dn) (Rmax_r ds dn); intros; repeat split; try lra.
    apply Rmax_lub; lra. }
  destruct Hdelta as (Hdelta & Hle_s & Hle_n).
  destruct (sigma_allows Delta es ds delta ss HD Hes (conj (proj1 Hds) Hle_s) (proj2 Hdelta) Hss)
    as [Hss0 Hs].
  destruct (sigma_allows Delta en dn delta sn HD Hen (conj (proj1 Hdn) Hle_n) (proj2 Hdelta) Hsn)
    as [Hsn0 Hn].
  assert (HL := log_nonneg delta Hdelta); set (L := ln (sqrt (2 / PI) / delta)) in *.
  assert (Hepsilon := stated_epsilon_pos d es en Hd Hes Hen).
  assert (Ht := share_bounds d Hd); rewrite stated_epsilon_share in * by exact Hd; set (t := share d) in *.
  rewrite shift_of_two_scales by assumption.
  assert (HU := l2_nonneg r d (contains s) D D'); assert (HV := l2_nonneg r d (contains_not s) D D').
  set (U := l2_change_squared r d (contains s) D D') in *.
  set (V := l2_change_squared r d (contains_not s) D D') in *.
  destruct (shift_combination L es en HL Hes Hen) as (lambda & mu & Hlambda & Hmu & Efs & Efn).
  assert (Hshift := weighted_square_combination U V es en (Delta * ((1 - t) * es + t * en)) Delta lambda mu
    HU HV Hlambda Hmu (Rlt_le _ _ (Rmult_lt_0_compat _ _ HD Hepsilon)) (Rlt_le _ _ HD) Hweighted Htotal).
  rewrite <- Efs, <- Efn in Hshift.
  replace (lambda * (Delta * ((1 - t) * es + t * en)) + mu * Delta)
    with (Delta * ((1 - t) * (lambda * es + mu) + t * (lambda * en + mu))) in Hshift by ring.
  rewrite <- Efs, <- Efn in Hshift.
  assert (Hconcave := allowed_shift_concave L es en t HL Hes Hen Ht).
  assert (Hfs := allowed_shift_pos L es HL Hes); assert (Hfn := allowed_shift_pos L en HL Hen).
  set (fs := allowed_shift L es) in *; set (fn := allowed_shift L en) in *.
  assert (Hpart : forall X sigma f, 0 <= X -> 0 < sigma -> 0 < f -> Delta <= sigma * f ->
    Delta ^ 2 * (X / sigma ^ 2) <= f ^ 2 * X).
  { intros X sigma f HX Hsigma Hf HDelta; apply Rmult_le_reg_r with (sigma ^ 2); [apply pow_lt, Hsigma |].
    replace (Delta ^ 2 * (X / sigma ^ 2) * sigma ^ 2) with (X * Delta ^ 2) by (field; lra).
    replace (f ^ 2 * X * sigma ^ 2) with (X * (sigma * f) ^ 2) by ring.
    apply Rmult_le_compat_l; [exact HX | apply pow_incr; lra]. }
  assert (H1 := Hpart U ss fs HU Hss0 Hfs Hs); assert (H2 := Hpart V sn fn HV Hsn0 Hfn Hn).
  apply Rmult_le_reg_l with (Delta ^ 2); [apply pow_lt, HD |].
  rewrite Rmult_plus_distr_l; eapply Rle_trans; [apply Rplus_le_compat; [exact H1 | exact H2] |].
  eapply Rle_trans; [exact Hshift |]; rewrite Rpow_mult_distr.
  apply Rmult_le_compat_l; [apply pow2_ge_0 |]; apply pow_incr; split; [| exact Hconcave].
  apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
Qed.

Lemma theorem5_pair : forall r d s Delta epsilon_s epsilon_n delta_s delta_n sigma_s sigma_n D D',
  (1 <= d)%nat -> 0 < Delta -> 0 < epsilon_s -> 0 < epsilon_n ->
  0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  extended_gaussian_sigma Delta epsilon_s delta_s <= sigma_s ->
  extended_gaussian_sigma Delta epsilon_n delta_n <= sigma_n ->
  l2_change_squared r d all_monomials D D' <= Delta ^ 2 ->
  epsilon_s ^ 2 * l2_change_squared r d (contains s) D D' +
    epsilon_n ^ 2 * l2_change_squared r d (contains_not s) D D'
      <= (Delta * stated_epsilon d epsilon_s epsilon_n) ^ 2 ->
  indistinguishable (stated_epsilon d epsilon_s epsilon_n) (stated_delta delta_s delta_n) (Phi (basis r) d)
    (release gaussian_density (two_scales s sigma_s sigma_n) r D)
    (release gaussian_density (two_scales s sigma_s sigma_n) r D').
Proof.
  intros r d s Delta es en ds dn ss sn D D' Hd HD Hes Hen Hds Hdn Hss Hsn Htotal Hweighted.
  assert (Hmax : Rmax ds dn <= sqrt (2 / PI)) by (apply Rmax_lub; lra).
  assert (Hpos_s := proj1 (sigma_allows Delta es ds ds ss HD Hes (conj (proj1 Hds) (Rle_refl ds)) (proj2
    Hds) Hss)).
  assert (Hpos_n := proj1 (sigma_allows Delta en dn dn sn HD Hen (conj (proj1 Hdn) (Rle_refl dn)) (proj2
    Hdn) Hsn)).
  apply indistinguishable_weaker with (Rmax ds dn).
  { generalize (delta_below_1 ds (proj2 Hds)) (delta_below_1 dn (proj2 Hdn)); intros.
    apply larger_delta_stated; lra. }
  apply (extended_gaussian_scales monomial (Phi (basis r) d) (two_scales s ss sn)
    (coefficient r D) (coefficient r D')).
  - apply two_scales_pos; assumption.
  - apply stated_epsilon_pos; assumption.
  - split; [generalize (Rmax_l ds dn); lra | exact Hmax].
  - apply (theorem5_shift r d s Delta es en ds dn ss sn D D'); assumption.
Qed.

(** Every domain, Delta, deltas up to sqrt(2/pi) and larger scales. *)
Theorem theorem5_inside : forall r n d s domain Delta epsilon_s epsilon_n delta_s delta_n sigma_s sigma_n,
  (1 <= d)%nat -> 0 < Delta -> 0 < epsilon_s -> 0 < epsilon_n ->
  0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  extended_gaussian_sigma Delta epsilon_s delta_s <= sigma_s ->
  extended_gaussian_sigma Delta epsilon_n delta_n <= sigma_n ->
  (forall D D', neighbours n domain D D' -> l2_change_squared r d all_monomials D D' <= Delta ^ 2) ->
  (forall D D', neighbours n domain D D' ->
    epsilon_s ^ 2 * l2_change_squared r d (contains s) D D' +
    epsilon_n ^ 2 * l2_change_squared r d (contains_not s) D D'
      <= (Delta * stated_epsilon d epsilon_s epsilon_n) ^ 2) ->
  differentially_private (stated_epsilon d epsilon_s epsilon_n) (stated_delta delta_s delta_n) n d domain
    gaussian_density (two_scales s sigma_s sigma_n) r.
Proof.
  intros r n d s domain Delta es en ds dn ss sn Hd HD Hes Hen Hds Hdn Hss Hsn Htotal Hweighted D D' H.
  apply (theorem5_pair r d s Delta es en ds dn ss sn D D'); try assumption; [apply Htotal | apply Hweighted];
    exact H.
Qed.

(** ** epsilon_s <= epsilon_n *)

Lemma published_fair_l2_pos : forall d, (1 <= d)%nat -> 0 < published_fair_l2_squared d.
Proof. intros d Hd; assert (H := one_le_INR d Hd); unfold published_fair_l2_squared; nra. Qed.

(** Then the bound of Lemma 4 on D, and its share on D_n, are enough. *)
Theorem theorem5_below : forall r n d s domain epsilon_s epsilon_n delta_s delta_n sigma_s sigma_n,
  let Delta := sqrt (published_fair_l2_squared d) in
  (1 <= d)%nat -> 0 < epsilon_s <= epsilon_n ->
  0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  extended_gaussian_sigma Delta epsilon_s delta_s <= sigma_s ->
  extended_gaussian_sigma Delta epsilon_n delta_n <= sigma_n ->
  (forall D D', neighbours n domain D D' ->
    l2_change_squared r d all_monomials D D' <= published_fair_l2_squared d /\
    l2_change_squared r d (contains_not s) D D' <= published_fair_l2_squared d * share d ^ 2) ->
  differentially_private (stated_epsilon d epsilon_s epsilon_n) (stated_delta delta_s delta_n) n d domain
    gaussian_density (two_scales s sigma_s sigma_n) r.
Proof.
  intros r n d s domain es en ds dn ss sn Delta Hd [Hes Hen] Hds Hdn Hss Hsn Hbounds.
  assert (Hpos := published_fair_l2_pos d Hd).
  assert (HD : 0 < Delta) by (apply sqrt_lt_R0; exact Hpos).
  assert (HD2 : Delta ^ 2 = published_fair_l2_squared d) by (apply pow2_sqrt; lra).
  apply theorem5_inside with Delta; try assumption; [lra | |];
    intros D D' H; destruct (Hbounds D D' H) as [H1 H2].
  - rewrite HD2; exact H1.
  - rewrite stated_epsilon_share by exact Hd.
    apply weighted_square_below; [split; assumption | apply share_bounds; exact Hd | lra | |].
    + rewrite <- l2_two_parts, HD2; exact H1.
    + rewrite Rpow_mult_distr, HD2; exact H2.
Qed.

(** *** The box *)

(** The change on Phi_n: every square is replaced by an upper bound that is linear in q and its products. *)
Lemma box_l2_part_n : forall r n d s D D', 0 <= alpha_1 r -> (s < d)%nat -> neighbours n (unit_box d) D D' ->
  let A := linear_gain r n in let m := INR d - 1 in
  exists U, 0 <= U <= m /\
    l2_change_squared r d (contains_not s) D D' <= m * A ^ 2 + (A + 1 / 4) * U + (m ^ 2 - U ^ 2) / 32.
Proof.
  intros r n d s D D' Ha Hs H A m.
  assert (Hn := neighbours_nonempty _ _ _ _ H).
  destruct (box_changes_bounded r n d D D' Ha H) as [q [Hq Hphi]].
  assert (HT := sum_without d s q Hs Hq).
  set (T := sum_over (coordinates d) q) in *.
  assert (HA : 0 <= A).
  { unfold A, linear_gain; generalize (gain_le (fairness_term r) n Hn); intros; nra. }
  exists (T - q s); split; [unfold m; lra |].
  set (u := fun e => A ^ 2 + (A + 1 / 4) * q e); set (g := fun e l => 1 / 4 * (1 - q e * q l)).
  set (f := fun phi =>
    match phi with Linear e => u e | Quadratic e l => quadratic_factor (basis r) e l * g e l end).
  apply Rle_trans with (sum_over (filter (contains_not s) (Phi (basis r) d)) f).
  { unfold l2_change_squared; apply sum_le; intros phi Hin; apply filter_In in Hin; destruct Hin as [Hin _].
    apply Rle_trans with (box_bound r n q phi ^ 2); [apply square_le, Hphi, Hin |].
    apply in_Phi in Hin; destruct phi as [e | e l]; cbn [f box_bound]; fold A.
    - generalize (Hq e Hin); unfold u; intros; nra.
    - generalize (Hq e (proj1 Hin)) (Hq l (proj2 Hin)); intros; unfold g.
      assert (Hw : 0 < quadratic_factor (basis r) e l <= 1 / 4).
      { split; [apply quadratic_factor_pos |]; destruct (basis r); cbn [quadratic_factor]; [lra |].
        destruct (Nat.eqb e l); lra. }
      assert (0 <= q e * q l <= 1) by (split; nra).
      set (w := quadratic_factor (basis r) e l) in *; set (v := 1 - q e * q l) in *.
      replace ((w * v) ^ 2) with (w * v * (w * v)) by ring.
      replace (w * (1 / 4 * v)) with (w * v * (1 / 4)) by ring.
      apply Rmult_le_compat_l; [apply Rmult_le_pos |]; unfold v in *; nra. }
  assert (Hsym : forall e l, g e l = g l e) by (intros; unfold g; ring).
  assert (Hall := sum_two_parts (Phi (basis r) d) s f); unfold f in Hall at 1 2.
  rewrite (sum_all_monomials (basis r) d u g Hsym), (sum_monomials_with_s (basis r) d s u g Hs Hsym) in Hall.
  unfold u, g in Hall; rewrite sum_plus, !sum_scal, sum_coordinates_const in Hall.
  rewrite (sum_ext (coordinates d) (fun e => sum_over _ _)
    (fun e => 1 / 4 * sum_over (coordinates d) (fun l => 1 - q e * q l))) in Hall by (intros; apply sum_scal).
  rewrite sum_scal, double_sum_one_minus, sum_minus, sum_scal, sum_coordinates_const in Hall; fold T in Hall.
  apply Req_le; unfold m; lra.
Qed.

(** A = 1/2 + alpha_1 gain; the gain is at most 1 unless the fairness term is [Absolute]. *)
Lemma linear_gain_signed : forall r n, 0 <= alpha_1 r <= 1 -> (1 <= n)%nat -> fairness_term r <> Absolute ->
  1 / 2 <= linear_gain r n <= 3 / 2.
Proof.
  intros r n Ha Hn HF; unfold linear_gain; generalize (nu_bounds n Hn); intros Hnu.
  destruct (fairness_term r); [| contradiction |]; cbn [fairness_gain]; split; nra.
Qed.

Lemma signed_share : forall A m U, 1 / 2 <= A <= 3 / 2 -> 1 <= m -> 0 <= U <= m ->
  m * A ^ 2 + (A + 1 / 4) * U + (m ^ 2 - U ^ 2) / 32 <= m ^ 2 / 16 + 9 * (m - 1) + 9 / (m + 1).
Proof.
  intros A m U HA Hm HU.
  apply Rle_trans with (m * (9 / 4) + 7 / 4 * m + m ^ 2 / 32).
  - assert (A ^ 2 <= 9 / 4) by nra; assert (m * A ^ 2 <= m * (9 / 4)) by (apply Rmult_le_compat_l; lra).
    assert ((A + 1 / 4) * U <= 7 / 4 * m) by (apply Rmult_le_compat; lra).
    generalize (pow2_ge_0 U); lra.
  - (* 9/(m + 1) lies above its tangent at m = 1 *)
    assert (9 * (3 - m) / 4 <= 9 / (m + 1)); [| nra].
    apply Rmult_le_reg_r with (m + 1); [lra |].
    replace (9 / (m + 1) * (m + 1)) with 9 by (field; lra); nra.
Qed.

Lemma box_share : forall r n d s D D', 0 <= alpha_1 r <= 1 -> (s < d)%nat ->
  (fairness_term r = Absolute -> d = 1%nat \/ (13 <= d)%nat) -> neighbours n (unit_box d) D D' ->
  l2_change_squared r d (contains_not s) D D' <= published_fair_l2_squared d * share d ^ 2.
Proof.
  intros r n d s D D' Ha Hs Hd H.
  assert (Hn := neighbours_nonempty _ _ _ _ H).
  destruct (Nat.eq_dec d 1) as [-> | Hd1].
  { unfold l2_change_squared, share; rewrite no_monomial_without_s by exact Hs; simpl; lra. }
  destruct (box_l2_part_n r n d s D D' (proj1 Ha) Hs H) as (U & HU & Hle).
  eapply Rle_trans; [exact Hle |]; clear Hle.
  assert (Hm : 1 <= INR d - 1).
  { assert (2 <= INR d) by (apply (le_INR 2); lia); lra. }
  set (A := linear_gain r n); set (m := INR d - 1) in *.
  replace (published_fair_l2_squared d * share d ^ 2) with (m ^ 2 / 16 + 9 * (m - 1) + 9 / (m + 1)).
  2: { unfold published_fair_l2_squared, share, m; field; unfold m in Hm; lra. }
  assert (Hi : 0 < 9 / (m + 1)) by (apply Rdiv_lt_0_compat; lra).
  destruct (fairness_term r) as [| | sign] eqn:HF.
  2: { (* A <= 5/2 and m >= 12 *)
    assert (HA : 1 / 2 <= A <= 5 / 2) by (apply linear_gain_le; assumption).
    assert (Hm12 : 12 <= m).
    { destruct (Hd eq_refl) as [H1 | H13]; [contradiction |].
      assert (13 <= INR d) by (replace 13 with (INR 13) by (simpl; lra); apply le_INR, H13); unfold m; lra. }
    apply Rle_trans with (m * (25 / 4) + 11 / 4 * U + (m ^ 2 - U ^ 2) / 32).
    { assert (A ^ 2 <= 25 / 4) by nra; assert (m * A ^ 2 <= m * (25 / 4)) by (apply Rmult_le_compat_l; lra).
      assert ((A + 1 / 4) * U <= 11 / 4 * U) by (apply Rmult_le_compat_r; lra); lra. }
    (* with v = m - U the difference is (m^2 - 144)/16 + v (44 - m)/16 + v^2/32 *)
    set (v := m - U); assert (Hv : 0 <= v <= m) by (unfold v; lra).
    assert (0 <= (m ^ 2 - 144) / 16 + v * (44 - m) / 16 + v ^ 2 / 32); [| unfold v in *; nra].
    destruct (Rle_or_lt m 44); [nra |].
    replace ((m ^ 2 - 144) / 16 + v * (44 - m) / 16 + v ^ 2 / 32)
      with ((v - (m - 44)) ^ 2 / 32 + (2 * m ^ 2 - 288 - (m - 44) ^ 2) / 32) by field.
    generalize (pow2_ge_0 (v - (m - 44))); nra. }
  all: assert (HA : 1 / 2 <= A <= 3 / 2)
    by (apply linear_gain_signed; [assumption | assumption | rewrite HF; discriminate]).
  all: apply (signed_share A m U HA Hm HU).
Qed.

Theorem theorem5_on_the_box : forall r n d s epsilon_s epsilon_n delta_s delta_n sigma_s sigma_n,
  let Delta := sqrt (published_fair_l2_squared d) in
  0 <= alpha_1 r <= 1 -> (s < d)%nat -> (fairness_term r = Absolute -> d = 1%nat \/ (13 <= d)%nat) ->
  0 < epsilon_s <= epsilon_n -> 0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  extended_gaussian_sigma Delta epsilon_s delta_s <= sigma_s ->
  extended_gaussian_sigma Delta epsilon_n delta_n <= sigma_n ->
  differentially_private (stated_epsilon d epsilon_s epsilon_n) (stated_delta delta_s delta_n) n d
    (unit_box d) gaussian_density (two_scales s sigma_s sigma_n) r.
Proof.
  intros r n d s es en ds dn ss sn Delta Ha Hs HF He Hds Hdn Hss Hsn.
  apply theorem5_below; try assumption; [lia |]; intros D D' H; split.
  - apply Rlt_le, (published_fair_l2_holds r n d D D' Ha ltac:(lia) H).
  - apply (box_share r n d s D D' Ha Hs HF H).
Qed.

(** *** The ball *)

Theorem theorem5_on_the_ball : forall r n d s epsilon_s epsilon_n delta_s delta_n sigma_s sigma_n,
  let Delta := sqrt (published_fair_l2_squared d) in
  0 <= alpha_1 r <= 1 -> (s < d)%nat -> (fairness_term r = Absolute -> d <> 2%nat) ->
  0 < epsilon_s <= epsilon_n -> 0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  extended_gaussian_sigma Delta epsilon_s delta_s <= sigma_s ->
  extended_gaussian_sigma Delta epsilon_n delta_n <= sigma_n ->
  differentially_private (stated_epsilon d epsilon_s epsilon_n) (stated_delta delta_s delta_n) n d
    (unit_ball d) gaussian_density (two_scales s sigma_s sigma_n) r.
Proof.
  intros r n d s es en ds dn ss sn Delta Ha Hs HF He Hds Hdn Hss Hsn.
  apply theorem5_below; try assumption; [lia |]; intros D D' H.
  assert (Hbox := neighbours_ball_box _ _ _ _ H); assert (Hn := neighbours_nonempty _ _ _ _ H).
  split; [apply Rlt_le, (published_fair_l2_holds r n d D D' Ha ltac:(lia) Hbox) |].
  assert (Hcases : (fairness_term r = Absolute -> d = 1%nat \/ (13 <= d)%nat) \/
    (fairness_term r = Absolute /\ (3 <= d)%nat)).
  { destruct (fairness_term r); try (left; discriminate).
    specialize (HF eq_refl); destruct (Nat.eq_dec d 1); [left; auto | right; split; [reflexivity | lia]]. }
  destruct Hcases as [Hsmall | [Habsolute Hd]]; [apply (box_share r n d s D D' Ha Hs Hsmall Hbox) |].
  apply Rle_trans with (l2_change_squared r d all_monomials D D').
  { rewrite (l2_two_parts r d s); generalize (l2_nonneg r d (contains s) D D'); lra. }
  apply Rle_trans with (ball_gain r n ^ 2).
  { refine (proj1 (ball_l2_exact r n d (proj1 Ha) Hn ltac:(lia) _) D D' H).
    intros sign; rewrite Habsolute; discriminate. }
  assert (Hk : 3 <= INR d) by (replace 3 with (INR 3) by (simpl; lra); apply le_INR, Hd).
  assert (Hgain : 1 <= ball_gain r n <= 3).
  { unfold ball_gain; rewrite Habsolute; generalize (nu_bounds n Hn); intros; split; nra. }
  apply Rle_trans with 9; [nra |].
  unfold published_fair_l2_squared, share; set (k := INR d) in *.
  replace ((k ^ 2 / 16 + 9 * k) * ((k - 1) / k) ^ 2)
    with ((k - 1) ^ 2 / 16 + 9 * ((k - 1) ^ 2 / k)) by (field; lra).
  assert (1 <= (k - 1) ^ 2 / k).
  { apply Rmult_le_reg_r with k; [lra |]; field_simplify; nra. }
  generalize (pow2_ge_0 (k - 1)); lra.
Qed.
