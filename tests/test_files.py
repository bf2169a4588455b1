"""Output files: whole or not at all."""

from __future__ import annotations

import json
import math
import os
import threading
from pathlib import Path

import pytest

from reference.common.files import json_text, write_whole


def failing(*_arguments: object, **_options: object) -> None:
    raise OSError(28, "No space left on device")


def test_write_whole_writes_a_new_file(tmp_path: Path) -> None:
    write_whole(tmp_path / "new.txt", "naïve\n")
    assert (tmp_path / "new.txt").read_text(encoding="utf-8") == "naïve\n"
    assert [path.name for path in tmp_path.iterdir()] == ["new.txt"]


def test_write_whole_replaces_an_old_file(tmp_path: Path) -> None:
    target = tmp_path / "old.txt"
    target.write_text("a much longer old text", encoding="utf-8")
    write_whole(str(target), "new")
    assert target.read_text(encoding="utf-8") == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_write_whole_leaves_the_old_file_when_it_fails_halfway(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "old.txt"
    target.write_text("old", encoding="utf-8")
    monkeypatch.setattr(os if step == "fsync" else Path, step, failing)
    with pytest.raises(OSError, match="No space left"):
        write_whole(target, "new")
    assert target.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]


@pytest.mark.parametrize("name", ["n" * 255, "ä" * 127])
def test_write_whole_takes_the_longest_name(name: str, tmp_path: Path) -> None:
    write_whole(tmp_path / name, "new")
    assert (tmp_path / name).read_text(encoding="utf-8") == "new"
    with pytest.raises(OSError, match="File name too long"):
        write_whole(tmp_path / f"{name}--", "new")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_write_whole_leaves_nothing_when_the_text_cannot_be_encoded(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "new.txt", "a" * 100_000 + "\udcff")
    assert list(tmp_path.iterdir()) == []


def test_write_whole_into_a_missing_folder_is_an_os_error(tmp_path: Path) -> None:
    wanted = tmp_path / "missing" / "new.txt"
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(wanted, "new")
    assert str(caught.value) == f"[Errno 2] No such file or directory: {str(wanted)!r}"
    assert list(tmp_path.iterdir()) == []


def test_write_whole_over_a_folder_leaves_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "folder", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_write_whole_respects_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "new.txt", "new")
    finally:
        os.umask(before)
    assert (tmp_path / "new.txt").stat().st_mode & 0o777 == 0o640


def test_write_whole_keeps_the_rights_of_an_old_file(tmp_path: Path) -> None:
    path = tmp_path / "private.txt"
    path.touch(mode=0o600)
    write_whole(path, "new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o600)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_json_text_refuses_what_json_has_not(bad: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"deep": [{"value": bad}]})


def test_json_text_is_read_back() -> None:
    document = {"w": [0.1, -1e-300], "status": None, "delta": "1e-400"}
    assert json.loads(json_text(document)) == document
    assert json_text(document).endswith("}\n")


def test_write_whole_follows_a_symbolic_link(tmp_path: Path) -> None:
    target, link = tmp_path / "keep.txt", tmp_path / "link.txt"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"


def test_write_whole_writes_to_a_pipe_and_leaves_it_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    write_whole(pipe, "through")
    reader.join(timeout=300)
    assert received == ["through"]
    assert pipe.is_fifo()
