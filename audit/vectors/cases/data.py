"""Cases about records: domains, coefficients, groupings, metrics."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from audit.vectors.cases.asked import AskedCase, Stream

BOUNDS = (("0", "1"), ("-4", "12"), ("16", "80"), ("-1", "1"), ("2", "5"))
"""Declared ends of numeric attributes, in turn."""

FAIRNESS = ("none", "absolute", "covariance", "separate")


def declared(count: int, norm: str, *, intercept: bool, keep: bool, mixed: bool) -> dict[str, Any]:
    """Return the declaration of some attributes; `mixed` makes the second one-hot and the third ordinal."""
    kinds = [{1: "one_hot", 2: "ordinal"}.get(i, "numeric") if mixed else "numeric" for i in range(count)]
    ends = [BOUNDS[i % 5] if kind == "numeric" else ("0", "2") for i, kind in enumerate(kinds)]
    return {
        "encoded": "0",
        "kinds": kinds,
        "lower": [low for low, _ in ends],
        "upper": [high for _, high in ends],
        "norm": norm,
        "intercept": str(int(intercept)),
        "keepGroup": str(int(keep)),
        "clip": "0",
    }


def raw_rows(domain: dict[str, Any], count: int, stream: Stream) -> list[list[str]]:
    """Return records strictly inside the declared bounds, so that the data's own ends differ."""
    rows = []
    for _ in range(count):
        row = []
        for kind, low, high in zip(domain["kinds"], domain["lower"], domain["upper"], strict=True):
            inside = Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(stream.whole(1, 14), 16)
            row.append(str(inside) if kind == "numeric" else str(stream.whole(0, 2)))
        rows.append(row)
    return rows


def with_data(domain: dict[str, Any], count: int, name: str, **changes: Any) -> dict[str, Any]:
    """Return a domain with records."""
    stream = Stream(name)
    drawn = {"rows": raw_rows(domain, count, stream), "y": stream.bits(count), "z": stream.bits(count)}
    return domain | drawn | changes


def domains() -> Iterator[AskedCase]:
    """Yield the cases of Domain."""
    for norm, m, intercept, keep in product(
        ("unit_ball", "unit_box", "symmetric_ball"), (1, 2, 3, 4), (0, 1), (0, 1)
    ):
        mixed = m >= 2 and intercept != keep
        name = f"{m} attributes, {norm}, intercept {intercept}, kept group {keep}, mixed {int(mixed)}"
        domain = declared(m, norm, intercept=bool(intercept), keep=bool(keep), mixed=mixed)
        yield AskedCase(name, with_data(domain, 3, name))
    yield from _edges_of_domains()
    yield from _encoded_domains()
    yield from _refused_domains()


def _edges_of_domains() -> Iterator[AskedCase]:
    plain = declared(1, "unit_ball", intercept=False, keep=False, mixed=False)
    two = declared(2, "unit_ball", intercept=False, keep=False, mixed=False)
    for text in ("0", "1", "1/2", "1/4503599627370496", "1e-300"):
        yield AskedCase(f"the value {text} of [0, 1]", with_data(plain, 1, "edge", rows=[[text]]))
    for bounds in (("-1000000", "1000000"), ("-3", "-2"), ("0", "1e-6"), ("1000000", "1000001")):
        ends = {"lower": [bounds[0]], "upper": [bounds[1]]}
        for value in bounds:
            comment = f"a value at the end {value} of [{bounds[0]}, {bounds[1]}]"
            yield AskedCase(comment, with_data(plain | ends, 1, "edge", rows=[[value]]))
    clipped = two | {"clip": "1"}
    for row in (["2", "0"], ["-1", "0"], ["1/2", "13"], ["1/2", "-5"], ["5", "-100"], ["1e300", "-1e300"]):
        yield AskedCase(f"clipping moves {row} to the bounds", with_data(clipped, 1, "edge", rows=[row]))
    for label in "01":
        yield AskedCase(f"every label is {label}", with_data(two, 3, "labels", y=[label] * 3))
    yield AskedCase(
        "every group is 1 and stands among the features", with_data(two | {"keepGroup": "1"}, 2, "g", z=["1", "1"])
    )


