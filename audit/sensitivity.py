"""How far can one record move the coefficients?  ``python -m audit.sensitivity``.

The paper's bound beside the exact supremum over all neighbouring data sets (or a certified enclosure of it), with
data sets that attain it.
"""

from __future__ import annotations

import argparse
import io
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rich.console import Console
from rich.table import Table

from audit.enclosures import rational, square_root
from audit.repeated import vector_text
from audit.rerun import rerun_command
from audit.witnesses import LARGE, NORMS, ONE, Witness, witness
from reference.datasets import load
from reference.domain import NORMS as DOMAINS
from reference.errors import NoPublishedBoundError, ReadingError
from reference.files import json_text
from reference.numbers import (
    decimal_text,
    exact,
    in_float_range,
    rounded_down,
    rounded_up,
)
from reference.options import EXIT_FINE, emit, run_command
from reference.readings import ADJACENCIES, BASES, FAIRNESS
from reference.sensitivity import (
    Setting,
    Supremum,
    ball_l1,
    exact_l1,
    exact_l2_squared,
    published_l1_sensitivity,
    published_l2_sensitivity_squared,
)

LARGEST_DIMENSION = 1_000
LARGEST_SIZE = 10**9


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """One norm under one setting.

    Parameters
    ----------
    setting : Setting
    norm : {'l1', 'l2'}
    weight_s, weight_n : Fraction
    published : Fraction or None
        The paper's bound; its square for `l2`.
    supremum : Supremum
        Of the weighted change; of its square for `l2`.
    witness : Witness
    rerun : str
    """

    setting: Setting
    norm: str
    weight_s: Fraction
    weight_n: Fraction
    published: Fraction | None
    supremum: Supremum
    witness: Witness
    rerun: str

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Enclosure of the sensitivity itself."""
        if self.norm == "l1":
            return self.supremum.lower, self.supremum.upper
        return square_root(self.supremum.lower)[0], square_root(self.supremum.upper)[1]

    @property
    def published_bound(self) -> float | None:
        """The paper's bound as a number."""
        if self.published is None:
            return None
        return float(self.published) if self.norm == "l1" else math.sqrt(self.published)

    def to_json(self) -> dict[str, Any]:
        """Return the contract's object."""
        setting = self.setting
        document = {
            "norm": self.norm,
            "readings": {
                "fairness": setting.fairness,
                "fairness_weight": decimal_text(setting.fairness_weight),
                "domain": setting.norm,
                "basis": setting.basis,
                "adjacency": setting.adjacency,
                "records": setting.records,
                "dimension": setting.dimension,
                "weight_s": decimal_text(self.weight_s),
                "weight_n": decimal_text(self.weight_n),
            },
            **_published_json(self.norm, self.published),
            **_supremum_json(self.norm, self.supremum, self.ends),
            "method": self.supremum.method,
        }
        reached = self.witness.value
        document["witness"] = {
            **self.witness.to_json(),
            "change": float(reached) if self.norm == "l1" else math.sqrt(reached),
            "of_the_limit": setting.records is None,
        }
        document["rerun"] = self.rerun
        return document


def _published_json(norm: str, published: Fraction | None) -> dict[str, Any]:
    if norm == "l1":
        return {"published": None if published is None else rational(published)}
    return {
        "published": None if published is None else math.sqrt(published),
        "published_squared": None if published is None else rational(published),
    }


def _supremum_json(norm: str, supremum: Supremum, ends: tuple[Fraction, Fraction]) -> dict[str, Any]:
    if supremum.is_exact:
        value = rational(ends[0]) if ends[0] == ends[1] else float(ends[0])
        return {"exact": value} | ({"exact_squared": rational(supremum.lower)} if norm == "l2" else {})
    if supremum.method.startswith("closed form"):
        return {"exact": float(ends[0]), "upper": rounded_up(ends[1])}
    return {"lower": rounded_down(ends[0]), "upper": rounded_up(ends[1])}


def sensitivity(
    setting: Setting,
    norm: str,
    weight_s: Fraction = ONE,
    weight_n: Fraction = ONE,
    *,
    effort: str = "quick",
    rerun: str = "",
) -> Sensitivity:
    """Return bound, supremum and witness of one norm; parameters as in :func:`audit.witnesses.witness`."""
    if norm == "l2":
        supremum = exact_l2_squared(setting, weight_s, weight_n)
    elif setting.norm == "unit_box":
        supremum = exact_l1(setting, weight_s, weight_n)
    else:
        supremum = ball_l1.weighted_l1(setting, weight_s, weight_n, effort)
    found = witness(setting, norm, weight_s, weight_n, effort=effort)
    # the paper bounds the unweighted change only
    bound = _published(setting, norm) if weight_s == weight_n == 1 else None
    return Sensitivity(setting, norm, weight_s, weight_n, bound, supremum, found, rerun)


