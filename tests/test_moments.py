"""Moments are plain sums: of the whole, of parts, in any order."""

from __future__ import annotations

import random
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.common.errors import DomainMismatchError
from reference.domain import Domain
from reference.moments import Moments, sum_of
from reference.records import BLOCK_ROWS, check_matrix
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
    """A block's sum of squares is 2^52 steps: 2^11 of them leave no room in 64 bits with a sign."""
    block = check_matrix(Domain.of_columns(["a"]), np.ones((4096, 1)), np.ones(4096), np.ones(4096))
    moments = sum_of([block] * 2**11, block.domain, exact=True)
    assert moments.sum_xx.tolist() == [[2**23]]
    assert moments.sum_x.tolist() == [2**23]
