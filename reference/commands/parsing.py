"""Command lines: options become typed objects, and every command ends in one documented way.

A group of options is a frozen dataclass whose fields are made by :func:`option`, :func:`listed` or
:func:`argument`; its docstring is the heading under which ``--help`` lists them.  :func:`command` turns a function
of such groups into a command::

    @dataclass(frozen=True, kw_only=True)
    class Output:
        \"\"\"Output\"\"\"

        format: str = option("--format", type=click.Choice(["text", "json"]), default="text")


    @make_command("fit", Output, example="python -m reference fit --format json")
    def command(output: Output) -> int:
        ...

with ``from reference.commands.parsing import command as make_command``: a :class:`CommandRow` of a
:class:`Family` names the module, whose attribute `command` it is.
"""

from __future__ import annotations

import difflib
import importlib
import math
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any, NoReturn

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem, shell_complete

from reference import __version__
from reference.commands.endings import close_quietly, failed, interrupted, say
from reference.commands.file_names import require_writable_files
from reference.commands.output import open_closed_streams, own_output
from reference.commands.supervision import EndedBySignalError, finish
from reference.common.errors import InputError
from reference.common.exit_codes import EXIT_FINE
from reference.common.extras import needed_for
from reference.common.numbers import is_number_text
from reference.common.page import INDENT
from reference.common.printable import quoted, shown

DISTRIBUTION = "calibrated-functional-mechanism"

COMPLETED = "cfm"
"""The program that shells complete."""

MODULES = {"audit.epsilon_estimate": "audit estimate ", "audit": "audit ", "reference": ""}
"""What follows the name of that program in place of ``python -m`` and a module."""

CONTEXT = {"max_content_width": 100, "help_option_names": ["-h", "--help"]}

PARAMETER = "parameter"
"""Metadata key for the function that makes a field's parameter."""

# --- What a value may be ---------------------------------------------------------------------------------------


class Choice(click.Choice[str]):
    """One of several words; for a mistyped one, the error suggests the nearest."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the error for another word."""
        return unknown("choice", str(value), self.choices)

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        """Return what could have been given."""
        return f"one of {', '.join(self.choices)}"


class Names(click.ParamType[tuple[str, ...]]):
    """One word or several, with commas between them.

    Parameters
    ----------
    choices : iterable of str
    """

    name = "names"

    def __init__(self, choices: Iterable[str]) -> None:
        self.choice = Choice(list(choices))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Split a list; each of its words must be one of the choices."""
        words = value if isinstance(value, tuple) else str(value).split(",")
        return tuple(self.choice.convert(word.strip(), param, ctx) for word in words)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete the last word of the list."""
        head, comma, last = incomplete.rpartition(",")
        return [CompletionItem(head + comma + word) for word in self.choice.choices if word.startswith(last)]


# --- Options and groups of options -----------------------------------------------------------------------------


class Option(click.Option):
    """An option whose value is not another option: ``--out --quiet`` names no file."""

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """Return the value and its source."""
        value, source = super().consume_value(ctx, opts)
        if source is ParameterSource.COMMANDLINE and not self.is_flag and not ctx.resilient_parsing:
            known = {name for parameter in ctx.command.params for name in parameter.opts if name.startswith("--")}
            for given in value if isinstance(value, (tuple, list)) else (value,):
                if given in known:
                    raise click.BadOptionUsage(self.opts[0], f"{self.opts[0]} needs a value before {given}", ctx)
        return value, source

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Convert the value; numbers have the form that they have everywhere, not 1_0 or inf."""
        if isinstance(self.type, (click.types.IntParamType, click.types.FloatParamType)):
            for given in value if isinstance(value, (tuple, list)) else (value,):
                if isinstance(given, str) and not (is_number_text(given) and abs(float(given)) < math.inf):
                    self.type.fail(f"{shown(given)} is not a number here", self, ctx)
        return super().type_cast_value(ctx, value)


class Argument(click.Argument):
    """A positional argument with a line in ``--help``."""

    def __init__(self, name: str, line: str, **settings: Any) -> None:
        super().__init__([name], **settings)
        self.line = line

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return the name and the line."""
        return self.make_metavar(ctx), self.line


