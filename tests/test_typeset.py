"""The formulas of the report: as the paper's source has them, and typeset by docutils."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from audit.commands.report.formulas import TYPESET, formulas
from audit.gate.needs import require_or_skip
from tests.typeset import document

MARKS = re.compile(r"\\nonumber|\\\\|[&\s~]")


def without_layout(tex: str) -> str:
    """Return LaTeX without spaces and the marks of aligned lines."""
    return MARKS.sub("", tex)


def paper() -> str:
    path = Path(os.environ.get("CFM_PAPER", ""))
    require_or_skip(path.is_file(), "CFM_PAPER names no source of the paper")
    return without_layout(path.read_text(encoding="utf-8"))


def test_every_formula_is_in_the_paper():
    source = paper()
    for formula in formulas():
        assert without_layout(formula.tex) in source, formula


def test_a_formula_that_the_paper_has_not_is_missed():
    assert without_layout(r"\sqrt{\frac{d^2}{16}+8d}") not in paper()


def test_committed_mathml_is_what_docutils_makes():
    assert json.loads(TYPESET.read_text(encoding="utf-8")) == document()
