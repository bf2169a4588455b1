"""These tests compare with other libraries; `make peers` runs them, in an environment of their own."""

from __future__ import annotations

from importlib.util import find_spec

# `make test` has none of the peers: it passes by
collect_ignore_glob = [] if find_spec("dp_accounting") else ["test_*.py"]
