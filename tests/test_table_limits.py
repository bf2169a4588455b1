"""What a table may hold: one grammar of numbers by every way in, limits on size, values that no float holds."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from reference.common.documents import DocumentError, converted
from reference.common.errors import (
    DataError,
    DeclarationError,
    DomainFileError,
    InfiniteValueError,
    MissingColumnError,
    NotANumberError,
    ReadingError,
    UnreadableFileError,
    UnseenCategoryError,
)
from reference.common.numbers import Enclosure, exact
from reference.datasets import arrow_columns, arrow_table, csv_table
from reference.datasets.from_file import record_blocks
from reference.datasets.opening import open_table
from reference.domain import Domain
from reference.domain.attributes import Numeric, Ordinal
from reference.domain.file import DomainFile, load_domain_file
from reference.domain.markers import Marker, numbers_of
from reference.records import Records
from tests.command_lines import ROOT, reference

NUMBERS = DomainFile(attributes=(Numeric("a", 0, 2.0**70, clip=True),), label=Marker("y"))
TEXTS = DomainFile(attributes=(Ordinal("a", ("no", "yes")),), label=Marker("y"))


def read(path: Path, declared: DomainFile = NUMBERS) -> Records:
    return record_blocks(open_table(path), declared).collect()


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- One grammar -----------------------------------------------------------------------------------------------


def documented() -> dict[str, list[str]]:
    """Return the texts of docs/number-texts.csv by what it says of them; signs stand for blanks."""
    signs = str.maketrans("␠⇥⍽", " \t\xa0")
    found: dict[str, list[str]] = {}
    with (ROOT / "docs" / "number-texts.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["is"], []).append(row["text"].translate(signs))
    return found


KNOWN = documented()


def from_file(text: str, folder: Path, name: str = "a.csv") -> float:
    content = f'a,y\n"{text}",1\n'.encode()
    path = written(folder / name, gzip.compress(content) if name.endswith("gz") else content)
    (block,) = open_table(path).blocks(["a"], numbers={"a"})
    return float(numbers_of("a", block.columns["a"])[0])


def from_packed_file(text: str, folder: Path) -> float:
    return from_file(text, folder, "a.csv.gz")


def from_list(text: str, _folder: Path) -> float:
    return float(numbers_of("a", [text])[0])


@pytest.mark.parametrize("way", [from_file, from_packed_file, from_list])
@pytest.mark.parametrize("parser", ["pyarrow", "python"])
def test_tables_know_the_documented_numbers(
    way: Callable[[str, Path], float], parser: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if parser == "python":
        monkeypatch.setattr(csv_table, "_parsed", lambda *_: None)
    assert sum(map(len, KNOWN.values())) >= 40
    for text in KNOWN["a number"]:
        assert way(text, tmp_path) == float(text), text
    for text in KNOWN["too large"]:
        with pytest.raises(InfiniteValueError):
            way(text, tmp_path)
    for text in KNOWN["none"]:
        with pytest.raises(NotANumberError):
            way(text, tmp_path)


def test_options_and_documents_know_the_documented_numbers() -> None:
    for text in KNOWN["a number"] + KNOWN["too large"] + ["2/3", "-1/7"]:
        assert exact("a", text) == Fraction(text.strip())
        if text.strip() == text:
            assert converted(text, Enclosure) == Enclosure(Fraction(text), Fraction(text))
    for text in [*KNOWN["none"], "1/1_0", "1 /2", "１/2", "1//2"]:
        with pytest.raises(ReadingError):
            exact("a", text)
        with pytest.raises(DocumentError):
            converted(text, Enclosure)


@pytest.mark.parametrize("option", ["--splits", "--block-rows", "--records", "--seed"])
@pytest.mark.parametrize("text", ["1_0", "１０", "1e400", "nan"])
def test_number_of_an_option_is_refused(option: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reference("fit", option, text) == 2
    assert "is not a number here" in capsys.readouterr().err


def test_long_digits_are_refused_at_once(tmp_path: Path) -> None:
    """The grammar looks at no digit twice: a quadratic one takes a minute here."""
    for tail in ("", "x", "." * 2, "e", "/"):
        digits = "1" * 1_000_000 + tail
        with pytest.raises(ReadingError):
            exact("a", digits)
        with pytest.raises(NotANumberError):
            numbers_of("a", [digits])
    for text in ("1" * 130_000, "1" * 100_000 + "x"):
        with pytest.raises(NotANumberError) as caught:
            read(written(tmp_path / "a.csv", f"a,y\n1,1\n{text},1\n"))
        assert (caught.value.record, caught.value.row, caught.value.column) == (2, 3, "a")
        assert len(str(caught.value)) < 1_000
    declared = {
        "schema": "domain_v1",
        "attributes": [{"name": "a", "kind": "ordinal", "categories": [1, "1" * 130_000]}],
    }
    assert load_domain_file(written(tmp_path / "d.json", json.dumps(declared))).attributes[0].name == "a"


# --- Limits ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            ",".join(f"c{j}" for j in range(100_000)) + "\n" + "1," * 99_999 + "1\n",
            "100,000 columns; at most 10,000",
        ),
        (",".join(["a"] * 2_000) + "\n", "more than once"),
        ("a" * 1_001 + ",y\n", "1,001 characters"),
        ("a,y\n" + "1" * (2**20 + 1) + ",1\n", "more than 1,048,576 bytes"),
        ("a" * (2**20 + 1), "more than 1,048,576 bytes"),
        ("a,y\n" + "x" * 140_000 + ",1\n", "field larger"),
        ('a,y\n1,1\n"' + "x\n" * 2**20, "field larger"),
    ],
)
def test_text_beyond_a_limit_is_refused(content: str, problem: str, tmp_path: Path) -> None:
    for path in (
        written(tmp_path / "a.csv", content),
        written(tmp_path / "a.csv.gz", gzip.compress(content.encode(), 1)),
    ):
        with pytest.raises(DataError, match=problem) as caught:
            read(path)
        assert caught.value.file == str(path)
        assert len(str(caught.value)) < 1_000


def test_compressed_line_is_not_unpacked_beyond_the_limit(tmp_path: Path) -> None:
    """Members of one run each: 3 GB of one line, in 3 MB."""
    member = gzip.compress(b"1" * 2**24)
    path = written(tmp_path / "a.csv.gz", gzip.compress(b"a,y\n") + member * 192)
    with pytest.raises(UnreadableFileError, match="more than 1,048,576 bytes"):
        read(path)


def test_many_columns_within_the_limit_are_read(tmp_path: Path) -> None:
    names = [f"c{j}" for j in range(1_000)]
    wide = DomainFile(attributes=tuple(Numeric(name, 0, 1) for name in names), label=Marker("y"))
    row = ",".join(["0.5"] * 1_000)
    records = read(written(tmp_path / "a.csv", ",".join([*names, "y"]) + "\n" + f"{row},1\n" * 3), wide)
    assert records.x.shape == (3, 1_000)


def dictionary_bomb(path: Path, text: str = "x" * 1_000_000, rows: int = 65_536) -> Path:
    """Write a small file whose one column would be 65 GB of texts."""
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.zeros(rows, np.int32)), [text])
    table = pyarrow.table({"a": column, "y": np.ones(rows, np.int8)})
    parquet.write_table(table, path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 4_000
    return path


def test_dictionary_value_is_decoded_once(tmp_path: Path) -> None:
    before = pyarrow.default_memory_pool().max_memory()
    with pytest.raises(UnseenCategoryError) as caught:
        read(dictionary_bomb(tmp_path / "a.parquet"), TEXTS)
    assert (caught.value.record, caught.value.column) == (1, "a")
    assert len(str(caught.value)) < 1_000
    assert pyarrow.default_memory_pool().max_memory() < max(before, 2**27)


def test_texts_beyond_the_bytes_of_a_block_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_table, "BLOCK_BYTES", 2**19)
    with pytest.raises(UnreadableFileError, match="write smaller row groups") as caught:
        read(dictionary_bomb(tmp_path / "a.parquet"), TEXTS)
    assert caught.value.column == "a"
    monkeypatch.setattr(arrow_columns, "BLOCK_BYTES", 2**19)
    texts = pyarrow.table({"a": ["x" * 2**20], "y": [1]})
    with pyarrow.ipc.new_file(tmp_path / "a.arrow", texts.schema) as file:
        file.write_table(texts)
    with pytest.raises(UnreadableFileError, match="distinct texts of a block"):
        read(tmp_path / "a.arrow", TEXTS)


@pytest.mark.parametrize(("place", "value"), [(19, 35), (20, 11), (28, 7)])
def test_metadata_that_contradict_themselves_end_no_process(
    place: int, value: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pyarrow 26 ends the process that looks at such an entry, as must be done in a large row group."""
    monkeypatch.setattr(arrow_table, "BLOCK_BYTES", 0)
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"a": [1.0, 2.0, 3.0], "t": ["x", "y", "z"]}), path)
    data = bytearray(path.read_bytes())
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    data[footer + place] = value
    path.write_bytes(data)
    with pytest.raises(UnreadableFileError, match="its metadata contradict themselves"):
        list(open_table(path).blocks(["a", "t"], 100, {"a"}, None))


