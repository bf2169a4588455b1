"""``python -m audit weights``: whether ADFC's released w keeps Theorem 5."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import click
import numpy as np

from audit.commands.again import again
from audit.commands.options import SeededFileOptions
from audit.commands.text import AGAIN, columns, fitted
from audit.exact.neighbours import CountedRecords
from audit.exact.released_weights import SIGNIFICANCE, WeightsResult, spread_neighbours, weights_result
from reference.budgets import SplitBudget
from reference.commands.options import BudgetOptions, emit
from reference.commands.parsing import command as make_command
from reference.commands.parsing import option
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED
from reference.common.files import json_text
from reference.common.numbers import text_below
from reference.domain import NORMS, Domain
from reference.registry import MECHANISMS, budget_from

BUDGET = {"epsilon_s": "10", "epsilon_n": "0.1", "delta_s": "1e-3", "delta_n": "1e-3"}
"""The default budget, if you give no part of it."""

LARGEST_RECORDS = 10**9
"""The largest data sets allowed."""


@dataclass(frozen=True, kw_only=True)
class WeightsOptions:
    """Data sets and draws."""

    dimension: int = option("--dimension", type=int, default=13, metavar="D", help="coordinates of w (13)")
    records: int = option("--records", type=int, default=3_000_000, metavar="N", help="records (3,000,000)")
    share: float = option("--share", type=float, default=0.9, metavar="P", help="share of records at x_s (0.9)")
    domain: str = option("--domain", type=click.Choice(NORMS), default="unit_ball", help="norm of x (unit_ball)")
    draws: int = option("--draws", type=int, default=500_000, metavar="K", help="draws on each data set (500,000)")
    significance: float = option(
        "--significance", type=float, default=SIGNIFICANCE, metavar="S", help="chance that a bound is wrong (1e-6)"
    )


@make_command(
    "weights",
    WeightsOptions,
    BudgetOptions,
    SeededFileOptions,
    example="python -m audit weights --draws 100000",
)
def command(options: WeightsOptions, budgets: BudgetOptions, output: SeededFileOptions) -> int:
    """Test whether ADFC's released w keeps Theorem 5.

    The coefficients that a release perturbs are not published: w = arg min of the noisy objective is. Here many
    records are spread over the coordinates so that the noisy quadratic is positive definite almost surely, no
    repair is needed, and w_s still shows one record's change of the linear coefficient of w_s.
    """
    _check(options)
    if all(part is None for part in vars(budgets).values()):
        budgets = replace(budgets, **BUDGET)
    domain = Domain.of_columns([f"x{index + 1}" for index in range(options.dimension)], norm=options.domain)
    budget = budget_from(budgets, MECHANISMS["adfc"], options.dimension)
    if not isinstance(budget, SplitBudget):
        raise ReadingError("budget", budget, "in two parts")
    seed = output.seed or 0
    neighbours = spread_neighbours(domain, options.records, options.share)
    rng = np.random.default_rng(seed)
    result = weights_result(neighbours, budget, draws=options.draws, rng=rng, significance=options.significance)
    repeated = again(command, options, budgets, replace(output, seed=seed))
    if output.format == "json":
        text = json_text({**result.to_json(), "rerun": repeated})
    else:
        text = fitted([*_lines(result), f"  {AGAIN}   {repeated}"], columns(output.out))
    emit(text, output.out)
    return {"refuted": EXIT_REFUTED, "undecided": EXIT_UNDECIDED}.get(result.verdict, EXIT_FINE)


def _check(options: WeightsOptions) -> None:
    if not 1 <= options.dimension <= 100:
        raise ReadingError("dimension", options.dimension, "from 1 to 100")
    if not 0 < options.share < 1:
        raise ReadingError("share", options.share, "in (0, 1)")
    if not 0 < options.significance < 1:
        raise ReadingError("significance", options.significance, "in (0, 1)")
    if not 2 <= options.records <= LARGEST_RECORDS:
        raise ReadingError("records", options.records, f"from 2 to {LARGEST_RECORDS:,}")
    if options.draws < 1000:
        raise ReadingError("draws", options.draws, "at least 1000")


def _lines(result: WeightsResult) -> Iterator[str]:
    claim = result.claim
    records = len(result.neighbours.left)
    yield f"adfc: the released w, d = {result.neighbours.left.domain.dimension}, {records:,} records, no repair"
    yield f"  claim:   epsilon = {float(claim.epsilon):.6g}, delta = {float(claim.delta):.6g}  ({claim.claim})"
    yield (
        f"  shown:   delta >= {text_below(max(result.delta_lower_bound, 0.0), 8)} at the claimed epsilon, "
        f"wrong with probability at most {result.significance:g}"
    )
    minimum = text_below(result.minimum_lower_bound, 6)
    yield f"  minimum: exists with probability at least {minimum} on both data sets"
    yield f"  verdict: {result.verdict}"
    yield f"  event:   the noisy objective has a minimum and w[x1] < {result.threshold:.6g}"
    for name, side in (("left", result.left), ("right", result.right)):
        yield f"    {name:5} {side.event:>9,} of {side.draws:,} draws; minimum in {side.with_minimum:,}"
    for name, data in (("left", result.neighbours.left), ("right", result.neighbours.right)):
        yield from _rows(name, data)


def _rows(name: str, data: CountedRecords) -> Iterator[str]:
    """Yield one line for all unit vectors with the same count, label and group."""
    alike: dict[tuple[int, int, int], list[int]] = {}
    for row in data.to_json():
        alike.setdefault((row["count"], row["y"], row["z"]), []).append(row["x"].index(1) + 1)
    for (count, y, z), places in alike.items():
        where = f"e_{places[0]}" if len(places) == 1 else f"each of e_{places[0]} to e_{places[-1]}"
        yield f"    {name:5} {count:>9,} x  x = {where}, y = {y}, z = {z}"
