from __future__ import annotations

import random
import sys
import types
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from audit.exact.neighbours import extreme_neighbours
from audit.exact.witnesses import domain_of
from audit.gate.exact.sensitivity_settings import written_out
from audit.subjects.recorder import NoiseClaim, NoiseFunction, examine
from reference.budgets import Budget, SplitBudget
from reference.mechanisms import (
    adfc,
    adfc_noise,
    functional,
    functional_noise,
    pdfc,
    pdfc_noise,
    relaxed_functional,
    relaxed_functional_noise,
)
from reference.moments import Moments
from reference.readings import Readings
from reference.sensitivity import Setting, setting_of

LEFT = np.array([0.2, 0.9, 0.4, 0.0])
RIGHT = np.array([0.2, 0.9, 0.4, 1.0])
SIZE = len(LEFT)


def marked(function):
    """Return a function and the line of its comment `# here`."""
    source, first = Path(__file__).read_text().splitlines(), function.__code__.co_firstlineno
    line = next(n for n, text in enumerate(source, 1) if n >= first and text.endswith(" here"))
    return f"{Path(__file__)}:{line}"


def laplace_mean(x):
    rng = np.random.default_rng()
    return np.clip(x, 0, 1).mean() + rng.laplace(scale=1 / SIZE)


MEAN = NoiseClaim(1.0, sensitivity=1 / SIZE)


def nan_passes(x):
    x = np.array([value if not value > 1 else 1.0 for value in x])
    return x.mean() + np.random.default_rng().laplace(scale=1 / SIZE)  # here


def fewer_calls(x):
    rng = np.random.default_rng()
    return [value + rng.laplace(scale=1.0) for value in x if value > 0]  # here


def ten_times_too_small(x):
    return x.mean() + np.random.default_rng().laplace(scale=0.1 / SIZE)  # here


def long_parameter(x):
    scale = np.full(10_000, 1.0)
    scale[7_001] += x[-1] * 1e-3
    np.random.default_rng().laplace(scale=scale)  # here
    return 0


def raw_answer(x):
    noisy = x.mean() + np.random.default_rng().laplace(scale=1 / SIZE)
    return float(noisy), x.max()


def loose_pair(x):
    return np.clip(x, -1, 1).mean() + np.random.default_rng().laplace(scale=1 / SIZE)  # here


def scale_from_data(x):
    return x.mean() + np.random.default_rng().laplace(scale=(x.max() - x.min()) / SIZE)  # here


def seed_from_data(x):
    return x.mean() + np.random.default_rng(int(10 * x.sum())).laplace(scale=1 / SIZE)  # here


def legacy_seed_from_data(x):
    return x.mean() + np.random.RandomState(int(10 * x.sum())).laplace(scale=1 / SIZE)  # here


def global_seed_from_data(x):
    np.random.seed(int(10 * x.sum()))  # noqa: NPY002  here
    return x.mean() + np.random.laplace(scale=1 / SIZE)  # noqa: NPY002


def seeded_and_too_small(x):
    return x.mean() + np.random.RandomState(3).laplace(scale=0.1 / SIZE)  # here


def order_from_data(x):
    rng = np.random.default_rng()
    draws = [lambda: x.sum() + rng.laplace(scale=2.0), lambda: len(x) + rng.normal(scale=2.0)]  # here
    if x[-1] > 0.5:
        draws.reverse()
    return sorted(float(one()) for one in draws)


PROBES = [
    (nan_passes, LEFT, np.array([0.2, 0.9, 0.4, np.nan]), MEAN, "nan"),
    (fewer_calls, LEFT, RIGHT, NoiseClaim(1.0), "calls"),
    (ten_times_too_small, LEFT, RIGHT, MEAN, "scale"),
    (long_parameter, LEFT, RIGHT, NoiseClaim(1.0), "scale"),
    (loose_pair, -RIGHT, RIGHT * [-1, -1, -1, 1], MEAN, "sensitivity"),
    (scale_from_data, LEFT, RIGHT, MEAN, "scale"),
    (seed_from_data, LEFT, RIGHT, MEAN, "public"),
    (legacy_seed_from_data, LEFT, RIGHT, MEAN, "public"),
    (global_seed_from_data, LEFT, RIGHT, MEAN, "public"),
    (seeded_and_too_small, LEFT, RIGHT, MEAN, "scale"),
    (order_from_data, LEFT, RIGHT, NoiseClaim(1.0), "calls"),
]


