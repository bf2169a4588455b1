"""The answer of the steps to a case of the repaired mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from audit.vectors.repaired_steps import cells_domain
from audit.vectors.steps import Answer, Steps, floats, fractions
from reference.budgets import Budget
from reference.common.numbers import exact
from reference.domain import Domain
from reference.repaired.spent import Change
from reference.repaired.threshold import Probe


def answer_repaired(steps: Steps, inputs: Answer) -> Answer:
    """Return the steps' answer, whatever the kind."""
    return KINDS[inputs["kind"]](steps, inputs)


def _budget(inputs: Answer) -> Budget:
    return Budget(exact("epsilon", inputs["epsilon"]), exact("delta", inputs["delta"]))


def _change(steps: Steps, inputs: Answer) -> Answer:
    m, zbar = int(inputs["attributes"]), exact("zbar", inputs["zbar"])
    if m:
        domain = cells_domain([2] * m, inputs["norm"], intercept=False)
    else:
        domain = Domain.of_columns([f"x{i}" for i in range(int(inputs["dimension"]))], norm=inputs["norm"])
    found = steps.record_change(inputs["sum"], domain, zbar)
    return {"l1": float(found.l1_sensitivity), "l2Squared": float(found.l2_sensitivity_squared)}


def _scale(steps: Steps, inputs: Answer) -> Answer:
    change = Change(*fractions([inputs["l1"], inputs["l2Squared"]]))
    return {"scale": steps.planned_scale(_budget(inputs), change, exact("share", inputs["share"]))}


def _schedule(steps: Steps, inputs: Answer) -> Answer:
    # the stated number of one-hot attributes, of which the first has the remaining columns
    m, keep = int(inputs["attributes"]), inputs["keepGroup"] == "1"
    own = m - int(keep)
    widths = [int(inputs["dimension"]) - int(keep) - 2 * (own - 1)] + [2] * (own - 1)
    domain = cells_domain(widths, "unit_ball", intercept=False)
    if keep:
        domain = Domain(domain.attributes, "y", "z", norm="unit_ball", keep_group=True)
    found = steps.schedule(domain, int(inputs["records"]), _budget(inputs), inputs["fairness"])
    return {
        "labelModel": float(found.label_model),
        "labelRounds": found.label_rounds,
        "groupModel": float(found.group_model),
        "groupRounds": found.group_rounds,
        "groupCount": float(found.group_count),
        "probes": float(found.probes),
    }


def _account(steps: Steps, inputs: Answer) -> Answer:
    changes = [Change(*one) for one in zip(fractions(inputs["l1"]), fractions(inputs["l2Squared"]), strict=True)]
    return {"loss": float(steps.loss(_budget(inputs), changes, floats(inputs["scales"])))}


def _arrays(inputs: Answer, *names: str) -> list[Any]:
    return [np.array(floats(inputs[name])) for name in names]


def _x(inputs: Answer) -> Any:
    return np.array([floats(row) for row in inputs["x"]])


def _gradient(steps: Steps, inputs: Answer) -> Answer:
    return {"gradient": steps.gradient(_x(inputs), *_arrays(inputs, "target", "w"))}


def descent_domain(inputs: Answer) -> Domain:
    """Return the domain of a descent."""
    widths, bins = ([int(v) for v in inputs[name]] for name in ("widths", "bins"))
    return cells_domain(widths, "unit_ball", intercept=inputs["intercept"] == "1", bins=bins)


def _descent(steps: Steps, inputs: Answer) -> Answer:
    x, rounds = _x(inputs), int(inputs["rounds"])
    (target, units), (n, d) = _arrays(inputs, "target", "unitVariates"), x.shape
    of_counts, of_gradient = floats([inputs["scaleCounts"], inputs["scaleGradient"]])
    domain = descent_domain(inputs)
    counts = steps.label_sums(x, target) + of_counts * units[: 2 * d]
    second = steps.second_moments(counts, domain, n)
    spread = math.sqrt(2) if inputs["noise"] == "laplace" else 1.0
    deviation = spread * of_gradient
    inverse = steps.preconditioner(second, deviation / math.sqrt(rounds), domain)
    noisy, noise = steps.first_gradient(counts), spread * of_counts / math.sqrt(2)
    iterates = [-inverse @ noisy]
    taken = iterates[0]
    for drawn in np.split(units[2 * d :], rounds - 1):
        before, noisy = noisy, steps.gradient(x, target, iterates[-1]) + of_gradient * drawn
        if steps.overshot(taken, (before, noisy), (noise, deviation), inverse, second):
            inverse = inverse / 2
        taken, noise = -inverse @ noisy, deviation
        iterates.append(iterates[-1] + taken)
    return {"counts": counts, "secondMoments": second, "iterates": iterates, "w": steps.averaged(iterates)}


def _share(steps: Steps, inputs: Answer) -> Answer:
    noisy, deviation = floats([inputs["noisyCount"], inputs["deviation"]])
    return {"zbar": steps.share_of_group(noisy, deviation, int(inputs["records"]))}


def _imbalance(steps: Steps, inputs: Answer) -> Answer:
    z, prediction = _arrays(inputs, "z", "prediction")
    return {"sum": steps.imbalance(z, prediction == 1.0, exact("zbar", inputs["zbar"]))}


def _margins(steps: Steps, inputs: Answer) -> Answer:
    v = _arrays(inputs, "groupWeights")[0] if "groupWeights" in inputs else None
    z = _arrays(inputs, "z")[0] if "z" in inputs else None
    zbar = float(exact("zbar", inputs["zbar"]))
    advantage, belonging = steps.margins(_arrays(inputs, "w")[0], v, zbar, _x(inputs), z)
    return {"advantage": advantage, "belonging": belonging}


def _next(steps: Steps, inputs: Answer) -> Answer:
    parts = (floats(inputs[name]) for name in ("multipliers", "differences", "deviations"))
    probes = [Probe(*one) for one in zip(*parts, strict=True)]
    advantage, belonging, members = _arrays(inputs, "advantage", "belonging", "members")
    slack = float(exact("slack", inputs["slack"]))
    return {"multiplier": steps.next_multiplier(probes, slack, (advantage, belonging, members == 1.0))}


KINDS: dict[str, Callable[[Steps, Answer], Answer]] = {
    "change": _change,
    "scale": _scale,
    "schedule": _schedule,
    "account": _account,
    "gradient": _gradient,
    "descent": _descent,
    "share": _share,
    "imbalance": _imbalance,
    "margins": _margins,
    "next": _next,
}
