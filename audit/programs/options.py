"""The options that name a program, and the audit they ask for."""

from __future__ import annotations

import argparse
import json
from typing import Any

from audit.estimate_report import Audit
from audit.programs.pair import InputPair
from audit.programs.subject import ProgramSubject, words_of
from reference.budgets import parse_delta, parse_epsilon
from reference.errors import ReadingError

MOST_SHOWN = 1_000
"""Characters of an input that a report shows; the certificate's `subject` has it whole."""

NOT_FOR_PROGRAMS = ("epsilon_s", "epsilon_n", "epsilon_ratio", "delta_s", "delta_n", "data")

ONLY_FOR_PROGRAMS = ("inputs", "binary", "memory_limit")


def add_program_options(parser: argparse.ArgumentParser) -> None:
    """Add how to audit a program."""
    group = parser.add_argument_group("any program, in place of MECHANISM (docs/programs.md)")
    group.add_argument("--program", metavar="CMD", help="command line of the program; no shell runs it")
    group.add_argument(
        "--inputs", metavar="FILE", help="left, right and adjacency as JSON (the program is asked for them)"
    )
    group.add_argument("--binary", action="store_true", help="draws come as 64-bit floats, not as JSON")
    group.add_argument("--timeout", type=float, default=60.0, metavar="T", help="seconds per answer (60)")
    group.add_argument(
        "--memory-limit", type=int, metavar="B", help="bytes that each process of the program may write to (any)"
    )


def refuse_program_options(options: argparse.Namespace) -> None:
    """Refuse options of programs where there is no program."""
    for name in ONLY_FOR_PROGRAMS:
        if getattr(options, name):
            raise ReadingError(name, getattr(options, name), "left out without --program")


def program_audit(options: argparse.Namespace) -> Audit:
    """Start the program that the options name, and return it with its claim.

    Raises
    ------
    reference.errors.InputError
    """
    for name in NOT_FOR_PROGRAMS:
        if getattr(options, name) is not None:
            raise ReadingError(name, getattr(options, name), "left out with --program")
    # the claim first: nothing is started for a claim that is none
    epsilon = parse_epsilon("epsilon", options.epsilon or "1")
    delta = parse_delta("delta", options.delta or "0")
    subject = ProgramSubject.from_json(program_document(options))
    inputs = {side: _shortened(given) for side, given in subject.pair.to_json().items()}
    return Audit(options.program, subject, subject.to_json(), epsilon, delta, inputs, ())


def program_document(options: argparse.Namespace) -> dict[str, Any]:
    """Return the description of the program that the options name."""
    return {
        "kind": "program",
        "command": words_of(options.program),
        "inputs": None if options.inputs is None else InputPair.read(options.inputs).to_json(),
        "binary": options.binary,
        "timeout": options.timeout,
        "memory_limit": options.memory_limit,
    }


def _shortened(given: Any) -> Any:
    text = json.dumps(given)
    return given if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + " ..."
