"""``fit``, ``predict`` and ``domain`` with files: what they write, what they refuse, what they show."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reference import datasets
from reference.__main__ import main
from reference.budgets import SplitBudget
from reference.commands.fit import DEFAULT_GRID
from reference.datasets.from_file import record_blocks
from reference.datasets.source import CsvSource, data_folder
from reference.datasets.table_file import open_table
from reference.domain_file import DomainFile
from reference.evaluation import NOT_PRIVATE
from reference.mechanisms import pdfc
from reference.options import EXIT_FINE, EXIT_USAGE
from reference.records import Records
from reference.registry import MECHANISMS
from reference.release import Release

ROOT = Path(__file__).resolve().parent.parent
SMALL = ("--data", "synthetic", "--records", "200", "--dimension", "3")
Run = Callable[..., tuple[int, str, str]]

DOMAIN: dict[str, Any] = {
    "schema": "domain_v1",
    "attributes": [
        {"name": "age", "kind": "numeric", "lower": 18, "upper": 98},
        {"name": "school", "kind": "ordinal", "categories": ["none", "some", "much"]},
    ],
    "label": {"column": "income", "one": ["high"], "zero": ["low"]},
    "group": {"column": "sex", "one": ["M"], "zero": ["F"], "name": "male"},
}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a runner of the command line in a folder of its own: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(list(arguments))
        except SystemExit as ended:
            code = int(ended.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Write a data file of 300 records, as CSV and as Parquet, and its domain file."""
    import pandas as pd

    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 98, 300),
            "school": random.choice(["none", "some", "much"], 300),
            "income": random.choice(["high", "low"], 300),
            "sex": random.choice(["M", "F"], 300),
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet", index=False)
    (tmp_path / "domain.json").write_text(json.dumps(DOMAIN), encoding="utf-8")
    return tmp_path


FIT = ("fit", "--domain", "domain.json", "--data")


