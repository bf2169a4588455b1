"""Suprema on the balls from below: records climb from many starts, without closed forms.

The reference gives them from above, by its proofs.  Where both meet, that is the supremum.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from audit.vectors.sources.numbers import Answer, number

Floats = npt.NDArray[np.float64]

STARTS = 8
"""Starts for each choice of labels and direction of drift."""

STEPS = 140

MOMENTUM = 0.9
"""Share of the last move to repeat: if a and o have to turn together, single moves are short."""


class _Climb:
    """N - 1 records at `o`; a record `b` is replaced by `a`, or `a` is added: the change of all coefficients."""

    def __init__(self, inputs: Answer, power: int) -> None:
        self.fairness, self.power = inputs["fairness"], power
        self.positive = inputs["norm"] == "unit_ball"
        self.replaces = inputs["adjacency"] == "replace_one"
        records, weight = inputs["records"], float(number(inputs["fairnessWeight"]))
        self.nu = 1.0 if records == "limit" else (int(records) - 1) / int(records)
        self.alpha = {"absolute": weight, "covariance": weight}.get(self.fairness, 0.0)
        self.d = int(inputs["dimension"])
        # of the squares of a symmetric matrix: 2 (2 x)^2/2 for a pair in the monomial basis
        twice = 2.0 if inputs["basis"] == "monomial" and power == 2 else 1.0
        self.weights = np.where(np.eye(self.d) > 0, 1.0, twice)
        # step lengths: the gain of an added record is convex, and allows long ones
        steep = 4.0 * (1.0 + self.alpha) ** 2 + 1.0 if self.replaces else 0.05
        self.size = steep if power == 2 else 1.0

    def inside(self, rows: Floats) -> Floats:
        """Return the nearest records of the ball."""
        rows = np.maximum(rows, 0.0) if self.positive else rows
        length: Floats = np.sqrt((rows**2).sum(axis=1, keepdims=True))
        return rows / np.maximum(length, 1.0)

    def top(self) -> float:
        """Return the largest change reached."""
        random = np.random.default_rng(20240001 + self.d)
        choices = np.array([(y, before, side) for y in (0, 1) for before in (0, 1) for side in (1, -1)], float)
        to, back, side = np.repeat(choices, STARTS, axis=0).T[:, :, None]
        a, b, o = (self.inside(random.normal(size=(len(to), self.d)) * 2) for _ in range(3))
        b = b if self.replaces else np.zeros_like(b)
        joint = 1.0 if self.fairness == "absolute" else -1.0
        side = np.ones_like(side) if self.fairness == "absolute" else side
        best, last = 0.0, (a, b, o)
        for _ in range(STEPS):
            fair = side * self.nu * (a + joint * o)
            linear = (0.5 - to) * a - (0.5 - back) * b + self.alpha * fair
            apart = fair if self.fairness == "separate" else np.zeros_like(fair)
            square = (a[:, :, None] * a[:, None, :] - b[:, :, None] * b[:, None, :]) / 8
            parts = (linear, apart, square)
            if self.power == 1:
                sizes, slopes = [np.abs(v) for v in parts], [np.sign(v) for v in parts]
            else:
                sizes, slopes = [v**2 for v in parts], [2 * v for v in parts]
            reached = sizes[0].sum(axis=1) + sizes[1].sum(axis=1) + (self.weights * sizes[2]).sum(axis=(1, 2))
            best = max(best, float(reached.max()))
            bent = self.weights * slopes[2] / 4
            drift = side * self.nu * (self.alpha * slopes[0] + (slopes[1] if self.fairness == "separate" else 0.0))
            up_a = (0.5 - to) * slopes[0] + drift + (bent @ a[:, :, None])[:, :, 0]
            up_b = -(0.5 - back) * slopes[0] - (bent @ b[:, :, None])[:, :, 0]
            moved = (
                self.inside(self.inside(now + up / self.size) + MOMENTUM * (now - before))
                for now, before, up in zip((a, b, o), last, (up_a, up_b, joint * drift), strict=True)
            )
            last = (a, b, o)
            a, b, o = moved
            b = b if self.replaces else last[1]
        return best


@lru_cache(maxsize=512)
def _top(items: tuple[tuple[str, str], ...], power: int) -> float:
    return _Climb(dict(items), power).top()


def ball_supremum(inputs: Answer, power: int) -> float:
    """Return the largest sum of |change| (or its square) that records of a ball reach."""
    names = ("fairness", "norm", "adjacency", "records", "fairnessWeight", "dimension", "basis")
    items = {name: inputs[name] for name in names} | ({"basis": "matrix"} if power == 1 else {})
    if inputs["fairness"] == "none":
        # no mean moves
        items |= {"records": "limit", "fairnessWeight": "1"}
    return _top(tuple(sorted(items.items())), power)
