"""A verdict that Coq checks by the conditional bound: the counts of a rare event contradict a claimed epsilon.

Given the total of the two counts, their law depends on the odds ratio alone (:mod:`audit.bounds.conditional`).
:func:`conditional_verdict_text` writes a Coq file with one theorem: the counts contradict the claim at this
significance, and an epsilon-private mechanism yields counts that do with probability at most the significance.
"""

from __future__ import annotations

import math

from audit.bounds.conditional import LIMIT_SHARE, highest_likely
from audit.bounds.counts import Counts
from audit.proofs.tails import NotContradictedError, RatioTail
from audit.proofs.verdicts import FIXED, ONE, THEOREM, AuditedClaim, exp_minus_lower

SHARE = round(1 / LIMIT_SHARE)
"""1 / SHARE of the significance bounds the likely probability, as in ``ConditionalVerdicts.v``."""

ROOM = 1e-9
"""Relative room for rounding, on the likely probability's limit."""

HEADER = """\
(** * Verdict on a claim, by the conditional bound

    Generated from the counts of an audit.  The counts of one event, on two inputs, contradict the claimed epsilon
    at this significance: given their total, by the odds ratio.  [ConditionalVerdicts.v] defines the words and
    proves that a true claim is contradicted with probability at most the significance.

    It is about independent outputs of one mechanism and an event fixed beforehand.  That the counts come from
    such outputs is not proved here. *)

From Coq Require Import Reals List Bool PeanoNat ZArith Lra.
From CFM Require Import Definitions BinomialLaw ConditionalVerdicts.
Open Scope R_scope.
"""


def conditional_verdict_text(counts: Counts, claim: AuditedClaim) -> str:
    """Return the Coq file.

    Raises
    ------
    NotContradictedError
        When the counts do not contradict the claim at this significance by this bound.
    """
    arguments = " ".join(map(str, _arguments(counts, claim)))
    n, m = f"(Z.to_nat {counts.likely_draws})", f"(Z.to_nat {counts.unlikely_draws})"
    j, k = f"(Z.to_nat {counts.likely})", f"(Z.to_nat {counts.unlikely})"
    epsilon = f"({claim.epsilon.numerator} / {claim.epsilon.denominator})"
    alpha = f"({claim.significance.numerator} / {claim.significance.denominator})"
    return f"""{HEADER}
Lemma counts_contradict_the_claim :
  contradicts_given_total {n} {m} {epsilon} {alpha} {j} {k}.
Proof.
  apply (counts_contradict_given_total_correct {arguments}).
  vm_cast_no_check (eq_refl true).
Qed.

(** A mechanism that is private on this pair yields counts that contradict with at most this probability, and
    these do. *)
Theorem {THEOREM} :
  contradicts_given_total {n} {m} {epsilon} {alpha} {j} {k} /\\
  forall p q (event : nat -> nat -> bool), 0 <= p <= 1 -> 0 <= q <= 1 -> p <= exp {epsilon} * q ->
  (forall j k, event j k = true -> contradicts_given_total {n} {m} {epsilon} {alpha} j k) ->
  joint_probability {n} {m} p q event <= {alpha[1:-1]}.
Proof.
  split; [exact counts_contradict_the_claim |].
  intros p q event Hp Hq Hprivate Hevent; apply (conditional_verdict_false_alarm {n} {m}
    {epsilon}); try assumption; lra.
Qed.
"""


def _arguments(counts: Counts, claim: AuditedClaim) -> tuple[int, ...]:
    """Return the arguments of ``counts_contradict_given_total``."""
    if claim.delta:
        raise NotContradictedError("the conditional bound is for delta 0")
    a, b = claim.epsilon.numerator, claim.epsilon.denominator
    part, level = claim.significance.numerator, claim.significance.denominator
    n, m, j, k = counts.likely_draws, counts.unlikely_draws, counts.likely, counts.unlikely
    p = math.ceil(highest_likely(counts, LIMIT_SHARE * float(claim.significance)) * (1 + ROOM) * ONE)
    if not p < ONE:
        raise NotContradictedError("the likely probability is not bounded away from 1")
    inverse = exp_minus_lower(a, b)
    # the smallest odds ratio with exp(epsilon) <= p + odds (1 - p), for the lower bound of exp(-epsilon)
    odds = max(ONE, -((p * ONE * inverse - FIXED * ONE * ONE) // (inverse * (ONE - p))))
    few = RatioTail.binomial(n, n - j, ONE - p, ONE).steps(part, SHARE * level)
    many = _tail_given_total(counts, odds).steps((SHARE - 1) * part, SHARE * level)
    return (n, m, j, k, a, b, level, part, p, odds, *few, *many)


def _tail_given_total(counts: Counts, odds: int) -> RatioTail:
    """Return the tail of the likely count from the one seen, given the total."""
    n, m, total = counts.likely_draws, counts.unlikely_draws, counts.likely + counts.unlikely
    return RatioTail(
        counts.likely,
        max(0, total - m),
        min(n, total),
        lambda k: (n - k) * (total - k) * odds,
        lambda k: (k + 1) * (m - total + k + 1) * ONE,
    )
