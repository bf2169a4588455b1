"""Puts a tape in place of the libraries' noise for one run."""

from __future__ import annotations

import functools
import inspect
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from audit.subjects.recorder.draws import drawing, methods_of, module_functions
from audit.subjects.recorder.tape import Tape

KINDS = {
    "laplace": "laplace",
    "normal": "gaussian",
    "standard_normal": "gaussian",
    "randn": "gaussian",
    "exponential": "other",
    "standard_exponential": "other",
    "gumbel": "other",
    "logistic": "other",
}
SCIPY = {
    "laplace": "laplace",
    "norm": "gaussian",
    "expon": "other",
    "gumbel_r": "other",
    "gumbel_l": "other",
    "logistic": "other",
}
DIFFPRIVLIB = ("Laplace", "Geometric")


@dataclass(frozen=True)
class NoiseFunction:
    """Your own function that adds noise to a value.

    Parameters
    ----------
    module, name : str
        Where it is; a method is `Class.method`.
    value, scale : str
        The names of these parameters; all others are public, and so is the scale.
    kind : {'laplace', 'gaussian'}
    """

    module: str
    name: str
    value: str = "value"
    scale: str = "scale"
    kind: str = "laplace"


def numpy_method(tape: Tape, name: str) -> Callable[..., Any]:
    """Return the stand-in for a method of a generator."""

    def located(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        given = loc if np.any(np.asarray(loc) != 0) else None
        return tape.noise(name, KINDS[name], loc=given, scale=scale, public={"scale": scale, "size": size})

    def scaled(scale: Any = 1.0, size: Any = None) -> Any:
        return tape.noise(name, KINDS[name], loc=None, scale=scale, public={"scale": scale, "size": size})

    def standard(size: Any = None, **_: Any) -> Any:
        return tape.noise(name, KINDS[name], loc=None, scale=1.0, public={"size": size})

    if name == "randn":
        return lambda *size: standard(size or None)
    if name.startswith("standard"):
        return standard
    return scaled if name == "exponential" else located


@contextmanager
def recording(tape: Tape, functions: Sequence[NoiseFunction] = ()) -> Iterator[None]:
    """Record noise on a tape.

    numpy's and Python's generators and functions, `rvs` of scipy's distributions, OpenDP's measurements,
    diffprivlib's additive mechanisms and declared functions; libraries that were not imported are left alone.
    """
    changes = [*_functions(tape), *_methods(tape), *(_declared(tape, function) for function in functions)]
    try:
        for owner, name, new in changes:
            setattr(owner, name, new[1])
        yield
    finally:
        for owner, name, new in reversed(changes):
            setattr(owner, name, new[0])


Change = tuple[Any, str, tuple[Any, Any]]


def _functions(tape: Tape) -> Iterator[Change]:
    """Yield every name in a module that refers to one of numpy's functions."""
    generator = _seen(tape, np.random.Generator)
    stand_ins = module_functions(tape, KINDS)
    stand_ins |= {id(getattr(np.random, name)): numpy_method(tape, name) for name in KINDS}
    stand_ins[id(np.random.Generator)] = generator
    stand_ins[id(np.random.RandomState)] = _seen(tape, np.random.RandomState)
    stand_ins[id(np.random.default_rng)] = functools.partial(_default_rng, tape, np.random.default_rng, generator)
    stand_ins[id(np.random.seed)] = functools.partial(_seed, tape, np.random.seed)
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith((__package__, "numpy.random.")):
            continue
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if id(value) in stand_ins:
                yield module, name, (value, stand_ins[id(value)])


class _StandsIn(type):
    """A class whose instances include those of the real class."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[-2])


def _seen(tape: Tape, real: type) -> type:
    """Return a class of generators whose noise and seed are recorded."""

    def made(self: Any, *given: Any, **named: Any) -> None:
        for value in (*given, *named.values()):
            tape.seeded(value)
        real.__init__(self, *given, **named)  # type: ignore[misc]

    noise = {name: staticmethod(numpy_method(tape, name)) for name in KINDS if hasattr(real, name)}
    draws = {name: drawing(tape, real, name, getattr(real, name)) for name in methods_of(real, KINDS)}
    return _StandsIn(real.__name__, (real,), {**noise, **draws, "__init__": made})


def _seed(tape: Tape, real: Callable[..., Any], seed: Any = None) -> None:
    tape.seeded(seed)
    real(seed)


def _default_rng(tape: Tape, real: Callable[..., Any], generator: Any, seed: Any = None) -> Any:
    if isinstance(seed, generator):
        return generator(seed.bit_generator)
    tape.seeded(seed)
    return generator(real(tape.seed if seed is None else seed).bit_generator)


def _methods(tape: Tape) -> Iterator[Change]:
    for name in methods_of(random.Random, ()):
        if name in vars(random.Random):
            real = getattr(random.Random, name)
            yield random.Random, name, (real, drawing(tape, random.Random, name, real))
    scipy = sys.modules.get("scipy.stats._distn_infrastructure")
    if scipy:
        yield scipy.rv_generic, "rvs", (scipy.rv_generic.rvs, _rvs(tape, scipy.rv_generic.rvs))
    opendp = sys.modules.get("opendp.mod")
    if opendp:
        yield (
            opendp.Measurement,
            "__call__",
            (opendp.Measurement.__call__, _asked(tape, opendp.Measurement.__call__)),
        )
    diffprivlib = sys.modules.get("diffprivlib.mechanisms")
    for name in DIFFPRIVLIB if diffprivlib else ():
        if hasattr(diffprivlib, name):
            owner = getattr(diffprivlib, name)
            yield owner, "randomise", (owner.randomise, _randomised(tape, owner.randomise))


def _rvs(tape: Tape, real: Callable[..., Any]) -> Callable[..., Any]:
    def rvs(self: Any, *given: Any, **named: Any) -> Any:
        if getattr(self, "name", None) not in SCIPY:
            return drawing(tape, type(self), getattr(self, "name", None) or "rvs", real)(self, *given, **named)
        named = dict(zip(("loc", "scale", "size"), given, strict=False)) | named
        loc, scale, size = named.get("loc", 0.0), named.get("scale", 1.0), named.get("size")
        loc = loc if np.any(np.asarray(loc) != 0) else None
        public = {"scale": scale, "size": size}
        return tape.noise(self.name, SCIPY[self.name], loc=loc, scale=scale, public=public)

    return rvs


def _asked(tape: Tape, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, value: Any) -> Any:
        public = {"measurement": str(self)}
        return tape.mechanism("measurement", self, value, public, lambda: real(self, value))

    return call


def _randomised(tape: Tape, real: Callable[..., Any]) -> Callable[..., Any]:
    def randomise(self: Any, value: Any) -> Any:
        public = {name: getattr(self, name, None) for name in ("epsilon", "delta", "sensitivity")}
        return tape.mechanism(type(self).__name__, self, value, public, lambda: real(self, value))

    return randomise


def _declared(tape: Tape, declared: NoiseFunction) -> Change:
    *path, name = declared.name.split(".")
    owner: Any = functools.reduce(getattr, path, import_module(declared.module))
    real = getattr(owner, name)
    signature = inspect.signature(real)

    def added(*given: Any, **named: Any) -> Any:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        value = bound.arguments.pop(declared.value)
        scale = bound.arguments[declared.scale]
        public = {key: entry for key, entry in bound.arguments.items() if key not in ("self", "rng", "size")}
        noise = tape.noise(name, declared.kind, loc=value, scale=scale, public=public)
        opened = noise.opened()
        return opened if opened.ndim else float(opened)

    return owner, name, (real, added)
