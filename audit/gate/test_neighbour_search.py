"""The search finds rare pairs, costs no validity, and proposes nothing but neighbours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from audit.bounds import Counts, epsilon_lower_bound
from audit.catalogue import CATALOGUE
from audit.choose import Prospect, best_event
from audit.descriptions import at_pair
from audit.distinguish import estimate
from audit.epsilon_estimate import build_audit, main, parser
from audit.events.scores import CoordinateScore
from audit.neighbour_search import AtPair, DataSets, Listed, Vectors, search, searchable
from audit.neighbour_search.catalogue import DOMAINS
from audit.neighbour_search.looks import SCREENED, CoupledDraws, coupled_move, rank_distance, repeats, screened
from audit.neighbour_search.search import SEARCH_SHARE
from audit.neighbours import Extended
from audit.subjects import SubjectError
from audit.verify import main as verify
from reference.errors import DeclarationError, ReadingError

HERE = "audit.gate.test_neighbour_search"


def find(subject: Any, draws: int, seed: int = 0, **choices: Any):
    subject, neighbourhood = searchable(subject)
    return search(
        subject,
        neighbourhood,
        draws=draws,
        prospect=Prospect(draws, 0.0, 0.05),
        rng=np.random.default_rng([seed, 1]),
        **choices,
    )


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
        AtPair(subject, pair), delta=0.0, draws=draws, significance=significance, rng=rng, families=families
    )


# --- What it finds --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoisySum:
    """The sum of numbers in [0, 1] of which one changes; Laplace noise of scale 1 loses at most 1.

    Broken at one corner only, if there is a `secret` one: there the noise has a tenth of its scale.
    """

    secret: tuple[float, ...] | None = None
    neighbourhood = Vectors(3, norm="l1")
    claimed_epsilon = 1.0

    def inputs(self):
        return np.zeros(3), np.array([1.0, 0.0, 0.0])

    def sample(self, data, count, rng):
        scale = 0.1 if self.secret is not None and tuple(data) == self.secret else 1.0
        return data.sum() + rng.laplace(scale=scale, size=(count, 1))


SECRET = (1.0, 0.0, 1.0)
right, broken = NoisySum(), NoisySum(SECRET)


def test_a_mechanism_broken_at_one_corner_is_caught_by_the_search_and_not_without():
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

AUDITS, MOST_ERRORS = 200, 21


@pytest.mark.parametrize(
    "mechanism",
    [
        pytest.param(NoisySum(), id="laplace"),
        pytest.param(CATALOGUE["geometric"](), id="geometric", marks=pytest.mark.exhaustive),
    ],
)
def test_bounds_after_a_search_exceed_the_truth_no_more_often_than_the_significance(mechanism):
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


def test_screening_keeps_the_coordinates_that_differ_and_adds_up_the_others():
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


def test_the_sum_over_wide_outputs_shows_many_small_shifts_and_none_where_there_is_none():
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
    found = find(right, 10**6, max_seconds=0.0)
    assert found.stopped == "max_seconds"
    assert found.draws < 1_000
    assert right.neighbourhood.holds(found.pair)
    assert find(right, 2_000, max_seconds=600).stopped is None


class Interrupted:
    """A noisy sum that interrupts at the given call."""

    neighbourhood = NoisySum.neighbourhood
    claimed_epsilon = 1.0

    def __init__(self, at):
        self.at, self.calls = at, 0

    def inputs(self):
        return right.inputs()

    def sample(self, data, count, rng):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return right.sample(data, count, rng)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("at", [40, 400])
def test_an_interrupted_search_keeps_the_best_pair_so_far(at, workers):
    found = find(Interrupted(at), 40_000, workers=workers)
    assert found.stopped == "interrupted"
    assert 0 < found.draws < 40_000
    # patterns came first: the answer changes by all that it may
    assert abs(found.pair[0].sum() - found.pair[1].sum()) == pytest.approx(1.0)


def test_an_interruption_before_anything_was_seen_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        find(Interrupted(3), 40_000)


interrupted = Interrupted(100)


def test_the_pair_of_an_interrupted_search_is_audited_and_marked(capsys):
    interrupted.calls = 0
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
        "0.5",
        "--events",
        "coordinates",
        "--format",
        "json",
    ]
    assert main([f"{HERE}:broken", *words]) in (0, 1)
    result = json.loads(capsys.readouterr().out)
    assert result["witness"]["inputs"]["search"]["stopped"] == "max_seconds"
    assert result["draws"] < 10**9


# --- The catalogue ----------------------------------------------------------------------------------------------

HARD_TO_SHOW = {
    "laplace_leaky",
    "laplace_float",
    "gaussian_classic",
    "laplace_low_entropy_seed",
    "sparse_vector_3",
    "sparse_vector_4",
}
"""Broken ones that need more draws than these audits have, or bits."""

SHOWN = ("laplace", "laplace_product", "geometric", "rappor", "private_mean", "noisy_max_value", "unnoised_count")


MORE = [pytest.param(name, marks=pytest.mark.exhaustive) for name in sorted({*DOMAINS} - {*SHOWN})]


@pytest.mark.parametrize("name", [*SHOWN, *MORE])
def test_right_mechanisms_stand_and_broken_ones_fall_on_the_pair_that_is_found(name):
    """At significance 1e-4 a right mechanism is refuted in one of ten thousand audits."""
    entry = CATALOGUE[name]()
    subject, neighbourhood = searchable(entry)
    delta = float(entry.claimed_delta)
    rng = np.random.default_rng(5)
    draws = 40_000
    pair = search(subject, neighbourhood, draws=draws // 2, prospect=Prospect(draws, delta, 1e-4), rng=rng).pair
    found = estimate(AtPair(subject, pair), delta=delta, draws=draws, significance=1e-4, rng=rng)
    if entry.is_right:
        assert found.epsilon_lower_bound <= entry.claimed_epsilon
    elif name not in HARD_TO_SHOW:
        assert found.verdict(entry.claimed_epsilon) == "refuted"


def test_domains_of_the_catalogue_hold_the_pairs_that_the_entries_have():
    """The entry's own pair is in the neighbourhood, so that a search can find it."""
    for name, neighbourhood in DOMAINS.items():
        left, right = (np.asarray(data) for data in CATALOGUE[name]().inputs())
        if isinstance(neighbourhood, Vectors):
            pair = tuple(np.broadcast_to(data, (neighbourhood.count,)) for data in (left, right))
            assert neighbourhood.holds(pair), name
        elif isinstance(neighbourhood, Listed):
            pairs = [{tuple(np.ravel(data)) for data in pair} for pair in neighbourhood.pairs]
            assert {tuple(np.ravel(left)), tuple(np.ravel(right))} in pairs, name
        else:
            assert neighbourhood.records == max(len(left), len(right)), name


