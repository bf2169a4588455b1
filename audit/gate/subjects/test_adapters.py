"""Mechanisms and models of others as subjects: what they release, what they claim, and what is rejected."""

from __future__ import annotations

import json
import threading
from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from audit.auditor import draws
from audit.auditor.distinguish import Terms, estimate
from audit.auditor.subject import SubjectError
from audit.epsilon_estimate import main
from audit.subjects.adapters import DiffprivlibMechanism, EstimatorSubject, OpenDPMeasurement
from audit.subjects.adapters.outputs import as_rows, type_of
from reference.classifier import PDFCClassifier

HERE = "audit.gate.subjects.test_adapters"


def audit(subject: Any, count: int, significance: float = 1e-9, **choices: Any):
    how = {name: choices.pop(name) for name in ("workers", "progress") if name in choices}
    rng = np.random.default_rng(3)
    families = ("coordinates", "additive")
    return estimate(
        subject, Terms(delta=0.0, draws=count, significance=significance, families=families, **choices), rng, **how
    )


# --- Estimators -----------------------------------------------------------------------------------------------


class NoisyMean(BaseEstimator):  # type: ignore[misc]
    """The mean of rows in [0, 1], of scale 1 / (n epsilon) times `factor`; factor 1 is right for replace_one."""

    def __init__(self, epsilon=1.0, factor=1.0, random_state=None):
        self.epsilon, self.factor, self.random_state = epsilon, factor, random_state

    def fit(self, X, y=None):
        random = self.random_state if self.random_state is not None else np.random.default_rng()
        self.coef_ = X.mean(axis=0) + random.laplace(scale=self.factor / (len(X) * self.epsilon), size=X.shape[1])
        self.inner_ = SimpleNamespace(twice=2 * self.coef_)
        return self


LEFT, RIGHT = (np.array([[0.0], [0.5]]),), (np.array([[1.0], [0.5]]),)


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "not refuted"), (0.4, "refuted")])
def test_estimator_with_too_little_noise_and_no_other_is_refuted(factor, verdict):
    subject = EstimatorSubject(NoisyMean(factor=factor), LEFT, RIGHT, seeded=True)
    assert audit(subject, 4_000).verdict(subject.claimed_epsilon) == verdict


def test_estimator_fits_by_name_or_place_and_shows_any_attribute():
    rng = np.random.default_rng
    plain = EstimatorSubject(NoisyMean(), LEFT, RIGHT, seeded=True).sample(LEFT, 3, rng(1))
    named = EstimatorSubject(NoisyMean(), {"X": LEFT[0]}, {"X": RIGHT[0]}, seeded=True)
    assert (named.sample(named.inputs()[0], 3, rng(1)) == plain).all()
    for attribute in ("inner_.twice", lambda fitted: 2 * fitted.coef_):
        twice = EstimatorSubject(NoisyMean(), LEFT, RIGHT, attribute, seeded=True)
        assert (twice.sample(LEFT, 3, rng(1)) == 2 * plain).all()


def test_seeded_estimator_repeats_its_draws_and_an_unseeded_one_does_not():
    for seeded in (True, False):
        subject = EstimatorSubject(NoisyMean(), LEFT, RIGHT, seeded=seeded)
        first, again = (subject.sample(LEFT, 20, np.random.default_rng(1)) for _ in range(2))
        assert (first == again).all() == seeded
        assert len(np.unique(first)) == 20
        assert subject.own_entropy is not seeded


def test_seeds_reach_an_estimator_inside_a_pipeline():
    pipeline = make_pipeline("passthrough", NoisyMean())
    subject = EstimatorSubject(pipeline, (LEFT[0], [0, 1]), (RIGHT[0], [0, 1]), lambda p: p[-1].coef_, seeded=True)
    first, again = (subject.sample(subject.left_data, 5, np.random.default_rng(1)) for _ in range(2))
    assert (first == again).all()
    assert len(np.unique(first)) == 5


def test_estimator_itself_is_never_fitted():
    own = NoisyMean()
    EstimatorSubject(own, LEFT, RIGHT).sample(LEFT, 2, np.random.default_rng())
    assert not hasattr(own, "coef_")


class Fails(NoisyMean):
    def fit(self, X, y=None):
        if X[0, 0] == 1:
            raise RuntimeError("no fit today")
        return super().fit(X)


class Seedless(BaseEstimator):  # type: ignore[misc]
    pass


