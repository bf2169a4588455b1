(** * Whether Gaussian noise of a given shift has a given delta, by rational arithmetic

    [profile_at_most] decides whether the profile of a shift is at most delta: from the ends of
    [ProfileEnds.v], or, far in the tail where these need many terms, from the series of [MillsRatio.v].
    For discrete noise [grid_delta_at_most] adds what the grid costs. A wrong argument makes an answer
    false, never true. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals Bool PeanoNat ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal Gaussian ExtendedGaussian SigmaBound Tails
  ProfileEnds MillsRatio.
Open Scope R_scope.

(** ** The far tail *)

Lemma profile_le_far : forall terms nu epsilon, Nat.even terms = true -> 0 < nu ->
  let a := epsilon / nu - nu / 2 in let b := epsilon / nu + nu / 2 in 0 < a ->
  normal_tail a - exp epsilon * normal_tail b
  <= bell a * (mills_sum (S terms) 1 a - mills_sum terms 1 b) / (2 * kappa).
Proof.
  intros terms nu epsilon Heven Hnu a b Ha; assert (Hk := kappa_pos).
  assert (Hb : 0 < b) by (unfold a, b in *; lra).
  assert (E : exp epsilon * bell b = bell a).
  { unfold bell; rewrite <- exp_plus; f_equal; unfold a, b; field; lra. }
  assert (Hup := mills_encloses (S terms) a Ha); assert (Hlow := mills_encloses terms b Hb).
  rewrite Nat.even_succ, <- Nat.negb_even, Heven in Hup; rewrite Heven in Hlow; cbn [negb] in Hup.
  rewrite !normal_tail_tail.
  replace (tail a / (2 * kappa) - exp epsilon * (tail b / (2 * kappa)))
    with ((tail a - exp epsilon * tail b) / (2 * kappa)) by (field; lra).
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra |].
  assert (H : exp epsilon * (bell b * mills_sum terms 1 b) <= exp epsilon * tail b)
    by (apply Rmult_le_compat_l; [apply Rlt_le, exp_pos | exact Hlow]).
  rewrite <- Rmult_assoc, E in H; lra.
Qed.

(** 1 / sqrt (2 pi), rounded up. *)
Definition density_upper : Q := 39894228040143267794 # 100000000000000000000.

Lemma density_upper_holds : / (2 * kappa) <= Q2R density_upper.
Proof.
  assert (Hk := kappa_pos); assert (Hsquare := kappa_square); destruct pi_bounds as [Hpi _].
  assert (H : 1 <= Q2R (2 * pi_lower * (density_upper * density_upper)))
    by (rewrite <- RMicromega.Q2R_1; apply Qle_bool_R; vm_compute; reflexivity).
  rewrite !Q2R_mult, (Q2R_literal 2) in H; assert (Hq : 0 <= Q2R density_upper)
    by (apply Q2R_nonneg; discriminate).
  set (q := Q2R density_upper) in *; set (p := Q2R pi_lower) in *.
  assert (H1 : 1 * 1 <= q * (2 * kappa) * (q * (2 * kappa))).
  { replace (q * (2 * kappa) * (q * (2 * kappa))) with (2 * (2 * kappa ^ 2) * (q * q)) by ring.
    rewrite Hsquare; assert (0 <= q * q) by nra; nra. }
  apply square_reflects in H1; [| apply Rmult_le_pos; lra].
  apply Rmult_le_reg_r with (2 * kappa); [lra |]; rewrite Rinv_l; lra.
Qed.

