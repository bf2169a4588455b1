"""Events are counted with less work than their definition takes, and come out the same for every output."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import audit.auditor.events.bits as bits_module
import audit.auditor.events.columns as columns_module
import audit.auditor.events.scores as scores_module
from audit.auditor.events import Event, Quantiser
from audit.auditor.events.bits import KINDS, ZERO_EXPONENT, BitScore, bits_in_order
from audit.auditor.events.cells import EdgeTable
from audit.auditor.events.columns import Columns
from audit.auditor.events.event import occurrences
from audit.auditor.events.ranks import ascending, in_order
from audit.auditor.events.scores import AdditiveScore, CoordinateScore, LogisticScore
from audit.auditor.events.trees import TreeScore

RNG = np.random.default_rng(1)
GRID = Quantiser(np.array([2.0**-3, 2.0**-4]))
SIDES = [RNG.laplace(shift, size=(4_000, 2)) for shift in (0.0, 0.3)]
# on the grid, in the middle between its points, next to that, and nowhere special
PLACES = np.arange(-80, 80)[:, None] * GRID.steps / 2
OUTPUTS = np.concatenate([PLACES, np.nextafter(PLACES, 9), np.nextafter(PLACES, -9), SIDES[0], [[np.nan, 1.0]]])


@pytest.mark.parametrize("at_least", [True, False])
@pytest.mark.parametrize("threshold", [0.0, 0.125, 0.25, -0.375, 0.3, -1e-9, 1e300])
def test_half_line_of_rounded_outputs_needs_no_rounding(threshold, at_least):
    event = Event(CoordinateScore(0), threshold, at_least, "left", GRID)
    assert np.array_equal(event.occurs(OUTPUTS[:-1]), event.within(event.scores(OUTPUTS[:-1])))
    assert np.array_equal(event.occurs(OUTPUTS), event.within(event.scores(OUTPUTS)))
    if abs(threshold) < 1:
        # without the halves of a step it is another event
        other = replace(event, quantiser=None)
        assert not np.array_equal(event.occurs(OUTPUTS), other.occurs(OUTPUTS))


@pytest.mark.parametrize("shared", [True, False])
def test_additive_score_of_rounded_outputs_needs_no_rounding(shared):
    columns = Columns(*map(GRID, SIDES))
    sides = [columns.together()] if shared else map(columns.sides, range(2))
    score = AdditiveScore.of_sorted(sides, monotone=True)
    for threshold in np.quantile(score(GRID(SIDES[0])), [0.1, 0.5, 0.9]):
        event = Event(score, float(threshold), True, "left", GRID)
        assert event.quick_scores is not None
        assert np.array_equal(event.occurs(OUTPUTS), event.within(event.scores(OUTPUTS)))


@pytest.mark.parametrize(("parts_in_one", "exact"), [(2.0**32, True), (2.0**80, False)])
@pytest.mark.parametrize("shared", [True, False])
def test_sums_of_log_ratios_are_the_same_in_any_order(shared, parts_in_one, exact, monkeypatch):
    """An event had .234 of the draws that chose it, and .361 of those that certified it: a sum rounded otherwise.

    Broken control: log ratios of all their bits.
    """
    monkeypatch.setattr(scores_module, "ADDABLE", parts_in_one)
    rng = np.random.default_rng(1)
    left, right, outputs = (rng.laplace(shift, size=(4_000, 35)) for shift in (0.0, 0.02, 0.0))
    columns = Columns(left, right)
    sides = [columns.together()] if shared else map(columns.sides, range(35))
    score, grid = AdditiveScore.of_sorted(sides, monotone=True), Quantiser.of(left, right)
    event = Event(score, 0.0, True, "left", grid)
    assert event.quick_scores is not None
    by_events, by_choosing = event.quick_scores(outputs), score(grid(outputs))
    # another order of the same numbers
    backwards = AdditiveScore(score.edges[::-1], score.log_ratios[::-1])(grid(outputs)[:, ::-1])
    assert np.array_equal(by_choosing, backwards) is exact
    assert np.array_equal(by_events, by_choosing) is (exact or not shared)


@pytest.mark.parametrize("steps", [[2.0**-3, 2.0**-4], [0.25, 0.25]])
def test_weighted_sum_of_rounded_outputs_needs_no_rounding(steps):
    grid, score = Quantiser(np.array(steps)), LogisticScore(np.array([0.7, -1.3]))
    event = Event(score, 0.1, True, "left", grid)
    assert event.quick_scores is not None
    far = np.array([[1e300, 1.0], [-1e308, 1e308]])
    for outputs in (OUTPUTS, OUTPUTS[:-1], np.concatenate([OUTPUTS[:-1], far])):
        assert np.array_equal(event.occurs(outputs), event.within(event.scores(outputs)))
    finite = OUTPUTS[:-1]
    assert np.array_equal(event.quick_scores(finite), event.scores(finite))
    assert not np.array_equal(event.quick_scores(finite), score(finite))


@pytest.mark.parametrize(("parts_in_one", "exact"), [(2.0**32, True), (2.0**80, False)])
def test_weighted_sums_of_bits_are_the_same_in_any_order(parts_in_one, exact, monkeypatch):
    """Broken control: weights of all their bits."""
    monkeypatch.setattr(scores_module, "ADDABLE", parts_in_one)
    rng = np.random.default_rng(1)
    left, right, outputs = (1.0 * (rng.random((4_000, 20)) < share) for share in (0.5, 0.4, 0.5))
    # of other sizes, too
    score = LogisticScore.learn(left * np.arange(1, 21), right * np.arange(1, 21))
    outputs *= np.arange(1, 21)
    backwards = LogisticScore(score.weights[::-1])(np.ascontiguousarray(outputs[:, ::-1]))
    assert np.array_equal(score(outputs), backwards) is exact
    event = Event(score, 0.0, True, "left", Quantiser.of(left, right))
    assert event.quick_scores is not None
    assert np.array_equal(event.quick_scores(outputs), score(np.asfortranarray(outputs))) is exact


def test_weights_whose_products_leave_the_doubles_are_taken_as_they_are():
    score = LogisticScore(np.array([1e-280, 1.0]))
    assert Event(score, 0.0, True, "left", Quantiser(np.array([2.0**-200, 1.0]))).quick_scores is None


def test_events_of_one_score_share_its_values():
    score, looks = AdditiveScore.learn(*map(GRID, SIDES), monotone=True), []

    class Counted:
        name, learned, sees_all, binary = score.name, True, False, False

        def __call__(self, outputs):
            looks.append(len(outputs))
            return score(outputs)

    counted = Counted()
    events = [Event(counted, place, True, "left", grid) for place in (0.0, 0.1) for grid in (GRID, None)]
    events.append(Event(score, 0.1, False, "left", GRID))
    found = list(occurrences(events, OUTPUTS))
    assert looks == [len(OUTPUTS)] * 2
    for event, happened in zip(events, found, strict=True):
        assert np.array_equal(happened, event.within(event.scores(OUTPUTS)))


@pytest.mark.parametrize("rounded", [np.asarray, np.rint, lambda x: np.rint(x * 8) / 8])
def test_columns_are_those_of_the_rounded_samples_in_order(rounded, monkeypatch):
    left, right = rounded(SIDES[0]), rounded(SIDES[1])[:900]
    grids = [GRID, Quantiser(np.array([-(2.0**-5), 0.0]))]
    for kept in (columns_module.KEPT_COLUMNS, 0):
        monkeypatch.setattr(columns_module, "KEPT_COLUMNS", kept)
        columns = Columns(left, right)
        # beforehand, by whatever thread
        columns.sort(lambda work, number: map(work, reversed(range(number))))
        assert columns.kept == (kept > 0) == bool(columns._kept)
        for found, side in zip(columns.rounded(GRID).together(), (left, right), strict=True):
            assert np.array_equal(found, np.sort(GRID(side), axis=None))
        for k in (0, 1):
            assert np.array_equal(columns.both(k), np.sort(np.concatenate([left[:, k], right[:, k]])))
            for grid in grids:
                expected = [np.sort(grid(side)[:, k]) for side in (left, right)]
                assert all(map(np.array_equal, columns.rounded(grid).sides(k), expected))
                assert not np.array_equal(columns.rounded(grid).sides(1 - k)[0], expected[0])


@pytest.mark.parametrize("step", [2.0**-30, 1.0, 2.0**40])
@pytest.mark.parametrize("largest", [900, 2_000_000])
def test_multiples_of_a_step_are_in_order_close_or_not(step, largest):
    values = (RNG.integers(-1074, largest, size=3_000) * step).astype(np.float64)
    for told in (step, 0.0, -step):
        assert np.array_equal(in_order(values, told), np.sort(values))
    # a step that divides nothing would show
    assert (largest > 3_000) == np.array_equal(in_order(values, 4 * step), np.sort(values))
    assert in_order(values[:0], step).shape == (0,)
    assert in_order(np.sort(values), step) is not None
    assert ascending(np.sort(values))
    assert not ascending(np.append(np.sort(values), 0.0))


@pytest.mark.parametrize("rounded", [np.asarray, np.rint], ids=["continuous", "whole"])
def test_scores_of_sorted_numbers_are_those_of_a_look_at_each(rounded):
    left, right = (rounded(side[:, :1]) for side in SIDES)
    scores = [AdditiveScore.learn(left, right, monotone=monotone) for monotone in (True, False)]
    for score in scores:
        found = score.in_order(np.sort(left[:, 0]))
        assert np.array_equal(found, np.sort(score(left)))
        assert not np.array_equal(found, np.sort(score(right)))


SHARES = np.linspace(0.004, 0.996, 255)


@pytest.mark.parametrize("edges", [np.quantile(SIDES[0], SHARES), np.arange(40.0), np.linspace(-1e300, 1e300, 50)])
def test_table_of_cells_finds_what_a_search_does(edges):
    values = np.concatenate([edges, np.nextafter(edges, -9), RNG.laplace(size=1_000), [-1e308, 1e308]])
    found = EdgeTable.of(edges)
    assert found is not None
    assert np.array_equal(found(values), np.searchsorted(edges, values, side="right"))


@pytest.mark.parametrize(
    "edges", [np.zeros(50), np.tan(3.14 * (SHARES - 0.5)) ** 3, np.repeat([-1e308, 1e308], 25)]
)
def test_edges_too_close_together_have_no_table(edges):
    assert EdgeTable.of(edges) is None


VALUES = np.concatenate(
    [[0.0, -0.0, 1.0, 0.75, -3.0, 5e-324, 3e-320, 2.0**-1022, 1e308, 0.1], RNG.laplace(size=100)]
)[:, None]


@pytest.mark.parametrize("kind", KINDS)
def test_bits_are_those_of_exact_fractions(kind):
    scores = BitScore(0, kind)(VALUES)
    for value, score in zip(VALUES[:, 0].tolist(), scores, strict=True):
        top, bottom = value.as_integer_ratio()
        zeros = (top & -top).bit_length() - 1
        divisor = zeros - (bottom.bit_length() - 1)
        significand = abs(int(np.ldexp(np.frexp(value)[0], 53)))
        own = {
            "divisor": divisor if value else ZERO_EXPONENT,
            "trailing_zeros": (significand & -significand).bit_length() - 1 if value else ZERO_EXPONENT,
            "low_bits": significand & 7,
            "negative_zero": float(value == 0 and np.signbit(value)),
        }
        assert score == own[kind]


@pytest.mark.parametrize("threshold", [-1074.0, -53.0, -52.5, -3.0, 0.0, 0.5, 1.0, 5.0, 30.5, 51.0, 52.0, 2000.0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("at_least", [True, False])
def test_bits_are_counted_without_their_scores(threshold, kind, at_least, monkeypatch):
    for block in (7, bits_module.BLOCK):
        monkeypatch.setattr(bits_module, "BLOCK", block)
        for offset in (0.0, 0.3):
            event = Event(BitScore(0, kind, offset), threshold, at_least, "left")
            assert np.array_equal(event.occurs(VALUES), event.within(event.scores(VALUES)))


@pytest.mark.parametrize("kind", KINDS)
def test_bits_are_counted_into_order(kind, monkeypatch):
    score, parts = BitScore(0, kind), [VALUES, VALUES[:20]]
    for block in (7, bits_module.BLOCK):
        monkeypatch.setattr(bits_module, "BLOCK", block)
        expected = np.sort(np.concatenate([score(part) for part in parts]))
        assert np.array_equal(bits_in_order(score, parts), expected)
        assert not np.array_equal(bits_in_order(score, [VALUES, VALUES[10:30]]), expected)


def test_trees_by_masks_are_the_trees_step_by_step():
    score = TreeScore.learn(*SIDES)
    assert score._ranked is not None
    by_masks, stepped = score(OUTPUTS), replace(score)
    stepped.__dict__["_ranked"] = None
    assert np.array_equal(by_masks, stepped(OUTPUTS))
    # what is no tree, as a forged document may have it, is walked a fixed number of steps as before
    loop = replace(score, left=np.ones_like(score.left), right=np.zeros_like(score.right))
    assert loop._ranked is None
    assert np.isfinite(loop(OUTPUTS)).all()
