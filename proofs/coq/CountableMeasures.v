(** * From an algebra of sets to the sigma-algebra that it generates

    A measure gives every set of a sigma-algebra a mass, and the masses of countably many disjoint sets add
    up. If two measures are (epsilon, delta)-close on an algebra, they are so on the sigma-algebra: each of
    its sets differs from a set of the algebra by as little mass as wanted. *)

From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Bool PeanoNat Lia Lra.
Open Scope R_scope.

Section Sets.
Context {X : Type}.
Implicit Types (S T : X -> Prop).

Definition same_set S T : Prop := forall w, S w <-> T w.
Definition outside S : X -> Prop := fun w => ~ S w.
Definition joined S T : X -> Prop := fun w => S w \/ T w.
Definition joined_all (S : nat -> X -> Prop) : X -> Prop := fun w => exists i, S i w.
Definition no_set : X -> Prop := fun _ => False.

Inductive algebra (base : (X -> Prop) -> Prop) : (X -> Prop) -> Prop :=
  | algebra_base : forall S, base S -> algebra base S
  | algebra_outside : forall S, algebra base S -> algebra base (outside S)
  | algebra_joined : forall S T, algebra base S -> algebra base T -> algebra base (joined S T).

Inductive sigma_algebra (base : (X -> Prop) -> Prop) : (X -> Prop) -> Prop :=
  | sigma_base : forall S, base S -> sigma_algebra base S
  | sigma_outside : forall S, sigma_algebra base S -> sigma_algebra base (outside S)
  | sigma_joined : forall S : nat -> X -> Prop, (forall i, sigma_algebra base (S i)) ->
    sigma_algebra base (joined_all S)
  | sigma_same : forall S T, same_set S T -> sigma_algebra base S -> sigma_algebra base T.

(** A finite measure on the sigma-algebra of a base. *)
Definition measure (base : (X -> Prop) -> Prop) (mu : (X -> Prop) -> R) : Prop :=
  (forall S, sigma_algebra base S -> 0 <= mu S) /\
  (forall S T, same_set S T -> mu S = mu T) /\
  (forall S : nat -> X -> Prop, (forall i, sigma_algebra base (S i)) ->
    (forall i j w, S i w -> S j w -> i = j) -> is_series (fun i => mu (S i)) (mu (joined_all S))).

(** ** Sets of the sigma-algebra *)

Variable base : (X -> Prop) -> Prop.
Hypothesis some_base : exists S, base S.

Let measurable := sigma_algebra base.

Lemma measurable_joined : forall S T, measurable S -> measurable T -> measurable (joined S T).
Proof.
  intros S T HS HT; apply sigma_same with (joined_all (fun i => match i with O => S | _ => T end)).
  - intros w; split; [intros [[| i] H]; [left | right]; exact H |].
    intros [H | H]; [exists 0%nat | exists 1%nat]; exact H.
  - apply sigma_joined; intros [| i]; assumption.
Qed.

Lemma measurable_both : forall S T, measurable S -> measurable T -> measurable (fun w => S w /\ T w).
Proof.
  intros S T HS HT; apply sigma_same with (outside (joined (outside S) (outside T))).
  - intros w; unfold outside, joined; tauto.
  - apply sigma_outside, measurable_joined; apply sigma_outside; assumption.
Qed.

Lemma measurable_differing : forall S T, measurable S -> measurable T -> measurable (fun w => ~ (S w <->
  T w)).
Proof.
  intros S T HS HT; apply sigma_outside.
  apply sigma_same with (joined (fun w => S w /\ T w) (fun w => outside S w /\ outside T w)).
  - intros w; unfold outside, joined; tauto.
  - apply measurable_joined; apply measurable_both; try assumption; apply sigma_outside; assumption.
Qed.

Lemma measurable_empty : measurable no_set.
Proof.
  destruct some_base as [S HS]; apply sigma_base in HS.
  apply sigma_same with (fun w => S w /\ outside S w); [intros w; unfold outside, no_set; tauto |].
  apply measurable_both; [| apply sigma_outside]; assumption.
Qed.

Lemma algebra_measurable : forall S, algebra base S -> measurable S.
Proof.
  intros S H; induction H; [apply sigma_base | apply sigma_outside | apply measurable_joined]; assumption.
