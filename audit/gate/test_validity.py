"""The auditor audited: a small run here, the shipped document of the large one, and controls that fire."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from audit.bounds import ANYTIME, StoppingRule, epsilon_lower_bound
from audit.distinguish import estimate
from audit.selection import Plan
from audit.validity.__main__ import DOCUMENT, holds, main, page, rows_from
from audit.validity.measure import (
    AUDITS,
    CONTROL,
    FAMILIES,
    GAP,
    KNOWN,
    LOOKED_AT,
    LOOKS,
    RARE,
    RESPONSE,
    SIGNIFICANCE,
    SIZES,
    LookedAt,
    Row,
    anytime_once,
    audit_once,
    measure,
    tasks,
)

FEW = 40


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Return the errors of a few audits of randomised response, the mechanism that leaves no slack."""
    return measure((audit_once, KNOWN[1], 1_000), FEW, 7, 1)


def test_auditor_errs_no_more_than_promised_and_the_point_estimate_far_more(rows):
    by_bound = {row.bound: row for row in rows}
    for bound in ("auto", "joint", "clopper_pearson", "conditional"):
        assert by_bound[bound].surprise > 1e-4
    assert by_bound[CONTROL].surprise < 1e-4


def row(bound: str, errors: int, audits: int = 2_000) -> Row:
    return Row("a mechanism", 1.0, 0.0, 1_000, bound, audits, errors)


def test_verdict_fires_on_too_many_errors_and_on_a_control_that_does_not_err():
    assert holds([row("joint", 95), row(CONTROL, 1_000)])
    assert not holds([row("joint", 150), row(CONTROL, 1_000)])
    assert not holds([row("joint", 95), row(CONTROL, 90)])
    # one bad row among many good ones is not averaged away
    assert not holds([row("joint", 160), *[row("joint", 20)] * 9, row(CONTROL, 1_000)])


def test_upper_bound_on_the_error_probability_is_above_the_share_and_grows_with_the_rows():
    one = row("joint", 100)
    assert one.share < one.upper_bound(1) < one.upper_bound(30) < 0.08


def test_true_curve_of_two_outcomes_is_the_largest_over_both_outcomes_and_directions():
    assert RESPONSE.true_epsilon() == pytest.approx(math.log(3))
    assert RESPONSE.true_epsilon(0.25) == pytest.approx(math.log(2))
    assert RESPONSE.true_epsilon(0.75) == 0.0
    # a rare event: its absence says next to nothing
    assert RARE.true_epsilon() == pytest.approx(1.0)
    assert RARE.true_epsilon(0.02) == pytest.approx(math.log(math.e - 1))


def test_rows_of_a_named_method_are_what_an_audit_with_that_method_reports():
    for method in ("joint", "conditional", "clopper_pearson"):
        named, auto = (
            estimate(
                RARE,
                delta=0.0,
                draws=1_000,
                significance=SIGNIFICANCE,
                rng=np.random.default_rng(4),
                families=FAMILIES,
                method=one,
            )
            for one in (method, "auto")
        )
        assert (named.counts, named.event.to_json()) == (auto.counts, auto.event.to_json())
        assert named.epsilon_lower_bound == epsilon_lower_bound(auto.counts, 0.0, SIGNIFICANCE, method)


def test_anytime_audits_look_as_often_as_the_page_says_and_stop_at_an_error():
    weak, draws = LOOKED_AT[1], 4_000
    rows = Plan.of(draws, 1, learning=True).certify // (2 * LOOKS)
    looks = []

    class Counting(StoppingRule):
        def reason(self, bound):
            looks.append(bound.counts)
            return super().reason(bound)

    def audit(claim):
        looks.clear()
        rng = np.random.default_rng(0)
        found = estimate(
            LookedAt(weak.subject, rows),
            delta=0.0,
            draws=draws,
            significance=SIGNIFICANCE,
            rng=rng,
            families=FAMILIES,
            claimed_epsilon=claim,
            until=Counting(GAP),
        )
        return found, len(looks)

    whole, many = audit(weak.true_epsilon)
    assert many >= LOOKS
    assert whole.method == ANYTIME
    # the broken control: a claim far below the truth is passed, and ends the audit
    stopped, few = audit(1e-9)
    assert stopped.stopped == "the claim is refuted"
    assert few < many
    assert not any(anytime_once(weak, draws, (0, k))["anytime"] for k in range(3))


