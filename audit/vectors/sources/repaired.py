"""The repaired mechanism from its definitions: enumeration of records, rational arithmetic, 60 digits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import ceil, prod
from typing import Any

import numpy as np

from audit.vectors.sources.numbers import (
    UNIT,
    WORK,
    Answer,
    around,
    between,
    exactly,
    from_work,
    number,
    numbers,
    to_work,
)
from audit.vectors.sources.scales import analytic_sigma

TINY = Fraction(1, 10**9)
"""Relative accuracy of a root finder in doubles; the reference's scales are larger by 2^-30."""

GRID = 2**20
"""Residuals and shares are multiples of 1/GRID."""

SMALL = Fraction(1, 10**6)
"""Least distance of a decision from its edge, in steps, so that rounding does not turn it."""

Vector = list[Any]


def _root(value: Fraction) -> Any:
    return WORK.sqrt(to_work(value))


def _near(value: Any, spread: Fraction = 16 * UNIT) -> Any:
    exact = value if isinstance(value, Fraction) else from_work(value)
    return around(exact, abs(exact) * spread)


# --- what a record changes -----------------------------------------------------------------------------------


def _records(inputs: Answer) -> list[Vector]:
    """Return extreme records: a cell of two for each attribute, or directions with equal entries."""
    m = int(inputs["attributes"])
    if m:
        size = 1 / WORK.sqrt(m)
        return [[size * v for one in cells for v in (one, 1 - one)] for cells in product((0, 1), repeat=m)]
    d = int(inputs["dimension"])
    signs = (0, 1, -1) if inputs["norm"] == "symmetric_ball" else (0, 1)
    found = [cells for cells in product(signs, repeat=d) if any(cells)]
    return [[WORK.mpf(v) / WORK.sqrt(sum(map(abs, cells))) for v in cells] for cells in found]


def _added(inputs: Answer) -> list[Vector]:
    """Return what one record can add to the sum."""
    name = inputs["sum"]
    if name == "group_count":
        return [[WORK.mpf(0)], [WORK.mpf(1)]]
    if name == "imbalance":
        zbar = to_work(number(inputs["zbar"]))
        return [[(z - zbar) * (chosen - WORK.mpf(1) / 2)] for z in (0, 1) for chosen in (0, 1)]
    rows = _records(inputs)
    if name == "gradient":
        return [[side * v / 2 for v in row] for row in rows for side in (1, -1)]
    zeros = [WORK.mpf(0)] * len(rows[0])
    return [[*row, *zeros] for row in rows] + [[*zeros, *row] for row in rows]


def _change(inputs: Answer) -> Answer:
    # compares all records in doubles, and the farthest two with all digits
    added = _added(inputs)
    rows = np.array([[float(v) for v in one] for one in added])
    moved = np.abs(rows[:, None, :] - rows[None, :, :])
    found = {}
    for name, power in (("l1", 1), ("l2Squared", 2)):
        one, other = divmod(int((moved**power).sum(axis=2).argmax()), len(added))
        found[name] = _near(sum(abs(a - b) ** power for a, b in zip(added[one], added[other], strict=True)))
    return found


# --- what a budget pays for ----------------------------------------------------------------------------------


def _unit_sigma(inputs: Answer) -> Fraction:
    low, high = analytic_sigma(Fraction(1), number(inputs["epsilon"]), number(inputs["delta"]))
    return (low + high) / 2


def _scale(inputs: Answer) -> Answer:
    share = number(inputs["share"])
    if number(inputs["delta"]) == 0:
        return {"scale": _near(number(inputs["l1"]) / (share * number(inputs["epsilon"])))}
    ratio = from_work(_root(number(inputs["l2Squared"]) / share))
    return {"scale": _near(_unit_sigma(inputs) * ratio, 4 * TINY)}


def _whole(value: Any) -> int:
    """Return the nearest whole number; a case near a tie would be unfair."""
    below = int(WORK.floor(value))
    rest = value - below
    assert abs(rest - WORK.mpf(1) / 2) > to_work(SMALL), "two rounds are as good"
    return below + int(rest > 0.5)


def _rounds(inputs: Answer, share: Fraction) -> int:
    n, d = int(inputs["records"]), int(inputs["dimension"])
    if number(inputs["delta"]):
        deviation = to_work(_unit_sigma(inputs)) / _root(share)
    else:
        l1 = WORK.sqrt(int(inputs["attributes"]))
        deviation = WORK.sqrt(2) * l1 / to_work(share * number(inputs["epsilon"]))
    signal = n / (d * deviation)
    return min(40, max(2, _whole(signal ** (WORK.mpf(1) / (2 if number(inputs["delta"]) else 3)))))


