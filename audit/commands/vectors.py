"""``python -m audit vectors``: ground truth for other implementations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from audit.claims.registry import claims
from audit.commands.options import require_checkout
from audit.commands.text import columns, fitted
from audit.vectors.mutants import MUTANTS
from reference.commands.options import emit, out_option, write_file
from reference.commands.parsing import argument, option
from reference.commands.parsing import command as make_command
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED
from reference.common.files import json_text

if TYPE_CHECKING:
    from audit.vectors.format import VectorFile


@dataclass(frozen=True, kw_only=True)
class VectorOptions:
    """Vectors."""

    action: str = argument(type=click.Choice(["generate", "check", "describe"]))
    format: str = option("--format", type=click.Choice(["text", "json"]), default="text", help="(text)")
    out: str | None = out_option()


@make_command("vectors", VectorOptions, example="python -m audit vectors check")
def command(options: VectorOptions) -> int:
    """Make, check or describe the vectors: cases with exact answers, for other implementations.

    `generate` rewrites audit/vectors/v1, `check` judges the committed files (exit code 1 when something is
    wrong), `describe` counts cases and lists the bugs that their flags name.
    """
    from audit.vectors.check import read_all, stale, static_problems

    if options.action == "generate":
        require_checkout("`generate`")
        _generate()
    files, problems = read_all()
    if options.action == "check":
        problems += static_problems(files, claims())
        problems += [] if problems else list(stale())
    found = description(files) | {"problems": problems}
    width = columns(options.out)
    emit(
        json_text(found) if options.format == "json" else fitted(list(_lines(found, options.action)), width),
        options.out,
    )
    return EXIT_REFUTED if problems else EXIT_FINE


def _generate() -> None:
    from audit.vectors.build import build
    from audit.vectors.format import path_of, text_of
    from audit.vectors.sources.registry import TYPES

    for kind in TYPES:
        write_file("vectors", str(path_of(kind)), text_of(build(kind)))


def description(files: dict[str, VectorFile]) -> dict[str, object]:
    """Return the cases by group type, and the flags with their notes."""
    used = Counter(flag for file in files.values() for case in file.cases for flag in case.flags)
    notes = {flag: note for file in files.values() for flag, note in file.notes.items()}
    return {
        "cases": {kind: len(file.cases) for kind, file in files.items()},
        "flags": {
            flag: {"cases": used[flag], "bugType": notes[flag].bug_type, "description": notes[flag].description}
            for flag in MUTANTS
            if flag in notes
        },
    }


def _lines(found: dict[str, object], action: str) -> Iterator[str]:
    cases, flags, problems = found["cases"], found["flags"], found["problems"]
    assert isinstance(cases, dict)
    assert isinstance(flags, dict)
    assert isinstance(problems, list)
    for kind, count in cases.items():
        yield f"{kind}: {count} cases"
    yield f"{sum(cases.values())} cases, {len(flags)} flags, each failed by a broken variant of the reference"
    if action == "describe":
        yield from (f"{flag} ({note['cases']}): {note['description']}" for flag, note in flags.items())
    yield from (f"problem: {problem}" for problem in problems)
