"""The mechanisms, each beside the paper's algorithm.

Every private mechanism is two functions that stand together: `<name>_noise`, which sees public things only
(domain, budget, readings, x_s), and `<name>`, which runs the algorithm on the moments of a data set.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from reference import accounting
from reference.accounting.release import PublicRun, Release
from reference.budgets import Budget, SplitBudget
from reference.coefficients import NoisyCoefficients
from reference.common.arrays import FloatArray
from reference.common.documents import plain
from reference.common.errors import DeltaError, ParameterError, ReadingError
from reference.common.numbers import RealLike, exact
from reference.domain import Domain
from reference.minimiser import Minimum, minimise
from reference.moments import Moments
from reference.noise import (
    Noise,
    RandomSource,
    extended_gaussian_sigma,
    laplace_scale,
    require_delta_in_extended_range,
    sampler_of,
    with_sampler,
)
from reference.noise.grid import RELEASE_STEPS, encoded_l1, encoded_l2_squared, l1_slack, with_l2_slack
from reference.objective import layout, objective
from reference.readings import Readings
from reference.records import Records
from reference.sensitivity import l1_sensitivity, l2_sensitivity_squared, setting_of

PLAIN = Readings(fairness="none")
FAIR = Readings(fairness="absolute")


# --- The functional mechanism (Zhang et al. 2012, as the paper's Background states it) -----------------------


def functional_noise(domain: Domain, budget: Budget, readings: Readings) -> Noise:
    """Return Lap(Delta_1 / epsilon) for every coefficient."""
    _require_kind(budget, Budget)
    _require_pure(budget)
    # Delta_1 by Lemma 1 (Lemma 2 with a fairness term)
    delta_1 = _with_l1_slack(l1_sensitivity(readings, domain), domain, readings)
    size = layout(domain, readings).size
    return Noise.uniform("laplace", laplace_scale(delta_1, budget.epsilon), size, _steps(readings))


def functional(
    moments: Moments, budget: Budget, readings: Readings = PLAIN, *, rng: RandomSource = None
) -> Release:
    """Run the functional mechanism.

    *Implements* the paper's Background, "Functional Mechanism", *except* for the repair.  Claims: L1, T1.

    Parameters
    ----------
    moments : Moments
        Of the training data; at least one record.
    budget : Budget
        delta must be 0.
    readings : Readings
    rng : None, 'entropy', int or numpy.random.Generator
        None makes a release: hardened noise, which needs exact moments.  Anything else draws numpy's noise, for
        study; 'entropy' does so without a seed.
    """
    readings = with_sampler(readings, rng)
    sampler = sampler_of(readings.noise, rng, _purpose("functional", budget, readings))
    # lambda <- sum_i lambda_{phi t_i}
    coefficients = objective(moments, readings)
    # lambda_hat <- lambda + Lap(Delta_1 / epsilon)
    noise = functional_noise(moments.domain, budget, readings)
    noisy = sampler.perturb(coefficients, noise)
    run = PublicRun("functional", moments.domain, budget, readings, noise, seeded=sampler.seeded)
    epsilon = stated_privacy(accounting.published_functional, run)
    # w_hat <- arg min f_hat
    w_hat = minimise(noisy, readings)
    return Release.of(w_hat, epsilon, run)


# --- Algorithm 2: relaxed functional mechanism ---------------------------------------------------------------


def relaxed_functional_noise(domain: Domain, budget: Budget, readings: Readings) -> Noise:
    """Return N(0, sigma^2) for every coefficient (Algorithm 2, lines 3 and 6)."""
    _require_kind(budget, Budget)
    require_delta_in_extended_range("delta", budget.delta)
    # line 3: Delta_2 by Lemma 3 (Lemma 4 with a fairness term)
    delta_2_squared = _with_l2_slack(l2_sensitivity_squared(readings, domain), domain, readings)
    # line 6: sigma <- sqrt(2) Delta_2 / (2 epsilon) (sqrt(log(...)) + sqrt(log(...) + epsilon))
    sigma = extended_gaussian_sigma(delta_2_squared, budget.epsilon, budget.delta)
    return Noise.uniform("gaussian", sigma, layout(domain, readings).size, _steps(readings))


def relaxed_functional(
    moments: Moments, budget: Budget, readings: Readings = PLAIN, *, rng: RandomSource = None
) -> Release:
    """Run Algorithm 2.

    *Implements* Algorithm 2 *except* for the repair.  Claims: L3, T2, T4.  Parameters as in
    :func:`functional`, with 0 < delta <= sqrt(2/pi).
    """
    readings = with_sampler(readings, rng)
    sampler = sampler_of(readings.noise, rng, _purpose("relaxed_functional", budget, readings))
    # line 1: f(D, w)
    coefficients = objective(moments, readings)
    # lines 3-9: lambda <- sum_i lambda_{phi t_i} + N(0, sigma^2)
    noise = relaxed_functional_noise(moments.domain, budget, readings)
    noisy = sampler.perturb(coefficients, noise)
    run = PublicRun("relaxed_functional", moments.domain, budget, readings, noise, seeded=sampler.seeded)
    epsilon_delta = stated_privacy(accounting.published_relaxed_functional, run)
    # line 10: w_hat <- arg min f_hat
    w_hat = minimise(noisy, readings)
    # line 11: return w_hat
    return Release.of(w_hat, epsilon_delta, run)


# --- Algorithm 1: PDFC ---------------------------------------------------------------------------------------


def pdfc_noise(domain: Domain, budget: SplitBudget, readings: Readings, x_s: int) -> Noise:
    """Return Lap(Delta_1 / epsilon_s) on Phi_s and Lap(Delta_1 / epsilon_n) on Phi_n (lines 4-22)."""
    _require_kind(budget, SplitBudget)
    _require_pure(budget)
    # lines 4-13: Phi_s <- {phi that includes w_s}, Phi_n <- the others
    in_s = layout(domain, readings).contains(x_s)
    # line 1: Delta_1 by Lemma 2
    delta_1 = _with_l1_slack(l1_sensitivity(readings, domain), domain, readings)
    # line 17: Lap(Delta_1 / epsilon_s)
    scale_s = laplace_scale(delta_1, budget.epsilon_s)
    # line 19: Lap(Delta_1 / epsilon_n)
    scale_n = laplace_scale(delta_1, budget.epsilon_n)
    return Noise("laplace", scale_s, scale_n, in_s, _steps(readings))


def pdfc(
    moments: Moments,
    budget: SplitBudget,
    readings: Readings = FAIR,
    *,
    x_s: str | int | None = None,
    rng: RandomSource = None,
) -> Release:
    """Run Algorithm 1, purely differentially private and fair classification.

    *Implements* Algorithm 1 *except* that ``|sum (z - zbar) x.w|`` is read as `readings.fairness` says, and for
    the repair.  Claims: L2, T3, O1, A.argmin, A.xs.

    Parameters
    ----------
    moments : Moments
        Of the training data; at least one record.
    budget : SplitBudget
        Both deltas must be 0.
    readings : Readings
    x_s : str, int or None
        A coordinate by name or index; None draws one at random, as the paper does.
    rng : None, 'entropy', int or numpy.random.Generator
        None makes a release: hardened noise, which needs exact moments.  Anything else draws numpy's noise, for
        study; 'entropy' does so without a seed.
    """
    readings = with_sampler(readings, rng)
    named = None if x_s is None else moments.domain.coordinate(x_s)
    sampler = sampler_of(readings.noise, rng, _purpose("pdfc", budget, readings, named))
    s = random_x_s(moments.domain, sampler.random) if named is None else named
    # line 3: f_bar <- equation (6)
    coefficients = objective(moments, readings)
    # lines 4-22: lambda_hat <- sum_i lambda_bar + Lap(Delta_1 / epsilon_s) on Phi_s, with epsilon_n on Phi_n
    noise = pdfc_noise(moments.domain, budget, readings, s)
    # line 23: f_hat
    noisy = sampler.perturb(coefficients, noise)
    run = PublicRun("pdfc", moments.domain, budget, readings, noise, s, sampler.seeded)
    # line 24: w_hat <- arg min f_hat
    w_hat = minimise(noisy, readings)
    # line 25: epsilon <- epsilon_s / d + epsilon_n (d - 1) / d
    epsilon = stated_privacy(accounting.published_pdfc, run)
    # line 26: return w_hat, epsilon
    return Release.of(w_hat, epsilon, run)


# --- Algorithm 3: ADFC ---------------------------------------------------------------------------------------


def adfc_noise(domain: Domain, budget: SplitBudget, readings: Readings, x_s: int) -> Noise:
    """Return N(0, sigma_s^2) on Phi_s and N(0, sigma_n^2) on Phi_n (lines 4-23)."""
    _require_kind(budget, SplitBudget)
    require_delta_in_extended_range("delta_s", budget.delta_s)
    require_delta_in_extended_range("delta_n", budget.delta_n)
    # lines 4-13: Phi_s <- {phi that includes w_s}, Phi_n <- the others
    in_s = layout(domain, readings).contains(x_s)
    # line 14: Delta_2' by Lemma 4
    delta_2_squared = _with_l2_slack(l2_sensitivity_squared(readings, domain), domain, readings)
    # line 18: sigma_s
    sigma_s = extended_gaussian_sigma(delta_2_squared, budget.epsilon_s, budget.delta_s)
    # line 20: sigma_n
    sigma_n = extended_gaussian_sigma(delta_2_squared, budget.epsilon_n, budget.delta_n)
    return Noise("gaussian", sigma_s, sigma_n, in_s, _steps(readings))


def adfc(
    moments: Moments,
    budget: SplitBudget,
    readings: Readings = FAIR,
    *,
    x_s: str | int | None = None,
    rng: RandomSource = None,
) -> Release:
    """Run Algorithm 3, approximately differentially private and fair classification.

    *Implements* Algorithm 3 *except* that ``|sum (z - zbar) x.w|`` is read as `readings.fairness` says, and for
    the repair.  Claims: L4, T2, T5, O1, A.argmin, A.xs.  Parameters as in :func:`pdfc`, with both deltas in
    (0, sqrt(2/pi)].
    """
    readings = with_sampler(readings, rng)
    named = None if x_s is None else moments.domain.coordinate(x_s)
    sampler = sampler_of(readings.noise, rng, _purpose("adfc", budget, readings, named))
    s = random_x_s(moments.domain, sampler.random) if named is None else named
    # line 3: f_bar <- equation (6)
    coefficients = objective(moments, readings)
    # lines 4-23: lambda_hat <- sum_i lambda_bar + N(0, sigma_s^2) on Phi_s, N(0, sigma_n^2) on Phi_n
    noise = adfc_noise(moments.domain, budget, readings, s)
    # line 24: f_hat
    noisy = sampler.perturb(coefficients, noise)
    run = PublicRun("adfc", moments.domain, budget, readings, noise, s, sampler.seeded)
    # line 25: w_hat <- arg min f_hat
    w_hat = minimise(noisy, readings)
    # line 26: epsilon <- epsilon_s / d + epsilon_n (d - 1) / d;  delta <- 1 - (1 - delta_s)(1 - delta_n)
    epsilon_delta = stated_privacy(accounting.published_adfc, run)
    # line 27: return w_hat, epsilon, delta
    return Release.of(w_hat, epsilon_delta, run)


# --- PFLR*: one Laplace scale and a shifted mean (Xu, Yuan and Wu 2019, as the paper mentions it) ------------


def pflr_noise(domain: Domain, budget: Budget, readings: Readings) -> Noise:
    """Return the centred part of the noise: Lap(Delta_1 / epsilon) for every coefficient.

    The published Delta_1 is Lemma 1's, of the objective without the fairness term: a shifted mean is meant to add
    no noise for that term.  An `exact` sensitivity counts everything that is released, a shift from the data
    included.
    """
    _require_kind(budget, Budget)
    _require_pure(budget)
    calibration = readings.with_(fairness="none") if readings.sensitivity == "published" else readings
    delta_1 = _with_l1_slack(l1_sensitivity(calibration, domain), domain, readings)
    size = layout(domain, readings).size
    return Noise.uniform("laplace", laplace_scale(delta_1, budget.epsilon), size, _steps(readings))


def pflr(
    moments: Moments,
    budget: Budget,
    readings: Readings = FAIR,
    *,
    shift: Sequence[RealLike] | None = None,
    rng: RandomSource = None,
) -> Release:
    """Run PFLR* as far as the paper describes it.

    *Implements* two sentences of the paper: PFLR* "adds same scale of noise in each attribute" and "injects
    Laplace noise with shifted mean to the objective function of logistic regression with fairness constraint".
    They leave open what the mean is, whether it depends on the data, and which Delta_1 the scale has; the
    original algorithm was not consulted.  Claims: T1, L1, T1.shift.

    Two readings of the mean:

    - `shift=None`: the mean on the linear coefficients is the fairness term, ``alpha_1 sum |z - zbar| x`` or as
      `readings.fairness` says.  It depends on the data, so it is part of what is released and not of the
      noise: the epsilon of the budget is only claimed, by Theorem 1 with a Delta_1 that does not count the
      shift.  `privacy.exact` counts it, and refutes the claim where it is false.
    - `shift` given: public numbers, fixed without looking at the data.  Then this is the functional mechanism
      of plain logistic regression plus a constant, and Theorem 1 holds.

    Parameters
    ----------
    moments, budget, readings, rng
        As in :func:`functional`; with a public `shift`, `readings.fairness` must be `none`.
    shift : sequence of d numbers, optional
        Public mean of the noise on the linear coefficients.
    """
    readings = with_sampler(readings, rng)
    sampler = sampler_of(readings.noise, rng, _purpose("pflr", budget, readings))
    mean = _public_shift(shift, moments.domain, readings)
    # lambda + mu: without a public shift, mu is the fairness term
    coefficients = objective(moments, readings)
    # ... + Lap(Delta_1 / epsilon)
    noise = pflr_noise(moments.domain, budget, readings)
    noisy = sampler.perturb(coefficients, noise)
    run = PublicRun("pflr", moments.domain, budget, readings, noise, seeded=sampler.seeded)
    if mean is None:
        # w_hat <- arg min f_hat
        w_hat, formula = minimise(noisy, readings), accounting.published_pflr
        stated_mean: str | tuple[float, ...] = "the fairness term"
    else:
        # a public mean can be added after the noise
        w_hat = minimise(replace(noisy, values=noisy.values + mean), readings)
        formula, stated_mean = accounting.published_functional, tuple(mean[: moments.domain.dimension].tolist())
    return Release.of(w_hat, stated_privacy(formula, run), run).with_mean(stated_mean)


def _public_shift(shift: Sequence[RealLike] | None, domain: Domain, readings: Readings) -> FloatArray | None:
    """Return the public mean of each coefficient, or None where the mean is the fairness term."""
    if readings.fairness == "separate":
        raise ReadingError("fairness", "separate", "'absolute', 'covariance' or 'none': its term is not a mean")
    if shift is None:
        return None
    if readings.fairness != "none":
        raise ReadingError("fairness", readings.fairness, "'none' with a public shift")
    if len(shift) != domain.dimension:
        raise ParameterError("shift", shift, f"{domain.dimension} numbers, one per column")
    mean = np.zeros(layout(domain, readings).size)
    mean[: domain.dimension] = [float(exact("shift", value)) for value in shift]
    return mean


# --- Baselines: not private ----------------------------------------------------------------------------------


def no_privacy(moments: Moments, readings: Readings = PLAIN) -> Release:
    """Minimise the exact coefficients: the paper's No-Privacy baseline.  Not private.

    *Implements* "the original functional mechanism without injecting any noise" fully.  Claims: E.rfm.
    """
    coefficients = objective(moments, readings)
    noise = Noise.uniform("none", 0.0, coefficients.layout.size)
    minimum = minimise(
        NoisyCoefficients(coefficients.layout, coefficients.values.astype(np.float64), noise), readings
    )
    without_spectrum = Minimum(minimum.status, minimum.w, ())
    return Release.of(without_spectrum, None, PublicRun("no_privacy", moments.domain, None, readings, noise))


def lr(records: Records, readings: Readings = PLAIN) -> Release:
    """Fit logistic regression without penalty and without an extra intercept: the paper's LR.  Not private.

    No coefficient suffices for the exact logistic loss, so this baseline reads the records themselves.  With
    one class only the outcome is `unbounded`.  Other data that a hyperplane separates, wholly or in part, have
    no minimum either; there w is the point at which the solver stopped.

    *Implements* equation (1) with the logistic loss; scikit-learn's solver.
    """
    # imported where it is used: it takes longer to load than all the rest
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    records.domain.require_of_paper()
    noise = Noise.uniform("none", 0.0, 0)
    if np.unique(records.y).size < 2:
        minimum = Minimum("unbounded", None, ())
    else:
        # w* <- arg min sum_i log(1 + exp(x_i.w)) - y_i x_i.w
        # solved in coordinates where the records' second moments are the identity: on one-hot columns, dependent
        # and some of them rare, the solver takes fifteen times as many steps otherwise
        basis = _whitening(records.x)
        model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-8, max_iter=10_000)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            try:
                model.fit(records.x @ basis, records.y)
                minimum = Minimum("ok", tuple((basis @ model.coef_[0]).tolist()), ())
            except ConvergenceWarning:
                minimum = Minimum("unbounded", None, ())
    return Release.of(minimum, None, PublicRun("lr", records.domain, None, readings, noise))


RANK_TOLERANCE = 1e-12
"""Eigenvalues of the second moments below this share of the largest one count as 0."""


def _whitening(x: FloatArray) -> FloatArray:
    """Return B, of shape (d, rank of x), with orthonormal columns of x B, up to a factor of sqrt(n).

    Every x w is x B v for some v.  The w = B v lies in the span of the records, as without the change of
    coordinates for a solver that starts at 0.  For x = 0 the one column is 0.
    """
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    kept = values > RANK_TOLERANCE * values[-1]
    if not kept.any():
        return np.zeros((x.shape[1], 1))
    basis: FloatArray = vectors[:, kept] / np.sqrt(values[kept])
    return basis


def stated_privacy(
    formula: Callable[..., accounting.PrivacyStatement], run: PublicRun
) -> accounting.PrivacyStatement | None:
    """Return what the paper states for a run, by a theorem's formula."""
    assert run.budget is not None
    return accounting.published_statement(formula, run.domain, run.budget, run.readings, run.s)


