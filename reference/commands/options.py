"""Options that several commands share: one vocabulary, read in one place."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import click

from reference.budgets import parse_epsilon
from reference.commands.endings import close_quietly
from reference.commands.file_names import FileName, WrittenFile
from reference.commands.output import output
from reference.commands.parsing import option
from reference.common.errors import DomainFileError, ReadingError, SeededHardenedNoiseError
from reference.common.files import write_whole
from reference.common.numbers import exact
from reference.common.processes import end_copy
from reference.datasets import ENCODINGS, SOURCES, Encoding, load, shipped_domain, unknown_data
from reference.datasets.from_file import OnBlock, Way, record_blocks
from reference.datasets.opening import ENDINGS, is_table_file, open_table
from reference.datasets.record_blocks import RecordBlocks
from reference.datasets.table import ROWS_READ
from reference.domain import NORMS
from reference.domain.file import DomainFile, load_domain_file
from reference.noise import ENTROPY, Source
from reference.readings import ADJACENCIES, BASES, FAIRNESS, NOISE_SOURCES, REPAIRS, Readings
from reference.records import Records
from reference.registry import PAPER_DELTA, BudgetParts, MechanismSpec


def out_option(*names: str) -> Any:
    """Declare the field `out`, the file that a command writes instead of printing."""
    return option("--out", *names, type=WrittenFile(), metavar="FILE", help="write to a file, whole or not at all")


class NormOrDomainFile(FileName):
    """The name of a norm, or of a domain file, which ends in .json."""

    name = "domain"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value, or say why it is neither."""
        name = str(value)
        if name not in NORMS and not name.lower().endswith(".json"):
            norms = ", ".join(NORMS)
            self.fail(
                f"{name!r} is neither a norm ({norms}) nor the name of a domain file, which ends in .json",
                param,
                ctx,
            )
        return name


class EncodingOptions(Protocol):
    """Options that say how a data set with a known domain is encoded."""

    @property
    def domain(self) -> str | None:
        """The norm of x."""

    @property
    def encoding(self) -> str | None:
        """How categories become numbers."""

    @property
    def intercept(self) -> bool:
        """Whether there is an intercept coordinate."""

    @property
    def keep_group(self) -> bool:
        """Whether the group is a feature."""


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """Data sets by name."""

    data: str | None = option(
        "--data", type=FileName(SOURCES), default="affairs", metavar="NAME", help=f"one of {', '.join(SOURCES)}"
    )
    records: int | None = option("--records", type=int, metavar="N", help="number of records (synthetic data)")
    dimension: int | None = option(
        "--dimension", type=int, metavar="D", help="number of attributes (synthetic data)"
    )
    data_seed: int = option(
        "--data-seed", type=click.IntRange(min=0), default=0, metavar="K", help="seed of the synthetic data (0)"
    )
    domain: str | None = option(
        "--domain", metavar="NORM", help=f"norm of x, one of {', '.join(NORMS)} (unit_ball)"
    )
    encoding: str | None = option(
        "--encoding", type=click.Choice(ENCODINGS), help="categories as ranks or one-hot (ordinal)"
    )
    intercept: bool = option("--intercept", is_flag=True, help="add an intercept coordinate, inside the norm")
    keep_group: bool = option("--keep-group", is_flag=True, help="make the group a feature, too")


@dataclass(frozen=True, kw_only=True)
class DataOptions(SourceOptions):
    """Data."""

    data: str | None = option(
        "--data",
        type=FileName(SOURCES),
        default="affairs",
        metavar="NAME|FILE",
        help=f"one of {', '.join(SOURCES)}, or a file ending in {', '.join(ENDINGS)}; a pattern, or FOLDER/, "
        "stands for several (affairs). The folder CFM_DATA (../shared/data) has the named ones, except affairs "
        "and synthetic",
    )
    domain: str | None = option(
        "--domain",
        type=NormOrDomainFile(NORMS),
        metavar="NORM|FILE",
        help=f"norm of x, one of {', '.join(NORMS)} (unit_ball), or a domain file ending in .json",
    )
    domain_file: str | None = option(
        "--domain-file", type=FileName(), metavar="FILE", help="a domain file, where --domain names the norm"
    )
    label: str | None = option("--label", metavar="COLUMN", help="column of a data file with the label")
    group: str | None = option("--group", metavar="COLUMN", help="column of a data file with the group")
    block_rows: int = option(
        "--block-rows",
        type=int,
        default=ROWS_READ,
        metavar="N",
        help=f"records of a file read at a time ({ROWS_READ})",
    )


