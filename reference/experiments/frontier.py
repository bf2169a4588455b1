"""The frontier of the repaired mechanism on real data: ``python -m reference experiments frontier``.

Accuracy against risk difference for every budget: with the group at prediction, without it and without fairness;
beside them the same models without noise.  Domain files and constants are fixed before a run.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from joblib import delayed
from threadpoolctl import threadpool_limits

from reference.accounting import NOT_PRIVATE
from reference.budgets import Budget
from reference.common.arrays import BoolArray, FloatArray
from reference.common.errors import MissingDataError, ReadingError
from reference.common.page import Listing, Page
from reference.common.repeated import mean_and_deviation
from reference.common.workers import parallel
from reference.datasets import SOURCES
from reference.datasets.public_bins import PUBLIC, public_domains
from reference.domain.binning import binned
from reference.domain.file import DomainFile
from reference.experiments.outputs import SEEDED
from reference.experiments.splits import SplitSpec
from reference.experiments.watch import NOBODY, Watch, in_turn
from reference.fairness.metrics import MEASURES, measures
from reference.records import Records
from reference.repaired import prepared, repaired_logistic, signal_of
from reference.repaired.schedule import NEAR_THE_BEST, USABLE

SPLITS = 50

DATA = ("adult", "us", "compas", "german")

EPSILONS = ("0.01", "0.0316", "0.1", "0.316", "1", "3.16", "10")
DELTAS = ("1e-5", "0")
SLACKS = ("0", "0.01", "0.02")
"""Risk difference that the fair models tolerate."""

REFERENCE_SPLITS = 5
"""Splits on which models without noise are fitted."""

COLUMNS = (*MEASURES, "fit_seconds")


@dataclass(frozen=True)
class FrontierModel:
    """A model to fit.

    Parameters
    ----------
    fairness : {'none', 'demographic_parity'}
    group_at_prediction : bool
    slack : str
    """

    fairness: str
    group_at_prediction: bool
    slack: str = "0"


MODELS = (
    FrontierModel("none", False),
    FrontierModel("demographic_parity", True),
    FrontierModel("demographic_parity", False),
)


_Setting: TypeAlias = tuple[str, str, FrontierModel]
"""Epsilon, delta and the model."""


@dataclass(frozen=True)
class FrontierDesign:
    """The records of a run, and how often they are split.

    Parameters
    ----------
    data : str
    splits, seed : int
    test_share : float
    subset_size : int, optional
    noise : {'numpy', 'hardened'}
    epsilons : tuple of str
    """

    data: str
    splits: int = SPLITS
    seed: int = 0
    test_share: float = 0.2
    subset_size: int | None = None
    noise: str = "numpy"
    epsilons: tuple[str, ...] = EPSILONS


def encodings(data: str) -> dict[str, tuple[DomainFile, ...]]:
    """Return the domain files, the finest first.

    `generic` reads declared bounds only; `public` has bins from public knowledge, and coarse ones for few records.
    """
    found: dict[str, tuple[DomainFile, ...]] = {"generic": (binned(SOURCES[data].domain_file("one_hot")),)}
    return {**found, "public": public_domains(data)} if data in PUBLIC else found


@dataclass(frozen=True, eq=False)
class Part:
    """Training or held-out records of a split under one domain file, with and without the group as feature."""

    by_group: dict[bool, Records]

    def take(self, rows: npt.NDArray[np.intp]) -> Part:
        """Return some of the records, ready to be fitted often."""
        return Part({keep: prepared(records.take(rows)) for keep, records in self.by_group.items()})


def finest(trains: Sequence[Part], budget: Budget) -> int:
    """Return the place of the finest domain with enough signal, else of the coarsest; by public numbers only.

    The one before the coarsest needs a usable signal, one before that a signal that is near the best.
    """
    wanted = (NEAR_THE_BEST, USABLE, 0)[-len(trains) :]
    for place, (train, least) in enumerate(zip(trains, wanted, strict=True)):
        records = train.by_group[True]
        if signal_of(len(records), records.domain, budget) >= least:
            return place
    return len(trains) - 1


def measure(
    design: FrontierDesign, *, missing: str | None = None, jobs: int = 1, watch: Watch = NOBODY
) -> dict[str, Any]:
    """Fit everything on every split and return the document.

    Parameters
    ----------
    design : FrontierDesign
    missing : str, optional
        The requested data set, if it is not there.
    jobs : int
        Processes; only the seconds depend on it.
    watch : Watch
        Told of each split.

    Raises
    ------
    reference.common.errors.MissingDataError
        When the requested data set is not there.
    """
    if missing is not None:
        raise MissingDataError(f"the frontier is measured on {missing}, which is not there")
    if jobs < 1:
        raise ReadingError("jobs", jobs, "at least 1")
    rows, references = list[dict[str, Any]](), list[dict[str, Any]]()
    watch.expect(len(encodings(design.data)) * design.splits)
    pool = parallel(jobs, return_as="generator")
    for encoding in encodings(design.data):
        found: dict[_Setting, list[dict[str, float]]] = {}
        noiseless: dict[str, list[dict[str, float]]] = {}
        calls = (delayed(on_one_split)(design, encoding, split) for split in range(design.splits))
        for fitted, others in in_turn(pool(calls)):
            for key, one in fitted:
                found.setdefault(key, []).append(one)
            for name, one in others.items():
                noiseless.setdefault(name, []).append(one)
            watch.released("repaired")
        rows += [_row(*key, encoding, runs) for key, runs in found.items()]
        references += [
            {"name": name, "encoding": encoding, "splits": len(runs), **means(runs)}
            for name, runs in noiseless.items()
        ]
    return {
        "schema": "frontier_v1",
        "data": design.data,
        "note": f"{NOT_PRIVATE}; {SEEDED}" if design.noise == "numpy" else NOT_PRIVATE,
        "mechanism": "repaired",
        "adjacency": "replace_one",
        "noise": design.noise,
        "splits": design.splits,
        "test_share": design.test_share,
        "subset_size": design.subset_size,
        "seed": design.seed,
        "rows": rows,
        "references": references,
    }


def on_one_split(
    design: FrontierDesign, encoding: str, split: int
) -> tuple[list[tuple[_Setting, dict[str, float]]], dict[str, dict[str, float]]]:
    """Measure each model with noise on a split, and on the first few splits the models without noise."""
    found = []
    with threadpool_limits(limits=1):
        trains, tests = split_of(design, encoding, split)
        for delta, epsilon in product(DELTAS, design.epsilons):
            budget = Budget(epsilon, delta)
            place = finest(trains, budget)
            for model in MODELS:
                # without fairness the group is a feature like others
                keep = model.group_at_prediction or model.fairness == "none"
                train, test = trains[place].by_group[keep], tests[place].by_group[keep]
                rng = None if design.noise == "hardened" else design.seed + split
                for tuned, one in _measured(train, test, model, budget, design.noise, rng):
                    found.append(((epsilon, delta, tuned), one))
        if split >= REFERENCE_SPLITS:
            return found, {}
        return found, without_noise(trains[0].by_group[True], tests[0].by_group[True])


def split_of(design: FrontierDesign, encoding: str, split: int) -> tuple[list[Part], list[Part]]:
    """Return training and held-out records of a split under each domain file of an encoding."""
    wholes = _wholes(design.data, encoding)
    spec = SplitSpec(
        design.data,
        subset_size=design.subset_size,
        test_share=design.test_share,
        split=split,
        seed=design.seed,
    )
    train, test = spec.rows(len(wholes[0].by_group[True]))
    return [whole.take(train) for whole in wholes], [whole.take(test) for whole in wholes]


@lru_cache(maxsize=1)
def _wholes(data: str, encoding: str) -> list[Part]:
    """Return all records under each domain file of an encoding; a process takes the encodings in turn."""
    source, declared = SOURCES[data], encodings(data)[encoding]
    return [Part({keep: source.read(one.with_(keep_group=keep)) for keep in (True, False)}) for one in declared]


def _measured(
    train: Records, test: Records, model: FrontierModel, budget: Budget, noise: str, rng: int | None
) -> Iterator[tuple[FrontierModel, dict[str, float]]]:
    """Fit once, and measure on the held-out records for each slack, tuned after the release."""
    start = time.perf_counter()
    fitted = repaired_logistic(train, budget, fairness=model.fairness, noise=noise, rng=rng)
    seconds = time.perf_counter() - start
    for slack in SLACKS if model.fairness != "none" else SLACKS[:1]:
        tuned = fitted if slack == "0" else fitted.tuned(train.domain, float(slack))
        found = measures(tuned.predict(test.x, test.z), test.y, test.z)
        yield replace(model, slack=slack), {**found, "fit_seconds": seconds, "columns": train.domain.dimension}


def without_noise(train: Records, test: Records) -> dict[str, dict[str, float]]:
    """Measure logistic regression on the same columns: plain, and with a threshold for each group."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # nearly no penalty, on columns that are not scaled
        scale = 1 / train.domain.column_factor
        fitted = LogisticRegression(C=100, max_iter=300).fit(train.x * scale, train.y)
    scores, held_out = (fitted.decision_function(one.x * scale) for one in (train, test))
    assert train.z is not None
    assert test.z is not None
    lowest = fair_thresholds(scores, train.y, train.z == 1)
    fair = held_out > np.where(test.z == 1, lowest[1], lowest[0])
    return {
        "logistic regression, not private": measures(held_out > 0, test.y, test.z),
        "logistic regression with two thresholds, not private": measures(fair, test.y, test.z),
    }


