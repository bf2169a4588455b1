"""The enclosed event of the released w, against tuples written out, draws, and statements that hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from audit.claims.rows.tuples import Database, record
from audit.exact.released_event import UnitVectors, excess
from audit.exact.released_weights import released_weights
from reference.accounting import PrivacyStatement
from reference.common.errors import ReadingError
from reference.noise import Noise

IN_S = np.array([True, False, True, True, False])
"""d = 2, monomial basis: w_1, w_2, w_1^2, w_1 w_2, w_2^2."""

MANY = UnitVectors(2, 0, 36 * 10**9, 2 * 10**9)


def statement(epsilon: str, delta: str) -> PrivacyStatement:
    return PrivacyStatement(Fraction(epsilon), Fraction(delta), "replace_one", ("T5",))


def gaussian(scale: float) -> Noise:
    return Noise("gaussian", scale, scale, IN_S)


def test_coefficients_are_those_of_the_tuples():
    data = UnitVectors(2, 0, 6, 2)
    shared = [record(x, y, 0) for x, n in (([1, 0], 3), ([0, 1], 1)) for y in (0, 1) for _ in range(n)]
    left = Database.of(*shared, record([1, 0], 1, 0))
    right = Database.of(*shared, record([1, 0], 0, 1))
    assert data.records == len(left.records)
    assert data.own_coefficients == (left.linear("absolute")[0], right.linear("absolute")[0])
    assert left.quadratic == right.quadratic
    assert max(abs(c) for side in (left, right) for c in side.linear("absolute")) <= data.largest_coefficient
    assert min(left.quadratic[e][e] for e in (0, 1)) >= data.least_quadratic


def test_event_is_as_likely_as_draws_say():
    """Of the same w: the enclosed number is a lower bound, and close to what a million draws show."""
    noise, claim = gaussian(1.0), statement("0.5", "0")
    random = np.random.default_rng(5)
    left, right = (float(value) for value in MANY.own_coefficients)
    quadratic = [(MANY.at_own + 1) / 8, 0.0, MANY.elsewhere / 8]
    threshold = (left + right) / 2 + 0.5 / (right - left)
    shares = []
    for own, other in ((left, 0.0), (right, MANY.elsewhere / MANY.records)):
        values = np.array([own, other, *quadratic]) + random.normal(size=(200_000, 5))
        w, definite = released_weights(values, noise, 2)
        assert definite.all()
        shares.append(np.mean(2 * quadratic[0] * w[:, 0] <= -threshold))
    shown = shares[1] - np.exp(0.5) * shares[0]
    found = excess(MANY, noise, claim)
    assert 0 < found.lower <= found.upper
    assert float(found.upper) == pytest.approx(shown, abs=0.01)


def test_small_claim_is_refuted_and_a_large_one_is_not():
    assert excess(MANY, gaussian(1.0), statement("0.5", "0.1")).lower > 0
    assert excess(MANY, gaussian(1.0), statement("20", "0.5")).upper < 0
    laplace = replace(gaussian(1.0), kind="laplace")
    assert excess(MANY, laplace, statement("2", "0")).lower > 0
    assert excess(MANY, laplace, statement("3", "0")).upper < 0


def test_too_few_records_are_refused():
    with pytest.raises(ReadingError, match="definite"):
        excess(UnitVectors(2, 0, 18, 2), gaussian(1.0), statement("1", "0"))
    with pytest.raises(ReadingError, match="at_own"):
        UnitVectors(2, 0, 3, 2)
