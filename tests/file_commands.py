"""A domain, and the words of commands that read it from a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

SMALL = ("--data", "synthetic", "--records", "200", "--dimension", "3")

Run = Callable[..., tuple[int, str, str]]

DOMAIN: dict[str, Any] = {
    "schema": "domain_v1",
    "attributes": [
        {"name": "age", "kind": "numeric", "lower": 18, "upper": 98},
        {"name": "school", "kind": "ordinal", "categories": ["none", "some", "much"]},
    ],
    "label": {"column": "income", "one": ["high"], "zero": ["low"]},
    "group": {"column": "sex", "one": ["M"], "zero": ["F"], "name": "male"},
}

FIT = ("fit", "--domain", "domain.json", "--data")


def listing(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
