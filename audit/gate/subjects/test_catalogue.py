"""The catalogue, our auditor's score over it, and the scorer's controls: auditors that are bad on purpose."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

from audit.exact.neighbours import scales
from audit.subjects.catalogue import CATALOGUE
from audit.subjects.catalogue.functional.budgets import Adfc
from audit.subjects.catalogue.functional.calibrated import Functional
from audit.subjects.catalogue.functional.scales import InterceptOutsideNormWithSlack
from audit.validity.scores.auditors import Blind, BlindScored, audit_entry, our_auditor
from audit.validity.scores.scoring import Exam, score_auditor
from reference.accounting import PrivacyStatement, exact_privacy
from reference.common.numbers import exact
from reference.sensitivity import Setting, exact_l1

HERE = "audit.gate.subjects.test_catalogue"
ROOT = Path(__file__).parents[3]

RIGHT = tuple(name for name, kind in CATALOGUE.items() if kind().is_right)
BROKEN = tuple(name for name, kind in CATALOGUE.items() if not kind().is_right)
BEYOND_THE_GATE = ("gaussian_classic",)
"""Needs 2e9 draws, and to be told the best event: see the tests of its reach."""

FALL_TO_THEIR_DRAWS_ONLY = (
    "laplace_leaky",
    "sparse_vector_3",
    "gaussian_classic_within_reach",
    "rare_codes",
    "rare_pairs",
    "functional_intercept_outside_norm",
    "functional_retried_until_definite",
    "adfc_theorem_5_budgets",
)
"""The others are flagged with fewer draws than their rows have."""
GATE_SIGNIFICANCE = 1e-8
"""Of each bound on a right mechanism: 29 of them cost 2.9e-7 of the gate's 1e-6."""


# --- The entries ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CATALOGUE)
def test_right_entries_lose_at_most_their_claim_and_broken_ones_more(name):
    entry = CATALOGUE[name]()
    assert entry.source
    if entry.is_right:
        assert entry.true_epsilon <= entry.claimed_epsilon * (1 + 1e-9)
    else:
        assert entry.true_epsilon > 1.1 * entry.claimed_epsilon


FUNCTIONAL = {name: kind for name, kind in CATALOGUE.items() if issubclass(kind, Functional)}


BY_ANOTHER_ARGUMENT = ("functional_slack_redrawn_per_pass", "functional_slack_retried_until_definite")


@pytest.mark.parametrize("name", [n for n in FUNCTIONAL if n in RIGHT and n not in BY_ANOTHER_ARGUMENT])
def test_right_functional_entries_are_right_for_all_neighbours(name):
    """The pair is one of many: the exact privacy is a supremum over all of them, in the limit of many records."""
    entry = FUNCTIONAL[name]()
    setting = Setting(entry.setting.dimension, entry.setting.fairness, entry.setting.norm)
    if isinstance(entry, InterceptOutsideNormWithSlack):
        # the box holds the ball with its intercept
        setting = Setting(3, "none", "unit_box")
    claim = PrivacyStatement(
        exact("epsilon", entry.claimed_epsilon), exact("delta", entry.claimed_delta), "replace_one", ("catalogue",)
    )
    found = exact_privacy(setting, entry.noise, claim, claim.delta)
    assert found.verdict in ("proved", "enclosed")
    # and the pair of the entry is among those neighbours
    assert entry.true_epsilon <= float(found.epsilon.upper) * (1 + 1e-9)


def test_two_passes_with_the_published_constant_are_right():
    entry: Any = CATALOGUE["functional_slack_redrawn_per_pass"]()
    setting = Setting(entry.setting.dimension, entry.setting.fairness, entry.setting.norm)
    half = PrivacyStatement(exact("epsilon", "1/2"), exact("delta", "0"), "replace_one", ("catalogue",))
    # half of epsilon for each pass, which compose
    assert (entry.passes, entry.claimed_epsilon) == (2, 1.0)
    assert exact_privacy(setting, entry.noise, half, half.delta).verdict in ("proved", "enclosed")


