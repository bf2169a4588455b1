"""HTML from data: the small pieces of every part of the page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

SHAPES = {
    "proved": '<path d="M2 8.5 6.5 13 14 3.5" fill="none" stroke="currentColor" stroke-width="2.6"/>',
    "enclosed": '<path d="M5.5 2H3v12h2.5M10.5 2H13v12h-2.5M6 8h4" fill="none" stroke="currentColor" '
    'stroke-width="2.2"/>',
    "exhausted": '<path d="M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z" fill="currentColor"/>',
    "not refuted": '<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="2.4"/>',
    "refuted": '<path d="M3 3l10 10M13 3 3 13" fill="none" stroke="currentColor" stroke-width="2.8"/>',
    "ambiguous": '<path d="M8 1.5 14.5 8 8 14.5 1.5 8z" fill="none" stroke="currentColor" stroke-width="2"/>'
    '<path d="M8 1.5 14.5 8 8 14.5z" fill="currentColor"/>',
    "argued": '<path d="M2.5 13.5 4 9.5l7-7 2.5 2.5-7 7z" fill="none" stroke="currentColor" stroke-width="2"/>',
    "undecided": '<path d="M2 8h2.4M6.8 8h2.4M11.6 8H14" stroke="currentColor" stroke-width="2.8"/>',
}
"""A sign for each verdict, so that they differ without colours."""

MEANINGS = {
    "proved": "an argument whose every step a program checks",
    "enclosed": "interval arithmetic, or an evaluation with a stated margin",
    "exhausted": "every case of a finite domain",
    "not refuted": "a search found no counterexample",
    "refuted": "a counterexample or a test, with the data",
    "ambiguous": "true under one reading of the text and false under another",
    "argued": "a written proof that no program checks",
    "undecided": "the check came to no answer",
}


def sign(verdict: str) -> str:
    """Return the sign of a verdict."""
    return f'<svg class="sign" viewBox="0 0 16 16" aria-hidden="true">{SHAPES[verdict]}</svg>'


def badge(verdict: str) -> str:
    """Return a verdict with its sign, in its colour."""
    return f'<span class="badge {verdict.replace(" ", "-")}">{sign(verdict)}{escape(verdict)}</span>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str, *, classes: str = "") -> str:
    """Return a table whose cells are HTML already; the first cell of a row is its heading."""
    columns = "".join(f'<th scope="col">{name}</th>' for name in head)
    lines = []
    for first, *others in rows:
        cells = "".join(f"<td>{cell}</td>" for cell in others)
        lines.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(caption, quote=True)}">'
        f'<table class="{classes}"><caption>{escape(caption)}</caption><thead><tr>{columns}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def terms(entries: Iterable[tuple[str, str]]) -> str:
    """Return a list of terms and their texts, in HTML; those without a text are left out."""
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in entries if text) + "</dl>"


def folded(label: str, inside: str, *, classes: str = "") -> str:
    """Return content that a label opens."""
    return f'<details class="{classes}"><summary>{label}</summary>{inside}</details>'


def listing(label: str, text: str) -> str:
    """Return lines as they are, in a part that the keyboard can scroll."""
    return f'<pre tabindex="0" role="region" aria-label="{label}">{escape(text)}</pre>'


def code(text: str) -> str:
    """Return a name or a command as code."""
    return f"<code>{escape(text)}</code>"


def section(name: str, title: str, inside: str) -> str:
    """Return a part of the page, with its heading."""
    return (
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>{inside}</section>'
    )


def figure(name: str, title: str, caption: str, numbers: str = "", *, classes: str = "") -> str:
    """Return the place of a figure that the script draws, with its caption and its numbers as a table."""
    return (
        f'<figure id="{name}" class="{classes}"><h3>{title}</h3><div class="plot" data-plot="{name}">'
        '<p class="no-script">The figure is drawn by the script in this page; its numbers are below.</p></div>'
        f"<figcaption>{caption}</figcaption>{folded('The numbers', numbers, classes='numbers') if numbers else ''}"
        "</figure>"
    )


def data_element(name: str, value: Any) -> str:
    """Return data for the script."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # neither the end of the element nor a comment, which would hide an end
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


def number(value: Any) -> str:
    """Return a number to useful digits; other values as they are."""
    if value is None:
        return ""
    if isinstance(value, dict) and set(value) == {"lo", "hi"}:
        least, most = number(float(value["lo"])), number(float(value["hi"]))
        return least if least == most else f"{least} to {most}"
    if isinstance(value, dict) and set(value) == {"upper"}:
        return f"at most {number(float(value['upper']))}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return escape(str(value))
    return f"{value:.4g}" if abs(value) < 10**5 else f"{value:,.0f}"
