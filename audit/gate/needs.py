"""What a machine may lack: a loud, named skip without it, a failure where everything is asked for."""

from __future__ import annotations

import os
from typing import Any

import pytest


def require_or_skip(present: bool, reason: str) -> None:
    """Skip a test that needs something absent; with CHECK_ALL=1 that is a failure."""
    if present:
        return
    if os.environ.get("CHECK_ALL") == "1":
        pytest.fail(f"CHECK_ALL=1, but {reason}")
    pytest.skip(reason)


def exhaustively(*cases: Any) -> list[Any]:
    """Return further cases of a parametrised test, which run only where everything is asked for.

    A tuple has a value for each parameter.
    """
    values = (case if isinstance(case, tuple) else (case,) for case in cases)
    return [pytest.param(*value, marks=pytest.mark.exhaustive) for value in values]