# --- What it proposes -----------------------------------------------------------------------------------------

NEIGHBOURHOODS: list[Any] = [
    *(Vectors(count, -1.0, 2.0, 0.7, norm) for count in (1, 2, 5, 40) for norm in ("l1", "l2", "linf")),
    Vectors(3, change=50.0),
    DataSets((0.0, -1.0), (1.0, 3.0), 5),
    DataSets((0.0,), (1.0,), 1),
    DataSets((0.0,) * 3, (1.0,) * 3, 2, "add_or_remove_one"),
    DataSets((0.0,), (1.0,), 1, "add_or_remove_one", beside=4),
    DataSets((0.0,) * 4, (1.0,) * 4, 6, flags=2),
    DataSets((0.0,) * 3, (1.0,) * 3, 6, "add_or_remove_one", flags=1),
]


@pytest.mark.parametrize("neighbourhood", NEIGHBOURHOODS)
def test_proposals_are_neighbours_and_survive_json(neighbourhood):
    rng = np.random.default_rng(0)
    pairs = [*neighbourhood.patterns(), *islice(neighbourhood.corners(rng), 50)]
    pairs += [neighbourhood.random(rng) for _ in range(50)]
    pairs += [neighbourhood.moved(pair, reach, rng) for pair in pairs for reach in (0.01, 0.5)]
    assert len(pairs) > 150
    for pair in pairs:
        assert neighbourhood.holds(pair)
        again = neighbourhood.from_json(json.loads(json.dumps(neighbourhood.to_json(pair))))
        assert neighbourhood.to_json(again) == neighbourhood.to_json(pair)


def test_patterns_flip_each_flag_alone_and_all_with_the_other_columns():
    patterns = list(DataSets((0.0, -1.0, 0.0), (1.0, 3.0, 1.0), 5, flags=1).patterns())
    pairs = {(left.last, right.last) for left, right in patterns}
    assert ((1.0, 3.0, 0.0), (1.0, 3.0, 1.0)) in pairs
    assert ((0.0, -1.0, 0.0), (1.0, 3.0, 0.0)) in pairs
    assert ((0.0, -1.0, 0.0), (1.0, 3.0, 1.0)) in pairs
    assert len(patterns) == len(set(patterns)) > 20


def test_corners_of_a_small_box_are_all_there():
    corners = list(Vectors(4, norm="l1").corners(np.random.default_rng(0)))
    assert {tuple(left) for left, _ in corners} == {tuple(map(float, f"{place:04b}")) for place in range(16)}
    assert len(corners) == 16 * 5


