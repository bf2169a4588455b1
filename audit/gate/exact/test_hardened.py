"""Hardened noise at the worst pairs of neighbours, and the audits of PFLR*'s claim."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product

import pytest

from audit.evidence.estimation import Audit
from audit.exact.witnesses import readings_of, witness
from audit.gate.exact.sensitivity_settings import written_out
from audit.gate.requests import asked
from audit.gate.running import program
from reference.common.errors import GridError
from reference.moments import Moments
from reference.noise.grid import RELEASE_STEPS, widened_l1, widened_l2_squared
from reference.noise.hardened import on_steps
from reference.objective import layout, objective
from reference.readings import ADJACENCIES, BASES
from reference.sensitivity import Setting, exact_l1, exact_l2_squared

READINGS = [
    (norm, fairness)
    for norm, fairness in product(
        ("unit_ball", "unit_box", "symmetric_ball"), ("none", "absolute", "covariance", "separate")
    )
    if (norm, fairness) != ("symmetric_ball", "absolute")
]

W_S, W_N = Fraction(2), Fraction(1, 3)

privacy = program("privacy")


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(("norm", "fairness"), READINGS)
def test_worst_pair_stays_inside_the_enclosure_after_both_roundings(norm, fairness, adjacency, basis):
    """Both ends, l1 and l2, two weights: what the grid's records and coefficients really change by.

    The broken control is a change 1 % smaller: it leaves the enclosure.
    """
    setting = Setting(4, fairness, norm, adjacency, basis, Fraction(3, 2), records=60)
    for which in ("l1", "l2"):
        worst = witness(setting, which, W_S, W_N)
        sides = [
            objective(Moments.of(written_out(side), exact=True), readings_of(setting)).values
            for side in (worst.left, worst.right)
        ]
        left, right = (on_steps(side, RELEASE_STEPS) for side in sides)
        change = [Fraction(abs(a - b), RELEASE_STEPS) for a, b in zip(left, right, strict=True)]
        in_s = layout(worst.left.domain, readings_of(setting)).contains(0)
        weights = [W_S if inside else W_N for inside in in_s]
        if which == "l1":
            found = widened_l1(exact_l1(setting, W_S, W_N), setting, sum(weights, Fraction(0)), RELEASE_STEPS)
            value = sum(w * c for w, c in zip(weights, change, strict=True))
        else:
            total = sum(weights, Fraction(0))
            found = widened_l2_squared(exact_l2_squared(setting, W_S, W_N), setting, total, RELEASE_STEPS)
            value = sum(w * c * c for w, c in zip(weights, change, strict=True))
        assert found.lower <= value <= found.upper
        assert value * Fraction(99, 100) < found.lower


@pytest.mark.parametrize("mechanism", ["pdfc", "adfc", "relaxed_functional"])
@pytest.mark.parametrize("data", ["", "--data synthetic --records 50", "--adjacency add_or_remove_one"])
def test_an_audit_adds_hardened_noise_to_what_a_release_does(mechanism, data):
    """Those of exact moments: of records on the grid, each one written out; floats are the broken control."""
    exact, floats = (
        Audit.of(*asked(mechanism, *data.split(), "--noise", noise)).subject for noise in ("hardened", "numpy")
    )
    for given, rounded in zip(exact.inputs(), floats.inputs(), strict=True):
        on_steps(given, RELEASE_STEPS)
        assert given.astype(float) == pytest.approx(rounded, abs=0.01)
        with pytest.raises(GridError, match="moments must be exact"):
            on_steps(rounded, RELEASE_STEPS)
    if not data:
        for side, given in zip((exact.neighbours.left, exact.neighbours.right), exact.inputs(), strict=True):
            moments = Moments.of(written_out(side), exact=True)
            assert objective(moments, exact.readings).values.tolist() == given.tolist()
    assert exact.exact.epsilon.lower <= floats.exact.epsilon.upper < exact.exact.epsilon.upper


def test_rounding_the_records_matters_for_the_lower_end():
    """Without its allowance for rounded records the lower end would be above what the worst pair attains."""
    setting = Setting(4, "absolute", "unit_ball", records=60)
    worst = witness(setting, "l1", W_S, W_N)
    readings = readings_of(setting)
    sides = [
        objective(Moments.of(written_out(side), exact=True), readings).values for side in (worst.left, worst.right)
    ]
    weights = [W_S if inside else W_N for inside in layout(worst.left.domain, readings).contains(0)]
    value = sum(w * abs(a - b) for w, a, b in zip(weights, *sides, strict=True))
    ideal = exact_l1(setting, W_S, W_N)
    assert value < ideal.lower
    assert widened_l1(ideal, setting, sum(weights, Fraction(0)), RELEASE_STEPS).lower <= value


@pytest.mark.parametrize(("dimension", "exit_code", "verdict"), [(3, 1, "refuted"), (8, 0, "enclosed")])
def test_pflr_claim_is_decided_by_the_audit(capsys, dimension, exit_code, verdict):
    assert privacy(["pflr", "--dimension", str(dimension), "--format", "json"]) == exit_code
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == verdict


def test_theorem_5_is_refuted_for_hardened_noise_too(capsys):
    words = "adfc --dimension 13 --epsilon-s 10 --epsilon-n 0.1 --domain unit_box --format json"
    documents = []
    for noise in ("numpy", "hardened"):
        assert privacy([*words.split(), "--noise", noise]) == 1
        documents.append(json.loads(capsys.readouterr().out))
    assert [document["verdict"] for document in documents] == ["refuted", "refuted"]
