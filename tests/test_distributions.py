"""The wheel and the source distribution, built without a network: what they hold, and that it runs elsewhere."""

from __future__ import annotations

import lzma
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest

import reference
from audit.commands.report.results import (
    BOUNDARIES,
    CATALOGUE_PAGE,
    CATALOGUE_ROWS,
    EXPERIMENTS,
    PEERS,
    VALIDITY,
)
from reference.common.exit_codes import EXIT_USAGE

ROOT = Path(__file__).parent.parent

NOT_FILES = (
    *(
        ".git",
        ".venv*",
        "build",
        "dist",
        "*.egg-info",
        "__pycache__",
        ".*cache",
        ".hypothesis",
        ".coverage*",
        "htmlcov",
    ),
    *("*.vo*", "*.glob", "*.aux", ".vscode", ".idea", ".DS_Store"),
)
"""What a checkout may hold beside its files."""

SHIPPED = {"_CoqProject", "Makefile"}
"""What the wheel takes of proofs/ beside pages and Coq files."""

ARCHIVE = "audit/common/packed.zip.xz"

READ = r"audit/(claims|proofs|vectors/v1)/[^/]*\.json$|audit/commands/report/.*(?<!\.py)$"
"""What the archive takes of the packages."""

CORE_ROWS = ("fit --mechanism pdfc --seed 1 --quiet", "audit estimate pdfc --draws 20000 --seed 1")
ROWS = (
    *CORE_ROWS,
    "audit vectors describe",
    "audit conformance --list",
    "audit claims --claim L1",
    "audit report",
)

ONLY_IN_A_CHECKOUT = (
    *("audit validity", "experiments page", "experiments question_pages"),
    *("audit vectors generate", "audit claims --write", "audit proofs --write"),
)

ONE_BY_ONE = """
import sys
from audit.commands.cfm import command
from reference.commands.parsing import run
for line in sys.argv[1:]:
    print(f"ended, {line}: {run(command, line.split(), name='cfm')}", file=sys.stderr, flush=True)
"""
"""Commands in one process: each would import the same for a second."""


PROOFS_FOUND = """
from audit.proofs import check, claims, pages, sources
print(sources.PROJECT)
print([*sources.source_problems(sources.PROJECT), *pages.problems(claims.rows(), check.committed())])
"""

ONE_VECTOR = ("--cfm-import", "json", "--cfm-only", "6030")
"""A module that answers nothing."""


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def wanted_in_archive(tree: set[str]) -> set[str]:
    """Return what the archive has to hold: the proofs, the report's results, and what modules read beside them."""
    proofs = {
        name
        for name in tree
        if name.startswith("proofs/") and (name.endswith((".md", ".v")) or Path(name).name in SHIPPED)
    }
    read = (VALIDITY, CATALOGUE_PAGE, CATALOGUE_ROWS, EXPERIMENTS, PEERS, *BOUNDARIES.values())
    measured = {name for name in tree if re.match(r"docs/data/(frontier|rivals)-.*\.json$", name)}
    return proofs | ({*read, *measured} & tree) | {name for name in tree if re.match(READ, name)}


def wanted_in_wheel(tree: set[str]) -> set[str]:
    """Return what a wheel of a tree has to hold: both packages, without tests and schemas, and the archive."""
    packages = {name for name in tree if name.startswith(("reference/", "audit/"))}
    left_out = {name for name in packages if name.startswith("audit/gate/") or "/schemas/" in name}
    return packages - left_out - wanted_in_archive(tree) | {ARCHIVE}


def outside(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program that finds nothing of this checkout by its environment."""
    env = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "CFM_DATA"}}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=600, check=False)


@dataclass(frozen=True)
class Built:
    """A tree, and what was built of it."""

    tree: Path
    wheel: Path
    source: Path

    def in_wheel(self) -> set[str]:
        with zipfile.ZipFile(self.wheel) as archive:
            names = set(archive.namelist())
        return {name for name in names if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build the source distribution of a copy of this checkout, and of that the wheel."""
    folder = tmp_path_factory.mktemp("built")
    tree, out = folder / "tree", folder / "dist"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*NOT_FILES))
    done = outside(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, tree, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,), (packed,) = out.glob("*.whl"), out.glob("*.tar.gz")
    shutil.rmtree(tree / "calibrated_functional_mechanism.egg-info")
    with tarfile.open(packed) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    return Built(tree, wheel, source)


def test_wheel_has_both_packages_and_the_proofs_and_no_tests(built: Built) -> None:
    assert built.in_wheel() == wanted_in_wheel(files_below(built.tree))
    assert f"-{reference.__version__}-py3-none-any" in built.wheel.name


def test_archive_has_the_files_of_the_checkout_and_no_time_of_the_build(built: Built) -> None:
    with (
        zipfile.ZipFile(built.wheel) as wheel,
        zipfile.ZipFile(BytesIO(lzma.decompress(wheel.read(ARCHIVE)))) as archive,
    ):
        held = {name: archive.read(name) for name in archive.namelist()}
        times = {member.date_time for member in archive.infolist()}
    names = wanted_in_archive(files_below(built.tree))
    assert held == {name: (built.tree / name).read_bytes() for name in names}
    assert list(held) == sorted(held, key=Path)
    assert times == {(1980, 1, 1, 0, 0, 0)}


