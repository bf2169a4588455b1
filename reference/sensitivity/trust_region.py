"""Maxima of h.y + y'My over the unit ball, or over its nonnegative part: bounds from above and from below.

Every bound from above is a certificate, valid whatever search found it: rounding enters
only through the stated margins.  Proofs: ``proofs/sensitivities_balls.md``, Lemma F.  Problems come in batches; a
coordinate whose entries of h and M are zero has no effect, so problems of different sizes share a batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from reference.common.arrays import FloatArray

LARGEST_PROBLEM = 50
"""Most coordinates of a problem; equal coordinates of a record count as one, so ten is the usual limit."""

ROUNDING = 1e-13
"""Margin for rounding, relative to the size of a problem.

A bound is a sum of at most ``LARGEST_PROBLEM``^2 products of numbers of that size: the unit roundoff, 1.1e-16,
times the longest chain of operations (a dot product within a dot product, 100 terms) is below 2e-14.
"""

LARGEST_FRONT = 100_000
"""Most cones that the search holds at a time."""

MOST_CONES = 1_500_000
"""Most cones that the searches of many problems look at together: a few seconds."""


def size_of(h: FloatArray, M: FloatArray) -> FloatArray:
    """Bound, per problem, the absolute value of h.y + y'My and of everything computed with it."""
    if h.shape[-1] > LARGEST_PROBLEM:
        raise ValueError(f"{h.shape[-1]} coordinates: the margin for rounding is argued for {LARGEST_PROBLEM}")
    largest: FloatArray = np.linalg.norm(h, axis=-1) + np.linalg.norm(M, axis=(-2, -1)) + 1e-300
    return largest


