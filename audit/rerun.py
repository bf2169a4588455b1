"""The command line that repeats a result."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Collection

NOT_REPEATED = ("out", "format", "plot")


def rerun_command(
    program: str, parser: argparse.ArgumentParser, options: argparse.Namespace, words: Collection[str] = ()
) -> str:
    """Return `program` with the positional `words` and every option that differs from its default.

    Parameters
    ----------
    program : str
        Such as ``audit.privacy``.
    parser : argparse.ArgumentParser
        Its positional arguments must be optional.
    options : argparse.Namespace
        As parsed.
    words : collection of str
        Positional arguments.
    """
    defaults = vars(parser.parse_args([]))
    command = ["python", "-m", program, *words]
    positional = {action.dest for action in parser._actions if not action.option_strings}
    for name, value in vars(options).items():
        if name in positional or name in NOT_REPEATED or value == defaults[name]:
            continue
        flag = "--" + name.replace("_", "-")
        words_of_list = ",".join(str(word) for word in value) if isinstance(value, list) else str(value)
        command.extend([flag] if value is True else [flag, words_of_list])
    return shlex.join(command)
