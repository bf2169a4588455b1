"""The minimiser with 60 digits: eigenvectors by mpmath, candidates compared by their objective."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from audit.vectors.sources.numbers import WORK, Answer, RefusedError, around, from_work, number, numbers, to_work
from audit.vectors.sources.polynomial import pairs

Vector = list[Fraction]

ROUNDING = Fraction(1, 2**42)
"""Relative error of a linear solve in doubles with condition 1: a thousand roundings."""

SEARCH = Fraction(1, 2**30)
"""The same for the radius equation, which is solved by search."""

CURVED = WORK.mpf("1e-25")
"""Added to a singular quadratic, whose minimiser is then that of least norm, to as many digits."""

ENDLESS = WORK.mpf("1e15")
"""A longer minimiser, of an objective with so little curvature, runs away as the curvature goes to 0."""


class Problem:
    """c.u + sum lambda u^2 (+ weight |g.u - tau|) in the basis of eigenvectors."""

    def __init__(self, inputs: Answer) -> None:
        d = len(inputs["linear"])
        self.matrix = WORK.zeros(d)
        for (e, k), value in zip(pairs(d, inputs["basis"]), inputs["quadratic"], strict=True):
            self.matrix[e, k] += to_work(number(value)) / 2
            self.matrix[k, e] += to_work(number(value)) / 2
        self.linear = WORK.matrix([to_work(v) for v in numbers(inputs["linear"])])
        values, self.vectors = WORK.eigsy(self.matrix)
        self.eigenvalues = [values[i] for i in range(d)]
        self.along = self.vectors.T * self.linear
        self.covariance = WORK.matrix([to_work(v) for v in numbers(inputs.get("covariance", ["0"] * d))])
        self.weight, self.tau = to_work(number(inputs["fairnessWeight"])), to_work(number(inputs["tau"]))
        if inputs["repair"] == "shift_and_trim":
            scale = max(number(inputs["scaleS"]), number(inputs["scaleN"]))
            deviation = to_work(scale) * (WORK.sqrt(2) if inputs["noise"] == "laplace" else 1)
            self.eigenvalues = [value + 4 * deviation for value in self.eigenvalues]
            self.matrix += 4 * deviation * WORK.eye(d)

    def value(self, w: Any) -> tuple[Any, Any]:
        """Return the repaired objective at w, and the sum of its terms' sizes."""
        linear, square = (self.linear.T * w)[0], (w.T * self.matrix * w)[0]
        fair = self.weight * abs((self.covariance.T * w)[0] - self.tau)
        return linear + square + fair, abs(linear) + self.largest * (w.T * w)[0] + fair

    @property
    def largest(self) -> Any:
        """The largest absolute eigenvalue."""
        return max([abs(value) for value in self.eigenvalues] + [WORK.mpf(10) ** -100])

    @property
    def zero(self) -> Any:
        """Below this an eigenvalue counts as zero: 1e-12 of the largest."""
        return self.largest * WORK.mpf("1e-12")

    def solve(self, kept: list[int], multiplier: Any = 0) -> Any:
        """Return w = -S^+ (c + m g) / 2 on the kept eigenvectors."""
        right = self.along + multiplier * (self.vectors.T * self.covariance)
        u = WORK.zeros(len(self.eigenvalues), 1)
        for i in kept:
            u[i] = -right[i] / (2 * self.eigenvalues[i])
        return self.vectors * u

    def curve(self) -> list[int]:
        """Bend the flat directions a little, and return all directions."""
        self.matrix += CURVED * WORK.eye(len(self.eigenvalues))
        self.eigenvalues = [value + CURVED for value in self.eigenvalues]
        return list(range(len(self.eigenvalues)))

    def condition(self, kept: list[int]) -> Fraction:
        """Return how much the solve, and the choice of eigenvectors, magnify rounding of the matrix."""
        values = self.eigenvalues
        dropped = [values[i] for i in range(len(values)) if i not in kept]
        found = max([self.largest / abs(values[i]) for i in kept] or [WORK.mpf(1)])
        gaps = [abs(values[i] - other) for i in kept for other in dropped]
        return from_work(found + (self.largest / min(gaps) if gaps else 0))