def test_shipped_document_holds_is_what_its_page_says_and_has_enough_audits():
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    found = rows_from(document)
    assert document["holds"]
    assert holds(found)
    assert DOCUMENT.with_suffix(".md").read_text(encoding="utf-8") == page(document)
    assert document["significance"] == SIGNIFICANCE
    assert {one.draws for one in found} == set(SIZES)
    assert all(one.audits >= AUDITS >= 2_000 for one in found)
    kinds = {"auto", "joint", "clopper_pearson", "conditional", "anytime", "curve", CONTROL}
    assert {one.bound for one in found} == kinds
    assert {one.true_epsilon for one in found} >= {0.0, 1.0}


def test_command_writes_document_and_page_and_does_not_depend_on_the_workers(tmp_path):
    texts = []
    for workers in (1, 2):
        target = tmp_path / f"{workers}.json"
        words = ["--audits", "2", "--sizes", "1000", "--workers", str(workers), "--out", str(target)]
        assert main(words) in (0, 1)
        texts.append(json.loads(target.read_text(encoding="utf-8"))["rows"])
        assert target.with_suffix(".md").exists()
    assert texts[0] == texts[1]


def quick(task, audits, seed, _):
    """Return rows like those of a task, without its audits."""
    _, known, draws = task
    return [
        Row(known.name, known.true_epsilon, known.delta, draws, bound, audits, errors)
        for bound, errors in (("auto", seed % 2), (CONTROL, audits))
    ]


def test_an_interrupted_run_leaves_the_document_alone_and_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    target = tmp_path / "validity.json"
    target.write_text("an older document", encoding="utf-8")
    words = ["--audits", "2", "--sizes", "1000", "--out", str(target)]
    measured = []

    def interrupted(task, *rest):
        measured.append(task)
        if len(measured) == 3:
            raise KeyboardInterrupt
        return quick(task, *rest)

    monkeypatch.setattr("audit.validity.measure.measure", interrupted)
    assert main(words) == 3
    assert target.read_text(encoding="utf-8") == "an older document"
    assert not target.with_suffix(".md").exists()
    assert "goes on from here" in capsys.readouterr().err
    assert main(words) in (0, 1)
    # two tasks were done, and are not measured again
    assert measured == [*tasks([1_000])[:3], *tasks([1_000])[2:]]
    rows = rows_from(json.loads(target.read_text(encoding="utf-8")))
    assert rows == [row for task in tasks([1_000]) for row in quick(task, 2, 1, 1)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["validity.json", "validity.md"]


def test_what_an_interrupted_run_of_other_settings_left_is_not_used(tmp_path, monkeypatch, capsys):
    target = tmp_path / "validity.json"
    words = ["--sizes", "1000", "--out", str(target), "--audits"]

    def interrupted(task, *rest):
        if task[1] is not KNOWN[0]:
            raise KeyboardInterrupt
        return quick(task, *rest)

    monkeypatch.setattr("audit.validity.measure.measure", interrupted)
    assert main([*words, "2"]) == 3
    monkeypatch.setattr("audit.validity.measure.measure", quick)
    assert main([*words, "1"]) in (0, 1)
    assert "begun anew" in capsys.readouterr().err
    assert {row["audits"] for row in json.loads(target.read_text(encoding="utf-8"))["rows"]} == {1}


@pytest.mark.parametrize(
    "words", [["--audits", "10"], ["--sizes", "1000"], ["--audits", "0"], ["--sizes", "10", "--out", "x.json"]]
)
def test_a_smaller_run_does_not_replace_the_shipped_document(words, capsys):
    before = DOCUMENT.read_bytes()
    assert main(words) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert DOCUMENT.read_bytes() == before
