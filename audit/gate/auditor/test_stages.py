"""Audits that look as they go: a large loss shows within a thousand draws, and stages share the significance."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from audit.auditor.events import QUICK
from audit.auditor.selection import Phases
from audit.auditor.stages import GROWTH, stages_of
from audit.auditor.subject import DrawingError
from audit.bounds import StoppingRule
from audit.bounds.e_value import UNKNOWN
from audit.gate.auditor.auditing import audit
from audit.subjects.catalogue import HalfNoiseLaplace, Laplace, LeakyLaplace

QUICKLY = {"families": ("coordinates",), "claimed_epsilon": 1.0}


@pytest.mark.parametrize("draws", [1_000, 2_000, 3_000, 4_000, 10_000, 100_000, 10**6, 10**9])
@pytest.mark.parametrize("width", [1, 20, 600])
def test_stages_share_the_significance_and_all_draws(draws, width):
    plan = Phases.of(draws, width, learning=True)
    stages = stages_of(plan, width)
    assert sum(stage.share for stage in stages) == pytest.approx(1.0)
    assert [stage.last for stage in stages] == [False] * (len(stages) - 1) + [True]
    assert stages[-1].until == plan.selection + plan.certify
    assert all(one.until == other.before for one, other in pairwise(stages))
    assert all(stage.certify > 0 for stage in stages)
    assert all(stage.until <= (GROWTH + 0.01) * stage.before for stage in stages[1:-1])
    # a first look within 1,000 draws, but for those of a screen
    assert 2 * (stages[0].before - plan.screen) <= 900


@pytest.mark.parametrize("asked", [1_000, 2_500, 10_000, 100_000])
def test_half_the_noise_is_found_in_a_thousand_draws(asked):
    found = [
        audit(HalfNoiseLaplace(1.0), asked, seed, until=StoppingRule(0.1), families=QUICK) for seed in range(5)
    ]
    assert np.median([one.draws for one in found]) <= 1_000
    assert all(one.verdict(1.0) == "refuted" and one.epsilon_lower_bound <= 2.0 for one in found)


def test_only_the_last_stage_ends_for_want_of_a_larger_loss():
    """A rare leak, that no event of the first stages shows: a gap so wide would end them at once."""
    found = audit(LeakyLaplace(1.0, leak=0.004), 60_000, until=StoppingRule(3.0), families=QUICK)
    assert found.verdict(1.0) == "refuted"
    assert found.draws > 20_000
    assert found.ideal.share == pytest.approx(0.9 * 0.5)


def test_false_alarms_are_no_more_than_promised(monkeypatch):
    """Of 12 audits of a right mechanism, at most 3 (probability 0.998); by the point estimate alone all."""

    def alarms() -> int:
        rule = StoppingRule(1e-3)
        return sum(
            audit(Laplace(1.0), 2_000, seed, until=rule, **QUICKLY).verdict(1.0) == "refuted" for seed in range(12)
        )

    assert alarms() <= 3
    monkeypatch.setattr("audit.bounds.anytime.quick_decisions", lambda *given: [UNKNOWN] * len(given[1]))
    monkeypatch.setattr("audit.bounds.anytime.log_e_value", lambda *counts: (counts[0] - np.e * counts[2]) * 1e9)
    assert alarms() >= 10


@pytest.mark.lengthy
@pytest.mark.parametrize("draws", [3_500, 20_000])
def test_false_alarms_of_many_audits_are_rare(draws):
    rule = StoppingRule(1e-3)
    alarms = sum(
        audit(Laplace(1.0), draws, seed, until=rule, **QUICKLY).verdict(1.0) == "refuted" for seed in range(2_000)
    )
    assert binom.sf(alarms - 1, 2_000, 0.05) > 1e-3


def test_memory_does_not_grow_with_the_draws(monkeypatch):
    """Beyond those that teach and choose, draws are counted chunk by chunk."""
    monkeypatch.setattr("audit.auditor.selection.ENOUGH_TO_LEARN", 2**12)
    monkeypatch.setattr("audit.auditor.selection.ENOUGH_TO_CHOOSE", 2**12)
    peaks = []
    for draws in (100_000, 1_000_000):
        tracemalloc.start()
        audit(Laplace(1.0), draws, families=("coordinates",))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 2**22


def test_calls_of_later_stages_are_let_go_but_for_their_first_outputs():
    tracemalloc.start()
    audit(Laplace(1.0), 5_000_000, outputs_per_call=500, max_seconds=1e6, **QUICKLY)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # the outputs of all calls but the last stage's would take 20 MB
    assert peak < 12e6


class Fails(HalfNoiseLaplace):
    """Without much noise, and without outputs after so many."""

    left = 0

    def sample(self, data, count, rng):
        self.left -= count
        if self.left < 0:
            raise RuntimeError("no more")
        return data + 0.2 * rng.laplace(size=(count, 1))


@pytest.mark.parametrize("outputs", [2_500, 9_000, 30_000])
def test_refutation_before_a_draw_failed_stands(outputs):
    """Whichever draw failed: also one of the short calls that are made after those that certify."""
    subject = Fails(1.0)
    subject.left = outputs
    found = audit(subject, 1_000_000, max_seconds=1e6, **QUICKLY)
    assert (found.verdict(1.0), found.stopped) == ("refuted", "sample() failed: RuntimeError: no more")
    # the control: without a refutation the failure is what there is to say
    subject.left = outputs
    with pytest.raises(DrawingError, match=r"no more; the .* draws before do not refute the claim"):
        audit(subject, 1_000_000, max_seconds=1e6, families=("coordinates",), claimed_epsilon=20.0)


def test_few_draws_choose_however_many_certify():
    """A share of the draws where they are few; of many at most so many, and at most so many numbers."""
    rows = [Phases.of(draws, 8, learning=True).selection for draws in (10**5, 10**7, 10**9, 10**10)]
    assert rows[0] == 15_000
    assert rows[1] == rows[2] == rows[3] == 2 * 2**17
    # of single numbers more: a leak of 1e-4 must occur often enough to be chosen
    assert Phases.of(4 * 10**6, 1, learning=True).choose == 400_000
