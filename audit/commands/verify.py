"""The command ``python -m audit verify``: checks the certificate of an estimate."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from audit.bounds import MOST_DRAWS
from audit.bounds.clopper_pearson import clopper_pearson_epsilon_lower_bound
from audit.bounds.conditional import conditional_epsilon_lower_bound
from audit.commands.options import SeededFileOptions
from audit.commands.text import AGAIN, columns, fitted
from audit.evidence.certificate import Certificate, CertificateError
from audit.evidence.checks import YOUR_CLAIM, Check, neighbours_checked, rebuilt
from audit.evidence.fresh import elsewhere, fresh, fresh_checks, fresh_choice
from audit.evidence.replay import replay, why_not_seeded
from audit.evidence.verify import choice, outcome, verify
from audit.proofs.build import missing
from audit.proofs.conditional_verdicts import conditional_verdict_text
from audit.proofs.tails import NotContradictedError
from audit.proofs.verdicts import AuditedClaim, check_verdict, verdict_text
from audit.subjects.adjacency import UNCHECKED
from audit.subjects.programs import ProgramDescription
from reference.commands.file_names import FileName
from reference.commands.options import emit
from reference.commands.parsing import argument, option
from reference.commands.parsing import command as make_command
from reference.commands.progress import ProgressBar
from reference.common.documents import plain
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED
from reference.common.files import json_text
from reference.common.numbers import text_below
from reference.common.printable import shown

DRAWN_AGAIN = ("stored counts", "replay")
"""Checks that make draws."""

OF_RESULT = "says what its certificate says; nothing checked its other verdict, notes and power: --replay does"

BELOW_THE_BOUND = Fraction(999_999, 1_000_000)
"""Share of the bound on epsilon to ask Coq about: its sums are rounded to the safe side."""

BY_COQ = "counts contradict the claim, by a theorem that Coq checks"
BY_COQ_BELOW = "counts contradict an epsilon, by a theorem that Coq checks"


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """Verification."""

    certificate: str = argument(type=FileName(), metavar="FILE", line="what `audit estimate --out FILE` wrote")
    epsilon: str | None = option("--epsilon", metavar="E", help="the certificate must claim this epsilon")
    delta: str | None = option("--delta", metavar="D", help="the certificate must claim this delta")
    fresh: bool = option("--fresh", is_flag=True, help="rebuild the subject, draw again, retest the event")
    replay: bool = option("--replay", is_flag=True, help="repeat the audit from its seed, draw for draw")
    run_program: bool = option(
        "--run-program", is_flag=True, help="with --fresh or --replay: run the command that the certificate names"
    )
    draws: int | None = option(
        "--draws",
        type=int,
        metavar="N",
        help="fresh draws per input (4 times as many as certified, and more if quick)",
    )
    coq: bool = option(
        "--coq",
        is_flag=True,
        help="have Coq prove that the counts contradict the claim or the bound; takes minutes",
    )


@make_command(
    "verify",
    VerifyOptions,
    SeededFileOptions,
    example="python -m audit verify certificate.json --fresh --seed 1",
)
def command(options: VerifyOptions, output: SeededFileOptions) -> int:
    """Check the certificate of an estimate.

    Checks that its fields agree, that the claim follows from the recorded subject where this package knows it, and
    that the bound follows from the counts, computed another way than the auditor does.  A certificate that
    refutes nothing also depends on the chosen event: --replay or --fresh repeats the choice, else it is undecided.

    A certificate is not signed: you must know who made it.
    """
    if options.draws is not None and not 1 <= options.draws <= MOST_DRAWS:
        raise ReadingError("draws", options.draws, f"from 1 to {MOST_DRAWS:,}")
    if not options.fresh:
        for name, given in {"draws": options.draws, "seed": output.seed}.items():
            if given is not None:
                raise ReadingError(name, given, "left out without --fresh: --draws and --seed are of --fresh")
    found = Certificate.read_with_results(options.certificate)
    certificates = [one for one, _ in found]
    # before the other checks, which would start the subject
    if options.replay and not options.fresh:
        _refuse_unseeded(certificates, options.certificate)
    if (options.fresh or options.replay) and not options.run_program:
        for one in certificates:
            _refuse_program(one, options.certificate)
    documents = _written(found, options, output)
    outcomes = [document["outcome"] for document in documents]
    if "does not hold" in outcomes:
        return EXIT_REFUTED
    return EXIT_UNDECIDED if "undecided" in outcomes else EXIT_FINE


def _written(
    found: Sequence[tuple[Certificate, dict[str, Any] | None]], options: VerifyOptions, output: SeededFileOptions
) -> list[dict[str, Any]]:
    """Check certificates, write what was found, and return it; text for a reader comes as each is decided."""
    documents, texts = [], []
    with ProgressBar("certificates", len(found), quiet=len(found) == 1) as progress:
        for certificate, result in found:
            documents.append(checked(certificate, result, options, output.seed))
            texts.append(fitted(_lines(certificate, documents[-1]), columns(output.out)))
            if output.format == "text" and output.out is None:
                emit(texts[-1], None)
            progress.advance(1)
    if output.format == "json":
        emit(json_text(documents if len(documents) > 1 else documents[0]), output.out)
    elif output.out is not None:
        emit("".join(texts), output.out)
    return documents


def _refuse_unseeded(certificates: Sequence[Certificate], path: str) -> None:
    """Raise if no seed repeats the draws of any certificate."""
    reasons = [why_not_seeded(one) for one in certificates]
    if all(reason is not None for reason in reasons):
        problem = f"--replay cannot repeat these draws: {reasons[0]}; --fresh makes new ones"
        raise CertificateError(problem, file=path, place="seeded")


def _refuse_program(certificate: Certificate, path: str) -> None:
    """Raise if fresh draws would run a command: a certificate may come from a stranger."""
    if isinstance(certificate.subject, ProgramDescription):
        words = shown(json.dumps(certificate.subject.command))
        problem = f"new draws would run the program {words}; --run-program allows that"
        raise CertificateError(problem, file=path, place="request.subject")


def checked(
    certificate: Certificate, result: dict[str, Any] | None, options: VerifyOptions, seed: int | None
) -> dict[str, Any]:
    """Return the JSON of all checks of one certificate, and of the result that holds it, if any."""
    checks = verify(certificate, options.epsilon, options.delta)
    document: dict[str, Any] = {"certificate": options.certificate, "mechanism": certificate.mechanism}
    # what follows computes with the levels
    sound = all(check.holds for check in checks if check.name == "levels")
    if result is not None and not options.replay:
        checks.append(Check("result", True, OF_RESULT))
    if options.fresh and sound:
        seed = secrets.randbits(64) if seed is None else seed
        drawn = fresh(certificate, options.draws, np.random.default_rng(seed))
        checks += [*rebuilt(certificate), *fresh_checks(certificate, drawn)]
        checks += elsewhere(certificate, drawn.counts, seed)
        document["fresh"] = {"seed": seed, **plain(drawn)}
        if certificate.verdict != "refuted":
            wanted = options.draws * 2 if options.draws else certificate.draws
            checks.append(fresh_choice(certificate, wanted, np.random.default_rng([seed, 1])))
    if options.replay:
        checks = _with_replay(checks, replay(certificate, result))
    tried = [way for way, given in {"--replay": options.replay, "--fresh": options.fresh}.items() if given]
    unrepeated = choice(certificate, tried)
    if unrepeated is not None and not any(check.name == unrepeated.name for check in checks):
        checks.append(unrepeated)
    if options.coq:
        checks.append(coq_check(certificate))
    neighbours = neighbours_checked(certificate, checks)
    return document | {"outcome": outcome(checks), "neighbours_checked": neighbours, "checks": plain(checks)}


def _with_replay(checks: Sequence[Check], repeated: Sequence[Check]) -> list[Check]:
    """Return all checks, one of them on the choice: where a replay cannot tell, fresh draws do."""
    found = list(checks)
    for one in repeated:
        place = next((k for k, known in enumerate(found) if known.name == one.name == "choice"), None)
        if place is None:
            found.append(one)
        elif one.holds is not None:
            holds = one.holds and found[place].holds
            found[place] = Check(one.name, holds, f"{found[place].detail}; {one.detail}")
    return found


def coq_check(certificate: Certificate) -> Check:
    """Let Coq prove a theorem about the counts: they contradict the claim, or an epsilon just below the bound.

    By the conditional bound if that is the certificate's, by Clopper and Pearson's otherwise.  If only the
    joint bound refutes the claim, it is an epsilon below Clopper and Pearson's, and the check says so.
    """
    if problem := missing():
        return Check(BY_COQ, None, problem)
    if certificate.counts.calls is not None:
        return Check(BY_COQ, None, "the theorem is about independent draws, not calls")
    if certificate.method.startswith("anytime"):
        return Check(BY_COQ, None, "the theorem is about a number of draws that was fixed beforehand")
    if certificate.verdict != "refuted":
        return _below_the_bound(certificate, "")
    try:
        return _by_coq(certificate, Fraction(str(certificate.claimed_epsilon)), BY_COQ, "")
    except (NotContradictedError, ValueError, OverflowError) as reason:
        claim = f"epsilon {certificate.claimed_epsilon:g} is refuted by the {certificate.method} bound"
        return _below_the_bound(certificate, f"; {claim}, not here: {reason}")


def _below_the_bound(certificate: Certificate, further: str) -> Check:
    """Let Coq check an epsilon just below the bound that it knows."""
    counts, significance = certificate.counts, certificate.significance
    if certificate.method == "conditional":
        bound = conditional_epsilon_lower_bound(counts, significance)
    else:
        delta = float(Fraction(certificate.claimed_delta))
        bound = clopper_pearson_epsilon_lower_bound(counts, delta, significance)
    try:
        return _by_coq(certificate, Fraction(max(bound, 0.0)) * BELOW_THE_BOUND, BY_COQ_BELOW, further)
    except (NotContradictedError, ValueError, OverflowError) as reason:
        return Check(BY_COQ_BELOW, None, f"{_bound_for_coq(certificate)}: {reason}{further}")


def _by_coq(certificate: Certificate, epsilon: Fraction, name: str, further: str) -> Check:
    """Return Coq's answer on the counts and this epsilon."""
    significance, delta = Fraction(str(certificate.significance)), Fraction(certificate.claimed_delta)
    write = conditional_verdict_text if certificate.method == "conditional" else verdict_text
    finding = check_verdict(certificate.counts, AuditedClaim(epsilon, delta, significance), write=write)
    claim = f"epsilon {float(epsilon):.6g}, delta {certificate.claimed_delta}, significance {significance}"
    return Check(name, finding.accepted, f"{claim}, {_bound_for_coq(certificate)}; {finding.detail}{further}")


