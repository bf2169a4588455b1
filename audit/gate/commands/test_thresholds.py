"""``python -m audit thresholds``: what it prints is what the data sets it prints show."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from audit.exact.data_sets import Repeated
from audit.exact.thresholds import coefficients_with_chosen_sign
from audit.gate.running import program
from reference.domain import Domain
from reference.objective import objective
from reference.readings import Readings
from reference.records import check_matrix

main = program("thresholds")


def run(capsys, *words):
    """Return the JSON document of a run that succeeds."""
    assert main([*words, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def data_sets(document, pair):
    """Return both data sets, read back from what was printed."""
    readings = document["readings"]
    columns = [f"x{index + 1}" for index in range(readings["dimension"])]
    domain = Domain.of_columns(columns, norm=readings.get("domain", "unit_ball"))
    sides = []
    for side in ("left", "right"):
        x, y, z, counts = (tuple(row[name] for row in pair[side]) for name in ("x", "y", "z", "count"))
        sides.append(Repeated(check_matrix(domain, np.array(x, dtype=float), y, z), counts))
    return sides


def layout_and_change(document, pair, fairness_weight):
    """Return the released coefficients' layout, and their change between the printed data sets."""
    names = ("fairness", "basis", "adjacency")
    readings = Readings(fairness_weight=fairness_weight, **{name: document["readings"][name] for name in names})
    left, right = (objective(side.moments, readings) for side in data_sets(document, pair))
    return left.layout, right.values - left.values


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize(
    "words",
    [
        ("--dimension", "2", "--domain", "unit_box"),
        ("--dimension", "2", "--records", "50", "--basis", "matrix"),
        ("--dimension", "3", "--fairness", "covariance", "--adjacency", "add_or_remove_one"),
    ],
)
def test_alpha_witness_exceeds_the_bound_above_and_not_below(capsys, norm, words):
    document = run(capsys, "alpha", "--norm", norm, *words)
    bound = float(Fraction(document["published" if norm == "l1" else "published_squared"]))
    sizes = {}
    for side in ("below", "above"):
        _, change = layout_and_change(document, document[side], document[side]["fairness_weight"])
        size = float(np.abs(change).sum() if norm == "l1" else (change**2).sum())
        assert size == pytest.approx(document[side]["change"] ** (1 if norm == "l1" else 2), rel=1e-9)
        sizes[side] = size
    assert sizes["below"] <= bound < sizes["above"]
    assert document["below"]["bound_holds"]
    assert document["above"]["exceeds_published"]
    assert not document["below"]["exceeds_published"]


def test_alpha_threshold_lies_between_the_two_sides(capsys):
    exact = run(capsys, "alpha", "--norm", "l1", "--domain", "unit_box", "--dimension", "13")
    assert exact["threshold"] == "425/208"
    both = run(capsys, "alpha", "--dimension", "2")
    assert [document["norm"] for document in both] == ["l1", "l2"]
    for document in both:
        low, high = (Fraction(document["threshold"][end]) for end in ("lo", "hi"))
        below, above = (Fraction(document[side]["fairness_weight"]) for side in ("below", "above"))
        assert below < low < high < above


def test_sign_changes_exceed_the_bound_and_grow_with_the_records(capsys):
    document = run(capsys, "sign", "--dimension", "3", "--alpha", "3/2")
    bound = Fraction(document["published"])
    changes = []
    for pair in document["data_sets"]:
        left, right = (
            coefficients_with_chosen_sign(side.moments, 1.5, np.ones(3)) for side in data_sets(document, pair)
        )
        changes.append(float(np.abs(left - right).sum()))
        assert changes[-1] == pytest.approx(float(Fraction(pair["change"])), rel=1e-9)
        assert changes[-1] > bound
    assert changes[0] < changes[1] < changes[2]
    # the smallest: two records fewer stay within the bound
    smallest = document["data_sets"][0]["records"]
    fewer = run(capsys, "sign", "--dimension", "3", "--alpha", "3/2", "--records", str(smallest - 2))
    assert [pair["exceeds_published"] for pair in fewer["data_sets"]] == [False]


