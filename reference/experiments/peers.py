"""Other libraries on the same splits, with fit times: ``python -m reference experiments peers``.

fairlearn and diffprivlib are imported only on request; where one is missing, the output says so.
Fit times are ratios to our PDFC in the same run on the same split: they compare implementations on one machine,
not methods.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from reference.budgets import Budget, SplitBudget
from reference.common.arrays import BoolArray, FloatArray
from reference.common.errors import MissingExtraError, ReadingError
from reference.common.page import Listing, Page
from reference.common.repeated import mean_and_deviation
from reference.experiments.outputs import SEEDED, said_missing
from reference.experiments.splits import PreparedSplit, SplitSpec, prepare
from reference.experiments.study import RunSpec, trained
from reference.experiments.variants import DEFAULT, VARIANTS, Variant
from reference.experiments.watch import NOBODY, Watch
from reference.experiments.zafar import constrained_regression, mean_covariance
from reference.fairness import predict, risk_difference
from reference.moments import Moments
from reference.records import Records
from reference.registry import MECHANISMS

SPLITS = 10

EPSILONS = ("0.1", "1", "10")

SHARES = ("0.5", "0.1", "0")
"""Zafar's bound, as shares of the covariance of the unconstrained minimiser on the same training records."""

BASELINE = "pdfc, epsilon 1"
"""The fit whose time divides the others'."""

Predictor = Callable[[FloatArray], BoolArray]


class NoMinimumError(Exception):
    """A method gave no predictor on this split."""


@dataclass(frozen=True)
class Method:
    """One way to train.

    Parameters
    ----------
    name : str
    library : str
        The distribution that it belongs to; ours is 'this project'.
    guarantee : str
        What is private, as its library states it.
    fit : callable
        Takes a split, whose training records it sees, and its specification, whose number seeds it;
        returns a predictor of encoded records.
    """

    name: str
    library: str
    guarantee: str
    fit: Callable[[PreparedSplit, SplitSpec], Predictor]


@dataclass(frozen=True)
class PeerDesign:
    """The records of a run, how often they are split, and the readings of our mechanisms.

    Parameters
    ----------
    data : str
    variant : Variant
    splits, seed, test_share, subset_size, delta
        As for the figures.
    epsilons : tuple of str
        With '1' among them.
    missing : str, optional
        The requested data set, if it is not there.

    Raises
    ------
    reference.common.errors.ReadingError
    """

    data: str
    variant: Variant = VARIANTS[DEFAULT]
    splits: int = SPLITS
    seed: int = 0
    test_share: float = 0.2
    subset_size: int | None = None
    delta: str = "1e-3"
    epsilons: tuple[str, ...] = EPSILONS
    missing: str | None = None

    def __post_init__(self) -> None:
        if "1" not in self.epsilons:
            raise ReadingError("epsilons", self.epsilons, f"with '1' among them: {BASELINE}, is the unit of time")


# --- Methods ----------------------------------------------------------------------------------------------------


def linear(w: Sequence[float] | FloatArray | None, threshold: float = 0.0) -> Predictor:
    """Return the predictor x.w > threshold."""
    if w is None:
        raise NoMinimumError
    return lambda x: predict(w, x) if threshold == 0.0 else x @ np.asarray(w) > threshold


def ours(design: PeerDesign, mechanism: str, epsilon: str | None) -> Method:
    """Return one of our mechanisms, fair where it has the term; its moments are computed within the fit."""
    facts = MECHANISMS[mechanism]
    delta = design.delta if facts.needs_delta else "0"

    def fit(split: PreparedSplit, on: SplitSpec) -> Predictor:
        fresh = PreparedSplit(split.train, split.test)
        budget: Budget | SplitBudget | None = None
        if epsilon is not None:
            kind = SplitBudget.from_ratio if facts.split_budget else None
            d = split.train.domain.dimension
            budget = kind(epsilon, design.variant.epsilon_ratio, d, delta) if kind else Budget(epsilon, delta)
        readings = (
            design.variant.readings_of(fair=facts.readings.fairness != "none") if facts.private else facts.readings
        )
        x_s = split.train.domain.columns[0] if facts.split_budget else None
        return linear(trained(RunSpec(on, mechanism, budget, readings, x_s), fresh)[1].w)

    stated = "none" if epsilon is None else f"epsilon {epsilon}" + (f", delta {delta}" if delta != "0" else "")
    return Method(mechanism if epsilon is None else f"{mechanism}, epsilon {epsilon}", "this project", stated, fit)


def zafar(share: str) -> Method:
    """Return Zafar's constraint with a share of the unconstrained covariance as bound."""

    def fit(split: PreparedSplit, _: SplitSpec) -> Predictor:
        train = split.train
        z = groups(train)
        free = constrained_regression(train.x, train.y, z, np.inf)
        bound = float(share) * abs(float(mean_covariance(train.x, z) @ free.w))
        return linear(constrained_regression(train.x, train.y, z, bound).w)

    return Method(f"Zafar's constraint, {share} of the covariance", "this project", "none", fit)