def _bound_for_coq(certificate: Certificate) -> str:
    if certificate.method == "conditional":
        return "by the conditional bound"
    return "by Clopper and Pearson's bounds"


def _lines(certificate: Certificate, document: dict[str, Any]) -> Iterator[str]:
    words = {True: "holds", False: "DOES NOT HOLD", None: "undecided"}
    claim = (
        f"at delta {certificate.claimed_delta}, significance {certificate.significance:g}, {certificate.method}"
    )
    epsilon = certificate.epsilon_lower_bound
    bound = f"epsilon at least {text_below(epsilon, 6) if math.isfinite(epsilon) else epsilon} {claim}"
    yield f"{certificate.mechanism}: {bound}; claimed {certificate.claimed_epsilon:g}: {certificate.verdict}"
    for check in document["checks"]:
        word = "not checked" if check["detail"] == UNCHECKED else words[check["holds"]]
        if check["name"] == YOUR_CLAIM and not check["holds"]:
            word = "another"
        yield f"  {check['name']}: {word} ({check['detail']})"
    if not any(check["name"] in DRAWN_AGAIN for check in document["checks"]):
        yield "  the counts are those of whoever wrote the certificate: --replay or --fresh draws again"
    yield f"  {AGAIN} {certificate.request.command if certificate.seeded else certificate.request.without_seed}"
    found = document["outcome"]
    if {check["name"] for check in document["checks"] if check["holds"] is False} == {YOUR_CLAIM}:
        # nothing is forged
        yield "the certificate is about another claim than yours"
    else:
        yield _ending(certificate, found)


def _ending(certificate: Certificate, found: str) -> str:
    """Return the outcome of all checks and, if they hold, what the certificate says: it may refute the claim."""
    if found != "holds":
        return f"the certificate {found}" if found != "undecided" else "undecided"
    bits = " at the bits" * (certificate.judged == "implementation")
    if certificate.verdict == "refuted":
        claim = f"({certificate.claimed_epsilon:g}, {certificate.claimed_delta})"
        return f"the certificate holds: it refutes {claim}{bits}"
    return f"the certificate holds: {certificate.verdict} on this pair{bits}"