def without_useless(h: FloatArray, M: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fix coordinates at zero that a nonnegative maximiser does not use (Lemma F(a)).

    The terms that contain y_i are at most y_i (h_i + |positive part of (2 M_ij, j != i; M_ii)|_2): when that is
    not positive, y_i = 0 loses nothing.
    """
    h, M = h.copy(), M.copy()
    k = h.shape[-1]
    twice = 2 - np.eye(k)
    for _ in range(k):
        pull = np.linalg.norm(np.maximum(M, 0) * twice, axis=-1)
        useless = h + pull * (1 + ROUNDING) <= 0
        h[useless] = 0
        M = np.where(useless[..., :, None] | useless[..., None, :], 0.0, M)
    return h, M


def ball_ceiling(h: FloatArray, M: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bound the maxima over the whole unit ball from above (Lemma F(b)); exact up to rounding.

    Parameters
    ----------
    h : ndarray, shape (problems, k)
    M : ndarray, shape (problems, k, k)
        Symmetric.

    Returns
    -------
    bounds : ndarray, shape (problems,)
    points : ndarray, shape (problems, k)
        Points of norm about 1 or less that nearly attain them, unless the problem is degenerate.
    """
    size = size_of(h, M)
    values, vectors = np.linalg.eigh(M)
    slack = ROUNDING * size
    floor = _largest_eigenvalue(M, values, vectors) + slack
    along = np.einsum("pji,pj->pi", vectors, h)
    low, high = floor, floor + np.linalg.norm(h, axis=-1) / 2
    for _ in range(60):
        mu = (low + high) / 2
        too_small = np.sum((along / (mu[:, None] - values)) ** 2, axis=-1) > 4
        low, high = np.where(too_small, mu, low), np.where(too_small, high, mu)
    points = np.einsum("pij,pj->pi", vectors, along / (2 * (high[:, None] - values)))
    return _certificate(h, M, high, points, h - _twice_k(M, high, points)), points


def _largest_eigenvalue(M: FloatArray, values: FloatArray, vectors: FloatArray) -> FloatArray:
    """Bound max(0, largest eigenvalue) from above by a computed decomposition and its residuals.

    For M = V diag(v) V' + R and V'V = 1 + Q, y'My <= max(v, 0) |V'y|^2 + |R| |y|^2 and |V'y|^2 <= (1 + |Q|) |y|^2.
    """
    rebuilt = np.einsum("pij,pj,pkj->pik", vectors, values, vectors)
    gram = np.einsum("pji,pjk->pik", vectors, vectors)
    residual = np.linalg.norm(M - rebuilt, axis=(-2, -1))
    skew = np.linalg.norm(gram - np.eye(M.shape[-1]), axis=(-2, -1))
    bound: FloatArray = np.maximum(values.max(axis=-1), 0) * (1 + skew) + residual
    return bound


def _twice_k(M: FloatArray, mu: FloatArray, y: FloatArray) -> FloatArray:
    """Return 2 (mu 1 - M) y."""
    product: FloatArray = 2 * (mu[:, None] * y - np.einsum("pij,pj->pi", M, y))
    return product


def _certificate(h: FloatArray, M: FloatArray, mu: FloatArray, y: FloatArray, rest: FloatArray) -> FloatArray:
    """Return mu + y'Ky + |rest|, K = mu 1 - M: at least h.x + x'Mx for |x| <= 1, given h.x <= (2Ky + rest).x.

    h.x + x'Mx <= mu |x|^2 + (2Ky + rest).x - x'Kx = mu |x|^2 + y'Ky - (x - y)'K(x - y) + rest.x.
    """
    quadratic = np.sum(y * _twice_k(M, mu, y), axis=-1) / 2
    margin = ROUNDING * (size_of(h, M) + mu) * (1 + np.sum(y * y, axis=-1))
    bound: FloatArray = mu + quadratic + np.linalg.norm(rest, axis=-1) + margin
    return bound


def positive_ceiling(h: FloatArray, M: FloatArray) -> tuple[float, FloatArray]:
    """Bound the maximum over |y|_2 <= 1, y >= 0 of one problem from above (Lemma F(c)).

    For each mu that makes K = mu 1 - M positive definite, mu + max over y >= 0 of (h.y - y'Ky) is a bound; the
    inner maximum is a nonnegative least squares problem, and the best mu has |y| = 1 or is the smallest allowed.

    Returns
    -------
    bound : float
    point : ndarray, shape (k,)
        The inner maximiser: it attains the bound when its norm is 1.
    """
    used = np.flatnonzero((h != 0) | np.any(M != 0, axis=1))
    point = np.zeros(len(h))
    if not len(used):
        return float(ROUNDING * size_of(h, M)), point
    g, A = h[used], M[np.ix_(used, used)]
    values, vectors = np.linalg.eigh(A[None])
    floor = float(_largest_eigenvalue(A[None], values, vectors)[0] + 1e3 * ROUNDING * size_of(g, A))
    low, high = floor, floor + float(np.linalg.norm(g)) / 2
    y = _inner_maximiser(g, A, high)
    for _ in range(50):
        mu = (low + high) / 2
        candidate = _inner_maximiser(g, A, mu)
        if candidate @ candidate > 1:
            low = mu
        else:
            high, y = mu, candidate
    at = np.array([high])
    # for x >= 0 only the positive part of h - 2Ky counts
    rest = np.maximum(g[None] - _twice_k(A[None], at, y[None]), 0)
    point[used] = y
    return float(_certificate(g[None], A[None], at, y[None], rest)[0]), point


def _inner_maximiser(h: FloatArray, M: FloatArray, mu: float) -> FloatArray:
    """Return nearly the maximiser of h.y - y'(mu 1 - M)y over y >= 0."""
    from scipy.optimize import nnls

    k = len(h)
    try:
        factor = cholesky(mu * np.eye(k) - M)
        target = solve_triangular(factor, h, trans="T") / 2
        y: FloatArray = nnls(factor, target)[0]
    except (LinAlgError, RuntimeError):
        # the certificate is valid whatever is returned
        return np.zeros(k)
    return y


def ascend(
    h: FloatArray, M: FloatArray, starts: FloatArray, *, positive: bool, steps: int = 300
) -> tuple[FloatArray, FloatArray]:
    """Climb from several starts per problem; values from below.

    Each step maximises a concave function that touches the objective from below, so no step descends.

    Parameters
    ----------
    h : ndarray, shape (problems, k)
    M : ndarray, shape (problems, k, k)
    starts : ndarray, shape (problems, starts, k)
    positive : bool
        Stay in y >= 0.
    steps : int

    Returns
    -------
    values : ndarray, shape (problems,)
    points : ndarray, shape (problems, k)
    """
    curvature = np.maximum(-np.linalg.eigvalsh(M)[:, 0], 0) + 1e-3 * size_of(h, M)
    c = curvature[:, None, None]
    y = _into_ball(starts, positive=positive)
    for _ in range(steps):
        y = _into_ball(y + (h[:, None, :] / 2 + y @ M) / c, positive=positive)
    values = np.einsum("pk,psk->ps", h, y) + np.einsum("psk,pkl,psl->ps", y, M, y)
    best = values.argmax(axis=1)
    rows = np.arange(len(h))
    return values[rows, best], y[rows, best]


def _into_ball(y: FloatArray, *, positive: bool) -> FloatArray:
    if positive:
        y = np.maximum(y, 0)
    inside: FloatArray = y / np.maximum(1, np.linalg.norm(y, axis=-1, keepdims=True))
    return inside


def starts_for(points: FloatArray) -> FloatArray:
    """Return starts per problem: a point, the unit vectors, and the vector of equal entries."""
    problems, k = points.shape
    fixed = np.vstack([np.eye(k), np.full((1, k), 1 / np.sqrt(k))])
    return np.concatenate([points[:, None, :], np.broadcast_to(fixed, (problems, k + 1, k))], axis=1)


@dataclass
class Work:
    """The work that all searches together may still do."""

    cones: int = field(default_factory=lambda: MOST_CONES)


def cone_search(h: FloatArray, M: FloatArray, target: float, work: Work | None = None) -> float:
    """Bound the maximum over |y|_2 <= 1, y >= 0 from above by branch and bound over cones (Lemma F(d)).

    Stops when the bound is at most `target`, or when there are too many cones, at a time or for `work`.  On the
    cone of unit vectors v_i, y = sum c_i v_i, with a_i = h.v_i, B = v'Mv and s = sum c_i, the value is a weighted
    mean of s (a_i + a_j)/2 + s^2 B_ij, and 1 >= |y|^2 >= s^2 (m + (1 - m)/k) for m = min v_i.v_j >= 0.
    """
    used = np.flatnonzero((h != 0) | np.any(M != 0, axis=1))
    if not len(used):
        return max(target, 0.0)
    g, A = h[used], M[np.ix_(used, used)]
    margin = ROUNDING * float(size_of(g, A))
    cones = np.eye(len(used))[None]
    while True:
        bounds, cosines = _cone_bounds(g, A, cones)
        bounds = bounds + margin
        is_open = bounds > target
        if not is_open.any():
            return target
        if work is not None:
            work.cones -= len(cones)
        if 2 * int(is_open.sum()) > LARGEST_FRONT or (work is not None and work.cones < 0):
            return float(bounds.max())
        cones, cosines = cones[is_open], cosines[is_open]
        i, j = np.unravel_index(cosines.reshape(len(cones), -1).argmin(axis=1), cosines.shape[1:])
        if np.any(i == j):
            return float(bounds.max())
        cones = _halved(cones, i, j)


def _cone_bounds(h: FloatArray, M: FloatArray, cones: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the bound on each cone, and the cosines between its vectors."""
    a = cones @ h
    cosines = cones @ cones.transpose(0, 2, 1)
    B = cones @ M @ cones.transpose(0, 2, 1)
    linear = (a[:, :, None] + a[:, None, :]) / 2
    smallest = np.maximum(cosines.min(axis=(1, 2)), 0)
    longest = ((1 + ROUNDING) / np.sqrt(smallest + (1 - smallest) / len(h)))[:, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        stationary = np.where(B < 0, -linear / (2 * B), longest)
    s = np.clip(np.where(linear > 0, stationary, 0), 0, longest)
    best = np.maximum(linear * s + B * s * s, linear * longest + B * longest**2)
    return np.maximum(best.max(axis=(1, 2)), 0), cosines


def _halved(cones: FloatArray, i: npt.NDArray[np.intp], j: npt.NDArray[np.intp]) -> FloatArray:
    """Cut each cone in two at the middle of its widest edge."""
    rows = np.arange(len(cones))
    middle = cones[rows, i] + cones[rows, j]
    middle /= np.linalg.norm(middle, axis=1)[:, None]
    first, second = cones.copy(), cones.copy()
    first[rows, i], second[rows, j] = middle, middle
    return np.concatenate([first, second])
