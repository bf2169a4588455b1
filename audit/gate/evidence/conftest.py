"""What tests of certificates share: a right one, and each decision about counts made once."""

from __future__ import annotations

import numpy as np
import pytest

from audit.auditor.distinguish import Terms, estimate
from audit.evidence.certificate import FORMULAS, Certificate, versions
from audit.gate.evidence.verifying import ONCE, SUBJECT
from audit.gate.requests import asked
from audit.subjects.descriptions import BY_CONSTRUCTION, rebuild


@pytest.fixture(scope="module")
def right() -> Certificate:
    """Return the certificate of a real audit of half the noise."""
    found = estimate(rebuild(SUBJECT), Terms(delta=0.0, draws=20_000, significance=0.05), np.random.default_rng(3))
    (request,) = asked("laplace_half_noise", "--epsilon", "1", "--draws", "20000", "--seed", "3")
    return Certificate(
        request=request,
        inputs={"left": 0.0, "right": 1.0},
        event=found.event.stored,
        judged="ideal",
        neighbours=BY_CONSTRUCTION,
        counts=found.counts,
        all_counts=found.counts,
        draws=found.draws,
        method="joint",
        formula=FORMULAS["joint"],
        claimed_epsilon=1.0,
        claimed_delta="0",
        epsilon_lower_bound=found.epsilon_lower_bound,
        verdict=found.verdict(1.0),
        seeded=True,
        versions=versions(),
        curve=None,
    )


@pytest.fixture
def ball_arithmetic_once(monkeypatch):
    """Decide equal counts once, over all tests."""
    monkeypatch.setattr("audit.evidence.verify.joint_holds", ONCE)
    monkeypatch.setattr("audit.evidence.curve_checks.joint_holds", ONCE)
