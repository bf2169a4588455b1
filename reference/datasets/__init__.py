"""Data sets, each with its public Domain: ``load(name)`` gives checked records.

``affairs`` is embedded and works offline; ``adult`` reads the original files; ``synthetic`` is generated.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference.datasets import adult, affairs, synthetic
from reference.datasets.source import Source
from reference.errors import DataError, ReadingError, UnknownDataError
from reference.records import Records

ENCODINGS = ("ordinal", "one_hot")

SOURCES: dict[str, Source] = {source.name: source for source in (affairs.SOURCE, adult.SOURCE, synthetic.SOURCE)}


@dataclass(frozen=True)
class Encoding:
    """How a data set is laid out as x: the readings that concern the records.

    Parameters
    ----------
    norm : {'unit_ball', 'unit_box'}
    encoding : {'ordinal', 'one_hot'}
        Categorical attributes as one rank or as one coordinate per category.
    intercept, keep_group : bool
    """

    norm: str = "unit_ball"
    encoding: str = "ordinal"
    intercept: bool = False
    keep_group: bool = False

    def __post_init__(self) -> None:
        if self.encoding not in ENCODINGS:
            raise ReadingError("encoding", self.encoding, "one of " + ", ".join(ENCODINGS))


def load(
    name: str = "affairs",
    choices: Encoding | None = None,
    *,
    records: int | None = None,
    dimension: int | None = None,
    seed: int = 0,
) -> Records:
    """Return a data set, checked and encoded by its public domain.

    Parameters
    ----------
    name : {'affairs', 'adult', 'synthetic'}
    choices : Encoding, optional
    records, dimension, seed
        Size of the `synthetic` data; rejected for real data.  `dimension` counts all coordinates of w, the
        intercept and a kept group among them.

    Raises
    ------
    reference.errors.UnknownDataError
        The message lists the known names.
    reference.errors.MissingDataError
        The message says which path was looked at and how to get the data.
    """
    if name not in SOURCES:
        raise UnknownDataError("data", name, "one of " + ", ".join(SOURCES))
    chosen = choices or Encoding()
    extra = int(chosen.intercept) + int(chosen.keep_group)
    attributes = None if dimension is None else dimension - extra
    if attributes is not None and attributes < 1:
        raise ReadingError("dimension", dimension, f"at least {1 + extra}: the intercept and a kept group count")
    source = SOURCES[name].sized(records, attributes, seed)
    domain = source.domain(chosen.encoding).with_(
        norm=chosen.norm, intercept=chosen.intercept, keep_group=chosen.keep_group
    )
    table = source.table()
    try:
        return domain.encode(table.columns)
    except DataError as problem:
        if problem.row is None or table.places is None:
            raise
        file, line = table.places[problem.row]
        raise type(problem)(
            problem.problem, file=file, row=line, column=problem.column, value=problem.value
        ) from problem
