"""Enclose the loss that one event of the released w shows, without draws and without a limit of large data sets.

Two data sets of the unit ball whose records lie at the unit vectors, so that the exact quadratic is diagonal.
The release is w = arg min of the noisy objective, without repair.  If no noise exceeds a cap, the noisy
quadratic is definite and the released w_j shows the noisy linear coefficient of w_j up to a slack that falls with
the number of records; the probability that some noise exceeds the cap is added in full.  The derivation is in
``proofs/released_weights.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from flint import arb

from reference.accounting import PrivacyStatement
from reference.common.balls import Ball, ball, enclosed
from reference.common.errors import ReadingError
from reference.common.numbers import Enclosure
from reference.noise import Noise

CAPS = {"gaussian": 200, "laplace": 2000}
"""In units of the scale: noise exceeds them only with a probability below exp(-2000)."""


@dataclass(frozen=True)
class UnitVectors:
    """Two neighbouring data sets at the unit vectors, of the reading `absolute` at weight 1.

    Of the shared records, all with z = 0, `at_own` lie at e_j and `elsewhere` at each other unit vector, half of
    them with y = 1.  The record that differs lies at e_j: (y, z) = (1, 0) on the left, (0, 1) on the right.

    Parameters
    ----------
    dimension : int
    coordinate : int
        j, from 0.
    at_own, elsewhere : int
        Even and positive.
    """

    dimension: int
    coordinate: int
    at_own: int
    elsewhere: int

    def __post_init__(self) -> None:
        for name in ("at_own", "elsewhere"):
            if getattr(self, name) < 2 or getattr(self, name) % 2:
                raise ReadingError(name, getattr(self, name), "even and positive")

    @property
    def records(self) -> int:
        """Records in each data set."""
        return self.at_own + (self.dimension - 1) * self.elsewhere + 1

    @property
    def own_coefficients(self) -> tuple[Fraction, Fraction]:
        """Linear coefficient of w_j, on the left and on the right, sum (1/2 - y + |z - zbar|) x_j.

        On the left zbar is 0 and the shared labels cancel.  On the right each shared record adds zbar = 1/N.
        """
        mean = Fraction(1, self.records)
        return Fraction(-1, 2), Fraction(1, 2) + (1 - mean) + self.at_own * mean

    @property
    def largest_coefficient(self) -> Fraction:
        """A bound on every linear coefficient of both data sets."""
        return Fraction(5, 2)

    @property
    def least_quadratic(self) -> Fraction:
        """The smallest exact coefficient of a square: sum x_e^2 / 8 without the differing record."""
        return Fraction(min(self.at_own, self.elsewhere), 8)

    def described(self) -> dict[str, int | str]:
        """Return both data sets in words and counts."""
        return {
            "records": self.records,
            "shared, at e_j, z = 0, half of them y = 1": self.at_own,
            "shared, at each other unit vector, z = 0, half of them y = 1": self.elsewhere,
            "left": "one record more at e_j, (y, z) = (1, 0)",
            "right": "one record more at e_j, (y, z) = (0, 1)",
            "j": self.coordinate + 1,
        }


def excess(data: UnitVectors, noise: Noise, claim: PrivacyStatement) -> Enclosure:
    """Enclose a lower bound on P_right(E) - exp(epsilon) P_left(E) - delta for one event E of w.

    E is "w_j is at most a threshold".  A positive lower end refutes the statement for the released w, whatever is
    released where the noisy objective has no minimum.

    Parameters
    ----------
    data : UnitVectors
    noise : Noise
        Of the coefficients; the scale of w_j's coefficient is that of its part.
    claim : PrivacyStatement
    """
    return enclosed(partial(_excess, data, noise, claim))


def _excess(data: UnitVectors, noise: Noise, claim: PrivacyStatement) -> Ball:
    d, kind = data.dimension, noise.kind
    own = Fraction(noise.scale_s if noise.in_s[data.coordinate] else noise.scale_n)
    largest = Fraction(max(noise.scale_s, noise.scale_n))
    cap = CAPS[kind] * largest
    beyond = d * (d + 3) * _tail(kind, ball(Fraction(CAPS[kind])))
    slack = ball(_slack(data, cap))
    left, right = (ball(value) for value in data.own_coefficients)
    epsilon, delta = ball(Fraction(claim.epsilon)), ball(Fraction(claim.delta))
    threshold = _threshold(kind, left, right, ball(own), epsilon)
    often = _tail(kind, (threshold + slack - right) / ball(own)) - beyond
    seldom = _tail(kind, (threshold - slack - left) / ball(own)) + beyond
    return often - epsilon.exp() * seldom - delta


def _slack(data: UnitVectors, cap: Fraction) -> Fraction:
    """Bound |2 q_j w_j + b_j| if no noise exceeds the cap.

    Row e of the equation of the minimum is 2 (q_e + noise) w_e + sum of noise w_l = -b_e; by its largest entry
    |w| <= |b| / (2 (q - cap) - (d - 1) cap).
    """
    d = data.dimension
    definite = 2 * (data.least_quadratic - cap) - (d - 1) * cap
    if definite <= 0:
        raise ReadingError("records", data.records, "enough for a definite quadratic under this noise")
    return (d + 1) * cap * (data.largest_coefficient + cap) / definite


def _threshold(kind: str, left: Ball, right: Ball, scale: Ball, epsilon: Ball) -> Ball:
    """Return where the noisy coefficient is exp(epsilon) times as likely on the right; for Laplace, the centre."""
    if kind == "laplace":
        return right
    return (left + right) / 2 + scale * scale * epsilon / (right - left)


def _tail(kind: str, x: Ball) -> Ball:
    """Return the probability that noise of scale 1 exceeds x."""
    if kind == "gaussian":
        return (x / arb(2).sqrt()).erfc() / 2
    # exact on either side of 0, and the larger of both if the ball contains 0
    return (-x).exp() / 2 if x >= 0 else 1 - x.exp() / 2 if x < 0 else ((-x).exp() / 2).union(1 - x.exp() / 2)
