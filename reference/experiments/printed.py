"""The paper's printed numbers: the risk differences of its two tables, and its grids of epsilon and delta.

Only numbers, with their lines in the arXiv source.  ``audit/gate/exact/test_tables.py`` reads the
source again and compares, where ``CFM_PAPER`` names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

RUNS = 10
"""Independent runs behind each mean and standard deviation (line 350)."""

MECHANISMS = ("lr", "pflr", "pdfc", "adfc")
"""Columns of both tables; `pflr` is the paper's PFLR*."""


@dataclass(frozen=True)
class PrintedEntry:
    """One `mean +- standard deviation` of a table.

    Parameters
    ----------
    table : int
        1 or 2, in the paper's order.
    data : {'us', 'adult'}
    epsilon : str
    mechanism : {'lr', 'pflr', 'pdfc', 'adfc'}
    mean, deviation : str
        As printed.
    line : int
        Of the source.
    """

    table: int
    data: str
    epsilon: str
    mechanism: str
    mean: str
    deviation: str
    line: int

    @property
    def name(self) -> str:
        """The entry's name."""
        return f"table {self.table}, {self.data}, epsilon {self.epsilon}, {self.mechanism}"

    @property
    def exact_mean(self) -> Fraction:
        """The printed mean as a rational."""
        return Fraction(self.mean)

    @property
    def exact_deviation(self) -> Fraction:
        """The printed standard deviation as a rational."""
        return Fraction(self.deviation)


_ROWS = (
    # table, data, epsilon, line, then mean and deviation of LR, PFLR*, PDFC, ADFC
    (1, "us", "0.01", 375, "0.191 0.014", "0.037 0.038", "0.003 0.034", "0.004 0.007"),
    (1, "us", "0.1", 377, "0.191 0.014", "0.078 0.021", "0.001 0.006", "0.008 0.003"),
    (1, "us", "1", 379, "0.191 0.014", "0.069 0.007", "0.022 0.047", "0.031 0.004"),
    (1, "us", "10", 381, "0.191 0.014", "0.067 0.003", "0.022 0.031", "0.045 0.002"),
    (2, "adult", "0.01", 397, "0.187 0.049", "0.045 0.095", "0.048 0.108", "0.146 0.131"),
    (2, "adult", "0.1", 399, "0.187 0.049", "0.004 0.009", "0.005 0.022", "0.068 0.028"),
    (2, "adult", "1", 401, "0.187 0.049", "0.022 0.088", "0.002 0.011", "0.045 0.027"),
    (2, "adult", "10", 403, "0.187 0.049", "0.003 0.001", "0.035 0.041", "0.019 0.003"),
    (2, "us", "0.01", 405, "0.191 0.014", "0.037 0.038", "0.003 0.034", "0.004 0.007"),
    (2, "us", "0.1", 407, "0.191 0.014", "0.078 0.021", "0.001 0.006", "0.008 0.003"),
    (2, "us", "1", 409, "0.191 0.014", "0.069 0.007", "0.022 0.047", "0.031 0.004"),
    (2, "us", "10", 411, "0.191 0.014", "0.067 0.003", "0.022 0.031", "0.045 0.002"),
)

ENTRIES = tuple(
    PrintedEntry(table, data, epsilon, mechanism, cell.split()[0], cell.split()[1], line)
    for table, data, epsilon, line, *cells in _ROWS
    for mechanism, cell in zip(MECHANISMS, cells, strict=True)
)

GRID_TEXT = ("-2", "-3/2", "-1", "0", "1/2", "1")
"""Exponents of ten of the text's epsilons (line 350)."""

GRID_TABLES = ("0.01", "0.1", "1", "10")
"""Epsilons of both tables."""

ROWS_DECLARED = 7
"""Rows that the tables' source reserves for each data set (lines 375, 397, 405)."""

DELTA_TEXT = ("-3", "-4", "-5", "-6", "-7")
"""Exponents of ten of the text's deltas (line 350)."""

DELTA_TABLES = "1e-3"
"""The delta of both captions, of Figures 1 and 3 (lines 317, 335, 368, 390)."""


def entry(table: int, data: str, epsilon: str, mechanism: str) -> PrintedEntry:
    """Return one entry.

    Raises
    ------
    KeyError
        When the tables have no such entry.
    """
    for one in ENTRIES:
        if (one.table, one.data, one.epsilon, one.mechanism) == (table, data, epsilon, mechanism):
            return one
    raise KeyError((table, data, epsilon, mechanism))


def distinct_entries() -> tuple[PrintedEntry, ...]:
    """Return table 2, which contains table 1 (claim E.dup)."""
    return tuple(one for one in ENTRIES if one.table == 2)
