"""Noise that remembers what was added to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from reference.common.arrays import FloatArray

KEPT = ("shape", "ndim", "size")


@dataclass(frozen=True, eq=False)
class Affine:
    """Data plus noise: offset + gain * unit variate, entry by entry.

    Parameters
    ----------
    places : ndarray of int
        The unit variate of its call for each entry.
    offset, gain : ndarray
        Of the same shape.
    unit : ndarray
        The gain when something was first added: the unit of a declared sensitivity.
    entered : bool
        Whether anything was added.
    open_it : callable
        Records an :class:`Affine`, and returns its numbers.
    """

    places: Any
    offset: FloatArray
    gain: FloatArray
    unit: FloatArray
    entered: bool
    open_it: Callable[[Affine], FloatArray]

    def plus(self, other: Any, sign: float = 1.0) -> Affine:
        """Return other + sign * self."""
        gain = sign * self.gain
        unit = self.unit if self.entered else gain
        offset = np.asarray(other, np.float64) + sign * self.offset
        return wide(self.places, offset, gain, unit, like=replace(self, entered=True))

    def times(self, factor: Any) -> Affine:
        """Return self * factor."""
        factor = np.asarray(factor, np.float64)
        return wide(self.places, self.offset * factor, self.gain * factor, self.unit, like=self)

    def at(self, key: Any) -> Affine:
        """Return some entries."""
        parts = [np.asarray(part)[key] for part in (self.places, self.offset, self.gain, self.unit)]
        return wide(*parts, like=self)


def wide(*parts: Any, like: Affine) -> Affine:
    """Return an :class:`Affine` with other parts, of one shape."""
    places, offset, gain, unit = np.broadcast_arrays(*parts)
    return replace(like, places=places, offset=offset, gain=gain, unit=unit)


class FollowedNoise(NDArrayOperatorsMixin):
    """Takes the place of numpy's noise.

    Sums and products with plain numbers are followed.  Any other use opens it: what was added is
    recorded, and plain numbers go on.  It is not an ndarray, so nothing reaches its numbers unseen.

    Parameters
    ----------
    affine : Affine
    """

    def __init__(self, affine: Affine) -> None:
        self._affine = affine
        self._plain: FloatArray | None = None

    def opened(self) -> FloatArray:
        """Return the noisy numbers."""
        if self._plain is None:
            self._plain = self._affine.open_it(self._affine)
        return self._plain

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        result = None
        if method == "__call__" and not options:
            affine = followed(ufunc, inputs)
            result = None if affine is None else FollowedNoise(affine)
        if result is None:
            result = getattr(ufunc, method)(*(plain(value) for value in inputs), **options)
        if out is None or isinstance(out[0], FollowedNoise):
            return result
        out[0][...] = plain(result)
        return out[0]

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        return function(*plain(given), **plain(options))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.array(self.opened(), dtype=dtype)

    def __getitem__(self, key: Any) -> FollowedNoise:
        return FollowedNoise(self._affine.at(plain(key)))

    def __len__(self) -> int:
        return len(self._affine.offset)

    def __float__(self) -> float:
        return float(self.opened())

    def __int__(self) -> int:
        return int(self.opened())

    def __bool__(self) -> bool:
        return bool(self.opened())

    def __round__(self, digits: int | None = None) -> Any:
        return round(float(self.opened()), digits)

    def __format__(self, how: str) -> str:
        return format(self.opened(), how)

    def __repr__(self) -> str:
        return repr(self.opened())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._affine.offset if name in KEPT else self.opened(), name)


def plain(value: Any) -> Any:
    """Return a value with every noise in it opened; a data class keeps its type."""
    if isinstance(value, FollowedNoise):
        opened = value.opened()
        return opened if opened.ndim else opened[()]
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if type(value) in (list, tuple):
        return type(value)(plain(entry) for entry in value)
    if is_dataclass(value) and not isinstance(value, type):
        for entry in fields(value):
            plain(getattr(value, entry.name))
    return value


def followed(ufunc: Any, inputs: tuple[Any, ...]) -> Affine | None:
    """Return a sum or product if it can be followed, or None."""
    if ufunc is np.negative:
        return part(inputs[0]).times(-1.0)
    if ufunc not in (np.add, np.subtract, np.multiply, np.divide):
        return None
    a, b = inputs
    if isinstance(a, FollowedNoise) and isinstance(b, FollowedNoise):
        # of two noises one is followed further, if nothing was added to it yet
        if part(a).entered and part(b).entered:
            return None
        a, b = (a, plain(b)) if part(b).entered else (plain(a), b)
    if isinstance(a, FollowedNoise):
        if ufunc in (np.multiply, np.divide):
            return part(a).times(b if ufunc is np.multiply else 1 / np.asarray(b, np.float64))
        return part(a).plus(b if ufunc is np.add else np.negative(b))
    if ufunc is np.divide:
        return None
    return part(b).times(a) if ufunc is np.multiply else part(b).plus(a, 1.0 if ufunc is np.add else -1.0)


def part(noise: FollowedNoise) -> Affine:
    """Return the affine form of a noise, without opening it."""
    affine: Affine = noise.__dict__["_affine"]
    return affine
