"""``python -m audit sensitivity``: bound, supremum and witness, and the output."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from audit.gate.running import program
from reference.datasets import load

main = program("sensitivity")


def run(capsys, *words: str):
    code = main([*words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_command_line_gives_both_norms_with_bound_and_witness(capsys):
    code, (l1, l2) = run(capsys, "--dimension", "3", "--domain", "unit_box", "--records", "10")
    assert code == 0
    assert (l1["published"], l1["exact"]) == ("45/4", "341/40")
    assert (l2["published_squared"], l2["exact_squared"]) == ("441/16", "588/25")
    assert l2["exact"] == pytest.approx((588 / 25) ** 0.5, rel=1e-15)
    for result in (l1, l2):
        assert sum(row["count"] for row in result["witness"]["left"]) == 10
        assert result["witness"]["change"] == pytest.approx(float(Fraction(str(result["exact"]))), rel=1e-12)


def test_command_line_gives_an_enclosure_where_no_value_is_known(capsys):
    _, result = run(capsys, "--dimension", "4", "--norm", "l1")
    assert "exact" not in result
    assert 6.2508274 < result["lower"] < result["upper"] < 6.2508275


def test_command_line_takes_the_dimension_of_the_embedded_data(capsys):
    _, result = run(capsys, "--norm", "l2")
    assert result["readings"]["dimension"] == load("affairs").domain.dimension
    assert result["exact"] == "3/1"


def test_command_states_no_published_bound_for_separate_or_weights(capsys):
    assert run(capsys, "--dimension", "2", "--fairness", "separate", "--norm", "l1")[1]["published"] is None
    assert run(capsys, "--dimension", "2", "--weight-s", "2", "--norm", "l1")[1]["published"] is None


def test_command_line_rerun_repeats_the_result(capsys):
    _, first = run(capsys, "--dimension", "2", "--alpha", "1/3", "--weight-n", "1/2", "--norm", "l1")
    words = first["rerun"].split()[4:]
    assert run(capsys, *words)[1] == first


def test_text_shows_slack_and_data_sets(capsys):
    assert main(["--dimension", "2", "--domain", "unit_box"]) == 0
    text = capsys.readouterr().out
    for part in (
        "published",
        "7",
        "1.16667",
        "999 x (x = (1 x 2), y = 0, z = 0)",
        "again: python -m audit sensitivity",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["--domain", "symmetric_ball"], "none, covariance or separate"),
        (["--dimension", "0"], "from 1 to 1000"),
        (["--dimension", "100000"], "from 1 to 1000"),
        (["--records", "1000000000000"], "or left out for the limit"),
        (["--records", "1", "--adjacency", "add_or_remove_one"], "at least 2"),
        (["--alpha", "-1"], "between"),
        (["--alpha", "much"], "a finite number"),
        (["--weight-s", "0", "--weight-n", "0"], "positive"),
        (["--dimension", "60", "--effort", "thorough"], "at most"),
    ],
)
def test_bad_input_is_one_line_that_says_what_would_work(capsys, words, advice):
    assert main(words) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert advice in output.err
    assert output.err.count("\n") == 1


def test_a_declared_domain_has_a_supremum_beside_the_norms(capsys):
    _, result = run(capsys, "--data", "affairs", "--norm", "l1", "--weight-s", "3", "--x-s", "age")
    assert float(Fraction(result["exact"])) < result["norm_domain"]["lower"]
    assert (result["witness"]["x_s"], result["method"]) == ("age", "finite maximum")
    again = run(capsys, *result["rerun"].split()[4:])[1]
    assert again == result
    assert main(["--data", "affairs", "--norm", "l2"]) == 0
    assert "rows that the declared domain encodes (unit_ball)" in capsys.readouterr().out


def test_x_s_of_no_declared_domain_is_refused(capsys):
    assert main(["--x-s", "age"]) == 2
    assert "any coordinate will do" in capsys.readouterr().err
