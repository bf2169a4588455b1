"""The linear change on the balls: which coefficients the entries of the records can have, by reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from reference.sensitivity.setting import HALF, Setting


@dataclass(frozen=True)
class LinearVariant:
    """Linear coefficients of the changed record's entries, `to` of x'_e and `from_` of x_e: one per choice.

    `drifts` is the sign of the entry that the other records' mean should have where the choice is made; 0: none.
    """

    to: tuple[Fraction, ...]
    from_: tuple[Fraction, ...]
    drifts: tuple[int, ...]
    label_after: int = 0
    label_before: int = 1


def variants_of(setting: Setting) -> Iterator[LinearVariant]:
    """Yield the linear coefficients that a reading allows (Lemmas A and B of ``proofs/sensitivities.md``).

    A choice is a sign of the linear change of a coordinate; for `separate` on the symmetric ball, a sign of its
    covariance too.
    """
    e, fairness = setting.drift, setting.fairness
    if fairness != "none" and e == 0:
        fairness = "none"
    b = HALF + e
    if setting.norm == "symmetric_ball" and setting.replaces:
        if fairness == "none":
            yield LinearVariant((HALF, -HALF), (HALF, -HALF), (0, 0))
        elif fairness == "covariance":
            yield LinearVariant((b, -b), (HALF, -HALF), (-1, 1))
        else:
            yield LinearVariant((b, HALF - e, e - HALF, -b), (HALF, HALF, -HALF, -HALF), (-1, 1, -1, 1))
    elif fairness == "none":
        yield LinearVariant((HALF,), (HALF,), (0,))
    elif fairness == "absolute" or setting.norm == "symmetric_ball":
        yield LinearVariant((b,), (HALF,), (1 if fairness == "absolute" else -1,))
    elif fairness == "separate":
        yield LinearVariant((b, HALF - e), (HALF, HALF), (0, 1))
    else:
        for label_after, label_before in ((0, 1), (0, 0), (1, 1), (1, 0)):
            to, from_ = HALF - label_after + e, label_before - HALF
            if setting.replaces or label_before == 1:
                yield LinearVariant((to, -to), (from_, -from_), (0, 1), label_after, label_before)
