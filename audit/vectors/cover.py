"""The combinations of inputs that the cases must cover."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from audit.vectors.format import VectorCase, VectorFile
from reference.readings import ADJACENCIES, BASES, FAIRNESS, REPAIRS

SMALLEST_GROUP = 30
"""Fewest cases of each group type."""

SMALLEST_SET = 800
"""Fewest cases in all."""

FAIR = FAIRNESS[1:]

NORMS = ("unit_box", "unit_ball", "symmetric_ball")

COVER: dict[str, tuple[dict[str, tuple[str, ...]], ...]] = {
    "Domain": (
        {"norm": NORMS, "intercept": ("0", "1"), "keepGroup": ("0", "1")},
        {"clip": ("0", "1")},
        {"encoded": ("0", "1"), "result": ("valid", "invalid")},
    ),
    "Coefficients": (
        {"fairness": FAIRNESS, "basis": BASES, "d": ("1", "2", "3", "4")},
        {"fairness": FAIR, "fairnessWeight": ("0", "2")},
    ),
    "Grouping": (
        {"dimension": ("1", "2", "5"), "basis": BASES},
        {"intercept": ("0", "1"), "keepGroup": ("0", "1")},
    ),
    "Sensitivity": (
        {"kind": ("exact_l1", "exact_l2"), "fairness": FAIRNESS, "adjacency": ADJACENCIES, "basis": BASES},
        {"kind": ("published_l1", "published_l2"), "dimension": ("1", "14", "100")},
        {"kind": ("worst_pair",), "fairness": FAIRNESS},
        {"records": ("limit", "2", "3", "10"), "fairness": FAIR},
        {"kind": ("ball_l1", "ball_l2"), "norm": ("unit_ball", "symmetric_ball"), "adjacency": ADJACENCIES},
        {"kind": ("attaining_l1", "attaining_l2"), "norm": NORMS, "adjacency": ADJACENCIES},
    ),
    "Scale": (
        {"kind": ("laplace", "extended_gaussian"), "epsilon": ("1e-9", "1", "1e9")},
        {"delta": ("3/4", "1e-300"), "kind": ("extended_gaussian",)},
        {"mechanism": ("functional", "relaxed_functional", "pdfc", "adfc"), "dimension": ("1", "14")},
        {"kind": ("laplace", "extended_gaussian"), "result": ("valid", "invalid")},
    ),
    "Perturbation": ({"noise": ("laplace", "gaussian"), "d": ("2", "5", "9", "14")},),
    "Minimiser": (
        {"repair": REPAIRS, "basis": BASES, "d": ("1", "2", "3", "5")},
        {"repair": REPAIRS, "covariance": ("0", "1")},
        {"repair": ("shift_and_trim",), "noise": ("laplace", "gaussian")},
        {"tau": ("0", "1/2")},
    ),
    "Privacy": (
        {"kind": ("claimed",), "mechanism": ("functional", "relaxed_functional", "pdfc", "adfc")},
        {"kind": ("exact_laplace", "exact_shift"), "fairness": FAIRNESS, "adjacency": ADJACENCIES},
        {"kind": ("gaussian_delta",), "epsilon": ("0", "6")},
        {"kind": ("gaussian_epsilon",), "delta": ("1/10", "1e-300")},
    ),
    "Accounting": (
        {"kind": ("laplace", "gaussian"), "adjacency": ADJACENCIES, "count": ("1", "30")},
        {"kind": ("basic",)},
    ),
    "FairnessMetric": ({"d": ("1", "2", "3")},),
    "RepairedBudget": (
        {"kind": ("change",), "sum": ("label_sums", "gradient"), "norm": ("unit_ball", "symmetric_ball")},
        {"kind": ("change",), "sum": ("imbalance", "group_count")},
        {"kind": ("scale", "account"), "delta": ("0", "1e-5")},
        {"kind": ("schedule",), "fairness": ("none", "demographic_parity"), "records": ("100", "50000")},
    ),
    "RepairedDescent": (
        {"kind": ("gradient", "descent")},
        {"kind": ("descent",), "noise": ("laplace", "gaussian"), "rounds": ("2", "8"), "intercept": ("0", "1")},
    ),
    "RepairedThreshold": (
        {"kind": ("share", "imbalance", "margins")},
        {"kind": ("next",), "slack": ("0", "1/16")},
    ),
    "Release": (
        {"mechanism": ("functional", "relaxed_functional", "pdfc", "adfc"), "intercept": ("0", "1")},
        {"mechanism": ("pdfc", "adfc"), "repair": REPAIRS},
        {"mechanism": ("pdfc", "adfc"), "basis": BASES, "fairness": ("none", "absolute", "covariance")},
        {"mechanism": ("pdfc", "adfc"), "result": ("valid", "invalid")},
    ),
}
"""Sets of inputs of each group type; every combination must occur; ``d`` is a number of coordinates."""


def _value(case: VectorCase, field: str) -> str | None:
    if field == "result":
        return case.result
    if field == "covariance":
        return str(int(field in case.inputs))
    if field == "d":
        given = case.inputs
        rows = given.get("x")
        if rows is not None:
            return str(len(rows[0]))
        return str(len(given["linear" if "linear" in given else "values"]))
    found = case.inputs.get(field)
    return found if isinstance(found, str) else None


def gaps(files: dict[str, VectorFile]) -> Iterator[str]:
    """Yield what is not covered."""
    total = sum(len(file.cases) for file in files.values())
    if total < SMALLEST_SET:
        yield f"{total} cases where {SMALLEST_SET} are needed"
    for kind, file in files.items():
        if len(file.cases) < SMALLEST_GROUP:
            yield f"{kind}: {len(file.cases)} cases where {SMALLEST_GROUP} are needed"
        for wanted in COVER[kind]:
            found = {tuple(_value(case, field) for field in wanted) for case in file.cases}
            for values in product(*wanted.values()):
                if values not in found:
                    named = ", ".join(f"{field} = {value}" for field, value in zip(wanted, values, strict=True))
                    yield f"{kind}: no case with {named}"
