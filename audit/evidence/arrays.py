"""Bounds from two arrays that somebody else drew: on epsilon, and on the trade-off curve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from audit.auditor.choose import Prospect
from audit.auditor.distinguish import SMALLEST_DRAWS
from audit.auditor.draws import Draws
from audit.auditor.events import IDEAL
from audit.auditor.events.reduction import WIDEST
from audit.auditor.notes import of_passed_over
from audit.auditor.probe import OR_CALLS
from audit.auditor.selection import Phases, select
from audit.bounds import Counts, TradeOffBand, cluster_epsilon_lower_bound, trade_off_band
from audit.bounds import epsilon_lower_bound as bound_of_counts
from audit.evidence.arguments import check_columns, delta_below_one, numbers_of, significance_of, whole_number
from audit.evidence.lower_bound import LowerBound
from audit.evidence.rows import Rows, check_apart
from audit.evidence.words import counted_in_words
from audit.subjects.adapters.function import FunctionSubject
from reference.common.arrays import FloatArray

OF_ARRAYS = tuple(family for family in IDEAL if family != "likelihood_ratio")
"""Families tried on arrays."""

FEWEST_ROWS = SMALLEST_DRAWS // 2
"""Of each array, or calls."""

ASSUMES = (
    "the rows of both arrays are independent draws, those of each array of one law, the inputs are neighbours, "
    "and a score, if the rows are scores, was fixed without these rows"
)
"""The assumption of a bound from arrays, where single rows are independent."""

ASSUMES_OF_CALLS = ASSUMES.replace("the rows of", "the calls of", 1)
"""The assumption where only calls are."""


class CertifiedBound(LowerBound):
    """A lower bound on epsilon, and what it rests on.

    Attributes
    ----------
    counts : Counts
        Of the rows that served neither to learn a score nor to choose the event.
    event : str
        In words.
    delta, significance : float
    assumes : str
        The assumption, in words, what about the arrays nobody could check, and what no event looked at.
    """

    counts: Counts
    event: str
    delta: float


def epsilon_lower_bound(
    left: npt.ArrayLike,
    right: npt.ArrayLike,
    *,
    delta: float = 0.0,
    significance: float = 0.05,
    seed: int = 0,
    outputs_per_call: int = 1,
) -> CertifiedBound:
    """Return a lower bound on epsilon from outputs, or scores of outputs, on two neighbouring inputs.

    Assumes that the rows of each array are independent draws, also of the other array's, that the inputs are
    neighbours, and that a score was fixed without these rows: that of a classifier fitted on them tells even equal
    laws apart, and nothing here can see it.  Rows whose order shows that they depend on each other are refused
    (:mod:`audit.evidence.rows`).

    The rows are shuffled; some teach scores, some choose an event, the rest certify.  The bound exceeds the true
    epsilon at this delta with probability at most the significance.  With `outputs_per_call`, only calls need be
    independent: this many consecutive rows come from one call, and may depend on each other in any way.

    Parameters
    ----------
    left, right : array of shape (n,) or (n, k)
        At least 500 rows each; n may differ.  Of outputs, some rows teach a score here and others certify it; the
        scores of a classifier must come from one that was fitted on other draws.
    delta, significance : float
    seed : int
        Of the shuffle.
    outputs_per_call : int
        Calls stay whole in the shuffle, and each counts as one draw of a share.

    Raises
    ------
    ValueError
        When the arrays are not outputs, are too small, do not consist of whole calls, are tables of other columns,
        or have rows that depend on each other; or when delta or the significance is out of range.
    """
    delta, significance = float(delta_below_one(delta)), significance_of(significance)
    seed, outputs_per_call = whole_number("seed", seed, 0), whole_number("outputs_per_call", outputs_per_call, 1)
    ours, others = _rows("left", left), _rows("right", right)
    if ours.shape[1] != others.shape[1]:
        raise ValueError(f"left has {ours.shape[1]} columns, right has {others.shape[1]}")
    check_columns(left, right)
    assumes = _checked((ours, others), outputs_per_call)
    rng = np.random.default_rng(seed)
    ours, others = (_shuffled(side, outputs_per_call, rng) for side in (ours, others))
    # one output of each call chooses the event: the call's others may repeat it
    first = ours[::outputs_per_call], others[::outputs_per_call]
    calls = min(map(len, first))
    # no row that certifies may choose
    plan = replace(Phases.of(2 * calls, ours.shape[1], learning=True), scored=0)
    prospect = Prospect(plan.certify, delta, significance)
    source = _Given(FunctionSubject(None, *first), first, ours.shape[1], (seed,))
    chosen = select(source, plan, OF_ARRAYS, prospect)
    # the calls up to here have been used
    seen = (plan.learn + plan.choose) * outputs_per_call
    # one event: a sturdy one is certified beside it only where there is a claim
    (best,) = chosen.ideal
    event = best.event
    found = [int(event.occurs(side[seen:]).sum()) for side in (ours, others)]
    sizes = [len(side) - seen for side in (ours, others)]
    likely = 0 if event.likely_input == "left" else 1
    counts = Counts(found[likely], sizes[likely], found[1 - likely], sizes[1 - likely])
    if outputs_per_call == 1:
        bound = bound_of_counts(counts, delta, significance, best.method)
    else:
        shares = [event.occurs(side[seen:]).reshape(-1, outputs_per_call).mean(axis=1) for side in (ours, others)]
        bound = cluster_epsilon_lower_bound(shares[likely], shares[1 - likely], delta, significance)
    return CertifiedBound(
        bound,
        counts=counts,
        event=counted_in_words(event, counts),
        delta=delta,
        significance=significance,
        assumes="; ".join([assumes, *of_passed_over(chosen.notes)]),
    )


def _rows(name: str, given: npt.ArrayLike) -> FloatArray:
    values = numbers_of(name, given, (1, 2))
    values = values.reshape(len(values), -1)
    if len(values) < FEWEST_ROWS:
        turned = "; each draw must be a row: transpose it" if values.shape[1] >= FEWEST_ROWS else ""
        rows = f"{len(values)} row{'s' * (len(values) > 1)}"
        raise ValueError(f"{name} has {rows}; at least {FEWEST_ROWS} are needed{turned}")
    if values.shape[1] > WIDEST:
        raise ValueError(f"{name} has {values.shape[1]} columns; at most {WIDEST}: give a score of each row")
    return values


def _checked(sides: tuple[FloatArray, FloatArray], outputs_per_call: int) -> str:
    """Return what the bound assumes, unless the order of the rows, or of the calls, shows that it is wrong."""
    alone = outputs_per_call == 1
    for name, side in zip(("left", "right"), sides, strict=True):
        if len(side) % outputs_per_call:
            raise ValueError(
                f"outputs_per_call must divide the {len(side)} rows of each array, not {outputs_per_call!r}"
            )
        if len(side) // outputs_per_call < FEWEST_ROWS:
            raise ValueError(
                f"{name} has {len(side) // outputs_per_call} calls: too few, at least {FEWEST_ROWS} are needed"
            )
    left, right = (
        Rows(name, side[::outputs_per_call], OR_CALLS if alone else "", may_be_sorted=alone)
        for name, side in zip(("left", "right"), sides, strict=True)
    )
    left.check()
    right.check()
    check_apart(left, right)
    return right.assumed(left.assumed(ASSUMES if alone else ASSUMES_OF_CALLS))


def _shuffled(rows: FloatArray, outputs_per_call: int, rng: np.random.Generator) -> FloatArray:
    """Return the rows in another order, those of one call together."""
    if outputs_per_call == 1:
        return rng.permutation(rows)
    calls = rng.permutation(len(rows) // outputs_per_call)
    return rows.reshape(len(calls), outputs_per_call, -1)[calls].reshape(rows.shape)


def trade_off(
    left_scores: npt.ArrayLike, right_scores: npt.ArrayLike, *, significance: float = 0.05
) -> TradeOffBand:
    """Return an upper bound on the trade-off curve between two neighbouring inputs (:mod:`audit.bounds.bands`).

    Assumes that the scores of each input are independent draws of one law, that the inputs are neighbours, and
    that the score was fixed without these draws.  Scores whose order shows that they depend on each other are
    refused (:mod:`audit.evidence.rows`).  All bounds of the result hold together, except with probability at most
    the significance.

    Parameters
    ----------
    left_scores, right_scores : array of shape (n,)
        Outputs, or one score of each; n may differ.
    significance : float

    Raises
    ------
    ValueError
        When the arrays are not scores, or depend on each other.
    """
    significance = significance_of(significance)
    left, right = _scores("left_scores", left_scores), _scores("right_scores", right_scores)
    band = trade_off_band(left.values[:, 0], right.values[:, 0], significance)
    return replace(band, assumes=right.assumed(left.assumed(band.assumes)))


def _scores(name: str, given: npt.ArrayLike) -> Rows:
    values = numbers_of(name, given)
    if np.isnan(values).any():
        raise ValueError(f"{name} has NaN at row {int(np.isnan(values).argmax())}")
    rows = Rows(name, values[:, None])
    rows.check()
    return rows


@dataclass(frozen=True, eq=False)
class _Given(Draws):
    """Draws made already: a phase is the next rows of both arrays."""

    def chunks(self, phase: int, rows: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield, whole, rows that no other phase has: phases are requested in order, each once."""
        first = getattr(self, "_used", 0)
        object.__setattr__(self, "_used", first + rows)
        left, right = self.inputs
        yield left[first : first + rows], right[first : first + rows]