def test_pairs_that_are_no_neighbours_do_not_hold():
    vectors, sets = Vectors(2), DataSets((0.0,), (1.0,), 2)
    low, high = np.zeros(2), np.ones(2)
    assert vectors.holds((low, high))
    assert not Vectors(2, norm="l1").holds((low, high))
    assert not vectors.holds((low, high + 0.1))
    left, other = next(sets.patterns())
    assert sets.holds((left, other))
    assert not DataSets((0.0,), (1.0,), 3).holds((left, other))
    assert not DataSets((0.0,), (0.5,), 2).holds((left, other))
    assert not DataSets((0.0,), (1.0,), 2, "add_or_remove_one").holds((left, other))


def test_a_proposal_that_is_no_pair_of_neighbours_ends_the_search():
    class TooFar(Vectors):
        def random(self, rng):
            return np.zeros(self.count), np.full(self.count, 2.0)

    class Subject(NoisySum):
        neighbourhood = TooFar(3, norm="l1")

    with pytest.raises(SubjectError, match="no pair of neighbours"):
        find(Subject(), 40_000)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Vectors(0), "count"),
        (lambda: Vectors(1, 1.0, 1.0), "lower"),
        (lambda: Vectors(1, change=0.0), "change"),
        (lambda: Vectors(1, norm="l3"), "norm"),
        (lambda: DataSets((), (), 2), "lower"),
        (lambda: DataSets((1.0,), (0.0,), 2), "lower"),
        (lambda: DataSets((0.0,), (1.0,), 1, "add_or_remove_one"), "records"),
        (lambda: DataSets((0.0,), (1.0,), 1, "bounded"), "adjacency"),
        (lambda: DataSets((0.0,), (1.0,), 1, flags=2), "flags"),
    ],
)
def test_declarations_that_contradict_themselves_are_named(make, name):
    with pytest.raises(DeclarationError, match=name):
        make()


@dataclass(frozen=True)
class Candidates:
    """Lists its own pairs: only the last one tells."""

    def candidates(self):
        return [(0.0, 0.1), (0.0, 0.2), (0.0, 3.0)]

    def inputs(self):
        return 0.0, 0.1

    def sample(self, data, count, rng):
        return rng.laplace(data, size=(count, 1))


class Empty(Candidates):
    def candidates(self):
        return []


listing = Candidates()


def test_candidates_of_the_subject_itself_are_searched():
    found = find(listing, 4_000)
    assert (found.pair, found.origin, found.tried) == ((0.0, 3.0), "pattern", 3)
    assert isinstance(searchable(listing)[1], Listed)


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        (object(), "declares no neighbourhood"),
        (Empty(), "no pair"),
    ],
)
def test_subjects_without_a_domain_are_named(subject, reason):
    with pytest.raises(SubjectError, match=reason):
        searchable(subject)


# --- Our mechanisms and the command line ----------------------------------------------------------------------

WORDS = {
    "ball": "functional --dimension 2 --records 5",
    "box, removal": "pdfc --dimension 2 --records 5 --domain unit_box --adjacency add_or_remove_one",
    "data": "functional --data affairs",
    "one hot data": "pdfc --data affairs --encoding one_hot --sensitivity 4",
}


@pytest.mark.parametrize("name", WORDS)
def test_rows_of_our_domains_are_records_and_data_sets_have_their_size(name):
    words = WORDS[name].split()
    ours, neighbourhood = searchable(build_audit(words[0], parser().parse_args(words)).subject)
    rng = np.random.default_rng(0)
    pairs = [*neighbourhood.patterns(), *islice(neighbourhood.corners(rng), 5), neighbourhood.random(rng)]
    own = ours.release.neighbours
    assert isinstance(own.left, Extended) == ("data" in name)
    for pair in pairs:
        described = [ours.describe(data) for data in pair]
        sizes = [sum(part["count"] for part in data) for data in described]
        assert sorted(sizes) == sorted([len(own.left), len(own.right)])
        assert [len(ours.coefficients(data)) for data in pair] == [len(ours.release.layout.names)] * 2
        # beside the last record, the same
        assert described[0][: len(pair[0].common)] == described[1][: len(pair[1].common)]


