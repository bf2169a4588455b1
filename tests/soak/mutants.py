"""``python -m tests.soak.mutants``: change the code in 300 places; which tests notice?  A stopped run goes on.

The places are drawn by a seed from the rooms that decide about privacy.  Each mutant stands in a copy of the
tree, and the tests that touch its line run there, the most specific first, until one fails.  Where none does,
the lemmas generated from the source are asked.  ``mutants.json`` has every mutant and what became of it;
``survivors.json`` says of each that lives why it may.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import io
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.soak.mutators import Site, changed, sites

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).with_name("mutants.json")
SURVIVORS = Path(__file__).with_name("survivors.json")

SEED = 20
PER_ROOM = 60
ROOMS = {
    "objective": ("objective.py", "moments.py", "coefficients.py"),
    "sensitivity": ("sensitivity/*.py",),
    "noise": ("noise/scales.py", "noise/profile.py", "noise/grid.py", "noise/draws.py", "noise/kinds.py"),
    "accounting": (
        "accounting/statements.py",
        "accounting/composition.py",
        "accounting/discrete.py",
        "accounting/release_ledger.py",
        "budgets.py",
    ),
    "mechanisms": (
        "mechanisms.py",
        "repaired/algorithm.py",
        "repaired/account.py",
        "repaired/schedule.py",
        "repaired/sums.py",
        "repaired/threshold.py",
    ),
}
"""What is mutated, under ``reference/``."""

TESTED = ("tests", "audit/gate/exact", "audit/gate/vectors", "audit/gate/commands")
LEFT_OUT = (
    "soak project imports book typeset benchmarks cluster sql documented_data statements_of_the_code certify "
    "claims report report_page boundary catalogue epsilon_estimate estimate_bounds validity verify_by_coq proofs "
    "thresholds"
)
"""Tests that are not asked: those of other things, of text, and those that compare digests of the source."""

MOST_TESTS, MOST_SECONDS, FIRST_SECONDS = 30, 15.0, 3.0
"""Of the tests that touch a line, those that are asked, and those that are asked before the others are loaded."""

LEMMAS = "audit/gate/proofs/test_proofs.py::test_constants_file_is_as_generated"
"""Generates the lemmas from the source again."""

LIBRARIES = (
    "pytest numpy scipy.optimize scipy.stats sklearn.base pandas pyarrow hypothesis flint click tqdm msgspec"
)

"""Imported once, before the forks."""

IMPORTED = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"


@dataclass(frozen=True)
class Mutant:
    """A changed place.

    Parameters
    ----------
    room, file, function, old, new : str
    column : int
    lines : tuple of int
        First and last line of the change.
    source : str
        Of the file, with the change.
    around : tuple of int
        Of the statement that holds it.
    names : tuple of str
        What the statement assigns, where it belongs to a module or a class.
    """

    room: str
    file: str
    function: str
    old: str
    new: str
    column: int
    lines: tuple[int, int]
    source: str
    around: tuple[int, int]
    names: tuple[str, ...]

    def shown(self) -> dict[str, Any]:
        """Return what is kept of it."""
        place = f"{self.file}:{self.lines[0]}:{self.column}"
        return {"room": self.room, "place": place, "function": self.function, "old": self.old, "new": self.new}


def drawn(seed: int = SEED, count: int = PER_ROOM) -> Iterator[Mutant]:
    """Yield so many mutants of each room."""
    for room, patterns in ROOMS.items():
        files = sorted({path for pattern in patterns for path in (ROOT / "reference").glob(pattern)})
        texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
        places = [(file, site) for file, text in texts.items() for site in sites(text)]
        draw = random.Random(f"{seed} {room}")
        for file, site in draw.sample(places, count):
            yield _mutant(room, file, texts[file], site, draw.choice(site.others))


def _mutant(room: str, file: str, text: str, site: Site, other: str) -> Mutant:
    alone = not site.function or isinstance(site.statement, ast.AnnAssign)
    return Mutant(
        room,
        file,
        site.function,
        ast.unparse(site.node),
        other,
        site.node.col_offset,
        _lines(site.node),
        changed(text, site.node, other),
        _lines(site.statement),
        _assigned(site.statement) if alone else (),
    )


def still_there(one: dict[str, Any]) -> list[Mutant]:
    """Return the mutant of today's source that is one that was kept: nearest to where it stood, if it is there."""
    file, *place = one["place"].split(":")
    text = (ROOT / file).read_text(encoding="utf-8")
    line, column = map(int, place)
    same = [it for it in sites(text) if it.function == one["function"] and ast.unparse(it.node) == one["old"]]
    same.sort(key=lambda it: (abs(it.node.lineno - line), abs(it.node.col_offset - column)))
    return [_mutant(one["room"], file, text, it, one["new"]) for it in same if one["new"] in it.others][:1]


