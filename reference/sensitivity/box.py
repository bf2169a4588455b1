"""Exact suprema on the unit box [0, 1]^d: rational closed forms, proved in ``proofs/sensitivities_box.md``.

Notation of the proof: A bounds the linear change of one coordinate when x' = 1 and x = 0; q in [0, 1]^d is the
smaller of the two records, coordinate by coordinate.
"""

from __future__ import annotations

from fractions import Fraction

from reference.sensitivity.setting import Setting, Supremum


def linear_change(setting: Setting) -> Fraction:
    """Return A: 1/2, plus twice the drift for `absolute`, plus the drift for `covariance`.

    For `separate` the fairness term is released apart and A = 1/2.
    """
    multiple = {"none": 0, "absolute": 2, "covariance": 1, "separate": 0}[setting.fairness]
    return Fraction(1, 2) + multiple * setting.drift


def weighted_l1(setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Supremum:
    """Return sup of w_s |D_s|_1 + w_n |D_n|_1, the same in both bases (Proposition 1)."""
    d, w_s, w_n = setting.dimension, weight_s, weight_n
    # `separate` adds the drift of one covariance coefficient to each linear one
    linear = linear_change(setting) + (setting.drift if setting.fairness == "separate" else 0)
    value = (w_s + (d - 1) * w_n) * linear + (w_s * (2 * d - 1) + w_n * (d - 1) ** 2) / 8
    if setting.replaces:
        value += _replacement_gain(d, w_s, w_n)
    return Supremum.exactly(value)


def _replacement_gain(d: int, w_s: Fraction, w_n: Fraction) -> Fraction:
    """Return the most that the replaced record adds.

    The maximum of w_s (q_s/2 - (q_s^2 + 2 q_s t)/8) + w_n (t/2 - t^2/8) over q_s in [0, 1] and t in [0, d - 1],
    the sum of the other q's.
    The maximum lies on an edge of the rectangle, where the function is concave in one variable.
    """
    last = Fraction(d - 1)
    candidates = [(Fraction(q_s), t) for q_s in (0, 1) for t in (Fraction(0), last)]
    if w_n > 0:
        candidates += [(Fraction(q_s), _clip(2 - w_s / w_n * q_s, Fraction(0), last)) for q_s in (0, 1)]
    candidates += [(_clip(2 - t, Fraction(0), Fraction(1)), t) for t in (Fraction(0), last)]
    return max(w_s * (q / 2 - (q * q + 2 * q * t) / 8) + w_n * (t / 2 - t * t / 8) for q, t in candidates)


def weighted_l2_squared(setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Supremum:
    """Return sup of u_s |D_s|_2^2 + u_n |D_n|_2^2 (Proposition 2).

    A maximising q is a vertex; by symmetry only q_s and the number k of other ones matter.
    """
    d, u_s, u_n = setting.dimension, weight_s, weight_n
    a = linear_change(setting)
    apart = setting.drift**2 if setting.fairness == "separate" else Fraction(0)
    # squared change of an off-diagonal pair, shared between its two orders
    off_diagonal = Fraction(1, 32) if setting.basis == "monomial" else Fraction(1, 64)
    linear = {q: (a + Fraction(q, 2)) ** 2 + apart for q in (0, 1)}
    best = Fraction(-1)
    for q_s in (0, 1) if setting.replaces else (0,):
        for k in range(d) if setting.replaces else (0,):
            # pairs (s, l) and (l, s), and ordered pairs of others, of which not both records hold a 1
            with_s = 2 * (d - 1 - q_s * k)
            without_s = (d - 1) * (d - 2) - k * (k - 1)
            value = u_s * (linear[q_s] + Fraction(1 - q_s, 64))
            value += u_n * (k * linear[1] + (d - 1 - k) * (linear[0] + Fraction(1, 64)))
            value += off_diagonal * (u_s * with_s + u_n * without_s)
            best = max(best, value)
    return Supremum.exactly(best)


def _clip(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    return max(low, min(high, value))
