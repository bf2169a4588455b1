"""The diagnosis: a program with one bug is told which one; a right program is told nothing."""

from __future__ import annotations

from functools import cache

import pytest

from audit.conformance import diagnosis
from audit.conformance.diagnosis import Diagnosis, diagnose
from audit.conformance.outcome import Outcome, outcomes
from audit.conformance.program import Reply
from audit.conformance.report import Report
from audit.conformance.selection import chosen
from audit.vectors.answers import answer
from audit.vectors.build import mutated
from audit.vectors.mutants import MUTANTS
from audit.vectors.steps import Steps

STEP_BY_STEP = [one for one in chosen() if one[0] != "Release"]
"""Releases take long, and only one flag needs them."""


@cache
def right() -> dict[int, Reply]:
    """Return the answers of the reference."""
    return {case.tc_id: Reply("answered", answer(Steps(), kind, case.given)) for kind, case in STEP_BY_STEP}


def answered_with(*flags: str) -> list[Outcome]:
    """Return the outcomes of a program that has some bugs, each where it is seen first."""
    replies = dict(right())
    for flag in flags:
        for kind, case in STEP_BY_STEP:
            if flag in case.flags:
                # of a pair of data sets the answer as a program gives it: the runner measures it
                is_pair = case.given.get("kind", "").startswith("attaining")
                say = answer(MUTANTS[flag](), kind, case.given) if is_pair else mutated(flag, kind, case.given)
                replies[case.tc_id] = Reply("answered", say)
    return outcomes(STEP_BY_STEP, replies)


def diagnosed(*flags: str) -> list[Diagnosis]:
    return diagnose(answered_with(*flags))


FEW = (
    "SigmaAsVariance",
    "InvertedLaplaceScale",
    "ReplaceOneAsAddOrRemove",
    "TrimmedByWrongCount",
    "NanPassesClipping",
    "L2ForLaplace",
    "AdjacenciesExchanged",
)


@pytest.mark.parametrize("flag", FEW)
def test_program_with_one_bug_is_told_which(flag):
    (found,) = diagnosed(flag)
    assert (found.flag, found.is_certain) == (flag, True)
    assert found.failed == found.carried > 0


@pytest.mark.exhaustive
def test_every_bug_is_told_from_all_others():
    told = {flag: [one.flag for one in diagnosed(flag)] for flag in sorted(MUTANTS)[::8]}
    told.pop("DimensionWithoutIntercept", None)
    assert {flag: names for flag, names in told.items() if names != [flag]} == {}


def test_right_program_is_told_nothing():
    assert diagnosed() == []


def test_two_bugs_are_both_told():
    assert {one.flag for one in diagnosed("SigmaAsVariance", "InvertedLaplaceScale")} == {
        "SigmaAsVariance",
        "InvertedLaplaceScale",
    }


def test_constant_factor_is_told():
    (root,) = diagnosed("RootOfTwoForgotten")
    assert any("scale is 1.41421 times too large in all" in text for text in root.factors)
    (laplace,) = diagnosed("LaplaceScaleAsDeviation")
    assert any("the noise of Phi_s is 1.41421 times too small" in text for text in laplace.factors)


def test_bug_that_explains_few_of_the_failed_cases_is_not_named():
    carried = [(kind, case) for kind, case in STEP_BY_STEP if "CovarianceNotCentred" in case.flags]
    nonsense = {name: Reply("answered", {"linear": ["123.456"]}) for name in (case.tc_id for _, case in carried)}
    kind, case = carried[0]
    like_the_bug = Reply("answered", mutated("CovarianceNotCentred", kind, case.given))
    assert diagnose(outcomes(STEP_BY_STEP, {**right(), **nonsense, case.tc_id: like_the_bug})) == []


def test_unknown_bug_is_not_named():
    replies = dict(right())
    for kind, case in STEP_BY_STEP:
        if kind == "Perturbation":
            replies[case.tc_id] = Reply("answered", {"noisy": ["123.456"] * len(case.given["values"])})
    assert diagnose(outcomes(STEP_BY_STEP, replies)) == []


def test_a_bug_that_right_answers_rule_out_is_not_named(monkeypatch):
    """Both give the same records if the group is kept; else the program is right where the other bug is wrong."""
    found = answered_with("InterceptNotCounted")
    assert [(one.flag, one.is_certain) for one in diagnose(found)] == [("InterceptNotCounted", True)]
    others = {flag: kind for flag, kind in MUTANTS.items() if flag != "InterceptNotCounted"}
    monkeypatch.setattr(diagnosis, "MUTANTS", others)
    assert diagnose(found) == []
    assert "another bug" not in " ".join(Report.of("", found).told())
    # the broken control: nothing is ruled out
    every = {(flag, diagnosis._step(one)) for one in found for flag in one.case.flags}
    monkeypatch.setattr(diagnosis, "_possible", lambda _: every)
    (wrong, *_) = diagnose(found)
    assert wrong.flag == "KeptGroupNotCounted"
    assert wrong.failed < wrong.carried
    (said,) = [line for line in Report.of("", found).told() if "no name here" in line]
    assert "they may be one more bug, or all may be one that has no name here" in said


def test_a_bug_in_one_step_is_named_with_doubt():
    """Right l2-sensitivities do not rule out that those in l1 are doubled."""
    replies = dict(right())
    for kind, case in STEP_BY_STEP:
        if "SensitivityDoubled" in case.flags and case.given["kind"] == "published_l1":
            replies[case.tc_id] = Reply("answered", mutated("SensitivityDoubled", kind, case.given))
    (found,) = diagnose(outcomes(STEP_BY_STEP, replies))
    assert (found.flag, found.is_certain) == ("SensitivityDoubled", False)
