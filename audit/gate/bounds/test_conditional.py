"""The conditional bound covers the truth as often as it says, and selection draws alone decide when it is used."""

from __future__ import annotations

import json
import math
import time
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import arb, fmpq
from scipy.stats import nchypergeom_fisher

from audit.auditor.choose import Candidate, Prospect, method_for
from audit.auditor.distinguish import Terms, estimate
from audit.auditor.events import Event
from audit.auditor.events.scores import CoordinateScore
from audit.bounds import Counts, delta_lower_bound, epsilon_lower_bound, p_value
from audit.bounds.conditional import LIMIT_SHARE, OddsTail, highest_likely
from audit.bounds.power import detectable_epsilon
from audit.epsilon_estimate import main
from audit.evidence.ball_arithmetic import PRECISION, conditional_holds, odds_ratio_tail
from audit.evidence.certificate import Certificate
from audit.evidence.verify import verify
from audit.gate.bounds.test_bounds import NUISANCE, SIGNIFICANCE, probability, worst_error
from audit.gate.requests import changed
from audit.subjects.catalogue import Laplace, LeakyLaplace
from reference.common.balls import working_precision

SIZES = [(40, 40), (60, 20), (20, 60)]
"""Draws on the likely and the unlikely input; with fewer the limit on p_likely leaves nothing."""


@cache
def table(kind: str, likely_draws: int, unlikely_draws: int, level: float) -> np.ndarray:
    """Return a bound, or the p-value of epsilon 0.5, for every pair of counts."""
    kinds = {
        "conditional": lambda counts: epsilon_lower_bound(counts, 0.0, level, "conditional"),
        # the limit on p_likely forgotten: the odds ratio is not the ratio
        "odds_ratio": lambda counts: (
            math.log((math.exp(bound) - limit) / (1 - limit))
            if (bound := epsilon_lower_bound(counts, 0.0, level, "conditional")) > 0
            and (limit := highest_likely(counts, LIMIT_SHARE * level)) < 1
            else 0.0
        ),
        "p_value": lambda counts: p_value(counts, 0.5, 0.0, "conditional"),
    }
    return np.array(
        [
            [kinds[kind](Counts(k, likely_draws, m, unlikely_draws)) for m in range(unlikely_draws + 1)]
            for k in range(likely_draws + 1)
        ]
    )


@pytest.mark.parametrize("size", SIZES)
def test_conditional_bound_exceeds_the_truth_as_seldom_as_stated(size):
    bounds = table("conditional", *size, SIGNIFICANCE)
    assert bounds.max() > 0.5
    assert 0.4 * SIGNIFICANCE < worst_error(bounds, 0.0) <= SIGNIFICANCE


@pytest.mark.parametrize(("kind", "level"), [("odds_ratio", SIGNIFICANCE), ("conditional", 3 * SIGNIFICANCE)])
def test_conditional_coverage_check_fires_on_two_broken_bounds(kind, level):
    assert worst_error(table(kind, 40, 40, level), 0.0) > SIGNIFICANCE


def p_value_excess(values: np.ndarray, level: float) -> float:
    """Return the largest probability on the edge of the hypothesis that a p-value is at most `level`, less it."""
    edge = [(min(1.0, math.exp(0.5) * unlikely), unlikely) for unlikely in NUISANCE]
    return max(probability(values <= level, *pair) for pair in edge) - level


def test_conditional_p_value_is_no_smaller_than_uniform():
    values = table("p_value", 40, 25, SIGNIFICANCE)
    assert all(p_value_excess(values, level) <= 0 for level in (0.01, 0.05, 0.2, 0.5))
    assert p_value_excess(values / 6, 0.05) > 0


@pytest.mark.parametrize("size", SIZES)
def test_conditional_bound_falls_with_the_unlikely_count_down_to_zero(size):
    bounds = table("conditional", *size, SIGNIFICANCE)
    assert (np.diff(bounds, axis=1) <= 1e-9).all()
    assert (bounds[0] == 0).all()
    assert (bounds[:, -1] == 0).all()
    # no limit on p_likely is left
    assert (bounds[-1] == 0).all()