Qed.

(** ** Masses *)

Section Mass.
Variable mu : (X -> Prop) -> R.
Hypothesis mu_measure : measure base mu.

Let mass_nonneg := proj1 mu_measure.
Let mass_same := proj1 (proj2 mu_measure).
Let mass_adds := proj2 (proj2 mu_measure).

Lemma mass_empty : mu no_set = 0.
Proof.
  assert (H : is_series (fun _ : nat => mu no_set) (mu (joined_all (fun _ => no_set))))
    by (apply mass_adds; [intros; apply measurable_empty | intros i j w []]).
  assert (Hlim := ex_series_lim_0 _ (ex_intro _ _ H)).
  apply is_lim_seq_unique in Hlim; rewrite Lim_seq_const in Hlim; injection Hlim as Hlim; exact Hlim.
Qed.

Lemma mass_joined : forall S T, measurable S -> measurable T -> (forall w, S w -> T w -> False) ->
  mu (joined S T) = mu S + mu T.
Proof.
  intros S T HS HT Hapart.
  set (U i := match i with O => S | 1%nat => T | _ => no_set end).
  assert (H : is_series (fun i => mu (U i)) (mu (joined_all U))).
  { apply mass_adds; [intros [| [| i]]; try assumption; apply measurable_empty |].
    intros [| [| i]] [| [| j]] w Hi Hj; try reflexivity; try contradiction; exfalso; eapply Hapart;
      eassumption. }
  rewrite (mass_same (joined S T) (joined_all U)).
  - assert (Hlim : is_lim_seq (sum_n (fun i => mu (U i))) (mu S + mu T)).
    { apply (is_lim_seq_ext_loc (fun _ => mu S + mu T)); [| apply is_lim_seq_const].
      exists 1%nat; intros [| k] Hk; [lia |]; clear Hk; induction k as [| k IH].
      - rewrite sum_Sn, sum_O; reflexivity.
      - rewrite sum_Sn, <- IH; cbn [U]; rewrite mass_empty; symmetry; apply Rplus_0_r. }
    apply is_lim_seq_unique in Hlim; assert (H' : is_lim_seq (sum_n (fun i => mu (U i)))
      (mu (joined_all U))) by exact H.
    apply is_lim_seq_unique in H'; rewrite H' in Hlim; injection Hlim as Hlim; exact Hlim.
  - intros w; split; [intros [H' | H']; [exists 0%nat | exists 1%nat]; exact H' |].
    intros [[| [| i]] H']; [left | right | contradiction]; exact H'.
Qed.

Lemma mass_split : forall S T, measurable S -> measurable T ->
  mu S = mu (fun w => S w /\ T w) + mu (fun w => S w /\ ~ T w).
Proof.
  intros S T HS HT; rewrite <- mass_joined.
  - apply mass_same; intros w; unfold joined; destruct (Classical_Prop.classic (T w)); tauto.
  - apply measurable_both; assumption.
  - apply measurable_both; [| apply sigma_outside]; assumption.
  - intros w; tauto.
Qed.

Lemma mass_larger : forall S T, measurable S -> measurable T -> (forall w, S w -> T w) -> mu S <= mu T.
Proof.
  intros S T HS HT Hsub; rewrite (mass_split T S HT HS), (mass_same (fun w => T w /\ S w) S).
  - assert (0 <= mu (fun w => T w /\ ~ S w)); [| lra].
    apply mass_nonneg, measurable_both; [| apply sigma_outside]; assumption.
  - intros w; split; [tauto | intros H; split; [apply Hsub |]; exact H].
Qed.

Lemma mass_covered : forall S T U, measurable S -> measurable T -> measurable U ->
  (forall w, S w -> T w \/ U w) -> mu S <= mu T + mu U.
Proof.
  intros S T U HS HT HU Hcover; rewrite (mass_split S T HS HT); apply Rplus_le_compat; apply mass_larger;
    try assumption.
  - apply measurable_both; assumption.
  - intros w; tauto.
  - apply measurable_both; [| apply sigma_outside]; assumption.
  - intros w [H1 H2]; destruct (Hcover w H1); [contradiction | assumption].
Qed.

(** ** Countable unions are nearly finite ones *)

Definition joined_first (S : nat -> X -> Prop) (k : nat) : X -> Prop := fun w => exists i,
  (i < k)%nat /\ S i w.

Lemma measurable_first : forall (S : nat -> X -> Prop) k, (forall i, measurable (S i)) ->
  measurable (joined_first S k).
Proof.
  intros S k HS; induction k as [| k IH].
  - apply sigma_same with no_set; [intros w; split; [contradiction | intros [i [H _]];
      lia] | apply measurable_empty].
  - apply sigma_same with (joined (joined_first S k) (S k)); [| apply measurable_joined;
      [exact IH | apply HS]].
    intros w; split; [intros [[i [Hi H]] | H]; [exists i; split; [lia | exact H] | exists k; split;
      [lia | exact H]] |].
    intros [i [Hi H]]; destruct (Nat.eq_dec i k) as [-> | Hne]; [right; exact H | left; exists i; split;
      [lia | exact H]].
Qed.

Lemma mass_nearly_finite : forall (S : nat -> X -> Prop) eta, (forall i, measurable (S i)) -> 0 < eta ->
  exists k, mu (joined_all S) - mu (joined_first S k) < eta.
Proof.
  intros S eta HS Heta; set (D i := fun w => S i w /\ ~ joined_first S i w).
  assert (HD : forall i, measurable (D i))
    by (intros i; apply measurable_both; [apply HS | apply sigma_outside, measurable_first, HS]).
  assert (Hseries : is_series (fun i => mu (D i)) (mu (joined_all D))).
  { apply mass_adds; [exact HD |]; intros i j w [Hi Hi'] [Hj Hj'].
    destruct (Nat.lt_trichotomy i j) as [Hlt | [E | Hlt]]; [| exact E |]; exfalso.
    - apply Hj'; exists i; split; assumption.
    - apply Hi'; exists j; split; assumption. }
  assert (Hall : mu (joined_all D) = mu (joined_all S)).
  { apply mass_same; intros w; split; [intros [i [H _]]; exists i; exact H |].
    intros [i Hi]; revert Hi; induction i as [i IH] using lt_wf_ind; intros Hi.
    destruct (Classical_Prop.classic (joined_first S i w)) as [[j [Hj H]] | H]; [exact (IH j Hj H)
      | exists i; split;
      assumption]. }
  assert (Hpart : forall k, sum_n (fun i => mu (D i)) k = mu (joined_first S (Datatypes.S k))).
  { induction k as [| k IH].
    - rewrite sum_O; apply mass_same; intros w; split; [intros [H _]; exists 0%nat; split; [lia | exact H] |].
      intros [i [Hi H]]; replace i with 0%nat in H by lia; split; [exact H | intros [j [Hj _]]; lia].
    - rewrite sum_Sn, IH; unfold plus; cbn; rewrite <- mass_joined.
      + apply mass_same; intros w; split.
        * intros [[i [Hi H]] | [H _]]; [exists i; split; [lia | exact H] | exists (Datatypes.S k); split;
            [lia | exact H]].
        * intros [i [Hi H]]; destruct (Classical_Prop.classic (joined_first S (Datatypes.S k) w))
            as [Hin | Hout]; [left;
            exact Hin |].
          right; split; [| exact Hout]; destruct (Nat.eq_dec i (Datatypes.S k)) as [-> | Hne]; [exact H |].
          exfalso; apply Hout; exists i; split; [lia | exact H].
      + apply measurable_first, HS.
      + apply HD.
      + intros w H [_ H']; exact (H' H). }
  rewrite Hall in Hseries; assert (Hlim : is_lim_seq (sum_n (fun i => mu (D i))) (mu (joined_all S)))
    by exact Hseries.
  apply is_lim_seq_spec in Hlim; destruct (Hlim (mkposreal eta Heta)) as [k Hk]; specialize (Hk k (le_n k)).
  assert (Hclose : Rabs (mu (joined_first S (Datatypes.S k)) - mu (joined_all S)) < eta)
    by (rewrite <- Hpart; exact Hk).
  exists (Datatypes.S k); apply Rabs_def2 in Hclose; lra.
Qed.

(** ** Every set is nearly one of the algebra *)

Definition nearly S : Prop := measurable S /\
  forall eta, 0 < eta -> exists T, algebra base T /\ mu (fun w => ~ (S w <-> T w)) <= eta.

Lemma nearly_joined : forall S T, nearly S -> nearly T -> nearly (joined S T).
Proof.
  intros S T [HS HS'] [HT HT']; split; [apply measurable_joined; assumption |]; intros eta Heta.
  destruct (HS' (eta / 2) ltac:(lra)) as [A [HA HA']]; destruct (HT' (eta / 2) ltac:(lra)) as [B [HB HB']].
  exists (joined A B); split; [apply algebra_joined; assumption |].
  assert (HAm := algebra_measurable A HA); assert (HBm := algebra_measurable B HB).
  eapply Rle_trans; [apply (mass_covered _ (fun w => ~ (S w <-> A w)) (fun w => ~ (T w <-> B w))) | lra];
    try (apply measurable_differing; try apply measurable_joined; assumption).
  intros w Hw; destruct (Classical_Prop.classic (S w <-> A w)) as [HSA | HSA]; [right | left; exact HSA].
  intros HTB; apply Hw; unfold joined; rewrite HSA, HTB; reflexivity.
Qed.

Lemma nearly_first : forall (S : nat -> X -> Prop) k, (forall i, nearly (S i)) -> (0 < k)%nat ->
  nearly (joined_first S k).
Proof.
  intros S k HS Hk; assert (Hm : forall i, measurable (S i)) by apply HS.
  assert (H : exists T, nearly T /\ same_set T (joined_first S k)).
  { destruct k as [| k]; [lia |]; clear Hk; induction k as [| k [T [HT E]]].
    - exists (S 0%nat); split; [apply HS |]; intros w; split; [intros H; exists 0%nat; split;
        [lia | exact H] |].
      intros [i [Hi H]]; replace i with 0%nat in H by lia; exact H.
    - exists (joined T (S (Datatypes.S k))); split; [apply nearly_joined; [exact HT | apply HS] |].
      intros w; unfold joined; rewrite (E w); split.
      + intros [[i [Hi H]] | H]; [exists i; split; [lia | exact H] | eexists; split; [| exact H]; lia].
      + intros [i [Hi H]]; destruct (Nat.eq_dec i (Datatypes.S k)) as [-> | Hne]; [right; exact H |].
        left; exists i; split; [lia | exact H]. }
  destruct H as [T [[_ HT] E]]; split; [apply measurable_first, Hm |]; intros eta Heta.
  destruct (HT eta Heta) as [A [HA HA']]; exists A; split; [exact HA |].
  rewrite (mass_same _ (fun w => ~ (T w <-> A w))); [exact HA' |]; intros w; rewrite (E w); reflexivity.
Qed.

Lemma all_nearly : forall S, measurable S -> nearly S.
Proof.
  intros S H; induction H as [S HS | S HS [_ IH] | S HS IH | S T E HS [_ IH]].
  - split; [apply sigma_base, HS |]; intros eta Heta; exists S; split; [apply algebra_base, HS |].
    rewrite (mass_same _ no_set), mass_empty; [lra |]; intros w; unfold no_set; tauto.
  - split; [apply sigma_outside, HS |]; intros eta Heta; destruct (IH eta Heta) as [A [HA HA']].
    exists (outside A); split; [apply algebra_outside, HA |].
    rewrite (mass_same _ (fun w => ~ (S w <-> A w))); [exact HA' |]; intros w; unfold outside.
    destruct (Classical_Prop.classic (S w)), (Classical_Prop.classic (A w)); tauto.
  - split; [apply sigma_joined, HS |]; intros eta Heta.
    destruct (mass_nearly_finite S (eta / 2) HS ltac:(lra)) as [k Hk].
    assert (Hfirst : forall k', measurable (joined_first S k')) by (intros; apply measurable_first, HS).
    assert (Hmore : mu (joined_first S k) <= mu (joined_first S (Datatypes.S k)))
      by (apply mass_larger; try apply Hfirst; intros w [i [Hi H]]; exists i; split; [lia | exact H]).
    set (F := joined_first S (Datatypes.S k)) in *.
    destruct (proj2 (nearly_first S (Datatypes.S k) IH ltac:(lia)) (eta / 2) ltac:(lra)) as [A [HA HA']];
      fold F in HA'.
    exists A; split; [exact HA |]; assert (HAm := algebra_measurable A HA).
    assert (Hunion : measurable (joined_all S)) by (apply sigma_joined, HS).
    assert (Hrest : mu (fun w => joined_all S w /\ ~ F w) <= eta / 2).
    { rewrite (mass_split (joined_all S) F Hunion (Hfirst _)), (mass_same (fun w => joined_all S w /\ F w)
        F) in Hk;
        [lra |].
      intros w; split; [tauto | intros [i [Hi H]]; split; [exists i; exact H | exists i; split;
        assumption]]. }
    eapply Rle_trans; [apply (mass_covered _ (fun w => joined_all S w /\ ~ F w) (fun w => ~ (F w <-> A w)))
      | lra].
    + apply measurable_differing; assumption.
    + apply measurable_both; [| apply sigma_outside, Hfirst]; assumption.
    + apply measurable_differing; [apply Hfirst | assumption].
    + intros w Hw; assert (F w -> joined_all S w) by (intros [i [_ H]]; exists i; exact H).
      destruct (Classical_Prop.classic (F w)), (Classical_Prop.classic (A w)),
        (Classical_Prop.classic (joined_all S w)); tauto.
  - split; [apply sigma_same with S; assumption |]; intros eta Heta; destruct (IH eta Heta) as [A [HA HA']].
    exists A; split; [exact HA |]; rewrite (mass_same _ (fun w => ~ (S w <-> A w))); [exact HA' |].
    intros w; rewrite (E w); reflexivity.
Qed.
End Mass.

(** ** Two measures *)

Lemma measure_sum : forall mu nu, measure base mu -> measure base nu -> measure base (fun S => mu S + nu S).
Proof.
  intros mu nu [H1 [H2 H3]] [H1' [H2' H3']]; split; [| split].
  - intros S HS; generalize (H1 S HS) (H1' S HS); lra.
  - intros S T E; rewrite (H2 S T E), (H2' S T E); reflexivity.
  - intros S HS Hapart; exact (is_series_plus _ _ _ _ (H3 S HS Hapart) (H3' S HS Hapart)).
Qed.

Theorem close_on_the_sigma_algebra : forall mu nu factor delta, measure base mu -> measure base nu ->
  0 <= factor ->
  (forall S, algebra base S -> mu S <= factor * nu S + delta) ->
  forall S, sigma_algebra base S -> mu S <= factor * nu S + delta.
Proof.
  intros mu nu factor delta Hmu Hnu Hfactor Hclose S HS; apply le_epsilon; intros eta Heta.
  destruct (all_nearly _ (measure_sum mu nu Hmu Hnu) S HS) as [_ Hnear].
  assert (Heta' : 0 < eta / (1 + factor)) by (apply Rdiv_lt_0_compat; lra).
  destruct (Hnear _ Heta') as [A [HA Hsmall]]; set (D := fun w => ~ (S w <-> A w)) in *.
  assert (HAm := algebra_measurable A HA); assert (HD : measurable D) by (apply measurable_differing;
    assumption).
  assert (H1 : mu S <= mu A + mu D)
    by (apply (mass_covered mu Hmu); try assumption; intros w Hw; unfold D;
      destruct (Classical_Prop.classic (A w)); tauto).
  assert (H2 : nu A <= nu S + nu D)
    by (apply (mass_covered nu Hnu); try assumption; intros w Hw; unfold D;
      destruct (Classical_Prop.classic (S w)); tauto).
  assert (H3 := Hclose A HA); assert (H4 := proj1 Hmu D HD); assert (H5 := proj1 Hnu D HD).
  assert (H6 : factor * nu A <= factor * (nu S + nu D)) by (apply Rmult_le_compat_l; assumption).
  assert (H7 : (1 + factor) * (mu D + nu D) <= eta).
  { apply Rle_trans with ((1 + factor) * (eta / (1 + factor))); [apply Rmult_le_compat_l; lra | right;
      field; lra]. }
  assert (0 <= factor * mu D) by (apply Rmult_le_pos; assumption); lra.
Qed.
End Sets.
