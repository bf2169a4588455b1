"""``python -m audit thresholds``: where the published sensitivities stop holding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click

from audit.commands.again import again
from audit.commands.options import DataSetOptions, TermOptions, setting_of_terms, weight_option
from audit.commands.text import AGAIN, columns, fitted
from audit.exact.data_sets import rows_text
from audit.exact.settings import DataSetShape
from audit.exact.threshold_documents import alpha_document, delta1_document, drift_document, sign_document
from audit.exact.witnesses import NORMS
from reference.commands.options import FileOptions, emit
from reference.commands.parsing import Command, CommandRow, Family, option
from reference.commands.parsing import command as make_command
from reference.common.exit_codes import EXIT_FINE
from reference.common.files import json_text
from reference.domain import NORMS as DOMAINS


@dataclass(frozen=True, kw_only=True)
class NormOptions:
    """Change."""

    norm: str | None = option("--norm", type=click.Choice(NORMS), help="norm of the change (both)")


@dataclass(frozen=True, kw_only=True)
class WeightOptions:
    """Fairness."""

    fairness_weight: str = weight_option()


@dataclass(frozen=True, kw_only=True)
class SignDataSetOptions(DataSetShape):
    """Data sets."""

    dimension: int = option(
        "--dimension", type=int, default=2, metavar="D", help="coordinates of w, the intercept included (2)"
    )
    records: int | None = option("--records", type=int, metavar="N", help="data sets of N records (several sizes)")
    domain: str = option("--domain", type=click.Choice(DOMAINS), default="unit_ball", help="norm of x (unit_ball)")


UNDER = "audit thresholds"

COVARIANCE = TermOptions(fairness="covariance", basis="monomial", adjacency="replace_one")
"""The paper's reading of the term whose sign is chosen."""


@make_command(
    "alpha",
    DataSetOptions,
    TermOptions,
    NormOptions,
    FileOptions,
    example="python -m audit thresholds alpha --dimension 13 --norm l1",
)
def alpha(sets: DataSetOptions, terms: TermOptions, change: NormOptions, output: FileOptions) -> int:
    """Find the alpha_1 up to which a published bound holds.

    Claim L2.alpha, with data sets on both sides of the threshold.
    """
    setting = setting_of_terms(sets, terms, "1")
    documents = [alpha_document(setting, norm) for norm in ([change.norm] if change.norm else NORMS)]
    return _print(documents, again(alpha, sets, terms, change, under=UNDER), output)


@make_command(
    "sign",
    SignDataSetOptions,
    WeightOptions,
    FileOptions,
    example="python -m audit thresholds sign --dimension 3",
)
def sign(sets: SignDataSetOptions, fairness: WeightOptions, output: FileOptions) -> int:
    """Show that no bound holds for every number of records once the sign of g.w is chosen from the data.

    Claim L2.sign, with data sets on which the sign flips.
    """
    setting = setting_of_terms(sets, COVARIANCE, fairness.fairness_weight)
    return _print([sign_document(setting)], again(sign, sets, fairness, under=UNDER), output)


@make_command(
    "delta1",
    DataSetOptions,
    TermOptions,
    WeightOptions,
    FileOptions,
    example="python -m audit thresholds delta1 --dimension 3 --domain unit_box",
)
def delta1(sets: DataSetOptions, terms: TermOptions, fairness: WeightOptions, output: FileOptions) -> int:
    """Find the smallest Delta_1 for which Theorem 3 holds.

    Beside it the published one, and data sets on which a smaller one fails.
    """
    setting = setting_of_terms(sets, terms, fairness.fairness_weight)
    return _print([delta1_document(setting)], again(delta1, sets, terms, fairness, under=UNDER), output)


@make_command("drift", FileOptions, example="python -m audit thresholds drift")
def drift(output: FileOptions) -> int:
    """Show where the proofs of Lemmas 2 and 4 fail.

    Data sets on which their second line is false.
    """
    return _print([drift_document()], again(drift, under=UNDER), output)


COMMANDS: dict[str, Command] = {"alpha": alpha, "sign": sign, "delta1": delta1, "drift": drift}


class Thresholds(Family):
    """The commands of this module."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command."""
        return COMMANDS.get(cmd_name)


