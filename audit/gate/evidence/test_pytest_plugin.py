"""The pytest plugin: the documented test, failing ones, the draws of a test, and the JUnit report."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from audit.auditor import dependence, draws, first, probe
from audit.evidence import copies
from audit.evidence.one_call import audited
from audit.gate.evidence.test_one_call import ROOT, blocks

PAGE = ROOT / "docs" / "one-call.md"

TESTS = """

import audit
import numpy as np
import threading
from concurrent.futures import ThreadPoolExecutor

def noisy_sum(data, rng):
    return sum(data) + rng.laplace()

@pytest.mark.audit_draws(20_000)
def test_sum_with_half_the_noise(assert_private):
    assert_private(noisy_sum, [0.0, 2.0], [0.0, 0.0], epsilon=1)

@pytest.mark.audit_draws(5_000)
def test_budget_is_kept(assert_private):
    assert_private(lambda data, rng: 0.0, [0.0], [0.0], epsilon=1, draws=6_000)

@pytest.mark.parametrize("draws", [np.int64(6_000), type("Whole", (int,), {})(6_000)])
@pytest.mark.audit_draws(5_000)
def test_budget_is_kept_by_other_whole_numbers(assert_private, draws):
    assert_private(lambda data, rng: 0.0, [0.0], [0.0], epsilon=1, draws=draws)

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

def helper(assert_private, place):
    assert_private(noisy_sum, [place], [0.0], epsilon=1, draws=4_000)

@pytest.mark.audit_draws(13_000)
@pytest.mark.parametrize("calls", [2, 9])
def test_which_call_fails(assert_private, calls):
    for place in [1.0] * (calls - 1):
        helper(assert_private, place)
    helper(assert_private, 3.0)

def test_which_imported_call_fails():
    for place in (1.0, 5.0):
        audit.assert_private(noisy_sum, [place], [0.0], epsilon=1, draws=4_000)

class Unshown(list):
    def __repr__(self):
        raise RuntimeError("not shown")

def test_input_that_cannot_be_shown(assert_private):
    assert_private(noisy_sum, Unshown([3.0]), Unshown([0.0]), epsilon=1, draws=4_000)

def test_caller_without_a_name():
    exec("audit.assert_private(noisy_sum, [4.0], [0.0], epsilon=1, draws=4_000)",
         {"audit": audit, "noisy_sum": noisy_sum, "__name__": None})

def test_calls_in_threads(assert_private):
    begun = threading.Event()
    def slow(data, rng):
        begun.set()
        return noisy_sum(data, rng)
    with ThreadPoolExecutor(1) as other:
        first = other.submit(assert_private, slow, [6.0], [0.0], epsilon=1, draws=4_000)
        begun.wait()
        assert_private(noisy_sum, [1.0], [0.0], epsilon=1, draws=4_000)
    raise first.exception()

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
    # a warning is an error: none comes of the properties; a summary would repeat lines, whole ones where CI is set
    plugin = ["--disable-plugin-autoload", "-p", "audit.evidence.pytest_plugin", "-p", "no:cacheprovider"]
    plugin.append("--color=no")
    words = [sys.executable, "-m", "pytest", *plugin, "-q", "-rN", "--strict-markers", "-W", "error"]
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
    assert "15 failed, 3 passed, 1 error" in done.stdout
    assert "500 draws are left of the test's budget, and an audit needs 1,000" in done.stdout
    assert "refuted: epsilon is at least 1." in done.stdout
    advice = "raise audit_draws, or pass lower draws= to each call"
    asked = rf"call 1, at test_mine.py:\d+: 6,000 draws asked for, 5,000 left of the test's budget: {advice}"
    assert len(re.findall(asked, done.stdout)) == 4
    assert re.search(
        rf"call 2, at test_mine.py:\d+: no draws are left of the test's budget: {advice}", done.stdout
    )
    # which call of a loop in a helper, from where, and on which inputs
    written = (tmp_path / "test_mine.py").read_text(encoding="utf-8").splitlines()
    inner, last = (1 + next(n for n, line in enumerate(written) if words in line) for words in ("[place]", "3.0)"))
    assert f"call 2, at test_mine.py:{last} (in test_mine.py:{inner}): refuted: epsilon is at" in done.stdout
    assert "\n  inputs: [3.0] against [0.0]\n" in done.stdout
    # the imported call keeps the trace of the test
    assert re.search(
        r"AssertionError: refuted: epsilon.*\n.*\nE +inputs: \[5.0\] against \[0.0\]\n(E.*\n)+?"
        r"E +call 2, at test_mine.py:\d+\n",
        done.stdout,
    )
    assert re.search(
        r"call 1, at test_mine.py:\d+: refuted: .*\n.*\n  inputs: \[3.0\] against \[0.0\]\n", done.stdout
    )
    assert re.search(
        r"refuted: epsilon.*\n.*\nE +inputs: \[4.0\] against(.*\n)+?E +call 1, at test_mine.py:\d+ "
        r"\(in <string>:1\)\n",
        done.stdout,
    )
    # the number is that of the beginning, and the library of threads is no place
    assert re.search(r"call 1: refuted: epsilon(.*\n)+?  inputs: \[6.0\] against", done.stdout)
    assert f"call 4, at test_mine.py:{last - 1} (in test_mine.py:{inner}): 4,000 draws asked for" in done.stdout
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
    assert wrong["audit.inputs"] == "[0.0, 2.0] against [0.0, 0.0]"
    for test in ("test_right_ones_twice", "test_calls_in_threads"):
        names = [name for name, _ in found[test]]
        assert {"audit.verdict", "audit.2.verdict"} < set(names)
        assert len(names) == len(set(names))
    assert dict(found["test_calls_in_threads"])["audit.verdict"] == "refuted"


