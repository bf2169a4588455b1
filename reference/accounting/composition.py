"""Several releases about the same records: what they lose together.

Every bound here holds even if each release is chosen after seeing the earlier ones, its privacy parameters
included; proofs and sources: ``proofs/post_processing_and_composition.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from msgspec import UNSET, UnsetType, field

from reference.accounting.discrete import BEYOND
from reference.accounting.statements import ExactPrivacy, Privacy, PrivacyStatement, basic_composition, set_rounded
from reference.budgets import parse_delta
from reference.common.balls import Ball, ball, bisected, enclosed, sign, square_root
from reference.common.documents import Document, always
from reference.common.errors import DeltaError, NotPrivateError, ReadingError
from reference.common.numbers import RealLike, decimal_above, decimal_text
from reference.noise.profile import epsilon_of_shift, normal_cdf

METHODS = ("basic", "gdp", "zcdp")
STATEMENTS = ("exact", "published")

NOTHING = Fraction(0)

LARGEST_GDP_EPSILON = 90
BEYOND_SHARE, DELTA_SHARE = Fraction(1, 10**60), Fraction(1, 10**20)
"""A total variation of delta * BEYOND_SHARE costs at most DELTA_SHARE of delta: 1 + exp(90) < 10^40."""


class Counted(Protocol):
    """One part of a composition: a :class:`reference.accounting.release.Release`, or the record of one."""

    @property
    def mechanism(self) -> str:
        """Name of the mechanism."""

    @property
    def adjacency(self) -> str | None:
        """Neighbouring relation of its privacy statements."""

    @property
    def privacy(self) -> Privacy:
        """Its published statement and its exact loss."""


class Composition(Document, frozen=True):
    """(epsilon, delta)-differential privacy of several releases together: an upper bound, not a supremum.

    Parameters
    ----------
    releases : int
        How many.
    method : {'basic', 'gdp', 'zcdp'}
    statement : {'exact', 'published'}
        Whether the releases' exact privacy was composed, or their claims.
    epsilon, delta : Fraction
    adjacency : str
    verdicts : tuple of str
        `published`: the distinct verdicts on the claims that were added up.  Empty for `exact`.
    squared_shift, rho : Fraction or None
        `gdp`: mu^2 of all releases.  `zcdp`: rho of all releases.
    rounded : float
        Epsilon as the nearest float.
    """

    releases: int
    method: str
    statement: str
    epsilon: Fraction = field(name="epsilon_exact")
    delta: Fraction
    adjacency: str
    verdicts: tuple[str, ...] = ()
    squared_shift: Fraction | None = None
    rho: Fraction | None = None
    rounded: float | UnsetType = field(name="epsilon", default=UNSET)

    def __post_init__(self) -> None:
        set_rounded(self, self.epsilon, self.rounded)

    @property
    def holds(self) -> bool:
        """Whether every statement that was added up is known to hold."""
        return all(verdict in ("proved", "enclosed") for verdict in self.verdicts)


def compose(
    releases: Sequence[Counted],
    method: str = "basic",
    *,
    delta: RealLike | None = None,
    statement: str = "exact",
) -> Composition:
    """Return what several releases about the same records lose together.

    Parameters
    ----------
    releases : sequence of Release
        At least one, all for the same neighbours.
    method : {'basic', 'gdp', 'zcdp'}
        `basic`: epsilons and deltas add up, each at the delta of its release.  `gdp`: squares of mu add up, which
        is the Mahalanobis shift of Gaussian noise; the result is the profile of the sum.  `zcdp`: rhos add up.
        All three count both noises, hardened or not.
    delta : number, optional
        Where epsilon is evaluated: needed by `gdp` and `zcdp`, left out with `basic`.
    statement : {'exact', 'published'}
        Which statement of each release counts.  The exact one is the true one.  The published ones compose by
        `basic` only, and the result carries their verdicts.

    Raises
    ------
    reference.common.errors.NotPrivateError
        When a release has no privacy to count.
    reference.common.errors.ReadingError
        When neighbours differ, a method does not apply, or a release publishes no statement.
    """
    if method not in METHODS:
        raise ReadingError("method", method, "one of " + ", ".join(METHODS))
    if statement not in STATEMENTS:
        raise ReadingError("statement", statement, "one of " + ", ".join(STATEMENTS))
    if statement == "published" and method != "basic":
        raise ReadingError("method", method, "basic for published statements, which are (epsilon, delta) pairs")
    adjacency = _common_adjacency(releases)
    known = [_exact_of(release) for release in releases]
    if method == "basic":
        if delta is not None:
            raise ReadingError("delta", delta, "left out with basic composition, where the deltas add up")
        if statement == "published":
            return _published(releases, known, adjacency)
    elif delta is None:
        raise DeltaError("delta", None, f"given with {method}: it is where epsilon is evaluated")
    total = Total()
    for one in known:
        total = total.plus(one, method)
    return total.composed(method, adjacency, NOTHING if delta is None else parse_delta("delta", delta))


def _published(releases: Sequence[Counted], known: list[ExactPrivacy], adjacency: str) -> Composition:
    """Add up the published statements, with their verdicts."""
    total = basic_composition([_published_of(release) for release in releases])
    assert total is not None
    verdicts = tuple(dict.fromkeys(str(one.verdict) for one in known))
    return Composition(len(known), "basic", "published", total.epsilon, total.delta, adjacency, verdicts)


class Total(Document, frozen=True, omit_defaults=True):
    """The total of releases by one method; the parts of the others stay 0.

    Parameters
    ----------
    releases : int
        How many.
    epsilon, delta : Fraction
        `basic`: the sums of both.
    squared_shift : Fraction
        `gdp`: the sum of mu^2.
    beyond : int
        `gdp`: how many releases are mu-GDP except for a total variation of
        :data:`reference.accounting.discrete.BEYOND`.
    rho : Fraction
        `zcdp`.
    """

    releases: int = 0
    epsilon: Fraction = always(NOTHING)
    delta: Fraction = always(NOTHING)
    squared_shift: Fraction = always(NOTHING)
    beyond: int = 0
    rho: Fraction = always(NOTHING)

    def plus(self, one: ExactPrivacy, method: str) -> Total:
        """Return the total with one more release.

        Raises
        ------
        reference.common.errors.ReadingError
            When the method does not apply to the release.
        """
        count = self.releases + 1
        if method == "basic":
            # epsilon <- sum epsilon_j(delta_j), delta <- sum delta_j
            epsilon, delta = self.epsilon + one.epsilon.upper, self.delta + one.at_delta
            return Total(count, _of_bounded_length(epsilon), _of_bounded_length(delta))
        if method == "gdp":
            # mu^2 <- sum mu_j^2
            squared = _of_bounded_length(self.squared_shift + _mu_squared(one))
            return Total(count, squared_shift=squared, beyond=self.beyond + (one.grid_shift is not UNSET))
        # rho <- sum rho_j
        return Total(count, rho=_of_bounded_length(self.rho + _rho(one)))

    def composed(self, method: str, adjacency: str, delta: Fraction) -> Composition:
        """Return the privacy of the total; `basic` does not use `delta`."""
        if method == "basic":
            return Composition(
                self.releases, method, "exact", self.epsilon, min(Fraction(1), self.delta), adjacency
            )
        if delta == 0:
            raise DeltaError("delta", "0", f"positive with {method}")
        if method == "zcdp":
            epsilon = zcdp_epsilon(self.rho, delta)
            return Composition(self.releases, method, "exact", epsilon, delta, adjacency, rho=self.rho)
        # noise on a grid is mu-GDP except for a total variation: together (1 + exp(epsilon)) sum of them, on delta
        if self.beyond * BEYOND > delta * BEYOND_SHARE:
            raise DeltaError("delta", decimal_text(delta), "above 1e-40 with gdp and hardened Gaussian noise")
        left = delta * (1 - DELTA_SHARE) if self.beyond else delta
        epsilon = decimal_above(epsilon_of_shift(self.squared_shift, left).upper, 20)
        if self.beyond and epsilon > LARGEST_GDP_EPSILON:
            raise ReadingError("method", method, f"another one beyond epsilon {LARGEST_GDP_EPSILON}")
        shift = self.squared_shift
        return Composition(self.releases, method, "exact", epsilon, delta, adjacency, squared_shift=shift)


def _of_bounded_length(value: Fraction) -> Fraction:
    """Return a sum, rounded up at 60 digits where it would need hundreds."""
    return decimal_above(value, 60) if value.denominator.bit_length() > 1024 else value


def _mu_squared(one: ExactPrivacy) -> Fraction:
    """Return mu^2 of one release."""
    if one.squared_shift is not None:
        return one.squared_shift.upper
    if one.grid_shift is not UNSET:
        return one.grid_shift
    if one.at_delta == 0:
        return squared_shift_of_pure(one.epsilon.upper)
    raise ReadingError("method", "gdp", "basic where a release is known at a single delta only")


LARGEST_PURE = 10**6
"""Beyond this epsilon nothing is private, and mu would take minutes to enclose."""


@lru_cache(maxsize=1024)
def squared_shift_of_pure(epsilon: Fraction) -> Fraction:
    """Return the square of the smallest mu for which epsilon-differential privacy implies mu-GDP, rounded up.

    Phi(mu/2) = exp(epsilon) / (1 + exp(epsilon)), attained by randomised response; proof:
    ``proofs/post_processing_and_composition.md``.
    """
    if epsilon == 0:
        return Fraction(0)
    if epsilon > LARGEST_PURE:
        raise ReadingError("epsilon", decimal_text(epsilon), f"at most {LARGEST_PURE} with gdp")

    def too_small(mu: Fraction) -> bool:
        # Phi(-mu/2) > 1 / (1 + exp(epsilon))
        return sign(lambda: normal_cdf(-ball(mu) / 2) * (1 + ball(epsilon).exp()) - 1) > 0

    # mu < epsilon sqrt(pi/2), and Phi(-x) <= exp(-x^2 / 2) / 2
    at_most = min(epsilon * Fraction(1254, 1000), 2 * square_root(2 * epsilon).upper)
    found = bisected(too_small, Fraction(0), at_most, Fraction(1, 2**70))
    return decimal_above(found.upper**2, 20)


def _rho(one: ExactPrivacy) -> Fraction:
    """Return rho of one release, rounded up to 20 digits."""
    if one.rho is not None:
        return one.rho
    if one.squared_shift is not None:
        # Gaussian: D_alpha = alpha mu^2 / 2
        return one.squared_shift.upper / 2
    if one.at_delta == 0:
        return rho_of_pure(one.epsilon.upper)
    raise ReadingError("method", "zcdp", "basic where a release is known at a single delta only")


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Return the smallest rho for which epsilon-differential privacy implies rho-zCDP, rounded up.

    epsilon tanh(epsilon / 2), attained by randomised response; proof:
    ``proofs/post_processing_and_composition.md``.
    """
    found = enclosed(lambda: ball(epsilon) * (ball(epsilon) / 2).tanh())
    # tanh(x) is below 1 and below x, even where a ball is too wide to show it
    return decimal_above(min(found.upper, epsilon, epsilon**2 / 2), 20)