def scikit_learn() -> Method:
    """Return scikit-learn's logistic regression by default: penalised, with an intercept outside the norm."""
    from sklearn.linear_model import LogisticRegression

    def fit(split: PreparedSplit, _: SplitSpec) -> Predictor:
        model = LogisticRegression(max_iter=1000).fit(split.train.x, split.train.y)
        return lambda x: np.asarray(model.predict(x) == 1.0)

    return Method("logistic regression", "scikit-learn", "none", fit)


def fairlearn_reduction() -> Method:
    """Return fairlearn's exponentiated gradient under demographic parity; its predictions are drawn at random."""
    from sklearn.linear_model import LogisticRegression

    reductions = peer("fairlearn", "fairlearn.reductions")

    def fit(split: PreparedSplit, on: SplitSpec) -> Predictor:
        model = reductions.ExponentiatedGradient(
            LogisticRegression(max_iter=1000), constraints=reductions.DemographicParity()
        )
        model.fit(split.train.x, split.train.y.astype(int), sensitive_features=groups(split.train).astype(int))
        return lambda x: np.asarray(model.predict(x, random_state=on.split) == 1)

    return Method("exponentiated gradient, demographic parity", "fairlearn", "none", fit)


def diffprivlib_logistic(epsilon: str) -> Method:
    """Return diffprivlib's logistic regression with the declared norm of x, without an intercept."""
    models = peer("diffprivlib", "diffprivlib.models")

    def fit(split: PreparedSplit, on: SplitSpec) -> Predictor:
        norm = largest_norm(split.train)
        model = models.LogisticRegression(
            epsilon=float(epsilon), data_norm=norm, fit_intercept=False, random_state=on.split, max_iter=1000
        ).fit(split.train.x, split.train.y.astype(int))
        return lambda x: np.asarray(model.predict(x) == 1)

    return Method(f"logistic regression, epsilon {epsilon}", "diffprivlib", f"epsilon {epsilon}", fit)


def diffprivlib_linear(epsilon: str) -> Method:
    """Return diffprivlib's linear regression of the label, positive above 1/2, with the declared bounds."""
    models = peer("diffprivlib", "diffprivlib.models")

    def fit(split: PreparedSplit, on: SplitSpec) -> Predictor:
        factor = split.train.domain.column_factor
        model = models.LinearRegression(
            epsilon=float(epsilon),
            bounds_X=(0.0, factor),
            bounds_y=(0.0, 1.0),
            fit_intercept=False,
            random_state=on.split,
        ).fit(split.train.x, split.train.y)
        return linear(np.ravel(model.coef_), 0.5)

    return Method(f"linear regression, epsilon {epsilon}", "diffprivlib", f"epsilon {epsilon}", fit)


def peer(distribution: str, module: str) -> Any:
    """Return a module of another library.

    Raises
    ------
    reference.common.errors.MissingExtraError
    """
    try:
        return import_module(module)
    except ImportError as problem:
        raise MissingExtraError("a comparison on the same splits", distribution, "peers") from problem


def groups(records: Records) -> FloatArray:
    """Return z of records that have groups."""
    assert records.z is not None
    return records.z


def largest_norm(records: Records) -> float:
    """Return the largest |x|_2 that the declared domain allows: never the data's own."""
    domain = records.domain
    return 1.0 if domain.norm == "unit_ball" else float(np.sqrt(domain.dimension))


def methods(design: PeerDesign) -> tuple[list[Method], dict[str, str]]:
    """Return the methods that can be run, and why others cannot."""
    found = [ours(design, "lr", None), ours(design, "no_privacy", None), *(zafar(share) for share in SHARES)]
    private = ("functional", "relaxed_functional", "pdfc", "adfc")
    found += [ours(design, mechanism, epsilon) for mechanism in private for epsilon in design.epsilons]
    found.append(scikit_learn())
    absent = {}
    for library, makers in (
        ("fairlearn", [fairlearn_reduction]),
        (
            "diffprivlib",
            [
                lambda e=epsilon, make=make: make(e)
                for make in (diffprivlib_logistic, diffprivlib_linear)
                for epsilon in design.epsilons
            ],
        ),
    ):
        try:
            found += [make() for make in makers]
        except MissingExtraError as problem:
            absent[library] = str(problem)
    return found, absent


# --- Runs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fitted:
    """One method on one split.

    Parameters
    ----------
    accuracy, majority_accuracy, risk_difference, positive_rate, seconds : float or None
        None without a predictor; seconds of the fit alone.
    error : str
        Why there is no predictor; '' where there is one.
    """

    accuracy: float | None
    majority_accuracy: float
    risk_difference: float | None
    positive_rate: float | None
    seconds: float
    error: str = ""