def _encoded(norm: str, row: list[str], **changes: Any) -> dict[str, Any]:
    return {"encoded": "1", "norm": norm, "rows": [row], "y": ["1"], "z": ["0"]} | changes


def _encoded_domains() -> Iterator[AskedCase]:
    ball, box, symmetric = "unit_ball", "unit_box", "symmetric_ball"
    for norm, row, fact in (
        (ball, ["3/5", "4/5"], "a record of norm 1"),
        (ball, ["1"], "a unit vector"),
        (ball, ["0", "0"], "the zero record"),
        (ball, ["1/2", "1/2", "1/2", "1/2"], "four halves have norm 1"),
        (box, ["1", "1", "1"], "the corner of the box, outside the ball"),
        (box, ["0", "1"], "a corner of the box"),
        (symmetric, ["-3/5", "4/5"], "a negative entry and norm 1"),
        (symmetric, ["-1"], "the lower end of the symmetric ball"),
    ):
        yield AskedCase(f"{fact} in the {norm}", _encoded(norm, row))


def _refused_domains() -> Iterator[AskedCase]:
    two = declared(2, "unit_ball", intercept=False, keep=False, mixed=False)
    mixed = declared(2, "unit_ball", intercept=False, keep=False, mixed=True)
    for clip in "01":
        for value in ("NaN", "Infinity", "-Infinity"):
            rows = [["1/2", "0"], [value, "0"]]
            yield AskedCase(
                f"{value} is refused, clip {clip}", with_data(two | {"clip": clip}, 2, "bad", rows=rows)
            )
    for row in (["2", "0"], ["-1/16", "0"], ["1/2", "25/2"], ["1/2", "-9/2"]):
        yield AskedCase(f"{row} is outside the bounds, and clipping is off", with_data(two, 1, "bad", rows=[row]))
    for label in ("2", "1/2", "-1", "NaN"):
        yield AskedCase(f"the label {label} is neither 0 nor 1", with_data(two, 2, "bad", y=["1", label]))
    for group in ("2", "1/2", "-1"):
        yield AskedCase(f"the group {group} is neither 0 nor 1", with_data(two, 2, "bad", z=["1", group]))
    for lower, upper in (("1", "1"), ("3", "2")):
        ends = {"lower": [lower, "-4"], "upper": [upper, "12"]}
        yield AskedCase(
            f"the bounds [{lower}, {upper}] hold no interval",
            with_data(two, 1, "bad") | ends | {"rows": [["1", "0"]]},
        )
    for category in ("3", "-1", "1/2"):
        yield AskedCase(
            f"the category {category} is not declared", with_data(mixed, 1, "bad", rows=[["1/2", category]])
        )
    for norm, row in (
        ("unit_ball", ["4/5", "4/5"]),
        ("unit_ball", ["1", "1/1024"]),
        ("unit_ball", ["-1/2", "0"]),
        ("unit_box", ["1025/1024", "0"]),
        ("unit_box", ["-1/1024", "0"]),
        ("symmetric_ball", ["-4/5", "4/5"]),
        ("symmetric_ball", ["NaN", "0"]),
        ("unit_box", ["Infinity", "0"]),
        ("unit_ball", ["NaN"]),
    ):
        yield AskedCase(f"the encoded record {row} is outside the {norm}", _encoded(norm, row))


def objective_data(name: str, n: int, d: int, fairness: str, *, low: int = 0) -> dict[str, Any]:
    """Return already encoded records."""
    stream = Stream(name)
    found: dict[str, Any] = {"x": stream.rows(n, d, low), "y": stream.bits(n)}
    return found | ({} if fairness == "none" else {"z": stream.bits(n)})


