"""Formulas of the Python code are tied to the theorems: a wrong one is noticed, by its text and by Coq."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from audit.gate.proofs.sessions import first_errors
from audit.gate.proofs.toys import require_coq
from audit.proofs import constants, formulas
from audit.proofs.build import compile_file
from audit.proofs.formulas import (
    BALL,
    BOX,
    BUDGETS,
    DRAWS,
    GRID,
    KINDS,
    MECHANISMS,
    PEARSON,
    PUBLISHED,
    SCALES,
    STATEMENTS,
)
from audit.proofs.sources import PROJECT
from audit.proofs.translate import Formula, TranslationError, source_of_module, translated

BUILD_SECONDS = 1800


@dataclass(frozen=True)
class CodeMutant:
    """A wrong formula in the Python code.

    Parameters
    ----------
    says : str
    module, old, new : str
        Every occurrence is replaced.
    by_coq : bool
        Whether the lemma is then false; a quotation only differs.
    """

    says: str
    module: str
    old: str
    new: str
    by_coq: bool = True


EPSILON = "budget.epsilon_s / dimension + budget.epsilon_n * Fraction(dimension - 1, dimension)"

CODE_MUTANTS = (
    CodeMutant("Theorem 3 and 5 without 1/d", STATEMENTS, EPSILON, EPSILON.replace(" / dimension +", " +")),
    CodeMutant(
        "Theorems 3 and 5 with (d + 1)/d", STATEMENTS, EPSILON, EPSILON.replace("dimension - 1", "dimension + 1")
    ),
    CodeMutant(
        "Theorems 3 and 5, parts exchanged",
        STATEMENTS,
        EPSILON,
        EPSILON.replace("_s", "_x").replace("_n", "_s").replace("_x", "_n"),
    ),
    CodeMutant(
        "Theorem 5's delta halved",
        STATEMENTS,
        "PrivacyStatement(epsilon, budget.delta",
        "PrivacyStatement(epsilon, budget.delta / 2",
    ),
    CodeMutant(
        "composed delta without its product",
        BUDGETS,
        "1 - (1 - self.delta_s) * (1 - self.delta_n)",
        "1 - (1 - self.delta_s) - (1 - self.delta_n)",
    ),
    CodeMutant(
        "composed delta by the larger part",
        BUDGETS,
        "1 - (1 - self.delta_s) * (1 - self.delta_n)",
        "max(self.delta_s, self.delta_n)",
    ),
    CodeMutant(
        "delta split by 2 minus",
        BUDGETS,
        "(1 + square_root(1 - delta).upper)",
        "(2 - square_root(1 - delta).upper)",
    ),
    CodeMutant("the whole delta to each part", BUDGETS, "delta / (1 + square_root(1 - delta).upper)", "delta"),
    CodeMutant("the ratio solved for d + 1", BUDGETS, "(quotient + dimension - 1)", "(quotient + dimension + 1)"),
    CodeMutant(
        "composition of epsilon by maximum",
        STATEMENTS,
        "sum((statement.epsilon for statement in known), Fraction(0))",
        "max(statement.epsilon for statement in known)",
        by_coq=False,
    ),
    CodeMutant(
        "composition of delta by maximum",
        STATEMENTS,
        "sum((statement.delta for statement in known), Fraction(0))",
        "max(statement.delta for statement in known)",
        by_coq=False,
    ),
    CodeMutant(
        "composition of deltas by their epsilons",
        STATEMENTS,
        "sum((statement.delta for",
        "sum((statement.epsilon for",
    ),
    CodeMutant(
        "unequal weights exchanged on the box",
        BOX,
        "(w_s + (d - 1) * w_n) * linear",
        "(w_n + (d - 1) * w_s) * linear",
    ),
    CodeMutant("unequal weights, quadratic part on the box", BOX, "w_s * (2 * d - 1)", "w_s * (2 * d + 1)"),
    CodeMutant("unequal weights, gain on the box", BOX, "(q * q + 2 * q * t) / 8)", "(q * q + q * t) / 8)"),
    CodeMutant("linear change without 1/2", BOX, "Fraction(1, 2) + multiple", "Fraction(1, 4) + multiple"),
    CodeMutant("drift counted once for absolute", BOX, '"absolute": 2', '"absolute": 1', by_coq=False),
    CodeMutant(
        "lower end of the ball-l1 formula",
        BALL,
        "weight_s * (linear * root.lower + rest)",
        "weight_s * (linear + root.lower + rest)",
    ),
    CodeMutant(
        "upper end of the ball-l1 formula",
        BALL,
        "weight_s * (linear * root.upper + rest)",
        "weight_s * (linear * root.upper - rest)",
    ),
    CodeMutant("drift of the ball-l1 formulas", BALL, "HALF + 2 * e, Fraction(d, 8)", "HALF + e, Fraction(d, 8)"),
    CodeMutant(
        "Clopper and Pearson at twice the level",
        PEARSON,
        "counts.likely_draws, significance / 2",
        "counts.likely_draws, significance",
    ),
    CodeMutant(
        "Clopper and Pearson, upper limit at twice the level",
        PEARSON,
        "counts.unlikely_draws, significance / 2",
        "counts.unlikely_draws, significance",
    ),
    CodeMutant(
        "limits of exchanged counts",
        PEARSON,
        "lower_bound_on_probability(counts.likely,",
        "lower_bound_on_probability(counts.unlikely,",
        by_coq=False,
    ),
    CodeMutant("epsilon bound without delta", PEARSON, "math.log((low - delta) / high)", "math.log(low / high)"),
    CodeMutant("delta bound without exp", PEARSON, "low - math.exp(epsilon) * high", "low - epsilon * high"),
    CodeMutant(
        "sigma_s at delta_n", MECHANISMS, "budget.epsilon_s, budget.delta_s)", "budget.epsilon_s, budget.delta_n)"
    ),
    CodeMutant(
        "sigma_n at epsilon_s",
        MECHANISMS,
        "budget.epsilon_n, budget.delta_n)",
        "budget.epsilon_s, budget.delta_n)",
    ),
    CodeMutant(
        "scale_s at epsilon_n",
        MECHANISMS,
        "laplace_scale(delta_1, budget.epsilon_s)",
        "laplace_scale(delta_1, budget.epsilon_n)",
    ),
    CodeMutant("noise times 0.9", DRAWS, "noise.scales * unit_variates", "noise.scales * unit_variates * 9 / 10"),
    CodeMutant(
        "noise times 0.9, by a float",
        DRAWS,
        "noise.scales * unit_variates",
        "0.9 * noise.scales * unit_variates",
        by_coq=False,
    ),
    CodeMutant(
        "one variate shared by all coefficients", DRAWS, "(count, *noise.in_s.shape)", "(count, 1)", by_coq=False
    ),
    CodeMutant(
        "scales of the two groups exchanged",
        KINDS,
        "self.scale_s, self.scale_n)",
        "self.scale_n, self.scale_s)",
        by_coq=False,
    ),
    CodeMutant("Laplace scale upside down", SCALES, "l1_sensitivity / epsilon", "l1_sensitivity * epsilon"),
    CodeMutant("sigma with epsilon under one root only", SCALES, "ball(logarithm + epsilon)", "ball(logarithm)"),
    CodeMutant(
        "sigma with 2 for the square root of 2",
        SCALES,
        "ball(2 * l2_",
        "ball(4 * l2_",
    ),
    CodeMutant("sigma with pi/2", SCALES, "(2 / pi())", "(pi() / 2)"),
    CodeMutant("slack of one step for each monomial with w_s", GRID, "layout.dimension * in_s", "in_s"),
    CodeMutant("Lemma 1 with d^2/8", PUBLISHED, "Fraction(d * d, 4)", "Fraction(d * d, 8)"),
    CodeMutant("Lemma 2 with 2d", PUBLISHED, "3 * d", "2 * d"),
    CodeMutant("Lemma 4 with 8d", PUBLISHED, "9 * d", "8 * d"),
    CodeMutant("Lemmas 3 and 4 exchanged", PUBLISHED, 'fairness == "none"', 'fairness != "none"', by_coq=False),
)

FEWEST = 20


def mutated(mutant):
    """Return what a mutant makes of the sources."""

    def source(module):
        text = source_of_module(module)
        if module != mutant.module:
            return text
        assert mutant.old in text
        return text.replace(mutant.old, mutant.new)

    return source


def test_there_are_enough_mutants():
    assert len({mutant.says for mutant in CODE_MUTANTS}) == len(CODE_MUTANTS) >= FEWEST


@pytest.mark.parametrize("mutant", CODE_MUTANTS, ids=lambda mutant: mutant.says)
def test_wrong_formula_is_not_what_is_committed(mutant):
    committed = (PROJECT / constants.FILE).read_text(encoding="utf-8")
    assert any(lemma not in committed for lemma in formulas.lemmas(mutated(mutant)))


def test_all_formulas_are_translated_and_committed():
    committed = (PROJECT / constants.FILE).read_text(encoding="utf-8")
    for lemma in formulas.lemmas():
        assert "NOT TRANSLATED" not in lemma
        assert "NOT FOUND" not in lemma
        assert lemma in committed


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
def test_right_formulas_are_lemmas(built):
    require_coq()
    (built / "Formulas.v").write_text(formulas.text(), encoding="utf-8")
    compile_file(built, "Formulas.v")


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
def test_another_way_to_write_a_right_formula_is_a_lemma_again(built):
    same = CodeMutant(
        "", STATEMENTS, EPSILON, "(budget.epsilon_s + budget.epsilon_n * (dimension - 1)) / dimension"
    )
    known = set(formulas.lemmas())
    changed = [lemma for lemma in formulas.lemmas(mutated(same)) if lemma not in known]
    assert len(changed) == 2
    (built / "Same.v").write_text("\n".join([formulas.HEADER, *changed]), encoding="utf-8")
    compile_file(built, "Same.v")


BY_COQ = [mutant for mutant in CODE_MUTANTS if mutant.by_coq]


@pytest.fixture(scope="module")
def errors_of_wrong_formulas(built):
    """Return for each mutant the first error that Coq finds in each lemma that it changes."""
    right = set(formulas.lemmas())
    changed = {
        f"{mutant.says}, {number}": lemma
        for mutant in BY_COQ
        for number, lemma in enumerate(formulas.lemmas(mutated(mutant)))
        if lemma not in right
    }
    assert not any("NOT TRANSLATED" in lemma for lemma in changed.values())
    errors = first_errors(built, {name: f"{formulas.HEADER}\n{lemma}" for name, lemma in changed.items()})
    return {
        mutant.says: [error for name, error in errors.items() if name.startswith(f"{mutant.says}, ")]
        for mutant in BY_COQ
    }


@pytest.mark.coq
@pytest.mark.exhaustive
@pytest.mark.timeout(BUILD_SECONDS)
@pytest.mark.parametrize("mutant", BY_COQ, ids=lambda mutant: mutant.says)
def test_wrong_formula_is_no_lemma(errors_of_wrong_formulas, mutant):
    found = errors_of_wrong_formulas[mutant.says]
    assert found
    assert all(error and "not found" not in error for error in found)


# --- The translator ---------------------------------------------------------------------------------------------

SOURCE = """
def f(a, b):
    c, d = a + 1, b ** 2
    e = max(c, Fraction(d, 3))
    if a:
        g = 1
        g = 2
    h = e
    h += 1
    return rounded_up(-e if a > b else d)
