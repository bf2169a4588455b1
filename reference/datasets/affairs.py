"""The embedded default: Fair's survey of 6,366 women (Redbook, 1974; R. C. Fair 1978), from statsmodels.

Label: any affair.  Group: religious >= 3 ("fairly" or "strongly"), which is not among the features.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference.datasets.source import Source, Table, categorical
from reference.domain.file import DomainFile
from reference.domain.markers import Marker

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
        """Read the survey that statsmodels ships."""
        # lazily: only this module needs statsmodels' data
        from statsmodels.datasets import fair

        frame = fair.load_pandas().data
        table = {name: frame[name].tolist() for name in CODES}
        table["any_affair"] = (frame["affairs"] > 0).astype(int).tolist()
        table["religious_3_or_4"] = (frame["religious"] >= 3).astype(int).tolist()
        return Table(table)


SOURCE = Affairs("affairs")
