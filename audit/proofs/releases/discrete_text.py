"""Coq text of certificates of hardened noise: whole numbers one after the other, each around a released centre.

Words of this module and numbers are all that reaches a file: see :mod:`audit.proofs.releases.composed_text`.
"""

TRANSCRIPTS = r"""
(** Whole numbers one after the other: the centre of each depends on those before it. *)
Fixpoint transcript_mass (noise : nat -> Z -> R) (c : list Z -> Z) (k : nat) (past : list Z) : integers k -> R :=
  match k with
  | O => fun _ => 1
  | S k' => fun zs => noise (length past) (fst zs - c past)%Z *
      transcript_mass noise c k' (past ++ [fst zs]) (snd zs)
  end.

Lemma transcript_law : forall noise, (forall i, countable_law (noise i)) -> forall c k past,
  countable_law (transcript_mass noise c k past).
Proof.
  intros noise H c; induction k as [| k IH]; intros past.
  - exact (product_law (A := False) [] (fun a _ => 1) (fun a => False_ind _ a)).
  - exact (joint_law (fun j => noise (length past) (j - c past)%Z)
      (fun j => transcript_mass noise c k (past ++ [j]))
      (shifted_law _ _ (H (length past))) (fun j => IH (past ++ [j]))).
Qed.
"""

LAPLACE_TRANSCRIPTS = r"""
Section Laplace.
Variable scale_of : nat -> R.
Hypothesis scale_of_pos : forall i, 0 < scale_of i.

Let noise i := discrete_laplace (scale_of i).
Let noise_law : forall i, countable_law (noise i) := fun i => discrete_laplace_law _ (scale_of_pos i).

Variables (c c' : list Z -> Z).

Fixpoint loses (k : nat) (past : list Z) (B : R) : Prop :=
  match k with
  | O => 0 <= B
  | S k' => forall j, loses k' (past ++ [j]) (B - Rabs (IZR (c past) - IZR (c' past)) / scale_of (length past))
  end.

Lemma transcript_ratio : forall k past B zs, loses k past B ->
  transcript_mass noise c k past zs <= exp B * transcript_mass noise c' k past zs.
Proof.
  induction k as [| k IH]; intros past B zs HB.
  - cbn in *; assert (1 <= exp B); [| lra].
    rewrite <- exp_0; destruct (Req_dec B 0) as [-> |]; [lra | apply Rlt_le, exp_increasing; lra].
  - destruct zs as [j zs]; cbn [transcript_mass fst snd]; unfold noise at 1 3; cbn [loses] in HB.
    set (loss := Rabs (IZR (c past) - IZR (c' past)) / scale_of (length past)) in *.
    assert (H := IH (past ++ [j]) (B - loss) zs (HB j)).
    assert (Hs := scale_of_pos (length past)).
    assert (Hr := discrete_laplace_ratio (scale_of (length past)) Hs (c past) (c' past) j).
    rewrite abs_IZR, minus_IZR in Hr; fold loss in Hr.
    assert (Hp := discrete_laplace_pos (scale_of (length past)) Hs (j - c past)).
    assert (Hq := law_nonneg _ (transcript_law noise noise_law c' k (past ++ [j])) zs).
    set (M := transcript_mass noise c' k (past ++ [j]) zs) in *.
    replace (exp B * (discrete_laplace (scale_of (length past)) (j - c' past) * M))
      with (exp loss * discrete_laplace (scale_of (length past)) (j - c' past) * (exp (B - loss) * M))
      by (replace B with (loss + (B - loss)) at 2 by ring; rewrite exp_plus; ring).
    assert (He := exp_pos (B - loss)); assert (0 <= exp (B - loss) * M) by (apply Rmult_le_pos; lra).
    apply Rle_trans with (discrete_laplace (scale_of (length past)) (j - c past) * (exp (B - loss) * M)).
    + apply Rmult_le_compat_l; [apply Rlt_le, Hp | exact H].
    + apply Rmult_le_compat_r; [assumption | exact Hr].
Qed.

Lemma loses_of_transcripts : forall k past B,
  (forall ts, length ts = k -> sum_over (seq 0 (length (past ++ ts))) (fun i =>
    Rabs (IZR (c (firstn i (past ++ ts))) - IZR (c' (firstn i (past ++ ts)))) / scale_of i) <= B) ->
  loses k past (B - sum_over (seq 0 (length past)) (fun i =>
    Rabs (IZR (c (firstn i past)) - IZR (c' (firstn i past))) / scale_of i)).
Proof.
  induction k as [| k IH]; intros past B H; cbn [loses].
  - specialize (H [] eq_refl); rewrite app_nil_r in H; lra.
  - intros j; set (S := sum_over (seq 0 (length past)) _).
    replace (B - S - Rabs (IZR (c past) - IZR (c' past)) / scale_of (length past))
      with (B - sum_over (seq 0 (length (past ++ [j]))) (fun i =>
        Rabs (IZR (c (firstn i (past ++ [j]))) - IZR (c' (firstn i (past ++ [j])))) / scale_of i)).
    + apply IH; intros ts Hts; rewrite <- app_assoc; apply H; cbn; rewrite Hts; reflexivity.
    + rewrite app_length; cbn [length]; rewrite seq_app, sum_app; cbn [seq Nat.add sum_over fold_right].
      rewrite firstn_app, firstn_all, Nat.sub_diag; cbn [firstn]; rewrite app_nil_r.
      replace (sum_over (seq 0 (length past)) _) with S; [ring |]; apply sum_ext; intros i Hi.
      apply in_seq in Hi; rewrite firstn_app; replace (i - length past)%nat with O by lia; cbn [firstn].
      rewrite app_nil_r; reflexivity.
Qed.
End Laplace.
"""

