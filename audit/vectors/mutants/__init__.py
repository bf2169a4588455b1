"""Broken variants of the reference: each does one step wrongly, and is one flag of the vectors.

The name of the class is the flag; its docstring is the flag's note: the bug, and below it the effect.
"""

from __future__ import annotations

import inspect
from types import ModuleType

from audit.vectors.mutants import (
    accounting,
    balls,
    grouping,
    metrics,
    noise,
    objective,
    records,
    repaired,
    weights,
)
from audit.vectors.mutants.broken import Broken


def _of(module: ModuleType) -> dict[str, type[Broken]]:
    found = vars(module).items()
    return {
        name: kind
        for name, kind in found
        if inspect.isclass(kind)
        and issubclass(kind, Broken)
        and kind.__module__ == module.__name__
        and name[0] != "_"
    }


MUTANTS: dict[str, type[Broken]] = {
    name: kind
    for module in (records, objective, grouping, noise, accounting, weights, metrics, balls, repaired)
    for name, kind in _of(module).items()
}
"""The broken variant of each flag."""