Lemma fixed_rational : forall z, Q2R (z # 2 ^ 256) = fixed z.
Proof. reflexivity. Qed.

(** [mills_sum] times x^m, where u is 1/x^2. *)
Fixpoint rational_mills (terms m : nat) (u : Q) : Q :=
  match terms with
  | O => 0
  | S rest => 1 - inject_Z (Z.of_nat m) * u * rational_mills rest (S (S m)) u
  end%Q.

Lemma rational_mills_correct : forall terms m u x, 0 < x -> Q2R u = / x ^ 2 ->
  Q2R (rational_mills terms m u) * / x ^ m = mills_sum terms m x.
Proof.
  induction terms as [| terms IH]; intros m u x Hx Hu; cbn [rational_mills mills_sum];
    [rewrite RMicromega.Q2R_0; ring |].
  rewrite <- (IH (S (S m)) u x Hx Hu), Q2R_minus, !Q2R_mult, Q2R_of_nat, RMicromega.Q2R_1, Hu.
  cbn [pow]; field; repeat split; first [lra | apply pow_nonzero; lra].
Qed.

Lemma first_power : forall terms q, 0 < Q2R q ->
  Q2R (rational_mills terms 1 (1 / (q * q)) / q) = mills_sum terms 1 (Q2R q).
Proof.
  intros terms q Hq; rewrite Q2R_div by exact Hq; rewrite <- (rational_mills_correct terms 1 (1 / (q * q)));
    [unfold Rdiv; rewrite pow_1; reflexivity | exact Hq |].
  rewrite Q2R_div, Q2R_mult, RMicromega.Q2R_1 by (rewrite Q2R_mult; apply Rmult_lt_0_compat; exact Hq).
  unfold Rdiv; rewrite Rmult_1_l; f_equal; ring.
Qed.

(** An even number: the error is about 23!! / b^24 parts of a tail, and far out next to nothing. *)
Definition far_terms : nat := 12.

Definition far_profile_at_most (nu epsilon delta : Q) : bool :=
  let a := Qred (epsilon / nu - nu / 2) in
  let b := Qred (epsilon / nu + nu / 2) in
  let excess := (rational_mills (S far_terms) 1 (1 / (a * a)) / a
    - rational_mills far_terms 1 (1 / (b * b)) / b)%Q in
  negb (Qle_bool nu 0) && negb (Qle_bool a 0) && Qle_bool 0 delta &&
  Qle_bool (density_upper * excess) (delta * (exp_lower (a * a / 2) # 2 ^ 256)).

Lemma far_profile_at_most_correct : forall nu epsilon delta, far_profile_at_most nu epsilon delta = true ->
  0 < Q2R nu /\ normal_tail (Q2R epsilon / Q2R nu - Q2R nu / 2) -
    exp (Q2R epsilon) * normal_tail (Q2R epsilon / Q2R nu + Q2R nu / 2) <= Q2R delta.
Proof.
  intros nu epsilon delta H; unfold far_profile_at_most in H; cbv zeta in H.
  set (a := Qred (epsilon / nu - nu / 2)) in *; set (b := Qred (epsilon / nu + nu / 2)) in *.
  rewrite !andb_true_iff in H; destruct H as [[[Hnu Ha] Hd] H].
  apply Q_positive in Hnu, Ha; apply Qle_bool_R in Hd; rewrite RMicromega.Q2R_0 in Hd.
  split; [exact Hnu |].
  assert (Va : Q2R a = Q2R epsilon / Q2R nu - Q2R nu / 2).
  { unfold a; rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_minus, Q2R_half, Q2R_div by exact Hnu;
    reflexivity. }
  assert (Vb : Q2R b = Q2R epsilon / Q2R nu + Q2R nu / 2).
  { unfold b; rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus, Q2R_half, Q2R_div by exact Hnu; reflexivity. }
  assert (Hfar := profile_le_far far_terms (Q2R nu) (Q2R epsilon) eq_refl Hnu); cbv zeta in Hfar.
  rewrite <- Va, <- Vb in *; specialize (Hfar Ha); eapply Rle_trans; [exact Hfar |].
  assert (Hb : 0 < Q2R b) by lra; apply Qle_bool_R in H.
  rewrite !Q2R_mult, Q2R_minus, !first_power in H by assumption.
  set (x := Q2R a) in *; set (y := Q2R b) in *.
  assert (Hnum : (0 <= Qnum (a * a / 2))%Z).
  { apply numerator_nonneg; rewrite Q2R_half, Q2R_mult; fold x; nra. }
  destruct (exp_lower_correct (a * a / 2) Hnum) as [He0 He]; apply fixed_nonneg in He0.
  rewrite fixed_rational in H.
  set (e := fixed (exp_lower (a * a / 2))) in *; rewrite Q2R_half, Q2R_mult in He; fold x in He.
  set (m := mills_sum (S far_terms) 1 x - mills_sum far_terms 1 y) in *.
  assert (Hbell := bell_pos x); assert (Hk := kappa_pos); assert (Hq := density_upper_holds).
  assert (Hi : 0 < / (2 * kappa)) by (apply Rinv_0_lt_compat; lra).
  assert (Hone : bell x * exp (x * x / 2) = 1).
  { unfold bell; rewrite <- exp_plus, <- exp_0; f_equal; field. }
  destruct (Rle_or_lt m 0) as [Hneg | Hpos].
  - apply Rle_trans with 0; [| exact Hd]; unfold Rdiv; rewrite Rmult_assoc.
    rewrite <- (Rmult_0_r (bell x)); apply Rmult_le_compat_l; [lra |].
    rewrite <- (Rmult_0_l (/ (2 * kappa))); apply Rmult_le_compat_r; lra.
  - apply Rle_trans with (bell x * (Q2R density_upper * m)).
    + unfold Rdiv; rewrite Rmult_assoc; apply Rmult_le_compat_l; [lra |].
      rewrite Rmult_comm; apply Rmult_le_compat_r; lra.
    + apply Rle_trans with (bell x * (Q2R delta * exp (x * x / 2))).
      * apply Rmult_le_compat_l; [lra |]; eapply Rle_trans; [exact H |]; apply Rmult_le_compat_l; lra.
      * right; rewrite (Rmult_comm (Q2R delta)), <- Rmult_assoc, Hone; ring.
Qed.

(** ** The profile *)

(** [steps] and [bits] are those of [profile_bounds]. *)
Definition profile_at_most (steps : nat) (bits : positive) (nu epsilon delta : Q) : bool :=
  if far_profile_at_most nu epsilon delta then true else
  match profile_bounds steps bits nu epsilon with
  | Some (_, high) => Qle_bool high delta
  | None => false
  end.

Theorem profile_at_most_correct : forall steps bits nu epsilon delta,
  profile_at_most steps bits nu epsilon delta = true ->
  0 < Q2R nu /\ normal_tail (Q2R epsilon / Q2R nu - Q2R nu / 2) -
    exp (Q2R epsilon) * normal_tail (Q2R epsilon / Q2R nu + Q2R nu / 2) <= Q2R delta.
Proof.
  intros steps bits nu epsilon delta; unfold profile_at_most.
  destruct (far_profile_at_most nu epsilon delta) eqn:Efar;
    [intros _; apply far_profile_at_most_correct, Efar |].
  destruct (profile_bounds steps bits nu epsilon) as [[low high] |] eqn:E; [| discriminate].
  intros H; apply Qle_bool_R in H; destruct (profile_bounds_correct _ _ _ _ _ _ E) as [Hnu [_ Hhigh]].
  split; [exact Hnu | lra].
Qed.

(** ** Discrete noise on a grid *)

(** exp gap times the profile at [rest], and (1 + exp (rest + gap)) 4 k exp (- reach^2 / 2): at most delta. *)
Definition grid_delta_at_most (steps : nat) (bits : positive) (k : nat) (gap rest nu reach delta : Q) :
  bool :=
  match exp_ends (S steps) bits gap, exp_ends (S steps) bits (rest + gap) with
  | Some (_, g), Some (_, e) =>
      let tail_mass := (exp_lower (reach * reach / 2) # 2 ^ 256)%Q in
      let tails := ((1 + (e # 2 ^ bits)) * (4 * inject_Z (Z.of_nat k)) / tail_mass)%Q in
      Qle_bool 0 gap && Qle_bool 0 rest && negb (Qle_bool (g # 2 ^ bits) 0) && negb (Qle_bool tail_mass 0) &&
      profile_at_most steps bits nu rest ((delta - tails) / (g # 2 ^ bits))
  | _, _ => false
  end.

Theorem grid_delta_at_most_correct : forall steps bits k gap rest nu reach delta,
  grid_delta_at_most steps bits k gap rest nu reach delta = true ->
  0 < Q2R nu /\
  exp (Q2R gap) * (normal_tail (Q2R rest / Q2R nu - Q2R nu / 2) -
      exp (Q2R rest) * normal_tail (Q2R rest / Q2R nu + Q2R nu / 2)) +
    (1 + exp (Q2R rest + Q2R gap)) * (4 * INR k * exp (- (Q2R reach ^ 2 / 2))) <= Q2R delta.
Proof.
  intros steps bits k gap rest nu reach delta; unfold grid_delta_at_most; cbv zeta.
  destruct (exp_ends (S steps) bits gap) as [[g0 g] |] eqn:Eg; [| discriminate].
  destruct (exp_ends (S steps) bits (rest + gap)) as [[e0 e] |] eqn:Ee; [| discriminate].
  intros H; apply andb_prop in H; destruct H as [H' H]; apply andb_prop in H'; destruct H' as [H' Hmass].
  apply andb_prop in H'; destruct H' as [H' Hg]; apply andb_prop in H'; destruct H' as [Hgap Hrest].
  apply Qle_bool_R in Hgap, Hrest; apply Q_positive in Hg, Hmass; rewrite RMicromega.Q2R_0 in Hgap, Hrest.
  apply profile_at_most_correct in H; destruct H as [Hnu H]; split; [exact Hnu |].
  apply exp_ends_correct in Eg; [| apply numerator_nonneg, Hgap].
  apply exp_ends_correct in Ee; [| apply numerator_nonneg; rewrite Q2R_plus; lra].
  apply holds_rational in Eg, Ee; rewrite Q2R_plus in Ee.
  assert (Hreach : (0 <= Qnum (reach * reach / 2))%Z).
  { apply numerator_nonneg; rewrite Q2R_half, Q2R_mult; nra. }
  destruct (exp_lower_correct (reach * reach / 2) Hreach) as [_ Hexp]; rewrite Q2R_half, Q2R_mult in Hexp.
  rewrite <- fixed_rational in Hexp.
  rewrite Q2R_div, Q2R_minus, Q2R_div, !Q2R_mult, Q2R_plus, RMicromega.Q2R_1, (Q2R_literal 4), Q2R_of_nat in H
    by assumption.
  set (mass := Q2R (exp_lower (reach * reach / 2) # 2 ^ 256)) in *.
  set (G := Q2R (g # 2 ^ bits)) in *; set (E := Q2R (e # 2 ^ bits)) in *.
  set (P := normal_tail (Q2R rest / Q2R nu - Q2R nu / 2) -
    exp (Q2R rest) * normal_tail (Q2R rest / Q2R nu + Q2R nu / 2)) in *.
  assert (HP : 0 <= P).
  { unfold P; rewrite (normal_profile (Q2R nu) (Q2R rest) Hnu); assert (Hk := kappa_pos).
    apply Rmult_le_pos; [apply profile_nonneg, Hnu | left; apply Rinv_0_lt_compat; lra]. }
  assert (Hmain : exp (Q2R gap) * P + (1 + E) * (4 * INR k) / mass <= Q2R delta).
  { assert (exp (Q2R gap) * P <= G * P) by (apply Rmult_le_compat_r; lra).
    assert (G * P <= Q2R delta - (1 + E) * (4 * INR k) / mass); [| lra].
    eapply Rle_trans; [apply Rmult_le_compat_l; [lra | exact H] |]; right; field; lra. }
  assert (Hbell : exp (- (Q2R reach ^ 2 / 2)) <= / mass).
  { rewrite exp_Ropp; apply Rinv_le_contravar; [exact Hmass |].
    eapply Rle_trans; [exact Hexp |]; right; f_equal; field. }
  assert (Hk := pos_INR k); assert (He := exp_pos (Q2R rest + Q2R gap)).
  assert ((1 + exp (Q2R rest + Q2R gap)) * (4 * INR k * exp (- (Q2R reach ^ 2 / 2))) <=
    (1 + E) * (4 * INR k * / mass)); [| lra].
  assert (Hb := exp_pos (- (Q2R reach ^ 2 / 2))).
  apply Rmult_le_compat; [lra | apply Rmult_le_pos; lra | lra |]; apply Rmult_le_compat_l; lra.
Qed.