SILENT = """
import audit
import numpy as np
import pytest
import threading
import threading_helpers
import unittest
from concurrent.futures import ThreadPoolExecutor

HOW = {"epsilon": 1, "draws": 4_000}

ended = threading.Event()

def right(data, rng):
    return sum(data) + rng.laplace()

def in_thread(function):
    one = threading.Thread(target=function)
    one.start()
    one.join()

def refuted(assert_private=audit.assert_private):
    assert_private(right, [9.0], [0.0], **HOW)

@pytest.mark.audit_draws(50_000)
def test_warned_marker_alone():
    pass

@pytest.mark.audit_draws(50_000)
def test_warned_fixture_alone(assert_private):
    pass

@pytest.mark.audit_draws(50_000)
def test_warned_audit_of_arrays():
    noise = np.random.default_rng(0).laplace(size=(2, 2_000))
    assert audit.epsilon_lower_bound(*noise) < 1

class TestWarnedOfUnittest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.at = 1.0

    @pytest.mark.audit_draws(50_000)
    def test_warned_method(self):
        pass

def test_silent_thread(assert_private):
    in_thread(lambda: refuted(assert_private))

def test_silent_imported_call_in_a_thread():
    in_thread(refuted)

def test_silent_failure_in_a_thread(assert_private):
    in_thread(lambda: assert_private(lambda data, rng: 1 / 0, [9.0], [0.0], **HOW))

def test_silent_future(assert_private):
    with ThreadPoolExecutor(1) as others:
        others.submit(refuted, assert_private)

def test_silent_future_whose_exception_is_read(assert_private):
    with ThreadPoolExecutor(1) as others:
        one = others.submit(refuted, assert_private)
    assert one.exception() is not None

def test_silent_future_beside_a_hook_for_threads(assert_private, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", print)
    with ThreadPoolExecutor(1) as others:
        others.submit(refuted, assert_private)

def test_silent_thread_that_goes_on(assert_private):
    begun = threading.Event()
    def slow(data, rng):
        begun.set()
        ended.wait(60)
        return right(data, rng)
    threading.Thread(target=lambda: assert_private(slow, [1.0], [0.0], **HOW)).start()
    begun.wait()

@pytest.mark.audit_draws(50_000)
def test_heard_call(assert_private):
    assert_private(right, [1.0], [0.0], **HOW)

@pytest.mark.audit_draws(50_000)
def test_heard_call_in_a_thread():
    in_thread(lambda: audit.assert_private(right, [1.0], [0.0], **HOW))

@pytest.mark.audit_draws(50_000)
def test_heard_call_that_is_refused(assert_private):
    with pytest.raises(ValueError, match="draws"):
        assert_private(right, [1.0], [0.0], epsilon=1, draws=-1)

@pytest.mark.audit_draws(50_000)
def test_heard_skip():
    pytest.skip("not here")

@pytest.mark.audit_draws(50_000)
class TestHeardMarkerOfAClass:
    def test_heard_helper(self):
        pass

def test_heard_expected(assert_private):
    with pytest.raises(AssertionError, match="refuted"):
        refuted(assert_private)

def test_heard_caught(assert_private):
    try:
        refuted(assert_private)
    except AssertionError:
        pass

class TestHeardOfUnittest(unittest.TestCase):
    def test_heard_method(self):
        self.assertRaises(AssertionError, refuted)

def test_heard_result_of_a_future(assert_private):
    with ThreadPoolExecutor(1) as others:
        one = others.submit(refuted, assert_private)
        with pytest.raises(AssertionError, match="refuted"):
            one.result()

def test_heard_by_a_hook_of_the_test(assert_private, monkeypatch):
    seen = []
    monkeypatch.setattr(threading, "excepthook", lambda told: seen.append(told.exc_type))
    in_thread(lambda: refuted(assert_private))
    assert seen

def test_heard_by_a_helper():
    assert threading_helpers.caught(refuted) is not None

class TestHeardOfAClass:
    @pytest.fixture(scope="class")
    def finding(self):
        return audit.assert_private(right, [1.0], [0.0], **HOW)

    @pytest.mark.audit_draws(50_000)
    @pytest.mark.parametrize("again", [0, 1])
    def test_heard_shared_audit(self, finding, again):
        assert finding.verdict == "not refuted"

class TestHeardOfSetUpClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.finding = audit.assert_private(right, [1.0], [0.0], **HOW)

    @pytest.mark.audit_draws(50_000)
    def test_heard_first(self):
        pass

    @pytest.mark.audit_draws(50_000)
    def test_heard_second(self):
        pass

def test_heard_in_the_thread(assert_private):
    def expected():
        with pytest.raises(AssertionError, match="refuted"):
            refuted(assert_private)
    in_thread(expected)

@pytest.mark.audit_draws(50_000)
def test_heard_failure():
    ended.set()
    assert False
"""


