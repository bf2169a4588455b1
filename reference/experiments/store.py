"""Finished runs in a file of JSON lines: appended one by one, read back after an interruption."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any

from reference.common.documents import converted, plain
from reference.common.errors import CorruptRunStoreError, OtherRunStoreError, RunStoreError
from reference.experiments.study import RunResult, RunSpec

SCHEMA = "experiment_runs_v1"

LIBRARIES = ("numpy", "scipy", "scikit-learn")
"""Libraries whose versions may change a result."""


def code_fingerprint() -> str:
    """Return the SHA-256 of the code between data and result: this package without its presentation."""
    package = Path(__file__).parent.parent
    shown_only = {package / "experiments", package / "commands"}
    kept = {package / "experiments" / name for name in ("splits.py", "study.py")}
    found = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if shown_only.isdisjoint(path.parents) or path in kept:
            found.update(f"{path.relative_to(package).as_posix()}\n".encode() + path.read_bytes())
    return found.hexdigest()


def header() -> dict[str, Any]:
    """Return the first line: what, besides a specification, results depend on."""
    return {"schema": SCHEMA, "code": code_fingerprint(), **{name: version(name) for name in LIBRARIES}}


class RunStore:
    """A file of finished runs, keyed by the digest of their specification.

    Each line carries a checksum.  A truncated last line, as after a crash of the machine, is dropped; any other
    line that is not as it was written is an error, because a changed result must not reach a table.  A store
    that other code or other versions of the libraries wrote is refused.  One process at a time may open it.

    Parameters
    ----------
    path : str or Path
        Made when it does not exist.

    Raises
    ------
    reference.common.errors.RunStoreError
        One subclass per reason.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()
        try:
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as problem:
            raise RunStoreError(f"cannot be opened: {problem.strerror}", str(self.path)) from problem
        try:
            _lock(self._handle, self.path)
            self._runs = self._read()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> RunStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._runs)

    def __contains__(self, spec: RunSpec) -> bool:
        return spec.digest in self._runs

    def __getitem__(self, spec: RunSpec) -> RunResult:
        return self._runs[spec.digest]

    def close(self) -> None:
        """Release the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def add(self, finished: Sequence[tuple[RunSpec, RunResult]]) -> None:
        """Append runs; when this returns they are on disk.

        Raises
        ------
        reference.common.errors.RunStoreError
            When they cannot be written; nothing is then left of them.
        """
        lines = [_line({"spec": plain(spec), "result": plain(result)}) for spec, result in finished]
        self._append(b"".join(lines))
        self._runs.update({spec.digest: result for spec, result in finished})

    def _append(self, content: bytes) -> None:
        size = os.fstat(self._handle).st_size
        try:
            written = os.write(self._handle, content)
            os.fsync(self._handle)
        except OSError as problem:
            os.ftruncate(self._handle, size)
            raise RunStoreError(f"cannot be written: {problem.strerror}", str(self.path)) from problem
        if written < len(content):
            os.ftruncate(self._handle, size)
            raise RunStoreError("cannot be written: no space left", str(self.path))

    def _read(self) -> dict[str, RunResult]:
        text = os.pread(self._handle, os.fstat(self._handle).st_size, 0)
        whole_lines = text[: text.rfind(b"\n") + 1]
        documents = list(_documents(whole_lines, str(self.path)))
        # only once every whole line has proved to belong to a store: another file must not be cut
        if documents and documents[0] != header():
            raise OtherRunStoreError(
                "was written by other code or with other libraries; name another folder, or delete it",
                str(self.path),
                1,
            )
        if not documents and text and not _line(header()).startswith(text):
            raise CorruptRunStoreError("is not a store of runs", str(self.path), 1)
        os.ftruncate(self._handle, len(whole_lines))
        if not documents:
            self._append(_line(header()))
        return dict(_runs(documents[1:], str(self.path)))


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps({**document, "checksum": _checksum(document)}, allow_nan=False).encode() + b"\n"


def _checksum(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document).encode()).hexdigest()


def _documents(text: bytes, file: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            document = json.loads(line)
            checksum = document.pop("checksum")
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise CorruptRunStoreError(f"not a line of a store of runs: {problem}", file, number) from problem
        if checksum != _checksum(document):
            raise CorruptRunStoreError("the line is not as it was written", file, number)
        yield document


def _runs(documents: Sequence[dict[str, Any]], file: str) -> Iterator[tuple[str, RunResult]]:
    for number, document in enumerate(documents, start=2):
        try:
            yield RunSpec.from_json(document["spec"]).digest, converted(document["result"], RunResult)
        except (KeyError, TypeError, ValueError) as problem:
            raise CorruptRunStoreError(f"no run: {problem}", file, number) from problem


def _lock(handle: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:
        raise RunStoreError("a store of runs needs POSIX file locks, which this system lacks", str(path)) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as problem:
        raise RunStoreError("is in use by another process", str(path)) from problem
