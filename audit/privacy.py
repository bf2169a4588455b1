"""Is the paper's privacy statement true, and what is?  ``python -m audit.privacy adfc --epsilon-s 10 ...``.

The exact privacy of the noisy coefficients over all neighbouring data sets, beside the published formula, with
two explicit neighbouring data sets as witness.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Any

from audit.enclosures import written
from audit.losses import Neighbours, extreme_neighbours, scales
from audit.rerun import rerun_command
from audit.witnesses import domain_of
from reference.accounting import (
    Enclosure,
    ExactPrivacy,
    PrivacyStatement,
    exact_privacy,
)
from reference.budgets import Budget, SplitBudget
from reference.datasets import load
from reference.domain import NORMS
from reference.errors import ReadingError
from reference.files import json_text
from reference.gaussian import delta_of_shift
from reference.noise import Noise
from reference.numbers import decimal_above, decimal_below, decimal_text, short_text
from reference.options import (
    EXIT_FINE,
    EXIT_REFUTED,
    EXIT_UNDECIDED,
    add_budget_options,
    add_output_options,
    add_reading_options,
    budget_from,
    emit,
    readings_from,
    run_command,
)
from reference.readings import Readings
from reference.registry import MECHANISMS, MechanismSpec
from reference.sensitivity import Setting, Supremum, exact_l1, exact_l2_squared, setting_of

PRIVATE = tuple(name for name, spec in MECHANISMS.items() if spec.private)

WITNESS_RECORDS = (1000, 1_000_000)
"""Sizes of the witness where the statement is about all numbers of records: the first that shows the verdict."""

AGREEMENT = Fraction(1, 10**9)
"""How far the coefficients of the witness may differ from the stated supremum, relatively, up to 10^5 records.

For more records sums of floats lose digits: see :func:`agreement`.
"""

LARGEST_DIMENSION, LARGEST_SIZE = 1000, 10**9
"""Beyond these the witness cannot be built and checked in double precision within seconds."""

COVERED = (
    "every pair of neighbouring data sets of the domain, and every event on the ideal noisy coefficients; not "
    "covered: the bits of floating-point noise, and a choice of x_s that looks at the data"
)


@dataclass(frozen=True, eq=False)
class Judgement:
    """A published statement beside the exact privacy.

    Parameters
    ----------
    mechanism : str
    claim : PrivacyStatement
    exact : ExactPrivacy
    setting : Setting
    noise : Noise
    budget : Budget or SplitBudget
    readings : Readings
    x_s : str
        Coordinate with a scale of its own.
    witness : Witness
    rerun : str
    """

    mechanism: str
    claim: PrivacyStatement
    exact: ExactPrivacy
    setting: Setting
    noise: Noise
    budget: Budget | SplitBudget
    readings: Readings
    x_s: str
    witness: Witness
    rerun: str

    @property
    def verdict(self) -> str:
        """Verdict on the published statement at these budgets."""
        return self.exact.verdict or "undecided"

    @property
    def factor(self) -> Fraction:
        """How many times the claimed delta (Laplace: epsilon) the exact one is; its lower end."""
        if self.exact.delta is None:
            return self.exact.epsilon.lower / self.claim.epsilon
        return self.exact.delta.lower / self.claim.delta

    def to_json(self) -> dict[str, Any]:
        """Return the contract's object."""
        exact_delta = self.exact.delta
        return {
            "mechanism": self.mechanism,
            "claim": self.claim.claim,
            "claimed_epsilon": decimal_text(self.claim.epsilon),
            "claimed_delta": decimal_text(self.claim.delta),
            "exact_epsilon": _written(self.exact.epsilon),
            "exact_delta": None if exact_delta is None else _written(exact_delta),
            "factor": short_text(self.factor),
            "verdict": self.verdict,
            "witness": self.witness.to_json(),
            "budget": self.budget.to_json(),
            "noise": {"kind": self.noise.kind, "scale_s": self.noise.scale_s, "scale_n": self.noise.scale_n},
            "readings": {
                **self.readings.to_json(),
                "domain": self.setting.norm,
                "dimension": self.setting.dimension,
                "records": self.setting.records,
                "x_s": self.x_s,
            },
            "covered": COVERED,
            "rerun": self.rerun,
        }


