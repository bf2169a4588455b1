"""The items of the paper, numbered as LaTeX numbers them: words, code, claims, proof page and theorems.

A test compares the lists with the paper's source, resolves every symbol and finds every claim, page and theorem.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One item of the paper.

    Parameters
    ----------
    number : str
        As printed: `Lemma 4`, `line 20`, `(6)`.
    says : str
        In a few words, in our symbols.
    code : tuple of str
        Dotted names.
    claims : tuple of str
        Ids of the ledger.
    proof : str
        File below ``proofs/``, without its ending, and ``#`` with one of its headings; empty if nothing is proved.
    coq : tuple of str
        Theorems of ``proofs/coq``; if there are many, the ones to read first.
    """

    number: str
    says: str
    code: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    proof: str = ""
    coq: tuple[str, ...] = ()


_SCALES = "reference.noise.scales"
_PUBLISHED = "reference.sensitivity.published"
_STATED = "reference.accounting.statements"
_CLASSES = ("reference.coefficients.Layout.contains",)
_MINIMUM = ("reference.minimiser.minimise",)
_NO_MINIMUM = ("A.argmin", "A.fix")
_STEPS = "audit.exact.proof_steps"
_EXHIBITS = ("reference.experiments.exhibits",)
_EXACT = (f"{_STATED}.exact_privacy",)
_POST = ("post_processing_keeps_privacy",)

DEFINITIONS = (
    Item("Definition 1", "epsilon-differential privacy, output by output", _EXACT, ("D1",)),
    Item(
        "Definition 2",
        "(epsilon, delta)-differential privacy, output by output",
        _EXACT,
        ("D2",),
        "post_processing_and_composition",
        ("indistinguishable_covers_unions_of_boxes",),
    ),
    Item("Definition 3", "demographic parity", ("reference.fairness.metrics.risk_difference",), ("O4",)),
)

LEMMAS = (
    Item(
        "Lemma 1",
        "l1-sensitivity of logistic regression: at most d^2/4 + d",
        (f"{_PUBLISHED}.published_l1_sensitivity", "reference.sensitivity.exact_l1"),
        ("L1",),
        "sensitivities#what-follows-for-the-paper",
        ("lemma_1", "box_l1_sensitivity"),
    ),
    Item(
        "Lemma 2",
        "l1-sensitivity with the fairness term: at most d^2/4 + 3d",
        (f"{_PUBLISHED}.published_l1_sensitivity", "reference.sensitivity.exact_l1"),
        ("L2", "L2.alpha", "L2.sign"),
        "sensitivities#what-follows-for-the-paper",
        ("lemma_2", "lemma_2_other_weights"),
    ),
    Item(
        "Lemma 3",
        "l2-sensitivity of logistic regression: at most sqrt(d^2/16 + d)",
        (f"{_PUBLISHED}.published_l2_sensitivity_squared", "reference.sensitivity.exact_l2_squared"),
        ("L3",),
        "sensitivities#what-follows-for-the-paper",
        ("lemma_3", "ball_l2_plain"),
    ),
    Item(
        "Lemma 4",
        "l2-sensitivity with the fairness term: at most sqrt(d^2/16 + 9d)",
        (f"{_PUBLISHED}.published_l2_sensitivity_squared", "reference.sensitivity.exact_l2_squared"),
        ("L4",),
        "sensitivities#what-follows-for-the-paper",
        ("lemma_4", "ball_l2_absolute", "box_l2_sensitivity"),
    ),
)

