"""The messages to a program and the meaning of its answers, without processes.

The page is docs/programs.md; the JSON Schemas in ``audit/common/schemas`` are generated from the types here.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType

from audit.subjects.programs.errors import AnswerError, ReportedError
from reference.common.arrays import FloatArray
from reference.common.documents import Document, plain
from reference.common.printable import shown
from reference.common.strict_json import parsed

LONGEST_OUTPUT = 10_000
"""Most coordinates of an output."""

REQUEST_VALUES = 2**14
"""Most numbers requested at a time."""

SEEDS = 2**53
"""Seeds are below this, so that numbers of every language hold them."""

VALUE_BYTES = 32
"""Room for one number in a line; the longest shortest-form float has 24 characters."""

LINE_BYTES = 2**16
"""Room for the rest of a line, including an error message."""

MOST_INPUT_BYTES = 2**24
"""Longest answer to the op `inputs`."""

MOST_DIGITS = 4_000
"""Of a whole number that a message may show."""

MAGIC = b"F64\x01"
HEADER = struct.Struct("<4sIQ")
"""Start of a binary answer: MAGIC, coordinates per draw (4 bytes), draws (8 bytes), little-endian."""

FAILED = "error"
"""Replaces a draw on which the mechanism failed, which is an outcome like any other."""

NOT_FINITE = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}


class InputsRequest(Document, frozen=True, tag_field="op", tag="inputs"):
    """The question for the pair of inputs; the answer is the pair."""


class SampleRequest(Document, frozen=True, kw_only=True, tag_field="op", tag="sample", omit_defaults=True):
    """The question for draws on an input.

    Parameters
    ----------
    input : object
        Left or right of the pair, as given.
    count : int
    seed : int
        Only for a program that accepts seeds.
    binary : bool
        Whether to answer in binary.
    """

    input: Any
    count: Annotated[int, Meta(ge=1, le=REQUEST_VALUES)]
    seed: Annotated[int, Meta(ge=0, lt=SEEDS)] | UnsetType = UNSET
    binary: bool = False


Number: TypeAlias = float | Literal["NaN", "Infinity", "-Infinity"]

Draw: TypeAlias = Annotated[tuple[Number, ...], Meta(min_length=1, max_length=LONGEST_OUTPUT)] | Literal["error"]
"""A list of coordinates, or that the mechanism failed on this draw, which is an outcome like any other."""


class SampleAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `sample`: as many draws as were asked for; unknown members are ignored.

    :func:`values_of` reads it, keeps the bits of numbers and names a wrong draw.

    Parameters
    ----------
    values : tuple of Draw
    accepts_seed : bool
        Whether the draws depend on input, count and seed alone.
    """

    values: Annotated[tuple[Draw, ...], Meta(min_length=1)]
    accepts_seed: bool = False


class ErrorAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to any request that the program cannot serve: the audit ends.

    Parameters
    ----------
    error : str
    """

    error: str


def inputs_request() -> bytes:
    """Return the question for the pair of inputs."""
    return _line(InputsRequest())


def sample_request(data: Any, count: int, *, seed: int | None = None, binary: bool = False) -> bytes:
    """Return the question for `count` draws on an input."""
    return _line(SampleRequest(input=data, count=count, seed=UNSET if seed is None else seed, binary=binary))


def _line(request: InputsRequest | SampleRequest) -> bytes:
    return json.dumps(plain(request), allow_nan=False).encode("ascii") + b"\n"


@dataclass(frozen=True)
class AnswerLine:
    """An answer that is one line.

    Parameters
    ----------
    most_bytes : int
        Longer lines are refused before they are whole, so that memory stays bounded.
    """

    most_bytes: int

    @classmethod
    def of_values(cls, rows: int, width: int) -> AnswerLine:
        """Return the longest line that `rows` draws of `width` coordinates can take."""
        return cls(LINE_BYTES + rows * width * VALUE_BYTES)

    @property
    def expected(self) -> str:
        """The expected answer, in words."""
        return "one line of JSON"

    def end(self, received: bytearray, searched: int) -> int | None:
        """Return where the answer ends in the bytes received; None if it is incomplete.

        Parameters
        ----------
        received : bytearray
        searched : int
            Bytes that an earlier call has seen.
        """
        place = received.find(b"\n", searched)
        if place >= 0:
            return place + 1
        if len(received) > self.most_bytes:
            raise AnswerError(
                f"wrote {len(received):,} bytes without an end of line, {shown(received)}",
                f"one line of JSON, at most {self.most_bytes:,} bytes for this request",
            )
        return None


@dataclass(frozen=True)
class AnswerFrame:
    """A binary answer; an answer that starts with `{`, such as an error, is a line instead.

    Parameters
    ----------
    rows, width : int
        As in the header.
    """

    rows: int
    width: int

    @property
    def expected(self) -> str:
        """The expected answer, in words."""
        return f"a binary answer of {self.rows} draws of {self.width} coordinates"

    def end(self, received: bytearray, searched: int) -> int | None:
        """Return where the answer ends, as :meth:`AnswerLine.end` does."""
        if received[:1] == b"{":
            return AnswerLine(LINE_BYTES).end(received, searched)
        if received[: len(MAGIC)] != MAGIC[: len(received)]:
            raise AnswerError(f"wrote {shown(received)}", f"{self.expected}, which starts with {MAGIC!r}")
        if len(received) < HEADER.size:
            return None
        _, width, rows = HEADER.unpack_from(received)
        if (rows, width) != (self.rows, self.width):
            raise AnswerError(f"announced {rows} draws of {width} coordinates", self.expected)
        size = HEADER.size + 8 * rows * width
        return size if len(received) >= size else None

    def values(self, answer: bytes) -> FloatArray:
        """Return the draws in a whole answer, shape (rows, width)."""
        if answer[:1] == b"{":
            decoded(answer, numbers=True)
            raise AnswerError("answered in JSON", self.expected)
        flat = np.frombuffer(answer, dtype="<f8", offset=HEADER.size)
        return flat.astype(np.float64).reshape(self.rows, self.width)


class AnswerObject(dict[str, Any]):
    """The object in an answer.

    Attributes
    ----------
    line : str
        As the program wrote it.
    """

    line: str

    def written(self, *path: str | int) -> str:
        """Return a part of it for a message, with whole numbers and `null` as the program wrote them."""
        part = json.loads(self.line, parse_int=_whole)
        for step in path:
            part = part[step]
        return shown(json.dumps(part, ensure_ascii=False))


def _whole(text: str) -> int | float:
    # Python does not read longer ones as integers
    return int(text) if len(text) <= MOST_DIGITS else float(text)


def decoded(line: bytes, *, numbers: bool) -> AnswerObject:
    """Return the object in a line.

    Parameters
    ----------
    line : bytes
    numbers : bool
        Read every number as a float: the sign of -0 is kept, and a number that no float holds is infinite.

    Raises
    ------
    AnswerError
        When it is not a JSON object.
    ReportedError
        When it is an error message.
    """
    expected = 'an answer {"values": ...} or {"error": "..."}'
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise AnswerError(f"wrote a line whose byte {problem.start} is not UTF-8", expected) from problem
    try:
        document = parsed(text, 'must be the string "{}"', numbers=numbers)
    except (ValueError, RecursionError) as problem:
        raise AnswerError(f"wrote a line that is not JSON ({problem}): {shown(line)}", expected) from problem
    if not isinstance(document, dict):
        raise AnswerError(f"wrote {shown(line)}", expected)
    if "error" in document:
        message = document["error"]
        raise ReportedError(f"answered with an error: {shown(str(message), 500)}")
    answer = AnswerObject(document)
    answer.line = text
    return answer


def values_of(document: AnswerObject, rows: int, width: int) -> FloatArray:
    """Return the draws in an answer to `sample`, shape (rows, width); a failed draw is a row of NaN.

    Raises
    ------
    AnswerError
    """
    values = rows_of(document, rows)
    lists = [row for row in values if row != FAILED]
    lengths = set(map(len, lists)) - {width}
    if lengths:
        raise AnswerError(f"gave a draw of {min(lengths)} coordinates", f"{width} coordinates, as before")
    flat = list(chain.from_iterable(lists))
    if (wrong := _no_number(flat)) is not None:
        row = [number for number, row in enumerate(values) if row != FAILED][wrong // width]
        raise AnswerError(
            f"gave {document.written('values', row, wrong % width)} in a draw",
            'numbers, or the strings "NaN", "Infinity", "-Infinity"',
        )
    given = _floats(flat).reshape(len(lists), width)
    if len(lists) == rows:
        return given
    outputs = np.full((rows, width), np.nan)
    outputs[[row != FAILED for row in values]] = given
    return outputs


def rows_of(document: AnswerObject, rows: int) -> list[Any]:
    """Return the draws in an answer, each a list or `FAILED`."""
    expected = f'"values" with {rows} lists of numbers'
    if "values" not in document:
        raise AnswerError(f"answered with {document.written()}", expected)
    values = document["values"]
    if not isinstance(values, list):
        raise AnswerError(f"gave values that are not a list: {document.written('values')}", expected)
    if len(values) != rows:
        raise AnswerError(f"gave {len(values)} draws", expected)
    for place, row in enumerate(values):
        if type(row) is not list and row != FAILED:
            raise AnswerError(f"gave a draw that is not a list: {document.written('values', place)}", expected)
    return values


def width_of(values: list[Any]) -> int | None:
    """Return the number of coordinates of the first draw that did not fail; None when all failed."""
    widths = [len(row) for row in values if row != FAILED]
    if not widths:
        return None
    if not 1 <= widths[0] <= LONGEST_OUTPUT:
        raise AnswerError(f"gave a draw of {widths[0]} coordinates", f"1 to {LONGEST_OUTPUT:,}")
    return widths[0]


def _no_number(flat: list[Any]) -> int | None:
    """Return the place of the first value that is neither a number nor stands for one; None if there is none."""
    if not {type(value) for value in flat} - {float}:
        return None
    return next(
        (
            place
            for place, value in enumerate(flat)
            if type(value) is not float and not (type(value) is str and value in NOT_FINITE)
        ),
        None,
    )


def _floats(flat: list[Any]) -> FloatArray:
    """Return the numbers as written, bit for bit if written in the shortest or a longer decimal form."""
    strings = any(type(value) is str for value in flat)
    finite = np.array([value for value in flat if type(value) is float] if strings else flat, dtype=np.float64)
    if np.isinf(finite).any():
        raise AnswerError("gave a number too large for a 64-bit float", 'the string "Infinity" for an infinity')
    if not strings:
        return finite
    return np.array([NOT_FINITE[value] if type(value) is str else value for value in flat], dtype=np.float64)
