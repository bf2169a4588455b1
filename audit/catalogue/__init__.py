"""Mechanisms whose exact privacy loss is known: right ones and broken ones, to audit the auditor."""

from audit.catalogue.laplace import HalfNoiseLaplace, Laplace

__all__ = ["HalfNoiseLaplace", "Laplace"]
