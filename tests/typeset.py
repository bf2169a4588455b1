"""MathML of the report's formulas, made from their LaTeX: ``python -m tests.typeset --write``."""

from __future__ import annotations

import re
import sys

from docutils.utils.math.latex2mathml import tex2mathml

from audit.commands.report.formulas import TYPESET, formulas
from reference.common.files import json_text, write_whole


def mathml(tex: str) -> str:
    """Return a formula of the paper as MathML."""
    plain = re.sub(r"\\x(?![A-Za-z])", r"\\mathbf{x}", tex).replace("\\Bar", "\\bar").replace("\\Tilde", "\\tilde")
    plain = re.sub(r"\\substack\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", r"\1", plain).replace("~", r"\,")
    # as an accent, a bar falls into its letter
    made = tex2mathml(plain, as_block=True).replace(' accent="true"', "")
    return re.sub(r">\s+<", "><", made)


def document() -> dict[str, str]:
    """Return the MathML of every formula, by its LaTeX."""
    return {formula.tex: mathml(formula.tex) for formula in formulas()}


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tests.typeset --write")
    write_whole(TYPESET, json_text(document()))
