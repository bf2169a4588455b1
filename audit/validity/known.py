"""Mechanisms of known loss, and how each is audited."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.auditor.subject import Subject
from audit.bounds import Counts
from audit.subjects.catalogue.gaussian import Gaussian
from audit.subjects.catalogue.laplace import Laplace, ScoredLaplace
from reference.common.arrays import FloatArray

SIGNIFICANCE = 0.05
"""Significance of every audit."""

CONTROL = "point estimate (control)"
"""A bound without a margin: the check must see it fail."""


@dataclass(frozen=True)
class NoLoss(Laplace):
    """Laplace noise on two equal inputs: epsilon is 0."""

    @property
    def true_epsilon(self) -> float:
        """0."""
        return 0.0

    @property
    def scale(self) -> float:
        """Laplace scale."""
        return 1.0

    def inputs(self) -> tuple[float, float]:
        """Return two equal values."""
        return 0.0, 0.0


@dataclass(frozen=True)
class TwoOutcomes:
    """Answers 1 with one of two probabilities, else 0.

    Exact loss at delta: the largest log((p - delta) / q) over outcomes and directions, which an event attains.
    This is the hardest case: the chosen event has no slack.

    Parameters
    ----------
    left, right : float
        Probabilities of 1.
    """

    left: float
    right: float

    def true_epsilon(self, delta: float = 0.0) -> float:
        """Return the exact loss."""
        pairs = [(self.left, self.right), (1 - self.left, 1 - self.right)]
        ratios = [(p - delta) / q for one in pairs for p, q in (one, one[::-1])]
        return max([0.0, *(math.log(ratio) for ratio in ratios if ratio > 0)])

    def inputs(self) -> tuple[float, float]:
        """Return the probabilities of 1."""
        return self.left, self.right

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` answers, shape (count, 1)."""
        return (rng.random((count, 1)) < data).astype(np.float64)


@dataclass(frozen=True)
class LookedAt:
    """A subject with few outputs at a time, so that an anytime audit looks often.

    Parameters
    ----------
    subject : Subject
    most_rows : int
    """

    subject: Subject
    most_rows: int

    def inputs(self) -> tuple[Any, Any]:
        """Return the subject's inputs."""
        return self.subject.inputs()

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return the subject's outputs."""
        return self.subject.sample(data, count, rng)