LAPLACE_ON_GRID = r"""
Theorem release_is_private : forall c c' : list Z -> Z,
  (forall ts, length ts = all_numbers parts ->
    changes_within (fun i => IZR (c (firstn i ts)) - IZR (c' (firstn i ts))) 0 parts) ->
  close (Q2R epsilon) 0 (transcript_mass (fun i => discrete_laplace (scale_at parts i)) c (all_numbers parts) [])
    (transcript_mass (fun i => discrete_laplace (scale_at parts i)) c' (all_numbers parts) []).
Proof.
  intros c c' H; assert (Hpos : all_positive parts = true) by (vm_compute; reflexivity).
  assert (Hscale : forall i, 0 < scale_at parts i) by (intros i; apply scale_at_pos, Hpos).
  apply close_of_ratio; intros zs; apply (transcript_ratio _ Hscale).
  assert (L := loses_of_transcripts (scale_at parts) c c' (all_numbers parts) [] (Q2R epsilon)).
  cbn [length seq sum_over fold_right app] in L; rewrite Rminus_0_r in L; apply L.
  intros ts Hts; apply Rle_trans with (Q2R (all_spent parts)).
  - rewrite Hts; apply (spent_of_changes parts
      (fun i => IZR (c (firstn i ts)) - IZR (c' (firstn i ts))) (scale_at parts) 0 Hpos).
    + intros i _; reflexivity.
    + apply H, Hts.
  - apply Qle_Rle, Qle_bool_iff; vm_compute; reflexivity.
Qed.
"""

