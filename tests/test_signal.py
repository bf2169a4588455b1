"""What a fit says of its usefulness: before it spends from public numbers, afterwards to the data holder."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

from reference.accounting.release_ledger import ReleaseLedger
from reference.budgets import Budget
from reference.classifier import FunctionalMechanismClassifier, LRClassifier, NoPrivacyClassifier
from reference.coefficients import NoisyCoefficients
from reference.domain import Domain
from reference.fairness import ConstantPredictorWarning
from reference.mechanisms import PLAIN, functional_noise
from reference.moments import Moments
from reference.noise import DrownedSignalWarning, draw, drowned, perturb, records_needed
from reference.objective import layout, objective
from reference.records import check_matrix
from tests.file_commands import Run


def least_eigenvalues(n: int, d: int, basis: str, seed: int) -> NDArray[np.float64]:
    """Return the least eigenvalue of 200 noisy quadratics of the data set with the most curvature every way."""
    domain = Domain.of_columns([f"x{i}" for i in range(d)])
    readings = PLAIN.with_(basis=basis)
    # on the ball these attain the bound n/(8 d) in every direction
    x = np.tile(np.eye(d), (n // d + 1, 1))[:n]
    coefficients = objective(Moments.of(check_matrix(domain, x, np.arange(n) % 2, np.zeros(n))), readings)
    noise = functional_noise(domain, Budget(1), readings)
    found = []
    for variates in draw(noise, np.random.default_rng(seed), 200):
        noisy: NoisyCoefficients = perturb(coefficients, noise, variates)
        found.append(np.linalg.eigvalsh((noisy.quadratic + noisy.quadratic.T) / 2)[0])
    return np.array(found)


@pytest.mark.parametrize("basis", ["monomial", "matrix"])
@pytest.mark.parametrize("d", [3, 12])
def test_noise_wins_on_the_best_data_below_the_number(d, basis):
    domain = Domain.of_columns([f"x{i}" for i in range(d)])
    readings = PLAIN.with_(basis=basis)
    needed = records_needed(functional_noise(domain, Budget(1), readings), layout(domain, readings), "unit_ball")
    assert (least_eigenvalues(needed // 3, d, basis, 1) < 0).mean() > 0.7
    assert (least_eigenvalues(3 * needed, d, basis, 2) < 0).mean() < 0.1


def test_number_falls_with_epsilon_and_on_the_box():
    domain = Domain.of_columns(["a", "b", "c"])
    public = layout(domain, PLAIN)
    weak, strong = (functional_noise(domain, Budget(epsilon), PLAIN) for epsilon in ("1/10", "1"))
    ball = records_needed(strong, public, "unit_ball")
    assert records_needed(weak, public, "unit_ball") == pytest.approx(10 * ball, 0.01)
    assert records_needed(strong, public, "unit_box") < ball / 2


def test_nothing_is_said_where_the_number_of_records_is_not_public():
    domain = Domain.of_columns(["a", "b", "c"])
    noise, public = functional_noise(domain, Budget("1e-3"), PLAIN), layout(domain, PLAIN)
    assert drowned(noise, public, "unit_ball", "add_or_remove_one", 10) is None
    assert "10 records" in str(drowned(noise, public, "unit_ball", "replace_one", 10))


def people(n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(0)
    x = random.random((n, 2))
    return x, (x[:, 0] > x[:, 1]).astype(int)


def test_an_estimator_warns_before_it_spends(tmp_path):
    ledger = ReleaseLedger(tmp_path / "l.jsonl", data="made up", epsilon=1000)
    model = FunctionalMechanismClassifier(bounds=(0, 1), epsilon="1/100", release_ledger=ledger)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DrownedSignalWarning)
        with pytest.raises(DrownedSignalWarning, match="100 records"):
            model.fit(*people(100))
    # nothing was spent: the warning came first
    assert ledger.releases == ()
    enough = FunctionalMechanismClassifier(bounds=(0, 1), epsilon=100, release_ledger=ledger)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DrownedSignalWarning)
        enough.fit(*people(2000))
    assert len(ledger.releases) == 1


@pytest.mark.filterwarnings("ignore::reference.noise.DrownedSignalWarning")
def test_a_model_that_says_one_thing_tells_the_data_holder():
    x, y = people(200)
    with pytest.warns(ConstantPredictorWarning, match="not private: for the data holder"):
        LRClassifier(bounds=(0, 1)).fit(x, np.where(np.arange(200) < 199, 1, 0))
    zero = FunctionalMechanismClassifier(bounds=(0, 1), repair="trim", epsilon="1e-6", random_state=3)
    with pytest.warns(ConstantPredictorWarning, match="w is 0|every training record"):
        zero.fit(np.zeros_like(x), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConstantPredictorWarning)
        NoPrivacyClassifier(bounds=(0, 1)).fit(x, y)


def test_a_command_warns_before_what_is_spent_is_published(run: Run):
    small = ("fit", "--data", "synthetic", "--records", "200", "--dimension", "3")
    _, out, err = run(*small, "--release", "r.json")
    assert err.startswith(
        "warning: pdfc: the noise drowns the signal: in some direction even the best 160 records"
    )
    assert "drowns" not in out
    _, out, err = run(*small)
    assert ("drowns the signal" in " ".join(out.split()), err) == (True, "")
    for quiet in (("--seed", "1"), ("--epsilon", "100"), ("--adjacency", "add_or_remove_one")):
        _, out, err = run(*small, *quiet, "--release", "s.json")
        assert "drowns" not in out + err
