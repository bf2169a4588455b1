"""Programs of a line or two, their commands, and the answers that are wrong."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import numpy as np

from audit.subjects.programs import (
    AnswerError,
    InputPair,
    ProgramError,
    ProgramSubject,
    ReportedError,
)

ROOT = Path(__file__).parents[3]

EXAMPLES = ROOT / "docs" / "examples" / "programs"

PAIR = InputPair(0, 1, "replace_one")

QUICK = ["--draws", "20000", "--epsilon", "1"]

PREAMBLE = r"""
import json, os, random, signal, struct, subprocess, sys, time
def say(answer): print(json.dumps(answer), flush=True)
def write(text): sys.stdout.buffer.write(text); sys.stdout.flush()
def values(request): return [[request["input"] + random.gauss(0, 1)] for _ in range(request["count"])]
def header(width, rows): return struct.pack("<4sIQ", b"F64\x01", width, rows)
def requests(): yield from map(json.loads, iter(sys.stdin.readline, ""))
"""

HONEST = "for request in requests(): say({'values': values(request)})"


def python_program(code: str) -> list[str]:
    """Return the words that run some Python after the preamble."""
    return [sys.executable, "-I", "-S", "-c", PREAMBLE + code]


def command_line(code: str) -> str:
    """Return the same words as one line of a shell."""
    return shlex.join(python_program(code))


def draw(subject: ProgramSubject, count: int = 100, data=0):
    """Return draws from a program, with a fixed seed."""
    return subject.sample(data, count, np.random.default_rng(1))


ANSWERS = {
    "garbage": ("hello", AnswerError, "not JSON"),
    "no object": ("[1]", AnswerError, "expected an answer"),
    "no values": ('{"value": 1}', AnswerError, '"values" with 16 lists'),
    "values that are not a list": ('{"values": 3}', AnswerError, "values that are not a list: '3'"),
    "too few draws": ('{"values": [[1]]}', AnswerError, "gave 1 draws"),
    "no coordinates": ([[]] * 16, AnswerError, "0 coordinates"),
    "too many coordinates": ([[1] * 10_001] + [[1]] * 15, AnswerError, "10001 coordinates"),
    "ragged draws": ([[1]] * 15 + [[1, 2]], AnswerError, "2 coordinates"),
    "numbers without lists": ([1] * 16, AnswerError, "a draw that is not a list: '1'"),
    "null without a list": ([None] * 16, AnswerError, "a draw that is not a list: 'null'"),
    "numbers in a wrong member": (
        '{"draws": [1, 2.5, -0.0]}',
        AnswerError,
        """answered with '{"draws": [1, 2.5, -0.0]}'""",
    ),
    "another string": (["errors"] * 16, AnswerError, "a draw that is not a list"),
    "deeper lists": ([[[1]]] * 16, AnswerError, "gave '[1]' in a draw"),
    "a list after an error": (
        [[1], "error", [2], [[3, None]], *[[1]] * 12],
        AnswerError,
        "gave '[3, null]' in a draw",
    ),
    "null beside a long number": (
        '{"values": [' + f"[1{'0' * 5_000}], " * 15 + "[null]]}",
        AnswerError,
        "gave 'null' in a draw",
    ),
    "null": ([[None]] * 16, AnswerError, "gave 'null' in a draw; expected numbers, or the strings"),
    "truth values": ([[True]] * 16, AnswerError, "gave 'true' in a draw"),
    "numbers as strings": ([["1.5"]] * 16, AnswerError, "in a draw"),
    "bare NaN": ([[float("nan")]] * 16, AnswerError, 'NaN must be the string "NaN"'),
    "a float too large": ('{"values": [' + ", ".join(["[1e400]"] * 16) + "]}", AnswerError, "too large"),
    "an integer of many digits": ([[2**70 + 1]] * 16, AnswerError, "no 64-bit float holds 1180591620717411303425"),
    "an integer too large": ([[10**400]] * 16, AnswerError, "too large"),
    "deep nesting": ("[" * 60_000, AnswerError, "not JSON"),
    "invalid UTF-8": (b'{"error": "\xff"}', AnswerError, "not UTF-8"),
    "an error": ('{"error": "no such table"}', ReportedError, "no such table"),
    "an error of terminal codes": ('{"error": "\\u001b[2J\\ud800"}', ReportedError, r"\x1b[2J\ud800"),
    "a member given twice": ('{"values": [[1]], "values": [[2]]}', AnswerError, "'values' is given twice"),
    "a seed in words": (
        '{"accepts_seed": "yes", "values": [' + ", ".join(["[1]"] * 16) + "]}",
        AnswerError,
        "yes",
    ),
    "two answers": (b'{"values": []}\n{"values": []}', ProgramError, "one answer per request"),
}


def as_line(answer) -> bytes:
    """Return an answer as the bytes that a program writes."""
    if isinstance(answer, list):
        answer = json.dumps({"values": answer})
    return answer if isinstance(answer, bytes) else answer.encode()
