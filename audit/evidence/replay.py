"""Repeat a seeded audit, draw for draw, and compare everything in its certificate."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from audit.auditor.certification import INTERRUPTED, REPEATED, TIME_IS_OVER, RepeatedRun
from audit.auditor.events import FAMILIES, stored_event
from audit.auditor.first import NO_TIME
from audit.auditor.notes import ONE_OUTPUT_EACH
from audit.common.compare import differences, everywhere, nowhere
from audit.evidence.certificate import Certificate, CertificateError, versions
from audit.evidence.checks import LAST_DIGITS_DIFFER, Check, inputs_computed, inputs_told, nearly_stated
from audit.evidence.copies import (
    DRAWS_FOR_FIRST,
    NO_COPIES,
    NO_NOISE,
    SAME_NOISE,
    TOO_FEW,
    TOO_FEW_IN_TIME,
    TOO_SLOW,
)
from audit.evidence.copies import NOT_COMPARED as NOT_COMPARED_WITH_COPIES
from audit.evidence.estimation import Audit, at_worst_pair, estimated
from audit.evidence.report import EstimateResult
from audit.evidence.restored import Stated
from audit.subjects.descriptions import ImportDescription, PairDescription, core, rebuild, require_small
from audit.subjects.programs import ProgramDescription
from audit.subjects.programs.subject import GIVEN_UP, NOT_RESTARTED
from audit.subjects.releases import MechanismDescription
from reference.common.documents import plain
from reference.common.errors import DocumentError, InputError
from reference.common.files import json_text
from reference.common.printable import short_line

NOT_COMPARED = ("request", "versions")
"""Fields that a replay does not compare: it runs the same request, under its own versions."""

OF_A_RESULT = ("certificate", "seconds")
"""Fields of a result that a replay does not compare again, and that no run repeats."""

_LACK_OF_COPIES = f"{re.escape(NOT_COMPARED_WITH_COPIES)}; (?:{NO_COPIES}|{TOO_FEW_IN_TIME})"

OF_THE_MACHINE = re.compile(
    "|".join([*map(re.escape, (NO_TIME, NOT_RESTARTED, GIVEN_UP, SAME_NOISE)), _LACK_OF_COPIES, TOO_SLOW])
)
"""Notes that a quick machine may have where a slow one has none, or the other way round."""

FAILED = r"sample\(\) failed: \w+:.*"
FAILED_BY_KIND = {ImportDescription: r"the mechanism failed: \w+:.*", ProgramDescription: "the program .*"}
"""Patterns of the reasons for which draws failed: of any subject, and of one kind alone."""

NOT_REPEATED = "the draw that failed is not made again, so the reason cannot be compared"
"""What is said of such a reason."""

LEFT_OUT = ("`versions`", "`seconds`", "notes that depend on its machine")
"""What a replay never compares of a result: such a note may be there or not."""

COMPUTED = re.compile(
    r"(curve\.points\[\d+\]\.|implementation\.)?epsilon_lower_bound"
    r"|detectable_epsilon|detectable_by_event|largest_certifiable_epsilon|(implementation\.)?witness\.output\b.*"
)
"""Numbers that another machine may compute otherwise in their last digits.

