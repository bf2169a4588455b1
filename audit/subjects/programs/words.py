"""The words of a program's command line."""

from __future__ import annotations

import re
import shlex

from reference.common.errors import ParameterError

OF_A_SHELL = re.compile(r"[|;&]|[0-9]*[<>]")
"""Begins what a shell would not pass on to a program."""


def words_of(command: str) -> tuple[str, ...]:
    """Split a command line into words, with a shell's quotes and nothing else of a shell.

    Raises
    ------
    reference.common.errors.ParameterError
        When these are no words, or one of them would be a shell's, as `|`, and is not quoted.
    """
    try:
        words = tuple(shlex.split(command))
        # with their quotes
        unquoted = set(shlex.split(command, posix=False)).intersection(words)
    except ValueError as problem:
        raise ParameterError("program", command, f"a command line ({problem})") from problem
    if not words:
        raise ParameterError("program", command, "a command line")
    for word in words:
        if word in unquoted and OF_A_SHELL.match(word):
            raise ParameterError(
                "program",
                command,
                f"a command line without {word!r}; no shell runs this: use sh -c '...', or quote an argument",
            )
    return words