def _probe_share(inputs: Answer) -> Fraction:
    n = int(inputs["records"])
    if number(inputs["delta"]):
        needed = (300 * to_work(_unit_sigma(inputs)) / n) ** 2
    else:
        needed = 300 * WORK.sqrt(2) / (n * to_work(number(inputs["epsilon"])))
    return min(Fraction(2, 5), max(Fraction(1, 20), Fraction(_whole(min(WORK.mpf(100), 100 * needed)), 100)))


def _schedule(inputs: Answer) -> Answer:
    label, group, count, probes = Fraction(1), Fraction(0), Fraction(0), Fraction(0)
    if inputs["fairness"] != "none":
        count, probes = Fraction(1, 50), _probe_share(inputs)
        models = 1 - count - probes
        group = Fraction(0) if inputs["keepGroup"] == "1" else models / 4
        label = models - group
    shares = {"labelModel": label, "groupModel": group, "groupCount": count, "probes": probes}
    rounds = {"labelRounds": _rounds(inputs, label), "groupRounds": _rounds(inputs, group) if group else 0}
    return {name: _near(v) for name, v in shares.items()} | {name: str(v) for name, v in rounds.items()}


def _account(inputs: Answer) -> Answer:
    scales = numbers(inputs["scales"])
    if number(inputs["delta"]) == 0:
        loss = sum((l1 / b for l1, b in zip(numbers(inputs["l1"]), scales, strict=True)), Fraction(0))
    else:
        loss = sum((v / b**2 for v, b in zip(numbers(inputs["l2Squared"]), scales, strict=True)), Fraction(0))
    return {"loss": _near(loss, 64 * UNIT)}


# --- descent -------------------------------------------------------------------------------------------------


def _residual(score: Any, target: Fraction) -> Any:
    """Return the slope of the capped loss, rounded towards zero on the grid."""
    slope = 1 / (1 + WORK.exp(-score)) - to_work(target)
    steps = max(-WORK.mpf(1) / 2, min(WORK.mpf(1) / 2, slope)) * GRID
    rest = abs(steps - WORK.nint(steps))
    assert rest == 0 or rest > to_work(SMALL), "rounding decides the grid"
    return (WORK.floor(abs(steps)) / GRID) * WORK.sign(steps)


def _gradient_at(w: Vector, rows: list[Vector], target: Vector) -> Vector:
    slopes = [
        _residual(sum(a * b for a, b in zip(row, w, strict=True)), t) for row, t in zip(rows, target, strict=True)
    ]
    return [sum(r * row[e] for r, row in zip(slopes, rows, strict=True)) for e in range(len(w))]


def _rows(inputs: Answer) -> list[Vector]:
    return [[to_work(v) for v in numbers(row)] for row in inputs["x"]]


def _gradient(inputs: Answer) -> Answer:
    w = [to_work(v) for v in numbers(inputs["w"])]
    found = _gradient_at(w, _rows(inputs), numbers(inputs["target"]))
    return {"gradient": [around(from_work(v), len(inputs["x"]) * UNIT) for v in found]}


def _blocks(inputs: Answer) -> list[range]:
    """Return the columns of each attribute with several."""
    found, start = [], int(inputs["intercept"])
    for width in map(int, inputs["widths"]):
        found += [range(start, start + width)] if width > 1 else []
        start += width
    return found


def _second_moments(counts: Vector, inputs: Answer) -> list[Vector]:
    d, n = len(counts) // 2, len(inputs["x"])
    factor = 1 / WORK.sqrt(len(inputs["widths"]) + int(inputs["intercept"]))
    full = n * factor
    totals = [min(max(counts[e] + counts[d + e], WORK.mpf(0)), full) for e in range(d)]
    own: dict[int, range] = {}
    for block in _blocks(inputs):
        total = sum(totals[e] for e in block)
        for e in block:
            totals[e] = totals[e] * full / total if total > 0 else full / len(block)
            own[e] = block
    return [
        [
            factor * totals[e] if e == k else WORK.mpf(0) if k in own.get(e, ()) else totals[e] * totals[k] / n
            for k in range(d)
        ]
        for e in range(d)
    ]


