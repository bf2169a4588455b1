"""Rivals of the repaired mechanism on the splits of its frontier: ``python -m tests.peers.frontier --data adult``.

It needs the environment of ``make peers``.  Every rival is trained and measured on the same records of the same
splits as ours, under the same public domain; rows have the shape of the frontier's, and name their model.  What a
run has measured is kept in ``--store``: started again, it goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reference.accounting import NOT_PRIVATE
from reference.budgets import Budget
from reference.commands.frontier_plot import draw_frontier
from reference.common.arrays import FloatArray
from reference.common.files import json_text, write_whole
from reference.datasets import SOURCES
from reference.experiments import frontier
from reference.experiments.frontier import Part, encodings, fair_thresholds, finest, means
from reference.experiments.outputs import SEEDED
from reference.experiments.splits import SplitSpec
from reference.fairness.metrics import measures
from reference.noise.profile import epsilon_of_shift
from reference.noise.scales import analytic_gaussian_sigma
from reference.records import Records
from reference.repaired import repaired_logistic
from tests.peers.scores import bounded, histogram_thresholds, table_of

DOCS = Path(__file__).parents[2] / "docs" / "data"

DELTA = "1e-5"

EPSILONS = ("0.01", "0.1", "1", "10")

SHARE_OF_THRESHOLDS = 0.2
"""Of epsilon, where a rival has no fairness of its own and gets private thresholds from us."""

BOOSTING: dict[str, Any] = {"learning_rate": 0.3, "max_leaves": 5}
FEW_ROUNDS, MANY_ROUNDS = (
    {**BOOSTING, "max_rounds": 33, "bin_budget_frac": 0.2},
    {**BOOSTING, "max_rounds": 100, "bin_budget_frac": 0.1},
)
"""Of explainable boosting, below and from epsilon 1/2 on: the best of 56 settings on two to four other splits of
Adult.  That look was not paid for."""

TUNED_PENALTY = 0.1
"""Of diffprivlib: the best C of 0.1, 1, ..., 10,000, on one other split of Adult."""


class Sides(NamedTuple):
    """Training and held-out records, encoded and as a table of raw columns."""

    encoded: tuple[Records, Records]
    raw: tuple[Records, Records]


Scorer = Callable[[Sides, float, int], tuple[FloatArray, FloatArray]]
"""Takes the records, epsilon and a seed; returns scores of training and held-out records, positive above 0."""


@dataclass(frozen=True)
class Rival:
    """One way to train.

    Parameters
    ----------
    name, library : str
    scorer : callable
    adjacency : str or None
        For which its library states privacy; None where nothing is private.
    delta : str
    fair : bool
        With a threshold for each group: found privately with a share of epsilon where the model is private.
    """

    name: str
    library: str
    scorer: Scorer
    adjacency: str | None = None
    delta: str = DELTA
    fair: bool = False

    @property
    def title(self) -> str:
        """The name with what was done about fairness."""
        private = "private " if self.adjacency else ""
        return f"{self.name}, {private}thresholds by group" if self.fair else self.name

    def run(self, sides: Sides, epsilon: float, seed: int) -> dict[str, float]:
        """Train and measure."""
        (train, test), start = sides.encoded, time.perf_counter()
        assert train.z is not None
        assert test.z is not None
        members, held_out, spent = train.z == 1, test.z == 1, 0.0
        if self.fair and self.adjacency:
            spent = SHARE_OF_THRESHOLDS * epsilon
        scores, seen = self.scorer(sides, epsilon - spent, seed)
        thresholds = (0.0, 0.0)
        if spent:
            replaced = 2 if self.adjacency == "replace_one" else 1
            thresholds = histogram_thresholds(scores, train.y, members, spent / replaced, seed)
        elif self.fair:
            thresholds = fair_thresholds(scores, train.y, members)
        seconds = time.perf_counter() - start
        prediction = seen > np.where(held_out, thresholds[1], thresholds[0])
        return {**measures(prediction, test.y, test.z), "fit_seconds": seconds}


# --- Models -----------------------------------------------------------------------------------------------------


def explainable_boosting(
    adjacency: str, sides: Sides, epsilon: float, seed: int, *, settings: dict[str, Any] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return scores of interpret's private boosting, tuned by default; for adding or removing a record."""
    from interpret.privacy import DPExplainableBoostingClassifier

    if settings is None:
        settings = FEW_ROUNDS if epsilon < 0.5 else MANY_ROUNDS
    if adjacency == "replace_one":
        epsilon = for_two_records(epsilon, settings.get("bin_budget_frac", 0.1))
    train, test = sides.raw
    table, kinds, bounds = table_of(train)
    model = DPExplainableBoostingClassifier(
        feature_types=kinds,
        privacy_bounds=bounds,
        epsilon=epsilon,
        delta=float(DELTA),
        n_jobs=1,
        random_state=seed,
        **settings,
    ).fit(table, train.y.astype(int))
    scores, held_out = (model.decision_function(table_of(one)[0]) for one in (train, test))
    return bounded(scores), bounded(held_out)


