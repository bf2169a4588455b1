"""Our mechanisms as subjects: the noisy coefficients, or the released w, on two neighbouring data sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from audit.losses import Neighbours, extreme_neighbours
from audit.neighbours import extreme_pair
from audit.subjects import FloatArray
from audit.witnesses import domain_of
from reference.accounting import ExactPrivacy, PrivacyStatement, exact_privacy
from reference.budgets import Budget, SplitBudget
from reference.coefficients import Layout, NoisyCoefficients
from reference.datasets import Encoding, load
from reference.errors import ReadingError
from reference.minimiser import RELATIVE_ZERO, minimise
from reference.noise import Noise, add_noise, draw
from reference.objective import layout, objective
from reference.readings import Readings
from reference.registry import MECHANISMS, MechanismSpec
from reference.sensitivity import Setting, setting_of

RELEASES = ("coefficients", "weights")

BLOCK = 20_000
"""Noisy objectives minimised at a time."""


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
        Coordinate with a budget of its own.
    neighbours : Neighbours
    """

    spec: MechanismSpec
    budget: Budget | SplitBudget
    readings: Readings
    x_s: int
    neighbours: Neighbours

    @cached_property
    def noise(self) -> Noise:
        """What the mechanism adds: a function of public things only."""
        return self.spec.noise(self.neighbours.domain, self.budget, self.readings, self.x_s)

    @cached_property
    def layout(self) -> Layout:
        """Which coefficients are released."""
        return layout(self.neighbours.domain, self.readings)

    @property
    def output_names(self) -> tuple[str, ...]:
        """What the coordinates of an output are."""
        return self.layout.names

    @property
    def claim(self) -> PrivacyStatement:
        """The theorem's statement for this budget; its formula where the sensitivity is the caller's own."""
        domain = self.neighbours.domain
        stated = self.spec.statement(domain, self.budget, self.readings, self.x_s)
        return stated or self.spec.formula(domain, self.budget, self.readings)

    @property
    def exact(self) -> ExactPrivacy:
        """The exact privacy of the noisy coefficients over all neighbours: shown beside the bound, never used."""
        setting = setting_of(self.neighbours.domain, self.readings)
        return exact_privacy(setting, self.noise, self.claim, self.budget.delta)

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the exact coefficients of the two data sets."""
        left, right = (
            objective(side.moments, self.readings) for side in (self.neighbours.left, self.neighbours.right)
        )
        return left.values, right.values

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy coefficient vectors, by the code that makes a release."""
        return add_noise(data, self.noise, draw(self.noise, rng, count))


@dataclass(frozen=True)
class WeightRelease(CoefficientRelease):
    """The released w on a pair of data sets, with the repair that the readings name.

    An objective without a minimum, a legal outcome without repair, is a row of NaN.
    """

    @property
    def output_names(self) -> tuple[str, ...]:
        """The coordinates of w."""
        return tuple(f"w[{name}]" for name in self.layout.columns)

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` released w, by the noise that makes a release and :func:`minimisers`."""
        parts = []
        for start in range(0, count, BLOCK):
            noisy = super().sample(data, min(BLOCK, count - start), rng)
            parts.append(minimisers(noisy, self.noise, self.layout, self.readings))
        return np.concatenate(parts)


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
    # w_hat <- -S^{-1} c / 2 on the eigenvectors that are kept
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


def release_of(document: dict[str, Any]) -> CoefficientRelease:
    """Build one of our mechanisms on its worst pair of neighbours.

    Parameters
    ----------
    document : dict
        `mechanism`, `release`, `budget`, `readings`, `x_s` (a name, an index or None), and either `setting`
        (`dimension`, `records`, `domain`: the worst neighbours of the exact analysis) or `data` (name and
        encoding: real records of which one is replaced by the worst that their domain admits).

    Raises
    ------
    reference.errors.InputError
    """
    spec = MECHANISMS[document["mechanism"]]
    if document["release"] not in RELEASES:
        raise ReadingError("release", document["release"], "one of " + ", ".join(RELEASES))
    kind = CoefficientRelease if document["release"] == "coefficients" else WeightRelease
    readings = Readings.from_json(document["readings"])
    budget: Budget | SplitBudget = (SplitBudget if spec.split_budget else Budget)(**document["budget"])
    if "setting" in document:
        domain = domain_of(
            Setting(document["setting"]["dimension"], readings.fairness, document["setting"]["domain"])
        )
    else:
        records = load(
            document["data"]["name"],
            Encoding(*(document["data"][name] for name in ("domain", "encoding", "intercept", "keep_group"))),
            records=document["data"]["records"],
            dimension=document["data"]["dimension"],
            seed=document["data"]["seed"],
        )
        domain = records.domain
    x_s = domain.selectable[0] if document["x_s"] is None else domain.coordinate(document["x_s"])
    noise = spec.noise(domain, budget, readings, x_s)
    if "setting" in document:
        neighbours = extreme_neighbours(setting_of(domain, readings, document["setting"]["records"]), noise, x_s)
    else:
        neighbours = extreme_pair(records, document["data"]["name"], readings, noise)
    return kind(spec, budget, readings, x_s, neighbours)
