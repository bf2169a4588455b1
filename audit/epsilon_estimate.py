"""Does this mechanism keep the epsilon it claims?  ``python -m audit.epsilon_estimate``.

Without arguments: each mechanism of the paper, on the worst neighbouring data sets that the exact analysis finds.
"""

from __future__ import annotations

import argparse
import math
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from audit.bounds import SMALLEST_SIGNIFICANCE, StoppingRule
from audit.bounds.counts import LARGEST_EPSILON
from audit.catalogue import CATALOGUE
from audit.choose import Prospect
from audit.curve import CURVE_DELTAS
from audit.descriptions import rebuild
from audit.distinguish import BOUNDS, LARGEST_DRAWS, SMALLEST_DRAWS, estimate, silent
from audit.estimate_plot import ENDINGS
from audit.estimate_report import Audit, Result, as_text
from audit.events import FAMILIES, IDEAL
from audit.interruption import finish
from audit.neighbour_search import AtPair, searchable
from audit.neighbour_search import search as search_neighbours
from audit.neighbour_search.search import SEARCH_SHARE
from audit.privacy import setting_from
from audit.programs import ProgramSubject
from audit.programs.options import add_program_options, program_audit, refuse_program_options
from audit.programs.signals import programs_ended_too
from audit.releases import RELEASES, CoefficientRelease
from audit.rerun import rerun_command
from audit.selection import Plan
from audit.stated import inputs_of_pair, stated_inputs
from audit.subjects import FAILURES, SubjectError
from reference.budgets import parse_delta, parse_epsilon
from reference.datasets import SOURCES
from reference.domain import NORMS
from reference.errors import ReadingError
from reference.files import json_text
from reference.numbers import decimal_text
from reference.options import (
    EXIT_FINE,
    EXIT_REFUTED,
    EXIT_UNDECIDED,
    add_budget_options,
    add_data_options,
    add_output_options,
    add_reading_options,
    budget_from,
    emit,
    readings_from,
    records_from,
    require_writable,
    run_command,
)
from reference.registry import MECHANISMS

PAPER = tuple(name for name, spec in MECHANISMS.items() if spec.private)

SEARCH_STREAM = 1
"""Keeps the search's draws apart from the estimate's."""

SMALLEST_SEARCHED_DRAWS = 10_000
"""Of an audit with a search: with fewer, a search has too few draws per pair."""

WITNESS_RECORDS = 1000
"""Size of the worst neighbouring data sets where --records does not say: data sets are finite."""


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m audit.epsilon_estimate", description=__doc__, allow_abbrev=False)
    top.add_argument(
        "mechanism",
        nargs="*",
        default=list(PAPER),
        metavar="MECHANISM",
        help=f"{', '.join([*PAPER, *CATALOGUE])}, or package.module:attribute (the paper's {len(PAPER)})",
    )
    top.add_argument(
        "--draws", type=int, default=1_000_000, metavar="N", help="all phases, both inputs (1,000,000)"
    )
    top.add_argument(
        "--significance", type=float, default=0.05, metavar="S", help="chance that a bound is wrong (0.05)"
    )
    add_search_options(top)
    add_program_options(top)
    add_budget_options(top)
    add_data_options(top)
    add_reading_options(top)
    add_output_options(top)
    # no data named: the worst neighbours of the whole domain, in the norm of the paper
    top.set_defaults(data=None, domain="unit_ball", encoding="ordinal")
    return top


def add_search_options(parser: argparse.ArgumentParser) -> None:
    """Add what is audited of a mechanism, and how."""
    group = parser.add_argument_group("audit")
    group.add_argument(
        "--release", choices=RELEASES, default="coefficients", help="what our mechanisms publish (coefficients)"
    )
    group.add_argument(
        "--object",
        choices=("ideal", "implementation"),
        default="ideal",
        help="whose verdict sets the exit code: outputs quantised, or every bit (ideal)",
    )
    group.add_argument(
        "--search",
        action="store_true",
        help=f"search the declared domain for the worst pair, with {SEARCH_SHARE:.0%}% of the draws",
    )
    group.add_argument("--events", default="all", metavar="F,...", help=f"of {', '.join(FAMILIES)} (all)")
    group.add_argument(
        "--bound",
        choices=BOUNDS,
        default="auto",
        help="from counts to epsilon; auto: joint, or conditional for rare events at delta 0, fixed on selection "
        "draws (auto)",
    )
    group.add_argument(
        "--until",
        type=float,
        metavar="GAP",
        help="stop when the claim is refuted or a loss above it by GAP would have shown; --draws is then the most",
    )
    group.add_argument(
        "--max-seconds", type=float, metavar="T", help="search and certify for about so long at most"
    )
    group.add_argument("--curve", action="store_true", help="certify epsilon at several deltas together")
    group.add_argument("--plot", metavar="FILE", help="draw the trade-off and the epsilon(delta) curve")
    group.add_argument("--workers", type=int, default=1, metavar="W", help="cores; changes no result (1)")


