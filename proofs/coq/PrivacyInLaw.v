(** * The paper's theorems about noise, as sentences about its law

    What a theorem says of tests on boxes, it says of the one law of the noise and of every Borel set, given
    countable choice. The accounting is exact: what is enough is also needed. *)

From Coq Require Import Reals List Bool PeanoNat Lia Lra.
From CFM Require Import Definitions Sums Expectation Laplace Theorem3 Normal Gaussian ExtendedGaussian
  Theorem5 Theorem5Regime GaussianExact CountableMeasures BorelEvents TestsOfLaws Certificates
    OuterMeasure NoiseMeasure
  LawsOfNoise.
Import ListNotations.
Open Scope R_scope.

(** ** From tests to laws *)

(** The noisy coefficients of neighbouring data sets are close on every Borel set, for either adjacency. *)
Definition release_on_borel_sets (a : adjacency) (epsilon delta : R) (n d : nat) (domain : record -> Prop)
    (noise : R -> R -> R) (scale : monomial -> R) (r : reading) : Prop :=
  forall D D', adjacent a n domain D D' ->
    borel_indistinguishable epsilon delta (Phi (basis r) d) (release noise scale r D)
      (release noise scale r D').

(** ... and have close laws. *)
Definition release_in_law (a : adjacency) (epsilon delta : R) (n d : nat) (domain : record -> Prop)
    (noise : R -> R -> R) (scale : monomial -> R) (r : reading) : Prop :=
  forall D D', adjacent a n domain D D' ->
    close_laws epsilon delta (Phi (basis r) d) (release noise scale r D) (release noise scale r D').

Lemma noise_is_continuous : forall noise, noise = laplace_density \/ noise = gaussian_density ->
  forall (A : Type) (scale c : A -> R), (forall a, 0 < scale a) ->
  continuous_density (fun a t => noise (scale a) (t - c a)).
Proof.
  intros noise [-> | ->] A scale c H a t; [apply laplace_continuous | apply gaussian_continuous]; apply H.
Qed.

Lemma borel_sets_of_tests : forall noise, noise = laplace_density \/ noise = gaussian_density ->
  forall (A : Type) (l : list A) (scale c c' : A -> R) epsilon delta, (forall a, 0 < scale a) ->
  indistinguishable epsilon delta l (fun a t => noise (scale a) (t - c a))
    (fun a t => noise (scale a) (t - c' a)) ->
  borel_indistinguishable epsilon delta l (fun a t => noise (scale a) (t - c a))
    (fun a t => noise (scale a) (t - c' a)).
Proof.
  intros noise Hnoise A l scale c c' epsilon delta Hs H.
  apply indistinguishable_on_borel_sets; [apply noise_is_continuous; assumption | | exact H].
  apply noise_is_continuous; assumption.
Qed.

Lemma laws_of_tests : forall noise, countable_choice ->
  noise = laplace_density \/ noise = gaussian_density ->
  forall (A : Type) (l : list A) (scale c c' : A -> R) epsilon delta, (forall a, 0 < scale a) ->
  indistinguishable epsilon delta l (fun a t => noise (scale a) (t - c a))
    (fun a t => noise (scale a) (t - c' a)) ->
  close_laws epsilon delta l (fun a t => noise (scale a) (t - c a)) (fun a t => noise (scale a) (t - c' a)).
Proof.
  intros noise choice Hnoise A l scale c c' epsilon delta Hs H.
  apply (noise_close_laws noise choice Hnoise A l scale scale c c' epsilon delta Hs Hs).
  apply borel_sets_of_tests; assumption.
Qed.

(** ** Any release *)

Theorem release_for_every_event : forall a epsilon delta n d domain noise scale r,
  noise = laplace_density \/ noise = gaussian_density -> (forall phi, 0 < scale phi) ->
  private_release a epsilon delta n d domain noise scale r ->
  release_on_borel_sets a epsilon delta n d domain noise scale r.
Proof.
  intros a epsilon delta n d domain noise scale r Hnoise Hs H D D' HDD'.
  apply (borel_sets_of_tests noise Hnoise monomial (Phi (basis r) d) scale (coefficient r D)
    (coefficient r D')); [exact Hs | exact (H D D' HDD')].
Qed.

Theorem release_law : countable_choice -> forall a epsilon delta n d domain noise scale r,
  noise = laplace_density \/ noise = gaussian_density -> (forall phi, 0 < scale phi) ->
  private_release a epsilon delta n d domain noise scale r ->
  release_in_law a epsilon delta n d domain noise scale r.
Proof.
  intros choice a epsilon delta n d domain noise scale r Hnoise Hs H D D' HDD'.
  apply (laws_of_tests noise choice Hnoise monomial (Phi (basis r) d) scale (coefficient r D)
    (coefficient r D')); [exact Hs | exact (H D D' HDD')].
Qed.

Lemma mechanism_in_law : countable_choice -> forall epsilon delta n d domain noise scale r,
  noise = laplace_density \/ noise = gaussian_density -> (forall phi, 0 < scale phi) ->
  differentially_private epsilon delta n d domain noise scale r ->
  private_in_law epsilon delta n d domain noise scale r.
Proof. intros choice; exact (release_law choice ReplaceOne). Qed.

(** ** The theorems *)

(** The laws of Gaussian noise of total shift nu are close if and only if delta is at least the profile. *)
Theorem gaussian_profile_law : countable_choice ->
  forall (A : Type) (l : list A) (sigma c c' : A -> R) nu epsilon delta,
  (forall a, 0 < sigma a) -> 0 < nu -> sum_over l (fun a => ((c a - c' a) / sigma a) ^ 2) = nu ^ 2 ->
  close_laws epsilon delta l (fun a t => gaussian_density (sigma a) (t - c a))
    (fun a t => gaussian_density (sigma a) (t - c' a))
  <-> gaussian_delta nu epsilon <= delta.
Proof.
  intros choice A l sigma c c' nu epsilon delta Hs Hnu Hshift; split.
  - intros (mu & mu' & [Hmu _] & [Hmu' _] & Hclose); assert (Hk := kappa_pos).
    assert (H := soft_private_needs_profile A l sigma c c' nu epsilon delta Hs Hnu Hshift
      (laws_are_soft A l sigma c c' epsilon delta mu mu' Hs Hmu Hmu' Hclose)).
    rewrite gaussian_delta_profile; apply Rmult_le_reg_l with (2 * kappa); [lra |].
    replace (2 * kappa * (profile nu epsilon / (2 * kappa))) with (profile nu epsilon) by (field; lra).
    exact H.
  - intros Hdelta; apply (laws_of_tests gaussian_density choice (or_intror eq_refl)); [exact Hs |].
    apply (gaussian_profile_iff A l sigma c c' nu epsilon delta); assumption.
Qed.

Theorem extended_gaussian_law : countable_choice ->
  forall (A : Type) (l : list A) (c c' : A -> R) sigma l2_sensitivity epsilon delta,
  0 < epsilon -> 0 < delta <= sqrt (2 / PI) -> 0 < l2_sensitivity ->
  extended_gaussian_sigma l2_sensitivity epsilon delta <= sigma ->
  sum_over l (fun a => (c a - c' a) ^ 2) <= l2_sensitivity ^ 2 ->
  close_laws epsilon delta l (fun a t => gaussian_density sigma (t - c a))
    (fun a t => gaussian_density sigma (t - c' a)).
Proof.
  intros choice A l c c' sigma l2 epsilon delta He Hd Hl Hsigma Hshift.
  apply (laws_of_tests gaussian_density choice (or_intror eq_refl) A l (fun _ => sigma) c c').
  - intros _; eapply Rlt_le_trans; [apply (extended_gaussian_sigma_pos l2 epsilon delta); assumption |].
    exact Hsigma.
  - apply (extended_gaussian A l c c' sigma l2); assumption.
Qed.

Lemma published_l1_positive : forall d s epsilon, (s < d)%nat -> 0 < epsilon ->
  0 < (INR d ^ 2 / 4 + 3 * INR d) / epsilon.
Proof.
  intros d s epsilon Hs He; assert (Hd : 1 <= INR d) by (apply (le_INR 1); lia).
  apply Rdiv_lt_0_compat; [generalize (pow2_ge_0 (INR d)); lra | exact He].
Qed.

Theorem theorem3_law : countable_choice -> forall r n d s epsilon_s epsilon_n,
  0 <= alpha_1 r <= 1 -> (s < d)%nat -> 0 < epsilon_s -> 0 < epsilon_n ->
  private_in_law (epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d) 0 n d (unit_box d) laplace_density
    (two_scales s ((INR d ^ 2 / 4 + 3 * INR d) / epsilon_s) ((INR d ^ 2 / 4 + 3 * INR d) / epsilon_n)) r.
Proof.
  intros choice r n d s es en Ha Hs Hes Hen.
  apply mechanism_in_law; [exact choice | left; reflexivity | |].
  - apply two_scales_pos; apply (published_l1_positive d s); assumption.
  - apply theorem3_published; assumption.
Qed.

(** Laplace noise of two scales, in law, if and only if epsilon bounds the weighted change. *)
Theorem two_scale_laplace_law : countable_choice -> forall r n d s domain b_s b_n epsilon,
  0 < b_s -> 0 < b_n ->
  private_in_law epsilon 0 n d domain laplace_density (two_scales s b_s b_n) r <->
  (forall D D', neighbours n domain D D' ->
    l1_change r d (contains s) D D' / b_s + l1_change r d (contains_not s) D D' / b_n <= epsilon).
Proof.
  intros choice r n d s domain b_s b_n epsilon Hs Hn; assert (Hpos := two_scales_pos s b_s b_n Hs Hn).
  split; [intros H D D' HDD' |].
  - destruct (H D D' HDD') as (mu & nu & [Hmu _] & [Hnu _] & Hclose); rewrite <- two_scale_loss by lra.
    apply (loss_of_close_laws (Phi (basis r) d) (two_scales s b_s b_n) (coefficient r D) (coefficient r D')
      Hpos mu nu epsilon Hmu Hnu).
    intros S HS; specialize (Hclose S HS); lra.
  - intros H; apply mechanism_in_law; [exact choice | left; reflexivity | exact Hpos |].
    apply two_scale_laplace; assumption.
Qed.

(** Gaussian noise of two scales, in law, with nu^2 the supremum of the weighted change. *)
Theorem two_scale_gaussian_law : countable_choice ->
  forall r n d s domain sigma_s sigma_n nu epsilon delta, 0 < sigma_s -> 0 < sigma_n -> 0 < nu ->
  is_lub (fun v => exists D D', neighbours n domain D D' /\
    v = l2_change_squared r d (contains s) D D' / sigma_s ^ 2 +
        l2_change_squared r d (contains_not s) D D' / sigma_n ^ 2) (nu ^ 2) ->
  private_in_law epsilon delta n d domain gaussian_density (two_scales s sigma_s sigma_n) r
  <-> gaussian_delta nu epsilon <= delta.
Proof.
  intros choice r n d s domain ss sn nu epsilon delta Hs Hn Hnu Hlub.
  assert (Hscales := two_scales_pos s ss sn Hs Hn); split.
  - intros H; apply (profile_of_supremum _ nu epsilon delta Hnu Hlub).
    intros v (D & D' & HDD' & Hv) Hv0.
    refine (proj1 (gaussian_profile_law choice monomial (Phi (basis r) d) (two_scales s ss sn)
      (coefficient r D) (coefficient r D') (sqrt v) epsilon delta Hscales (sqrt_lt_R0 v Hv0) _) (H D D'
        HDD')).
    rewrite (shift_of_two_scales r d s ss sn D D' Hs Hn), pow2_sqrt by lra; symmetry; exact Hv.
  - intros Hdelta; apply mechanism_in_law; [exact choice | right; reflexivity | exact Hscales |].
    apply (two_scale_gaussian_iff r n d s domain ss sn nu epsilon delta); assumption.
Qed.
