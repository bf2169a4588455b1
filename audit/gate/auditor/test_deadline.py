"""A limit of time holds in every phase: nothing is asked for once it is over, and what was certified stands."""

from __future__ import annotations

import numpy as np
import pytest

from audit.auditor.certification import RepeatedRun
from audit.auditor.deadline import Deadline, OutOfTimeError
from audit.auditor.draws import FEWEST_ROWS
from audit.auditor.selection import select_from
from audit.auditor.tally import LOOKS_OF_VERDICT, EventTally
from audit.auditor.verdict import shown
from audit.bounds.anytime import AnytimeBound
from audit.evidence.copies import patience_within
from audit.gate.auditor.auditing import audit
from audit.subjects.catalogue import HalfNoiseLaplace

LIMIT = 3.0
ALL = ("coordinates", "intervals", "additive", "bits")
QUICKLY = {"families": ("coordinates", "likelihood_ratio")}


class Clock:
    """A clock that goes only while somebody draws or scores."""

    def __init__(self) -> None:
        self.seconds, self.longest = 0.0, 0.0

    def spend(self, seconds: float) -> None:
        self.seconds += seconds
        self.longest = max(self.longest, seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(Deadline, "now", staticmethod(lambda: clock.seconds))
    return clock


class Slow(HalfNoiseLaplace):
    """Half the noise, so many seconds an output and so many a score."""

    clock: Clock
    a_draw = a_score = 0.0
    width = 1

    def sample(self, data, count, rng):
        self.clock.spend(count * self.a_draw)
        return np.repeat(super().sample(data, count, rng), self.width, axis=1)


class Scored(Slow):
    def log_likelihood_ratio(self, outputs):
        self.clock.spend(len(outputs) * self.a_score)
        return np.abs(outputs[:, 0] - 1.0) - np.abs(outputs[:, 0])


def slow(clock: Clock, kind: type[Slow] = Slow, **seconds: float) -> Slow:
    subject = kind(1.0)
    for name, value in {"clock": clock, **seconds}.items():
        object.__setattr__(subject, name, value)
    return subject


@pytest.mark.parametrize(("a_draw", "width"), [(1e-3, 1), (1e-4, 1), (1e-3, 600), (1e-4, 600)])
def test_slow_draws_end_in_time_and_keep_the_certified(clock, a_draw, width):
    found = audit(slow(clock, a_draw=a_draw, width=width), 1_000_000, max_seconds=LIMIT, **QUICKLY)
    assert found.stopped == "the time is over"
    # a call on each input more would be too many
    assert 0.9 * LIMIT <= clock.seconds <= LIMIT
    assert 0 < found.epsilon_lower_bound <= 2.0
    assert found.method == "anytime_betting"


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        # the probe takes 964 outputs, the first choice 300
        (Slow, {"a_draw": 0.01}),
        (Slow, {"a_draw": 0.003}),
        (Scored, {"a_score": 0.01}),
        # screened first
        (Slow, {"a_draw": 2.5e-3, "width": 600}),
    ],
    ids=["probe", "first choice", "scores", "screen"],
)
def test_time_over_before_anything_was_certified_is_said(clock, kind, seconds):
    with pytest.raises(OutOfTimeError, match="before any draw could certify"):
        audit(slow(clock, kind, **seconds), 1_000_000, max_seconds=LIMIT, **QUICKLY)
    assert clock.seconds <= 1.1 * LIMIT + 2 * clock.longest


def costly_looks(clock: Clock, monkeypatch: pytest.MonkeyPatch, a_look: float) -> None:
    """Let looks, and verdicts by what an event could have shown, take this long."""
    after = AnytimeBound.after

    def slow_look(bound, block):
        clock.spend(a_look)
        return after(bound, block)

    def slow_verdict(*told):
        clock.spend(LOOKS_OF_VERDICT * a_look)
        return shown(*told)

    monkeypatch.setattr(AnytimeBound, "after", slow_look)
    monkeypatch.setattr("audit.auditor.distinguish.shown", slow_verdict)