# --- Values that no float or no text holds ---------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize(
    ("array", "value"),
    [
        (pyarrow.array([1.5], pyarrow.float16()), 1.5),
        (pyarrow.array([2**53], pyarrow.uint64()), 2.0**53),
        (pyarrow.array([Decimal("0.1")]), 0.1),
        (pyarrow.array([True]), 1.0),
        (pyarrow.array([7], pyarrow.int8()).dictionary_encode(), 7.0),
        (pyarrow.array([2**53 + 1], pyarrow.uint64()), "beyond 2^53"),
        (pyarrow.array([-(2**63)], pyarrow.int64()), "beyond 2^53"),
        (pyarrow.array([2**64 - 1], pyarrow.uint64()), "beyond 2^53"),
        (pyarrow.array([{"b": 1}]), "struct"),
        (pyarrow.array([[("b", 1)]], pyarrow.map_(pyarrow.string(), pyarrow.int64())), "map"),
        (pyarrow.array([[1.0]]), "list"),
        (pyarrow.array([1], pyarrow.timestamp("us")), "timestamp"),
        (pyarrow.array([1], pyarrow.date32()), "date32"),
        (pyarrow.array([b"1"]), "binary"),
        (pyarrow.array(["1"]), "text"),
        (pyarrow.nulls(1), "null"),
    ],
)
def test_typed_value_is_read_exactly_or_refused(
    array: Any, value: float | str, ending: str, tmp_path: Path
) -> None:
    table, path = pyarrow.table({"a": array, "y": [1]}), tmp_path / f"a{ending}"
    if ending == ".parquet":
        parquet.write_table(table, path)
    else:
        with pyarrow.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    if isinstance(value, str):
        with pytest.raises(DataError, match=re.escape(value)) as caught:
            read(path)
        assert caught.value.column == "a"
        return
    (block,) = open_table(path).blocks(["a"])
    assert list(block.columns["a"]) == [value]
    read(path)


