"""``fit`` and ``domain`` with files: what they write, what they refuse, what they show."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from reference import datasets
from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE
from reference.datasets.from_file import record_blocks
from reference.datasets.opening import open_table
from reference.datasets.source import CsvSource, data_folder
from reference.domain.file import domain_file_of
from reference.records import Records
from reference.registry import MECHANISMS
from tests.file_commands import DOMAIN, FIT, Run, listing

# --- fit on a file -------------------------------------------------------------------------------------------


def test_fit_gives_the_same_on_csv_and_parquet(run: Run, files: Path) -> None:
    documents = []
    for options in (["people.csv"], ["people.parquet"], ["people.csv", "--block-rows", "7"]):
        code, out, err = run(*FIT, *options, "--mechanism", "all", "--seed", "1", "--format", "json")
        assert (code, err) == (EXIT_FINE, "")
        documents.append(json.loads(out))
    assert documents[0] == documents[1] == documents[2]
    # the same as the library's own functions on the same records
    declared = domain_file_of(DOMAIN)
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
    ("--data people.csv", "domain must be given: a domain file for a data file; this command begins one"),
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
    ("--data people --domain domain.json", "or a folder's name followed by /"),
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
        {"name": "school", "kind": "one_hot", "categories": None},
    ]
    assert template["label"] == {"column": "income", "one": None, "zero": None}
    # the repaired mechanism does not read it: only who asks for it gets it
    assert "keep_group" not in template
    assert json.loads(run(*arguments, "--keep-group")[1])["keep_group"] is True
    # a template is not a domain yet, and says what is missing
    (files / "template.json").write_text(out, encoding="utf-8")
    code, _, err = run("fit", "--data", "people.csv", "--domain", "template.json")
    assert (code, "the bound of 'age' is not filled in" in err) == (EXIT_USAGE, True)
    # values of the data come only when asked for, with a mark
    assert run(*arguments, "--bounds-from-data", "--out", "filled.json")[0] == EXIT_FINE
    filled = json.loads((files / "filled.json").read_text(encoding="utf-8"))
    assert [entry["from_data"] for entry in filled["attributes"]] == [True, True]
    assert filled["attributes"][1]["categories"] == ["much", "none", "some"]
    assert filled["label"] == {"column": "income", "one": ["low"], "zero": ["high"], "from_data": True}
    code, out, err = run("fit", "--data", "people.csv", "--domain", "filled.json", "--mechanism", "lr,pdfc")
    assert (code, out) == (EXIT_USAGE, "")
    assert "no privacy statement holds" in err
    assert "age, school, income, sex" in err
    # a mechanism that states nothing may run, with a warning
    code, out, err = run("fit", "--data", "people.csv", "--domain", "filled.json", "--mechanism", "lr,no_privacy")
    assert (code, "not private" in out, "read from the data" in err) == (EXIT_FINE, True, True)
    # and so does a private one on declared bounds
    assert run(*FIT, "people.csv")[0] == EXIT_FINE


def test_describe_gets_the_hint_of_other_delimiters(run: Run, files: Path) -> None:
    (files / "semi.csv").write_text("rich;sex\n1;0\n")
    code, _, problem = run("domain", "--describe", "--data", "semi.csv", "--label", "rich", "--group", "sex")
    assert code == 2
    assert "are the fields separated by it, not by commas?" in problem


@pytest.mark.parametrize(("categories", "hinted"), [(["0", "1"], True), ([0, 1], False)])
def test_texts_declared_for_truth_values_of_parquet_get_a_remedy(
    run: Run, files: Path, categories: list[Any], hinted: bool
) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"a": [True, False], "rich": [0, 1]}), files / "truth.parquet")
    attributes = [{"name": "a", "kind": "one_hot", "categories": categories}]
    document = {"schema": "domain_v1", "attributes": attributes, "label": {"column": "rich"}}
    (files / "truth.json").write_text(json.dumps(document))
    code, _, problem = run("domain", "--check", "truth.json", "--data", "truth.parquet")
    assert code == (EXIT_USAGE if hinted else EXIT_FINE)
    assert ("declare numbers without quotes, and truth values as 1 and 0" in problem) is hinted


def test_describe_makes_no_template_that_names_no_column(run: Run, files: Path) -> None:
    (files / "index.csv").write_text(",a,rich\n0,1,0\n1,2,1\n")
    code, out, problem = run("domain", "--describe", "--data", "index.csv", "--label", "rich")
    assert (code, out) == (2, "")
    assert "a column has no name" in problem
    (files / "index.csv").write_text("row,a,rich\n0,1,0\n1,2,1\n")
    assert run("domain", "--describe", "--data", "index.csv", "--label", "rich")[0] == EXIT_FINE


@pytest.mark.usefixtures("files")
def test_describe_knows_the_types_of_a_parquet_file(run: Run) -> None:
    code, out, _ = run("domain", "--describe", "--data", "people.parquet", "--encoding", "one_hot")
    kinds = {entry["name"]: entry["kind"] for entry in json.loads(out)["attributes"]}
    assert code == EXIT_FINE
    assert kinds == {"age": "numeric", "school": "one_hot", "income": "one_hot", "sex": "one_hot"}
    assert run("domain", "--describe", "--data", "people.csv", "--encoding", "one_hot")[1] == out


def test_describe_takes_numbers_some_of_which_are_missing_for_numbers(run: Run, files: Path) -> None:
    (files / "gaps.csv").write_text("a,b,c,d,y\n1,,x,NA,1\n,,,?,0\n2.5,,x,3,1\n", encoding="utf-8")
    _, out, _ = run("domain", "--describe", "--data", "gaps.csv", "--label", "y")
    kinds = [entry["kind"] for entry in json.loads(out)["attributes"]]
    assert kinds == ["numeric", "one_hot", "one_hot", "numeric"]


def test_describe_says_which_columns_of_numbers_it_takes_for_categories(run: Run, files: Path) -> None:
    (files / "codes.csv").write_text("zip,age,name,n,y\n01234,30,a,0,1\n12345,x,b,0.5,0\n", encoding="utf-8")
    _, out, err = run("domain", "--describe", "--data", "codes.csv", "--label", "y")
    kinds = [entry["kind"] for entry in json.loads(out)["attributes"]]
    assert kinds == ["one_hot", "one_hot", "one_hot", "numeric"]
    assert err.splitlines()[1:] == [
        "note: 'zip' has leading zeros, as in '01234': taken for categories",
        "note: 'age' has numbers, and 'x': taken for categories",
    ]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ("12%,7.5 %", "percentages, as in '12%': take away the sign, and declare `numeric`"),
        ("2001-05-03,1999-1-31", "dates, as in '2001-05-03': count days or years from a fixed one"),
        ("03.05.2001,31.01.99", "dates, as in '03.05.2001'"),
        ("5/3/2001 14:05,12/31/1999 0:00", "dates, as in '5/3/2001 14:05'"),
        ("2001-05-03T14:05:01Z,", "dates, as in '2001-05-03T14:05:01Z'"),
        ("12%,7", "percentages, as in '12%'"),
        # null controls: other texts, and texts that look alike
        ("red,green", None),
        ("12%,most", None),
        ("100%,more%", None),
        ("2001-05.03,1.2.3.4", None),
        ("10-12-x,a", None),
    ],
)
def test_describe_says_how_to_declare_percentages_and_dates(
    run: Run, files: Path, values: str, said: str | None
) -> None:
    rows = "".join(f"{value},{place}\n" for place, value in enumerate(values.split(",")))
    (files / "odd.csv").write_text(f"odd,y\n{rows}", encoding="utf-8")
    _, out, err = run("domain", "--describe", "--data", "odd.csv", "--label", "y")
    assert json.loads(out)["attributes"][0]["kind"] == "one_hot"
    if said is None:
        assert "note" not in err
    else:
        assert f"note: 'odd' has {said}" in err
        assert err.endswith("; as it is, taken for categories\n")


def test_describe_does_not_offer_a_column_of_names_as_categories(run: Run, files: Path) -> None:
    rows = "".join(f"name{index},{index},{index % 2}\n" for index in range(300))
    (files / "names.csv").write_text("name,number,y\n" + rows, encoding="utf-8")
    _, out, _ = run("domain", "--describe", "--data", "names.csv", "--label", "y", "--bounds-from-data")
    name, number = json.loads(out)["attributes"]
    assert name == {"name": "name", "kind": "one_hot", "categories": None}
    assert number == {"name": "number", "kind": "numeric", "lower": 0, "upper": 299, "from_data": True}
    assert json.loads(out)["label"] == {"column": "y", "one": [1], "zero": [0]}


# --- domain --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", datasets.SOURCES)
def test_domain_prints_the_shipped_one(run: Run, name: str) -> None:
    code, out, err = run("domain", "--data", name, "--domain", "unit_box", "--intercept")
    assert (code, err) == (EXIT_FINE, "")
    printed = domain_file_of(json.loads(out))
    assert printed.domain == datasets.shipped_domain(name, datasets.Encoding("unit_box", intercept=True)).domain
    assert run("domain", "--describe", "--data", name, "--domain", "unit_box", "--intercept")[1] == out


def test_domain_check_reads_every_record(run: Run, files: Path) -> None:
    code, out, err = run("domain", "--check", "domain.json", "--data", "people.csv", "--format", "json")
    assert (code, err) == (EXIT_FINE, "")
    assert json.loads(out)["records"] == 300
    assert "2 attributes, 2 columns, unit_ball" in run("domain", "--check", "domain.json")[1]
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
@pytest.mark.parametrize("name", ["german", "compas"])
def test_documented_file_is_read_by_its_printed_domain(
    run: Run, documented: Callable[[str], Records], name: str, tmp_path: Path
) -> None:
    """A real file, read as any other file by the domain that is shipped for it."""
    named = documented(name)
    source = datasets.SOURCES[name]
    assert isinstance(source, CsvSource)
    run("domain", "--data", name, "--out", "shipped.json")
    path = data_folder() / source.path
    declared = domain_file_of(json.loads((tmp_path / "shipped.json").read_text(encoding="utf-8")))
    code, out, err = run(
        "fit",
        "--data",
        str(path),
        "--domain",
        "shipped.json",
        "--mechanism",
        "pdfc,no_privacy",
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
@pytest.mark.parametrize("name", [pytest.param("us", marks=pytest.mark.lengthy), "german", "compas"])
def test_mechanisms_run_on_documented_data(run: Run, documented: Callable[[str], Records], name: str) -> None:
    records = documented(name)
    # the largest file once, to save time
    mechanisms = ["pdfc"] if name == "us" else list(MECHANISMS)
    code, out, err = run("fit", "--data", name, "--mechanism", ",".join(mechanisms), "--format", "json")
    assert (code, err) == (EXIT_FINE, "")
    found = json.loads(out)
    for document in [found] if name == "us" else found:
        assert len(document["w"]) == records.domain.dimension
        assert 0 <= document["metrics"]["accuracy"]["mean"] <= 1
        assert document["metrics"]["risk_difference"]["mean"] is not None


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
def test_describe_names_the_column_that_was_meant(run: Run) -> None:
    err = run("domain", "--describe", "--data", "people.csv", "--label", "Age ")[2]
    assert "there is no such column; did you mean 'age'? (file people.csv, column 'Age ')" in err


def test_describe_leaves_names_as_they_are(run: Run, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("Größe,y\n1,0\n2,1\n", encoding="utf-8")
    described = ("domain", "--describe", "--data", "people.csv", "--label", "y", "--bounds-from-data")
    assert '"Größe"' in run(*described)[1]
    assert run(*described, "--out", "d.json")[0] == EXIT_FINE
    assert '"Größe"' in (tmp_path / "d.json").read_text(encoding="utf-8")


@pytest.mark.usefixtures("files")
def test_describe_refuses_a_label_that_is_no_column(run: Run) -> None:
    code, out, err = run("domain", "--describe", "--data", "people.csv", "--label", "zzz")
    assert (code, out) == (EXIT_USAGE, "")
    assert "there is no such column (file people.csv, column 'zzz')" in err


def test_describe_passes_over_values_that_are_no_bounds(run: Run, files: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1.5, float("nan"), float("inf"), 4.0], "b": [2, 2, 2, 2], "y": [1, 0, 1, 0]})
    frame.to_parquet(files / "odd.parquet")
    _, out, _ = run("domain", "--describe", "--data", "odd.parquet", "--label", "y", "--bounds-from-data")
    a, b = json.loads(out)["attributes"]
    assert (a["lower"], a["upper"]) == (1.5, 4)
    # one value gives no two bounds
    assert b == {"name": "b", "kind": "numeric", "lower": None, "upper": None}


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


def test_data_file_without_a_domain_names_the_command_that_begins_one(run: Run) -> None:
    code, _, err = run("fit", "--data", "people.csv", "--label", "income", "--group", "the sex")
    command = "--describe --data people.csv --label income --group 'the sex' --out domain.json"
    assert code == EXIT_USAGE
    assert f"this command begins one: python -m reference domain {command}" in err
