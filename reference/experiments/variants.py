"""The readings that change an outcome: the default, and one variant for each way to depart from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reference.common.documents import plain
from reference.common.errors import ReadingError
from reference.common.numbers import exact
from reference.datasets import Encoding
from reference.readings import Readings


@dataclass(frozen=True)
class Variant:
    """One way to read what the paper leaves open.

    Parameters
    ----------
    name : str
    what : str
        How it departs from the default, in words.
    encoding : Encoding
        Norm, encoding of categories, intercept, kept group.
    fairness : str
        The fairness term of the mechanisms that have one; the others always have none.
    readings : Readings
        Everything else: repair, basis, sensitivity, alpha_1, tau.
    epsilon_ratio : str
        epsilon_s / epsilon_n of PDFC and ADFC, at the same published total.
    """

    name: str
    what: str
    encoding: Encoding = field(default_factory=Encoding)
    fairness: str = "absolute"
    readings: Readings = field(default_factory=Readings)
    epsilon_ratio: str = "1"

    def __post_init__(self) -> None:
        if exact("epsilon_ratio", self.epsilon_ratio) <= 0:
            raise ReadingError("epsilon_ratio", self.epsilon_ratio, "positive")

    def readings_of(self, *, fair: bool) -> Readings:
        """Return the readings of a mechanism, with the fairness term or without one."""
        return self.readings.with_(fairness=self.fairness if fair else "none")

    def to_json(self) -> dict[str, Any]:
        """Return the readings as plain JSON values."""
        others = plain(self.readings)
        del others["fairness"]
        return {
            "variant": self.name,
            "what": self.what,
            "fairness": self.fairness,
            "domain": self.encoding.norm,
            "encoding": self.encoding.encoding,
            "intercept": self.encoding.intercept,
            "keep_group": self.encoding.keep_group,
            "epsilon_ratio": self.epsilon_ratio,
            **others,
        }


DEFAULT = "default"

VARIANTS: dict[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant(DEFAULT, "unit ball, ordinal codes, no group, no intercept, absolute, shift and trim"),
        Variant("box", "the box [0, 1]^d that the constants need", Encoding("unit_box")),
        Variant("one_hot", "one coordinate per category", Encoding(encoding="one_hot")),
        Variant("group", "sex among the features", Encoding(keep_group=True)),
        Variant("intercept", "an intercept coordinate", Encoding(intercept=True)),
        Variant(
            "intercept_group", "intercept, and sex among the features", Encoding(intercept=True, keep_group=True)
        ),
        Variant(
            "box_one_hot_group",
            "box, one-hot, sex among the features",
            Encoding("unit_box", "one_hot", keep_group=True),
        ),
        Variant("covariance", "fairness term with its sign", fairness="covariance"),
        # the paper states no bound for it
        Variant(
            "separate",
            "fairness term released apart, noise for the exact sensitivity",
            fairness="separate",
            readings=Readings(sensitivity="exact"),
        ),
        # the other fairness terms where LR comes near the paper's risk difference: two departures at once, which
        # change more than each alone
        Variant(
            "box_one_hot_group_covariance",
            "box, one-hot, sex among the features, fairness term with its sign",
            Encoding("unit_box", "one_hot", keep_group=True),
            "covariance",
        ),
        Variant(
            "box_one_hot_group_separate",
            "box, one-hot, sex among the features, fairness term released apart, noise for the exact sensitivity",
            Encoding("unit_box", "one_hot", keep_group=True),
            "separate",
            Readings(sensitivity="exact"),
        ),
        Variant("no_fairness", "no fairness term", fairness="none"),
        Variant("trim", "only drop nonpositive eigenvalues", readings=Readings(repair="trim")),
        Variant("ball_repair", "minimise over |w| <= 10", readings=Readings(repair="ball")),
        Variant("no_repair", "no repair: often no minimum", readings=Readings(repair="none")),
        Variant("exact", "noise for the exact sensitivity", readings=Readings(sensitivity="exact")),
        Variant("more_noise_on_x_s", "epsilon_s = epsilon_n / 10", epsilon_ratio="1/10"),
        Variant("less_noise_on_x_s", "epsilon_s = 10 epsilon_n", epsilon_ratio="10"),
    )
}
"""The documented grid: the default, and departures from it, mostly one at a time."""
