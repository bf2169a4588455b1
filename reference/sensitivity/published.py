"""The paper's sensitivity bounds, as printed.

They depend on d and on whether there is a fairness term, and on nothing else: the paper states one number for
every reading.  The claims L1 to L4 decide for which readings it holds.
"""

from __future__ import annotations

from fractions import Fraction

from reference.common.errors import NoPublishedBoundError


def published_l1_sensitivity(fairness: str, dimension: int) -> Fraction:
    """Return Delta_1: Lemma 1 without a fairness term, Lemma 2 with one.

    Parameters
    ----------
    fairness : {'none', 'absolute', 'covariance', 'separate'}
    dimension : int
        The paper's d.

    Raises
    ------
    reference.common.errors.NoPublishedBoundError
        For `separate`, on which the paper states nothing.
    """
    d = dimension
    _has_published_bound(fairness)
    # Lemma 1: Delta_1 <= d^2/4 + d;  Lemma 2: Delta_1 <= d^2/4 + 3d
    return Fraction(d * d, 4) + (d if fairness == "none" else 3 * d)


def published_l2_sensitivity_squared(fairness: str, dimension: int) -> Fraction:
    """Return Delta_2 squared: Lemma 3 without a fairness term, Lemma 4 with one.

    Parameters and errors as in :func:`published_l1_sensitivity`.
    """
    d = dimension
    _has_published_bound(fairness)
    # Lemma 3: Delta_2 <= sqrt(d^2/16 + d);  Lemma 4: Delta_2' <= sqrt(d^2/16 + 9d)
    return Fraction(d * d, 16) + (d if fairness == "none" else 9 * d)


def _has_published_bound(fairness: str) -> None:
    if fairness == "separate":
        raise NoPublishedBoundError(
            "sensitivity",
            "published",
            "exact, or a number, for fairness 'separate': the paper states no bound for it",
        )
