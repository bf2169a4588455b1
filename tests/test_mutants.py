"""Mutants of the code: what is changed, that a change is noticed, and what the committed run found."""

from __future__ import annotations

import ast
import json
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from tests.soak import mutants
from tests.soak.mutants import PER_ROOM, RESULTS, ROOMS, SURVIVORS, Mutant, drawn, first_failure, known, standing
from tests.soak.mutators import changed, sites

SOURCE = '''
@cached(maxsize=3)
def f(a: Literal[4], b: int = 5) -> Sequence[6]:
    """Return 7."""
    if a < b and not a:
        raise ValueError(f"{a} is above {8}", 9)
    return max(zip(a, b, strict=True))
'''


def test_code_is_changed_and_no_text_or_annotation() -> None:
    found = {(ast.unparse(site.node), other) for site in sites(SOURCE) for other in site.others}
    assert found == {
        ("5", "(6)"),
        ("5", "(4)"),
        ("a < b and (not a)", "(a < b or not a)"),
        ("a < b", "(a <= b)"),
        ("a < b", "(a >= b)"),
        ("not a", "(a)"),
        ("max", "(min)"),
        ("zip(a, b, strict=True)", "(zip(b, a, strict=True))"),
        ("return max(zip(a, b, strict=True))", "return a"),
        ("return max(zip(a, b, strict=True))", "return b"),
    }
    site = next(site for site in sites(SOURCE) if ast.unparse(site.node) == "a < b")
    assert changed(SOURCE, site.node, "(a >= b)") == SOURCE.replace("a < b", "(a >= b)")


def test_change_is_noticed_and_none_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # one of our own plugins imports half of the audit
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "counted.py").write_text("def after(n):\n    return n + 1\n", encoding="utf-8")
    test = "from counted import after\ndef test_after():\n    assert after(1) == 2\n"
    (copy / "test_counted.py").write_text(test, encoding="utf-8")
    tests = ["test_counted.py::test_after"]

    def with_source(source: str, seconds: float) -> str | None:
        mutant = Mutant("", "counted.py", "", "", "", 0, (1, 1), source, (1, 1), ())
        with standing(copy, mutant):
            return first_failure(copy, tests, seconds)

    assert first_failure(copy, tests, 30) is None
    assert with_source("def after(n):\n    return n - 1\n", 30) == tests[0]
    assert with_source("def after(n):\n    while n:\n        pass\n", 1) == "time"
    assert first_failure(copy, tests, 30) is None


def test_draw_is_fixed_and_changes_what_is_computed() -> None:
    found = list(drawn())
    assert [it.shown() for it in islice(drawn(), PER_ROOM)] == [it.shown() for it in found[:PER_ROOM]]
    assert Counter(it.room for it in found) == dict.fromkeys(ROOMS, PER_ROOM)
    before = {
        file: ast.dump(ast.parse((mutants.ROOT / file).read_text(encoding="utf-8")))
        for file in {it.file for it in found}
    }
    for it in found:
        assert ast.dump(ast.parse(it.source)) != before[it.file], it.shown()


def test_committed_mutants_die_and_each_that_lives_has_its_reason() -> None:
    found = json.loads(RESULTS.read_text(encoding="utf-8"))["mutants"]
    reasons = json.loads(SURVIVORS.read_text(encoding="utf-8"))
    assert Counter(it["room"] for it in found) == dict.fromkeys(ROOMS, PER_ROOM)
    assert {it["ending"] for it in found} <= {"killed", "no lemma", "lives"}
    lives = [known(it) for it in found if it["ending"] == "lives"]
    assert set(lives) == reasons.keys()
    assert {reason.split(":")[0] for reason in reasons.values()} == {
        "equal",
        "wider",
        "narrower",
        "harmless",
        "unlike",
    }
    changed = len(found) - sum(reasons[it].startswith("equal:") for it in lives)
    assert len(found) - len(lives) >= 0.95 * changed


def test_mutants_of_the_tree_before_the_rooms_die_as_they_died_before() -> None:
    found = json.loads((mutants.ROOT / "tests" / "old_mutants.json").read_text(encoding="utf-8"))["mutants"]
    assert [one["number"] for one in found] == list(range(100))
    assert sum("died by" in one for one in found) == 35
    assert all("dies by" in one for one in found if "died by" in one)
    assert sum("dies by" in one for one in found) == 84
    for one in found:
        file = one.get("dies by", "").partition("::")[0]
        assert ("lives" in one) is (not file)
        assert not file or (mutants.ROOT / file).is_file(), one


def test_recorded_runs_agree_but_for_forms_and_names() -> None:
    found = json.loads((mutants.ROOT / "tests" / "recorded_runs.json").read_text(encoding="utf-8"))["runs"]
    assert len(found) >= 40
    differ = {place for run in found for place in run.get("differs in", ())}
    assert all(
        place.startswith(("certificate", "checks[9]")) or place in ("repaired", "symbols[2]") for place in differ
    )
