"""Scales and privacy from their formulas, in mpmath with 60 digits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from audit.vectors.sources.numbers import (
    UNIT,
    WORK,
    Answer,
    RefusedError,
    around,
    between,
    exactly,
    from_work,
    number,
    numbers,
    to_work,
)
from audit.vectors.sources.suprema import box_supremum, published

TOLERANCE = 16 * UNIT
"""Relative: a handful of roundings."""


def _positive(text: str, name: str) -> Fraction:
    value = number(text)
    if value <= 0:
        raise RefusedError(name)
    return value


def extended_sigma(squared: Fraction, epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Return the ends of Theorem 2's sigma, for a logarithm known to some units in the last place."""
    if delta <= 0:
        raise RefusedError("Delta")
    logarithm = WORK.log(WORK.sqrt(2 / WORK.pi) / to_work(delta))
    if logarithm < 0:
        raise RefusedError("Delta")
    # the argument of the logarithm is rounded: an error of one unit of 1, besides that of the result
    slack = to_work(8 * UNIT) * (1 + logarithm)

    def sigma(log: Any) -> Any:
        log = max(log, WORK.mpf(0))
        factor = WORK.sqrt(2 * to_work(squared)) / (2 * to_work(epsilon))
        return factor * (WORK.sqrt(log) + WORK.sqrt(log + to_work(epsilon)))

    ends = sorted(from_work(sigma(logarithm + side * slack)) for side in (-1, 1))
    return ends[0] * (1 - TOLERANCE), ends[1] * (1 + TOLERANCE)


def delta_of(squared_shift: Fraction, epsilon: Any) -> tuple[Any, Any]:
    """Return Balle and Wang's delta, and the size of the two terms that cancel in it."""
    mu, e = WORK.sqrt(to_work(squared_shift)), WORK.mpf(epsilon)
    near, far = WORK.ncdf(mu / 2 - e / mu), WORK.exp(e) * WORK.ncdf(-mu / 2 - e / mu)
    return near - far, near + far


