(** * The Gaussian profile by whole numbers

    With S t the sum of t^(2k+1) / (1 3 5 ... (2k+1)), the profile of a shift nu is (1 - exp epsilon) / 2 +
    (S b - S a) / (exp (a^2 / 2) sqrt (2 pi)), where a and b are epsilon / nu - nu / 2 and epsilon / nu +
    nu / 2. Both exp and S are sums of positive terms: each is the one before it times z / m, where m grows
    by a fixed step. Once the terms halve, twice the next one bounds the rest. We compute all sums from whole
    numbers and round each end to its side. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal Gaussian ExtendedGaussian SigmaBound Tails.
Open Scope R_scope.

(** ** Rational numbers *)

Lemma Q2R_of_nat : forall k, Q2R (inject_Z (Z.of_nat k)) = INR k.
Proof. intros k; unfold inject_Z; rewrite Q2R_literal, <- INR_IZR_INZ; reflexivity. Qed.

Lemma numerator_nonneg : forall q, 0 <= Q2R q -> (0 <= Qnum q)%Z.
Proof.
  intros q H; destruct (Z_lt_le_dec (Qnum q) 0) as [Hneg | Hok]; [exfalso | exact Hok].
  assert (Hden : 0 < / IZR (Z.pos (Qden q))) by (apply Rinv_0_lt_compat, (IZR_lt 0), Pos2Z.is_pos).
  apply IZR_lt in Hneg; unfold Q2R in H; nra.
Qed.

Lemma Q2R_half : forall q, Q2R (q / 2) = Q2R q / 2.
Proof. intros q; unfold Qdiv; rewrite Q2R_mult, Q2R_inv by discriminate; rewrite (Q2R_literal 2);
  reflexivity. Qed.

Lemma Qle_bool_false : forall p q, Qle_bool p q = false -> Q2R q < Q2R p.
Proof.
  intros p q H; apply Qlt_Rlt, Qnot_le_lt; intros E; apply Qle_bool_iff in E; congruence.
Qed.

Lemma Q2R_div : forall p q, 0 < Q2R q -> Q2R (p / q) = Q2R p / Q2R q.
Proof.
  intros p q Hq; unfold Qdiv; rewrite Q2R_mult, Q2R_inv; [reflexivity |].
  intros E; apply Qeq_eqR in E; rewrite RMicromega.Q2R_0 in E; lra.
Qed.

Lemma Q_strict : forall a b, negb (Qle_bool a b) = true -> Q2R b < Q2R a.
Proof. intros a b H; apply negb_true_iff in H; apply Qle_bool_false, H. Qed.

Lemma Q2R_nonneg : forall q, (0 <= Qnum q)%Z -> 0 <= Q2R q.
Proof.
  intros q H; unfold Q2R; apply Rmult_le_pos; [apply (IZR_le 0), H |].
  left; apply Rinv_0_lt_compat, (IZR_lt 0), Pos2Z.is_pos.
Qed.

(** ** The sums *)

Fixpoint series_term (first z m step : R) (k : nat) : R :=
  match k with
  | O => first
  | S k' => series_term first z m step k' * z / (m + INR k' * step)
  end.

Fixpoint series_sum (first z m step : R) (k : nat) : R :=
  match k with
  | O => 0
  | S k' => series_sum first z m step k' + series_term first z m step k'
  end.

(** y^k / k! and its partial sums. *)
Definition exp_term (k : nat) (y : R) : R := series_term 1 y 1 1 k.
Definition exp_partial (k : nat) (y : R) : R := series_sum 1 y 1 1 k.

(** t^(2k+1) / (1 3 5 ... (2k+1)) and its partial sums. *)
Definition odd_term (k : nat) (t : R) : R := series_term t (t * t) 3 2 k.
Definition odd_partial (k : nat) (t : R) : R := series_sum t (t * t) 3 2 k.

Lemma term_nonneg : forall first z m step k, 0 <= first -> 0 <= z -> 0 < m -> 0 <= step ->
  0 <= series_term first z m step k.
Proof.
  intros first z m step k Hf Hz Hm Hs; induction k as [| k IH]; [exact Hf |]; cbn [series_term].
  assert (Hk := pos_INR k); apply Rmult_le_pos; [apply Rmult_le_pos; assumption |].
  left; apply Rinv_0_lt_compat; nra.
Qed.

Lemma next_of_terms : forall first z m step k,
  series_term first z m step (S k) = / (m + INR k * step) * (series_term first z m step k * z).
Proof. intros; cbn [series_term]; unfold Rdiv; ring. Qed.

Lemma halved_at_least : forall first z m step k, 0 <= first -> 0 <= z -> 0 < m -> 0 <= step ->
  2 * z <= m + INR k * step -> 2 * series_term first z m step (S k) <= series_term first z m step k.
Proof.
  intros first z m step k Hf Hz Hm Hs H; assert (Ht := term_nonneg first z m step k Hf Hz Hm Hs).
  assert (Hk := pos_INR k); cbn [series_term]; apply Rmult_le_reg_r with (m + INR k * step); [nra |].
  unfold Rdiv; rewrite <- Rmult_assoc, (Rmult_assoc _ (/ _)), Rinv_l by nra; nra.
Qed.

(** *** Derivatives *)

Lemma exp_term_derivative : forall k y, is_derive (exp_term (S k)) y (exp_term k y).
Proof.
  unfold exp_term; induction k as [| k IH]; intros y.
  - cbn [series_term INR]; auto_derive; [trivial | field].
  - assert (Hk := pos_INR k).
    apply derive_value with (/ (1 + INR (S k) * 1) * (exp_term k y * y + exp_term (S k) y * 1)).
    + apply is_derive_ext with (fun u => / (1 + INR (S k) * 1) * (exp_term (S k) u * u)).
      * intros u; unfold exp_term; symmetry; apply next_of_terms.
      * apply derive_scal, (derive_mult (exp_term (S k)) (fun u => u)); [apply IH |].
        auto_derive; trivial.
    + unfold exp_term; cbn [series_term]; rewrite S_INR; field; split; lra.
Qed.

Lemma exp_partial_derivative : forall k y, is_derive (exp_partial (S k)) y (exp_partial k y).
Proof.
  unfold exp_partial; induction k as [| k IH]; intros y; cbn [series_sum].
  - cbn [series_term]; auto_derive; [trivial | ring].
  - apply (derive_plus (fun u => series_sum 1 u 1 1 (S k)) (exp_term (S k))); [apply IH |].
    apply exp_term_derivative.
Qed.

Lemma odd_term_derivative : forall k t, is_derive (odd_term (S k)) t (t * odd_term k t).
Proof.
  unfold odd_term; induction k as [| k IH]; intros t.
  - cbn [series_term INR]; auto_derive; [trivial | field].
  - assert (Hk := pos_INR k).
    apply derive_value
      with (/ (3 + INR (S k) * 2) * (t * odd_term k t * (t * t) + odd_term (S k) t * (2 * t))).
    + apply is_derive_ext with (fun u => / (3 + INR (S k) * 2) * (odd_term (S k) u * (u * u))).
      * intros u; unfold odd_term; symmetry; apply next_of_terms.
      * apply derive_scal, (derive_mult (odd_term (S k)) (fun u => u * u)); [apply IH |].
        auto_derive; [trivial | real_ring].
    + unfold odd_term; cbn [series_term]; rewrite S_INR; field; split; lra.
Qed.

Lemma odd_partial_derivative : forall k t, is_derive (odd_partial (S k)) t (1 + t * odd_partial k t).
Proof.
  unfold odd_partial; induction k as [| k IH]; intros t; cbn [series_sum].
  - cbn [series_term]; auto_derive; [trivial | ring].
  - apply derive_value with (1 + t * odd_partial k t + t * odd_term k t).
    + apply (derive_plus (fun u => series_sum u (u * u) 3 2 (S k)) (odd_term (S k))); [apply IH |].
      apply odd_term_derivative.
    + unfold odd_partial, odd_term; ring.
Qed.

(** *** What the sums are at 0 *)

Lemma term_at_0 : forall first m step k, series_term first 0 m step (S k) = 0.
Proof. intros first m step k; cbn [series_term]; unfold Rdiv; ring. Qed.

Lemma partial_at_0 : forall first m step k, series_sum first 0 m step (S k) = first.
Proof.
  intros first m step k; induction k as [| k IH]; [cbn; ring |].
  cbn [series_sum] in *; rewrite IH, term_at_0; ring.
Qed.

(** ** The exponential between a partial sum and the same with twice the next term *)

Definition exp_cover (k : nat) (y : R) : R := exp_partial (S k) y + 2 * exp_term (S k) y.

Lemma exp_cover_derivative : forall k y, is_derive (exp_cover k) y (exp_partial k y + 2 * exp_term k y).
Proof.
  intros k y; apply (derive_plus (exp_partial (S k)) (fun u => 2 * exp_term (S k) u));
    [apply exp_partial_derivative | apply derive_scal, exp_term_derivative].
Qed.

Lemma over_exp_derivative : forall f y df, is_derive f y df ->
  is_derive (fun u => exp (- u) * f u) y (exp (- y) * (df - f y)).
Proof.
  intros f y df H; apply derive_value with (- exp (- y) * f y + exp (- y) * df); [| ring].
  apply (derive_mult (fun u => exp (- u)) f); [auto_derive; [trivial | real_ring] | exact H].
Qed.

Lemma over_exp : forall f y, f 0 = 1 ->
  (exp (- y) * f y <= exp (- 0) * f 0 -> f y <= exp y) /\
  (exp (- 0) * f 0 <= exp (- y) * f y -> exp y <= f y).
Proof.
  intros f y H0; rewrite H0, Ropp_0, exp_0, exp_Ropp; assert (He := exp_pos y).
  split; intros H; (apply Rmult_le_reg_l with (/ exp y); [apply Rinv_0_lt_compat, He |]);
    rewrite Rinv_l by lra; lra.
Qed.

Lemma exp_above_partial : forall k y, 0 <= y -> exp_partial (S k) y <= exp y.
Proof.
  intros k y Hy; apply over_exp; [apply partial_at_0 |].
  apply (derivative_nonpos_le (fun u => exp (- u) * exp_partial (S k) u)
    (fun u => exp (- u) * (exp_partial k u - exp_partial (S k) u)) 0 y Hy).
  - intros u _; apply over_exp_derivative, exp_partial_derivative.
  - intros u [Hu _]; assert (He := exp_pos (- u)).
    assert (Ht : 0 <= exp_term k u) by (apply term_nonneg; lra).
    unfold exp_partial; cbn [series_sum]; fold (exp_term k u); nra.
Qed.

Lemma exp_below_cover : forall k y, 0 <= y -> 2 * y <= 1 + INR k -> exp y <= exp_cover k y.
Proof.
  intros k y Hy Hk; apply over_exp.
  { unfold exp_cover, exp_partial, exp_term; rewrite partial_at_0, term_at_0; ring. }
  apply (derivative_nonneg_le (fun u => exp (- u) * exp_cover k u)
    (fun u => exp (- u) * (exp_partial k u + 2 * exp_term k u - exp_cover k u)) 0 y Hy).
  - intros u _; apply over_exp_derivative, exp_cover_derivative.
  - intros u Hu; assert (He := exp_pos (- u)).
    assert (Hnext : 2 * exp_term (S k) u <= exp_term k u)
      by (apply halved_at_least; lra).
    unfold exp_cover, exp_partial; cbn [series_sum]; fold (exp_term k u); nra.
Qed.

(** ** The integral of the bell over the bell, in the same way *)

Definition bell_ratio (t : R) : R := bell_integral t / bell t.
Definition odd_cover (k : nat) (t : R) : R := odd_partial (S k) t + 2 * odd_term (S k) t.

Lemma bell_ratio_odd : forall t, bell_ratio (- t) = - bell_ratio t.
Proof. intros t; unfold bell_ratio; rewrite bell_integral_odd, bell_even; unfold Rdiv; ring. Qed.

Lemma odd_cover_derivative : forall k t,
  is_derive (odd_cover k) t (1 + t * odd_partial k t + 2 * (t * odd_term k t)).
Proof.
  intros k t; apply (derive_plus (odd_partial (S k)) (fun u => 2 * odd_term (S k) u));
    [apply odd_partial_derivative | apply derive_scal, odd_term_derivative].
Qed.

Lemma times_bell_derivative : forall f t df, is_derive f t df ->
  is_derive (fun u => bell u * f u - bell_integral u) t (bell t * (df - t * f t - 1)).
Proof.
  intros f t df H; apply derive_value with (- t * bell t * f t + bell t * df - bell t); [| ring].
  apply (derive_minus (fun u => bell u * f u)); [| apply bell_integral_derivative].
  apply (derive_mult bell f); [apply bell_derivative | exact H].
Qed.

Lemma times_bell : forall f t, f 0 = 0 ->
  (bell t * f t - bell_integral t <= bell 0 * f 0 - bell_integral 0 -> f t <= bell_ratio t) /\
  (bell 0 * f 0 - bell_integral 0 <= bell t * f t - bell_integral t -> bell_ratio t <= f t).
Proof.
  intros f t H0; rewrite H0, bell_integral_0; assert (Hb := bell_pos t); unfold bell_ratio.
  split; intros H; (apply Rmult_le_reg_r with (bell t); [exact Hb |]);
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.

Lemma ratio_above_partial : forall k t, 0 <= t -> odd_partial (S k) t <= bell_ratio t.
Proof.
  intros k t Ht; apply times_bell; [unfold odd_partial; rewrite Rmult_0_l; apply partial_at_0 |].
  apply (derivative_nonpos_le (fun u => bell u * odd_partial (S k) u - bell_integral u)
    (fun u => bell u * (1 + u * odd_partial k u - u * odd_partial (S k) u - 1)) 0 t Ht).
  - intros u _; apply times_bell_derivative, odd_partial_derivative.
  - intros u [Hu _]; assert (Hb := bell_pos u).
    assert (Ho : 0 <= odd_term k u) by (apply term_nonneg; nra).
    unfold odd_partial; cbn [series_sum]; fold (odd_term k u).
    assert (0 <= u * odd_term k u) by (apply Rmult_le_pos; assumption); nra.
Qed.

Lemma ratio_below_cover : forall k t, 0 <= t -> 2 * (t * t) <= 3 + INR k * 2 -> bell_ratio t <= odd_cover k t.
Proof.
  intros k t Ht Hk; apply times_bell.
  { unfold odd_cover, odd_partial, odd_term; rewrite Rmult_0_l, partial_at_0, term_at_0; ring. }
  apply (derivative_nonneg_le (fun u => bell u * odd_cover k u - bell_integral u)
    (fun u => bell u * (1 + u * odd_partial k u + 2 * (u * odd_term k u) - u * odd_cover k u - 1)) 0 t Ht).
  - intros u _; apply times_bell_derivative, odd_cover_derivative.
  - intros u Hu; assert (Hb := bell_pos u).
    assert (Hnext : 2 * odd_term (S k) u <= odd_term k u)
      by (apply halved_at_least; nra).
    unfold odd_cover, odd_partial; cbn [series_sum]; fold (odd_term k u).
    assert (0 <= u * (odd_term k u - 2 * odd_term (S k) u)) by (apply Rmult_le_pos; lra); nra.
Qed.

(** ** The sums by whole numbers, in units of 2^-bits *)

(** From a divisor m, a term t and a sum s on; [extra] is 0 to round down and 1 to round up. *)
Fixpoint series_run (steps : nat) (bits : positive) (extra z step m t s : Z) : Z * Z * Z :=
  match steps with
  | O => (m, t, s)
  | S steps' =>
      series_run steps' bits extra z step (m + step) (Z.shiftr (t * z) (Z.pos bits) / m + extra) (s + t)
  end.

Section Run.
Variable bits : positive.
Variables (first v : R) (m step : Z).
Hypothesis m_positive : (0 < m)%Z.
Hypothesis step_nonneg : (0 <= step)%Z.
Hypothesis first_nonneg : 0 <= first.
Hypothesis v_nonneg : 0 <= v.

Let one := IZR (Z.pos (2 ^ bits)).
Let T := series_term first v (IZR m) (IZR step).
Let total := series_sum first v (IZR m) (IZR step).
Let divisor (k : nat) : Z := (m + Z.of_nat k * step)%Z.

Lemma unit_positive : 0 < one.
Proof. apply (IZR_lt 0), Pos2Z.is_pos. Qed.

Lemma divisor_positive : forall k, (0 < divisor k)%Z.
Proof.
  intros k; unfold divisor; assert (0 <= Z.of_nat k * step)%Z by (apply Z.mul_nonneg_nonneg; lia); lia.
Qed.

Lemma divisor_is : forall k, IZR (divisor k) = IZR m + INR k * IZR step.
Proof. intros k; unfold divisor; rewrite plus_IZR, mult_IZR, <- INR_IZR_INZ; reflexivity. Qed.

Lemma next_divisor : forall k, (divisor k + step)%Z = divisor (S k).
Proof. intros k; unfold divisor; rewrite Nat2Z.inj_succ; ring. Qed.

Lemma shifted_quotient : forall a k,
  (Z.shiftr a (Z.pos bits) / divisor k = a / (Z.pos (2 ^ bits) * divisor k))%Z.
Proof.
  intros a k; assert (H := divisor_positive k).
  rewrite Z.shiftr_div_pow2, Z.div_div, Pos2Z.inj_pow by (try apply Z.pow_pos_nonneg; lia); reflexivity.
Qed.

Lemma term_at_least_0 : forall k, 0 <= T k.
Proof. intros k; apply term_nonneg; try assumption; [apply (IZR_lt 0) | apply (IZR_le 0)]; assumption. Qed.

Lemma whole_scale_positive : forall k, (0 < Z.pos (2 ^ bits) * divisor k)%Z.
Proof. intros k; apply Z.mul_pos_pos; [apply Pos2Z.is_pos | apply divisor_positive]. Qed.

Lemma scale_is : forall k, IZR (Z.pos (2 ^ bits) * divisor k) = one * IZR (divisor k).
Proof. intros k; apply mult_IZR. Qed.

Lemma scale_positive : forall k, 0 < one * IZR (divisor k).
Proof. intros k; rewrite <- scale_is; apply (IZR_lt 0), whole_scale_positive. Qed.

(** The next term from this one, in real numbers. *)
Lemma scaled_next : forall k, one * T (S k) * (one * IZR (divisor k)) = one * T k * (one * v).
Proof.
  intros k; assert (H := scale_positive k); unfold T; cbn [series_term]; rewrite <- divisor_is.
  assert (Hd : IZR (divisor k) <> 0) by (intros E; rewrite E in H; lra); field; exact Hd.
Qed.

Lemma run_down : forall z, (0 <= z)%Z -> IZR z <= one * v -> forall steps k t s m' t' s',
  (0 <= t)%Z -> IZR t <= one * T k -> IZR s <= one * total k ->
  series_run steps bits 0 z step (divisor k) t s = (m', t', s') -> IZR s' <= one * total (k + steps).
Proof.
  intros z Hz0 Hz; assert (Hone := unit_positive).
  induction steps as [| steps IH]; intros k t s m' t' s' Ht0 Ht Hs; cbn [series_run].
  - intros E; injection E as <- <- <-; rewrite Nat.add_0_r; exact Hs.
  - rewrite shifted_quotient, Z.add_0_r, next_divisor, Nat.add_succ_r; intros E.
    apply (IH (S k) _ _ _ _ _) in E; [exact E | | |].
    + apply Z.div_pos; [apply Z.mul_nonneg_nonneg; assumption | apply whole_scale_positive].
    + apply Rmult_le_reg_r with (one * IZR (divisor k)); [apply scale_positive |].
      rewrite scaled_next; eapply Rle_trans; [rewrite <- scale_is; apply floor_le, whole_scale_positive |].
      rewrite mult_IZR; apply Rmult_le_compat; try assumption; apply (IZR_le 0); assumption.
    + unfold total; cbn [series_sum]; fold (T k); rewrite plus_IZR; fold (total k); lra.
Qed.

Lemma run_up : forall z, one * v <= IZR z -> forall steps k t s m' t' s',
  one * T k <= IZR t -> one * total k <= IZR s ->
  series_run steps bits 1 z step (divisor k) t s = (m', t', s') ->
  one * total (k + steps) <= IZR s' /\ one * T (k + steps) <= IZR t' /\ m' = divisor (k + steps).
Proof.
  intros z Hz; assert (Hone := unit_positive).
  induction steps as [| steps IH]; intros k t s m' t' s' Ht Hs; cbn [series_run].
  - intros E; injection E as <- <- <-; rewrite Nat.add_0_r; repeat split; assumption.
  - rewrite shifted_quotient, next_divisor, Nat.add_succ_r; intros E.
    apply (IH (S k) _ _ _ _ _) in E; [exact E | |].
    + apply Rmult_le_reg_r with (one * IZR (divisor k)); [apply scale_positive |].
      rewrite scaled_next; eapply Rle_trans; [| rewrite <- scale_is; apply ceiling_ge, whole_scale_positive].
      assert (HT := term_at_least_0 k).
      rewrite mult_IZR; apply Rmult_le_compat; try assumption; apply Rmult_le_pos; try assumption;
        apply Rlt_le, unit_positive.
    + unfold total; cbn [series_sum]; fold (T k); rewrite plus_IZR; fold (total k); lra.
Qed.
End Run.

(** Ends of v, and ends of first, make ends of the whole sum; None where the terms do not halve yet. *)
Definition sum_ends (steps : nat) (bits : positive) (step m : Z) (z first : Z * Z) : option (Z * Z) :=
  let '(_, _, low) := series_run steps bits 0 (fst z) step m (fst first) 0 in
  let '(last, t, high) := series_run steps bits 1 (snd z) step m (snd first) 0 in
  if (2 * snd z <=? Z.pos (2 ^ bits) * (last - step))%Z then Some (low, (high + 2 * t)%Z) else None.

(** [e] encloses v in units of 2^-bits. *)
Definition encloses (bits : positive) (e : Z * Z) (v : R) : Prop :=
  IZR (fst e) <= IZR (Z.pos (2 ^ bits)) * v <= IZR (snd e).

Lemma sum_ends_correct : forall steps bits step m z first v w low high value,
  (0 < m)%Z -> (0 <= step)%Z -> 0 <= w -> 0 <= v -> (0 <= fst z)%Z -> (0 <= fst first)%Z ->
  encloses bits z v -> encloses bits first w -> sum_ends (S steps) bits step m z first = Some (low, high) ->
  series_sum w v (IZR m) (IZR step) (S steps) <= value ->
  (2 * v <= IZR m + INR steps * IZR step ->
    value <= series_sum w v (IZR m) (IZR step) (S steps)
      + 2 * series_term w v (IZR m) (IZR step) (S steps)) ->
  encloses bits (low, high) value.
Proof.
  intros steps bits step m z first v w low high value Hm Hstep Hw Hv Hz0 Hf0 [Hz1 Hz2] [Hf1 Hf2].
  unfold sum_ends; assert (Hone : 0 < IZR (Z.pos (2 ^ bits))) by (apply (IZR_lt 0), Pos2Z.is_pos).
  assert (E0 : (m + Z.of_nat 0 * step)%Z = m) by (cbn; ring).
  destruct (series_run (S steps) bits 0 (fst z) step m (fst first) 0) as [[last' t'] low'] eqn:Elow.
  destruct (series_run (S steps) bits 1 (snd z) step m (snd first) 0) as [[last t] high'] eqn:Ehigh.
  destruct (Z.leb_spec (2 * snd z) (Z.pos (2 ^ bits) * (last - step))) as [Hlast | _]; [| discriminate].
  intros E Hlow Hhigh; assert (Ehigh' : (high' + 2 * t)%Z = high) by congruence.
  assert (low' = low) by congruence.
  subst low high; rewrite <- E0 in Elow, Ehigh.
  apply (run_down bits w v m step Hm Hstep _ Hz0 Hz1) in Elow;
    [| exact Hf0 | exact Hf1 | cbn; lra].
  apply (run_up bits w v m step Hm Hstep Hw Hv _ Hz2) in Ehigh; [| exact Hf2 | cbn; lra].
  destruct Ehigh as [H1 [H2 H3]]; rewrite Nat.add_0_l in *.
  split; cbn [fst snd]; [eapply Rle_trans; [exact Elow |]; apply Rmult_le_compat_l; lra |].
  assert (Hreach : 2 * v <= IZR m + INR steps * IZR step).
  { apply IZR_le in Hlast; rewrite !mult_IZR in Hlast.
    replace (last - step)%Z with (m + Z.of_nat steps * step)%Z in Hlast
      by (rewrite H3, Nat2Z.inj_succ; ring).
    rewrite plus_IZR, mult_IZR, <- INR_IZR_INZ in Hlast.
    apply Rmult_le_reg_l with (IZR (Z.pos (2 ^ bits))); [exact Hone |]; lra. }
  rewrite plus_IZR, mult_IZR; eapply Rle_trans; [apply Rmult_le_compat_l; [lra | apply Hhigh, Hreach] |].
  rewrite Rmult_plus_distr_l; lra.
Qed.

(** *** Ends of a rational number, of exp, and of the ratio *)

Definition rational_ends (bits : positive) (q : Q) : Z * Z :=
  let low := (Qnum q * Z.pos (2 ^ bits) / QDen q)%Z in (low, (low + 1)%Z).

Definition exp_ends (steps : nat) (bits : positive) (q : Q) : option (Z * Z) :=
  let one := Z.pos (2 ^ bits) in sum_ends steps bits 1 1 (rational_ends bits q) (one, one).

Definition ratio_ends (steps : nat) (bits : positive) (q : Q) : option (Z * Z) :=
  let p := (Z.abs (Qnum q) # Qden q)%Q in
  match sum_ends steps bits 2 3 (rational_ends bits (p * p)) (rational_ends bits p) with
  | Some (low, high) => if (0 <=? Qnum q)%Z then Some (low, high) else Some ((- high)%Z, (- low)%Z)
  | None => None
  end.

Lemma rational_ends_hold : forall bits q, encloses bits (rational_ends bits q) (Q2R q).
Proof.
  intros bits [a b]; unfold encloses, rational_ends, Q2R; cbn [fst snd Qnum Qden].
  assert (Hb : 0 < IZR (Z.pos b)) by (apply (IZR_lt 0), Pos2Z.is_pos); set (one := Z.pos (2 ^ bits)).
  replace (IZR one * (IZR a * / IZR (Z.pos b))) with (IZR (a * one) / IZR (Z.pos b))
    by (rewrite mult_IZR; field; lra).
  split; (apply Rmult_le_reg_r with (IZR (Z.pos b)); [exact Hb |]); unfold Rdiv;
    rewrite ?(Rmult_assoc _ (/ _)), ?Rinv_l, ?Rmult_1_r by lra;
    [apply floor_le | apply ceiling_ge]; apply Pos2Z.is_pos.
Qed.

Lemma rational_ends_nonneg : forall bits q, (0 <= Qnum q)%Z -> (0 <= fst (rational_ends bits q))%Z.
Proof.
  intros bits q H; apply Z.div_pos; [apply Z.mul_nonneg_nonneg; [exact H | discriminate] | reflexivity].
Qed.

Lemma exp_ends_correct : forall steps bits q e, (0 <= Qnum q)%Z -> exp_ends (S steps) bits q = Some e ->
  encloses bits e (exp (Q2R q)).
Proof.
  intros steps bits q [low high] Hq E; assert (Hq0 : 0 <= Q2R q) by (apply Q2R_nonneg; exact Hq).
  set (ends := (Z.pos (2 ^ bits), Z.pos (2 ^ bits))).
  apply (sum_ends_correct steps bits 1 1 (rational_ends bits q) ends (Q2R q) 1 low high _ ltac:(lia)
    ltac:(lia) ltac:(lra) Hq0 (rational_ends_nonneg bits q Hq) (Pos2Z.is_nonneg _)
    (rational_ends_hold bits q)); [| exact E | |].
  - unfold ends; split; cbn [fst snd]; rewrite Rmult_1_r; apply Rle_refl.
  - apply (exp_above_partial steps (Q2R q) Hq0).
  - intros H; apply (exp_below_cover steps (Q2R q) Hq0); lra.
Qed.

Lemma ratio_ends_correct : forall steps bits q e, ratio_ends (S steps) bits q = Some e ->
  encloses bits e (bell_ratio (Q2R q)).
Proof.
  intros steps bits [a b] e; unfold ratio_ends; cbn [Qnum Qden]; set (p := (Z.abs a # b)%Q).
  assert (Hp : 0 <= Q2R p) by (apply Q2R_nonneg, Z.abs_nonneg).
  destruct (sum_ends (S steps) bits 2 3 _ _) as [[low high] |] eqn:E; [| discriminate].
  assert (H : encloses bits (low, high) (bell_ratio (Q2R p))).
  { assert (Hsquare : (0 <= Qnum (p * p))%Z) by (apply Z.mul_nonneg_nonneg; apply Z.abs_nonneg).
    assert (Hheld := rational_ends_hold bits (p * p)); rewrite Q2R_mult in Hheld.
    apply (sum_ends_correct steps bits 2 3 _ _ (Q2R p * Q2R p) (Q2R p) low high _ ltac:(lia) ltac:(lia)
      Hp ltac:(nra) (rational_ends_nonneg bits _ Hsquare) (rational_ends_nonneg bits p (Z.abs_nonneg a)) Hheld
      (rational_ends_hold bits p) E).
    - apply (ratio_above_partial steps (Q2R p) Hp).
    - intros Hk; apply (ratio_below_cover steps (Q2R p) Hp Hk). }
  destruct (Z.leb_spec 0 a) as [Ha | Ha]; intros Ee; injection Ee as <-.
  - replace (a # b)%Q with p by (unfold p; rewrite Z.abs_eq by exact Ha; reflexivity); exact H.
  - replace (Q2R (a # b)) with (- Q2R p)
      by (unfold p, Q2R; cbn [Qnum Qden]; rewrite Z.abs_neq, opp_IZR by lia; ring).
    rewrite bell_ratio_odd; destruct H as [H1 H2]; cbn [fst snd] in *.
    split; cbn [fst snd]; rewrite opp_IZR; lra.
Qed.

(** ** The profile *)

(** 1 / sqrt (2 pi). *)
Definition density_ends (bits : positive) : Z * Z :=
  let square := (Z.pos (2 ^ bits) * Z.pos (2 ^ bits))%Z in
  (Z.sqrt (square * QDen pi_upper / (2 * Qnum pi_upper)),
    (Z.sqrt (square * QDen pi_lower / (2 * Qnum pi_lower) + 1) + 1)%Z).

(** Ends of the profile by [steps] terms, in units of 2^-bits; None where too few terms were asked for. *)
Definition profile_bounds (steps : nat) (bits : positive) (nu epsilon : Q) : option (Q * Q) :=
  let a := (epsilon / nu - nu / 2)%Q in
  let b := (epsilon / nu + nu / 2)%Q in
  let one := Z.pos (2 ^ bits) in
  match exp_ends (S steps) bits epsilon, exp_ends (S steps) bits (a * a / 2),
    ratio_ends (S steps) bits a, ratio_ends (S steps) bits b with
  | Some (e1, e2), Some (f1, f2), Some (a1, a2), Some (b1, b2) =>
      let (c1, c2) := density_ends bits in
      let low := ((one - e2) / 2 + c1 * (b1 - a2) / f2)%Z in
      let high := ((one - e1) / 2 + 1 + (c2 * (b2 - a1) / f1 + 1))%Z in
      if negb (Qle_bool nu 0) && Qle_bool 0 epsilon && (0 <? f1)%Z && (a2 <=? b1)%Z
      then Some ((low # 2 ^ bits)%Q, (high # 2 ^ bits)%Q) else None
  | _, _, _, _ => None
  end.

(** What the ends enclose. *)
Lemma profile_by_ratios : forall nu epsilon, 0 < nu ->
  let a := epsilon / nu - nu / 2 in let b := epsilon / nu + nu / 2 in
  normal_tail a - exp epsilon * normal_tail b =
  (1 - exp epsilon) / 2 + / (2 * kappa) * (bell_ratio b - bell_ratio a) / exp (a * a / 2).
Proof.
  intros nu epsilon Hnu a b; rewrite !normal_tail_tail; assert (Hk := kappa_pos).
  assert (Ha := bell_pos a); assert (Hb := bell_pos b); assert (Hexp := exp_pos (a * a / 2)).
  assert (E : exp epsilon * bell b = bell a).
  { unfold bell; rewrite <- exp_plus; f_equal; unfold a, b; field; lra. }
  assert (E' : bell a * exp (a * a / 2) = 1).
  { unfold bell; rewrite <- exp_plus, <- exp_0; f_equal; field. }
  assert (Hra : bell_ratio a * bell a = bell_integral a) by (unfold bell_ratio; field; lra).
  assert (Hrb : bell_ratio b * bell b = bell_integral b) by (unfold bell_ratio; field; lra).
  unfold tail; rewrite <- Hra, <- Hrb; replace (bell_ratio b - bell_ratio a) with
    ((bell_ratio b - bell_ratio a) * (bell a * exp (a * a / 2))) by (rewrite E'; ring).
  transitivity ((1 - exp epsilon) / 2 + / (2 * kappa) * (bell_ratio b * (exp epsilon * bell b)
    - bell_ratio a * bell a)); [field; lra | rewrite E; field; lra].
Qed.

Lemma square_reflects : forall u v, 0 <= v -> u * u <= v * v -> u <= v.
Proof. intros u v Hv H; destruct (Rle_or_lt u v); [assumption | exfalso; nra]. Qed.

Lemma density_ends_hold : forall bits, encloses bits (density_ends bits) (/ (2 * kappa)) /\
  (0 <= fst (density_ends bits))%Z.
Proof.
  intros bits; unfold density_ends, encloses; cbn [fst snd]; destruct pi_bounds as [Hlow Hup].
  assert (Hk := kappa_pos); assert (Hsquare := kappa_square); set (one := Z.pos (2 ^ bits)).
  assert (Hone : 0 < IZR one) by (apply (IZR_lt 0), Pos2Z.is_pos).
  set (X := (one * one * QDen pi_upper / (2 * Qnum pi_upper))%Z).
  set (Y := (one * one * QDen pi_lower / (2 * Qnum pi_lower) + 1)%Z).
  assert (HX0 : (0 <= X)%Z) by (apply Z.div_pos; [apply Z.mul_nonneg_nonneg; discriminate | reflexivity]).
  assert (HY0 : (0 <= Y)%Z).
  { apply Z.add_nonneg_nonneg; [apply Z.div_pos; [apply Z.mul_nonneg_nonneg; discriminate | reflexivity] |].
    discriminate. }
  assert (HX : IZR X * (2 * Q2R pi_upper) <= IZR one * IZR one).
  { assert (H := floor_le (one * one * QDen pi_upper) (2 * Qnum pi_upper) ltac:(reflexivity)); fold X in H.
    rewrite !mult_IZR in H; unfold Q2R.
    assert (Hd : 0 < IZR (QDen pi_upper)) by (apply (IZR_lt 0); reflexivity).
    apply Rmult_le_reg_r with (IZR (QDen pi_upper)); [exact Hd |].
    replace (IZR X * (2 * (IZR (Qnum pi_upper) * / IZR (QDen pi_upper))) * IZR (QDen pi_upper))
      with (IZR X * (2 * IZR (Qnum pi_upper))) by (field; lra); exact H. }
  assert (HY : IZR one * IZR one <= IZR Y * (2 * Q2R pi_lower)).
  { assert (H := ceiling_ge (one * one * QDen pi_lower) (2 * Qnum pi_lower) ltac:(reflexivity)); fold Y in H.
    rewrite !mult_IZR in H; unfold Q2R.
    assert (Hd : 0 < IZR (QDen pi_lower)) by (apply (IZR_lt 0); reflexivity).
    apply Rmult_le_reg_r with (IZR (QDen pi_lower)); [exact Hd |].
    replace (IZR Y * (2 * (IZR (Qnum pi_lower) * / IZR (QDen pi_lower))) * IZR (QDen pi_lower))
      with (IZR Y * (2 * IZR (Qnum pi_lower))) by (field; lra); exact H. }
  destruct (Z.sqrt_spec X HX0) as [HsX _]; destruct (Z.sqrt_spec Y HY0) as [_ HsY].
  assert (HcX := Z.sqrt_nonneg X); assert (HcY := Z.sqrt_nonneg Y).
  set (c := Z.sqrt X) in *; set (c' := Z.sqrt Y) in *; unfold Z.succ in HsY.
  apply IZR_le in HsX; apply IZR_lt in HsY; rewrite mult_IZR in HsX, HsY.
  assert (Hc := IZR_le 0 c HcX); assert (Hc' := IZR_le 0 (c' + 1) ltac:(lia)).
  assert (HY0' := IZR_le 0 Y HY0); assert (HX0' := IZR_le 0 X HX0).
  set (p := IZR c) in *; set (p' := IZR (c' + 1)) in *.
  split; [| exact HcX]; split; (apply Rmult_le_reg_r with (2 * kappa); [lra |]);
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; apply square_reflects;
    try (apply Rmult_le_pos; lra); [lra | |].
  - replace (p * (2 * kappa) * (p * (2 * kappa))) with (p * p * (2 * (2 * kappa ^ 2))) by ring.
    rewrite Hsquare; assert (HPI := PI_RGT_0); nra.
  - replace (p' * (2 * kappa) * (p' * (2 * kappa))) with (p' * p' * (2 * (2 * kappa ^ 2))) by ring.
    rewrite Hsquare; assert (HPI := PI_RGT_0); nra.
Qed.

(** Quotients of ends are ends of quotients. *)
Lemma product_ends : forall bits c d f C D F, encloses bits c C -> encloses bits d D -> encloses bits f F ->
  (0 <= fst c)%Z -> (0 <= fst d)%Z -> (0 < fst f)%Z -> 0 <= C -> 0 <= D -> 0 < F ->
  encloses bits (fst c * fst d / snd f, snd c * snd d / fst f + 1)%Z (C * D / F).
Proof.
  intros bits [c c'] [d d'] [f f'] C D F [Hc Hc'] [Hd Hd'] [Hf Hf']; cbn [fst snd] in *.
  intros Hc0 Hd0 Hf0 HC HD HF; set (one := IZR (Z.pos (2 ^ bits))) in *.
  assert (Hone : 0 < one) by (apply (IZR_lt 0), Pos2Z.is_pos).
  assert (HFf : 0 < one * F) by (apply Rmult_lt_0_compat; assumption).
  apply (IZR_le 0) in Hc0; apply (IZR_le 0) in Hd0; assert (Hf0' := IZR_lt 0 f Hf0).
  assert (Hf'0 : (0 < f')%Z) by (apply lt_IZR; lra).
  assert (E : one * (C * D / F) * (one * F) = one * C * (one * D)) by (field; lra).
  assert (H0 : 0 <= one * (C * D / F)).
  { apply Rmult_le_reg_r with (one * F); [exact HFf |]; rewrite Rmult_0_l, E.
    apply Rmult_le_pos; apply Rmult_le_pos; lra. }
  split; cbn [fst snd]; fold one.
  - apply Rmult_le_reg_r with (IZR f'); [apply (IZR_lt 0), Hf'0 |].
    eapply Rle_trans; [apply floor_le, Hf'0 |]; rewrite mult_IZR.
    apply Rle_trans with (one * C * (one * D)); [apply Rmult_le_compat; assumption |].
    rewrite <- E; apply Rmult_le_compat_l; assumption.
  - apply Rmult_le_reg_r with (IZR f); [exact Hf0' |].
    eapply Rle_trans; [| apply ceiling_ge, Hf0]; rewrite mult_IZR.
    apply Rle_trans with (one * C * (one * D));
      [| apply Rmult_le_compat; try assumption; apply Rmult_le_pos; lra].
    rewrite <- E; apply Rmult_le_compat_l; lra.
Qed.

Lemma half_of_the_rest : forall bits e E, encloses bits e E ->
  encloses bits ((Z.pos (2 ^ bits) - snd e) / 2, (Z.pos (2 ^ bits) - fst e) / 2 + 1)%Z ((1 - E) / 2).
Proof.
  intros bits [e e'] E [H H']; cbn [fst snd] in *; set (one := Z.pos (2 ^ bits)) in *.
  assert (H1 := floor_le (one - e') 2 ltac:(lia)); assert (H2 := ceiling_ge (one - e) 2 ltac:(lia)).
  rewrite minus_IZR in H1, H2; split; cbn [fst snd]; fold one; lra.
Qed.

Lemma holds_rational : forall bits low high value, encloses bits (low, high) value ->
  Q2R (low # 2 ^ bits) <= value <= Q2R (high # 2 ^ bits).
Proof.
  intros bits low high value [H1 H2]; unfold Q2R; cbn [Qnum Qden fst snd] in *.
  assert (Hone : 0 < IZR (Z.pos (2 ^ bits))) by (apply (IZR_lt 0), Pos2Z.is_pos).
  split; (apply Rmult_le_reg_l with (IZR (Z.pos (2 ^ bits))); [exact Hone |]);
    rewrite (Rmult_comm (IZR (Z.pos _)) (_ * / _)), Rmult_assoc, Rinv_l by lra; lra.
Qed.

Theorem profile_bounds_correct : forall steps bits nu epsilon low high,
  profile_bounds steps bits nu epsilon = Some (low, high) ->
  0 < Q2R nu /\ Q2R low <= normal_tail (Q2R epsilon / Q2R nu - Q2R nu / 2) -
    exp (Q2R epsilon) * normal_tail (Q2R epsilon / Q2R nu + Q2R nu / 2) <= Q2R high.
Proof.
  intros steps bits nu epsilon low high; unfold profile_bounds; cbv zeta.
  set (a := (epsilon / nu - nu / 2)%Q); set (b := (epsilon / nu + nu / 2)%Q).
  destruct (exp_ends (S steps) bits epsilon) as [[e1 e2] |] eqn:Ee; [| discriminate].
  destruct (exp_ends (S steps) bits (a * a / 2)) as [[f1 f2] |] eqn:Ef; [| discriminate].
  destruct (ratio_ends (S steps) bits a) as [[a1 a2] |] eqn:Ea; [| discriminate].
  destruct (ratio_ends (S steps) bits b) as [[b1 b2] |] eqn:Eb; [| discriminate].
  destruct (density_ends_hold bits) as [Hc Hc0]; destruct (density_ends bits) as [c1 c2].
  destruct (negb (Qle_bool nu 0) && Qle_bool 0 epsilon && (0 <? f1)%Z && (a2 <=? b1)%Z) eqn:Eok;
    [| discriminate].
  rewrite !andb_true_iff in Eok; destruct Eok as [[[Hnu Hepsilon] Hf1] Hab].
  apply Q_strict in Hnu; apply Qle_bool_R in Hepsilon; apply Z.ltb_lt in Hf1; apply Z.leb_le in Hab.
  rewrite RMicromega.Q2R_0 in Hnu, Hepsilon; intros Hends.
  assert (Elow : ((Z.pos (2 ^ bits) - e2) / 2 + c1 * (b1 - a2) / f2 # 2 ^ bits)%Q = low) by congruence.
  assert (Ehigh : ((Z.pos (2 ^ bits) - e1) / 2 + 1 + (c2 * (b2 - a1) / f1 + 1) # 2 ^ bits)%Q = high)
    by congruence.
  subst low high; clear Hends; split; [exact Hnu |].
  assert (Va : Q2R a = Q2R epsilon / Q2R nu - Q2R nu / 2)
    by (unfold a; rewrite Q2R_minus, Q2R_half, Q2R_div by exact Hnu; reflexivity).
  assert (Vb : Q2R b = Q2R epsilon / Q2R nu + Q2R nu / 2)
    by (unfold b; rewrite Q2R_plus, Q2R_half, Q2R_div by exact Hnu; reflexivity).
  assert (Vf : Q2R (a * a / 2) = Q2R a * Q2R a / 2) by (rewrite Q2R_half, Q2R_mult; reflexivity).
  apply exp_ends_correct in Ee; [| apply numerator_nonneg, Hepsilon].
  apply exp_ends_correct in Ef; [| apply numerator_nonneg; rewrite Vf; nra].
  apply ratio_ends_correct in Ea; apply ratio_ends_correct in Eb.
  assert (Hone : 0 < IZR (Z.pos (2 ^ bits))) by (apply (IZR_lt 0), Pos2Z.is_pos).
  assert (Hd : encloses bits (b1 - a2, b2 - a1)%Z (bell_ratio (Q2R b) - bell_ratio (Q2R a))).
  { destruct Ea, Eb; cbn [fst snd] in *; split; cbn [fst snd]; rewrite minus_IZR; lra. }
  assert (HD : 0 <= bell_ratio (Q2R b) - bell_ratio (Q2R a)).
  { destruct Ea as [_ H1], Eb as [H2 _]; cbn [fst snd] in *; apply IZR_le in Hab.
    apply Rmult_le_reg_l with (IZR (Z.pos (2 ^ bits))); [exact Hone | lra]. }
  assert (Hk := kappa_pos).
  assert (Hproduct := product_ends bits _ _ _ _ _ _ Hc Hd Ef Hc0 ltac:(cbn; lia) Hf1
    ltac:(left; apply Rinv_0_lt_compat; lra) HD (exp_pos _)); cbn [fst snd] in Hproduct.
  assert (Hhalf := half_of_the_rest bits _ _ Ee); cbn [fst snd] in Hhalf.
  assert (Hvalue := profile_by_ratios (Q2R nu) (Q2R epsilon) Hnu); cbv zeta in Hvalue.
  rewrite <- Va, <- Vb in Hvalue; rewrite <- Va, <- Vb, Hvalue, <- Vf.
  apply holds_rational; destruct Hproduct as [P1 P2], Hhalf as [H1 H2]; cbn [fst snd] in *.
  split; cbn [fst snd]; rewrite plus_IZR; lra.
Qed.

Lemma normal_profile : forall nu epsilon, 0 < nu ->
  normal_tail (epsilon / nu - nu / 2) - exp epsilon * normal_tail (epsilon / nu + nu / 2)
  = profile nu epsilon / (2 * kappa).
Proof.
  intros nu epsilon Hnu; rewrite !normal_tail_tail; assert (Hk := kappa_pos); unfold profile; field; lra.
Qed.
