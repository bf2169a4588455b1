"""Mechanisms of diffprivlib as subjects."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from audit.auditor.subject import SubjectError
from audit.subjects.adapters.outputs import OWN_ENTROPY, as_rows
from reference.common.arrays import FloatArray

ROUNDING = 1e-12
"""Relative slack in comparing the distance of two inputs with the declared sensitivity."""


@dataclass(frozen=True, eq=False)
class DiffprivlibMechanism:
    """A diffprivlib mechanism on two values.

    The mechanism draws from its own entropy, one output at a time.

    Parameters
    ----------
    mechanism : diffprivlib.mechanisms.DPMechanism
        With ``random_state=None``: a seeded one would repeat its draws in every chunk.
    left, right : object
        Arguments of `randomise`; numbers at most the mechanism's `sensitivity` apart.
    outcomes : tuple
        All values that an output can take, if they are not numbers.

    Raises
    ------
    audit.auditor.subject.SubjectError
        For a seeded mechanism, and for two numbers that are not neighbours.
    """

    mechanism: Any
    left: Any
    right: Any
    outcomes: tuple[Any, ...] = ()
    own_entropy = True
    notes = (OWN_ENTROPY,)
    most_rows = 4096

    def __post_init__(self) -> None:
        """Check that draws will be independent and the inputs neighbours."""
        if getattr(self.mechanism, "random_state", None) is not None:
            raise SubjectError("random_state must be None: a seeded mechanism repeats its draws in every chunk")
        declared = getattr(self.mechanism, "sensitivity", None)
        if isinstance(declared, Real) and isinstance(self.left, Real) and isinstance(self.right, Real):
            distance = abs(float(self.left) - float(self.right))
            if distance > float(declared) * (1 + ROUNDING):
                raise SubjectError(
                    f"{self.left!r} and {self.right!r} are {distance:g} apart, the sensitivity is {declared!r}"
                )

    @property
    def claimed_epsilon(self) -> float:
        """What the mechanism was made with."""
        return float(self.mechanism.epsilon)

    @property
    def claimed_delta(self) -> str:
        """What the mechanism was made with."""
        return repr(float(self.mechanism.delta))

    def inputs(self) -> tuple[Any, Any]:
        """Return the two values."""
        return self.left, self.right

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, k); `rng` is not used."""
        # a separate copy: some mechanisms keep values between calls, and threads must not share them
        mechanism = copy(self.mechanism)
        return as_rows((mechanism.randomise(data) for _ in range(count)), self.outcomes)
