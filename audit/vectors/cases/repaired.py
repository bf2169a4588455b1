"""Cases of the repaired mechanism: what a budget pays for, descent from given variates, thresholds from probes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from audit.vectors.cases.asked import DOUBLE, ERFC, AskedCase, Stream

BUDGETS = (("1", "1e-6"), ("1/4", "1e-5"), ("1", "0"), ("8", "0"))

FAIR = (("none", "0"), ("demographic_parity", "0"), ("demographic_parity", "1"))
"""Fairness, and whether predictions use the group."""


def repaired_budgets() -> Iterator[AskedCase]:
    """Yield the cases of RepairedBudget."""
    for name in ("label_sums", "gradient"):
        for m in (1, 2, 3, 4, 6):
            shared = {"kind": "change", "sum": name, "norm": "unit_ball", "zbar": "1/2", "dimension": str(2 * m)}
            yield AskedCase(f"{name} of {m} attributes", shared | {"attributes": str(m)})
        for norm, d in product(("unit_ball", "symmetric_ball"), (1, 2, 4)):
            shared = {"kind": "change", "sum": name, "norm": norm, "zbar": "1/2", "dimension": str(d)}
            yield AskedCase(f"{name} of {d} encoded columns in the {norm}", shared | {"attributes": "0"})
    for zbar in ("1/16", "1/3", "1/2", "7/8"):
        shared = {"kind": "change", "norm": "unit_ball", "attributes": "2", "dimension": "4", "zbar": zbar}
        yield AskedCase(f"a probe at zbar = {zbar}", shared | {"sum": "imbalance"})
    yield AskedCase("the count of a group", shared | {"sum": "group_count"})
    for (epsilon, delta), share, (l1, l2) in product(BUDGETS, ("1", "1/10"), (("2", "1"), ("4", "2"))):
        inputs = {"kind": "scale", "epsilon": epsilon, "delta": delta, "share": share, "l1": l1, "l2Squared": l2}
        name = f"a share of {share} of epsilon = {epsilon}, delta = {delta} for l1 = {l1}, l2^2 = {l2}"
        yield AskedCase(name, inputs, DOUBLE if delta == "0" else ERFC)
    yield from _schedules("100", "2000", "50000")
    for number, (epsilon, delta) in product(range(3), BUDGETS[1:3]):
        stream, count = Stream(f"account {number}"), 2 + 3 * number
        account: dict[str, Any] = {
            "kind": "account",
            "epsilon": epsilon,
            "delta": delta,
            "l1": [str(stream.dyadic(1, 4)) for _ in range(count)],
            "l2Squared": [str(stream.dyadic(1, 2)) for _ in range(count)],
            "scales": [str(stream.dyadic(8, 40)) for _ in range(count)],
        }
        yield AskedCase(f"{count} releases together, delta = {delta}", account)
    # where the limit of 40 rounds is reached
    yield from _schedules("400000")


def _schedules(*records: str) -> Iterator[AskedCase]:
    for (epsilon, delta), n, (fairness, keep) in product(BUDGETS, records, FAIR):
        columns = {"attributes": "4", "dimension": "9"} if keep == "1" else {"attributes": "3", "dimension": "8"}
        inputs = columns | {"kind": "schedule", "epsilon": epsilon, "delta": delta, "records": n}
        more = {"fairness": fairness, "keepGroup": keep}
        name = f"the schedule of {n} records, {fairness}, kept group {keep}, epsilon = {epsilon}, delta = {delta}"
        yield AskedCase(name, inputs | more, DOUBLE if delta == "0" else ERFC)


SHAPES = ((("2", "3"), "0"), (("3", "2", "1"), "1"), (("2", "1", "2", "1"), "0"), (("4",), "0"))
"""Columns of each attribute, and whether there is an intercept; one, two or four entries a record."""


BINS = {("3", "2", "1"): ("3", "2", "0"), ("2", "1", "2", "1"): ("0",) * 4, ("4",): ("3",)}
"""How many columns of an attribute are bins of a number: two are not enough, a fourth is for missing values."""

DESCENTS = (*((*shape, BINS[shape[0]]) for shape in SHAPES[1:]), (*SHAPES[1], ("0",) * 3), (*SHAPES[3], ("4",)))


def _cells(name: str, n: int, widths: tuple[str, ...], intercept: str) -> dict[str, Any]:
    """Return encoded records on the grid."""
    stream, m = Stream(name), len(widths) + int(intercept)
    # 1/sqrt(m), rounded towards zero on the grid; exact for one and four
    factor = {1: Fraction(1), 2: Fraction(741455, 2**20), 4: Fraction(1, 2)}[m]
    rows = []
    for _ in range(n):
        row = [factor] if intercept == "1" else []
        for width in map(int, widths):
            chosen = stream.whole(0, width - 1)
            cells = [factor * (k == chosen) for k in range(width)]
            row += cells if width > 1 else [factor * stream.dyadic(0, 1, 8)]
        rows.append([str(Fraction(int(v * 2**20), 2**20)) for v in row])
    return {"x": rows, "target": stream.bits(n)}


def repaired_descents() -> Iterator[AskedCase]:
    """Yield the cases of RepairedDescent."""
    for (widths, intercept), size, number in product(SHAPES, (1, 8), (1, 2)):
        name = f"a gradient, columns {' '.join(widths)}, intercept {intercept}, weights up to {size}, {number}"
        inputs = _cells(name, 7, widths, intercept)
        w = Stream(f"w of {name}").several(len(inputs["x"][0]), -size, size)
        yield AskedCase(name, {"kind": "gradient", **inputs, "w": w})
    for (widths, intercept, bins), noise, rounds in product(DESCENTS, ("gaussian", "laplace"), (2, 3, 5, 8)):
        of_bins = f"of them bins {' '.join(bins)}"
        name = f"{rounds} rounds, columns {' '.join(widths)}, {of_bins}, intercept {intercept}, {noise}"
        inputs = _cells(name, 12, widths, intercept)
        d = len(inputs["x"][0])
        given = {
            "kind": "descent",
            "widths": list(widths),
            "bins": list(bins),
            "intercept": intercept,
            "rounds": str(rounds),
            "noise": noise,
            "scaleCounts": "3/4" if noise == "gaussian" else "1/2",
            "scaleGradient": "1/2" if rounds < 8 else "6",
        }
        units = Stream(f"variates of {name}").several(2 * d + (rounds - 1) * d, -2, 2, 64)
        yield AskedCase(name, given | inputs | {"unitVariates": units})
    yield from _steps_too_far()


def _steps_too_far() -> Iterator[AskedCase]:
    """Yield descents on four attributes that say the same, which a quarter of the labels contradict."""
    for noise, rounds in product(("gaussian", "laplace"), (3, 8)):
        name = f"{rounds} rounds, four attributes that say the same, {noise}"
        yield _alike(name, 12, noise, rounds, "1/16" if noise == "gaussian" else "1/32")
    # it nearly explains what a step shows
    name = "3 rounds, four attributes that say the same, noise nearly as large"
    yield _alike(name, 40, "gaussian", 3, "5/16")


def _alike(name: str, n: int, noise: str, rounds: int, scale: str) -> AskedCase:
    said = Stream(name).bits(n)
    given = {
        "kind": "descent",
        "widths": ["2"] * 4,
        "bins": ["0"] * 4,
        "intercept": "0",
        "rounds": str(rounds),
        "noise": noise,
        "scaleCounts": scale,
        "scaleGradient": scale,
        "x": [["1/2" if k == int(one) else "0" for k in (0, 1)] * 4 for one in said],
        "target": [one if place >= n // 4 else str(1 - int(one)) for place, one in enumerate(said)],
    }
    units = Stream(f"variates of {name}").several(16 + (rounds - 1) * 8, -2, 2, 64)
    return AskedCase(name, given | {"unitVariates": units})


def repaired_thresholds() -> Iterator[AskedCase]:
    """Yield the cases of RepairedThreshold."""
    for count, deviation, n in (
        ("30", "3", "100"),
        ("1/2", "3", "100"),
        ("-3", "3", "100"),
        ("99", "3", "100"),
        ("1000/7", "20", "300"),
        ("41/4", "1/8", "64"),
    ):
        yield _share(count, deviation, n)
    for number, zbar in product(range(4), ("1/2", "5/16")):
        stream = Stream(f"imbalance {number}")
        inputs = {"kind": "imbalance", "z": stream.bits(6), "prediction": stream.bits(6), "zbar": zbar}
        yield AskedCase(f"what a probe sums up, {number}, zbar = {zbar}", inputs)
    for number, keep in product(range(3), (True, False)):
        name = f"margins {number}, {'with' if keep else 'without'} the group"
        stream = Stream(name)
        given: dict[str, Any] = {
            "kind": "margins",
            "x": stream.rows(5, 3),
            "w": stream.several(3, -3, 3),
            "zbar": "3/8",
        }
        more = {"z": stream.bits(5)} if keep else {"groupWeights": stream.several(3, -2, 2)}
        yield AskedCase(name, given | more)
    for number, probes, slack in product(range(6), (1, 2, 4), ("0", "1/16")):
        yield AskedCase(
            f"the next multiplier {number} after {probes} probes, slack {slack}", _probes(number, probes, slack)
        )
    for count, deviation in (("3", "1/2"), ("-90", "60"), ("97", "60")):
        yield _share(count, deviation, "100")


def _share(count: str, deviation: str, n: str) -> AskedCase:
    inputs = {"kind": "share", "noisyCount": count, "deviation": deviation, "records": n}
    return AskedCase(f"the released share: {count} of {n}, noise that deviates by {deviation}", inputs)


def _probes(number: int, count: int, slack: str) -> dict[str, Any]:
    stream = Stream(f"probes {number}")
    size = 12
    members = stream.bits(size)
    # group 1 is better off, to different degrees
    advantage = [stream.dyadic(-1, 1) + Fraction(int(z), 2 + number) for z in members]
    belonging = [Fraction(int(z)) - Fraction(3, 8) + stream.dyadic(-1, 1, 64) / 8 for z in members]
    multipliers = ["0", *stream.several(3, -1, 2)]
    differences = [str(stream.dyadic(0, 1, 64)), *stream.several(3, -1, 1, 64)]
    return {
        "kind": "next",
        "multipliers": multipliers[:count],
        "differences": differences[:count],
        "deviations": [["1/64", "1/4"][number % 2]] * count,
        "slack": slack,
        "advantage": [str(v) for v in advantage],
        "belonging": [str(v) for v in belonging],
        "members": members,
    }