def test_text_that_is_no_utf_8_is_reported(tmp_path: Path) -> None:
    def as_text(values: list[bytes], path: Path) -> Path:
        held = pyarrow.array(values, pyarrow.binary())
        texts = pyarrow.StringArray.from_buffers(len(held), *held.buffers()[1:])
        parquet.write_table(pyarrow.table({"a": texts, "y": [1] * len(held)}), path)
        return path

    with pytest.raises(UnreadableFileError, match="not UTF-8") as caught:
        read(as_text([b"yes", b"no", b"caf\xe9"], tmp_path / "a.parquet"), TEXTS)
    assert (caught.value.record, caught.value.column) == (3, "a")
    assert len(read(as_text([b"yes", b"no"], tmp_path / "b.parquet"), TEXTS)) == 2


def test_whole_number_out_of_reach_is_named_with_its_row(tmp_path: Path) -> None:
    parquet.write_table(
        pyarrow.table({"a": [*range(100), 2**60], "y": [1] * 101}), tmp_path / "a.parquet", row_group_size=50
    )
    with pytest.raises(NotANumberError) as caught:
        read(tmp_path / "a.parquet")
    assert (caught.value.record, caught.value.column, caught.value.value) == (101, "a", 2**60)


# --- Files that are cut short or change -------------------------------------------------------------------------


