"""Text that fits its terminal, and the command line that repeats a result."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace

import pytest
from click import Context

from audit.commands.again import again
from audit.commands.options import several
from audit.commands.text import columns, fitted, table_text
from reference.commands.parsing import argument, command, option
from reference.common.page import Listing, Page

LINE = "  again:   python -m audit privacy adfc --epsilon-s 10 --x-s 'a name' --dimension 13 --records 1000"


def test_long_lines_are_broken_at_spaces_and_short_ones_are_left():
    words = "  exact:   " + "word " * 30
    lines = fitted([words, "short"], 50).splitlines()
    assert max(len(line) for line in lines) <= 50
    assert " ".join(" ".join(lines).split()) == " ".join(words.split()) + " short"
    assert fitted([words], None) == words + "\n"


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_command_that_is_broken_still_runs(width):
    text = fitted([LINE], width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert text.count("\n") > 1
    # as a shell reads it
    assert shlex.split(text.replace("\\\n", "")) == shlex.split(LINE)


TABLE = Listing("A title", ("first", "the second"), (("a cell", "of several words"), ("b", "one")))


def test_a_table_that_is_too_wide_becomes_a_list():
    assert table_text(TABLE, 80).splitlines() == [
        "           A title",
        "┏━━━━━━━━┳━━━━━━━━━━━━━━━━━━┓",
        "┃ first  ┃ the second       ┃",
        "┡━━━━━━━━╇━━━━━━━━━━━━━━━━━━┩",
        "│ a cell │ of several words │",
        "│ b      │ one              │",
        "└────────┴──────────────────┘",
    ]
    assert table_text(TABLE, 29) == table_text(TABLE, 80)
    listed = ["A title", "first: a cell", "  the second  of several", "              words", "first: b"]
    assert table_text(TABLE, 28).splitlines() == [*listed, "  the second  one"]


def test_columns_fold_at_spaces_before_a_table_becomes_a_list():
    folding = replace(TABLE, folds=("the second",))
    assert table_text(folding, 22).splitlines()[1:] == [
        "┏━━━━━━━━┳━━━━━━━━━━━┓",
        "┃ first  ┃ the       ┃",
        "┃        ┃ second    ┃",
        "┡━━━━━━━━╇━━━━━━━━━━━┩",
        "│ a cell │ of        │",
        "│        │ several   │",
        "│        │ words     │",
        "│ b      │ one       │",
        "└────────┴───────────┘",
    ]
    assert "first: a cell" in table_text(folding, 19)


def test_a_table_without_borders_has_no_spaces_at_its_ends():
    bare = Listing(
        "Title", ("name", "count"), (("a", "1"), ("bcdef", "10,000,000")), numbers=("count",), bordered=False
    )
    assert table_text(bare, 80).splitlines() == [
        "      Title",
        "name        count",
        "a               1",
        "bcdef  10,000,000",
    ]


def test_wide_and_combining_characters_keep_the_borders_in_line():
    wide = Listing("", ("one", "two"), (("\u8868", "x"), ("e\u0301e", "y")))
    assert table_text(wide, 80).splitlines()[3:5] == ["│ \u8868  │ x   │", "│ e\u0301e  │ y   │"]


@pytest.mark.parametrize("width", [None, 60, 24])
def test_substitutes_for_what_a_page_lacks_keep_the_borders_in_line(width):
    listing = Listing(
        "", ("mean \u00b1", "\u8868"), (("0.67 \u00b1 0.01 \u2026", "2\u20133"), ("0 \u00b1 0", "\u8868"))
    )
    listing = replace(listing, folds=("mean \u00b1",), numbers=("\u8868",))
    lines = Page(width, "ascii").text(listing).splitlines()
    assert len(lines) == (6 if width != 24 else 7)
    assert {len(line) for line in lines} == {len(lines[0])}
    assert lines[-2] == f"| {'0 +- 0':{len(lines[0]) - 10}} |   ? |"
    # on a page that has them they are themselves
    assert "0.67 \u00b1 0.01 \u2026" in Page().text(listing)


def test_a_file_has_no_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    assert (columns("file.txt"), columns()) == (None, 50)
    monkeypatch.delenv("COLUMNS")
    assert columns() is None


@dataclass(frozen=True, kw_only=True)
class Toy:
    """Toy."""

    words: tuple[str, ...] = argument(nargs=-1)
    number: int = option("--number", type=int, default=3)
    sizes: tuple[int, ...] = several("--sizes", of=int, default=(1, 2))
    plain: bool = option("--plain", is_flag=True)
    out: str | None = option("--out")


@command("toy", Toy, example="python -m audit toy")
def toy(_options: Toy) -> int:
    """Do nothing."""
    return 0


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({}, "python -m audit toy"),
        ({"number": 4, "out": "file"}, "python -m audit toy --number 4"),
        ({"sizes": (5, 6), "plain": True}, "python -m audit toy --sizes 5,6 --plain"),
    ],
)
def test_command_is_repeated_by_what_differs_from_the_defaults(given, line):
    options = Toy(**{"words": (), "number": 3, "sizes": (1, 2), "plain": False, "out": None} | given)
    assert again(toy, options) == line
    assert again(toy, options, words=["a b"]) == line.replace("toy", "toy 'a b'")


@pytest.mark.parametrize("width", [40, None])
@pytest.mark.parametrize(
    ("line", "in_cfm"),
    [
        ("  again:   python -m audit toy --number 4", "cfm audit toy --number 4"),
        ("again: python -m reference fit", "cfm fit"),
        # what stands in quotes is another program
        (
            "again: python -m audit.epsilon_estimate --program 'python -m audit serve'",
            "cfm audit estimate --program 'python -m audit serve'",
        ),
    ],
)
def test_command_is_repeated_in_the_form_typed(line, in_cfm, width):
    command = line.partition("again:")[2].strip()
    for name, form in (("cfm", in_cfm), ("python -m audit", command)):
        with Context(toy, info_name=name):
            text = fitted([line, "  said by python -m audit toy"], width)
        first, _, last = text.replace("\\\n", "").rstrip().rpartition("\n")
        assert shlex.split(first)[1:] == shlex.split(form)
        assert last == "  said by python -m audit toy"
    assert shlex.split(fitted([line], None))[1:] == shlex.split(command)
