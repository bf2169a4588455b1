"""The files of an exhibit: its document, its text and its plots."""

from __future__ import annotations

from reference.commands.plot import FORMATS, Curve, draw
from reference.common.files import json_text, write_whole
from reference.common.page import Page
from reference.experiments.exhibits import Point
from reference.experiments.outputs import SEEDED, Shown
from reference.experiments.summaries import Summary


def write_exhibit(shown: Shown, folder: str) -> None:
    """Write JSON, text, PNG and SVG into a folder."""
    stem = f"{folder}/{shown.stem}"
    write_whole(f"{stem}.json", json_text(shown.to_json()))
    write_whole(f"{stem}.txt", shown.as_text(Page()))
    title = f"{shown.exhibit.title}; {shown.design.variant.name}\n{shown.data_note}\n{SEEDED}\n"
    curves = curves_of(shown)
    axis = shown.exhibit.axis + (" (crosses: the paper's)" if any(curve.printed for curve in curves) else "")
    for kind in FORMATS:
        draw(curves, f"{stem}.{kind}", title, axis)


def curves_of(shown: Shown) -> list[Curve]:
    """Return what is drawn: all runs, line by line."""
    found: dict[str, list[tuple[Point, Summary]]] = {}
    for point, summaries in shown.rows:
        found.setdefault(point.line.name, []).append((point, summaries[-1]))
    return [_curve(shown, name, pairs) for name, pairs in found.items()]


def _curve(shown: Shown, name: str, pairs: list[tuple[Point, Summary]]) -> Curve:
    places = [
        point.epsilon if shown.exhibit.axis == "epsilon" else point.delta
        for point, _ in pairs
        if len(pairs) > 1 or point.epsilon is not None
    ]
    known = tuple(float(place) for place in places if place is not None)
    entries = [shown.printed(point) for point, _ in pairs] if known else []
    return Curve(
        name,
        known,
        tuple(summary for _, summary in pairs),
        tuple(
            (place, float(entry.mean))
            for place, entry in zip(known, entries, strict=bool(known))
            if entry is not None
        ),
    )
