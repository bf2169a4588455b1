"""The data sets by name, each with its public Domain: ``load(name)`` gives checked records.

``affairs`` is embedded and works offline; ``adult``, ``us``, ``german`` and ``compas`` read files under
``CFM_DATA``; ``synthetic`` is generated.  ``docs/data/`` has a page on the columns of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reference.common.errors import ReadingError, UnknownDataError
from reference.datasets import adult, affairs, compas, german, synthetic, us
from reference.datasets.opening import ENDINGS
from reference.datasets.source import CsvSource, Source, data_folder
from reference.domain.file import DomainFile
from reference.records import Records

__all__ = ["ENCODINGS", "SOURCES", "Encoding", "load", "named_files", "shipped_domain", "unknown_data"]

ENCODINGS = ("ordinal", "one_hot")

SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        affairs.SOURCE,
        adult.SOURCE,
        synthetic.SOURCE,
        us.SOURCE,
        german.SOURCE,
        compas.SOURCE,
    )
}


@dataclass(frozen=True)
class Encoding:
    """How a data set is laid out as x: the readings that concern the records.

    Parameters
    ----------
    norm : {'unit_ball', 'unit_box', 'symmetric_ball'}
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
    name : {'affairs', 'adult', 'synthetic', 'us', 'german', 'compas'}
    choices : Encoding, optional
    records, dimension, seed
        Size of the `synthetic` data; rejected for real data.  `dimension` counts all coordinates of w, the
        intercept and a kept group among them.

    Raises
    ------
    reference.common.errors.UnknownDataError
        The message lists the known names.
    reference.common.errors.MissingDataError
        The message names the path and says how to get the data.
    """
    chosen = choices or Encoding()
    source = _sized(name, chosen, records, dimension, seed)
    return source.read(_laid_out(source, chosen))


def named_files() -> tuple[Path, ...]:
    """Return where the files of data sets with a name are, or would be."""
    paths = [source.path for source in SOURCES.values() if isinstance(source, CsvSource)]
    return tuple(data_folder() / path for path in (*paths, *(f"adult/{name}" for name in adult.FILES)))


def shipped_domain(name: str, choices: Encoding | None = None, *, dimension: int | None = None) -> DomainFile:
    """Return the public domain of a data set, without reading the data."""
    chosen = choices or Encoding()
    return _laid_out(_sized(name, chosen, None, dimension, 0), chosen)


def unknown_data(name: str) -> UnknownDataError:
    """Return the error for a name that is not a data set."""
    named = ", ".join(SOURCES)
    allowed = f"one of {named}, or a file ending in {', '.join(ENDINGS)}, or a folder's name followed by /"
    return UnknownDataError("data", name, allowed)


def _sized(name: str, chosen: Encoding, records: int | None, dimension: int | None, seed: int) -> Source:
    if name not in SOURCES:
        raise unknown_data(name)
    extra = int(chosen.intercept) + int(chosen.keep_group)
    attributes = None if dimension is None else dimension - extra
    if attributes is not None and attributes < 1:
        raise ReadingError("dimension", dimension, f"at least {1 + extra}: the intercept and a kept group count")
    return SOURCES[name].sized(records, attributes, seed)


def _laid_out(source: Source, chosen: Encoding) -> DomainFile:
    return source.domain_file(chosen.encoding).with_(
        norm=chosen.norm, intercept=chosen.intercept, keep_group=chosen.keep_group
    )
