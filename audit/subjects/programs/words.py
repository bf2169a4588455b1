"""The words of a program's command line."""

from __future__ import annotations

import re
import shlex

from reference.common.errors import ParameterError

OF_A_SHELL = re.compile("[|;&<>]")
"""What a shell would not pass on to a program."""

QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
"""A part of a command line that is quoted."""

BETWEEN_WORDS = re.compile(r"[ \t\r\n]+")


def words_of(command: str) -> tuple[str, ...]:
    """Split a command line into words, with a shell's quotes and nothing else of a shell.

    Raises
    ------
    reference.common.errors.ParameterError
        When these are no words, or hold what would be a shell's, as `|`, and is not quoted.
    """
    try:
        words = tuple(shlex.split(command))
    except ValueError as problem:
        raise ParameterError("program", command, f"a command line ({problem})") from problem
    if not words:
        raise ParameterError("program", command, "a command line")
    # a letter for each quoted part leaves the spaces between words, and what a shell would see in these
    bare = filter(None, BETWEEN_WORDS.split(QUOTED.sub("q", command)))
    for word, unquoted in zip(words, bare, strict=True):
        if OF_A_SHELL.search(unquoted):
            raise ParameterError(
                "program",
                command,
                f"a command line without {word!r}; no shell runs this: use sh -c '...', or quote an argument",
            )
    return words