def test_retries_with_the_published_constant_are_right_for_all_neighbours():
    """The divisor is a probability under the noise of the square alone, whose own sensitivity is 1/8."""
    entry: Any = CATALOGUE["functional_slack_retried_until_definite"]()
    all_coefficients = float(exact_l1(Setting(1, "none", "unit_box", "add_or_remove_one")).upper)
    assert all_coefficients == 5 / 8
    scale = float(scales(entry.noise)[1])
    assert scale == 5 / 4 / entry.epsilon
    assert entry.true_epsilon <= (all_coefficients + 1 / 8) / scale <= 0.6 * entry.claimed_epsilon * (1 + 1e-12)


@pytest.mark.parametrize("name", [name for name in FUNCTIONAL if name in BROKEN])
def test_broken_functional_entries_are_right_without_their_mistake(name):
    """Broken control of the mistake: the same budget and the same kind of pair lose no more than the claim."""
    entry = FUNCTIONAL[name]()
    mended = entry.mended
    assert type(mended) is not type(entry)
    assert mended.claimed_epsilon == entry.claimed_epsilon
    assert 0.1 * mended.claimed_epsilon < mended.true_epsilon <= mended.claimed_epsilon * (1 + 1e-9)
    left, right = mended.inputs()
    assert not np.array_equal(left, right)


@pytest.mark.parametrize(
    "name",
    [
        "functional_slack_wrong_factor",
        "functional_slack_intercept",
        "functional_slack_redrawn_per_pass",
    ],
)
def test_slack_alone_makes_these_mistakes_right(name):
    """The same mistake on the exact sensitivity of the same domain is a violation."""
    entry = FUNCTIONAL[name]()
    published = float(scales(entry.right_noise)[1])
    tight = float(exact_l1(Setting(3, "none", "unit_ball")).upper)
    assert entry.true_epsilon * published / tight > 1.1 * entry.claimed_epsilon


def test_classic_gaussian_has_the_delta_that_is_known():
    entry: Any = CATALOGUE["gaussian_classic"]()
    mu = 1 / entry.sigma
    delta = norm.cdf(mu / 2 - 15 / mu) - math.exp(15) * norm.cdf(-mu / 2 - 15 / mu)
    assert delta == pytest.approx(0.0231367, abs=1e-7)


def test_theorem_5_claims_what_its_formula_says():
    entry: Any = CATALOGUE["adfc_theorem_5_budgets"]()
    assert isinstance(entry, Adfc)
    scale_s, scale_n = scales(entry.noise)
    # sigma falls a little more slowly than 1 / epsilon
    assert 50 < float(scale_n / scale_s) < 100


# --- The gate: our auditor --------------------------------------------------------------------------------------


def test_our_auditor_flags_no_right_mechanism():
    score = score_auditor(
        our_auditor, "ours", Exam(RIGHT, draws=20_000, significance=GATE_SIGNIFICANCE, first_seed=2)
    )
    assert [line.name for line in score.entries if line.flagged or line.wrong] == []
    assert score.errors == 0
    assert score.false_alarms.of == len(RIGHT)
    # not by saying nothing: half of the bounds reach a quarter of the truth
    assert score.tightness is not None
    assert score.tightness > 1 / 4


TIGHT = ("laplace", "geometric", "private_mean")
"""Right entries that lose all of their claim in common outputs, so that every wrong bound is a false alarm."""


def bold(*asked):
    """Ours, and a fifth of the claim more."""
    ideal, bits = our_auditor(*asked)
    return ideal + 0.2, bits + 0.2


def test_false_alarms_are_as_many_as_the_significance_allows():
    """Over seeds, at a level where some must come; and the auditor that errs more often is found out."""
    exam = Exam(TIGHT, draws=2_000, seeds=10, significance=0.3, first_seed=77)
    ours = score_auditor(our_auditor, "ours", exam)
    assert ours.false_alarms.of == 30
    assert 0 < ours.false_alarms.count <= ours.wrong_bounds.count
    assert binom.sf(ours.false_alarms.count - 1, 30, 0.3) > 1e-6
    assert not ours.refuted
    assert score_auditor(bold, "bold", exam).refuted


