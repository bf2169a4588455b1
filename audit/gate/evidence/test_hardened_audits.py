"""Audits of hardened noise, which takes the operating system's entropy: from draws to a certificate."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audit.epsilon_estimate import main
from audit.evidence.estimation import Audit, carried_out
from audit.evidence.forks import CopyRequest, copied
from audit.gate.auditor.auditing import audit
from audit.gate.requests import asked, verify_command
from audit.subjects.releases import HARDENED_VALUES, OPERATING_SYSTEM, CoefficientRelease, WeightRelease
from reference.moments import Moments
from reference.noise.grid import RELEASE_STEPS
from reference.objective import objective

SMALL = ("--dimension", "1", "--records", "20")


def hardened(*words: str, dimension: str = "1") -> Any:
    """Return a release with hardened noise."""
    line = (*words, "--dimension", dimension, "--records", "20", "--noise", "hardened")
    return Audit.of(*asked(*line)).subject


class TooLittle(CoefficientRelease):
    """A sixth of the hardened noise.  Broken."""

    @property
    def noise(self):
        """The noise of the mechanism, with other scales."""
        right = super().noise
        return replace(right, scale_s=right.scale_s / 6, scale_n=right.scale_n / 6)


@pytest.mark.parametrize("mechanism", ["pdfc", "adfc"])
def test_right_noise_keeps_its_claim_at_the_bits_and_a_sixth_does_not(mechanism):
    """No seed repeats the draws: half more is judged, as one run in twenty would refute the claim."""
    release = hardened(mechanism)
    found = audit(release, 4_000)
    assert "refuted" not in [found.verdict(1.5), found.verdict(1.5, implementation=True)]
    parts = release.spec, release.budget, release.readings, release.x_s, release.neighbours
    broken = audit(TooLittle(*parts), 4_000)
    assert [broken.verdict(1.5), broken.verdict(1.5, implementation=True)] == ["refuted"] * 2


def test_bits_refute_numpy_noise_and_not_hardened_noise():
    """Floats show which of 0 and -1/2 the noise was added to; the grid is the same for both."""
    words = "functional", "--dimension", "1", "--records", "1", "--noise"
    for noise, refuted in (("numpy", True), ("hardened", False)):
        found = audit(Audit.of(*asked(*words, noise)).subject, 4_000, seed=1)
        assert found.verdict(1.5) != "refuted"
        assert (found.verdict(1.5, implementation=True) == "refuted") is refuted


def test_outputs_of_a_call_are_releases_with_noise_of_their_own(monkeypatch):
    """Of one call as of many; in a release `perturb` draws them by the same code."""
    release = hardened("pdfc", "--epsilon-s", "2", "--epsilon-n", "1", dimension="2")
    left = release.inputs()[0]
    assert {True, False} == set(release.noise.in_s.tolist())
    outputs = release.sample(left, 400, np.random.default_rng(0))
    assert outputs.shape == (400, release.layout.size)
    # half a second, so that limits and interruptions come soon
    assert release.most_rows * release.layout.size <= HARDENED_VALUES
    assert (outputs * RELEASE_STEPS == np.rint(outputs * RELEASE_STEPS)).all()
    assert len(np.unique(outputs)) == outputs.size
    # chance below 1e-6 each that a mean absolute deviation of 400 Laplace numbers is so far from its scale
    deviations = np.abs(outputs - left.astype(np.float64)).mean(axis=0) / release.noise.scales
    assert (np.abs(deviations - 1) < 0.27).all()
    drawn = []
    monkeypatch.setattr(
        "reference.noise.hardened.HardenedSampler._draw",
        lambda _, kind, scale, whole: drawn.append((kind, scale, len(whole))) or whole,
    )
    moments = Moments.of(release.neighbours.left.distinct, exact=True)
    unnoised = objective(moments, release.readings)
    release.sample(unnoised.values, 2, np.random.default_rng(0))
    made = release.spec.run(release.neighbours.left.distinct, release.budget, release.readings)
    assert [(kind, scale) for kind, scale, _ in drawn[:2]] == [(kind, scale) for kind, scale, _ in drawn[2:]]
    assert [number for *_, number in drawn[:2]] == [2 * number for *_, number in drawn[2:]]
    assert made is not None


def test_weights_are_released_from_hardened_noise():
    release = hardened("pdfc", "--release", "weights")
    assert isinstance(release, WeightRelease)
    outputs = release.sample(release.inputs()[0], 50, np.random.default_rng(0))
    assert outputs.shape == (50, 1)
    assert np.isfinite(release.log_likelihood_ratio(outputs)).all()
    assert not np.isin(outputs, release.sample(release.inputs()[0], 50, np.random.default_rng(0))).any()


def test_forked_copies_draw_other_bits():
    """A copy of a process gets other noise than the process, and than another copy of it."""
    request = CopyRequest(calls=1, per_call=1, more=8, width=1)
    with copied(lambda: hardened("pdfc")) as copies:
        assert copies is not None
        found = [copies.draw(7, request, 60.0, 1)[0].more[0] for _ in range(2)]
    ours = hardened("pdfc").sample(hardened("pdfc").inputs()[0], 8, np.random.default_rng(7))[:, :1]
    assert len(np.unique(np.concatenate([*found, ours]))) == 24


def test_no_seed_repeats_a_certificate_and_fresh_draws_confirm_it(capsys, tmp_path):
    """numpy's noise is the control: replayed, and without a word on its randomness."""
    for noise in ("hardened", "numpy"):
        path = tmp_path / f"{noise}.json"
        line = ["pdfc", *SMALL, "--noise", noise, "--format", "json", "--out", str(path), "--draws", "2000"]
        assert main([*line, "--workers", "2"]) in (0, 3)
        result = json.loads(path.read_text(encoding="utf-8"))
        notes = [note for note in result["notes"] if "random" in note or "generator" in note or "noise" in note]
        assert notes == ([f"randomness: {OPERATING_SYSTEM}"] if noise == "hardened" else [])
        assert result["certificate"]["seeded"] is (noise == "numpy")
        assert ("--seed" in shlex.split(result["rerun"])) is (noise == "numpy")
        capsys.readouterr()
        assert verify_command([str(path), "--replay"]) in ((2,) if noise == "hardened" else (0, 3))
        said = capsys.readouterr()
        assert ("hardened noise takes the operating system's entropy" in said.err) is (noise == "hardened")
        assert verify_command([str(path), "--fresh", "--draws", "1000"]) in (0, 3)
        assert ": fails" not in capsys.readouterr().out


def test_a_search_keeps_to_hardened_noise():
    found = carried_out(
        Audit.of(*asked("functional", *SMALL, "--noise", "hardened", *["--draws", "10000", "--search"]))
    )
    assert found.inputs["search"]["draws"] > 0
    assert found.seeded is False
    assert f"randomness: {OPERATING_SYSTEM}" in found.notes
