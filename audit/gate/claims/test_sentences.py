"""The table of sentences: complete against the paper's source, and every row that it names is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from audit.claims.registry import claims
from audit.gate.claims.sentences import NOTHING, OTHER_WORK, line, sentences, table

NOT_OF_THE_PAPER = {
    "A.argmin.adult",
    "A.fix",
    "A.fix.resample",
    "A.float",
    "A.xs.data",
    "L2.sign",
    "O4.adult",
    "R",
    "R.cells",
    "R.counts",
    "R.gradient",
    "R.probe",
    "R.rows",
    "T2.loose",
}
"""Rows on what the paper does not say in its running text."""


def differences(source: str) -> list[str]:
    """Return where the table and a source part."""
    found = [line(sentence, "").digest for sentence in sentences(source)]
    listed = [row.digest for row in table()]
    return [f"sentence {n}" for n, (a, b) in enumerate(zip(found, listed, strict=False), 1) if a != b] or (
        [f"{len(found)} sentences, {len(listed)} listed"] if len(found) != len(listed) else []
    )


@pytest.mark.skipif(
    "CFM_PAPER" not in os.environ, reason="THE SENTENCES ARE NOT COMPARED: set CFM_PAPER to the source"
)
def test_table_has_every_sentence_of_the_paper():
    source = Path(os.environ["CFM_PAPER"]).read_text(encoding="utf-8")
    assert differences(source) == []
    changed = source.replace("Note that our theoretical results still hold", "Note that no result holds")
    assert changed != source
    assert len(differences(changed)) == 1


def test_table_names_rows_of_the_ledger_and_misses_none():
    rows = table()
    assert all(row.claims or row.decided in (NOTHING, OTHER_WORK) for row in rows)
    named = {name for row in rows for name in row.claims}
    assert named <= set(claims())
    assert set(claims()) - named == NOT_OF_THE_PAPER


def test_sentences_end_where_a_reader_ends_them():
    source = r"""\begin{abstract} One, i.e., this~\cite{x}. Two is 1.5 long enough. \end{abstract}
    \begin{table} Not one of the text. \end{table} \begin{align} a \end{align} ends it here.\end{document}"""
    assert list(sentences(source)) == ["Two is 1.5 long enough.", "FORMULA ends it here."]
