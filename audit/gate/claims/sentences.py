"""Every sentence of the paper, and the ledger's rows on it.

The table ``sentences.csv`` holds, for each sentence of the running text, the first words, a digest and the rows of
the ledger that decide it; or that it asserts nothing, or is about other work.  Figures, tables and algorithms are
items of the paper map instead.  The sentences themselves stay in the paper's source.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PATH = Path(__file__).with_name("sentences.csv")

NOTHING = "asserts nothing"
"""An announcement, a definition of notation, or a description of what was done."""

OTHER_WORK = "other work"
"""A sentence about the literature or the world, which no row decides."""

WORDS = 6
"""Number of words of a sentence in the table."""

SHORTEST = 16
"""Fewest characters of a sentence; less is a remainder of a formula."""

_FLOATS = re.compile(r"\\begin\{(figure\*?|table|algorithm)\}.*?\\end\{\1\}", re.DOTALL)
_FORMULAS = re.compile(r"\\begin\{(align\*?)\}.*?\\end\{\1\}", re.DOTALL)
_LEFT_OUT = (
    re.compile(r"(?<!\\)%.*"),
    re.compile(r"\\section\{Acknowledgments\}.*?(?=\\bibliography\{)", re.DOTALL),
    _FLOATS,
    re.compile(r"~?\\cite\{[^}]*\}"),
)
_BREAKS = (
    re.compile(r"\\(?:sub)?section\{[^}]*\}|\\label\{[^}]*\}|\\bibliography\w*\{[^}]*\}"),
    re.compile(r"\\addtocounter\{[^}]*\}\{[^}]*\}"),
    re.compile(r"\\(?:begin|end)\{(?:abstract|itemize|definition|theorem|lemma|proof)\}(?:\[.*?\]|\{.*?\}\}?)?"),
    re.compile(r"\\item"),
)
_ABBREVIATIONS = {"i.e.,": "ie,", "e.g.,": "eg,", "et al.": "et al", "i.i.d": "iid", "etc.": "etc"}
_END = re.compile(r"(?<=[.?!])\s*\$?\s+(?=[A-Z\\])|(?<=[a-z]\.)(?=[A-Z])")


@dataclass(frozen=True)
class Sentence:
    """A line of the table.

    Parameters
    ----------
    begins : str
        The first words.
    digest : str
        Of the whole sentence.
    decided : str
        Ids of the ledger, separated by spaces; :data:`NOTHING` or :data:`OTHER_WORK`.
    """

    begins: str
    digest: str
    decided: str

    @property
    def claims(self) -> tuple[str, ...]:
        """The rows of the ledger."""
        return () if self.decided in (NOTHING, OTHER_WORK) else tuple(self.decided.split())


def sentences(source: str) -> Iterator[str]:
    """Yield the sentences of the running text, from the abstract to the end of the proofs."""
    body = source[source.index(r"\begin{abstract}") : source.index(r"\end{document}")]
    for left_out in _LEFT_OUT:
        body = left_out.sub("", body)
    body = _FORMULAS.sub(" FORMULA ", body)
    for end in _BREAKS:
        body = end.sub("\n\n", body)
    for paragraph in re.split(r"\n\s*\n", body):
        text = " ".join(paragraph.split())
        for written, short in _ABBREVIATIONS.items():
            text = text.replace(written, short)
        yield from (part.strip() for part in _END.split(text) if len(part.strip()) >= SHORTEST)


def line(sentence: str, decided: str) -> Sentence:
    """Return the line of one sentence."""
    digest = hashlib.sha256(sentence.encode()).hexdigest()[:16]
    return Sentence(" ".join(sentence.split()[:WORDS]), digest, decided)


def table() -> list[Sentence]:
    """Return the committed table."""
    with PATH.open(encoding="utf-8", newline="") as file:
        return [Sentence(**row) for row in csv.DictReader(file)]
