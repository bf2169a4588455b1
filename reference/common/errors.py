"""One exception class per reason to reject, each with the facts as attributes.

The messages speak to the data holder: they may quote a value of a record, so they are not part of a
release (``docs/threat-model.md``).
"""

from __future__ import annotations

from typing import Any, Self

from reference.common.printable import quoted, short_line


class InputError(ValueError):
    """Base of everything this package rejects; a command line turns it into exit code 2."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error travel from a worker process with its message and facts, which are not made again."""
        return self._arrived, (self.args, self.__dict__)

    @classmethod
    def _arrived(cls, args: tuple[Any, ...], facts: dict[str, Any]) -> Self:
        error = cls.__new__(cls, *args)
        error.__dict__.update(facts)
        return error


class DataHolderWarning(UserWarning):
    """Something about the data that their holder may want to know: not private, and no part of a release."""


class NotPrivateError(InputError):
    """A release has no privacy to count.

    Parameters
    ----------
    mechanism : str
    """

    def __init__(self, mechanism: str) -> None:
        self.mechanism = mechanism
        super().__init__(f"a release of {mechanism} has no privacy that could be counted")


class LedgerError(InputError):
    """A release ledger cannot be used, or does not admit a release; nothing was written.

    Parameters
    ----------
    problem : str
    file : str
        The ledger's file.
    line : int, optional
        Counted from 1.
    """

    def __init__(self, problem: str, file: str, line: int | None = None) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        where = f"file {file}" if line is None else f"file {file}, line {line}"
        super().__init__(f"{problem} ({where})")


class CorruptLedgerError(LedgerError):
    """The file is not what was written: a torn, changed or missing line."""


class MissingLedgerError(LedgerError):
    """The file is not there, or cannot be read or written."""


class OtherLedgerError(LedgerError):
    """The file is a ledger with other terms (data set, adjacency, ceiling, method) or another identity."""


class CeilingError(LedgerError):
    """One more release would spend more than the ceiling."""


class UncountableReleaseError(LedgerError):
    """The ledger cannot count a release: it is seeded, for other neighbours, or of another kind."""


class RunStoreError(InputError):
    """A file of finished experiments cannot be used.

    Parameters
    ----------
    problem : str
    file : str
    line : int, optional
        Counted from 1.
    """

    def __init__(self, problem: str, file: str, line: int | None = None) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        super().__init__(f"{file}{'' if line is None else f', line {line}'}: {problem}")


class CorruptRunStoreError(RunStoreError):
    """A line is not as it was written."""


class OtherRunStoreError(RunStoreError):
    """Other code, or other versions of the libraries, wrote the file."""


class DataError(InputError):
    """The declared domain does not admit a data set.

    Parameters
    ----------
    problem : str
        What is wrong, in words.
    file : str, optional
        The file it was read from.
    row : int, optional
        Position of the record, counted from 0 (for a file: the line, counted from 1).
    record : int, optional
        Position of the record in its file, counted from 1 without the header; the message calls it the row.
    column : str, optional
        Name of the attribute.
    value : object, optional
        The offending value, as it was given.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        row: int | None = None,
        record: int | None = None,
        column: str | None = None,
        value: Any = None,
    ) -> None:
        self.problem = problem
        self.file = file
        self.row = row
        self.record = record
        self.column = column
        self.value = value
        super().__init__(self._message())

    def _message(self) -> str:
        line_or_row = "line" if self.file is not None else "row"
        facts = [
            None if self.file is None else f"file {self.file}",
            None if self.record is None else f"row {self.record}",
            None if self.row is None else f"{line_or_row} {self.row}",
            None if self.column is None else f"column {quoted(self.column)}",
            _shown(self.value),
        ]
        where = ", ".join(fact for fact in facts if fact is not None)
        if self.row is not None and self.file is None:
            where += "; rows count from 0"
        return short_line(f"{self.problem} ({where})" if where else self.problem)


def _shown(value: Any) -> str | None:
    if value is None:
        return None
    return "an empty cell" if isinstance(value, str) and not value else f"value {quoted(value)}"


class NotANumberError(DataError):
    """A value is NaN, or is not a number where a number is declared."""


class InfiniteValueError(DataError):
    """A value is infinite."""


class OutOfBoundsError(DataError):
    """A value lies outside its declared bounds and the caller did not ask for clipping."""


class NegativeEntryError(DataError):
    """An encoded entry is negative although the domain is nonnegative."""


class NormError(DataError):
    """An encoded record lies outside the unit ball or the unit box."""


class NotEncodedError(DataError):
    """No record of the domain is encoded like this."""


class UnseenCategoryError(DataError):
    """A value is not among the declared categories."""


class LabelError(DataError):
    """A label is not 0 or 1."""


class GroupError(DataError):
    """A group membership is not 0 or 1."""


class EmptyDataError(DataError):
    """There are no records."""


class MissingColumnError(DataError):
    """A declared column is absent."""


class ExtraColumnError(DataError):
    """The domain does not declare a column that was given."""


class ShapeError(DataError):
    """Lengths or dimensions of arrays do not fit together."""


class CsvRowError(DataError):
    """A line of a delimited file has the wrong number of fields."""


class UnreadableFileError(DataError):
    """A file exists but cannot be read as what it should be."""


class ColumnTypeError(DataError):
    """A column of a typed file does not hold the kind of value that the domain declares."""


class ChecksumError(DataError):
    """A file of a named data set is not the documented one."""


class MissingDataError(DataError):
    """A data set is missing; the message names the path and says how to get it."""


class DomainMismatchError(InputError):
    """Moments of different domains were added, or records met a domain that is not theirs."""


class DocumentError(InputError):
    """A document cannot be read, or declares what it may not.

    Parameters
    ----------
    problem : str
    file : str, optional
    place : str, optional
        Where in the document, such as ``attributes[2].lower``.
    line : int, optional
        Counted from 1; known when the text is not JSON.
    """

    document = "document"
    """The document's name in messages."""

    def __init__(
        self, problem: str, *, file: str | None = None, place: str | None = None, line: int | None = None
    ) -> None:
        self.problem = problem
        self.file = file
        self.place = place
        self.line = line
        facts = [
            None if file is None else f"file {file}",
            None if line is None else f"line {line}",
            None if place is None else f"at {place}",
        ]
        where = ", ".join(fact for fact in facts if fact is not None)
        super().__init__(short_line(f"{self.document}: {problem}" + (f" ({where})" if where else "")))


