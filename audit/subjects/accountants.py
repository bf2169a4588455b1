"""Epsilons reported by other libraries or your own function; each library is imported when used."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from audit.auditor.subject import FAILURES, SubjectError
from audit.exact.accountant import NoisySums
from audit.subjects.imported import imported_object
from reference.common.errors import ReadingError
from reference.common.numbers import exact
from reference.common.printable import in_brief


def opendp_epsilon(asked: NoisySums) -> Any:
    """Ask OpenDP: the map of a composed measurement, through zCDP where the noise is Gaussian."""
    dp = _library("opendp.prelude", "opendp")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    moved, scale = float(asked.moved), float(asked.scale)
    if asked.noise == "laplace":
        one = dp.m.make_laplace(space, dp.l1_distance(T=float), scale=scale)
        # its epsilon is at delta 0, so it holds at every delta
        return dp.c.make_composition([one] * asked.count).map(moved)
    one = dp.m.make_gaussian(space, dp.l2_distance(T=float), scale=scale)
    composed = dp.c.make_zCDP_to_approxDP(dp.c.make_composition([one] * asked.count))
    return composed.map(moved).epsilon(float(asked.delta))


def rdp_epsilon(asked: NoisySums) -> Any:
    """Ask dp-accounting's Rényi accountant."""
    return _dp_accounting(asked, "rdp.rdp_privacy_accountant", "RdpAccountant")


def pld_epsilon(asked: NoisySums) -> Any:
    """Ask dp-accounting's accountant of privacy loss distributions."""
    return _dp_accounting(asked, "pld.pld_privacy_accountant", "PLDAccountant")


def _dp_accounting(asked: NoisySums, module: str, name: str) -> Any:
    if asked.bound is None:
        raise ReadingError("bound", None, "given: dp-accounting's multiplier is scale / bound")
    dp = _library("dp_accounting", "dp-accounting")
    accountants = _library(f"dp_accounting.{module}", "dp-accounting")
    # both get the neighbouring relation
    accountant = getattr(accountants, name)(neighboring_relation=dp.NeighboringRelation[asked.adjacency.upper()])
    event = dp.GaussianDpEvent if asked.noise == "gaussian" else dp.LaplaceDpEvent
    accountant.compose(event(float(asked.scale / asked.bound)), asked.count)
    return accountant.get_epsilon(float(asked.delta))


LIBRARIES: dict[str, Callable[[NoisySums], Any]] = {
    "opendp": opendp_epsilon,
    "dp-accounting-rdp": rdp_epsilon,
    "dp-accounting-pld": pld_epsilon,
}


def reported_epsilon(accountant: str, asked: NoisySums) -> Fraction | None:
    """Return what a library, or the function `package.module:attribute`, reports; None for infinity.

    Raises
    ------
    SubjectError
        When it is missing, fails, or does not return a number that is at least 0.
    """
    module, _, name = accountant.partition(":")
    if accountant not in LIBRARIES and not name:
        named = f"one of {', '.join(LIBRARIES)}, or a function: name the function, as in {module}:report"
        raise ReadingError("accountant", accountant, named)
    try:
        if accountant in LIBRARIES:
            answer = LIBRARIES[accountant](asked)
        else:
            answer = imported_object(accountant, lambda found: found)(**_keywords(asked))
    except (SubjectError, ReadingError):
        raise
    except FAILURES as problem:
        own = accountant not in LIBRARIES and isinstance(problem, TypeError)
        called = f" (it is called with the keywords {', '.join(_keywords(asked))})" if own else ""
        raise SubjectError(f"{accountant} failed: {type(problem).__name__}: {problem}{called}") from problem
    try:
        # a float's exact value, not its shortest decimal; a truth value is no number
        if hasattr(answer, "__float__") and not isinstance(answer, (bool, np.bool_)):
            if float(answer) == math.inf:
                return None
            reported = Fraction(float(answer))
        else:
            reported = exact("reported_epsilon", answer)
    except FAILURES:
        raise SubjectError(f"{accountant} reported {in_brief(answer)}, which is not a number") from None
    if reported < 0:
        raise SubjectError(f"{accountant} reported {in_brief(answer)}, which is below 0")
    return reported


def _keywords(asked: NoisySums) -> dict[str, Any]:
    """Return the keyword arguments of a function."""
    numbers = {name: getattr(asked, name) for name in ("scale", "delta", "bound", "sensitivity")}
    floats = {name: float(value) for name, value in numbers.items() if value is not None}
    return {"noise": asked.noise, "adjacency": asked.adjacency, "count": asked.count, **floats}


def _library(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise SubjectError(f"{package} is not installed: pip install {package} ({problem})") from problem
