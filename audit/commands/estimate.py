"""The command ``python -m audit estimate``, which is also ``python -m audit.epsilon_estimate``."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal

import click

from audit.auditor.deadline import OutOfTimeError
from audit.auditor.distinguish import BOUNDS, Bound
from audit.auditor.events import FAMILIES
from audit.auditor.interruption import finish
from audit.auditor.subject import SubjectError
from audit.commands.estimate_text import draw_plot, texts
from audit.commands.options import SeededFileOptions
from audit.common.figures import require_plot
from audit.evidence.estimation import Audit, carried_out, finished
from audit.evidence.report import EstimateResult
from audit.evidence.request import (
    DRAWS,
    SIGNIFICANCE,
    TIMEOUT,
    WITNESS_RECORDS,
    EstimateRequest,
    Judged,
)
from audit.exact.settings import DataSetShape, setting_from
from audit.subjects.catalogue import CATALOGUE
from audit.subjects.descriptions import CatalogueDescription, ImportDescription, Named
from audit.subjects.programs import InputPair, ProgramDescription
from audit.subjects.programs.words import words_of
from audit.subjects.releases import RELEASES, MechanismDescription, NamedData, WorstNeighbours
from audit.subjects.search.search import SEARCH_SHARE
from reference.budgets import parse_epsilon
from reference.commands.file_names import CommandLine, FileName, WrittenFile
from reference.commands.options import (
    BudgetOptions,
    ReadingOptions,
    SourceOptions,
    check_noise_options,
    emit,
    encoding_from,
    readings_from,
)
from reference.commands.parsing import argument, option
from reference.commands.parsing import command as make_command
from reference.commands.progress import SHARE, ProgressBar, say_above
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED
from reference.common.scheduler import HELP, on_cluster
from reference.datasets import SOURCES
from reference.domain import NORMS
from reference.noise import HardenedSampler
from reference.readings import Readings
from reference.registry import MECHANISMS, PAPER_DELTA, MechanismSpec, budget_from

PAPER = tuple(name for name, spec in MECHANISMS.items() if spec.private)

FOR_ANY_SUBJECT = ("epsilon", "delta")
"""Options of the budget that every subject has; the others, readings and data are of the paper's mechanisms."""

ONLY_FOR_PROGRAMS = ("inputs", "binary", "memory_limit")


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """Audit."""

    mechanism: tuple[str, ...] = argument(nargs=-1, metavar="[MECHANISM]...")
    draws: int = option(
        "--draws", type=int, default=DRAWS, metavar="N", help=f"draws, all phases and both inputs ({DRAWS:,})"
    )
    significance: float = option(
        "--significance",
        type=float,
        default=SIGNIFICANCE,
        metavar="S",
        help=f"chance that a bound is wrong ({SIGNIFICANCE})",
    )
    release: Literal["coefficients", "weights"] = option(
        "--release",
        type=click.Choice(RELEASES),
        default="coefficients",
        help="what our mechanisms publish (coefficients)",
    )
    object: Judged = option(
        "--object",
        type=click.Choice(["ideal", "implementation"]),
        default="ideal",
        help="whose verdict sets the exit code: outputs quantised, or floats as they are (ideal)",
    )
    search: bool = option(
        "--search",
        is_flag=True,
        help=f"search the declared domain for the worst pair, with {SEARCH_SHARE:.0%} of the draws",
    )
    events: str = option("--events", default="all", metavar="F,...", help=f"families: {', '.join(FAMILIES)} (all)")
    bound: Bound = option(
        "--bound",
        type=click.Choice(BOUNDS),
        default="auto",
        help="from counts to epsilon; auto: joint, or conditional for rare events at delta 0, fixed on selection "
        "draws (auto)",
    )
    until: float | None = option(
        "--until",
        type=float,
        metavar="GAP",
        help="stop when the claim is refuted or a loss above it by GAP would have shown; --draws is then the most",
    )
    max_seconds: float | None = option(
        "--max-seconds", type=float, metavar="T", help="search and certify for at most about T seconds"
    )
    outputs_per_call: int = option(
        "--outputs-per-call",
        type=int,
        default=1,
        metavar="M",
        help="draw in calls of M outputs, and assume only that calls are independent (1)",
    )
    curve: bool = option("--curve", is_flag=True, help="certify epsilon at several deltas together")
    plot: str | None = option(
        "--plot", type=WrittenFile(), metavar="FILE", help="draw the trade-off and the epsilon(delta) curve"
    )
    workers: int = option(
        "--workers",
        type=click.IntRange(min=1),
        default=1,
        metavar="W",
        help="cores; the result does not depend on it (1)",
    )
    scheduler: str | None = option("--scheduler", metavar="ADDRESS", help=HELP)


