(** * Hardened noise: discrete Laplace noise on exact coefficients, rounded and clamped to a public grid

    [reference/noise/hardened.py] rounds each exact coefficient to the nearest step, clamps it, and adds
    discrete noise of its own scale, counted in steps. We bound the loss of these whole numbers. Whatever is
    done with them afterwards, such as the cast to 64 bits, is any function of them. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith Lia Lra.
From CFM Require Import Definitions Sums Normal Box BoxSensitivity Laplace Theorem3 Certificates Countable.
Import ListNotations.
Open Scope R_scope.

(** ** Definitions *)

(** Mass proportional to exp (-|j| / scale). *)
Definition discrete_laplace (scale : R) (j : Z) : R :=
  (1 - exp (- / scale)) / (1 + exp (- / scale)) * exp (- (IZR (Z.abs j) / scale)).

(** Rounding to a nearest whole number, however ties are broken. *)
Definition rounds_to_nearest (round : R -> Z) : Prop := forall v, Rabs (IZR (round v) - v) <= 1 / 2.

(** The public grid: steps in one unit, how values are rounded to steps, and the largest number of steps. *)
Record grid := Grid { grid_steps : R; rounding : R -> Z; largest_step : Z }.

Definition sound_grid (g : grid) : Prop :=
  0 < grid_steps g /\ rounds_to_nearest (rounding g) /\ (0 <= largest_step g)%Z.

Definition on_steps (g : grid) (v : R) : Z :=
  Z.max (- largest_step g) (Z.min (largest_step g) (rounding g (v * grid_steps g))).

(** The law of the released whole numbers; scales are counted in steps. *)
Definition hardened_release (noise : R -> Z -> R) (g : grid) (scale : monomial -> R) (r : reading) (d : nat)
    (D : dataset) : integers (length (Phi (basis r) d)) -> R :=
  product_mass (Phi (basis r) d) (fun phi j => noise (scale phi) (j - on_steps g (coefficient r D phi))%Z).

(** (epsilon, delta)-differential privacy of whatever is published of the released whole numbers, for every
    event. *)
Definition hardened_private (a : adjacency) (epsilon delta : R) (n d : nat) (domain : record -> Prop)
    (noise : R -> Z -> R) (g : grid) (scale : monomial -> R) (r : reading) : Prop :=
  forall D D', adjacent a n domain D D' ->
  forall (B : Type) (publish : integers (length (Phi (basis r) d)) -> B) (event : B -> Prop) P Q,
    chance (hardened_release noise g scale r d D) (fun zs => event (publish zs)) P ->
    chance (hardened_release noise g scale r d D') (fun zs => event (publish zs)) Q ->
    P <= exp epsilon * Q + delta.

(** What rounding adds to the l1-sensitivity: d |Phi_s| steps. *)
Definition l1_slack (b : quadratic_basis) (d : nat) (g : grid) : R :=
  INR d * INR (length (filter (contains 0) (Phi b d))) / grid_steps g.

(** ** Discrete Laplace noise is a law *)

Fixpoint up_to (k : nat) : list Z :=
  match k with O => [0%Z] | S k' => Z.of_nat (S k') :: (- Z.of_nat (S k'))%Z :: up_to k' end.

Lemma in_up_to : forall k z, In z (up_to k) <-> (Z.abs z <= Z.of_nat k)%Z.
Proof.
  induction k as [| k IH]; intros z; cbn [up_to In]; [lia |]; rewrite IH; lia.
Qed.

Lemma up_to_once : forall k, NoDup (up_to k).
Proof.
  induction k as [| k IH]; cbn [up_to]; [constructor; [intros [] | constructor] |].
  repeat constructor; [intros [H | H]; [lia | rewrite in_up_to in H; lia] | rewrite in_up_to;
    lia | exact IH].
Qed.

Lemma within_up_to : forall l : list Z, exists k, incl l (up_to k).
Proof.
  induction l as [| z l [k IH]]; [exists O; intros z [] |].
  exists (Nat.max k (Z.to_nat (Z.abs z))); intros w [<- | Hw]; apply in_up_to; [lia |].
  apply IH, in_up_to in Hw; lia.
Qed.

Section DiscreteLaplace.
Variable scale : R.
Hypothesis scale_pos : 0 < scale.

Lemma ratio_range : 0 < exp (- / scale) < 1.
Proof.
  assert (H : 0 < / scale) by (apply Rinv_0_lt_compat; exact scale_pos).
  split; [apply exp_pos | apply Rlt_le_trans with (exp 0); [apply exp_increasing; lra | rewrite exp_0;
    lra]].
Qed.

Lemma discrete_laplace_pos : forall j, 0 < discrete_laplace scale j.
Proof.
  intros j; generalize ratio_range; intros H; apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra |].
  apply exp_pos.
Qed.

Lemma next_power : forall k,
  exp (- (IZR (Z.of_nat (S k)) / scale)) = exp (- / scale) * exp (- (IZR (Z.of_nat k) / scale)).
Proof.
  intros k; rewrite <- exp_plus; f_equal; rewrite Nat2Z.inj_succ; unfold Z.succ; rewrite plus_IZR; field;
    lra.
Qed.

Lemma discrete_laplace_up_to : forall k, sum_over (up_to k) (discrete_laplace scale) =
  1 - 2 / (1 + exp (- / scale)) * exp (- (IZR (Z.of_nat (S k)) / scale)).
Proof.
  generalize ratio_range; intros Ha; induction k as [| k IH].
  - rewrite next_power; cbn [up_to]; rewrite sum_cons; cbn [sum_over fold_right]; unfold discrete_laplace.
    replace (- (IZR (Z.abs 0) / scale)) with 0 by (cbn; field; lra).
    replace (- (IZR (Z.of_nat 0) / scale)) with 0 by (cbn; field; lra); rewrite exp_0; field; lra.
  - cbn [up_to]; rewrite !sum_cons, IH, (next_power (S k)); unfold discrete_laplace.
    rewrite Z.abs_opp, Z.abs_eq by lia; field; lra.
Qed.

Lemma discrete_laplace_law : countable_law (discrete_laplace scale).
Proof.
  generalize ratio_range; intros Ha; apply law_intro.
  - intros j; left; apply discrete_laplace_pos.
  - intros l Hl; destruct (within_up_to l) as [k Hk].
    eapply Rle_trans; [apply (sum_incl _ (up_to k)); [intros j; left;
      apply discrete_laplace_pos | exact Hl |
      exact Hk] |].
    rewrite discrete_laplace_up_to.
    assert (0 < 2 / (1 + exp (- / scale)) * exp (- (IZR (Z.of_nat (S k)) / scale)))
      by (apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra | apply exp_pos]); lra.
  - intros eta Heta; destruct (archimed (2 * scale / eta)) as [Hup _].
    assert (Hx : 0 < 2 * scale / eta) by (apply Rdiv_lt_0_compat; lra).
    set (k := Z.to_nat (up (2 * scale / eta))).
    assert (Hk : 2 * scale / eta < IZR (Z.of_nat (S k))).
    { eapply Rlt_le_trans; [exact Hup |]; apply IZR_le; unfold k; lia. }
    exists (up_to k); split; [apply up_to_once |]; rewrite discrete_laplace_up_to.
    set (t := IZR (Z.of_nat (S k))) in *.
    assert (Ht : 0 < t / scale) by (apply Rdiv_lt_0_compat; lra).
    assert (He : exp (- (t / scale)) <= eta / 2).
    { eapply Rle_trans; [apply exp_opp_le; lra |].
      apply Rmult_le_reg_l with (1 + t / scale); [lra |]; rewrite Rinv_r by lra.
      assert (Hle : 2 * scale / eta * (eta / (2 * scale)) <= t * (eta / (2 * scale))).
      { apply Rmult_le_compat_r; [left; apply Rdiv_lt_0_compat |]; lra. }
      replace (2 * scale / eta * (eta / (2 * scale))) with 1 in Hle by (field; lra).
      replace ((1 + t / scale) * (eta / 2)) with (eta / 2 + t * (eta / (2 * scale))) by (field; lra); lra. }
    assert (2 / (1 + exp (- / scale)) <= 2).
    { apply Rmult_le_reg_r with (1 + exp (- / scale)); [lra |].
      replace (2 / (1 + exp (- / scale)) * (1 + exp (- / scale))) with 2 by (field; lra); lra. }
    generalize (exp_pos (- (t / scale))); nra.
Qed.

Lemma discrete_laplace_ratio : forall c c' j,
  discrete_laplace scale (j - c) <= exp (IZR (Z.abs (c - c')) / scale) * discrete_laplace scale (j - c').
Proof.
  intros c c' j; unfold discrete_laplace.
  set (w := (1 - exp (- / scale)) / (1 + exp (- / scale))).
  assert (Hw : 0 < w) by (generalize ratio_range; intros; apply Rdiv_lt_0_compat; lra).
  replace (exp (IZR (Z.abs (c - c')) / scale) * (w * exp (- (IZR (Z.abs (j - c')) / scale))))
    with (w * exp (IZR (Z.abs (c - c')) / scale + - (IZR (Z.abs (j - c')) / scale))) by (rewrite exp_plus;
      ring).
  apply Rmult_le_compat_l; [lra |]; apply exp_le.
  replace (IZR (Z.abs (c - c')) / scale + - (IZR (Z.abs (j - c')) / scale))
    with (- ((IZR (Z.abs (j - c')) - IZR (Z.abs (c - c'))) / scale)) by (field; lra).
  apply Ropp_le_contravar, Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact scale_pos |].
  rewrite <- minus_IZR; apply IZR_le; lia.
