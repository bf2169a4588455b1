"""The auditor audited: a small run here, the shipped document of the large one, and controls that fire."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from audit.auditor.choose import OF_CHOSEN
from audit.auditor.distinguish import Terms, estimate
from audit.auditor.events import QUICK
from audit.auditor.selection import Phases
from audit.bounds import ANYTIME, StoppingRule, epsilon_lower_bound
from audit.validity.document import DOCUMENT, WHAT, ValidityPlan, holds, page, renewed, rows_from, to_json
from audit.validity.known import (
    BESIDE,
    CONTROL,
    IN_CALLS,
    KNOWN,
    KNOWN_ANYTIME,
    RARE,
    RESPONSE,
    SIGNIFICANCE,
    LookedAt,
)
from audit.validity.measure import (
    AT_ONE_SIZE,
    AUDITS,
    GAP,
    LOOKS,
    SIZES,
    BoundErrors,
    anytime_once,
    audit_once,
    calls_once,
    measure,
)
from reference.common.errors import ReadingError

FEW = 40


@pytest.fixture(scope="module")
def rows() -> list[BoundErrors]:
    """Return the errors of a few audits of randomised response, the mechanism that leaves no slack."""
    return measure((audit_once, KNOWN[1], 1_000), FEW, 7, 1)


def test_auditor_errs_no_more_than_promised_and_point_estimates_do(rows):
    by_bound = {row.bound: row for row in rows}
    for bound in ("auto", "joint", "clopper_pearson", "conditional"):
        assert by_bound[bound].surprise > 1e-4
    assert by_bound[CONTROL].surprise < 1e-4


def row(bound: str, errors: int, audits: int = 2_000) -> BoundErrors:
    return BoundErrors("a mechanism", 1.0, 0.0, 1_000, bound, audits, errors)


def test_verdict_fires_on_too_many_errors_and_on_a_silent_control():
    assert holds([row("joint", 95), row(CONTROL, 1_000)])
    assert not holds([row("joint", 150), row(CONTROL, 1_000)])
    assert not holds([row("joint", 95), row(CONTROL, 90)])
    # one bad row among many good ones is not averaged away
    assert not holds([row("joint", 160), *[row("joint", 20)] * 9, row(CONTROL, 1_000)])


def test_upper_bound_on_the_error_is_above_the_share_and_grows():
    one = row("joint", 100)
    assert one.share < one.upper_bound(1) < one.upper_bound(30) < 0.08


def test_true_curve_of_two_outcomes_is_the_largest_of_four():
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
                Terms(delta=0.0, draws=1_000, significance=SIGNIFICANCE, families=QUICK, method=one),
                np.random.default_rng(4),
            )
            for one in (method, "auto")
        )
        assert (named.counts, named.event.to_json()) == (auto.counts, auto.event.to_json())
        assert named.epsilon_lower_bound == epsilon_lower_bound(auto.counts, 0.0, SIGNIFICANCE, method)


def test_anytime_audits_look_as_often_as_said_and_stop_at_an_error():
    weak, draws = KNOWN_ANYTIME[1], 4_000
    rows = Phases.of(draws, 1, learning=True).certify // (2 * LOOKS)
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
            Terms(
                delta=0.0,
                draws=draws,
                significance=SIGNIFICANCE,
                families=QUICK,
                claimed_epsilon=claim,
                until=Counting(GAP),
            ),
            rng,
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


@pytest.mark.parametrize("known", IN_CALLS, ids=lambda known: known.name)
def test_calls_taken_whole_err_no_more_than_promised(known):
    by_bound = {row.bound: row for row in measure((calls_once, known, 4_000), FEW, 7, 1)}
    assert by_bound["calls"].surprise > 1e-4
    # a rare event in few draws is mostly not the one that was chosen
    assert known.name.startswith("rare") or by_bound[CONTROL].errors > 3


@pytest.mark.parametrize(("once", "some"), AT_ONE_SIZE[1:], ids=lambda one: getattr(one, "__name__", ""))
def test_other_kinds_err_no_more_than_promised(once, some):
    for known in some:
        for found in measure((once, known, 4_000), 4, 7, 1):
            assert found.bound == CONTROL or found.surprise > 1e-4


def test_renewed_rows_take_the_place_of_those_of_their_kind():
    document = to_json([row("joint", 95), row("arrays", 90), row(CONTROL, 1_000)], 1, 10.0)
    found = renewed(document, ValidityPlan(only=("arrays",)), [row("arrays", 80)], 5.0)
    assert [(one.bound, one.errors) for one in rows_from(found)] == [
        ("joint", 95),
        (CONTROL, 1_000),
        ("arrays", 80),
    ]
    assert found["seconds"] == 15
    with pytest.raises(ReadingError, match="seed"):
        renewed(document, ValidityPlan(only=("arrays",), seed=2), [], 5.0)


def test_shipped_document_holds_and_is_what_its_page_says():
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    found = rows_from(document)
    assert document["holds"]
    assert holds(found)
    assert DOCUMENT.with_suffix(".md").read_text(encoding="utf-8") == page(document)
    assert document["significance"] == SIGNIFICANCE
    assert {one.draws for one in found} == set(SIZES)
    assert all(one.audits >= AUDITS >= 2_000 for one in found)
    # the page names what is missing, and every bound that there is
    assert set(WHAT) >= {one.bound for one in found}
    assert set(WHAT) - {one.bound for one in found} <= {"stages", "row sets", "arrays", "sums"}
    assert {one.true_epsilon for one in found} >= {0.0, 1.0}


def test_page_says_which_rows_were_extended_after_a_first_look():
    first = row("row sets", 106)
    rows = [row("row sets", 453, 10_000), row(CONTROL, 1_000)]
    said = "The first 2,000 audits of row sets had a share of 0.053, and so were extended to 10,000."
    document = to_json(rows, 1, 10.0, [first])
    assert said in page(document)
    assert "extended to" not in page(to_json(rows, 1, 10.0))
    # it stays when another kind is renewed, and goes when this one is
    other, same = (
        renewed(document, ValidityPlan(only=(kind,)), [row(bound, 80)], 5.0)
        for kind, bound in (("arrays", "arrays"), ("cells", "row sets"))
    )
    assert rows_from(other, "extended") == [first]
    assert rows_from(same, "extended") == []


def test_two_events_are_certified_and_the_rare_one_is_reported():
    """So the row of two events is about what it says."""
    shares = [
        estimate(
            BESIDE[0].subject, Terms(draws=4_000, families=("coordinates",)), np.random.default_rng(seed)
        ).ideal.share
        for seed in range(6)
    ]
    assert shares.count(OF_CHOSEN) >= 4