@dataclass(frozen=True, kw_only=True)
class ClaimOptions(BudgetOptions):
    """Privacy budget; of a program or class of your own, the claim."""

    epsilon: str | None = option("--epsilon", metavar="E", help="epsilon_s = epsilon_n = E (1); or your claim")
    delta: str | None = option(
        "--delta",
        metavar="D",
        help=f"total delta, Gaussian mechanisms only ({PAPER_DELTA}); or your claim (0 unless stated)",
    )


@dataclass(frozen=True, kw_only=True)
class ProgramOptions:
    """Any program, in place of MECHANISM (docs/programs.md)."""

    program: str | None = option(
        "--program", type=CommandLine(), metavar="CMD", help="command line of the program; no shell runs it"
    )
    inputs: str | None = option(
        "--inputs",
        type=FileName(),
        metavar="FILE",
        help="left, right and adjacency as JSON (the program is asked for them)",
    )
    binary: bool = option("--binary", is_flag=True, help="draws come as 64-bit floats, not as JSON")
    timeout: float = option(
        "--timeout", type=float, default=TIMEOUT, metavar="T", help=f"seconds per answer ({TIMEOUT:g})"
    )
    memory_limit: int | None = option(
        "--memory-limit", type=int, metavar="B", help="bytes that each process of the program may write to (any)"
    )


@dataclass(frozen=True, kw_only=True)
class PlaceOptions(SourceOptions):
    """Data (without --data: the worst neighbours of the domain, in the paper's norm)."""

    data: str | None = option(
        "--data", metavar="NAME", help=f"real data with one record replaced, one of {', '.join(SOURCES)}"
    )


@dataclass(frozen=True)
class EstimateOptions:
    """All options of a command line, by group."""

    audit: AuditOptions
    program: ProgramOptions
    budget: ClaimOptions
    place: PlaceOptions
    readings: ReadingOptions


@make_command(
    "estimate",
    AuditOptions,
    ProgramOptions,
    ClaimOptions,
    PlaceOptions,
    ReadingOptions,
    SeededFileOptions,
    text=f"""Does this mechanism keep the epsilon it claims?

    MECHANISM is one or more of {", ".join(PAPER)}, a name from the catalogue of known losses
    (`audit catalogue --list`), or package.module:attribute.  By default it audits each mechanism of the paper, on
    the worst neighbouring data sets that the exact analysis finds.  --noise hardened draws what a release draws,
    a hundred times slower: it takes no --seed, as the operating system's entropy never comes again.""",
    example="python -m audit estimate pdfc --epsilon 1 --draws 100000 --seed 1",
)
def command(
    audit: AuditOptions,
    program: ProgramOptions,
    budget: ClaimOptions,
    place: PlaceOptions,
    readings: ReadingOptions,
    output: SeededFileOptions,
) -> int:
    """Run the audits that the command line names: request -> audit -> result -> certificate."""
    asked = EstimateOptions(audit, program, budget, place, readings)
    if audit.scheduler is not None and program.program is not None:
        raise ReadingError("scheduler", audit.scheduler, "left out with --program, which runs on this machine")
    # before anything is drawn
    if audit.plot is not None:
        require_plot(audit.plot)
    try:
        # all of them before the first draw; a program's first answer may take time
        audits = [Audit.of(request) for request in requests(asked, output.seed)]
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: nothing audited\n")
        return EXIT_UNDECIDED
    with on_cluster(audit.scheduler):
        results = carry_out(audits, audit.workers)
    # a program is alone, and ended whatever came of it
    ended = [finished(audits[0], one) for one in results or [None]] if program.program is not None else results
    results = ended[: len(results)]
    return report(audits, results, audit, output)


# --- The request ---------------------------------------------------------------------------------------------


