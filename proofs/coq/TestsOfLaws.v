(** * From laws to tests: what Borel sets obey, Lipschitz tests obey

    If two laws are (epsilon, delta)-close on every Borel set, they are so for every Lipschitz test with
    values in [0, 1]: it is nearly a step function, and the best set of its steps decides. So laws of
    Gaussian noise need its exact profile, for which it is also enough. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Analysis Expectation TestFunctions Laplace Normal Gaussian
  Composition
  Theorem5 SoftHalfSpace GaussianExact CountableMeasures BorelEvents.
Import ListNotations.
Open Scope R_scope.

(** ** The best set *)

Section Best.
Variables (k : nat) (mu nu : (list R -> Prop) -> R) (factor : R).
Hypothesis mu_measure : measure (closed_box k) mu.
Hypothesis nu_measure : measure (closed_box k) nu.

Let signed (S : list R -> Prop) : R := mu S - factor * nu S.

Lemma signed_split : forall S T, borel k S -> borel k T ->
  signed S = signed (fun w => S w /\ T w) + signed (fun w => S w /\ ~ T w).
Proof.
  intros S T HS HT; unfold signed.
  rewrite (mass_split (closed_box k) (some_closed_box k) mu mu_measure S T HS HT).
  rewrite (mass_split (closed_box k) (some_closed_box k) nu nu_measure S T HS HT); ring.
Qed.

Lemma signed_empty : signed no_set = 0.
Proof.
  unfold signed; rewrite (mass_empty (closed_box k) (some_closed_box k) mu mu_measure).
  rewrite (mass_empty (closed_box k) (some_closed_box k) nu nu_measure); ring.
Qed.

Lemma signed_same : forall S T, same_set S T -> signed S = signed T.
Proof.
  intros S T E; unfold signed; destruct mu_measure as [_ [Hmu _]], nu_measure as [_ [Hnu _]].
  rewrite (Hmu S T E), (Hnu S T E); reflexivity.
Qed.

(** Where c plus a step function lies in [0, 1], some set of the steps weighs as much. *)
Lemma best_set : forall (terms : list (R * list (R * R))) E c,
  Forall (fun term => length (snd term) = k) terms -> borel k E ->
  (forall ts, E ts -> length ts = k /\ 0 <= c + step_function terms ts <= 1) ->
  exists S, borel k S /\ (forall w, S w -> E w) /\
    c * signed E + sum_over terms (fun term => fst term * signed (fun ts => E ts /\ box_set (snd term) ts))
    <= signed S.
Proof.
  induction terms as [| [c1 sides] terms IH]; intros E c Hlength HE Hrange.
  - unfold step_function in Hrange; cbn in *; destruct (Classical_Prop.classic (exists w, E w)) as [[w
    Hw] | Hno].
    + destruct (Hrange w Hw) as [_ Hc]; destruct (Rle_or_lt 0 (signed E)).
      * exists E; split; [exact HE | split; [auto | nra]].
      * exists no_set; rewrite signed_empty; split; [apply measurable_empty, some_closed_box | split;
        [contradiction |]].
        nra.
    + exists E; split; [exact HE | split; [auto |]].
      rewrite (signed_same E no_set), signed_empty; [lra | intros w; split; [intros Hw; apply Hno; exists
        w; exact Hw |]].
      contradiction.
  - inversion Hlength as [| a b Hsides Hrest]; subst a b; cbn [snd] in Hsides.
    assert (HB := closed_box_is_borel k sides Hsides).
    assert (HE1 : borel k (fun ts => E ts /\ box_set sides ts))
      by (apply measurable_both; assumption).
    assert (HE0 : borel k (fun ts => E ts /\ ~ box_set sides ts))
      by (apply measurable_both; [exact HE | apply sigma_outside, HB]).
    destruct (IH _ (c + c1) Hrest HE1) as [S1 [HS1 [Hin1 H1]]].
    { intros ts [Hts Hin]; destruct (Hrange ts Hts) as [Hl Hc]; split; [exact Hl |].
      change (step_function ((c1, sides) :: terms) ts)
        with (c1 * box_indicator sides ts + step_function terms ts) in Hc.
      destruct (indicator_of_box_set sides ts ltac:(congruence)) as [[_ Ei] | [Hn _]];
        [rewrite Ei in Hc; lra | contradiction]. }
    destruct (IH _ c Hrest HE0) as [S0 [HS0 [Hin0 H0]]].
    { intros ts [Hts Hout]; destruct (Hrange ts Hts) as [Hl Hc]; split; [exact Hl |].
      change (step_function ((c1, sides) :: terms) ts)
        with (c1 * box_indicator sides ts + step_function terms ts) in Hc.
      destruct (indicator_of_box_set sides ts ltac:(congruence)) as [[Hi _] | [_ Ei]];
        [contradiction | rewrite Ei in Hc; lra]. }
    exists (joined S1 S0); split; [apply measurable_joined; assumption | split].
    { intros w [Hw | Hw]; [apply Hin1 in Hw | apply Hin0 in Hw]; tauto. }
    assert (Hunion : signed (joined S1 S0) = signed S1 + signed S0).
    { unfold signed; rewrite (mass_joined (closed_box k) (some_closed_box k) mu mu_measure),
        (mass_joined (closed_box k) (some_closed_box k) nu nu_measure); try assumption; [ring | |];
        intros w Hw1 Hw0; apply Hin1 in Hw1; apply Hin0 in Hw0; tauto. }
    rewrite Hunion, sum_cons, (signed_split E (box_set sides) HE HB); cbn [fst snd].
    rewrite (sum_ext terms _ (fun term =>
      fst term * signed (fun ts => (E ts /\ box_set sides ts) /\ box_set (snd term) ts) +
      fst term * signed (fun ts => (E ts /\ ~ box_set sides ts) /\ box_set (snd term) ts)));
      [rewrite sum_plus; lra |].
    intros term Hterm; rewrite <- Rmult_plus_distr_l; f_equal.
    assert (Hb : borel k (box_set (snd term)))
      by (apply closed_box_is_borel; revert term Hterm; apply Forall_forall; exact Hrest).
    rewrite (signed_split (fun ts => E ts /\ box_set (snd term) ts) (box_set sides));
      [| apply measurable_both; assumption | exact HB].
    f_equal; apply signed_same; intros w; tauto.
Qed.

Lemma steps_are_close : forall delta M terms,
  (forall S, borel k S -> mu S <= factor * nu S + delta) -> in_window M k terms ->
  (forall ts, box_set (window M k) ts -> 0 <= step_function terms ts <= 1) ->
  sum_over terms (fun term => fst term * mu (box_set (snd term))) <=
  factor * sum_over terms (fun term => fst term * nu (box_set (snd term))) + delta.
Proof.
  intros delta M terms Hclose Hterms Hrange; destruct (window_in_window M k) as [Hw _].
  assert (Hlengths : Forall (fun term => length (snd term) = k) terms)
    by (revert Hterms; apply Forall_impl; intros term [H _]; exact H).
  destruct (best_set terms (box_set (window M k)) 0 Hlengths (closed_box_is_borel k _ Hw)) as [S [HS [_ H]]].
  { intros ts Hts; split; [rewrite (box_set_length _ _ Hts); exact Hw |].
    specialize (Hrange ts Hts); lra. }
  specialize (Hclose S HS); fold (signed S) in H.
  assert (E : sum_over terms (fun term => fst term * signed (fun ts => box_set (window M k) ts /\ box_set (snd
    term) ts)) = sum_over terms (fun term => fst term * mu (box_set (snd term))) -
    factor * sum_over terms (fun term => fst term * nu (box_set (snd term)))).
  { rewrite <- sum_scal, <- sum_minus; apply sum_ext; intros term Hterm.
    rewrite (signed_same _ (box_set (snd term))); [unfold signed; ring |].
    assert (Hin := proj1 (Forall_forall _ _) Hterms term Hterm); destruct Hin as [Hl Hin].
    intros w; assert (Hwin := box_set_window M (snd term) w Hin); rewrite Hl in Hwin; tauto. }
  rewrite E in H; unfold signed in H; lra.
Qed.
End Best.
(** ** Slow tests are nearly step functions *)

(** Every coordinate moves the test by at most C times as much. *)
Fixpoint slow (C : R) (k : nat) (f : list R -> R) : Prop :=
  match k with
  | O => True
  | S k' => (forall t t' ts, Rabs (f (t :: ts) - f (t' :: ts)) <= C * Rabs (t - t')) /\
      forall t, slow C k' (fun ts => f (t :: ts))
  end.

(** A step function in the window that is 0 or has values in [0, 1] near f. *)
Definition near (eta : R) (f : list R -> R) (terms : list (R * list (R * R))) (ts : list R) : Prop :=
  0 <= step_function terms ts <= 1 /\ Rabs (step_function terms ts - f ts) <= eta.

Ltac side_values := unfold between; cbn [fst snd]; repeat destruct Rle_dec; lra.

(** The steps of g on one side of a new coordinate. *)
Definition on_side (c : R) (side : R * R) (g : list (R * list (R * R))) : list (R * list (R * R)) :=
  map (fun term => (c * fst term, side :: snd term)) g.

Lemma step_on_side : forall c side g t ts,
  step_function (on_side c side g) (t :: ts) = c * between side t * step_function g ts.
Proof.
  intros c side g t ts; unfold step_function, on_side; rewrite sum_map, <- sum_scal; apply sum_ext.
  intros term _; cbn [fst snd box_indicator]; ring.
Qed.

Lemma on_side_in_window : forall M k c side g, within M side -> in_window M k g ->
  in_window M (S k) (on_side c side g).
Proof.
  intros M k c side g Hside; unfold in_window, on_side; rewrite Forall_map; apply Forall_impl.
  intros term [Hl Hw]; cbn [snd length]; split; [rewrite Hl; reflexivity | constructor; assumption].
Qed.

Lemma step_app : forall f g ts, step_function (f ++ g) ts = step_function f ts + step_function g ts.
Proof. intros f g ts; unfold step_function; apply sum_app. Qed.

Section Sampled.
Variables (C M : R).
Hypothesis C_nonneg : 0 <= C.
Hypothesis M_pos : 0 < M.

(** Along one coordinate, cut into pieces of width h: the first i pieces, the last end left out. *)
Lemma sampled_pieces : forall k f eta h, 0 < h -> C * h <= eta / 2 ->
  (forall x, exists g, in_window M k g /\
    forall ts, box_set (window M k) ts -> near (eta / 2) (fun us => f (x :: us)) g ts) ->
  (forall t t' ts, Rabs (f (t :: ts) - f (t' :: ts)) <= C * Rabs (t - t')) ->
  forall i, - M + INR i * h <= M -> exists terms, in_window M (S k) terms /\
  forall t ts, - M <= t -> box_set (window M k) ts ->
    (t < - M + INR i * h -> near eta f terms (t :: ts)) /\
    (- M + INR i * h <= t -> step_function terms (t :: ts) = 0).
Proof.
  intros k f eta h Hh HC Hg Hslow; induction i as [| i IH]; intros Hi.
  - exists []; split; [constructor |]; intros t ts Ht _; cbn [INR] in *; split; [intros; exfalso; lra |].
    intros _; reflexivity.
  - rewrite S_INR in *; destruct IH as [terms [Hterms Hvalue]]; [lra |].
    set (x := - M + INR i * h) in *; set (x' := - M + (INR i + 1) * h) in *.
    assert (Hx : x' = x + h) by (unfold x, x'; ring).
    assert (HxM : - M <= x) by (unfold x; generalize (pos_INR i); nra).
    destruct (Hg x) as [g [Hgw Hgv]].
    exists (on_side 1 (x, x') g ++ on_side (- 1) (x', x') g ++ terms); split.
    + apply Forall_app; split; [apply on_side_in_window; [split; cbn; lra | exact Hgw] |].
      apply Forall_app; split; [apply on_side_in_window; [split; cbn; lra | exact Hgw] | exact Hterms].
    + intros t ts Ht Hts; destruct (Hvalue t ts Ht Hts) as [Hbefore Hafter].
      rewrite !step_app, !step_on_side; split; intros Htx.
      * unfold near; rewrite !step_app, !step_on_side.
        destruct (Rlt_or_le t x) as [Hlt | Hge].
        -- replace (between (x, x') t) with 0 by side_values.
           replace (between (x', x') t) with 0 by side_values.
           specialize (Hbefore Hlt); destruct Hbefore as [H1 H2].
           replace (1 * 0 * step_function g ts + (- 1 * 0 * step_function g ts + step_function terms (t
             :: ts)))
             with (step_function terms (t :: ts)) by ring; split; assumption.
        -- replace (between (x, x') t) with 1 by side_values.
           replace (between (x', x') t) with 0 by side_values.
           rewrite (Hafter Hge); destruct (Hgv ts Hts) as [H1 H2]; cbv beta in H2.
           replace (1 * 1 * step_function g ts + (- 1 * 0 * step_function g ts + 0)) with (step_function
             g ts) by ring.
           split; [exact H1 |]; specialize (Hslow x t ts).
           assert (C * Rabs (x - t) <= C * h)
             by (apply Rmult_le_compat_l; [exact C_nonneg |]; rewrite Rabs_left1; lra).
           replace (step_function g ts - f (t :: ts))
             with (step_function g ts - f (x :: ts) + (f (x :: ts) - f (t :: ts))) by ring.
           eapply Rle_trans; [apply Rabs_triang |]; lra.
      * rewrite (Hafter ltac:(lra)).
        destruct (Req_dec t x') as [E | Hne].
        -- replace (between (x, x') t) with 1 by side_values.
           replace (between (x', x') t) with 1 by side_values.
           ring.
        -- replace (between (x, x') t) with 0 by side_values.
           replace (between (x', x') t) with 0 by side_values.
           ring.
Qed.

Lemma sampled : forall k f eta, 0 < eta -> (forall ts, 0 <= f ts <= 1) -> slow C k f ->
  exists terms, in_window M k terms /\ forall ts, box_set (window M k) ts -> near eta f terms ts.
Proof.
  induction k as [| k IH]; intros f eta Heta Hf Hslow.
  - exists [(f [], [])]; split; [constructor; [split; [reflexivity | constructor] | constructor] |].
    intros ts Hts; inversion Hts; subst; unfold near, step_function; cbn.
    replace (f [] * 1 + 0) with (f []) by ring; split; [apply Hf |].
    replace (f [] - f []) with 0 by ring; rewrite Rabs_R0; lra.
  - destruct Hslow as [Hcoordinate Hrest].
    assert (Hg : forall x, exists g, in_window M k g /\
      forall ts, box_set (window M k) ts -> near (eta / 2) (fun us => f (x :: us)) g ts).
    { intros x; apply IH; [lra | intros ts; apply Hf | apply Hrest]. }
    destruct (nfloor_ex (4 * C * M / eta)) as [n [_ Hn]].
    { apply Rmult_le_pos; [apply Rmult_le_pos; lra | left; apply Rinv_0_lt_compat, Heta]. }
    set (h := 2 * M / (INR n + 1)); assert (Hn0 := pos_INR n).
    assert (Hh : 0 < h) by (apply Rdiv_lt_0_compat; lra).
    assert (HC : C * h <= eta / 2).
    { unfold h; apply Rmult_le_reg_r with (2 * (INR n + 1) / eta); [apply Rdiv_lt_0_compat; lra |].
      replace (C * (2 * M / (INR n + 1)) * (2 * (INR n + 1) / eta)) with (4 * C * M / eta) by (field; lra).
      replace (eta / 2 * (2 * (INR n + 1) / eta)) with (INR n + 1) by (field; lra); lra. }
    assert (Hend : - M + INR (S n) * h = M) by (rewrite S_INR; unfold h; field; lra).
    destruct (sampled_pieces k f eta h Hh HC Hg Hcoordinate (S n) ltac:(lra)) as [terms [Hterms Hvalue]].
    destruct (Hg M) as [g [Hgw Hgv]]; exists (on_side 1 (M, M) g ++ terms); split.
    + apply Forall_app; split; [apply on_side_in_window; [split; cbn; lra | exact Hgw] | exact Hterms].
    + intros ts Hts; cbn [window repeat] in Hts; inversion Hts as [| a t b us Ht Hus]; subst.
      unfold inside in Ht; cbn [fst snd] in Ht; destruct (Hvalue t us (proj1 Ht) Hus) as [Hbefore Hafter].
      rewrite Hend in *; unfold near; rewrite step_app, step_on_side; destruct (Req_dec t M) as [-> | Hne].
      * rewrite (Hafter (Rle_refl M)); destruct (Hgv us Hus) as [H1 H2]; cbv beta in H2.
        replace (between (M, M) M) with 1 by side_values.
        replace (1 * 1 * step_function g us + 0) with (step_function g us) by ring; split; [exact H1 | lra].
      * replace (between (M, M) t) with 0 by side_values.
        destruct (Hbefore ltac:(lra)) as [H1 H2].
        replace (1 * 0 * step_function g us + step_function terms (t :: us))
          with (step_function terms (t :: us)) by ring; split; assumption.
Qed.
End Sampled.

(** ** Gaussian noise: the test near the best event is slow *)

Section Soft.
Context {A : Type}.
Variables (sigma c w : A -> R) (s : R).
Hypothesis sigma_pos : forall a, 0 < sigma a.
Hypothesis s_pos : 0 < s.

Let rate := / (s * (2 * kappa)).

Lemma soft_moves : forall l y y' ts,
  Rabs (soft_half_space sigma c w s l y ts - soft_half_space sigma c w s l y' ts) <= rate * Rabs (y - y').
Proof.
  assert (Hend := exceedance_lipschitz s s_pos); fold rate in Hend.
  induction l as [| a l IH]; intros y y' [| t ts]; cbn [soft_half_space]; try apply Hend.
  eapply Rle_trans; [apply IH |]; right; f_equal; f_equal; ring.
Qed.

Lemma soft_is_slow : forall C l y, (forall a, In a l -> rate * Rabs (w a / sigma a) <= C) ->
  slow C (length l) (soft_half_space sigma c w s l y).
Proof.
  intros C; induction l as [| a l IH]; intros y HC; [exact I |]; cbn [length slow]; split.
  - intros t t' ts; cbn [soft_half_space]; eapply Rle_trans; [apply soft_moves |].
    assert (Hs := sigma_pos a).
    replace (y + w a * ((t - c a) / sigma a) - (y + w a * ((t' - c a) / sigma a)))
      with (w a / sigma a * (t - t')) by (field; lra).
    rewrite Rabs_mult, <- Rmult_assoc; apply Rmult_le_compat_r; [apply Rabs_pos |].
    apply HC; left; reflexivity.
  - intros t; cbn [soft_half_space]; apply IH; intros b Hb; apply HC; right; exact Hb.
Qed.
End Soft.

(** The integral of a slow test is nearly that of a step function. *)
Section Near.
Context {A : Type}.
Variables (l : list A) (sigma m : A -> R) (mu : (list R -> Prop) -> R) (M eta : R).
Hypothesis sigma_pos : forall a, 0 < sigma a.
Hypothesis M_nonneg : 0 <= M.
Hypothesis eta_nonneg : 0 <= eta.

Let p a t := gaussian_density (sigma a) (t - m a).
Hypothesis mu_law : law_of_densities l p mu.

Lemma inside_a_window : forall (l' : list A) ts, Composition.inside (fun _ => - M) (fun _ => M) l' ts ->
  box_set (window M (length l')) ts.
Proof.
  induction l' as [| a l' IH]; intros [| t ts] H; cbn [Composition.inside] in H; try contradiction;
    [constructor |].
  destruct H as [H1 H2]; cbn [length window repeat]; constructor; [exact H1 | apply IH, H2].
Qed.

Lemma integral_near_steps : forall f terms,
  integrable l p (fun _ => - M) (fun _ => M) f -> in_window M (length l) terms ->
  (forall ts, box_set (window M (length l)) ts -> Rabs (step_function terms ts - f ts) <= eta) ->
  Rabs (sum_over terms (fun term => fst term * mu (box_set (snd term)))
    - expectation l p (fun _ => - M) (fun _ => M) f) <= eta.
Proof.
  intros f terms Hf Hterms Hnear; assert (Hordered : forall a : A, - M <= M) by (intros _; lra).
  assert (Hc : continuous_density p) by (intros a t; apply gaussian_continuous, sigma_pos).
  assert (Hp : nonnegative_density p) by (intros a t; apply Rlt_le, gaussian_pos, sigma_pos).
  assert (Hm : 0 <= mass (fun _ => - M) (fun _ => M) l p <= 1).
  { apply mass_bounds; [exact Hordered | exact Hc | exact Hp |].
    intros a; apply gaussian_mass_le_1, sigma_pos. }
  rewrite <- (expectation_of_step l p mu Hc mu_law M terms M_nonneg Hterms).
  assert (Hstep := step_function_integrable _ _ Hordered p Hc l terms).
  destruct (expectation_affine _ _ Hordered l p (step_function terms) 1 eta Hstep Hc) as [Hi1 He1].
  destruct (expectation_affine _ _ Hordered l p (step_function terms) 1 (- eta) Hstep Hc) as [Hi2 He2].
  assert (H1 : expectation l p (fun _ => - M) (fun _ => M) f <=
    expectation l p (fun _ => - M) (fun _ => M) (fun ts => 1 * step_function terms ts + eta)).
  { apply expectation_le; try assumption; intros ts Hts.
    specialize (Hnear ts (inside_a_window l ts Hts)); apply Rabs_le_between in Hnear; lra. }
  assert (H2 : expectation l p (fun _ => - M) (fun _ => M) (fun ts => 1 * step_function terms ts + - eta) <=
    expectation l p (fun _ => - M) (fun _ => M) f).
  { apply expectation_le; try assumption; intros ts Hts.
    specialize (Hnear ts (inside_a_window l ts Hts)); apply Rabs_le_between in Hnear; lra. }
  rewrite He1 in H1; rewrite He2 in H2; apply Rabs_le; split; nra.
Qed.
End Near.

(** So two laws that are close on Borel sets need the profile. *)
Lemma laws_are_soft : forall (A : Type) (l : list A) (sigma c c' : A -> R) epsilon delta mu nu,
  (forall a, 0 < sigma a) ->
  law_of_densities l (fun a t => gaussian_density (sigma a) (t - c a)) mu ->
  law_of_densities l (fun a t => gaussian_density (sigma a) (t - c' a)) nu ->
  (forall S, borel (length l) S -> mu S <= exp epsilon * nu S + delta) ->
  soft_private epsilon delta l sigma c c'.
Proof.
  intros A l sigma c c' epsilon delta mu nu Hs Hmu Hnu Hclose s y K Hpos HK.
  set (M := 1 + sum_over l (fun a => Rabs (c a) + K * sigma a)); exists (fun _ => - M), (fun _ => M).
  assert (Hterm : forall a, 0 <= Rabs (c a) + K * sigma a).
  { intros a; generalize (Rabs_pos (c a)) (Hs a); intros; nra. }
  assert (HM : 0 < M) by (unfold M; generalize (sum_nonneg l _ (fun a _ => Hterm a)); lra).
  assert (Hordered : forall a : A, - M <= M) by (intros _; lra).
  split; [exact Hordered | split].
  - intros a Ha; assert (H := sum_member l a _ (fun b _ => Hterm b) Ha); cbv beta in H; fold M in H.
    assert (Hc := Rabs_le_between (c a) (Rabs (c a))); assert (Hab : - Rabs (c a) <= c a <= Rabs (c a))
      by (apply Hc, Rle_refl); unfold M; lra.
  - set (w := fun a => - ((c a - c' a) / sigma a)); set (f := soft_half_space sigma c w s l y); cbv zeta.
    set (C := sum_over l (fun a => / (s * (2 * kappa)) * Rabs (w a / sigma a))).
    assert (Hk := kappa_pos); assert (Hrate : 0 < / (s * (2 * kappa))) by (apply Rinv_0_lt_compat; nra).
    assert (Hweight : forall a, 0 <= / (s * (2 * kappa)) * Rabs (w a / sigma a))
      by (intros a; apply Rmult_le_pos; [lra | apply Rabs_pos]).
    assert (HC : 0 <= C) by (apply sum_nonneg; intros; apply Hweight).
    assert (Hslow : slow C (length l) f).
    { apply soft_is_slow; [exact Hs | exact Hpos |].
      intros a Ha; exact (sum_member l a _ (fun b _ => Hweight b) Ha). }
    apply le_epsilon; intros eta Heta; assert (He := exp_pos epsilon).
    set (small := eta / (1 + exp epsilon)); assert (Hsmall : 0 < small) by (apply Rdiv_lt_0_compat; lra).
    destruct (sampled C M HC HM (length l) f small Hsmall (soft_half_space_bounds sigma c w s l y) Hslow)
      as [terms [Hterms Hnear]].
    assert (Hsteps := steps_are_close (length l) mu nu (exp epsilon) (proj1 Hmu) (proj1 Hnu) delta M terms
      Hclose Hterms (fun ts Hts => proj1 (Hnear ts Hts))).
    assert (Hp := integral_near_steps l sigma c mu M small Hs (Rlt_le _ _ HM)
      (Rlt_le _ _ Hsmall) Hmu f terms
      (proj1 (soft_half_space_integrable sigma c c w _ _ s Hs Hordered Hpos l) y) Hterms
      (fun ts Hts => proj2 (Hnear ts Hts))).
    assert (Hq := integral_near_steps l sigma c' nu M small Hs (Rlt_le _ _ HM)
      (Rlt_le _ _ Hsmall) Hnu f terms
      (proj1 (soft_half_space_integrable sigma c c' w _ _ s Hs Hordered Hpos l) y) Hterms
      (fun ts Hts => proj2 (Hnear ts Hts))).
    apply Rabs_le_between in Hp, Hq.
    assert (Hsum : small + exp epsilon * small = eta) by (unfold small; field; lra).
    set (Ep := expectation l (fun a t => gaussian_density (sigma a) (t - c a)) _ _ f) in *.
    set (Eq := expectation l (fun a t => gaussian_density (sigma a) (t - c' a)) _ _ f) in *.
    assert (exp epsilon * sum_over terms (fun term => fst term * nu (box_set (snd term)))
      <= exp epsilon * (Eq + small)) by (apply Rmult_le_compat_l; lra).
    lra.
Qed.
