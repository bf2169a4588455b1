"""Subjects that are programs, in any language, asked over standard input and output: docs/programs.md."""

from audit.programs.errors import (
    AnswerError,
    ProgramEndedError,
    ProgramError,
    ProgramStartError,
    ProgramTimeoutError,
    RepeatedDrawsError,
    ReportedError,
    UnaskedOutputError,
)
from audit.programs.pair import InputPair, PairError
from audit.programs.process import Limits
from audit.programs.subject import ProgramSubject

__all__ = [
    "AnswerError",
    "InputPair",
    "Limits",
    "PairError",
    "ProgramEndedError",
    "ProgramError",
    "ProgramStartError",
    "ProgramSubject",
    "ProgramTimeoutError",
    "RepeatedDrawsError",
    "ReportedError",
    "UnaskedOutputError",
]
