"""The archive that a wheel has instead of files of the checkout: read alike, and never renewed."""

from __future__ import annotations

import lzma
from io import BytesIO
from zipfile import ZipFile

import pytest

# what they read at import is the checkout's, whichever test runs first
import audit.commands.claims
import audit.commands.proofs
import audit.commands.vectors  # noqa: F401
from audit.common import packed
from audit.gate.running import program
from reference.common.errors import UnreadableFileError

FILES = ("proofs/coq/_CoqProject", "proofs/coq/Certificates.v", "proofs/theorem_5.md")

RENEWED = (("vectors", "generate"), ("claims", "--write"), ("proofs", "--write"))


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        for name in FILES:
            archive.writestr(name, (packed.CHECKOUT / name).read_bytes())
    path = tmp_path / "packed.zip.xz"
    path.write_bytes(lzma.compress(content.getvalue()))
    for module in ("audit.common.packed", "audit.commands.options"):
        monkeypatch.setattr(f"{module}.ARCHIVE", path)
    packed._root.cache_clear()
    yield path
    packed._root.cache_clear()


def test_packed_files_are_read_as_those_of_the_checkout(wheel):
    for name in FILES:
        assert packed.place_of(name).read_bytes() == (packed.CHECKOUT / name).read_bytes()
    held = packed.members(packed.place_of("proofs/coq"))
    assert [path.name for path in held] == ["Certificates.v", "_CoqProject"]
    assert str(held[0]) == f"{wheel}/proofs/coq/Certificates.v"
    assert not packed.place_of("proofs/coq/Missing.v").is_file()


@pytest.mark.parametrize("part", [0, 20, 0.5])
def test_damaged_archive_says_what_to_do(wheel, part):
    content = wheel.read_bytes()
    wheel.write_bytes(content[: int(len(content) * part) if part < 1 else part])
    with pytest.raises(UnreadableFileError, match="install the package again"):
        packed.place_of("proofs")


def test_without_an_archive_files_are_those_of_the_checkout():
    assert packed.place_of("proofs") == packed.CHECKOUT / "proofs"
    assert {path.name for path in packed.members(packed.place_of("proofs"))} >= {"coq", "theorem_5.md"}


@pytest.mark.usefixtures("wheel")
@pytest.mark.parametrize("words", RENEWED)
def test_what_is_packed_is_not_renewed(words, capsys):
    assert program(*words)([]) == 2
    assert "needs a checkout" in capsys.readouterr().err