def test_damaged_row_group_is_named(tmp_path: Path) -> None:
    path, rows = tmp_path / "a.parquet", 5_000
    values = np.random.default_rng(0).random(rows)
    parquet.write_table(
        pyarrow.table({"a": values, "y": np.ones(rows, np.int8)}),
        path,
        row_group_size=1_000,
        write_page_checksum=True,
    )
    start = parquet.read_metadata(path).row_group(2).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + 500] = bytes(500)
    path.write_bytes(content)
    with pytest.raises(UnreadableFileError, match="in row group 3"):
        read(path)


@pytest.mark.parametrize("has_checksums", [True, False])
def test_changed_number_is_noticed_by_a_checksum(has_checksums: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = pyarrow.table({"a": np.arange(1_000) / 1_000, "y": np.ones(1_000, np.int8)})
    plain: dict[str, Any] = {"compression": "none", "use_dictionary": False}
    parquet.write_table(columns, path, write_page_checksum=has_checksums, **plain)
    content = path.read_bytes()
    held, other = (np.array(value).tobytes() for value in (0.5, 0.25))
    assert content.count(held) == 1
    path.write_bytes(content.replace(held, other))
    if has_checksums:
        with pytest.raises(UnreadableFileError, match="in row group 1"):
            read(path)
    else:
        x = read(path).x
        assert x[500] == x[250]


@pytest.mark.parametrize(("code", "row"), [(1, None), (2, 1), (9, 1), (-2, 1)])
def test_text_outside_its_dictionary_is_reported(code: int, row: int | None) -> None:
    codes = pyarrow.array([0, code, None], pyarrow.int32())
    array = pyarrow.DictionaryArray.from_arrays(codes, ["yes", "no"], safe=False)
    if row is None:
        assert list(arrow_columns.coded(array)) == ["yes", "no", None]
        return
    with pytest.raises(UnreadableFileError, match="not in its dictionary") as caught:
        arrow_columns.coded(array)
    assert caught.value.row == row


@pytest.mark.lengthy
def test_bad_number_among_one_hundred_million_is_named_with_its_row(tmp_path: Path) -> None:
    path, rows, bad = tmp_path / "a.parquet", 10**6, 87_654_321
    table = pyarrow.table({"a": np.full(rows, 0.5), "y": np.ones(rows, np.int8)})
    with parquet.ParquetWriter(path, table.schema) as writer:
        for group in range(100):
            values = np.full(rows, 0.5)
            if group == bad // rows:
                values[bad % rows - 1] = np.nan
            writer.write_table(table.set_column(0, "a", pyarrow.array(values)), rows)
    declared = DomainFile(attributes=(Numeric("a", 0, 1),), label=Marker("y"))
    with pytest.raises(NotANumberError) as caught:
        record_blocks(open_table(path), declared).moments(exact=True)
    assert (caught.value.record, caught.value.column) == (bad, "a")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_file_that_is_written_to_while_it_is_read_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "a.csv":
        written(path, "a,y\n" + "1,1\n" * 10)
    else:
        parquet.write_table(pyarrow.table({"a": [1.0] * 10, "y": [1] * 10}), path)
    parts = record_blocks(open_table(path), NUMBERS, rows=1).read()
    next(parts)
    with path.open("ab") as file:
        file.write(b"1,1\n")
    with pytest.raises(UnreadableFileError, match="changed while it was read"):
        list(parts)


# --- Both parsers read the same -----------------------------------------------------------------------------


def test_both_parsers_agree_on_odd_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks in every place, in pieces of a few bytes: the same records, or the same error."""
    random = np.random.default_rng(0)
    parts = [
        "1",
        "0",
        '"',
        '""',
        ",",
        "\n",
        "\n",
        "\r\n",
        "\r",
        "no",
        "yes",
        '"yes"',
        '"y,es"',
        " ",
        "+1",
        "é",
        "0,no,1\n",
        "1,yes,0\n",
    ]
    declared = DomainFile(
        attributes=(Numeric("n", 0, 1), Ordinal("t", ("no", "yes", "y,es", ""))), label=Marker("y")
    )

    def outcome(path: Path) -> object:
        try:
            records = read(path, declared)
        except DataError as problem:
            return type(problem), problem.record, problem.row, problem.column, problem.value
        return records.x.tolist(), records.y.tolist()

    good = 0
    for number in range(400):
        # pieces of a few records, or one piece with blocks of a few
        small = number % 2 == 1
        monkeypatch.setattr(csv_table, "PIECE_BYTES", 7 if small else 2**12)
        monkeypatch.setattr(csv_table, "LONGEST_LINE", 16 if small else 2**12)
        monkeypatch.setattr(csv_table, "BLOCK_PARSED", 24)
        body = "".join(random.choice(parts, random.integers(1, 6)))
        path = written(tmp_path / "a.csv", "n,t,y\n" + "1,yes,0\n" * random.integers(0, 3) + body)
        fast = outcome(path)
        if small:
            # two problems in two pieces: the first is named
            monkeypatch.setattr(csv_table, "_parsed", lambda *_: None)
        else:
            monkeypatch.setattr(
                csv_table, "_cut", lambda _, rest: iter([csv_table._Piece(bytearray(), rest=rest)])
            )
        assert outcome(path) == fast, body
        monkeypatch.undo()
        good += isinstance(fast, tuple) and isinstance(fast[0], list)
    assert 20 < good < 380


def test_both_parsers_count_blank_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.csv", "a,y\n\n1,1\n\r\n\n0,1\n\n1,0\n\n")
    monkeypatch.setattr(csv_table, "PIECE_BYTES", 8)
    monkeypatch.setattr(csv_table, "LONGEST_LINE", 8)
    fast = [block.behind for block in open_table(path).blocks("ay", numbers="a")]
    monkeypatch.setattr(csv_table, "_parsed", lambda *_: None)
    assert [block.behind for block in open_table(path).blocks("ay", numbers="a")] == fast
    assert len(fast) > 2


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_other_delimiters_get_a_hint(mark: str, tmp_path: Path) -> None:
    with pytest.raises(MissingColumnError, match="are the fields separated by it, not by commas") as caught:
        read(written(tmp_path / "a.csv", f"a{mark}y\n1{mark}1\n"))
    assert repr(mark) in str(caught.value)


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_other_delimiters_behind_quotes_get_a_hint(mark: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="are the fields separated by it, not by commas") as caught:
        read(written(tmp_path / "a.csv", f'"a"{mark}"y"\n1{mark}1\n'))
    assert repr(mark) in str(caught.value)
    with pytest.raises(UnreadableFileError, match="is not CSV") as plain:
        read(written(tmp_path / "b.csv", '"a" "y"\n1,1\n'))
    assert "separated" not in str(plain.value)


def test_half_a_character_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    document = {"schema": "domain_v1", "attributes": [{"name": "a", "kind": "numeric", "lower": 0, "upper": 1}]}
    for place, value in (
        ("label", {"column": "\ud800"}),
        ("ignore", ["\udfff"]),
        ("\ud800", 1),
        ("comment", "\ud83d"),
    ):
        path = written(tmp_path / "d.json", json.dumps({**document, place: value}))
        with pytest.raises(DomainFileError, match="half a character"):
            load_domain_file(path)
    with pytest.raises(DeclarationError, match="half a character"):
        Domain((Numeric("\ud800", 0, 1),), "y")


def test_name_in_a_file_cannot_steer_a_terminal(tmp_path: Path) -> None:
    forged = "a\x1b[2K\rerror: none"
    for path in (
        written(tmp_path / "a.csv", f'a,y,"{forged}"\n1,1,1\n'),
        written(tmp_path / "b.csv", f"a,y\n{forged.replace(chr(13), '')},1\n"),
    ):
        with pytest.raises(DataError) as caught:
            read(path)
        assert str(caught.value).isprintable()
        assert "\\x1b[2K" in str(caught.value)
