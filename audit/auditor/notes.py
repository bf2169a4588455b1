"""What a reader must know about the draws that events are chosen on, besides the events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from audit.auditor.events import Quantiser
from audit.auditor.events.columns import Columns
from audit.auditor.events.mixed import Pair
from audit.auditor.events.noise import OF_THEIR_SIZE
from audit.auditor.events.places import places_of
from audit.auditor.events.quantiser import finite_of
from audit.auditor.events.ranks import most_often, repeated
from audit.auditor.events.reduction import Reduction
from audit.auditor.events.units import likely_unit, unit_of_any, unit_of_large, unit_of_small_floats
from audit.auditor.events.values import (
    ENOUGH_TO_REPEAT,
    LARGEST_TABLE,
    largest_share_alone,
    may_repeat,
    mostly_repeated,
    share_beyond_a_tail,
    share_of_new,
)
from reference.common.arrays import FloatArray, IntArray

MOSTLY, MANY_UNSEEN = 0.9, 0.01
"""Repeating values make up this share of the learning draws, and yet this share of later ones is new."""

FEW_CODES = 30
"""Fewer unlearned outputs that come again may be chance."""

FOR_CODES = 2**15
"""Numbers of each input among which some come again if a uniform number of 24 bits is behind them."""

A_FEW = 100
"""Outputs to look at before all others."""

ONE_OUTPUT_EACH = (
    "each input always gives one output: a release without noise, or noise that is drawn once "
    "and kept (sticky, memoised), which draws of one process cannot tell apart"
)

SHARED_GENERATOR = (
    "sample() draws from the generator that the whole process shares (np.random or random), not from the one it "
    "is given: no seed repeats these draws"
)

OTHER_GENERATOR = (
    "two calls with equal generators gave different outputs: not all randomness comes from the generator that is "
    "given, so no seed repeats these draws"
)

NO_RESIDUES = "no event looked at residues of "

WHY_NO_RESIDUES = (
    ("are too large", unit_of_any, unit_of_large),
    ("look like single precision", likely_unit, unit_of_small_floats),
)
"""What is said, what a few outputs must be multiples of, and all of them."""

FINER = "no event looked at differences finer than the grid"
"""Begins the note on outputs that the grid takes for one."""

NEAR_NOISE = "no event of rounded outputs looked at"
"""Begins the note on coordinates that are too narrow beside float noise."""

SEEN_APART = 2.0**-30
"""Share of a grid's step beyond which differences are more than float noise."""

APART = 5.0
"""Standard deviations by which the counts of numbers that repeat within a cell differ, if the inputs split it."""

OTHER_LAW = 3.0
"""Scaled Kolmogorov-Smirnov distance of two laws within a cell that is no chance: 3e-8 for equal laws."""

ALONE = 3
"""Two cells of the grid stand alone if they have so many times as many outputs as either cell beside them."""

NEARBY, LONELY = 3.25, 0.1
"""Cells are lonely if those up to six steps away (halves are within 3.25) are empty, but for one beside them.

Of continuous numbers at most .067 share a lonely cell: the largest value of 2 x exp(-11 x), where x are in a cell.
"""

SIDES: tuple[tuple[int, Literal["left", "right"]], ...] = ((-1, "left"), (1, "right"))

RARE_CODES = "codes too rare to be learned"
"""Begins the note on values that come again beside values that never do."""


def rounded(pair: Pair, quantiser: Quantiser | None) -> Pair:
    """Return outputs of both inputs on a grid, or as they are without one."""
    return pair if quantiser is None else (quantiser(pair[0]), quantiser(pair[1]))


def repeating_coordinates(columns: Columns, width: int) -> tuple[int, ...]:
    """Return the coordinates whose values nearly all repeat."""
    found = []
    for k in range(width):
        known = columns.both(k)
        # NaN come last, and are alike
        if repeated(known, 2) + int(np.count_nonzero(np.isnan(known))) > MOSTLY * len(known):
            found.append(k)
    return tuple(found)


def passed_over(pair: Pair, quantiser: Quantiser, reduction: Reduction | None) -> list[str]:
    """Return notes on what no event of the ideal mechanism looks at."""
    looks = residues_passed_over, finer_than_grid, near_float_noise
    return [note for look in looks for note in look(pair, quantiser, reduction)]