FAIRNESS_HELP = f"fairness term: {', '.join(FAIRNESS)} (absolute for pdfc, adfc and pflr, else none)"


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """Readings of the paper."""

    fairness: str | None = option(
        "--fairness",
        type=click.Choice(FAIRNESS),
        metavar="WORD",
        help=FAIRNESS_HELP,
    )
    fairness_weight: str = option(
        "--fairness-weight", "--alpha", default="1", metavar="A", help="the paper's alpha_1 (1)"
    )
    tau: str = option("--tau", default="0", metavar="T", help="the paper's tau; matters in `separate` only (0)")
    basis: str = option("--basis", type=click.Choice(BASES), default="monomial", help="basis of Phi_2 (monomial)")
    adjacency: str = option(
        "--adjacency",
        type=click.Choice(ADJACENCIES),
        default="replace_one",
        help="neighbouring relation (replace_one)",
    )
    sensitivity: str = option(
        "--sensitivity",
        default="published",
        metavar="S",
        help="published, exact or a number of your own (published)",
    )
    repair: str = option(
        "--repair",
        type=click.Choice(REPAIRS),
        default="shift_and_trim",
        help="when the noisy objective has no minimum; the paper has no such step (shift_and_trim)",
    )
    ball_radius: str = option("--ball-radius", default="10", metavar="R", help="radius of --repair ball (10)")
    noise: str | None = option(
        "--noise",
        type=click.Choice(NOISE_SOURCES),
        help="sampler; numpy is for study (fit: hardened without --seed; elsewhere numpy)",
    )
    x_s: str | None = option(
        "--x-s", metavar="NAME", help="coordinate with its own budget (fit: one at random; audits: the first)"
    )
    rows_per_person: int = 1


@dataclass(frozen=True, kw_only=True)
class PersonReadingOptions(ReadingOptions):
    """Readings of the paper."""

    rows_per_person: int = option(
        "--rows-per-person",
        type=click.IntRange(min=1),
        default=1,
        metavar="K",
        help="records that one person may have; privacy protects the person (1)",
    )


OF_REPAIRED = ("demographic_parity", "equalised_odds")
"""The kinds of fairness of the mechanism `repaired`; others have readings of the paper's term."""


@dataclass(frozen=True, kw_only=True)
class FitReadingOptions(PersonReadingOptions):
    """Readings of the paper."""

    fairness: str | None = option(
        "--fairness",
        type=click.Choice([*FAIRNESS, *OF_REPAIRED]),
        metavar="WORD",
        help=f"{FAIRNESS_HELP}; of repaired: {', '.join(OF_REPAIRED)}",
    )


@dataclass(frozen=True, kw_only=True)
class BudgetOptions(BudgetParts):
    """Privacy budget."""

    epsilon: str | None = option("--epsilon", metavar="E", help="epsilon_s = epsilon_n = E (1)")
    epsilon_ratio: str | None = option(
        "--epsilon-ratio", metavar="R", help="fix epsilon_s / epsilon_n and solve the published formula for E"
    )
    epsilon_s: str | None = option("--epsilon-s", metavar="E", help="part for the monomials with w_s")
    epsilon_n: str | None = option("--epsilon-n", metavar="E", help="part for the other monomials")
    delta: str | None = option(
        "--delta", metavar="D", help=f"total delta, Gaussian mechanisms only ({PAPER_DELTA})"
    )
    delta_s: str | None = option("--delta-s", metavar="D", help="part for the monomials with w_s")
    delta_n: str | None = option("--delta-n", metavar="D", help="part for the other monomials")


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """Output."""

    format: str = option("--format", type=click.Choice(["text", "json"]), default="text", help="(text)")
    out: str | None = out_option()


@dataclass(frozen=True, kw_only=True)
class OutputOptions(FileOptions):
    """Output."""

    seed: int | None = option(
        "--seed",
        type=click.IntRange(min=0),
        metavar="K",
        help="repeat the run, with numpy's noise: for study",
    )


def private_epsilon_from(given: str | None) -> Fraction | None:
    """Return the epsilon of published metrics, or None."""
    return None if given is None else parse_epsilon("private_metrics", given)


def check_noise_options(noise: str | None, seed: int | None) -> None:
    """Raise unless the seed goes with the sampler."""
    if noise == "hardened" and seed is not None:
        raise SeededHardenedNoiseError("seed", seed, "left out with --noise hardened, which takes no seed")


def random_source(noise: str | None, seed: int | None) -> Source:
    """Return the source of noise: hardened without a seed, numpy's with one or by name."""
    check_noise_options(noise, seed)
    if noise == "numpy" and seed is None:
        sys.stderr.write("warning: --noise numpy leaks at its bits: it is for study; leave it out for a release\n")
        return ENTROPY
    return seed


@dataclass(frozen=True)
class Data:
    """The data that a command line names.

    Parameters
    ----------
    declared : DomainFile
    records : Records or RecordBlocks
    """

    declared: DomainFile
    records: Records | RecordBlocks