def _lines(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.end_lineno or node.lineno


def _assigned(statement: ast.stmt) -> tuple[str, ...]:
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return tuple(node.id for node in names if isinstance(node.ctx, ast.Store))


# --- Which tests touch a line -----------------------------------------------------------------------------------


def record(folder: Path) -> None:
    """Run the tests once, and keep which lines each touches and how long it takes."""
    folder.mkdir(parents=True, exist_ok=True)
    left_out = {f"test_{word}.py" for word in LEFT_OUT.split()}
    files = [path for where in TESTED for path in sorted((ROOT / where).glob("test_*.py"))]
    rules = folder / "rules"
    rules.write_text("[run]\nsource = reference\nrelative_files = true\n", encoding="utf-8")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--timeout=60",
            "--cov",
            f"--cov-config={rules}",
            "--cov-context=test",
        ]
        + ["--cov-report=", f"--junitxml={folder / 'all.xml'}"]
        + [str(path) for path in files if path.name not in left_out],
        env={**os.environ, "COVERAGE_FILE": str(folder / "cov.all")},
        cwd=ROOT,
        check=False,
    )


class Touching:
    """The tests that touch each line, from what `record` kept."""

    def __init__(self, folder: Path) -> None:
        from coverage import CoverageData

        self.lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.seconds: dict[str, float] = {}
        self.breadth: Counter[str] = Counter()
        left_out = {f"test_{word}" for word in LEFT_OUT.split()}
        for report in folder.glob("*.xml"):
            for case in ElementTree.parse(report).iter("testcase"):
                module = case.get("classname", "").replace(".", "/")
                if not len(case) and module.rsplit("/", maxsplit=1)[-1] not in left_out:
                    self.seconds[f"{module}.py::{case.get('name')}"] = float(case.get("time", 0))
        for data in (CoverageData(str(path)) for path in folder.glob("cov.*")):
            data.read()
            for file in data.measured_files():
                for line, contexts in data.contexts_by_lineno(file).items():
                    tests = {it.rsplit("|", 1)[0] for it in contexts} & self.seconds.keys()
                    self.lines[file][line] |= tests
                    self.breadth.update(tests)

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests to ask: the most specific and quickest first, of each function one case before two."""
        found = self._of((mutant.file, line) for line in range(mutant.lines[0], mutant.lines[1] + 1))
        if not found and mutant.names:
            found = self._of(_mentions(mutant.names))
        elif not found:
            found = self._of((mutant.file, line) for line in range(mutant.around[0], mutant.around[1] + 1))
        cases, ranked = Counter[str](), []
        for test in sorted(found, key=lambda it: (self.breadth[it] * (0.1 + self.seconds[it]), it)):
            cases[test.split("[")[0]] += 1
            ranked.append((cases[test.split("[")[0]], len(ranked), test))
        asked, seconds = [], 0.0
        for _, _, test in sorted(ranked):
            if len(asked) < MOST_TESTS and seconds + self.seconds[test] <= MOST_SECONDS:
                asked.append(test)
                seconds += self.seconds[test]
        return asked

    def _of(self, places: Iterable[tuple[str, int]]) -> set[str]:
        return set[str]().union(*(self.lines[file][line] for file, line in places))


@cache
def _mentions(names: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return the lines of the package that mention one of some names."""
    found, word = [], re.compile(rf"\b({'|'.join(names)})\b")
    for path in sorted((ROOT / "reference").rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if word.search(line):
                found.append((path.relative_to(ROOT).as_posix(), number))
    return found


# --- One mutant -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def tree() -> Iterator[Path]:
    """Make a copy of the last commit."""
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(Path(scratch, "tree"), filter="data")
        yield Path(scratch, "tree")


@contextlib.contextmanager
def standing(copy: Path, mutant: Mutant) -> Iterator[None]:
    """Put a mutant into the copy, and take it out again."""
    path = copy / mutant.file
    before = path.read_text(encoding="utf-8")
    path.unlink()
    _put(path, mutant.source)
    try:
        yield
    finally:
        _put(path, before)


def _put(path: Path, source: str) -> None:
    """Write a source; what was compiled of another of the same size and second would pass for it."""
    path.write_text(source, encoding="utf-8")
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        compiled.unlink()


def first_failure(copy: Path, tests: list[str], seconds: float) -> str | None:
    """Run tests in a fork that sees only the copy; return the first that fails or what ended them, or None.

    Parameters
    ----------
    copy : Path
        Of the tree.
    tests : list of str
        Ids; none is no failure.
    seconds : float
        Of CPU.  What takes longer, or twenty times as long by the clock, fails.
    """
    if not tests:
        return None
    log, end = copy.parent / "log", time.monotonic() + 20 * seconds
    child = os.fork()
    if child == 0:
        _run_tests(copy, tests, seconds, log)
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < end:
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if ended == (0, 0):
        os.waitpid(child, 0)
        return "time"
    code = os.waitstatus_to_exitcode(ended[1])
    if code == 0:
        return None
    said = log.read_text(encoding="utf-8", errors="replace")
    failed = re.search(r"^(?:FAILED|ERROR) (\S+?\.py(?:::.*?)?)(?: - .*)?$", said, re.MULTILINE)
    return failed[1] if failed else "time" if code in (-signal.SIGXCPU, -signal.SIGKILL) else f"exit {code}"


def _run_tests(copy: Path, tests: list[str], seconds: float, log: Path) -> None:
    """Become a process that runs tests in the copy, and end with pytest's exit code."""
    code = 99
    try:
        os.setsid()
        sys.stdout = sys.stderr = sink = log.open("w", encoding="utf-8")
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_DATA, (2**32, 2**32))
        os.chdir(copy)
        os.environ["PYTHONPATH"] = str(copy)
        os.environ.pop("CHECK_ALL", None)
        sys.path[:] = [str(copy), *(it for it in sys.path if it and Path(it) != ROOT)]
        for name in [it for it in sys.modules if it.split(".")[0] in ("tests", "reference", "audit")]:
            del sys.modules[name]
        import pytest

        options = ["-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-p", "no:cov", "-W", IMPORTED]
        code = pytest.main([*options, f"--basetemp={copy.parent / 'pytest'}", *tests])
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        os._exit(int(code))


