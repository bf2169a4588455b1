"""Derivations by sympy, for symbolic d."""

from reference.common.extras import needed_for

with needed_for("a derivation for symbolic d"):
    import sympy  # noqa: F401
