"""Lemmas that tie formulas of the Python code to the definitions in the theorems, for all values of variables.

Each tie translates an expression from the Python source (:mod:`audit.proofs.translate`) and states that it is
the real number in a theorem.  A change of the code changes the lemma, and a wrong one cannot be proved.
They are part of ``Constants.v``.  A few places have no formula, such as the shape in which variates are
drawn: they are quoted there as written, for you to compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import fill

from audit.proofs.translate import Formula, Source, TranslationError, as_written, source_of_module, translated

HEADER = """\
(** * Formulas: expressions of the Python code are the definitions that the theorems use *)

From Coq Require Import Reals List Lra Lia.
From CFM Require Import Definitions Change Box BoxSensitivity Theorem3 Certificates BinomialLaw Hardened.
Open Scope R_scope.
"""
"""Header of the file with the lemmas."""


@dataclass(frozen=True)
class Tie:
    """A lemma about translated formulas.

    Parameters
    ----------
    name : str
        Of the lemma.
    formulas : dict of str to Formula
        The formulas that words in angle brackets in the statement stand for.
    statement, proof : str
        In Coq.
    """

    name: str
    formulas: Mapping[str, Formula]
    statement: str
    proof: str


@dataclass(frozen=True)
class Quotation:
    """A place of the code, quoted as written; `says` is what it must mean."""

    formula: Formula
    says: str


WIDTH = 108
"""Width of a line in Coq."""

STATEMENTS = "reference.accounting.statements"
BUDGETS = "reference.budgets"
SCALES = "reference.noise.scales"
MECHANISMS = "reference.mechanisms"
PUBLISHED = "reference.sensitivity.published"
BOX = "reference.sensitivity.box"
BALL = "reference.sensitivity.ball_l1_at_once"
DRAWS = "reference.noise.draws"
KINDS = "reference.noise.kinds"
PEARSON = "audit.bounds.clopper_pearson"
GRID = "reference.noise.grid"
HARDENED = "reference.noise.hardened"

SPLIT = {
    **{f"budget.{name}": name for name in ("epsilon_s", "epsilon_n", "delta_s", "delta_n")},
    "dimension": "(INR d)",
    "budget.delta": "(stated_delta delta_s delta_n)",
}
UNSPLIT = {"budget.epsilon": "epsilon", "budget.delta": "delta"}
SELF = {"self.delta_s": "delta_s", "self.delta_n": "delta_n"}
NOT_FAIR = "fairness == 'none'"
ROOM = {"delta_1": "delta_1", "delta_2_squared": "delta_2_squared"}
BOX_NAMES = {
    "setting.dimension": "(INR d)",
    "weight_s": "w_s",
    "weight_n": "w_n",
    "linear_change(setting)": "linear_gain r n",
}
GAIN = {"w_s": "w_s", "w_n": "w_n", "q": "q s", "t": "(total - q s)"}
BALL_NAMES = {
    "setting.dimension": "(INR d)",
    "setting.drift": "e",
    "HALF": "(1 / 2)",
    "weight_s": "w",
}
LIMITS = {"significance": "significance"}
PAIR = {"low": "low", "high": "high", "delta": "delta", "epsilon": "epsilon"}
COMPOSED = {f"statement.{name} {i}": f"{name}{i}" for name in ("epsilon", "delta") for i in (1, 2)}
VARIATES = {"values": "value", "noise.scales": "scale", "unit_variates": "variate"}


def _published(name: str, constant: str, function: str, *, fair: bool) -> Tie:
    formula = Formula(PUBLISHED, function, ("return",), {"dimension": "(INR d)"}, {NOT_FAIR: not fair})
    return Tie(
        name, {"value": formula}, f"forall d, <value> = {constant} d", f"intros d; unfold {constant}; field"
    )


def _statement(name: str, function: str, delta: str) -> Tie:
    parts = {
        part: Formula(STATEMENTS, function, ("return", place), SPLIT) for place, part in enumerate(("e", "d"))
    }
    return Tie(
        name,
        {"epsilon": parts["e"], "delta": parts["d"]},
        "forall (d : nat) (epsilon_s epsilon_n delta_s delta_n : R), (1 <= d)%nat ->\n"
        f"  <epsilon> = stated_epsilon d epsilon_s epsilon_n /\\ <delta> = {delta}",
        "intros d epsilon_s epsilon_n delta_s delta_n Hd; assert (INR d <> 0) by (apply not_0_INR; lia);\n"
        "  unfold stated_epsilon, stated_delta; split; [field; assumption | ring]",
    )


def _two_scales(name: str, function: str, scales: tuple[str, str], unfolded: str) -> Tie:
    parts = {
        part: Formula(MECHANISMS, function, ("return", place), {**SPLIT, **ROOM})
        for place, part in ((1, "s"), (2, "n"))
    }
    return Tie(
        name,
        parts,
        "forall (s : nat) (delta_1 delta_2_squared epsilon_s epsilon_n delta_s delta_n : R) phi,\n"
        f"  two_scales s <s> <n> phi =\n  two_scales s {scales[0]} {scales[1]} phi",
        f"{unfolded}reflexivity",
    )


def _one_scale(name: str, formula: Formula, value: str) -> Tie:
    return Tie(
        name,
        {"scale": formula},
        f"forall delta_1 delta_2_squared epsilon delta : R, <scale> = {value}",
        "reflexivity",
    )


def _density(name: str, density: str, roots: str) -> Tie:
    formula = Formula(DRAWS, "add_noise", ("return",), VARIATES)
    return Tie(
        name,
        {"noisy": formula},
        "forall value scale variate, 0 < scale ->\n"
        f"  {density} scale (<noisy> - value) = {density} 1 variate / scale",
        f"intros value scale variate Hs; unfold {density};\n"
        "  replace (value + scale * variate - value) with (scale * variate) by ring;\n"
        f"  {roots}",
    )


SIGMA = ("(extended_gaussian_sigma (sqrt delta_2_squared) epsilon_{0} delta_{0})",)

TIES = (
    _published("python_published_l1", "published_l1", "published_l1_sensitivity", fair=False),
    _published("python_published_fair_l1", "published_fair_l1", "published_l1_sensitivity", fair=True),
    _published("python_published_l2", "published_l2_squared", "published_l2_sensitivity_squared", fair=False),
    _published(
        "python_published_fair_l2", "published_fair_l2_squared", "published_l2_sensitivity_squared", fair=True
    ),
    _statement("python_pdfc_statement", "published_pdfc", "0"),
    _statement("python_adfc_statement", "published_adfc", "stated_delta delta_s delta_n"),
    Tie(
        "python_split_budget",
        {"composed": Formula(BUDGETS, "SplitBudget.__init__", ("composed",), SELF)},
        "forall delta_s delta_n, <composed> = stated_delta delta_s delta_n",
        "intros; unfold stated_delta; ring",
    ),
    Tie(
        "python_half_of_delta",
        {"half": Formula(BUDGETS, "half_of_delta", ("return",), {"delta": "delta"})},
        "forall delta, 0 <= delta <= 1 -> stated_delta <half> <half> = delta",
        "intros delta Hd; unfold stated_delta; set (r := sqrt (1 - delta)).\n"
        "  assert (Hr : r * r = 1 - delta) by (apply sqrt_sqrt; lra).\n"
        "  assert (H0 : 0 <= r) by apply sqrt_pos; replace delta with (1 - r * r) by lra; field; lra",
    ),
    Tie(
        "python_equal_split",
        {
            "s": Formula(
                BUDGETS, "SplitBudget.equal", ("return", 2), {"half_of_delta(parse_delta('delta', delta))": "half"}
            ),
            "n": Formula(
                BUDGETS, "SplitBudget.equal", ("return", 3), {"half_of_delta(parse_delta('delta', delta))": "half"}
            ),
        },
        "forall half : R, <s> = half /\\ <n> = half",
        "intros; split; reflexivity",
    ),
    Tie(
        "python_epsilon_ratio",
        {
            "s": Formula(
                BUDGETS,
                "SplitBudget.from_ratio",
                ("return", 0),
                {"total": "total", "quotient": "ratio", "dimension": "(INR d)"},
            ),
            "n": Formula(
                BUDGETS,
                "SplitBudget.from_ratio",
                ("return", 1),
                {"total": "total", "quotient": "ratio", "dimension": "(INR d)"},
            ),
        },
        "forall (d : nat) total ratio, (1 <= d)%nat -> 0 < ratio ->\n"
        "  stated_epsilon d <s> <n> = total /\\ <s> = ratio * <n>",
        "intros d total ratio Hd Hr; assert (1 <= INR d) by (apply (le_INR 1); lia); unfold stated_epsilon;\n"
        "  split; [field; lra | reflexivity]",
    ),
    Tie(
        "python_laplace_scale",
        {
            "scale": Formula(
                SCALES, "laplace_scale", ("return",), {"l1_sensitivity": "delta_1", "epsilon": "epsilon"}
            )
        },
        "forall delta_1 epsilon : R, <scale> = delta_1 / epsilon",
        "reflexivity",
    ),
    Tie(
        "python_extended_logarithm",
        {
            "largest": Formula(SCALES, "_largest_delta", ("return",)),
            "logarithm": Formula(
                SCALES, "extended_logarithm", ("return",), {"_largest_delta()": "largest", "delta": "delta"}
            ),
        },
        "forall largest delta : R, <largest> = sqrt (2 / PI) /\\ <logarithm> = ln (largest / delta)",
        "intros; split; reflexivity",
    ),
    Tie(
        "python_extended_gaussian_sigma",
        {
            "sigma": Formula(
                SCALES,
                "extended_gaussian_sigma",
                ("return",),
                {
                    "l2_sensitivity_squared": "squared",
                    "epsilon": "epsilon",
                    "extended_logarithm(delta).upper": "(ln (sqrt (2 / PI) / delta))",
                },
            )
        },
        "forall squared epsilon delta, 0 <= squared -> 0 < epsilon -> 0 < delta <= sqrt (2 / PI) ->\n"
        "  <sigma> = extended_gaussian_sigma (sqrt squared) epsilon delta",
        "intros squared epsilon delta Hs He Hd; unfold extended_gaussian_sigma.\n"
        "  assert (0 <= ln (sqrt (2 / PI) / delta)).\n"
        "  { assert (H1 : 1 <= sqrt (2 / PI) / delta)\n"
        "      by (apply (Rmult_le_reg_r delta); [lra |]; field_simplify; lra).\n"
        "    destruct H1 as [H1 | <-]; [left; rewrite <- ln_1; apply ln_increasing; lra | rewrite ln_1; lra]. }\n"
        "  rewrite Rmax_right by assumption; rewrite sqrt_mult by lra; field; lra",
    ),
    _one_scale(
        "python_functional_scale",
        Formula(MECHANISMS, "functional_noise", ("return", 1), {**UNSPLIT, **ROOM}),
        "delta_1 / epsilon",
    ),
    _one_scale(
        "python_relaxed_functional_scale",
        Formula(MECHANISMS, "relaxed_functional_noise", ("return", 1), {**UNSPLIT, **ROOM}),
        "extended_gaussian_sigma (sqrt delta_2_squared) epsilon delta",
    ),
    _two_scales("python_pdfc_scales", "pdfc_noise", ("(delta_1 / epsilon_s)", "(delta_1 / epsilon_n)"), ""),
    _two_scales("python_adfc_scales", "adfc_noise", (SIGMA[0].format("s"), SIGMA[0].format("n")), ""),
    Tie(
        "python_box_weighted_l1",
        {
            "base": Formula(BOX, "weighted_l1", ("value",), {**BOX_NAMES, "linear": "linear_gain r n"}),
            "gain": Formula(BOX, "_replacement_gain", ("return", 0, "term"), GAIN),
        },
        "forall r n d q s w_s w_n, (s < d)%nat -> let total := sum_over (coordinates d) q in\n"
        "  w_s * sum_over (filter (contains s) (Phi (basis r) d)) (box_bound r n q) +\n"
        "  w_n * sum_over (filter (contains_not s) (Phi (basis r) d)) (box_bound r n q) =\n"
        "  <base> + <gain>",
        "intros r n d q s w_s w_n Hs total; rewrite (sum_s_box r n d q s Hs), (sum_n_box r n d q s Hs);\n"
        "  fold total; field",
    ),
    Tie(
        "python_box_linear_change",
        {
            "A": Formula(
                BOX,
                "linear_change",
                ("return",),
                {"multiple": "multiple", "setting.drift": "(alpha_1 r * drift_limit n)"},
            )
        },
        "forall r n multiple, fairness_gain (fairness_term r) n = multiple * drift_limit n -> "
        "<A> = linear_gain r n",
        "intros r n multiple H; unfold linear_gain; rewrite H; ring",
    ),
    Tie(
        "python_ball_l1_closed_form",
        {
            "lower": Formula(BALL, "closed_form", ("return", 0), BALL_NAMES),
            "upper": Formula(BALL, "closed_form", ("return", 1), BALL_NAMES),
        },
        "forall (d : nat) e w,\n"
        "  <lower> = w * (sqrt (INR d) * (1 / 2 + 2 * e) + INR d / 8) /\\\n"
        "  <upper> = w * (sqrt (INR d) * (1 / 2 + 2 * e) + INR d / 8)",
        "intros d e w; split; field",
    ),
    Tie(
        "python_composition",
        {
            "epsilon": Formula(STATEMENTS, "basic_composition", ("return", 0), COMPOSED),
            "delta": Formula(STATEMENTS, "basic_composition", ("return", 1), COMPOSED),
        },
        "forall epsilon1 epsilon2 delta1 delta2,\n"
        "  <epsilon> = epsilon1 + epsilon2 /\\ (delta1 + delta2 <= 1 -> <delta> = delta1 + delta2)",
        "intros; split; [reflexivity | intros; apply Rmin_right; assumption]",
    ),
    Tie(
        "python_l1_slack",
        {
            "slack": Formula(
                GRID,
                "l1_slack",
                ("return",),
                {
                    "layout.dimension": "(INR d)",
                    "in_s": "(INR (length (filter (contains 0) (Phi b d))))",
                    "RELEASE_STEPS": "(grid_steps g)",
                },
            )
        },
        "forall b d g, <slack> = l1_slack b d g",
        "reflexivity",
    ),
    Tie(
        "python_clopper_pearson_levels",
        {
            "low": Formula(PEARSON, "_limits", ("return", 0, 2), LIMITS),
            "high": Formula(PEARSON, "_limits", ("return", 1, 2), LIMITS),
        },
        "forall significance, <low> + <high> = significance",
        "intros; field",
    ),
    Tie(
        "python_clopper_pearson_epsilon",
        {
            "bound": Formula(
                PEARSON, "clopper_pearson_epsilon_lower_bound", ("return",), PAIR, {"low > delta": True}
            )
        },
        "forall low high delta epsilon, 0 < high -> delta < low -> 0 <= epsilon -> epsilon < <bound> ->\n"
        "  exp epsilon * high + delta < low",
        "intros low high delta epsilon Hh Hl He H.\n"
        "  assert (Hlog : epsilon < ln ((low - delta) / high)) by (revert H; apply Rmax_case; lra).\n"
        "  assert (Hq : 0 < (low - delta) / high) by (apply Rdiv_lt_0_compat; lra).\n"
        "  apply exp_increasing in Hlog; rewrite exp_ln in Hlog by exact Hq.\n"
        "  apply (Rmult_lt_compat_r high) in Hlog; [| exact Hh].\n"
        "  replace ((low - delta) / high * high) with (low - delta) in Hlog by (field; lra); lra",
    ),
    Tie(
        "python_clopper_pearson_delta",
        {"bound": Formula(PEARSON, "clopper_pearson_delta_lower_bound", ("return",), PAIR)},
        "forall low high delta epsilon, 0 <= delta -> delta < <bound> -> exp epsilon * high + delta < low",
        "intros low high delta epsilon Hd; apply Rmax_case; lra",
    ),
    _density(
        "python_laplace_noise",
        "laplace_density",
        "rewrite Rabs_mult, (Rabs_right scale) by lra;\n"
        "  replace (scale * Rabs variate / scale) with (Rabs variate / 1) by (field; lra); field; lra",
    ),
    _density(
        "python_gaussian_noise",
        "gaussian_density",
        "replace (scale * variate / scale) with (variate / 1) by (field; lra);\n"
        "  assert (0 < sqrt (2 * PI)) by (apply sqrt_lt_R0; generalize PI_RGT_0; lra); field; lra",
    ),
)

QUOTATIONS = (
    Quotation(Formula(DRAWS, "draw", ("shape",)), "a variate of its own for every coefficient"),
    Quotation(Formula(KINDS, "Noise.scales", ("return",)), "two_scales"),
    Quotation(Formula(MECHANISMS, "pdfc_noise", ("in_s",)), "Phi_s, the monomials with w_s"),
    Quotation(Formula(MECHANISMS, "adfc_noise", ("in_s",)), "Phi_s, the monomials with w_s"),
    Quotation(Formula(MECHANISMS, "pdfc_noise", ("delta_1",)), "Delta_1 of these readings"),
    Quotation(Formula(MECHANISMS, "adfc_noise", ("delta_2_squared",)), "Delta_2 squared of these readings"),
    Quotation(Formula(HARDENED, "on_steps", ("return",)), "on_steps, coefficient by coefficient"),
    Quotation(Formula(PEARSON, "_limits", ("return", 0, 0)), "the likely count's lower limit"),
    Quotation(Formula(PEARSON, "_limits", ("return", 1, 0)), "the unlikely count's upper limit"),
    Quotation(Formula(BOX, "linear_change", ("multiple",)), "fairness_gain"),
    Quotation(Formula(BOX, "_replacement_gain", ("candidates",)), "corners, where the maximum may lie"),
)


def text(source: Source = source_of_module) -> str:
    """Return the lemmas as a separate file."""
    return HEADER + "".join(f"\n{lemma}" for lemma in lemmas(source))


def lemmas(source: Source = source_of_module) -> Iterator[str]:
    """Yield the lemmas and the quotations; for what cannot be translated, a comment that says so.

    Parameters
    ----------
    source : callable
        Returns the source of a module.
    """
    for tie in TIES:
        try:
            yield _lemma(tie, source)
        except TranslationError as problem:
            yield f"(** {tie.name}: NOT TRANSLATED. {_plain(str(problem))} *)\n"
    for quotation in QUOTATIONS:
        formula = quotation.formula
        try:
            written = as_written(formula, source)
        except TranslationError as problem:
            written = f"NOT FOUND. {problem}"
        place = ".".join(map(str, formula.part))
        where = f"{formula.module}, {formula.function}, {place}"
        yield _wrapped(f"(** {where}: {quotation.says}.\n    {_plain(written)} *)") + "\n"


def _lemma(tie: Tie, source: Source) -> str:
    statement = tie.statement
    for word, formula in tie.formulas.items():
        statement = statement.replace(f"<{word}>", translated(formula, source))
    return f"{_wrapped(f'Lemma {tie.name} : {statement}.')}\nProof.\n  {tie.proof}.\nQed.\n"


def _wrapped(text: str) -> str:
    return "\n".join(
        fill(line, WIDTH, subsequent_indent="    ", break_long_words=False) for line in text.splitlines()
    )


def _plain(written: str) -> str:
    """Return Python text for a comment of Coq: without strings and comment marks."""
    return " ".join(written.split()).replace('"', "'").replace("(*", "( *").replace("*)", "* )")
