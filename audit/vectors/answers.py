"""The answer of the steps to a case of each group type."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np

from audit.vectors.repaired_answers import answer_repaired
from audit.vectors.steps import (
    LAPLACE,
    SPLIT,
    Answer,
    Answerer,
    Rows,
    Steps,
    answered,
    floats,
    fractions,
    layout_of,
    readings_of,
    setting_of,
    table_of,
)
from reference.coefficients import Coefficients, NoisyCoefficients
from reference.common.arrays import BoolArray
from reference.common.errors import DeltaError
from reference.common.numbers import exact
from reference.fairness.metrics import ConstantPredictorWarning
from reference.noise import Noise
from reference.readings import Readings


def answer(steps: Steps, kind: str, inputs: Answer) -> Answer:
    """Return the steps' answer, in texts; ``{"error": name}`` if they refuse the inputs."""
    return answered(steps, ANSWERERS, kind, inputs)


def _domain(steps: Steps, inputs: Answer) -> Answer:
    table = steps.encode(inputs)
    return {"dimension": table.x.shape[1], "x": table.x, "y": table.y}


def _coefficients(steps: Steps, inputs: Answer) -> Answer:
    found = steps.coefficients(table_of(inputs), readings_of(inputs))
    d = found.layout.dimension
    stop = d + len(found.layout.pairs[0])
    parts = {"linear": found.values[:d], "quadratic": found.values[d:stop]}
    return parts | ({"covariance": found.values[stop:]} if found.layout.separate else {})


def _grouping(steps: Steps, inputs: Answer) -> Answer:
    d = int(inputs["dimension"])
    layout = layout_of(d, inputs)
    marks = {"intercept": inputs["intercept"] == "1", "keep_group": inputs["keepGroup"] == "1"}
    member = steps.in_s(layout, int(inputs["xS"]))
    return {"size": len(member), "inS": member, "selectable": steps.selectable(d, **marks)}


def _sensitivity(steps: Steps, inputs: Answer) -> Answer:
    kind, one = inputs["kind"], Fraction(1)
    if kind == "worst_pair":
        pair = [steps.coefficients(table_of(inputs, end), readings_of(inputs)) for end in ("", "Neighbour")]
        # dyadic data and groups: floats hold the change exactly
        moved = [Fraction(v) for v in steps.pair_change(*pair).tolist()]
        return {"l1Change": sum(map(abs, moved)), "l2ChangeSquared": sum(v * v for v in moved)}
    if kind == "published_l1":
        return {"value": steps.published_l1(inputs["fairness"], int(inputs["dimension"]))}
    if kind == "published_l2":
        return {"value": steps.published_l2_squared(inputs["fairness"], int(inputs["dimension"]))}
    if kind.startswith("attaining"):
        return _pair(inputs, steps.attaining(setting_of(inputs), kind[-2:]))
    find = steps.exact_l1 if kind.endswith("l1") else steps.exact_l2_squared
    return {"value": find(setting_of(inputs), one, one)}


def _pair(inputs: Answer, found: tuple[Rows, Rows]) -> Answer:
    answer: Answer = {}
    for end, rows in zip(("", "Neighbour"), found, strict=True):
        x, y, z = zip(*rows, strict=True)
        answer |= {f"x{end}": x, f"y{end}": y} | ({} if inputs["fairness"] == "none" else {f"z{end}": z})
    return answer


def _scale(steps: Steps, inputs: Answer) -> Answer:
    if inputs["kind"] == "mechanism":
        scale_s, scale_n = steps.scales(inputs, int(inputs["dimension"]))
        return {"scaleS": scale_s, "scaleN": scale_n}
    epsilon, delta = steps.budget(inputs, "")
    if inputs["kind"] == "laplace":
        return {"scale": steps.laplace_scale(exact("l1", inputs["l1Sensitivity"]), epsilon)}
    squared = exact("l2", inputs["l2SensitivitySquared"])
    find = steps.gaussian_sigma if inputs["kind"] == "extended_gaussian" else steps.analytic_sigma
    return {"scale": find(squared, epsilon, delta)}


def _noise(inputs: Answer, member: BoolArray) -> Noise:
    scale_s, scale_n = floats([inputs["scaleS"], inputs["scaleN"]])
    return Noise(inputs["noise"], scale_s, scale_n, member)


def _perturbation(steps: Steps, inputs: Answer) -> Answer:
    member = np.array(inputs["inS"]) == "1"
    noise = _noise(inputs, member)
    values, variates = (np.array(floats(inputs[name])) for name in ("values", "unitVariates"))
    return {"noisy": steps.perturb(values, noise, variates)}


def _minimiser(steps: Steps, inputs: Answer) -> Answer:
    d = len(inputs["linear"])
    layout = layout_of(d, inputs)
    values = np.array(floats(inputs["linear"] + inputs["quadratic"] + inputs.get("covariance", [])))
    noise = _noise(inputs, layout.contains(0))
    return _minimised(steps, NoisyCoefficients(layout, values, noise), readings_of(inputs))


