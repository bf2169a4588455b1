"""Files that options name; those that a command writes are checked before it starts."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib.machinery import all_suffixes
from pathlib import Path
from threading import get_native_id
from typing import Any

import click
from click.shell_completion import CompletionItem

from reference.common.errors import ReadingError
from reference.common.files import is_kept
from reference.datasets import named_files
from reference.datasets.opening import files_of, is_table_file


class FileName(click.ParamType[str]):
    """A file name, or one of some words; a shell completes both.

    Parameters
    ----------
    words : iterable of str
    """

    name = "file"

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = tuple(words)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value; whether there is such a file shows when it is opened."""
        return str(value)

    def files(self, given: str) -> list[Path]:
        """Return the files that a value stands for, which need not be there."""
        try:
            return files_of(given) if is_table_file(given) else [Path(given)]
        except (OSError, ValueError):
            return []

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete one of the words, else the name of a file."""
        words = [CompletionItem(word) for word in self.words if word.startswith(incomplete)]
        return [CompletionItem(incomplete, type="file"), *words]


class CommandLine(FileName):
    """A program's command line, whose words may name files that it needs."""

    name = "command line"

    def files(self, given: str) -> list[Path]:
        """Return what each word would be, as a file."""
        try:
            return [Path(word) for word in shlex.split(given)]
        except ValueError:
            return []

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete nothing."""
        return []


class WrittenFile(FileName):
    """The name of a file that the command writes; :func:`require_writable_files` says what it must not name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value, unless it stands for standard output or for nothing."""
        name = super().convert(value, param, ctx)
        if name in ("", "-") or _is_standard_output(name):
            printed = "; left out, the result is printed" if param is not None and param.name == "out" else ""
            self.fail(f"{name!r} is not the name of a file{printed}", param, ctx)
        return name


NAMES_OF_STANDARD_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1")
"""Also where there are no such links."""

MOST_LINKS = 40
"""Of so many links Linux makes no path."""


def _is_standard_output(name: str) -> bool:
    """Return whether a name, however spelled or linked to, is that of standard output.

    While a command runs, that leads to standard error.
    """
    path = Path(name)
    process = f"/proc/{os.getpid()}"
    names = (*NAMES_OF_STANDARD_OUTPUT, f"{process}/fd/1", f"{process}/task/{get_native_id()}/fd/1")
    with suppress(OSError, ValueError, RuntimeError):
        for _ in range(MOST_LINKS):
            # links of the system lead to the number of an open file, whose own link is that of a file or a pipe
            path = path.parent.resolve() / path.name
            if str(path) in names:
                return True
            if not path.is_symlink():
                return False
            path = path.parent / path.readlink()
    return False


def require_writable_files(parameters: Iterable[click.Parameter], given: Mapping[str, Any]) -> None:
    """Raise unless a command can write its files, before it computes anything for them.

    Parameters
    ----------
    parameters : iterable of click.Parameter
        Those of type :class:`WrittenFile` must differ from each other and from every other :class:`FileName`.
    given : mapping
        Their values, by name; with `force`, a file that cannot be made again is replaced, too.

    Raises
    ------
    reference.common.errors.ReadingError
        Also when two options name one file.
    """
    written, seen, folders = dict[str, str](), dict[Path, str](), dict[Path, str]()
    for each in parameters:
        if not isinstance(each.type, FileName) or not (path := given[each.name]):
            continue
        if isinstance(each.type, WrittenFile):
            written[each.name] = path
        # the name of a data set is no file
        elif path not in each.type.words:
            # one that is not there yet, too: a command may make it
            seen.update((_resolved(file), each.name) for file in each.type.files(path))
            if is_there(path, Path.is_dir):
                folders[_resolved(Path(path))] = each.name
    for name, path in written.items():
        target = _resolved(Path(path))
        if target in seen:
            raise ReadingError(name, path, f"another file than that of {seen[target]}")
        seen[target] = name
        if target.parent in folders:
            raise ReadingError(name, path, f"a file outside the folder of {folders[target.parent]}")
        if wanted := _wanted_instead(target, force=given.get("force")):
            raise ReadingError(name, path, wanted)


def _wanted_instead(target: Path, *, force: bool | None) -> str | None:
    """Return what is wanted instead of a file that cannot be written, or must not be; None if it may."""
    if is_there(target, Path.is_symlink):
        return "a file that can be written (Its links go in a circle)"
    if is_there(target, Path.is_dir):
        return "a file that can be written (Is a directory)"
    if not is_there(target.parent, Path.is_dir):
        return "a file that can be written (No such directory)"
    if not os.access(target if is_there(target, Path.exists) else target.parent, os.W_OK):
        return "a file that can be written (Permission denied)"
    if not force and is_there(target, Path.is_file) and is_kept(target):
        return f"a new file; that one cannot be made again: {MOVE_AWAY if force is None else OR_FORCE}"
    if is_there(target, Path.is_file) and target.suffix in all_suffixes():
        return "another file than a module of Python, which may be what is audited"
    if target in {_resolved(file) for file in named_files()}:
        return "another file than that of a named data set"
    return None


MOVE_AWAY = "move it away first"
OR_FORCE = f"{MOVE_AWAY}, or give --force"
"""For commands that have this option."""


def _resolved(path: Path) -> Path:
    """Return where links lead; of those in a circle, which name nothing, the path itself."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


def is_there(path: str | Path, what: Callable[[Path], bool]) -> bool:
    """Ask the file system; a name that it cannot have names nothing."""
    try:
        return what(Path(path))
    except (OSError, ValueError):
        return False