The bound is also checked by itself (:func:`audit.evidence.verify.arithmetic`).
"""

OTHER_GENERATOR = "the subject draws from another generator than the one it is given"


def replay(certificate: Certificate, result: dict[str, Any] | None = None) -> list[Check]:
    """Return whether the request, carried out again, gives the same certificate, and the result that holds it.

    The subject is rebuilt, and its code is run, as for fresh draws.  A search is repeated too, unless it was ended
    by the clock or by hand: then it may have passed over a worse pair.

    Raises
    ------
    reference.common.errors.InputError
        When there is no such subject.
    """
    if reason := why_not_seeded(certificate):
        return [Check("replay", None, f"no seed repeats these draws: {reason}")]
    request = certificate.request
    try:
        require_small(request.subject)
        audit, spent = _audit(certificate)
        audit.check()
    except CertificateError:
        raise
    except InputError as problem:
        return [Check("replay", None, f"the subject cannot be rebuilt here: {problem}")]
    found = _compared(certificate, result, audit, spent)
    if not nearly_stated(certificate, json.loads(json_text(audit.inputs))):
        return found
    # what is drawn from such inputs may differ, too
    known = [replace(check, holds=check.holds or None) for check in found]
    return [Check("inputs", None, LAST_DIGITS_DIFFER), *known]


def _compared(certificate: Certificate, result: dict[str, Any] | None, audit: Audit, spent: int) -> list[Check]:
    """Return the checks of an audit that is carried out again."""
    request = certificate.request
    # first the pair that the search finds: on another pair nothing would agree
    places = list(differences(plain(request.subject), plain(audit.request.subject), "request.subject"))
    if not places:
        audit = _exactly(certificate, audit)
        repeated = _repeated(certificate, spent, _stated(certificate, result, audit.subject))
        found = estimated(audit, spent, repeated=repeated)
        if not found.seeded:
            # of a version that did not notice
            return [Check("replay", None, f"no seed repeats these draws: {OTHER_GENERATOR}")]
        places = list(_differing(found, certificate, result))
    if not places:
        if result is None:
            return _same(certificate, "")
        untold = _untold(certificate, result, found)
        if untold is not None:
            return [Check("replay", None, f"the same, but for {untold}")]
        return _same(certificate, _all_else(found))
    here = versions()
    other = [name for name, one in certificate.versions.items() if here.get(name) != one]
    if other:
        words = f"{places[0]} differs, under another version of {', '.join(other)}"
        return [Check("replay", None, words)]
    return [Check("replay", False, f"{places[0]} differs")]


def _stated(certificate: Certificate, result: dict[str, Any] | None, subject: object) -> Stated:
    """Return the events that a certificate and its result state, as far as they can be read."""
    events = [certificate.event]
    for part in () if result is None else (result, result["implementation"]):
        with contextlib.suppress(DocumentError):
            events.append(stored_event(part["witness"]["event"]))
    return Stated(tuple(events), certificate.curve, subject)


def _repeated(certificate: Certificate, spent: int, stated: Stated) -> RepeatedRun:
    """Return what the clock decided, as far as the certificate tells; without a limit only where draws ended."""
    ended, reduction = certificate.draws - spent, certificate.event.reduced_to
    chosen_at = ended - 2 * certificate.all_counts.likely_draws
    rows, before = (draws // (2 * certificate.request.outputs_per_call) for draws in (ended, chosen_at))
    learnt = RepeatedRun(rows, reduced=stated.reduced, selected=stated.selected)
    if certificate.request.max_seconds is None:
        return learnt
    return replace(learnt, chosen_at=before, screened=None if reduction is None else reduction.screened)


def _differing(found: EstimateResult, certificate: Certificate, result: dict[str, Any] | None) -> Iterator[str]:
    """Yield where a certificate, and the result that holds it, are not those of the repeated run."""
    ours, stated = (
        json.loads(json_text(one.to_json())) for one in (found.certificate(certificate.judged), certificate)
    )
    of_inputs = everywhere if nearly_stated(certificate, ours["inputs"]) else inputs_computed(certificate.subject)

    def computed(place: str) -> bool:
        own = place.removeprefix("implementation.").removeprefix("witness.")
        return of_inputs(place) if own.startswith("inputs") else COMPUTED.fullmatch(place) is not None

    for name in stated:
        if name not in NOT_COMPARED:
            yield from differences(stated[name], ours.get(name), name, computed=computed)
    if result is not None:
        again = json.loads(json_text(found.to_json()))
        for name in again:
            if name == "notes":
                yield from _compared_notes(certificate, result, found)[0]
            elif name == "stopped" and again[name] == REPEATED:
                # a clock, a person or a failure ended it, in words of its own
                yield from [] if _ended(certificate, result) else [name]
            elif name not in OF_A_RESULT:
                yield from differences(result[name], again[name], name, computed=computed)


def _ended(certificate: Certificate, result: dict[str, Any]) -> bool:
    """Return whether an audit that ended before its time may say why in these words."""
    stopped, verdicts = result["stopped"], (result["verdict"], result["implementation_verdict"])
    if stopped == TIME_IS_OVER:
        return certificate.request.max_seconds is not None
    # draws that failed are kept where those before them refute the claim
    return stopped == INTERRUPTED or (_failed(certificate, stopped) and "refuted" in verdicts)


def _failed(certificate: Certificate, stopped: Any) -> bool:
    """Return whether a result says that a draw failed, in words that its kind of subject may have."""
    if not isinstance(stopped, str) or stopped != short_line(stopped):
        return False
    own = FAILED_BY_KIND.get(type(core(certificate.subject)))
    return any(re.fullmatch(pattern, stopped) for pattern in (FAILED, own) if pattern is not None)


def _untold(certificate: Certificate, result: dict[str, Any], found: EstimateResult) -> str | None:
    """Return what leaves a replay of a result undecided: what it says and nobody can compare; or None."""
    notes = _compared_notes(certificate, result, found)[1]
    if notes:
        # with more time it might be said here, or with less not there
        return f"a note that this machine alone has: {notes[0]}"
    if found.estimate.stopped == REPEATED and _failed(certificate, result["stopped"]):
        return f"why it stopped: {NOT_REPEATED}"
    return None


def _all_else(found: EstimateResult) -> str:
    """Return in words that all else was compared, and what was not."""
    left_out = [*LEFT_OUT, *["why it stopped"] * (found.estimate.stopped == REPEATED)]
    return f", and all else that the result says but {', '.join(left_out[:-1])} and {left_out[-1]},"


def _compared_notes(
    certificate: Certificate, result: dict[str, Any], found: EstimateResult
) -> tuple[list[str], list[str]]:
    """Return where the notes of a result are not those of the repeated run, and which nobody can compare.

    A note for lack of time, of which the result has one of each kind at most, may be missing in the repeated run.
    Where only the repeated run has it, nobody can tell whether somebody deleted it.
    """
    if not isinstance(result["notes"], list):
        return ["notes"], []
    families = _families(certificate, _refuting(certificate, result))
    stated, again = (_divided(notes, families) for notes in (result["notes"], found.notes))
    rest, others = stated.pop(""), again.pop("")
    if ("copies" in stated) != ("copies" in again):
        # whether a constant is without noise is told where copies were compared, and left open where they were not
        swapped = {NO_NOISE: ONE_OUTPUT_EACH, ONE_OUTPUT_EACH: NO_NOISE}
        others = [swapped.get(note, note) for note in others]
    places, untold = list(differences(rest, others, "notes")), []
    for kind in stated.keys() | again.keys():
        said, here = (side.get(kind, [""])[0] for side in (stated, again))
        of_machine = [bool(OF_THE_MACHINE.fullmatch(note)) for note in (said, here)]
        if said != here and not any(of_machine):
            places.append("notes")
        elif not said:
            untold.append(here)
    return places, untold


def _refuting(certificate: Certificate, result: dict[str, Any]) -> bool:
    """Return whether a result refutes the claim, so that it was to be confirmed in other processes."""
    asked = ["verdict", *["implementation_verdict"] * (certificate.request.object == "implementation")]
    return any(result[name] == "refuted" for name in asked)


def _families(certificate: Certificate, refuted: bool) -> dict[str, str]:
    """Return patterns of those notes of an audit that may depend on the machine, by their kind."""
    timed = certificate.request.max_seconds is not None
    if isinstance(certificate.subject, ProgramDescription):
        # a replay does not start it again
        return {"restart": f"{re.escape(NOT_RESTARTED)}|{re.escape(GIVEN_UP)}"} if timed else {}
    found = {"first": re.escape(NO_TIME)}
    if isinstance(core(certificate.subject), ImportDescription):
        if refuted:
            return found | {"copies": f"{_LACK_OF_COPIES}|{re.escape(NOT_COMPARED_WITH_COPIES)}"}
        if certificate.draws - _spent(certificate) >= DRAWS_FOR_FIRST:
            found["processes"] = f"{TOO_SLOW}|{TOO_FEW}"
        if timed:
            found["noise"] = re.escape(SAME_NOISE)
    return found


def _divided(notes: list[Any], families: dict[str, str]) -> dict[str, list[Any]]:
    """Return the first note of each kind, and under no name all others."""
    found: dict[str, list[Any]] = {"": []}
    for note in notes:
        kinds = [kind for kind, pattern in families.items() if re.fullmatch(pattern, str(note))]
        kind = kinds[0] if kinds and kinds[0] not in found else ""
        found.setdefault(kind, []).append(note)
    return found


def _same(certificate: Certificate, whole: str) -> list[Check]:
    """Return the checks of what was repeated: with a verdict that refutes nothing, of its choice."""
    request = certificate.request
    same = Check("replay", True, f"the same draws, event, counts and bound{whole} from seed {request.seed}")
    left_out = [family for family in FAMILIES if family not in request.events]
    if certificate.verdict == "refuted":
        return [same]
    if request.search and not _searched_in_full(certificate):
        words = "repeated on the pair of a search that was ended early: --fresh searches again"
        return [same, Check("choice", None, words)]
    if request.max_seconds is not None:
        words = "repeated with the event that the clock left time for, as is stated: --fresh chooses again"
        return [same, Check("choice", None, words)]
    if left_out:
        words = f"repeated, but nobody looked at the families {', '.join(left_out)}: --fresh does"
        return [same, Check("choice", None, words)]
    return [same, Check("choice", True, "repeated from all families of events")]


def why_not_seeded(certificate: Certificate) -> str | None:
    """Say why no seed repeats a certificate's draws; None if its seed does."""
    if certificate.seeded:
        return None
    if isinstance(certificate.subject, ProgramDescription):
        return "the program draws its own randomness"
    subject = core(certificate.subject)
    if isinstance(subject, MechanismDescription) and subject.hardened:
        return "hardened noise takes the operating system's entropy"
    return OTHER_GENERATOR