def _minimised(steps: Steps, noisy: NoisyCoefficients, readings: Readings) -> Answer:
    readings = steps.penalised(readings) if noisy.layout.separate else readings
    found = steps.minimise(noisy, readings)
    if found.w is None:
        return {"status": found.status}
    w = np.array(found.w)
    value = noisy.evaluate(w)
    if readings.repair == "shift_and_trim":
        value += 4 * noisy.noise.largest_standard_deviation * float(w @ w)
    if noisy.covariance is not None:
        value += float(readings.fairness_weight) * abs(float(noisy.covariance @ w) - float(readings.tau))
    return {"status": found.status, "w": w, "objective": value}


def _claimed(steps: Steps, inputs: Answer, d: int) -> Answer:
    if inputs["mechanism"] not in SPLIT:
        epsilon, delta = steps.budget(inputs, "")
        return {"epsilon": epsilon, "delta": delta}
    (epsilon_s, delta_s), (epsilon_n, delta_n) = (steps.budget(inputs, part) for part in "SN")
    return {
        "epsilon": steps.claimed_epsilon(epsilon_s, epsilon_n, d),
        "delta": steps.claimed_delta(delta_s, delta_n),
    }


def _privacy(steps: Steps, inputs: Answer) -> Answer:
    kind = inputs["kind"]
    if kind == "claimed":
        return _claimed(steps, inputs, int(inputs["dimension"]))
    if kind.startswith("exact"):
        inverse = [1 / v for v in fractions([inputs["scaleS"], inputs["scaleN"]])]
        if kind == "exact_laplace":
            return {"epsilon": float(steps.exact_l1(setting_of(inputs), *inverse))}
        return {"squaredShift": float(steps.exact_l2_squared(setting_of(inputs), *(v * v for v in inverse)))}
    shift = exact("shift", inputs["squaredShift"])
    if kind == "gaussian_delta":
        return {"delta": float(steps.delta_of_shift(shift, exact("epsilon", inputs["epsilon"])))}
    return {"epsilon": float(steps.epsilon_of_shift(shift, _delta(inputs)))}


def _accounting(steps: Steps, inputs: Answer) -> Answer:
    if inputs["kind"] == "basic":
        epsilon, delta = steps.composed(fractions(inputs["epsilons"]), fractions(inputs["deltas"]))
        return {"epsilon": epsilon, "delta": delta}
    moved = steps.moved(exact("bound", inputs["bound"]), inputs["adjacency"]) / exact("scale", inputs["scale"])
    if inputs["kind"] == "laplace":
        return {"epsilon": steps.composed_loss(moved, int(inputs["count"]))}
    shift = steps.composed_shift(moved * moved, int(inputs["count"]))
    return {"epsilon": float(steps.epsilon_of_shift(shift, _delta(inputs)))}


def _delta(inputs: Answer) -> Fraction:
    delta = exact("delta", inputs["delta"])
    if not 0 < delta < 1:
        raise DeltaError("delta", inputs["delta"], "in (0, 1)")
    return delta


def _metric(steps: Steps, inputs: Answer) -> Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantPredictorWarning)
        found = steps.metrics(np.array(floats(inputs["w"])), table_of(inputs))
    names = {
        "accuracy": found.accuracy,
        "positiveRate": found.positive_rate,
        "positiveRateGroup0": found.positive_rate_group_0,
        "positiveRateGroup1": found.positive_rate_group_1,
        "riskDifference": found.risk_difference,
        "boundaryCovariance": found.boundary_covariance,
    }
    return names


def _release(steps: Steps, inputs: Answer) -> Answer:
    table, readings = steps.encode(inputs), readings_of(inputs)
    d = table.x.shape[1]
    # lambda <- sum_i lambda_{phi t_i}
    coefficients: Coefficients = steps.coefficients(table, readings)
    scale_s, scale_n = steps.scales(inputs, d)
    split, laplace = inputs["mechanism"] in SPLIT, inputs["mechanism"] in LAPLACE
    size = coefficients.layout.size
    member = steps.in_s(coefficients.layout, int(inputs["xS"])) if split else np.zeros(size, dtype=np.bool_)
    noise = Noise("laplace" if laplace else "gaussian", scale_s, scale_n, member)
    # lambda_hat <- lambda + scale * unit variate
    variates = np.array(floats(inputs["unitVariates"]))
    values = steps.perturb(coefficients.values, noise, variates[:size])
    # w_hat <- arg min f_hat
    found = _minimised(steps, NoisyCoefficients(coefficients.layout, values, noise), readings)
    scales: dict[str, Any] = {"scaleN": scale_n} | ({"scaleS": scale_s} if split else {})
    claim = _claimed(steps, inputs, d)
    return {"dimension": d, **scales, "noisy": values, **found, **claim}


ANSWERERS: dict[str, Answerer] = {
    "Domain": _domain,
    "Coefficients": _coefficients,
    "Grouping": _grouping,
    "Sensitivity": _sensitivity,
    "Scale": _scale,
    "Perturbation": _perturbation,
    "Minimiser": _minimiser,
    "Privacy": _privacy,
    "Accounting": _accounting,
    "FairnessMetric": _metric,
    "Release": _release,
    "RepairedBudget": answer_repaired,
    "RepairedDescent": answer_repaired,
    "RepairedThreshold": answer_repaired,
}