def residues_passed_over(pair: Pair, quantiser: Quantiser, reduction: Reduction | None) -> tuple[str, ...]:
    """Return notes on coordinates whose residues no event looks at: small floats may be why, or they are large.

    Their values are more than a table holds, or fewer on the grid, so that no event looks at each of them either.
    """
    found: dict[str, list[str]] = {}
    for k, step in enumerate(quantiser.steps):
        if quantiser.units and quantiser.units[k] is not None:
            continue
        few = finite_of(pair[0][:A_FEW, k])
        # a few outputs mostly tell
        possible = [(why, of_all) for why, few_tell, of_all in WHY_NO_RESIDUES if few_tell(few) is not None]
        if not possible:
            continue
        values = finite_of(np.concatenate([side[:, k] for side in pair]))
        for why, of_all in possible:
            unit = of_all(values)
            if unit is not None and (step > unit.step or len(np.unique(values)) > LARGEST_TABLE):
                found.setdefault(why, []).append(f"output[{k}]" if reduction is None else reduction.described(k))
                break
    return tuple(
        f"{NO_RESIDUES}{some[0]}: its numbers {why}"
        if len(some) == 1
        else f"{NO_RESIDUES}{len(some)} coordinates ({some[0]}, ...): their numbers {why}"
        for why, some in found.items()
    )


def near_float_noise(_: Pair, quantiser: Quantiser, reduction: Reduction | None) -> tuple[str, ...]:
    """Return notes on coordinates that one step of the grid covers, as float noise may be what they show."""
    joint = () if quantiser.joint is None else quantiser.joint.hidden
    together = [k for k in joint if k not in quantiser.hidden]
    return tuple(
        f"{NEAR_NOISE} {_named(places, reduction)}{how}: what differs there may be float noise of large numbers, "
        "or of numbers that cancelled"
        for places, how in ((quantiser.hidden, ""), (together, " together with other coordinates"))
        if places
    )


def _named(places: Sequence[int], reduction: Reduction | None) -> str:
    """Name a coordinate, or the first of several."""
    first = f"output[{places[0]}]" if reduction is None else reduction.described(places[0])
    return first if len(places) == 1 else f"{len(places)} coordinates ({first}, ...)"


def finer_than_grid(pair: Pair, quantiser: Quantiser, reduction: Reduction | None) -> tuple[str, ...]:
    """Return a note on coordinates in which many outputs differ, and not on the grid.

    They differ by more than float noise, or clearly between the inputs: by however little, since rounding may be
    why, and need not be.
    """
    found, largest = [], 0.0
    # where steps grow, the smallest
    for k, step in enumerate(quantiser.steps):
        if step == 0:
            continue
        values = np.sort(finite_of(np.concatenate([side[:ENOUGH_TO_REPEAT, k] for side in pair])))
        places = places_of(pair[0][:, k], pair[1][:, k], quantiser, k)
        share = _share_in_cells(values, quantiser.of_one(k)(values[:, np.newaxis])[:, 0], step)
        if places is not None:
            # an event looks at those that tell the inputs apart
            share = share - places.share if places.telling else max(share, places.share)
        looked_at = quantiser.finer if places is not None and places.telling else quantiser
        if looked_at is not None and k not in quantiser.hidden:
            share = max(share, _share_told_apart(pair, looked_at, k))
        if share >= MANY_UNSEEN:
            found.append(f"output[{k}]" if reduction is None else reduction.described(k))
            largest = max(largest, share)
    if not found:
        return ()
    where = found[0] if len(found) == 1 else f"{len(found)} coordinates ({found[0]}, ...)"
    return (f"{FINER}, which {largest:.2g} of the outputs have in {where}",)


def of_passed_over(notes: Sequence[str]) -> list[str]:
    """Return those of some notes that name what no event looks at."""
    return [note for note in notes if note.startswith((FINER, NEAR_NOISE, NO_RESIDUES, RARE_CODES))]


def tell_finer(notes: Sequence[str]) -> bool:
    """Return whether notes tell that outputs differ, perhaps by more than rounding, and not on the grid."""
    return any(note.startswith(FINER) for note in notes)


