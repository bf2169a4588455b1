"""The base of the catalogue's mechanisms: their claims and true losses."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from audit.subjects.catalogue.reach import most_excess_delta
from reference.common.arrays import FloatArray

Level: TypeAlias = Literal["ideal", "bits"]

Adjacency: TypeAlias = Literal["value", "answers", "replace_one", "add_or_remove_one", "any_two"]
"""What the two inputs may differ in: a value, or vector, by 1 in l1 norm; each of several answers by 1; one record
of a data set; or they are any two values of one person."""


@dataclass(frozen=True)
class Entry:
    """A subject (:class:`audit.auditor.subject.Subject`) whose loss on its own pair of inputs is known.

    Each class derives that loss in its docstring; `audit/gate/subjects/test_catalogue_losses.py` checks it by
    another method.

    Parameters
    ----------
    epsilon : float
        The claimed epsilon.
    """

    epsilon: float = 1.0

    broken_at: ClassVar[Level | None] = None
    """None for a right mechanism; `ideal` where the real-number mechanism loses more than it claims; `bits`
    where only its floats do."""

    adjacency: ClassVar[Adjacency] = "value"
    """The relation that makes the two inputs neighbours; a test checks each pair."""

    source: ClassVar[str] = "Dwork and Roth, The algorithmic foundations of differential privacy (2014), section 3"
    """The literature that describes the mechanism, or its mistake."""

    loss_is_exact: ClassVar[bool] = True
    """Whether :attr:`true_epsilon` is the exact loss of the pair, and not only an upper bound."""

    draws: ClassVar[int] = 40_000
    """Draws, of all phases and both inputs, at which the gate scores the entry."""

    @property
    def claimed_epsilon(self) -> float:
        """The mechanism's own claim."""
        return self.epsilon

    @property
    def claimed_delta(self) -> str:
        """The claimed delta, a decimal number."""
        return "0"

    @property
    def true_epsilon(self) -> float:
        """The loss on its pair of inputs at the claimed delta, to the accuracy that the docstring states."""
        return self.epsilon

    @property
    def excess_delta(self) -> float:
        """An upper bound on the delta beyond the claimed one at the claimed epsilon, in either direction.

        By the true epsilon, unless an entry knows it exactly; 0 for a right entry.
        """
        return most_excess_delta(self.true_epsilon, self.claimed_epsilon, float(Fraction(self.claimed_delta)))

    @property
    def is_right(self) -> bool:
        """Whether the claim holds for all neighbouring inputs."""
        return self.broken_at is None

    def inputs(self) -> tuple[Any, Any]:
        """Return the two neighbouring inputs; 0 and 1 unless an entry has its own."""
        return 0.0, 1.0

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs on one input, shape (count, k)."""
        raise NotImplementedError
