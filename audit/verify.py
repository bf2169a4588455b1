"""Is this certificate right?  ``python -m audit.verify certificate.json``.

Checks that the fields agree with each other, that the claim follows from the recorded subject where this package
knows it, and that the bound follows from the counts.  The arithmetic takes another road than :mod:`audit.bounds`:
see :mod:`audit.ball_arithmetic`.  A certificate is not signed: who made it is for the reader to know.
``--fresh`` also rebuilds the subject, draws anew and counts the stored event again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from audit.ball_arithmetic import anytime_holds, clopper_pearson_holds, conditional_holds, joint_holds
from audit.binding import binding, checked_claim, claimed_delta
from audit.bounds import (
    ANYTIME_METHODS,
    METHODS_AT_ZERO,
    MOST_DRAWS,
    AnytimeBound,
    Counts,
    Method,
    epsilon_lower_bound,
    refutes,
)
from audit.bounds.counts import LARGEST_EPSILON
from audit.certificate import Certificate, CertificateError, Check
from audit.curve_checks import UNDERSTATED, curve_checks
from audit.events.bits import BitScore, EqualityScore
from audit.fresh import fresh, fresh_checks
from audit.programs.protocol import shown
from audit.programs.signals import programs_ended_too
from audit.verdict import verdict_on
from reference.errors import InputError, ReadingError
from reference.files import json_text
from reference.numbers import text_below
from reference.options import (
    EXIT_FINE,
    EXIT_REFUTED,
    EXIT_UNDECIDED,
    add_output_options,
    emit,
    run_command,
)

LOOK_AT_BITS = (BitScore.name, EqualityScore.name)
"""Scores that an audit tries on every bit only: on a grid of no steps they would see float noise."""


def consistency(certificate: Certificate) -> list[Check]:
    """Return whether the fields agree with each other."""
    counts, bound = certificate.counts, certificate.epsilon_lower_bound
    certified = counts.likely_draws + counts.unlikely_draws
    levels = 0 <= _delta(certificate) < 1 and 1e-12 <= certificate.significance < 1
    finite = math.isfinite(bound) and 0 <= bound <= LARGEST_EPSILON
    return [
        Check("levels", levels, "delta and significance in range"),
        Check("draws", certified <= certificate.draws, f"{certified:,} certify, of {certificate.draws:,}"),
        Check(
            "judged",
            _fits(certificate),
            f"{certificate.judged}: an event of the ideal mechanism takes quantised outputs",
        ),
        Check("bound", finite, "finite and not negative"),
        *([_verdict(certificate), _whole_bound(certificate)] if levels and finite else []),
    ]


def _verdict(certificate: Certificate) -> Check:
    """Return whether the verdict follows from bound, claim and size."""
    bound, claim, method = certificate.epsilon_lower_bound, certificate.claimed_epsilon, certificate.method
    detail = f"{certificate.verdict}: bound {text_below(bound, 6)}, claim {claim:.6g}"
    # written as an equality of booleans: both kinds of lie are found
    if not 0 <= claim <= LARGEST_EPSILON or refutes(bound, claim, method) != (certificate.verdict == "refuted"):
        return Check("verdict", False, detail)
    counts = certificate.counts
    whole = method in METHODS_AT_ZERO and counts.likely_draws == counts.unlikely_draws
    if certificate.verdict == "refuted" or not whole:
        # an anytime certificate holds the counts of one look, not how many draws were made
        return Check("verdict", True, detail)
    stored: Method = next(known for known in METHODS_AT_ZERO if known == method)
    size = counts.likely_draws, _delta(certificate), certificate.significance, stored
    return Check("verdict", verdict_on(bound, claim, *size) == certificate.verdict, f"{detail}, {size[0]:,} draws")


def _whole_bound(certificate: Certificate) -> Check:
    """Return whether the bound is not less than what the counts give: a smaller one would hide a refutation.

    That it is not more is :func:`arithmetic`'s matter.
    """
    counts, delta, significance = certificate.counts, _delta(certificate), certificate.significance
    given = 0.0
    bets = next((known for known in ANYTIME_METHODS if known == certificate.method), None)
    if bets is not None:
        if 0 <= certificate.claimed_epsilon <= LARGEST_EPSILON:
            start = AnytimeBound(certificate.claimed_epsilon, delta, significance, method=bets)
            # from the bound on: levels below it are not asked for again
            passed = next(k for k in itertools.count() if start.level(k) > certificate.epsilon_lower_bound)
            given = replace(start, passed=passed).after(counts).epsilon_lower_bound
    elif certificate.method != "conditional" or delta == 0:
        stored: Method = next(known for known in METHODS_AT_ZERO if known == certificate.method)
        given = epsilon_lower_bound(counts, delta, significance, stored)
    whole = certificate.epsilon_lower_bound >= given - UNDERSTATED
    return Check("whole bound", whole, f"the counts give {text_below(given, 6)}, the certificate says no less")


def arithmetic(certificate: Certificate) -> Check:
    """Return whether the bound follows from the counts, by ball arithmetic."""
    bound, counts = certificate.epsilon_lower_bound, certificate.counts
    if bound == 0:
        return Check("arithmetic", True, "a bound of 0 always holds")
    delta, significance = _delta(certificate), certificate.significance
    routes: dict[str, Callable[[Counts, float, float, float], bool | None]] = {
        "joint": joint_holds,
        "clopper_pearson": clopper_pearson_holds,
        "conditional": conditional_holds,
        **{bets: partial(anytime_holds, method=bets) for bets in ANYTIME_METHODS},
    }
    holds = routes[certificate.method](counts, bound, delta, significance)
    words = {
        True: "every pair of probabilities below the bound is rejected",
        False: "the counts do not reject everything below the bound",
        None: "could not be decided at this precision",
    }
    if certificate.method in ANYTIME_METHODS and holds:
        words[True] = (
            "the highest level is rejected by these counts; lower levels and earlier looks are not stored"
        )
    return Check("arithmetic", holds, words[holds])


def _fits(certificate: Certificate) -> bool:
    """Return whether an event of the ideal mechanism takes quantised outputs, and looks at no bits."""
    steps = certificate.event.get("quantised_to")
    if certificate.judged == "implementation":
        return True
    return isinstance(steps, list) and bool(steps) and certificate.event["score"] not in LOOK_AT_BITS


def _delta(certificate: Certificate) -> float:
    try:
        return float(claimed_delta(certificate))
    except InputError:
        return math.nan


def verify(certificate: Certificate, epsilon: str | None = None, delta: str | None = None) -> list[Check]:
    """Return all checks that need no draws; `epsilon` and `delta` are the claim as the reader knows it."""
    yours = checked_claim(certificate, epsilon, delta)
    fields = consistency(certificate)
    checks = [*([] if yours is None else [yours]), *fields, *binding(certificate)]
    if all(check.holds for check in fields if check.name in ("levels", "bound")):
        checks.append(arithmetic(certificate))
    return [*checks, *curve_checks(certificate)]


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m audit.verify", description=__doc__, allow_abbrev=False)
    top.add_argument("certificate", metavar="FILE")
    top.add_argument("--epsilon", metavar="E", help="the claim that the certificate must be about")
    top.add_argument("--delta", metavar="D", help="the delta that the certificate must be about")
    top.add_argument("--fresh", action="store_true", help="rebuild the subject, draw anew, retest the event")
    top.add_argument(
        "--run-program", action="store_true", help="with --fresh: run the command that the certificate names"
    )
    top.add_argument("--draws", type=int, metavar="N", help="fresh draws per input (as many as certified)")
    add_output_options(top)
    return top


def command(argv: Sequence[str] | None) -> int:
    """Check the certificates in the file that the command line names: one, or those of one call."""
    options = parser().parse_args(argv)
    if options.draws is not None and not 1 <= options.draws <= MOST_DRAWS:
        raise ReadingError("draws", options.draws, f"from 1 to {MOST_DRAWS:,}")
    certificates = Certificate.read_all(options.certificate)
    programs = [c.subject.get("command") for c in certificates if c.subject.get("kind") == "program"]
    if options.fresh and programs and not options.run_program:
        # a certificate may come from a stranger
        words = shown(json.dumps(programs[0]))
        raise CertificateError("subject", f"fresh draws would run the program {words}; --run-program allows that")
    documents = [_checked(certificate, options) for certificate in certificates]
    if options.format == "json":
        text = json_text(documents if len(documents) > 1 else documents[0])
    else:
        text = "".join(_as_text(*both) for both in zip(certificates, documents, strict=True))
    emit(text, options.out)
    outcomes = [document["outcome"] for document in documents]
    if "does not hold" in outcomes:
        return EXIT_REFUTED
    return EXIT_UNDECIDED if "undecided" in outcomes else EXIT_FINE


def _checked(certificate: Certificate, options: argparse.Namespace) -> dict[str, Any]:
    """Return the JSON of all checks of one certificate."""
    checks = verify(certificate, options.epsilon, options.delta)
    document: dict[str, Any] = {"certificate": options.certificate, "mechanism": certificate.mechanism}
    if options.fresh:
        counts = certificate.counts
        draws = options.draws or max(counts.likely_draws, counts.unlikely_draws)
        seed = options.seed if options.seed is not None else secrets.randbits(64)
        result = fresh(certificate, draws, np.random.default_rng(seed))
        checks += fresh_checks(certificate, result)
        document["fresh"] = {"seed": seed, **asdict(result)}
    return document | {"outcome": _outcome(checks), "checks": [asdict(check) for check in checks]}


def _outcome(checks: Sequence[Check]) -> str:
    if any(check.holds is False for check in checks):
        return "does not hold"
    return "undecided" if any(check.holds is None for check in checks) else "holds"


def _as_text(certificate: Certificate, document: dict[str, Any]) -> str:
    words = {True: "holds", False: "DOES NOT HOLD", None: "undecided"}
    claim = (
        f"at delta {certificate.claimed_delta}, significance {certificate.significance:g}, {certificate.method}"
    )
    epsilon = certificate.epsilon_lower_bound
    bound = f"epsilon at least {text_below(epsilon, 6) if math.isfinite(epsilon) else epsilon} {claim}"
    lines = [f"{certificate.mechanism}: {bound}; claimed {certificate.claimed_epsilon:g}: {certificate.verdict}"]
    lines += [f"  {check['name']}: {words[check['holds']]} ({check['detail']})" for check in document["checks"]]
    outcome = document["outcome"]
    return "\n".join([*lines, f"the certificate {outcome}" if outcome != "undecided" else "undecided"]) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    with programs_ended_too():
        return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
