"""Metrics with noise of their own: sensitivities, coverage of the intervals, and what composes how."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from reference.accounting import PrivacyStatement
from reference.budgets import Budget, SplitBudget
from reference.commands.evaluation import Plan, evaluate_splits
from reference.common.errors import EpsilonError, ReadingError
from reference.domain import Domain
from reference.fairness import evaluate, predict
from reference.fairness import private_metrics as room
from reference.fairness.private_metrics import composed, l1_sensitivity_of_counts, private_metrics
from reference.readings import ADJACENCIES
from reference.records import check_matrix
from reference.registry import MECHANISMS
from tests.command_lines import reference
from tests.strategies import random_records

RECORDS = random_records(900, 3, 8)
W = np.array([1.0, -2.0, 0.7])


def all_records(n: int, *, with_group: bool) -> list:
    """Return every data set of n records over x in {0, 1}, y and z."""
    domain = Domain.of_columns(["a"], norm="unit_box", with_group=with_group)
    rows = list(itertools.product((0.0, 1.0), (0, 1), (0, 1) if with_group else (None,)))
    found = []
    for chosen in itertools.product(rows, repeat=n):
        x, y, z = zip(*chosen, strict=True)
        found.append(check_matrix(domain, np.array(x)[:, None], y, z if with_group else None))
    return found


@pytest.mark.parametrize("with_group", [False, True])
def test_counts_move_by_the_stated_sensitivity_and_no_more(with_group):
    """Exhausted: every pair of neighbouring data sets of two records; the maximum is attained."""
    twos, ones = all_records(2, with_group=with_group), all_records(1, with_group=with_group)

    def counts(records, adjacency):
        return np.array(room._counts(predict([1.0], records.x), records, adjacency))

    def key(records, rows=slice(None)):
        parts = [records.x[rows].ravel(), records.y[rows]] + ([records.z[rows]] if with_group else [])
        return tuple(np.concatenate(parts).tolist())

    moved = {"replace_one": 0, "add_or_remove_one": 0}
    for left, right in itertools.combinations(twos, 2):
        if key(left, slice(0, 1)) == key(right, slice(0, 1)):
            change = np.abs(counts(left, "replace_one") - counts(right, "replace_one")).sum()
            moved["replace_one"] = max(moved["replace_one"], int(change))
    for large, small in itertools.product(twos, ones):
        if key(large, slice(0, 1)) == key(small):
            change = np.abs(counts(large, "add_or_remove_one") - counts(small, "add_or_remove_one")).sum()
            moved["add_or_remove_one"] = max(moved["add_or_remove_one"], int(change))
    assert moved == {a: l1_sensitivity_of_counts(a, with_group=with_group) for a in ADJACENCIES}


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("noise", ["numpy", "hardened"])
def test_little_noise_gives_the_exact_metrics(adjacency, noise):
    exact = evaluate(W, RECORDS)
    found = private_metrics(W, RECORDS, 10_000, adjacency=adjacency, noise=noise)
    assert found.accuracy.estimate == pytest.approx(exact.accuracy, abs=1e-4)
    assert found.risk_difference.estimate == pytest.approx(exact.risk_difference, abs=1e-4)
    assert found.privacy == PrivacyStatement(Fraction(10_000), Fraction(0), adjacency, ("T1",))
    assert not found.seeded


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("noise", ["numpy", "hardened"])
@pytest.mark.parametrize("with_group", [False, True])
def test_intervals_cover_the_exact_metrics(monkeypatch, adjacency, noise, with_group):
    """800 releases at significance 0.2, tested at 1e-6; margins cut to a fifth are found."""
    records = random_records(40, 3, 8, with_group=with_group)
    exact = evaluate(W, records)
    random = np.random.default_rng(1) if noise == "numpy" else None

    def failures(count: int) -> int:
        failed = 0
        for _ in range(count):
            found = private_metrics(
                W, records, 1, adjacency=adjacency, noise=noise, significance="0.2", rng=random
            )
            inside = found.accuracy.lower <= exact.accuracy <= found.accuracy.upper
            if with_group:
                difference = found.risk_difference
                inside &= difference.lower <= exact.risk_difference <= difference.upper
            failed += not inside
        return failed

    assert stats.binomtest(failures(800), 800, 0.2, alternative="greater").pvalue > 1e-6
    monkeypatch.setattr(room.math, "ceil", lambda value: int(value / 5))
    assert stats.binomtest(failures(800), 800, 0.2, alternative="greater").pvalue < 1e-6


def test_scale_of_every_count_is_the_joint_sensitivity_over_epsilon(monkeypatch):
    """4,000 counts: 2 n mean|noise| / b is chi2(2n), size 1e-6; 20 % is found with power over 0.9999."""
    drawn = []
    original = room.sampler_of

    def spy(*arguments):
        sampler = original(*arguments)

        class Recording:
            seeded = sampler.seeded

            def add(self, values, noise):
                noisy = sampler.add(values, noise)
                drawn.extend(float(a - b) for a, b in zip(noisy, values, strict=True))
                return noisy

        return Recording()

    monkeypatch.setattr(room, "sampler_of", spy)
    for _ in range(800):
        private_metrics(W, RECORDS, "1/100", noise="hardened")
    assert len(drawn) == 4000
    for scale, fine in ((300, True), (250, False), (360, False)):
        statistic = 2 * np.abs(drawn).sum() / scale
        low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], 2 * len(drawn))
        assert bool(low <= statistic <= high) is fine


def test_same_records_add_up_and_held_out_ones_do_not():
    fit = PrivacyStatement(Fraction(3), Fraction(1, 1000), "replace_one", ("T5", "L4"))
    metrics = PrivacyStatement(Fraction(1, 2), Fraction(0), "replace_one", ("T1",))
    assert composed(fit, metrics, same_records=True).epsilon == Fraction(7, 2)
    held_out = composed(fit, metrics, same_records=False)
    assert (held_out.epsilon, held_out.delta) == (3, Fraction(1, 1000))
    assert held_out.claims == ("T5", "L4", "T1")
    assert composed(None, metrics, same_records=False) is None
    with pytest.raises(ReadingError, match="adjacency"):
        composed(fit, PrivacyStatement(Fraction(1), Fraction(0), "add_or_remove_one", ("T1",)), same_records=False)


def held_out_parts(records, adjacency: str) -> list:
    spec, found = MECHANISMS["functional"], []
    evaluate_splits(
        Plan(spec=spec, budget=Budget(1), readings=spec.readings.with_(adjacency=adjacency), splits=3),
        records,
        rng=7,
        on_release=lambda _release, held_out: found.append(held_out),
    )
    return found


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_split_does_not_look_at_the_records(adjacency):
    """Control: a split by value lets one record leave its part."""
    x, first = RECORDS.x.copy(), int(RECORDS.x[:, 0].argmax())
    x[first] = 0
    neighbour = replace(RECORDS, x=x)
    parts = held_out_parts(RECORDS, adjacency)
    np.testing.assert_array_equal(parts, held_out_parts(neighbour, adjacency))
    assert (parts[0] != parts[1]).any()
    assert ((RECORDS.x[:, 0] > 0.5) != (neighbour.x[:, 0] > 0.5)).sum() == 1


@pytest.mark.parametrize("favoured", [0, 1])
def test_interval_of_the_risk_difference_holds_whichever_group_is_favoured(favoured):
    records = replace(RECORDS, z=RECORDS.z if favoured else 1 - RECORDS.z)
    exact = evaluate(W, records).risk_difference
    assert exact > 0.001
    found = private_metrics(W, records, 10_000, noise="hardened").risk_difference
    assert found.lower <= exact <= found.upper


def test_all_margins_hold_together_at_the_significance():
    """The margin, read off the interval, keeps all five Laplace variates but for the significance."""
    records = random_records(20_000, 3, 8)
    for significance in ("0.01", "0.2"):
        found = private_metrics(W, records, "1/10", significance=significance, rng=2)
        margin = len(records) * (found.accuracy.upper - found.accuracy.lower) / 2
        each = 1 - 2 * stats.laplace.sf(margin / found.scale)
        assert each**5 >= 1 - float(significance)
        # not for the price of another count
        assert each**6 <= 1 - 0.9 * float(significance)


@pytest.mark.parametrize(("test_share", "epsilon"), [(0.0, Fraction(3, 2)), (0.2, Fraction(1))])
def test_evaluation_composes_fit_and_metrics_over_splits(test_share, epsilon):
    spec = MECHANISMS["functional"]
    plan = Plan(
        spec=spec,
        budget=Budget(1),
        readings=spec.readings,
        splits=3,
        test_share=test_share,
        private_epsilon=Fraction(1, 2),
    )
    result = evaluate_splits(plan, RECORDS, rng=4)
    assert result.private.published.epsilon == 3 * epsilon
    assert len({m.accuracy.estimate for m in result.private.metrics}) == 3
    again = evaluate_splits(plan, RECORDS, rng=4)
    assert again.private.metrics == result.private.metrics
    assert all(m.seeded for m in result.private.metrics)


def test_a_release_without_w_has_no_metrics_but_counts_as_spent():
    spec = MECHANISMS["pdfc"]
    few = random_records(3, 4, 0)
    plan = Plan(
        spec=spec,
        budget=SplitBudget("0.01", "0.01"),
        readings=spec.readings.with_(repair="none"),
        test_share=0,
        private_epsilon=Fraction(1),
    )
    result = evaluate_splits(plan, few, rng=0)
    assert result.private.metrics == (None,)
    assert result.private.published.epsilon == Fraction(101, 100)


def test_metrics_of_a_baseline_make_no_total():
    spec = MECHANISMS["no_privacy"]
    plan = Plan(spec=spec, budget=None, readings=spec.readings, private_epsilon=Fraction(1))
    result = evaluate_splits(plan, RECORDS)
    assert (result.private.published, result.private.exact) == (None, None)


@pytest.mark.parametrize("noise", ["numpy", "hardened"])
def test_command_line_prints_and_writes_private_metrics(capsys, noise):
    words = ["fit", "--mechanism", "pdfc", "--private-metrics", "1/2", "--noise", noise]
    assert reference(*words, "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)["private_metrics"]
    assert document["measured_on"] == "held-out records"
    assert document["splits"][0]["noise"] == noise
    assert document["splits"][0]["privacy"]["epsilon"] == 0.5
    assert document["composed_with_fit"]["published"]["epsilon"] == 1.0
    assert reference(*words, "--test-share", "0") == 0
    text = capsys.readouterr().out
    assert "private metrics (0.5, 0): accuracy" in text
    assert "both budgets add up, compose to (1.5, 0) (published)" in text


@pytest.mark.parametrize("bad", ["0", "-1", "x", "nan"])
def test_bad_epsilon_of_metrics_is_rejected_before_any_release(capsys, bad):
    assert reference("fit", "--private-metrics", bad) == 2
    assert "private_metrics" in capsys.readouterr().err
    with pytest.raises(EpsilonError):
        private_metrics(W, RECORDS, bad)


@pytest.mark.parametrize("bad", [0, 1, "2"])
def test_bad_significance_is_rejected(bad):
    with pytest.raises(ReadingError, match="significance"):
        private_metrics(W, RECORDS, 1, significance=bad)


def test_an_empty_group_gives_an_interval_and_perhaps_no_estimate():
    records = check_matrix(Domain.of_columns(["a", "b", "c"]), RECORDS.x[:20], RECORDS.y[:20], np.ones(20))
    for seed in range(30):
        found = private_metrics(W, records, 1, rng=seed).risk_difference
        assert 0 <= found.lower <= found.upper <= 1
        assert found.estimate is None or 0 <= found.estimate <= 1


def cancelling(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows whose scores are zero but for rounding, and their w: any other rounding flips predictions."""
    random = np.random.default_rng(seed)
    w, x = random.normal(size=d), random.random((n, d))
    x[:, -1] = 0.0
    w[-1] = 1.0
    x[:, -1] = -np.einsum("ij,j->i", x, w)
    return w, x


