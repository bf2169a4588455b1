"""The main job: right mechanisms stand, broken ones fall, and the output is what the contract says."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from audit import distinguish, draws
from audit.bounds import Counts, epsilon_lower_bound
from audit.catalogue import HalfNoiseLaplace, Laplace, LeakyLaplace
from audit.choose import Prospect, best_event
from audit.distinguish import estimate
from audit.epsilon_estimate import PAPER, main
from audit.estimate_report import Audit, Result, _row_text
from audit.events import proposals
from audit.neighbours import Extended, distance, extreme_pair
from audit.probe import CALLS, PROBE
from audit.releases import CoefficientRelease
from audit.subjects import Subject
from reference import datasets
from reference.budgets import SplitBudget
from reference.gaussian import epsilon_of_shift
from reference.mechanisms import FAIR
from reference.noise import Noise
from reference.objective import layout
from reference.registry import MECHANISMS


def audit(subject: Subject, draws: int, seed: int, delta: float = 0.0):
    return estimate(subject, delta=delta, draws=draws, significance=0.05, rng=np.random.default_rng(seed))


def run(capsys, *words: str) -> tuple[int, Any]:
    code = main([*words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_bound_is_near_the_true_loss_of_the_laplace_mechanism():
    bounds = [audit(Laplace(1.0), 200_000, seed).epsilon_lower_bound for seed in range(10)]
    assert 0.95 < np.median(bounds) <= 1.0


def test_bound_exceeds_the_truth_no_more_often_than_the_significance():
    """100 audits: more than 13 errors would have probability below 1e-3 if each errs with 5 %."""
    errors = sum(audit(Laplace(1.0), 2_000, seed).epsilon_lower_bound > 1.0 for seed in range(100))
    assert binom.sf(13, 100, 0.05) < 1e-3
    assert errors <= 13


def certified_on(same_draws: bool, seed: int) -> float:
    """Return the bound of an audit that learns, chooses and certifies on the same draws, or on fresh ones."""
    random, subject = np.random.default_rng(seed), Laplace(1.0)

    def sample():
        return [subject.sample(value, 300, random) for value in subject.inputs()]

    left, right = sample()
    scores = list(proposals(("coordinates", "intervals", "additive"), left, right, subject, subject.inputs()))
    if not same_draws:
        left, right = sample()
    chosen = best_event(scores, left, right, Prospect(300, 0.0, 0.05), None)
    assert chosen is not None
    event = chosen.event
    if not same_draws:
        left, right = sample()
    likely, unlikely = (left, right) if event.likely_input == "left" else (right, left)
    counts = Counts(int(event.occurs(likely).sum()), 300, int(event.occurs(unlikely).sum()), 300)
    return epsilon_lower_bound(counts, 0.0, 0.05)


def test_certifying_on_used_draws_errs_far_too_often_and_fresh_draws_do_not():
    """Of 80 audits, 5 % errors exceed 11 with probability below 1e-3; the reuse of draws must be far above."""
    assert binom.sf(11, 80, 0.05) < 1e-3
    assert sum(certified_on(False, seed) > 1.0 for seed in range(80)) <= 11
    assert sum(certified_on(True, seed) > 1.0 for seed in range(80)) > 25


def test_certifying_draws_are_made_after_the_events_are_chosen(monkeypatch):
    order = []

    class Spy(Laplace):
        def sample(self, data, count, rng):
            order.append(count)
            return super().sample(data, count, rng)

    def select(*arguments):
        found = original(*arguments)
        order.append("chosen")
        return found

    original = distinguish.select
    monkeypatch.setattr(distinguish, "select", select)
    audit(Spy(1.0), 10_000, 0)
    # the first ones tell the shape of the outputs, and whether they repeat
    assert order == [2, 2, *[PROBE] * (2 * CALLS), 500, 500, 1_000, 1_000, "chosen", 3_500, 3_500]


def test_phases_chunks_and_inputs_have_streams_of_their_own():
    """No certifying draw repeats a selection draw: all first draws differ."""
    source = draws.Draws.of(Laplace(1.0), (7,))
    firsts = [source.generator(*place).random() for place in product((1, 2, 3), range(50), (0, 1))]
    assert len(set(firsts)) == len(firsts)


def test_certifying_in_chunks_counts_every_draw(monkeypatch):
    whole = audit(Laplace(1.0), 20_000, 4)
    monkeypatch.setattr(draws, "CHUNK_VALUES", 500)
    chunked = audit(Laplace(1.0), 20_000, 4)
    assert whole.counts.likely_draws == chunked.counts.likely_draws == 7_000
    assert chunked.counts.likely > 1_000
    assert abs(chunked.epsilon_lower_bound - whole.epsilon_lower_bound) < 0.2


def test_result_does_not_depend_on_the_number_of_workers(monkeypatch):
    monkeypatch.setattr(draws, "CHUNK_VALUES", 1_000)
    results = []
    for workers in (1, 2, 3):
        rng = np.random.default_rng(9)
        found = estimate(Laplace(1.0), delta=0, draws=60_000, significance=0.05, rng=rng, workers=workers)
        results.append((found.counts, found.event.to_json(), found.implementation.counts))
    assert results[0] == results[1] == results[2]


@dataclass(frozen=True)
class TwoOutcomes:
    """1 with probability `left` or `right`, else 0: loss known exactly, and in one direction only."""

    left: float
    right: float
    one: float = 1.0

    def inputs(self):
        return self.left, self.right

    def sample(self, data, count, rng):
        return np.where(rng.random((count, 1)) < data, self.one, 0.0)


@pytest.mark.parametrize(("left", "right"), [(0.5, 0.05), (0.05, 0.5), (0.5, 0.95), (0.95, 0.5)])
def test_either_input_and_either_side_can_be_the_likely_one(left, right):
    truth = max(np.log(left / right), np.log(right / left), np.log((1 - left) / (1 - right)), -np.inf)
    truth = max(truth, np.log((1 - right) / (1 - left)))
    found = audit(TwoOutcomes(left, right), 100_000, 1).epsilon_lower_bound
    assert 0.9 * truth < found <= truth


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_outcomes_that_are_no_numbers_are_events(value):
    leak = TwoOutcomes(0.5, 0.01, one=value)
    assert audit(leak, 20_000, 1).epsilon_lower_bound > 3
    assert audit(TwoOutcomes(1.0, 0.0, one=value), 20_000, 1).epsilon_lower_bound > 5
    assert audit(TwoOutcomes(0.3, 0.3, one=value), 20_000, 1).verdict(1.0) == "not refuted"


@dataclass(frozen=True)
class RareLeak(Laplace):
    """Laplace noise that with a small probability publishes its input, far away: infinite loss."""

    probability: float = 0.004

    def sample(self, data, count, rng):
        honest = super().sample(data, count, rng)
        return np.where(rng.random((count, 1)) < self.probability, 100.0 + data, honest)


@pytest.mark.parametrize("probability", [0.001, 0.004])
def test_a_rare_leak_is_refuted(probability):
    leak = RareLeak(1.0, probability)
    assert audit(leak, 1_000_000, 2).verdict(1.0) == "refuted"
    assert audit(RareLeak(1.0, 0.0), 1_000_000, 2).verdict(1.02) == "not refuted"


def pair_subject(name: str, fairness: str = "absolute", adjacency: str = "replace_one", dimension: int = 3):
    """Return one of our mechanisms with its pair, and the exact epsilon of that very pair at its delta."""
    size = {"records": 50, "dimension": dimension}
    records = datasets.load("synthetic", datasets.Encoding(norm="unit_box"), **size)
    spec = MECHANISMS[name]
    readings = spec.readings.with_(fairness=fairness, adjacency=adjacency, sensitivity=4)
    budget = SplitBudget(8, 2, "1e-2", "1e-2") if spec.needs_delta else SplitBudget(8, 2)
    noise = spec.noise(records.domain, budget, readings, 0)
    pair = extreme_pair(records, "synthetic", readings, noise)
    subject = CoefficientRelease(spec, budget, readings, 0, pair)
    far = Fraction(distance(pair, noise))
    truth = epsilon_of_shift(far**2, budget.delta) if spec.needs_delta else far
    return subject, float(truth), float(budget.delta)


@pytest.mark.parametrize("name", ["pdfc", "adfc"])
@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
def test_our_mechanism_is_bounded_by_its_pairs_exact_loss_and_refuted_well_below_it(name, adjacency):
    subject, truth, delta = pair_subject(name, adjacency=adjacency)
    found = audit(subject, 400_000, 5, delta)
    # claims a little above the truth stand; claims well below it fall
    assert found.verdict(1.02 * truth) == "not refuted"
    assert found.verdict(0.6 * truth) == "refuted"


def test_a_delta_that_is_left_out_would_be_noticed():
    """The same draws at delta 0 give a bound above the exact epsilon at the claimed delta: delta matters."""
    subject, truth, delta = pair_subject("adfc")
    with_delta, without = (audit(subject, 400_000, 5, value).epsilon_lower_bound for value in (delta, 0.0))
    assert with_delta <= truth < without


@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
def test_pairs_are_neighbours_with_zbar_recomputed_on_each_side(adjacency):
    subject, _, _ = pair_subject("pdfc", adjacency=adjacency)
    sides = subject.neighbours.left, subject.neighbours.right
    assert tuple(map(len, sides)) == ((50, 50) if adjacency == "replace_one" else (51, 50))
    for side in sides:
        assert isinstance(side, Extended)
        own = 0 if side.record is None else int(side.record.z[0])
        assert side.moments.zbar == (side.base.sum_z + own) / side.moments.n


def test_the_pair_is_the_farthest_in_units_of_the_noise():
    """With a noisy group of coefficients, the pair moves the other group."""
    records = datasets.load("synthetic", datasets.Encoding(norm="unit_box"), records=50, dimension=3)
    quiet, loud = 1.0, 1e9
    far = []
    for scale_s, scale_n in ((quiet, loud), (loud, quiet)):
        noise = Noise("laplace", scale_s, scale_n, layout(records.domain, FAIR).contains(0))
        pair = extreme_pair(records, "synthetic", FAIR, noise)
        far.append(distance(pair, noise))
        assert distance(pair, noise) == pytest.approx(float(pair.loss(noise)), rel=1e-12)
        for one in (pair.left.record, pair.right.record):
            assert set(one.x.ravel().tolist()) <= {0.0, 1.0}
    assert far[0] != far[1]
    assert min(far) > 1


@pytest.mark.parametrize("encoding", ["ordinal", "one_hot"])
def test_witnesses_are_encodings_of_rows_that_the_domain_admits(encoding):
    choices = datasets.Encoding(encoding=encoding, intercept=True, keep_group=True)
    records = datasets.load("affairs", choices)
    noise = MECHANISMS["pdfc"].noise(records.domain, SplitBudget(1, 1), FAIR, 1)
    pair = extreme_pair(records, "affairs", FAIR, noise)
    factor = records.domain.column_factor
    for one in (pair.left.record, pair.right.record):
        x = dict(zip(records.domain.columns, one.x[0].tolist(), strict=True))
        assert x["(intercept)"] == factor
        assert x[records.domain.group] == factor * one.z[0]
        if encoding == "one_hot":
            assert sum(value > 0 for name, value in x.items() if name.startswith("age=")) == 1


def test_half_the_noise_is_refuted_and_the_right_noise_is_not():
    for seed in range(5):
        assert audit(HalfNoiseLaplace(1.0), 50_000, seed).verdict(1.0) == "refuted"
        assert audit(Laplace(1.0), 50_000, seed).verdict(1.0) == "not refuted"


def planted(factor: float) -> list[str]:
    """Return options for PDFC on one feature with `factor` times the noise that its pair of data sets needs.

    The noise is fitted to the exact l1 distance of the pair that the audit takes, so the true loss is 1 / factor.
    """
    size = ["--data", "synthetic", "--records", "200", "--dimension", "1", "--domain", "unit_box"]
    records = datasets.load("synthetic", datasets.Encoding(norm="unit_box"), records=200, dimension=1)
    noise = MECHANISMS["pdfc"].noise(records.domain, SplitBudget(1, 1), FAIR, 0)
    pair = extreme_pair(records, "synthetic", FAIR, noise)
    return [*size, "--sensitivity", repr(float(np.abs(pair.change).sum()) * factor)]


def test_pdfc_with_noise_fitted_to_its_neighbours_is_not_refuted(capsys):
    code, result = run(capsys, "pdfc", *planted(1.02), "--draws", "400000", "--seed", "3")
    assert (code, result["verdict"]) == (0, "not refuted")
    assert result["epsilon_lower_bound"] > 0.7


def test_pdfc_with_half_of_that_noise_is_refuted(capsys):
    code, result = run(capsys, "pdfc", *planted(0.5), "--draws", "400000", "--seed", "3")
    assert (code, result["verdict"]) == (1, "refuted")
    assert 1.4 < result["epsilon_lower_bound"] <= 2.0


def test_main_job_audits_each_mechanism_of_the_paper_on_its_worst_neighbours(capsys):
    code, results = run(capsys, "--draws", "10000", "--seed", "1", "--dimension", "3")
    assert code == 0
    assert [result["mechanism"] for result in results] == list(PAPER)
    for result in results:
        assert result["verdict"] == "not refuted"
        assert result["claimed_epsilon"] == 1.0
        # two explicit data sets of 1,000 records each
        for side in ("left", "right"):
            assert sum(row["count"] for row in result["witness"]["inputs"][side]) == 1000
        assert result["epsilon_lower_bound"] <= 1


def test_real_data_give_neighbours_that_they_admit(capsys):
    code, result = run(capsys, "pdfc", "--data", "affairs", "--draws", "4000", "--seed", "1")
    assert code == 0
    shared, own = result["witness"]["inputs"]["left"]
    assert shared == {"count": 6365, "records": "affairs without its last record"}
    assert own["count"] == 1


def test_result_has_the_fields_of_the_contract(capsys):
    _, result = run(capsys, "adfc", "--draws", "2000", "--seed", "1", "--delta", "1e-3", "--dimension", "2")
    expected = {"mechanism", "claimed_epsilon", "claimed_delta", "epsilon_lower_bound", "significance", "draws"}
    expected |= {"seconds", "verdict", "implementation_verdict", "witness", "not_ruled_out", "rerun"}
    assert expected <= set(result)
    assert result["draws"] == 2000
    assert float(result["claimed_delta"]) == pytest.approx(1e-3, rel=1e-12)
    assert float(result["claimed_delta"]) <= 1e-3


def test_rerun_repeats_the_bound_draw_for_draw(capsys):
    _, first = run(
        capsys, "pdfc", "laplace", "--draws", "4000", "--epsilon", "3", "--x-s", "x2", "--dimension", "3"
    )
    for result in first:
        words = shlex.split(result["rerun"])
        assert words[:3] == ["python", "-m", "audit.epsilon_estimate"]
        again = run(capsys, *words[3:], "--workers", "2")[1]
        for field in ("epsilon_lower_bound", "witness", "claimed_epsilon"):
            assert again[field] == result[field]


def test_audits_without_a_seed_differ_but_say_how_to_repeat_them(capsys):
    results = [run(capsys, "laplace", "--draws", "4000")[1] for _ in range(2)]
    assert results[0]["rerun"] != results[1]["rerun"]


def test_too_few_draws_to_refute_are_undecided(capsys):
    code, result = run(capsys, "laplace", "--epsilon", "9", "--draws", "1000", "--seed", "1")
    assert (code, result["verdict"], result["detectable_epsilon"]) == (3, "undecided", None)
    assert main(["laplace", "--epsilon", "9", "--draws", "1000", "--seed", "1"]) == 3
    needed = re.search(r"about ([\d,]+) draws would decide", capsys.readouterr().out)
    assert needed
    enough = run(capsys, "laplace", "--epsilon", "9", "--draws", needed[1].replace(",", ""), "--seed", "1")
    assert (enough[0], enough[1]["verdict"]) == (0, "not refuted")


def test_more_draws_than_can_be_counted_are_not_recommended(capsys):
    assert main(["laplace", "--epsilon", "30", "--draws", "1000", "--seed", "1"]) == 3
    assert "not even as many as can be counted would" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["nothing_like_it"],
        ["--draws", "10"],
        ["--significance", "0"],
        ["--epsilon", "-1"],
        ["--data", "nowhere"],
        ["--data", "own.csv"],
        ["--domain", "own.json"],
        ["--label", "y"],
        ["--draws", "3000000000"],
        ["--significance", "1e-13"],
        ["laplace", "--significance", "5e-12", "--curve"],
        ["--intercept"],
        ["laplace", "--events", "tea_leaves"],
        ["laplace", "--events", "bits"],
        ["laplace", "--until", "0"],
        ["laplace", "--until", "0.1", "--curve"],
        ["laplace", "--until", "nan"],
        ["laplace", "--until", "inf"],
        ["laplace", "--max-seconds", "nan"],
        ["laplace", "--significance", "nan"],
        ["laplace", "--epsilon", "nan"],
        ["laplace", "--delta", "nan"],
        ["laplace", "gaussian", "laplace"],
        ["laplace", "--plot", "picture.txt"],
        ["laplace", "--epsilon", "701"],
        ["laplace", "--epsilon", "1000", "--until", "0.1"],
        ["laplace", "--workers", "0"],
        ["laplace", "--max-seconds", "-1"],
        ["no.such.module:thing"],
        ["json:dumps"],
        ["no_privacy"],
        ["laplace", "--epsilon", "0"],
        ["laplace", "--epsilon", "1e400"],
        ["pdfc", "--x-s", "height"],
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, words):
    assert main(words) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: ")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize("after", [0, 5_000, 15_000])
def test_an_interrupted_call_keeps_earlier_results_and_is_undecided(capsys, monkeypatch, after):
    """The second of three audits ends while it learns, or after the first draws that certify."""
    sample, made = Laplace.sample, []
    monkeypatch.setattr(draws, "CHUNK_VALUES", 200)

    def interrupted(self, data, count, rng):
        made.append(count)
        if self.epsilon == 1 and type(self) is HalfNoiseLaplace and sum(made) > start + after:
            raise KeyboardInterrupt
        return sample(self, data, count, rng)

    monkeypatch.setattr(Laplace, "sample", interrupted)
    start = 20_004
    words = ["laplace", "laplace_half_noise", "gaussian", "--draws", "20000", "--epsilon", "1", "--seed", "1"]
    code = main([*words, "--format", "json"])
    output = capsys.readouterr()
    results = json.loads(output.out)
    assert [result["mechanism"] for result in results] == ["laplace", "laplace_half_noise"][: len(results)]
    assert len(results) == (2 if after == 15_000 else 1)
    assert results[0]["stopped"] is None
    assert "gaussian not audited" in output.err
    assert code == (1 if "refuted" in [result["verdict"] for result in results] else 3)


def test_a_call_interrupted_before_anything_is_certified_decides_nothing(capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(distinguish, "select", interrupted)
    assert main(["laplace", "--draws", "2000"]) == 3
    output = capsys.readouterr()
    assert output.out == ""
    assert "interrupted: laplace not audited" in output.err


@pytest.mark.parametrize("option", ["--out", "--plot"])
def test_a_file_that_cannot_be_written_is_refused_before_the_run(capsys, monkeypatch, tmp_path, option):
    def drawn(*_, **__):
        raise AssertionError

    monkeypatch.setattr("audit.epsilon_estimate.estimate", drawn)
    for path in (tmp_path, tmp_path / "nowhere" / "result.svg"):
        assert main(["laplace", option, str(path)]) == 2
        assert "a file that can be written" in capsys.readouterr().err


@dataclass(frozen=True)
class NoNumbers(Laplace):
    """Laplace noise whose stated inputs are no numbers that JSON has."""

    def inputs(self):
        return np.array([np.nan]), [1.0, np.inf]

    def sample(self, data, count, rng):
        return rng.laplace(size=(count, 1))


def test_inputs_that_are_not_finite_are_written_in_words(capsys):
    _, result = run(capsys, f"{__name__}:NoNumbers", "--draws", "2000", "--seed", "1")
    assert result["witness"]["inputs"] == {"left": ["nan"], "right": [1.0, "inf"]}


def test_constant_outputs_say_so_and_run_to_the_last_draw_of_an_anytime_audit(capsys):
    code, result = run(capsys, f"{__name__}:Constant", "--draws", "50000", "--until", "0.01", "--seed", "1")
    assert (code, result["epsilon_lower_bound"], result["draws"], result["stopped"]) == (0, 0.0, 50_000, None)
    assert "all outputs seen are equal" in " ".join(result["notes"])


class Constant(Laplace):
    """Publishes nothing."""

    def sample(self, data, count, rng):
        return np.full((count, 1), 3.0)


def test_until_stops_in_time_and_its_text_says_why(capsys):
    words = ["--draws", "1000000", "--until", "0.1", "--seed", "1", "--events", "coordinates"]
    for name, why in (("laplace", "would have shown"), ("laplace_half_noise", "the claim is refuted")):
        main([name, *words])
        text = capsys.readouterr().out
        line = re.search(rf"  stopped: [^\n]*{why}, after ([\d,]+) of 1,000,000 draws", text)
        assert line
        assert int(line[1].replace(",", "")) < 900_000


def test_unknown_mechanism_lists_the_known_ones(capsys):
    main(["pfdc"])
    error = capsys.readouterr().err
    assert all(name in error for name in (*PAPER, "laplace"))


def test_out_writes_the_result_whole(capsys, tmp_path):
    target = tmp_path / "result.json"
    assert main(["laplace", "--draws", "2000", "--seed", "5", "--format", "json", "--out", str(target)]) == 0
    assert json.loads(target.read_text(encoding="utf-8"))["mechanism"] == "laplace"
    assert capsys.readouterr().out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
def test_text_names_the_witness_and_what_was_not_ruled_out(capsys, adjacency):
    assert main(["pdfc", "--draws", "4000", "--adjacency", adjacency, "--dimension", "3", "--seed", "1"]) == 0
    text = capsys.readouterr().out
    for part in (
        "inputs, left:",
        "inputs, right:",
        "event: ",
        "again: python -m",
        "not ruled out: other neighbouring",
    ):
        assert part in text


def test_the_table_cuts_no_name_short(capsys, monkeypatch, tmp_path):
    module = "count_" + "of_records_" * 8
    text = "from audit.catalogue import Laplace, HalfNoiseLaplace as Half\nWhole = Laplace\n"
    (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    names = ["relaxed_functional", f"{module}:Whole", f"{module}:Half"]
    main([*names, "--draws", "2000", "--seed", "1", "--dimension", "2"])
    table = capsys.readouterr().out.split("Each lower bound")[0]
    assert "\N{HORIZONTAL ELLIPSIS}" not in table
    for heading in ("epsilon at least", "significance", "not refuted"):
        assert heading in table
    # a name that needs more than a line goes on in the next one
    column = "".join(line.split("\N{BOX DRAWINGS LIGHT VERTICAL}")[1].strip() for line in table.splitlines()[4:-1])
    assert column == "".join(names)


def test_a_record_is_shown_with_all_its_numbers(capsys):
    main(["pdfc", "--draws", "2000", "--seed", "1", "--dimension", "2"])
    left = capsys.readouterr().out.split("inputs, left:")[1].split("inputs, right:")[0].splitlines()[1:3]
    assert left[0].startswith("    999 records with x = (")
    assert left[1].startswith("    1 record with x = (")
    assert _row_text({"count": 1, "x": [0.5, 0.25], "y": 1, "z": 0}) == (
        "1 record with x = (x1: 0.5, x2: 0.25), y = 1, z = 0"
    )
    assert _row_text({"count": 2, "x": {"age": 0.5, "sex": 0.0}, "y": 1, "z": None}) == (
        "2 records with x = (age: 0.5, else 0), y = 1"
    )


def test_the_event_at_the_bits_is_named_only_where_it_is_another(capsys):
    words = ["--draws", "20000", "--seed", "1"]
    assert main(["laplace_float", *words]) == 0
    assert "at the bits: epsilon at least" in capsys.readouterr().out
    # no family looks at bits: both verdicts rest on one event
    assert main(["laplace", *words, "--events", "coordinates"]) == 0
    assert "at the bits: epsilon at least" not in capsys.readouterr().out


def leak_result(probability: float, seed: int) -> Result:
    subject = LeakyLaplace(1.0, leak=probability)
    found = estimate(
        subject,
        delta=0.0,
        draws=20_000,
        significance=0.05,
        rng=np.random.default_rng([seed, 5]),
        families=("coordinates", "intervals", "additive"),
    )
    return Result(Audit("leaky", subject, {}, Fraction(1), Fraction(0), {}, ()), found, 0.0, seed, "")


def test_leaks_that_are_called_ruled_out_are_found_in_most_runs_and_rarer_ones_in_few():
    """Nine of ten are stated; 15 audits find fewer than 10 with probability below 0.003 then."""
    stated = leak_result(0.01, 0).rarest_leak
    # 3,000 outputs per input learn and choose: certifying alone would see a leak of a third of this
    assert stated == 30 / 3_000
    assert sum(leak_result(stated, seed).verdict("ideal") == "refuted" for seed in range(15)) >= 10
    assert sum(leak_result(stated / 6, seed).verdict("ideal") == "refuted" for seed in range(15)) <= 5