def _audit(certificate: Certificate) -> tuple[Audit, int]:
    """Return the audit to repeat, and the draws of its search, which is repeated unless it was ended early."""
    request, described = certificate.request, certificate.subject
    spent = _spent(certificate)
    if not isinstance(described, PairDescription):
        return Audit.of(request), spent
    if _searched_in_full(certificate):
        return at_worst_pair(Audit.of(msgspec.structs.replace(request, subject=described.subject)))
    return _on_stated_pair(certificate, certificate.inputs.get("search")), spent


def _exactly(certificate: Certificate, audit: Audit) -> Audit:
    """Return an audit on the stated pair, if its own is the same but for rounding."""
    pairs = plain(certificate.subject), plain(audit.request.subject)
    if not list(differences(*pairs, computed=nowhere)):
        return audit
    return _on_stated_pair(certificate, audit.inputs.get("search"))


def _on_stated_pair(certificate: Certificate, note: Any) -> Audit:
    """Return the audit on the pair of the certificate, with what its search, or another, says of itself."""
    # such statements are only for readers; the cost is part of the size
    audit = Audit.of(certificate.request)
    inputs = inputs_told(audit.subject, rebuild(core(certificate.subject)))
    return replace(audit, inputs=inputs if note is None else inputs | {"search": note})


def _searched_in_full(certificate: Certificate) -> bool:
    """Return whether the search ended by itself, not by a clock or a person."""
    note = certificate.inputs.get("search", {})
    return certificate.request.max_seconds is None and isinstance(note, dict) and note.get("stopped") is None


def _spent(certificate: Certificate) -> int:
    """Return the draws of the search."""
    note = certificate.inputs.get("search", {}) if certificate.request.search else {}
    spent = note.get("draws", 0) if isinstance(note, dict) else None
    if type(spent) is not int or not 0 <= spent < certificate.draws:
        raise CertificateError("the search's draws must be a whole number, less than all", place="inputs.search")
    return spent
