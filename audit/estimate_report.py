"""What an audit says: the contract's JSON, the certificate and the text."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from audit.bounds import detectable_by_event
from audit.certificate import Certificate, versions
from audit.distinguish import LARGEST_DRAWS, Estimate, Finding
from audit.events import Event
from audit.programs.protocol import printable
from audit.stored_curve import StoredCurve
from audit.subjects import Subject
from audit.verdict import STATED_SIZE
from reference.numbers import decimal_text, text_below

EVENT_PROBABILITIES = (0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 0.0)
"""For which the smallest detectable loss is stated: of the event on the input where it is less likely."""

WIDTH = 140
"""Of the table, in characters: the mechanisms of the paper fit in a line each."""

SEEN_TO_BE_CHOSEN = 30
"""Expected occurrences of a leak in the selection draws at which it is chosen in about nine runs of ten."""


@dataclass(frozen=True, eq=False)
class Audit:
    """One subject with its claim.

    Parameters
    ----------
    mechanism : str
    subject : Subject
    document : dict
        From which :func:`audit.descriptions.rebuild` makes the subject.
    claimed_epsilon, claimed_delta : Fraction
    inputs : dict
        The neighbouring inputs, for a reader.
    output_names : tuple of str
        What the coordinates of an output are; empty where nobody says.
    """

    mechanism: str
    subject: Subject
    document: dict[str, Any]
    claimed_epsilon: Fraction
    claimed_delta: Fraction
    inputs: dict[str, Any]
    output_names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Result:
    """An audit with its estimate."""

    audit: Audit
    estimate: Estimate
    seconds: float
    seed: int
    rerun: str

    @property
    def claimed(self) -> float:
        """The claimed epsilon."""
        return float(self.audit.claimed_epsilon)

    def verdict(self, judged: str) -> str:
        """Return the verdict on the `ideal` mechanism or on the `implementation`."""
        return self.estimate.verdict(self.claimed, implementation=judged == "implementation")

    def finding(self, judged: str) -> Finding:
        """Return what the verdict rests on."""
        return self.estimate.implementation if judged == "implementation" else self.estimate.ideal

    def to_json(self) -> dict[str, Any]:
        """Return the contract's object."""
        found, audit = self.estimate, self.audit
        return {
            "mechanism": audit.mechanism,
            "claimed_epsilon": self.claimed,
            "claimed_delta": decimal_text(audit.claimed_delta),
            "epsilon_lower_bound": found.epsilon_lower_bound,
            "significance": found.significance,
            "bound": found.method,
            "detectable_epsilon": found.detectable_epsilon(self.claimed),
            "detectable_by_event": self.detectable_by_event,
            "largest_certifiable_epsilon": found.largest_certifiable_epsilon,
            "draws": found.draws,
            "requested_draws": found.requested_draws,
            "stopped": found.stopped,
            "seconds": self.seconds,
            "verdict": self.verdict("ideal"),
            "implementation_verdict": self.verdict("implementation"),
            "witness": self.witness(found.ideal),
            "implementation": {
                "epsilon_lower_bound": found.implementation.epsilon_lower_bound,
                "bound": found.implementation.method,
                "witness": self.witness(found.implementation),
            },
            "curve": self.curve(),
            "notes": self.notes,
            "not_ruled_out": self.not_ruled_out(),
            "certificate": self.certificate("ideal").to_json(),
            "rerun": self.rerun,
        }

    @property
    def notes(self) -> list[str]:
        """What a reader must know about the outputs, and about randomness that is not the auditor's."""
        randomness = self.audit.document.get("randomness")
        return [*self.estimate.notes, *([] if randomness is None else [f"randomness: {randomness}"])]

    def witness(self, finding: Finding) -> dict[str, Any]:
        """Return inputs, event and counts."""
        return {
            "inputs": self.audit.inputs,
            "output": list(self.audit.output_names),
            "event": finding.event.to_json(),
            "counts": vars(finding.counts),
        }

    def curve(self) -> dict[str, Any] | None:
        """Return the bounds at several deltas that hold together."""
        curve = self.stored_curve
        return None if curve is None else curve.to_json()

    @property
    def stored_curve(self) -> StoredCurve | None:
        """The curve with its events, where one was certified."""
        found = self.estimate
        return None if found.curve is None else StoredCurve.of(found.curve, found.cuts, found.levels)

    def certificate(self, judged: str) -> Certificate:
        """Return the document that others can check."""
        finding = self.finding(judged)
        return Certificate(
            mechanism=self.audit.mechanism,
            subject=self.audit.document,
            inputs=self.audit.inputs,
            event=finding.event.to_json(),
            judged=judged,
            counts=finding.decided_by,
            draws=self.estimate.draws,
            significance=self.estimate.significance,
            method=finding.method,
            claimed_epsilon=self.claimed,
            claimed_delta=decimal_text(self.audit.claimed_delta),
            epsilon_lower_bound=finding.epsilon_lower_bound,
            verdict=self.verdict(judged),
            seed=None if getattr(self.audit.subject, "own_entropy", False) else self.seed,
            command=self.rerun,
            versions=versions(),
            # of the ideal event's score
            curve=self.stored_curve if judged == "ideal" else None,
        )

    @cached_property
    def detectable_by_event(self) -> list[dict[str, float | None]]:
        """The smallest loss detectable with power 0.9, by the event's probability where it is rarer."""
        found, draws = self.estimate, self.estimate.counts.likely_draws
        # an event that never occurs on one input stands for probabilities far below one in all draws
        probabilities = np.array([p or 1e-3 / draws for p in EVENT_PROBABILITIES])
        delta = float(self.audit.claimed_delta)
        epsilons = detectable_by_event(self.claimed, draws, delta, found.significance, found.method, probabilities)
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
        """Probability from which on a leak that one input only has would be found, in about nine runs of ten.

        It must occur often enough in the certifying draws to refute the claim, and before that often enough in the
        selection draws to be chosen.  None when no event could refute the claim.
        """
        never = next(row["likely"] for row in self.detectable_by_event if row["unlikely"] == 0.0)
        if never is None:
            return None
        return min(1.0, max(never, SEEN_TO_BE_CHOSEN / max(self.estimate.selection_draws, 1)))

    def draws_needed(self) -> int | None:
        """Return about how many draws would decide; None where not even very many would."""
        found, draws = self.estimate, self.estimate.requested_draws
        while 2 * draws <= LARGEST_DRAWS:
            draws *= 2
            certify = max(1, int(draws * found.counts.likely_draws / found.draws))
            larger = found.detectable_with(self.claimed, certify)
            if larger is not None and larger <= STATED_SIZE * self.claimed:
                return draws
        return None

    def not_ruled_out(self) -> str:
        """Say in plain words what this result leaves open."""
        parts = ["other neighbouring inputs", "events of other kinds than were searched"]
        detectable = self.estimate.detectable_epsilon(self.claimed)
        if detectable is None:
            parts.append("any loss at all: with so few draws no event can refute this claim")
        else:
            parts.append(
                f"losses below {detectable:.3g}, the smallest that so many draws show in nine runs of ten, "
                "given the best event"
            )
        leak = self.rarest_leak
        if leak is not None:
            parts.append(f"leaks that happen less often than about once in {1 / leak:,.0f} draws")
        return "; ".join(parts)


