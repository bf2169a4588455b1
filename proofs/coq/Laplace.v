(** * Laplace noise with one scale per coordinate

    Theorem 1 with a scale for each coordinate: the loss is at most the sum of the changes divided by their
    scales, and far outputs attain it. So the accounting is exact. *)

From Coq Require Import Reals List Bool Lra.
From Coquelicot Require Import Coquelicot.
From CFM Require Import Definitions Sums Analysis Expectation.
Import ListNotations.
Open Scope R_scope.

Lemma laplace_pos : forall b t, 0 < b -> 0 < laplace_density b t.
Proof. intros b t Hb; unfold laplace_density; apply Rdiv_lt_0_compat; [apply exp_pos | lra]. Qed.

Lemma laplace_continuous : forall b c t, 0 < b -> continuous (fun u => laplace_density b (u - c)) t.
Proof.
  intros b c t Hb; unfold laplace_density, Rdiv.
  apply (continuous_mult (fun u => exp (- (Rabs (u - c) * / b))) (fun _ => / (2 * b)));
    [| apply continuous_const].
  apply (continuous_comp (fun u => - (Rabs (u - c) * / b)) exp).
  - apply (continuous_opp (fun u => Rabs (u - c) * / b)).
    apply (continuous_mult (fun u => Rabs (u - c)) (fun _ => / b)); [| apply continuous_const].
    apply (continuous_comp (fun u => u - c) Rabs).
    + apply (continuous_minus (fun u => u) (fun _ => c)); [apply continuous_id | apply continuous_const].
    + apply continuous_Rabs.
  - apply continuity_pt_filterlim, derivable_continuous_pt, derivable_pt_exp.
Qed.

Lemma laplace_ratio : forall b c c' t, 0 < b ->
  laplace_density b (t - c) <= exp (Rabs (c - c') / b) * laplace_density b (t - c').
Proof.
  intros b c c' t Hb; unfold laplace_density, Rdiv; rewrite <- Rmult_assoc, <- exp_plus.
  apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; lra |].
  assert (Hle : Rabs (t - c') <= Rabs (t - c) + Rabs (c - c')).
  { replace (t - c') with (t - c + (c - c')) by ring; apply Rabs_triang. }
  assert (Hi : 0 < / b) by (apply Rinv_0_lt_compat; exact Hb).
  assert (Hexp : - (Rabs (t - c) * / b) <= Rabs (c - c') * / b + - (Rabs (t - c') * / b)) by nra.
  destruct Hexp as [Hlt | Heq]; [left; apply exp_increasing; exact Hlt | right; f_equal; exact Heq].
Qed.