def _likely_correlation(inputs: Answer, d: int) -> Any:
    """Return the matrix of correlations that a ridge takes for likely."""
    found, start = WORK.eye(d), int(inputs["intercept"])
    for width, bins in zip(map(int, inputs["widths"]), map(int, inputs["bins"]), strict=True):
        for i, j in product(range(bins), repeat=2):
            if bins > 2:
                found[start + i, start + j] = to_work(Fraction(1, 2) ** abs(i - j))
        start += width
    return found


def _overshot(
    taken: Any, before: Any, after: Any, deviations: tuple[Any, Any], curvature: Any, second: Any
) -> bool:
    """Return whether the loss rises behind a step by over a quarter of its fall before it, beyond the noise."""
    inverse = curvature**-1
    carried = inverse * second / 4 * inverse
    followed = deviations[0] ** 2 * sum(carried[e, e] for e in range(len(taken)))
    noise = 2 * WORK.norm(taken) * WORK.sqrt(deviations[0] ** 2 + deviations[1] ** 2)
    rises, fell = (taken.T * after)[0], -(taken.T * before)[0]
    beyond = rises - followed - fell / 4 - noise
    assert abs(beyond) > to_work(SMALL) * (abs(rises) + noise), "rounding decides whether a step is halved"
    return bool(beyond > 0)