def coefficients() -> Iterator[AskedCase]:
    """Yield the cases of Coefficients."""
    for fairness, basis, d, n in product(FAIRNESS, ("monomial", "matrix"), (1, 2, 3, 4), (3, 6)):
        name = f"{fairness}, {basis}, d = {d}, {n} records"
        inputs = {"fairness": fairness, "fairnessWeight": "1", "basis": basis}
        yield AskedCase(name, objective_data(name, n, d, fairness) | inputs)
    for fairness, weight in product(FAIRNESS[1:], ("0", "1/2", "2", "8")):
        name = f"{fairness}, alpha_1 = {weight}"
        inputs = {"fairness": fairness, "fairnessWeight": weight, "basis": "monomial"}
        yield AskedCase(name, objective_data(name, 4, 2, fairness) | inputs)
    for fairness in FAIRNESS:
        shared = {"fairness": fairness, "fairnessWeight": "1", "basis": "monomial"}
        group = {} if fairness == "none" else {"z": ["1"]}
        yield AskedCase(
            f"one record, {fairness}: zbar is its own group", {"x": [["1/2", "1/4"]], "y": ["1"]} | group | shared
        )
        zeros = {"x": [["0", "0"], ["0", "0"]], "y": ["0", "1"]}
        groups = {} if fairness == "none" else {"z": ["0", "1"]}
        yield AskedCase(f"records of zeros, {fairness}", zeros | groups | shared)
    for fairness in ("none", "covariance", "separate"):
        name = f"entries of both signs, {fairness}"
        inputs = {"fairness": fairness, "fairnessWeight": "1", "basis": "monomial"}
        found = objective_data(name, 5, 3, fairness, low=-1)
        halves = {"x": [[str(Fraction(v) / 2) for v in row] for row in found["x"]]}
        yield AskedCase(name, found | halves | inputs)
    for fairness in FAIRNESS[1:]:
        name = f"everybody in group 1, {fairness}"
        inputs = {"fairness": fairness, "fairnessWeight": "1", "basis": "monomial"}
        yield AskedCase(name, objective_data(name, 3, 2, fairness) | inputs | {"z": ["1"] * 3})


def groupings() -> Iterator[AskedCase]:
    """Yield the cases of Grouping."""
    for d, basis in product((1, 2, 3, 4, 5), ("monomial", "matrix")):
        for s in sorted({0, d // 2, d - 1}):
            for fairness in ("none", "separate"):
                comment = f"d = {d}, {basis}, x_s is coordinate {s}, {fairness}"
                shared = {"dimension": str(d), "basis": basis, "xS": str(s), "fairness": fairness}
                yield AskedCase(comment, shared | {"intercept": "0", "keepGroup": "0"})
    for d, intercept, keep in product((3, 4), "01", "01"):
        shared = {"dimension": str(d), "basis": "monomial", "xS": "1", "fairness": "absolute"}
        comment = f"what x_s is drawn from: d = {d}, intercept {intercept}, kept group {keep}"
        yield AskedCase(comment, shared | {"intercept": intercept, "keepGroup": keep})


def metrics() -> Iterator[AskedCase]:
    """Yield the cases of FairnessMetric."""
    for d, n, number in product((1, 2, 3), (2, 5, 9), (1, 2, 3, 4)):
        name = f"d = {d}, {n} records, number {number}"
        inputs = objective_data(name, n, d, "absolute")
        yield AskedCase(name, inputs | {"w": Stream(f"w of {name}").several(d, -2, 2, 8)})
    rows, y, z = (
        [["1/2", "1/2"], ["1", "0"], ["1/4", "1/4"], ["0", "1"]],
        ["1", "0", "0", "1"],
        ["0", "1", "1", "0"],
    )
    for w, fact in (
        (["1", "-1"], "two records with x.w = 0 are predicted 0"),
        (["0", "0"], "w = 0 predicts 0 for everybody"),
        (["1", "1"], "everybody is predicted 1"),
        (["-1", "-1"], "everybody is predicted 0"),
        (["1e-300", "0"], "a tiny positive score is a 1"),
        (["1e200", "-1e200"], "large weights"),
    ):
        yield AskedCase(fact, {"x": rows, "y": y, "z": z, "w": w})
    for group in "01":
        data = {"x": rows, "y": y, "z": [group] * 4, "w": ["1", "-1/2"]}
        yield AskedCase(f"everybody in group {group}: no difference is defined", data)
    uneven = {"x": [*rows, ["1", "1/2"]], "y": [*y, "1"], "z": ["0", "1", "1", "1", "1"], "w": ["1", "-1/2"]}
    yield AskedCase("groups of unequal sizes", uneven)
