"""A verdict that Coq checks: these counts contradict a claimed (epsilon, delta), by Clopper and Pearson's bounds.

:func:`verdict_text` writes a Coq file with two theorems: the counts contradict the claim at this
significance, and a mechanism that is (epsilon, delta)-private on this pair yields counts at least this
extreme with probability at most the significance.  Coq decides by whole numbers, rounded to the safe side;
what is found here, where to look and how many terms to add, is believed nowhere.  :func:`check_verdict` has
Coq check it.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from audit.bounds.clopper_pearson import lower_bound_on_probability, upper_bound_on_probability
from audit.bounds.counts import Counts
from audit.proofs.releases.check import SECONDS, CoqFinding, check

THEOREM = "audit_verdict"

ONE = 2**48
"""Denominator of the two probabilities."""

TERM = 2**60
FIXED = 2**256
SQUARINGS = 40
"""As in ``proofs/coq/Verdicts.v``."""

LARGEST_EPSILON = 100
"""Above this no count of an audit tells epsilons apart."""

FIRST_STEPS, MOST_STEPS = 64, 2**20
"""Terms that are tried first, and at most."""

NEGLIGIBLE = 2**30
"""Terms are added until what follows is this part of their sum."""

HEADER = """\
(** * Verdict on a claim

    Generated from the counts of an audit.  The counts of one event, on two inputs, contradict the claimed epsilon
    and delta at this significance: by Clopper and Pearson's bounds, at half of it each.  [Verdicts.v] defines the
    words and proves that a true claim is contradicted with probability at most the significance.

    It is about independent outputs of one mechanism and an event fixed beforehand.  That the counts come from
    such outputs is not proved here. *)

From Coq Require Import Reals List Bool PeanoNat ZArith Lra.
From CFM Require Import Definitions BinomialLaw Verdicts.
Open Scope R_scope.
"""


@dataclass(frozen=True)
class AuditedClaim:
    """What is contradicted.

    Parameters
    ----------
    epsilon, delta : Fraction
        The claim; epsilon in [0, 100], delta in [0, 1).
    significance : Fraction
        In (0, 1).

    Raises
    ------
    ValueError
    """

    epsilon: Fraction
    delta: Fraction
    significance: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= LARGEST_EPSILON:
            raise ValueError(f"epsilon must be in [0, {LARGEST_EPSILON}], not {self.epsilon}")
        if not 0 <= self.delta < 1:
            raise ValueError(f"delta must be in [0, 1), not {self.delta}")
        if not 0 < self.significance < 1:
            raise ValueError(f"significance must be in (0, 1), not {self.significance}")


class NotContradictedError(ValueError):
    """Clopper and Pearson's bounds on these counts do not contradict the claim, or not by enough."""


@dataclass(frozen=True)
class _Steps:
    """How many terms of a tail are added, from the count on and below it."""

    up: int
    down: int


def verdict_text(counts: Counts, claim: AuditedClaim) -> str:
    """Return the Coq file.

    Raises
    ------
    NotContradictedError
        When the counts do not contradict the claim at this significance.
    """
    arguments = " ".join(map(str, _arguments(counts, claim)))
    n, m = f"(Z.to_nat {counts.likely_draws})", f"(Z.to_nat {counts.unlikely_draws})"
    j, k = f"(Z.to_nat {counts.likely})", f"(Z.to_nat {counts.unlikely})"
    a, c, b = _over_one_denominator(claim)
    alpha = f"({claim.significance.numerator} / {claim.significance.denominator})"
    return f"""{HEADER}
Lemma counts_contradict_the_claim :
  contradicts {n} {m}
    ({a} / {b}) ({c} / {b}) {alpha} {j} {k}.
Proof.
  apply (counts_contradict_correct {arguments}).
  vm_cast_no_check (eq_refl true).
Qed.

(** A mechanism that is private on this pair yields counts at least this extreme with at most this probability. *)
Theorem {THEOREM} : forall p q, 0 <= p <= 1 -> 0 <= q <= 1 -> p <= exp ({a} / {b}) * q + {c} / {b} ->
  joint_probability {n} {m} p q
    (fun j k => ({j[1:-1]} <=? j)%nat && (k <=? {k[1:-1]})%nat) <= {alpha[1:-1]}.
Proof.
  intros p q Hp Hq Hprivate; apply (verdict_on_counts {n} {m}
    ({a} / {b}) ({c} / {b})); try assumption; try lra.
  exact counts_contradict_the_claim.
Qed.
"""


