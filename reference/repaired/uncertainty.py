"""How far the noise of a release moves its weights: post-processing, from the public noise alone."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

from reference.common.arrays import FloatArray
from reference.common.scores import decision_scores
from reference.domain import Domain
from reference.domain.attributes import Binned
from reference.domain.edges import edges_of
from reference.repaired import descent
from reference.repaired.expected import drawn_records
from reference.repaired.model import Model
from reference.repaired.spent import COUNTS, GRADIENT, Spent, deviation_of

CROWDED = 0.95
"""Share of the records in one bin from which the bins of a number tell little."""


def alike_warnings(too_far: int) -> tuple[str, ...]:
    """Return a warning where steps went too far, as where many attributes say nearly the same."""
    if not too_far:
        return ()
    said = "many attributes seem to say nearly the same, for steps of the fit went too far"
    return (f"{said}: probabilities may be too near to 0 and 1; declare one attribute of those",)


def crowded(counts: FloatArray, domain: Domain) -> tuple[str, ...]:
    """Return the numbers of which one bin, cut by the declared bounds alone, has more than CROWDED of the records.

    From released counts: narrower bounds, or edges, would tell these records apart.
    """
    totals = np.add(*np.split(counts, 2))
    found = []
    for attribute, columns in descent.columns_of(domain):
        if isinstance(attribute, Binned) and attribute.edges == edges_of(attribute.lower, attribute.upper):
            shares = totals[columns] / max(totals[columns].sum(), 1e-300)
            found += [attribute.name] * bool(shares[: len(attribute.edges) + 1].max() > CROWDED)
    return tuple(found)


def standard_errors(model: Model, domain: Domain) -> FloatArray:
    """Return the standard deviation that the noise gives each weight of the label, shape (d,).

    This takes the gradient as linear around w, with the curvature H of records drawn from the released counts: an
    iterate t carries the noise of step s as A^(t - s) P, A = I - P H.  Sampling error is left out.  All steps
    count as whole, because no release shows which were halved.  Where whole steps would not settle, as with many
    attributes that say the same, errors are unknown: infinite.
    """
    steps = _label_steps(model)
    # the released sums halved, for the first gradient
    counts, *gradients = (deviation_of(one.scale, model.delta) for one in steps)
    deviations = [counts / math.sqrt(2), *gradients]
    last = deviations[-1]
    second = descent.independent_second_moments(model.counts, domain, model.n)
    inverse = descent.preconditioner(second, last / math.sqrt(len(steps)), domain)
    curvature = curvature_at(model.w, model.counts, domain, model.n)
    if not settles(inverse, curvature):
        return np.full(len(inverse), np.inf)
    # A <- I - P H
    carried = np.eye(len(inverse)) - inverse @ curvature
    kept = max(1, int(descent.AVERAGED * len(steps)))
    variance = np.zeros(len(inverse))
    for s, deviation in enumerate(deviations):
        # (1 / kept) sum over the averaged iterates t >= s of A^(t - s) P
        total, power = np.zeros_like(inverse), inverse
        for t in range(s, len(steps)):
            if t >= len(steps) - kept:
                total += power / kept
            power = carried @ power
        variance += deviation**2 * (total**2).sum(axis=1)
    errors: FloatArray = np.sqrt(variance)
    return errors


def settles(inverse_curvature: FloatArray, curvature: FloatArray) -> bool:
    """Return whether I - P H carries noise on without making it larger: the eigenvalues of P H are at most 2."""
    root = np.linalg.cholesky(inverse_curvature)
    return bool(np.linalg.eigvalsh(root.T @ curvature @ root)[-1] <= 2.0)


def curvature_at(w: FloatArray, counts: FloatArray, domain: Domain, n: int) -> FloatArray:
    """Return sum r' x x' of the capped loss, expected of n records with the released counts, shape (d, d)."""
    x = drawn_records(counts, domain, n).x
    # a value too rare to be drawn so seldom has no more curvature than its count allows
    known = np.clip(np.add(*np.split(counts, 2)), 0.0, n * domain.column_factor)
    rare = np.sqrt(np.minimum(1.0, known / np.maximum(x.sum(axis=0) * (n / len(x)), 1e-300)))
    x *= np.where(domain.signed, 1.0, rare)
    rho = expit(np.abs(decision_scores(w, x)))
    # r' is rho (1 - rho) where the prediction is right, with probability 1 / (3 - 2 rho), and 0 where it is wrong
    slope = rho * (1 - rho) / (3 - 2 * rho)
    curvature: FloatArray = x.T @ (x * slope[:, None]) * (n / len(x))
    return curvature


def _label_steps(model: Model) -> list[Spent]:
    """Return the releases of the model of the label: its counts, and the gradients after them."""
    steps = [model.spent[0]]
    assert steps[0].what == COUNTS
    for one in model.spent[1:]:
        if one.what != GRADIENT:
            break
        steps.append(one)
    return steps