"""


def of(part, names=None, facts=None):
    return translated(Formula("m", "f", part, names or {"a": "a", "b": "b"}, facts or {}), lambda _: SOURCE)


def test_expression_is_translated_through_the_variables_it_is_made_of():
    assert of(("return",), facts={"a > b": True}) == "(- (Rmax (a + 1) ((b ^ 2) / 3)))"
    assert of(("return",), facts={"a > b": False}) == "(b ^ 2)"
    assert of(("h",)) == "(Rmax (a + 1) ((b ^ 2) / 3))"


@pytest.mark.parametrize(
    ("part", "names", "said"),
    [
        (("return",), None, "nothing is said of the condition a > b"),
        (("g",), None, "g is assigned 2 times, not once"),
        (("z",), None, "z is assigned 0 times, not once"),
        (("e",), {"a": "a"}, "f: b"),
        (("return", 3), None, "has no part 3"),
    ],
)
def test_what_is_no_arithmetic_is_refused(part, names, said):
    with pytest.raises(TranslationError, match=said):
        of(part, names)


@pytest.mark.parametrize("name", ["nowhere", "C.f"])
def test_function_that_is_not_there_is_refused(name):
    with pytest.raises(TranslationError, match="not one"):
        translated(Formula("m", name, ("return",)), lambda _: SOURCE)


CLASS = """
class C:
    @property
    def f(self):
        return max(self.a, 1)
