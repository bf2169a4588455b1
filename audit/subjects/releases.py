"""Our mechanisms as subjects: the noisy coefficients, or the released w, on two neighbouring data sets."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import log_ndtr, logsumexp

from audit.exact.neighbours import Neighbours, extreme_neighbours
from audit.exact.witnesses import domain_of
from audit.subjects.real_neighbours import extreme_pair
from reference.accounting import ExactPrivacy, PrivacyStatement, exact_privacy
from reference.budgets import Budget, SplitBudget
from reference.coefficients import Layout, NoisyCoefficients
from reference.common.arrays import FloatArray, NumberArray
from reference.common.documents import Document
from reference.common.errors import ReadingError
from reference.datasets import Encoding, load
from reference.minimiser import RELATIVE_ZERO, minimise
from reference.noise import HardenedSampler, Noise, add_noise, draw
from reference.noise.hardened import require_on_grid
from reference.objective import layout, objective
from reference.readings import Readings, require_one_row
from reference.records import Records
from reference.registry import MECHANISMS, MechanismSpec
from reference.sensitivity import Setting, declared_of, setting_of

RELEASES = ("coefficients", "weights")

BLOCK = 20_000
"""Noisy objectives minimised at a time."""

HARDENED_VALUES = 2**15
"""Numbers of hardened noise drawn at a time, which takes about half a second."""

OPERATING_SYSTEM = "hardened noise takes the operating system's entropy: running again makes other draws"

AT_EDGE = 1e-9
"""Relative distance from the edge of a ball up to which w counts as on it."""

MULTIPLIERS = 9
"""Multipliers of a penalty, from one end to the other, that may have led to w."""


@dataclass(frozen=True)
class CoefficientRelease:
    """The noisy coefficients of one of our mechanisms on a pair of data sets.

    The w that a mechanism returns is computed from them, so it can lose no more privacy than they do.

    Parameters
    ----------
    spec : MechanismSpec
    budget : Budget or SplitBudget
    readings : Readings
    x_s : int
        Coordinate with its own budget.
    neighbours : Neighbours
    """

    spec: MechanismSpec
    budget: Budget | SplitBudget
    readings: Readings
    x_s: int
    neighbours: Neighbours

    @cached_property
    def noise(self) -> Noise:
        """The noise of the mechanism: a function of public things only."""
        return self.spec.noise(self.neighbours.domain, self.budget, self.readings, self.x_s)

    @cached_property
    def layout(self) -> Layout:
        """The coefficients that are released."""
        return layout(self.neighbours.domain, self.readings)

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of an output's coordinates."""
        return self.layout.names

    @property
    def claim(self) -> PrivacyStatement:
        """The theorem's statement for this budget; its formula if the sensitivity is the caller's own."""
        domain = self.neighbours.domain
        stated = self.spec.statement(domain, self.budget, self.readings, self.x_s)
        return stated or self.spec.formula(domain, self.budget, self.readings)

    @property
    def exact(self) -> ExactPrivacy:
        """The exact privacy over all rows that the domain encodes: shown beside the bound, not used."""
        domain = self.neighbours.domain
        if domain.prescaled:
            return exact_privacy(setting_of(domain, self.readings), self.noise, self.claim, self.budget.delta)
        where = declared_of(domain, self.readings, self.x_s if self.spec.split_budget else None)
        return exact_privacy(where, self.noise, self.claim, self.budget.delta)

    @property
    def norm_domain(self) -> ExactPrivacy | None:
        """The same over all rows of the norm; None if these are the rows of the domain."""
        domain = self.neighbours.domain
        if domain.prescaled:
            return None
        return exact_privacy(setting_of(domain, self.readings), self.noise, self.claim, self.budget.delta)

    @property
    def own_entropy(self) -> bool:
        """Whether the noise is hardened, which takes no generator."""
        return self.noise.steps is not None

    @property
    def most_rows(self) -> int:
        """Outputs to request at a time."""
        return max(1, HARDENED_VALUES // self.layout.size) if self.own_entropy else sys.maxsize

    def inputs(self) -> tuple[NumberArray, NumberArray]:
        """Return the exact coefficients of the two data sets."""
        left, right = (
            objective(side.moments, self.readings) for side in (self.neighbours.left, self.neighbours.right)
        )
        return left.values, right.values

    def sample(self, data: NumberArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy coefficient vectors, by the code that makes a release."""
        if self.own_entropy:
            return HardenedSampler().perturbed(data, self.noise, count)
        return add_noise(data, self.noise, draw(self.noise, rng, count))


@dataclass(frozen=True)
class WeightRelease(CoefficientRelease):
    """The released w on a pair of data sets, with the repair that the readings name.

    An objective without a minimum, a legal outcome without repair, gives a row of NaN.
    """

    @property
    def output_names(self) -> tuple[str, ...]:
        """The coordinates of w."""
        return tuple(f"w[{name}]" for name in self.layout.columns)

    def sample(self, data: NumberArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` released w, by the noise that makes a release and :func:`minimisers`."""
        parts = []
        for start in range(0, count, BLOCK):
            noisy = super().sample(data, min(BLOCK, count - start), rng)
            parts.append(minimisers(noisy, self.noise, self.layout, self.readings))
        return np.concatenate(parts)

    def log_likelihood_ratio(self, outputs: FloatArray) -> FloatArray:
        """Return approximately the log ratio of w's likelihoods, left over right.

        At a released w the gradient of the exact objective is minus that of the noise, whose covariance follows
        from w.  So the gradients of both data sets at w tell them apart.  They are taken as Gaussian, and
        the exact curvature for the noisy one: errors cost power only.

        - In a `ball` the noisy gradient is -2 m w for some m >= 0 if w is on its edge.
        - `separate` adds m g to the gradient: m is the weight on one side of g.w = tau, minus it on the other, and
          any number in between where g.w = tau.
        """
        parts = [self._ratio(outputs[start : start + BLOCK]) for start in range(0, len(outputs), BLOCK)]
        return np.concatenate(parts)

    def _ratio(self, w: FloatArray) -> FloatArray:
        deviations = np.where(self.noise.in_s, self.noise.scale_s, self.noise.scale_n)
        variances = deviations**2 * (2.0 if self.noise.kind == "laplace" else 1.0)
        covariance = self._covariance(w, variances)
        sides = [coefficients.astype(np.float64) for coefficients in self.inputs()]
        densities = [self._log_density(w, coefficients, covariance, variances) for coefficients in sides]
        return np.asarray(densities[0] - densities[1])

    def _covariance(self, w: FloatArray, variances: FloatArray) -> FloatArray:
        """Return the covariance of the noise in the gradient of the quadratic objective at each w, (n, d, d)."""
        diagonal = np.arange(self.layout.dimension)
        of_linear, of_square = self._parts(variances)
        own = np.diag(of_square)
        of_square = of_square + of_square.T - np.diag(own)
        # the noise of w_j w_k is w_k times itself in the gradient's place j, and w_j times itself in place k
        covariance: FloatArray = of_square * w[:, :, None] * w[:, None, :]
        covariance[:, diagonal, diagonal] = of_linear + w**2 @ of_square + 3 * own * w**2
        return covariance

    def _log_density(
        self, w: FloatArray, coefficients: FloatArray, covariance: FloatArray, variances: FloatArray
    ) -> FloatArray:
        """Return the log density of w on one data set, up to a common constant."""
        linear, square = self._parts(coefficients)
        shift = 4 * self.noise.largest_standard_deviation if self.readings.repair == "shift_and_trim" else 0.0
        curvature = square + square.T + 2 * shift * np.eye(self.layout.dimension)
        gradient = linear + w @ curvature
        if self.readings.fairness == "separate":
            return self._penalised(w, gradient, curvature, coefficients, (covariance, variances))
        solved = np.linalg.solve(covariance, gradient[:, :, None])[:, :, 0]
        distance = (gradient * solved).sum(axis=1)
        if self.readings.repair != "ball":
            return np.asarray(-distance / 2)
        # the integral over m >= 0 of the density of gradient + 2 m w
        along = (w * solved).sum(axis=1)
        own = (w * np.linalg.solve(covariance, w[:, :, None])[:, :, 0]).sum(axis=1)
        at_edge = np.linalg.norm(w, axis=1) >= float(self.readings.ball_radius) * (1 - AT_EDGE)
        own = np.where(at_edge, own, 1.0)
        beyond = (along**2 / own - distance) / 2 + log_ndtr(-along / np.sqrt(own))
        return np.asarray(np.where(at_edge, beyond, -distance / 2))

    def _penalised(
        self,
        w: FloatArray,
        gradient: FloatArray,
        curvature: FloatArray,
        coefficients: FloatArray,
        of_noise: tuple[FloatArray, FloatArray],
    ) -> FloatArray:
        """Return the log density of a minimiser with the penalty, over its possible multipliers."""
        d, weight = self.layout.dimension, float(self.readings.fairness_weight)
        covariance, variances = of_noise
        g, of_g = coefficients[-d:], variances[-d:]
        deviation = np.sqrt(w**2 @ of_g)
        gap = (w @ g - float(self.readings.tau)) / deviation
        multipliers = np.linspace(-weight, weight, MULTIPLIERS)
        # on the kink, a step of the multiplier corresponds to this much of the density of g.w at tau
        step = float(np.abs(g @ np.linalg.pinv(curvature) @ g)) * 2 * weight / MULTIPLIERS
        on_kink = np.log(max(step, 1e-300)) - gap**2 / 2 - np.log(deviation * np.sqrt(2 * np.pi))
        terms = []
        for place, multiplier in enumerate(multipliers):
            shifted = gradient + multiplier * g
            spread = covariance + multiplier**2 * np.diag(of_g)
            distance = (shifted * np.linalg.solve(spread, shifted[:, :, None])[:, :, 0]).sum(axis=1)
            ends = {0: log_ndtr(-gap), MULTIPLIERS - 1: log_ndtr(gap)}
            log_weight = np.logaddexp(ends[place], on_kink) if place in ends else on_kink
            terms.append(log_weight - distance / 2 - np.linalg.slogdet(spread)[1] / 2)
        return np.asarray(logsumexp(terms, axis=0))

    def _parts(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the linear part of a vector over the monomials, and the rest as an upper triangle."""
        d = self.layout.dimension
        square = np.zeros((d, d))
        square[self.layout.pairs] = values[d : d + len(self.layout.pairs[0])]
        return values[:d], square


def minimisers(values: FloatArray, noise: Noise, public: Layout, readings: Readings) -> FloatArray:
    """Minimise many noisy objectives; a test compares each row with :func:`reference.minimiser.minimise`.

    Parameters
    ----------
    values : ndarray, shape (n, size)
        Noisy coefficients.
    noise : Noise
    public : Layout
    readings : Readings

    Returns
    -------
    ndarray, shape (n, d)
        NaN where there is no minimum.
    """
    if readings.fairness == "separate" or readings.repair == "ball":
        return np.array([_minimiser(row, noise, public, readings) for row in values])
    d = public.dimension
    quadratic = np.zeros((len(values), d, d))
    quadratic[(slice(None), *public.pairs)] = values[:, d : d + len(public.pairs[0])]
    eigenvalues, eigenvectors = np.linalg.eigh((quadratic + quadratic.swapaxes(1, 2)) / 2)
    if readings.repair == "shift_and_trim":
        eigenvalues = eigenvalues + 4 * noise.largest_standard_deviation
    zero = RELATIVE_ZERO * np.abs(eigenvalues).max(axis=1, keepdims=True)
    kept = eigenvalues > zero
    linear = np.einsum("nij,ni->nj", eigenvectors, values[:, :d])
    # w_hat <- -S^{-1} c / 2 on the kept eigenvectors
    solution = np.where(kept, -linear / (2 * np.where(kept, eigenvalues, 1.0)), 0.0)
    w = np.einsum("nij,nj->ni", eigenvectors, solution)
    if readings.repair == "none":
        w[(eigenvalues < -zero).any(axis=1)] = np.nan
        for row in np.flatnonzero((~kept).any(axis=1) & (eigenvalues >= -zero).all(axis=1)):
            w[row] = _minimiser(values[row], noise, public, readings)
    return np.asarray(w)


def _minimiser(values: FloatArray, noise: Noise, public: Layout, readings: Readings) -> FloatArray:
    found = minimise(NoisyCoefficients(public, values, noise), readings).w
    return np.full(public.dimension, np.nan) if found is None else np.array(found)


class WorstNeighbours(Document, frozen=True, kw_only=True):
    """The worst neighbouring data sets that the exact analysis finds.

    Parameters
    ----------
    dimension, records : int
    domain : {'unit_ball', 'unit_box', 'symmetric_ball'}
        The norm of x.
    """

    dimension: int
    records: int
    domain: Literal["unit_ball", "unit_box", "symmetric_ball"]


class NamedData(Document, frozen=True, kw_only=True):
    """Real records, one of them replaced by the worst in their domain.

    Parameters
    ----------
    name : str
        Of a data set with a known domain.
    seed : int
        Of synthetic data.
    domain, encoding, intercept, keep_group
        The encoding of records, as for :class:`reference.datasets.Encoding`.
    records, dimension : int or None
        Size of synthetic data.
    """

    name: str
    seed: int
    domain: str
    encoding: str
    intercept: bool
    keep_group: bool
    records: int | None
    dimension: int | None

    def load(self) -> Records:
        """Return the records."""
        encoding = Encoding(self.domain, self.encoding, self.intercept, self.keep_group)
        return load(self.name, encoding, records=self.records, dimension=self.dimension, seed=self.seed)


class MechanismDescription(
    Document, frozen=True, kw_only=True, tag_field="kind", tag="mechanism", omit_defaults=True
):
    """One of our mechanisms on its worst pair of neighbours.

    Parameters
    ----------
    mechanism : str
    release : {'coefficients', 'weights'}
    budget : dict
        The parts of the budget.
    readings : Readings
    x_s : str, int or None
        Coordinate with its own budget; the first one if None.
    setting : WorstNeighbours or None
    data : NamedData or None
        Exactly one of the two.

    Raises
    ------
    ValueError
        When parts of the budget are missing or unknown, or not exactly one of setting and data is given.
    """

    mechanism: str
    release: Literal["coefficients", "weights"]
    budget: dict[str, Fraction]
    readings: Readings
    x_s: str | int | None
    setting: WorstNeighbours | None = None
    data: NamedData | None = None

    def __post_init__(self) -> None:
        """Check which fields are given."""
        if set(self.budget) not in [{entry.name for entry in fields(kind)} for kind in (Budget, SplitBudget)]:
            raise ValueError(f"a budget has other parts than {', '.join(self.budget)}")
        if (self.setting is None) == (self.data is None):
            raise ValueError("one of setting and data is needed")

    @property
    def spec(self) -> MechanismSpec:
        """The mechanism.

        Raises
        ------
        reference.common.errors.ReadingError
        """
        if self.mechanism not in MECHANISMS:
            raise ReadingError("mechanism", self.mechanism, "one of " + ", ".join(MECHANISMS))
        return MECHANISMS[self.mechanism]

    @property
    def hardened(self) -> bool:
        """Whether the noise takes the operating system's entropy and no seed."""
        return self.readings.noise == "hardened"

    @property
    def stated_budget(self) -> Budget | SplitBudget:
        """The budget, checked."""
        kind = SplitBudget if self.spec.split_budget else Budget
        if set(self.budget) != {entry.name for entry in fields(kind)}:
            raise ReadingError("budget", ", ".join(self.budget), f"that of {self.mechanism}")
        return kind(**self.budget)


def release_of(described: MechanismDescription) -> CoefficientRelease:
    """Build one of our mechanisms on its worst pair of neighbours.

    Raises
    ------
    reference.common.errors.InputError
    """
    spec, budget, readings = described.spec, described.stated_budget, described.readings
    require_one_row(readings)
    kind = CoefficientRelease if described.release == "coefficients" else WeightRelease
    if described.setting is not None:
        shape = Setting(described.setting.dimension, readings.fairness, described.setting.domain)
        domain = domain_of(shape)
    elif described.data is not None:
        records = described.data.load()
        domain = records.domain
    x_s = domain.selectable[0] if described.x_s is None else domain.coordinate(described.x_s)
    noise = spec.noise(domain, budget, readings, x_s)
    if noise.steps is not None:
        require_on_grid(max(noise.scale_s, noise.scale_n), noise.steps)
    if described.setting is not None:
        setting = setting_of(domain, readings, described.setting.records)
        neighbours = extreme_neighbours(setting, noise, x_s)
    elif described.data is not None:
        neighbours = extreme_pair(records, described.data.name, readings, noise)
    return kind(spec, budget, readings, x_s, neighbours)
