"""The report of a run: text, JSON and JUnit XML."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.conformance.diagnosis import Diagnosis, diagnose, factors
from audit.conformance.outcome import GOOD, Outcome, counts
from audit.conformance.symptoms import Symptom, symptoms
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED

SHOWN = 10
"""Most cases of one status that the text lists."""


@dataclass(frozen=True)
class Report:
    """The report of a run.

    Parameters
    ----------
    program : str
    outcomes : sequence of Outcome
    diagnoses : list of Diagnosis
        Of the cases that no symptom explains.
    symptoms : list of Symptom
    """

    program: str
    outcomes: Sequence[Outcome]
    diagnoses: list[Diagnosis]
    symptoms: list[Symptom] = field(default_factory=list)

    @classmethod
    def of(cls, program: str, outcomes: Sequence[Outcome]) -> Report:
        """Return the report of a run."""
        shown = symptoms(outcomes)
        explained = {number for one in shown for number in one.cases}
        rest = [one for one in outcomes if one.case.tc_id not in explained]
        return cls(program, outcomes, diagnose(rest), shown)

    @property
    def verdict(self) -> str:
        """`refuted` by a case; `undecided` without answers, or if they change on a restart; else `not refuted`."""
        statuses = {one.status for one in self.outcomes}
        if "not run" in statuses and not statuses & {"passed", "failed"}:
            # it never started, or ends at once: its answers are unknown
            return "undecided"
        if statuses - {*GOOD, "unsteady"}:
            return "refuted"
        if "unsteady" in statuses:
            return "undecided"
        return "not refuted" if any(one.status == "passed" for one in self.outcomes) else "undecided"

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        codes = {"refuted": EXIT_REFUTED, "undecided": EXIT_UNDECIDED, "not refuted": EXIT_FINE}
        return codes[self.verdict]

    @property
    def unexplained(self) -> int:
        """Failed cases that carry none of the named flags and show no symptom."""
        return len(self._unexplained())

    def _unexplained(self) -> list[Outcome]:
        named = {one.flag for one in self.diagnoses}
        shown = {number for one in self.symptoms for number in one.cases}
        failed = (one for one in self.outcomes if one.status == "failed")
        return [one for one in failed if named.isdisjoint(one.case.flags) and one.case.tc_id not in shown]

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        yield f"program: {self.program}"
        for kind in dict.fromkeys(one.kind for one in self.outcomes):
            yield f"{kind}: {_counted([one for one in self.outcomes if one.kind == kind])}"
        yield f"all: {_counted(self.outcomes)}"
        yield f"verdict: {self.verdict}"
        yield from self.told()
        yield from self._troubles()

    def told(self) -> Iterator[str]:
        """Yield what is wrong with the program, as far as known."""
        for shown in self.symptoms:
            yield from ("", f"this is wrong: {shown.description}", f"  {shown.evidence}")
        for one in self.diagnoses:
            yield ""
            yield from diagnosis_lines(one)
        rest = self._unexplained()
        if rest:
            yield ""
            more = ": they may be one more bug, or all may be one that has no name here" if self.diagnoses else ""
            named = "that has a name here and that right answers leave possible"
            yield f"{len(rest)} failed cases match no bug {named}{more}"
        for group in dict.fromkeys(map(_group, rest)):
            for off in factors([one for one in rest if _group(one) == group]):
                yield f"  {group}: {off}"

    def _troubles(self) -> Iterator[str]:
        for status in dict.fromkeys(one.status for one in self.outcomes if one.status not in GOOD):
            those = [one for one in self.outcomes if one.status == status]
            yield ""
            yield f"{status}, {len(those)} cases:"
            for one in those[:SHOWN]:
                yield f"  {one.case.tc_id} {one.kind}, {one.case.comment}: {one.said}"
            if len(those) > SHOWN:
                yield f"  and {len(those) - SHOWN} more; --format json lists all"
        skipped = {f"{one.kind}: {one.said}" for one in self.outcomes if one.status == "skipped"}
        if skipped:
            yield ""
            yield f"skipped: {'; '.join(sorted(skipped))}"

    def document(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "program": self.program,
            "verdict": self.verdict,
            "counts": counts(self.outcomes),
            "symptoms": [
                {"description": one.description, "evidence": one.evidence, "failed": len(one.cases)}
                for one in self.symptoms
            ],
            "diagnoses": [
                {
                    "flag": one.flag,
                    "certain": one.is_certain,
                    "same_answers": one.same,
                    "compared": one.asked,
                    "failed": one.failed,
                    "carried": one.carried,
                    "description": one.description,
                    "effect": one.effect,
                    "factors": list(one.factors),
                }
                for one in self.diagnoses
            ],
            "unexplained": self.unexplained,
            "cases": [
                {
                    "tcId": one.case.tc_id,
                    "type": one.kind,
                    "comment": one.case.comment,
                    "status": one.status,
                    "said": one.said,
                    "flags": list(one.case.flags) if one.status == "failed" else [],
                }
                for one in self.outcomes
                if one.status != "passed"
            ],
        }

    def junit(self) -> str:
        """Return the run as JUnit XML, a test case for each case."""
        good = ("passed", *GOOD)
        failures = sum(one.status == "failed" for one in self.outcomes)
        errors = sum(one.status not in (*good, "failed") for one in self.outcomes)
        suite = ET.Element(
            "testsuite",
            name="cfm conformance",
            tests=str(len(self.outcomes)),
            failures=str(failures),
            errors=str(errors),
            skipped=str(sum(one.status == "skipped" for one in self.outcomes)),
        )
        for one in self.outcomes:
            name = f"{one.case.tc_id} {one.case.comment}"
            case = ET.SubElement(suite, "testcase", classname=f"cfm.{one.kind}", name=name)
            said = _printable_xml(one.said)
            if one.status == "skipped":
                ET.SubElement(case, "skipped", message=said)
            elif one.status == "failed":
                ET.SubElement(case, "failure", message=said).text = f"flags: {', '.join(one.case.flags)}"
            elif one.status != "passed":
                ET.SubElement(case, "error", type=one.status, message=said)
        root = ET.Element("testsuites")
        root.append(suite)
        return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _printable_xml(text: str) -> str:
    """Return text without the characters that XML cannot hold."""
    return re.sub(r"[^\t\n\r -\uD7FF\uE000-\uFFFD]", "?", text)


def _group(one: Outcome) -> str:
    """Return type and kind of a case."""
    given = one.case.given.get("kind")
    return f"{one.kind}, {given}" if isinstance(given, str) else one.kind


def _counted(found: Sequence[Outcome]) -> str:
    return ", ".join(f"{count} {status}" for status, count in counts(found).items()) or "nothing"


def diagnosis_lines(one: Diagnosis) -> Iterator[str]:
    """Yield the text about one bug."""
    how = "is" if one.is_certain else "may be"
    yield f"this {how} {one.flag}: {one.description}"
    yield f"  {one.effect}"
    yield (
        f"  {one.same} of {one.asked} failed cases that were compared are answered in this way; "
        f"{one.failed} of {one.carried} cases that catch it fail"
    )
    if one.factors:
        yield f"  {'; '.join(one.factors)}"
