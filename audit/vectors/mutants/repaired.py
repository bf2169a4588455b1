"""Bugs of the repaired mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from scipy.linalg import inv

from audit.vectors.mutants.broken import Broken
from audit.vectors.repaired_steps import Curve, Pair, cells_domain
from reference.budgets import Budget
from reference.common.arrays import BoolArray, FloatArray
from reference.domain import Domain
from reference.repaired import Schedule
from reference.repaired.spent import Change
from reference.repaired.threshold import Probe

GRID = 2**20


def _logistic(scores: FloatArray) -> FloatArray:
    found: FloatArray = 1 / (1 + np.exp(-scores))
    return found


class LabelSumsMoveOnce(Broken):
    """A flipped label is said to move one half of the sums by label, not both.

    The scale is sqrt(2) too small, or half of what Laplace noise needs.
    """

    bug_type = "SENSITIVITY"
    claims = ("R.counts",)

    def record_change(self, name: str, domain: Domain, zbar: Fraction) -> Change:
        found = super().record_change(name, domain, zbar)
        if name != "label_sums":
            return found
        return Change(found.l1_sensitivity / 2, found.l2_sensitivity_squared / 2)


class NegativeEntriesForgotten(Broken):
    """The sums by label are accounted in the symmetric ball as if no entry were negative.

    x and -x with the same label are farther apart: sigma is sqrt(2) too small.
    """

    bug_type = "SENSITIVITY"
    claims = ("R.counts",)

    def record_change(self, name: str, domain: Domain, zbar: Fraction) -> Change:
        found = super().record_change(name, domain, zbar)
        return found._replace(l2_sensitivity_squared=Fraction(2)) if name == "label_sums" else found


class GradientLengthForL1(Broken):
    """The l1-sensitivity of a gradient is taken for its l2-sensitivity, 1.

    Laplace noise is sqrt(m) too small for m attributes.
    """

    bug_type = "SENSITIVITY"
    claims = ("R.gradient",)

    def record_change(self, name: str, domain: Domain, zbar: Fraction) -> Change:
        found = super().record_change(name, domain, zbar)
        return found._replace(l1_sensitivity=Fraction(1)) if name == "gradient" else found


class ProbeOfTheSmallerGroup(Broken):
    """A probe is accounted by min(zbar, 1 - zbar).

    A record of the larger group's weight moves it by more: too little noise.
    """

    bug_type = "SENSITIVITY"
    claims = ("R.probe",)

    def record_change(self, name: str, domain: Domain, zbar: Fraction) -> Change:
        found = super().record_change(name, domain, zbar)
        return Change(min(zbar, 1 - zbar), min(zbar, 1 - zbar) ** 2) if name == "imbalance" else found


class ShareForgotten(Broken):
    """Every release takes the whole budget.

    As many times the stated privacy is lost as there are releases.
    """

    bug_type = "BUDGET"
    claims = ("R",)

    def planned_scale(self, budget: Budget, change: Change, share: Fraction) -> float:
        return super().planned_scale(budget, change, Fraction(1))


class ShareOfSigma(Broken):
    """Sigma is divided by the share, where the share is one of mu^2: its root belongs there.

    More noise than is paid for.
    """

    bug_type = "BUDGET"
    claims = ("R",)

    def planned_scale(self, budget: Budget, change: Change, share: Fraction) -> float:
        return super().planned_scale(budget, change, share**2 if budget.delta else share)


class RoundsWithoutLimit(Broken):
    """The number of rounds is not limited to 40.

    The budget is spread over more gradients than help.
    """

    bug_type = "BUDGET"

    def schedule(self, domain: Domain, n: int, budget: Budget, fairness: str) -> Schedule:
        found = super().schedule(domain, n, budget, fairness)
        return replace(found, label_rounds=found.label_rounds + 5 * (found.label_rounds == 40))


class GroupModelUnpaid(Broken):
    """The model of the group is left out of the schedule, so that the model of the label gets its share.

    More than the whole budget is spent, or the group has no model.
    """

    bug_type = "BUDGET"

    def schedule(self, domain: Domain, n: int, budget: Budget, fairness: str) -> Schedule:
        found = super().schedule(domain, n, budget, fairness)
        return replace(found, label_model=found.label_model + found.group_model)


class LossNotSquared(Broken):
    """Gaussian releases are added up by Delta_2 / sigma, not by its square.

    The loss is overstated; with one release it is right by chance only where it is 1.
    """

    bug_type = "BUDGET"
    claims = ("R",)

    def loss(self, budget: Budget, changes: Sequence[Change], scales: Sequence[float]) -> Fraction:
        if not budget.delta:
            return super().loss(budget, changes, scales)
        lengths = (float(one.l2_sensitivity_squared) ** 0.5 / b for one, b in zip(changes, scales, strict=True))
        return Fraction(sum(lengths))


class ResidualNotCapped(Broken):
    """The residual of the plain logistic loss is used: it is not capped at 1/2.

    A record that is predicted wrongly with confidence moves the gradient by up to twice what is accounted.
    """

    bug_type = "SENSITIVITY"
    claims = ("R.gradient",)

    def gradient(self, x: FloatArray, target: FloatArray, w: FloatArray) -> FloatArray:
        found: FloatArray = np.trunc((_logistic(x @ w) - target) * GRID) / GRID @ x
        return found


class ResidualNotOnGrid(Broken):
    """Residuals are not rounded towards zero to multiples of 2^-20.

    Sums of them are not multiples of 2^-40: discrete noise on that grid hides less than is stated.
    """

    bug_type = "ROUNDING"
    claims = ("R.gradient",)

    def gradient(self, x: FloatArray, target: FloatArray, w: FloatArray) -> FloatArray:
        found: FloatArray = np.clip(_logistic(x @ w) - target, -0.5, 0.5) @ x
        return found


class FirstGradientNotHalved(Broken):
    """The difference of the sums by label is taken for the gradient at 0, which is half of it.

    The first step is twice too long.
    """

    bug_type = "POSTPROCESSING"

    def first_gradient(self, counts: FloatArray) -> FloatArray:
        return 2 * super().first_gradient(counts)


class BlocksForgotten(Broken):
    """The columns of a one-hot attribute are taken for independent attributes.

    The curvature is wrong: two of its columns are never 1 together.
    """

    bug_type = "POSTPROCESSING"

    def second_moments(self, counts: FloatArray, domain: Domain, n: int) -> FloatArray:
        plain = Domain.of_columns([f"c{i}" for i in range(len(counts) // 2)])
        found: FloatArray = super().second_moments(counts / domain.column_factor, plain, n)
        return found * domain.column_factor**2


class RidgeForgotten(Broken):
    """The curvature gets no ridge for the noise.

    Directions with little curvature follow the noise.
    """

    bug_type = "MISSING_STEP"

    def preconditioner(self, second_moments: FloatArray, deviation: float, domain: Domain) -> FloatArray:
        return super().preconditioner(second_moments, 1e-6, domain)


def _with_bins(domain: Domain, *, everywhere: bool) -> Domain:
    """Return a domain with the same columns: bins of numbers all of them, or categories."""
    widths = [len(one.columns) for one in domain.attributes]
    bins = [width * (width > 1) for width in widths] if everywhere else ()
    return cells_domain(widths, domain.norm, intercept=domain.intercept, bins=bins)


class NeighboursForgotten(Broken):
    """Every weight gets the same ridge, whether it has neighbours or not.

    A bin of few records follows its own noise.
    """

    bug_type = "MISSING_STEP"

    def preconditioner(self, second_moments: FloatArray, deviation: float, domain: Domain) -> FloatArray:
        return super().preconditioner(second_moments, deviation, _with_bins(domain, everywhere=False))


class CategoriesAsBins(Broken):
    """Categories are smoothed in their order as if they were bins of a number, and the bin of missing values too.

    Weights lean on those of unrelated categories.
    """

    bug_type = "POSTPROCESSING"

    def preconditioner(self, second_moments: FloatArray, deviation: float, domain: Domain) -> FloatArray:
        return super().preconditioner(second_moments, deviation, _with_bins(domain, everywhere=True))


class OvershotKept(Broken):
    """Steps keep their length, however far beyond the least loss they went.

    Where attributes say the same, a fit swings to and fro and predicts worse than the commoner label does.
    """

    bug_type = "MISSING_STEP"

    def overshot(self, *_: object) -> bool:
        return False


class NoiseTakenForOvershot(Broken):
    """A slope behind a step that noise may have made counts as if the step had gone too far.

    Steps get shorter and shorter, and the fit does not arrive.
    """

    bug_type = "POSTPROCESSING"

    def overshot(
        self, taken: FloatArray, gradients: Pair, deviations: tuple[float, float], *matrices: FloatArray
    ) -> bool:
        return super().overshot(taken, gradients, (0.0, 0.0), *matrices)


class FollowedNoiseTooLarge(Broken):
    """The slope that comes of following noise is taken for as large as without a ridge: a^2 trace(P).

    At little signal no step is halved, however far it went.
    """

    bug_type = "POSTPROCESSING"

    def overshot(
        self, taken: FloatArray, gradients: Pair, deviations: tuple[float, float], *matrices: FloatArray
    ) -> bool:
        alone: FloatArray = inv(matrices[0]) / 0.25
        return super().overshot(taken, gradients, deviations, matrices[0], alone)


class LastIterateOnly(Broken):
    """The last iterate is taken for the mean of the last iterates.

    It has more of the noise of single steps.
    """

    bug_type = "POSTPROCESSING"

    def averaged(self, iterates: Sequence[FloatArray]) -> FloatArray:
        return iterates[-1]


class ShareNotLimited(Broken):
    """The released share of the group may be nearer to 0 or 1 than its noise deviates.

    Noise then divides the probes by nearly 0, or by less.
    """

    bug_type = "EDGE_CASE"

    def share_of_group(self, noisy_count: float, deviation: float, n: int) -> Fraction:
        return Fraction(round(noisy_count / n * GRID), GRID)


class ShareOfASixteenth(Broken):
    """The released share of the group is kept within [1/16, 15/16], however little its noise deviates.

    A smaller group counts as larger than it is: its probes find a difference that is not there.
    """

    bug_type = "FAIRNESS"

    def share_of_group(self, noisy_count: float, deviation: float, n: int) -> Fraction:
        return min(Fraction(15, 16), max(Fraction(1, 16), super().share_of_group(noisy_count, deviation, n)))


class ProbeHalfForgotten(Broken):
    """A probe sums up (z - zbar) times the prediction, not the prediction minus a half.

    Its sensitivity is 1 then, more than what is accounted.
    """

    bug_type = "SENSITIVITY"
    claims = ("R.probe",)

    def imbalance(self, z: FloatArray, prediction: BoolArray, zbar: Fraction) -> Fraction:
        return (
            super().imbalance(z, prediction, zbar) + sum((Fraction(v) - zbar for v in z.tolist()), Fraction(0)) / 2
        )


class ProbabilityOfPlainLoss(Broken):
    """A score of the capped loss is read as one of the logistic loss.

    Probabilities are too far from 1/2: the threshold moves the wrong records.
    """

    bug_type = "POSTPROCESSING"

    def margins(
        self, w: FloatArray, v: FloatArray | None, zbar: float, x: FloatArray, z: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        return (
            super().margins(w, v, zbar, x, z) if v is None else (_logistic(x @ w) - 0.5, _logistic(x @ v) - zbar)
        )


class SlackForgotten(Broken):
    """The tolerated risk difference is taken for 0.

    More accuracy is given up than was asked for.
    """

    bug_type = "FAIRNESS"

    def next_multiplier(self, probes: Sequence[Probe], slack: float, curve: Curve) -> float:
        return super().next_multiplier(probes, 0.0, curve)


class LastProbeOnly(Broken):
    """The next multiplier follows the last probe alone.

    What the others cost is lost.
    """

    bug_type = "POSTPROCESSING"

    def next_multiplier(self, probes: Sequence[Probe], slack: float, curve: Curve) -> float:
        return super().next_multiplier(probes[-1:], slack, curve)


class ProbesNotTrusted(Broken):
    """The noise of the probes is taken to be large: the expected curve alone decides.

    Probes are paid for and not used.
    """

    bug_type = "POSTPROCESSING"

    def next_multiplier(self, probes: Sequence[Probe], slack: float, curve: Curve) -> float:
        loose = [probe._replace(noise=1e6) for probe in probes]
        return super().next_multiplier(loose, slack, curve)