def _descent(inputs: Answer) -> Answer:
    rows, target = _rows(inputs), numbers(inputs["target"])
    units, rounds, d = numbers(inputs["unitVariates"]), int(inputs["rounds"]), len(inputs["x"][0])
    of_counts, of_gradient = (to_work(number(inputs[name])) for name in ("scaleCounts", "scaleGradient"))
    sums = [sum(to_work(t) * row[e] for row, t in zip(rows, target, strict=True)) for e in range(d)]
    sums += [sum(to_work(1 - t) * row[e] for row, t in zip(rows, target, strict=True)) for e in range(d)]
    counts = [v + of_counts * to_work(u) for v, u in zip(sums, units, strict=False)]
    second = _second_moments(counts, inputs)
    spread = WORK.sqrt(2) if inputs["noise"] == "laplace" else 1
    ridge = max(2 * spread * of_gradient / WORK.sqrt(rounds), WORK.mpf(2) ** -40 * max(map(max, second)))
    curvature = WORK.matrix(second) / 4 + ridge * _likely_correlation(inputs, d) ** -1
    noisy = WORK.matrix([(counts[d + e] - counts[e]) / 2 for e in range(d)])
    # of the noise before and after a step
    deviations = spread * of_counts / WORK.sqrt(2), spread * of_gradient
    taken = -WORK.lu_solve(curvature, noisy)
    w = list(taken)
    iterates = [w]
    for step in range(rounds - 1):
        drawn, before = units[2 * d + step * d :][:d], noisy
        exact = _gradient_at(w, rows, target)
        noisy = WORK.matrix([v + of_gradient * to_work(u) for v, u in zip(exact, drawn, strict=True)])
        if _overshot(taken, before, noisy, deviations, curvature, WORK.matrix(second)):
            curvature = 2 * curvature
        taken = -WORK.lu_solve(curvature, noisy)
        w = [a + b for a, b in zip(w, taken, strict=True)]
        iterates.append(w)
        deviations = deviations[1], deviations[1]
    last = iterates[-max(1, 2 * rounds // 5) :]
    mean = [sum(column) / len(last) for column in zip(*last, strict=True)]
    return {
        "counts": _close([counts])[0],
        "secondMoments": _close(second),
        "iterates": _close(iterates),
        "w": _close([mean])[0],
    }


def _close(rows: list[Vector]) -> list[list[Any]]:
    """Return enclosures as wide as the error of a linear solve in doubles."""
    longest = max(from_work(abs(v)) for row in rows for v in row)
    return [[around(from_work(v), longest / 2**36) for v in row] for row in rows]


# --- fairness ------------------------------------------------------------------------------------------------


def _share(inputs: Answer) -> Answer:
    steps = number(inputs["noisyCount"]) / int(inputs["records"]) * GRID
    below = steps.numerator // steps.denominator
    assert abs(steps - below - Fraction(1, 2)) > SMALL, "two shares are as near"
    zbar = Fraction(below + (steps - below > Fraction(1, 2)), GRID)
    deviation = number(inputs["deviation"]) / int(inputs["records"]) * GRID
    assert deviation == round(deviation) or abs(deviation - round(deviation)) > SMALL, "two ceilings are as near"
    least = min(Fraction(1, 16), Fraction(ceil(deviation), GRID))
    return {"zbar": exactly(min(1 - least, max(least, zbar)))}


def _imbalance(inputs: Answer) -> Answer:
    zbar, pairs = number(inputs["zbar"]), zip(numbers(inputs["z"]), numbers(inputs["prediction"]), strict=True)
    return {"sum": exactly(sum(((z - zbar) * (p - Fraction(1, 2)) for z, p in pairs), Fraction(0)))}


def _probability(score: Any) -> Any:
    likelier = 1 / (3 - 2 / (1 + WORK.exp(-abs(score))))
    return likelier if score >= 0 else 1 - likelier


def _scores(w: list[str], rows: list[Vector]) -> Vector:
    return [sum(a * to_work(b) for a, b in zip(row, numbers(w), strict=True)) for row in rows]


def _margins(inputs: Answer) -> Answer:
    rows, zbar = _rows(inputs), to_work(number(inputs["zbar"]))
    advantage = _scores(inputs["w"], rows)
    if "groupWeights" in inputs:
        advantage = [_probability(score) - WORK.mpf(1) / 2 for score in advantage]
        belonging = [_probability(score) - zbar for score in _scores(inputs["groupWeights"], rows)]
    else:
        belonging = [to_work(z) - zbar for z in numbers(inputs["z"])]
    found = {"advantage": advantage, "belonging": belonging}
    return {name: [around(from_work(v), 64 * UNIT) for v in values] for name, values in found.items()}


def _curve(inputs: Answer) -> Callable[[Fraction], Fraction]:
    """Return the expected signed risk difference at a multiplier."""
    a, b = numbers(inputs["advantage"]), numbers(inputs["belonging"])
    members = [text == "1" for text in inputs["members"]]

    def difference(multiplier: Fraction) -> Fraction:
        chosen = [one > multiplier * two for one, two in zip(a, b, strict=True)]
        rates = []
        for group in (True, False):
            those = [c for c, member in zip(chosen, members, strict=True) if member == group]
            if not those:
                return Fraction(0)
            rates.append(Fraction(sum(those), len(those)))
        return rates[0] - rates[1]

    return difference


def _sum(*columns: list[Fraction]) -> Fraction:
    """Return the sum of the products."""
    return sum((prod(row) for row in zip(*columns, strict=True)), Fraction(0))


def _next(inputs: Answer) -> Answer:
    curve = _curve(inputs)
    found = [min(Fraction(1), max(Fraction(-1), v)) for v in numbers(inputs["differences"])]
    slack = number(inputs["slack"])
    first = found[0]
    level = min(slack, abs(first)) * (1 if first > 0 else -1 if first < 0 else 0)
    expected = [curve(m) for m in numbers(inputs["multipliers"])]
    noise = numbers(inputs["deviations"])
    trust = [
        1 / (s**2 + (Fraction(3, 10) * (v - level)) ** 2 + Fraction(1, 10**12))
        for s, v in zip(noise, found, strict=True)
    ]
    # ridge regression of found - expected on (1, expected)
    one, two = sum(trust) + 25, _sum(trust, expected)
    three = _sum(trust, expected, expected) + Fraction(100, 49)
    gaps = [v - c for v, c in zip(found, expected, strict=True)]
    right = _sum(trust, gaps), _sum(trust, gaps, expected)
    steeper = (one * right[1] - two * right[0]) / (one * three - two * two)
    scale = min(Fraction(4), max(Fraction(3, 10), 1 + steeper))
    error = (_sum(trust, found) - scale * _sum(trust, expected)) / one
    wanted = (level - error) / scale
    low, high = Fraction(-32), Fraction(32)
    for _ in range(30):
        middle = (low + high) / 2
        assert abs(curve(middle) - wanted) > SMALL, "rounding decides the half"
        low, high = (middle, high) if curve(middle) > wanted else (low, middle)
    return {"multiplier": between(low - SMALL, high + SMALL)}


KINDS: dict[str, Callable[[Answer], Answer]] = {
    "change": _change,
    "scale": _scale,
    "schedule": _schedule,
    "account": _account,
    "gradient": _gradient,
    "descent": _descent,
    "share": _share,
    "imbalance": _imbalance,
    "margins": _margins,
    "next": _next,
}


def answer_repaired(inputs: Answer) -> Answer:
    """Answer a case of the repaired mechanism."""
    return KINDS[inputs["kind"]](inputs)
