(** * What each statement assumes

    Compiling this file prints, for every theorem of [Statements.v], the axioms that its proof uses.  Only the
    four of Coq's classical real numbers may appear. *)

From CFM Require Import Statements.

Print Assumptions taylor_coefficients.
Print Assumptions taylor_remainder.
Print Assumptions coefficients_of_the_objective.
Print Assumptions L1.
Print Assumptions L2.
Print Assumptions L3.
Print Assumptions L4.
Print Assumptions unit_ball_in_unit_box.
Print Assumptions published_bounds_on_the_ball.
Print Assumptions box_l1_sensitivity.
Print Assumptions box_l2_sensitivity.
Print Assumptions ball_l2_plain.
Print Assumptions ball_l2_absolute.
Print Assumptions ball_l2_covariance.
Print Assumptions ball_l1_bounds.
Print Assumptions ball_l1_add_one.
Print Assumptions ball_l2_add_one.
Print Assumptions separate_box_l1_sensitivity.
Print Assumptions separate_box_l2_sensitivity.
Print Assumptions separate_ball_l2_sensitivity.
Print Assumptions box_l1_add_one.
Print Assumptions box_l2_add_one.
Print Assumptions L2_proof_step_is_false.
Print Assumptions L2_other_weights.
Print Assumptions L2_sign_from_data.
Print Assumptions indistinguishable_covers_unions_of_boxes.
Print Assumptions post_processing_keeps_privacy.
Print Assumptions T1_density_ratio.
Print Assumptions T1.
Print Assumptions T3_accounting.
Print Assumptions T3.
Print Assumptions T3_twice_largest.
Print Assumptions T3_last_step.
Print Assumptions T3_fails_at_exact_sensitivity.
Print Assumptions T3_at_exact_sensitivity.
Print Assumptions T3_for_smaller_epsilon_s.
Print Assumptions gaussian_integral.
Print Assumptions gaussian_profile.
Print Assumptions gaussian_profile_exact.
Print Assumptions gaussian_profile_of_an_interval.
Print Assumptions T2.
Print Assumptions T4.
Print Assumptions T4_fair.
Print Assumptions T4_step_needs_1.
Print Assumptions T5_accounting.
Print Assumptions T5_exact_accounting.
Print Assumptions T5_step_is_false.
Print Assumptions T5_violated.
Print Assumptions T5_is_false.
Print Assumptions T5_where_it_holds.
Print Assumptions T5_for_smaller_epsilon_s_on_the_box.
Print Assumptions T5_for_smaller_epsilon_s_on_the_ball.
Print Assumptions T5_fails_outside.
Print Assumptions T5_fails_for_smaller_epsilon_s_on_the_ball.
Print Assumptions T5_fails_for_smaller_epsilon_s_on_the_box.
Print Assumptions composition_adds_up.
Print Assumptions binomial_is_binomial.
Print Assumptions clopper_pearson_lower.
Print Assumptions clopper_pearson_upper.
Print Assumptions joint_bound_false_alarm.
Print Assumptions privacy_on_the_ball.
Print Assumptions release_laplace.
Print Assumptions release_pdfc.
Print Assumptions release_gaussian.
Print Assumptions release_adfc.
Print Assumptions release_pdfc_exact.
Print Assumptions release_adfc_split.
Print Assumptions release_adfc_box.
Print Assumptions release_sigma.
Print Assumptions release_on_the_ball.
