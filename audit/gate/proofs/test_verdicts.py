"""Verdicts that Coq checks: counts that contradict a claim are decided, all others are not."""

from __future__ import annotations

import math
import re
import time
from fractions import Fraction

import pytest

from audit.bounds.clopper_pearson import clopper_pearson_epsilon_lower_bound
from audit.bounds.conditional import conditional_epsilon_lower_bound
from audit.bounds.counts import Counts
from audit.gate.conftest import copy_compiled
from audit.gate.proofs.sessions import first_errors
from audit.proofs import conditional_verdicts, verdicts
from audit.proofs.build import compile_file
from audit.proofs.conditional_verdicts import conditional_verdict_text
from audit.proofs.grammar import refused
from audit.proofs.releases.check import needed_sources
from audit.proofs.tails import NotContradictedError
from audit.proofs.verdicts import AuditedClaim, check_verdict, verdict_text

BUILD_SECONDS = 1800
LONGEST_CHECK = 60
"""Seconds of one core for two million draws on each input."""

FIVE_PERCENT = Fraction(1, 20)
SMALL = Counts(likely=90, likely_draws=100, unlikely=10, unlikely_draws=100)
LARGE = Counts(1_050_000, 2_000_000, 950_000, 2_000_000)
FEW = Counts(likely=40, likely_draws=2_000_000, unlikely=4, unlikely_draws=2_000_000)
RARE = Counts(likely=40, likely_draws=2_000_000, unlikely=0, unlikely_draws=2_000_000)


def below_the_bound(counts: Counts, share: float, delta: Fraction = Fraction(0)) -> AuditedClaim:
    bound = clopper_pearson_epsilon_lower_bound(counts, float(delta), float(FIVE_PERCENT))
    return AuditedClaim(Fraction(bound * share), delta, FIVE_PERCENT)


def below_the_conditional_bound(counts: Counts, share: float) -> AuditedClaim:
    bound = conditional_epsilon_lower_bound(counts, float(FIVE_PERCENT))
    return AuditedClaim(Fraction(bound * share), Fraction(0), FIVE_PERCENT)


def exact_tail(n: int, j: int, p: Fraction) -> Fraction:
    return sum((math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(j, n + 1)), Fraction(0))


@pytest.mark.parametrize(
    ("delta", "share"), [(Fraction(0), 0.5), (Fraction(0), 0.999999), (Fraction(1, 100), 0.9)]
)
def test_chances_that_are_found_are_what_the_theorem_asks_for(delta, share):
    claim = below_the_bound(SMALL, share, delta)
    n, m, j, k, *_, q, p, _, _, _, _ = verdicts._arguments(SMALL, claim)
    likely, unlikely = Fraction(p, verdicts.ONE), Fraction(q, verdicts.ONE)
    assert math.exp(claim.epsilon) * unlikely + claim.delta <= likely * (1 + Fraction(1, 10**12))
    assert exact_tail(n, j, likely) <= FIVE_PERCENT / 2
    assert exact_tail(m, m - k, 1 - unlikely) <= FIVE_PERCENT / 2


def test_odds_that_are_found_are_what_the_conditional_theorem_asks_for():
    claim = below_the_conditional_bound(SMALL, 0.9999)
    n, m, j, k, *_, p, odds, _, _, _, _ = conditional_verdicts._arguments(SMALL, claim)
    likely, ratio = Fraction(p, verdicts.ONE), Fraction(odds, verdicts.ONE)
    assert math.exp(claim.epsilon) <= (likely + ratio * (1 - likely)) * (1 + Fraction(1, 10**12))
    assert exact_tail(n, n - j, 1 - likely) <= FIVE_PERCENT / 1000
    terms = {i: math.comb(n, i) * math.comb(m, j + k - i) * ratio**i for i in range(j + k + 1)}
    assert sum(terms[i] for i in terms if i >= j) <= FIVE_PERCENT * 999 / 1000 * sum(terms.values())


@pytest.mark.parametrize("counts", [SMALL, LARGE, RARE], ids=["small", "large", "rare"])
def test_counts_do_not_contradict_what_is_above_their_conditional_bound(counts):
    with pytest.raises(NotContradictedError, match="a tail is not below"):
        conditional_verdict_text(counts, below_the_conditional_bound(counts, 1.000001))


def test_conditional_bound_is_for_delta_zero():
    with pytest.raises(NotContradictedError, match="delta 0"):
        conditional_verdict_text(RARE, AuditedClaim(Fraction(1), Fraction(1, 10**6), FIVE_PERCENT))


@pytest.mark.parametrize("counts", [SMALL, LARGE, RARE], ids=["small", "large", "rare"])
def test_counts_do_not_contradict_what_is_above_their_bound(counts):
    with pytest.raises(NotContradictedError, match="the two limits do not contradict"):
        verdict_text(counts, below_the_bound(counts, 1.000001))


@pytest.mark.parametrize(
    "counts",
    [Counts(0, 100, 0, 100), Counts(100, 100, 100, 100), Counts(50, 100, 50, 100), Counts(10, 100, 90, 100)],
)
def test_counts_that_say_nothing_contradict_nothing(counts):
    with pytest.raises(NotContradictedError):
        verdict_text(counts, AuditedClaim(Fraction(0), Fraction(0), FIVE_PERCENT))


