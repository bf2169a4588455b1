"""``python -m audit certify``: whether a release's scales carry its stated (epsilon, delta)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from audit.commands.text import columns, fitted
from audit.proofs.build import missing
from audit.proofs.releases.check import SECONDS, CompilerWatch, check
from audit.proofs.releases.composed import LIMITS as COMPOSED_LIMITS
from audit.proofs.releases.composed import Composed, ComposedResult, composed, composed_certificate
from audit.proofs.releases.composed_text import composed_text
from audit.proofs.releases.errors import NoTheoremError
from audit.proofs.releases.exported import Exported, read_exported
from audit.proofs.releases.result import Outcome, Result, certificate_of, certified_pair, judged, shown
from audit.proofs.releases.text import certificate_text
from audit.proofs.releases.theorem import covered
from reference.commands.file_names import FileName, WrittenFile
from reference.commands.options import FileOptions, emit, write_file
from reference.commands.parsing import argument, option
from reference.commands.parsing import command as make_command
from reference.commands.progress import ProgressBar
from reference.common.documents import plain
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED
from reference.common.files import json_text
from reference.common.numbers import decimal_text, is_number_text, rounded_up
from reference.registry import MECHANISMS
from reference.repaired.released import is_repaired, load_repaired

LONGEST = 24
"""Most characters of a number on a line; --format json has longer ones in full."""

EXIT_CODES = {"certified": EXIT_FINE, "rejected": EXIT_REFUTED}


class Seconds(click.ParamType[float]):
    """A positive, finite number of seconds."""

    name = "seconds"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        seconds = float(str(value)) if is_number_text(str(value)) else 0.0
        if not 0 < seconds < float("inf"):
            self.fail(f"{value!r} is not a positive number of seconds", param, ctx)
        return seconds


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """Release."""

    release: str = argument(type=FileName(), metavar="FILE", line="what `fit` wrote")
    mechanism: str | None = option(
        "--mechanism",
        type=click.Choice(list(MECHANISMS)),
        metavar="NAME",
        help="among several releases, those of NAME",
    )
    number: int | None = option("--number", type=int, metavar="K", help="which of several releases, from 1")
    proof: str | None = option(
        "--proof", type=WrittenFile(), metavar="FILE", help="write the Coq file here (ends in .v)"
    )
    time_limit: float = option(
        "--time-limit", type=Seconds(), default=SECONDS, metavar="SECONDS", help=f"for Coq ({SECONDS:g})"
    )


@make_command(
    "certify",
    ReleaseOptions,
    FileOptions,
    example="python -m audit certify release.json --proof release.v",
)
def command(options: ReleaseOptions, output: FileOptions) -> int:
    """Certify that a release's scales carry its stated (epsilon, delta).

    Writes a small Coq file (`--proof`) that says so for this release's scales, dimension, domain, basis, fairness
    reading and adjacency, with the proof from the theorems of proofs/coq. Where coqc is installed, it checks the
    file from a clean build.

    FILE: as `fit --release FILE` or `fit --format json --out FILE` writes.

    Exit codes: 0 certified; 1 a scale is too small, and Coq rejects the file; 2 bad input; 3 not decided: no
    theorem covers the release, or Coq is not installed, or it was stopped. The first line says also without Coq
    if a scale is too small.
    """
    if options.proof is not None and Path(options.proof).suffix != ".v":
        raise ReadingError("proof", options.proof, "a file ending in .v")
    if is_repaired(options.release):
        return _repaired(options, output)
    release = read_exported(options.release, options.mechanism, options.number)
    result = _certify(release, options.proof, options.time_limit)
    if output.format == "json":
        text = json_text(plain(certificate_of(result, options.release)))
    else:
        text = as_text(result, options.release, columns(output.out))
    emit(text, output.out)
    return EXIT_CODES.get(result.outcome, EXIT_UNDECIDED)


@contextmanager
def watched_coq() -> Iterator[CompilerWatch]:
    """Explain the wait at a terminal, and show there which file Coq is at."""
    if sys.stderr.isatty():
        sys.stderr.write("Coq checks the proof: 20 to 60 seconds, unless the machine is busy\n")
    with ProgressBar("Coq") as progress:

        def watch(name: str, done: int, of: int) -> None:
            progress.total, progress.n = of, done
            progress.set_description_str(f"Coq: {name}")

        yield watch


def _certify(release: Exported, proof: str | None, seconds: float) -> Result:
    try:
        found = covered(release)
    except NoTheoremError as reason:
        return Result(release, None, "no theorem", str(reason), None)
    text = certificate_text(found)
    if proof is not None:
        write_file("proof", proof, text)
    absent = missing()
    if absent is not None:
        return Result(release, found, "not checked", absent, proof)
    with watched_coq() as watch:
        outcome, detail = judged(found, check(text, seconds=seconds, watch=watch))
    return Result(release, found, outcome, detail, proof)


def _repaired(options: ReleaseOptions, output: FileOptions) -> int:
    """Certify a release of the repaired mechanism, which consists of several."""
    for name in ("mechanism", "number"):
        if getattr(options, name) is not None:
            raise ReadingError(
                name, getattr(options, name), "left out: the file contains one release, of repaired"
            )
    found = composed(load_repaired(options.release))
    result = _certify_composed(found, options.proof, options.time_limit)
    if output.format == "json":
        text = json_text(plain(composed_certificate(result, options.release)))
    else:
        text = fitted(
            [*_composed_lines(result, options.release), "", *COMPOSED_LIMITS.splitlines()], columns(output.out)
        )
    emit(text, output.out)
    return EXIT_CODES.get(result.outcome, EXIT_UNDECIDED)


def _certify_composed(found: Composed, proof: str | None, seconds: float) -> ComposedResult:
    try:
        found.require_theorem()
    except NoTheoremError as reason:
        return ComposedResult(found, "no theorem", str(reason), None)
    text = composed_text(found)
    if proof is not None:
        write_file("proof", proof, text)
    absent = missing()
    if absent is not None:
        return ComposedResult(found, "not checked", absent, proof)
    with watched_coq() as watch:
        finding = check(text, seconds=seconds, watch=watch)
    outcome: Outcome = "undecided"
    if finding.accepted is not None and finding.accepted == found.holds:
        outcome = "certified" if found.holds else "rejected"
    return ComposedResult(found, outcome, finding.detail, proof)


def _composed_lines(result: ComposedResult, path: str) -> Iterator[str]:
    found = result.composed
    yield f"{_headline(result.outcome, holds=found.holds)}: {path} (repaired)"
    exactly = decimal_text(found.epsilon)
    # the account of noise on a grid is a long fraction
    epsilon = exactly if len(exactly) <= LONGEST else repr(rounded_up(found.epsilon))
    yield f"states epsilon {epsilon}, delta {decimal_text(found.delta)}, replace_one"
    # of Gaussian noise: how far one person moves the numbers, in standard deviations, squared
    unit = "squared shift" if found.kind == "gaussian" else "epsilon"
    for one in found.entries:
        enough = "" if one.change >= one.needed else f", less than the {decimal_text(one.needed)} that it can"
        numbers = "1 number" if one.numbers == 1 else f"{one.numbers} numbers"
        yield f"{one.what}: {numbers}, {unit} {float(one.loss):.6g}{enough}"
    what = f"{unit}s"
    yield f"{what} add up to {float(found.spent):.12g}, " + (
        "which epsilon and delta allow" if found.holds else "MORE THAN EPSILON AND DELTA ALLOW"
    )
    if result.theorem is not None:
        yield f"theorem: {result.theorem}"
    if result.proof is not None:
        yield f"certificate: {result.proof}"
    yield result.detail
    yield from (f"note: {note}" for note in result.notes)


def _headline(outcome: Outcome, *, holds: bool) -> str:
    """Return the outcome; that a scale is too small is known without Coq."""
    if holds or outcome not in ("not checked", "undecided"):
        return outcome.upper()
    return f"DOES NOT HOLD BY EXACT ARITHMETIC, {outcome.upper()} BY COQ"


def as_text(result: Result, path: str, width: int | None = None) -> str:
    """Return the result as text."""
    return fitted([*_lines(result, path), "", *result.limits.splitlines()], width)


def _lines(result: Result, path: str) -> Iterator[str]:
    release, setting = result.release, result.release.setting
    holds = result.covered is None or result.covered.reached
    yield f"{_headline(result.outcome, holds=holds)}: {path} ({release.spec.name})"
    by = "states" if release.is_published else "states nothing by a theorem of the paper; its budget gives"
    epsilon, delta = certified_pair(result)
    yield f"{by} epsilon {decimal_text(epsilon)}, delta {decimal_text(delta)}, {setting.adjacency}"
    weight = "" if setting.fairness == "none" else f" (alpha_1 {decimal_text(setting.fairness_weight)})"
    yield (
        f"d {setting.dimension}, {setting.norm}, {setting.basis} basis, fairness {setting.fairness}{weight}, "
        f"{release.readings.sensitivity} sensitivity, data sets of every size"
    )
    if result.covered is not None:
        yield f"theorem: {result.covered.theorem} ({', '.join(result.covered.claims)})"
        yield from (f"{comparison.name}: {shown(comparison)}" for comparison in result.covered.comparisons)
    if result.proof is not None:
        yield f"certificate: {result.proof}"
    yield result.detail
    yield from (f"note: {note}" for note in result.notes)
