"""Changes of bytes and of documents, drawn at random."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

VALUES = (
    None,
    True,
    False,
    0,
    -1,
    1,
    10**18,
    1e308,
    -1e-308,
    "",
    "x",
    "1/0",
    "1e400",
    "1_0",
    "nan",
    "\ud800",
    "\x1b[2J",
    "é" * 300,
    [],
    {},
    [[]],
    [None],
    {"lo": "1", "hi": "0"},
    {"schema": "domain_v1"},
    "9" * 5000,
    [1] * 50,
    "2/3",
    "0",
    "unit_ball",
)


def mutate(text: bytearray, draw: random.Random, pieces: Sequence[bytes]) -> None:
    """Put bytes in, take some out, or double some, at one place."""
    place = draw.randint(0, len(text))
    length = draw.choice([0, 0, 1, 1, 2, 8])
    text[place : place + length] = draw.choice(
        [b"", draw.choice(pieces), draw.choice(pieces), text[place : place + 20]]
    )


def changed(held: Any, draw: random.Random) -> Any:
    """Return a document with one value somewhere in it replaced, left out or doubled."""
    if not isinstance(held, (dict, list)) or not held or draw.random() < 0.1:
        return draw.choice(VALUES)
    if isinstance(held, dict):
        name = draw.choice(sorted(held))
        if draw.random() < 0.1:
            return {key: value for key, value in held.items() if key != name}
        if draw.random() < 0.1:
            return {**held, draw.choice(["x", "\x1b[31m", "", "schema", "name"]): draw.choice(VALUES)}
        return {**held, name: changed(held[name], draw)}
    place = draw.randrange(len(held))
    if draw.random() < 0.15:
        return held[:place] + held[place + 1 :]
    if draw.random() < 0.15:
        return [*held, held[place]]
    return [*held[:place], changed(held[place], draw), *held[place + 1 :]]
