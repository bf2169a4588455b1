"""Whether the draws of a subject are independent, as far as a few short calls show, before any draw is used.

Every bound rests on independence, and no test can show it.  These checks find the usual mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from audit.auditor.subject import SubjectError
from audit.bounds.binomial import above
from audit.common.keys import key_of
from reference.common.arrays import FloatArray, IntArray

PROBE, CALLS = 32, 15
"""Draws per call, and calls on each input: for these checks alone, beside the draws that were asked for."""

FEWEST_TOLD = 32
"""Fewer draws per call may well agree by chance, so nothing is concluded from them."""

MOST_REUSED = 8
"""Most outputs of one value to look at in short calls: other calls have a more frequent value too."""

NEAR = 2
"""Calls this far apart count as near: three successive ones may share noise."""

OR_CALLS = "; or take calls whole, by outputs_per_call"
"""The remedy if outputs of a call depend on each other but calls do not."""

CHANCE, CHANCE_OF_CALLS = 1e-12, 1e-9
"""Largest chance of calling independent draws repeated; and of calling them dependent on their call."""


def check_draws(
    draw: Callable[[int, int], FloatArray],
    inputs: Sequence[Any],
    before: Sequence[Any],
    *,
    within_calls: bool = True,
) -> list[list[FloatArray]]:
    """Return the calls on each input; refuse draws that repeat, depend on their call, share memory or change it.

    Parameters
    ----------
    draw : callable
        `draw(side, call)` returns outputs of shape (n, k) from its own generator, the same n for all.
    inputs : sequence
        Left and right.
    before : sequence
        What told them apart before the first draw (:func:`audit.common.keys.key_of`).
    within_calls : bool
        Whether the outputs of one call must be independent too.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    made = []
    for side in (0, 1):
        calls = [draw(side, call) for call in range(CALLS)]
        if any(np.may_share_memory(first, second) for first, second in combinations(calls, 2)):
            raise SubjectError("sample() must return a new array each time: two results share their memory")
        made.append(calls)
        calls = [np.nan_to_num(outputs) for outputs in calls]
        if within_calls:
            _check_drawn_once(calls)
            check_reuse(calls)
            _check_near(calls)
            _check_calls(calls)
        # if a call's outputs may share noise, one of them says as much as all
        _check_repeats(calls, independent=len(calls[0]) if within_calls else 1)
        if key_of(inputs[side]) != before[side]:
            raise SubjectError("sample() changed its input: what one call draws must not depend on another")
    return made


def drawn_again(draw: Callable[[int, int], FloatArray], made: Sequence[Sequence[FloatArray]]) -> bool:
    """Return whether the last call on each input gives the same outputs again, from an equal generator.

    Parameters
    ----------
    draw : callable
        As for :func:`check_draws`.
    made : sequence of two sequences of ndarray
        What that returned.
    """
    return all(
        np.array_equal(draw(side, len(calls) - 1), calls[-1], equal_nan=True) for side, calls in enumerate(made)
    )


def _check_drawn_once(calls: Sequence[FloatArray]) -> None:
    """Refuse draws that are the same number for a whole call.

    The probability that n independent draws have one value and n others another is at most 4^-n.
    """
    ours, others = calls[0], calls[1]
    rows = len(ours)
    drawn_once = (ours == ours[0]).all(axis=0) & (others == others[0]).all(axis=0) & (ours[0] != others[0])
    if rows >= FEWEST_TOLD and drawn_once.any():
        raise SubjectError(
            f"output[{int(drawn_once.argmax())}] is the same in all draws of one call and another one in "
            f"the next: each output must be drawn independently{OR_CALLS}"
        )


def _check_repeats(calls: Sequence[FloatArray], independent: int) -> None:
    """Refuse draws that do not depend on the generator; this many outputs of a call are independent.

    Draws agree by chance with probability below 1e-12, estimated from their own repetitions.
    """
    # with the first call, if the generator plays no part; or with the call before, if calls share noise
    agree = max(
        sum(np.array_equal(calls[0], outputs) for outputs in calls[1:]),
        sum(np.array_equal(one, after) for one, after in pairwise(calls)),
    )
    _, counts = _distinct(calls)
    by_chance = float(((counts / counts.sum()) ** 2).sum()) ** (independent * agree)
    # the number of sets of calls that may agree, in either way
    if agree and 2 ** (len(calls) + 1) * by_chance < CHANCE:
        raise SubjectError(
            "draws repeat: sample() must take its randomness from the generator it is given, and a program from "
            "the operating system or the seed it is sent"
        )


