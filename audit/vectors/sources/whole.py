"""Perturbation, metrics, and whole releases, from coefficients and weights."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from audit.vectors.sources.encoding import encoded_rows
from audit.vectors.sources.minimum import minimum
from audit.vectors.sources.numbers import UNIT, Answer, around, between, exactly, flag, number, numbers
from audit.vectors.sources.polynomial import coefficients, in_s, magnitudes
from audit.vectors.sources.scales import claimed, mechanism_scales


def answer_perturbation(inputs: Answer) -> Answer:
    """Answer a case of Perturbation."""
    noisy = []
    for value, member, variate in zip(inputs["values"], inputs["inS"], inputs["unitVariates"], strict=True):
        scale = number(inputs["scaleS" if flag(member) else "scaleN"])
        moved = scale * number(variate)
        noisy.append(around(number(value) + moved, 4 * UNIT * (abs(number(value)) + abs(moved))))
    return {"noisy": noisy}


def _share(part: int, whole: int) -> Any:
    return around(Fraction(part, whole), 2 * UNIT * Fraction(part, whole)) if whole else "none"


def answer_metric(inputs: Answer) -> Answer:
    """Answer a case of FairnessMetric: a record is predicted 1 when x.w is above 0."""
    w, z, y = numbers(inputs["w"]), numbers(inputs["z"]), inputs["y"]
    scores = [sum((a * b for a, b in zip(numbers(row), w, strict=True)), Fraction(0)) for row in inputs["x"]]
    sizes = [sum((abs(a * b) for a, b in zip(numbers(row), w, strict=True)), Fraction(0)) for row in inputs["x"]]
    predicted, zbar = [score > 0 for score in scores], sum(z, Fraction(0)) / len(z)
    rates, counts = {}, {}
    for group in (0, 1):
        members = [p for p, member in zip(predicted, z, strict=True) if member == group]
        rates[group], counts[group] = sum(members), len(members)
    difference: Any = "none"
    if counts[0] and counts[1]:
        exact = abs(Fraction(rates[1], counts[1]) - Fraction(rates[0], counts[0]))
        difference = around(exact, 4 * UNIT)
    covariance = sum(((g - zbar) * score for g, score in zip(z, scores, strict=True)), Fraction(0))
    return {
        "accuracy": _share(sum(p == (label == "1") for p, label in zip(predicted, y, strict=True)), len(y)),
        "positiveRate": _share(sum(predicted), len(y)),
        "positiveRateGroup0": _share(rates[0], counts[0]),
        "positiveRateGroup1": _share(rates[1], counts[1]),
        "riskDifference": difference,
        "boundaryCovariance": around(covariance, 64 * UNIT * sum(sizes, Fraction(0))),
    }


def answer_release(inputs: Answer) -> Answer:
    """Answer a case of Release: the whole algorithm with the given variates."""
    rows = encoded_rows(inputs)
    d = len(rows[0])
    data = {**inputs, "x": [[exactly(v) for v in row] for row in rows], "dimension": str(d)}
    values = [v for part in coefficients(data) for v in part]
    sizes = [v for part in magnitudes(data) for v in part]
    ends = mechanism_scales(data)
    scale_s, scale_n = ((low + high) / 2 for low, high in ends)
    split = inputs["mechanism"] in ("pdfc", "adfc")
    member = in_s(d, int(inputs["xS"]) if split else -1, inputs["basis"], inputs["fairness"])
    noisy, enclosures = [], []
    for value, size, inside, text in zip(values, sizes, member, inputs["unitVariates"], strict=True):
        moved = (scale_s if inside else scale_n) * number(text)
        noisy.append(value + moved)
        enclosures.append(around(value + moved, (64 + 2 * len(rows)) * UNIT * (size + abs(moved))))
    epsilon, delta = claimed(data)
    answer: Answer = {
        "dimension": str(d),
        "scaleN": between(*ends[1]),
        "noisy": enclosures,
        "epsilon": around(epsilon, 8 * UNIT * epsilon),
        "delta": around(delta, 4 * UNIT),
    } | ({"scaleS": between(*ends[0])} if split else {})
    # of the scales in use: with d = 1 every coefficient is in Phi_s
    used = [scale_s if inside else scale_n for inside in member]
    status, w, spread, _ = minimum(_problem(inputs, d, noisy, (max(used), min(used))))
    answer["status"] = status
    if w is not None:
        answer["w"] = [around(v, 8 * spread) for v in w]
    return answer


def _problem(inputs: Answer, d: int, noisy: list[Fraction], scales: tuple[Fraction, Fraction]) -> Answer:
    """Return the minimisation problem of the noisy coefficients."""
    texts = [exactly(v) for v in noisy]
    stop = len(texts) - (d if inputs["fairness"] == "separate" else 0)
    return {
        "linear": texts[:d],
        "quadratic": texts[d:stop],
        **({"covariance": texts[stop:]} if stop < len(texts) else {}),
        "basis": inputs["basis"],
        "repair": inputs["repair"],
        "ballRadius": inputs["ballRadius"],
        "fairnessWeight": inputs["fairnessWeight"],
        "tau": inputs["tau"],
        "noise": "laplace" if inputs["mechanism"] in ("pdfc", "functional") else "gaussian",
        "scaleS": exactly(scales[0]),
        "scaleN": exactly(scales[1]),
    }
