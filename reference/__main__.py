"""``python -m reference``: run the mechanisms on a data set, predict, write and check domain files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from reference.commands import domain, fit, predict
from reference.options import run_command


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m reference", description=__doc__, allow_abbrev=False)
    commands = top.add_subparsers(dest="command", required=True)
    fit.add_parser(commands)
    predict.add_parser(commands)
    domain.add_parser(commands)
    return top


def command(argv: Sequence[str] | None) -> int:
    """Run the command that the arguments name."""
    options = parser().parse_args(argv)
    code: int = options.run(options)
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
