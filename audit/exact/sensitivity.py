"""The largest change of the coefficients that one record can make.

The paper's bound beside the exact supremum over all neighbouring data sets (or a certified enclosure of it), with
data sets that attain it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from audit.exact.declared import farthest_witness
from audit.exact.enclosures import rational
from audit.exact.settings import readings_json
from audit.exact.witnesses import ONE, Witness, witness
from reference.common.balls import square_root
from reference.common.errors import NoPublishedBoundError, ReadingError
from reference.common.numbers import decimal_text, rounded_down, rounded_up
from reference.sensitivity import (
    Declared,
    Setting,
    Supremum,
    ball_l1,
    declared_supremum,
    exact_l1,
    exact_l2_squared,
    published_l1_sensitivity,
    published_l2_sensitivity_squared,
)


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """One norm under one setting.

    Parameters
    ----------
    setting : Setting
    norm : {'l1', 'l2'}
    weight_s, weight_n : Fraction
    published : Fraction or None
        The paper's bound; its square for `l2`.
    supremum : Supremum
        Of the weighted change; of its square for `l2`.
    witness : Witness
    where : Declared or None
        Rows that a domain encodes; None for all rows of the norm.
    """

    setting: Setting
    norm: str
    weight_s: Fraction
    weight_n: Fraction
    published: Fraction | None
    supremum: Supremum
    witness: Witness
    where: Declared | None = None

    @property
    def over_norm(self) -> Sensitivity | None:
        """The same over all rows of the norm; None if this one is over them already."""
        if self.where is None:
            return None
        return sensitivity(self.setting, self.norm, self.weight_s, self.weight_n)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Enclosure of the sensitivity itself."""
        if self.norm == "l1":
            return self.supremum.lower, self.supremum.upper
        return square_root(self.supremum.lower).lower, square_root(self.supremum.upper).upper

    @property
    def published_bound(self) -> float | None:
        """The paper's bound as a number."""
        if self.published is None:
            return None
        return float(self.published) if self.norm == "l1" else math.sqrt(self.published)

    def to_json(self) -> dict[str, Any]:
        """Return the contract's object."""
        setting = self.setting
        document = {
            "norm": self.norm,
            "readings": {
                **readings_json(setting),
                **({} if setting.rows_per_person == 1 else {"rows_per_person": setting.rows_per_person}),
                "weight_s": decimal_text(self.weight_s),
                "weight_n": decimal_text(self.weight_n),
            },
            **_published_json(self.norm, self.published),
            **_supremum_json(self.norm, self.supremum, self.ends),
            "method": self.supremum.method,
        }
        reached = self.witness.value
        document["witness"] = {
            **self.witness.to_json(),
            "change": float(reached) if self.norm == "l1" else math.sqrt(reached),
            "of_the_limit": setting.records is None,
        }
        if self.where is not None and self.over_norm is not None:
            document["witness"]["x_s"] = self.where.domain.columns[self.where.s or 0]
            supremum = self.over_norm.supremum
            document["norm_domain"] = _supremum_json(self.norm, supremum, self.over_norm.ends)
        return document


def _published_json(norm: str, published: Fraction | None) -> dict[str, Any]:
    if norm == "l1":
        return {"published": None if published is None else rational(published)}
    return {
        "published": None if published is None else math.sqrt(published),
        "published_squared": None if published is None else rational(published),
    }


def _supremum_json(norm: str, supremum: Supremum, ends: tuple[Fraction, Fraction]) -> dict[str, Any]:
    if supremum.is_exact:
        value = rational(ends[0]) if ends[0] == ends[1] else float(ends[0])
        return {"exact": value} | ({"exact_squared": rational(supremum.lower)} if norm == "l2" else {})
    if supremum.lower == 0:
        return {"upper": rounded_up(ends[1])}
    if supremum.method.startswith("closed form"):
        return {"exact": float(ends[0]), "upper": rounded_up(ends[1])}
    return {"lower": rounded_down(ends[0]), "upper": rounded_up(ends[1])}


def sensitivity(
    setting: Setting,
    norm: str,
    weight_s: Fraction = ONE,
    weight_n: Fraction = ONE,
    *,
    effort: str = "close",
) -> Sensitivity:
    """Return bound, supremum and witness of one norm; parameters as in :func:`audit.exact.witnesses.witness`."""
    if norm == "l2":
        supremum = exact_l2_squared(setting, weight_s, weight_n)
    elif setting.rows_per_person > 1 and effort == "thorough":
        raise ReadingError("effort", effort, "quick or close with several rows per person")
    elif setting.norm == "unit_box" or setting.rows_per_person > 1:
        supremum = exact_l1(setting, weight_s, weight_n, effort)
    else:
        supremum = ball_l1.weighted_l1(setting, weight_s, weight_n, effort)
    found = witness(setting, norm, weight_s, weight_n, effort=effort)
    # the paper bounds the unweighted change only
    bound = _published(setting, norm) if weight_s == weight_n == 1 else None
    return Sensitivity(setting, norm, weight_s, weight_n, bound, supremum, found)


def declared_sensitivity(
    where: Declared, norm: str, weight_s: Fraction = ONE, weight_n: Fraction = ONE, *, effort: str = "close"
) -> Sensitivity:
    """Return bound, supremum and witness over the rows that a domain encodes."""
    power = 1 if norm == "l1" else 2
    found = farthest_witness(where, power, weight_s, weight_n)
    if where.setting.rows_per_person == 1:
        supremum = declared_supremum(where, power, weight_s, weight_n, effort).supremum
    elif effort != "thorough":
        supremum = (exact_l1 if power == 1 else exact_l2_squared)(where, weight_s, weight_n)
    else:
        raise ReadingError("effort", effort, "quick or close with several rows per person")
    bound = _published(where.setting, norm) if weight_s == weight_n == 1 else None
    return Sensitivity(where.setting, norm, weight_s, weight_n, bound, supremum, found, where)


def _published(setting: Setting, norm: str) -> Fraction | None:
    formula = published_l1_sensitivity if norm == "l1" else published_l2_sensitivity_squared
    if setting.rows_per_person > 1:
        # the lemmas are about one record
        return None
    try:
        return formula(setting.fairness, setting.dimension)
    except NoPublishedBoundError:
        return None
