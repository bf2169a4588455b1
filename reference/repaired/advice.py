"""What a budget buys, before it is spent: from the domain, the number of records and the budget alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from reference.budgets import Budget, large_delta
from reference.common.documents import Document
from reference.common.errors import ReadingError
from reference.common.printable import quoted
from reference.domain import Domain
from reference.domain.attributes import Numeric
from reference.domain.binning import binned
from reference.domain.domain import Norm
from reference.domain.edges import PARTS
from reference.domain.file import DomainFile
from reference.noise.hardened import require_on_grid
from reference.repaired.account import Account
from reference.repaired.curator import RoomyBudget, planned_scale, room_of
from reference.repaired.schedule import (
    CELL_NOISE,
    HOPELESS,
    NEAR_THE_BEST,
    PROBES,
    USABLE,
    WANTED_DEVIATION,
    Schedule,
    persons,
    schedule_of,
    signal_of,
)
from reference.repaired.spent import (
    CELL_COUNTS,
    CELL_PROBE,
    COUNTS,
    GRADIENT,
    GROUP_COUNT,
    PROBE,
    SUM_STEPS,
    Change,
    Spent,
    deviation_of,
)
from reference.repaired.sums import (
    CELL_COUNTS_CHANGE,
    CELL_SELECTIONS_CHANGE,
    GROUP_COUNT_CHANGE,
    gradient_change,
    label_sums_change,
)

LOST_AT_ONE = 2.9
"""Share of the gain over the majority class that is lost at a signal of s, times 1 + s."""

CLEAR, FAINT = 0.1, 3.0
"""Noise mostly cost between these multiples of its forecast on 13 other tables: least where the columns tell the
label clearly, most where they hardly do.  No public number says which.  The extremes were less than a 20th, and 5
times."""

Outlook: TypeAlias = Literal["near the best", "usable", "poor", "not with this many records"]

WORDS: dict[Outlook, str] = {
    "near the best": "the noise costs little, unless the columns hardly tell the label",
    "usable": "the noise costs some accuracy",
    "poor": "noise may cost most of what a model can gain",
    "not with this many records": "the noise drowns the data, unless the columns tell the label clearly",
}

REMEDIES: dict[Outlook, str] = {
    "poor": "declare fewer columns, or spend more",
    "not with this many records": "do not spend the budget; declare fewer columns, or get more records",
}
"""What to do before a fit."""

FEW_RECORDS: tuple[Outlook, ...] = ("poor", "not with this many records")

ENCLOSED = 1 + Fraction(1, 2**50)
"""Factor of a planned epsilon that covers the width of its enclosure."""

DROWNED = 3 * WANTED_DEVIATION
"""Probes with more noise cannot show whether groups are treated alike."""

WITHIN = "to within {:.2g} or better (one standard deviation)"
"""How precisely probes show a difference."""

NOT_TO_SPEND = "do not spend"
"""In every warning that says so."""

SPENDS_IT = "this fit spends the budget nevertheless; `cfm advise` warns without spending it"

DROWNED_MODEL = (
    "a model that noise drowns may select one group alone, whatever is forecast: look at the limits in its card"
)


def probe_warnings(noise: float | None, most: float | None = None, more: str = "") -> tuple[str, ...]:
    """Return a warning where the noise of all probes together drowns the difference between groups.

    The noise says how far probes may be from the difference, not how large it is: what a fit leaves is often
    less.

    Parameters
    ----------
    noise : float or None
        Standard deviation at most; None without probes.
    most : float, optional
        After a fit, what may be left by forecast, which says more than the noise.
    more : str
        What else to say after a fit.
    """
    if noise is None or noise <= DROWNED:
        return ()
    within = f"probes show the difference between groups only {WITHIN.format(noise)}"
    said = within if noise < 1 else "noise hides every difference between groups"
    if most is not None and noise < 1:
        said = f"noise hides how far groups are apart, and may leave a difference of about {most:.3g}"
    return (f"{said}: declare fewer and larger groups, get more records, or spend more{more}",)


def chance_warnings(records: int, fairness: str) -> tuple[str, ...]:
    """Return a warning where chance alone leaves groups of a third and two thirds further apart than is fair."""
    chance = math.sqrt((3 + 3 / 2) / 4 / records)
    if fairness == "none" or chance <= DROWNED:
        return ()
    said = f"chance alone sets groups apart by about {chance:.2g} among {records:,} records"
    return (f"{said}: they are too few for a fair model, whatever the budget; do not spend it",)


NO_CONSTANT = "`prescaled` columns get no constant, without which a model may be poor: have one among them"


def laid_out(file: DomainFile, *, keep_group: bool, bins: bool = True) -> DomainFile:
    """Adapt a domain file to the mechanism.

    Parameters
    ----------
    file : DomainFile
    keep_group : bool
        Whether predictions use the group.
    bins : bool
        Put plain numbers into bins by their bounds; `prescaled` columns stay as they are.

    Raises
    ------
    reference.common.errors.ReadingError
        When the group is to stand beside `prescaled` columns, or these fill a box.
    """
    norm: Norm = "symmetric_ball" if file.norm == "symmetric_ball" else "unit_ball"
    if file.prescaled:
        if keep_group:
            allowed = "False (`--without-group`) for `prescaled` columns, which fill the ball"
            raise ReadingError("group_at_prediction", True, allowed)
        if file.norm == "unit_box":
            raise ReadingError("norm", file.norm, "unit_ball or symmetric_ball for `prescaled` columns")
        return file.with_(norm=norm, keep_group=False)
    file = binned(file) if bins else file
    has_constant = file.intercept or any(len(attribute.columns) > 1 for attribute in file.attributes)
    return file.with_(norm=norm, keep_group=keep_group, intercept=not has_constant or file.intercept)


def zero_one_hints(file: DomainFile) -> tuple[str, ...]:
    """Return a hint where numbers between 0 and 1 get bins: of those that are 0 or 1 alone, most stay empty."""
    names = [one.name for one in file.attributes if type(one) is Numeric and (one.lower, one.upper) == (0, 1)]
    if not names:
        return ()
    few = ", ".join(map(quoted, names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return (
        f"{few}: the forecast counts {PARTS} columns each; if only 0 and 1 occur, declare `one_hot` with [0, 1]",
    )


class Advice(Document, frozen=True, kw_only=True):
    """What to expect of a fit: public.

    Parameters
    ----------
    records, columns : int
    epsilon, delta : Fraction
    fairness : str
    group_at_prediction : bool
    signal : float
        Records / (columns * noise of a gradient); n mu / d for Gaussian noise.
    outlook : str
        In words: `near the best`, `usable`, `poor` or `not with this many records`.
    rounds : int
        Gradients of the model of the label.
    noise : float
        Standard deviation of the noise in each coordinate of a gradient.
    noise_against_curvature : float
        Standard deviation of the mean of all gradients, over the curvature of a column that half the records have.
    lost : float
        Forecast: the share of the gain over the majority class that the noise costs; at most 1.  Rough: see
        `lost_between`.
    risk_difference_noise : float or None
        Forecast: how far all probes together may be from the difference between groups, at most, as a standard
        deviation; for two groups of one third and two thirds, and with the noise of their share.
    rows_per_person : int
    """

    records: int
    columns: int
    epsilon: Fraction
    delta: Fraction
    fairness: str
    group_at_prediction: bool
    signal: float
    outlook: Outlook
    rounds: int
    noise: float
    noise_against_curvature: float
    lost: float
    risk_difference_noise: float | None = None
    rows_per_person: int = 1

    @property
    def lost_between(self) -> tuple[float, float]:
        """The share that the noise costs where the columns tell the label clearly, and where they hardly do."""
        about = LOST_AT_ONE / (1 + self.signal)
        return min(1.0, CLEAR * about), min(1.0, FAINT * about)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of drowned data before the budget is spent."""
        drowned = f"; {DROWNED_MODEL}" if self.one_group_alone else ""
        few = (f"{self}{drowned}",) if self.outlook in FEW_RECORDS else ()
        return few + self.fairness_warnings

    @property
    def warnings_of_a_fit(self) -> tuple[str, ...]:
        """The same words, and that this fit spends the budget nevertheless."""
        return tuple(f"{one} ({SPENDS_IT})" if NOT_TO_SPEND in one else one for one in self.warnings)

    @property
    def budget_warnings(self) -> tuple[str, ...]:
        """Warnings of what the budget promises."""
        return large_delta(self.delta, self.records, self.rows_per_person)

    @property
    def forecast(self) -> str:
        """The outlook in a line, for after the fit."""
        return f"{self.outlook}: {WORDS[self.outlook]} ({self._signal})"

    @property
    def _signal(self) -> str:
        return f"signal {self.signal:.3g}; {USABLE} is usable"

    @property
    def fairness_warnings(self) -> tuple[str, ...]:
        """Warnings of what chance and noise leave between groups."""
        return chance_warnings(self.records, self.fairness) + probe_warnings(self.risk_difference_noise)

    @property
    def one_group_alone(self) -> bool:
        """Whether the noise may make a model of the group alone, which no forecast of its probes shows."""
        return self.outlook == "not with this many records" and self.risk_difference_noise is not None

    def __str__(self) -> str:
        """Return the outlook in a line, and what to do before a fit."""
        remedy = f": {REMEDIES[self.outlook]}" if self.outlook in REMEDIES else ""
        return f"{self.outlook}: {WORDS[self.outlook]}{remedy} ({self._signal})"


