"""Thresholds of the published sensitivities as JSON documents, with their data sets."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from audit.exact.enclosures import rational, written
from audit.exact.settings import LARGEST_SIZE, readings_json
from audit.exact.theorems import smallest_sensitivity_power
from audit.exact.thresholds import (
    DIGITS,
    STEP,
    alpha_threshold,
    drift_counterexamples,
    sign_from_the_data,
)
from audit.exact.witnesses import Witness, witness
from reference.common.balls import square_root
from reference.common.errors import NoPublishedBoundError, ReadingError
from reference.common.numbers import (
    Enclosure,
    decimal_above,
    decimal_below,
    decimal_text,
    rounded_up,
)
from reference.sensitivity import (
    Setting,
    exact_l1,
    exact_l2_squared,
    published_l1_sensitivity,
    published_l2_sensitivity_squared,
)


def alpha_document(setting: Setting, norm: str) -> dict[str, Any]:
    """Return the threshold of alpha_1, and data sets on both sides of it; parameters as in `alpha_threshold`."""
    threshold = alpha_threshold(setting, norm)
    below = replace(setting, fairness_weight=decimal_below(threshold.lower * (1 - STEP), 4))
    above = replace(setting, fairness_weight=decimal_above(threshold.upper * (1 + STEP), 4))
    published = _published_l1(setting) if norm == "l1" else _published_l2_squared(setting)
    supremum = (exact_l1 if norm == "l1" else exact_l2_squared)(below).upper
    return {
        "claim": "L2.alpha",
        "norm": norm,
        "readings": readings_json(setting) | {"fairness_weight": None},
        "published" if norm == "l1" else "published_squared": rational(published),
        "threshold": _enclosure_json(threshold),
        "below": {
            **_weight_json(below, norm, published),
            "no_change_exceeds": rounded_up(supremum if norm == "l1" else square_root(supremum).upper),
            "bound_holds": supremum <= published,
        },
        "above": _weight_json(above, norm, published),
    }


def _weight_json(setting: Setting, norm: str, published: Fraction) -> dict[str, Any]:
    """Return the data sets of the largest change at one alpha_1, compared with the bound in exact numbers."""
    found = witness(setting, norm)
    return {
        "fairness_weight": decimal_text(setting.fairness_weight),
        **found.to_json(),
        "change": float(found.value) if norm == "l1" else math.sqrt(found.value),
        "exceeds_published": found.value > published,
    }


def sign_document(setting: Setting) -> dict[str, Any]:
    """Return data sets on which a sign chosen from the data flips, at growing numbers of records.

    Parameters
    ----------
    setting : Setting
        If it has a number of records, that N only; else the smallest N that exceeds the bound, and larger ones.

    Raises
    ------
    reference.common.errors.ReadingError
        Where d = 1, N is even or 1, or no allowed N exceeds the bound.
    """
    if setting.dimension < 2:
        raise ReadingError("dimension", setting.dimension, "at least 2: the sign alone moves |g| little")
    bound = _published_l1(setting)
    flips = [
        sign_from_the_data(half, setting.fairness_weight, setting.norm, setting.dimension)
        for half in _halves(setting, bound)
    ]
    return {
        "claim": "L2.sign",
        "norm": "l1",
        "readings": readings_json(setting) | {"sign": "of g.(1, ..., 1)"},
        "published": rational(bound),
        "change_per_record": decimal_text(setting.fairness_weight),
        "data_sets": [
            {
                "records": len(flip.left),
                "left": flip.left.to_json(),
                "right": flip.right.to_json(),
                "change": rational(flip.change),
                "exceeds_published": flip.change > bound,
            }
            for flip in flips
        ],
    }


def _halves(setting: Setting, bound: Fraction) -> list[int]:
    """Return (N - 1)/2 for each N to show."""
    if setting.records is not None:
        if setting.records < 3 or setting.records % 2 == 0:
            raise ReadingError("records", setting.records, "odd and at least 3: two equal groups and one record")
        return [setting.records // 2]
    weight = setting.fairness_weight
    if weight == 0 or bound / weight > LARGEST_SIZE // 2:
        raise ReadingError("fairness_weight", decimal_text(weight), f"larger: N is at most {LARGEST_SIZE:,}")
    smallest = math.floor(bound / (2 * weight)) + 1
    return [half for half in (smallest, 10 * smallest, 100 * smallest) if 2 * half < LARGEST_SIZE]


def delta1_document(setting: Setting) -> dict[str, Any]:
    """Return the smallest Delta_1 that Theorem 3 needs, and data sets on which a smaller one fails."""
    smallest = smallest_sensitivity_power("T3", setting)
    published = _published_or_none(setting)
    part, found, factor = _decisive(setting)
    too_small = decimal_below(smallest.lower * (1 - STEP), 4)
    loss = found.value / too_small
    return {
        "claim": "T3",
        "readings": readings_json(setting),
        "published": None if published is None else rational(published),
        "smallest": _enclosure_json(smallest),
        "published_suffices": _at_least(published, smallest),
        "below": {
            "delta_1": decimal_text(too_small),
            "budget": f"epsilon_{part} = 1, the other towards 0",
            **found.to_json(),
            "loss": float(loss),
            "formula": rational(1 / factor),
            "exceeds_formula": loss > 1 / factor,
        },
    }


def _decisive(setting: Setting) -> tuple[str, Witness, Fraction]:
    """Return the part of the budget that needs the larger Delta_1, its data sets, and 1/(its share)."""
    d = setting.dimension
    parts = [("s", witness(setting, "l1", Fraction(1), Fraction(0)), Fraction(d))]
    if d > 1:
        parts.append(("n", witness(setting, "l1", Fraction(0), Fraction(1)), Fraction(d, d - 1)))
    return max(parts, key=lambda part: part[1].value * part[2])


def _at_least(published: Fraction | None, needed: Enclosure) -> bool | None:
    """Return whether the published Delta_1 suffices; None where there is none or the enclosure does not decide."""
    if published is None or needed.lower <= published < needed.upper:
        return None
    return published >= needed.upper


def drift_document() -> dict[str, Any]:
    """Return data sets on which a step of two of the paper's proofs is false."""
    return {
        "claim": "second line of the proofs of Lemmas 2 and 4",
        "readings": {"fairness": "absolute", "fairness_weight": "1", "dimension": 1, "records": 2},
        "counterexamples": [
            {
                "left": left.to_json(),
                "right": right.to_json(),
                "change": rational(change),
                "last_terms": rational(last_terms),
            }
            for left, right, change, last_terms in drift_counterexamples()
        ],
    }


def _published_l1(setting: Setting) -> Fraction:
    return published_l1_sensitivity(setting.fairness, setting.dimension)


def _published_l2_squared(setting: Setting) -> Fraction:
    return published_l2_sensitivity_squared(setting.fairness, setting.dimension)


def _published_or_none(setting: Setting) -> Fraction | None:
    try:
        return _published_l1(setting)
    except NoPublishedBoundError:
        return None


def _enclosure_json(value: Enclosure) -> Any:
    """Return "p/q", or decimals that enclose the value."""
    if value.lower == value.upper:
        return rational(value.lower)
    return written(value.lower, value.upper, DIGITS)