GAUSSIAN_TRANSCRIPTS = r"""
Lemma transcript_close : forall noise noise' epsilon delta (c : list Z -> Z),
  (forall i, countable_law (noise i)) -> (forall i, countable_law (noise' i)) ->
  forall k past, (forall i v, In i (seq (length past) k) ->
    close (epsilon i) (delta i) (fun j => noise i (j - v)%Z) (fun j => noise' i (j - v)%Z)) ->
  close (sum_over (seq (length past) k) epsilon) (sum_over (seq (length past) k) delta)
    (transcript_mass noise c k past) (transcript_mass noise' c k past).
Proof.
  intros noise noise' epsilon delta c Hp Hq; induction k as [| k IH]; intros past H.
  - apply close_of_ratio; intros zs; cbn; rewrite exp_0; lra.
  - cbn [seq]; rewrite !sum_cons; cbn [transcript_mass].
    refine (adaptive_composition _ _ _ _ _ _ (fun j => noise (length past) (j - c past)%Z)
      (fun j => noise' (length past) (j - c past)%Z) (fun j => transcript_mass noise c k (past ++ [j]))
      (fun j => transcript_mass noise' c k (past ++ [j])) _ _ _ _
      (H (length past) (c past) (or_introl eq_refl)) _).
    + apply shifted_law, Hp.
    + apply shifted_law, Hq.
    + intros j; apply transcript_law, Hp.
    + intros j; apply transcript_law, Hq.
    + intros j; assert (Hj := IH (past ++ [j])); rewrite app_length, Nat.add_1_r in Hj; apply Hj.
      intros i v Hi; apply H; right; exact Hi.
Qed.

Section Rounded.
Variable scale : nat -> R.
Hypothesis scale_pos : forall i, 0 < scale i.
Variables c c' : list Z -> Z.

Let sigma (past : list Z) := scale (length past).
Let centre past := IZR (c past).
Let centre' past := IZR (c' past).
Let sigma_pos : forall past : list Z, 0 < sigma past := fun past => scale_pos (length past).
Let shift past := (centre past - centre' past) / sigma past.
Let rounded i := rounded_gaussian (scale i) 0.

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
  sum_over L (transcript_mass rounded c k past) <= exp epsilon * sum_over L (transcript_mass rounded c' k past) +
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
    set (p := fun j => rounded_gaussian (sigma past) (centre past) j).
    set (q := fun j => rounded_gaussian (sigma past) (centre' past) j).
    set (P := fun j => transcript_mass rounded c k (past ++ [j])).
    set (Q := fun j => transcript_mass rounded c' k (past ++ [j])).
    assert (Ep : forall zs, transcript_mass rounded c (S k) past zs = joint p P zs).
    { intros zs; unfold joint, p, P, centre; rewrite (rounded_shift _ (sigma_pos past)); reflexivity. }
    assert (Eq : forall zs, transcript_mass rounded c' (S k) past zs = joint q Q zs).
    { intros zs; unfold joint, q, Q, centre'; rewrite (rounded_shift _ (sigma_pos past)); reflexivity. }
    rewrite (sum_ext L _ _ (fun zs _ => Ep zs)), (sum_ext L _ _ (fun zs _ => Eq zs)); clear Ep Eq.
    rewrite !Hsum, !sum_joint; clear Hsum.
    set (W := fun j => RInt (owed sigma c c' nu' epsilon past) (IZR j - 1 / 2) (IZR j + 1 / 2)).
    apply Rle_trans with (sum_over G (fun g =>
      exp epsilon * (q (fst g) * sum_over (snd g) (Q (fst g))) + W (fst g))).
    + apply sum_le; intros g Hg; apply (one_cell sigma c c' sigma_pos); [exact Hnu' |].
      intros rest; assert (H := IH (past ++ [fst g]) B' rest (snd g) (HB (fst g)) (proj1 (Hin g Hg))).
      cbv zeta in H; rewrite <- profile_as_tails in H; exact H.
    + rewrite sum_plus, sum_scal; apply Rplus_le_compat_l; rewrite (sum_fst W).
      exact (all_cells sigma c c' sigma_pos nu' epsilon past (map fst G) Hnu' HG).
Qed.

Lemma shifts_of_transcripts : forall k past B,
  (forall ts, length ts = k -> sum_over (seq 0 (length (past ++ ts))) (fun i =>
    ((IZR (c (firstn i (past ++ ts))) - IZR (c' (firstn i (past ++ ts)))) / scale i) ^ 2) <= B) ->
  shifts_within k past (B - sum_over (seq 0 (length past)) (fun i =>
    ((IZR (c (firstn i past)) - IZR (c' (firstn i past))) / scale i) ^ 2)).
Proof.
  induction k as [| k IH]; intros past B H; cbn [shifts_within].
  - specialize (H [] eq_refl); rewrite app_nil_r in H; lra.
  - intros j; set (S := sum_over (seq 0 (length past)) _).
    replace (B - S - shift past ^ 2)
      with (B - sum_over (seq 0 (length (past ++ [j]))) (fun i =>
        ((IZR (c (firstn i (past ++ [j]))) - IZR (c' (firstn i (past ++ [j])))) / scale i) ^ 2)).
    + apply IH; intros ts Hts; rewrite <- app_assoc; apply H; cbn; rewrite Hts; reflexivity.
    + rewrite app_length; cbn [length]; rewrite seq_app, sum_app; cbn [seq Nat.add sum_over fold_right].
      rewrite firstn_app, firstn_all, Nat.sub_diag; cbn [firstn]; rewrite app_nil_r.
      replace (sum_over (seq 0 (length past)) _) with S; [unfold shift, centre, centre', sigma; ring |].
      apply sum_ext; intros i Hi; apply in_seq in Hi; rewrite firstn_app.
      replace (i - length past)%nat with O by lia; cbn [firstn]; rewrite app_nil_r; reflexivity.
Qed.

Lemma rounded_private : forall k mu epsilon, 0 < mu ->
  (forall ts, length ts = k -> sum_over (seq 0 k) (fun i =>
    ((IZR (c (firstn i ts)) - IZR (c' (firstn i ts))) / scale i) ^ 2) <= mu ^ 2) ->
  close epsilon (normal_tail (epsilon / mu - mu / 2) - exp epsilon * normal_tail (epsilon / mu + mu / 2))
    (transcript_mass rounded c k []) (transcript_mass rounded c' k []).
Proof.
  intros k mu epsilon Hmu Hspent; rewrite <- profile_as_tails; apply close_of_finite; intros L HL.
  assert (HB := shifts_of_transcripts k [] (mu ^ 2)); cbn [length seq sum_over fold_right app] in HB.
  rewrite Rminus_0_r in HB; specialize (HB (fun ts Hts => eq_ind_r (fun m => sum_over (seq 0 m) _ <= _)
    (Hspent ts Hts) Hts)).
  assert (H := profile_from_above (sum_over L (transcript_mass rounded c k []) -
    exp epsilon * sum_over L (transcript_mass rounded c' k [])) mu epsilon Hmu).
  enough (sum_over L (transcript_mass rounded c k []) - exp epsilon *
    sum_over L (transcript_mass rounded c' k []) <= profile mu epsilon / (2 * kappa)) by lra.
  apply H; intros nu Hnu; assert (Hgap : 0 < nu ^ 2 - mu ^ 2) by nra.
  assert (Hind := rounded_transcripts (sqrt (nu ^ 2 - mu ^ 2)) (sqrt_lt_R0 _ Hgap) k [] (mu ^ 2) epsilon L HB HL);
    cbv zeta in Hind; rewrite <- profile_as_tails in Hind.
  rewrite pow2_sqrt in Hind by lra.
  replace (sqrt (nu ^ 2 - mu ^ 2 + mu ^ 2)) with nu in Hind
    by (replace (nu ^ 2 - mu ^ 2 + mu ^ 2) with (nu ^ 2) by ring; symmetry; apply sqrt_pow2; lra).
  lra.
Qed.

(** Discrete noise is close to rounded noise, number by number. *)
Lemma discrete_private : forall k mu T epsilon, 0 < mu -> 1 <= T ->
  (forall i, (i < k)%nat -> 2 * (T + 1) <= scale i) ->
  (forall ts, length ts = k -> sum_over (seq 0 k) (fun i =>
    ((IZR (c (firstn i ts)) - IZR (c' (firstn i ts))) / scale i) ^ 2) <= mu ^ 2) ->
  let gap := sum_over (seq 0 k) (fun i => (T + 1) / (2 * scale i)) in
  close (epsilon + 2 * gap)
    (exp gap * (normal_tail (epsilon / mu - mu / 2) - exp epsilon * normal_tail (epsilon / mu + mu / 2)) +
      (1 + exp (epsilon + gap)) * (4 * INR k * exp (- (T ^ 2 / 2))))
    (transcript_mass (fun i => discrete_gaussian (scale i)) c k [])
    (transcript_mass (fun i => discrete_gaussian (scale i)) c' k []).
Proof.
  intros k mu T epsilon Hmu HT Hlarge Hspent gap.
  set (noise := fun i => discrete_gaussian (scale i)).
  assert (Hd : forall i, countable_law (noise i))
    by exact (fun i => discrete_gaussian_law_0 (scale i) (scale_pos i)).
  assert (Hr : forall i, countable_law (rounded i)) by exact (fun i => rounded_law_0 (scale i) (scale_pos i)).
  assert (H1 := transcript_close noise rounded (fun i => (T + 1) / (2 * scale i)) (fun _ => 0) c Hd Hr k []).
  assert (H3 := transcript_close rounded noise (fun i => (T + 1) / (2 * scale i))
    (fun _ => 4 * exp (- (T ^ 2 / 2))) c' Hr Hd k []).
  assert (Hone : forall i v, In i (seq 0 k) -> close ((T + 1) / (2 * scale i)) 0 (fun j => noise i (j - v)%Z)
    (fun j => rounded i (j - v)%Z)).
  { intros i v Hi; apply in_seq in Hi; apply close_of_finite; intros l Hl.
    rewrite (sum_ext l (fun j => rounded i (j - v)%Z) (rounded_gaussian (scale i) (IZR v)))
      by (intros j _; symmetry; apply rounded_shift, scale_pos).
    apply finite_of_close; [| | apply discrete_close_to_rounded; [apply Hlarge; lia | exact HT] | exact Hl].
    - apply law_nonneg, shifted_law, Hd.
    - apply rounded_nonneg, scale_pos. }
  assert (Hthree : forall i v, In i (seq 0 k) -> close ((T + 1) / (2 * scale i)) (4 * exp (- (T ^ 2 / 2)))
    (fun j => rounded i (j - v)%Z) (fun j => noise i (j - v)%Z)).
  { intros i v Hi; apply in_seq in Hi; apply close_of_finite; intros l Hl.
    rewrite (sum_ext l (fun j => rounded i (j - v)%Z) (rounded_gaussian (scale i) (IZR v)))
      by (intros j _; symmetry; apply rounded_shift, scale_pos).
    apply finite_of_close; [| | apply rounded_close_to_discrete; [apply Hlarge; lia | exact HT] | exact Hl].
    - apply rounded_nonneg, scale_pos.
    - apply law_nonneg, shifted_law, Hd. }
  specialize (H1 Hone); specialize (H3 Hthree); cbn [length] in H1, H3; fold gap in H1, H3.
  assert (H2 := rounded_private k mu epsilon Hmu Hspent).
  rewrite sum_const, seq_length, Rmult_0_r in H1; rewrite sum_const, seq_length in H3.
  assert (LX := transcript_law noise Hd c k []); assert (LX' := transcript_law noise Hd c' k []).
  assert (LG := transcript_law rounded Hr c k []); assert (LG' := transcript_law rounded Hr c' k []).
  assert (H23 := close_trans _ _ _ _ _ _ _ _ LG LG' LX' H2 H3).
  assert (H := close_trans _ _ _ _ _ _ _ _ LX LG LX' H1 H23).
  intros event P Q HP HQ; eapply Rle_trans; [exact (H event P Q HP HQ) |].
  replace (gap + (epsilon + gap)) with (epsilon + 2 * gap) by ring.
  apply Rplus_le_compat_l; rewrite exp_plus.
  assert (0 <= 4 * INR k * exp (- (T ^ 2 / 2))).
  { apply Rmult_le_pos; [generalize (pos_INR k); lra | left; apply exp_pos]. }
  lra.
Qed.
End Rounded.
"""

