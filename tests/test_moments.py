"""Moments are plain sums: of the whole, of parts, in any order."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.common.errors import DomainMismatchError, NormError
from reference.common.grid import DATA_STEPS
from reference.domain import Domain
from reference.moments import Moments, _ExactSums, sum_of
from reference.records import BLOCK_ROWS, EXACT_ROWS, Records, check_matrix
from tests.strategies import data_sets, random_records

SUMS = ("sum_x", "sum_yx", "sum_zx", "sum_xx")


def assert_same(one: Moments, other: Moments) -> None:
    assert (one.n, one.sum_z) == (other.n, other.sum_z)
    for name in SUMS:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-12)


def test_moments_equal_sums_record_by_record():
    records = random_records(2 * BLOCK_ROWS + 17, 3, 1)
    moments = sum_of([records], records.domain)
    assert not moments.exact
    x, y, z = records.x, records.y, records.z
    assert (moments.n, moments.sum_z) == (len(x), int(z.sum()))
    np.testing.assert_allclose(moments.sum_x, sum(x), rtol=1e-12)
    np.testing.assert_allclose(moments.sum_yx, sum(y[:, None] * x), rtol=1e-12)
    np.testing.assert_allclose(moments.sum_zx, sum(z[:, None] * x), rtol=1e-12)
    np.testing.assert_allclose(moments.sum_xx, sum(np.einsum("ij,ik->ijk", x, x)), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 3, 14, 49])
@pytest.mark.parametrize("exact", [False, True])
def test_moments_do_not_depend_on_how_x_lies_in_memory(d: int, exact: bool) -> None:
    records = random_records(BLOCK_ROWS + 17, d, 1)
    in_rows = Moments.of(records, exact=exact)
    assert (in_rows.sum_xx == in_rows.sum_xx.T).all()
    # no row begins where a line of the cache, or a number of 16 bytes, does
    shifted = np.zeros(records.x.nbytes + 64, dtype=np.uint8)
    shifted = shifted[8 - shifted.ctypes.data % 16 :][: records.x.nbytes].view(np.float64).reshape(records.x.shape)
    shifted[:] = records.x
    for x in (np.asfortranarray(records.x), shifted):
        moments = Moments.of(Records(records.domain, x, records.y, records.z), exact=exact)
        for name in SUMS:
            assert (getattr(in_rows, name) == getattr(moments, name)).all()


@pytest.mark.parametrize("d", [3, 20, 49])
@pytest.mark.parametrize("norm", ["unit_ball", "unit_box"])
def test_exact_moments_are_those_of_records_on_the_grid(d: int, norm: str) -> None:
    records = random_records(BLOCK_ROWS + 17, d, 1, norm)
    x = [[Fraction(value) for value in row] for row in records.on_grid().x.tolist()]
    moments = Moments.of(records, exact=True)
    assert moments.sum_x.tolist() == [sum(column) for column in zip(*x, strict=True)]
    assert moments.sum_xx[0, -1] == moments.sum_xx[-1, 0] == sum(row[0] * row[-1] for row in x)
    assert moments.sum_yx[0] == sum(row[0] for row, y in zip(x, records.y, strict=True) if y)
    assert moments.sum_zx[-1] == sum(row[-1] for row, z in zip(x, records.z, strict=True) if z)


@pytest.mark.parametrize("d", [3, 49])
@pytest.mark.parametrize("sign", [1, -1])
def test_row_outside_the_ball_on_the_grid_is_named(d: int, sign: int) -> None:
    domain = Domain.of_columns([f"x{j}" for j in range(d)], norm="symmetric_ball")
    x = np.zeros((BLOCK_ROWS + 9, d))
    x[-3, 0] = sign
    y = np.zeros(len(x))
    assert Moments.of(Records(domain, x, y, y), exact=True).sum_x[0] == sign
    # what no check before may let through
    x[-3, 1] = 0.5
    outside = Records(domain, x, y, y, inside=True)
    with pytest.raises(NormError) as caught:
        Moments.of(outside, exact=True)
    assert caught.value.row == BLOCK_ROWS + 6


@given(data_sets(max_records=40), st.data())
def test_moments_of_any_partition_add_up_in_any_order(records, data):
    parts = data.draw(st.lists(st.integers(0, 4), min_size=len(records), max_size=len(records)))
    label = np.array(parts)
    blocks = [Moments.of(records.take(np.flatnonzero(label == part))) for part in sorted(set(parts))]
    random.Random(data.draw(st.integers(0, 100))).shuffle(blocks)
    assert_same(reduce(add, blocks, Moments.zero(records.domain)), Moments.of(records))


def test_moments_of_different_domains_do_not_add():
    with pytest.raises(DomainMismatchError):
        Moments.of(random_records(3, 2, 0, "unit_ball")) + Moments.of(random_records(3, 2, 0, "unit_box"))


def test_exact_moments_do_not_overflow_in_eight_million_records():
    """A block's sum of squares is 2^53 steps: 2^10 of them leave no room in 64 bits with a sign."""
    ones = np.ones(EXACT_ROWS)
    block = check_matrix(Domain.of_columns(["a"]), ones[:, None], ones, ones)
    moments = sum_of([block] * 2**10, block.domain, exact=True)
    assert moments.sum_xx.tolist() == [[2**23]]
    assert moments.sum_x.tolist() == [2**23]


@pytest.mark.parametrize(("rows", "is_exact"), [(EXACT_ROWS, True), (4 * EXACT_ROWS, False)])
def test_a_block_of_odd_products_is_exact_and_a_larger_one_is_not(rows, is_exact, monkeypatch):
    """Squares of 1 - 2^-20 are odd numbers of steps just below 2^40: 2^13 of them fill a float."""
    monkeypatch.setattr(_ExactSums, "rows", rows)
    n, step = rows - 1, Fraction(1, DATA_STEPS)
    block = check_matrix(Domain.of_columns(["a"]), np.full((n, 1), float(1 - step)), np.ones(n), np.ones(n))
    moments = sum_of([block], block.domain, exact=True)
    assert (moments.sum_xx.tolist() == [[n * (1 - step) ** 2]]) == is_exact