@pytest.mark.parametrize(
    ("run", "left", "right", "claim", "kind"), PROBES, ids=lambda v: getattr(v, "__name__", "")
)
def test_a_broken_function_is_caught_at_its_line(run, left, right, claim, kind):
    found = examine(run, left, right, claim)
    assert (kind, marked(run)) in [(one.kind, one.line) for one in found]


def test_a_raw_answer_is_caught_beside_a_noisy_one():
    found = examine(raw_answer, LEFT - 0.0, np.array([0.2, 0.9, 0.4, 1.0]), MEAN)
    assert [(one.kind, one.line) for one in found] == [
        ("around", f"{Path(__file__)}:{raw_answer.__code__.co_firstlineno}")
    ]


@pytest.mark.parametrize("unit", [0.0, 0j])
@pytest.mark.parametrize(("threshold", "kinds"), [(0.95, ["around"]), (0.5, [])])
def test_sign_of_a_zero_is_a_raw_answer(unit, threshold, kinds):
    def signed_zero(x):
        return laplace_mean(x), unit * (x.max() - threshold)

    assert [one.kind for one in examine(signed_zero, LEFT, RIGHT, MEAN)] == kinds


def test_a_loose_pair_stays_unseen_on_other_neighbours():
    assert examine(loose_pair, LEFT, RIGHT, MEAN) == []


def opened_too_early(x):
    return x.mean() + float(np.random.default_rng().laplace(scale=1 / SIZE))


def added_afterwards(x):
    noisy = np.asarray(x.mean() + np.random.default_rng().laplace(scale=1 / SIZE))
    return noisy + x.max()


def unseen_noise(x):
    return x.mean() + random.gauss(0, 1 / SIZE)


def one_noise_for_all(x):
    return x + np.random.default_rng().laplace(scale=1.0)


def times_data(x):
    return x.mean() + x.max() * np.random.default_rng().standard_normal()


def raises_on_one(x):
    if x[-1] > 0.5:
        raise ValueError("too large")
    return 0


OTHERS = [
    (opened_too_early, "around"),
    (added_afterwards, "around"),
    (unseen_noise, "randomness"),
    (one_noise_for_all, "reused"),
    (times_data, "scale"),
    (raises_on_one, "raised"),
]


@pytest.mark.parametrize(("run", "kind"), OTHERS)
def test_what_else_goes_wrong_is_caught(run, kind):
    assert kind in [one.kind for one in examine(run, LEFT, RIGHT, NoiseClaim(9.0, 0.1))]


# --- nothing is found in what is right ------------------------------------------------------------------------


def located(x):
    return np.random.default_rng(3).laplace(x.mean(), 1 / SIZE)


def legacy(x):
    return round(x.mean() + np.random.laplace(scale=1 / SIZE), 3)  # noqa: NPY002


def legacy_generator(x):
    rng = np.random.RandomState(3)
    assert isinstance(rng, np.random.RandomState)
    return x.mean() + rng.laplace(scale=1 / SIZE)


def bit_generator(x):
    rng = np.random.Generator(np.random.PCG64(3))
    assert isinstance(rng, np.random.Generator)
    return x.mean() + np.random.default_rng(rng).laplace(scale=1 / SIZE)


def rows_of_normals(x):
    return x.sum() + np.random.randn(2, 1)  # noqa: NPY002


def seed_from_elsewhere(x):
    rng = np.random.default_rng(random.getrandbits(64))
    return x.mean() + rng.laplace(scale=1 / SIZE)


def scipy_noise(x):
    return x.mean() + scipy.stats.laplace.rvs(scale=1 / SIZE) / 1.0


def frozen_scipy_noise(x):
    return float(scipy.stats.laplace(loc=x.mean(), scale=1 / SIZE).rvs())


def in_place(x):
    total = np.array([x.sum()])
    total += np.random.default_rng().laplace(scale=1.0, size=1)
    return f"{max(total[0], 0) / SIZE:.3f}"


def noisy_sum_over_public_count(x):
    noisy = (np.random.default_rng().laplace(size=1) + x.sum()) / SIZE
    return "high" if noisy > 0.5 else noisy.tolist()


def onto_noise(x):
    noise = np.random.default_rng().laplace(scale=1.0)
    noise += x.sum()
    return noise


def noisy_eigenvalues(x):
    noisy = np.outer(x, x) + np.random.default_rng().laplace(scale=3.0, size=(SIZE, SIZE))
    return np.linalg.eigvalsh((noisy + noisy.T) / 2)


