"""An audit of a subject, in one call; and a comparison of its first outputs with later ones alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.auditor import first
from audit.auditor.distinguish import Terms, estimate
from audit.auditor.draws import CHOOSE, Draws


def audit(subject: Any, count: int, seed: int = 0, **choices: Any):
    """Audit a subject at delta 0 and significance 5 %."""
    how = {name: choices.pop(name) for name in ("workers", "progress") if name in choices}
    rng = np.random.default_rng(seed)
    return estimate(subject, Terms(delta=0.0, draws=count, significance=0.05, **choices), rng, **how)


ROWS = 256 * first.ROWS_PER_COPY
"""Later outputs for which there are 256 fresh copies."""


def checked(subject: Any, rows: int = ROWS, seed: int = 0, **how: Any) -> first.FirstOutputs:
    """Compare the first outputs of a subject with later ones; return what is known of them."""
    source = Draws.of(subject, (seed,), **how)
    found = source.first
    assert found is not None
    found.check(source, source.phase(CHOOSE, rows))
    return found


class Right:
    """Laplace noise."""

    def inputs(self):
        """Return a pair."""
        return 0.0, 1.0

    def noise(self, count, rng):
        """Return the noise of so many outputs."""
        return rng.laplace(size=count)

    def sample(self, data, count, rng):
        """Return outputs."""
        return data + self.noise(count, rng)[:, np.newaxis]
