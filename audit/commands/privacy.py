"""``python -m audit privacy``: whether the paper's privacy statement is true, and what is."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from operator import itemgetter

from audit.commands.again import again
from audit.commands.options import DeclaredOptions, check_known
from audit.commands.text import AGAIN, columns, fitted, range_text
from audit.exact.privacy import COVERED, PRIVATE, Judgement, judge, judge_declared
from audit.exact.settings import setting_from
from reference.commands.options import BudgetOptions, FileOptions, PersonReadingOptions, emit, readings_from
from reference.commands.parsing import argument
from reference.commands.parsing import command as make_command
from reference.common.documents import plain
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED
from reference.common.files import json_text
from reference.common.numbers import short_text
from reference.registry import MECHANISMS, budget_from
from reference.sensitivity import Setting, setting_of

HOLDS = ("proved", "enclosed")
"""Verdicts of a statement that holds."""


@dataclass(frozen=True, kw_only=True)
class MechanismOptions:
    """Mechanisms."""

    mechanism: tuple[str, ...] = argument(nargs=-1, metavar="[MECHANISM]...")


@make_command(
    "privacy",
    MechanismOptions,
    DeclaredOptions,
    BudgetOptions,
    PersonReadingOptions,
    FileOptions,
    example="python -m audit privacy adfc --epsilon-s 10 --epsilon-n 0.1 --domain unit_box",
    text=f"""Is the paper's privacy statement true, and if not, what is?

    The exact privacy of the noisy coefficients over all neighbouring data sets, beside the published formula, with
    two explicit neighbouring data sets as witness.  With --data or a domain file: over the data sets of rows that
    the declared domain encodes.

    MECHANISM: {", ".join(PRIVATE)} (all {len(PRIVATE)}).
    """,
)
def command(
    mechanisms: MechanismOptions,
    sets: DeclaredOptions,
    budgets: BudgetOptions,
    readings: PersonReadingOptions,
    output: FileOptions,
) -> int:
    """Judge the mechanisms that the command line names."""
    names = mechanisms.mechanism or PRIVATE
    for name in names:
        if name in MECHANISMS and not MECHANISMS[name].private:
            raise ReadingError("mechanism", name, "one that adds noise")
    check_known("mechanism", names, PRIVATE)
    judged: list[tuple[Judgement, str]] = []
    for name in names:
        repeated = again(command, sets, budgets, readings, output, words=[name])
        try:
            judged.append((_judge(name, sets, budgets, readings), repeated))
        except KeyboardInterrupt:
            if not any(judgement.verdict == "refuted" for judgement, _ in judged):
                raise
            # what is refuted stays refuted
            sys.stderr.write(f"interrupted: {', '.join(names[len(judged) :])} not judged\n")
            break
    if output.format == "json":
        documents = [judgement.to_json() | {"rerun": repeated} for judgement, repeated in judged]
        text = json_text(documents if len(names) > 1 else documents[0])
    else:
        lines = (line for judgement, repeated in judged for line in _lines(judgement, repeated))
        text = fitted(lines, columns(output.out))
    emit(text, output.out)
    verdicts = {judgement.verdict for judgement, _ in judged}
    if "refuted" in verdicts:
        return EXIT_REFUTED
    return EXIT_UNDECIDED if "undecided" in verdicts else EXIT_FINE


def _judge(name: str, sets: DeclaredOptions, budgets: BudgetOptions, options: PersonReadingOptions) -> Judgement:
    spec = MECHANISMS[name]
    readings = readings_from(options, spec)
    domain = sets.declared
    setting = setting_from(sets.shape, readings) if domain is None else setting_of(domain, readings, sets.records)
    budget = budget_from(budgets, spec, setting.dimension)
    assert budget is not None
    if domain is None:
        return judge(spec, setting, budget, readings, x_s=options.x_s)
    return judge_declared(spec, domain, budget, readings, records=sets.records, x_s=options.x_s)


def _lines(judgement: Judgement, repeated: str) -> Iterator[str]:
    claim, exact, setting = judgement.claim, judgement.exact, judgement.setting
    size = "any number of" if setting.records is None else f"{setting.records:,}"
    yield (
        f"{judgement.mechanism}: d = {setting.dimension}, {judgement.rows_of}, fairness {setting.fairness}, "
        f"{setting.basis} basis, {setting.adjacency}, {size} records{_persons(setting)}"
    )
    budget = ", ".join(
        f"{name} = {short_text(Fraction(value))}" for name, value in plain(judgement.budget).items()
    )
    yield f"  budget:  {budget}; sensitivity {judgement.readings.sensitivity}"
    yield f"  claim:   epsilon = {short_text(claim.epsilon)}, delta = {short_text(claim.delta)}  ({claim.claim})"
    if exact.delta is None:
        yield f"  exact:   epsilon = {range_text(exact.epsilon)}, delta = 0"
        yield f"  factor:  {short_text(judgement.factor)} times the claimed epsilon"
    else:
        yield f"  exact:   delta = {range_text(exact.delta)} at the claimed epsilon"
        yield f"           epsilon = {range_text(exact.epsilon)} at the claimed delta"
        yield f"  factor:  {short_text(judgement.factor)} times the claimed delta"
    if judgement.norm_domain is not None:
        over_norm = judgement.norm_domain
        parts = [f"epsilon = {range_text(over_norm.epsilon)}"]
        parts += [] if over_norm.delta is None else [f"delta = {range_text(over_norm.delta)}"]
        yield f"  norm:    {', '.join(parts)} over all rows of the {setting.norm} ({_plainly(over_norm.verdict)})"
    yield f"  verdict: {_plainly(judgement.verdict)}"
    yield from _witness_lines(judgement)
    yield f"  covered: {COVERED}"
    yield f"  {AGAIN}   {repeated}"


def _plainly(verdict: str | None) -> str:
    """Return whether the statement holds, with the way in which it was decided."""
    return f"holds ({verdict})" if verdict in HOLDS else str(verdict)


def _persons(setting: Setting) -> str:
    return "" if setting.rows_per_person == 1 else f", {setting.rows_per_person} rows per person"


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
