"""Choose the theorem of ``proofs/coq`` that covers a release, with its numbers, or say why none does."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from audit.proofs.releases.comparison import Comparison, ScaleName
from audit.proofs.releases.errors import NoTheoremError
from audit.proofs.releases.exported import Exported
from audit.proofs.releases.grid import LARGEST_DELTA, WideGrid, l1_slack, wide_grid
from audit.proofs.releases.two_epsilons import equal_epsilons, smaller_epsilon_s, theorem_3, theorem_5
from audit.proofs.sigma import sigma_bounds
from reference.budgets import SplitBudget
from reference.common.errors import DeltaError
from reference.common.numbers import decimal_text
from reference.noise import require_delta_in_extended_range
from reference.sensitivity import (
    declared_of,
    exact_l1,
    exact_l2_squared,
    published_l1_sensitivity,
    published_l2_sensitivity_squared,
)

LIMIT_GAIN = {"none": 0, "absolute": 2, "covariance": 1}
"""``limit_gain`` of ``Certificates.v``: the fairness term's largest linear coefficient is this times alpha_1."""


@dataclass(frozen=True)
class Covered:
    """A release and the theorem that covers it.

    Parameters
    ----------
    exported : Exported
    theorem : str
        Of ``Certificates.v`` or ``SplitCertificates.v``; with hardened noise of ``HardenedCertificates.v``.
    epsilon, delta : Fraction
        What is certified: the release's statement, or its budget if it states nothing.
    sensitivity : Fraction
        Delta_1, or the square of Delta_2.
    bound : Fraction
        The bound of `lemma`: `sensitivity`, or with two epsilons the square of the exact l2-sensitivity.
    lemma : str
        The Coq lemma that bounds every change by `bound`.
    claims : tuple of str
        Rows of the claims ledger.
    comparisons : tuple of Comparison
    grid : WideGrid or None
        Of hardened Gaussian noise.
    """

    exported: Exported
    theorem: str
    epsilon: Fraction
    delta: Fraction
    sensitivity: Fraction
    bound: Fraction
    lemma: str
    claims: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    grid: WideGrid | None = None

    @property
    def is_laplace(self) -> bool:
        """Whether the noise is Laplace noise."""
        return not self.exported.spec.needs_delta

    @property
    def reached(self) -> bool:
        """Whether every scale reaches its formula."""
        return all(comparison.holds for comparison in self.comparisons)


def covered(release: Exported) -> Covered:
    """Return the theorem that covers a release.

    Raises
    ------
    NoTheoremError
        With the reason.
    """
    _require_covered_noise(release)
    _require_covered_deltas(release)
    laplace = not release.spec.needs_delta
    lemma = _l1_lemma(release) if laplace else _l2_lemma(release)
    sensitivity = bound = _sensitivity(release)
    epsilon, own = release.epsilon, False
    if laplace:
        theorem, claim = "laplace_certificate", "T1"
        if release.is_published and release.spec.split_budget:
            theorem, claim, own = "pdfc_certificate", "T3", True
        elif release.readings.sensitivity == "exact" and smaller_epsilon_s(release):
            theorem, claim, own = "pdfc_exact_certificate", "T3.exact", True
            epsilon = theorem_3(release)
    else:
        theorem, claim = ("adfc_certificate" if release.spec.split_budget else "gaussian_certificate"), "T2"
        if release.is_published and not equal_epsilons(release):
            theorem, lemma, bound = theorem_5(release, sensitivity)
            claim, own = "T5.regime", True
    number = (1 if laplace else 3) + (release.setting.fairness != "none")
    row = f"L{number}" if release.readings.sensitivity == "published" else f"L{number}.exact"
    comparisons = tuple(_comparisons(release, sensitivity, own))
    grid = None
    if release.steps is not None:
        theorem = f"hardened_{theorem}"
        if not laplace:
            grid = wide_grid(release, epsilon, sensitivity, comparisons)
    found = Covered(
        release,
        theorem,
        epsilon,
        release.delta,
        sensitivity,
        bound,
        lemma,
        (claim, row),
        comparisons,
        grid,
    )
    if not found.reached:
        _require_sensitivity_of_the_norm(release, sensitivity)
    elif grid is not None and not grid.suffices:
        raise NoTheoremError(
            "hardened Gaussian noise is covered where it is wide against the grid; here it is not"
        )
    return found


def _require_covered_noise(release: Exported) -> None:
    if release.spec.name == "pflr":
        raise NoTheoremError("no theorem is about PFLR*: a mean that comes from the data is not noise (T1.shift)")
    rows = release.readings.rows_per_person
    if rows != 1:
        raise NoTheoremError(
            f"the theorems are about neighbours that differ in one record, not in a person's {rows}"
        )
    if release.setting.norm == "symmetric_ball":
        raise NoTheoremError("the theorems are about the unit_box and the unit_ball, not the symmetric_ball")
    if release.setting.fairness == "separate":
        raise NoTheoremError("the theorems are about the fairness readings none, absolute and covariance")
    if release.readings.own_sensitivity is not None:
        raise NoTheoremError(
            "the noise is calibrated to a number of the caller's own; the theorems are about the published "
            "sensitivities and, where named, the exact ones"
        )


