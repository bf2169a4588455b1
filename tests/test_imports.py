"""Contracts of who imports whom (`make lint`) fire on a forbidden import; light rooms load no heavy library."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent

PLANTED = {
    "reference/records.py": ("import audit.bounds", "Rooms of the reference"),
    "reference/minimiser.py": ("import reference.moments", "The minimiser cannot reach data"),
    "audit/bounds/counts.py": ("import audit.auditor", "Rooms of the audit"),
    "audit/auditor/draws.py": ("import audit.subjects", "Rooms of the audit"),
    "audit/exact/privacy.py": ("import click", "Only commands read options"),
    "reference/moments.py": ("import pandas", "Data frames stay in the datasets"),
    "audit/evidence/verify.py": ("import opendp", "Released noise comes from one module"),
    "audit/vectors/sources/scales.py": ("import reference.common.numbers", "The second source of the vectors"),
    "audit/claims/ledger.py": ("import audit.commands", "Rooms of the audit"),
}
"""Of each file an import that no contract allows, and the contract that says so."""


def broken(root: Path) -> set[str]:
    """Return the names of the contracts that a tree breaks."""
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-cache", "--no-logo"], cwd=root, check=False, capture_output=True, text=True
    )
    lines = done.stdout.replace("\n", " ").split("Contracts:")[0].split("KEPT")
    found = {name for line in lines for name in line.split("BROKEN")[:-1]}
    assert (done.returncode == 0) == (not found), done.stdout + done.stderr
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of both packages without their tests."""
    for package in ("reference", "audit"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("test_*", "__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_contracts_are_kept_by_the_tree_and_broken_by_planted_imports(tree: Path) -> None:
    assert broken(tree) == set()
    for name, (line, _) in PLANTED.items():
        file = tree / name
        # under TYPE_CHECKING: that counts, too
        text = f"\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    {line}\n"
        file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")
    found = " ".join(broken(tree))
    for name, (_, contract) in PLANTED.items():
        assert contract in found, name


@pytest.mark.parametrize(
    ("rooms", "absent"),
    [
        (
            "reference.domain reference.moments reference.minimiser reference.noise",
            "pandas pyarrow statsmodels sklearn",
        ),
        (
            "reference.minimiser",
            "reference.moments reference.objective reference.records reference.domain reference.datasets",
        ),
        ("reference.mechanisms reference.classifier", "flint opendp sympy matplotlib reference.datasets.named"),
    ],
)
def test_light_rooms_load_nothing_heavy(rooms: str, absent: str) -> None:
    code = (
        f"import sys, {', '.join(rooms.split())}\n"
        f"loaded = [name for name in {absent.split()} if name in sys.modules]\n"
        "sys.exit(str(loaded) if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


MOST_ROOMS = {"reference": 23, "audit": 15}
MOST_ARROWS = 45
MOST_ROOMS_ON_THE_WAY = 14
FACES = {"__init__.py", "py.typed"}
"""What a package needs and nobody walks through; of the reference they are counted all the same."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Return who imports whom, imports under TYPE_CHECKING among them."""
    return grimp.build_graph("reference", "audit", cache_dir=None)


def room(module: str) -> str:
    """Return the room of a module: what stands at the top of its package."""
    return ".".join(module.split(".")[:2])


def arrows(graph: grimp.ImportGraph, package: str) -> set[tuple[str, str]]:
    """Return which room imports which, in one package; the gate mirrors all rooms and is not counted."""
    found = {(room(a), room(b)) for a in graph.modules for b in graph.find_modules_directly_imported_by(a)}
    inside = {(a, b) for a, b in found if a.startswith(f"{package}.") and b.startswith(f"{package}.")}
    return {(a, b) for a, b in inside if a not in (b, "audit.gate")}


def for_one_room(graph: grimp.ImportGraph, package: str) -> list[str]:
    """Return what lies in `common` and serves one room only; what serves others of `common` serves two."""
    return [
        module
        for module in sorted(graph.find_children(f"{package}.common"))
        if len({room(it) for it in graph.find_modules_that_directly_import(module)} - {"audit.gate"}) < 2
    ]


def test_house_has_as_many_rooms_and_arrows_as_it_may(graph: grimp.ImportGraph) -> None:
    entries = {name: {it.name for it in (ROOT / name).iterdir()} - {"__pycache__"} for name in MOST_ROOMS}
    assert len(entries["reference"]) <= MOST_ROOMS["reference"]
    assert len(entries["audit"] - FACES) <= MOST_ROOMS["audit"]
    assert len(arrows(graph, "audit")) <= MOST_ARROWS


def test_common_holds_what_two_rooms_use(graph: grimp.ImportGraph) -> None:
    assert for_one_room(graph, "reference") == for_one_room(graph, "audit") == []


def test_counts_see_what_is_planted() -> None:
    graph = grimp.ImportGraph()
    for importer in ("audit.exact.a", "audit.exact.b", "audit.gate.test_a", "audit.common.c"):
        graph.add_import(
            importer=importer, imported="audit.common.lonely" if importer[-1] != "c" else "audit.common"
        )
    graph.add_import(importer="audit.exact.a", imported="audit.common.shared")
    graph.add_import(importer="audit.claims.a", imported="audit.common.shared")
    graph.add_module("audit.common")
    assert for_one_room(graph, "audit") == ["audit.common.c", "audit.common.lonely"]
    assert arrows(graph, "audit") == {("audit.exact", "audit.common"), ("audit.claims", "audit.common")}


def test_way_from_a_pair_to_a_verified_certificate_is_short(graph: grimp.ImportGraph) -> None:
    way = {"audit.commands.estimate", "audit.commands.verify"}
    way |= {it for command in way for it in graph.find_upstream_modules(command)}
    assert len({room(it) for it in way if it.startswith("audit.")}) <= MOST_ROOMS_ON_THE_WAY