def listing(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- fit on a file -------------------------------------------------------------------------------------------


def test_fit_gives_the_same_on_csv_and_parquet(run: Run, files: Path) -> None:
    documents = []
    for options in (["people.csv"], ["people.parquet"], ["people.csv", "--block-rows", "7"]):
        code, out, err = run(*FIT, *options, "--mechanism", "all", "--seed", "1", "--format", "json")
        assert (code, err) == (EXIT_FINE, "")
        documents.append(json.loads(out))
    assert documents[0] == documents[1] == documents[2]
    # the same as the library's own functions on the same records
    declared = DomainFile.from_json(DOMAIN)
    records = record_blocks(open_table(files / "people.csv"), declared).collect()
    by_name = {document["mechanism"]: document for document in documents[0]}
    assert set(by_name) == set(MECHANISMS)
    whole = run(*FIT, "people.csv", "--mechanism", "no_privacy", "--test-share", "0", "--format", "json")
    expected = MECHANISMS["no_privacy"].run(records, None, MECHANISMS["no_privacy"].readings)
    assert json.loads(whole[1])["w"] == list(expected.w or ())


def test_fit_reads_domain_as_a_norm_or_as_a_file(run: Run, files: Path) -> None:
    def readings(*options: str) -> dict[str, Any]:
        code, out, err = run("fit", "--data", "people.csv", "--format", "json", *options)
        assert (code, err) == (EXIT_FINE, "")
        found: dict[str, Any] = json.loads(out)["readings"]
        return found

    assert readings("--domain", "domain.json")["domain"] == "unit_ball"
    assert readings("--domain-file", "domain.json")["domain"] == "unit_ball"
    assert readings("--domain", "unit_box", "--domain-file", "domain.json")["domain"] == "unit_box"
    whole = readings("--domain", "domain.json", "--intercept", "--keep-group")
    assert (whole["dimension"], whole["intercept"], whole["keep_group"]) == (4, True, True)
    (files / "box.json").write_text(json.dumps({**DOMAIN, "norm": "unit_box"}), encoding="utf-8")
    assert readings("--domain", "box.json")["domain"] == "unit_box"
    # a file that is called like a norm is still a file
    (files / "unit_ball.json").write_text(json.dumps({**DOMAIN, "norm": "unit_box"}), encoding="utf-8")
    assert readings("--domain", "unit_ball.json")["domain"] == "unit_box"


def test_fit_takes_label_and_group_from_options(run: Run, files: Path) -> None:
    bare = {key: DOMAIN[key] for key in ("schema", "attributes")}
    (files / "bare.json").write_text(json.dumps(bare), encoding="utf-8")
    text = (files / "people.csv").read_text(encoding="utf-8")
    for old, new in ((",high", ",1"), (",low", ",0"), (",M", ",1"), (",F", ",0")):
        text = text.replace(old, new)
    (files / "marks.csv").write_text(text, encoding="utf-8")
    names = ("--label", "income", "--group", "sex", "--seed", "1", "--format", "json")
    first = run("fit", "--data", "marks.csv", "--domain", "bare.json", *names)
    assert first[0] == EXIT_FINE
    assert json.loads(first[1])["w"] == json.loads(run(*FIT, "people.csv", *names)[1])["w"]


BAD_FILES: list[tuple[str, str]] = [
    ("--data people.csv", "domain must be a domain file for a data file"),
    ("--data people.csv --domain unit_box", "domain must be a domain file for a data file"),
    ("--data people.csv --domain missing.json", "file missing.json"),
    ("--data people.csv --domain domain.json --domain-file other.json", "left out where --domain names a file"),
    ("--data people.csv --domain domain.json --label age", "the label is column 'income', not 'age'"),
    ("--data people.csv --domain domain.json --group age", "the group is column 'sex', not 'age'"),
    ("--data people.csv --domain domain.json --encoding one_hot", "left out for a data file"),
    ("--data people.csv --domain domain.json --records 3", "left out for a data file"),
    ("--data people.csv --domain domain.json --block-rows 0", "block_rows must be at least 1"),
    ("--data people.csv --domain domain.json --x-s income", "x_s must be one of age, school"),
    ("--data missing.csv --domain domain.json", "there is no such file (file missing.csv)"),
    ("--data people.xlsx --domain domain.json", "or a file ending in .csv, .csv.gz, .parquet"),
    ("--data affairs --domain domain.json", "a norm for affairs, whose domain is known"),
    ("--data affairs --domain-file domain.json", "left out for affairs"),
    ("--data affairs --label age", "left out for affairs"),
    ("--data bad.csv --domain domain.json", "file bad.csv, row 2, line 3, column 'age', value 17.0"),
    ("--data bad.csv --domain domain.json --mechanism lr", "file bad.csv, row 2, line 3, column 'age'"),
]


@pytest.mark.parametrize(("options", "message"), BAD_FILES)
def test_fit_refuses_bad_files_and_writes_nothing(run: Run, files: Path, options: str, message: str) -> None:
    (files / "bad.csv").write_text("age,school,income,sex\n20,none,low,F\n17,none,low,F\n", encoding="utf-8")
    before = listing(files)
    outputs = "--out out.json --release release.json --predictions predictions.csv"
    code, out, err = run("fit", *options.split(), *outputs.split())
    assert (code, out) == (EXIT_USAGE, "")
    assert message in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert listing(files) == before


@pytest.mark.usefixtures("files")
def test_fit_refuses_domain_names_that_are_neither_norm_nor_file(run: Run) -> None:
    code, _, err = run("fit", "--data", "people.csv", "--domain", "unit_bal")
    assert code == EXIT_USAGE
    assert "neither a norm (unit_ball, unit_box, symmetric_ball) nor the name of a domain file" in err


# --- Bounds from the data ------------------------------------------------------------------------------------


def test_bounds_from_the_data_are_marked_and_refused(run: Run, files: Path) -> None:
    arguments = ("domain", "--describe", "--data", "people.csv", "--label", "income", "--group", "sex")
    code, out, err = run(*arguments)
    template = json.loads(out)
    assert code == EXIT_FINE
    assert err.startswith("warning: ")
    assert "break privacy" in err
    assert template["attributes"] == [
        {"name": "age", "kind": "numeric", "lower": None, "upper": None},
        {"name": "school", "kind": "ordinal", "categories": None},
    ]
    assert template["label"] == {"column": "income", "one": None, "zero": None}
    # a template is no domain yet, and says what is missing
    (files / "template.json").write_text(out, encoding="utf-8")
    code, _, err = run("fit", "--data", "people.csv", "--domain", "template.json")
    assert (code, "the bound of 'age' is not filled in" in err) == (EXIT_USAGE, True)
    # values of the data come only when asked for, with a mark
    assert run(*arguments, "--bounds-from-data", "--out", "filled.json")[0] == EXIT_FINE
    filled = json.loads((files / "filled.json").read_text(encoding="utf-8"))
    assert [entry["from_data"] for entry in filled["attributes"]] == [True, True]
    assert filled["attributes"][1]["categories"] == ["much", "none", "some"]
    assert filled["label"] == {"column": "income", "one": ["low"], "zero": ["high"], "from_data": True}
    code, out, err = run("fit", "--data", "people.csv", "--domain", "filled.json", "--mechanism", "lr", "pdfc")
    assert (code, out) == (EXIT_USAGE, "")
    assert "no privacy statement holds" in err
    assert "age, school, income, sex" in err
    # a mechanism that states nothing may run, with a warning
    code, out, err = run(
        "fit", "--data", "people.csv", "--domain", "filled.json", "--mechanism", "lr", "no_privacy"
    )
    assert (code, "not private" in out, "read from the data" in err) == (EXIT_FINE, True, True)
    # and so does a private one on declared bounds
    assert run(*FIT, "people.csv")[0] == EXIT_FINE


@pytest.mark.usefixtures("files")
def test_describe_knows_the_types_of_a_parquet_file(run: Run) -> None:
    code, out, _ = run("domain", "--describe", "--data", "people.parquet", "--encoding", "one_hot")
    kinds = {entry["name"]: entry["kind"] for entry in json.loads(out)["attributes"]}
    assert code == EXIT_FINE
    assert kinds == {"age": "numeric", "school": "one_hot", "income": "one_hot", "sex": "one_hot"}
    assert run("domain", "--describe", "--data", "people.csv", "--encoding", "one_hot")[1] == out


def test_describe_does_not_offer_a_column_of_names_as_categories(run: Run, files: Path) -> None:
    rows = "".join(f"name{index},{index},{index % 2}\n" for index in range(300))
    (files / "names.csv").write_text("name,number,y\n" + rows, encoding="utf-8")
    _, out, _ = run("domain", "--describe", "--data", "names.csv", "--label", "y", "--bounds-from-data")
    name, number = json.loads(out)["attributes"]
    assert name == {"name": "name", "kind": "ordinal", "categories": None}
    assert number == {"name": "number", "kind": "numeric", "lower": 0, "upper": 299, "from_data": True}
    assert json.loads(out)["label"] == {"column": "y", "one": [1], "zero": [0]}


# --- domain --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", datasets.SOURCES)
def test_domain_prints_the_shipped_one(run: Run, name: str) -> None:
    code, out, err = run("domain", "--data", name, "--domain", "unit_box", "--intercept")
    assert (code, err) == (EXIT_FINE, "")
    printed = DomainFile.from_json(json.loads(out))
    assert printed.domain == datasets.shipped_domain(name, datasets.Encoding("unit_box", intercept=True)).domain
    assert run("domain", "--describe", "--data", name, "--domain", "unit_box", "--intercept")[1] == out


def test_domain_check_reads_every_record(run: Run, files: Path) -> None:
    code, out, err = run("domain", "--check", "domain.json", "--data", "people.csv", "--format", "json")
    assert (code, err) == (EXIT_FINE, "")
    assert json.loads(out)["records"] == 300
    assert "2 attributes, 2 coordinates, unit_ball" in run("domain", "--check", "domain.json")[1]
    with (files / "people.csv").open("a", encoding="utf-8") as file:
        file.write("99,none,high,M\n")
    code, out, err = run("domain", "--check", "domain.json", "--data", "people.csv")
    assert (code, out) == (EXIT_USAGE, "")
    assert "row 301, line 302, column 'age', value 99.0" in err


@pytest.mark.parametrize(
    "arguments",
    ["", "--data nope", "--describe --data nope", "--check missing.json", "--describe --check domain.json"],
)
def test_domain_refuses_what_it_cannot_do(run: Run, files: Path, arguments: str) -> None:
    before = listing(files)
    code, out, err = run("domain", *arguments.split())
    assert (code, out) == (EXIT_USAGE, "")
    assert "error: " in err
    assert listing(files) == before


@pytest.mark.data
@pytest.mark.parametrize("name", ["us", "german", "compas"])
def test_documented_file_is_read_by_its_printed_domain(
    run: Run, documented: Callable[[str], Records], name: str, tmp_path: Path
) -> None:
    """A real file, read as any other file by the domain that is shipped for it."""
    named = documented(name)
    source = datasets.SOURCES[name]
    assert isinstance(source, CsvSource)
    run("domain", "--data", name, "--out", "shipped.json")
    path = data_folder() / source.path
    declared = DomainFile.from_json(json.loads((tmp_path / "shipped.json").read_text(encoding="utf-8")))
    if name == "us":
        # the head of the file is enough here
        block = next(record_blocks(open_table(path), declared, rows=10_000).read())
        assert np.array_equal(block.x, named.x[:10_000])
        return
    code, out, err = run(
        "fit",
        "--data",
        str(path),
        "--domain",
        "shipped.json",
        "--mechanism",
        "pdfc",
        "no_privacy",
        "--format",
        "json",
    )
    if name == "compas":
        # without ProPublica's filter there is more to read, and all of it is inside the domain
        assert (code, err) == (EXIT_FINE, "")
        assert len(record_blocks(open_table(path), declared)) == 7_214
        return
    assert (code, err) == (EXIT_FINE, "")
    assert np.array_equal(record_blocks(open_table(path), declared).collect().x, named.x)
    assert [document["mechanism"] for document in json.loads(out)] == ["pdfc", "no_privacy"]


@pytest.mark.data
@pytest.mark.parametrize("name", ["us", "german", "compas"])
def test_mechanisms_run_on_documented_data(run: Run, documented: Callable[[str], Records], name: str) -> None:
    records = documented(name)
    # the largest file once, to save time
    mechanisms = ["pdfc"] if name == "us" else list(MECHANISMS)
    code, out, err = run("fit", "--data", name, "--mechanism", *mechanisms, "--format", "json")
    assert (code, err) == (EXIT_FINE, "")
    found = json.loads(out)
    for document in [found] if name == "us" else found:
        assert len(document["w"]) == records.domain.dimension
        assert 0 <= document["metrics"]["accuracy"]["mean"] <= 1
        assert document["metrics"]["risk_difference"]["mean"] is not None


# --- Releases and predictions --------------------------------------------------------------------------------


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_release_and_predictions_are_written_and_used(run: Run, files: Path) -> None:
    code, _, err = run(
        *FIT, "people.csv", "--release", "release.json", "--predictions", "made.csv", "--keep-group", "--intercept"
    )
    assert (code, err) == (EXIT_FINE, "")
    document = json.loads((files / "release.json").read_text(encoding="utf-8"))
    release = Release.from_json(document)
    # public things only: the release, and the domain that was used
    assert set(document) == {*release.to_json(), "domain"}
    assert "metrics" not in json.dumps(document)
    assert DomainFile.from_json(document["domain"]).domain.columns == release.columns
    made = rows_of((files / "made.csv").read_text(encoding="utf-8"))
    assert [row["row"] for row in made] == [str(number) for number in range(1, 301)]
    assert [row["part"] for row in made].count("test") == 60
    assert {row["note"] for row in made} == {NOT_PRIVATE}
    # the predictions are those of w on the encoded records
    declared = DomainFile.from_json(DOMAIN).with_(keep_group=True, intercept=True)
    x = record_blocks(open_table(files / "people.csv"), declared).collect().x
    scores = x @ np.array(release.w)
    assert [float(row["score"]) for row in made] == pytest.approx(scores, abs=1e-12)
    assert [int(row["prediction"]) for row in made] == (scores > 0).astype(int).tolist()
    # predict gives them again, from either kind of file
    for name in ("people.csv", "people.parquet"):
        code, out, err = run("predict", "--release", "release.json", "--data", name, "--block-rows", "11")
        assert (code, err) == (EXIT_FINE, "")
        assert [row["prediction"] for row in rows_of(out)] == [row["prediction"] for row in made]
    assert run("predict", "--release", "release.json", "--data", "people.csv", "--out", "new.csv")[1] == ""
    assert (files / "new.csv").read_text(encoding="utf-8") == out


@pytest.mark.parametrize("mechanism", ["lr", "no_privacy"])
def test_release_of_a_baseline_is_marked(run: Run, mechanism: str, tmp_path: Path) -> None:
    run("fit", *SMALL, "--mechanism", mechanism, "--release", "baseline.json")
    run("fit", *SMALL, "--mechanism", "pdfc", "--release", "private.json")
    notes = [json.loads((tmp_path / name).read_text()).get("note") for name in ("baseline.json", "private.json")]
    assert notes == [NOT_PRIVATE, None]


def test_predict_needs_neither_label_nor_group(run: Run, files: Path) -> None:
    assert run(*FIT, "people.csv", "--release", "release.json")[0] == EXIT_FINE
    (files / "new.csv").write_text("school,age\nnone,20\nmuch,97\n", encoding="utf-8")
    code, out, err = run("predict", "--release", "release.json", "--data", "new.csv", "--domain", "domain.json")
    assert (code, err) == (EXIT_FINE, "")
    w = json.loads((files / "release.json").read_text(encoding="utf-8"))["w"]
    expected = [2 / 80 * w[0], 79 / 80 * w[0] + w[1]]
    assert [float(row["score"]) for row in rows_of(out)] == pytest.approx(
        np.array(expected) / np.sqrt(2), abs=1e-12
    )


def test_predict_takes_the_document_of_fit_with_a_domain_file(run: Run, files: Path) -> None:
    run(*FIT, "people.csv", "--format", "json", "--out", "fit.json", "--seed", "1", "--domain-file", "domain.json")
    run(*FIT, "people.csv", "--release", "release.json", "--seed", "1")
    arguments = ("predict", "--data", "people.csv", "--release")
    code, out, _ = run(*arguments, "fit.json", "--domain", "domain.json")
    assert (code, out) == (EXIT_FINE, run(*arguments, "release.json")[1])
    assert run(*arguments, "fit.json")[0] == EXIT_USAGE
    assert listing(files) >= {"fit.json", "release.json"}


BAD_RELEASES: list[tuple[str, Callable[[dict[str, Any]], Any], str]] = [
    ("schema", lambda document: {**document, "schema": "release_v2"}, "not a release_v1 document"),
    ("no object", lambda _document: [], "not a release_v1 document"),
    ("no w", lambda document: {**document, "w": None, "status": "unbounded"}, "predicts nothing"),
    ("short w", lambda document: {**document, "w": [1.0]}, "one finite number for each"),
    ("text in w", lambda document: {**document, "w": ["1", "2"]}, "one finite number for each"),
    ("no reading", lambda document: {**document, "readings": {}}, "does not state its reading"),
    ("bad domain", lambda document: {**document, "domain": {}}, "the field 'schema' is missing"),
    ("other columns", lambda document: {**document, "columns": ["a", "b"]}, "has a w for a, b"),
    ("several", lambda document: {"releases": [document, document]}, "has 2 releases"),
]


@pytest.mark.parametrize(
    ("change", "message"), [case[1:] for case in BAD_RELEASES], ids=[c[0] for c in BAD_RELEASES]
)
def test_predict_refuses_what_is_no_release(
    run: Run, files: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    run(*FIT, "people.csv", "--release", "release.json")
    document = json.loads((files / "release.json").read_text(encoding="utf-8"))
    (files / "release.json").write_text(json.dumps(change(document)), encoding="utf-8")
    code, out, err = run("predict", "--release", "release.json", "--data", "people.csv", "--out", "new.csv")
    assert (code, out) == (EXIT_USAGE, "")
    assert message in err
    assert err.count("\n") == 1
    assert "new.csv" not in listing(files)


@pytest.mark.parametrize("content", [None, "{", "\xff", "[" * 100_000])
def test_predict_refuses_a_file_that_cannot_be_read(run: Run, files: Path, content: str | None) -> None:
    if content is not None:
        (files / "release.json").write_text(content, encoding="latin-1")
    code, out, err = run("predict", "--release", "release.json", "--data", "people.csv")
    assert (code, out) == (EXIT_USAGE, "")
    assert "release file release.json" in err


def test_predict_refuses_other_bounds(run: Run, files: Path) -> None:
    run(*FIT, "people.csv", "--release", "release.json")
    document = json.loads(json.dumps(DOMAIN))
    document["attributes"][0]["upper"] = 120
    (files / "other.json").write_text(json.dumps(document), encoding="utf-8")
    arguments = ("predict", "--release", "release.json", "--data", "people.csv", "--domain")
    code, _, err = run(*arguments, "other.json")
    assert (code, "other bounds or categories" in err) == (EXIT_USAGE, True)
    assert run(*arguments, "domain.json")[0] == EXIT_FINE


def test_predict_prints_nothing_when_a_record_is_bad(run: Run, files: Path) -> None:
    run(*FIT, "people.csv", "--release", "release.json")
    (files / "bad.csv").write_text("age,school\n20,none\n21,none\n22,high\n", encoding="utf-8")
    for extra in ((), ("--out", "new.csv")):
        code, out, err = run(
            "predict", "--release", "release.json", "--data", "bad.csv", "--block-rows", "1", *extra
        )
        assert (code, out) == (EXIT_USAGE, "")
        assert "file bad.csv, row 3, line 4, column 'school', value 'high'" in err
    assert "new.csv" not in listing(files)


@pytest.mark.parametrize("option", ["--release", "--predictions"])
@pytest.mark.parametrize("several", ["--splits 2", "--mechanism lr pdfc", "--epsilon-grid 1,2"])
def test_one_release_is_written_and_not_one_of_several(
    run: Run, option: str, several: str, tmp_path: Path
) -> None:
    code, _, err = run("fit", *SMALL, option, "file", *several.split())
    assert code == EXIT_USAGE
    assert "left out where there are several releases" in err
    assert listing(tmp_path) == set()


def test_unbounded_release_has_no_predictions_and_that_is_no_error(run: Run, tmp_path: Path) -> None:
    options = "--mechanism functional --epsilon 1e-3 --repair none --seed 1 --release r.json --predictions p.csv"
    code, out, err = run("fit", *SMALL, *options.split())
    assert (code, "no minimum in 1 of 1" in out) == (EXIT_FINE, True)
    assert "no predictions are written" in err
    assert listing(tmp_path) == {"r.json"}


@pytest.mark.parametrize("option", ["--out", "--release", "--predictions", "--plot"])
def test_output_that_cannot_be_written_is_refused_before_anything_runs(
    run: Run, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unexpected(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a mechanism ran")

    monkeypatch.setattr("reference.commands.fit.evaluate_splits", unexpected)
    for target in ("missing/x.svg", "."):
        code, _, err = run("fit", *SMALL, option, target)
        assert (code, "a file that can be written" in err) == (EXIT_USAGE, True)
    code, _, err = run(
        "fit", *SMALL, option, "same", *(("--out",) if option != "--out" else ("--release",)), "./same"
    )
    assert (code, "another file than that of" in err) == (EXIT_USAGE, True)
    assert listing(tmp_path) == set()


OVER_INPUTS = [
    (*FIT, "people.csv", "--release", "people.csv"),
    (*FIT, "people.parquet", "--predictions", "./people.parquet"),
    (*FIT, "people.csv", "--out", "domain.json"),
    ("fit", "--data", "people.csv", "--domain-file", "domain.json", "--out", "domain.json"),
    ("predict", "--data", "people.csv", "--release", "release.json", "--out", "release.json"),
    ("predict", "--data", "people.csv", "--release", "release.json", "--out", "people.csv"),
    ("domain", "--check", "domain.json", "--out", "domain.json"),
    ("domain", "--describe", "--data", "people.csv", "--out", "people.csv"),
]


@pytest.mark.parametrize("arguments", OVER_INPUTS, ids=" ".join)
def test_a_file_that_is_read_is_never_written_over(run: Run, files: Path, arguments: tuple[str, ...]) -> None:
    assert run(*FIT, "people.csv", "--release", "release.json")[0] == EXIT_FINE
    before = {path: path.read_bytes() for path in files.iterdir()}
    code, out, err = run(*arguments)
    assert (code, out, "another file than that of" in err) == (EXIT_USAGE, "", True)
    assert {path: path.read_bytes() for path in files.iterdir()} == before
    # beside its input the same output is welcome
    assert run(*arguments[:-1], "elsewhere.csv")[0] == EXIT_FINE


# --- Epsilon grid and plot -----------------------------------------------------------------------------------


def test_grid_runs_each_epsilon_and_baselines_once(run: Run) -> None:
    code, out, err = run(
        "fit",
        *SMALL,
        "--mechanism",
        "lr",
        "pdfc",
        "--epsilon-grid",
        "0.1, 1,1e1",
        "--format",
        "json",
        "--seed",
        "1",
    )
    assert (code, err) == (EXIT_FINE, "")
    documents = json.loads(out)
    assert [(d["mechanism"], d["epsilon"]) for d in documents] == [
        ("lr", None),
        ("pdfc", "0.1"),
        ("pdfc", "1"),
        ("pdfc", "1e1"),
    ]
    stated = [d["privacy"]["published"]["per_release"]["epsilon"] for d in documents[1:]]
    assert stated == [0.1, 1.0, 10.0]
    assert all(d["metrics"]["note"] == NOT_PRIVATE for d in documents)
    # a grid of one is what --epsilon gives
    one = run("fit", *SMALL, "--epsilon-grid", "0.5", "--format", "json", "--seed", "1")[1]
    assert one == run("fit", *SMALL, "--epsilon", "0.5", "--format", "json", "--seed", "1")[1]


def test_text_says_what_a_grid_has_spent_in_all(run: Run) -> None:
    _, out, _ = run("fit", *SMALL, "--epsilon-grid", "0.25,0.5", "--splits", "2")
    assert "pdfc: all 4 releases of the grid compose to (1.5, 0) (published)" in out


@pytest.mark.parametrize(
    "grid", ["", "0", "1,", "1,1.0", "1,nan", "a", "1 --epsilon 1", "1 --epsilon-s 1 --epsilon-n 1"]
)
def test_grid_that_is_none_is_refused(run: Run, grid: str) -> None:
    code, _, err = run("fit", *SMALL, *("--epsilon-grid=" + grid).split())
    assert code == EXIT_USAGE
    assert err.count("\n") == 1


def test_text_marks_every_exact_metric(run: Run) -> None:
    _, out, _ = run("fit", *SMALL)
    for heading in ("accuracy*", "majority*", "positive", "rate*", "difference*"):
        assert heading in out
    assert f"* {NOT_PRIVATE}" in out


@pytest.mark.parametrize("name", ["plot.svg", "plot.png"])
def test_plot_is_drawn_and_says_that_it_is_not_private(run: Run, name: str, tmp_path: Path) -> None:
    arguments = ("fit", *SMALL, "--mechanism", "all", "--splits", "2", "--seed", "1", "--plot", name)
    code, out, err = run(*arguments)
    assert (code, err) == (EXIT_FINE, "")
    assert f"all {2 * len(DEFAULT_GRID.split(','))} releases of the grid" in out
    content = (tmp_path / name).read_bytes()
    assert content.startswith(b"<?xml" if name.endswith("svg") else b"\x89PNG")
    if name.endswith("svg"):
        text = content.decode()
        assert NOT_PRIVATE in text
        for shown in (*MECHANISMS, "accuracy", "risk difference", "positive rate", "majority class", "epsilon"):
            assert shown in text
    run(*arguments[:-1], "again" + name)
    assert (tmp_path / ("again" + name)).read_bytes() == content


@pytest.mark.parametrize(
    "options",
    [
        "--epsilon 1",
        "--epsilon-s 1 --epsilon-n 2",
        "--mechanism lr",
        "--mechanism functional --repair none --epsilon 1e-3",
        "--sensitivity 3",
    ],
)
def test_plot_of_little_is_drawn_too(run: Run, options: str, tmp_path: Path) -> None:
    code, _, err = run("fit", *SMALL, "--seed", "1", "--plot", "p.svg", *options.split())
    assert (code, err) == (EXIT_FINE, "")
    assert listing(tmp_path) == {"p.svg"}


def test_plot_without_matplotlib_names_the_extra(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run("fit", *SMALL, "--plot", "plot.svg")
    assert (code, out) == (EXIT_USAGE, "")
    assert "a plot needs matplotlib: install the extra `report`" in err
    code, _, err = run("fit", *SMALL, "--plot", "plot.pdf")
    assert (code, "ending in .png or .svg" in err) == (EXIT_USAGE, True)
    assert listing(tmp_path) == set()


# --- Progress ------------------------------------------------------------------------------------------------


def on_terminal(arguments: tuple[str, ...], folder: Path) -> tuple[int, str, str]:
    """Run ``fit`` with standard error on a terminal; return exit code, output and what the terminal got."""
    terminal, slave = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "reference", "fit", *arguments],
        stdout=subprocess.PIPE,
        stderr=slave,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"},
        encoding="utf-8",
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            chunk = os.read(terminal, 65_536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(terminal)
    out, _ = process.communicate(timeout=100)
    return process.returncode, out, shown.decode()


def test_progress_is_shown_on_a_terminal_and_nowhere_else(files: Path) -> None:
    arguments = ("--data", "people.csv", "--domain", "domain.json", "--splits", "3", "--format", "json")
    code, out, shown = on_terminal(arguments, files)
    assert code == EXIT_FINE
    assert json.loads(out)["splits"] == 3
    assert "fit" in shown
    assert "3/3" in shown
    assert on_terminal((*arguments, "--quiet"), files)[2] == ""


def test_library_calls_show_nothing(capsys: pytest.CaptureFixture[str], affairs: Records) -> None:
    from reference.moments import Moments

    pdfc(Moments.of(affairs), SplitBudget.equal(1), rng=1)
    assert capsys.readouterr() == ("", "")


# --- Corners -------------------------------------------------------------------------------------------------


def test_check_says_in_words_what_it_found(run: Run, files: Path) -> None:
    marked = json.loads(json.dumps(DOMAIN))
    marked["attributes"][0]["from_data"] = True
    (files / "marked.json").write_text(json.dumps(marked), encoding="utf-8")
    code, out, _ = run("domain", "--check", "marked.json", "--data", "people.parquet")
    assert code == EXIT_FINE
    assert "READ FROM THE DATA: age" in out
    assert "all 300 records are inside" in out
    assert "READ FROM THE DATA" not in run("domain", "--check", "domain.json")[1]


@pytest.mark.usefixtures("files")
def test_describe_refuses_a_label_that_is_no_column(run: Run) -> None:
    code, out, err = run("domain", "--describe", "--data", "people.csv", "--label", "wage")
    assert (code, out) == (EXIT_USAGE, "")
    assert "there is no such column (file people.csv, column 'wage')" in err


def test_describe_passes_over_values_that_are_no_bounds(run: Run, files: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1.5, float("nan"), float("inf"), 4.0], "b": [2, 2, 2, 2], "y": [1, 0, 1, 0]})
    frame.to_parquet(files / "odd.parquet")
    _, out, _ = run("domain", "--describe", "--data", "odd.parquet", "--label", "y", "--bounds-from-data")
    a, b = json.loads(out)["attributes"]
    assert (a["lower"], a["upper"]) == (1.5, 4)
    # one value gives no two bounds
    assert b == {"name": "b", "kind": "numeric", "lower": None, "upper": None}


def test_predict_refuses_an_empty_block(run: Run, files: Path) -> None:
    run(*FIT, "people.csv", "--release", "release.json")
    code, _, err = run("predict", "--release", "release.json", "--data", "people.csv", "--block-rows", "0")
    assert (code, err) == (EXIT_USAGE, "error: block_rows must be at least 1, not 0\n")
    assert "release.json" in listing(files)


def test_file_without_a_group_has_no_risk_difference(run: Run, files: Path) -> None:
    (files / "ungrouped.json").write_text(
        json.dumps({**{key: DOMAIN[key] for key in ("schema", "attributes", "label")}, "ignore": ["sex"]}),
        encoding="utf-8",
    )
    arguments = ("fit", "--data", "people.csv", "--domain", "ungrouped.json", "--format", "json")
    assert "'none' for a domain that declares no group" in run(*arguments, "--mechanism", "pdfc")[2]
    code, out, err = run(*arguments, "--mechanism", "functional", "--splits", "2", "--block-rows", "64")
    assert (code, err) == (EXIT_FINE, "")
    metrics = json.loads(out)["metrics"]
    assert metrics["risk_difference"] == {"mean": None, "std": None}
    assert metrics["accuracy"]["mean"] is not None
