"""Options that every command line shares: one vocabulary, parsed in one place."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from reference.budgets import Budget, SplitBudget, parse_delta, parse_epsilon
from reference.datasets import ENCODINGS, SOURCES, Encoding, load, shipped_domain, unknown_data
from reference.datasets.from_file import record_blocks
from reference.datasets.table_file import ENDINGS, ROWS_READ, is_table_file, open_table
from reference.domain import NORMS
from reference.domain_file import DomainFile, load_domain_file
from reference.errors import DomainFileError, InputError, ReadingError, SeededHardenedNoiseError
from reference.files import write_whole
from reference.printable import one_line
from reference.readings import ADJACENCIES, BASES, FAIRNESS, NOISE_SOURCES, REPAIRS, Readings
from reference.record_blocks import RecordBlocks, in_memory
from reference.records import Records
from reference.registry import MechanismSpec

EXIT_FINE, EXIT_REFUTED, EXIT_USAGE, EXIT_UNDECIDED = 0, 1, 2, 3

PAPER_DELTA = "1e-3"


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add which records, and how they become x."""
    group = parser.add_argument_group("data")
    group.add_argument(
        "--data",
        default="affairs",
        metavar="NAME",
        help=f"one of {', '.join(SOURCES)}, or a file ending in {', '.join(ENDINGS)} (affairs)",
    )
    group.add_argument("--label", metavar="COLUMN", help="column of a data file with the label")
    group.add_argument("--group", metavar="COLUMN", help="column of a data file with the group")
    group.add_argument("--records", type=int, metavar="N", help="number of records (synthetic data)")
    group.add_argument("--dimension", type=int, metavar="D", help="number of attributes (synthetic data)")
    group.add_argument(
        "--data-seed", type=whole_number, default=0, metavar="K", help="seed of the synthetic data (0)"
    )
    group.add_argument(
        "--domain",
        type=norm_or_domain_file,
        metavar="NORM|FILE",
        help=f"norm of x, one of {', '.join(NORMS)} (unit_ball), or a domain file ending in .json",
    )
    group.add_argument("--domain-file", metavar="FILE", help="a domain file, where --domain names the norm")
    group.add_argument("--encoding", choices=ENCODINGS, help="categories as ranks or one-hot (ordinal)")
    group.add_argument(
        "--block-rows",
        type=int,
        default=ROWS_READ,
        metavar="N",
        help=f"records of a file read at a time ({ROWS_READ})",
    )
    group.add_argument("--intercept", action="store_true", help="add an intercept coordinate, inside the norm")
    group.add_argument("--keep-group", action="store_true", help="let the group stand among the features")


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add the readings of the paper."""
    group = parser.add_argument_group("readings of the paper")
    group.add_argument(
        "--fairness", choices=FAIRNESS, help="fairness term (absolute for pdfc, adfc and pflr, else none)"
    )
    group.add_argument("--fairness-weight", "--alpha", default="1", metavar="A", help="the paper's alpha_1 (1)")
    group.add_argument("--tau", default="0", help="the paper's tau; matters in `separate` only (0)")
    group.add_argument("--basis", choices=BASES, default="monomial", help="basis of Phi_2 (monomial)")
    group.add_argument(
        "--adjacency", choices=ADJACENCIES, default="replace_one", help="neighbouring relation (replace_one)"
    )
    group.add_argument(
        "--sensitivity",
        default="published",
        metavar="S",
        help="`published`, or a number of your own (published)",
    )
    group.add_argument(
        "--repair",
        choices=REPAIRS,
        default="shift_and_trim",
        help="when the noisy objective has no minimum; the paper has no such step (shift_and_trim)",
    )
    group.add_argument("--ball-radius", default="10", metavar="R", help="radius of --repair ball (10)")
    group.add_argument(
        "--noise", choices=NOISE_SOURCES, default="numpy", help="sampler; hardened is for releases (numpy)"
    )
    group.add_argument(
        "--x-s", metavar="NAME", help="coordinate with a budget of its own (fit: one at random; audits: the first)"
    )


def add_budget_options(parser: argparse.ArgumentParser) -> None:
    """Add the privacy budget and its parts."""
    group = parser.add_argument_group("privacy budget")
    group.add_argument("--epsilon", metavar="E", help="epsilon_s = epsilon_n = E (1)")
    group.add_argument(
        "--epsilon-ratio", metavar="R", help="fix epsilon_s / epsilon_n and solve the published formula for E"
    )
    group.add_argument("--epsilon-s", metavar="E", help="part for the monomials with w_s")
    group.add_argument("--epsilon-n", metavar="E", help="part for the other monomials")
    group.add_argument("--delta", metavar="D", help=f"total delta, Gaussian mechanisms only ({PAPER_DELTA})")
    group.add_argument("--delta-s", metavar="D", help="part for the monomials with w_s")
    group.add_argument("--delta-n", metavar="D", help="part for the other monomials")


def add_private_metrics_option(parser: argparse.ArgumentParser) -> None:
    """Add the budget of published metrics."""
    parser.add_argument(
        "--private-metrics",
        metavar="EPSILON",
        help="also release accuracy and risk difference with noise of their own, EPSILON for each release",
    )


def private_epsilon_from(options: argparse.Namespace) -> Fraction | None:
    """Return the epsilon of published metrics, or None."""
    given = options.private_metrics
    return None if given is None else parse_epsilon("private_metrics", given)


def check_noise_options(options: argparse.Namespace) -> None:
    """Raise unless the seed goes with the sampler."""
    if options.noise == "hardened" and options.seed is not None:
        raise SeededHardenedNoiseError("seed", options.seed, "left out with --noise hardened, which takes no seed")


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add format, file and seed."""
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=("text", "json"), default="text")
    group.add_argument("--out", metavar="FILE", help="write to a file, whole or not at all")
    group.add_argument(
        "--seed", type=whole_number, metavar="K", help="make the run repeatable (a release then says so)"
    )


