"""One run of the experiments: its specification and its result."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

from reference.budgets import Budget, SplitBudget
from reference.common.documents import converted, plain
from reference.common.errors import ReadingError
from reference.datasets import SOURCES, Encoding, unknown_data
from reference.experiments.splits import PreparedSplit, SplitSpec, prepare
from reference.fairness import ConstantPredictorWarning, Metrics, evaluate
from reference.mechanisms import lr, random_x_s
from reference.minimiser import Minimum, minimise
from reference.noise import draw, generator, perturb
from reference.objective import objective
from reference.readings import Readings
from reference.registry import MECHANISMS, MechanismSpec

OK, UNBOUNDED = "ok", "unbounded"


@dataclass(frozen=True)
class RunSpec:
    """Everything that one run depends on: the same specification gives the same result.

    Parameters
    ----------
    on : SplitSpec
        Data set, encoding and split.
    mechanism : str
        A name in :data:`reference.registry.MECHANISMS`.
    budget : Budget, SplitBudget or None
        As the mechanism takes it; None for the baselines.
    readings : Readings
        Fairness term, repair, sensitivity and so on, with `noise='numpy'`: runs are seeded.
    x_s : str, optional
        A coordinate's name; None draws one at random, as Algorithms 1 and 3 do.
    repeat : int
        Number of the noise draw on the same split, from 0.

    Raises
    ------
    reference.common.errors.InputError
        When the parts do not belong together.
    """

    on: SplitSpec
    mechanism: str
    budget: Budget | SplitBudget | None
    readings: Readings
    x_s: str | None = None
    repeat: int = 0

    def __post_init__(self) -> None:
        if self.on.data not in SOURCES:
            raise unknown_data(self.on.data)
        if self.mechanism not in MECHANISMS:
            raise ReadingError("mechanism", self.mechanism, "one of " + ", ".join(MECHANISMS))
        kind = type(None) if not self._facts.private else SplitBudget if self._facts.split_budget else Budget
        if type(self.budget) is not kind:
            raise ReadingError("budget", self.budget, f"a {kind.__name__} for {self.mechanism}")
        if self.x_s is not None and not self._facts.split_budget:
            raise ReadingError("x_s", self.x_s, f"left out for {self.mechanism}, which has one budget")
        if self.readings.noise != "numpy":
            raise ReadingError("noise", self.readings.noise, "'numpy': experiments are seeded")
        if self.repeat < 0:
            raise ReadingError("repeat", self.repeat, "at least 0")

    @property
    def _facts(self) -> MechanismSpec:
        return MECHANISMS[self.mechanism]

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> RunSpec:
        """Read back a parsed specification."""
        budget = document["budget"]
        return cls(
            on=SplitSpec(**{**document["on"], "encoding": Encoding(**document["on"]["encoding"])}),
            mechanism=document["mechanism"],
            budget=None if budget is None else (SplitBudget if "epsilon_s" in budget else Budget)(**budget),
            readings=converted(document["readings"], Readings),
            x_s=document["x_s"],
            repeat=document["repeat"],
        )

    @property
    def key(self) -> str:
        """The specification as one line of canonical JSON."""
        return json.dumps(plain(self), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @property
    def digest(self) -> str:
        """SHA-256 of :attr:`key`, in hexadecimal."""
        return hashlib.sha256(self.key.encode()).hexdigest()


@dataclass(frozen=True)
class RunResult:
    """The result of one run: not private, and from a seeded generator.

    Parameters
    ----------
    status : {'ok', 'unbounded'}
        `unbounded`: there was no minimum, so there is no predictor and there are no metrics.
    x_s : str or None
        The coordinate with its own budget, even where it was drawn at random.
    metrics : reference.fairness.Metrics or None
        Of the held-out records.
    seconds : float
        Of this run without the preparation of its split; not compared.
    """

    status: str
    x_s: str | None
    metrics: Metrics | None
    seconds: float = field(default=0.0, compare=False)


def run(spec: RunSpec) -> RunResult:
    """Train on one part of a split and measure on the other.

    A function of `spec` and of the data set alone: the noise comes from a generator that is seeded with the
    whole specification, so that neither the order of runs nor the number of processes changes a result.
    """
    split = prepare(spec.on)
    start = time.perf_counter()
    x_s, minimum = trained(spec, split)
    metrics = None
    if minimum.w is not None:
        with warnings.catch_warnings():
            # reported by the positive rate
            warnings.simplefilter("ignore", ConstantPredictorWarning)
            metrics = evaluate(minimum.w, split.test)
    return RunResult(minimum.status, x_s, metrics, time.perf_counter() - start)


def trained(spec: RunSpec, split: PreparedSplit) -> tuple[str | None, Minimum]:
    """Return x_s and w-hat of the mechanism that `spec` names, on the training records of its split.

    The steps are those of all mechanisms of :mod:`reference.mechanisms`, without the exact privacy of a release,
    which for two budgets takes seconds: nothing is released here.  A test compares w-hat with the mechanisms'.
    """
    facts, domain = MECHANISMS[spec.mechanism], split.train.domain
    if not facts.private:
        release = lr(split.train) if facts.function is lr else facts.function(split.moments, spec.readings)
        return None, Minimum(release.status, release.w, ())
    random, _ = generator(spec.on.seed, spec.key)
    s = 0
    if facts.split_budget:
        s = random_x_s(domain, random) if spec.x_s is None else domain.coordinate(spec.x_s)
    # lambda_hat <- sum_i lambda + noise
    noise = facts.noise(domain, spec.budget, spec.readings, s)
    noisy = perturb(objective(split.moments, spec.readings), noise, draw(noise, random)[0])
    # w_hat <- arg min f_hat
    return domain.columns[s] if facts.split_budget else None, minimise(noisy, spec.readings)
