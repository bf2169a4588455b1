"""Releases to certify: documents, files, and the limits of their checks."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from reference.budgets import Budget, SplitBudget
from reference.common.documents import plain
from reference.noise import ENTROPY, RandomSource
from reference.records import Records
from reference.registry import MECHANISMS

SECONDS = 1800
"""Limit for compiling what certificates need: 20 s of processor time, on a machine that may be busy."""

LOWERED = 1 - Fraction(1, 2**40)

SPLIT = SplitBudget("3", "1/7")


def document(
    affairs: Records, name: str, budget: Budget | SplitBudget | None = None, **readings: Any
) -> dict[str, Any]:
    """Return a release of a mechanism on the embedded data, as its file has it."""
    spec = MECHANISMS[name]
    if budget is None and spec.private:
        delta = "1e-3" if spec.needs_delta else 0
        budget = SplitBudget.equal("1", delta) if spec.split_budget else Budget("1", delta)
    records = affairs
    if "domain" in readings:
        norm = readings.pop("domain")
        records = replace(affairs, x=affairs.x * 0.0, domain=affairs.domain.with_(norm=norm))
    # the theorems are about noise with a density
    source: RandomSource = None if readings.get("noise") == "hardened" else ENTROPY
    release = spec.run(records, budget, spec.readings.with_(**readings), rng=source)
    return dict(json.loads(json.dumps(plain(release))))


def written(folder: Path, made: Any) -> str:
    """Write a document and return its path."""
    file = folder / "release.json"
    file.write_text(json.dumps(made), encoding="utf-8")
    return str(file)