GAPS = r"""
Fixpoint all_gaps (l : list part) : Q :=
  match l with
  | [] => 0%Q
  | r :: l' => (inject_Z (Z.of_nat (part_numbers r)) * ((reach + 1) / (2 * part_scale r)) + all_gaps l')%Q
  end.

(** In the exponent: how far discrete noise is from rounded noise, on [reach] scales around the centre. *)
Definition gap : R := Q2R (all_gaps parts).

(** What is rest of epsilon. *)
Definition rest : R := Q2R epsilon - 2 * gap.
"""

GAUSSIAN_ON_GRID = r"""
Fixpoint all_large (l : list part) : bool :=
  match l with [] => true | r :: l' => Qle_bool (2 * (reach + 1)) (part_scale r) && all_large l' end.

Lemma Q2R_whole : forall k, Q2R (inject_Z k) = IZR k.
Proof. intros k; unfold Q2R; cbn; field. Qed.

Lemma Q2R_one : Q2R 1 = 1.
Proof. exact (Q2R_whole 1). Qed.

Lemma Q2R_two : Q2R 2 = 2.
Proof. exact (Q2R_whole 2). Qed.

Lemma scale_at_large : forall l i, all_large l = true -> (i < all_numbers l)%nat ->
  2 * (Q2R reach + 1) <= scale_at l i.
Proof.
  induction l as [| r l IH]; intros i H Hi; cbn [scale_at all_large all_numbers] in *; [lia |].
  apply andb_prop in H; destruct H as [H1 H2]; destruct (Nat.ltb_spec i (part_numbers r)).
  - apply Qle_bool_iff, Qle_Rle in H1; rewrite Q2R_mult, Q2R_plus, Q2R_one, Q2R_two in H1; exact H1.
  - apply IH; [exact H2 | lia].
Qed.

Lemma gap_of_scales : forall l start s, all_positive l = true ->
  (forall i, (i < all_numbers l)%nat -> s (start + i)%nat = scale_at l i) ->
  sum_over (seq start (all_numbers l)) (fun i => (Q2R reach + 1) / (2 * s i)) = Q2R (all_gaps l).
Proof.
  induction l as [| r l IH]; intros start s Hpos Hs; cbn [all_numbers all_gaps].
  - cbn; rewrite RMicromega.Q2R_0; reflexivity.
  - cbn [all_positive] in Hpos; apply andb_prop in Hpos; destruct Hpos as [H1 H2].
    assert (Hr := scale_positive _ H1); rewrite seq_app, sum_app, Q2R_plus; f_equal.
    + rewrite (sum_ext _ _ (fun _ => (Q2R reach + 1) / (2 * Q2R (part_scale r)))).
      * rewrite sum_const, seq_length; unfold Qdiv; rewrite Q2R_mult, Q2R_mult, Q2R_inv, Q2R_mult, Q2R_plus.
        -- rewrite Q2R_whole, Q2R_one, Q2R_two, <- INR_IZR_INZ; unfold Rdiv; ring.
        -- intros E; apply Qeq_eqR in E; rewrite Q2R_mult, RMicromega.Q2R_0, Q2R_two in E; lra.
      * intros i Hi; apply in_seq in Hi; replace i with (start + (i - start))%nat by lia.
        rewrite Hs by (cbn [all_numbers]; lia); cbn [scale_at]; replace (i - start <? part_numbers r)%nat with true
          by (symmetry; apply Nat.ltb_lt; lia).
        reflexivity.
    + apply IH; [exact H2 |].
      intros i Hi; rewrite <- Nat.add_assoc, Hs by (cbn [all_numbers]; lia); cbn [scale_at].
      replace (part_numbers r + i <? part_numbers r)%nat with false by (symmetry; apply Nat.ltb_ge; lia).
      f_equal; lia.
Qed.

Theorem release_is_private : forall c c' : list Z -> Z,
  (forall ts, length ts = all_numbers parts ->
    changes_within (fun i => IZR (c (firstn i ts)) - IZR (c' (firstn i ts))) 0 parts) ->
  close (Q2R epsilon)
    (exp gap * (normal_tail (rest / Q2R mu - Q2R mu / 2) - exp rest * normal_tail (rest / Q2R mu + Q2R mu / 2)) +
      (1 + exp (rest + gap)) * (4 * INR (all_numbers parts) * exp (- (Q2R reach ^ 2 / 2))))
    (transcript_mass (fun i => discrete_gaussian (scale_at parts i)) c (all_numbers parts) [])
    (transcript_mass (fun i => discrete_gaussian (scale_at parts i)) c' (all_numbers parts) []).
Proof.
  intros c c' H; assert (Hpos : all_positive parts = true) by (vm_compute; reflexivity).
  assert (Hlarge : all_large parts = true) by (vm_compute; reflexivity).
  assert (Hscale : forall i, 0 < scale_at parts i) by (intros i; apply scale_at_pos, Hpos).
  assert (Htail : 1 <= Q2R reach) by (rewrite <- Q2R_one; apply Qle_Rle, Qle_bool_iff; vm_compute; reflexivity).
  assert (Hmu : 0 < Q2R mu) by (apply scale_positive; vm_compute; reflexivity).
  assert (Hgap := gap_of_scales parts 0 (scale_at parts) Hpos (fun i _ => eq_refl)); fold gap in Hgap.
  assert (P := discrete_private (scale_at parts) Hscale c c' (all_numbers parts) (Q2R mu) (Q2R reach) rest Hmu
    Htail (fun i => scale_at_large parts i Hlarge)).
  cbv zeta in P; rewrite Hgap in P; replace (rest + 2 * gap) with (Q2R epsilon) in P by (unfold rest; ring).
  apply P; intros ts Hts; apply Rle_trans with (Q2R (all_spent parts)).
  - apply (spent_of_changes parts (fun i => IZR (c (firstn i ts)) - IZR (c' (firstn i ts))) (scale_at parts) 0
      Hpos).
    + intros i _; reflexivity.
    + apply H, Hts.
  - replace (Q2R mu ^ 2) with (Q2R (mu * mu)) by (rewrite Q2R_mult; ring).
    apply Qle_Rle, Qle_bool_iff; vm_compute; reflexivity.
Qed.
"""
