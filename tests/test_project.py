"""The project's own promises: symbols, versions, documents."""

from __future__ import annotations

import ast
import csv
import importlib.metadata
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import reference

ROOT = Path(__file__).parent.parent


def symbols() -> list[tuple[str, str]]:
    """Return (paper symbol, dotted name) for each row of docs/symbols.csv."""
    rows = csv.reader((ROOT / "docs" / "symbols.csv").read_text(encoding="utf-8").splitlines())
    names = [(row[0], name) for row in rows for name in re.findall(r"`((?:reference|audit)[\w.]*)`", row[2])]
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


FOLDERS = ("", "docs/**/", "proofs/**/")
"""Where the pages are that a person reads."""

PAGES = sorted(path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in ROOT.glob(f"{folder}*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_names_on_a_page_resolve_to_code(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for name in re.findall(r"`((?:reference|audit)(?:\.\w+)+)`", text):
        if not name.endswith(".py"):
            resolve(name)


def absent_pages(text: str) -> list[str]:
    """Return the pages that a text names by their place below the root, and that are not there."""
    names = re.findall(r"\b((?:docs|proofs)/[\w/-]+\.md)\b", text)
    return [name for name in names if not (ROOT / name).is_file()]


def test_code_names_pages_that_exist():
    for folder in ("reference", "audit"):
        for path in (ROOT / folder).rglob("*.py"):
            if "gate" not in path.parts:
                assert absent_pages(path.read_text(encoding="utf-8")) == [], path


def test_absent_page_is_found():
    assert absent_pages("see ``docs/claims.md`` and ``proofs/theorem_6.md``") == ["proofs/theorem_6.md"]


def reached(start: str) -> set[str]:
    """Return the pages that links lead to, from one page on."""
    found, left = {start}, [start]
    while left:
        page = ROOT / left.pop()
        for link in re.findall(r"\]\(([^)#\s]+\.md)", page.read_text(encoding="utf-8")):
            name = (page.parent / link).resolve()
            if name.is_relative_to(ROOT) and (name := name.relative_to(ROOT).as_posix()) not in found:
                found.add(name)
                left.append(name)
    return found


def test_readme_leads_to_every_page():
    assert reached("README.md") >= set(PAGES)


def test_readme_links_the_paper_map_first():
    assert (
        re.findall(r"\]\(([^)#\s]+\.md)", (ROOT / "README.md").read_text(encoding="utf-8"))[0]
        == "docs/paper-map.md"
    )


@pytest.mark.parametrize(
    ("heading", "item"), [("Lemmas", "Lemma 4"), ("Theorems", "Theorem 3"), ("Algorithm 3: ADFC", "line 20")]
)
def test_paper_map_names_code_verdict_and_proof(heading, item):
    part = (
        (ROOT / "docs" / "paper-map.md")
        .read_text(encoding="utf-8")
        .split(f"\n## {heading}\n")[1]
        .split("\n## ")[0]
    )
    (row,) = [line.split(" | ") for line in part.splitlines() if line.startswith(f"| {item} | ")]
    code, verdict, proof = row[2:5]
    assert "](../reference/" in code
    assert "proved" in verdict
    assert "](../proofs/" in proof


def test_page_without_links_leads_nowhere():
    assert reached("LICENSE") == {"LICENSE"}


def names_of_two_classes(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the names that public classes of several places share, with the places; sources by file."""
    places: dict[str, list[str]] = {}
    for file, text in sources.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(f"{file}:{node.lineno}")
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_two_public_classes_share_a_name():
    files = [path for room in ("reference", "audit") for path in (ROOT / room).rglob("*.py")]
    sources = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in files
        if "gate" not in path.parts
    }
    assert len(sources) > 200
    assert names_of_two_classes(sources) == {}


def test_name_of_two_classes_is_found():
    sources = {"one.py": "class Row: ...\nclass _Own: ...\n", "two.py": "class Row: ...\nclass _Own: ...\n"}
    assert names_of_two_classes(sources) == {"Row": ["one.py:1", "two.py:1"]}
    assert names_of_two_classes({"one.py": "class Row: ...\n"}) == {}


LABELS = (
    "Claim",
    "Source",
    "Verdict",
    "Precondition",
    "Symbol",
    "Postcondition",
    "Proof",
    "Checks",
    "Differences from the paper",
)
"""Of a proof on paper, in their order."""


def out_of_order(text: str) -> list[str]:
    """Return the sections of a proof page whose labels are not in their order, after each claim anew."""
    sections = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    wrong = []
    for heading, section in zip(sections[1::2], sections[2::2], strict=True):
        places = [LABELS.index(label) for label in re.findall(r"\*\*([^*]+?)\.\*\*", section) if label in LABELS]
        pairs = itertools.pairwise(places)
        if any(later <= earlier for earlier, later in pairs if later != LABELS.index("Claim")):
            wrong.append(heading)
    return wrong


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("proofs/")])
def test_proof_has_its_parts_in_order(page):
    assert out_of_order((ROOT / page).read_text(encoding="utf-8")) == []


def test_proof_with_its_parts_out_of_order_is_found():
    parts = "**Claim.** a **Proof.** b **Claim.** c **Source.** d **Proof.** e **Checks.** f\n"
    assert out_of_order(f"# Page\n\n## One\n\n{parts}") == []
    assert out_of_order(f"# Page\n\n## One\n\n{parts}\n## Two\n\n**Proof.** a **Symbol.** b\n") == ["Two"]


def test_decisions_take_a_paragraph_each_and_the_changelog_a_page():
    text = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    paragraphs = [part.split() for part in text.split("\n\n") if part.startswith("**")]
    assert len(paragraphs) > 10
    assert max(map(len, paragraphs)) <= 80
    assert len((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()) <= 60


def anchors(text: str) -> set[str]:
    """Return what a link may name after `#`, for each heading of a page."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def broken_links(page: Path, text: str) -> Iterator[str]:
    """Yield the links of a page that lead to no file, or to no heading of a page."""
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            yield link


def test_citation_has_the_packages_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^version: \"?([\w.]+)\"?$", citation, re.MULTILINE).group(1) == reference.__version__
    assert f"## {reference.__version__}" in changelog or "## Unreleased" in changelog


def test_readme_names_only_make_targets_that_exist():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"make (\w+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert {"audit", "test"} <= named <= targets


@pytest.mark.parametrize("page", PAGES)
def test_document_links_lead_to_files_and_headings(page):
    path = ROOT / page
    assert list(broken_links(path, path.read_text(encoding="utf-8"))) == []


def test_broken_links_are_found():
    page = ROOT / "README.md"
    good = "[a](docs/claims.md#how-a-row-is-decided) [b](LICENSE) [c](https://example.org/nothing#here)"
    assert list(broken_links(page, good)) == []
    assert list(broken_links(page, "[a](docs/no.md) [b](docs/claims.md#no-rows)")) == [
        "docs/no.md",
        "docs/claims.md#no-rows",
    ]


DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def only_for_tests(sources: Mapping[str, str], pages: str) -> list[str]:
    """Return the functions and classes that no source uses by name and no page names; docstrings do not count."""
    defined: list[str] = []
    used = set(re.findall(r"\w+", pages))
    for source in sources.values():
        tree = ast.parse(source)
        # pytest calls hooks and fixtures itself
        defined += [
            node.name
            for node in tree.body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            and not node.name.startswith("pytest_")
            and not any("fixture" in ast.unparse(decorator) for decorator in node.decorator_list)
        ]
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
                node.body[0].value = ast.Constant(None)
            elif isinstance(node, (ast.Name, ast.Attribute)):
                used.add(node.id if isinstance(node, ast.Name) else node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                used |= set(re.findall(r"\w+", node.value))
    return [name for name in defined if name not in used]


def test_what_is_shipped_is_for_more_than_tests():
    found = [path for folder in ("reference", "audit") for path in (ROOT / folder).rglob("*.py")]
    sources = {str(path): path.read_text(encoding="utf-8") for path in found if "gate" not in path.parts}
    # documents name what is registered: checks, broken variants, tagged types
    named = [ROOT / page for page in PAGES] + list((ROOT / "audit").rglob("*.json"))
    assert only_for_tests(sources, "\n".join(path.read_text(encoding="utf-8") for path in named)) == []


def test_what_only_tests_use_is_found():
    sources = {"a": 'def one():\n    """As two."""\n\n\ndef two():\n    return one()\n', "b": "class Three: ...\n"}
    assert only_for_tests(sources, "") == ["two", "Three"]
    assert only_for_tests({**sources, "c": "kept = Three"}, "`a.two`") == []


LONGEST_TEST_NAME = 70


def long_test_names(source: str) -> list[str]:
    """Return the names of tests that do not fit a line of a report."""
    return [
        name for name in re.findall(r"^ *def (test_\w+)", source, re.MULTILINE) if len(name) > LONGEST_TEST_NAME
    ]


def test_names_of_tests_fit_a_line():
    for folder in ("tests", "audit/gate"):
        for path in (ROOT / folder).rglob("test_*.py"):
            assert long_test_names(path.read_text(encoding="utf-8")) == [], path


def test_long_name_of_a_test_is_found():
    names = ["test_" + "a" * length for length in (LONGEST_TEST_NAME - 5, LONGEST_TEST_NAME - 4)]
    assert long_test_names("".join(f"def {name}():\n    pass\n" for name in names)) == names[1:]


def test_lock_has_hashes_and_no_index_address():
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = [line for line in lock.splitlines() if re.match(r"[a-z0-9]", line)]
    assert len(pins) > 20
    assert all("==" in line for line in pins)
    assert lock.count("--hash=sha256:") >= len(pins)
    assert "://" not in lock
    assert "index" not in lock.lower()


def unlocked_extras(lock: str) -> list[str]:
    """Return the requirements with extras of what is installed that `lock` does not pin with these extras."""
    pinned = [Requirement(line.split(" \\")[0]) for line in lock.splitlines() if re.match(r"[a-z0-9]", line)]
    extras = {pin.name: pin.extras for pin in pinned}
    return [
        text
        for installed in importlib.metadata.distributions()
        if installed.name in extras
        for text in installed.requires or ()
        if (needed := Requirement(text)).extras
        and (needed.marker is None or needed.marker.evaluate({"extra": ""}))
        and not needed.extras <= extras.get(needed.name, set())
    ]


def test_lock_pins_extras_so_that_a_newer_release_does_not_break_it():
    # For `coverage[toml]>=7` pip takes the newest release, whatever plain `coverage` is pinned to, and stops.
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert unlocked_extras(lock) == []
    without = unlocked_extras(lock.replace("coverage[toml]==", "coverage=="))
    assert [text.split(">")[0] for text in without] == ["coverage[toml]"]


def parsers_by_hand(source: str) -> list[str]:
    """Return what a file imports to read command lines by itself."""
    names = {"argparse", "optparse", "getopt"}
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name in names]
        elif isinstance(node, ast.ImportFrom) and node.module in names:
            found.append(node.module)
    return found


def test_every_command_line_is_read_by_one_library():
    for folder in ("reference", "audit"):
        for path in (ROOT / folder).rglob("*.py"):
            assert parsers_by_hand(path.read_text(encoding="utf-8")) == [], path


def test_a_parser_by_hand_is_found():
    assert parsers_by_hand("import argparse") == ["argparse"]
    assert parsers_by_hand("def f():\n    from argparse import Namespace") == ["argparse"]


LONGEST_FILE = 500


def long_files(lines: Mapping[str, int]) -> list[str]:
    """Return the files of code that are too long to be read at once; the ledger's rows may be."""
    return [name for name, count in lines.items() if count > LONGEST_FILE and "audit/claims/rows/" not in name]


def test_no_file_of_code_is_long():
    paths = [
        ROOT / "conftest.py",
        *(
            path
            for room in ("reference", "audit", "tests", "docs", "proofs")
            for path in (ROOT / room).rglob("*.py")
        ),
    ]
    lines = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in paths
    }
    assert len(lines) > 200
    assert long_files(lines) == []


def test_a_long_file_is_found():
    made = {"audit/short.py": 500, "tests/test_long.py": 501, "audit/claims/rows/long.py": 900}
    assert long_files(made) == ["tests/test_long.py"]


def absent_tests(page: str) -> list[str]:
    """Return the tests that the right-hand column of a table names and that are not there."""
    rows = [line.split(" | ", 1)[1] for line in page.splitlines() if line.startswith("| `")]
    named = re.findall(r"`((?:tests|audit)/[\w/]+\.py)::(test_\w+)", "\n".join(rows))
    return [
        name
        for file, name in named
        if not (ROOT / file).is_file() or f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8")
    ]


def test_successors_of_earlier_tests_are_there():
    page = (ROOT / "tests" / "successors.md").read_text(encoding="utf-8")
    assert page.count("\n| `") > 100
    assert absent_tests(page) == []


def test_successor_that_is_not_there_is_found():
    page = """
| `tests/gone.py::test_gone` | `tests/test_project.py::test_a_parser_by_hand_is_found` |
| `tests/gone.py::test_other` | `tests/test_project.py::test_that_nobody_wrote` |
| `tests/gone.py::test_third` | `tests/test_nowhere.py::test_third` |
"""
    assert absent_tests(page) == ["test_that_nobody_wrote", "test_third"]
