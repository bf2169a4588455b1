"""The pytest plugin `cfm_audit`: a fixture that asserts privacy, a budget of draws, and JUnit properties."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from _pytest.outcomes import Failed

from audit.evidence.running import RUNNING, RunningTest

if TYPE_CHECKING:
    from audit.evidence.one_call import OneCallFinding

MARKER = "audit_draws"

TEST = pytest.StashKey[RunningTest]()

PASSED = pytest.StashKey[bool]()

SHARED = pytest.StashKey[bool]()
"""Of a class, a module, a package or a session one of whose fixtures made an audit."""


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
    """Set the running test, for assertions that import `assert_private`, too."""
    # a test may be run again
    item.stash[PASSED] = False
    item.stash[TEST] = _test(item)
    RUNNING.append(item.stash[TEST])


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Take it away; of a test that passed, warn if it made no audit, and fail it if it did not see a verdict."""
    # there is none where the marker is wrong
    if TEST not in item.stash:
        return
    test = item.stash[TEST]
    del item.stash[TEST]
    RUNNING.pop()
    if not item.stash[PASSED]:
        return
    if (unseen := test.unseen) is not None:
        _fail(unseen)
    # of a class or a module the marker is about those tests that audit
    marked = any(mark.name == MARKER for mark in item.own_markers)
    if marked and not test.begun and not any(SHARED in node.stash for node in item.listchain()):
        said = f"the test has the marker {MARKER}, and no call of assert_private in this process"
        item.warn(pytest.PytestWarning(said))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> Generator[None, object, object]:
    """Note which fixtures audit: those of a class (setUpClass, too), a module or more serve several tests."""
    test = RUNNING[-1]
    before = 0 if test is None else test.begun
    made = yield
    if test is not None and test.begun > before:
        request.node.stash[SHARED] = True
    return made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whether a test passed, as far as pytest knows."""
    report = yield
    if call.when == "call":
        item.stash[PASSED] = report.passed
    return report


@pytest.fixture(name="assert_private")
def assert_private_fixture(request: pytest.FixtureRequest) -> Callable[..., OneCallFinding]:
    """Return `audit.assert_private`, which puts its results into the JUnit report."""

    def checked(mechanism: Any, left: Any, right: Any, **how: Any) -> OneCallFinding:
        __tracebackhide__ = True
        # loaded by the first call: a test run without one stays fast
        from audit.evidence.one_call import OWN, audited_briefly

        claim = how.pop("epsilon", OWN), how.pop("delta", OWN)
        with request.node.stash[TEST].begin() as call:
            finding = audited_briefly(mechanism, (left, right), claim, call, **how)
            prefix = "audit" if call.number == 1 else f"audit.{call.number}"
            for name, value in (finding.to_json() | {"inputs": finding.inputs}).items():
                # parts as JSON, for readers in any language; pytest's own fixture for properties warns of xunit2
                told = json.dumps(value) if isinstance(value, dict | list) else value
                request.node.user_properties.append((f"{prefix}.{name}", told))
            if finding.fails(allow_undecided=how.get("allow_undecided", False)):
                # short: the trace would show nothing about the mechanism
                raise FailedClaimError(f"{call}: {finding}", pytrace=False)
        return finding

    return checked


def _test(item: pytest.Item) -> RunningTest:
    marker, draws = item.get_closest_marker(MARKER), None
    if marker is not None:
        if marker.kwargs or len(marker.args) != 1 or type(marker.args[0]) is not int or marker.args[0] < 1:
            _fail(f"{MARKER} takes one whole number, at least 1")
        (draws,) = marker.args
    return RunningTest(draws, str(item.path), _fail)


def _fail(words: str) -> NoReturn:
    __tracebackhide__ = True
    pytest.fail(words, pytrace=False)
