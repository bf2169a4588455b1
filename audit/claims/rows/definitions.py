"""Definitions 1 and 2 as printed: an inequality for single outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from operator import eq
from typing import Any, TypeAlias

from audit.claims.registry import Control, Finding, claim

Output: TypeAlias = tuple[Any, ...]
DataSet: TypeAlias = tuple[int, ...]
Mechanism: TypeAlias = Callable[[DataSet], Mapping[Output, Fraction]]

ONE, ZERO = Fraction(1), Fraction(0)

RECORDS = 3
"""Data sets of three bits: every neighbouring pair is tried."""


def neighbouring_pairs() -> Iterator[tuple[DataSet, DataSet]]:
    """Yield all ordered pairs of data sets of :data:`RECORDS` bits that differ in one record."""
    for data in product((0, 1), repeat=RECORDS):
        for index in range(RECORDS):
            yield data, (*data[:index], 1 - data[index], *data[index + 1 :])


def publish_with_a_ticket(tickets: int) -> Mechanism:
    """Return the mechanism that publishes the data set beside a uniformly drawn number from 1 to `tickets`."""

    def mechanism(data: DataSet) -> Mapping[Output, Fraction]:
        return {(data, ticket): Fraction(1, tickets) for ticket in range(1, tickets + 1)}

    return mechanism


def randomised_response(keep: Fraction) -> Mechanism:
    """Return the mechanism that publishes every bit, each flipped with probability 1 - `keep`."""

    def mechanism(data: DataSet) -> Mapping[Output, Fraction]:
        kept = {output: sum(map(eq, data, output)) for output in product((0, 1), repeat=len(data))}
        return {output: keep**k * (1 - keep) ** (len(data) - k) for output, k in kept.items()}

    return mechanism


HONEST: Mechanism = randomised_response(Fraction(3, 4))


@dataclass(frozen=True)
class SmallestDelta:
    """The smallest delta at one epsilon, over all neighbouring data sets.

    Parameters
    ----------
    pointwise : Fraction
        For single outputs: the definition as printed.
    events : Fraction
        For sets of outputs.
    witness : tuple
        Data sets that show `events`.
    """

    pointwise: Fraction
    events: Fraction
    witness: tuple[DataSet, DataSet]


def smallest_delta(mechanism: Mechanism, factor: Fraction = ONE) -> SmallestDelta:
    """Return both deltas exactly, for epsilon = log `factor`.

    For events the worst set holds every output on which P exceeds `factor` times P', so the sum of the excesses
    is the smallest delta; for single outputs it is the largest excess.
    """
    pointwise, events = ZERO, Fraction(-1)
    witness: tuple[DataSet, DataSet] = ((), ())
    for left, right in neighbouring_pairs():
        other = mechanism(right)
        excesses = [max(p - factor * other.get(s, ZERO), ZERO) for s, p in mechanism(left).items()]
        pointwise = max(pointwise, *excesses)
        total = sum(excesses, ZERO)
        if total > events:
            events, witness = total, (left, right)
    return SmallestDelta(pointwise, events, witness)


def differ(mechanism: Mechanism, factor: Fraction) -> bool:
    """Return whether the definition as printed allows a smaller delta than events need."""
    found = smallest_delta(mechanism, factor)
    return found.pointwise < found.events


@claim(
    "D2",
    "(epsilon, delta)-differential privacy means that P(A(D) = s) <= exp(epsilon) P(A(D') = s) + delta for every "
    "output s.",
    "Definition 2",
    readings=("as printed, for single outputs s", "adjacency replace_one; N = 3 bits, every pair of data sets"),
    symbols=("reference.accounting.exact_privacy",),
    verdict="refuted",
    null=Control(
        "randomised response at epsilon = log 3, where single outputs and events need the same delta, 0",
        lambda: differ(HONEST, Fraction(3)),
    ),
    broken=Control(
        "a mechanism that publishes the data beside one of ten tickets, where events need a larger delta",
        lambda: differ(publish_with_a_ticket(10), ONE),
    ),
    paper_step="'for any possible output s'",
    why=(
        "Publish the data in full beside one of 1/delta equally likely tickets. Each single output then has a "
        "probability of at most delta, so the inequality holds for epsilon = 0. With densities for probabilities, "
        "stretching the output does the same."
    ),
    repaired="P(A(D) in S) <= exp(epsilon) P(A(D') in S) + delta for every measurable set S of outputs.",
    advice="Every statement of this package, and every verdict of the ledger, is about events.",
)
def definition_2() -> Finding:
    """Try all neighbouring data sets of three bits for the mechanism that publishes them with a ticket."""
    tickets = 1000
    coins = smallest_delta(HONEST, Fraction(2))
    found = smallest_delta(publish_with_a_ticket(tickets))
    vacuous = found.pointwise == Fraction(1, tickets) and found.events == 1
    stretched = stretched_densities(tickets)
    evidence = {
        "mechanism": f"publishes the data and a uniform ticket from 1 to {tickets}",
        "epsilon": "0",
        "smallest delta for single outputs": str(found.pointwise),
        "smallest delta for events": str(found.events),
        "data sets": [list(data) for data in found.witness],
        "event": f"the published data are {list(found.witness[0])}",
        "neighbouring pairs gone through": len(list(neighbouring_pairs())),
        "randomised response (3/4), epsilon = log 2: deltas for outputs and events": [
            str(coins.pointwise),
            str(coins.events),
        ],
        "with densities: uniform noise of width 1000 on 1000 x": stretched,
    }
    return Finding("refuted" if vacuous and stretched["vacuous"] else "undecided", "none", evidence)


def stretched_densities(width: int) -> dict[str, Any]:
    """Publish `width` (x + U) for a bit x and U uniform on [0, 1): of density 1/width, and the bit is visible."""
    supports = {x: (Fraction(width * x), Fraction(width * (x + 1))) for x in (0, 1)}
    density = 1 / (supports[0][1] - supports[0][0])
    disjoint = supports[0][1] <= supports[1][0]
    return {
        "largest excess of one density over the other": str(density),
        "probability of the event 'output below 1000': x = 0, x = 1": ["1", "0"] if disjoint else None,
        "vacuous": disjoint and density == Fraction(1, width),
    }


# --- Definition 1 -----------------------------------------------------------------------------------------------


Distribution: TypeAlias = Callable[[Fraction], Fraction]
"""P(X <= t) as an exact function of t."""

TINY = Fraction(1, 2**100)


def uniform(low: Fraction, high: Fraction) -> Distribution:
    """Return the distribution function of a uniform number."""
    return lambda t: min(ONE, max(ZERO, (t - low) / (high - low)))


def bit(probability: Fraction) -> Distribution:
    """Return the distribution function of a number that is 1 with a probability, else 0."""
    return lambda t: ZERO if t < 0 else 1 - probability if t < 1 else ONE


def single_outputs_tell_nothing(left: Distribution, right: Distribution) -> bool:
    """Return whether no single output has a probability, yet some event is certain under one input only.

    The event never happens under the other input.  P(X = t) is at most P(t - h < X <= t) for every h, checked
    at on a grid that holds all ends and atoms.
    """
    grid = [Fraction(k, 16) for k in range(-16, 49)]
    largest = max(f(t) - f(t - TINY) for f in (left, right) for t in grid)
    separated = any(left(t) == 1 and right(t) == 0 for t in grid)
    return largest <= 16 * TINY and separated


NOISY_BIT = uniform(ZERO, Fraction(1, 4)), uniform(ONE, Fraction(5, 4))
"""x + U for x = 0 and x = 1, U uniform on [0, 1/4]."""


@claim(
    "D1",
    "Epsilon-differential privacy means that P(A(D) = s) <= exp(epsilon) P(A(D') = s) for every output s.",
    "Definition 1",
    readings=("P as a probability of the single output", "P as a density"),
    symbols=("reference.accounting.exact_privacy",),
    verdict="ambiguous",
    null=Control(
        "a bit published as it is with probability 3/4, whose two outputs have a probability each",
        lambda: single_outputs_tell_nothing(bit(Fraction(1, 4)), bit(Fraction(3, 4))),
    ),
    broken=Control(
        "a bit published with uniform noise on [0, 1/4], where no single output has a probability",
        lambda: single_outputs_tell_nothing(*NOISY_BIT),
    ),
    paper_step="'for any possible output s'",
    why=(
        "For outputs with a density, which all of the paper's have, P(A(D) = s) is 0 and the inequality says "
        "nothing. For countably many outputs, or with densities, it is the usual definition: it adds up over "
        "every event."
    ),
    repaired="Require the same for every measurable set of outputs, or for densities.",
    advice="Read it with densities, as the paper's proofs do.",
)
def definition_1() -> Finding:
    """List the readings: vacuous for probabilities of single real outputs, right for densities and for atoms."""
    randomised = smallest_delta(HONEST, Fraction(3))
    vacuous = single_outputs_tell_nothing(*NOISY_BIT)
    evidence = {
        "read as a probability": "vacuous for outputs with a density",
        "x + U, U uniform on [0, 1/4], publishes x and satisfies it": vacuous,
        "read with densities, or for countably many outputs": "equivalent to events",
        "randomised response, epsilon = log 3: deltas for outputs and events": [
            str(randomised.pointwise),
            str(randomised.events),
        ],
    }
    agree = randomised.pointwise == randomised.events == 0
    return Finding("ambiguous" if agree and vacuous else "undecided", "none", evidence)
