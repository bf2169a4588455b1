"""A page for each finding of docs/findings.md, from the ledger's rows on its claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from audit.claims.ledger import committed
from audit.claims.places import ROOT, source_file
from audit.claims.registry import claims
from audit.claims.render import evidence_lines
from audit.proofs import pages

FOLDER = ROOT / "docs" / "findings"

MORE = {
    "theorem-5": "../../proofs/theorem_5.md",
    "theorem-3": "../../proofs/theorem_3.md",
    "lemmas": "../../proofs/sensitivities.md",
    "fairness-term": "../../proofs/objective_and_release.md",
    "no-minimum": "../../proofs/objective_and_release.md",
    "noise-on-x_s": "../experiments_x_s.md",
    "impossible-entries": "../../proofs/printed_tables.md",
    "floating-point": "../../proofs/objective_and_release.md#afloat-doubles-that-cannot-be",
}
"""The proof behind each page, or the study."""

FINDINGS = {
    "theorem-5": ("Theorem 5 is false as stated", ("T5", "T5.regime", "T5.released")),
    "theorem-3": ("Theorem 3 is true by luck", ("T3", "T3.exact")),
    "lemmas": ("The lemmas hold", ("L2", "L2.alpha", "T4.step")),
    "fairness-term": ("The fairness term ensures nothing", ("O4", "O4.adult")),
    "no-minimum": ("The noisy objective has no minimum", ("A.argmin", "A.fix.resample")),
    "noise-on-x_s": ("More noise on x_s does not make predictions fairer", ("A.corr",)),
    "impossible-entries": ("Five table entries are impossible", ("E.sd",)),
    "floating-point": ("Floating-point noise does not keep the theorems", ("A.float",)),
}
"""The title of each page, and its claims; docs/findings.md names the others."""

WITHOUT_PAGE = {"L3": "lemmas", "L4": "lemmas", "T4": "lemmas"}
"""Claims with a wrong proof of which docs/findings.md has a sentence, under the title of a page."""

EVIDENCE = ("Evidence", "Counterexample")

FLOATS = ("functional, epsilon 1", "relaxed_functional, epsilon 1")
"""Mechanisms whose releases were looked at bit by bit."""

Way = tuple[str | int | tuple[str, ...], ...]
"""Keys and positions, from the whole evidence to a part; a tuple keeps these fields of each entry."""

WITNESS: tuple[Way, ...] = (("witness", "left"), ("witness", "right"))
"""The two data sets of a judgement."""

SHOWN: dict[str, tuple[Way, ...]] = {
    "T5": (
        ("budget",),
        ("claimed_delta",),
        ("exact_delta",),
        *WITNESS,
        ("the false step, d = 2, N = 3",),
    ),
    "T5.regime": tuple(
        ("data sets in two dimensions", *way)
        for way in (("budget",), ("claimed_epsilon",), ("claimed_delta",), ("exact_delta",), *WITNESS)
    ),
    "T3.exact": (("budget",), ("claimed_epsilon",), ("exact_epsilon",), *WITNESS),
    "L2": (("data sets on which the second line is false", 0),),
    "L2.alpha": (("smallest data sets",),),
    "T4.step": (("searches", 0, "counterexample"),),
    "O4": (("first data sets, by size and then in lexicographic order", 4),),
    "O4.adult": (("Adult, no noise", "none"), ("Adult, no noise", "absolute")),
    "A.argmin": (("d = 1, n records at x = 1, PDFC: exp(-n epsilon/26)/2",),),
    "A.fix.resample": (("left",), ("right",), ("event",), ("d = 1", 1)),
    "A.corr": (
        ("noise spread evenly", "risk_difference"),
        ("x_s", "x0", "correlation with z"),
        ("x_s", "x0", "more noise on x_s", "risk_difference"),
        ("x_s", "x2", "correlation with z"),
        ("x_s", "x2", "more noise on x_s", "risk_difference"),
    ),
    "E.sd": (
        (
            "divided by n - 1, rounding nearest",
            ("entry", "printed", "largest_deviation_possible", "runs_needed"),
        ),
    ),
    "A.float": tuple((name, "share impossible on the neighbour") for name in FLOATS),
}
"""The evidence of a claim that a page shows: the path to it in the ledger."""

BEFORE_EVIDENCE = (
    ("Its step", "paper_step"),
    ("Where the proof fails", "failing_step"),
    ("Why", "why"),
)
"""Labels and fields, before the evidence."""

AFTER_EVIDENCE = (("What holds instead", "repaired"), ("What to do", "advice"))
"""The first of these that the row has follows the evidence."""

THEOREMS = 2
"""Most links to Coq; the paper map has all."""


COLUMNS = 100
"""Characters in a line of evidence."""

SHORT = 64
"""Characters of a data set that stands in one line."""

MOST = 4
"""Coordinates that are all written out; of longer vectors those that are not 0."""


def page(name: str) -> str:
    """Return one page."""
    title, ids = FINDINGS[name]
    ledger, theorems = committed(), pages.places()
    kind = "proof" if "/proofs/" in MORE[name] else "study"
    more = f"[The {kind}]({MORE[name]}) · [All findings](../findings.md)"
    lines = [f"# {title}", "", more, ""]
    linked: set[str] = set()
    for id in ids:  # noqa: A001
        lines += _section(id, ledger[id])
        links = [link for link in _links(ledger[id], theorems) if link not in linked]
        linked.update(links)
        lines += [" · ".join(links), ""] if links else []
    return "\n".join(lines)


def written() -> dict[str, str]:
    """Return every page by its file name."""
    return {f"{name}.md": page(name) for name in FINDINGS}


def heading(id: str, row: Mapping[str, Any]) -> str:  # noqa: A002
    """Return the heading of a claim on its page."""
    proof = ", its proof is wrong" if row["proof"] == "wrong" else ""
    return f"{id}: {row['verdict']}{proof}"


def _section(id: str, row: Mapping[str, Any]) -> Iterator[str]:  # noqa: A002
    yield f"## {heading(id, row)}"
    yield from ("", f"**Claim** ({_escaped(row['place'])}): {_sentence(row['statement'])}", "")
    # without a proof the claim itself is the step
    told = {**row, "paper_step": claims()[id].paper_step if row["proof"] == "wrong" else None}
    yield from _paragraphs(told, BEFORE_EVIDENCE)
    lines = [line for way in SHOWN.get(id, ()) for line in _evidence(row["evidence"], way)]
    if lines:
        yield from (f"**{EVIDENCE[row['verdict'] == 'refuted']}:**", "", *(f"    {line}" for line in lines), "")
    yield from _paragraphs(told, [next(one for one in AFTER_EVIDENCE if row[one[1]])])


def _paragraphs(row: Mapping[str, Any], labels: Sequence[tuple[str, str]]) -> Iterator[str]:
    for label, field in labels:
        if row[field]:
            yield from (f"**{label}:** {_sentence(row[field])}", "")


def _sentence(text: str) -> str:
    return _escaped(text).rstrip(".") + "."


def _evidence(evidence: Any, way: Way) -> Iterator[str]:
    found = reduce(_part, way, evidence)
    label = ", ".join(key for key in way if isinstance(key, str))
    return evidence_lines({label: _readable(found)}, width=COLUMNS)


def _readable(value: Any) -> Any:
    """Return evidence with each data set in words."""
    if isinstance(value, dict):
        return {key: _readable(part) for key, part in value.items()}
    if isinstance(value, list) and all(isinstance(part, dict) and "count" in part for part in value):
        told = list(map(_records, value))
        line = "; ".join(told)
        return line if len(line) <= SHORT else told
    return value


def _records(row: Mapping[str, Any]) -> str:
    x = ", ".join(map(str, row["x"]))
    if len(row["x"]) > MOST:
        x = ", ".join(f"x{place}: {value}" for place, value in enumerate(row["x"], start=1) if value) + ", else 0"
    return f"{row['count']} of x = ({x}), y = {row['y']}, z = {row['z']}"


def _part(value: Any, key: str | int | tuple[str, ...]) -> Any:
    return [{name: entry[name] for name in key} for entry in value] if isinstance(key, tuple) else value[key]


def _links(row: Mapping[str, Any], theorems: Mapping[str, str]) -> Iterator[str]:
    for name in row["symbols"][:1]:
        yield f"code: [`{name}`](../../{source_file(name)})"
    named = re.findall(r"[\w']+", row["machine_proof"] or "")
    coq = [f"[`{name}`](../../proofs/{theorems[name]})" for name in named if name in theorems]
    if coq:
        yield "Coq: " + ", ".join(coq[:THEOREMS])


def _escaped(text: str) -> str:
    return text.replace("*", r"\*")
