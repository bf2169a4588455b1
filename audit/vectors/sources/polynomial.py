"""Equation (6) and the sets Phi_s and Phi_n: from the definitions, in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from audit.vectors.sources.numbers import UNIT, Answer, around, exactly, flag, number, numbers

Vector = list[Fraction]


def pairs(dimension: int, basis: str) -> list[tuple[int, int]]:
    """Return the quadratic monomials in order."""
    every = product(range(dimension), repeat=2)
    return [(e, k) for e, k in every if basis == "matrix" or e <= k]


def terms(inputs: Answer) -> tuple[list[Vector], list[Vector], list[Vector]]:
    """Return what each record adds to the linear, quadratic and covariance coefficients."""
    rows, y = [numbers(row) for row in inputs["x"]], numbers(inputs["y"])
    z = numbers(inputs["z"]) if inputs["fairness"] != "none" else [Fraction(0)] * len(y)
    weight, zbar = number(inputs["fairnessWeight"]), sum(z, Fraction(0)) / len(z)
    linear, quadratic, covariance = [], [], []
    for x, label, group in zip(rows, y, z, strict=True):
        fair = Fraction(0)
        if inputs["fairness"] in ("absolute", "covariance"):
            fair = weight * (abs(group - zbar) if inputs["fairness"] == "absolute" else group - zbar)
        # log(1 + e^t) = log 2 + t/2 + t^2/8 - ...
        linear.append([(Fraction(1, 2) - label + fair) * v for v in x])
        own = []
        for e, k in pairs(len(x), inputs["basis"]):
            twice = 2 if inputs["basis"] == "monomial" and e != k else 1
            own.append(twice * x[e] * x[k] / 8)
        quadratic.append(own)
        covariance.append([(group - zbar) * v for v in x] if inputs["fairness"] == "separate" else [])
    return linear, quadratic, covariance


def coefficients(inputs: Answer) -> tuple[Vector, Vector, Vector]:
    """Return the exact coefficients of the data set."""
    parts = ([sum(column, Fraction(0)) for column in zip(*part, strict=True)] for part in terms(inputs))
    linear, quadratic, covariance = parts
    return linear, quadratic, covariance


def magnitudes(inputs: Answer) -> tuple[Vector, Vector, Vector]:
    """Return sums of absolute values of everything that a right program may add up, however it groups terms."""
    x, weight = [numbers(row) for row in inputs["x"]], number(inputs["fairnessWeight"])
    total = [sum((abs(v) for v in column), Fraction(0)) for column in zip(*x, strict=True)]
    linear = [(2 + 3 * weight) * v for v in total]
    quadratic = [sum((abs(r[e] * r[k]) for r in x), Fraction(0)) for e, k in pairs(len(x[0]), inputs["basis"])]
    return linear, quadratic, [2 * v for v in total] if inputs["fairness"] == "separate" else []


def answer_coefficients(inputs: Answer) -> Answer:
    """Answer a case of Coefficients; the enclosures allow for every order of adding up in doubles."""
    spread = (8 + 2 * len(inputs["x"])) * UNIT
    found = zip(coefficients(inputs), magnitudes(inputs), strict=True)
    linear, quadratic, covariance = (
        [around(v, spread * m) for v, m in zip(values, sizes, strict=True)] for values, sizes in found
    )
    return {"linear": linear, "quadratic": quadratic} | ({"covariance": covariance} if covariance else {})


def in_s(dimension: int, s: int, basis: str, fairness: str) -> list[bool]:
    """Return which coefficients belong to a monomial that contains w_s."""
    linear = [e == s for e in range(dimension)]
    return linear + [s in pair for pair in pairs(dimension, basis)] + (linear if fairness == "separate" else [])


def answer_grouping(inputs: Answer) -> Answer:
    """Answer a case of Grouping."""
    start, dimension, s = int(flag(inputs["intercept"])), int(inputs["dimension"]), int(inputs["xS"])
    found = in_s(dimension, s, inputs["basis"], inputs["fairness"])
    stop = dimension - int(flag(inputs["keepGroup"]))
    return {
        "size": str(len(found)),
        "inS": [exactly(v) for v in found],
        "selectable": [str(e) for e in range(start, stop)],
    }
