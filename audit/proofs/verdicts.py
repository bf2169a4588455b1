"""A verdict that Coq checks: these counts contradict a claimed (epsilon, delta), by Clopper and Pearson's bounds.

:func:`verdict_text` writes a Coq file with two theorems: the counts contradict the claim at this
significance, and a mechanism that is (epsilon, delta)-private on this pair yields counts at least this
extreme with probability at most the significance.  Coq decides by whole numbers, rounded to the safe side;
it does not trust the results from here: where to look and how many terms to add.  :func:`check_verdict` lets
Coq check the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from audit.bounds.clopper_pearson import lower_bound_on_probability, upper_bound_on_probability
from audit.bounds.counts import Counts
from audit.proofs.releases.check import CoqFinding, check
from audit.proofs.tails import NotContradictedError, RatioTail

THEOREM = "audit_verdict"

ONE = 2**48
"""Denominator of the two probabilities."""

FIXED = 2**256
SQUARINGS = 40
"""The same number as in ``proofs/coq/Verdicts.v``."""

LARGEST_EPSILON = 100
"""No count of an audit distinguishes epsilons above this."""

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
    """A claim on epsilon and delta, and the significance to judge it at.

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
    counts: Counts,
    claim: AuditedClaim,
    *,
    write: Callable[[Counts, AuditedClaim], str] = verdict_text,
    library: Path | None = None,
) -> CoqFinding:
    """Let Coq check the verdict, in a clean copy of the theorems that it needs.

    Parameters
    ----------
    counts : Counts
    claim : AuditedClaim
    write : callable, optional
        Writes the Coq file; chooses the bound.
    library : path, optional
        As for :func:`audit.proofs.releases.check.check`.

    Raises
    ------
    NotContradictedError
    """
    return check(write(counts, claim), library=library, theorem=THEOREM)


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
    inverse = exp_minus_lower(a, b)
    # the smallest p with q exp(epsilon) + delta <= p, for the lower bound of exp(-epsilon)
    p = -((-q * b * FIXED) // (inverse * b)) + -((-c * ONE) // b)
    if not p < ONE:
        raise NotContradictedError("exp(epsilon) times the unlikely probability's limit, plus delta, reaches 1")
    first = RatioTail.binomial(n, j, p, ONE).steps(part, 2 * level)
    second = RatioTail.binomial(m, m - k, ONE - q, ONE).steps(part, 2 * level)
    return (n, m, j, k, a, c, b, level, part, q, p, *first, *second)


def _between(counts: Counts, claim: AuditedClaim) -> int:
    """Return a numerator between the unlikely probability's limit and the one implied by the likely limit."""
    half = float(claim.significance) / 2
    lowest = upper_bound_on_probability(counts.unlikely, counts.unlikely_draws, half)
    likely = lower_bound_on_probability(counts.likely, counts.likely_draws, half)
    highest = (likely - float(claim.delta)) * math.exp(-float(claim.epsilon))
    if not lowest < highest or lowest >= 1:
        raise NotContradictedError("the two limits do not contradict the claim at this significance")
    middle = math.sqrt(lowest * highest)
    return max(1, math.ceil(middle * ONE))


def exp_minus_lower(a: int, b: int) -> int:
    """Return ``exp_minus_lower``."""
    value: int = FIXED - (a * FIXED // (b * 2**SQUARINGS) + 1)
    for _ in range(SQUARINGS):
        value = value * value // FIXED
    return value
