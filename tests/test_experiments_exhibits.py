"""The figures and tables as lists of runs, their outputs, the command line, and the page of numbers."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest

from reference.budgets import SplitBudget
from reference.commands.experiments import present_data
from reference.common.errors import ReadingError, UnknownAttributeError
from reference.common.exit_codes import EXIT_UNDECIDED
from reference.datasets import Encoding
from reference.experiments import pages
from reference.experiments.exhibits import EXHIBITS, ExhibitDesign, coordinate, points
from reference.experiments.outputs import Shown
from reference.experiments.printed import GRID_TABLES, GRID_TEXT, MECHANISMS
from reference.experiments.runner import run_all
from reference.experiments.splits import SplitSpec, prepare
from reference.experiments.study import OK, UNBOUNDED, RunResult, run
from reference.experiments.summaries import METRICS, Summary, first_and_all
from reference.experiments.variants import DEFAULT, VARIANTS, Variant
from reference.fairness import evaluate
from tests.command_lines import experiments

AFFAIRS = ExhibitDesign("affairs", VARIANTS[DEFAULT], splits=2)


# --- Exhibits ---------------------------------------------------------------------------------------------------


def test_exhibits_have_every_algorithm_epsilon_and_delta_of_the_paper():
    epsilons, deltas, mechanisms = set(), set(), set()
    for exhibit in EXHIBITS.values():
        for data in exhibit.data:
            for point in points(exhibit, ExhibitDesign(data, VARIANTS[DEFAULT], splits=1)):
                mechanisms.add(point.line.mechanism)
                epsilons.add(point.epsilon)
                deltas.add(point.delta)
    in_text = {float(Fraction(10)) ** float(Fraction(exponent)) for exponent in GRID_TEXT}
    measured = {float(epsilon) for epsilon in epsilons if epsilon}
    assert all(any(abs(one / other - 1) < 1e-5 for other in measured) for one in in_text)
    assert set(GRID_TABLES) <= epsilons
    assert {"1e-3", "1e-4", "1e-5", "1e-6", "1e-7"} <= deltas
    assert {*MECHANISMS, "functional", "relaxed_functional", "no_privacy"} == mechanisms


def test_the_papers_numbers_stand_beside_their_points():
    design = ExhibitDesign("adult", VARIANTS[DEFAULT], splits=1)
    shown = Shown(EXHIBITS["table2"], design, ())
    found = {
        (point.line.mechanism, point.epsilon): shown.printed(point) for point in points(EXHIBITS["table2"], design)
    }
    assert (found["pdfc", "0.1"].mean, found["pdfc", "0.1"].deviation) == ("0.005", "0.022")
    assert found["lr", None].mean == "0.187"
    assert found["no_privacy", None] is None
    others = points(EXHIBITS["table2"], AFFAIRS)
    assert {Shown(EXHIBITS["table2"], AFFAIRS, ()).printed(point) for point in others} == {None}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_can_be_run(variant):
    design = ExhibitDesign("affairs", VARIANTS[variant], splits=1)
    results = run_all([spec for point in points(EXHIBITS["table2"], design) for spec in point.specs])
    assert len(results) == 14
    assert {result.status for result in results.values()} <= {OK, UNBOUNDED}


def test_variants_differ_in_what_they_run():
    keys = {
        tuple(
            spec.key for point in points(EXHIBITS["table2"], ExhibitDesign("affairs", one)) for spec in point.specs
        )
        for one in VARIANTS.values()
    }
    assert len(keys) == len(VARIANTS)


def test_ratio_keeps_the_published_total():
    design = ExhibitDesign("adult", VARIANTS["more_noise_on_x_s"], splits=1)
    (budget,) = {
        point.specs[0].budget
        for point in points(EXHIBITS["table2"], design)
        if point.line.mechanism == "pdfc" and point.epsilon == "1"
    }
    assert isinstance(budget, SplitBudget)
    assert budget.epsilon_s / budget.epsilon_n == Fraction(1, 10)
    assert budget.epsilon_s / 12 + budget.epsilon_n * 11 / 12 == 1


def test_x_s_is_a_coordinate_of_the_encoding():
    assert coordinate("adult", Encoding(), "marital status") == "marital-status"
    assert coordinate("adult", Encoding(encoding="one_hot"), "race") == "race=White"
    assert coordinate("us", Encoding(), "work") == "WKHP"
    assert coordinate("us", Encoding(), "AGEP") == "AGEP"
    with pytest.raises(UnknownAttributeError):
        coordinate("us", Encoding(), "nothing")


def test_ratio_must_be_positive():
    with pytest.raises(ReadingError):
        Variant("", "", epsilon_ratio="0")


# --- Summaries --------------------------------------------------------------------------------------------------


def test_summary_counts_runs_without_minimum_and_constant_predictors():
    test = prepare(SplitSpec("affairs")).test
    with pytest.warns(UserWarning, match="predicted 0"):
        constant = RunResult(OK, None, evaluate([-1.0] * 7, test))
    varied = RunResult(OK, None, evaluate([1.0, 0, 0, 0, 0, 0, -1.0], test))
    summary = Summary((constant, varied, RunResult(UNBOUNDED, None, None)))
    assert (summary.unbounded, summary.constant) == (1, 1)
    mean = (constant.metrics.accuracy + varied.metrics.accuracy) / 2
    assert summary.summary("accuracy")["mean"] == pytest.approx(mean)
    deviation = abs(constant.metrics.accuracy - varied.metrics.accuracy) / 2**0.5
    assert summary.summary("accuracy")["std"] == pytest.approx(deviation)
    nothing = Summary((RunResult(UNBOUNDED, None, None),))
    assert nothing.to_json()["accuracy"] == {"mean": None, "std": None}


@pytest.mark.parametrize(("runs", "counts"), [(3, [3]), (10, [10]), (50, [10, 50])])
def test_first_ten_are_reported_beside_all(runs, counts):
    found = first_and_all([RunResult(UNBOUNDED, None, None)] * runs)
    assert [len(summary.results) for summary in found] == counts


# --- The command line -------------------------------------------------------------------------------------------


def command(*arguments):
    return experiments(*arguments, "--jobs", "1", "--quiet")


def test_command_writes_every_file_and_goes_on_where_it_stopped(tmp_path, capsys, monkeypatch):
    arguments = ["table2", "--data", "affairs", "--splits", "11", "--out", str(tmp_path / "new" / "folder")]
    assert command(*arguments) == 0
    text = capsys.readouterr().out
    folder = tmp_path / "new" / "folder"
    names = {path.name for path in folder.iterdir()}
    assert names == {"runs.jsonl", *(f"table2-affairs-default.{kind}" for kind in ("json", "txt", "png", "svg"))}
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr("reference.experiments.runner.run", lambda _: pytest.fail("was run again"))
    assert command(*arguments) == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first
    assert capsys.readouterr().out == text == (folder / "table2-affairs-default.txt").read_text(encoding="utf-8")
    document = json.loads(first["table2-affairs-default.json"])
    assert "NOT THE PAPER'S DATA" in document["data_note"]
    assert document["data_note"] in text
    for point in document["points"]:
        assert [result["runs"] for result in point["results"]] == [10, 11]
        assert set(METRICS) <= set(point["results"][0])
    # the majority class is drawn, and what the figure is of stands in it
    drawing = first["table2-affairs-default.svg"].decode()
    assert "majority class" in drawing
    assert "positive rate" in drawing
    assert "NOT THE PAPER" in drawing


def test_json_is_one_document_or_a_list(capsys):
    common = ["--data", "affairs", "--splits", "1", "--format", "json"]
    assert command("fig3a", *common) == 0
    assert json.loads(capsys.readouterr().out)["exhibit"] == "fig3a"
    assert command("fig2", "--data", "affairs", "--splits", "1", "--format", "json", "--variant", "box,group") == 0
    documents = json.loads(capsys.readouterr().out)
    assert [document["readings"]["variant"] for document in documents] == ["box", "group"]
    assert {point["delta"] for point in documents[0]["points"]} == {None, *EXHIBITS["fig2"].grid}


def test_options_make_a_variant_of_their_own(capsys):
    options = ["--domain", "unit_box", "--keep-group", "--repair", "ball", "--fairness", "covariance"]
    assert (
        command("table1", "--data", "affairs", "--splits", "1", "--format", "json", "--x-s", "age", *options) == 0
    )
    document = json.loads(capsys.readouterr().out)
    expected = {"domain": "unit_box", "keep_group": True, "repair": "ball", "fairness": "covariance"}
    assert expected.items() <= document["readings"].items()
    assert document["readings"]["variant"].startswith("chosen_")
    assert {point["x_s"] for point in document["points"]} == {None, "age"}


@pytest.mark.parametrize(
    "options",
    [
        ["--splits", "0"],
        ["--noise", "hardened"],
        ["--variant", "box", "--domain", "unit_ball", "--keep-group"],
        ["--test-share", "1"],
        ["--subset-size", "1000000"],
        ["--delta", "2"],
        ["--epsilon-ratio", "-1"],
        ["--x-s", "nothing"],
        ["--jobs", "0"],
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(options, capsys):
    assert experiments("fig3a", "--data", "affairs", "--quiet", "--jobs", "1", *options) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_options_are_not_abbreviated(capsys):
    assert experiments("fig3a", "--data", "affairs", "--quiet", "--epsilon", "1") == 2
    assert "No such option '--epsilon'. (Did you mean one of: '--epsilon-ratio'" in capsys.readouterr().err


def test_an_interruption_is_one_line(capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("reference.commands.experiments.run_all", interrupted)
    assert command("fig3a", "--data", "affairs", "--splits", "1") == EXIT_UNDECIDED
    assert capsys.readouterr().err == "error: interrupted: with --out, the same command resumes where it stopped\n"


def test_folder_that_cannot_be_made_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert command("fig3a", "--data", "affairs", "--out", str(tmp_path / "file")) == 2
    assert "folder" in capsys.readouterr().err


def test_missing_data_are_said_loudly_and_marked_in_every_output(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CFM_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr("reference.commands.experiments.whole", prepare_whole)
    present_data.cache_clear()
    try:
        assert command("table2", "--splits", "1", "--out", str(tmp_path)) == 0
    finally:
        present_data.cache_clear()
    captured = capsys.readouterr()
    assert "us IS NOT THERE" in captured.err
    for asked in ("adult", "us"):
        # the substitute of one must not overwrite that of the other, nor what was run on affairs by choice
        stem = f"table2-affairs-instead-of-{asked}-default"
        for kind in ("json", "txt", "svg"):
            text = (tmp_path / f"{stem}.{kind}").read_text(encoding="utf-8")
            assert f"{asked} WAS ASKED FOR AND IS NOT THERE" in text
        assert json.loads((tmp_path / f"{stem}.json").read_text(encoding="utf-8"))["missing_data"] == asked
        assert f"{asked} WAS ASKED FOR AND IS NOT THERE" in captured.out
    assert not list(tmp_path.glob("table2-affairs-default.*"))


def prepare_whole(data, encoding):
    """Read a data set without the cache, which may hold what was there before."""
    from reference.experiments.splits import whole

    return whole.__wrapped__(data, encoding)


# --- The page ---------------------------------------------------------------------------------------------------


def committed():
    return json.loads(pages.DOCUMENT.read_text(encoding="utf-8"))


def test_committed_page_has_the_committed_numbers():
    page = pages.PAGE.read_text(encoding="utf-8")
    assert pages.filled(page, committed()) == page
    assert "0.187 ± 0.049" in page


def test_page_check_sees_a_number_changed_by_hand():
    page = pages.PAGE.read_text(encoding="utf-8")
    changed = page.replace("0.187 ± 0.049", "0.185 ± 0.049", 1)
    assert changed != page
    assert pages.filled(changed, committed()) == page


def test_prose_on_one_hot_columns_has_the_committed_numbers():
    page = re.sub(r"\s+", " ", pages.PAGE.read_text(encoding="utf-8"))
    found = {
        (data, row["variant"].removeprefix("box_one_hot_group_"), row["line"][:4], row["epsilon"]): row
        for data in pages.DATA
        for row in committed()["variants"][data]
    }
    for data, words in (
        ("adult", "and {} ± {} on Adult at {}"),
        ("us", "gains {1} on US at a risk difference of {0}"),
    ):
        row = found[data, "separate", "ADFC", "10"]
        gain, difference = row["gain_over_majority"], row["risk_difference"]
        numbers = (*gain, difference[0]) if data == "adult" else (difference[0], gain[0])
        assert words.format(*(f"{number:.3f}" for number in numbers)) in page
    signed = [found[data, "covariance", "no n", None] for data in pages.DATA]
    differences, losses = (
        [f"{sign * row[name][0]:.3f}" for row in signed]
        for name, sign in (("risk_difference", 1), ("gain_over_majority", -1))
    )
    assert "the risk difference is {} on Adult and {} on US".format(*differences) in page
    assert "the accuracy {} and {} below".format(*losses) in page


@pytest.mark.parametrize(
    "text", ["no marks", "<!-- nothing -->\n<!-- end -->\n", "<!-- table2-us -->\n<!-- end -->\n" * 2]
)
def test_page_with_other_marks_is_refused(text):
    with pytest.raises(ValueError, match="marks"):
        pages.filled(text, committed())


@pytest.mark.data
def test_committed_numbers_on_adult_come_out_again(adult):
    """Ten runs of the committed fifty, within what another machine's linear algebra explains."""
    assert len(adult) == 48_842
    (known,) = [one for one in committed()["exhibits"] if one["exhibit"] == "fig3a"]
    design = ExhibitDesign("adult", VARIANTS[DEFAULT], splits=10)
    for point, stored in zip(points(EXHIBITS["fig3a"], design), known["points"], strict=True):
        summary = Summary(tuple(run(spec) for spec in point.specs)).to_json()
        for name in METRICS:
            assert summary[name]["mean"] == pytest.approx(stored["results"][0][name][0], abs=2e-3)


def test_exhibits_are_committed():
    assert {one["exhibit"] for one in committed()["exhibits"]} == set(pages.SHOWN_EXHIBITS)