def elsewhere(x: np.ndarray) -> dict[str, tuple[np.ndarray, slice]]:
    """Return the same rows in other company: of each way the table, and where the rows stand in it."""
    n, one = len(x), np.full((1, x.shape[1]), 0.25)
    return {
        "one more record behind": (np.vstack([x, one]), slice(0, n)),
        "one more record in front": (np.vstack([one, x]), slice(1, n + 1)),
        "one record less": (x[:-1].copy(), slice(0, n - 1)),
        "columns stored together": (np.asfortranarray(x), slice(0, n)),
        "a block of its own": (x[: n // 2 + 1].copy(), slice(0, n // 2 + 1)),
        "in reverse": (x[::-1].copy()[::-1], slice(0, n)),
        "a view with strides": (np.repeat(x, 2, axis=0)[::2], slice(0, n)),
    }


def flipped(predicted, seeds=range(20)) -> int:
    """Return how many predictions of a row depend on the other rows."""
    total = 0
    for seed in seeds:
        w, x = cancelling(257, 13, seed)
        expected = predicted(w, x)
        for table, place in elsewhere(x).values():
            there = predicted(w, table)[place]
            total += int((there != expected[: len(there)]).sum())
        total += int((np.array([predicted(w, row[None, :])[0] for row in x]) != expected).sum())
    return total


def test_a_prediction_depends_on_its_own_record_alone():
    assert flipped(predict) == 0


def test_a_matrix_product_rounds_a_row_by_its_neighbours():
    """The broken control: what `predict` was."""
    assert flipped(lambda w, x: x @ w > 0.0) > 100


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_program_moves_its_counts_by_no_more_than_stated(adjacency):
    """Adversarial neighbours, through the code: rows that any other rounding would flip."""
    moved = {"as stated": 0, "broken control": 0}
    domain = Domain.of_columns([f"x{i}" for i in range(13)], norm="symmetric_ball", with_group=True)
    for seed in range(20):
        w, x = cancelling(257, 13, seed)
        x = x / (1.001 * np.abs(x).max() * 13)
        random = np.random.default_rng(seed)
        y, z = random.integers(0, 2, len(x)), random.integers(0, 2, len(x))
        left = check_matrix(domain, x, y, z)
        if adjacency == "replace_one":
            changed = x.copy()
            changed[seed] = 0.0
            right = check_matrix(domain, changed, y, z)
        else:
            right = check_matrix(domain, x[1:], y[1:], z[1:])
        for name, rule in (("as stated", predict), ("broken control", lambda w, x: x @ w > 0.0)):
            counts = [np.array(room._counts(rule(w, side.x), side, adjacency)) for side in (left, right)]
            moved[name] = max(moved[name], int(np.abs(counts[0] - counts[1]).sum()))
    stated = l1_sensitivity_of_counts(adjacency, with_group=True)
    assert moved["as stated"] <= stated
    if adjacency == "add_or_remove_one":
        assert moved["broken control"] > stated