THEOREMS = (
    Item(
        "Theorem 1", "Laplace noise", (f"{_SCALES}.laplace_scale",), ("T1", "A.float"), "laplace", ("theorem_1",)
    ),
    Item(
        "Theorem 2",
        "extended Gaussian noise",
        (f"{_SCALES}.extended_gaussian_sigma",),
        ("T2", "T2.range", "T2.loose"),
        "extended_gaussian",
        ("theorem_2", "gaussian_profile_exact"),
    ),
    Item(
        "Theorem 3",
        "PDFC is (epsilon_s/d + epsilon_n (d - 1)/d)-private",
        ("reference.mechanisms.pdfc", f"{_STATED}.published_pdfc", "audit.exact.theorems.repaired_pdfc"),
        ("T3", "T3.exact", "T3.fix"),
        "theorem_3#t3-t3fix-t3exact",
        ("theorem_3", "theorem_3_at_exact_sensitivity", "theorem_3_accounting"),
    ),
    Item(
        "Theorem 4",
        "Algorithm 2 is (epsilon, delta)-private",
        ("reference.mechanisms.relaxed_functional", f"{_STATED}.published_relaxed_functional"),
        ("T4",),
        "theorem_4",
        ("theorem_4",),
    ),
    Item(
        "Theorem 5",
        "ADFC is (epsilon, delta)-private, for the epsilon and delta of Algorithm 3, line 26",
        ("reference.mechanisms.adfc", f"{_STATED}.published_adfc", "audit.exact.theorems.repaired_adfc"),
        ("T5", "T5.regime", "T5.released", "T5.fix"),
        "theorem_5",
        ("theorem_5_is_false", "theorem_5_where_it_holds", "theorem_5_exact_accounting"),
    ),
)

PROOFS = (
    Item(
        "proof of Lemma 2",
        "only the last tuple's terms move",
        (f"{_STEPS}.drift_step",),
        ("L2.step",),
        "proof_steps",
        ("lemma_2_proof_step_is_false",),
    ),
    Item(
        "proof of Theorem 3",
        "twice the largest coefficients on Phi_s add up to Delta_1/d",
        (f"{_STEPS}.t3_last_step",),
        ("T3.step",),
        "theorem_3",
        ("theorem_3_last_step", "theorem_3_twice_largest"),
    ),
    Item(
        "proof of Lemma 3",
        "twice the largest length is the bound",
        (f"{_STEPS}.two_max",),
        ("L3.step", "L.2max"),
        "proof_steps",
    ),
    Item(
        "proof of Theorem 4",
        "a bound on V bounds the loss",
        (f"{_STEPS}.t4_hidden_one",),
        ("T4.step",),
        "theorem_4",
        ("theorem_4_step_needs_1",),
    ),
    Item(
        "proof of Lemma 4",
        "only the last tuple's terms move",
        (f"{_STEPS}.drift_step",),
        ("L4.step",),
        "proof_steps",
    ),
    Item(
        "proof of Theorem 5",
        "the change on Phi_s is at most Delta_2'/d",
        (f"{_STEPS}.t5_share",),
        ("T5.step",),
        "theorem_5",
        ("theorem_5_step_is_false",),
    ),
)

EQUATIONS = (
    Item("(1)", "w* minimises the loss", ("reference.mechanisms.lr",)),
    Item("(2)", "the loss as a polynomial", ("reference.coefficients.Coefficients",), ("F1",), "taylor"),
    Item("(3)", "minimise the loss where -tau <= g <= tau", ("reference.readings.Readings.tau",), ("O3",)),
    Item(
        "(4)",
        "boundary covariance g",
        ("reference.fairness.metrics.boundary_covariance",),
        ("O4",),
        "objective_and_release",
    ),
    Item(
        "(5)",
        "the loss plus the sum of (z - zbar) x.w in absolute value",
        ("reference.readings.Readings.fairness",),
        ("O1", "O2", "L2.sign"),
        "sensitivities",
        ("lemma_2_sign_from_data",),
    ),
    Item(
        "(6)",
        "approximate objective: Taylor to degree 2",
        ("reference.objective.objective",),
        ("F1.taylor", "O1"),
        "taylor",
        ("taylor_remainder", "coefficients_of_the_objective"),
    ),
    Item("Accuracy", "displayed in 'Evaluation'", ("reference.fairness.metrics.Metrics.accuracy",)),
    Item("RD", "displayed in 'Evaluation'", ("reference.fairness.metrics.risk_difference",)),
)


def _split(noise: str, claims: tuple[str, ...]) -> tuple[Item, ...]:
    """Return lines 4 to 13, which Algorithms 1 and 3 share."""
    says = (
        "Phi_s <- {}, Phi_n <- {}",
        "for j = 1, 2",
        "for each phi in Phi_j",
        "if phi includes w_s",
        "put phi into Phi_s",
        "else",
        "put phi into Phi_n",
        "end if",
        "end for",
        "end for",
    )
    return tuple(
        Item(f"line {number}", text, (noise, *_CLASSES), claims if text.startswith("if") else ())
        for number, text in enumerate(says, start=4)
    )


