"""Estimates as what the command writes: a table with the witnesses below, certificates and plots."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from audit.auditor.notes import tell_finer
from audit.auditor.verdict import STATED_SIZE
from audit.commands.options import SeededFileOptions
from audit.commands.text import columns, fitted, table_text
from audit.evidence.plot import draw_results
from audit.evidence.report import EstimateResult
from audit.evidence.request import Judged
from audit.evidence.words import at_the_limit, barely_refuted, counted_in_words, inputs_in_words, is_of_rounding
from audit.subjects.stated import NO_CLAIM
from reference.common.files import json_text
from reference.common.numbers import short_text, text_below
from reference.common.page import Listing

_OF_BITS = "; `at the bits` is on floats as they are, with their last bits, and sets the exit code."

WIDTH = 100
"""Columns of the table without a terminal."""


def texts(
    results: Sequence[EstimateResult], judged: Judged, output: SeededFileOptions, *, several: bool
) -> list[tuple[str, str | None]]:
    """Return the texts and where to write them: with text output, a file *.json gets the certificates."""
    out = output.out
    if output.format == "json":
        documents = [result.to_json() for result in results]
        return [(json_text(documents if several else documents[0]), out)]
    certificates = out is not None and Path(out).suffix == ".json"
    text = as_text(results, judged, columns(None if certificates else out))
    if not certificates:
        return [(text, out)]
    documents = [result.certificate(judged).to_json() for result in results]
    return [(json_text(documents if several else documents[0]), out), (text, None)]


def draw_plot(results: Sequence[EstimateResult], path: str) -> None:
    """Draw the results that have a curve; say so if none has: an interrupted audit has no fixed size."""
    drawn = [result for result in results if result.estimate.curve is not None]
    if drawn:
        draw_results(drawn, path)
    else:
        sys.stderr.write(f"interrupted: {path} not drawn\n")


def as_text(results: Sequence[EstimateResult], judged: Judged, width: int | None) -> str:
    """Return the results as a table, with the witnesses below.

    Parameters
    ----------
    results : sequence of EstimateResult
    judged : {'ideal', 'implementation'}
    width : int or None
        Columns that the text is fitted to.
    """
    bits = judged == "implementation"
    table = Listing(
        "Does the mechanism keep the epsilon it claims?",
        ("mechanism", "claim", "at least", "detectable", "verdict", *(("at the bits",) if bits else ())),
        tuple(_cells(result, bits=bits) for result in results),
        folds=("mechanism", "claim"),
        bordered=False,
    )
    return table_text(table, width or WIDTH) + fitted(_explanations(results, judged), width)


def _cells(result: EstimateResult, *, bits: bool) -> tuple[str, ...]:
    found = result.estimate
    detectable = found.detectable_epsilon(result.claimed)
    return (
        result.mechanism,
        f"({result.claimed:g}, {short_text(result.claimed_delta)})",
        text_below(found.epsilon_lower_bound, 4),
        "nothing" if detectable is None else f"{detectable:.3f}",
        result.verdict("ideal"),
        *((result.verdict("implementation"),) if bits else ()),
    )


def _explanations(results: Sequence[EstimateResult], judged: Judged) -> Iterator[str]:
    significance = results[0].estimate.significance
    yield (
        f"Each bound holds with probability {1 - significance:g} on its own (significance {significance:g}), "
        "for the inputs below alone. At least: a certified lower bound on epsilon. Detectable: "
        "the smallest epsilon on these inputs that the certified event would show in nine runs of ten. The "
        f"verdict is on quantised outputs{_OF_BITS if judged == 'implementation' else '.'}"
    )
    refuted = [one for one in results if one.verdict("implementation") == "refuted" != one.verdict("ideal")]
    rounded = [one for one in refuted if is_of_rounding(one.estimate.implementation.event)]
    if judged == "ideal" and rounded:
        names = ", ".join(one.mechanism for one in rounded)
        finer = ", ".join(one.mechanism for one in rounded if tell_finer(one.estimate.notes))
        differ = "outputs differ below the grid, perhaps by more than rounding"
        cause = f"Rounding need not be the cause for {finer}: {differ}. "
        yield (
            f"At the bits of the floats, refuted: {names}. Plain floating-point noise leaks there. "
            f"{cause if finer else ''}"
            "The exit code ignores it unless you pass --object implementation."
        )
    for result in results:
        yield from _lines(result, judged)


def _lines(result: EstimateResult, judged: Judged) -> Iterator[str]:
    found, inputs = result.estimate, result.inputs
    theorem = f" by {inputs['claim']}" if "claim" in inputs else ""
    claims = "judged at" if NO_CLAIM in found.notes else "claims"
    claim = f"{claims} ({result.claimed:g}, {short_text(result.claimed_delta)}){theorem}"
    yield f"{result.mechanism}: {claim}; {found.draws:,} draws in {result.seconds:.1f} s"
    if "columns" in inputs:
        for side in ("left", "right"):
            yield f"  inputs, {side}:"
            yield from (f"    {_row_text(row)}" for row in inputs[side])
    else:
        adjacency = f" ({inputs['adjacency']})" if "adjacency" in inputs else ""
        yield f"  inputs: {inputs_in_words(inputs['left'], inputs['right'])}{adjacency}"
    if "search" in inputs:
        yield _search_text(inputs["search"])
    yield f"  event: {counted_in_words(found.event, found.counts, result.output_names)}"
    yield from _bits_lines(result, judged)
    if found.stopped is not None:
        yield (
            f"  {'partial' if found.stopped == 'interrupted' else 'stopped'}: {found.stopped}, after "
            f"{found.draws:,} of {found.requested_draws:,} draws; the bound holds whenever you stop"
        )
    yield from (f"  note: {note}" for note in result.notes)
    if found.curve is not None:
        bounds = ((text_below(found.curve.at(point.delta), 4), point.delta) for point in found.curve.points)
        points = ", ".join(f"{epsilon} at {delta:g}" for epsilon, delta in bounds)
        yield f"  epsilon at least, by delta, all at once: {points}"
    event_verdicts = [found.verdict(result.claimed, implementation=bits) for bits in (False, True)]
    if "undecided" in event_verdicts and not (found.hides(result.claimed) or result.equal_inputs):
        needed = result.reach.draws_in_words()
        yield f"  undecided: the certified event could not show {STATED_SIZE:g} times the claim; {needed}"
    if result.verdict(judged) == "refuted":
        event, seeded = result.certified(judged), result.seeded
        limit = at_the_limit(event, found.draws, found.delta, found.significance)
        barely = barely_refuted(event, result.claimed, found.delta, found.significance, seeded=seeded)
        yield from (f"  {said}" for said in (limit, barely) if said is not None)
    else:
        yield f"  not ruled out: {result.not_ruled_out()}"
    yield f"  again: {result.request.command if result.seeded else result.request.without_seed}"


def _bits_lines(result: EstimateResult, judged: str) -> Iterator[str]:
    """Yield the line about the bits: if they are judged, or show more than rounding."""
    found, bits = result.estimate, result.estimate.implementation
    told = (
        f"epsilon at least {text_below(bits.epsilon_lower_bound, 4)}; "
        f"event: {counted_in_words(bits.event, bits.counts, result.output_names)}"
    )
    if judged == "implementation":
        if bits.event != found.ideal.event:
            yield f"  at the bits: {told}"
    elif result.verdict("ideal") != "refuted" == result.verdict("implementation") and not is_of_rounding(
        bits.event
    ):
        yield f"  at the bits, refuted by more than rounding: {told}; --object implementation exits with 1"


def _search_text(search: dict[str, Any]) -> str:
    """Say what the search cost, and if it was stopped, that its pair is only the best so far."""
    origins = {"pattern": "a pattern", "corner": "a corner", "random": "at random", "local": "by local search"}
    reasons = {"interrupted": "interrupted", "max_seconds": "out of time"}
    early = "" if search["stopped"] is None else f"; {reasons[search['stopped']]}: the best pair so far"
    sifted = search["pairs_sifted"]
    seen = f"{search['pairs_tried'] - sifted:,} pairs looked at"
    if sifted:
        seen += f" and {sifted:,} sifted by how far their outputs move"
    # of a list; what was sifted is said already
    left = max(0, search["pairs_untried"] - sifted)
    untried = f", {left:,} listed pairs not tried" if left else ""
    return f"  search: found {origins[search['origin']]}, {seen}, with {search['draws']:,} draws{untried}{early}"


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
