"""Does this mechanism keep the epsilon it claims?  ``python -m audit.epsilon_estimate``.

Without arguments: each mechanism of the paper, on neighbouring data sets built from the embedded data.
"""

from __future__ import annotations

import argparse
import io
import secrets
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from audit.catalogue import HalfNoiseLaplace, Laplace
from audit.distinguish import SMALLEST_DRAWS, Estimate, estimate
from audit.neighbours import extreme_pair
from audit.subjects import CoefficientRelease, Subject
from reference.accounting import exact_privacy
from reference.budgets import parse_epsilon
from reference.errors import ReadingError
from reference.files import json_text
from reference.mechanisms import MECHANISMS
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
    run_command,
)
from reference.records import Records
from reference.sensitivity import setting_of

PAPER = tuple(name for name, spec in MECHANISMS.items() if spec.private)
PLANTED = {"laplace": Laplace, "laplace_half_noise": HalfNoiseLaplace}

NOT_RULED_OUT = (
    "other neighbouring data sets; other events; losses below what so many draws can show; leaks in the bits of "
    "floating-point noise"
)


@dataclass(frozen=True, eq=False)
class Audit:
    """One subject with its claim.

    Parameters
    ----------
    mechanism : str
    subject : Subject
    claimed_epsilon, claimed_delta : Fraction
    inputs : dict
        The neighbouring inputs, in a form from which they can be built again.
    output_names : tuple of str
        What the coordinates of an output are.
    """

    mechanism: str
    subject: Subject
    claimed_epsilon: Fraction
    claimed_delta: Fraction
    inputs: dict[str, Any]
    output_names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Result:
    """An audit with its estimate."""

    audit: Audit
    estimate: Estimate
    seconds: float
    rerun: str

    @property
    def verdict(self) -> str:
        """Verdict on the ideal mechanism."""
        return self.estimate.verdict(float(self.audit.claimed_epsilon))

    def to_json(self) -> dict[str, Any]:
        """Return the contract's object."""
        counts, event = self.estimate.counts, self.estimate.event
        return {
            "mechanism": self.audit.mechanism,
            "claimed_epsilon": float(self.audit.claimed_epsilon),
            "claimed_delta": decimal_text(self.audit.claimed_delta),
            "epsilon_lower_bound": self.estimate.epsilon_lower_bound,
            "significance": self.estimate.significance,
            "detectable_epsilon": self.estimate.detectable_epsilon(float(self.audit.claimed_epsilon)),
            "largest_certifiable_epsilon": self.estimate.largest_certifiable_epsilon,
            "draws": self.estimate.draws,
            "seconds": self.seconds,
            "verdict": self.verdict,
            "implementation_verdict": "undecided",
            "witness": {
                "inputs": self.audit.inputs,
                "output": list(self.audit.output_names),
                "event": event.to_json(),
                "counts": {
                    "likely": counts.likely,
                    "likely_draws": counts.likely_draws,
                    "unlikely": counts.unlikely,
                    "unlikely_draws": counts.unlikely_draws,
                },
            },
            "not_ruled_out": NOT_RULED_OUT,
            "rerun": self.rerun,
        }


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m audit.epsilon_estimate", description=__doc__)
    top.add_argument(
        "mechanism",
        nargs="*",
        default=list(PAPER),
        metavar="MECHANISM",
        help=f"one or more of {', '.join([*PAPER, *PLANTED])} (the paper's {len(PAPER)})",
    )
    top.add_argument(
        "--draws", type=int, default=1_000_000, metavar="N", help="all phases, both inputs (1,000,000)"
    )
    top.add_argument(
        "--significance", type=float, default=0.05, metavar="S", help="chance that a bound is wrong (0.05)"
    )
    add_budget_options(top)
    add_data_options(top)
    add_reading_options(top)
    add_output_options(top)
    return top


def build_audit(name: str, options: argparse.Namespace, records: Records | None) -> Audit:
    """Return the audit of one mechanism under the options; `records` is None for the planted ones."""
    if name in PLANTED:
        claimed = parse_epsilon("epsilon", options.epsilon or "1")
        planted = PLANTED[name](float(claimed))
        left, right = planted.inputs()
        return Audit(name, planted, claimed, Fraction(0), {"left": left, "right": right}, ("output",))
    if name not in PAPER or records is None:
        raise ReadingError("mechanism", name, "one of " + ", ".join([*PAPER, *PLANTED]))
    spec = MECHANISMS[name]
    readings = readings_from(options, spec)
    domain = records.domain
    budget = budget_from(options, spec, domain.dimension)
    if budget is None:
        raise ReadingError("mechanism", name, "one that adds noise")
    x_s = domain.coordinate(options.x_s) if options.x_s is not None else domain.selectable[0]
    claim = spec.statement(domain, budget, readings, x_s) or spec.formula(domain, budget, readings)
    pair = extreme_pair(records, options.data, readings, spec.noise(domain, budget, readings, x_s))
    subject = CoefficientRelease(spec, budget, readings, x_s, pair)
    inputs = {
        **pair.to_json(),
        "x_s": domain.columns[x_s],
        "claim": claim.claim,
        "exact": exact_privacy(setting_of(domain, readings), subject.noise, claim, budget.delta).to_json(),
        "readings": readings.to_json(),
    }
    names = tuple(subject.layout.names)
    return Audit(name, subject, claim.epsilon, claim.delta, inputs, names)


