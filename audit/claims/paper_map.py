"""The paper map: each item of the paper with its code, claims, verdicts, proof page and theorem in Coq."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from audit.claims import findings
from audit.claims.ledger import committed
from audit.claims.paper_items import ITEMS, PAGE_OF, SENTENCES, Item
from audit.claims.places import ROOT, anchor, source_file
from audit.proofs import pages

PATH = ROOT / "docs" / "paper-map.md"

HEADINGS = ("item", "says", "code", "claims", "proof, theorem in Coq")

INTRODUCTION = """\
# The paper map

Look up any definition, lemma, theorem, equation, algorithm line, figure or table of the paper, and find its code,
verdict and proof. `cfm audit claims --claim "Lemma 4"` explains the claims of an item, `--claim T5` one of
them; [claims](claims.md#how-a-row-is-decided) says what verdicts mean. A test compares this page, which is
generated, with the paper.
"""

REST = "Elsewhere in the text"


def page(decided: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Return the page.

    Parameters
    ----------
    decided : mapping, optional
        Rows of a ledger by claim id; by default the committed ones.
    """
    ledger = committed() if decided is None else decided
    theorems = pages.places()
    lines = [INTRODUCTION]
    for heading, items in ITEMS.items():
        rows = [_cells(item, ledger, theorems) for item in _together(items)]
        # a column that is empty in this table
        shown = [place for place in range(len(HEADINGS)) if any(cells[place] for cells in rows)]
        lines += [f"## {heading}", "", _row([HEADINGS[place] for place in shown]), "|" + "---|" * len(shown)]
        lines += [_row([cells[place] for place in shown]) for cells in rows]
        lines.append("")
    rest = [_cells(item, ledger, theorems) for item in _others(ledger)]
    lines += [f"## {REST}", "", *(_line(cells) for cells in rest), ""]
    return "\n".join(lines)


def _others(ledger: Mapping[str, Mapping[str, Any]]) -> Iterator[Item]:
    """Yield an item for each claim that no other item has: sentences of the text."""
    told = {name for items in ITEMS.values() for item in items for name in item.claims}
    for name, row in ledger.items():
        if name not in told:
            yield Item(
                "",
                SENTENCES.get(name, row["statement"].rstrip(".")),
                tuple(row["symbols"][:1]),
                (name,),
                PAGE_OF.get(name, ""),
            )


def _together(items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items, with consecutive lines of an algorithm that lead to the same places as one."""
    for _, group in groupby(items, key=lambda item: (item.number.startswith("line") or item, _places(item))):
        first, *rest = group
        if rest:
            number = f"lines {first.number.split()[1]} to {rest[-1].number.split()[1]}"
            first = replace(first, number=number, says=f"{first.says}; ...")
        yield first


def _places(item: Item) -> tuple[object, ...]:
    # without a claim, the function that makes the noise is enough
    return item.code if item.claims else item.code[0], item.claims, item.proof, item.coq


def _cells(item: Item, ledger: Mapping[str, Mapping[str, Any]], theorems: Mapping[str, str]) -> tuple[str, ...]:
    return (
        item.number.replace("|", r"\|"),
        item.says.replace("|", r"\|"),
        "<br>".join(f"[`{name}`](../{source_file(name)})" for name in item.code),
        "<br>".join(_verdict(name, ledger[name]) for name in item.claims),
        "<br>".join([*_proof(item.proof), *(_theorem(name, theorems[name]) for name in item.coq)]),
    )


def _proof(place: str) -> Iterator[str]:
    page, sign, heading = place.partition("#")
    if page:
        yield f"[{page}](../proofs/{page}.md{sign}{heading})"


def _theorem(name: str, place: str) -> str:
    return f"[`{name}`](../proofs/{place})"


def _verdict(name: str, row: Mapping[str, Any]) -> str:
    proof = ", proof wrong" if row["proof"] == "wrong" else ""
    return f"[{name}: {row['verdict']}{proof}]({_decided(name, row)})"


def _decided(name: str, row: Mapping[str, Any]) -> str:
    """Return where a claim is explained: the page of its finding, findings.md, or the check that decides it."""
    if name in findings.WITHOUT_PAGE:
        return f"findings.md{anchor(findings.FINDINGS[findings.WITHOUT_PAGE[name]][0])}"
    for finding, (_, told) in findings.FINDINGS.items():
        if name in told:
            return f"findings/{finding}.md{anchor(findings.heading(name, row))}"
    return f"../{source_file(row['check'])}"


def _line(cells: Sequence[str]) -> str:
    _, says, code, verdict, proof = cells
    return f"- {verdict}. {says[0].upper()}{says[1:]} ({', '.join(filter(None, (code, proof)))})"


def _row(cells: Sequence[str]) -> str:
    filled = max(place for place, cell in enumerate(cells, start=1) if cell)
    return "| " + " | ".join(cells[:filled]) + " |"
