"""Wrong constants, each of which makes a theorem false: its own proof must then fail.

A mutant is one theorem in a separate file, after everything that its file has proved.  Unchanged, the same file
compiles: that is each mutant's null control.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from audit.proofs.build import ProofError, compile_file
from audit.proofs.sources import sentences

HEADER = ("From ", "Require ", "Import ", "Open Scope ")

OTHER_FAILURES = ("Syntax error", "was not found in the current environment", "Cannot find a physical path")
"""Coq's errors for a mutant that is not valid Coq, which do not count as a rejection."""


@dataclass(frozen=True)
class Mutant:
    """A theorem with a wrong constant.

    Parameters
    ----------
    file, theorem : str
        Where the constant is used.
    old, new : str
        The constant and the wrong one, throughout statement and proof.
    word : str
        A definition of ``Definitions.v``, or of the same file, that holds the constant; empty when the theorem
        itself does.
    """

    file: str
    theorem: str
    old: str
    new: str
    word: str = ""


MUTANTS = (
    Mutant("BoxSensitivity.v", "published_l1_holds", "^ 2 / 4 + INR d", "^ 2 / 8 + INR d / 2", "published_l1"),
    Mutant("BoxSensitivity.v", "published_fair_l1_holds", "3 * INR d", "2 * INR d", "published_fair_l1"),
    Mutant("BoxSensitivity.v", "published_l2_holds", "+ INR d", "+ INR d / 2", "published_l2_squared"),
    Mutant("BoxSensitivity.v", "published_fair_l2_holds", "9 * INR d", "8 * INR d", "published_fair_l2_squared"),
    Mutant("Taylor.v", "remainder_lower", "192", "200"),
    Mutant("Taylor.v", "second_derivative_0", "1 / 4", "1 / 8"),
    Mutant("Counterexamples.v", "lemma2_other_weights", "5 / 4", "3 / 2"),
    Mutant("Counterexamples.v", "drift_is_dropped", "still_D' (Linear 0) = 1", "still_D' (Linear 0) = 1 / 2"),
    Mutant("AddOne.v", "added_l1_exact", "INR d ^ 2 / 8", "INR d ^ 2 / 4"),
    Mutant("Separate.v", "covariance_vector_ball", "2 * drift_limit n ^ 2", "drift_limit n ^ 2"),
    Mutant("BallAddOne.v", "ball_l1_add_exact", "+ INR d / 8", "+ INR d / 9"),
    Mutant("RepairedLemmas.v", "counts_by_label_exact", "Rmax (2 * INR", "Rmax (INR"),
    Mutant("JointBound.v", "true_pair_rejected", "q)) <= alpha", "q)) <= alpha / 2"),
    Mutant(
        "StoufferRule.v",
        "stouffer_significance",
        "alpha * (1 - 2 * tail_share c)",
        "alpha",
        "threshold_at",
    ),
    Mutant("WeightArc.v", "combined_over_an_arc", "sqrt (x ^ 2 + y ^ 2)", "Rmax x y", "largest_combined"),
    Mutant("JointCells.v", "pairs_of_a_cell", "at_most m k low <=", "at_most m k high <=", "cell_rejected"),
    Mutant("Theorem3.v", "twice_largest_s", "2 * INR d - 1", "2 * INR d"),
    Mutant("Theorem3Exact.v", "exact_part_n", "(INR d - 1)", "(INR d - 2)"),
    Mutant(
        "Theorem3Exact.v",
        "theorem3_at_exact_sensitivity",
        "<-> epsilon_s <= epsilon_n",
        "<-> epsilon_s <= 2 * epsilon_n",
    ),
    Mutant("ExtendedGaussian.v", "theorem4_step_needs_1", "theorem4_step 1", "theorem4_step 2"),
    Mutant("Theorem5.v", "t5_published", "= 24", "= 23"),
    Mutant("GaussianExact.v", "gaussian_delta_profile", "(2 * kappa)", "kappa"),
    Mutant("GaussianExact.v", "gaussian_profile_iff", "<-> gaussian_delta nu", "<-> gaussian_delta (2 * nu)"),
    Mutant(
        "GaussianExact.v",
        "gaussian_profile_interval",
        "((c - c') / sigma) epsilon",
        "(2 * (c - c') / sigma) epsilon",
    ),
    Mutant("Theorem5Regime.v", "box_share", "(13 <= d)", "(12 <= d)"),
    Mutant("Theorem5Regime.v", "theorem5_on_the_ball", "d <> 2", "d <> 3"),
    Mutant("Theorem5Fails.v", "theorem5_fails_on_the_ball", "epsilon_n / 20", "epsilon_n / 5"),
    Mutant("Theorem5Fails.v", "theorem5_fails_on_the_box", "<= 12)", "<= 13)"),
    Mutant("Certificates.v", "linear_gain_limit", "1 / 2 <= linear_gain", "3 / 5 <= linear_gain"),
    Mutant("Certificates.v", "gain_share", "- 1 / 2 /\\", "- 3 / 5 /\\"),
    Mutant("BallCertificate.v", "ball_l2_limit", "(1 + alpha_1 r * limit", "(1 / 2 + alpha_1 r * limit"),
    Mutant("CovarianceCertificate.v", "covariance_ball_l2_limit", "+ alpha_1 r ^ 2", "+ alpha_1 r ^ 2 / 2"),
    Mutant("SigmaBound.v", "sqrt_le_square", "a <= b * b", "a <= 2 * b * b"),
    Mutant("Adaptive.v", "adaptive_gaussian_profile", "<= mu ^ 2", "<= 2 * mu ^ 2"),
    Mutant("Countable.v", "adaptive_composition", "close (epsilon1 + epsilon2)", "close (Rmax epsilon1 epsilon2)"),
    Mutant("Hardened.v", "on_steps_moves", "grid_steps g + 1", "grid_steps g + 1 / 2"),
    Mutant("Hardened.v", "hardened_pdfc_published", "INR d * INR", "INR", "l1_slack"),
    Mutant("DiscreteGaussian.v", "kappa_above", "6 / 5", "13 / 10"),
    Mutant("HardenedGaussian.v", "shift_with_a_step", "<= (m + t) ^ 2", "<= m ^ 2 + t ^ 2"),
    Mutant("ProfileEnds.v", "exp_below_cover", "2 * exp_term", "exp_term", "exp_cover"),
    Mutant("ProfileEnds.v", "density_ends_hold", "pi_lower) + 1) + 1)", "pi_lower) + 1))", "density_ends"),
    Mutant("RationalSensitivity.v", "rational_box_l1_correct", "k * k / 8", "k * k / 4", "rational_box_l1"),
    Mutant("MillsRatio.v", "mills_encloses", "Nat.even terms", "Nat.odd terms"),
    Mutant("WeightedBox.v", "rational_weighted_l1_correct", "rest)) / 8", "rest)) / 4", "rational_weighted_l1"),
    Mutant("Verdicts.v", "verdict_false_alarm", "p q event <= alpha", "p q event <= alpha / 2"),
    Mutant("SplitCertificates.v", "l1_share_limit", "r d * share d", "r d * share d * share d"),
    Mutant("SplitCertificates.v", "adfc_box_certificate", "(13 <= d)", "(12 <= d)"),
)


