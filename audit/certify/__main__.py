"""Do a release's scales carry its stated (epsilon, delta)?  ``python -m audit.certify release.json``.

Writes a small Coq file that says so for this release's scales, dimension, domain, basis, fairness reading and
adjacency, and proves it by the theorems of ``proofs/coq``; where coqc is installed, checks it from a clean build.

Exit codes: 0 certified; 1 a scale is too small, and Coq rejects the file; 2 bad input; 3 not decided: no theorem
covers the release, or Coq is not installed, or it was stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from audit.certify.check import SECONDS, Finding, check
from audit.certify.errors import NoTheoremError
from audit.certify.exported import Exported, read_exported
from audit.certify.text import certificate_text
from audit.certify.theorem import Comparison, Covered, covered
from audit.proofs.build import missing
from audit.proofs.sigma import quotient
from reference.errors import ReadingError
from reference.files import json_text
from reference.numbers import decimal_text, short_text
from reference.options import (
    EXIT_FINE,
    EXIT_REFUTED,
    EXIT_UNDECIDED,
    emit,
    require_writable,
    run_command,
    write_file,
)
from reference.registry import MECHANISMS

SCHEMA = "release_certificate_v1.json"

LIMITS = """\
The theorem is about real arithmetic, noise given by its density, and test functions on boxes.  It takes the
file's word for the scales.  The sampler, the floats, the solver and the random generator are outside: nothing here
says that a program is differentially private."""

SEEDED = "the release is seeded: who knows the seed can remove the noise"

EXIT_CODES = {"certified": EXIT_FINE, "rejected": EXIT_REFUTED}


@dataclass(frozen=True)
class Result:
    """What became of one release.

    Parameters
    ----------
    release : Exported
    covered : Covered or None
        None when no theorem covers the release.
    outcome : {'certified', 'rejected', 'no theorem', 'not checked', 'undecided'}
    detail : str
    proof : str or None
        The Coq file.
    """

    release: Exported
    covered: Covered | None
    outcome: str
    detail: str
    proof: str | None

    @property
    def notes(self) -> list[str]:
        """What a reader must know beside the outcome."""
        return [SEEDED] if self.release.seeded else []


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(
        prog="python -m audit.certify",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument(
        "release", metavar="FILE", help="as `fit --release FILE` or `fit --format json --out FILE` writes"
    )
    top.add_argument("--mechanism", choices=list(MECHANISMS), metavar="NAME", help="of several, those of NAME")
    top.add_argument("--number", type=int, metavar="K", help="of several, the K-th, counted from 1")
    top.add_argument("--proof", metavar="FILE", help="the Coq file (the release's name with .v)")
    top.add_argument(
        "--time-limit", type=_seconds, default=SECONDS, metavar="SECONDS", help=f"for Coq ({SECONDS:g})"
    )
    top.add_argument("--format", choices=("text", "json"), default="text")
    top.add_argument("--out", metavar="FILE", help="write to a file, whole or not at all")
    return top


def command(argv: Sequence[str] | None) -> int:
    """Certify the release that the command line names."""
    options = parser().parse_args(argv)
    proof = options.proof or str(Path(options.release).with_suffix(".v"))
    if Path(proof).suffix != ".v":
        raise ReadingError("proof", proof, "a file ending in .v")
    require_writable({"release": options.release}, proof=proof, out=options.out)
    release = read_exported(options.release, options.mechanism, options.number)
    result = _certify(release, proof, options.time_limit)
    document = as_json(result, options.release)
    emit(json_text(document) if options.format == "json" else as_text(result, options.release), options.out)
    return EXIT_CODES.get(result.outcome, EXIT_UNDECIDED)


def _certify(release: Exported, proof: str, seconds: float) -> Result:
    try:
        found = covered(release)
    except NoTheoremError as reason:
        return Result(release, None, "no theorem", str(reason), None)
    text = certificate_text(found)
    write_file("proof", proof, text)
    absent = missing()
    if absent is not None:
        return Result(release, found, "not checked", absent, proof)
    outcome, detail = judged(found, check(text, seconds=seconds))
    return Result(release, found, outcome, detail, proof)


def judged(found: Covered, finding: Finding) -> tuple[str, str]:
    """Return the outcome: what Coq says, beside the same comparisons in Python's exact arithmetic.

    Coq also rejects a file whose proof fails for another reason, so a rejection counts only where a comparison
    fails.
    """
    reached = all(comparison.holds for comparison in found.comparisons)
    if finding.accepted is None:
        return "undecided", finding.detail
    if finding.accepted and reached:
        return "certified", finding.detail
    if not finding.accepted and not reached:
        return "rejected", "Coq rejects the certificate: " + "; ".join(_too_small(found))
    said = "accepts" if finding.accepted else "rejects"
    return "undecided", f"Coq {said} the certificate, and Python's comparison says otherwise: {finding.detail}"


def _too_small(found: Covered) -> Iterator[str]:
    for comparison in found.comparisons:
        if not comparison.holds:
            yield f"{comparison.name} is {_shown(comparison)}"


def _shown(comparison: Comparison) -> str:
    share = comparison.scale / comparison.formula - 1
    side = f"{short_text(abs(share))} of it {'above' if share > 0 else 'below'}" if share else "equal to"
    return f"{float(comparison.scale)!r}, {side} {_formula(comparison)}"


def _formula(comparison: Comparison) -> str:
    if comparison.bounds is None:
        return f"Delta_1 / epsilon = {decimal_text(comparison.formula)}"
    return f"the paper's sigma, at most {float(comparison.formula)!r}"


def certified_pair(result: Result) -> tuple[Fraction, Fraction]:
    """Return the (epsilon, delta) in question: those of the theorem, else what the release states."""
    found = result.release if result.covered is None else result.covered
    return found.epsilon, found.delta


def as_text(result: Result, path: str) -> str:
    """Return the result for a person to read."""
    return "\n".join([*_lines(result, path), "", LIMITS, ""])


def _lines(result: Result, path: str) -> Iterator[str]:
    release, setting = result.release, result.release.setting
    yield f"{result.outcome.upper()}: {path} ({release.spec.name})"
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
        yield from (f"{comparison.name}: {_shown(comparison)}" for comparison in result.covered.comparisons)
    if result.proof is not None:
        yield f"certificate: {result.proof}"
    yield result.detail
    yield from (f"note: {note}" for note in result.notes)


def as_json(result: Result, path: str) -> dict[str, Any]:
    """Return the result as a JSON document; its schema is ``audit/schemas/release_certificate_v1.json``."""
    release, found = result.release, result.covered
    epsilon, delta = certified_pair(result)
    return {
        "schema": SCHEMA,
        "release": path,
        "mechanism": release.spec.name,
        "outcome": result.outcome,
        "detail": result.detail,
        "epsilon": decimal_text(epsilon),
        "delta": decimal_text(delta),
        "published": release.is_published,
        "dimension": release.setting.dimension,
        "x_s": release.x_s,
        "readings": {
            "domain": release.setting.norm,
            "adjacency": release.setting.adjacency,
            "basis": release.setting.basis,
            "fairness": release.setting.fairness,
            "fairness_weight": decimal_text(release.setting.fairness_weight),
            "sensitivity": release.readings.to_json()["sensitivity"],
        },
        "seeded": release.seeded,
        "theorem": None if found is None else found.theorem,
        "claims": [] if found is None else list(found.claims),
        "scales": [] if found is None else [_scale_json(comparison) for comparison in found.comparisons],
        "proof": result.proof,
        "notes": result.notes,
        "limits": " ".join(LIMITS.split()),
    }


def _scale_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "name": comparison.name,
        "value": quotient(comparison.scale).replace(" # ", "/"),
        "at_least": float(comparison.formula),
        "holds": comparison.holds,
    }


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number of seconds")
    return seconds


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
