"""How good an auditor is: its bounds on mechanisms of known loss, counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from joblib import delayed
from scipy.stats import binom

from audit.auditor.certification import Progress
from audit.auditor.distinguish import silent
from audit.bounds import largest_certifiable_epsilon, lower_bound_on_probability, upper_bound_on_probability
from audit.subjects.catalogue import CATALOGUE
from audit.subjects.catalogue.entry import Entry
from audit.subjects.catalogue.reach import largest_power
from audit.validity.scores.auditors import Auditor, audit_entry, most_draws
from reference.common.workers import parallel

DOUBT = 1e-3
"""An auditor is refuted if its number of wrong bounds is less likely than this at its stated significance."""

EVEN = 0.5
"""A broken entry is out of reach if no valid auditor can flag it with this chance."""

ROUNDING = 1e-6
"""Relative excess of a bound over the true loss that counts as its numerical error."""


@dataclass(frozen=True)
class EntryScore:
    """An auditor's bounds on one entry, at the level where it is broken (`ideal` for a right one).

    Parameters
    ----------
    name : str
    entry : Entry
    draws : int
        Of all phases and both inputs, per audit.
    significance : float
    bounds : tuple of float
        One per seed that gave an answer.
    errors : tuple of str
        Of the seeds that gave none.
    """

    name: str
    entry: Entry
    draws: int
    significance: float
    bounds: tuple[float, ...]
    errors: tuple[str, ...]

    @property
    def ceiling(self) -> float:
        """The joint bound of a perfect event, with half of the draws on each input, all of them certifying."""
        return largest_certifiable_epsilon(self.draws // 2, float(self.entry.claimed_delta), self.significance)

    @property
    def flagged(self) -> int:
        """Bounds above the claim."""
        return sum(bound > self.entry.claimed_epsilon for bound in self.bounds)

    @property
    def wrong(self) -> int:
        """Bounds above the true loss: on a right entry these include all false alarms."""
        return sum(bound > self.entry.true_epsilon * (1 + ROUNDING) for bound in self.bounds)

    @property
    def largest_power(self) -> float:
        """The largest chance with which a valid auditor flags this entry, whatever its events and bounds."""
        entry = self.entry
        draws = most_draws(self.draws)
        return largest_power(entry.excess_delta, entry.claimed_epsilon, draws, self.significance)

    @property
    def within_reach(self) -> bool:
        """Whether the entry is broken and this many draws may show it."""
        return not self.entry.is_right and self.largest_power >= EVEN

    @property
    def tightness(self) -> float | None:
        """The median bound over the smaller of true loss and ceiling; None if the loss is not known exactly."""
        if not self.bounds or not self.entry.loss_is_exact:
            return None
        return median(self.bounds) / min(self.entry.true_epsilon, self.ceiling)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object, with infinity as a word."""
        entry = self.entry
        return {
            "name": self.name,
            "is_right": entry.is_right,
            "broken_at": entry.broken_at,
            "claimed_epsilon": entry.claimed_epsilon,
            "claimed_delta": entry.claimed_delta,
            "true_epsilon": _number(entry.true_epsilon),
            "loss_is_exact": entry.loss_is_exact,
            "ceiling": self.ceiling,
            "largest_power": self.largest_power,
            "within_reach": self.within_reach,
            "draws": self.draws,
            "bounds": [_number(bound) for bound in self.bounds],
            "flagged": self.flagged,
            "wrong": self.wrong,
            "tightness": None if self.tightness is None else _number(self.tightness),
            "errors": list(self.errors),
            "source": entry.source,
        }


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else "infinity"


@dataclass(frozen=True)
class Rate:
    """A share of audits, with Clopper and Pearson's bounds, each at 0.05.

    Parameters
    ----------
    count, of : int
    """

    count: int
    of: int

    @property
    def enclosure(self) -> tuple[float, float]:
        """Lower and upper bound, each wrong with probability at most 0.05 for independent, identical audits."""
        if not self.of:
            return 0.0, 1.0
        low = lower_bound_on_probability(self.count, self.of, 0.05)
        return low, upper_bound_on_probability(self.count, self.of, 0.05)

    def to_json(self) -> dict[str, Any]:
        """Return counts and bounds."""
        low, high = self.enclosure
        return {"count": self.count, "of": self.of, "lo": low, "hi": high}


@dataclass(frozen=True)
class Exam:
    """The exam of an auditor: the entries, the number of audits and their settings.

    Parameters
    ----------
    names : sequence of str
        Of :data:`audit.subjects.catalogue.CATALOGUE`.
    draws : int or None
        Per audit, all phases and both inputs; None gives each entry its own number.
    seeds : int
        Audits per entry.
    first_seed : int
        Every audit has its own seed, derived from this one, its entry and its number.
    significance : float
    """

    names: Sequence[str] = tuple(CATALOGUE)
    draws: int | None = None
    seeds: int = 1
    first_seed: int = 0
    significance: float = 0.05


