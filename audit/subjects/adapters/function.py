"""A plain function as a subject: ``f(data, rng)`` returns one output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.auditor.subject import SubjectError
from audit.subjects.adapters.outputs import as_rows, type_of
from reference.common.arrays import FloatArray


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
    """

    function: Any
    left: Any
    right: Any
    types: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))
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
        return as_rows(self._each(data, count, rng))

    def _each(self, data: Any, count: int, rng: np.random.Generator) -> Iterator[Any]:
        seen = self.types[data is not self.left]
        for _ in range(count):
            output = self.function(data, rng)
            seen.add(type_of(output))
            yield output

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


def _listed(types: set[str]) -> str:
    return ", ".join(sorted(types))
