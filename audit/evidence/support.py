"""Whether fresh draws support the bound that a certificate states, contradict it, or are too few to tell.

The significance lets chance take a bound from few draws far above the truth, and a forger choose how few.  So
fresh draws are many times as many as certified, and also limit from above what the event shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from audit.auditor.deadline import Deadline
from audit.auditor.draws import CERTIFY, STAGES, Draws
from audit.auditor.events.mixed import Coins
from audit.bounds import MOST_DRAWS, Counts, lower_bound_on_probability, upper_bound_on_probability
from audit.bounds.clusters import cluster_most_of_counts, most_between
from audit.evidence.certificate import Certificate
from audit.evidence.checks import Check
from reference.common.arrays import FloatArray, IntArray
from reference.common.numbers import text_below

Occurrences: TypeAlias = tuple[IntArray, IntArray]
"""Counts of the event and of a curve's, shape (1 + points, 2), and calls by their outputs with the event."""

CHANCE = 1e-3
"""Chance that fresh draws contradict a bound that is not above the truth."""

TIMES = 4
"""Fresh draws are at least so many times those that certified: fewer do not tell luck from the truth."""

QUICK_TIMES, QUICK_DRAWS, QUICK = 16, 100_000, 3.0
"""So many times, or so many on each input, if this many further seconds are enough."""


def fewest_draws(certificate: Certificate) -> int:
    """Return the draws per input that tell luck from the truth."""
    return min(MOST_DRAWS, TIMES * _certified(certificate))


def quick_draws(certificate: Certificate) -> int:
    """Return the draws per input to make if the subject is quick: as many as requested in all, at least."""
    wanted = max(QUICK_DRAWS, QUICK_TIMES * _certified(certificate), certificate.request.draws)
    return min(MOST_DRAWS, wanted)


def counted(
    source: Draws, work: Callable[[FloatArray, FloatArray, Coins], Occurrences], fewest: int, most: int
) -> Occurrences:
    """Return the sums over this many outputs, or calls, on each input, and over up to `most` if they are quick."""
    sums = _sums(source.map_mixed(CERTIFY, fewest, work))
    deadline = Deadline.after(QUICK)
    # calls take about a sixteenth of the time passed
    for one in replace(source, looks=True).map_mixed(STAGES, most - fewest, work, fewest):
        sums = _sums([sums, one])
        if deadline.passed:
            break
    return sums


def _sums(parts: Iterable[Occurrences]) -> Occurrences:
    first, second = zip(*parts, strict=True)
    return np.sum(first, axis=0), np.sum(second, axis=0)


def _certified(certificate: Certificate) -> int:
    return max(certificate.counts.likely_draws, certificate.counts.unlikely_draws)


def most_shown(counts: Counts, delta: float, chance: float = CHANCE) -> float:
    """Return a limit that log((p_likely - delta) / p_unlikely) is above with probability at most `chance`.

    It is at least 0, and infinite where the event may be one that the other input never has.

    Parameters
    ----------
    counts : Counts
    delta, chance : float
    """
    if counts.calls is not None:
        return cluster_most_of_counts(counts, delta, chance)
    return most_between(
        upper_bound_on_probability(counts.likely, counts.likely_draws, chance / 2),
        lower_bound_on_probability(counts.unlikely, counts.unlikely_draws, chance / 2),
        delta,
    )


def bound_check(certificate: Certificate, counts: Counts, reached: float, most: float) -> Check:
    """Return whether fresh draws support the stored bound.

    Where they neither reach it nor contradict it, enough of them leave it standing, in words.

    Parameters
    ----------
    certificate : Certificate
    counts : Counts
        Of fresh draws.
    reached, most : float
        The bound from these alone, and what the event shows at most.
    """
    stored, draws = certificate.epsilon_lower_bound, min(counts.likely_draws, counts.unlikely_draws)
    found = (
        f"stored {text_below(stored, 6)}; {draws:,} fresh draws on each input alone reach {text_below(reached, 6)}"
    )
    if stored <= reached:
        return Check("stored bound", True, found)
    # rounded up
    at_most = "" if math.isinf(most) else f": the event shows at most {text_below(-most, 6).lstrip('-')}"
    if stored > most:
        return Check("stored bound", False, f"{found}{at_most}, but for a chance of {CHANCE:g}")
    if draws < (wanted := fewest_draws(certificate)):
        return Check("stored bound", None, f"{found}, and are too few to tell; --draws {wanted}")
    return Check("stored bound", True, f"{found}, which supports less but does not contradict it{at_most}")
