"""``python -m audit proofs``: check the machine-checked proofs from scratch."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from audit.commands.options import require_checkout
from audit.commands.text import columns, fitted
from audit.proofs import constants, pages, scales
from audit.proofs.build import NOT_CHECKED, Answers, CoqStoppedError, ProofError, missing
from audit.proofs.check import RENEW, committed, compiled, differences, document, write
from audit.proofs.claims import rows
from audit.proofs.mutants import MUTANTS, rejected
from audit.proofs.sources import PROJECT, source_problems
from audit.proofs.status import write as write_status
from reference.commands.options import emit, out_option
from reference.commands.parsing import command as make_command
from reference.commands.parsing import option
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED

LIMITS = """\
The theorems are about real arithmetic.  Floating-point numbers, samplers, solvers and random generators are
outside: nothing here says that a program is differentially private.
"""


@dataclass(frozen=True, kw_only=True)
class ProofOptions:
    """Proofs."""

    write: bool = option(
        "--write",
        is_flag=True,
        help="renew the generated Coq files, digests, the pages' fingerprints and proofs/STATUS.md",
    )
    out: str | None = out_option()


@make_command("proofs", ProofOptions, example="python -m audit proofs")
def command(options: ProofOptions) -> int:
    """Check the machine-checked proofs from scratch.

    Compiles a clean copy, compares statements, definitions and axioms with the committed ones, and checks that Coq
    rejects wrong constants. Exit code 0 when all agree, 1 when something differs, 3 when the proofs cannot be
    checked here.
    """
    if options.write:
        require_checkout("--write")
    width = columns(options.out)
    reason = missing()
    if reason is not None:
        emit(fitted([reason], width), options.out)
        return EXIT_UNDECIDED
    if options.write:
        constants.write()
        scales.write()
    problems, lines = source_problems(PROJECT), list[str]()
    # what is refused is not compiled: a command of Coq may write files or load a program
    if not problems:
        try:
            lines, found = _check(renew=options.write)
        except CoqStoppedError as problem:
            emit(fitted([f"{NOT_CHECKED}: {problem}"], width), options.out)
            return EXIT_UNDECIDED
        problems = [*_stale(), *found]
    shown = [*lines, *(f"problem: {problem}" for problem in problems), ""]
    emit(fitted(shown, width) + LIMITS, options.out)
    return EXIT_REFUTED if problems else EXIT_FINE


def _check(*, renew: bool) -> tuple[list[str], list[str]]:
    """Return Coq's results in a few lines, and their differences from what is committed."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            # renewing the digests needs each theorem's own axioms
            copy, answers = compiled(Path(scratch), stored=None if renew else committed())
        except ProofError as error:
            return [], [str(error)]
        if renew:
            write(answers)
            pages.renew(rows(), committed())
            write_status()
        problems = [*differences(answers, committed()), *_survivors(copy)]
        problems += pages.problems(rows(), committed())
        return list(_summary(answers)), problems


def _stale() -> Iterator[str]:
    """Yield the generated Coq files that the Python code would now write differently."""
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
