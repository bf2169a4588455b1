"""The embedded default: Fair's survey of 6,366 women (Redbook, 1974; R. C. Fair 1978), as statsmodels has it.

Label: any affair.  Group: religious >= 3 ("fairly" or "strongly"), which is not among the features.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from reference.datasets.source import Source, Table, categorical, check_sha256
from reference.domain.file import DomainFile
from reference.domain.markers import Marker

FILE = Path(__file__).parent / "embedded" / "affairs.csv"
"""statsmodels' table, byte for byte, with its licence beside it."""

SHA256 = "fd5f3f094a34fc35ca346a14c359e046ed27843038d6921efcd50a7ab21f6af0"

# The questionnaire's own codes: public, whatever the answers were.
CODES: dict[str, tuple[float, ...]] = {
    "rate_marriage": (1.0, 2.0, 3.0, 4.0, 5.0),
    "age": (17.5, 22.0, 27.0, 32.0, 37.0, 42.0),
    "yrs_married": (0.5, 2.5, 6.0, 9.0, 13.0, 16.5, 23.0),
    "children": (0.0, 1.0, 2.0, 3.0, 4.0, 5.5),
    "educ": (9.0, 12.0, 14.0, 16.0, 17.0, 20.0),
    "occupation": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
    "occupation_husb": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
}


@dataclass(frozen=True)
class Affairs(Source):
    """Loader of the embedded survey."""

    def domain_file(self, encoding: str) -> DomainFile:
        """Return the questionnaire's codes as declared categories."""
        attributes = tuple(categorical(name, codes, encoding) for name, codes in CODES.items())
        return DomainFile(
            attributes=attributes,
            label=Marker("affairs", above=0, name="any_affair"),
            group=Marker("religious", one=(3, 4), zero=(1, 2), name="religious_3_or_4"),
        )

    def table(self) -> Table:
        """Read the table that comes with this package, after checking that it is the documented one.

        Raises
        ------
        reference.common.errors.UnreadableFileError, reference.common.errors.ChecksumError
        """
        check_sha256(FILE, SHA256)
        with FILE.open(newline="", encoding="ascii") as file:
            rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
        table: dict[str, list[float] | list[int]] = {name: [row[name] for row in rows] for name in CODES}
        table["any_affair"] = [int(row["affairs"] > 0) for row in rows]
        table["religious_3_or_4"] = [int(row["religious"] >= 3) for row in rows]
        return Table(table)


SOURCE = Affairs("affairs")
