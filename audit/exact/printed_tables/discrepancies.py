"""Numbers and sentences with several readings: grids, the repeated table, delta, contradictions.

Each function returns the readings and the facts that hold between them.  Claims: E.grid, E.dup, E.delta,
E.contra.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from audit.exact.enclosures import written
from audit.exact.enclosures.extended_gaussian import extended_shift, logarithm_at
from reference.common.balls import Ball, ball, ends, refined
from reference.common.numbers import Enclosure
from reference.experiments import printed
from reference.experiments.printed import ENTRIES, PrintedEntry

# --- E.grid ---------------------------------------------------------------------------------------------------


def exponent(epsilon: str) -> Fraction:
    """Return the exponent of ten of a table's epsilon, a power of ten.

    Raises
    ------
    ValueError
        For any other number.
    """
    value = Fraction(epsilon)
    for power in range(-20, 21):
        if Fraction(10) ** power == value:
            return Fraction(power)
    raise ValueError(f"{epsilon} is not a power of ten")


def missing_from_even_grid(exponents: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Return what an evenly spaced grid from first to last, by the smallest step, would have in addition."""
    steps = [b - a for a, b in pairwise(exponents)]
    step, last = min(steps), exponents[-1]
    full = [exponents[0] + k * step for k in range(int((last - exponents[0]) / step) + 1)]
    return tuple(value for value in full if value not in exponents)


def grid_readings(
    text: tuple[str, ...] = printed.GRID_TEXT,
    tables: tuple[str, ...] = printed.GRID_TABLES,
    rows_declared: int = printed.ROWS_DECLARED,
) -> dict[str, Any]:
    """Compare the text's grid of epsilon with the tables'.

    Returns
    -------
    dict
        Both grids, what the text's has that the tables' lacks and vice versa, the text's gap, and
        `agree`.
    """
    in_text = tuple(Fraction(value) for value in text)
    in_tables = tuple(exponent(value) for value in tables)
    gaps = missing_from_even_grid(in_text)
    return {
        "text": [f"10^({value})" for value in in_text],
        "tables": [f"10^({value})" for value in in_tables],
        "only_in_text": [f"10^({value})" for value in in_text if value not in in_tables],
        "only_in_tables": [f"10^({value})" for value in in_tables if value not in in_text],
        "missing_from_an_even_grid_of_the_text": [f"10^({value})" for value in gaps],
        "rows_declared_per_data_set": rows_declared,
        "epsilons_of_an_even_grid": len(in_text) + len(gaps),
        "agree": in_text == in_tables,
    }


# --- E.dup ----------------------------------------------------------------------------------------------------


def duplicated_rows(entries: tuple[PrintedEntry, ...] = ENTRIES) -> dict[str, Any]:
    """Compare the entries of table 1 with those of table 2 for the same data set, epsilon and mechanism."""
    first, second = (
        {(one.data, one.epsilon, one.mechanism): one for one in entries if one.table == table} for table in (1, 2)
    )
    shared = [case for case in first if case in second]
    equal = [
        case
        for case in shared
        if (first[case].mean, first[case].deviation) == (second[case].mean, second[case].deviation)
    ]
    return {
        "entries_of_table_1": len(first),
        "entries_of_table_2": len(second),
        "also_in_table_2": len(shared),
        "equal_there": len(equal),
        "different_there": [list(case) for case in shared if case not in equal],
        "table_1_adds_nothing": len(equal) == len(first),
    }


# --- E.delta --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeltaReading:
    """One way to read "delta = D" for a mechanism with delta_s and delta_n.

    Parameters
    ----------
    name : str
    delta_s, total : Enclosure
        delta_s = delta_n, and the total that Theorem 5 computes from them.
    """

    name: str
    delta_s: Enclosure
    total: Enclosure

    def to_json(self) -> dict[str, Any]:
        """Return the numbers to 12 digits."""
        return {
            "reading": self.name,
            "delta_s": written(self.delta_s.lower, self.delta_s.upper, 12),
            "total": written(self.total.lower, self.total.upper, 12),
        }


def delta_readings(delta: Fraction = Fraction(printed.DELTA_TABLES)) -> tuple[DeltaReading, DeltaReading]:
    """Return the two even readings of the captions' delta: of each part, or of the total 1 - (1 - delta_s)^2.

    Any other split has delta_s != delta_n; the paper gives none.
    """
    each = Enclosure(delta, delta)
    total = 1 - (1 - delta) ** 2
    half = ends(refined(lambda: 1 - (1 - ball(delta)).sqrt()))
    return (
        DeltaReading("delta_s = delta_n = delta", each, Enclosure(total, total)),
        DeltaReading("1 - (1 - delta_s)(1 - delta_n) = delta", half, each),
    )


