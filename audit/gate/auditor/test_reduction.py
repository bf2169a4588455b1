"""Outputs of very many coordinates: reduced to few numbers, within bounded memory, without a false alarm."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from audit.auditor import draws
from audit.auditor.distinguish import Estimate, Terms, estimate
from audit.auditor.draws import Draws
from audit.auditor.events import event_of, stored_event
from audit.auditor.selection import Phases
from audit.auditor.subject import SubjectError
from reference.common.arrays import FloatArray

WIDEST, KEPT = 80, 20
WIDTH = WIDEST + 20
QUICK = ("coordinates", "additive")


@dataclass(frozen=True)
class Wide:
    """Laplace noise on many coordinates; `shift` says by how much each moves on the right input."""

    shift: tuple[tuple[int, float], ...] = ()
    even: float = 0.0

    def inputs(self) -> tuple[float, float]:
        return 0.0, 1.0

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        outputs = rng.laplace(size=(count, WIDTH)) + data * self.even
        for coordinate, by in self.shift:
            outputs[:, coordinate] += data * by
        return outputs


class ScoredWide(Wide):
    """With its log likelihood ratio, which is a function of the whole output."""

    def log_likelihood_ratio(self, outputs: FloatArray) -> FloatArray:
        assert outputs.shape[1] == WIDTH
        return np.asarray((np.abs(outputs - self.even) - np.abs(outputs)).sum(axis=1))


class TellsInputs(Wide):
    """With a ratio that for few outputs tells by the others which input they are of; one coordinate moves by 1."""

    def log_likelihood_ratio(self, outputs: FloatArray) -> FloatArray:
        values = outputs[:, 0]
        ratio = np.abs(values - 1) - np.abs(values)
        rare = np.abs(values) * 7654.321 % 1 < 0.005
        return np.where(rare, ratio + (10.0 if values.mean() < 0.5 else -10.0), ratio)


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce outputs of fewer coordinates than in use: a fifth of the time, and the same is shown."""
    monkeypatch.setattr("audit.auditor.selection.WIDEST", WIDEST)
    monkeypatch.setattr("audit.auditor.selection.KEPT", KEPT)
    monkeypatch.setattr("audit.auditor.events.reduction.KEPT", KEPT)


def audit(subject: Any, count: int = 6_000, seed: int = 1, **choices: Any) -> Estimate:
    rng = np.random.default_rng(seed)
    options = {"families": QUICK, **choices}
    return estimate(subject, Terms(delta=0.0, draws=count, significance=0.05, **options), rng)


def test_one_coordinate_of_many_that_moves_is_found() -> None:
    """Broken control: 3 is lost in coordinate 71."""
    found = audit(Wide(((71, 3.0),)))
    assert 2.0 < found.epsilon_lower_bound <= 3.0
    assert found.event.reduction is not None
    assert 71 in found.event.reduction.coordinates
    assert found.draws == 6_000


def test_a_loss_spread_over_all_coordinates_is_found() -> None:
    """Each loses 0.1, and no single one shows it: the largest bound for one coordinate would be 0.1."""
    assert audit(Wide(even=0.1)).epsilon_lower_bound > 1.0


def test_many_coordinates_that_do_not_move_give_no_loss() -> None:
    """Null control: at significance 0.05, in at most 2 of 4 audits (probability 0.999)."""
    assert sum(audit(Wide(), 1_000, seed).epsilon_lower_bound > 0 for seed in range(4)) <= 2


def test_the_exact_likelihood_ratio_of_whole_outputs_is_used() -> None:
    found = audit(ScoredWide(even=0.1), families=("coordinates",))
    assert found.epsilon_lower_bound > 1.0
    alone = audit(ScoredWide(even=0.1), 2_000, families=("likelihood_ratio",))
    assert alone.event.reduction is None
    assert alone.epsilon_lower_bound > 1.0


def test_a_ratio_that_tells_inputs_by_other_wide_outputs_is_found() -> None:
    """Reduced outputs have it, too: by calls of one input alone, it showed a loss of 3."""
    with pytest.raises(SubjectError, match="must not depend on the other outputs"):
        audit(TellsInputs(((0, 1.0),)), 40_000, families=("coordinates",))


@pytest.mark.parametrize("subject", [Wide(even=0.1), ScoredWide(even=0.1)])
def test_an_event_of_reduced_outputs_can_be_tested_again(subject: Wide) -> None:
    event = audit(subject, 2_000).event
    again = event_of(stored_event(json.loads(json.dumps(event.to_json()))), subject)
    outputs = subject.sample(1.0, 200, np.random.default_rng(5))
    assert event.occurs(outputs).tolist() == again.occurs(outputs).tolist()
    assert 0 < event.occurs(outputs).mean() < 1


def test_a_reduction_does_not_depend_on_chunks_or_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [Draws.of(Wide(((71, 3.0),)), (1, 2), workers).screened(300) for workers in (1, 2)]
    assert sources[0].reduction is not None
    assert sources[1].reduction is not None
    assert sources[0].reduction.to_json() == sources[1].reduction.to_json()
    # one block of counts at a time is held, however many there are
    monkeypatch.setattr(draws, "FIRST_BLOCK_VALUES", 50 * WIDTH)
    again = Draws.of(Wide(((71, 3.0),)), (1, 2)).screened(300).reduction
    assert again is not None
    assert 71 in again.coordinates


@pytest.mark.parametrize("values", [draws.FIRST_BLOCK_VALUES, 2**23])
def test_memory_of_a_screen_is_that_of_its_first_block(monkeypatch: pytest.MonkeyPatch, values: int) -> None:
    """Broken control: of a first block four times as large."""
    few = draws.FIRST_BLOCK_VALUES // 8
    monkeypatch.setattr(draws, "FIRST_BLOCK_VALUES", values // 8)
    source = Draws.of(Wide(((71, 3.0),)), (1, 2))
    tracemalloc.start()
    assert source.screened(2**14).reduction is not None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # both inputs, one of them twice while its calls become one array, and a few chunks
    assert (peak <= 3 * 8 * few + 8 * 2**20) == (values // 8 == few)


def test_wide_outputs_are_reduced_and_narrow_ones_are_not() -> None:
    assert Phases.of(6_000, WIDEST, learning=True).screen == 0
    plan = Phases.of(10**9, 100_000, learning=True)
    assert plan.screen > 0
    assert plan.draws == 10**9
    assert max(plan.learn, plan.choose) * KEPT <= 2**23
    assert Phases.of(10**9, 100_000, learning=False).screen == 0