def as_text(results: Sequence[Result], judged: str) -> str:
    """Return the results as a table, with the witnesses below."""
    table = Table(title="Does the mechanism keep the epsilon it claims?")
    # names fold: an ellipsis would make two mechanisms of one module look alike
    table.add_column("mechanism", overflow="fold")
    table.add_column("claim", overflow="fold")
    for heading in (
        "epsilon at least",
        "significance",
        "detectable",
        "draws",
        "seconds",
        "verdict",
        "at the bits",
    ):
        table.add_column(heading, no_wrap=True)
    for result in results:
        audit, found = result.audit, result.estimate
        detectable = found.detectable_epsilon(result.claimed)
        claim = f"({result.claimed:g}, {float(audit.claimed_delta):g})"
        table.add_row(
            escape(audit.mechanism),
            f"{audit.inputs['claim']}: {claim}" if "claim" in audit.inputs else claim,
            text_below(found.epsilon_lower_bound, 4),
            f"{found.significance:g}",
            "nothing" if detectable is None else f"{detectable:.3f}",
            f"{found.draws:,}",
            f"{result.seconds:.1f}",
            result.verdict("ideal"),
            result.verdict("implementation"),
        )
    buffer = io.StringIO()
    # emoji would replace what stands between two colons, also in the command that repeats the audit
    console = Console(file=buffer, width=WIDTH, highlight=False, emoji=False)
    console.print(table)
    for line in _explanations(results, judged):
        console.print(line, soft_wrap=True, markup=False)
    return buffer.getvalue()


