(** * The signed covariance on the paper's domain, for data sets of every size

    The limit of [CovarianceBall.v] as n grows, which certificates use. It has its own file because the
    theorem that it uses takes longest to compile. *)

From Coq Require Import Reals List Lra Lia.
From CFM Require Import Definitions Change Box CovarianceBall.
Open Scope R_scope.

Lemma covariance_ball_l2_limit : forall r n d sign D D', 0 <= alpha_1 r -> (2 <= d)%nat ->
  fairness_term r = Covariance sign -> neighbours n (unit_ball d) D D' ->
  l2_change_squared r d all_monomials D D' <= (1 + alpha_1 r) ^ 2 + alpha_1 r ^ 2.
Proof.
  intros r n d sign D D' Ha Hd HF H; assert (Hn := neighbours_nonempty _ _ _ _ H).
  eapply Rle_trans; [exact (proj1 (ball_l2_covariance_exact r n d sign Ha HF Hn Hd) D D' H) |].
  generalize (nu_bounds n Hn); intros; assert (0 <= alpha_1 r * drift_limit n <= alpha_1 r) by (split; nra).
  set (e := alpha_1 r * drift_limit n) in *; nra.
Qed.
