"""Every rival of the frontier trains and predicts, and boosting's epsilon is of the adjacency that is said."""

from __future__ import annotations

import warnings

import pytest

from tests.peers.frontier import Run, Task, document, explainable_boosting, rivals

NAMES = tuple(rivals())


@pytest.mark.parametrize("library", NAMES)
def test_every_rival_gives_a_row(library, tmp_path):
    tasks = tuple(Task(one, "1" if one.adjacency else None) for one in rivals()[library])
    run = Run("affairs", 1, tasks, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run.fill("generic")
    found = document(run)
    assert [row["model"] for row in found["rows"]] == [task.rival.title for task in tasks]
    assert all(0.2 < row["accuracy"]["mean"] <= 1 for row in found["rows"])
    assert found["libraries"][library]


def test_replacing_a_record_costs_boosting_more_noise(tmp_path, monkeypatch):
    seen = []
    interpret = pytest.importorskip("interpret.privacy")

    class StopError(Exception):
        pass

    def spy(**settings):
        seen.append(settings["epsilon"])
        raise StopError

    monkeypatch.setattr(interpret, "DPExplainableBoostingClassifier", spy)
    (sides,), _ = next(Run("affairs", 1, (), tmp_path).sides("generic"))
    for adjacency in ("add_or_remove_one", "replace_one"):
        with pytest.raises(StopError):
            explainable_boosting(adjacency, sides, 1.0, 0)
    assert seen[0] == 1.0
    assert seen[1] < 0.5
