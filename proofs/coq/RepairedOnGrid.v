(** * Certificates of the repaired mechanism with hardened noise: whole numbers, every event

    As in [RepairedCertificates.v], but with discrete noise on the steps of a grid. A number's scale may
    depend on all numbers before it; the least scale that it may have decides what discrete Gaussian noise
    costs on the grid. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat ZArith QArith Qreals Lia Lra.
From CFM Require Import Definitions Sums Analysis Normal Gaussian ExtendedGaussian Adaptive Countable
  Hardened DiscreteGaussian HardenedGaussian SigmaBound ProfileEnds GaussianDelta RepairedCertificates.
Import ListNotations.
Open Scope R_scope.

(** ** Transcripts *)

(** Whole numbers one after the other: the noise and the centre of each depend on those before it. *)
Fixpoint transcript_mass (noise : list Z -> Z -> R) (c : list Z -> Z) (k : nat) (past : list Z)
    : integers k -> R :=
  match k with
  | O => fun _ => 1
  | S k' => fun zs => noise past (fst zs - c past)%Z *
      transcript_mass noise c k' (past ++ [fst zs]) (snd zs)
  end.

Lemma transcript_law : forall noise, (forall past, countable_law (noise past)) -> forall c k past,
  countable_law (transcript_mass noise c k past).
Proof.
  intros noise H c; induction k as [| k IH]; intros past.
  - exact (product_law (A := False) [] (fun a _ => 1) (fun a => False_ind _ a)).
  - exact (joint_law (fun j => noise past (j - c past)%Z)
      (fun j => transcript_mass noise c k (past ++ [j]))
      (shifted_law _ _ (H past)) (fun j => IH (past ++ [j]))).
Qed.

Lemma close_weaker : forall (A : Type) epsilon epsilon' delta delta' (p q : A -> R),
  epsilon <= epsilon' -> delta <= delta' -> close epsilon delta p q -> close epsilon' delta' p q.
Proof.
  intros A e e' d d' p q He Hd H event P Q HP HQ; eapply Rle_trans; [exact (H event P Q HP HQ) |].
  assert (H0 : 0 <= Q).
  { destruct HQ as [HQ _]; apply HQ; exists []; split; [constructor | split; [constructor | reflexivity]]. }
  assert (exp e <= exp e') by (apply exp_le, He); assert (exp e * Q <= exp e' * Q)
    by (apply Rmult_le_compat_r; assumption); lra.
Qed.

(** What the numbers of every transcript add up to, they add up to from any past on. *)
Lemma sums_from_a_past : forall (g : list Z -> R) (spends : nat -> list Z -> R -> Prop),
  (forall past B, 0 <= B -> spends O past B) ->
  (forall k past B, (forall j, spends k (past ++ [j]) (B - g past)) -> spends (S k) past B) ->
  forall k past B,
  (forall ts, length ts = k ->
    sum_over (seq 0 (length (past ++ ts))) (fun i => g (firstn i (past ++ ts))) <= B) ->
  spends k past (B - sum_over (seq 0 (length past)) (fun i => g (firstn i past))).
Proof.
  intros g spends Hbase Hstep; induction k as [| k IH]; intros past B H.
  - apply Hbase; specialize (H [] eq_refl); rewrite app_nil_r in H; lra.
  - apply Hstep; intros j; set (total := sum_over (seq 0 (length past)) _).
    replace (B - total - g past)
      with (B - sum_over (seq 0 (length (past ++ [j]))) (fun i => g (firstn i (past ++ [j])))).
    + apply IH; intros ts Hts; rewrite <- app_assoc; apply H; cbn; rewrite Hts; reflexivity.
    + rewrite app_length; cbn [length]; rewrite seq_app, sum_app; cbn [seq Nat.add sum_over fold_right].
      rewrite firstn_app, firstn_all, Nat.sub_diag; cbn [firstn]; rewrite app_nil_r.
      replace (sum_over (seq 0 (length past)) _) with total; [ring |]; apply sum_ext; intros i Hi.
      apply in_seq in Hi; rewrite firstn_app; replace (i - length past)%nat with O by lia; cbn [firstn].
      rewrite app_nil_r; reflexivity.
Qed.

Lemma sums_from_the_start : forall (g : list Z -> R) (spends : nat -> list Z -> R -> Prop),
  (forall past B, 0 <= B -> spends O past B) ->
  (forall k past B, (forall j, spends k (past ++ [j]) (B - g past)) -> spends (S k) past B) ->
  forall k B, (forall ts, length ts = k -> sum_over (seq 0 k) (fun i => g (firstn i ts)) <= B) ->
  spends k [] B.
Proof.
  intros g spends Hbase Hstep k B H; assert (L := sums_from_a_past g spends Hbase Hstep k [] B).
  cbn [length seq sum_over fold_right app] in L; rewrite Rminus_0_r in L; apply L.
  intros ts Hts; rewrite Hts; apply H, Hts.
Qed.

(** ** Discrete Laplace noise *)

Section Laplace.
Variable scale : list Z -> R.
Hypothesis scale_pos : forall past, 0 < scale past.
Variables (c c' : list Z -> Z).

Let noise past := discrete_laplace (scale past).
Let noise_law : forall past, countable_law (noise past) := fun past => discrete_laplace_law _ (scale_pos
  past).
Let loss past := Rabs (IZR (c past) - IZR (c' past)) / scale past.

Fixpoint loses_on_grid (k : nat) (past : list Z) (B : R) : Prop :=
  match k with O => 0 <= B | S k' => forall j, loses_on_grid k' (past ++ [j]) (B - loss past) end.

Lemma transcript_ratio : forall k past B zs, loses_on_grid k past B ->
  transcript_mass noise c k past zs <= exp B * transcript_mass noise c' k past zs.
Proof.
  induction k as [| k IH]; intros past B zs HB.
  - cbn in *; assert (1 <= exp B) by (rewrite <- exp_0; apply exp_le, HB); lra.
  - destruct zs as [j zs]; cbn [transcript_mass fst snd]; unfold noise at 1 3.
    assert (H := IH (past ++ [j]) (B - loss past) zs (HB j)); assert (Hs := scale_pos past).
    assert (Hr := discrete_laplace_ratio (scale past) Hs (c past) (c' past) j).
    rewrite abs_IZR, minus_IZR in Hr; fold (loss past) in Hr.
    assert (Hp := discrete_laplace_pos (scale past) Hs (j - c past)).
    assert (Hq := law_nonneg _ (transcript_law noise noise_law c' k (past ++ [j])) zs).
    set (M := transcript_mass noise c' k (past ++ [j]) zs) in *.
    replace (exp B * (discrete_laplace (scale past) (j - c' past) * M))
      with (exp (loss past) * discrete_laplace (scale past) (j - c' past) * (exp (B - loss past) * M))
      by (replace B with (loss past + (B - loss past)) at 2 by ring; rewrite exp_plus; ring).
    assert (He := exp_pos (B - loss past)); assert (0 <= exp (B - loss past) * M) by (apply Rmult_le_pos;
      lra).
    apply Rle_trans with (discrete_laplace (scale past) (j - c past) * (exp (B - loss past) * M)).
    + apply Rmult_le_compat_l; [apply Rlt_le, Hp | exact H].
    + apply Rmult_le_compat_r; [assumption | exact Hr].
Qed.

Lemma transcripts_on_grid : forall k epsilon,
  (forall ts, length ts = k -> sum_over (seq 0 k) (fun i => loss (firstn i ts)) <= epsilon) ->
  close epsilon 0 (transcript_mass noise c k []) (transcript_mass noise c' k []).
Proof.
  intros k epsilon H; apply close_of_ratio; intros zs; apply transcript_ratio.
  apply (sums_from_the_start loss loses_on_grid); [intros past B HB; exact HB | | exact H].
  intros m past B HB; exact HB.
Qed.
End Laplace.

Theorem repaired_discrete_laplace : forall parts epsilon (scale : list Z -> R) (c c' : list Z -> Z),
  Qle_bool (all_losses parts) epsilon = true -> (forall past, 0 < scale past) ->
  (forall ts, length ts = all_numbers parts -> losses_within (fun i =>
    Rabs (IZR (c (firstn i ts)) - IZR (c' (firstn i ts))) / scale (firstn i ts)) 0 parts) ->
  close (Q2R epsilon) 0
    (transcript_mass (fun past => discrete_laplace (scale past)) c (all_numbers parts) [])
    (transcript_mass (fun past => discrete_laplace (scale past)) c' (all_numbers parts) []).
Proof.
  intros parts epsilon scale c c' H Hscale Hlosses; apply Qle_bool_R in H.
  apply (transcripts_on_grid scale Hscale c c'); intros ts Hts.
  eapply Rle_trans; [apply (losses_add_up parts), Hlosses, Hts | exact H].
Qed.

Theorem repaired_discrete_laplace_file : forall parts epsilon (c c' : list Z -> Z),
  Qle_bool (all_losses parts) epsilon = true -> file_within false parts = true ->
  (forall ts, length ts = all_numbers parts -> changes_within Rabs
    (fun i => IZR (c (firstn i ts)) - IZR (c' (firstn i ts))) 0 parts) ->
  close (Q2R epsilon) 0
    (transcript_mass (fun past => discrete_laplace (value_at stated_scale parts (length past))) c
      (all_numbers parts) [])
    (transcript_mass (fun past => discrete_laplace (value_at stated_scale parts (length past))) c'
      (all_numbers parts) []).
Proof.
  intros parts epsilon c c' H Hfile Hchanges; assert (Hpos := Hfile); apply andb_prop in Hpos.
  destruct Hpos as [Hpos _].
  apply (repaired_discrete_laplace parts epsilon (fun past => value_at stated_scale parts (length past)) c
    c' H).
  - intros past; apply value_at_pos, Hpos.
  - intros ts Hts; apply (losses_of_changes false Rabs Rinv parts
      (fun i => IZR (c (firstn i ts)) - IZR (c' (firstn i ts)))
      (fun i => value_at stated_scale parts (length (firstn i ts))) 0 plain_rate Hfile).
    + intros i Hi; rewrite firstn_length_le by lia; reflexivity.
    + apply Hchanges, Hts.
Qed.

(** ** Discrete Gaussian noise *)

Lemma transcript_close : forall (noise noise' : list Z -> Z -> R) epsilon delta (c : list Z -> Z),
  (forall past, countable_law (noise past)) -> (forall past, countable_law (noise' past)) ->
  forall k past, (forall past' v, (length past <= length past' < length past + k)%nat ->
    close (epsilon (length past')) (delta (length past'))
      (fun j => noise past' (j - v)%Z) (fun j => noise' past' (j - v)%Z)) ->
  close (sum_over (seq (length past) k) epsilon) (sum_over (seq (length past) k) delta)
    (transcript_mass noise c k past) (transcript_mass noise' c k past).
Proof.
  intros noise noise' epsilon delta c Hp Hq; induction k as [| k IH]; intros past H.
  - apply close_of_ratio; intros zs; cbn; rewrite exp_0; lra.
  - cbn [seq]; rewrite !sum_cons; cbn [transcript_mass].
    refine (adaptive_composition _ _ _ _ _ _ (fun j => noise past (j - c past)%Z)
      (fun j => noise' past (j - c past)%Z) (fun j => transcript_mass noise c k (past ++ [j]))
      (fun j => transcript_mass noise' c k (past ++ [j])) _ _ _ _ (H past (c past) ltac:(lia)) _).
    + apply shifted_law, Hp.
    + apply shifted_law, Hq.
    + intros j; apply transcript_law, Hp.
    + intros j; apply transcript_law, Hq.
    + intros j; assert (Hj := IH (past ++ [j])); rewrite app_length, Nat.add_1_r in Hj; apply Hj.
      intros past' v Hi; apply H; lia.
Qed.

Section Rounded.
Variable scale : list Z -> R.
Hypothesis scale_pos : forall past, 0 < scale past.
Variables c c' : list Z -> Z.

Let centre past := IZR (c past).
Let centre' past := IZR (c' past).
Let shift past := (centre past - centre' past) / scale past.
Let rounded past := rounded_gaussian (scale past) 0.

Fixpoint shifts_within (k : nat) (past : list Z) (B : R) : Prop :=
  match k with O => 0 <= B | S k' => forall j, shifts_within k' (past ++ [j]) (B - shift past ^ 2) end.

Lemma shifts_nonneg : forall k past B, shifts_within k past B -> 0 <= B.
Proof.
  induction k as [| k IH]; intros past B H; cbn [shifts_within] in H; [exact H |].
  generalize (IH _ _ (H 0%Z)) (pow2_ge_0 (shift past)); lra.
Qed.

Lemma rounded_transcripts : forall nu0, 0 < nu0 -> forall k past B epsilon (L : list (integers k)),
  shifts_within k past B -> NoDup L ->
  let nu := sqrt (nu0 ^ 2 + B) in
  sum_over L (transcript_mass rounded c k past) <= exp epsilon * sum_over L (transcript_mass rounded c' k
    past) +
    (normal_tail (epsilon / nu - nu / 2) - exp epsilon * normal_tail (epsilon / nu + nu / 2)).
Proof.
  intros nu0 Hnu0; induction k as [| k IH]; intros past B epsilon L HB HL nu; unfold nu;
    rewrite <- profile_as_tails.
  - apply adaptive_base; [apply sqrt_lt_R0; cbn in HB; nra |]; split.
    + apply sum_nonneg; intros; cbn; lra.
    + exact (law_sum _ L (product_law (A := False) [] (fun a _ => 1) (fun a => False_ind _ a)) HL).
  - set (B' := B - shift past ^ 2).
    assert (HB' : 0 <= B') by (apply (shifts_nonneg k (past ++ [0%Z])), HB).
    set (nu' := sqrt (nu0 ^ 2 + B')); assert (Hnu' : 0 < nu') by (apply sqrt_lt_R0; nra).
    replace (sqrt (nu0 ^ 2 + B)) with (sqrt (nu' ^ 2 + shift past ^ 2))
      by (unfold nu'; rewrite pow2_sqrt by nra; f_equal; unfold B'; ring).
    destruct (gathered L HL) as [G [HG [Hsum Hin]]].
    set (p := fun j => rounded_gaussian (scale past) (centre past) j).
    set (q := fun j => rounded_gaussian (scale past) (centre' past) j).
    set (P := fun j => transcript_mass rounded c k (past ++ [j])).
    set (Q := fun j => transcript_mass rounded c' k (past ++ [j])).
    assert (Ep : forall zs, transcript_mass rounded c (S k) past zs = joint p P zs).
    { intros zs; unfold joint, p, P, centre; rewrite (rounded_shift _ (scale_pos past)); reflexivity. }
    assert (Eq : forall zs, transcript_mass rounded c' (S k) past zs = joint q Q zs).
    { intros zs; unfold joint, q, Q, centre'; rewrite (rounded_shift _ (scale_pos past)); reflexivity. }
    rewrite (sum_ext L _ _ (fun zs _ => Ep zs)), (sum_ext L _ _ (fun zs _ => Eq zs)); clear Ep Eq.
    rewrite !Hsum, !sum_joint; clear Hsum.
    set (W := fun j => RInt (owed scale c c' nu' epsilon past) (IZR j - 1 / 2) (IZR j + 1 / 2)).
    apply Rle_trans with (sum_over G (fun g =>
      exp epsilon * (q (fst g) * sum_over (snd g) (Q (fst g))) + W (fst g))).
    + apply sum_le; intros g Hg.
      apply (one_cell scale c c' scale_pos nu' epsilon past (fst g) (sum_over (snd g) (P (fst g)))
        (sum_over (snd g) (Q (fst g))) Hnu').
      intros rest; assert (H := IH (past ++ [fst g]) B' rest (snd g) (HB (fst g)) (proj1 (Hin g Hg))).
      cbv zeta in H; rewrite <- profile_as_tails in H; exact H.
    + rewrite sum_plus, sum_scal; apply Rplus_le_compat_l; rewrite (sum_fst W).
      exact (all_cells scale c c' scale_pos nu' epsilon past (map fst G) Hnu' HG).
Qed.

Lemma rounded_private : forall k mu epsilon, 0 < mu ->
  (forall ts, length ts = k -> sum_over (seq 0 k) (fun i => shift (firstn i ts) ^ 2) <= mu ^ 2) ->
  close epsilon (normal_tail (epsilon / mu - mu / 2) - exp epsilon * normal_tail (epsilon / mu + mu / 2))
    (transcript_mass rounded c k []) (transcript_mass rounded c' k []).
Proof.
  intros k mu epsilon Hmu Hspent; rewrite <- profile_as_tails; apply close_of_finite; intros L HL.
  assert (HB : shifts_within k [] (mu ^ 2)).
  { apply (sums_from_the_start (fun past => shift past ^ 2) shifts_within);
      [intros past B HB; exact HB | intros m past B HB; exact HB | exact Hspent]. }
  assert (H := profile_from_above (sum_over L (transcript_mass rounded c k []) -
    exp epsilon * sum_over L (transcript_mass rounded c' k [])) mu epsilon Hmu).
  enough (sum_over L (transcript_mass rounded c k []) - exp epsilon *
    sum_over L (transcript_mass rounded c' k []) <= profile mu epsilon / (2 * kappa)) by lra.
  apply H; intros nu Hnu; assert (Hgap : 0 < nu ^ 2 - mu ^ 2) by nra.
  assert (Hind := rounded_transcripts (sqrt (nu ^ 2 - mu ^ 2)) (sqrt_lt_R0 _ Hgap) k [] (mu ^ 2) epsilon
    L HB HL);
    cbv zeta in Hind; rewrite <- profile_as_tails in Hind.
  rewrite pow2_sqrt in Hind by lra.
  replace (sqrt (nu ^ 2 - mu ^ 2 + mu ^ 2)) with nu in Hind
    by (replace (nu ^ 2 - mu ^ 2 + mu ^ 2) with (nu ^ 2) by ring; symmetry; apply sqrt_pow2; lra).
  lra.
Qed.

(** Discrete noise is close to rounded noise, number by number. *)
Variables (k : nat) (T : R) (least : nat -> R).
Hypothesis T_large : 1 <= T.
Hypothesis least_large : forall i, (i < k)%nat -> 2 * (T + 1) <= least i.
Hypothesis least_below : forall past, (length past < k)%nat -> least (length past) <= scale past.

Let discrete past := discrete_gaussian (scale past).
Let gap i := (T + 1) / (2 * least i).

Lemma gap_of_scale : forall past, (length past < k)%nat ->
  2 * (T + 1) <= scale past /\ (T + 1) / (2 * scale past) <= gap (length past).
Proof.
  intros past Hpast; assert (H1 := least_large _ Hpast); assert (H2 := least_below past Hpast).
  split; [lra |]; apply Rmult_le_compat_l; [lra | apply Rinv_le_contravar; lra].
Qed.

Lemma discrete_law : forall past, countable_law (discrete past).
Proof. intros past; exact (discrete_gaussian_law_0 (scale past) (scale_pos past)). Qed.

Lemma rounded_law : forall past, countable_law (rounded past).
Proof. intros past; exact (rounded_law_0 (scale past) (scale_pos past)). Qed.

Lemma close_to_shifted : forall past v epsilon delta (p : Z -> R), (forall j, 0 <= p j) ->
  (close epsilon delta p (rounded_gaussian (scale past) (IZR v)) ->
    close epsilon delta p (fun j => rounded past (j - v)%Z)) /\
  (close epsilon delta (rounded_gaussian (scale past) (IZR v)) p ->
    close epsilon delta (fun j => rounded past (j - v)%Z) p).
Proof.
  intros past v epsilon delta p Hp; assert (Hr := rounded_nonneg (scale past) (scale_pos past)).
  assert (E : forall l, sum_over l (fun j => rounded past (j - v)%Z) =
    sum_over l (rounded_gaussian (scale past) (IZR v)))
    by (intros l; apply sum_ext; intros j _; symmetry; apply rounded_shift, scale_pos).
  split; intros H; apply close_of_finite; intros l Hl; rewrite E; apply finite_of_close;
    try assumption; apply Hr.
Qed.

Lemma one_discrete_number : forall past v, (length past < k)%nat ->
  close (gap (length past)) 0 (fun j => discrete past (j - v)%Z) (fun j => rounded past (j - v)%Z) /\
  close (gap (length past)) (4 * exp (- (T ^ 2 / 2))) (fun j => rounded past (j - v)%Z)
    (fun j => discrete past (j - v)%Z).
Proof.
  intros past v Hpast; destruct (gap_of_scale past Hpast) as [Hlarge Hgap].
  assert (Hd := law_nonneg _ (shifted_law _ v (discrete_law past))).
  split; (eapply close_weaker; [exact Hgap | apply Rle_refl |]); apply close_to_shifted; try exact Hd.
  - apply discrete_close_to_rounded; assumption.
  - apply rounded_close_to_discrete; assumption.
Qed.

Lemma discrete_private : forall mu epsilon, 0 < mu ->
  (forall ts, length ts = k -> sum_over (seq 0 k) (fun i => shift (firstn i ts) ^ 2) <= mu ^ 2) ->
  let total := sum_over (seq 0 k) gap in
  close (epsilon + 2 * total)
    (exp total * (normal_tail (epsilon / mu - mu / 2) - exp epsilon * normal_tail (epsilon / mu + mu / 2)) +
      (1 + exp (epsilon + total)) * (4 * INR k * exp (- (T ^ 2 / 2))))
    (transcript_mass discrete c k []) (transcript_mass discrete c' k []).
Proof.
  intros mu epsilon Hmu Hspent total.
  assert (H1 := transcript_close discrete rounded gap (fun _ => 0) c discrete_law rounded_law k []).
  assert (H3 := transcript_close rounded discrete gap (fun _ => 4 * exp (- (T ^ 2 / 2))) c' rounded_law
    discrete_law k []).
  specialize (H1 (fun past v Hi => proj1 (one_discrete_number past v (proj2 Hi)))).
  specialize (H3 (fun past v Hi => proj2 (one_discrete_number past v (proj2 Hi)))).
  cbn [length] in H1, H3; fold total in H1, H3; assert (H2 := rounded_private k mu epsilon Hmu Hspent).
  rewrite sum_const, seq_length, Rmult_0_r in H1; rewrite sum_const, seq_length in H3.
  assert (LX := transcript_law discrete discrete_law c k []).
  assert (LX' := transcript_law discrete discrete_law c' k []).
  assert (LG := transcript_law rounded rounded_law c k []).
  assert (LG' := transcript_law rounded rounded_law c' k []).
  assert (H23 := close_trans _ _ _ _ _ _ _ _ LG LG' LX' H2 H3).
  assert (H := close_trans _ _ _ _ _ _ _ _ LX LG LX' H1 H23).
  replace (total + (epsilon + total)) with (epsilon + 2 * total) in H by ring.
  eapply close_weaker; [apply Rle_refl | | exact H]; rewrite exp_plus.
  assert (0 <= 4 * INR k * exp (- (T ^ 2 / 2))).
  { apply Rmult_le_pos; [generalize (pos_INR k); lra | left; apply exp_pos]. }
  lra.
Qed.
End Rounded.

(** *** By rational arithmetic *)

(** In the exponent: how far discrete noise is from rounded noise, on [reach] scales around each centre. *)
Fixpoint all_gaps (reach : Q) (l : list stated_release) : Q :=
  match l with
  | [] => 0%Q
  | r :: l' => (inject_Z (Z.of_nat (stated_numbers r)) * ((reach + 1) / (2 * stated_least r)) + all_gaps
    reach l')%Q
  end.

Definition all_wide (reach : Q) (l : list stated_release) : bool :=
  forallb (fun r => Qle_bool (2 * (reach + 1)) (stated_least r)) l.

Definition grid_parts_suffice (steps : nat) (bits : positive) (l : list stated_release) (reach mu epsilon
  delta : Q)
    : bool :=
  let gap := Qred (all_gaps reach l) in
  all_positive stated_least l && all_wide reach l && Qle_bool 1 reach && Qle_bool (all_losses l) (mu * mu) &&
  grid_delta_at_most steps bits (all_numbers l) gap (epsilon - 2 * gap) mu reach delta.

Lemma least_wide : forall reach l i, all_wide reach l = true -> (i < all_numbers l)%nat ->
  2 * (Q2R reach + 1) <= value_at stated_least l i.
Proof.
  intros reach; induction l as [| r l IH]; intros i H Hi; cbn [all_numbers] in Hi; [lia |].
  cbn [all_wide forallb] in H; apply andb_prop in H; destruct H as [H1 H2].
  cbn [value_at]; destruct (Nat.ltb_spec i (stated_numbers r)).
  - apply Qle_bool_R in H1; rewrite Q2R_mult, Q2R_plus, RMicromega.Q2R_1, (Q2R_literal 2) in H1; exact H1.
  - apply IH; [exact H2 | lia].
Qed.

Lemma gap_of_scales : forall reach l start s, all_positive stated_least l = true ->
  (forall i, (i < all_numbers l)%nat -> s (start + i)%nat = value_at stated_least l i) ->
  sum_over (seq start (all_numbers l)) (fun i => (Q2R reach + 1) / (2 * s i)) = Q2R (all_gaps reach l).
Proof.
  intros reach; induction l as [| r l IH]; intros start s Hpos Hs; cbn [all_numbers all_gaps].
  - cbn; rewrite RMicromega.Q2R_0; reflexivity.
  - cbn [all_positive forallb] in Hpos; apply andb_prop in Hpos; destruct Hpos as [H1 H2].
    apply Q_positive in H1; rewrite seq_app, sum_app, Q2R_plus; f_equal.
    + assert (H3 : 0 < Q2R (2 * stated_least r)) by (rewrite Q2R_mult, (Q2R_literal 2); lra).
      rewrite (sum_ext _ _ (fun _ => (Q2R reach + 1) / (2 * Q2R (stated_least r)))).
      * rewrite sum_const, seq_length, Q2R_mult, Q2R_div, Q2R_mult, Q2R_plus by exact H3.
        rewrite Q2R_of_nat, RMicromega.Q2R_1, (Q2R_literal 2); reflexivity.
      * intros i Hi; apply in_seq in Hi; replace i with (start + (i - start))%nat at 1 by lia.
        rewrite Hs by (cbn [all_numbers]; lia); rewrite value_in_part by lia; reflexivity.
    + apply IH; [exact H2 |].
      intros i Hi; rewrite <- Nat.add_assoc, Hs by (cbn [all_numbers]; lia); apply value_after_part.
Qed.

Theorem repaired_discrete_gaussian : forall steps bits parts reach mu epsilon delta (scale : list Z -> R)
    (c c' : list Z -> Z),
  grid_parts_suffice steps bits parts reach mu epsilon delta = true ->
  (forall past, 0 < scale past) ->
  (forall past, (length past < all_numbers parts)%nat ->
    value_at stated_least parts (length past) <= scale past) ->
  (forall ts, length ts = all_numbers parts -> losses_within (fun i =>
    ((IZR (c (firstn i ts)) - IZR (c' (firstn i ts))) / scale (firstn i ts)) ^ 2) 0 parts) ->
  close (Q2R epsilon) (Q2R delta)
    (transcript_mass (fun past => discrete_gaussian (scale past)) c (all_numbers parts) [])
    (transcript_mass (fun past => discrete_gaussian (scale past)) c' (all_numbers parts) []).
Proof.
  intros steps bits parts reach mu epsilon delta scale c c' H Hscale Hleast Hlosses.
  unfold grid_parts_suffice in H; cbv zeta in H; rewrite !andb_true_iff in H.
  destruct H as [[[[Hpos Hwide] Hreach] Hsum] H]; apply grid_delta_at_most_correct in H.
  destruct H as [Hmu H]; apply Qle_bool_R in Hreach, Hsum; rewrite RMicromega.Q2R_1 in Hreach.
  rewrite Q2R_minus, Q2R_mult, (Q2R_literal 2), (Qeq_eqR _ _ (Qred_correct _)) in H.
  assert (Hgap := gap_of_scales reach parts 0 (value_at stated_least parts) Hpos (fun i _ => eq_refl)).
  set (gap := Q2R (all_gaps reach parts)) in *.
  assert (P := discrete_private scale Hscale c c' (all_numbers parts) (Q2R reach) (value_at stated_least
    parts)
    Hreach (fun i => least_wide reach parts i Hwide) Hleast (Q2R mu) (Q2R epsilon - 2 * gap) Hmu).
  cbv zeta in P; rewrite Hgap in P.
  replace (Q2R epsilon - 2 * gap + 2 * gap) with (Q2R epsilon) in P by ring.
  eapply close_weaker; [apply Rle_refl | exact H | apply P].
  intros ts Hts; eapply Rle_trans; [apply (losses_add_up parts), Hlosses, Hts |].
  rewrite Q2R_mult in Hsum; simpl; lra.
Qed.

Definition least_is_scale (l : list stated_release) : bool :=
  forallb (fun r => Qle_bool (stated_least r) (stated_scale r)) l.

Lemma least_le_scale : forall l i, least_is_scale l = true ->
  value_at stated_least l i <= value_at stated_scale l i.
Proof.
  induction l as [| r l IH]; intros i H; cbn [value_at]; [lra |].
  cbn [least_is_scale forallb] in H; apply andb_prop in H; destruct H as [H1 H2].
  destruct (i <? stated_numbers r)%nat; [apply Qle_bool_R, H1 | apply IH, H2].
Qed.

Theorem repaired_discrete_gaussian_file : forall steps bits parts reach mu epsilon delta (c c' : list Z -> Z),
  grid_parts_suffice steps bits parts reach mu epsilon delta = true -> file_within true parts = true ->
  least_is_scale parts = true ->
  (forall ts, length ts = all_numbers parts -> changes_within (fun v => v ^ 2)
    (fun i => IZR (c (firstn i ts)) - IZR (c' (firstn i ts))) 0 parts) ->
  close (Q2R epsilon) (Q2R delta)
    (transcript_mass (fun past => discrete_gaussian (value_at stated_scale parts (length past))) c
      (all_numbers parts) [])
    (transcript_mass (fun past => discrete_gaussian (value_at stated_scale parts (length past))) c'
      (all_numbers parts) []).
Proof.
  intros steps bits parts reach mu epsilon delta c c' H Hfile Hleast Hchanges.
  assert (Hpos := Hfile); apply andb_prop in Hpos; destruct Hpos as [Hpos _].
  apply (repaired_discrete_gaussian steps bits parts reach mu epsilon delta
    (fun past => value_at stated_scale parts (length past)) c c' H).
  - intros past; apply value_at_pos, Hpos.
  - intros past _; apply least_le_scale, Hleast.
  - intros ts Hts; assert (L := losses_of_changes true (fun v => v ^ 2) (fun s => (/ s) ^ 2) parts
      (fun i => IZR (c (firstn i ts)) - IZR (c' (firstn i ts)))
      (fun i => value_at stated_scale parts (length (firstn i ts))) 0 squared_rate Hfile).
    eapply losses_ext; [| apply L].
    + intros i _; cbv beta; unfold Rdiv; rewrite Rpow_mult_distr; reflexivity.
    + intros i Hi; rewrite firstn_length_le by lia; reflexivity.
    + apply Hchanges, Hts.
Qed.
