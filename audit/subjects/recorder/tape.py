"""The noise calls of one run."""

from __future__ import annotations

import copy
import inspect
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator

from audit.subjects.recorder.carried import Affine, FollowedNoise, plain
from reference.common.arrays import FloatArray

LIBRARIES = (f"{Path(__file__).parent}/", "/numpy/", "/scipy/", "/opendp/", "/diffprivlib/mechanisms/")

LISTED = (list, tuple, deque)
"""Compared item by item: these may have any shape."""


@dataclass(eq=False)
class NoiseCall:
    """One call that draws noise.

    Parameters
    ----------
    name : str
        Such as `laplace`.
    kind : {'laplace', 'gaussian', 'other', 'mechanism'}
        A `mechanism` adds its own noise and states its own loss.
    line : str
        file:line of the user's frame.
    public : dict
        Parameters that may not depend on data.
    mechanism, value, answer : object, optional
        The mechanism, its value, and its answer.
    opened : list
        For other kinds: the values that the noise was added to, and the noisy numbers.
    """

    name: str
    kind: str
    line: str
    public: dict[str, Any]
    mechanism: Any = None
    value: Any = None
    answer: Any = None
    opened: list[tuple[Affine, FloatArray]] = field(default_factory=list)


@dataclass(eq=False)
class Draw:
    """One call of a random method that adds no noise.

    Parameters
    ----------
    name : str
        Such as `binomial`.
    parameters, population : object
        What was given; a population is what the method draws from, if it does.
    line : str
        file:line of the user's frame.
    drawn : object, optional
    replayed : bool
        Whether it got other parameters than on other data, and what was drawn there was given again.
    """

    name: str
    parameters: Any
    population: Any
    line: str = ""
    drawn: Any = None
    replayed: bool = False


class Tape:
    """The noise calls of a run, in order.

    Parameters
    ----------
    seed : int
        Of the unit variates.
    answers : Tape, optional
        Of a run on other data, whose noisy numbers are given again.

    Attributes
    ----------
    draws : dict
        Draws that add no noise, in order, by name and line.
    is_inside : bool
        Whether a draw or a mechanism is at work, whose own draws are not recorded.
    """

    def __init__(self, seed: int, answers: Tape | None = None) -> None:
        self.seed, self._answers = seed, answers
        self.calls: list[NoiseCall] = []
        self.seeds: list[tuple[str, Any]] = []
        self.draws: dict[tuple[str, str], list[Draw]] = {}
        self.is_inside = False

    def seeded(self, seed: Any) -> None:
        """Record the seed of a generator; one made from another generator has none."""
        if isinstance(seed, (int, np.integer, list, tuple, np.ndarray)):
            self.seeds.append((users_line(), seed))

    def bits(self) -> PCG64:
        """Return the bits of the next draw, which do not depend on any draw before it."""
        return PCG64([self.seed, 1, sum(map(len, self.draws.values()))])

    def draw(self, draw: Draw, ask: Callable[[], Any]) -> Any:
        """Record and return what is drawn: what was drawn on other data, where the parameters were others."""
        draw.line = users_line()
        place = (draw.name, draw.line)
        alike = self.draws.setdefault(place, [])
        before = self._answers.draws.get(place, []) if self._answers else []
        alike.append(draw)
        if len(before) >= len(alike) and not same(before[len(alike) - 1].parameters, draw.parameters):
            draw.replayed, draw.drawn = True, before[len(alike) - 1].drawn
            return kept(draw.drawn)
        with self._inside():
            drawn = ask()
        draw.drawn = kept(drawn)
        return drawn

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Record no draws that another call makes itself."""
        before, self.is_inside = self.is_inside, True
        try:
            yield
        finally:
            self.is_inside = before

    def variates(self, kind: str, size: int) -> FloatArray:
        """Return unit variates for the next call; they do not depend on any call before it."""
        rng = Generator(PCG64([self.seed, len(self.calls)]))
        if kind == "laplace":
            return rng.laplace(size=size)
        return rng.standard_normal(size) if kind == "gaussian" else rng.standard_exponential(size)

    def noise(self, name: str, kind: str, *, loc: Any, scale: Any, public: dict[str, Any]) -> FollowedNoise:
        """Return noise, and record the call."""
        size = public.get("size")
        entered = loc is not None
        offset, gain = np.asarray(loc if entered else 0.0, np.float64), np.asarray(scale, np.float64)
        shape = np.broadcast_shapes(offset.shape, gain.shape) if size is None else np.broadcast_shapes(size)
        offset, gain = np.broadcast_to(offset, shape), np.broadcast_to(gain, shape)
        places = np.arange(offset.size).reshape(shape)
        unit_variates = self.variates(kind, offset.size)
        number, call = len(self.calls), NoiseCall(name, kind, users_line(), public)
        self.calls.append(call)

        def open_it(affine: Affine) -> FloatArray:
            return self._written(number, affine, affine.offset + affine.gain * unit_variates[affine.places])

        return FollowedNoise(Affine(places, offset, gain, gain, entered, open_it))

    def mechanism(
        self, name: str, mechanism: Any, value: Any, public: dict[str, Any], ask: Callable[[], Any]
    ) -> Any:
        """Return a mechanism's answer, the recorded one if there is one, and record the call."""
        number, call = len(self.calls), NoiseCall(name, "mechanism", users_line(), public, mechanism, value)
        self.calls.append(call)
        before = self._answers.calls[number] if self._answers and number < len(self._answers.calls) else None
        if before and before.kind == "mechanism":
            call.answer = before.answer
        else:
            seeds = len(self.seeds)
            with self._inside():
                call.answer = plain(ask())
            # noise inside a mechanism belongs to the mechanism
            del self.calls[number + 1 :], self.seeds[seeds:]
        # the caller may modify the answer
        return copy.deepcopy(call.answer)

    def _written(self, number: int, affine: Affine, noisy: FloatArray) -> FloatArray:
        call, turn = self.calls[number], len(self.calls[number].opened)
        before = self._answers.calls[number].opened if self._answers and number < len(self._answers.calls) else []
        if turn < len(before) and before[turn][1].shape == noisy.shape:
            noisy = before[turn][1]
        call.opened.append((affine, noisy))
        return noisy.copy()


