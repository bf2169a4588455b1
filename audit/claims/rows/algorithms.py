"""The algorithms: existence of arg min, cost of repairs, choice of x_s, and scaling by the data's maximum."""

from __future__ import annotations

import ast
import importlib.util
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from audit.bounds import lower_bound_on_probability, upper_bound_on_probability
from audit.claims.data import load
from audit.claims.registry import Control, Evidence, Finding, claim, seed
from audit.claims.rows.tuples import Database, l1_change, record
from audit.exact.enclosures import written
from audit.exact.neighbours import extreme_neighbours
from audit.exact.released_weights import released_weights
from audit.exact.symbolic import sensitivity as symbolic
from audit.exact.witnesses import domain_of, readings_of
from reference import datasets, mechanisms
from reference.budgets import Budget, SplitBudget
from reference.common.arrays import BoolArray, FloatArray
from reference.common.balls import Ball, ball, enclosed
from reference.common.numbers import Enclosure, decimal_above, decimal_below
from reference.datasets import Encoding
from reference.domain import Domain, ball_corner
from reference.minimiser import minimise
from reference.moments import Moments
from reference.noise import Noise, add_noise, draw
from reference.objective import objective
from reference.readings import Readings
from reference.records import Records, check_matrix
from reference.registry import MECHANISMS
from reference.sensitivity import Setting, exact_l1, published_l1_sensitivity

ONE, ZERO = Fraction(1), Fraction(0)

SIGNIFICANCE = 1e-6
"""Chance that any of the bounds of one row is wrong."""

DIGITS = 12


def ends(found: Enclosure) -> Any:
    """Return an enclosure as JSON."""
    return written(decimal_below(found.lower, DIGITS), decimal_above(found.upper, DIGITS), DIGITS)


# --- A.argmin ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Share:
    """The share of draws whose noisy quadratic was not positive definite.

    Parameters
    ----------
    indefinite, draws : int
    significance : float
        For both bounds together.
    """

    indefinite: int
    draws: int
    significance: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Clopper-Pearson bounds on the probability, each at half the significance."""
        half = self.significance / 2
        return (
            lower_bound_on_probability(self.indefinite, self.draws, half),
            upper_bound_on_probability(self.indefinite, self.draws, half),
        )


def share_without_minimum(
    records: Records, name: str, epsilon: str, *, draws: int, seed: int, significance: float
) -> Share:
    """Draw a mechanism's noisy quadratic on a data set and count how often it is not positive definite.

    Parameters
    ----------
    records : Records
    name : str
        A private mechanism; its budget is epsilon_s = epsilon_n = epsilon, with delta 1e-3 if it takes one.
    epsilon : str
    draws, seed : int
    significance : float
    """
    spec = MECHANISMS[name]
    delta = "1e-3" if spec.needs_delta else "0"
    budget = SplitBudget.equal(epsilon, delta) if spec.split_budget else Budget(epsilon, delta)
    values = objective(Moments.of(records), spec.readings).values
    noise = spec.noise(records.domain, budget, spec.readings, 0)
    noisy = add_noise(values, noise, draw(noise, np.random.default_rng(seed), draws))
    _, definite = released_weights(noisy, noise, records.domain.dimension)
    return Share(int((~definite).sum()), draws, significance)


SAME_TWICE = "education-num"
"""The rank of Adult's `education`, so that a quadratic with both is singular before any noise."""


def leading(records: Records, size: int, dimension: int) -> Records:
    """Return the first records and coordinates of a data set on the unit box, scaled into the unit ball."""
    kept = [index for index, name in enumerate(records.domain.columns) if name != SAME_TWICE][:dimension]
    if len(kept) < dimension:
        raise ValueError(f"the data have {len(kept)} coordinates, not {dimension}")
    x = records.x[:size, kept] * ball_corner(dimension)
    domain = Domain.of_columns([records.domain.columns[index] for index in kept])
    return check_matrix(domain, x, records.y[:size], None if records.z is None else records.z[:size])


def shares(name: str, sizes: tuple[int, ...], dimensions: tuple[int, ...], draws: int) -> list[dict[str, Any]]:
    """Return shares without a minimum on a data set by n, d and epsilon; all bounds hold together."""
    records = datasets.load(name, Encoding(norm="unit_box"))
    cells = list(product(("pdfc", "adfc"), sizes, dimensions, ("0.01", "0.1", "1", "10")))
    rows = []
    for index, (mechanism, n, d, epsilon) in enumerate(cells):
        data = leading(records, n, d)
        share = share_without_minimum(
            data, mechanism, epsilon, draws=draws, seed=seed() + index, significance=SIGNIFICANCE / len(cells)
        )
        low, high = share.bounds
        rows.append(
            {
                "mechanism": mechanism,
                "n": len(data),
                "d": d,
                "epsilon": epsilon,
                "without minimum": f"{share.indefinite} of {draws}",
                "probability": {"lo": round(low, 6), "hi": round(high, 6)},
            }
        )
    return rows


