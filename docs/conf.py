"""The book: `make docs` builds it with Sphinx from the Markdown of docs/, proofs/ and audit/vectors/."""

from __future__ import annotations

import re
from importlib.metadata import version as installed_version
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

project = "calibrated-functional-mechanism"
author = "The calibrated-functional-mechanism authors"
project_copyright = f"2026, {author}"
version = release = installed_version("calibrated-functional-mechanism")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "sphinxcontrib.bibtex",
]
root_doc = "docs/index"
include_patterns = [
    "docs/*.md",
    "docs/*/*.md",
    "proofs/*.md",
    "proofs/coq/*.md",
    "audit/vectors/README.md",
    "audit/vectors/TYPES.md",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
]
numpydoc_show_class_members = False
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
bibtex_bibfiles = ["references.bib"]
html_theme = "furo"
html_title = "Calibrated functional mechanism"
html_math_renderer = "mathml"


def mathml(tex: str, *, block: bool) -> str:
    """Return a formula as MathML, which a browser shows without a network."""
    # docutils knows no tags and not this sign, and takes the 18 of \frac18 for one number
    known = re.sub(r"\\tag\{(.*?)\}", r"\\qquad (\1)", tex.replace("‖", r"\Vert "))
    known = re.sub(r"\\frac(\d)(\w)", r"\\frac{\1}{\2}", known)
    # as an accent, a bar falls into its letter
    return tex2mathml(known, as_block=block).replace(' accent="true"', "")


def visit_math(page: Any, node: nodes.Element) -> None:
    """Write a formula into a line of a page."""
    page.body.append(mathml(node.astext(), block=False))
    raise nodes.SkipNode


def visit_math_block(page: Any, node: nodes.Element) -> None:
    """Write a formula below a line of a page."""
    page.body.append(f"<p>{mathml(node.astext(), block=True)}</p>")
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Take MathML for formulas."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
