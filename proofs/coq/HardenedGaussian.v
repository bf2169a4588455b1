(** * Hardened noise: discrete Gaussian noise keeps the continuous profile, but for a small gap

    Discrete noise is close to rounded noise in each coordinate, hence in all together. Rounded noise has the
    profile of continuous noise: the induction of [Gaussian.v], with a sum over whole numbers in the place of
    each integral. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal Gaussian ExtendedGaussian Adaptive Certificates
  Countable Hardened DiscreteGaussian.
Import ListNotations.
Open Scope R_scope.

(** ** Closeness, one law after the other *)

Lemma close_trans : forall (A : Type) epsilon1 delta1 epsilon2 delta2 (p q r : A -> R),
  countable_law p -> countable_law q -> countable_law r -> close epsilon1 delta1 p q ->
    close epsilon2 delta2 q r ->
  close (epsilon1 + epsilon2) (delta1 + exp epsilon1 * delta2) p r.
Proof.
  intros A e1 d1 e2 d2 p q r Hp Hq Hr H1 H2; apply close_of_finite; intros l Hl.
  assert (F1 := finite_of_close _ _ _ _ (law_nonneg _ Hp) (law_nonneg _ Hq) H1 l Hl).
  assert (F2 := finite_of_close _ _ _ _ (law_nonneg _ Hq) (law_nonneg _ Hr) H2 l Hl).
  assert (He := exp_pos e1); rewrite exp_plus.
  assert (exp e1 * sum_over l q <= exp e1 * (exp e2 * sum_over l r + d2)) by (apply Rmult_le_compat_l;
    lra); lra.
Qed.

Lemma product_close : forall (A : Type) (l : list A) (p q : A -> Z -> R) epsilon delta,
  (forall a, countable_law (p a)) -> (forall a, countable_law (q a)) ->
  (forall a, In a l -> close (epsilon a) (delta a) (p a) (q a)) ->
  close (sum_over l epsilon) (sum_over l delta) (product_mass l p) (product_mass l q).
Proof.
  intros A l p q epsilon delta Hp Hq; induction l as [| a l IH]; intros H.
  - apply close_of_ratio; intros zs; cbn; rewrite exp_0; lra.
  - rewrite !sum_cons.
    exact (adaptive_composition _ _ _ _ _ _ (p a) (q a) (fun _ => product_mass l p) (fun _ => product_mass
      l q)
      (Hp a) (Hq a) (fun _ => product_law l p Hp) (fun _ => product_law l q Hq) (H a (or_introl eq_refl))
      (fun _ => IH (fun b Hb => H b (or_intror Hb)))).
Qed.

Lemma sum_split : forall (A : Type) (l : list A) (b : A -> bool) f,
  sum_over l f = sum_over (filter b l) f + sum_over (filter (fun a => negb (b a)) l) f.
Proof.
  intros A l b f; rewrite !sum_filter, <- sum_plus; apply sum_ext; intros a _; destruct (b a); cbn; lra.
Qed.

(** ** One coordinate *)

Section OneCoordinate.
Variables (s T : R) (v : Z).
Hypothesis s_large : 2 * (T + 1) <= s.
Hypothesis T_large : 1 <= T.

Lemma s_positive : 0 < s.
Proof. lra. Qed.

Lemma discrete_close_to_rounded :
  close ((T + 1) / (2 * s)) 0 (fun j => discrete_gaussian s (j - v)) (rounded_gaussian s (IZR v)).
Proof.
  apply close_of_ratio; intros j; rewrite (rounded_shift s s_positive).
  eapply Rle_trans; [apply (discrete_le_rounded s s_positive); lra |].
  apply Rmult_le_compat_r; [apply (rounded_nonneg s s_positive) |]; apply exp_le.
  replace (1 / s) with (2 / (2 * s)) by (field; lra).
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat |]; lra.
Qed.

Lemma bell_of_a_half_step : bell (T - 1 / (2 * s)) <= 4 * exp (- (T ^ 2 / 2)).
Proof.
  assert (Hh : T * (1 / (2 * s)) <= 1 / 4).
  { apply Rmult_le_reg_r with (4 * s); [lra |].
    replace (T * (1 / (2 * s)) * (4 * s)) with (2 * T) by (field; lra); lra. }
  assert (H0 := pow2_ge_0 (1 / (2 * s))); unfold bell.
  apply Rle_trans with (exp (1 + - (T ^ 2 / 2))).
  - apply exp_le; set (h := 1 / (2 * s)) in *; nra.
  - rewrite exp_plus; apply Rmult_le_compat_r; [left; apply exp_pos |]; generalize exp_le_3; lra.