OFTEN = 1e-3
"""A share of draws without a minimum that counts as often."""


def same_records(count: int, x: float) -> Records:
    """Return records at one point of the unit interval, half of them of each group."""
    domain = Domain.of_columns(["x1"])
    return check_matrix(domain, np.full((count, 1), x), np.arange(count) % 2, np.arange(count) // 2 % 2)


def one_dimensional_probability(count: int, epsilon: Fraction) -> Enclosure:
    """Enclose the probability that PDFC's quadratic is not positive for `count` records at x = 1, d = 1.

    The quadratic is count/8 plus Laplace noise of scale (13/4)/epsilon.
    """
    scale = published_l1_sensitivity("absolute", 1) / epsilon
    return enclosed(lambda: half_exp(-Fraction(count, 8) / scale))


def half_exp(exponent: Fraction) -> Ball:
    """Return exp(x)/2 as a ball: for x < 0 the tail of Laplace noise at -x scales."""
    return ball(exponent).exp() / 2


def has_no_minimum_often(records: Records, epsilon: str) -> bool:
    """Return whether more than a share OFTEN of the draws certainly has no minimum."""
    share = share_without_minimum(records, "pdfc", epsilon, draws=2000, seed=seed(), significance=SIGNIFICANCE)
    return share.bounds[0] > OFTEN


ARGMIN_SYMBOLS = (
    "reference.minimiser.minimise",
    "reference.mechanisms.pdfc_noise",
    "reference.mechanisms.adfc_noise",
    "audit.exact.released_weights.released_weights",
    "audit.claims.rows.algorithms.shares",
    "audit.claims.rows.algorithms.share_without_minimum",
    "audit.claims.rows.algorithms.leading",
)


@claim(
    "A.argmin",
    "The minimum w-hat = arg min of the noisy objective exists.",
    "Algorithm 1, line 24; Algorithm 2, line 10; Algorithm 3, line 25",
    readings=(
        "no repair",
        "any data: noise on a diagonal coefficient alone makes it negative with some probability",
    ),
    symbols=ARGMIN_SYMBOLS,
    verdict="refuted",
    null=Control(
        "PDFC on the embedded data at epsilon = 10^6, where noise is small",
        lambda: has_no_minimum_often(embedded(), "1e6"),
    ),
    broken=Control(
        "PDFC on records at x = 0 at epsilon = 1, where the quadratic is noise alone",
        lambda: has_no_minimum_often(same_records(100, 0.0), "1"),
    ),
    paper_step="'Compute w-hat = arg min_w f-hat(D, w)'",
    why="Noise makes the matrix of quadratic coefficients indefinite, and the objective is then unbounded below.",
    repaired="Say what you do without a minimum: report it, or apply a repair of A.fix.",
    advice="Use a repair that is post-processing; never draw again (A.fix.resample).",
    rerun=("python -m reference fit --data affairs --mechanism pdfc --repair none --epsilon 0.1 --splits 10",),
    drawn=True,
)
def minimum_exists() -> Finding:
    """Enclose the probability in one dimension, and measure it on the embedded data by n, d and epsilon."""
    exact = []
    for count, epsilon in ((1, ONE), (100, ONE), (100, Fraction(1, 10)), (10_000, Fraction(1, 10))):
        exact.append(
            {"n": count, "epsilon": str(epsilon), "no minimum": ends(one_dimensional_probability(count, epsilon))}
        )
    rows = shares("affairs", (100, 1000, 6366), (2, 4, 7), 2000)
    evidence = {
        "d = 1, n records at x = 1, PDFC: exp(-n epsilon/26)/2": exact,
        "embedded data (affairs), unit ball, bounds at significance 1e-6 in all": rows,
    }
    # the closed form is positive anyway; the algorithm's own draws without a minimum decide
    observed = any(row["probability"]["lo"] > OFTEN for row in rows)
    return Finding("refuted" if observed else "undecided", "none", evidence)


def embedded() -> Records:
    """Return the embedded data in the unit ball."""
    return leading(load("affairs", Encoding(norm="unit_box")), 10**6, 4)


@claim(
    "A.argmin.adult",
    "On Adult, the minimum w-hat = arg min of the noisy objective exists.",
    "Algorithms 1 and 3 in Section 'Performance Evaluation'",
    readings=("no repair", "unit_ball, ordinal encoding without education-num, first n records and d attributes"),
    symbols=ARGMIN_SYMBOLS,
    verdict="refuted",
    needs=("data",),
    null=Control(
        "PDFC on Adult at epsilon = 10^6, where noise is small", lambda: has_no_minimum_often(adult(11), "1e6")
    ),
    broken=Control(
        "PDFC on Adult at epsilon = 0.01, where it is large", lambda: has_no_minimum_often(adult(11), "0.01")
    ),
    paper_step="'Compute w-hat = arg min_w f-hat(D, w)'",
    why="At the paper's budgets the noise exceeds the smallest eigenvalues of sum x x'/8 by far.",
    repaired="As for A.argmin.",
    advice="As for A.argmin.",
    rerun=("python -m reference fit --data adult --mechanism pdfc --repair none --epsilon 0.1 --splits 10",),
    drawn=True,
)
def minimum_exists_on_adult() -> Finding:
    """Measure how often there is no minimum on Adult, by n, d and epsilon."""
    rows = shares("adult", (1000, 10_000, 48_842), (2, 5, 11), 2000)
    at_papers_size = [row for row in rows if row["n"] > 10_000 and row["d"] == 11]
    refuted = any(row["probability"]["lo"] > 0.5 for row in at_papers_size)
    return Finding(
        "refuted" if refuted else "undecided", "none", {"Adult, bounds at significance 1e-6 in all": rows}
    )


def adult(dimension: int) -> Records:
    """Return Adult in the unit ball, its first coordinates only."""
    return leading(load("adult", Encoding(norm="unit_box")), 10**6, dimension)


# --- A.fix: repairs that are post-processing --------------------------------------------------------------------

READS_RECORDS = ("moments", "objective", "records", "domain", "datasets")

PUBLIC = {"Domain", "Budget", "SplitBudget", "Readings", "int", "NoisyCoefficients"}


def imported(source: str) -> set[str]:
    """Return the modules of `reference` that a source imports at run time, anywhere in the file."""
    tree = ast.parse(source)
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    names: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.split(".")[0] == "reference"}


