(** * The laws of Laplace and Gaussian noise

    Both densities have total mass 1, so the noisy coefficients have exactly one law, and what we prove of all
    measures with these densities is a statement about it. Countable choice is a premise that cannot be left
    out: a law makes the real numbers more than a countable union of countable sets, which set theory without
    choice does not prove. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Analysis Expectation CountableMeasures BorelEvents Laplace Normal
  Gaussian Theorem5 SoftHalfSpace OuterMeasure NoiseMeasure.
Import ListNotations.
Open Scope R_scope.

(** ** Words *)

(** Both laws exist, each is the only one with its densities, and they are (epsilon, delta)-close. *)
Definition close_laws {A : Type} (epsilon delta : R) (l : list A) (p q : A -> R -> R) : Prop :=
  exists mu nu, the_law l p mu /\ the_law l q nu /\
  forall S, borel (length l) S -> mu S <= exp epsilon * nu S + delta.

(** The noisy coefficients of neighbouring data sets have close laws. *)
Definition private_in_law (epsilon delta : R) (n d : nat) (domain : record -> Prop)
    (noise : R -> R -> R) (scale : monomial -> R) (r : reading) : Prop :=
  forall D D', neighbours n domain D D' ->
    close_laws epsilon delta (Phi (basis r) d) (release noise scale r D) (release noise scale r D').

(** ** Total mass *)

(** Coquelicot types some equations in its structures; [field] wants them in R. *)
Ltac real_equation := match goal with |- @eq _ ?a ?b => change (@eq R a b) end.

Section TotalMass.
Variables (f : R -> R) (c : R).
Hypothesis f_continuous : forall t, continuous f t.
Hypothesis f_nonneg : forall t, 0 <= f t.

Lemma mass_about_0 : forall eta,
  (exists N, 0 <= N /\ 1 - eta <= RInt f (c - N) (c + N)) -> exists M, 0 <= M /\ 1 - eta <= RInt f (- M) M.
Proof.
  intros eta [N [HN Hnear]]; exists (Rabs c + N); generalize (Rabs_pos c) (Rle_abs c) (Rabs_maj2 c); intros.
  split; [lra |]; eapply Rle_trans; [exact Hnear |]; apply RInt_enlarge; try assumption; lra.
Qed.

Lemma mass_at_most_1 : (forall N, 0 <= N -> RInt f (c - N) (c + N) <= 1) ->
  forall u v, u <= v -> RInt f u v <= 1.
Proof.
  intros H u v Huv; set (N := Rabs (u - c) + Rabs (v - c)).
  generalize (Rabs_pos (u - c)) (Rabs_pos (v - c)) (Rabs_maj2 (u - c)) (Rle_abs (v - c)); intros.
  apply Rle_trans with (RInt f (c - N) (c + N)); [| apply H; unfold N; lra].
  apply RInt_enlarge; try assumption; unfold N; lra.
Qed.
End TotalMass.

Lemma exponential_continuous : forall b c k t, b <> 0 ->
  continuous (fun u => exp (k * ((u - c) / b)) / (2 * b) * k) t.
Proof.
  intros b c k t Hb; apply derive_continuous with (exp (k * ((t - c) / b)) / (2 * b) * k * (k / b)).
  auto_derive; [trivial | real_equation].
  unfold Rdiv, Rminus; field; exact Hb.
Qed.

Lemma exponential_integral : forall b c k u v, b <> 0 ->
  RInt (fun t => exp (k * ((t - c) / b)) / (2 * b) * k) u v
  = (exp (k * ((v - c) / b)) - exp (k * ((u - c) / b))) / 2.
Proof.
  intros b c k u v Hb; rewrite (RInt_derivative (fun t => exp (k * ((t - c) / b)) / 2)).
  - change (exp (k * ((v - c) / b)) / 2 - exp (k * ((u - c) / b)) / 2
      = (exp (k * ((v - c) / b)) - exp (k * ((u - c) / b))) / 2); field.
  - intros t; auto_derive; [trivial | real_equation].
    unfold Rdiv, Rminus; field; exact Hb.
  - intros t; apply exponential_continuous, Hb.
Qed.

Lemma laplace_left : forall b c N, 0 < b -> 0 <= N ->
  RInt (fun t => laplace_density b (t - c)) (c - N) c = (1 - exp (- (N / b))) / 2.
Proof.
  intros b c N Hb HN.
  rewrite (RInt_ext _ (fun t => exp (1 * ((t - c) / b)) / (2 * b) * 1)), exponential_integral.
  - replace (1 * ((c - c) / b)) with 0 by (field; lra); rewrite exp_0.
    replace (1 * ((c - N - c) / b)) with (- (N / b)) by (field; lra); reflexivity.
  - lra.
  - rewrite Rmin_left, Rmax_right by lra; intros t Ht; unfold laplace_density.
    rewrite Rabs_left by lra; replace (- (- (t - c) / b)) with (1 * ((t - c) / b)) by (field; lra).
    real_equation; field; lra.
Qed.

Lemma laplace_right : forall b c N, 0 < b -> 0 <= N ->
  RInt (fun t => laplace_density b (t - c)) c (c + N) = (1 - exp (- (N / b))) / 2.
Proof.
  intros b c N Hb HN.
  rewrite (RInt_ext _ (fun t => - 1 * (exp (- 1 * ((t - c) / b)) / (2 * b) * - 1))).
  - rewrite (RInt_mult_const (fun t => exp (- 1 * ((t - c) / b)) / (2 * b) * - 1))
      by (apply ex_RInt_cont; intros; apply exponential_continuous; lra).
    rewrite exponential_integral by lra.
    replace (- 1 * ((c - c) / b)) with 0 by (field; lra); rewrite exp_0.
    replace (- 1 * ((c + N - c) / b)) with (- (N / b)) by (field; lra).
    real_equation; field.
  - rewrite Rmin_left, Rmax_right by lra; intros t Ht; unfold laplace_density.
    rewrite Rabs_right by lra; replace (- 1 * ((t - c) / b)) with (- ((t - c) / b)) by ring.
    real_equation; field; lra.
Qed.

Lemma laplace_mass : forall b c N, 0 < b -> 0 <= N ->
  RInt (fun t => laplace_density b (t - c)) (c - N) (c + N) = 1 - exp (- (N / b)).
Proof.
  intros b c N Hb HN; rewrite <- (RInt_split _ (c - N) c (c + N)) by (intros; apply laplace_continuous, Hb).
  rewrite laplace_left, laplace_right by assumption.
  real_equation; field.
Qed.

Lemma laplace_probability : forall (A : Type) (scale c : A -> R), (forall a, 0 < scale a) ->
  probability_density (fun a t => laplace_density (scale a) (t - c a)).
Proof.
  intros A scale c Hscale; assert (Hcont : forall a (t : R), continuous (fun u : R =>
    laplace_density (scale a) (u - c a)) t) by (intros; apply laplace_continuous, Hscale).
  assert (Hpos : forall a t, 0 <= laplace_density (scale a) (t - c a))
    by (intros; apply Rlt_le, laplace_pos, Hscale).
  split; [exact Hcont | split; [exact Hpos | split]].
  - intros a; apply (mass_at_most_1 _ (c a) (Hcont a) (Hpos a)); intros N HN.
    rewrite laplace_mass by (try apply Hscale; exact HN); generalize (exp_pos (- (N / scale a))); lra.
  - intros a eta Heta; apply (mass_about_0 _ (c a) (Hcont a) (Hpos a)); exists (scale a / eta).
    assert (H := Hscale a); assert (HN : 0 < scale a / eta) by (apply Rdiv_lt_0_compat; lra).
    split; [lra |]; rewrite laplace_mass by lra.
    replace (scale a / eta / scale a) with (/ eta) by (field; lra); assert (Hi := Rinv_0_lt_compat eta Heta).
    assert (exp (- / eta) <= eta); [| lra]; eapply Rle_trans; [apply exp_opp_le; lra |].
    rewrite <- (Rinv_inv eta) at 2; apply Rinv_le_contravar; lra.
Qed.

Lemma gaussian_probability : forall (A : Type) (sigma c : A -> R), (forall a, 0 < sigma a) ->
  probability_density (fun a t => gaussian_density (sigma a) (t - c a)).
Proof.
  intros A sigma c Hsigma; assert (Hcont : forall a (t : R), continuous (fun u : R =>
    gaussian_density (sigma a) (u - c a)) t) by (intros; apply gaussian_continuous, Hsigma).
  assert (Hpos : forall a t, 0 <= gaussian_density (sigma a) (t - c a))
    by (intros; apply Rlt_le, gaussian_pos, Hsigma).
  split; [exact Hcont | split; [exact Hpos | split; [intros; apply gaussian_mass_le_1, Hsigma |]]].
  intros a eta Heta; apply (mass_about_0 _ (c a) (Hcont a) (Hpos a)).
  destruct (bell_vanishes eta Heta) as [K [HK Hbell]]; exists (sigma a * K); assert (Hs := Hsigma a).
  split; [apply Rmult_le_pos; lra |]; replace (c a - sigma a * K) with (c a + sigma a * - K) by ring.
  rewrite (gaussian_interval (sigma a) (c a) (- K) K Hs), tail_opp; assert (Hk := kappa_pos).
  assert (Htail := tail_le_bell K (Rlt_le _ _ HK)); specialize (Hbell K ltac:(rewrite Rabs_right; lra)).
  replace ((2 * kappa - tail K - tail K) / (2 * kappa)) with (1 - tail K / kappa) by (field; lra).
  assert (tail K / kappa <= eta); [| lra]; apply Rmult_le_reg_r with kappa; [lra |].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra.
Qed.

(** ** The laws *)

Section Noise.
Variable noise : R -> R -> R.
Hypothesis choice : countable_choice.
Hypothesis one_of_two : noise = laplace_density \/ noise = gaussian_density.

Theorem noise_law : forall (A : Type) (l : list A) (scale c : A -> R), (forall a, 0 < scale a) ->
  exists mu, the_law l (fun a t => noise (scale a) (t - c a)) mu.
Proof.
  intros A l scale c Hscale; apply probability_densities_have_one_law; [exact choice |].
  destruct one_of_two as [-> | ->]; [apply laplace_probability | apply gaussian_probability]; exact Hscale.
Qed.

Theorem noise_close_laws : forall (A : Type) (l : list A) (scale scale' c c' : A -> R) epsilon delta,
  (forall a, 0 < scale a) -> (forall a, 0 < scale' a) ->
  borel_indistinguishable epsilon delta l (fun a t => noise (scale a) (t - c a))
    (fun a t => noise (scale' a) (t - c' a)) ->
  close_laws epsilon delta l (fun a t => noise (scale a) (t - c a)) (fun a t => noise (scale' a) (t - c' a)).
Proof.
  intros A l scale scale' c c' epsilon delta Hs Hs' H.
  destruct (noise_law A l scale c Hs) as [mu Hmu]; destruct (noise_law A l scale' c' Hs') as [nu Hnu].
  exists mu, nu; split; [exact Hmu | split; [exact Hnu |]]; apply H; [apply Hmu | apply Hnu].
Qed.

Theorem noise_private_in_law : forall epsilon delta n d domain scale r, (forall phi, 0 < scale phi) ->
  private_on_borel_sets epsilon delta n d domain noise scale r ->
  private_in_law epsilon delta n d domain noise scale r.
Proof.
  intros epsilon delta n d domain scale r Hscale H D D' HDD'.
  apply (noise_close_laws monomial (Phi (basis r) d) scale scale (coefficient r D) (coefficient r D'));
    [exact Hscale | exact Hscale | exact (H D D' HDD')].
Qed.
End Noise.

(** ** Laplace noise: the loss is exact *)

Lemma mass_is_box_probability : forall (A : Type) (lower upper : A -> R) p l,
  mass lower upper l p = box_probability l p (map (fun a => (lower a, upper a)) l).
Proof.
  intros A lower upper p l; induction l as [| a l IH]; [reflexivity |].
  cbn [map box_probability fst snd]; rewrite <- IH; reflexivity.
Qed.

Section Loss.
Context {A : Type}.
Variables (l : list A) (scale c c' : A -> R).
Hypothesis scale_pos : forall a, 0 < scale a.

Let p a t := laplace_density (scale a) (t - c a).
Let q a t := laplace_density (scale a) (t - c' a).

(** On a box on the far side of c, as seen from c', the laws have the ratio exp loss. *)
Lemma loss_of_close_laws : forall mu nu epsilon, law_of_densities l p mu -> law_of_densities l q nu ->
  (forall S, borel (length l) S -> mu S <= exp epsilon * nu S) -> laplace_loss l scale c c' <= epsilon.
Proof.
  intros mu nu epsilon Hmu Hnu H; set (lower := far_lower c c'); set (upper := far_upper c c').
  set (sides := map (fun a => (lower a, upper a)) l).
  assert (Hlength : length sides = length l) by apply map_length.
  assert (Hordered : Forall (fun side => fst side <= snd side) sides).
  { apply Forall_map, Forall_forall; intros a _; apply Rlt_le, far_ordered. }
  specialize (H (box_set sides) (box_is_borel l sides Hlength)).
  rewrite (proj2 (proj2 Hmu) sides Hlength Hordered), (proj2 (proj2 Hnu) sides Hlength Hordered) in H.
  unfold sides in H; rewrite <- !mass_is_box_probability in H.
  assert (Hfar := far_mass scale c c' scale_pos l); fold p q lower upper in Hfar; rewrite Hfar in H.
  assert (Hpos : 0 < mass lower upper l q).
  { apply mass_pos; [intros a t; apply laplace_continuous, scale_pos | | apply far_ordered].
    intros a t; apply laplace_pos, scale_pos. }
  apply Rmult_le_reg_r in H; [| exact Hpos].
  destruct (Rle_or_lt (laplace_loss l scale c c') epsilon) as [Hle | Hlt]; [exact Hle |].
  apply exp_increasing in Hlt; lra.
Qed.

Theorem laplace_laws : countable_choice -> exists mu nu, the_law l p mu /\ the_law l q nu /\
  forall epsilon, (forall S, borel (length l) S -> mu S <= exp epsilon * nu S) <->
    sum_over l (fun a => Rabs (c a - c' a) / scale a) <= epsilon.
Proof.
  intros choice; assert (Htwo : laplace_density = laplace_density \/ laplace_density = gaussian_density)
    by (left; reflexivity).
  destruct (noise_law _ choice Htwo A l scale c scale_pos) as [mu Hmu].
  destruct (noise_law _ choice Htwo A l scale c' scale_pos) as [nu Hnu].
  exists mu, nu; split; [exact Hmu | split; [exact Hnu |]]; intros epsilon; split.
  - apply loss_of_close_laws; [apply Hmu | apply Hnu].
  - intros Hloss S HS; rewrite <- (Rplus_0_r (exp epsilon * nu S)).
    apply (laplace_on_borel_sets A scale c c' l epsilon scale_pos Hloss); [apply Hmu | apply Hnu | exact HS].
Qed.
End Loss.

(** ** Why choice is a premise *)

Lemma no_mass_joined_all : forall (X : Type) (base : (X -> Prop) -> Prop) mu (S : nat -> X -> Prop),
  (exists T, base T) -> measure base mu -> (forall i, sigma_algebra base (S i)) -> (forall i, mu (S i) = 0) ->
  mu (joined_all S) = 0.
Proof.
  intros X base mu S some Hmu HS H0.
  assert (Hfirst : forall n, mu (joined_first S n) <= 0).
  { induction n as [| n IH].
    - right; rewrite <- (mass_empty base some mu Hmu); apply Hmu; intros w; split; [intros [i [Hi _]]; lia |].
      contradiction.
    - apply Rle_trans with (mu (joined_first S n) + mu (S n)); [| rewrite H0; lra].
      apply (mass_covered base some mu Hmu);
        try (apply measurable_first; assumption);
        [apply HS |].
      intros w [i [Hi Hw]]; destruct (Nat.eq_dec i n) as [-> | Hne]; [right; exact Hw | left; exists i].
      split; [lia | exact Hw]. }
  apply Rle_antisym; [| apply Hmu, sigma_joined, HS]; apply le_epsilon; intros eta Heta.
  destruct (mass_nearly_finite base some mu Hmu S eta HS Heta) as [n Hn]; specialize (Hfirst n); lra.
Qed.

Section OneNumber.
Context {A : Type}.
Variables (a : A) (p : A -> R -> R) (mu : (list R -> Prop) -> R).
Hypothesis mu_law : law_of_densities [a] p mu.

Definition point_set (S : R -> Prop) (ts : list R) : Prop := exists t, ts = [t] /\ S t.

Lemma point_is_null : forall (S : R -> Prop) u, borel 1 (point_set (fun t => t = u /\ S t)) /\
  mu (point_set (fun t => t = u /\ S t)) = 0.
Proof.
  intros S u; destruct mu_law as [Hmeasure [_ Hbox]]; destruct (Classical_Prop.classic (S u)) as [Hu | Hu].
  - assert (E : same_set (box_set [(u, u)]) (point_set (fun t => t = u /\ S t))).
    { intros ts; split; [intros H | intros [t [-> [-> _]]]].
      - inversion H as [| b t e ts' [H1 H2] Hts]; inversion Hts; subst; cbn [fst snd] in *.
        exists t; assert (t = u) by lra; subst t; tauto.
      - constructor; [split; cbn; lra | constructor]. }
    split; [apply sigma_same with (2 := box_is_borel [a] [(u, u)] eq_refl), E |].
    destruct Hmeasure as [_ [Hsame _]]; rewrite <- (Hsame _ _ E), Hbox;
      [| reflexivity | constructor; [cbn; lra | constructor]].
    cbn [box_probability fst snd]; rewrite (RInt_point u (p a)); apply Rmult_0_l.
  - assert (E : same_set no_set (point_set (fun t => t = u /\ S t))).
    { intros ts; split; [contradiction | intros [t [_ [-> H]]]; contradiction]. }
    split; [apply sigma_same with no_set; [exact E | apply measurable_empty, (some_box [a])] |].
    rewrite <- (mass_empty _ (some_box [a]) mu Hmeasure); symmetry; apply Hmeasure, E.
Qed.

Lemma countable_is_null : forall S : R -> Prop, (exists f : nat -> R, forall t, S t -> exists j, f j = t) ->
  borel 1 (point_set S) /\ mu (point_set S) = 0.
Proof.
  intros S [f Hf].
  assert (E : same_set (joined_all (fun j => point_set (fun t => t = f j /\ S t))) (point_set S)).
  { intros ts; split; [intros [j [t [-> [_ H]]]]; exists t; tauto |].
    intros [t [-> H]]; destruct (Hf t H) as [j <-]; exists j, (f j); tauto. }
  split; [apply sigma_same with (1 := E), sigma_joined; intros j; apply point_is_null |].
  rewrite <- (proj1 (proj2 (proj1 mu_law)) _ _ E).
  apply (no_mass_joined_all _ (closed_box 1)); [apply (some_box [a]) | apply mu_law | |]; intros j;
    apply point_is_null.
Qed.

Theorem law_needs_choice : mu (fun _ => True) <> 0 -> forall S : nat -> R -> Prop,
  (forall i, exists f : nat -> R, forall t, S i t -> exists j, f j = t) -> exists t, forall i, ~ S i t.
Proof.
  intros Hpos S HS; destruct (Classical_Prop.classic (exists t, forall i, ~ S i t)) as [Hyes | Hno];
    [exact Hyes | destruct Hpos].
  destruct mu_law as [Hmeasure [Hlength _]].
  assert (Hall : forall t, exists i, S i t).
  { intros t; destruct (Classical_Prop.classic (exists i, S i t)) as [H | H]; [exact H |].
    destruct Hno; exists t; intros i Hi; apply H; exists i; exact Hi. }
  assert (Hpoints : forall i, borel 1 (point_set (S i))) by (intros i; apply countable_is_null, HS).
  assert (Hnull := no_mass_joined_all _ (closed_box 1) mu (fun i => point_set (S i)) (some_box [a]) Hmeasure
    Hpoints (fun i => proj2 (countable_is_null (S i) (HS i)))).
  assert (Houter : borel 1 (outside (joined_all (fun i => point_set (S i)))))
    by (apply sigma_outside, sigma_joined, Hpoints).
  assert (E : same_set (fun ts => length ts <> 1%nat) (outside (joined_all (fun i => point_set (S i))))).
  { intros ts; split; [intros H [i [t [-> _]]]; destruct (H eq_refl) |]; intros H Hts; apply H.
    destruct ts as [| t [| t' ts]]; try discriminate; destruct (Hall t) as [i Hi]; exists i, t; tauto. }
  change (mu (fun ts => length ts <> 1%nat) = 0) in Hlength; rewrite (proj1 (proj2 Hmeasure) _ _ E) in
    Hlength.
  rewrite (proj1 (proj2 Hmeasure) _ (joined (joined_all (fun i => point_set (S i)))
    (outside (joined_all (fun i => point_set (S i)))))).
  - rewrite (mass_joined _ (some_box [a]) mu Hmeasure), Hnull, Hlength; [ring | | exact Houter |].
    + apply sigma_joined, Hpoints.
    + intros ts H H'; exact (H' H).
  - intros ts; unfold joined, outside; destruct (Classical_Prop.classic
      (joined_all (fun i => point_set (S i)) ts)); tauto.
Qed.
End OneNumber.
