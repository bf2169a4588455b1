"""Released weights, whose geometry plain scores of w cannot see."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from audit.evidence.estimation import Audit, carried_out
from audit.evidence.verify import verify
from audit.gate.requests import asked

RATIO = "coordinates,likelihood_ratio"


def weights(*words: str) -> Audit:
    (request,) = asked("pdfc", "--dimension", "13", "--records", "1000", "--release", "weights", *words)
    return Audit.of(request)


def test_gradients_at_w_give_its_likelihood_ratio():
    """On every set of outputs the ratio turns the frequency on one input into that on the other."""
    subject: Any = weights("--sensitivity", "4.0625").subject
    rng = np.random.default_rng(0)
    left, right = (subject.sample(data, 20_000, rng) for data in subject.inputs())
    ratio = np.exp(-subject.log_likelihood_ratio(left))
    for k in range(subject.layout.dimension):
        for threshold in np.quantile(left[:, k], [0.1, 0.5, 0.9]):
            chosen = left[:, k] <= threshold
            found, expected = float((ratio * chosen).mean()), float((right[:, k] <= threshold).mean())
            assert found == pytest.approx(expected, abs=0.025)
    assert abs(float(ratio.mean()) - 1) < 0.01
    sizes = [np.linalg.norm(side, axis=1) for side in (left, right)]
    small = float(np.quantile(sizes[0], 0.5))
    shares = [float((size <= small).mean()) for size in sizes]
    assert abs(float((ratio * (sizes[0] <= small)).mean()) - shares[1]) < 0.025
    assert abs(float((ratio**-1 * (sizes[0] <= small)).mean()) - shares[1]) > 0.015


@pytest.mark.parametrize(
    ("readings", "least"),
    [("--repair ball --sensitivity 0.2", 0.75), ("--fairness separate --sensitivity 0.3", 0.88)],
)
def test_geometry_of_ball_and_penalty_tells_more_than_coordinates(readings, least):
    """How often the left one of two outputs has the larger score; coordinates by themselves are the control."""
    words = ["pdfc", "--dimension", "3", "--records", "100", "--release", "weights", *readings.split()]
    subject: Any = Audit.of(*asked(*words)).subject
    rng = np.random.default_rng(0)
    left, right = (subject.sample(data, 1_500, rng) for data in subject.inputs())

    def ordered(ours: Any, others: Any) -> float:
        return float(mannwhitneyu(ours, others).statistic) / 1_500**2

    assert ordered(*(subject.log_likelihood_ratio(side) for side in (left, right))) > least
    plain = [ordered(left[:, k], right[:, k]) for k in range(3)]
    assert max(max(share, 1 - share) for share in plain) < least - 0.02


def test_w_with_a_twentieth_of_the_noise_is_not_said_to_keep_its_claim():
    """Plain scores certified 0.01; its likelihood ratio shows what there is, and the coefficients lose 2.97."""
    found = carried_out(weights("--sensitivity", "4.0625", "--draws", "20000", "--seed", "1", "--events", RATIO))
    assert found.estimate.event.score.name == "likelihood_ratio"
    assert found.estimate.epsilon_lower_bound > 0.15
    assert found.verdict("ideal") == "undecided"
    assert any("coefficients that lose more" in note for note in found.notes)
    assert "coefficients that lose more" in found.not_ruled_out()
    certificate = found.certificate("ideal")
    assert {check.name for check in verify(certificate) if check.holds is not True} <= {"choice"}
    bolder = msgspec.structs.replace(certificate, verdict="not refuted")
    assert {check.name for check in verify(bolder) if check.holds is False} == {"verdict"}


def test_w_with_the_right_noise_keeps_its_claim():
    """Null control."""
    found = carried_out(weights("--draws", "20000", "--seed", "1", "--events", RATIO))
    assert found.verdict("ideal") == "not refuted"
    assert found.reservations == []
