"""Cases about noisy objectives: perturbation and minimisation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from audit.vectors.cases.asked import AskedCase, Stream


def perturbations() -> Iterator[AskedCase]:
    """Yield the cases of Perturbation."""
    for noise, d, (scale_s, scale_n) in product(
        ("laplace", "gaussian"), (1, 2, 3, 4), (("3", "3"), ("1/2", "4"), ("16", "1/4"))
    ):
        name = f"{noise}, d = {d}, scales {scale_s} and {scale_n}"
        stream, size = Stream(name), d + d * (d + 1) // 2
        member = [str(int(v)) for v in _first(d)]
        yield AskedCase(
            name,
            _noisy(noise, stream.several(size, -4, 4), member, (scale_s, scale_n), stream.several(size, -3, 3)),
        )
    for noise in ("laplace", "gaussian"):
        scales = ("3", "3/2")
        yield AskedCase(
            f"zero variates give the coefficients back, {noise}",
            _noisy(noise, ["1", "-2"], ["1", "0"], scales, ["0", "0"]),
        )
        yield AskedCase(
            f"large variates, {noise}", _noisy(noise, ["1", "-2"], ["1", "0"], scales, ["40", "-1000000"])
        )
        yield AskedCase(
            f"tiny scales, {noise}", _noisy(noise, ["1", "-2"], ["1", "0"], ("1e-300", "1e-12"), ["1", "-1"])
        )
        yield AskedCase(
            f"coefficients of zero, {noise}", _noisy(noise, ["0", "0"], ["0", "0"], ("1", "7"), ["1/2", "-1/2"])
        )


def _first(d: int) -> list[bool]:
    return [e == 0 for e in range(d)] + [e == 0 for e in range(d) for _ in range(e, d)]


def _noisy(
    noise: str, values: list[str], member: list[str], scales: tuple[str, str], variates: list[str]
) -> dict[str, Any]:
    return {
        "noise": noise,
        "values": values,
        "inS": member,
        "scaleS": scales[0],
        "scaleN": scales[1],
        "unitVariates": variates,
    }


PLAIN = {
    "basis": "monomial",
    "repair": "none",
    "ballRadius": "10",
    "noise": "laplace",
    "scaleS": "1/16",
    "scaleN": "1/4",
    "fairnessWeight": "1",
    "tau": "0",
}

REPAIRS = ("none", "shift_and_trim", "trim", "ball")


def _definite(name: str, d: int, basis: str) -> dict[str, Any]:
    """Return an objective with a strong diagonal."""
    stream = Stream(name)
    quadratic = []
    for e in range(d):
        for k in range(d):
            if e == k:
                quadratic.append(str(2 * d + stream.dyadic(0, 2)))
            elif basis == "matrix" or e < k:
                quadratic.append(str(stream.dyadic(-1, 1)))
    return {"linear": stream.several(d, -4, 4), "quadratic": quadratic, "basis": basis}


def minimisers() -> Iterator[AskedCase]:
    """Yield the cases of Minimiser."""
    for d, basis, repair in product((1, 2, 3, 5), ("monomial", "matrix"), REPAIRS):
        name = f"positive definite, d = {d}, {basis}, {repair}"
        # with one coordinate every coefficient is in Phi_s: there is one scale
        scales = {"scaleS": "1/4"} if d == 1 else {}
        yield AskedCase(name, PLAIN | _definite(name, d, basis) | {"repair": repair} | scales)
    for (fact, objective), repair in product(INDEFINITE.items(), REPAIRS):
        scales = {"scaleS": "1/4"} if len(objective["linear"]) == 1 else {}
        yield AskedCase(f"{fact}, {repair}", PLAIN | objective | {"repair": repair} | scales)
    yield from _singular()
    yield from _shifted()
    yield from _balls()
    yield from _separate()
    yield from _kept()


INDEFINITE: dict[str, dict[str, Any]] = {
    "one negative eigenvalue": {"linear": ["1", "-2"], "quadratic": ["3", "1/2", "-5/2"]},
    "two negative eigenvalues": {"linear": ["1", "2", "-1"], "quadratic": ["4", "1/2", "1/4", "-3", "1/2", "-6"]},
    "a negative number": {"linear": ["3"], "quadratic": ["-2"]},
    "every eigenvalue negative": {"linear": ["1", "1"], "quadratic": ["-3", "1/4", "-4"]},
    "indefinite by its off-diagonal entry": {"linear": ["1", "-3"], "quadratic": ["1", "6", "1"]},
    "a small negative eigenvalue": {"linear": ["1", "-1"], "quadratic": ["2", "0", "-1/16"]},
}
"""Noisy objectives without a minimum."""


def _singular() -> Iterator[AskedCase]:
    for repair in REPAIRS[:3]:
        duplicate = {"linear": ["-2", "-2"], "quadratic": ["1", "2", "1"], "repair": repair}
        yield AskedCase(f"duplicate columns: the minimiser of least norm, {repair}", PLAIN | duplicate)
        falling = {"linear": ["-2", "-1"], "quadratic": ["1", "2", "1"], "repair": repair}
        yield AskedCase(f"a falling direction in the null space, {repair}", PLAIN | falling)
        flat = {"linear": ["0", "0"], "quadratic": ["0", "0", "0"], "repair": repair}
        yield AskedCase(f"the zero objective, {repair}", PLAIN | flat)
        missing = {"linear": ["-1", "0"], "quadratic": ["2", "0", "0"], "repair": repair}
        yield AskedCase(f"a column of zeros, {repair}", PLAIN | missing)
        slope = {"linear": ["1", "0"], "quadratic": ["0", "0", "0"], "repair": repair}
        yield AskedCase(f"a linear objective, {repair}", PLAIN | slope)
    three = {"linear": ["-3", "-3", "-3"], "quadratic": ["1", "2", "2", "1", "2", "1"]}
    yield AskedCase("three equal columns share their weight", PLAIN | three)


def _shifted() -> Iterator[AskedCase]:
    base = INDEFINITE["one negative eigenvalue"]
    for noise, scales in product(
        ("laplace", "gaussian"), (("1/16", "1/4"), ("1/4", "1/16"), ("1", "1"), ("1/64", "3"))
    ):
        changes = {"repair": "shift_and_trim", "noise": noise, "scaleS": scales[0], "scaleN": scales[1]}
        comment = f"the shift is four deviations of the noisier scale: {noise}, {scales[0]} and {scales[1]}"
        yield AskedCase(comment, PLAIN | base | changes)
    for number in range(8):
        name, d = f"random symmetric objective {number}", 2 + number % 3
        stream = Stream(name)
        objective = {"linear": stream.several(d, -3, 3), "quadratic": stream.several(d * (d + 1) // 2, -3, 3)}
        for repair in ("shift_and_trim", "trim"):
            yield AskedCase(f"{name}, {repair}", PLAIN | objective | {"repair": repair, "scaleN": "1/8"})


def _balls() -> Iterator[AskedCase]:
    for radius in ("1/8", "1/2", "1", "100"):
        inside = {"linear": ["-3", "1"], "quadratic": ["2", "1/2", "3"], "repair": "ball", "ballRadius": radius}
        yield AskedCase(f"a convex objective in the ball of radius {radius}", PLAIN | inside)
        saddle = {"linear": ["-3", "1"], "quadratic": ["2", "1/2", "-3"], "repair": "ball", "ballRadius": radius}
        yield AskedCase(f"a saddle in the ball of radius {radius}", PLAIN | saddle)
        mirror = {"linear": ["1/16", "0"], "quadratic": ["2", "0", "-1"], "repair": "ball", "ballRadius": radius}
        yield AskedCase(f"two mirror minimisers in the ball of radius {radius}", PLAIN | mirror)
    slope = {"linear": ["-3", "4"], "quadratic": ["0", "0", "0"], "repair": "ball", "ballRadius": "5"}
    yield AskedCase("a linear objective in the ball ends on the sphere", PLAIN | slope)


def _separate() -> Iterator[AskedCase]:
    for number, repair, weight in product(range(4), ("shift_and_trim", "trim"), ("1/4", "1", "16")):
        name, d = f"boundary covariance {number}", 2 + number % 2
        objective = _definite(name, d, "monomial")
        changes = {
            "covariance": Stream(f"g of {name}").several(d, -2, 2),
            "repair": repair,
            "fairnessWeight": weight,
        }
        yield AskedCase(f"{name}, {repair}, alpha_1 = {weight}", PLAIN | objective | changes)
    for tau in ("1/8", "1/2", "4"):
        objective = {"linear": ["-6", "2"], "quadratic": ["3", "1/2", "2"], "covariance": ["1", "-1"], "tau": tau}
        yield AskedCase(f"tau = {tau} moves the kink", PLAIN | objective)


DUPLICATE = {"quadratic": ["1", "2", "1"]}
"""Flat along (1, -1)."""

SINGULAR: dict[str, dict[str, Any]] = {
    "g has no flat part": DUPLICATE | {"linear": ["-2", "-2"], "covariance": ["1", "1"]},
    "g has no flat part, and c falls": DUPLICATE | {"linear": ["-2", "-1"], "covariance": ["1", "1"]},
    "g is flat: w moves along it to tau": DUPLICATE | {"linear": ["-2", "-2"], "covariance": ["1", "-1"]},
    "g stops the fall of c": DUPLICATE | {"linear": ["-2", "-1"], "covariance": ["3", "1"], "tau": "1/8"},
    "g is too small to stop the fall of c": DUPLICATE | {"linear": ["-2", "-1"], "covariance": ["1/4", "1/8"]},
    "g stops the fall on the other side": DUPLICATE | {"linear": ["1", "3"], "covariance": ["4", "1"]},
    "alpha is 0: g says nothing": DUPLICATE
    | {"linear": ["-2", "-2"], "covariance": ["1", "-1"], "fairnessWeight": "0"},
    "a column of zeros that only g has": {
        "linear": ["-1", "0"],
        "quadratic": ["2", "0", "0"],
        "covariance": ["0", "1"],
    },
    "a zero quadratic, g stops the fall": {
        "linear": ["-1/2", "-1"],
        "quadratic": ["0", "0", "0"],
        "covariance": ["1", "2"],
    },
    "a zero quadratic, c is not along g": {
        "linear": ["1/2", "0"],
        "quadratic": ["0", "0", "0"],
        "covariance": ["1", "2"],
    },
    "two flat directions, c falls along g": {
        "linear": ["-5/2", "-3", "-7/2"],
        "quadratic": ["1", "2", "2", "1", "2", "1"],
        "covariance": ["0", "1", "2"],
    },
    "two flat directions, c falls beside g": {
        "linear": ["-5/2", "-3", "-7/2"],
        "quadratic": ["1", "2", "2", "1", "2", "1"],
        "covariance": ["2", "1", "2"],
    },
}
"""Noisy objectives with flat directions and a covariance; where one has a minimum, |m| is below alpha."""


def _kept() -> Iterator[AskedCase]:
    """Yield cases that keep the covariance constraint without a shift, and in a ball."""
    for d, basis in product((2, 3, 5), ("monomial", "matrix")):
        name = f"covariance kept, positive definite, d = {d}, {basis}"
        given = {
            "covariance": Stream(f"g of {name}").several(d, -2, 2),
            "fairnessWeight": "1/4" if d == 3 else "3",
        }
        yield AskedCase(f"{name}, none", PLAIN | _definite(name, d, basis) | given | {"tau": "1/8"})
    for fact in ("one negative eigenvalue", "indefinite by its off-diagonal entry", "every eigenvalue negative"):
        for repair in ("none", "trim"):
            given = {"covariance": ["1", "-1/2"], "fairnessWeight": "2", "tau": "1/4", "repair": repair}
            yield AskedCase(f"covariance kept, {fact}, {repair}", PLAIN | INDEFINITE[fact] | given)
    for (fact, objective), repair in product(SINGULAR.items(), ("none", "trim")):
        yield AskedCase(
            f"covariance kept, {fact}, {repair}", PLAIN | {"tau": "1/2"} | objective | {"repair": repair}
        )
    ball = {"covariance": ["1", "-1"], "repair": "ball", "ballRadius": "1"}
    for fact, quadratic in (
        ("definite", ["3", "1/2", "2"]),
        ("indefinite", ["3", "1/2", "-2"]),
        ("singular", ["1", "2", "1"]),
    ):
        yield AskedCase(
            f"covariance kept in a ball, {fact}", PLAIN | {"linear": ["-3", "1"], "quadratic": quadratic} | ball
        )