def requests(asked: EstimateOptions, seed: int | None) -> list[EstimateRequest]:
    """Return the estimates to make: one for each mechanism, or for a program.

    Raises
    ------
    reference.common.errors.InputError
    """
    check_noise_options(asked.readings.noise, seed)
    seed = secrets.randbits(32) if seed is None else seed
    if asked.program.program is not None:
        if asked.audit.mechanism:
            raise ReadingError("mechanism", ", ".join(asked.audit.mechanism), "left out with --program")
        _refuse_unused(asked)
        described = program_description(asked)
        return [request_of(asked.program.program, described, asked, seed)]
    for name in ONLY_FOR_PROGRAMS:
        if getattr(asked.program, name):
            raise ReadingError(name, getattr(asked.program, name), "left out without --program")
    names = asked.audit.mechanism or PAPER
    for name in names:
        if names.count(name) > 1:
            # one seed would give the same draws twice, which would look like two results
            raise ReadingError("mechanism", name, "named once; another --seed gives another run")
    # the names first: an unknown one is the likelier mistake
    subjects = {name: described_subject(name, asked) for name in names}
    if not any(name in PAPER for name in names):
        _refuse_unused(asked)
    return [request_of(name, described, asked, seed) for name, described in subjects.items()]


@cache
def _unset() -> dict[str, Any]:
    """Return the options of an empty command line."""
    with command.make_context("estimate", []) as context:
        return dict(context.params)


def _refuse_unused(asked: EstimateOptions) -> None:
    """Refuse options that only the paper's mechanisms use: to pass over them would audit something else."""
    given = {
        entry.name: getattr(group, entry.name)
        for group in (asked.budget, asked.place, asked.readings)
        for entry in fields(group)
        if entry.name not in FOR_ANY_SUBJECT
    }
    for name, value in (given | {"release": asked.audit.release}).items():
        if value != _unset().get(name, value):
            raise ReadingError(name, value, "left out; only the paper's mechanisms use it, and none is audited")


def request_of(name: str, described: Named, asked: EstimateOptions, seed: int) -> EstimateRequest:
    """Return the request, checked, with the claim if the description has none."""
    how = asked.audit
    has_epsilon = isinstance(described, MechanismDescription | CatalogueDescription)
    has_delta = isinstance(described, MechanismDescription) or (
        isinstance(described, CatalogueDescription) and "delta" in described.parameters
    )
    return EstimateRequest(
        mechanism=name,
        subject=described,
        epsilon=None if has_epsilon else asked.budget.epsilon,
        delta=None if has_delta else asked.budget.delta,
        draws=how.draws,
        significance=how.significance,
        events=FAMILIES if how.events == "all" else tuple(how.events.split(",")),
        bound=how.bound,
        until=how.until,
        max_seconds=how.max_seconds,
        curve=how.curve or how.plot is not None,
        search=how.search,
        object=how.object,
        seed=seed,
        outputs_per_call=how.outputs_per_call,
    ).checked()


def described_subject(name: str, asked: EstimateOptions) -> Named:
    """Return the description from which :func:`audit.subjects.descriptions.rebuild` makes the subject.

    Raises
    ------
    reference.common.errors.InputError
        An unknown name lists the known ones.
    """
    if ":" in name:
        return ImportDescription(path=name)
    if name in CATALOGUE:
        parameters: dict[str, int | float | str] = {}
        if asked.budget.epsilon is not None:
            parameters["epsilon"] = float(parse_epsilon("epsilon", asked.budget.epsilon))
        if asked.budget.delta is not None and name == "gaussian":
            parameters["delta"] = asked.budget.delta
        return CatalogueDescription(name=name, parameters=parameters)
    if name not in PAPER:
        allowed = (
            f"one of {', '.join(PAPER)}, a name that `audit catalogue --list` prints, or package.module:attribute"
        )
        if "/" in name:
            allowed += " (a program goes after --program)"
        raise ReadingError("mechanism", name, allowed)
    return mechanism_description(MECHANISMS[name], asked)


def mechanism_description(spec: MechanismSpec, asked: EstimateOptions) -> MechanismDescription:
    """Return one of our mechanisms on real data, or on the worst neighbours of the whole domain."""
    readings = readings_from(asked.readings, spec)
    if readings.noise == "hardened":
        # whether OpenDP is here
        HardenedSampler()
    _check_data(asked.place)
    setting = data = None
    if asked.place.data is None:
        setting = worst_neighbours(asked.place, readings)
        dimension = setting.dimension
    else:
        data = named_data(asked.place, asked.place.data)
        dimension = data.load().domain.dimension
    budget = budget_from(asked.budget, spec, dimension)
    if budget is None:
        raise ReadingError("mechanism", spec.name, "one that adds noise")
    return MechanismDescription(
        mechanism=spec.name,
        release=asked.audit.release,
        budget={entry.name: getattr(budget, entry.name) for entry in fields(budget)},
        readings=readings,
        x_s=asked.readings.x_s,
        setting=setting,
        data=data,
    )


