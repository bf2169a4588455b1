"""Subjects whose inputs are searched for; the audit is then on the pair found."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from audit.auditor.subject import FAILURES, SubjectError
from audit.common.keys import key_of
from audit.subjects.releases import CoefficientRelease
from audit.subjects.search.catalogue import over_domain
from audit.subjects.search.neighbourhoods import Listed, Neighbourhood, Pair
from audit.subjects.search.releases import ReleaseOverDomain
from reference.common.arrays import FloatArray

METHODS = ("patterns", "corners", "random", "moved", "holds", "to_json", "from_json")
"""Methods of a neighbourhood, checked before anything is drawn."""

MOST_COUNTED, MOST_COMPARED = 10_000, 1_000
"""Listed pairs that are counted where nobody searches them, and how many are compared with the audited pair."""


@dataclass(frozen=True, eq=False)
class AtPair:
    """A subject on the pair found: what the auditor gets.

    Parameters
    ----------
    subject : object
        Has `sample`, and perhaps `notes`, `own_entropy` and `most_rows`.
    pair : tuple
        Left and right.
    made : object or None
        A copy of the subject from before the search.
    """

    subject: Any
    pair: Pair
    made: Any = None

    @property
    def as_made(self) -> AtPair:
        """The subject as it was before the search, or as it is if nobody copied it."""
        return self if self.made is None else AtPair(self.made, self.pair)

    def __getattr__(self, name: str) -> Any:
        """Pass on how the subject draws, but not an exact likelihood ratio, which belongs to another pair."""
        if name in ("notes", "own_entropy", "most_rows"):
            return getattr(self.subject, name)
        raise AttributeError(name)

    def inputs(self) -> Pair:
        """Return the pair."""
        return self.pair

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return the subject's outputs."""
        outputs: FloatArray = self.subject.sample(data, count, rng)
        return outputs


def searchable(subject: Any) -> tuple[Any, Neighbourhood]:
    """Return a subject that samples on the inputs of a neighbourhood, and that neighbourhood.

    Our own mechanisms have their declared domain, and so do those of the catalogue whose inputs have one
    (:mod:`audit.subjects.search.catalogue`).  Other subjects have an attribute `neighbourhood`, or a method
    `candidates` that returns the same pairs each time.

    Raises
    ------
    audit.auditor.subject.SubjectError
        When it has none of these.
    """
    if isinstance(subject, CoefficientRelease):
        ours = ReleaseOverDomain(subject)
        return ours, ours.neighbourhood
    declared: Any = getattr(subject, "neighbourhood", None)
    if declared is not None:
        missing = [name for name in METHODS if not callable(getattr(declared, name, None))]
        if isinstance(declared, type) or missing:
            raise SubjectError(
                f"neighbourhood must be one such as Vectors(3) or DataSets(...), not {declared!r:.100}"
            )
        return subject, declared
    if (of_catalogue := over_domain(subject)) is not None:
        return of_catalogue
    if not callable(getattr(subject, "candidates", None)):
        raise SubjectError("nothing to search: the subject declares no neighbourhood and has no candidates()")
    try:
        listed = Listed(tuple((left, right) for left, right in subject.candidates()))
    except FAILURES as problem:
        raise SubjectError(
            f"candidates() must return a list of pairs (left, right): {type(problem).__name__}: {problem}"
        ) from problem
    if not listed.pairs:
        raise SubjectError("candidates() returned no pair")
    return subject, listed


def not_searched(subject: Any) -> str | None:
    """Say what a subject declares besides its pair of inputs, which nobody looks at without a search."""
    try:
        if getattr(subject, "neighbourhood", None) is not None:
            return "the declared neighbourhood was not searched: --search searches it"
        if not callable(getattr(subject, "candidates", None)):
            return None
        ours = [key_of(given) for given in subject.inputs()]
        number, left = 0, 0
        # the list may be endless, and its pairs large
        for number, pair in enumerate(islice(subject.candidates(), MOST_COUNTED + 1), 1):
            same = number <= MOST_COMPARED and [key_of(given) for given in pair] in (ours, ours[::-1])
            left += not same
    except FAILURES:
        return "the pairs that candidates() lists were not looked at: it failed"
    listed = f"{left:,}" if number <= MOST_COUNTED else f"more than {MOST_COUNTED - 1:,}"
    one = "pair was not looked at: --search tries it"
    several = "pairs were not looked at: --search tries them"
    return f"{listed} listed {one if left == 1 else several}" if left else None
