"""The linter of the vectors: problems of the committed files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from audit.vectors.build import FIRST_ID, TwoAnswersError, build
from audit.vectors.cover import gaps
from audit.vectors.format import VectorFile, load, path_of, text_of
from audit.vectors.mutants import MUTANTS
from audit.vectors.sources.registry import TYPES
from reference.common.errors import DocumentError

RENEW = "python -m audit vectors generate"


def read_all() -> tuple[dict[str, VectorFile], list[str]]:
    """Return the files of all group types, and the unreadable ones."""
    files, problems = {}, []
    for kind in TYPES:
        try:
            files[kind] = load(kind)
        except DocumentError as problem:
            problems.append(str(problem))
    return files, problems


def static_problems(files: dict[str, VectorFile], claims: Iterable[str]) -> Iterator[str]:
    """Yield problems found without computing: form, ids, flags, claims, cover."""
    known = set(claims)
    for kind, file in files.items():
        if path_of(kind).read_text(encoding="utf-8") != text_of(file):
            yield f"{kind}: the file is not in canonical form; {RENEW}"
        yield from _file_problems(kind, file, known)
    counted = Counter(case.tc_id for file in files.values() for case in file.cases)
    yield from (f"tcId {number} occurs {times} times" for number, times in counted.items() if times > 1)
    used = {flag for file in files.values() for flag in file.notes}
    yield from (f"{flag}: no case fails its broken variant" for flag in MUTANTS if flag not in used)
    yield from gaps(files)


def _file_problems(kind: str, file: VectorFile, claims: set[str]) -> Iterator[str]:
    if file.number_of_tests != len(file.cases):
        yield f"{kind}: numberOfTests is {file.number_of_tests} where there are {len(file.cases)}"
    used = {flag for case in file.cases for flag in case.flags}
    for flag in sorted(used ^ set(file.notes)):
        yield f"{kind}: the flag {flag} is {'not defined' if flag in used else 'not used'}"
    for flag, note in file.notes.items():
        if note.kills not in MUTANTS:
            yield f"{kind}: {flag} kills {note.kills}, which is not a broken variant"
        yield from (
            f"{kind}: {flag} names {name}, which is not a claim" for name in note.claims if name not in claims
        )
    first = FIRST_ID * (1 + TYPES.index(kind))
    comments = Counter(case.comment for case in file.cases)
    yield from (
        f"{kind}: the comment {text!r} occurs {times} times" for text, times in comments.items() if times > 1
    )
    for case in file.cases:
        if not first < case.tc_id < first + FIRST_ID:
            yield f"{kind}: tcId {case.tc_id} is not between {first} and {first + FIRST_ID}"
        if (case.result == "valid") != (case.right is not None):
            answer = "no answer" if case.right is None else "an answer"
            yield f"{kind}: case {case.tc_id} is {case.result} and has {answer}"


def stale(kinds: Iterable[str] = TYPES) -> Iterator[str]:
    """Yield the files that would be generated differently: other answers, or other flags."""
    for kind in kinds:
        try:
            text = text_of(build(kind))
        except TwoAnswersError as problem:
            yield str(problem)
            continue
        if path_of(kind).read_text(encoding="utf-8") != text:
            yield f"{kind}: the committed file is not what is generated now; {RENEW}"