def _published(setting: Setting, norm: str) -> Fraction | None:
    formula = published_l1_sensitivity if norm == "l1" else published_l2_sensitivity_squared
    try:
        return formula(setting.fairness, setting.dimension)
    except NoPublishedBoundError:
        return None


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m audit.sensitivity", description=__doc__, allow_abbrev=False)
    readings = top.add_argument_group("readings of the paper")
    readings.add_argument("--fairness", choices=FAIRNESS, default="absolute", help="fairness term (absolute)")
    readings.add_argument("--domain", choices=DOMAINS, default="unit_ball", help="norm of x (unit_ball)")
    readings.add_argument("--basis", choices=BASES, default="monomial", help="basis of Phi_2 (monomial)")
    readings.add_argument(
        "--adjacency", choices=ADJACENCIES, default="replace_one", help="neighbouring relation (replace_one)"
    )
    readings.add_argument("--fairness-weight", "--alpha", default="1", metavar="A", help="the paper's alpha_1 (1)")
    sets = top.add_argument_group("data sets")
    sets.add_argument(
        "--records", type=int, metavar="N", help="data sets of N records (any number: the limit of large N)"
    )
    sets.add_argument(
        "--dimension", type=int, metavar="D", help="coordinates of w, the intercept included (the embedded data's)"
    )
    change = top.add_argument_group("change")
    change.add_argument("--norm", choices=NORMS, help="norm of the change (both)")
    change.add_argument(
        "--weight-s", default="1", metavar="W", help="weight of the monomials with w_s; in l2 of their squares (1)"
    )
    change.add_argument("--weight-n", default="1", metavar="W", help="weight of the others (1)")
    change.add_argument(
        "--effort",
        choices=("quick", "thorough"),
        default="quick",
        help="thorough: bound every sign pattern of the l1 change on a ball; slow beyond d = 8 to 13 (quick)",
    )
    output = top.add_argument_group("output")
    output.add_argument("--format", choices=("text", "json"), default="text")
    output.add_argument("--out", metavar="FILE", help="write to a file, whole or not at all")
    return top


def setting_from(options: argparse.Namespace) -> Setting:
    """Return the setting that the options name, small enough to be worked out."""
    dimension = load().domain.dimension if options.dimension is None else options.dimension
    if not 1 <= dimension <= LARGEST_DIMENSION:
        raise ReadingError("dimension", dimension, f"from 1 to {LARGEST_DIMENSION}")
    if options.records is not None and options.records > LARGEST_SIZE:
        raise ReadingError("records", options.records, f"at most {LARGEST_SIZE:,}, or left out for the limit")
    return Setting(
        dimension=dimension,
        fairness=options.fairness,
        norm=options.domain,
        adjacency=options.adjacency,
        basis=options.basis,
        fairness_weight=_number("fairness_weight", options.fairness_weight),
        records=options.records,
    )


def _number(name: str, text: str) -> Fraction:
    number = exact(name, text)
    if number < 0 or not in_float_range(number):
        raise ReadingError(name, text, "0 or between 1e-100 and 1e100")
    return number


def as_text(results: Sequence[Sensitivity]) -> str:
    """Return the results as a table, with the witnesses below."""
    setting = results[0].setting
    table = Table(title="How far can one record move the coefficients?")
    for heading in ("norm", "published", "exact", "slack (published / exact)", "how known"):
        table.add_column(heading)
    for result in results:
        high = result.ends[1]
        published = result.published_bound
        table.add_row(
            result.norm,
            "none" if published is None else f"{published:.10g}",
            _exact_text(result),
            "" if published is None or high == 0 else f"{published / float(high):.6g}",
            result.supremum.method,
        )
    buffer = io.StringIO()
    console = Console(file=buffer, width=130, highlight=False, emoji=False)
    size = "any number of records (limit)" if setting.records is None else f"N = {setting.records:,} records"
    console.print(table)
    console.print(
        f"d = {setting.dimension}, {size}, fairness {setting.fairness} (alpha_1 = "
        f"{decimal_text(setting.fairness_weight)}), domain {setting.norm}, adjacency {setting.adjacency}, basis "
        f"{setting.basis}; weights {decimal_text(results[0].weight_s)} for monomials with w_s, "
        f"{decimal_text(results[0].weight_n)} for the others.",
        soft_wrap=True,
        markup=False,
    )
    for result in results:
        for line in _witness_lines(result):
            console.print(line, soft_wrap=True, markup=False)
    return buffer.getvalue()


def _exact_text(result: Sensitivity) -> str:
    low, high = result.ends
    if result.supremum.is_exact:
        if low == high:
            return f"{low} = {float(low):.10g}" if low.denominator > 1 else str(low)
        return f"sqrt({result.supremum.lower}) = {float(low):.10g}"
    if result.supremum.method.startswith("closed form"):
        return f"{float(low):.10g}"
    return f"[{rounded_down(low):.12g}, {rounded_up(high):.12g}]"


def _witness_lines(result: Sensitivity) -> Iterator[str]:
    found = result.witness
    value = float(found.value) if result.norm == "l1" else math.sqrt(found.value)
    note = f" (at N = {LARGE:,}; the limit is approached as N grows)" if result.setting.records is None else ""
    yield f"{result.norm} witness: a change of {value:.10g}{note} between"
    for side, data in (("left", found.left), ("right", found.right)):
        rows = [
            f"{row['count']:,} x (x = {vector_text(row['x'])}, y = {row['y']}, z = {row['z']})"
            for row in data.to_json()
        ]
        yield f"  {side}: " + " + ".join(rows)
    yield f"  again: {result.rerun}"


def command(argv: Sequence[str] | None) -> int:
    """Work out the sensitivities that the command line names."""
    options = parser().parse_args(argv)
    setting = setting_from(options)
    weight_s, weight_n = _number("weight_s", options.weight_s), _number("weight_n", options.weight_n)
    if weight_s == weight_n == 0:
        raise ReadingError("weight_s", options.weight_s, "positive where the other weight is 0")
    rerun = rerun_command("audit.sensitivity", parser(), options)
    results = [
        sensitivity(setting, norm, weight_s, weight_n, effort=options.effort, rerun=rerun)
        for norm in ([options.norm] if options.norm else NORMS)
    ]
    if options.format == "json":
        documents = [result.to_json() for result in results]
        text = json_text(documents if len(documents) > 1 else documents[0])
    else:
        text = as_text(results)
    emit(text, options.out)
    return EXIT_FINE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