"""


def read(source, function="f", part=("return",)):
    return translated(Formula("m", function, part, {"a": "a", "b": "b", "self.a": "a"}), lambda _: source)


@pytest.mark.parametrize(
    "again",
    [
        "def f(a, b): return 1",
        "if True:\n    def f(a, b): return 1",
        "f = print",
        "from math import sqrt as f",
        "from math import *",
        "def g():\n    global f\n    f = print",
        "globals()['f'] = print",
    ],
)
def test_function_that_its_module_binds_again_is_refused(again):
    with pytest.raises(TranslationError, match="bound"):
        read(f"{SOURCE}{again}\n", part=("h",))
    # the same for another name, where a name is spelled out
    other = re.sub(r"\bf\b", "other", again) if "*" not in again and "globals" not in again else ""
    assert read(f"{SOURCE}{other}\n", part=("h",)) == read(SOURCE, part=("h",))


@pytest.mark.parametrize("again", ["C.f = 1", "C = 1", "    f = property(print)", "    def f(self): return 2"])
def test_method_that_is_bound_again_is_refused(again):
    assert read(CLASS, "C.f") == "(Rmax a 1)"
    with pytest.raises(TranslationError, match="bound 2 times"):
        read(f"{CLASS}{again}\n", "C.f")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def f(", "@doubled\ndef f(", "its decorator doubled"),
        ("    return", "    a *= 2\n    return", "its parameter a is changed"),
        ("    return", "    for b in range(3): pass\n    return", "its parameter b is changed"),
        ("def f(", "def max(*a): return 1\ndef f(", "max is not the function"),
        ("def f(", "from math import prod as max\ndef f(", "max is not the function"),
        ("    return", "    def max(*a): return 1\n    return", "max is not the function"),
        ("def f(", "Fraction = 1\nFraction = 2\ndef f(", "Fraction is not the function"),
        ("def f(", "from fractions import Fraction\ndef f(", None),
        ("def f(", "def doubled(a): return a\ndef f(", None),
    ],
)
def test_function_whose_words_mean_something_else_is_refused(old, new, said):
    changed = SOURCE.replace(old, new)
    if said is None:
        assert read(changed, part=("h",)) == read(SOURCE, part=("h",))
        return
    with pytest.raises(TranslationError, match=said):
        read(changed, part=("h",))
