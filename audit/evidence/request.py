"""The request for an estimate, as data and as a command line."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from typing import Any, Literal

from audit.auditor.curve import CURVE_DELTAS
from audit.auditor.distinguish import LARGEST_DRAWS, SMALLEST_DRAWS, Bound, Terms
from audit.auditor.events import FAMILIES, IDEAL
from audit.bounds import SMALLEST_SIGNIFICANCE, StoppingRule
from audit.subjects.descriptions import (
    CatalogueDescription,
    Description,
    ImportDescription,
    Named,
    core,
)
from audit.subjects.programs import ProgramDescription
from audit.subjects.releases import MechanismDescription, NamedData, WorstNeighbours
from reference.budgets import SplitBudget
from reference.common.documents import Document, plain
from reference.common.errors import ReadingError
from reference.common.numbers import decimal_text, exact
from reference.readings import Readings
from reference.registry import MECHANISMS, PAPER_DELTA

Judged = Literal["ideal", "implementation"]
"""The objects of a verdict: quantised outputs, or floats as they are."""

DRAWS, SIGNIFICANCE, TIMEOUT = 1_000_000, 0.05, 60.0
"""Defaults of an estimate."""

WITNESS_RECORDS = 1000
"""Default size of the worst neighbouring data sets: data sets are finite."""

MOST_PER_CALL = 10_000
"""Most outputs of a call, if calls are taken whole."""

SMALLEST_SEARCHED_DRAWS = 10_000
"""Fewest draws of an audit with a search: with fewer, it has too few per pair."""


class EstimateRequest(Document, frozen=True, kw_only=True, omit_defaults=True):
    """One estimate, complete: it can be repeated from this.

    Parameters
    ----------
    mechanism : str
        Its name; for a program, the command line.
    subject : Description
        If a pair was searched, the subject on the pair found.
    epsilon, delta : str or None
        The user's claim; None if the subject makes it.
    draws : int
        At most, of all phases and both inputs.
    significance : float
    events : tuple of str
        Families of events.
    bound : {'auto', 'joint', 'clopper_pearson', 'conditional'}
    until, max_seconds : float or None
        What ends certifying early.
    curve : bool
        Whether epsilon is certified at several deltas.
    search : bool
        Whether the declared domain is searched for the worst pair.
    object : {'ideal', 'implementation'}
        The object of the verdict.
    seed : int
    outputs_per_call : int
        With more than one, only calls of this many outputs need be independent.
    """

    mechanism: str
    subject: Description
    epsilon: str | None
    delta: str | None
    draws: int
    significance: float
    events: tuple[str, ...]
    bound: Bound
    until: float | None
    max_seconds: float | None
    curve: bool
    search: bool
    object: Judged
    seed: int
    outputs_per_call: int = 1

    def checked(self) -> EstimateRequest:
        """Return the request, after checking that it can be served.

        Raises
        ------
        reference.common.errors.ReadingError
        """
        smallest = SMALLEST_SIGNIFICANCE * (len(CURVE_DELTAS) + 1 if self.curve else 1)
        if not smallest <= self.significance < 1:
            raise ReadingError("significance", self.significance, f"in [{smallest:g}, 1)")
        self._check_draws()
        unknown = [family for family in self.events if family not in FAMILIES]
        if unknown or not any(family in IDEAL for family in self.events):
            allowed = f"some of {', '.join(FAMILIES)}, and not bits alone"
            raise ReadingError("events", ",".join(self.events), allowed)
        for name in ("until", "max_seconds"):
            if getattr(self, name) is not None and not 0 < getattr(self, name) < math.inf:
                raise ReadingError(name, getattr(self, name), "positive and finite")
        if self.curve and (self.until is not None or self.max_seconds is not None):
            raise ReadingError("curve", True, "left out with --until and --max-seconds: it needs a fixed size")
        if self.seed < 0:
            raise ReadingError("seed", self.seed, "at least 0")
        self._check_calls()
        return self

    def _check_calls(self) -> None:
        if not 1 <= self.outputs_per_call <= MOST_PER_CALL:
            raise ReadingError("outputs_per_call", self.outputs_per_call, f"from 1 to {MOST_PER_CALL:,}")
        if self.outputs_per_call == 1:
            return
        for name, default in (("bound", "auto"), ("until", None), ("curve", False), ("search", False)):
            if getattr(self, name) != default:
                raise ReadingError(name, getattr(self, name), "left out with --outputs-per-call")
        smallest = SMALLEST_DRAWS * self.outputs_per_call
        if self.draws < smallest:
            allowed = f"at least {smallest:,} with --outputs-per-call {self.outputs_per_call}: calls count as one"
            raise ReadingError("draws", self.draws, allowed)

    def _check_draws(self) -> None:
        if self.draws > LARGEST_DRAWS:
            raise ReadingError("draws", self.draws, f"at most {LARGEST_DRAWS:,}")
        if self.draws < SMALLEST_DRAWS:
            allowed = f"at least {SMALLEST_DRAWS:,}, so that each phase has some; epsilon 1 needs about 2,000"
            raise ReadingError("draws", self.draws, allowed)
        if self.search and self.draws < SMALLEST_SEARCHED_DRAWS:
            raise ReadingError("draws", self.draws, f"at least {SMALLEST_SEARCHED_DRAWS:,} with --search")

    def terms(self, claimed_epsilon: float, delta: float, *, spent: int, max_seconds: float | None) -> Terms:
        """Return the terms of the estimate, after this many draws were spent on a search."""
        return Terms(
            draws=self.draws - spent,
            delta=delta,
            significance=self.significance,
            claimed_epsilon=claimed_epsilon,
            families=self.events,
            method=self.bound,
            until=None if self.until is None else StoppingRule(self.until),
            max_seconds=max_seconds,
            with_curve=self.curve,
            outputs_per_call=self.outputs_per_call,
        )

    @property
    def command(self) -> str:
        """The command line for this estimate; hardened noise takes no seed."""
        described = core(self.subject)
        seedless = isinstance(described, MechanismDescription) and described.hardened
        return self._line(None if seedless else self.seed)

    @property
    def without_seed(self) -> str:
        """The same, where no seed repeats the draws."""
        return self._line(None)

    def _line(self, seed: int | None) -> str:
        words = ["python", "-m", "audit.epsilon_estimate", *self._subject_words()]
        defaults: dict[str, Any] = {
            "epsilon": None,
            "delta": None,
            "draws": DRAWS,
            "significance": SIGNIFICANCE,
            "events": FAMILIES,
            "bound": "auto",
            "until": None,
            "max_seconds": None,
            "curve": False,
            "search": False,
            "object": "ideal",
            "seed": None,
            "outputs_per_call": 1,
        }
        given = {name: getattr(self, name) for name in defaults} | {"seed": seed}
        return shlex.join([*words, *_options(given, defaults)])

    def _subject_words(self) -> list[str]:
        described: Named = core(self.subject)
        match described:
            case ProgramDescription():
                names = ("binary", "timeout", "memory_limit")
                given = {name: getattr(described, name) for name in names} | {"inputs": described.inputs_file}
                defaults = {"binary": False, "timeout": TIMEOUT, "memory_limit": None, "inputs": None}
                return ["--program", self.mechanism, *_options(given, defaults)]
            case ImportDescription():
                return [described.path]
            case CatalogueDescription():
                return [described.name, *_options(described.parameters, {})]
            case MechanismDescription():
                return [described.mechanism, *_mechanism_options(described)]


def _options(given: dict[str, Any], defaults: dict[str, Any]) -> Iterator[str]:
    """Yield the options that differ from their defaults."""
    for name, value in given.items():
        if value is None or value is False or value == defaults.get(name):
            continue
        yield "--" + name.replace("_", "-")
        if value is not True:
            yield ",".join(value) if isinstance(value, tuple) else str(value)


def _mechanism_options(described: MechanismDescription) -> list[str]:
    defaults = plain(Readings(fairness=MECHANISMS[described.mechanism].readings.fairness))
    return [
        *_options({"release": described.release, "x_s": described.x_s}, {"release": "coefficients"}),
        *_options(_budget(described), {"epsilon": "1", "delta": decimal_text(exact("delta", PAPER_DELTA))}),
        *_options(plain(described.readings), defaults),
        *(_data(described.data) if described.data is not None else _setting(described.setting)),
    ]


def _budget(described: MechanismDescription) -> dict[str, str]:
    """Return the fewest options that state the budget."""
    parts = {name: decimal_text(value) for name, value in described.budget.items()}
    if not described.spec.needs_delta:
        parts = {name: value for name, value in parts.items() if name.startswith("epsilon")}
    if not described.spec.split_budget:
        return parts
    total = parts.pop("delta", None)
    if parts["epsilon_s"] == parts["epsilon_n"]:
        parts = {"epsilon": parts["epsilon_s"]} | {n: v for n, v in parts.items() if n.startswith("delta")}
    if total is None:
        return parts
    halves = SplitBudget.equal(1, total)
    if all(parts[name] == decimal_text(getattr(halves, name)) for name in ("delta_s", "delta_n")):
        return {name: value for name, value in parts.items() if name.startswith("epsilon")} | {"delta": total}
    return parts


def _setting(setting: WorstNeighbours | None) -> Iterator[str]:
    if setting is not None:
        given = {name: getattr(setting, name) for name in ("dimension", "records", "domain")}
        yield from _options(given, {"records": WITNESS_RECORDS, "domain": "unit_ball"})


def _data(data: NamedData) -> Iterator[str]:
    names = ("domain", "encoding", "intercept", "keep_group", "records", "dimension")
    given = {"data": data.name, "data_seed": data.seed, **{name: getattr(data, name) for name in names}}
    yield from _options(given, {"data_seed": 0, "domain": "unit_ball", "encoding": "ordinal"})