@pytest.mark.parametrize(
    "words",
    [
        ("--dimension", "2", "--domain", "unit_box"),
        ("--dimension", "1", "--records", "5"),
        ("--dimension", "3", "--fairness", "none", "--adjacency", "add_or_remove_one"),
    ],
)
def test_delta1_witness_exceeds_the_formula_at_a_smaller_delta_1(capsys, words):
    document = run(capsys, "delta1", *words)
    below = document["below"]
    layout, change = layout_and_change(document, below, "1")
    on_s = np.abs(change)[layout.contains(0)].sum()
    part = on_s if below["budget"].startswith("epsilon_s") else np.abs(change).sum() - on_s
    loss = float(part) / float(Fraction(below["delta_1"]))
    assert loss == pytest.approx(below["loss"], rel=1e-9)
    assert loss > Fraction(below["formula"])
    assert below["exceeds_formula"]


def test_delta1_stands_beside_the_published_one(capsys):
    box = ("delta1", "--domain", "unit_box", "--dimension", "2")
    known = run(capsys, *box)
    assert (known["smallest"], known["published"], known["published_suffices"]) == ("13/2", "7/1", True)
    assert run(capsys, *box, "--alpha", "9/8")["published_suffices"] is True
    assert run(capsys, *box, "--alpha", "1.126")["published_suffices"] is False
    without = run(capsys, *box, "--fairness", "separate")
    assert without["published"] is None
    assert without["published_suffices"] is None


def test_drift_counterexamples_are_printed_in_exact_rationals(capsys):
    document = run(capsys, "drift")
    found = [(pair["change"], pair["last_terms"]) for pair in document["counterexamples"]]
    assert found == [("1/2", "0/1"), ("2/1", "3/2")]
    for pair in document["counterexamples"]:
        left, right = (
            objective(side.moments, Readings(fairness="absolute")).linear[0] for side in data_sets(document, pair)
        )
        assert right - left == float(Fraction(pair["change"]))


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (
            ["alpha", "--dimension", "2", "--domain", "unit_box", "--norm", "l1"],
            ["5/4 = 1.25", "exceeds the bound"],
        ),
        (["alpha", "--dimension", "2", "--norm", "l2"], ["sqrt(73/4)", "between 1.636", "999 x (x = ("]),
        (["sign"], ["published l1 bound: 7", "N = 9: a change of 8 exceeds", "4 x (x = (1, 0), y = 0, z = 1)"]),
        (["delta1", "--dimension", "2", "--domain", "unit_box"], ["13/2 = 6.5", "7, which suffices"]),
        (["delta1", "--dimension", "2", "--fairness", "separate"], ["none for these readings"]),
        (["drift"], ["changes by 2, and not by the proofs' 3/2", "1 x (x = (1), y = 1, z = 0)"]),
    ],
)
def test_text_names_the_threshold_and_the_data_sets(capsys, words, parts):
    assert main(words) == 0
    text = capsys.readouterr().out
    for part in [*parts, "  left: ", "  right: ", f"again: python -m audit thresholds {words[0]}"]:
        assert part in text


def test_rerun_repeats_the_result_and_out_writes_it(capsys, tmp_path):
    first = run(capsys, "delta1", "--dimension", "2", "--domain", "unit_box", "--alpha", "1/3")
    assert run(capsys, *first["rerun"].split()[4:]) == first
    target = tmp_path / "delta1.json"
    assert main([*first["rerun"].split()[4:], "--format", "json", "--out", str(target)]) == 0
    assert json.loads(target.read_text(encoding="utf-8")) == first


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["alpha", "--fairness", "none", "--dimension", "2"], "absolute or covariance"),
        (["alpha", "--records", "1", "--dimension", "2"], "at least 2"),
        (["alpha", "--dimension", "0"], "from 1 to"),
        (["sign", "--dimension", "1"], "at least 2"),
        (["sign", "--records", "4"], "odd and at least 3"),
        (["sign", "--alpha", "0"], "larger"),
        (["sign", "--alpha", "1e-50"], "larger"),
        (["delta1", "--alpha", "much"], "a finite number"),
        (["delta1", "--domain", "symmetric_ball", "--dimension", "2"], "none, covariance or separate"),
        (["drift", "--out", "/nowhere/at/all"], "can be written"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, words, advice):
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("error: ")
    assert advice in captured.err
