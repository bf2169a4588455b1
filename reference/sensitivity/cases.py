"""The labels and groups that matter, and what a column adds to the linear change under each.

Proofs: ``proofs/sensitivities_declared.md``.  The new row has y' = 0 and z' = 1, all other rows have z = 0, and
so a case is the label and group of the old row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from reference.sensitivity.setting import HALF, Setting

ZERO = Fraction(0)


@dataclass(frozen=True)
class Case:
    """One way to label the old row.

    In units of the corner, a column with the entries x', x and x0 (of the new row, the old row and all others)
    changes its linear coefficient by `to` x' + `from_` x + `drift` x0, and its covariance, where that is released
    apart, by `apart` times (x', x, x0).

    Parameters
    ----------
    label, group : int
        y and z of the old row.
    to, from_, drift : Fraction
    apart : tuple of Fraction
    """

    label: int
    group: int
    to: Fraction
    from_: Fraction
    drift: Fraction
    apart: tuple[Fraction, Fraction, Fraction] = (ZERO, ZERO, ZERO)

    def column(self, new: int, old: int, others: int, power: int) -> Fraction:
        """Return the sum of the absolute changes (power 1), or of their squares (power 2)."""
        linear = abs(self.to * new + self.from_ * old + self.drift * others)
        apart = abs(self.apart[0] * new + self.apart[1] * old + self.apart[2] * others)
        return linear**power + apart**power

    def ladder(self, old: int, power: int) -> tuple[Fraction, int]:
        """Return what a ladder adds when it moves to 1, with the other rows' entry that adds most."""
        return max((self.column(1, old, others, power), others) for others in (1, 0))

    def block(self, new: int, old: int | None, weights: tuple[Fraction, ...], power: int) -> tuple[Fraction, int]:
        """Return what a block adds, with the column at which the other rows stand.

        Parameters
        ----------
        new : int
            Column of the new row.
        old : int or None
            Of the old row; None without one.
        weights : tuple of Fraction
            Of the columns; columns of equal weight that no row uses need not all be listed.
        power : int
        """
        columns = range(len(weights))
        return max(
            (
                sum(
                    (w * self.column(k == new, k == old, k == others, power) for k, w in enumerate(weights)), ZERO
                ),
                others,
            )
            for others in columns
        )

    def relaxed(self, least: Fraction) -> Case:
        """Return a case that changes at least as much, and by at least `least` times the old row."""
        return Case(self.label, self.group, self.to, max(least, abs(self.from_)), self.drift, self.apart)


def cases(setting: Setting, *, kept_group: bool) -> list[Case]:
    """Return the cases that a supremum is a maximum over."""
    e, fairness = setting.drift, setting.fairness
    along = e if fairness in ("absolute", "covariance") else ZERO
    apart = e if fairness == "separate" else ZERO
    drift = {"absolute": e, "covariance": -e}.get(fairness, ZERO)
    found = []
    for group, label in product((0, 1) if kept_group and setting.replaces else (0,), (1, 0)):
        if group == 0:
            found.append(Case(label, 0, HALF + along, label - HALF, drift, (apart, ZERO, -apart)))
        else:
            from_ = HALF - along if label else -HALF - along
            found.append(Case(label, 1, HALF + along, from_, ZERO, (apart, -apart, ZERO)))
    # an added row has no old one, and so no label of it
    return found if setting.replaces else found[:1]
