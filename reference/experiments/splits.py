"""A random split of a data set: shared by every run that trains and measures on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from reference.common.errors import ReadingError
from reference.datasets import Encoding, load
from reference.moments import Moments
from reference.noise import generator
from reference.records import Records


@dataclass(frozen=True)
class SplitSpec:
    """A split of records into training and held-out ones.

    Parameters
    ----------
    data : str
        Name of a data set, as for :func:`reference.datasets.load`.
    encoding : reference.datasets.Encoding
        Norm, encoding, intercept and kept group.
    subset_size : int, optional
        Use this many records, drawn at random; all by default.
    test_share : float
        Share of the used records that is held out, in (0, 1).
    split : int
        Number of the split, from 0.
    seed : int
        Of all splits.
    """

    data: str
    encoding: Encoding = field(default_factory=Encoding)
    subset_size: int | None = None
    test_share: float = 0.2
    split: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.test_share < 1:
            raise ReadingError("test_share", self.test_share, "above 0 and below 1")
        for name, value, least in (("subset_size", self.subset_size, 2), ("split", self.split, 0)):
            if value is not None and value < least:
                raise ReadingError(name, value, f"at least {least}")

    def rows(self, n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the rows to train on and the rows held out, both ascending.

        They depend on `data`, `subset_size`, `test_share`, `split` and `seed` alone: the same records are held
        out whatever the encoding and the mechanism, so that runs can be compared in pairs.

        Parameters
        ----------
        n : int
            Records of the data set.
        """
        used = n if self.subset_size is None else self.subset_size
        if used > n:
            raise ReadingError("subset_size", used, f"at most {n}, the records of {self.data}")
        held_out = round(used * self.test_share)
        if not 0 < held_out < used:
            raise ReadingError("test_share", self.test_share, f"such that {used} records leave some on both sides")
        random, _ = generator(self.seed, f"split {self.split} of {self.data}")
        order = random.permutation(n)[:used]
        return np.sort(order[held_out:]), np.sort(order[:held_out])


@dataclass(frozen=True, eq=False, repr=False)
class PreparedSplit:
    """Records of one split; the moments are computed once and serve every mechanism.

    Parameters
    ----------
    train, test : Records
    """

    train: Records
    test: Records

    @cached_property
    def moments(self) -> Moments:
        """Moments of the training records."""
        return Moments.of(self.train)


@lru_cache(maxsize=2)
def whole(data: str, encoding: Encoding) -> Records:
    """Return a data set; the last two are kept, because the splits of one follow each other."""
    return load(data, encoding)


@lru_cache(maxsize=2)
def prepare(spec: SplitSpec) -> PreparedSplit:
    """Return the records of a split; the last two splits are kept."""
    records = whole(spec.data, spec.encoding)
    train, test = spec.rows(len(records))
    return PreparedSplit(records.take(train), records.take(test))
