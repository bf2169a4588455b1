"""Predictions as a table of text: for the data holder.

A prediction is a function of w and of the record itself.  w is what a release states something about; it does not
hide the record that the prediction is for.  So all are marked, those on training data and those on new records.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from reference.domain_file import DomainFile
from reference.errors import DomainFileError, ReleaseFileError
from reference.evaluation import NOT_PRIVATE
from reference.fairness import predict
from reference.record_blocks import RecordBlocks, blocks_of
from reference.records import Records
from reference.release import Release
from reference.values import is_finite


def prediction_lines(
    w: tuple[float, ...], records: Records | RecordBlocks, held_out: npt.NDArray[np.bool_] | None = None
) -> Iterator[str]:
    """Yield the lines of a CSV file with a prediction for every record.

    Parameters
    ----------
    w : tuple of float
    records : Records or RecordBlocks
    held_out : ndarray of bool, shape (n,), optional
        Which records were not trained on; without it there is no column `part`.

    Yields
    ------
    str
        ``row`` counts the records from 1; ``score`` is x.w; ``prediction`` is 1 where it is positive.
    """
    part = "" if held_out is None else "part,"
    yield f"row,{part}score,prediction,note\n"
    row = 0
    for block in blocks_of(records):
        scores = block.x @ np.asarray(w, dtype=np.float64)
        for score, positive in zip(scores.tolist(), predict(w, block.x).tolist(), strict=True):
            if held_out is not None:
                part = "test," if held_out[row] else "train,"
            row += 1
            yield f"{row},{part}{score!r},{int(positive)},{NOT_PRIVATE}\n"


def release_document(release: Release, declared: DomainFile) -> dict[str, Any]:
    """Return a release with the domain that it belongs to; the w of a baseline is marked as not private."""
    stated = release.privacy.published is not None or release.privacy.exact is not None
    return {**release.to_json(), **({} if stated else {"note": NOT_PRIVATE}), "domain": declared.to_json()}


def load_release(path: str | Path) -> tuple[Release, DomainFile | None]:
    """Read a release from a file that ``fit`` wrote, with its domain where the file has it.

    Raises
    ------
    reference.errors.ReleaseFileError
        When the file cannot be read, is no release, or has several.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise ReleaseFileError(f"release file {path} cannot be read: {problem.strerror}") from problem
    except json.JSONDecodeError as problem:
        raise ReleaseFileError(
            f"release file {path} is no JSON: {problem.msg} (line {problem.lineno})"
        ) from problem
    except (ValueError, RecursionError) as problem:
        raise ReleaseFileError(f"release file {path} is no JSON that can be read: {problem}") from problem
    if isinstance(document, dict) and isinstance(document.get("releases"), list):
        if len(document["releases"]) != 1:
            raise ReleaseFileError(
                f"release file {path} has {len(document['releases'])} releases; `fit --release FILE` writes one"
            )
        document = document["releases"][0]
    try:
        release = Release.from_json(document)
        declared = DomainFile.from_json(document["domain"]) if "domain" in document else None
    except DomainFileError as problem:
        raise ReleaseFileError(f"release file {path}: {problem}") from problem
    except ValueError as problem:
        raise ReleaseFileError(f"release file {path} is {problem}") from problem
    _check_w(release, path)
    return release, declared


def _check_w(release: Release, path: str | Path) -> None:
    if release.w is None:
        raise ReleaseFileError(
            f"release file {path}: the release is unbounded, so it has no w and predicts nothing"
        )
    finite = all(type(value) in (int, float) and is_finite(value) for value in release.w)
    if not finite or len(release.w) != len(release.columns):
        raise ReleaseFileError(f"release file {path}: w is not one finite number for each of its columns")


def fitting_domain(release: Release, own: DomainFile | None, given: DomainFile | None) -> DomainFile:
    """Return the domain by which new records are encoded for a release.

    Parameters
    ----------
    release : Release
    own : DomainFile, optional
        The domain in the release's file.
    given : DomainFile, optional
        Another copy of it.

    Raises
    ------
    reference.errors.ReleaseFileError
        When there is none, when the two differ, or when the columns are not those of w.
    """
    found = given or own
    if found is None:
        raise ReleaseFileError("the release file has no domain in it: name the domain file with --domain")
    try:
        layout = {
            "norm": release.readings["domain"],
            "intercept": release.readings["intercept"],
            "keep_group": release.readings["keep_group"],
        }
    except KeyError as problem:
        raise ReleaseFileError(f"the release does not state its reading {problem}") from problem
    laid_out = found.with_(**layout).without_marks()
    if laid_out.domain.columns != release.columns:
        raise ReleaseFileError(
            f"the domain has the columns {', '.join(laid_out.domain.columns)}; the release has a w for "
            f"{', '.join(release.columns)}"
        )
    if own is not None and given is not None and own.attributes != given.attributes:
        raise ReleaseFileError("the domain file declares other bounds or categories than the release's own domain")
    return laid_out
