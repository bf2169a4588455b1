"""The main job on our mechanisms: what it prints, writes and refuses, and how it ends."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from audit.auditor import distinguish, draws
from audit.auditor.distinguish import Terms, estimate
from audit.commands.estimate import PAPER
from audit.commands.estimate_text import _row_text
from audit.epsilon_estimate import main
from audit.evidence.report import EstimateResult
from audit.gate.requests import asked
from audit.subjects.catalogue import HalfNoiseLaplace, Laplace, LeakyLaplace
from audit.subjects.real_neighbours import extreme_pair
from reference import datasets
from reference.budgets import SplitBudget
from reference.common.arrays import FloatArray
from reference.mechanisms import FAIR
from reference.registry import MECHANISMS


def run(capsys, *words: str) -> tuple[int, Any]:
    code = main([*words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


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
    code, result = run(capsys, "pdfc", *planted(1.02), "--draws", "200000", "--seed", "3")
    assert (code, result["verdict"]) == (0, "not refuted")
    assert result["epsilon_lower_bound"] > 0.7


def test_pdfc_with_half_of_that_noise_is_refuted(capsys):
    code, result = run(capsys, "pdfc", *planted(0.5), "--draws", "400000", "--seed", "3")
    assert (code, result["verdict"]) == (1, "refuted")
    assert 1.4 < result["epsilon_lower_bound"] <= 2.0


def test_main_job_audits_each_mechanism_on_its_worst_neighbours(capsys):
    code, results = run(capsys, "--draws", "4000", "--seed", "1", "--dimension", "3")
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
    assert run(capsys, "laplace", "--epsilon", "3", "--draws", "4000", "--seed", "1")[0] == 0


@pytest.mark.parametrize(
    ("words", "draws", "once_in"),
    [
        ("--epsilon 5", "1000", "148"),
        ("--epsilon 8", "1000", "2,981"),
        # less by chance, not by the events that it can see
        ("--epsilon 5", "8000", "148"),
        ("--epsilon 2 --delta 1e-5", "1000", "7"),
    ],
)
def test_draws_that_are_advised_decide(words, draws, once_in, capsys):
    """Noise that keeps epsilon 1: events that could show the claim are rare, and must be found, too."""
    asked = ["audit.gate.evidence.test_unstated:Silent", *words.split(), "--seed", "1"]
    assert main([*asked, "--draws", draws]) == 3
    said = " ".join(capsys.readouterr().out.split())
    advised = re.search(
        r"about ([\d,]+) draws would decide, if there is an event that one input has less often", said
    )
    assert advised
    assert f"than once in {once_in} outputs" in said
    assert main([*asked, "--draws", advised[1].replace(",", "")]) == 0
    # and more do not leave it open
    assert main([*asked, "--draws", str(2 * int(advised[1].replace(",", "")))]) == 0


def test_more_draws_than_can_be_counted_are_not_recommended(capsys):
    assert main(["laplace", "--epsilon", "30", "--draws", "1000", "--seed", "1"]) == 3
    assert "no number of draws that can be counted would decide" in capsys.readouterr().out


def test_more_draws_are_not_recommended_where_they_would_not_help(capsys, monkeypatch, tmp_path):
    """No event tells the inputs apart by outputs that are all equal."""
    (tmp_path / "constant_outputs.py").write_text(
        "import numpy as np\n"
        "class Zeros:\n"
        "    def inputs(self):\n        return 0, 1\n"
        "    def sample(self, data, count, rng):\n        return np.zeros((count, 1))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["constant_outputs:Zeros", "--epsilon", "1", "--draws", "100000", "--seed", "1"]) == 3
    assert "more draws may not help, as it occurs in every output" in capsys.readouterr().out


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
        ["laplace", "--plot", ".svg"],
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
    def interrupted(*_, **__):
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

    monkeypatch.setattr("audit.evidence.estimation.estimate", drawn)
    for path in (tmp_path, tmp_path / "nowhere" / "result.svg"):
        assert main(["laplace", option, str(path)]) == 2
        assert "a file that can be written" in capsys.readouterr().err


@dataclass(frozen=True)
class NoNumbers(Laplace):
    """Laplace noise whose stated inputs are not numbers that JSON has."""

    def inputs(self):
        return np.array([np.nan]), [1.0, np.inf]

    def sample(self, data, count, rng):
        return rng.laplace(size=(count, 1))


def test_inputs_that_are_not_finite_are_written_in_words(capsys):
    _, result = run(capsys, f"{__name__}:NoNumbers", "--draws", "2000", "--seed", "1")
    assert result["witness"]["inputs"] == {"left": ["nan"], "right": [1.0, "inf"]}


def test_constant_outputs_say_so_and_run_to_the_last_draw(capsys):
    code, result = run(capsys, f"{__name__}:Constant", "--draws", "50000", "--until", "0.01", "--seed", "1")
    assert (code, result["epsilon_lower_bound"], result["draws"], result["stopped"]) == (3, 0.0, 50_000, None)
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
    assert all(name in error for name in (*PAPER, "`audit catalogue --list`"))
    assert "--program" not in error
    main(["./pfdc"])
    assert "a program goes after --program" in capsys.readouterr().err


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
        "not ruled out: other pairs of inputs; what",
    ):
        assert part in text


def test_the_table_cuts_no_name_short(capsys, monkeypatch, tmp_path):
    module = "count_" + "of_records_" * 8
    text = "from audit.subjects.catalogue import Laplace, HalfNoiseLaplace as Half\nWhole = Laplace\n"
    (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    names = ["relaxed_functional", f"{module}:Whole", f"{module}:Half"]
    main([*names, "--draws", "2000", "--seed", "1", "--dimension", "2"])
    table = capsys.readouterr().out.split("Each bound")[0]
    assert "\N{HORIZONTAL ELLIPSIS}" not in table
    for heading in ("at least", "detectable", "not refuted"):
        assert heading in table
    # a name that needs more than a line goes on in the next one
    shown = "".join(table.split())
    assert all(name in shown for name in names)


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
    # calmly, and once
    assert capsys.readouterr().out.lower().count("at the bits") == 1
    assert main(["laplace_float", *words, "--object", "implementation"]) == 1
    assert "at the bits: epsilon at least" in capsys.readouterr().out
    # no family looks at bits: both verdicts rest on one event
    rare = ["--significance", "0.001"]
    assert main(["laplace", *words, *rare, "--events", "coordinates", "--object", "implementation"]) == 0
    assert "at the bits: epsilon at least" not in capsys.readouterr().out


SIGNED = """
import numpy as np

