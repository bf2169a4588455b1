"""``python -m audit privacy``: exact numbers from the definitions, and the output."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import norm

from audit.exact.privacy import WITNESS_SIZES
from audit.gate.running import program
from reference import accounting
from reference.datasets import Encoding, shipped_domain
from reference.records import encode_table

main = program("privacy")


HEADLINE = (
    "adfc --dimension 13 --epsilon-s 10 --epsilon-n 0.1 --delta-s 1e-3 --delta-n 1e-3 --fairness absolute "
    "--domain unit_box"
)


def run(capsys, line: str) -> tuple[int, Any]:
    code = main([*shlex.split(line), "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def low(value: Any) -> float:
    return float(Fraction(value["lo"] if isinstance(value, dict) else value))


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
    assert document["witness"]["records"] == WITNESS_SIZES[0]
    # the witness shows it with 1000 records, the exact number is the supremum over all sizes
    assert float(document["claimed_delta"]) < low(document["witness"]["delta_at_claimed_epsilon"])
    assert low(document["witness"]["delta_at_claimed_epsilon"]) <= low(document["exact_delta"])


def test_rerun_gives_the_same_document(capsys):
    _, document = run(capsys, HEADLINE + " --records 1000 --alpha 2 --basis matrix")
    words = shlex.split(document["rerun"])
    assert words[:4] == ["python", "-m", "audit", "privacy"]
    assert run(capsys, shlex.join(words[4:]))[1] == document


@pytest.mark.parametrize("name", ["functional", "relaxed_functional", "pdfc", "adfc"])
@pytest.mark.parametrize("domain", ["unit_ball", "unit_box"])
@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
def test_equal_budgets_keep_the_statement(capsys, name, domain, adjacency):
    code, document = run(capsys, f"{name} --dimension 5 --domain {domain} --adjacency {adjacency}")
    assert code == 0
    assert document["verdict"] in ("proved", "enclosed")
    assert (document["exact_delta"] is None) == (name in ("functional", "pdfc"))


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


@pytest.mark.parametrize(
    ("line", "verdict", "shown"),
    [
        ("adfc --dimension 13 --epsilon-s 10 --epsilon-n 1", "enclosed", "holds (enclosed)"),
        ("pdfc --dimension 2 --domain unit_box", "proved", "holds (proved)"),
        ("adfc --dimension 13 --epsilon-s 10 --epsilon-n 1 --delta 1e-6", "refuted", "refuted"),
    ],
)
def test_text_says_that_a_statement_holds_and_json_keeps_the_verdict(capsys, line, verdict, shown):
    assert run(capsys, line)[1]["verdict"] == verdict
    main(shlex.split(line))
    assert f"  verdict: {shown}\n" in capsys.readouterr().out


def test_an_undecided_verdict_gives_exit_code_3(monkeypatch):
    genuine = accounting.exact_privacy
    monkeypatch.setattr(
        "audit.exact.privacy.exact_privacy", lambda *words: replace(genuine(*words), verdict="undecided")
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


DECLARED = "adfc --data affairs --epsilon-s 10 --epsilon-n 0.1"


def test_a_statement_that_fails_on_the_ball_holds_for_encodable_rows(capsys):
    code, document = run(capsys, DECLARED)
    assert (code, document["verdict"], document["norm_domain"]["verdict"]) == (0, "enclosed", "refuted")
    assert low(document["norm_domain"]["exact_delta"]) > 10 * float(document["claimed_delta"])
    code, document = run(capsys, "adfc --dimension 7 --epsilon-s 10 --epsilon-n 0.1")
    assert (code, document["verdict"], "norm_domain" in document) == (1, "refuted", False)


def test_a_statement_is_refuted_by_encodable_rows(capsys):
    code, document = run(capsys, "adfc --data affairs --domain unit_box --epsilon-s 10 --epsilon-n 0.1")
    assert (code, document["verdict"]) == (1, "refuted")
    shown = document["witness"]
    assert low(shown["delta_at_claimed_epsilon"]) > float(document["claimed_delta"])
    rows = [shown["rows"][name] for name in ("others", "left", "right")]
    domain = shipped_domain("affairs", Encoding("unit_box")).domain
    table = {name: [row[name] for row in rows] for name in rows[0]}
    encoded = encode_table(domain, table)
    stated = [shown["left"][0]["x"], shown["left"][-1]["x"], shown["right"][-1]["x"]]
    assert encoded.x.tolist() == stated


def test_a_domain_file_is_judged_as_it_declares(capsys, tmp_path):
    path = tmp_path / "domain.json"
    attributes = [{"kind": "numeric", "name": "age", "lower": 17, "upper": 90}]
    label, group = {"column": "y"}, {"column": "z"}
    path.write_text(json.dumps({"schema": "domain_v1", "attributes": attributes, "label": label, "group": group}))
    code, document = run(capsys, f"pdfc functional --domain {path}")
    assert code == 0
    # one numeric attribute fills the ball
    assert {
        low(found["exact_epsilon"]) == pytest.approx(low(found["norm_domain"]["exact_epsilon"]))
        for found in document
    } == {True}


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("pdfc --data affairs --dimension 3", "left out with a declared domain"),
        ("pdfc --keep-group", "left out without --data or a domain file"),
        ("pdfc --data nowhere", "nowhere"),
        ("pdfc --domain nowhere.json", "cannot be read"),
        ("pdfc --data some.csv", "a domain file"),
        ("lr", "mechanism must be one that adds noise, not 'lr'"),
        ("pdfcc", "did you mean pdfc?"),
    ],
)
def test_a_declared_domain_that_is_none_is_one_line(capsys, line, advice):
    assert main(line.split()) == 2
    error = capsys.readouterr().err
    assert advice in error
    assert error.count("\n") == 1
