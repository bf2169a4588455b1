"""The file of a repaired release: all that leaves the data holder, and all that predictions need."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import numpy as np
from msgspec import Meta

from reference.accounting import Privacy
from reference.budgets import Budget
from reference.common.documents import Document, always, converted, format_of, json_of_file, plain
from reference.common.errors import ReadingError, ReleaseFileError
from reference.common.files import is_kept, json_text, write_whole
from reference.common.printable import quoted
from reference.domain.file import DomainFile
from reference.readings import RowsPerPerson
from reference.repaired import sums
from reference.repaired.account import Account
from reference.repaired.cells import CellProbe, Cells
from reference.repaired.curator import largest_loss
from reference.repaired.model import Model
from reference.repaired.schedule import cells_of, group_models_of
from reference.repaired.scheduled import changes_of_counts, require_scheduled
from reference.repaired.shortfall import Shortfall, shortfall_of
from reference.repaired.spent import (
    CELL_COUNTS,
    CELL_PROBE,
    COUNTS,
    GRADIENT,
    GROUP_COUNT,
    PROBE,
    Change,
    Spent,
    deviation_of,
)
from reference.repaired.threshold import Probe
from reference.repaired.warned import noise_warnings, rare_label_warnings

ROUNDED = 1e-6
"""Relative error that a file may have: floats are rounded."""

FARTHEST = 40
"""Noise is never so many standard deviations from 0: by chance once in 10^49 files."""

Positive: TypeAlias = Annotated[float, Meta(gt=0)]


class StatedProbe(Document, frozen=True):
    """A released risk difference.

    Parameters
    ----------
    multiplier, difference, noise : float
        Where it was measured, the result, and the standard deviation of its noise.
    """

    multiplier: float
    difference: float
    noise: float


class StatedCellProbe(Document, frozen=True, kw_only=True):
    """Released shares of each cell that are chosen.

    Parameters
    ----------
    thresholds : tuple of float
        Where they were measured: one for each group.
    rates, noise : tuple of float
        The result for each cell, and the standard deviation of its noise.
    """

    thresholds: tuple[float, ...]
    rates: tuple[float, ...]
    noise: tuple[Positive, ...]


class StatedCells(Document, frozen=True, kw_only=True):
    """Thresholds by group, and what was released to find them.

    Parameters
    ----------
    thresholds : tuple of float
        One for each group: of the score, or of the probability where predictions do not use the group.
    sizes : tuple of float
        Released number of records in each cell: a group, or for equalised odds a group and a label.
    probes : tuple of StatedCellProbe
    """

    thresholds: tuple[float, ...]
    sizes: tuple[Positive, ...]
    probes: Annotated[tuple[StatedCellProbe, ...], Meta(min_length=1)]


class StatedSpending(Document, frozen=True, kw_only=True):
    """One of the releases that make up a fit.

    Parameters
    ----------
    what : str
    share : Fraction
        Of mu^2, or of epsilon where delta is 0.
    l1_sensitivity, l2_sensitivity_squared : Fraction
        How far one person can change it.
    scale : float
        Sigma, or the Laplace scale where delta is 0.
    size : int
        Numbers that were released.
    """

    what: str
    share: Fraction
    l1_sensitivity: Fraction
    l2_sensitivity_squared: Fraction
    scale: Positive
    size: int

    @property
    def change(self) -> Change:
        """Both sensitivities."""
        return Change(self.l1_sensitivity, self.l2_sensitivity_squared)


class RepairedRelease(
    Document, frozen=True, kw_only=True, omit_defaults=True, tag_field="schema", tag="repaired_release_v1"
):
    """A private, fair logistic regression.

    Parameters
    ----------
    mechanism : str
    adjacency : str
    privacy : Privacy
        An upper bound, over all data sets of this many records.
    budget : dict
        The epsilon and delta that the caller asked for.
    records : int
        How many were fitted: public.
    fairness : str
    slack : Fraction
    noise : {'hardened', 'numpy'}
    seeded : bool
        True when anyone who knows the seed can remove the noise.
    rows_per_person : int
        How many records one person may have, for the statement.
    columns : tuple of str
        Names of the coordinates of w.
    w : tuple of float
    group_weights : tuple of float or None
        Scores of the group, where predictions do not use it; of more than two groups, one after the other.
    group_share : Fraction or None
        Released share of group 1.
    multiplier : float
        How far the decision moves by group.
    counts : tuple of float
        Released sums, over each label or group.
    probes : tuple of StatedProbe
    spent : tuple of StatedSpending
        Anyone can add up the statement from it.
    domain : DomainFile
        How records are encoded.
    cells : StatedCells or None
        For equalised odds, and for a group of more than two values.
    """

    mechanism: Literal["repaired"] = always("repaired")
    adjacency: Literal["replace_one"] = always("replace_one")
    privacy: Privacy
    budget: dict[str, Fraction]
    records: Annotated[int, Meta(ge=1)]
    fairness: Literal["none", "demographic_parity", "equalised_odds"]
    slack: Fraction
    noise: Literal["hardened", "numpy"]
    seeded: bool
    rows_per_person: RowsPerPerson = 1
    columns: tuple[str, ...]
    w: tuple[float, ...]
    group_weights: tuple[float, ...] | None
    group_share: Fraction | None
    multiplier: float
    counts: tuple[float, ...]
    probes: tuple[StatedProbe, ...]
    spent: tuple[StatedSpending, ...]
    domain: DomainFile
    cells: StatedCells | None = always(None)

    def __post_init__(self) -> None:
        self._require_lengths()
        self._require_cells()
        if (self.group_share is not None) != (self.fairness == "demographic_parity" and self.cells is None):
            raise ReleaseFileError("a share where probes need it, and nowhere else", place="group_share")
        if self.group_share is not None and not self.probes:
            raise ReleaseFileError("no probe of a model that is said to be fair", place="probes")
        if self.group_share is not None and not 0 < self.group_share < 1:
            raise ReleaseFileError("not between 0 and 1", place="group_share")
        if not 0 <= self.slack <= 1:
            raise ReleaseFileError("not in [0, 1]", place="slack")
        if self.domain.from_data:
            raise ReleaseFileError("bounds or values that were read from the data", place="domain")
        if self.seeded and self.noise == "hardened":
            raise ReleaseFileError("hardened noise takes no seed", place="seeded")
        self._require_privacy()
        self.require_scheduled(earlier=True)
        self._require_counts()

    def _require_lengths(self) -> None:
        """Raise unless there are as many numbers as the domain has columns."""
        d = len(self.domain.domain.columns)
        for name, values in {"columns": self.columns, "w": self.w}.items():
            if len(values) != d:
                raise ReleaseFileError(f"{len(values)} numbers where the domain has {d} columns", place=name)
        guessed = self.fairness != "none" and not self.domain.keep_group
        wanted, found = d * group_models_of(self.domain.domain) * guessed, len(self.group_weights or ())
        if wanted != found or (self.group_weights is None) != (wanted == 0):
            raise ReleaseFileError(f"{found} numbers where {wanted} are needed", place="group_weights")
        if self.columns != self.domain.domain.columns:
            raise ReleaseFileError("not the columns of the domain", place="columns")
        if len(self.counts) != 2 * d:
            raise ReleaseFileError(f"{len(self.counts)} numbers where {2 * d} are needed", place="counts")

    def _require_privacy(self) -> None:
        """Raise unless the file states what its releases lose together, which the budget pays for."""
        exact, asked = self.privacy.exact, self.budget
        if set(asked) != {"epsilon", "delta"} or not (asked["epsilon"] > 0 and 0 <= asked["delta"] < 1):
            raise ReleaseFileError("not a positive epsilon and a delta in [0, 1)", place="budget")
        if exact is None or exact.epsilon.upper < asked["epsilon"] or exact.at_delta != asked["delta"]:
            raise ReleaseFileError("states less than the budget", place="privacy")
        self._require_spent()
        self._require_noise()
        if self.privacy != self.account.privacy:
            raise ReleaseFileError("states other numbers than its releases lose together", place="privacy")

    def _require_spent(self) -> None:
        """Raise where the file states less than one person can change a release, or than all releases lose."""
        domain = self.domain.domain
        d, cells = domain.dimension, cells_of(domain, self.fairness)
        known = {
            COUNTS: (changes_of_counts(domain), 2 * d),
            GRADIENT: ((sums.gradient_change(domain),), d),
            GROUP_COUNT: ((sums.GROUP_COUNT_CHANGE,), 1),
            PROBE: ((sums.imbalance_change(self.group_share or Fraction(1, 2)),), 1),
            CELL_COUNTS: ((sums.CELL_COUNTS_CHANGE,), cells),
            CELL_PROBE: ((sums.CELL_SELECTIONS_CHANGE,), cells),
        }
        for index, one in enumerate(self.spent):
            changes, size = known.get(one.what, ((), 0))
            if one.size != size or one.change not in [each.times(self.rows_per_person) for each in changes]:
                problem = f"{one.what!r} of this domain does not exist, or changes by other than the file states"
                raise ReleaseFileError(problem, place=f"spent[{index}]")
        self._require_whole()
        shares = [one.share for one in self.spent]
        if min(shares) <= 0 or sum(shares) > 1:
            raise ReleaseFileError("shares must be positive and add up to at most 1", place="spent")
        if self.account.loss > largest_loss(self.account.budget):
            raise ReleaseFileError("its releases lose more than the budget", place="spent")

    def require_scheduled(self, *, earlier: bool) -> Fraction:
        """Raise unless the releases are those of a fit of this domain, size and budget.

        Parameters
        ----------
        earlier : bool
            Also as fits once were, of at most ten gradients: they still predict.

        Returns
        -------
        Fraction
            The factor of Gaussian scales.

        Raises
        ------
        reference.common.errors.ReleaseFileError
        """
        account, domain = self.account, self.domain.domain
        share, fairness = self.group_share, self.fairness
        return require_scheduled(account, domain, self.records, fairness, share, earlier=earlier)

    def _require_counts(self) -> None:
        """Raise where the counts of an attribute add up to another number of records than the file states."""
        domain, d = self.domain.domain, self.domain.domain.dimension
        scale = max(one.scale for one in self.spent if one.what == COUNTS)
        counts, start = np.array(self.counts), int(domain.intercept)
        for attribute in () if domain.prescaled else domain.attributes:
            width = len(attribute.columns)
            # a record has one entry
            if width > 1:
                found = counts[start : start + width].sum() + counts[d + start : d + start + width].sum()
                due = self.records * domain.column_factor
                deviation = deviation_of(scale, self.budget["delta"]) * math.sqrt(2 * width)
                if not abs(found - due) <= FARTHEST * deviation + ROUNDED * due:
                    raise ReleaseFileError("do not add up to the records", place="counts")
            start += width

    def _require_whole(self) -> None:
        """Raise where a release behind the model is not counted."""
        models = 1 + len(self.group_weights or ()) // len(self.w)
        cell_probes = 0 if self.cells is None else len(self.cells.probes)
        needed = {
            COUNTS: models,
            GROUP_COUNT: int(self.group_share is not None),
            PROBE: len(self.probes),
            CELL_COUNTS: int(self.cells is not None),
            CELL_PROBE: cell_probes,
        }
        found = Counter(one.what for one in self.spent)
        wrong = any(found[what] != count for what, count in needed.items()) or found[GRADIENT] < models
        # standard errors take the first ones for the label's
        if wrong or self.spent[0].what != COUNTS:
            raise ReleaseFileError("not the releases that the model is made of", place="spent")

    def _require_noise(self) -> None:
        """Raise where a probe states other noise than its release has, or the sizes of cells do not add up."""
        if self.cells is not None and not math.isclose(sum(self.cells.sizes), self.records, rel_tol=ROUNDED):
            raise ReleaseFileError("sizes do not add up to the records", place="cells")
        scales = (one.scale for one in self.spent if one.what in (PROBE, CELL_PROBE))
        share, cells = self.group_share or Fraction(1, 2), self.cells
        sizes = (self.records * float(share * (1 - share)),) if cells is None else cells.sizes
        stated = [(one.noise,) for one in self.probes] if cells is None else [one.noise for one in cells.probes]
        for noise, scale in zip(stated, scales, strict=True):
            deviation = deviation_of(scale, self.budget["delta"])
            if not np.allclose(noise, deviation / np.array(sizes), rtol=ROUNDED, atol=0.0):
                raise ReleaseFileError("a probe states other noise than its release has", place="probes")

    def _require_cells(self) -> None:
        """Raise unless there are cells where they are needed, as many as the domain's group has."""
        needed = cells_of(self.domain.domain, self.fairness)
        if (self.cells is not None) != (needed > 0):
            raise ReleaseFileError("thresholds by group where they are needed, and nowhere else", place="cells")
        if self.cells is None:
            return
        groups = self.domain.domain.groups
        lengths = [(self.cells.thresholds, groups), (self.cells.sizes, needed)]
        for probe in self.cells.probes:
            lengths += [(probe.thresholds, groups), (probe.rates, needed), (probe.noise, needed)]
        for values, wanted in lengths:
            if len(values) != wanted:
                raise ReleaseFileError(f"{len(values)} numbers where {wanted} are needed", place="cells")

    @classmethod
    def of(
        cls, model: Model, declared: DomainFile, *, slack: Fraction, noise: str, seeded: bool
    ) -> RepairedRelease:
        """Return the release of a model."""
        sampler: Literal["hardened", "numpy"] = "hardened" if noise == "hardened" else "numpy"
        rows, budget = model.rows_per_person, Budget(model.budget_epsilon, model.delta)
        account = Account(budget, model.spent, noise == "hardened", rows)
        weights = model.group_weights
        return cls(
            privacy=account.privacy,
            budget={"epsilon": model.budget_epsilon, "delta": model.delta},
            records=model.n,
            fairness=model.fairness,
            slack=slack,
            noise=sampler,
            seeded=seeded,
            rows_per_person=rows,
            columns=declared.domain.columns,
            w=tuple(model.w.tolist()),
            group_weights=None if weights is None else tuple(weights.ravel().tolist()),
            group_share=model.zbar,
            multiplier=model.multiplier,
            counts=tuple(model.counts.tolist()),
            probes=tuple(StatedProbe(*probe) for probe in model.probes),
            spent=tuple(
                StatedSpending(
                    what=one.what,
                    share=one.share,
                    l1_sensitivity=one.change.l1_sensitivity,
                    l2_sensitivity_squared=one.change.l2_sensitivity_squared,
                    scale=one.scale,
                    size=one.size,
                )
                for one in model.spent
            ),
            domain=declared,
            cells=None if model.cells is None else _stated(model.cells),
        )

    @property
    def account(self) -> Account:
        """What was spent."""
        spent = tuple(Spent(one.what, one.share, one.change, one.scale, one.size) for one in self.spent)
        budget = Budget(self.budget["epsilon"], self.budget["delta"])
        return Account(budget, spent, self.noise == "hardened", self.rows_per_person)

    @property
    def model(self) -> Model:
        """The model, which predicts without the data."""
        weights = None if self.group_weights is None else np.array(self.group_weights)
        if weights is not None and len(weights) > len(self.w):
            weights = weights.reshape(-1, len(self.w))
        assert self.privacy.exact is not None
        return Model(
            np.array(self.w),
            weights,
            self.group_share,
            self.multiplier,
            self.privacy.exact.epsilon.upper,
            self.budget["delta"],
            np.array(self.counts),
            self.records,
            tuple(Probe(one.multiplier, one.difference, one.noise) for one in self.probes),
            self.account.spent,
            self.budget["epsilon"],
            self.rows_per_person,
            None if self.cells is None else _cells(self.cells, odds=self.fairness == "equalised_odds"),
        )

    @property
    def shortfall(self) -> Shortfall | None:
        """How far the model misses its slack, as far as the released probes show."""
        return shortfall_of(self.model, self.domain.domain, float(self.slack))

    @property
    def noise_warnings(self) -> tuple[str, ...]:
        """What noise hides of the differences between groups, and whether the model selects hardly anybody."""
        model, domain = self.model, self.domain.domain
        return (*noise_warnings(model, domain, float(self.slack)), *rare_label_warnings(model, domain))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to beware of when the model is used: from the release alone."""
        shortfall = self.shortfall
        return self.noise_warnings + (() if shortfall is None else (str(shortfall),))

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the file, whole or not at all.

        Parameters
        ----------
        path : path
        overwrite : bool
            Replace even a file that cannot be made again: a release without a seed, a release ledger or a domain
            file.  Other files are replaced, as by the command ``fit``.

        Raises
        ------
        reference.common.errors.ReadingError
        OSError
            With the path, when it cannot be written to.
        """
        if not overwrite and Path(path).is_file() and is_kept(Path(path)):
            wanted = "a new file; that one cannot be made again: move it away first, or give overwrite=True"
            raise ReadingError("path", str(path), wanted)
        write_whole(path, json_text(plain(self)))