class Signed:
    adjacency = "replace_one"

    def inputs(self):
        return [0.0], [1.0]

    def sample(self, data, count, rng):
        found = np.round(rng.laplace(size=(count, 1)) + data[0])
        found[found == 0] = -0.0 if data[0] else 0.0
        return found
"""


def test_the_sign_of_a_zero_is_not_called_noise_in_floating_point(capsys, monkeypatch, tmp_path):
    (tmp_path / "signed_zero.py").write_text(SIGNED)
    monkeypatch.syspath_prepend(tmp_path)
    words = ["signed_zero:Signed", "--epsilon", "1", "--draws", "20000", "--seed", "1"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "at the bits, refuted by more than rounding: epsilon at least" in said
    assert "output[0] is -0.0" in said
    assert "Plain floating-point noise leaks" not in said
    assert main([*words, "--object", "implementation"]) == 1
    main(["laplace", *words[3:]])
    assert "Plain floating-point noise leaks" in capsys.readouterr().out


@dataclass(frozen=True)
class LeaksOneOutput(LeakyLaplace):
    """Releases an output of its own only on the right, where the other outputs are most frequent."""

    own: float = 0.3

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        honest = rng.laplace(data, 1 / self.epsilon, size=(count, 1))
        return np.where(rng.random((count, 1)) < self.leak * data, self.own, honest)


def leak_result(probability: float, seed: int, kind: type[LeakyLaplace] = LeakyLaplace) -> EstimateResult:
    subject = kind(1.0, leak=probability)
    families = ("coordinates", "intervals", "additive", "categories")
    found = estimate(
        subject,
        Terms(delta=0.0, draws=20_000, significance=0.05, families=families),
        np.random.default_rng([seed, 5]),
    )
    (request,) = asked("laplace_leaky", "--seed", str(seed))
    return EstimateResult(request=request, estimate=found, claimed=1.0, claimed_delta=Fraction(0), inputs={})


@pytest.mark.parametrize("kind", [LeakyLaplace, LeaksOneOutput])
def test_leaks_called_ruled_out_are_found_in_most_runs(kind):
    """Nine of ten are stated; 10 audits find fewer than 6 with probability below 0.002 then."""
    stated = leak_result(0.01, 0).reach.rarest_leak
    # 3,000 outputs per input learn and choose: certifying alone would see a leak of a fifth of this
    assert stated == 50 / 3_000

    def refuted(leak: float) -> int:
        return sum(leak_result(leak, seed, kind).verdict("ideal") == "refuted" for seed in range(10))

    assert refuted(stated) >= 6
    assert refuted(stated / 10) <= 3


def test_the_rarest_leak_is_counted_in_draws_only_where_it_takes_several():
    found = leak_result(0.01, 0)
    assert "less often than about once in 60 draws" in found.not_ruled_out()
    # so few draws chose the event that even a leak in each draw may be missed
    few = replace(found, estimate=replace(found.estimate, selection_draws=16))
    assert few.reach.rarest_leak == 1
    assert "leaks that do not happen in every draw" in few.not_ruled_out()
