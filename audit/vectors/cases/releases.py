"""Cases of whole releases from given variates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from audit.vectors.cases.asked import AskedCase, Stream
from audit.vectors.cases.data import declared, with_data

SPLIT = ("pdfc", "adfc")


def releases() -> Iterator[AskedCase]:
    """Yield the cases of Release."""
    for mechanism, m, intercept in product(("functional", "relaxed_functional", *SPLIT), (1, 2, 3), (0, 1)):
        fairness = "absolute" if mechanism in SPLIT else "none"
        name = f"{mechanism}, {m} attributes, intercept {intercept}"
        yield AskedCase(name, release(name, mechanism, (m, bool(intercept), False), fairness=fairness))
    for mechanism, fairness, basis in product(SPLIT, ("covariance", "absolute", "none"), ("monomial", "matrix")):
        name = f"{mechanism}, {fairness}, {basis}"
        yield AskedCase(name, release(name, mechanism, (2, False, False), fairness=fairness, basis=basis))
    for mechanism, repair in product(SPLIT, ("none", "trim", "ball", "shift_and_trim")):
        name = f"{mechanism}, {repair}, so noisy that the objective is indefinite"
        changes = {"repair": repair, "epsilonS": "1/4", "epsilonN": "1/2"}
        yield AskedCase(name, release(name, mechanism, (2, False, False), **changes))
    for mechanism, s in product(SPLIT, (0, 1, 2)):
        name = f"{mechanism}, x_s is coordinate {s}"
        yield AskedCase(name, release(name, mechanism, (3, False, False), xS=str(s)))
    for mechanism, norm, keep in product(("functional", *SPLIT), ("unit_box", "unit_ball"), (False, True)):
        name = f"{mechanism}, {norm}, kept group {int(keep)}"
        yield AskedCase(name, release(name, mechanism, (2, True, keep), norm=norm))
    for mechanism, weight in product(SPLIT, ("0", "1/2", "3")):
        name = f"{mechanism}, alpha_1 = {weight}"
        yield AskedCase(name, release(name, mechanism, (2, False, False), fairnessWeight=weight))
    for mechanism, value in product(SPLIT, ("NaN", "Infinity", "2")):
        name = f"{mechanism} of a record that holds {value}"
        inputs = release(name, mechanism, (1, False, False))
        yield AskedCase(name, inputs | {"rows": [["1/2"], [value], *inputs["rows"][2:]]})
    for mechanism in SPLIT:
        name = f"{mechanism} without a budget for Phi_s"
        yield AskedCase(name, release(name, mechanism, (1, False, False), epsilonS="0"))


def release(name: str, mechanism: str, shape: tuple[int, bool, bool], **changes: Any) -> dict[str, Any]:
    """Return a release: `shape` is the number of attributes, the intercept and the kept group."""
    count, intercept, keep = shape
    norm = changes.get("norm", "unit_ball")
    domain = declared(count, norm, intercept=intercept, keep=keep, mixed=False)
    data = with_data(domain, 6, name)
    found = {
        "mechanism": mechanism,
        "fairness": "absolute" if mechanism in SPLIT else "none",
        "fairnessWeight": "1",
        "basis": "monomial",
        "repair": "shift_and_trim",
        "ballRadius": "10",
        "tau": "0",
    }
    if mechanism in SPLIT:
        found |= {"xS": "0", "epsilonS": "8", "epsilonN": "16", "deltaS": "0", "deltaN": "0"}
    else:
        found |= {"epsilon": "8", "delta": "0"}
    if mechanism == "adfc":
        found |= {"deltaS": "1/1024", "deltaN": "1/64"}
    if mechanism == "relaxed_functional":
        found |= {"delta": "1/1024"}
    found |= data | changes
    d = count + intercept + keep
    size = d + (d * (d + 1) // 2 if found["basis"] == "monomial" else d * d)
    return found | {"unitVariates": Stream(f"variates of {name}").several(size, -2, 2, 64)}