def epsilon_of(squared_shift: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Return the ends of the epsilon at delta, to a relative 1e-9: the accuracy of a root finder in doubles."""
    target = to_work(delta)
    if squared_shift == 0 or delta_of(squared_shift, 0)[0] <= target:
        return Fraction(0), Fraction(0)
    low, high = WORK.mpf(0), WORK.mpf(1)
    while delta_of(squared_shift, high)[0] > target:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(squared_shift, middle)[0] > target else (low, middle)
    spread = Fraction(1, 10**9)
    return from_work(low) * (1 - spread), from_work(high) * (1 + spread)


@lru_cache(maxsize=256)
def analytic_sigma(squared: Fraction, epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Return the ends of the smallest sigma, to a relative 1e-9."""
    if not 0 < delta < 1:
        raise RefusedError("Delta")
    low, high, target, e = WORK.mpf(1) / 2**20, WORK.mpf(2) ** 40, to_work(delta), to_work(epsilon)
    for _ in range(90):
        middle = WORK.sqrt(low * high)
        private = delta_of(from_work(1 / middle**2), e)[0] <= target
        low, high = (low, middle) if private else (middle, high)
    size, spread = WORK.sqrt(to_work(squared)), Fraction(1, 10**9)
    return from_work(low * size) * (1 - spread), from_work(high * size) * (1 + spread)


def mechanism_scales(inputs: Answer) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    """Return the ends of the scales on Phi_s and Phi_n; one budget gives both the same."""
    name, d, fairness = inputs["mechanism"], int(inputs["dimension"]), inputs["fairness"]
    split = name in ("pdfc", "adfc")
    epsilons = [_positive(inputs[f"epsilon{part}"], "Epsilon") for part in (("S", "N") if split else ("", ""))]
    if name in ("pdfc", "functional"):
        l1 = published("l1", fairness, d)
        ends = [(l1 / e * (1 - TOLERANCE), l1 / e * (1 + TOLERANCE)) for e in epsilons]
    else:
        deltas = [number(inputs[f"delta{part}"]) for part in (("S", "N") if split else ("", ""))]
        squared = published("l2", fairness, d)
        ends = [extended_sigma(squared, e, delta) for e, delta in zip(epsilons, deltas, strict=True)]
    return ends[0], ends[1]


def answer_scale(inputs: Answer) -> Answer:
    """Answer a case of Scale."""
    if inputs["kind"] == "mechanism":
        scale_s, scale_n = mechanism_scales(inputs)
        return {"scaleS": between(*scale_s), "scaleN": between(*scale_n)}
    epsilon = _positive(inputs["epsilon"], "Epsilon")
    if inputs["kind"] == "laplace":
        scale = number(inputs["l1Sensitivity"]) / epsilon
        return {"scale": around(scale, TOLERANCE * scale)}
    ends = extended_sigma if inputs["kind"] == "extended_gaussian" else analytic_sigma
    return {"scale": between(*ends(number(inputs["l2SensitivitySquared"]), epsilon, number(inputs["delta"])))}


def claimed(inputs: Answer) -> tuple[Fraction, Fraction]:
    """Return the epsilon and delta that Theorems 1, 3, 4 and 5 print."""
    if inputs["mechanism"] not in ("pdfc", "adfc"):
        return number(inputs["epsilon"]), number(inputs["delta"])
    d = int(inputs["dimension"])
    epsilon = number(inputs["epsilonS"]) / d + number(inputs["epsilonN"]) * (d - 1) / d
    return epsilon, 1 - (1 - number(inputs["deltaS"])) * (1 - number(inputs["deltaN"]))


def _claimed(inputs: Answer) -> Answer:
    (epsilon, delta), few = claimed(inputs), 8 * UNIT
    if inputs["mechanism"] in ("functional", "pdfc"):
        return {"epsilon": around(epsilon, few * epsilon), "delta": exactly(delta)}
    # 1 - (1 - delta_s)(1 - delta_n) cancels in doubles
    return {"epsilon": around(epsilon, few * epsilon), "delta": around(delta, 4 * UNIT)}


def _exact_laplace(inputs: Answer) -> Answer:
    weights = 1 / number(inputs["scaleS"]), 1 / number(inputs["scaleN"])
    loss = box_supremum(inputs, 1, *weights)
    return {"epsilon": around(loss, 64 * UNIT * loss)}


def _exact_shift(inputs: Answer) -> Answer:
    weights = 1 / number(inputs["scaleS"]) ** 2, 1 / number(inputs["scaleN"]) ** 2
    shift = box_supremum(inputs, 2, *weights)
    return {"squaredShift": around(shift, 64 * UNIT * shift)}


def _gaussian_delta(inputs: Answer) -> Answer:
    delta, size = delta_of(number(inputs["squaredShift"]), to_work(number(inputs["epsilon"])))
    # the error of erfc in its argument, magnified by the slope of the exponent
    spread = from_work(size) * (256 + 64 * number(inputs["epsilon"])) * UNIT
    return {"delta": between(max(Fraction(0), from_work(delta) - spread), from_work(delta) + spread)}


def _gaussian_epsilon(inputs: Answer) -> Answer:
    delta = number(inputs["delta"])
    if not 0 < delta < 1:
        raise RefusedError("Delta")
    return {"epsilon": between(*epsilon_of(number(inputs["squaredShift"]), delta))}


PRIVACY: dict[str, Callable[[Answer], Answer]] = {
    "claimed": _claimed,
    "exact_laplace": _exact_laplace,
    "exact_shift": _exact_shift,
    "gaussian_delta": _gaussian_delta,
    "gaussian_epsilon": _gaussian_epsilon,
}


def answer_privacy(inputs: Answer) -> Answer:
    """Answer a case of Privacy."""
    return PRIVACY[inputs["kind"]](inputs)


def answer_accounting(inputs: Answer) -> Answer:
    """Answer a case of Accounting: `count` releases of a sum to which a record adds at most `bound`."""
    if inputs["kind"] == "basic":
        epsilons, deltas = numbers(inputs["epsilons"]), numbers(inputs["deltas"])
        total = sum(epsilons, Fraction(0)), min(Fraction(1), sum(deltas, Fraction(0)))
        ends = [around(v, 2 * len(epsilons) * UNIT * v) for v in total]
        return {"epsilon": ends[0], "delta": ends[1]}
    # replacing a record removes one contribution and adds another
    moved = number(inputs["bound"]) * (2 if inputs["adjacency"] == "replace_one" else 1)
    count, scale = int(inputs["count"]), number(inputs["scale"])
    if inputs["kind"] == "laplace":
        epsilon = count * moved / scale
        return {"epsilon": around(epsilon, (8 + 2 * count) * UNIT * epsilon)}
    delta = number(inputs["delta"])
    if not 0 < delta < 1:
        raise RefusedError("Delta")
    return {"epsilon": between(*epsilon_of(count * (moved / scale) ** 2, delta))}
