"""Records what random methods that add no noise are given, such as `binomial`, `choice` and `shuffle`."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sized
from typing import Any

import numpy as np

from audit.subjects.recorder.tape import Draw, Tape, kept

POPULATIONS = {
    "choice": ("a", "seq"),
    "choices": ("population",),
    "sample": ("population",),
    "permutation": ("x",),
    "permuted": ("x",),
    "shuffle": ("x",),
}
"""Methods that draw from a population, with the names of that argument."""

REORDERED = ("permutation", "permuted", "shuffle")
"""Methods that keep the whole population."""

UNIFORM = ("random", "random_sample", "rand", "bytes", "randbytes", "getrandbits")
"""Methods without parameters: how many numbers they draw says nothing of these."""

STREAMED = (*UNIFORM, "integers", "randint", *POPULATIONS)
"""Methods of numpy whose numbers stay those of the generator: two equal seeds keep two tables aligned."""

NOT_DRAWN = ("seed", "get_state", "set_state", "spawn", "bit_generator", "getstate", "setstate", "VERSION")


def methods_of(kind: type, others: Any) -> list[str]:
    """Return the names of the methods of a generator that draw, other than the given ones."""
    return [name for name in dir(kind) if name[0] != "_" and name not in NOT_DRAWN and name not in others]


def drawing(tape: Tape, kind: type, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a stand-in for a method of a generator (with the generator as first argument) or for a function.

    Parameters
    ----------
    tape : Tape
    kind : type
        Of the generator.
    name : str
        Of its method.
    real : callable
    """
    own = issubclass(kind, (np.random.Generator, np.random.RandomState)) and name not in STREAMED

    def draw(*given: Any, **named: Any) -> Any:
        if tape.is_inside:
            return real(*given, **named)
        # a generator has no population
        arguments = given[1:] if given and isinstance(given[0], kind) else given
        parameters, population = split(name, arguments, named)
        ask = functools.partial(real, *given, **named)
        if own:
            # what a draw takes from a generator may depend on its parameters, and all later draws with it
            ask = functools.partial(getattr(kind(tape.bits()), name), *arguments, **named)
        return tape.draw(Draw(name, parameters, population), ask)

    return draw


def split(name: str, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any]:
    """Return the parameters of a draw, and its population or None."""
    if name in UNIFORM:
        return None, None
    given = tuple(map(kept, given))
    # random_state is neither a parameter nor a population
    named = {key: kept(value) for key, value in named.items() if key != "random_state"}
    where = next((key for key in POPULATIONS.get(name, ()) if key in named), None)
    population = None
    if where is not None:
        population = named.pop(where)
    elif name in POPULATIONS and given:
        population, given = given[0], given[1:]
    if name in REORDERED or population is None:
        return (given, named), population
    # a number stands for that many places
    places = len(population) if isinstance(population, Sized) and getattr(population, "ndim", True) else population
    return (places, given, named), population


def module_functions(tape: Tape, others: Any) -> dict[int, Any]:
    """Return the stand-ins of the functions of numpy and Python, by the identity of what they replace."""
    found: dict[int, Any] = {}
    for module, kind in ((np.random, np.random.RandomState), (random, random.Random)):
        for name in methods_of(kind, others if module is np.random else ()):
            real: Any = getattr(module, name, None)
            if isinstance(getattr(real, "__self__", None), kind):
                found[id(real)] = drawing(tape, kind, name, real)
    return found
