"""Rows that experiments and later checks decide: open, listed by name."""

from __future__ import annotations

from audit.claims.registry import open_claim

open_claim(
    "A.float",
    "Laplace and Gaussian noise as drawn on a computer keep the theorems",
    "Theorems 1 and 2, which speak of real numbers",
    "the audit of floating-point noise",
)
