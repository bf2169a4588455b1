"""The pytest plugin `cfm_audit`: a fixture that asserts privacy, a budget of draws, and JUnit properties."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.outcomes import Failed

if TYPE_CHECKING:
    from audit.evidence.one_call import OneCallFinding

MARKER = "audit_draws"


class FailedClaimError(Failed, AssertionError):
    """A claim is refuted, or nothing was decided: what `audit.assert_private` raises, shown without a trace."""


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(number): the most draws that all calls of the fixture assert_private ask for in a test; "
        "checks and the confirmation of a refutation make further ones, at most 40,000 a call (docs/one-call.md)",
    )


@pytest.fixture(name="assert_private")
def assert_private_fixture(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Callable[..., OneCallFinding]:
    """Return `audit.assert_private`, which keeps to the test's budget and puts results into the JUnit report."""
    unspent = [_budget(request.node.get_closest_marker(MARKER))]

    def checked(
        mechanism: Any, left: Any, right: Any, *, epsilon: Any, delta: Any = "0", **how: Any
    ) -> OneCallFinding:
        __tracebackhide__ = True
        # loaded by the first call: a test run without one stays fast
        from audit.auditor.distinguish import SMALLEST_DRAWS
        from audit.evidence.arguments import whole_number
        from audit.evidence.one_call import audited_briefly
        from reference.common.errors import ReadingError

        if unspent[0] is not None:
            if not unspent[0]:
                pytest.fail("no draws are left of the test's budget", pytrace=False)
            try:
                draws = whole_number("draws", how.setdefault("draws", unspent[0]), 1)
            except ReadingError:
                # refused below, and spends nothing
                draws = 0
            if draws > unspent[0]:
                pytest.fail(f"{draws:,} draws asked for, {unspent[0]:,} left of the test's budget", pytrace=False)
            if unspent[0] < SMALLEST_DRAWS:
                left = f"{unspent[0]:,} draws are left of the test's budget"
                pytest.fail(f"{left}, and an audit needs {SMALLEST_DRAWS:,}", pytrace=False)
            unspent[0] -= draws
        finding = audited_briefly(mechanism, (left, right), (epsilon, delta), **how)
        for name, value in finding.to_json().items():
            # parts as JSON, for readers in any language
            record_property(f"audit.{name}", json.dumps(value) if isinstance(value, dict | list) else value)
        if finding.fails(allow_undecided=how.get("allow_undecided", False)):
            # short: the trace would show nothing about the mechanism
            raise FailedClaimError(str(finding), pytrace=False)
        return finding

    return checked


def _budget(marker: pytest.Mark | None) -> int | None:
    if marker is None:
        return None
    if marker.kwargs or len(marker.args) != 1 or type(marker.args[0]) is not int or marker.args[0] < 1:
        pytest.fail(f"{MARKER} takes one whole number, at least 1", pytrace=False)
    return int(marker.args[0])
