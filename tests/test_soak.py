"""A part of the long fuzzing, compared with its committed endings; `make soak` runs all of it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from audit.commands.family import command as audit_family
from audit.epsilon_estimate import main as estimate
from reference.accounting.release_ledger import ReleaseLedger
from reference.commands.parsing import run
from tests.soak import kills, mutations
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


@pytest.mark.parametrize(("kind", "count"), list(zip(kills.COMMANDS, (4, 3, 3), strict=True)))
def test_kills_at_random_moments_lose_double_and_half_write_nothing(kind: str, count: int, tmp_path: Path) -> None:
    """A hundredth of what `make soak` kills; at which moments they come depends on the machine."""
    assert sum(kills.kill_part(kind, 0, tmp_path, count).values()) == count
    committed = COMMITTED[kind]["parts"].values()
    assert committed
    assert all(sum(part["endings"].values()) == kills.PART for part in committed)


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


def test_mutated_certificates_give_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "certificate.json"
    words = "laplace_half_noise --draws 2000 --seed 1 --events coordinates --out"
    assert estimate([*words.split(), str(path)]) == 1
    whole, codes = json.loads(path.read_text(encoding="utf-8")), set()
    for number in range(100):
        draw = random.Random(f"certificate {number}")
        changed = whole
        for _ in range(draw.randint(1, 3)):
            changed = mutations.changed(changed, draw)
        path.write_text(json.dumps(changed), encoding="utf-8")
        capsys.readouterr()
        codes.add(code := run(audit_family, ["verify", str(path)], name="python -m audit"))
        errors = capsys.readouterr().err
        assert "Traceback" not in errors, number
        assert errors.count("\n") == int(code == 2), (number, errors)
    assert {1, 2} <= codes <= {0, 1, 2, 3}


def test_case_that_falls_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(number: int, _folder: Path) -> str:
        return "fine" if number < 3 else str(1 / 0)

    monkeypatch.setitem(KINDS, "typed", broken)
    with pytest.raises(AssertionError, match="typed 3: ZeroDivisionError"):
        run_part("typed", 0, tmp_path)