_PDFC, _ADFC, _RELAXED = (f"reference.mechanisms.{name}" for name in ("pdfc", "adfc", "relaxed_functional"))

ALGORITHM_1 = (
    Item(
        "line 1",
        "input: D, f, g, both epsilons, Delta_1",
        (_PDFC, "reference.budgets.SplitBudget"),
        ("L2",),
    ),
    Item("line 2", "output: w-hat, epsilon", ("reference.accounting.release.Release",)),
    Item("line 3", "f-bar by equation (6)", ("reference.objective.objective",), ("O1", "O2"), "taylor"),
    *_split(f"{_PDFC}_noise", ("A.xs", "A.xs.data")),
    Item("line 14", "for j = 1, 2", (f"{_PDFC}_noise",)),
    Item("line 15", "for each phi in Phi_j", (f"{_PDFC}_noise",)),
    Item("line 16", "if phi in Phi_s", (f"{_PDFC}_noise",)),
    Item(
        "line 17",
        "add Lap(Delta_1/epsilon_s)",
        (f"{_PDFC}_noise", f"{_SCALES}.laplace_scale"),
        ("T1", "A.corr"),
        "laplace",
        ("theorem_1",),
    ),
    Item("line 18", "else", (f"{_PDFC}_noise",)),
    Item(
        "line 19",
        "add Lap(Delta_1/epsilon_n)",
        (f"{_PDFC}_noise", f"{_SCALES}.laplace_scale"),
        ("T1",),
        "laplace",
        ("theorem_1",),
    ),
    Item("line 20", "end if", (f"{_PDFC}_noise",)),
    Item("line 21", "end for", (f"{_PDFC}_noise",)),
    Item("line 22", "end for", (f"{_PDFC}_noise",)),
    Item("line 23", "f-hat from the noisy coefficients", ("reference.coefficients.NoisyCoefficients",)),
    Item("line 24", "w-hat <- arg min f-hat", _MINIMUM, _NO_MINIMUM, "objective_and_release", _POST),
    Item(
        "line 25",
        "epsilon <- epsilon_s/d + epsilon_n (d - 1)/d",
        (f"{_STATED}.published_pdfc",),
        ("T3",),
        "theorem_3",
        ("theorem_3",),
    ),
    Item("line 26", "return w-hat, epsilon", (_PDFC,)),
)

ALGORITHM_2 = (
    Item("line 1", "input: D, f, epsilon, delta", (_RELAXED, "reference.budgets.Budget")),
    Item("line 2", "output: w-hat", ("reference.accounting.release.Release",)),
    Item(
        "line 3",
        "Delta_2 by Lemma 3",
        (f"{_RELAXED}_noise", f"{_PUBLISHED}.published_l2_sensitivity_squared"),
        ("L3",),
        "sensitivities",
        ("lemma_3",),
    ),
    Item("line 4", "for j = 1, ..., J", (f"{_RELAXED}_noise",)),
    Item("line 5", "for each phi in Phi_j", (f"{_RELAXED}_noise",)),
    Item(
        "line 6",
        "add N(0, sigma^2), sigma by Theorem 2",
        (f"{_RELAXED}_noise", f"{_SCALES}.extended_gaussian_sigma"),
        ("T2", "T2.range"),
        "extended_gaussian",
        ("theorem_2",),
    ),
    Item("line 7", "end for", (f"{_RELAXED}_noise",)),
    Item("line 8", "end for", (f"{_RELAXED}_noise",)),
    Item("line 9", "f-hat from the noisy coefficients", ("reference.coefficients.NoisyCoefficients",)),
    Item("line 10", "w-hat <- arg min f-hat", _MINIMUM, _NO_MINIMUM, "objective_and_release", _POST),
    Item("line 11", "return w-hat", (_RELAXED,), ("T4",), "theorem_4", ("theorem_4",)),
)

