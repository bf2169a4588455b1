"""Single runs, the store of finished ones, and the runner: repeatable, resumable, not to be tampered with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reference.budgets import Budget, SplitBudget
from reference.common.documents import converted, plain
from reference.common.errors import (
    CorruptRunStoreError,
    InputError,
    OtherRunStoreError,
    ReadingError,
    RunStoreError,
    UnknownDataError,
)
from reference.datasets import Encoding
from reference.experiments import store as store_module
from reference.experiments.runner import in_batches, run_all
from reference.experiments.splits import SplitSpec, prepare
from reference.experiments.store import RunStore
from reference.experiments.study import UNBOUNDED, RunResult, RunSpec, run
from reference.fairness import evaluate
from reference.noise import generator
from reference.registry import MECHANISMS

ON = SplitSpec("affairs")

LARGE = "3000"
"""An epsilon at which predictors are not constant, so that different noise gives different metrics."""


def spec(mechanism="pdfc", epsilon="1", **changes):
    facts = MECHANISMS[mechanism]
    delta = "1e-3" if facts.needs_delta else "0"
    budget = None
    if facts.private:
        budget = SplitBudget.equal(epsilon, delta) if facts.split_budget else Budget(epsilon, delta)
    return RunSpec(**{"on": ON, "mechanism": mechanism, "budget": budget, "readings": facts.readings, **changes})


def many():
    """Return runs of every mechanism on three splits."""
    return [
        spec(name, epsilon, on=replace(ON, split=split))
        for split in range(3)
        for name in MECHANISMS
        for epsilon in (("0.1", "1") if MECHANISMS[name].private else ("1",))
    ]


# --- A run ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MECHANISMS)
def test_specification_and_result_go_to_json_and_back(name):
    one = spec(name)
    assert RunSpec.from_json(json.loads(json.dumps(plain(one)))) == one
    result = run(one)
    assert converted(json.loads(json.dumps(plain(result))), RunResult) == result
    assert result.metrics is not None


@pytest.mark.parametrize("x_s", [None, "age"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_run_is_the_mechanism_on_the_training_part_measured_on_the_rest(name, x_s):
    facts = MECHANISMS[name]
    one = spec(name, LARGE, x_s=x_s if facts.split_budget else None)
    split = prepare(ON)
    assert len(split.train) + len(split.test) == 6366
    random, _ = generator(0, one.key)
    chosen = {"x_s": one.x_s} if facts.split_budget else {}
    release = facts.run(split.train, one.budget, one.readings, rng=random, **chosen)
    result = run(one)
    assert (result.metrics, result.x_s) == (evaluate(release.w, split.test), release.x_s)


def test_same_specification_gives_the_same_result_and_digest():
    one = spec(epsilon=LARGE)
    assert run(one) == run(RunSpec.from_json(plain(one)))
    others = [
        replace(one, on=replace(ON, split=1)),
        replace(one, on=replace(ON, seed=1)),
        replace(one, on=replace(ON, subset_size=500)),
        replace(one, on=replace(ON, test_share=0.5)),
        replace(one, on=replace(ON, encoding=Encoding(norm="unit_box"))),
        replace(one, on=replace(ON, encoding=Encoding(keep_group=True))),
        replace(one, budget=SplitBudget(LARGE, "2")),
        replace(one, readings=one.readings.with_(repair="trim")),
        replace(one, x_s="age"),
        replace(one, repeat=1),
        spec("pflr", LARGE),
    ]
    assert len({other.digest for other in [one, *others]}) == len(others) + 1
    assert len({run(other) for other in [one, *others]}) == len(others) + 1


def test_splits_are_the_same_whatever_the_encoding_and_disjoint():
    train, test = ON.rows(1000)
    assert replace(ON, encoding=Encoding("unit_box", "one_hot")).rows(1000)[1].tolist() == test.tolist()
    assert sorted([*train, *test]) == list(range(1000))
    assert len(test) == 200
    assert replace(ON, split=1).rows(1000)[1].tolist() != test.tolist()


def test_subset_is_of_the_asked_size():
    train, test = replace(ON, subset_size=100).rows(1000)
    assert (len(train), len(test), len({*train, *test})) == (80, 20, 100)


def test_noise_differs_between_repeats():
    accuracies = [run(spec("functional", LARGE, repeat=repeat)).metrics.accuracy for repeat in range(10)]
    assert len(set(accuracies)) > 1


def test_unbounded_run_has_no_metrics():
    one = spec(epsilon="0.01", readings=MECHANISMS["pdfc"].readings.with_(repair="none"))
    assert run(one) == RunResult(UNBOUNDED, run(one).x_s, None)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"mechanism": "nothing"}, ReadingError),
        ({"budget": Budget("1")}, ReadingError),
        ({"budget": None}, ReadingError),
        ({"mechanism": "lr"}, ReadingError),
        ({"on": SplitSpec("nowhere")}, UnknownDataError),
        ({"readings": MECHANISMS["pdfc"].readings.with_(noise="hardened")}, ReadingError),
        ({"mechanism": "functional", "budget": Budget("1"), "x_s": "age"}, ReadingError),
        ({"repeat": -1}, ReadingError),
    ],
)
def test_parts_that_do_not_belong_together_are_rejected(changes, error):
    with pytest.raises(error):
        replace(spec(), **changes)


@pytest.mark.parametrize("changes", [{"test_share": 0.0}, {"test_share": 1.0}, {"subset_size": 1}, {"split": -1}])
def test_impossible_splits_are_rejected(changes):
    with pytest.raises(InputError):
        replace(ON, **changes)


def test_subset_larger_than_the_data_is_rejected():
    with pytest.raises(ReadingError, match="subset_size"):
        run(spec(on=replace(ON, subset_size=6367)))


# --- The runner -------------------------------------------------------------------------------------------------


def test_results_depend_neither_on_processes_nor_on_the_order():
    specs = many()
    one = run_all(specs)
    assert run_all(specs, jobs=2) == one
    shuffled = [specs[index] for index in np.random.default_rng(0).permutation(len(specs))]
    assert run_all(shuffled) == one
    assert list(one) == specs


def test_runs_of_one_split_are_one_batch():
    assert [len(batch) for batch in in_batches(many())] == [len(many()) // 3] * 3


# --- The store --------------------------------------------------------------------------------------------------


def test_finished_runs_are_read_and_not_run_again(tmp_path, monkeypatch):
    specs = many()
    with RunStore(tmp_path / "runs.jsonl") as store:
        first = run_all(specs, store)
    monkeypatch.setattr("reference.experiments.runner.run", lambda _: pytest.fail("was run again"))
    with RunStore(tmp_path / "runs.jsonl") as store:
        assert len(store) == len(set(specs))
        assert run_all(specs, store) == first


def test_interrupted_amid_a_line_it_goes_on_with_the_same_result(tmp_path):
    path, specs = tmp_path / "runs.jsonl", many()
    with RunStore(path) as store:
        whole = run_all(specs, store)
    text = path.read_bytes()
    for cut in (10, len(text) // 2, len(text) - 1):
        path.write_bytes(text[:cut])
        with RunStore(path) as store:
            assert len(store) < len(specs)
            assert run_all(specs, store) == whole


SLOW = """
import sys, time
from reference.experiments import runner
from reference.experiments.store import RunStore
from tests.test_experiments_runs import many
of_batch = runner.run_batch
done = []
def first_only(batch):
    if done:
        time.sleep(600)
    done.append(batch)
    return of_batch(batch)
