(** * Sigma of the extended Gaussian mechanism, bounded from above by rational arithmetic

    The paper's sigma has two square roots, a logarithm and pi. [sigma_suffices] compares a given sigma
    with it by integer arithmetic only, which Coq's kernel computes, and [sigma_suffices_correct] says that
    the comparison is right. The caller gives upper bounds of the logarithm and of the square roots; we
    believe nothing about them. A wrong bound makes the comparison fail, never succeed. Numbers are
    rationals: [Q2R (a # b)] is a / b. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals Bool ZArith QArith Qreals Ratan Machin Lra Lia.
From CFM Require Import Definitions.
Open Scope R_scope.

(** ** Fixed-point numbers: the integer z stands for z / 2^256 *)

Definition fixed_one : Z := (2 ^ 256)%Z.
Definition fixed (z : Z) : R := IZR z / IZR fixed_one.

Lemma one_pos : 0 < IZR fixed_one.
Proof. apply (IZR_lt 0); reflexivity. Qed.

Lemma fixed_nonneg : forall z, (0 <= z)%Z -> 0 <= fixed z.
Proof.
  intros z Hz; unfold fixed; apply Rmult_le_pos; [apply (IZR_le 0); exact Hz |].
  left; apply Rinv_0_lt_compat, one_pos.
Qed.

Lemma floor_le : forall a b, (0 < b)%Z -> IZR (a / b) * IZR b <= IZR a.
Proof. intros a b Hb; rewrite <- mult_IZR; apply IZR_le; rewrite Z.mul_comm; apply Z.mul_div_le, Hb. Qed.

Lemma divided_le : forall a b c, (0 < b)%Z -> IZR a / IZR b <= c -> IZR (a / b) <= c.
Proof.
  intros a b c Hb H; assert (0 < IZR b) by (apply (IZR_lt 0); exact Hb).
  eapply Rle_trans; [| exact H]; apply Rmult_le_reg_r with (IZR b); [assumption |].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; apply floor_le, Hb.
Qed.

(** ** exp from below: a partial sum at t = q / 2^16, squared 16 times *)

(** The n terms t^i / i!, t^(i+1) / (i+1)!, ..., each rounded down; [term] is t^(i-1) / (i-1)!. *)
Fixpoint exp_terms (n : nat) (i t term : Z) : Z :=
  match n with
  | O => 0%Z
  | S n' => let next := (Z.shiftr (term * t) 256 / i)%Z in (next + exp_terms n' (i + 1) t next)%Z
  end.

Fixpoint squared_times (k : nat) (e : Z) : Z :=
  match k with O => e | S k' => squared_times k' (Z.shiftr (e * e) 256) end.

Definition exp_lower (q : Q) : Z :=
  let t := (Qnum q * fixed_one / (Zpos (Qden q) * 2 ^ 16))%Z in
  squared_times 16 (fixed_one + exp_terms 40 1 t fixed_one)%Z.

Lemma exp_terms_correct : forall n k t term,
  (0 <= t)%Z -> (0 <= term)%Z -> fixed term <= fixed t ^ k / INR (fact k) ->
  (0 <= exp_terms n (Z.of_nat (S k)) t term)%Z /\
  sum_f_R0 (fun i => fixed t ^ i / INR (fact i)) k + fixed (exp_terms n (Z.of_nat (S k)) t term) <=
  sum_f_R0 (fun i => fixed t ^ i / INR (fact i)) (k + n).
Proof.
  induction n as [| n IH]; intros k t term Ht Hterm H; cbn [exp_terms].
  - rewrite Nat.add_0_r; unfold fixed at 2; unfold Rdiv at 2; rewrite Rmult_0_l; split; [lia | lra].
  - set (next := (term * t / (fixed_one * Z.of_nat (S k)))%Z).
    replace (Z.shiftr (term * t) 256 / Z.of_nat (S k))%Z with next
      by (unfold next; rewrite Z.shiftr_div_pow2, Z.div_div by lia; reflexivity).
    assert (Hk : (0 < fixed_one * Z.of_nat (S k))%Z) by (apply Z.mul_pos_pos; [reflexivity | lia]).
    assert (Hnext : (0 <= next)%Z) by (apply Z.div_pos; [apply Z.mul_nonneg_nonneg; assumption | exact Hk]).
    assert (HU := one_pos); assert (HS : 0 < INR (S k)) by (apply lt_0_INR; lia).
    assert (HF := INR_fact_lt_0 k).
    assert (Hle : fixed next <= fixed t ^ S k / INR (fact (S k))).
    { apply Rle_trans with (fixed term * fixed t / INR (S k)).
      - unfold fixed at 1; apply Rmult_le_reg_r with (IZR fixed_one); [exact HU |].
        unfold Rdiv at 1; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
        apply divided_le; [exact Hk |]; rewrite !mult_IZR, <- INR_IZR_INZ; unfold fixed; right; field; lra.
      - replace (fixed t ^ S k / INR (fact (S k))) with (fixed t ^ k / INR (fact k) * fixed t / INR (S k)).
        + unfold Rdiv at 1 2; apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact HS |].
          apply Rmult_le_compat_r; [apply fixed_nonneg; exact Ht | exact H].
        + rewrite fact_simpl, mult_INR; simpl pow; field; lra. }
    destruct (IH (S k) t next Ht Hnext Hle) as [Hpos Hsum].
    replace (Z.of_nat (S k) + 1)%Z with (Z.of_nat (S (S k))) by lia.
    split; [apply Z.add_nonneg_nonneg; assumption |].
    replace (k + S n)%nat with (S k + n)%nat by lia; eapply Rle_trans; [| exact Hsum].
    cbn [sum_f_R0]; unfold fixed at 2; rewrite plus_IZR; fold (fixed t) in *.
    unfold Rdiv at 2; rewrite Rmult_plus_distr_r.
    change (IZR next * / IZR fixed_one) with (fixed next).
    change (IZR (exp_terms n (Z.of_nat (S (S k))) t next) * / IZR fixed_one) with (fixed (exp_terms n
      (Z.of_nat (S (S k))) t next)).
    lra.
Qed.

Lemma squared_times_correct : forall k e y, (0 <= e)%Z -> fixed e <= exp y ->
  (0 <= squared_times k e)%Z /\ fixed (squared_times k e) <= exp (IZR (2 ^ Z.of_nat k) * y).
Proof.
  induction k as [| k IH]; intros e y He H; cbn [squared_times].
  - rewrite Rmult_1_l; split; assumption.
  - assert (HU := one_pos); rewrite Z.shiftr_div_pow2 by lia; change (2 ^ 256)%Z with fixed_one.
    assert (Hsq : (0 <= e * e / fixed_one)%Z) by (apply Z.div_pos; [apply Z.mul_nonneg_nonneg;
      assumption | reflexivity]).
    replace (IZR (2 ^ Z.of_nat (S k)) * y) with (IZR (2 ^ Z.of_nat k) * (y + y)).
    + apply IH; [exact Hsq |].
      apply Rle_trans with (fixed e * fixed e).
      * unfold fixed at 1; apply Rmult_le_reg_r with (IZR fixed_one); [exact HU |].
        unfold Rdiv at 1; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
        apply divided_le; [reflexivity |]; rewrite mult_IZR; unfold fixed; right; field; lra.
      * rewrite exp_plus; generalize (fixed_nonneg e He); intros; apply Rmult_le_compat; assumption.
    + rewrite Nat2Z.inj_succ, Z.pow_succ_r, mult_IZR by lia; lra.
Qed.

Lemma exp_lower_correct : forall q, (0 <= Qnum q)%Z ->
  (0 <= exp_lower q)%Z /\ fixed (exp_lower q) <= exp (Q2R q).
Proof.
  intros [a b] Ha; simpl in Ha; unfold exp_lower; cbn [Qnum Qden].
  set (t := (a * fixed_one / (Zpos b * 2 ^ 16))%Z).
  assert (HU := one_pos); assert (Hb : 0 < IZR (Zpos b)) by (apply (IZR_lt 0); reflexivity).
  assert (Ht : (0 <= t)%Z) by (apply Z.div_pos; [apply Z.mul_nonneg_nonneg;
    [exact Ha | discriminate] | reflexivity]).
  assert (Hone : fixed fixed_one = 1) by (unfold fixed; field; lra).
  destruct (exp_terms_correct 40 0 t fixed_one Ht ltac:(discriminate) ltac:(rewrite Hone; simpl;
    lra)) as [Hpos Hsum].
  set (e := (fixed_one + exp_terms 40 1 t fixed_one)%Z); change (Z.of_nat 1) with 1%Z in *.
  assert (He : fixed e <= exp (fixed t)).
  { eapply Rle_trans; [| apply (exp_ge_taylor (fixed t) 40), fixed_nonneg, Ht].
    eapply Rle_trans; [| exact Hsum]; right; unfold e; simpl sum_f_R0 at 1.
    unfold fixed at 1; rewrite plus_IZR; unfold Rdiv at 1; rewrite Rmult_plus_distr_r.
    change (IZR fixed_one * / IZR fixed_one) with (fixed fixed_one); rewrite Hone; unfold fixed; lra. }
  destruct (squared_times_correct 16 e (fixed t)) as [H1 H2]; [apply Z.add_nonneg_nonneg;
    [discriminate | exact Hpos] | exact He |].
  split; [exact H1 |]; eapply Rle_trans; [exact H2 |].
  assert (Hle : IZR (2 ^ Z.of_nat 16) * fixed t <= Q2R (a # b)).
  { unfold fixed, Q2R; cbn [Qnum Qden]; apply Rmult_le_reg_r with (IZR fixed_one); [exact HU |].
    assert (H : IZR t <= IZR a * IZR fixed_one / (IZR (Zpos b) * IZR (2 ^ 16))).
    { apply divided_le; [reflexivity |]; rewrite !mult_IZR; apply Rle_refl. }
    change (2 ^ Z.of_nat 16)%Z with (2 ^ 16)%Z; assert (H16 : 0 < IZR (2 ^ 16)) by (apply (IZR_lt 0);
      reflexivity).
    set (p := IZR (2 ^ 16)) in *.
    replace (p * (IZR t / IZR fixed_one) * IZR fixed_one) with (p * IZR t) by (field; lra).
    apply Rle_trans with (p * (IZR a * IZR fixed_one / (IZR (Zpos b) * p))); [apply Rmult_le_compat_l; lra |].
    right; field; lra. }
  destruct Hle as [Hlt | ->]; [left; apply exp_increasing; exact Hlt | apply Rle_refl].
Qed.

(** ** pi to sixty digits, from 2 atan(1/3) + atan(1/7) = pi/4 *)

(** x^(2n+1) / (2n+1) at x = 1/a. *)
Definition odd_power (a : Z) (n : nat) : Q := (/ inject_Z (a ^ Z.of_nat (2 * n + 1) * Z.of_nat
  (2 * n + 1)))%Q.

Definition machin_term (n : nat) : Q :=
  let term := (2 * odd_power 3 n + odd_power 7 n)%Q in if Nat.even n then term else (- term)%Q.

Fixpoint machin (n : nat) : Q :=
  match n with O => machin_term 0 | S n' => Qred (machin n' + machin_term n) end.

Definition pi_lower : Q := 314159265358979323846264338327950288419716939937510582097494 #
  100000000000000000000000000000000000000000000000000000000000.
Definition pi_upper : Q := 314159265358979323846264338327950288419716939937510582097495 #
  100000000000000000000000000000000000000000000000000000000000.

Lemma odd_power_correct : forall a n, (0 < a)%Z -> Q2R (odd_power a n) = Ratan_seq (/ IZR a) n.
Proof.
  intros a n Ha; unfold odd_power, Ratan_seq; set (m := (2 * n + 1)%nat).
  assert (HA : 0 < IZR a) by (apply (IZR_lt 0); exact Ha).
  assert (Hm : 0 < INR m) by (apply lt_0_INR; unfold m; lia).
  assert (Hp : 0 < IZR a ^ m) by (apply pow_lt; exact HA).
  assert (E : Q2R (inject_Z (a ^ Z.of_nat m * Z.of_nat m)) = IZR a ^ m * INR m).
  { unfold Q2R, inject_Z; cbn [Qnum Qden]; rewrite mult_IZR, <- pow_IZR, <- INR_IZR_INZ; lra. }
  rewrite Q2R_inv, E, pow_inv; [field; split; lra |].
  intros Z; apply Qeq_eqR in Z; rewrite E in Z; unfold Q2R in Z; simpl in Z.
  assert (0 < IZR a ^ m * INR m) by (apply Rmult_lt_0_compat; assumption); lra.
Qed.

Lemma machin_term_correct : forall n, Q2R (machin_term n) = tg_alt PI_2_3_7_tg n.
Proof.
  intros n; unfold machin_term, tg_alt, PI_2_3_7_tg.
  assert (E : Q2R (2 * odd_power 3 n + odd_power 7 n) = 2 * Ratan_seq (/ 3) n + Ratan_seq (/ 7) n).
  { rewrite Q2R_plus, Q2R_mult, !odd_power_correct by reflexivity; unfold Q2R at 1; cbn [Qnum Qden]; lra. }
  destruct (Nat.even n) eqn:Heven.
  - apply Nat.even_spec in Heven; destruct Heven as [k ->]; rewrite pow_1_even, E; lra.
  - assert (O : Nat.odd n = true) by (unfold Nat.odd; rewrite Heven; reflexivity).
    apply Nat.odd_spec in O; destruct O as [k ->]; rewrite Q2R_opp, E.
    replace (2 * k + 1)%nat with (S (2 * k)) by lia; rewrite pow_1_odd; lra.
Qed.

Lemma machin_correct : forall n, Q2R (machin n) = sum_f_R0 (tg_alt PI_2_3_7_tg) n.
Proof.
  induction n as [| n IH]; cbn [machin sum_f_R0]; [apply machin_term_correct |].
  rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus, IH, machin_term_correct; reflexivity.
Qed.

Lemma pi_bounds : Q2R pi_lower <= PI <= Q2R pi_upper.
Proof.
  destruct (PI_2_3_7_ineq 31) as [Hlow Hup]; rewrite <- !machin_correct in *.
  assert (H1 : Q2R pi_lower <= Q2R (4 * machin (S (2 * 31)))) by (apply Qle_Rle, Qle_bool_iff;
    vm_cast_no_check (eq_refl true)).
  assert (H2 : Q2R (4 * machin (2 * 31)) <= Q2R pi_upper) by (apply Qle_Rle, Qle_bool_iff;
    vm_cast_no_check (eq_refl true)).
  rewrite Q2R_mult in H1, H2; unfold Q2R in H1 at 2; unfold Q2R in H2 at 1;
    simpl (IZR (Qnum 4) * / _) in H1, H2; lra.
Qed.

(** ** The comparison *)

(** [logarithm], [root], [root'] and [factor] are upper bounds of ln(sqrt(2/pi) / delta), of its square root,
    of the square root of the same plus epsilon, and of sqrt(l2_squared / 2). *)
Definition sigma_suffices (l2_squared epsilon delta sigma logarithm root root' factor : Q) : bool :=
  let e := (exp_lower logarithm # 2 ^ 256)%Q in
  Qle_bool 0 logarithm && Qle_bool 0 root && Qle_bool 0 root' && Qle_bool 0 factor && Qle_bool 0 l2_squared &&
  negb (Qle_bool epsilon 0) && negb (Qle_bool delta 0) &&
  Qle_bool (pi_upper * (delta * delta)) 2 &&
  Qle_bool 2 (pi_lower * ((delta * e) * (delta * e))) &&
  Qle_bool logarithm (root * root) && Qle_bool (logarithm + epsilon) (root' * root') &&
  Qle_bool l2_squared (2 * (factor * factor)) &&
  Qle_bool (factor * (root + root')) (epsilon * sigma).

Lemma Q2R_literal : forall z, Q2R (z # 1) = IZR z.
Proof. intros z; unfold Q2R; cbn [Qnum Qden]; lra. Qed.

Lemma Qle_bool_R : forall a b, Qle_bool a b = true -> Q2R a <= Q2R b.
Proof. intros a b H; apply Qle_Rle, Qle_bool_iff, H. Qed.

Lemma Q_positive : forall a, negb (Qle_bool a 0) = true -> 0 < Q2R a.
Proof.
  intros a H; apply negb_true_iff in H; rewrite <- (Q2R_literal 0); apply Qlt_Rlt, Qnot_le_lt.
  intros E; apply Qle_bool_iff in E; congruence.
Qed.

Lemma sqrt_le_square : forall a b, 0 <= b -> a <= b * b -> sqrt a <= b.
Proof. intros a b Hb H; rewrite <- (sqrt_square b) by exact Hb; apply sqrt_le_1_alt, H. Qed.

(** ln(sqrt(2/pi) / delta) is at most [logarithm] when 2 <= pi (delta exp(logarithm))^2. *)
Lemma logarithm_le : forall delta l e, 0 < delta -> 0 <= e <= exp l ->
  2 <= PI * ((delta * e) * (delta * e)) ->
  ln (sqrt (2 / PI) / delta) <= l.
Proof.
  intros delta l e Hd He H; assert (HPI := PI_RGT_0).
  assert (Hs : sqrt (2 / PI) <= delta * e).
  { apply sqrt_le_square; [apply Rmult_le_pos; lra |]; apply Rmult_le_reg_r with PI; [exact HPI |].
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra. }
  assert (Hpos : 0 < sqrt (2 / PI)) by (apply sqrt_lt_R0, Rdiv_lt_0_compat; lra).
  rewrite <- (ln_exp l); apply ln_le; [apply Rdiv_lt_0_compat; assumption |].
  apply Rmult_le_reg_r with delta; [exact Hd |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra.
Qed.

Theorem sigma_suffices_correct : forall l2_squared epsilon delta sigma logarithm root root' factor,
  sigma_suffices l2_squared epsilon delta sigma logarithm root root' factor = true ->
  0 < Q2R epsilon /\ 0 < Q2R delta <= sqrt (2 / PI) /\
  extended_gaussian_sigma (sqrt (Q2R l2_squared)) (Q2R epsilon) (Q2R delta) <= Q2R sigma.
Proof.
  intros V epsilon delta sigma l u v w H; unfold sigma_suffices in H.
  repeat (apply andb_true_iff in H; destruct H as [H ?]).
  assert (Hnum : (0 <= Qnum l)%Z).
  { match goal with E : Qle_bool 0 l = true |- _ => apply Qle_bool_iff in E; unfold Qle in E; simpl in E;
    lia end. }
  repeat match goal with E : Qle_bool _ _ = true |- _ => apply Qle_bool_R in E end.
  repeat match goal with E : negb _ = true |- _ => apply Q_positive in E end.
  destruct (exp_lower_correct l Hnum) as [He0 He]; destruct pi_bounds as [Hpi Hpi'].
  assert (Hfixed : Q2R (exp_lower l # 2 ^ 256) = fixed (exp_lower l)) by reflexivity.
  rewrite ?Q2R_mult, ?Q2R_plus, ?Q2R_literal, ?Hfixed in *; apply fixed_nonneg in He0.
  set (e := fixed (exp_lower l)) in *; set (d := Q2R delta) in *; set (s := Q2R sigma) in *;
    set (a := Q2R epsilon) in *.
  assert (HPI := PI_RGT_0).
  assert (Hroot : d <= sqrt (2 / PI)).
  { rewrite <- (sqrt_square d) by lra; apply sqrt_le_1_alt, Rmult_le_reg_r with PI; [exact HPI |].
    replace (2 / PI * PI) with 2 by (field; lra); assert (0 <= d * d) by apply Rle_0_sqr; nra. }
  split; [assumption |]; split; [split; assumption |].
  assert (Hlog : ln (sqrt (2 / PI) / d) <= Q2R l).
  { apply (logarithm_le d (Q2R l) e); [assumption | split; assumption |].
    assert (0 <= d * e * (d * e)) by apply Rle_0_sqr; nra. }
  unfold extended_gaussian_sigma; set (L := ln (sqrt (2 / PI) / d)) in *.
  assert (Hu : sqrt L <= Q2R u) by (apply sqrt_le_square; lra).
  assert (Hv : sqrt (L + a) <= Q2R v) by (apply sqrt_le_square; lra).
  assert (Hw : sqrt 2 * sqrt (Q2R V) <= 2 * Q2R w).
  { rewrite <- sqrt_mult by lra; apply sqrt_le_square; lra. }
  assert (P1 := sqrt_pos L); assert (P2 := sqrt_pos (L + a)); assert (P3 := sqrt_pos 2);
    assert (P4 := sqrt_pos (Q2R V)).
  apply Rmult_le_reg_r with (2 * a); [lra |].
  replace (sqrt 2 * sqrt (Q2R V) / (2 * a) * (sqrt L + sqrt (L + a)) * (2 * a))
    with (sqrt 2 * sqrt (Q2R V) * (sqrt L + sqrt (L + a))) by (field; lra).
  apply Rle_trans with (2 * Q2R w * (Q2R u + Q2R v)); [| lra].
  apply Rmult_le_compat; [apply Rmult_le_pos; assumption | lra | assumption | lra].
Qed.
