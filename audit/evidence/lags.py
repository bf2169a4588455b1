"""Whether rows at some distance are alike, at any distance, as where the outputs of calls are stored interleaved.

**Scores.**  Independent rows are as likely in any other order.  So the ranks of any number made of a row are a
random permutation, whatever the law, if a permutation by places orders equal ones.  Each rank takes the value of
that rank among independent normal numbers.  Then the scores z of independent rows are independent and normal.
Both the permutation and the numbers come from a seed that depends on nothing but the number of rows, and the
chances below are over these, too.

**Tests.**  Let C(k) be the sum of z[i] z[i + k], for all distances k at once by Fourier transforms.  Noise that
rows k apart share makes C(k) large.  Noise of period p shows at all its multiples, however little it is:
n + 2 (C(p) + C(2p) + ...) estimates the sum of S[j]^2, where S[j] is the sum of all z[i] with i = j modulo p, and
takes the sum of z^2 for n to be it.

**Chance.**  Both are quadratic forms of independent normal numbers.  With eigenvalues of at most b and a sum of
squares v^2 these exceed their mean by 2 v sqrt(x) + 2 b x with probability at most exp(-x) (Laurent and Massart,
2000, Lemma 1, whose proof holds for eigenvalues of either sign).  C(k) has n - k pairs in disjoint paths: b <= 1,
v^2 = (n - k) / 2.  The sum of S[j]^2 has the sizes of the p classes as its eigenvalues.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np
import scipy.fft

from reference.common.arrays import FloatArray, IntArray

FEWEST_ROWS = 64
"""Fewer have no distances to speak of."""

MOST_NUMBERS, FEWEST_OF_MANY = 2**21, 2**11
"""Rows times tests, up to which all rows are looked at; of more the first, at least so many."""

ALL_PAIRS = 6
"""Columns of which any two may share the sign of their correlation; of more columns neighbours."""

SEED = 90_713
"""Of the order of equal numbers, and of the normal ones."""


def likeness_by_distance(columns: FloatArray) -> tuple[float, str]:
    """Return the logarithm of a bound on the chance that independent rows are as alike at one distance, and where.

    Looks at where a number ranks, at how far from the middle it does, and at products of two.

    Parameters
    ----------
    columns : ndarray, shape (k, n)
        Of the rows, in their order.
    """
    pairs = list(combinations(range(len(columns)), 2))
    if len(columns) > ALL_PAIRS:
        pairs = list(pairwise(range(len(columns))))
    tests = 2 * len(columns) + len(pairs)
    columns = columns[:, : max(FEWEST_OF_MANY, MOST_NUMBERS // tests)]
    if columns.shape[1] < FEWEST_ROWS:
        return 0.0, ""
    middle, (_, normal) = columns.shape[1] // 2, _by_chance(columns.shape[1])
    ranks = [_ranks(column) - middle for column in columns]
    found = []
    for place, each in enumerate(ranks):
        where = f" in column {place}" if len(ranks) > 1 else ""
        # from the middle outwards, above and below in turn
        outwards = np.where(each < 0, -2 * each - 1, 2 * each)
        found += [_largest(normal[which], where) for which in (each + middle, outwards)]
    for first, second in pairs:
        scores = normal[_ranks((ranks[first] + 0.5) * (ranks[second] + 0.5))]
        found.append(_largest(scores, f" in the product of columns {first} and {second}"))
    log_chance, where = min(found)
    return log_chance + math.log(tests), where


@lru_cache(maxsize=2)
def _by_chance(rows: int) -> tuple[IntArray, FloatArray]:
    """Return a permutation, and normal numbers in order."""
    rng = np.random.default_rng([SEED, rows])
    return rng.permutation(rows), np.sort(rng.normal(size=rows))


def _ranks(values: FloatArray) -> IntArray:
    """Return the ranks of numbers; equal ones are in an order by chance."""
    places, _ = _by_chance(len(values))
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[places[np.argsort(values[places])]] = np.arange(len(values))
    return ranks


def _largest(scores: FloatArray, where: str) -> tuple[float, str]:
    """Return the logarithm of the chance of the largest likeness of independent scores, and where it is."""
    rows = len(scores)
    size = scipy.fft.next_fast_len(2 * rows, real=True)
    spectrum = scipy.fft.rfft(scores, size)
    at = scipy.fft.irfft(spectrum.real**2 + spectrum.imag**2, size)[:rows]
    gaps = np.arange(1, rows)
    single = _exponents(np.abs(at[1:]), np.sqrt((rows - gaps) / 2), 1.0)
    periods = np.arange(2, rows // 2 + 1)
    whole, left = rows // periods, rows % periods
    squares = left * (whole + 1.0) ** 2 + (periods - left) * whole**2.0
    multiple = _exponents(at[0] + 2 * _at_multiples(at) - rows, np.sqrt(squares), np.ceil(rows / periods))
    one, many = int(single.argmax()), int(multiple.argmax())
    # two signs, and whichever is larger
    exponents = single[one] - math.log(2 * len(gaps)), multiple[many] - math.log(len(periods))
    if exponents[0] >= exponents[1]:
        return math.log(2) - exponents[0], f"{gaps[one]:,} apart{where}"
    return math.log(2) - exponents[1], f"a multiple of {periods[many]:,} apart{where}"


def _at_multiples(at: FloatArray) -> FloatArray:
    """Return the sums of a sequence over all multiples of 2, 3, ... up to half its length."""
    rows, few = len(at), math.isqrt(len(at))
    sums = np.zeros(rows // 2 + 1)
    for period in range(2, few + 1):
        sums[period] = at[period::period].sum()
    for multiple in range(1, (rows - 1) // (few + 1) + 1):
        # of all longer periods
        found = at[multiple * (few + 1) : multiple * (rows // 2) + 1 : multiple]
        sums[few + 1 : few + 1 + len(found)] += found
    return sums[2:]


def _exponents(above: FloatArray, deviation: FloatArray, largest: FloatArray | float) -> FloatArray:
    """Return x for which 2 v sqrt(x) + 2 b x is what a quadratic form has above its mean."""
    root = (np.sqrt(deviation**2 + 2 * largest * np.maximum(above, 0.0)) - deviation) / (2 * largest)
    return np.asarray(root**2)
