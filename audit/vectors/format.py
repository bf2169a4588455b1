"""The files of the vectors: one declared type, read and written here."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from audit.common.packed import Place, place_of
from audit.vectors.mutants.broken import BugType
from reference.common.documents import Document, plain, read_file

FOLDER = "audit/vectors/v1"

VERSION = "1.0"

COMPARED = ("Domain", "Coefficients", "FairnessMetric", "Release")
"""Group types whose inputs have records: `compare` makes these.  Their cases need doubles only."""


class Ends(Document, frozen=True):
    """An enclosure: an answer passes on an end or between the two."""

    lo: str
    hi: str


Given: TypeAlias = str | tuple[str | tuple[str, ...], ...]
Expected: TypeAlias = str | Ends | tuple[str | Ends | tuple[str | Ends, ...], ...]


class Note(Document, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The bug that the cases of a flag catch.

    Parameters
    ----------
    bug_type : str
        One of a closed list.
    kills : str
        The broken variant of the reference, in ``audit/vectors/mutants``.
    description, effect : str
    claims : tuple of str
        Rows of the claims ledger that the bug concerns.
    links : tuple of str
    """

    bug_type: BugType
    kills: str
    description: str
    effect: str
    claims: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


class VectorCase(Document, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One case: inputs, and the answer of a right program.

    Parameters
    ----------
    tc_id : int
        Its permanent id.
    comment : str
        What is special about it.
    flags : tuple of str
        The bugs that it catches.
    result : {'valid', 'invalid'}
        A right program refuses an invalid case: any error passes.
    inputs : dict
    expected : dict
        Of a valid case.
    expected_error : str
        Of an invalid one.
    """

    tc_id: int
    comment: str
    flags: tuple[str, ...] = ()
    result: Literal["valid", "invalid"] = "valid"
    inputs: dict[str, Given]
    expected: dict[str, Expected] | UnsetType = UNSET
    expected_error: str | UnsetType = UNSET

    @property
    def right(self) -> dict[str, Any] | None:
        """The expected answer in JSON; None if an error is expected."""
        return None if self.expected is UNSET else plain(self.expected)

    @property
    def given(self) -> dict[str, Any]:
        """The inputs in JSON."""
        found: dict[str, Any] = plain(self.inputs)
        return found


class SecondSource(Document, frozen=True):
    """The code that computed the expected values, without the reference."""

    name: str
    version: str


class TestGroup(Document, frozen=True, kw_only=True):
    """Cases that need the same abilities.

    Parameters
    ----------
    type : str
        The group type: what is computed.
    source : SecondSource
    requires : tuple of str
        ``double``; with ``erfc``, a complementary error function; or ``exact-arithmetic``.
    tests : tuple of VectorCase
    """

    __test__ = False  # not a test class of pytest

    type: str
    source: SecondSource
    requires: tuple[str, ...]
    tests: tuple[VectorCase, ...]


class VectorFile(
    Document, frozen=True, kw_only=True, rename="camel", tag_field="schema", tag="vectors_v1", omit_defaults=True
):
    """All cases of one group type.

    Parameters
    ----------
    algorithm : str
    reference_version : str
    licence : str
    how_to : tuple of str
        What a program does with a case.
    notes : dict
        The bug of each flag that a case has.
    number_of_tests : int
    test_groups : tuple of TestGroup
    """

    algorithm: str
    reference_version: str
    licence: Literal["CC0-1.0"]
    how_to: tuple[str, ...]
    notes: dict[str, Note]
    number_of_tests: int
    test_groups: tuple[TestGroup, ...]

    @property
    def cases(self) -> tuple[VectorCase, ...]:
        """All cases."""
        return tuple(case for group in self.test_groups for case in group.tests)


def text_of(file: VectorFile) -> str:
    """Return the canonical text of a file: one case on a line."""
    document = plain(file)
    groups = document.pop("testGroups")
    head = json.dumps(document, indent=1, ensure_ascii=False).removesuffix("\n}")
    shown = []
    for group in groups:
        tests = group.pop("tests")
        lines = ",\n".join(json.dumps(case, separators=(",", ":"), ensure_ascii=False) for case in tests)
        opened = json.dumps(group, ensure_ascii=False).removesuffix("}")
        shown.append(f'{opened}, "tests": [\n{lines}\n]}}')
    return f'{head},\n "testGroups": [{", ".join(shown)}]\n}}\n'


def path_of(kind: str) -> Place:
    """Return the path of a group type's cases: ``fairness_metric.json`` for ``FairnessMetric``."""
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")
    return place_of(f"{FOLDER}/{name}.json")


@lru_cache(maxsize=32)
def load(kind: str) -> VectorFile:
    """Read the committed cases of a group type."""
    return read_file(path_of(kind), VectorFile)
