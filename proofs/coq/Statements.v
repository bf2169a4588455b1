(** * Statements

    Every main theorem of the development, with the id of the claim that it carries. A theorem that is
    proved elsewhere in its final words is named here and not said again: [make] prints all statements in
    full, with their axioms ([Assumptions.v]). The words used are defined in [Definitions.v], but for
    these: [softplus], [logistic], [taylor] ([Taylor.v]), [drift_limit] ([Change.v]), [fairness_gain]
    ([Box.v]), [largest] and [box_l1] ([BoxSensitivity.v]), [declared_box] ([DeclaredBox.v]), two weights
    ([WeightedBox.v]), [product_density] ([Laplace.v]), [twice_largest] ([Theorem3.v]), [normal_tail]
    ([ExtendedGaussian.v]), [normal_cdf] ([GaussianExact.v]), counts and limits ([BinomialLaw.v],
    [JointBound.v]), the joint bound ([NormalScore.v], [StoufferRule.v], [StoufferBound.v], [WeightArc.v],
    [JointCells.v]), adjacency and what begins with release ([Certificates.v], [SigmaBound.v],
    [HardenedCertificates.v]), verdicts ([Verdicts.v], [ConditionalVerdicts.v]), transcripts
    ([Adaptive.v]), measures and Borel sets ([CountableMeasures.v], [BorelEvents.v]), laws of noise
    ([OuterMeasure.v], [BoxCovers.v], [NoiseMeasure.v], [LawsOfNoise.v]), events of countable spaces
    ([Countable.v]), hardened noise ([Hardened.v], [DiscreteGaussian.v], [HardenedGaussian.v]),
    calculators ([ProfileEnds.v], [GaussianDelta.v], [RationalSensitivity.v]), Borel sets of transcripts
    ([AdaptiveEvents.v]), releases in law ([PrivacyInLaw.v]), the sums of the repaired mechanism and its
    certificates ([RepairedLemmas.v], [FollowingScales.v], [RepairedCertificates.v], [RepairedOnGrid.v]),
    names of data sets where they are built. [README.md] says in words what each theorem says and what it
    does not say. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool ZArith QArith Qreals Lra Lia.
From CFM Require Import Definitions Sums Analysis Taylor Polynomial Change Box BoxSensitivity DeclaredBox
  Expectation
  TestFunctions Laplace Theorem3 Theorem3Exact Normal Gaussian ExtendedGaussian Theorem5 Theorem5Regime
  GaussianExact CountableMeasures BorelEvents Theorem5Fails Ball CovarianceBall Separate BallL1 BallAddOne
  AddOne Composition Counterexamples BinomialLaw JointBound NormalScore StoufferRule StoufferBound
  WeightArc JointCells Certificates SplitCertificates SigmaBound Tails Verdicts ConditionalVerdicts
  Adaptive Countable OuterMeasure BoxCovers NoiseMeasure LawsOfNoise Hardened DiscreteGaussian
  HardenedGaussian ProfileEnds Theorem5Refuted GaussianDelta RationalSensitivity AdaptiveEvents PrivacyInLaw
  RepairedLemmas FollowingScales RepairedCertificates RepairedOnGrid HardenedCertificates
  WeightedBox.
Import ListNotations.
Open Scope R_scope.

(** ** The objective *)

(** F1.taylor: ln 2, 1/2 and 1/4 are the values at 0 of f_1(t) = log(1 + exp t) and its first two
    derivatives. *)
Theorem taylor_coefficients :
  softplus 0 = ln 2 /\ is_derive softplus 0 (1 / 2) /\
  (forall t, is_derive softplus t (logistic t)) /\ is_derive logistic 0 (1 / 4).
Proof.
  split; [exact softplus_0 |]; split; [rewrite <- logistic_0; apply softplus_derivative |].
  split; [exact softplus_derivative | rewrite <- second_derivative_0; apply logistic_derivative].
Qed.

(** F1.remainder: the polynomial is never too small, and too large by at most t^4/192. *)
Theorem taylor_remainder : forall t, - (t ^ 4 / 192) <= softplus t - taylor t <= 0.
Proof. intros t; split; [apply remainder_lower | apply remainder_upper]. Qed.

(** O1: in both bases the coefficients are those of the approximate objective (without its constant). *)
Theorem coefficients_of_the_objective : forall r d D w,
  sum_over (Phi (basis r) d) (fun phi => coefficient r D phi * evaluate phi w) =
  sum_over D (fun t => let u := sum_over (coordinates d) (fun e => attribute t e * w e) in
    u / 2 + u ^ 2 / 8 - number (label t) * u
    + alpha_1 r * fairness_factor (fairness_term r) (number (protected t)) (zbar D) * u).
Proof. exact objective_polynomial. Qed.

(** ** Sensitivities: all neighbouring data sets of n records, zbar recomputed on each side *)

(** L1 *)
Theorem lemma_1 : forall r n d D D',
  fairness_term r = NoFairness -> 0 <= alpha_1 r -> (1 <= d)%nat -> neighbours n (unit_box d) D D' ->
  l1_change r d all_monomials D D' < INR d ^ 2 / 4 + INR d.
Proof. exact published_l1_holds. Qed.

(** L2 *)
Theorem lemma_2 : forall r n d D D',
  0 <= alpha_1 r <= 1 -> (1 <= d)%nat -> neighbours n (unit_box d) D D' ->
  l1_change r d all_monomials D D' < INR d ^ 2 / 4 + 3 * INR d.
Proof. exact published_fair_l1_holds. Qed.

(** L3, squared *)
Theorem lemma_3 : forall r n d D D',
  fairness_term r = NoFairness -> 0 <= alpha_1 r -> (1 <= d)%nat -> neighbours n (unit_box d) D D' ->
  l2_change_squared r d all_monomials D D' < INR d ^ 2 / 16 + INR d.
Proof. exact published_l2_holds. Qed.

(** L4, squared *)
Theorem lemma_4 : forall r n d D D',
  0 <= alpha_1 r <= 1 -> (1 <= d)%nat -> neighbours n (unit_box d) D D' ->
  l2_change_squared r d all_monomials D D' < INR d ^ 2 / 16 + 9 * INR d.
Proof. exact published_fair_l2_holds. Qed.

(** The paper's own domain is part of the box. *)
Definition unit_ball_in_unit_box := neighbours_ball_box.

(** L1, L2, L3, L4 on the paper's own domain. *)
Theorem published_bounds_on_the_ball : forall r n d D D',
  0 <= alpha_1 r <= 1 -> (1 <= d)%nat -> neighbours n (unit_ball d) D D' ->
  l1_change r d all_monomials D D' < INR d ^ 2 / 4 + 3 * INR d /\
  l2_change_squared r d all_monomials D D' < INR d ^ 2 / 16 + 9 * INR d /\
  (fairness_term r = NoFairness ->
    l1_change r d all_monomials D D' < INR d ^ 2 / 4 + INR d /\
    l2_change_squared r d all_monomials D D' < INR d ^ 2 / 16 + INR d).
Proof.
  intros r n d D D' Ha Hd H; apply neighbours_ball_box in H.
  split; [apply (lemma_2 r n); assumption |]; split; [apply (lemma_4 r n); assumption |].
  intros HF; split; [apply (lemma_1 r n) | apply (lemma_3 r n)]; try assumption; apply Ha.
Qed.

(** L1.exact, L2.exact: with A = 1/2 + alpha_1 gain, where the gain is 0, 2 (n-1)/n (absolute) or (n-1)/n
    (covariance). *)
Theorem box_l1_sensitivity : forall r n d,
  0 <= alpha_1 r -> (1 <= n)%nat -> (1 <= d)%nat ->
  exact_sensitivity n (unit_box d) (l1_change r d all_monomials)
    (INR d * (1 / 2 + alpha_1 r * fairness_gain (fairness_term r) n) + INR d ^ 2 / 8
     + (if (2 <=? d)%nat then 1 / 2 else 3 / 8)).
Proof. exact box_l1_exact. Qed.

(** L3.exact, L4.exact: the largest of d + 1 numbers, one for each count k of ones in the old record. *)
Theorem box_l2_sensitivity : forall r n d,
  0 <= alpha_1 r -> (1 <= n)%nat ->
  exact_sensitivity n (unit_box d) (l2_change_squared r d all_monomials)
    (largest (fun k =>
      let A := 1 / 2 + alpha_1 r * fairness_gain (fairness_term r) n in
      INR d * A ^ 2 + INR k * (A + 1 / 4) +
      match basis r with
      | MatrixBasis => (INR d ^ 2 - INR k ^ 2) / 64
      | MonomialBasis => (2 * INR d ^ 2 - INR d - 2 * INR k ^ 2 + INR k) / 64
      end) d).
Proof. exact box_l2_exact. Qed.

(** L3.ball: on the paper's domain the l2-sensitivity without a fairness term is 1, whatever d is. *)
Theorem ball_l2_plain : forall r n d,
  fairness_term r = NoFairness -> 0 <= alpha_1 r -> (1 <= n)%nat -> (1 <= d)%nat ->
  exact_sensitivity n (unit_ball d) (l2_change_squared r d all_monomials) (1 ^ 2).
Proof.
  intros r n d HF Ha Hn Hd; replace 1 with (ball_gain r n) by (unfold ball_gain; rewrite HF; reflexivity).
  apply ball_l2_exact; try assumption; intros sign; rewrite HF; discriminate.
Qed.

(** L4.ball: with |z - zbar| it is 1 + 2 alpha_1 (n-1)/n, less than 3 for weight 1. *)
Theorem ball_l2_absolute : forall r n d,
  fairness_term r = Absolute -> 0 <= alpha_1 r -> (1 <= n)%nat -> (1 <= d)%nat ->
  exact_sensitivity n (unit_ball d) (l2_change_squared r d all_monomials)
    ((1 + 2 * alpha_1 r * drift_limit n) ^ 2).
Proof.
  intros r n d HF Ha Hn Hd; replace (1 + 2 * alpha_1 r * drift_limit n) with (ball_gain r n)
    by (unfold ball_gain; rewrite HF; reflexivity).
  apply ball_l2_exact; try assumption; intros sign; rewrite HF; discriminate.
Qed.

(** L4.ball, signed covariance, for every d >= 2. *)
Theorem ball_l2_covariance : forall r n d sign,
  fairness_term r = Covariance sign -> 0 <= alpha_1 r -> (1 <= n)%nat -> (2 <= d)%nat ->
  exact_sensitivity n (unit_ball d) (l2_change_squared r d all_monomials)
    ((1 + alpha_1 r * drift_limit n) ^ 2 + (alpha_1 r * drift_limit n) ^ 2).
Proof. intros r n d sign HF Ha Hn Hd; exact (ball_l2_covariance_exact r n d sign Ha HF Hn Hd). Qed.

(** L1.ball, L2.ball: replacing a record changes the coefficients by at most this in l1, and by at least its
    first part where the fairness term is absent or |z - zbar|.  The exact value is not known. *)
Theorem ball_l1_bounds : forall r n d, 0 <= alpha_1 r -> (1 <= n)%nat -> (1 <= d)%nat ->
  let reach := match fairness_term r with
    | NoFairness => 1
    | Absolute => 1 + 2 * alpha_1 r * drift_limit n
    | Covariance _ => sqrt ((1 + alpha_1 r * drift_limit n) ^ 2 + (alpha_1 r * drift_limit n) ^ 2)
    end in
  (forall D D', neighbours n (unit_ball d) D D' ->
    l1_change r d all_monomials D D' <= sqrt (INR d) * reach + sqrt 2 / 8 * INR d) /\
  (fairness_term r = NoFairness \/ fairness_term r = Absolute ->
    exists D D', neighbours n (unit_ball d) D D' /\ l1_change r d all_monomials D D' = sqrt (INR d) * reach).
Proof.
  intros r n d Ha Hn Hd reach; split; [intros D D'; exact (ball_l1_upper r n d D D' Ha) |].
  intros HF; apply ball_l1_lower; try assumption; intros sign; destruct HF as [-> | ->]; discriminate.
Qed.

(** L1.ball.add, L2.ball.add: adding or removing one record, where the fairness term is absent or
    |z - zbar|. *)
Theorem ball_l1_add_one : forall r n d,
  0 <= alpha_1 r -> fairness_term r = NoFairness \/ fairness_term r = Absolute ->
  (2 <= n)%nat -> (1 <= d)%nat ->
  largest_distance (neighbours_add_one n (unit_ball d)) (l1_change r d all_monomials)
    (sqrt (INR d) * (1 / 2 + alpha_1 r * fairness_gain (fairness_term r) n) + INR d / 8).
Proof. exact ball_l1_add_exact. Qed.

(** L3.ball.add, L4.ball.add *)
Theorem ball_l2_add_one : forall r n d,
  0 <= alpha_1 r -> fairness_term r = NoFairness \/ fairness_term r = Absolute ->
  (2 <= n)%nat -> (1 <= d)%nat ->
  largest_distance (neighbours_add_one n (unit_ball d)) (l2_change_squared r d all_monomials)
    ((1 / 2 + alpha_1 r * fairness_gain (fairness_term r) n) ^ 2 +
     match basis r with MatrixBasis => 1 / 64 | MonomialBasis => (2 - 1 / INR d) / 64 end).
Proof. exact ball_l2_add_exact. Qed.

(** S1: the reading [separate] on the box, coefficients and covariance vector together. *)
Definition separate_box_l1_sensitivity := separate_l1_exact.

(** S2: the same in l2, the largest of d + 1 numbers. *)
Definition separate_box_l2_sensitivity := separate_l2_exact.

(** S3: on the ball, for every d >= 2. *)
Definition separate_ball_l2_sensitivity := separate_ball_l2_exact.

(** L1.add, L2.add: adding or removing one record, on the box; n counts the larger data set. *)
Theorem box_l1_add_one : forall r n d, 0 <= alpha_1 r -> (2 <= n)%nat ->
  largest_distance (neighbours_add_one n (unit_box d)) (l1_change r d all_monomials)
    (INR d * (1 / 2 + alpha_1 r * fairness_gain (fairness_term r) n) + INR d ^ 2 / 8).
Proof. exact added_l1_exact. Qed.

(** L3.add, L4.add *)
Theorem box_l2_add_one : forall r n d, 0 <= alpha_1 r -> (2 <= n)%nat ->
  largest_distance (neighbours_add_one n (unit_box d)) (l2_change_squared r d all_monomials)
    (INR d * (1 / 2 + alpha_1 r * fairness_gain (fairness_term r) n) ^ 2 +
     match basis r with MatrixBasis => INR d ^ 2 / 64 | MonomialBasis => (2 * INR d ^ 2 - INR d) / 64 end).
Proof. exact added_l2_exact. Qed.

(** L1.declared, L2.declared: a bound for each column, S their sum. *)
Theorem declared_box_l1_sensitivity : forall r n d bound, 0 <= alpha_1 r -> (1 <= n)%nat ->
  (forall e, (e < d)%nat -> 0 <= bound e) ->
  let S := sum_over (coordinates d) bound in
  exact_sensitivity n (declared_box d bound) (l1_change r d all_monomials)
    (S * (1 / 2 + alpha_1 r * fairness_gain (fairness_term r) n) + S ^ 2 / 8
     + (if Rle_dec S 2 then S / 2 - S ^ 2 / 8 else 1 / 2)).
Proof. intros r n d bound Ha Hn Hb; exact (declared_l1_exact d bound Hb r n Ha Hn). Qed.

(** L3.declared, L4.declared: the squares of the bounds add up to W, which is not large. *)
Theorem declared_box_l2_sensitivity : forall r n d bound, 0 <= alpha_1 r -> (1 <= n)%nat ->
  (forall e, (e < d)%nat -> 0 <= bound e) ->
  let A := 1 / 2 + alpha_1 r * fairness_gain (fairness_term r) n in
  let W := sum_over (coordinates d) (fun e => bound e ^ 2) in
  W <= match basis r with MatrixBasis => 32 | MonomialBasis => 16 end * (A + 1 / 4) ->
  exact_sensitivity n (declared_box d bound) (l2_change_squared r d all_monomials) ((A + 1 / 2) ^ 2 * W).
Proof. intros r n d bound Ha Hn Hb A W; exact (declared_l2_exact d bound Hb r n Ha Hn). Qed.

(** L1.weights: monomials with w_s and without it have a weight each, columns have a bound each. *)
Definition two_weights_l1_sensitivity := weighted_l1_exact.

(** L2.drift: two data sets whose last records contribute 0 on both sides, while the coefficient moves from
    1/2 to 1. *)
Definition lemma_2_proof_step_is_false := drift_is_dropped.

(** L2.alpha: on the box Lemma 2 holds exactly up to this weight. *)
Theorem lemma_2_other_weights : forall r n d,
  fairness_term r = Absolute -> 0 <= alpha_1 r -> (1 <= n)%nat -> (2 <= d)%nat ->
  (forall D D', neighbours n (unit_box d) D D' ->
    l1_change r d all_monomials D D' <= INR d ^ 2 / 4 + 3 * INR d) <->
  alpha_1 r * drift_limit n <= INR d / 16 + 5 / 4 - 1 / (4 * INR d).
Proof. exact lemma2_other_weights. Qed.

(** L2.sign: no bound in n when the sign of the penalty is read from the data. *)
Definition lemma_2_sign_from_data := sign_from_data_unbounded.

(** ** Events *)

(** E1: [indistinguishable] covers every finite union of boxes, for all continuous densities. *)
Definition indistinguishable_covers_unions_of_boxes := indistinguishable_unions.

(** E2: post-processing.  [f] may be any function of the noisy coefficients, such as the minimiser. *)
Definition post_processing_keeps_privacy := post_processing.

(** E3: from boxes to Borel sets, for any two measures: what is close on an algebra of sets is close on the
    sigma-algebra that it generates. *)
Theorem closeness_on_a_sigma_algebra : forall (X : Type) (base : (X -> Prop) -> Prop),
  (exists S, base S) -> forall mu nu factor delta, measure base mu -> measure base nu -> 0 <= factor ->
  (forall S, algebra base S -> mu S <= factor * nu S + delta) ->
  forall S, sigma_algebra base S -> mu S <= factor * nu S + delta.
Proof. exact @close_on_the_sigma_algebra. Qed.

(** E4: from Riemann's integral to a measure: the iterated integral of a test of a set, over a window, is the
    mass of the set in the window. *)
Definition integral_of_a_test_is_a_mass := integral_is_a_mass.

(** E5: so [indistinguishable] bounds every Borel set. *)
Definition all_borel_events := indistinguishable_on_borel_sets.

(** E6: and every theorem of this file that a mechanism with Laplace or Gaussian noise is differentially
    private holds for every Borel set. *)
Definition privacy_of_all_borel_events := private_on_all_borel_sets.

(** E7: countably many closed boxes that cover a closed box are together at least as heavy: the box mass is
    countably subadditive. *)
Theorem boxes_that_cover_a_box : forall (A : Type) (p : A -> R -> R), continuous_density p ->
  nonnegative_density p -> (forall a u v, u <= v -> RInt (p a) u v <= 1) ->
  forall l sides (boxes : nat -> list (R * R)) total, length sides = length l ->
  (forall ts, length ts = length l -> box_set sides ts -> exists i, box_set (boxes i) ts) ->
  (forall n, partial_sum (fun i => sides_mass p l (boxes i)) n <= total) -> sides_mass p l sides <= total.
Proof. exact @boxes_cover_box. Qed.

(** E8: so continuous densities of total mass 1 have a law, a probability on the Borel sets, and only one. *)
Definition densities_have_one_law := probability_densities_have_one_law.

(** E9: Laplace and Gaussian noise have one, for all centres and positive scales. *)
Theorem noise_has_one_law : forall noise, countable_choice ->
  noise = laplace_density \/ noise = gaussian_density ->
  forall (A : Type) (l : list A) (scale c : A -> R), (forall a, 0 < scale a) ->
  exists mu, the_law l (fun a t => noise (scale a) (t - c a)) mu.
Proof. exact noise_law. Qed.

(** E10: what this file says of any two measures that have the densities of noise is said of their
    laws, ... *)
Theorem laws_of_noise_are_close : forall noise, countable_choice ->
  noise = laplace_density \/ noise = gaussian_density ->
  forall (A : Type) (l : list A) (scale scale' c c' : A -> R) epsilon delta,
  (forall a, 0 < scale a) -> (forall a, 0 < scale' a) ->
  borel_indistinguishable epsilon delta l (fun a t => noise (scale a) (t - c a))
    (fun a t => noise (scale' a) (t - c' a)) ->
  close_laws epsilon delta l (fun a t => noise (scale a) (t - c a)) (fun a t => noise (scale' a) (t - c' a)).
Proof. exact noise_close_laws. Qed.

(** E11: ... and so for mechanisms: the noisy coefficients of neighbours have close laws. *)
Theorem privacy_in_law : forall noise, countable_choice ->
  noise = laplace_density \/ noise = gaussian_density ->
  forall epsilon delta n d domain scale r, (forall phi, 0 < scale phi) ->
  private_on_borel_sets epsilon delta n d domain noise scale r ->
  private_in_law epsilon delta n d domain noise scale r.
Proof. exact noise_private_in_law. Qed.

(** E11.release: the same for releases, with either adjacency: every Borel set, ... *)
Definition release_of_all_borel_events := release_for_every_event.

(** ... and the laws of the noisy coefficients: what the certificates of this file say of tests is said of
    them. *)
Definition releases_in_law := release_law.

(** E12: a law makes the real numbers more than a countable union of countable sets. Set theory without choice
    does not prove that they are: hence the premise of E8 to E11. *)
Theorem a_law_needs_choice : forall (A : Type) (a : A) p mu, law_of_densities [a] p mu ->
  mu (fun _ => True) <> 0 -> forall S : nat -> R -> Prop,
  (forall i, exists f : nat -> R, forall t, S i t -> exists j, f j = t) -> exists t, forall i, ~ S i t.
Proof. exact @law_needs_choice. Qed.

(** ** Laplace noise, one scale per coordinate *)

(** T1.density: the ratio of densities, at every point; attained at t = c. *)
Theorem theorem_1_density_ratio : forall (A : Type) (scale c c' : A -> R) (l : list A),
  (forall a, 0 < scale a) ->
  let p a t := laplace_density (scale a) (t - c a) in
  let q a t := laplace_density (scale a) (t - c' a) in
  let loss := sum_over l (fun a => Rabs (c a - c' a) / scale a) in
  (forall t, product_density l p t <= exp loss * product_density l q t) /\
  product_density l p c = exp loss * product_density l q c.
Proof.
  intros A scale c c' l H; split;
    [intros t; apply laplace_density_ratio, H | apply laplace_density_ratio_attained, H].
Qed.

(** T1: epsilon-indistinguishable exactly for epsilon at least the sum of |shift|/scale. *)
Theorem theorem_1 : forall (A : Type) (scale c c' : A -> R) (l : list A) epsilon,
  (forall a, 0 < scale a) ->
  indistinguishable epsilon 0 l (fun a t => laplace_density (scale a) (t - c a))
    (fun a t => laplace_density (scale a) (t - c' a))
  <-> sum_over l (fun a => Rabs (c a - c' a) / scale a) <= epsilon.
Proof.
  intros A scale c c' l epsilon H; split;
    [apply laplace_loss_necessary, H | apply laplace_indistinguishable, H].
Qed.

(** T1.events: for every Borel set. *)
Definition theorem_1_all_events := laplace_on_borel_sets.

(** T1.law: the laws of the noise are epsilon-close exactly for epsilon at least the sum of |shift|/scale. *)
Theorem theorem_1_in_law : forall (A : Type) (l : list A) (scale c c' : A -> R), (forall a, 0 < scale a) ->
  countable_choice -> exists mu nu,
  the_law l (fun a t => laplace_density (scale a) (t - c a)) mu /\
  the_law l (fun a t => laplace_density (scale a) (t - c' a)) nu /\
  forall epsilon, (forall S, borel (length l) S -> mu S <= exp epsilon * nu S) <->
    sum_over l (fun a => Rabs (c a - c' a) / scale a) <= epsilon.
Proof. exact @laplace_laws. Qed.

(** T3.fix: PDFC with any two scales, on any domain: the exact accounting. *)
Definition theorem_3_accounting := two_scale_laplace.

(** T3: PDFC's statement with the published Delta_1, end to end. *)
Theorem theorem_3 : forall r n d s epsilon_s epsilon_n,
  0 <= alpha_1 r <= 1 -> (s < d)%nat -> 0 < epsilon_s -> 0 < epsilon_n ->
  differentially_private (epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d) 0 n d (unit_box d)
    laplace_density
    (two_scales s ((INR d ^ 2 / 4 + 3 * INR d) / epsilon_s) ((INR d ^ 2 / 4 + 3 * INR d) / epsilon_n)) r.
Proof. exact theorem3_published. Qed.

(** T3.events: for every Borel set. *)
Definition theorem_3_all_events := theorem3_on_borel_sets.

(** T3.fix.law: PDFC with any two scales: the laws of the noisy coefficients of all neighbours are
    epsilon-close if and only if epsilon bounds the weighted change. *)
Definition theorem_3_accounting_in_law := two_scale_laplace_law.

(** T3.law: PDFC with the published Delta_1: the laws of the noisy coefficients of neighbours are close. *)
Definition theorem_3_in_law := theorem3_law.

(** T3.step: 2 max |lambda| of each monomial is this number on the box, ... *)
Definition theorem_3_twice_largest := twice_largest_correct.

(** ... and with it the last equality of the proof of Theorem 3 holds only for d = 1 or equal budgets. *)
Theorem theorem_3_last_step : forall b d s epsilon_s epsilon_n, (s < d)%nat ->
  epsilon_s / (INR d ^ 2 / 4 + 3 * INR d) * sum_over (filter (contains s) (Phi b d)) (twice_largest b) +
  epsilon_n / (INR d ^ 2 / 4 + 3 * INR d) * sum_over (filter (contains_not s) (Phi b d)) (twice_largest b)
  = epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d
  <-> d = 1%nat \/ epsilon_s = epsilon_n.
Proof. exact theorem3_last_step. Qed.

(** T3.exact: calibrated to the exact sensitivity, the statement fails for every d >= 2 and
    epsilon_s > epsilon_n. *)
Theorem theorem_3_fails_at_exact_sensitivity : forall r n d s epsilon_s epsilon_n,
  0 <= alpha_1 r -> (1 <= n)%nat -> (2 <= d)%nat -> (s < d)%nat -> 0 < epsilon_n < epsilon_s ->
  let exact := box_l1 r n d in
  exact_sensitivity n (unit_box d) (l1_change r d all_monomials) exact /\
  ~ differentially_private (epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d) 0 n d (unit_box d)
    laplace_density
      (two_scales s (exact / epsilon_s) (exact / epsilon_n)) r.
Proof.
  intros r n d s es en Ha Hn Hd Hs He; split; [apply box_l1_exact; [exact Ha | exact Hn | lia] |].
  exact (theorem3_fails_at_exact_sensitivity r n d s es en Ha Hn Hd Hs He).
Qed.

(** T3.exact, as an equivalence: calibrated to the exact sensitivity of the box, the statement holds if and
    only if
    epsilon_s <= epsilon_n, for every d >= 2. *)
Theorem theorem_3_at_exact_sensitivity : forall r n d s epsilon_s epsilon_n,
  0 <= alpha_1 r -> (1 <= n)%nat -> (2 <= d)%nat -> (s < d)%nat -> 0 < epsilon_s -> 0 < epsilon_n ->
  let exact := box_l1 r n d in
  exact_sensitivity n (unit_box d) (l1_change r d all_monomials) exact /\
  (differentially_private (epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d) 0 n d (unit_box d)
     laplace_density (two_scales s (exact / epsilon_s) (exact / epsilon_n)) r <-> epsilon_s <= epsilon_n).
Proof.
  intros r n d s es en Ha Hn Hd Hs Hes Hen; split; [apply box_l1_exact; [exact Ha | exact Hn | lia] |].
  exact (theorem3_at_exact_sensitivity r n d s es en Ha Hn Hd Hs Hes Hen).
Qed.

(** T3 for epsilon_s <= epsilon_n: every Delta_1 that bounds the l1-sensitivity on the box will do, for every
    d. *)
Theorem theorem_3_for_smaller_epsilon_s : forall r n d s epsilon_s epsilon_n Delta_1,
  0 <= alpha_1 r -> (1 <= n)%nat -> (s < d)%nat -> 0 < epsilon_s <= epsilon_n ->
  (forall D D', neighbours n (unit_box d) D D' -> l1_change r d all_monomials D D' <= Delta_1) ->
  differentially_private (epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d) 0 n d (unit_box d)
    laplace_density (two_scales s (Delta_1 / epsilon_s) (Delta_1 / epsilon_n)) r.
Proof. exact theorem3_smaller_epsilon_s. Qed.

(** ** Gaussian noise, one scale per coordinate *)

(** G0: the Gaussian integral: the bell's integral over any interval is at most sqrt(2 pi), and comes near
    it. *)
Definition gaussian_integral := gaussian_integral_bounds.

(** T2.profile: every test on Gaussian noise obeys the hockey-stick profile of the total shift nu, in every
    dimension.  [normal_tail] is the standard normal's upper tail. *)
Definition gaussian_profile := gaussian_profile_normal.

(** T2.profile.events: for every Borel set. *)
Definition gaussian_profile_all_events := gaussian_profile_on_borel_sets.

(** T2.profile.law: the two laws of the noise are (epsilon, delta)-close exactly for delta at least the
    profile
    of the total shift, in every dimension. *)
Theorem gaussian_profile_in_law : countable_choice ->
  forall (A : Type) (l : list A) (sigma c c' : A -> R) nu epsilon delta,
  (forall a, 0 < sigma a) -> 0 < nu -> sum_over l (fun a => ((c a - c' a) / sigma a) ^ 2) = nu ^ 2 ->
  close_laws epsilon delta l (fun a t => gaussian_density (sigma a) (t - c a))
    (fun a t => gaussian_density (sigma a) (t - c' a))
  <-> normal_cdf (nu / 2 - epsilon / nu) - exp epsilon * normal_cdf (- (nu / 2) - epsilon / nu) <= delta.
Proof. exact gaussian_profile_law. Qed.

(** T2.profile, both sides: Gaussian noise, one scale per coordinate, total shift nu > 0: the exact delta
    for every epsilon, in every dimension. [normal_cdf] is the standard normal's distribution function. *)
Theorem gaussian_profile_exact : forall (A : Type) (l : list A) (sigma c c' : A -> R) nu epsilon delta,
  (forall a, 0 < sigma a) -> 0 < nu -> sum_over l (fun a => ((c a - c' a) / sigma a) ^ 2) = nu ^ 2 ->
  indistinguishable epsilon delta l
    (fun a t => gaussian_density (sigma a) (t - c a)) (fun a t => gaussian_density (sigma a) (t - c' a))
  <-> normal_cdf (nu / 2 - epsilon / nu) - exp epsilon * normal_cdf (- (nu / 2) - epsilon / nu) <= delta.
Proof. exact gaussian_profile_iff. Qed.

(** T2.profile: in one coordinate an event, an interval, comes as near to it as wanted. *)
Theorem gaussian_profile_of_an_interval : forall sigma c c' epsilon eta, 0 < sigma -> c' < c -> 0 < eta ->
  let nu := (c - c') / sigma in
  exists lo hi, lo <= hi /\
    normal_cdf (nu / 2 - epsilon / nu) - exp epsilon * normal_cdf (- (nu / 2) - epsilon / nu) - eta <=
    RInt (fun t => gaussian_density sigma (t - c)) lo hi
      - exp epsilon * RInt (fun t => gaussian_density sigma (t - c')) lo hi.
Proof. exact gaussian_profile_interval. Qed.

(** T2: the extended Gaussian mechanism, for every epsilon > 0, delta up to sqrt(2/pi), dimension and larger
    sigma. *)
Theorem theorem_2 : forall (A : Type) (l : list A) (c c' : A -> R) sigma l2_sensitivity epsilon delta,
  0 < epsilon -> 0 < delta <= sqrt (2 / PI) -> 0 < l2_sensitivity ->
  sqrt 2 * l2_sensitivity / (2 * epsilon) *
    (sqrt (ln (sqrt (2 / PI) / delta)) + sqrt (ln (sqrt (2 / PI) / delta) + epsilon)) <= sigma ->
  sum_over l (fun a => (c a - c' a) ^ 2) <= l2_sensitivity ^ 2 ->
  indistinguishable epsilon delta l (fun a t => gaussian_density sigma (t - c a))
    (fun a t => gaussian_density sigma (t - c' a)).
Proof. exact extended_gaussian. Qed.

(** T2.events: for every Borel set. *)
Definition theorem_2_all_events := extended_gaussian_on_borel_sets.

(** T2.law: the extended Gaussian mechanism: the two laws of its noise are (epsilon, delta)-close. *)
Definition theorem_2_in_law := extended_gaussian_law.

(** T4: the relaxed functional mechanism, end to end. *)
Theorem theorem_4 : forall r n d epsilon delta sigma,
  fairness_term r = NoFairness -> 0 <= alpha_1 r -> (1 <= d)%nat -> 0 < epsilon ->
    0 < delta <= sqrt (2 / PI) ->
  extended_gaussian_sigma (sqrt (INR d ^ 2 / 16 + INR d)) epsilon delta <= sigma ->
  differentially_private epsilon delta n d (unit_box d) gaussian_density (fun _ => sigma) r.
Proof. exact theorem4. Qed.

(** T4.fair: the same with a fairness term and Lemma 4's bound: ADFC with equal budgets. *)
Theorem theorem_4_fair : forall r n d epsilon delta sigma,
  0 <= alpha_1 r <= 1 -> (1 <= d)%nat -> 0 < epsilon -> 0 < delta <= sqrt (2 / PI) ->
  extended_gaussian_sigma (sqrt (INR d ^ 2 / 16 + 9 * INR d)) epsilon delta <= sigma ->
  differentially_private epsilon delta n d (unit_box d) gaussian_density (fun _ => sigma) r.
Proof. exact theorem4_fair. Qed.

(** T4.step: the step of its proof that is true for Delta = 1 and false for every larger Delta, also at the
    paper's own sigma and at every larger one. *)
Theorem theorem_4_step_needs_1 :
  let step Delta := forall sigma epsilon V, 0 < sigma -> 0 < epsilon ->
    Rabs V <= (2 * sigma ^ 2 * epsilon - 1) / 2 ->
    (Delta ^ 2 + 2 * Rabs V * Delta) / (2 * sigma ^ 2) <= epsilon in
  step 1 /\ (forall Delta, 1 < Delta -> ~ step Delta) /\
  forall Delta epsilon delta sigma, 1 < Delta -> 0 < epsilon -> 0 < delta <= sqrt (2 / PI) ->
    extended_gaussian_sigma Delta epsilon delta <= sigma ->
    exists V, Rabs V <= (2 * sigma ^ 2 * epsilon - 1) / 2 /\
      epsilon < (Delta ^ 2 + 2 * Rabs V * Delta) / (2 * sigma ^ 2).
Proof. exact theorem4_step_needs_1. Qed.

(** T5.fix: ADFC with any two scales, on any domain, has the profile of the weighted change. *)
Definition theorem_5_accounting := two_scale_gaussian.

(** T5.fix.events: for every Borel set. *)
Definition theorem_5_accounting_all_events := two_scale_gaussian_on_borel_sets.

(** T5.fix, both sides: with nu^2 the supremum of the weighted change, attained or not, ADFC is
    (epsilon, delta)-differentially private if and only if delta is at least the profile of nu. *)
Theorem theorem_5_exact_accounting : forall r n d s domain sigma_s sigma_n nu epsilon delta,
  0 < sigma_s -> 0 < sigma_n -> 0 < nu ->
  is_lub (fun v => exists D D', neighbours n domain D D' /\
    v = l2_change_squared r d (contains s) D D' / sigma_s ^ 2 +
        l2_change_squared r d (contains_not s) D D' / sigma_n ^ 2) (nu ^ 2) ->
  differentially_private epsilon delta n d domain gaussian_density (two_scales s sigma_s sigma_n) r <->
  normal_cdf (nu / 2 - epsilon / nu) - exp epsilon * normal_cdf (- (nu / 2) - epsilon / nu) <= delta.
Proof. exact two_scale_gaussian_iff. Qed.

(** T5.fix.law: with nu^2 the supremum of the weighted change, attained or not, the laws of ADFC's noisy
    coefficients of all neighbours are (epsilon, delta)-close if and only if delta is at least the profile of
    nu. *)
Theorem theorem_5_accounting_in_law : countable_choice ->
  forall r n d s domain sigma_s sigma_n nu epsilon delta, 0 < sigma_s -> 0 < sigma_n -> 0 < nu ->
  is_lub (fun v => exists D D', neighbours n domain D D' /\
    v = l2_change_squared r d (contains s) D D' / sigma_s ^ 2 +
        l2_change_squared r d (contains_not s) D D' / sigma_n ^ 2) (nu ^ 2) ->
  private_in_law epsilon delta n d domain gaussian_density (two_scales s sigma_s sigma_n) r <->
  normal_cdf (nu / 2 - epsilon / nu) - exp epsilon * normal_cdf (- (nu / 2) - epsilon / nu) <= delta.
Proof. exact two_scale_gaussian_law. Qed.

(** T5.step: the change on Phi_s exceeds Delta_2'/d in the unit ball, for every d >= 2 and n >= 3. *)
Theorem theorem_5_step_is_false : forall r n d s,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (3 <= n)%nat -> (2 <= d)%nat -> (s < d)%nat ->
  ~ forall D D', neighbours n (unit_ball d) D D' ->
      l2_change_squared r d (contains s) D D' <= (sqrt (INR d ^ 2 / 16 + 9 * INR d) / INR d) ^ 2.
Proof. exact theorem5_step_false. Qed.

(** T5: refuted.  Two data sets of 1000 records in the unit ball and a box that violates its
    (epsilon, delta). *)
Theorem theorem_5_violated : forall r s, fairness_term r = Absolute -> alpha_1 r = 1 -> (s < 48)%nat ->
  let d := 48%nat in let epsilon_s := 13 / 2 in let epsilon_n := 1 / 100 in
  let delta_s := sqrt (2 / PI) * exp (- 18) in
  let Delta := sqrt (INR d ^ 2 / 16 + 9 * INR d) in
  let scale := two_scales s (extended_gaussian_sigma Delta epsilon_s delta_s)
    (extended_gaussian_sigma Delta epsilon_n delta_s) in
  let D := Tuple (unit_vector s) true false :: repeat (Tuple (unit_vector s) false false) 999 in
  let D' := Tuple (unit_vector s) false true :: repeat (Tuple (unit_vector s) false false) 999 in
  neighbours 1000 (unit_ball d) D D' /\
  exists lower upper, (forall phi, lower phi < upper phi) /\
    exp (epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d) *
      expectation (Phi (basis r) d) (release gaussian_density scale r D') lower upper (fun _ => 1)
      + (1 - (1 - delta_s) * (1 - delta_s))
    < expectation (Phi (basis r) d) (release gaussian_density scale r D) lower upper (fun _ => 1).
Proof.
  intros r s HF Ha Hs; split; [exact (ball_neighbours s 48 1000 Hs ltac:(lia)) |].
  exact (theorem5_false_on_two_data_sets r s HF Ha Hs).
Qed.

(** T5, as a statement about the mechanism. *)
Theorem theorem_5_is_false : forall r s, fairness_term r = Absolute -> alpha_1 r = 1 -> (s < 48)%nat ->
  let delta_s := sqrt (2 / PI) * exp (- 18) in
  let Delta := sqrt (INR 48 ^ 2 / 16 + 9 * INR 48) in
  ~ differentially_private (stated_epsilon 48 (13 / 2) (1 / 100)) (stated_delta delta_s delta_s) 1000 48
    (unit_ball 48)
      gaussian_density
      (two_scales s (extended_gaussian_sigma Delta (13 / 2) delta_s)
        (extended_gaussian_sigma Delta (1 / 100) delta_s)) r.
Proof. exact theorem5_false. Qed.

(** T5 where it holds, on any domain: when Delta bounds the l2-sensitivity, and the change weighted by the two
    budgets is at most Delta times the stated epsilon; all deltas up to sqrt(2/pi), and larger scales. *)
Theorem theorem_5_where_it_holds :
  forall r n d s domain Delta epsilon_s epsilon_n delta_s delta_n sigma_s sigma_n,
  (1 <= d)%nat -> 0 < Delta -> 0 < epsilon_s -> 0 < epsilon_n ->
  0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  extended_gaussian_sigma Delta epsilon_s delta_s <= sigma_s ->
  extended_gaussian_sigma Delta epsilon_n delta_n <= sigma_n ->
  let epsilon := epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d in
  (forall D D', neighbours n domain D D' -> l2_change_squared r d all_monomials D D' <= Delta ^ 2) ->
  (forall D D', neighbours n domain D D' ->
    epsilon_s ^ 2 * l2_change_squared r d (contains s) D D' +
    epsilon_n ^ 2 * l2_change_squared r d (contains_not s) D D' <= (Delta * epsilon) ^ 2) ->
  differentially_private epsilon (1 - (1 - delta_s) * (1 - delta_n)) n d domain
    gaussian_density (two_scales s sigma_s sigma_n) r.
Proof. exact theorem5_inside. Qed.

(** T5 for epsilon_s <= epsilon_n on the box, with the published Delta_2', end to end: with |z - zbar| for
    d = 1 and every d >= 13, otherwise for every d. *)
Theorem theorem_5_for_smaller_epsilon_s_on_the_box :
  forall r n d s epsilon_s epsilon_n delta_s delta_n sigma_s sigma_n,
  0 <= alpha_1 r <= 1 -> (s < d)%nat -> (fairness_term r = Absolute -> d = 1%nat \/ (13 <= d)%nat) ->
  0 < epsilon_s <= epsilon_n -> 0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  extended_gaussian_sigma (sqrt (INR d ^ 2 / 16 + 9 * INR d)) epsilon_s delta_s <= sigma_s ->
  extended_gaussian_sigma (sqrt (INR d ^ 2 / 16 + 9 * INR d)) epsilon_n delta_n <= sigma_n ->
  differentially_private (epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d)
    (1 - (1 - delta_s) * (1 - delta_n)) n d (unit_box d) gaussian_density (two_scales s sigma_s sigma_n) r.
Proof. exact theorem5_on_the_box. Qed.

(** T5 for epsilon_s <= epsilon_n on the paper's own domain: with |z - zbar| for every d but 2, otherwise for
    every d. *)
Theorem theorem_5_for_smaller_epsilon_s_on_the_ball :
  forall r n d s epsilon_s epsilon_n delta_s delta_n sigma_s sigma_n,
  0 <= alpha_1 r <= 1 -> (s < d)%nat -> (fairness_term r = Absolute -> d <> 2%nat) ->
  0 < epsilon_s <= epsilon_n -> 0 < delta_s <= sqrt (2 / PI) -> 0 < delta_n <= sqrt (2 / PI) ->
  extended_gaussian_sigma (sqrt (INR d ^ 2 / 16 + 9 * INR d)) epsilon_s delta_s <= sigma_s ->
  extended_gaussian_sigma (sqrt (INR d ^ 2 / 16 + 9 * INR d)) epsilon_n delta_n <= sigma_n ->
  differentially_private (epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d)
    (1 - (1 - delta_s) * (1 - delta_n)) n d (unit_ball d) gaussian_density (two_scales s sigma_s sigma_n) r.
Proof. exact theorem5_on_the_ball. Qed.

(** T5 outside, on any domain: when two data sets exceed the second condition of [theorem_5_where_it_holds],
    the statement is false for all small enough deltas. *)
Theorem theorem_5_fails_outside : forall r n d s domain Delta epsilon_s epsilon_n,
  (1 <= d)%nat -> 0 < Delta -> 0 < epsilon_s -> 0 < epsilon_n ->
  let epsilon := epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d in
  (exists D D', neighbours n domain D D' /\
    (Delta * epsilon) ^ 2 <
    epsilon_s ^ 2 * l2_change_squared r d (contains s) D D' +
    epsilon_n ^ 2 * l2_change_squared r d (contains_not s) D D') ->
  exists delta_0, 0 < delta_0 <= sqrt (2 / PI) /\ forall delta, 0 < delta <= delta_0 ->
    ~ differentially_private epsilon (1 - (1 - delta) * (1 - delta)) n d domain gaussian_density
        (two_scales s (extended_gaussian_sigma Delta epsilon_s delta)
                      (extended_gaussian_sigma Delta epsilon_n delta)) r.
Proof. exact theorem5_outside. Qed.

(** T5.regime: refuted on the paper's own domain, d = 2, for epsilon_s = epsilon_n/20. *)
Theorem theorem_5_fails_for_smaller_epsilon_s_on_the_ball : forall r n s epsilon_n,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (3 <= n)%nat -> (s < 2)%nat -> 0 < epsilon_n ->
  let Delta := sqrt (INR 2 ^ 2 / 16 + 9 * INR 2) in let epsilon_s := epsilon_n / 20 in
  exists delta_0, 0 < delta_0 <= sqrt (2 / PI) /\ forall delta, 0 < delta <= delta_0 ->
    ~ differentially_private (epsilon_s / INR 2 + epsilon_n * (INR 2 - 1) / INR 2)
        (1 - (1 - delta) * (1 - delta)) n 2 (unit_ball 2) gaussian_density
        (two_scales s (extended_gaussian_sigma Delta epsilon_s delta)
                      (extended_gaussian_sigma Delta epsilon_n delta)) r.
Proof. exact theorem5_fails_on_the_ball. Qed.

(** T5.regime: refuted on the box for every d from 2 to 12, for epsilon_s = epsilon_n/1000. *)
Theorem theorem_5_fails_for_smaller_epsilon_s_on_the_box : forall r n d s epsilon_n,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (200 <= n)%nat -> (2 <= d <= 12)%nat -> (s < d)%nat ->
  0 < epsilon_n ->
  let Delta := sqrt (INR d ^ 2 / 16 + 9 * INR d) in let epsilon_s := epsilon_n / 1000 in
  exists delta_0, 0 < delta_0 <= sqrt (2 / PI) /\ forall delta, 0 < delta <= delta_0 ->
    ~ differentially_private (epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d)
        (1 - (1 - delta) * (1 - delta)) n d (unit_box d) gaussian_density
        (two_scales s (extended_gaussian_sigma Delta epsilon_s delta)
                      (extended_gaussian_sigma Delta epsilon_n delta)) r.
Proof. exact theorem5_fails_on_the_box. Qed.

(** ** Two releases *)

(** E3: composition of two independent releases, coordinates of the second after those of the first. *)
Definition composition_adds_up := composition.

(** ** The auditor's bounds, over exact binomials *)

(** B0: [binomial] is the usual probability. *)
Definition binomial_is_binomial := binomial_formula.

(** B1: Clopper and Pearson's lower limit, and any smaller one, exceeds p with probability at most alpha. *)
Theorem clopper_pearson_lower : forall n alpha (L : nat -> R) p, 0 <= alpha -> 0 <= p <= 1 ->
  (forall k, (k <= n)%nat -> 0 <= L k <= 1 /\ (0 < L k -> at_least n k (L k) <= alpha)) ->
  probability n p (fun k => exceeds (L k) p) <= alpha.
Proof. exact lower_limit_coverage. Qed.

(** B2: the upper limit falls below p with probability at most alpha. *)
Theorem clopper_pearson_upper : forall n alpha (U : nat -> R) p, 0 <= alpha -> 0 <= p <= 1 ->
  (forall k, (k <= n)%nat -> 0 <= U k <= 1 /\ (U k < 1 -> at_most n k (U k) <= alpha)) ->
  probability n p (fun k => exceeds p (U k)) <= alpha.
Proof. exact upper_limit_coverage. Qed.

(** B3: when p <= exp(epsilon) q + delta holds, the limits of two independent samples contradict it with
    probability at most alpha + beta: a false alarm. *)
Definition joint_bound_false_alarm := joint_bound.

(** B4: a rule of significance alpha (it rejects below a falling curve of area at most alpha) that is given
    the two p-values of the counts at the true pair rejects this pair with probability at most alpha. *)
Theorem joint_region_misses_true_pair : forall n m p q alpha (reject : R -> R -> bool),
  0 <= p <= 1 -> 0 <= q <= 1 -> significance alpha reject ->
  joint_probability n m p q (fun j k => reject (at_least n j p) (at_most m k q)) <= alpha.
Proof. exact true_pair_rejected. Qed.

(** B5: when p <= exp(epsilon) q + delta holds, a bound that is no larger than any epsilon of a pair that is
    not rejected exceeds epsilon with probability at most alpha: a false alarm. *)
Theorem joint_region_false_alarm : forall n m p q alpha epsilon delta reject (B : nat -> nat -> R),
  0 <= p <= 1 -> 0 <= q <= 1 -> 0 <= epsilon -> significance alpha (reject p q) ->
  below_region n m delta reject B -> p <= exp epsilon * q + delta ->
  joint_probability n m p q (fun j k => exceeds (B j k) epsilon) <= alpha.
Proof. exact region_bound. Qed.

(** *** The rule of the joint bound: the weighted sum of two normal scores *)

(** B6: the normal distribution function is one. *)
Theorem normal_distribution_function :
  (forall x y, x < y -> normal_cdf x < normal_cdf y) /\ (forall x, continuity_pt normal_cdf x) /\
  is_lim normal_cdf m_infty 0 /\ is_lim normal_cdf p_infty 1.
Proof.
  split; [exact normal_cdf_increasing |]; split; [exact normal_cdf_continuity | exact normal_cdf_limits].
Qed.

(** B7: the normal score of a probability is the normal quantile, cut to [lowest, highest]. *)
Theorem normal_score_is_the_cut_quantile : forall lowest highest x, lowest <= highest ->
  normal_score lowest highest (normal_cdf x) = Rmax lowest (Rmin x highest).
Proof. intros lowest highest x H; apply score_of_normal_cdf, H. Qed.

(** B8: a t + b s with independent standard normal t and s is normal with variance a^2 + b^2: the chance that
    it is at most sqrt(a^2 + b^2) T, integrated over the density of t, is normal_cdf T. *)
Theorem normal_weighted_sum : forall a b T eta, 0 < a -> 0 < eta ->
  exists M, 0 < M /\ forall lo hi, lo <= - M -> M <= hi ->
  Rabs (RInt (fun t => normal_density t * normal_cdf ((sqrt (a ^ 2 + b ^ 2) * T - b * t) / a)) lo hi
    - normal_cdf T) <= eta.
Proof. intros a b T eta Ha; apply weighted_sum_is_normal, Ha. Qed.

(** B9: the rule of the joint bound has the significance alpha, whatever the weights. *)
Definition stouffer_rule_has_its_significance := stouffer_significance.

(** B10: the bound on epsilon, end to end: no larger than any epsilon of a pair that this rule, with the
    weights of the pair, does not reject. *)
Definition stouffer_epsilon_false_alarm := joint_epsilon_bound.

(** B11: the bound on delta at a given epsilon. *)
Definition stouffer_delta_false_alarm := joint_delta_bound.

(** B12: a test of one hypothesis that rejects every pair of its edge, with the weights of the edge. *)
Theorem stouffer_test_false_alarm : forall c n m epsilon delta p q alpha T (test : nat -> nat -> bool),
  sound_cuts c -> 0 <= p <= 1 -> 0 <= q <= 1 -> p <= exp epsilon * q + delta -> 0 <= alpha ->
  threshold_at c alpha T ->
  (forall j k, (j <= n)%nat -> (k <= m)%nat -> test j k = true ->
    rejects_edge c alpha T n m (exp epsilon) delta j k) ->
  joint_probability n m p q test <= alpha.
Proof.
  intros c n m epsilon delta p q alpha T test Hc Hp Hq Hprivate; apply edge_test; try assumption.
  apply Rlt_le, exp_pos.
Qed.

(** B13: a significance at which every pair of the edge is rejected is a p-value. *)
Theorem stouffer_p_value : forall c n m epsilon delta p q alpha (level : nat -> nat -> R),
  sound_cuts c -> 0 <= p <= 1 -> 0 <= q <= 1 -> p <= exp epsilon * q + delta -> 0 <= alpha ->
  (forall j k, (j <= n)%nat -> (k <= m)%nat -> level j k < 1 -> exists T,
    threshold_at c (level j k) T /\ rejects_edge c (level j k) T n m (exp epsilon) delta j k) ->
  joint_probability n m p q (fun j k => negb (exceeds (level j k) alpha)) <= alpha.
Proof.
  intros c n m epsilon delta p q alpha level Hc Hp Hq Hprivate; apply edge_p_value; try assumption.
  apply Rlt_le, exp_pos.
Qed.

(** B14: a cell that is rejected at its worst corner holds rejected pairs only. *)
Definition stouffer_cell := pairs_of_a_cell.

(** B15: B10 for a bound below which rejected cells cover all pairs p = ratio q + delta with ratio >= 0. *)
Definition stouffer_epsilon_by_cells := epsilon_bound_by_cells.

(** B16: B11 in the same way. *)
Definition stouffer_delta_by_cells := delta_bound_by_cells.

(** B17: where rejected cells cover the edge, B12 and B13 apply. *)
Theorem stouffer_edge_by_cells : forall c alpha T n m epsilon delta j k, sound_cuts c ->
  (1 <= n)%nat -> (1 <= m)%nat -> 0 <= delta ->
  (forall nuisance, 0 <= nuisance <= 1 -> exists s low high,
    in_cell s low high (exp epsilon) delta nuisance /\ cell_rejected c alpha T n m j k s low high) ->
  rejects_edge c alpha T n m (exp epsilon) delta j k.
Proof.
  intros c alpha T n m epsilon delta j k Hc Hn Hm; apply edge_of_cells; try assumption.
  apply Rlt_le, exp_pos.
Qed.

(** ** Verdicts on counts, by Clopper and Pearson's bounds *)

(** B18: a mechanism that is (epsilon, delta)-private on a pair is contradicted with probability at most
    alpha, by whatever event holds counts that contradict only. *)
Definition verdict_is_rarely_wrong := verdict_false_alarm.

(** B19: so it yields counts at least as extreme as ones that contradict with probability at most alpha. *)
Definition verdict_on_extreme_counts := verdict_on_counts.

(** B20: what the sums of whole numbers decide is right, whatever they are given. *)
Definition verdict_decided := counts_contradict_correct.

(** B21: so it is by counts that contradict given their total, which bounds rare events at delta = 0. *)
Definition conditional_verdict_is_rarely_wrong := conditional_verdict_false_alarm.

(** B22: what the sums of whole numbers decide of them is right, whatever they are given. *)
Definition conditional_verdict_decided := counts_contradict_given_total_correct.

(** ** The paper's domain *)

(** D1: what holds for neighbours in the unit box holds for neighbours in the unit ball. *)
Theorem privacy_on_the_ball : forall epsilon delta n d noise scale r,
  differentially_private epsilon delta n d (unit_box d) noise scale r ->
  differentially_private epsilon delta n d (unit_ball d) noise scale r.
Proof. intros epsilon delta n d noise scale r H D D' HDD'; apply H, neighbours_ball_box, HDD'. Qed.

(** ** Certificates of releases: any scales that are large enough, both adjacencies, every size *)

(** T1.release: Laplace noise whose every scale is at least Delta_1 / epsilon. *)
Definition release_laplace := laplace_certificate.

(** T3.release: PDFC with the published Delta_1 and scales of at least Delta_1 / epsilon_s and Delta_1 /
    epsilon_n. *)
Definition release_pdfc := pdfc_certificate.

(** T2.release: Gaussian noise whose every scale is at least the paper's sigma. *)
Definition release_gaussian := gaussian_certificate.

(** T2.adfc: ADFC with equal epsilons, whatever the deltas are: the larger delta is enough. *)
Definition release_adfc := adfc_certificate.

(** T3.release: the statement of Theorem 3 at the exact sensitivity of the box, for epsilon_s <= epsilon_n. *)
Definition release_pdfc_exact := pdfc_exact_certificate.

(** T5.release: the statement of Theorem 5 where neither budget times the l2-sensitivity exceeds Delta_2 times
    the stated epsilon. *)
Definition release_adfc_split := adfc_split_certificate.

(** T5.release: the statement of Theorem 5 on the box, with the published Delta_2', for
    epsilon_s <= epsilon_n. *)
Definition release_adfc_box := adfc_box_certificate.

(** T2.compare: the comparison of a sigma with the paper's formula by integer arithmetic is right. *)
Definition release_sigma := sigma_suffices_correct.

(** D2: a certificate for the unit box holds for the unit ball. *)
Definition release_on_the_ball := certificate_on_the_ball.

(** ** Adaptive composition *)

(** C1: a second mechanism that may depend on what the first one released: epsilons and deltas add up, for
    every event of a countable space of outcomes. *)
Definition composition_adaptive := adaptive_composition.

(** C2: Gaussian noise, adaptively: each of k numbers has a centre and a scale that may depend on all numbers
    before it. If the squared shifts add up to at most mu^2 on every transcript, the transcript has the
    profile of one Gaussian release of shift mu. *)
Theorem gaussian_composition_adaptive : forall (sigma c c' : list R -> R) k mu epsilon,
  (forall past, 0 < sigma past) -> 0 < mu ->
  (forall ts, length ts = k -> sum_over (seq 0 (length ts)) (fun i =>
    ((c (firstn i ts) - c' (firstn i ts)) / sigma (firstn i ts)) ^ 2) <= mu ^ 2) ->
  adaptively_indistinguishable epsilon
    (normal_tail (epsilon / mu - mu / 2) - exp epsilon * normal_tail (epsilon / mu + mu / 2)) k
    (fun past t => gaussian_density (sigma past) (t - c past))
    (fun past t => gaussian_density (sigma past) (t - c' past)).
Proof. exact adaptive_gaussian_profile. Qed.

(** C3: a scale that follows what was released: first the group count, then probes whose change and scale are
    a function of the count that was released, and whose predictions may depend on everything before. *)
Theorem scales_that_follow_a_release : forall (share : R -> R) (prediction : list R -> record -> bool)
    count_scale probe_scale, (forall t, 0 <= share t <= 1) -> 0 < count_scale -> 0 < probe_scale ->
  forall n domain D D' probes mu epsilon, neighbours n domain D D' -> 0 < mu ->
  (/ count_scale) ^ 2 + INR probes * (/ probe_scale) ^ 2 <= mu ^ 2 ->
  let scale := following_scale share count_scale probe_scale in
  let centre := following_centre share prediction in
  adaptively_indistinguishable epsilon
    (normal_tail (epsilon / mu - mu / 2) - exp epsilon * normal_tail (epsilon / mu + mu / 2)) (S probes)
    (fun past t => gaussian_density (scale past) (t - centre D past))
    (fun past t => gaussian_density (scale past) (t - centre D' past)).
Proof. exact following_scales_compose. Qed.

(** C4: every Borel set of transcripts, for any two measures whose masses of boxes are the iterated
    integrals. *)
Definition all_borel_events_of_transcripts := transcripts_on_borel_sets.

(** *** The repaired mechanism: its sums, and certificates of its releases *)

(** R1: a gradient of the capped loss changes by at most 1 in l2 and L in l1. *)
Definition repaired_lemma_1 := gradient_changes.

(** R1, attained: by a record of full length whose label is flipped. *)
Definition repaired_lemma_1_attained := gradient_changes_attained.

(** R2: the counts of (cell, label) together: squared l2, the same without negative entries, and l1. *)
Definition repaired_lemma_2 := counts_by_label_change.

(** R2, exactly, for the records that a domain encodes: squared l2, what the program states for it, and l1. *)
Definition repaired_lemma_2_exact := counts_by_label_exact.

(** R3: the imbalance at a centre c, and the group count. *)
Definition repaired_lemma_3 := imbalance_changes.

(** R4: the counts of cells together, and their selections together: squared l2, and l1. *)
Definition repaired_lemma_4 := cells_change.

(** R.gaussian: releases with Gaussian noise, whose scales may depend on earlier numbers: where each loses at
    most what it may, and one computation says so, all are (epsilon, delta)-indistinguishable. *)
Definition release_repaired_gaussian := repaired_gaussian.

(** R.gaussian, at the scales of the file. *)
Definition release_repaired_gaussian_file := repaired_gaussian_file.

(** R.laplace: the same with Laplace noise. *)
Definition release_repaired_laplace := repaired_laplace.

(** R.laplace, at the scales of the file. *)
Definition release_repaired_laplace_file := repaired_laplace_file.

(** ** Hardened noise: whole numbers, every event *)

(** H1: every event of a countable space has a probability, and what H3 to H5 speak of are laws. *)
Theorem hardened_laplace_is_a_law : forall r d g scale D, (forall phi, 0 < scale phi) ->
  countable_law (hardened_release discrete_laplace g scale r d D) /\
  forall event, exists P, chance (hardened_release discrete_laplace g scale r d D) event P /\ 0 <= P <= 1.
Proof.
  intros r d g scale D Hscale; assert (H := hardened_laplace_law r d g scale Hscale D).
  split; [exact H |]; intros event; apply every_event_has_a_chance, H.
Qed.

(** H2: rounding to the grid and clamping move two numbers apart by at most one step. *)
Definition rounding_costs_one_step := on_steps_moves.

(** H3: discrete Laplace noise loses the sum of the moves, each over its scale in steps, and no less. *)
Theorem hardened_laplace_accounting : forall a r n d domain g scale epsilon, (forall phi, 0 < scale phi) ->
  hardened_private a epsilon 0 n d domain discrete_laplace g scale r <->
  (forall D D', adjacent a n domain D D' -> sum_over (Phi (basis r) d) (fun phi =>
    IZR (Z.abs (on_steps g (coefficient r D phi) - on_steps g (coefficient r D' phi))) / scale phi)
    <= epsilon).
Proof.
  intros a r n d domain g scale epsilon H; exact (hardened_laplace_iff a r n d domain g scale H epsilon).
Qed.

(** H4: Theorem 1 on the grid: scales of at least (Delta_1 + slack) / epsilon, in steps. *)
Theorem hardened_laplace : forall a r n d domain g l1_sensitivity epsilon scale,
  sound_grid g -> (1 <= d)%nat -> 0 < epsilon -> 0 <= l1_sensitivity ->
  (forall D D', adjacent a n domain D D' -> l1_change r d all_monomials D D' <= l1_sensitivity) ->
  (forall phi, (l1_sensitivity + l1_slack (basis r) d g) / epsilon * grid_steps g <= scale phi) ->
  hardened_private a epsilon 0 n d domain discrete_laplace g scale r.
Proof.
  intros a r n d domain g l1 epsilon scale Hg Hd.
  exact (hardened_laplace_calibrated a r n d domain g Hg Hd l1 epsilon scale).
Qed.

(** H5: Theorem 3 on the grid, wherever it holds for exact coefficients at this Delta_1. *)
Theorem hardened_pdfc : forall a r n d domain g s l1_sensitivity epsilon_s epsilon_n scale_s scale_n,
  sound_grid g -> (s < d)%nat -> 0 < epsilon_s -> 0 < epsilon_n -> 0 <= l1_sensitivity ->
  (forall D D', adjacent a n domain D D' ->
    epsilon_s * l1_change r d (contains s) D D' + epsilon_n * l1_change r d (contains_not s) D D' <=
    l1_sensitivity * stated_epsilon d epsilon_s epsilon_n) ->
  (l1_sensitivity + l1_slack (basis r) d g) / epsilon_s * grid_steps g <= scale_s ->
  (l1_sensitivity + l1_slack (basis r) d g) / epsilon_n * grid_steps g <= scale_n ->
  hardened_private a (stated_epsilon d epsilon_s epsilon_n) 0 n d domain discrete_laplace g
    (two_scales s scale_s scale_n) r.
Proof.
  intros a r n d domain g s l1 es en b_s b_n Hg Hs; apply hardened_pdfc_calibrated; try assumption; lia.
Qed.

(** H6: Theorem 3 on the grid at the published Delta_1, end to end on the box. *)
Definition hardened_pdfc_at_the_published_bound := hardened_pdfc_published.

(** *** Discrete Gaussian noise *)

(** H7: its masses, proportional to exp (- j^2 / (2 scale^2)), are a law. *)
Theorem hardened_gaussian_is_a_law : forall r d g scale D, (forall phi, 0 < scale phi) ->
  countable_law (hardened_release discrete_gaussian g scale r d D) /\
  forall event, exists P, chance (hardened_release discrete_gaussian g scale r d D) event P /\ 0 <= P <= 1.
Proof.
  intros r d g scale D Hscale; assert (H := hardened_gaussian_law r d g scale Hscale D).
  split; [exact H |]; intros event; apply every_event_has_a_chance, H.
Qed.

(** H8: rounding a continuous normal variable keeps its profile, for every event of whole numbers. *)
Theorem rounded_gaussian_profile : forall (A : Type) (l : list A) (sigma : A -> R) (c c' : A -> Z) nu epsilon,
  (forall a, 0 < sigma a) -> 0 < nu ->
  sum_over l (fun a => ((IZR (c a) - IZR (c' a)) / sigma a) ^ 2) <= nu ^ 2 ->
  close epsilon (normal_tail (epsilon / nu - nu / 2) - exp epsilon * normal_tail (epsilon / nu + nu / 2))
    (product_mass l (fun a => rounded_gaussian (sigma a) (IZR (c a))))
    (product_mass l (fun a => rounded_gaussian (sigma a) (IZR (c' a)))).
Proof. intros A l sigma c c' nu epsilon Hs; exact (rounded_normal_profile sigma c c' Hs l nu epsilon). Qed.

(** H9: discrete Gaussian noise on rounded and clamped coefficients. Let c be the sum of
    (T + 1) / (2 scale), at most 1/4. Where the rounded coefficients move by at most nu, each over its scale
    in steps, epsilon grows by 2 c, and delta is exp c times the continuous profile plus
    (1 + exp (epsilon + c)) 4 k exp (- T^2 / 2). *)
Theorem hardened_gaussian_accounting : forall a r n d domain g scale T nu epsilon,
  (forall phi, 0 < scale phi) -> 1 <= T -> 0 < nu ->
  let c := sum_over (Phi (basis r) d) (fun phi => (T + 1) / (2 * scale phi)) in c <= 1 / 4 ->
  (forall D D', adjacent a n domain D D' -> sum_over (Phi (basis r) d) (fun phi =>
    ((IZR (on_steps g (coefficient r D phi)) - IZR (on_steps g (coefficient r D' phi))) / scale phi) ^ 2)
    <= nu ^ 2) ->
  hardened_private a (epsilon + 2 * c)
    (exp c * (normal_tail (epsilon / nu - nu / 2) - exp epsilon * normal_tail (epsilon / nu + nu / 2))
      + (1 + exp (epsilon + c)) * (4 * INR (length (Phi (basis r) d)) * exp (- (T ^ 2 / 2))))
    n d domain discrete_gaussian g scale r.
Proof.
  intros a r n d domain g scale T nu epsilon Hscale HT Hnu c Hc.
  exact (hardened_gaussian_profile a r n d domain g scale Hscale T nu epsilon HT Hc Hnu).
Qed.

(** H10: the same from the exact coefficients: they move by at most m, and one step each by at most t. *)
Theorem hardened_gaussian : forall a r n d domain g scale T m t epsilon,
  sound_grid g -> (forall phi, 0 < scale phi) -> 1 <= T -> 0 <= m -> 0 <= t -> 0 < m + t ->
  let c := sum_over (Phi (basis r) d) (fun phi => (T + 1) / (2 * scale phi)) in let nu := m + t in
  c <= 1 / 4 ->
  (forall D D', adjacent a n domain D D' -> sum_over (Phi (basis r) d) (fun phi =>
    ((coefficient r D phi - coefficient r D' phi) * grid_steps g / scale phi) ^ 2) <= m ^ 2) ->
  sum_over (Phi (basis r) d) (fun phi => (1 / scale phi) ^ 2) <= t ^ 2 ->
  hardened_private a (epsilon + 2 * c)
    (exp c * (normal_tail (epsilon / nu - nu / 2) - exp epsilon * normal_tail (epsilon / nu + nu / 2))
      + (1 + exp (epsilon + c)) * (4 * INR (length (Phi (basis r) d)) * exp (- (T ^ 2 / 2))))
    n d domain discrete_gaussian g scale r.
Proof.
  intros a r n d domain g scale T m t epsilon Hg Hscale HT Hm Ht Hmt c nu Hc.
  exact (hardened_gaussian_calibrated a r n d domain g scale T m t epsilon Hg Hscale HT Hc Hm Ht Hmt).
Qed.

(** *** Certificates of hardened releases: any scales that are large enough, every event *)

(** H11: Laplace noise whose every scale, in steps, is at least (Delta_1 + slack) / epsilon. *)
Definition release_hardened_laplace := hardened_laplace_certificate.

(** H12: PDFC with the published Delta_1, ... *)
Definition release_hardened_pdfc := hardened_pdfc_certificate.

(** ... and at any bound of the box's exact sensitivity, for epsilon_s <= epsilon_n. *)
Definition release_hardened_pdfc_exact := hardened_pdfc_exact_certificate.

(** H13: Gaussian noise of at least the paper's sigma, wide against the grid: the stated delta and no more. *)
Definition release_hardened_gaussian := hardened_gaussian_certificate.

(** H14: ADFC with equal epsilons: the larger delta is enough. *)
Definition release_hardened_adfc := hardened_adfc_certificate.

(** H15: the statement of Theorem 5 where neither budget times the l2-sensitivity exceeds Delta_2 times the
    stated epsilon, ... *)
Definition release_hardened_adfc_split := hardened_adfc_split_certificate.

(** ... and on the box with the published Delta_2', for epsilon_s <= epsilon_n. *)
Definition release_hardened_adfc_box := hardened_adfc_box_certificate.

(** H16: integer arithmetic decides that noise is wide against the grid. *)
Definition release_hardened_grid := grid_suffices_correct.

(** H17: a certificate for the unit box holds for the unit ball. *)
Definition release_hardened_on_the_ball := hardened_on_the_ball.

(** *** The repaired mechanism with hardened noise *)

(** R.discrete_laplace: whole numbers one after the other, whose scales may depend on earlier numbers. *)
Definition release_repaired_discrete_laplace := repaired_discrete_laplace.

(** R.discrete_laplace, at the scales of the file. *)
Definition release_repaired_discrete_laplace_file := repaired_discrete_laplace_file.

(** R.discrete_gaussian: what the grid costs is counted at the least scale that each release may have. *)
Definition release_repaired_discrete_gaussian := repaired_discrete_gaussian.

(** R.discrete_gaussian, at the scales of the file. *)
Definition release_repaired_discrete_gaussian_file := repaired_discrete_gaussian_file.

(** ** Calculators: rational functions that Coq runs *)

(** N1: the l1-sensitivity on the box, for every rational weight. *)
Definition box_l1_calculator := rational_box_l1_correct.

(** N2: the l2-sensitivity on the box, squared. *)
Definition box_l2_calculator := rational_box_l2_correct.

(** N4: the l1-sensitivity of a box with a rational bound for each column. *)
Definition declared_box_l1_calculator := rational_declared_l1_correct.

(** N5: the l2-sensitivity, squared, where there is an answer. *)
Definition declared_box_l2_calculator := rational_declared_l2_correct.

(** N7: the l1-sensitivity with two rational weights, for every box with a rational bound for each column. *)
Definition two_weights_l1_calculator := rational_weighted_l1_correct.

(** N3: the Gaussian profile lies between the ends that whole numbers give. *)
Definition gaussian_profile_calculator := profile_bounds_correct.

(** N6: the profile of a shift is at most delta where one computation says so; far out without its terms. *)
Definition gaussian_delta_decided := profile_at_most_correct.

(** ** Theorem 5 at deltas that a user would set *)

(** T5.decided: where two computations say so, Theorem 5 is false at these budgets and this delta. *)
Theorem theorem_5_refutation_decided : forall r n d s records epsilon_s epsilon_n delta sigma nu steps bits
    l2_squared logarithm root root' factor,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (1 <= records <= n)%nat -> (s < d)%nat ->
  Q2R l2_squared = published_fair_l2_squared d ->
  sigma_suffices l2_squared epsilon_s delta sigma logarithm root root' factor = true ->
  split_refuted d records epsilon_s epsilon_n delta sigma nu steps bits = true ->
  let Delta := sqrt (published_fair_l2_squared d) in
  ~ differentially_private (stated_epsilon d (Q2R epsilon_s) (Q2R epsilon_n))
      (stated_delta (Q2R delta) (Q2R delta)) n d (unit_ball d) gaussian_density
      (two_scales s (extended_gaussian_sigma Delta (Q2R epsilon_s) (Q2R delta))
        (extended_gaussian_sigma Delta (Q2R epsilon_n) (Q2R delta))) r.
Proof. exact theorem5_refuted_by_numbers. Qed.

(** T5: refuted for d = 13, budgets (2, 1/20), both deltas 1/1000, every n >= 1000. *)
Theorem theorem_5_is_false_at_a_thousandth : forall r n s,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (1000 <= n)%nat -> (s < 13)%nat ->
  let Delta := sqrt (INR 13 ^ 2 / 16 + 9 * INR 13) in
  ~ differentially_private (stated_epsilon 13 2 (1 / 20)) (stated_delta (1 / 1000) (1 / 1000)) n 13
      (unit_ball 13) gaussian_density
      (two_scales s (extended_gaussian_sigma Delta 2 (1 / 1000))
        (extended_gaussian_sigma Delta (1 / 20) (1 / 1000))) r.
Proof. exact theorem5_refuted_at_thousandth. Qed.

(** T5: refuted for d = 13, budgets (1, 1/20), both deltas 1/100000, every n >= 1000. *)
Theorem theorem_5_is_false_at_a_hundred_thousandth : forall r n s,
  fairness_term r = Absolute -> alpha_1 r = 1 -> (1000 <= n)%nat -> (s < 13)%nat ->
  let Delta := sqrt (INR 13 ^ 2 / 16 + 9 * INR 13) in
  ~ differentially_private (stated_epsilon 13 1 (1 / 20)) (stated_delta (1 / 100000) (1 / 100000)) n 13
      (unit_ball 13) gaussian_density
      (two_scales s (extended_gaussian_sigma Delta 1 (1 / 100000))
        (extended_gaussian_sigma Delta (1 / 20) (1 / 100000))) r.
Proof. exact theorem5_refuted_at_hundred_thousandth. Qed.
