"""Descriptions of subjects: what a command line or a certificate names, and how it is built."""

from __future__ import annotations

import inspect
from typing import Any

from audit.catalogue import CATALOGUE
from audit.imports import imported_object
from audit.neighbour_search import AtPair, searchable
from audit.programs import ProgramSubject
from audit.releases import release_of
from audit.subjects import DOMAIN_NAMES, Subject, SubjectError
from reference.errors import ReadingError

SEARCHED_KINDS = ("mechanism", "catalogue", "import")
"""Descriptions that a found pair may belong to."""


def rebuild(document: dict[str, Any]) -> Subject:
    """Build a subject from its description: every subject of the command line is made here.

    Parameters
    ----------
    document : dict
        `kind` is `mechanism` (see :func:`audit.releases.release_of`), `catalogue` (`name`, and `parameters` of
        its class), `import` (`path`, as in :func:`imported`), `program` (as in docs/programs.md: it is run) or
        `pair` (`subject`, another description, on the `pair` that a search found).

    Raises
    ------
    reference.errors.InputError
    """
    kind = document.get("kind")
    if kind == "mechanism":
        return release_of(document)
    if kind == "catalogue":
        known = CATALOGUE.get(document["name"])
        if known is None:
            raise ReadingError("mechanism", document["name"], "one of " + ", ".join(CATALOGUE))
        planted: Subject = known(**document.get("parameters", {}))
        return planted
    if kind == "import":
        return imported(document["path"])
    if kind == "program":
        return ProgramSubject.from_json(document)
    if kind == "pair":
        return at_pair(document)
    raise ReadingError("kind", kind, "one of mechanism, catalogue, import, program, pair")


def imported(path: str) -> Subject:
    """Return the subject that `package.module:attribute` names; a class or function is called without arguments.

    Raises
    ------
    SubjectError
        When there is no such thing, or it does not follow :class:`Subject`.
    """
    subject: Any = imported_object(path, _made)
    searched = any(getattr(subject, name, None) is not None for name in DOMAIN_NAMES)
    for method in ("sample",) if searched else ("inputs", "sample"):
        if not callable(getattr(subject, method, None)):
            raise SubjectError(f"{path} has no method {method}: a subject has inputs() and sample(input, n, rng)")
    checked: Subject = subject
    return checked


def _made(found: Any) -> Any:
    return found() if inspect.isclass(found) or inspect.isroutine(found) else found


def at_pair(document: dict[str, Any]) -> Subject:
    """Build a subject on a found pair: `subject` is the subject's description, `pair` the neighbourhood's.

    Raises
    ------
    reference.errors.ReadingError
        For a kind that is never searched; above all, a description wrapped in a pair runs no program.
    """
    kind = document["subject"].get("kind")
    if kind not in SEARCHED_KINDS:
        raise ReadingError("kind", kind, f"one of {', '.join(SEARCHED_KINDS)} in a pair")
    subject, neighbourhood = searchable(rebuild(document["subject"]))
    return AtPair(subject, neighbourhood.from_json(document["pair"]))
