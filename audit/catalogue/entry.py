"""What every mechanism of the catalogue says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from audit.events import FloatArray

Level: TypeAlias = Literal["ideal", "bits"]


@dataclass(frozen=True)
class Entry:
    """A subject (:class:`audit.subjects.Subject`) whose loss on its own pair of inputs is known.

    Each class derives that loss in its docstring; `audit/gate/test_catalogue_losses.py` checks it by another
    road.

    Parameters
    ----------
    epsilon : float
        What the mechanism claims.
    """

    epsilon: float = 1.0

    broken_at: ClassVar[Level | None] = None
    """None for a right mechanism; `ideal` where the real-number mechanism loses more than it claims; `bits`
    where only its floats do."""

    source: ClassVar[str] = "Dwork and Roth, The algorithmic foundations of differential privacy (2014), section 3"
    """Where the mechanism, or its mistake, is described."""

    loss_is_exact: ClassVar[bool] = True
    """Whether :attr:`true_epsilon` is the loss of the pair, or only an upper bound of it."""

    draws: ClassVar[int] = 40_000
    """Draws, of all phases and both inputs, at which the gate scores the entry."""

    @property
    def claimed_epsilon(self) -> float:
        """What the mechanism says of itself."""
        return self.epsilon

    @property
    def claimed_delta(self) -> str:
        """The delta that goes with it, a decimal number."""
        return "0"

    @property
    def true_epsilon(self) -> float:
        """What it loses on its pair of inputs at the claimed delta, to the accuracy that the docstring states."""
        return self.epsilon

    @property
    def is_right(self) -> bool:
        """Whether the claim holds, for all neighbouring inputs."""
        return self.broken_at is None

    def inputs(self) -> tuple[Any, Any]:
        """Return the two neighbouring inputs; 0 and 1 unless an entry has its own."""
        return 0.0, 1.0

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs on one input, shape (count, k)."""
        raise NotImplementedError