class DomainFileError(DocumentError):
    """A domain file cannot be read, or declares what it may not."""

    document = "domain file"


class BoundsFromDataError(InputError):
    """A private mechanism met bounds that were read from the data."""


class ClusterError(InputError):
    """Several machines could not add up a file; the message says why, in one line."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(short_line(f"cluster: {problem}"))


class MissingExtraError(InputError, ImportError):
    """A library is not installed: bad input for a command line, an ImportError for Python.

    Parameters
    ----------
    purpose : str
        What it is needed for.
    library, extra : str
        Its name, and the extra of this package that brings it; empty if the package alone does.
    """

    def __init__(self, purpose: str, library: str, extra: str) -> None:
        self.purpose = purpose
        self.library = library
        self.extra = extra
        package = "calibrated-functional-mechanism"
        super().__init__(
            f"{purpose} needs {library}: pip install "
            + (f"'{package}[{extra}]'" if extra else package)
            # other versions of what the package uses
            + (", in an environment of its own (make peers)" if extra == "peers" else "")
        )


class ReleaseFileError(DocumentError):
    """A release file cannot be read, or does not fit the domain."""

    document = "release file"


class MomentsTableError(InputError):
    """A table does not hold exact moments, or its records are outside the domain.

    Parameters
    ----------
    problem : str
    name : str
        Of the number in the table.
    value : object, optional
    """

    def __init__(self, problem: str, name: str, value: Any = None) -> None:
        self.problem = problem
        self.name = name
        self.value = value
        found = "" if value is None else f", value {quoted(value)}"
        super().__init__(short_line(f"table of moments: {problem} ({name}{found})"))


class CheckpointError(DocumentError):
    """A checkpoint cannot be read, or belongs to another file, domain or version."""

    document = "checkpoint"


class ParameterError(InputError):
    """A parameter is outside its range.

    Parameters
    ----------
    name : str
        The parameter.
    value : object
        What was given.
    allowed : str
        What would be accepted; after a semicolon, what to do.  If it begins with "given", None needs no mention.
    """

    def __init__(self, name: str, value: Any, allowed: str) -> None:
        self.name = name
        self.value = value
        self.allowed = allowed
        what, mark, hint = allowed.partition("; ")
        found = "" if value is None and what.startswith("given") else f", not {quoted(value)}"
        super().__init__(f"{name} must be {what}{found}{mark}{hint}")


class EpsilonError(ParameterError):
    """An epsilon is not a positive finite number."""


class DeltaError(ParameterError):
    """A delta is out of the range that the mechanism's formula covers."""


class UnknownAttributeError(ParameterError):
    """x_s names no coordinate of the encoded vector."""


class DeclarationError(ParameterError):
    """A domain declaration contradicts itself (bounds reversed, a name twice, no attribute, ...)."""


class ReadingError(ParameterError):
    """An option, such as a reading of the paper, has a value that does not exist or does not apply here."""


class NoPublishedBoundError(ReadingError):
    """The paper states no sensitivity for this reading; give a number instead."""


class UnknownDataError(ParameterError):
    """No data set of this name; the message lists the known ones."""


class SeededHardenedNoiseError(ParameterError):
    """A seed or a generator was given to hardened noise, which takes the operating system's entropy only."""


class GridError(ParameterError):
    """Something does not fit on the grid of hardened noise: inexact moments, or numbers beyond 64 bits."""


class HardenedNoiseMissingError(InputError, ImportError):
    """Hardened noise needs OpenDP, which is not installed."""