Qed.

Lemma rounded_close_to_discrete : close ((T + 1) / (2 * s)) (4 * exp (- (T ^ 2 / 2)))
  (rounded_gaussian s (IZR v)) (fun j => discrete_gaussian s (j - v)).
Proof.
  apply close_of_finite; intros l Hl.
  set (good := fun j : Z => if Rle_dec (Rabs (IZR (j - v))) (T * s) then true else false).
  rewrite (sum_split _ l good); apply Rplus_le_compat.
  - rewrite <- sum_scal; rewrite sum_filter; apply sum_le; intros j _.
    assert (H0 := proj1 (shifted_law _ v (discrete_gaussian_law_0 s s_positive)) j); cbv beta in H0.
    assert (He := exp_pos ((T + 1) / (2 * s))).
    unfold good; destruct Rle_dec as [Hj | _]; [| apply Rmult_le_pos; lra].
    rewrite (rounded_shift s s_positive); apply (rounded_le_discrete s s_positive); [lra | exact Hj].
  - eapply Rle_trans; [| exact bell_of_a_half_step].
    rewrite (sum_ext _ _ (fun j => rounded_gaussian s 0 (j - v))) by (intros;
      apply (rounded_shift s s_positive)).
    rewrite <- (sum_map Z Z _ (fun j => (j - v)%Z) (rounded_gaussian s 0)).
    apply (rounded_beyond s s_positive); [lra | nra | |].
    + apply map_once; [intros; lia | apply NoDup_filter, Hl].
    + intros j Hj; apply in_map_iff in Hj; destruct Hj as [i [<- Hi]]; apply filter_In in Hi.
      destruct Hi as [_ Hi]; unfold good in Hi; destruct Rle_dec; [discriminate | lra].
Qed.
End OneCoordinate.

(** ** Rounded noise has the continuous profile *)

Section Rounded.
Context {A : Type}.
Variable sigma : A -> R.
Variable c c' : A -> Z.
Hypothesis sigma_pos : forall a, 0 < sigma a.

