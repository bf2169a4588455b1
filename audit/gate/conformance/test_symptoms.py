"""What is wrong all over a run is named; a right program, and one with a bug in one step, show no such symptom."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from audit.conformance.exchange import Exchange
from audit.conformance.outcome import Outcome, outcomes
from audit.conformance.program import Reply, Work
from audit.conformance.report import Report
from audit.conformance.selection import chosen, report_of
from audit.conformance.symptoms import symptoms
from audit.gate.conformance.written import HONEST, perturbations, python_program
from audit.vectors.answers import answer
from audit.vectors.build import mutated
from audit.vectors.steps import Steps

Answer = dict[str, Any]


def answered(kind: str, inputs: Answer) -> Answer:
    """Return what the reference answers."""
    return answer(Steps(), kind, inputs)


def report(work: Work, answerer: Callable[[str, Answer], Answer] = answered) -> Report:
    """Return the report of a program that answers so."""
    replies = {case.tc_id: Reply("answered", answerer(kind, case.given)) for kind, case in work}
    return Report.of("a program", outcomes(work, replies))


def with_flag(work: Work, flag: str) -> list[Outcome]:
    replies = {case.tc_id: Reply("answered", mutated(flag, kind, case.given)) for kind, case in work}
    return outcomes(work, replies)


# --- answers without content ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answerer", "said"),
    [
        (lambda *_: {"error": "unknown"}, "inputs are refused"),
        (lambda *_: {"scale": math.nan, "noisy": None, "w": "NaN"}, "lack their numbers"),
        (lambda kind, given: {name.upper(): v for name, v in answered(kind, given).items()}, "lack their numbers"),
    ],
)
def test_answers_without_content_are_named_and_no_bug_is(answerer, said):
    found = report(PRINTED, answerer)
    (shown,) = found.symptoms
    assert said in shown.description
    assert (found.diagnoses, found.unexplained, found.verdict) == ([], 0, "refuted")


def test_few_answers_without_content_hide_no_bug():
    """Of a program that refuses a third of its cases, and has a bug in the others."""

    def answerer(kind: str, given: Answer) -> Answer:
        return {"error": "no"} if len(str(given)) % 3 == 0 else mutated("RootOfTwoForgotten", kind, given)

    found = report(PRINTED, answerer)
    assert found.symptoms == []
    assert "RootOfTwoForgotten" in {one.flag for one in found.diagnoses}


# --- digits --------------------------------------------------------------------------------------------------

PRINTED = [one for one in chosen(["Perturbation", "Scale", "Minimiser"]) if one[1].tc_id % 3 == 0]


def shortened(value: Any, form: str) -> Any:
    if isinstance(value, list):
        return [shortened(entry, form) for entry in value]
    try:
        return value if "/" in value else form % float(value)
    except ValueError:
        return value


@pytest.mark.parametrize("form", ["%.6g", "%.7g", "%.10e"])
def test_too_few_digits_are_named_and_no_bug_is(form):
    found = report(
        PRINTED, lambda kind, inputs: {name: shortened(v, form) for name, v in answered(kind, inputs).items()}
    )
    (shown,) = found.symptoms
    assert "too few digits" in shown.description
    assert found.diagnoses == []
    assert found.unexplained == 0
    assert any("too few digits" in line for line in found.lines())
    assert found.document()["symptoms"][0]["failed"] == len(shown.cases) > 10


def test_digits_of_a_right_program_are_enough():
    found = report(
        PRINTED, lambda kind, inputs: {n: shortened(v, "%.17g") for n, v in answered(kind, inputs).items()}
    )
    assert (found.symptoms, found.verdict) == ([], "not refuted")


def test_short_numbers_with_a_bug_are_no_lack_of_digits():
    """The noise of Perturbation is dyadic: its answers have few digits, the wrong ones too."""
    work = chosen(["Perturbation"])[:12]
    found = report(work, lambda _, inputs: {"noisy": [quotient(v) + 1 for v in inputs["values"]]})
    assert found.verdict == "refuted"
    assert found.symptoms == []


# --- tails ---------------------------------------------------------------------------------------------------

TAILS = [one for one in chosen(["erfc"]) if one[0] in ("Privacy", "Accounting")]


def distribution_by_erf(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


def distribution_by_erfc(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def tails(distribution: Callable[[float], float], kind: str, inputs: Answer) -> Answer:
    """Answer as a program in doubles does, with its own normal distribution."""
    if kind == "Accounting" and inputs["kind"] == "gaussian":
        moved = quotient(inputs["bound"]) * (2 if inputs["adjacency"] == "replace_one" else 1)
        shift = int(inputs["count"]) * (moved / quotient(inputs["scale"])) ** 2
    elif inputs["kind"] in ("gaussian_delta", "gaussian_epsilon"):
        shift = quotient(inputs["squaredShift"])
    else:
        return answered(kind, inputs)

    def delta_at(epsilon: float) -> float:
        mu = math.sqrt(shift)
        if mu == 0:
            return 0.0
        far = distribution(-mu / 2 - epsilon / mu)
        return distribution(mu / 2 - epsilon / mu) - (math.exp(epsilon) * far if far else 0.0)

    if inputs["kind"] == "gaussian_delta":
        return {"delta": delta_at(quotient(inputs["epsilon"]))}
    delta = quotient(inputs["delta"])
    if not 0 < delta < 1:
        return {"error": "delta"}
    low, high = 0.0, 600.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_at(middle) > delta else (low, middle)
    return {"epsilon": 0.0 if delta_at(0.0) <= delta else high}


def quotient(text: str) -> float:
    over, _, under = text.partition("/")
    return float(over) / float(under or 1)


def test_cancelled_tail_is_named():
    found = report(TAILS, lambda kind, inputs: tails(distribution_by_erf, kind, inputs))
    (shown,) = found.symptoms
    assert "1 - erf(x)" in shown.description
    assert (found.diagnoses, found.unexplained) == ([], 0)


def test_right_tail_is_not():
    found = report(TAILS, lambda kind, inputs: tails(distribution_by_erfc, kind, inputs))
    assert (found.symptoms, found.verdict) == ([], "not refuted")


@pytest.mark.parametrize("flag", ["ReplaceOneAsAddOrRemove", "DeltaOfOneTail"])
def test_bug_of_an_accountant_is_no_cancelled_tail(flag):
    found = with_flag(TAILS, flag)
    assert any(one.status == "failed" for one in found)
    assert symptoms(found) == []


# --- eigenvectors --------------------------------------------------------------------------------------------

SOLVED = chosen(["Minimiser"])


def turned(kind: str, inputs: Answer) -> Answer:
    """Minimise with the eigenvectors transposed, where nothing is special."""
    right, d = answered(kind, inputs), len(inputs["linear"])
    if right.get("status") != "ok" or inputs["repair"] not in ("trim", "none") or "covariance" in inputs or d < 2:
        return right
    matrix = np.zeros((d, d))
    places = [(e, k) for e in range(d) for k in range(d) if inputs["basis"] == "matrix" or e <= k]
    for (e, k), value in zip(places, inputs["quadratic"], strict=True):
        matrix[e, k] += quotient(value) / 2
        matrix[k, e] += quotient(value) / 2
    values, columns = np.linalg.eigh(matrix)
    inverse = [1 / v if v > 1e-12 * abs(values).max() else 0.0 for v in values]
    rows = columns.T
    w = rows @ (inverse * (rows.T @ np.array([quotient(v) for v in inputs["linear"]]))) / -2
    return {"status": "ok", "w": w.tolist(), "objective": 0.0}


def test_transposed_eigenvectors_are_named():
    found = report(SOLVED, turned)
    (shown,) = found.symptoms
    assert "eigenvectors are transposed" in shown.description
    assert found.diagnoses == []
    assert len(shown.cases) > 10


@pytest.mark.parametrize("flag", ["HalfForgotten", "TrimmedByWrongCount", "NegativeEigenvaluesFlipped"])
def test_bug_of_a_minimiser_is_no_transposition(flag):
    found = with_flag(SOLVED, flag)
    assert any(one.status == "failed" for one in found)
    assert symptoms(found) == []


# --- the form of a line --------------------------------------------------------------------------------------

FLAT = """
for line in sys.stdin:
    given = dict(part.split("=", 1) for part in line.rstrip("\\n").split("\\t") if "=" in part)
    if "tcId" in given:
        i = {name: value.split(",") if "," in value else value for name, value in given.items()}
        found = ",".join(str(v) for v in noisy({"inputs": i}))
        print("tcId=%s\\tnoisy=%s" % (given["tcId"], found), flush=True)
