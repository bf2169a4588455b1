(** * Definitions: the objects of the paper

    What the theorems of this development speak about is defined here, in the order of the paper:
    records, data sets, the average of the protected attribute, the readings of the fairness term, monomials,
    coefficients, neighbours, noise and privacy.  Nothing is proved here.  A reader who wants to know what a
    theorem says needs this file, [Statements.v] and the few words whose places [Statements.v] names. *)

From Coq Require Import Reals List Bool PeanoNat.
From Coquelicot Require Import Hierarchy RInt.
Import ListNotations.
Open Scope R_scope.

(** ** Finite sums *)

Definition sum_over {A : Type} (l : list A) (f : A -> R) : R :=
  fold_right (fun a total => f a + total) 0 l.

(** The coordinates 0, ..., d - 1. *)
Definition coordinates (d : nat) : list nat := seq 0 d.

(** ** Records and data sets *)

(** The paper's (x, y, z): unprotected attributes, label, protected attribute. *)
Record record := Tuple { attribute : nat -> R; label : bool; protected : bool }.

Definition number (b : bool) : R := if b then 1 else 0.

Definition dataset := list record.

(** The paper's z-bar: the average of z over the data set at hand. *)
Definition zbar (D : dataset) : R := sum_over D (fun t => number (protected t)) / INR (length D).

(** The domain that the constants of the paper need, and the domain that the paper states. *)
Definition unit_box (d : nat) (t : record) : Prop :=
  forall e, (e < d)%nat -> 0 <= attribute t e <= 1.

Definition unit_ball (d : nat) (t : record) : Prop :=
  (forall e, (e < d)%nat -> 0 <= attribute t e) /\ sum_over (coordinates d) (fun e => attribute t e ^ 2) <= 1.

(** D' is D with one record replaced; both averages of z are those of their own data set. *)
Definition replace_one (D D' : dataset) : Prop :=
  exists before t t' after, D = before ++ t :: after /\ D' = before ++ t' :: after.

(** ** Readings *)

(** How the penalty |sum (z_i - zbar) x_i.w| becomes a polynomial: no penalty at all; |z_i - zbar| per record,
    as both proofs of the paper write; z_i - zbar with the sign of the penalty fixed ([true]: plus). *)
Inductive fairness := NoFairness | Absolute | Covariance (sign : bool).

(** All d^2 products, or the monomials w_e w_l with e <= l. *)
Inductive quadratic_basis := MatrixBasis | MonomialBasis.

Record reading := Reading { basis : quadratic_basis; fairness_term : fairness; alpha_1 : R }.

Definition fairness_factor (F : fairness) (z average : R) : R :=
  match F with
  | NoFairness => 0
  | Absolute => Rabs (z - average)
  | Covariance true => z - average
  | Covariance false => - (z - average)
  end.

(** ** Monomials and coefficients *)

Inductive monomial := Linear (e : nat) | Quadratic (e l : nat).

Definition pairs (b : quadratic_basis) (d : nat) : list (nat * nat) :=
  match b with
  | MatrixBasis => list_prod (coordinates d) (coordinates d)
  | MonomialBasis => filter (fun p => fst p <=? snd p) (list_prod (coordinates d) (coordinates d))
  end.

(** The paper's Phi_1 and Phi_2 together. *)
Definition Phi (b : quadratic_basis) (d : nat) : list monomial :=
  map Linear (coordinates d) ++ map (fun p => Quadratic (fst p) (snd p)) (pairs b d).

(** phi(w). *)
Definition evaluate (phi : monomial) (w : nat -> R) : R :=
  match phi with
  | Linear e => w e
  | Quadratic e l => w e * w l
  end.

(** 1/8 for each of the d^2 products; as a monomial, w_e w_l with e < l stands for two of them. *)
Definition quadratic_factor (b : quadratic_basis) (e l : nat) : R :=
  match b with
  | MatrixBasis => 1 / 8
  | MonomialBasis => if Nat.eqb e l then 1 / 8 else 1 / 4
  end.

(** The paper's lambda-bar_(phi t). *)
Definition record_coefficient (r : reading) (average : R) (t : record) (phi : monomial) : R :=
  match phi with
  | Linear e =>
      (1 / 2 - number (label t)
        + alpha_1 r * fairness_factor (fairness_term r) (number (protected t)) average) * attribute t e
  | Quadratic e l => quadratic_factor (basis r) e l * (attribute t e * attribute t l)
  end.

(** The released coefficient: the sum of lambda-bar_(phi t) over the data set. *)
Definition coefficient (r : reading) (D : dataset) (phi : monomial) : R :=
  sum_over D (fun t => record_coefficient r (zbar D) t phi).

(** Distances between the coefficients of two data sets.  [part] selects monomials: Phi_s, Phi_n or all. *)
Definition all_monomials (phi : monomial) : bool := true.

Definition contains (s : nat) (phi : monomial) : bool :=
  match phi with
  | Linear e => Nat.eqb e s
  | Quadratic e l => Nat.eqb e s || Nat.eqb l s
  end.

Definition contains_not (s : nat) (phi : monomial) : bool := negb (contains s phi).

Definition l1_change (r : reading) (d : nat) (part : monomial -> bool) (D D' : dataset) : R :=
  sum_over (filter part (Phi (basis r) d)) (fun phi => Rabs (coefficient r D phi - coefficient r D' phi)).

Definition l2_change_squared (r : reading) (d : nat) (part : monomial -> bool) (D D' : dataset) : R :=
  sum_over (filter part (Phi (basis r) d)) (fun phi => (coefficient r D phi - coefficient r D' phi) ^ 2).

(** D and D' are neighbouring data sets of n records of a domain. *)
Definition neighbours (n : nat) (domain : record -> Prop) (D D' : dataset) : Prop :=
  length D = n /\ Forall domain D /\ Forall domain D' /\ replace_one D D'.

(** [value] is the largest distance between related data sets, and two data sets attain it. *)
Definition largest_distance (related : dataset -> dataset -> Prop) 
    (distance : dataset -> dataset -> R) (value : R) : Prop :=
  (forall D D', related D D' -> distance D D' <= value) /\
  (exists D D', related D D' /\ distance D D' = value).

Definition exact_sensitivity (n : nat) (domain : record -> Prop) : (dataset -> dataset -> R) -> R -> Prop :=
  largest_distance (neighbours n domain).

(** The other adjacency: D' is D with one record added, n records then; D is not empty.  (Removing is the same
    with the data sets exchanged, and distances are symmetric.) *)
Definition neighbours_add_one (n : nat) (domain : record -> Prop) (D D' : dataset) : Prop :=
  length D' = n /\ Forall domain D' /\
  exists before t after, D = before ++ after /\ D' = before ++ t :: after /\ D <> [].

(** ** The reading [separate] *)

(** The paper's g: the covariance vector, sum of (z_i - zbar) x_i.  The reading [separate] releases it,
    without the weight alpha_1, beside the coefficients without a fairness term. *)
Definition covariance_vector (D : dataset) (e : nat) : R :=
  sum_over D (fun t => (number (protected t) - zbar D) * attribute t e).

Definition separate_l1_change (b : quadratic_basis) (d : nat) (D D' : dataset) : R :=
  l1_change (Reading b NoFairness 0) d all_monomials D D' +
  sum_over (coordinates d) (fun e => Rabs (covariance_vector D e - covariance_vector D' e)).

Definition separate_l2_change_squared (b : quadratic_basis) (d : nat) (D D' : dataset) : R :=
  l2_change_squared (Reading b NoFairness 0) d all_monomials D D' +
  sum_over (coordinates d) (fun e => (covariance_vector D e - covariance_vector D' e) ^ 2).

(** ** Published constants *)

Definition published_l1 (d : nat) : R := INR d ^ 2 / 4 + INR d.
Definition published_fair_l1 (d : nat) : R := INR d ^ 2 / 4 + 3 * INR d.
Definition published_l2_squared (d : nat) : R := INR d ^ 2 / 16 + INR d.
Definition published_fair_l2_squared (d : nat) : R := INR d ^ 2 / 16 + 9 * INR d.

(** ** Noise and privacy *)

Definition laplace_density (scale t : R) : R := exp (- (Rabs t / scale)) / (2 * scale).
Definition gaussian_density (sigma t : R) : R := exp (- ((t / sigma) ^ 2 / 2)) / (sigma * sqrt (2 * PI)).

(** The integral of [test] over a box, against a product of densities [p], one coordinate per entry of [l].
    With [test] between 0 and 1 this is the probability that a randomised event occurs inside the box. *)
Fixpoint expectation {A : Type} (l : list A) (p : A -> R -> R) (lower upper : A -> R)
    (test : list R -> R) : R :=
  match l with
  | [] => test []
  | a :: rest =>
      RInt (fun t => p a t * expectation rest p lower upper (fun ts => test (t :: ts))) (lower a) (upper a)
  end.

(** Every iterated Riemann integral in [expectation] exists. *)
Fixpoint integrable {A : Type} (l : list A) (p : A -> R -> R) (lower upper : A -> R)
    (test : list R -> R) : Prop :=
  match l with
  | [] => True
  | a :: rest =>
      (forall t, lower a <= t <= upper a -> integrable rest p lower upper (fun ts => test (t :: ts))) /\
      ex_RInt (fun t => p a t * expectation rest p lower upper (fun ts => test (t :: ts))) (lower a) (upper a)
  end.

(** (epsilon, delta)-indistinguishability of two product densities, for every box and every test function. *)
Definition indistinguishable {A : Type} (epsilon delta : R) (l : list A) (p q : A -> R -> R) : Prop :=
  forall lower upper test,
    (forall a, lower a <= upper a) ->
    (forall ts, 0 <= test ts <= 1) ->
    integrable l p lower upper test ->
    integrable l q lower upper test ->
    expectation l p lower upper test <= exp epsilon * expectation l q lower upper test + delta.

(** The noisy coefficients: the coefficient of each monomial plus noise of its own scale. *)
Definition release (noise : R -> R -> R) (scale : monomial -> R) (r : reading) (D : dataset)
    (phi : monomial) (t : R) : R :=
  noise (scale phi) (t - coefficient r D phi).

(** A mechanism that adds noise to the coefficients is (epsilon, delta)-differentially private. *)
Definition differentially_private (epsilon delta : R) (n d : nat) (domain : record -> Prop)
    (noise : R -> R -> R) (scale : monomial -> R) (r : reading) : Prop :=
  forall D D', neighbours n domain D D' ->
    indistinguishable epsilon delta (Phi (basis r) d) (release noise scale r D) (release noise scale r D').

(** One scale for the monomials with w_s, one for the others. *)
Definition two_scales (s : nat) (scale_s scale_n : R) (phi : monomial) : R :=
  if contains s phi then scale_s else scale_n.

(** The paper's sigma (Theorem 2). *)
Definition extended_gaussian_sigma (l2_sensitivity epsilon delta : R) : R :=
  sqrt 2 * l2_sensitivity / (2 * epsilon) *
  (sqrt (ln (sqrt (2 / PI) / delta)) + sqrt (ln (sqrt (2 / PI) / delta) + epsilon)).

(** The epsilon and delta that Theorems 3 and 5 state. *)
Definition stated_epsilon (d : nat) (epsilon_s epsilon_n : R) : R :=
  epsilon_s / INR d + epsilon_n * (INR d - 1) / INR d.
Definition stated_delta (delta_s delta_n : R) : R := 1 - (1 - delta_s) * (1 - delta_n).