def reaches_records(source: str) -> bool:
    """Return whether a module can reach, through its imports, code that reads records."""
    seen: set[str] = set()
    todo = list(imported(source))
    while todo:
        name = todo.pop()
        path = _path(name)
        if name in seen or path is None:
            continue
        seen.add(name)
        todo.extend(imported(path.read_text(encoding="utf-8")))
    return any(name.split(".")[1] in READS_RECORDS for name in seen if "." in name)


def _path(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ModuleNotFoundError, AttributeError):
        return None
    return None if spec is None or spec.origin is None else Path(spec.origin)


def takes_more_than_public(function: Callable[..., Any]) -> bool:
    """Return whether an argument is neither public nor the noisy coefficients."""
    kinds = (str(parameter.annotation) for parameter in inspect.signature(function).parameters.values())
    return not {kind.removeprefix("<class '").removesuffix("'>").split(".")[-1] for kind in kinds} <= PUBLIC


GRID = 4
"""Probabilities of :func:`processing_loses_more` are multiples of 1/GRID."""


def processing_loses_more() -> bool:
    """Return whether some function of the output needs a larger delta than the output, over a finite grid.

    All pairs of distributions on three outputs with probabilities k/GRID, all functions to three outputs,
    exp(epsilon) in {1, 3/2, 3}.
    """
    laws = [p for p in product([Fraction(k, GRID) for k in range(GRID + 1)], repeat=3) if sum(p) == 1]
    for p, q, factor in product(laws, laws, (ONE, Fraction(3, 2), Fraction(3))):
        least = sum(max(a - factor * b, ZERO) for a, b in zip(p, q, strict=True))
        for function in product(range(3), repeat=3):
            after = ZERO
            for value in range(3):
                mass = [sum(law[s] for s in range(3) if function[s] == value) for law in (p, q)]
                after += max(mass[0] - factor * mass[1], ZERO)
            if after > least:
                return True
    return False


def draws_again(function: Callable[..., Any]) -> bool:
    """Return whether the module of a function names a source of randomness."""
    tree = ast.parse(inspect.getsource(inspect.getmodule(function) or function))
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return bool(names & {"random", "default_rng", "draw", "generator", "rng"})