@pytest.mark.parametrize("name", [name for name in BROKEN if name not in BEYOND_THE_GATE])
def test_our_auditor_flags_every_broken_mechanism(name):
    draws = None if name in FALL_TO_THEIR_DRAWS_ONLY else 30_000
    score = score_auditor(our_auditor, "ours", Exam([name], draws=draws, significance=1e-3, first_seed=2))
    assert score.missed == ()


# --- The scorer's controls --------------------------------------------------------------------------------------

FEW = ("laplace", "geometric", "functional_exact", "noisy_max_index_gumbel", "laplace_half_noise", "laplace_leaky")


def silent(*_):
    return 0.0


def hysterical(*_):
    return math.inf


def plug_in(subject, _epsilon, _delta, draws, _significance, seed):
    """The largest log ratio of a histogram's counts, chosen and estimated on the same draws."""
    rng = np.random.default_rng(seed)
    left, right = (subject.sample(data, draws // 2, rng)[:, 0] for data in subject.inputs())
    edges = np.quantile(np.concatenate([left, right]), np.linspace(0, 1, 200))
    counts = [np.histogram(side, np.unique(edges))[0] for side in (left, right)]
    return float(np.abs(np.log(np.maximum(counts[0], 1) / np.maximum(counts[1], 1))).max())


def failing(_subject, _epsilon, _delta, _draws, _significance, seed):
    return math.nan if seed % 2 else {}["nothing"]


def curious(subject, *_):
    return float(subject.true_epsilon)


def greedy(subject, _epsilon, _delta, draws, _significance, seed):
    rng = np.random.default_rng(seed)
    for data in subject.inputs():
        subject.sample(data, draws, rng)
    return 0.0


def leaving(*_):
    raise SystemExit(0)


def interrupted_at_the_second(_subject, *_):
    if SEEN:
        raise KeyboardInterrupt
    SEEN.append(1)
    return 0.5


SEEN: list[int] = []


def for_the_bits(*_):
    return 0.0, 9.0


def score(auditor, **choices):
    how = {name: choices.pop(name) for name in ("workers", "progress") if name in choices}
    exam = Exam(**({"names": FEW, "draws": 20_000, "seeds": 4} | choices))
    return score_auditor(auditor, auditor.__name__, exam, **how)


def test_an_auditor_that_says_nothing_detects_nothing_and_is_valid():
    found = score(silent)
    assert (found.detection.count, found.false_alarms.count, found.wrong_bounds.count) == (0, 0, 0)
    assert not found.refuted
    assert found.tightness == 0.0
    assert found.missed == ("laplace_half_noise", "laplace_leaky")


def test_an_auditor_that_says_infinity_detects_all_and_is_refuted():
    found = score(hysterical)
    assert (found.detection.count, found.false_alarms.count, found.wrong_bounds.count) == (8, 16, 20)
    assert found.refuted
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["tightness"] == "infinity"


def test_the_plug_in_estimate_is_refuted():
    found = score(plug_in)
    assert found.wrong_bounds.count > 10
    assert found.refuted


def test_a_few_wrong_bounds_do_not_refute_what_they_may_be():
    """One of twenty at significance 0.05 is what is allowed; ours has about none."""

    def one_in_twenty(_subject, _epsilon, _delta, _draws, _significance, seed):
        return 3.0 if seed % 20 == 0 else 0.5

    found = score(one_in_twenty, names=("laplace",), seeds=100)
    assert 0 < found.wrong_bounds.count < 15
    assert not found.refuted
    assert score(one_in_twenty, names=("laplace",), seeds=100, significance=1e-3).refuted


def test_errors_are_counted_as_missed():
    found = score(failing)
    assert found.errors == len(FEW) * 4
    assert found.detection.count == 0
    messages = {message for line in found.entries for message in line.errors}
    assert messages == {"answered nan, which is neither a number nor a pair of numbers", "KeyError: 'nothing'"}


@pytest.mark.parametrize(
    "answer", [None, "1.5", True, (1.0,), (1.0, 2.0, 3.0), (1.0, "2"), (0.5, math.nan), [0.1, 0.2]]
)
def test_answers_that_are_no_bounds_are_errors(answer):
    bound, said = audit_entry(lambda *_: answer, "laplace", 1_000, 0.05, 0)
    assert bound is None
    assert said == f"answered {answer!r}, which is neither a number nor a pair of numbers"


@pytest.mark.parametrize("answer", [1, 1.0, np.float64(1.0), np.int64(1), (1.0, np.float32(2.0)), math.inf])
def test_numbers_of_all_kinds_are_bounds(answer):
    expected = math.inf if answer is math.inf else 1.0
    assert audit_entry(lambda *_: answer, "laplace", 1_000, 0.05, 0) == (expected, None)


def test_leaving_the_program_is_an_error_of_the_auditor():
    assert score(leaving, seeds=1).entries[0].errors == ("SystemExit: 0",)


def test_an_auditor_gets_no_more_draws_than_it_was_given():
    messages = {message for line in score(greedy, seeds=1).entries for message in line.errors}
    assert messages == {"SubjectError: the auditor asks for more than its 20,000 draws"}
    # ours keeps to them, whatever their number
    for draws in (1_000, 20_001, 99_999, 100_000):
        assert audit_entry(our_auditor, "laplace", draws, 0.05, 3)[1] is None


def test_an_interrupted_score_keeps_the_entries_that_are_done():
    SEEN.clear()
    found = score(interrupted_at_the_second, names=("laplace", "geometric"), seeds=1)
    assert found.stopped == "interrupted"
    assert [line.name for line in found.entries] == ["laplace"]
    assert found.to_json()["stopped"] == "interrupted"
    SEEN.clear()
    # of an entry with two audits one is not enough
    assert score(interrupted_at_the_second, names=("laplace",), seeds=2).entries == ()


def test_an_audit_of_ours_that_is_interrupted_ends_the_score(monkeypatch):
    """`estimate` itself returns what it has, of fewer draws."""
    certifying: list[int] = []

    def sample(_self, data, count, rng):
        certifying.append(count)
        # two inputs in two phases, and the looks at the subject, come before
        if len(certifying) > 14:
            raise KeyboardInterrupt
        return rng.laplace(data, 1.0, size=(count, 1))

    monkeypatch.setattr(type(CATALOGUE["laplace"]()), "sample", sample)
    found = score(our_auditor, names=("laplace",), draws=4_000_000, seeds=1)
    assert (found.stopped, found.entries) == ("interrupted", ())
    assert len(certifying) > 14


def test_progress_counts_the_draws_of_every_audit():
    told: list[int] = []
    score(silent, seeds=2, progress=told.append)
    assert sum(told) == 2 * len(FEW) * 20_000


def test_an_auditor_cannot_read_the_answer():
    assert "no attribute 'true_epsilon'" in score(curious).entries[0].errors[0]
    visible = {name for name in dir(Blind(CATALOGUE["laplace"](), 1_000)) if not name.startswith("_")}
    assert visible == {"inputs", "sample"}
    assert hasattr(BlindScored(CATALOGUE["laplace_scored"](), 1_000), "log_likelihood_ratio")


def test_the_bits_are_judged_by_their_own_bound():
    assert audit_entry(for_the_bits, "laplace_float", 20_000, 0.05, 1) == (9.0, None)
    assert audit_entry(for_the_bits, "laplace_leaky", 20_000, 0.05, 1) == (0.0, None)


def test_scores_do_not_depend_on_workers_or_on_the_other_entries():
    alone = score(our_auditor, names=("laplace",), draws=4_000, seeds=2)
    together = score(our_auditor, names=("laplace_leaky", "laplace"), draws=4_000, seeds=2, workers=2)
    assert together.entries[1].bounds == alone.entries[0].bounds
    assert len(set(alone.entries[0].bounds)) == 2


def test_the_ceiling_is_out_of_reach():
    """A claim above the ceiling is not within reach, whatever the auditor."""
    found = score(silent, names=("gaussian_classic", "laplace_half_noise"))
    assert [line.within_reach for line in found.entries] == [False, True]
    assert 5 < found.entries[1].ceiling < 10
