"""Compares a program with the reference on data sets made on the spot, and makes a counterexample small.

All smaller data sets of a step are asked in one run of the program.  hypothesis asks one at a time, which is a
start of the program each; its data sets were also simpler: as many of them failed fewer broken variants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import mpmath
from msgspec.structs import replace

from audit.conformance.exchange import Exchange
from audit.conformance.outcome import GOOD, Outcome, outcomes, steady
from audit.conformance.program import Work, run_program
from audit.conformance.report import Report
from audit.vectors.answers import answer
from audit.vectors.build import case_of, note_of
from audit.vectors.cases.asked import DOUBLE, AskedCase
from audit.vectors.format import VERSION, SecondSource, TestGroup, VectorCase, VectorFile, load
from audit.vectors.judge import passes
from audit.vectors.sources.registry import SOURCES, expected
from audit.vectors.steps import Steps
from reference.common.documents import converted

COMPARED = ("Domain", "Coefficients", "FairnessMetric", "Release")
"""Group types whose inputs have records.  All their cases ask for doubles only."""

SHRUNK = ("failed", "crash")
"""What is made smaller; a program that hangs would hang at every step."""

MOST_ROUNDS = 60
"""Of making a counterexample smaller."""

LARGEST = 2**53
"""Doubles hold whole numbers up to here."""

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Differences:
    """What a comparison found.

    Parameters
    ----------
    report : Report
        Of all data sets.
    set_aside : int
        Data sets on which our own two sources do not agree, and which the program did not get.
    smallest : list of Outcome
        Of each group type that goes wrong one, made small; its flags are the bugs that would fail it.
    """

    report: Report
    set_aside: int
    smallest: list[Outcome]

    def candidates(self) -> VectorFile:
        """Return the smallest cases as the vectors have theirs."""
        groups = tuple(
            TestGroup(
                type=one.kind,
                source=SecondSource(SOURCES[one.kind][0], f"mpmath {mpmath.__version__}"),
                requires=DOUBLE,
                tests=(one.case,),
            )
            for one in self.smallest
        )
        flags = sorted({flag for one in self.smallest for flag in one.case.flags})
        return VectorFile(
            algorithm="candidates for vectors: a program was wrong here",
            reference_version=VERSION,
            licence="CC0-1.0",
            how_to=("Judge each case, and name what it adds, before it becomes a vector.",),
            notes={flag: note_of(flag) for flag in flags},
            number_of_tests=len(groups),
            test_groups=groups,
        )


def compare(
    command: Sequence[str],
    exchange: Exchange = "json",
    *,
    kinds: Sequence[str] = COMPARED,
    count: int = 50,
    seed: int = 0,
    timeout: float = 10.0,
) -> Differences:
    """Run a program on data sets made on the spot.

    Parameters
    ----------
    command : sequence of str
        As for :func:`audit.conformance.program.run_program`, which also explains `exchange` and `timeout`.
    kinds : sequence of str
        Out of COMPARED.
    count : int
        Data sets of each group type.
    seed : int
    """
    work = [(kind, case) for kind in kinds for case in made(kind, count, seed)]
    judged = steady(
        _judged(command, work, exchange, timeout),
        lambda some: run_program(command, some, exchange, timeout=timeout),
    )
    report = Report(" ".join(command), judged, [])
    smallest = []
    for kind in kinds if report.verdict == "refuted" else ():
        wrong = [
            one for one in report.outcomes if one.kind == kind and one.status not in (*GOOD, "not run", "unsteady")
        ]
        if wrong:
            first = min(wrong, key=lambda one: len(_table(one.case.given)))
            smallest.append(_small(command, first, exchange, timeout))
    return Differences(report, count * len(kinds) - len(work), smallest)


def made(kind: str, count: int, seed: int) -> list[VectorCase]:
    """Return cases with new records in the declarations of the vectors: random, on the ends, some to refuse.

    They are fewer than `count` where the second source and the reference do not agree on a data set.
    """
    bases = [case.given for case in load(kind).cases if case.right is not None]
    streams = [Random(f"{seed} {kind} {turn}") for turn in range(count)]
    cases = [_case(kind, _with_new_records(random.choice(bases), random)) for random in streams]
    return [case for case in cases if case is not None]


def smaller(inputs: Inputs) -> Iterator[Inputs]:
    """Yield inputs with one record, with one record less, and then with a simpler value."""
    name, count = _name(inputs), len(_table(inputs))
    parts = [key for key in (name, "y", "z") if key in inputs]
    if count > 1:
        for row in range(count):
            yield inputs | {key: [inputs[key][row]] for key in parts}
        for row in range(count):
            yield inputs | {key: inputs[key][:row] + inputs[key][row + 1 :] for key in parts}
    simple = inputs.get("lower", ["0"] * len(_table(inputs)[0]))
    for row, values in enumerate(_table(inputs)):
        for place, value in enumerate(values):
            if value != simple[place]:
                table = [list(one) for one in _table(inputs)]
                table[row][place] = simple[place]
                yield inputs | {name: table}
        for key in parts[1:]:
            if inputs[key][row] != "0":
                yield inputs | {key: [*inputs[key][:row], "0", *inputs[key][row + 1 :]]}


def _name(inputs: Inputs) -> str:
    return "rows" if "rows" in inputs else "x"


def _table(inputs: Inputs) -> list[list[str]]:
    found: list[list[str]] = inputs[_name(inputs)]
    return found


def _with_new_records(base: Inputs, random: Random) -> Inputs:
    columns, count = range(len(_table(base)[0])), random.choice((1, 2, 3, 5, 8, 13))
    rows = [[_value(base, column, random) for column in columns] for _ in range(count)]
    if "lower" in base and random.random() < 1 / 3:
        # a value that clipping mends, or not, and that a program without clipping refuses
        column = random.choice(columns)
        beyond = str(2 * abs(Fraction(base["upper"][column])) + 1)
        random.choice(rows)[column] = random.choice(("NaN", "Infinity", beyond))
        base = base | {"clip": random.choice("01")}
    labels = {key: [random.choice("01") for _ in range(count)] for key in ("y", "z") if key in base}
    return base | {_name(base): rows} | labels


def _value(base: Inputs, column: int, random: Random) -> str:
    """Return an end or a number between; of an encoded column one that the vector has, or 0."""
    if "lower" not in base:
        return random.choice(["0", *(row[column] for row in _table(base))])
    ends = base["lower"][column], base["upper"][column]
    low, high = map(Fraction, ends)
    if base["kinds"][column] != "numeric":
        return str(random.randint(int(low), int(high)))
    between = low + (high - low) * Fraction(random.randint(1, 63), 64)
    readable = max(abs(between.numerator), between.denominator) < LARGEST
    # an end keeps its text: a program compares it with the same number
    return str(between) if readable and random.random() < 1 / 2 else random.choice(ends)


def _case(kind: str, inputs: Inputs) -> VectorCase | None:
    """Return a case where the second source and the reference agree, or None."""
    try:
        right, error = expected(kind, inputs)
        if not passes(right, answer(Steps(), kind, inputs)):
            return None
    except (ArithmeticError, ValueError):
        return None
    found = {"expected": right} if error is None else {"result": "invalid", "expectedError": error}
    return converted({"tcId": 0, "comment": "made on the spot", "inputs": inputs} | found, VectorCase)


def _judged(command: Sequence[str], work: Work, exchange: Exchange, timeout: float) -> list[Outcome]:
    numbered = [(kind, replace(case, tc_id=number)) for number, (kind, case) in enumerate(work, 1)]
    return outcomes(numbered, run_program(command, numbered, exchange, timeout=timeout))


def _small(command: Sequence[str], found: Outcome, exchange: Exchange, timeout: float) -> Outcome:
    """Return an outcome of the same kind on inputs that no single step makes smaller; its case has its flags."""
    for _ in range(MOST_ROUNDS if found.status in SHRUNK else 0):
        tried = [_case(found.kind, inputs) for inputs in smaller(found.case.given)]
        work: Work = [(found.kind, case) for case in tried if case and case.result == found.case.result]
        again = [one for one in _judged(command, work, exchange, timeout) if one.status == found.status]
        if not again:
            break
        found = again[0]
    candidate = case_of(found.kind, 0, AskedCase("a candidate: a program was wrong here", found.case.given))
    return Outcome(found.kind, candidate, found.status, found.answer, found.said)
