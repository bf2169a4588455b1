(** * The unit ball with a signed covariance: the exact l2-sensitivity

    Its square is (1 + e)^2 + e^2 with e = alpha_1 (n-1)/n, for every d >= 2. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity Theorem5 Ball.
Import ListNotations.
Open Scope R_scope.

Definition quartic (d : nat) (u v : nat -> R) : R :=
  (dot_product d u u ^ 2 - 2 * dot_product d u v ^ 2 + dot_product d v v ^ 2) / 32.

Lemma expand_three : forall d c1 c2 u v w,
  sum_over (coordinates d) (fun e => (c1 * u e + c2 * v e + w e) ^ 2) =
  c1 ^ 2 * dot_product d u u + c2 ^ 2 * dot_product d v v + dot_product d w w + 2 *
    (c1 * c2) * dot_product d u v
  + 2 * c1 * dot_product d u w + 2 * c2 * dot_product d v w.
Proof.
  intros; unfold dot_product; rewrite <- !sum_scal, <- !sum_plus; apply sum_ext; intros; ring.
Qed.

Section Vectors.

Variable d : nat.
Variables u v w : nat -> R.
Variable e : R.
Hypothesis e_nonneg : 0 <= e.
Hypothesis u_pos : forall i, (i < d)%nat -> 0 <= u i.
Hypothesis v_pos : forall i, (i < d)%nat -> 0 <= v i.
Hypothesis w_pos : forall i, (i < d)%nat -> 0 <= w i.
Hypothesis u_ball : dot_product d u u <= 1.
Hypothesis v_ball : dot_product d v v <= 1.
Hypothesis w_ball : dot_product d w w <= e ^ 2.

Lemma dot_pos : forall f g, (forall i, (i < d)%nat -> 0 <= f i) -> (forall i, (i < d)%nat -> 0 <= g i) ->
  0 <= dot_product d f g.
Proof. intros f g Hf Hg; apply sum_nonneg; intros i Hi; apply in_coordinates in Hi; apply Rmult_le_pos;
  [apply Hf | apply Hg]; exact Hi. Qed.

Lemma dot_le : forall f g k, 0 <= k -> dot_product d f f <= 1 -> dot_product d g g <= k ^ 2 ->
  dot_product d f g <= k.
Proof.
  intros f g k Hk Hf Hg; assert (H := dot_cauchy d f g); assert (Hf0 := dot_nonneg d f);
    assert (Hg0 := dot_nonneg d g).
  assert (dot_product d f g ^ 2 <= k ^ 2) by nra.
  destruct (Rle_or_lt (dot_product d f g) k); [assumption | nra].
Qed.

Lemma dots : 0 <= dot_product d u v <= 1 /\ 0 <= dot_product d u w <= e /\ 0 <= dot_product d v w <= e /\
  quartic d u v <= (1 - dot_product d u v) / 8 /\ quartic d u v <= 1 / 16.
Proof.
  assert (H1 : 0 <= dot_product d u v <= 1).
  { split; [apply dot_pos; assumption |]; apply dot_le; [lra | exact u_ball | rewrite pow1; exact v_ball]. }
  split; [exact H1 |].
  split; [split; [apply dot_pos; assumption | apply dot_le; assumption] |].
  split; [split; [apply dot_pos; assumption | apply dot_le; assumption] |].
  assert (Hu := dot_nonneg d u); assert (Hv := dot_nonneg d v); unfold quartic.
  assert (dot_product d u u ^ 2 <= 1) by nra; assert (dot_product d v v ^ 2 <= 1) by nra; split; nra.
Qed.

Lemma squares_le : forall c, c ^ 2 * dot_product d u u <= c ^ 2 /\ c ^ 2 * dot_product d v v <= c ^ 2.
Proof. intros c; generalize (pow2_ge_0 c); intros; split; nra. Qed.

(** The change's square when both coefficients have one sign, with what the angle between u and v takes
    off. *)
Lemma same_sign_le : forall c1 c2, 0 <= c1 * c2 ->
  c1 ^ 2 + c2 ^ 2 + 2 * (c1 * c2) * dot_product d u v
    = (c1 + c2) ^ 2 - 2 * (c1 * c2) * (1 - dot_product d u v) /\
  0 <= 2 * (c1 * c2) * (1 - dot_product d u v) /\
  (1 / 16 <= c1 * c2 -> quartic d u v <= 2 * (c1 * c2) * (1 - dot_product d u v)).
Proof.
  intros c1 c2 Hp; destruct dots as [[H0 H1] [_ [_ [Hq _]]]].
  assert (Hs : 0 <= 1 - dot_product d u v) by lra.
  split; [ring |]; split; [apply Rmult_le_pos; lra |].
  intros H; apply Rle_trans with (1 := Hq), Rle_trans with (2 * (1 / 16) * (1 - dot_product d u v)); [lra |].
  apply Rmult_le_compat_r; lra.
Qed.

(** Two coefficients of opposite sign: their product only takes off. *)
Lemma opposite_signs_le : forall c1 c2, c1 * c2 <= 0 -> 2 * (c1 * c2) * dot_product d u v <= 0.
Proof.
  intros c1 c2 Hp; destruct dots as [[H0 _] _].
  assert (0 <= - (c1 * c2) * dot_product d u v) by (apply Rmult_le_pos; lra); lra.
Qed.

(** One coefficient with the pull of w and one against it. *)
Lemma half_with_the_pull : forall c1 c2, - (1 / 2 + e) <= c1 <= 0 -> 0 <= c2 + e <= 1 / 2 + e ->
  c1 ^ 2 + c2 ^ 2 + 2 * c2 * e + 1 / 16 <= (1 + e) ^ 2.
Proof.
  intros c1 c2 H1 H2.
  assert (c1 ^ 2 <= (1 / 2 + e) ^ 2) by (apply square_le, Rabs_le; lra).
  assert ((c2 + e) ^ 2 <= (1 / 2 + e) ^ 2) by (apply square_le, Rabs_le; lra).
  assert (0 <= e ^ 2) by apply pow2_ge_0; lra.
Qed.

Lemma against_the_pull : forall c p, c <= 0 -> 0 <= p -> 2 * c * p <= 0.
Proof. intros c p Hc Hp; assert (0 <= - c * p) by (apply Rmult_le_pos; lra); lra. Qed.

Lemma with_the_pull : forall c p, 0 <= c -> p <= e -> 2 * c * p <= 2 * c * e.
Proof. intros c p Hc Hp; apply Rmult_le_compat_l; lra. Qed.

(** The group changes: the other records pull by w. *)
Lemma group_changes : forall a a' half half', 0 <= a -> 0 <= a' -> a + a' = e ->
  half = 1 / 2 \/ half = - (1 / 2) -> half' = 1 / 2 \/ half' = - (1 / 2) ->
  sum_over (coordinates d) (fun i => ((half - a) * u i + (half' - a') * v i + w i) ^ 2) + quartic d u v
  <= (1 + e) ^ 2 + e ^ 2.
Proof.
  intros a a' half half' Ha Ha' Hsum Hh Hh'; rewrite expand_three.
  destruct dots as [_ [[Hp0 Hpe] [[Hq0 Hqe] [_ Hquartic]]]].
  set (c1 := half - a); set (c2 := half' - a').
  assert (S1 := proj1 (squares_le c1)); assert (S2 := proj2 (squares_le c2)).
  assert (Haa : 0 <= a * a') by (apply Rmult_le_pos; assumption).
  assert (He2 : 0 <= e ^ 2) by apply pow2_ge_0.
  destruct (Rle_or_lt c1 0) as [H1 | H1], (Rle_or_lt c2 0) as [H2 | H2].
  - (* both against the pull *)
    assert (P1 := against_the_pull c1 (dot_product d u w) H1 Hp0);
      assert (P2 := against_the_pull c2 (dot_product d v w) H2 Hq0).
    assert (Hp : 0 <= c1 * c2).
    { replace (c1 * c2) with (- c1 * - c2) by ring; apply Rmult_le_pos; lra. }
    destruct (same_sign_le c1 c2 Hp) as [Hsquare [Htaken Hpays]].
    enough ((c1 + c2) ^ 2 + (quartic d u v - 2 * (c1 * c2) * (1 - dot_product d u v)) <= (1 + e) ^ 2) by lra.
    destruct Hh as [Hh | Hh], Hh' as [Hh' | Hh'].
    + assert (Hc : c1 + c2 = 1 - e) by (unfold c1, c2; lra); rewrite Hc; lra.
    + assert (Hc : c1 + c2 = - e) by (unfold c1, c2; lra); rewrite Hc; lra.
    + assert (Hc : c1 + c2 = - e) by (unfold c1, c2; lra); rewrite Hc; lra.
    + assert (Hlarge : 1 / 16 <= c1 * c2).
      { replace (c1 * c2) with (1 / 4 + (a + a') / 2 + a * a') by (unfold c1, c2; rewrite Hh, Hh'; field);
          lra. }
      specialize (Hpays Hlarge).
      assert (Hc : c1 + c2 = - (1 + e)) by (unfold c1, c2; lra); rewrite Hc; lra.
  - assert (Hp : 0 <= - c1 * c2) by (apply Rmult_le_pos; lra).
    assert (P1 := against_the_pull c1 (dot_product d u w) H1 Hp0).
    assert (P2 := with_the_pull c2 (dot_product d v w) (Rlt_le _ _ H2) Hqe).
    assert (P3 := opposite_signs_le c1 c2 ltac:(lra)).
    assert (P4 : c1 ^ 2 + c2 ^ 2 + 2 * c2 * e + 1 / 16 <= (1 + e) ^ 2)
      by (apply half_with_the_pull; unfold c1, c2 in *; destruct Hh, Hh'; lra).
    lra.
  - assert (Hp : 0 <= c1 * - c2) by (apply Rmult_le_pos; lra).
    assert (P1 := with_the_pull c1 (dot_product d u w) (Rlt_le _ _ H1) Hpe).
    assert (P2 := against_the_pull c2 (dot_product d v w) H2 Hq0).
    assert (P3 := opposite_signs_le c1 c2 ltac:(lra)).
    assert (P4 : c2 ^ 2 + c1 ^ 2 + 2 * c1 * e + 1 / 16 <= (1 + e) ^ 2)
      by (apply half_with_the_pull; unfold c1, c2 in *; destruct Hh, Hh'; lra).
    lra.
  - (* both with the pull: half = half' = 1/2 *)
    assert (P1 := with_the_pull c1 (dot_product d u w) (Rlt_le _ _ H1) Hpe).
    assert (P2 := with_the_pull c2 (dot_product d v w) (Rlt_le _ _ H2) Hqe).
    assert (Hp : 0 <= c1 * c2) by (apply Rmult_le_pos; lra).
    destruct (same_sign_le c1 c2 Hp) as [Hsquare [Htaken Hpays]].
    assert (E1 : half = 1 / 2) by (unfold c1 in *; destruct Hh; lra).
    assert (E2 : half' = 1 / 2) by (unfold c2 in *; destruct Hh'; lra).
    assert (Hpull : 2 * c1 * e + 2 * c2 * e = 2 * (1 - e) * e) by (unfold c1, c2; rewrite E1, E2, <- Hsum;
      field).
    assert (Hc : c1 + c2 = 1 - e) by (unfold c1, c2; lra); rewrite Hc in Hsquare.
    destruct (Rle_or_lt e (3 / 8)) as [Hs | Hs]; [| lra].
    assert (Hlarge : 1 / 16 <= c1 * c2).
    { replace (c1 * c2) with (1 / 4 - (a + a') / 2 + a * a') by (unfold c1, c2; rewrite E1, E2; field); lra. }
    specialize (Hpays Hlarge); lra.
Qed.

(** The group stays: no pull. *)
Lemma group_stays : forall h half half', - e <= h <= e ->
  half = 1 / 2 \/ half = - (1 / 2) -> half' = 1 / 2 \/ half' = - (1 / 2) ->
  sum_over (coordinates d) (fun i => ((half + h) * u i - (half' + h) * v i) ^ 2) + quartic d u v
  <= (1 + e) ^ 2 + e ^ 2.
Proof.
  intros h half half' Hh H1 H2.
  rewrite (sum_ext _ _ (fun i => ((half + h) * u i + (- (half' + h)) * v i + 0) ^ 2)) by (intros; ring).
  rewrite (expand_three d (half + h) (- (half' + h)) u v (fun _ => 0)).
  assert (Hz : forall f, dot_product d f (fun _ => 0) = 0) by (intros f; apply sum_zero; intros; ring).
  rewrite !Hz; destruct dots as [[Hs0 _] [_ [_ [_ Hquartic]]]].
  set (c1 := half + h); set (c2 := - (half' + h)).
  assert (S1 := proj1 (squares_le c1)); assert (S2 := proj2 (squares_le c2)).
  assert (He2 : 0 <= e ^ 2) by apply pow2_ge_0.
  assert (Hh2 : h ^ 2 <= e ^ 2) by (apply square_le, Rabs_le; lra).
  destruct (Rle_or_lt (c1 * c2) 0) as [Hp | Hp].
  - assert (P := opposite_signs_le c1 c2 Hp).
    assert (C1 : c1 ^ 2 <= (1 / 2 + e) ^ 2) by (apply square_le, Rabs_le; unfold c1; destruct H1 as [-> | ->];
      lra).
    assert (C2 : c2 ^ 2 <= (1 / 2 + e) ^ 2) by (apply square_le, Rabs_le; unfold c2; destruct H2 as [-> | ->];
      lra).
    lra.
  - (* a positive product: the labels differ *)
    assert (E : c1 * c2 = 1 / 4 - h ^ 2 /\ c1 ^ 2 + c2 ^ 2 = 2 * h ^ 2 + 1 / 2).
    { unfold c1, c2 in *; destruct H1 as [-> | ->], H2 as [-> | ->]; (split; [field | field]) ||
        (exfalso; assert (0 <= (1 / 2 + h) ^ 2) by apply pow2_ge_0; assert (0 <= (- (1 / 2) + h) ^ 2)
          by apply pow2_ge_0; lra). }
    destruct E as [E1 E2]; destruct dots as [[_ Hs1] [_ [_ [Hangle _]]]]; rewrite E1.
    assert (0 <= h ^ 2 * dot_product d u v) by (apply Rmult_le_pos; [apply pow2_ge_0 | exact Hs0]); lra.
Qed.

End Vectors.

Section Upper.

Variable d : nat.
Variable before after : dataset.
Variable t t' : record.
Let D := before ++ t :: after.
Let D' := before ++ t' :: after.
Let others := before ++ after.
Let n := length D.
Hypothesis ball_t : unit_ball d t.
Hypothesis ball_t' : unit_ball d t'.
Hypothesis ball_others : Forall (unit_ball d) others.

Let K := INR (length others).
Let m := sum_over others (fun o => number (protected o)).
Let mean_pull (alpha : R) (e : nat) : R := alpha / (K + 1) * sum_over others (fun o => attribute o e).

Lemma covariance_sum : forall e,
  fairness_sum (Covariance true) (zbar D) (zbar D') t t' others e =
  (number (protected t) - zbar D) * attribute t e - (number (protected t') - zbar D') * attribute t' e
  + (zbar D' - zbar D) * sum_over others (fun o => attribute o e).
Proof.
  intros e; unfold fairness_sum; cbn [fairness_factor]; f_equal; rewrite <- sum_scal; apply sum_ext; intros;
    ring.
Qed.

Lemma covariance_flip : forall e,
  fairness_sum (Covariance false) (zbar D) (zbar D') t t' others e =
  - fairness_sum (Covariance true) (zbar D) (zbar D') t t' others e.
Proof.
  intros e; rewrite covariance_sum; unfold fairness_sum; cbn [fairness_factor].
  rewrite (sum_ext others _ (fun o => (zbar D - zbar D') * attribute o e)) by (intros; ring);
    rewrite sum_scal; ring.
Qed.

(** *** How hard the other records pull *)

Lemma pull_nonneg : forall alpha i, 0 <= alpha -> (i < d)%nat -> 0 <= mean_pull alpha i.
Proof.
  intros alpha i Ha Hi; assert (HK : 0 <= K) by apply pos_INR; apply Rmult_le_pos.
  - apply Rmult_le_pos; [exact Ha | apply Rlt_le, Rinv_0_lt_compat; lra].
  - apply sum_nonneg; intros o Ho; apply (proj1 (Forall_forall _ _) ball_others o Ho); exact Hi.
Qed.

Lemma pull_limit : drift_limit n = K / (K + 1).
Proof. apply nu_K. Qed.

Lemma pull_limit_nonneg : forall alpha, 0 <= alpha -> 0 <= alpha * drift_limit n.
Proof.
  intros alpha Ha; assert (HK : 0 <= K) by apply pos_INR; rewrite pull_limit.
  repeat apply Rmult_le_pos; [exact Ha | exact HK | apply Rlt_le, Rinv_0_lt_compat; lra].
Qed.

Lemma pull_le : forall alpha,
  dot_product d (mean_pull alpha) (mean_pull alpha) <= (alpha * drift_limit n) ^ 2.
Proof.
  intros alpha; assert (HK : 0 <= K) by apply pos_INR; unfold dot_product, mean_pull; rewrite (sum_ext _ _
    (fun i => (alpha / (K + 1)) ^ 2 * sum_over others (fun o => attribute o i) ^ 2)) by (intros; ring).
  rewrite sum_scal; replace ((alpha * drift_limit n) ^ 2) with ((alpha / (K + 1)) ^ 2 * K ^ 2)
    by (rewrite pull_limit; field; lra).
  apply Rmult_le_compat_l; [apply pow2_ge_0 | exact (records_norm d others ball_others)].
Qed.

(** The shares of the pull that come from the others of group 1 and of group 0. *)
Let share_1 (alpha : R) : R := alpha * (m / (K + 1)).
Let share_0 (alpha : R) : R := alpha * ((K - m) / (K + 1)).

Lemma shares : forall alpha, 0 <= alpha ->
  0 <= share_1 alpha /\ 0 <= share_0 alpha /\ share_1 alpha + share_0 alpha = alpha * drift_limit n.
Proof.
  intros alpha Ha; assert (HK : 0 <= K) by apply pos_INR.
  assert (Hm := m_bounds before after); fold others in Hm; fold m K in Hm.
  assert (Hi : 0 < / (K + 1)) by (apply Rinv_0_lt_compat; lra); unfold share_1, share_0, Rdiv.
  split; [repeat apply Rmult_le_pos; lra |]; split; [repeat apply Rmult_le_pos; lra |].
  rewrite pull_limit; field; lra.
Qed.

(** *** The two groups of monomials *)

Lemma quadratic_le : forall r, sum_over (pairs (basis r) d) (fun p =>
    (coefficient r D (Quadratic (fst p) (snd p)) - coefficient r D' (Quadratic (fst p) (snd p))) ^ 2)
  <= quartic d (attribute t) (attribute t').
Proof.
  intros r; eapply Rle_trans; [| apply (quadratic_square_le (basis r))]; right; apply sum_ext; intros p _.
  unfold D, D'; rewrite quadratic_change; reflexivity.
Qed.

(** One sign of the penalty is the other with all labels flipped. *)
Let half (sign : bool) (o : record) : R :=
  if sign then 1 / 2 - number (label o) else - (1 / 2 - number (label o)).

Lemma half_cases : forall sign o, half sign o = 1 / 2 \/ half sign o = - (1 / 2).
Proof. intros sign o; unfold half; destruct sign, (label o); cbn; lra. Qed.

Lemma linear_form : forall r sign i, fairness_term r = Covariance sign ->
  (coefficient r D (Linear i) - coefficient r D' (Linear i)) ^ 2 =
  (half sign t * attribute t i - half sign t' * attribute t' i
   + alpha_1 r * ((number (protected t) - zbar D) * attribute t i
                  - (number (protected t') - zbar D') * attribute t' i
                  + (zbar D' - zbar D) * sum_over others (fun o => attribute o i))) ^ 2.
Proof.
  intros r sign i HF; unfold D at 1, D' at 1; rewrite linear_change; fold D D' others; rewrite HF.
  destruct sign; unfold half.
  - rewrite covariance_sum; reflexivity.
  - rewrite covariance_flip, covariance_sum; ring.
Qed.

Lemma linear_le : forall r sign, 0 <= alpha_1 r -> fairness_term r = Covariance sign ->
  sum_over (coordinates d) (fun i => (coefficient r D (Linear i) - coefficient r D' (Linear i)) ^ 2)
    + quartic d (attribute t) (attribute t')
  <= (1 + alpha_1 r * drift_limit n) ^ 2 + (alpha_1 r * drift_limit n) ^ 2.
Proof.
  intros r sign Hr HF; rewrite (sum_ext (coordinates d) _ _ (fun i _ => linear_form r sign i HF)).
  assert (He := pull_limit_nonneg _ Hr); assert (Hw := pull_le (alpha_1 r)).
  assert (Hw0 := fun i => pull_nonneg (alpha_1 r) i Hr).
  destruct ball_t as [Ht Hu], ball_t' as [Ht' Hv]; rewrite dot_square in Hu, Hv.
  assert (stays := fun a h h' => group_stays d _ _ _ _ He Ht Ht' Hw0 Hu Hv Hw a h h').
  assert (changes := fun a a' h h' => group_changes d _ _ _ _ He Ht Ht' Hw0 Hu Hv Hw a a' h h').
  assert (Hh := half_cases sign t); assert (Hh' := half_cases sign t').
  set (h := half sign t) in *; set (h' := half sign t') in *.
  destruct (shares _ Hr) as [H1 [H0 Hsum]]; set (b := share_1 _) in *; set (b' := share_0 _) in *.
  assert (Hz : zbar D = (m + number (protected t)) / (K + 1)) by apply zbar_D; rewrite Hz.
  assert (Hz' : zbar D' = (m + number (protected t')) / (K + 1)) by apply zbar_D'; rewrite Hz'.
  assert (HK : 0 <= K) by apply pos_INR; destruct (protected t), (protected t'); cbn [number] in *.
  - rewrite (sum_ext _ _ (fun i => ((h + b') * attribute t i - (h' + b') * attribute t' i) ^ 2))
      by (intros; unfold b', share_0; f_equal; field; lra).
    apply stays; try assumption; lra.
  - rewrite (sum_ext _ _ (fun i => ((- h - b') * attribute t i + (- - h' - b) * attribute t' i
      + mean_pull (alpha_1 r) i) ^ 2))
      by (intros; unfold b, b', share_0, share_1, mean_pull; field; lra).
    apply changes; try assumption; lra.
  - rewrite (sum_ext _ _ (fun i => ((h - b) * attribute t i + (- h' - b') * attribute t' i
      + mean_pull (alpha_1 r) i) ^ 2))
      by (intros; unfold b, b', share_0, share_1, mean_pull; f_equal; field; lra).
    apply changes; try assumption; lra.
  - rewrite (sum_ext _ _ (fun i => ((h + - b) * attribute t i - (h' + - b) * attribute t' i) ^ 2))
      by (intros; unfold b, share_1; f_equal; field; lra).
    apply stays; try assumption; lra.
Qed.

Lemma covariance_ball_upper : forall r sign, 0 <= alpha_1 r -> fairness_term r = Covariance sign ->
  l2_change_squared r d all_monomials D D'
    <= (1 + alpha_1 r * drift_limit n) ^ 2 + (alpha_1 r * drift_limit n) ^ 2.
Proof.
  intros r sign Ha HF; unfold l2_change_squared; rewrite filter_all, sum_Phi.
  eapply Rle_trans; [apply Rplus_le_compat_l, quadratic_le | exact (linear_le r sign Ha HF)].
Qed.

End Upper.

(** ** Attainment: the other records sit at another unit vector *)

Definition cov_D (sign : bool) (k : nat) : dataset :=
  Tuple (unit_vector 0) sign false :: repeat (Tuple (unit_vector 1) false false) k.
Definition cov_D' (sign : bool) (k : nat) : dataset :=
  Tuple (unit_vector 0) (negb sign) true :: repeat (Tuple (unit_vector 1) false false) k.

Lemma cov_neighbours : forall sign d k, (2 <= d)%nat ->
  neighbours (S k) (unit_ball d) (cov_D sign k) (cov_D' sign k).
Proof.
  intros sign d k Hd; assert (Hrest : Forall (unit_ball d) (repeat (Tuple (unit_vector 1) false false) k)).
  { apply Forall_forall; intros o Ho; apply repeat_spec in Ho; subst o; apply unit_vector_in_ball; lia. }
  split; [unfold cov_D; cbn [length]; rewrite repeat_length; reflexivity |].
  split; [apply Forall_cons; [apply unit_vector_in_ball; lia | exact Hrest] |].
  split; [apply Forall_cons; [apply unit_vector_in_ball; lia | exact Hrest] |].
  exists [], (Tuple (unit_vector 0) sign false), (Tuple (unit_vector 0) (negb sign) true),
    (repeat (Tuple (unit_vector 1) false false) k); split; reflexivity.
Qed.

Lemma cov_change : forall r sign k i, fairness_term r = Covariance sign ->
  (coefficient r (cov_D sign k) (Linear i) - coefficient r (cov_D' sign k) (Linear i)) ^ 2 =
  (if Nat.eqb i 0 then (1 + alpha_1 r * drift_limit (S k)) ^ 2 else 0)
    + (if Nat.eqb i 1 then (alpha_1 r * drift_limit (S k)) ^ 2 else 0).
Proof.
  intros r sign k i HF.
  set (t := Tuple (unit_vector 0) sign false); set (t' := Tuple (unit_vector 0) (negb sign) true).
  set (rest := repeat (Tuple (unit_vector 1) false false) k).
  change (cov_D sign k) with ([] ++ t :: rest); change (cov_D' sign k) with ([] ++ t' :: rest).
  assert (HK : INR (length ([] ++ rest)) = INR k) by (unfold rest; simpl; rewrite repeat_length; reflexivity).
  assert (Hk : 0 <= INR k) by apply pos_INR.
  assert (Hm : sum_over ([] ++ rest) (fun o => number (protected o)) = 0) by (unfold rest; simpl app;
    rewrite sum_repeat; simpl; ring).
  assert (Hnu : drift_limit (S k) = INR k / (INR k + 1)) by (unfold drift_limit; rewrite S_INR; field; lra).
  rewrite linear_change, zbar_D, zbar_D', Hm, HK, HF; unfold fairness_sum; simpl app; unfold rest;
    rewrite sum_repeat, Hnu.
  unfold unit_vector; destruct sign; cbn [fairness_factor t t' attribute label protected number negb];
    unfold unit_vector;
    destruct (Nat.eqb_spec i 0) as [-> | H0]; try (cbn [Nat.eqb]; field; lra);
    destruct (Nat.eqb_spec i 1); field; lra.
Qed.

Theorem ball_l2_covariance_exact : forall r n d sign,
  0 <= alpha_1 r -> fairness_term r = Covariance sign -> (1 <= n)%nat -> (2 <= d)%nat ->
  exact_sensitivity n (unit_ball d) (l2_change_squared r d all_monomials)
    ((1 + alpha_1 r * drift_limit n) ^ 2 + (alpha_1 r * drift_limit n) ^ 2).
Proof.
  intros r n d sign Ha HF Hn Hd; split.
  - intros D D' (Hlen & HD & HD' & before & t & t' & after & -> & ->).
    apply Forall_app in HD; apply Forall_app in HD'; destruct HD as [Hb Ht], HD' as [_ Ht'].
    inversion Ht; inversion Ht'; subst.
    apply covariance_ball_upper with sign; try assumption; apply Forall_app; split; assumption.
  - destruct n as [| k]; [lia |].
    exists (cov_D sign k), (cov_D' sign k); split.
    + apply cov_neighbours; exact Hd.
    + unfold l2_change_squared; rewrite filter_all, sum_Phi.
      rewrite (sum_ext (coordinates d) _ _ (fun i _ => cov_change r sign k i HF)).
      rewrite sum_plus, (sum_delta d 0 (fun _ => (1 + alpha_1 r * drift_limit (S k)) ^ 2)),
        (sum_delta d 1 (fun _ => (alpha_1 r * drift_limit (S k)) ^ 2)) by lia.
      rewrite (sum_zero (pairs _ _)); [ring |].
      intros p _; unfold cov_D, cov_D'.
      change (Tuple (unit_vector 0) sign false :: repeat (Tuple (unit_vector 1) false false) k)
        with ([] ++ Tuple (unit_vector 0) sign false :: repeat (Tuple (unit_vector 1) false false) k).
      change (Tuple (unit_vector 0) (negb sign) true :: repeat (Tuple (unit_vector 1) false false) k)
        with ([] ++ Tuple (unit_vector 0) (negb sign) true :: repeat (Tuple (unit_vector 1) false false) k).
      rewrite quadratic_change; cbn [attribute]; ring.
Qed.