def two_noises(x):
    rng = np.random.default_rng()
    return rng.laplace(scale=1.0) - rng.laplace(scale=1.0) + x.sum()


RIGHT_ONES = [
    (laplace_mean, MEAN),
    (located, MEAN),
    (legacy, MEAN),
    (legacy_generator, MEAN),
    (bit_generator, MEAN),
    (rows_of_normals, NoiseClaim(9.0, 0.1)),
    (seed_from_elsewhere, MEAN),
    (scipy_noise, MEAN),
    (frozen_scipy_noise, MEAN),
    (in_place, NoiseClaim(1.0, sensitivity=1.0)),
    (noisy_sum_over_public_count, NoiseClaim(1.0, sensitivity=1.0)),
    (onto_noise, NoiseClaim(1.0, sensitivity=1.0)),
    (noisy_eigenvalues, NoiseClaim(4 / 3)),
    (two_noises, NoiseClaim(1.0)),
]


@pytest.mark.parametrize(("run", "claim"), RIGHT_ONES)
def test_nothing_is_found_in_right_code(run, claim):
    assert examine(run, LEFT, RIGHT, claim) == []


def test_gaussian_noise_is_judged_by_its_exact_profile():
    def run(x):
        return x.sum() + np.random.default_rng().normal(scale=3.731)

    assert examine(run, LEFT, RIGHT, NoiseClaim(1.0, 1e-5, sensitivity=1.0)) == []
    assert [f.kind for f in examine(run, LEFT, RIGHT, NoiseClaim(1.0, 9e-6, sensitivity=1.0))] == ["scale"]


def patched():
    made = (np.random.default_rng, np.random.Generator, np.random.RandomState, np.random.seed)
    return made, np.random.laplace, scipy.stats.laplace.rvs.__func__


def test_patches_are_gone_afterwards():
    before = patched()
    examine(laplace_mean, LEFT, RIGHT, MEAN)
    assert patched() == before


# --- our mechanisms, on the worst pair -------------------------------------------------------------------------

ONE, SPLIT = Fraction(1), (Fraction(1, 2), Fraction(2))
DELTA = Fraction(1, 100_000)
FAIR = Readings(fairness="covariance", sensitivity="exact")
MECHANISMS = [
    (functional, functional_noise, Budget(ONE)),
    (relaxed_functional, relaxed_functional_noise, Budget(ONE, DELTA)),
    (pdfc, pdfc_noise, SplitBudget(*SPLIT)),
    (adfc, adfc_noise, SplitBudget(*SPLIT, DELTA, DELTA)),
]


def worst_neighbours(noise_of, budget):
    domain = domain_of(Setting(3, "covariance", "unit_ball"))
    given = {} if isinstance(budget, Budget) else {"x_s": 0}
    noise = noise_of(domain, budget, FAIR, **given)
    return extreme_neighbours(setting_of(domain, FAIR, 12), noise, 0), given


def worst(mechanism, noise_of, budget):
    neighbours, given = worst_neighbours(noise_of, budget)
    run = lambda data: mechanism(data, budget, FAIR, rng=5, **given).w  # noqa: E731
    return neighbours.left.moments, neighbours.right.moments, run


@pytest.mark.parametrize(("mechanism", "noise_of", "budget"), MECHANISMS)
def test_our_mechanisms_keep_their_largest_epsilon_on_their_worst_pair(mechanism, noise_of, budget):
    left, right, run = worst(mechanism, noise_of, budget)
    claim = NoiseClaim(1.0, 1e-5) if isinstance(budget, Budget) else NoiseClaim(2.0, 1e-5)
    assert examine(run, left, right, claim) == []


def test_our_worst_pair_shows_a_claim_that_is_a_tenth_too_strong():
    left, right, run = worst(*MECHANISMS[0])
    assert [one.kind for one in examine(run, left, right, NoiseClaim(0.9))] == ["loss"]


# --- mechanisms of others ---------------------------------------------------------------------------------------


def opendp_sum(scale):
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=SIZE)
    total = dp.t.make_sum(space, dp.symmetric_distance())
    return total >> dp.m.make_laplace(total.output_domain, total.output_metric, scale=scale)


def test_opendp_is_judged_by_its_privacy_map():
    measurement = opendp_sum(1.0)
    run = lambda x: measurement(list(x)) * 2  # noqa: E731
    assert examine(run, LEFT, RIGHT, NoiseClaim(1.001)) == []
    assert [one.kind for one in examine(run, LEFT, RIGHT, NoiseClaim(0.9))] == ["loss"]


