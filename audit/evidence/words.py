"""Events in words."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from audit.auditor.events import Event
from audit.auditor.events.bits import EqualityScore
from audit.auditor.events.scores import AdditiveScore
from audit.auditor.events.trees import TreeScore
from audit.auditor.tally import CertifiedEvent
from audit.bounds import Counts, largest_certifiable_epsilon, p_value
from reference.common.numbers import text_below
from reference.common.printable import printable

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
    where = "" if coordinate is None else coordinate_in_words(event, coordinate, names)
    if document["score"] in INDICATORS or document.get("kind") == NEGATIVE_ZERO:
        without, occurs = event.within(np.array([0.0, 1.0])).tolist()
        return "any output" if without and occurs else _indicator_in_words(document, where, occurs=occurs)
    match document["score"]:
        case "coordinate":
            return f"{where} {document['relation']} {event.threshold:.6g}"
        case "residue":
            return f"{where} {_residue_in_words(event, document)}"
        case "category":
            return _category_in_words(event, document, names)
        case EqualityScore.name:
            return _equal_in_words(event)
        case "distance":
            side = "at least" if event.at_least else "at most"
            return f"{_sum_in_words(event, names)} is {side} {event.threshold:.6g} from {document['centre']:.6g}"
        case "logistic":
            return f"{_sum_in_words(event, names)} {document['relation']} {event.threshold:.6g}"
    exact = f"{document['relation']} {event.threshold:.6g}"
    if document["score"] in LEARNED:
        return f"{_learned_in_words(event, names)}, which is {exact}"
    if document["score"] == "bits":
        offset = f" - {document['offset']:g}" if document["offset"] else ""
        return f"{document['kind']} of {where}{offset} {exact}"
    return f"{document['score']} score {exact}" + (f" of {where}" if where else "")


INDICATORS = ("interval", "not_finite", "one_sided", "one_sided_rows", "unseen")
"""Scores that are 0 or 1."""

KINDS = {"nan": "NaN", "+inf": "+infinity", "-inf": "-infinity"}
"""What an event of outputs that are not finite may look for."""

FEW_VALUES = 3
"""Values that are named."""


def _indicator_in_words(document: dict[str, Any], where: str, *, occurs: bool) -> str:
    """Describe the event that a score is 1, or that it is 0."""
    negated, kind = "" if occurs else "not ", document.get("kind")
    if kind == NEGATIVE_ZERO:
        return f"{where} is {negated}-0.0"
    if kind == "any":
        return f"{where or 'an output'} is {'not ' if occurs else ''}finite"
    if kind is not None:
        return (
            f"{where} is {negated}{KINDS[kind]}"
            if where
            else f"an output contains {'' if occurs else 'no '}{KINDS[kind]}"
        )
    if document["score"] == "interval":
        return f"{where} {negated}in [{document['low']:.6g}, {document['high']:.6g}]"
    return f"{where or 'the whole output'} is {_listed_in_words(document, occurs=occurs)}"


def _values_in_words(values: Sequence[Any]) -> str:
    """List a few values, or rows of them, and say how many more there are."""
    told = [
        f"({', '.join(f'{number:.6g}' for number in value)})" if isinstance(value, list) else f"{value:.6g}"
        for value in values[:FEW_VALUES]
    ]
    if left := len(values) - len(told):
        return f"{', '.join(told)} or {left:,} more"
    return " or ".join(filter(None, [", ".join(told[:-1]), told[-1]]))


def _listed_in_words(document: dict[str, Any], *, occurs: bool) -> str:
    """Say that a value is among those of a table, or is not."""
    values = document["values"]
    if document["score"] == "unseen":
        return f"{'none' if occurs else 'one'} of {len(values):,} values that were learned"
    many, negated = f"of {len(values):,} values that one input alone had", "" if occurs else "not "
    if len(values) > FEW_VALUES:
        return f"{negated}one {many}"
    return f"{negated}{_values_in_words(values)}, which one input alone had"


def _category_in_words(event: Event, document: dict[str, Any], names: Sequence[str]) -> str:
    """Say which values the event takes, or which it leaves out if all others are in it."""
    *within, others = event.within(np.array([*document["log_ratios"], document["other"]])).tolist()
    places = [coordinate_in_words(event, place, names) for place in document["coordinates"]]
    rows = [row[0] if len(places) == 1 else row for row in document["values"]]
    listed = [row for row, yes in zip(rows, within, strict=True) if yes is not others]
    what = places[0] if len(places) == 1 else f"({', '.join(places)})"
    if not listed:
        return f"{what} is {'any value' if others else 'no value'}"
    return f"{what} is {'not ' if others else ''}{_values_in_words(listed)}"


def _equal_in_words(event: Event) -> str:
    """Say how many coordinates are equal to another one."""
    bits = "" if event.quantiser is not None else ", bit for bit"
    if event.at_least:
        number = math.ceil(event.threshold)
        return f"{'two' if number == 1 else f'{number + 1:,} or more'} coordinates are equal{bits}"
    number = math.floor(event.threshold)
    return f"{'no two' if number == 0 else f'at most {number + 1:,}'} coordinates are equal{bits}"


def coordinate_in_words(event: Event, coordinate: int, names: Sequence[str] = ()) -> str:
    """Name a coordinate of the outputs that an event looks at, or of what they are reduced to."""
    if event.reduction is not None:
        return event.reduction.described(coordinate)
    return names[coordinate] if names else f"output[{coordinate}]"


def _residue_in_words(event: Event, document: dict[str, Any]) -> str:
    """Say of which residues a number must be; `other` numbers, where they are told apart, may be in or out."""
    modulus, unit, other = document["modulus"], document["unit"], document["other"]
    listed = document["residues"] or range(modulus)
    told = [*document["log_ratios"], other if other is not None else np.nan]
    *within, others_within = event.within(np.array(told)).tolist()
    inside = [residue for residue, yes in zip(listed, within, strict=True) if yes]
    if document["residues"]:
        outside = [residue for residue in listed if residue not in inside]
        places = [f"{residue * unit:.6g}" for residue in (outside if others_within else inside)]
        some = ", ".join(places[:FEW_PLACES]) + (
            f" or {len(places) - FEW_PLACES} more" if places[FEW_PLACES:] else ""
        )
        return f"leaves {'no' if others_within else 'a'} rest near {some} when divided by {modulus * unit:g}"
    if other is None:
        return f"is nearest to {_multiple_in_words(modulus, inside, unit)}"
    none = f"no multiple of {unit:g}"
    if not inside:
        return f"is {none}"
    return f"is {_multiple_in_words(modulus, inside, unit)}" + (f", or {none}" if others_within else "")


FEW_PLACES = 3
"""Places that are named."""


def _multiple_in_words(modulus: int, residues: Sequence[int], unit: float) -> str:
    """Say which multiples of a unit these are, by their number's residues."""
    if modulus == 2 and len(residues) == 1:
        parity = "an even" if residues[0] == 0 else "an odd"
        return f"{parity} whole number" if unit == 1 else f"{parity} multiple of {unit:g}"
    leaves, listed = "leaves", list(residues)
    if len(listed) > modulus / 2:
        leaves, listed = "does not leave", [one for one in range(modulus) if one not in residues]
    some = ", ".join(map(str, listed[:-1])) + " or " * (len(listed) > 1) + "".join(map(str, listed[-1:]))
    multiple = "a whole number k" if unit == 1 else f"k times {unit:g}"
    return f"{multiple}, and k {leaves} {some} when divided by {modulus}"