@dataclass(frozen=True, eq=False)
class Witness:
    """Two neighbouring data sets with what their coefficients show.

    Parameters
    ----------
    neighbours : Neighbours
    loss : Fraction
        As :meth:`audit.losses.Neighbours.loss`.
    supremum : Supremum
        Of the loss over all neighbouring data sets of this size.
    epsilon : Fraction or None
        Laplace noise: the worst loss of this pair.
    delta : Enclosure or None
        Gaussian noise: the smallest delta for this pair at the claimed epsilon.
    """

    neighbours: Neighbours
    loss: Fraction
    supremum: Supremum
    epsilon: Fraction | None
    delta: Enclosure | None

    @property
    def records(self) -> int:
        """N: the records of the larger data set."""
        return max(len(self.neighbours.left), len(self.neighbours.right))

    @property
    def attains(self) -> bool:
        """Whether the pair attains the supremum of its size, up to rounding."""
        return self.loss >= self.supremum.lower * (1 - agreement(self.records))

    def violates(self, claim: PrivacyStatement) -> bool:
        """Tell whether this pair alone contradicts the statement."""
        if self.epsilon is not None:
            return self.epsilon > claim.epsilon
        return self.delta is not None and self.delta.lower > claim.delta

    def to_json(self) -> dict[str, Any]:
        """Return the data sets, with the loss that their coefficients give."""
        return {
            "records": self.records,
            **self.neighbours.to_json(),
            **(
                {"epsilon": short_text(self.loss)}
                if self.delta is None
                else {"shift_squared": short_text(self.loss)}
            ),
            "delta_at_claimed_epsilon": None if self.delta is None else _written(self.delta),
            "attains_supremum": self.attains,
        }


def judge(
    spec: MechanismSpec,
    setting: Setting,
    budget: Budget | SplitBudget,
    readings: Readings,
    *,
    x_s: str | int | None = None,
    rerun: str = "",
) -> Judgement:
    """Judge the published statement of one mechanism over all neighbouring data sets of a setting.

    Claims: T3, T4, T5 (at the given budgets).

    Parameters
    ----------
    spec : MechanismSpec
        A private mechanism.
    setting : Setting
    budget : Budget or SplitBudget
        As the mechanism takes it.
    readings : Readings
        Those that the setting does not hold are taken from here (`sensitivity`).
    x_s : str or int, optional
        By symmetry it does not change the verdict; the first coordinate when None.
    rerun : str
        Printed with the result.

    Raises
    ------
    RuntimeError
        When the data sets built as a witness contradict the stated supremum: a bug here or there.
    """
    domain = domain_of(setting)
    s = domain.coordinate(x_s if x_s is not None else 0)
    noise = spec.noise(domain, budget, readings, s)
    # with a sensitivity of the caller's own it is the theorem's formula that is judged
    claim = spec.statement(domain, budget, readings, s) or spec.formula(domain, budget, readings)
    exact = exact_privacy(setting, noise, claim, claim.delta)
    witness = _witness(setting, noise, claim, s, must_violate=exact.verdict == "refuted")
    return Judgement(spec.name, claim, exact, setting, noise, budget, readings, domain.columns[s], witness, rerun)


def _witness(setting: Setting, noise: Noise, claim: PrivacyStatement, s: int, *, must_violate: bool) -> Witness:
    """Return the worst pair of the setting's size, or of the first size that shows the violation."""
    sizes = WITNESS_RECORDS if setting.records is None else (setting.records,)
    found = None
    for records in sizes:
        found = witness_at(replace(setting, records=records), noise, claim, s)
        if must_violate and found.violates(claim):
            break
    if found is None:
        raise RuntimeError("no size to build a witness at")
    return found


