"""Where do the published sensitivities stop holding?  ``python -m audit.thresholds``.

Claims L2.alpha and L2.sign, what Theorem 3 needs of Delta_1, and the step at which the proofs of Lemmas 2 and 4
fail.  The proofs are in ``docs/proofs/sensitivity.md``, Propositions 9 to 11.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from audit.enclosures import rational, square_root
from audit.repeated import vector_text
from audit.rerun import rerun_command
from audit.sensitivity import LARGEST_SIZE, setting_from
from audit.thresholds import (
    DIGITS,
    STEP,
    alpha_threshold,
    drift_counterexamples,
    sign_from_the_data,
    smallest_l1_sensitivity,
)
from audit.witnesses import NORMS, Witness, witness
from reference.accounting import Enclosure
from reference.domain import NORMS as DOMAINS
from reference.errors import NoPublishedBoundError, ReadingError
from reference.files import json_text
from reference.numbers import (
    decimal_above,
    decimal_below,
    decimal_text,
    rounded_up,
)
from reference.options import EXIT_FINE, emit, run_command
from reference.readings import ADJACENCIES, BASES, FAIRNESS
from reference.sensitivity import (
    Setting,
    exact_l1,
    exact_l2_squared,
    published_l1_sensitivity,
    published_l2_sensitivity_squared,
)


def alpha_document(setting: Setting, norm: str) -> dict[str, Any]:
    """Return the threshold of alpha_1 and data sets on both sides of it; parameters as in `alpha_threshold`."""
    threshold = alpha_threshold(setting, norm)
    below = replace(setting, fairness_weight=decimal_below(threshold.lower * (1 - STEP), 4))
    above = replace(setting, fairness_weight=decimal_above(threshold.upper * (1 + STEP), 4))
    published = _published_l1(setting) if norm == "l1" else _published_l2_squared(setting)
    supremum = (exact_l1 if norm == "l1" else exact_l2_squared)(below).upper
    return {
        "claim": "L2.alpha",
        "norm": norm,
        "readings": _readings_json(setting) | {"fairness_weight": None},
        "published" if norm == "l1" else "published_squared": rational(published),
        "threshold": _enclosure_json(threshold),
        "below": {
            **_weight_json(below, norm, published),
            "no_change_exceeds": rounded_up(supremum if norm == "l1" else square_root(supremum)[1]),
            "bound_holds": supremum <= published,
        },
        "above": _weight_json(above, norm, published),
    }


def _weight_json(setting: Setting, norm: str, published: Fraction) -> dict[str, Any]:
    """Return the data sets of the largest change at one alpha_1, compared with the bound in exact numbers."""
    found = witness(setting, norm)
    return {
        "fairness_weight": decimal_text(setting.fairness_weight),
        **found.to_json(),
        "change": float(found.value) if norm == "l1" else math.sqrt(found.value),
        "exceeds_published": found.value > published,
    }


def sign_document(setting: Setting) -> dict[str, Any]:
    """Return data sets on which a sign chosen from the data flips, at growing numbers of records.

    Parameters
    ----------
    setting : Setting
        With a number of records, these alone; else the smallest N that exceeds the bound, and larger ones.

    Raises
    ------
    reference.errors.ReadingError
        Where d = 1, N is even or 1, or no allowed N exceeds the bound.
    """
    if setting.dimension < 2:
        raise ReadingError("dimension", setting.dimension, "at least 2: the sign alone moves |g| little")
    bound = _published_l1(setting)
    flips = [
        sign_from_the_data(half, setting.fairness_weight, setting.norm, setting.dimension)
        for half in _halves(setting, bound)
    ]
    return {
        "claim": "L2.sign",
        "norm": "l1",
        "readings": _readings_json(setting) | {"sign": "of g.(1, ..., 1)"},
        "published": rational(bound),
        "change_per_record": decimal_text(setting.fairness_weight),
        "data_sets": [
            {
                "records": len(flip.left),
                "left": flip.left.to_json(),
                "right": flip.right.to_json(),
                "change": rational(flip.change),
                "exceeds_published": flip.change > bound,
            }
            for flip in flips
        ],
    }


def _halves(setting: Setting, bound: Fraction) -> list[int]:
    """Return (N - 1)/2 for each N to be shown."""
    if setting.records is not None:
        if setting.records < 3 or setting.records % 2 == 0:
            raise ReadingError("records", setting.records, "odd and at least 3: two equal groups and one record")
        return [setting.records // 2]
    weight = setting.fairness_weight
    if weight == 0 or bound / weight > LARGEST_SIZE // 2:
        raise ReadingError("fairness_weight", decimal_text(weight), f"larger: N is at most {LARGEST_SIZE:,}")
    smallest = math.floor(bound / (2 * weight)) + 1
    return [half for half in (smallest, 10 * smallest, 100 * smallest) if 2 * half < LARGEST_SIZE]


def delta1_document(setting: Setting) -> dict[str, Any]:
    """Return the smallest Delta_1 that Theorem 3 needs, and data sets on which a smaller one fails."""
    smallest = smallest_l1_sensitivity(setting)
    published = _published_or_none(setting)
    part, found, factor = _decisive(setting)
    too_small = decimal_below(smallest.lower * (1 - STEP), 4)
    loss = found.value / too_small
    return {
        "claim": "T3",
        "readings": _readings_json(setting),
        "published": None if published is None else rational(published),
        "smallest": _enclosure_json(smallest),
        "published_suffices": _at_least(published, smallest),
        "below": {
            "delta_1": decimal_text(too_small),
            "budget": f"epsilon_{part} = 1, the other towards 0",
            **found.to_json(),
            "loss": float(loss),
            "formula": rational(1 / factor),
            "exceeds_formula": loss > 1 / factor,
        },
    }


def _decisive(setting: Setting) -> tuple[str, Witness, Fraction]:
    """Return the part of the budget that asks for the larger Delta_1, its data sets, and 1/(its share)."""
    d = setting.dimension
    parts = [("s", witness(setting, "l1", Fraction(1), Fraction(0)), Fraction(d))]
    if d > 1:
        parts.append(("n", witness(setting, "l1", Fraction(0), Fraction(1)), Fraction(d, d - 1)))
    return max(parts, key=lambda part: part[1].value * part[2])


def _at_least(published: Fraction | None, needed: Enclosure) -> bool | None:
    """Tell whether the published Delta_1 suffices; None where there is none or the enclosure does not decide."""
    if published is None or needed.lower <= published < needed.upper:
        return None
    return published >= needed.upper


def drift_document() -> dict[str, Any]:
    """Return the data sets on which a step of two of the paper's proofs is false."""
    return {
        "claim": "second line of the proofs of Lemmas 2 and 4",
        "readings": {"fairness": "absolute", "fairness_weight": "1", "dimension": 1, "records": 2},
        "counterexamples": [
            {
                "left": left.to_json(),
                "right": right.to_json(),
                "change": rational(change),
                "last_terms": rational(last_terms),
            }
            for left, right, change, last_terms in drift_counterexamples()
        ],
    }


