"""Tests whether outputs of one call vary together, by long calls and many short ones, if there are draws enough.

:mod:`audit.auditor.probe` looks at a few calls before anything else is drawn.  Noise of few values, such as
geometric noise or coins, shows no repetition there: its reuse shows in how much the chosen event's count
varies between calls, which is what would make the bound wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from audit.auditor.draws import SHORT_CALLS, Draws
from audit.auditor.events import Event
from audit.auditor.probe import CHANCE_OF_CALLS, OR_CALLS, check_reuse
from audit.auditor.subject import SubjectError
from audit.bounds.overdispersion import log_p_value, variance_ratio
from reference.common.arrays import FloatArray

PER_CALL, CALLS = 8, 256
"""Outputs of a short call, and short calls on each input: for this test alone."""

ENOUGH_DRAWS = 100_000
"""Draws of an audit from which on short calls are made: at most a 25th of these."""

USUAL_RATIO = 1.2
"""Variance of counts, over that of independent outputs, up to which so few short calls show nothing."""

MOST_CHECKED_SINGLY = 16
"""Most coordinates that are checked one by one."""

LONG_CALL = 4096
"""Outputs of each of the two long calls that are compared."""


def check_long_calls(learning: Sequence[FloatArray], choosing: Sequence[FloatArray]) -> None:
    """Refuse draws that repeat values within a long call but not across two, as for a tiled batch of noise.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    for pair in zip(learning, choosing, strict=True):
        rows = min(LONG_CALL, *map(len, pair))
        calls = [np.nan_to_num(outputs[:rows]) for outputs in pair]
        check_reuse(calls, often=True)


def check_short_calls(source: Draws, events: Sequence[Event]) -> None:
    """Refuse draws where an event's count varies more between short calls than independent outputs allow.

    The events are the chosen ones, and each coordinate being above its middle.

    Independent outputs are refused with probability below 1e-9, whatever their law.  Noise that two share is
    noticed nearly every time (``python -m tests.benchmarks.dependence``).

    Raises
    ------
    audit.auditor.subject.SubjectError
    audit.auditor.deadline.OutOfTimeError
    """
    pair = replace(source, outputs_per_call=PER_CALL).phase(SHORT_CALLS, CALLS)
    found = [[event.occurs(outputs) for outputs in pair] for event in dict.fromkeys(events)]
    # given an input's outputs, in whatever order, how many are above their middle is fixed
    found += [
        [outputs[:, k] > np.sort(outputs[:, k])[len(outputs) // 2] for outputs in pair]
        for k in range(min(pair[0].shape[1], MOST_CHECKED_SINGLY))
    ]
    for happened in found:
        counts = [side.reshape(CALLS, PER_CALL).sum(axis=1) for side in happened]
        sides = [np.bincount(side, minlength=PER_CALL + 1) for side in counts]
        if variance_ratio(sides) > USUAL_RATIO and log_p_value(sides) < np.log(CHANCE_OF_CALLS / len(found)):
            raise SubjectError(
                f"outputs of a call share noise: an event's count varies {variance_ratio(sides):.1f} times as "
                f"much between calls of {PER_CALL} as for independent outputs; each must be drawn "
                f"independently{OR_CALLS}"
            )