@pytest.mark.parametrize("a_look", [0.0, 2e-3, 3e-3])
def test_limit_leaves_room_for_the_result_and_no_more(clock, monkeypatch, a_look):
    costly_looks(clock, monkeypatch, a_look)
    found = audit(slow(clock, a_draw=2e-6), 10**8, max_seconds=0.5, families=ALL)
    assert found.stopped == "the time is over"
    assert 0.9 * 0.5 <= clock.seconds <= 1.1 * 0.5


def test_limit_without_room_for_the_result_is_overrun(clock, monkeypatch):
    costly_looks(clock, monkeypatch, 5e-3)
    monkeypatch.setattr(EventTally, "seconds_to_result", 0.0)
    audit(slow(clock, a_draw=2e-6), 10**8, max_seconds=0.5, families=ALL)
    assert clock.seconds > 1.2 * 0.5


@pytest.fixture
def costly_choice(clock, monkeypatch):
    """Audit where choosing an event takes longer than to draw; events certify as soon as they are drawn."""

    def slow_select(learning, choosing, *told, **more):
        clock.spend(4e-4 * (len(learning[0]) + len(choosing[0])))
        return select_from(learning, choosing, *told, **more)

    monkeypatch.setattr("audit.auditor.distinguish.select_from", slow_select)
    only = {"families": ("coordinates",)}
    return lambda **asked: audit(slow(clock, a_draw=1e-5), 1_000_000, max_seconds=LIMIT, **only, **asked)


def test_last_event_goes_on_where_another_choice_outlasts_the_limit(clock, costly_choice, monkeypatch):
    found = costly_choice()
    assert found.stopped == "the time is over"
    assert 0.9 * LIMIT <= clock.seconds <= LIMIT
    # many times the draws after which the next stage would choose
    assert found.selection_draws < found.counts.likely_draws / 16
    # the control: a choice that is begun takes the time
    monkeypatch.setattr("audit.auditor.stages.TIMES_A_CHOICE", 0.0)
    clock.seconds = 0.0
    assert costly_choice().counts.likely_draws < found.counts.likely_draws / 4


def test_run_that_went_on_is_repeated_draw_for_draw(costly_choice, monkeypatch):
    found = costly_choice()
    monkeypatch.setattr(Deadline, "now", staticmethod(lambda: 0.0))
    rows = found.draws // 2
    again = costly_choice(repeated=RepeatedRun(rows, rows - found.counts.likely_draws))
    assert (again.draws, again.counts, again.event.stored) == (found.draws, found.counts, found.event.stored)
    assert again.implementation.counts == found.implementation.counts
    # the control: the repetition needs to know from where on it went on
    assert costly_choice(repeated=RepeatedRun(rows)).counts != found.counts


def test_far_limit_ends_nothing_and_one_not_asked_is_overrun(clock, monkeypatch):
    found = audit(slow(clock, a_draw=1e-6), 4_000, max_seconds=LIMIT, **QUICKLY)
    assert (found.stopped, found.draws) == (None, 4_000)
    clock.seconds = 0.0
    monkeypatch.setattr(Deadline, "leaves", lambda *_: True)
    audit(slow(clock, a_draw=2e-3), 4_000, max_seconds=LIMIT, **QUICKLY)
    assert clock.seconds > 2 * LIMIT


def test_calls_are_short_beside_what_was_drawn(clock):
    asked: list[int] = []

    class Noted(Slow):
        def sample(self, data, count, rng):
            asked.append(count)
            return super().sample(data, count, rng)

    audit(slow(clock, Noted), 20_000, max_seconds=LIMIT, **QUICKLY)
    drawn = np.cumsum(asked)
    assert all(count <= max(FEWEST_ROWS, before / 16) for count, before in zip(asked[1:], drawn, strict=False))


@pytest.mark.parametrize(("limit", "patience"), [(1.0, 0.25), (3.0, 0.5), (10.0, 0.5), (30.0, 1.5), (1e9, 20.0)])
def test_confirmation_has_a_part_of_the_limit(limit, patience):
    """Of a short limit a quarter; the draws end as much earlier."""
    assert patience_within(limit) == patience
