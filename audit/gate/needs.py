"""What a machine may lack: a loud, named skip without it, a failure where everything is asked for."""

from __future__ import annotations

import os

import pytest


def require_or_skip(present: bool, reason: str) -> None:
    """Skip a test that needs something absent; with CHECK_ALL=1 that is a failure."""
    if present:
        return
    if os.environ.get("CHECK_ALL") == "1":
        pytest.fail(f"CHECK_ALL=1, but {reason}")
    pytest.skip(reason)