def _explanations(results: Sequence[Result], judged: str) -> Iterator[str]:
    level = 1 - results[0].estimate.significance
    yield (
        f"Each lower bound holds with probability {level:g} on its own, for the inputs below. Detectable: "
        "the smallest epsilon that so many draws would show in nine runs of ten, given the best event. The "
        "verdict is on quantised outputs; `at the bits` is on every bit of the floats. "
        f"The exit code follows the {judged}."
    )
    for result in results:
        yield from _lines(result)


def _lines(result: Result) -> Iterator[str]:
    found, inputs = result.estimate, result.audit.inputs
    yield f"{result.audit.mechanism}:"
    if "columns" in inputs:
        for side in ("left", "right"):
            yield f"  inputs, {side}:"
            yield from (f"    {_row_text(row)}" for row in inputs[side])
    else:
        adjacency = f" ({inputs['adjacency']})" if "adjacency" in inputs else ""
        left, right = (_input_text(inputs[side]) for side in ("left", "right"))
        yield f"  inputs: {left} against {right}{adjacency}"
    if "search" in inputs:
        yield _search_text(inputs["search"])
    yield f"  event: {_event_text(found.ideal, result.audit.output_names)}"
    if found.implementation.event != found.ideal.event:
        yield (
            f"  at the bits: epsilon at least {text_below(found.implementation.epsilon_lower_bound, 4)}; "
            f"event: {_event_text(found.implementation, result.audit.output_names)}"
        )
    if found.stopped is not None:
        yield (
            f"  {'partial' if found.stopped == 'interrupted' else 'stopped'}: {found.stopped}, after "
            f"{found.draws:,} of {found.requested_draws:,} draws; the bound holds whenever one stops"
        )
    yield from (f"  note: {note}" for note in result.notes)
    if found.curve is not None:
        bounds = ((text_below(found.curve.at(point.delta), 4), point.delta) for point in found.curve.points)
        points = ", ".join(f"{epsilon} at {delta:g}" for epsilon, delta in bounds)
        yield f"  epsilon at least, by delta, all at once: {points}"
    if "undecided" in (result.verdict("ideal"), result.verdict("implementation")):
        needed = result.draws_needed()
        enough = "not even as many as can be counted would"
        if needed is not None:
            enough = f"about {needed:,} draws would decide"
        yield f"  undecided: so many draws could not show {STATED_SIZE:g} times the claim; {enough}"
    yield f"  not ruled out: {result.not_ruled_out()}"
    yield f"  again: {result.rerun}"


def _event_text(finding: Finding, names: Sequence[str]) -> str:
    counts, event = finding.counts, finding.event
    other = "right" if event.likely_input == "left" else "left"
    return (
        f"{_what(event, names)}, on {event.likely_input} {counts.likely:,} of {counts.likely_draws:,}, "
        f"on {other} {counts.unlikely:,} of {counts.unlikely_draws:,}"
    )


def _what(event: Event, names: Sequence[str]) -> str:
    """Describe an event in a few words."""
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
    score = {"not_finite": f"{document.get('kind')} in an output"}.get(
        document["score"], document["score"] + " score"
    )
    return f"{score} {document['relation']} {event.threshold:.6g}" + (f" of {where}" if where else "")


def _search_text(search: dict[str, Any]) -> str:
    """Say what the search cost, and that its pair is only the best so far where it was stopped."""
    origins = {"pattern": "a pattern", "corner": "a corner", "random": "at random", "local": "by local search"}
    reasons = {"interrupted": "interrupted", "max_seconds": "out of time"}
    early = "" if search["stopped"] is None else f"; {reasons[search['stopped']]}: the best pair so far"
    return (
        f"  search: found {origins[search['origin']]}, {search['pairs_tried']:,} pairs tried with "
        f"{search['draws']:,} draws{early}"
    )


def _input_text(given: Any) -> str:
    """Return an input in one line; a text of a program must not steer the reader's terminal."""
    return printable(json.dumps(given, ensure_ascii=False).encode("utf-8", errors="backslashreplace"))


def _row_text(row: dict[str, Any]) -> str:
    if "records" in row:
        return f"{row['count']:,} records: {row['records']}"
    values = row["x"].items() if isinstance(row["x"], dict) else [(f"x{e + 1}", v) for e, v in enumerate(row["x"])]
    levels = sorted({value for _, value in values})
    if len(levels) == 1:
        x = f"{levels[0]:.4g} in every coordinate"
    else:
        rest = "" if all(levels) else ", else 0"
        x = ", ".join(f"{name}: {value:.4g}" for name, value in values if value) + rest
    group = "" if row["z"] is None else f", z = {row['z']}"
    records = "record" if row["count"] == 1 else "records"
    return f"{row['count']:,} {records} with x = ({x}), y = {row['y']}{group}"
