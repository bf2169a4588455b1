"""The code run on neighbouring data sets: what it computes changes by no more than is stated, exactly compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from reference.datasets.record_blocks import RecordBlocks
from reference.domain import Domain
from reference.moments import Moments
from reference.noise.grid import RELEASE_STEPS, l1_slack, widened_l1
from reference.noise.hardened import on_steps
from reference.objective import layout, objective
from reference.readings import ADJACENCIES, FAIRNESS, Readings
from reference.records import BLOCK_ROWS, Records, check_matrix
from reference.sensitivity import exact_l1, setting_of

D = 5
DOMAIN = Domain.of_columns([f"x{i}" for i in range(D)], with_group=True)

CORNER = np.full(D, 1 / np.sqrt(D)) * (1 - 1e-12)

Sums = Callable[[Records], list[Fraction]]


def made(n: int, seed: int) -> Records:
    """Return records of wildly different sizes, which floats cannot add without rounding."""
    random = np.random.default_rng(seed)
    x = random.random((n, D)) * 2.0 ** -random.integers(0, 30, (n, 1)) / np.sqrt(D)
    # one record as large as the domain has them
    x[0] = CORNER
    return check_matrix(DOMAIN, x, random.integers(0, 2, n), random.integers(0, 2, n))


def neighbour(left: Records, place: int, adjacency: str) -> Records:
    """Return the data set with the record at a place taken away, or turned into its opposite."""
    rows = np.arange(len(left))
    if adjacency == "add_or_remove_one":
        return left.take(rows[rows != place])
    x, y, z = left.x.copy(), left.y.copy(), np.array(left.z)
    x[place], y[place], z[place] = CORNER if x[place].sum() < CORNER.sum() / 2 else 0.0, 1 - y[place], 1 - z[place]
    return check_matrix(DOMAIN, x, y, z)


def exact_sums(readings: Readings) -> Sums:
    """Return the coefficients on the grid, as a hardened release computes them."""

    def sums(records: Records) -> list[Fraction]:
        values = objective(Moments.of(records, exact=True), readings).values
        return [Fraction(step, RELEASE_STEPS) for step in on_steps(values, RELEASE_STEPS)]

    return sums


def float_sums(readings: Readings) -> Sums:
    """Return the same by BLAS, in floats: the broken control."""

    def sums(records: Records) -> list[Fraction]:
        return [Fraction(value) for value in objective(Moments.of(records), readings).values.tolist()]

    return sums


def elsewhere(records: Records, seed: int) -> Iterator[Records | RecordBlocks]:
    """Yield the same data set in other orders and in other blocks."""
    n = len(records)
    yield records.take(np.random.default_rng(seed).permutation(n))
    yield records.take(slice(None, None, -1))
    for rows in (1000, BLOCK_ROWS + 1):
        parts = [records.take(slice(start, start + rows)) for start in range(0, n, rows)]
        yield RecordBlocks(DOMAIN, lambda parts=parts: iter(parts))


def test_hardened_sums_do_not_depend_on_order_blocks_or_threads():
    records, readings = made(BLOCK_ROWS + 700, 0), Readings("absolute")
    expected = exact_sums(readings)(records)
    floats, moved = float_sums(readings)(records), 0
    for other in elsewhere(records, 1):
        moments = other.moments(exact=True) if isinstance(other, RecordBlocks) else Moments.of(other, exact=True)
        values = on_steps(objective(moments, readings).values, RELEASE_STEPS)
        assert [Fraction(step, RELEASE_STEPS) for step in values] == expected
        if isinstance(other, Records):
            moved += float_sums(readings)(other) != floats
    for threads in (1, 2):
        with threadpool_limits(threads):
            assert exact_sums(readings)(records) == expected
    # the broken control: float sums depend on the order
    assert moved > 0


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("fairness", FAIRNESS)
def test_hardened_sums_change_by_no_more_than_stated(adjacency, fairness):
    """Adversarial places: the ends of a block, and the record that the sums round most."""
    readings = Readings(fairness, adjacency=adjacency, sensitivity=1)
    setting, public = setting_of(DOMAIN, readings), layout(DOMAIN, readings)
    most = exact_l1(setting)
    stated = widened_l1(most, setting, Fraction(public.size), RELEASE_STEPS).upper
    assert stated <= most.upper + l1_slack(public)
    left = made(BLOCK_ROWS + 3, 7)
    sums, worst = exact_sums(readings), Fraction(0)
    before = sums(left)
    for place in (0, BLOCK_ROWS - 1, BLOCK_ROWS, len(left) - 1, int(left.x.sum(axis=1).argmin())):
        after = sums(neighbour(left, place, adjacency))
        worst = max(worst, sum((abs(a - b) for a, b in zip(before, after, strict=True)), Fraction(0)))
    assert stated / 20 < worst <= stated


def test_float_sums_move_coefficients_that_no_record_moves():
    """The broken control: a record of zeros, label 1/2 apart, changes no sum, and the floats' sums do change."""
    readings, changed = Readings("none"), 0
    for seed in range(20):
        left = made(300, seed)
        x = np.vstack([np.zeros((1, D)), left.x])
        right = check_matrix(DOMAIN, x, np.append(1.0, left.y), np.append(0.0, np.array(left.z)))
        assert exact_sums(readings)(left) == exact_sums(readings)(right)
        changed += float_sums(readings)(left) != float_sums(readings)(right)
    assert changed > 0
