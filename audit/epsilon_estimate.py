"""``python -m audit.epsilon_estimate``: whether a mechanism keeps the epsilon it claims.

The same as ``python -m audit estimate``, :mod:`audit.commands.estimate`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from reference.commands.start import starting
from reference.commands.supervision import supervised


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    with starting():
        from audit.commands.family import command
        from reference.commands.parsing import run
    words = sys.argv[1:] if argv is None else argv
    return run(command, ["estimate", *words], name="python -m audit")


if __name__ == "__main__":
    with starting():
        supervised()
        from audit.commands.family import command
        from reference.commands.parsing import exit_with
    exit_with(command, ["estimate", *sys.argv[1:]], name="python -m audit")