def test_source_distribution_is_the_whole_checkout(built: Built) -> None:
    made = {"PKG-INFO", "setup.cfg"}  # also where the checkout is a source distribution itself
    found = {name for name in files_below(built.source) if ".egg-info/" not in name}
    assert found - made == files_below(built.tree) - made


def test_forgotten_file_and_packed_test_are_seen() -> None:
    tree = {
        "reference/a.py",
        "audit/common/b.json",
        "audit/common/schemas/c.json",
        "audit/claims/e.json",
        "audit/commands/report/assets/f.css",
        "audit/commands/report/f.py",
        "audit/gate/test_c.py",
        "proofs/coq/D.v",
        "proofs/coq/D.vo",
    }
    assert wanted_in_wheel(tree) == {
        "reference/a.py",
        "audit/common/b.json",
        "audit/commands/report/f.py",
        ARCHIVE,
    }
    assert wanted_in_archive(tree) == {
        "audit/claims/e.json",
        "audit/commands/report/assets/f.css",
        "proofs/coq/D.v",
    }


@pytest.fixture(scope="module")
def cfm(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel alone into a new environment that finds the libraries of this one; return its `cfm`."""
    home = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    python = home / "bin" / "python"
    made = sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)})
    # only folders that site adds itself have their .pth files read: this checkout stays out
    Path(made, "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--no-compile")
    done = outside(*pip, "--force-reinstall", "--ignore-installed", built.wheel, cwd=home)
    assert done.returncode == 0, done.stderr
    return home / "bin" / "cfm"


@pytest.mark.exhaustive
def test_installed_wheel_runs_from_another_folder_and_writes_nothing(cfm: Path, tmp_path: Path) -> None:
    python = cfm.with_name("python")
    where, problems = outside(python, "-c", PROOFS_FOUND, cwd=tmp_path).stdout.splitlines()
    assert Path(where).is_relative_to(cfm.parents[1])
    assert problems == "[]"
    assert outside(cfm, "--version", cwd=tmp_path).stdout.strip().endswith(f" {reference.__version__}")
    done = outside(cfm, *ROWS[0].split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = (*ROWS[1:], "audit certify --help", "audit proofs --help", *ONLY_IN_A_CHECKOUT)
    done = outside(python, "-c", ONE_BY_ONE, *lines, cwd=tmp_path)
    codes = dict(line.rpartition(": ")[::2] for line in done.stderr.splitlines() if line.startswith("ended, "))
    assert codes == {f"ended, {line}": str(EXIT_USAGE if line in ONLY_IN_A_CHECKOUT else 0) for line in lines}, (
        done.stderr
    )
    assert done.stderr.count("checkout") == len(ONLY_IN_A_CHECKOUT)
    done = outside(python, "-m", "pytest", "--color=no", "-p", "no:cacheprovider", *ONE_VECTOR, cwd=tmp_path)
    assert "1 failed" in done.stdout
    assert list(tmp_path.iterdir()) == []


def interpreter(version: str) -> str | None:
    """Return a Python of this version that is on this machine, also one that pyenv keeps aside."""
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for name in (f"python{version}", *map(str, kept)):
        found = shutil.which(name)
        # pyenv's shims stand for versions that are not chosen, too
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
    return None


OTHERS = [version for version in ("3.11", "3.12", "3.13") if version != "{}.{}".format(*sys.version_info)]


@pytest.mark.parametrize(
    "version",
    [
        pytest.param(one, marks=pytest.mark.exhaustive if one == OTHERS[-1] else pytest.mark.lengthy)
        for one in OTHERS
    ],
)
def test_core_installs_and_runs_on_other_pythons(version: str, built: Built, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not on this machine")
    home, work = tmp_path / "environment", tmp_path / "work"
    work.mkdir()
    subprocess.run([python, "-m", "venv", "--without-pip", home], check=True)
    pip = (sys.executable, "-m", "pip", "--python", home / "bin" / "python", "install", "--quiet")
    pip += ("--no-compile", "--disable-pip-version-check")
    if outside(*pip, "--no-deps", "click", cwd=work).returncode:
        pytest.skip("no package index can be reached")
    done = outside(*pip, built.wheel, cwd=work)
    assert done.returncode == 0, done.stderr
    for words in CORE_ROWS:
        done = outside(home / "bin" / "cfm", *words.split(), cwd=work)
        assert done.returncode == 0, f"{words}: {done.stderr}"
    assert list(work.iterdir()) == []


@pytest.mark.exhaustive
def test_source_distribution_passes_tests_of_its_own(built: Built) -> None:
    tests = ("tests/test_numbers.py", "audit/gate/commands/test_text.py")
    done = outside(
        sys.executable, "-m", "pytest", "--color=no", "-p", "no:cacheprovider", *tests, cwd=built.source
    )
    assert done.returncode == 0, done.stdout
    assert f"rootdir: {built.source}" in done.stdout
