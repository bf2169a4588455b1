"""Descent on noisy gradients: post-processing of what was released."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.linalg import inv

from reference.common.arrays import FloatArray
from reference.domain import Domain
from reference.domain.attributes import Attribute, Binned

CURVATURE = 0.25
"""Largest curvature of the loss, in x x'."""

RIDGE = 2.0
"""Added curvature, in standard deviations of the mean of all gradients."""

NEIGHBOURS = 0.5
"""Likely correlation of the weights of neighbouring bins: noise differs between them, effects hardly do."""

VARIANCE = 1 / 3
"""Variance of a column with signs, of the largest that its bounds and mean admit: that of even values.  Where it
is the largest, a step along this column goes at most 1.6 times as far as it should, if the model is right: the
expected slope of the loss is then at most .134, not CURVATURE."""

SMALLEST_RIDGE = 2.0**-40
"""Of the largest moment: less would be lost in rounding, with an epsilon far beyond any use."""

OVERSHOT, SHOWN = 0.25, 2.0
"""A step went too far if the loss rises at its end, along it, by more than this part of how it fell at its start,
and this many standard deviations of the noise on top.  On the tables of the frontier no step did."""

AVERAGED = 0.4
"""Share of the last iterates that are averaged."""


def first_gradient(noisy_sums: FloatArray) -> FloatArray:
    """Return the gradient at w = 0, sum (1/2 - t) x, from the released label sums."""
    ones, zeros = np.split(noisy_sums, 2)
    # sum (1/2 - t) x = (sum (1 - t) x - sum t x) / 2
    return (zeros - ones) / 2


def independent_second_moments(noisy_sums: FloatArray, domain: Domain, n: int) -> FloatArray:
    """Return sum x x' as if attributes were independent of each other, shape (d, d).

    Within an attribute the structure is known: at most one column of a one-hot attribute is not 0, and for the
    column factor f 0 <= x <= f gives sum x^2 <= f sum x.  A column with signs has sum x^2 <= n f^2, mostly far
    less: its variance is taken to be VARIANCE of the largest.  Prescaled ones share |x|^2 <= 1, so an equal part
    of n, or what their means need.  Between attributes it is the product of the means.
    """
    ones, zeros = np.split(noisy_sums, 2)
    factor, signed = domain.column_factor, np.array(domain.signed)
    # sum x, each in [0, n f], or in [-n f, n f] with signs
    totals = np.clip(ones + zeros, np.where(signed, -n * factor, 0.0), n * factor)
    blocks = one_hot_blocks(domain)
    for block in blocks:
        # a one-hot attribute has one 1 a record: its sums add up to n f
        total = totals[block].sum()
        width = block.stop - block.start
        totals[block] = totals[block] * (n * factor / total) if total > 0 else n * factor / width
    second = np.outer(totals, totals) / n
    for block in blocks:
        second[block, block] = 0.0
    squares = totals**2 / n
    likely = squares + VARIANCE * (n * factor**2 - squares)
    if domain.prescaled:
        likely = np.maximum(squares, n / len(totals))
    np.fill_diagonal(second, np.where(signed, likely, factor * totals))
    return second


def columns_of(domain: Domain) -> Iterator[tuple[Attribute, slice]]:
    """Yield each attribute and its columns."""
    start = int(domain.intercept)
    for attribute in domain.attributes:
        stop = start + len(attribute.columns)
        yield attribute, slice(start, stop)
        start = stop


def one_hot_blocks(domain: Domain) -> list[slice]:
    """Return the columns of each one-hot attribute, a kept group of more than two values included."""
    blocks = [block for _, block in columns_of(domain) if block.stop - block.start > 1]
    if domain.keep_group and domain.group_values:
        blocks.append(slice(domain.dimension - domain.groups, domain.dimension))
    return blocks


def ordered_bins(domain: Domain) -> list[slice]:
    """Return the columns of each number in three bins or more, without the bin of missing values."""
    return [
        slice(block.start, block.start + len(attribute.edges) + 1)
        for attribute, block in columns_of(domain)
        if isinstance(attribute, Binned) and len(attribute.edges) > 1
    ]


def likely_precision(domain: Domain) -> FloatArray:
    """Return the inverse of the likely correlation of the weights, shape (d, d).

    That of bins i and j of one number is NEIGHBOURS^|i - j|; all other weights have none.
    """
    precision = np.eye(domain.dimension)
    for bins in ordered_bins(domain):
        count = bins.stop - bins.start
        # the inverse has three diagonals
        chain = np.diag([1.0, *[1 + NEIGHBOURS**2] * (count - 2), 1.0])
        chain -= NEIGHBOURS * (np.eye(count, k=1) + np.eye(count, k=-1))
        precision[bins, bins] = chain / (1 - NEIGHBOURS**2)
    return precision


def preconditioner(second_moments: FloatArray, deviation: float, domain: Domain) -> FloatArray:
    """Return the inverse of the largest curvature of independent attributes, plus a ridge as large as the noise.

    Attributes that say the same have more curvature than independent ones (see :func:`overshot`).

    Parameters
    ----------
    second_moments : ndarray, shape (d, d)
    deviation : float
        Standard deviation of the mean of all gradients of the model.
    domain : Domain
        Says which columns are neighbouring bins.
    """
    ridge = max(RIDGE * deviation, SMALLEST_RIDGE * second_moments.max())
    # P <- (M / 4 + ridge sigma K^{-1})^{-1}
    inverse: FloatArray = inv(CURVATURE * second_moments + ridge * likely_precision(domain))
    return inverse


def step(w: FloatArray, noisy_gradient: FloatArray, inverse_curvature: FloatArray) -> FloatArray:
    """Return the next iterate."""
    # w <- w - P g
    return w - inverse_curvature @ noisy_gradient


def overshot(
    taken: FloatArray,
    gradients: tuple[FloatArray, FloatArray],
    deviations: tuple[float, float],
    inverse_curvature: FloatArray,
    second_moments: FloatArray,
) -> bool:
    """Return whether a step went too far, as where attributes that say the same count as independent.

    Parameters
    ----------
    taken : ndarray, shape (d,)
        The step, -P times the noisy gradient before it.
    gradients : two ndarrays, shape (d,)
        Noisy ones, before and after it.
    deviations : two floats
        Standard deviations of their noise.
    inverse_curvature, second_moments : ndarrays, shape (d, d)
        P, and the M that it was made of.
    """
    before, after = gradients
    fell, rises = -float(taken @ before), float(taken @ after)
    noise = float(np.linalg.norm(taken)) * math.hypot(*deviations)
    beyond = rises - OVERSHOT * fell - SHOWN * noise
    if beyond <= 0:
        # the noise that the step follows would only lower this, and takes as long as P
        return False
    # the step follows the noise e of the gradient before: that adds about E e' P (M / 4) P e to the slope after it
    carried = inverse_curvature @ (CURVATURE * second_moments) @ inverse_curvature
    return beyond > deviations[0] ** 2 * float(np.trace(carried))


def averaged(iterates: Sequence[FloatArray]) -> FloatArray:
    """Return the mean of the last iterates, which carries less noise than single steps."""
    last = max(1, int(AVERAGED * len(iterates)))
    mean: FloatArray = np.mean(iterates[-last:], axis=0)
    return mean
