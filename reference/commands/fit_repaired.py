"""``fit --mechanism repaired``: private, fair logistic regression on random splits."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reference.accounting import NOT_PRIVATE
from reference.accounting.release_ledger import ReleaseLedger
from reference.budgets import Budget
from reference.commands.options import (
    BudgetOptions,
    DataOptions,
    FitReadingOptions,
    OutputOptions,
    declared_from,
    emit,
    random_source,
    write_file,
)
from reference.commands.parsing import option
from reference.commands.progress import ProgressWatch
from reference.commands.terminal import page
from reference.common.documents import plain
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE
from reference.common.files import json_text
from reference.common.numbers import decimal_above, exact, short_text
from reference.common.page import Page
from reference.common.repeated import mean_and_deviation
from reference.datasets import SOURCES, unknown_data
from reference.datasets.from_file import OnBlock, record_blocks
from reference.datasets.opening import is_table_file, open_table
from reference.datasets.record_blocks import one_group_warning
from reference.domain.file import DomainFile
from reference.fairness.metrics import (
    MEASURES,
    ODDS,
    ONE_ERROR,
    OVER_SPLITS,
    SAMPLING_ERROR,
    constant_warnings,
    measures,
    risk_difference_error,
)
from reference.noise import ENTROPY, RandomSource, generator
from reference.records import Records
from reference.registry import PAPER_DELTA
from reference.repaired import prepared, repaired_logistic, tolerated_slack
from reference.repaired.advice import Advice, advise, laid_out, planned
from reference.repaired.released import RepairedRelease
from reference.repaired.uncertainty import alike_warnings, crowded

REPAIRED = "repaired"
DEFAULT_DELTA = "1e-5"


@dataclass(frozen=True, kw_only=True)
class FitBudgetOptions(BudgetOptions):
    """Privacy budget."""

    delta: str | None = option(
        "--delta",
        metavar="D",
        help=f"total delta, Gaussian mechanisms only ({PAPER_DELTA}); of repaired: 0 for Laplace noise "
        f"({DEFAULT_DELTA})",
    )


@dataclass(frozen=True, kw_only=True)
class RepairedOptions:
    """For the mechanism `repaired`."""

    slack: str = option("--slack", default="0", metavar="S", help="difference of groups that you tolerate (0)")
    without_group: bool = option("--without-group", is_flag=True, help="predictions do not use the group")


@dataclass(frozen=True)
class Wanted:
    """The requested fits.

    Parameters
    ----------
    declared : DomainFile
    records : Records
    budget : Budget
    fairness : str
    slack : Fraction
    source : RandomSource
    rows_per_person : int
    """

    declared: DomainFile
    records: Records
    budget: Budget
    fairness: str
    slack: Fraction
    source: RandomSource
    rows_per_person: int = 1


def wanted_from(
    mine: RepairedOptions,
    spent: BudgetOptions,
    named: DataOptions,
    readings: FitReadingOptions,
    seed: int | None,
    on_block: OnBlock,
) -> Wanted:
    """Read the data, tell how much is read, and return the fits to make.

    Raises
    ------
    reference.common.errors.InputError
    """
    for name in ("epsilon_ratio", "epsilon_s", "epsilon_n", "delta_s", "delta_n"):
        if getattr(spent, name) is not None:
            raise ReadingError(name, getattr(spent, name), f"left out: {REPAIRED} has one epsilon and delta")
    budget = Budget(spent.epsilon or "1", spent.delta or DEFAULT_DELTA)
    slack = tolerated_slack(mine.slack)
    source, data = random_source(readings.noise, seed), named.data or ""
    if not is_table_file(data) and data not in SOURCES:
        raise unknown_data(data)
    _require_used(named, data)
    file = declared_from(named) if is_table_file(data) else SOURCES[data].domain_file("one_hot")
    file.require_public()
    fairness = readings.fairness or ("none" if file.group is None else "demographic_parity")
    if fairness != "none" and file.group is None:
        raise ReadingError("fairness", fairness, "'none' for a domain that declares no group")
    if fairness == "none" and slack:
        raise ReadingError("slack", mine.slack, "left out where fairness is none")
    declared = laid_out(file, keep_group=not mine.without_group and fairness != "none")
    if is_table_file(data):
        records = record_blocks(open_table(data), declared, rows=named.block_rows, on_block=on_block).collect()
    else:
        records = SOURCES[data].read(declared)
    return Wanted(declared, records, budget, fairness, slack, source, readings.rows_per_person)


def _require_used(named: DataOptions, data: str) -> None:
    """Raise for an option on the domain that the data do not use."""
    if is_table_file(data):
        if named.domain == "unit_box":
            raise ReadingError("domain", named.domain, f"unit_ball or symmetric_ball with {REPAIRED}")
        return
    for name in ("domain", "domain_file", "label", "group", "intercept"):
        if getattr(named, name):
            raise ReadingError(name, getattr(named, name), f"left out for {data}, whose domain is known")


def fit_once(wanted: Wanted, train: Records, split: int) -> RepairedRelease:
    """Make one release of some of the records; each split has its own noise."""
    hardened, seeded = wanted.source is None, isinstance(wanted.source, int)
    noise = "hardened" if hardened else "numpy"
    seed = wanted.source if isinstance(wanted.source, int) else None
    model = repaired_logistic(
        train,
        wanted.budget,
        fairness=wanted.fairness,
        slack=wanted.slack,
        noise=noise,
        rng=None if hardened else generator(seed, f"noise of split {split}")[0],
        rows_per_person=wanted.rows_per_person,
    )
    if not split:
        _warn(alike_warnings(model.too_far))
    return RepairedRelease.of(model, wanted.declared, slack=wanted.slack, noise=noise, seeded=seeded)


@dataclass(frozen=True)
class Fits:
    """The fits that were made, their metrics and where they were measured, and what was advised before."""

    releases: list[RepairedRelease]
    found: list[dict[str, float]]
    where: str
    advice: Advice


def require_splits(splits: int, test_share: float, release: str | None) -> None:
    """Raise unless so many splits can be made, and their release kept."""
    if splits < 1:
        raise ReadingError("splits", splits, "at least 1")
    if not 0 <= test_share < 1:
        raise ReadingError("test_share", test_share, "in [0, 1)")
    if release is not None and splits > 1:
        raise ReadingError("release", release, "left out where there are several releases: one split makes one")


def fits_of(
    wanted: Wanted,
    splits: int,
    split_seed: int | None,
    test_share: float,
    ledger: ReleaseLedger | None,
    watch: ProgressWatch,
) -> Fits:
    """Fit on every split; a ledger counts each fit before it is made."""
    n = len(wanted.records)
    held = round(n * test_share)
    rows, public = wanted.rows_per_person, (wanted.declared.domain, n - held, wanted.budget, wanted.fairness)
    advice = advise(*public, rows)
    _warn(advice.budget_warnings + advice.warnings_of_a_fit)
    z, group = wanted.records.z, wanted.declared.group
    if z is not None and group is not None and (z == z[0]).all():
        names = group.called_in_table(wanted.declared.domain.groups)
        _warn((one_group_warning(names[int(z[0])]),))
    promise = planned(*public, hardened=wanted.source is None, rows_per_person=rows)
    counted = promise.counted(seeded=wanted.source is not None and wanted.source != ENTROPY)
    if ledger is not None:
        ledger.check(*[counted] * splits)
    watch.expect(splits)
    releases, found = list[RepairedRelease](), list[dict[str, float]]()
    for split in range(splits):
        seed = wanted.source if split_seed is None and isinstance(wanted.source, int) else split_seed
        test, train = _divided(n, held, generator(seed, f"split {split}")[0])
        kept = prepared(wanted.records.take(train))
        if ledger is not None:
            ledger.reserve(counted)
        made = fit_once(wanted, kept, split)
        watch.released(REPAIRED)
        if not split:
            _warn(made.warnings)
        on = wanted.records.take(test)
        releases.append(made)
        found.append(measured(made, on, wanted.declared.domain.groups))
    where = f"on the {held:,} records held out" if held else "on the records that it was fitted to"
    return Fits(releases, found, where, advice)


def show(
    made: Fits, output: OutputOptions, release: str | None, ledger: ReleaseLedger | None, notes: Sequence[str]
) -> int:
    """Print the fits with notes on the budget, and write the release."""
    _warn(constant_warnings(made.found) or gain_warnings(made.found, made.where))
    if release is not None:
        write_file("release", release, json_text(plain(made.releases[0])))
    document = document_of(made.releases, made.found, plain(made.advice))
    document["ledger"] = None if ledger is None else str(ledger.path)
    document["counted"] = ledger is not None
    first = made.releases[0]
    bins = crowded(np.array(first.counts), first.domain.domain)
    emit(
        json_text(document) if output.format == "json" else as_text(document, made, bins, page(output.out), notes),
        output.out,
    )
    return EXIT_FINE


def _divided(n: int, held: int, random: np.random.Generator) -> tuple[Any, Any]:
    """Return the rows held out and those to train on: all of them for both where none is held out."""
    if not held:
        return slice(None), slice(None)
    order = random.permutation(n)
    return np.sort(order[:held]), np.sort(order[held:])


def measured(release: RepairedRelease, on: Records, groups: int) -> dict[str, float]:
    """Return the metrics of a release on some records, and the standard error of its risk difference."""
    predicted = release.model.predict(on.x, on.z)
    found = measures(predicted, on.y, on.z, groups)
    if on.z is not None:
        found[SAMPLING_ERROR] = risk_difference_error(predicted, on.z, groups)
    return found


def gain_warnings(found: list[dict[str, float]], where: str) -> tuple[str, ...]:
    """Warn if there the more common class would be at least as accurate: not private, for the data holder."""
    gain = float(np.mean([one["gain"] for one in found]))
    if gain > 0.0:
        return ()
    said = "predicting the more common label for everyone is at least as accurate"
    return (f"{where}, {said} ({NOT_PRIVATE})",)


def warn_of_nothing_kept(wanted: Wanted, splits: int, release: str | None, form: str) -> None:
    """Say before a release that no file will have it; a seed repeats it, and JSON contains it."""
    if release is None and splits == 1 and not isinstance(wanted.source, int) and form == "text":
        _warn(("nothing of this release is kept to predict with: add --release FILE",))


def _warn(warnings: Iterable[str]) -> None:
    sys.stderr.writelines(f"warning: {warning}\n" for warning in warnings)


def document_of(
    releases: list[RepairedRelease], found: list[dict[str, float]], advice: dict[str, Any]
) -> dict[str, Any]:
    """Return the contract's object for one mechanism; `w` is the first split's."""
    first = plain(releases[0])
    metrics = {
        name: mean_and_deviation(one[name] for one in found)
        for name in (*MEASURES, ODDS)
        if all(name in one for one in found)
    }
    if len(found) == 1 and "risk_difference" in metrics:
        metrics["risk_difference"][SAMPLING_ERROR] = found[0][SAMPLING_ERROR]
    names = ("fairness", "slack", "noise", "adjacency", "budget", "records", "seeded", "rows_per_person")
    return {
        "mechanism": REPAIRED,
        "status": "ok",
        "w": first["w"],
        "columns": first["columns"],
        "privacy": {"published": None, "exact": {"per_release": first["privacy"]["exact"]}},
        "readings": {name: first[name] for name in names if name in first},
        "metrics": {"note": NOT_PRIVATE, **metrics},
        "advice": advice,
        "splits": len(releases),
        "releases": [plain(release) for release in releases],
    }


def as_text(document: dict[str, Any], made: Fits, bins: Sequence[str], on: Page, notes: Sequence[str]) -> str:
    """Return the result in lines; most records are in one bin of the numbers `bins`."""
    readings, exact_part = document["readings"], document["privacy"]["exact"]["per_release"]
    upper = exact_part["epsilon"]
    if isinstance(upper, dict):
        upper = upper["upper"] if "upper" in upper else upper["hi"]
    stated = decimal_above(exact("epsilon", upper), 6)
    delta = exact("delta", readings["budget"]["delta"])
    costs = "" if readings["fairness"] == "none" else "; what fairness costs is not forecast"
    lines = [
        (
            f"{REPAIRED}: ({short_text(stated)}, {short_text(delta)})-differential "
            f"privacy for each release, {readings['adjacency']}, noise {readings['noise']}"
            + (f", persons with {readings['rows_per_person']} rows" if "rows_per_person" in readings else "")
        ),
        *notes,
        *(["seeded: for study, not a release"] if readings["seeded"] else []),
        *(
            ["No ledger counts these releases: add --ledger FILE."]
            if document["ledger"] is None
            else [f"Counted in {document['ledger']}."]
        ),
        f"fairness {readings['fairness']}, slack {readings['slack']}, {readings['records']:,} records",
        f"forecast: {made.advice.forecast}{costs}",
        *(
            [f"Nearly all records are in one bin of {', '.join(bins)}: narrower bounds with `clip` may tell more."]
            if bins
            else []
        ),
        f"metrics {made.where} ({NOT_PRIVATE}):",
    ]
    for name, value in document["metrics"].items():
        if name != "note":
            spread = "" if value["std"] is None else f" ± {value['std']:.4f} ({OVER_SPLITS})"
            if SAMPLING_ERROR in value:
                spread = f" ± {value[SAMPLING_ERROR]:.4f} ({ONE_ERROR})"
            lines.append(f"  {name:26}{value['mean']:.4f}{spread}")
    return on.text(*lines)