def run_audits(audits: Sequence[Audit], options: argparse.Namespace, seed: int) -> list[Result]:
    """Run the audits one after another, with a progress bar on standard error."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    results = []
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        for audit in audits:
            task = progress.add_task(audit.mechanism, total=options.draws)
            start = time.perf_counter()
            found = estimate(
                audit.subject,
                delta=float(audit.claimed_delta),
                draws=options.draws,
                significance=options.significance,
                rng=np.random.default_rng([seed, *audit.mechanism.encode()]),
                progress=partial(progress.advance, task),
            )
            seconds = round(time.perf_counter() - start, 3)
            results.append(Result(audit, found, seconds, rerun_command(audit.mechanism, options, seed)))
    return results


def rerun_command(name: str, options: argparse.Namespace, seed: int) -> str:
    """Return the command that repeats one audit, draw for draw."""
    defaults = vars(parser().parse_args([]))
    words = ["python", "-m", "audit.epsilon_estimate", name]
    for option, value in vars(options).items():
        if option in ("mechanism", "seed", "out", "format") or value == defaults[option]:
            continue
        flag = "--" + option.replace("_", "-")
        words.extend([flag] if value is True else [flag, str(value)])
    return shlex.join([*words, "--seed", str(seed)])


def as_text(results: Sequence[Result]) -> str:
    """Return the results as a table, with the witnesses below."""
    table = Table(title="Does the mechanism keep the epsilon it claims?")
    for heading in ("mechanism", "claim", "epsilon at least", "significance", "detectable", "draws"):
        table.add_column(heading)
    table.add_column("seconds")
    table.add_column("verdict")
    for result in results:
        audit, found = result.audit, result.estimate
        claimed = float(audit.claimed_epsilon)
        detectable = found.detectable_epsilon(claimed)
        claim = f"({claimed:g}, {float(audit.claimed_delta):g})"
        table.add_row(
            audit.mechanism,
            f"{audit.inputs['claim']}: {claim}" if "claim" in audit.inputs else claim,
            f"{found.epsilon_lower_bound:.4f}",
            f"{found.significance:g}",
            "nothing" if detectable is None else f"{detectable:.3f}",
            f"{found.draws:,}",
            f"{result.seconds:.1f}",
            result.verdict,
        )
    buffer = io.StringIO()
    console = Console(file=buffer, width=120, highlight=False)
    console.print(table)
    level = 1 - results[0].estimate.significance
    console.print(
        f"Each lower bound holds with probability {level:g} on its own, for the pair of inputs below. Detectable: "
        "the smallest epsilon that so many draws would show in nine runs of ten, given the best event.",
        soft_wrap=True,
    )
    for result in results:
        for line in _witness_lines(result):
            console.print(line, soft_wrap=True, markup=False)
    console.print(f"Not ruled out: {NOT_RULED_OUT}.", soft_wrap=True, markup=False)
    return buffer.getvalue()


def _witness_lines(result: Result) -> list[str]:
    counts, event, inputs = result.estimate.counts, result.estimate.event, result.audit.inputs
    described = event.to_json()
    what = described["score"] + " score"
    if "coordinate" in described:
        what = result.audit.output_names[described["coordinate"]]
    lines = [f"{result.audit.mechanism}:"]
    if "shared_records" in inputs:
        lines.append(f"  inputs: {inputs['shared_records']}, plus")
        lines.extend(f"    {side}: {_record_text(inputs[side + '_record'])}" for side in ("left", "right"))
    else:
        lines.append(f"  inputs: {inputs['left']:g} against {inputs['right']:g}")
    lines.append(
        f"  event: {what} {described['relation']} {event.threshold:.6g}, "
        f"on {event.likely_input} {counts.likely:,} of {counts.likely_draws:,}, "
        f"on the other {counts.unlikely:,} of {counts.unlikely_draws:,}"
    )
    lines.append(f"  again: {result.rerun}")
    return lines


def _record_text(record: dict[str, Any] | None) -> str:
    if record is None:
        return "no further record"
    values = sorted(set(record["x"].values()))
    if len(values) == 1:
        x = f"x = {values[0]:.4g} in every coordinate"
    else:
        x = "x = " + ", ".join(f"{name}: {value:.4g}" for name, value in record["x"].items() if value) + ", else 0"
    return f"{x}; y = {record['y']}" + ("" if record["z"] is None else f"; z = {record['z']}")


def command(argv: Sequence[str] | None) -> int:
    """Run the audits that the command line names."""
    options = parser().parse_args(argv)
    if not 0 < options.significance < 1:
        raise ReadingError("significance", options.significance, "in (0, 1)")
    if options.draws < SMALLEST_DRAWS:
        raise ReadingError("draws", options.draws, f"at least {SMALLEST_DRAWS}")
    seed = options.seed if options.seed is not None else secrets.randbits(32)
    if seed < 0:
        raise ReadingError("seed", seed, "at least 0")
    needs_data = any(name in PAPER for name in options.mechanism)
    records = records_from(options) if needs_data else None
    audits = [build_audit(name, options, records) for name in options.mechanism]
    results = run_audits(audits, options, seed)
    if options.format == "json":
        documents = [result.to_json() for result in results]
        text = json_text(documents if len(documents) > 1 else documents[0])
    else:
        text = as_text(results)
    emit(text, options.out)
    verdicts = {result.verdict for result in results}
    if "refuted" in verdicts:
        return EXIT_REFUTED
    return EXIT_UNDECIDED if "undecided" in verdicts else EXIT_FINE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
