"""The pytest plugin `cfm_audit`: a fixture that asserts privacy, a budget of draws, and JUnit properties."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from _pytest.outcomes import Failed

from audit.evidence.budget import BUDGETS, DrawBudget

if TYPE_CHECKING:
    from audit.evidence.one_call import OneCallFinding

MARKER = "audit_draws"

HAS_BUDGET = pytest.StashKey[bool]()


class FailedClaimError(Failed, AssertionError):
    """A claim is refuted, or nothing was decided: what `audit.assert_private` raises, shown without a trace."""


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(number): the most draws that all calls of assert_private ask for in a test; checks and the "
        "confirmation of a refutation make further ones (docs/one-call.md says how many)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Set the budget of a test, for assertions that import `assert_private`, too."""
    BUDGETS.append(None)
    item.stash[HAS_BUDGET] = True
    BUDGETS[-1] = _budget(item.get_closest_marker(MARKER))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Take the budget away."""
    if item.stash.get(HAS_BUDGET, False):
        item.stash[HAS_BUDGET] = False
        BUDGETS.pop()


@pytest.fixture(name="assert_private")
def assert_private_fixture(request: pytest.FixtureRequest) -> Callable[..., OneCallFinding]:
    """Return `audit.assert_private`, which puts its results into the JUnit report."""
    calls = 0

    def checked(mechanism: Any, left: Any, right: Any, **how: Any) -> OneCallFinding:
        nonlocal calls
        __tracebackhide__ = True
        # loaded by the first call: a test run without one stays fast
        from audit.evidence.one_call import OWN, audited_briefly

        claim = how.pop("epsilon", OWN), how.pop("delta", OWN)
        finding = audited_briefly(mechanism, (left, right), claim, **how)
        calls += 1
        prefix = "audit" if calls == 1 else f"audit.{calls}"
        for name, value in finding.to_json().items():
            # parts as JSON, for readers in any language; pytest's own fixture for properties warns of xunit2
            told = json.dumps(value) if isinstance(value, dict | list) else value
            request.node.user_properties.append((f"{prefix}.{name}", told))
        if finding.fails(allow_undecided=how.get("allow_undecided", False)):
            # short: the trace would show nothing about the mechanism
            raise FailedClaimError(str(finding), pytrace=False)
        return finding

    return checked


def _budget(marker: pytest.Mark | None) -> DrawBudget | None:
    if marker is None:
        return None
    if marker.kwargs or len(marker.args) != 1 or type(marker.args[0]) is not int or marker.args[0] < 1:
        _fail(f"{MARKER} takes one whole number, at least 1")
    return DrawBudget(marker.args[0], _fail)


def _fail(words: str) -> NoReturn:
    __tracebackhide__ = True
    pytest.fail(words, pytrace=False)