HEAVIEST = 3
"""Weights of a sum that are named, and coordinates of a learned score."""

LEARNED = (AdditiveScore.name, TreeScore.name)
"""Scores that no few numbers tell."""


def _learned_in_words(event: Event, names: Sequence[str]) -> str:
    """Say how many coordinates a learned score looks at, and which weigh most."""
    document = event.to_json()
    if document["score"] == AdditiveScore.name:
        weights = np.ptp(np.asarray(document["log_ratios"], dtype=np.float64), axis=1)
    else:
        splits = zip(document["feature"], document["tree_threshold"], strict=True)
        inner = [k for tree in splits for k, at in zip(*tree, strict=True) if at is not None]
        weights = np.bincount(inner).astype(np.float64)
    width = None if event.quantiser is None else len(event.quantiser.steps)
    order = np.argsort(-weights, kind="stable")
    used = [int(k) for k in order if weights[k]]
    if document["score"] == AdditiveScore.name and len(weights) == 1:
        # a row of bins that serves every coordinate
        used = list(range(width or 0))
        weights = np.ones(len(used))
    told = [coordinate_in_words(event, k, names) for k in used[:HEAVIEST]]
    if not told:
        return "a score learned from all coordinates"
    if len(used) <= HEAVIEST:
        return f"a score learned from {_listed(told)}"
    many = f"all {width:,}" if len(used) == width else f"{len(used):,}"
    heavy = f" ({_listed(told)} weigh most)" if np.ptp(weights[: max(used) + 1]) else ""
    return f"a score learned from {many} coordinates{heavy}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _sum_in_words(event: Event, names: Sequence[str]) -> str:
    """Describe a weighted sum of coordinates by its heaviest weights."""
    weights = np.asarray(event.to_json()["weights"], dtype=np.float64)
    order = np.argsort(-np.abs(weights), kind="stable")
    heavy = [int(k) for k in order[:HEAVIEST] if weights[k]]
    terms = ", ".join(f"{weights[k]:.3g} times {coordinate_in_words(event, k, names)}" for k in heavy)
    left = int(np.count_nonzero(weights)) - len(heavy)
    return f"a sum of weighted coordinates ({terms}{f' and {left:,} more' if left else ''})"