def _steps(readings: Readings) -> int | None:
    """Return the release grid of hardened noise."""
    return RELEASE_STEPS if readings.noise == "hardened" else None


def _with_l1_slack(l1: Fraction, domain: Domain, readings: Readings) -> Fraction:
    """Return Delta_1, enlarged for coefficients rounded to the grid of hardened noise."""
    if readings.noise != "hardened":
        return l1
    public = layout(domain, readings)
    if readings.sensitivity == "exact" and not domain.prescaled:
        l1 = encoded_l1(l1, public, setting_of(domain, readings))
    return l1 + l1_slack(public)


def _with_l2_slack(l2_squared: Fraction, domain: Domain, readings: Readings) -> Fraction:
    """Return the square of Delta_2, enlarged in the same way."""
    if readings.noise != "hardened":
        return l2_squared
    public = layout(domain, readings)
    if readings.sensitivity == "exact" and not domain.prescaled:
        l2_squared = encoded_l2_squared(l2_squared, public, setting_of(domain, readings))
    return with_l2_slack(l2_squared, public)


def random_x_s(domain: Domain, random: np.random.Generator) -> int:
    """Draw one of the unprotected attributes at random, without the data."""
    return int(random.choice(np.array(domain.selectable)))


def _purpose(name: str, budget: Budget | SplitBudget, readings: Readings, s: int | None = None) -> str:
    """Return the public facts that name a seeded stream."""
    return f"{name} {plain(budget)} {plain(readings)} {s}"


def _require_kind(budget: object, kind: type[Budget] | type[SplitBudget]) -> None:
    """Raise unless the budget has the parts that the mechanism spends."""
    if not isinstance(budget, kind):
        raise ReadingError("budget", budget, f"a {kind.__name__} for this mechanism")


def _require_pure(budget: Budget | SplitBudget) -> None:
    deltas = [budget.delta] if isinstance(budget, Budget) else [budget.delta_s, budget.delta_n]
    for delta in deltas:
        if delta != 0:
            raise DeltaError("delta", str(delta), "0 for Laplace noise, which is purely private")