def kept(value: Any) -> Any:
    """Return a copy of an argument or answer with every noise in it opened: the caller may modify the original."""
    value = plain(value)
    return value.copy() if isinstance(value, np.ndarray) else value


def users_line() -> str:
    """Return file:line of the innermost frame outside libraries and this folder."""
    frame = sys._getframe(1)
    while frame.f_back and any(part in frame.f_code.co_filename for part in LIBRARIES):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def same(left: Any, right: Any) -> bool:
    """Compare two results or parameters, all of them, NaN equal to NaN."""
    if isinstance(left, LISTED) and isinstance(right, LISTED):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, FollowedNoise) and isinstance(right, FollowedNoise):
        return equal_arrays(left.opened(), right.opened())
    if isinstance(left, (str, bytes)) or inspect.isroutine(left):
        return bool(left == right)
    if hasattr(left, "__array__") and hasattr(left, "equals"):
        # of pandas: with its labels, and the signs of zeros, which it does not compare
        return type(left) is type(right) and bool(left.equals(right)) and equal_arrays(left, right)
    if hasattr(left, "__dict__"):
        return type(left) is type(right) and same(vars(left), vars(right))
    return equal_arrays(left, right)


def equal_arrays(left: Any, right: Any) -> bool:
    """Compare two arrays or numbers exactly, with the sign of a zero."""
    a, b = np.asarray(left), np.asarray(right)
    if a.ndim and a.dtype == b.dtype == object:
        return a.shape == b.shape and all(map(same, a.ravel().tolist(), b.ravel().tolist()))
    if a.shape != b.shape or not np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f"):
        return False
    return a.dtype.kind not in "fc" or b.dtype.kind not in "fc" or _negative_zeros(a) == _negative_zeros(b)


def _negative_zeros(numbers: Any) -> bytes:
    parts = (numbers.real, numbers.imag)
    return b"".join(np.asarray(np.signbit(part) & (part == 0)).tobytes() for part in parts)
