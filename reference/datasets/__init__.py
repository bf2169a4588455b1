"""Tables, files and data sets: ``load(name)`` gives checked records of a data set that has a name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reference.datasets.named import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        """Return what :mod:`reference.datasets.named` exports, imported at the first use of a name.

        An estimator of your own table needs none of it.
        """
        named = import_module("reference.datasets.named")
        if name not in named.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(named, name)
