"""Does more noise on x_s reduce the risk difference? ``python -m reference experiments x_s``.

Every choice of x_s, PDFC and ADFC, against noise that is spread evenly, in pairs on the same splits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from joblib import delayed
from threadpoolctl import threadpool_limits

from reference.common.errors import ReadingError
from reference.common.numbers import exact
from reference.common.page import Listing, Page
from reference.common.workers import parallel
from reference.datasets import Encoding
from reference.experiments.calibrated import (
    COMPARISONS,
    EVEN,
    EVEN_NOISE,
    RATIO,
    Arm,
    NoiseSetting,
    measured,
    paired_values,
    trained,
    unit_noise,
)
from reference.experiments.exhibits import domain
from reference.experiments.outputs import SEEDED, said_missing
from reference.experiments.paired import PairedDifference
from reference.experiments.splits import SplitSpec, prepare, whole
from reference.experiments.variants import DEFAULT, VARIANTS, Variant
from reference.experiments.watch import NOBODY, Watch, in_turn
from reference.fairness import Metrics
from reference.noise import Noise
from reference.readings import Readings

SIGNIFICANCE = 0.05
"""Chance that any interval of a data set is wrong."""

SPLITS = 200

WITH_TWO_BUDGETS = ("pdfc", "adfc")
EPSILONS = ("1", "10")

SHOWN = {
    variant.name: variant
    for variant in (
        VARIANTS[DEFAULT],
        VARIANTS["covariance"],
        Variant(
            "covariance_trim",
            "covariance; only drop nonpositive eigenvalues",
            Encoding(),
            "covariance",
            Readings(repair="trim"),
        ),
        Variant(
            "covariance_ball",
            "covariance; minimise over |w| <= 10",
            Encoding(),
            "covariance",
            Readings(repair="ball"),
        ),
        Variant(
            "covariance_box_no_repair",
            "covariance, box, no repair: where a minimum exists",
            Encoding("unit_box"),
            "covariance",
            Readings(repair="none"),
        ),
        Variant(
            "intercept_no_fairness",
            "box, intercept, no fairness term",
            Encoding("unit_box", intercept=True),
            "none",
        ),
    )
}
"""The readings shown by default: the repair decides the effect of more noise on x_s."""

COLUMNS = ("accuracy", "gain_over_majority", "risk_difference", "positive_rate")


@dataclass(frozen=True)
class ChoiceDesign:
    """The records of a run, how often they are split, and the settings.

    Parameters
    ----------
    data : str
    variants : tuple of Variant
        Their ratio is replaced by `ratio`.
    splits, seed, test_share, subset_size
        As for the figures.
    epsilons : tuple of str
    delta : str
    ratio : str
        epsilon_s / epsilon_n, below 1.
    x_s : str, optional
        One column instead of all.
    missing : str, optional
        The requested data set, if it is not there.
    """

    data: str
    variants: tuple[Variant, ...] = tuple(SHOWN.values())
    splits: int = SPLITS
    seed: int = 0
    test_share: float = 0.2
    subset_size: int | None = None
    epsilons: tuple[str, ...] = EPSILONS
    delta: str = "1e-3"
    ratio: str = RATIO
    x_s: str | None = None
    missing: str | None = None

    def __post_init__(self) -> None:
        if not 0 < exact("epsilon_ratio", self.ratio) < 1:
            raise ReadingError("epsilon_ratio", self.ratio, "above 0 and below 1: more noise on x_s")

    @property
    def settings(self) -> tuple[NoiseSetting, ...]:
        """Every combination of readings, mechanism and epsilon."""
        return tuple(
            NoiseSetting(replace(variant, epsilon_ratio=self.ratio), mechanism, epsilon, self.delta)
            for variant in self.variants
            for mechanism in WITH_TWO_BUDGETS
            for epsilon in self.epsilons
        )

    def choices(self, encoding: Encoding) -> tuple[int, ...]:
        """Return the coordinates to take as x_s in turn."""
        known = domain(self.data, encoding)
        return known.selectable if self.x_s is None else (known.coordinate(self.x_s),)

    def split(self, encoding: Encoding, number: int) -> SplitSpec:
        """Return one split under an encoding."""
        return SplitSpec(self.data, encoding, self.subset_size, self.test_share, number, self.seed)

    @property
    def intervals(self) -> int:
        """The number of intervals looked at."""
        return sum(len(COMPARISONS) * len(self.choices(setting.variant.encoding)) for setting in self.settings)


@lru_cache(maxsize=256)
def arms_of(setting: NoiseSetting, data: str, choices: tuple[int, ...]) -> dict[Arm, Noise]:
    """Return the noise of every arm: public, so computed once for all splits."""
    return setting.arms(domain(data, setting.variant.encoding), choices)


def on_one_split(
    design: ChoiceDesign, encoding: Encoding, number: int
) -> dict[NoiseSetting, dict[Arm, Metrics | None]]:
    """Return the metrics of every arm of every setting of one encoding on one split."""
    on, found = design.split(encoding, number), {}
    with threadpool_limits(limits=1):
        split = prepare(on)
        for setting in (one for one in design.settings if one.variant.encoding == encoding):
            arms = arms_of(setting, design.data, design.choices(encoding))
            weights = trained(setting, split, arms, unit_noise(setting, on, arms[EVEN, None]))
            found[setting] = {arm: measured(split, w) for arm, w in weights.items()}
    return found


def measure(design: ChoiceDesign, *, jobs: int = 1, watch: Watch = NOBODY) -> dict[str, Any]:
    """Run the design and return the document.

    Parameters
    ----------
    design : ChoiceDesign
    jobs : int
        Processes; the numbers do not depend on it.
    watch : Watch
        Told of each split.
    """
    if jobs < 1:
        raise ReadingError("jobs", jobs, "at least 1")
    # encoding by encoding: the last two encoded tables are kept
    encodings = dict.fromkeys(setting.variant.encoding for setting in design.settings)
    work = [(encoding, number) for encoding in encodings for number in range(design.splits)]
    runs: dict[NoiseSetting, list[dict[Arm, Metrics | None]]] = {setting: [] for setting in design.settings}
    watch.expect(len(work))
    pool = parallel(jobs, return_as="generator")
    for found in in_turn(pool(delayed(on_one_split)(design, *one) for one in work)):
        for setting, metrics in found.items():
            runs[setting].append(metrics)
        watch.released("x_s")
    return {
        "schema": "experiment_x_s_v1",
        "data": design.data,
        "missing_data": design.missing,
        "note": SEEDED,
        "seed": design.seed,
        "splits": design.splits,
        "test_share": design.test_share,
        "subset_size": design.subset_size,
        "epsilon_ratio": design.ratio,
        "significance": SIGNIFICANCE,
        "intervals": design.intervals,
        "covers": "noise and splits on this table, all together (Bonferroni); not the sampling of people",
        "settings": [_setting(design, setting, found) for setting, found in runs.items()],
    }


def _setting(
    design: ChoiceDesign, setting: NoiseSetting, runs: Sequence[dict[Arm, Metrics | None]]
) -> dict[str, Any]:
    encoding = setting.variant.encoding
    records = whole(design.data, encoding)
    by_arm = {arm: [run[arm] for run in runs] for arm in runs[0]}
    rows = []
    for s in design.choices(encoding):
        compared = {
            name: PairedDifference.of(
                paired_values(by_arm[more, s], by_arm[even, None]), SIGNIFICANCE / design.intervals
            ).to_json()
            for name, (more, even) in COMPARISONS.items()
        }
        rows.append(
            {
                "x_s": records.domain.columns[s],
                "correlation_with_z": correlation(records.x[:, s], records.z),
                **compared,
                "calibrated": averages(by_arm["calibrated", s]),
                "added_noise": averages(by_arm["added", s]),
            }
        )
    return {
        "readings": setting.variant.to_json(),
        "mechanism": setting.mechanism,
        "epsilon": setting.epsilon,
        "delta": setting.delta if setting.mechanism == "adfc" else "0",
        "majority_accuracy": _mean([m.majority_accuracy for m in by_arm[EVEN, None] if m is not None]),
        "even": averages(by_arm[EVEN, None]),
        "even_noise": averages(by_arm[EVEN_NOISE, None]),
        "choices": rows,
    }


def correlation(x: Any, z: Any) -> float | None:
    """Return the correlation of a column with the group in the whole table, which no noise changes."""
    if z is None or np.std(x) == 0 or np.std(z) == 0:
        return None
    return float(np.corrcoef(x, z)[0, 1])


def averages(found: Sequence[Metrics | None]) -> dict[str, Any]:
    """Return the means over runs with a minimum, how many have none, and how many predict one class."""
    known = [metrics for metrics in found if metrics is not None]
    return {
        "runs": len(found),
        "unbounded": len(found) - len(known),
        "constant": sum(metrics.positive_rate in (0.0, 1.0) for metrics in known),
        **{name: _mean([getattr(m, name) for m in known if getattr(m, name) is not None]) for name in COLUMNS},
    }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def as_text(document: dict[str, Any], page: Page) -> str:
    """Return one table per setting."""
    return page.text(*_parts(document))


def _parts(document: dict[str, Any]) -> Iterator[Listing | str]:
    yield from said_missing(document)
    for setting in document["settings"]:
        nothing = ("",) * len(COMPARISONS)
        yield Listing(
            f"{document['data']}, {setting['readings']['variant']}, {setting['mechanism']}, "
            f"epsilon {setting['epsilon']}: change of the risk difference by more noise on x_s",
            ("x_s", "corr. with z", *COMPARISONS, "RD", "gain", "positive rate", "constant"),
            (
                ("evenly, same epsilon", "", *nothing, *_cells(setting["even"])),
                ("evenly, same noise", "", *nothing, *_cells(setting["even_noise"])),
                *(
                    (
                        row["x_s"],
                        _number(row["correlation_with_z"]),
                        *(interval_text(row[name]) for name in COMPARISONS),
                        *_cells(row["calibrated"]),
                    )
                    for row in setting["choices"]
                ),
            ),
        )
        yield (
            "RD and after: of more noise on x_s, same epsilon; the majority class has accuracy "
            f"{_number(setting['majority_accuracy'], sign=False)}"
        )
    yield (
        f"{document['splits']} pairs; {document['intervals']} intervals that hold together at significance "
        f"{document['significance']}; they cover {document['covers']}.  {document['note']}."
    )


def interval_text(compared: dict[str, Any]) -> str:
    """Return a mean, its interval and the word."""
    if compared["interval"] is None:
        return f"{compared['differing']} of {compared['pairs']} differ"
    low, high = compared["interval"]
    return f"{compared['mean']:+.3f} [{low:+.3f}, {high:+.3f}] {compared['word']}"


def _cells(one: dict[str, Any]) -> list[str]:
    constant = f"{one['constant']} of {one['runs']}"
    if one["unbounded"]:
        constant += f", {one['unbounded']} without minimum"
    return [
        _number(one["risk_difference"], sign=False),
        _number(one["gain_over_majority"]),
        _number(one["positive_rate"], sign=False),
        constant,
    ]


def _number(value: float | None, *, sign: bool = True) -> str:
    return "–" if value is None else f"{value:+.3f}" if sign else f"{value:.3f}"
