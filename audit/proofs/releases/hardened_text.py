"""The part of a certificate's Coq file that is about hardened noise: its grid, the statement, and the proof."""

from __future__ import annotations

from collections.abc import Iterator

from audit.proofs.releases.comparison import Comparison
from audit.proofs.releases.theorem import Covered
from audit.proofs.sigma import quotient
from reference.noise.hardened import LARGEST_STEP

ABOUT = """\
It is about whole numbers of steps and every event: exact coefficients, rounded to a nearest step and clamped
    to [largest] steps, and discrete noise given by its probabilities.  [Hardened.v] has [hardened_private]."""

GRID = "(Grid (Q2R steps) round largest)"

ON_STEPS = "cbn [grid_steps]; apply Rmult_le_compat_r; [number | unfold slack_steps; number]"
"""The proof that a Laplace scale, in steps, reaches its formula."""


def grid_definitions(covered: Covered) -> Iterator[str]:
    """Yield the numbers of the grid."""
    steps = covered.exported.steps
    if steps is None:
        return
    yield f"Definition steps : Q := {steps} # 1."
    yield f"Definition largest : Z := {LARGEST_STEP}."
    if covered.grid is not None:
        yield f"Definition coefficients : Z := {covered.grid.count}."
        yield f"Definition least : Q := {quotient(covered.grid.least)}."
        yield f"Definition reach : Q := {quotient(covered.grid.reach)}."
        yield f"Definition inverse : Q := {quotient(covered.grid.inverse)}."
        yield f"Definition ratio : Q := {quotient(covered.grid.ratio)}."


def grid_names(covered: Covered) -> list[str]:
    """Return the names of the numbers that proofs unfold."""
    if covered.exported.steps is None:
        return []
    return ["steps", *([] if covered.grid is None else ["coefficients", "least", "reach", "inverse", "ratio"])]


def grid_lemma(comparison: Comparison) -> str:
    """Return the comparison of Gaussian noise with its grid, by integer arithmetic."""
    part = comparison.name.removeprefix("scale")
    return (
        "(** Noise is compared on [reach] scales around its centre; 1 over [inverse] is at most the shift that\n"
        "    the scales allow. *)\n"
        f"Lemma grid_is_wide : grid_suffices coefficients steps epsilon delta{part} least reach inverse = true.\n"
        "Proof. vm_compute; reflexivity. Qed.\n"
    )


def hardened_proof(covered: Covered, setting: str, domain: str, bound: str) -> Iterator[str]:
    """Yield the proof, where `setting` is the theorem's adjacency, readings, records and dimension."""
    split = covered.exported.spec.split_budget
    yield f"assert (sound : sound_grid {GRID})."
    yield "{ split; [cbn [grid_steps]; number |]."
    yield "  split; [exact rounds | cbn [largest_step]; unfold largest; lia]. }"
    if covered.is_laplace:
        yield from _laplace(covered, setting, domain, bound, split=split)
        return
    d = covered.exported.setting.dimension
    yield "assert (positive : 0 < Q2R epsilon) by number."
    yield f"assert (counted : INR (length (Phi (basis readings) {d})) = IZR coefficients)"
    yield "  by (rewrite count_all; number)."
    first = covered.comparisons[0].name
    yield f"destruct (grid_suffices_correct readings {d} {GRID} _ _ _ _ _ _ _ grid_is_wide counted eq_refl"
    yield f"  positive (proj1 delta_{first})) as [above wide]."
    yield from _gaussian(covered, setting, domain, bound)


