"""Events in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audit.auditor.events import Event
from audit.auditor.events.bits import EqualityScore
from audit.bounds import Counts

NEGATIVE_ZERO = "negative_zero"
"""The kind of bits that is the sign of a zero."""


def event_in_words(event: Event, names: Sequence[str] = ()) -> str:
    """Describe an event in a few words.

    Parameters
    ----------
    event : Event
    names : sequence of str
        Of the coordinates of an output.
    """
    document = event.to_json()
    coordinate = document.get("coordinate")
    if coordinate is not None and event.reduction is not None:
        where = event.reduction.described(coordinate)
    else:
        where = "" if coordinate is None else (names[coordinate] if names else f"output[{coordinate}]")
    occurs = event.at_least == (event.threshold > 0)
    if document["score"] == "coordinate":
        return f"{where} {document['relation']} {event.threshold:.6g}"
    if document["score"] == "interval":
        return f"{where} {'' if occurs else 'not '}in [{document['low']:.6g}, {document['high']:.6g}]"
    if document["score"] == "bits":
        offset = f" - {document['offset']:g}" if document["offset"] else ""
        return f"{document['kind']} of {where}{offset} {document['relation']} {event.threshold:g}"
    if document["score"] == "residue":
        ratios = list(enumerate(document["log_ratios"]))
        inside = [str(residue) for residue, ratio in ratios if event.within(np.array([ratio])).all()]
        steps = "" if document["unit"] == 1 else f" in steps of {document['unit']:g},"
        return f"{where}{steps} mod {document['modulus']} in {{{', '.join(inside)}}}"
    if document["score"] in ("one_sided", "one_sided_rows"):
        what = where or "the whole output"
        return f"{what} is {'' if occurs else 'not '}one of {len(document['values']):,} that one input alone had"
    if document["score"] == "distance":
        side = "at least" if event.at_least else "at most"
        return f"a sum of weighted coordinates is {side} {event.threshold:.6g} from {document['centre']:.6g}"
    if document["score"] == "not_finite" and where:
        return f"{document['kind']} {'' if occurs else 'not '}in {where}"
    score = {"not_finite": f"{document.get('kind')} in an output"}.get(
        document["score"], document["score"] + " score"
    )
    return f"{score} {document['relation']} {event.threshold:.6g}" + (f" of {where}" if where else "")


def unseen_in_words(share: float) -> str:
    """Say that a share of the outputs has values that are too rare to be learned, and what that leaves open."""
    return (
        f"{share:.2g} of the outputs have values too rare to be learned: more draws would show if one input has "
        "some of them alone"
    )


def is_of_rounding(event: Event) -> bool:
    """Return whether an event at the bits may show rounding alone, as plain floating-point noise does.

    The sign of a zero and coordinates that are equal bit for bit are no rounding of noise.
    """
    document = event.to_json()
    return document["score"] != EqualityScore.name and document.get("kind") != NEGATIVE_ZERO


def counted_in_words(event: Event, counts: Counts, names: Sequence[str] = ()) -> str:
    """Describe an event and how often it occurred on each input."""
    other = "right" if event.likely_input == "left" else "left"
    calls = "" if counts.calls is None else f", in calls of {counts.calls.outputs_per_call}"
    return (
        f"{event_in_words(event, names)}, on {event.likely_input} {counts.likely:,} of {counts.likely_draws:,}, "
        f"on {other} {counts.unlikely:,} of {counts.unlikely_draws:,}{calls}"
    )
