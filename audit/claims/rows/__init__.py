"""The rows of the ledger, a module a topic."""

from reference.common.extras import needed_for

with needed_for("a check of claims"):
    import sympy  # noqa: F401