def _require_sensitivity_of_the_norm(release: Exported, sensitivity: Fraction) -> None:
    """Raise if the release was calibrated to less: to the rows that its declared domain encodes."""
    if release.readings.sensitivity != "exact" or release.declared is None:
        return
    declared = declared_of(release.declared, release.readings)
    supremum = exact_l2_squared(declared) if release.spec.needs_delta else exact_l1(declared)
    if supremum.upper < sensitivity:
        raise NoTheoremError(
            "the noise is calibrated to the rows that the declared domain encodes; the theorems are about all "
            "rows of its norm"
        )


def _require_covered_deltas(release: Exported) -> None:
    try:
        for delta in _deltas(release):
            if release.spec.needs_delta:
                require_delta_in_extended_range("delta", delta)
            if release.steps is not None and delta > LARGEST_DELTA:
                raise NoTheoremError(f"hardened noise is covered for delta up to {LARGEST_DELTA}")
    except DeltaError as problem:
        raise NoTheoremError(str(problem)) from problem


def _l1_lemma(release: Exported) -> str:
    if release.readings.sensitivity == "published":
        return _published_lemma(release, "published_l1_limit")
    if release.setting.norm == "unit_ball" and release.setting.dimension > 1:
        raise NoTheoremError(
            "no theorem states the exact l1-sensitivity on the unit_ball; on the unit_box one does"
        )
    return "l1_change_limit"


def _l2_lemma(release: Exported) -> str:
    setting = release.setting
    if release.readings.sensitivity == "published":
        return _published_lemma(release, "published_l2_limit")
    if setting.norm == "unit_box":
        return "l2_change_limit"
    if not setting.replaces:
        raise NoTheoremError(
            "no theorem states the exact l2-sensitivity on the unit_ball for add_or_remove_one; for replace_one, "
            "and on the unit_box, one does"
        )
    if setting.fairness != "covariance":
        return "ball_l2_limit"
    if setting.dimension < 2:
        raise NoTheoremError(
            "the exact l2-sensitivity for `covariance` on the unit_ball is proved for d of at least 2"
        )
    return "covariance_ball_l2_limit"


def _published_lemma(release: Exported, lemma: str) -> str:
    weight, gain = release.setting.fairness_weight, LIMIT_GAIN[release.setting.fairness]
    if weight * gain > 2:
        raise NoTheoremError(
            f"the published bound is proved for alpha_1 up to {decimal_text(Fraction(2, gain))} with "
            f"`{release.setting.fairness}`, not {decimal_text(weight)} (L2.alpha)"
        )
    return lemma


def _sensitivity(release: Exported) -> Fraction:
    setting, published = release.setting, release.readings.sensitivity == "published"
    if release.spec.needs_delta:
        if published:
            return published_l2_sensitivity_squared(setting.fairness, setting.dimension)
        return exact_l2_squared(setting).upper
    if published:
        return published_l1_sensitivity(setting.fairness, setting.dimension)
    return exact_l1(setting).upper


def _comparisons(release: Exported, sensitivity: Fraction, own: bool) -> list[Comparison]:
    """Return the comparisons; each part with its `own` epsilon, or both with the larger one."""
    budget = release.budget
    if not isinstance(budget, SplitBudget):
        return [_comparison("scale", release, sensitivity, release.scale_n, budget.epsilon, budget.delta)]
    epsilon_s, epsilon_n = budget.epsilon_s, budget.epsilon_n
    if not own:
        epsilon_s = epsilon_n = max(epsilon_s, epsilon_n)
    return [
        _comparison("scale_s", release, sensitivity, release.scale_s, epsilon_s, budget.delta_s),
        _comparison("scale_n", release, sensitivity, release.scale_n, epsilon_n, budget.delta_n),
    ]


def _comparison(
    name: ScaleName, release: Exported, sensitivity: Fraction, scale: Fraction, epsilon: Fraction, delta: Fraction
) -> Comparison:
    if not release.spec.needs_delta:
        return Comparison(name, scale, (sensitivity + l1_slack(release)) / epsilon, epsilon, delta, None)
    bounds = sigma_bounds(sensitivity, epsilon, delta, scale)
    return Comparison(name, scale, bounds.formula(epsilon), epsilon, delta, bounds)


def _deltas(release: Exported) -> tuple[Fraction, ...]:
    budget = release.budget
    return (budget.delta_s, budget.delta_n) if isinstance(budget, SplitBudget) else (budget.delta,)