def fair_thresholds(scores: FloatArray, y: FloatArray, members: BoolArray) -> tuple[float, float]:
    """Return thresholds of group 0 and 1 that select the same share of each, with the highest accuracy."""
    best: tuple[float, tuple[float, float]] = (-1.0, (0.0, 0.0))
    for share in np.linspace(0.01, 0.99, 99):
        zero, one = (float(np.quantile(scores[part], 1 - share)) for part in (~members, members))
        accuracy = float(((scores > np.where(members, one, zero)) == y).mean())
        best = max(best, (accuracy, (zero, one)))
    return best[1]


def _row(
    epsilon: str, delta: str, model: FrontierModel, encoding: str, runs: list[dict[str, float]]
) -> dict[str, Any]:
    return {
        "epsilon": epsilon,
        "delta": delta,
        "group_at_prediction": model.group_at_prediction,
        "fairness": model.fairness,
        "slack": model.slack,
        "encoding": encoding,
        "columns": int(runs[0]["columns"]),
        **means(runs),
    }


def means(runs: list[dict[str, float]]) -> dict[str, Any]:
    """Return mean and standard deviation of each measure."""
    return {name: mean_and_deviation(run[name] for run in runs) for name in COLUMNS if name in runs[0]}


def as_text(document: dict[str, Any], page: Page) -> str:
    """Return the rows as a table."""
    cells = [
        (
            row["delta"],
            row["epsilon"],
            row["fairness"],
            "yes" if row["group_at_prediction"] else "no",
            row["slack"],
            row["encoding"],
            *(_spread(row[name]) for name in MEASURES),
            f"{row['fit_seconds']['mean']:.2f}",
        )
        for row in document["rows"]
    ]
    cells += [
        (
            "",
            "",
            on_fewer(row["name"], row, document),
            "",
            "",
            row["encoding"],
            *(_spread(row[name]) for name in MEASURES),
            "",
        )
        for row in document["references"]
    ]
    head = ("delta", "epsilon", "fairness", "group", "slack", "encoding", "accuracy", "gain")
    table = Listing(
        f"The frontier; {document['data']}, {document['splits']} splits, {document['adjacency']}",
        (*head, "risk difference", "positive rate", "seconds"),
        tuple(cells),
    )
    return page.text(table, f"{document['note']}.")


def on_fewer(name: str, row: dict[str, Any], document: dict[str, Any]) -> str:
    """Return the name of a model without noise, which says where it ran on fewer splits."""
    every, splits = document["splits"], row["splits"]
    return name if splits == every else f"{name}, {splits} of {every} splits"


def _spread(found: dict[str, float | None]) -> str:
    return f"{found['mean']:.4f}" + ("" if found["std"] is None else f" ± {found['std']:.4f}")