@claim(
    "A.fix",
    "You pay no privacy for shifting by a public constant, trimming the spectrum and minimising over a public "
    "ball.",
    "no step of the paper; Zhang et al. 2012, section 6, has shift and trim",
    readings=("repairs shift_and_trim, trim and ball, and none, of this package",),
    symbols=(
        "reference.minimiser",
        "reference.mechanisms.pdfc",
        "reference.mechanisms.adfc",
        "reference.noise.Noise",
    ),
    verdict="argued",
    null=Control(
        "the minimiser's module, whose imports reach no code that reads records",
        lambda: reaches_records(inspect.getsource(_module_of(minimise))),
    ),
    broken=Control(
        "a module that also imports the moments, which read records", lambda: reaches_records(WITH_MOMENTS)
    ),
    why=(
        "The minimiser gets the noisy coefficients and public constants, reaches no code that reads records, and"
        " draws nothing. So w is a function of the noisy coefficients, and loses no more than they do."
    ),
    advice="Any further repair must keep to these conditions.",
    rerun=("python -m reference fit --data affairs --mechanism pdfc --repair ball",),
)
def repairs_are_free() -> Finding:
    """Check what the minimiser can reach, takes and draws; and try all post-processing on a finite grid."""
    noises = [
        getattr(mechanisms, f"{name}_noise") for name in ("functional", "relaxed_functional", "pdfc", "adfc")
    ]
    facts = {
        "the minimiser reaches code that reads records": reaches_records(inspect.getsource(_module_of(minimise))),
        "it takes more than noisy coefficients and public constants": takes_more_than_public(minimise),
        "it draws": draws_again(minimise),
        "the noise of a mechanism takes more than public constants": any(map(takes_more_than_public, noises)),
        "a function of the output needs a larger delta (finite grid)": processing_loses_more(),
    }
    # the argument needs each fact; without one the claim may still be true
    return Finding("argued" if not any(facts.values()) else "undecided", "none", facts)


def _module_of(function: Callable[..., Any]) -> Any:
    return inspect.getmodule(function)


WITH_MOMENTS = "from reference.coefficients import NoisyCoefficients\nfrom reference.moments import Moments\n"


# --- A.fix.resample ---------------------------------------------------------------------------------------------

HALF = Fraction(1, 2)

AT_ZERO = Database.of(record([0], 0, 0))
WITH_ONE_MORE = Database.of(record([0], 0, 0), record([1], 0, 0))
"""d = 1, add_or_remove_one: the added record has x = 1."""

CLOSE = Fraction(1, 10**6)
"""Width of the event's window for the quadratic coefficient."""

FAR = Fraction(10**4)
"""Threshold of the event on w-hat."""


def resampling_loss(epsilon: Fraction, *, resampled: bool = True) -> Enclosure:
    """Enclose the loss of one event under Laplace noise calibrated to the exact l1-sensitivity, 5/8.

    The event: c-hat <= 0 and 0 < q-hat <= CLOSE.  On the left c = q = 0, on the right c = 1/2, q = 1/8.  Without
    conditioning its loss is (1/2 + 1/8 - CLOSE)/b < epsilon.  Drawing until q-hat > 0 divides by P(q-hat > 0),
    1/2 on the left and 1 - exp(-1/(8b))/2 on the right, and adds log(2 - exp(-1/(8b))).
    """
    left, right = (data.linear("none")[0] for data in (AT_ZERO, WITH_ONE_MORE))
    low, high = (data.quadratic[0][0] for data in (AT_ZERO, WITH_ONE_MORE))
    scale = l1_change(AT_ZERO, WITH_ONE_MORE, "none") / epsilon

    def loss() -> Ball:
        of_event = ball((right - left + high - low - CLOSE) / scale)
        if not resampled:
            return of_event
        accepted = [1 - half_exp(-q / scale) for q in (low, high)]
        return of_event + (accepted[1] / accepted[0]).log()

    return enclosed(loss)


def resampling_loss_of_w(epsilon: Fraction, threshold: Fraction) -> Enclosure:
    """Enclose the loss of the event w-hat > W on the published w-hat = -c-hat/(2 q-hat), drawn until q-hat > 0.

    In units of b: P(c-hat < -2qW) = exp(-2qW - c)/2.  Integrated over q > 0 against Laplace noise at 0 and at q'.
    """
    scale = l1_change(AT_ZERO, WITH_ONE_MORE, "none") / epsilon

    def loss() -> Ball:
        w = ball(threshold)
        c = ball(WITH_ONE_MORE.linear("none")[0] / scale)
        q = ball(WITH_ONE_MORE.quadratic[0][0] / scale)
        left = 1 / (1 + 2 * w) / ball(HALF)
        right = (-q).exp() * (1 - (-(2 * w - 1) * q).exp()) / (2 * w - 1) + (-2 * w * q).exp() / (2 * w + 1)
        return (left / ((-c).exp() * right / (1 - (-q).exp() / 2))).log()

    return enclosed(loss)


