"""The Coq file of a certificate: the release's numbers, the statement, and a proof that compares numbers.

Only numbers and words of this module reach the file: no name from the release does, so none can end a comment.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from audit.proofs.constants import BASES, FAIRNESS
from audit.proofs.releases.comparison import Comparison
from audit.proofs.releases.hardened_text import (
    ABOUT,
    GRID,
    grid_definitions,
    grid_lemma,
    grid_names,
    hardened_proof,
)
from audit.proofs.releases.theorem import Covered
from audit.proofs.sigma import quotient

THEOREM = "release_is_private"
TESTS = "tests_are_private"

ADJACENCIES = {"replace_one": "ReplaceOne", "add_or_remove_one": "AddOrRemoveOne"}

HEADER = """\
(** * Certificate of a release

    Generated from a release's file by [python -m audit certify].  The definitions below repeat that file:
    the scales are exactly the floats in it.  The theorem says that noise of these scales on the coefficients has
    the stated (epsilon, delta), for data sets of every size.  [Definitions.v] and the first section of
    [Certificates.v] define the words; [Q2R (a # b)] is a / b.

    {about}
    That the file's scales are those that were used, and that the sampler, the floats and the solver do what the
    theorem assumes, is not proved here. *)
"""

DENSITY = """\
It is about real arithmetic and noise given by its density.  [release_is_private] speaks of every Borel set, for
    any two measures with these densities; [laws_are_private] says, under countable choice, that there are such
    measures, one each.  [PrivacyInLaw.v] has the words."""

SEEDED = """
(** The release is seeded: who knows the seed can remove the noise, and the theorem then protects nobody. *)
"""

MODULES = {"ball_l2_limit": " BallCertificate", "covariance_ball_l2_limit": " CovarianceCertificate"}
"""Modules of the lemmas outside ``Certificates.v``."""

EXTRA_PREMISES = {
    "l1_change_limit": "[number | lia | exact H]",
    "published_l1_limit": "[number | lia | exact H]",
    "published_l2_limit": "[number | lia | exact H]",
    "l2_change_limit": "[number | exact H]",
    "ball_l2_limit": "[number | lia | discriminate | exact H]",
    "covariance_ball_l2_limit": "[number | lia | reflexivity | exact H]",
}
"""The proof of each lemma's premises."""

SPLIT_CERTIFICATES = ("pdfc_exact_certificate", "adfc_split_certificate", "adfc_box_certificate")
"""Theorems that are in ``SplitCertificates.v``."""


EVENTS = f"""\
Lemma scales_are_positive : forall phi : monomial, 0 < {{scales}} phi.
Proof. intros phi; {{positive}}. Qed.

Theorem {THEOREM} : forall records{{events}}.
Proof.
  intros records; apply release_for_every_event; [{{which}}; reflexivity | exact scales_are_positive |].
  apply {TESTS}.
Qed.

Theorem laws_are_private : countable_choice -> forall records{{laws}}.
Proof.
  intros choice records; apply release_law; [exact choice | {{which}}; reflexivity | exact scales_are_positive |].
  apply {TESTS}.
Qed.
"""
"""From tests on boxes to all Borel sets, and to the laws."""


def certificate_text(covered: Covered) -> str:
    """Return the Coq file."""
    return "\n".join(_parts(covered))


def _parts(covered: Covered) -> Iterator[str]:
    release = covered.exported
    hardened = release.steps is not None
    yield HEADER.format(about=ABOUT if hardened else DENSITY) + (SEEDED if release.seeded else "")
    yield "From Coq Require Import Reals ZArith QArith Qreals Lra Lia."
    sigma = "" if covered.is_laplace else " SigmaBound"
    modules = MODULES.get(covered.lemma, "")
    if hardened:
        modules += " Hardened DiscreteGaussian HardenedCertificates"
    elif covered.theorem in SPLIT_CERTIFICATES:
        modules += " SplitCertificates"
    modules += "" if hardened else " OuterMeasure PrivacyInLaw"
    yield f"From CFM Require Import Definitions BoxSensitivity Certificates{sigma}{modules}."
    yield "Open Scope R_scope.\n"
    numbers = _numbers(covered)
    yield from (f"Definition {name} : Q := {quotient(value)}." for name, value in numbers.items())
    yield from grid_definitions(covered)
    basis, fairness = BASES[release.setting.basis], FAIRNESS[release.setting.fairness]
    yield f"Definition readings : reading := Reading {basis} {fairness} (Q2R weight).\n"
    yield f"Ltac number := unfold readings, {', '.join([*numbers, *grid_names(covered)])}; numbers.\n"
    yield from (_sigma_lemma(comparison) for comparison in covered.comparisons if comparison.bounds is not None)
    if covered.grid is not None:
        yield grid_lemma(covered.comparisons[0])
    kind = f"Theorem {THEOREM}" if hardened else f"Lemma {TESTS}"
    yield f"{kind} : forall records{statement(covered)}."
    yield "Proof.\n" + "\n".join(f"  {line}" for line in _proof(covered)) + "\nQed.\n"
    if not hardened:
        yield EVENTS.format(
            events=statement(covered, "release_on_borel_sets"),
            laws=statement(covered, "release_in_law"),
            which="left" if covered.is_laplace else "right",
            positive=_each_scale(covered),
            scales=_scales(covered),
        )


def statement(covered: Covered, said: str = "private_release") -> str:
    """Return the theorem's statement on data sets of ``records`` records; with a density, by a defined word."""
    release, d = covered.exported, covered.exported.setting.dimension
    kind, delta = ("laplace", "0") if covered.is_laplace else ("gaussian", "(Q2R delta)")
    adjacency = ADJACENCIES[release.setting.adjacency]
    about = f"{adjacency} (Q2R epsilon) {delta} records {d} ({release.setting.norm} {d})"
    if release.steps is None:
        return f",\n  {said} {about}\n    {kind}_density {_scales(covered)} readings"
    return (
        f" round, rounds_to_nearest round ->\n  hardened_private {about}\n"
        f"    discrete_{kind} {GRID} {_scales(covered)} readings"
    )


def _scales(covered: Covered) -> str:
    unit = "" if covered.exported.steps is None else " * Q2R steps"
    if covered.exported.spec.split_budget:
        return f"(two_scales {covered.exported.x_s} (Q2R scale_s{unit}) (Q2R scale_n{unit}))"
    return f"(fun _ => Q2R scale{unit})"


def _numbers(covered: Covered) -> dict[str, Fraction]:
    """Return the numbers of the certificate by their names in it."""
    release = covered.exported
    named = {"epsilon": covered.epsilon, "weight": release.setting.fairness_weight}
    if not covered.is_laplace:
        named["delta"] = covered.delta
    named["l1_sensitivity" if covered.is_laplace else "l2_squared"] = covered.sensitivity
    if covered.bound != covered.sensitivity:
        named["bound"] = covered.bound
    for comparison in covered.comparisons:
        part = comparison.name.removeprefix("scale")
        named[comparison.name] = comparison.scale
        named[f"epsilon{part}"] = comparison.epsilon
        if not covered.is_laplace:
            named[f"delta{part}"] = comparison.delta
    return named


def _sigma_lemma(comparison: Comparison) -> str:
    """Return the comparison of one sigma with the paper's formula, by integer arithmetic."""
    if comparison.bounds is None:
        raise ValueError(f"{comparison.name}: no bounds")
    name, part = comparison.name, comparison.name.removeprefix("scale")
    return (
        "(** The last four numbers bound the logarithm and the roots; [sigma_suffices] checks them. *)\n"
        f"Lemma {name}_suffices : sigma_suffices l2_squared epsilon{part} delta{part} {name}\n"
        f"  {comparison.bounds.arguments()} = true.\n"
        "Proof. vm_compute; reflexivity. Qed.\n"
    )


def _proof(covered: Covered) -> Iterator[str]:
    release, d = covered.exported, covered.exported.setting.dimension
    hardened = release.steps is not None
    yield "intros records round rounds." if hardened else "intros records."
    domain = release.setting.norm
    if domain == "unit_ball" and covered.lemma not in MODULES:
        yield "apply hardened_on_the_ball." if hardened else "apply certificate_on_the_ball."
        domain = "unit_box"
    adjacency = ADJACENCIES[release.setting.adjacency]
    setting = f"{adjacency} readings records {d}"
    for name in () if covered.is_laplace else [comparison.name for comparison in covered.comparisons]:
        yield (
            f"destruct (sigma_suffices_correct _ _ _ _ _ _ _ _ {name}_suffices) as "
            f"[epsilon_positive_{name} [delta_{name} sigma_{name}]]."
        )
    if hardened:
        yield from hardened_proof(covered, setting, f"({domain} {d})", _bound(covered, setting))
        return
    if covered.theorem == "pdfc_certificate":
        yield f"replace (Q2R epsilon) with (stated_epsilon {d} (Q2R epsilon_s) (Q2R epsilon_n)) by number."
        yield "apply pdfc_certificate; [number | lia | number | number | number | number]."
        return
    if covered.theorem == "pdfc_exact_certificate":
        yield f"replace (Q2R epsilon) with (stated_epsilon {d} (Q2R epsilon_s) (Q2R epsilon_n)) by number."
        yield (
            f"apply (pdfc_exact_certificate {setting} {release.x_s} (Q2R epsilon_s) (Q2R epsilon_n) "
            "(Q2R l1_sensitivity));"
        )
        yield "  [number | lia | number | number | number | number]."
        return
    bound = _bound(covered, setting)
    if covered.theorem == "laplace_certificate":
        yield f"apply (laplace_certificate {setting} ({domain} {d}) (Q2R l1_sensitivity)); [number | number | |]."
        yield bound
        yield f"- intros phi; {_each_scale(covered)}."
        return
    if covered.theorem in SPLIT_CERTIFICATES:
        yield from _theorem_5(covered, setting, f"({domain} {d})", bound)
        return
    if covered.theorem == "gaussian_certificate":
        yield (
            f"apply (gaussian_certificate {setting} ({domain} {d}) (Q2R l2_squared)); "
            "[exact epsilon_positive_scale | exact delta_scale | number | | intros phi; exact sigma_scale]."
        )
        yield bound
        return
    yield (
        f"apply (adfc_certificate {setting} {release.x_s} ({domain} {d}) (Q2R l2_squared) (Q2R epsilon) "
        "(Q2R delta_s) (Q2R delta_n));"
    )
    yield (
        "  [number | exact delta_scale_s | exact delta_scale_n | number | | exact sigma_scale_s "
        "| exact sigma_scale_n | number | number]."
    )
    yield bound


def _theorem_5(covered: Covered, setting: str, domain: str, bound: str) -> Iterator[str]:
    """Yield the proof that the statement of Theorem 5 holds for two epsilons."""
    release, d = covered.exported, covered.exported.setting.dimension
    parts = "(Q2R epsilon_s) (Q2R epsilon_n) (Q2R delta_s) (Q2R delta_n)"
    yield f"replace (Q2R epsilon) with (stated_epsilon {d} (Q2R epsilon_s) (Q2R epsilon_n)) by number."
    if covered.theorem == "adfc_box_certificate":
        yield f"apply (adfc_box_certificate readings records {d} {release.x_s} (Q2R l2_squared) {parts});"
        yield (
            "  [number | number | lia | first [discriminate | intros _; lia] | number | exact delta_scale_s "
            "| exact delta_scale_n | unfold stated_delta; number | exact sigma_scale_s | exact sigma_scale_n]."
        )
        return
    limit = "bound" if covered.bound != covered.sensitivity else "l2_squared"
    yield (
        f"apply (adfc_split_certificate {setting} {release.x_s} {domain} (Q2R l2_squared) (Q2R {limit}) {parts});"
    )
    yield (
        "  [lia | exact epsilon_positive_scale_s | exact epsilon_positive_scale_n | exact delta_scale_s "
        "| exact delta_scale_n"
    )
    yield (
        "  | unfold stated_delta; number | number | | number | number | number | exact sigma_scale_s "
        "| exact sigma_scale_n]."
    )
    yield bound


def _bound(covered: Covered, setting: str) -> str:
    """Return the proof that no neighbours are farther apart than the sensitivity."""
    without_adjacency = setting.split(" ", 1)[1] if covered.lemma in MODULES else setting
    sign = " true" if covered.lemma == "covariance_ball_l2_limit" else ""
    premises = EXTRA_PREMISES[covered.lemma]
    if covered.lemma == "l2_change_limit":
        # the largest of d + 1 numbers, compared one by one
        count = covered.exported.setting.dimension + 1 if covered.exported.setting.replaces else 1
        rest = f"apply largest_below; intros k Hk; do {count} (destruct k as [| k]; [number |]); lia"
    else:
        rest = "cbn [fairness_term readings limit_gain]; number"
    applied = f"apply ({covered.lemma} {without_adjacency}{sign} D D'); {premises}"
    return f"- intros D D' H; eapply Rle_trans; [{applied} | {rest}]."


def _each_scale(covered: Covered) -> str:
    if covered.exported.spec.split_budget:
        return f"unfold two_scales; destruct (contains {covered.exported.x_s} phi); number"
    return "number"