def for_two_records(epsilon: float, for_bins: float) -> float:
    """Return the epsilon of one added or removed record that gives `epsilon` for a removed and an added one.

    Boosting spends a share for bins and the rest for trees, each by Gaussian noise with half of delta; two records
    shift each twice as far.
    """
    found = []
    for share in (for_bins, 1 - for_bins):
        sigma = analytic_gaussian_sigma(1, Budget(share * epsilon, 0).epsilon, Budget(1, DELTA).delta / 2)
        half = Budget(1, 0).epsilon / Budget(2 * sigma, 0).epsilon
        found.append(float(epsilon_of_shift(half**2, Budget(1, DELTA).delta / 2).lower) / share)
    return min(found)


def diffprivlib_logistic(penalty: float, sides: Sides, epsilon: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return scores of diffprivlib's logistic regression on the unit ball."""
    from diffprivlib.models import LogisticRegression

    train, test = sides.encoded
    model = LogisticRegression(
        epsilon=epsilon, data_norm=1.0, C=penalty, fit_intercept=False, random_state=seed, max_iter=1000
    ).fit(train.x, train.y.astype(int))
    return model.decision_function(train.x), model.decision_function(test.x)


def logistic(sides: Sides, _epsilon: float, _seed: int) -> tuple[FloatArray, FloatArray]:
    """Return scores of logistic regression, not private."""
    from sklearn.linear_model import LogisticRegression

    train, test = sides.encoded
    scale = 1 / train.domain.column_factor
    model = LogisticRegression(C=100, max_iter=300).fit(train.x * scale, train.y)
    return model.decision_function(train.x * scale), model.decision_function(test.x * scale)


def boosting(sides: Sides, _epsilon: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return scores of gradient boosting, not private."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    train, test = sides.raw
    table, kinds, _ = table_of(train)
    nominal = [kind == "nominal" for kind in kinds]
    model = HistGradientBoostingClassifier(categorical_features=nominal, random_state=seed).fit(table, train.y)
    return model.decision_function(table), model.decision_function(table_of(test)[0])


def fairlearn_thresholds(sides: Sides, _epsilon: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return predictions, -1 or 1, of fairlearn's thresholds for demographic parity on logistic regression."""
    from fairlearn.postprocessing import ThresholdOptimizer
    from sklearn.linear_model import LogisticRegression

    train, test = sides.encoded
    scale = 1 / train.domain.column_factor
    model = ThresholdOptimizer(
        estimator=LogisticRegression(C=100, max_iter=300),
        constraints="demographic_parity",
        objective="accuracy_score",
        predict_method="decision_function",
    ).fit(train.x * scale, train.y.astype(int), sensitive_features=train.z)
    return tuple(  # type: ignore[return-value]
        2.0 * model.predict(one.x * scale, sensitive_features=one.z, random_state=seed) - 1
        for one in (train, test)
    )


def fairlearn_reduction(sides: Sides, _epsilon: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return predictions, -1 or 1, of fairlearn's exponentiated gradient for demographic parity."""
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient
    from sklearn.linear_model import LogisticRegression

    train, test = sides.encoded
    scale = 1 / train.domain.column_factor
    model = ExponentiatedGradient(LogisticRegression(C=100, max_iter=100), DemographicParity())
    model.fit(train.x * scale, train.y.astype(int), sensitive_features=train.z)
    return tuple(2.0 * model.predict(one.x * scale, random_state=seed) - 1 for one in (train, test))  # type: ignore[return-value]


def rivals() -> dict[str, tuple[Rival, ...]]:
    """Return all rivals, in the groups that ``--rivals`` takes."""
    added, replaced = "add_or_remove_one", "replace_one"
    plain = partial(explainable_boosting, added, settings={})
    tuned = {one: partial(explainable_boosting, one) for one in (added, replaced)}
    name = "explainable boosting, tuned"
    return {
        "interpret": (
            Rival("explainable boosting, as it comes", "interpret", plain, added),
            *(Rival(name, "interpret", tuned[one], one, fair=fair) for one in tuned for fair in (False, True)),
        ),
        "diffprivlib": (
            Rival(
                "logistic regression, as it comes",
                "diffprivlib",
                partial(diffprivlib_logistic, 1.0),
                replaced,
                "0",
            ),
            *(
                Rival(
                    "logistic regression, tuned",
                    "diffprivlib",
                    partial(diffprivlib_logistic, TUNED_PENALTY),
                    replaced,
                    "0",
                    fair,
                )
                for fair in (False, True)
            ),
        ),
        "scikit-learn": tuple(
            Rival(name, "scikit-learn", scorer, fair=fair)
            for name, scorer in (("logistic regression", logistic), ("gradient boosting", boosting))
            for fair in (False, True)
        ),
        "fairlearn": (
            Rival("thresholds for demographic parity", "fairlearn", fairlearn_thresholds),
            Rival("exponentiated gradient", "fairlearn", fairlearn_reduction),
        ),
    }


# --- Runs -------------------------------------------------------------------------------------------------------


class Task(NamedTuple):
    """One model at one budget; the repaired mechanism has a name only."""

    rival: Rival
    epsilon: str | None

    @property
    def budget(self) -> Budget | None:
        """What it may spend."""
        return None if self.epsilon is None else Budget(self.epsilon, self.rival.delta)

    @property
    def name(self) -> str:
        """Of its files in the store."""
        return f"{self.rival.library}, {self.rival.title}, {self.rival.adjacency}, {self.epsilon}"

    @property
    def beside(self) -> str:
        """Name of the repaired mechanism at the same budget."""
        return f"repaired, {'fair' if self.rival.fair else 'free'}, {self.rival.delta}, {self.epsilon}"


@dataclass(frozen=True)
class Run:
    """What is measured.

    Parameters
    ----------
    data : str
    splits, seed : int
    tasks : tuple of Task
    store : path
    """

    data: str
    splits: int
    tasks: tuple[Task, ...]
    store: Path
    seed: int = 0

    def place(self, name: str, encoding: str, split: int) -> Path:
        """Return the file of one model on one split."""
        return self.store / self.data / encoding / f"{name}, split {split}.json"

    def sides(self, encoding: str) -> Iterator[tuple[list[Sides], int]]:
        """Yield each split under each domain file of an encoding, and its number."""
        source = SOURCES[self.data]
        wholes = [source.read(one.with_(keep_group=True)) for one in encodings(self.data)[encoding]]
        numbers = wholes
        if encoding == "generic":
            # the bounds of numbers are declared: a rival that makes bins by itself gets the numbers
            numbers = [source.read(source.domain_file("one_hot").with_(keep_group=True))]
        for split in range(self.splits):
            train, test = SplitSpec(self.data, split=split, seed=self.seed).rows(len(wholes[0]))
            encoded, raw = ([(one.take(train), one.take(test)) for one in kind] for kind in (wholes, numbers))
            yield [Sides(*pair) for pair in zip(encoded, raw, strict=True)], split

    def fill(self, encoding: str) -> None:
        """Train every model on every split that the store does not have."""
        for parts, split in self.sides(encoding):
            domains = [Part({True: one.encoded[0]}) for one in parts]
            for task in self.tasks:
                mine = parts[0 if task.budget is None else finest(domains, task.budget)]
                wanted = {task.name: task.rival.run}
                if task.budget is not None:
                    wanted[task.beside] = partial(ours, task)
                for name, make in wanted.items():
                    file = self.place(name, encoding, split)
                    if not file.is_file():
                        file.parent.mkdir(parents=True, exist_ok=True)
                        found = make(mine, float(task.epsilon or 0), self.seed + split)
                        write_whole(file, json_text({**found, "columns": mine.encoded[0].domain.dimension}))
            sys.stderr.write(f"{self.data}, {encoding}: {split + 1} of {self.splits} splits\n")

    def row(self, task: Task, encoding: str) -> dict[str, Any] | None:
        """Return the means over the splits that the store has."""
        names = [task.name] if task.budget is None else [task.name, task.beside]
        found = [[self.place(name, encoding, split) for name in names] for split in range(self.splits)]
        done = [
            [json.loads(file.read_text()) for file in files] for files in found if all(f.is_file() for f in files)
        ]
        if not done:
            return None
        runs, beside = [one[0] for one in done], [one[-1] for one in done]
        rival = task.rival
        fair = rival.fair or rival.library == "fairlearn"
        return {
            "model": rival.title,
            "library": rival.library,
            "adjacency": rival.adjacency,
            "splits": len(done),
            "epsilon": task.epsilon,
            "delta": None if task.epsilon is None else rival.delta,
            "group_at_prediction": fair,
            "fairness": "demographic_parity" if fair else "none",
            "slack": "0",
            "encoding": encoding,
            "columns": runs[0]["columns"],
            **means(runs),
            "repaired": None if task.budget is None else means(beside),
            "ahead": None if task.budget is None else _ahead(runs, beside),
        }


def ours(task: Task, sides: Sides, _epsilon: float, seed: int) -> dict[str, float]:
    """Return the repaired mechanism on the same records."""
    train, test = sides.encoded
    fairness = "demographic_parity" if task.rival.fair else "none"
    assert task.budget is not None
    start = time.perf_counter()
    model = repaired_logistic(train, task.budget, fairness=fairness, noise="numpy", rng=seed)
    seconds = time.perf_counter() - start
    return {**measures(model.predict(test.x, test.z), test.y, test.z), "fit_seconds": seconds}


def _ahead(runs: list[dict[str, float]], beside: list[dict[str, float]]) -> dict[str, float | None]:
    """Return by how much the repaired mechanism is more accurate, split by split."""
    found = [mine["accuracy"] - one["accuracy"] for one, mine in zip(runs, beside, strict=True)]
    return {"mean": float(np.mean(found)), "std": float(np.std(found, ddof=1)) if len(found) > 1 else None}


def document(run: Run, asked: Sequence[str] | None = None) -> dict[str, Any]:
    """Return what the store has of these encodings; of all by default."""
    rows = (run.row(task, encoding) for encoding in asked or encodings(run.data) for task in run.tasks)
    libraries = {one.rival.library for one in run.tasks}
    return {
        "schema": "frontier_rivals_v1",
        "data": run.data,
        "note": f"{NOT_PRIVATE}; {SEEDED}",
        "ahead": "by how much the repaired mechanism is more accurate on the same splits",
        "libraries": {name: version(PACKAGES.get(name, name)) for name in sorted(libraries)},
        "test_share": 0.2,
        "seed": run.seed,
        "rows": [row for row in rows if row is not None],
    }


def joined(found: dict[str, Any], earlier: dict[str, Any]) -> dict[str, Any]:
    """Return a document with an earlier one's rows of other encodings.

    Raises
    ------
    ValueError
        When the earlier run differs in anything else, such as a library's version.
    """
    for name in found.keys() - {"rows"}:
        if found[name] != earlier.get(name):
            raise ValueError(f"the earlier run has another {name}: {earlier.get(name)}, this one {found[name]}")
    measured = {row["encoding"] for row in found["rows"]}
    return {**found, "rows": [row for row in earlier["rows"] if row["encoding"] not in measured] + found["rows"]}


HEAD = "| library | model | epsilon, privacy of | accuracy at risk difference | ours, same splits |"

NEIGHBOURS = {"add_or_remove_one": "adding or removing", "replace_one": "replacing", None: "not private"}

SHOWN = (None, "1")


def rival_table(found: dict[str, Any], encoding: str = "public") -> str:
    """Return the tuned rivals under one encoding as a table of a page; the file has the deviations."""
    lines = [HEAD, "|---" * 5 + "|"]
    for row in found["rows"]:
        if row["encoding"] == encoding and row["epsilon"] in SHOWN and "as it comes" not in row["model"]:
            delta = "" if row["delta"] in (None, DELTA) else f", delta {row['delta']}"
            privacy = NEIGHBOURS[row["adjacency"]]
            if row["epsilon"] is not None:
                privacy = f"{row['epsilon']}{delta}, {privacy}"
            ours = "" if row["repaired"] is None else _both(row["repaired"])
            lines.append("| " + " | ".join((row["library"], row["model"], privacy, _both(row), ours)) + " |")
    return "\n".join(lines)


def _both(found: dict[str, Any]) -> str:
    """Return accuracy at risk difference."""
    return " at ".join(f"{found[name]['mean']:.4f}" for name in ("accuracy", "risk_difference"))


PACKAGES = {"interpret": "interpret-core"}
"""Distributions that are not called as what they hold."""


def main() -> int:
    """Measure, and write one document."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers.frontier", description=__doc__)
    parser.add_argument("--data", choices=frontier.DATA, required=True)
    parser.add_argument("--splits", type=int, default=frontier.SPLITS)
    parser.add_argument("--epsilons", nargs="+", default=EPSILONS, metavar="E")
    parser.add_argument("--rivals", nargs="+", choices=tuple(rivals()), default=tuple(rivals()), metavar="LIBRARY")
    parser.add_argument("--encodings", nargs="+", choices=("generic", "public"), help="default: all")
    parser.add_argument("--join", type=Path, metavar="FILE", help="with an earlier run's other encodings")
    parser.add_argument("--store", type=Path, default=Path("build/rivals"), help="default: %(default)s")
    parser.add_argument("--stored", action="store_true", help="measure nothing: write what the store has")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--plot", type=Path, help="with docs/data/frontier-DATA.json: draw both (.svg or .png)")
    asked = parser.parse_args()
    tasks = tuple(
        Task(rival, epsilon)
        for name in asked.rivals
        for rival in rivals()[name]
        for epsilon in (asked.epsilons if rival.adjacency else (None,))
    )
    run = Run(asked.data, asked.splits, tasks, asked.store)
    with warnings.catch_warnings():
        # other libraries warn of convergence and of conversions; what they predict is measured all the same
        warnings.simplefilter("ignore")
        for encoding in () if asked.stored else asked.encodings or encodings(run.data):
            run.fill(encoding)
    found = document(run, asked.encodings)
    if asked.join is not None:
        found = joined(found, json.loads(asked.join.read_text()))
    write_whole(asked.out, json_text(found))
    if asked.plot is not None:
        ours_there = json.loads((DOCS / f"frontier-{run.data}.json").read_text())
        draw_frontier(ours_there, str(asked.plot), found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
