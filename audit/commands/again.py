"""The command line that repeats a result."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import click

from reference.commands.parsing import Command

NOT_REPEATED = ("out", "format", "plot", "update")


def again(command: Command, *groups: Any, words: Sequence[str] = (), under: str = "audit") -> str:
    """Return the command with the positional `words` and every option that differs from its default.

    Parameters
    ----------
    command : Command
    *groups : object
        Of the command's groups of options, as read.
    words : sequence of str
        Positional arguments.
    under : str
        The words before the command's name.
    """
    given = {entry.name: getattr(group, entry.name) for group in groups for entry in fields(group)}
    line = ["python", "-m", *under.split(), str(command.name), *words]
    with command.make_context(command.name, [], resilient_parsing=True) as context:
        for parameter in command.params:
            name = str(parameter.name)
            if isinstance(parameter, click.Option) and name not in NOT_REPEATED and name in given:
                line += _words(parameter, given[name], context.params[name])
    return shlex.join(line)


def _words(parameter: click.Option, value: Any, default: Any) -> list[str]:
    if value == default:
        return []
    flag = parameter.opts[0]
    if value is True:
        return [flag]
    return [flag, ",".join(str(part) for part in value) if isinstance(value, tuple) else str(value)]