CLEAR = 1e-3
"""A refutation that holds at this significance needs no advice."""


def barely_refuted(
    found: CertifiedEvent, claimed: float, delta: float, significance: float, *, seeded: bool
) -> str | None:
    """Return what to do about a refutation that does not hold at a smaller significance; None if it does.

    Parameters
    ----------
    found : CertifiedEvent
    claimed, delta, significance : float
    seeded : bool
        Whether the same seed would repeat the draws.
    """
    if significance <= CLEAR or p_value(found.decided_by.effective, claimed, delta) <= CLEAR:
        return None
    return (
        f"barely refuted: at significance {CLEAR:g} the claim would stand, and chance refutes a right one in up "
        f"to {significance:g} of all runs; repeat {'with another seed and' if seeded else 'it with'} more draws"
    )


AS_LARGE = 1 - 1e-9
"""Share of the largest bound from which a bound is that one, but for rounding."""


def at_the_limit(found: CertifiedEvent, draws: int, delta: float, significance: float) -> str | None:
    """Say that a bound is no measured loss, where its event never happened on one input; None if it did.

    Parameters
    ----------
    found : CertifiedEvent
    draws : int
        Of all phases and both inputs.
    delta, significance : float
    """
    if found.counts.unlikely:
        return None
    never = f"the event never happened on the {'right' if found.event.likely_input == 'left' else 'left'}"
    most = largest_certifiable_epsilon(
        found.counts.effective.likely_draws, delta, found.share * significance, found.method
    )
    bound = found.epsilon_lower_bound
    if bound < AS_LARGE * most:
        return f"more draws may show more than {text_below(bound, 4)}: {never}"
    return f"{text_below(bound, 4)} is the most that {draws:,} draws can show: {never}"


SHORT_INPUT, SHORT_RECORD, FEW_RECORDS = 300, 100, 3
"""Most characters of two inputs that are shown whole, and of a record of longer ones; and how many records."""


REST = re.compile(r"' and [\d,]+ bytes more$")
"""What a summary says of a record that it does not have in full."""


