(** * The l2-sensitivity on the paper's domain, for data sets of every size

    The limit of [Ball.v] as n grows, which certificates use. It has its own file because [Certificates.v]
    needs the published bounds only. *)

From Coq Require Import Reals List Lra Lia.
From CFM Require Import Definitions Change Box Theorem5 Ball Certificates.
Open Scope R_scope.

(** On the paper's domain, replace-one: 1, or (1 + 2 alpha_1)^2 with |z - zbar|. *)
Lemma ball_l2_limit : forall r n d D D', 0 <= alpha_1 r -> (1 <= d)%nat ->
  (forall sign, fairness_term r <> Covariance sign) ->
  neighbours n (unit_ball d) D D' ->
  l2_change_squared r d all_monomials D D' <= (1 + alpha_1 r * limit_gain (fairness_term r)) ^ 2.
Proof.
  intros r n d D D' Ha Hd HF H; assert (Hn := neighbours_nonempty _ _ _ _ H).
  eapply Rle_trans; [exact (proj1 (ball_l2_exact r n d Ha Hn Hd HF) D D' H) |].
  unfold ball_gain; generalize (nu_bounds n Hn); intros.
  destruct (fairness_term r) as [| | sign]; cbn [limit_gain]; [lra | | exfalso; exact (HF sign eq_refl)].
  assert (0 <= alpha_1 r * drift_limit n <= alpha_1 r) by (split; nra); nra.
Qed.