def text_of(folder: Path, mutant: Mutant, *, mutated: bool) -> str:
    """Return a file with the mutant's theorem and its proof, with the wrong constant or the right one.

    Raises
    ------
    LookupError
        When there is no such theorem, definition or constant.
    """
    whole = sentences((folder / mutant.file).read_text(encoding="utf-8"))
    header = [sentence for sentence in whole if sentence.startswith(HEADER)]
    header.append(f"From CFM Require Import {Path(mutant.file).stem}")
    proof = _named(whole, ("Theorem", "Lemma"), mutant.theorem)
    shadow = []
    if mutant.word:
        words = sentences((folder / "Definitions.v").read_text(encoding="utf-8"))
        shadow = _named([*words, *whole], ("Definition",), mutant.word)[:1]
    changed = shadow or proof
    if not any(mutant.old in sentence for sentence in changed):
        raise LookupError(f"{mutant.theorem}: {mutant.old} does not occur")
    if mutated:
        changed[:] = [sentence.replace(mutant.old, mutant.new) for sentence in changed]
    return "".join(f"{sentence}.\n" for sentence in [*header, *shadow, *proof])


def rejected(folder: Path, mutant: Mutant, *, mutated: bool = True) -> bool:
    """Return whether Coq rejects a mutant (or, unless mutated, its unchanged theorem) in a compiled copy."""
    name = f"Mutant_{mutant.theorem}_{'wrong' if mutated else 'right'}.v"
    (folder / name).write_text(text_of(folder, mutant, mutated=mutated), encoding="utf-8")
    try:
        compile_file(folder, name)
    except ProofError as error:
        if any(words in str(error) for words in OTHER_FAILURES):
            raise
        return True
    return False


def _named(whole: list[str], kinds: tuple[str, ...], name: str) -> list[str]:
    """Return the sentences of a theorem with its proof, or from a definition on."""
    starts = tuple(f"{kind} {name} " for kind in kinds)
    first = next((place for place, sentence in enumerate(whole) if sentence.startswith(starts)), None)
    if first is None:
        raise LookupError(f"no {' or '.join(kinds)} {name}")
    last = next(
        place for place in range(first, len(whole)) if whole[place].endswith("Qed") or kinds == ("Definition",)
    )
    return whole[first : last + 1]
