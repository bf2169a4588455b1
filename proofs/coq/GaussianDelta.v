(** * Whether Gaussian noise of a given shift has a given delta, by rational arithmetic

    [profile_at_most] decides that the profile of a shift is at most delta: from the ends of [ProfileEnds.v],
    or, in the far tail, where these need many terms, from the first terms of Mills' ratio. Where noise is
    discrete on a grid, [grid_delta_at_most] adds what the grid costs. A wrong argument makes an answer false,
    never true. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals Bool ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal Gaussian ExtendedGaussian SigmaBound Tails
  ProfileEnds.
Open Scope R_scope.

(** ** The far tail *)

(** What falls, and comes near to 0, is not negative. *)
Lemma falls_to_0 : forall (f df : R -> R) x,
  (forall t, x <= t -> is_derive f t (df t)) -> (forall t, x <= t -> df t <= 0) ->
  (forall eta, 0 < eta -> exists t, x <= t /\ - eta <= f t) -> 0 <= f x.
Proof.
  intros f df x Hderive Hfalls Hlimit; apply le_epsilon; intros eta Heta.
  destruct (Hlimit eta Heta) as [t [Hxt Ht]].
  assert (f t <= f x); [| lra].
  apply (derivative_nonpos_le f df x t Hxt); intros u [Hu _]; [apply Hderive | apply Hfalls]; exact Hu.
Qed.

Lemma far_enough : forall x eta, 0 < eta -> exists t, x <= t /\ 1 <= t /\ bell t <= eta.
Proof.
  intros x eta Heta; destruct (bell_vanishes eta Heta) as [M [_ HM]].
  exists (Rmax x (Rmax 1 M)); assert (H1 := Rmax_l x (Rmax 1 M)); assert (H2 := Rmax_r x (Rmax 1 M)).
  assert (H3 := Rmax_l 1 M); assert (H4 := Rmax_r 1 M).
  split; [exact H1 | split; [lra |]]; apply HM; rewrite Rabs_right; lra.
Qed.

Lemma small_powers : forall t, 1 <= t -> 0 < / t <= 1 /\ 0 <= / t ^ 3 <= / t /\ 0 <= / t ^ 5.
Proof.
  intros t Ht; assert (H1 : 0 < / t) by (apply Rinv_0_lt_compat; lra).
  assert (H2 : / t <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  rewrite <- !pow_inv; set (u := / t) in *; repeat split; try lra; try (apply pow_le; lra).
  simpl; rewrite Rmult_1_r; assert (u * u <= 1) by nra; nra.
Qed.

Lemma mills_lower : forall x, 0 < x -> bell x * (/ x - / x ^ 3) <= tail x.
Proof.
  intros x Hx; apply Rminus_le_0.
  apply (falls_to_0 (fun t => tail t - bell t * (/ t - / t ^ 3)) (fun t => - (3 * bell t / t ^ 4))).
  - intros t Ht.
    apply derive_value with (- bell t - (- t * bell t * (/ t - / t ^ 3) + bell t * (- / t ^ 2 + 3 / t ^ 4))).
    + apply (derive_minus tail); [apply tail_derivative |].
      apply (derive_mult bell (fun u => / u - / u ^ 3)); [apply bell_derivative |].
      assert (Hpow : forall k, t ^ k <> 0) by (intros k; apply pow_nonzero; lra).
      auto_derive; [repeat split; try apply (Hpow 3%nat); try apply (Hpow 5%nat); lra |].
      simpl; field; lra.
    + simpl; field; lra.
  - intros t Ht; assert (Hb := bell_pos t); assert (0 < t ^ 4) by (apply pow_lt; lra).
    assert (0 <= 3 * bell t / t ^ 4); [| lra]; apply Rmult_le_pos; [lra |].
    left; apply Rinv_0_lt_compat; assumption.
  - intros eta Heta; destruct (far_enough x eta Heta) as [t [Hxt [Ht Hbell]]]; exists t; split; [exact Hxt |].
    destruct (small_powers t Ht) as [H1 [H3 _]]; assert (Hb := bell_pos t); assert (Htail := tail_bounds t).
    assert (bell t * (/ t - / t ^ 3) <= bell t * 1) by (apply Rmult_le_compat_l; lra); lra.
Qed.

Lemma mills_upper : forall x, 0 < x -> tail x <= bell x * (/ x - / x ^ 3 + 3 * / x ^ 5).
Proof.
  intros x Hx; apply Rminus_le_0.
  apply (falls_to_0 (fun t => bell t * (/ t - / t ^ 3 + 3 * / t ^ 5) - tail t)
    (fun t => - (15 * bell t / t ^ 6))).
  - intros t Ht.
    apply derive_value with (- t * bell t * (/ t - / t ^ 3 + 3 * / t ^ 5)
      + bell t * (- / t ^ 2 + 3 / t ^ 4 - 15 / t ^ 6) - - bell t).
    + apply (derive_minus (fun u => bell u * (/ u - / u ^ 3 + 3 * / u ^ 5))); [| apply tail_derivative].
      apply (derive_mult bell (fun u => / u - / u ^ 3 + 3 * / u ^ 5)); [apply bell_derivative |].
      assert (Hpow : forall k, t ^ k <> 0) by (intros k; apply pow_nonzero; lra).
      auto_derive; [repeat split; try apply (Hpow 3%nat); try apply (Hpow 5%nat); lra |].
      simpl; field; lra.
    + simpl; field; lra.
  - intros t Ht; assert (Hb := bell_pos t); assert (0 < t ^ 6) by (apply pow_lt; lra).
    assert (0 <= 15 * bell t / t ^ 6); [| lra]; apply Rmult_le_pos; [lra |].
    left; apply Rinv_0_lt_compat; assumption.
  - intros eta Heta; destruct (far_enough x (eta / 2) ltac:(lra)) as [t [Hxt [Ht Hbell]]]; exists t.
    split; [exact Hxt |].
    destruct (small_powers t Ht) as [H1 [H3 H5]]; assert (Hb := bell_pos t).
    assert (Htail := tail_le_bell t ltac:(lra)); assert (Hk := kappa_le_2); assert (Hk' := kappa_pos).
    assert (0 <= bell t * (/ t - / t ^ 3 + 3 * / t ^ 5)) by (apply Rmult_le_pos; lra).
    assert (kappa * bell t <= 2 * bell t) by (apply Rmult_le_compat_r; lra); lra.
Qed.

Lemma profile_le_far : forall nu epsilon, 0 < nu ->
  let a := epsilon / nu - nu / 2 in let b := epsilon / nu + nu / 2 in 0 < a ->
  normal_tail a - exp epsilon * normal_tail b
  <= bell a * (/ a - / a ^ 3 + 3 * / a ^ 5 - (/ b - / b ^ 3)) / (2 * kappa).
Proof.
  intros nu epsilon Hnu a b Ha; assert (Hk := kappa_pos); assert (Hb : 0 < b) by (unfold a, b in *; lra).
  assert (E : exp epsilon * bell b = bell a).
  { unfold bell; rewrite <- exp_plus; f_equal; unfold a, b; field; lra. }
  rewrite !normal_tail_tail; assert (Hup := mills_upper a Ha); assert (Hlow := mills_lower b Hb).
  replace (tail a / (2 * kappa) - exp epsilon * (tail b / (2 * kappa)))
    with ((tail a - exp epsilon * tail b) / (2 * kappa)) by (field; lra).
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra |].
  assert (H : exp epsilon * (bell b * (/ b - / b ^ 3)) <= exp epsilon * tail b)
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

Definition far_profile_at_most (nu epsilon delta : Q) : bool :=
  let a := Qred (epsilon / nu - nu / 2) in
  let b := Qred (epsilon / nu + nu / 2) in
  let excess := (1 / a - 1 / (a * a * a) + 3 / (a * a * a * a * a) - (1 / b - 1 / (b * b * b)))%Q in
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
  assert (Hfar := profile_le_far (Q2R nu) (Q2R epsilon) Hnu); cbv zeta in Hfar.
  rewrite <- Va, <- Vb in *; specialize (Hfar Ha); eapply Rle_trans; [exact Hfar |].
  assert (Hb : 0 < Q2R b) by lra; apply Qle_bool_R in H.
  assert (Ha3 : 0 < Q2R (a * a * a)) by (rewrite !Q2R_mult; repeat (apply Rmult_lt_0_compat; [|
    assumption]); assumption).
  assert (Hb3 : 0 < Q2R (b * b * b)) by (rewrite !Q2R_mult; repeat (apply Rmult_lt_0_compat; [|
    assumption]); assumption).
  assert (Ha5 : 0 < Q2R (a * a * a * a * a))
    by (rewrite !Q2R_mult; repeat (apply Rmult_lt_0_compat; [| assumption]); assumption).
  rewrite !Q2R_mult, !Q2R_minus, Q2R_plus, !Q2R_minus, !Q2R_div, RMicromega.Q2R_1, (Q2R_literal 3) in H
    by assumption.
  rewrite !Q2R_mult in H; set (x := Q2R a) in *; set (y := Q2R b) in *.
  assert (Hnum : (0 <= Qnum (a * a / 2))%Z).
  { apply numerator_nonneg; rewrite Q2R_half, Q2R_mult; fold x; nra. }
  destruct (exp_lower_correct (a * a / 2) Hnum) as [He0 He]; apply fixed_nonneg in He0.
  rewrite fixed_rational in H.
  set (e := fixed (exp_lower (a * a / 2))) in *; rewrite Q2R_half, Q2R_mult in He; fold x in He.
  set (m := / x - / x ^ 3 + 3 * / x ^ 5 - (/ y - / y ^ 3)).
  assert (Hm : Q2R density_upper * m <= Q2R delta * e).
  { eapply Rle_trans; [| exact H]; right; unfold m; f_equal; field; lra. }
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
      * apply Rmult_le_compat_l; [lra |]; eapply Rle_trans; [exact Hm |]; apply Rmult_le_compat_l; lra.
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
  rewrite !andb_true_iff; intros [[[[Hgap Hrest] Hg] Hmass] H].
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