ALGORITHM_3 = (
    Item(
        "line 1",
        "input: D, f, g, (epsilon_s, delta_s), (epsilon_n, delta_n)",
        (_ADFC, "reference.budgets.SplitBudget"),
        ("E.delta",),
    ),
    Item("line 2", "output: w-hat, epsilon, delta", ("reference.accounting.release.Release",)),
    Item("line 3", "f-bar by equation (6)", ("reference.objective.objective",), ("O1", "O2"), "taylor"),
    *_split(f"{_ADFC}_noise", ("A.xs", "A.xs.data")),
    Item(
        "line 14",
        "Delta_2' by Lemma 4",
        (f"{_ADFC}_noise", f"{_PUBLISHED}.published_l2_sensitivity_squared"),
        ("L4",),
        "sensitivities",
        ("lemma_4",),
    ),
    Item("line 15", "for j = 1, 2", (f"{_ADFC}_noise",)),
    Item("line 16", "for each phi in Phi_j", (f"{_ADFC}_noise",)),
    Item("line 17", "if phi in Phi_s", (f"{_ADFC}_noise",)),
    Item(
        "line 18",
        "add N(0, sigma_s^2), sigma_s from (epsilon_s, delta_s)",
        (f"{_ADFC}_noise", f"{_SCALES}.extended_gaussian_sigma", "reference.noise.draws.add_noise"),
        ("T2", "T5.step"),
        "extended_gaussian#t2-the-papers-sigma",
        ("theorem_2", "theorem_5_step_is_false"),
    ),
    Item("line 19", "else", (f"{_ADFC}_noise",)),
    Item(
        "line 20",
        "add N(0, sigma_n^2), sigma_n from (epsilon_n, delta_n)",
        (f"{_ADFC}_noise", f"{_SCALES}.extended_gaussian_sigma", "reference.noise.draws.add_noise"),
        ("T2", "T5.step"),
        "extended_gaussian#t2-the-papers-sigma",
        ("theorem_2", "theorem_5_step_is_false"),
    ),
    Item("line 21", "end if", (f"{_ADFC}_noise",)),
    Item("line 22", "end for", (f"{_ADFC}_noise",)),
    Item("line 23", "end for", (f"{_ADFC}_noise",)),
    Item("line 24", "f-hat from the noisy coefficients", ("reference.coefficients.NoisyCoefficients",)),
    Item("line 25", "w-hat <- arg min f-hat", _MINIMUM, _NO_MINIMUM, "objective_and_release", _POST),
    Item(
        "line 26",
        "epsilon <- epsilon_s/d + epsilon_n (d - 1)/d, delta <- 1 - (1 - delta_s)(1 - delta_n)",
        (f"{_STATED}.published_adfc",),
        ("T5",),
        "theorem_5",
        ("theorem_5_is_false",),
    ),
    Item("line 27", "return w-hat, epsilon, delta", (_ADFC,), ("T5.released",), "theorem_5"),
)

FIGURES = (
    Item("Figure 1", "accuracy of Algorithm 2 against epsilon, US", _EXHIBITS, ("Fig1", "E.rfm")),
    Item("Figure 2", "accuracy of Algorithm 2 against delta, US", _EXHIBITS, ("Fig2",)),
    Item("Figure 3 (a)", "accuracy on Adult, x_s marital status", _EXHIBITS, ("Fig3", "E.literal")),
    Item("Figure 3 (b)", "accuracy on Adult by x_s; read as PDFC's", _EXHIBITS, ("Fig3", "E.literal")),
    Item("Figure 3 (c)", "accuracy on Adult by x_s; read as ADFC's", _EXHIBITS, ("Fig3", "E.literal")),
)

_TABLE_CODE = ("reference.experiments.printed.ENTRIES", *_EXHIBITS)
PRINTED_TABLES = (
    Item(
        "Table 1",
        "risk difference on US",
        _TABLE_CODE,
        ("Tables", "E.sd", "E.dup"),
        "printed_tables",
    ),
    Item(
        "Table 2",
        "risk difference on Adult and US",
        _TABLE_CODE,
        ("Tables", "E.sd", "E.wins", "E.grid"),
        "printed_tables",
    ),
)

