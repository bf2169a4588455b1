"""Other libraries on the same splits: each is set as the page says, and fits what it says."""

from __future__ import annotations

import numpy as np
import pytest

from reference.datasets import Encoding
from reference.experiments import peers
from reference.experiments.splits import SplitSpec, prepare
from reference.experiments.variants import Variant
from reference.experiments.zafar import constrained_regression
from reference.fairness import risk_difference

BOX = Variant("", "", Encoding("unit_box"))


@pytest.fixture(scope="module")
def split():
    return prepare(SplitSpec("synthetic", BOX.encoding))


def test_every_library_is_run_on_every_split():
    document = peers.measure(peers.PeerDesign("affairs", BOX, splits=2, epsilons=("1",)))
    assert document["absent"] == {}
    libraries = [row["library"] for row in document["rows"]]
    assert set(libraries) == {"this project", "scikit-learn", "fairlearn", "diffprivlib"}
    assert libraries.count("diffprivlib") == 2
    assert {row["runs"] for row in document["rows"]} == {2}
    assert all(document["versions"].values())


def test_declared_norm_is_the_domains_and_not_the_datas():
    box, ball = (prepare(SplitSpec("affairs", Encoding(norm))).train for norm in ("unit_box", "unit_ball"))
    assert peers.largest_norm(box) == np.sqrt(box.x.shape[1])
    assert peers.largest_norm(ball) == 1.0
    for records in (box, ball):
        assert np.linalg.norm(records.x, axis=1).max() <= peers.largest_norm(records)


def test_private_models_with_a_huge_epsilon_predict_as_without_noise(split):
    on = SplitSpec("synthetic", BOX.encoding)
    test = split.test
    plain = constrained_regression(split.train.x, split.train.y, split.train.z, np.inf).w
    expected = float(((test.x @ plain > 0) == test.y).mean())
    for make in (peers.diffprivlib_logistic, peers.diffprivlib_linear):
        found = peers.fitted(make("1e6"), split, on)
        assert found.accuracy == pytest.approx(expected, abs=0.05), make


def test_reduction_lowers_the_risk_difference(split):
    on = SplitSpec("synthetic", BOX.encoding)
    fair, free = (peers.fitted(make(), split, on) for make in (peers.fairlearn_reduction, peers.scikit_learn))
    assert fair.risk_difference < free.risk_difference / 2
    assert fair.accuracy > fair.majority_accuracy


def test_zafars_constraint_lowers_the_risk_difference(split):
    on = SplitSpec("synthetic", BOX.encoding)
    free, bound = (peers.fitted(peers.zafar(share), split, on) for share in ("1", "0"))
    assert bound.risk_difference < free.risk_difference / 2
    prediction = np.ones(len(split.test.y), dtype=bool)
    assert risk_difference(prediction, split.test.z) == 0.0
