"""A pytest plugin: the vectors as tests of another project, ``pytest --cfm-program "node port.js"``.

Nothing is imported and no test is added unless one of its options is given.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

REPORT = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("cfm-conformance", "conformance with the calibrated functional mechanism")
    group.addoption("--cfm-program", metavar="CMD", help="run the vectors on a program, a test each")
    group.addoption(
        "--cfm-import", metavar="MODULE", help="run the vectors on a Python module with a function answer"
    )
    group.addoption("--cfm-only", metavar="WORDS", default="", help="group types, flags or ids, with commas")
    group.addoption("--cfm-exchange", choices=["json", "flat"], default="json", help="form of a line (json)")
    group.addoption("--cfm-timeout", type=float, default=10.0, help="seconds without an answer (10)")


def _is_asked(config: pytest.Config) -> bool:
    return bool(config.getoption("--cfm-program") or config.getoption("--cfm-import"))


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each case."""
    if not _is_asked(config):
        return
    from reference.common.errors import InputError
    from reference.common.extras import needed_for

    words = [word for word in str(config.getoption("--cfm-only")).split(",") if word]
    try:
        with needed_for("a run of the vectors"):
            from audit.conformance.selection import chosen, command_of
        command_of(config.getoption("--cfm-program"), config.getoption("--cfm-import"))
        cases = chosen(words)
    except InputError as problem:
        raise pytest.UsageError(str(problem)) from None
    for kind, case in cases:
        items.append(CaseItem.from_parent(session, name=f"cfm::{kind}::{case.tc_id}", kind=kind, case=case))


class CaseItem(pytest.Item):
    """One case; the program runs once, for all of them."""

    def __init__(self, *, kind: str, case: Any, **parent: Any) -> None:
        super().__init__(**parent)
        self.kind, self.case = kind, case
        # a plain skip in the summary needs a location
        self.obj = None

    def runtest(self) -> None:
        """Fail if the program is wrong, and name the possible bug."""
        one = next(one for one in _report(self.session).outcomes if one.case.tc_id == self.case.tc_id)
        if one.status == "skipped":
            pytest.skip(f"the program cannot do it: {one.said}")
        if one.status != "passed":
            raise ConformanceError(f"{one.status}: {one.said}", ", ".join(one.case.flags))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the failure as text."""
        if isinstance(excinfo.value, ConformanceError):
            said, flags = excinfo.value.args
            return f"{self.case.comment}\n{said}\nbugs that this case catches: {flags or 'none of the flags'}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return the location of the case."""
        from audit.vectors.format import path_of

        return Path(str(path_of(self.kind))), None, f"{self.kind} {self.case.tc_id}: {self.case.comment}"


class ConformanceError(AssertionError):
    """A program answers a case wrongly."""


def _report(session: pytest.Session) -> Any:
    if REPORT not in session.stash:
        from audit.conformance.selection import command_of, report_of

        config = session.config
        work = [(item.kind, item.case) for item in session.items if isinstance(item, CaseItem)]
        command = command_of(config.getoption("--cfm-program"), config.getoption("--cfm-import"))
        timeout = float(config.getoption("--cfm-timeout"))
        session.stash[REPORT] = report_of(command, work, config.getoption("--cfm-exchange"), timeout=timeout)
    return session.stash[REPORT]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Name the bug."""
    session = getattr(terminalreporter, "_session", None)
    if not _is_asked(config) or session is None or REPORT not in session.stash:
        return
    lines = list(session.stash[REPORT].told())
    if lines:
        terminalreporter.section("cfm diagnosis")
        terminalreporter.write_line("\n".join(lines).strip("\n"))
