"""Descriptions of subjects: the names in a request or a certificate, and building the subjects."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, assert_never, get_args

from audit.auditor.subject import DOMAIN_NAMES, Subject, SubjectError
from audit.subjects.adjacency import UNCHECKED, Relation, require_neighbours, require_several
from audit.subjects.catalogue import CATALOGUE
from audit.subjects.catalogue.entry import Adjacency
from audit.subjects.imported import imported_object
from audit.subjects.programs import InputPair, ProgramDescription, ProgramSubject
from audit.subjects.releases import MechanismDescription, release_of
from audit.subjects.search import AtPair, Listed, searchable
from reference.common.documents import Document
from reference.common.errors import ReadingError
from reference.readings import ADJACENCIES

OF_CATALOGUE: tuple[Any, ...] = get_args(Adjacency)
"""Names of neighbouring relations in the catalogue; not all can be checked."""

MOST_COLUMNS, MOST_VALUES = 1_000, 10**7
"""Largest sizes that a certificate may have rebuilt: a few seconds of work."""

BY_CONSTRUCTION, IN_DOMAIN = "by construction", "a pair of the declared domain"
"""Why the inputs of our own mechanisms, and those of a search, are neighbours."""

BY_RELATION = "by the subject's relation"
"""Why the inputs of a subject with a function as its adjacency are neighbours."""

FOUND = (IN_DOMAIN, UNCHECKED, BY_RELATION, *(f"{name}, by the inputs" for name in ADJACENCIES))
"""What can be said of a pair found by a search."""


class DescriptionError(SubjectError):
    """A description does not describe a subject, wherever it is read."""


class CatalogueDescription(Document, frozen=True, kw_only=True, tag_field="kind", tag="catalogue"):
    """A mechanism of known loss.

    Parameters
    ----------
    name : str
        Of :data:`audit.subjects.catalogue.CATALOGUE`.
    parameters : dict
        Of its class.
    """

    name: str
    parameters: dict[str, int | float | str]


class ImportDescription(Document, frozen=True, kw_only=True, tag_field="kind", tag="import"):
    """A subject of the user's own.

    Parameters
    ----------
    path : str
        `package.module:attribute`, as in :func:`imported`.
    """

    path: str


Searched: TypeAlias = MechanismDescription | CatalogueDescription | ImportDescription
"""Descriptions that a found pair may belong to; in particular, a pair cannot make a program run."""


class PairDescription(Document, frozen=True, kw_only=True, tag_field="kind", tag="pair"):
    """A subject on a pair of inputs found by a search.

    Parameters
    ----------
    subject : Searched
    pair : dict
        In the form of the subject's neighbourhood.
    """

    subject: Searched
    pair: dict[str, Any]


Named: TypeAlias = Searched | ProgramDescription
"""The subjects that a command line can name."""

Description: TypeAlias = Named | PairDescription


def core(described: Description) -> Named:
    """Return the description of the mechanism, without a pair found by a search."""
    return described.subject if isinstance(described, PairDescription) else described


def rebuild(described: Description) -> Subject:
    """Build a subject from its description; all subjects of requests and certificates are made here.

    Raises
    ------
    reference.common.errors.InputError
    """
    match described:
        case MechanismDescription():
            return release_of(described)
        case CatalogueDescription():
            return planted(described)
        case ImportDescription():
            return imported(described.path)
        case ProgramDescription():
            return ProgramSubject.of(described)
        case PairDescription():
            subject, neighbourhood = searchable(rebuild(described.subject))
            try:
                pair = neighbourhood.from_json(described.pair)
                held = neighbourhood.holds(pair)
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
                raise DescriptionError(f"the pair is not in the declared domain: {problem!r}") from problem
            if not held:
                raise DescriptionError("the pair is not of the declared domain: its inputs are not neighbours")
            return AtPair(subject, pair)
    assert_never(described)


def rebuild_small(described: Description) -> Subject:
    """Build a subject from an untrusted description.

    Raises
    ------
    reference.common.errors.InputError
    """
    require_small(described)
    return rebuild(described)


def rebuilt_anew(described: Description) -> Subject:
    """Build the user's own subject with its module imported again, so that what the module drew is drawn again."""
    inner = core(described)
    module = inner.path.partition(":")[0] if isinstance(inner, ImportDescription) else ""
    if module != "__main__":
        sys.modules.pop(module, None)
    return rebuild(described)


def require_small(described: Description) -> None:
    """Refuse a description that would take too long to build.

    Raises
    ------
    SubjectError
    """
    inner, columns, values = core(described), 0, 0
    if isinstance(inner, CatalogueDescription):
        columns = max((size for size in inner.parameters.values() if type(size) is int), default=0)
    elif isinstance(inner, MechanismDescription) and inner.setting is not None:
        columns = inner.setting.dimension
    elif isinstance(inner, MechanismDescription) and inner.data is not None:
        columns = inner.data.dimension or 0
        values = (inner.data.records or 0) * max(columns, 1)
    for size, most, words in ((columns, MOST_COLUMNS, "columns"), (values, MOST_VALUES, "numbers")):
        if size > most:
            raise SubjectError(f"{size:,} {words} are too many to rebuild for a check: at most {most:,}")


