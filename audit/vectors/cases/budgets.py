"""Cases about sensitivities, scales and privacy."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from audit.vectors.cases.asked import DOUBLE, ERFC, EXACT, AskedCase, Stream
from audit.vectors.cases.data import FAIRNESS, objective_data

ADJACENCIES = ("replace_one", "add_or_remove_one")


NORMS = ("unit_box", "unit_ball", "symmetric_ball")


def _setting(d: int, fairness: str, adjacency: str, basis: str, records: str = "limit") -> dict[str, str]:
    return {
        "dimension": str(d),
        "fairness": fairness,
        "norm": "unit_box",
        "adjacency": adjacency,
        "basis": basis,
        "fairnessWeight": "1",
        "records": records,
    }


def _settings() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield settings that corner enumeration can decide, with their names."""
    for d, fairness, adjacency, basis in product((1, 2), FAIRNESS, ADJACENCIES, ("monomial", "matrix")):
        yield f"d = {d}, {fairness}, {adjacency}, {basis}", _setting(d, fairness, adjacency, basis)
    for adjacency in ADJACENCIES:
        yield f"d = 3, none, {adjacency}, monomial", _setting(3, "none", adjacency, "monomial")
    for fairness, adjacency, records in product(FAIRNESS[1:], ADJACENCIES, ("2", "3", "10")):
        yield (
            f"d = 1, {fairness}, {adjacency}, {records} records",
            _setting(1, fairness, adjacency, "monomial", records),
        )
    for fairness, weight in product(FAIRNESS[1:], ("0", "1/2", "4")):
        setting = _setting(2, fairness, "replace_one", "monomial") | {"fairnessWeight": weight}
        yield f"d = 2, {fairness}, alpha_1 = {weight}", setting


def sensitivities() -> Iterator[AskedCase]:
    """Yield the cases of Sensitivity."""
    for d, fairness, norm in product((1, 2, 3, 4, 5, 9, 14, 50, 100), FAIRNESS[:3], ("l1", "l2")):
        inputs = {"kind": f"published_{norm}", "dimension": str(d), "fairness": fairness}
        yield AskedCase(f"the paper's bound, {norm}, d = {d}, {fairness}", inputs)
    for (name, setting), norm in product(_settings(), ("l1", "l2")):
        yield AskedCase(f"the supremum over the box, {norm}, {name}", {"kind": f"exact_{norm}"} | setting)
    for fairness, d, adjacency in product(FAIRNESS, (1, 2, 3), ADJACENCIES):
        name = f"a pair of data sets, {fairness}, d = {d}, {adjacency}"
        yield AskedCase(name, _pair(name, d, fairness, adjacency))
    for fairness in FAIRNESS:
        # four records, so that zbar is dyadic on both sides
        first = {"x": [["1", "1"], *[["1", "1"]] * 3], "y": ["1", "0", "0", "0"], "z": ["0", "0", "0", "0"]}
        second = {"x": [["0", "0"], *[["1", "1"]] * 3], "y": ["0", "0", "0", "0"], "z": ["1", "0", "0", "0"]}
        yield AskedCase(
            f"a pair at the corners: zbar moves every record, {fairness}", _two(first, second, fairness)
        )
    yield from _balls()


def _balls() -> Iterator[AskedCase]:
    """Yield suprema over the balls, and questions for pairs of data sets that attain them."""
    settings = []
    for d, fairness, adjacency in product((2, 3), FAIRNESS, ADJACENCIES):
        settings.append(_setting(d, fairness, adjacency, "monomial"))
    for fairness, adjacency in product(FAIRNESS, ADJACENCIES):
        settings.append(_setting(2, fairness, adjacency, "matrix"))
    for fairness, adjacency in product(FAIRNESS[1:], ADJACENCIES):
        settings.append(_setting(2, fairness, adjacency, "monomial", "3"))
    for fairness, weight in product(FAIRNESS[1:3], ("1/2", "4")):
        settings.append(_setting(2, fairness, "replace_one", "monomial") | {"fairnessWeight": weight})
    for setting, norm, length in product(settings, NORMS[1:], ("l1", "l2")):
        # the l1 change is the same in both bases
        if (norm, setting["fairness"]) != (NORMS[2], "absolute") and (length, setting["basis"]) != (
            "l1",
            "matrix",
        ):
            yield AskedCase(
                f"the supremum over the {norm}, {length}, {_name(setting)}",
                {"kind": f"ball_{length}"} | setting | {"norm": norm},
            )
    for norm, fairness, adjacency, length in product(NORMS, FAIRNESS, ADJACENCIES, ("l1", "l2")):
        if (norm, fairness) != (NORMS[2], "absolute"):
            setting = _setting(2, fairness, adjacency, "monomial", "3") | {"norm": norm}
            yield AskedCase(
                f"data sets that attain the supremum over the {norm}, {length}, {_name(setting)}",
                {"kind": f"attaining_{length}"} | setting,
            )


def _name(setting: dict[str, str]) -> str:
    d, fairness, adjacency, basis = (setting[name] for name in ("dimension", "fairness", "adjacency", "basis"))
    return (
        f"d = {d}, {fairness}, {adjacency}, {basis}, alpha_1 = {setting['fairnessWeight']}, {setting['records']}"
    )


