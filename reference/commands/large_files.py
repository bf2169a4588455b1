"""Options for files that take long to read: keep what was read, or let several machines read."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reference.commands.file_names import WrittenFile
from reference.commands.options import DataOptions
from reference.commands.parsing import option
from reference.common.errors import ReadingError
from reference.common.scheduler import LOCAL
from reference.datasets.checkpoint import CheckpointedSum
from reference.datasets.cluster import Cluster
from reference.datasets.from_file import FileReader, Way
from reference.datasets.opening import is_table_file
from reference.datasets.record_blocks import one_thread
from reference.moments import Moments
from reference.noise import Source
from reference.registry import MECHANISMS


@dataclass(frozen=True, kw_only=True)
class LargeFileOptions:
    """Large files."""

    checkpoint: str | None = option(
        "--checkpoint",
        type=WrittenFile(),
        metavar="FILE",
        help="keep the sums of what was read, so that a stopped run goes on; removed at the end (not private)",
    )
    scheduler: str | None = option(
        "--scheduler",
        metavar="ADDRESS",
        help=f"let the workers of a dask scheduler read a Parquet file; {LOCAL} makes some in this machine",
    )

    @contextmanager
    def way(self) -> Iterator[Way | None]:
        """Yield the way to add up a file that the options name; None for the usual one."""
        # as for moments, in every pass over the file
        with one_thread():
            if self.scheduler is not None:
                with Cluster(self.scheduler) as cluster:
                    kept = None if self.checkpoint is None else CheckpointedSum(self.checkpoint, sums=cluster.sums)
                    summed = cluster.moments if kept is None else partial(_said_if_kept, kept)
                    yield Way(summed=summed, folded=cluster.fold)
            elif self.checkpoint is not None:
                yield Way(summed=partial(_said_if_kept, CheckpointedSum(self.checkpoint)))
            else:
                yield None

    def require_usable(
        self, named: DataOptions, mechanisms: tuple[str, ...], test_share: float, source: Source
    ) -> None:
        """Raise unless the mechanisms need only exact sums over a whole file."""
        given = {"checkpoint": self.checkpoint, "scheduler": self.scheduler}
        name = next((name for name, value in given.items() if value is not None), None)
        if name is None:
            return
        allowed = None
        if not is_table_file(str(named.data)):
            allowed = "left out where --data is not a file"
        elif test_share != 0:
            allowed = "left out, or used with --test-share 0: the sums are those of all records"
        elif source is not None:
            allowed = "left out with --seed or --noise numpy: sums are exact for hardened noise only"
        elif not all(MECHANISMS[one].private for one in mechanisms if one in MECHANISMS):
            allowed = "left out for a mechanism that needs more than exact sums"
        if allowed is not None:
            raise ReadingError(name, given[name], allowed)

    def done(self) -> None:
        """Remove the checkpoint: its release is written."""
        if self.checkpoint is not None:
            with contextlib.suppress(OSError):
                Path(self.checkpoint).unlink()


def _said_if_kept(checkpointed: CheckpointedSum, reader: FileReader) -> Moments:
    """Return the moments; say after an interruption that what was read is kept."""
    try:
        return checkpointed.moments(reader)
    except KeyboardInterrupt:
        if Path(checkpointed.path).is_file():
            sys.stderr.write(
                f"warning: what was read is kept in {checkpointed.path}: repeat the command to go on\n"
            )
        raise