class NeighboursFound(NamedTuple):
    """How inputs are known to be neighbours.

    Parameters
    ----------
    known : str
        In words; :data:`audit.subjects.adjacency.UNCHECKED` if they are not.
    notes : tuple of str
        Why nobody can tell whether they are, though a relation is declared.
    """

    known: str
    notes: tuple[str, ...] = ()


def neighbours_of(described: Description, subject: Subject) -> NeighboursFound:
    """Return how the inputs of a subject are known to be neighbours.

    The user's own subject may have an attribute `adjacency`, as for
    :func:`audit.subjects.adjacency.require_neighbours`.

    Raises
    ------
    SubjectError
        When they are not neighbours.
    """
    match described:
        case MechanismDescription() | CatalogueDescription():
            return NeighboursFound(BY_CONSTRUCTION)
        case PairDescription():
            searched, neighbourhood = searchable(rebuild(described.subject))
            if isinstance(neighbourhood, Listed):
                return neighbours_listed(searched, neighbourhood)
            return NeighboursFound(IN_DOMAIN)
        case ProgramDescription():
            return NeighboursFound(
                UNCHECKED if described.inputs is None else neighbours_of_lists(described.inputs)
            )
        case ImportDescription():
            relation = declared_relation(subject)
            if relation is None or not hasattr(subject, "inputs"):
                return NeighboursFound(UNCHECKED)
            return _known(relation, [require_neighbours(*subject.inputs(), relation)])
    assert_never(described)


def declared_relation(subject: object) -> Relation | None:
    """Return the relation that a subject declares; None if there is none, or it cannot be checked.

    Raises
    ------
    reference.common.errors.ReadingError
        When it is no relation.
    """
    relation = getattr(subject, "adjacency", None)
    if callable(relation) or (isinstance(relation, str) and relation in ADJACENCIES):
        checkable: Relation = relation
        return checkable
    if relation is None or (isinstance(relation, str) and relation in OF_CATALOGUE):
        return None
    raise ReadingError("adjacency", relation, f"one of {', '.join(ADJACENCIES)}, or a function of both inputs")


def neighbours_listed(subject: object, listed: Listed) -> NeighboursFound:
    """Return how all the pairs that a subject lists are known to be neighbours.

    Raises
    ------
    SubjectError
        When some are not.
    """
    relation, found = declared_relation(subject), list[str | None]()
    if relation is None:
        return NeighboursFound(UNCHECKED)
    for place, pair in enumerate(listed.pairs):
        try:
            found.append(require_neighbours(*pair, relation))
        except SubjectError as problem:
            raise SubjectError(f"pair {place} of candidates(): {problem}") from problem
    return _known(relation, found)


def _known(relation: Relation, found: Sequence[str | None]) -> NeighboursFound:
    """Return how pairs are known to be neighbours, by what the comparison of each has found."""
    notes = tuple(dict.fromkeys(note for note in found if note is not None))
    in_words = f"{relation}, by the inputs" if isinstance(relation, str) else BY_RELATION
    return NeighboursFound(UNCHECKED if notes else in_words, notes)


def neighbours_of_lists(pair: InputPair) -> str:
    """Return how a program's inputs are known to be neighbours; two lists are checked record by record.

    Raises
    ------
    SubjectError
        When they are not neighbours.
    """
    if not (isinstance(pair.left, list) and isinstance(pair.right, list)):
        return UNCHECKED
    require_several(pair.left, pair.right)
    # as texts: a record is any JSON, and the order of an object's members does not matter
    left, right = ([json.dumps(record, sort_keys=True) for record in side] for side in (pair.left, pair.right))
    require_neighbours(left, right, pair.adjacency)
    return f"{pair.adjacency}, by the inputs"


def planted(described: CatalogueDescription) -> Subject:
    """Return a mechanism of the catalogue.

    Raises
    ------
    reference.common.errors.ReadingError
        When there is no such mechanism.
    DescriptionError
        When it has no such parameter.
    """
    known = CATALOGUE.get(described.name)
    if known is None:
        raise ReadingError("mechanism", described.name, "one of " + ", ".join(CATALOGUE))
    try:
        parameters: dict[str, Any] = dict(described.parameters)
        subject: Subject = known(**parameters)
    except TypeError as problem:
        raise DescriptionError(f"{described.name} has other parameters than {described.parameters}") from problem
    return subject


def imported(path: str) -> Subject:
    """Return the subject that `package.module:attribute` names; a class or function is called without arguments.

    Raises
    ------
    SubjectError
        When there is none, or it does not follow :class:`Subject`.
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
