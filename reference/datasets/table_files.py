"""Several files of one format as one table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from msgspec.structs import replace as moved

from reference.common.errors import ExtraColumnError, MissingColumnError
from reference.datasets.table import ROWS_READ, Block, Place, TableFile, wrong_kind


@dataclass(frozen=True)
class TableFiles(TableFile):
    """Files with the same columns, one after the other; errors name the file and its own row.

    Parameters
    ----------
    path : Path
        The name of all of them: a folder, or a pattern.
    tables : tuple of TableFile
        At least one.
    """

    tables: tuple[TableFile, ...]

    @property
    def files(self) -> tuple[TableFile, ...]:
        """The files, in the order of their names."""
        return self.tables

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in the first file's order; others may differ.

        Raises
        ------
        reference.common.errors.MissingColumnError, reference.common.errors.ExtraColumnError
            When a file has other columns than the first.
        """
        first, *others = self.tables
        names = first.columns
        for other in others:
            held = other.columns
            for name in names:
                if name not in held:
                    problem = f"a column of {first.path.name} is missing"
                    raise MissingColumnError(problem, file=str(other.path), column=name)
            for name in held:
                if name not in names:
                    problem = f"{first.path.name} does not have this column"
                    raise ExtraColumnError(problem, file=str(other.path), column=name)
        return names

    def kinds(self) -> dict[str, str] | None:
        """Return the kinds of the columns that all files state; a file with nothing but nulls may be of any.

        Raises
        ------
        reference.common.errors.ColumnTypeError
            When one differs from the first.
        """
        first, *others = self.tables
        kinds = first.kinds()
        for other in others:
            held: Mapping[str, str] = other.kinds() or {}
            for name, kind in (kinds or {}).items():
                if kinds is not None and kind == "null":
                    kinds[name] = held.get(name, kind)
                elif held.get(name, kind) not in (kind, "null"):
                    problem = f"the column contains {held[name]} where that of {first.path.name} contains {kind}"
                    raise wrong_kind(problem, [other], name, number=kind == "number")
        return kinds

    def blocks(
        self,
        names: Sequence[str],
        rows: int = ROWS_READ,
        numbers: Collection[str] = (),
        start: Place | None = None,
    ) -> Iterator[Block]:
        """Read the named columns of each file, at most `rows` records at a time.

        Raises
        ------
        reference.common.errors.DataError
            As the file raises it.
        """
        begin = Place() if start is None else start
        sizes = [path.stat().st_size for path in self.paths]
        before = list(accumulate(sizes, initial=0))
        for position, table in enumerate(self.tables):
            if position < begin.file:
                continue
            own = start if position == begin.file else None
            for block in table.blocks(names, rows, numbers, own):
                behind = None if block.behind is None else moved(block.behind, file=position)
                share = None if block.share is None else (before[position] + block.share * sizes[position])
                done = None if share is None else share / max(before[-1], 1)
                yield replace(block, path=table.path, behind=behind, share=done)
