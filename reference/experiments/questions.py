"""The questions besides figures and tables: ``x_s``, ``rfm``, ``peers``, ``frontier``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reference.common.errors import ReadingError
from reference.common.page import Page
from reference.experiments import frontier, peers, rfm, x_s
from reference.experiments.calibrated import RATIO
from reference.experiments.variants import DEFAULT, VARIANTS, Variant
from reference.experiments.watch import Watch

SUBSET_SIZES = {"us": 50_000}
"""Records drawn for each split, where the table is large."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The settings of a question, for any of its data sets.

    Parameters
    ----------
    variants : tuple of Variant
        Readings; empty for the question's own.
    norm : str, optional
        Norm of x, if named.
    splits, seed : int
    test_share : float
    subset_size : int, optional
        Records to use (the question's own number).
    delta : str
    ratio : str, optional
        epsilon_s / epsilon_n, where it is part of the question.
    x_s : str, optional
    jobs : int
        Processes.
    noise : {'numpy', 'hardened'}
        Of the frontier; everything else is seeded.
    """

    variants: tuple[Variant, ...]
    norm: str | None
    splits: int
    seed: int
    test_share: float
    subset_size: int | None
    delta: str
    ratio: str | None
    x_s: str | None
    jobs: int
    noise: str = "numpy"

    @property
    def variant(self) -> Variant:
        """The one variant.

        Raises
        ------
        reference.common.errors.ReadingError
        """
        if len(self.variants) > 1:
            names = ", ".join(one.name for one in self.variants)
            raise ReadingError("variant", names, f"one of {', '.join(VARIANTS)}")
        return self.variants[0] if self.variants else VARIANTS[DEFAULT]


@dataclass(frozen=True)
class Question:
    """One question with its own design.

    Parameters
    ----------
    name : str
    data : tuple of str
        Data sets, unless one is requested.
    splits : int
        Unless another number is requested.
    measure : callable
        Takes the settings, the data set, the one it stands in for, and who is told; returns the document.
    as_text : callable
        The document as text.
    own_ratio : bool
        Whether `--epsilon-ratio` is part of the question, and not one of the readings.
    """

    name: str
    data: tuple[str, ...]
    splits: int
    measure: Callable[[Asked, str, str | None, Watch], dict[str, Any]]
    as_text: Callable[[dict[str, Any], Page], str]
    own_ratio: bool = False


def _x_s(asked: Asked, data: str, missing: str | None, watch: Watch) -> dict[str, Any]:
    size = asked.subset_size
    design = x_s.ChoiceDesign(
        data,
        asked.variants or tuple(x_s.SHOWN.values()),
        splits=asked.splits,
        seed=asked.seed,
        test_share=asked.test_share,
        subset_size=SUBSET_SIZES.get(data) if size is None else size,
        delta=asked.delta,
        ratio=asked.ratio or RATIO,
        x_s=asked.x_s,
        missing=missing,
    )
    return x_s.measure(design, jobs=asked.jobs, watch=watch)


def _rfm(asked: Asked, data: str, missing: str | None, watch: Watch) -> dict[str, Any]:
    chosen = asked.variant
    design = rfm.PairDesign(
        data,
        chosen.encoding,
        chosen.readings_of(fair=False),
        norms=rfm.NORMS if asked.norm is None else (asked.norm,),
        sizes=(*rfm.SIZES, None) if asked.subset_size is None else (asked.subset_size,),
        delta=asked.delta,
        splits=asked.splits,
        seed=asked.seed,
        test_share=asked.test_share,
        missing=missing,
    )
    return rfm.measure(design, jobs=asked.jobs, watch=watch)


def _peers(asked: Asked, data: str, missing: str | None, watch: Watch) -> dict[str, Any]:
    design = peers.PeerDesign(
        data,
        asked.variant,
        splits=asked.splits,
        seed=asked.seed,
        test_share=asked.test_share,
        subset_size=SUBSET_SIZES.get(data) if asked.subset_size is None else asked.subset_size,
        delta=asked.delta,
        missing=missing,
    )
    return peers.measure(design, watch=watch)


def _frontier(asked: Asked, data: str, missing: str | None, watch: Watch) -> dict[str, Any]:
    design = frontier.FrontierDesign(
        data,
        splits=asked.splits,
        seed=asked.seed,
        test_share=asked.test_share,
        subset_size=asked.subset_size,
        noise=asked.noise,
    )
    return frontier.measure(design, missing=missing, jobs=asked.jobs, watch=watch)


QUESTIONS = {
    question.name: question
    for question in (
        Question("x_s", ("adult", "us", "affairs", "synthetic"), x_s.SPLITS, _x_s, x_s.as_text, own_ratio=True),
        Question("rfm", ("us",), rfm.SPLITS, _rfm, rfm.as_text),
        Question("peers", ("adult", "us"), peers.SPLITS, _peers, peers.as_text),
        Question("frontier", frontier.DATA, frontier.SPLITS, _frontier, frontier.as_text),
    )
}


def splits_text() -> str:
    """Return the numbers of splits for the help."""
    return ", ".join(f"{question.name}: {question.splits}" for question in QUESTIONS.values())
