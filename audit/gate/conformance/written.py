"""Programs of a few lines that answer the vectors, rightly or in one way wrongly."""

from __future__ import annotations

import sys

from audit.conformance.program import Work
from audit.conformance.selection import chosen

PREAMBLE = """
import json, os, signal, sys, time
def say(**answer): print(json.dumps(answer), flush=True)
def right(case):
    i = case["inputs"]
    for value, member, unit in zip(i["values"], i["inS"], i["unitVariates"]):
        yield eval(value) + eval(i["scaleS" if member == "1" else "scaleN"]) * eval(unit)
def noisy(case): return list(right(case))
def raw(noisy):
    sys.stdout.write('{"tcId": %d, "noisy": %s}\\n' % (c["tcId"], noisy))
    sys.stdout.flush()
def cases(): yield from map(json.loads, sys.stdin)
"""
"""`right` perturbs as the Perturbation cases ask: their numbers are Python expressions, too."""

HONEST = "for c in cases(): say(tcId=c['tcId'], noisy=noisy(c))"


def python_program(code: str) -> list[str]:
    """Return the words that run some Python after the preamble."""
    return [sys.executable, "-I", "-S", "-c", PREAMBLE + code]


def perturbations(count: int = 8) -> Work:
    """Return the first cases that the programs can do."""
    return chosen(["Perturbation"])[:count]