def _plain(problem: Problem, inputs: Answer) -> tuple[Any, Fraction]:
    """Return w (None when unbounded) and its relative error."""
    values, zero = problem.eigenvalues, problem.zero
    kept = [i for i, value in enumerate(values) if value > zero]
    null = [i for i in range(len(values)) if i not in kept]
    penalised, spread = any(problem.covariance) and problem.weight > 0, ROUNDING * problem.condition(kept)
    if inputs["repair"] == "none":
        if any(value < -zero for value in values):
            return None, ROUNDING
        if penalised and null:
            kept = problem.curve()
        elif any(abs(problem.along[i]) > WORK.mpf("1e-9") * max(map(abs, problem.linear)) for i in null):
            return None, ROUNDING
    if not penalised:
        return problem.solve(kept), spread
    g = problem.covariance
    plus, minus = problem.solve(kept, problem.weight), problem.solve(kept, -problem.weight)
    start, slope = (g.T * problem.solve(kept))[0], (g.T * problem.solve(kept, WORK.mpf(1)))[0]
    between = problem.solve(kept, (problem.tau - start) / (slope - start)) if slope != start else plus
    # on each side of the kink, and on the kink: the lowest of the three is the minimum
    best = min((plus, minus, between), key=lambda w: problem.value(w)[0])
    return None if WORK.norm(best) > ENDLESS else best, 64 * spread


def _in_ball(problem: Problem, radius: Any) -> tuple[Any, bool]:
    """Return w inside the ball, and whether a mirror image is as good."""
    values, along = problem.eigenvalues, problem.along
    inside = [i for i, value in enumerate(values) if value > problem.zero]
    if len(inside) == len(values):
        w = problem.solve(inside)
        if WORK.norm(w) <= radius:
            return w, False
    lowest = min(values)
    start = max(WORK.mpf(0), -lowest)
    bottom = [i for i, value in enumerate(values) if value - lowest <= problem.zero]

    def point(multiplier: Any) -> Any:
        return WORK.matrix([-a / (2 * (v + multiplier)) if a else 0 for a, v in zip(along, values, strict=True)])

    tiny = WORK.mpf("1e-40")
    if start > 0 and all(abs(along[i]) < tiny for i in bottom):
        for i in bottom:
            along[i] = WORK.mpf(0)
        rest = WORK.matrix([0 if i in bottom else -along[i] / (2 * (v + start)) for i, v in enumerate(values)])
        if WORK.norm(rest) <= radius:
            rest[bottom[0]] = WORK.sqrt(radius**2 - WORK.norm(rest) ** 2)
            return problem.vectors * rest, True
    low, high = start, start + WORK.norm(along) / (2 * radius) + 1
    for _ in range(220):
        middle = (low + high) / 2
        low, high = (middle, high) if WORK.norm(point(middle)) > radius else (low, middle)
    return problem.vectors * point(high), False


def minimum(inputs: Answer) -> tuple[str, Vector | None, Fraction, Answer]:
    """Return the status, w (None: unbounded, or not unique), its absolute error, and the objective's enclosure.

    Raises
    ------
    RefusedError
        If the covariance is kept in a ball: the paper's objective may have several minima there.
    """
    problem, unique = Problem(inputs), True
    if inputs["repair"] == "ball":
        if "covariance" in inputs:
            raise RefusedError("Reading")
        w, mirrored = _in_ball(problem, to_work(number(inputs["ballRadius"])))
        spread, unique = SEARCH, not mirrored
    else:
        w, spread = _plain(problem, inputs)
        if w is None:
            return "unbounded", None, spread, {}
    value, size = problem.value(w)
    longest = max([from_work(abs(v)) for v in w] + [Fraction(1, 10**12)])
    error = from_work(size) * max(ROUNDING, spread) * 8 + Fraction(1, 10**300)
    objective = {"objective": around(from_work(value), error)}
    return "ok", [from_work(v) for v in w] if unique else None, spread * longest, objective


def answer_minimiser(inputs: Answer) -> Answer:
    """Answer a case of Minimiser; if a mirror image is as good, only with the objective."""
    status, w, spread, objective = minimum(inputs)
    answer: Answer = {"status": status}
    if w is not None:
        answer["w"] = [around(v, spread) for v in w]
    return answer | objective
