"""One exception class per reason why a program cannot be audited."""

from __future__ import annotations

from audit.auditor.subject import DrawingError, SubjectError


class ProgramError(SubjectError):
    """A program failed, so nothing was decided about the mechanism.

    Parameters
    ----------
    problem : str
        What happened.
    expected : str
        The expected behaviour; may be empty.

    Attributes
    ----------
    stderr : str
        The end of what the program wrote to its standard error, in one line of printable characters.
    """

    def __init__(self, problem: str, expected: str = "") -> None:
        self.problem = problem
        self.expected = expected
        self.stderr = ""
        super().__init__(problem)

    def __str__(self) -> str:
        expected = f"; expected {self.expected}" if self.expected else ""
        tail = f"; its standard error ends with: {self.stderr}" if self.stderr else ""
        return f"the program {self.problem}{expected}{tail}"


class ProgramStartError(ProgramError):
    """There is no such program."""


class ProgramEndedError(ProgramError, DrawingError):
    """The program ended, or closed its standard output, before its answer was whole."""


class ProgramTimeoutError(ProgramError, DrawingError):
    """No whole answer came in time."""


class AnswerError(ProgramError, DrawingError):
    """An answer does not follow the protocol: it holds no draws, and those before it stand."""


class ReportedError(ProgramError, DrawingError):
    """The program answered that it cannot serve the request."""


class UnaskedOutputError(ProgramError):
    """The program wrote something unasked, so answers may belong to other questions."""


class RepeatedDrawsError(ProgramError):
    """The program gave the same draws twice: they are not independent."""


class RestartedError(ProgramError):
    """The program answers differently after a restart: it is not one mechanism, so nothing is decided."""