def _share_in_cells(values: FloatArray, cells: FloatArray, step: float) -> float:
    """Return the share of sorted values that are in common cells, of a grid of this step, with different ones.

    Common cells have many values; or many cells have some, and none nearby has any, as seldom by chance.
    """
    if not len(values) or not most_often(cells, 2):
        return 0.0
    kinds, first, counts = np.unique(cells, return_index=True, return_counts=True)
    # halves of finite numbers have a finite difference
    widths = values[first + counts - 1] / 2 - values[first] / 2
    noise = np.maximum(SEEN_APART * abs(step), OF_THEIR_SIZE * np.abs(values[first])) / 2
    # two cells, and far fewer beside them: else the grid tells many of the numbers apart
    next_to = np.diff(kinds / 2) < 0.75 * abs(step)
    before, after = np.append(0, next_to * counts[:-1]), np.append(next_to * counts[1:], 0)
    beside = np.maximum(before, np.append(next_to * after[1:], 0))
    many = max(2, int(MANY_UNSEEN * len(values)))
    alone = (counts + after >= np.maximum(many, ALONE * beside)) & (counts.max() >= many)
    alone[1:] |= alone[:-1] & next_to
    share = float(counts[alone & (widths > noise)].sum() / len(values))
    if step < 0:
        return share
    ends = (np.searchsorted(cells / 2, kinds / 2 + sign * NEARBY * step, side) for sign, side in SIDES)
    lonely = -np.subtract(*ends) == counts + np.maximum(before, after)
    of_lonely = float(counts[lonely & (widths > noise)].sum() / len(values))
    return max(share, of_lonely if of_lonely >= LONELY else 0.0)


def _share_told_apart(pair: Pair, quantiser: Quantiser, k: int) -> float:
    """Return the share of outputs in crowded cells within which the inputs differ, however little the numbers do.

    Either all numbers of a cell have other laws, or those that come often have other frequencies: rounding alone
    does not move many outputs from one number to one other.
    """
    sides = [np.sort(finite_of(side[:ENOUGH_TO_REPEAT, k])) for side in pair]
    grid, rows = quantiser.of_one(k), sum(map(len, sides))
    cells = [grid(side[:, np.newaxis])[:, 0] for side in sides]
    kinds, sizes = np.unique(np.concatenate(cells), return_counts=True)
    many = max(2, MANY_UNSEEN * rows)
    crowded = kinds[sizes >= many]
    if not len(crowded):
        return 0.0
    sides = [side[np.isin(cell, crowded)] for side, cell in zip(sides, cells, strict=True)]
    numbers = np.unique(np.concatenate(sides))
    counts = np.array([np.bincount(np.searchsorted(numbers, side), minlength=len(numbers)) for side in sides])
    # the grid keeps the order
    rounded_numbers = grid(numbers[:, np.newaxis])[:, 0]
    first = np.flatnonzero(np.append(True, rounded_numbers[1:] != rounded_numbers[:-1]))
    return max(_of_other_laws(counts, first), _of_split(counts, first, many)) / rows


def _of_other_laws(counts: IntArray, first: IntArray) -> int:
    """Return how many outputs are in cells whose numbers have other laws on the two inputs.

    The counts, shape (2, n), are of ascending numbers; each cell begins with its first one.
    """
    sizes = np.add.reduceat(counts, first, axis=1)
    # a cell of one input alone has no two laws
    both, sizes_or_one = (sizes > 0).all(axis=0), np.maximum(sizes, 1)
    before, in_cell = np.cumsum(sizes, axis=1) - sizes, np.diff(first, append=counts.shape[1])
    up_to = np.cumsum(counts, axis=1) - np.repeat(before, in_cell, axis=1)
    left, right = up_to / np.repeat(sizes_or_one, in_cell, axis=1)
    distances = np.maximum.reduceat(np.abs(left - right), first)
    other = both & (distances > OTHER_LAW * np.sqrt((1 / sizes_or_one).sum(axis=0)))
    return int(sizes[:, other].sum())


def _of_split(counts: IntArray, first: IntArray, many: float) -> int:
    """Return how many outputs come often, in cells where the inputs differ in how often each of these comes."""
    often = counts * (counts.sum(axis=0) >= many)
    if not often.any():
        return 0
    total, of_cells = often.sum(axis=0), np.add.reduceat(often, first, axis=1)
    shares = of_cells[0] / np.maximum(of_cells.sum(axis=0), 1)
    expected = np.repeat(shares, np.diff(first, append=counts.shape[1]))
    split = np.abs(often[0] - expected * total) > APART * np.sqrt(expected * (1 - expected) * total)
    return int(of_cells[:, np.logical_or.reduceat(split, first)].sum())


