"""The benchmarks' page is that of its numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import main
from tests.benchmarks.page import draw, slope, text_of

DOCS = Path(__file__).parents[1] / "docs"


def test_help_is_given_and_nothing_is_timed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.benchmarks.__main__.busy", lambda: pytest.fail("timed"))
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "--write" in capsys.readouterr().out
    # the control: without it, timing starts
    with pytest.raises(pytest.fail.Exception, match="timed"):
        main([])


def test_slope_is_the_exponent_of_a_power() -> None:
    values = [10, 20, 50]
    assert slope(values, [3 * value**1.5 for value in values]) == pytest.approx(1.5)
    assert slope(values, [7.0] * 3) == pytest.approx(0)


def test_page_says_what_was_measured() -> None:
    found = json.loads((DOCS / "benchmarks.json").read_text(encoding="utf-8"))
    assert (DOCS / "benchmarks.md").read_text(encoding="utf-8") == text_of(found)
    found["growth"]["n"]["exponent"] = 3.25
    assert "to the power 3.25" in text_of(found)


def test_picture_is_that_of_the_numbers(tmp_path: Path) -> None:
    found = json.loads((DOCS / "benchmarks.json").read_text(encoding="utf-8"))
    draw(found["growth"], tmp_path / "growth.svg")
    assert f"n to the power {found['growth']['n']['exponent']:g}" in (tmp_path / "growth.svg").read_text()
