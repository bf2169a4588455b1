"""The privacy of discrete Gaussian noise on a fine grid, from the profile of continuous noise.

Let s be sigma in steps, X discrete Gaussian and U uniform on [-1/2, 1/2].  X + U has a density within a factor
of exp((T + 1) / (2 s)) of that of N(0, s^2) on [-T s, T s], and both rarely leave that interval.  X is X + U
rounded, so both mechanisms lose nearly the same.  Proof: ``proofs/hardened_noise.md``, section 4.
"""

from __future__ import annotations

from fractions import Fraction

from reference.common.balls import Ball, ball, enclosed, square_root
from reference.common.errors import GridError
from reference.noise.profile import delta_of_shift, epsilon_of_shift
from reference.sensitivity.setting import Supremum

MASS = Fraction(1, 2**60)
"""The tails outside [-T s, T s] may cost this share of delta."""

LARGEST_GAP = Fraction(1, 4)

BEYOND = Fraction(1, 10**100)
"""How far, in total variation, a release may be from one that is mu-GDP: see :func:`grid_shift`."""


def log_density_gap(
    inverse_sigmas: Fraction, size: int, steps: int, epsilon: Fraction, delta: Fraction
) -> Fraction:
    """Return c: how far apart the logarithms of the two joint densities are, except on a mass m.

    (1 + exp(epsilon)) m <= delta * :data:`MASS`.

    Parameters
    ----------
    inverse_sigmas : Fraction
        Sum of 1 / sigma over the coefficients.
    size, steps : int
        Number of coefficients, steps per unit.
    epsilon, delta : Fraction
        delta > 0.

    Raises
    ------
    reference.common.errors.GridError
        When the grid is too coarse for the noise, and the statement would be worthless.
    """

    def tail() -> Ball:
        # m = 4 size exp(-T^2 / 2);  log(1 + exp(epsilon)) <= epsilon + 1
        return (2 * ((ball(4 * size) / ball(delta * MASS)).log() + ball(epsilon + 1))).sqrt()

    gap = (enclosed(tail).upper + 1) * inverse_sigmas / (2 * steps)
    # also gives s >= T and s >= 1, which the proof needs
    if gap > LARGEST_GAP:
        loss = f"where the loss is {float(epsilon):.3g}"
        needed = f"far above 1/{steps}, {loss}: use a smaller epsilon or fairness weight"
        raise GridError("sigma", float(size / inverse_sigmas), needed)
    return gap


def epsilon_ends(
    squared_shift: Supremum, inverse_sigmas: Fraction, size: int, steps: int, delta: Fraction
) -> tuple[Fraction, Fraction]:
    """Return the ends of the smallest epsilon at `delta`, over shifts up to a supremum."""
    # with c <= 1/4 the epsilon sought is below this
    at_most = epsilon_of_shift(squared_shift.upper, delta / 4).upper + 1
    c = log_density_gap(inverse_sigmas, size, steps, at_most, delta)
    # exp(c) <= 1 + 2c
    upper = epsilon_of_shift(squared_shift.upper, delta * (1 - MASS) / (1 + 2 * c)).upper + 2 * c
    more = delta * (1 + 2 * c + MASS)
    lower = Fraction(0) if more >= 1 else epsilon_of_shift(squared_shift.lower, more).lower
    return max(Fraction(0), lower - 2 * c), upper


def delta_ends(
    squared_shift: Supremum, inverse_sigmas: Fraction, size: int, steps: int, epsilon: Fraction, delta: Fraction
) -> tuple[Fraction, Fraction]:
    """Return the ends of the smallest delta at `epsilon`, to within `delta` * :data:`MASS`."""
    c = log_density_gap(inverse_sigmas, size, steps, epsilon + 1, delta)
    less = epsilon - 2 * c
    at_least = delta_of_shift(squared_shift.upper, abs(less)).upper
    if less < 0:
        # delta(-x) = 1 - exp(-x) + exp(-x) delta(x) <= x + delta(x)
        at_least += -less
    upper = (1 + 2 * c) * at_least + delta * MASS
    at_most = delta_of_shift(squared_shift.lower, epsilon + 2 * c).lower
    return max(Fraction(0), (1 - c) * (at_most - delta * MASS)), min(Fraction(1), upper)


def grid_shift(squared_shift: Supremum, inverse_sigmas: Fraction, size: int, steps: int) -> Fraction | None:
    """Return mu^2: the release is mu-GDP except for a total variation of :data:`BEYOND` on either side.

    mu is the longest shift plus 4 sqrt(2 pi) c.  Proof: ``proofs/hardened_noise.md``, section 4.  None where the
    grid is too coarse for that.
    """

    def tail() -> Ball:
        # 3/2 mu_0 = 6 size exp(-T^2 / 2)
        return (2 * (ball(6 * size) / ball(BEYOND)).log()).sqrt()

    gap = (enclosed(tail).upper + 1) * inverse_sigmas / (2 * steps)
    if gap > LARGEST_GAP:
        return None
    # 4 sqrt(2 pi) < 10.03
    mu = square_root(squared_shift.upper).upper + Fraction(1003, 100) * gap
    return mu * mu
