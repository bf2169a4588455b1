"""Releases in files, and ``predict``: what is written, used and refused."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reference.accounting import NOT_PRIVATE
from reference.accounting.release import release_of
from reference.common.documents import plain
from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE
from reference.common.files import is_kept
from reference.datasets.from_file import record_blocks
from reference.datasets.opening import open_table
from reference.domain.file import domain_file_of
from tests.file_commands import DOMAIN, FIT, SMALL, Run, listing

# --- Releases and predictions --------------------------------------------------------------------------------


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_release_and_predictions_are_written_and_used(run: Run, files: Path) -> None:
    code, _, err = run(
        *FIT, "people.csv", "--release", "release.json", "--predictions", "made.csv", "--keep-group", "--intercept"
    )
    assert (code, err.count("\n"), err.partition(":")[0]) == (EXIT_FINE, 1, "warning")
    document = json.loads((files / "release.json").read_text(encoding="utf-8"))
    release = release_of(document)
    # public things only: the release, and the domain that was used
    assert set(document) == {*plain(release), "domain"}
    assert "metrics" not in json.dumps(document)
    assert domain_file_of(document["domain"]).domain.columns == release.columns
    made = rows_of((files / "made.csv").read_text(encoding="utf-8"))
    assert [row["row"] for row in made] == [str(number) for number in range(1, 301)]
    assert [row["part"] for row in made].count("test") == 60
    assert {row["note"] for row in made} == {NOT_PRIVATE}
    # the predictions are those of w on the encoded records
    declared = domain_file_of(DOMAIN).with_(keep_group=True, intercept=True)
    x = record_blocks(open_table(files / "people.csv"), declared).collect().x
    scores = x @ np.array(release.w)
    assert [float(row["score"]) for row in made] == pytest.approx(scores, abs=1e-12)
    assert [row["prediction"] for row in made] == np.where(scores > 0, "high", "low").tolist()
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
    ("schema", lambda document: {**document, "schema": "release_v2"}, "schema is 'release_v2', not 'release_v3'"),
    ("no object", lambda _document: [], "an object is needed, not []"),
    ("no w", lambda document: {**document, "w": None, "status": "unbounded"}, "predicts nothing"),
    ("short w", lambda document: {**document, "w": [1.0]}, "one finite number for each"),
    ("text in w", lambda document: {**document, "w": ["1", "2"]}, "a number is needed, not '1'"),
    ("no reading", lambda document: {**document, "readings": {}}, "the field 'domain' is missing"),
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
    assert err.startswith("error: release file: ")
    assert "(file release.json" in err


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
@pytest.mark.parametrize("several", ["--splits 2", "--mechanism lr,pdfc", "--epsilon-grid 1,2"])
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
    ("ledger", "create", "new.jsonl", "--data", "people", "--epsilon", "1", "--out", "./new.jsonl"),
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


@pytest.mark.parametrize("name", ["-", "", "/dev/stdout", "/proc/self/fd/1"])
@pytest.mark.parametrize("option", ["--out", "--release"])
def test_what_stands_for_standard_output_is_no_file(run: Run, files: Path, option: str, name: str) -> None:
    before = listing(files)
    code, out, err = run(*FIT, "people.csv", option, name)
    printed = "; left out, the result is printed" if option == "--out" else ""
    assert (code, out) == (EXIT_USAGE, "")
    assert err.endswith(f"Invalid value for '{option}': {name!r} is not the name of a file{printed}\n")
    assert listing(files) == before


@pytest.mark.parametrize(
    "name", ["/dev/./stdout", "//dev/stdout", "linked", "/proc/thread-self/fd/1", "here/linked"]
)
def test_other_names_of_standard_output_are_told(run: Run, files: Path, name: str) -> None:
    (files / "linked").symlink_to("/dev/fd/1")
    (files / "here").symlink_to(".")
    before = listing(files)
    code, out, err = run(*FIT, "people.csv", "--out", name)
    assert (code, out, f"{name!r} is not the name of a file" in err) == (EXIT_USAGE, "", True)
    assert listing(files) == before
    # the null control: links to files, to nothing and in a circle
    (files / "whole").symlink_to("elsewhere.json")
    (files / "round").symlink_to("round")
    assert run(*FIT, "people.csv", "--out", "whole")[0] == EXIT_FINE
    code, _, err = run(*FIT, "people.csv", "--out", "round")
    assert (code, "links go in a circle" in err) == (EXIT_USAGE, True)


def test_modules_and_files_of_named_data_are_never_written_over(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFM_DATA", "data")
    for folder in ("small", "adult", "us_acs2024"):
        (files / "data" / folder).mkdir(parents=True)
    named = ["data/small/german.csv", "data/adult/adult.test", "data/us_acs2024/us_acs2024.csv.gz"]
    for name, what in [*((name, "that of a named data set") for name in named), ("mine.py", "a module of Python")]:
        (files / name).write_text("mine")
        code, out, err = run(*FIT, "people.csv", "--out", name)
        assert (code, out, f"must be another file than {what}" in err) == (EXIT_USAGE, "", True), name
        assert (files / name).read_text() == "mine"
    # the null controls: other files beside them, and a new name
    for name in ("data/small/mine.csv", "mine.txt", "new.py"):
        assert run(*FIT, "people.csv", "--out", name)[0] == EXIT_FINE


PDFC = (*FIT, "people.csv", "--quiet")


def test_what_cannot_be_made_again_is_replaced_only_by_force(run: Run, files: Path) -> None:
    assert run(*PDFC, "--release", "release.json", "--format", "json", "--out", "result.json")[0] == EXIT_FINE
    run("ledger", "create", "ledger.jsonl", "--data", "people", "--epsilon", "9")
    (files / "result.json").rename(files / "r.json")
    before = {path: path.read_bytes() for path in files.iterdir()}
    described = ("domain", "--describe", "--data", "people.csv", "--label", "income")
    over = [
        (*PDFC, "--release", "release.json"),
        (*PDFC, "--out", "r.json"),
        ("predict", "--data", "people.csv", "--release", "r.json", "--out", "release.json"),
        (*described, "--out", "domain.json"),
        (*described, "--out", "ledger.jsonl"),
    ]
    for arguments in over:
        code, out, err = run(*arguments)
        assert (code, out, "cannot be made again: move it away first" in err) == (EXIT_USAGE, "", True)
        # only `fit` has the option
        assert ("--force" in err) is (arguments[0] == "fit")
    assert {path: path.read_bytes() for path in files.iterdir()} == before
    assert run(*PDFC, "--release", "release.json", "--force")[0] == EXIT_FINE
    assert (files / "release.json").read_bytes() != before[files / "release.json"]


def test_what_can_be_made_again_is_replaced(run: Run, files: Path) -> None:
    (files / "mine.txt").write_text("anything else")
    for _ in range(2):
        for file in ("seeded.json", "mine.txt"):
            assert run(*PDFC, "--seed", "1", "--release", file, "--out", "report.txt")[0] == EXIT_FINE
        arguments = ("--data", "people.csv", "--release", "seeded.json", "--out", "predictions.csv")
        assert run("predict", *arguments)[0] == EXIT_FINE
    assert is_kept(files / "domain.json")
    assert not any(is_kept(files / name) for name in listing(files) - {"domain.json"})


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"epsilon": 1, "schema": "release_v3", "seeded": false}', True),
        ('{"schema": "release_v3", "seeded": true}', False),
        ('[{"releases": [{"schema": "release_v3", "seeded": true}, {"schema": "release_v3"}]}]', True),
        ('{"schema": "release_ledger_v2", "id": "1"}\n{"half a li', True),
        ('\ufeff\n {"attributes": [], "schema": "domain_v1"}', True),
        # whoever wrote it by hand will mend it
        ('{"schema": "domain_v1", "attributes": [,]}', True),
        ("[" * 100_000, True),
        ('{"schema": "certificate_v1", "domain": {"schema": "domain_v1"}}', False),
        ('name,note\nAnn,"{""schema"": ""domain_v1""}"', False),
        ("", False),
    ],
)
def test_files_that_are_kept_are_told_by_their_start(tmp_path: Path, text: str, kept: bool) -> None:
    (tmp_path / "file").write_text(text, encoding="utf-8")
    assert is_kept(tmp_path / "file") is kept


# --- Corners -------------------------------------------------------------------------------------------------


def test_predict_refuses_an_empty_block(run: Run, files: Path) -> None:
    run(*FIT, "people.csv", "--release", "release.json")
    code, _, err = run("predict", "--release", "release.json", "--data", "people.csv", "--block-rows", "0")
    assert (code, err) == (EXIT_USAGE, "error: block_rows must be at least 1, not 0\n")
    assert "release.json" in listing(files)
