"""Sensitivities: how far one record, or all records of one person, can move the coefficients.

`published` bounds are the paper's four lemmas.  Exact suprema are over *all* neighbouring data sets, the drift of
zbar included: of rows that a domain encodes (:class:`Declared`), or of all rows of a norm (:class:`Setting`),
where the supremum may have no known closed form and is a certified enclosure.
The weighted forms are what the theorems need: D_s is the change of the coefficients of monomials that contain
w_s, D_n that of the others.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from reference.domain import Domain
from reference.readings import Readings
from reference.sensitivity import ball, ball_l1, box
from reference.sensitivity.declared import Declared, declared_supremum
from reference.sensitivity.published import published_l1_sensitivity, published_l2_sensitivity_squared
from reference.sensitivity.setting import Setting, Supremum

__all__ = [
    "Declared",
    "Setting",
    "Supremum",
    "declared_of",
    "declared_supremum",
    "exact_l1",
    "exact_l2_squared",
    "l1_sensitivity",
    "l2_sensitivity_squared",
    "published_l1_sensitivity",
    "published_l2_sensitivity_squared",
    "rows_per_person_of",
    "setting_of",
]

ONE = Fraction(1)


def setting_of(domain: Domain, readings: Readings, records: int | None = None) -> Setting:
    """Return the setting of a domain under the readings."""
    domain.require_of_paper()
    return Setting(
        dimension=domain.dimension,
        fairness=readings.fairness,
        norm=domain.norm,
        adjacency=readings.adjacency,
        basis=readings.basis,
        fairness_weight=readings.fairness_weight,
        records=records,
        rows_per_person=readings.rows_per_person,
    )


def declared_of(domain: Domain, readings: Readings, s: int | None = None, records: int | None = None) -> Declared:
    """Return the rows that a domain encodes under the readings, with coordinate `s` apart."""
    return Declared(domain, setting_of(domain, readings, records), s)


def exact_l1(
    where: Setting | Declared, weight_s: Fraction = ONE, weight_n: Fraction = ONE, effort: str = "quick"
) -> Supremum:
    """Return the supremum of w_s |D_s|_1 + w_n |D_n|_1 over neighbouring data sets.

    Parameters
    ----------
    where : Setting or Declared
        All rows of a norm, or those that a domain encodes.
    weight_s, weight_n : Fraction
        Nonnegative; both 1 give the l1-sensitivity.
    effort : {'fast', 'quick', 'close', 'thorough'}
        How narrow an enclosure on a ball is to be.

    Returns
    -------
    Supremum
        Exact on the box and for what a domain encodes; an enclosure on the balls.
    """
    if rows_per_person_of(where) > 1:
        return _of_persons(where, 1, weight_s, weight_n)
    if isinstance(where, Declared):
        return _declared(where, 1, weight_s, weight_n, effort)
    setting = where
    # in one dimension the unit ball is the box
    if setting.norm == "unit_box" or (setting.norm == "unit_ball" and setting.dimension == 1):
        return box.weighted_l1(setting, weight_s, weight_n)
    return ball_l1.weighted_l1(setting, weight_s, weight_n, effort)


def exact_l2_squared(where: Setting | Declared, weight_s: Fraction = ONE, weight_n: Fraction = ONE) -> Supremum:
    """Return the supremum of u_s |D_s|_2^2 + u_n |D_n|_2^2 over neighbouring data sets.

    Parameters as in :func:`exact_l1`; both 1 give the square of the l2-sensitivity.

    Returns
    -------
    Supremum
        Exact except for unequal weights on a ball with `add_or_remove_one` in the monomial basis.
    """
    if rows_per_person_of(where) > 1:
        return _of_persons(where, 2, weight_s, weight_n)
    if isinstance(where, Declared):
        return _declared(where, 2, weight_s, weight_n)
    setting = where
    if setting.norm == "unit_box":
        return box.weighted_l2_squared(setting, weight_s, weight_n)
    return ball.weighted_l2_squared(setting, weight_s, weight_n)


def rows_per_person_of(where: Setting | Declared) -> int:
    """Return the largest number of records in which neighbouring data sets differ."""
    return (where.setting if isinstance(where, Declared) else where).rows_per_person


def _of_persons(where: Setting | Declared, power: int, weight_s: Fraction, weight_n: Fraction) -> Supremum:
    """Return the supremum for K rows: K times that for one, its square K^2 times; ``proofs/several_rows.md``."""
    supremum = exact_l1 if power == 1 else exact_l2_squared
    setting = where.setting if isinstance(where, Declared) else where
    rows, records = setting.rows_per_person, setting.records

    def one_row(of: int | None) -> Supremum:
        single = replace(setting, rows_per_person=1, records=of)
        return supremum(
            replace(where, setting=single) if isinstance(where, Declared) else single, weight_s, weight_n
        )

    found = one_row(records)
    if records is None or setting.fairness == "none":
        return Supremum(found.lower * rows**power, found.upper * rows**power, found.method)
    # K copies of a pair of N/K records attain the lower end
    lower = one_row(records // rows).lower
    return Supremum(lower * rows**power, found.upper * rows**power, "between persons of N/K and of N records")


def _declared(
    where: Declared, power: int, weight_s: Fraction, weight_n: Fraction, effort: str = "quick"
) -> Supremum:
    if not where.is_norm_domain:
        return declared_supremum(where, power, weight_s, weight_n, effort).supremum
    weights = (weight_s, weight_n)
    found = exact_l1(where.setting, *weights, effort) if power == 1 else exact_l2_squared(where.setting, *weights)
    # a kept group takes its length from the rest of its row: only a bound is known
    return Supremum(Fraction(0), found.upper, "an upper bound") if where.domain.keep_group else found


def l1_sensitivity(readings: Readings, domain: Domain) -> Fraction:
    """Return the l1-sensitivity that the readings ask for.

    `published` times the rows of a person, `exact` (the upper end over the rows that the domain encodes), or a
    number, which is taken as given.
    """
    if readings.own_sensitivity is not None:
        return readings.own_sensitivity
    if readings.sensitivity == "exact":
        return exact_l1(declared_of(domain, readings)).upper
    return readings.rows_per_person * published_l1_sensitivity(readings.fairness, domain.dimension)


def l2_sensitivity_squared(readings: Readings, domain: Domain) -> Fraction:
    """Return the square of the l2-sensitivity that the readings ask for."""
    if readings.own_sensitivity is not None:
        return readings.own_sensitivity**2
    if readings.sensitivity == "exact":
        return exact_l2_squared(declared_of(domain, readings)).upper
    one_row = published_l2_sensitivity_squared(readings.fairness, domain.dimension)
    return readings.rows_per_person**2 * one_row
