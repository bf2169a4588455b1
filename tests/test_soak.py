"""A part of the long fuzzing, compared with its committed endings; `make soak` runs all of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.soak.__main__ import PART, REPEATED, RESULTS, run_part
from tests.soak.cases import KINDS

COMMITTED = json.loads(RESULTS.read_text())


@pytest.mark.parametrize("kind", KINDS)
def test_a_tenth_of_a_part_ends_as_committed(kind: str, tmp_path: Path) -> None:
    """One part in ten, and a tenth of it: a hundredth of what `make soak` ran."""
    parts = COMMITTED[kind]["parts"]
    for part in range(0, len(parts), 10):
        assert run_part(kind, part, tmp_path, every=REPEATED)["sha256"] == parts[str(part)]["sha256"]


@pytest.mark.parametrize("kind", KINDS)
def test_committed_endings_are_whole_and_of_more_than_one_kind(kind: str) -> None:
    parts = COMMITTED[kind]["parts"]
    assert parts
    assert all(sum(part["endings"].values()) == PART for part in parts.values())
    assert len({ending for part in parts.values() for ending in part["endings"]}) > 1


def test_case_that_falls_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(number: int, _folder: Path) -> str:
        return "fine" if number < 3 else str(1 / 0)

    monkeypatch.setitem(KINDS, "typed", broken)
    with pytest.raises(AssertionError, match="typed 3: ZeroDivisionError"):
        run_part("typed", 0, tmp_path)
