"""Which event is chosen: by what it promises, with doubt where luck could promise as much."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audit.auditor.choose import (
    Candidate,
    Prospect,
    best_event,
    best_of,
    candidates_of,
    hopeful,
)
from audit.auditor.distinguish import Terms, estimate
from audit.auditor.draws import CHOOSE, CHOOSE_ON, Draws
from audit.auditor.events import FAMILIES, Event, Score
from audit.auditor.events.bits import BitScore
from audit.auditor.events.scores import AdditiveScore, CoordinateScore, IntervalScore
from audit.auditor.events.values import NotFiniteScore
from audit.auditor.scored import Outputs, Scored, scored_by
from audit.auditor.selection import Phases, select
from audit.bounds import Counts
from audit.subjects.catalogue import HalfNoiseLaplace, LeakyLaplace, ProductLaplace

COMMON, RARER = Counts(500, 1_000, 200, 1_000), Counts(20, 1_000, 2, 1_000)
EVENT = Event(CoordinateScore(0), 0.0, True, "left")


def candidate(promise: float, counts: Counts, face_value: float) -> Candidate:
    return Candidate(promise, 1.0, EVENT, counts, face_value)


@pytest.mark.parametrize(
    ("common", "rarer", "wins"),
    [
        # the rarer one promises more, but not more than the common one at face value
        ((0.8, 0.9), 0.85, "common"),
        ((0.8, 0.9), 0.95, "rarer"),
        # a common event without a positive promise is not a rival
        ((-0.1, 0.9), 0.05, "rarer"),
    ],
)
def test_a_rarer_event_wins_where_it_is_clearly_better(
    common: tuple[float, float], rarer: float, wins: str
) -> None:
    rivals = {"common": candidate(common[0], COMMON, common[1]), "rarer": candidate(rarer, RARER, 3.0)}
    assert best_of(rivals.values()) is rivals[wins]
    assert best_of(reversed(rivals.values())) is rivals[wins]


def test_of_no_candidates_none_is_best() -> None:
    assert best_of([]) is None


def test_laplace_noise_is_judged_by_a_common_event() -> None:
    """All tails have the same ratio; in 40 choices of 20,000 draws, tails win by luck in a few at most."""
    subject, chosen = HalfNoiseLaplace(1.0), []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        samples = [subject.sample(data, 20_000, rng) for data in subject.inputs()]
        chosen.append(best_event([CoordinateScore(0)], samples[0], samples[1], Prospect(70_000, 0.0, 0.05), None))
    assert sum(found is not None and found.common for found in chosen) >= 36


def phases_of(subject: HalfNoiseLaplace | LeakyLaplace, monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], int]:
    """Return the phases that a selection of 400,000 draws makes, with looks at 5,000 rows, and its rows."""
    monkeypatch.setattr("audit.auditor.selection.SMALLEST_FIRST_LOOK", 5_000)
    made, original = [], Draws.chunks

    def chunks(self: Draws, phase: int, rows: int) -> object:
        made.append(phase)
        return original(self, phase, rows)

    monkeypatch.setattr(Draws, "chunks", chunks)
    plan = Phases.of(400_000, 1, learning=True)
    source = Draws.of(subject, (3,))
    return made, select(source, plan, FAMILIES, Prospect(plan.certify, 0.0, 0.05)).rows


def test_a_leak_seen_a_dozen_times_is_a_reason_to_go_on() -> None:
    """Too few to be chosen: with as many draws again it may be.  Without the leak a common event is clear."""
    clear = {}
    for leak in (0.0, 15 / 30_000):
        rng = np.random.default_rng(1)
        subject = LeakyLaplace(1.0, leak=leak)
        samples = [subject.sample(data, 30_000, rng) for data in subject.inputs()]
        found = best_event([CoordinateScore(0)], samples[0], samples[1], Prospect(170_000, 0.0, 0.05), None)
        assert found is not None
        assert found.common
        clear[leak] = found.clear
    assert list(clear.values()) == [True, False]


def test_choosing_ends_early_where_a_common_event_is_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    made, rows = phases_of(HalfNoiseLaplace(1.0), monkeypatch)
    assert (CHOOSE in made, CHOOSE_ON in made, rows) == (True, False, 10_000)


def test_choosing_goes_on_where_a_rare_event_is_best(monkeypatch: pytest.MonkeyPatch) -> None:
    made, rows = phases_of(LeakyLaplace(1.0, leak=0.001), monkeypatch)
    assert (CHOOSE in made, CHOOSE_ON in made, rows) == (True, True, 40_000)


def test_draws_that_choosing_did_not_need_certify(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.auditor.selection.SMALLEST_FIRST_LOOK", 5_000)
    rng = np.random.default_rng(2)
    found = estimate(HalfNoiseLaplace(1.0), Terms(delta=0.0, draws=400_000, significance=0.05), rng)
    assert found.draws == found.requested_draws == 400_000
    assert found.counts.likely_draws == 170_000
    assert found.epsilon_lower_bound <= 2.0


def test_bounds_after_an_early_choice_are_seldom_above_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 30 audits at significance 0.05, at most 6 (probability 0.999 where the share is 0.05)."""
    monkeypatch.setattr("audit.auditor.selection.SMALLEST_FIRST_LOOK", 100)
    above = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, 77])
        found = estimate(
            HalfNoiseLaplace(1.0), Terms(delta=0.0, draws=3_000, significance=0.05, families=("coordinates",)), rng
        )
        above += found.epsilon_lower_bound > 2.0
    assert above <= 6


