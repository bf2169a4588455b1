"""Passages of draws that begin where the draws say: one that is drawn again is found wherever it stands.

Two processes of one program that have the same seed answer other questions with the same noise, and so not always
from the first draw of an answer on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from reference.common.arrays import FloatArray, IntArray, NumberArray

PASSAGE, FEWEST_DISTINCT = 256, 64
"""Draws of a passage, and how many of them must be distinct: the same passage twice are then the same draws.

Under any law a sequence with 64 distinct draws has at most the probability 64^-64.
"""

OPENING, MOST_OPENINGS = 8, 64
"""The draws that say whether a passage begins, as one of 256 does; at most one of 64 is taken."""

OPENING_COORDINATES = 16
"""Coordinates that say so."""

HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""An odd number without pattern (2^64 over the golden ratio)."""


def passages(outputs: FloatArray) -> Iterator[tuple[int, bytes]]:
    """Yield the place and a digest of each passage, and of the first draws of all; shape (n, k)."""
    mixed: NumberArray = np.zeros(len(outputs), dtype=np.uint64)
    for column in outputs.T[:OPENING_COORDINATES]:
        mixed = _mixed(mixed, np.ascontiguousarray(column).view(np.uint64))
    for start in (0, *_openings(mixed).tolist()):
        if len(np.unique(mixed[start : start + PASSAGE])) >= FEWEST_DISTINCT:
            yield start, hashlib.blake2b(outputs[start : start + PASSAGE].tobytes(), digest_size=16).digest()


def _openings(mixed: NumberArray) -> IntArray:
    last = len(mixed) - PASSAGE
    if last < 1:
        return np.empty(0, dtype=np.intp)
    said: NumberArray = np.zeros(last + 1, dtype=np.uint64)
    for place in range(OPENING):
        said = _mixed(said, mixed[place : place + last + 1])
    found = np.flatnonzero(said >> np.uint64(56) == 0)
    return found[found > 0][: len(mixed) // MOST_OPENINGS]


def _mixed(before: NumberArray, more: NumberArray) -> NumberArray:
    found: NumberArray = (before ^ more) * HASH_FACTOR
    found ^= found >> np.uint64(29)
    return found