def check_reuse(calls: Sequence[FloatArray], *, often: bool = False) -> None:
    """Refuse draws whose repeated values keep to one call each: one noise used for several outputs.

    Independent draws are as likely in any other order.  So, whatever the law, a value that occurs two to eight
    times has all of them in one of c calls of n outputs with probability (n - 1) / (c n - 1) at most, and the
    more values do, the less room is left for others.

    Parameters
    ----------
    calls : sequence of ndarray, shape (n, k)
    often : bool
        Whether to look, besides values that occur two to eight times, at more frequent ones.
    """
    rows, number = len(calls[0]), len(calls)
    where, counts = _distinct(calls)
    seen = np.zeros((len(counts), number), dtype=np.bool_)
    seen[where, np.repeat(np.arange(number), rows)] = True
    in_one_call, frequent = seen.sum(axis=1) == 1, counts > MOST_REUSED
    for looked_at in [(counts >= 2) & ~frequent, *([frequent] if often else [])]:
        within = int((in_one_call & looked_at).sum())
        if above(within - 1, int(looked_at.sum()), (rows - 1) / (number * rows - 1)) < CHANCE:
            raise SubjectError(
                f"draws are used again within a call: {within} values occur several times in one call, in no "
                f"other; each output must be drawn independently{OR_CALLS}"
            )


def _distinct(calls: Sequence[FloatArray]) -> tuple[IntArray, IntArray]:
    """Return the number of each output's value among all distinct ones, and how many outputs have each."""
    outputs = np.concatenate(calls)
    # numbers sort ten times faster than rows of one number
    outputs = outputs.ravel() if outputs.shape[1] == 1 else outputs
    _, where, counts = np.unique(outputs, axis=0, return_inverse=True, return_counts=True)
    return where.ravel(), counts


def _check_near(calls: Sequence[FloatArray]) -> None:
    """Refuse draws whose repeated values keep to calls near each other: noise that successive calls share.

    Independent draws are as likely in any other order.  So, whatever the law, two draws of one value are at most
    :data:`NEAR` calls apart with probability (2 NEAR + 1) n / s at most, given the places of other values, with n
    draws a call and s places left.  The values looked at leave at least three quarters of the places.
    """
    rows, number = len(calls[0]), len(calls)
    where, counts = _distinct(calls)
    few = np.flatnonzero((counts >= 2) & (counts <= MOST_REUSED))
    few = few[np.cumsum(counts[few]) <= rows * number // 4]
    call = np.repeat(np.arange(number), rows)
    first, last = np.full(len(counts), number), np.zeros(len(counts), dtype=np.intp)
    np.minimum.at(first, where, call)
    np.maximum.at(last, where, call)
    near = int((last[few] - first[few] <= NEAR).sum())
    chance = (2 * NEAR + 1) * rows / (rows * number * 3 // 4)
    if chance < 1 and above(near - 1, len(few), chance) < CHANCE:
        raise SubjectError(
            f"draws are used again in calls near each other: {near} of {len(few)} values that come again do so "
            f"within {NEAR + 1} calls; what one call draws must not depend on another"
        )


def _check_calls(calls: Sequence[FloatArray]) -> None:
    """Refuse draws that are more alike within a call than between calls: something is drawn once for all.

    The first draws of all calls give each coordinate a middle.  For independent draws the counts above it among
    the n other draws of two calls differ by a sum of 2 n independent terms of range 1, with mean 0 together: a
    sub-Gaussian number of variance n / 2 at most.  So the sum of m such squared differences, in units of n / 2, is
    at least x > m with probability at most exp(-(x - m - m log(x / m)) / 2), as for a chi-square law by Chernoff's
    bound.
    """
    rows, width = calls[0].shape
    if rows < FEWEST_TOLD:
        return
    middle = np.sort([outputs[0] for outputs in calls], axis=0)[len(calls) // 2]
    counts = np.array([(outputs[1:] > middle).sum(axis=0) for outputs in calls])
    pairs = len(calls) // 2
    # far apart: what a few successive calls share then differs
    found = ((counts[:pairs] - counts[pairs : 2 * pairs]) ** 2).sum(axis=0) / ((rows - 1) / 2)
    largest = float(found.max())
    if largest > pairs and (largest - pairs - pairs * math.log(largest / pairs)) / 2 > math.log(
        width / CHANCE_OF_CALLS
    ):
        raise SubjectError(
            f"output[{int(found.argmax())}] differs more between calls than within one: each output must be drawn "
            f"independently, with all that is random in it{OR_CALLS}"
        )
