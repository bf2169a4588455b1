"""A part of the long fuzzing, compared with its committed endings; `make soak` runs all of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reference.accounting.release_ledger import ReleaseLedger
from tests.soak import kills
from tests.soak.__main__ import PART, REPEATED, RESULTS, run_part
from tests.soak.audits import audit_line, certificate
from tests.soak.cases import KINDS

COMMITTED = json.loads(RESULTS.read_text())


@pytest.mark.parametrize("kind", KINDS)
def test_a_tenth_of_a_part_ends_as_committed(kind: str, tmp_path: Path) -> None:
    """One part in twenty, and a tenth of it: a two-hundredth of what `make soak` ran."""
    parts = {int(part): found["sha256"] for part, found in COMMITTED[kind]["parts"].items()}
    for part in sorted(parts)[::20]:
        assert run_part(kind, part, tmp_path, every=REPEATED)["sha256"] == parts[part]


@pytest.mark.parametrize("kind", KINDS)
def test_committed_endings_are_whole_and_of_more_than_one_kind(kind: str) -> None:
    parts = COMMITTED[kind]["parts"]
    assert parts
    assert all(sum(part["endings"].values()) == PART for part in parts.values())
    assert len({ending for part in parts.values() for ending in part["endings"]}) > 1


@pytest.mark.parametrize(
    "kind",
    # experiments are killed in test_experiments_runs.py as well
    [pytest.param(kind, marks=[pytest.mark.lengthy] * ("experiments" in kind)) for kind in kills.COMMANDS],
)
def test_kills_at_random_moments_lose_double_and_half_write_nothing(kind: str, tmp_path: Path) -> None:
    """A little of what `make soak` kills; at which moments they come depends on the machine."""
    found = kills.kill_part(kind, 0, tmp_path, 2)
    assert sum(found.values()) == 2
    committed = COMMITTED[kind]["parts"].values()
    assert len(committed) == kills.PARTS[kind]
    assert all(sum(part["endings"].values()) == kills.PART for part in committed)
    endings = {ending for part in committed for ending in part["endings"]}
    # some came before the end of the work, and some after it
    assert set(found) <= endings
    assert len(endings) > 1


def test_a_release_that_nobody_counted_and_a_lost_run_are_found(tmp_path: Path) -> None:
    """The checks of the kills are not silent on what they look for."""
    ReleaseLedger(tmp_path / kills.LEDGER, data="made up", epsilon=1)
    (tmp_path / kills.OUT).write_text("half a li", encoding="utf-8")
    with pytest.raises(AssertionError):
        kills.fit_left(kills.Killed(tmp_path, 1.0))
    (tmp_path / kills.OUT).unlink()
    with pytest.raises(AssertionError, match="one run counted -1"):
        kills.fit_left(kills.Killed(tmp_path, 1.0, {"counted": 1}))
    with pytest.raises(AssertionError, match="3 runs are lost"):
        kills.experiments_left(kills.Killed(tmp_path, 1.0, {"runs": 3}))
    (tmp_path / kills.CERTIFICATE).write_text("{", encoding="utf-8")
    with pytest.raises(AssertionError, match="another certificate"):
        kills.certificate_left(kills.Killed(tmp_path, 1.0, {"certificate": "{}"}))


def test_mutated_certificates_give_no_traceback(tmp_path: Path) -> None:
    """712 has a bound of 1e308."""
    endings = {certificate(number, tmp_path) for number in (*range(40), 712)}
    assert {"exit 1", "exit 2"} <= endings <= {"exit 0", "exit 1", "exit 2", "exit 3"}


def test_command_lines_of_the_audit_give_no_traceback(tmp_path: Path) -> None:
    assert {"exit 0", "exit 2"} <= {audit_line(number, tmp_path) for number in range(30)}


def test_case_that_falls_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(number: int, _folder: Path) -> str:
        return "fine" if number < 3 else str(1 / 0)

    monkeypatch.setitem(KINDS, "typed", broken)
    with pytest.raises(AssertionError, match="typed 3: ZeroDivisionError"):
        run_part("typed", 0, tmp_path)
