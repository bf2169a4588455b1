(** * All events: from test functions on boxes to every Borel set

    [indistinguishable] speaks about Riemann integrals over boxes. Here the outcomes of a release, lists of k
    numbers, have a law: a measure that gives every box the product of the integrals of the densities. If two
    product densities are (epsilon, delta)-indistinguishable, two such measures are (epsilon, delta)-close on
    every Borel set, that is on the sigma-algebra that closed boxes generate: the indicator of finitely many
    boxes is a test, and up to any small mass every Borel set is such a combination. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Analysis Expectation TestFunctions CountableMeasures Laplace
  Theorem3 Gaussian
  ExtendedGaussian Theorem5.
Import ListNotations.
Open Scope R_scope.

(** ** Words *)

Definition inside (side : R * R) (t : R) : Prop := fst side <= t <= snd side.
Definition box_set (sides : list (R * R)) (ts : list R) : Prop := Forall2 inside sides ts.

Definition closed_box (k : nat) (S : list R -> Prop) : Prop :=
  exists sides, length sides = k /\ same_set S (box_set sides).

(** The Borel sets of k coordinates. *)
Definition borel (k : nat) : (list R -> Prop) -> Prop := sigma_algebra (closed_box k).

Fixpoint box_probability {A : Type} (l : list A) (p : A -> R -> R) (sides : list (R * R)) : R :=
  match l, sides with
  | a :: l', side :: sides' => RInt (p a) (fst side) (snd side) * box_probability l' p sides'
  | _, _ => 1
  end.

(** A measure on the Borel sets of which the densities are those of the coordinates. *)
Definition law_of_densities {A : Type} (l : list A) (p : A -> R -> R) (mu : (list R -> Prop) -> R) : Prop :=
  measure (closed_box (length l)) mu /\
  mu (fun ts => length ts <> length l) = 0 /\
  forall sides, length sides = length l -> Forall (fun side => fst side <= snd side) sides ->
    mu (box_set sides) = box_probability l p sides.

Definition borel_indistinguishable {A : Type} (epsilon delta : R) (l : list A) (p q : A -> R -> R) : Prop :=
  forall mu nu, law_of_densities l p mu -> law_of_densities l q nu ->
  forall S, borel (length l) S -> mu S <= exp epsilon * nu S + delta.

(** Privacy of the noisy coefficients for every Borel set of outcomes. *)
Definition private_on_borel_sets (epsilon delta : R) (n d : nat) (domain : record -> Prop)
    (noise : R -> R -> R) (scale : monomial -> R) (r : reading) : Prop :=
  forall D D', neighbours n domain D D' ->
    borel_indistinguishable epsilon delta (Phi (basis r) d) (release noise scale r D)
      (release noise scale r D').

(** ** Boxes inside a window *)

Definition within (M : R) (side : R * R) : Prop := - M <= fst side /\ snd side <= M.
Definition window (M : R) (k : nat) : list (R * R) := repeat (- M, M) k.

(** Terms of a step function whose boxes have k sides in the window. *)
Definition in_window (M : R) (k : nat) (terms : list (R * list (R * R))) : Prop :=
  Forall (fun term => length (snd term) = k /\ Forall (within M) (snd term)) terms.

Lemma box_set_length : forall sides ts, box_set sides ts -> length ts = length sides.
Proof. intros sides ts H; induction H; cbn [length]; congruence. Qed.

Lemma box_set_window : forall M sides ts, Forall (within M) sides -> box_set sides ts ->
  box_set (window M (length sides)) ts.
Proof.
  intros M sides ts Hw H; induction H as [| side t sides ts Ht _ IH]; [constructor |].
  inversion Hw as [| side' sides' Hside Hsides]; subst; cbn [length window repeat]; constructor;
    [| apply IH, Hsides].
  unfold inside, within in *; cbn [fst snd]; lra.
Qed.

Lemma indicator_of_box_set : forall sides ts, length ts = length sides ->
  (box_set sides ts /\ box_indicator sides ts = 1) \/ (~ box_set sides ts /\ box_indicator sides ts = 0).
Proof.
  induction sides as [| side sides IH]; intros [| t ts] Hlength; try discriminate; cbn [box_indicator].
  - left; split; [constructor | reflexivity].
  - injection Hlength as Hlength; unfold between.
    destruct (IH ts Hlength) as [[H E] | [H E]]; rewrite E.
    + destruct (Rle_dec (fst side) t) as [H1 | H1]; [destruct (Rle_dec t (snd side)) as [H2 | H2] |].
      * left; split; [constructor; [split; assumption | exact H] | ring].
      * right; split; [| ring]; intros H'; inversion H' as [| a b c e [H3 H4]]; contradiction.
      * right; split; [| ring]; intros H'; inversion H' as [| a b c e [H3 H4]]; contradiction.
    + right; split; [| ring]; intros H'; inversion H'; contradiction.
Qed.

Lemma intersect_in_window : forall M r1 r2, length r1 = length r2 -> Forall (within M) r2 ->
  length (intersect r1 r2) = length r1 /\ Forall (within M) (intersect r1 r2).
Proof.
  induction r1 as [| s1 r1 IH]; intros [| s2 r2] Hlength Hw; try discriminate; cbn [intersect length];
    [split; [reflexivity | constructor] |].
  inversion Hw as [| a b [H1 H2] Hrest]; injection Hlength as Hlength; subst.
  destruct (IH r2 Hlength Hrest) as [E H]; split; [congruence | constructor; [| exact H]].
  split; cbn [fst snd]; [eapply Rle_trans; [exact H1 | apply Rmax_r] | eapply Rle_trans;
    [apply Rmin_r | exact H2]].
Qed.

Lemma window_in_window : forall M k, length (window M k) = k /\ Forall (within M) (window M k).
Proof.
  intros M k; split; [apply repeat_length |]; apply Forall_forall; intros side H; apply repeat_spec in H;
    subst side.
  split; cbn [fst snd]; lra.
Qed.

Lemma step_product : forall M k f g, in_window M k f -> in_window M k g -> exists terms,
  in_window M k terms /\
  forall ts, step_function terms ts = step_function f ts * step_function g ts.
Proof.
  intros M k f g Hf Hg; induction Hf as [| [c sides] f [Hlength Hsides] Hf [terms [Hterms IH]]];
    cbn [fst snd] in *.
  - exists []; split; [constructor |]; intros ts; unfold step_function; cbn; ring.
  - exists (map (fun term => (c * fst term, intersect sides (snd term))) g ++ terms); split.
    + apply Forall_app; split; [| exact Hterms]; apply Forall_map; revert Hg; apply Forall_impl.
      intros [c' sides'] [H1 H2]; cbn [fst snd] in *.
      destruct (intersect_in_window M sides sides' ltac:(congruence) H2) as [E H]; split;
        [congruence | exact H].
    + intros ts; unfold step_function at 1; rewrite sum_app, sum_map; fold (step_function terms ts);
        rewrite IH.
      change (step_function ((c, sides) :: f) ts) with (c * box_indicator sides ts + step_function f ts).
      rewrite Rmult_plus_distr_r; f_equal; unfold step_function; rewrite <- sum_scal; apply sum_ext.
      intros [c' sides'] _; cbn [fst snd]; rewrite <- intersect_indicator; ring.
Qed.

(** ** Sets of the algebra, in the window, are tests *)

(** [test] is the indicator of the part of S in the window, and a step function. *)
Definition test_of (M : R) (k : nat) (S : list R -> Prop) (test : list R -> R) : Prop :=
  (forall ts, 0 <= test ts <= 1) /\
  (exists terms, in_window M k terms /\ forall ts, step_function terms ts = test ts) /\
  forall ts, length ts = k ->
    (S ts /\ box_set (window M k) ts -> test ts = 1) /\ (~ (S ts /\ box_set (window M k) ts) -> test ts = 0).

Lemma test_of_box : forall M k sides, length sides = k ->
  test_of M k (box_set sides) (box_indicator (intersect sides (window M k))).
Proof.
  intros M k sides Hk; destruct (window_in_window M k) as [Hw Hw'].
  destruct (intersect_in_window M sides (window M k) ltac:(congruence) Hw') as [E H].
  split; [apply box_indicator_bounds | split].
  - exists [(1, intersect sides (window M k))]; split.
    + constructor; [split; [cbn [snd]; congruence | exact H] | constructor].
    + intros ts; unfold step_function; rewrite sum_cons; cbn; ring.
  - intros ts Hts; rewrite <- intersect_indicator.
    destruct (indicator_of_box_set sides ts ltac:(congruence)) as [[H1 ->] | [H1 ->]],
      (indicator_of_box_set (window M k) ts ltac:(congruence)) as [[H2 ->] | [H2 ->]];
      split; intros H'; try ring; exfalso; tauto.
Qed.

Lemma test_of_outside : forall M k S test, test_of M k S test ->
  test_of M k (outside S) (fun ts => box_indicator (window M k) ts * (1 - test ts)).
Proof.
  intros M k S test [Hbounds [[terms [Hterms E]] Htest]]; destruct (window_in_window M k) as [Hw Hw'].
  assert (Hone : in_window M k [(1, window M k)]) by (constructor; [split; assumption | constructor]).
  split; [| split].
  - intros ts; generalize (Hbounds ts) (box_indicator_bounds (window M k) ts); intros; split; nra.
  - destruct (step_product M k [(1, window M k)] terms Hone Hterms) as [terms' [Hterms' E']].
    exists ((1, window M k) :: map (fun term => (- fst term, snd term)) terms'); split.
    + constructor; [split; assumption |]; apply Forall_map; exact Hterms'.
    + intros ts; unfold step_function at 1; rewrite sum_cons, sum_map; cbn [fst snd].
      rewrite (sum_ext terms' _ (fun term => - 1 * (fst term * box_indicator (snd term) ts))) by (intros;
        ring).
      rewrite sum_scal; fold (step_function terms' ts); rewrite E', E; unfold step_function;
        rewrite sum_cons; cbn; ring.
  - intros ts Hts; destruct (Htest ts Hts) as [H1 H0]; unfold outside.
    destruct (indicator_of_box_set (window M k) ts ltac:(congruence)) as [[H2 ->] | [H2 ->]];
      split; intros H'; try ring; try (exfalso; tauto).
    + rewrite H0 by tauto; ring.
    + rewrite H1 by (destruct (Classical_Prop.classic (S ts)); tauto); ring.
Qed.

Lemma test_of_joined : forall M k S T f g, test_of M k S f -> test_of M k T g ->
  test_of M k (joined S T) (fun ts => f ts + g ts - f ts * g ts).
Proof.
  intros M k S T f g [Hf [[terms [Hterms E]] Hf']] [Hg [[terms' [Hterms' E']] Hg']]; split; [| split].
  - intros ts; generalize (Hf ts) (Hg ts); intros; split; nra.
  - destruct (step_product M k terms terms' Hterms Hterms') as [terms'' [Hterms'' E'']].
    exists (terms ++ terms' ++ map (fun term => (- fst term, snd term)) terms''); split.
    + apply Forall_app; split; [exact Hterms |]; apply Forall_app; split; [exact Hterms' |].
      apply Forall_map; exact Hterms''.
    + intros ts; unfold step_function; rewrite !sum_app, sum_map; cbn [fst snd].
      rewrite (sum_ext terms'' _ (fun term => - 1 * (fst term * box_indicator (snd term) ts))) by (intros;
        ring).
      rewrite sum_scal; fold (step_function terms ts) (step_function terms' ts) (step_function terms'' ts).
      rewrite E'', E, E'; ring.
  - intros ts Hts; destruct (Hf' ts Hts) as [H1 H0], (Hg' ts Hts) as [H1' H0']; unfold joined.
    destruct (Classical_Prop.classic (S ts /\ box_set (window M k) ts)) as [HS | HS],
      (Classical_Prop.classic (T ts /\ box_set (window M k) ts)) as [HT | HT];
      rewrite ?(H1 HS), ?(H0 HS), ?(H1' HT), ?(H0' HT); split; intros H'; try ring; exfalso; tauto.
Qed.

Lemma test_of_algebra : forall M k S, algebra (closed_box k) S -> exists test, test_of M k S test.
Proof.
  intros M k S H; induction H as [S [sides [Hk E]] | S _ [f IH] | S T _ [f IH] _ [g IH']].
  - exists (box_indicator (intersect sides (window M k))); destruct (test_of_box M k sides Hk)
      as [H1 [H2 H3]].
    split; [exact H1 | split; [exact H2 |]]; intros ts Hts; rewrite (E ts); apply H3, Hts.
  - eexists; apply test_of_outside, IH.
  - eexists; apply test_of_joined; [apply IH | apply IH'].
Qed.

(** ** A measure on the Borel sets of k coordinates *)

Lemma some_closed_box : forall k, exists S, closed_box k S.
Proof.
  intros k; exists (box_set (repeat (0, 0) k)), (repeat (0, 0) k); split; [apply repeat_length |].
  intros w; reflexivity.
Qed.

Lemma closed_box_is_borel : forall k sides, length sides = k -> borel k (box_set sides).
Proof. intros k sides H; apply sigma_base; exists sides; split; [exact H | intros w; reflexivity]. Qed.

(** *** Growing windows *)

Lemma wider_window : forall M M' k' ts, M <= M' -> box_set (window M k') ts -> box_set (window M' k') ts.
Proof.
  intros M M' k' ts HM; revert ts; induction k' as [| k' IH]; intros ts H;
    inversion H as [| a t b ts' Ht Hts];
    subst; cbn [window repeat]; constructor; [unfold inside in *; cbn [fst snd] in *; lra | apply IH, Hts].
Qed.

Lemma some_window : forall ts : list R, exists i, box_set (window (INR i) (length ts)) ts.
Proof.
  induction ts as [| t ts [i IH]]; [exists 0%nat; constructor |].
  destruct (nfloor_ex (Rabs t) (Rabs_pos t)) as [j0 [_ Hj]]; set (j := S j0); exists (i + j)%nat;
    cbn [length window repeat].
  assert (Hi := pos_INR i); assert (Hj' := pos_INR j); constructor.
  - unfold inside; cbn [fst snd]; rewrite plus_INR; assert (Ht : Rabs t < INR j) by (unfold j;
      rewrite S_INR; exact Hj); apply Rabs_def2 in Ht; lra.
  - apply (wider_window (INR i)); [rewrite plus_INR; lra | exact IH].
Qed.

Section Masses.
Variables (k : nat) (mu : (list R -> Prop) -> R).
Hypothesis mu_measure : measure (closed_box k) mu.
Hypothesis nothing_else : mu (fun ts => length ts <> k) = 0.

Let some_box := some_closed_box k.
Let box_is_borel := closed_box_is_borel k.

(** A set is nearly its part in a window that is large enough. *)
Lemma mass_in_a_window : forall S eta, borel k S -> 0 < eta ->
  exists M, 0 <= M /\ mu S <= mu (fun ts => S ts /\ box_set (window M k) ts) + eta.
Proof.
  intros S eta HS Heta; set (V i := fun ts => S ts /\ box_set (window (INR i) k) ts).
  assert (Hwindow : forall M, borel k (box_set (window M k)))
    by (intros M; apply box_is_borel, (proj1 (window_in_window M k))).
  assert (HV : forall i, borel k (V i)) by (intros i; apply measurable_both; [exact HS | apply Hwindow]).
  destruct (mass_nearly_finite (closed_box k) some_box mu mu_measure V eta HV Heta) as [i Hi].
  exists (INR i); split; [apply pos_INR |].
  assert (Hfirst : mu (joined_first V i) <= mu (V i)).
  { apply (mass_larger (closed_box k) some_box mu mu_measure); [apply measurable_first;
      [exact some_box | exact HV] | apply HV |].
    intros w [j [Hj [H1 H2]]]; split; [exact H1 | apply (wider_window (INR j)); [apply le_INR;
      lia | exact H2]]. }
  assert (Hrest : mu S <= mu (joined_all V) + mu (fun ts => length ts <> k)).
  { apply (mass_covered (closed_box k) some_box mu mu_measure); [exact HS | apply sigma_joined, HV | |].
    - apply sigma_same with (outside (joined_all (fun i => box_set (window (INR i) k)))).
      + intros w; split; [intros H E | intros H [j Hj]].
        * apply H; rewrite <- E; apply some_window.
        * apply H; rewrite (box_set_length _ _ Hj); apply (proj1 (window_in_window (INR j) k)).
      + apply sigma_outside, sigma_joined; intros j; apply Hwindow.
    - intros w Hw; destruct (Nat.eq_dec (length w) k) as [E | E]; [left | right; exact E].
      destruct (some_window w) as [j Hj]; exists j; split; [exact Hw | rewrite <- E; exact Hj]. }
  unfold V in *; lra.
Qed.

(** Where a step function is 0, the masses of its boxes add up to 0. *)
Lemma masses_of_zero : forall (terms : list (R * list (R * R))) E c,
  Forall (fun term => length (snd term) = k) terms -> borel k E ->
  (forall ts, E ts -> length ts = k /\ c + step_function terms ts = 0) ->
  c * mu E + sum_over terms (fun term => fst term * mu (fun ts => E ts /\ box_set (snd term) ts)) = 0.
Proof.
  intros terms; induction terms as [| [c1 sides] terms IH]; intros E c Hlength HE Hzero.
  - unfold step_function in Hzero; cbn in *; destruct (Req_dec c 0) as [-> | Hc]; [ring |].
    replace (mu E) with 0; [ring |]; rewrite <- (mass_empty (closed_box k) some_box mu mu_measure).
    apply mu_measure; intros w; split; [contradiction | intros H; destruct (Hzero w H) as [_ H']; lra].
  - inversion Hlength as [| a b Hsides Hrest]; subst a b; cbn [snd] in Hsides.
    assert (HB := box_is_borel sides Hsides).
    assert (HE1 : borel k (fun ts => E ts /\ box_set sides ts)) by (apply measurable_both; assumption).
    assert (HE0 : borel k (fun ts => E ts /\ ~ box_set sides ts))
      by (apply measurable_both; [| apply sigma_outside]; assumption).
    assert (H1 := IH _ (c + c1) Hrest HE1); assert (H0 := IH _ c Hrest HE0).
    rewrite sum_cons; cbn [fst snd].
    rewrite (sum_ext terms _ (fun term =>
      fst term * mu (fun ts => (E ts /\ box_set sides ts) /\ box_set (snd term) ts) +
      fst term * mu (fun ts => (E ts /\ ~ box_set sides ts) /\ box_set (snd term) ts))).
    + rewrite sum_plus, (mass_split (closed_box k) some_box mu mu_measure E (box_set sides) HE HB).
      assert (H1' : (c + c1) * mu (fun ts => E ts /\ box_set sides ts) + sum_over terms (fun term =>
        fst term * mu (fun ts => (E ts /\ box_set sides ts) /\ box_set (snd term) ts)) = 0).
      { apply H1; intros ts [Hts Hin]; destruct (Hzero ts Hts) as [Hl Hsum]; split; [exact Hl |].
        change (step_function ((c1, sides) :: terms) ts)
          with (c1 * box_indicator sides ts + step_function terms ts) in Hsum.
        destruct (indicator_of_box_set sides ts ltac:(congruence)) as [[_ Ei] | [Hn _]];
          [rewrite Ei in Hsum; lra | tauto]. }
      assert (H0' : c * mu (fun ts => E ts /\ ~ box_set sides ts) + sum_over terms (fun term =>
        fst term * mu (fun ts => (E ts /\ ~ box_set sides ts) /\ box_set (snd term) ts)) = 0).
      { apply H0; intros ts [Hts Hout]; destruct (Hzero ts Hts) as [Hl Hsum]; split; [exact Hl |].
        change (step_function ((c1, sides) :: terms) ts)
          with (c1 * box_indicator sides ts + step_function terms ts) in Hsum.
        destruct (indicator_of_box_set sides ts ltac:(congruence)) as [[Hi _] | [_ Ei]];
          [tauto | rewrite Ei in Hsum; lra]. }
      lra.
    + intros term Hterm; rewrite <- Rmult_plus_distr_l; f_equal.
      assert (Hb : borel k (box_set (snd term)))
        by (apply box_is_borel; revert term Hterm; apply Forall_forall; exact Hrest).
      assert (HEb : borel k (fun ts => E ts /\ box_set (snd term) ts)) by (apply measurable_both; assumption).
      rewrite (mass_split (closed_box k) some_box mu mu_measure _ (box_set sides) HEb HB).
      f_equal; apply mu_measure; intros w; tauto.
Qed.

(** So a test of S adds up to the mass of S in the window. *)
Lemma mass_of_test : forall M S test terms, borel k S -> test_of M k S test -> in_window M k terms ->
  (forall ts, step_function terms ts = test ts) ->
  sum_over terms (fun term => fst term * mu (box_set (snd term)))
  = mu (fun ts => S ts /\ box_set (window M k) ts).
Proof.
  intros M S test terms HS [_ [_ Htest]] Hterms E.
  destruct (window_in_window M k) as [Hw Hw']; assert (HW := box_is_borel (window M k) Hw).
  assert (Hlengths : Forall (fun term => length (snd term) = k) terms)
    by (revert Hterms; apply Forall_impl; intros term [H _]; exact H).
  set (V := fun ts => S ts /\ box_set (window M k) ts); set (V' := fun ts => box_set (window M k)
    ts /\ ~ S ts).
  assert (HV : borel k V) by (apply measurable_both; assumption).
  assert (HV' : borel k V') by (apply measurable_both; [| apply sigma_outside]; assumption).
  assert (H1 := masses_of_zero terms V (- 1) Hlengths HV);
    assert (H0 := masses_of_zero terms V' 0 Hlengths HV').
  rewrite (sum_ext terms _ (fun term => fst term * mu (fun ts => V ts /\ box_set (snd term) ts) +
    fst term * mu (fun ts => V' ts /\ box_set (snd term) ts))).
  - rewrite sum_plus.
    assert (H1' : - 1 * mu V + sum_over terms (fun term => fst term * mu (fun ts => V ts /\ box_set (snd
      term) ts)) = 0).
    { apply H1; intros ts Hts; assert (Hl := box_set_length _ _ (proj2 Hts)); rewrite Hw in Hl.
      split; [exact Hl |]; rewrite E, (proj1 (Htest ts Hl) Hts); ring. }
    assert (H0' : 0 * mu V' + sum_over terms (fun term => fst term * mu (fun ts => V' ts /\ box_set (snd
      term) ts)) = 0).
    { apply H0; intros ts Hts; assert (Hl := box_set_length _ _ (proj1 Hts)); rewrite Hw in Hl.
      split; [exact Hl |]; rewrite E, (proj2 (Htest ts Hl)) by (intros H; apply (proj2 Hts), H); ring. }
    lra.
  - intros term Hterm; rewrite <- Rmult_plus_distr_l; f_equal.
    assert (Hin := proj1 (Forall_forall _ _) Hterms term Hterm); destruct Hin as [Hl Hin].
    rewrite (mass_split (closed_box k) some_box mu mu_measure _ S (box_is_borel _ Hl) HS).
    f_equal; apply mu_measure; intros w; unfold V, V'; assert (Hwin := box_set_window M (snd term) w Hin);
      rewrite Hl in Hwin; tauto.
Qed.
End Masses.

(** Two measures are close where all tests say so. *)
Lemma close_by_tests : forall k mu nu epsilon delta,
  measure (closed_box k) mu -> mu (fun ts => length ts <> k) = 0 -> measure (closed_box k) nu ->
  (forall M terms test, 0 <= M -> in_window M k terms -> (forall ts, step_function terms ts = test ts) ->
    (forall ts, 0 <= test ts <= 1) ->
    sum_over terms (fun term => fst term * mu (box_set (snd term))) <=
    exp epsilon * sum_over terms (fun term => fst term * nu (box_set (snd term))) + delta) ->
  forall S, borel k S -> mu S <= exp epsilon * nu S + delta.
Proof.
  intros k mu nu epsilon delta Hmu Hmu0 Hnu H; assert (He := exp_pos epsilon).
  apply (close_on_the_sigma_algebra (closed_box k) (some_closed_box k) mu nu _ _ Hmu Hnu (Rlt_le _ _ He)).
  intros S HS; apply le_epsilon; intros eta Heta.
  assert (HSm : borel k S) by (apply algebra_measurable, HS).
  destruct (mass_in_a_window k mu Hmu Hmu0 S eta HSm Heta) as [M [HM Hnear]].
  destruct (test_of_algebra M k S HS) as [test Htest].
  assert (Hterms := Htest); destruct Hterms as [Hbounds [[terms [Hterms E]] _]].
  assert (Hclose := H M terms test HM Hterms E Hbounds).
  rewrite (mass_of_test k mu Hmu M S test terms HSm Htest Hterms E) in Hclose.
  rewrite (mass_of_test k nu Hnu M S test terms HSm Htest Hterms E) in Hclose.
  assert (Hpart : nu (fun ts => S ts /\ box_set (window M k) ts) <= nu S).
  { apply (mass_larger (closed_box k) (some_closed_box k) nu Hnu); [| exact HSm | intros w [H1 _]; exact H1].
    apply measurable_both; [exact HSm | apply closed_box_is_borel, (proj1 (window_in_window M k))]. }
  assert (exp epsilon * nu (fun ts => S ts /\ box_set (window M k) ts) <= exp epsilon * nu S)
    by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(** ** The mass of a box by densities *)

Section Law.
Context {A : Type}.
Variables (l : list A) (p : A -> R -> R) (mu : (list R -> Prop) -> R).
Hypothesis p_continuous : continuous_density p.
Hypothesis mu_law : law_of_densities l p mu.

Let k := length l.
Let mu_measure := proj1 mu_law.

Lemma some_box : exists S, closed_box k S.
Proof. apply some_closed_box. Qed.

Lemma box_is_borel : forall sides, length sides = k -> borel k (box_set sides).
Proof. apply closed_box_is_borel. Qed.

Lemma integral_of_side : forall M side f, within M side -> 0 <= M -> (forall t, continuous f t) ->
  RInt (fun t => f t * between side t) (- M) M = if Rle_dec (fst side) (snd side) then RInt f (fst side)
    (snd side) else 0.
Proof.
  intros M [u v] f [Hu Hv] HM Hf; cbn [fst snd] in *; destruct (Rle_dec u v) as [Huv | Huv].
  - assert (Hex : forall a b, a <= b -> ex_RInt (fun t => f t * between (u, v) t) a b)
      by (intros; apply ex_RInt_between; assumption).
    rewrite <- (RInt_Chasles _ (- M) u M), <- (RInt_Chasles _ u v M) by (apply Hex; lra).
    assert (Hzero : forall a b, a <= b -> (forall t, a < t < b -> between (u, v) t = 0) ->
      RInt (fun t => f t * between (u, v) t) a b = 0).
    { intros a b Hab H; rewrite (RInt_ext _ (fun _ => 0)); [rewrite RInt_const; apply Rmult_0_r |].
      intros t Ht; rewrite Rmin_left, Rmax_right in Ht by exact Hab; rewrite (H t Ht); apply Rmult_0_r. }
    rewrite (Hzero (- M) u), (Hzero v M); try assumption.
    + rewrite (RInt_ext _ f); [unfold plus; cbn; ring |].
      intros t Ht; rewrite Rmin_left, Rmax_right in Ht by exact Huv; unfold between; cbn [fst snd].
      repeat destruct Rle_dec; try lra; apply Rmult_1_r.
    + intros t Ht; unfold between; cbn [fst snd]; repeat destruct Rle_dec; lra.
    + intros t Ht; unfold between; cbn [fst snd]; repeat destruct Rle_dec; lra.
  - rewrite (RInt_ext _ (fun _ => 0)); [rewrite RInt_const; apply Rmult_0_r |].
    intros t _; unfold between; cbn [fst snd]; repeat destruct Rle_dec; try lra; apply Rmult_0_r.
Qed.

Lemma box_mass_cases : forall M sides (l' : list A), 0 <= M -> length sides = length l' -> Forall (within M)
  sides ->
  (Forall (fun side => fst side <= snd side) sides /\
    box_mass (fun _ => - M) (fun _ => M) p l' sides = box_probability l' p sides) \/
  ((forall ts, ~ box_set sides ts) /\ box_mass (fun _ => - M) (fun _ => M) p l' sides = 0).
Proof.
  intros M sides; induction sides as [| side sides IH]; intros [| a l'] HM Hlength Hw; try discriminate.
  - left; split; [constructor | reflexivity].
  - inversion Hw as [| b c Hside Hrest]; injection Hlength as Hlength; subst; cbn [box_mass box_probability].
    rewrite (integral_of_side M side (p a) Hside HM (p_continuous a)).
    destruct (Rle_dec (fst side) (snd side)) as [Hle | Hgt].
    + destruct (IH l' HM Hlength Hrest) as [[H E] | [H E]]; rewrite E.
      * left; split; [constructor; assumption | reflexivity].
      * right; split; [| ring]; intros ts H'; inversion H'; subst; eapply H; eassumption.
    + right; split; [| ring]; intros ts H'; inversion H' as [| b' t c' e Ht]; unfold inside in Ht; lra.
Qed.

Lemma mass_of_box : forall M sides, 0 <= M -> length sides = k -> Forall (within M) sides ->
  box_mass (fun _ => - M) (fun _ => M) p l sides = mu (box_set sides).
Proof.
  intros M sides HM Hlength Hw; destruct (box_mass_cases M sides l HM Hlength Hw) as [[H ->] | [H ->]].
  - symmetry; apply mu_law; assumption.
  - rewrite <- (mass_empty (closed_box k) some_box mu mu_measure); apply mu_measure.
    intros w; split; [contradiction | intros H'; exact (H w H')].
Qed.

(** ** Integrals of step functions are sums of masses *)

Lemma expectation_of_step : forall M terms, 0 <= M -> in_window M k terms ->
  expectation l p (fun _ => - M) (fun _ => M) (step_function terms) =
  sum_over terms (fun term => fst term * mu (box_set (snd term))).
Proof.
  intros M terms HM Hterms; induction Hterms as [| [c sides] terms [Hlength Hw] _ IH]; cbn [fst snd] in *.
  - destruct (expectation_constant (fun _ => - M) (fun _ => M) l p 0 p_continuous) as [_ E].
    transitivity (expectation l p (fun _ => - M) (fun _ => M) (fun _ => 0)); [reflexivity |]; rewrite E;
      cbn; ring.
  - assert (Hordered : forall a : A, - M <= M) by (intros _; lra).
    destruct (box_test _ _ Hordered p p_continuous l sides c) as [H1 E1].
    assert (H2 := step_function_integrable _ _ Hordered p p_continuous l terms).
    destruct (integrable_sum _ _ Hordered p l _ _ H1 H2) as [_ E].
    rewrite sum_cons; cbn [fst snd]; rewrite <- IH, <- (mass_of_box M sides HM Hlength Hw), <- E1; exact E.
Qed.

(** So the integral of a test of S is the mass of S in the window. *)
Lemma expectation_of_test : forall M S test, 0 <= M -> borel k S -> test_of M k S test ->
  integrable l p (fun _ => - M) (fun _ => M) test /\
  expectation l p (fun _ => - M) (fun _ => M) test = mu (fun ts => S ts /\ box_set (window M k) ts).
Proof.
  intros M S test HM HS Htest; assert (Hordered : forall a : A, - M <= M) by (intros _; lra).
  assert (Hterms := Htest); destruct Hterms as [_ [[terms [Hterms E]] _]].
  split; [apply (integrable_ext _ _ l p (step_function terms)); [exact E |]; apply step_function_integrable;
    assumption |].
  rewrite <- (expectation_ext _ _ l p _ _ E), (expectation_of_step M terms HM Hterms).
  exact (mass_of_test k mu mu_measure M S test terms HS Htest Hterms E).
Qed.
End Law.

(** ** All events *)

Theorem indistinguishable_on_borel_sets : forall (A : Type) epsilon delta (l : list A) p q,
  continuous_density p -> continuous_density q -> indistinguishable epsilon delta l p q ->
  borel_indistinguishable epsilon delta l p q.
Proof.
  intros A epsilon delta l p q Hp Hq H mu nu Hmu Hnu.
  apply close_by_tests; [exact (proj1 Hmu) | exact (proj1 (proj2 Hmu)) | exact (proj1 Hnu) |].
  intros M terms test HM Hterms E Hbounds; assert (Hordered : forall a : A, - M <= M) by (intros _; lra).
  rewrite <- (expectation_of_step l p mu Hp Hmu M terms HM Hterms).
  rewrite <- (expectation_of_step l q nu Hq Hnu M terms HM Hterms).
  apply H; [exact Hordered | intros ts; rewrite E; apply Hbounds | |]; apply step_function_integrable;
    assumption.
Qed.

(** The integral of a test of S over a window is the mass of S in it: there is such a test for every set of
    the
    algebra. *)
Theorem integral_is_a_mass : forall (A : Type) (l : list A) p mu M S, continuous_density p ->
  law_of_densities l p mu -> 0 <= M -> algebra (closed_box (length l)) S ->
  exists test, test_of M (length l) S test /\ integrable l p (fun _ => - M) (fun _ => M) test /\
    expectation l p (fun _ => - M) (fun _ => M) test = mu (fun ts => S ts /\ box_set (window M (length l))
      ts).
Proof.
  intros A l p mu M S Hp Hmu HM HS; destruct (test_of_algebra M (length l) S HS) as [test Htest].
  exists test; split; [exact Htest |]; apply expectation_of_test; try assumption; apply algebra_measurable,
    HS.
Qed.

(** ** The theorems about Laplace and Gaussian noise, for every Borel set *)

Theorem laplace_private_on_borel_sets : forall epsilon delta n d domain scale r, (forall phi, 0 < scale phi)
  ->
  differentially_private epsilon delta n d domain laplace_density scale r ->
  private_on_borel_sets epsilon delta n d domain laplace_density scale r.
Proof.
  intros epsilon delta n d domain scale r Hscale H D D' HDD'.
  apply indistinguishable_on_borel_sets; [| | apply H, HDD']; intros phi t; apply laplace_continuous, Hscale.
Qed.

Theorem gaussian_private_on_borel_sets : forall epsilon delta n d domain scale r, (forall phi,
  0 < scale phi) ->
  differentially_private epsilon delta n d domain gaussian_density scale r ->
  private_on_borel_sets epsilon delta n d domain gaussian_density scale r.
Proof.
  intros epsilon delta n d domain scale r Hscale H D D' HDD'.
  apply indistinguishable_on_borel_sets; [| | apply H, HDD']; intros phi t; apply gaussian_continuous, Hscale.
Qed.

Theorem private_on_all_borel_sets : forall epsilon delta n d domain noise scale r,
  noise = laplace_density \/ noise = gaussian_density -> (forall phi, 0 < scale phi) ->
  differentially_private epsilon delta n d domain noise scale r ->
  private_on_borel_sets epsilon delta n d domain noise scale r.
Proof.
  intros epsilon delta n d domain noise scale r [-> | ->];
    [apply laplace_private_on_borel_sets | apply gaussian_private_on_borel_sets].
Qed.

Theorem laplace_on_borel_sets : forall (A : Type) (scale c c' : A -> R) (l : list A) epsilon,
  (forall a, 0 < scale a) -> sum_over l (fun a => Rabs (c a - c' a) / scale a) <= epsilon ->
  borel_indistinguishable epsilon 0 l (fun a t => laplace_density (scale a) (t - c a))
    (fun a t => laplace_density (scale a) (t - c' a)).
Proof.
  intros A scale c c' l epsilon Hscale Hloss.
  apply indistinguishable_on_borel_sets; try (intros a t; apply laplace_continuous, Hscale).
  apply laplace_indistinguishable; assumption.
Qed.

Theorem gaussian_profile_on_borel_sets : forall (A : Type) (l : list A) (sigma c c' : A -> R) nu epsilon,
  (forall a, 0 < sigma a) -> 0 < nu -> sum_over l (fun a => ((c a - c' a) / sigma a) ^ 2) <= nu ^ 2 ->
  borel_indistinguishable epsilon
    (normal_tail (epsilon / nu - nu / 2) - exp epsilon * normal_tail (epsilon / nu + nu / 2)) l
    (fun a t => gaussian_density (sigma a) (t - c a)) (fun a t => gaussian_density (sigma a) (t - c' a)).
Proof.
  intros A l sigma c c' nu epsilon Hsigma Hnu Hshift.
  apply indistinguishable_on_borel_sets; try (intros a t; apply gaussian_continuous, Hsigma).
  apply gaussian_profile_normal; assumption.
Qed.

Lemma extended_gaussian_sigma_pos : forall l2_sensitivity epsilon delta, 0 < epsilon ->
  0 < delta <= sqrt (2 / PI) -> 0 < l2_sensitivity ->
    0 < extended_gaussian_sigma l2_sensitivity epsilon delta.
Proof.
  intros l2_sensitivity epsilon delta He Hd Hl; assert (HL := log_nonneg delta Hd).
  assert (Hnu := allowed_shift_pos _ epsilon HL He).
  assert (Heq := extended_sigma_shift l2_sensitivity epsilon delta He HL).
  destruct (Rle_or_lt (extended_gaussian_sigma l2_sensitivity epsilon delta) 0); [exfalso; nra | assumption].
Qed.

Theorem extended_gaussian_on_borel_sets : forall (A : Type) (l : list A) (c c' : A -> R) sigma l2_sensitivity
    epsilon delta,
  0 < epsilon -> 0 < delta <= sqrt (2 / PI) -> 0 < l2_sensitivity ->
  extended_gaussian_sigma l2_sensitivity epsilon delta <= sigma ->
  sum_over l (fun a => (c a - c' a) ^ 2) <= l2_sensitivity ^ 2 ->
  borel_indistinguishable epsilon delta l (fun a t => gaussian_density sigma (t - c a))
    (fun a t => gaussian_density sigma (t - c' a)).
Proof.
  intros A l c c' sigma l2_sensitivity epsilon delta He Hd Hl Hsigma Hshift.
  assert (Hpos : 0 < sigma)
    by (eapply Rlt_le_trans; [apply (extended_gaussian_sigma_pos l2_sensitivity epsilon delta)
      | exact Hsigma]; assumption).
  apply indistinguishable_on_borel_sets; try (intros a t; apply gaussian_continuous, Hpos).
  apply (extended_gaussian A l c c' sigma l2_sensitivity); assumption.
Qed.

Theorem theorem3_on_borel_sets : forall r n d s epsilon_s epsilon_n,
  0 <= alpha_1 r <= 1 -> (s < d)%nat -> 0 < epsilon_s -> 0 < epsilon_n ->
  private_on_borel_sets (stated_epsilon d epsilon_s epsilon_n) 0 n d (unit_box d) laplace_density
    (two_scales s (published_fair_l1 d / epsilon_s) (published_fair_l1 d / epsilon_n)) r.
Proof.
  intros r n d s epsilon_s epsilon_n Ha Hs Hes Hen.
  assert (Hd : 1 <= INR d) by (apply (le_INR 1); lia).
  assert (Hl1 : 0 < published_fair_l1 d) by (unfold published_fair_l1; generalize (pow2_ge_0 (INR d)); lra).
  apply laplace_private_on_borel_sets; [apply two_scales_pos; apply Rdiv_lt_0_compat; assumption |].
  apply theorem3_published; assumption.
Qed.

Theorem two_scale_gaussian_on_borel_sets : forall r n d s domain sigma_s sigma_n nu epsilon,
  0 < sigma_s -> 0 < sigma_n -> 0 < nu ->
  (forall D D', neighbours n domain D D' ->
    l2_change_squared r d (contains s) D D' / sigma_s ^ 2
    + l2_change_squared r d (contains_not s) D D' / sigma_n ^ 2 <= nu ^ 2) ->
  private_on_borel_sets epsilon
    (normal_tail (epsilon / nu - nu / 2) - exp epsilon * normal_tail (epsilon / nu + nu / 2))
    n d domain gaussian_density (two_scales s sigma_s sigma_n) r.
Proof.
  intros r n d s domain sigma_s sigma_n nu epsilon Hs Hn Hnu H.
  apply gaussian_private_on_borel_sets; [apply two_scales_pos; assumption |].
  apply two_scale_gaussian; assumption.
Qed.
