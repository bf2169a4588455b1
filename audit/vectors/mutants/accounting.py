"""Bugs of what is stated and accounted."""

from __future__ import annotations

import math
from fractions import Fraction

from audit.vectors.mutants.broken import Broken


class EpsilonsAdded(Broken):
    """The stated epsilon is epsilon_s + epsilon_n.

    Not what Theorem 3 states; a true one, where Theorem 3's may be false.
    """

    bug_type = "BUDGET"
    claims = ("T3", "T5")

    def claimed_epsilon(self, epsilon_s: Fraction, epsilon_n: Fraction, dimension: int) -> Fraction:
        return epsilon_s + epsilon_n


class EpsilonWeightsSwapped(Broken):
    """The stated epsilon weighs epsilon_s with (d - 1) / d and epsilon_n with 1 / d.

    The published formula the wrong way round.
    """

    bug_type = "BUDGET"
    claims = ("T3", "T5")

    def claimed_epsilon(self, epsilon_s: Fraction, epsilon_n: Fraction, dimension: int) -> Fraction:
        return super().claimed_epsilon(epsilon_n, epsilon_s, dimension)


class EpsilonIsLarger(Broken):
    """The stated epsilon is the larger of epsilon_s and epsilon_n.

    True for the published sensitivity, and not what Theorem 3 states.
    """

    bug_type = "BUDGET"
    claims = ("T3", "T5")

    def claimed_epsilon(self, epsilon_s: Fraction, epsilon_n: Fraction, dimension: int) -> Fraction:
        return max(epsilon_s, epsilon_n)


class DeltasAdded(Broken):
    """The stated delta is delta_s + delta_n.

    Larger than Theorem 5's by their product.
    """

    bug_type = "BUDGET"
    claims = ("T5",)

    def claimed_delta(self, delta_s: Fraction, delta_n: Fraction) -> Fraction:
        return delta_s + delta_n


class DeltaOfOneTail(Broken):
    """The exact delta is the tail Phi(mu/2 - epsilon/mu) without the term that is subtracted from it.

    An upper bound, stated as exact.
    """

    bug_type = "BASIC"
    claims = ("T2",)

    def delta_of_shift(self, squared_shift: Fraction, epsilon: Fraction) -> Fraction:
        mu = math.sqrt(squared_shift)
        return Fraction(math.erfc((float(epsilon) / mu - mu / 2) / math.sqrt(2)) / 2)


class EpsilonByClassicalBound(Broken):
    """The epsilon of Gaussian noise is mu sqrt(2 log(1.25/delta)).

    Neither exact nor true for a large mu.
    """

    bug_type = "KNOWN_BUG"
    claims = ("T2",)

    def epsilon_of_shift(self, squared_shift: Fraction, delta: Fraction) -> Fraction:
        logarithm = math.log(1.25) - math.log(delta.numerator) + math.log(delta.denominator)
        return Fraction(math.sqrt(2 * logarithm * squared_shift))


class DeltaOfZeroStated(Broken):
    """A delta of 0 or below is taken for Gaussian noise: it counts as the smallest double.

    Gaussian noise is not purely private.
    """

    bug_type = "EDGE_CASE"

    def gaussian_sigma(self, l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
        return super().gaussian_sigma(l2_sensitivity_squared, epsilon, max(delta, Fraction(1, 10**300)))


class ReplaceOneAsAddOrRemove(Broken):
    """Replacing a record is accounted as adding or removing one.

    For one Gaussian release of sigma 1 at delta 1e-5 a public accountant reports 4.73; the truth is above 9.997.
    """

    bug_type = "KNOWN_BUG"

    def moved(self, bound: Fraction, adjacency: str) -> Fraction:
        return super().moved(bound, "add_or_remove_one")


class AddOrRemoveAsReplaceOne(Broken):
    """Adding or removing a record is accounted as replacing one.

    A true statement, twice as large as the loss.
    """

    bug_type = "ADJACENCY"

    def moved(self, bound: Fraction, adjacency: str) -> Fraction:
        return super().moved(bound, "replace_one")


class ShiftsAddedLinearly(Broken):
    """The shifts of Gaussian releases are added up, where their squares are.

    k releases count as k^2.
    """

    bug_type = "BUDGET"

    def composed_shift(self, squared_shift: Fraction, count: int) -> Fraction:
        return super().composed_shift(squared_shift, count * count)


class CompositionForgotten(Broken):
    """Several releases lose as much as one.

    Every further release is for free.
    """

    bug_type = "MISSING_STEP"

    def composed_shift(self, squared_shift: Fraction, count: int) -> Fraction:
        return squared_shift

    def composed_loss(self, epsilon: Fraction, count: int) -> Fraction:
        return epsilon


class LaplaceComposedByRoot(Broken):
    """k Laplace releases lose sqrt(k) times the loss of one.

    That holds for the shifts of Gaussian noise only.
    """

    bug_type = "BUDGET"

    def composed_loss(self, epsilon: Fraction, count: int) -> Fraction:
        return Fraction(float(epsilon) * math.sqrt(count))


class DeltasNotAdded(Broken):
    """The delta of several releases is the largest of theirs.

    Epsilons add up, and so do deltas.
    """

    bug_type = "BUDGET"

    def composed(self, epsilons: list[Fraction], deltas: list[Fraction]) -> tuple[Fraction, Fraction]:
        return super().composed(epsilons, deltas)[0], max(deltas)


class DeltaAboveOne(Broken):
    """Deltas that add up to more than 1 are stated as they are.

    No probability.
    """

    bug_type = "EDGE_CASE"

    def composed(self, epsilons: list[Fraction], deltas: list[Fraction]) -> tuple[Fraction, Fraction]:
        return super().composed(epsilons, deltas)[0], sum(deltas, Fraction(0))