def sigma_between_delta_readings(epsilon: Fraction, delta: Fraction = Fraction(printed.DELTA_TABLES)) -> Enclosure:
    """Enclose how much larger sigma is under the second reading than under the first, at one epsilon."""
    first, second = delta_readings(delta)

    def shift_at(part: Fraction) -> Enclosure:
        # the shift falls with L
        L = logarithm_at(part)
        return Enclosure(_shift(epsilon, L.upper).lower, _shift(epsilon, L.lower).upper)

    of_first = shift_at(first.delta_s.lower)
    smaller, larger = shift_at(second.delta_s.lower), shift_at(second.delta_s.upper)
    return Enclosure(of_first.lower / larger.upper, of_first.upper / smaller.lower)


def _shift(epsilon: Fraction, L: Fraction) -> Enclosure:
    def shift() -> Ball:
        return extended_shift(ball(epsilon), ball(L))

    return ends(refined(shift))


# --- E.contra -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contradiction:
    """Two places of the paper that cannot both be true as written.

    Parameters
    ----------
    topic : str
    places : tuple of (int, str)
        Line of the source, and a few of its words.
    why : str
    """

    topic: str
    places: tuple[tuple[int, str], ...]
    why: str

    def to_json(self) -> dict[str, Any]:
        """Return the fields."""
        return {
            "topic": self.topic,
            "places": [{"line": line, "words": words} for line, words in self.places],
            "why": self.why,
        }


CONTRADICTIONS = (
    Contradiction(
        "accuracy of PDFC against PFLR*",
        (
            (359, "PDFC only outperforms PFLR* when"),
            (360, "PDFC and ADFC still outperform PFLR* under varying values"),
        ),
        "The first limits PDFC's advantage to small epsilon; the second claims it for varying epsilon.",
    ),
    Contradiction(
        "does every accuracy depend on epsilon",
        ((361, "the accuracy of each algorithm becomes higher"), (339, "LR is a logistic regression model")),
        "LR is one of the algorithms in those figures and does not use epsilon; its table rows are constant.",
    ),
    Contradiction(
        "neighbouring data sets",
        ((54, "whether any individual record presents or absents"), (434, "differ in the last tuple")),
        "Adding or removing a record in the introduction, replacing one in the proofs.",
    ),
    Contradiction(
        "how x_s is chosen",
        ((205, "we randomly select an unprotected attribute"), (359, "denoted by marital status")),
        "Drawn at random in the algorithm's description, named in each experiment.",
    ),
    Contradiction(
        "which attribute is x_s on Adult",
        ((359, "denoted by marital status"), (363, "consider the attribute $x_s$ as race")),
        "Marital status in Figure 3(a), race in the tables.",
    ),
    Contradiction(
        "delta in the proof of Theorem 5",
        ((647, "\\sqrt{\\frac{2}{\\pi}}\\frac{1}{\\delta}"), (647, "\\sqrt{\\frac{2}{\\pi}}\\frac{1}{\\delta_s}")),
        "One formula for sigma_s takes delta under its first root and delta_s under its second.",
    ),
    Contradiction(
        "what the tables cover",
        (
            (363, "risk difference of LR, PFLR*, PDFC and ADFC on two datasets"),
            (368, "dataset  ($\\delta=10^{-3}$)"),
        ),
        "The text refers to one table on two data sets; two tables carry its label, one of them on US only.",
    ),
    Contradiction(
        "outperforming the state of the art",
        ((44, "outperform the state-of-the-art algorithms"), (399, "0.004 \\pm 0.009")),
        "On Adult PFLR* has the smaller mean risk difference in 7 of 8 comparisons.",
    ),
)
"""A program checks their numbers, and their words against the source."""


def constant_rows(mechanism: str = "lr") -> bool:
    """Return whether a mechanism's entries are the same for every epsilon, data set by data set."""
    found: dict[str, set[tuple[str, str]]] = {}
    for one in ENTRIES:
        if one.mechanism == mechanism:
            found.setdefault(one.data, set()).add((one.mean, one.deviation))
    return all(len(values) == 1 for values in found.values())
