"""What the command line asks beside figures and tables: ``x_s``, ``rfm`` and ``peers``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reference.errors import ReadingError
from reference.experiments import peers, rfm, x_s
from reference.experiments.calibrated import RATIO
from reference.experiments.variants import DEFAULT, VARIANTS, Variant
from reference.files import json_text, write_whole


@dataclass(frozen=True)
class Question:
    """One question with its own design.

    Parameters
    ----------
    name : str
    data : tuple of str
        Data sets, unless one is asked for.
    splits : int
        Unless another number is asked for.
    measure : callable
        Takes the options, the variants, the data set and what was asked for in its place; returns the document.
    as_text : callable
        The document as text.
    own_ratio : bool
        Whether `--epsilon-ratio` is part of the question, and not one of the readings.
    """

    name: str
    data: tuple[str, ...]
    splits: int
    measure: Callable[[argparse.Namespace, Sequence[Variant], str, str | None], dict[str, Any]]
    as_text: Callable[[dict[str, Any]], str]
    own_ratio: bool = False


def _x_s(
    options: argparse.Namespace, variants: Sequence[Variant], data: str, missing: str | None
) -> dict[str, Any]:
    default = [variant.name for variant in variants] == [DEFAULT] and options.variant is None
    size = options.subset_size
    design = x_s.Design(
        data,
        tuple(x_s.SHOWN.values()) if default else tuple(variants),
        splits=options.splits,
        seed=options.seed,
        test_share=options.test_share,
        subset_size=x_s.SUBSET_SIZES.get(data) if size is None else size,
        delta=options.delta,
        ratio=options.ratio or RATIO,
        x_s=options.x_s,
        missing=missing,
    )
    return x_s.measure(design, jobs=options.jobs, quiet=options.quiet)


def _rfm(
    options: argparse.Namespace, variants: Sequence[Variant], data: str, missing: str | None
) -> dict[str, Any]:
    chosen = _only(variants)
    design = rfm.Design(
        data,
        chosen.encoding,
        chosen.readings_of(fair=False),
        norms=rfm.NORMS if options.domain is None else (options.domain,),
        sizes=(*rfm.SIZES, None) if options.subset_size is None else (options.subset_size,),
        delta=options.delta,
        splits=options.splits,
        seed=options.seed,
        test_share=options.test_share,
        missing=missing,
    )
    return rfm.measure(design, jobs=options.jobs, quiet=options.quiet)


def _peers(
    options: argparse.Namespace, variants: Sequence[Variant], data: str, missing: str | None
) -> dict[str, Any]:
    design = peers.Design(
        data,
        _only(variants),
        splits=options.splits,
        seed=options.seed,
        test_share=options.test_share,
        subset_size=peers.SUBSET_SIZES.get(data) if options.subset_size is None else options.subset_size,
        delta=options.delta,
        missing=missing,
    )
    return peers.measure(design, quiet=options.quiet)


QUESTIONS = {
    question.name: question
    for question in (
        Question("x_s", ("adult", "us", "affairs", "synthetic"), x_s.SPLITS, _x_s, x_s.as_text, own_ratio=True),
        Question("rfm", ("us",), rfm.SPLITS, _rfm, rfm.as_text),
        Question("peers", ("adult", "us"), peers.SPLITS, _peers, peers.as_text),
    )
}


def splits_text() -> str:
    """Return the numbers of splits for the help."""
    return ", ".join(f"{question.name}: {question.splits}" for question in QUESTIONS.values())


def show(
    question: Question, options: argparse.Namespace, variants: Sequence[Variant], data: Sequence[tuple[str, str]]
) -> None:
    """Measure on every data set, print, and write JSON and text into the folder `--out`.

    Parameters
    ----------
    question : Question
    options : argparse.Namespace
    variants : sequence of Variant
    data : sequence of (str, str)
        The data set that is there, and the one that was asked for.
    """
    shown = []
    for present, asked in dict.fromkeys(data):
        document = question.measure(options, variants, present, None if asked == present else asked)
        shown.append(document)
        if options.out is not None:
            stem = f"{options.out}/{question.name}-{present}"
            write_whole(f"{stem}.json", json_text(document))
            write_whole(f"{stem}.txt", question.as_text(document))
    if options.format == "json":
        sys.stdout.write(json_text(shown if len(shown) > 1 else shown[0]))
    else:
        sys.stdout.write("\n".join(question.as_text(document) for document in shown))


def _only(variants: Sequence[Variant]) -> Variant:
    """Return the one variant.

    Raises
    ------
    reference.errors.ReadingError
    """
    if len(variants) != 1:
        raise ReadingError("variant", ", ".join(one.name for one in variants), f"one of {', '.join(VARIANTS)}")
    return variants[0]
