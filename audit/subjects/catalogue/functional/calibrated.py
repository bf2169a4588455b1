"""The functional mechanism as an entry: the reference's own steps, at most one of them replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from audit.exact.data_sets import Repeated
from audit.exact.neighbours import Neighbours, extreme_neighbours
from audit.exact.witnesses import domain_of, readings_of
from audit.subjects.catalogue.entry import Adjacency, Entry
from reference.budgets import Budget
from reference.common.arrays import FloatArray
from reference.domain import Domain
from reference.mechanisms import functional_noise
from reference.noise import Noise, add_noise, draw
from reference.objective import objective
from reference.readings import Readings
from reference.records import check_matrix
from reference.sensitivity import Setting

Row: TypeAlias = tuple[tuple[float, ...], int, int, int]
"""x, y, z, and how many records are equal to it."""

PAPER = "the paper, "
EXACT = Readings(fairness="absolute", sensitivity="exact", repair="none")


def data_set(domain: Domain, rows: Sequence[Row]) -> Repeated:
    """Return the data set of explicit records, checked against the domain."""
    x, y, z, counts = zip(*rows, strict=True)
    return Repeated(check_matrix(domain, np.array(x), y, z), counts)


def explicit(setting: Setting, shared: Sequence[Row], left: Sequence[Row], right: Sequence[Row]) -> Neighbours:
    """Return two data sets that share rows and differ in one record each."""
    domain = domain_of(setting)
    first, second = (data_set(domain, [*shared, *own]) for own in (left, right))
    return Neighbours(first, second, readings_of(setting))


class NoisyObjective(Entry):
    """Noise on every coefficient of the objective, for one pair of data sets.

    The inputs are the two data sets' exact coefficients; :attr:`neighbours` holds the data sets.

    The loss of the pair is the sum over coefficients of |change| / scale: their Laplace noise is independent, and
    all of them attain their ratio together, at outputs beyond both coefficients on the right side each.  It is
    exact in the floats that coefficients and scales are (:meth:`audit.exact.neighbours.Neighbours.loss`).
    """

    adjacency: ClassVar[Adjacency] = "replace_one"

    @property
    def noise(self) -> Noise:
        """The noise that the mechanism adds."""
        raise NotImplementedError

    @property
    def neighbours(self) -> Neighbours:
        """The two data sets."""
        raise NotImplementedError

    @property
    def true_epsilon(self) -> float:
        """The loss of the pair under Laplace noise."""
        return float(self.neighbours.loss(self.noise))

    def inputs(self) -> tuple[Any, Any]:
        """Return the exact coefficients of the two data sets."""
        pair = self.neighbours
        left, right = (objective(side.moments, pair.readings).values for side in (pair.left, pair.right))
        return left, right

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy coefficient vectors, by the code that makes a release."""
        return add_noise(data, self.noise, draw(self.noise, rng, count))


@dataclass(frozen=True)
class Functional(NoisyObjective):
    """The functional mechanism with a fairness term, scale Delta_1 / epsilon for the exact Delta_1: right.

    On the unit box with d = 2, fairness `absolute`, and neighbours that replace one of 100 records: the pair that
    attains the supremum at 100 records (proofs/sensitivities_box.md, Proposition 1).

    Exact loss: epsilon |change|_1 / Delta_1; a little below epsilon, since Delta_1 = 6 is the limit of many
    records.
    """

    source = PAPER + "Background (functional mechanism), with the exact sensitivity"
    readings: ClassVar[Readings] = EXACT
    setting: ClassVar[Setting] = Setting(2, "absolute", "unit_box", records=100)

    @property
    def budget(self) -> Budget:
        """All of epsilon for every coefficient."""
        return Budget(self.epsilon)

    @property
    def domain(self) -> Domain:
        """The declared domain of the records."""
        return domain_of(self.setting)

    @cached_property
    def right_noise(self) -> Noise:
        """The noise without the mistake."""
        return functional_noise(self.domain, self.budget, self.readings)

    @property
    def noise(self) -> Noise:
        """The noise that the mechanism adds."""
        return self.right_noise

    @cached_property
    def neighbours(self) -> Neighbours:
        """The pair that loses most without a mistake."""
        return extreme_neighbours(self.setting, self.right_noise)

    @property
    def mended(self) -> NoisyObjective:
        """The same without the mistake: the same pair, with the right noise on every coefficient."""
        return Mended(self.epsilon, self.neighbours, self.right_noise)


@dataclass(frozen=True)
class Mended(NoisyObjective):
    """A mechanism without its mistake: right.

    Parameters
    ----------
    pair : Neighbours
    right_noise : Noise
    """

    pair: Neighbours | None = None
    right_noise: Noise | None = None

    @property
    def noise(self) -> Noise:
        """The noise that the mechanism adds."""
        if self.right_noise is None:
            raise ValueError("a mended mechanism needs its noise")
        return self.right_noise

    @property
    def neighbours(self) -> Neighbours:
        """The two data sets."""
        if self.pair is None:
            raise ValueError("a mended mechanism needs its pair")
        return self.pair


@dataclass(frozen=True)
class PublishedFunctional(Functional):
    """The functional mechanism as in the paper: right.

    Without fairness term, on the unit ball with d = 3; Delta_1 = d^2 / 4 + d = 21/4 by Lemma 1.

    Exact loss: epsilon |change|_1 / Delta_1 on the pair that attains the exact Delta_1 = 1.9486: 0.37 epsilon.
    """

    source = PAPER + "Background (functional mechanism), Lemma 1"
    readings = Readings(fairness="none", repair="none")
    setting = Setting(3, "none", "unit_ball", records=100)