def worst_neighbours(place: PlaceOptions, readings: Readings) -> WorstNeighbours:
    """Return the size and the norm of the worst neighbouring data sets."""
    for name in ("intercept", "keep_group"):
        if getattr(place, name):
            raise ReadingError(name, True, "left out without --data: the worst neighbours have features only")
    sets = DataSetShape(dimension=place.dimension, records=place.records, domain=place.domain or "unit_ball")
    setting = setting_from(sets, readings)
    norm: Any = setting.norm
    return WorstNeighbours(dimension=setting.dimension, records=setting.records or WITNESS_RECORDS, domain=norm)


def named_data(place: PlaceOptions, name: str) -> NamedData:
    """Return the records that the options name."""
    choices = encoding_from(place)
    return NamedData(
        name=name,
        seed=place.data_seed,
        domain=choices.norm,
        encoding=choices.encoding,
        intercept=choices.intercept,
        keep_group=choices.keep_group,
        records=place.records,
        dimension=place.dimension,
    )


def _check_data(place: PlaceOptions) -> None:
    """Reject your own files, from which a certificate could not be rebuilt."""
    if place.data is not None and place.data not in SOURCES:
        raise ReadingError("data", place.data, "one of " + ", ".join(SOURCES) + "; files are not audited")
    if place.domain not in (None, *NORMS):
        raise ReadingError("domain", place.domain, "one of " + ", ".join(NORMS) + "; domain files are not audited")


def program_description(asked: EstimateOptions) -> ProgramDescription:
    """Return the program that the options name; it is started later.

    Raises
    ------
    reference.common.errors.InputError
    """
    given = asked.program
    return ProgramDescription(
        command=words_of(given.program or ""),
        inputs=None if given.inputs is None else InputPair.read(given.inputs),
        binary=given.binary,
        timeout=given.timeout,
        memory_limit=given.memory_limit,
        inputs_file=given.inputs,
    )


# --- The results ---------------------------------------------------------------------------------------------


def carry_out(audits: Sequence[Audit], workers: int) -> list[EstimateResult | None]:
    """Run the audits one after another, with a progress bar on standard error; an interruption ends the last one.

    Then there are fewer results than audits, or the last one is partial.
    None stands for one whose time ran out before anything was certified.
    The bar shows how much was drawn, not what was found, so nobody interrupts a run because of its result.
    """
    for audit in audits:
        audit.check()
    results: list[EstimateResult | None] = []
    for audit in audits:
        try:
            with ProgressBar(audit.mechanism, audit.request.draws, SHARE) as progress:
                found = carried_out(audit, workers=workers, progress=progress.advance, say=say_above)
        except KeyboardInterrupt:
            # nothing was certified yet; the earlier audits stand
            break
        except OutOfTimeError as problem:
            sys.stderr.write(f"{audit.mechanism}: undecided: {problem}\n")
            results.append(None)
            continue
        except SubjectError as problem:
            # as advice that names an argument
            problem.args = tuple(
                str(one).replace("outputs_per_call", "--outputs-per-call") for one in problem.args
            )
            raise
        results.append(found)
        if found.estimate.interrupted:
            break
    return results


def report(
    audits: Sequence[Audit],
    outcomes: Sequence[EstimateResult | None],
    how: AuditOptions,
    output: SeededFileOptions,
) -> int:
    """Write the results and return the exit code."""
    missing = [audit.mechanism for audit in audits[len(outcomes) :]]
    results = [result for result in outcomes if result is not None]
    if missing:
        sys.stderr.write(f"interrupted: {', '.join(missing)} not audited\n")
    if not results:
        return EXIT_UNDECIDED
    # the power of this many draws takes seconds to compute: an interruption then must not lose the draws
    for text, out in finish(lambda: texts(results, how.object, output, several=len(audits) > 1))[0]:
        emit(text, out)
    if how.plot is not None:
        draw_plot(results, how.plot)
    verdicts = {result.verdict(how.object) for result in results}
    if "refuted" in verdicts:
        return EXIT_REFUTED
    whole = len(results) == len(audits) and "undecided" not in verdicts
    return EXIT_FINE if whole else EXIT_UNDECIDED
