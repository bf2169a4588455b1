"""Libraries that an extra of this package brings.  Imports only what Python has."""

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
    "jsonschema": "report",
    "dask": "scale",
    "distributed": "scale",
}
"""Of each library that is imported, the extra that brings it."""


@contextmanager
def needed_for(purpose: str) -> Iterator[None]:
    """Around the import of a library: say how to install it where it is missing.

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
    """Return what is said of a library that an extra brings; None for any other module."""
    library = (problem.name or "").partition(".")[0]
    return MissingExtraError(purpose, library, EXTRAS[library]) if library in EXTRAS else None