def retry_loss(epsilon: Fraction, retries: int) -> Fraction:
    """Return the loss of the event that at least `retries` draws were rejected, if their number is seen.

    A draw is rejected with probability exp(-q/b)/2: the ratio is exp(retries (q' - q)/b).
    """
    scale = l1_change(AT_ZERO, WITH_ONE_MORE, "none") / epsilon
    return retries * (WITH_ONE_MORE.quadratic[0][0] - AT_ZERO.quadratic[0][0]) / scale


def acceptance(dimension: int, epsilon: float, draws: int, seed: int) -> dict[str, Any]:
    """Measure how much more often a draw is accepted with one record at (1, ..., 1) than without it, on the box.

    All other records are at 0.  One noise matrix serves both, and acceptance without the record implies acceptance
    with it, because the record adds a positive semidefinite matrix; so the ratio is one conditional probability.
    """
    d = dimension
    setting = Setting(d, "none", "unit_box", "add_or_remove_one")
    scale = float(exact_l1(setting).upper) / epsilon
    rows, columns = np.triu_indices(d)
    unit = np.random.default_rng(seed).laplace(size=(draws, len(rows)))
    matrices = np.zeros((draws, d, d))
    matrices[:, rows, columns] = np.where(rows == columns, 1.0, 0.5) * unit * scale
    matrices[:, columns, rows] = matrices[:, rows, columns]
    without, including = are_definite(matrices), are_definite(matrices + 1 / 8)
    both, one = int((without & including).sum()), int(including.sum())
    high = upper_bound_on_probability(both, one, SIGNIFICANCE / 10)
    return {
        "d": d,
        "epsilon": epsilon,
        "accepted without the record, with it": [int(without.sum()), one],
        "loss is at least": epsilon - float(np.log(high)),
    }


def are_definite(matrices: FloatArray) -> BoolArray:
    """Return which symmetric matrices are positive definite: all pivots of elimination are positive."""
    rest, found = matrices, np.ones(len(matrices), dtype=bool)
    for _ in range(matrices.shape[1]):
        pivots, row = rest[:, 0, 0], rest[:, 0, 1:]
        found &= pivots > 0
        # after a pivot that is not positive, the rest does not matter
        divisors = np.where(pivots > 0, pivots, 1.0)[:, None, None]
        rest = rest[:, 1:, 1:] - row[:, :, None] * row[:, None, :] / divisors
    return found


def resampling_exceeds(epsilon: Fraction, *, resampled: bool) -> bool:
    """Return whether the event's loss is certainly above epsilon."""
    return resampling_loss(epsilon, resampled=resampled).lower > epsilon


@claim(
    "A.fix.resample",
    "You pay no privacy for drawing the noise again until the objective has a minimum.",
    "no step of the paper; the other way to make its arg min exist",
    readings=(
        "functional mechanism, fairness none, Delta_1 the exact sensitivity, add_or_remove_one",
        "d = 1 exactly; d = 2 to 4 on the unit box, measured",
    ),
    symbols=(
        "reference.minimiser.minimise",
        "reference.mechanisms.functional_noise",
        "reference.sensitivity.exact_l1",
    ),
    verdict="refuted",
    null=Control("an event when the noise is drawn once", lambda: resampling_exceeds(ONE, resampled=False)),
    broken=Control(
        "the same event when the noise is drawn until there is a minimum",
        lambda: resampling_exceeds(ONE, resampled=True),
    ),
    why=(
        "Drawing again divides each density by its own probability of acceptance, which depends on the data. "
        "Whoever sees the number of draws, or the time they take, learns that probability directly."
    ),
    repaired=(
        "The loss is at most epsilon plus that of the quadratic coefficients alone, so at most 2 epsilon, if the"
        " number of draws stays secret. With the published Delta_1 and one scale its slack pays for this."
    ),
    advice="Use shift_and_trim, trim or ball. If you must draw again, hide the number of draws and pay twice.",
    drawn=True,
)
def resampling() -> Finding:
    """Enclose the loss of an event, and of the number of draws, in one dimension; measure it in more."""
    exact = [
        {
            "epsilon": str(epsilon),
            "loss of the event": ends(resampling_loss(epsilon)),
            "without resampling": ends(resampling_loss(epsilon, resampled=False)),
            "limit: epsilon + log(2 - exp(-epsilon/5))": ends(limit_of_resampling(epsilon)),
            "loss of the event w-hat > 10000 on the published w-hat": ends(resampling_loss_of_w(epsilon, FAR)),
            "loss when 10 rejected draws are seen": str(retry_loss(epsilon, 10)),
        }
        for epsilon in (Fraction(1, 10), ONE, Fraction(10))
    ]
    measured = [acceptance(d, epsilon, 200_000, seed() + d) for d in (2, 3, 4) for epsilon in (1.0, 10.0)]
    slack = {lemma: sp.expand(symbolic.slack(lemma) - symbolic.d**2 / 8) for lemma in ("L1", "L2")}
    paid = all(sp.expand(value - (symbolic.d - 1) / 2) == 0 for value in slack.values())
    evidence = {
        "left": AT_ZERO.to_json(),
        "right": WITH_ONE_MORE.to_json(),
        "event": "c-hat <= 0 and 0 < q-hat <= 1/1000000",
        "exact l1-sensitivity": str(l1_change(AT_ZERO, WITH_ONE_MORE, "none")),
        "d = 1": exact,
        "more dimensions, one record at (1, ..., 1), bounds at significance 1e-6 in all": measured,
        "published Delta_1 minus exact Delta_1 minus d^2/8, at least": {k: str(v) for k, v in slack.items()},
        "so with the published Delta_1, one scale and a secret number of draws the claim stands": paid,
    }
    epsilons = (Fraction(1, 10), ONE, Fraction(10))
    refuted = all(resampling_exceeds(epsilon, resampled=True) for epsilon in epsilons)
    refuted = refuted and all(resampling_loss_of_w(epsilon, FAR).lower > epsilon for epsilon in epsilons)
    return Finding("refuted" if refuted and paid else "undecided", "none", evidence)


