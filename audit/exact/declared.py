"""Neighbouring data sets, far apart, of rows that a declared domain encodes, in the encoding of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from audit.exact.data_sets import Repeated
from audit.exact.witnesses import LARGE, Witness, one_row_each
from reference.common.errors import ReadingError
from reference.domain import Domain
from reference.records import encode_table
from reference.sensitivity import Declared, declared_supremum
from reference.sensitivity.rows import EncodedRow, NeighbouringRows


@dataclass(frozen=True)
class DeclaredPair:
    """Two neighbouring data sets, and their rows.

    Parameters
    ----------
    left, right : Repeated
    value : Fraction
        The weighted l1 change between them, or the weighted square of the l2 change, in exact arithmetic.
    rows : NeighbouringRows
    """

    left: Repeated
    right: Repeated
    value: Fraction
    rows: NeighbouringRows

    def rows_json(self) -> dict[str, Any]:
        """Return the rows of a table whose encoding makes up the data sets."""
        domain = self.left.domain
        named = {"others": self.rows.others, "left": self.rows.before, "right": self.rows.after}
        return {name: row.values(domain) for name, row in named.items() if row is not None}


def farthest_pair(where: Declared, power: int, weight_s: Fraction, weight_n: Fraction) -> DeclaredPair:
    """Return neighbouring data sets that attain the supremum, or the lower end of its enclosure.

    Parameters
    ----------
    where : Declared
        In the limit of large N, the data sets have LARGE persons and come near the supremum.
    power, weight_s, weight_n
        As for :func:`reference.sensitivity.declared_supremum`.
    """
    if where.is_norm_domain:
        raise ReadingError("domain", where.domain.norm, "a domain that encodes its rows")
    rows, records = where.setting.rows_per_person, where.setting.records or LARGE * where.setting.rows_per_person
    single = one_row_each(replace(where.setting, records=records))
    found = declared_supremum(replace(where, setting=single), power, weight_s, weight_n)
    shared = [(found.rows.others, records - rows)]
    left = shared if found.rows.before is None else [*shared, (found.rows.before, rows)]
    right = [*shared, (found.rows.after, rows)]
    sides = [_encoded(where.domain, side) for side in (left, right)]
    return DeclaredPair(sides[0], sides[1], rows**power * found.supremum.lower, found.rows)


def farthest_witness(where: Declared, power: int, weight_s: Fraction, weight_n: Fraction) -> Witness:
    """Return the same as a witness."""
    pair = farthest_pair(where, power, weight_s, weight_n)
    records = max(len(pair.left), len(pair.right))
    return Witness(replace(where.setting, records=records), pair.left, pair.right, pair.value)


def _encoded(domain: Domain, rows: Sequence[tuple[EncodedRow, int]]) -> Repeated:
    """Return rows with their counts as a data set."""
    counted = [(row.values(domain), count) for row, count in rows if count]
    table = {name: [row[name] for row, _ in counted] for name in counted[0][0]}
    return Repeated(encode_table(domain, table), tuple(count for _, count in counted))