def unseen(
    learning: Pair, choosing: Pair, quantiser: Quantiser, repeating: Sequence[int]
) -> tuple[float, tuple[str, ...]]:
    """Return the share of outputs with an unlearned value that one input may have alone, and notes.

    Of the coordinates whose values nearly all repeat: continuous outputs do not, and many whole numbers seldom do;
    there, events cover ranges of values.  A note tells of unlearned values that both inputs seem to share.
    """
    may_be_alone, shared = 0.0, 0.0
    for k in repeating:
        grid = quantiser.of_one(k)
        pairs = [[grid(side[:, [k]])[:, 0] for side in pair] for pair in (learning, choosing)]
        known, column = (np.concatenate(pair) for pair in pairs)
        unlearned = float((~np.isin(column, known) & ~np.isnan(column)).mean())
        if unlearned < MANY_UNSEEN:
            continue
        sides = [np.concatenate(parts) for parts in zip(*pairs, strict=True)]
        never = share_beyond_a_tail(np.concatenate(sides))
        alone = min(unlearned, unlearned * largest_share_alone(*sides) + never)
        if alone >= MANY_UNSEEN:
            may_be_alone = max(may_be_alone, alone)
        else:
            shared = max(shared, unlearned)
    if not shared:
        return may_be_alone, ()
    note = (
        f"{shared:.2g} of the outputs have values too rare to be learned; by how often these repeat, less than "
        f"{MANY_UNSEEN} of the outputs have values of one input alone (two standard errors up)"
    )
    return may_be_alone, (note,)


def rare_codes(
    learning: Pair, choosing: Pair, repeating: Sequence[int], reduction: Reduction | None
) -> tuple[str, ...]:
    """Return a note on coordinates in which unlearned values come again, though most do not: codes beside noise.

    Multiples of a unit and numbers of single precision do so, too.
    """
    found, width = [], choosing[0].shape[1]
    looked_at = max(ENOUGH_TO_REPEAT, FOR_CODES // width)
    for k in set(range(width)) - set(repeating):
        if not may_repeat(np.concatenate([side[:looked_at, [k]] for side in choosing])):
            continue
        known, later = (finite_of(np.concatenate([side[:, k] for side in pair])) for pair in (learning, choosing))
        _, counts = np.unique(later[~np.isin(later, known)], return_counts=True)
        again = int(counts[counts > 1].sum())
        if again < FEW_CODES or likely_unit(later) is not None:
            continue
        with np.errstate(over="ignore"):
            single = bool((later.astype(np.float32) == later).all())
        if single:
            continue
        found.append(f"output[{k}]" if reduction is None else reduction.described(k))
    if not found:
        return ()
    where = found[0] if len(found) == 1 else f"{len(found)} coordinates ({found[0]}, ...)"
    return (f"{RARE_CODES}, which numbers in {where} look like: some come again, and others never do",)


def new_combinations(learning: Pair, choosing: Pair, quantiser: Quantiser) -> tuple[str, ...]:
    """Return a note if many outputs are unlearned combinations, though most repeat."""
    # a few tell mostly, and take no memory
    if learning[0].shape[1] == 1 or not may_repeat(quantiser(learning[0][:ENOUGH_TO_REPEAT])):
        return ()
    learning, choosing = rounded(learning, quantiser), rounded(choosing, quantiser)
    if not mostly_repeated(*learning):
        return ()
    share = share_of_new(np.concatenate(learning), np.concatenate(choosing))
    if share < MANY_UNSEEN:
        return ()
    what = f"{share:.2g} of the outputs are combinations of coordinates that were too rare to be learned"
    return (f"{what}: more draws would show if one input has some of them alone",)


def _equal_to(one: FloatArray, outputs: FloatArray) -> bool:
    """Return whether all outputs are this one; a few mostly tell."""
    return bool((outputs[:A_FEW] == one).all() and (outputs == one).all())


def notes_on(choosing: Pair) -> tuple[str, ...]:
    """Return what a reader must know about the outputs."""
    notes, first = [], choosing[0][:1]
    if all(_equal_to(first, side) for side in choosing) or all(bool(np.isnan(side).all()) for side in choosing):
        notes.append("all outputs seen are equal: nothing about the input was released, or nothing was drawn")
    elif all(_equal_to(side[:1], side) for side in choosing):
        notes.append(ONE_OUTPUT_EACH)
    share = float(np.mean([1 - np.isfinite(side).all(axis=1).mean() for side in choosing]))
    if share:
        some = "all outputs" if share == 1 else f"{share:.3g} of the outputs"
        notes.append(f"{some} have a coordinate that is not finite; events that compare numbers take it for 0")
    return tuple(notes)
