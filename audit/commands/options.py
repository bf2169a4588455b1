"""Options that several commands of audit share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click

from audit.common.packed import ARCHIVE
from audit.exact.settings import DataSetShape
from reference.commands.file_names import FileName
from reference.commands.options import DataOptions, FileOptions, NormOrDomainFile, declared_from, encoding_from
from reference.commands.parsing import option, unknown
from reference.common.errors import ReadingError
from reference.common.numbers import exact, in_float_range
from reference.datasets import ENCODINGS, SOURCES, shipped_domain, unknown_data
from reference.datasets.opening import is_table_file
from reference.domain import NORMS, Domain
from reference.readings import ADJACENCIES, BASES, FAIRNESS
from reference.sensitivity import Setting


@dataclass(frozen=True, kw_only=True)
class DataSetOptions(DataSetShape):
    """Data sets."""

    dimension: int | None = option(
        "--dimension",
        type=int,
        metavar="D",
        help="coordinates of w, the intercept included (the embedded data's)",
    )
    records: int | None = option(
        "--records", type=int, metavar="N", help="data sets of N records (any number: the limit of large N)"
    )
    domain: str = option("--domain", type=click.Choice(NORMS), default="unit_ball", help="norm of x (unit_ball)")


@dataclass(frozen=True, kw_only=True)
class DeclaredOptions(DataSetShape):
    """Data sets: of all rows of a norm, or of those that a declared domain encodes."""

    dimension: int | None = option(
        "--dimension",
        type=int,
        metavar="D",
        help="coordinates of w, the intercept included (the embedded data's); not with a declared domain",
    )
    records: int | None = option(
        "--records", type=int, metavar="N", help="data sets of N records (any number: the limit of large N)"
    )
    domain: str | None = option(  # type: ignore[assignment]
        "--domain",
        type=NormOrDomainFile(NORMS),
        metavar="NORM|FILE",
        help=f"norm of x, one of {', '.join(NORMS)} (unit_ball), or a domain file ending in .json",
    )
    data: str | None = option(
        "--data",
        type=FileName(SOURCES),
        metavar="NAME|FILE",
        help=f"the declared domain of one of {', '.join(SOURCES)}, or of a data file; no record is read",
    )
    label: str | None = option("--label", metavar="COLUMN", help="column of a data file with the label")
    group: str | None = option("--group", metavar="COLUMN", help="column of a data file with the group")
    encoding: str | None = option(
        "--encoding", type=click.Choice(ENCODINGS), help="categories as ranks or one-hot (ordinal)"
    )
    intercept: bool = option("--intercept", is_flag=True, help="add an intercept coordinate, inside the norm")
    keep_group: bool = option("--keep-group", is_flag=True, help="make the group a feature, too")

    @property
    def declared(self) -> Domain | None:
        """The domain of a file or a data set; None for a whole norm."""
        is_file = self.domain is not None and self.domain not in NORMS
        if self.data is None and not is_file:
            self._require_nothing_of_a_table()
            return None
        if self.dimension is not None and self.data != "synthetic":
            raise ReadingError("dimension", self.dimension, "left out with a declared domain")
        place = DataOptions(
            data=self.data,
            domain=self.domain,
            label=self.label,
            group=self.group,
            encoding=self.encoding,
            intercept=self.intercept,
            keep_group=self.keep_group,
            records=None,
            dimension=self.dimension,
            data_seed=0,
            domain_file=None,
            block_rows=1,
        )
        if is_file or is_table_file(str(self.data)):
            return declared_from(place).domain
        if self.data not in SOURCES:
            raise unknown_data(str(self.data))
        return shipped_domain(self.data, encoding_from(place), dimension=self.dimension).domain

    def _require_nothing_of_a_table(self) -> None:
        for name in ("label", "group", "encoding", "intercept", "keep_group"):
            if getattr(self, name):
                raise ReadingError(name, getattr(self, name), "left out without --data or a domain file")

    @property
    def shape(self) -> DataSetShape:
        """The data sets of a whole norm."""
        return DataSetShape(dimension=self.dimension, records=self.records, domain=self.domain or "unit_ball")


@dataclass(frozen=True, kw_only=True)
class TermOptions:
    """Readings of the paper."""

    fairness: str = option(
        "--fairness", type=click.Choice(FAIRNESS), default="absolute", help="fairness term (absolute)"
    )
    basis: str = option("--basis", type=click.Choice(BASES), default="monomial", help="basis of Phi_2 (monomial)")
    adjacency: str = option(
        "--adjacency",
        type=click.Choice(ADJACENCIES),
        default="replace_one",
        help="neighbouring relation (replace_one)",
    )


@dataclass(frozen=True, kw_only=True)
class SeededFileOptions(FileOptions):
    """Output."""

    seed: int | None = option(
        "--seed", type=click.IntRange(min=0), metavar="K", help="seed of the draws: the same one repeats them"
    )


def setting_of_terms(sets: DataSetShape, terms: TermOptions, fairness_weight: str) -> Setting:
    """Return the setting that the options name, checked to be small enough to compute."""
    return Setting(
        dimension=sets.checked_dimension,
        fairness=terms.fairness,
        norm=sets.domain,
        adjacency=terms.adjacency,
        basis=terms.basis,
        fairness_weight=weight("fairness_weight", fairness_weight),
        records=sets.records,
    )


def weight(name: str, text: str) -> Fraction:
    """Return the weight that an option names, checked to be 0 or within the range of floats."""
    number = exact(name, text)
    if number < 0 or not in_float_range(number):
        raise ReadingError(name, text, "0 or between 1e-100 and 1e100")
    return number


def weight_option() -> Any:
    """Declare the paper's alpha_1."""
    return option("--fairness-weight", "--alpha", default="1", metavar="A", help="the paper's alpha_1 (1)")


def several(*names: str, of: Callable[[str], Any] = str, default: Iterable[Any] = (), **settings: Any) -> Any:
    """Declare a field that holds a tuple: the option may be repeated, or given once with commas.

    Parameters
    ----------
    *names : str
    of : callable
        Turns a word into an element; a ValueError is bad input.
    default : iterable
    **settings
        Of :class:`click.Option`.
    """

    def elements(context: click.Context, parameter: click.Parameter, given: tuple[Any, ...]) -> tuple[Any, ...]:
        try:
            return tuple(of(word) for words in given for word in words.split(","))
        except ValueError:
            raise click.BadParameter(
                f"{','.join(given)!r} is not a comma-separated list", context, parameter
            ) from None

    return option(
        *names,
        type=str,
        multiple=True,
        default=tuple(str(word) for word in default),
        callback=elements,
        **settings,
    )


def check_known(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise on the first unknown name, with the nearest known one."""
    known = tuple(known)
    for name in given:
        if name not in known:
            raise click.UsageError(unknown(kind, name, known))


def require_checkout(asked: str) -> None:
    """Raise where the files that would be renewed are packed."""
    if ARCHIVE.is_file():
        raise click.UsageError(f"{asked} needs a checkout: it renews files that an installed package only reads")