def option(*names: str, **settings: Any) -> Any:
    """Declare a field that is read from an option; names and settings are those of :class:`click.Option`."""
    return field(metadata={PARAMETER: lambda name: Option([name, *names], **_suggesting(settings))})


def listed(*names: str, choices: Iterable[str], **settings: Any) -> Any:
    """Declare a field that is read from an option that may be repeated or take a list with commas.

    Parameters
    ----------
    *names : str
    choices : iterable of str
        The words that a list may hold.
    **settings
        Of :class:`click.Option`; the default is a tuple of words.  The field is a tuple of str.
    """

    def together(_context: click.Context, _parameter: click.Parameter, given: Iterable[Iterable[str]]) -> Any:
        return tuple(dict.fromkeys(word for words in given for word in words))

    return option(*names, type=Names(choices), multiple=True, callback=together, **settings)


def argument(*, line: str = "", **settings: Any) -> Any:
    """Declare a field that is read from a positional argument.

    Parameters
    ----------
    line : str
        What ``--help`` says of it.
    **settings
        Of :class:`click.Argument`.
    """
    return field(metadata={PARAMETER: lambda name: Argument(name, line, **_suggesting(settings))})


def _suggesting(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a parameter, with a choice that suggests the nearest word."""
    kind = settings.get("type")
    return {**settings, "type": Choice(kind.choices)} if type(kind) is click.Choice else dict(settings)


def heading(group: type) -> str:
    """Return the first line of a group's docstring, without its stop."""
    return (group.__doc__ or group.__name__).strip().splitlines()[0].rstrip(".")


def parameters(group: type) -> list[click.Parameter]:
    """Return the parameters that the fields of a group are read from."""
    return [entry.metadata[PARAMETER](entry.name) for entry in _fields_with_parameter(group)]


def _fields_with_parameter(group: type) -> list[Field[Any]]:
    return [entry for entry in fields(group) if PARAMETER in entry.metadata]


def filled_in(group: type, given: Mapping[str, Any]) -> Any:
    """Return a group of options with the values of its parameters, by name."""
    return group(**{entry.name: given[entry.name] for entry in _fields_with_parameter(group)})


def with_defaults(group: type) -> Any:
    """Return a group of options, none of them given."""
    with click.Command("", params=parameters(group)).make_context("", [], resilient_parsing=True) as context:
        return filled_in(group, context.params)


def version_option() -> click.Option:
    """Return the option ``--version``."""

    def show(context: click.Context, _parameter: click.Parameter, asked: bool) -> None:
        if asked and not context.resilient_parsing:
            click.echo(f"{DISTRIBUTION} {__version__}")
            context.exit()

    return click.Option(
        ["--version"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=show,
        help="Show the version and exit.",
    )


# --- Commands --------------------------------------------------------------------------------------------------


class Command(click.Command):
    """A command whose help lists the options group by group, with an example."""

    def __init__(self, name: str, groups: Sequence[type], example: str, **settings: Any) -> None:
        self.groups = tuple(groups)
        self.example = example
        params = [parameter for group in groups for parameter in parameters(group)]
        super().__init__(name, params=[*params, version_option()], context_settings=dict(CONTEXT), **settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; explain one that belongs nowhere."""
        ctx.allow_extra_args = True
        left = super().parse_args(ctx, args)
        if left and not ctx.resilient_parsing:
            raise click.UsageError(self._unexpected(left[0]), ctx)
        return left

    def _unexpected(self, word: str) -> str:
        for parameter in self.params:
            if isinstance(parameter.type, Names) and word in parameter.type.choice.choices:
                name = parameter.opts[0]
                return f"unexpected word {word!r}: repeat {name}, or put commas between its words ({name} A,B)"
        return f"unexpected word {word!r}: --help lists what this command takes"

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each group of options under its heading."""
        grouped = set()
        for group in self.groups:
            names = {entry.name for entry in _fields_with_parameter(group)}
            grouped |= names
            self._section(ctx, formatter, heading(group), [p for p in self.params if p.name in names])
        self._section(ctx, formatter, "Other", [p for p in self.get_params(ctx) if p.name not in grouped])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example."""
        _write_example(ctx, formatter, self.example)

    @staticmethod
    def _section(
        ctx: click.Context, formatter: click.HelpFormatter, title: str, parameters: Iterable[click.Parameter]
    ) -> None:
        records = [record for record in (p.get_help_record(ctx) for p in parameters) if record is not None]
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _folded(line: str, width: int) -> list[str]:
    """Fold a command into lines that a shell reads as one."""
    lines = [INDENT]
    for word in shlex.split(line):
        quoted = shlex.quote(word)
        if len(lines[-1]) + len(quoted) + len(" \\") > width and lines[-1].strip():
            lines[-1] += "\\"
            lines.append(INDENT * 3)
        lines[-1] += f"{quoted} "
    return [text.rstrip() for text in lines]


def as_typed(line: str, context: click.Context | None = None) -> str:
    """Return a command line of ours, and that of ``cfm`` if the running command was called so."""
    context = context or click.get_current_context(silent=True)
    module, _, words = line.removeprefix("python -m ").partition(" ")
    in_cfm = context is not None and context.find_root().info_name == COMPLETED
    known = line.startswith("python -m ") and module in MODULES
    return f"{COMPLETED} {MODULES[module]}{words}" if in_cfm and known else line


def _write_example(ctx: click.Context, formatter: click.HelpFormatter, example: str) -> None:
    with formatter.section("Example"):
        for line in example.splitlines():
            formatter.write("\n".join(_folded(as_typed(line, ctx), formatter.width)) + "\n")


def command(
    name: str, *groups: type, example: str, text: str | None = None
) -> Callable[[Callable[..., int]], Command]:
    """Return a decorator that makes a command of a function of typed groups of options.

    Parameters
    ----------
    name : str
    *groups : type
        Dataclasses of :func:`option`, :func:`listed` and :func:`argument` fields; the function gets an object of
        each, in order.
    example : str
        A command line that works.
    text : str, optional
        What ``--help`` says first (the function's docstring).
    """

    def decorate(function: Callable[..., int]) -> Command:
        def callback(**given: Any) -> int:
            with own_output():
                require_writable_files(made.params, given)
                return function(*(filled_in(group, given) for group in groups))

        made = Command(name, groups, example, callback=callback, help=text or function.__doc__)
        return made

    return decorate


@dataclass(frozen=True)
class CommandRow:
    """A command of a family, known without importing it.

    Parameters
    ----------
    module : str
        Module whose `command` is the command.
    line : str
        What it does, in a line.
    """

    module: str
    line: str


class Family(click.Group):
    """Commands that are imported when used: ``--help`` of one does not wait for the others.

    Parameters
    ----------
    name : str
    rows : mapping
        Of each command's name to its :class:`CommandRow`.
    text : str
        What ``--help`` says first.
    example : str, optional
        A command line that works.
    """

    def __init__(self, name: str, rows: Mapping[str, CommandRow], text: str, example: str | None = None) -> None:
        super().__init__(
            name, help=text, params=[version_option()], no_args_is_help=False, context_settings=dict(CONTEXT)
        )
        self.rows = dict(rows)
        self.example = example

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the declaration."""
        return list(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        row = self.rows.get(cmd_name)
        if row is None:
            return None
        found: click.Command = importlib.import_module(row.module).command
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; without any, list the commands."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the right name for a mistyped one."""
        name = args[0]
        if name not in self.rows and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(unknown("command", name, self.rows), ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command, without importing it."""
        rows = [CompletionItem(name, help=row.line) for name, row in self.rows.items()]
        own = click.Command.shell_complete(self, ctx, incomplete)
        return [item for item in rows if item.value.startswith(incomplete)] + own

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each command, without importing it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.line) for name, row in self.rows.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example, and how to set up completion."""
        if self.example is not None:
            _write_example(ctx, formatter, self.example)
        variable = completion_variable(COMPLETED)
        with formatter.section(f"Completion of {COMPLETED}, in the file that the shell reads at its start"):
            formatter.write_dl(
                [
                    ("bash", f'eval "$({variable}=bash_source {COMPLETED})"'),
                    ("zsh", f'eval "$({variable}=zsh_source {COMPLETED})"'),
                    ("fish", f"{variable}=fish_source {COMPLETED} | source"),
                ]
            )


def unknown(kind: str, given: str, known: Iterable[str]) -> str:
    """Return the message about an unknown name, with the nearest known one."""
    known = list(known)
    near = difflib.get_close_matches(given[:100], known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(known)}"
    return f"no {kind} {quoted(given)}: {hint}"


# --- How a program runs and ends -------------------------------------------------------------------------------


def run(program: click.Command, argv: Sequence[str] | None = None, *, name: str) -> int:
    """Run a command line and return its exit code.

    Bad input is one line on standard error and exit code 2; an interruption is one line and 3 (the text of the
    KeyboardInterrupt, where it has one, says how to go on); a failure of the program is a traceback and 3, so that
    it cannot look like a refutation.

    Parameters
    ----------
    program : click.Command
    argv : sequence of str, optional
        The words after the program's name (those of this process).
    name : str
        What the program is called in its usage.
    """
    for stream in (sys.stdout, sys.stderr):
        # a terminal that cannot show a character gets a replacement, never a traceback
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace" if stream is sys.stdout else "backslashreplace")
    try:
        with needed_for("this command"):
            return _ran(program, sys.argv[1:] if argv is None else argv, name)
    except click.ClickException as problem:
        return say(problem.format_message())
    except InputError as problem:
        return say("; ".join([str(problem), *getattr(problem, "__notes__", [])]))
    except (KeyboardInterrupt, click.Abort) as problem:
        return interrupted(str(problem))
    except BrokenPipeError:
        close_quietly()
        return EXIT_FINE
    except EndedBySignalError as ended:
        return say(f"ended by {signal.Signals(ended.number).name}: nothing was decided", 128 + ended.number)
    except BaseException as problem:  # noqa: BLE001  anything else that ended it gives no verdict
        return failed(problem)


def _ran(program: click.Command, words: Sequence[str], name: str) -> int:
    """Run the words; click's own ``main`` has other exit codes for pipes and interruptions."""
    variable = completion_variable(name)
    if instruction := os.environ.get(variable):
        return shell_complete(program, {}, name, variable, instruction)
    try:
        with program.make_context(name, list(words)) as context:
            code = program.invoke(context)
    except click.exceptions.Exit as ended:
        code = ended.exit_code
    # a subject may have closed it; the result is written
    if not sys.stdout.closed:
        sys.stdout.flush()
    return code if isinstance(code, int) else EXIT_FINE


def completion_variable(name: str) -> str:
    """Return the variable that a shell sets to ask a program for completions."""
    return f"_{name.upper().replace('-', '_').replace(' ', '_').replace('.', '_')}_COMPLETE"


def exit_with(program: click.Command, argv: Sequence[str] | None = None, *, name: str) -> NoReturn:
    """Run this process's command line and leave with its exit code, whatever exit handlers do."""
    open_closed_streams()
    try:
        code = run(program, argv, name=name)
    except KeyboardInterrupt:
        code = interrupted()
    except EndedBySignalError as ended:
        code = 128 + ended.number
    finish(code)
