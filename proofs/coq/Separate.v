(** * The reading [separate]: exact sensitivities

    The covariance vector is released beside the coefficients of plain logistic regression. On the box each
    of its entries moves by at most (n-1)/n, whatever the other coefficients do, and one pair of data sets
    attains all bounds. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Change Box BoxSensitivity Theorem5 Ball CovarianceBall.
Import ListNotations.
Open Scope R_scope.

Lemma covariance_vector_change : forall before after t t' e,
  let D := before ++ t :: after in let D' := before ++ t' :: after in
  covariance_vector D e - covariance_vector D' e =
  (number (protected t) - zbar D) * attribute t e - (number (protected t') - zbar D') * attribute t' e
  + (zbar D' - zbar D) * sum_over (before ++ after) (fun o => attribute o e).
Proof.
  intros before after t t' e D D'; unfold covariance_vector; unfold D at 1, D' at 1; rewrite !sum_middle.
  replace ((zbar D' - zbar D) * sum_over (before ++ after) (fun o => attribute o e))
    with (sum_over (before ++ after) (fun o => (number (protected o) - zbar D) * attribute o e)
          - sum_over (before ++ after) (fun o => (number (protected o) - zbar D') * attribute o e)); [ring |].
  rewrite <- sum_minus, <- sum_scal; apply sum_ext; intros; ring.
Qed.

Lemma largest_ext : forall f g d, (forall k, f k = g k) -> largest f d = largest g d.
Proof. intros f g d H; induction d as [| d IH]; cbn [largest]; rewrite ?IH, H; reflexivity. Qed.

(** ** The box *)

Lemma covariance_vector_box : forall n d D D' e, neighbours n (unit_box d) D D' -> (e < d)%nat ->
  Rabs (covariance_vector D e - covariance_vector D' e) <= drift_limit n.
Proof.
  intros n d D D' e (<- & HD & HD' & before & t & t' & after & -> & ->) He.
  apply Forall_app in HD; apply Forall_app in HD'; destruct HD as [Hb Ht], HD' as [_ Ht'].
  inversion Ht; inversion Ht'; subst; rewrite covariance_vector_change.
  rewrite <- covariance_sum; change (drift_limit (length (before ++ t :: after)))
    with (fairness_gain (Covariance true) (length (before ++ t :: after))).
  apply (fairness_sum_le d before after t t'); try assumption; apply Forall_app; split; assumption.
Qed.

(** One record goes from q to the vector of ones; all others are zero. *)
Definition separate_D (q : nat -> R) (k : nat) : dataset :=
  Tuple q true false :: repeat (Tuple zeros false false) k.
Definition separate_D' (k : nat) : dataset := Tuple ones false true :: repeat (Tuple zeros false false) k.

Lemma separate_neighbours : forall d q k, in_box d q ->
  neighbours (S k) (unit_box d) (separate_D q k) (separate_D' k).
Proof.
  intros d q k Hq; assert (Hrest : Forall (unit_box d) (repeat (Tuple zeros false false) k)).
  { apply Forall_forall; intros o Ho; apply repeat_spec in Ho; subst o; intros e _; cbn; unfold zeros; lra. }
  split; [unfold separate_D; simpl; rewrite repeat_length; reflexivity |].
  split; [constructor; [exact Hq | exact Hrest] |].
  split; [constructor; [intros e _; cbn; unfold ones; lra | exact Hrest] |].
  exists [], (Tuple q true false), (Tuple ones false true), (repeat (Tuple zeros false false) k); split;
    reflexivity.
Qed.

Lemma separate_changes : forall b d q k, in_box d q ->
  (forall phi, In phi (Phi b d) -> Rabs (coefficient (Reading b NoFairness 0) (separate_D q k) phi
      - coefficient (Reading b NoFairness 0) (separate_D' k) phi)
          = box_bound (Reading b NoFairness 0) (S k) q phi) /\
  (forall e, covariance_vector (separate_D q k) e - covariance_vector (separate_D' k) e
    = - drift_limit (S k)).
Proof.
  intros b d q k Hq.
  set (t := Tuple q true false); set (t' := Tuple ones false true);
    set (rest := repeat (Tuple zeros false false) k).
  change (separate_D q k) with ([] ++ t :: rest); change (separate_D' k) with ([] ++ t' :: rest); split.
  - intros phi Hphi; apply in_Phi in Hphi; destruct phi as [e | e l]; cbn [box_bound].
    + rewrite linear_change; unfold linear_gain;
        cbn [alpha_1 fairness_term fairness_gain attribute label t t' number].
      specialize (Hq e Hphi); unfold ones; rewrite Rabs_left1; lra.
    + rewrite quadratic_change; cbn [basis attribute t t']; unfold ones.
      generalize (quadratic_factor_pos b e l) (Hq e (proj1 Hphi)) (Hq l (proj2 Hphi)); intros.
      rewrite Rabs_mult, (Rabs_right (quadratic_factor b e l)) by lra; f_equal.
      rewrite Rabs_left1; [ring | nra].
  - intros e; rewrite covariance_vector_change, zbar_D, zbar_D'.
    assert (Hk : 0 <= INR k) by apply pos_INR.
    assert (HK : INR (length ([] ++ rest)) = INR k) by (unfold rest; simpl; rewrite repeat_length;
      reflexivity).
    rewrite HK; unfold rest; simpl app; rewrite !sum_repeat; cbn [attribute protected t t' number];
      unfold ones, zeros, drift_limit.
    rewrite S_INR; field; lra.
Qed.

Theorem separate_l1_exact : forall b n d, (1 <= n)%nat -> (1 <= d)%nat ->
  exact_sensitivity n (unit_box d) (separate_l1_change b d)
    (INR d * (1 / 2 + drift_limit n) + INR d ^ 2 / 8 + (if (2 <=? d)%nat then 1 / 2 else 3 / 8)).
Proof.
  intros b n d Hn Hd; set (r := Reading b NoFairness 0).
  replace (INR d * (1 / 2 + drift_limit n) + INR d ^ 2 / 8 + (if (2 <=? d)%nat then 1 / 2 else 3 / 8))
    with (box_l1 r n d + INR d * drift_limit n) by (unfold box_l1, linear_gain; cbn; ring).
  split.
  - intros D D' H; apply Rplus_le_compat.
    + apply (proj1 (box_l1_exact r n d (Rle_refl 0) Hn Hd)); exact H.
    + rewrite <- sum_coordinates_const; apply sum_le; intros e He; apply in_coordinates in He.
      apply covariance_vector_box with d; assumption.
  - destruct n as [| k]; [lia |]; set (i := Nat.min 2 d).
    exists (separate_D (first_ones i) k), (separate_D' k).
    split; [apply separate_neighbours, first_ones_in_box |].
    destruct (separate_changes b d (first_ones i) k (first_ones_in_box d i)) as [Hc Hg].
    destruct (nu_bounds (S k) Hn) as [Hnu _]; unfold separate_l1_change; fold r; f_equal.
    + rewrite (l1_change_eq r (S k) d (first_ones i)) by exact Hc.
      rewrite (sum_l1 r), sum_first_ones by (unfold i; lia); unfold box_l1, i.
      destruct (Nat.leb_spec 2 d) as [H2 | H2].
      * rewrite Nat.min_l by lia; simpl (INR 2); field.
      * replace d with 1%nat by lia; simpl; field.
    + rewrite <- sum_coordinates_const; apply sum_ext; intros e _; rewrite Hg, Rabs_Ropp; apply Rabs_right;
        lra.
Qed.

Theorem separate_l2_exact : forall b n d, (1 <= n)%nat ->
  exact_sensitivity n (unit_box d) (separate_l2_change_squared b d)
    (largest (fun k => INR d / 4 + INR k * (3 / 4) +
      match b with
      | MatrixBasis => (INR d ^ 2 - INR k ^ 2) / 64
      | MonomialBasis => (2 * INR d ^ 2 - INR d - 2 * INR k ^ 2 + INR k) / 64
      end) d + INR d * drift_limit n ^ 2).
Proof.
  intros b n d Hn; set (r := Reading b NoFairness 0).
  rewrite (largest_ext _ (box_l2_squared_at r n d)) by
    (intros k; unfold box_l2_squared_at, linear_gain, r; cbn [alpha_1 fairness_term basis fairness_gain];
      destruct b; field).
  fold (box_l2_squared r n d); split.
  - intros D D' H; apply Rplus_le_compat.
    + apply (proj1 (box_l2_exact r n d (Rle_refl 0) Hn)); exact H.
    + rewrite <- sum_coordinates_const; apply sum_le; intros e He; apply in_coordinates in He.
      apply square_le, covariance_vector_box with d; assumption.
  - destruct n as [| k]; [lia |].
    destruct (largest_attained (box_l2_squared_at r (S k) d) d) as [i [Hi Hmax]].
    exists (separate_D (first_ones i) k), (separate_D' k).
    split; [apply separate_neighbours, first_ones_in_box |].
    destruct (separate_changes b d (first_ones i) k (first_ones_in_box d i)) as [Hc Hg].
    unfold separate_l2_change_squared; fold r; f_equal.
    + unfold box_l2_squared; rewrite Hmax, <- l2_of_first_ones by exact Hi.
      unfold l2_change_squared, l2_of_q; rewrite filter_all; apply sum_ext; intros phi Hphi.
      assert (E := Hc phi Hphi); fold r in E; rewrite <- E, pow2_abs; reflexivity.
    + rewrite <- sum_coordinates_const; apply sum_ext; intros e _; rewrite Hg; ring.
Qed.

(** ** The ball: 1 for the coefficients, and (n-1)/n twice, at two coordinates, for the covariance vector *)

(** A nonnegative combination of two records of the ball against a nonnegative vector. *)
Lemma combination_against : forall d a a' c (u v w : nat -> R), 0 <= a -> 0 <= a' ->
  (forall i, (i < d)%nat -> 0 <= u i) -> (forall i, (i < d)%nat -> 0 <= v i) ->
    (forall i, (i < d)%nat -> 0 <= w i) ->
  dot_product d u u <= 1 -> dot_product d v v <= 1 -> dot_product d w w <= c ^ 2 ->
  sum_over (coordinates d) (fun i => (a * u i + a' * v i + - w i) ^ 2) <= (a + a') ^ 2 + c ^ 2.
Proof.
  intros d a a' c u v w Ha Ha' Pu Pv Pw Hu Hv Hw; rewrite (expand_three d a a' u v (fun i => - w i)).
  assert (E : forall f, dot_product d f (fun i => - w i) = - dot_product d f w).
  { intros f; unfold dot_product; rewrite <- (Rmult_1_l (- sum_over _ _)),
      <- Ropp_mult_distr_r, Ropp_mult_distr_l,
      <- sum_scal.
    apply sum_ext; intros; ring. }
  assert (Eww : dot_product d (fun i => - w i) (fun i => - w i) = dot_product d w w)
    by (apply sum_ext; intros; ring).
  rewrite Eww, !E.
  assert (Huv : dot_product d u v <= 1) by (apply dot_le; [lra | exact Hu | rewrite pow1; exact Hv]).
  assert (P1 : a ^ 2 * dot_product d u u <= a ^ 2 * 1)
    by (apply Rmult_le_compat_l; [apply pow2_ge_0 | exact Hu]).
  assert (P2 : a' ^ 2 * dot_product d v v <= a' ^ 2 * 1)
    by (apply Rmult_le_compat_l; [apply pow2_ge_0 | exact Hv]).
  assert (P3 : a * a' * dot_product d u v <= a * a' * 1) by (apply Rmult_le_compat_l; [apply Rmult_le_pos |];
    assumption).
  assert (P4 : 0 <= a * dot_product d u w) by (apply Rmult_le_pos; [exact Ha | apply dot_pos; assumption]).
  assert (P5 : 0 <= a' * dot_product d v w) by (apply Rmult_le_pos; [exact Ha' | apply dot_pos; assumption]).
  lra.
Qed.

Lemma covariance_vector_ball : forall n d D D', neighbours n (unit_ball d) D D' ->
  sum_over (coordinates d) (fun e => (covariance_vector D e - covariance_vector D' e) ^ 2)
    <= 2 * drift_limit n ^ 2.
Proof.
  intros n d D D' (<- & HD & HD' & before & t & t' & after & -> & ->).
  apply Forall_app in HD; apply Forall_app in HD'; destruct HD as [Hb Ht], HD' as [_ Ht'].
  inversion Ht as [| ? ? Bt Ha]; inversion Ht' as [| ? ? Bt' _]; subst.
  assert (Ho : Forall (unit_ball d) (before ++ after)) by (apply Forall_app; split; assumption).
  assert (Hnorm := records_norm d _ Ho); assert (Hm := m_bounds before after).
  rewrite (sum_ext _ _ (fun e => ((number (protected t) - zbar (before ++ t :: after)) * attribute t e
    - (number (protected t') - zbar (before ++ t' :: after)) * attribute t' e
    + (zbar (before ++ t' :: after) - zbar (before ++ t :: after)) * sum_over (before ++ after)
        (fun o => attribute o e)) ^ 2))
    by (intros; rewrite covariance_vector_change; reflexivity).
  rewrite zbar_D, zbar_D', nu_K.
  set (m := sum_over (before ++ after) (fun o => number (protected o))) in *;
    set (K := INR (length (before ++ after))) in *.
  set (X := fun e => sum_over (before ++ after) (fun o => attribute o e)) in *.
  assert (HK : 0 <= K) by apply pos_INR; assert (Hi : 0 < / (K + 1)) by (apply Rinv_0_lt_compat; lra).
  assert (Ht2 : dot_product d (attribute t) (attribute t) <= 1) by (rewrite <- dot_square; apply Bt).
  assert (Ht2' : dot_product d (attribute t') (attribute t') <= 1) by (rewrite <- dot_square; apply Bt').
  assert (Pt : forall i, (i < d)%nat -> 0 <= attribute t i) by apply Bt.
  assert (Pt' : forall i, (i < d)%nat -> 0 <= attribute t' i) by apply Bt'.
  assert (PX : forall i, (i < d)%nat -> 0 <= / (K + 1) * X i).
  { intros i Hd; apply Rmult_le_pos; [lra |]; apply sum_nonneg; intros o Hin.
    rewrite Forall_forall in Ho; apply (Ho o Hin); exact Hd. }
  assert (HX : dot_product d (fun i => / (K + 1) * X i) (fun i => / (K + 1) * X i) <= (K / (K + 1)) ^ 2).
  { unfold dot_product; rewrite (sum_ext _ _ (fun i => (/ (K + 1)) ^ 2 * X i ^ 2)) by (intros; ring);
      rewrite sum_scal.
    unfold Rdiv; rewrite Rpow_mult_distr, Rmult_comm; apply Rmult_le_compat_r;
      [apply pow2_ge_0 | exact Hnorm]. }
  assert (Hp : 0 <= m * / (K + 1)) by (apply Rmult_le_pos; lra).
  assert (Hq : 0 <= (K - m) * / (K + 1)) by (apply Rmult_le_pos; lra).
  (* the group stays: h (x - x') with h between 0 and (n-1)/n, up to its sign *)
  assert (Hstay : forall h, 0 <= h <= K / (K + 1) ->
    sum_over (coordinates d) (fun i => (h * attribute t i + 0 * attribute t' i + - (h * attribute t' i)) ^ 2)
      <= 2 * (K / (K + 1)) ^ 2).
  { intros h Hh; assert (h ^ 2 <= (K / (K + 1)) ^ 2) by (apply square_le, Rabs_le; lra).
    eapply Rle_trans; [apply (combination_against d h 0 h (attribute t) (attribute t')
      (fun i => h * attribute t' i)); try assumption;
      try lra |].
    - intros i Hd; apply Rmult_le_pos; [lra | apply Pt'; exact Hd].
    - unfold dot_product; rewrite (sum_ext _ _ (fun i => h ^ 2 * (attribute t' i * attribute t' i)))
        by (intros; ring);
        rewrite sum_scal.
      fold (dot_product d (attribute t') (attribute t')); rewrite <- (Rmult_1_r (h ^ 2)) at 2;
        apply Rmult_le_compat_l;
        [apply pow2_ge_0 | exact Ht2'].
    - lra. }
  (* the group changes: weights n0 and n1 on the two records, and the mean of the others *)
  assert (Hchange : forall a a', 0 <= a -> 0 <= a' -> a + a' = K / (K + 1) ->
    sum_over (coordinates d) (fun i => (a * attribute t i + a' * attribute t' i + - (/ (K + 1) * X i)) ^ 2)
      <= 2 * (K / (K + 1)) ^ 2).
  { intros a a' Pa Pa' Hsum; eapply Rle_trans; [apply combination_against; try eassumption |]; rewrite Hsum;
      lra. }
  destruct (protected t), (protected t'); cbn [number].
  - rewrite (sum_ext _ _ (fun i => ((K - m) * / (K + 1) * attribute t i + 0 * attribute t' i +
      - ((K - m) * / (K + 1) * attribute t' i)) ^ 2))
      by (intros; f_equal; field; lra).
    apply Hstay; unfold Rdiv; split; [exact Hq | apply Rmult_le_compat_r; lra].
  - rewrite (sum_ext _ _ (fun i => ((K - m) * / (K + 1) * attribute t i + m * / (K + 1) * attribute t' i +
      - (/ (K + 1) * X i)) ^ 2))
      by (intros; unfold X; f_equal; field; lra).
    apply Hchange; [exact Hq | exact Hp | field; lra].
  - rewrite (sum_ext _ _ (fun i => (m * / (K + 1) * attribute t i + (K - m) * / (K + 1) * attribute t' i +
      - (/ (K + 1) * X i)) ^ 2))
      by (intros; unfold X; field; lra).
    apply Hchange; [exact Hp | exact Hq | field; lra].
  - rewrite (sum_ext _ _ (fun i => (m * / (K + 1) * attribute t i + 0 * attribute t' i + -
      (m * / (K + 1) * attribute t' i)) ^ 2))
      by (intros; field; lra).
    apply Hstay; unfold Rdiv; split; [exact Hp | apply Rmult_le_compat_r; lra].
Qed.

Theorem separate_ball_l2_exact : forall b n d, (1 <= n)%nat -> (2 <= d)%nat ->
  exact_sensitivity n (unit_ball d) (separate_l2_change_squared b d) (1 + 2 * drift_limit n ^ 2).
Proof.
  intros b n d Hn Hd; set (r := Reading b NoFairness 0).
  assert (Hplain : exact_sensitivity n (unit_ball d) (l2_change_squared r d all_monomials) (1 ^ 2)).
  { apply (ball_l2_exact r n d (Rle_refl 0) Hn); [lia | intros sign; discriminate]. }
  split.
  - intros D D' H; apply Rplus_le_compat; [rewrite <- (pow1 2); apply (proj1 Hplain); exact H |].
    apply covariance_vector_ball; exact H.
  - destruct n as [| k]; [lia |]; exists (cov_D true k), (cov_D' true k); split.
    + apply cov_neighbours; exact Hd.
    + set (t := Tuple (unit_vector 0) true false); set (t' := Tuple (unit_vector 0) false true).
      set (rest := repeat (Tuple (unit_vector 1) false false) k).
      change (cov_D true k) with ([] ++ t :: rest); change (cov_D' true k) with ([] ++ t' :: rest).
      unfold separate_l2_change_squared, l2_change_squared; rewrite filter_all, sum_Phi.
      rewrite (sum_zero (pairs _ _)) by (intros p _; rewrite quadratic_change; cbn [t t' attribute]; ring).
      rewrite (sum_ext (coordinates d) _ (fun i => if Nat.eqb i 0 then 1 else 0)).
      * rewrite (sum_delta d 0 (fun _ => 1)) by lia.
        rewrite (sum_ext (coordinates d) _
          (fun i => (if Nat.eqb i 0 then drift_limit (S k) ^ 2 else 0) +
            (if Nat.eqb i 1 then drift_limit (S k) ^ 2 else 0))).
        -- rewrite sum_plus, (sum_delta d 0 (fun _ => drift_limit (S k) ^ 2)),
             (sum_delta d 1 (fun _ => drift_limit (S k) ^ 2))
             by lia; ring.
        -- intros i _; rewrite covariance_vector_change, zbar_D, zbar_D'.
           assert (Hk : 0 <= INR k) by apply pos_INR.
           assert (HK : INR (length ([] ++ rest)) = INR k) by (unfold rest; simpl; rewrite repeat_length;
             reflexivity).
           rewrite HK; unfold rest; simpl app; rewrite !sum_repeat; cbn [attribute protected t t' number];
             unfold drift_limit;
             rewrite S_INR.
           unfold unit_vector; destruct (Nat.eqb_spec i 0) as [-> | H0]; [cbn [Nat.eqb]; field; lra |].
           destruct (Nat.eqb_spec i 1); field; lra.
      * intros i _; rewrite linear_change; unfold r; cbn [alpha_1 attribute label t t' number];
          unfold unit_vector.
        destruct (Nat.eqb i 0); field.
Qed.