def _published_l1(setting: Setting) -> Fraction:
    return published_l1_sensitivity(setting.fairness, setting.dimension)


def _published_l2_squared(setting: Setting) -> Fraction:
    return published_l2_sensitivity_squared(setting.fairness, setting.dimension)


def _published_or_none(setting: Setting) -> Fraction | None:
    try:
        return _published_l1(setting)
    except NoPublishedBoundError:
        return None


def _readings_json(setting: Setting) -> dict[str, Any]:
    return {
        "fairness": setting.fairness,
        "fairness_weight": decimal_text(setting.fairness_weight),
        "domain": setting.norm,
        "basis": setting.basis,
        "adjacency": setting.adjacency,
        "records": setting.records,
        "dimension": setting.dimension,
    }


def _enclosure_json(value: Enclosure) -> Any:
    """Return "p/q", or decimals that enclose the value."""
    if value.lower == value.upper:
        return rational(value.lower)
    return Enclosure(decimal_below(value.lower, DIGITS), decimal_above(value.upper, DIGITS)).to_json()


# --- Text -----------------------------------------------------------------------------------------------------


def as_text(document: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of one result."""
    yield from TEXTS[document["claim"]](document)
    readings = document["readings"].items()
    yield "readings: " + ", ".join(f"{name} {value}" for name, value in readings if value is not None)
    yield f"again: {document['rerun']}"


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
        rows = [
            f"{row['count']:,} x (x = {vector_text(row['x'])}, y = {row['y']}, z = {row['z']})"
            for row in pair[side]
        ]
        yield f"  {side}: " + " + ".join(rows)


def _plain(rational: str) -> str:
    return str(Fraction(rational))


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        number = Fraction(value)
        return _plain(value) if number.denominator == 1 else f"{number} = {float(number):.10g}"
    return f"between {value['lo']} and {value['hi']}"


# --- Options --------------------------------------------------------------------------------------------------


def parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the command line's parser and those of its subcommands."""
    top = argparse.ArgumentParser(prog="python -m audit.thresholds", description=__doc__, allow_abbrev=False)
    claims = top.add_subparsers(dest="claim", required=True)
    found = {
        "alpha": claims.add_parser(
            "alpha", help="the alpha_1 up to which a published bound holds", allow_abbrev=False
        ),
        "sign": claims.add_parser(
            "sign", help="a sign of g.w chosen from the data: no bound in N", allow_abbrev=False
        ),
        "delta1": claims.add_parser(
            "delta1", help="the smallest Delta_1 for which Theorem 3 holds", allow_abbrev=False
        ),
        "drift": claims.add_parser("drift", help="where the proofs of Lemmas 2 and 4 fail", allow_abbrev=False),
    }
    for name in ("alpha", "delta1"):
        _add_readings(found[name])
    found["alpha"].add_argument("--norm", choices=NORMS, help="norm of the change (both)")
    found["alpha"].set_defaults(fairness_weight="1")
    found["sign"].set_defaults(fairness="covariance", basis="monomial", adjacency="replace_one")
    for name in ("alpha", "sign", "delta1"):
        _add_sizes(found[name], 2 if name == "sign" else None)
    for name in ("sign", "delta1"):
        found[name].add_argument("--fairness-weight", "--alpha", default="1", metavar="A", help="alpha_1 (1)")
    for child in found.values():
        child.add_argument("--format", choices=("text", "json"), default="text")
        child.add_argument("--out", metavar="FILE", help="write to a file, whole or not at all")
    return top, found


def _add_readings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fairness", choices=FAIRNESS, default="absolute", help="fairness term (absolute)")
    parser.add_argument("--basis", choices=BASES, default="monomial", help="basis of Phi_2 (monomial)")
    parser.add_argument(
        "--adjacency", choices=ADJACENCIES, default="replace_one", help="neighbouring relation (replace_one)"
    )


def _add_sizes(parser: argparse.ArgumentParser, dimension: int | None) -> None:
    number = dimension or "the embedded data's"
    meaning = "several sizes" if dimension else "any number: the limit of large N"
    parser.add_argument("--domain", choices=DOMAINS, default="unit_ball", help="norm of x (unit_ball)")
    parser.add_argument("--records", type=int, metavar="N", help=f"data sets of N records ({meaning})")
    parser.add_argument(
        "--dimension",
        type=int,
        default=dimension,
        metavar="D",
        help=f"coordinates of w, the intercept included ({number})",
    )


def _documents(options: argparse.Namespace) -> list[dict[str, Any]]:
    if options.claim == "drift":
        return [drift_document()]
    setting = setting_from(options)
    if options.claim == "alpha":
        return [alpha_document(setting, norm) for norm in ([options.norm] if options.norm else NORMS)]
    return [sign_document(setting) if options.claim == "sign" else delta1_document(setting)]


def command(argv: Sequence[str] | None) -> int:
    """Work out the threshold that the command line names."""
    top, children = parsers()
    options = top.parse_args(argv)
    given = argparse.Namespace(**{name: value for name, value in vars(options).items() if name != "claim"})
    rerun = rerun_command("audit.thresholds", children[options.claim], given, [options.claim])
    documents = [document | {"rerun": rerun} for document in _documents(options)]
    if options.format == "json":
        text = json_text(documents if len(documents) > 1 else documents[0])
    else:
        text = "\n\n".join("\n".join(as_text(document)) for document in documents) + "\n"
    emit(text, options.out)
    return EXIT_FINE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
