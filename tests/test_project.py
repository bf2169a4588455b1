"""The project's own promises: symbols, versions, documents."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def symbols() -> list[tuple[str, str]]:
    """Return (paper symbol, dotted name) for each row of docs/symbols.md."""
    text = (ROOT / "docs" / "symbols.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| ")]
    names = [
        (row[0].strip(), name) for row in rows for name in re.findall(r"`((?:reference|audit)[\w.]*)`", row[2])
    ]
    assert len(names) > 30
    return names


def resolve(name: str) -> object:
    """Return the object that a dotted name stands for: a module, or an attribute or field below one."""
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for part in parts[split:]:
            fields = getattr(found, "__dataclass_fields__", {})
            found = fields[part] if part in fields else getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize(("symbol", "name"), symbols())
def test_symbol_resolves_to_code(symbol, name):
    assert resolve(name) is not None, symbol


def test_symbol_check_fires_on_a_name_that_does_not_exist():
    with pytest.raises(AttributeError):
        resolve("reference.noise.no_such_name")
    with pytest.raises(ModuleNotFoundError):
        resolve("nothing.at.all")


def test_citation_has_the_packages_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^version: \"?([\w.]+)\"?$", citation, re.MULTILINE).group(1) == project["version"]
    assert f"## {project['version']}" in changelog or "## Unreleased" in changelog


def test_readme_names_only_make_targets_that_exist():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"make (\w+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert {"audit", "test"} <= named <= targets


@pytest.mark.parametrize(
    "page", sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
)
def test_document_links_lead_to_files(page):
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#\s]+)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_lock_has_hashes_and_no_index_address():
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = [line for line in lock.splitlines() if re.match(r"[a-z0-9]", line)]
    assert len(pins) > 20
    assert all("==" in line for line in pins)
    assert lock.count("--hash=sha256:") >= len(pins)
    assert "://" not in lock
    assert "index" not in lock.lower()


def parsers_of_abbreviations(source: str) -> list[int]:
    """Return the lines that make a command-line parser which takes abbreviated options."""
    made = [
        call
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and (call.func.attr == "ArgumentParser" or (call.func.attr == "add_parser" and call.keywords))
    ]
    return [
        call.lineno
        for call in made
        if not any(word.arg == "allow_abbrev" and ast.unparse(word.value) == "False" for word in call.keywords)
    ]


def test_no_command_takes_abbreviated_options():
    # an abbreviation changes its meaning, or fails, when an option is added
    for package in ("reference", "audit"):
        for path in (ROOT / package).rglob("*.py"):
            assert parsers_of_abbreviations(path.read_text(encoding="utf-8")) == [], path


def test_parser_of_abbreviations_is_found():
    assert parsers_of_abbreviations("top = argparse.ArgumentParser()") == [1]
    assert parsers_of_abbreviations("commands.add_parser('fit', help='train', allow_abbrev=True)") == [1]
