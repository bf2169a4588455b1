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
    "E.rfm",
    "the relaxed functional mechanism equals No-Privacy for epsilon > 0.1",
    "Section 'Results and Analysis', paragraph on Figure 1",
    "experiments on real data",
)
