"""Records of a file, block by block: moments add up, so the file may be larger than memory.

Blocks are cut again to a fixed number of rows before they are summed, so the sums do not depend, to the last
bit, on how many rows were read at a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from reference.common.arrays import BoolArray
from reference.common.errors import DataHolderWarning, EmptyDataError, UnreadableFileError
from reference.domain import Domain
from reference.moments import Moments, sum_of
from reference.records import BLOCK_ROWS, Records

_Sum = TypeVar("_Sum")

KEPT_BYTES = 2**29
"""Encoded records up to this size are kept in memory; beyond it the file is read again for every pass."""

_LIMITED = Lock()
"""Held by the caller that limits numpy's threads, and lifts the limit."""


@dataclass
class _Seen:
    """What a complete pass over a file found, shared by all its parts."""

    count: int | None = None
    kept: list[Records] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class RecordBlocks:
    """Checked records, read in blocks as often as needed.

    Parameters
    ----------
    domain : Domain
    read : callable
        Returns an iterator over blocks of records, the same at every call.
    chosen : ndarray of bool, shape (n,), optional
        Which of all n records belong to this part; all unless given.
    summed : callable, optional
        Another way to the exact moments of all records, which checks every record too.
    folded : callable, optional
        Another way to the result of a piece of work over all records.
    on_one_side : callable, optional
        A quick check for a vector w whether x.w has one sign over all records; None where it cannot tell.
    keep : bool
        Keep encoded records in memory while they are small enough; else each pass reads them again.
    """

    domain: Domain
    read: Callable[[], Iterator[Records]]
    chosen: BoolArray | None = None
    summed: Callable[[], Moments] | None = None
    folded: Callable[[Callable[[Iterable[Records]], Any]], Any] | None = None
    on_one_side: Callable[[Any], bool | None] | None = None
    keep: bool = True
    _seen: _Seen = field(default_factory=_Seen)
    _sums: dict[bool, Moments] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"RecordBlocks(of {self.domain.dimension} columns)"

    def __len__(self) -> int:
        if self.chosen is not None:
            return int(self.chosen.sum())
        if self.summed is not None:
            return self.moments(exact=True).n
        if self._seen.count is None:
            # this pass checks every record before anything is computed from one
            for _ in self._all():
                pass
        assert self._seen.count is not None
        return self._seen.count

    def where(self, chosen: BoolArray) -> RecordBlocks:
        """Return the part of all records that a mask of shape (n,) chooses, in their order."""
        if self.chosen is None and chosen.all():
            return self
        return replace(self, chosen=chosen, summed=None, folded=None, on_one_side=None, _sums={})

    def blocks(self) -> Iterator[Records]:
        """Yield the records in blocks of `BLOCK_ROWS` rows; the last one may be shorter."""
        return _cut_anew(self._chosen_parts(), BLOCK_ROWS)

    def moments(self, *, exact: bool = False, again: bool = False) -> Moments:
        """Return the moments of all blocks, added up; `exact` as for :meth:`reference.moments.Moments.of`.

        Records that will be read `again` are kept if they are few.
        """
        if exact not in self._sums:
            # products of blocks are small; more threads for them only wait for the one that decodes
            with one_thread():
                self._sums[exact] = self._add_up(exact, again)
        return self._sums[exact]

    def _add_up(self, exact: bool, again: bool) -> Moments:
        if self.summed is not None and exact:
            return self.summed()
        # a part is seldom the only one
        parts = self._chosen_parts(keep=again or self.chosen is not None)
        if not exact:
            parts = _cut_anew(parts, BLOCK_ROWS, several=True)
        return sum_of(parts, self.domain, exact=exact)

    def fold(self, work: Callable[[Iterable[Records]], _Sum]) -> _Sum:
        """Return the result of a piece of work over all blocks: the sum over parts of them."""
        return work(self.blocks()) if self.folded is None else self.folded(work)

    def collect(self) -> Records:
        """Return all records in memory.

        Raises
        ------
        reference.common.errors.EmptyDataError
            When there is none.
        """
        records = _joined(list(self._chosen_parts()))
        if records.x.flags.c_contiguous:
            return records
        return Records(
            domain=self.domain, x=np.ascontiguousarray(records.x), y=records.y, z=records.z, inside=True
        )

    def _chosen_parts(self, *, keep: bool = True) -> Iterator[Records]:
        start = 0
        for part in self._all(keep=keep):
            stop = start + len(part)
            if self.chosen is None:
                yield part
            elif self.chosen[start:stop].any():
                yield part.take(np.flatnonzero(self.chosen[start:stop]))
            start = stop

    def _all(self, *, keep: bool = True) -> Iterator[Records]:
        """Read every block, and keep them if wanted and small enough."""
        if self._seen.kept is not None:
            yield from self._seen.kept
            return
        count, size = 0, 0
        kept: list[Records] | None = [] if self.keep and keep else None
        for part in self.read():
            count, size = count + len(part), size + _bytes_of(part)
            if kept is not None:
                kept.append(part)
            if size > KEPT_BYTES:
                kept = None
            yield part
        if self._seen.count not in (None, count):
            raise UnreadableFileError(
                f"the file changed while it was read: {self._seen.count} records, then {count}"
            )
        self._seen.count, self._seen.kept = count, kept


