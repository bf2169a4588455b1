"""Wrong scales: a sensitivity that is not one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from audit.exact.neighbours import Neighbours
from audit.subjects.catalogue.entry import Level
from audit.subjects.catalogue.functional.calibrated import Functional, Mended, NoisyObjective, Row, explicit
from reference.common.arrays import FloatArray
from reference.noise import Noise, laplace_scale
from reference.readings import Readings
from reference.sensitivity import Setting, exact_l1, published_l1_sensitivity

PLAIN_PUBLISHED = Readings(fairness="none", repair="none")
PLAIN_BALL = Setting(3, "none", "unit_ball", records=100)


@dataclass(frozen=True)
class WrongFactor(Functional):
    """The sensitivity of adding a record where one is replaced: half of it.  Broken.

    Exact loss: half the scale doubles :class:`Functional`'s, so a little below 2 epsilon.
    """

    broken_at: ClassVar[Level | None] = "ideal"
    source = "the factor 2 of the proofs of Lemmas 1 to 4, forgotten"

    @property
    def noise(self) -> Noise:
        """Half the scale."""
        right = self.right_noise
        return replace(right, scale_s=right.scale_s / 2, scale_n=right.scale_n / 2)


@dataclass(frozen=True)
class WrongFactorWithSlack(WrongFactor):
    """:class:`WrongFactor` on the published constant: right, by the constant's slack only.

    Without fairness term, on the unit ball with d = 3: half of 21/4 is still above the exact Delta_1 = 1.9486.

    Exact loss: 1.9486 / 2.625 epsilon on the pair that attains it.
    """

    broken_at = None
    readings = PLAIN_PUBLISHED
    setting = PLAIN_BALL


@dataclass(frozen=True)
class WrongDimension(Functional):
    """The sensitivity for d - 1 coordinates, counted before a column was added.  Broken.

    On the box Delta_1 is 6 for two coordinates and 9 1/8 for three; three are released with the noise for two.

    Exact loss: epsilon |change|_1 / 6 on the pair that attains the supremum at 100 records, so a little below
    73/48 epsilon.
    """

    broken_at: ClassVar[Level | None] = "ideal"
    source = "Delta_1 as a function of d, evaluated at the wrong d"
    setting = Setting(3, "absolute", "unit_box", records=100)

    @property
    def noise(self) -> Noise:
        """Scale Delta_1(d - 1) / epsilon."""
        fewer = self.setting.dimension - 1
        if self.readings.sensitivity == "exact":
            l1_sensitivity = exact_l1(replace(self.setting, dimension=fewer, records=None)).upper
        else:
            l1_sensitivity = published_l1_sensitivity(self.setting.fairness, fewer)
        return Noise.uniform(
            "laplace", laplace_scale(l1_sensitivity, self.budget.epsilon), len(self.right_noise.in_s)
        )


@dataclass(frozen=True)
class WrongDimensionWithSlack(WrongDimension):
    """:class:`WrongDimension` with the published constant: right, by the constant's slack only.

    Without fairness term, on the unit ball with d = 3: the constant for d = 2 is 3, above the exact 1.9486.

    Exact loss: 1.9486 / 3 epsilon on the pair that attains it.
    """

    broken_at = None
    readings = PLAIN_PUBLISHED
    setting = PLAIN_BALL


@dataclass(frozen=True)
class LowerBoundTwice(Functional):
    """The sensitivity from the lower ends of the bounds, which are 0: no noise at all.  Broken.

    Exact loss: the exact coefficients are released, and they differ; infinite.
    """

    broken_at: ClassVar[Level | None] = "ideal"
    source = "diffprivlib, issue 105: both ends of a bound taken from the lower one"

    @property
    def noise(self) -> Noise:
        """Scale 0."""
        return Noise.uniform(
            "laplace", laplace_scale(Fraction(0), self.budget.epsilon), len(self.right_noise.in_s)
        )

    @property
    def true_epsilon(self) -> float:
        """Infinite."""
        return math.inf


@dataclass(frozen=True)
class InterceptOutsideNorm(Functional):
    """Features in the unit ball, and an intercept of 1 that stands outside the norm.  Broken.

    Two features and an intercept, without fairness term; the sensitivity is that of the unit ball with d = 3, but
    |(x, 1)|_2 reaches sqrt(2).

    Exact loss: at x = (1, 1) / sqrt(2) a change of the label moves the linear coefficients by |x|_1 + 1 = 2.4142
    together and the others not at all; over Delta_1 = 1.9486 that is 1.2389 epsilon.
    """

    broken_at: ClassVar[Level | None] = "ideal"
    source = "the norm bound of the paper, section on sensitivity, once a column of ones is added"
    draws = 200_000
    readings = Readings(fairness="none", sensitivity="exact", repair="none")
    setting = PLAIN_BALL

    @cached_property
    def neighbours(self) -> Neighbours:
        """One record changes its label; the others are at the intercept alone."""
        record = (math.sqrt(0.5), math.sqrt(0.5), 1.0)
        shared = [((0.0, 0.0, 1.0), 0, 0, 99)]
        # the domain of the third coordinate as declared: a column of ones beside the ball
        return explicit(replace(self.setting, norm="unit_box"), shared, [(record, 0, 0, 1)], [(record, 1, 0, 1)])

    @property
    def mended(self) -> NoisyObjective:
        """The same with the sensitivity of the box that holds ball and intercept."""
        l1_sensitivity = exact_l1(replace(self.setting, norm="unit_box", records=None)).upper
        noise = Noise.uniform("laplace", laplace_scale(l1_sensitivity, self.budget.epsilon), 9)
        return Mended(self.epsilon, self.neighbours, noise)


@dataclass(frozen=True)
class InterceptOutsideNormWithSlack(InterceptOutsideNorm):
    """:class:`InterceptOutsideNorm` with the published constant, which holds on the box too: right by that only.

    Exact loss: 2.4142 / 5.25 epsilon on the same pair.
    """

    broken_at = None
    draws = 40_000
    readings = PLAIN_PUBLISHED


@dataclass(frozen=True)
class PublicZbar(Functional):
    """The group's share zbar treated as public: the tight sensitivity without its drift.  Broken.

    For a fixed zbar only the changed record moves.  At x = 1 a change of label and group moves each of the d
    linear coefficients by 1 + |1 - 2 zbar| <= 2, which for d = 2 is the most: 4.  (To move x as well by t in both
    coordinates takes t from the linear coefficients and adds t - t^2 / 2 of squares and product.)

    Exact loss: zbar moves by 1 / 100 as well, and carries the other 99 records with it, by 0.99 in all; the
    record's own change is 2 - 1 / 100.  That is 2.98 per coordinate, so 5.96 / 4 epsilon.
    """

    broken_at: ClassVar[Level | None] = "ideal"
    source = "the proof of Lemma 2, which holds zbar fixed"

    @property
    def noise(self) -> Noise:
        """Scale 2 d / epsilon."""
        scale = laplace_scale(Fraction(2 * self.setting.dimension), self.budget.epsilon)
        return Noise.uniform("laplace", scale, len(self.right_noise.in_s))


def _by_maximum(rows: list[Row]) -> list[Row]:
    """Return the rows divided by the largest coordinate among them: the mistake."""
    largest = max(value for x, *_ in rows for value in x)
    return [(tuple(value / largest for value in x), y, z, count) for x, y, z, count in rows]


@dataclass(frozen=True)
class ScaledByMaximum(Functional):
    """Features divided by the largest value in the data, instead of by their declared bound.  Broken.

    Forty records: 39 at (1/2, 1/2) and one at (1, 1), against forty at (1/2, 1/2); all with label and group 0.
    After the scaling the second data set stands at (1, 1).  `neighbours` is what the objective then sees, and
    `raw` the data sets that differ in one record.

    Exact loss: 39 records move instead of one: each linear coefficient by 39 / 4, each square by 39 x 3/32 and
    the product by 39 x 3/16, together 34.125; over Delta_1 = 6 that is 5.6875 epsilon.
    """

    broken_at: ClassVar[Level | None] = "ideal"
    source = "claim A.norm"
    setting = Setting(2, "absolute", "unit_box", records=40)
    raw: ClassVar[tuple[list[Row], list[Row]]] = (
        [((0.5, 0.5), 0, 0, 39), ((1.0, 1.0), 0, 0, 1)],
        [((0.5, 0.5), 0, 0, 39), ((0.5, 0.5), 0, 0, 1)],
    )
    """The records before any scaling."""

    @cached_property
    def neighbours(self) -> Neighbours:
        """The two data sets as the objective sees them: each divided by its own largest value."""
        return explicit(self.setting, [], _by_maximum(self.raw[0]), _by_maximum(self.raw[1]))

    @property
    def mended(self) -> NoisyObjective:
        """The same data sets divided by their declared bound, which is 1."""
        return Mended(self.epsilon, explicit(self.setting, [], *self.raw), self.right_noise)


@dataclass(frozen=True)
class RedrawnPerPass(Functional):
    """An optimiser that draws new noise in each of three passes, each for the whole budget.  Broken.

    The output is what the optimiser saw: the noisy coefficients of every pass, of which its iterates are made.

    Exact loss: three independent releases, whose losses add up: three times :class:`Functional`'s.
    """

    broken_at: ClassVar[Level | None] = "ideal"
    source = "objective perturbation needs one draw of its noise per release"
    passes: ClassVar[int] = 3

    @property
    def true_epsilon(self) -> float:
        """Three times the loss of one pass."""
        return self.passes * float(self.neighbours.loss(self.noise))

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` rows of three noisy coefficient vectors each."""
        return np.hstack([super(RedrawnPerPass, self).sample(data, count, rng) for _ in range(self.passes)])


@dataclass(frozen=True)
class RedrawnPerPassWithSlack(RedrawnPerPass):
    """:class:`RedrawnPerPass` in two passes with the published constant: right, by the constant's slack only.

    Without fairness term, on the unit ball with d = 3: twice the exact 1.9486 is still below 21/4.

    Exact loss: 2 x 1.9486 / 5.25 epsilon on the pair that attains it.
    """

    broken_at = None
    readings = PLAIN_PUBLISHED
    setting = PLAIN_BALL
    passes = 2