@dataclass(frozen=True)
class AuditorScore:
    """An auditor's score over the catalogue.

    Parameters
    ----------
    auditor : str
    significance : float
    seeds : int
    entries : tuple of EntryScore
        Those with all audits done.
    stopped : str or None
        Why others are missing.
    """

    auditor: str
    significance: float
    seeds: int
    entries: tuple[EntryScore, ...]
    stopped: str | None = None

    @property
    def detection(self) -> Rate:
        """Audits of broken mechanisms that flag them."""
        broken = [score for score in self.entries if not score.entry.is_right]
        return Rate(sum(score.flagged for score in broken), len(broken) * self.seeds)

    @property
    def detection_within_reach(self) -> Rate:
        """The same without the entries that no valid auditor can flag with this many draws."""
        reachable = [score for score in self.entries if score.within_reach]
        return Rate(sum(score.flagged for score in reachable), len(reachable) * self.seeds)

    @property
    def false_alarms(self) -> Rate:
        """Audits of right mechanisms that flag them."""
        right = [score for score in self.entries if score.entry.is_right]
        return Rate(sum(score.flagged for score in right), len(right) * self.seeds)

    @property
    def wrong_bounds(self) -> Rate:
        """Audits whose bound exceeds the true loss, among those with a finite one."""
        finite = [score for score in self.entries if math.isfinite(score.entry.true_epsilon)]
        return Rate(sum(score.wrong for score in finite), len(finite) * self.seeds)

    @property
    def tightness(self) -> float | None:
        """The median over entries."""
        known = [score.tightness for score in self.entries if score.tightness is not None]
        return median(known) if known else None

    @property
    def missed(self) -> tuple[str, ...]:
        """Broken entries within reach that at least one audit did not flag."""
        return tuple(s.name for s in self.entries if s.within_reach and s.flagged < self.seeds)

    @property
    def out_of_reach(self) -> tuple[str, ...]:
        """Broken entries that no valid auditor can flag with this many draws, through no fault of this one."""
        return tuple(s.name for s in self.entries if not s.entry.is_right and not s.within_reach)

    @property
    def refuted(self) -> bool:
        """Whether the number of wrong bounds contradicts the auditor's significance.

        Each bound may be wrong with probability at most the significance, and audits have their own seeds, so
        that many wrong ones, or more, have at most the binomial tail.
        """
        wrong = self.wrong_bounds
        return bool(binom.sf(wrong.count - 1, wrong.of, self.significance) < DOUBT) if wrong.count else False

    @property
    def errors(self) -> int:
        """Audits without an answer; they count as not flagged."""
        return sum(len(score.errors) for score in self.entries)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document."""
        return {
            "auditor": self.auditor,
            "significance": self.significance,
            "seeds": self.seeds,
            "verdict": "refuted" if self.refuted else "not refuted",
            "detection": self.detection.to_json(),
            "detection_within_reach": self.detection_within_reach.to_json(),
            "false_alarms": self.false_alarms.to_json(),
            "wrong_bounds": self.wrong_bounds.to_json(),
            "tightness": None if self.tightness is None else _number(self.tightness),
            "missed": list(self.missed),
            "out_of_reach": list(self.out_of_reach),
            "stopped": self.stopped,
            "errors": self.errors,
            "entries": [score.to_json() for score in self.entries],
        }


def score_auditor(
    auditor: Auditor,
    label: str,
    exam: Exam,
    *,
    workers: int = 1,
    progress: Progress = silent,
) -> AuditorScore:
    """Score an auditor over entries of the catalogue.

    Parameters
    ----------
    auditor : Auditor
    label : str
        What to call it.
    exam : Exam
    workers : int
        Processes; the score does not depend on it.
    progress : callable
        Told the draws of every finished audit.

    Returns
    -------
    AuditorScore
        Ctrl-C ends it early: the entries whose audits are all done make the score, marked `interrupted`.
    """
    tasks = [(name, number) for name in exam.names for number in range(exam.seeds)]
    # the longest first, so that none is left alone at the end
    order = sorted(tasks, key=lambda task: -_cost(task[0], exam.draws))
    results: dict[tuple[str, int], tuple[float | None, str | None]] = {}
    stopped = None
    try:
        found = parallel(workers, return_as="generator")(
            delayed(audit_entry)(
                auditor, name, exam.draws, exam.significance, _seed(exam.first_seed, name, number)
            )
            for name, number in order
        )
        for task, answer in zip(order, found, strict=True):
            results[task] = answer
            progress(exam.draws or CATALOGUE[task[0]].draws)
    except KeyboardInterrupt:
        stopped = "interrupted"
    entries = []
    for name in exam.names:
        own = [results[name, number] for number in range(exam.seeds) if (name, number) in results]
        if len(own) < exam.seeds:
            continue
        entry = CATALOGUE[name]()
        bounds = tuple(bound for bound, _ in own if bound is not None)
        errors = tuple(error for _, error in own if error is not None)
        entries.append(EntryScore(name, entry, exam.draws or entry.draws, exam.significance, bounds, errors))
    return AuditorScore(label, exam.significance, exam.seeds, tuple(entries), stopped)


def _seed(first: int, name: str, number: int) -> int:
    """Return the seed of an audit, which does not depend on what else is scored."""
    return int(np.random.SeedSequence([first, number, *name.encode()]).generate_state(1)[0])


def _cost(name: str, draws: int | None) -> int:
    entry = CATALOGUE[name]()
    width: int = entry.sample(entry.inputs()[0], 1, np.random.default_rng(0)).shape[1]
    return (draws or entry.draws) * width
