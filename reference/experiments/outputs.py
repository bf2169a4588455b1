"""The output of an exhibit: one document, and the text, table and plot made from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reference.accounting import NOT_PRIVATE
from reference.common.page import Listing, Page
from reference.experiments.exhibits import Exhibit, ExhibitDesign, Point, points
from reference.experiments.printed import PrintedEntry, distinct_entries
from reference.experiments.study import RunResult, RunSpec
from reference.experiments.summaries import Summary, first_and_all

DATA_NOTES = {
    "adult": "UCI Adult, both files, 48,842 records",
    "us": (
        "NOT THE PAPER'S TABLE: 370,000 records of the American Community Survey 2024 stand for its extract of "
        "IPUMS, which is not public"
    ),
    "affairs": "NOT THE PAPER'S DATA: the embedded survey of 6,366 women",
}

SEEDED = "seeded runs, not releases"


def said_missing(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line if the requested data are missing and others stand in for them."""
    if document["missing_data"] is not None:
        yield f"{document['missing_data']} WAS ASKED FOR AND IS NOT THERE: this is {document['data']}"


@dataclass(frozen=True)
class Shown:
    """An exhibit with the results of its runs.

    Parameters
    ----------
    exhibit : Exhibit
    design : ExhibitDesign
    rows : tuple of (Point, tuple of Summary)
        The summaries of the first ten runs, and of all where there are more.
    missing : str, optional
        The requested data set, if it is not there.
    """

    exhibit: Exhibit
    design: ExhibitDesign
    rows: tuple[tuple[Point, tuple[Summary, ...]], ...]
    missing: str | None = None

    @classmethod
    def of(
        cls,
        exhibit: Exhibit,
        design: ExhibitDesign,
        results: Mapping[RunSpec, RunResult],
        missing: str | None = None,
    ) -> Shown:
        """Collect the results of the exhibit's runs."""
        rows = [
            (point, first_and_all([results[spec] for spec in point.specs])) for point in points(exhibit, design)
        ]
        return cls(exhibit, design, tuple(rows), missing)

    @property
    def stem(self) -> str:
        """Name of its files, without an ending; it also names missing data."""
        data = self.design.data if self.missing is None else f"{self.design.data}-instead-of-{self.missing}"
        return f"{self.exhibit.name}-{data}-{self.design.variant.name}"

    @property
    def data_note(self) -> str:
        """The data's name, and whether they stand in for others."""
        note = DATA_NOTES[self.design.data]
        return note if self.missing is None else f"{note}; {self.missing} WAS ASKED FOR AND IS NOT THERE"

    def to_json(self) -> dict[str, Any]:
        """Return the document."""
        design = self.design
        return {
            "schema": "experiment_v1",
            "exhibit": self.exhibit.name,
            "title": self.exhibit.title,
            "data": design.data,
            "data_note": self.data_note,
            "missing_data": self.missing,
            "note": f"{NOT_PRIVATE}; {SEEDED}",
            "seed": design.seed,
            "test_share": design.test_share,
            "subset_size": design.subset_size,
            "readings": design.variant.to_json(),
            "points": [self._point(point, summaries) for point, summaries in self.rows],
        }

    def _point(self, point: Point, summaries: Sequence[Summary]) -> dict[str, Any]:
        entry = self.printed(point)
        return {
            "line": point.line.name,
            "mechanism": point.line.mechanism,
            "fair": point.line.fair,
            "x_s": point.x_s,
            "epsilon": point.epsilon,
            "delta": point.delta,
            "printed_risk_difference": None if entry is None else {"mean": entry.mean, "std": entry.deviation},
            "results": [summary.to_json() for summary in summaries],
        }

    def printed(self, point: Point) -> PrintedEntry | None:
        """Return the paper's risk difference for a point of a table, on the data set that it belongs to."""
        if self.exhibit.metric != "risk_difference":
            return None
        for entry in distinct_entries():
            same_place = point.epsilon in (None, entry.epsilon) and entry.data == (
                self.missing or self.design.data
            )
            if same_place and entry.mechanism == point.line.mechanism:
                return entry
        return None

    def as_text(self, page: Page) -> str:
        """Return a table with the readings that it rests on."""
        table = Listing(
            f"{self.exhibit.title}; {self.design.data}, {self.design.variant.name}",
            (
                *("line", self.exhibit.axis, "runs", "accuracy", "majority", "gain", "positive rate"),
                *("risk difference", "the paper's", "notes"),
            ),
            tuple(self._cells(point, summary) for point, summaries in self.rows for summary in summaries),
        )
        readings = ", ".join(f"{name}={value}" for name, value in self.design.variant.to_json().items())
        return page.text(table, f"Data: {self.data_note}.", f"Readings: {readings}.", f"{NOT_PRIVATE}; {SEEDED}.")

    def _cells(self, point: Point, summary: Summary) -> tuple[str, ...]:
        entry = self.printed(point)
        place = point.epsilon if self.exhibit.axis == "epsilon" else point.delta
        return (
            point.line.name,
            place or "",
            str(len(summary.results)),
            spread(summary, "accuracy"),
            spread(summary, "majority_accuracy"),
            spread(summary, "gain_over_majority"),
            spread(summary, "positive_rate"),
            spread(summary, "risk_difference"),
            "" if entry is None else f"{entry.mean} ± {entry.deviation}",
            notes(summary),
        )


def spread(summary: Summary, name: str) -> str:
    """Return mean and standard deviation of one metric in three digits."""
    found = summary.summary(name)
    if found["mean"] is None:
        return "–"
    return f"{found['mean']:.3f}" + ("" if found["std"] is None else f" ± {found['std']:.3f}")


def notes(summary: Summary) -> str:
    """Return how many runs had no minimum, and how many a constant predictor."""
    parts = []
    if summary.unbounded:
        parts.append(f"{summary.unbounded} without minimum")
    if summary.constant:
        parts.append(f"{summary.constant} constant")
    return ", ".join(parts)