@pytest.fixture
def stand_in(monkeypatch):
    """Return a Laplace mechanism that stands for diffprivlib's; the library itself is in tests/peers."""

    class Laplace:
        def __init__(self, *, epsilon, delta=0.0, sensitivity):
            self.epsilon, self.delta, self.sensitivity = epsilon, delta, sensitivity

        def randomise(self, value):
            return value + np.random.Generator(np.random.PCG64()).laplace() * self.sensitivity / self.epsilon

    module = types.ModuleType("diffprivlib.mechanisms")
    module.Laplace = Laplace
    monkeypatch.setitem(sys.modules, "diffprivlib.mechanisms", module)
    return Laplace


def test_diffprivlib_is_judged_by_what_its_mechanism_states(stand_in):
    def run(x):
        return stand_in(epsilon=1.0, sensitivity=1 / SIZE).randomise(x.mean())

    def twice(x):
        return run(x), run(x)

    def bounds_from_data(x):
        return stand_in(epsilon=1.0, sensitivity=x.max()).randomise(x.mean())

    assert examine(run, LEFT, RIGHT, NoiseClaim(1.0)) == []
    assert [one.kind for one in examine(run, LEFT, 3 * RIGHT, NoiseClaim(1.0))] == ["sensitivity"]
    assert [one.kind for one in examine(twice, LEFT, RIGHT, NoiseClaim(1.0))] == ["loss"]
    assert "public" in [one.kind for one in examine(bounds_from_data, LEFT, RIGHT, NoiseClaim(1.0))]


def test_sum_of_squares_with_the_sensitivity_of_its_lower_bound_is_found(stand_in):
    """diffprivlib's issue 105, in the stand-in: the bound of x^2 on [lower, 1] is taken from the lower end."""

    def squares(lower):
        return lambda x: stand_in(epsilon=1.0, sensitivity=lower**2).randomise(float((x**2).sum()))

    (found,) = examine(squares(0.0), LEFT, RIGHT, NoiseClaim(1.0))
    assert (found.kind, found.line.partition(":")[0]) == ("sensitivity", __file__)
    assert found.said.endswith("Laplace was given the sensitivity 0")
    assert examine(squares(-1.0), LEFT, RIGHT, NoiseClaim(1.0)) == []


def own_noise(value, scale, labels=()):
    return value + scale * len(labels)


OWN = NoiseFunction(__name__, "own_noise")


def test_a_declared_function_is_recorded_with_all_its_parameters(monkeypatch):
    monkeypatch.setitem(sys.modules, __name__, types.SimpleNamespace(own_noise=own_noise))
    here = sys.modules[__name__]
    right = lambda x: here.own_noise(x.mean(), 1 / SIZE)  # noqa: E731
    wrong = lambda x: here.own_noise(x.mean(), 1 / SIZE, ["public"] * 999 + [str(x[-1])])  # noqa: E731
    assert examine(right, LEFT, RIGHT, MEAN, functions=[OWN]) == []
    assert [one.kind for one in examine(wrong, LEFT, RIGHT, MEAN, functions=[OWN])] == ["public"]


@dataclass(frozen=True)
class Answer:
    noisy: object


def test_noise_inside_a_returned_data_class_is_opened():
    def run(x):
        return Answer(laplace_mean(x))

    assert examine(run, LEFT, RIGHT, MEAN) == []
    assert [one.kind for one in examine(run, LEFT, RIGHT, NoiseClaim(0.5))] == ["loss"]


def test_noise_that_has_no_rule_is_said_to_be_unjudged():
    def run(x):
        return x.sum() + np.random.default_rng().exponential(1.0)

    assert [one.kind for one in examine(run, LEFT, RIGHT, NoiseClaim(9.0))] == ["unjudged"]


def test_a_release_with_hardened_noise_is_followed_to_its_sampler():
    pytest.importorskip("opendp")
    neighbours, _ = worst_neighbours(*MECHANISMS[0][1:])
    left, right = (Moments.of(written_out(side), exact=True) for side in (neighbours.left, neighbours.right))

    def run(moments):
        return functional(moments, Budget(ONE), FAIR).w

    assert examine(run, left, right, NoiseClaim(1.0)) == []
    assert [one.kind for one in examine(run, left, right, NoiseClaim(0.9))] == ["loss"]
