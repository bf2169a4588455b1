"""`python -m audit.privacy`: exact numbers against second sources, real witnesses, and the contract's output."""

from __future__ import annotations

import itertools
import json
import math
import shlex
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from audit.losses import Neighbours, extreme_neighbours
from audit.privacy import WITNESS_RECORDS, judge, main, supremum_of
from audit.repeated import Repeated
from audit.witnesses import domain_of, readings_of
from reference import accounting
from reference.budgets import Budget, SplitBudget
from reference.errors import ReadingError
from reference.gaussian import delta_of_shift, epsilon_of_shift
from reference.moments import Moments
from reference.noise import Noise
from reference.objective import layout, objective
from reference.registry import MECHANISMS
from reference.sensitivity import Setting

HEADLINE = (
    "adfc --dimension 13 --epsilon-s 10 --epsilon-n 0.1 --delta-s 1e-3 --delta-n 1e-3 --fairness absolute "
    "--domain unit_box"
)


def run(capsys, line: str) -> tuple[int, Any]:
    code = main([*shlex.split(line), "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def low(value: Any) -> float:
    return float(Fraction(value["lo"] if isinstance(value, dict) else value))


# --- The headline, recomputed by hand ------------------------------------------------------------------------


def sigma(epsilon: float, delta: float, d: int) -> float:
    """Theorem 2's sigma with Lemma 4's Delta, in floats."""
    logarithm = math.log(math.sqrt(2 / math.pi) / delta)
    root = math.sqrt(d * d / 16 + 9 * d)
    return math.sqrt(2) * root / (2 * epsilon) * (math.sqrt(logarithm) + math.sqrt(logarithm + epsilon))


def balle_wang(mu: float, epsilon: float) -> float:
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


@pytest.mark.parametrize(("domain", "basis"), [("unit_ball", "monomial"), ("unit_box", "matrix")])
def test_headline_number_from_the_definitions(capsys, domain, basis):
    """One pair of 1000 records, its coefficients written out by hand, scipy's normal distribution."""
    n, d = 1000, 13
    code, document = run(
        capsys,
        f"adfc --dimension {d} --epsilon-s 10 --epsilon-n 0.1 --delta-s 1e-3 --delta-n 1e-3 --domain {domain} "
        f"--basis {basis} --records {n}",
    )
    nu = (n - 1) / n
    if domain == "unit_ball":
        # all at e_s: only c_s moves, by 1/2 + 1/2 + nu + nu
        on_s, on_n = (1 + 2 * nu) ** 2, 0.0
    else:
        # x = e_s -> x' = 1: c_s by 1 + 2 nu, the others by 1/2 + 2 nu, all quadratic ones by 1/8 but (s, s)
        on_s = (1 + 2 * nu) ** 2 + 2 * (d - 1) / 64
        on_n = (d - 1) * (0.5 + 2 * nu) ** 2 + (d - 1) ** 2 / 64
    mu = math.sqrt(on_s / sigma(10, 1e-3, d) ** 2 + on_n / sigma(0.1, 1e-3, d) ** 2)
    exact = balle_wang(mu, 10 / d + 0.1 * (d - 1) / d)
    assert code == 1
    assert document["verdict"] == "refuted"
    assert low(document["exact_delta"]) >= exact * (1 - 1e-9)
    if domain == "unit_ball":
        assert low(document["exact_delta"]) == pytest.approx(exact, rel=1e-9)
        assert exact == pytest.approx(0.02298628, rel=1e-6)
    assert document["claimed_epsilon"] == "56/65"
    assert document["claimed_delta"] == "0.001999"


def test_headline_command_of_the_issue(capsys):
    code, document = run(capsys, HEADLINE)
    assert code == 1
    assert {
        "claimed_epsilon",
        "claimed_delta",
        "exact_epsilon",
        "exact_delta",
        "verdict",
        "witness",
        "readings",
        "rerun",
    } <= document.keys()
    assert low(document["exact_delta"]) > 10 * float(document["claimed_delta"])
    assert document["witness"]["records"] == WITNESS_RECORDS[0]
    # the witness shows it with 1000 records, the exact number is the supremum over all sizes
    assert float(document["claimed_delta"]) < low(document["witness"]["delta_at_claimed_epsilon"])
    assert low(document["witness"]["delta_at_claimed_epsilon"]) <= low(document["exact_delta"])


def test_rerun_gives_the_same_document(capsys):
    _, document = run(capsys, HEADLINE + " --records 1000 --alpha 2 --basis matrix")
    words = shlex.split(document["rerun"])
    assert words[:3] == ["python", "-m", "audit.privacy"]
    assert run(capsys, shlex.join(words[3:]))[1] == document


# --- Witnesses are real ---------------------------------------------------------------------------------------


def cases() -> list[Any]:
    readings = [
        (domain, fairness, adjacency)
        for domain in ("unit_box", "unit_ball")
        for fairness in ("none", "absolute", "covariance", "separate")
        for adjacency in ("replace_one", "add_or_remove_one")
    ]
    return [pytest.param(*case, id="-".join(case)) for case in readings]


@pytest.mark.parametrize(("domain", "fairness", "adjacency"), cases())
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_witness_attains_the_supremum(domain, fairness, adjacency, kind):
    """Data sets, through Moments and objective, against the closed forms and enclosures."""
    for basis, d, n, (scale_s, scale_n), weight in itertools.product(
        ("monomial", "matrix"), (1, 2, 4), (2, 1000), ((0.25, 4.0), (4.0, 0.25)), (Fraction(1), Fraction(1, 20))
    ):
        setting = Setting(d, fairness, domain, adjacency, basis, weight, n)
        x_s = d - 1
        in_s = layout(domain_of(setting), readings_of(setting)).contains(x_s)
        noise = Noise(kind, scale_s, scale_n, in_s)
        supremum = supremum_of(setting, noise)
        loss = extreme_neighbours(setting, noise, x_s).loss(noise)
        assert loss <= supremum.upper * (1 + Fraction(1, 10**9)), setting
        assert loss >= supremum.lower * (1 - Fraction(1, 10**9)), setting


def test_attainment_check_fires_on_a_pair_that_is_not_extreme():
    setting = Setting(3, "absolute", "unit_box", records=10)
    noise = Noise("laplace", 1.0, 1.0, layout(domain_of(setting), readings_of(setting)).contains(0))
    domain = domain_of(setting)
    mild = [Repeated(domain.check([[0.5] * 3, [1.0] * 3], [0, y], [0, z]), (9, 1)) for y, z in ((1, 0), (0, 1))]
    loss = Neighbours(mild[0], mild[1], readings_of(setting)).loss(noise)
    assert loss < supremum_of(setting, noise).lower * Fraction(9, 10)


def test_witness_written_out_is_neighbouring_and_gives_the_same_loss():
    setting = Setting(5, "absolute", "unit_box", records=1000)
    budget = SplitBudget("10", "0.1", "1e-3", "1e-3")
    judgement = judge(MECHANISMS["adfc"], setting, budget, readings_of(setting))
    neighbours = judgement.witness.neighbours
    left, right = neighbours.left.records(), neighbours.right.records()
    assert len(left) == len(right) == 1000
    different = (left.x != right.x).any(axis=1) | (left.y != right.y) | (np.asarray(left.z) != np.asarray(right.z))
    assert different.sum() == 1
    changes = objective(Moments.of(right), neighbours.readings).values
    changes = changes - objective(Moments.of(left), neighbours.readings).values
    assert changes == pytest.approx(neighbours.change, rel=1e-9, abs=1e-12)
    shift = float(np.linalg.norm(changes / judgement.noise.scales))
    assert shift**2 == pytest.approx(float(judgement.witness.loss), rel=1e-9)
    assert judgement.witness.delta is not None
    by_scipy = balle_wang(shift, float(judgement.claim.epsilon))
    assert by_scipy == pytest.approx(float(judgement.witness.delta.lower), rel=1e-7)


def test_repeated_moments_equal_the_moments_of_all_records():
    domain = domain_of(Setting(3, "absolute", "unit_ball"))
    x = np.random.default_rng(0).uniform(0, 0.5, size=(4, 3))
    data = Repeated(domain.check(x, [0, 1, 0, 1], [0, 0, 1, 1]), (3, 1, 40, 7))
    compact, full = data.moments, Moments.of(data.records())
    assert (compact.n, compact.sum_z, len(data)) == (full.n, full.sum_z, 51)
    for name in ("sum_x", "sum_yx", "sum_zx", "sum_xx"):
        assert getattr(compact, name) == pytest.approx(getattr(full, name), rel=1e-13)


# --- Second sources for the profiles -------------------------------------------------------------------------


@pytest.mark.parametrize(("change", "epsilon"), [(0.3, 0.1), (1.0, 0.5), (2.0, 3.0), (0.05, 0.0)])
def test_gaussian_profile_by_integration(change, epsilon):
    """The hockey-stick integral over one output."""
    integral, error = quad(
        lambda t: max(norm.pdf(t - change) - math.exp(epsilon) * norm.pdf(t), 0.0),
        # where the densities cross
        epsilon / change + change / 2,
        10,
        epsabs=1e-12,
    )
    assert error < 1e-9
    assert float(delta_of_shift(Fraction(change) ** 2, Fraction(epsilon))) == pytest.approx(integral, abs=1e-9)


def two_coefficients(
    density: str, changes: tuple[float, float], scales: tuple[float, float], epsilon: float
) -> float:
    """Integrate max(p - exp(epsilon) q, 0) over two noisy coefficients, by the midpoint rule."""
    step = 0.01
    axis = np.arange(-24, 24, step) + step / 2
    p: list[Any] = []
    q: list[Any] = []
    for change, scale in zip(changes, scales, strict=True):
        for target, centre in ((p, change), (q, 0.0)):
            t = (axis * scale - centre) / scale
            target.append(norm.pdf(t) if density == "gaussian" else np.exp(-np.abs(t)) / 2)
    stick = np.maximum(np.outer(*p) - math.exp(epsilon) * np.outer(*q), 0.0)
    return float(stick.sum() * step * step)


@pytest.mark.parametrize(("scales", "epsilon"), [((1.0, 2.0), 0.3), ((0.7, 5.0), 1.0), ((3.0, 0.5), 2.0)])
def test_two_scales_of_gaussian_noise_by_integration(scales, epsilon):
    changes = (1.0, 0.8)
    squared = sum(((Fraction(c) / Fraction(s)) ** 2 for c, s in zip(changes, scales, strict=True)), Fraction(0))
    integral = two_coefficients("gaussian", changes, scales, epsilon)
    assert float(delta_of_shift(squared, Fraction(epsilon))) == pytest.approx(integral, abs=2e-5)
    # a wrong shift, 5 % longer, is seen
    wrong = delta_of_shift(squared * Fraction(11, 10), Fraction(epsilon))
    assert float(wrong) != pytest.approx(integral, abs=2e-4)


@pytest.mark.parametrize("scales", [(1.0, 2.0), (0.5, 4.0)])
def test_two_scales_of_laplace_noise_by_integration(scales):
    """The loss is the sum of change / scale: nothing beyond it, something at any less."""
    changes = (1.0, 0.8)
    loss = sum(c / s for c, s in zip(changes, scales, strict=True))
    assert two_coefficients("laplace", changes, scales, loss) < 1e-12
    assert two_coefficients("laplace", changes, scales, loss * 0.99) > 1e-6


@pytest.mark.parametrize("exponent", [3, 30, 400])
@pytest.mark.parametrize("squared", ["0.0001", "0.2", "4", "90"])
def test_exact_epsilon_is_enclosed_from_both_sides(squared, exponent):
    delta, shift = Fraction(1, 10**exponent), Fraction(squared)
    epsilon = epsilon_of_shift(shift, delta)
    if epsilon == 0:
        assert delta_of_shift(shift, Fraction(0)) <= delta
        return
    assert delta_of_shift(shift, epsilon * (1 + Fraction(1, 10**15))) <= delta
    assert delta_of_shift(shift, epsilon * (1 - Fraction(1, 10**15))) > delta


# --- Null and broken controls ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["functional", "relaxed_functional", "pdfc", "adfc"])
@pytest.mark.parametrize("domain", ["unit_ball", "unit_box"])
@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
def test_equal_budgets_keep_the_statement(capsys, name, domain, adjacency):
    code, document = run(capsys, f"{name} --dimension 5 --domain {domain} --adjacency {adjacency}")
    assert code == 0
    assert document["verdict"] in ("proved", "enclosed")
    assert (document["exact_delta"] is None) == (name in ("functional", "pdfc"))


@pytest.mark.parametrize("name", ["functional", "relaxed_functional", "pdfc", "adfc"])
def test_half_the_sensitivity_is_refuted(name):
    setting = Setting(5, "absolute", "unit_box", records=1000)
    spec = MECHANISMS[name]
    delta = "1e-3" if spec.needs_delta else "0"
    budget = SplitBudget(1, 1, delta, delta) if spec.split_budget else Budget(1, delta)
    readings = readings_of(setting)
    enough = judge(spec, setting, budget, readings.with_(sensitivity="exact"))
    power = 1 if name in ("functional", "pdfc") else 2
    exact_scale = float(supremum_of(setting, Noise.uniform("laplace" if power == 1 else "gaussian", 1.0, 1)).upper)
    half = judge(spec, setting, budget, readings.with_(sensitivity=str(exact_scale ** (1 / power) / 2)))
    assert enough.verdict in ("proved", "enclosed")
    assert half.verdict == "refuted"
    assert half.witness.violates(half.claim)


# --- Output and bad input -------------------------------------------------------------------------------------


def test_deltas_survive_at_1e_minus_400(capsys):
    code, document = run(
        capsys, "adfc --dimension 7 --epsilon-s 5 --epsilon-n 1 --delta-s 1e-400 --delta-n 1e-400"
    )
    assert code == 1
    assert Decimal(document["claimed_delta"]) == Decimal("2e-400") - Decimal("1e-800") or Decimal(
        document["claimed_delta"]
    ).adjusted() in (-400, -399)
    assert -310 < Decimal(document["exact_delta"]["lo"]).adjusted() < -290
    assert Decimal(document["exact_delta"]["lo"]) <= Decimal(document["exact_delta"]["hi"])


def test_several_mechanisms_give_a_list_and_text_names_every_part(capsys):
    code, documents = run(capsys, "functional pdfc --dimension 2 --domain unit_box")
    assert code == 0
    assert [document["mechanism"] for document in documents] == ["functional", "pdfc"]
    assert main(shlex.split(HEADLINE)) == 1
    text = capsys.readouterr().out
    for word in ("claim:", "exact:", "factor:", "verdict: refuted", "witness:", "again:"):
        assert word in text


def test_an_undecided_verdict_gives_exit_code_3(monkeypatch):
    genuine = accounting.exact_privacy
    monkeypatch.setattr(
        "audit.privacy.exact_privacy", lambda *words: replace(genuine(*words), verdict="undecided")
    )
    assert main(shlex.split("adfc --dimension 2")) == 3


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "adfc --dimension 0",
        "adfc --dimension 100000",
        "adfc --records 0",
        "adfc --records 1 --adjacency add_or_remove_one",
        "adfc --records 10000000000000",
        "adfc --fairness separate",
        "adfc --delta 0.9999",
        "adfc --epsilon-s 1",
        "pdfc --epsilon -1",
        "adfc --x-s x99 --dimension 3",
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, line):
    assert main(line.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1


def test_extremes_need_a_number_of_records():
    setting = Setting(2)
    with pytest.raises(ReadingError):
        extreme_neighbours(setting, Noise.uniform("gaussian", 1.0, 5))
