"""The curve of an audit, its plot, and what an ideal verdict does not see."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from audit.auditor.selection import Phases
from audit.epsilon_estimate import main
from audit.gate.auditor.auditing import audit
from audit.subjects.catalogue import ScoredLaplace


def test_curve_falls_with_delta_and_stays_below_the_exact_one():
    """Exact for scale 1: delta(epsilon) = 1 - exp((epsilon - 1) / 2) for 0 <= epsilon <= 1."""
    found = audit(ScoredLaplace(1.0), 400_000, with_curve=True)
    assert found.curve is not None
    bounds = [point.epsilon_lower_bound for point in found.curve.points]
    exact = [max(0.0, 1 + 2 * np.log1p(-point.delta)) for point in found.curve.points]
    assert all(bound <= true for bound, true in zip(bounds, exact, strict=True))
    assert all(bound > true - 0.1 for bound, true in zip(bounds, exact, strict=True))
    assert found.histogram.sum() == 2 * found.counts.likely_draws


def test_plot_is_drawn(tmp_path):
    target = tmp_path / "curve.svg"
    assert (
        main(["laplace", "--draws", "20000", "--seed", "1", "--plot", str(target), "--out", str(tmp_path / "x")])
        == 0
    )
    assert target.read_text(encoding="utf-8").startswith("<?xml")


def test_the_curve_is_drawn_as_steps_that_are_certified(tmp_path, monkeypatch):
    """A slanted line between two points would be above the bound that holds there."""
    from matplotlib.axes import Axes

    drawn = []
    plot = Axes.plot
    monkeypatch.setattr(Axes, "plot", lambda self, *a, **k: drawn.append((a, k)) or plot(self, *a, **k))
    main(["laplace", "--draws", "5000", "--plot", str(tmp_path / "curve.svg"), "--seed", "1"])
    certified = [(a, k) for a, k in drawn if str(k.get("label")).startswith("certified")]
    ((_, epsilons, _), kind) = certified[0]
    # the value at a point holds back to the point before
    assert kind["drawstyle"] == "steps-pre"
    assert all(later <= sooner for sooner, later in pairwise(epsilons))


def test_selection_of_one_exact_score_is_small():
    assert Phases.of(10**9, 1, learning=False).draws == 10**9
    assert Phases.of(10**9, 1, learning=False).choose == 2**16
    plan = Phases.of(10**9, 100, learning=True)
    assert max(plan.learn, plan.choose) * 100 <= 2**23