def witness_at(setting: Setting, noise: Noise, claim: PrivacyStatement, s: int) -> Witness:
    """Build the worst pair of a setting with a number of records, and evaluate it through its coefficients."""
    neighbours = extreme_neighbours(setting, noise, s)
    loss = neighbours.loss(noise)
    supremum = supremum_of(setting, noise)
    slack = agreement(setting.records or 1)
    if loss > supremum.upper * (1 + slack):
        raise RuntimeError(f"a pair of data sets loses {float(loss)}, above the supremum {float(supremum.upper)}")
    if supremum.is_exact and loss < supremum.lower * (1 - slack):
        raise RuntimeError(f"the worst pair found loses {float(loss)}, below the supremum {float(supremum.lower)}")
    if noise.kind == "laplace":
        return Witness(neighbours, loss, supremum, loss, None)
    low, high = (delta_of_shift(loss * factor, claim.epsilon) for factor in (1 - slack, 1 + slack))
    delta = Enclosure(decimal_below(low, 12), decimal_above(high, 12))
    return Witness(neighbours, loss, supremum, None, delta)


def agreement(records: int) -> Fraction:
    """Return the relative difference that rounding explains in the change of sums over so many records."""
    return AGREEMENT * max(Fraction(1), Fraction(records, 10**5))


def supremum_of(setting: Setting, noise: Noise) -> Supremum:
    """Return the supremum of the loss over neighbouring data sets: of what :meth:`Neighbours.loss` returns."""
    scale_s, scale_n = scales(noise)
    if noise.kind == "laplace":
        return exact_l1(setting, 1 / scale_s, 1 / scale_n)
    return exact_l2_squared(setting, 1 / scale_s**2, 1 / scale_n**2)


# --- Command line ---------------------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m audit.privacy", description=__doc__, allow_abbrev=False)
    top.add_argument(
        "mechanism",
        nargs="*",
        default=list(PRIVATE),
        metavar="MECHANISM",
        help=f"one or more of {', '.join(PRIVATE)} (all {len(PRIVATE)})",
    )
    add_setting_options(top)
    add_budget_options(top)
    add_reading_options(top)
    add_output_options(top)
    return top


def add_setting_options(parser: argparse.ArgumentParser) -> None:
    """Add what the suprema are taken over, besides the readings."""
    group = parser.add_argument_group("data sets")
    group.add_argument(
        "--dimension", type=int, metavar="D", help="coordinates of w, the intercept included (the embedded data's)"
    )
    group.add_argument(
        "--records", type=int, metavar="N", help="data sets of N records (any number: the limit of large N)"
    )
    group.add_argument("--domain", choices=NORMS, default="unit_ball", help="norm of x (unit_ball)")


def setting_from(options: argparse.Namespace, readings: Readings) -> Setting:
    """Return the setting that the options and the readings name."""
    dimension = options.dimension if options.dimension is not None else load().domain.dimension
    if not 1 <= dimension <= LARGEST_DIMENSION:
        raise ReadingError("dimension", dimension, f"from 1 to {LARGEST_DIMENSION}")
    if options.records is not None and options.records > LARGEST_SIZE:
        raise ReadingError("records", options.records, f"at most {LARGEST_SIZE:,}, or left out for the limit")
    shape = Setting(dimension, readings.fairness, options.domain, readings.adjacency)
    return setting_of(domain_of(shape), readings, options.records)