def fate(copy: Path, mutant: Mutant, tests: list[str], seconds: Mapping[str, float]) -> dict[str, Any]:
    """Return what became of a mutant."""
    spent = list(accumulate(seconds[test] for test in tests))
    first = bisect(spent, FIRST_SECONDS)
    with standing(copy, mutant):
        for few in (tests[:first], tests[first:]):
            limit = 30 + 2 * sum(seconds[test] for test in few)
            if (killer := first_failure(copy, few, limit)) is not None:
                return {"ending": "killed", "by": killer}
        if (lemma := first_failure(copy, [LEMMAS], 60)) is not None:
            return {"ending": "no lemma", "by": lemma}
    return {"ending": "lives"}


# --- All of them ------------------------------------------------------------------------------------------------


def known(one: dict[str, Any]) -> str:
    """Return what a mutant is called in the list of those that live; without its place, which moves."""
    file = one["place"].split(":")[0]
    return f"{file} {one['function']}: {one['old']} -> {one['new']}"


def main() -> int:
    """Go on until every mutant has run; print how many live, and which without a reason."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.mutants", description=__doc__)
    recorded = ROOT / "build" / "mutants"
    parser.add_argument("--recorded", type=Path, default=recorded, help="folder of which test touches what")
    parser.add_argument("--by", nargs="+", metavar="TEST", help="ask these about those that live without a reason")
    asked = parser.parse_args()
    git = ["git", "rev-parse", "--short=12", "HEAD"]
    commit = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    found: dict[str, Any] = {"command": "make soak", "seed": SEED, "mutants": []}
    if RESULTS.exists():
        found = json.loads(RESULTS.read_text(encoding="utf-8"))
    every: list[dict[str, Any]] = found["mutants"]
    reasons = json.loads(SURVIVORS.read_text(encoding="utf-8")) if SURVIVORS.exists() else {}
    if asked.by:
        lives = [place for place, it in enumerate(every) if it["ending"] == "lives" and known(it) not in reasons]
        again = [(place, mutant) for place in lives for mutant in still_there(every[place])]
        seconds = dict.fromkeys(asked.by, 60.0)
        for (place, _), one in zip(again, ask([it for _, it in again], lambda _: asked.by, seconds), strict=True):
            every[place] = {**one, "commit": commit}
            _write(found)
    elif len(every) < PER_ROOM * len(ROOMS):
        if not list(asked.recorded.glob("*.xml")):
            record(asked.recorded)
        touching = Touching(asked.recorded)
        done = {(it["place"], it["old"], it["new"]) for it in every}
        missing = [it for it in drawn() if (it.shown()["place"], it.old, it.new) not in done]
        for one in ask(missing, touching.tests, touching.seconds):
            every.append({**one, "commit": commit})
            _write(found)
    lives = [known(it) for it in every if it["ending"] == "lives"]
    print(f"{len(every)} mutants, {len(lives)} live")
    unknown = [it for it in lives if it not in reasons]
    print(*(f"lives without a reason: {it}" for it in unknown), sep="\n")
    return int(bool(unknown))


def ask(
    mutants: list[Mutant], tests_of: Callable[[Mutant], list[str]], seconds: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    """Yield what becomes of each mutant; at the end, the tests that failed for one must pass without.

    Raises
    ------
    AssertionError
        With a test that fails without a mutant, or where the generated lemmas are not those committed.
    """
    for name in LIBRARIES.split():
        importlib.import_module(name)
    killers = set()
    with tree() as copy:
        for mutant in mutants:
            start, tests = time.monotonic(), tests_of(mutant)
            one = {**mutant.shown(), "tests": len(tests), **fate(copy, mutant, tests, seconds)}
            killers.add(one.get("by"))
            yield one
            print(f"{time.monotonic() - start:.0f} s", one["place"], one["ending"], one.get("by", ""), flush=True)
        failed = first_failure(copy, [*sorted(it for it in killers if it and "::" in it), LEMMAS], 3600)
        assert failed is None, f"fails without a mutant: {failed}"


def _write(found: dict[str, Any]) -> None:
    lines = ",\n".join(json.dumps(it) for it in found["mutants"])
    head = {key: value for key, value in found.items() if key != "mutants"}
    RESULTS.write_text(f'{json.dumps(head)[:-1]}, "mutants": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
