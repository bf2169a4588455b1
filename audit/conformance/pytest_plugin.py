"""A pytest plugin: the vectors as tests of another project, ``pytest --cfm-program "node port.js"``.

Nothing is imported and no test is added unless one of its options is given.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

REPORT = pytest.StashKey[Any]()

FAILURE = pytest.StashKey[str]()
"""Why the program answers no case at all."""


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
    from reference.common.errors import InputError, ParameterError
    from reference.common.extras import needed_for

    if config.getoption("--cfm-program") and config.getoption("--cfm-import"):
        raise pytest.UsageError("--cfm-program and --cfm-import: give one of the two")
    if not config.getoption("--cfm-timeout") > 0:
        raise pytest.UsageError("--cfm-timeout must be positive")
    words = [word for word in str(config.getoption("--cfm-only")).split(",") if word]
    try:
        with needed_for("a run of the vectors"):
            from audit.conformance.selection import chosen, command_of
        command_of(config.getoption("--cfm-program"), config.getoption("--cfm-import"))
        cases = chosen(words)
    except ParameterError as problem:
        raise pytest.UsageError(f"--cfm-{problem}") from None
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
        report = _report(self.session)
        if report is None:
            pytest.fail(self.session.stash[FAILURE], pytrace=False)
        one = next(one for one in report.outcomes if one.case.tc_id == self.case.tc_id)
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
    """Return the report of a run of the program, the only one of this session; None if it failed at every case."""
    if REPORT not in session.stash:
        from audit.conformance.selection import command_of, report_of
        from audit.subjects.programs.errors import ProgramError

        given = {name: session.config.getoption(name) for name in ("--cfm-program", "--cfm-import")}
        work = [(item.kind, item.case) for item in session.items if isinstance(item, CaseItem)]
        exchange, timeout = (session.config.getoption(name) for name in ("--cfm-exchange", "--cfm-timeout"))
        try:
            session.stash[REPORT] = report_of(command_of(*given.values()), work, exchange, timeout=timeout)
        except ProgramError as problem:
            asked = " ".join(f"{name} {value}" for name, value in given.items() if value)
            session.stash[REPORT], session.stash[FAILURE] = None, f"{asked}: {problem}"
    return session.stash[REPORT]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Name the bug."""
    session = getattr(terminalreporter, "_session", None)
    if not _is_asked(config) or session is None or REPORT not in session.stash:
        return
    report = session.stash[REPORT]
    lines = list(report.told()) if report is not None else [session.stash[FAILURE]]
    if lines:
        terminalreporter.section("cfm diagnosis")
        terminalreporter.write_line("\n".join(lines).strip("\n"))