def describe(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the description from which :func:`audit.descriptions.rebuild` makes the subject of the options.

    Raises
    ------
    reference.errors.InputError
        An unknown name lists the known ones.
    """
    if ":" in name:
        return {"kind": "import", "path": name}
    if name in CATALOGUE:
        parameters: dict[str, Any] = {}
        if options.epsilon is not None:
            parameters["epsilon"] = float(parse_epsilon("epsilon", options.epsilon))
        if options.delta is not None and name == "gaussian":
            parameters["delta"] = options.delta
        return {"kind": "catalogue", "name": name, "parameters": parameters}
    if name not in PAPER:
        raise ReadingError(
            "mechanism", name, f"one of {', '.join([*PAPER, *CATALOGUE])}, or package.module:attribute"
        )
    spec = MECHANISMS[name]
    readings = readings_from(options, spec)
    _check_data(options)
    if options.data is None:
        for option in ("intercept", "keep_group"):
            if getattr(options, option):
                raise ReadingError(
                    option, True, "left out without --data: the worst neighbours have features only"
                )
        setting = setting_from(options, readings)
        dimension = setting.dimension
        place: dict[str, Any] = {
            "setting": {
                "dimension": dimension,
                "records": setting.records or WITNESS_RECORDS,
                "domain": setting.norm,
            }
        }
    else:
        dimension = records_from(options).domain.dimension
        names = ("intercept", "keep_group", "records", "dimension")
        place = {
            "data": {
                "name": options.data,
                "seed": options.data_seed,
                "domain": options.domain or "unit_ball",
                "encoding": options.encoding or "ordinal",
                **{n: getattr(options, n) for n in names},
            }
        }
    budget = budget_from(options, spec, dimension)
    if budget is None:
        raise ReadingError("mechanism", name, "one that adds noise")
    return {
        "kind": "mechanism",
        "mechanism": name,
        "release": options.release,
        "budget": budget.to_json(),
        "readings": readings.to_json(),
        "x_s": options.x_s,
        **place,
    }


def build_audits(options: argparse.Namespace) -> list[Audit]:
    """Return what the options name: mechanisms, or a program, which is started.

    Raises
    ------
    reference.errors.InputError
    """
    if options.program is None:
        refuse_program_options(options)
        for name in options.mechanism:
            if options.mechanism.count(name) > 1:
                # one seed would give the same draws twice, which look like two results
                raise ReadingError("mechanism", name, "named once; another --seed gives another run")
        return [build_audit(name, options) for name in options.mechanism]
    if options.mechanism != list(PAPER):
        raise ReadingError("mechanism", ", ".join(options.mechanism), "left out with --program")
    return [program_audit(options)]


def _check_data(options: argparse.Namespace) -> None:
    """Reject what names records that a certificate could not be rebuilt from: a file of one's own."""
    if options.data is not None and options.data not in SOURCES:
        raise ReadingError("data", options.data, "one of " + ", ".join(SOURCES) + "; files are not audited")
    if options.domain not in NORMS:
        raise ReadingError(
            "domain", options.domain, "one of " + ", ".join(NORMS) + "; domain files are not audited"
        )
    for option in ("label", "group", "domain_file"):
        if getattr(options, option) is not None:
            raise ReadingError(option, getattr(options, option), "left out: files are not audited")


def build_audit(name: str, options: argparse.Namespace) -> Audit:
    """Return the subject that the options name, with its claim."""
    document = describe(name, options)
    subject = rebuild(document)
    if not options.search and not hasattr(subject, "inputs"):
        raise SubjectError(f"{name} has no inputs(): --search searches its declared domain for them")
    try:
        inputs = stated_inputs(subject) if hasattr(subject, "inputs") else {}
    except FAILURES as problem:
        if isinstance(subject, CoefficientRelease):
            raise
        raise ReadingError("mechanism", name, f"a subject with two inputs ({problem})") from problem
    if isinstance(subject, CoefficientRelease):
        claim = subject.claim
        return Audit(name, subject, document, claim.epsilon, claim.delta, inputs, subject.output_names)
    epsilon = options.epsilon or str(getattr(subject, "claimed_epsilon", 1))
    delta = options.delta or str(getattr(subject, "claimed_delta", 0))
    return Audit(
        name,
        subject,
        document,
        parse_epsilon("epsilon", epsilon),
        parse_delta("delta", delta),
        inputs,
        (),
    )


def search_pair(
    audit: Audit,
    search: Search,
    rng: np.random.Generator,
    *,
    workers: int = 1,
    max_seconds: float | None = None,
    progress: Callable[[int], None] = silent,
) -> tuple[Audit, int]:
    """Return the audit on the worst pair that a search finds, and how many draws that cost.

    Raises
    ------
    reference.errors.InputError
        When the subject declares no domain of inputs.
    """
    subject, neighbourhood = searchable(audit.subject)
    draws = int(search.draws * SEARCH_SHARE)
    delta = float(audit.claimed_delta)
    certify = Plan.of(search.draws - draws, 1, learning=True).certify
    found = search_neighbours(
        subject,
        neighbourhood,
        draws=draws,
        prospect=Prospect(certify, delta, search.significance),
        rng=rng,
        workers=workers,
        max_seconds=None if max_seconds is None else max_seconds * SEARCH_SHARE,
        progress=progress,
    )
    note = {
        "origin": found.origin,
        "pairs_tried": found.tried,
        "draws": found.draws,
        "stopped": found.stopped,
    }
    document = {"kind": "pair", "subject": audit.document, "pair": neighbourhood.to_json(found.pair)}
    inputs = {**inputs_of_pair(subject, found.pair, audit.inputs), "search": note}
    return replace(audit, subject=AtPair(subject, found.pair), document=document, inputs=inputs), found.draws


@dataclass(frozen=True)
class Search:
    """How the audits are run: the options that are not the subject's, checked."""

    draws: int
    significance: float
    families: tuple[str, ...]
    until: StoppingRule | None
    with_curve: bool

    @classmethod
    def of(cls, options: argparse.Namespace) -> Search:
        """Return the checked options."""
        with_curve = options.curve or options.plot is not None
        smallest = SMALLEST_SIGNIFICANCE * (len(CURVE_DELTAS) + 1 if with_curve else 1)
        if not smallest <= options.significance < 1:
            raise ReadingError("significance", options.significance, f"in [{smallest:g}, 1)")
        if options.draws > LARGEST_DRAWS:
            raise ReadingError("draws", options.draws, f"at most {LARGEST_DRAWS:,}")
        if options.draws < SMALLEST_DRAWS:
            raise ReadingError(
                "draws",
                options.draws,
                f"at least {SMALLEST_DRAWS:,}, so that each phase has some; epsilon 1 needs about 2,000",
            )
        families = FAMILIES if options.events == "all" else tuple(options.events.split(","))
        unknown = [family for family in families if family not in FAMILIES]
        if unknown or not any(family in IDEAL for family in families):
            raise ReadingError("events", options.events, f"some of {', '.join(FAMILIES)}, and not bits alone")
        for name in ("until", "max_seconds"):
            if getattr(options, name) is not None and not 0 < getattr(options, name) < math.inf:
                raise ReadingError(name, getattr(options, name), "positive and finite")
        if options.search and options.draws < SMALLEST_SEARCHED_DRAWS:
            raise ReadingError("draws", options.draws, f"at least {SMALLEST_SEARCHED_DRAWS:,} with --search")
        if options.workers < 1:
            raise ReadingError("workers", options.workers, "at least 1")
        if with_curve and (options.until is not None or options.max_seconds is not None):
            raise ReadingError("curve", True, "left out with --until and --max-seconds: it needs a fixed size")
        until = None if options.until is None else StoppingRule(options.until)
        return cls(options.draws, options.significance, families, until, with_curve)


def run_audits(audits: Sequence[Audit], options: argparse.Namespace, search: Search, seed: int) -> list[Result]:
    """Run the audits one after another, with a progress bar on standard error; an interruption ends the last one.

    Then there are fewer results than audits, or the last one is partial.
    The bar shows how much was drawn, never what was found: nobody can interrupt a run because of its result.
    """
    for audit in audits:
        if audit.claimed_epsilon > LARGEST_EPSILON:
            # exp(epsilon) would have no double
            most = f"at most {LARGEST_EPSILON:g} to be audited"
            raise ReadingError("epsilon", decimal_text(audit.claimed_epsilon), most)
        if options.bound == "conditional" and audit.claimed_delta > 0:
            raise ReadingError("bound", options.bound, f"left to delta 0; {audit.mechanism} claims more")
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    results: list[Result] = []
    console = Console(stderr=True)
    # elsewhere than on a terminal it would leave an empty line before an error of one line
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        for named in audits:
            audit, spent = named, 0
            task = progress.add_task(audit.mechanism, total=search.draws)
            start = time.perf_counter()
            try:
                if options.search:
                    # a stream of its own; the pair is fixed before any draw of the estimate is made
                    search_rng = np.random.default_rng([seed, *audit.mechanism.encode(), SEARCH_STREAM])
                    audit, spent = search_pair(
                        audit,
                        search,
                        search_rng,
                        workers=options.workers,
                        max_seconds=options.max_seconds,
                        progress=partial(progress.advance, task),
                    )
                    if audit.inputs["search"]["stopped"] == "interrupted":
                        progress.console.print("search interrupted: the best pair so far is audited")
                found = estimate(
                    audit.subject,
                    delta=float(audit.claimed_delta),
                    draws=search.draws - spent,
                    significance=search.significance,
                    rng=np.random.default_rng([seed, *audit.mechanism.encode()]),
                    progress=partial(progress.advance, task),
                    families=search.families,
                    method=options.bound,
                    workers=options.workers,
                    claimed_epsilon=float(audit.claimed_epsilon),
                    max_seconds=_remaining(options.max_seconds, start),
                    until=search.until,
                    with_curve=search.with_curve,
                )
            except KeyboardInterrupt:
                # nothing was certified yet: the audits before this one stand
                break
            found = replace(found, draws=found.draws + spent, requested_draws=found.requested_draws + spent)
            seconds = round(time.perf_counter() - start, 3)
            words = [] if isinstance(audit.subject, ProgramSubject) else [audit.mechanism]
            rerun = rerun_command("audit.epsilon_estimate", parser(), with_seed(options, seed), words)
            results.append(Result(audit, found, seconds, seed, rerun))
            if found.interrupted:
                break
    return results


def _remaining(max_seconds: float | None, start: float) -> float | None:
    """Return what a search has left of the time; at least one look at the counts is always made."""
    return None if max_seconds is None else max(0.0, max_seconds - (time.perf_counter() - start))


def with_seed(options: argparse.Namespace, seed: int) -> argparse.Namespace:
    """Return the options with the seed that was used."""
    return argparse.Namespace(**{**vars(options), "seed": seed})


def command(argv: Sequence[str] | None) -> int:
    """Run the audits that the command line names."""
    options = parser().parse_args(argv)
    search = Search.of(options)
    # before anything is drawn
    require_writable({"inputs": options.inputs}, out=options.out, plot=options.plot)
    if options.plot is not None and Path(options.plot).suffix not in ENDINGS:
        raise ReadingError("plot", options.plot, f"a file that ends in {', '.join(ENDINGS)}")
    seed = options.seed if options.seed is not None else secrets.randbits(32)
    try:
        audits = build_audits(options)
    except KeyboardInterrupt:
        # a program may take its time for its first answer
        sys.stderr.write("interrupted: nothing audited\n")
        return EXIT_UNDECIDED
    results = run_audits(audits, options, search, seed)
    for audit in audits:
        if isinstance(audit.subject, ProgramSubject):
            audit.subject.finish()
    missing = [audit.mechanism for audit in audits[len(results) :]]
    if missing:
        sys.stderr.write(f"interrupted: {', '.join(missing)} not audited\n")
    if not results:
        return EXIT_UNDECIDED
    write(results, options, several=len(audits) > 1)
    if options.plot is not None:
        draw_plot(results, options.plot)
    verdicts = {result.verdict(options.object) for result in results}
    if "refuted" in verdicts:
        return EXIT_REFUTED
    return EXIT_UNDECIDED if missing or "undecided" in verdicts else EXIT_FINE


def write(results: Sequence[Result], options: argparse.Namespace, *, several: bool) -> None:
    """Print the results, as a list where several were asked for; with text a file *.json gets the certificates."""
    certificates = options.format == "text" and options.out is not None and Path(options.out).suffix == ".json"

    def texts() -> list[tuple[str, str | None]]:
        written: list[tuple[list[dict[str, Any]], str | None]] = []
        if certificates:
            written.append(([result.certificate(options.object).to_json() for result in results], options.out))
        if options.format == "json":
            written.append(([result.to_json() for result in results], options.out))
        found = [(json_text(documents if several else documents[0]), out) for documents, out in written]
        if options.format == "text":
            found.append((as_text(results, options.object), None if certificates else options.out))
        return found

    # what so many draws could have shown takes seconds to compute: an interruption there must not lose the draws
    for text, out in finish(texts)[0]:
        emit(text, out)


def draw_plot(results: Sequence[Result], path: str) -> None:
    """Draw the results that have a curve; say so where none has: an interrupted audit has no fixed size."""
    from audit.estimate_plot import draw_results

    drawn = [result for result in results if result.estimate.curve is not None]
    if drawn:
        draw_results(drawn, path)
    else:
        sys.stderr.write(f"interrupted: {path} not drawn\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    with programs_ended_too():
        return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