def run(capsys, *words: str) -> tuple[int, Any]:
    code = main([*words, "--format", "json", "--events", "coordinates,additive"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("sensitivity", "code"), [("exact", 0), ("0.2", 1)])
def test_our_mechanisms_are_searched_on_request(capsys, sensitivity, code):
    words = "functional --dimension 1 --records 4 --domain unit_box --search --draws 20000 --seed 2"
    found, result = run(capsys, *words.split(), "--sensitivity", sensitivity)
    assert found == code
    assert result["draws"] <= 20_000
    spent = result["witness"]["inputs"]["search"]["draws"]
    assert 0 < spent <= 20_000 * SEARCH_SHARE
    certified = result["witness"]["counts"]["likely_draws"] + result["witness"]["counts"]["unlikely_draws"]
    # an audit of what the search left: 7 in 10 draws certify
    assert certified == pytest.approx(0.7 * (20_000 - spent), abs=4)
    assert "--search" in result["rerun"]


def test_certificate_of_a_searched_pair_is_verified_with_fresh_draws(tmp_path, capsys):
    target = tmp_path / "certificate.json"
    words = ["--search", "--draws", "60000", "--seed", "1", "--events", "coordinates"]
    assert main([f"{HERE}:broken", *words, "--out", str(target)]) == 1
    document = json.loads(target.read_text(encoding="utf-8"))
    assert document["subject"]["kind"] == "pair"
    assert SECRET in [tuple(document["inputs"][side]) for side in ("left", "right")]
    assert at_pair(document["subject"]).inputs()[0].tolist() == document["inputs"]["left"]
    assert verify([str(target), "--fresh", "--seed", "3"]) == 0
    capsys.readouterr()


@dataclass(frozen=True)
class WithoutInputs:
    """A sum with half the noise: it declares its domain, and no pair."""

    neighbourhood = Vectors(2, norm="l1")

    def sample(self, data, count, rng):
        return data.sum() + rng.laplace(scale=0.5, size=(count, 1))


class CandidatesOnly:
    def candidates(self):
        return [(0.0, 0.1), (0.0, 2.0)]

    def sample(self, data, count, rng):
        return rng.laplace(data, size=(count, 1))


@pytest.mark.parametrize("name", ["WithoutInputs", "CandidatesOnly"])
def test_a_subject_that_names_no_inputs_is_searched(name, tmp_path, capsys):
    target = tmp_path / "certificate.json"
    words = [f"{HERE}:{name}", "--draws", "20000", "--seed", "1", "--events", "coordinates"]
    assert main([*words, "--search", "--out", str(target)]) == 1
    assert verify([str(target), "--fresh", "--seed", "3"]) == 0
    capsys.readouterr()
    assert main(words) == 2
    assert "has no inputs(): --search searches" in capsys.readouterr().err


class Unfinished(WithoutInputs):
    """The class of a neighbourhood, and none of them."""

    neighbourhood: Any = Vectors


class Triples(CandidatesOnly):
    def candidates(self):
        return [(0.0, 1.0, 2.0)]


@pytest.mark.parametrize(
    ("name", "message"), [("Unfinished", "neighbourhood must be one such as"), ("Triples", "a list of pairs")]
)
def test_a_domain_that_is_none_is_one_line_and_exit_code_2(name, message, capsys):
    assert main([f"{HERE}:{name}", "--search", "--draws", "20000"]) == 2
    assert message in capsys.readouterr().err.strip()


class NoisyMean(WithoutInputs):
    neighbourhood: Any = DataSets((0.0,), (1.0,), 3)

    def sample(self, data, count, rng):
        return data.array().mean() + rng.laplace(scale=1 / 3, size=(count, 1))


def test_data_sets_are_shown_as_rows_with_their_counts(capsys):
    _, result = run(capsys, f"{HERE}:NoisyMean", "--search", "--draws", "20000", "--seed", "1")
    shown = [result["witness"]["inputs"][side] for side in ("left", "right")]
    assert [sum(part["count"] for part in side) for side in shown] == [3, 3]
    assert [len(part["row"]) for side in shown for part in side] == [1] * sum(map(len, shown))


def test_example_of_the_page_is_refuted_as_it_says(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text(encoding="utf-8")
    code = page.partition("```python\n# mean.py\n")[2].partition("```")[0]
    command, _, said = page.partition("python -m audit.epsilon_estimate mean:Mean ")[2].partition("    # ")
    (tmp_path / "mean.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert said.startswith("exit 1\n")
    assert main(["mean:Mean", *command.split(), "--seed", "1"]) == 1
    assert '{"count": ' in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["program", "pair", None])
def test_a_pair_wraps_no_program(kind, tmp_path):
    """A certificate must not be able to run a command that `audit.verify` would otherwise ask about."""
    mark = tmp_path / "run"
    inner = {"kind": kind, "command": ["touch", str(mark)]}
    with pytest.raises(ReadingError, match="in a pair"):
        at_pair({"kind": "pair", "subject": inner, "pair": {}})
    assert not mark.exists()


@pytest.mark.parametrize(
    "words", [["laplace_nan_through_clipping", "--search"], [f"{HERE}:right", "--search", "--draws", "5000"]]
)
def test_searches_that_cannot_be_made_are_bad_usage(words, capsys):
    assert main(words) == 2
    assert capsys.readouterr().err.strip().startswith("error: ")
