"""Whether a certificate is right: its fields agree, and the bound follows from the counts.

:mod:`audit.evidence.checks` checks that the claim follows from the recorded subject, if this package knows it.
The arithmetic is independent of :mod:`audit.bounds`: see :mod:`audit.evidence.ball_arithmetic`.
Certificates are not signed: you must know who made them.  :mod:`audit.evidence.fresh` also rebuilds the
subject, draws again and counts the stored event again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from audit.auditor.events.bits import BitScore
from audit.auditor.verdict import verdict_on
from audit.bounds import (
    ANYTIME,
    ANYTIME_METHODS,
    CLUSTERS,
    METHODS_OF_COUNTS,
    SMALLEST_SIGNIFICANCE,
    AnytimeBound,
    Counts,
    epsilon_lower_bound,
    refutes,
)
from audit.bounds.counts import LARGEST_EPSILON
from audit.evidence.ball_arithmetic import (
    anytime_holds,
    clopper_pearson_holds,
    cluster_holds,
    conditional_holds,
    joint_holds,
)
from audit.evidence.certificate import Certificate, tempered
from audit.evidence.checks import Check, binding, checked_claim, claimed_delta
from audit.evidence.curve_checks import UNDERSTATED, curve_checks
from audit.evidence.request import Judged
from reference.common.errors import InputError
from reference.common.numbers import text_below

JUDGED: dict[Judged, str] = {
    "ideal": "the ideal mechanism, by an event that sees outputs rounded to a grid",
    "implementation": "the implementation, by an event that may see every bit",
}


def verify(certificate: Certificate, epsilon: str | None = None, delta: str | None = None) -> list[Check]:
    """Return all checks that need no draws; `epsilon` and `delta` are the claim as you know it."""
    yours = checked_claim(certificate, epsilon, delta)
    fields = consistency(certificate)
    checks = [*([] if yours is None else [yours]), *fields, *binding(certificate)]
    if all(check.holds for check in fields if check.name in ("levels", "bound")):
        checks.append(arithmetic(certificate))
    return [*checks, *curve_checks(certificate)]


def outcome(checks: Sequence[Check]) -> str:
    """Return the outcome of all checks: `holds`, `does not hold` or `undecided`."""
    if any(check.holds is False for check in checks):
        return "does not hold"
    return "undecided" if any(check.holds is None for check in checks) else "holds"


def consistency(certificate: Certificate) -> list[Check]:
    """Return whether the fields agree with each other."""
    whole, bound = certificate.all_counts, certificate.epsilon_lower_bound
    certified = whole.likely_draws + whole.unlikely_draws
    levels = 0 <= _delta(certificate) < 1 and SMALLEST_SIGNIFICANCE <= certificate.significance < 1
    levels = levels and 0 < certificate.share <= 1
    finite = math.isfinite(bound) and 0 <= bound <= LARGEST_EPSILON
    return [
        Check("levels", levels, "delta, significance and its share are in range"),
        Check("draws", certified <= certificate.draws, f"{certified:,} certify, of {certificate.draws:,}"),
        Check(
            "all counts",
            _among(certificate),
            "the bound is from the counts of all certifying draws, or of the first of them",
        ),
        Check("judged", _fits(certificate), JUDGED[certificate.judged]),
        Check("bound", finite, "finite and not negative"),
        *([_verdict(certificate), _whole_bound(certificate)] if levels and finite else []),
    ]


def _verdict(certificate: Certificate) -> Check:
    """Return whether the verdict follows from bound, claim and size."""
    bound, claim, method = certificate.epsilon_lower_bound, certificate.claimed_epsilon, certificate.method
    detail = f"{certificate.verdict}: bound {text_below(bound, 6)}, claim {claim:.6g}"
    # an equality of booleans finds both kinds of lies
    if not 0 <= claim <= LARGEST_EPSILON or refutes(bound, claim, method) != (certificate.verdict == "refuted"):
        return Check("verdict", False, detail)
    if certificate.verdict == "refuted" or method == "anytime":
        # with the bets of an earlier version, whose power is no longer computed
        return Check("verdict", True, detail)
    found = next(known for known in (*METHODS_OF_COUNTS, ANYTIME) if known == method)
    expected = verdict_on(
        bound, claim, certificate.all_counts, _delta(certificate), certificate.significance, found
    )
    expected = tempered(expected, certificate.subject, certificate.inputs)
    # a certificate lacks values too rare to learn: its verdict may be weaker than the event allows
    less = (expected, certificate.verdict) == ("not refuted", "undecided")
    return Check("verdict", less or expected == certificate.verdict, f"{detail}, what the counted event could see")


def _whole_bound(certificate: Certificate) -> Check:
    """Return whether the bound is at least what the counts give: a smaller one would hide a refutation.

    :func:`arithmetic` checks that it is not more.
    """
    counts, delta, significance = certificate.counts, _delta(certificate), certificate.significance
    given = 0.0
    bets = next((known for known in ANYTIME_METHODS if known == certificate.method), None)
    if bets is not None:
        if 0 <= certificate.claimed_epsilon <= LARGEST_EPSILON:
            start = AnytimeBound(certificate.claimed_epsilon, delta, significance, method=bets)
            # from the bound on: levels below it need no check
            passed = next(k for k in itertools.count() if start.level(k) > certificate.epsilon_lower_bound)
            given = replace(start, passed=passed).after(counts).epsilon_lower_bound
    elif certificate.method != "conditional" or delta == 0:
        stored = next(known for known in METHODS_OF_COUNTS if known == certificate.method)
        given = epsilon_lower_bound(counts, delta, significance, stored)
    whole = certificate.epsilon_lower_bound >= given - UNDERSTATED
    return Check("whole bound", whole, f"not understated: the counts give {text_below(given, 6)}")


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
        CLUSTERS: cluster_holds,
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


def _among(certificate: Certificate) -> bool:
    """Return whether the counts behind the bound are all counts or, for an anytime bound, of an earlier look."""
    counts, whole = certificate.counts, certificate.all_counts
    if certificate.method not in ANYTIME_METHODS:
        return counts == whole
    likely, unlikely = whole.likely - counts.likely, whole.unlikely - counts.unlikely
    return (
        0 <= likely <= whole.likely_draws - counts.likely_draws
        and 0 <= unlikely <= whole.unlikely_draws - counts.unlikely_draws
    )


def choice(certificate: Certificate, tried: Sequence[str] = ()) -> Check | None:
    """Return a check that leaves the choice of the event open, if the verdict rests on it; else None.

    A weak event, honestly counted, refutes nothing.  Only the same draws or new ones show whether a better one was
    passed over; so without them a certificate that refutes nothing is undecided.

    Parameters
    ----------
    certificate : Certificate
    tried : sequence of str
        Options that were given, which could not tell.
    """
    if certificate.verdict == "refuted":
        return None
    ways = [way for way in (["--replay"] * certificate.seeded + ["--fresh"]) if way not in tried]
    return Check(
        "choice", None, "whether a better event was passed over" + f": {' or '.join(ways)} tells" * bool(ways)
    )


def _fits(certificate: Certificate) -> bool:
    """Return whether an event of the ideal mechanism takes quantised outputs and does not look at bits."""
    if certificate.judged == "implementation":
        return True
    return bool(certificate.event.quantised_to) and certificate.event.score != BitScore.name


def _delta(certificate: Certificate) -> float:
    try:
        return float(claimed_delta(certificate))
    except InputError:
        return math.nan