def whole_number(text: str) -> int:
    """Read a seed."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be at least 0, not {number}")
    return number


def norm_or_domain_file(text: str) -> str:
    """Read ``--domain``: the name of a norm is a norm, and everything that ends in .json is a file."""
    if text in NORMS or text.lower().endswith(".json"):
        return text
    raise argparse.ArgumentTypeError(
        f"{text!r} is neither a norm ({', '.join(NORMS)}) nor the name of a domain file, which ends in .json"
    )


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


def data_from(options: argparse.Namespace, on_block: Callable[[int], None] | None = None) -> Data:
    """Return the data that the options name; a file is read later, in blocks.

    Parameters
    ----------
    options : argparse.Namespace
    on_block : callable, optional
        Told after each block of a file how many records it had.
    """
    if is_table_file(options.data):
        return _file_data(options, on_block)
    if options.data not in SOURCES:
        raise unknown_data(options.data)
    for name in ("label", "group", "domain_file"):
        if getattr(options, name) is not None:
            raise ReadingError(name, getattr(options, name), f"left out for {options.data}, whose domain is known")
    if options.domain not in (None, *NORMS):
        raise ReadingError("domain", options.domain, f"a norm for {options.data}, whose domain is known")
    choices = encoding_from(options)
    records = load(
        options.data,
        choices,
        records=options.records,
        dimension=options.dimension,
        seed=options.data_seed,
    )
    return Data(shipped_domain(options.data, choices, dimension=options.dimension), records)


def records_from(options: argparse.Namespace) -> Records:
    """Return the data that the options name, in memory."""
    return in_memory(data_from(options).records)


def encoding_from(options: argparse.Namespace) -> Encoding:
    """Return how a data set of known domain is laid out."""
    return Encoding(
        options.domain or "unit_ball", options.encoding or "ordinal", options.intercept, options.keep_group
    )


def _file_data(options: argparse.Namespace, on_block: Callable[[int], None] | None) -> Data:
    for name in ("records", "dimension", "encoding"):
        if getattr(options, name) is not None:
            raise ReadingError(name, getattr(options, name), "left out for a data file: the domain file says it")
    if options.block_rows < 1:
        raise ReadingError("block_rows", options.block_rows, "at least 1")
    declared = declared_from(options)
    return Data(
        declared, record_blocks(open_table(options.data), declared, rows=options.block_rows, on_block=on_block)
    )


def declared_from(options: argparse.Namespace) -> DomainFile:
    """Return the domain file that the options name, completed by the other options."""
    norm = options.domain if options.domain in NORMS else None
    path = options.domain_file if options.domain in (None, *NORMS) else options.domain
    if path is None:
        raise ReadingError(
            "domain",
            options.domain,
            "a domain file for a data file; `python -m reference domain --describe` helps to write one",
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


def readings_from(options: argparse.Namespace, spec: MechanismSpec) -> Readings:
    """Return the readings that the options name, with the mechanism's default fairness."""
    return readings_but_fairness(options).with_(fairness=options.fairness or spec.readings.fairness)


def readings_but_fairness(options: argparse.Namespace) -> Readings:
    """Return the readings that the options name but for the fairness term, whose default the mechanism knows."""
    return Readings(
        fairness_weight=options.fairness_weight,
        tau=options.tau,
        basis=options.basis,
        adjacency=options.adjacency,
        sensitivity=options.sensitivity,
        repair=options.repair,
        ball_radius=options.ball_radius,
        noise=options.noise,
    )


