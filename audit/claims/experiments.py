"""Rows that experiments and later checks decide: open, listed by name."""

from __future__ import annotations

from audit.claims.registry import open_claim

open_claim(
    "A.corr",
    "more noise on x_s reduces its correlation with z, hence the discrimination",
    "Section 'Purely DP and Fair Classification', paragraph after Algorithm 1",
    "experiments on real data",
)
open_claim(
    "E.literal",
    "the method as written gives an accurate and fair classifier",
    "Section 'Performance Evaluation'",
    "experiments on real data",
)
open_claim(
    "E.rfm",
    "the relaxed functional mechanism equals No-Privacy for epsilon > 0.1",
    "Section 'Results and Analysis', paragraph on Figure 1",
    "experiments on real data",
)
for figure, what in (
    ("Fig1", "accuracy against epsilon on US"),
    ("Fig2", "accuracy against delta on US"),
    ("Fig3", "accuracy against epsilon on Adult"),
    ("Tables", "risk difference against epsilon on Adult and US"),
):
    open_claim(figure, what, "Section 'Results and Analysis'", "experiments on real data")