def limit_of_resampling(epsilon: Fraction) -> Enclosure:
    """Enclose epsilon + log(2 - exp(-epsilon/5)), the loss of the event as its window shrinks."""
    return enclosed(lambda: ball(epsilon) + (2 - ball(-epsilon / 5).exp()).log())


# --- A.xs -------------------------------------------------------------------------------------------------------


def mixture_delta(
    choices: tuple[Mapping[str, Fraction], Mapping[str, Fraction]],
    outputs: Mapping[str, tuple[Mapping[str, Fraction], Mapping[str, Fraction]]],
    factor: Fraction,
) -> Fraction:
    """Return the smallest delta for events, at exp(epsilon) = factor, if s is drawn and also published.

    Parameters
    ----------
    choices : pair of mappings
        P(s) on either data set.
    outputs : mapping
        For each s the distributions of the output on either data set.
    factor : Fraction
    """
    total = ZERO
    for s, (left, right) in outputs.items():
        for value in left:
            total += max(choices[0][s] * left[value] - factor * choices[1][s] * right[value], ZERO)
    return total


TWO_MECHANISMS = {
    "x1": ({"a": Fraction(3, 4), "b": Fraction(1, 4)}, {"a": Fraction(1, 4), "b": Fraction(3, 4)}),
    "x2": ({"a": Fraction(1, 2), "b": Fraction(1, 2)}, {"a": Fraction(1, 4), "b": Fraction(3, 4)}),
}
"""Two mechanisms that are log(3)-private."""

FAIR_COIN = {"x1": HALF, "x2": HALF}


def choice_loses(right: Mapping[str, Fraction]) -> bool:
    """Return whether two log(3)-private mechanisms lose more when a fair coin draws s on the left side only."""
    return mixture_delta((FAIR_COIN, right), TWO_MECHANISMS, Fraction(3)) > 0