def check_verdict(
    counts: Counts, claim: AuditedClaim, *, library: Path | None = None, seconds: float = SECONDS
) -> CoqFinding:
    """Have Coq check the verdict, in a clean copy of the theorems that it needs.

    Parameters
    ----------
    counts : Counts
    claim : AuditedClaim
    library : path, optional
        As for :func:`audit.proofs.releases.check.check`.
    seconds : float
        Time limit, for all of it.

    Raises
    ------
    NotContradictedError
    """
    started = time.monotonic()
    text = verdict_text(counts, claim)
    return check(text, library=library, seconds=seconds - (time.monotonic() - started), theorem=THEOREM)


def _over_one_denominator(claim: AuditedClaim) -> tuple[int, int, int]:
    """Return epsilon, delta and their denominator."""
    denominator = math.lcm(claim.epsilon.denominator, claim.delta.denominator)
    return int(claim.epsilon * denominator), int(claim.delta * denominator), denominator


def _arguments(counts: Counts, claim: AuditedClaim) -> tuple[int, ...]:
    """Return the arguments of ``counts_contradict``."""
    a, c, b = _over_one_denominator(claim)
    part, level = claim.significance.numerator, claim.significance.denominator
    n, m, j, k = counts.likely_draws, counts.unlikely_draws, counts.likely, counts.unlikely
    q = _between(counts, claim)
    inverse = _exp_minus_lower(a, b)
    # the smallest p with q exp(epsilon) + delta <= p, for the lower bound of exp(-epsilon)
    p = -((-q * b * FIXED) // (inverse * b)) + -((-c * ONE) // b)
    if not p < ONE:
        raise NotContradictedError("exp(epsilon) times the unlikely probability's limit, plus delta, reaches 1")
    first = _steps(n, j, p, part, 2 * level)
    second = _steps(m, m - k, ONE - q, part, 2 * level)
    return (n, m, j, k, a, c, b, level, part, q, p, first.up, first.down, second.up, second.down)


def _between(counts: Counts, claim: AuditedClaim) -> int:
    """Return a numerator between the unlikely probability's limit and where the likely one's limit puts it."""
    half = float(claim.significance) / 2
    lowest = upper_bound_on_probability(counts.unlikely, counts.unlikely_draws, half)
    likely = lower_bound_on_probability(counts.likely, counts.likely_draws, half)
    highest = (likely - float(claim.delta)) * math.exp(-float(claim.epsilon))
    if not lowest < highest or lowest >= 1:
        raise NotContradictedError("the two limits do not contradict the claim at this significance")
    middle = math.sqrt(lowest * highest)
    return max(1, math.ceil(middle * ONE))


def _exp_minus_lower(a: int, b: int) -> int:
    """Return ``exp_minus_lower``."""
    value: int = FIXED - (a * FIXED // (b * 2**SQUARINGS) + 1)
    for _ in range(SQUARINGS):
        value = value * value // FIXED
    return value


def _steps(n: int, j: int, p: int, part: int, level: int) -> _Steps:
    """Return the numbers of terms with which the chance of at least j in n is seen to be at most part / level."""
    r = ONE - p
    up, above = _upwards(n, j, p, r)
    down = min(j, FIRST_STEPS)
    while True:
        below = _downwards(n, j, p, r, down)
        if above * (level - part) <= part * below:
            return _Steps(up, down)
        if down >= min(j, MOST_STEPS):
            raise NotContradictedError("a tail is not below half of the significance by enough")
        down = min(2 * down, j, MOST_STEPS)


def _upwards(n: int, j: int, p: int, r: int) -> tuple[int, int]:
    """Return a number of terms after which hardly anything follows, and ``upwards``."""
    term, total, k = TERM, 0, j
    while True:
        fall = (k + 1) * r - (n - k) * p
        if fall > 0:
            rest = term * ((k + 1) * r) // fall + 1
            if k == n or rest * NEGLIGIBLE <= total or term <= 2:
                return k - j, total + rest
        if k == n or k - j >= MOST_STEPS:
            raise NotContradictedError("a tail falls too slowly")
        term, total, k = term * ((n - k) * p) // ((k + 1) * r) + 1, total + term, k + 1


def _downwards(n: int, j: int, p: int, r: int, steps: int) -> int:
    """Return ``downwards``."""
    term, total = TERM, 0
    for k in range(j, j - steps, -1):
        term = term * (k * r) // ((n - k + 1) * p)
        total += term
    return total