def fitted(method: Method, split: PreparedSplit, on: SplitSpec) -> Fitted:
    """Fit one method, timed, and measure it on the held-out records."""
    test = split.test
    majority = max(float(test.y.mean()), 1 - float(test.y.mean()))
    start = time.perf_counter()
    with warnings.catch_warnings():
        # other libraries warn of conversions and of convergence; their predictions are measured all the same
        warnings.simplefilter("ignore")
        try:
            predictor = method.fit(split, on)
        except NoMinimumError:
            return Fitted(None, majority, None, None, time.perf_counter() - start, "no minimum")
        seconds = time.perf_counter() - start
        prediction = predictor(test.x)
    return Fitted(
        float((prediction == (test.y == 1.0)).mean()),
        majority,
        risk_difference(prediction, groups(test)),
        float(prediction.mean()),
        seconds,
    )


def measure(design: PeerDesign, *, watch: Watch = NOBODY) -> dict[str, Any]:
    """Run every method on every split, one after the other in one process, so that fit times can be compared."""
    run, absent = methods(design)
    found: dict[str, list[Fitted]] = {_key(method): [] for method in run}
    with threadpool_limits(limits=1):
        watch.expect(design.splits * len(run))
        for number in range(design.splits):
            encoding = design.variant.encoding
            on = SplitSpec(design.data, encoding, design.subset_size, design.test_share, number, design.seed)
            split = prepare(on)
            # once before timing, to fill tables of noise and sensitivity and touch pages of memory
            Moments.of(split.train)
            for method in run:
                if number == 0:
                    fitted(method, split, on)
                found[_key(method)].append(fitted(method, split, on))
                watch.released(method.name)
    base = [one.seconds for one in found[f"this project: {BASELINE}"]]
    return {
        "schema": "experiment_peers_v1",
        "data": design.data,
        "missing_data": design.missing,
        "note": f"{SEEDED}; other libraries' private models are seeded here too",
        "seed": design.seed,
        "splits": design.splits,
        "test_share": design.test_share,
        "subset_size": design.subset_size,
        "readings": design.variant.to_json(),
        "versions": {name: _version(name) for name in ("scikit-learn", "fairlearn", "diffprivlib")},
        "absent": absent,
        "fit_time": f"median ratio to {BASELINE}, checked records to predictor, one thread; on one machine",
        "rows": [
            {
                "method": method.name,
                "library": method.library,
                "guarantee": method.guarantee,
                **_summary(found[_key(method)], base),
            }
            for method in run
        ],
    }


def _key(method: Method) -> str:
    return f"{method.library}: {method.name}"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _summary(runs: Sequence[Fitted], base: Sequence[float]) -> dict[str, Any]:
    known = [one for one in runs if not one.error]
    gains = [one.accuracy - one.majority_accuracy for one in known if one.accuracy is not None]
    ratios = [one.seconds / other for one, other in zip(runs, base, strict=True)]
    return {
        "runs": len(runs),
        "without_predictor": len(runs) - len(known),
        "constant": sum(one.positive_rate in (0.0, 1.0) for one in known),
        "accuracy": mean_and_deviation([one.accuracy for one in known]),
        "majority_accuracy": mean_and_deviation([one.majority_accuracy for one in runs]),
        "gain_over_majority": mean_and_deviation(gains),
        "risk_difference": mean_and_deviation([one.risk_difference for one in known]),
        "positive_rate": mean_and_deviation([one.positive_rate for one in known]),
        "fit_time_ratio": {
            "median": float(np.median(ratios)),
            "lowest": float(np.min(ratios)),
            "highest": float(np.max(ratios)),
        },
    }


# --- Output -----------------------------------------------------------------------------------------------------


def as_text(document: dict[str, Any], page: Page) -> str:
    """Return one table."""
    return page.text(*_parts(document))


def _parts(document: dict[str, Any]) -> Iterator[Listing | str]:
    yield from said_missing(document)
    yield Listing(
        f"{document['data']}, the same {document['splits']} splits for every method",
        ("library", "method", "private", "accuracy", "gain", "RD", "positive rate", "fit time", "notes"),
        tuple(tuple(cells(row)) for row in document["rows"]),
    )
    for library, why in document["absent"].items():
        yield f"{library} IS NOT THERE and was not run: {why}"
    majority = spread_text(document["rows"][0]["majority_accuracy"])
    yield (
        f"The majority class has accuracy {majority}, risk difference 0.  Fit time: {document['fit_time']}.  "
        f"{document['note']}."
    )


def cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of one row, as text."""
    notes = []
    if row["without_predictor"]:
        notes.append(f"{row['without_predictor']} without minimum")
    if row["constant"]:
        notes.append(f"{row['constant']} of {row['runs']} constant")
    columns = ("accuracy", "gain_over_majority", "risk_difference", "positive_rate")
    return [
        row["library"],
        row["method"],
        row["guarantee"],
        *(spread_text(row[name]) for name in columns),
        "{median:.2g} ({lowest:.2g} to {highest:.2g})".format(**row["fit_time_ratio"]),
        ", ".join(notes),
    ]


def spread_text(value: dict[str, float | None]) -> str:
    """Return mean and standard deviation in three digits."""
    if value["mean"] is None:
        return "–"
    return f"{value['mean']:.3f}" + ("" if value["std"] is None else f" ± {value['std']:.3f}")