def test_a_fit_that_raises_on_one_input_ends_the_audit():
    with pytest.raises(SubjectError, match="RuntimeError: no fit today"):
        audit(EstimatorSubject(Fails(), LEFT, RIGHT), 2_000)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: EstimatorSubject(NoisyMean(random_state=1), LEFT, RIGHT), "random_state must be None"),
        (
            lambda: EstimatorSubject(make_pipeline(NoisyMean(random_state=1)), LEFT, RIGHT),
            "noisymean__random_state must be None",
        ),
        (lambda: EstimatorSubject(Seedless(), LEFT, RIGHT, seeded=True), "seeded needs"),
        (lambda: EstimatorSubject(object(), LEFT, RIGHT), "cannot be cloned"),
        (lambda: EstimatorSubject(Seedless(), LEFT, RIGHT).claimed_epsilon, "state the claim"),
    ],
)
def test_estimators_that_cannot_be_audited_are_named(make, reason):
    with pytest.raises(SubjectError, match=reason):
        make()


def pdfc(sensitivity: str) -> EstimatorSubject:
    """One feature, two records, of which one changes label: |y' - y| x = 1 in the linear coefficient."""
    estimator = PDFCClassifier(
        epsilon=2, fairness="none", domain="unit_box", bounds=(0, 1), sensitivity=sensitivity
    )
    X = np.ones((2, 1))
    return EstimatorSubject(
        estimator, {"X": X, "y": [0, 1]}, {"X": X, "y": [1, 1]}, attribute="release_.w", seeded=True
    )


# one feature that is 1 in every record: no model tells them apart
@pytest.mark.filterwarnings("ignore::reference.fairness.ConstantPredictorWarning")
@pytest.mark.parametrize(
    ("sensitivity", "draws", "verdict"),
    [
        # that an estimator with enough noise stands is shown by NoisyMean as well, which fits sooner
        pytest.param("exact", 4_000, "not refuted", marks=pytest.mark.lengthy),
        ("0.2", 1_000, "refuted"),
    ],
)
def test_our_classifier_is_audited_as_any_other(sensitivity, draws, verdict):
    """A sensitivity of 1/5 loses 5 epsilon in the coefficients where the exact one loses epsilon."""
    subject = pdfc(sensitivity)
    found = audit(subject, draws, claimed_epsilon=subject.claimed_epsilon)
    assert found.verdict(subject.claimed_epsilon) == verdict


# --- Slow subjects and notes ----------------------------------------------------------------------------------


def test_slow_subjects_are_asked_for_few_outputs_at_a_time(monkeypatch):
    asked = []

    @dataclass(frozen=True)
    class Slow:
        most_rows = 50

        def inputs(self):
            return 0.0, 1.0

        def sample(self, data, count, rng):
            asked.append(count)
            return rng.laplace(data, size=(count, 1))

    monkeypatch.setattr(draws, "CHUNK_VALUES", 10_000)
    found = audit(Slow(), 2_000)
    assert max(asked) == 50
    assert found.counts.likely_draws == 700


own_entropy = EstimatorSubject(NoisyMean(), LEFT, RIGHT)
seeded = EstimatorSubject(NoisyMean(), LEFT, RIGHT, seeded=True)


@pytest.mark.parametrize(("name", "seeded"), [("own_entropy", False), ("seeded", True)])
def test_certificate_says_whether_its_seed_repeats_the_draws(capsys, name, seeded):
    words = ["--draws", "2000", "--seed", "5", "--events", "coordinates", "--format", "json"]
    main([f"{HERE}:{name}", *words])
    result = json.loads(capsys.readouterr().out)
    assert result["certificate"]["request"]["seed"] == 5
    assert result["certificate"]["seeded"] is seeded
    assert any("its own entropy" in note for note in result["notes"]) is not seeded
    assert result["witness"]["inputs"]["left"] == [[[0.0], [0.5]]]


# --- diffprivlib's interface; the library itself is audited in tests/peers ------------------------------------


@dataclass
class Mechanism:
    """Follows diffprivlib's interface; remembers a value between calls, as some of its mechanisms do."""

    epsilon: float = 1.0
    delta: float = 0.0
    sensitivity: float = 1.0
    random_state: Any = None
    owner: Any = None

    def randomise(self, value):
        thread = threading.get_ident()
        assert self.owner in (None, thread), "shared between threads"
        self.owner = thread
        return value + np.random.default_rng().laplace(scale=self.sensitivity / self.epsilon)


def test_mechanism_states_its_own_claim_and_is_not_shared_between_threads():
    subject = DiffprivlibMechanism(Mechanism(epsilon=0.5, delta=1e-5), 0.0, 1.0)
    assert (subject.claimed_epsilon, subject.claimed_delta) == (0.5, "1e-05")
    assert audit(DiffprivlibMechanism(Mechanism(), 0.0, 1.0), 20_000, workers=2).epsilon_lower_bound <= 1.0
    assert subject.mechanism.owner is None


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [((Mechanism(random_state=1), 0.0, 1.0), "random_state must be None"), ((Mechanism(), 0.0, 1.5), "1.5 apart")],
)
def test_mechanisms_and_inputs_that_cannot_be_audited_are_named(arguments, reason):
    with pytest.raises(SubjectError, match=reason):
        DiffprivlibMechanism(*arguments)