runner.run_batch = first_only
with RunStore(sys.argv[1]) as store:
    runner.run_all(many(), store)
"""


def test_killed_it_goes_on_with_the_same_result(tmp_path):
    path = tmp_path / "runs.jsonl"
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(path)], cwd=Path(__file__).parent.parent)
    try:
        # the first split is on disk, the last is not
        deadline = time.monotonic() + 300
        while (not path.exists() or path.read_bytes().count(b"\n") < 2) and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with RunStore(path) as store:
        assert 0 < len(store) < len(many())
        assert run_all(many(), store) == run_all(many())


@pytest.mark.parametrize("line", [0, 1, 5])
def test_changed_line_is_named_and_nothing_is_written(tmp_path, line):
    path = tmp_path / "runs.jsonl"
    with RunStore(path) as store:
        run_all(many(), store)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    # any digit that is not part of the checksum
    body, checksum = lines[line].rsplit('"checksum"', 1)
    place = next(index for index, sign in enumerate(body) if sign.isdigit())
    lines[line] = body[:place] + str((int(body[place]) + 1) % 10) + body[place + 1 :] + '"checksum"' + checksum
    path.write_text("".join(lines), encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(CorruptRunStoreError, match=f"line {line + 1}"):
        RunStore(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["not a store\n", "not a store", '{"a": 1}\n', "[1]\n"])
def test_another_file_is_refused_and_left_alone(tmp_path, text):
    path = tmp_path / "runs.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CorruptRunStoreError):
        RunStore(path)
    assert path.read_text(encoding="utf-8") == text


def test_store_of_other_code_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "runs.jsonl"
    with RunStore(path) as store:
        run_all([spec()], store)
    before = path.read_bytes()
    monkeypatch.setattr(store_module, "code_fingerprint", lambda: "another")
    with pytest.raises(OtherRunStoreError):
        RunStore(path)
    assert path.read_bytes() == before


def test_store_has_one_holder_at_a_time(tmp_path):
    with RunStore(tmp_path / "runs.jsonl"), pytest.raises(RunStoreError, match="in use"):
        RunStore(tmp_path / "runs.jsonl")
    RunStore(tmp_path / "runs.jsonl").close()


def test_store_in_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(RunStoreError, match="cannot be opened"):
        RunStore(tmp_path / "nowhere" / "runs.jsonl")