def data_from(
    options: DataOptions,
    on_block: OnBlock | None = None,
    way: Way | None = None,
) -> Data:
    """Return the data that the options name; a file is read later, in blocks.

    Parameters
    ----------
    options : DataOptions
    on_block : callable, optional
    way : Way, optional
        As for :func:`reference.datasets.from_file.record_blocks`.
    """
    if options.data is None:
        raise ReadingError("data", None, "given: the name of a data set, or a data file")
    if is_table_file(options.data):
        return _file_data(options, options.data, on_block, way)
    if options.data not in SOURCES:
        raise unknown_data(options.data)
    for name in ("label", "group", "domain_file"):
        if getattr(options, name) is not None:
            raise ReadingError(name, getattr(options, name), f"left out for {options.data}, whose domain is known")
    if options.domain not in (None, *NORMS):
        raise ReadingError("domain", options.domain, f"a norm for {options.data}, whose domain is known")
    choices = encoding_from(options)
    size = {"records": options.records, "dimension": options.dimension}
    records = load(options.data, choices, **size, seed=options.data_seed)
    return Data(shipped_domain(options.data, choices, dimension=options.dimension), records)


def encoding_from(options: EncodingOptions) -> Encoding:
    """Return the encoding of a data set with a known domain."""
    return Encoding(
        options.domain or "unit_ball", options.encoding or "ordinal", options.intercept, options.keep_group
    )


def _file_data(options: DataOptions, file: str, on_block: OnBlock | None, way: Way | None) -> Data:
    for name in ("records", "dimension", "encoding"):
        if getattr(options, name) is not None:
            raise ReadingError(name, getattr(options, name), "left out for a data file: the domain file has it")
    declared = declared_from(options)
    declared.domain.require_of_paper()
    table = open_table(file)
    records = record_blocks(table, declared, rows=options.block_rows, on_block=on_block, way=way)
    return Data(declared, records)


def declared_from(options: DataOptions) -> DomainFile:
    """Return the domain file that the options name, completed by the other options."""
    norm = options.domain if options.domain in NORMS else None
    path = options.domain_file if options.domain in (None, *NORMS) else options.domain
    if path is None:
        given = "given: " if options.domain is None else ""
        raise ReadingError(
            "domain",
            options.domain,
            f"{given}a domain file for a data file; this command begins one: {_describing(options)}",
        )
    if options.domain_file not in (None, path):
        raise ReadingError("domain_file", options.domain_file, "left out where --domain names a file")
    declared = load_domain_file(path)
    try:
        declared = declared.with_columns(options.label, options.group)
        declared = declared.with_(
            norm=norm or declared.norm,
            intercept=declared.intercept or options.intercept,
            keep_group=declared.keep_group or options.keep_group,
        )
        # a contradiction is reported here, with the file's name
        _ = declared.domain
    except DomainFileError as problem:
        raise DomainFileError(problem.problem, file=str(path), place=problem.place) from problem
    return declared


def _describing(options: DataOptions) -> str:
    """Return the command that writes a template for a data file."""
    words = ["python", "-m", "reference", "domain", "--describe", "--data", options.data or ""]
    words += ["--label", options.label or "COLUMN"]
    words += ["--group", options.group] if options.group is not None else []
    return shlex.join([*words, "--out", "domain.json"])


def readings_from(options: ReadingOptions, spec: MechanismSpec) -> Readings:
    """Return the readings that the options name, with the mechanism's default fairness."""
    return readings_but_fairness(options).with_(fairness=options.fairness or spec.readings.fairness)


def readings_but_fairness(options: ReadingOptions) -> Readings:
    """Return the readings that the options name, except fairness, whose default depends on the mechanism."""
    return Readings(
        fairness_weight=exact("fairness_weight", options.fairness_weight),
        tau=exact("tau", options.tau),
        basis=options.basis,
        adjacency=options.adjacency,
        sensitivity=options.sensitivity,
        repair=options.repair,
        ball_radius=exact("ball_radius", options.ball_radius),
        noise=options.noise or "numpy",
        rows_per_person=options.rows_per_person,
    )


def emit(text: str, out: str | None) -> None:
    """Print, or write a file whole or not at all."""
    end_copy()
    if out is not None:
        write_file("out", out, text)
        return
    try:
        output().write(text)
        output().flush()
    except BrokenPipeError:
        # the reader stopped reading: the command still ends with its own exit code
        close_quietly()


def write_file(name: str, path: str, content: str | bytes | Iterable[str]) -> None:
    """Write the file that an option names, whole or not at all."""
    try:
        write_whole(path, content)
    except OSError as problem:
        raise ReadingError(name, path, f"a file that can be written ({problem.strerror})") from problem