Let centre a := IZR (c a).
Let centre' a := IZR (c' a).
Let shift a := (centre a - centre' a) / sigma a.
Let p a j := rounded_gaussian (sigma a) (centre a) j.
Let q a j := rounded_gaussian (sigma a) (centre' a) j.

Lemma cells_join : forall (f : R -> R) k, (forall t, continuous f t) ->
  sum_over (up_to k) (fun j => RInt f (IZR j - 1 / 2) (IZR j + 1 / 2)) =
  RInt f (- (INR k + 1 / 2)) (INR k + 1 / 2).
Proof.
  intros f k Hf; induction k as [| k IH].
  - cbn [up_to INR]; rewrite sum_cons; cbn [sum_over fold_right]; rewrite Rplus_0_r; f_equal; field.
  - cbn [up_to]; rewrite !sum_cons, IH, opp_IZR, <- INR_IZR_INZ, S_INR.
    replace (INR k + 1 - 1 / 2) with (INR k + 1 / 2) by field.
    replace (- (INR k + 1) + 1 / 2) with (- (INR k + 1 / 2)) by field.
    replace (- (INR k + 1) - 1 / 2) with (- (INR k + 1 + 1 / 2)) by field.
    rewrite <- (RInt_split f (- (INR k + 1 + 1 / 2)) (INR k + 1 / 2) (INR k + 1 + 1 / 2) Hf).
    rewrite <- (RInt_split f (- (INR k + 1 + 1 / 2)) (- (INR k + 1 / 2)) (INR k + 1 / 2) Hf); ring.
Qed.

(** What the first number's value t, before it is rounded, spends of epsilon, and what is then left to pay in
    delta. *)
Let loss a t := shift a * ((t - centre a) / sigma a) + shift a ^ 2 / 2.
Definition owed (nu epsilon : R) (a : A) (t : R) : R :=
  gaussian_density (sigma a) (t - centre a) * (profile nu (epsilon - loss a t) / (2 * kappa)).

Lemma owed_nonneg : forall nu epsilon a t, 0 < nu -> 0 <= owed nu epsilon a t.
Proof.
  intros nu epsilon a t Hnu; assert (Hk := kappa_pos); apply Rmult_le_pos.
  - left; exact (p_nonneg sigma centre sigma_pos a t).
  - apply Rmult_le_pos; [apply profile_nonneg, Hnu | left; apply Rinv_0_lt_compat; lra].
Qed.

Lemma owed_ex_RInt : forall nu epsilon a lo hi, 0 < nu -> ex_RInt (owed nu epsilon a) lo hi.
Proof. intros nu epsilon a lo hi; exact (step_ex_RInt sigma centre centre' sigma_pos a nu epsilon lo hi). Qed.

Lemma owed_continuous : forall nu epsilon a t, 0 < nu -> continuous (owed nu epsilon a) t.
Proof.
  intros nu epsilon a t Hnu; assert (Hk := kappa_pos); assert (Hs := sigma_pos a).
  apply (continuous_ext (fun u => / (sigma a * (2 * kappa) * (2 * kappa)) *
    step_integrand nu (shift a) epsilon ((u - centre a) / sigma a))).
  - intros u; unfold owed, loss; rewrite (density_bell sigma centre); unfold step_integrand; real_field.
  - apply (continuous_mult (fun _ => / (sigma a * (2 * kappa) * (2 * kappa)))
      (fun u => step_integrand nu (shift a) epsilon ((u - centre a) / sigma a))); [apply continuous_const |].
    apply (continuous_comp (fun u => (u - centre a) / sigma a) (step_integrand nu (shift a) epsilon));
      [| apply step_integrand_continuous, Hnu].
    apply derive_continuous with (/ sigma a); auto_derive; [trivial | real_ring].
Qed.

(** One cell: S and U stand for the chances of what follows. *)
Lemma one_cell : forall nu epsilon a j S U, 0 < nu ->
  (forall rest, S <= exp rest * U + profile nu rest / (2 * kappa)) ->
  p a j * S <= exp epsilon * (q a j * U) + RInt (owed nu epsilon a) (IZR j - 1 / 2) (IZR j + 1 / 2).
Proof.
  intros nu epsilon a j S U Hnu H; set (lo := IZR j - 1 / 2); set (hi := IZR j + 1 / 2).
  set (f := fun t => gaussian_density (sigma a) (t - centre a)).
  set (f' := fun t => gaussian_density (sigma a) (t - centre' a)).
  change (RInt f lo hi * S <= exp epsilon * (RInt f' lo hi * U) + RInt (owed nu epsilon a) lo hi).
  assert (Hex : ex_RInt f lo hi) by (apply ex_RInt_cont; intros; apply density_continuous).
  assert (Hex' : ex_RInt f' lo hi) by (apply ex_RInt_cont; intros; apply density_continuous).
  assert (Howed := owed_ex_RInt nu epsilon a lo hi Hnu).
  replace (RInt f lo hi * S) with (RInt (fun t => S * f t) lo hi)
    by (rewrite (RInt_mult_const f S lo hi Hex); apply Rmult_comm).
  replace (exp epsilon * (RInt f' lo hi * U)) with (RInt (fun t => exp epsilon * U * f' t) lo hi)
    by (rewrite (RInt_mult_const f' _ lo hi Hex'), Rmult_assoc, (Rmult_comm U); reflexivity).
  assert (Hex2 := ex_RInt_mult_const f' (exp epsilon * U) lo hi Hex').
  rewrite <- (RInt_add (fun t => exp epsilon * U * f' t) _ lo hi Hex2 Howed).
  apply RInt_le; [unfold lo, hi; lra | exact (ex_RInt_mult_const f S lo hi Hex)
    | exact (ex_RInt_add _ _ lo hi Hex2 Howed) |].
  intros t _; assert (Hratio : f t * exp (epsilon - loss a t) = exp epsilon * f' t)
    by exact (density_ratio sigma centre centre' sigma_pos a t epsilon).
  assert (Hpos := p_nonneg sigma centre sigma_pos a).
  apply Rle_trans with (f t * (exp (epsilon - loss a t) * U + profile nu (epsilon - loss a t) / (2 * kappa))).
  - rewrite (Rmult_comm S); apply Rmult_le_compat_l; [left; apply Hpos | apply H].
  - right; unfold owed; fold (f t); rewrite Rmult_plus_distr_l, <- Rmult_assoc, Hratio; ring.
Qed.

(** All cells: together they owe at most the profile of both shifts. *)
Lemma all_cells : forall nu epsilon a L, 0 < nu -> NoDup L ->
  sum_over L (fun j => RInt (owed nu epsilon a) (IZR j - 1 / 2) (IZR j + 1 / 2))
  <= profile (sqrt (nu ^ 2 + shift a ^ 2)) epsilon / (2 * kappa).
Proof.
  intros nu epsilon a L Hnu HL; assert (Hk := kappa_pos); assert (Hs := sigma_pos a).
  set (W := fun j => RInt (owed nu epsilon a) (IZR j - 1 / 2) (IZR j + 1 / 2)).
  assert (HW : forall j, 0 <= W j).
  { intros j; unfold W; apply RInt_ge_0; [lra | apply (owed_ex_RInt nu epsilon a _ _ Hnu) |].
    intros t _; apply (owed_nonneg nu epsilon a t Hnu). }
  destruct (within_up_to L) as [k Hin].
  eapply Rle_trans; [exact (sum_incl W (up_to k) L HW HL Hin) |].
  unfold W; rewrite cells_join by (intros t; apply owed_continuous, Hnu).
  unfold owed, loss, shift; rewrite (step_change_of_variable sigma centre centre' sigma_pos) by exact Hnu.
  apply Rle_trans with (2 * kappa * profile (sqrt (nu ^ 2 + shift a ^ 2)) epsilon / (2 * kappa) ^ 2).
  - apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; nra |]; apply step_integral_le; [exact Hnu |].
    apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; exact Hs | generalize (pos_INR k); lra].
  - right; unfold shift; field; lra.
Qed.

Lemma rounded_induction : forall nu0, 0 < nu0 -> forall l epsilon (L : list (integers (length l))), NoDup L
  ->
  sum_over L (product_mass l p) <= exp epsilon * sum_over L (product_mass l q) +
    profile (total_shift sigma centre centre' nu0 l) epsilon / (2 * kappa).
Proof.
  intros nu0 Hnu0; induction l as [| a l IH]; intros epsilon L HL.
  - assert (Hnu := total_shift_pos sigma centre centre' nu0 [] Hnu0).
    apply (adaptive_base _ epsilon (sum_over L (product_mass [] p)) Hnu); split.
    + apply sum_nonneg; intros; cbn; lra.
    + exact (law_sum _ L (product_law [] p (fun b => rounded_law (sigma b) (sigma_pos b) (c b))) HL).
  - assert (Hnu := total_shift_pos sigma centre centre' nu0 l Hnu0).
    rewrite <- total_shift_cons; set (nu := total_shift sigma centre centre' nu0 l) in *.
    destruct (gathered L HL) as [G [HG [Hsum Hin]]].
    change (product_mass (a :: l) p) with (joint (p a) (fun _ : Z => product_mass l p)).
    change (product_mass (a :: l) q) with (joint (q a) (fun _ : Z => product_mass l q)).
    rewrite !Hsum, !sum_joint; clear Hsum.
    set (W := fun j => RInt (owed nu epsilon a) (IZR j - 1 / 2) (IZR j + 1 / 2)).
    apply Rle_trans with (sum_over G (fun g =>
      exp epsilon * (q a (fst g) * sum_over (snd g) (product_mass l q)) + W (fst g))).
    + apply sum_le; intros g Hg.
      apply (one_cell nu epsilon a (fst g) (sum_over (snd g) (product_mass l p))
        (sum_over (snd g) (product_mass l q)) Hnu).
      intros rest; exact (IH rest (snd g) (proj1 (Hin g Hg))).
    + rewrite sum_plus, sum_scal; apply Rplus_le_compat_l; rewrite (sum_fst W).
      exact (all_cells nu epsilon a (map fst G) Hnu HG).
Qed.

Theorem rounded_profile : forall l nu epsilon, 0 < nu ->
  sum_over l (fun a => ((IZR (c a) - IZR (c' a)) / sigma a) ^ 2) <= nu ^ 2 ->
  close epsilon (profile nu epsilon / (2 * kappa))
    (product_mass l (fun a => rounded_gaussian (sigma a) (IZR (c a))))
    (product_mass l (fun a => rounded_gaussian (sigma a) (IZR (c' a)))).
Proof.
  intros l nu epsilon Hnu Hsum; apply close_of_finite; intros L HL.
  change (sum_over L (product_mass l p) <= exp epsilon * sum_over L (product_mass l q) +
    profile nu epsilon / (2 * kappa)).
  assert (H := profile_from_above (sum_over L (product_mass l p) - exp epsilon * sum_over L (product_mass l
    q))
    nu epsilon Hnu).
  enough (sum_over L (product_mass l p) - exp epsilon * sum_over L (product_mass l q) <=
    profile nu epsilon / (2 * kappa)) by lra.
  apply H; intros nu1 Hnu1.
  assert (Hgap : 0 < nu1 ^ 2 - sum_over l (fun a => shift a ^ 2)) by (unfold shift, centre, centre'; nra).
  assert (Hind := rounded_induction (sqrt (nu1 ^ 2 - sum_over l (fun a => shift a ^ 2))) (sqrt_lt_R0 _ Hgap)
    l epsilon L HL).
  replace (total_shift sigma centre centre' (sqrt (nu1 ^ 2 - sum_over l (fun a => shift a ^ 2))) l) with nu1
    in Hind; [lra |].
  unfold total_shift; fold (shift); rewrite pow2_sqrt by lra; unfold shift.
  match goal with |- _ = sqrt ?e => replace e with (nu1 ^ 2) by (unfold centre, centre'; ring) end.
  symmetry; apply sqrt_pow2; lra.
Qed.

Lemma profile_as_tails : forall nu epsilon, profile nu epsilon / (2 * kappa) =
  normal_tail (epsilon / nu - nu / 2) - exp epsilon * normal_tail (epsilon / nu + nu / 2).
Proof.
  intros nu epsilon; rewrite !normal_tail_tail; unfold profile; generalize kappa_pos; intros; field; lra.
Qed.

Theorem rounded_normal_profile : forall l nu epsilon, 0 < nu ->
  sum_over l (fun a => ((IZR (c a) - IZR (c' a)) / sigma a) ^ 2) <= nu ^ 2 ->
  close epsilon (normal_tail (epsilon / nu - nu / 2) - exp epsilon * normal_tail (epsilon / nu + nu / 2))
    (product_mass l (fun a => rounded_gaussian (sigma a) (IZR (c a))))
    (product_mass l (fun a => rounded_gaussian (sigma a) (IZR (c' a)))).
Proof. intros l nu epsilon; rewrite <- profile_as_tails; apply rounded_profile. Qed.
End Rounded.

(** ** The release *)

Section Release.
Variables (a : adjacency) (r : reading) (n d : nat) (domain : record -> Prop) (g : grid)
  (scale : monomial -> R).
Hypothesis scale_pos : forall phi, 0 < scale phi.

Lemma hardened_gaussian_law : forall D, countable_law (hardened_release discrete_gaussian g scale r d D).
Proof.
  intros D; apply product_law; intros phi; apply shifted_law, discrete_gaussian_law_0, scale_pos.
Qed.

(** Half of what the tails and the steps cost, in the exponent. *)
Definition gaussian_gap (T : R) : R := sum_over (Phi (basis r) d) (fun phi => (T + 1) / (2 * scale phi)).

Theorem hardened_gaussian_profile : forall T nu epsilon, 1 <= T -> gaussian_gap T <= 1 / 4 -> 0 < nu ->
  (forall D D', adjacent a n domain D D' -> sum_over (Phi (basis r) d) (fun phi =>
    ((IZR (on_steps g (coefficient r D phi)) - IZR (on_steps g (coefficient r D' phi))) / scale phi) ^ 2)
    <= nu ^ 2) ->
  hardened_private a (epsilon + 2 * gaussian_gap T)
    (exp (gaussian_gap T) * (normal_tail (epsilon / nu - nu / 2) - exp epsilon * normal_tail (epsilon / nu
      + nu / 2))
      + (1 + exp (epsilon + gaussian_gap T)) * (4 * INR (length (Phi (basis r) d)) * exp (- (T ^ 2 / 2))))
    n d domain discrete_gaussian g scale r.
Proof.
  intros T nu epsilon HT Hgap Hnu Hshift D D' HDD' B publish event.
  set (l := Phi (basis r) d) in *; set (v := fun phi => on_steps g (coefficient r D phi)).
  set (v' := fun phi => on_steps g (coefficient r D' phi)).
  assert (Hlarge : forall phi, In phi l -> 2 * (T + 1) <= scale phi).
  { intros phi Hphi; assert (Hs := scale_pos phi).
    assert (Hone : (T + 1) / (2 * scale phi) <= gaussian_gap T).
    { apply (sum_member l phi (fun phi => (T + 1) / (2 * scale phi))); [| exact Hphi].
      intros psi _; left; apply Rdiv_lt_0_compat; [lra | generalize (scale_pos psi); lra]. }
    apply Rmult_le_reg_r with (/ (2 * scale phi)); [apply Rinv_0_lt_compat; lra |].
    replace (2 * (T + 1) * / (2 * scale phi)) with (2 * ((T + 1) / (2 * scale phi))) by (unfold Rdiv; ring).
    replace (scale phi * / (2 * scale phi)) with (1 / 2) by (field; lra); lra. }
  set (X := hardened_release discrete_gaussian g scale r d D).
  set (X' := hardened_release discrete_gaussian g scale r d D').
  set (G := product_mass l (fun phi => rounded_gaussian (scale phi) (IZR (v phi)))).
  set (G' := product_mass l (fun phi => rounded_gaussian (scale phi) (IZR (v' phi)))).
  assert (HG : countable_law G) by (apply product_law; intros phi; apply rounded_law, scale_pos).
  assert (HG' : countable_law G') by (apply product_law; intros phi; apply rounded_law, scale_pos).
  assert (H1 : close (gaussian_gap T) (sum_over l (fun _ => 0)) X G).
  { apply (product_close _ l (fun phi j => discrete_gaussian (scale phi) (j - v phi))).
    - intros phi; apply shifted_law, discrete_gaussian_law_0, scale_pos.
    - intros phi; apply rounded_law, scale_pos.
    - intros phi Hphi; apply discrete_close_to_rounded; [apply Hlarge, Hphi | exact HT]. }
  assert (H3 : close (gaussian_gap T) (sum_over l (fun _ => 4 * exp (- (T ^ 2 / 2)))) G' X').
  { apply (product_close _ l _ (fun phi j => discrete_gaussian (scale phi) (j - v' phi))).
    - intros phi; apply rounded_law, scale_pos.
    - intros phi; apply shifted_law, discrete_gaussian_law_0, scale_pos.
    - intros phi Hphi; apply rounded_close_to_discrete; [apply Hlarge, Hphi | exact HT]. }
  assert (H2 := rounded_normal_profile scale v v' scale_pos l nu epsilon Hnu (Hshift D D' HDD')).
  fold G G' in H2; rewrite sum_const, Rmult_0_r in H1; rewrite sum_const in H3.
  assert (H23 := close_trans _ _ _ _ _ G G' X' HG HG' (hardened_gaussian_law D') H2 H3).
  assert (H := close_trans _ _ _ _ _ X G X' (hardened_gaussian_law D) HG (hardened_gaussian_law D') H1 H23).
  intros P Q HP HQ; eapply Rle_trans; [exact (H _ P Q HP HQ) |].
  replace (gaussian_gap T + (epsilon + gaussian_gap T)) with (epsilon + 2 * gaussian_gap T) by ring.
  apply Rplus_le_compat_l; rewrite exp_plus.
  assert (0 <= 4 * INR (length l) * exp (- (T ^ 2 / 2))).
  { apply Rmult_le_pos; [generalize (pos_INR (length l)); lra | left; apply exp_pos]. }
  lra.
Qed.
End Release.

(** The shift of the rounded coefficients: that of the exact ones, and one step each. *)
Lemma shift_with_a_step : forall g (l : list monomial) (scale coefficient coefficient' : monomial -> R) m t,
  sound_grid g -> (forall phi, 0 < scale phi) -> 0 <= m -> 0 <= t ->
  sum_over l (fun phi => ((coefficient phi - coefficient' phi) * grid_steps g / scale phi) ^ 2) <= m ^ 2 ->
  sum_over l (fun phi => (1 / scale phi) ^ 2) <= t ^ 2 ->
  sum_over l (fun phi => ((IZR (on_steps g (coefficient phi)) - IZR (on_steps g (coefficient' phi)))
    / scale phi) ^ 2) <= (m + t) ^ 2.
Proof.
  intros g l scale x x' m t Hg Hscale Hm Ht Hx Hstep.
  set (y := fun phi => Rabs (x phi - x' phi) * grid_steps g / scale phi).
  set (u := fun phi => 1 / scale phi).
  assert (Hy : sum_over l (fun phi => y phi ^ 2) <= m ^ 2).
  { eapply Rle_trans; [right | exact Hx]; apply sum_ext; intros phi _; unfold y, Rdiv.
    rewrite !Rpow_mult_distr, pow2_abs; reflexivity. }
  apply Rle_trans with (sum_over l (fun phi => y phi ^ 2 + 2 * (y phi * u phi) + u phi ^ 2)).
  - apply sum_le; intros phi _; assert (Hs := Hscale phi); assert (Hmove := on_steps_moves g (x phi) (x'
    phi) Hg).
    replace (y phi ^ 2 + 2 * (y phi * u phi) + u phi ^ 2) with ((y phi + u phi) ^ 2) by ring.
    rewrite abs_IZR, minus_IZR in Hmove; rewrite <- pow2_abs; unfold Rdiv; rewrite Rabs_mult.
    rewrite (Rabs_right (/ scale phi)) by (left; apply Rinv_0_lt_compat; exact Hs).
    replace (y phi + u phi) with ((Rabs (x phi - x' phi) * grid_steps g + 1) * / scale phi)
      by (unfold y, u; field; lra).
    apply pow_incr; split; [apply Rmult_le_pos; [apply Rabs_pos | left; apply Rinv_0_lt_compat;
      exact Hs] |].
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact Hs | exact Hmove].
  - rewrite !sum_plus, sum_scal; assert (Hcs := cauchy_schwarz l y u).
    set (Y := sum_over l (fun phi => y phi ^ 2)) in *; set (U := sum_over l (fun phi => u phi ^ 2)) in *.
    set (YU := sum_over l (fun phi => y phi * u phi)) in *.
    assert (HY : 0 <= Y) by (apply sum_nonneg; intros; apply pow2_ge_0).
    assert (HU : 0 <= U) by (apply sum_nonneg; intros; apply pow2_ge_0).
    assert (HYU : YU <= m * t).
    { destruct (Rle_or_lt YU (m * t)) as [Hle | Hlt]; [exact Hle | exfalso].
      assert (Hmt : 0 <= m * t) by (apply Rmult_le_pos; assumption).
      assert ((m * t) ^ 2 < YU ^ 2) by nra.
      assert (Y * U <= m ^ 2 * t ^ 2) by (apply Rmult_le_compat; assumption); nra. }
    assert (HU2 : U <= t ^ 2) by exact Hstep; nra.
Qed.

Theorem hardened_gaussian_calibrated : forall a r n d domain g scale T m t epsilon,
  sound_grid g -> (forall phi, 0 < scale phi) -> 1 <= T -> gaussian_gap r d scale T <= 1 / 4 ->
  0 <= m -> 0 <= t -> 0 < m + t ->
  (forall D D', adjacent a n domain D D' -> sum_over (Phi (basis r) d) (fun phi =>
    ((coefficient r D phi - coefficient r D' phi) * grid_steps g / scale phi) ^ 2) <= m ^ 2) ->
  sum_over (Phi (basis r) d) (fun phi => (1 / scale phi) ^ 2) <= t ^ 2 ->
  let c := gaussian_gap r d scale T in let nu := m + t in
  hardened_private a (epsilon + 2 * c)
    (exp c * (normal_tail (epsilon / nu - nu / 2) - exp epsilon * normal_tail (epsilon / nu + nu / 2))
      + (1 + exp (epsilon + c)) * (4 * INR (length (Phi (basis r) d)) * exp (- (T ^ 2 / 2))))
    n d domain discrete_gaussian g scale r.
Proof.
  intros a r n d domain g scale T m t epsilon Hg Hscale HT Hgap Hm Ht Hmt Hchange Hstep c nu.
  apply hardened_gaussian_profile; try assumption; intros D D' H.
  apply (shift_with_a_step g _ scale (coefficient r D) (coefficient r D') m t); try assumption;
    apply Hchange, H.
Qed.