@pytest.mark.parametrize(
    "counts", [Counts(7, 20, 2, 30), Counts(70, 700_000, 0, 700_000), Counts(9, 10, 3, 1_000)]
)
@pytest.mark.parametrize("omega", [0.5, 1.0, 20.0])
def test_tail_given_the_total_is_that_of_fishers_law(counts, omega):
    draws, total = counts.likely_draws + counts.unlikely_draws, counts.likely + counts.unlikely
    law = nchypergeom_fisher(draws, total, counts.likely_draws, omega)
    support = np.arange(counts.likely, min(total, counts.likely_draws) + 1)
    log_odds = OddsTail.of(counts).log_odds(math.log(omega))
    exact = float(odds_ratio_tail(counts, arb(omega)))
    assert exact == pytest.approx(float(law.pmf(support).sum()), rel=1e-6)
    assert log_odds == pytest.approx(math.log(exact / (1 - exact)), rel=1e-8, abs=1e-8)


@working_precision(PRECISION)
def test_ball_tail_encloses_the_exact_rational_sum():
    counts, omega = Counts(7, 20, 2, 30), Fraction(5, 3)
    weights = [math.comb(20, k) * math.comb(30, 9 - k) * omega**k for k in range(10)]
    exact = sum(weights[7:]) / sum(weights)
    tail = odds_ratio_tail(counts, arb(fmpq(5, 3)))
    assert abs(tail - arb(fmpq(exact.numerator, exact.denominator))) < 1e-25


def test_counts_far_from_a_stated_bound_take_little_longer():
    """A forged bound of a billion draws kept a reader busy for 60 times as long as an honest one."""
    counts = Counts(25 * 10**7, 5 * 10**8, 5 * 10**7, 5 * 10**8)
    bound = epsilon_lower_bound(counts, 0.0, SIGNIFICANCE, "conditional")
    seconds = []
    # the first is the null control: its sums are whole
    for further, holds in ((0.0, True), (-0.2, True), (0.2, False)):
        start = time.process_time()
        assert conditional_holds(counts, bound + further, 0.0, SIGNIFICANCE) is holds
        seconds.append(time.process_time() - start)
    assert max(seconds[1:]) < 8 * seconds[0]


@pytest.mark.parametrize(
    "counts",
    [
        Counts(8, 20, 0, 12),
        Counts(70, 700_000, 0, 700_000),
        Counts(200, 10**6, 70, 10**6),
        # more occurrences than terms are summed
        Counts(30_000, 4 * 10**6, 900, 400_000),
        Counts(300_000, 700_000, 40_000, 700_000),
    ],
)
def test_ball_arithmetic_confirms_the_conditional_bound_and_no_more(counts):
    bound = epsilon_lower_bound(counts, 0.0, SIGNIFICANCE, "conditional")
    assert bound > 0
    assert conditional_holds(counts, bound, 0.0, SIGNIFICANCE) is True
    assert conditional_holds(counts, bound + 1e-6, 0.0, SIGNIFICANCE) is False
    assert conditional_holds(counts, bound, 1e-9, SIGNIFICANCE) is False
    assert p_value(counts, bound, 0.0, "conditional") == pytest.approx(SIGNIFICANCE, rel=1e-4)


def test_ball_arithmetic_confirms_nothing_where_the_event_always_occurred():
    assert conditional_holds(Counts(20, 20, 0, 20), 0.1, 0.0, SIGNIFICANCE) is False


def test_conditional_bound_is_the_larger_one_for_rare_events_only():
    rare, common = Counts(70, 700_000, 0, 700_000), Counts(350_000, 700_000, 47_000, 700_000)
    joint, conditional = (
        [epsilon_lower_bound(counts, 0.0, SIGNIFICANCE, method) for counts in (rare, common)]
        for method in ("joint", "conditional")
    )
    assert conditional[0] > joint[0] + 0.2
    assert conditional[1] < joint[1]


def test_conditional_method_is_refused_where_it_does_not_hold():
    counts = Counts(10, 100, 1, 100)
    with pytest.raises(ValueError, match="delta = 0"):
        epsilon_lower_bound(counts, 1e-6, SIGNIFICANCE, "conditional")
    with pytest.raises(ValueError, match="delta = 0"):
        p_value(counts, 1.0, 1e-6, "conditional")
    with pytest.raises(ValueError, match="bound on delta"):
        delta_lower_bound(counts, 1.0, SIGNIFICANCE, "conditional")
    with pytest.raises(ValueError, match="delta = 0"):
        detectable_epsilon(1.0, 1_000, 1e-6, SIGNIFICANCE, "conditional")
    with pytest.raises(ValueError, match="delta = 0"):
        estimate(
            Laplace(1.0),
            Terms(delta=1e-6, draws=1_000, significance=SIGNIFICANCE, method="conditional"),
            np.random.default_rng(0),
        )


