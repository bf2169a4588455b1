"""A subject's own function called with outputs of both inputs together: no call tells which input it is of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from reference.common.arrays import FloatArray, IntArray

Function: TypeAlias = Callable[[FloatArray], FloatArray]

Pair: TypeAlias = tuple[FloatArray, FloatArray]
"""Outputs of both inputs, left and right, or numbers made of them."""

Coins: TypeAlias = Callable[[], np.random.Generator]
"""Makes a generator, which most events do not need."""


@dataclass(frozen=True, eq=False)
class Both:
    """As many outputs of left as of right.

    Parameters
    ----------
    left, right : ndarray, shape (n, k)
    coins : callable
        Makes the auditor's own generator for :meth:`mixed`.
    outputs_per_call : int
        Outputs of one draw may depend on each other: then no call of a function has two of them.
    """

    left: FloatArray
    right: FloatArray
    coins: Coins
    outputs_per_call: int = 1

    @cached_property
    def rng(self) -> np.random.Generator:
        """The generator."""
        return self.coins()

    def mixed(self, function: Function) -> Pair:
        """Return what a function of shape (n, k), to shape (n,) or (n, m), gives on left and right.

        A fair coin of the auditor's own puts each left output into a first call or a second, and a right one into
        the other.  So given all outputs of a call, each is of left with its own odds p : q, independently of the
        others.  Whichever of them a function of the whole call picks, those of an (epsilon, delta)-DP mechanism
        show no larger loss on average.  Their counts may vary more than independent ones: so some outputs are
        asked for again, in other company.
        """
        found = [mix.answers(function) for mix in self._mixes]
        if len(found) == 1:
            return found[0]
        one, other = (
            np.stack(side, axis=1).reshape(len(self.left), *side[0].shape[1:]) for side in zip(*found, strict=True)
        )
        return one, other

    @cached_property
    def _mixes(self) -> list[_Mix]:
        places = [slice(first, None, self.outputs_per_call) for first in range(self.outputs_per_call)]
        return [_Mix.of(self.left[place], self.right[place], self.rng) for place in places]


@dataclass(frozen=True, eq=False)
class _Mix:
    """Outputs of two calls; those of the second start `turn` rows later.

    Partners must not have one place in both calls: a function may remember the first.
    """

    swapped: IntArray
    turn: int
    first: FloatArray
    second: FloatArray

    @classmethod
    def of(cls, left: FloatArray, right: FloatArray, rng: np.random.Generator) -> _Mix:
        rows = len(left)
        coins = np.unpackbits(np.frombuffer(rng.bytes(-(-rows // 8)), dtype=np.uint8), count=rows)
        swapped = -coins.astype(np.int64)
        turn = int(rng.integers(rows))
        first, second = _exchanged(swapped, left, right)
        return cls(swapped, turn, first, np.roll(second, -turn, axis=0))

    def answers(self, function: Function) -> Pair:
        return _exchanged(self.swapped, function(self.first), np.roll(function(self.second), self.turn, axis=0))


def _exchanged(swapped: IntArray, left: FloatArray, right: FloatArray) -> Pair:
    """Return two arrays with some rows exchanged: those where all bits are set, the others have none.

    By bits, since a choice between two numbers by a coin takes a processor several times as long.
    """
    one, other = left.view(np.int64), right.view(np.int64)
    change = one ^ other
    change &= swapped if left.ndim == 1 else swapped[:, np.newaxis]
    one = one ^ change
    change ^= other
    return one.view(np.float64), change.view(np.float64)
