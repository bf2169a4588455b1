"""What tests of programs share: programs that are started, and killed at the end."""

from __future__ import annotations

import pytest

from audit.gate.subjects.written_programs import PAIR, python_program
from audit.subjects.programs import (
    InputPair,
    ProgramLimits,
    ProgramSubject,
)


@pytest.fixture
def start():
    """Start programs written in a line or two, and kill them at the end."""
    started = []

    def of(code: str, pair: InputPair | None = PAIR, *, timeout=20.0, memory_limit=None, binary=False):
        limits = ProgramLimits(timeout, memory_limit)
        started.append(ProgramSubject(python_program(code), pair, binary=binary, limits=limits))
        return started[-1]

    yield of
    for subject in started:
        subject.close()
