"""Derivations by sympy, for symbolic d."""