Qed.
End DiscreteLaplace.

Lemma shifted_law : forall (p : Z -> R) c, countable_law p -> countable_law (fun j => p (j - c)%Z).
Proof.
  intros p c Hp; apply law_intro; [intros j; apply law_nonneg, Hp | |].
  - intros l Hl; rewrite <- (sum_map Z Z l (fun j => (j - c)%Z) p); apply law_sum; [exact Hp |].
    apply map_once; [intros; lia | exact Hl].
  - intros eta Heta; destruct (law_nearly p eta Hp Heta) as [l [Hl Hnear]].
    exists (map (fun j => (j + c)%Z) l); split; [apply map_once; [intros; lia | exact Hl] |].
    rewrite sum_map; eapply Rle_trans; [exact Hnear |]; right; apply sum_ext; intros j _; f_equal; lia.
Qed.

(** ** Rounding and clamping *)

Lemma on_steps_moves : forall g v v', sound_grid g ->
  IZR (Z.abs (on_steps g v - on_steps g v')) <= Rabs (v - v') * grid_steps g + 1.
Proof.
  intros g v v' [Hs [Hround Hlargest]].
  apply Rle_trans with (IZR (Z.abs (rounding g (v * grid_steps g) - rounding g (v' * grid_steps g)))).
  - apply IZR_le; unfold on_steps; lia.
  - rewrite abs_IZR, minus_IZR.
    assert (H := Hround (v * grid_steps g)); assert (H' := Hround (v' * grid_steps g)).
    replace (Rabs (v - v') * grid_steps g) with (Rabs (v * grid_steps g - v' * grid_steps g))
      by (rewrite <- Rmult_minus_distr_r, Rabs_mult, (Rabs_right (grid_steps g)) by lra; reflexivity).
    unfold Rabs in *; repeat destruct Rcase_abs; lra.
Qed.

(** ** Laplace noise *)

Section Accounting.
Variables (a : adjacency) (r : reading) (n d : nat) (domain : record -> Prop) (g : grid)
  (scale : monomial -> R).
Hypothesis scale_pos : forall phi, 0 < scale phi.

Lemma hardened_laplace_law : forall D, countable_law (hardened_release discrete_laplace g scale r d D).
Proof. intros D; apply product_law; intros phi; apply shifted_law, discrete_laplace_law, scale_pos. Qed.

Definition hardened_loss (D D' : dataset) : R := sum_over (Phi (basis r) d) (fun phi =>
  IZR (Z.abs (on_steps g (coefficient r D phi) - on_steps g (coefficient r D' phi))) / scale phi).

(** The outcome without noise shows the whole loss. *)
Lemma noiseless : forall (l : list monomial) c c',
  exists zs, product_mass l (fun phi j => discrete_laplace (scale phi) (j - c phi)) zs =
    exp (sum_over l (fun phi => IZR (Z.abs (c phi - c' phi)) / scale phi)) *
    product_mass l (fun phi j => discrete_laplace (scale phi) (j - c' phi)) zs /\
    0 < product_mass l (fun phi j => discrete_laplace (scale phi) (j - c' phi)) zs.
Proof.
  intros l c c'; induction l as [| phi l [zs [E Hpos]]].
  - exists tt; cbn; rewrite exp_0; lra.
  - exists (c phi, zs); cbn [product_mass fst snd]; rewrite E, sum_cons, exp_plus; split.
    + unfold discrete_laplace; rewrite Z.sub_diag; cbn [Z.abs].
      assert (H : exp (- (0 / scale phi)) =
        exp (IZR (Z.abs (c phi - c' phi)) / scale phi) * exp (- (IZR (Z.abs (c phi - c' phi)) / scale
          phi))).
      { rewrite <- exp_plus; f_equal; unfold Rdiv; ring. }
      rewrite H; ring.
    + apply Rmult_lt_0_compat; [apply discrete_laplace_pos, scale_pos | exact Hpos].
Qed.

Theorem hardened_laplace_iff : forall epsilon,
  hardened_private a epsilon 0 n d domain discrete_laplace g scale r <->
  (forall D D', adjacent a n domain D D' -> hardened_loss D D' <= epsilon).
Proof.
  intros epsilon; split; intros H D D' HDD'.
  - destruct (noiseless (Phi (basis r) d) (fun phi => on_steps g (coefficient r D phi))
      (fun phi => on_steps g (coefficient r D' phi))) as [zs [E Hpos]].
    assert (Hc := fun D => chance_finite (hardened_release discrete_laplace g scale r d D) [zs]
      (law_nonneg _ (hardened_laplace_law D)) ltac:(constructor; [intros [] | constructor])).
    assert (Hle := H D D' HDD' _ (fun z => z) (fun z => In z [zs]) _ _ (Hc D) (Hc D')).
    cbn [sum_over fold_right] in Hle; unfold hardened_release in Hle; rewrite E in Hle.
    fold (hardened_loss D D') in Hle.
    set (m := product_mass _ _ _) in *; destruct (Rle_or_lt (hardened_loss D D') epsilon) as [Hok | Hbad];
      [exact Hok | exfalso].
    assert (exp epsilon < exp (hardened_loss D D')) by (apply exp_increasing, Hbad); nra.
  - intros B publish event; apply close_of_ratio; intros zs.
    eapply Rle_trans; [apply (product_ratio _ _ (fun phi j => discrete_laplace (scale phi)
      (j - on_steps g (coefficient r D' phi))) (fun phi => IZR (Z.abs (on_steps g (coefficient r D phi)
      - on_steps g (coefficient r D' phi))) / scale phi)) |].
    + intros; left; apply discrete_laplace_pos, scale_pos.
    + intros; left; apply discrete_laplace_pos, scale_pos.
    + intros phi j; apply discrete_laplace_ratio, scale_pos.
    + apply Rmult_le_compat_r; [apply law_nonneg, hardened_laplace_law | exact (exp_le _ _ (H D D' HDD'))].
Qed.
End Accounting.

(** ** How many coefficients there are *)

Lemma count_as_sum : forall (l : list monomial), INR (length l) = sum_over l (fun _ => 1).
Proof. intros l; rewrite sum_const; ring. Qed.

Definition pair_weight (b : quadratic_basis) (e l : nat) : R :=
  match b with MatrixBasis => 8 | MonomialBasis => if Nat.eqb e l then 8 else 4 end.

Lemma pair_weight_symmetric : forall b e l, pair_weight b e l = pair_weight b l e.
Proof. intros [] e l; [reflexivity |]; unfold pair_weight; rewrite Nat.eqb_sym; reflexivity. Qed.

Lemma one_weighted : forall b (phi : monomial),
  1 = match phi with Linear e => 1 | Quadratic e l => quadratic_factor b e l * pair_weight b e l end.
Proof. intros [] [e | e l]; cbn; try destruct (Nat.eqb e l); field. Qed.

Lemma row_weight : forall b d e, (e < d)%nat -> sum_over (coordinates d) (fun l => pair_weight b e l) =
  match b with MatrixBasis => 8 * INR d | MonomialBasis => 4 * INR d + 4 end.
Proof.
  intros [] d e He; cbn [pair_weight]; [rewrite sum_coordinates_const; ring |].
  rewrite (sum_ext _ _ (fun l => (if Nat.eqb l e then 4 else 0) + 4))
    by (intros l _; rewrite Nat.eqb_sym; destruct (Nat.eqb l e); lra).
  rewrite sum_plus, sum_coordinates_const, (sum_delta d e (fun _ => 4)) by exact He; ring.
Qed.

Lemma count_all : forall b d, INR (length (Phi b d)) =
  INR d + match b with MatrixBasis => INR d ^ 2 | MonomialBasis => INR d * (INR d + 1) / 2 end.
Proof.
  intros b d; rewrite count_as_sum, (sum_ext _ _ _ (fun phi _ => one_weighted b phi)).
  rewrite (sum_all_monomials b d (fun _ => 1) (pair_weight b)) by apply pair_weight_symmetric.
  rewrite (sum_ext (coordinates d) (fun e => sum_over (coordinates d) (fun l => pair_weight b e l))
    (fun _ => match b with MatrixBasis => 8 * INR d | MonomialBasis => 4 * INR d + 4 end))
    by (intros e He; apply row_weight, in_coordinates, He).
  rewrite !sum_coordinates_const; destruct b; field.
Qed.

Lemma count_with_s : forall b d s, (s < d)%nat -> INR (length (filter (contains s) (Phi b d))) =
  match b with MatrixBasis => 2 * INR d | MonomialBasis => INR d + 1 end.
Proof.
  intros b d s Hs; rewrite count_as_sum, (sum_ext _ _ _ (fun phi _ => one_weighted b phi)).
  rewrite (sum_monomials_with_s b d s (fun _ => 1) (pair_weight b) Hs) by apply pair_weight_symmetric.
  rewrite row_weight by exact Hs; destruct b; cbn [pair_weight]; rewrite ?Nat.eqb_refl; field.
Qed.

Lemma count_without_s : forall b d s, (s < d)%nat -> INR (length (filter (contains_not s) (Phi b d))) =
  INR d + match b with
    | MatrixBasis => INR d ^ 2 - 2 * INR d
    | MonomialBasis => INR d * (INR d + 1) / 2 - (INR d + 1)
    end.
Proof.
  intros b d s Hs; assert (Hall := count_all b d); assert (Hpart := count_with_s b d s Hs).
  rewrite count_as_sum in *; rewrite (sum_two_parts _ s) in Hall; destruct b; lra.
Qed.

(** ** Scales from sensitivities *)

Lemma part_loss : forall r d g (scale : monomial -> R) part D D' b, sound_grid g -> 0 < b ->
  (forall phi, part phi = true -> b <= scale phi) ->
  sum_over (filter part (Phi (basis r) d)) (fun phi =>
    IZR (Z.abs (on_steps g (coefficient r D phi) - on_steps g (coefficient r D' phi))) / scale phi) <=
  (l1_change r d part D D' * grid_steps g + INR (length (filter part (Phi (basis r) d)))) / b.
Proof.
  intros r d g scale part D D' b Hg Hb Hscale; unfold l1_change.
  rewrite count_as_sum, <- sum_scal_r, <- sum_plus; unfold Rdiv at 2; rewrite <- sum_scal_r.
  apply sum_le; intros phi Hphi; apply filter_In in Hphi; destruct Hphi as [_ Hpart].
  specialize (Hscale phi Hpart); unfold Rdiv; apply Rmult_le_compat.
  - apply (IZR_le 0); lia.
  - left; apply Rinv_0_lt_compat; lra.
  - apply on_steps_moves, Hg.
  - apply Rinv_le_contravar; assumption.
Qed.

Section Calibrated.
Variables (a : adjacency) (r : reading) (n d : nat) (domain : record -> Prop) (g : grid).
Hypothesis Hgrid : sound_grid g.
Hypothesis Hd : (1 <= d)%nat.

Lemma slack_in_steps : 0 < l1_slack (basis r) d g /\
  l1_slack (basis r) d g * grid_steps g =
    INR d * match basis r with MatrixBasis => 2 * INR d | MonomialBasis => INR d + 1 end.
Proof.
  assert (H1 := le_INR 1 d Hd); cbn in H1; destruct Hgrid as [Hs _].
  unfold l1_slack; rewrite (count_with_s (basis r) d 0) by lia; split; [| field; lra].
  apply Rdiv_lt_0_compat; [| exact Hs]; destruct (basis r); nra.
Qed.

Theorem hardened_laplace_calibrated : forall l1_sensitivity epsilon scale, 0 < epsilon -> 0 <=
  l1_sensitivity ->
  (forall D D', adjacent a n domain D D' -> l1_change r d all_monomials D D' <= l1_sensitivity) ->
  (forall phi, (l1_sensitivity + l1_slack (basis r) d g) / epsilon * grid_steps g <= scale phi) ->
  hardened_private a epsilon 0 n d domain discrete_laplace g scale r.
Proof.
  intros l1 epsilon scale He Hl1 Hchange Hscale.
  destruct slack_in_steps as [Hpos Hslack]; assert (Hs := proj1 Hgrid); assert (H1 := le_INR 1 d Hd);
    cbn in H1.
  set (S := l1_slack (basis r) d g) in *; set (b := (l1 + S) / epsilon * grid_steps g) in *.
  assert (Hb : 0 < b) by (apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra | exact Hs]).
  apply hardened_laplace_iff; [intros phi; specialize (Hscale phi); lra |]; intros D D' H.
  assert (Hpart := part_loss r d g scale all_monomials D D' b Hgrid Hb (fun phi _ => Hscale phi)).
  rewrite filter_all in Hpart; fold (hardened_loss r d g scale D D') in Hpart.
  eapply Rle_trans; [exact Hpart |]; rewrite count_all; specialize (Hchange D D' H).
  apply Rmult_le_reg_r with b; [exact Hb |]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  replace (epsilon * b) with (l1 * grid_steps g + S * grid_steps g) by (unfold b; field; lra); rewrite Hslack.
  assert (l1_change r d all_monomials D D' * grid_steps g <= l1 * grid_steps g)
    by (apply Rmult_le_compat_r; lra).
  destruct (basis r); nra.
Qed.

(** PDFC: where Theorem 3 holds at Delta_1, it holds for the rounded coefficients at Delta_1 plus the
slack. *)
Theorem hardened_pdfc_calibrated : forall s l1_sensitivity epsilon_s epsilon_n scale_s scale_n,
  (s < d)%nat -> 0 < epsilon_s -> 0 < epsilon_n -> 0 <= l1_sensitivity ->
  (forall D D', adjacent a n domain D D' ->
    epsilon_s * l1_change r d (contains s) D D' + epsilon_n * l1_change r d (contains_not s) D D' <=
    l1_sensitivity * stated_epsilon d epsilon_s epsilon_n) ->
  (l1_sensitivity + l1_slack (basis r) d g) / epsilon_s * grid_steps g <= scale_s ->
  (l1_sensitivity + l1_slack (basis r) d g) / epsilon_n * grid_steps g <= scale_n ->
  hardened_private a (stated_epsilon d epsilon_s epsilon_n) 0 n d domain discrete_laplace g
    (two_scales s scale_s scale_n) r.
Proof.
  intros s l1 es en scale_s scale_n Hsd Hes Hen Hl1 Hchange Hscale_s Hscale_n.
  destruct slack_in_steps as [Hpos Hslack]; assert (Hs := proj1 Hgrid); assert (H1 := le_INR 1 d Hd);
    cbn in H1.
  set (S := l1_slack (basis r) d g) in *.
  set (b_s := (l1 + S) / es * grid_steps g) in *; set (b_n := (l1 + S) / en * grid_steps g) in *.
  assert (Hbs : 0 < b_s) by (apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra | exact Hs]).
  assert (Hbn : 0 < b_n) by (apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra | exact Hs]).
  apply hardened_laplace_iff; [apply two_scales_pos; lra |]; intros D D' H; specialize (Hchange D D' H).
  unfold hardened_loss; rewrite (sum_two_parts _ s).
  eapply Rle_trans; [apply Rplus_le_compat |].
  - apply (part_loss r d g (two_scales s scale_s scale_n) (contains s) D D' b_s Hgrid Hbs).
    intros phi Hphi; unfold two_scales; rewrite Hphi; exact Hscale_s.
  - apply (part_loss r d g (two_scales s scale_s scale_n) (contains_not s) D D' b_n Hgrid Hbn).
    intros phi Hphi; unfold two_scales; unfold contains_not in Hphi; destruct (contains s phi);
      [discriminate | exact Hscale_n].
  - rewrite (count_with_s _ d s Hsd), (count_without_s _ d s Hsd); unfold stated_epsilon in *.
    set (L := l1_change r d (contains s) D D') in *; set (N := l1_change r d (contains_not s) D D') in *.
    set (k := INR d) in *; set (step := grid_steps g) in *; set (E := es / k + en * (k - 1) / k) in *.
    apply Rmult_le_reg_r with ((l1 + S) * step); [apply Rmult_lt_0_compat; [lra | exact Hs] |].
    assert (HE : k * E = es + en * (k - 1)) by (unfold E; field; lra).
    assert (HL : (es * L + en * N) * step <= l1 * E * step).
    { apply Rmult_le_compat_r; [lra | exact Hchange]. }
    match goal with |- ((?u + ?m) / b_s + (?v + ?w) / b_n) * _ <= _ =>
      replace (((u + m) / b_s + (v + w) / b_n) * ((l1 + S) * step)) with ((u + m) * es + (v + w) * en)
        by (unfold b_s, b_n; field; repeat split; lra) end.
    replace (E * ((l1 + S) * step)) with (l1 * E * step + (S * step) * E) by ring; rewrite Hslack.
    destruct (basis r).
    + replace (k * (2 * k) * E) with (2 * k * (k * E)) by ring; rewrite HE.
      assert (0 <= en * (k * (k - 1))) by (apply Rmult_le_pos; nra); lra.
    + replace (k * (k + 1) * E) with ((k + 1) * (k * E)) by ring; rewrite HE.
      assert (0 <= en * ((k - 1) * (k + 1) - (k + k * (k + 1) / 2 - (k + 1)))); [| lra].
      apply Rmult_le_pos; [lra |]; nra.
Qed.
End Calibrated.

Theorem hardened_pdfc_published : forall a r n d s g epsilon_s epsilon_n scale_s scale_n,
  sound_grid g -> weight_covered r -> (s < d)%nat -> 0 < epsilon_s -> 0 < epsilon_n ->
  (published_l1_of r d + l1_slack (basis r) d g) / epsilon_s * grid_steps g <= scale_s ->
  (published_l1_of r d + l1_slack (basis r) d g) / epsilon_n * grid_steps g <= scale_n ->
  hardened_private a (stated_epsilon d epsilon_s epsilon_n) 0 n d (unit_box d) discrete_laplace g
    (two_scales s scale_s scale_n) r.
Proof.
  intros a r n d s g es en scale_s scale_n Hg Hr Hs Hes Hen Hscale_s Hscale_n.
  assert (H1 := le_INR 1 d ltac:(lia)); cbn in H1; assert (Hc := proj2 (gain_share r Hr)).
  apply (hardened_pdfc_calibrated a r n d (unit_box d) g Hg ltac:(lia) s (published_l1_of r d));
    try assumption.
  - rewrite published_l1_share; nra.
  - intros D D' H; destruct (published_shares a r n d s D D' Hr Hs H) as [HL HN];
    rewrite published_l1_share.
    unfold stated_epsilon; set (k := INR d) in *; set (c := k / 4 + linear_share (fairness_term r)) in *.
    replace (k * c * (es / k + en * (k - 1) / k)) with (es * c + en * (c * (k - 1))) by (field; lra).
    apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.

(** Rounding half up is such a rounding; Python rounds half to even. *)
Lemma a_rounding : rounds_to_nearest (fun v => Int_part (v + 1 / 2)).
Proof.
  intros v; destruct (base_Int_part (v + 1 / 2)) as [H1 H2]; apply Rabs_le; split; lra.
Qed.