command = Thresholds(
    "thresholds",
    {
        "alpha": CommandRow(__name__, "the alpha_1 up to which a published bound holds"),
        "sign": CommandRow(__name__, "no bound holds for every N if the data choose the sign of g.w"),
        "delta1": CommandRow(__name__, "the smallest Delta_1 for which Theorem 3 holds"),
        "drift": CommandRow(__name__, "where the proofs of Lemmas 2 and 4 fail"),
    },
    """Where do the published sensitivities stop holding?

    Claims L2.alpha and L2.sign, what Theorem 3 needs of Delta_1, and the step at which the proofs of Lemmas 2 and
    4 fail. The proofs are in proofs/sensitivities.md, Propositions 9 and 10, and
    proofs/theorem_3.md.
    """,
    example="python -m audit thresholds alpha --dimension 13 --norm l1",
)


def _print(documents: Sequence[dict[str, Any]], repeated: str, output: FileOptions) -> int:
    documents = [document | {"rerun": repeated} for document in documents]
    if output.format == "json":
        text = json_text(documents if len(documents) > 1 else documents[0])
    else:
        width = columns(output.out)
        text = "\n".join(fitted(as_text(document), width) for document in documents)
    emit(text, output.out)
    return EXIT_FINE


def as_text(document: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of one result."""
    yield from TEXTS[document["claim"]](document)
    readings = document["readings"].items()
    yield "readings: " + ", ".join(f"{name} {value}" for name, value in readings if value is not None)
    yield f"{AGAIN} {document['rerun']}"


def _alpha_text(document: dict[str, Any]) -> Iterator[str]:
    norm, below, above = document["norm"], document["below"], document["above"]
    bound = _plain(document["published"]) if norm == "l1" else f"sqrt({_plain(document['published_squared'])})"
    yield f"L2.alpha: the published {norm} bound {bound} holds up to a threshold of alpha_1 and fails beyond."
    yield f"threshold of alpha_1: {_value_text(document['threshold'])}"
    weight, most = below["fairness_weight"], below["no_change_exceeds"]
    yield f"below, alpha_1 = {weight}: no change exceeds {most:.10g}; one of {below['change']:.10g} is between"
    yield from _sides(below)
    verdict = "exceeds the bound" if above["exceeds_published"] else "DOES NOT EXCEED THE BOUND"
    yield f"above, alpha_1 = {above['fairness_weight']}: a change of {above['change']:.10g} {verdict}, between"
    yield from _sides(above)


def _sign_text(document: dict[str, Any]) -> Iterator[str]:
    yield "L2.sign: if the sign of g.w is chosen from the data, no bound holds for every number of records."
    yield f"published l1 bound: {_plain(document['published'])}"
    yield f"change between the data sets below: {document['change_per_record']} x (N - 1)"
    for pair in document["data_sets"]:
        verdict = "exceeds the bound" if pair["exceeds_published"] else "is within the bound"
        yield f"N = {pair['records']:,}: a change of {_plain(pair['change'])} {verdict}, between"
        yield from _sides(pair)


def _delta1_text(document: dict[str, Any]) -> Iterator[str]:
    published, below = document["published"], document["below"]
    verdict = {True: "suffices", False: "does not suffice", None: "is not decided by the enclosure"}
    yield "T3: the smallest Delta_1 for which Theorem 3's formula holds for all budgets."
    yield f"smallest Delta_1: {_value_text(document['smallest'])}"
    if published is None:
        yield "published Delta_1: none for these readings"
    else:
        yield f"published Delta_1: {_plain(published)}, which {verdict[document['published_suffices']]}"
    comparison = "more" if below["exceeds_formula"] else "NO MORE"
    yield (
        f"below, Delta_1 = {below['delta_1']}, {below['budget']}: a loss of {below['loss']:.10g}, {comparison} "
        f"than the formula's {_plain(below['formula'])}, between"
    )
    yield from _sides(below)


def _drift_text(document: dict[str, Any]) -> Iterator[str]:
    yield "The second line of the proofs of Lemmas 2 and 4 drops the movement of zbar in the other records' terms."
    for pair in document["counterexamples"]:
        true, claimed = _plain(pair["change"]), _plain(pair["last_terms"])
        yield f"the coefficient of w_1 changes by {true}, and not by the proofs' {claimed}, between"
        yield from _sides(pair)


TEXTS: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {
    "L2.alpha": _alpha_text,
    "L2.sign": _sign_text,
    "T3": _delta1_text,
    "second line of the proofs of Lemmas 2 and 4": _drift_text,
}


def _sides(pair: dict[str, Any]) -> Iterator[str]:
    """Yield both data sets."""
    for side in ("left", "right"):
        yield f"  {side}: {rows_text(pair[side])}"


def _plain(rational: str) -> str:
    return str(Fraction(rational))


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        number = Fraction(value)
        return _plain(value) if number.denominator == 1 else f"{number} = {float(number):.10g}"
    return f"between {value['lo']} and {value['hi']}"
