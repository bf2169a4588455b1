"""German credit (Hofmann 1994, UCI "Statlog"): 1,000 loans of a bank in southern Germany, 1973 to 1975.

Label: good credit.  Group: sex, 1 for male, read from `personal_status`, which is therefore not a feature.
``docs/data/german.md`` explains columns and bounds.
"""

from __future__ import annotations

from reference.datasets.source import CsvSource, categorical
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile
from reference.domain.markers import Marker

# The documentation gives no bounds for these three: ours are round numbers; values beyond count as the bound.
BOUNDS: dict[str, tuple[float, float]] = {
    "month": (0.0, 120.0),
    "credit_amount": (0.0, 20_000.0),
    "age": (18.0, 100.0),
}


def _codes(attribute: int, count: int, first: int = 1) -> tuple[str, ...]:
    return tuple(f"A{attribute}{index}" for index in range(first, first + count))


# Codes in the order of the documentation.
CODES: dict[str, tuple[str | int, ...]] = {
    "status": _codes(1, 4),
    "credit_history": _codes(3, 5, first=0),
    "purpose": _codes(4, 11, first=0),
    "savings": _codes(6, 5),
    "employment": _codes(7, 5),
    "investment_as_income_percentage": (1, 2, 3, 4),
    "other_debtors": _codes(10, 3),
    "residence_since": (1, 2, 3, 4),
    "property": _codes(12, 4),
    "installment_plans": _codes(14, 3),
    "housing": _codes(15, 3),
    "number_of_credits": (1, 2, 3, 4),
    "skill_level": _codes(17, 4),
    "people_liable_for": (1, 2),
    "telephone": _codes(19, 2),
    "foreign_worker": _codes(20, 2),
}
ORDER = (
    "status",
    "month",
    "credit_history",
    "purpose",
    "credit_amount",
    "savings",
    "employment",
    "investment_as_income_percentage",
    "other_debtors",
    "residence_since",
    "property",
    "age",
    "installment_plans",
    "housing",
    "number_of_credits",
    "skill_level",
    "people_liable_for",
    "telephone",
    "foreign_worker",
)


def domain_file(encoding: str) -> DomainFile:
    """Return the documented codes and declared bounds, in the order of the file."""
    return DomainFile(
        attributes=tuple(
            Numeric(name, *BOUNDS[name], clip=True) if name in BOUNDS else categorical(name, CODES[name], encoding)
            for name in ORDER
        ),
        label=Marker("credit", one=(1,), zero=(2,), name="good_credit"),
        group=Marker("personal_status", one=("A91", "A93", "A94"), zero=("A92", "A95"), name="male"),
    )


SOURCE = CsvSource(
    "german",
    path="small/german.csv",
    sha256="532082711a8ec4df65cf60775eb7d59d3a5e3458c5a88695630beffd96dfff86",
    declare=domain_file,
)