"""
"""A port that reads flat lines, and nothing else."""


@pytest.mark.parametrize(("code", "exchange", "other"), [(FLAT, "json", "flat"), (HONEST, "flat", "json")])
def test_forgotten_form_of_a_line_is_named(code, exchange: Exchange, other):
    found = report_of(python_program(code), perturbations(5), exchange, timeout=60)
    (shown,) = found.symptoms
    assert f"give --exchange {other}" in shown.description
    assert "3 of 3" in shown.evidence
    assert found.verdict != "not refuted"


@pytest.mark.parametrize(
    ("code", "exchange"), [(HONEST, "json"), (FLAT, "flat"), ("for c in cases(): sys.exit(1)", "json")]
)
def test_right_form_of_a_line_and_a_dead_program_get_no_hint(code, exchange: Exchange):
    assert report_of(python_program(code), perturbations(5), exchange, timeout=60).symptoms == []


# --- a bug without a name ------------------------------------------------------------------------------------


def test_a_bug_without_a_name_is_told_by_its_factor():
    def too_large(kind: str, inputs: Answer) -> Answer:
        told = answered(kind, inputs)
        return {"scale": str(float(told["scale"]) * 4.25)} if inputs["kind"] == "extended_gaussian" else told

    work = [one for one in chosen(["Scale"]) if one[1].right is not None and "scale" in one[1].right]
    found = report(work, too_large)
    text = "\n".join(found.told())
    assert found.diagnoses == []
    assert "match no bug that has a name here" in text
    assert "  Scale, extended_gaussian: scale is 4.25 times too large in all" in text
    assert "laplace" not in text
    assert list(report(work).told()) == []