def _laplace(covered: Covered, setting: str, domain: str, bound: str, *, split: bool) -> Iterator[str]:
    x_s, epsilons = covered.exported.x_s, "(Q2R epsilon_s) (Q2R epsilon_n)"
    d = covered.exported.setting.dimension
    if covered.theorem != "hardened_laplace_certificate":
        yield f"replace (Q2R epsilon) with (stated_epsilon {d} {epsilons}) by number."
    if covered.theorem == "hardened_pdfc_certificate":
        yield (
            f"apply (hardened_pdfc_certificate {setting} {x_s} {GRID} {epsilons}); "
            "[exact sound | number | lia | number | number | |];"
        )
        yield f"  ({ON_STEPS})."
    elif covered.theorem == "hardened_pdfc_exact_certificate":
        yield f"apply (hardened_pdfc_exact_certificate {setting} {x_s} {GRID} {epsilons} (Q2R l1_sensitivity));"
        yield "  [exact sound | number | lia | number | number | |];"
        yield f"  ({ON_STEPS})."
    else:
        yield (
            f"apply (hardened_laplace_certificate {setting} {domain} {GRID} (Q2R l1_sensitivity)); "
            "[exact sound | lia | number | number | |]."
        )
        yield bound
        which = f"unfold two_scales; destruct (contains {x_s} phi); " if split else ""
        yield f"- intros phi; {which}{ON_STEPS}."


def _gaussian(covered: Covered, setting: str, domain: str, bound: str) -> Iterator[str]:
    release, grid = covered.exported, "(Q2R reach) (Q2R inverse)"
    x_s, d = release.x_s, release.setting.dimension
    deltas = "(Q2R delta_s) (Q2R delta_n) (Q2R delta)"
    scales = f"(Q2R scale_s) (Q2R scale_n) (Q2R least) {grid}"
    sigmas = "exact sigma_scale_s | exact sigma_scale_n"
    side = "right" if covered.grid is not None and covered.grid.part == "scale_n" else "left"
    if covered.theorem == "hardened_gaussian_certificate":
        yield f"apply (hardened_gaussian_certificate {setting} {domain} {GRID} (Q2R l2_squared) (Q2R epsilon)"
        yield f"  (Q2R delta) (Q2R scale) {grid}); [exact sound | exact positive | exact delta_scale | number | "
        yield "  | exact sigma_scale | exact above | number | exact wide]."
        yield bound
        return
    if covered.theorem == "hardened_adfc_certificate":
        yield f"apply (hardened_adfc_certificate {setting} {x_s} {domain} {GRID} (Q2R l2_squared)"
        yield f"  (Q2R epsilon) {deltas} {scales});"
        yield "  [exact sound | exact positive | exact delta_scale_s | exact delta_scale_n | number | number | |"
        yield f"  {sigmas} | number | number | number | number | exact above | {side}; number | exact wide]."
        yield bound
        return
    yield f"assert (stated : stated_epsilon {d} (Q2R epsilon_s) (Q2R epsilon_n) = Q2R epsilon) by number."
    yield "rewrite <- stated in wide |- *."
    rest = f"{sigmas} | number | number | exact above | number | {side}; split; number | exact wide"
    scales += " (Q2R ratio)"
    if covered.theorem == "hardened_adfc_box_certificate":
        yield (
            f"apply (hardened_adfc_box_certificate readings records {d} {x_s} {GRID} (Q2R l2_squared) "
            f"(Q2R epsilon_s) (Q2R epsilon_n)"
        )
        yield f"  {deltas} {scales});"
        yield "  [exact sound | number | number | lia | first [discriminate | intros _; lia] | number"
        yield "  | exact delta_scale_s | exact delta_scale_n | number | unfold stated_delta; number"
        yield f"  | {rest}]."
        return
    limit = "bound" if covered.bound != covered.sensitivity else "l2_squared"
    yield (
        f"apply (hardened_adfc_split_certificate {setting} {x_s} {domain} {GRID} (Q2R l2_squared) (Q2R {limit}) "
        "(Q2R epsilon_s)"
    )
    yield f"  (Q2R epsilon_n) {deltas} {scales});"
    yield "  [exact sound | lia | exact epsilon_positive_scale_s | exact epsilon_positive_scale_n"
    yield "  | exact delta_scale_s | exact delta_scale_n | number | unfold stated_delta; number | number |"
    yield f"  | number | number | number | {rest}]."
    yield bound
