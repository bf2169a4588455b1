"""A plain function as a subject: ``f(data, rng)`` returns one output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.subjects.adapters.outputs import as_rows
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
    """

    function: Any
    left: Any
    right: Any
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
        return as_rows(self.function(data, rng) for _ in range(count))