def _stated(cells: Cells) -> StatedCells:
    return StatedCells(
        thresholds=cells.thresholds,
        sizes=cells.sizes,
        probes=tuple(
            StatedCellProbe(thresholds=one.thresholds, rates=one.rates, noise=one.noise) for one in cells.probes
        ),
    )


def _cells(stated: StatedCells, *, odds: bool) -> Cells:
    probes = tuple(CellProbe(one.thresholds, one.rates, one.noise) for one in stated.probes)
    return Cells(odds, stated.sizes, stated.thresholds, probes)


def load_repaired(path: str | Path) -> RepairedRelease:
    """Read a file that :meth:`RepairedRelease.write` wrote.

    Raises
    ------
    reference.common.errors.ReleaseFileError
        With the file and the place in it.
    """
    document = json_of_file(path, ReleaseFileError)
    if isinstance(document, dict) and str(document.get("schema")).startswith("release_"):
        mechanism = quoted(document.get("mechanism"))
        raise ReleaseFileError(f"this is a release of {mechanism}; one of 'repaired' is needed", file=str(path))
    return converted(document, RepairedRelease, ReleaseFileError, file=str(path))


def is_repaired(path: str | Path) -> bool:
    """Return whether a file says that it is a repaired release."""
    document = json_of_file(path, ReleaseFileError)
    return isinstance(document, dict) and document.get("schema") == format_of(RepairedRelease)
