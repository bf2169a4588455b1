"""Cases and answers as lines: JSON, or a flat form for languages without a JSON library."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, TypeAlias

from audit.vectors.format import VectorCase
from reference.common.strict_json import unique_members

Exchange: TypeAlias = Literal["json", "flat"]

ROWS = ("x", "xNeighbour", "samples", "secondMoments", "iterates")
LISTED = (
    *("inS", "selectable", "y", "yNeighbour", "z", "zNeighbour"),
    *("linear", "quadratic", "covariance", "noisy", "w", "gradient", "counts", "advantage", "belonging"),
)
LISTS = dict.fromkeys(ROWS, 2) | dict.fromkeys(LISTED, 1)
"""Depth of the lists in answered fields; all others are numbers."""


class UnreadableAnswerError(ValueError):
    """A line is not an answer."""


def case_line(kind: str, case: VectorCase, exchange: Exchange) -> bytes:
    """Return one case in the form that the program reads."""
    asked = {"tcId": case.tc_id, "type": kind}
    if exchange == "json":
        return (json.dumps({**asked, "inputs": case.given}) + "\n").encode()
    fields = {name: flat(value) for name, value in {**asked, **case.given}.items()}
    return ("\t".join(f"{name}={value}" for name, value in fields.items()) + "\n").encode()


def flat(value: Any) -> str:
    """Return a value in the flat form: commas in a list, semicolons between rows."""
    if not isinstance(value, list):
        return str(value)
    return (";" if value and isinstance(value[0], list) else ",").join(flat(entry) for entry in value)


def answer_of(line: bytes, exchange: Exchange) -> tuple[int, dict[str, Any]]:
    """Return the case that a line answers, and the answer.

    Raises
    ------
    UnreadableAnswerError
    """
    try:
        text = line.decode()
        found = json.loads(text, object_pairs_hook=unique_members) if exchange == "json" else _unflat(text)
    except (ValueError, RecursionError) as problem:
        raise UnreadableAnswerError(str(problem)) from problem
    number = found.get("tcId") if isinstance(found, dict) else None
    if isinstance(number, bool) or not isinstance(number, int):
        raise UnreadableAnswerError("no object with a tcId")
    # null fields that are always written, such as "error": null, say nothing
    said = {name: value for name, value in found.items() if value is not None and value is not False}
    return number, {name: value for name, value in said.items() if name != "tcId"}


def _unflat(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.strip("\r\n").split("\t"):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"no field: {part!r}")
        if name in found:
            raise ValueError(f"{name!a} is given twice")
        found[name] = _deep(value, LISTS.get(name, 0))
    number = found.get("tcId", "")
    return {**found, "tcId": int(number) if re.fullmatch("[0-9]+", number) else None}


def _deep(value: str, depth: int) -> Any:
    if depth == 0:
        return value
    parts = value.split(";" if depth == 2 else ",") if value else []
    return [_deep(part, depth - 1) for part in parts]
