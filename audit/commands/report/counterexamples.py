"""The data sets and losses anywhere in the evidence of a claim."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

PAIRS = ((r"left\b.*", "right"), (r"D", "D'"))
"""Names of the two sides of a pair."""

MOST = 3
"""Most pairs shown for one claim; the evidence has them all."""

LOSSES = ("claimed_epsilon", "exact_epsilon", "claimed_delta", "exact_delta")


def pairs(evidence: Any) -> list[dict[str, Any]]:
    """Return the distinct pairs of neighbouring data sets in a piece of evidence."""
    found: list[dict[str, Any]] = []
    for pair in _pairs(evidence, ""):
        if all(pair["left"] != other["left"] or pair["right"] != other["right"] for other in found):
            found.append(pair)
    return found[:MOST]


def _pairs(value: Any, place: str) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for entry in value:
            yield from _pairs(entry, place)
    if not isinstance(value, dict):
        return
    for first, second in PAIRS:
        for name in value:
            other = second + name.removeprefix("left") if first != "D" else second
            if re.fullmatch(first, name) and isinstance(value.get(other), list):
                yield {"place": place, "left": _rows(value[name]), "right": _rows(value[other])}
    for name, entry in value.items():
        yield from _pairs(entry, name)


def _rows(rows: list[Any]) -> list[dict[str, Any]]:
    """Return the rows of a data set, equal ones counted."""
    found: list[dict[str, Any]] = []
    for row in rows:
        x, y, z = (row["x"], row["y"], row["z"]) if isinstance(row, dict) else row
        count = row["count"] if isinstance(row, dict) else 1
        if found and (found[-1]["x"], found[-1]["y"], found[-1]["z"]) == (x, y, z):
            found[-1]["count"] += count
        else:
            found.append({"count": count, "x": x, "y": y, "z": z})
    return found


def data_set(evidence: Any) -> list[dict[str, Any]] | None:
    """Return the one data set that refutes a claim which is not about neighbours, or None."""
    if isinstance(evidence, dict):
        data = evidence.get("data")
        if isinstance(data, list) and data and isinstance(data[0], dict) and "x" in data[0]:
            return _rows(data)
    return None


def losses(evidence: Any) -> dict[str, Any]:
    """Return the losses of the first judged statement in the evidence; `records` None stands for any number."""
    if isinstance(evidence, dict):
        if "claimed_epsilon" in evidence:
            found = {name: evidence.get(name) for name in LOSSES} | {"budget": evidence.get("budget", {})}
            return found | {"records": evidence.get("readings", {}).get("records")}
        for entry in evidence.values():
            if found := losses(entry):
                return found
    return {}
