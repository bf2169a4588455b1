"""Draws beyond those that a call asks for, which the marker `audit_draws` does not count."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from audit.auditor import dependence, draws, first, probe
from audit.evidence import copies
from audit.evidence.one_call import audited

PAGE = Path(__file__).parents[3] / "docs" / "one-call.md"


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
    doubted = first.DOUBTED_COPIES * (1 + first.AFTER_ROWS)
    others = copies.COPIES * copies.MOST_CALLS + copies.MOST_MORE + 2 * copies.MOST_MORE + copies.FEWEST_CALLS
    assert 2 * (probed + fresh + others) + doubted <= 40_000
    assert "at most 40,000 in all" in PAGE.read_text(encoding="utf-8")
