"""What an estimate states as exact speaks of the rows that it audits, and of the norm beside it."""

from __future__ import annotations

import json

from audit.epsilon_estimate import main


def test_of_real_data_exact_is_of_the_declared_domain(capsys):
    main(["pdfc", "--data", "affairs", "--draws", "2000", "--seed", "1", "--format", "json"])
    stated = json.loads(capsys.readouterr().out)["witness"]["inputs"]
    assert _upper(stated["exact"]["epsilon"]) < 0.97 * _upper(stated["norm_domain"]["epsilon"])


def test_of_the_worst_neighbours_of_a_norm_exact_is_of_the_norm(capsys):
    main(["pdfc", "--dimension", "3", "--draws", "2000", "--seed", "1", "--format", "json"])
    assert "norm_domain" not in json.loads(capsys.readouterr().out)["witness"]["inputs"]


def _upper(value: str | dict[str, str]) -> float:
    text = value["hi"] if isinstance(value, dict) else value
    over, _, under = text.partition("/")
    return float(over) / float(under or 1)
