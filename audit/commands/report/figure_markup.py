"""The parts of the page that have figures, and the data that the script draws."""

from __future__ import annotations

from typing import Any

from audit.commands.report import auditor_markup, experiment_markup, privacy_markup


def parts(document: dict[str, Any]) -> dict[str, str]:
    """Return the parts by name, in HTML; those without results are left out."""
    audited = document["auditor"]
    found = {
        "privacy": privacy_markup.privacy(document),
        "auditor": auditor_markup.auditor(audited["validity"]) if audited["validity"] else "",
        "catalogue": auditor_markup.catalogue(audited["catalogue"]) if audited["catalogue"] else "",
        "frontier": experiment_markup.frontier(document["frontier"]) if document["frontier"] else "",
        "figures": experiment_markup.figures(document) if document["figures"] else "",
    }
    return {name: part for name, part in found.items() if part}


def plotted(document: dict[str, Any]) -> dict[str, Any]:
    """Return the data that the script draws."""
    found: dict[str, Any] = {
        "privacy": document["privacy"] | {"drawn_from": privacy_markup.DRAWN_FROM},
        "boundaries": document["boundaries"],
    }
    if document["auditor"]["validity"]:
        found["validity"] = document["auditor"]["validity"]
    if document["auditor"]["catalogue"]:
        found["catalogue"] = document["auditor"]["catalogue"]["rows"]
    found["frontier"] = {
        name: list(experiment_markup.frontier_points(table)) for name, table in document["frontier"].items()
    }
    if document["figures"]:
        found["figures"] = list(experiment_markup.figure_lines(document))
    return found
