"""A plot of a score: claim, truth and bounds, one line per entry."""

from __future__ import annotations

from audit.common.figures import save
from audit.validity.scores.scoring import AuditorScore


def draw_score(score: AuditorScore, path: str) -> None:
    """Draw the bounds of every entry into a file whose ending names the format.

    Parameters
    ----------
    score : AuditorScore
    path : str
        Such as ``catalogue.svg``.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.5 + 0.22 * len(score.entries)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    places = range(len(score.entries))
    axes.plot([s.entry.claimed_epsilon for s in score.entries], places, "k|", markersize=10, label="claim")
    within = [min(s.entry.true_epsilon, s.ceiling) for s in score.entries]
    axes.plot(within, places, "D", color="tab:blue", fillstyle="none", label="true loss, or ceiling if less")
    for right, colour, label in ((True, "tab:green", "bound: right"), (False, "tab:red", "bound: broken")):
        points = [
            (min(bound, s.ceiling), place)
            for place, s in zip(places, score.entries, strict=True)
            if s.entry.is_right == right
            for bound in s.bounds
        ]
        axes.plot([x for x, _ in points], [y for _, y in points], ".", color=colour, label=label)
    unseen = set(score.out_of_reach)
    labels = [s.name + (" (out of reach)" if s.name in unseen else "") for s in score.entries]
    axes.set_yticks(list(places), labels, fontsize="x-small")
    axes.invert_yaxis()
    axes.set(xlabel="epsilon", xlim=(0, None), title=f"{score.auditor}, significance {score.significance:g}")
    axes.legend(fontsize="small")
    save(figure, path)
