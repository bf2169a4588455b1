"""Bugs of scales and noise."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from audit.vectors.mutants.broken import Broken
from audit.vectors.steps import LAPLACE, Answer
from reference.common.arrays import FloatArray
from reference.common.numbers import exact
from reference.noise import Noise
from reference.noise.scales import extended_logarithm


class InvertedLaplaceScale(Broken):
    """The Laplace scale is epsilon / Delta_1.

    More privacy asked for, less noise added.
    """

    bug_type = "KNOWN_BUG"
    claims = ("T1",)

    def laplace_scale(self, l1_sensitivity: Fraction, epsilon: Fraction) -> float:
        return float(epsilon / l1_sensitivity)


class WholeEpsilonForEach(Broken):
    """Every coefficient spends the whole epsilon: the scale counts one coefficient's share of Delta_1.

    The true loss is the number of coefficients times epsilon.
    """

    bug_type = "KNOWN_BUG"
    claims = ("T1", "T3")

    def scales(self, inputs: Answer, dimension: int) -> tuple[float, float]:
        scale_s, scale_n = super().scales(inputs, dimension)
        count = dimension + dimension * (dimension + 1) // 2 if inputs["mechanism"] in LAPLACE else 1
        return scale_s / count, scale_n / count


class L2ForLaplace(Broken):
    """Laplace noise is calibrated to the l2-sensitivity.

    Too little noise by a factor that grows with d, up to twelve times among the cases.
    """

    bug_type = "KNOWN_BUG"
    claims = ("T1", "T3")

    def scales(self, inputs: Answer, dimension: int) -> tuple[float, float]:
        scale_s, scale_n = super().scales(inputs, dimension)
        if inputs["mechanism"] not in LAPLACE:
            return scale_s, scale_n
        l2 = math.sqrt(self.published_l2_squared(inputs["fairness"], dimension))
        factor = l2 / float(self.published_l1(inputs["fairness"], dimension))
        return factor * scale_s, factor * scale_n


class BudgetsSwapped(Broken):
    """The budget of Phi_s is used for Phi_n and the other way round.

    x_s is protected less than the others instead of more.
    """

    bug_type = "BUDGET"
    claims = ("T3", "T5")

    def scales(self, inputs: Answer, dimension: int) -> tuple[float, float]:
        scale_s, scale_n = super().scales(inputs, dimension)
        return scale_n, scale_s


class OneScaleForBoth(Broken):
    """Both sets of coefficients get the scale of Phi_n.

    x_s has no protection of its own.
    """

    bug_type = "BUDGET"
    claims = ("T3", "T5")

    def scales(self, inputs: Answer, dimension: int) -> tuple[float, float]:
        _, scale_n = super().scales(inputs, dimension)
        return scale_n, scale_n


class OneDeltaForBoth(Broken):
    """delta_n is used for Phi_s, too.

    sigma_s is not the stated one.
    """

    bug_type = "BUDGET"
    claims = ("T5",)

    def scales(self, inputs: Answer, dimension: int) -> tuple[float, float]:
        return super().scales(inputs | ({"deltaS": inputs["deltaN"]} if "deltaN" in inputs else {}), dimension)


class EpsilonNotChecked(Broken):
    """An epsilon of 0 or less is taken without its sign, or as 1.

    A typing error becomes a release.
    """

    bug_type = "MALFORMED"

    def budget(self, inputs: Answer, part: str) -> tuple[Fraction, Fraction]:
        given = abs(exact("epsilon", inputs[f"epsilon{part}"])) or Fraction(1)
        return super().budget(inputs | {f"epsilon{part}": str(given)}, part)


class RootOfTwoForgotten(Broken):
    """sigma lacks the factor sqrt(2) / 2 of Theorem 2.

    More noise than stated: the formula was taken from another paper's Delta_2.
    """

    bug_type = "BASIC"
    claims = ("T2",)

    def gaussian_sigma(self, l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
        return super().gaussian_sigma(2 * l2_sensitivity_squared, epsilon, delta)


class ClassicalGaussian(Broken):
    """sigma is the classical sqrt(2 log(1.25/delta)) Delta_2 / epsilon.

    Not private for epsilon above 1, too noisy below.
    """

    bug_type = "KNOWN_BUG"
    claims = ("T2",)

    def gaussian_sigma(self, l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
        super().gaussian_sigma(l2_sensitivity_squared, epsilon, delta)
        logarithm = math.log(1.25) - math.log(delta.numerator) + math.log(delta.denominator)
        return math.sqrt(2 * logarithm) * math.sqrt(l2_sensitivity_squared) / float(epsilon)


class EpsilonOutsideRoot(Broken):
    """The second root of Theorem 2's sigma lacks its epsilon.

    Too little noise where epsilon is large.
    """

    bug_type = "BASIC"
    claims = ("T2",)

    def gaussian_sigma(self, l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
        super().gaussian_sigma(l2_sensitivity_squared, epsilon, delta)
        logarithm = max(0.0, float(extended_logarithm(delta).upper))
        return math.sqrt(2 * l2_sensitivity_squared) * math.sqrt(logarithm) / float(epsilon)


class DecimalLogarithm(Broken):
    """The logarithm of Theorem 2's sigma has base 10.

    Too little noise by a factor of about 1.5.
    """

    bug_type = "BASIC"
    claims = ("T2",)

    def gaussian_sigma(self, l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
        super().gaussian_sigma(l2_sensitivity_squared, epsilon, delta)
        logarithm, e = max(0.0, float(extended_logarithm(delta).upper)) / math.log(10), float(epsilon)
        return math.sqrt(2 * l2_sensitivity_squared) / (2 * e) * (math.sqrt(logarithm) + math.sqrt(logarithm + e))


class DeltaHalved(Broken):
    """Theorem 2's sigma is computed for half of delta.

    More noise than stated: one of two tails was counted once too often.
    """

    bug_type = "BASIC"
    claims = ("T2",)

    def gaussian_sigma(self, l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
        super().gaussian_sigma(l2_sensitivity_squared, epsilon, delta)
        return super().gaussian_sigma(l2_sensitivity_squared, epsilon, delta / 2)


class AnalyticWithinTheorem2(Broken):
    """The smallest sigma is refused above sqrt(2/pi), where only the logarithm of Theorem 2 is negative.

    A right budget is refused.
    """

    bug_type = "EDGE_CASE"

    def analytic_sigma(self, l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
        self.gaussian_sigma(l2_sensitivity_squared, epsilon, delta)
        return super().analytic_sigma(l2_sensitivity_squared, epsilon, delta)


class TinyDeltaRoundedUp(Broken):
    """A delta below 1e-16 counts as 1e-16, as 1 - (1 - delta) in doubles has it.

    A stated delta of 1e-300 is not kept.
    """

    bug_type = "ROUNDING"
    claims = ("T2",)

    def gaussian_sigma(self, l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
        return super().gaussian_sigma(
            l2_sensitivity_squared, epsilon, max(delta, Fraction(1, 10**16)) if delta > 0 else delta
        )


class LargeDeltaAccepted(Broken):
    """A delta above sqrt(2/pi), where sigma's logarithm is negative, is taken with logarithm 0.

    A sigma that no theorem covers.
    """

    bug_type = "EDGE_CASE"
    claims = ("T2",)

    def gaussian_sigma(self, l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
        if delta <= Fraction(79, 100):
            return super().gaussian_sigma(l2_sensitivity_squared, epsilon, delta)
        return math.sqrt(2 * l2_sensitivity_squared) / (2 * float(epsilon)) * math.sqrt(float(epsilon))


class AnalyticFromTheorem(Broken):
    """The smallest sigma is taken from Theorem 2's formula instead of Balle and Wang's condition.

    More noise than needed.
    """

    bug_type = "BASIC"
    claims = ("T2",)

    def analytic_sigma(self, l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
        return self.gaussian_sigma(l2_sensitivity_squared, epsilon, delta)


def _with_scales(noise: Noise, change: float, power: float = 1.0) -> Noise:
    return replace(noise, scale_s=change * noise.scale_s**power, scale_n=change * noise.scale_n**power)


class SigmaAsVariance(Broken):
    """sigma is handed to a sampler that takes a variance: the noise is sqrt(sigma) times the variate.

    Too little noise wherever sigma is above 1.
    """

    bug_type = "KNOWN_BUG"
    claims = ("T2",)

    def perturb(self, values: FloatArray, noise: Noise, variates: FloatArray) -> FloatArray:
        root = noise.kind == "gaussian"
        return super().perturb(values, _with_scales(noise, 1.0, 0.5) if root else noise, variates)


class VarianceAsSigma(Broken):
    """The variance is handed to a sampler that takes a standard deviation: sigma^2 times the variate.

    Far too much noise where sigma is above 1, too little below.
    """

    bug_type = "KNOWN_BUG"
    claims = ("T2",)

    def perturb(self, values: FloatArray, noise: Noise, variates: FloatArray) -> FloatArray:
        squared = noise.kind == "gaussian"
        return super().perturb(values, _with_scales(noise, 1.0, 2.0) if squared else noise, variates)


class LaplaceScaleAsDeviation(Broken):
    """The Laplace scale is taken for the standard deviation, which is sqrt(2) scales.

    The noise is 1.4 times too small.
    """

    bug_type = "RANDOMNESS"
    claims = ("T1",)

    def perturb(self, values: FloatArray, noise: Noise, variates: FloatArray) -> FloatArray:
        laplace = noise.kind == "laplace"
        return super().perturb(values, _with_scales(noise, math.sqrt(0.5)) if laplace else noise, variates)


class ScaleAsRate(Broken):
    """The scale is handed to a sampler that takes a rate: the variate is divided by it.

    The more noise was asked for, the less there is.
    """

    bug_type = "RANDOMNESS"
    claims = ("T1",)

    def perturb(self, values: FloatArray, noise: Noise, variates: FloatArray) -> FloatArray:
        return super().perturb(values, _with_scales(noise, 1.0, -1.0), variates)


class NoiseAveragedOverHalves(Broken):
    """Noise is added to one half of the symmetric matrix, which is then averaged with the other half.

    Interactions carry half the noise.
    """

    bug_type = "KNOWN_BUG"

    def perturb(self, values: FloatArray, noise: Noise, variates: FloatArray) -> FloatArray:
        d = round((math.sqrt(9 + 8 * len(values)) - 3) / 2)
        if d + d * (d + 1) // 2 != len(values):
            return super().perturb(values, noise, variates)
        rows, columns = np.triu_indices(d)
        halved = np.concatenate([np.ones(d), np.where(rows == columns, 1.0, 0.5)])
        return super().perturb(values, noise, variates * halved)


class SharedNoise(Broken):
    """One variate is drawn and added to every coefficient.

    Differences of coefficients carry no noise at all.
    """

    bug_type = "RANDOMNESS"

    def perturb(self, values: FloatArray, noise: Noise, variates: FloatArray) -> FloatArray:
        return super().perturb(values, noise, np.full_like(variates, variates[0]))


class NoiseGroupsSwapped(Broken):
    """The noise of Phi_s is added to Phi_n and the other way round.

    x_s is protected less than the others instead of more.
    """

    bug_type = "RANDOMNESS"
    claims = ("T3", "T5")

    def perturb(self, values: FloatArray, noise: Noise, variates: FloatArray) -> FloatArray:
        return super().perturb(values, replace(noise, in_s=~noise.in_s), variates)


class QuadraticNotPerturbed(Broken):
    """Only the linear coefficients get noise.

    The quadratic ones are released as they are.
    """

    bug_type = "MISSING_STEP"

    def perturb(self, values: FloatArray, noise: Noise, variates: FloatArray) -> FloatArray:
        d = round((math.sqrt(9 + 8 * len(values)) - 3) / 2)
        if d + d * (d + 1) // 2 != len(values):
            return super().perturb(values, noise, variates)
        return super().perturb(values, noise, np.concatenate([variates[:d], np.zeros(len(values) - d)]))


class NoiseMultiplied(Broken):
    """The coefficient is multiplied by 1 + noise instead of added to it.

    A coefficient of 0 is released without noise.
    """

    bug_type = "RANDOMNESS"

    def perturb(self, values: FloatArray, noise: Noise, variates: FloatArray) -> FloatArray:
        return values * super().perturb(np.ones_like(values), noise, variates)


class NoiseAddedTwice(Broken):
    """Noise is added to the coefficients, and once more before they are used.

    Twice the noise that was paid for.
    """

    bug_type = "RANDOMNESS"

    def perturb(self, values: FloatArray, noise: Noise, variates: FloatArray) -> FloatArray:
        return super().perturb(super().perturb(values, noise, variates), noise, variates)
