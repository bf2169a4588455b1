"""Audits that stop early, and results that come in order from several workers."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import pytest

from audit.auditor import draws
from audit.auditor.draws import AHEAD, in_order
from audit.bounds import ANYTIME, StoppingRule
from audit.gate.auditor.auditing import audit
from audit.subjects.catalogue import HalfNoiseLaplace, Laplace

# --- Stopping early -------------------------------------------------------------------------------------------


def test_an_interrupted_run_keeps_a_valid_partial_result(monkeypatch):
    monkeypatch.setattr(draws, "CHUNK_VALUES", 400)

    class Interrupted(HalfNoiseLaplace):
        calls: ClassVar[list[int]] = []

        def sample(self, data, count, rng):
            self.calls.append(count)
            if sum(self.calls) > 60_000:
                raise KeyboardInterrupt
            return super().sample(data, count, rng)

    found = audit(Interrupted(1.0), 100_000)
    assert found.stopped == "interrupted"
    assert found.method == ANYTIME
    assert 40_000 < found.draws < 61_000
    # half the noise is still refuted, within the truth
    assert 1.0 < found.epsilon_lower_bound <= 2.0


@pytest.fixture
def heard_interrupt():
    """Hear SIGINT also where the process was started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_interrupt")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("after", [2_000, 15_000, 60_000])
def test_signal_in_any_phase_is_an_interruption(monkeypatch, after, workers):
    monkeypatch.setattr(draws, "CHUNK_VALUES", 400)
    counting = threading.Lock()

    class Interrupted(HalfNoiseLaplace):
        calls: ClassVar[list[int]] = []

        def sample(self, data, count, rng):
            # asked by several threads, and interrupted by one of them, once
            with counting:
                before = sum(self.calls)
                self.calls.append(count)
            if before <= after < before + count:
                os.kill(os.getpid(), signal.SIGINT)
            return super().sample(data, count, rng)

    if after < 30_000:
        with pytest.raises(KeyboardInterrupt):
            audit(Interrupted(1.0), 100_000, workers=workers)
    else:
        found = audit(Interrupted(1.0), 100_000, workers=workers)
        assert (found.stopped, found.method) == ("interrupted", ANYTIME)
        assert 1.0 < found.epsilon_lower_bound <= 2.0


def test_until_stops_at_a_refutation_and_goes_on_without_one():
    refuted = audit(HalfNoiseLaplace(1.0), 100_000, claimed_epsilon=1.0, until=StoppingRule(0.01))
    assert refuted.stopped == "the claim is refuted"
    assert refuted.draws < 2_000
    assert refuted.verdict(1.0) == "refuted"
    stands = audit(Laplace(1.0), 100_000, claimed_epsilon=1.0, until=StoppingRule(0.001))
    assert stands.stopped is None
    assert stands.verdict(1.0) == "not refuted"


def test_progress_shows_draws_only():
    seen: list[int] = []
    audit(Laplace(1.0), 20_000, progress=seen.append)
    assert sum(seen) == 20_000


# --- Curve ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_comein_order_whichever_is_ready_first(workers):
    def slower_first(place):
        time.sleep(0.02 * (place % 3 == 0))
        return place

    assert list(in_order(slower_first, 20, workers)) == list(range(20))
    assert list(in_order(slower_first, 0, workers)) == []


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_what_nobody_asks_for_is_not_begun(workers, monkeypatch):
    begun, gate = [], threading.Event()

    def waits_after_two(place):
        begun.append(place)
        assert place < 2 or gate.wait(300)

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait=True, *, cancel_futures=False):
            """Drop the rest before those that are held are let go."""
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            gate.set()
            super().shutdown(wait)

    monkeypatch.setattr(draws, "ThreadPoolExecutor", Pool)
    done = in_order(waits_after_two, 1000, workers)
    next(done), next(done)
    done.close()
    assert {0, 1} <= set(begun) <= set(range(2 + workers))


@pytest.mark.parametrize("workers", [2, 3])
def test_few_results_wait_for_the_one_that_is_next(workers):
    begun, gate = [], threading.Event()

    def first_waits(place):
        begun.append(place)
        assert place > 0 or gate.wait(300)

    threading.Timer(0.5, gate.set).start()
    done = in_order(first_waits, 1000, workers)
    next(done)
    assert len(begun) <= AHEAD * workers
    done.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_worker_ends_the_rest(workers):
    begun = []

    def fails_at_three(place):
        begun.append(place)
        if place == 3:
            raise ZeroDivisionError("three")
        return place

    found = []
    with pytest.raises(ZeroDivisionError, match="three"):
        found.extend(in_order(fails_at_three, 1000, workers))
    # list.extend keeps what came before the error
    assert found == [0, 1, 2]
    assert len(begun) <= 4 + AHEAD * workers