def _two(first: dict[str, Any], second: dict[str, Any], fairness: str) -> dict[str, Any]:
    names = ("x", "y") if fairness == "none" else ("x", "y", "z")
    shared = {"kind": "worst_pair", "fairness": fairness, "basis": "monomial", "fairnessWeight": "1"}
    return shared | {name: first[name] for name in names} | {f"{name}Neighbour": second[name] for name in names}


def _pair(name: str, d: int, fairness: str, adjacency: str) -> dict[str, Any]:
    full = objective_data(name, 4, d, "absolute")
    if adjacency == "replace_one":
        other = objective_data(f"neighbour of {name}", 4, d, "absolute")
        second = {key: [other[key][0], *full[key][1:]] for key in full}
        return _two(full, second, fairness)
    return _two({key: full[key][:2] for key in full}, {key: full[key][:1] for key in full}, fairness)


SIZES = ("1e-9", "1/1000", "1/10", "1", "10", "1000", "1e9")


def scales() -> Iterator[AskedCase]:
    """Yield the cases of Scale."""
    for epsilon, l1 in product(SIZES, ("1/3", "27/4", "1e6")):
        inputs = {"kind": "laplace", "l1Sensitivity": l1, "epsilon": epsilon}
        yield AskedCase(f"Delta_1 = {l1}, epsilon = {epsilon}", inputs)
    for epsilon, delta in product(SIZES, ("3/4", "1/10", "1e-5", "1e-15", "1e-100", "1e-300")):
        inputs = {
            "kind": "extended_gaussian",
            "l2SensitivitySquared": "289/16",
            "epsilon": epsilon,
            "delta": delta,
        }
        yield AskedCase(f"epsilon = {epsilon}, delta = {delta}", inputs)
    for epsilon, delta, squared in product(("1/10", "1", "8"), ("1/10", "1e-5"), ("1", "289/16")):
        inputs = {"kind": "analytic_gaussian", "l2SensitivitySquared": squared, "epsilon": epsilon, "delta": delta}
        yield AskedCase(f"the smallest sigma at epsilon = {epsilon}, delta = {delta}, {squared}", inputs, ERFC)
    for epsilon, delta in product(("1e-3", "1"), ("1e-100", "1e-300")):
        inputs = {"kind": "analytic_gaussian", "l2SensitivitySquared": "1", "epsilon": epsilon, "delta": delta}
        yield AskedCase(f"the smallest sigma far out: epsilon = {epsilon}, delta = {delta}", inputs, EXACT)
    yield from _mechanism_scales()
    for kind, epsilon, delta in (
        ("laplace", "0", "0"),
        ("laplace", "-1", "0"),
        ("extended_gaussian", "0", "1e-5"),
        ("extended_gaussian", "-1", "1e-5"),
        ("extended_gaussian", "1", "0"),
        ("extended_gaussian", "1", "9/10"),
        ("extended_gaussian", "1", "4/5"),
        ("extended_gaussian", "1", "-1/10"),
    ):
        size = {"l1Sensitivity": "1"} if kind == "laplace" else {"l2SensitivitySquared": "1", "delta": delta}
        yield AskedCase(
            f"{kind} is not defined at epsilon = {epsilon}, delta = {delta}",
            {"kind": kind, "epsilon": epsilon} | size,
        )
    for epsilon, delta, fact in (
        ("1", "9/10", "a delta that only Theorem 2 refuses"),
        ("1/2", "4/5", "a delta just above the largest of Theorem 2"),
        ("1", "0", "not without a delta"),
        ("1", "1", "not at delta = 1"),
        ("0", "1/10", "not at epsilon = 0"),
    ):
        inputs = {"kind": "analytic_gaussian", "l2SensitivitySquared": "1", "epsilon": epsilon, "delta": delta}
        yield AskedCase(f"the smallest sigma: {fact}", inputs, ERFC)


def _mechanism_scales() -> Iterator[AskedCase]:
    for mechanism, d, fairness in product(("functional", "relaxed_functional"), (1, 3, 14), ("none", "absolute")):
        budget = {"epsilon": "1/2"} | ({"delta": "1e-3"} if mechanism != "functional" else {})
        inputs = {"kind": "mechanism", "mechanism": mechanism, "dimension": str(d), "fairness": fairness}
        yield AskedCase(f"{mechanism}, d = {d}, {fairness}", inputs | budget)
    for mechanism, d, (epsilon_s, epsilon_n) in product(
        ("pdfc", "adfc"), (1, 2, 14), (("1", "1"), ("1/10", "1"), ("4", "1/4"))
    ):
        deltas = {"deltaS": "1e-4", "deltaN": "1e-3"} if mechanism == "adfc" else {}
        inputs = {"kind": "mechanism", "mechanism": mechanism, "dimension": str(d), "fairness": "absolute"}
        budget = {"epsilonS": epsilon_s, "epsilonN": epsilon_n}
        yield AskedCase(
            f"{mechanism}, d = {d}, epsilon_s = {epsilon_s}, epsilon_n = {epsilon_n}", inputs | budget | deltas
        )