_REPAIRED = "reference.repaired"
OURS = (
    Item(
        "the repaired mechanism",
        "how far a record moves each of its sums, and what a fit loses",
        (
            f"{_REPAIRED}.algorithm.repaired_logistic",
            *(f"{_REPAIRED}.sums.{name}" for name in ("gradient", "label_sums", "imbalance", "cell_counts")),
        ),
        ("R", "R.gradient", "R.counts", "R.probe", "R.cells"),
        "repaired",
    ),
    Item(
        "several rows per person",
        "data sets that differ in K records of one person",
        ("reference.sensitivity.exact_l1",),
        ("R.rows",),
        "several_rows",
    ),
)

ITEMS: Mapping[str, tuple[Item, ...]] = {
    "Definitions": DEFINITIONS,
    "Lemmas": LEMMAS,
    "Theorems": THEOREMS,
    "Proofs in the supplement": PROOFS,
    "Equations": EQUATIONS,
    "Algorithm 1: PDFC": ALGORITHM_1,
    "Algorithm 2: relaxed functional mechanism": ALGORITHM_2,
    "Algorithm 3: ADFC": ALGORITHM_3,
    "Figures": FIGURES,
    "Tables": PRINTED_TABLES,
    "Not in the paper": OURS,
}
"""The items by table of the map."""

SENTENCES = {
    "T1.shift": "PFLR*: noise whose mean depends on the data",
    "T5.regime.w": "Theorem 5 for epsilon_s <= epsilon_n and d = 2, on the released w",
    "T3.exact.w": "Theorem 3 at the exact sensitivity, on the released w",
    "D3": "neighbours: one tuple added, removed or replaced",
    "F2": "noise for degrees 1 to J, not for the constant",
    "O5": "boundary covariance reduces to g",
    "O4.adult": "on Adult, the fairness term reduces |g.w|",
    "A.fix.resample": "drawing the noise again costs no privacy",
    "A.norm": "features scaled by the data's own maximum",
    "A.attr": "noise on w_s protects the attribute x_s",
    "A.degree": "Algorithm 2 for any degree J",
    "E.features": "Adult has 13 features",
    "E.wins.us": "less risk difference than PFLR*, on US",
    "E.wins.adult": "less risk difference than PFLR*, on Adult",
    "A.corr.adult": "on Adult, more noise on x_s reduces discrimination",
}
"""What claims of the text say, in a few words."""

PAGE_OF = {
    "A.noise": "noise_comparison",
    "A.norm": "objective_and_release",
    "A.fix.resample": "objective_and_release",
    "E.contra": "printed_tables",
    "E.grid": "printed_tables",
    "E.delta": "printed_tables",
}
"""Proof pages of claims about the text alone."""


def pages_of(claim: str) -> list[str]:
    """Return the proof pages of a claim, as in `Item.proof`: of its items, or of the text alone."""
    told = [item.proof for items in ITEMS.values() for item in items if claim in item.claims and item.proof]
    return list(dict.fromkeys(told)) or ([PAGE_OF[claim]] if claim in PAGE_OF else [])


def numbers_of(claim: str) -> list[str]:
    """Return the items of a claim by their full names: `Algorithm 3 line 20`, `equation (6)`."""
    found = [_full_name(kind, item) for kind, items in ITEMS.items() for item in items if claim in item.claims]
    return [" ".join(name.split()) for name in found]


def items_called(name: str) -> list[Item]:
    """Return the items with this number in the paper, and parts: `Lemma 4`, `Fig. 3`, `Algorithm 3 line 20`."""
    asked = _plain(name)
    if asked and asked[0].isdigit():
        asked = f"equation {asked}"
    called = [(_plain(_full_name(kind, item)), item) for kind, items in ITEMS.items() for item in items]
    return [item for known, item in called if f"{known} ".startswith(f"{asked} ")]


def _full_name(kind: str, item: Item) -> str:
    algorithm = kind.partition(":")[0] if kind.startswith("Algorithm") else ""
    return f"{algorithm} {'equation' * (kind == 'Equations')} {item.number}"


def _plain(name: str) -> str:
    words = re.sub(r"[^\w]+", " ", name.casefold()).split()
    return " ".join(_SHORT.get(word, word) for word in words)


_SHORT = {
    "alg": "algorithm",
    "def": "definition",
    "eq": "equation",
    "fig": "figure",
    "thm": "theorem",
    "tab": "table",
}
