"""Exit codes of every command."""

from __future__ import annotations

EXIT_FINE, EXIT_REFUTED, EXIT_USAGE, EXIT_UNDECIDED = 0, 1, 2, 3
