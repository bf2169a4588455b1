"""The search finds rare pairs, costs no validity, and ends in time with the best pair so far."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from audit.auditor.choose import Prospect, best_event
from audit.auditor.deadline import OutOfTimeError
from audit.auditor.distinguish import Terms, estimate
from audit.auditor.events.scores import CoordinateScore
from audit.bounds import Counts, epsilon_lower_bound
from audit.epsilon_estimate import main
from audit.gate.requests import described, verify_command
from audit.gate.subjects.searching import NoisySum, find
from audit.subjects.catalogue import CATALOGUE
from audit.subjects.descriptions import rebuild
from audit.subjects.search import AtPair, Vectors
from audit.subjects.search.looks import SCREENED, CoupledDraws, coupled_move, rank_distance, repeats, screened

HERE = "audit.gate.subjects.test_neighbour_search"


def audited(
    subject: Any,
    pair: Any,
    draws: int,
    seed: int = 0,
    significance: float = 0.05,
    families: tuple[str, ...] = ("coordinates", "additive"),
):
    rng = np.random.default_rng(seed)
    return estimate(
        AtPair(subject, pair), Terms(delta=0.0, draws=draws, significance=significance, families=families), rng
    )


SECRET = (1.0, 0.0, 1.0)
right, broken = NoisySum(), NoisySum(SECRET)


# --- What it finds --------------------------------------------------------------------------------------------


def test_mechanism_broken_at_one_corner_is_caught_by_the_search_only():
    assert audited(broken, broken.inputs(), 20_000).verdict(1.0) == "not refuted"
    assert all(SECRET not in map(tuple, pair) for pair in broken.neighbourhood.patterns())
    found = find(broken, 40_000)
    assert SECRET in map(tuple, found.pair)
    assert audited(broken, found.pair, 20_000).verdict(1.0) == "refuted"


def test_a_right_mechanism_stands_after_the_same_search():
    found = find(right, 40_000)
    assert audited(right, found.pair, 20_000, significance=1e-3).verdict(1.0) == "not refuted"


@dataclass(frozen=True)
class Steep:
    """x and three tenths of a step at 0.37, with noise for x alone: the loss is 4 across the step, else 1."""

    neighbourhood = Vectors(1, change=0.1)

    def answer(self, data):
        return data[0] + 0.3 * (data[0] > 0.37)

    def sample(self, data, count, rng):
        return self.answer(data) + rng.laplace(scale=0.1, size=(count, 1))


def test_local_search_finds_what_is_at_no_corner():
    found = find(Steep(), 20_000, seed=3)
    left, right = (Steep().answer(data) for data in found.pair)
    assert abs(right - left) == pytest.approx(0.4, abs=0.02)
    assert audited(Steep(), found.pair, 10_000).epsilon_lower_bound > 2.5


def test_patterns_find_the_pair_on_which_few_of_many_answers_tell():
    @dataclass(frozen=True)
    class Maximum:
        """The noisy maximum of eight answers, with noise for one."""

        neighbourhood = Vectors(8)

        def sample(self, data, count, rng):
            return rng.laplace(data, size=(count, 8)).max(axis=1, keepdims=True)

    assert audited(Maximum(), find(Maximum(), 20_000).pair, 20_000).epsilon_lower_bound > 1.5


def test_ranks_add_up_small_shifts_and_see_spread():
    rng = np.random.default_rng(0)
    alike, other = rng.normal(size=(400, 20)), rng.normal(size=(400, 20))
    # the sum of 40 squares of unit variance
    assert rank_distance(alike, other) < 80
    assert rank_distance(alike, other + 0.2) > 160
    assert rank_distance(alike, 1.5 * other) > 160
    assert rank_distance(alike, np.full_like(other, np.nan)) > 160
    assert rank_distance(np.zeros((9, 1)), np.zeros((9, 1))) == 0.0


# --- What it costs --------------------------------------------------------------------------------------------

AUDITS, MOST_ERRORS = 30, 6


@pytest.mark.parametrize(
    "mechanism",
    [
        pytest.param(NoisySum(), id="laplace"),
        pytest.param(CATALOGUE["geometric"](), id="geometric", marks=pytest.mark.lengthy),
    ],
)
def test_bounds_after_a_search_exceed_the_truth_as_seldom_as_stated(mechanism):
    """Audits of a loss of 1: more errors than this would have probability below 1e-3 if each errs with 5 %."""
    assert binom.sf(MOST_ERRORS, AUDITS, 0.05) < 1e-3
    bounds = []
    for seed in range(AUDITS):
        pair = find(mechanism, 500, seed).pair
        found = audited(mechanism, pair, 1_000, seed, families=("coordinates",))
        bounds.append(found.epsilon_lower_bound)
    assert sum(bound > 1.0 for bound in bounds) <= MOST_ERRORS
    # these bounds say something
    assert np.median(bounds) > 0.4


def luckiest(seed: int) -> float:
    """Return the largest bound of ten pairs, each certified on the draws that chose pair and event."""
    rng, bounds = np.random.default_rng(seed), []
    for left, other in islice(right.neighbourhood.corners(rng), 10):
        samples = right.sample(left, 300, rng), right.sample(other, 300, rng)
        chosen = best_event([CoordinateScore(0)], *samples, Prospect(300, 0.0, 0.05), None)
        assert chosen is not None
        counts = [int(chosen.event.occurs(sample).sum()) for sample in samples]
        likely, unlikely = counts if chosen.event.likely_input == "left" else counts[::-1]
        bounds.append(epsilon_lower_bound(Counts(likely, 300, unlikely, 300), 0.0, 0.05, "clopper_pearson"))
    return max(bounds)


def test_certifying_on_the_draws_of_the_search_errs_far_too_often():
    # of 60 right audits more than 10 err with probability below 1e-3
    assert binom.sf(10, 60, 0.05) < 1e-3
    assert sum(luckiest(seed) > 1.0 for seed in range(60)) > 10


@pytest.mark.parametrize("draws", [5_000, 60_000])
def test_a_search_keeps_to_its_draws(draws):
    found = find(right, draws)
    assert 0.5 * draws < found.draws <= draws
    assert found.tried > 8


def test_a_search_repeats_with_its_seed():
    pairs = [find(right, 5_000, seed).pair for seed in (1, 1, 2)]
    assert all((first == again).all() for first, again in zip(pairs[0], pairs[1], strict=True))
    assert any((first != other).any() for first, other in zip(pairs[0], pairs[2], strict=True))


# --- Common random numbers and wide outputs -----------------------------------------------------------------


@dataclass(frozen=True)
class Shifted:
    """Laplace noise of scale 2 on each coordinate of the input; `own` ignores the generator that it is given."""

    own: bool = False

    def sample(self, data, count, rng):
        rng = np.random.default_rng() if self.own else rng
        return data + rng.laplace(scale=2.0, size=(count, len(data)))


def coupled(subject, left, right):
    return CoupledDraws(AtPair(subject, (left, right)), (left, right), len(left), (1,))


def test_common_random_numbers_show_a_shift_without_its_noise():
    """In units of the median distance from the median, 2 log 2: moves along one coordinate, and along two."""
    left = np.zeros(4)
    moves = {}
    for shift in (0.0, 0.01, 0.02):
        right = left + np.array([shift, shift, 0, 0])
        moves[shift] = [coupled_move(coupled(Shifted(), left, right), 1_001, pure=pure) for pure in (True, False)]
    assert moves[0.0] == [0.0, 0.0]
    assert moves[0.01] == pytest.approx([0.02 / np.log(4), np.sqrt(2) * 0.01 / np.log(4)], rel=0.1)
    # twice the shift is twice the move, exactly: the noise is the same
    assert moves[0.02] == pytest.approx([2 * move for move in moves[0.01]], rel=1e-9)


@pytest.mark.parametrize("own", [False, True])
def test_a_subject_with_randomness_of_its_own_is_noticed(own):
    assert repeats(coupled(Shifted(own), np.zeros(2), np.zeros(2)), 16) is not own


def test_a_coordinate_that_becomes_no_number_has_moved():
    @dataclass(frozen=True)
    class Breaks:
        def sample(self, data, count, rng):
            return np.where(data == 1.0, np.nan, rng.normal(size=(count, 2)))

    unbroken, broken = (
        coupled_move(coupled(Breaks(), np.zeros(2), np.array(right)), 16, pure=True)
        for right in ([0.0, 0.5], [0.0, 1.0])
    )
    assert unbroken == 0.0 < broken


def test_screening_keeps_coordinates_that_differ_and_adds_up_others():
    rng = np.random.default_rng(0)
    shift = np.zeros(300)
    shift[[7, 250]] = 2.0
    sides = [(rng.normal(size=(200, 300)), shift + rng.normal(size=(200, 300))) for _ in range(2)]
    taught, judged = screened(*sides)
    assert {side.shape for side in (*taught, *judged)} == {(200, SCREENED + 1)}
    # both are kept: two coordinates whose means differ by about 2
    assert sorted(np.abs(judged[1].mean(axis=0) - judged[0].mean(axis=0))[:SCREENED])[-2] > 1.5
    # narrow outputs stay as they are
    narrow = [tuple(side[:, :SCREENED] for side in part) for part in sides]
    assert screened(*narrow) == tuple(narrow)


def test_sum_over_wide_outputs_shows_small_shifts_where_there_are_any():
    rng = np.random.default_rng(1)
    for shift, shows in ((0.0, False), (0.15, True)):
        sides = [(rng.normal(size=(300, 400)), rng.normal(shift, size=(300, 400))) for _ in range(2)]
        left, right = (side[:, -1] for side in screened(*sides)[1])
        statistic = abs(left.mean() - right.mean()) / np.sqrt((left.var() + right.var()) / 300)
        assert (statistic > 6) == shows
        assert shows or statistic < 4


def test_a_search_over_wide_outputs_finds_the_one_coordinate_that_tells():
    @dataclass(frozen=True)
    class Wide:
        """Four hundred noisy copies of nothing, and one answer among them."""

        neighbourhood = Vectors(1)

        def sample(self, data, count, rng):
            outputs = rng.normal(size=(count, 400))
            outputs[:, 123] += 3 * data[0]
            return outputs

    found = find(Wide(), 4_000)
    assert abs(found.pair[0][0] - found.pair[1][0]) > 0.9


# --- Workers, time and interruptions --------------------------------------------------------------------------


def test_a_search_is_the_same_with_any_number_of_workers():
    one, three = (find(broken, 8_000, workers=workers) for workers in (1, 3))
    assert np.array_equal(one.pair, three.pair)
    assert (one.promise, one.tried, one.draws) == (three.promise, three.tried, three.draws)


def test_progress_is_told_as_draws_are_made():
    told: list[int] = []
    found = find(right, 8_000, progress=told.append)
    assert sum(told) == found.draws
    assert len(told) > 50


def test_a_search_out_of_time_gives_the_best_pair_so_far():
    with pytest.raises(OutOfTimeError):
        find(right, 10**6, max_seconds=0.0)
    found = find(right, 10**8, max_seconds=0.3)
    assert found.stopped == "max_seconds"
    assert found.draws < 10**8
    assert right.neighbourhood.holds(found.pair)
    assert find(right, 2_000, max_seconds=600).stopped is None


class Interrupted:
    """A noisy sum that interrupts at the given call."""

    neighbourhood = NoisySum.neighbourhood
    claimed_epsilon = 1.0

    def __init__(self, at):
        self.at, self.calls = at, count(1)

    def inputs(self):
        return right.inputs()

    def sample(self, data, count, rng):
        # asked by several threads: each call has a number of its own
        if next(self.calls) == self.at:
            raise KeyboardInterrupt
        return right.sample(data, count, rng)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("at", [60, 400])
def test_an_interrupted_search_keeps_the_best_pair_so_far(at, workers):
    try:
        found = find(Interrupted(at), 40_000, workers=workers)
    except KeyboardInterrupt:
        # it would end the tests as well
        pytest.fail("the interruption was passed on, and the pair is lost")
    assert found.stopped == "interrupted"
    assert 0 < found.draws < 40_000
    # patterns came first: the answer changes by all that it may
    assert abs(found.pair[0].sum() - found.pair[1].sum()) == pytest.approx(1.0)


def test_an_interruption_before_anything_was_seen_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        find(Interrupted(3), 40_000)


interrupted = Interrupted(100)


def test_the_pair_of_an_interrupted_search_is_audited_and_marked(capsys):
    interrupted.calls = count(1)
    assert (
        main([f"{HERE}:interrupted", "--search", "--draws", "20000", "--events", "coordinates", "--seed", "1"])
        == 0
    )
    output = capsys.readouterr()
    assert "interrupted: the best pair so far" in output.out
    assert "search interrupted" in output.err


def test_search_and_certification_share_the_time(capsys):
    words = [
        "--search",
        "--draws",
        "1000000000",
        "--max-seconds",
        "3",
        "--events",
        "coordinates",
        "--format",
        "json",
    ]
    # how much it could draw in that time depends on the machine
    assert main([f"{HERE}:broken", *words]) in (0, 1, 3)
    result = json.loads(capsys.readouterr().out)
    assert result["witness"]["inputs"]["search"]["stopped"] == "max_seconds"
    assert result["draws"] < 10**9


# --- Our mechanisms and the command line ----------------------------------------------------------------------


def test_certificate_of_a_searched_pair_is_verified_with_fresh_draws(tmp_path, capsys):
    target = tmp_path / "certificate.json"
    words = ["--search", "--draws", "60000", "--seed", "1", "--events", "coordinates"]
    assert main([f"{HERE}:broken", *words, "--out", str(target)]) == 1
    document = json.loads(target.read_text(encoding="utf-8"))
    subject = document["request"]["subject"]
    assert subject["kind"] == "pair"
    assert SECRET in [tuple(document["inputs"][side]) for side in ("left", "right")]
    assert rebuild(described(subject)).inputs()[0].tolist() == document["inputs"]["left"]
    assert verify_command([str(target), "--fresh", "--seed", "3"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    "words", [["laplace_nan_through_clipping", "--search"], [f"{HERE}:right", "--search", "--draws", "5000"]]
)
def test_searches_that_cannot_be_made_are_bad_usage(words, capsys):
    assert main(words) == 2
    assert capsys.readouterr().err.strip().startswith("error: ")
