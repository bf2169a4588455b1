"""numpy's samplers inverted: the releases that they can give from a value, and those that no draw gives.

A release is fl(v + fl(scale X)).  X is a function of 53 random bits (Laplace), or of 52 random bits and one of 256
layers (Gaussian, a ziggurat), so "can some draw give this release?" is a search among few candidates.  What cannot
be searched counts as possible: a release called impossible is impossible, if the functions below are the
sampler's, which :func:`reproduces_numpy` checks against its generator.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from reference.common.arrays import BoolArray, FloatArray

BITS = 2**53
MARGIN = 8
"""Rounding in the logarithm, in the product and here moves the place of a draw by less than 2."""

MOST_CANDIDATES = 5000

LAYERS, TAIL = 256, 3.65
"""The ziggurat has layers up to 3.654; values beyond come from another sampler."""

SPAN = 40
"""Most places of a layer to try around the nearest one."""

CHECKED = 50_000


def laplace_variate(place: int) -> float:
    """Return numpy's unit Laplace variate for the uniform number place / 2^53."""
    uniform = place / BITS
    return -math.log(2.0 - uniform - uniform) if uniform >= 0.5 else math.log(uniform + uniform)


def can_give_by_laplace(release: float, value: float, scale: float) -> bool:
    """Return whether some draw of Laplace noise added to `value` gives `release`."""
    half = math.ulp(release)
    least = math.nextafter(release - value - half, -math.inf)
    most = math.nextafter(release - value + half, math.inf)
    for near, far, sign in ((least, most, 1), (-most, -least, -1)):
        if far < 0:
            continue
        # |X| = -log(j / 2^52): j falls with it
        last = min(BITS // 2, math.ceil(BITS / 2 * math.exp(-max(near, 0.0) / scale)) + MARGIN)
        first = max(1, math.floor(BITS / 2 * math.exp(-far / scale)) - MARGIN)
        if last - first > MOST_CANDIDATES:
            return True
        places = range(first, last + 1) if sign < 0 else range(BITS - last, min(BITS - 1, BITS - first) + 1)
        if any(value + scale * laplace_variate(place) == release for place in places):
            return True
    return False


def can_give_by_gaussian(releases: FloatArray, value: float, sigma: float) -> BoolArray:
    """Return for each release whether some draw of Gaussian noise added to `value` gives it, shape (n,)."""
    away = releases - value
    size, sign, half = np.abs(away), np.sign(away), np.spacing(np.abs(releases))
    found: BoolArray = size > TAIL * sigma
    for width in _layer_widths():
        nearest = np.rint(size / sigma / width)
        span = np.ceil(half / sigma / width) + 3
        found |= span > SPAN
        for step in range(-SPAN, SPAN + 1):
            if abs(step) > span.max():
                continue
            place = nearest + step
            inside = (place >= 0) & (place < BITS // 2) & (abs(step) <= span)
            found |= inside & (value + sigma * (sign * (place * width)) == releases)
    return found


def impossible(kind: str, releases: FloatArray, value: float, scale: float) -> int:
    """Count the releases that no draw of noise added to `value` gives.

    Parameters
    ----------
    kind : {'laplace', 'gaussian'}
    releases : ndarray, shape (n,)
    value, scale : float
    """
    if kind == "gaussian":
        return int((~can_give_by_gaussian(releases, value, scale)).sum())
    return sum(not can_give_by_laplace(one, value, scale) for one in releases.tolist())


def reproduces_numpy() -> bool:
    """Return whether numpy's Laplace variates are those of :func:`laplace_variate`, bit for bit, in many draws.

    Finding the layers checks theirs.
    """
    random = np.random.default_rng(1)
    before = random.bit_generator.state
    drawn = random.laplace(size=CHECKED)
    random.bit_generator.state = before
    places = (random.random(CHECKED) * BITS).astype(np.int64).tolist()
    same = all(laplace_variate(place) == one for place, one in zip(places, drawn.tolist(), strict=True))
    return same and len(_layer_widths()) == LAYERS


@lru_cache(maxsize=1)
def _layer_widths() -> tuple[float, ...]:
    """Return the width of a place in each layer, read off numpy's own draws: X is place times width, rounded.

    If the layer rejects a draw, the number is another one; more than half are accepted at once.
    """
    source = np.random.PCG64(7)
    random = np.random.Generator(source)
    raw, drawn = np.empty(CHECKED, dtype=np.uint64), np.empty(CHECKED)
    for index in range(CHECKED):
        before = source.state
        raw[index] = source.random_raw()
        source.state = before
        drawn[index] = abs(random.standard_normal())
    layer = (raw & np.uint64(LAYERS - 1)).astype(np.int64)
    place = ((raw >> np.uint64(9)) & np.uint64(BITS // 2 - 1)).astype(np.float64)
    found = []
    for one in range(LAYERS):
        of_layer = layer == one
        middle = float(np.median(drawn[of_layer] / place[of_layer]))
        near = (middle, math.nextafter(middle, 0.0), math.nextafter(middle, 1.0))
        agree, width = max(((place[of_layer] * width == drawn[of_layer]).mean(), width) for width in near)
        if agree > 0.5:
            found.append(width)
    return tuple(found)


# --- A toy sampler, exhaustively -----------------------------------------------------------------------------

TOY_BITS = 2**11
"""The number of places of a uniform number in half precision."""

TOY_GRID, TOY_REACH = 8, 2.0


def toy_releases(value: float, scale: float, *, on_grid: bool) -> FloatArray:
    """Return the release of every draw of a Laplace sampler in half precision, each equally likely.

    Parameters
    ----------
    value, scale : float
    on_grid : bool
        Round noise to a public grid that holds the value, and clamp the sum: what the hardened sampler does.
    """
    uniform = np.arange(1, TOY_BITS) / TOY_BITS
    variates = np.where(uniform < 0.5, np.log(2 * uniform), -np.log(2 - 2 * uniform)).astype(np.float16)
    noise = (np.float16(scale) * variates).astype(np.float16)
    if on_grid:
        noise = (np.rint(noise.astype(np.float64) * TOY_GRID) / TOY_GRID).astype(np.float16)
    releases = (np.float16(value) + noise).astype(np.float16).astype(np.float64)
    return np.clip(releases, -TOY_REACH, TOY_REACH) if on_grid else releases


def toy_impossible(value: float, other: float, scale: float, *, on_grid: bool) -> int:
    """Count the draws beside `value` whose release no draw beside `other` gives."""
    possible = toy_releases(other, scale, on_grid=on_grid)
    return int((~np.isin(toy_releases(value, scale, on_grid=on_grid), possible)).sum())
