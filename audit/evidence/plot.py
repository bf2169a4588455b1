"""Plots of an audit: how the best score tells the inputs apart, and the certified epsilon(delta) curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audit.common.figures import save
from audit.evidence.report import EstimateResult


def draw_results(results: Sequence[EstimateResult], path: str) -> None:
    """Draw both curves of each result into a file whose ending names the format.

    Left: shares of the certifying draws, a point per threshold of the ideal event's score, with the region that
    the claim allows; the points are estimates, and certify nothing.  Right: lower bounds on epsilon that hold
    together, with the claim.

    Parameters
    ----------
    results : sequence of EstimateResult
        At least one; each has a curve.
    path : str
        Ends in one of :data:`audit.common.figures.ENDINGS`.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4 * len(results)), layout="constrained")
    FigureCanvasAgg(figure)
    for row, result in enumerate(results):
        trade_off = figure.add_subplot(len(results), 2, 2 * row + 1)
        histogram = result.estimate.histogram
        shares = np.cumsum(histogram, axis=1) / histogram.sum(axis=1, keepdims=True)
        trade_off.plot(shares[1], 1 - shares[0], label="score at or below a threshold: right")
        trade_off.plot(1 - shares[0], shares[1], label="score above a threshold: left")
        false_alarms = np.linspace(0, 1, 201)
        epsilon, delta = result.claimed, float(result.claimed_delta)
        allowed = np.maximum(
            1 - delta - np.exp(min(epsilon, 700)) * false_alarms,
            np.exp(-epsilon) * (1 - delta - false_alarms),
        )
        trade_off.plot(false_alarms, np.maximum(allowed, 0), "k--", label="claim: not below")
        trade_off.set(xlabel="false alarms", ylabel="misses", title=result.mechanism.replace("$", r"\$"))
        trade_off.legend()
        curve = result.estimate.curve
        deltas = [point.delta for point in curve.points] if curve else []
        epsilons = [curve.at(delta) for delta in deltas] if curve else []
        bounds = figure.add_subplot(len(results), 2, 2 * row + 2)
        # a bound holds at smaller deltas, too, down to the next point: a slanted line would promise more
        bounds.plot(deltas, epsilons, "o-", drawstyle="steps-pre", label="certified, all at once")
        bounds.plot([delta], [epsilon], "kx", label="claim")
        bounds.set_xscale("symlog", linthresh=1e-5)
        bounds.set(xlabel="delta", ylabel="epsilon at least", ylim=(0, None))
        bounds.legend()
    save(figure, path)