def outlook_of(signal: float) -> Outlook:
    """Return what a signal allows."""
    if signal >= NEAR_THE_BEST:
        return "near the best"
    if signal >= USABLE:
        return "usable"
    return "poor" if signal >= HOPELESS else "not with this many records"


def advise(domain: Domain, n: int, budget: Budget, fairness: str, rows_per_person: int = 1) -> Advice:
    """Return what to expect of :func:`reference.repaired.repaired_logistic`, without reading data.

    Raises
    ------
    reference.common.errors.ParameterError
        When the mechanism cannot run with these arguments.
    """
    schedule = schedule_of(domain, persons(n, rows_per_person), budget, fairness)
    signal = signal_of(n, domain, budget, schedule.label_model) / rows_per_person
    spread = deviation_of(1.0, budget.delta) * rows_per_person
    noise = planned_scale(budget, gradient_change(domain), schedule.label_model / schedule.label_rounds) * spread
    # a column that half of the records have: the slope is at most 1/4
    curvature = n * domain.column_factor**2 / 2 / 4
    probes = None
    if schedule.cells:
        one = planned_scale(budget, CELL_SELECTIONS_CHANGE, schedule.probes / PROBES) * spread
        probes = one / math.sqrt(PROBES) * CELL_NOISE * schedule.cells / n
    elif schedule.probes:
        one = planned_scale(budget, Change(Fraction(2, 3), Fraction(4, 9)), schedule.probes / PROBES) * spread
        count = planned_scale(budget, GROUP_COUNT_CHANGE, schedule.group_count) * spread
        # the noise of the share moves all probes alike, by half of this at most
        probes = math.hypot(one / math.sqrt(PROBES), count / 2) / (n * 2 / 9)
    return Advice(
        records=n,
        columns=domain.dimension,
        epsilon=budget.epsilon,
        delta=budget.delta,
        fairness=fairness,
        group_at_prediction=domain.keep_group,
        signal=signal,
        outlook=outlook_of(signal),
        rounds=schedule.label_rounds,
        noise=noise,
        noise_against_curvature=noise / math.sqrt(schedule.label_rounds) / curvature,
        lost=min(1.0, LOST_AT_ONE / (1 + signal)),
        risk_difference_noise=probes,
        rows_per_person=rows_per_person,
    )