@pytest.mark.parametrize(
    ("epsilon", "delta", "significance", "said"),
    [
        ("-1", "0", "1/20", "epsilon must be in"),
        ("101", "0", "1/20", "epsilon must be in"),
        ("1", "1", "1/20", "delta must be in"),
        ("1", "0", "0", "significance must be in"),
        ("1", "0", "1", "significance must be in"),
    ],
)
def test_claim_outside_its_range_is_an_error(epsilon, delta, significance, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        AuditedClaim(Fraction(epsilon), Fraction(delta), Fraction(significance))


def test_text_is_in_the_allowed_part_of_the_language():
    assert list(refused(verdict_text(SMALL, below_the_bound(SMALL, 0.5)))) == []
    assert list(refused(conditional_verdict_text(RARE, below_the_conditional_bound(RARE, 0.5)))) == []


def nearly_the_bound() -> dict[str, str]:
    share = 0.9999999
    return {
        f"{name}, {counts}": text(counts, below(counts, share))
        for name, text, below in (
            ("by Clopper and Pearson", verdict_text, below_the_bound),
            ("conditional", conditional_verdict_text, below_the_conditional_bound),
        )
        for counts in (SMALL, RARE)
    }


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
def test_coq_accepts_a_claim_right_below_the_bound(errors):
    assert [errors[name] for name in nearly_the_bound()] == [""] * 4


@pytest.mark.coq
@pytest.mark.lengthy
@pytest.mark.timeout(BUILD_SECONDS)
def test_coq_accepts_a_conditional_claim_about_many_draws(built):
    text = conditional_verdict_text(LARGE, below_the_conditional_bound(LARGE, 0.9999999))
    assert first_errors(built, {"": text}) == {"": ""}


def changed(text: str, place: int, value: int) -> str:
    """Return a verdict with another argument of the decision, and the statement adapted where it has it."""
    found = re.search(r"counts_contradict\w*_correct ([\d ]+)\)", text)
    assert found is not None
    arguments = found.group(1).split()
    arguments[place] = str(value)
    return text.replace(found.group(1), " ".join(arguments))


HINTS = {
    "q small": (9, 1),
    "q large": (9, 2**47),
    "p large": (10, 2**47 + 2**46),
    "p small": (10, 1),
    "up 0": (11, 0),
    "up far": (11, 50),
    "down 0": (12, 0),
    "other up 0": (13, 0),
    "other down 0": (14, 0),
}
CONDITIONAL_HINTS = {
    "p small": (8, 1),
    "p one": (8, 2**48),
    "odds small": (9, 2**48),
    "few up 0": (10, 0),
    "few down 0": (11, 0),
    "many up 0": (12, 0),
    "many down 0": (13, 0),
    "many down far": (13, 41),
}
STATEMENTS = {"1 / 20": "1 / 40", "Z.to_nat 10)": "Z.to_nat 12)"}
"""Levels and counts, and others."""

WRONG_HINT = re.compile(r"Unable to unify|incorrect|has type")


@pytest.fixture(scope="module")
def errors(built):
    """Return the first error in each verdict, right or wrong: one session loads the proofs once."""
    right = verdict_text(SMALL, below_the_bound(SMALL, 0.999))
    conditional = conditional_verdict_text(FEW, below_the_conditional_bound(FEW, 0.999))
    assert all(old in right for old in STATEMENTS)
    texts = nearly_the_bound() | {"right": right, "right conditional": conditional}
    texts |= {name: changed(right, *hint) for name, hint in HINTS.items()}
    texts |= {f"conditional, {name}": changed(conditional, *hint) for name, hint in CONDITIONAL_HINTS.items()}
    return first_errors(built, texts | {old: right.replace(old, new) for old, new in STATEMENTS.items()})


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
def test_wrong_hint_is_rejected(errors):
    assert errors["right"] == ""
    assert [name for name in HINTS if not WRONG_HINT.search(errors[name])] == []


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
def test_wrong_hint_of_a_conditional_verdict_is_rejected(errors):
    assert errors["right conditional"] == ""
    names = [f"conditional, {name}" for name in CONDITIONAL_HINTS]
    assert [name for name in names if not WRONG_HINT.search(errors[name])] == []


@pytest.mark.coq
@pytest.mark.timeout(BUILD_SECONDS)
def test_statement_about_other_counts_or_levels_is_rejected(errors):
    assert all(errors[old] for old in STATEMENTS)


@pytest.mark.coq
@pytest.mark.lengthy
@pytest.mark.timeout(BUILD_SECONDS)
def test_two_million_draws_are_decided_within_a_minute(built):
    (built / "Verdict.v").write_text(verdict_text(LARGE, below_the_bound(LARGE, 0.999)), encoding="utf-8")
    before = time.monotonic()
    compile_file(built, "Verdict.v", seconds=10 * LONGEST_CHECK)
    assert time.monotonic() - before < 10 * LONGEST_CHECK  # a machine may be busy; alone it takes some ten seconds


@pytest.mark.coq
@pytest.mark.exhaustive
@pytest.mark.timeout(BUILD_SECONDS)
def test_verdict_is_accepted_and_says_what_it_rests_on(built, tmp_path):
    library = tmp_path / "coq"
    claim = below_the_bound(SMALL, 0.9)
    copy_compiled(built, library, needed_sources(library, verdict_text(SMALL, claim)))
    finding = check_verdict(SMALL, claim, library=library)
    assert finding.accepted
    assert "a clean build; axioms: Coq." in finding.detail
