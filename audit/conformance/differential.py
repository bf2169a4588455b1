"""Compares a program with the reference on data sets made on the spot, and shrinks counterexamples.

Most data sets use the declarations of the vectors in turn; hypothesis draws the rest, and shrinks.
Its data sets alone are more alike: the same number of them failed fewer broken variants.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import mpmath
from hypothesis import HealthCheck, Phase, Verbosity, find, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import NoSuchExample
from msgspec.structs import replace

from audit.conformance.exchange import Exchange
from audit.conformance.outcome import GOOD, Outcome, outcomes, steady
from audit.conformance.program import Work, run_program
from audit.conformance.report import Report
from audit.vectors.answers import answer
from audit.vectors.build import case_of, note_of
from audit.vectors.cases.asked import DOUBLE, AskedCase
from audit.vectors.format import COMPARED, VERSION, SecondSource, TestGroup, VectorCase, VectorFile, load
from audit.vectors.judge import passes
from audit.vectors.sources.registry import SOURCES, expected
from audit.vectors.steps import Steps
from reference.common.documents import converted

SHRUNK = ("failed", "crash")
"""Outcomes whose cases are shrunk; a program that hangs would hang at every step."""

RANDOM_SHARE = 5
"""Hypothesis draws one in this many data sets."""

MOST_STARTS = 150
"""Most starts of the program to shrink one counterexample."""

OFTEN = 9
"""A value is kept this many times for each time that it is made simpler."""

LARGEST = 2**53
"""Doubles hold all whole numbers up to this."""

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Differences:
    """The finding of a comparison.

    Parameters
    ----------
    report : Report
        Of all data sets.
    set_aside : int
        Data sets on which our two sources disagree; the program did not get them.
    smallest : list of Outcome
        One shrunk case for each failing group type; its flags are the bugs that would fail it.
    """

    report: Report
    set_aside: int
    smallest: list[Outcome]

    def candidates(self) -> VectorFile:
        """Return the smallest cases in the form of vectors."""
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
    """Return cases with new records in the vectors' declarations: random ones, ends, and some to refuse.

    There are fewer than `count` if the second source and the reference disagree on a data set.
    """
    bases = [case.given for case in load(kind).cases if case.right is not None]
    order = Random(f"{seed} {kind}").sample(bases, len(bases))
    streams = [Random(f"{seed} {kind} {turn}") for turn in range(count - count // RANDOM_SHARE)]
    found = [data_set(order[turn % len(order)], stream.choice) for turn, stream in enumerate(streams)]

    def kept(inputs: Inputs) -> bool:
        found.append(inputs)
        return False

    if len(found) < count:
        _minimal(_drawn(bases), kept, count - len(found), f"{seed} {kind} drawn")
    return [case for case in (_case(kind, inputs) for inputs in found[:count]) if case is not None]


def data_set(base: Inputs, choose: Callable[[Sequence[Any]], Any]) -> Inputs:
    """Return new records in a declaration; `choose` takes one of several."""
    columns, count = range(len(_table(base)[0])), choose((1, 2, 3, 5, 8, 13))
    rows = [[_value(base, column, choose) for column in columns] for _ in range(count)]
    if "lower" in base and choose((False, False, True)):
        # a value that clipping mends, if declared, and that is refused otherwise
        column = choose(columns)
        beyond = str(2 * abs(Fraction(base["upper"][column])) + 1)
        choose(rows)[column] = choose((beyond, "NaN", "Infinity"))
        base = base | {"clip": choose("01")}
    labels = {key: [choose("01") for _ in range(count)] for key in ("y", "z") if key in base}
    return base | {_name(base): rows} | labels


@st.composite
def _drawn(draw: st.DrawFn, bases: list[Inputs]) -> Inputs:
    return data_set(draw(st.sampled_from(bases)), lambda several: draw(st.sampled_from(several)))


@st.composite
def _simpler(draw: st.DrawFn, inputs: Inputs) -> Inputs:
    """Draw some records of a data set, with some values made simpler."""

    def either(simple: Any, found: Any) -> Any:
        return draw(st.sampled_from([simple, *[found] * OFTEN]))

    count = len(_table(inputs))
    kept = [row for row in range(count) if either(False, found=True)] or [0]
    zeros = inputs.get("lower", ["0"] * len(_table(inputs)[0]))
    table = [[either(*pair) for pair in zip(zeros, _table(inputs)[row], strict=True)] for row in kept]
    labels = {key: [either("0", inputs[key][row]) for row in kept] for key in ("y", "z") if key in inputs}
    return inputs | {_name(inputs): table} | labels


def _minimal(
    strategy: st.SearchStrategy[Inputs], condition: Callable[[Inputs], bool], count: int, name: str
) -> Inputs | None:
    """Return the smallest inputs that hypothesis finds for a condition; nothing is left on disk."""
    quiet = settings(
        max_examples=count,
        derandomize=False,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    with TemporaryDirectory() as folder:
        set_hypothesis_home_dir(folder)
        try:
            return find(strategy, condition, settings=quiet, random=Random(name))
        except NoSuchExample:
            return None
        finally:
            set_hypothesis_home_dir(None)


def _name(inputs: Inputs) -> str:
    return "rows" if "rows" in inputs else "x"


def _table(inputs: Inputs) -> list[list[str]]:
    found: list[list[str]] = inputs[_name(inputs)]
    return found


def _value(base: Inputs, column: int, choose: Callable[[Sequence[Any]], Any]) -> str:
    """Return an end or a number in between; for an encoded column a value from the vector, or 0."""
    if "lower" not in base:
        return str(choose(["0", *(row[column] for row in _table(base))]))
    ends = base["lower"][column], base["upper"][column]
    low, high = map(Fraction, ends)
    if base["kinds"][column] != "numeric":
        return str(choose(range(int(low), int(high) + 1)))
    # an end keeps its text, so that a program compares equal numbers
    end, between = choose(ends), low + (high - low) * Fraction(choose(range(1, 64)), 64)
    readable = max(abs(between.numerator), between.denominator) < LARGEST
    return str(between) if choose((False, True)) and readable else str(end)


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
    """Return an outcome of the same kind on inputs that hypothesis cannot shrink; its case has its flags."""
    tried: dict[str, Outcome | None] = {}

    def is_wrong(inputs: Inputs) -> bool:
        name = json.dumps(inputs)
        if name not in tried:
            tried[name] = again(inputs) if len(tried) < MOST_STARTS else None
        return tried[name] is not None

    def again(inputs: Inputs) -> Outcome | None:
        case = _case(found.kind, inputs)
        if case is None or case.result != found.case.result:
            return None
        (one,) = _judged(command, [(found.kind, case)], exchange, timeout)
        return one if one.status == found.status else None

    if found.status in SHRUNK:
        smallest = _minimal(_simpler(found.case.given), is_wrong, MOST_STARTS, "shrink")
        found = tried.get(json.dumps(smallest)) or found
    candidate = case_of(found.kind, 0, AskedCase("a candidate: a program was wrong here", found.case.given))
    return Outcome(found.kind, candidate, found.status, found.answer, found.said)
