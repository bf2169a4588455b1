"""US census microdata: the first 370,000 records of an extract of the American Community Survey 2024.

A substitute for the "US" table of Zhang et al. (2012), which is not public: 11 of their 12 input attributes, and
the number of bedrooms (BDSP) in place of the number of automobiles.  Label: income above 25,000 dollars.
Group: sex, 1 for male.  ``docs/data/us.md`` explains columns and bounds.
"""

from __future__ import annotations

from reference.datasets.source import CsvSource, categorical
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile
from reference.domain.markers import Marker

FIRST_RECORDS = 370_000
INCOME_ABOVE = 25_000

# The ranges and codes of the Census Bureau's data dictionary for the 1-year sample of 2024.
BOUNDS: dict[str, tuple[float, float]] = {
    # persons of 16 and over were kept; the dictionary's highest age is 99
    "AGEP": (16.0, 99.0),
    # two digits; 0 stands for "did not work" in this extract
    "WKHP": (0.0, 99.0),
    # a household has at most 20 persons; 1 stands for "no family" in this extract
    "NPF": (1.0, 20.0),
    # other members of a household of at most 20
    "NCH18": (0.0, 19.0),
    # the dictionary's range
    "BDSP": (0.0, 99.0),
}
CODES: dict[str, tuple[int, ...]] = {
    "MAR": (1, 2, 3, 4, 5),
    "SCHL": tuple(range(1, 25)),
    "DIS": (1, 2),
    "NATIVITY": (1, 2),
    "MV": (1, 2, 3, 4, 5, 6, 7),
    "TEN": (1, 2, 3, 4),
}
ORDER = ("AGEP", "MAR", "SCHL", "DIS", "NATIVITY", "WKHP", "MV", "TEN", "NPF", "NCH18", "BDSP")
IGNORED = ("RAC1P", "STATE", "PWGTP")


def domain_file(encoding: str) -> DomainFile:
    """Return the dictionary's codes and ranges, in the order of the file."""
    return DomainFile(
        attributes=tuple(
            Numeric(name, *BOUNDS[name]) if name in BOUNDS else categorical(name, CODES[name], encoding)
            for name in ORDER
        ),
        label=Marker("PINCP", above=INCOME_ABOVE, name="income_above_25000"),
        group=Marker("SEX", one=(1,), zero=(2,), name="male"),
        ignore=IGNORED,
    )


SOURCE = CsvSource(
    "us",
    path="us_acs2024/us_acs2024.csv.gz",
    sha256="5cd798c0fb1ca6d80ac89b6632960de1a7300778492003570f1993cedb7c1d67",
    declare=domain_file,
    first=FIRST_RECORDS,
)
