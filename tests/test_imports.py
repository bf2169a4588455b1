"""Who may import whom: the rules that make post-processing provable by reading."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def modules(package: str) -> dict[str, Path]:
    """Return the modules of a package by dotted name."""
    found = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, *, type_checking: bool = False) -> set[str]:
    """Return the dotted names that a file imports at run time, at any depth."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not type_checking
        for inner in ast.walk(node)
    }
    names = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def reachable(start: str) -> set[str]:
    """Return every module of `reference` that importing `start` brings in."""
    known = modules("reference")
    seen, todo = set(), [start]
    while todo:
        name = todo.pop()
        if name in seen or name not in known:
            continue
        seen.add(name)
        todo.extend(imports(known[name]))
    return seen


def test_reference_never_imports_audit():
    for name, path in modules("reference").items():
        offending = {used for used in imports(path, type_checking=True) if used.split(".")[0] == "audit"}
        assert not offending, name


def test_import_scan_sees_an_import(tmp_path):
    file = tmp_path / "module.py"
    file.write_text("def f():\n    from audit import bounds\n", encoding="utf-8")
    assert "audit.bounds" in imports(file)


@pytest.mark.parametrize("forbidden", ["moments", "objective", "records", "datasets", "domain"])
def test_minimiser_cannot_reach_what_reads_records(forbidden):
    assert not {name for name in reachable("reference.minimiser") if name.startswith(f"reference.{forbidden}")}


def test_mechanisms_do_reach_moments():
    assert "reference.moments" in reachable("reference.mechanisms")


def order(graph: dict[str, set[str]]) -> list[str]:
    """Return modules so that each comes after what it imports."""
    return list(TopologicalSorter(graph).static_order())


def test_no_module_imports_itself_through_others():
    known = {**modules("reference"), **modules("audit")}
    uses = {name: imports(path) & set(known) for name, path in known.items()}
    # a module may import its sister from their package, which it does not need itself
    order({name: used - {name, name.rpartition(".")[0]} for name, used in uses.items()})


def test_a_circle_of_imports_is_found():
    with pytest.raises(CycleError):
        order({"a": {"b"}, "b": {"c"}, "c": {"a"}})


@pytest.mark.parametrize("package", ["pandas", "pyarrow", "statsmodels"])
def test_data_packages_are_imported_by_datasets_only(package):
    users = {
        name
        for name, path in modules("reference").items()
        if any(used.split(".")[0] == package for used in imports(path))
    }
    assert all(name.startswith("reference.datasets") for name in users)


def test_opendp_is_imported_by_the_noise_room_only():
    users = {
        name
        for name, path in modules("reference").items()
        if any(used.split(".")[0] == "opendp" for used in imports(path))
    }
    assert users == {"reference.noise.hardened"}


def test_importing_the_mechanisms_does_not_load_data_packages():
    code = (
        "import sys, reference.domain, reference.moments, reference.minimiser, reference.noise\n"
        "sys.exit(any(name in sys.modules for name in ('pandas', 'pyarrow', 'statsmodels', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_minimiser_module_is_loaded_without_the_modules_that_read_records():
    code = (
        "import sys, reference.minimiser\n"
        "names = ('moments', 'objective', 'records', 'domain', 'datasets')\n"
        "bad = [name for name in names if f'reference.{name}' in sys.modules]\n"
        "sys.exit(str(bad) if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
