"""Bugs of suprema on the balls, and of the data sets that attain a supremum."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from audit.vectors.mutants.broken import Broken
from audit.vectors.steps import Rows
from reference.sensitivity import Setting


def _boxed(setting: Setting) -> Setting:
    return replace(setting, norm="unit_box")


class BallTakenForBox(Broken):
    """The supremum is taken over the box where the declared domain is a ball.

    No record reaches it: more noise than is needed, and more the more columns there are.
    """

    bug_type = "SENSITIVITY"

    def exact_l1(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l1(_boxed(setting), weight_s, weight_n)

    def exact_l2_squared(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l2_squared(_boxed(setting), weight_s, weight_n)


class SymmetricTakenForUnitBall(Broken):
    """Entries of the symmetric ball are taken for nonnegative.

    The other records cannot stand against the changed one: too little noise.
    """

    bug_type = "SENSITIVITY"

    def exact_l1(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l1(_positive(setting), weight_s, weight_n)

    def exact_l2_squared(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l2_squared(_positive(setting), weight_s, weight_n)


def _positive(setting: Setting) -> Setting:
    return replace(setting, norm="unit_ball") if setting.norm == "symmetric_ball" else setting


class BallL2ForL1(Broken):
    """The square of the l2 change is given for the l1 change.

    Too little Laplace noise wherever the change is spread over several coefficients.
    """

    bug_type = "SENSITIVITY"

    def exact_l1(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        if setting.norm == "unit_box":
            return super().exact_l1(setting, weight_s, weight_n)
        return super().exact_l2_squared(setting, weight_s, weight_n)


class PairOutsideDomain(Broken):
    """The pair that is to attain the supremum has the box's corners for records, which no ball holds.

    What they show is true of no data set that can be encoded: a false alarm.
    """

    bug_type = "SENSITIVITY"

    def attaining(self, setting: Setting, norm: str) -> tuple[Rows, Rows]:
        return super().attaining(_boxed(setting), norm)


class PairFarApart(Broken):
    """Two records differ between the data sets of the pair: they are not neighbours.

    Their distance says nothing about one record.
    """

    bug_type = "ADJACENCY"

    def attaining(self, setting: Setting, norm: str) -> tuple[Rows, Rows]:
        first, second = super().attaining(setting, norm)
        x, y, z = second[0]
        return first, [(x, 1 - y, z), *second[1:]]


class PairAtRandom(Broken):
    """The pair is any pair of neighbours, not a worst one.

    A sensitivity that is measured on it is too small: the loose pair that a recorder misses.
    """

    bug_type = "SENSITIVITY"

    def attaining(self, setting: Setting, norm: str) -> tuple[Rows, Rows]:
        first, second = super().attaining(setting, norm)
        x, y, z = second[-1]
        return first, [*second[:-1], (tuple(v / 2 for v in x), y, z)]