def budget_from(options: argparse.Namespace, spec: MechanismSpec, dimension: int) -> Budget | SplitBudget | None:
    """Return the budget that the options state; None for a mechanism without noise.

    Raises
    ------
    reference.errors.InputError
        On contradictory or missing parts.
    """
    _check_all_parts(options)
    if not spec.private:
        return None
    delta = (options.delta or PAPER_DELTA) if spec.needs_delta else "0"
    if spec.split_budget:
        budget = _epsilon_parts(options, dimension, delta)
        return _with_delta_parts(options, budget) if spec.needs_delta else budget
    # an epsilon_ratio divides what other mechanisms spend on the two parts of the same total
    for name in ("epsilon_s", "epsilon_n", "delta_s", "delta_n"):
        if getattr(options, name) is not None:
            raise ReadingError(name, getattr(options, name), f"left out: {spec.name} has one epsilon and delta")
    return Budget(options.epsilon or "1", delta)


def _epsilon_parts(options: argparse.Namespace, dimension: int, delta: str) -> SplitBudget:
    parts = (options.epsilon_s, options.epsilon_n)
    if options.epsilon_ratio is not None:
        if parts != (None, None):
            raise ReadingError("epsilon_ratio", options.epsilon_ratio, "left out when the parts are given")
        return SplitBudget.from_ratio(options.epsilon or "1", options.epsilon_ratio, dimension, delta)
    if parts == (None, None):
        return SplitBudget.equal(options.epsilon or "1", delta)
    _require_both(options, "epsilon")
    halves = SplitBudget.equal(1, delta)
    return SplitBudget(*parts, halves.delta_s, halves.delta_n, delta)


def _with_delta_parts(options: argparse.Namespace, budget: SplitBudget) -> SplitBudget:
    parts = (options.delta_s, options.delta_n)
    if parts == (None, None):
        return budget
    _require_both(options, "delta")
    return SplitBudget(budget.epsilon_s, budget.epsilon_n, *parts)


def _require_both(options: argparse.Namespace, name: str) -> None:
    """Raise unless both parts are given and the total is not."""
    flag = f"--{name}"
    for part in (f"{name}_s", f"{name}_n"):
        if getattr(options, part) is None:
            raise ReadingError(
                part, "nothing", f"given where the other part is: use {flag}-s and {flag}-n together"
            )
    if getattr(options, name) is not None:
        raise ReadingError(name, getattr(options, name), f"left out where {flag}-s and {flag}-n are given")


def _check_all_parts(options: argparse.Namespace) -> None:
    """Check every part that is given, also one that this mechanism does not use."""
    for name in ("epsilon", "epsilon_ratio", "epsilon_s", "epsilon_n"):
        if getattr(options, name) is not None:
            parse_epsilon(name, getattr(options, name))
    for name in ("delta", "delta_s", "delta_n"):
        if getattr(options, name) is not None:
            parse_delta(name, getattr(options, name))


def require_writable(inputs: Mapping[str, str | None], /, **paths: str | None) -> None:
    """Raise unless every given file can be written, before anything is computed for it.

    Parameters
    ----------
    inputs : mapping
        What the command reads, by the name of the option: no file among them is written over.
    **paths : str or None
        What it writes.

    Raises
    ------
    reference.errors.ReadingError
        Also when two options name one file.
    """
    seen = {Path(path).resolve(): name for name, path in inputs.items() if path and Path(path).is_file()}
    for name, path in paths.items():
        if path is None:
            continue
        target = Path(path).resolve()
        if target in seen:
            raise ReadingError(name, path, f"another file than that of {seen[target]}")
        seen[target] = name
        if target.is_dir():
            raise ReadingError(name, path, "a file that can be written (Is a directory)")
        if not target.parent.is_dir():
            raise ReadingError(name, path, "a file that can be written (No such directory)")
        if not os.access(target if target.exists() else target.parent, os.W_OK):
            raise ReadingError(name, path, "a file that can be written (Permission denied)")


def emit(text: str, out: str | None) -> None:
    """Print, or write a file whole or not at all."""
    if out is None:
        sys.stdout.write(text)
    else:
        write_file("out", out, text)


def write_file(name: str, path: str, content: str | bytes | Iterable[str]) -> None:
    """Write the file that an option names, whole or not at all."""
    try:
        write_whole(path, content)
    except OSError as problem:
        raise ReadingError(name, path, f"a file that can be written ({problem.strerror})") from problem


def run_command(command: Callable[[Sequence[str] | None], int], argv: Sequence[str] | None) -> int:
    """Run a command line: bad input becomes one line on standard error and exit code 2."""
    try:
        return command(argv)
    except InputError as problem:
        sys.stderr.write(f"error: {one_line(str(problem))}\n")
        return EXIT_USAGE
    except Exception:  # noqa: BLE001
        # a failure of the program must not look like a refutation (exit code 1)
        traceback.print_exc()
        sys.stderr.write("error: the program failed, so nothing was decided; please report this\n")
        return EXIT_UNDECIDED
