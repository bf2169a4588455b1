"""The book: `make docs` builds it with Sphinx from the Markdown of docs/, proofs/ and audit/vectors/."""

from __future__ import annotations

from importlib.metadata import version as installed_version

project = "calibrated-functional-mechanism"
author = "The calibrated-functional-mechanism authors"
version = release = installed_version("calibrated-functional-mechanism")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "sphinxcontrib.bibtex",
]
root_doc = "docs/index"
include_patterns = [
    "docs/*.md",
    "docs/*/*.md",
    "proofs/*.md",
    "audit/vectors/README.md",
    "audit/vectors/TYPES.md",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
]
numpydoc_show_class_members = False
# Links to what the book does not contain: folders, and the notes beside the Coq files.
suppress_warnings = ["myst.xref_missing"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
bibtex_bibfiles = ["references.bib"]
html_theme = "furo"
html_title = "Calibrated functional mechanism"
