"""The false steps of the proofs, each with its smallest counterexample in exact rationals."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from audit.claims.registry import Control, Finding, claim
from audit.exact import proof_steps
from audit.exact.proof_steps import Step
from reference.common.documents import plain

ABSOLUTE = ("fairness absolute", "unit_ball as stated; unit_box", "zbar is each data set's own mean")


def decided_by(*steps: Step) -> Finding:
    """Return `refuted` if every search found a counterexample, with all of them as evidence."""
    found = all(step.counterexample is not None for step in steps)
    return Finding("refuted" if found else "undecided", "none", {"searches": [step.to_json() for step in steps]})


def drift_matters(lemma: str, fairness: str) -> bool:
    """Return whether small data sets move farther than their last tuple's terms."""
    return _drift_step(lemma, "unit_ball", fairness).counterexample is not None


@cache
def _drift_step(lemma: str, domain: str, fairness: str) -> Step:
    return proof_steps.drift_step(lemma, domain, fairness)


def _drift(lemma: str) -> Finding:
    return decided_by(*(_drift_step(lemma, domain, "absolute") for domain in ("unit_ball", "unit_box")))


@claim(
    "L2.step",
    "The l1 change of the coefficients is that of the last tuple's terms.",
    "proof of Lemma 2, second line",
    readings=ABSOLUTE,
    symbols=("audit.exact.proof_steps",),
    verdict="refuted",
    null=Control(
        "data sets without a fairness term, where zbar plays no part", lambda: drift_matters("L2", "none")
    ),
    broken=Control("data sets with the fairness term, where zbar moves", lambda: drift_matters("L2", "absolute")),
    why="The changed tuple moves zbar, and with it the terms of all other tuples.",
    repaired="Compare the sums over all tuples, each side with its own zbar.",
    advice="Keep the bound of Lemma 2 at alpha_1 = 1 (L2), but not this step.",
)
def l2_step() -> Finding:
    """Search the smallest data sets, in both domains."""
    return _drift("L2")


@claim(
    "L4.step",
    "The l2 change of the coefficients is that of the last tuple's terms.",
    "proof of Lemma 4, third line",
    readings=ABSOLUTE,
    symbols=("audit.exact.proof_steps",),
    verdict="refuted",
    null=Control(
        "data sets without a fairness term, where zbar plays no part", lambda: drift_matters("L4", "none")
    ),
    broken=Control("data sets with the fairness term, where zbar moves", lambda: drift_matters("L4", "absolute")),
    why="As in L2.step, zbar moves the terms of all tuples.",
    repaired="As in L2.step, count the terms of all tuples.",
    advice="Keep the bound of Lemma 4 at alpha_1 = 1 (L4).",
)
def l4_step() -> Finding:
    """Search the smallest data sets, in both domains."""
    return _drift("L4")


def two_max_exceeds(basis: str) -> bool:
    """Return whether, on the box, 2 max exceeds the bound of Lemma 3 for some d."""
    return proof_steps.two_max("L3", "unit_box", basis)["at_most"].verdict == "refuted"


@claim(
    "L3.step",
    "2 max |E|_2 = sqrt(d^2/16 + d), with the coefficients of the monomials that Algorithm 2 loops over.",
    "proof of Lemma 3, last line",
    readings=("monomial and matrix basis", "unit_box; unit_ball"),
    symbols=(
        "audit.exact.proof_steps.two_max",
        "audit.exact.symbolic.published",
        "audit.exact.symbolic.inequalities",
    ),
    verdict="refuted",
    null=Control(
        "2 max on the box in the matrix basis, within the bound for every d", lambda: two_max_exceeds("matrix")
    ),
    broken=Control(
        "2 max on the box in the monomial basis, which exceeds the bound", lambda: two_max_exceeds("monomial")
    ),
    why=(
        "The monomial w_e w_l, e < l, has the coefficient x_e x_l/4, whose square is twice that of two entries "
        "x_e x_l/8."
    ),
    repaired="On the box in the monomial basis it is sqrt(d^2/8 + 15d/16). Lemma 3 itself holds (L3).",
    advice="Keep the bound of Lemma 3 (L3).",
)
def l3_step() -> Finding:
    """Decide 2 max against the bounds of all four lemmas, for every d."""
    decisions: dict[str, Any] = {}
    for lemma in ("L1", "L2", "L3", "L4"):
        for domain in ("unit_box", "unit_ball"):
            for basis in ("matrix", "monomial"):
                found = proof_steps.two_max(lemma, domain, basis)
                decisions[f"{lemma}, {domain}, {basis}"] = plain(found)
    refuted = two_max_exceeds("monomial") and not two_max_exceeds("matrix")
    return Finding("refuted" if refuted else "undecided", "none", {"2 max against the bound": decisions})


def t3_share_exceeds(domain: str) -> bool:
    """Return whether the sum over Phi_s, or that over Phi_n, exceeds its share of Delta_1 for some d."""
    found = proof_steps.t3_last_step(domain)
    return any(found[part].verdict == "refuted" for part in ("phi_s at most", "phi_n at most"))


