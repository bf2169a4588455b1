"""What the findings of an assertion and of a command have in common, as JSON."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from audit.auditor.distinguish import Estimate
from audit.auditor.tally import CertifiedEvent
from audit.auditor.verdict import Verdict
from reference.common.documents import plain
from reference.common.numbers import decimal_text


def told_of_estimate(
    found: Estimate, claim: tuple[float, Fraction], verdicts: tuple[Verdict, Verdict], **of_inputs: Any
) -> dict[str, Any]:
    """Return the claim, the bounds with their witnesses, the draws and the verdicts.

    Parameters
    ----------
    found : audit.auditor.distinguish.Estimate
    claim : tuple
        Epsilon and delta.
    verdicts : tuple of str
        On the ideal mechanism, and on floats as they are.
    **of_inputs
        What a witness tells besides the event and its counts.
    """
    epsilon, delta = claim
    ideal, implementation = verdicts
    return {
        "claimed_epsilon": epsilon,
        "claimed_delta": decimal_text(delta),
        "epsilon_lower_bound": found.epsilon_lower_bound,
        "significance": found.significance,
        "bound": found.method,
        "detectable_epsilon": found.detectable_epsilon(epsilon),
        "draws": found.draws,
        "stopped": found.stopped,
        "verdict": ideal,
        "implementation_verdict": implementation,
        "witness": witness_of(found.ideal, **of_inputs),
        "implementation": told_of_bits(found, **of_inputs),
    }


def told_of_bits(found: Estimate, **of_inputs: Any) -> dict[str, Any]:
    """Return the bound on floats as they are, its method and its witness."""
    bits = found.implementation
    return {
        "epsilon_lower_bound": bits.epsilon_lower_bound,
        "bound": bits.method,
        "witness": witness_of(bits, **of_inputs),
    }


def witness_of(found: CertifiedEvent, **of_inputs: Any) -> dict[str, Any]:
    """Return what is told of the inputs, the certified event and its counts."""
    return {**of_inputs, "event": found.event.to_json(), "counts": plain(found.counts)}
