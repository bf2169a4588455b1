"""Subjects of an audit: anything with two inputs and a sampler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from reference.common.arrays import FloatArray
from reference.common.errors import InputError
from reference.common.printable import in_brief

DOMAIN_NAMES = ("neighbourhood", "candidates")
"""Attributes that may replace `inputs`: the auditor then searches for the two (docs/adapters.md)."""


class SubjectError(InputError):
    """The subject's own code failed, or did not return an array of outputs."""


class DrawingError(SubjectError):
    """A draw failed, after others succeeded.  The failure is an outcome like any other."""


FAILURES = (Exception, SystemExit)
"""Errors of a subject's own code; SystemExit must not end the audit as a success."""


class Subject(Protocol):
    """A mechanism with a pair of neighbouring inputs.

    This is all that the auditor gets: it does not see the noise, scale or coefficients.  A subject may also have
    `log_likelihood_ratio(outputs) -> (n,)`, the log density on the left input less that on the right one; the
    number of an output must depend on that output alone: those that count are asked for in calls that mix both
    inputs, and some again in others.  Any other error in it costs power, not validity.
    It, too, may be called from several threads.
    Further attributes that it may have (:func:`check_attributes`): `notes`, sentences for the reader;
    `own_entropy`, true if it does not use the generator, so that no seed repeats its draws; `most_rows`, how many
    outputs to request at a time if they are slow.

    Draws must be independent: their randomness comes from the given generator, and nothing is kept from
    one call to the next.  Every bound rests on that.  What is checked: that two generators give different draws
    and, for a note, that equal ones give the same; that nothing random is drawn once for all outputs of a call, as
    far as a few short calls show; that first outputs have the law of later ones, that inputs do not change, and
    that results are new arrays.  `sample` must be safe to call from several threads with different generators, and
    `inputs` must return the same pair each time.
    """

    def inputs(self) -> tuple[Any, Any]:
        """Return the two neighbouring inputs, left and right."""
        ...

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` independent outputs on one input, shape (count, k), with the same k for both inputs."""
        ...


def check_attributes(subject: object) -> None:
    """Refuse a subject with invalid further attributes, before anything is drawn.

    Raises
    ------
    SubjectError
    """
    wanted: dict[str, tuple[str, Callable[[Any], bool]]] = {
        "most_rows": ("a whole number, at least 1", lambda most: type(most) is int and most >= 1),
        "notes": ("a tuple or list of sentences", _are_sentences),
        "own_entropy": ("true or false", lambda own: isinstance(own, bool)),
        "log_likelihood_ratio": ("a method", callable),
    }
    for name, (words, fits) in wanted.items():
        try:
            found = getattr(subject, name, _ABSENT)
        except FAILURES as problem:
            raise SubjectError(f"{name} failed: {type(problem).__name__}: {problem}") from problem
        if found is not _ABSENT and not fits(found):
            raise SubjectError(f"{name} must be {words}, not {found!r:.100}")


def two_inputs(given: Any) -> tuple[Any, Any]:
    """Return what a subject's `inputs()` returned, if it is a pair.

    Raises
    ------
    SubjectError
        Also for a table or an array: its columns or rows are not the two inputs.  And for an iterator or an open
        file: the first draw would use it up, and all others be of nothing.
    """
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise SubjectError(f"inputs() must return the two inputs, not {in_brief(given)}")
    if (found := _used_up(list(given))) is not None:
        raise SubjectError(
            f"an input can be read only once: it is, or contains, {in_brief(found)}; pass what it yields as a list"
        )
    return given[0], given[1]


def _used_up(given: Any) -> Any:
    """Return an iterator that an input is or contains, or None."""
    if isinstance(given, list | tuple | dict):
        parts = given.values() if isinstance(given, dict) else given
        return next((found for found in map(_used_up, parts) if found is not None), None)
    return given if hasattr(type(given), "__next__") else None


_ABSENT = object()


def _are_sentences(notes: Any) -> bool:
    return isinstance(notes, tuple | list) and all(isinstance(note, str) for note in notes)
