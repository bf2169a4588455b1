"""Subjects that are programs, in any language, which answer over standard input and output: docs/programs.md."""

from audit.subjects.programs.errors import (
    AnswerError,
    ProgramEndedError,
    ProgramError,
    ProgramStartError,
    ProgramTimeoutError,
    RepeatedDrawsError,
    ReportedError,
    RestartedError,
    UnaskedOutputError,
)
from audit.subjects.programs.pair import InputPair, PairError
from audit.subjects.programs.process import ProgramLimits
from audit.subjects.programs.subject import ProgramDescription, ProgramSubject

__all__ = [
    "AnswerError",
    "InputPair",
    "PairError",
    "ProgramDescription",
    "ProgramEndedError",
    "ProgramError",
    "ProgramLimits",
    "ProgramStartError",
    "ProgramSubject",
    "ProgramTimeoutError",
    "RepeatedDrawsError",
    "ReportedError",
    "RestartedError",
    "UnaskedOutputError",
]
