"""Check the machine-checked proofs from scratch: ``python -m audit.proofs``.

Compiles a clean copy, compares statements, definitions and axioms with the committed ones, and tries the wrong
constants.  Exit code 0 when all agree, 1 when something differs, 3 when the proofs cannot be checked here.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from audit.proofs import constants, pages, scales
from audit.proofs.build import NOT_CHECKED, Answers, CoqStoppedError, ProofError, missing
from audit.proofs.check import RENEW, committed, compiled, differences, document, write
from audit.proofs.claims import rows
from audit.proofs.kernel import checker_missing, recheck
from audit.proofs.mutants import MUTANTS, rejected
from audit.proofs.sources import PROJECT, source_problems
from audit.proofs.status import LIMITS
from audit.proofs.status import write as write_status
from reference.options import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED, emit, run_command


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m audit.proofs", description=__doc__, allow_abbrev=False)
    top.add_argument("--out", metavar="FILE", help="write to a file, whole or not at all")
    top.add_argument(
        "--write",
        action="store_true",
        help="renew the generated Coq files, the committed digests and proofs/STATUS.md",
    )
    top.add_argument("--coqchk", action="store_true", help="have the compiled files read again by coqchk, too")
    return top


def command(argv: Sequence[str] | None) -> int:
    """Check the proofs."""
    options = parser().parse_args(argv)
    reason = missing() or (checker_missing() if options.coqchk else None)
    if reason is not None:
        emit(f"{reason}\n", options.out)
        return EXIT_UNDECIDED
    try:
        return _check(options)
    except CoqStoppedError as problem:
        emit(f"{NOT_CHECKED}: {problem}\n", options.out)
        return EXIT_UNDECIDED


def _check(options: argparse.Namespace) -> int:
    if options.write:
        constants.write()
        scales.write()
    problems = [*source_problems(PROJECT), *_stale()]
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        try:
            # to renew the digests takes each theorem's own axioms
            copy, answers = compiled(Path(scratch), stored=None if options.write else committed())
        except ProofError as error:
            problems.append(str(error))
        else:
            if options.write:
                write(answers)
                write_status()
            problems += [*differences(answers, committed()), *_survivors(copy)]
            problems += pages.problems(rows(), committed())
            problems += recheck(copy) if options.coqchk else ()
            lines = list(_summary(answers))
    emit("\n".join([*lines, *(f"problem: {problem}" for problem in problems), "", LIMITS]), options.out)
    return EXIT_REFUTED if problems else EXIT_FINE


def _stale() -> Iterator[str]:
    """Yield the generated Coq files that are not what the Python code gives now."""
    for module in (constants, scales):
        if (PROJECT / module.FILE).read_text(encoding="utf-8") != module.text():
            yield f"{module.FILE}: the numbers of the Python code have changed; renew it: {RENEW}"


def _survivors(copy: Path) -> Iterator[str]:
    for mutant in MUTANTS:
        if not rejected(copy, mutant):
            yield f"{mutant.theorem}: Coq accepts {mutant.new} for {mutant.old}"


def _summary(answers: Answers) -> Iterator[str]:
    levels = [row["level"] for row in document(answers)["theorems"].values()]
    yield f"Coq {answers.coq}: {len(levels)} theorems, {len(answers.definitions)} definitions that they mention"
    for level in dict.fromkeys(levels):
        yield f"assuming {level}: {levels.count(level)}"
    yield f"wrong constants tried: {len(MUTANTS)}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