def command(argv: Sequence[str] | None) -> int:
    """Judge the mechanisms that the command line names."""
    options = parser().parse_args(argv)
    judgements = []
    for name in options.mechanism:
        if name not in PRIVATE:
            raise ReadingError("mechanism", name, "one of " + ", ".join(PRIVATE))
        spec = MECHANISMS[name]
        readings = readings_from(options, spec)
        setting = setting_from(options, readings)
        budget = budget_from(options, spec, setting.dimension)
        if budget is None:
            raise ReadingError("mechanism", name, "one that adds noise")
        rerun = rerun_command("audit.privacy", parser(), options, [name])
        judgements.append(judge(spec, setting, budget, readings, x_s=options.x_s, rerun=rerun))
    if options.format == "json":
        documents = [judgement.to_json() for judgement in judgements]
        text = json_text(documents if len(documents) > 1 else documents[0])
    else:
        text = "\n".join(line for judgement in judgements for line in _lines(judgement)) + "\n"
    emit(text, options.out)
    verdicts = {judgement.verdict for judgement in judgements}
    if "refuted" in verdicts:
        return EXIT_REFUTED
    return EXIT_UNDECIDED if "undecided" in verdicts else EXIT_FINE


def _lines(judgement: Judgement) -> Iterator[str]:
    claim, exact, setting = judgement.claim, judgement.exact, judgement.setting
    size = "any number of" if setting.records is None else f"{setting.records:,}"
    yield (
        f"{judgement.mechanism}: d = {setting.dimension}, {setting.norm}, fairness {setting.fairness}, "
        f"{setting.basis} basis, {setting.adjacency}, {size} records"
    )
    budget = ", ".join(
        f"{name} = {short_text(Fraction(value))}" for name, value in judgement.budget.to_json().items()
    )
    yield f"  budget:  {budget}; sensitivity {judgement.readings.to_json()['sensitivity']}"
    yield f"  claim:   epsilon = {short_text(claim.epsilon)}, delta = {short_text(claim.delta)}  ({claim.claim})"
    if exact.delta is None:
        yield f"  exact:   epsilon = {_range(exact.epsilon)}, delta = 0"
        yield f"  factor:  {short_text(judgement.factor)} times the claimed epsilon"
    else:
        yield f"  exact:   delta = {_range(exact.delta)} at the claimed epsilon"
        yield f"           epsilon = {_range(exact.epsilon)} at the claimed delta"
        yield f"  factor:  {short_text(judgement.factor)} times the claimed delta"
    yield f"  verdict: {judgement.verdict}"
    yield from _witness_lines(judgement)
    yield f"  covered: {COVERED}"
    yield f"  again:   {judgement.rerun}"


def _range(value: Enclosure) -> str:
    """Return one number where both ends show the same digits, else both ends."""
    least, most = short_text(value.lower), short_text(value.upper)
    return least if least == most else f"{least} to {most}"


def _witness_lines(judgement: Judgement) -> Iterator[str]:
    witness = judgement.witness
    if witness.delta is None:
        shown = f"epsilon = {short_text(witness.loss)}"
    else:
        shown = f"delta = {short_text(witness.delta.lower)} at the claimed epsilon"
    yield f"  witness: {witness.records:,} records; {shown}"
    for side in ("left", "right"):
        for row in getattr(witness.neighbours, side).to_json():
            group = "" if row["z"] is None else f", z = {row['z']}"
            yield f"    {side:5} {row['count']:>9,} x  x = {_vector(row['x'])}, y = {row['y']}{group}"


def _vector(x: Sequence[float]) -> str:
    """Return a vector in a few words."""
    values = sorted(set(x))
    if len(values) == 1:
        return f"({values[0]:.6g} in every coordinate)" if len(x) > 1 else f"({values[0]:.6g})"
    shown = []
    for value, run in groupby(enumerate(x, start=1), key=itemgetter(1)):
        places = [place for place, _ in run]
        names = f"x{places[0]}" if len(places) == 1 else f"each of x{places[0]} to x{places[-1]}"
        if value:
            shown.append(f"{names}: {value:.6g}")
    return "(" + ", ".join(shown) + ("" if all(x) else ", else 0") + ")"


def _written(value: Enclosure) -> str | dict[str, str]:
    return written(value.lower, value.upper, 20)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
