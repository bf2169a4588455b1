"""What the advice forecasts, beside what fits of made tables lose: tables that set none of its constants."""

from __future__ import annotations

import json

import numpy as np
import pytest

from reference.budgets import Budget
from reference.common.documents import plain
from reference.domain import Domain
from reference.domain.attributes import Numeric, OneHot
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.records import encode_table
from reference.repaired import prepared, repaired_logistic
from reference.repaired.advice import DROWNED_MODEL, Advice, advise, zero_one_hints
from tests.command_lines import reference

BUDGET = Budget(1, "1e-5")


def lost_and_advice(told: list[float], n: int) -> tuple[float, Advice]:
    """Return the share of the gain that noise costs, and the advice; cells show the label with these chances."""
    columns = len(told)
    random = np.random.default_rng(1)
    y = random.random(2 * n) < 0.5
    shows = random.random((2 * n, columns)) < told
    cells = np.where(shows, 3 * y[:, None], random.integers(0, 4, (2 * n, columns)))
    table = {f"c{j}": cells[:, j] for j in range(columns)} | {"y": y.astype(int)}
    domain = Domain(tuple(OneHot(f"c{j}", (0, 1, 2, 3)) for j in range(columns)), "y", None, "unit_ball")
    records = prepared(encode_table(domain, table))
    fitted, held = records.take(np.arange(n)), records.take(np.arange(n, 2 * n))
    majority = max(held.y.mean(), 1 - held.y.mean())

    def gain(epsilon: float, seed: int) -> float:
        model = repaired_logistic(
            fitted, Budget(epsilon, "1e-5"), fairness="none", slack=0, noise="numpy", rng=seed
        )
        return float((model.predict(held.x, None) == held.y).mean() - majority)

    best = gain(10_000, 0)
    return (best - np.mean([gain(1, seed) for seed in range(5)])) / best, advise(domain, n, BUDGET, "none")


def test_a_forecast_errs_on_both_sides_as_it_says() -> None:
    # all columns tell the label: the forecast is far too high
    lost, advice = lost_and_advice([0.2] * 60, 1_500)
    assert (advice.outlook, advice.lost) == ("not with this many records", 1.0)
    assert lost < advice.lost_between[0] < 0.2
    assert "unless the columns tell the label clearly" in str(advice)
    # one column hardly tells it: too low
    lost, advice = lost_and_advice([0.08] + [0.0] * 7, 3_000)
    assert 2 * advice.lost < lost < advice.lost_between[1]


def test_the_command_says_both_ends(capsys, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    columns = (Numeric("flag", 0, 1), Numeric("age", 0, 90), OneHot("job", ("a", "b")))
    declared = DomainFile(attributes=columns, label=Marker("y"), group=Marker("z"))
    (tmp_path / "domain.json").write_text(json.dumps(plain(declared)))

    def said(records: int, more: str = "") -> str:
        assert reference(*f"advise --domain domain.json --records {records} {more}".split()) == 0
        return capsys.readouterr().out

    few = said(20)
    assert "where the columns tell the label clearly, 100% where they hardly do" in few
    assert f"warning: {DROWNED_MODEL}" in few
    assert DROWNED_MODEL not in said(20, "--fairness none")
    assert DROWNED_MODEL not in said(10_000)
    assert "less than 1% where the columns tell the label clearly" in said(1_000_000)
    assert "Hint: 'flag': the forecast counts 8 columns each" in few
    # the file counts its columns as the paper's mechanisms use them: the command says why it counts more
    assert reference("domain", "--check", "domain.json") == 0
    in_file = declared.domain.dimension
    assert f"{in_file} columns, unit_ball" in capsys.readouterr().out
    assert f" columns ({in_file} in the domain file; a fit puts numbers into bins" in few.replace("\n", " ")
    one = DomainFile(attributes=columns[2:], label=Marker("y"))
    (tmp_path / "domain.json").write_text(json.dumps(plain(one)))
    assert f"20 records, {one.domain.dimension} columns, epsilon 1" in said(20, "--fairness none")
    (tmp_path / "domain.json").write_text(json.dumps(plain(declared)))
    # German credit has 800 records to fit
    alone = "they are too few for a fair model, whatever the budget"
    assert alone in said(800, "--epsilon 10")
    assert alone not in said(2_000, "--epsilon 10")
    assert alone not in said(800, "--epsilon 10 --fairness none")


@pytest.mark.parametrize(
    ("attribute", "hinted"),
    [
        (Numeric("a", 0, 1), True),
        (Numeric("a", 0, 2), False),
        (OneHot("a", (0, 1)), False),
    ],
)
def test_numbers_that_may_be_0_or_1_alone_get_a_hint(attribute: Numeric | OneHot, hinted: bool) -> None:
    declared = DomainFile(attributes=(attribute,), label=Marker("y"))
    assert bool(zero_one_hints(declared)) is hinted
