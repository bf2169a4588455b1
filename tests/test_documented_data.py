"""`us`, `german` and `compas`: the documented files, their counts, and domains that need no data."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from audit.gate.needs import exhaustively
from reference import datasets
from reference.common.errors import (
    ChecksumError,
    DataError,
    ExtraColumnError,
    LabelError,
    MissingDataError,
    OutOfBoundsError,
    UnreadableFileError,
    UnseenCategoryError,
)
from reference.datasets import Encoding, compas, german, us
from reference.datasets.from_file import record_blocks
from reference.datasets.opening import open_table
from reference.datasets.source import CsvSource, check_sha256, data_folder
from reference.domain.attributes import Numeric
from reference.domain.file import domain_file_of, load_domain_file
from reference.records import Records
from tests.file_commands import Run

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Documented:
    """What the documentation of the data says."""

    records: int
    dimension: int
    one_hot: int
    male: float
    positive: float
    positive_male: float
    positive_female: float
    risk_difference: float


DOCUMENTED = {
    "us": Documented(370_000, 11, 5 + 5 + 24 + 2 + 2 + 7 + 4, 0.4802, 0.6232, 0.7057, 0.5471, 0.1586),
    "german": Documented(1_000, 19, 3 + 65, 0.69, 0.70, 0.7232, 0.6484, 0.0748),
    "compas": Documented(6_172, 7, 5 + 6 + 2, 0.8096, 0.4551, 0.4795, 0.3515, 0.1280),
}
NAMES = [*exhaustively("us"), "compas", "german"]


@pytest.mark.data
@pytest.mark.parametrize("name", NAMES)
def test_data_have_the_documented_counts(documented: Callable[[str], Records], name: str) -> None:
    records, expected = documented(name), DOCUMENTED[name]
    assert records.z is not None
    y, male = records.y, records.z == 1
    assert len(records) == expected.records
    assert records.domain.dimension == expected.dimension
    rates = (male.mean(), y.mean(), y[male].mean(), y[~male].mean(), abs(y[male].mean() - y[~male].mean()))
    assert rates == pytest.approx(
        (
            expected.male,
            expected.positive,
            expected.positive_male,
            expected.positive_female,
            expected.risk_difference,
        ),
        abs=0.51e-4,
    )


@pytest.mark.data
@pytest.mark.exhaustive
def test_head_of_us_is_read_by_its_printed_domain(
    run: Run, documented: Callable[[str], Records], tmp_path: Path
) -> None:
    """As the others are in test_file_commands.py; the head of the file is enough."""
    named = documented("us")
    run("domain", "--data", "us", "--out", "shipped.json")
    declared = domain_file_of(json.loads((tmp_path / "shipped.json").read_text(encoding="utf-8")))
    block = next(record_blocks(open_table(data_folder() / us.SOURCE.path), declared, rows=10_000).read())
    assert np.array_equal(block.x, named.x[:10_000])


@pytest.mark.data
@pytest.mark.parametrize("name", NAMES)
def test_data_are_those_of_an_independent_reading(documented: Callable[[str], Records], name: str) -> None:
    """Pandas reads the same file, and plain arithmetic encodes one attribute."""
    import pandas as pd

    records = documented(name)
    source = datasets.SOURCES[name]
    assert isinstance(source, CsvSource)
    frame = pd.read_csv(data_folder() / source.path)
    if name == "us":
        frame, column, bounds = frame.head(370_000), "AGEP", (16, 99)
    elif name == "german":
        column, bounds = "credit_amount", (0, 20_000)
    else:
        days = frame["days_b_screening_arrest"].abs()
        frame = frame[(days <= 30) & (frame["is_recid"] != -1) & (frame["c_charge_degree"] != "O")]
        column, bounds = "priors_count", (0, 50)
    values = frame[column].to_numpy(float).clip(*bounds)
    expected = (values - bounds[0]) / (bounds[1] - bounds[0]) / np.sqrt(records.domain.dimension)
    assert records.x[:, records.domain.columns.index(column)] == pytest.approx(expected, abs=1e-12)


@pytest.mark.data
@pytest.mark.parametrize("name", ["german", "compas"])
def test_one_hot_has_a_coordinate_per_category(documented: Callable[[str], Records], name: str) -> None:
    documented(name)
    records = datasets.load(name, Encoding(norm="unit_box", encoding="one_hot", intercept=True, keep_group=True))
    assert records.domain.dimension == DOCUMENTED[name].one_hot + 2
    assert records.domain.columns[-1] == "male"


@pytest.mark.data
def test_adult_files_are_the_documented_ones(adult: Records) -> None:
    assert len(adult) == 48_842
    folder = data_folder() / "adult"
    check_sha256(folder / "adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d")
    check_sha256(folder / "adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05")


# --- Domains -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", datasets.SOURCES)
def test_domain_needs_no_data(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFM_DATA", str(tmp_path))
    declared = datasets.shipped_domain(name)
    assert declared.from_data == ()
    assert declared.domain.group is not None


def test_us_leaves_out_race_state_and_weight() -> None:
    declared = us.domain_file("ordinal")
    assert set(declared.ignore) == {"RAC1P", "STATE", "PWGTP"}
    assert declared.domain.columns == us.ORDER
    assert not {"SEX", "PINCP", *declared.ignore} & set(us.ORDER)


def test_german_does_not_carry_the_group_in_a_feature() -> None:
    assert "personal_status" not in german.ORDER
    assert len(german.ORDER) == 19


def test_compas_leaves_scores_and_outcomes_out() -> None:
    assert {"decile_score", "v_decile_score", "score_text", "is_recid", "is_violent_recid"} <= set(compas.IGNORED)


@pytest.mark.parametrize("name", ["german", "compas"])
def test_bounds_of_our_own_are_clipped(name: str) -> None:
    numbers = [a for a in datasets.SOURCES[name].domain("ordinal").attributes if isinstance(a, Numeric)]
    assert numbers
    assert all(number.clip for number in numbers)


# --- Tiny files ----------------------------------------------------------------------------------------------

US_HEADER = "AGEP,SEX,MAR,SCHL,DIS,NATIVITY,WKHP,MV,TEN,NPF,NCH18,BDSP,RAC1P,STATE,PWGTP,PINCP\n"
US_ROWS = "72,2,1,21,2,1,40,7,2,2,0,3,1,19,138,48700\n42,1,5,16,2,2,0,4,3,3,2,2,1,25,66,25000\n"
COMPAS_HEADER = (
    "id,sex,age,age_cat,race,juv_fel_count,decile_score,juv_misd_count,juv_other_count,priors_count,"
    "days_b_screening_arrest,c_days_from_compas,c_charge_degree,c_charge_desc,is_recid,is_violent_recid,"
    "score_text,v_decile_score,v_score_text,start,end,event,two_year_recid\n"
)


def placed(source: CsvSource, content: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> CsvSource:
    """Write a file where the source looks for it, and return the source with its checksum."""
    monkeypatch.setenv("CFM_DATA", str(folder))
    path = folder / source.path
    path.parent.mkdir(parents=True, exist_ok=True)
    # without a time of its own, so that the checksum is that of the content
    written = gzip.compress(content.encode(), mtime=0) if path.name.endswith(".gz") else content.encode()
    path.write_bytes(written)
    return replace(source, sha256=sha256(written).hexdigest())


def test_us_reads_labels_above_25000_and_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = placed(us.SOURCE, US_HEADER + US_ROWS, tmp_path, monkeypatch)
    records = source.read(us.domain_file("ordinal").with_(norm="unit_box"))
    assert records.y.tolist() == [1, 0]
    assert records.z is not None
    assert records.z.tolist() == [0, 1]
    assert records.x[0] == pytest.approx(
        [56 / 83, 0, 20 / 23, 1, 0, 40 / 99, 1, 1 / 3, 1 / 19, 0, 3 / 99], abs=1e-15
    )


def test_first_records_alone_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the third record is bad, and no one asks for it
    source = placed(us.SOURCE, US_HEADER + US_ROWS + "bad\n", tmp_path, monkeypatch)
    assert len(replace(source, first=2).read(us.domain_file("ordinal"))) == 2
    with pytest.raises(DataError, match="1 fields where the header has 16"):
        source.read(us.domain_file("ordinal"))


def compas_row(
    days: str = "-1.0", recid: str = "0", degree: str = "F", score: str = "Low", race: str = "Other"
) -> str:
    return f"1,Male,69,x,{race},0,1,0,0,0,{days},1.0,{degree},x,{recid},0,{score},1,Low,0,327,0,0\n"


@pytest.mark.parametrize(
    ("row", "kept"),
    [
        (compas_row(), True),
        (compas_row(days="30.0"), True),
        (compas_row(days="-30"), True),
        (compas_row(days="31"), False),
        (compas_row(days="-31.0"), False),
        (compas_row(days=""), False),
        (compas_row(recid="-1"), False),
        (compas_row(degree="O"), False),
        (compas_row(score="N/A"), False),
    ],
)
def test_compas_filter_is_propublicas(
    row: str, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = placed(compas.SOURCE, COMPAS_HEADER + compas_row() + row, tmp_path, monkeypatch)
    assert len(source.read(compas.domain_file("ordinal"))) == 1 + kept


def test_record_after_filtered_ones_keeps_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = compas_row() + compas_row(degree="O") * 2 + compas_row(race="Martian")
    source = placed(compas.SOURCE, COMPAS_HEADER + rows, tmp_path, monkeypatch)
    with pytest.raises(UnseenCategoryError) as caught:
        source.read(compas.domain_file("ordinal"))
    assert (caught.value.record, caught.value.row, caught.value.column) == (4, 5, "race")


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("72,2,1", "15,2,1", OutOfBoundsError),
        ("72,2,1", "72,2,6", UnseenCategoryError),
        ("48700", "", DataError),
        ("PINCP", "PINCP,X", ExtraColumnError),
    ],
)
def test_bad_value_of_a_documented_file_is_reported(
    old: str, new: str, error: type[DataError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = placed(us.SOURCE, (US_HEADER + US_ROWS).replace(old, new), tmp_path, monkeypatch)
    with pytest.raises(error) as caught:
        source.read(us.domain_file("ordinal"))
    assert caught.value.file == str(tmp_path / us.SOURCE.path)


def test_german_group_that_is_unknown_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = placed(german.SOURCE, "credit\n3\n", tmp_path, monkeypatch)
    declared = german.domain_file("ordinal").with_(attributes=(Numeric("credit", 1, 3),), group=None)
    with pytest.raises(LabelError, match="not 2 or 1"):
        source.read(declared)


@pytest.mark.parametrize("name", NAMES)
def test_missing_data_says_where_and_how(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFM_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="set CFM_DATA") as caught:
        datasets.load(name)
    assert str(tmp_path) in str(caught.value)
    page = re.search(r"docs/data/\w+\.md", str(caught.value))
    assert page is not None
    assert (ROOT / page[0]).is_file()


@pytest.mark.parametrize("name", NAMES)
def test_other_file_under_the_same_name_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = datasets.SOURCES[name]
    assert isinstance(source, CsvSource)
    placed(source, US_HEADER + US_ROWS, tmp_path, monkeypatch)
    with pytest.raises(ChecksumError, match=source.sha256) as caught:
        datasets.load(name)
    assert caught.value.file == str(tmp_path / source.path)


def test_checksum_of_an_unreadable_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError):
        check_sha256(tmp_path, "0" * 64)


# --- Pages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in datasets.SOURCES if name != "synthetic"])
def test_page_of_a_data_set_names_every_column_with_its_bounds(name: str) -> None:
    page, table = (
        (ROOT / "docs" / "data" / f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("md", "csv")
    )
    described = {column.strip(): row for row in csv.reader(table.splitlines()) for column in row[0].split(",")}
    declared = datasets.SOURCES[name].domain_file("ordinal")
    for attribute in declared.attributes:
        assert attribute.name in described
        if isinstance(attribute, Numeric):
            bounds = f"{attribute.lower:,.0f} to {attribute.upper:,.0f}" + (", clipped" if attribute.clip else "")
            assert bounds in described[attribute.name]
    for marker in (declared.label, declared.group):
        assert marker is not None
        assert f"`{marker.called}`" in page


@pytest.mark.parametrize("name", NAMES)
def test_page_of_a_data_set_states_the_tested_rates(name: str) -> None:
    page = (ROOT / "docs" / "data" / f"{name}.md").read_text(encoding="utf-8")
    found, numbers = DOCUMENTED[name], set(re.findall(r"\d[\d,]*\.?\d*", page))
    for rate in (found.male, found.positive, found.positive_male, found.positive_female, found.risk_difference):
        assert {f"{rate:.4f}", f"{rate:.2f}"} & {number.rstrip(".,") for number in numbers}


def test_example_of_the_book_is_a_domain_file(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    (tmp_path / "domain.json").write_text(page.split("```json\n")[1].split("```")[0], encoding="utf-8")
    domain = load_domain_file(tmp_path / "domain.json").domain
    assert domain.columns == ("age", "gain", "school", "colour=red", "colour=green", "colour=blue")
    assert (domain.label, domain.group) == ("rich", "male")