@contextmanager
def one_thread() -> Iterator[None]:
    """Let numpy multiply in one thread.

    The limit holds for the whole process; where sums overlap, only the first sets and lifts it.
    """
    if not _LIMITED.acquire(blocking=False):
        yield
        return
    try:
        with _pools().limit(limits=1, user_api="blas"):
            yield
    finally:
        _LIMITED.release()


@cache
def _pools() -> ThreadpoolController:
    """Return numpy's threads for products; to look for them takes milliseconds."""
    return ThreadpoolController()


def moments_of(records: Records | RecordBlocks, *, exact: bool = False) -> Moments:
    """Return the moments of records, wherever they are."""
    return records.moments(exact=exact) if isinstance(records, RecordBlocks) else Moments.of(records, exact=exact)


def warn_of_one_group(moments: Moments) -> None:
    """Warn the data holder when all records are of one group."""
    if moments.domain.group is not None and moments.sum_z in (0, moments.n):
        warn_of_group(int(moments.sum_z > 0), stacklevel=3)


def warn_of_group(group: int | str, stacklevel: int) -> None:
    """Warn the data holder that all records are of one group: a fairness term then says nothing."""
    warnings.warn(one_group_warning(group), DataHolderWarning, stacklevel=stacklevel + 1)


def one_group_warning(group: int | str) -> str:
    """Return the warning for the data holder about records of one group."""
    return (
        f"all records have the group {group}, so the fairness term compares nothing "
        "(not private: for the data holder)"
    )


def in_memory(records: Records | RecordBlocks) -> Records:
    """Return records in memory, wherever they are."""
    return records.collect() if isinstance(records, RecordBlocks) else records


def part_of(records: Records | RecordBlocks, chosen: BoolArray) -> Records | RecordBlocks:
    """Return the records that a mask of shape (n,) chooses, which may be none."""
    if not chosen.any():
        return Records.none_of(records.domain)
    if isinstance(records, RecordBlocks):
        return records.where(chosen)
    return records.take(np.flatnonzero(chosen))


def folded(records: Records | RecordBlocks, work: Callable[[Iterable[Records]], _Sum]) -> _Sum:
    """Return the result of a piece of work over records, wherever they are."""
    return records.fold(work) if isinstance(records, RecordBlocks) else work([records])


def blocks_of(records: Records | RecordBlocks) -> Iterable[Records]:
    """Return the blocks of records; records in memory are one block."""
    return records.blocks() if isinstance(records, RecordBlocks) else [records]


def _bytes_of(part: Records) -> int:
    # x may not be encoded yet
    return part.y.nbytes * (part.domain.dimension + 1 + (part.z is not None))


def _joined(parts: list[Records]) -> Records:
    if not parts:
        raise EmptyDataError("there are no records")
    if len(parts) == 1:
        return parts[0]
    z = [part.z for part in parts if part.z is not None]
    return Records(
        domain=parts[0].domain,
        x=np.concatenate([part.x for part in parts]),
        y=np.concatenate([part.y for part in parts]),
        z=np.concatenate(z) if z else None,
        inside=True,
    )


def _cut_anew(parts: Iterator[Records], rows: int, *, several: bool = False) -> Iterator[Records]:
    """Yield the same records in blocks of `rows`, or of `several` times that; the last one may be shorter."""
    waiting: list[Records] = []
    for part in parts:
        if not waiting and (len(part) == rows or (several and len(part) % rows == 0)):
            yield part
            continue
        joined = _joined([*waiting, part])
        whole = len(joined) // rows * rows
        for start in range(0, whole, rows):
            yield joined.take(slice(start, start + rows))
        waiting = [joined.take(slice(whole, None))] if whole < len(joined) else []
    yield from chain(waiting)
