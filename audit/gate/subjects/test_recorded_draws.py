"""Random methods that add no noise, under the recorder: what they are given, and what they draw from."""

from __future__ import annotations

import random
from collections import deque

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from audit.gate.subjects.test_recorder import LEFT, MEAN, RIGHT, SIZE, ten_times_too_small
from audit.subjects.recorder import NoiseClaim, examine

DRAWS = {
    "binomial": lambda x: np.random.default_rng().binomial(1, x.mean()),
    "poisson": lambda x: np.random.default_rng().poisson(lam=9 + x.mean()),
    "choice": lambda x: np.random.default_rng().choice(2, p=[x.mean(), 1 - x.mean()]),
    "gamma": lambda x: np.random.RandomState(3).gamma(1 + x.sum()),
    "integers": lambda x: np.arange(6)[np.random.default_rng().integers(1 + int(x.sum()))],
    "multinomial": lambda x: np.random.multinomial(5, [x.mean(), 1 - x.mean()]),  # noqa: NPY002
    "bernoulli": lambda x: scipy.stats.bernoulli.rvs(x.mean(), random_state=1),
    "choices": lambda x: random.Random(1).choices((0, 1), weights=[1, x.sum()]),
    "triangular": lambda x: random.Random(3).triangular(0, x.sum()),
}
EXCHANGES = {
    "permutation": lambda x: np.random.default_rng(1).permutation(x)[:3].sum() / SIZE,
    "of rows": lambda x: np.random.RandomState(1).permutation(x[:, None])[:, 0].mean(),
    "random": lambda x: x[np.random.default_rng().random(SIZE) < 0.5].sum() / SIZE,
    "binomial": lambda x: x.mean() * np.random.default_rng().binomial(1, 0.5),
    "sample": lambda x: sum(random.Random(1).sample(list(x), SIZE)) / SIZE,
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_with_data_as_parameter_is_unjudged(name):
    drawn, beside = DRAWS[name], lambda x: (DRAWS[name](x), ten_times_too_small(x), x.max())
    (found,) = examine(drawn, LEFT, RIGHT, MEAN)
    assert (found.kind, f"of {name} depend on data" in found.said) == ("unjudged", True)
    assert {one.kind for one in examine(beside, LEFT, RIGHT, MEAN)} == {"unjudged", "scale", "around"}


@pytest.mark.parametrize("drawn", EXCHANGES.values(), ids=EXCHANGES)
def test_other_draws_are_passed_over_and_named_beside_a_raw_answer(drawn):
    noisy = lambda x: drawn(x) + np.random.default_rng().laplace(scale=1 / SIZE)  # noqa: E731
    for seed in range(3):
        assert examine(noisy, LEFT, RIGHT, MEAN, seed=seed) == []
    (found,) = examine(lambda x: (drawn(x) * 0, x.max()), LEFT, RIGHT, MEAN)
    assert (found.kind, "noise of " in found.said, "no noise" in found.said) == ("around", True, False)


def test_a_choice_among_records_that_misses_the_changed_one_is_unjudged():
    chosen = lambda x: np.random.default_rng().choice(x, 2, replace=False)  # noqa: E731
    assert {examine(chosen, LEFT, RIGHT, MEAN, seed=seed)[0].kind for seed in range(9)} == {"unjudged", "around"}
    assert all(examine(chosen, LEFT, LEFT + 0, MEAN, seed=seed) == [] for seed in range(9))


UNLIKE = [(1, 2), (3,), (5, 6, 7)]
OF_UNLIKE = {
    "choice": lambda x: random.Random(1).choice(x),
    "choices": lambda x: random.Random(1).choices(x, k=2),
    "sample": lambda x: random.Random(1).sample(population=x, k=2),
    "a queue": lambda x: random.Random(1).sample(deque(x), 2),
    "arrays": lambda x: random.Random(1).choice([np.array(record) for record in x]),
    "an array of arrays": lambda x: np.array([*map(np.array, x), None], dtype=object)[:3],
    "tables": lambda x: random.Random(1).choice([pd.DataFrame({"a": record}) for record in x]),
    "a column": lambda x: np.random.RandomState(1).choice(pd.Series([len(record) for record in x])),
}


@pytest.mark.parametrize("name", OF_UNLIKE)
def test_records_of_unequal_length_are_drawn_from(name):
    drawn, other = OF_UNLIKE[name], [*UNLIKE[:2], (5, 6, 8)]
    assert examine(drawn, UNLIKE, list(UNLIKE), NoiseClaim(1.0)) == []
    beside = lambda x: (str(drawn(x)), x[2])  # noqa: E731
    assert "around" in [one.kind for one in examine(beside, UNLIKE, other, NoiseClaim(1.0))]


def test_tables_as_results_are_compared_by_labels_and_digits():
    results = [pd.Series([zero], index=[name]) for name, zero in (("a", 0.0), ("b", 0.0), ("a", -0.0))]
    for right, kinds in enumerate(([], ["around"], ["around"])):
        assert [one.kind for one in examine(results.__getitem__, 0, right, NoiseClaim(1.0))] == kinds