def test_inputs_as_far_apart_as_the_sensitivity_are_neighbours():
    # 0.4 - 0.1 is above 0.3 in floats
    assert DiffprivlibMechanism(Mechanism(sensitivity=0.3), 0.1, 0.4).inputs() == (0.1, 0.4)


def test_outputs_become_rows_of_numbers():
    assert as_rows([1, 2]).tolist() == [[1.0], [2.0]]
    assert as_rows([np.array([[1, 2], [3, 4]])]).tolist() == [[1, 2, 3, 4]]
    assert as_rows([True, False]).tolist() == [[1.0], [0.0]]
    assert as_rows(["no", "yes"], ("yes", "no")).tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize(
    ("outputs", "outcomes", "reason"),
    [
        (["yes"], (), "declare the outcomes"),
        ([None], (), "declare the outcomes"),
        (["maybe"], ("yes", "no"), "not among the declared"),
        ([[1.0], [1.0, 2.0]], (), "change shape"),
        ([[1.0, [2.0, 3.0]]], (), "an array of numbers"),
    ],
)
def test_outputs_that_are_no_rows_of_numbers_are_named(outputs, outcomes, reason):
    with pytest.raises(SubjectError, match=reason):
        as_rows(outputs, outcomes)


# --- OpenDP ---------------------------------------------------------------------------------------------------


def laplace_measurement(scale: float) -> Any:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    return dp.m.make_laplace(*space, scale=scale)


@pytest.mark.parametrize(("right", "verdict"), [(1.0, "not refuted"), (2.5, "refuted")])
def test_opendp_measurement_stands_for_neighbours_and_falls_for_others(right, verdict):
    """The claim is read from the privacy map at distance 1; inputs 2.5 apart are the broken control."""
    subject = OpenDPMeasurement(laplace_measurement(1.0), 0.0, right)
    assert (subject.claimed_epsilon, subject.claimed_delta) == (1.0, "0.0")
    assert audit(subject, 6_000).verdict(1.0) == verdict


def test_opendp_claims_are_read_from_the_privacy_map():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    assert OpenDPMeasurement(laplace_measurement(4.0), 0.0, 2.0, d_in=2.0).claimed_epsilon == 0.5
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    concentrated = dp.m.make_gaussian(*space, scale=4.0)
    approximate = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(concentrated), 1e-3)
    subject = OpenDPMeasurement(approximate, 0.0, 1.0, d_in=1.0)
    assert 0 < subject.claimed_epsilon < 1
    assert subject.claimed_delta == "0.001"
    with pytest.raises(SubjectError, match="ZeroConcentratedDivergence claims no epsilon"):
        _ = OpenDPMeasurement(concentrated, 0.0, 1.0, d_in=1.0).claimed_epsilon


def test_opendp_vectors_are_rows():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=3), dp.l1_distance(T=float)
    subject = OpenDPMeasurement(dp.m.make_laplace(*space, scale=1.0), [0.0] * 3, [1.0, 0.0, 0.0], d_in=1.0)
    assert subject.sample(subject.left, 4, np.random.default_rng()).shape == (4, 3)


# --- Tables ---------------------------------------------------------------------------------------------------

TABLES = {
    "type": lambda pandas, side: pandas.DataFrame({"a": [1]}, dtype=("int64", "float64")[side]),
    "name": lambda pandas, side: pandas.Series([1.0], name="xy"[side]),
    "name of labels": lambda pandas, side: pandas.Series([1.0], index=pandas.Index([0], name="xy"[side])),
    "text or number": lambda pandas, side: pandas.Series([1.0], index=[("1", 1)[side]]),
    "comma": lambda pandas, side: pandas.Series([1.0, 2.0], index=[("a, b", "c"), ("a", "b, c")][side]),
    "end of many labels": lambda pandas, side: pandas.Series(np.zeros(99), index=[*range(98), "xy"[side]]),
    "fields": lambda _, side: cast(Any, namedtuple)("Sums", "xy"[side])(1.0),
    "array of a library": lambda pandas, side: pandas.array([1], dtype=("Int64", "Int32")[side]),
}


@pytest.mark.parametrize("made", TABLES.values(), ids=TABLES)
def test_what_a_table_shows_besides_its_numbers_is_compared(made):
    """Its numbers are the same on both inputs."""
    pandas = pytest.importorskip("pandas")
    assert type_of(made(pandas, 0)) != type_of(made(pandas, 1))
    # null control
    assert type_of(made(pandas, 0)) == type_of(made(pandas, 0))


def test_attrs_of_a_table_are_refused():
    pandas = pytest.importorskip("pandas")
    table = pandas.Series([1.0])
    assert as_rows([table]).tolist() == [[1.0]]
    table.attrs["records"] = 5
    with pytest.raises(SubjectError, match="a table without attrs"):
        as_rows([table])