@claim(
    "A.xs",
    "The privacy statement holds when x_s is drawn at random.",
    "Section 'Purely DP and Fair Classification': 'we randomly select an unprotected attribute'",
    readings=("uniform over the attributes, or any draw that does not look at the data; x_s may be published",),
    symbols=(
        "reference.mechanisms.pdfc",
        "reference.mechanisms.random_x_s",
        "reference.domain.domain.Domain.selectable",
    ),
    verdict="argued",
    null=Control("x_s drawn by the same coin on both data sets", lambda: choice_loses(FAIR_COIN)),
    broken=Control(
        "x_s drawn by a coin whose odds depend on the data",
        lambda: choice_loses({"x1": Fraction(1, 4), "x2": Fraction(3, 4)}),
    ),
    why=(
        "Given s the statement holds, with the same numbers for every s. Both data sets draw s with the same "
        "probabilities, so the inequality holds for every event of s and output together."
    ),
    advice="Draw x_s at random, or name it before you look at the data.",
    rerun=("python -m reference fit --data affairs --mechanism pdfc",),
)
def random_x_s() -> Finding:
    """Check that the exact loss is the same for every s, that a draw needs no data, and a finite mixture."""
    losses = set()
    for name, fairness in (("pdfc", "absolute"), ("adfc", "absolute"), ("pdfc", "covariance")):
        setting = Setting(3, fairness, "unit_box", records=20)
        spec = MECHANISMS[name]
        budget = SplitBudget("3", "1", *(("1e-3", "1e-3") if spec.needs_delta else ()))
        domain, readings = domain_of(setting), readings_of(setting)
        per_s = {
            extreme_neighbours(setting, noise, s).loss(noise)
            for s, noise in _noises(spec, domain, budget, readings)
        }
        losses.add(len(per_s))
    public = not takes_more_than_public_x_s()
    silent = not choice_loses(FAIR_COIN)
    evidence = {
        "different losses over s = 1, 2, 3 (PDFC, ADFC)": max(losses),
        "the draw takes the domain and randomness only": public,
        "two log(3)-private mechanisms, delta of the mixture at log(3)": "0" if silent else "positive",
    }
    return Finding("argued" if losses == {1} and public and silent else "undecided", "none", evidence)


def _noises(spec: Any, domain: Domain, budget: SplitBudget, readings: Readings) -> Iterator[tuple[int, Noise]]:
    return ((s, spec.noise(domain, budget, readings, s)) for s in range(domain.dimension))


def takes_more_than_public_x_s() -> bool:
    """Return whether the draw of x_s takes an argument besides the domain and a random generator."""
    names = inspect.signature(mechanisms.random_x_s).parameters.values()
    return not {str(parameter.annotation).split(".")[-1] for parameter in names} <= {"Domain", "Generator"}


def most_correlated(data: Database) -> int:
    """Return the coordinate whose |sum (z - zbar) x| is largest; the first of equals."""
    sizes = [abs(value) for value in data.covariance]
    return sizes.index(max(sizes))


CORRELATED = (
    Database.of(record([1, 0], 0, 1), record([0, "1/2"], 0, 0)),
    Database.of(record(["1/4", 0], 0, 1), record([0, "1/2"], 0, 0)),
)
"""d = 2, N = 2: one record is replaced and the most correlated coordinate changes from the first to the second."""

UNTIED = (CORRELATED[0], Database.of(record(["3/4", 0], 0, 1), record([0, "1/2"], 0, 0)))
"""Neighbours between which it does not change."""


def choice_from_data_fails(pair: tuple[Database, Database]) -> bool:
    """Return whether x_s, chosen as the most correlated coordinate, differs between two neighbouring data sets."""
    return most_correlated(pair[0]) != most_correlated(pair[1])


@claim(
    "A.xs.data",
    "The privacy statement holds when x_s is chosen from the data, such as the attribute most correlated with z.",
    "Section 'Purely DP and Fair Classification': 'these most correlated attributes'",
    readings=("s = arg max |sum (z - zbar) x_s|, published or not; not published: the noisy coefficients",),
    paper_step="'it is important to weaken the correlation between these most correlated attributes and ... z'",
    symbols=("reference.mechanisms.pdfc_noise", "reference.mechanisms.random_x_s"),
    verdict="refuted",
    null=Control("neighbours with the same most correlated coordinate", lambda: choice_from_data_fails(UNTIED)),
    broken=Control(
        "neighbours whose most correlated coordinates differ", lambda: choice_from_data_fails(CORRELATED)
    ),
    why=(
        "Such an s is a function of the data. If it is published, one record can change it for certain. If it is "
        "not, the scale of a coefficient's noise shows it, and the log ratio of two scales has no bound."
    ),
    repaired="Choose x_s as A.xs does, or privately with its own budget.",
    advice="Do not choose x_s by looking at the data.",
)
def x_s_from_the_data() -> Finding:
    """Show two data sets of two records, and an event on one coefficient if s is not published."""
    left, right = CORRELATED
    budget = SplitBudget("1/10", "1")
    claimed = budget.epsilon_s / 2 + budget.epsilon_n / 2
    event = hidden_choice_delta(budget, claimed)
    evidence = {
        "left": left.to_json(),
        "right": right.to_json(),
        "|sum (z - zbar) x|, left and right": [[str(abs(v)) for v in data.covariance] for data in CORRELATED],
        "x_s, left and right": [f"x{most_correlated(data) + 1}" for data in CORRELATED],
        "x_s published: smallest delta at any epsilon": "1",
        "x_s not published, PDFC, epsilon_s = 1/10, epsilon_n = 1": event,
    }
    hidden = all(Fraction(row["delta at the claimed epsilon"]["lo"]) > 0 for row in event["events c_1-hat > t"])
    refuted = choice_from_data_fails(CORRELATED) and hidden
    return Finding("refuted" if refuted else "undecided", "none", evidence)


