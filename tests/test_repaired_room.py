"""A release states no more than its budget, and a file has the releases of a fit: from public numbers."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from reference.accounting.release_ledger import ReleaseLedger
from reference.budgets import Budget
from reference.common.documents import plain
from reference.common.errors import CeilingError, ReleaseFileError
from reference.domain.attributes import OneHot
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.repaired.advice import planned
from reference.repaired.classifier import RepairedClassifier
from reference.repaired.curator import DISCRETE_ROOM, RoomyBudget, planned_scale, room_of
from reference.repaired.sums import imbalance_change
from tests.test_repaired_classifier import DOMAIN, X, Y, Z, fitted


def of_columns(columns: int) -> Any:
    choices = OneHot("job", tuple(f"job {place}" for place in range(columns)))
    file = DomainFile(attributes=(choices,), label=Marker("y"), group=Marker("z"), keep_group=True)
    return file.domain


def at_a_share_of(plan: Any, zbar: Fraction) -> Any:
    """Return the account of a fit that finds this share of the group."""
    change = imbalance_change(zbar)
    spent = (
        one._replace(change=change, scale=planned_scale(plan.budget, change, one.share))
        if one.what == "probe"
        else one
        for one in plan.spent
    )
    return plan._replace(spent=tuple(spent))


@pytest.mark.parametrize(
    ("epsilon", "delta", "columns", "wider"),
    [
        ("1", "1e-5", 10, False),
        ("300", "1e-9", 30, False),
        ("1", "1e-5", 200, True),
        ("1", "0.01", 100, True),
        ("10", "1e-4", 100, True),
        ("10", "0.1", 100, True),
        ("1", "1e-5", 5000, True),
        ("0.001", "0.9", 1000, True),
        ("1e-6", "0.5", 30, True),
    ],
)
def test_a_plan_states_its_budget_and_so_does_every_fit(epsilon, delta, columns, wider):
    budget, domain = Budget(epsilon, delta), of_columns(columns)
    plan = planned(domain, 40_000, budget, "demographic_parity", hardened=True)
    assert plan.epsilon == budget.epsilon
    for zbar in (Fraction(1, 16), Fraction(1, 2), Fraction(2, 3)):
        assert at_a_share_of(plan, zbar).epsilon == budget.epsilon
    assert (room_of(plan.budget) > DISCRETE_ROOM) == isinstance(plan.budget, RoomyBudget) == wider
    assert room_of(plan.budget) < 1 + Fraction(1, 50)
    # broken control: the usual noise needs more where the plan's is wider
    narrow = planned(domain, 40_000, budget, "demographic_parity", hardened=False)._replace(hardened=True)
    assert (narrow.epsilon > budget.epsilon) == wider


@pytest.mark.filterwarnings("ignore:delta")
def test_a_ledger_with_room_for_the_budget_has_room_for_its_release(tmp_path):
    pytest.importorskip("opendp")
    ledger = ReleaseLedger(tmp_path / "ledger.json", data="people", epsilon=1, delta="0.5")
    model = RepairedClassifier(domain=DOMAIN, delta="0.5", release_ledger=ledger)
    model.fit(X, Y, sensitive_features=Z)
    assert model.privacy_.exact.epsilon.upper == 1
    # its noise is wider than the usual, which here would need more
    scales = [Fraction(one.scale) for one in model.release_.spent]
    usual = [planned_scale(Budget(1, "0.5"), one.change, one.share) for one in model.release_.spent]
    assert all(
        1 < scale / Fraction(narrow) < 1 + Fraction(1, 2**20) for scale, narrow in zip(scales, usual, strict=True)
    )
    with pytest.raises(CeilingError):
        model.fit(X, Y, sensitive_features=Z)


@pytest.mark.parametrize("fairness", ["none", "demographic_parity"])
def test_a_file_without_a_gradient_or_of_other_records_is_refused(tmp_path, fairness):
    release = fitted(fairness=fairness, epsilon="4").release_
    document, account = plain(release), release.account
    spent = document["spent"]
    last = max(place for place, one in enumerate(spent) if one["what"] == "gradient")
    assert [one["what"] for one in spent].count("gradient") > 1

    def without(place: int) -> dict[str, Any]:
        """Leave a release out of the file, and out of its statement."""
        left = account._replace(spent=account.spent[:place] + account.spent[place + 1 :])
        return {"spent": spent[:place] + spent[place + 1 :], "privacy": plain(left.privacy)}

    path = tmp_path / "release.json"
    # null control
    path.write_text(json.dumps(document))
    assert RepairedClassifier.from_release(path).release_ == release
    for edit in (without(last), {"records": 1000 * document["records"]}):
        path.write_text(json.dumps({**document, **edit}))
        with pytest.raises(ReleaseFileError) as problem:
            RepairedClassifier.from_release(path)
        expected = "states other noise" if "records" in edit and fairness != "none" else "a fit of this domain"
        assert expected in str(problem.value)


def test_counts_tell_how_many_records_a_file_has(tmp_path):
    """Also where a file has ten gradients, as files of an earlier rule that took no more."""
    release = fitted(fairness="none", epsilon="1.7").release_
    document, path = plain(release), tmp_path / "release.json"
    steps = len(document["spent"])
    assert steps == 10
    for factor, refused in ((1, False), (1000, True)):
        path.write_text(json.dumps({**document, "records": factor * document["records"]}))
        if refused:
            with pytest.raises(ReleaseFileError, match=r"do not add up to the records .*counts"):
                RepairedClassifier.from_release(path)
        else:
            assert RepairedClassifier.from_release(path).release_ == release
