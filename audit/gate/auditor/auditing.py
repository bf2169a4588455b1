"""An audit of a subject, in one call."""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.auditor.distinguish import Terms, estimate


def audit(subject: Any, count: int, seed: int = 0, **choices: Any):
    """Audit a subject at delta 0 and significance 5 %."""
    how = {name: choices.pop(name) for name in ("workers", "progress") if name in choices}
    rng = np.random.default_rng(seed)
    return estimate(subject, Terms(delta=0.0, draws=count, significance=0.05, **choices), rng, **how)
