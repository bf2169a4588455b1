"""Does this mechanism keep the epsilon it claims?  ``python -m audit.epsilon_estimate``.

Without arguments: each mechanism of the paper, on the worst neighbouring data sets that the exact analysis finds.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from audit.bounds import METHODS, StoppingRule
from audit.catalogue import CATALOGUE
from audit.distinguish import SMALLEST_DRAWS, estimate
from audit.estimate_report import Audit, Result, as_text
from audit.events import FAMILIES, IDEAL
from audit.privacy import setting_from
from audit.releases import RELEASES, CoefficientRelease
from audit.rerun import rerun_command
from audit.subjects import rebuild
from reference.budgets import parse_delta, parse_epsilon
from reference.errors import ReadingError
from reference.files import json_text
from reference.mechanisms import MECHANISMS
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
    run_command,
)

PAPER = tuple(name for name, spec in MECHANISMS.items() if spec.private)

WITNESS_RECORDS = 1000
"""Size of the worst neighbouring data sets where --records does not say: data sets are finite."""


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m audit.epsilon_estimate", description=__doc__)
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
    add_budget_options(top)
    add_data_options(top)
    add_reading_options(top)
    add_output_options(top)
    # no data named: the worst neighbours of the whole domain
    top.set_defaults(data=None)
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
    group.add_argument("--events", default="all", metavar="F,...", help=f"of {', '.join(FAMILIES)} (all)")
    group.add_argument("--bound", choices=METHODS, default="joint", help="from counts to epsilon (joint)")
    group.add_argument(
        "--until",
        type=float,
        metavar="GAP",
        help="stop when the claim is refuted or a loss above it by GAP would have shown; --draws is then the most",
    )
    group.add_argument("--max-seconds", type=float, metavar="T", help="certify for about so long at most")
    group.add_argument("--curve", action="store_true", help="certify epsilon at several deltas together")
    group.add_argument("--plot", metavar="FILE", help="draw the trade-off and the epsilon(delta) curve")
    group.add_argument("--workers", type=int, default=1, metavar="W", help="cores; changes no result (1)")


def describe(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the description from which :func:`audit.subjects.rebuild` makes the subject that the options name.

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
        names = ("domain", "encoding", "intercept", "keep_group", "records", "dimension")
        place = {
            "data": {"name": options.data, "seed": options.data_seed, **{n: getattr(options, n) for n in names}}
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


def build_audit(name: str, options: argparse.Namespace) -> Audit:
    """Return the subject that the options name, with its claim."""
    document = describe(name, options)
    subject = rebuild(document)
    if isinstance(subject, CoefficientRelease):
        claim = subject.claim
        inputs = {
            **subject.neighbours.to_json(),
            "x_s": subject.neighbours.domain.columns[subject.x_s],
            "claim": claim.claim,
            "exact": subject.exact.to_json(),
            "readings": subject.readings.to_json(),
        }
        return Audit(name, subject, document, claim.epsilon, claim.delta, inputs, subject.output_names)
    epsilon = options.epsilon or str(getattr(subject, "claimed_epsilon", 1))
    delta = options.delta or str(getattr(subject, "claimed_delta", 0))
    try:
        left, right = (_plain(given) for given in subject.inputs())
    except Exception as problem:
        raise ReadingError("mechanism", name, f"a subject with two inputs ({problem})") from problem
    return Audit(
        name,
        subject,
        document,
        parse_epsilon("epsilon", epsilon),
        parse_delta("delta", delta),
        {"left": left, "right": right},
        (),
    )


def _plain(given: Any) -> Any:
    """Return an input as JSON: numbers as they are, anything else in words."""
    if isinstance(given, np.ndarray | np.generic):
        return given.tolist()
    return given if isinstance(given, int | float | str | list | tuple) else repr(given)[:1000]


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
        if not 0 < options.significance < 1:
            raise ReadingError("significance", options.significance, "in (0, 1)")
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
            if getattr(options, name) is not None and not getattr(options, name) > 0:
                raise ReadingError(name, getattr(options, name), "positive")
        if options.workers < 1:
            raise ReadingError("workers", options.workers, "at least 1")
        with_curve = options.curve or options.plot is not None
        if with_curve and (options.until is not None or options.max_seconds is not None):
            raise ReadingError("curve", True, "left out with --until and --max-seconds: it needs a fixed size")
        until = None if options.until is None else StoppingRule(options.until)
        return cls(options.draws, options.significance, families, until, with_curve)


def run_audits(audits: Sequence[Audit], options: argparse.Namespace, search: Search, seed: int) -> list[Result]:
    """Run the audits one after another, with a progress bar on standard error; an interruption ends the last one.

    The bar shows how much was drawn, never what was found: nobody can interrupt a run because of its result.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    results: list[Result] = []
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        for audit in audits:
            task = progress.add_task(audit.mechanism, total=search.draws)
            start = time.perf_counter()
            found = estimate(
                audit.subject,
                delta=float(audit.claimed_delta),
                draws=search.draws,
                significance=search.significance,
                rng=np.random.default_rng([seed, *audit.mechanism.encode()]),
                progress=partial(progress.advance, task),
                families=search.families,
                method=options.bound,
                workers=options.workers,
                claimed_epsilon=float(audit.claimed_epsilon),
                max_seconds=options.max_seconds,
                until=search.until,
                with_curve=search.with_curve,
            )
            seconds = round(time.perf_counter() - start, 3)
            rerun = rerun_command("audit.epsilon_estimate", parser(), with_seed(options, seed), [audit.mechanism])
            results.append(Result(audit, found, seconds, seed, rerun))
            if found.stopped == "interrupted":
                break
    return results


def with_seed(options: argparse.Namespace, seed: int) -> argparse.Namespace:
    """Return the options with the seed that was used."""
    return argparse.Namespace(**{**vars(options), "seed": seed})


def command(argv: Sequence[str] | None) -> int:
    """Run the audits that the command line names."""
    options = parser().parse_args(argv)
    search = Search.of(options)
    seed = options.seed if options.seed is not None else secrets.randbits(32)
    audits = [build_audit(name, options) for name in options.mechanism]
    results = run_audits(audits, options, search, seed)
    if options.plot is not None:
        from audit.estimate_plot import draw_results

        draw_results(results, options.plot)
    write(results, options)
    verdicts = {result.verdict(options.object) for result in results}
    if "refuted" in verdicts:
        return EXIT_REFUTED
    return EXIT_UNDECIDED if "undecided" in verdicts else EXIT_FINE


def write(results: Sequence[Result], options: argparse.Namespace) -> None:
    """Print the results; with text output a file named *.json gets the certificates."""
    certificates = options.format == "text" and options.out is not None and Path(options.out).suffix == ".json"
    if certificates:
        documents = [result.certificate(options.object).to_json() for result in results]
        emit(json_text(documents if len(documents) > 1 else documents[0]), options.out)
    if options.format == "json":
        documents = [result.to_json() for result in results]
        text = json_text(documents if len(documents) > 1 else documents[0])
    else:
        text = as_text(results, options.object)
    emit(text, None if certificates else options.out)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
