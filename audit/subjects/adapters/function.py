"""A plain function as a subject: ``f(data, rng)`` returns one output."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.auditor.subject import FAILURES, DrawingError, SubjectError
from audit.subjects.adapters.outputs import as_rows, one_width, type_of
from reference.common.arrays import FloatArray

CALLED_AS = "it is called as mechanism(data, rng), rng a numpy.random.Generator"
SOME_FAIL = "if only some draws fail, return NaN in these: a failure is an outcome like any other"
"""Advice on a failure: of the call itself, and in the mechanism."""


@dataclass(frozen=True, eq=False)
class FunctionSubject:
    """A function of the data and a generator, called once for every output.

    Parameters
    ----------
    function : callable
        `function(data, rng)` returns a number or an array; one that has a method `sample(data, count, rng)`, as a
        subject has, is asked for many outputs at a time.
    left, right : object
    types : tuple of two sets
        Filled with the types of the outputs on each input.
    widths : set of int
        Filled with the lengths of the outputs.
    """

    function: Any
    left: Any
    right: Any
    types: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))
    widths: set[int] = field(default_factory=set)
    most_rows = 4096

    def inputs(self) -> tuple[Any, Any]:
        """Return both inputs."""
        return self.left, self.right

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, one a row."""
        many: Callable[..., Any] | None = getattr(self.function, "sample", None)
        if many is not None:
            outputs: FloatArray = many(data, count, rng)
            return outputs
        rows = as_rows(self._each(data, count, rng))
        self.widths.add(rows.shape[1])
        one_width(self.widths)
        return rows

    def _each(self, data: Any, count: int, rng: np.random.Generator) -> Iterator[Any]:
        seen = self.types[data is not self.left]
        for _ in range(count):
            output = self._one(data, rng)
            if (kind := type_of(output)) not in seen:
                _refuse_mistake(output)
                seen.add(kind)
            yield output

    def _one(self, data: Any, rng: np.random.Generator) -> Any:
        try:
            return self.function(data, rng)
        except SubjectError:
            raise
        except FAILURES as problem:
            # without a further frame it is the call that does not fit
            at_call = isinstance(problem, TypeError) and getattr(problem.__traceback__, "tb_next", None) is None
            advice = CALLED_AS if at_call else SOME_FAIL
            raise DrawingError(f"the mechanism failed: {type(problem).__name__}: {problem}; {advice}") from problem

    def note_on_types(self) -> str | None:
        """Return a note if outputs have several types, of which nothing but the values is audited.

        Raises
        ------
        audit.auditor.subject.SubjectError
            When the type alone tells the inputs apart.
        """
        left, right = self.types
        if left and right and not left & right:
            raise SubjectError(
                f"the type of an output tells the inputs apart: {_listed(left)} on left, {_listed(right)} on "
                "right; convert all outputs to one type"
            )
        if len(left | right) < 2:
            return None
        return f"outputs have several types ({_listed(left | right)}): only their values were compared"


def _refuse_mistake(output: Any) -> None:
    """Refuse what a function returns by mistake."""
    if output is None:
        raise SubjectError("the mechanism returned None: is a return missing? For no answer, return NaN")
    if inspect.isawaitable(output) or inspect.isasyncgen(output):
        if inspect.iscoroutine(output):
            # else Python warns that nobody awaited it
            output.close()
        raise SubjectError(
            "the mechanism is an async function, which is not awaited: pass a plain one that calls asyncio.run"
        )
    if hasattr(type(output), "__next__"):
        raise SubjectError(
            f"the mechanism returned a {type(output).__name__}, which has no numbers before it is read: return a "
            "list of them"
        )


def _listed(types: set[str]) -> str:
    return ", ".join(sorted(types))
