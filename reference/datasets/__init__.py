"""Tables, files and data sets: ``load(name)`` gives checked records of a data set that has a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reference.datasets.named import (
        ENCODINGS,
        SOURCES,
        Encoding,
        load,
        named_files,
        shipped_domain,
        unknown_data,
    )

__all__ = ["ENCODINGS", "SOURCES", "Encoding", "load", "named_files", "shipped_domain", "unknown_data"]


def __getattr__(name: str) -> Any:
    """Return what :mod:`reference.datasets.named` has; an estimator of your own table needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from reference.datasets import named

    return getattr(named, name)
