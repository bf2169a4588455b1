"""A small auditor to start from, for ``python -m audit catalogue --auditor my_auditor:half_lines``.

It tries half-lines of each coordinate. Half of the draws choose the event, the other half certify it: a bound
from the draws that chose the event would be too large too often.
"""

import math

import numpy as np
from scipy.stats import beta

EVENTS_PER_COORDINATE = 200


def half_lines(subject, _claimed_epsilon, claimed_delta, draws, significance, seed):
    """Return a number that exceeds the true epsilon at `claimed_delta` with probability at most `significance`."""
    rng = np.random.default_rng(seed)
    left, right = subject.inputs()
    choosing, certifying = (
        [subject.sample(data, draws // 4, rng) for data in (left, right)] for _ in ("choose", "certify")
    )
    event, likely = chosen(*choosing)
    shares = [occurrences(event, side) for side in certifying]
    more, less = shares if likely == 0 else shares[::-1]
    # each end holds with half of the significance, so both hold with all of it
    low = lower_end(more, draws // 4, significance / 2)
    high = upper_end(less, draws // 4, significance / 2)
    return max(math.log((low - claimed_delta) / high), 0.0) if low > claimed_delta else 0.0


def chosen(left, right):
    """Return the half-line (coordinate, threshold, sign) with the largest cautious ratio, and its likely side."""
    best, found = -math.inf, ((0, 0.0, 1.0), 0)
    for coordinate in range(left.shape[1]):
        finite = np.concatenate([left[:, coordinate], right[:, coordinate]])
        finite = finite[np.isfinite(finite)]
        if not len(finite):
            continue
        for threshold in np.unique(np.quantile(finite, np.linspace(0.005, 0.995, EVENTS_PER_COORDINATE))):
            for sign in (1.0, -1.0):
                event = (coordinate, float(threshold), sign)
                counts = [occurrences(event, left), occurrences(event, right)]
                for likely in (0, 1):
                    more, less = counts[likely], counts[1 - likely]
                    # three standard errors off, so that luck in a small count does not win
                    ratio = math.log(max(more, 1) / (less + 1)) - 3 * math.sqrt(1 / max(more, 1) + 1 / (less + 1))
                    if ratio > best:
                        best, found = ratio, (event, likely)
    return found


def occurrences(event, outputs):
    """Return how many outputs are in the half-line; NaN is in none."""
    coordinate, threshold, sign = event
    return int(np.count_nonzero(sign * outputs[:, coordinate] >= sign * threshold))


def lower_end(count, draws, significance):
    """Return Clopper and Pearson's lower bound on a probability."""
    return float(beta.ppf(significance, count, draws - count + 1)) if count else 0.0


def upper_end(count, draws, significance):
    """Return Clopper and Pearson's upper bound on a probability."""
    return float(beta.isf(significance, count + 1, draws - count)) if count < draws else 1.0
