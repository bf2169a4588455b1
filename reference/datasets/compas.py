"""COMPAS (ProPublica 2016): 6,172 defendants of Broward County, Florida, 2013 and 2014.

Label: charged again within two years.  Group: sex, 1 for male.  ProPublica's filter is applied; the scores of
the COMPAS software, which the data were published to examine, are not features.  ``docs/data/compas.md`` explains
columns, bounds and the readings of the filter.
"""

from __future__ import annotations

from collections.abc import Mapping

from reference.datasets.source import CsvSource, categorical
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile
from reference.domain.markers import Marker

LARGEST_DELAY_DAYS = 30

# Without a code book we take round numbers; values beyond count as the bound.
BOUNDS: dict[str, tuple[float, float]] = {
    "age": (18.0, 100.0),
    "juv_fel_count": (0.0, 10.0),
    "juv_misd_count": (0.0, 10.0),
    "juv_other_count": (0.0, 10.0),
    "priors_count": (0.0, 50.0),
}
CATEGORIES: dict[str, tuple[str, ...]] = {
    "race": ("African-American", "Asian", "Caucasian", "Hispanic", "Native American", "Other"),
    # a misdemeanour, or a felony
    "c_charge_degree": ("M", "F"),
}
ORDER = (
    "age",
    "race",
    "juv_fel_count",
    "juv_misd_count",
    "juv_other_count",
    "priors_count",
    "c_charge_degree",
)
IGNORED = (
    "id",
    "age_cat",
    "decile_score",
    "days_b_screening_arrest",
    "c_days_from_compas",
    "c_charge_desc",
    "is_recid",
    "is_violent_recid",
    "score_text",
    "v_decile_score",
    "v_score_text",
    "start",
    "end",
    "event",
)


def propublica_keeps(fields: Mapping[str, str]) -> bool:
    """Return whether ProPublica's filter keeps a record; a rule on this record alone.

    It keeps those screened within 30 days of the arrest (an unknown delay is not), with a known outcome and no
    ordinary traffic offence.  Their fourth condition, a known COMPAS score, drops nobody else here.
    """
    delay = fields["days_b_screening_arrest"]
    return (
        delay != ""
        and abs(float(delay)) <= LARGEST_DELAY_DAYS
        and fields["is_recid"] != "-1"
        and fields["c_charge_degree"] != "O"
        and fields["score_text"] != "N/A"
    )


def domain_file(encoding: str) -> DomainFile:
    """Return the documented categories and declared bounds, in the order of the file."""
    return DomainFile(
        attributes=tuple(
            Numeric(name, *BOUNDS[name], clip=True)
            if name in BOUNDS
            else categorical(name, CATEGORIES[name], encoding)
            for name in ORDER
        ),
        label=Marker("two_year_recid"),
        group=Marker("sex", one=("Male",), zero=("Female",), name="male"),
        ignore=IGNORED,
    )


SOURCE = CsvSource(
    "compas",
    path="small/compas_two_years_noid.csv",
    sha256="5b4b82ddb83c2a57dfae5d7e2f43bc356f9bbf9f45a9f8e2215e760055188e7a",
    declare=domain_file,
    keep=propublica_keeps,
)