class Rule(NamedTuple):
    """How fits of one version are planned.

    Parameters
    ----------
    most_rounds : int or None
        Gradients of a model at most; None for as many as today.
    counts : Change
        Sensitivities of the counts by label.
    """

    most_rounds: int | None
    counts: Change


def planned(
    domain: Domain,
    n: int,
    budget: Budget,
    fairness: str,
    *,
    hardened: bool,
    rows_per_person: int = 1,
    rule: Rule | None = None,
) -> Account:
    """Return the account of a fit before it is made: the fit loses at most as much.

    Where the noise on the grid would need more than epsilon, its budget is a
    :class:`reference.repaired.curator.RoomyBudget`: the room for the grid is doubled until it does not.

    The scale of a probe depends on the released share of the group.  The account takes the smallest sensitivity,
    1/2; the check that the grid holds every scale takes the largest.

    The rule is that of today, unless one is given.

    Raises
    ------
    reference.common.errors.GridError
        When hardened noise has no such scale.
    """
    most, counts = rule or Rule(None, label_sums_change(domain))
    schedule = schedule_of(domain, persons(n, rows_per_person), budget, fairness, most)
    account = account_of(domain, schedule, budget, counts, hardened=hardened, rows=rows_per_person)
    if not hardened or not budget.delta:
        return account
    # A fit has the sizes and scales of its plan, but for probes: their scales are no smaller than planned, for the
    # least sensitivity, and they lose no more.  So it needs no more epsilon, but for the width of an enclosure,
    # which ENCLOSED covers.  The loop ends: with wider noise `needed` falls to 0, or a scale leaves the grid.
    while account.needed * ENCLOSED > budget.epsilon:
        wider = RoomyBudget(budget, 1 + 2 * (room_of(account.budget) - 1))
        account = account_of(domain, schedule, wider, counts, hardened=True, rows=rows_per_person)
    return account


