"""The checks of a certificate's epsilon(delta) curve, for :mod:`audit.evidence.verify`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from audit.auditor.curve import CURVE_DELTAS
from audit.bounds import ANYTIME_METHODS, METHODS, SMALLEST_SIGNIFICANCE, Method, epsilon_lower_bound
from audit.bounds.counts import LARGEST_EPSILON
from audit.evidence.ball_arithmetic import clopper_pearson_holds, joint_holds
from audit.evidence.certificate import Certificate, StoredCurve, StoredPoint
from audit.evidence.checks import Check

MOST_POINTS = len(CURVE_DELTAS) + 1
"""Most points of a curve: one for each of its deltas and for the claim's; checking each takes time."""

UNDERSTATED = 1e-6
"""A bound may be this much below what the counts give: other versions of the libraries round differently."""


def curve_checks(certificate: Certificate) -> Iterator[Check]:
    """Yield checks that a curve fits its certificate and its bounds follow from its counts; none without one."""
    curve = certificate.curve
    if curve is None:
        return
    fits = _fits(certificate, curve)
    yield Check("curve", fits, "levels, deltas and draws are possible, and those of the certificate")
    if not fits:
        return
    routes = {"joint": joint_holds, "clopper_pearson": clopper_pearson_holds}
    share = curve.significance / len(curve.points)
    method: Method = next(known for known in METHODS if known == curve.bound)
    held: list[bool | None] = [
        point.epsilon_lower_bound == 0
        or routes[method](point.counts, point.epsilon_lower_bound, point.delta, share)
        for point in curve.points
    ]
    # a failing one settles it, an open one leaves it open
    holds = False if False in held else None if None in held else True
    yield Check("curve arithmetic", holds, f"{len(held)} bounds, each at an equal share of the significance")
    given = [epsilon_lower_bound(point.counts, point.delta, share, method) for point in curve.points]
    short = [
        point.delta
        for point, bound in zip(curve.points, given, strict=True)
        if point.epsilon_lower_bound < bound - UNDERSTATED
    ]
    detail = f"too low at delta {short[0]:g}" if short else "no bound is less than its counts give"
    yield Check("whole curve", not short, detail)


def _fits(certificate: Certificate, curve: StoredCurve) -> bool:
    """Return whether the numbers are in range, and size and significance match the certificate."""
    size = certificate.counts.likely_draws, certificate.counts.unlikely_draws
    deltas = [point.delta for point in curve.points]
    return (
        certificate.method not in ANYTIME_METHODS
        and certificate.judged == "ideal"
        and curve.significance == certificate.request.significance
        and len(deltas) <= MOST_POINTS
        and curve.significance / len(deltas) >= SMALLEST_SIGNIFICANCE
        and curve.significance < 1
        and all(sooner < later for sooner, later in itertools.pairwise(deltas))
        and all(_possible(point, size) for point in curve.points)
    )


def _possible(point: StoredPoint, size: tuple[int, int]) -> bool:
    draws = {point.counts.likely_draws, point.counts.unlikely_draws}
    bound = point.epsilon_lower_bound
    return 0 <= point.delta < 1 and math.isfinite(bound) and 0 <= bound <= LARGEST_EPSILON and draws == set(size)