def privacy() -> Iterator[AskedCase]:
    """Yield the cases of Privacy."""
    for mechanism, d, (s, n) in product(
        ("pdfc", "adfc"), (1, 2, 3, 14), (("1", "1"), ("1/10", "1"), ("4", "1/4"))
    ):
        deltas = ("1/1024", "1/64") if mechanism == "adfc" else ("0", "0")
        budget = {"epsilonS": s, "epsilonN": n, "deltaS": deltas[0], "deltaN": deltas[1]}
        inputs = {"kind": "claimed", "mechanism": mechanism, "dimension": str(d)}
        yield AskedCase(f"what {mechanism} claims, d = {d}, epsilon_s = {s}, epsilon_n = {n}", inputs | budget)
    for mechanism, delta in (("functional", "0"), ("relaxed_functional", "1/1024")):
        inputs = {"kind": "claimed", "mechanism": mechanism, "dimension": "3", "epsilon": "3/2", "delta": delta}
        yield AskedCase(f"what {mechanism} claims", inputs)
    for fairness, d, adjacency, s in product(FAIRNESS, (1, 2), ADJACENCIES, ("8", "16")):
        inputs = {"scaleS": s, "scaleN": "8"} | _setting(d, fairness, adjacency, "monomial")
        name = f"d = {d}, {fairness}, {adjacency}, scales {s} and 8"
        yield AskedCase(f"the exact loss of Laplace noise, {name}", {"kind": "exact_laplace"} | inputs)
        yield AskedCase(f"the longest shift of Gaussian noise, {name}", {"kind": "exact_shift"} | inputs)
    for shift, epsilon in product(("1/16", "1", "4", "25"), ("0", "1/2", "2", "6")):
        far = (Fraction(epsilon) / Fraction(shift)) > 16
        inputs = {"kind": "gaussian_delta", "squaredShift": shift, "epsilon": epsilon}
        yield AskedCase(f"delta at epsilon = {epsilon} for mu^2 = {shift}", inputs, EXACT if far else ERFC)
    for shift, delta in product(("1/100", "1", "4", "100"), ("1/10", "1e-5", "1e-12")):
        inputs = {"kind": "gaussian_epsilon", "squaredShift": shift, "delta": delta}
        yield AskedCase(
            f"epsilon at delta = {delta} for mu^2 = {shift}", inputs, EXACT if delta == "1e-12" else ERFC
        )
    for delta in ("1e-100", "1e-300"):
        inputs = {"kind": "gaussian_epsilon", "squaredShift": "1", "delta": delta}
        yield AskedCase(f"epsilon far out, at delta = {delta}", inputs, EXACT)
    for delta in ("0", "1"):
        inputs = {"kind": "gaussian_epsilon", "squaredShift": "1", "delta": delta}
        yield AskedCase(f"Gaussian noise has no finite epsilon to state at delta = {delta}", inputs, ERFC)


def accounting() -> Iterator[AskedCase]:
    """Yield the cases of Accounting."""
    for adjacency, scale, count in product(ADJACENCIES, ("1", "5/2", "16"), ("1", "4", "30")):
        shared = {"bound": "1", "adjacency": adjacency, "scale": scale, "count": count}
        yield AskedCase(f"{count} Laplace releases of scale {scale}, {adjacency}", {"kind": "laplace"} | shared)
        gaussian = {"kind": "gaussian", "delta": "1e-5"} | shared
        yield AskedCase(f"{count} Gaussian releases of sigma {scale}, {adjacency}", gaussian, ERFC)
    for adjacency, bound in product(ADJACENCIES, ("1/2", "3")):
        shared = {"bound": bound, "adjacency": adjacency, "scale": "4", "count": "2"}
        yield AskedCase(f"a record adds at most {bound}: Laplace, {adjacency}", {"kind": "laplace"} | shared)
        yield AskedCase(
            f"a record adds at most {bound}: Gaussian, {adjacency}",
            {"kind": "gaussian", "delta": "1e-3"} | shared,
            ERFC,
        )
    for number in range(12):
        stream, several = Stream(f"basic composition {number}"), 1 + number % 5
        deltas = ["0"] * several if number % 3 == 0 else stream.several(several, 0, 1, 64)
        inputs = {
            "kind": "basic",
            "epsilons": [str(stream.dyadic(0, 2) + 1) for _ in range(several)],
            "deltas": deltas,
        }
        yield AskedCase(f"basic composition of {several} statements, number {number}", inputs, DOUBLE)
    yield AskedCase(
        "deltas that add up to more than 1 stop at 1",
        {"kind": "basic", "epsilons": ["1", "1"], "deltas": ["3/4", "3/4"]},
    )
    for delta in ("0", "1"):
        shared = {"bound": "1", "adjacency": "replace_one", "scale": "1", "count": "1"}
        yield AskedCase(
            f"a Gaussian release has no epsilon at delta = {delta}",
            {"kind": "gaussian", "delta": delta} | shared,
            ERFC,
        )
