"""The command ``fit`` in this process, small data for it, and what is read from its output."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reference.common.exit_codes import EXIT_FINE
from reference.registry import MECHANISMS
from tests.command_lines import reference

PRIVATE = [name for name, spec in MECHANISMS.items() if spec.private]

# Small, so that most tests take milliseconds.
SMALL = ("--data", "synthetic", "--records", "200", "--dimension", "3")


class CommandLine:
    """Runs ``fit`` in this process and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Return exit code, standard output and standard error."""
        code = reference("fit", *arguments)
        captured = self._capsys.readouterr()
        return code, captured.out, captured.err

    def json(self, *arguments: str) -> Any:
        """Return the JSON document of a run that must succeed."""
        code, out, err = self.run(*arguments, "--format", "json")
        assert (code, err) == (EXIT_FINE, "")
        return json.loads(out)


def published(document: dict[str, Any]) -> dict[str, Any]:
    """Return the published statement of one release."""
    return document["privacy"]["published"]["per_release"]