HELPERS = """
import threading

def caught(function):
    seen = []
    def caught_here():
        try:
            function()
        except AssertionError as problem:
            seen.append(problem)
    one = threading.Thread(target=caught_here)
    one.start()
    one.join()
    return seen[0]
"""


def test_a_verdict_lost_is_an_error_and_an_audit_not_made_a_warning(tmp_path):
    """Both passed: a marked test without a call, and a refutation in a thread."""
    # its name begins as that of Python's module does
    (tmp_path / "threading_helpers.py").write_text(HELPERS, encoding="utf-8")
    (tmp_path / "test_mine.py").write_text(SILENT, encoding="utf-8")
    plugin = ["--disable-plugin-autoload", "-p", "audit.evidence.pytest_plugin", "-p", "no:cacheprovider"]
    words = [sys.executable, "-m", "pytest", *plugin, "-q", "-rN", "--color=no"]
    words += ["-W", "ignore::pytest.PytestUnhandledThreadExceptionWarning", "--junitxml=report.xml", "."]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    found: dict[str, set[str]] = {}
    for case in ET.parse(tmp_path / "report.xml").iter("testcase"):
        found.setdefault(case.get("name", ""), set()).update(one.tag for one in case if one.tag != "properties")
    silent = {name for name in found if "silent" in name}
    assert len(silent) == 7
    assert {name for name, tags in found.items() if "error" in tags} == silent
    assert {name for name, tags in found.items() if "failure" in tags} == {"test_heard_failure"}
    said = "PytestWarning: the test has the marker audit_draws, and no call of assert_private in this process"
    warned = {name for name in found if "warned" in name}
    assert done.stdout.count(said) == len(warned) == 4
    assert set(re.findall(r"^test_mine\.py::(?:\w+::)?(\w+)$", done.stdout, re.MULTILINE)) == warned
    assert len(re.findall(r"in another thread: (call 1.*: )?refuted: epsilon is at least", done.stdout)) == 5
    assert len(re.findall(r"in another thread: call 1, at test_mine.py:\d+: .*ZeroDivisionE", done.stdout)) == 1
    assert "1 of 1 calls had not ended when the test did: wait for the thread" in done.stdout
    asked = "ask for future.result() (exception() and callbacks do not count), or catch it in the thread"
    assert done.stdout.count(f"it was not raised in the test: {asked}") == 6


class Counted:
    """A mechanism that counts its draws in all processes."""

    def __init__(self, scale):
        self.scale, self.made = scale, multiprocessing.RawValue("q", 0)

    def sample(self, data, count, rng):
        self.made.value += count
        return sum(data) + self.scale * rng.laplace(size=(count, 1))


@pytest.mark.parametrize(("scale", "least", "most"), [(1.0, 1_000, 9_000), (0.4, 13_000, 22_000)])
def test_draws_beyond_those_asked_for_are_as_few_as_the_page_says(scale, least, most):
    mechanism = Counted(scale)
    audited(mechanism, ([0.0, 1.0], [0.0, 0.0]), (1, 0), draws=200_000)
    assert least < mechanism.made.value - 200_000 <= most


def test_most_draws_beyond_those_asked_for_are_what_the_page_says():
    """Each input: the probe, short calls, fresh copies, those made in doubt (one input), and other processes."""
    probed = draws.OPENING + probe.CALLS * probe.PROBE + dependence.CALLS * dependence.PER_CALL
    fresh = first.COPIES[-1] * (1 + first.SECOND_CALL)
    others = copies.COPIES * copies.MOST_CALLS + copies.MOST_MORE + 2 * copies.MOST_MORE + copies.FEWEST_CALLS
    others += copies.PROCESSES * (1 + copies.LATER)
    assert 2 * (probed + fresh + others) <= 40_000
    in_doubt = first.COPIES[-1] * (1 + first.DOUBTED_CALLS * first.DOUBTED_ROWS)
    assert 2 * in_doubt <= 150_000
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert "at most 40,000 in all (190,000 if fresh copies look different)" in page