def test_scores_without_hope_are_not_judged_again() -> None:
    """A leak in one coordinate of two is a reason to look at that one again, and the other is left."""
    rng = np.random.default_rng(4)
    samples = [
        np.hstack([LeakyLaplace(1.0, leak=0.001).sample(side, 30_000, rng), rng.normal(size=(30_000, 1))])
        for side in (0.0, 1.0)
    ]
    scores = [CoordinateScore(0), CoordinateScore(1)]
    found = candidates_of(scores, Outputs.of(*samples), Prospect(170_000, 0.0, 0.05), None)
    best = best_of(found)
    assert best is not None
    assert hopeful(scores, found, best) == [scores[0]]
    # where nothing is promised, nothing is left out
    assert hopeful(scores, found, replace(best, promise=0.0)) == scores


def test_draws_in_two_parts_are_judged_as_if_joined() -> None:
    rng = np.random.default_rng(5)
    left, right = (HalfNoiseLaplace(1.0).sample(side, 9_000, rng) for side in (0.0, 1.0))
    learned = AdditiveScore.learn(left[:1_000], right[:1_000], monotone=True)
    bits = BitScore(0, "low_bits")
    scores: list[Score] = [CoordinateScore(0), IntervalScore(0, -0.5, 0.2), learned, bits, NotFiniteScore("any")]
    prospect = Prospect(50_000, 0.0, 0.05)
    joined = candidates_of(scores, Outputs.of(left, right), prospect, None)
    first, more = (left[:4_000], right[:4_000]), (left[4_000:], right[4_000:])
    assert candidates_of(scores, Outputs.of(*first, held=more), prospect, None) == joined
    # and if the further ones were scored and let go
    scored = Scored(5_000, {id(score): scored_by(score, *more) for score in scores})
    apart = candidates_of(scores, Outputs.of(*first, scored=scored), prospect, None)
    assert apart == joined
    # the broken control: scores of other outputs
    others = Scored(5_000, {id(score): scored_by(score, *more[::-1]) for score in scores})
    assert candidates_of(scores, Outputs.of(*first, scored=others), prospect, None) != joined


def test_wide_outputs_choose_on_more_than_are_held() -> None:
    assert [Phases.of(2_000_000, width, learning=True).scored for width in (1, 8)] == [0, 0]
    plan = Phases.of(2_000_000, 20, learning=True)
    assert plan.scored == 100_000 - plan.choose > 40_000
    assert Phases.of(2_000_000, 20, learning=False).scored == Phases.of(1_000_000, 20, learning=True).scored == 0


def test_number_of_workers_changes_no_choice_and_no_count():
    """All families, the slow ones first: on three workers they end in another order than on one."""

    def found(workers: int, seed: int = 0) -> list[object]:
        subject, terms = ProductLaplace(dimension=3), Terms(draws=30_000)
        one = estimate(subject, terms, np.random.default_rng(seed), workers=workers)
        return [(part.event.stored, part.counts) for part in (one.ideal, one.implementation)]

    assert found(1) == found(3)
    assert found(1) != found(3, seed=1)
