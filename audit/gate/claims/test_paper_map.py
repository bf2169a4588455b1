"""The paper map: as generated, complete against the paper's source, and every name in it found."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from audit.claims import paper_map
from audit.claims.digest import source_of
from audit.claims.findings import WITHOUT_PAGE
from audit.claims.ledger import committed
from audit.claims.paper_items import ITEMS, PAGE_OF, Item
from audit.claims.places import ROOT, anchor, source_file
from audit.proofs.claims import rows

EVERY = [pytest.param(item, id=f"{kind}, {item.number}") for kind, items in ITEMS.items() for item in items]


def missing(item: Item) -> list[str]:
    """Return the names of an item that lead nowhere."""
    found = []
    for name in item.code:
        try:
            source_of(name)
        except LookupError:
            found.append(name)
    theorems = {row.theorem for row in rows()}
    found += [name for name in item.claims if name not in committed()]
    found += [name for name in item.coq if name not in theorems]
    page = item.proof.partition("#")[0]
    if page and not (ROOT / "proofs" / f"{page}.md").is_file():
        found.append(page)
    return found


def test_page_is_as_generated():
    """`python -m audit claims --map` renews it."""
    assert paper_map.PATH.read_text(encoding="utf-8") == paper_map.page()


@pytest.mark.parametrize("item", EVERY)
def test_item_leads_to_code_claims_proof_and_theorems(item):
    assert item.code
    assert missing(item) == []


def test_item_that_leads_nowhere_is_found():
    item = Item("Lemma 9", "none", ("reference.nothing",), ("Z9",), "no_page", ("no_theorem",))
    assert missing(item) == ["reference.nothing", "Z9", "no_theorem", "no_page"]


def test_every_claim_of_the_ledger_is_on_the_map():
    page = paper_map.page()
    for name, row in committed().items():
        assert f"{name}: {row['verdict']}" in page
    assert set(PAGE_OF) <= set(committed())


def below(file: Path, heading: str) -> str:
    """Return the text between a heading and the next one."""
    _, *parts = re.split(r"^## (.*)\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    texts = [text for said, text in zip(parts[::2], parts[1::2], strict=True) if anchor(said) == heading]
    assert len(texts) == 1, f"{file.name}{heading}"
    return texts[0]


def test_verdict_leads_to_the_claim():
    page = paper_map.page()
    for name, row in committed().items():
        (target,) = set(re.findall(rf"\[{re.escape(name)}: [^]]*\]\(([^)]*)\)", page))
        file, sign, heading = target.partition("#")
        path = paper_map.PATH.parent / file
        if name in WITHOUT_PAGE:
            text = " ".join(below(path, sign + heading).split())
            assert "the proofs of Lemmas 2 to 4 and Theorem 4 are wrong" in text
        elif sign:
            assert row["place"] in below(path, sign + heading)
        else:
            assert row["proof"] != "wrong", "a page says what is wrong with a proof"
            assert f"def {row['check'].rpartition('.')[2]}(" in path.read_text(encoding="utf-8")
    assert "(findings/theorem-5.md#t5-refuted-its-proof-is-wrong)" in page


def test_theorem_leads_to_its_text():
    links = re.findall(r"\(\.\./proofs/(\w+\.md)(#[\w']+)\)", paper_map.page())
    assert len(links) > 40
    for file, heading in links:
        assert "**Says.**" in below(ROOT / "proofs" / file, heading)


def test_changed_verdict_changes_the_page():
    ledger = committed()
    changed = {**ledger, "L4": {**ledger["L4"], "verdict": "refuted"}}
    assert "L4: refuted" not in paper_map.page()
    assert "L4: refuted" in paper_map.page(changed)


def test_source_file_is_that_of_the_longest_module():
    assert source_file("reference.sensitivity.box.linear_change") == "reference/sensitivity/box.py"
    assert source_file("reference.sensitivity") == "reference/sensitivity/__init__.py"
    with pytest.raises(ModuleNotFoundError):
        source_file("nothing.at.all")


# --- The paper's source -----------------------------------------------------------------------------------------


def numbered(source: str, environment: str, word: str) -> list[str]:
    """Return the environments of the paper itself, numbered; its supplement restates some of them."""
    body = source.split(r"\bibliographystyle", maxsplit=1)[0]
    return [f"{word} {number}" for number, _ in enumerate(re.findall(rf"\\begin{{{environment}}}", body), start=1)]


def proofs(source: str) -> list[str]:
    """Return what the supplement proves, in its order, by the numbers that its counters give."""
    counters, found, last = {"lemma": 0, "theorem": 0}, [], ""
    supplement = source.split(r"\bibliographystyle")[1]
    pattern = r"\\addtocounter{(\w+)}{(\d+)}|\\begin{(lemma|theorem|proof)}"
    for counter, by, environment in re.findall(pattern, supplement):
        if counter:
            counters[counter] += int(by)
        elif environment == "proof":
            found.append(f"proof of {last}")
        else:
            counters[environment] += 1
            last = f"{environment.capitalize()} {counters[environment]}"
    return found


def equations(source: str) -> list[str]:
    """Return the numbers that LaTeX prints: one for each line of an align that does not suppress it."""
    count = sum(
        r"\nonumber" not in line
        for block in re.findall(r"\\begin{align}(.*?)\\end{align}", source, re.DOTALL)
        for line in re.split(r"\\\\(?!\w)", block)
        if line.strip()
    )
    return [f"({number})" for number in range(1, count + 1)]


def algorithms(source: str) -> list[list[str]]:
    """Return the commands of each algorithm, a printed line each."""
    blocks = re.findall(r"\\begin{algorithmic}\[1\](.*?)\\end{algorithmic}", source, re.DOTALL)
    return [re.findall(r"\\(STATE|FOR|IF|ELSE|ENDIF|ENDFOR)\b", block) for block in blocks]


def figures(source: str) -> list[str]:
    """Return the figures, or their parts where they have some."""
    found = []
    for number, block in enumerate(re.findall(r"\\begin{figure\*?}(.*?)\\end{figure", source, re.DOTALL), start=1):
        parts = block.count(r"\subfigure[")
        found += [f"Figure {number} ({letter})" for letter in "abc"[:parts]] or [f"Figure {number}"]
    return found


def numbers(kind: str) -> list[str]:
    return [item.number for item in ITEMS[kind]]


COMMAND_OF = {"for": "FOR", "if": "IF", "else": "ELSE", "end if": "ENDIF", "end for": "ENDFOR"}
"""How the words begin for each command but STATE."""


def command(says: str) -> str:
    """Return the LaTeX command of a line of an algorithm by its words."""
    begins = [word for word in COMMAND_OF if re.match(rf"{word}\b", says)]
    return COMMAND_OF[begins[0]] if begins else "STATE"


def differences(source: str) -> list[str]:
    """Return the kinds of items whose list is not that of the source."""
    listings = algorithms(source)
    found = {
        "Definitions": numbered(source, "definition", "Definition"),
        "Lemmas": numbered(source, "lemma", "Lemma"),
        "Theorems": numbered(source, "theorem", "Theorem"),
        "Proofs in the supplement": proofs(source),
        "Equations": [*equations(source), "Accuracy", "RD"],
        "Figures": figures(source),
        "Tables": numbered(source, "table", "Table"),
    }
    wrong = [kind for kind, expected in found.items() if numbers(kind) != expected]
    kinds = [kind for kind in ITEMS if kind.startswith("Algorithm")]
    for kind, commands in zip(kinds, listings, strict=True):
        lines = [f"line {number}" for number, _ in enumerate(commands, start=1)]
        if numbers(kind) != lines or [command(item.says) for item in ITEMS[kind]] != commands:
            wrong.append(kind)
    return wrong


@pytest.fixture
def source() -> str:
    path = os.environ.get("CFM_PAPER")
    if not path or not Path(path).is_file():
        pytest.skip("PAPER MAP NOT COMPARED: set CFM_PAPER to the paper's LaTeX source")
    return Path(path).read_text(encoding="utf-8")


def test_items_are_those_of_the_source(source):
    assert differences(source) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (r"\begin{lemma} \end{lemma}", "Lemmas"),
        (r"\begin{align} a &= b \nonumber \\ c &= d \end{align}", "Equations"),
        (r"\begin{figure} \end{figure}", "Figures"),
        (r"\begin{table} \end{table}", "Tables"),
    ],
)
def test_item_that_the_map_lacks_is_found(source, text, kind):
    assert differences(source.replace(r"\section{Conclusion}", text + r"\section{Conclusion}")) == [kind]


def test_line_that_the_map_lacks_is_found(source, monkeypatch):
    last = ITEMS["Algorithm 3: ADFC"][-1]
    shorter = {**ITEMS, "Algorithm 3: ADFC": ITEMS["Algorithm 3: ADFC"][:-1]}
    other = {**ITEMS, "Algorithm 3: ADFC": (*ITEMS["Algorithm 3: ADFC"][:-1], replace(last, says="end for"))}
    for items in (shorter, other):
        monkeypatch.setattr("audit.gate.claims.test_paper_map.ITEMS", items)
        assert differences(source) == ["Algorithm 3: ADFC"]
