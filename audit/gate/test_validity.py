"""The auditor audited: a small run here, the shipped document of the large one, and controls that fire."""

from __future__ import annotations

import json

import pytest

from audit.validity.__main__ import DOCUMENT, holds, main, page, rows_from
from audit.validity.measure import CONTROL, CURVE_DELTAS, KNOWN, SIGNIFICANCE, Row, audit_once, measure

FEW = 40


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Return the errors of a few audits of randomised response, the mechanism that leaves no slack."""
    return measure(audit_once, KNOWN[1], 1_000, FEW, 7, 1)


def test_auditor_errs_no_more_than_promised_and_the_point_estimate_far_more(rows):
    by_bound = {row.bound: row for row in rows}
    assert by_bound["joint"].surprise > 1e-4
    assert by_bound["clopper_pearson"].surprise > 1e-4
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


def test_true_epsilons_of_the_curve_fall_and_pass_the_stated_point():
    gaussian = KNOWN[3]
    assert gaussian.truths[0] > gaussian.truths[1] > gaussian.truths[2]
    assert gaussian.truths[CURVE_DELTAS.index(gaussian.delta)] == pytest.approx(gaussian.true_epsilon, abs=1e-9)


def test_shipped_document_holds_is_what_its_page_says_and_has_enough_audits():
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    found = rows_from(document)
    assert document["holds"]
    assert holds(found)
    assert DOCUMENT.with_suffix(".md").read_text(encoding="utf-8") == page(document)
    assert document["significance"] == SIGNIFICANCE
    sizes = {one.draws for one in found}
    assert len(sizes) >= 3
    for draws in sizes:
        assert sum(one.audits for one in found if (one.draws, one.bound) == (draws, "joint")) >= 2_000
    assert {one.bound for one in found} == {"joint", "clopper_pearson", "anytime", "curve", CONTROL}
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