@claim(
    "T3.step",
    "The product over Phi_s and Phi_n of exp(epsilon 2 max_t |lambda|/Delta_1) is "
    "exp(epsilon_s/d + epsilon_n (d - 1)/d).",
    "proof of Theorem 3, last equality but one",
    readings=("each monomial with its own maximum, as printed", "unit_box; unit_ball", "Delta_1 = d^2/4 + 3d"),
    symbols=(
        "audit.exact.proof_steps.t3_last_step",
        "audit.exact.symbolic.published",
        "audit.exact.symbolic.inequalities",
    ),
    verdict="refuted",
    null=Control(
        "the sums over Phi_s and Phi_n on the unit ball, within their shares of Delta_1",
        lambda: t3_share_exceeds("unit_ball"),
    ),
    broken=Control(
        "the same sums on the box, where that over Phi_s exceeds its share", lambda: t3_share_exceeds("unit_box")
    ),
    why=(
        "On the box the sum over Phi_s is 3 + (2d - 1)/4, more than Delta_1/d = 3 + d/4 for d >= 2. On the unit "
        "ball it is exactly Delta_1/d, and the sum over Phi_n is less than its share."
    ),
    repaired="On the unit ball the equality holds as <=. On the box T3 holds for another reason (T3).",
    advice="Do not reuse the step with another Delta_1: use T3.fix.",
)
def t3_step() -> Finding:
    """Decide both sums for every d, and find the smallest N."""
    decisions = {domain: plain(proof_steps.t3_last_step(domain)) for domain in ("unit_box", "unit_ball")}
    smallest = proof_steps.t3_smallest_records()
    refuted = t3_share_exceeds("unit_box") and smallest.counterexample is not None
    evidence = {"for every d": decisions, "smallest N on the box": smallest.to_json()}
    return Finding("refuted" if refuted else "undecided", "none", evidence)


@claim(
    "T4.step",
    "|V_1| <= (2 sigma^2 epsilon - 1)/2 implies (Delta_2^2 + 2 |V_1| Delta_2)/(2 sigma^2) <= epsilon.",
    "proof of Theorem 4, paragraph before the tail bound; again in the proof of Theorem 5",
    readings=("2 sigma^2 epsilon > Delta_2^2, as for every sigma of Theorem 2",),
    symbols=("audit.exact.proof_steps.t4_hidden_one", "audit.exact.proof_steps.t4_gap_sign"),
    verdict="refuted",
    null=Control(
        "Delta_2 = 1, where the step holds", lambda: proof_steps.t4_hidden_one(1).counterexample is not None
    ),
    broken=Control(
        "whole numbers Delta_2 up to 4, for some of which it fails",
        lambda: proof_steps.t4_hidden_one().counterexample is not None,
    ),
    why=(
        "The conclusion needs |V_1| <= (2 sigma^2 epsilon - Delta_2^2)/(2 Delta_2), which is less than the step "
        "assumes for every Delta_2 > 1."
    ),
    repaired="Assume |V_1| <= (2 sigma^2 epsilon - Delta_2^2)/(2 Delta_2).",
    advice="Use the theorem (T4), but do not reuse the step.",
)
def t4_step() -> Finding:
    """Search whole numbers, and check the closed form of the gap."""
    found = decided_by(proof_steps.t4_hidden_one())
    if not proof_steps.t4_gap_sign():
        return Finding("undecided", "none", found.evidence)
    return found


def share_exceeded(bound_squared: Fraction | None) -> bool:
    """Return whether small data sets move Phi_s by more than Delta/d, or than a given bound (squared)."""
    if bound_squared is None:
        return proof_steps.t5_share("s").counterexample is not None

    def exceeds(left: proof_steps.DataSet, right: proof_steps.DataSet) -> bool:
        inside = proof_steps.on_phi_s(proof_steps.change(left, right), inside=True)
        return proof_steps.l2_squared(inside) > bound_squared

    return proof_steps.first_pair(exceeds, "unit_ball")[1] is not None


@claim(
    "T5.step",
    "|D_s|_2 <= Delta_2'/d and |D_n|_2 <= Delta_2' (d - 1)/d.",
    "proof of Theorem 5, 'Since |B'|_2 <= ...'",
    readings=ABSOLUTE,
    symbols=("audit.exact.proof_steps.t5_share",),
    verdict="refuted",
    null=Control("the bound |D_s|_2 <= 3, which holds on the unit ball", lambda: share_exceeded(Fraction(9))),
    broken=Control("the step's bound |D_s|_2 <= Delta_2'/d, which data sets exceed", lambda: share_exceeded(None)),
    why="One tuple may move coefficients of Phi_s only, or of Phi_n only, and the change does not shrink with d.",
    repaired=(
        "On the unit ball |D_s|_2 <= 3 and |D_n|_2 <= 3, both reached as N grows (T5.fix). So there the second "
        "bound of the step holds for every d but 2, and with it Theorem 5 for epsilon_s <= epsilon_n (T5.regime)."
    ),
    advice="State the formula only for ratios epsilon_s/epsilon_n inside the interval of T5, otherwise T5.fix.",
)
def t5_step() -> Finding:
    """Search the smallest data sets for both parts, in both domains."""
    return decided_by(
        *(proof_steps.t5_share(part, domain) for part in ("s", "n") for domain in ("unit_ball", "unit_box"))
    )