def inputs_in_words(left: Any, right: Any, noun: str = "record") -> str:
    """Describe two inputs, given as JSON; of long ones, in which records (or what the noun says) they differ."""
    sides = left, right
    if all(map(_is_summary, sides)):
        # a place that one side lacks is beyond its end
        places = sorted({*left["different"], *right["different"]}, key=int)
        told = [[side["different"].get(place) for place in places] for side in sides]
        return _differing([side["length"] for side in sides], [int(place) for place in places], told, noun)
    lines = [[_json_line(record) for record in side] if isinstance(side, list) else [] for side in sides]
    whole = [
        f"[{', '.join(records)}]" if isinstance(side, list) else _json_line(side)
        for side, records in zip(sides, lines, strict=True)
    ]
    if sum(map(len, whole)) <= SHORT_INPUT:
        return f"{whole[0]} against {whole[1]}"
    if all(isinstance(side, list) for side in sides):
        different = [(place, pair) for place, pair in enumerate(zip_longest(*lines)) if pair[0] != pair[1]]
        told = [[pair[side] for _, pair in different] for side in (0, 1)]
        return _differing([len(side) for side in sides], [place for place, _ in different], told, noun)
    start, cut = _cut_to_differ(whole, SHORT_INPUT // 2)
    return f"they differ{start}: {cut}" if start else cut


def _is_summary(side: Any) -> bool:
    """Return whether an input is told by its length, digest and differing records, not as it is."""
    if not isinstance(side, dict) or set(side) != {"length", "sha256", "different"}:
        return False
    length, different = side["length"], side["different"]
    if not isinstance(length, int) or not isinstance(different, dict):
        return False
    return all(place.isdecimal() and isinstance(record, str) for place, record in different.items())


def _differing(
    lengths: Sequence[int], places: Sequence[int], told: Sequence[Sequence[str | None]], noun: str
) -> str:
    records = f"{lengths[0]:,} {noun}{'s' * (lengths[0] != 1)}"
    records += f" against {lengths[1]:,}" if lengths[0] != lengths[1] else ""
    named = []
    for place, *pair in list(zip(places, *told, strict=True))[:FEW_RECORDS]:
        texts = ["none" if one is None else printable(one.encode()) for one in pair]
        start, cut = _cut_to_differ(texts, SHORT_RECORD)
        alike = len({REST.sub("", text) for text in texts}) == 1
        what = " after its start, which is all that is kept" if alike else f"{start}: {cut}"
        named.append(f"{noun} {place} differs{what}")
    more = ["and more"] if len(places) > FEW_RECORDS else []
    return "; ".join([f"{records}, counted from 0", *named, *more])


ENCODER = json.JSONEncoder(ensure_ascii=False)
"""Made once, for the many records of an input."""


def _json_line(given: Any) -> str:
    """Return JSON in one line: a program's text must not steer the reader's terminal."""
    return printable(ENCODER.encode(given).encode("utf-8", errors="backslashreplace"))


def _cut_to_differ(texts: Sequence[str], most: int) -> tuple[str, str]:
    """Return both texts, cut; and, where their starts are equal, from which character (the first is 0) on."""
    same = next((at for at, (one, other) in enumerate(zip_longest(*texts)) if one != other), None)
    if same is None or same < most:
        return "", " against ".join(_cut(text, most) for text in texts)
    # with the number that differs as a whole, unless it is a long text
    start = max(texts[0].rfind(" ", 0, same) + 1, same - most // 2)
    return f", from character {start:,}", " against ".join(_cut(text, most, start) for text in texts)


def _cut(text: str, most: int, start: int = 0) -> str:
    end = start + most
    return text[start:] if len(text) <= end else f"{text[start:end]}... ({len(text):,} characters)"


def unseen_in_words(share: float) -> str:
    """Say that a share of the outputs has values that are too rare to be learned, and what that leaves open."""
    return (
        f"{share:.2g} of the outputs have values too rare to be learned: more draws would show if one input has "
        "some of them alone"
    )


def is_of_rounding(event: Event) -> bool:
    """Return whether an event at the bits may show rounding alone, as plain floating-point noise does.

    The sign of a zero, and coordinates that are equal bit for bit, do not come from rounding noise.
    """
    document = event.to_json()
    return document["score"] != EqualityScore.name and document.get("kind") != NEGATIVE_ZERO


AT_THE_BITS = "at the bits, refuted"
"""Begins what is said of floats as they are, where the verdict on rounded outputs is another one."""


def bits_in_words(found: CertifiedEvent, *, finer: bool) -> tuple[str, bool]:
    """Say that floats as they are tell the inputs apart, what it means and what to do; and whether to note it.

    Plain floating-point noise does that, too, so it is no news.

    Parameters
    ----------
    found : CertifiedEvent
        Of the implementation.
    finer : bool
        Whether outputs differ by less than the grid, and perhaps by more than rounding.
    """
    bound = f"epsilon is at least {text_below(found.epsilon_lower_bound, 4)}"
    event = f"{bound}; event: {counted_in_words(found.event, found.counts)}"
    if not is_of_rounding(found.event):
        return (
            f"{AT_THE_BITS} by more than rounding: {event}; look at what your code does after adding noise",
            True,
        )
    if finer:
        advice = "publish fewer digits, or audit the small part alone"
        return f"{AT_THE_BITS}, perhaps by more than rounding: {event}; {advice}", True
    advice = "the verdict is on rounded outputs; if you publish every bit, use hardened noise"
    return f"{AT_THE_BITS} ({bound}), as plain floating-point noise is: {advice}", False


def counted_in_words(event: Event, counts: Counts, names: Sequence[str] = ()) -> str:
    """Describe an event and how often it occurred on each input."""
    other = "right" if event.likely_input == "left" else "left"
    calls = "" if counts.calls is None else f", in calls of {counts.calls.outputs_per_call}"
    return (
        f"{event_in_words(event, names)}, on {event.likely_input} {counts.likely:,} of {counts.likely_draws:,}, "
        f"on {other} {counts.unlikely:,} of {counts.unlikely_draws:,}{calls}"
    )
