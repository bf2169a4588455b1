"""Ctrl-C after the last draw: what was drawn is kept, and the mechanisms that follow are left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit.auditor import distinguish, tally
from audit.auditor.distinguish import Estimate, Terms, estimate
from audit.auditor.interruption import finish
from audit.commands import estimate_text
from audit.epsilon_estimate import main
from audit.evidence import estimation
from audit.subjects.catalogue import HalfNoiseLaplace


def interrupt(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, times: int) -> None:
    """Let so many calls of a module's function end in an interruption."""
    original: Callable[..., Any] = getattr(module, name)
    calls = []

    def interrupted(*given: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) <= times:
            raise KeyboardInterrupt
        return original(*given, **named)

    monkeypatch.setattr(module, name, interrupted)


def audit(**choices: Any) -> Estimate:
    rng = np.random.default_rng(1)
    return estimate(HalfNoiseLaplace(1.0), Terms(delta=0.0, draws=20_000, significance=0.05, **choices), rng)


def test_work_is_begun_again_once() -> None:
    calls: list[int] = []

    def work(interruptions: int) -> int:
        calls.append(1)
        if len(calls) <= interruptions:
            raise KeyboardInterrupt
        return len(calls)

    assert finish(lambda: work(0)) == (1, False)
    calls.clear()
    assert finish(lambda: work(1)) == (2, True)
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        finish(lambda: work(2))


@pytest.mark.parametrize("with_curve", [False, True])
def test_an_interruption_while_bounds_are_computed_changes_none(
    monkeypatch: pytest.MonkeyPatch, with_curve: bool
) -> None:
    """All draws were made, so the bound is that of the fixed size and not the anytime one."""
    whole = audit(with_curve=with_curve)
    module, name = (distinguish, "certified_curve") if with_curve else (tally, "epsilon_lower_bound")
    interrupt(monkeypatch, module, name, 1)
    found = audit(with_curve=with_curve)
    assert (whole.interrupted, found.interrupted) == (False, True)
    assert (found.stopped, found.method, found.curve) == (None, "joint", whole.curve)
    assert found.ideal.counts == whole.ideal.counts
    assert found.epsilon_lower_bound == whole.epsilon_lower_bound > 1.0
    assert found.draws == found.requested_draws == 20_000


def test_a_second_interruption_while_bounds_are_computed_ends_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt(monkeypatch, tally, "epsilon_lower_bound", 2)
    with pytest.raises(KeyboardInterrupt):
        audit()


def test_the_mechanisms_after_a_late_interruption_are_not_audited(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupt(monkeypatch, tally, "epsilon_lower_bound", 1)
    assert main(["laplace", "gaussian", "--draws", "4000", "--seed", "1", "--format", "json"]) == 3
    output = capsys.readouterr()
    (result,) = json.loads(output.out)
    assert (result["mechanism"], result["stopped"], result["draws"]) == ("laplace", None, 4_000)
    assert "interrupted: gaussian not audited" in output.err


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_interruption_while_the_result_is_written_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str
) -> None:
    written = []
    for times in (0, 1):
        interrupt(monkeypatch, estimate_text, "as_text" if form == "text" else "json_text", times)
        out = tmp_path / f"{times}.json"
        words = ["laplace", "--draws", "4000", "--seed", "1", "--format", form, "--out", str(out)]
        assert main(words) == 0
        written.append((json.loads(out.read_text(encoding="utf-8")), capsys.readouterr().out))
    for document, _ in written:
        document.pop("seconds", None)
    assert written[0][0] == written[1][0]
    assert bool(written[1][1]) == (form == "text")


def test_a_plot_of_a_partial_result_is_not_drawn_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A partial result has no curve: its size was not fixed."""
    original = estimate

    def partial(*given: Any, **named: Any) -> Estimate:
        return replace(original(*given, **named), curve=None, stopped="interrupted", interrupted=True)

    monkeypatch.setattr(estimation, "estimate", partial)
    path = tmp_path / "curve.svg"
    main(["laplace", "--draws", "4000", "--seed", "1", "--plot", str(path)])
    output = capsys.readouterr()
    assert "partial: interrupted" in output.out
    assert f"interrupted: {path} not drawn" in output.err
    assert not path.exists()
