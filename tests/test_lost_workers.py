"""A command does not wait without end for workers that went away."""

from __future__ import annotations

import threading
import time
from typing import Any

import distributed
import pytest

from reference.common import scheduler
from reference.common.errors import ClusterError
from reference.common.scheduler import Workers


def slow(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def late() -> None:
    raise TimeoutError("of the call itself")


@pytest.fixture
def cluster() -> Any:
    made: Any = distributed.LocalCluster
    with made(n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as one:
        yield one


@pytest.fixture
def workers(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(scheduler, "LOOKING", 0.2)
    monkeypatch.setattr(scheduler, "RETURNING", 1.0)
    made: Any = distributed.Client
    with made(cluster) as client:
        yield Workers(client)


def test_a_call_without_a_worker_is_an_error(
    cluster: Any, workers: Workers, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(scheduler, "SILENT", 0.1)
    cluster.scale(0)
    with pytest.raises(ClusterError, match="no worker is left for task 1"):
        list(workers.in_order([(slow, (0.0,), {})]))
    assert capsys.readouterr().err == "note: waiting up to 1 s for a worker for task 1: none is left\n"


def test_a_wait_for_workers_is_said(cluster: Any, workers: Workers, capsys: Any, monkeypatch: Any) -> None:
    """For a scheduler, and for its first worker; the null control waits for none."""
    at = cluster.scheduler_address
    with scheduler.connected(at):
        assert list(workers.in_order([(slow, (0.0,), {})])) == [0.0]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(scheduler, "SILENT", 0.1)
    monkeypatch.setattr(scheduler, "CONNECTING", 0.3)
    with pytest.raises(ClusterError, match="no scheduler"), scheduler.connected("tcp://127.0.0.1:9"):
        pass
    assert capsys.readouterr().err == "note: waiting up to 0.3 s for the scheduler at tcp://127.0.0.1:9\n"
    monkeypatch.setattr(scheduler, "CONNECTING", 1.0)
    cluster.scale(0)
    with pytest.raises(ClusterError, match="has no worker"), scheduler.connected(at):
        pass
    assert f"note: waiting up to 1 s for a worker of the scheduler at {at}\n" in capsys.readouterr().err


def test_a_call_that_takes_long_is_waited_for(workers: Workers) -> None:
    assert list(workers.in_order([(slow, (0.7,), {}), (slow, (0.0,), {})])) == [0.7, 0.0]


def test_a_worker_that_comes_back_is_waited_for(cluster: Any, workers: Workers, monkeypatch: Any) -> None:
    monkeypatch.setattr(scheduler, "RETURNING", 60.0)
    cluster.scale(0)
    back = threading.Timer(1.0, cluster.scale, (1,))
    back.start()
    assert list(workers.in_order([(slow, (0.0,), {})])) == [0.0]
    back.join()


def test_a_timeout_of_the_call_is_its_own_error(workers: Workers) -> None:
    with pytest.raises(ClusterError, match="a worker failed on task 1: TimeoutError: of the call itself"):
        list(workers.in_order([(late, (), {})]))