def test_command_line_refuses_the_conditional_bound_of_a_claim_with_delta(capsys):
    assert main(["gaussian", "--draws", "2000", "--bound", "conditional"]) == 2
    assert "delta 0" in capsys.readouterr().err


# Which method certifies.


@pytest.mark.parametrize(
    ("likely", "unlikely", "delta", "method"),
    [
        (30, 0, 0.0, "conditional"),
        (30, 0, 1e-6, "joint"),
        (150_000, 20_000, 0.0, "joint"),
        (300_000, 0, 0.0, "joint"),
        (0, 0, 0.0, "joint"),
    ],
)
def test_method_follows_from_the_choosing_counts_and_delta(likely, unlikely, delta, method):
    event = Event(CoordinateScore(0), 1.0, True, "left")
    candidate = Candidate(1.0, 1.0, event, Counts(likely, 300_000, unlikely, 300_000))
    assert method_for(candidate, Prospect(700_000, delta, SIGNIFICANCE)) == method


@pytest.mark.parametrize(
    ("claim", "face_value", "method"),
    [
        (None, 1.0, "conditional"),
        # what loses 1 is rare on both inputs
        (1.0, 1.0, "conditional"),
        # what loses 5 is not: .74 of the outputs, of which the conditional bound tells nothing
        (5.0, 1.0, "joint"),
        (5.0, 5.1, "conditional"),
        # neither can refute it
        (9.0, 1.0, "conditional"),
    ],
)
def test_method_is_one_that_could_refute_the_claim(claim, face_value, method):
    event = Event(CoordinateScore(0), 1.0, True, "left")
    candidate = Candidate(1.0, 1.0, event, Counts(96, 6_400, 30, 6_400), face_value)
    assert method_for(candidate, Prospect(22_400, 0.0, SIGNIFICANCE, claim=claim)) == method


def test_conditional_bound_certifies_a_rare_leak_and_no_common_event():
    found = {}
    for subject in (LeakyLaplace(1.0, 0.01), Laplace(1.0)):
        rng = np.random.default_rng(1)
        found[type(subject)] = estimate(
            subject, Terms(delta=0.0, draws=20_000, significance=SIGNIFICANCE), rng
        ).ideal
    leak, plain = found[LeakyLaplace], found[Laplace]
    assert (leak.method, plain.method) == ("conditional", "joint")
    assert leak.counts.unlikely == 0 < 1.5 < leak.epsilon_lower_bound
    for finding in (leak, plain):
        assert finding.epsilon_lower_bound == epsilon_lower_bound(
            finding.counts, 0.0, finding.share * SIGNIFICANCE, finding.method
        )


def test_certificate_of_the_conditional_bound_names_it_and_holds(tmp_path, capsys):
    path = tmp_path / "certificate.json"
    main(["laplace_leaky", "--draws", "5000", "--seed", "1", "--bound", "conditional", "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert document["bound"] == document["implementation"]["bound"] == "conditional"
    counts = Counts(70, 200_000, 0, 200_000)
    bound = epsilon_lower_bound(counts, 0.0, SIGNIFICANCE, "conditional")
    certificate = changed(
        Certificate.of(document["certificate"]),
        counts=counts,
        draws=600_000,
        epsilon_lower_bound=bound,
        verdict="refuted",
        request={"draws": 600_000},
    )
    certificate.write(path)
    assert all(check.holds for check in verify(Certificate.read(path)))
    overclaimed = changed(certificate, epsilon_lower_bound=bound + 0.1)
    assert [check.name for check in verify(overclaimed) if check.holds is False] == ["arithmetic"]


def test_named_method_certifies_whatever_the_event():
    for method in ("joint", "clopper_pearson", "conditional"):
        rng = np.random.default_rng(1)
        found = estimate(
            LeakyLaplace(1.0, 0.01), Terms(delta=0.0, draws=5_000, significance=SIGNIFICANCE, method=method), rng
        )
        assert found.ideal.method == found.implementation.method == method
