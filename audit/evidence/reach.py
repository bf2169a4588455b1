"""What an estimate could have shown of a claim, and what it leaves open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audit.auditor.choose import Prospect
from audit.auditor.distinguish import LARGEST_DRAWS, Estimate
from audit.auditor.events import FAMILIES
from audit.auditor.events.atoms import MOST_PAIRED
from audit.auditor.notes import of_passed_over
from audit.auditor.selection import CHOOSE_SHARE, MOST_ROWS
from audit.auditor.verdict import STATED_SIZE
from audit.bounds import detectable_by_event
from audit.evidence.words import event_in_words
from reference.common.numbers import text_below

EVENT_PROBABILITIES = (0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 0.0)
"""Probabilities of an event, on the input where it is rarer, for which to state the smallest detectable loss."""

SEEN_TO_BE_CHOSEN = 50
"""Expected occurrences of a leak in the selection draws at which about nine runs of ten choose it.

Even amid the outputs of a mechanism that spends its whole claim; far from them about 30 do.
"""

OTHER_PAIRS = "other pairs of inputs"
"""Begins what every audit leaves open."""

WEAK_PAIR = 0.5
"""A pair that shows less than this share of the claim may be a tame one."""

USUAL_COMPETITORS = 64
"""Scores of one coordinate that are judged together, about."""


@dataclass(frozen=True, eq=False)
class EstimateReach:
    """The losses and leaks that an estimate could have shown.

    Parameters
    ----------
    estimate : Estimate
    claimed : float
        The claimed epsilon.
    searched : int
        Draws that a search for the pair has spent.
    """

    estimate: Estimate
    claimed: float
    searched: int = 0

    @cached_property
    def detectable_by_event(self) -> list[dict[str, float | None]]:
        """The smallest loss detectable with power 0.9, by the event's probability on its rarer input."""
        found, draws = self.estimate, self.estimate.counts.effective.likely_draws
        # an event that never occurs on one input has a probability far below one in all draws
        probabilities = np.array([p or 1e-3 / draws for p in EVENT_PROBABILITIES])
        delta = found.delta
        epsilons = detectable_by_event(
            self.claimed, draws, delta, found.ideal.share * found.significance, found.method, probabilities
        )
        rows = zip(EVENT_PROBABILITIES, probabilities, epsilons, strict=True)
        return [
            {
                "unlikely": shown,
                "likely": None if np.isnan(epsilon) else float(np.exp(epsilon) * p + delta),
                "epsilon": None if np.isnan(epsilon) or not shown else float(epsilon),
            }
            for shown, p, epsilon in rows
        ]

    @property
    def rarest_leak(self) -> float | None:
        """The smallest probability of a leak on one input only that about nine runs of ten would find.

        It must occur often enough in the certifying draws to refute the claim, and often enough in the
        selection draws to be chosen.  None if no event could refute the claim.
        """
        never = next(row["likely"] for row in self.detectable_by_event if row["unlikely"] == 0.0)
        if never is None:
            return None
        return min(1.0, max(never, SEEN_TO_BE_CHOSEN / max(self.estimate.selection_draws, 1)))

    def draws_needed(self) -> int | None:
        """Return about how many draws would decide, if there are rare events; None if no countable number would.

        An event that is rare enough for the claim must be chosen, by draws of which few show it on one input, and
        then counted.  Where this many draws should have done, it is twice as many.
        """
        found, draws = self.estimate, self.estimate.requested_draws
        certify = found.counts.effective.likely_draws / found.draws
        choose, significance = self._choosing_share, found.ideal.share * found.significance
        while (draws := 2 * draws) <= LARGEST_DRAWS:
            rows = max(1, int(draws * certify))
            larger = found.detectable_with(self.claimed, rows)
            prospect = Prospect(rows, found.delta, significance, USUAL_COMPETITORS, self.claimed)
            chosen_on = max(1, min(int(draws * choose), MOST_ROWS))
            if larger is not None and larger <= STATED_SIZE * self.claimed and prospect.finds_able(chosen_on):
                return draws
        return None

    @property
    def _choosing_share(self) -> float:
        """The share of all draws, per input, that may be used to choose the event."""
        calls = self.estimate.counts.calls
        per_call = 1 if calls is None else calls.outputs_per_call
        return CHOOSE_SHARE / 2 * (1 - self.searched / self.estimate.requested_draws) / per_call

    @property
    def always_occurs(self) -> bool:
        """Whether the event occurs in every output, as where all are alike: then no event is rare."""
        counts = self.estimate.counts
        return (counts.likely, counts.unlikely) == (counts.likely_draws, counts.unlikely_draws)

    def draws_in_words(self) -> str:
        """Say how many draws would decide."""
        if self.always_occurs:
            return "more draws may not help, as it occurs in every output"
        needed = self.draws_needed()
        if needed is None:
            return "no number of draws that can be counted would decide"
        decided = f"about {needed:,} draws would decide"
        if self.claimed < 1:
            # most events are as rare as that
            return decided
        rare = f"an event that one input has less often than once in {math.exp(self.claimed):,.0f} outputs"
        return f"{decided}, if there is {rare}"

    def of_other_pairs(self, *, chosen: bool) -> str:
        """Name the other pairs of inputs; if this one shows little of the claim, ask for a more extreme one.

        Parameters
        ----------
        chosen : bool
            Whether the pair is the user's, of whom nobody knows how extreme it is, and the claim is not refuted.
        """
        bound = self.estimate.epsilon_lower_bound
        if not chosen or bound >= WEAK_PAIR * self.claimed:
            return OTHER_PAIRS
        shows = f"this pair shows {text_below(bound, 2)} of the claimed {self.claimed:g}"
        if self.searched:
            return f"{OTHER_PAIRS} ({shows}: does the searched range go beyond what your code clips?)"
        return f"{OTHER_PAIRS} ({shows}: is it the most extreme your code accepts?)"

    def of_other_events(self, searched: Sequence[str] = FAMILIES, names: Sequence[str] = ()) -> list[str]:
        """Say what other events would show.

        Parameters
        ----------
        searched : sequence of str
            Families of events.
        names : sequence of str
            Of the coordinates of an output.
        """
        found = self.estimate
        untried = [family for family in FAMILIES if family not in searched]
        kinds = f", and {', '.join(untried)}, which were left out" if untried else ""
        certified = event_in_words(found.event, names)
        parts = [f"what another event would show: the bound is that of this one ({certified})"]
        of_one = (
            "residues modulo more than 256, in part of the range or of a minority of the outputs, single bits of "
            "floats but the last, or digits of numbers that do not repeat"
        )
        parts.append(f"kinds of events that were not searched, such as {of_one}{kinds}")
        parts += of_passed_over(found.notes)
        if found.event.quantiser is not None and len(found.event.quantiser.steps) > 1:
            parts.append("most weighted sums of coordinates that are finer than the grid")
            parts.append(_repeated_sums(searched, len(found.event.quantiser.steps)))
            parts.append("residues, norms and relations of several coordinates, and what many show only together")
        if found.event.reduction is not None:
            kept = f"the {len(found.event.reduction.coordinates)} whose distributions differ most"
            parts.append(f"what coordinates show only together, outside {kept}")
        return parts

    def of_sizes(self) -> list[str]:
        """Say how small a loss and how rare a leak stays open."""
        parts: list[str] = []
        detectable = self.estimate.detectable_epsilon(self.claimed)
        if detectable is None:
            parts.append("any loss at all: with this many draws this event cannot refute this claim")
        else:
            smallest = "the smallest that this event shows in nine runs of ten"
            parts.append(f"losses on this pair below {detectable:.3g}, {smallest}")
        leak = self.rarest_leak
        if leak is not None:
            often = f"happen less often than about once in {1 / leak:,.0f} draws"
            parts.append(f"leaks that {often if leak < 2 / 3 else 'do not happen in every draw'}")
        return parts


def _repeated_sums(searched: Sequence[str], width: int) -> str:
    """Say of which sums no event looked at single values."""
    repeated = "single values that weighted sums of coordinates repeat"
    if "directions" not in searched or width > MOST_PAIRED:
        return f"{repeated} (pairs are looked at among up to {MOST_PAIRED} coordinates, by `directions`)"
    return f"{repeated}, but those of two coordinates with weights 1 and 1, 2 or 1/2 of either sign"
