"""Every pair of data sets of rows that a tiny domain encodes, by the objective's definition alone.

Nothing here knows how a supremum is found: rows come from the attributes' categories, coefficients from the
paper's sums, and the largest change from looking at all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np

from reference.domain import Domain
from reference.domain.attributes import Numeric, OneHot, Ordinal
from reference.sensitivity import Setting

GRID = (0.0, 0.5, 1.0)
"""Where a numeric attribute is tried."""


def all_rows(domain: Domain, grid: tuple[float, ...] = GRID) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x, y and z of every row."""
    parts = []
    for attribute in domain.attributes:
        if isinstance(attribute, OneHot):
            parts.append(np.eye(len(attribute.categories)).tolist())
        elif isinstance(attribute, Ordinal):
            last = len(attribute.categories) - 1
            parts.append([[rank / last] for rank in range(last + 1)])
        else:
            assert isinstance(attribute, Numeric)
            parts.append([[value] for value in grid])
    found = []
    for chosen in product(*parts):
        for z, y in product((0, 1) if domain.group else (0,), (0, 1)):
            x = [1.0] * domain.intercept + [entry for part in chosen for entry in part]
            found.append((x + [float(z)] * domain.keep_group, y, z))
    x, y, z = (np.array(column, dtype=float) for column in zip(*found, strict=True))
    return x * domain.column_factor, y, z


def coefficients(setting: Setting, rows: tuple[np.ndarray, ...], chosen: np.ndarray) -> np.ndarray:
    """Return the coefficients of many data sets: a row of indices each."""
    x, y, z = (column[chosen] for column in rows)
    fair, alpha = z - z.mean(axis=1, keepdims=True), float(setting.fairness_weight)
    factor = 0.5 - y
    if setting.fairness == "absolute":
        factor = factor + alpha * abs(fair)
    elif setting.fairness == "covariance":
        factor = factor + alpha * fair
    e, k = pairs(setting)
    share = np.where(e == k, 1 / 8, 1 / 4) if setting.basis == "monomial" else 1 / 8
    parts = [np.einsum("nr,nrd->nd", factor, x), (x[:, :, e] * x[:, :, k]).sum(axis=1) * share]
    if setting.fairness == "separate":
        parts.append(np.einsum("nr,nrd->nd", fair, x))
    return np.concatenate(parts, axis=1)


def pairs(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the quadratic coefficients."""
    d = setting.dimension
    e, k = np.triu_indices(d) if setting.basis == "monomial" else np.indices((d, d)).reshape(2, -1)
    return e, k


def coefficient_weights(setting: Setting, s: int, weight_s: Fraction, weight_n: Fraction) -> np.ndarray:
    """Return the weight of every coefficient."""
    e, k = pairs(setting)
    linear = np.arange(setting.dimension) == s
    in_s = np.concatenate([linear, (e == s) | (k == s), *([linear] if setting.fairness == "separate" else [])])
    return np.where(in_s, float(weight_s), float(weight_n))


def largest_change(
    domain: Domain, setting: Setting, s: int, weights: tuple[Fraction, Fraction], power: int
) -> float:
    """Return the largest weighted change between neighbouring data sets of N records."""
    assert setting.records is not None
    rows = all_rows(domain)
    each = np.arange(len(rows[0]))
    weight = coefficient_weights(setting, s, *weights)
    return max(
        float((abs(change) ** power @ weight).max()) for change in _changes(setting, rows, each, setting.records)
    )


def _changes(
    setting: Setting, rows: tuple[np.ndarray, ...], each: np.ndarray, records: int
) -> Iterator[np.ndarray]:
    for shared in combinations_with_replacement(each.tolist(), records - 1):
        base = np.tile(np.array(shared, dtype=int), (len(each), 1))
        full = coefficients(setting, rows, np.column_stack([base, each]))
        if setting.replaces:
            for row in each:
                yield full - full[row]
        else:
            yield full - coefficients(setting, rows, base[:1])
