"""The pytest plugin: the documented test, failing ones, the draws of a test, and the JUnit report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from audit.gate.evidence.test_one_call import ROOT, blocks

TESTS = """

import audit

def noisy_sum(data, rng):
    return sum(data) + rng.laplace()

@pytest.mark.audit_draws(20_000)
def test_sum_with_half_the_noise(assert_private):
    assert_private(noisy_sum, [0.0, 2.0], [0.0, 0.0], epsilon=1)

@pytest.mark.audit_draws(5_000)
def test_budget_is_kept(assert_private):
    assert_private(lambda data, rng: 0.0, [0.0], [0.0], epsilon=1, draws=6_000)

@pytest.mark.audit_draws(5_000)
def test_budget_is_kept_by_the_imported_call():
    audit.assert_private(lambda data, rng: 0.0, [0.0], [0.0], epsilon=1, draws=6_000)

@pytest.mark.audit_draws(1_000)
def test_budget_is_spent(assert_private):
    for _ in range(2):
        assert_private(lambda data, rng: rng.laplace(), [0.0], [0.0], epsilon=1, allow_undecided=True)

@pytest.mark.audit_draws("all")
def test_budget_that_is_none():
    pass

@pytest.mark.audit_draws(20_000)
def test_leaky_variant_raises_what_the_page_says(assert_private):
    with pytest.raises(AssertionError, match="refuted"):
        assert_private(lambda data, rng: data[0] + rng.laplace(), [9.0], [0.0], epsilon=1, draws=19_500)
    with pytest.raises(ValueError, match="draws"):
        assert_private(lambda data, rng: 0.0, [0.0], [1.0], epsilon=1, draws=-(10**9))
    # 500 are left
    assert_private(lambda data, rng: 0.0, [0.0], [1.0], epsilon=1)

def test_option_that_is_none(assert_private):
    assert_private(lambda data, rng: 0.0, [0.0], [0.0], epsilon=1, drawz=6_000)

def broken(data, rng):
    return 1 / 0

def test_mechanism_that_fails(assert_private):
    assert_private(broken, [0.0], [0.0], epsilon=1)

@pytest.mark.audit_draws(40_000)
def test_right_ones_twice(assert_private):
    for right in ([0.0], [0.5]):
        assert_private(noisy_sum, [1.0], right, epsilon=1, draws=10_000)
    # of the imported call the default is what is left
    assert audit.assert_private(noisy_sum, [1.0], [0.0], epsilon=1).to_json()["draws"] == 20_000

def test_without_a_budget():
    audit.assert_private(noisy_sum, [1.0], [0.0], epsilon=1, draws=6_000)
"""


def properties(report: Path) -> dict[str, list[tuple[str, str]]]:
    return {
        case.get("name", ""): [(one.get("name", ""), one.get("value", "")) for one in case.iter("property")]
        for case in ET.parse(report).iter("testcase")
    }


def test_plugin_passes_the_documented_test_and_fails_with_a_witness(tmp_path):
    (tmp_path / "test_mine.py").write_text(blocks("python")[-1] + TESTS, encoding="utf-8")
    # a warning is an error: none comes of the properties
    plugin = ["--disable-plugin-autoload", "-p", "audit.evidence.pytest_plugin", "-p", "no:cacheprovider"]
    words = [sys.executable, "-m", "pytest", *plugin, "-q", "--strict-markers", "-W", "error"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*words, "--junitxml=report.xml", "."],
        cwd=tmp_path,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert "7 failed, 3 passed, 1 error" in done.stdout
    assert "500 draws are left of the test's budget, and an audit needs 1,000" in done.stdout
    assert "refuted: epsilon is at least 1." in done.stdout
    assert done.stdout.count("6,000 draws asked for, 5,000 left of the test's budget") == 2
    assert "no draws are left of the test's budget: pass draws= to each call" in done.stdout
    assert "audit_draws takes one whole number, at least 1" in done.stdout
    assert "has no argument 'drawz', but epsilon, delta, draws, significance, seed, adjacency" in done.stdout
    # short: what is refuted shows no code, what fails shows the caller's and the mechanism's, and none of ours
    assert "return sum(data)" not in done.stdout
    assert "return 1 / 0" in done.stdout
    assert not re.search(r"audit[/.]\w+[/.]\w+\.py", done.stdout)
    found = properties(tmp_path / "report.xml")
    documented = dict(found["test_sum_keeps_epsilon_one"])
    assert documented["audit.verdict"] == "not refuted"
    assert "less often than about once in" in documented["audit.not_ruled_out"]
    wrong = dict(found["test_sum_with_half_the_noise"])
    assert float(wrong["audit.epsilon_lower_bound"]) > 1
    assert json.loads(wrong["audit.witness"])["counts"]["likely"] > 0
    names = [name for name, _ in found["test_right_ones_twice"]]
    assert {"audit.verdict", "audit.2.verdict"} < set(names)
    assert len(names) == len(set(names))