def zcdp_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon such that rho-zCDP implies (epsilon, delta)-differential privacy, rounded up.

    *Implements* Canonne, Kamath and Steinke (NeurIPS 2020), Corollary 13, at one order alpha.  Every alpha > 1
    gives a true statement; the best one is searched in floats, then the formula is evaluated in balls.

    Parameters
    ----------
    rho : Fraction
        At least 0.
    delta : Fraction
        In (0, 1).
    """
    if rho == 0:
        return Fraction(0)
    from scipy.optimize import minimize_scalar

    log_rho, log_delta = _log(rho), _log(delta)
    # near the best alpha - 1, which is sqrt(log(1/delta) / rho) up to a slowly varying factor
    rough = (math.log(-log_delta) - log_rho) / 2
    best = minimize_scalar(
        lambda logarithm: _zcdp_epsilon_at(math.exp(logarithm), float(rho), log_delta),
        bounds=(rough - 10, rough + 10),
        method="bounded",
    )
    excess = Fraction(math.exp(best.x))

    def value() -> Ball:
        a, alpha = ball(excess), ball(1 + excess)
        # epsilon <- alpha rho + log((alpha - 1) / alpha) - (log alpha + log delta) / (alpha - 1)
        return alpha * ball(rho) - (1 / a).log1p() - (alpha.log() + ball(delta).log()) / a

    return decimal_above(max(Fraction(0), enclosed(value).upper), 20)


def _zcdp_epsilon_at(a: float, rho: float, log_delta: float) -> float:
    return (1 + a) * rho + math.log(a) - math.log1p(a) - (math.log1p(a) + log_delta) / a


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _common_adjacency(releases: Sequence[Counted]) -> str:
    if not releases:
        raise ReadingError("releases", "nothing", "at least one")
    for release in releases:
        _exact_of(release)
    adjacencies = sorted({str(release.adjacency) for release in releases})
    if len(adjacencies) > 1:
        raise ReadingError("adjacency", " and ".join(adjacencies), "the same in all releases that are composed")
    return adjacencies[0]


def _exact_of(release: Counted) -> ExactPrivacy:
    if release.privacy.exact is None:
        raise NotPrivateError(release.mechanism)
    return release.privacy.exact


def _published_of(release: Counted) -> PrivacyStatement:
    if release.privacy.published is None:
        raise ReadingError("statement", "published", f"exact: a release of {release.mechanism} publishes none")
    return release.privacy.published
