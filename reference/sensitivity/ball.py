"""Suprema of the l2 change on the unit ball and the symmetric ball; proofs in ``proofs/sensitivities_balls.md``.

Replacing a record gives rational closed forms in both bases, independent of d from d = 2 on.  Adding or
removing one does too, except for unequal weights in the monomial basis with `absolute` (and its symmetric
relatives), where the maximum over two angles is enclosed.
"""

from __future__ import annotations

from fractions import Fraction

from reference.sensitivity.angles import two_angles
from reference.sensitivity.setting import Setting, Supremum

HALF, SIXTY_FOURTH = Fraction(1, 2), Fraction(1, 64)


def weighted_l2_squared(setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Supremum:
    """Return sup of u_s |D_s|_2^2 + u_n |D_n|_2^2."""
    u_n = weight_n if setting.dimension > 1 else Fraction(0)
    if setting.replaces:
        return Supremum.exactly(_replace(setting, weight_s, u_n))
    return _add(setting, weight_s, u_n)


def _two_largest(d: int, u_s: Fraction, u_n: Fraction) -> tuple[Fraction, Fraction]:
    """Return the two largest weights of coordinates: one has u_s, the other d - 1 have u_n."""
    weights = [*sorted([u_s, *[u_n] * min(d - 1, 2)], reverse=True), Fraction(0)]
    return weights[0], weights[1]


def _replace(setting: Setting, u_s: Fraction, u_n: Fraction) -> Fraction:
    """Return the supremum for `replace_one` (Proposition 3): all of the change sits on one or two coordinates."""
    e = setting.drift
    first, second = _two_largest(setting.dimension, u_s, u_n)
    if setting.fairness == "none":
        return first
    aligned = setting.norm == "symmetric_ball"
    if setting.fairness == "separate":
        return first * (1 + 4 * e * e) if aligned else first * (1 + e * e) + second * e * e
    if setting.fairness == "absolute" or aligned:
        return first * (1 + 2 * e) ** 2
    return first * (1 + e) ** 2 + second * e * e


def _add(setting: Setting, u_s: Fraction, u_n: Fraction) -> Supremum:
    """Return the supremum for `add_or_remove_one` (Propositions 4 and 5)."""
    d, e, separate = setting.dimension, setting.drift, setting.fairness == "separate"
    first, second = _two_largest(d, u_s, u_n)
    # the mean of the other records can point along x (aligned) or must be orthogonal to it to help
    aligned = setting.fairness == "absolute" or (setting.norm == "symmetric_ball" and setting.fairness != "none")
    own = Fraction(1, 4) if separate else Fraction(0)
    along = e if separate else HALF + e
    if aligned:
        if setting.basis == "matrix":
            return Supremum.exactly(first * (own + (along + e) ** 2 + SIXTY_FOURTH))
        if u_s == u_n or d == 1:
            return Supremum.exactly(u_s * (own + (along + e) ** 2 + (2 - Fraction(1, d)) * SIXTY_FOURTH))
        if e == 0:
            return Supremum.exactly(_one_angle(u_s, u_n, own + along**2, d - 1))
        return two_angles(u_s, u_n, own, along, e, d - 1)
    linear = own + along**2
    if setting.basis == "matrix":
        return Supremum.exactly(first * (linear + SIXTY_FOURTH) + second * e * e)
    best = _one_angle(u_s, u_n, linear, d - 1)
    if d >= 2 and e > 0:
        best = max(
            best,
            u_n * e * e + _one_angle(u_s, u_n, linear, d - 2),
            u_s * e * e + u_n * (linear + (2 - Fraction(1, d - 1)) * SIXTY_FOURTH),
        )
    return Supremum.exactly(best)


def _one_angle(u_s: Fraction, u_n: Fraction, linear: Fraction, others: int) -> Fraction:
    """Return the maximum over p = x_s^2 in [0, 1], the rest of x spread evenly over `others` coordinates.

    u_s (linear p + (4p - 3p^2)/64) + u_n (linear (1 - p) + (1 - p)^2 (2 - 1/others)/64): a quadratic in p.
    """
    if others == 0:
        return u_s * (linear + SIXTY_FOURTH)
    spread = 2 - Fraction(1, others)

    def value(p: Fraction) -> Fraction:
        on_s = linear * p + (4 * p - 3 * p * p) * SIXTY_FOURTH
        off_s = linear * (1 - p) + (1 - p) ** 2 * spread * SIXTY_FOURTH
        return u_s * on_s + u_n * off_s

    candidates = [Fraction(0), Fraction(1)]
    curvature = 3 * u_s - spread * u_n
    if curvature > 0:
        stationary = (u_s * (64 * linear + 4) - u_n * (64 * linear + 2 * spread)) / (2 * curvature)
        candidates.append(max(Fraction(0), min(Fraction(1), stationary)))
    return max(value(p) for p in candidates)
