"""Libraries that this package and its extras install.  Imports the standard library only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reference.common.errors import MissingExtraError

EXTRAS = {
    "pandas": "data",
    "pyarrow": "data",
    "sympy": "audit",
    "mpmath": "audit",
    "statsmodels": "audit",
    "hypothesis": "audit",
    "matplotlib": "report",
    "dask": "scale",
    "distributed": "scale",
}
"""The extra that installs a library, by its import name."""

CORE = {
    **{name: name for name in ("numpy", "scipy", "joblib", "threadpoolctl", "click", "tqdm", "msgspec", "opendp")},
    "sklearn": "scikit-learn",
    "flint": "python-flint",
}
"""The name under which pip knows a library that needs no extra, by its import name."""


@contextmanager
def needed_for(purpose: str) -> Iterator[None]:
    """Wrap the import of a library: if it is missing, say how to install it.

    Raises
    ------
    reference.common.errors.MissingExtraError
        An ImportError, and bad input for a command line.
    """
    try:
        yield
    except ModuleNotFoundError as problem:
        missing = missing_extra(problem, purpose)
        if missing is None:
            raise
        raise missing from None


def missing_extra(problem: ModuleNotFoundError, purpose: str) -> MissingExtraError | None:
    """Return the message about a missing library of this package or an extra; None for any other module."""
    library = (problem.name or "").partition(".")[0]
    if library in CORE:
        return MissingExtraError(purpose, CORE[library], "")
    return MissingExtraError(purpose, library, EXTRAS[library]) if library in EXTRAS else None