(** On the far side of c, as seen from c', the ratio is constant. *)
Lemma laplace_ratio_far : forall b c c' t, 0 < b -> (c < c' -> t <= c) -> (c' < c -> c <= t) ->
  laplace_density b (t - c) = exp (Rabs (c - c') / b) * laplace_density b (t - c').
Proof.
  intros b c c' t Hb H1 H2; unfold laplace_density, Rdiv; rewrite <- Rmult_assoc, <- exp_plus; f_equal;
    f_equal.
  destruct (Rtotal_order c c') as [Hc | [<- | Hc]].
  - specialize (H1 Hc); rewrite (Rabs_left1 (t - c)), (Rabs_left1 (t - c')), (Rabs_left1 (c - c')) by lra;
      ring.
  - unfold Rminus at 2; rewrite Rplus_opp_r, Rabs_R0; ring.
  - specialize (H2 Hc); rewrite (Rabs_right (t - c)), (Rabs_right (t - c')), (Rabs_right (c - c')) by lra;
      ring.
Qed.

(** ** Densities of vectors *)

Definition product_density {A : Type} (l : list A) (p : A -> R -> R) (t : A -> R) : R :=
  fold_right (fun a m => p a (t a) * m) 1 l.

Definition laplace_loss {A : Type} (l : list A) (scale c c' : A -> R) : R :=
  sum_over l (fun a => Rabs (c a - c' a) / scale a).

Section Product.

Context {A : Type}.
Variable scale c c' : A -> R.
Hypothesis scale_pos : forall a, 0 < scale a.

Let p a t := laplace_density (scale a) (t - c a).
Let q a t := laplace_density (scale a) (t - c' a).

Theorem laplace_density_ratio : forall (l : list A) t,
  product_density l p t <= exp (laplace_loss l scale c c') * product_density l q t.
Proof.
  induction l as [| a l IH]; intros t; unfold laplace_loss, product_density in *; cbn [fold_right].
  - simpl; rewrite exp_0; lra.
  - rewrite sum_cons, exp_plus; specialize (IH t).
    replace (exp (Rabs (c a - c' a) / scale a) * exp (sum_over l (fun b => Rabs (c b - c' b) / scale b)) *
             (q a (t a) * fold_right (fun b m => q b (t b) * m) 1 l))
      with ((exp (Rabs (c a - c' a) / scale a) * q a (t a)) *
            (exp (sum_over l (fun b => Rabs (c b - c' b) / scale b)) * fold_right (fun b m => q b (t b) * m) 1
              l)) by ring.
    apply Rmult_le_compat; [apply Rlt_le, laplace_pos, scale_pos | | apply laplace_ratio,
      scale_pos | exact IH].
    clear IH; induction l as [| b l IH]; simpl; [lra |].
    apply Rmult_le_pos; [apply Rlt_le, laplace_pos, scale_pos | exact IH].
Qed.

Theorem laplace_density_ratio_attained : forall (l : list A),
  product_density l p c = exp (laplace_loss l scale c c') * product_density l q c.
Proof.
  induction l as [| a l IH]; unfold laplace_loss, product_density in *; cbn [fold_right].
  - simpl; rewrite exp_0; ring.
  - rewrite sum_cons, exp_plus, IH; unfold p at 1.
    rewrite (laplace_ratio_far (scale a) (c a) (c' a) (c a)) by (try apply scale_pos; intros; lra).
    unfold q; ring.
Qed.

Lemma p_continuous : continuous_density p.
Proof. intros a t; apply laplace_continuous, scale_pos. Qed.

Lemma q_continuous : continuous_density q.
Proof. intros a t; apply laplace_continuous, scale_pos. Qed.

Theorem laplace_indistinguishable : forall (l : list A) epsilon,
  laplace_loss l scale c c' <= epsilon -> indistinguishable epsilon 0 l p q.
Proof.
  intros l epsilon Hloss lower upper test Hord Htest Hp Hq; rewrite Rplus_0_r.
  apply Rle_trans with (exp (laplace_loss l scale c c') * expectation l q lower upper test).
  - apply (expectation_ratio lower upper Hord l p q (fun a => Rabs (c a - c' a) / scale a)).
    + intros a t; apply Rlt_le, laplace_pos, scale_pos.
    + intros a t; apply Rlt_le, laplace_pos, scale_pos.
    + intros a t _; apply laplace_ratio, scale_pos.
    + intros ts; apply Htest.
    + exact Hp.
    + exact Hq.
  - apply Rmult_le_compat_r.
    + apply expectation_nonneg; [exact Hord | intros a t; apply Rlt_le, laplace_pos, scale_pos | intros;
        apply Htest | exact Hq].
    + destruct Hloss as [H | ->]; [left; apply exp_increasing; exact H | right; reflexivity].
Qed.

(** The loss cannot be improved: a box on the far side of c attains it. *)
Definition far_lower a : R := if Rle_dec (c a) (c' a) then c a - 1 else c a.
Definition far_upper a : R := if Rle_dec (c a) (c' a) then c a else c a + 1.

Lemma far_ordered : forall a, far_lower a < far_upper a.
Proof. intros a; unfold far_lower, far_upper; destruct Rle_dec; lra. Qed.

Lemma far_mass : forall l : list A,
  mass far_lower far_upper l p = exp (laplace_loss l scale c c') * mass far_lower far_upper l q.
Proof.
  intros l; apply mass_ratio; [intros a; apply Rlt_le, far_ordered | apply q_continuous |].
  intros a t _ Ht; unfold far_lower, far_upper in Ht; destruct (Rle_dec (c a) (c' a));
    (apply laplace_ratio_far; [apply scale_pos | |]); intros; lra.
Qed.

Theorem laplace_loss_necessary : forall (l : list A) epsilon,
  indistinguishable epsilon 0 l p q -> laplace_loss l scale c c' <= epsilon.
Proof.
  intros l epsilon H.
  destruct (expectation_constant far_lower far_upper l p 1 p_continuous) as [Hip Hep].
  destruct (expectation_constant far_lower far_upper l q 1 q_continuous) as [Hiq Heq].
  specialize (H far_lower far_upper (fun _ => 1) (fun a => Rlt_le _ _ (far_ordered a)) ltac:(intros;
    lra) Hip Hiq).
  rewrite Hep, Heq, far_mass, !Rmult_1_r, Rplus_0_r in H.
  assert (Hpos : 0 < mass far_lower far_upper l q).
  { apply mass_pos; [apply q_continuous | intros a t; apply laplace_pos, scale_pos | apply far_ordered]. }
  apply Rmult_le_reg_r in H; [| exact Hpos].
  destruct (Rle_or_lt (laplace_loss l scale c c') epsilon) as [Hle | Hlt]; [exact Hle |].
  apply exp_increasing in Hlt; lra.
Qed.

End Product.

(** ** Accounting: two scales *)

Lemma sum_two_parts : forall (l : list monomial) s (f : monomial -> R),
  sum_over l f = sum_over (filter (contains s) l) f + sum_over (filter (contains_not s) l) f.
Proof.
  intros l s f; rewrite !sum_filter, <- sum_plus; apply sum_ext; intros phi _.
  unfold contains_not; destruct (contains s phi); simpl; lra.
Qed.

Lemma two_scale_loss : forall r d s b_s b_n D D', b_s <> 0 -> b_n <> 0 ->
  laplace_loss (Phi (basis r) d) (two_scales s b_s b_n) (coefficient r D) (coefficient r D') =
  l1_change r d (contains s) D D' / b_s + l1_change r d (contains_not s) D D' / b_n.
Proof.
  intros r d s b_s b_n D D' Hs Hn; unfold laplace_loss, l1_change; rewrite (sum_two_parts _ s).
  unfold Rdiv; rewrite <- !sum_scal_r; f_equal; rewrite !sum_filter; apply sum_ext; intros phi _;
    unfold contains_not, two_scales; destruct (contains s phi); reflexivity.
Qed.

Lemma two_scales_pos : forall s b_s b_n, 0 < b_s -> 0 < b_n -> forall phi, 0 < two_scales s b_s b_n phi.
Proof. intros s b_s b_n Hs Hn phi; unfold two_scales; destruct (contains s phi); assumption. Qed.

(** Laplace noise of two scales is epsilon-differentially private if and only if epsilon bounds the weighted
    change. *)
Theorem two_scale_laplace : forall r n d s domain b_s b_n epsilon, 0 < b_s -> 0 < b_n ->
  differentially_private epsilon 0 n d domain laplace_density (two_scales s b_s b_n) r <->
  (forall D D', neighbours n domain D D' ->
    l1_change r d (contains s) D D' / b_s + l1_change r d (contains_not s) D D' / b_n <= epsilon).
Proof.
  intros r n d s domain b_s b_n epsilon Hs Hn.
  assert (Hpos := two_scales_pos s b_s b_n Hs Hn).
  split; intros H D D' HDD'.
  - rewrite <- two_scale_loss by lra.
    apply (laplace_loss_necessary (two_scales s b_s b_n) (coefficient r D) (coefficient r D') Hpos).
    exact (H D D' HDD').
  - apply (laplace_indistinguishable (two_scales s b_s b_n) (coefficient r D) (coefficient r D') Hpos).
    rewrite two_scale_loss by lra; exact (H D D' HDD').
Qed.