def account_of(
    domain: Domain, schedule: Schedule, budget: Budget, counts: Change, *, hardened: bool, rows: int
) -> Account:
    """Return the account of a schedule, with the noise of a budget: see :func:`planned`."""
    changes = counts.times(rows), gradient_change(domain).times(rows)
    spent = [one for model in _models(schedule) for one in _model(domain.dimension, budget, *model, changes)]
    largest = max(one.scale for one in spent)
    share, cells = schedule.probes / PROBES, schedule.cells
    if cells:
        spent.append(_one(budget, CELL_COUNTS, CELL_COUNTS_CHANGE.times(rows), schedule.group_count, cells))
        spent += [_one(budget, CELL_PROBE, CELL_SELECTIONS_CHANGE.times(rows), share, cells)] * PROBES
        largest = max(one.scale for one in spent)
    elif schedule.probes:
        spent.append(_one(budget, GROUP_COUNT, GROUP_COUNT_CHANGE.times(rows), schedule.group_count, 1))
        half, whole = Change(Fraction(1, 2), Fraction(1, 4)), Change(Fraction(1), Fraction(1))
        probe = _one(budget, PROBE, half.times(rows), share, 1)
        # scales are rounded up, each by its own error: below what rounds, a probe of any sensitivity loses less
        spent += [probe._replace(scale=math.nextafter(probe.scale, 0.0))] * PROBES
        largest = max(largest, spent[-1 - PROBES].scale, planned_scale(budget, whole.times(rows), share))
    if hardened:
        require_on_grid(largest, SUM_STEPS)
    return Account(budget, tuple(spent), hardened, rows)


def _models(schedule: Schedule) -> list[tuple[Fraction, int]]:
    of_groups = [(schedule.group_model, schedule.group_rounds)] * schedule.group_models
    return [(schedule.label_model, schedule.label_rounds), *of_groups]


def _model(d: int, budget: Budget, share: Fraction, rounds: int, changes: tuple[Change, Change]) -> list[Spent]:
    each, (of_counts, of_gradient) = share / rounds, changes
    gradient = _one(budget, GRADIENT, of_gradient, each, d)
    counts = _one(budget, COUNTS, of_counts, each, 2 * d)
    return [counts, *([gradient] * (rounds - 1))]


def _one(budget: Budget, what: str, change: Change, share: Fraction, size: int) -> Spent:
    return Spent(what, share, change, planned_scale(budget, change, share), size)
