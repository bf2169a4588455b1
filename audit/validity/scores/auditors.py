"""Auditors to score: they see only samples of an entry, and only so many."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any, Protocol, TypeAlias

import numpy as np

from audit.auditor.distinguish import Terms, estimate
from audit.auditor.subject import Subject, SubjectError
from audit.subjects.catalogue import CATALOGUE
from audit.subjects.catalogue.entry import Entry
from audit.subjects.imported import imported_object
from reference.common.arrays import FloatArray

Answer: TypeAlias = float | tuple[float, float]


class Auditor(Protocol):
    """An auditor to score: a function from a subject and a claim to a lower bound on epsilon.

    The bound must exceed the true epsilon at `claimed_delta` with probability at most `significance`.  An auditor
    that also judges the bits returns a pair: the bound for the ideal mechanism, and the one for its floats; a
    single number stands for both.  It must be importable, and repeatable for a seed.
    """

    def __call__(
        self,
        subject: Subject,
        claimed_epsilon: float,
        claimed_delta: float,
        draws: int,
        significance: float,
        seed: int,
    ) -> Answer:
        """Return a lower bound, or one for the ideal mechanism and one for the bits."""
        ...


def our_auditor(
    subject: Subject, claimed_epsilon: float, claimed_delta: float, draws: int, significance: float, seed: int
) -> Answer:
    """Audit by :func:`audit.auditor.distinguish.estimate`, with all its families of events."""
    found = estimate(
        subject,
        Terms(delta=claimed_delta, draws=draws, significance=significance, claimed_epsilon=claimed_epsilon),
        np.random.default_rng(seed),
    )
    if found.stopped is not None:
        # Ctrl-C ends the score, not one audit: a bound from fewer draws would not compare with the others
        raise KeyboardInterrupt
    return found.ideal.epsilon_lower_bound, found.implementation.epsilon_lower_bound


def auditor_from(path: str) -> Auditor:
    """Return the auditor that `module:function` names.

    Raises
    ------
    SubjectError
        When there is no such function.
    """
    found: Any = imported_object(path, _itself)
    if not callable(found):
        raise SubjectError(f"{path} is not a function")
    auditor: Auditor = found
    return auditor


def _itself(found: Any) -> Any:
    return found


def most_draws(draws: int) -> int:
    """Return how many draws an auditor with `draws` may make: it may look at the subject first.

    Ours makes 1,028 more, and from 100,000 on another 4,096 in short calls.
    """
    return draws + (6_000 if draws >= 100_000 else 1_100)


@dataclass(frozen=True)
class Blind:
    """Shows only the subject's methods of an entry, so that no auditor reads the answer without meaning to.

    It gives no more draws than the auditor was promised: bounds from more would not compare with others.
    """

    _entry: Entry
    _draws: int
    _given: list[int] = field(default_factory=list)

    def inputs(self) -> tuple[Any, Any]:
        """Return the two neighbouring inputs."""
        return self._entry.inputs()

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs on one input.

        Raises
        ------
        SubjectError
            When the auditor has used up its draws.
        """
        # thread-safe: a list loses none of the numbers
        self._given.append(count)
        if sum(self._given) > most_draws(self._draws):
            raise SubjectError(f"the auditor asks for more than its {self._draws:,} draws")
        return self._entry.sample(data, count, rng)


@dataclass(frozen=True)
class BlindScored(Blind):
    """:class:`Blind` for an entry that knows its log likelihood ratio."""

    def log_likelihood_ratio(self, outputs: FloatArray) -> FloatArray:
        """Return log density on the left less log density on the right."""
        ratio: FloatArray = self._entry.log_likelihood_ratio(outputs)  # type: ignore[attr-defined]
        return ratio


def audit_entry(
    auditor: Auditor, name: str, draws: int | None, significance: float, seed: int
) -> tuple[float | None, str | None]:
    """Return one audit's bound at the level of its entry, or what went wrong."""
    entry = CATALOGUE[name]()
    allowed = draws or entry.draws
    blind = (BlindScored if hasattr(entry, "log_likelihood_ratio") else Blind)(entry, allowed)
    delta = float(Fraction(entry.claimed_delta))
    try:
        answer = auditor(blind, entry.claimed_epsilon, delta, allowed, significance, seed)
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - whatever another's auditor raises is its result
        return None, f"{type(problem).__name__}: {problem}"
    pair: Any = answer if isinstance(answer, tuple) else (answer, answer)
    if len(pair) != 2 or not all(_is_number(bound) for bound in pair):
        return None, f"answered {answer!r:.100}, which is neither a number nor a pair of numbers"
    return float(pair[1 if entry.broken_at == "bits" else 0]), None


def _is_number(bound: Any) -> bool:
    """Return whether an answer is a number: neither true nor a text is one."""
    return type(bound) is not bool and isinstance(bound, Real) and not math.isnan(bound)
