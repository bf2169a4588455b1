"""Accuracy and risk difference of a released w, each with its own noise.

Everything is computed from noisy counts.  The proofs of the sensitivities, of the intervals and of
composition are in ``proofs/private_metrics.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from reference.accounting import PrivacyStatement, basic_composition
from reference.budgets import parse_epsilon
from reference.common.arrays import BoolArray
from reference.common.documents import plain
from reference.common.errors import ReadingError
from reference.common.numbers import RealLike, exact
from reference.fairness import predict
from reference.noise import Noise, RandomSource, laplace_scale, sampler_of
from reference.records import Records

Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class NoisyMetric:
    """An estimate from noisy counts, with an interval for the exact metric on the same records.

    Parameters
    ----------
    estimate : float or None
        None when a noisy denominator is not positive.
    lower, upper : float
        Contain the exact value, if it exists, with the probability that :class:`PrivateMetrics` states.
    """

    estimate: float | None
    lower: float
    upper: float

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"estimate": self.estimate, "interval": {"lo": self.lower, "hi": self.upper}}


@dataclass(frozen=True)
class PrivateMetrics:
    """Metrics that may be published together with a release.

    Parameters
    ----------
    accuracy : NoisyMetric
    risk_difference : NoisyMetric or None
        None when the domain declares no group.
    privacy : PrivacyStatement
        Of these metrics alone, for a fixed w.
    scale : float
        Laplace scale of every count.
    noise : {'numpy', 'hardened'}
    significance : Fraction
        Both intervals together fail with at most this probability.  They cover the noise, not how
        well the records represent others.
    seeded : bool
    """

    accuracy: NoisyMetric
    risk_difference: NoisyMetric | None
    privacy: PrivacyStatement
    scale: float
    noise: str
    significance: Fraction
    seeded: bool

    def to_json(self) -> dict[str, Any]:
        """Return the metrics as a JSON document."""
        return {
            "accuracy": self.accuracy.to_json(),
            "risk_difference": None if self.risk_difference is None else self.risk_difference.to_json(),
            "privacy": plain(self.privacy),
            "scale": self.scale,
            "noise": self.noise,
            "significance": float(self.significance),
            "seeded": self.seeded,
        }


def private_metrics(
    w: npt.ArrayLike,
    records: Records,
    epsilon: RealLike,
    *,
    adjacency: str = "replace_one",
    noise: str = "numpy",
    significance: RealLike = Fraction(1, 20),
    rng: RandomSource = None,
) -> PrivateMetrics:
    """Release accuracy and risk difference of the predictor w on a data set.

    The counts are: correct predictions; and members by group and prediction (without a group: all members,
    where their number is not public).  Each gets Laplace noise of scale :func:`l1_sensitivity_of_counts` /
    epsilon, so epsilon is spent in the proportion 1 : 2 under `replace_one`, 1 : 1 under `add_or_remove_one`.
    Under `replace_one` the number of records is public.  Claims: T1.

    Parameters
    ----------
    w : array_like, shape (d,)
        Fixed, or released before.
    records : Records
    epsilon : number
    adjacency : {'replace_one', 'add_or_remove_one'}
    noise : {'numpy', 'hardened'}
        Hardened noise is discrete Laplace noise on whole numbers: no rounding at all.  It is what a call without
        `rng` takes, whatever this says.
    significance : number
        In (0, 1).
    rng : None, 'entropy', int or numpy.random.Generator
        As for the mechanisms.
    """
    noise = "hardened" if rng is None else noise
    budget = parse_epsilon("epsilon", epsilon)
    chance = exact("significance", significance)
    if not 0 < chance < 1:
        raise ReadingError("significance", significance, "in (0, 1)")
    counts = _counts(predict(w, records.x), records, adjacency)
    l1 = l1_sensitivity_of_counts(adjacency, with_group=records.z is not None)
    scale = laplace_scale(Fraction(l1), budget)
    sampler = sampler_of(noise, rng, f"private metrics {budget} {adjacency}")
    added = Noise.uniform("laplace", scale, len(counts), 1 if noise == "hardened" else None)
    correct, *cells = sampler.add(np.array(counts, dtype=object), added)
    # P(|noise| > margin) <= exp(-margin / scale) <= significance / number of counts
    margin = math.ceil(scale * math.log(len(counts) / chance))
    members = [Fraction(len(records))] if adjacency == "replace_one" else cells
    return PrivateMetrics(
        accuracy=_accuracy(correct, members, margin, margin_of_total=0 if adjacency == "replace_one" else margin),
        risk_difference=None if records.z is None else _risk_difference(cells, margin),
        privacy=PrivacyStatement(budget, Fraction(0), adjacency, ("T1",)),
        scale=scale,
        noise=noise,
        significance=chance,
        seeded=sampler.seeded,
    )


def l1_sensitivity_of_counts(adjacency: str, *, with_group: bool) -> int:
    """Return how far one record moves all counts together; some record attains it.

    Under `replace_one` the number of correct predictions moves by 1, and a member leaves one cell of group and
    prediction for another.  Under `add_or_remove_one` it moves by 1, and one cell by 1.
    """
    if adjacency == "replace_one":
        return 3 if with_group else 1
    return 2


def composed(
    fit: PrivacyStatement | None, metrics: PrivacyStatement, *, same_records: bool
) -> PrivacyStatement | None:
    """Return the statement for a fit and the metrics of its w; None when the fit states nothing.

    On the same records both budgets add up.  On held-out records every record is in one part only, and takes
    part in one of the two releases: the larger epsilon and the larger delta hold.  That needs a split that does
    not look at the records (the caller's duty; :func:`reference.commands.evaluation.evaluate_splits` does not):
    if another value could carry a record from one part to the other, both releases would depend on it, and even
    their sum would not follow from statements for `replace_one`.  The rows of one person may be in both parts:
    with several of them both budgets add up.
    """
    if same_records or fit is None or metrics.rows_per_person > 1:
        return basic_composition([fit, metrics])
    both = basic_composition([fit, metrics])
    assert both is not None
    return PrivacyStatement(
        max(fit.epsilon, metrics.epsilon), max(fit.delta, metrics.delta), both.adjacency, both.claims
    )


def _counts(prediction: BoolArray, records: Records, adjacency: str) -> list[int]:
    """Return the number of correct predictions, then the cells."""
    correct = int((prediction == (records.y == 1.0)).sum())
    if records.z is None:
        return [correct] if adjacency == "replace_one" else [correct, len(records)]
    cells = [
        int((prediction == predicted)[records.z == group].sum())
        for group in (1.0, 0.0)
        for predicted in (True, False)
    ]
    return [correct, *cells]


def _accuracy(correct: Fraction, members: Sequence[Fraction], margin: int, *, margin_of_total: int) -> NoisyMetric:
    total = sum(members, Fraction(0))
    around = margin_of_total * len(members)
    low, high = _around(correct, margin)
    fewest, most = _around(total, around)
    return _metric(
        correct / total if total > 0 else None,
        low / most if most > 0 else Fraction(0),
        high / fewest if fewest > 0 else Fraction(1),
    )


def _risk_difference(cells: Sequence[Fraction], margin: int) -> NoisyMetric:
    first, second = (_rate(cells[i], cells[i + 1], margin) for i in (0, 2))
    estimate = None
    if first[0] is not None and second[0] is not None:
        estimate = abs(first[0] - second[0])
    # the signed difference lies in [low, high]
    low, high = first[1][0] - second[1][1], first[1][1] - second[1][0]
    return _metric(estimate, max(Fraction(0), low, -high), max(high, -low))


def _rate(positive: Fraction, negative: Fraction, margin: int) -> tuple[Fraction | None, Interval]:
    """Return positive / (positive + negative), in [0, 1], and its interval: it grows with the first only."""
    (least, most), (fewest, greatest) = _around(positive, margin), _around(negative, margin)
    low = least / (least + greatest) if least + greatest > 0 else Fraction(0)
    high = most / (most + fewest) if most + fewest > 0 else Fraction(1)
    size = positive + negative
    return (min(Fraction(1), max(Fraction(0), positive / size)) if size > 0 else None), (low, high)


def _around(count: Fraction, margin: int) -> Interval:
    """Return the range of counts within a margin of a noisy one; counts are not negative."""
    return max(Fraction(0), count - margin), max(Fraction(0), count + margin)


def _metric(estimate: Fraction | None, lower: Fraction, upper: Fraction) -> NoisyMetric:
    one, nothing = Fraction(1), Fraction(0)
    inside = None if estimate is None else float(min(one, max(nothing, estimate)))
    return NoisyMetric(inside, float(min(one, lower)), float(min(one, upper)))
