"""Judges answers to cases with many right ones, which ask for two data sets, by their exact change."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from audit.vectors.judge import number_of
from audit.vectors.sources.numbers import Answer, exactly
from audit.vectors.sources.suprema import change

SLACK = Fraction(1, 2**48)
"""A squared length may exceed 1 by this much: records are rounded to doubles."""

Row = tuple[Fraction, ...]


def measured(inputs: Answer, found: Answer) -> Answer:
    """Return an answer in the form to judge: for a pair, whether it is admissible, and its change."""
    if not str(inputs.get("kind", "")).startswith("attaining") or "error" in found:
        return found
    first, second = (_data_set(inputs, found, end) for end in ("", "Neighbour"))
    if first is None or second is None:
        return {"encodable": "no data sets that can be read"}
    inside = all(_is_inside(row[:-2], inputs["norm"]) for row in first + second)
    return {
        "encodable": "1" if inside else f"not in the {inputs['norm']}",
        "neighbouring": _neighbouring(first, second, inputs),
        "attained": exactly(_attained(first, second, inputs)),
    }


def _data_set(inputs: Answer, found: Answer, end: str) -> list[Row] | None:
    """Return the records as rows (x, y, z), or None."""
    x, y = found.get(f"x{end}"), found.get(f"y{end}")
    if (
        not isinstance(x, list)
        or not isinstance(y, list)
        or not 0 < len(x) == len(y) <= 2 * int(inputs["records"])
    ):
        return None
    z = ["0"] * len(x) if inputs["fairness"] == "none" else found.get(f"z{end}")
    if not isinstance(z, list) or len(z) != len(x):
        return None
    rows = []
    for entries, label, group in zip(x, y, z, strict=True):
        if not isinstance(entries, list) or len(entries) != int(inputs["dimension"]):
            return None
        row = [number_of(value) for value in [*entries, label, group]]
        known = tuple(value for value in row if value is not None)
        if len(known) < len(row) or not {*known[-2:]} <= {0, 1}:
            return None
        rows.append(known)
    return rows


def _is_inside(row: Row, norm: str) -> bool:
    if norm != "symmetric_ball" and min(row) < 0:
        return False
    return max(row) <= 1 if norm == "unit_box" else sum(v * v for v in row) <= 1 + SLACK


def _neighbouring(first: list[Row], second: list[Row], inputs: Answer) -> str:
    """Return ``"1"`` for neighbours, or say how the two data sets differ."""
    gone, come = (
        sum(found.values()) for found in (Counter(first) - Counter(second), Counter(second) - Counter(first))
    )
    size = int(inputs["records"])
    replaced = inputs["adjacency"] == "replace_one"
    wanted = [(1, 1)] if replaced else [(0, 1), (1, 0)]
    if max(len(first), len(second)) != size:
        return f"{len(first)} and {len(second)} records"
    return "1" if (gone, come) in wanted else f"{gone} records gone and {come} come"


def _attained(first: list[Row], second: list[Row], inputs: Answer) -> Fraction:
    shared = {name: inputs[name] for name in ("fairness", "basis", "fairnessWeight")}
    one, two = (shared | _columns(rows) for rows in (first, second))
    power = int(inputs["kind"][-1])
    return sum((abs(v) ** power for v in change(one, two)), Fraction(0))


def _columns(rows: list[Row]) -> dict[str, Any]:
    texts = [[exactly(value) for value in row] for row in rows]
    return {"x": [row[:-2] for row in texts], "y": [row[-2] for row in texts], "z": [row[-1] for row in texts]}
