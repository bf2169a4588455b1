"""The reference behind the interface of the vectors: one method a step, so that a mutant replaces one step."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from audit.exact.witnesses import extremes
from audit.vectors.repaired_steps import RepairedSteps
from reference.accounting import PrivacyStatement, basic_composition, published_pdfc
from reference.budgets import SplitBudget, parse_delta, parse_epsilon
from reference.coefficients import Coefficients, Layout, NoisyCoefficients
from reference.common.arrays import BoolArray, FloatArray
from reference.common.errors import InputError
from reference.common.numbers import exact
from reference.domain import Domain
from reference.domain.attributes import Numeric, OneHot, Ordinal
from reference.fairness.metrics import Metrics, evaluate
from reference.minimiser import Minimum, minimise
from reference.moments import Moments
from reference.noise import Noise, analytic_gaussian_sigma, extended_gaussian_sigma, laplace_scale
from reference.noise.draws import add_noise
from reference.noise.profile import delta_of_shift, epsilon_of_shift
from reference.objective import objective
from reference.readings import Readings
from reference.records import Records, check_matrix, encode_table
from reference.sensitivity import Setting, exact_l1, exact_l2_squared
from reference.sensitivity.published import published_l1_sensitivity, published_l2_sensitivity_squared

Answer: TypeAlias = dict[str, Any]

Rows: TypeAlias = list[tuple[tuple[float, ...], int, int]]
"""Records as x, label and group."""

LAPLACE = ("functional", "pdfc")
SPLIT = ("pdfc", "adfc")


class EncodedTable(SimpleNamespace):
    """Encoded records as plain arrays: x, y and z (None without groups)."""

    x: FloatArray
    y: FloatArray
    z: FloatArray | None


class Steps(RepairedSteps):
    """The reference, step by step."""

    # --- records ---------------------------------------------------------------------------------------------

    def attributes(self, inputs: Answer) -> tuple[Any, ...]:
        """Return the declared attributes."""
        ends = zip(inputs["kinds"], floats(inputs["lower"]), floats(inputs["upper"]), strict=True)
        made: list[Any] = []
        for index, (kind, lower, upper) in enumerate(ends):
            name = f"x{index}"
            if kind == "numeric":
                made.append(Numeric(name, lower, upper, clip=inputs["clip"] == "1"))
            else:
                ranks = tuple(range(int(upper) + 1))
                made.append(Ordinal(name, ranks) if kind == "ordinal" else OneHot(name, ranks))
        return tuple(made)

    def domain(self, inputs: Answer) -> Domain:
        """Return the declared domain."""
        names = {"label": "y", "group": "z" if "z" in inputs else None, "norm": inputs["norm"]}
        if inputs["encoded"] == "1":
            columns = tuple(Numeric(f"x{i}", 0.0, 1.0) for i in range(len(inputs["rows"][0])))
            return Domain(columns, prescaled=True, **names)
        marks = {"intercept": inputs["intercept"] == "1", "keep_group": inputs["keepGroup"] == "1"}
        return Domain(self.attributes(inputs), **names, **marks)

    def encode(self, inputs: Answer) -> EncodedTable:
        """Return the checked and encoded records."""
        domain, rows = self.domain(inputs), [floats(row) for row in inputs["rows"]]
        y, z = self.labels(inputs), floats(inputs["z"]) if "z" in inputs else None
        if domain.prescaled:
            records = check_matrix(domain, rows, y, z)
        else:
            columns = zip(domain.attributes, zip(*rows, strict=True), strict=True)
            table: dict[str, Any] = {attribute.name: column for attribute, column in columns}
            records = encode_table(domain, table | {"y": y} | ({} if z is None else {"z": z}))
        return EncodedTable(x=np.array(records.x), y=records.y, z=records.z)

    def labels(self, inputs: Answer) -> list[float]:
        """Return the labels."""
        return floats(inputs["y"])

    # --- coefficients ----------------------------------------------------------------------------------------

    def records(self, table: EncodedTable) -> Records:
        """Return already encoded records in the form of the reference."""
        norm = "unit_box" if table.x.min() >= 0 else "symmetric_ball"
        names = [f"x{i}" for i in range(table.x.shape[1])]
        return Records(Domain.of_columns(names, norm=norm, with_group=table.z is not None), **vars(table))

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        """Return equation (6)'s coefficients."""
        return objective(Moments.of(self.records(table)), readings)

    def in_s(self, layout: Layout, s: int) -> BoolArray:
        """Return which coefficients are in Phi_s."""
        return layout.contains(s)

    def selectable(self, dimension: int, *, intercept: bool, keep_group: bool) -> tuple[int, ...]:
        """Return the coordinates that x_s may be."""
        own = tuple(Numeric(f"x{i}", 0.0, 1.0) for i in range(dimension - intercept - keep_group))
        return Domain(own, "y", "z", intercept=intercept, keep_group=keep_group).selectable

    # --- sensitivities, scales, noise ------------------------------------------------------------------------

    def published_l1(self, fairness: str, dimension: int) -> Fraction:
        """Return Delta_1 of Lemmas 1 and 2."""
        return published_l1_sensitivity(fairness, dimension)

    def published_l2_squared(self, fairness: str, dimension: int) -> Fraction:
        """Return the square of Delta_2 of Lemmas 3 and 4."""
        return published_l2_sensitivity_squared(fairness, dimension)

    def exact_l1(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        """Return the supremum of the weighted l1 change."""
        return exact_l1(setting, weight_s, weight_n).upper

    def exact_l2_squared(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        """Return the supremum of the weighted squared l2 change."""
        return exact_l2_squared(setting, weight_s, weight_n).upper

    def attaining(self, setting: Setting, norm: str) -> tuple[Rows, Rows]:
        """Return two data sets that attain the supremum of the l1 change, or of the l2 change."""
        found = extremes(setting, norm)
        assert setting.records is not None
        shared: Rows = [(found.others, 0, 0)] * (setting.records - 1)
        before: Rows = [] if found.before is None else [(found.before, found.label_before, 0)]
        return [*shared, *before], [*shared, (found.after, found.label_after, 1)]

    def pair_change(self, first: Coefficients, second: Coefficients) -> FloatArray:
        """Return the change of every coefficient between two data sets."""
        moved: FloatArray = second.values - first.values
        return moved

    def laplace_scale(self, l1_sensitivity: Fraction, epsilon: Fraction) -> float:
        """Return the scale of Laplace noise."""
        return laplace_scale(l1_sensitivity, epsilon)

    def gaussian_sigma(self, l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
        """Return Theorem 2's sigma."""
        return extended_gaussian_sigma(l2_sensitivity_squared, epsilon, delta)

    def analytic_sigma(self, l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
        """Return the smallest sigma."""
        return analytic_gaussian_sigma(l2_sensitivity_squared, epsilon, delta)

    def budget(self, inputs: Answer, part: str) -> tuple[Fraction, Fraction]:
        """Return epsilon and delta of Phi_s (part S), of Phi_n (N), or of all (an empty part)."""
        name = "epsilon" + part
        return _budget(name, inputs[name], inputs.get("delta" + part, "0"))

    def scales(self, inputs: Answer, dimension: int) -> tuple[float, float]:
        """Return the scales of a mechanism on Phi_s and Phi_n."""
        parts = ("S", "N") if inputs["mechanism"] in SPLIT else ("", "")
        budgets = [self.budget(inputs, part) for part in parts]
        if inputs["mechanism"] in LAPLACE:
            l1 = self.published_l1(inputs["fairness"], dimension)
            scale_s, scale_n = (self.laplace_scale(l1, epsilon) for epsilon, _ in budgets)
        else:
            l2 = self.published_l2_squared(inputs["fairness"], dimension)
            scale_s, scale_n = (self.gaussian_sigma(l2, *budget) for budget in budgets)
        return scale_s, scale_n

    def perturb(self, values: FloatArray, noise: Noise, variates: FloatArray) -> FloatArray:
        """Return the noisy coefficients."""
        return add_noise(values, noise, variates)

    # --- minimiser -------------------------------------------------------------------------------------------

    def penalised(self, readings: Readings) -> Readings:
        """Return the readings of an objective with a separate covariance."""
        return readings.with_(fairness="separate")

    def minimise(self, noisy: NoisyCoefficients, readings: Readings) -> Minimum:
        """Return the minimum, with the repair of the readings."""
        return minimise(noisy, readings)

    # --- privacy ---------------------------------------------------------------------------------------------

    def claimed_epsilon(self, epsilon_s: Fraction, epsilon_n: Fraction, dimension: int) -> Fraction:
        """Return Theorem 3's epsilon."""
        return published_pdfc(SplitBudget(epsilon_s, epsilon_n), dimension, "replace_one").epsilon

    def claimed_delta(self, delta_s: Fraction, delta_n: Fraction) -> Fraction:
        """Return Theorem 5's delta."""
        return SplitBudget(1, 1, delta_s, delta_n).delta

    def delta_of_shift(self, squared_shift: Fraction, epsilon: Fraction) -> Fraction:
        """Return the exact delta of a Gaussian shift."""
        return delta_of_shift(squared_shift, epsilon).upper

    def epsilon_of_shift(self, squared_shift: Fraction, delta: Fraction) -> Fraction:
        """Return the exact epsilon of a Gaussian shift."""
        return epsilon_of_shift(squared_shift, delta).upper

    def moved(self, bound: Fraction, adjacency: str) -> Fraction:
        """Return how far one record moves a sum to which it adds at most `bound`."""
        return bound * (2 if adjacency == "replace_one" else 1)

    def composed_shift(self, squared_shift: Fraction, count: int) -> Fraction:
        """Return the squared shift of several Gaussian releases."""
        return squared_shift * count

    def composed_loss(self, epsilon: Fraction, count: int) -> Fraction:
        """Return the epsilon of several Laplace releases."""
        return epsilon * count

    def composed(self, epsilons: list[Fraction], deltas: list[Fraction]) -> tuple[Fraction, Fraction]:
        """Return basic composition."""
        parts = zip(epsilons, deltas, strict=True)
        total = basic_composition([PrivacyStatement(e, d, "replace_one", ("T1",)) for e, d in parts])
        assert total is not None
        return total.epsilon, total.delta

    # --- metrics ---------------------------------------------------------------------------------------------

    def metrics(self, w: FloatArray, table: EncodedTable) -> Metrics:
        """Return all metrics of a predictor."""
        return evaluate(w, self.records(table))


STEPS = frozenset(name for kind in (Steps, RepairedSteps) for name in kind.__dict__ if not name.startswith("__"))
"""The names of all steps."""


def floats(texts: list[str]) -> list[float]:
    """Return numbers as floats; NaN and Infinity may be among them."""
    return [_float(text) for text in texts]


@lru_cache(maxsize=2**16)
def _float(text: str) -> float:
    return float(text) if text.lstrip("+-") in ("NaN", "Infinity") else float(exact("x", text))


def fractions(texts: list[str]) -> list[Fraction]:
    """Return numbers exactly."""
    return [exact("number", text) for text in texts]


def table_of(inputs: Answer, ending: str = "") -> EncodedTable:
    """Return the already encoded records of a case."""
    x, y = np.array([floats(row) for row in inputs[f"x{ending}"]]), np.array(floats(inputs[f"y{ending}"]))
    z = np.array(floats(inputs[f"z{ending}"])) if f"z{ending}" in inputs else None
    return EncodedTable(x=x, y=y, z=z)


def readings_of(inputs: Answer) -> Readings:
    """Return the readings that a case names."""
    names = {"fairnessWeight": "fairness_weight", "ballRadius": "ball_radius"}
    known = ("fairness", "basis", "adjacency", "repair", "tau", *names)
    return _readings(tuple((names.get(name, name), inputs[name]) for name in known if name in inputs))


@lru_cache(maxsize=512)
def _budget(name: str, epsilon: str, delta: str) -> tuple[Fraction, Fraction]:
    found = parse_delta("delta", delta)
    return parse_epsilon(name, epsilon), found


@lru_cache(maxsize=512)
def _readings(named: tuple[tuple[str, str], ...]) -> Readings:
    words: dict[str, Any] = dict(named)
    return Readings(**words)


def layout_of(dimension: int, inputs: Answer) -> Layout:
    """Return the layout of a case."""
    names = tuple(f"x{i}" for i in range(dimension))
    return Layout(names, inputs["basis"], inputs.get("fairness") == "separate" or "covariance" in inputs)


def setting_of(inputs: Answer) -> Setting:
    """Return the setting of a case."""
    records = inputs["records"]
    return Setting(
        dimension=int(inputs["dimension"]),
        fairness=inputs["fairness"],
        norm=inputs["norm"],
        adjacency=inputs["adjacency"],
        basis=inputs["basis"],
        fairness_weight=exact("fairness_weight", inputs["fairnessWeight"]),
        records=None if records == "limit" else int(records),
    )


Answerer: TypeAlias = Callable[[Steps, Answer], Answer]


def answered(steps: Steps, answerers: dict[str, Answerer], kind: str, inputs: Answer) -> Answer:
    """Return the answer of the steps, in texts; refused inputs give the name of the error."""
    try:
        return {name: as_text(value) for name, value in answerers[kind](steps, inputs).items()}
    except InputError as problem:
        return {"error": type(problem).__name__.removesuffix("Error")}


def as_text(value: Any) -> Any:
    """Return a number, or a list of numbers, as texts that hold them exactly."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [as_text(entry) for entry in value]
    if value is None:
        return "none"
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    return repr(float(value)) if isinstance(value, float) else str(value)