@dataclass(frozen=True)
class NoiseForSeveral:
    """A subject whose outputs share their noise within a call: this many consecutive ones are equal.

    Parameters
    ----------
    subject : Subject
    outputs : int
    """

    subject: Subject
    outputs: int

    def inputs(self) -> tuple[Any, Any]:
        """Return the subject's inputs."""
        return self.subject.inputs()

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return each of the subject's outputs several times."""
        drawn = self.subject.sample(data, -(-count // self.outputs), rng)
        return np.repeat(drawn, self.outputs, axis=0)[:count]


@dataclass(frozen=True)
class Known:
    """A mechanism whose loss is known.

    Parameters
    ----------
    name : str
    subject : object
        A subject, or what the audit of its kind needs.
    true_epsilon : float
        At `delta`.
    delta : float
    curve : callable or None
        The true epsilon as a function of delta, if the curve is certified too.
    """

    name: str
    subject: Any
    true_epsilon: float
    delta: float = 0.0
    curve: Callable[[float], float] | None = None


RESPONSE = TwoOutcomes(0.75, 0.25)
RARE = TwoOutcomes(0.02 * math.e, 0.02)
WEAK = TwoOutcomes(0.55, 0.45)
WEAKER = TwoOutcomes(0.52, 0.48)
WEAK_RARE = TwoOutcomes(0.012, 0.01)

KNOWN = (
    Known("Laplace noise on equal inputs", NoLoss(), 0.0),
    Known("randomised response", RESPONSE, RESPONSE.true_epsilon()),
    Known("rare event", RARE, RARE.true_epsilon(), curve=RARE.true_epsilon),
    Known("Laplace, epsilon 1", Laplace(1.0), 1.0),
    Known("Gaussian, epsilon 1 at delta 0.01", Gaussian(1.0, "0.01"), 1.0, 0.01),
)

KNOWN_ANYTIME = (
    Known("Laplace noise on equal inputs", NoLoss(), 0.0),
    # every 0.005 below the loss is a level to test: a small loss is faster, but not easier
    Known("weak randomised response", WEAK, WEAK.true_epsilon()),
    Known("rare event of small loss", WEAK_RARE, WEAK_RARE.true_epsilon()),
)
"""Audited with looks in between."""

PER_CALL = 4
"""Outputs of a call, if only calls are independent."""

IN_CALLS = (
    Known("randomised response, one noise a call", NoiseForSeveral(RESPONSE, 4), RESPONSE.true_epsilon()),
    Known("rare event, two noises a call", NoiseForSeveral(RARE, 2), RARE.true_epsilon()),
)
"""Audited with calls taken whole."""

STAGED = (
    Known("weaker randomised response, in stages", WEAKER, WEAKER.true_epsilon()),
    Known("rare event of small loss, in stages", WEAK_RARE, WEAK_RARE.true_epsilon()),
)
"""Audited in stages, by half-lines alone: faster."""


@dataclass(frozen=True)
class ByResponse:
    """Says in another way whether a randomised response is 1.

    Parameters
    ----------
    response : TwoOutcomes
    """

    response: TwoOutcomes

    def inputs(self) -> tuple[float, float]:
        """Return the two probabilities of 1."""
        return self.response.inputs()


@dataclass(frozen=True)
class OddCells(ByResponse):
    """Two coordinates whose cell is in a set with one of two probabilities; no coordinate alone shows it.

    Parameters
    ----------
    response : TwoOutcomes
        Whether the cell is in the set.
    side : int
        Values of a coordinate; an even number.
    """

    side: int = 6

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` cells; those in the set have an odd sum."""
        odd = self.response.sample(data, count, rng)[:, 0]
        first, half = rng.integers(0, self.side, count), rng.integers(0, self.side // 2, count)
        return np.stack([first, 2 * half + (first + odd) % 2], axis=1).astype(np.float64)


IN_CELLS = (Known("randomised response in cells", OddCells(RESPONSE), RESPONSE.true_epsilon()),)
"""Audited by sets of whole rows."""


@dataclass(frozen=True)
class RareAndCommon:
    """Answers 1, seldom, and -1 with other probabilities than on the other input, else 0.

    The rare answer loses more, so it is chosen, and the common one is certified beside it.

    Parameters
    ----------
    rare, common : TwoOutcomes
        Of answering 1, and -1.
    """

    rare: TwoOutcomes
    common: TwoOutcomes

    def true_epsilon(self) -> float:
        """Return the exact loss: the largest over the three answers."""
        left, right = ((*side, 1 - sum(side)) for side in self.inputs())
        return max(abs(math.log(p / q)) for p, q in zip(left, right, strict=True))

    def inputs(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the probabilities of 1 and -1, on left and right."""
        return (self.rare.left, self.common.left), (self.rare.right, self.common.right)

    def sample(self, data: tuple[float, float], count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` answers, shape (count, 1)."""
        place = rng.random((count, 1))
        return (place < data[0]).astype(np.float64) - (place >= 1 - data[1])


TWO_EVENTS = RareAndCommon(TwoOutcomes(0.2, 0.2 * math.exp(-1.5)), TwoOutcomes(0.4 * math.exp(-0.5), 0.4))

BESIDE = (Known("rare and common event", TWO_EVENTS, TWO_EVENTS.true_epsilon()),)
"""Audited by two events that share the significance."""


@dataclass(frozen=True)
class NotANumber(ByResponse):
    """Answers NaN where another answers 1, and infinity where it answers 0.

    Parameters
    ----------
    response : TwoOutcomes
    """

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` answers, shape (count, 1)."""
        return np.where(self.response.sample(data, count, rng) > 0, math.nan, math.inf)


NOT_FINITE = (Known("randomised response, NaN or infinity", NotANumber(RESPONSE), RESPONSE.true_epsilon()),)
"""Audited by which coordinate is not finite."""


@dataclass(frozen=True)
class BehindCommonNoise(ByResponse):
    """Answers by the distance of two numbers, 3 or 0 in either direction, both under much wider noise.

    Parameters
    ----------
    response : TwoOutcomes
        Whether they are 3 apart.
    wide : float
        Standard deviation of the noise.
    blurred : bool
        Whether the distance is off by 1 at most.
    """

    wide: float = 3_000.0
    blurred: bool = False

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` pairs, shape (count, 2)."""
        apart = 3 * self.response.sample(data, count, rng) * rng.choice([-1.0, 1.0], size=(count, 1))
        common = rng.normal(0, self.wide, size=(count, 1))
        if self.blurred:
            apart += rng.uniform(-1, 1, size=(count, 1))
        return np.hstack([common, common + apart])


IN_DIRECTIONS = (
    Known("randomised response behind common noise", BehindCommonNoise(RESPONSE), RESPONSE.true_epsilon()),
    Known(
        "randomised response behind noise ten million times as wide",
        BehindCommonNoise(RESPONSE, 3e7, blurred=True),
        RESPONSE.true_epsilon(),
    ),
)
"""Audited by the distance of a weighted sum of coordinates."""


@dataclass(frozen=True)
class InUnits(ByResponse):
    """Answers by whether a number of very many is an odd or an even multiple of .05.

    Parameters
    ----------
    response : TwoOutcomes
        Whether it is odd.
    """

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` numbers, shape (count, 1)."""
        return (2 * rng.integers(2**20, size=(count, 1)) + self.response.sample(data, count, rng)) * 0.05


IN_UNITS = (Known("randomised response in units of .05", InUnits(RESPONSE), RESPONSE.true_epsilon()),)
"""Audited by residues."""


@dataclass(frozen=True)
class Tied(ByResponse):
    """Answers by whether the second and third of three numbers are equal.

    Parameters
    ----------
    response : TwoOutcomes
        Whether they are.
    """

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` times three numbers, shape (count, 3)."""
        numbers = rng.laplace(size=(count, 3))
        equal = self.response.sample(data, count, rng)[:, 0] > 0
        numbers[equal, 2] = numbers[equal, 1]
        return numbers


TIED = (Known("randomised response by a tie", Tied(RESPONSE), RESPONSE.true_epsilon()),)
"""Audited by equal coordinates."""


@dataclass(frozen=True)
class CodesBesideNoise(ByResponse):
    """Answers by whether a number is one of some codes or of others, and mostly by noise.

    Parameters
    ----------
    response : TwoOutcomes
        Which codes it is one of.
    codes : int
        Of either kind.
    """

    codes: int = 60

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` numbers, shape (count, 1)."""
        places = 2 * rng.integers(self.codes, size=(count, 1)) + self.response.sample(data, count, rng)
        codes = np.sqrt(places + 2.0)
        return np.where(rng.random((count, 1)) < 0.4, codes, rng.laplace(0.0, self.codes**0.5, (count, 1)))


MOSTLY_APART = TwoOutcomes(0.95, 0.05)

AMONG_CODES = (
    Known("randomised response by codes in noise", CodesBesideNoise(MOSTLY_APART), MOSTLY_APART.true_epsilon()),
)
"""Audited by values that come again on one input alone."""


@dataclass(frozen=True)
class AmongNoise(ByResponse):
    """Answers by whether a number is an odd or an even multiple of 1/64, and one time in ten by noise.

    Parameters
    ----------
    response : TwoOutcomes
        Whether it is odd.
    """

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` numbers, shape (count, 1)."""
        numbers = (2 * rng.integers(2**20, size=(count, 1)) + self.response.sample(data, count, rng)) / 64
        return np.where(rng.random((count, 1)) < 0.1, rng.laplace(0.0, 2.0**14, (count, 1)), numbers)


@dataclass(frozen=True)
class NearWhole(ByResponse):
    """Answers by whether a number is a third above a multiple of 8, or .0001 more.

    Parameters
    ----------
    response : TwoOutcomes
        Whether it is more.
    """

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` numbers, shape (count, 1)."""
        numbers = 8 * rng.integers(2**17, size=(count, 1)) + 1 / 3
        return numbers + 1e-4 * self.response.sample(data, count, rng)


IN_PLACES = (
    Known("randomised response in units of 1/64, among noise", AmongNoise(RESPONSE), RESPONSE.true_epsilon()),
    Known("randomised response by places in a cell", NearWhole(RESPONSE), RESPONSE.true_epsilon()),
)
"""Audited by residues of most numbers, and by places that the grid hides."""


@dataclass(frozen=True)
class InSums(ByResponse):
    """Answers by whether the sum of two numbers is 3 or 0, one time in three, and else by nothing.

    Parameters
    ----------
    response : TwoOutcomes
        Whether it is 3.
    """

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` times three numbers, shape (count, 3)."""
        numbers = rng.laplace(0.0, 16.0, size=(count, 3))
        answers = rng.random(count) < 1 / 3
        numbers[answers, 2] = 3 * self.response.sample(data, count, rng)[answers, 0] - numbers[answers, 1]
        return numbers


IN_SUMS = (Known("randomised response by a sum", InSums(RESPONSE), RESPONSE.true_epsilon()),)
"""Audited by values that a sum of two coordinates has often."""


@dataclass(frozen=True)
class ScoredResponse(TwoOutcomes):
    """A randomised response that knows its likelihood ratio."""

    def log_likelihood_ratio(self, outputs: FloatArray) -> FloatArray:
        """Return the log probability on left less that on right, shape (n,)."""
        one, zero = math.log(self.left / self.right), math.log((1 - self.left) / (1 - self.right))
        return np.where(outputs[:, 0] > 0, one, zero)


SCORED = (
    Known("randomised response with its ratio", ScoredResponse(0.75, 0.25), RESPONSE.true_epsilon()),
    Known("Laplace with its ratio, epsilon 1", ScoredLaplace(1.0), 1.0),
)
"""Audited by the subject's own likelihood ratio, on calls that mix outputs of both inputs."""


def point_estimate(counts: Counts, delta: float) -> float:
    """Return the loss of the counts, without a margin."""
    likely, unlikely = counts.likely / counts.likely_draws - delta, counts.unlikely / counts.unlikely_draws
    if likely <= 0:
        return -math.inf
    return math.log(likely / unlikely) if unlikely else math.inf