def hidden_choice_delta(budget: SplitBudget, claimed: Fraction) -> Evidence:
    """Return, for events c_1-hat > t, the loss and P_left - exp(claimed) P_right, which a delta must cover."""
    bound = published_l1_sensitivity("absolute", 2)
    scales = bound / budget.epsilon_s, bound / budget.epsilon_n
    values = [data.linear("absolute")[0] for data in CORRELATED]
    rows = []

    def excess(near: Fraction, far: Fraction) -> Ball:
        return half_exp(near) - ball(claimed).exp() * half_exp(far)

    for t in (20, 100, 1000):
        near, far = (-(t - value) / scale for value, scale in zip(values, scales, strict=True))
        rows.append(
            {
                "t": t,
                "loss": ends(enclosed(partial(ball, near - far))),
                "delta at the claimed epsilon": ends(enclosed(partial(excess, near, far))),
            }
        )
    return {"claimed epsilon": str(claimed), "events c_1-hat > t": rows}


# --- A.norm -----------------------------------------------------------------------------------------------------


def with_largest(count: int, largest: int) -> Database:
    """Return raw values: `count` - 1 ones and one value `largest`; d = 1, y = z = 0."""
    return Database.of(*[record([1], 0, 0)] * (count - 1), record([largest], 0, 0))


def scaled(data: Database, by: Fraction | None = None) -> Database:
    """Divide every x by a public constant, or by the largest value of the data if none is given."""
    divisor = max(max(t.x) for t in data.records) if by is None else by
    return Database(tuple(record([v / divisor for v in t.x], t.y, t.z) for t in data.records))


def scaling_loss(count: int, public: Fraction | None = None) -> Fraction:
    """Return the functional mechanism's loss over epsilon between values 1, ..., 1 and 1, ..., 1, 2."""
    left, right = (scaled(with_largest(count, largest), public) for largest in (1, 2))
    return l1_change(left, right, "none") / published_l1_sensitivity("none", 1)


def scaling_loses_more(public: Fraction | None) -> bool:
    """Return whether the loss exceeds epsilon for some number of records."""
    return any(scaling_loss(count, public) > 1 for count in (2, 10, 100, 1000))


@claim(
    "A.norm",
    "The features may be scaled to |x| <= 1 by the data's own maximum, without loss of generality.",
    "Section 'Problem Statement': 'Without loss of generality, we assume |x_i| <= 1'",
    readings=(
        "scaled by the data's own maximum",
        "d = 1, functional mechanism, Delta_1 = 5/4; replace_one",
        "the noisy coefficients",
    ),
    symbols=("reference.records.encode_table", "reference.mechanisms.functional_noise"),
    verdict="refuted",
    null=Control("values divided by a public bound, 2", lambda: scaling_loses_more(Fraction(2))),
    broken=Control("values divided by their own maximum", lambda: scaling_loses_more(None)),
    paper_step="'Without loss of generality'",
    why=(
        "One record sets the divisor of all others, so its influence grows with their number. Delta_1 does not "
        "grow."
    ),
    repaired="Divide by a bound that is declared before the data are seen, and clip or reject what exceeds it.",
    advice="Declare the bounds (Domain). You cannot use the data's own maximum privately without paying for it.",
)
def scaling_by_the_maximum() -> Finding:
    """Evaluate the loss in units of epsilon for growing numbers of records, in exact rationals."""
    rows = [
        {
            "records": count,
            "loss/epsilon": str(scaling_loss(count)),
            "with the public bound 2": str(scaling_loss(count, Fraction(2))),
        }
        for count in (2, 4, 5, 10, 100, 1000)
    ]
    evidence = {
        "raw values, left (the fewest that exceed epsilon)": with_largest(5, 1).to_json(),
        "raw values, right": with_largest(5, 2).to_json(),
        "losses": rows,
        "closed form, loss/epsilon": "(n - 1) (1/4 + 3/32) / (5/4)",
    }
    smallest = scaling_loss(4) <= 1 < scaling_loss(5)
    grows = smallest and all(
        scaling_loss(n) == (n - 1) * Fraction(11, 32) / Fraction(5, 4) for n in (2, 4, 10, 100, 1000)
    )
    return Finding("refuted" if grows and scaling_loses_more(None) else "undecided", "none", evidence)
